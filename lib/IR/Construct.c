/* Node constructors: fill one struct in the arena each. */
#include "IR/Construct.h"

#include "IR/Infer.h"

/* ---- Expressions ----------------------------------------------------------------------------------------------------
 */
static tf_expr *expr_new(tf_context *context, tf_expr_kind kind, const tf_type *type, tf_loc loc) {
  tf_expr *expr = TF_ARENA_NEW(&context->arena, tf_expr);
  expr->kind = kind;
  expr->type = type;
  expr->loc = loc;
  return expr;
}

static tf_expr *var_new(tf_context *context, const char *name, const tf_type *type, tf_loc loc) {
  tf_expr *var = expr_new(context, TF_EXPR_VAR, type, loc);
  var->var.name = tf_context_intern_cstr(context, name);
  return var;
}

const tf_expr *tf_expr_var_new(tf_context *context, const char *name, const tf_type *type, tf_loc loc) {
  return var_new(context, name, type, loc);
}

const tf_expr *tf_expr_param(tf_context *context, const char *name, const tf_type *type, bool is_const, tf_loc loc) {
  tf_expr *var = var_new(context, name, type, loc);
  var->var.is_param = true;
  var->var.is_const = is_const;
  return var;
}

const tf_expr *tf_expr_let_var(tf_context *context, const char *name, const tf_expr *value, tf_loc loc) {
  tf_expr *var = var_new(context, name, value->type, loc);
  var->var.value = value;
  return var;
}

const tf_expr *tf_expr_mesh_var(tf_context *context, const char *name, const tf_mesh *mesh, tf_loc loc) {
  tf_expr *var = var_new(context, name, tf_type_mesh(context), loc);
  var->var.mesh = mesh;
  return var;
}

const tf_expr *tf_expr_int(tf_context *context, tf_dtype dtype, int64_t value, tf_loc loc) {
  tf_expr *constant = expr_new(context, TF_EXPR_CONSTANT, tf_type_scalar(context, dtype), loc);
  constant->constant.i = value;
  return constant;
}

const tf_expr *tf_expr_float(tf_context *context, tf_dtype dtype, double value, tf_loc loc) {
  tf_expr *constant = expr_new(context, TF_EXPR_CONSTANT, tf_type_scalar(context, dtype), loc);
  constant->constant.f = value;
  return constant;
}

const tf_expr *tf_expr_shape_of(tf_context *context, const tf_expr *param, unsigned axis, tf_loc loc) {
  tf_expr *expr = expr_new(context, TF_EXPR_SHAPE_OF, tf_type_scalar(context, TF_DTYPE_I32), loc);
  expr->shape_of.param = param;
  expr->shape_of.axis = axis;
  return expr;
}

const tf_expr *tf_expr_symbol(tf_context *context, const char *name, const tf_type *type, tf_loc loc) {
  tf_expr *expr = expr_new(context, TF_EXPR_SYMBOL_REF, type, loc);
  expr->symbol.name = tf_context_intern_cstr(context, name);
  return expr;
}

static const tf_expr *const *copy_exprs(tf_context *context, unsigned count, const tf_expr *const *exprs) {
  return tf_arena_copy(&context->arena, exprs, count * sizeof *exprs);
}

const tf_expr *tf_expr_tuple(tf_context *context, unsigned count, const tf_expr *const *elements, tf_loc loc) {
  const tf_type **types = TF_ARENA_ARRAY(&context->arena, const tf_type *, count);
  for (unsigned i = 0; i < count; i++)
    types[i] = elements[i]->type;
  tf_expr *expr = expr_new(context, TF_EXPR_TUPLE, tf_type_tuple(context, count, types), loc);
  expr->tuple.count = count;
  expr->tuple.elements = copy_exprs(context, count, elements);
  return expr;
}

const tf_expr *tf_expr_call(tf_context *context, tf_op op, unsigned arg_count, const tf_expr *const *args,
                            const tf_attr *attrs, tf_loc loc) {
  const tf_expr **operands = tf_arena_copy(&context->arena, args, arg_count * sizeof *args);
  tf_invocation invocation = {op, arg_count, operands, attrs, loc};
  tf_infer_adapt_literals(context, op, arg_count, operands);
  const tf_type *type = tf_infer(context, &invocation);
  if (!type) return NULL;
  tf_expr *call = expr_new(context, TF_EXPR_CALL, type, loc);
  call->call.op = op;
  call->call.arg_count = arg_count;
  call->call.args = operands;
  call->call.attrs = tf_arena_copy(&context->arena, attrs, tf_op_get_info(op)->attr_count * sizeof *attrs);
  return call;
}

/* ---- Statements
 * ------------------------------------------------------------------------------------------------------- */
static tf_stmt *stmt_new(tf_context *context, tf_stmt_kind kind, tf_place place) {
  tf_stmt *stmt = TF_ARENA_NEW(&context->arena, tf_stmt);
  stmt->kind = kind;
  stmt->loc = place.loc;
  stmt->loc_text = place.text ? tf_context_intern_cstr(context, place.text) : NULL;
  return stmt;
}

static const tf_stmt *const *copy_stmts(tf_context *context, unsigned count, const tf_stmt *const *stmts) {
  return tf_arena_copy(&context->arena, stmts, count * sizeof *stmts);
}

const tf_stmt *tf_stmt_sequential(tf_context *context, unsigned count, const tf_stmt *const *items, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_SEQUENTIAL, place);
  stmt->sequential.count = count;
  stmt->sequential.items = copy_stmts(context, count, items);
  return stmt;
}

const tf_stmt *tf_stmt_let(tf_context *context, const tf_expr *var, const tf_expr *value, const tf_stmt *body,
                           tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_LET, place);
  stmt->let.var = var;
  stmt->let.value = value;
  stmt->let.body = body;
  return stmt;
}

const tf_stmt *tf_stmt_for(tf_context *context, const tf_expr *var, const tf_expr *start, const tf_expr *stop,
                           const tf_expr *step, const tf_stmt *body, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_FOR, place);
  stmt->for_.var = var;
  stmt->for_.start = start;
  stmt->for_.stop = stop;
  stmt->for_.step = step;
  stmt->for_.body = body;
  return stmt;
}

const tf_stmt *tf_stmt_while(tf_context *context, const tf_expr *cond, const tf_stmt *body, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_WHILE, place);
  stmt->while_.cond = cond;
  stmt->while_.body = body;
  return stmt;
}

const tf_stmt *tf_stmt_if(tf_context *context, const tf_expr *cond, const tf_stmt *then_body, const tf_stmt *else_body,
                          tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_IF, place);
  stmt->if_.cond = cond;
  stmt->if_.then_body = then_body;
  stmt->if_.else_body = else_body ? else_body : tf_stmt_sequential(context, 0, NULL, (tf_place){place.loc, NULL});
  return stmt;
}

const tf_stmt *tf_stmt_mesh_scope(tf_context *context, const tf_expr *var, const tf_stmt *body, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_MESH_SCOPE, place);
  stmt->mesh_scope.mesh = var->var.mesh;
  stmt->mesh_scope.var = var;
  stmt->mesh_scope.body = body;
  return stmt;
}

const tf_stmt *tf_stmt_return(tf_context *context, tf_place place) {
  return stmt_new(context, TF_STMT_RETURN, place);
}

const tf_stmt *tf_stmt_abort(tf_context *context, const char *message, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_ABORT, place);
  stmt->abort.message = tf_context_intern_cstr(context, message ? message : "");
  return stmt;
}

const tf_stmt *tf_stmt_evaluate(tf_context *context, tf_op op, unsigned arg_count, const tf_expr *const *args,
                                const tf_attr *attrs, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_EVALUATE, place);
  stmt->evaluate.op = op;
  stmt->evaluate.arg_count = arg_count;
  stmt->evaluate.args = copy_exprs(context, arg_count, args);
  stmt->evaluate.attrs = tf_arena_copy(&context->arena, attrs, tf_op_get_info(op)->attr_count * sizeof *attrs);
  return stmt;
}

const tf_stmt *tf_stmt_call(tf_context *context, const tf_expr *callee, unsigned arg_count, const tf_expr *const *args,
                            tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_EVALUATE, place);
  stmt->evaluate.callee = callee;
  stmt->evaluate.op = TF_OP_COUNT;
  stmt->evaluate.arg_count = arg_count;
  stmt->evaluate.args = copy_exprs(context, arg_count, args);
  return stmt;
}

const tf_stmt *tf_stmt_intrinsic(tf_context *context, const tf_intrinsic *decl, unsigned arg_count,
                                 const tf_expr *const *args, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_INTRINSIC, place);
  stmt->intrinsic.decl = decl;
  stmt->intrinsic.arg_count = arg_count;
  stmt->intrinsic.args = copy_exprs(context, arg_count, args);
  return stmt;
}

const tf_stmt *tf_stmt_dispatch(tf_context *context, const char *name, const tf_expr *subject, unsigned case_count,
                                const tf_range_pattern *patterns, const tf_stmt *const *calls, const tf_stmt *fallback,
                                tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_DISPATCH_CALL, place);
  tf_range_pattern *own = TF_ARENA_ARRAY(&context->arena, tf_range_pattern, case_count);
  for (unsigned i = 0; i < case_count; i++)
    own[i] = (tf_range_pattern){tf_context_intern_cstr(context, patterns[i].name), patterns[i].lo, patterns[i].hi};
  stmt->dispatch.callee_name = tf_context_intern_cstr(context, name);
  stmt->dispatch.subject_count = 1;
  stmt->dispatch.subjects = copy_exprs(context, 1, &subject);
  stmt->dispatch.case_count = case_count;
  stmt->dispatch.patterns = own;
  stmt->dispatch.calls = copy_stmts(context, case_count, calls);
  stmt->dispatch.fallback = fallback;
  return stmt;
}

const tf_stmt *tf_stmt_function(tf_context *context, const char *name, unsigned param_count,
                                const tf_expr *const *params, const tf_stmt *body, unsigned output_count,
                                const tf_target *target, tf_place place) {
  tf_stmt *stmt = stmt_new(context, TF_STMT_PRIM_FUNCTION, place);
  stmt->function.name = tf_context_intern_cstr(context, name);
  stmt->function.param_count = param_count;
  stmt->function.params = copy_exprs(context, param_count, params);
  stmt->function.body = body;
  stmt->function.output_count = output_count;
  stmt->function.target = target;
  return stmt;
}

const tf_module *tf_module_new(tf_context *context, const char *name, const char *entry, tf_loc loc,
                               unsigned function_count, const tf_stmt *const *functions, unsigned intrinsic_count,
                               const tf_intrinsic *const *intrinsics) {
  tf_module *module = TF_ARENA_NEW(&context->arena, tf_module);
  module->context = context;
  module->name = name ? tf_context_intern_cstr(context, name) : NULL;
  module->entry = entry ? tf_context_intern_cstr(context, entry) : NULL;
  module->loc = loc;
  module->function_count = function_count;
  module->functions = copy_stmts(context, function_count, functions);
  module->intrinsic_count = intrinsic_count;
  module->intrinsics = tf_arena_copy(&context->arena, intrinsics, intrinsic_count * sizeof *intrinsics);
  return module;
}

/* ---- Blocks
 * ------------------------------------------------------------------------------------------------------------- */
void tf_block_init(tf_block *block, tf_context *context) {
  *block = (tf_block){.context = context};
}

void tf_block_add(tf_block *block, const tf_stmt *stmt) {
  tf_block_item item = {.stmt = stmt};
  TF_VEC_PUSH(&block->context->arena, block, item);
}

void tf_block_let(tf_block *block, const tf_expr *var, const tf_expr *value, tf_place place) {
  tf_block_item item = {.var = var, .value = value, .place = place};
  TF_VEC_PUSH(&block->context->arena, block, item);
}

/* From the end: what is behind a let becomes its body, and the let the last item of what is before it. */
const tf_stmt *tf_block_finish(tf_block *block, tf_loc loc) {
  tf_context *context = block->context;
  const tf_stmt **items = TF_ARENA_ARRAY(&context->arena, const tf_stmt *, block->count + 1);
  const tf_stmt *rest = NULL;
  size_t end = block->count;
  for (;;) {
    size_t begin = end;
    while (begin > 0 && block->items[begin - 1].stmt)
      begin--;
    unsigned count = 0;
    for (size_t i = begin; i < end; i++)
      items[count++] = block->items[i].stmt;
    if (rest) items[count++] = rest;
    const tf_stmt *body = tf_stmt_sequential(context, count, items, (tf_place){loc, NULL});
    if (begin == 0) return body;
    const tf_block_item *let = &block->items[begin - 1];
    rest = tf_stmt_let(context, let->var, let->value, body, let->place);
    end = begin - 1;
  }
}
