/* Printed text reads back as the same module: for modules that no text would give (built through C), and in exact wording. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilefoundry/Builder.h>
#include <tilefoundry/Text.h>

#include "Harness.h"
#include "Support/Context.h"

typedef struct fixture {
  tf_context *context;
  tf_builder *b;
  const tf_expr *x, *y, *n, *f, *h; /* tensors (S, 8) of f32; scalars of i32, f32, bf16 */
  const tf_dim *s;
} fixture;

static const tf_type *matrix(tf_context *context, const tf_dim *rows) {
  const tf_dim *shape[] = {rows, tf_dim_int(context, 8)};
  return tf_type_tensor(context, 2, shape, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM);
}

static void begin(fixture *t, const char *module, const char *entry) {
  *t = (fixture){0};
  tf_function_options options = TF_FUNCTION_OPTIONS_INIT;
  ck_assert_int_eq(tf_context_create(&t->context), TF_OK);
  ck_assert_int_eq(tf_dim_var(t->context, "S", 1, 100, &t->s), TF_OK);
  ck_assert_int_eq(tf_builder_create(t->context, &t->b), TF_OK);
  tf_builder_begin_module(t->b, module, entry);
  options.target = tf_target_get(t->context, "sm_90a");
  tf_builder_begin_function(t->b, "k", &options);
  t->x = tf_builder_param(t->b, "x", matrix(t->context, t->s), true);
  t->y = tf_builder_param(t->b, "y", matrix(t->context, t->s), false);
  t->n = tf_builder_param(t->b, "n", tf_type_scalar(t->context, TF_DTYPE_I32), false);
  t->f = tf_builder_param(t->b, "f", tf_type_scalar(t->context, TF_DTYPE_F32), false);
  t->h = tf_builder_param(t->b, "h", tf_type_scalar(t->context, TF_DTYPE_BF16), false);
}

/* Ends function and module; the text, after the round trip has been checked. */
static const char *end(fixture *t) {
  const tf_module *module, *again;
  const char *once, *twice;
  tf_builder_end(t->b);
  tf_status status = tf_builder_finish(t->b, &module);
  if (status != TF_OK) ck_abort_msg("%s", tf_context_diagnostic(t->context, 0)->message);
  ck_assert_int_eq(tf_print(module, &once), TF_OK);
  status = tf_parse(t->context, "printed", once, strlen(once), NULL, &again);
  if (status != TF_OK) ck_abort_msg("%s\n%s", tf_context_diagnostic(t->context, 0)->message, once);
  ck_assert_int_eq(tf_print(again, &twice), TF_OK);
  ck_assert_str_eq(once, twice);
  if (!tf_module_equal(module, again)) ck_abort_msg("reads back as another module:\n%s", once);
  return once;
}

static void destroy(fixture *t) {
  tf_builder_destroy(t->b);
  tf_context_destroy(t->context);
}

static const tf_expr *binary(fixture *t, tf_scalar_binary_kind kind, const tf_expr *a, const tf_expr *b) {
  return tf_build_SCALAR_BINARY(t->b, &(tf_args_SCALAR_BINARY){.lhs = a, .rhs = b, .kind = kind});
}

static const tf_expr *integer(fixture *t, int64_t value) {
  return tf_builder_int(t->b, TF_DTYPE_I64, value);
}

static const tf_expr *dim_value(fixture *t, const tf_dim *dim) {
  return tf_build_DIM_VALUE(t->b, &(tf_args_DIM_VALUE){.dim = dim});
}

/* What the parser would compute stays an operation; literals keep dtypes that their place would not give them. */
START_TEST(constants_stay_operations) {
  fixture t;
  begin(&t, NULL, NULL);
  const tf_dim *s3 = tf_dim_binary(t.context, TF_DIM_ADD, t.s, tf_dim_int(t.context, 3));
  const tf_expr *values[] = {
      integer(&t, 5),
      tf_builder_int(t.b, TF_DTYPE_I8, -5),
      tf_builder_float(t.b, TF_DTYPE_F16, 0.1),
      tf_builder_int(t.b, TF_DTYPE_U64, -1),
      tf_builder_int(t.b, TF_DTYPE_BOOL, 1),
      binary(&t, TF_SCALAR_BINARY_ADD, integer(&t, 1), integer(&t, -2)),
      binary(&t, TF_SCALAR_BINARY_SUB, integer(&t, 1),
             binary(&t, TF_SCALAR_BINARY_MUL, integer(&t, 2), integer(&t, 3))),
      binary(&t, TF_SCALAR_BINARY_MIN, dim_value(&t, t.s), integer(&t, 4)),
      binary(&t, TF_SCALAR_BINARY_LT, dim_value(&t, s3), integer(&t, 4)),
      binary(&t, TF_SCALAR_BINARY_MUL, dim_value(&t, s3), dim_value(&t, s3)),
      binary(&t, TF_SCALAR_BINARY_MUL, t.h, tf_builder_float(t.b, TF_DTYPE_F32, 0.1)),
      binary(&t, TF_SCALAR_BINARY_ADD, tf_builder_float(t.b, TF_DTYPE_F64, INFINITY), t.n),
      binary(&t, TF_SCALAR_BINARY_MUL, integer(&t, -1), t.n),
      dim_value(&t, tf_dim_int(t.context, 7)),
      t.n,
  };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    (void)tf_builder_let(t.b, "a", values[i]);
  const char *text = end(&t);
  static const char *const lines[] = {
      "    a = DType.i64(5)\n",
      "    a_1 = DType.i8(-5)\n",
      "    a_2 = DType.f16(0.1)\n",
      "    a_4 = DType.bool(True)\n",
      "    a_5 = DType.i64(1) + -2\n",
      "    a_6 = 1 - DType.i64(2) * 3\n",
      "    a_7 = min(T.dim_value(S), 4)\n",
      "    a_8 = S + 3 < 4\n",
      "    a_9 = T.dim_value(S + 3) * (S + 3)\n",
      "    a_10 = h * 0.1\n",
      "    a_11 = DType.f64(float(\"inf\")) + n\n",
      "    a_12 = -1 * n\n",
      "    a_13 = T.dim_value(7)\n",
      "    a_14 = n\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (!strstr(text, lines[i])) ck_abort_msg("missing %s in\n%s", lines[i], text);
  destroy(&t);
}
END_TEST

/* Names that are taken, reserved, or none in Python. */
START_TEST(names) {
  fixture t;
  begin(&t, NULL, NULL);
  static const char *const given[] = {"n", "T", "Mesh", "lambda", "a b", "k", "S", "range", "1st", "store", "n_1", "n"};
  static const char *const printed[] = {"n_1", "T_1",     "Mesh_1", "lambda_", "a_b",   "k_1",
                                        "S_1", "range_1", "_1st",   "store",   "n_1_1", "n_2"};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    (void)tf_builder_let(t.b, given[i], t.n);
  const char *text = end(&t);
  for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
    char line[64];
    snprintf(line, sizeof line, "    %s = n\n", printed[i]);
    if (!strstr(text, line)) ck_abort_msg("missing %s in\n%s", line, text);
  }
  destroy(&t);
}
END_TEST

/* A program whose DimVar, function and axis have this name; tf is the language, whose own names may be hidden. */
static const char *program_of_name(char *text, size_t size, const char *dim, const char *function) {
  snprintf(
      text, size,
      "import tilefoundry as tf\n"
      "D = tf.DimVar(\"%s\", 1, 100)\n"
      "@tf.prim_func(target=tf.CudaTarget(\"sm_80\"))\n"
      "def %s(x: tf.Tensor[(D, 2 * D), \"f32\"], n: tf.Tensor[(), \"i32\"]):\n"
      "    with tf.Mesh((tf.Topology(\"cta\", tf.ceildiv(D, 4)),), tf.Layout((tf.ceildiv(D, 4),)), (\"%s\",)) as m:\n"
      "        a = tf.min(D, n) + tf.max(n, 3) * tf.abs(n) - D * n\n"
      "        for i in range(a):\n"
      "            tf.T.fill(tf.T.tensor_view(x, i, tf.T.coord(m.%s), shape=(1, 1)), float(\"inf\"))\n",
      dim, function, dim, dim);
  return text;
}

static void check_round_trip(const char *source) {
  tf_context *context;
  const tf_module *module, *again;
  const char *once, *twice;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  if (tf_parse(context, "source", source, strlen(source), NULL, &module) != TF_OK)
    ck_abort_msg("%s\n%s", tf_context_diagnostic(context, 0)->message, source);
  if (tf_print(module, &once) != TF_OK) ck_abort_msg("does not print:\n%s", source);
  if (tf_parse(context, "printed", once, strlen(once), NULL, &again) != TF_OK)
    ck_abort_msg("%s\n%s", tf_context_diagnostic(context, 0)->message, once);
  ck_assert_int_eq(tf_print(again, &twice), TF_OK);
  ck_assert_str_eq(once, twice);
  if (!tf_module_equal(module, again)) ck_abort_msg("reads back as another module:\n%s", once);
  tf_context_destroy(context);
}

/* DimVars, axes and functions with names that mean something in the language. */
START_TEST(names_of_the_language) {
  static const char *const given[] = {
      "T",      "Mesh",        "Layout", "DimVar", "DType", "Tensor", "StorageKind", "Topology", "CudaTarget",
      "range",  "float",       "min",    "max",    "abs",   "len",    "dim_min",     "dim_max",  "ceildiv",
      "launch", "copy",        "fill",   "S",      "B",     "P",      "f32",         "smem",     "prim_func",
      "module", "intrinsic",   "match",  "case",   "type",  "_",      "cta",         "print",    "int",
      "tf",     "tilefoundry", "store",  "load",   "cuda",  "coord",  "Split",       "spread",   "x"};
  char text[2000];
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    check_round_trip(program_of_name(text, sizeof text, given[i], "k"));
  static const char *const functions[] = {"min", "max", "abs", "copy", "fill", "match", "print", "int", "f32", "S"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    check_round_trip(program_of_name(text, sizeof text, "D", functions[i]));
  check_round_trip(program_of_name(text, sizeof text, "k", "k"));
}
END_TEST

/* A parameter's name is part of the interface: it is printed as it is, or not at all. */
START_TEST(names_of_parameters) {
  static const char *const given[] = {"min", "max", "abs", "len", "module", "copy", "k", "S", "m", "match", "f32", "g"};
  char text[2000];
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    snprintf(text, sizeof text,
             "import tilefoundry as tf\n"
             "D = tf.DimVar(\"%s\", 1, 100)\n"
             "@tf.prim_func\n"
             "def g(x: tf.Tensor[(D,), \"f32\"]):\n"
             "    pass\n"
             "@tf.prim_func\n"
             "def k(%s: tf.Tensor[(D,), \"f32\"], n: tf.Tensor[(), \"i32\"]):\n"
             "    a = tf.min(D, n) + tf.max(n, 3) * tf.abs(n)\n"
             "    tf.T.fill(tf.T.tensor_view(%s, a, shape=(1,)), 1.0)\n",
             given[i], given[i], given[i]);
    check_round_trip(text);
  }
  fixture t; /* a call of a function whose name a parameter has: text cannot say it */
  const tf_module *module;
  const char *out = NULL;
  begin(&t, NULL, NULL);
  tf_builder_declare_function(t.b, "x", tf_type_callable(t.context, 0, NULL));
  tf_builder_call(t.b, "x", 0, NULL);
  tf_builder_end(t.b);
  ck_assert_int_eq(tf_builder_finish(t.b, &module), TF_OK);
  ck_assert_int_eq(tf_print(module, &out), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_context_diagnostic(t.context, 0)->id, TF_DIAG_PRINT_NAME);
  destroy(&t);
}
END_TEST

static const char every_statement[] =
    "from tilefoundry import *\n"
    "\n"
    "S = DimVar(\"S\", 1, 100)\n"
    "\n"
    "\n"
    "@module(entry=\"k\")\n"
    "class Kernels:\n"
    "    @prim_func(target=CudaTarget(\"sm_90a\"))\n"
    "    def k(x: ConstTensor[(S, 8), \"f32\"], y: Tensor[(S, 8), \"f32\"], n: Tensor[(), \"i32\"], f: Tensor[(), "
    "\"f32\"], h: Tensor[(), \"bf16\"]):\n"
    "        for i in range(n):\n"
    "            v = T.tensor_view(x, i, 0, shape=(1, 8), clip=-1.0, loc=\"one\")\n"
    "            T.copy(v, v, loc=\"two\")\n"
    "        for i in range(1, n):\n"
    "            pass\n"
    "        for i in range(n, 0, -1):\n"
    "            pass\n"
    "        while T.load(y, 0, 0) < f:\n"
    "            T.fill(y, f if n == 3 else 2.5)\n"
    "        if n < 3:\n"
    "            return\n"
    "        elif n < 4:\n"
    "            T.abort()\n"
    "        else:\n"
    "            T.abort(\"a \\\"quoted\\\"\\x0amessage\")\n"
    "        with Mesh((Topology(\"thread\", 32),), Layout(shape=(4, 8), strides=(8, 1)), (\"a\", \"b\")) as m:\n"
    "            T.sync(m)\n"
    "            T.sync(m[1:3, :])\n"
    "            with m[0:1, 2:4] as part:\n"
    "                c = T.coord(part.b) + T.coord(part, 0)\n"
    "                T.reduce(x, y, axes=(-1,), kind=\"abs_max\")\n"
    "        k(x, y, 3, 0.5, h)\n";

START_TEST(exact_text) {
  tf_context *context;
  const tf_module *module;
  const char *text;
  char expected[4096];
  strcpy(expected, every_statement);
  char *coordinate = strstr(expected, "T.coord(part, 0)"); /* an axis with a name is printed by it */
  memmove(coordinate + 15, coordinate + 16, strlen(coordinate + 16) + 1);
  memcpy(coordinate, "T.coord(part.a)", 15);
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  if (tf_parse(context, "text", every_statement, strlen(every_statement), NULL, &module) != TF_OK)
    ck_abort_msg("%s", tf_context_diagnostic(context, 0)->message);
  ck_assert_int_eq(tf_print(module, &text), TF_OK);
  ck_assert_str_eq(text, expected);
  const tf_stmt *loop = tf_sequential_get(tf_stmt_body(tf_module_function(module, 0)), 1);
  ck_assert_int_eq(tf_print_stmt(context, loop, 2, &text), TF_OK);
  ck_assert_str_eq(text, "        for i in range(1, n):\n            pass\n");
  tf_context_destroy(context);
}
END_TEST

/* Random trees of scalar operations over every kind of leaf. */
static const tf_expr *leaf(fixture *t, bool floating) {
  static const tf_dtype ints[] = {TF_DTYPE_I64, TF_DTYPE_I64, TF_DTYPE_I32, TF_DTYPE_U8, TF_DTYPE_U64};
  static const tf_dtype floats[] = {TF_DTYPE_F32, TF_DTYPE_F32, TF_DTYPE_F16, TF_DTYPE_BF16, TF_DTYPE_F64};
  static const double values[] = {0.0, -0.0, 1.0, 0.1, -2.5, 1e-5, 1e300, 3.0, 123456789.0, INFINITY, -INFINITY, NAN};
  switch (rand() % 6) {
  case 0:
    return floating ? t->f : t->n;
  case 1:
    return floating ? t->h : dim_value(t, rand() % 2 ? t->s : tf_dim_binary(t->context, TF_DIM_MUL, t->s, t->s));
  case 2:
    return floating ? tf_build_LOAD(t->b, &(tf_args_LOAD){.x = t->x,
                                                          .indices_count = 2,
                                                          .indices = (const tf_expr *[]){t->n, integer(t, 1)}})
                    : tf_builder_shape_of(t->b, t->x, (unsigned)rand() % 2);
  default:
    if (floating) return tf_builder_float(t->b, floats[rand() % 5], values[rand() % 12]);
    return tf_builder_int(t->b, ints[rand() % 5], rand() % 100);
  }
}

static const tf_expr *boolean(fixture *t, int depth);

static const tf_expr *number(fixture *t, int depth, bool floating) {
  static const tf_scalar_binary_kind ints[] = {
      TF_SCALAR_BINARY_ADD, TF_SCALAR_BINARY_SUB,     TF_SCALAR_BINARY_MUL,    TF_SCALAR_BINARY_FLOOR_DIV,
      TF_SCALAR_BINARY_MOD, TF_SCALAR_BINARY_BIT_AND, TF_SCALAR_BINARY_BIT_OR, TF_SCALAR_BINARY_BIT_XOR,
      TF_SCALAR_BINARY_SHL, TF_SCALAR_BINARY_SHR,     TF_SCALAR_BINARY_MIN,    TF_SCALAR_BINARY_MAX};
  static const tf_scalar_binary_kind floats[] = {TF_SCALAR_BINARY_ADD, TF_SCALAR_BINARY_SUB,      TF_SCALAR_BINARY_MUL,
                                                 TF_SCALAR_BINARY_DIV, TF_SCALAR_BINARY_MIN,      TF_SCALAR_BINARY_MAX,
                                                 TF_SCALAR_BINARY_MOD, TF_SCALAR_BINARY_FLOOR_DIV};
  if (depth == 0 || rand() % 5 == 0) return leaf(t, floating);
  switch (rand() % 8) {
  case 0:
    return tf_build_SCALAR_UNARY(
        t->b, &(tf_args_SCALAR_UNARY){.x = number(t, depth - 1, floating),
                                      .kind = rand() % 2 ? TF_SCALAR_UNARY_NEG : TF_SCALAR_UNARY_ABS});
  case 1:
    return tf_build_WHERE(t->b, &(tf_args_WHERE){.cond = boolean(t, depth - 1),
                                                 .a = number(t, depth - 1, floating),
                                                 .b = number(t, depth - 1, floating)});
  case 2:
    return tf_build_CAST(
        t->b, &(tf_args_CAST){.x = number(t, depth - 1, rand() % 2), .dtype = floating ? TF_DTYPE_F16 : TF_DTYPE_I32});
  default: {
    bool mixed = floating && rand() % 3 == 0;
    const tf_expr *a = number(t, depth - 1, floating), *b = number(t, depth - 1, floating && !mixed);
    return binary(t, floating ? floats[rand() % 8] : ints[rand() % 12], a, b);
  }
  }
}

static const tf_expr *boolean(fixture *t, int depth) {
  if (depth == 0) return tf_builder_int(t->b, TF_DTYPE_BOOL, rand() % 2);
  bool floating = rand() % 2;
  switch (rand() % 4) {
  case 0:
    return binary(t, rand() % 2 ? TF_SCALAR_BINARY_AND : TF_SCALAR_BINARY_OR, boolean(t, depth - 1),
                  boolean(t, depth - 1));
  case 1:
    return tf_build_SCALAR_UNARY(t->b,
                                 &(tf_args_SCALAR_UNARY){.x = boolean(t, depth - 1), .kind = TF_SCALAR_UNARY_NOT});
  case 2:
    return binary(t, rand() % 2 ? TF_SCALAR_BINARY_EQ : TF_SCALAR_BINARY_NE, boolean(t, depth - 1),
                  boolean(t, depth - 1));
  default:
    return binary(t, (tf_scalar_binary_kind)(TF_SCALAR_BINARY_EQ + rand() % 6), number(t, depth - 1, floating),
                  number(t, depth - 1, floating));
  }
}

START_TEST(random_expressions) {
  srand(5);
  for (int round = 0; round < 60; round++) {
    fixture t;
    begin(&t, round % 2 ? "Random" : NULL, NULL);
    for (int i = 0; i < 60; i++) {
      int kind = rand() % 3;
      (void)tf_builder_let(t.b, "v", kind == 2 ? boolean(&t, 4) : number(&t, 4, kind));
    }
    (void)end(&t);
    destroy(&t);
  }
}
END_TEST

/* Names of functions and DimVars that text cannot hold. */
START_TEST(unprintable) {
  static const struct {
    const char *function, *param;
  } cases[] = {{"a-b", "x"},  {"Mesh", "x"}, {"T", "x"},     {"lambda", "x"},
               {"ok", "a b"}, {"ok", "def"}, {"ok", "Mesh"}, {"ok", "range"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tf_context *context;
    tf_builder *b;
    const tf_module *module;
    const tf_dim *dim;
    const char *text = NULL;
    tf_function_options options = TF_FUNCTION_OPTIONS_INIT;
    ck_assert_int_eq(tf_context_create(&context), TF_OK);
    ck_assert_int_eq(tf_dim_var(context, "N", 1, 9, &dim), TF_OK);
    ck_assert_int_eq(tf_builder_create(context, &b), TF_OK);
    tf_builder_begin_module(b, NULL, NULL);
    tf_builder_begin_function(b, cases[i].function, &options);
    (void)tf_builder_param(b, cases[i].param, matrix(context, dim), false);
    tf_builder_end(b);
    ck_assert_int_eq(tf_builder_finish(b, &module), TF_OK);
    ck_assert_int_eq(tf_print(module, &text), TF_INVALID_ARGUMENT);
    ck_assert_ptr_null(text);
    ck_assert_int_eq(tf_context_diagnostic(context, 0)->id, TF_DIAG_PRINT_NAME);
    tf_builder_destroy(b);
    tf_context_destroy(context);
  }
}
END_TEST

START_TEST(misuse) {
  tf_context *context;
  const tf_module *module = NULL;
  const char *text = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(NULL, "a", "", 0, NULL, &module), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_parse(context, "a", NULL, 3, NULL, &module), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_parse(context, "a", "", 0, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_parse(context, "a", "", 0, &(tf_parse_options){.size = 1}, &module), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_print(NULL, &text), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_print_stmt(context, NULL, 0, &text), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_parse(context, NULL, "", 0, NULL, &module), TF_OK);
  ck_assert_int_eq(tf_print(module, &text), TF_OK);
  ck_assert_str_eq(text, "from tilefoundry import *\n");
  tf_context_destroy(context);
}
END_TEST

int main(void) {
  TCase *all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_test(all, constants_stay_operations);
  tcase_add_test(all, names);
  tcase_add_test(all, names_of_the_language);
  tcase_add_test(all, names_of_parameters);
  tcase_add_test(all, exact_text);
  tcase_add_test(all, random_expressions);
  tcase_add_test(all, unprintable);
  tcase_add_test(all, misuse);
  return run_case("print", all);
}
