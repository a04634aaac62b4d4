// The CUDA C++ twin of kernels/split_k.tir. The barrier over the grid is a counter that every launch leaves a multiple of the grid.
#include "tiles.cuh"

constexpr int BM = 64, BN = 64, BK = 32, SPLITS = 4, BAND = BM / SPLITS;

__device__ void meet_grid(unsigned *counter) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned mine = atomicAdd(counter, 1), round = mine / gridDim.x;
    while (*(volatile unsigned *)counter / gridDim.x == round) continue;
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(128)
    split_k(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, float *parts, float *__restrict__ c, int m, int k,
            int n, unsigned *counter) {
  __shared__ __align__(128) Tile<BM, 4, 1> a_tiles[2];
  __shared__ __align__(128) Tile<BK, 8> b_tiles[2];
  const int cols = n / BN, steps = k / (SPLITS * BK), split = blockIdx.x % SPLITS, tile = blockIdx.x / SPLITS;
  const int row = tile / cols * BM, col = tile % cols * BN, first = split * steps * BK;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  float acc[2][4][4] = {};

  auto refill = [&](int stage, int k0) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int u = t + 128 * i;
      copy_async(a_tiles[stage].at(u / 4, u % 4), a + (size_t)(row + u / 4) * k + k0 + u % 4 * 8);
      copy_async(b_tiles[stage].at(u / 8, u % 8), b + (size_t)(k0 + u / 8) * n + col + u % 8 * 8);
    }
  };
  refill(0, first);
  commit();
  for (int s = 0; s < steps; s++) {
    wait<0>();
    __syncthreads();
    if (s + 1 < steps) refill((s + 1) % 2, first + (s + 1) * BK);
    commit();
#pragma unroll
    for (int step = 0; step < 2; step++) {
      unsigned af[2][4], bf[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) load_matrices(af[i], a_tiles[s % 2].at(wm + 16 * i + lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; j++) load_matrices_turned(bf[j], b_tiles[s % 2].at(16 * step + lane % 16, wn / 8 + 2 * j + lane / 16));
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(__nv_bfloat16(), acc[i][j], af[i], &bf[j / 2][j % 2 * 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int y = row + wm + 16 * i + 8 * half + lane / 4, x = col + wn + 8 * j + lane % 4 * 2;
        *(float2 *)&parts[((size_t)split * m + y) * n + x] = make_float2(acc[i][j][2 * half], acc[i][j][2 * half + 1]);
      }
  meet_grid(counter);
#pragma unroll
  for (int i = 0; i < BAND * BN / 4 / 128; i++) {
    const int u = t + 128 * i, y = row + split * BAND + u / (BN / 4), x = col + u % (BN / 4) * 4;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int s = 0; s < SPLITS; s++) {
      const float4 part = *(const float4 *)&parts[((size_t)s * m + y) * n + x];
      sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    *(float4 *)&c[(size_t)y * n + x] = sum;
  }
}
