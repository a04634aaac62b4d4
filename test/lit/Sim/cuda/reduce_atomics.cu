// Sum, minimum, maximum, and, or, xor of a vector by global atomics.
extern "C" __global__ void reduce(const unsigned *x, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&out[0], x[i]);
  atomicMin(&out[1], x[i]);
  atomicMax((int *)&out[2], (int)x[i]);
  atomicAnd(&out[3], x[i]);
  atomicOr(&out[4], x[i]);
  atomicXor(&out[5], x[i]);
  atomicInc(&out[6], 100);
  atomicDec(&out[7], 50);
}
