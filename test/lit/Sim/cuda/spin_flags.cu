// Blocks hand a token from one to the next through flags in global memory, released and acquired.
#include <cuda/atomic>

extern "C" __global__ void chain(int *flags, int *value, int n) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[blockIdx.x]);
    while (mine.load(cuda::memory_order_acquire) == 0) {}
    *value = *value * 3 + blockIdx.x;
    if (blockIdx.x + 1 < n) {
      cuda::atomic_ref<int, cuda::thread_scope_device> next(flags[blockIdx.x + 1]);
      next.store(1, cuda::memory_order_release);
    }
  }
}
