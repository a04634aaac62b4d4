// The CUDA C++ twin of kernels/matmul_fp8.tir.
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(128)
    matmul_fp8(const __nv_fp8_e4m3 *__restrict__ a, const __nv_fp8_e4m3 *__restrict__ b, float *__restrict__ c, int m, int k, int n) {
#if __CUDA_ARCH__ >= 890
  product<__nv_fp8_e4m3, ALONG_K, false>(a, b, c, m, n, k);
#endif
}
