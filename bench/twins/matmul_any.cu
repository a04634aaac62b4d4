// The CUDA C++ twin of kernels/matmul_any.tir, for rows that are multiples of 8.
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(128)
    matmul(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, float *__restrict__ c, int m, int k, int n) {
  product<__nv_bfloat16, ALONG_N, true>(a, b, c, m, n, k);
}
