// tf32 and f64 tensor-core products, one warp each.
extern "C" __global__ void tf32(const float *a, const float *b, float *c) { // 16 x 8, 8 x 8
  int g = threadIdx.x / 4, q = threadIdx.x % 4;
  unsigned fa[4], fb[2];
  float d[4] = {};
  for (int r = 0; r < 4; r++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(fa[r]) : "f"(a[(g + r % 2 * 8) * 8 + q + r / 2 * 4]));
  for (int r = 0; r < 2; r++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(fb[r]) : "f"(b[(q + r * 4) * 8 + g]));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int r = 0; r < 4; r++) c[(g + r / 2 * 8) * 8 + q * 2 + r % 2] = d[r];
}

extern "C" __global__ void f64(const double *a, const double *b, double *c) { // 8 x 4, 4 x 8
  int g = threadIdx.x / 4, q = threadIdx.x % 4;
  double d0 = 0.5, d1 = -0.5;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d0), "+d"(d1) : "d"(a[g * 4 + q]), "d"(b[q * 8 + g]));
  c[g * 8 + q * 2] = d0, c[g * 8 + q * 2 + 1] = d1;
}
