/* Faults of structure that neither the parser nor the builder lets through: nodes are made by hand, one fault each, and the
 * verifier has to answer with its row. A fault-free function made the same way is accepted. */
#include <check.h>
#include <stdlib.h>

#include <tilefoundry/Intrinsic.h>
#include <tilefoundry/Verify.h>

#include "Harness.h"
#include "IR/Construct.h"

static tf_context *context;
static const tf_place nowhere = {{0, 0, 0, 0}, NULL};

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------------------ */

static const tf_type *vector_type(void) {
  const tf_dim *extent = tf_dim_int(context, 8);
  return tf_type_tensor(context, 1, &extent, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM);
}

static const tf_expr *vector_param(const char *name) {
  return tf_expr_param(context, name, vector_type(), false, TF_NO_LOC);
}

static const tf_expr *number(int64_t value) {
  return tf_expr_int(context, TF_DTYPE_I64, value, TF_NO_LOC);
}

static const tf_expr *sum(const tf_expr *a, const tf_expr *b) {
  const tf_expr *args[2] = {a, b};
  tf_attr kind = {.i = TF_SCALAR_BINARY_ADD};
  return tf_expr_call(context, TF_OP_SCALAR_BINARY, 2, args, &kind, TF_NO_LOC);
}

static const tf_stmt *sequence(unsigned count, const tf_stmt *const *items) {
  return tf_stmt_sequential(context, count, items, nowhere);
}

static const tf_stmt *empty(void) {
  return sequence(0, NULL);
}

static const tf_stmt *let(const tf_expr *var, const tf_expr *value) {
  return tf_stmt_let(context, var, value, empty(), nowhere);
}

static const tf_stmt *fill(const tf_expr *tensor, const tf_expr *value) {
  const tf_expr *args[2] = {tensor, value};
  return tf_stmt_evaluate(context, TF_OP_FILL, 2, args, NULL, nowhere);
}

static const tf_stmt *function(const char *name, unsigned count, const tf_expr *const *params, const tf_stmt *body) {
  return tf_stmt_function(context, name, count, params, body, 0, NULL, nowhere);
}

static const tf_expr *symbol(const tf_stmt *callee) {
  return tf_expr_symbol(context, tf_function_name(callee), tf_function_type(context, callee), TF_NO_LOC);
}

/* ---- Verdicts ------------------------------------------------------------------------------------------------------------- */

static unsigned reports_of(tf_diag_id id) {
  unsigned count = 0;
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    count += tf_context_diagnostic(context, i)->id == id;
  return count;
}

static void expect_row(tf_diag_id id, unsigned function_count, const tf_stmt *const *functions) {
  const tf_module *module = tf_module_new(context, NULL, NULL, TF_NO_LOC, function_count, functions, 0, NULL);
  tf_context_clear_diagnostics(context);
  ck_assert_int_eq(tf_verify(module, NULL), TF_VERIFY);
  ck_assert_msg(reports_of(id) == 1, "%s was reported %u times", tf_diag_name(id), reports_of(id));
}

static void expect_fault(tf_diag_id id, const tf_stmt *stmt, const tf_expr *param) {
  const tf_stmt *k = function("k", 1, &param, sequence(1, &stmt));
  expect_row(id, 1, &k);
}

START_TEST(fine_function_is_accepted) {
  const tf_expr *x = vector_param("x"), *i = tf_expr_let_var(context, "i", sum(number(1), number(2)), TF_NO_LOC);
  const tf_stmt *items[2] = {fill(x, tf_expr_float(context, TF_DTYPE_F32, 1.0, TF_NO_LOC)),
                             let(i, sum(number(1), number(2)))};
  const tf_stmt *k = function("k", 1, &x, sequence(2, items));
  ck_assert_int_eq(tf_verify(tf_module_new(context, NULL, NULL, TF_NO_LOC, 1, &k, 0, NULL), NULL), TF_OK);
}
END_TEST

START_TEST(bindings) {
  const tf_expr *x = vector_param("x"), *value = sum(number(1), number(2));
  const tf_expr *i = tf_expr_let_var(context, "i", value, TF_NO_LOC);
  const tf_stmt *twice[2] = {let(i, value), let(i, value)};
  expect_fault(TF_DIAG_VAR_REBOUND, sequence(2, twice), x);

  const tf_expr *j = tf_expr_let_var(context, "j", value, TF_NO_LOC),
                *k = tf_expr_let_var(context, "k", sum(j, j), TF_NO_LOC);
  const tf_stmt *inner[1] = {let(j, value)};
  const tf_stmt *late[2] = {
      tf_stmt_if(context, tf_expr_int(context, TF_DTYPE_BOOL, 1, TF_NO_LOC), sequence(1, inner), NULL, nowhere),
      let(k, sum(j, number(1)))};
  expect_fault(TF_DIAG_VAR_NOT_IN_SCOPE, sequence(2, late), x);

  const tf_expr *flag = tf_expr_var_new(context, "flag", tf_type_scalar(context, TF_DTYPE_BOOL), TF_NO_LOC);
  expect_fault(TF_DIAG_LET_TYPE, let(flag, value), x);
}
END_TEST

START_TEST(misplaced_values) {
  const tf_expr *x = vector_param("x");
  tf_attr type = {.type = vector_type()};
  const tf_dim *extent = tf_dim_int(context, 8);
  type.type = tf_type_tensor(context, 1, &extent, TF_DTYPE_F32, NULL, TF_STORAGE_RMEM);
  const tf_expr *fresh = tf_expr_call(context, TF_OP_ALLOC_TENSOR, 0, NULL, &type, TF_NO_LOC);
  expect_fault(TF_DIAG_ALLOC_NESTED, fill(fresh, tf_expr_float(context, TF_DTYPE_F32, 1.0, TF_NO_LOC)), x);

  const tf_expr *span = tf_expr_call(context, TF_OP_MEMORY_SPAN, 1, &x, NULL, TF_NO_LOC);
  expect_fault(TF_DIAG_VALUE_NESTED, fill(span, tf_expr_float(context, TF_DTYPE_F32, 1.0, TF_NO_LOC)), x);

  const tf_stmt *span_stmt = tf_stmt_evaluate(context, TF_OP_MEMORY_SPAN, 1, &x, NULL, nowhere);
  expect_fault(TF_DIAG_VALUE_AS_STMT, span_stmt, x);

  const tf_expr *elements[2] = {number(1), number(2)}, *tuple = tf_expr_tuple(context, 2, elements, TF_NO_LOC);
  expect_fault(TF_DIAG_TUPLE_PLACE, fill(x, tuple), x);
}
END_TEST

START_TEST(symbols) {
  const tf_expr *x = vector_param("x"), *p = vector_param("p"), *q = vector_param("q");
  const tf_stmt *callee = function("callee", 1, &p, empty()), *other = function("callee", 1, &q, empty());
  expect_fault(TF_DIAG_SYMBOL_PLACE, fill(x, symbol(callee)), x);

  const tf_stmt *call = tf_stmt_call(context, symbol(callee), 1, &x, nowhere);
  const tf_stmt *both[3] = {function("k", 1, &x, sequence(1, &call)), callee, other};
  expect_row(TF_DIAG_CALLEE_RESOLUTION, 3, both);
  expect_row(TF_DIAG_CALLEE_RESOLUTION, 1, both);

  const tf_expr *wrong = tf_expr_symbol(context, "callee", tf_type_callable(context, 0, NULL), TF_NO_LOC);
  const tf_expr *y = vector_param("y");
  const tf_stmt *typed = tf_stmt_call(context, wrong, 1, &y, nowhere);
  const tf_stmt *two[2] = {function("k", 1, &y, sequence(1, &typed)), callee};
  expect_row(TF_DIAG_CALLEE_TYPE, 2, two);
}
END_TEST

START_TEST(shape_of) {
  const tf_expr *x = vector_param("x"), *foreign = vector_param("foreign");
  const tf_expr *outside = tf_expr_shape_of(context, foreign, 0, TF_NO_LOC);
  expect_fault(TF_DIAG_SHAPE_OF_FOREIGN, let(tf_expr_let_var(context, "a", outside, TF_NO_LOC), outside), x);
  const tf_expr *y = vector_param("y"), *axis = tf_expr_shape_of(context, y, 1, TF_NO_LOC);
  expect_fault(TF_DIAG_SHAPE_OF_RANK, let(tf_expr_let_var(context, "a", axis, TF_NO_LOC), axis), y);
}
END_TEST

START_TEST(parameters) {
  const tf_expr *unit = tf_expr_param(context, "u", tf_type_unit(context), false, TF_NO_LOC);
  const tf_stmt *k = function("k", 1, &unit, empty());
  expect_row(TF_DIAG_PARAM_KIND, 1, &k);
}
END_TEST

START_TEST(nested_function) {
  const tf_expr *x = vector_param("x");
  expect_fault(TF_DIAG_FUNCTION_NESTED, function("inner", 0, NULL, empty()), x);
}
END_TEST

START_TEST(nesting_is_bounded) {
  const tf_expr *deep = number(1), *x = vector_param("x");
  for (int i = 0; i < 5000; i++)
    deep = sum(deep, number(1));
  expect_fault(TF_DIAG_NESTING, let(tf_expr_let_var(context, "a", deep, TF_NO_LOC), deep), x);

  const tf_stmt *block = empty();
  const tf_expr *yes = tf_expr_int(context, TF_DTYPE_BOOL, 1, TF_NO_LOC), *y = vector_param("y");
  for (int i = 0; i < 20000; i++) {
    const tf_stmt *outer = tf_stmt_if(context, yes, block, NULL, nowhere);
    block = sequence(1, &outer);
  }
  expect_fault(TF_DIAG_NESTING, block, y);
}
END_TEST

/* A let's body is the rest of its block: many bindings nest deep without being deep. */
START_TEST(many_bindings_are_not_nesting) {
  tf_block block;
  tf_block_init(&block, context);
  const tf_expr *last = number(0), *x = vector_param("x");
  for (int i = 0; i < 20000; i++) {
    const tf_expr *value = sum(last, number(1)), *var = tf_expr_let_var(context, "a", value, TF_NO_LOC);
    tf_block_let(&block, var, value, nowhere);
    last = var;
  }
  const tf_stmt *k = function("k", 1, &x, tf_block_finish(&block, TF_NO_LOC));
  ck_assert_int_eq(tf_verify(tf_module_new(context, NULL, NULL, TF_NO_LOC, 1, &k, 0, NULL), NULL), TF_OK);
}
END_TEST

/* ---- Intrinsics --------------------------------------------------------------------------------------------------------------- */

static const char *wants_rank_two(void *user, const tf_stmt *use) {
  ++*(int *)user;
  return tf_type_rank(tf_expr_type(tf_evaluate_arg(use, 0))) == 2 ? NULL : "x must be a matrix";
}

START_TEST(intrinsics_of_c_are_asked) {
  const char *names[1] = {"x"};
  int calls = 0;
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  options.name = "warm_up";
  options.param_count = 1;
  options.params = names;
  options.verify = wants_rank_two;
  options.user = &calls;
  const tf_intrinsic *intrinsic = NULL;
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &intrinsic), TF_OK);
  const tf_expr *x = vector_param("x"), *y = vector_param("y");
  expect_fault(TF_DIAG_INTRINSIC_FAILED, tf_stmt_intrinsic(context, intrinsic, 1, &x, nowhere), x);
  ck_assert_int_eq(calls, 1);
  expect_fault(TF_DIAG_OPERAND_COUNT, tf_stmt_intrinsic(context, intrinsic, 0, NULL, nowhere), y);
  ck_assert_int_eq(calls, 1);
}
END_TEST

/* ---- Dispatch --------------------------------------------------------------------------------------------------------------- */

/* A dispatch over x: (S,) with one case; the arguments make it faulty. */
static void expect_dispatch_fault(tf_diag_id id, const tf_expr *subject, const tf_stmt *fallback, const tf_stmt *call,
                                  const tf_expr *x, const tf_stmt *variant) {
  tf_range_pattern pattern = {tf_context_intern(context, "S", 1), 1, 16};
  const tf_stmt *dispatch = tf_stmt_dispatch(context, "d", subject, 1, &pattern, &call, fallback, nowhere);
  const tf_stmt *functions[2] = {function("d", 1, &x, sequence(1, &dispatch)), variant};
  expect_row(id, 2, functions);
}

START_TEST(dispatch_rules) {
  const tf_dim *s = NULL;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 64, &s), TF_OK);
  const tf_type *type = tf_type_tensor(context, 1, &s, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM);
  const tf_expr *p = tf_expr_param(context, "p", type, false, TF_NO_LOC);
  const tf_stmt *variant = function("variant", 1, &p, empty());
  const tf_stmt *abort = tf_stmt_abort(context, NULL, nowhere), *fallback = sequence(1, &abort);
  const tf_expr *x[4];
  for (int i = 0; i < 4; i++)
    x[i] = tf_expr_param(context, "x", type, false, TF_NO_LOC);
#define SHAPE(i) tf_expr_shape_of(context, x[i], 0, TF_NO_LOC)
#define CALL(i)  tf_stmt_call(context, symbol(variant), 1, &x[i], nowhere)
  expect_dispatch_fault(TF_DIAG_DISPATCH_NOT_SHAPE_OF, number(3), fallback, CALL(0), x[0], variant);
  expect_dispatch_fault(TF_DIAG_DISPATCH_NO_ABORT, SHAPE(1), empty(), CALL(1), x[1], variant);
  expect_dispatch_fault(TF_DIAG_DISPATCH_NOT_A_CALL, SHAPE(2), fallback, fill(x[2], number(0)), x[2], variant);

  tf_stmt two = *tf_stmt_dispatch(context, "d", SHAPE(3), 0, NULL, NULL, fallback, nowhere);
  const tf_expr *subjects[2] = {SHAPE(3), SHAPE(3)};
  two.dispatch.subject_count = 2;
  two.dispatch.subjects = subjects;
  const tf_stmt *dispatch = &two, *d = function("d", 1, &x[3], sequence(1, &dispatch));
  expect_row(TF_DIAG_DISPATCH_SUBJECT_COUNT, 1, &d);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("structure");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, fine_function_is_accepted);
  tcase_add_test(tests, bindings);
  tcase_add_test(tests, misplaced_values);
  tcase_add_test(tests, symbols);
  tcase_add_test(tests, shape_of);
  tcase_add_test(tests, parameters);
  tcase_add_test(tests, nested_function);
  tcase_add_test(tests, nesting_is_bounded);
  tcase_add_test(tests, many_bindings_are_not_nesting);
  tcase_add_test(tests, intrinsics_of_c_are_asked);
  tcase_add_test(tests, dispatch_rules);
  return run_case("structure", tests);
}
