/* Types of scalar expressions, op by op, against the rules as the manual states them: common types are found here by asking
 * which format holds the other's values, counted in bits and exponents, not through the table of the code under test. */
#include <string.h>

#include <check.h>

#include "Harness.h"
#include "IR/Construct.h"
#include "IR/Infer.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

/* Bits before and behind the point that a value of the format may have; e5m2 and e4m3 as their bit patterns have them. */
typedef struct format {
  tf_dtype dtype;
  char class; /* b, i, u, f */
  int exponent, mantissa, bits;
} format;

static const format formats[] = {
    {TF_DTYPE_BOOL, 'b', 0, 0, 8},    {TF_DTYPE_I8, 'i', 0, 0, 8},      {TF_DTYPE_I16, 'i', 0, 0, 16},
    {TF_DTYPE_I32, 'i', 0, 0, 32},    {TF_DTYPE_I64, 'i', 0, 0, 64},    {TF_DTYPE_U8, 'u', 0, 0, 8},
    {TF_DTYPE_U16, 'u', 0, 0, 16},    {TF_DTYPE_U32, 'u', 0, 0, 32},    {TF_DTYPE_U64, 'u', 0, 0, 64},
    {TF_DTYPE_FP8E4M3, 'f', 4, 3, 0}, {TF_DTYPE_FP8E5M2, 'f', 5, 2, 0}, {TF_DTYPE_F16, 'f', 5, 10, 0},
    {TF_DTYPE_BF16, 'f', 8, 7, 0},    {TF_DTYPE_TF32, 'f', 8, 10, 0},   {TF_DTYPE_F32, 'f', 8, 23, 0},
    {TF_DTYPE_F64, 'f', 11, 52, 0},
};
#define FORMATS (sizeof formats / sizeof *formats)

static bool holds(const format *outer, const format *inner) {
  return outer->exponent >= inner->exponent && outer->mantissa >= inner->mantissa;
}

/* The expected common type; TF_DTYPE_COUNT: refused. */
static tf_dtype expected_common(const format *a, const format *b) {
  if (a == b) return a->dtype;
  if (a->class == 'b' || b->class == 'b') return TF_DTYPE_COUNT;
  if (a->class == 'f' && b->class == 'f') return holds(a, b) ? a->dtype : holds(b, a) ? b->dtype : TF_DTYPE_F32;
  if (a->class == 'f') return a->dtype;
  if (b->class == 'f') return b->dtype;
  if (a->class == b->class) return a->bits > b->bits ? a->dtype : b->dtype;
  const format *s = a->class == 'i' ? a : b, *u = a->class == 'i' ? b : a;
  for (size_t i = 0; i < FORMATS; i++) /* the formats stand in ascending order of bits */
    if (formats[i].class == 'i' && formats[i].bits >= s->bits && formats[i].bits > u->bits) return formats[i].dtype;
  return TF_DTYPE_I64;
}

START_TEST(common_types) {
  for (size_t i = 0; i < FORMATS; i++)
    for (size_t k = 0; k < FORMATS; k++) {
      tf_dtype got = TF_DTYPE_COUNT, want = expected_common(&formats[i], &formats[k]);
      ck_assert_int_eq(tf_dtype_common(formats[i].dtype, formats[k].dtype, &got), want != TF_DTYPE_COUNT);
      ck_assert_msg(got == want, "%s with %s is %s", tf_dtype_name(formats[i].dtype), tf_dtype_name(formats[k].dtype),
                    tf_dtype_name(got));
    }
  tf_dtype got;
  ck_assert(tf_dtype_common(TF_DTYPE_I64, TF_DTYPE_F16, &got) && got == TF_DTYPE_F16);
  ck_assert(tf_dtype_common(TF_DTYPE_F16, TF_DTYPE_BF16, &got) && got == TF_DTYPE_F32);
  ck_assert(tf_dtype_common(TF_DTYPE_I32, TF_DTYPE_U32, &got) && got == TF_DTYPE_I64);
}
END_TEST

static const tf_expr *scalar(tf_dtype dtype) {
  return tf_expr_param(context, "s", tf_type_scalar(context, dtype), false, TF_NO_LOC);
}

static const tf_expr *binary(tf_scalar_binary_kind kind, const tf_expr *a, const tf_expr *b) {
  tf_attr attr = {.i = kind};
  return tf_expr_call(context, TF_OP_SCALAR_BINARY, 2, (const tf_expr *const[]){a, b}, &attr, TF_NO_LOC);
}

static const tf_expr *unary(tf_scalar_unary_kind kind, const tf_expr *x) {
  tf_attr attr = {.i = kind};
  return tf_expr_call(context, TF_OP_SCALAR_UNARY, 1, &x, &attr, TF_NO_LOC);
}

static tf_dtype dtype_of(const tf_expr *expr) {
  return expr ? tf_type_dtype(expr->type) : TF_DTYPE_COUNT;
}

/* Kinds by what they take, from Python's operators. */
static char class_of(tf_scalar_binary_kind kind) {
  const char *name = tf_scalar_binary_name(kind);
  if (!strcmp(name, "and") || !strcmp(name, "or")) return 'l';
  if (strstr("eq ne lt le gt ge", name)) return 'c';
  if (strstr("bit_or bit_xor bit_and shl shr", name)) return 'b';
  return strcmp(name, "div") == 0 ? 'd' : 'a';
}

static tf_dtype expected_result(tf_scalar_binary_kind kind, const format *a, const format *b) {
  tf_dtype common = expected_common(a, b);
  bool integers = a->class != 'f' && b->class != 'f', bools = a->class == 'b' && b->class == 'b';
  switch (class_of(kind)) {
  case 'l':
    return bools ? TF_DTYPE_BOOL : TF_DTYPE_COUNT;
  case 'c':
    return common == TF_DTYPE_COUNT ? TF_DTYPE_COUNT : TF_DTYPE_BOOL;
  case 'b':
    return common == TF_DTYPE_COUNT || bools || !integers ? TF_DTYPE_COUNT : TF_DTYPE_I64;
  case 'd':
    return common == TF_DTYPE_COUNT || integers ? TF_DTYPE_COUNT : common;
  default:
    return common == TF_DTYPE_COUNT || bools ? TF_DTYPE_COUNT : integers ? TF_DTYPE_I64 : common;
  }
}

START_TEST(binary_operators_on_all_pairs) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)_i;
  for (size_t i = 0; i < FORMATS; i++)
    for (size_t k = 0; k < FORMATS; k++) {
      size_t before = tf_context_error_count(context);
      const tf_expr *got = binary(kind, scalar(formats[i].dtype), scalar(formats[k].dtype));
      ck_assert_msg(dtype_of(got) == expected_result(kind, &formats[i], &formats[k]), "%s %s %s is %s",
                    tf_dtype_name(formats[i].dtype), tf_scalar_binary_name(kind), tf_dtype_name(formats[k].dtype),
                    tf_dtype_name(dtype_of(got)));
      ck_assert_uint_eq(tf_context_error_count(context) - before, got == NULL);
    }
}
END_TEST

START_TEST(unary_operators) {
  for (size_t i = 0; i < FORMATS; i++) {
    const format *f = &formats[i];
    tf_dtype number = f->class == 'b' ? TF_DTYPE_COUNT : f->class == 'f' ? f->dtype : TF_DTYPE_I64;
    ck_assert_int_eq(dtype_of(unary(TF_SCALAR_UNARY_NEG, scalar(f->dtype))), number);
    ck_assert_int_eq(dtype_of(unary(TF_SCALAR_UNARY_ABS, scalar(f->dtype))), number);
    ck_assert_int_eq(dtype_of(unary(TF_SCALAR_UNARY_NOT, scalar(f->dtype))),
                     f->class == 'b' ? TF_DTYPE_BOOL : TF_DTYPE_COUNT);
  }
}
END_TEST

START_TEST(literals_take_the_type_beside_them) {
  const tf_expr *tenth = tf_expr_float(context, TF_DTYPE_F32, 0.1, TF_NO_LOC);
  const tf_expr *half = binary(TF_SCALAR_BINARY_MUL, scalar(TF_DTYPE_F16), tenth);
  ck_assert_int_eq(dtype_of(half), TF_DTYPE_F16);
  ck_assert_int_eq(dtype_of(half->call.args[1]), TF_DTYPE_F16);
  ck_assert(half->call.args[1]->constant.f == 0.1);
  ck_assert_int_eq(dtype_of(tenth), TF_DTYPE_F32); /* the literal itself is as it was */
  ck_assert_int_eq(dtype_of(binary(TF_SCALAR_BINARY_LT, tenth, scalar(TF_DTYPE_F64))->call.args[0]), TF_DTYPE_F64);
  ck_assert_int_eq(dtype_of(binary(TF_SCALAR_BINARY_ADD, tenth, scalar(TF_DTYPE_I32))), TF_DTYPE_F32);
  ck_assert_int_eq(dtype_of(binary(TF_SCALAR_BINARY_ADD, tenth, tf_expr_float(context, TF_DTYPE_F64, 1, TF_NO_LOC))),
                   TF_DTYPE_F64);
  const tf_expr *three = tf_expr_int(context, TF_DTYPE_I64, 3, TF_NO_LOC);
  ck_assert_int_eq(dtype_of(binary(TF_SCALAR_BINARY_MUL, three, scalar(TF_DTYPE_BF16))), TF_DTYPE_BF16);
  const tf_expr *args[] = {scalar(TF_DTYPE_BOOL), tenth, scalar(TF_DTYPE_F16)};
  ck_assert_int_eq(dtype_of(tf_expr_call(context, TF_OP_WHERE, 3, args, NULL, TF_NO_LOC)), TF_DTYPE_F16);
}
END_TEST

START_TEST(leaves) {
  const tf_dim *shape[] = {tf_dim_int(context, 3), tf_dim_int(context, 5)};
  const tf_expr *x = tf_expr_param(
      context, "x", tf_type_tensor(context, 2, shape, TF_DTYPE_BF16, NULL, TF_STORAGE_GMEM), false, TF_NO_LOC);
  const tf_expr *one = tf_expr_int(context, TF_DTYPE_I64, 1, TF_NO_LOC);
  const tf_expr *indices[] = {x, one, one, one};
  ck_assert_int_eq(dtype_of(tf_expr_call(context, TF_OP_LOAD, 3, indices, NULL, TF_NO_LOC)), TF_DTYPE_BF16);
  ck_assert_ptr_null(tf_expr_call(context, TF_OP_LOAD, 2, indices, NULL, TF_NO_LOC));
  ck_assert_ptr_null(tf_expr_call(context, TF_OP_LOAD, 4, indices, NULL, TF_NO_LOC));
  const tf_expr *extent = tf_expr_shape_of(context, x, 1, TF_NO_LOC);
  ck_assert_int_eq(dtype_of(extent), TF_DTYPE_I32);
  ck_assert_int_eq(dtype_of(binary(TF_SCALAR_BINARY_FLOOR_DIV, extent, extent)), TF_DTYPE_I64);
  tf_attr attr = {.i = TF_DTYPE_U8};
  ck_assert_int_eq(dtype_of(tf_expr_call(context, TF_OP_CAST, 1, &one, &attr, TF_NO_LOC)), TF_DTYPE_U8);
  attr.i = TF_DTYPE_I4;
  ck_assert_ptr_null(tf_expr_call(context, TF_OP_CAST, 1, &one, &attr, TF_NO_LOC));
  attr.i = TF_LEVEL_WARP;
  ck_assert_int_eq(dtype_of(tf_expr_call(context, TF_OP_PROGRAM_ID, 0, NULL, &attr, TF_NO_LOC)), TF_DTYPE_I64);
  attr.dim = shape[0];
  ck_assert_int_eq(dtype_of(tf_expr_call(context, TF_OP_DIM_VALUE, 0, NULL, &attr, TF_NO_LOC)), TF_DTYPE_I64);
}
END_TEST

START_TEST(coordinates) {
  tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, 32)};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, 2, (int64_t[]){4, 8}), NULL);
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, layout, 0, NULL);
  const tf_expr *m = tf_expr_mesh_var(context, "m", mesh, TF_NO_LOC), *number = scalar(TF_DTYPE_I64);
  for (int64_t axis = -1; axis < 4; axis++) {
    tf_attr attr = {.i = axis};
    const tf_expr *coord = tf_expr_call(context, TF_OP_COORD, 1, &m, &attr, TF_NO_LOC);
    ck_assert_int_eq(dtype_of(coord), axis == 0 || axis == 1 ? TF_DTYPE_I64 : TF_DTYPE_COUNT);
  }
  tf_attr attr = {.i = 0};
  ck_assert_ptr_null(tf_expr_call(context, TF_OP_COORD, 1, &number, &attr, TF_NO_LOC));
}
END_TEST

/* The operand checks of the table, on an op of each arity. */
START_TEST(operands_by_the_table) {
  const tf_dim *extent = tf_dim_int(context, 4);
  const tf_type *type = tf_type_tensor(context, 1, &extent, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM);
  const tf_expr *x = tf_expr_param(context, "x", type, false, TF_NO_LOC), *s = scalar(TF_DTYPE_F32);
  const struct {
    tf_op op;
    unsigned count;
    const tf_expr *args[4];
    const char *part; /* null: fine */
  } cases[] = {
      {TF_OP_COPY, 2, {x, x}, NULL},
      {TF_OP_COPY, 1, {x}, "copy takes 2 operands, got 1"},
      {TF_OP_COPY, 3, {x, x, x}, "got 3"},
      {TF_OP_COPY, 2, {x, s}, "'destination' of copy must be a tensor to write, not a scalar of f32"},
      {TF_OP_COPY, 2, {NULL, x}, "'source' of copy must be a tensor, not nothing"},
      {TF_OP_REDUCE, 3, {x, x, NULL}, NULL},
      {TF_OP_REDUCE, 3, {x, x, s}, "'workspace'"},
      {TF_OP_TENSOR_VIEW, 1, {x}, NULL},
      {TF_OP_TENSOR_VIEW, 2, {x, s}, "'starts' of tensor_view must be an integer scalar"},
      {TF_OP_WHERE, 3, {s, s, s}, "'cond' of where must be a bool scalar"},
      {TF_OP_LAUNCH, 2, {s, s}, "at least 7"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tf_invocation invocation = {cases[i].op, cases[i].count, cases[i].args, NULL, TF_NO_LOC};
    ck_assert_int_eq(tf_operands_check(context, &invocation), cases[i].part == NULL);
    ck_assert_uint_eq(tf_context_error_count(context), cases[i].part != NULL);
    if (cases[i].part) ck_assert_ptr_nonnull(strstr(tf_context_diagnostic(context, 0)->message, cases[i].part));
    tf_context_clear_diagnostics(context);
  }
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("scalars");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, common_types);
  tcase_add_loop_test(tests, binary_operators_on_all_pairs, 0, TF_SCALAR_BINARY_COUNT);
  tcase_add_test(tests, unary_operators);
  tcase_add_test(tests, literals_take_the_type_beside_them);
  tcase_add_test(tests, leaves);
  tcase_add_test(tests, coordinates);
  tcase_add_test(tests, operands_by_the_table);
  return run_case("inference", tests);
}
