// The CUDA C++ twin of kernels/reduce_cols.tir: 128 columns a CTA, a row a warp and step, the eight warps added up at the end.
extern "C" __global__ void __launch_bounds__(256) reduce_cols(const float *__restrict__ x, float *__restrict__ y, int m, int n) {
  __shared__ float4 parts[8][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = blockIdx.x * 128 + lane * 4;
  float4 sum = make_float4(0, 0, 0, 0);
  if (col < n)
    for (int i = warp; i < m; i += 8) {
      const float4 v = *(const float4 *)&x[(size_t)i * n + col];
      sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
  parts[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && col < n) {
#pragma unroll
    for (int i = 1; i < 8; i++) {
      const float4 v = parts[i][lane];
      sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    *(float4 *)&y[col] = sum;
  }
}
