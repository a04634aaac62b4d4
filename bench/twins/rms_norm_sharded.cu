// The CUDA C++ twin of kernels/rms_norm_sharded.tir: 12 neighbouring values of a row of 1536 a thread.
#include "rows.cuh"

constexpr int H = 1536;

extern "C" __global__ void __launch_bounds__(128)
    rms_norm_sharded(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int rows) {
  const size_t first = (size_t)blockIdx.x * H + threadIdx.x * 12;
  float4 v[3];
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    v[i] = *(const float4 *)&x[first + 4 * i];
    squares = fmaf(v[i].x, v[i].x, fmaf(v[i].y, v[i].y, fmaf(v[i].z, v[i].z, fmaf(v[i].w, v[i].w, squares))));
  }
  const float s = 1 / sqrtf(over_block<Sum, 4>(squares) / H + 1e-5f);
#pragma unroll
  for (int i = 0; i < 3; i++) {
    const float4 g = *(const float4 *)&w[threadIdx.x * 12 + 4 * i];
    *(float4 *)&y[first + 4 * i] = make_float4(v[i].x * s * g.x, v[i].y * s * g.y, v[i].z * s * g.z, v[i].w * s * g.w);
  }
}
