/* Python's % and // on floats, exact.
 *
 * The remainder r of |x| by |y| is found as long division does it, and no step rounds: t starts at |y| and doubles while it is
 * at most half of r; then each t that fits is taken off (t <= r < 2t, so the difference is exact) while t halves again.
 *
 *     while (r - t >= t) t += t;
 *     for (;; t /= 2) { if (r >= t) r -= t;  if (t == |y|) break; }
 *
 * Then the sign rules: the remainder has the divisor's sign, the quotient is the floor. x % 0 is NaN, x // 0 is x / 0. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

static LLVMValueRef unary(tf_lowering *lowering, const char *name, LLVMValueRef x) {
  LLVMTypeRef type = LLVMTypeOf(x);
  return tf_lower_llvm_intrinsic(lowering, name, 1, &type, 1, &x);
}

static LLVMValueRef copysign_of(tf_lowering *lowering, LLVMValueRef magnitude, LLVMValueRef sign) {
  LLVMTypeRef type = LLVMTypeOf(magnitude);
  LLVMValueRef args[2] = {magnitude, sign};
  return tf_lower_llvm_intrinsic(lowering, "llvm.copysign", 1, &type, 2, args);
}

static LLVMValueRef phi_of(tf_lowering *lowering, LLVMValueRef first, LLVMBasicBlockRef from) {
  LLVMValueRef phi = LLVMBuildPhi(lowering->builder, LLVMTypeOf(first), "");
  LLVMAddIncoming(phi, &first, &from, 1);
  return phi;
}

static void close_phi(tf_lowering *lowering, LLVMValueRef phi, LLVMValueRef next) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(lowering->builder);
  LLVMAddIncoming(phi, &next, &block, 1);
}

/* t doubled while it fits twice into r. */
static LLVMValueRef scale_up(tf_lowering *lowering, LLVMValueRef r, LLVMValueRef y) {
  LLVMBuilderRef b = lowering->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), up = tf_lower_new_block(lowering, "mod.up");
  LLVMBasicBlockRef twice = tf_lower_new_block(lowering, "mod.twice"), done = tf_lower_new_block(lowering, "mod.down");
  tf_lower_enter_block(lowering, up);
  LLVMValueRef t = phi_of(lowering, y, before);
  LLVMValueRef fits = LLVMBuildFCmp(b, LLVMRealOGE, LLVMBuildFSub(b, r, t, ""), t, "");
  LLVMBuildCondBr(b, fits, twice, done);
  LLVMPositionBuilderAtEnd(b, twice);
  close_phi(lowering, t, LLVMBuildFAdd(b, t, t, ""));
  LLVMBuildBr(b, up);
  LLVMPositionBuilderAtEnd(b, done);
  return t;
}

static LLVMValueRef take_off(tf_lowering *lowering, LLVMValueRef r, LLVMValueRef t, LLVMValueRef y) {
  LLVMBuilderRef b = lowering->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), step = tf_lower_new_block(lowering, "mod.step");
  LLVMBasicBlockRef done = tf_lower_new_block(lowering, "mod.done");
  tf_lower_enter_block(lowering, step);
  LLVMValueRef rest = phi_of(lowering, r, before), divisor = phi_of(lowering, t, before);
  LLVMValueRef fits = LLVMBuildFCmp(b, LLVMRealOGE, rest, divisor, "");
  LLVMValueRef left = LLVMBuildSelect(b, fits, LLVMBuildFSub(b, rest, divisor, ""), rest, "");
  close_phi(lowering, rest, left);
  close_phi(lowering, divisor, LLVMBuildFMul(b, divisor, tf_float_like(divisor, 0.5), ""));
  LLVMBuildCondBr(b, LLVMBuildFCmp(b, LLVMRealOEQ, divisor, y, ""), done, step);
  LLVMPositionBuilderAtEnd(b, done);
  return left;
}

/* |x| mod |y|; NaN where there is none. */
static LLVMValueRef magnitude_mod(tf_lowering *lowering, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef r = unary(lowering, "llvm.fabs", x), d = unary(lowering, "llvm.fabs", y);
  LLVMValueRef finite = LLVMBuildFCmp(b, LLVMRealOLT, r, tf_float_like(r, __builtin_inf()), "");
  LLVMValueRef positive = LLVMBuildFCmp(b, LLVMRealOGT, d, tf_float_like(d, 0), "");
  LLVMValueRef nan = tf_float_like(r, __builtin_nan(""));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  tf_guard guard;
  if (!tf_lower_guard_begin(lowering, LLVMBuildAnd(b, finite, positive, ""), &guard)) return nan;
  LLVMValueRef values[2] = {nan, take_off(lowering, r, scale_up(lowering, r, d), d)};
  LLVMBasicBlockRef blocks[2] = {before, LLVMGetInsertBlock(b)};
  tf_lower_guard_end(lowering, &guard);
  if (!guard.join) return values[1];
  LLVMValueRef phi = LLVMBuildPhi(b, LLVMTypeOf(r), "");
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}

typedef struct remainder_parts {
  LLVMValueRef truncated, floored, corrected; /* corrected: i1, the two differ */
} remainder_parts;

static remainder_parts remainder_of(tf_lowering *lowering, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef zero = tf_float_like(x, 0);
  remainder_parts out = {.truncated = copysign_of(lowering, magnitude_mod(lowering, x, y), x)};
  LLVMValueRef is_zero = LLVMBuildFCmp(b, LLVMRealOEQ, out.truncated, zero, "");
  LLVMValueRef divisor_negative = LLVMBuildFCmp(b, LLVMRealOLT, y, zero, "");
  LLVMValueRef rest_negative = LLVMBuildFCmp(b, LLVMRealOLT, out.truncated, zero, "");
  LLVMValueRef differ = LLVMBuildXor(b, divisor_negative, rest_negative, "");
  out.corrected = LLVMBuildAnd(b, differ, LLVMBuildNot(b, is_zero, ""), "");
  LLVMValueRef moved = LLVMBuildFAdd(b, out.truncated, y, "");
  out.floored = LLVMBuildSelect(b, out.corrected, moved, out.truncated, "");
  out.floored = LLVMBuildSelect(b, is_zero, copysign_of(lowering, zero, y), out.floored, "");
  return out;
}

static LLVMValueRef floor_quotient(tf_lowering *lowering, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef zero = tf_float_like(x, 0), one = tf_float_like(x, 1);
  remainder_parts rest = remainder_of(lowering, x, y);
  LLVMValueRef quotient = LLVMBuildFDiv(b, LLVMBuildFSub(b, x, rest.truncated, ""), y, "");
  quotient = LLVMBuildSelect(b, rest.corrected, LLVMBuildFSub(b, quotient, one, ""), quotient, "");
  LLVMValueRef floor = unary(lowering, "llvm.floor", quotient);
  LLVMValueRef short_by = LLVMBuildFSub(b, quotient, floor, "");
  LLVMValueRef up = LLVMBuildFCmp(b, LLVMRealOGT, short_by, tf_float_like(x, 0.5), "");
  floor = LLVMBuildSelect(b, up, LLVMBuildFAdd(b, floor, one, ""), floor, "");
  LLVMValueRef plain = LLVMBuildFDiv(b, x, y, "");
  LLVMValueRef none = LLVMBuildFCmp(b, LLVMRealOEQ, quotient, zero, "");
  floor = LLVMBuildSelect(b, none, copysign_of(lowering, zero, plain), floor, "");
  return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, y, zero, ""), plain, floor, "");
}

/* 16-bit operands divide in f32: their remainders and quotients are exact or rounded once there. */
static LLVMValueRef through_f32(tf_lowering *lowering, tf_dtype dtype, const LLVMValueRef *operands, bool modulus) {
  bool small = tf_dtype_bits(dtype) == 16;
  LLVMValueRef x = small ? tf_convert(lowering, operands[0], dtype, TF_DTYPE_F32, 1) : operands[0];
  LLVMValueRef y = small ? tf_convert(lowering, operands[1], dtype, TF_DTYPE_F32, 1) : operands[1];
  LLVMValueRef value = modulus ? remainder_of(lowering, x, y).floored : floor_quotient(lowering, x, y);
  return small ? tf_convert(lowering, value, TF_DTYPE_F32, dtype, 1) : value;
}

LLVMValueRef tf_float_mod(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  return through_f32(lowering, *(const tf_dtype *)user, operands, true);
}

LLVMValueRef tf_float_floor_div(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  return through_f32(lowering, *(const tf_dtype *)user, operands, false);
}
