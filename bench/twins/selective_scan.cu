// The CUDA C++ twin of kernels/selective_scan.tir: a half warp has the 16 states of a channel.

constexpr int N = 16, B = 8;

extern "C" __global__ void __launch_bounds__(B *N)
    selective_scan(const float *__restrict__ x, const float *__restrict__ dt, const float *__restrict__ a, const float *__restrict__ b,
                   const float *__restrict__ c, const float *__restrict__ d, float *__restrict__ y, int length, int channels) {
  const int state = threadIdx.x % N, channel = blockIdx.x * B + threadIdx.x / N;
  const bool inside = channel < channels;
  const float decay = inside ? a[channel * N + state] : 0, skip = inside ? d[channel] : 0;
  float h = 0;
  for (int t = 0; t < length; t++) {
    const size_t at = (size_t)t * channels + channel;
    const float input = inside ? x[at] : 0, step = inside ? dt[at] : 0;
    h = fmaf(step * input, b[t * N + state], h * expf(decay * step));
    float sum = h * c[t * N + state];
#pragma unroll
    for (int lanes = N / 2; lanes; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    if (inside && state == 0) y[at] = fmaf(skip, input, sum);
  }
}
