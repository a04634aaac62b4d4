// Bitonic sort of one block's elements, keys with values.
extern "C" __global__ void sort(int *keys, short *values) {
  extern __shared__ int k[];
  short *v = (short *)(k + blockDim.x);
  int t = threadIdx.x;
  k[t] = keys[t], v[t] = values[t];
  for (int size = 2; size <= blockDim.x; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int o = t ^ stride;
      if (o > t && (k[t] > k[o]) == ((t & size) == 0)) {
        int a = k[t];
        k[t] = k[o], k[o] = a;
        short b = v[t];
        v[t] = v[o], v[o] = b;
      }
    }
  __syncthreads();
  keys[t] = k[t], values[t] = v[t];
}
