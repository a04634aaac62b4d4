// Row softmax, one warp a row, any width.
extern "C" __global__ void softmax(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += row * cols, y += row * cols;
  float top = -INFINITY, sum = 0;
  for (int i = lane; i < cols; i += 32) top = fmaxf(top, x[i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int i = lane; i < cols; i += 32) sum += expf(x[i] - top);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = lane; i < cols; i += 32) y[i] = expf(x[i] - top) / sum;
}
