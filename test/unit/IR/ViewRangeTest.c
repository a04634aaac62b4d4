/* Bounds of integer expressions against evaluation: random expressions over two coordinates and constants are computed at
 * every coordinate, and no value may leave the bounds. Where nothing overlaps (one use of each leaf, no modulus) the bounds of
 * sums and products have to be met as well. */
#include <check.h>

#include "Harness.h"
#include "IR/Construct.h"
#include "IR/ViewImpl.h"
#include "Random.h"

static tf_context *context;
static uint64_t seed = 424242;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static int64_t draw(int64_t lo, int64_t hi) {
  return lo + (int64_t)random_below(&seed, (uint64_t)(hi - lo + 1));
}

static const tf_expr *mesh_binding(void) {
  tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, 15)};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, 2, (int64_t[]){3, 5}), NULL);
  return tf_expr_mesh_var(context, "m", tf_mesh_get(context, 1, &level, layout, 0, NULL), TF_NO_LOC);
}

static const tf_expr *coordinate(const tf_expr *mesh, int64_t axis) {
  tf_attr attr = {.i = axis};
  return tf_expr_call(context, TF_OP_COORD, 1, &mesh, &attr, TF_NO_LOC);
}

static const tf_expr *constant(int64_t value) {
  return tf_expr_int(context, TF_DTYPE_I64, value, TF_NO_LOC);
}

static const tf_expr *binary(tf_scalar_binary_kind kind, const tf_expr *a, const tf_expr *b) {
  tf_attr attr = {.i = kind};
  return tf_expr_call(context, TF_OP_SCALAR_BINARY, 2, (const tf_expr *const[]){a, b}, &attr, TF_NO_LOC);
}

static const tf_expr *negated(const tf_expr *x) {
  tf_attr attr = {.i = TF_SCALAR_UNARY_NEG};
  return tf_expr_call(context, TF_OP_SCALAR_UNARY, 1, &x, &attr, TF_NO_LOC);
}

static const tf_expr *random_expr(const tf_expr *mesh, unsigned depth) {
  static const tf_scalar_binary_kind kinds[] = {TF_SCALAR_BINARY_ADD, TF_SCALAR_BINARY_SUB, TF_SCALAR_BINARY_MUL,
                                                TF_SCALAR_BINARY_MIN, TF_SCALAR_BINARY_MAX, TF_SCALAR_BINARY_FLOOR_DIV,
                                                TF_SCALAR_BINARY_MOD};
  int64_t choice = draw(0, 9);
  if (depth == 0 || choice < 2) return draw(0, 2) ? coordinate(mesh, draw(0, 1)) : constant(draw(-9, 9));
  if (choice == 2) return negated(random_expr(mesh, depth - 1));
  if (choice == 3) return tf_expr_let_var(context, "k", random_expr(mesh, depth - 1), TF_NO_LOC);
  tf_scalar_binary_kind kind = kinds[draw(0, 6)];
  bool divides = kind == TF_SCALAR_BINARY_FLOOR_DIV || kind == TF_SCALAR_BINARY_MOD;
  const tf_expr *a = random_expr(mesh, depth - 1);
  return binary(kind, a, divides ? constant(draw(1, 7)) : random_expr(mesh, depth - 1));
}

static int64_t floor_of(int64_t a, int64_t b) {
  int64_t down = a / b;
  return down * b > a ? down - 1 : down;
}

static int64_t evaluate(const tf_expr *e, const int64_t *at) {
  if (e->kind == TF_EXPR_CONSTANT) return e->constant.i;
  if (e->kind == TF_EXPR_VAR) return evaluate(e->var.value, at);
  if (e->call.op == TF_OP_COORD) return at[e->call.attrs[0].i];
  int64_t a = evaluate(e->call.args[0], at);
  if (e->call.op == TF_OP_SCALAR_UNARY) return -a;
  int64_t b = evaluate(e->call.args[1], at);
  switch ((tf_scalar_binary_kind)e->call.attrs[0].i) {
  case TF_SCALAR_BINARY_ADD:
    return a + b;
  case TF_SCALAR_BINARY_SUB:
    return a - b;
  case TF_SCALAR_BINARY_MUL:
    return a * b;
  case TF_SCALAR_BINARY_MIN:
    return a < b ? a : b;
  case TF_SCALAR_BINARY_MAX:
    return a > b ? a : b;
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return floor_of(a, b);
  default:
    return a - b * floor_of(a, b);
  }
}

START_TEST(no_value_leaves_the_bounds) {
  const tf_expr *mesh = mesh_binding();
  unsigned bounded = 0;
  for (unsigned round = 0; round < 3000; round++) {
    const tf_expr *e = random_expr(mesh, 4);
    int64_t min, max;
    tf_expr_range(e, &min, &max);
    bounded += min != INT64_MIN && max != INT64_MAX;
    for (int64_t i = 0; i < 15; i++) {
      int64_t value = evaluate(e, (int64_t[]){i / 5, i % 5});
      ck_assert(min <= value && value <= max);
    }
  }
  ck_assert_uint_gt(bounded, 2500);
}
END_TEST

START_TEST(bounds_are_met) {
  const tf_expr *mesh = mesh_binding(), *i = coordinate(mesh, 0), *k = coordinate(mesh, 1);
  const struct {
    const tf_expr *expr;
    int64_t min, max;
  } cases[] = {
      {binary(TF_SCALAR_BINARY_ADD, binary(TF_SCALAR_BINARY_MUL, i, constant(16)), k), 0, 36},
      {binary(TF_SCALAR_BINARY_SUB, i, k), -4, 2},
      {binary(TF_SCALAR_BINARY_MUL, negated(i), k), -8, 0},
      {binary(TF_SCALAR_BINARY_FLOOR_DIV, negated(k), constant(3)), -2, 0},
      {binary(TF_SCALAR_BINARY_MOD, k, constant(7)), 0, 4},
      {binary(TF_SCALAR_BINARY_MOD, negated(k), constant(3)), 0, 2},
      {binary(TF_SCALAR_BINARY_MIN, k, constant(2)), 0, 2},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    int64_t min, max;
    tf_expr_range(cases[n].expr, &min, &max);
    ck_assert_int_eq(min, cases[n].min);
    ck_assert_int_eq(max, cases[n].max);
  }
}
END_TEST

/* What is not known has no bounds, and arithmetic at the ends of 64 bits does not wrap into some. */
START_TEST(unknown_and_huge_values) {
  const tf_expr *n = tf_expr_var_new(context, "n", tf_type_scalar(context, TF_DTYPE_I64), TF_NO_LOC);
  const tf_expr *huge = constant(INT64_MAX - 1), *sum = constant(1);
  int64_t min, max;
  tf_expr_range(n, &min, &max);
  ck_assert(min == INT64_MIN && max == INT64_MAX);
  tf_expr_range(negated(n), &min, &max);
  ck_assert(min == INT64_MIN && max == INT64_MAX);
  tf_expr_range(binary(TF_SCALAR_BINARY_ADD, huge, huge), &min, &max);
  ck_assert(min == INT64_MIN && max == INT64_MAX);
  tf_expr_range(binary(TF_SCALAR_BINARY_MUL, huge, huge), &min, &max);
  ck_assert(min == INT64_MIN && max == INT64_MAX);
  for (unsigned i = 0; i < 60; i++) /* 2^60 paths to the leaf: the work is bounded */
    sum = binary(TF_SCALAR_BINARY_ADD, sum, sum);
  tf_expr_range(sum, &min, &max);
  ck_assert(min <= INT64_C(1) << 60 && max >= INT64_C(1) << 60);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("ranges");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, no_value_leaves_the_bounds);
  tcase_add_test(tests, bounds_are_met);
  tcase_add_test(tests, unknown_and_huge_values);
  return run_case("ranges", tests);
}
