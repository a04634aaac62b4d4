/* The C builder: what it builds, as the reader's functions see it; what it refuses; and equality of modules. */
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <tilefoundry/Builder.h>
#include <tilefoundry/Intrinsic.h>
#include <tilefoundry/Text.h>

#include "Harness.h"

static tf_context *context;
static tf_builder *b;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_builder_create(context, &b), TF_OK);
}

static void teardown(void) {
  tf_builder_destroy(b);
  tf_context_destroy(context);
}

static const tf_type *vector_in(tf_context *owner, int64_t extent, tf_storage storage) {
  const tf_dim *dim = tf_dim_int(owner, extent);
  return tf_type_tensor(owner, 1, &dim, TF_DTYPE_F32, NULL, storage);
}

static const tf_type *vector(int64_t extent) {
  return vector_in(context, extent, TF_STORAGE_GMEM);
}

static const tf_mesh *warp(void) {
  tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, 32)};
  const tf_layout *line = tf_layout_plain(context, tf_tuple_ints(context, 1, (int64_t[]){32}), NULL);
  return tf_mesh_get(context, 1, &level, line, 0, NULL);
}

static const tf_expr *i64(tf_builder *builder, int64_t value) {
  return tf_builder_int(builder, TF_DTYPE_I64, value);
}

static const tf_expr *add(tf_builder *builder, const tf_expr *x, const tf_expr *y) {
  return tf_build_SCALAR_BINARY(builder, &(tf_args_SCALAR_BINARY){.lhs = x, .rhs = y, .kind = TF_SCALAR_BINARY_ADD});
}

static const tf_expr *less(tf_builder *builder, const tf_expr *x, const tf_expr *y) {
  return tf_build_SCALAR_BINARY(builder, &(tf_args_SCALAR_BINARY){.lhs = x, .rhs = y, .kind = TF_SCALAR_BINARY_LT});
}

/* ---- A module with every kind of statement -------------------------------------------------------------------------------------- */
/* Small differences that equality has to see (or, for the names, not). */
typedef enum variation {
  SAME,
  OTHER_NAMES,
  OTHER_LOCATIONS,
  OTHER_BOUND,
  OTHER_MESSAGE,
  OTHER_KIND,
  OTHER_CASE,
  OTHER_ORDER,
  OTHER_VARIABLE,
  OTHER_LITERAL,
  OTHER_PARAM_NAME,
  OTHER_TARGET,
  OTHER_ENTRY,
  VARIATIONS
} variation;

static void build_kernel(tf_builder *builder, variation v, const tf_intrinsic *intrinsic) {
  tf_function_options options = TF_FUNCTION_OPTIONS_INIT;
  options.target = tf_target_get(context, v == OTHER_TARGET ? "sm_90" : "sm_80");
  tf_builder_begin_function(builder, "kernel", &options);
  const tf_expr *x = tf_builder_param(builder, v == OTHER_PARAM_NAME ? "z" : "x", vector(64), true);
  const tf_expr *y = tf_builder_param(builder, "y", vector(64), false);
  tf_builder_begin_mesh(builder, "m", warp());
  const tf_expr *r =
      tf_build_ALLOC_TENSOR(builder, v == OTHER_NAMES ? "buffer" : "r",
                            &(tf_args_ALLOC_TENSOR){.tensor_type = vector_in(context, 2, TF_STORAGE_RMEM)});
  const tf_expr *i = tf_builder_begin_for(builder, v == OTHER_NAMES ? "index" : "i", i64(builder, 0),
                                          i64(builder, v == OTHER_BOUND ? 5 : 4), i64(builder, 1));
  const tf_expr *k = tf_builder_let(builder, "k", add(builder, i, i64(builder, 2)));
  const tf_expr *start = v == OTHER_VARIABLE ? i : k;
  const tf_expr *window = tf_build_TENSOR_VIEW(
      builder, "window",
      &(tf_args_TENSOR_VIEW){
          .memory = x, .starts = &start, .starts_count = 1, .shape = tf_tuple_ints(context, 1, (int64_t[]){2})});
  tf_build_COPY(builder, &(tf_args_COPY){.source = window, .destination = r});
  tf_build_UNARY(builder, &(tf_args_UNARY){.src = r, .dst = r, .kind = v == OTHER_KIND ? TF_UNARY_EXP : TF_UNARY_NEG});
  tf_builder_end(builder);
  tf_builder_begin_if(builder, less(builder, i64(builder, 1), i64(builder, 2)));
  tf_build_FILL(builder, &(tf_args_FILL){.tensor = r,
                                         .value = tf_builder_float(builder, TF_DTYPE_F32, v == OTHER_LITERAL ? 1 : 0)});
  tf_builder_begin_else(builder);
  tf_builder_return(builder);
  tf_builder_end(builder);
  tf_builder_begin_while(builder, less(builder, i64(builder, 1), i64(builder, 0)));
  tf_builder_abort(builder, v == OTHER_MESSAGE ? "there" : "here");
  tf_builder_end(builder);
  tf_build_SYNC(builder, &(tf_args_SYNC){.mesh = warp()});
  tf_builder_intrinsic(builder, intrinsic, 2, (const tf_expr *[]){v == OTHER_ORDER ? y : x, v == OTHER_ORDER ? x : y});
  tf_builder_end(builder);
  tf_builder_end(builder);
}

static void build_entry(tf_builder *builder, variation v) {
  tf_function_options options = TF_FUNCTION_OPTIONS_INIT;
  options.target = tf_target_get(context, "cpu");
  options.output_count = 0;
  tf_builder_begin_function(builder, "main", &options);
  const tf_expr *args[] = {tf_builder_param(builder, "a", vector(64), false),
                           tf_builder_param(builder, "c", vector(64), false)};
  tf_builder_begin_dispatch(builder, "main", tf_builder_shape_of(builder, args[0], 0), "no case");
  tf_builder_case(builder, "S", 1, 16, "kernel", 2, args);
  tf_builder_case(builder, "S", v == OTHER_CASE ? 17 : 16, 64, "later", 2, args);
  tf_builder_end(builder);
  const tf_expr *one = i64(builder, 1);
  tf_build_LAUNCH(builder, &(tf_args_LAUNCH){.callee = tf_builder_symbol(builder, "kernel"),
                                             .grid_x = one,
                                             .grid_y = one,
                                             .grid_z = one,
                                             .block_x = i64(builder, 32),
                                             .block_y = one,
                                             .block_z = one,
                                             .args = args,
                                             .args_count = 2});
  tf_builder_call(builder, "kernel", 2, args);
  tf_builder_end(builder);
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

static const tf_module *build_module(variation v, const tf_intrinsic *intrinsic) {
  tf_builder *builder;
  const tf_module *module = NULL;
  ck_assert_int_eq(tf_builder_create(context, &builder), TF_OK);
  if (v == OTHER_LOCATIONS) tf_builder_set_loc(builder, (tf_loc){0, 7, 3, 2}, "somewhere");
  tf_builder_begin_module(builder, "Program", v == OTHER_ENTRY ? "kernel" : "main");
  tf_builder_declare_function(builder, "later",
                              tf_type_callable(context, 2, (const tf_type *[]){vector(64), vector(64)}));
  build_kernel(builder, v, intrinsic);
  build_entry(builder, v);
  tf_status status = tf_builder_finish(builder, &module);
  ck_assert_msg(status == TF_OK, "%s",
                tf_context_diagnostic_count(context) ? tf_context_diagnostic(context, 0)->message : "?");
  tf_builder_destroy(builder);
  return module;
}

/* ---- What was built ------------------------------------------------------------------------------------------------------------- */
static const tf_stmt *item(const tf_stmt *sequential, unsigned index, unsigned count) {
  ck_assert_int_eq(tf_stmt_get_kind(sequential), TF_STMT_SEQUENTIAL);
  ck_assert_uint_eq(tf_sequential_count(sequential), count);
  return tf_sequential_get(sequential, index);
}

START_TEST(a_kernel_reads_as_it_was_built) {
  const tf_module *module = build_module(SAME, two_operands());
  ck_assert_str_eq(tf_module_name(module), "Program");
  ck_assert_str_eq(tf_module_entry(module), "main");
  ck_assert_uint_eq(tf_module_function_count(module), 2);
  const tf_stmt *kernel = tf_module_find(module, "kernel");
  ck_assert_ptr_eq(kernel, tf_module_function(module, 0));
  ck_assert_str_eq(tf_target_name(tf_function_target(kernel)), "sm_80");
  ck_assert_uint_eq(tf_function_output_count(kernel), 1);
  ck_assert(tf_var_is_const(tf_function_param(kernel, 0)));
  ck_assert(!tf_var_is_const(tf_function_param(kernel, 1)));
  const tf_stmt *scope = item(tf_stmt_body(kernel), 0, 1);
  ck_assert_ptr_eq(tf_mesh_scope_mesh(scope), warp());
  ck_assert_ptr_eq(tf_var_mesh(tf_stmt_var(scope)), warp());
  /* the let's body is the rest of the block */
  const tf_stmt *let = item(tf_stmt_body(scope), 0, 1);
  ck_assert_int_eq(tf_call_op(tf_let_value(let)), TF_OP_ALLOC_TENSOR);
  const tf_stmt *rest = tf_stmt_body(let), *loop = item(rest, 0, 5);
  static const tf_stmt_kind kinds[] = {TF_STMT_FOR, TF_STMT_IF, TF_STMT_WHILE, TF_STMT_EVALUATE, TF_STMT_INTRINSIC};
  for (unsigned i = 0; i < 5; i++)
    ck_assert_int_eq(tf_stmt_get_kind(tf_sequential_get(rest, i)), kinds[i]);
  ck_assert_int_eq(tf_constant_int(tf_for_stop(loop)), 4);
  const tf_stmt *k = item(tf_stmt_body(loop), 0, 1), *window = item(tf_stmt_body(k), 0, 1),
                *body = tf_stmt_body(window);
  ck_assert_str_eq(tf_expr_name(tf_stmt_var(k)), "k");
  ck_assert_ptr_eq(tf_call_arg(tf_let_value(k), 0), tf_stmt_var(loop));
  ck_assert_ptr_eq(tf_call_arg(tf_let_value(window), 0), tf_function_param(kernel, 0));
  ck_assert_ptr_eq(tf_call_arg(tf_let_value(window), 1), tf_stmt_var(k));
  ck_assert_ptr_eq(tf_expr_type(tf_stmt_var(window)), vector(2));
  const tf_stmt *copy = item(body, 0, 2), *neg = item(body, 1, 2);
  ck_assert_int_eq(tf_evaluate_op(copy), TF_OP_COPY);
  ck_assert_ptr_eq(tf_evaluate_arg(copy, 0), tf_stmt_var(window));
  ck_assert_ptr_eq(tf_evaluate_arg(copy, 1), tf_stmt_var(let));
  ck_assert_int_eq(tf_evaluate_attr(neg, 0).i, TF_UNARY_NEG);
  const tf_stmt *branch = tf_sequential_get(rest, 1);
  ck_assert_int_eq(tf_evaluate_op(item(tf_stmt_body(branch), 0, 1)), TF_OP_FILL);
  ck_assert_int_eq(tf_stmt_get_kind(item(tf_if_else(branch), 0, 1)), TF_STMT_RETURN);
  ck_assert_str_eq(tf_abort_message(item(tf_stmt_body(tf_sequential_get(rest, 2)), 0, 1)), "here");
  const tf_stmt *intrinsic = tf_sequential_get(rest, 4);
  ck_assert_str_eq(tf_intrinsic_class_name(tf_intrinsic_stmt_decl(intrinsic)), "TouchBoth");
  ck_assert_ptr_eq(tf_evaluate_arg(intrinsic, 1), tf_function_param(kernel, 1));
  ck_assert_uint_eq(tf_module_intrinsic_count(module), 1);
}
END_TEST

START_TEST(an_entry_reads_as_it_was_built) {
  const tf_module *module = build_module(SAME, two_operands());
  const tf_stmt *entry = tf_module_function(module, 1), *kernel = tf_module_function(module, 0);
  ck_assert(tf_target_is_cpu(tf_function_target(entry)));
  const tf_stmt *dispatch = item(tf_stmt_body(entry), 0, 3), *launch = item(tf_stmt_body(entry), 1, 3);
  ck_assert_uint_eq(tf_dispatch_case_count(dispatch), 2);
  ck_assert_ptr_eq(tf_shape_of_param(tf_dispatch_subject(dispatch)), tf_function_param(entry, 0));
  tf_range_pattern second = tf_dispatch_pattern(dispatch, 1);
  ck_assert_str_eq(second.name, "S");
  ck_assert(second.lo == 16 && second.hi == 64);
  ck_assert_str_eq(tf_expr_name(tf_evaluate_callee(tf_dispatch_call(dispatch, 1))), "later");
  ck_assert_str_eq(tf_abort_message(item(tf_stmt_body(dispatch), 0, 1)), "no case");
  ck_assert_int_eq(tf_evaluate_op(launch), TF_OP_LAUNCH);
  ck_assert_uint_eq(tf_evaluate_arg_count(launch), 9);
  ck_assert_int_eq(tf_constant_int(tf_evaluate_arg(launch, 4)), 32);
  ck_assert_ptr_eq(tf_evaluate_arg(launch, 8), tf_function_param(entry, 1));
  ck_assert_ptr_eq(tf_expr_type(tf_evaluate_arg(launch, 0)), tf_function_type(context, kernel));
  const tf_stmt *call = item(tf_stmt_body(entry), 2, 3);
  ck_assert_int_eq(tf_evaluate_op(call), TF_OP_COUNT);
  ck_assert_str_eq(tf_expr_name(tf_evaluate_callee(call)), "kernel");
}
END_TEST

typedef struct counts {
  unsigned kinds[TF_STMT_INTRINSIC + 1];
} counts;

static bool count_kinds(void *user, const tf_stmt *stmt) {
  ((counts *)user)->kinds[tf_stmt_get_kind(stmt)]++;
  return tf_stmt_get_kind(stmt) != TF_STMT_IF;
}

START_TEST(walking_visits_everything_once) {
  const tf_module *module = build_module(SAME, two_operands());
  counts seen = {{0}};
  for (unsigned i = 0; i < 2; i++)
    tf_stmt_walk(tf_module_function(module, i), count_kinds, &seen);
  ck_assert_uint_eq(seen.kinds[TF_STMT_PRIM_FUNCTION], 2);
  ck_assert_uint_eq(seen.kinds[TF_STMT_LET], 3);
  ck_assert_uint_eq(seen.kinds[TF_STMT_EVALUATE], 3 + 4); /* not the fill inside the if, whose children are skipped */
  ck_assert_uint_eq(seen.kinds[TF_STMT_RETURN], 0);
  ck_assert_uint_eq(seen.kinds[TF_STMT_ABORT], 2);
  ck_assert_uint_eq(seen.kinds[TF_STMT_INTRINSIC], 1);
}
END_TEST

/* ---- Equality ---------------------------------------------------------------------------------------------------------------------- */
START_TEST(equality_sees_every_difference_but_names_and_places) {
  const tf_intrinsic *intrinsic = two_operands();
  const tf_module *module = build_module(SAME, intrinsic);
  const tf_module *other = build_module((variation)_i, intrinsic);
  bool equal = _i == SAME || _i == OTHER_NAMES || _i == OTHER_LOCATIONS;
  ck_assert_int_eq(tf_module_equal(module, other), equal);
  ck_assert_int_eq(tf_module_equal(other, module), equal);
  ck_assert(tf_module_equal(other, other));
  ck_assert(!tf_module_equal(module, NULL));
}
END_TEST

START_TEST(locations_stay_on_statements) {
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "f", NULL);
  tf_builder_set_loc(b, (tf_loc){0, 12, 5, 1}, "a.py:3");
  tf_builder_return(b);
  tf_builder_set_loc(b, (tf_loc){0, 13, 1, 0}, NULL);
  tf_builder_abort(b, NULL);
  tf_builder_end(b);
  const tf_module *module;
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_OK);
  ck_assert_ptr_null(tf_module_name(module));
  const tf_stmt *body = tf_stmt_body(tf_module_function(module, 0));
  ck_assert_uint_eq(tf_stmt_loc(item(body, 0, 2)).line, 12);
  ck_assert_str_eq(tf_stmt_loc_text(item(body, 0, 2)), "a.py:3");
  ck_assert_ptr_null(tf_stmt_loc_text(item(body, 1, 2)));
  ck_assert_str_eq(tf_abort_message(item(body, 1, 2)), "");
  ck_assert_uint_eq(tf_function_output_count(tf_module_function(module, 0)), 1);
}
END_TEST

/* Blocks of ten thousand lets are as deep; nothing recurses over them. */
START_TEST(long_blocks) {
  const tf_module *modules[2];
  for (unsigned m = 0; m < 2; m++) {
    tf_builder *builder;
    ck_assert_int_eq(tf_builder_create(context, &builder), TF_OK);
    tf_builder_begin_module(builder, NULL, NULL);
    tf_builder_begin_function(builder, "f", NULL);
    const tf_expr *x = i64(builder, 0);
    for (unsigned i = 0; i < 20000; i++)
      x = tf_builder_let(builder, "x", add(builder, x, i64(builder, 1)));
    tf_builder_end(builder);
    ck_assert_int_eq(tf_builder_finish(builder, &modules[m]), TF_OK);
    tf_builder_destroy(builder);
  }
  counts seen = {{0}};
  tf_stmt_walk(tf_module_function(modules[0], 0), count_kinds, &seen);
  ck_assert_uint_eq(seen.kinds[TF_STMT_LET], 20000);
  ck_assert(tf_module_equal(modules[0], modules[1]));
}
END_TEST

/* ---- Statuses ---- */
START_TEST(broken_rules_are_no_misuse) {
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "f", NULL);
  const tf_expr *x = tf_builder_param(b, "x", vector(64), false), *start = i64(b, 60);
  const tf_tuple *shape = tf_tuple_ints(context, 1, (int64_t[]){8});
  tf_build_TENSOR_VIEW(b, "v",
                       &(tf_args_TENSOR_VIEW){.memory = x, .starts = &start, .starts_count = 1, .shape = shape});
  const tf_module *module;
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_VERIFY);
  ck_assert_str_eq(tf_diag_name(tf_context_diagnostic(context, 0)->id), "VIEW_OUTSIDE");
}
END_TEST

START_TEST(calls_without_a_builder_or_module) {
  tf_builder_end(NULL);
  tf_builder_set_loc(NULL, (tf_loc){0}, NULL);
  ck_assert_ptr_null(tf_builder_int(NULL, TF_DTYPE_I64, 0));
  tf_builder_destroy(NULL);
  tf_builder *none;
  ck_assert_int_eq(tf_builder_create(NULL, &none), TF_INVALID_ARGUMENT);
  const tf_module *module;
  ck_assert_int_eq(tf_builder_finish(NULL, &module), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_INVALID_ARGUMENT); /* no module was begun */
}
END_TEST

/* Absent optional operands may be left out of the generic form; a float literal takes the type beside it. */
START_TEST(the_generic_form) {
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "f", NULL);
  const tf_expr *x = tf_builder_param(b, "x", vector(64), false);
  const tf_expr *h = tf_builder_param(b, "h", tf_type_scalar(context, TF_DTYPE_F16), false);
  const tf_attr axis = {.i = 0};
  tf_builder_op(b, TF_OP_IOTA, NULL, 1, &x, &axis);
  const tf_expr *half = add(b, tf_builder_float(b, TF_DTYPE_F32, 0.1), h);
  ck_assert_int_eq(tf_type_dtype(tf_expr_type(half)), TF_DTYPE_F16);
  ck_assert_int_eq(tf_type_dtype(tf_expr_type(tf_call_arg(half, 0))), TF_DTYPE_F16);
  ck_assert(tf_constant_float(tf_call_arg(half, 0)) == 0.1);
  tf_builder_end(b);
  const tf_module *module;
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_OK);
  const tf_stmt *iota = item(tf_stmt_body(tf_module_function(module, 0)), 0, 1);
  ck_assert_uint_eq(tf_evaluate_arg_count(iota), 2);
  ck_assert_ptr_null(tf_evaluate_arg(iota, 1));
}
END_TEST

START_TEST(launch_attributes_are_interned) {
  tf_launch_attr one[] = {{TF_LAUNCH_ATTR_CLUSTER_DIMENSION, {2, 1, 1}}, {TF_LAUNCH_ATTR_COOPERATIVE, {1}}};
  const tf_launch_attrs *attrs = tf_launch_attrs_get(context, 2, one);
  ck_assert_ptr_eq(attrs, tf_launch_attrs_get(context, 2, one));
  ck_assert_uint_eq(attrs->count, 2);
  ck_assert_int_eq(attrs->entries[0].values[0], 2);
  one[0].values[1] = 2;
  ck_assert_ptr_ne(attrs, tf_launch_attrs_get(context, 2, one));
  ck_assert_ptr_ne(attrs, tf_launch_attrs_get(context, 1, one));
}
END_TEST

/* ---- Intrinsics ------------------------------------------------------------------------------------------------------------------------ */
START_TEST(intrinsic_declarations) {
  static const char *const names[] = {"a", "b2", "a"};
  static const struct {
    const char *name;
    unsigned count;
    const char *ptx;
  } bad[] = {{NULL, 1, NULL},    {"Warm", 1, NULL},       {"copy", 1, NULL},
             {"twice", 3, NULL}, {"with space", 1, NULL}, {"", 0, NULL}};
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  const tf_intrinsic *made = NULL;
  options.params = names;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    options.name = bad[i].name;
    options.param_count = bad[i].count;
    ck_assert_int_eq(tf_intrinsic_create(context, &options, &made), TF_INVALID_ARGUMENT);
    ck_assert_ptr_null(made);
    ck_assert_uint_eq(tf_context_error_count(context), i + 1);
    ck_assert_int_eq(tf_context_diagnostic(context, i)->id, TF_DIAG_INTRINSIC_DECLARATION);
  }
  options.name = "warm_up_2";
  options.param_count = 2;
  options.ptx = "prefetch.global.L2 [{b3}];"; /* no parameter */
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &made), TF_INVALID_ARGUMENT);
  options.ptx = "prefetch.global.L2 [{a}];";
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &made), TF_OK);
  ck_assert_str_eq(tf_intrinsic_name(made), "warm_up_2");
  ck_assert_str_eq(tf_intrinsic_class_name(made), "WarmUp2");
  ck_assert_str_eq(tf_intrinsic_param_name(made, 1), "b2");
  ck_assert_str_eq(tf_intrinsic_ptx(made), options.ptx);
  ck_assert_ptr_null(tf_intrinsic_param_name(made, 2));
  options.size = 8;
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &made), TF_INVALID_ARGUMENT);
}
END_TEST

/* In text a call of it would mean the function or the statement. */
START_TEST(an_intrinsic_and_a_function_of_one_name) {
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  tf_function_options function = TF_FUNCTION_OPTIONS_INIT;
  const tf_intrinsic *made = NULL;
  const tf_module *module = NULL;
  options.name = "store"; /* the language has it */
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &made), TF_INVALID_ARGUMENT);
  options.name = "warm_up";
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &made), TF_OK);
  function.output_count = 0;
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "warm_up", &function);
  tf_builder_intrinsic(b, made, 0, NULL);
  tf_builder_end(b);
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(module);
  ck_assert_ptr_nonnull(
      strstr(tf_context_diagnostic(context, 1)->message, "a function and an intrinsic have this name"));
}
END_TEST

/* One of text and one of C have one name: a module can use either, not both. */
START_TEST(an_intrinsic_of_text_and_one_of_c) {
  static const char text[] = "@intrinsic\ndef warm_up(x: Expr) -> None:\n    pass\n"
                             "@prim_func\ndef k(x: Tensor[(4,), 'f32']):\n    warm_up(x)\n";
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  const tf_module *parsed = NULL, *module = NULL;
  const tf_intrinsic *of_c = NULL;
  ck_assert_int_eq(tf_parse(context, "text.tir", text, sizeof text - 1, &parse, &parsed), TF_OK);
  const tf_intrinsic *of_text = tf_module_intrinsic(parsed, 0);
  ck_assert_str_eq(tf_intrinsic_class_name(of_text), "WarmUp");
  options.name = "warm_up";
  options.param_count = 1;
  options.params = (const char *const[]){"x"};
  ck_assert_int_eq(tf_intrinsic_create(context, &options, &of_c), TF_OK);
  tf_function_options function = TF_FUNCTION_OPTIONS_INIT;
  tf_builder_begin_module(b, NULL, NULL);
  tf_builder_begin_function(b, "k", &function);
  const tf_dim *shape = tf_dim_int(context, 4);
  const tf_expr *x =
      tf_builder_param(b, "x", tf_type_tensor(context, 1, &shape, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM), false);
  tf_builder_intrinsic(b, of_c, 1, &x);
  tf_builder_intrinsic(b, of_text, 1, &x);
  tf_builder_end(b);
  ck_assert_int_eq(tf_builder_finish(b, &module), TF_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tf_context_diagnostic(context, 0)->message, "two intrinsics of one name"));
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("builder");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_kernel_reads_as_it_was_built);
  tcase_add_test(tests, an_entry_reads_as_it_was_built);
  tcase_add_test(tests, walking_visits_everything_once);
  tcase_add_loop_test(tests, equality_sees_every_difference_but_names_and_places, 0, VARIATIONS);
  tcase_add_test(tests, locations_stay_on_statements);
  tcase_add_test(tests, long_blocks);
  tcase_add_test(tests, broken_rules_are_no_misuse);
  tcase_add_test(tests, calls_without_a_builder_or_module);
  tcase_add_test(tests, the_generic_form);
  tcase_add_test(tests, launch_attributes_are_interned);
  tcase_add_test(tests, intrinsic_declarations);
  tcase_add_test(tests, an_intrinsic_of_text_and_one_of_c);
  tcase_add_test(tests, an_intrinsic_and_a_function_of_one_name);
  return run_case("builder", tests);
}
