// Compaction: each warp takes places for its matching lanes with one atomic.
extern "C" __global__ void compact(const int *x, int *out, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 3 == 0) {
    unsigned active = __activemask();
    int lane = threadIdx.x % 32, leader = __ffs(active) - 1, base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(active));
    base = __shfl_sync(active, base, leader);
    out[base + __popc(active & ((1u << lane) - 1))] = x[i];
  }
}

extern "C" __global__ void order(int *x, const int *count) { // odd-even transposition, so that any order of arrival is right
  int n = *count;
  for (int round = 0; round < n; round++) {
    for (int i = threadIdx.x * 2 + round % 2; i + 1 < n; i += blockDim.x * 2)
      if (x[i] > x[i + 1]) {
        int y = x[i];
        x[i] = x[i + 1], x[i + 1] = y;
      }
    __syncthreads();
  }
}
