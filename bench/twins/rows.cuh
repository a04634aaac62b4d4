// What the twins of the row-wise kernels share: reductions over a warp and over a block.
#pragma once
#include <math_constants.h>

struct Sum {
  static __device__ float identity() { return 0; }
  static __device__ float of(float a, float b) { return a + b; }
};

struct Max {
  static __device__ float identity() { return -CUDART_INF_F; }
  static __device__ float of(float a, float b) { return fmaxf(a, b); }
};

template <class Op>
__device__ float over_warp(float v) {
#pragma unroll
  for (int step = 16; step; step /= 2) v = Op::of(v, __shfl_xor_sync(0xffffffff, v, step));
  return v;
}

template <class Op, int WARPS>
__device__ float over_block(float v) {
  __shared__ float parts[WARPS];
  v = over_warp<Op>(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = parts[0];
#pragma unroll
  for (int i = 1; i < WARPS; i++) v = Op::of(v, parts[i]);
  __syncthreads();
  return v;
}
