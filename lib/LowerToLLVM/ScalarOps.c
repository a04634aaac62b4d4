/* The SCALAR ops. Integer results come from Scalar.c, which knows widths; here are comparisons, logic, floats, choices, casts
 * and loads. Operands that may fault or touch memory are evaluated only when they count: by branches; pure ones by selects. */
#include "IR/Infer.h"
#include "LowerToLLVM/Access.h"
#include "LowerToLLVM/IntMath.h"
#include "LowerToLLVM/Numeric.h"

static tf_dtype dtype_of(const tf_expr *expr) {
  return tf_type_dtype(expr->type);
}

static bool is_float(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
}

/* ---- Conditional evaluation ---- */
/* Whether evaluating the expression can be seen: loads, and divisions that may trap. */
static bool is_pure(const tf_lowering *lowering, const tf_expr *expr) {
  if (expr->kind != TF_EXPR_CALL) return true;
  if (expr->call.op == TF_OP_LOAD) return false;
  if (expr->call.op == TF_OP_SCALAR_BINARY && lowering->module->options->check_div) {
    tf_scalar_binary_kind kind = (tf_scalar_binary_kind)expr->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
    if (kind == TF_SCALAR_BINARY_FLOOR_DIV || kind == TF_SCALAR_BINARY_MOD) return false;
  }
  for (unsigned i = 0; i < expr->call.arg_count; i++)
    if (expr->call.args[i] && !is_pure(lowering, expr->call.args[i])) return false;
  return true;
}

/* condition ? a : b with only one of them evaluated; null stands for the constant that `otherwise` names. */
static LLVMValueRef branch_value(tf_lowering *lowering, LLVMValueRef condition, const tf_expr *a, const tf_expr *b,
                                 LLVMValueRef otherwise, tf_dtype dtype) {
  LLVMBasicBlockRef then_block = tf_lower_new_block(lowering, "then"),
                    else_block = tf_lower_new_block(lowering, "else");
  LLVMBasicBlockRef join = tf_lower_new_block(lowering, "join"), ends[2];
  LLVMValueRef values[2];
  LLVMBuildCondBr(lowering->builder, condition, then_block, else_block);
  LLVMPositionBuilderAtEnd(lowering->builder, then_block);
  values[0] = a ? tf_lower_scalar_as(lowering, a, dtype) : otherwise;
  ends[0] = LLVMGetInsertBlock(lowering->builder);
  LLVMBuildBr(lowering->builder, join);
  LLVMPositionBuilderAtEnd(lowering->builder, else_block);
  values[1] = b ? tf_lower_scalar_as(lowering, b, dtype) : otherwise;
  ends[1] = LLVMGetInsertBlock(lowering->builder);
  LLVMBuildBr(lowering->builder, join);
  LLVMPositionBuilderAtEnd(lowering->builder, join);
  LLVMValueRef phi = LLVMBuildPhi(lowering->builder, tf_llvm_value_type(lowering, dtype), "");
  LLVMAddIncoming(phi, values, ends, 2);
  return phi;
}

static LLVMValueRef logic(tf_lowering *lowering, bool is_and, const tf_expr *lhs, const tf_expr *rhs) {
  LLVMTypeRef bit = tf_llvm_int(lowering, 1);
  LLVMValueRef decided = LLVMConstInt(bit, !is_and, false), a = tf_lower_scalar(lowering, lhs);
  int64_t known;
  if (tf_lower_is_constant(a, &known)) return (known != 0) == is_and ? tf_lower_scalar(lowering, rhs) : decided;
  if (!is_pure(lowering, rhs))
    return branch_value(lowering, a, is_and ? rhs : NULL, is_and ? NULL : rhs, decided, TF_DTYPE_BOOL);
  LLVMValueRef b = tf_lower_scalar(lowering, rhs);
  return LLVMBuildSelect(lowering->builder, a, is_and ? b : decided, is_and ? decided : b, "");
}

LLVMValueRef tf_lower_WHERE(tf_lowering *lowering, const tf_expr *call) {
  const tf_expr *a = call->call.args[TF_ARG_WHERE_a], *b = call->call.args[TF_ARG_WHERE_b];
  LLVMValueRef condition = tf_lower_scalar(lowering, call->call.args[TF_ARG_WHERE_cond]);
  tf_dtype dtype = dtype_of(call);
  int64_t known;
  if (tf_lower_is_constant(condition, &known)) return tf_lower_scalar_as(lowering, known ? a : b, dtype);
  if (!is_pure(lowering, a) || !is_pure(lowering, b)) return branch_value(lowering, condition, a, b, NULL, dtype);
  LLVMValueRef left = tf_lower_scalar_as(lowering, a, dtype), right = tf_lower_scalar_as(lowering, b, dtype);
  return LLVMBuildSelect(lowering->builder, condition, left, right, "");
}

/* ---- Operators ---- */
typedef struct comparison {
  LLVMIntPredicate of_signed, of_unsigned;
} comparison;

static comparison comparison_of(tf_scalar_binary_kind kind) {
  switch (kind) {
  case TF_SCALAR_BINARY_EQ:
    return (comparison){LLVMIntEQ, LLVMIntEQ};
  case TF_SCALAR_BINARY_NE:
    return (comparison){LLVMIntNE, LLVMIntNE};
  case TF_SCALAR_BINARY_LT:
    return (comparison){LLVMIntSLT, LLVMIntULT};
  case TF_SCALAR_BINARY_LE:
    return (comparison){LLVMIntSLE, LLVMIntULE};
  case TF_SCALAR_BINARY_GT:
    return (comparison){LLVMIntSGT, LLVMIntUGT};
  default:
    return (comparison){LLVMIntSGE, LLVMIntUGE};
  }
}

static LLVMValueRef compare_integers(tf_lowering *lowering, tf_scalar_binary_kind kind, const tf_expr *lhs,
                                     const tf_expr *rhs, tf_dtype common) {
  bool narrow = tf_facts_fit(tf_lower_facts(lowering, lhs), 32) && tf_facts_fit(tf_lower_facts(lowering, rhs), 32);
  bool is_unsigned = common == TF_DTYPE_U64 && !narrow;
  LLVMValueRef a = tf_lower_int(lowering, lhs, narrow ? 32 : 64), b = tf_lower_int(lowering, rhs, narrow ? 32 : 64);
  comparison predicate = comparison_of(kind);
  return LLVMBuildICmp(lowering->builder, is_unsigned ? predicate.of_unsigned : predicate.of_signed, a, b, "");
}

static bool element_kind(tf_scalar_binary_kind kind, tf_binary_kind *out) {
  static const struct {
    tf_scalar_binary_kind scalar;
    tf_binary_kind element;
  } table[] = {{TF_SCALAR_BINARY_EQ, TF_BINARY_EQ},   {TF_SCALAR_BINARY_NE, TF_BINARY_NE},
               {TF_SCALAR_BINARY_LT, TF_BINARY_LT},   {TF_SCALAR_BINARY_LE, TF_BINARY_LE},
               {TF_SCALAR_BINARY_GT, TF_BINARY_GT},   {TF_SCALAR_BINARY_GE, TF_BINARY_GE},
               {TF_SCALAR_BINARY_ADD, TF_BINARY_ADD}, {TF_SCALAR_BINARY_SUB, TF_BINARY_SUB},
               {TF_SCALAR_BINARY_MUL, TF_BINARY_MUL}, {TF_SCALAR_BINARY_DIV, TF_BINARY_DIV},
               {TF_SCALAR_BINARY_MOD, TF_BINARY_MOD}, {TF_SCALAR_BINARY_FLOOR_DIV, TF_BINARY_FLOOR_DIV},
               {TF_SCALAR_BINARY_MIN, TF_BINARY_MIN}, {TF_SCALAR_BINARY_MAX, TF_BINARY_MAX}};
  for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].scalar == kind) return *out = table[i].element, true;
  return false;
}

static bool is_comparison(tf_scalar_binary_kind kind) {
  return kind >= TF_SCALAR_BINARY_EQ && kind <= TF_SCALAR_BINARY_GE;
}

LLVMValueRef tf_lower_SCALAR_BINARY(tf_lowering *lowering, const tf_expr *call) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  const tf_expr *lhs = call->call.args[TF_ARG_SCALAR_BINARY_lhs], *rhs = call->call.args[TF_ARG_SCALAR_BINARY_rhs];
  if (kind == TF_SCALAR_BINARY_AND || kind == TF_SCALAR_BINARY_OR)
    return logic(lowering, kind == TF_SCALAR_BINARY_AND, lhs, rhs);
  tf_dtype common = TF_DTYPE_I64;
  tf_binary_kind element = TF_BINARY_ADD;
  tf_dtype_common(dtype_of(lhs), dtype_of(rhs), &common);
  if (!is_float(common) && common != TF_DTYPE_BOOL)
    return is_comparison(kind) ? compare_integers(lowering, kind, lhs, rhs, common) : tf_lower_int(lowering, call, 64);
  element_kind(kind, &element);
  LLVMValueRef a = tf_lower_scalar_as(lowering, lhs, common), b = tf_lower_scalar_as(lowering, rhs, common);
  return tf_compute_binary(lowering, element, common, a, b, 1);
}

LLVMValueRef tf_lower_SCALAR_UNARY(tf_lowering *lowering, const tf_expr *call) {
  tf_scalar_unary_kind kind = (tf_scalar_unary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i;
  const tf_expr *x = call->call.args[TF_ARG_SCALAR_UNARY_x];
  tf_dtype dtype = dtype_of(x);
  if (kind == TF_SCALAR_UNARY_NOT) return LLVMBuildNot(lowering->builder, tf_lower_scalar(lowering, x), "");
  if (!is_float(dtype)) return tf_lower_int(lowering, call, 64);
  tf_unary_kind element = kind == TF_SCALAR_UNARY_NEG ? TF_UNARY_NEG : TF_UNARY_ABS;
  return tf_compute_unary(lowering, element, dtype, tf_lower_scalar(lowering, x), 1);
}

LLVMValueRef tf_lower_CAST(tf_lowering *lowering, const tf_expr *call) {
  return tf_lower_scalar_as(lowering, call->call.args[TF_ARG_CAST_x], dtype_of(call));
}

/* ---- Loads and ids ---- */
LLVMValueRef tf_lower_LOAD(tf_lowering *lowering, const tf_expr *call) {
  tf_invocation invocation = tf_invocation_of_call(call);
  const tf_expr *const *indices;
  unsigned count = tf_invocation_variadic(&invocation, &indices);
  tf_tensor tensor = tf_tensor_of(lowering, call->call.args[TF_ARG_LOAD_x]);
  LLVMValueRef value = tf_tensor_load_element(lowering, &tensor, count, indices);
  return tf_to_value(lowering, value, tensor.dtype, 1);
}

LLVMValueRef tf_lower_PROGRAM_ID(tf_lowering *lowering, const tf_expr *call) {
  return tf_lower_int(lowering, call, tf_dtype_bits(dtype_of(call)));
}

LLVMValueRef tf_lower_COORD(tf_lowering *lowering, const tf_expr *call) {
  return tf_lower_int(lowering, call, tf_dtype_bits(dtype_of(call)));
}

LLVMValueRef tf_lower_DIM_VALUE(tf_lowering *lowering, const tf_expr *call) {
  return tf_lower_int(lowering, call, tf_dtype_bits(dtype_of(call)));
}
