// Transpose through a padded tile: coalesced on both sides, no bank conflicts.
extern "C" __global__ void transpose(const double *x, double *y, int rows, int cols) {
  __shared__ double tile[32][33];
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (row + i < rows && col < cols) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * cols + col];
  __syncthreads();
  col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (row + i < cols && col < rows) y[(row + i) * rows + col] = tile[threadIdx.x][threadIdx.y + i];
}
