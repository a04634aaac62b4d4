/* Identities, combinations, trees and means; see Reduce.h. */
#include "LowerToLLVM/NumericImpl.h"
#include "LowerToLLVM/Reduce.h"

#include "IR/DimImpl.h"

static LLVMValueRef number(tf_lowering *lowering, const tf_reduction *r, double value) {
  return tf_llvm_float_constant(lowering, r->accumulator, value);
}

/* The least or greatest integer of the accumulator's type. */
static LLVMValueRef extreme(tf_lowering *lowering, const tf_reduction *r, bool greatest) {
  unsigned bits = tf_dtype_bits(r->accumulator);
  bool is_signed = tf_dtype_get_class(r->accumulator) == TF_CLASS_SINT;
  uint64_t top = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
  uint64_t bottom = is_signed ? ~top : 0;
  return tf_llvm_int_constant(lowering, r->accumulator, (int64_t)(greatest ? top : bottom));
}

LLVMValueRef tf_reduce_identity(tf_lowering *lowering, const tf_reduction *r) {
  bool is_float = tf_dtype_is_float(r->accumulator);
  switch (r->kind) {
  case TF_REDUCE_MAX:
    return is_float ? number(lowering, r, -__builtin_inf()) : extreme(lowering, r, false);
  case TF_REDUCE_MIN:
    return is_float ? number(lowering, r, __builtin_inf()) : extreme(lowering, r, true);
  default:
    return LLVMConstNull(tf_llvm_memory_type(lowering, r->accumulator));
  }
}

LLVMValueRef tf_reduce_element(tf_lowering *lowering, const tf_reduction *r, LLVMValueRef element) {
  LLVMValueRef value = tf_convert(lowering, element, r->in, r->accumulator, 1);
  if (r->squares) return tf_compute_unary(lowering, TF_UNARY_SQUARE, r->accumulator, value, 1);
  return r->kind == TF_REDUCE_ABS_MAX ? tf_compute_unary(lowering, TF_UNARY_ABS, r->accumulator, value, 1) : value;
}

LLVMValueRef tf_reduce_combine(tf_lowering *lowering, const tf_reduction *r, LLVMValueRef a, LLVMValueRef b) {
  static const tf_binary_kind kinds[TF_REDUCE_COUNT] = {[TF_REDUCE_SUM] = TF_BINARY_ADD,
                                                        [TF_REDUCE_MEAN] = TF_BINARY_ADD,
                                                        [TF_REDUCE_MAX] = TF_BINARY_MAX,
                                                        [TF_REDUCE_ABS_MAX] = TF_BINARY_MAX,
                                                        [TF_REDUCE_MIN] = TF_BINARY_MIN};
  return tf_compute_binary(lowering, kinds[r->kind], r->accumulator, a, b, 1);
}

LLVMValueRef tf_reduce_tree(tf_lowering *lowering, const tf_reduction *r, int64_t count, LLVMValueRef *values) {
  if (count == 0) return tf_reduce_identity(lowering, r);
  for (int64_t step = 1; step < count; step *= 2)
    for (int64_t i = 0; i + step < count; i += 2 * step)
      values[i] = tf_reduce_combine(lowering, r, values[i], values[i + step]);
  return values[0];
}

/* The divisor of a mean in the type that divides: f64 for f64, else f32. */
static LLVMValueRef divisor_of(tf_lowering *lowering, const tf_reduction *r, tf_dtype dtype) {
  int64_t count;
  if (tf_dim_is_static(r->count, &count)) return tf_llvm_float_constant(lowering, dtype, (double)count);
  return tf_convert(lowering, tf_lower_dim(lowering, r->count), TF_DTYPE_I64, dtype, 1);
}

LLVMValueRef tf_reduce_finish(tf_lowering *lowering, const tf_reduction *r, LLVMValueRef value, tf_dtype dtype) {
  if (r->kind != TF_REDUCE_MEAN) return tf_convert(lowering, value, r->accumulator, dtype, 1);
  tf_dtype divide = r->accumulator == TF_DTYPE_F64 ? TF_DTYPE_F64 : TF_DTYPE_F32;
  value = tf_convert(lowering, value, r->accumulator, divide, 1);
  value = tf_compute_binary(lowering, TF_BINARY_DIV, divide, value, divisor_of(lowering, r, divide), 1);
  return tf_convert(lowering, value, divide, dtype, 1);
}

void tf_reduce_result_map(tf_context *context, const tf_reduction *r, tf_affine *out) {
  const tf_dim *strides[TF_MAX_RANK], *unit = tf_dim_int(context, 1);
  for (unsigned axis = r->rank; axis-- > 0;) {
    strides[axis] = r->reduced[axis] ? tf_dim_int(context, 0) : unit;
    if (!r->reduced[axis]) unit = tf_dim_binary(context, TF_DIM_MUL, unit, r->shape[axis]);
  }
  tf_affine_make(context, r->rank, r->shape, strides, out);
}
