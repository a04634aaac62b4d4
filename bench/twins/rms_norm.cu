// The CUDA C++ twin of kernels/rms_norm.tir: 128 threads a row of 4096, 32 values a thread, read once.
#include <cuda_bf16.h>

#include "rows.cuh"

constexpr int H = 4096;

union Eight {
  uint4 words;
  __nv_bfloat16 at[8];
};

extern "C" __global__ void __launch_bounds__(128)
    rms_norm(const __nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ w, __nv_bfloat16 *__restrict__ y, int rows) {
  x += (size_t)blockIdx.x * H, y += (size_t)blockIdx.x * H;
  Eight v[4];
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i].words = *(const uint4 *)&x[(threadIdx.x + 128 * i) * 8];
#pragma unroll
    for (int e = 0; e < 8; e++) {
      const float f = __bfloat162float(v[i].at[e]);
      squares = fmaf(f, f, squares);
    }
  }
  const float scale = 1 / sqrtf(over_block<Sum, 4>(squares) / H + 1e-6f);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    Eight weights, result;
    weights.words = *(const uint4 *)&w[(threadIdx.x + 128 * i) * 8];
#pragma unroll
    for (int e = 0; e < 8; e++)
      result.at[e] = __float2bfloat16_rn(__bfloat162float(v[i].at[e]) * scale * __bfloat162float(weights.at[e]));
    *(uint4 *)&y[(threadIdx.x + 128 * i) * 8] = result.words;
  }
}
