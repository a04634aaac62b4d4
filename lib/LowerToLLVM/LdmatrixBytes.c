/* Fragments of bytes from tiles that lie along the fragment's rows (A) or columns (B), not along k.
 *
 * The instruction transposes cells of 16 bits, and here a cell is two neighbours of a row, n and n + 1, at one k. So two matrices
 * are loaded as a block, over 16 elements along the row, and each gives a lane two of its four values of k (c = lane % 4):
 *
 *              bytes of lane (c, g)                                k of rows 2c, 2c + 1 of the matrices 0 and 1
 *     M0       (k, 2g) (k, 2g+1) (k+1, 2g) (k+1, 2g+1)             c = 0:  0, 1    2, 3       c = 2:  10, 11    8, 9
 *     M1       (k+2, …)                                            c = 1:  4, 5    6, 7       c = 3:  14, 15   12, 13
 *
 * The rows of one matrix differ modulo 8 in k, so whatever layout serves eight neighbouring rows without conflicts serves these,
 * too. Lanes with c >= 2 have M0 and M1 in each other's place, which the permutation below knows.
 *
 *     prmt     E = (4c … 4c+3, 2g)    O = (4c … 4c+3, 2g+1)        what lane g has; columns of the block of 16
 *     wanted   of lane g: columns g and g + 8                      the two halves of the block
 *     shfl     even g:  E of lane g/2,  E of lane g/2 + 4          each lane is asked for one of the two at a time: those below
 *              odd g:   O of lane g/2,  O of lane g/2 + 4          4 give E, then O, the others O, then E; odd lanes swap
 *
 * If columns may come interleaved, a lane takes E and O of one other lane instead: column 2h + s gets columns 2h + 8s and
 * 2h + 8s + 1, those of lane h + 4s. That saves the swap. */
#include "LowerToLLVM/Ldmatrix.h"

#include "LowerToLLVM/Intrinsics.h"

#define HALF_ROW  8
#define WHOLE_ROW 16
#define ALL_LANES (-1)

/* ---- The fragment ---- */

static bool is_half(const tf_matrix_copy *it, const tf_matrix_digit *digit) {
  return digit->mesh_axis < 0 && digit->axis == it->contiguous && digit->unit == HALF_ROW && digit->extent % 2 == 0;
}

/* The digit that steps over halves, cut into the half and the rest; null: no room for the rest. */
static const tf_matrix_digit *cut_half(tf_matrix_copy *it, tf_matrix_digit *digit) {
  if (digit->extent > 2 && it->digit_count == TF_MAX_FACTORS) return NULL;
  tf_matrix_digit rest = *digit;
  rest.extent = digit->extent / 2;
  rest.unit = WHOLE_ROW;
  rest.local_stride = 2 * digit->local_stride;
  if (rest.extent > 1) it->digits[it->digit_count++] = rest;
  digit->extent = 2;
  return digit;
}

bool tf_matrix_has_byte_rows(tf_matrix_copy *it) {
  bool lies_across = it->row->axis == it->contiguous && it->row->unit == 1 && it->column->axis != it->contiguous;
  if (it->cells != 4 || !lies_across) return false;
  for (unsigned i = 0; i < it->digit_count && !it->half; i++)
    if (is_half(it, &it->digits[i])) it->half = cut_half(it, &it->digits[i]);
  return it->half != NULL;
}

/* ---- Code ---- */

/* Row l % 8 is one of the two of c = l / 2 % 4; which two is the matrix, or the other one where c >= 2. */
LLVMValueRef tf_matrix_byte_row(tf_lowering *lowering, const tf_matrix_copy *it) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef column = tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 1, 3), it->column->unit);
  LLVMValueRef upper = LLVMBuildXor(b, tf_matrix_lane_bits(lowering, 3, 1), tf_matrix_lane_bits(lowering, 2, 1), "");
  LLVMValueRef within = LLVMBuildAdd(b, tf_matrix_scaled(lowering, upper, 2), tf_matrix_lane_bits(lowering, 0, 1), "");
  return LLVMBuildAdd(b, column, tf_matrix_scaled(lowering, within, it->pair->unit), "");
}

/* The selector that takes the even bytes of M0 and M1 in the order of k, and the one for the odd ones. */
static LLVMValueRef even_bytes(tf_lowering *lowering) {
  LLVMValueRef swapped =
      LLVMBuildTrunc(lowering->builder, tf_matrix_lane_bits(lowering, 1, 1), tf_llvm_int(lowering, 1), "");
  return LLVMBuildSelect(lowering->builder, swapped, tf_llvm_i32(lowering, 0x2064), tf_llvm_i32(lowering, 0x6420), "");
}

static LLVMValueRef other_bytes(tf_lowering *lowering, LLVMValueRef selector) {
  return LLVMBuildXor(lowering->builder, selector, tf_llvm_i32(lowering, 0x1111), "");
}

/* The lane with the same c and g / 2 + 4 * (g % 2) in the place of g. */
static LLVMValueRef giver(tf_lowering *lowering) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef half = tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 3, 3), 4),
               odd = tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 2, 1), 16);
  return LLVMBuildOr(b, LLVMBuildOr(b, half, odd, ""), tf_matrix_lane_bits(lowering, 0, 3), "");
}

static LLVMValueRef permute(tf_lowering *lowering, const LLVMValueRef registers[2], LLVMValueRef selector) {
  LLVMValueRef args[3] = {registers[0], registers[1], selector};
  return tf_lower_intrinsic(lowering, TF_INTRINSIC_PRMT, "prmt", 3, args);
}

static LLVMValueRef take(tf_lowering *lowering, LLVMValueRef value, LLVMValueRef lane) {
  LLVMValueRef args[4] = {tf_llvm_i32(lowering, ALL_LANES), value, lane, tf_llvm_i32(lowering, 31)};
  return tf_lower_intrinsic(lowering, TF_INTRINSIC_SHFL_IDX, "shfl.sync", 4, args);
}

static void take_interleaved(tf_lowering *lowering, LLVMValueRef registers[2]) {
  LLVMValueRef selector = even_bytes(lowering), lane = giver(lowering);
  LLVMValueRef even = permute(lowering, registers, selector);
  LLVMValueRef odd = permute(lowering, registers, other_bytes(lowering, selector));
  registers[0] = take(lowering, even, lane);
  registers[1] = take(lowering, odd, lane);
}

static void take_halves(tf_lowering *lowering, LLVMValueRef registers[2]) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef upper = tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 4, 1), 0x1111), lane = giver(lowering);
  LLVMValueRef selector = LLVMBuildXor(b, even_bytes(lowering), upper, "");
  LLVMValueRef first = permute(lowering, registers, selector);
  LLVMValueRef second = permute(lowering, registers, other_bytes(lowering, selector));
  first = take(lowering, first, lane);
  second = take(lowering, second, LLVMBuildXor(b, lane, tf_llvm_i32(lowering, 16), ""));
  LLVMValueRef odd = LLVMBuildTrunc(b, tf_matrix_lane_bits(lowering, 2, 1), tf_llvm_int(lowering, 1), "");
  registers[0] = LLVMBuildSelect(b, odd, second, first, "");
  registers[1] = LLVMBuildSelect(b, odd, first, second, "");
}

void tf_matrix_exchange(tf_lowering *lowering, LLVMValueRef registers[2], bool interleaved) {
  if (interleaved)
    take_interleaved(lowering, registers);
  else
    take_halves(lowering, registers);
}
