// Divergent loops: iterations until escape.
extern "C" __global__ void mandelbrot(unsigned short *out, int w, int h, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  double cx = -2.0 + 3.0 * i / w, cy = -1.5 + 3.0 * j / h, x = 0, y = 0;
  int n = 0;
  while (n < limit) {
    double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
    if (__dadd_rn(xx, yy) > 4.0) break;
    y = __dadd_rn(__dmul_rn(2.0, __dmul_rn(x, y)), cy);
    x = __dadd_rn(__dadd_rn(xx, -yy), cx);
    n++;
  }
  out[j * w + i] = (unsigned short)n;
}
