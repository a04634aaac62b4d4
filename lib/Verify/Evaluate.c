/* Integer arithmetic of the scalar language: i64, wrapping, flooring (see Evaluate.h). */
#include "Verify/Evaluate.h"

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static bool divide(tf_scalar_binary_kind kind, int64_t a, int64_t b, int64_t *out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  int64_t quotient = floor_div(a, b);
  *out = kind == TF_SCALAR_BINARY_MOD ? a - quotient * b : quotient;
  return true;
}

static bool shift(tf_scalar_binary_kind kind, int64_t a, int64_t b, int64_t *out) {
  if (b < 0 || b > 63) return false;
  *out = kind == TF_SCALAR_BINARY_SHL ? (int64_t)((uint64_t)a << b) : a >> b;
  return true;
}

static bool binary(tf_scalar_binary_kind kind, int64_t a, int64_t b, int64_t *out) {
  switch (kind) {
  case TF_SCALAR_BINARY_OR:
  case TF_SCALAR_BINARY_BIT_OR:
    return *out = a | b, true;
  case TF_SCALAR_BINARY_AND:
  case TF_SCALAR_BINARY_BIT_AND:
    return *out = a & b, true;
  case TF_SCALAR_BINARY_BIT_XOR:
    return *out = a ^ b, true;
  case TF_SCALAR_BINARY_EQ:
    return *out = a == b, true;
  case TF_SCALAR_BINARY_NE:
    return *out = a != b, true;
  case TF_SCALAR_BINARY_LT:
    return *out = a < b, true;
  case TF_SCALAR_BINARY_LE:
    return *out = a <= b, true;
  case TF_SCALAR_BINARY_GT:
    return *out = a > b, true;
  case TF_SCALAR_BINARY_GE:
    return *out = a >= b, true;
  case TF_SCALAR_BINARY_SHL:
  case TF_SCALAR_BINARY_SHR:
    return shift(kind, a, b, out);
  case TF_SCALAR_BINARY_ADD:
    return *out = (int64_t)((uint64_t)a + (uint64_t)b), true;
  case TF_SCALAR_BINARY_SUB:
    return *out = (int64_t)((uint64_t)a - (uint64_t)b), true;
  case TF_SCALAR_BINARY_MUL:
    return *out = (int64_t)((uint64_t)a * (uint64_t)b), true;
  case TF_SCALAR_BINARY_FLOOR_DIV:
  case TF_SCALAR_BINARY_MOD:
    return divide(kind, a, b, out);
  case TF_SCALAR_BINARY_MIN:
    return *out = a < b ? a : b, true;
  case TF_SCALAR_BINARY_MAX:
    return *out = a > b ? a : b, true;
  case TF_SCALAR_BINARY_DIV:
  case TF_SCALAR_BINARY_COUNT:
    break;
  }
  return false;
}

static bool unary(tf_scalar_unary_kind kind, int64_t a, int64_t *out) {
  int64_t negated = (int64_t)(0 - (uint64_t)a);
  if (kind == TF_SCALAR_UNARY_NOT)
    *out = !a;
  else
    *out = kind == TF_SCALAR_UNARY_NEG || a < 0 ? negated : a;
  return true;
}

/* Wraps to the integer type; to bool is "not zero". */
static bool cast(tf_dtype to, int64_t a, int64_t *out) {
  unsigned bits = tf_dtype_bits(to);
  uint64_t low = bits >= 64 ? (uint64_t)a : (uint64_t)a & ((UINT64_C(1) << bits) - 1);
  if (tf_dtype_get_class(to) == TF_CLASS_BOOL)
    *out = a != 0;
  else if (tf_dtype_get_class(to) == TF_CLASS_SINT && bits < 64 && (low >> (bits - 1) & 1) != 0)
    *out = (int64_t)(low | ~UINT64_C(0) << bits);
  else
    *out = (int64_t)low;
  return true;
}

static bool is_plain_integer(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) != TF_CLASS_FLOAT && dtype != TF_DTYPE_U64;
}

bool tf_evaluate_scalar(const tf_invocation *inv, const int64_t *in, int64_t *out) {
  for (unsigned i = 0; i < inv->arg_count; i++)
    if (!tf_is_scalar(inv->args[i]) || !is_plain_integer(tf_type_dtype(inv->args[i]->type))) return false;
  switch (inv->op) {
  case TF_OP_SCALAR_BINARY:
    return binary((tf_scalar_binary_kind)inv->attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i, in[0], in[1], out);
  case TF_OP_SCALAR_UNARY:
    return unary((tf_scalar_unary_kind)inv->attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i, in[0], out);
  case TF_OP_WHERE:
    *out = in[0] ? in[1] : in[2];
    return true;
  case TF_OP_CAST: {
    tf_dtype to = (tf_dtype)inv->attrs[TF_ATTRIBUTE_CAST_dtype].i;
    return is_plain_integer(to) && cast(to, in[0], out);
  }
  default:
    return false;
  }
}
