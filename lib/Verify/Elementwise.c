/* Element-wise statements: dtypes of each kind, shapes that broadcast into the destination's, coverage.
 *
 * The kinds are described by what they take, in one table each; an X-macro over the enumeration makes the compiler insist on a
 * line for every kind. */
#include "Verify/Coverage.h"
#include "Verify/Dtypes.h"
#include "Verify/State.h"

enum { NUMBERS = 1, BOOLS = 2, FLOATS = 4, TO_BOOL = 8, FLOOR_DIV = 16 };

/* What each kind of binary takes; TO_BOOL: the result is a bool, FLOOR_DIV: integers have another kind. */
#define BINARY_ADD       NUMBERS
#define BINARY_SUB       NUMBERS
#define BINARY_MUL       NUMBERS
#define BINARY_DIV       (FLOATS | FLOOR_DIV)
#define BINARY_FLOOR_DIV NUMBERS
#define BINARY_MOD       NUMBERS
#define BINARY_MIN       (NUMBERS | BOOLS)
#define BINARY_MAX       (NUMBERS | BOOLS)
#define BINARY_EQ        (NUMBERS | BOOLS | TO_BOOL)
#define BINARY_NE        (NUMBERS | BOOLS | TO_BOOL)
#define BINARY_LT        (NUMBERS | BOOLS | TO_BOOL)
#define BINARY_LE        (NUMBERS | BOOLS | TO_BOOL)
#define BINARY_GT        (NUMBERS | BOOLS | TO_BOOL)
#define BINARY_GE        (NUMBERS | BOOLS | TO_BOOL)
#define BINARY_AND       (BOOLS | TO_BOOL)
#define BINARY_OR        (BOOLS | TO_BOOL)

#define UNARY_NEG        NUMBERS
#define UNARY_ABS        NUMBERS
#define UNARY_RSQRT      FLOATS
#define UNARY_CAST       (NUMBERS | BOOLS)
#define UNARY_NOT        (BOOLS | TO_BOOL)
#define UNARY_RELU       NUMBERS
#define UNARY_SQUARE     NUMBERS
#define UNARY_EXP        FLOATS
#define UNARY_LOG        FLOATS
#define UNARY_CEIL       NUMBERS
#define UNARY_ROUND      NUMBERS
#define UNARY_EXP2       FLOATS
#define UNARY_LOG2       FLOATS

static const unsigned char binary_takes[] = {
#define TF_BINARY(ENUM, NAME) BINARY_##ENUM,
#include <tilefoundry/Kinds.def>
};

static const unsigned char unary_takes[] = {
#define TF_UNARY(ENUM, NAME) UNARY_##ENUM,
#include <tilefoundry/Kinds.def>
};

static const char *taken(unsigned takes) {
  if (takes & FLOATS) return "floats";
  if ((takes & (NUMBERS | BOOLS)) == (NUMBERS | BOOLS)) return "numbers or bools";
  return takes & BOOLS ? "bools" : "numbers";
}

static bool check_taken(tf_verifier *v, const char *what, unsigned takes, tf_operand_type type) {
  bool is_bool = type.dtype == TF_DTYPE_BOOL, is_float = tf_dtype_is_float(type.dtype);
  bool fits =
      is_bool ? (takes & BOOLS) != 0 : (takes & NUMBERS) != 0 || ((takes & FLOATS) != 0 && (is_float || type.adapts));
  if (fits) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, KIND_OPERANDS, what, taken(takes), tf_dtype_name(type.dtype),
          takes & FLOOR_DIV ? ": integers have floor_div, others are cast first"
          : takes & FLOATS  ? ": cast to floats first"
                            : "");
  return false;
}

/* The result of a kind meets the destination: bool to bool, numbers to numbers. */
static bool check_result(tf_verifier *v, const char *what, bool to_bool, tf_dtype destination) {
  if (to_bool == (destination == TF_DTYPE_BOOL)) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, KIND_RESULT, what, to_bool ? "a bool" : "a number", tf_dtype_name(destination));
  return false;
}

/* ---- Shapes ---------------------------------------------------------------------------------------------------------------- */

/* NumPy's rule, into a fixed shape: aligned at the last axis, each extent equal or 1. */
static bool broadcasts(const tf_type *from, const tf_type *to) {
  unsigned rank = tf_type_rank(to), own = tf_type_rank(from);
  for (unsigned i = 0; i < own; i++) {
    const tf_dim *extent = tf_type_extent(from, own - 1 - i);
    if (tf_static_or(extent, 0) == 1) continue;
    if (i >= rank || extent != tf_type_extent(to, rank - 1 - i)) return false;
  }
  return own <= rank;
}

static const char *shape_text(tf_verifier *v, const tf_type *type) {
  tf_string text;
  tf_string_init(&text, &v->context->arena);
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    tf_string_printf(&text, "%s%s", i ? ", " : "(", tf_dim_print(v->context, tf_type_extent(type, i)));
  tf_string_puts(&text, tf_type_rank(type) == 1 ? ",)" : ")");
  return text.text;
}

static bool check_shapes(tf_verifier *v, const tf_invocation *inv, const tf_expr *destination, unsigned count,
                         const tf_expr *const *operands) {
  bool good = true;
  for (unsigned i = 0; i < count; i++) {
    if (tf_is_scalar(operands[i]) || broadcasts(operands[i]->type, destination->type)) continue;
    TF_FAIL(v, operands[i], tf_verifier_loc(v, operands[i]), BROADCAST, tf_op_get_info(inv->op)->name,
            shape_text(v, operands[i]->type), shape_text(v, destination->type));
    good = false;
  }
  return good;
}

/* ---- The common part ------------------------------------------------------------------------------------------------------ */

/* Everything but the kind's own rule: operands, literals, the common type (of operands first … first + count - 1). */
static bool check_operands(tf_verifier *v, const tf_invocation *inv, const tf_expr *destination, unsigned count,
                           const tf_expr *const *operands, tf_operand_type *common) {
  bool tensors = false, integers = false;
  for (unsigned i = 0; i < count; i++) {
    if (!tf_is_tensor_operand(operands[i])) continue;
    tensors = true;
    integers = integers || tf_dtype_is_integer(tf_type_dtype(operands[i]->type));
  }
  if (!tensors) integers = tf_dtype_is_integer(tf_type_dtype(destination->type));
  for (unsigned i = 0; i < count; i++) {
    tf_operand_type type;
    if (!tf_verify_operand_type(v, inv, operands[i], integers, &type)) return false;
    if (i == 0)
      *common = type;
    else if (!tf_verify_common(v, inv, *common, type, common))
      return false;
  }
  return true;
}

static void finish(tf_verifier *v, const tf_invocation *inv, const tf_expr *destination, unsigned count,
                   const tf_expr *const *operands) {
  const tf_expr *tensors[4];
  unsigned tensor_count = 0;
  if (!check_shapes(v, inv, destination, count, operands)) return;
  for (unsigned i = 0; i < count; i++)
    if (tf_is_tensor_operand(operands[i])) tensors[tensor_count++] = operands[i];
  tf_verify_coverage(v, inv, destination, tensor_count, tensors, false);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------------------- */

void tf_verify_BINARY(tf_verifier *v, const tf_invocation *inv) {
  tf_binary_kind kind = (tf_binary_kind)inv->attrs[TF_ATTRIBUTE_BINARY_kind].i;
  const tf_expr *operands[2] = {inv->args[TF_ARG_BINARY_lhs], inv->args[TF_ARG_BINARY_rhs]};
  const tf_expr *destination = inv->args[TF_ARG_BINARY_dst];
  const char *what = tf_arena_printf(&v->context->arena, "binary %s", tf_binary_name(kind));
  unsigned takes = binary_takes[kind];
  tf_operand_type common;
  if (!tf_verify_operands(v, inv) || !check_operands(v, inv, destination, 2, operands, &common)) return;
  bool to_bool = (takes & TO_BOOL) != 0 || common.dtype == TF_DTYPE_BOOL;
  if (!check_taken(v, what, takes, common) || !check_result(v, what, to_bool, tf_type_dtype(destination->type))) return;
  finish(v, inv, destination, 2, operands);
}

void tf_verify_UNARY(tf_verifier *v, const tf_invocation *inv) {
  tf_unary_kind kind = (tf_unary_kind)inv->attrs[TF_ATTRIBUTE_UNARY_kind].i;
  const tf_expr *source = inv->args[TF_ARG_UNARY_src], *destination = inv->args[TF_ARG_UNARY_dst];
  const char *what = tf_arena_printf(&v->context->arena, "unary %s", tf_unary_name(kind));
  unsigned takes = unary_takes[kind];
  tf_operand_type type;
  if (!tf_verify_operands(v, inv) || !tf_verify_operand_type(v, inv, source, false, &type)) return;
  if (!check_taken(v, what, takes, type)) return;
  if (kind != TF_UNARY_CAST && !check_result(v, what, (takes & TO_BOOL) != 0, tf_type_dtype(destination->type))) return;
  finish(v, inv, destination, 1, &source);
}

void tf_verify_RELU(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *source = inv->args[TF_ARG_RELU_src], *destination = inv->args[TF_ARG_RELU_dst];
  tf_operand_type type;
  if (!tf_verify_operands(v, inv) || !tf_verify_operand_type(v, inv, source, false, &type)) return;
  if (!check_taken(v, "relu", NUMBERS, type)) return;
  if (check_result(v, "relu", false, tf_type_dtype(destination->type))) finish(v, inv, destination, 1, &source);
}

void tf_verify_CLAMP(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *destination = inv->args[TF_ARG_CLAMP_dst], *source = inv->args[TF_ARG_CLAMP_src];
  const tf_expr *operands[3] = {source, inv->attrs[TF_ATTRIBUTE_CLAMP_min_val].literal,
                                inv->attrs[TF_ATTRIBUTE_CLAMP_max_val].literal};
  tf_operand_type common;
  if (!operands[1] || !operands[2] || !tf_verify_operands(v, inv)) return;
  if (!check_operands(v, inv, destination, 3, operands, &common) || !check_taken(v, "clamp", NUMBERS, common)) return;
  if (check_result(v, "clamp", false, tf_type_dtype(destination->type))) finish(v, inv, destination, 1, &source);
}

void tf_verify_FMA(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *operands[3] = {inv->args[TF_ARG_FMA_a], inv->args[TF_ARG_FMA_b], inv->args[TF_ARG_FMA_c]};
  const tf_expr *destination = inv->args[TF_ARG_FMA_dst];
  tf_operand_type common;
  if (!tf_verify_operands(v, inv) || !check_operands(v, inv, destination, 3, operands, &common)) return;
  if (!check_taken(v, "fma", NUMBERS, common) || !check_result(v, "fma", false, tf_type_dtype(destination->type)))
    return;
  finish(v, inv, destination, 3, operands);
}

void tf_verify_SELECT(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *operands[3] = {inv->args[TF_ARG_SELECT_a], inv->args[TF_ARG_SELECT_b], inv->args[TF_ARG_SELECT_cond]};
  const tf_expr *destination = inv->args[TF_ARG_SELECT_dst];
  tf_operand_type common, condition;
  if (!tf_verify_operands(v, inv) || !tf_verify_operand_type(v, inv, operands[2], false, &condition)) return;
  if (!check_taken(v, "the condition of select", BOOLS, condition)) return;
  if (!check_operands(v, inv, destination, 2, operands, &common)) return;
  if (!check_result(v, "select", common.dtype == TF_DTYPE_BOOL, tf_type_dtype(destination->type))) return;
  finish(v, inv, destination, 3, operands);
}

void tf_verify_IOTA(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *destination = inv->args[TF_ARG_IOTA_dst];
  const tf_expr *start = inv->arg_count > TF_ARG_IOTA_start ? inv->args[TF_ARG_IOTA_start] : NULL;
  int64_t axis = inv->attrs[TF_ATTRIBUTE_IOTA_axis].i, rank = tf_type_rank(destination->type);
  if (!tf_verify_operands(v, inv)) return;
  if (axis < -rank || axis >= rank) {
    TF_FAIL(v, v->stmt, v->stmt->loc, IOTA_AXIS, (long long)axis, (unsigned)rank);
    return;
  }
  if (!check_result(v, "iota", false, tf_type_dtype(destination->type))) return;
  tf_operand_type type;
  bool integers = tf_dtype_is_integer(tf_type_dtype(destination->type));
  if (start &&
      (!tf_verify_operand_type(v, inv, start, integers, &type) || !check_taken(v, "the start of iota", NUMBERS, type)))
    return;
  tf_verify_coverage(v, inv, destination, 0, NULL, false);
}
