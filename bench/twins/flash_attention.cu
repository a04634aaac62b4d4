// The CUDA C++ twin of kernels/flash_attention.tir; -DCAUSAL=1 as there. A warp's scores stay in registers: the accumulator of
// q @ k, packed to bf16, is the left operand of p @ v.
#include <math_constants.h>

#include "tiles.cuh"

#ifndef CAUSAL
#define CAUSAL 0
#endif
constexpr int D = 64, BQ = 64, BK = 64;
using Rows = Tile<64, 8>;

__device__ void load_rows(Rows &to, const __nv_bfloat16 *from, int first, int rows) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int u = threadIdx.x + 128 * i, r = u / 8;
    const bool inside = first + r < rows;
    copy_async(to.at(r, u % 8), inside ? from + (size_t)(first + r) * D + u % 8 * 8 : from, inside);
  }
}

__device__ float over_quad(float v, float (*combine)(float, float)) {
  v = combine(v, __shfl_xor_sync(0xffffffff, v, 1));
  return combine(v, __shfl_xor_sync(0xffffffff, v, 2));
}

__device__ float most(float a, float b) { return fmaxf(a, b); }
__device__ float sum(float a, float b) { return a + b; }

__device__ void mask(float (&s)[8][4], int key0, int row, int keys) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < 8; j++)
#pragma unroll
    for (int r = 0; r < 4; r++) {
      const int key = key0 + 8 * j + lane % 4 * 2 + r % 2;
      if (key >= keys || (CAUSAL && key > row + r / 2 * 8)) s[j][r] = -CUDART_INF_F;
    }
}

// One step of the running softmax for row half h; s becomes the exponentials.
__device__ void rescale(float (&s)[8][4], float (&o)[8][4], float &top, float &total, int h) {
  float now = -CUDART_INF_F, part = 0;
#pragma unroll
  for (int j = 0; j < 8; j++) now = fmaxf(now, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
  now = fmaxf(top, over_quad(now, most));
  const float scale = exp2f(top - now);
  top = now;
#pragma unroll
  for (int j = 0; j < 8; j++)
#pragma unroll
    for (int r = 2 * h; r < 2 * h + 2; r++) {
      s[j][r] = exp2f(s[j][r] - now);
      part += s[j][r];
      o[j][r] *= scale;
    }
  total = total * scale + over_quad(part, sum);
}

extern "C" __global__ void __launch_bounds__(128)
    flash_attention(const __nv_bfloat16 *__restrict__ q, const __nv_bfloat16 *__restrict__ k, const __nv_bfloat16 *__restrict__ v,
                    __nv_bfloat16 *__restrict__ out, int heads, int queries, int keys) {
  __shared__ __align__(128) Rows q_tile, k_tiles[2], v_tiles[2];
  const float SCALE = 0.125f * 1.4426950408889634f;
  const int blocks = (queries + BQ - 1) / BQ, head = blockIdx.x / blocks, row0 = blockIdx.x % blocks * BQ;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = row0 + 16 * warp + lane / 4;
  const int stop = CAUSAL ? min(keys, row0 + BQ) : keys;
  q += (size_t)head * queries * D, out += (size_t)head * queries * D, k += (size_t)head * keys * D, v += (size_t)head * keys * D;

  load_rows(q_tile, q, row0, queries);
  load_rows(k_tiles[0], k, 0, keys);
  load_rows(v_tiles[0], v, 0, keys);
  commit();
  wait<0>();
  __syncthreads();
  unsigned qf[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++) load_matrices(qf[i], q_tile.at(16 * warp + lane % 16, 2 * i + lane / 16));

  float o[8][4] = {}, top[2] = {-CUDART_INF_F, -CUDART_INF_F}, total[2] = {};
  for (int j0 = 0; j0 < stop; j0 += BK) {
    const int now = j0 / BK % 2;
    wait<0>();
    __syncthreads();
    if (j0 + BK < stop) {
      load_rows(k_tiles[1 - now], k, j0 + BK, keys);
      load_rows(v_tiles[1 - now], v, j0 + BK, keys);
    }
    commit();
    float s[8][4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        unsigned kf[4];
        load_matrices(kf, k_tiles[now].at(16 * j + lane / 16 * 8 + lane % 8, 2 * i + lane / 8 % 2));
        mma(__nv_bfloat16(), s[2 * j], qf[i], kf);
        mma(__nv_bfloat16(), s[2 * j + 1], qf[i], kf + 2);
      }
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int r = 0; r < 4; r++) s[j][r] *= SCALE;
    if (j0 + BK > keys || (CAUSAL && j0 + BK > row0)) mask(s, j0, row, keys);
    rescale(s, o, top[0], total[0], 0);
    rescale(s, o, top[1], total[1], 1);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const unsigned pf[4] = {pack(s[2 * i][0], s[2 * i][1]), pack(s[2 * i][2], s[2 * i][3]), pack(s[2 * i + 1][0], s[2 * i + 1][1]),
                              pack(s[2 * i + 1][2], s[2 * i + 1][3])};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        unsigned vf[4];
        load_matrices_turned(vf, v_tiles[now].at(16 * i + lane % 16, 2 * j + lane / 16));
        mma(__nv_bfloat16(), o[2 * j], pf, vf);
        mma(__nv_bfloat16(), o[2 * j + 1], pf, vf + 2);
      }
    }
  }
#pragma unroll
  for (int h = 0; h < 2; h++)
#pragma unroll
    for (int j = 0; j < 8; j++)
      if (row + 8 * h < queries)
        *(unsigned *)&out[(size_t)(row + 8 * h) * D + 8 * j + lane % 4 * 2] = pack(o[j][2 * h] / total[h], o[j][2 * h + 1] / total[h]);
}
