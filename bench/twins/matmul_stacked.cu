// The CUDA C++ twin of kernels/matmul_stacked.tir: matmul.cu with slices of 16.
#define DEPTH 16
#define matmul matmul_stacked
#include "matmul.cu"
