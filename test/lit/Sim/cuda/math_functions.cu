// Functions of the math library in both precisions.
extern "C" __global__ void single(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = fabsf(v);
  float r[] = {sinf(v), cosf(v), expf(v), logf(a), powf(a, 1.7f), tanhf(v), atan2f(v, 3.0f), sqrtf(a), cbrtf(v), erff(v),
               floorf(v), truncf(v), rintf(v), fmodf(v, 0.7f), log2f(a), exp2f(v), rsqrtf(a), hypotf(v, 2.0f)};
  for (int k = 0; k < 18; k++) out[k * n + i] = r[k];
}

extern "C" __global__ void twice(const double *x, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], a = fabs(v);
  double r[] = {sin(v), exp(v), log(a), pow(a, 1.7), tan(v), sqrt(a), atan(v), rint(v)};
  for (int k = 0; k < 8; k++) out[k * n + i] = r[k];
}
