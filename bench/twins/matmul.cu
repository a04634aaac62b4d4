// The CUDA C++ twin of kernels/matmul.tir: the same swizzled tiles, the same instructions, written by hand.
#include "tiles.cuh"

#ifndef DEPTH
#define DEPTH 32
#endif
constexpr int M = 128, N = 128, K = 256, BM = 64, BN = 64, BK = DEPTH;

extern "C" __global__ void __launch_bounds__(128)
    matmul(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, float *__restrict__ c) {
  __shared__ __align__(128) Tile<BM, BK / 8, BK == 32 ? 1 : 2> as;
  __shared__ __align__(128) Tile<BK, BN / 8> bs;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row = blockIdx.x / (N / BN) * BM, col = blockIdx.x % (N / BN) * BN;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;
  float acc[2][4][4] = {};

#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int u = t; u < BM * BK / 8; u += 128)
      *as.at(u / (BK / 8), u % (BK / 8)) = *(const uint4 *)&a[(row + u / (BK / 8)) * K + k0 + u % (BK / 8) * 8];
#pragma unroll
    for (int u = t; u < BK * BN / 8; u += 128)
      *bs.at(u / (BN / 8), u % (BN / 8)) = *(const uint4 *)&b[(k0 + u / (BN / 8)) * N + col + u % (BN / 8) * 8];
    __syncthreads();
#pragma unroll
    for (int step = 0; step < BK / 16; step++) {
      unsigned af[2][4], bf[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) load_matrices(af[i], as.at(wm + 16 * i + lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; j++) load_matrices_turned(bf[j], bs.at(16 * step + lane % 16, wn / 8 + 2 * j + lane / 16));
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(__nv_bfloat16(), acc[i][j], af[i], &bf[j / 2][j % 2 * 2]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float *out = &c[(row + wm + 16 * i + lane / 4) * N + col + wn + 8 * j + lane % 4 * 2];
      *(float2 *)out = make_float2(acc[i][j][0], acc[i][j][1]);
      *(float2 *)(out + 8 * N) = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}
