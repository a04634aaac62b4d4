/* Integer facts are an interval and a divisor. They feed three decisions: 32 or 64 bits, which division, and how wide a
 * memory access may be. */
#include "LowerToLLVM/IntMath.h"

#include "IR/DimImpl.h"

/* ---- Facts ---- */
tf_int_facts tf_facts_constant(int64_t value) {
  int64_t magnitude = value == INT64_MIN ? 1 : value < 0 ? -value : value;
  return (tf_int_facts){magnitude, value, value};
}

tf_int_facts tf_facts_range(int64_t min, int64_t max) {
  return (tf_int_facts){1, min, max};
}

tf_int_facts tf_facts_of_dim(const tf_dim *dim) {
  tf_int_facts facts = {.divisor = tf_dim_divisor(dim)};
  tf_dim_range(dim, &facts.min, &facts.max);
  return facts;
}

tf_int_facts tf_facts_of_dtype(tf_dtype dtype) {
  unsigned bits = tf_dtype_bits(dtype);
  if (bits >= 64) return TF_FACTS_NONE;
  if (tf_dtype_get_class(dtype) == TF_CLASS_SINT)
    return tf_facts_range(-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
  return tf_facts_range(0, dtype == TF_DTYPE_BOOL ? 1 : ((int64_t)1 << bits) - 1);
}

bool tf_facts_fit(tf_int_facts facts, unsigned bits) {
  return bits >= 64 || (facts.min >= -((int64_t)1 << (bits - 1)) && facts.max <= ((int64_t)1 << (bits - 1)) - 1);
}

tf_int_facts tf_facts_join(tf_int_facts a, tf_int_facts b) {
  return (tf_int_facts){tf_int_gcd(a.divisor, b.divisor), a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static bool bounded(tf_int_facts facts) {
  return facts.min != INT64_MIN && facts.max != INT64_MAX;
}

static tf_int_facts facts_of_sum(tf_int_facts a, tf_int_facts b, bool subtract) {
  tf_int_facts out = TF_FACTS_NONE;
  bool overflow = !bounded(a) || !bounded(b);
  if (!overflow && subtract)
    overflow = __builtin_sub_overflow(a.min, b.max, &out.min) || __builtin_sub_overflow(a.max, b.min, &out.max);
  else if (!overflow)
    overflow = __builtin_add_overflow(a.min, b.min, &out.min) || __builtin_add_overflow(a.max, b.max, &out.max);
  if (overflow) out = TF_FACTS_NONE;
  out.divisor = tf_int_gcd(a.divisor, b.divisor);
  /* Wrap-around keeps divisibility by powers of two only. */
  if (overflow && out.divisor) out.divisor &= -out.divisor;
  return out;
}

static tf_int_facts facts_of_product(tf_int_facts a, tf_int_facts b) {
  tf_int_facts out = TF_FACTS_NONE;
  int64_t corner[4], divisor;
  bool overflow = !bounded(a) || !bounded(b);
  if (!overflow)
    overflow = __builtin_mul_overflow(a.min, b.min, &corner[0]) || __builtin_mul_overflow(a.min, b.max, &corner[1]) ||
               __builtin_mul_overflow(a.max, b.min, &corner[2]) || __builtin_mul_overflow(a.max, b.max, &corner[3]);
  if (!overflow) {
    out.min = out.max = corner[0];
    for (int i = 1; i < 4; i++) {
      if (corner[i] < out.min) out.min = corner[i];
      if (corner[i] > out.max) out.max = corner[i];
    }
  }
  out.divisor = __builtin_mul_overflow(a.divisor, b.divisor, &divisor) ? 1 : divisor;
  if (overflow && out.divisor) out.divisor &= -out.divisor;
  return out;
}

static tf_int_facts facts_of_quotient(tf_int_facts a, tf_int_facts b) {
  if (!bounded(a) || b.min != b.max || b.min <= 0) return TF_FACTS_NONE;
  tf_int_facts out = {1, tf_int_floor_div(a.min, b.min), tf_int_floor_div(a.max, b.min)};
  if (a.divisor % b.min == 0) out.divisor = a.divisor / b.min;
  return out;
}

static tf_int_facts facts_of_modulus(tf_int_facts a, tf_int_facts b) {
  if (b.min <= 0 || b.max == INT64_MAX) return TF_FACTS_NONE;
  if (a.min >= 0 && a.max < b.min) return a;
  return (tf_int_facts){tf_int_gcd(a.divisor, b.divisor), 0, b.max - 1};
}

static tf_int_facts facts_of_extremum(tf_int_facts a, tf_int_facts b, bool maximum) {
  tf_int_facts out = {tf_int_gcd(a.divisor, b.divisor), 0, 0};
  out.min = (a.min < b.min) != maximum ? a.min : b.min;
  out.max = (a.max < b.max) != maximum ? a.max : b.max;
  return out;
}

/* Not negative: at most all ones below the higher bound's top bit. */
static tf_int_facts facts_of_bits(tf_scalar_binary_kind kind, tf_int_facts a, tf_int_facts b) {
  if (kind == TF_SCALAR_BINARY_BIT_AND && (a.min >= 0 || b.min >= 0)) {
    int64_t max = a.min >= 0 && b.min >= 0 ? (a.max < b.max ? a.max : b.max) : a.min >= 0 ? a.max : b.max;
    return tf_facts_range(0, max);
  }
  if (a.min < 0 || b.min < 0 || kind == TF_SCALAR_BINARY_BIT_AND) return TF_FACTS_NONE;
  int64_t top = a.max > b.max ? a.max : b.max;
  return tf_facts_range(0, top == 0 ? 0 : (int64_t)(UINT64_MAX >> (__builtin_clzll((uint64_t)top))));
}

tf_int_facts tf_facts_binary(tf_scalar_binary_kind kind, tf_int_facts a, tf_int_facts b) {
  switch (kind) {
  case TF_SCALAR_BINARY_ADD:
    return facts_of_sum(a, b, false);
  case TF_SCALAR_BINARY_SUB:
    return facts_of_sum(a, b, true);
  case TF_SCALAR_BINARY_MUL:
    return facts_of_product(a, b);
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return facts_of_quotient(a, b);
  case TF_SCALAR_BINARY_MOD:
    return facts_of_modulus(a, b);
  case TF_SCALAR_BINARY_MIN:
    return facts_of_extremum(a, b, false);
  case TF_SCALAR_BINARY_MAX:
    return facts_of_extremum(a, b, true);
  case TF_SCALAR_BINARY_SHL:
    return b.min == b.max && b.min >= 0 && b.min < 62 ? facts_of_product(a, tf_facts_constant((int64_t)1 << b.min))
                                                      : TF_FACTS_NONE;
  case TF_SCALAR_BINARY_SHR:
    return b.min == b.max && b.min >= 0 && b.min < 62 ? facts_of_quotient(a, tf_facts_constant((int64_t)1 << b.min))
                                                      : TF_FACTS_NONE;
  case TF_SCALAR_BINARY_BIT_AND:
  case TF_SCALAR_BINARY_BIT_OR:
  case TF_SCALAR_BINARY_BIT_XOR:
    return facts_of_bits(kind, a, b);
  default:
    return tf_facts_range(0, 1);
  }
}

/* ---- Division ---- */
/* 0 and -1 are the divisors for which sdiv may be undefined; both are replaced by 1. */
static LLVMValueRef harmless_divisor(LLVMBuilderRef b, LLVMValueRef divisor) {
  LLVMTypeRef type = LLVMTypeOf(divisor);
  LLVMValueRef one = LLVMConstInt(type, 1, false);
  LLVMValueRef bad = LLVMBuildICmp(b, LLVMIntULT, LLVMBuildAdd(b, divisor, one, ""), LLVMConstInt(type, 2, false), "");
  return LLVMBuildSelect(b, bad, one, divisor, "");
}

/* The remainder that has the divisor's sign: add the divisor if the truncated one is non-zero and of the other sign. */
static LLVMValueRef needs_correction(LLVMBuilderRef b, LLVMValueRef remainder, LLVMValueRef divisor) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(remainder));
  LLVMValueRef nonzero = LLVMBuildICmp(b, LLVMIntNE, remainder, zero, "");
  LLVMValueRef signs = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, remainder, divisor, ""), zero, "");
  return LLVMBuildAnd(b, nonzero, signs, "");
}

static bool all_ones_shift(LLVMValueRef divisor, int64_t *value) {
  return tf_lower_is_constant(divisor, value) && *value > 0 && (*value & (*value - 1)) == 0;
}

LLVMValueRef tf_emit_floor_div(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef d, tf_int_facts fa,
                               tf_int_facts fd) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef type = LLVMTypeOf(a);
  int64_t constant;
  if (all_ones_shift(d, &constant))
    return LLVMBuildAShr(b, a, LLVMConstInt(type, (unsigned)__builtin_ctzll((uint64_t)constant), false), "");
  if (fa.min >= 0 && fd.min > 0) return LLVMBuildUDiv(b, a, d, "");
  LLVMValueRef safe = tf_lower_is_constant(d, &constant) && constant > 0 ? d : harmless_divisor(b, d);
  LLVMValueRef quotient = LLVMBuildSDiv(b, a, safe, ""), remainder = LLVMBuildSRem(b, a, safe, "");
  LLVMValueRef correction = LLVMBuildSExt(b, needs_correction(b, remainder, safe), type, "");
  quotient = LLVMBuildAdd(b, quotient, correction, "");
  if (safe == d) return quotient;
  LLVMValueRef minus_one = LLVMBuildICmp(b, LLVMIntEQ, d, LLVMConstAllOnes(type), "");
  return LLVMBuildSelect(b, minus_one, LLVMBuildNeg(b, a, ""), quotient, "");
}

LLVMValueRef tf_emit_floor_mod(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef d, tf_int_facts fa,
                               tf_int_facts fd) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef type = LLVMTypeOf(a);
  int64_t constant;
  if (all_ones_shift(d, &constant))
    return LLVMBuildAnd(b, a, LLVMConstInt(type, (unsigned long long)(constant - 1), false), "");
  if (fa.min >= 0 && fd.min > 0) return LLVMBuildURem(b, a, d, "");
  LLVMValueRef safe = tf_lower_is_constant(d, &constant) && constant > 0 ? d : harmless_divisor(b, d);
  LLVMValueRef remainder = LLVMBuildSRem(b, a, safe, "");
  LLVMValueRef zero = LLVMConstNull(type);
  return LLVMBuildAdd(b, remainder, LLVMBuildSelect(b, needs_correction(b, remainder, safe), safe, zero, ""), "");
}

LLVMValueRef tf_emit_resize(tf_lowering *lowering, LLVMValueRef value, unsigned bits, tf_int_facts facts) {
  unsigned have = LLVMGetIntTypeWidth(LLVMTypeOf(value));
  LLVMTypeRef type = tf_llvm_int(lowering, bits);
  if (have == bits) return value;
  if (have > bits) return LLVMBuildTrunc(lowering->builder, value, type, "");
  if (facts.min < 0) return LLVMBuildSExt(lowering->builder, value, type, "");
  LLVMValueRef extended = LLVMBuildZExt(lowering->builder, value, type, "");
  if (LLVMIsAZExtInst(extended)) LLVMSetNNeg(extended, have < bits);
  return extended;
}
