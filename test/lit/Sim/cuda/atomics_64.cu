// 64-bit, float, double, half2 and compare-and-swap atomics; a double maximum by CAS.
#include <cuda_fp16.h>

extern "C" __global__ void add(unsigned long long *u, double *d, float *f, __half2 *h, double *top, const double *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&u[0], 1ull << (i % 50));
  atomicMax(&u[1], (unsigned long long)i * 12345678901ull);
  atomicXor(&u[2], 0x0123456789ABCDEFull * i);
  atomicExch(&u[3], 42ull);
  atomicAdd(d, x[i]);
  atomicAdd(f, 0.25f);
  atomicAdd(h, __floats2half2_rn(1.0f, -2.0f));
  unsigned long long *bits = (unsigned long long *)top, old = *bits, seen;
  do {
    seen = old;
    if (__longlong_as_double(seen) >= x[i]) break;
    old = atomicCAS(bits, seen, __double_as_longlong(x[i]));
  } while (old != seen);
}
