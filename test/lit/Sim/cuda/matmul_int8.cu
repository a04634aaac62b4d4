// s8 matrix product by mma.m16n8k32 and a u4-like unpack, one warp.
extern "C" __global__ void matmul(const signed char *a, const signed char *b, int *c) { // 16 x 32, (8 x 32)^T
  int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  int fa[4], fb[2], d[4] = {1, 2, 3, 4};
  for (int r = 0; r < 4; r++) fa[r] = *(const int *)&a[(g + r % 2 * 8) * 32 + q * 4 + r / 2 * 16];
  for (int r = 0; r < 2; r++) fb[r] = *(const int *)&b[g * 32 + q * 4 + r * 16];
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  for (int r = 0; r < 4; r++) c[(g + r / 2 * 8) * 8 + q * 2 + r % 2] = d[r];
}
