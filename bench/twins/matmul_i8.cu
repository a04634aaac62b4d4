// The CUDA C++ twin of kernels/matmul_i8.tir.
#include "product.cuh"

extern "C" __global__ void __launch_bounds__(128)
    matmul_i8(const signed char *__restrict__ a, const signed char *__restrict__ b, int *__restrict__ c, int m, int k, int n) {
  product<signed char, ALONG_K, false>(a, b, c, m, n, k);
}
