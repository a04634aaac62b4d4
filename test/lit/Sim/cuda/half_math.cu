// half2 and bfloat162 arithmetic, comparisons, conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *out, float *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd2(a[i], b[i]);
  out[n + i] = __hmul2(a[i], b[i]);
  out[2 * n + i] = __hsub2(a[i], b[i]);
  out[3 * n + i] = __hmax2(a[i], b[i]);
  out[4 * n + i] = __hneg2(__habs2(a[i]));
  out[5 * n + i] = __halves2half2(__float2half_rn(__low2float(a[i]) * 3.0f), __float2half_rz(__high2float(b[i]) / 3.0f));
  wide[i] = __half2float(__low2half(a[i])) + __half2float(__high2half(b[i]));
}

extern "C" __global__ void bfloats(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 x = __floats2bfloat162_rn(a[i], b[i]), y = __floats2bfloat162_rn(b[i], a[i]);
  out[i] = __low2float(__hmul2(x, y));
  out[n + i] = __high2float(__hadd2(x, y));
  out[2 * n + i] = __low2float(__hmax2(x, y));
  out[3 * n + i] = __bfloat162float(__float2bfloat16_rz(a[i]));
}
