// The CUDA C++ twin of a round of kernels/jacobi.tir: a patch with a rim in shared memory.

constexpr int B = 16, R = B + 2;

extern "C" __global__ void __launch_bounds__(B *B)
    sweep(const float *__restrict__ u, const float *__restrict__ f, float *__restrict__ v, int height, int width) {
  __shared__ float patch[R][R];
  const int patches = (width + B - 1) / B, row = blockIdx.x / patches * B, col = blockIdx.x % patches * B;
  const int i = threadIdx.x / B, j = threadIdx.x % B;
  for (int k = threadIdx.x; k < R * R; k += B * B) {
    const int y = row + k / R - 1, x = col + k % R - 1;
    patch[k / R][k % R] = y >= 0 && y < height && x >= 0 && x < width ? u[(size_t)y * width + x] : 0;
  }
  __syncthreads();
  if (row + i >= height || col + j >= width) return;
  const size_t at = (size_t)(row + i) * width + col + j;
  v[at] = (patch[i][j + 1] + patch[i + 2][j + 1] + patch[i + 1][j] + patch[i + 1][j + 2] - f[at]) * 0.25f;
}
