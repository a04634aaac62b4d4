/* Structural equality of modules, up to the names of bindings.
 *
 * Both sides are walked together. Where both bind a variable the pair is remembered; where both use one, the pair has to be
 * the remembered one. Interned parts (types, layouts, dims, meshes, atoms) are equal as pointers, and the modules therefore
 * belong to one context; across contexts only their printed texts can be compared. Locations never count. */
#include "IR/Nodes.h"

#include <string.h>

#include "IR/Text/ElaborateIntrinsic.h"

typedef struct comparison {
  tf_context *context;
  const char *tag; /* distinguishes this comparison's memo entries */
} comparison;

/* ---- Bindings: one slot per variable of a, holding its partner ---- */
static void **partner_slot(comparison *c, const void *variable, char side) {
  const struct {
    const void *comparison, *variable;
    uint64_t side;
  } key = {c->tag, variable, (uint64_t)side};
  return tf_context_memo(c->context, &key, sizeof key);
}

/* Whether both stand for each other; a variable meets its partner at its binding first. */
static bool same_var(comparison *c, const tf_expr *a, const tf_expr *b) {
  return *partner_slot(c, a, 'a') == b && *partner_slot(c, b, 'b') == a;
}

static bool bind_vars(comparison *c, const tf_expr *a, const tf_expr *b) {
  if (a->type != b->type || a->var.mesh != b->var.mesh || a->var.is_const != b->var.is_const ||
      a->var.is_param != b->var.is_param)
    return false;
  *partner_slot(c, a, 'a') = (void *)(uintptr_t)b;
  *partner_slot(c, b, 'b') = (void *)(uintptr_t)a;
  return true;
}

/* ---- Expressions ---- */
static bool same_expr(comparison *c, const tf_expr *a, const tf_expr *b);

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_exprs(comparison *c, unsigned count, const tf_expr *const *a, const tf_expr *const *b) {
  for (unsigned i = 0; i < count; i++)
    if (!same_expr(c, a[i], b[i])) return false;
  return true;
}

static bool same_attr(comparison *c, tf_attr_kind kind, tf_attr a, tf_attr b) {
  switch (kind) {
  case TF_ATTR_FLOAT:
    return memcmp(&a.f, &b.f, sizeof a.f) == 0; /* by bits: NaN equals itself */
  case TF_ATTR_LITERAL:
    return same_expr(c, a.literal, b.literal);
  case TF_ATTR_TYPE:
  case TF_ATTR_LAYOUT:
  case TF_ATTR_SHAPE:
  case TF_ATTR_AXES:
  case TF_ATTR_CLUSTER:
  case TF_ATTR_DIM:
  case TF_ATTR_MESH:
  case TF_ATTR_ATOM:
  case TF_ATTR_LAUNCH_ATTRS:
    return a.type == b.type; /* all of them are interned pointers */
  default:
    return a.i == b.i;
  }
}

static bool same_attrs(comparison *c, tf_op op, const tf_attr *a, const tf_attr *b) {
  const tf_op_info *info = tf_op_get_info(op);
  for (unsigned i = 0; i < info->attr_count; i++)
    if (!same_attr(c, info->attrs[i].kind, a[i], b[i])) return false;
  return true;
}

static bool same_invocation(comparison *c, const tf_invocation *a, const tf_invocation *b) {
  return a->op == b->op && a->arg_count == b->arg_count && same_exprs(c, a->arg_count, a->args, b->args) &&
         same_attrs(c, a->op, a->attrs, b->attrs);
}

static bool same_call(comparison *c, const tf_expr *a, const tf_expr *b) {
  tf_invocation x = tf_invocation_of_call(a), y = tf_invocation_of_call(b);
  return same_invocation(c, &x, &y);
}

static bool same_expr(comparison *c, const tf_expr *a, const tf_expr *b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind || a->type != b->type) return false;
  switch (a->kind) {
  case TF_EXPR_VAR:
    return same_var(c, a, b);
  case TF_EXPR_CONSTANT:
    return a->constant.i == b->constant.i && memcmp(&a->constant.f, &b->constant.f, sizeof a->constant.f) == 0;
  case TF_EXPR_CALL:
    return same_call(c, a, b);
  case TF_EXPR_SHAPE_OF:
    return a->shape_of.axis == b->shape_of.axis && same_expr(c, a->shape_of.param, b->shape_of.param);
  case TF_EXPR_SYMBOL_REF:
    return same_text(a->symbol.name, b->symbol.name);
  case TF_EXPR_TUPLE:
    return a->tuple.count == b->tuple.count && same_exprs(c, a->tuple.count, a->tuple.elements, b->tuple.elements);
  }
  return false;
}

/* ---- Statements ---- */
static bool same_stmt(comparison *c, const tf_stmt *a, const tf_stmt *b);

static bool same_stmts(comparison *c, unsigned count, const tf_stmt *const *a, const tf_stmt *const *b) {
  for (unsigned i = 0; i < count; i++)
    if (!same_stmt(c, a[i], b[i])) return false;
  return true;
}

static bool same_evaluate(comparison *c, const tf_stmt *a, const tf_stmt *b) {
  if (a->evaluate.callee && b->evaluate.callee)
    return same_expr(c, a->evaluate.callee, b->evaluate.callee) && a->evaluate.arg_count == b->evaluate.arg_count &&
           same_exprs(c, a->evaluate.arg_count, a->evaluate.args, b->evaluate.args);
  if (a->evaluate.callee || b->evaluate.callee) return false;
  tf_invocation x = tf_invocation_of_evaluate(a), y = tf_invocation_of_evaluate(b);
  return same_invocation(c, &x, &y);
}

static bool same_dispatch(comparison *c, const tf_stmt *a, const tf_stmt *b) {
  if (!same_text(a->dispatch.callee_name, b->dispatch.callee_name)) return false;
  if (a->dispatch.subject_count != b->dispatch.subject_count || a->dispatch.case_count != b->dispatch.case_count)
    return false;
  for (unsigned i = 0; i < a->dispatch.case_count; i++) {
    tf_range_pattern x = a->dispatch.patterns[i], y = b->dispatch.patterns[i];
    if (!same_text(x.name, y.name) || x.lo != y.lo || x.hi != y.hi) return false;
  }
  return same_exprs(c, a->dispatch.subject_count, a->dispatch.subjects, b->dispatch.subjects) &&
         same_stmts(c, a->dispatch.case_count, a->dispatch.calls, b->dispatch.calls);
}

static bool same_function(comparison *c, const tf_stmt *a, const tf_stmt *b) {
  if (!same_text(a->function.name, b->function.name) || a->function.param_count != b->function.param_count ||
      a->function.output_count != b->function.output_count || a->function.target != b->function.target)
    return false;
  for (unsigned i = 0; i < a->function.param_count; i++) {
    const tf_expr *x = a->function.params[i], *y = b->function.params[i];
    /* Parameters' names are part of the interface: callers bind arguments by them. */
    if (!same_text(x->var.name, y->var.name) || !bind_vars(c, x, y)) return false;
  }
  return true;
}

/* The statement without its last child, which the caller goes on with: lets nest as deep as blocks are long. */
static bool same_head(comparison *c, const tf_stmt *a, const tf_stmt *b) {
  switch (a->kind) {
  case TF_STMT_SEQUENTIAL:
    return a->sequential.count == b->sequential.count &&
           same_stmts(c, a->sequential.count ? a->sequential.count - 1 : 0, a->sequential.items, b->sequential.items);
  case TF_STMT_LET:
    return same_expr(c, a->let.value, b->let.value) && bind_vars(c, a->let.var, b->let.var);
  case TF_STMT_FOR:
    return same_expr(c, a->for_.start, b->for_.start) && same_expr(c, a->for_.stop, b->for_.stop) &&
           same_expr(c, a->for_.step, b->for_.step) && bind_vars(c, a->for_.var, b->for_.var);
  case TF_STMT_WHILE:
    return same_expr(c, a->while_.cond, b->while_.cond);
  case TF_STMT_IF:
    return same_expr(c, a->if_.cond, b->if_.cond) && same_stmt(c, a->if_.then_body, b->if_.then_body);
  case TF_STMT_MESH_SCOPE:
    return a->mesh_scope.mesh == b->mesh_scope.mesh && bind_vars(c, a->mesh_scope.var, b->mesh_scope.var);
  case TF_STMT_RETURN:
    return true;
  case TF_STMT_ABORT:
    return same_text(a->abort.message, b->abort.message);
  case TF_STMT_DISPATCH_CALL:
    return same_dispatch(c, a, b);
  case TF_STMT_PRIM_FUNCTION:
    return same_function(c, a, b);
  case TF_STMT_EVALUATE:
    return same_evaluate(c, a, b);
  case TF_STMT_INTRINSIC:
    return same_text(a->intrinsic.decl->name, b->intrinsic.decl->name) &&
           a->intrinsic.arg_count == b->intrinsic.arg_count &&
           same_exprs(c, a->intrinsic.arg_count, a->intrinsic.args, b->intrinsic.args);
  }
  return false;
}

static const tf_stmt *last_child(const tf_stmt *stmt) {
  if (stmt->kind == TF_STMT_SEQUENTIAL)
    return stmt->sequential.count ? stmt->sequential.items[stmt->sequential.count - 1] : NULL;
  return stmt->kind == TF_STMT_IF ? stmt->if_.else_body : tf_stmt_body(stmt);
}

static bool same_stmt(comparison *c, const tf_stmt *a, const tf_stmt *b) {
  while (a && b) {
    if (a->kind != b->kind || !same_head(c, a, b)) return false;
    a = last_child(a);
    b = last_child(b);
  }
  return a == b;
}

bool tf_module_equal(const tf_module *a, const tf_module *b) {
  if (!a || !b || a->context != b->context) return a == b;
  if (!same_text(a->name, b->name) || !same_text(a->entry, b->entry) || a->function_count != b->function_count ||
      a->intrinsic_count != b->intrinsic_count)
    return false;
  comparison c = {a->context, tf_arena_alloc(&a->context->arena, 1)};
  for (unsigned i = 0; i < a->intrinsic_count; i++)
    if (!tf_intrinsic_equal(a->context, a->intrinsics[i], b->intrinsics[i])) return false;
  return same_stmts(&c, a->function_count, a->functions, b->functions);
}
