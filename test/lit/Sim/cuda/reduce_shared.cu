// Maximum and its first position, by a tree in shared memory.
extern "C" __global__ void argmax(const float *x, float *best, int *where, int n) {
  __shared__ float v[256];
  __shared__ int at[256];
  int t = threadIdx.x;
  v[t] = -INFINITY;
  at[t] = n;
  for (int i = t; i < n; i += 256)
    if (x[i] > v[t]) v[t] = x[i], at[t] = i;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d && (v[t + d] > v[t] || (v[t + d] == v[t] && at[t + d] < at[t]))) v[t] = v[t + d], at[t] = at[t + d];
    __syncthreads();
  }
  if (t == 0) *best = v[0], *where = at[0];
}
