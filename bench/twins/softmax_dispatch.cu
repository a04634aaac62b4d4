// The CUDA C++ twins of the three kernels of kernels/softmax_dispatch.tir.
#include "rows.cuh"

extern "C" __global__ void __launch_bounds__(128) narrow(const float *__restrict__ x, float *__restrict__ y, int rows, int n) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, first = threadIdx.x % 32 * 4;
  if (row >= rows) return;
  x += (size_t)row * n, y += (size_t)row * n;
  float v[4], top = Max::identity(), total = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i] = first + i < n ? x[first + i] : -CUDART_INF_F;
    top = fmaxf(top, v[i]);
  }
  top = over_warp<Max>(top);
#pragma unroll
  for (int i = 0; i < 4; i++) total += v[i] = expf(v[i] - top);
  total = over_warp<Sum>(total);
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (first + i < n) y[first + i] = v[i] / total;
}

extern "C" __global__ void __launch_bounds__(256) medium(const float *__restrict__ x, float *__restrict__ y, int rows, int n) {
  x += (size_t)blockIdx.x * n, y += (size_t)blockIdx.x * n;
  float v[8], top = Max::identity(), total = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int at = threadIdx.x + 256 * i;
    v[i] = at < n ? x[at] : -CUDART_INF_F;
    top = fmaxf(top, v[i]);
  }
  top = over_block<Max, 8>(top);
#pragma unroll
  for (int i = 0; i < 8; i++) total += v[i] = expf(v[i] - top);
  total = over_block<Sum, 8>(total);
#pragma unroll
  for (int i = 0; i < 8; i++)
    if (threadIdx.x + 256 * i < n) y[threadIdx.x + 256 * i] = v[i] / total;
}

extern "C" __global__ void __launch_bounds__(256) wide(const float *__restrict__ x, float *__restrict__ y, int rows, int n) {
  x += (size_t)blockIdx.x * n, y += (size_t)blockIdx.x * n;
  float top = Max::identity(), total = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += 256) top = fmaxf(top, x[i]);
  top = over_block<Max, 8>(top);
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += 256) total += expf(x[i] - top);
  total = over_block<Sum, 8>(total);
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += 256) y[i] = expf(x[i] - top) / total;
}
