// Double precision: Jacobi sweeps of a tridiagonal system in one block, and fused multiply-adds in both roundings.
extern "C" __global__ void solve(const double *rhs, double *x, int n, int sweeps) {
  __shared__ double s[2][258];
  int t = threadIdx.x;
  for (int i = t; i < 258; i += blockDim.x) s[0][i] = s[1][i] = 0;
  __syncthreads();
  for (int k = 0; k < sweeps; k++) {
    if (t < n) s[(k + 1) % 2][t + 1] = (rhs[t] + s[k % 2][t] + s[k % 2][t + 2]) / 4.0;
    __syncthreads();
  }
  if (t < n) x[t] = s[sweeps % 2][t + 1];
}

extern "C" __global__ void round_modes(const double *a, const double *b, double *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = __fma_rn(a[i], b[i], 1.0 / 3);
  out[n + i] = __dadd_rz(a[i], b[i]);
  out[2 * n + i] = __dmul_ru(a[i], b[i]);
  out[3 * n + i] = __ddiv_rd(a[i], b[i]);
  out[4 * n + i] = __dsqrt_rn(fabs(a[i]));
  out[5 * n + i] = (double)__double2float_rd(a[i]);
  out[6 * n + i] = (double)__double2int_ru(a[i]);
}
