/* Addresses of ldmatrix: lane l passes row l % 8 of matrix l / 8.
 *
 *   coordinate on an axis  =  the warp's digits  +  row l % 8  +  start of matrix l / 8 within the group  +  the group's start
 *                             \_____________________ one register per pattern _____________________/      a constant */
#include "LowerToLLVM/Ldmatrix.h"

#include <string.h>

LLVMValueRef tf_matrix_scaled(tf_lowering *lowering, LLVMValueRef value, int64_t factor) {
  return LLVMBuildMul(lowering->builder, value, tf_llvm_i32(lowering, factor), "");
}

LLVMValueRef tf_matrix_lane_bits(tf_lowering *lowering, unsigned shift, unsigned mask) {
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  thread = LLVMBuildLShr(lowering->builder, thread, tf_llvm_i32(lowering, shift), "");
  return LLVMBuildAnd(lowering->builder, thread, tf_llvm_i32(lowering, mask), "");
}

/* values[l / 8] for lane l: a constant, or a sum over the two bits of l / 8 where that gives it, else selects. */
static LLVMValueRef pick(tf_lowering *lowering, const int64_t values[4]) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMValueRef first = tf_llvm_i32(lowering, values[0]), low = tf_matrix_lane_bits(lowering, 3, 1),
               high = tf_matrix_lane_bits(lowering, 4, 1);
  if (values[3] - values[0] == (values[1] - values[0]) + (values[2] - values[0])) {
    LLVMValueRef sum = tf_matrix_scaled(lowering, low, values[1] - values[0]);
    sum = LLVMBuildAdd(builder, sum, tf_matrix_scaled(lowering, high, values[2] - values[0]), "");
    return LLVMBuildAdd(builder, sum, first, "");
  }
  LLVMValueRef odd = LLVMBuildTrunc(builder, low, tf_llvm_int(lowering, 1), "");
  LLVMValueRef lower = LLVMBuildSelect(builder, odd, tf_llvm_i32(lowering, values[1]), first, "");
  LLVMValueRef upper =
      LLVMBuildSelect(builder, odd, tf_llvm_i32(lowering, values[3]), tf_llvm_i32(lowering, values[2]), "");
  return LLVMBuildSelect(builder, LLVMBuildTrunc(builder, high, tf_llvm_int(lowering, 1), ""), upper, lower, "");
}

/* Share of an axis's coordinate that tells the rows of one matrix apart, for row l % 8. */
static LLVMValueRef row_share(tf_lowering *lowering, const tf_matrix_copy *it, unsigned axis) {
  LLVMBuilderRef builder = lowering->builder;
  if (!it->transposed)
    return it->row->axis == axis ? tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 0, 7), it->row->unit)
                                 : NULL;
  if (it->pair->axis != axis) return NULL;
  if (it->half) return tf_matrix_byte_row(lowering, it);
  LLVMValueRef pair = tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 1, 3), it->column->unit);
  return LLVMBuildAdd(builder, pair, tf_matrix_scaled(lowering, tf_matrix_lane_bits(lowering, 0, 1), it->pair->unit),
                      "");
}

static LLVMValueRef digit_value(tf_lowering *lowering, const tf_matrix_copy *it, const tf_matrix_digit *digit) {
  LLVMBuilderRef builder = lowering->builder;
  const tf_mesh *mesh = it->destination.view->ownership->mesh;
  LLVMValueRef value = tf_lower_coordinate(lowering, mesh, (unsigned)digit->mesh_axis);
  if (digit->divisor > 1) value = LLVMBuildUDiv(builder, value, tf_llvm_i32(lowering, digit->divisor), "");
  if (tf_dim_int(lowering->context, digit->divisor * digit->extent) ==
      tf_mesh_axis_extent(mesh, (unsigned)digit->mesh_axis))
    return value;
  return LLVMBuildURem(builder, value, tf_llvm_i32(lowering, digit->extent), "");
}

static LLVMValueRef warp_share(tf_lowering *lowering, const tf_matrix_copy *it, unsigned axis) {
  LLVMValueRef sum = tf_llvm_i32(lowering, 0);
  for (unsigned i = 0; i < it->digit_count; i++) {
    const tf_matrix_digit *digit = &it->digits[i];
    if (digit->axis != axis || digit->mesh_axis < 0 || digit == it->row || digit == it->column) continue;
    LLVMValueRef share = tf_matrix_scaled(lowering, digit_value(lowering, it, digit), digit->unit);
    sum = LLVMBuildAdd(lowering->builder, sum, share, "");
  }
  return sum;
}

/* This lane's row address for a group whose first matrix starts at `start`, the others at `starts` behind it. */
static LLVMValueRef row_address(tf_lowering *lowering, const tf_matrix_copy *it, const int64_t *start,
                                int64_t starts[TF_MAX_RANK][4]) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMValueRef coordinates[TF_MAX_RANK];
  for (unsigned axis = 0; axis < it->rank; axis++) {
    LLVMValueRef rows = row_share(lowering, it, axis), sum = warp_share(lowering, it, axis);
    if (rows) sum = LLVMBuildAdd(builder, sum, rows, "");
    sum = LLVMBuildAdd(builder, sum, pick(lowering, starts[axis]), "");
    coordinates[axis] = LLVMBuildAdd(builder, sum, tf_llvm_i32(lowering, start[axis]), "");
  }
  return tf_tensor_element(lowering, &it->source, it->rank, coordinates);
}

/* ---- Groups ---- */

/* Storage elements between the tile's origin and these coordinates; false if a stride is symbolic. */
static bool static_distance(const tf_matrix_copy *it, const int64_t *start, int64_t *distance) {
  *distance = 0;
  for (unsigned axis = 0; axis < it->rank; axis++) {
    int64_t stride = 0;
    if (!tf_dim_is_static(it->source.view->strides[axis], &stride)) return false;
    *distance += start[axis] * stride;
  }
  return true;
}

/* The pattern's row addresses at the tile's origin, computed once. */
static LLVMValueRef base_address(tf_lowering *lowering, tf_matrix_copy *it, int64_t pattern[TF_MAX_RANK][4]) {
  static const int64_t origin[TF_MAX_RANK] = {0};
  if (it->base && memcmp(pattern, it->pattern, sizeof it->pattern) == 0) return it->base;
  memcpy(it->pattern, pattern, sizeof it->pattern);
  return it->base = row_address(lowering, it, origin, pattern);
}

static LLVMValueRef advance(tf_lowering *lowering, const tf_matrix_copy *it, LLVMValueRef pointer, int64_t elements) {
  LLVMValueRef index = tf_llvm_i32(lowering, elements);
  return LLVMBuildInBoundsGEP2(lowering->builder, it->source.element, pointer, &index, 1, "");
}

/* ---- Swizzled tiles: which bits of an offset can be set? ---- */

/* Bits that value * step may have, for values 0 … most. */
static uint64_t bits_of(int64_t most, int64_t step) {
  if (most <= 0 || step <= 0) return 0;
  uint64_t top = (uint64_t)most * (uint64_t)step, lowest = (uint64_t)(step & -step);
  return ((UINT64_C(2) << (63 - __builtin_clzll(top))) - 1) & ~(lowest - 1);
}

/* Adds a summand to what the sum so far may have; false if the two can carry into each other. */
static bool add_bits(uint64_t *sum, uint64_t bits, uint64_t care) {
  bool apart = !(*sum & bits & care);
  *sum |= bits;
  return apart;
}

static bool add_start_bits(tf_lowering *lowering, const tf_matrix_copy *it, uint64_t care, uint64_t *sum) {
  const tf_view *view = it->source.view;
  int64_t constant = 0;
  if (!tf_dim_is_static(view->constant, &constant) || constant < 0) return false;
  *sum = (uint64_t)constant;
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_view_start *start = &view->starts[i];
    int64_t divisor = start->index ? tf_lower_facts(lowering, start->index).divisor : 1;
    int64_t step = divisor * tf_dim_divisor(start->stride);
    if (!add_bits(sum, step > 0 ? ~(uint64_t)((step & -step) - 1) : 0, care)) return false;
  }
  return true;
}

static int64_t stride_of(const tf_matrix_copy *it, unsigned axis) {
  int64_t stride = 0;
  tf_dim_is_static(it->source.view->strides[axis], &stride);
  return stride;
}

static bool add_digit_bits(const tf_matrix_copy *it, uint64_t care, uint64_t *sum) {
  for (unsigned i = 0; i < it->digit_count; i++) {
    const tf_matrix_digit *digit = &it->digits[i];
    if (tf_matrix_is_inside_row(it, digit) || (digit->mesh_axis < 0 && digit != it->pair)) continue;
    if (!add_bits(sum, bits_of(digit->extent - 1, digit->unit * stride_of(it, digit->axis)), care)) return false;
  }
  uint64_t matrices = 0;
  for (unsigned m = 0; m < 4; m++) {
    int64_t distance = 0;
    for (unsigned axis = 0; axis < it->rank; axis++)
      distance += it->pattern[axis][m] * stride_of(it, axis);
    if (distance < 0) return false;
    matrices |= (uint64_t)distance;
  }
  return add_bits(sum, matrices, care);
}

/* Whether adding `distance` to any offset of the pattern at the origin is the same as xoring it, below bit `care`. */
static bool is_disjoint(tf_lowering *lowering, const tf_matrix_copy *it, int64_t distance, uint64_t care) {
  uint64_t sum = 0;
  return add_start_bits(lowering, it, care, &sum) && add_digit_bits(it, care, &sum) &&
         !(sum & (uint64_t)distance & care);
}

static int64_t swizzled(const tf_layout *swizzle, int64_t offset) {
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(swizzle, &bits, &base, &shift);
  return offset ^ (offset >> shift & (((INT64_C(1) << bits) - 1) << base));
}

/* A swizzle is linear in xor: where adding is xoring, swizzle(x + c) = swizzle(x) ^ swizzle(c). Multiples of the block in
 * which it permutes pass it unchanged. Null if that does not serve here. */
static LLVMValueRef swizzled_address(tf_lowering *lowering, tf_matrix_copy *it, int64_t pattern[TF_MAX_RANK][4],
                                     int64_t distance) {
  LLVMBuilderRef builder = lowering->builder;
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(it->source.view->inner, &bits, &base, &shift);
  int64_t block = INT64_C(1) << (base + bits + shift), low = distance % block;
  LLVMValueRef first = base_address(lowering, it, pattern);
  if (low == 0) return advance(lowering, it, first, distance);
  if (!is_disjoint(lowering, it, low, (uint64_t)block - 1)) return NULL;
  LLVMTypeRef integer = tf_llvm_int(lowering, 32), byte = tf_llvm_int(lowering, 8);
  int64_t flip = swizzled(it->source.view->inner, low) * tf_dtype_bytes(it->source.dtype);
  LLVMValueRef from = LLVMBuildPtrToInt(builder, it->source.pointer, integer, "");
  LLVMValueRef offset = LLVMBuildSub(builder, LLVMBuildPtrToInt(builder, first, integer, ""), from, "");
  offset = LLVMBuildXor(builder, offset, tf_llvm_i32(lowering, flip), "");
  LLVMValueRef moved = LLVMBuildInBoundsGEP2(builder, byte, it->source.pointer, &offset, 1, "");
  return advance(lowering, it, moved, distance - low);
}

/* Groups of one pattern differ by constants: their addresses are one register and an immediate offset, with a swizzle an xor
 * more. Groups of fewer than four matrices repeat some, whose addresses nobody looks at. */
LLVMValueRef tf_ldmatrix_address(tf_lowering *lowering, tf_matrix_copy *it, const tf_matrix *group, unsigned count) {
  int64_t pattern[TF_MAX_RANK][4], distance = 0;
  memset(pattern, 0, sizeof pattern);
  for (unsigned axis = 0; axis < it->rank; axis++)
    for (unsigned m = 0; m < 4; m++)
      pattern[axis][m] = group[m % count].start[axis] - group[0].start[axis];
  LLVMValueRef address = NULL;
  if (static_distance(it, group[0].start, &distance))
    address = it->source.view->inner ? swizzled_address(lowering, it, pattern, distance)
                                     : advance(lowering, it, base_address(lowering, it, pattern), distance);
  return address ? address : row_address(lowering, it, group[0].start, pattern);
}
