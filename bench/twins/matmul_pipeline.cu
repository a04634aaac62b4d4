// The CUDA C++ twin of kernels/matmul_pipeline.tir; -DF16=1 as there.
#include "product.cuh"

#if F16
using Element = __half;
#else
using Element = __nv_bfloat16;
#endif

extern "C" __global__ void __launch_bounds__(128)
    matmul(const Element *__restrict__ a, const Element *__restrict__ b, float *__restrict__ c, int m, int k, int n) {
  product<Element, ALONG_N, false>(a, b, c, m, n, k);
}
