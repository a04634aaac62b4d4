/* Binary arithmetic, comparisons and fma; see Numeric.h.
 *
 * Floats narrower than 16 bits and tf32 compute in f32 and are rounded back: f32 has more than twice their precision plus
 * two bits, so the second rounding never changes a result. min and max propagate NaN. */
#include "LowerToLLVM/Numeric.h"

#include <stdio.h>

#include "LowerToLLVM/IntMath.h"
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/NumericImpl.h"

bool tf_dtype_is_float(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
}

bool tf_dtype_needs_f32(tf_dtype dtype) {
  return tf_dtype_is_float(dtype) && (tf_dtype_bits(dtype) < 16 || dtype == TF_DTYPE_TF32);
}

LLVMValueRef tf_numeric_flags(tf_lowering *lowering, LLVMValueRef value) {
  const tf_lower_options *options = lowering->module->options;
  LLVMFastMathFlags flags = 0;
  if (options->contract || options->fast_math) flags |= LLVMFastMathAllowContract;
  if (options->fast_math) flags |= LLVMFastMathAllowReassoc | LLVMFastMathApproxFunc | LLVMFastMathAllowReciprocal;
  if (flags && LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value)) LLVMSetFastMathFlags(value, flags);
  return value;
}

/* Applies a scalar function to each lane. */
LLVMValueRef tf_per_lane(tf_lowering *lowering, tf_lane_fn *fn, const void *user, unsigned count,
                         const LLVMValueRef *operands, unsigned width) {
  LLVMValueRef out = NULL, lanes[3];
  for (unsigned i = 0; i < width; i++) {
    for (unsigned j = 0; j < count; j++)
      lanes[j] = tf_llvm_extract(lowering, operands[j], i);
    LLVMValueRef value = fn(lowering, user, lanes);
    out = tf_llvm_insert(lowering, LLVMTypeOf(value), width, out, value, i);
  }
  return out;
}

/* Two lanes of a vector, or its last one. */
static LLVMValueRef pair_at(tf_lowering *lowering, LLVMValueRef vector, unsigned at, unsigned width) {
  if (width <= 2) return vector;
  if (at + 1 == width) return tf_llvm_extract(lowering, vector, at);
  LLVMValueRef mask[2] = {tf_llvm_i32(lowering, at), tf_llvm_i32(lowering, at + 1)};
  return LLVMBuildShuffleVector(lowering->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(mask, 2),
                                "");
}

LLVMValueRef tf_per_pair(tf_lowering *lowering, tf_lane_fn *fn, const void *user, unsigned count,
                         const LLVMValueRef *operands, unsigned width) {
  LLVMValueRef out = NULL, parts[3];
  for (unsigned i = 0; i < width; i += 2) {
    for (unsigned j = 0; j < count; j++)
      parts[j] = pair_at(lowering, operands[j], i, width);
    LLVMValueRef value = fn(lowering, user, parts);
    if (width <= 2) return value;
    for (unsigned j = 0; j < 2 && i + j < width; j++) {
      LLVMValueRef lane = tf_llvm_extract(lowering, value, j);
      out = tf_llvm_insert(lowering, LLVMTypeOf(lane), width, out, lane, i + j);
    }
  }
  return out;
}

LLVMValueRef tf_to_value(tf_lowering *lowering, LLVMValueRef memory, tf_dtype dtype, unsigned width) {
  if (dtype != TF_DTYPE_BOOL) return memory;
  (void)width;
  return LLVMBuildICmp(lowering->builder, LLVMIntNE, memory, LLVMConstNull(LLVMTypeOf(memory)), "");
}

LLVMValueRef tf_to_memory(tf_lowering *lowering, LLVMValueRef value, tf_dtype dtype, unsigned width) {
  if (dtype != TF_DTYPE_BOOL) return value;
  return LLVMBuildZExt(lowering->builder, value, tf_llvm_vector(tf_llvm_int(lowering, 8), width), "");
}

/* ---- Floats ---- */
static LLVMRealPredicate float_predicate(tf_binary_kind kind) {
  switch (kind) {
  case TF_BINARY_EQ:
    return LLVMRealOEQ;
  case TF_BINARY_NE:
    return LLVMRealUNE;
  case TF_BINARY_LT:
    return LLVMRealOLT;
  case TF_BINARY_LE:
    return LLVMRealOLE;
  case TF_BINARY_GT:
    return LLVMRealOGT;
  default:
    return LLVMRealOGE;
  }
}

bool tf_binary_is_comparison(tf_binary_kind kind) {
  return kind >= TF_BINARY_EQ && kind <= TF_BINARY_GE;
}

static const char *const predicates[] = {
    [LLVMRealOEQ] = "eq",  [LLVMRealOGT] = "gt",  [LLVMRealOGE] = "ge",  [LLVMRealOLT] = "lt", [LLVMRealOLE] = "le",
    [LLVMRealUNO] = "nan", [LLVMRealUGT] = "gtu", [LLVMRealULT] = "ltu", [LLVMRealUNE] = "neu"};

typedef struct comparison {
  LLVMRealPredicate predicate;
  tf_dtype dtype;
} comparison;

/* Two at a time by an instruction of our own choice: LLVM takes comparisons of vectors apart. */
static LLVMValueRef compare_pair(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  LLVMBuilderRef b = lowering->builder;
  const comparison *c = user;
  if (LLVMGetTypeKind(LLVMTypeOf(operands[0])) != LLVMVectorTypeKind)
    return LLVMBuildFCmp(b, c->predicate, operands[0], operands[1], "");
  char text[64];
  LLVMTypeRef bit = tf_llvm_int(lowering, 1), bits[2] = {bit, bit}, word = tf_llvm_int(lowering, 32);
  LLVMValueRef words[2] = {LLVMBuildBitCast(b, operands[0], word, ""), LLVMBuildBitCast(b, operands[1], word, "")};
  snprintf(text, sizeof text, "setp.%s.%sx2 $0|$1, $2, $3;", predicates[c->predicate], tf_dtype_name(c->dtype));
  LLVMTypeRef both = LLVMStructTypeInContext(lowering->llvm, bits, 2, false);
  LLVMValueRef result = tf_lower_asm(lowering, both, text, "=b,=b,r,r", 2, words, TF_ASM_PURE), out = NULL;
  for (unsigned i = 0; i < 2; i++)
    out = tf_llvm_insert(lowering, bit, 2, out, LLVMBuildExtractValue(b, result, i, ""), i);
  return out;
}

/* 16-bit floats two at a time, where the target compares so. */
static LLVMValueRef float_compare(tf_lowering *lowering, LLVMRealPredicate predicate, tf_dtype dtype, LLVMValueRef a,
                                  LLVMValueRef b) {
  unsigned width = LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMVectorTypeKind ? LLVMGetVectorSize(LLVMTypeOf(a)) : 1;
  bool packed = dtype == TF_DTYPE_F16 || (dtype == TF_DTYPE_BF16 && tf_target_sm(lowering->module->target) >= 90);
  LLVMValueRef operands[2] = {a, b};
  comparison c = {predicate, dtype};
  return packed ? tf_per_pair(lowering, compare_pair, &c, 2, operands, width)
                : LLVMBuildFCmp(lowering->builder, predicate, a, b, "");
}

/* Where the target's min and max can propagate NaN there is an instruction; else: a if a is better or NaN, else b, which
 * keeps a NaN of either side. */
LLVMValueRef tf_float_extremum(tf_lowering *lowering, bool maximum, LLVMValueRef a, LLVMValueRef b, tf_dtype dtype) {
  LLVMBuilderRef builder = lowering->builder;
  if (dtype != TF_DTYPE_F64 && tf_target_sm(lowering->module->target) >= 80) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, b};
    return tf_lower_llvm_intrinsic(lowering, maximum ? "llvm.maximum" : "llvm.minimum", 1, &type, 2, args);
  }
  LLVMValueRef better = float_compare(lowering, maximum ? LLVMRealUGT : LLVMRealULT, dtype, a, b);
  LLVMValueRef b_is_nan = float_compare(lowering, LLVMRealUNO, dtype, b, b);
  return LLVMBuildSelect(builder, b_is_nan, b, LLVMBuildSelect(builder, better, a, b, ""), "");
}

static LLVMValueRef float_binary(tf_lowering *lowering, tf_binary_kind kind, tf_dtype dtype, LLVMValueRef a,
                                 LLVMValueRef b, unsigned width) {
  LLVMBuilderRef builder = lowering->builder;
  switch (kind) {
  case TF_BINARY_ADD:
    return tf_numeric_flags(lowering, LLVMBuildFAdd(builder, a, b, ""));
  case TF_BINARY_SUB:
    return tf_numeric_flags(lowering, LLVMBuildFSub(builder, a, b, ""));
  case TF_BINARY_MUL:
    return tf_numeric_flags(lowering, LLVMBuildFMul(builder, a, b, ""));
  case TF_BINARY_DIV:
    return tf_numeric_flags(lowering, LLVMBuildFDiv(builder, a, b, ""));
  case TF_BINARY_MIN:
  case TF_BINARY_MAX:
    return tf_float_extremum(lowering, kind == TF_BINARY_MAX, a, b, dtype);
  case TF_BINARY_FLOOR_DIV:
  case TF_BINARY_MOD: {
    LLVMValueRef operands[2] = {a, b};
    return tf_per_lane(lowering, kind == TF_BINARY_MOD ? tf_float_mod : tf_float_floor_div, &dtype, 2, operands, width);
  }
  default:
    return float_compare(lowering, float_predicate(kind), dtype, a, b);
  }
}

/* ---- Integers ---- */
static LLVMIntPredicate int_predicate(tf_binary_kind kind, bool is_signed) {
  switch (kind) {
  case TF_BINARY_EQ:
    return LLVMIntEQ;
  case TF_BINARY_NE:
    return LLVMIntNE;
  case TF_BINARY_LT:
  case TF_BINARY_MIN:
    return is_signed ? LLVMIntSLT : LLVMIntULT;
  case TF_BINARY_LE:
    return is_signed ? LLVMIntSLE : LLVMIntULE;
  case TF_BINARY_GT:
  case TF_BINARY_MAX:
    return is_signed ? LLVMIntSGT : LLVMIntUGT;
  default:
    return is_signed ? LLVMIntSGE : LLVMIntUGE;
  }
}

typedef struct division {
  bool modulus;
  tf_dtype dtype;
} division;

static LLVMValueRef divide_lane(tf_lowering *lowering, const void *user, const LLVMValueRef *operands) {
  const division *d = user;
  LLVMBuilderRef b = lowering->builder;
  if (lowering->module->options->check_div && !LLVMIsAConstantInt(operands[1]))
    tf_lower_check_nonzero(lowering, operands[1]);
  if (tf_dtype_get_class(d->dtype) == TF_CLASS_UINT) {
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(operands[1])), one = LLVMConstInt(LLVMTypeOf(operands[1]), 1, false);
    LLVMValueRef is_zero = LLVMBuildICmp(b, LLVMIntEQ, operands[1], zero, "");
    LLVMValueRef safe = LLVMBuildSelect(b, is_zero, one, operands[1], "");
    return d->modulus ? LLVMBuildURem(b, operands[0], safe, "") : LLVMBuildUDiv(b, operands[0], safe, "");
  }
  if (d->modulus) return tf_emit_floor_mod(lowering, operands[0], operands[1], TF_FACTS_NONE, TF_FACTS_NONE);
  return tf_emit_floor_div(lowering, operands[0], operands[1], TF_FACTS_NONE, TF_FACTS_NONE);
}

static LLVMValueRef int_binary(tf_lowering *lowering, tf_binary_kind kind, tf_dtype dtype, LLVMValueRef a,
                               LLVMValueRef b, unsigned width) {
  LLVMBuilderRef builder = lowering->builder;
  bool is_signed = tf_dtype_get_class(dtype) == TF_CLASS_SINT;
  LLVMValueRef operands[2] = {a, b};
  division d = {kind == TF_BINARY_MOD, dtype};
  switch (kind) {
  case TF_BINARY_ADD:
    return LLVMBuildAdd(builder, a, b, "");
  case TF_BINARY_SUB:
    return LLVMBuildSub(builder, a, b, "");
  case TF_BINARY_MUL:
    return LLVMBuildMul(builder, a, b, "");
  case TF_BINARY_FLOOR_DIV:
  case TF_BINARY_DIV:
  case TF_BINARY_MOD:
    return tf_per_lane(lowering, divide_lane, &d, 2, operands, width);
  case TF_BINARY_AND:
    return LLVMBuildAnd(builder, a, b, "");
  case TF_BINARY_OR:
    return LLVMBuildOr(builder, a, b, "");
  case TF_BINARY_MIN:
  case TF_BINARY_MAX: {
    LLVMValueRef better = LLVMBuildICmp(builder, int_predicate(kind, is_signed), a, b, "");
    return LLVMBuildSelect(builder, better, a, b, "");
  }
  default:
    return LLVMBuildICmp(builder, int_predicate(kind, is_signed), a, b, "");
  }
}

LLVMValueRef tf_compute_binary(tf_lowering *lowering, tf_binary_kind kind, tf_dtype dtype, LLVMValueRef lhs,
                               LLVMValueRef rhs, unsigned width) {
  if (!tf_dtype_is_float(dtype)) return int_binary(lowering, kind, dtype, lhs, rhs, width);
  if (!tf_dtype_needs_f32(dtype)) return float_binary(lowering, kind, dtype, lhs, rhs, width);
  lhs = tf_convert(lowering, lhs, dtype, TF_DTYPE_F32, width);
  rhs = tf_convert(lowering, rhs, dtype, TF_DTYPE_F32, width);
  LLVMValueRef value = float_binary(lowering, kind, TF_DTYPE_F32, lhs, rhs, width);
  return tf_binary_is_comparison(kind) ? value : tf_convert(lowering, value, TF_DTYPE_F32, dtype, width);
}

/* ---- fma ---- */
/* Rounding to f32 first could change the result of a narrower type: bf16 and the 8-bit floats have exact products in f32,
 * but not exact sums, so their sum is made in f64, where it is exact or far from a tie. */
LLVMValueRef tf_compute_fma(tf_lowering *lowering, tf_dtype dtype, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c,
                            unsigned width) {
  if (!tf_dtype_is_float(dtype))
    return LLVMBuildAdd(lowering->builder, LLVMBuildMul(lowering->builder, a, b, ""), c, "");
  bool native = dtype == TF_DTYPE_F64 || dtype == TF_DTYPE_F32 || dtype == TF_DTYPE_F16 ||
                (dtype == TF_DTYPE_BF16 && tf_target_sm(lowering->module->target) >= 80);
  tf_dtype in = native ? dtype : TF_DTYPE_F64;
  LLVMValueRef args[3] = {a, b, c};
  for (unsigned i = 0; i < 3 && in != dtype; i++)
    args[i] = tf_convert(lowering, args[i], dtype, in, width);
  LLVMTypeRef type = LLVMTypeOf(args[0]);
  LLVMValueRef value = tf_lower_llvm_intrinsic(lowering, "llvm.fma", 1, &type, 3, args);
  return in == dtype ? value : tf_convert(lowering, value, in, dtype, width);
}

LLVMValueRef tf_float_fused(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef args[3] = {a, b, c};
  return tf_lower_llvm_intrinsic(lowering, "llvm.fma", 1, &type, 3, args);
}

LLVMValueRef tf_float_like(LLVMValueRef value, double number) {
  return LLVMConstReal(LLVMTypeOf(value), number);
}
