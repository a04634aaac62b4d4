// The CUDA C++ twin of kernels/histogram.tir: counts in shared memory, 16 bytes a thread and step.

constexpr int CTAS = 32, THREADS = 256, VEC = 16;

extern "C" __global__ void __launch_bounds__(THREADS) histogram(const unsigned char *__restrict__ x, unsigned *__restrict__ counts, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = (blockIdx.x * THREADS + threadIdx.x) * VEC; i < n; i += CTAS * THREADS * VEC) {
    if (i + VEC <= n) {
      const uint4 v = *(const uint4 *)&x[i];
      const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int k = 0; k < VEC; k++) atomicAdd(&bins[words[k / 4] >> k % 4 * 8 & 255], 1);
    } else {
      for (int k = i; k < n; k++) atomicAdd(&bins[x[k]], 1);
    }
  }
  __syncthreads();
  const unsigned found = bins[threadIdx.x];
  if (found) atomicAdd(&counts[threadIdx.x], found);
}
