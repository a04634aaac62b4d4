// Conversions to and from both fp8 formats; below sm_89 the headers compute them in integers.
#include <cuda_fp8.h>

extern "C" __global__ void convert(const float *x, unsigned char *e4m3, unsigned char *e5m2, float *back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e4m3[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
  e5m2[i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E5M2);
  back[i] = __half2float(__half(__nv_cvt_fp8_to_halfraw(e4m3[i], __NV_E4M3)));
  back[n + i] = __half2float(__half(__nv_cvt_fp8_to_halfraw(e5m2[i], __NV_E5M2)));
}
