// Sparse matrix times vector (CSR), one warp a row, and a segmented scan flag by flag.
extern "C" __global__ void spmv(const int *start, const int *col, const double *val, const double *x, double *y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += val[i] * x[col[i]];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}
