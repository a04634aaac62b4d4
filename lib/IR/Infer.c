/* Inference by op, and the operand checks that the op table alone decides. */
#include "IR/Infer.h"

#include "IR/KindTables.h"

static bool is_tensor(const tf_expr *expr) {
  return tf_type_is_tensor(expr->type) && !tf_type_is_scalar(expr->type);
}

static bool is_scalar_of(const tf_expr *expr, bool integer) {
  if (!tf_type_is_scalar(expr->type)) return false;
  tf_dtype_class class = tf_dtype_get_class(tf_type_dtype(expr->type));
  return integer ? class == TF_CLASS_SINT || class == TF_CLASS_UINT : class == TF_CLASS_BOOL;
}

/* In the order of tf_operand_predicate. */
static const char *const wanted[] = {
    [TF_PRED_TENSOR] = "a tensor",
    [TF_PRED_DST] = "a tensor to write",
    [TF_PRED_MEMORY] = "a tensor, a memory span or a pointer",
    [TF_PRED_OPERAND] = "a tensor or a scalar",
    [TF_PRED_SCALAR] = "a scalar",
    [TF_PRED_INDEX] = "an integer scalar",
    [TF_PRED_BOOL] = "a bool scalar",
    [TF_PRED_MESH] = "the binding of a mesh scope",
    [TF_PRED_SYMBOL] = "a function's name",
};

static bool satisfies(const tf_expr *expr, tf_operand_predicate predicate) {
  switch (predicate) {
  case TF_PRED_TENSOR:
  case TF_PRED_DST:
  case TF_PRED_MEMORY:
    return is_tensor(expr);
  case TF_PRED_OPERAND:
    return tf_type_is_tensor(expr->type);
  case TF_PRED_SCALAR:
    return tf_type_is_scalar(expr->type);
  case TF_PRED_INDEX:
    return is_scalar_of(expr, true);
  case TF_PRED_BOOL:
    return is_scalar_of(expr, false);
  case TF_PRED_MESH:
    return expr->kind == TF_EXPR_VAR && expr->var.mesh;
  case TF_PRED_SYMBOL:
    return expr->kind == TF_EXPR_SYMBOL_REF;
  }
  return false;
}

const char *tf_expr_describe(tf_context *context, const tf_expr *expr) {
  if (!expr) return "nothing";
  if (expr->kind == TF_EXPR_SYMBOL_REF) return "a function";
  switch (tf_type_get_kind(expr->type)) {
  case TF_TYPE_TENSOR:
    if (tf_type_is_scalar(expr->type))
      return tf_arena_printf(&context->arena, "a scalar of %s", tf_dtype_name(tf_type_dtype(expr->type)));
    return tf_arena_printf(&context->arena, "a tensor of rank %u", tf_type_rank(expr->type));
  case TF_TYPE_TUPLE:
    return "a tuple";
  case TF_TYPE_MESH:
    return "a mesh";
  case TF_TYPE_CALLABLE:
    return "a function";
  case TF_TYPE_UNIT:
    break;
  }
  return "no value";
}

/* The op as the text has it: operators by their sign. */
static const char *spelling(tf_context *context, const tf_invocation *invocation) {
  bool binary = invocation->op == TF_OP_SCALAR_BINARY, unary = invocation->op == TF_OP_SCALAR_UNARY;
  if (!binary && !unary) return tf_op_get_info(invocation->op)->name;
  int64_t kind = invocation->attrs[binary ? TF_ATTRIBUTE_SCALAR_BINARY_kind : TF_ATTRIBUTE_SCALAR_UNARY_kind].i;
  return tf_arena_printf(&context->arena, "'%s'",
                         binary ? tf_scalar_binary_spelling((tf_scalar_binary_kind)kind)
                                : tf_scalar_unary_spelling((tf_scalar_unary_kind)kind));
}

/* What computes with tensors where an operator meets one. */
static const char *tensor_op(tf_context *context, const tf_invocation *invocation, const tf_expr *operand) {
  tf_binary_kind binary;
  tf_unary_kind unary;
  const char *name, *op = NULL;
  if (!operand || !is_tensor(operand)) return "";
  if (invocation->op == TF_OP_SCALAR_BINARY) {
    name = tf_scalar_binary_name((tf_scalar_binary_kind)invocation->attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i);
    op = tf_binary_from_name(name, &binary) ? "binary(lhs, rhs, dst" : NULL;
  } else if (invocation->op == TF_OP_SCALAR_UNARY) {
    name = tf_scalar_unary_name((tf_scalar_unary_kind)invocation->attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i);
    op = tf_unary_from_name(name, &unary) ? "unary(src, dst" : NULL;
  }
  return op ? tf_arena_printf(&context->arena, "; T.%s, kind=\"%s\") computes with tensors", op, name) : "";
}

static bool check_operand(tf_context *context, const tf_invocation *invocation, const tf_operand_info *info,
                          const tf_expr *operand) {
  if (!operand && info->arity == TF_ARITY_OPTIONAL) return true;
  if (operand && satisfies(operand, info->predicate)) return true;
  bool own_place = operand && operand->loc.line && operand->kind != TF_EXPR_VAR; /* a variable's is where it is bound */
  tf_report(context, own_place ? operand->loc : invocation->loc, OPERAND_KIND, info->name,
            spelling(context, invocation), wanted[info->predicate], tf_expr_describe(context, operand),
            tensor_op(context, invocation, operand));
  return false;
}

bool tf_operands_check(tf_context *context, const tf_invocation *invocation) {
  const tf_op_info *info = tf_op_get_info(invocation->op);
  unsigned count = info->operand_count;
  bool variadic = count && info->operands[count - 1].arity == TF_ARITY_VARIADIC;
  unsigned least = variadic ? count - 1 : count;
  if (invocation->arg_count < least || (!variadic && invocation->arg_count > count)) {
    tf_report(context, invocation->loc, OPERAND_COUNT, info->name, variadic ? "at least " : "", least,
              invocation->arg_count);
    return false;
  }
  bool good = true;
  for (unsigned i = 0; i < invocation->arg_count; i++)
    good &= check_operand(context, invocation, &info->operands[i < count ? i : count - 1], invocation->args[i]);
  return good;
}

static tf_infer_fn *const infer_functions[] = {
#define FUNCTION_VALUE(ID)                        tf_infer_##ID
#define FUNCTION_SCALAR(ID)                       tf_infer_##ID
#define FUNCTION_EFFECT(ID)                       NULL
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) [TF_OP_##ID] = FUNCTION_##FORM(ID),
#include <tilefoundry/Ops.def>
};

const tf_type *tf_infer(tf_context *context, const tf_invocation *invocation) {
  if (!tf_operands_check(context, invocation)) return NULL;
  tf_infer_fn *infer = infer_functions[invocation->op];
  return infer ? infer(context, invocation) : tf_type_unit(context);
}
