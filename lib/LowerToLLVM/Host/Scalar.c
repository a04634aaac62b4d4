/* Scalar expressions of host functions. Whatever may fail, loads, divisions, sums, is evaluated only when it counts: the
 * operands of `and`, `or` and `a if c else b` stand in branches. */
#include "LowerToLLVM/Host/Host.h"

#include "IR/Infer.h"

static tf_dtype dtype_of(const tf_expr *expr) {
  return tf_type_dtype(expr->type);
}

static bool is_float(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
}

static tf_host_scalar scalar(tf_dtype dtype, LLVMValueRef value) {
  return (tf_host_scalar){.dtype = dtype, .value = value};
}

/* A double as the nearest number of the dtype. */
static tf_host_scalar rounded(tf_host *host, tf_dtype dtype, LLVMValueRef value) {
  return tf_host_convert(host, scalar(TF_DTYPE_F64, value), dtype);
}

/* ---- Leaves ---- */
static tf_host_scalar constant(tf_host *host, const tf_expr *expr) {
  tf_dtype dtype = dtype_of(expr);
  if (dtype == TF_DTYPE_BOOL) return scalar(dtype, LLVMConstInt(host->module->bit, expr->constant.i != 0, false));
  if (!is_float(dtype)) return scalar(dtype, tf_host_int(host, expr->constant.i));
  return rounded(host, dtype, LLVMConstReal(host->module->real, expr->constant.f));
}

static tf_host_scalar shape_of(tf_host *host, const tf_expr *expr) {
  int param = tf_host_param_index(host, expr->shape_of.param);
  size_t member = (size_t)param * sizeof(tf_compiled_value) + offsetof(tf_compiled_value, shape);
  LLVMValueRef shape = tf_host_load(host, host->module->pointer, host->values, member);
  size_t axis = expr->shape_of.axis * sizeof(int64_t);
  return scalar(dtype_of(expr), tf_host_load(host, host->module->word, shape, axis));
}

/* ---- Conditional evaluation ---- */

/* condition ? a : b with only one of them evaluated; null stands for the constant `otherwise`. */
static tf_host_scalar choose(tf_host *host, LLVMValueRef condition, const tf_expr *a, const tf_expr *b,
                             LLVMValueRef otherwise, tf_dtype dtype) {
  const tf_expr *operands[2] = {a, b};
  LLVMBasicBlockRef blocks[2] = {tf_host_block(host, "then"), tf_host_block(host, "else")}, ends[2];
  LLVMBasicBlockRef join = tf_host_block(host, "join");
  LLVMValueRef values[2];
  LLVMBuildCondBr(host->builder, condition, blocks[0], blocks[1]);
  for (int i = 0; i < 2; i++) {
    LLVMPositionBuilderAtEnd(host->builder, blocks[i]);
    values[i] = operands[i] ? tf_host_convert(host, tf_host_scalar_of(host, operands[i]), dtype).value : otherwise;
    ends[i] = LLVMGetInsertBlock(host->builder);
    LLVMBuildBr(host->builder, join);
  }
  LLVMMoveBasicBlockAfter(join, LLVMGetLastBasicBlock(host->llvm_function));
  LLVMPositionBuilderAtEnd(host->builder, join);
  LLVMValueRef phi = LLVMBuildPhi(host->builder, LLVMTypeOf(values[0]), "");
  LLVMAddIncoming(phi, values, ends, 2);
  return scalar(dtype, phi);
}

static tf_host_scalar logic(tf_host *host, bool is_and, const tf_expr *lhs, const tf_expr *rhs) {
  LLVMValueRef decided = LLVMConstInt(host->module->bit, !is_and, false), a = tf_host_condition(host, lhs);
  return choose(host, a, is_and ? rhs : NULL, is_and ? NULL : rhs, decided, TF_DTYPE_BOOL);
}

static tf_host_scalar where(tf_host *host, const tf_expr *call) {
  LLVMValueRef condition = tf_host_condition(host, call->call.args[TF_ARG_WHERE_cond]);
  return choose(host, condition, call->call.args[TF_ARG_WHERE_a], call->call.args[TF_ARG_WHERE_b], NULL,
                dtype_of(call));
}

/* ---- Comparisons ---- */
typedef struct comparison {
  LLVMIntPredicate of_signed, of_unsigned;
  LLVMRealPredicate of_float;
} comparison;

static bool comparison_of(tf_scalar_binary_kind kind, comparison *out) {
  static const struct {
    tf_scalar_binary_kind kind;
    comparison predicates;
  } table[] = {
      {TF_SCALAR_BINARY_EQ, {LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ}},
      {TF_SCALAR_BINARY_NE, {LLVMIntNE, LLVMIntNE, LLVMRealUNE}},
      {TF_SCALAR_BINARY_LT, {LLVMIntSLT, LLVMIntULT, LLVMRealOLT}},
      {TF_SCALAR_BINARY_LE, {LLVMIntSLE, LLVMIntULE, LLVMRealOLE}},
      {TF_SCALAR_BINARY_GT, {LLVMIntSGT, LLVMIntUGT, LLVMRealOGT}},
      {TF_SCALAR_BINARY_GE, {LLVMIntSGE, LLVMIntUGE, LLVMRealOGE}},
  };
  for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].kind == kind) {
      *out = table[i].predicates;
      return true;
    }
  return false;
}

static tf_host_scalar compare(tf_host *host, const comparison *how, tf_dtype common, LLVMValueRef a, LLVMValueRef b) {
  if (is_float(common)) return scalar(TF_DTYPE_BOOL, LLVMBuildFCmp(host->builder, how->of_float, a, b, ""));
  bool is_unsigned = common == TF_DTYPE_U64 || common == TF_DTYPE_BOOL;
  LLVMIntPredicate predicate = is_unsigned ? how->of_unsigned : how->of_signed;
  return scalar(TF_DTYPE_BOOL, LLVMBuildICmp(host->builder, predicate, a, b, ""));
}

/* ---- Operators ---- */
static LLVMValueRef float_operator(tf_host *host, tf_scalar_binary_kind kind, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef arguments[] = {a, b};
  LLVMTypeRef real = host->module->real;
  switch (kind) {
  case TF_SCALAR_BINARY_ADD:
    return LLVMBuildFAdd(host->builder, a, b, "");
  case TF_SCALAR_BINARY_SUB:
    return LLVMBuildFSub(host->builder, a, b, "");
  case TF_SCALAR_BINARY_MUL:
    return LLVMBuildFMul(host->builder, a, b, "");
  case TF_SCALAR_BINARY_DIV:
    return LLVMBuildFDiv(host->builder, a, b, "");
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return tf_host_api(host, TF_HOST_MEMBER(floor_div), real, false, 2, arguments);
  case TF_SCALAR_BINARY_MOD:
    return tf_host_api(host, TF_HOST_MEMBER(floor_mod), real, false, 2, arguments);
  default: /* NaN propagates */
    return tf_host_intrinsic(host, kind == TF_SCALAR_BINARY_MIN ? "llvm.minimum" : "llvm.maximum", 1, &real, 2,
                             arguments);
  }
}

static tf_host_scalar binary(tf_host *host, const tf_expr *call) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  const tf_expr *lhs = call->call.args[TF_ARG_SCALAR_BINARY_lhs], *rhs = call->call.args[TF_ARG_SCALAR_BINARY_rhs];
  if (kind == TF_SCALAR_BINARY_AND || kind == TF_SCALAR_BINARY_OR)
    return logic(host, kind == TF_SCALAR_BINARY_AND, lhs, rhs);
  tf_dtype common = TF_DTYPE_I64;
  comparison how;
  tf_dtype_common(dtype_of(lhs), dtype_of(rhs), &common);
  bool compares = comparison_of(kind, &how);
  tf_host_scalar a = tf_host_scalar_of(host, lhs), b = tf_host_scalar_of(host, rhs);
  if (is_float(common) || common == TF_DTYPE_BOOL) {
    a = tf_host_convert(host, a, common);
    b = tf_host_convert(host, b, common);
  }
  if (compares) return compare(host, &how, common, a.value, b.value);
  if (is_float(common)) return rounded(host, common, float_operator(host, kind, a.value, b.value));
  return scalar(TF_DTYPE_I64, tf_host_int_binary(host, kind, a.value, b.value));
}

static tf_host_scalar unary(tf_host *host, const tf_expr *call) {
  tf_scalar_unary_kind kind = (tf_scalar_unary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i;
  tf_host_scalar x = tf_host_scalar_of(host, call->call.args[TF_ARG_SCALAR_UNARY_x]);
  LLVMBuilderRef b = host->builder;
  if (kind == TF_SCALAR_UNARY_NOT) return scalar(TF_DTYPE_BOOL, LLVMBuildNot(b, x.value, ""));
  if (is_float(x.dtype)) {
    LLVMValueRef value = kind == TF_SCALAR_UNARY_NEG
                             ? LLVMBuildFNeg(b, x.value, "")
                             : tf_host_intrinsic(host, "llvm.fabs", 1, &host->module->real, 1, &x.value);
    return scalar(x.dtype, value);
  }
  LLVMValueRef zero = tf_host_int(host, 0);
  if (kind == TF_SCALAR_UNARY_NEG)
    return scalar(TF_DTYPE_I64, tf_host_int_binary(host, TF_SCALAR_BINARY_SUB, zero, x.value));
  LLVMValueRef least = LLVMBuildICmp(b, LLVMIntEQ, x.value, tf_host_int(host, INT64_MIN), "");
  tf_host_fail_if(host, least, TF_COMPILED_OVERFLOW);
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, x.value, zero, "");
  return scalar(TF_DTYPE_I64, LLVMBuildSelect(b, negative, LLVMBuildSub(b, zero, x.value, ""), x.value, ""));
}

/* ---- Every scalar ---- */
static tf_host_scalar call_value(tf_host *host, const tf_expr *call) {
  switch (call->call.op) {
  case TF_OP_SCALAR_BINARY:
    return binary(host, call);
  case TF_OP_SCALAR_UNARY:
    return unary(host, call);
  case TF_OP_WHERE:
    return where(host, call);
  case TF_OP_CAST:
    return tf_host_convert(host, tf_host_scalar_of(host, call->call.args[TF_ARG_CAST_x]), dtype_of(call));
  case TF_OP_LOAD:
    return tf_host_load_element(host, call);
  case TF_OP_DIM_VALUE:
    return scalar(dtype_of(call), tf_host_dim_value(host, call->call.attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim));
  default: /* verified host code has no other */
    return scalar(dtype_of(call), LLVMGetPoison(host->module->word));
  }
}

tf_host_scalar tf_host_scalar_of(tf_host *host, const tf_expr *expr) {
  const tf_host_binding *binding;
  switch (expr->kind) {
  case TF_EXPR_CONSTANT:
    return constant(host, expr);
  case TF_EXPR_SHAPE_OF:
    return shape_of(host, expr);
  case TF_EXPR_CALL:
    return call_value(host, expr);
  default:
    binding = tf_host_find(host, expr);
    return binding ? binding->scalar : scalar(dtype_of(expr), LLVMGetPoison(host->module->word));
  }
}

/* A float literal has no rounding of its own behind it: 0.1 is the f64 next to a tenth, not the f32. */
tf_host_scalar tf_host_scalar_as(tf_host *host, const tf_expr *expr, tf_dtype dtype) {
  if (expr->kind == TF_EXPR_CONSTANT && is_float(dtype_of(expr)))
    return rounded(host, dtype, LLVMConstReal(host->module->real, expr->constant.f));
  return tf_host_convert(host, tf_host_scalar_of(host, expr), dtype);
}

LLVMValueRef tf_host_integer(tf_host *host, const tf_expr *expr) {
  return tf_host_scalar_of(host, expr).value;
}

LLVMValueRef tf_host_condition(tf_host *host, const tf_expr *expr) {
  return tf_host_scalar_of(host, expr).value;
}
