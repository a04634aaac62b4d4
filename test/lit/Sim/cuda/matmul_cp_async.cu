// c = a @ b for one 32 x 32 tile: cp.async into two stages, ldmatrix, mma.m16n8k16. a is row-major, b column-major, half.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void matmul(const half *a, const half *b, float *c, int k) {
  __shared__ __align__(16) half as[2][32][24], bs[2][32][24]; // rows padded against bank conflicts
  int t = threadIdx.x, lane = t % 32, warp = t / 32;          // two warps, 16 rows each
  float acc[4][4] = {};
  auto stage = [&](int s, int k0) {
    int row = t / 2, part = t % 2 * 8;
    __pipeline_memcpy_async(&as[s][row][part], &a[row * k + k0 + part], 16);
    __pipeline_memcpy_async(&bs[s][row][part], &b[row * k + k0 + part], 16);
    __pipeline_commit();
  };
  stage(0, 0);
  for (int i = 0; i < k / 16; i++) {
    if (i + 1 < k / 16) stage((i + 1) % 2, (i + 1) * 16);
    else __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    unsigned fa[4], fb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(address(&as[i % 2][warp * 16 + lane % 16][lane / 16 * 8])));
    for (int j = 0; j < 4; j++) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                   : "=r"(fb[0]), "=r"(fb[1])
                   : "r"(address(&bs[i % 2][j * 8 + lane % 8][lane / 8 % 2 * 8])));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                   : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; j++)
    for (int r = 0; r < 4; r++) c[(warp * 16 + lane / 4 + r / 2 * 8) * 32 + j * 8 + lane % 4 * 2 + r % 2] = acc[j][r];
}
