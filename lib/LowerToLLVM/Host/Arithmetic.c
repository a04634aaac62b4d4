/* Numbers: checked 64-bit integers, conversions between dtypes, dims. */
#include "IR/DimImpl.h"
#include "LowerToLLVM/Host/Host.h"

#include <string.h>

/* ---- Integers ---- */

/* The result of llvm.<name>.with.overflow; overflow ends the function. */
static LLVMValueRef with_overflow(tf_host *host, const char *name, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef pair = tf_host_intrinsic(host, name, 1, &host->module->word, 2, (LLVMValueRef[]){a, b});
  tf_host_fail_if(host, LLVMBuildExtractValue(host->builder, pair, 1, ""), TF_COMPILED_OVERFLOW);
  return LLVMBuildExtractValue(host->builder, pair, 0, "");
}

static LLVMValueRef equals(tf_host *host, LLVMValueRef a, int64_t value) {
  return LLVMBuildICmp(host->builder, LLVMIntEQ, a, tf_host_int(host, value), "");
}

/* Floor division and modulus: the truncated ones, corrected where the remainder has not the divisor's sign. */
static LLVMValueRef floor_divide(tf_host *host, bool modulus, LLVMValueRef a, LLVMValueRef d) {
  LLVMBuilderRef b = host->builder;
  LLVMValueRef zero = tf_host_int(host, 0), least = equals(host, a, INT64_MIN), minus = equals(host, d, -1);
  tf_host_fail_if(host, equals(host, d, 0), TF_COMPILED_DIVISION);
  if (!modulus) tf_host_fail_if(host, LLVMBuildAnd(b, least, minus, ""), TF_COMPILED_OVERFLOW);
  LLVMValueRef safe = modulus ? LLVMBuildSelect(b, minus, tf_host_int(host, 1), d, "") : d;
  LLVMValueRef rest = LLVMBuildSRem(b, a, safe, "");
  LLVMValueRef inexact = LLVMBuildICmp(b, LLVMIntNE, rest, zero, "");
  LLVMValueRef signs = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, rest, safe, ""), zero, "");
  LLVMValueRef correct = LLVMBuildAnd(b, inexact, signs, "");
  if (modulus) return LLVMBuildAdd(b, rest, LLVMBuildSelect(b, correct, safe, zero, ""), "");
  return LLVMBuildAdd(b, LLVMBuildSDiv(b, a, safe, ""), LLVMBuildSExt(b, correct, host->module->word, ""), "");
}

static LLVMValueRef shift(tf_host *host, bool left, LLVMValueRef a, LLVMValueRef count) {
  LLVMBuilderRef b = host->builder;
  LLVMValueRef wide = LLVMBuildICmp(b, LLVMIntUGT, count, tf_host_int(host, 63), "");
  tf_host_fail_if(host, wide, TF_COMPILED_SHIFT);
  return left ? LLVMBuildShl(b, a, count, "") : LLVMBuildAShr(b, a, count, "");
}

LLVMValueRef tf_host_int_binary(tf_host *host, tf_scalar_binary_kind kind, LLVMValueRef a, LLVMValueRef b) {
  LLVMIntPredicate better = kind == TF_SCALAR_BINARY_MIN ? LLVMIntSLT : LLVMIntSGT;
  switch (kind) {
  case TF_SCALAR_BINARY_ADD:
    return with_overflow(host, "llvm.sadd.with.overflow", a, b);
  case TF_SCALAR_BINARY_SUB:
    return with_overflow(host, "llvm.ssub.with.overflow", a, b);
  case TF_SCALAR_BINARY_MUL:
    return with_overflow(host, "llvm.smul.with.overflow", a, b);
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return floor_divide(host, false, a, b);
  case TF_SCALAR_BINARY_MOD:
    return floor_divide(host, true, a, b);
  case TF_SCALAR_BINARY_SHL:
    return shift(host, true, a, b);
  case TF_SCALAR_BINARY_SHR:
    return shift(host, false, a, b);
  case TF_SCALAR_BINARY_BIT_AND:
    return LLVMBuildAnd(host->builder, a, b, "");
  case TF_SCALAR_BINARY_BIT_OR:
    return LLVMBuildOr(host->builder, a, b, "");
  case TF_SCALAR_BINARY_BIT_XOR:
    return LLVMBuildXor(host->builder, a, b, "");
  default: /* MIN, MAX */
    return LLVMBuildSelect(host->builder, LLVMBuildICmp(host->builder, better, a, b, ""), a, b, "");
  }
}

/* ---- Dims ---- */
static LLVMValueRef dim_var(const tf_host *host, const char *name) {
  for (size_t i = 0; i < host->dims.count; i++)
    if (strcmp(host->dims.items[i].name, name) == 0) return host->dims.items[i].value;
  return LLVMGetPoison(host->module->word); /* verified functions have all of their names */
}

static LLVMValueRef atom_value(tf_host *host, const tf_atom *atom) {
  static const tf_scalar_binary_kind kinds[] = {[TF_ATOM_FLOOR_DIV] = TF_SCALAR_BINARY_FLOOR_DIV,
                                                [TF_ATOM_MOD] = TF_SCALAR_BINARY_MOD,
                                                [TF_ATOM_MIN] = TF_SCALAR_BINARY_MIN,
                                                [TF_ATOM_MAX] = TF_SCALAR_BINARY_MAX};
  if (atom->kind == TF_ATOM_VAR) return dim_var(host, atom->name);
  LLVMValueRef value = tf_host_dim_value(host, atom->operands[0]);
  for (unsigned i = 1; i < atom->count; i++)
    value = tf_host_int_binary(host, kinds[atom->kind], value, tf_host_dim_value(host, atom->operands[i]));
  return value;
}

static LLVMValueRef term_value(tf_host *host, const tf_term *term) {
  LLVMValueRef product = NULL;
  for (unsigned i = 0; i < term->monomial->degree; i++) {
    LLVMValueRef factor = atom_value(host, term->monomial->atoms[i]);
    product = product ? tf_host_int_binary(host, TF_SCALAR_BINARY_MUL, product, factor) : factor;
  }
  if (term->coefficient == 1) return product;
  return tf_host_int_binary(host, TF_SCALAR_BINARY_MUL, product, tf_host_int(host, term->coefficient));
}

LLVMValueRef tf_host_dim_value(tf_host *host, const tf_dim *dim) {
  LLVMValueRef sum = dim->constant || !dim->term_count ? tf_host_int(host, dim->constant) : NULL;
  for (unsigned i = 0; i < dim->term_count; i++) {
    LLVMValueRef term = term_value(host, &dim->terms[i]);
    sum = sum ? tf_host_int_binary(host, TF_SCALAR_BINARY_ADD, sum, term) : term;
  }
  return sum;
}

/* ---- Bits ---- */
static LLVMTypeRef int_type(const tf_host *host, unsigned bits) {
  return LLVMIntTypeInContext(host->module->llvm, bits);
}

static LLVMTypeRef f32_type(const tf_host *host) {
  return LLVMFloatTypeInContext(host->module->llvm);
}

/* Keeps the low bits and extends them as the dtype does. */
static LLVMValueRef wrap(tf_host *host, LLVMValueRef value, tf_dtype dtype) {
  unsigned bits = tf_dtype_bits(dtype);
  if (bits == 64) return value;
  LLVMValueRef low = LLVMBuildTrunc(host->builder, value, int_type(host, bits), "");
  bool is_signed = tf_dtype_get_class(dtype) == TF_CLASS_SINT;
  return is_signed ? LLVMBuildSExt(host->builder, low, host->module->word, "")
                   : LLVMBuildZExt(host->builder, low, host->module->word, "");
}

static LLVMValueRef float_bits(tf_host *host, tf_host_scalar x) {
  LLVMBuilderRef b = host->builder;
  if (x.dtype == TF_DTYPE_F64) return LLVMBuildBitCast(b, x.value, host->module->word, "");
  if (x.dtype != TF_DTYPE_F32) {
    LLVMValueRef arguments[] = {tf_host_int(host, x.dtype), x.value};
    return tf_host_api(host, TF_HOST_MEMBER(encode), host->module->word, false, 2, arguments);
  }
  LLVMValueRef narrow = LLVMBuildFPTrunc(b, x.value, f32_type(host), "");
  return LLVMBuildZExt(b, LLVMBuildBitCast(b, narrow, int_type(host, 32), ""), host->module->word, "");
}

LLVMValueRef tf_host_bits(tf_host *host, tf_host_scalar x) {
  if (x.bits) return x.bits;
  switch (tf_dtype_get_class(x.dtype)) {
  case TF_CLASS_BOOL:
    return LLVMBuildZExt(host->builder, x.value, host->module->word, "");
  case TF_CLASS_FLOAT:
    return float_bits(host, x);
  default:
    break;
  }
  unsigned width = tf_dtype_bits(x.dtype);
  if (width == 64) return x.value;
  return LLVMBuildAnd(host->builder, x.value, tf_host_int(host, ((int64_t)1 << width) - 1), "");
}

tf_host_scalar tf_host_from_bits(tf_host *host, tf_dtype dtype, LLVMValueRef bits) {
  LLVMBuilderRef b = host->builder;
  tf_host_scalar x = {.dtype = dtype, .bits = bits};
  if (dtype == TF_DTYPE_BOOL) {
    x.value = LLVMBuildTrunc(b, bits, host->module->bit, "");
  } else if (tf_dtype_get_class(dtype) != TF_CLASS_FLOAT) {
    x.value = wrap(host, bits, dtype);
  } else if (dtype == TF_DTYPE_F64) {
    x.value = LLVMBuildBitCast(b, bits, host->module->real, "");
  } else if (dtype == TF_DTYPE_F32) {
    LLVMValueRef narrow = LLVMBuildTrunc(b, bits, int_type(host, 32), "");
    x.value = LLVMBuildFPExt(b, LLVMBuildBitCast(b, narrow, f32_type(host), ""), host->module->real, "");
  } else {
    LLVMValueRef arguments[] = {tf_host_int(host, dtype), bits};
    x.value = tf_host_api(host, TF_HOST_MEMBER(decode), host->module->real, false, 2, arguments);
  }
  return x;
}

/* ---- Conversions ---- */
static LLVMValueRef round_to(tf_host *host, LLVMValueRef value, tf_dtype dtype) {
  if (dtype == TF_DTYPE_F64) return value;
  if (dtype == TF_DTYPE_F32)
    return LLVMBuildFPExt(host->builder, LLVMBuildFPTrunc(host->builder, value, f32_type(host), ""), host->module->real,
                          "");
  LLVMValueRef arguments[] = {tf_host_int(host, dtype), value};
  return tf_host_api(host, TF_HOST_MEMBER(round), host->module->real, false, 2, arguments);
}

static LLVMValueRef int_to_float(tf_host *host, LLVMValueRef value, bool is_unsigned, tf_dtype to) {
  LLVMBuilderRef b = host->builder;
  if (to != TF_DTYPE_F64 && to != TF_DTYPE_F32) {
    LLVMValueRef arguments[] = {tf_host_int(host, to), value, tf_host_int(host, is_unsigned)};
    return tf_host_api(host, TF_HOST_MEMBER(from_int), host->module->real, false, 3, arguments);
  }
  LLVMTypeRef type = to == TF_DTYPE_F64 ? host->module->real : f32_type(host);
  LLVMValueRef number = is_unsigned ? LLVMBuildUIToFP(b, value, type, "") : LLVMBuildSIToFP(b, value, type, "");
  return to == TF_DTYPE_F64 ? number : LLVMBuildFPExt(b, number, host->module->real, "");
}

/* Truncates and saturates at the ends of the dtype; NaN becomes 0. */
static LLVMValueRef float_to_int(tf_host *host, LLVMValueRef value, tf_dtype to) {
  bool is_signed = tf_dtype_get_class(to) == TF_CLASS_SINT;
  LLVMTypeRef types[] = {int_type(host, tf_dtype_bits(to)), host->module->real};
  LLVMValueRef number = tf_host_intrinsic(host, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", 2, types, 1, &value);
  if (tf_dtype_bits(to) == 64) return number;
  return is_signed ? LLVMBuildSExt(host->builder, number, host->module->word, "")
                   : LLVMBuildZExt(host->builder, number, host->module->word, "");
}

static LLVMValueRef to_bool(tf_host *host, tf_host_scalar x) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x.value));
  if (tf_dtype_get_class(x.dtype) == TF_CLASS_FLOAT)
    return LLVMBuildFCmp(host->builder, LLVMRealUNE, x.value, zero, "");
  return LLVMBuildICmp(host->builder, LLVMIntNE, x.value, zero, "");
}

tf_host_scalar tf_host_convert(tf_host *host, tf_host_scalar x, tf_dtype to) {
  if (x.dtype == to) return x;
  tf_host_scalar out = {.dtype = to};
  if (x.dtype == TF_DTYPE_BOOL) x.value = LLVMBuildZExt(host->builder, x.value, host->module->word, "");
  bool from_float = tf_dtype_get_class(x.dtype) == TF_CLASS_FLOAT;
  if (to == TF_DTYPE_BOOL)
    out.value = to_bool(host, x);
  else if (tf_dtype_get_class(to) != TF_CLASS_FLOAT)
    out.value = from_float ? float_to_int(host, x.value, to) : wrap(host, x.value, to);
  else if (from_float)
    out.value = round_to(host, x.value, to);
  else
    out.value = int_to_float(host, x.value, x.dtype == TF_DTYPE_U64, to);
  return out;
}
