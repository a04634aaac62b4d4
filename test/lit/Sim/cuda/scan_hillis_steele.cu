// Inclusive scan of one block: log n steps over two shared buffers.
extern "C" __global__ void scan(const int *x, int *y, int n) {
  extern __shared__ int buffer[];
  int t = threadIdx.x, from = 0;
  buffer[t] = t < n ? x[t] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int to = 1 - from;
    buffer[to * blockDim.x + t] = buffer[from * blockDim.x + t] + (t >= d ? buffer[from * blockDim.x + t - d] : 0);
    from = to;
    __syncthreads();
  }
  if (t < n) y[t] = buffer[from * blockDim.x + t];
}
