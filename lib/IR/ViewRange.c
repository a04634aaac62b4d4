/* Bounds of integer scalar expressions, from constants, coordinates and dims upwards: enough to prove windows inside or
 * outside of their source. Unknown variables (loops, loaded values) are unbounded. */
#include "IR/ViewImpl.h"

typedef struct interval {
  int64_t min, max; /* INT64_MIN, INT64_MAX: unbounded */
} interval;

static const interval unbounded = {INT64_MIN, INT64_MAX};

static interval range_of(const tf_expr *expr, unsigned *budget);

static bool is_bounded(interval x) {
  return x.min != INT64_MIN && x.max != INT64_MAX;
}

/* One end of a sum: unbounded if either is, or if it does not fit. */
static int64_t add_end(int64_t a, int64_t b, int64_t none) {
  int64_t sum;
  return a == none || b == none || __builtin_add_overflow(a, b, &sum) ? none : sum;
}

static interval negate(interval x) {
  return (interval){x.max == INT64_MAX ? INT64_MIN : -x.max, x.min == INT64_MIN ? INT64_MAX : -x.min};
}

static interval add(interval a, interval b) {
  return (interval){add_end(a.min, b.min, INT64_MIN), add_end(a.max, b.max, INT64_MAX)};
}

static interval multiply(interval a, interval b) {
  if (!is_bounded(a) || !is_bounded(b)) {
    bool positive = a.min >= 0 && b.min >= 0;
    int64_t low;
    if (!positive || __builtin_mul_overflow(a.min, b.min, &low)) return unbounded;
    return (interval){low, INT64_MAX};
  }
  const int64_t x[2] = {a.min, a.max}, y[2] = {b.min, b.max};
  interval out = {INT64_MAX, INT64_MIN};
  for (unsigned i = 0; i < 4; i++) {
    int64_t product;
    if (__builtin_mul_overflow(x[i / 2], y[i % 2], &product)) return unbounded;
    out.min = product < out.min ? product : out.min;
    out.max = product > out.max ? product : out.max;
  }
  return out;
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* By a positive constant. */
static interval divide(interval a, interval b) {
  if (b.min != b.max || b.min <= 0) return unbounded;
  return (interval){a.min == INT64_MIN ? INT64_MIN : floor_div(a.min, b.min),
                    a.max == INT64_MAX ? INT64_MAX : floor_div(a.max, b.min)};
}

static interval modulo(interval a, interval b) {
  if (b.min != b.max || b.min <= 0) return unbounded;
  if (a.min >= 0 && a.max < b.min) return a;
  return (interval){0, b.min - 1};
}

static interval binary_range(const tf_expr *call, unsigned *budget) {
  interval a = range_of(call->call.args[TF_ARG_SCALAR_BINARY_lhs], budget);
  interval b = range_of(call->call.args[TF_ARG_SCALAR_BINARY_rhs], budget);
  switch ((tf_scalar_binary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i) {
  case TF_SCALAR_BINARY_ADD:
    return add(a, b);
  case TF_SCALAR_BINARY_SUB:
    return add(a, negate(b));
  case TF_SCALAR_BINARY_MUL:
    return multiply(a, b);
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return divide(a, b);
  case TF_SCALAR_BINARY_MOD:
    return modulo(a, b);
  case TF_SCALAR_BINARY_MIN:
    return (interval){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
  case TF_SCALAR_BINARY_MAX:
    return (interval){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
  default:
    return unbounded;
  }
}

static interval dim_range(const tf_dim *dim) {
  interval out;
  tf_dim_range(dim, &out.min, &out.max);
  return out;
}

static interval call_range(const tf_expr *call, unsigned *budget) {
  switch (call->call.op) {
  case TF_OP_SCALAR_BINARY:
    return binary_range(call, budget);
  case TF_OP_SCALAR_UNARY:
    if (call->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i != TF_SCALAR_UNARY_NEG) return unbounded;
    return negate(range_of(call->call.args[TF_ARG_SCALAR_UNARY_x], budget));
  case TF_OP_DIM_VALUE:
    return dim_range(call->call.attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim);
  case TF_OP_PROGRAM_ID:
    return (interval){0, INT64_MAX};
  case TF_OP_COORD: {
    const tf_mesh *mesh = call->call.args[TF_ARG_COORD_mesh]->var.mesh;
    interval extent = dim_range(tf_mesh_axis_extent(mesh, (unsigned)call->call.attrs[TF_ATTRIBUTE_COORD_axis].i));
    return (interval){0, extent.max == INT64_MAX ? INT64_MAX : extent.max - 1};
  }
  default:
    return unbounded;
  }
}

/* The budget bounds what is visited: chains of lets are as long as the source likes, and shared operands are met again. */
static interval range_of(const tf_expr *expr, unsigned *budget) {
  if (*budget == 0 || !tf_type_is_scalar(expr->type)) return unbounded;
  --*budget;
  tf_dtype_class class = tf_dtype_get_class(tf_type_dtype(expr->type));
  if (class != TF_CLASS_SINT && class != TF_CLASS_UINT) return unbounded;
  switch (expr->kind) {
  case TF_EXPR_CONSTANT:
    return (interval){expr->constant.i, expr->constant.i};
  case TF_EXPR_VAR:
    return expr->var.value ? range_of(expr->var.value, budget) : unbounded;
  case TF_EXPR_CALL:
    return call_range(expr, budget);
  case TF_EXPR_SHAPE_OF:
    return expr->shape_of.axis < tf_type_rank(expr->shape_of.param->type)
               ? dim_range(tf_type_extent(expr->shape_of.param->type, expr->shape_of.axis))
               : unbounded;
  default:
    return unbounded;
  }
}

void tf_expr_range(const tf_expr *expr, int64_t *min, int64_t *max) {
  unsigned budget = 256;
  interval range = range_of(expr, &budget);
  *min = range.min;
  *max = range.max;
}
