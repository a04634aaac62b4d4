// The CUDA C++ twin of kernels/swiglu.tir: 1024 elements a CTA, eight a thread.
__device__ float act(float gate, float up) {
  return gate / (1 + expf(-gate)) * up;
}

extern "C" __global__ void __launch_bounds__(128)
    swiglu(const float *__restrict__ gate, const float *__restrict__ up, float *__restrict__ out, int n) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int at = blockIdx.x * 1024 + (threadIdx.x + 128 * i) * 4;
    if (n % 4 == 0 && at < n) {
      const float4 g = *(const float4 *)&gate[at], u = *(const float4 *)&up[at];
      *(float4 *)&out[at] = make_float4(act(g.x, u.x), act(g.y, u.y), act(g.z, u.z), act(g.w, u.w));
    } else {
#pragma unroll
      for (int e = 0; e < 4; e++)
        if (at + e < n) out[at + e] = act(gate[at + e], up[at + e]);
    }
  }
}
