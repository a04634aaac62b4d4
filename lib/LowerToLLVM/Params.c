/* Parameters and names of kernels; see Function.h. */
#include "LowerToLLVM/Function.h"

#include <ctype.h>
#include <string.h>

#include "Verify/Walk.h"

/* ---- Names ---- */
/* Names of letters, digits and '_' that PTX takes for something else. Its keywords are none of them: what begins a
 * directive or an instruction may also be a name. */
static bool is_reserved(const char *name) {
  return strcmp(name, "_") == 0 || strcmp(name, "WARP_SZ") == 0;
}

const char *tf_escape_name(tf_context *context, const char *name) {
  tf_string text;
  tf_string_init(&text, &context->arena);
  bool bad_start = isdigit((unsigned char)*name) || is_reserved(name);
  for (const char *at = name; *at; at++) {
    unsigned char c = (unsigned char)*at;
    if (c < 128 && (isalnum(c) || c == '_') && !(at == name && bad_start))
      tf_string_append(&text, at, 1);
    else
      tf_string_printf(&text, "$%02x", c);
  }
  return text.text;
}

/* ---- Hidden shapes ---- */
typedef struct shape_search {
  tf_context *context;
  const tf_stmt *function;
  struct {
    TF_VEC(const char *);
  } seen;      /* DimVars that have their parameter */
  bool is_new; /* the extent names a DimVar for the first time */
} shape_search;

static void visit_var(void *user, const char *name, int64_t lo, int64_t hi) {
  shape_search *search = user;
  (void)lo, (void)hi;
  for (size_t i = 0; i < search->seen.count; i++)
    if (strcmp(search->seen.items[i], name) == 0) return;
  search->is_new = true;
  TF_VEC_PUSH(&search->context->arena, &search->seen, name);
}

typedef struct shape_use {
  const tf_expr *param;
  unsigned axis;
  bool found;
} shape_use;

static void scan_expr(shape_use *use, const tf_expr *expr) {
  if (!expr) return;
  if (expr->kind == TF_EXPR_SHAPE_OF)
    use->found |= expr->shape_of.param == use->param && expr->shape_of.axis == use->axis;
  for (unsigned i = 0; expr->kind == TF_EXPR_CALL && i < expr->call.arg_count; i++)
    scan_expr(use, expr->call.args[i]);
}

static bool scan_stmt(void *user, const tf_stmt *stmt) {
  shape_use *use = user;
  if (stmt->kind == TF_STMT_LET) scan_expr(use, stmt->let.value);
  if (stmt->kind == TF_STMT_FOR) {
    scan_expr(use, stmt->for_.start);
    scan_expr(use, stmt->for_.stop);
    scan_expr(use, stmt->for_.step);
  }
  if (stmt->kind == TF_STMT_WHILE || stmt->kind == TF_STMT_IF) scan_expr(use, tf_stmt_cond(stmt));
  for (unsigned i = 0; stmt->kind == TF_STMT_EVALUATE && i < stmt->evaluate.arg_count; i++)
    scan_expr(use, stmt->evaluate.args[i]);
  return !use->found;
}

static bool asks_for_shape(const tf_stmt *function, const tf_expr *param, unsigned axis) {
  shape_use use = {param, axis, false};
  tf_stmt_walk(function->function.body, scan_stmt, &use);
  return use.found;
}

static bool needs_shape(shape_search *search, const tf_expr *param, unsigned axis) {
  const tf_dim *extent = tf_type_extent(param->type, axis);
  if (tf_dim_is_static(extent, NULL)) return false;
  search->is_new = false;
  tf_dim_visit_vars(extent, visit_var, search);
  return search->is_new || asks_for_shape(search->function, param, axis);
}

/* ---- The list ---- */
typedef struct param_list {
  TF_VEC(tf_kernel_param);
} param_list;

static void add_shapes(tf_context *context, const tf_stmt *function, param_list *list) {
  shape_search search = {.context = context, .function = function};
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_expr *param = function->function.params[i];
    for (unsigned axis = 0; axis < tf_type_rank(param->type); axis++) {
      if (!needs_shape(&search, param, axis)) continue;
      const char *name = tf_arena_printf(&context->arena, "%s_shape_%u", tf_expr_name(param), axis);
      tf_kernel_param hidden = {TF_KERNEL_PARAM_HIDDEN_SHAPE, name, param, axis};
      TF_VEC_PUSH(&context->arena, list, hidden);
    }
  }
}

unsigned tf_kernel_params(tf_context *context, const tf_kernel *kernel, const tf_kernel_param **out) {
  const tf_stmt *function = kernel->function;
  param_list list = {0};
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_expr *param = function->function.params[i];
    tf_kernel_param_kind kind = tf_is_scalar(param) ? TF_KERNEL_PARAM_SCALAR : TF_KERNEL_PARAM_TENSOR;
    tf_kernel_param declared = {kind, tf_expr_name(param), param, 0};
    TF_VEC_PUSH(&context->arena, &list, declared);
  }
  add_shapes(context, function, &list);
  if (kernel->uses_grid_barrier) {
    tf_kernel_param barrier = {TF_KERNEL_PARAM_GRID_BARRIER, "grid_barrier", NULL, 0};
    TF_VEC_PUSH(&context->arena, &list, barrier);
  }
  *out = list.items;
  return (unsigned)list.count;
}
