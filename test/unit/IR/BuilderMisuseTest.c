/* Misuse of the C builder: each fault below makes every later call do nothing, is reported once, and comes back as a status
 * from tf_builder_finish; none crashes. */
#include <check.h>
#include <tilefoundry/Builder.h>
#include <tilefoundry/Intrinsic.h>

#include "Harness.h"

static tf_context *context, *foreign;
static tf_builder *b;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_context_create(&foreign), TF_OK);
  ck_assert_int_eq(tf_builder_create(context, &b), TF_OK);
}

static void teardown(void) {
  tf_builder_destroy(b);
  tf_context_destroy(foreign);
  tf_context_destroy(context);
}

static const tf_type *vector_in(tf_context *owner, int64_t extent, tf_storage storage) {
  const tf_dim *dim = tf_dim_int(owner, extent);
  return tf_type_tensor(owner, 1, &dim, TF_DTYPE_F32, NULL, storage);
}

static const tf_type *vector(int64_t extent) {
  return vector_in(context, extent, TF_STORAGE_GMEM);
}

static const tf_expr *i64(tf_builder *builder, int64_t value) {
  return tf_builder_int(builder, TF_DTYPE_I64, value);
}

static const tf_expr *add(tf_builder *builder, const tf_expr *x, const tf_expr *y) {
  return tf_build_SCALAR_BINARY(builder, &(tf_args_SCALAR_BINARY){.lhs = x, .rhs = y, .kind = TF_SCALAR_BINARY_ADD});
}

static const tf_intrinsic *two_operands(void) {
  static const char *const names[] = {"first", "second"};
  const tf_intrinsic *out = NULL;
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  options.name = "touch_both";
  options.param_count = 2;
  options.params = names;
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &out), TF_OK);
  return out;
}

/* ---- Misuses ------------------------------------------------------------------------------------------------------------------------- */
/* The builder inside a function with a parameter; each misuse is made there and has to stick. */
typedef void misuse_fn(const tf_expr *x);

static void null_operand(const tf_expr *x) {
  tf_build_COPY(b, &(tf_args_COPY){.source = x});
}
static void null_arguments(const tf_expr *x) {
  (void)x;
  tf_build_COPY(b, NULL);
}
static void no_name(const tf_expr *x) {
  tf_build_PTR_OF(b, NULL, &(tf_args_PTR_OF){.x = x});
}
static void missing_attribute(const tf_expr *x) {
  (void)x;
  tf_build_ALLOC_TENSOR(b, "t", &(tf_args_ALLOC_TENSOR){.tensor_type = NULL});
}
static void attribute_out_of_range(const tf_expr *x) {
  tf_build_UNARY(b, &(tf_args_UNARY){.src = x, .dst = x, .kind = (tf_unary_kind)77});
}
static void foreign_type(const tf_expr *x) {
  (void)x;
  tf_build_ALLOC_TENSOR(b, "t", &(tf_args_ALLOC_TENSOR){.tensor_type = vector_in(foreign, 64, TF_STORAGE_RMEM)});
}
static void foreign_layout(const tf_expr *x) {
  const tf_layout *layout = tf_layout_plain(foreign, tf_tuple_ints(foreign, 1, (int64_t[]){64}), NULL);
  tf_build_TENSOR_VIEW(b, "v", &(tf_args_TENSOR_VIEW){.memory = x, .layout = layout});
}
static void foreign_atom(const tf_expr *x) {
  const tf_mma_atom *atom = tf_mma_atom_get(foreign, "SM80_8x8x4_F64F64F64F64_TN");
  tf_build_MMA(b, &(tf_args_MMA){.acc = x, .lhs = x, .rhs = x, .atom = atom});
}
static void foreign_expression(const tf_expr *x) {
  tf_builder *other;
  ck_assert_int_eq(tf_builder_create(foreign, &other), TF_OK);
  tf_build_FILL(b, &(tf_args_FILL){.tensor = x, .value = tf_builder_float(other, TF_DTYPE_F32, 0)});
  tf_builder_destroy(other);
}
static void wrong_kind_of_operand(const tf_expr *x) {
  tf_build_COPY(b, &(tf_args_COPY){.source = x, .destination = i64(b, 3)});
}
static void wrong_dtype_of_literal(const tf_expr *x) {
  (void)x;
  tf_builder_int(b, TF_DTYPE_F32, 3);
}
static void too_many_operands(const tf_expr *x) {
  tf_builder_op(b, TF_OP_COPY, NULL, 3, (const tf_expr *[]){x, x, x}, NULL);
}
static void unknown_op(const tf_expr *x) {
  (void)x;
  tf_builder_op(b, TF_OP_COUNT, NULL, 0, NULL, NULL);
}
static void unknown_function(const tf_expr *x) {
  tf_builder_call(b, "nobody", 1, &x);
}
static void late_param(const tf_expr *x) {
  (void)x;
  tf_builder_return(b);
  tf_builder_param(b, "late", vector(4), false);
}
static void second_param_of_a_name(const tf_expr *x) {
  tf_builder_param(b, tf_expr_name(x), vector(4), false);
}
static void else_without_if(const tf_expr *x) {
  (void)x;
  tf_builder_begin_else(b);
}
static void second_else(const tf_expr *x) {
  (void)x;
  tf_builder_begin_if(b, tf_builder_int(b, TF_DTYPE_BOOL, 1));
  tf_builder_begin_else(b);
  tf_builder_begin_else(b);
}
static void too_many_ends(const tf_expr *x) {
  (void)x;
  tf_builder_end(b);
  tf_builder_end(b);
}
static void open_block(const tf_expr *x) {
  (void)x;
  tf_builder_begin_if(b, tf_builder_int(b, TF_DTYPE_BOOL, 1));
  tf_builder_end(b);
}
static void variable_behind_its_block(const tf_expr *x) {
  (void)x;
  const tf_expr *i = tf_builder_begin_for(b, "i", i64(b, 0), i64(b, 4), i64(b, 1)), *next = add(b, i, i64(b, 1));
  tf_builder_end(b);
  tf_builder_let(b, "k", next);
}
static void variable_of_the_other_branch(const tf_expr *x) {
  (void)x;
  tf_builder_begin_if(b, tf_builder_int(b, TF_DTYPE_BOOL, 1));
  const tf_expr *k = tf_builder_let(b, "k", i64(b, 1));
  tf_builder_begin_else(b);
  tf_builder_let(b, "n", k);
}
static void statement_in_a_dispatch(const tf_expr *x) {
  tf_builder_begin_dispatch(b, "d", tf_builder_shape_of(b, x, 0), NULL);
  tf_builder_return(b);
}
static void case_outside(const tf_expr *x) {
  tf_builder_case(b, "S", 0, 1, "f", 1, &x);
}
static void shape_of_no_parameter(const tf_expr *x) {
  tf_builder_shape_of(b, tf_build_PTR_OF(b, "p", &(tf_args_PTR_OF){.x = x}), 0);
}
static void nested_function(const tf_expr *x) {
  (void)x;
  tf_builder_begin_function(b, "g", NULL);
}
static void second_module(const tf_expr *x) {
  (void)x;
  tf_builder_begin_module(b, NULL, NULL);
}
static void null_intrinsic(const tf_expr *x) {
  tf_builder_intrinsic(b, NULL, 1, &x);
}
static void intrinsic_arguments(const tf_expr *x) {
  tf_builder_intrinsic(b, two_operands(), 1, &x);
}
static void two_intrinsics_of_one_name(const tf_expr *x) {
  tf_builder_intrinsic(b, two_operands(), 2, (const tf_expr *[]){x, x});
  tf_builder_intrinsic(b, two_operands(), 2, (const tf_expr *[]){x, x});
}
static void deep_expression(const tf_expr *x) {
  (void)x;
  const tf_expr *sum = i64(b, 0);
  for (unsigned i = 0; i < 5000; i++)
    sum = add(b, sum, i64(b, 1));
}
static void deep_blocks(const tf_expr *x) {
  (void)x;
  for (unsigned i = 0; i < 5000; i++)
    tf_builder_begin_while(b, tf_builder_int(b, TF_DTYPE_BOOL, 1));
}

static misuse_fn *const misuses[] = {
    null_operand,
    null_arguments,
    no_name,
    missing_attribute,
    attribute_out_of_range,
    foreign_type,
    foreign_layout,
    foreign_atom,
    foreign_expression,
    wrong_kind_of_operand,
    wrong_dtype_of_literal,
    too_many_operands,
    unknown_op,
    unknown_function,
    late_param,
    second_param_of_a_name,
    else_without_if,
    second_else,
    too_many_ends,
    variable_behind_its_block,
    variable_of_the_other_branch,
    statement_in_a_dispatch,
    case_outside,
    shape_of_no_parameter,
    nested_function,
    second_module,
    null_intrinsic,
    intrinsic_arguments,
    two_intrinsics_of_one_name,
    deep_expression,
    deep_blocks,
    open_block,
};
#define MISUSES (sizeof misuses / sizeof *misuses)

START_TEST(misuse_sticks_and_is_reported) {
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "f", NULL);
  const tf_expr *x = tf_builder_param(b, "x", vector(64), false);
  ck_assert_ptr_nonnull(x);
  misuses[_i](x);
  if (misuses[_i] != open_block) {
    tf_builder_return(b);
    ck_assert_ptr_null(i64(b, 1)); /* nothing works any more */
    tf_builder_end(b);
  }
  const tf_module *module = (const tf_module *)&foreign;
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_INVALID_ARGUMENT);
  ck_assert_ptr_eq(module, (const tf_module *)&foreign); /* untouched */
  ck_assert_uint_eq(tf_context_error_count(context), 1);
  /* what the op table says of operands has messages of its own */
  tf_diag_id expected = misuses[_i] == wrong_kind_of_operand ? TF_DIAG_OPERAND_KIND
                        : misuses[_i] == too_many_operands   ? TF_DIAG_OPERAND_COUNT
                                                             : TF_DIAG_BUILDER_MISUSE;
  ck_assert_int_eq(tf_context_diagnostic(context, 0)->id, expected);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("misuse");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_loop_test(tests, misuse_sticks_and_is_reported, 0, (int)MISUSES);
  return run_case("builder misuse", tests);
}
