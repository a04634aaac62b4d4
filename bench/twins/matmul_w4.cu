// The CUDA C++ twin of kernels/matmul_w4.tir: bytes are taken apart in registers on their way to the swizzled tile.
#include "tiles.cuh"

constexpr int BM = 32, BN = 64, BK = 64;

union Eight {
  uint4 words;
  __half2 at[4];
};

extern "C" __global__ void __launch_bounds__(128)
    matmul_w4(const __half *__restrict__ x, const unsigned char *__restrict__ packed, const __half *__restrict__ scale, __half *__restrict__ c,
              int m, int k, int half_n) {
  __shared__ __align__(128) Tile<BM, 8> x_tiles[2];
  __shared__ __align__(128) Tile<BK, 8> w_tiles[2];
  const int n = 2 * half_n, cols = n / BN, row = blockIdx.x / cols * BM, col = blockIdx.x % cols * BN;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 2 * 16, wn = warp % 2 * 32;
  unsigned bytes[4];
  float acc[4][4] = {};

  auto refill_x = [&](int stage, int k0) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int u = t + 128 * i, r = row + u / 8;
      copy_async(x_tiles[stage].at(u / 8, u % 8), r < m ? x + (size_t)r * k + k0 + u % 8 * 8 : x, r < m);
    }
  };
  auto read_w = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 4; i++) bytes[i] = *(const unsigned *)&packed[(size_t)(k0 + t / 8 + 16 * i) * half_n + col / 2 + t % 8 * 4];
  };
  refill_x(0, 0);
  commit();
  read_w(0);
  for (int k0 = 0; k0 < k; k0 += BK) {
    const int now = k0 / BK % 2;
    Eight scales;
    scales.words = *(const uint4 *)&scale[(size_t)(k0 / BK) * n + col + t % 8 * 8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      Eight w;
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const unsigned byte = bytes[i] >> 8 * e & 255;
        const __half2 pair = __halves2half2(__ushort2half_rn(byte & 15), __ushort2half_rn(byte >> 4));
        w.at[e] = __hmul2(__hsub2(pair, __float2half2_rn(8)), scales.at[e]);
      }
      *w_tiles[now].at(t / 8 + 16 * i, t % 8) = w.words;
    }
    wait<0>();
    __syncthreads();
    if (k0 + BK < k) {
      refill_x(1 - now, k0 + BK);
      read_w(k0 + BK);
    }
    commit();
#pragma unroll
    for (int step = 0; step < 4; step++) {
      unsigned af[4], bf[2][4];
      load_matrices(af, x_tiles[now].at(wm + lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; j++) load_matrices_turned(bf[j], w_tiles[now].at(16 * step + lane % 16, wn / 8 + 2 * j + lane / 16));
#pragma unroll
      for (int j = 0; j < 4; j++) mma(__half(), acc[j], af, &bf[j / 2][j % 2 * 2]);
    }
  }
#pragma unroll
  for (int half = 0; half < 2; half++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int r = row + wm + 8 * half + lane / 4;
      __half *to = c + (size_t)r * n + col + wn + 8 * j + lane % 4 * 2;
      if (r < m) *(__half2 *)to = __floats2half2_rn(acc[j][2 * half], acc[j][2 * half + 1]);
    }
}
