// Single-pass scan with decoupled look-back: a block publishes its sum, then its inclusive prefix, and spins on its
// predecessors. Blocks number themselves by an atomic, so the order in which they start does not matter.
extern "C" __global__ void scan(const unsigned *x, unsigned *y, unsigned *ticket, unsigned long long *state, int n) {
  __shared__ unsigned block, before, s[128];
  int t = threadIdx.x;
  if (t == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  int i = block * 128 + t;
  s[t] = i < n ? x[i] : 0;
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    unsigned v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
  }
  __syncthreads();
  if (t == 0) {
    volatile unsigned long long *published = state;
    unsigned sum = s[127], prefix = 0;
    published[block] = (1ull << 32) | sum;
    __threadfence();
    for (int b = (int)block - 1; b >= 0;) {
      unsigned long long p = published[b];
      if (p >> 32 == 0) continue;
      prefix += (unsigned)p;
      if (p >> 32 == 2) break;
      b--;
    }
    published[block] = (2ull << 32) | (unsigned)(prefix + sum);
    __threadfence();
    before = prefix;
  }
  __syncthreads();
  if (i < n) y[i] = before + s[t];
}
