// A flash-attention-like loop: running maximum and sum, keys and values in tiles of 32, one query a warp.
extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *o, int n, int keys) {
  __shared__ float ks[32][33], vs[32][33];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + warp;
  float top = -INFINITY, sum = 0, acc = 0;
  float query = row < n ? q[row * 32 + lane] : 0;
  for (int base = 0; base < keys; base += 32) {
    for (int i = warp; i < 32; i += blockDim.x / 32) {
      ks[i][lane] = base + i < keys ? k[(base + i) * 32 + lane] : 0;
      vs[i][lane] = base + i < keys ? v[(base + i) * 32 + lane] : 0;
    }
    __syncthreads();
    float s = 0;
    for (int d = 0; d < 32; d++) s += __shfl_sync(~0u, query, d) * ks[lane][d];
    s = base + lane < keys ? s * 0.17677669f : -INFINITY;
    float m = s;
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    m = fmaxf(m, top);
    float p = __expf(s - m), scale = __expf(top - m), all = p;
    for (int d = 16; d; d /= 2) all += __shfl_xor_sync(~0u, all, d);
    sum = sum * scale + all, acc *= scale, top = m;
    for (int j = 0; j < 32; j++) acc += __shfl_sync(~0u, p, j) * vs[j][lane];
    __syncthreads();
  }
  if (row < n) o[row * 32 + lane] = acc / sum;
}
