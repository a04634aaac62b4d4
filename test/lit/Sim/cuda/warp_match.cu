// match, vote, redux, activemask, shuffles of every kind and width.
extern "C" __global__ void match(const int *x, unsigned *out) {
  int t = threadIdx.x, all;
  out[t] = __match_any_sync(~0u, x[t]);
  out[32 + t] = __match_all_sync(~0u, x[t] > -1000, &all) * 2 + all;
  out[64 + t] = __ballot_sync(~0u, x[t] > 3);
  out[96 + t] = __all_sync(~0u, x[t] < 99) + 2 * __any_sync(~0u, x[t] == 5);
  if (t % 3 == 1) out[128 + t] = __activemask(), out[160 + t] = __reduce_add_sync(0x92492492, x[t]);
  else out[128 + t] = 0, out[160 + t] = __reduce_max_sync(0x6DB6DB6D, x[t]);
  out[192 + t] = __reduce_xor_sync(~0u, x[t]);
}

extern "C" __global__ void shuffle(const int *x, int *out) {
  int t = threadIdx.x;
  out[t] = __shfl_sync(~0u, x[t], t * 7 + 3);
  out[32 + t] = __shfl_up_sync(~0u, x[t], 3, 8);
  out[64 + t] = __shfl_down_sync(~0u, x[t], 5, 16);
  out[96 + t] = __shfl_xor_sync(~0u, x[t], 9);
  out[128 + t] = __shfl_sync(~0u, x[t], 2, 4);
  out[160 + t] = (int)__shfl_sync(~0u, (long long)x[t] << 20, 31 - t) ;
}
