/* Conversions between dtypes.
 *
 *   float -> float   to nearest even (tf32: ties away); f16, bf16 overflow to infinity, the 8-bit floats saturate;
 *                    f8e8m0 makes NaN of negative numbers, and 2^-127 of zero
 *   float -> int     truncates and saturates, NaN becomes 0
 *   int   -> int     wraps
 *   any   -> bool    is not 0
 *
 * What must be rounded twice on the way (f64 or integers to a narrow float by way of f32) is first rounded *to odd*: then
 * the second rounding sees on which side of every tie the value was. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

static LLVMTypeRef type_of(tf_lowering *lowering, tf_dtype dtype, unsigned width) {
  return tf_llvm_vector(tf_llvm_memory_type(lowering, dtype), width);
}

static bool is_eight_bit(tf_dtype dtype) {
  return tf_dtype_is_float(dtype) && tf_dtype_bits(dtype) < 16;
}

/* ---- Integers ---- */
static LLVMValueRef int_to_int(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, tf_dtype to, unsigned width) {
  LLVMTypeRef type = type_of(lowering, to, width);
  if (tf_dtype_bits(from) == tf_dtype_bits(to)) return value;
  if (tf_dtype_bits(from) > tf_dtype_bits(to)) return LLVMBuildTrunc(lowering->builder, value, type, "");
  if (tf_dtype_get_class(from) == TF_CLASS_SINT) return LLVMBuildSExt(lowering->builder, value, type, "");
  return LLVMBuildZExt(lowering->builder, value, type, "");
}

static LLVMValueRef to_bool(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, unsigned width) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value)), bit;
  if (tf_dtype_is_float(from))
    bit = LLVMBuildFCmp(b, LLVMRealUNE, value, zero, "");
  else
    bit = LLVMBuildICmp(b, LLVMIntNE, value, zero, "");
  return tf_to_memory(lowering, bit, TF_DTYPE_BOOL, width);
}

static LLVMValueRef int_to_float(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, LLVMTypeRef type) {
  if (tf_dtype_get_class(from) == TF_CLASS_SINT) return LLVMBuildSIToFP(lowering->builder, value, type, "");
  return LLVMBuildUIToFP(lowering->builder, value, type, "");
}

static LLVMValueRef float_to_int(tf_lowering *lowering, LLVMValueRef value, tf_dtype to, unsigned width) {
  LLVMTypeRef types[2] = {type_of(lowering, to, width), LLVMTypeOf(value)};
  bool is_signed = tf_dtype_get_class(to) == TF_CLASS_SINT;
  return tf_lower_llvm_intrinsic(lowering, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", 2, types, 1, &value);
}

/* ---- Rounding to odd ---- */
/* f64 to f32, an inexact result made odd: truncate toward the even side is avoided by setting the last bit. */
static LLVMValueRef f64_to_odd_f32(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef f32 = LLVMFloatTypeInContext(lowering->llvm), i32 = tf_llvm_int(lowering, 32);
  LLVMValueRef nearest = LLVMBuildFPTrunc(b, operands[0], f32, "");
  LLVMValueRef back = LLVMBuildFPExt(b, nearest, LLVMTypeOf(operands[0]), "");
  LLVMValueRef bits = LLVMBuildBitCast(b, nearest, i32, "");
  LLVMTypeRef f64 = LLVMTypeOf(operands[0]);
  LLVMValueRef x = operands[0];
  LLVMValueRef magnitude = tf_lower_llvm_intrinsic(lowering, "llvm.fabs", 1, &f64, 1, &x);
  LLVMValueRef back_magnitude = tf_lower_llvm_intrinsic(lowering, "llvm.fabs", 1, &f64, 1, &back);
  LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, back, operands[0], "");
  LLVMValueRef above = LLVMBuildFCmp(b, LLVMRealOGT, back_magnitude, magnitude, "");
  LLVMValueRef even =
      LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, bits, tf_llvm_i32(lowering, 1), ""), tf_llvm_i32(lowering, 0), "");
  LLVMValueRef step = LLVMBuildSelect(b, above, tf_llvm_i32(lowering, -1), tf_llvm_i32(lowering, 1), "");
  LLVMValueRef moved = LLVMBuildAdd(b, bits, step, "");
  LLVMValueRef odd = LLVMBuildSelect(b, LLVMBuildAnd(b, inexact, even, ""), moved, bits, "");
  return LLVMBuildBitCast(b, odd, f32, "");
}

/* A 64-bit integer to f64 with a sticky last bit where it does not fit: the low 20 bits are folded into one. */
static LLVMValueRef wide_int_to_f64(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  LLVMBuilderRef b = lowering->builder;
  bool is_signed = tf_dtype_get_class(*(const tf_dtype *)user) == TF_CLASS_SINT;
  LLVMTypeRef f64 = LLVMDoubleTypeInContext(lowering->llvm);
  LLVMValueRef low = LLVMBuildAnd(b, operands[0], tf_llvm_i64(lowering, 0xfffff), ""),
               shift = tf_llvm_i64(lowering, 20);
  LLVMValueRef high = is_signed ? LLVMBuildAShr(b, operands[0], shift, "") : LLVMBuildLShr(b, operands[0], shift, "");
  LLVMValueRef sticky =
      LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntNE, low, tf_llvm_i64(lowering, 0), ""), LLVMTypeOf(low), "");
  LLVMValueRef folded = LLVMBuildOr(b, high, sticky, "");
  LLVMValueRef value = is_signed ? LLVMBuildSIToFP(b, folded, f64, "") : LLVMBuildUIToFP(b, folded, f64, "");
  LLVMValueRef scaled = LLVMBuildFMul(b, value, LLVMConstReal(f64, 1048576.0), "");
  LLVMValueRef exact = is_signed ? LLVMBuildSIToFP(b, operands[0], f64, "") : LLVMBuildUIToFP(b, operands[0], f64, "");
  LLVMValueRef shifted = LLVMBuildAdd(b, operands[0], tf_llvm_i64(lowering, is_signed ? (int64_t)1 << 52 : 0), "");
  LLVMValueRef in_range = LLVMBuildICmp(b, LLVMIntULT, shifted, tf_llvm_i64(lowering, (int64_t)1 << 53), "");
  return LLVMBuildSelect(b, in_range, exact, scaled, "");
}

/* ---- Narrow floats ---- */
/* Without the instruction: half of the last kept bit is added to the magnitude, which carries into infinity by itself. */
static LLVMValueRef f32_to_tf32_bits(tf_lowering *lowering, LLVMValueRef x) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef f32 = LLVMTypeOf(x), i32 = tf_llvm_int(lowering, 32);
  LLVMValueRef bits = LLVMBuildBitCast(b, x, i32, "");
  LLVMValueRef kept =
      LLVMBuildAnd(b, LLVMBuildAdd(b, bits, tf_llvm_i32(lowering, 0x1000), ""), tf_llvm_i32(lowering, ~0x1fff), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  return LLVMBuildBitCast(b, LLVMBuildSelect(b, is_nan, tf_llvm_i32(lowering, 0x7fffe000), kept, ""), f32, "");
}

static LLVMValueRef f32_to_tf32(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMValueRef value = operands[0];
  if (!tf_lower_has_intrinsic(lowering, TF_INTRINSIC_F2TF32_RNA)) return f32_to_tf32_bits(lowering, value);
  LLVMValueRef bits = tf_lower_intrinsic(lowering, TF_INTRINSIC_F2TF32_RNA, "a cast to tf32", 1, &value);
  return LLVMBuildBitCast(lowering->builder, bits, LLVMFloatTypeInContext(lowering->llvm), "");
}

/* The formats of 8 bits: sign, exponent, mantissa; the largest finite magnitude and the code of NaN. */
typedef struct eight_bits {
  unsigned mantissa, bias;
  double largest;
  unsigned nan;
} eight_bits;

static eight_bits format_of(tf_dtype dtype) {
  return dtype == TF_DTYPE_FP8E4M3 ? (eight_bits){3, 7, 448, 0x7f} : (eight_bits){2, 15, 57344, 0x7f};
}

/* Normal numbers are rounded in their bits; below the least one, the code is the count of its smallest steps. */
static LLVMValueRef f32_to_f8_bits(tf_lowering *lowering, LLVMValueRef x, eight_bits f) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef f32 = LLVMTypeOf(x), i32 = tf_llvm_int(lowering, 32), types[2] = {i32, f32};
  unsigned drop = 23 - f.mantissa;
  LLVMValueRef magnitude = tf_lower_llvm_intrinsic(lowering, "llvm.fabs", 1, &f32, 1, &x);
  LLVMValueRef limits[2] = {magnitude, LLVMConstReal(f32, f.largest)};
  LLVMValueRef clamped = tf_lower_llvm_intrinsic(lowering, "llvm.minnum", 1, &f32, 2, limits);
  LLVMValueRef bits = LLVMBuildBitCast(b, clamped, i32, "");
  LLVMValueRef odd =
      LLVMBuildAnd(b, LLVMBuildLShr(b, bits, tf_llvm_i32(lowering, drop), ""), tf_llvm_i32(lowering, 1), "");
  LLVMValueRef half = LLVMBuildAdd(b, odd, tf_llvm_i32(lowering, (1 << (drop - 1)) - 1), "");
  LLVMValueRef rounded = LLVMBuildLShr(b, LLVMBuildAdd(b, bits, half, ""), tf_llvm_i32(lowering, drop), "");
  LLVMValueRef normal = LLVMBuildSub(b, rounded, tf_llvm_i32(lowering, (int64_t)(127 - f.bias) << f.mantissa), "");
  LLVMValueRef steps = LLVMBuildFMul(b, clamped, LLVMConstReal(f32, (double)(1u << (f.bias - 1 + f.mantissa))), "");
  steps = tf_lower_llvm_intrinsic(lowering, "llvm.roundeven", 1, &f32, 1, &steps);
  LLVMValueRef tiny = tf_lower_llvm_intrinsic(lowering, "llvm.fptosi.sat", 2, types, 1, &steps);
  LLVMValueRef least = LLVMConstReal(f32, 1.0 / (double)(1u << (f.bias - 1)));
  LLVMValueRef code = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, clamped, least, ""), tiny, normal, "");
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  code = LLVMBuildSelect(b, is_nan, tf_llvm_i32(lowering, f.nan), code, "");
  LLVMValueRef sign = LLVMBuildLShr(b, LLVMBuildBitCast(b, x, i32, ""), tf_llvm_i32(lowering, 24), "");
  sign = LLVMBuildAnd(b, sign, tf_llvm_i32(lowering, 0x80), "");
  return LLVMBuildTrunc(b, LLVMBuildOr(b, code, sign, ""), tf_llvm_int(lowering, 8), "");
}

static bool is_vector(LLVMValueRef value) {
  return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

static LLVMValueRef f32_to_f8_in_integers(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  return f32_to_f8_bits(lowering, operands[0], format_of(*(const tf_dtype *)user));
}

/* Two 8-bit floats at a time; of one, the upper half is dropped. */
static LLVMValueRef f32_to_f8_pair(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef byte = tf_llvm_int(lowering, 8);
  bool both = is_vector(operands[0]);
  LLVMValueRef low = tf_llvm_extract(lowering, operands[0], 0);
  LLVMValueRef high = both ? tf_llvm_extract(lowering, operands[0], 1) : LLVMConstNull(LLVMTypeOf(low));
  LLVMValueRef args[2] = {high, low};
  LLVMValueRef pair = tf_lower_intrinsic(lowering, *(const tf_intrinsic_id *)user, "a cast to an 8-bit float", 2, args);
  return both ? LLVMBuildBitCast(b, pair, LLVMVectorType(byte, 2), "") : LLVMBuildTrunc(b, pair, byte, "");
}

/* Targets without the instruction round in integers. */
static LLVMValueRef f32_to_f8(tf_lowering *lowering, LLVMValueRef value, tf_dtype to, unsigned width) {
  tf_intrinsic_id id = to == TF_DTYPE_FP8E4M3 ? TF_INTRINSIC_FF_TO_E4M3 : TF_INTRINSIC_FF_TO_E5M2;
  if (!tf_lower_has_intrinsic(lowering, id)) return tf_per_lane(lowering, f32_to_f8_in_integers, &to, 1, &value, width);
  return tf_per_pair(lowering, f32_to_f8_pair, &id, 1, &value, width);
}

/* Normal numbers move their exponent and mantissa to f32's place; below, the code counts the least steps. */
static LLVMValueRef f8_bits_to_f32(tf_lowering *lowering, LLVMValueRef code, tf_dtype from) {
  LLVMBuilderRef b = lowering->builder;
  eight_bits f = format_of(from);
  LLVMTypeRef f32 = LLVMFloatTypeInContext(lowering->llvm), i32 = tf_llvm_int(lowering, 32);
  LLVMValueRef wide = LLVMBuildZExt(b, code, i32, "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, wide, tf_llvm_i32(lowering, 0x7f), "");
  LLVMValueRef bits = LLVMBuildShl(b, magnitude, tf_llvm_i32(lowering, 23 - f.mantissa), "");
  bits = LLVMBuildAdd(b, bits, tf_llvm_i32(lowering, (int64_t)(127 - f.bias) << 23), "");
  LLVMValueRef step = LLVMConstReal(f32, 1.0 / (double)(1u << (f.bias - 1 + f.mantissa)));
  LLVMValueRef tiny = LLVMBuildFMul(b, LLVMBuildUIToFP(b, magnitude, f32, ""), step, "");
  LLVMValueRef is_tiny = LLVMBuildICmp(b, LLVMIntULT, magnitude, tf_llvm_i32(lowering, 1 << f.mantissa), "");
  LLVMValueRef value = LLVMBuildSelect(b, is_tiny, tiny, LLVMBuildBitCast(b, bits, f32, ""), "");
  LLVMValueRef top = tf_llvm_i32(lowering, from == TF_DTYPE_FP8E4M3 ? 0x7f : 0x7c);
  LLVMValueRef special = LLVMConstReal(f32, __builtin_nan(""));
  if (from == TF_DTYPE_FP8E5M2) {
    LLVMValueRef infinite = LLVMBuildICmp(b, LLVMIntEQ, magnitude, top, "");
    special = LLVMBuildSelect(b, infinite, LLVMConstReal(f32, __builtin_inf()), special, "");
  }
  value = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGE, magnitude, top, ""), special, value, "");
  LLVMValueRef sign =
      LLVMBuildShl(b, LLVMBuildAnd(b, wide, tf_llvm_i32(lowering, 0x80), ""), tf_llvm_i32(lowering, 24), "");
  return LLVMBuildBitCast(b, LLVMBuildOr(b, LLVMBuildBitCast(b, value, i32, ""), sign, ""), f32, "");
}

static LLVMValueRef f8_to_f32_in_integers(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  return f8_bits_to_f32(lowering, operands[0], *(const tf_dtype *)user);
}

static LLVMValueRef f8_pair_to_f32(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef word = tf_llvm_int(lowering, 16), f32 = LLVMFloatTypeInContext(lowering->llvm);
  bool both = is_vector(operands[0]);
  LLVMValueRef code = both ? LLVMBuildBitCast(b, operands[0], word, "") : LLVMBuildZExt(b, operands[0], word, "");
  LLVMValueRef pair =
      tf_lower_intrinsic(lowering, *(const tf_intrinsic_id *)user, "a cast from an 8-bit float", 1, &code);
  if (both) return LLVMBuildFPExt(b, pair, LLVMVectorType(f32, 2), "");
  return LLVMBuildFPExt(b, tf_llvm_extract(lowering, pair, 0), f32, "");
}

static LLVMValueRef f8_to_f32(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, unsigned width) {
  tf_intrinsic_id id = from == TF_DTYPE_FP8E4M3 ? TF_INTRINSIC_E4M3_TO_F16 : TF_INTRINSIC_E5M2_TO_F16;
  if (!tf_lower_has_intrinsic(lowering, id))
    return tf_per_lane(lowering, f8_to_f32_in_integers, &from, 1, &value, width);
  return tf_per_pair(lowering, f8_pair_to_f32, &id, 1, &value, width);
}

/* Powers of two, 0 is 2^-127 (subnormal in f32), 255 is NaN. */
static LLVMValueRef e8m0_to_f32(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef code = LLVMBuildZExt(b, operands[0], tf_llvm_int(lowering, 32), "");
  LLVMValueRef bits = LLVMBuildShl(b, code, tf_llvm_i32(lowering, 23), "");
  LLVMValueRef zero = LLVMBuildICmp(b, LLVMIntEQ, code, tf_llvm_i32(lowering, 0), "");
  LLVMValueRef nan = LLVMBuildICmp(b, LLVMIntEQ, code, tf_llvm_i32(lowering, 255), "");
  bits = LLVMBuildSelect(b, zero, tf_llvm_i32(lowering, 0x400000), bits, "");
  bits = LLVMBuildSelect(b, nan, tf_llvm_i32(lowering, 0x7fc00000), bits, "");
  return LLVMBuildBitCast(b, bits, LLVMFloatTypeInContext(lowering->llvm), "");
}

/* The nearest power of two, ties to the even code: half of the step below it, less one unless the exponent is odd, carries
 * into the exponent. 2^-127 takes all that is smaller, 2^127 all that is larger; negative numbers have no code but NaN's. */
static LLVMValueRef f32_to_e8m0(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef x = operands[0], bits = LLVMBuildBitCast(b, x, tf_llvm_int(lowering, 32), "");
  LLVMValueRef shift = tf_llvm_i32(lowering, 23);
  LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, bits, shift, ""), tf_llvm_i32(lowering, 1), "");
  LLVMValueRef half = LLVMBuildAdd(b, odd, tf_llvm_i32(lowering, 0x3fffff), "");
  LLVMValueRef normal = LLVMBuildLShr(b, LLVMBuildAdd(b, bits, half, ""), shift, "");
  LLVMValueRef above = LLVMBuildICmp(b, LLVMIntUGT, bits, tf_llvm_i32(lowering, 0x600000), ""); /* 1.5 * 2^-127 */
  LLVMValueRef tiny = LLVMBuildZExt(b, above, tf_llvm_int(lowering, 32), "");
  LLVMValueRef is_tiny = LLVMBuildICmp(b, LLVMIntULT, bits, tf_llvm_i32(lowering, 0x800000), "");
  LLVMValueRef code = LLVMBuildSelect(b, is_tiny, tiny, normal, ""), top = tf_llvm_i32(lowering, 254);
  code = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGT, code, top, ""), top, code, "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, bits, tf_llvm_i32(lowering, 0x7fffffff), "");
  LLVMValueRef zero = LLVMBuildICmp(b, LLVMIntEQ, magnitude, tf_llvm_i32(lowering, 0), "");
  LLVMValueRef invalid = LLVMBuildICmp(b, LLVMIntUGT, bits, tf_llvm_i32(lowering, 0x7f800000), "");
  code = LLVMBuildSelect(b, invalid, tf_llvm_i32(lowering, 255), code, "");
  code = LLVMBuildSelect(b, zero, tf_llvm_i32(lowering, 0), code, "");
  return LLVMBuildTrunc(b, code, tf_llvm_int(lowering, 8), "");
}

static LLVMValueRef lanes(tf_lowering *lowering, tf_lane_fn *fn, tf_dtype dtype, LLVMValueRef value, unsigned width) {
  return tf_per_lane(lowering, fn, &dtype, 1, &value, width);
}

static LLVMValueRef from_f32(tf_lowering *lowering, LLVMValueRef value, tf_dtype to, unsigned width) {
  if (to == TF_DTYPE_F32) return value;
  if (to == TF_DTYPE_TF32) return lanes(lowering, f32_to_tf32, to, value, width);
  if (to == TF_DTYPE_FP8E4M3 || to == TF_DTYPE_FP8E5M2) return f32_to_f8(lowering, value, to, width);
  if (to == TF_DTYPE_F8E8M0) return lanes(lowering, f32_to_e8m0, to, value, width);
  LLVMTypeRef type = type_of(lowering, to, width);
  return tf_dtype_bits(to) < 32 ? LLVMBuildFPTrunc(lowering->builder, value, type, "")
                                : LLVMBuildFPExt(lowering->builder, value, type, "");
}

static LLVMValueRef to_f32(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, unsigned width) {
  LLVMTypeRef f32 = tf_llvm_vector(LLVMFloatTypeInContext(lowering->llvm), width);
  if (tf_dtype_bits(from) == 32) return value;
  if (from == TF_DTYPE_F8E8M0) return lanes(lowering, e8m0_to_f32, from, value, width);
  if (is_eight_bit(from)) return f8_to_f32(lowering, value, from, width);
  return LLVMBuildFPExt(lowering->builder, value, f32, "");
}

static LLVMValueRef float_to_float(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, tf_dtype to,
                                   unsigned width) {
  LLVMTypeRef type = type_of(lowering, to, width);
  if (from != TF_DTYPE_F64) return from_f32(lowering, to_f32(lowering, value, from, width), to, width);
  if (to == TF_DTYPE_F32) return LLVMBuildFPTrunc(lowering->builder, value, type, "");
  return from_f32(lowering, lanes(lowering, f64_to_odd_f32, from, value, width), to, width);
}

/* f32 and f64 come straight from the integer; narrower ones by way of f64, exact or sticky. */
static LLVMValueRef int_to_any_float(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, tf_dtype to,
                                     unsigned width) {
  if (to == TF_DTYPE_F32 || to == TF_DTYPE_F64)
    return int_to_float(lowering, value, from, type_of(lowering, to, width));
  if (tf_dtype_bits(from) <= 16) {
    value = int_to_float(lowering, value, from, type_of(lowering, TF_DTYPE_F32, width));
    return from_f32(lowering, value, to, width);
  }
  if (tf_dtype_bits(from) == 64)
    value = lanes(lowering, wide_int_to_f64, from, value, width);
  else
    value = int_to_float(lowering, value, from, type_of(lowering, TF_DTYPE_F64, width));
  return float_to_float(lowering, value, TF_DTYPE_F64, to, width);
}

LLVMValueRef tf_convert(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, tf_dtype to, unsigned width) {
  if (from == to) return value;
  bool from_float = tf_dtype_is_float(from), to_float = tf_dtype_is_float(to);
  if (is_eight_bit(from) && !to_float) {
    value = to_f32(lowering, value, from, width);
    from = TF_DTYPE_F32;
  }
  if (to == TF_DTYPE_BOOL) return to_bool(lowering, value, from, width);
  if (from_float && to_float) return float_to_float(lowering, value, from, to, width);
  if (from_float) return float_to_int(lowering, value, to, width);
  if (to_float) return int_to_any_float(lowering, value, from, to, width);
  return int_to_int(lowering, value, from, to, width);
}
