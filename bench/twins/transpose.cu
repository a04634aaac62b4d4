// The CUDA C++ twin of kernels/transpose.tir, for sizes that are multiples of 4: 32 x 32 tiles, rows of 33 words, four elements a thread.
constexpr int B = 32;

extern "C" __global__ void __launch_bounds__(256) transpose(const float *__restrict__ x, float *__restrict__ y, int m, int n) {
  __shared__ float tile[B][B + 1];
  const int cols = (n + B - 1) / B, row = blockIdx.x / cols * B, col = blockIdx.x % cols * B;
  const int r = threadIdx.x / 8, q = threadIdx.x % 8 * 4;
  if (row + r < m && col + q < n) {
    const float4 v = *(const float4 *)&x[(size_t)(row + r) * n + col + q];
    tile[r][q] = v.x, tile[r][q + 1] = v.y, tile[r][q + 2] = v.z, tile[r][q + 3] = v.w;
  }
  __syncthreads();
  if (col + r < n && row + q < m)
    *(float4 *)&y[(size_t)(col + r) * m + row + q] = make_float4(tile[q][r], tile[q + 1][r], tile[q + 2][r], tile[q + 3][r]);
}
