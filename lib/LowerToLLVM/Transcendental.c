/* exp, exp2, log, log2 and rsqrt of f32 without a library.
 *
 *   exp(x)   n = round(x * log2 e) in [-126, 126];  r = x * log2 e - n in two fma steps;  2^r by the hardware;  times 2^n
 *   log(x)   x = 2^k * (1 + f), 1 + f in [sqrt(1/2), sqrt 2);  s = f / (2 + f);
 *            log(1 + f) = f - f*f/2 + s * (f*f/2 + R(s*s)),  R the odd series of 2 artanh(s) beyond its first term
 *   log2(x)  k + log(1 + f) * log2 e, the product kept in two parts
 *
 * The hardware's own logarithm has no relative accuracy near 1, which is why it is used under fast math only. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

#define LOG2E     1.44269502162933349609375 /* log2(e) rounded to f32 */
#define LOG2E_LOW 1.925963033500011e-08     /* and what is missing */
#define LN2_HIGH  0.693145751953125         /* ln 2 with 16 zero bits at the end: k * LN2_HIGH is exact */
#define LN2_LOW   1.428606765330187e-06

static LLVMValueRef real(tf_lowering *lowering, double value) {
  return LLVMConstReal(LLVMFloatTypeInContext(lowering->llvm), value);
}

static LLVMValueRef multiply(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(lowering->builder, a, b, "");
}

static LLVMValueRef fused(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return tf_compute_fma(lowering, TF_DTYPE_F32, a, b, c, 1);
}

static LLVMValueRef bits_of(tf_lowering *lowering, LLVMValueRef value) {
  return LLVMBuildBitCast(lowering->builder, value, tf_llvm_int(lowering, 32), "");
}

static LLVMValueRef from_bits(tf_lowering *lowering, LLVMValueRef bits) {
  return LLVMBuildBitCast(lowering->builder, bits, LLVMFloatTypeInContext(lowering->llvm), "");
}

static LLVMValueRef approximate(tf_lowering *lowering, tf_intrinsic_id id, tf_intrinsic_id flushing, LLVMValueRef x) {
  return tf_lower_intrinsic(lowering, lowering->module->options->flush_denormals ? flushing : id, "", 1, &x);
}

static bool is_fast(const tf_lowering *lowering) {
  return lowering->module->options->fast_math;
}

static LLVMValueRef hardware_exp2(tf_lowering *lowering, LLVMValueRef x) {
  return approximate(lowering, TF_INTRINSIC_EX2_APPROX, TF_INTRINSIC_EX2_APPROX_FTZ, x);
}

LLVMValueRef tf_float_exp2(tf_lowering *lowering, const void *user, const LLVMValueRef *x) {
  (void)user;
  return hardware_exp2(lowering, x[0]);
}

LLVMValueRef tf_float_rsqrt(tf_lowering *lowering, const void *user, const LLVMValueRef *x) {
  (void)user;
  return approximate(lowering, TF_INTRINSIC_RSQRT_APPROX, TF_INTRINSIC_RSQRT_APPROX_FTZ, x[0]);
}

/* x * log2 e + ROUNDER rounds to an integer, whose last bits are n + 127: shifted up they are 2^n. Only n is clamped: r takes what
 * is left, so that results underflow, overflow and stay NaN by themselves, with one rounding. */
#define ROUNDER   12583039.0 /* 1.5 * 2^23 + 127 */
#define EXP_BOUND 87.336544  /* 126 / log2 e */

LLVMValueRef tf_float_exp(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef x = operands[0], log2e = real(lowering, LOG2E), rounder = real(lowering, ROUNDER);
  if (is_fast(lowering)) return hardware_exp2(lowering, multiply(lowering, x, log2e));
  LLVMTypeRef type = LLVMFloatTypeInContext(lowering->llvm);
  LLVMValueRef low[2] = {x, real(lowering, -EXP_BOUND)}, high[2] = {NULL, real(lowering, EXP_BOUND)};
  high[0] = tf_lower_llvm_intrinsic(lowering, "llvm.maxnum", 1, &type, 2, low);
  LLVMValueRef clamped = tf_lower_llvm_intrinsic(lowering, "llvm.minnum", 1, &type, 2, high);
  LLVMValueRef shifted = fused(lowering, clamped, log2e, rounder);
  LLVMValueRef n = LLVMBuildFSub(b, shifted, rounder, "");
  LLVMValueRef r = fused(lowering, x, log2e, LLVMBuildFNeg(b, n, ""));
  r = fused(lowering, x, real(lowering, LOG2E_LOW), r);
  LLVMValueRef scale = LLVMBuildShl(b, bits_of(lowering, shifted), tf_llvm_i32(lowering, 23), "");
  return multiply(lowering, hardware_exp2(lowering, r), from_bits(lowering, scale));
}

/* ---- Logarithms ---- */
typedef struct decomposition {
  LLVMValueRef k, f; /* x = 2^k * (1 + f), k as a float */
} decomposition;

static LLVMValueRef is_less(tf_lowering *lowering, LLVMValueRef x, double bound) {
  return LLVMBuildFCmp(lowering->builder, LLVMRealOLT, x, real(lowering, bound), "");
}

static LLVMValueRef choose(tf_lowering *lowering, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(lowering->builder, condition, a, b, "");
}

/* Subnormals are scaled up first. Subtracting the bits of sqrt(1/2) from x's makes the exponent of the wanted split. */
static decomposition decompose(tf_lowering *lowering, LLVMValueRef x) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef tiny = is_less(lowering, x, 0x1p-126);
  x = choose(lowering, tiny, multiply(lowering, x, real(lowering, 0x1p23)), x);
  LLVMValueRef bias = choose(lowering, tiny, real(lowering, -23), real(lowering, 0));
  LLVMValueRef bits = bits_of(lowering, x);
  LLVMValueRef distance = LLVMBuildSub(b, bits, tf_llvm_i32(lowering, 0x3f3504f3), "");
  LLVMValueRef exponent = LLVMBuildAnd(b, distance, tf_llvm_i32(lowering, -8388608), "");
  LLVMValueRef mantissa = from_bits(lowering, LLVMBuildSub(b, bits, exponent, ""));
  LLVMValueRef k = LLVMBuildAShr(b, exponent, tf_llvm_i32(lowering, 23), "");
  k = LLVMBuildSIToFP(b, k, LLVMFloatTypeInContext(lowering->llvm), "");
  return (decomposition){LLVMBuildFAdd(b, k, bias, ""), LLVMBuildFAdd(b, mantissa, real(lowering, -1), "")};
}

static LLVMValueRef reciprocal(tf_lowering *lowering, LLVMValueRef x) {
  LLVMValueRef value = LLVMBuildFDiv(lowering->builder, real(lowering, 1), x, "");
  LLVMSetFastMathFlags(value, LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal);
  return value;
}

/* log(1 + f) = f - h, h = f*f/2 - s * (f*f/2 + R): h is small beside f, so its errors do not count. */
static LLVMValueRef small_part(tf_lowering *lowering, LLVMValueRef f) {
  static const double series[] = {2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3};
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef s = multiply(lowering, f, reciprocal(lowering, LLVMBuildFAdd(b, f, real(lowering, 2), "")));
  LLVMValueRef z = multiply(lowering, s, s), sum = real(lowering, 2.0 / 11);
  for (unsigned i = 0; i < 4; i++)
    sum = fused(lowering, sum, z, real(lowering, series[i]));
  LLVMValueRef square = multiply(lowering, multiply(lowering, f, f), real(lowering, 0.5));
  LLVMValueRef inner = fused(lowering, sum, z, square);
  return fused(lowering, LLVMBuildFNeg(b, s, ""), inner, square);
}

/* log(0) = -inf, log of negatives and NaN is NaN, log(inf) = inf. */
static LLVMValueRef special_cases(tf_lowering *lowering, LLVMValueRef x, LLVMValueRef value) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef zero = LLVMBuildFCmp(b, LLVMRealOEQ, x, real(lowering, 0), "");
  LLVMValueRef infinite = LLVMBuildFCmp(b, LLVMRealOEQ, x, real(lowering, __builtin_inf()), "");
  LLVMValueRef invalid = LLVMBuildFCmp(b, LLVMRealULT, x, real(lowering, 0), "");
  value = choose(lowering, infinite, x, value);
  value = choose(lowering, invalid, real(lowering, __builtin_nan("")), value);
  return choose(lowering, zero, real(lowering, -__builtin_inf()), value);
}

static LLVMValueRef hardware_log2(tf_lowering *lowering, LLVMValueRef x) {
  return approximate(lowering, TF_INTRINSIC_LG2_APPROX, TF_INTRINSIC_LG2_APPROX_FTZ, x);
}

LLVMValueRef tf_float_log(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef x = operands[0];
  if (is_fast(lowering)) return multiply(lowering, hardware_log2(lowering, x), real(lowering, LN2_HIGH + LN2_LOW));
  decomposition parts = decompose(lowering, x);
  LLVMValueRef low =
      fused(lowering, parts.k, real(lowering, LN2_LOW), LLVMBuildFNeg(b, small_part(lowering, parts.f), ""));
  LLVMValueRef rest = LLVMBuildFAdd(b, low, parts.f, "");
  return special_cases(lowering, x, fused(lowering, parts.k, real(lowering, LN2_HIGH), rest));
}

LLVMValueRef tf_float_log2(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef x = operands[0];
  if (is_fast(lowering)) return hardware_log2(lowering, x);
  decomposition parts = decompose(lowering, x);
  LLVMValueRef h = small_part(lowering, parts.f), log2e = real(lowering, LOG2E);
  LLVMValueRef natural = LLVMBuildFSub(b, parts.f, h, "");
  LLVMValueRef lost = LLVMBuildFSub(b, LLVMBuildFSub(b, parts.f, natural, ""), h, "");
  LLVMValueRef high = multiply(lowering, natural, log2e);
  LLVMValueRef low = fused(lowering, natural, log2e, LLVMBuildFNeg(b, high, ""));
  low = fused(lowering, natural, real(lowering, LOG2E_LOW), low);
  low = fused(lowering, lost, log2e, low);
  LLVMValueRef sum = LLVMBuildFAdd(b, parts.k, high, "");
  LLVMValueRef error = LLVMBuildFSub(b, high, LLVMBuildFSub(b, sum, parts.k, ""), "");
  return special_cases(lowering, x, LLVMBuildFAdd(b, sum, LLVMBuildFAdd(b, low, error, ""), ""));
}
