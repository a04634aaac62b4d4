// The CUDA C++ twin of kernels/producer_consumer.tir, with named barriers through inline PTX.
#include "tiles.cuh"

constexpr int W = 512;

__device__ void meet(int id) {
  asm volatile("bar.sync %0, 96;" ::"r"(id) : "memory");
}

__device__ void fetch(float *to, const float *from) {
#pragma unroll
  for (int j = 0; j < 4; j++) copy_async((uint4 *)to + 32 * j + threadIdx.x % 32, from + 128 * j + threadIdx.x % 32 * 4);
  commit();
  wait<0>();
}

extern "C" __global__ void __launch_bounds__(160)
    producer_consumer(const float *__restrict__ x, float *__restrict__ even, float *__restrict__ odd, int rows) {
  __shared__ __align__(16) float ring[2][2][W];
  const int warp = threadIdx.x / 32, place = (warp % 3 * 32 + threadIdx.x % 32) * 8;
  float mine[8] = {};
  for (int i = 0; i < rows / 2; i++) {
    const int now = i % 2;
    if (warp == 2) fetch(ring[0][now], x + (size_t)2 * i * W);
    if (warp <= 2) meet(1);
    if (warp < 2) {
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const float4 v = *(const float4 *)&ring[0][now][place + j];
        mine[j] = fmaf(v.x, v.x, mine[j]), mine[j + 1] = fmaf(v.y, v.y, mine[j + 1]);
        mine[j + 2] = fmaf(v.z, v.z, mine[j + 2]), mine[j + 3] = fmaf(v.w, v.w, mine[j + 3]);
      }
    }
    if (warp == 2) fetch(ring[1][now], x + (size_t)(2 * i + 1) * W);
    if (warp >= 2) meet(2);
    if (warp > 2) {
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const float4 v = *(const float4 *)&ring[1][now][place + j];
        mine[j] = fmaxf(mine[j], fabsf(v.x)), mine[j + 1] = fmaxf(mine[j + 1], fabsf(v.y));
        mine[j + 2] = fmaxf(mine[j + 2], fabsf(v.z)), mine[j + 3] = fmaxf(mine[j + 3], fabsf(v.w));
      }
    }
  }
  float *out = warp < 2 ? even : odd;
  if (warp != 2) {
    *(float4 *)&out[place] = make_float4(mine[0], mine[1], mine[2], mine[3]);
    *(float4 *)&out[place + 4] = make_float4(mine[4], mine[5], mine[6], mine[7]);
  }
}
