/* log and log2 of f32 and f64 without a library.
 *
 *   log(x)   x = 2^k * (1 + f), 1 + f in [sqrt(1/2), sqrt 2);  s = f / (2 + f);
 *            log(1 + f) = f - f*f/2 + s * (f*f/2 + R(s*s)),  R the odd series of 2 artanh(s) beyond its first term
 *   log2(x)  k + log(1 + f) * log2 e, the product kept in two parts
 *
 * s*s is at most 0.0295, so R needs the terms up to s^10 for 24 bits and up to s^20 for 53. Its error counts little, as
 * log(1 + f) is f minus something small. The hardware's own logarithm has no relative accuracy near 1, which is why it is used
 * under fast math only, and for f32. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

typedef struct format {
  unsigned bits, mantissa;
  int64_t root;             /* bits of sqrt(1/2) */
  double least;             /* the smallest normal number */
  double ln2_high, ln2_low; /* ln 2 with zero bits at the end, so that k * ln2_high is exact; and what is missing */
  double log2e, log2e_low;  /* log2 e rounded to the type, and what is missing */
  unsigned last_term;       /* R(z) = z * (2/3 + 2/5 z + … + 2/last_term z^…) */
} format;

static const format f32_format = {32,
                                  23,
                                  0x3f3504f3,
                                  0x1p-126,
                                  0.693145751953125,
                                  1.428606765330187e-06,
                                  1.44269502162933349609375,
                                  1.925963033500011e-08,
                                  11};
static const format f64_format = {64,
                                  52,
                                  0x3fe6a09e667f3bcd,
                                  0x1p-1022,
                                  0x1.62e42feep-1,
                                  0x1.a39ef35793c76p-33,
                                  0x1.71547652b82fep+0,
                                  0x1.777d0ffda0d24p-56,
                                  21};

static const format *format_of(LLVMValueRef x) {
  return LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMDoubleTypeKind ? &f64_format : &f32_format;
}

static LLVMValueRef multiply(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(lowering->builder, a, b, "");
}

static LLVMValueRef choose(tf_lowering *lowering, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(lowering->builder, condition, a, b, "");
}

/* ---- Parts ---- */
typedef struct decomposition {
  LLVMValueRef k, f; /* x = 2^k * (1 + f), k as a float */
} decomposition;

/* Subnormals are scaled up first. Subtracting the bits of sqrt(1/2) from x's makes the exponent of the wanted split. */
static decomposition decompose(tf_lowering *lowering, LLVMValueRef x, const format *f) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef type = LLVMTypeOf(x), bits_type = tf_llvm_int(lowering, f->bits);
  LLVMValueRef tiny = LLVMBuildFCmp(b, LLVMRealOLT, x, tf_float_like(x, f->least), "");
  LLVMValueRef scale = tf_float_like(x, (double)((uint64_t)1 << f->mantissa));
  x = choose(lowering, tiny, multiply(lowering, x, scale), x);
  LLVMValueRef bias = choose(lowering, tiny, tf_float_like(x, -(double)f->mantissa), tf_float_like(x, 0));
  LLVMValueRef bits = LLVMBuildBitCast(b, x, bits_type, "");
  LLVMValueRef distance = LLVMBuildSub(b, bits, LLVMConstInt(bits_type, (uint64_t)f->root, true), "");
  LLVMValueRef shift = LLVMConstInt(bits_type, f->mantissa, false);
  LLVMValueRef exponent = LLVMBuildShl(b, LLVMBuildAShr(b, distance, shift, ""), shift, "");
  LLVMValueRef mantissa = LLVMBuildBitCast(b, LLVMBuildSub(b, bits, exponent, ""), type, "");
  LLVMValueRef k = LLVMBuildAShr(b, exponent, shift, "");
  k = LLVMBuildSIToFP(b, LLVMBuildTrunc(b, k, tf_llvm_int(lowering, 32), ""), type, "");
  return (decomposition){LLVMBuildFAdd(b, k, bias, ""), LLVMBuildFAdd(b, mantissa, tf_float_like(x, -1), "")};
}

/* f32 divides by the hardware's reciprocal. */
static LLVMValueRef quotient(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  if (format_of(a) == &f64_format) return LLVMBuildFDiv(lowering->builder, a, b, "");
  LLVMValueRef value = LLVMBuildFDiv(lowering->builder, tf_float_like(b, 1), b, "");
  LLVMSetFastMathFlags(value, LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal);
  return multiply(lowering, a, value);
}

/* log(1 + f) = f - h, h = f*f/2 - s * (f*f/2 + R): h is small beside f, so its errors do not count. */
static LLVMValueRef small_part(tf_lowering *lowering, LLVMValueRef f, unsigned last_term) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef s = quotient(lowering, f, LLVMBuildFAdd(b, f, tf_float_like(f, 2), ""));
  LLVMValueRef z = multiply(lowering, s, s), sum = tf_float_like(f, 2.0 / last_term);
  for (unsigned term = last_term - 2; term >= 3; term -= 2)
    sum = tf_float_fused(lowering, sum, z, tf_float_like(f, 2.0 / term));
  LLVMValueRef square = multiply(lowering, multiply(lowering, f, f), tf_float_like(f, 0.5));
  LLVMValueRef inner = tf_float_fused(lowering, sum, z, square);
  return tf_float_fused(lowering, LLVMBuildFNeg(b, s, ""), inner, square);
}

/* log(0) = -inf, log of negatives and NaN is NaN, log(inf) = inf. */
static LLVMValueRef special_cases(tf_lowering *lowering, LLVMValueRef x, LLVMValueRef value) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef zero = LLVMBuildFCmp(b, LLVMRealOEQ, x, tf_float_like(x, 0), "");
  LLVMValueRef infinite = LLVMBuildFCmp(b, LLVMRealOEQ, x, tf_float_like(x, __builtin_inf()), "");
  LLVMValueRef invalid = LLVMBuildFCmp(b, LLVMRealULT, x, tf_float_like(x, 0), "");
  value = choose(lowering, infinite, x, value);
  value = choose(lowering, invalid, tf_float_like(x, __builtin_nan("")), value);
  return choose(lowering, zero, tf_float_like(x, -__builtin_inf()), value);
}

/* ---- The functions ---- */
static bool is_hardware(const tf_lowering *lowering, const format *f) {
  return lowering->module->options->fast_math && f == &f32_format;
}

static LLVMValueRef hardware_log2(tf_lowering *lowering, LLVMValueRef x) {
  bool flush = lowering->module->options->flush_denormals;
  return tf_lower_intrinsic(lowering, flush ? TF_INTRINSIC_LG2_APPROX_FTZ : TF_INTRINSIC_LG2_APPROX, "", 1, &x);
}

LLVMValueRef tf_float_log(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef x = operands[0];
  const format *f = format_of(x);
  if (is_hardware(lowering, f))
    return multiply(lowering, hardware_log2(lowering, x), tf_float_like(x, f->ln2_high + f->ln2_low));
  decomposition parts = decompose(lowering, x, f);
  LLVMValueRef small = LLVMBuildFNeg(b, small_part(lowering, parts.f, f->last_term), "");
  LLVMValueRef low = tf_float_fused(lowering, parts.k, tf_float_like(x, f->ln2_low), small);
  LLVMValueRef rest = LLVMBuildFAdd(b, low, parts.f, "");
  return special_cases(lowering, x, tf_float_fused(lowering, parts.k, tf_float_like(x, f->ln2_high), rest));
}

LLVMValueRef tf_float_log2(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  (void)user;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef x = operands[0];
  const format *f = format_of(x);
  if (is_hardware(lowering, f)) return hardware_log2(lowering, x);
  decomposition parts = decompose(lowering, x, f);
  LLVMValueRef h = small_part(lowering, parts.f, f->last_term), log2e = tf_float_like(x, f->log2e);
  LLVMValueRef natural = LLVMBuildFSub(b, parts.f, h, "");
  LLVMValueRef lost = LLVMBuildFSub(b, LLVMBuildFSub(b, parts.f, natural, ""), h, "");
  LLVMValueRef high = multiply(lowering, natural, log2e);
  LLVMValueRef low = tf_float_fused(lowering, natural, log2e, LLVMBuildFNeg(b, high, ""));
  low = tf_float_fused(lowering, natural, tf_float_like(x, f->log2e_low), low);
  low = tf_float_fused(lowering, lost, log2e, low);
  LLVMValueRef sum = LLVMBuildFAdd(b, parts.k, high, "");
  LLVMValueRef error = LLVMBuildFSub(b, high, LLVMBuildFSub(b, sum, parts.k, ""), "");
  return special_cases(lowering, x, LLVMBuildFAdd(b, sum, LLVMBuildFAdd(b, low, error, ""), ""));
}
