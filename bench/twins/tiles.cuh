// What the twins share: instructions that CUDA C++ has no words for, and tiles of shared memory with swizzled 16-byte units.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// A tile of ROWS rows of UNITS units of 16 bytes; unit u of row r lies where u ^ (r >> SHIFT) says, so that eight rows of one
// unit hit all the banks:
//
//   UNITS = 8, SHIFT = 0    row 0   0 1 2 3 4 5 6 7
//                           row 1   1 0 3 2 5 4 7 6
//                           row 2   2 3 0 1 6 7 4 5
template <int ROWS, int UNITS, int SHIFT = 0>
struct Tile {
  uint4 data[ROWS * UNITS];
  __device__ uint4 *at(int row, int unit) {
    constexpr int MASK = UNITS < 8 ? UNITS - 1 : 7;
    return &data[row * UNITS + (unit ^ (row >> SHIFT & MASK))];
  }
};

template <class P>
__device__ unsigned shared_address(const P *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void copy_async(uint4 *to, const void *from, bool inside = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

__device__ void commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int LEFT>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

__device__ void load_matrices(unsigned (&r)[4], const uint4 *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ void load_matrices_turned(unsigned (&r)[4], const uint4 *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

#define TWIN_MMA(element, accumulator, constraint, shape, types)                                                          \
  __device__ void mma(element, accumulator(&d)[4], const unsigned(&a)[4], const unsigned *b) {                             \
    asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"      \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                      \
  }
TWIN_MMA(__nv_bfloat16, float, "f", "m16n8k16", "f32.bf16.bf16.f32")
TWIN_MMA(__half, float, "f", "m16n8k16", "f32.f16.f16.f32")
TWIN_MMA(signed char, int, "r", "m16n8k32", "s32.s8.s8.s32")
#if __CUDA_ARCH__ >= 890
TWIN_MMA(__nv_fp8_e4m3, float, "f", "m16n8k32", "f32.e4m3.e4m3.f32")
#endif

__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *(const unsigned *)&both;
}
