// The CUDA C++ twin of kernels/reduce_rows.tir: a warp a row, eight elements a thread and step.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(128) reduce_rows(const float *__restrict__ x, float *__restrict__ y, int m, int n) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= m) return;
  x += (size_t)row * n;
  float sums[8] = {};
  for (int j = lane * 4; j < n; j += 256) {
#pragma unroll
    for (int h = 0; h < 2; h++)
      if (j + 128 * h < n) {
        const float4 v = *(const float4 *)&x[j + 128 * h];
        sums[4 * h] += v.x, sums[4 * h + 1] += v.y, sums[4 * h + 2] += v.z, sums[4 * h + 3] += v.w;
      }
  }
  float total = 0;
#pragma unroll
  for (int e = 0; e < 8; e++) total += sums[e];
  total = over_warp<Sum>(total);
  if (lane == 0) y[row] = total;
}
