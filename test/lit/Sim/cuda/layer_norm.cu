// Layer norm: Welford per thread, merged through shuffles and shared memory.
struct Stat { float n, mean, m2; };

__device__ Stat merge(Stat a, Stat b) {
  float n = a.n + b.n;
  if (n == 0) return a;
  float d = b.mean - a.mean;
  return {n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n};
}

extern "C" __global__ void layer_norm(const float *x, const float *gain, const float *bias, float *y, int cols, float eps) {
  __shared__ Stat part[4];
  x += blockIdx.x * cols, y += blockIdx.x * cols;
  Stat s = {0, 0, 0};
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    s.n += 1;
    float d = x[i] - s.mean;
    s.mean += d / s.n;
    s.m2 += d * (x[i] - s.mean);
  }
  for (int d = 16; d; d /= 2)
    s = merge(s, {__shfl_xor_sync(~0u, s.n, d), __shfl_xor_sync(~0u, s.mean, d), __shfl_xor_sync(~0u, s.m2, d)});
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = part[0];
  for (int w = 1; w < blockDim.x / 32; w++) s = merge(s, part[w]);
  float scale = rsqrtf(s.m2 / cols + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = (x[i] - s.mean) * scale * gain[i] + bias[i];
}
