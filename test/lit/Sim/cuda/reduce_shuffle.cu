// Sum of a vector: warp shuffles, then one value a warp through shared memory.
__device__ int warp_sum(int v) {
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  return v;
}

extern "C" __global__ void sum(const int *x, int *out, int n) {
  __shared__ int part[32];
  int v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}
