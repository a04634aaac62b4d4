/* Echo: every module of the tree, the manuals' examples included, is read through the public reader's functions, built again through
 * the public builder, and has to be equal to the original and print the same text. Nothing but public headers is used, so
 * this also shows that they suffice. What the builder refuses, the verifier has to refuse, too. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <tilefoundry/TileFoundry.h>

#include "Harness.h"

/* What a variable of the original stands for in the copy. */
typedef struct renamed {
  const tf_expr *from, *to;
} renamed;

typedef struct echo {
  tf_builder *builder;
  size_t count, capacity;
  renamed *map; /* a stack: inner bindings last */
} echo;

static void remember(echo *e, const tf_expr *from, const tf_expr *to) {
  if (e->count == e->capacity) {
    e->capacity = e->capacity ? 2 * e->capacity : 64;
    e->map = realloc(e->map, e->capacity * sizeof *e->map);
  }
  e->map[e->count++] = (renamed){from, to};
}

static const tf_expr *copy_of(const echo *e, const tf_expr *var) {
  for (size_t i = e->count; i-- > 0;)
    if (e->map[i].from == var) return e->map[i].to;
  ck_abort_msg("%s is used but not bound", tf_expr_name(var));
  return NULL;
}

static void at(echo *e, const tf_stmt *stmt) {
  tf_builder_set_loc(e->builder, tf_stmt_loc(stmt), tf_stmt_loc_text(stmt));
}

/* ---- Expressions -------------------------------------------------------------------------------------------------------- */
static const tf_expr *expr(echo *e, const tf_expr *from);

static const tf_expr *constant(echo *e, const tf_expr *from) {
  tf_dtype dtype = tf_type_dtype(tf_expr_type(from));
  if (tf_dtype_get_class(dtype) == TF_CLASS_FLOAT) return tf_builder_float(e->builder, dtype, tf_constant_float(from));
  return tf_builder_int(e->builder, dtype, tf_constant_int(from));
}

#define MAX_OPERANDS 64
#define MAX_ATTRS    8

/* Literals among the attributes are expressions, which the builder wants from itself. */
static void attributes(echo *e, tf_op op, tf_attr (*get)(const void *, unsigned), const void *node, tf_attr *out) {
  const tf_op_info *info = tf_op_get_info(op);
  for (unsigned i = 0; i < info->attr_count; i++) {
    out[i] = get(node, i);
    if (info->attrs[i].kind == TF_ATTR_LITERAL && out[i].literal) out[i].literal = constant(e, out[i].literal);
  }
}

static tf_attr attr_of_call(const void *call, unsigned index) {
  return tf_call_attr(call, index);
}

static tf_attr attr_of_evaluate(const void *stmt, unsigned index) {
  return tf_evaluate_attr(stmt, index);
}

static const tf_expr *call(echo *e, const char *name, const tf_expr *from) {
  const tf_expr *args[MAX_OPERANDS];
  tf_attr attrs[MAX_ATTRS];
  unsigned count = tf_call_arg_count(from);
  ck_assert_uint_le(count, MAX_OPERANDS);
  for (unsigned i = 0; i < count; i++)
    args[i] = expr(e, tf_call_arg(from, i));
  attributes(e, tf_call_op(from), attr_of_call, from, attrs);
  return tf_builder_op(e->builder, tf_call_op(from), name, count, args, attrs);
}

static const tf_expr *tuple(echo *e, const tf_expr *from) {
  const tf_expr *elements[MAX_OPERANDS];
  unsigned count = tf_tuple_expr_count(from);
  ck_assert_uint_le(count, MAX_OPERANDS);
  for (unsigned i = 0; i < count; i++)
    elements[i] = expr(e, tf_tuple_expr_element(from, i));
  return tf_builder_tuple(e->builder, count, elements);
}

static const tf_expr *expr(echo *e, const tf_expr *from) {
  if (!from) return NULL;
  switch (tf_expr_get_kind(from)) {
  case TF_EXPR_VAR:
    return copy_of(e, from);
  case TF_EXPR_CONSTANT:
    return constant(e, from);
  case TF_EXPR_CALL:
    return call(e, NULL, from);
  case TF_EXPR_SHAPE_OF:
    return tf_builder_shape_of(e->builder, expr(e, tf_shape_of_param(from)), tf_shape_of_axis(from));
  case TF_EXPR_SYMBOL_REF:
    return tf_builder_symbol(e->builder, tf_expr_name(from));
  case TF_EXPR_TUPLE:
    return tuple(e, from);
  }
  return NULL;
}

/* ---- Statements ------------------------------------------------------------------------------------------------------------ */
static void sequence(echo *e, const tf_stmt *from);

/* A block and its end; bindings made in it are forgotten. */
static void block(echo *e, const tf_stmt *body) {
  size_t mark = e->count;
  sequence(e, body);
  tf_builder_end(e->builder);
  e->count = mark;
}

static unsigned arguments(echo *e, const tf_stmt *from, const tf_expr **args) {
  unsigned count = tf_evaluate_arg_count(from);
  ck_assert_uint_le(count, MAX_OPERANDS);
  for (unsigned i = 0; i < count; i++)
    args[i] = expr(e, tf_evaluate_arg(from, i));
  return count;
}

static void evaluate(echo *e, const tf_stmt *from) {
  const tf_expr *args[MAX_OPERANDS];
  tf_attr attrs[MAX_ATTRS];
  unsigned count = arguments(e, from, args);
  if (tf_evaluate_callee(from)) {
    tf_builder_call(e->builder, tf_expr_name(tf_evaluate_callee(from)), count, args);
    return;
  }
  attributes(e, tf_evaluate_op(from), attr_of_evaluate, from, attrs);
  tf_builder_op(e->builder, tf_evaluate_op(from), NULL, count, args, attrs);
}

/* The name of a binding serves for printing, so it has to be the same. */
static void let(echo *e, const tf_stmt *from) {
  const tf_expr *var = tf_stmt_var(from), *value = tf_let_value(from);
  bool tensor = tf_expr_get_kind(value) == TF_EXPR_CALL && tf_op_get_info(tf_call_op(value))->form == TF_FORM_VALUE;
  remember(e, var,
           tensor ? call(e, tf_expr_name(var), value) : tf_builder_let(e->builder, tf_expr_name(var), expr(e, value)));
  sequence(e, tf_stmt_body(from));
}

static void dispatch(echo *e, const tf_stmt *from) {
  const tf_expr *args[MAX_OPERANDS];
  const char *message = tf_abort_message(tf_sequential_get(tf_stmt_body(from), 0));
  tf_builder_begin_dispatch(e->builder, tf_dispatch_name(from), expr(e, tf_dispatch_subject(from)), message);
  for (unsigned i = 0; i < tf_dispatch_case_count(from); i++) {
    tf_range_pattern range = tf_dispatch_pattern(from, i);
    const tf_stmt *target = tf_dispatch_call(from, i);
    unsigned count = arguments(e, target, args);
    tf_builder_case(e->builder, range.name, range.lo, range.hi, tf_expr_name(tf_evaluate_callee(target)), count, args);
  }
  tf_builder_end(e->builder);
}

static void branch(echo *e, const tf_stmt *from) {
  size_t mark = e->count;
  tf_builder_begin_if(e->builder, expr(e, tf_stmt_cond(from)));
  sequence(e, tf_stmt_body(from));
  e->count = mark;
  if (tf_sequential_count(tf_if_else(from))) {
    tf_builder_begin_else(e->builder);
    sequence(e, tf_if_else(from));
  }
  tf_builder_end(e->builder);
  e->count = mark;
}

static void statement(echo *e, const tf_stmt *from) {
  const tf_expr *args[MAX_OPERANDS];
  at(e, from);
  switch (tf_stmt_get_kind(from)) {
  case TF_STMT_LET:
    let(e, from);
    break;
  case TF_STMT_FOR: {
    const tf_expr *start = expr(e, tf_for_start(from)), *stop = expr(e, tf_for_stop(from)),
                  *step = expr(e, tf_for_step(from));
    remember(e, tf_stmt_var(from),
             tf_builder_begin_for(e->builder, tf_expr_name(tf_stmt_var(from)), start, stop, step));
    block(e, tf_stmt_body(from));
    break;
  }
  case TF_STMT_WHILE:
    tf_builder_begin_while(e->builder, expr(e, tf_stmt_cond(from)));
    block(e, tf_stmt_body(from));
    break;
  case TF_STMT_IF:
    branch(e, from);
    break;
  case TF_STMT_MESH_SCOPE:
    remember(e, tf_stmt_var(from),
             tf_builder_begin_mesh(e->builder, tf_expr_name(tf_stmt_var(from)), tf_mesh_scope_mesh(from)));
    block(e, tf_stmt_body(from));
    break;
  case TF_STMT_RETURN:
    tf_builder_return(e->builder);
    break;
  case TF_STMT_ABORT:
    tf_builder_abort(e->builder, tf_abort_message(from));
    break;
  case TF_STMT_DISPATCH_CALL:
    dispatch(e, from);
    break;
  case TF_STMT_EVALUATE:
    evaluate(e, from);
    break;
  case TF_STMT_INTRINSIC: {
    unsigned count = arguments(e, from, args);
    tf_builder_intrinsic(e->builder, tf_intrinsic_stmt_decl(from), count, args);
    break;
  }
  case TF_STMT_SEQUENTIAL:
    sequence(e, from);
    break;
  case TF_STMT_PRIM_FUNCTION:
    ck_abort_msg("a function inside a function");
  }
}

static void sequence(echo *e, const tf_stmt *from) {
  for (unsigned i = 0; i < tf_sequential_count(from); i++)
    statement(e, tf_sequential_get(from, i));
}

static void function(echo *e, const tf_stmt *from) {
  tf_function_options options = TF_FUNCTION_OPTIONS_INIT;
  options.target = tf_function_target(from);
  options.output_count = tf_function_output_count(from);
  at(e, from);
  tf_builder_begin_function(e->builder, tf_function_name(from), &options);
  for (unsigned i = 0; i < tf_function_param_count(from); i++) {
    const tf_expr *param = tf_function_param(from, i);
    remember(e, param, tf_builder_param(e->builder, tf_expr_name(param), tf_expr_type(param), tf_var_is_const(param)));
  }
  block(e, tf_stmt_body(from));
  e->count = 0;
}

/* Null if the builder refuses it. */
static const tf_module *rebuild(tf_context *context, const tf_module *module) {
  echo e = {0};
  const tf_module *out = NULL;
  ck_assert_int_eq(tf_builder_create(context, &e.builder), TF_OK);
  tf_builder_begin_module(e.builder, tf_module_name(module), tf_module_entry(module));
  for (unsigned i = 0; i < tf_module_intrinsic_count(module); i++)
    tf_builder_declare_intrinsic(e.builder, tf_module_intrinsic(module, i));
  for (unsigned i = 0; i < tf_module_function_count(module); i++) {
    const tf_stmt *declared = tf_module_function(module, i);
    if (tf_module_find(module, tf_function_name(declared)) == declared)
      tf_builder_declare_function(e.builder, tf_function_name(declared), tf_function_type(context, declared));
  }
  for (unsigned i = 0; i < tf_module_function_count(module); i++)
    function(&e, tf_module_function(module, i));
  tf_status status = tf_builder_finish(e.builder, &out);
  ck_assert(status == TF_OK || status == TF_INVALID_ARGUMENT);
  tf_builder_destroy(e.builder);
  free(e.map);
  return out;
}

static void check_copy(const char *name, const tf_module *module, const tf_module *copy) {
  const char *before, *after;
  ck_assert_msg(tf_module_equal(module, copy), "%s: the copy differs", name);
  ck_assert_int_eq(tf_print(module, &before), TF_OK);
  ck_assert_int_eq(tf_print(copy, &after), TF_OK);
  ck_assert_str_eq(before, after);
}

/* The builder refuses an operand at once, the parser leaves it to the verifier. */
static void check_refusal(const char *name, tf_context *context, const tf_module *module) {
  size_t count = tf_context_diagnostic_count(context);
  const char *message = count ? tf_context_diagnostic(context, count - 1)->message : "no message";
  ck_assert_msg(tf_verify(module, NULL) == TF_VERIFY, "%s: the builder refuses what the verifier takes: %s", name,
                message);
}

/* ---- Files --------------------------------------------------------------------------------------------------------------------- */
static bool echo_text(const char *name, const char *text, size_t length) {
  tf_context *context;
  const tf_module *module = NULL;
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  bool parsed = tf_parse(context, name, text, length, &options, &module) == TF_OK;
  if (parsed) {
    const tf_module *copy = rebuild(context, module);
    if (copy)
      check_copy(name, module, copy);
    else
      check_refusal(name, context, module);
  }
  tf_context_destroy(context);
  return parsed;
}

/* Pieces of a file that tests several inputs are inputs of their own. Returns how many parsed. */
static unsigned echo_pieces(const char *name, const char *text) {
  static const char separator[] = "\n# -----";
  unsigned parsed = 0;
  for (const char *end; text; text = end ? strchr(end + 1, '\n') : NULL) {
    end = strstr(text, separator);
    parsed += echo_text(name, text, end ? (size_t)(end - text) : strlen(text));
  }
  return parsed;
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(size + 1, 1);
  ck_assert_uint_eq(fread(text, 1, size, file), size);
  fclose(file);
  return text;
}

/* The Python blocks of a manual. */
static unsigned echo_blocks(const char *name, const char *text) {
  static const char fence[] = "```python\n";
  unsigned parsed = 0;
  while ((text = strstr(text, fence))) {
    text += sizeof fence - 1;
    const char *end = strstr(text, "\n```");
    if (!end) break;
    parsed += echo_text(name, text, (size_t)(end - text) + 1);
    text = end;
  }
  return parsed;
}

static unsigned echoed; /* nftw hands nothing through */

static bool is_hidden_or_build(const char *path, const struct FTW *where) {
  const char *name = path + where->base;
  return where->level > 0 && (name[0] == '.' || strncmp(name, "build", 5) == 0);
}

static int visit(const char *path, const struct stat *info, int type, struct FTW *where) {
  (void)info;
  if (type == FTW_D) return is_hidden_or_build(path, where) ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
  const char *ending = strrchr(path, '.');
  bool program = ending && strcmp(ending, ".tir") == 0, manual = ending && strcmp(ending, ".md") == 0;
  if (type != FTW_F || (!program && !manual)) return FTW_CONTINUE;
  char *text = read_file(path);
  echoed += program ? echo_pieces(path, text) : echo_blocks(path, text);
  free(text);
  return FTW_CONTINUE;
}

START_TEST(modules_survive_the_builder) {
  echoed = 0;
  ck_assert_int_eq(nftw(TF_SOURCE_DIR, visit, 20, FTW_PHYS | FTW_ACTIONRETVAL), 0);
  ck_assert_uint_ge(echoed, 250);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("echo");
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, modules_survive_the_builder);
  return run_case("echo", tests);
}
