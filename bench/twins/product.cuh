// The pipelined matrix products' twin: a CTA of four warps owns 128 x 128 of c, three stages of cp.async, slices of 64 bytes of k.
#pragma once
#include "tiles.cuh"

constexpr int BM = 128, BN = 128, STAGES = 3;

// How b lies: ALONG_N as (K, N) of 16-bit values, read by ldmatrix.trans, or ALONG_K as (N, K), read like a.
enum Order { ALONG_N, ALONG_K };

template <class E, Order ORDER>
struct Stage {
  static constexpr int PER_UNIT = 16 / sizeof(E), BK = 4 * PER_UNIT;
  Tile<BM, 4, 1> a[STAGES];
  Tile<ORDER == ALONG_N ? BK : BN, ORDER == ALONG_N ? 16 : 4, ORDER == ALONG_N ? 0 : 1> b[STAGES];
};

template <class E, Order ORDER, bool CLIP, class S>
__device__ void refill(S &tiles, int stage, const E *a, const E *b, int row, int col, int k0, int m, int n, int k) {
  constexpr int UNIT = S::PER_UNIT;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int u = threadIdx.x + 128 * i, r = u / 4, q = u % 4 * UNIT;
    const bool inside = !CLIP || (row + r < m && k0 + q < k);
    copy_async(tiles.a[stage].at(r, u % 4), inside ? a + (size_t)(row + r) * k + k0 + q : a, inside);
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int u = threadIdx.x + 128 * i;
    if (ORDER == ALONG_N) {
      const int r = u / 16, q = u % 16 * UNIT;
      const bool inside = !CLIP || (k0 + r < k && col + q < n);
      copy_async(tiles.b[stage].at(r, u % 16), inside ? b + (size_t)(k0 + r) * n + col + q : b, inside);
    } else {
      const int r = u / 4, q = u % 4 * UNIT;
      copy_async(tiles.b[stage].at(r, u % 4), b + (size_t)(col + r) * k + k0 + q);
    }
  }
}

template <class E, Order ORDER, class A, class S>
__device__ void multiply(S &tiles, int stage, A (&acc)[4][8][4]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 2 * 64, wn = warp % 2 * 64;
#pragma unroll
  for (int step = 0; step < 2; step++) {
    unsigned af[4][4], bf[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++) load_matrices(af[i], tiles.a[stage].at(wm + 16 * i + lane % 16, 2 * step + lane / 16));
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if (ORDER == ALONG_N)
        load_matrices_turned(bf[j], tiles.b[stage].at(16 * step + lane % 16, wn / 8 + 2 * j + lane / 16));
      else
        load_matrices(bf[j], tiles.b[stage].at(wn + 16 * j + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 8; j++) mma(E(), acc[i][j], af[i], &bf[j / 2][j % 2 * 2]);
  }
}

template <class V>
__device__ void store2(V *to, V x, V y) {
  struct alignas(2 * sizeof(V)) Pair {
    V x, y;
  };
  *(Pair *)to = {x, y};
}

template <class E, Order ORDER, bool CLIP, class A>
__device__ void product(const E *a, const E *b, A *c, int m, int n, int k) {
  using S = Stage<E, ORDER>;
  __shared__ __align__(128) S tiles;
  const int cols = (n + BN - 1) / BN, steps = (k + S::BK - 1) / S::BK;
  const int row = blockIdx.x / cols * BM, col = blockIdx.x % cols * BN;
  A acc[4][8][4] = {};

  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) refill<E, ORDER, CLIP>(tiles, s, a, b, row, col, s * S::BK, m, n, k);
    commit();
  }
  for (int s = 0; s < steps; s++) {
    wait<STAGES - 2>();
    __syncthreads();
    const int next = s + STAGES - 1;
    if (next < steps) refill<E, ORDER, CLIP>(tiles, next % STAGES, a, b, row, col, next * S::BK, m, n, k);
    commit();
    multiply<E, ORDER>(tiles, s % STAGES, acc);
  }

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 2 * 64, wn = warp % 2 * 64;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const int y = row + wm + 16 * i + 8 * half + lane / 4, x = col + wn + 8 * j + lane % 4 * 2;
        if (!CLIP || (y < m && x < n)) store2(&c[(size_t)y * n + x], acc[i][j][2 * half], acc[i][j][2 * half + 1]);
      }
}
