/* Types of scalar expressions.
 *
 *   integers     arithmetic and bit operations are i64, whatever the operands' widths
 *   floats       the common type of the operands; an integer beside a float counts as that float type
 *   bool         and, or, not and comparisons give it; it never mixes with numbers
 *   literals     a float literal has the type of the float operand beside it, else f32; an integer literal is i64
 *
 * The common type of two floats is the one of them that holds every value of the other, else f32 (f16 with bf16); of
 * two integers the wider, or with mixed signs the least signed one that holds both, at most i64. */
#include "IR/Construct.h"
#include "IR/Infer.h"
#include "IR/KindTables.h"

/* ---- Common types
 * ------------------------------------------------------------------------------------------------------- */
static bool is_float(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
}

static bool is_integer(tf_dtype dtype) {
  tf_dtype_class class = tf_dtype_get_class(dtype);
  return class == TF_CLASS_SINT || class == TF_CLASS_UINT;
}

/* Whether every value of `inner` is one of `outer`. */
static bool float_holds(tf_dtype outer, tf_dtype inner) {
  return tf_dtype_exponent_bits(outer) >= tf_dtype_exponent_bits(inner) &&
         tf_dtype_mantissa_bits(outer) >= tf_dtype_mantissa_bits(inner);
}

static tf_dtype common_float(tf_dtype a, tf_dtype b) {
  if (float_holds(a, b)) return a;
  return float_holds(b, a) ? b : TF_DTYPE_F32;
}

static tf_dtype signed_of_bits(unsigned bits) {
  return bits <= 8 ? TF_DTYPE_I8 : bits <= 16 ? TF_DTYPE_I16 : bits <= 32 ? TF_DTYPE_I32 : TF_DTYPE_I64;
}

static tf_dtype common_integer(tf_dtype a, tf_dtype b) {
  bool a_signed = tf_dtype_get_class(a) == TF_CLASS_SINT, b_signed = tf_dtype_get_class(b) == TF_CLASS_SINT;
  if (a_signed == b_signed) return tf_dtype_bits(a) >= tf_dtype_bits(b) ? a : b;
  tf_dtype with_sign = a_signed ? a : b, without = a_signed ? b : a;
  if (tf_dtype_bits(with_sign) > tf_dtype_bits(without)) return with_sign;
  return signed_of_bits(2 * tf_dtype_bits(without));
}

bool tf_dtype_common(tf_dtype a, tf_dtype b, tf_dtype *out) {
  tf_dtype common = a;
  if (a != b) {
    if (a == TF_DTYPE_BOOL || b == TF_DTYPE_BOOL) return false;
    if (is_float(a) && is_float(b))
      common = common_float(a, b);
    else if (is_float(a) || is_float(b))
      common = is_float(a) ? a : b;
    else
      common = common_integer(a, b);
  }
  if (out) *out = common;
  return true;
}

/* ---- Literals
 * ------------------------------------------------------------------------------------------------------------ */
static bool is_float_literal(const tf_expr *expr) {
  return expr && expr->kind == TF_EXPR_CONSTANT && is_float(tf_type_dtype(expr->type));
}

/* The literal in the other's type if that is a float and no literal itself. */
static const tf_expr *adapted(tf_context *context, const tf_expr *literal, const tf_expr *other) {
  if (!is_float_literal(literal) || !other || other->kind == TF_EXPR_CONSTANT) return literal;
  if (!tf_type_is_scalar(other->type) || !is_float(tf_type_dtype(other->type)) || other->type == literal->type)
    return literal;
  return tf_expr_float(context, tf_type_dtype(other->type), literal->constant.f, literal->loc);
}

void tf_infer_adapt_literals(tf_context *context, tf_op op, unsigned arg_count, const tf_expr **args) {
  unsigned first = op == TF_OP_WHERE ? TF_ARG_WHERE_a : TF_ARG_SCALAR_BINARY_lhs;
  if ((op != TF_OP_WHERE && op != TF_OP_SCALAR_BINARY) || arg_count != first + 2) return;
  const tf_expr *a = args[first], *b = args[first + 1];
  args[first] = adapted(context, a, b);
  args[first + 1] = adapted(context, b, a);
}

/* ---- Operators
 * ------------------------------------------------------------------------------------------------------------ */
static tf_dtype dtype_of(const tf_expr *expr) {
  return tf_type_dtype(expr->type);
}

/* What an operator takes and gives. */
typedef enum operator_class {
  OPERATOR_ARITH,
  OPERATOR_DIV,
  OPERATOR_BITS,
  OPERATOR_COMPARE,
  OPERATOR_LOGIC
} operator_class;

static operator_class classify(tf_scalar_binary_kind kind) {
  switch (kind) {
  case TF_SCALAR_BINARY_OR:
  case TF_SCALAR_BINARY_AND:
    return OPERATOR_LOGIC;
  case TF_SCALAR_BINARY_EQ:
  case TF_SCALAR_BINARY_NE:
  case TF_SCALAR_BINARY_LT:
  case TF_SCALAR_BINARY_LE:
  case TF_SCALAR_BINARY_GT:
  case TF_SCALAR_BINARY_GE:
    return OPERATOR_COMPARE;
  case TF_SCALAR_BINARY_BIT_OR:
  case TF_SCALAR_BINARY_BIT_XOR:
  case TF_SCALAR_BINARY_BIT_AND:
  case TF_SCALAR_BINARY_SHL:
  case TF_SCALAR_BINARY_SHR:
    return OPERATOR_BITS;
  case TF_SCALAR_BINARY_DIV:
    return OPERATOR_DIV;
  default:
    return OPERATOR_ARITH;
  }
}

/* Integers compute in i64. */
static const tf_type *arithmetic_type(tf_context *context, tf_dtype common) {
  return tf_type_scalar(context, is_integer(common) ? TF_DTYPE_I64 : common);
}

static const tf_type *refuse_bool(tf_context *context, tf_loc loc, const char *spelling) {
  tf_report(context, loc, SCALAR_ARITH_BOOL, spelling);
  return NULL;
}

const tf_type *tf_infer_SCALAR_BINARY(tf_context *context, const tf_invocation *invocation) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)invocation->attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  const char *spelling = tf_scalar_binary_spelling(kind);
  operator_class class = classify(kind);
  tf_dtype a = dtype_of(invocation->args[TF_ARG_SCALAR_BINARY_lhs]);
  tf_dtype b = dtype_of(invocation->args[TF_ARG_SCALAR_BINARY_rhs]), common;
  if (class == OPERATOR_LOGIC) {
    if (a == TF_DTYPE_BOOL && b == TF_DTYPE_BOOL) return tf_type_scalar(context, TF_DTYPE_BOOL);
    tf_report(context, invocation->loc, SCALAR_LOGIC, spelling, tf_dtype_name(a == TF_DTYPE_BOOL ? b : a));
    return NULL;
  }
  if (!tf_dtype_common(a, b, &common)) {
    tf_report(context, invocation->loc, SCALAR_MIXED, spelling, tf_dtype_name(a), tf_dtype_name(b));
    return NULL;
  }
  if (class == OPERATOR_COMPARE) return tf_type_scalar(context, TF_DTYPE_BOOL);
  if (class == OPERATOR_BITS && !is_integer(common)) {
    tf_report(context, invocation->loc, SCALAR_BITS, spelling, tf_dtype_name(common));
    return NULL;
  }
  if (common == TF_DTYPE_BOOL) return refuse_bool(context, invocation->loc, spelling);
  if (class == OPERATOR_DIV && is_integer(common)) {
    tf_report(context, invocation->loc, SCALAR_DIV, tf_dtype_name(a), tf_dtype_name(b));
    return NULL;
  }
  return arithmetic_type(context, common);
}

const tf_type *tf_infer_SCALAR_UNARY(tf_context *context, const tf_invocation *invocation) {
  tf_scalar_unary_kind kind = (tf_scalar_unary_kind)invocation->attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i;
  tf_dtype dtype = dtype_of(invocation->args[TF_ARG_SCALAR_UNARY_x]);
  if (kind == TF_SCALAR_UNARY_NOT) {
    if (dtype == TF_DTYPE_BOOL) return tf_type_scalar(context, dtype);
    tf_report(context, invocation->loc, SCALAR_LOGIC, tf_scalar_unary_spelling(kind), tf_dtype_name(dtype));
    return NULL;
  }
  if (dtype == TF_DTYPE_BOOL) return refuse_bool(context, invocation->loc, tf_scalar_unary_spelling(kind));
  return arithmetic_type(context, dtype);
}

const tf_type *tf_infer_WHERE(tf_context *context, const tf_invocation *invocation) {
  tf_dtype a = dtype_of(invocation->args[TF_ARG_WHERE_a]), b = dtype_of(invocation->args[TF_ARG_WHERE_b]), common;
  if (tf_dtype_common(a, b, &common)) return arithmetic_type(context, common);
  tf_report(context, invocation->loc, SCALAR_MIXED, "if … else", tf_dtype_name(a), tf_dtype_name(b));
  return NULL;
}

/* ---- Leaves of scalar expressions
 * ----------------------------------------------------------------------------------------- */
/* Sub-byte elements have no scalar of their own. */
static bool has_scalars(tf_dtype dtype) {
  return tf_dtype_bits(dtype) >= 8;
}

const tf_type *tf_infer_CAST(tf_context *context, const tf_invocation *invocation) {
  tf_dtype to = (tf_dtype)invocation->attrs[TF_ATTRIBUTE_CAST_dtype].i;
  if (has_scalars(to)) return tf_type_scalar(context, to);
  tf_report(context, invocation->loc, SCALAR_PACKED, tf_dtype_name(to));
  return NULL;
}

const tf_type *tf_infer_LOAD(tf_context *context, const tf_invocation *invocation) {
  const tf_type *type = invocation->args[TF_ARG_LOAD_x]->type;
  unsigned indices = tf_invocation_variadic(invocation, NULL);
  if (indices != tf_type_rank(type)) {
    tf_report(context, invocation->loc, LOAD_INDICES, tf_type_rank(type), indices);
    return NULL;
  }
  if (has_scalars(tf_type_dtype(type))) return tf_type_scalar(context, tf_type_dtype(type));
  tf_report(context, invocation->loc, SCALAR_PACKED, tf_dtype_name(tf_type_dtype(type)));
  return NULL;
}

const tf_type *tf_infer_PROGRAM_ID(tf_context *context, const tf_invocation *invocation) {
  (void)invocation;
  return tf_type_scalar(context, TF_DTYPE_I64);
}

const tf_type *tf_infer_COORD(tf_context *context, const tf_invocation *invocation) {
  const tf_mesh *mesh = invocation->args[TF_ARG_COORD_mesh]->var.mesh;
  int64_t axis = invocation->attrs[TF_ATTRIBUTE_COORD_axis].i;
  if (axis >= 0 && axis < (int64_t)tf_mesh_axis_count(mesh)) return tf_type_scalar(context, TF_DTYPE_I64);
  tf_report(context, invocation->loc, COORD_AXIS, (long long)axis, tf_mesh_axis_count(mesh));
  return NULL;
}

const tf_type *tf_infer_DIM_VALUE(tf_context *context, const tf_invocation *invocation) {
  (void)invocation;
  return tf_type_scalar(context, TF_DTYPE_I64);
}
