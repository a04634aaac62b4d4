/* The walk of the second pass, and tf_verify itself.
 *
 *   every kernel           its call tree, with scopes, active threads and conditions
 *   every host function    alone
 *
 * A device function that is only called has no meaning of its own: which threads execute it is the caller's. */
#include "Verify/InPlace.h"

#include <string.h>

#include "IR/Target.h"
#include "Support/Options.h"

/* A call tree that grows beyond this after inlining is refused: its code would not be usable, and walking it not finish. */
enum { MAX_WALKED = 200000 };

static tf_verify_op_fn *const op_rules[] = {
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) [TF_OP_##ID] = tf_verify_##ID,
#include <tilefoundry/Ops.def>
};

static void walk_block(tf_verifier *v, const tf_stmt *block);

/* ---- Expressions ------------------------------------------------------------------------------------------------------------ */

/* The rules of every op in a scalar expression; operands before what uses them. */
static void walk_scalar(tf_verifier *v, const tf_expr *expr) {
  if (!expr || expr->kind != TF_EXPR_CALL) return;
  for (unsigned i = 0; i < expr->call.arg_count; i++)
    walk_scalar(v, expr->call.args[i]);
  tf_invocation inv = tf_invocation_of_call(expr);
  if (inv.loc.line == 0) inv.loc = v->stmt->loc;
  op_rules[inv.op](v, &inv);
}

static const tf_fact *condition_fact(tf_verifier *v, const tf_expr *cond) {
  walk_scalar(v, cond);
  return tf_fact_of(v->facts, &v->region, cond);
}

/* ---- Statements ------------------------------------------------------------------------------------------------------------- */

static void walk_let(tf_verifier *v, const tf_stmt *stmt) {
  const tf_expr *value = stmt->let.value;
  v->let_var = stmt->let.var;
  walk_scalar(v, value);
  v->let_var = NULL;
  if (tf_is_scalar(value)) tf_facts_bind(v->facts, stmt->let.var, tf_fact_of(v->facts, &v->region, value));
}

static void walk_loop_body(tf_verifier *v, const tf_stmt *stmt, const tf_fact *fact, const tf_stmt *body) {
  tf_control_push(v, fact, stmt->loc);
  tf_loop_exits *loop = tf_control_push_loop(v);
  walk_block(v, body);
  tf_control_pop_loop(v, loop);
  tf_control_pop(v);
}

static void walk_for(tf_verifier *v, const tf_stmt *stmt) {
  const tf_expr *bounds[3] = {stmt->for_.start, stmt->for_.stop, stmt->for_.step};
  const tf_fact *parts[3];
  for (int i = 0; i < 3; i++) {
    walk_scalar(v, bounds[i]);
    parts[i] = tf_fact_of(v->facts, &v->region, bounds[i]);
  }
  if (parts[2]->known && !parts[2]->values && parts[2]->constant == 0)
    TF_FAIL(v, bounds[2], tf_verifier_loc(v, bounds[2]), RANGE_STEP_ZERO);
  const tf_fact *fact = tf_fact_join(v->context, 3, parts);
  tf_facts_bind(v->facts, stmt->for_.var, fact);
  walk_loop_body(v, stmt, fact, stmt->for_.body);
}

static void walk_if(tf_verifier *v, const tf_stmt *stmt) {
  const tf_fact *fact = condition_fact(v, stmt->if_.cond);
  tf_control_push(v, fact, stmt->loc);
  walk_block(v, stmt->if_.then_body);
  walk_block(v, stmt->if_.else_body);
  tf_control_pop(v);
}

static void walk_mesh_scope(tf_verifier *v, const tf_stmt *stmt) {
  if (v->host) {
    TF_FAIL(v, stmt, stmt->loc, HOST_SCOPE);
    return;
  }
  tf_region inner;
  const char *reason = NULL;
  if (!tf_region_enter(&v->region, stmt, &inner, &reason)) {
    TF_FAIL(v, stmt, stmt->loc, MESH_INVALID, tf_mesh_print(v->context, stmt->mesh_scope.mesh), reason);
    return;
  }
  if (tf_threads_count(&inner.active) == 0) {
    if (TF_FAIL(v, stmt, stmt->loc, SCOPE_EMPTY, tf_mesh_print(v->context, stmt->mesh_scope.mesh)))
      tf_verifier_scope_notes(v);
    return;
  }
  tf_region outer = v->region;
  v->region = inner;
  walk_block(v, stmt->mesh_scope.body);
  v->region = outer;
}

/* The callee's body in this place: its parameters stand for the arguments, its scopes start fresh, its returns end with it. */
static void walk_call(tf_verifier *v, const tf_stmt *stmt) {
  for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
    walk_scalar(v, stmt->evaluate.args[i]);
  const tf_stmt *callee = tf_module_find(v->module, stmt->evaluate.callee->symbol.name);
  if (v->host || !callee || v->depth >= TF_MAX_NESTING) return;
  for (unsigned i = 0; i < callee->function.param_count; i++)
    if (tf_is_scalar(callee->function.params[i]))
      tf_facts_bind(v->facts, callee->function.params[i], tf_fact_of(v->facts, &v->region, stmt->evaluate.args[i]));
  tf_region outer = v->region;
  tf_thread_set entry = v->entry_active;
  const tf_exit *returns = v->exits.returns;
  v->region = tf_region_call(&outer, stmt, callee);
  for (unsigned i = 0; i < callee->function.param_count; i++)
    tf_verifier_bind_tensor(v, v->region.path, callee->function.params[i], stmt->evaluate.args[i]);
  v->entry_active = outer.active;
  v->depth++;
  walk_block(v, callee->function.body);
  v->depth--;
  v->exits.returns = returns;
  v->entry_active = entry;
  v->region = outer;
}

static void walk_evaluate(tf_verifier *v, const tf_stmt *stmt) {
  if (stmt->evaluate.callee) {
    walk_call(v, stmt);
    return;
  }
  for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
    walk_scalar(v, stmt->evaluate.args[i]);
  tf_invocation inv = tf_invocation_of_evaluate(stmt);
  bool on_host = inv.op == TF_OP_COPY || inv.op == TF_OP_FILL || inv.op == TF_OP_LAUNCH;
  if (v->host && !on_host) {
    TF_FAIL(v, stmt, stmt->loc, HOST_OP, tf_op_get_info(inv.op)->name);
    return;
  }
  op_rules[inv.op](v, &inv);
}

static void walk_stmt(tf_verifier *v, const tf_stmt *stmt) {
  v->stmt = stmt;
  switch (stmt->kind) {
  case TF_STMT_LET:
    walk_let(v, stmt);
    break;
  case TF_STMT_FOR:
    walk_for(v, stmt);
    break;
  case TF_STMT_WHILE:
    walk_loop_body(v, stmt, condition_fact(v, stmt->while_.cond), stmt->while_.body);
    break;
  case TF_STMT_IF:
    walk_if(v, stmt);
    break;
  case TF_STMT_MESH_SCOPE:
    walk_mesh_scope(v, stmt);
    break;
  case TF_STMT_RETURN:
  case TF_STMT_ABORT:
    if (!v->host) tf_control_leave(v, stmt->kind == TF_STMT_ABORT, stmt->loc);
    break;
  case TF_STMT_EVALUATE:
    walk_evaluate(v, stmt);
    break;
  case TF_STMT_SEQUENTIAL:
    walk_block(v, stmt);
    break;
  case TF_STMT_INTRINSIC:
    for (unsigned i = 0; i < stmt->intrinsic.arg_count; i++)
      walk_scalar(v, stmt->intrinsic.args[i]);
    break;
  case TF_STMT_DISPATCH_CALL: /* Structure.c and Dispatch.c have seen all of it */
  case TF_STMT_PRIM_FUNCTION:
    break;
  }
}

static void walk_block(tf_verifier *v, const tf_stmt *block) {
  if (v->depth >= TF_MAX_NESTING || v->walked > MAX_WALKED) return;
  v->depth++;
  tf_block_cursor cursor = tf_block_begin(block);
  for (const tf_stmt *stmt = tf_block_next(&cursor); stmt; stmt = tf_block_next(&cursor)) {
    v->walked++;
    if (!tf_verifier_is_refused(v, stmt)) walk_stmt(v, stmt);
    if (stmt->kind == TF_STMT_LET && !tf_block_continues(&cursor)) walk_block(v, stmt->let.body);
  }
  v->depth--;
}

/* ---- Roots -------------------------------------------------------------------------------------------------------------------- */

static void walk_root(tf_verifier *v, const tf_stmt *function) {
  v->root = function;
  v->host = tf_function_is_host(function);
  v->target = tf_verifier_target(v, function);
  v->geometry = tf_geometry_of(v->module, function);
  if (v->host) v->geometry = (tf_geometry){.block = 1, .grid = tf_dim_int(v->context, 1)};
  v->region = tf_region_begin(v->context, function, &v->geometry);
  v->entry_active = v->region.active;
  v->facts = tf_facts_create(v->context, &v->geometry);
  v->control = NULL;
  v->exits = (tf_exits){NULL, NULL};
  v->walked = 0;
  v->meetings.count = 0;
  walk_block(v, function->function.body);
  if (v->walked > MAX_WALKED)
    TF_FAIL(v, function, function->loc, CALL_TREE_SIZE, function->function.name, (int)MAX_WALKED);
  tf_verifier_judge(v);
  if (!v->host) tf_verifier_record_kernel(v);
}

static tf_status verify(void *argument) {
  tf_verifier *v = argument;
  size_t before = v->context->error_count;
  v->run = TF_ARENA_NEW(&v->context->arena, char);
  tf_verify_module_structure(v);
  for (unsigned i = 0; i < v->module->function_count; i++) {
    const tf_stmt *function = v->module->functions[i];
    if (tf_function_is_host(function) || tf_function_is_kernel(v->module, function)) walk_root(v, function);
  }
  return v->context->error_count == before ? TF_OK : TF_VERIFY;
}

tf_status tf_verify(const tf_module *module, const tf_verify_options *options) {
  tf_verify_options known = TF_VERIFY_OPTIONS_INIT;
  if (!module || !tf_options_read(&known, sizeof known, options)) return TF_INVALID_ARGUMENT;
  tf_verifier verifier = {.context = module->context, .module = module};
  verifier.override = known.target;
  return tf_context_try(module->context, verify, &verifier);
}
