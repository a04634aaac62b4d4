// The CUDA C++ twin of kernels/softmax.tir: 128 threads a row, three walks over it, four elements a thread.
#include "rows.cuh"

template <class Visit>
__device__ void walk(const float *x, int n, Visit visit) {
  for (int i = threadIdx.x * 4; i < n; i += 512) visit(i, *(const float4 *)&x[i]);
}

extern "C" __global__ void __launch_bounds__(128) softmax(const float *__restrict__ x, float *__restrict__ y, int rows, int n) {
  x += (size_t)blockIdx.x * n, y += (size_t)blockIdx.x * n;
  float top = Max::identity(), total = 0;
  walk(x, n, [&](int, float4 v) { top = fmaxf(fmaxf(top, fmaxf(v.x, v.y)), fmaxf(v.z, v.w)); });
  top = over_block<Max, 4>(top);
  walk(x, n, [&](int, float4 v) { total += expf(v.x - top) + expf(v.y - top) + expf(v.z - top) + expf(v.w - top); });
  total = over_block<Sum, 4>(total);
  walk(x, n, [&](int i, float4 v) {
    *(float4 *)&y[i] = make_float4(expf(v.x - top) / total, expf(v.y - top) / total, expf(v.z - top) / total, expf(v.w - top) / total);
  });
}
