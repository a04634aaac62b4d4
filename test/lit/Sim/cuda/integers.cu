// dp4a/dp2a, 64-bit products and divisions, bit tricks, byte permutes, funnel shifts.
extern "C" __global__ void dots(const int *a, const int *b, int *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = __dp4a(a[i], b[i], 7);
  out[n + i] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], 9u);
  out[2 * n + i] = __dp2a_lo(a[i], b[i], -3);
}

extern "C" __global__ void wide(const long long *a, const long long *b, long long *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = __mul64hi(a[i], b[i]);
  out[n + i] = a[i] / b[i];
  out[2 * n + i] = a[i] % b[i];
  out[3 * n + i] = (long long)((unsigned long long)a[i] / ((unsigned long long)b[i] | 1));
  out[4 * n + i] = __popcll(a[i]) + 100 * __clzll(b[i]) + 10000 * __ffsll(a[i]);
}

extern "C" __global__ void bits(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = __brev(a[i]);
  out[n + i] = __byte_perm(a[i], b[i], 0x5216);
  out[2 * n + i] = __funnelshift_l(a[i], b[i], 11);
  out[3 * n + i] = __funnelshift_r(a[i], b[i], b[i]);
  out[4 * n + i] = (a[i] & b[i]) ^ (~a[i] | (b[i] >> 3));
  out[5 * n + i] = __sad((int)a[i], (int)b[i], 5u);
  out[6 * n + i] = __umulhi(a[i], b[i]);
  out[7 * n + i] = a[i] / (b[i] | 1) + (unsigned)((int)a[i] % 1000);
  out[8 * n + i] = __vadd4(a[i], b[i]);
  out[9 * n + i] = __uhadd(a[i], b[i]);
}
