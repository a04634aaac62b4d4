// Producer and consumer warps with bar.arrive and bar.sync on two ids, one buffer of each phase in flight.
__device__ void sync(int id) { asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); }
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" ::"r"(id) : "memory"); }

extern "C" __global__ void pipeline(const int *x, int *y, int steps) {
  __shared__ int buffer[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) { // producer: full = 1 + b, empty = 3 + b
    for (int i = 0; i < steps; i++) {
      if (i >= 2) sync(3 + i % 2);
      buffer[i % 2][lane] = x[i * 32 + lane] * (i + 1);
      arrive(1 + i % 2);
    }
  } else {
    int sum = 0;
    for (int i = 0; i < steps; i++) {
      sync(1 + i % 2);
      sum += buffer[i % 2][31 - lane];
      if (i + 2 < steps) arrive(3 + i % 2);
    }
    y[lane] = sum;
  }
}
