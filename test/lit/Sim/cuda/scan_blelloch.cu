// Exclusive scan of 512 elements by 256 threads: up-sweep, down-sweep.
extern "C" __global__ void scan(const float *x, float *y) {
  __shared__ float s[512];
  int t = threadIdx.x, n = 512, offset = 1;
  s[2 * t] = x[2 * t], s[2 * t + 1] = x[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  if (t == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      float v = s[a];
      s[a] = s[b], s[b] += v;
    }
  }
  __syncthreads();
  y[2 * t] = s[2 * t], y[2 * t + 1] = s[2 * t + 1];
}
