// A counter-based generator (Philox 4x32-10) and a Monte Carlo count with warp votes.
__device__ uint4 philox(uint4 c, uint2 k) {
  for (int r = 0; r < 10; r++) {
    unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
  }
  return c;
}

extern "C" __global__ void generate(uint4 *out, unsigned *inside, unsigned long long seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 v = philox(make_uint4(i, 0, 7, 0), make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
  if (i < n) out[i] = v;
  float x = v.x * 0x1p-32f, y = v.y * 0x1p-32f;
  unsigned hit = __ballot_sync(~0u, i < n && __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 1.0f);
  if (threadIdx.x % 32 == 0) atomicAdd(inside, __popc(hit));
}
