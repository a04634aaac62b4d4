/* Scalar expressions: what their operands' values can break. Types were inferred when the expression was built. */
#include "Verify/State.h"

#include "IR/View.h"

static bool constant_of(const tf_expr *expr, int64_t *value) {
  if (expr->kind != TF_EXPR_CONSTANT || tf_dtype_is_float(tf_type_dtype(expr->type))) return false;
  *value = expr->constant.i;
  return true;
}

void tf_verify_SCALAR_BINARY(tf_verifier *v, const tf_invocation *inv) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)inv->attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  const tf_expr *rhs = inv->args[TF_ARG_SCALAR_BINARY_rhs];
  int64_t value;
  if (!constant_of(rhs, &value)) return;
  bool shift = kind == TF_SCALAR_BINARY_SHL || kind == TF_SCALAR_BINARY_SHR;
  bool divides = kind == TF_SCALAR_BINARY_FLOOR_DIV || kind == TF_SCALAR_BINARY_MOD;
  if (shift && (value < 0 || value > 63)) TF_FAIL(v, rhs, tf_verifier_loc(v, rhs), SHIFT_COUNT, (long long)value);
  if (divides && value == 0 && !tf_dtype_is_float(tf_type_dtype(inv->args[TF_ARG_SCALAR_BINARY_lhs]->type)))
    TF_FAIL(v, rhs, tf_verifier_loc(v, rhs), DIVISION_BY_ZERO);
}

void tf_verify_SCALAR_UNARY(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_WHERE(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_CAST(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_PROGRAM_ID(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_COORD(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_DIM_VALUE(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

/* A thread can only name elements that it holds: no mesh axis may walk the tensor. */
static bool check_split(tf_verifier *v, const tf_invocation *inv, const tf_expr *x) {
  const tf_view *view = tf_view_of(v->context, x, NULL);
  if (!view || !view->ownership || v->host) return true;
  for (unsigned i = 0; i < view->ownership->factor_count; i++) {
    const tf_factor *factor = &view->ownership->factors[i];
    if (factor->mesh_axis < 0 || tf_static_or(factor->extent, 0) == 1) continue;
    TF_FAIL(v, inv->args, inv->loc, LOAD_SPLIT, tf_layout_print(v->context, tf_type_layout(x->type)));
    return false;
  }
  return true;
}

static void check_index(tf_verifier *v, const tf_expr *index, const tf_dim *extent, unsigned axis) {
  int64_t value, min, max;
  if (!constant_of(index, &value)) return;
  tf_dim_range(extent, &min, &max);
  if (value < 0 || value >= max)
    TF_FAIL(v, index, tf_verifier_loc(v, index), LOAD_OUTSIDE, (long long)value, axis,
            tf_dim_print(v->context, extent));
}

void tf_verify_LOAD(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *x = inv->args[TF_ARG_LOAD_x], *const * indices;
  if (v->host && tf_type_storage(x->type) != TF_STORAGE_HOST) {
    TF_FAIL(v, inv->args, inv->loc, LOAD_HOST, tf_storage_name(tf_type_storage(x->type)));
    return;
  }
  if (!tf_verify_operands(v, inv) || !check_split(v, inv, x)) return;
  unsigned count = tf_invocation_variadic(inv, &indices);
  for (unsigned axis = 0; axis < count && axis < tf_type_rank(x->type); axis++)
    check_index(v, indices[axis], tf_type_extent(x->type, axis), axis);
}
