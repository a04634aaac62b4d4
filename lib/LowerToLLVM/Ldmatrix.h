/* Between the parts of ldmatrix: Ldmatrix.c finds out whether and in which order, LdmatrixAddress.c where, LdmatrixBytes.c takes
 * transposed bytes apart. */
#ifndef TF_LOWER_LDMATRIX_H
#define TF_LOWER_LDMATRIX_H

#include "LowerToLLVM/Access.h"

/* A factor of the fragment's ownership, on its axis of the shape. */
typedef struct tf_matrix_digit {
  int64_t extent;
  unsigned axis;
  int64_t unit;         /* step on that axis */
  int mesh_axis;        /* -1: local */
  int64_t divisor;      /* of the mesh axis's coordinate */
  int64_t local_stride; /* local: step in the thread's numbers of values */
} tf_matrix_digit;

typedef struct tf_matrix_copy {
  tf_tensor source, destination;
  unsigned rank, digit_count;
  tf_matrix_digit digits[TF_MAX_FACTORS]; /* those of extent 1 left out */
  int64_t count;                          /* values of a thread */
  unsigned contiguous;                    /* axis of the tile whose elements are neighbours */
  unsigned cells;                         /* elements of one register */
  bool transposed;
  const tf_matrix_digit *column, *row,
      *pair; /* lane % 4, lane / 4; the elements of one register, null if it holds one */
  const tf_matrix_digit
      *half;         /* elements of 8 bits, transposed (LdmatrixBytes.c): the two halves of a row of 16; else null */
  LLVMValueRef base; /* this lane's row address for groups of the pattern at the tile's origin */
  int64_t pattern[TF_MAX_RANK][4];
} tf_matrix_copy;

/* One matrix of a thread's fragment. */
typedef struct tf_matrix {
  int64_t position; /* number of the register's first value */
  int64_t start[TF_MAX_RANK];
} tf_matrix;

/* The address of this lane's row for `count` (1, 2 or 4) matrices that one instruction loads. Keeps what further groups can
 * reuse in the copy. */
LLVMValueRef tf_ldmatrix_address(tf_lowering *lowering, tf_matrix_copy *copy, const tf_matrix *group, unsigned count);

/* Bits of the lane's number, (l >> shift) & mask, and a multiple of an i32. */
LLVMValueRef tf_matrix_lane_bits(tf_lowering *lowering, unsigned shift, unsigned mask);
LLVMValueRef tf_matrix_scaled(tf_lowering *lowering, LLVMValueRef value, int64_t factor);

/* Whether the digit tells apart elements that lie in one row of 16 bytes. */
bool tf_matrix_is_inside_row(const tf_matrix_copy *copy, const tf_matrix_digit *digit);

/* ---- Transposed bytes ---- */
/* Whether the fragment's digits allow it; splits `half` off the digit that contains it. */
bool tf_matrix_has_byte_rows(tf_matrix_copy *copy);
/* The k-coordinate of row l % 8 of matrix l / 8 within its block, for lane l. */
LLVMValueRef tf_matrix_byte_row(tf_lowering *lowering, const tf_matrix_copy *copy);
/* Replaces the two registers that a block's matrices gave by those of the fragment: first half, second half; interleaved: as
 * tf_lower_ldmatrix says. */
void tf_matrix_exchange(tf_lowering *lowering, LLVMValueRef registers[2], bool interleaved);

#endif
