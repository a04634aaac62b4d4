// 100,000 bytes of dynamic shared memory, all of it used.
extern "C" __global__ void reverse(const int *x, int *y, int n) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = s[n - 1 - i];
}
