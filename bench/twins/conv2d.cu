// The CUDA C++ twin of kernels/conv2d.tir: 64 pixels of a line by 64 outputs, 3 x 3 taps of 64 channels in slices of 32.
#include "tiles.cuh"

constexpr int C = 64, BP = 64, BO = 64, BK = 32, STAGES = 3, SLICES = C / BK, STEPS = 9 * SLICES;

extern "C" __global__ void __launch_bounds__(128)
    conv2d(const __half *__restrict__ x, const __half *__restrict__ w, __half *__restrict__ y, int count, int height, int width, int outputs) {
  __shared__ __align__(128) Tile<BP, 4, 1> x_tiles[STAGES];
  __shared__ __align__(128) Tile<BK, 8> w_tiles[STAGES];
  const int strips = (width + BP - 1) / BP, tiles = outputs / BO;
  const int o = blockIdx.x % tiles * BO, first = blockIdx.x / tiles % strips * BP, line = blockIdx.x / tiles / strips;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 32, i = line % height;
  x += (size_t)(line / height) * height * width * C;
  float acc[2][4][4] = {};

  auto refill = [&](int stage, int step) {
    const int tap = step / SLICES, c = step % SLICES * BK, row = i + tap / 3 - 1;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int u = t + 128 * h, col = first + u / 4 + tap % 3 - 1;
      const bool inside = row >= 0 && row < height && col >= 0 && col < width;
      copy_async(x_tiles[stage].at(u / 4, u % 4), inside ? x + ((size_t)row * width + col) * C + c + u % 4 * 8 : x, inside);
      copy_async(w_tiles[stage].at(u / 8, u % 8), w + ((size_t)tap * C + c + u / 8) * outputs + o + u % 8 * 8);
    }
  };
  for (int s = 0; s < STAGES - 1; s++) {
    refill(s, s);
    commit();
  }
  for (int s = 0; s < STEPS; s++) {
    wait<STAGES - 2>();
    __syncthreads();
    if (s + STAGES - 1 < STEPS) refill((s + STAGES - 1) % STAGES, s + STAGES - 1);
    commit();
#pragma unroll
    for (int step = 0; step < 2; step++) {
      unsigned af[2][4], bf[2][4];
#pragma unroll
      for (int m = 0; m < 2; m++) load_matrices(af[m], x_tiles[s % STAGES].at(wm + 16 * m + lane % 16, 2 * step + lane / 16));
#pragma unroll
      for (int n = 0; n < 2; n++) load_matrices_turned(bf[n], w_tiles[s % STAGES].at(16 * step + lane % 16, wn / 8 + 2 * n + lane / 16));
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) mma(__half(), acc[m][n], af[m], &bf[n / 2][n % 2 * 2]);
    }
  }
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int n = 0; n < 4; n++) {
        const int col = first + wm + 16 * m + 8 * half + lane / 4;
        __half *to = y + ((size_t)line * width + col) * outputs + o + wn + 8 * n + lane % 4 * 2;
        if (col < width) *(__half2 *)to = __floats2half2_rn(acc[m][n][2 * half], acc[m][n][2 * half + 1]);
      }
}
