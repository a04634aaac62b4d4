// Gravitational accelerations, bodies staged through shared memory.
extern "C" __global__ void accelerate(const float4 *body, float3 *acc, int n) {
  __shared__ float4 s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float3 a = {0, 0, 0};
  for (int base = 0; base < n; base += 64) {
    s[threadIdx.x] = base + threadIdx.x < n ? body[base + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 64; j++) {
      float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float f = s[j].w * r * r * r;
      a.x += dx * f, a.y += dy * f, a.z += dz * f;
    }
    __syncthreads();
  }
  if (i < n) acc[i] = a;
}
