// A spin lock taken by every thread, lanes of one warp included: each lane must get on while others spin.
extern "C" __global__ void count(int *lock, volatile int *counter, int *order) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      int n = *counter;
      order[n] = blockIdx.x * blockDim.x + threadIdx.x;
      *counter = n + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void mark(const int *order, int *seen) { seen[order[threadIdx.x]] += 1; }
