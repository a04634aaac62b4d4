/* exp, exp2 and rsqrt without a library.
 *
 *   f32   exp(x)   n = round(x * log2 e) in [-126, 126];  r = x * log2 e - n in two fma steps;  2^r by the hardware;  times 2^n
 *         exp2(x)  the hardware's
 *   f64   exp(x)   n = round(x * log2 e);  r + low = x - n ln 2, the product exact (ln 2 has 20 zero bits at the end)
 *         exp2(x)  n = round(x);           r + low = (x - n) ln 2, a product in two parts
 *                  e^(r + low) = 1 + (r + (low + r^2 (1/2! + r/3! + … + r^11/13!))),  |r| <= 0.347;  times 2^n
 *
 * In f64, 2^n is multiplied in two steps that stay inside the exponent range, so only the last one rounds (results below the normal
 * range). Of the f64 series, the terms from r^14 on are below 2^-57 of the result; its roundings happen at a third of the
 * result's size or below, which leaves less than 0.5 ULP beside the last addition's 0.5. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

#define LOG2E        1.44269502162933349609375 /* log2(e) rounded to f32 */
#define LOG2E_LOW    1.925963033500011e-08     /* and what is missing */

#define LOG2E_F64    0x1.71547652b82fep+0
#define LN2_HIGH_F64 0x1.62e42feep-1       /* ln 2 without its last bits: n * this is exact for |n| < 2^20 */
#define LN2_REST_F64 0x1.a39ef35793c76p-33 /* and what is missing */
#define LN2_F64      0x1.62e42fefa39efp-1  /* ln 2 rounded to f64 */
#define LN2_LOW_F64  0x1.abc9e3b39803fp-56 /* and what is missing */
#define LAST_TERM    13

static LLVMValueRef multiply(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(lowering->builder, a, b, "");
}

/* ---- f32 ---- */
static LLVMValueRef approximate(tf_lowering *lowering, tf_intrinsic_id id, tf_intrinsic_id flushing, LLVMValueRef x) {
  return tf_lower_intrinsic(lowering, lowering->module->options->flush_denormals ? flushing : id, "", 1, &x);
}

static LLVMValueRef hardware_exp2(tf_lowering *lowering, LLVMValueRef x) {
  return approximate(lowering, TF_INTRINSIC_EX2_APPROX, TF_INTRINSIC_EX2_APPROX_FTZ, x);
}

/* x * log2 e + ROUNDER rounds to an integer, whose last bits are n + 127: shifted up they are 2^n. Only n is clamped: r takes what
 * is left, so that results underflow, overflow and stay NaN by themselves, with one rounding. */
#define ROUNDER   12583039.0 /* 1.5 * 2^23 + 127 */
#define EXP_BOUND 87.336544  /* 126 / log2 e */

static LLVMValueRef exp_f32(tf_lowering *lowering, LLVMValueRef x) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef log2e = tf_float_like(x, LOG2E), rounder = tf_float_like(x, ROUNDER);
  if (lowering->module->options->fast_math) return hardware_exp2(lowering, multiply(lowering, x, log2e));
  LLVMTypeRef type = LLVMTypeOf(x), i32 = tf_llvm_int(lowering, 32);
  LLVMValueRef low[2] = {x, tf_float_like(x, -EXP_BOUND)}, high[2] = {NULL, tf_float_like(x, EXP_BOUND)};
  high[0] = tf_lower_llvm_intrinsic(lowering, "llvm.maxnum", 1, &type, 2, low);
  LLVMValueRef clamped = tf_lower_llvm_intrinsic(lowering, "llvm.minnum", 1, &type, 2, high);
  LLVMValueRef shifted = tf_float_fused(lowering, clamped, log2e, rounder);
  LLVMValueRef n = LLVMBuildFSub(b, shifted, rounder, "");
  LLVMValueRef r = tf_float_fused(lowering, x, log2e, LLVMBuildFNeg(b, n, ""));
  r = tf_float_fused(lowering, x, tf_float_like(x, LOG2E_LOW), r);
  LLVMValueRef scale = LLVMBuildShl(b, LLVMBuildBitCast(b, shifted, i32, ""), tf_llvm_i32(lowering, 23), "");
  return multiply(lowering, hardware_exp2(lowering, r), LLVMBuildBitCast(b, scale, type, ""));
}

/* ---- f64 ---- */
static LLVMValueRef nearest(tf_lowering *lowering, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  return tf_lower_llvm_intrinsic(lowering, "llvm.roundeven", 1, &type, 1, &x);
}

/* The integer that a rounded value is; 0 for NaN. */
static LLVMValueRef integer(tf_lowering *lowering, LLVMValueRef x) {
  LLVMTypeRef types[2] = {tf_llvm_int(lowering, 32), LLVMTypeOf(x)};
  return tf_lower_llvm_intrinsic(lowering, "llvm.fptosi.sat", 2, types, 1, &x);
}

/* Within [-bound, bound]; NaN stays. */
static LLVMValueRef limited(tf_lowering *lowering, LLVMValueRef x, double bound) {
  LLVMBuilderRef b = lowering->builder;
  x = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, tf_float_like(x, -bound), ""), tf_float_like(x, -bound), x,
                      "");
  return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, x, tf_float_like(x, bound), ""), tf_float_like(x, bound), x,
                         "");
}

/* 2^n for an n within the exponent range of f64. */
static LLVMValueRef power_of_two(tf_lowering *lowering, LLVMValueRef n) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef biased = LLVMBuildAdd(b, n, tf_llvm_i32(lowering, 1023), "");
  biased = LLVMBuildZExt(b, biased, tf_llvm_int(lowering, 64), "");
  LLVMValueRef bits = LLVMBuildShl(b, biased, tf_llvm_i64(lowering, 52), "");
  return LLVMBuildBitCast(b, bits, LLVMDoubleTypeInContext(lowering->llvm), "");
}

/* value * 2^n for an n of up to twice the exponent range. */
static LLVMValueRef scaled(tf_lowering *lowering, LLVMValueRef value, LLVMValueRef n) {
  LLVMValueRef half = LLVMBuildAShr(lowering->builder, n, tf_llvm_i32(lowering, 1), "");
  LLVMValueRef other = LLVMBuildSub(lowering->builder, n, half, "");
  value = multiply(lowering, value, power_of_two(lowering, half));
  return multiply(lowering, value, power_of_two(lowering, other));
}

/* e^(r + low), low beside r what a rounding lost. */
static LLVMValueRef series(tf_lowering *lowering, LLVMValueRef r, LLVMValueRef low) {
  LLVMBuilderRef b = lowering->builder;
  double factorial[LAST_TERM + 1] = {1};
  for (unsigned k = 1; k <= LAST_TERM; k++)
    factorial[k] = k * factorial[k - 1];
  LLVMValueRef sum = tf_float_like(r, 1 / factorial[LAST_TERM]);
  for (unsigned k = LAST_TERM; k-- > 2;)
    sum = tf_float_fused(lowering, sum, r, tf_float_like(r, 1 / factorial[k]));
  LLVMValueRef rest = tf_float_fused(lowering, multiply(lowering, r, r), sum, low);
  return LLVMBuildFAdd(b, LLVMBuildFAdd(b, r, rest, ""), tf_float_like(r, 1), "");
}

static LLVMValueRef exp_f64(tf_lowering *lowering, LLVMValueRef x) {
  LLVMBuilderRef b = lowering->builder;
  x = limited(lowering, x, 800); /* infinity or 0 beyond */
  LLVMValueRef n = nearest(lowering, multiply(lowering, x, tf_float_like(x, LOG2E_F64)));
  LLVMValueRef high = tf_float_fused(lowering, n, tf_float_like(x, -LN2_HIGH_F64), x);
  LLVMValueRef rest = multiply(lowering, n, tf_float_like(x, -LN2_REST_F64));
  LLVMValueRef r = LLVMBuildFAdd(b, high, rest, "");
  LLVMValueRef low = LLVMBuildFAdd(b, LLVMBuildFSub(b, high, r, ""), rest, "");
  return scaled(lowering, series(lowering, r, low), integer(lowering, n));
}

static LLVMValueRef exp2_f64(tf_lowering *lowering, LLVMValueRef x) {
  LLVMBuilderRef b = lowering->builder;
  x = limited(lowering, x, 1100); /* infinity or 0 beyond */
  LLVMValueRef n = nearest(lowering, x), f = LLVMBuildFSub(b, x, n, "");
  LLVMValueRef r = multiply(lowering, f, tf_float_like(x, LN2_F64));
  LLVMValueRef low = tf_float_fused(lowering, f, tf_float_like(x, LN2_F64), LLVMBuildFNeg(b, r, ""));
  low = tf_float_fused(lowering, f, tf_float_like(x, LN2_LOW_F64), low);
  return scaled(lowering, series(lowering, r, low), integer(lowering, n));
}

/* Two roundings: at most 1 ULP. */
static LLVMValueRef rsqrt_f64(tf_lowering *lowering, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef root = tf_lower_llvm_intrinsic(lowering, "llvm.sqrt", 1, &type, 1, &x);
  return LLVMBuildFDiv(lowering->builder, tf_float_like(x, 1), root, "");
}

/* ---- By type ---- */
static bool is_f64(LLVMValueRef x) {
  return LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMDoubleTypeKind;
}

LLVMValueRef tf_float_exp(tf_lowering *lowering, const void *user, const LLVMValueRef *x) {
  (void)user;
  return is_f64(x[0]) ? exp_f64(lowering, x[0]) : exp_f32(lowering, x[0]);
}

LLVMValueRef tf_float_exp2(tf_lowering *lowering, const void *user, const LLVMValueRef *x) {
  (void)user;
  return is_f64(x[0]) ? exp2_f64(lowering, x[0]) : hardware_exp2(lowering, x[0]);
}

LLVMValueRef tf_float_rsqrt(tf_lowering *lowering, const void *user, const LLVMValueRef *x) {
  (void)user;
  if (is_f64(x[0])) return rsqrt_f64(lowering, x[0]);
  return approximate(lowering, TF_INTRINSIC_RSQRT_APPROX, TF_INTRINSIC_RSQRT_APPROX_FTZ, x[0]);
}
