// The CUDA C++ twin of kernels/rms_norm_matmul.tir: x passes through registers, where squares are summed and weights multiplied in.
#include "tiles.cuh"

constexpr int BM = 64, BN = 128, BK = 32;
constexpr float EPS = 1e-6f;

union Eight {
  uint4 words;
  __nv_bfloat16 at[8];
};

extern "C" __global__ void __launch_bounds__(128)
    rms_norm_matmul(const __nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ w, const __nv_bfloat16 *__restrict__ b,
                    __nv_bfloat16 *__restrict__ y, int m, int k, int n) {
  __shared__ __align__(128) Tile<BM, 4, 1> x_tiles[2];
  __shared__ __align__(128) Tile<BK, 16> b_tiles[2];
  __shared__ float scale[BM];
  const int cols = n / BN, row = blockIdx.x / cols * BM, col = blockIdx.x % cols * BN;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 64;
  Eight mine[2];
  float squares[2][8] = {}, acc[2][8][4] = {};

  auto read_x = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int r = row + t / 4 + 32 * i;
      mine[i].words = make_uint4(0, 0, 0, 0);
      if (r < m) mine[i].words = *(const uint4 *)&x[(size_t)r * k + k0 + t % 4 * 8];
    }
  };
  auto refill_b = [&](int stage, int k0) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int u = t + 128 * i;
      copy_async(b_tiles[stage].at(u / 16, u % 16), b + (size_t)(k0 + u / 16) * n + col + u % 16 * 8);
    }
  };
  refill_b(0, 0);
  commit();
  read_x(0);
  for (int k0 = 0; k0 < k; k0 += BK) {
    const int now = k0 / BK % 2;
    Eight weights, product;
    weights.words = *(const uint4 *)&w[k0 + t % 4 * 8];
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int e = 0; e < 8; e++) {
        const float v = __bfloat162float(mine[i].at[e]);
        squares[i][e] = fmaf(v, v, squares[i][e]);
        product.at[e] = __float2bfloat16_rn(v * __bfloat162float(weights.at[e]));
      }
      *x_tiles[now].at(t / 4 + 32 * i, t % 4) = product.words;
    }
    wait<0>();
    __syncthreads();
    if (k0 + BK < k) {
      refill_b(1 - now, k0 + BK);
      read_x(k0 + BK);
    }
    commit();
#pragma unroll
    for (int step = 0; step < 2; step++) {
      unsigned af[2][4], bf[4][4];
#pragma unroll
      for (int i = 0; i < 2; i++) load_matrices(af[i], x_tiles[now].at(wm + 16 * i + lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int j = 0; j < 4; j++) load_matrices_turned(bf[j], b_tiles[now].at(16 * step + lane % 16, wn / 8 + 2 * j + lane / 16));
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) mma(__nv_bfloat16(), acc[i][j], af[i], &bf[j / 2][j % 2 * 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++) {
    float total = 0;
#pragma unroll
    for (int e = 0; e < 8; e++) total += squares[i][e];
    total += __shfl_xor_sync(0xffffffff, total, 1);
    total += __shfl_xor_sync(0xffffffff, total, 2);
    if (t % 4 == 0) scale[t / 4 + 32 * i] = 1 / sqrtf(total / k + EPS);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int r = wm + 16 * i + 8 * half + lane / 4;
      if (row + r >= m) continue;
#pragma unroll
      for (int j = 0; j < 8; j++)
        *(unsigned *)&y[(size_t)(row + r) * n + col + wn + 8 * j + lane % 4 * 2] =
            pack(acc[i][j][2 * half] * scale[r], acc[i][j][2 * half + 1] * scale[r]);
    }
}
