/* Unary kinds. Sign changes and roundings to integers are exact in the value's own type; the rest of the narrow types'
 * functions compute in f32 and are rounded once. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

static LLVMValueRef call(tf_lowering *lowering, const char *name, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return tf_lower_llvm_intrinsic(lowering, name, 1, &type, 1, &value);
}

static LLVMValueRef splat_real(tf_lowering *lowering, tf_dtype dtype, double number, unsigned width) {
  return tf_llvm_splat(lowering, tf_llvm_float_constant(lowering, dtype, number), width);
}

/* ---- f32 and f64 ---- */
static LLVMValueRef function_of(tf_lowering *lowering, tf_unary_kind kind, LLVMValueRef value, unsigned width) {
  static tf_lane_fn *const table[TF_UNARY_COUNT] = {[TF_UNARY_EXP] = tf_float_exp,
                                                    [TF_UNARY_EXP2] = tf_float_exp2,
                                                    [TF_UNARY_LOG] = tf_float_log,
                                                    [TF_UNARY_LOG2] = tf_float_log2,
                                                    [TF_UNARY_RSQRT] = tf_float_rsqrt};
  return tf_per_lane(lowering, table[kind], NULL, 1, &value, width);
}

static bool is_function(tf_unary_kind kind) {
  return kind == TF_UNARY_EXP || kind == TF_UNARY_EXP2 || kind == TF_UNARY_LOG || kind == TF_UNARY_LOG2 ||
         kind == TF_UNARY_RSQRT;
}

/* In the value's own type. */
static LLVMValueRef exact(tf_lowering *lowering, tf_unary_kind kind, tf_dtype dtype, LLVMValueRef value,
                          unsigned width) {
  switch (kind) {
  case TF_UNARY_NEG:
    return LLVMBuildFNeg(lowering->builder, value, "");
  case TF_UNARY_ABS:
    return call(lowering, "llvm.fabs", value);
  case TF_UNARY_RELU:
    return tf_float_extremum(lowering, true, value, splat_real(lowering, dtype, 0, width), dtype);
  case TF_UNARY_SQUARE:
    return tf_numeric_flags(lowering, LLVMBuildFMul(lowering->builder, value, value, ""));
  case TF_UNARY_CEIL:
    return call(lowering, "llvm.ceil", value);
  default:
    return call(lowering, "llvm.roundeven", value);
  }
}

static bool is_narrow(tf_dtype dtype) {
  return tf_dtype_bits(dtype) == 16 || tf_dtype_needs_f32(dtype);
}

/* Narrow types do these in f32, exactly or rounded once. */
static bool wants_f32(tf_unary_kind kind, tf_dtype dtype) {
  return tf_dtype_needs_f32(dtype) || is_function(kind) || kind == TF_UNARY_CEIL || kind == TF_UNARY_ROUND;
}

static LLVMValueRef float_unary(tf_lowering *lowering, tf_unary_kind kind, tf_dtype dtype, LLVMValueRef value,
                                unsigned width) {
  if (is_narrow(dtype) && wants_f32(kind, dtype)) {
    value = tf_convert(lowering, value, dtype, TF_DTYPE_F32, width);
    value = float_unary(lowering, kind, TF_DTYPE_F32, value, width);
    return tf_convert(lowering, value, TF_DTYPE_F32, dtype, width);
  }
  if (is_function(kind)) return function_of(lowering, kind, value, width);
  return exact(lowering, kind, dtype, value, width);
}

/* ---- Integers ---- */
static LLVMValueRef int_unary(tf_lowering *lowering, tf_unary_kind kind, tf_dtype dtype, LLVMValueRef value) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
  bool is_signed = tf_dtype_get_class(dtype) == TF_CLASS_SINT;
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, value, zero, "");
  switch (kind) {
  case TF_UNARY_NEG:
    return LLVMBuildNeg(b, value, "");
  case TF_UNARY_NOT:
    return LLVMBuildNot(b, value, "");
  case TF_UNARY_ABS:
    return is_signed ? LLVMBuildSelect(b, negative, LLVMBuildNeg(b, value, ""), value, "") : value;
  case TF_UNARY_RELU:
    return is_signed ? LLVMBuildSelect(b, negative, zero, value, "") : value;
  case TF_UNARY_SQUARE:
    return LLVMBuildMul(b, value, value, "");
  default:
    return value; /* ceil and round of an integer */
  }
}

LLVMValueRef tf_compute_unary(tf_lowering *lowering, tf_unary_kind kind, tf_dtype dtype, LLVMValueRef value,
                              unsigned width) {
  if (!tf_dtype_is_float(dtype)) return int_unary(lowering, kind, dtype, value);
  return float_unary(lowering, kind, dtype, value, width);
}
