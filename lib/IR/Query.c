/* Read access to nodes. Every accessor answers for the kinds that its declaration names and gives null, 0 or an empty
 * value for any other node, so that a reader that guesses wrong sees nothing instead of another member's bytes. */
#include "IR/Nodes.h"

#include <string.h>

/* ---- Expressions ----------------------------------------------------------------------------------------------------
 */
static bool expr_is(const tf_expr *expr, tf_expr_kind kind) {
  return expr && expr->kind == kind;
}

tf_expr_kind tf_expr_get_kind(const tf_expr *expr) {
  return expr ? expr->kind : TF_EXPR_TUPLE; /* null reads as the empty tuple: no name, no operands, no elements */
}

const tf_type *tf_expr_type(const tf_expr *expr) {
  return expr ? expr->type : NULL;
}

tf_loc tf_expr_loc(const tf_expr *expr) {
  return expr ? expr->loc : TF_NO_LOC;
}

const char *tf_expr_name(const tf_expr *expr) {
  if (expr_is(expr, TF_EXPR_VAR)) return expr->var.name;
  return expr_is(expr, TF_EXPR_SYMBOL_REF) ? expr->symbol.name : NULL;
}

const tf_mesh *tf_var_mesh(const tf_expr *var) {
  return expr_is(var, TF_EXPR_VAR) ? var->var.mesh : NULL;
}

bool tf_var_is_const(const tf_expr *var) {
  return expr_is(var, TF_EXPR_VAR) && var->var.is_const;
}

int64_t tf_constant_int(const tf_expr *constant) {
  return expr_is(constant, TF_EXPR_CONSTANT) ? constant->constant.i : 0;
}

double tf_constant_float(const tf_expr *constant) {
  return expr_is(constant, TF_EXPR_CONSTANT) ? constant->constant.f : 0;
}

tf_op tf_call_op(const tf_expr *call) {
  return expr_is(call, TF_EXPR_CALL) ? call->call.op : TF_OP_COUNT;
}

unsigned tf_call_arg_count(const tf_expr *call) {
  return expr_is(call, TF_EXPR_CALL) ? call->call.arg_count : 0;
}

const tf_expr *tf_call_arg(const tf_expr *call, unsigned index) {
  return index < tf_call_arg_count(call) ? call->call.args[index] : NULL;
}

static tf_attr attr_at(tf_op op, const tf_attr *attrs, unsigned index) {
  const tf_op_info *info = tf_op_get_info(op);
  return info && index < info->attr_count ? attrs[index] : (tf_attr){0};
}

tf_attr tf_call_attr(const tf_expr *call, unsigned index) {
  return expr_is(call, TF_EXPR_CALL) ? attr_at(call->call.op, call->call.attrs, index) : (tf_attr){0};
}

const tf_expr *tf_shape_of_param(const tf_expr *expr) {
  return expr_is(expr, TF_EXPR_SHAPE_OF) ? expr->shape_of.param : NULL;
}

unsigned tf_shape_of_axis(const tf_expr *expr) {
  return expr_is(expr, TF_EXPR_SHAPE_OF) ? expr->shape_of.axis : 0;
}

unsigned tf_tuple_expr_count(const tf_expr *expr) {
  return expr_is(expr, TF_EXPR_TUPLE) ? expr->tuple.count : 0;
}

const tf_expr *tf_tuple_expr_element(const tf_expr *expr, unsigned index) {
  return index < tf_tuple_expr_count(expr) ? expr->tuple.elements[index] : NULL;
}

/* ---- Statements -----------------------------------------------------------------------------------------------------
 */
static bool stmt_is(const tf_stmt *stmt, tf_stmt_kind kind) {
  return stmt && stmt->kind == kind;
}

tf_stmt_kind tf_stmt_get_kind(const tf_stmt *stmt) {
  return stmt ? stmt->kind : TF_STMT_RETURN; /* null reads as a statement without parts */
}

tf_loc tf_stmt_loc(const tf_stmt *stmt) {
  return stmt ? stmt->loc : TF_NO_LOC;
}

const char *tf_stmt_loc_text(const tf_stmt *stmt) {
  return stmt ? stmt->loc_text : NULL;
}

unsigned tf_sequential_count(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_SEQUENTIAL) ? stmt->sequential.count : 0;
}

const tf_stmt *tf_sequential_get(const tf_stmt *stmt, unsigned index) {
  return index < tf_sequential_count(stmt) ? stmt->sequential.items[index] : NULL;
}

const tf_expr *tf_stmt_var(const tf_stmt *stmt) {
  if (stmt_is(stmt, TF_STMT_LET)) return stmt->let.var;
  if (stmt_is(stmt, TF_STMT_FOR)) return stmt->for_.var;
  return stmt_is(stmt, TF_STMT_MESH_SCOPE) ? stmt->mesh_scope.var : NULL;
}

const tf_expr *tf_let_value(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_LET) ? stmt->let.value : NULL;
}

const tf_expr *tf_for_start(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_FOR) ? stmt->for_.start : NULL;
}

const tf_expr *tf_for_stop(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_FOR) ? stmt->for_.stop : NULL;
}

const tf_expr *tf_for_step(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_FOR) ? stmt->for_.step : NULL;
}

const tf_expr *tf_stmt_cond(const tf_stmt *stmt) {
  if (stmt_is(stmt, TF_STMT_WHILE)) return stmt->while_.cond;
  return stmt_is(stmt, TF_STMT_IF) ? stmt->if_.cond : NULL;
}

const tf_stmt *tf_stmt_body(const tf_stmt *stmt) {
  if (!stmt) return NULL;
  switch (stmt->kind) {
  case TF_STMT_LET:
    return stmt->let.body;
  case TF_STMT_FOR:
    return stmt->for_.body;
  case TF_STMT_WHILE:
    return stmt->while_.body;
  case TF_STMT_IF:
    return stmt->if_.then_body;
  case TF_STMT_MESH_SCOPE:
    return stmt->mesh_scope.body;
  case TF_STMT_DISPATCH_CALL:
    return stmt->dispatch.fallback;
  case TF_STMT_PRIM_FUNCTION:
    return stmt->function.body;
  default:
    return NULL;
  }
}

const tf_stmt *tf_if_else(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_IF) ? stmt->if_.else_body : NULL;
}

const tf_mesh *tf_mesh_scope_mesh(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_MESH_SCOPE) ? stmt->mesh_scope.mesh : NULL;
}

const char *tf_abort_message(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_ABORT) ? stmt->abort.message : NULL;
}

const tf_expr *tf_evaluate_callee(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_EVALUATE) ? stmt->evaluate.callee : NULL;
}

tf_op tf_evaluate_op(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_EVALUATE) && !stmt->evaluate.callee ? stmt->evaluate.op : TF_OP_COUNT;
}

unsigned tf_evaluate_arg_count(const tf_stmt *stmt) {
  if (stmt_is(stmt, TF_STMT_EVALUATE)) return stmt->evaluate.arg_count;
  return stmt_is(stmt, TF_STMT_INTRINSIC) ? stmt->intrinsic.arg_count : 0;
}

const tf_expr *tf_evaluate_arg(const tf_stmt *stmt, unsigned index) {
  if (index >= tf_evaluate_arg_count(stmt)) return NULL;
  return stmt->kind == TF_STMT_EVALUATE ? stmt->evaluate.args[index] : stmt->intrinsic.args[index];
}

tf_attr tf_evaluate_attr(const tf_stmt *stmt, unsigned index) {
  tf_op op = tf_evaluate_op(stmt);
  return op == TF_OP_COUNT ? (tf_attr){0} : attr_at(op, stmt->evaluate.attrs, index);
}

const tf_intrinsic *tf_intrinsic_stmt_decl(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_INTRINSIC) ? stmt->intrinsic.decl : NULL;
}

const char *tf_dispatch_name(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_DISPATCH_CALL) ? stmt->dispatch.callee_name : NULL;
}

const tf_expr *tf_dispatch_subject(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_DISPATCH_CALL) && stmt->dispatch.subject_count ? stmt->dispatch.subjects[0] : NULL;
}

unsigned tf_dispatch_case_count(const tf_stmt *stmt) {
  return stmt_is(stmt, TF_STMT_DISPATCH_CALL) ? stmt->dispatch.case_count : 0;
}

tf_range_pattern tf_dispatch_pattern(const tf_stmt *stmt, unsigned index) {
  return index < tf_dispatch_case_count(stmt) ? stmt->dispatch.patterns[index] : (tf_range_pattern){0};
}

const tf_stmt *tf_dispatch_call(const tf_stmt *stmt, unsigned index) {
  return index < tf_dispatch_case_count(stmt) ? stmt->dispatch.calls[index] : NULL;
}

/* ---- Functions and modules
 * -------------------------------------------------------------------------------------------- */
const char *tf_function_name(const tf_stmt *function) {
  return stmt_is(function, TF_STMT_PRIM_FUNCTION) ? function->function.name : NULL;
}

unsigned tf_function_param_count(const tf_stmt *function) {
  return stmt_is(function, TF_STMT_PRIM_FUNCTION) ? function->function.param_count : 0;
}

const tf_expr *tf_function_param(const tf_stmt *function, unsigned index) {
  return index < tf_function_param_count(function) ? function->function.params[index] : NULL;
}

unsigned tf_function_output_count(const tf_stmt *function) {
  return stmt_is(function, TF_STMT_PRIM_FUNCTION) ? function->function.output_count : 0;
}

const tf_target *tf_function_target(const tf_stmt *function) {
  return stmt_is(function, TF_STMT_PRIM_FUNCTION) ? function->function.target : NULL;
}

const tf_type *tf_function_type(tf_context *context, const tf_stmt *function) {
  if (!context || !stmt_is(function, TF_STMT_PRIM_FUNCTION)) return NULL;
  unsigned count = function->function.param_count;
  const tf_type **types = TF_ARENA_ARRAY(&context->arena, const tf_type *, count);
  for (unsigned i = 0; i < count; i++)
    types[i] = function->function.params[i]->type;
  return tf_type_callable(context, count, types);
}

const char *tf_module_name(const tf_module *module) {
  return module ? module->name : NULL;
}

const char *tf_module_entry(const tf_module *module) {
  return module ? module->entry : NULL;
}

tf_context *tf_module_context(const tf_module *module) {
  return module ? module->context : NULL;
}

unsigned tf_module_function_count(const tf_module *module) {
  return module ? module->function_count : 0;
}

const tf_stmt *tf_module_function(const tf_module *module, unsigned index) {
  return index < tf_module_function_count(module) ? module->functions[index] : NULL;
}

const tf_stmt *tf_module_find(const tf_module *module, const char *name) {
  for (unsigned i = 0; name && i < tf_module_function_count(module); i++)
    if (strcmp(module->functions[i]->function.name, name) == 0) return module->functions[i];
  return NULL;
}

unsigned tf_module_intrinsic_count(const tf_module *module) {
  return module ? module->intrinsic_count : 0;
}

const tf_intrinsic *tf_module_intrinsic(const tf_module *module, unsigned index) {
  return index < tf_module_intrinsic_count(module) ? module->intrinsics[index] : NULL;
}

/* ---- Invocations
 * -------------------------------------------------------------------------------------------------------- */
tf_invocation tf_invocation_of_call(const tf_expr *call) {
  return (tf_invocation){call->call.op, call->call.arg_count, call->call.args, call->call.attrs, call->loc};
}

tf_invocation tf_invocation_of_evaluate(const tf_stmt *stmt) {
  return (tf_invocation){stmt->evaluate.op, stmt->evaluate.arg_count, stmt->evaluate.args, stmt->evaluate.attrs,
                         stmt->loc};
}

unsigned tf_invocation_variadic(const tf_invocation *invocation, const tf_expr *const **first) {
  const tf_op_info *info = tf_op_get_info(invocation->op);
  unsigned fixed = info->operand_count;
  bool variadic = fixed && info->operands[fixed - 1].arity == TF_ARITY_VARIADIC;
  if (!variadic || invocation->arg_count < fixed - 1) {
    if (first) *first = NULL;
    return 0;
  }
  if (first) *first = invocation->args + (fixed - 1);
  return invocation->arg_count - (fixed - 1);
}
