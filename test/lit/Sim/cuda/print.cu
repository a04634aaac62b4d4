// printf from one block, in order.
#include <cstdio>

extern "C" __global__ void hello(int n, float x) {
  for (int i = 0; i < n; i++) {
    if (threadIdx.x == i) printf("thread %d of %u: %5.2f %s %c %lld %x%%\n", i, blockDim.x, x * i, "text", 'a' + i, 1ll << (40 + i), 255 - i);
    __syncthreads();
  }
}
