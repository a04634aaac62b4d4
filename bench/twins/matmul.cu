// The CUDA C++ twin of kernels/matmul.tir: the same tiles, the same instruction, written by hand.
#include <cuda_bf16.h>

constexpr int M = 128, N = 128, K = 256, BM = 64, BN = 64, BK = 32;

__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ unsigned pack(__nv_bfloat16 low, __nv_bfloat16 high) {
  return (unsigned)__bfloat16_as_ushort(low) | (unsigned)__bfloat16_as_ushort(high) << 16;
}

extern "C" __global__ void __launch_bounds__(128)
    matmul(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, float *__restrict__ c) {
  __shared__ __align__(16) __nv_bfloat16 as[BM][BK], bs[BK][BN];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row0 = blockIdx.x / (N / BN) * BM, col0 = blockIdx.x % (N / BN) * BN;
  const int wm = warp / 2 * 32, wn = warp % 2 * 32;
  const int g = lane / 4, q = lane % 4;
  float acc[2][4][4] = {};

  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = t; i < BM * BK / 8; i += 128)
      *(uint4 *)&as[i / (BK / 8)][i % (BK / 8) * 8] = *(const uint4 *)&a[(row0 + i / (BK / 8)) * K + k0 + i % (BK / 8) * 8];
    for (int i = t; i < BK * BN / 8; i += 128)
      *(uint4 *)&bs[i / (BN / 8)][i % (BN / 8) * 8] = *(const uint4 *)&b[(k0 + i / (BN / 8)) * N + col0 + i % (BN / 8) * 8];
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < BK; kk += 16) {
      unsigned af[2][4], bf[4][2];
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int r = 0; r < 4; r++)
          af[i][r] = *(const unsigned *)&as[wm + 16 * i + g + r % 2 * 8][kk + 2 * q + r / 2 * 8];
#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int r = 0; r < 2; r++)
          bf[j][r] = pack(bs[kk + 2 * q + r * 8][wn + 8 * j + g], bs[kk + 2 * q + r * 8 + 1][wn + 8 * j + g]);
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(acc[i][j], af[i], bf[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float *out = &c[(row0 + wm + 16 * i + g) * N + col0 + wn + 8 * j + 2 * q];
      *(float2 *)out = make_float2(acc[i][j][0], acc[i][j][1]);
      *(float2 *)(out + 8 * N) = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}
