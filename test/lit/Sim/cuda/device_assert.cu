// assert stops the launch and says where; trap stops it, too.
#include <cassert>

extern "C" __global__ void check(const int *x, int n) {
  if (threadIdx.x < n) assert(x[threadIdx.x] >= 0 && "negative");
}

extern "C" __global__ void stop(int n) {
  if (threadIdx.x == n) asm volatile("trap;");
}
