// 2-D convolution, filter in constant memory, three channels, bytes in and out.
__constant__ int taps[5] = {1, 4, 6, 4, 1};

extern "C" __global__ void blur(const unsigned char *x, unsigned char *y, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  for (int c = 0; c < 3; c++) {
    int sum = 0;
    for (int v = -2; v <= 2; v++)
      for (int u = -2; u <= 2; u++)
        if (i + u >= 0 && i + u < w && j + v >= 0 && j + v < h)
          sum += taps[u + 2] * taps[v + 2] * x[((j + v) * w + i + u) * 3 + c];
    y[(j * w + i) * 3 + c] = (unsigned char)((sum + 128) >> 8);
  }
}
