/* The manifest's arithmetic against definitions: floor division by searching the quotient, whole expressions against
 * numbers worked out by hand; overflow against 128-bit arithmetic. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "Runtime/Dims.h"

static const char *binary(tf_mop op, int64_t a, int64_t b, int64_t *out) {
  const tf_mexpr args[2] = {{.op = TF_MOP_CONST, .value = a}, {.op = TF_MOP_CONST, .value = b}};
  const tf_mexpr expr = {.op = op, .arg_count = 2, .args = args};
  const tf_menv env = {0};
  return tf_mexpr_eval(&expr, &env, out);
}

/* The q with q * b <= a < (q + 1) * b (b > 0), or the mirror image for b < 0. */
static int64_t floor_by_search(int64_t a, int64_t b) {
  int64_t q = -1000;
  while (b > 0 ? (q + 1) * b <= a : (q + 1) * b >= a)
    q++;
  return q;
}

START_TEST(floor_rules) {
  for (int64_t a = -130; a <= 130; a++)
    for (int64_t b = -17; b <= 17; b++) {
      int64_t q = 77, r = 77, c = 77;
      if (b == 0) {
        ck_assert_str_eq(binary(TF_MOP_FLOOR_DIV, a, b, &q), "division by zero");
        ck_assert_str_eq(binary(TF_MOP_MOD, a, b, &q), "division by zero");
        ck_assert_str_eq(binary(TF_MOP_CEIL_DIV, a, b, &q), "division by zero");
        continue;
      }
      ck_assert_ptr_null(binary(TF_MOP_FLOOR_DIV, a, b, &q));
      ck_assert_ptr_null(binary(TF_MOP_MOD, a, b, &r));
      ck_assert_ptr_null(binary(TF_MOP_CEIL_DIV, a, b, &c));
      ck_assert_int_eq(q, floor_by_search(a, b));
      ck_assert_int_eq(r, a - b * q);
      ck_assert_int_eq(c, -floor_by_search(-a, b));
    }
  int64_t v;
  ck_assert_ptr_null(binary(TF_MOP_FLOOR_DIV, -1, 512, &v));
  ck_assert_int_eq(v, -1);
  ck_assert_ptr_null(binary(TF_MOP_MOD, -1, 512, &v));
  ck_assert_int_eq(v, 511);
  ck_assert_ptr_null(binary(TF_MOP_CEIL_DIV, 7, -3, &v));
  ck_assert_int_eq(v, -2);
}
END_TEST

static int64_t random64(void) {
  uint64_t v = 0;
  for (int i = 0; i < 5; i++)
    v = v << 15 ^ (uint64_t)rand();
  return (int64_t)(v >> rand() % 64) * (rand() % 2 ? 1 : -1);
}

START_TEST(overflow_is_an_error) {
  srand(5);
  for (int i = 0; i < 100000; i++) {
    int64_t a = random64(), b = random64(), v = 0;
    __extension__ typedef __int128 wide;
    const wide exact[] = {(wide)a + b, (wide)a - b, (wide)a * b};
    const tf_mop op[] = {TF_MOP_ADD, TF_MOP_SUB, TF_MOP_MUL};
    for (int k = 0; k < 3; k++) {
      bool fits = exact[k] >= INT64_MIN && exact[k] <= INT64_MAX;
      ck_assert_int_eq(binary(op[k], a, b, &v) == NULL, fits);
      if (fits) ck_assert(v == (int64_t)exact[k]);
    }
  }
  int64_t v;
  ck_assert_ptr_nonnull(binary(TF_MOP_FLOOR_DIV, INT64_MIN, -1, &v));
  ck_assert_ptr_nonnull(binary(TF_MOP_CEIL_DIV, INT64_MIN, -1, &v));
  ck_assert_ptr_null(binary(TF_MOP_MOD, INT64_MIN, -1, &v));
  ck_assert_int_eq(v, 0);
}
END_TEST

static const tf_mdim dims[] = {{"K", 0, 100}, {"S", 1, 1000}};
static const tf_mexpr var_k = {.op = TF_MOP_VAR, .index = 0}, var_s = {.op = TF_MOP_VAR, .index = 1};
static const tf_mexpr two = {.op = TF_MOP_CONST, .value = 2};

START_TEST(many_operands_and_text) {
  const tf_mexpr sum_args[] = {{.op = TF_MOP_CONST, .value = 5}, var_s, {.op = TF_MOP_EXTENT, .index = 0, .axis = 1}};
  const tf_mexpr sum = {.op = TF_MOP_ADD, .arg_count = 3, .args = sum_args};
  const tf_mexpr outer_args[] = {sum, {.op = TF_MOP_SCALAR, .index = 1, .element = TF_ELEMENT_I16}, two};
  const tf_mexpr product = {.op = TF_MOP_MUL, .arg_count = 3, .args = outer_args};
  const tf_mexpr most = {.op = TF_MOP_MAX, .arg_count = 3, .args = outer_args};
  const int64_t values[] = {0, 37}, shape[] = {1, 100};
  const tf_value arguments[] = {{.tensor.shape = shape}, {.bits = 1000}};
  const tf_menv env = {values, arguments};
  int64_t v;
  ck_assert_ptr_null(tf_mexpr_eval(&product, &env, &v));
  ck_assert_int_eq(v, 142 * 2000);
  ck_assert_ptr_null(tf_mexpr_eval(&most, &env, &v));
  ck_assert_int_eq(v, 1000);
  const tf_mparam params[] = {{.name = "x", .kind = TF_MPARAM_TENSOR, .rank = 2},
                              {.name = "n", .kind = TF_MPARAM_SCALAR}};
  const tf_msignature signature = {.name = "f", .params = params, .param_count = 2, .declared_count = 2};
  const tf_manifest manifest = {.dims = dims, .dim_count = 2};
  char text[64];
  tf_mexpr_format(&manifest, &signature, &product, text, sizeof text);
  ck_assert_str_eq(text, "(5 + S + shape_of(x, 1))*n*2");
  tf_mexpr_format(&manifest, &signature, &most, text, sizeof text);
  ck_assert_str_eq(text, "max(5 + S + shape_of(x, 1), n, 2)");
  tf_mexpr_format(&manifest, &signature, &product, text, 9);
  ck_assert_str_eq(text, "(5 + S +");
}
END_TEST

START_TEST(multiples) {
  unsigned dim;
  int64_t factor;
  const tf_mexpr left[] = {two, var_s}, right[] = {var_s, two}, squared[] = {var_s, var_s}, three[] = {two, var_s, two};
  const tf_mexpr zero[] = {{.op = TF_MOP_CONST, .value = 0}, var_s};
  ck_assert(tf_mexpr_is_multiple(&var_s, &dim, &factor) && dim == 1 && factor == 1);
  ck_assert(tf_mexpr_is_multiple(&(tf_mexpr){.op = TF_MOP_MUL, .arg_count = 2, .args = left}, &dim, &factor) &&
            factor == 2);
  ck_assert(tf_mexpr_is_multiple(&(tf_mexpr){.op = TF_MOP_MUL, .arg_count = 2, .args = right}, &dim, &factor) &&
            dim == 1);
  ck_assert(!tf_mexpr_is_multiple(&(tf_mexpr){.op = TF_MOP_MUL, .arg_count = 2, .args = squared}, &dim, &factor));
  ck_assert(!tf_mexpr_is_multiple(&(tf_mexpr){.op = TF_MOP_MUL, .arg_count = 3, .args = three}, &dim, &factor));
  ck_assert(!tf_mexpr_is_multiple(&(tf_mexpr){.op = TF_MOP_MUL, .arg_count = 2, .args = zero}, &dim, &factor));
  ck_assert(!tf_mexpr_is_multiple(&(tf_mexpr){.op = TF_MOP_ADD, .arg_count = 2, .args = left}, &dim, &factor));
  ck_assert(!tf_mexpr_is_multiple(&two, &dim, &factor));
}
END_TEST

/* f(x: (S, 4*K), n, y: (S + K, 2*S)): S from x's axis 0, K from its axis 1. */
static char why_text[256];

static tf_status solve(int64_t s0, int64_t k4, int64_t sum, int64_t s2, int64_t *out) {
  const tf_mexpr k_args[] = {{.op = TF_MOP_CONST, .value = 4}, var_k}, sum_args[] = {var_s, var_k},
                 s_args[] = {two, var_s};
  const tf_mexpr x_shape[] = {var_s, {.op = TF_MOP_MUL, .arg_count = 2, .args = k_args}};
  const tf_mexpr y_shape[] = {{.op = TF_MOP_ADD, .arg_count = 2, .args = sum_args},
                              {.op = TF_MOP_MUL, .arg_count = 2, .args = s_args}};
  const tf_mparam params[] = {{.name = "x", .kind = TF_MPARAM_TENSOR, .rank = 2, .shape = x_shape},
                              {.name = "n", .kind = TF_MPARAM_SCALAR},
                              {.name = "y", .kind = TF_MPARAM_CONST_TENSOR, .rank = 2, .shape = y_shape}};
  const tf_msolve solves[] = {{.dim = 1, .param = 0, .axis = 0, .factor = 1},
                              {.dim = 0, .param = 0, .axis = 1, .factor = 4}};
  const tf_msignature signature = {
      .name = "f", .params = params, .param_count = 3, .declared_count = 3, .solves = solves, .solve_count = 2};
  const tf_manifest manifest = {.dims = dims, .dim_count = 2};
  const int64_t x[] = {s0, k4}, y[] = {sum, s2};
  const tf_value values[] = {{.tensor.shape = x}, {.bits = 7}, {.tensor.shape = y}};
  why_text[0] = '\0';
  return tf_dims_solve(&manifest, &signature, values, out, &(tf_why){why_text, sizeof why_text});
}

START_TEST(solving) {
  int64_t v[2];
  ck_assert_int_eq(solve(37, 12, 40, 74, v), TF_OK);
  ck_assert_int_eq(v[1], 37);
  ck_assert_int_eq(v[0], 3);
  ck_assert_int_eq(solve(1, 0, 1, 2, v), TF_OK); /* both at their lower ends */
  ck_assert_int_eq(solve(999, 396, 1098, 1998, v), TF_OK);
}
END_TEST

static const struct {
  int64_t x0, x1, y0, y1;
  const char *says;
} unsolvable[] = {
    {0, 0, 0, 0, "argument 'x': axis 0 has extent 0, so S is 0, expected a value in [1, 1000)"},
    {1000, 0, 1000, 2000, "argument 'x': axis 0 has extent 1000, so S is 1000, expected a value in [1, 1000)"},
    {37, 13, 40, 74, "argument 'x': axis 1 has extent 13, expected a multiple of 4 (it is 4*K)"},
    {37, 400, 137, 74, "argument 'x': axis 1 has extent 400, so K is 100, expected a value in [0, 100)"},
    {37, 12, 41, 74, "argument 'y': axis 0 has extent 41, expected 40 (S + K)"},
    {37, 12, 40, 72, "argument 'y': axis 1 has extent 72, expected 74 (2*S)"},
    {37, 12, 2147483648, 74, "argument 'y': axis 0 has extent 2147483648; extents lie in [0, 2^31)"},
    {37, -4, 36, 74, "argument 'x': axis 1 has extent -4; extents lie in [0, 2^31)"},
};

START_TEST(unsolved) {
  int64_t v[2];
  ck_assert_int_eq(solve(unsolvable[_i].x0, unsolvable[_i].x1, unsolvable[_i].y0, unsolvable[_i].y1, v), TF_LAUNCH);
  ck_assert_str_eq(why_text, unsolvable[_i].says);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("dims");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, floor_rules);
  tcase_add_test(c, overflow_is_an_error);
  tcase_add_test(c, many_operands_and_text);
  tcase_add_test(c, multiples);
  tcase_add_test(c, solving);
  tcase_add_loop_test(c, unsolved, 0, sizeof unsolvable / sizeof unsolvable[0]);
  return run_case("dims", c);
}
