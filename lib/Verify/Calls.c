/* Calls of functions: the symbol, the arguments against the parameters, cycles.
 *
 * A device callee is inlined, so an argument has to be what the parameter says: dtype, storage, rank, extents after the
 * callee's DimVars are bound, and the same layout. A host call only launches (or calls a host function): extents that are
 * known at run time are checked there. */
#include "Verify/Calls.h"

#include "Verify/State.h"

#include <string.h>

#include "IR/Infer.h"

/* ---- Visiting ------------------------------------------------------------------------------------------------------------- */

typedef struct tf_call_visit {
  tf_call_visit_fn *visit;
  void *user;
} tf_call_visit;

static void visit_block(const tf_call_visit *visit, const tf_stmt *block, unsigned depth);

static void visit_stmt(const tf_call_visit *visit, const tf_stmt *stmt, unsigned depth) {
  if (stmt->kind == TF_STMT_EVALUATE && stmt->evaluate.callee) visit->visit(visit->user, stmt, stmt->evaluate.callee);
  if (stmt->kind == TF_STMT_EVALUATE && !stmt->evaluate.callee)
    for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
      if (stmt->evaluate.args[i] && stmt->evaluate.args[i]->kind == TF_EXPR_SYMBOL_REF)
        visit->visit(visit->user, stmt, stmt->evaluate.args[i]);
  if (stmt->kind == TF_STMT_DISPATCH_CALL)
    for (unsigned i = 0; i < stmt->dispatch.case_count; i++)
      visit_stmt(visit, stmt->dispatch.calls[i], depth);
  const tf_stmt *blocks[2];
  unsigned count = tf_stmt_blocks(stmt, blocks);
  for (unsigned i = 0; i < count; i++)
    visit_block(visit, blocks[i], depth + 1);
}

static void visit_block(const tf_call_visit *visit, const tf_stmt *block, unsigned depth) {
  if (depth > TF_MAX_NESTING) return;
  tf_block_cursor cursor = tf_block_begin(block);
  for (const tf_stmt *stmt = tf_block_next(&cursor); stmt; stmt = tf_block_next(&cursor))
    if (!tf_block_continues(&cursor)) visit_stmt(visit, stmt, depth);
}

void tf_for_each_call(const tf_stmt *function, tf_call_visit_fn *visit, void *user) {
  tf_call_visit state = {visit, user};
  visit_block(&state, function->function.body, 0);
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------------ */

typedef struct tf_binder {
  tf_verifier *v;
  const tf_stmt *callee;
  bool host;
  const tf_expr *param, *arg;
  tf_loc loc;
  tf_dim_bindings bindings;
} tf_binder;

static bool refuse(tf_binder *b, const char *why) {
  tf_report(b->v->context, b->loc, CALL_MISMATCH, b->callee->function.name, b->param->var.name, why);
  tf_report(b->v->context, b->param->loc.line ? b->param->loc : b->callee->loc, PARAMETER_HERE, b->param->var.name,
            tf_type_print(b->v->context, b->param->type));
  return false;
}

static bool bind_scalar(tf_binder *b) {
  tf_dtype want = tf_type_dtype(b->param->type), have = tf_type_dtype(b->arg->type);
  if (!tf_is_scalar(b->arg)) return refuse(b, "it is a scalar, and the argument a tensor");
  bool number = want != TF_DTYPE_BOOL && have != TF_DTYPE_BOOL;
  bool integer = tf_dtype_is_integer(want) && have == TF_DTYPE_I64;
  if (want == have || integer || (number && tf_is_literal(b->arg))) return true;
  return refuse(b, tf_arena_printf(&b->v->context->arena, "it is %s and the argument %s: convert it with T.cast",
                                   tf_dtype_name(want), tf_dtype_name(have)));
}

static bool is_bound(const tf_dim_bindings *bindings, const char *name) {
  for (unsigned i = 0; i < bindings->count; i++)
    if (strcmp(bindings->items[i].name, name) == 0) return true;
  return false;
}

/* An extent V or c*V of the parameter gives V its value at the first such axis. */
static bool solve(tf_binder *b, unsigned axis) {
  const char *name;
  int64_t lo, hi, scale, min, max;
  tf_context *context = b->v->context;
  const tf_dim *extent = tf_type_extent(b->param->type, axis), *have = tf_type_extent(b->arg->type, axis);
  bool room = b->bindings.count < sizeof b->bindings.items / sizeof *b->bindings.items;
  if (!room || !tf_dim_is_scaled_var(context, extent, &name, &lo, &hi, &scale) || is_bound(&b->bindings, name))
    return true;
  const tf_dim *value = tf_dim_binary(context, TF_DIM_FLOOR_DIV, have, tf_dim_int(context, scale));
  if (!value) return true;
  tf_dim_range(value, &min, &max);
  if (max < lo || min >= hi)
    return refuse(b, tf_arena_printf(&context->arena, "%s would be %s, outside of [%lld, %lld)", name,
                                     tf_dim_print(context, value), (long long)lo, (long long)hi));
  b->bindings.items[b->bindings.count++] = (tf_dim_binding){name, value};
  return true;
}

static bool check_extent(tf_binder *b, unsigned axis) {
  tf_context *context = b->v->context;
  const tf_dim *have = tf_type_extent(b->arg->type, axis);
  const tf_dim *want = tf_dim_bound(context, tf_type_extent(b->param->type, axis), &b->bindings);
  int64_t value;
  bool open = b->host && !(want && tf_dim_is_static(want, &value) && tf_dim_is_static(have, &value));
  if (want == have || open) return true;
  return refuse(b, tf_arena_printf(&context->arena, "its extent on axis %u is %s, the argument's %s", axis,
                                   tf_dim_print(context, want ? want : tf_type_extent(b->param->type, axis)),
                                   tf_dim_print(context, have)));
}

static bool check_layout(tf_binder *b) {
  tf_context *context = b->v->context;
  const tf_layout *have = tf_type_layout(b->arg->type);
  const tf_layout *want = tf_layout_bound(context, tf_type_layout(b->param->type), &b->bindings);
  if (have == want || b->host) return true;
  if (!want)
    return refuse(b,
                  tf_layout_is_shard(have)
                      ? "it is plain (every thread sees all of it), and the argument is sharded"
                      : "it is plain in C order, and the argument is a window with other strides: copy it to a tensor");
  if (!tf_layout_is_shard(have) && tf_layout_is_shard(want))
    return refuse(b, "it is sharded, and the argument is plain");
  return refuse(b, tf_arena_printf(&context->arena, "it has another layout than the argument, %s",
                                   have ? tf_layout_print(context, have) : "C order"));
}

static bool bind_tensor(tf_binder *b) {
  const tf_type *want = b->param->type, *have = b->arg->type;
  tf_arena *arena = &b->v->context->arena;
  if (!tf_is_tensor_operand(b->arg)) return refuse(b, "it is a tensor, and the argument a scalar");
  if (tf_type_dtype(want) != tf_type_dtype(have))
    return refuse(b, tf_arena_printf(arena, "it is %s and the argument %s", tf_dtype_name(tf_type_dtype(want)),
                                     tf_dtype_name(tf_type_dtype(have))));
  if (tf_type_storage(want) != tf_type_storage(have))
    return refuse(b, tf_arena_printf(arena, "it lives in %s and the argument in %s",
                                     tf_storage_name(tf_type_storage(want)), tf_storage_name(tf_type_storage(have))));
  if (tf_type_rank(want) != tf_type_rank(have))
    return refuse(b,
                  tf_arena_printf(arena, "it has rank %u and the argument %u", tf_type_rank(want), tf_type_rank(have)));
  for (unsigned axis = 0; axis < tf_type_rank(want); axis++)
    if (!solve(b, axis)) return false;
  return true;
}

static bool bind_argument(tf_binder *b) {
  if (tf_type_is_scalar(b->param->type)) return bind_scalar(b);
  return bind_tensor(b);
}

static bool check_shapes(tf_binder *b) {
  if (tf_type_is_scalar(b->param->type)) return true;
  for (unsigned axis = 0; axis < tf_type_rank(b->param->type); axis++)
    if (!check_extent(b, axis)) return false;
  return check_layout(b);
}

bool tf_verify_arguments(tf_verifier *v, const tf_stmt *callee, bool host, tf_loc loc, unsigned count,
                         const tf_expr *const *args) {
  if (count != callee->function.param_count) {
    tf_report(v->context, loc, CALL_ARITY, callee->function.name, callee->function.param_count, count);
    tf_report(v->context, callee->loc, FUNCTION_HERE, callee->function.name);
    return false;
  }
  tf_binder binder = {.v = v, .callee = callee, .host = host};
  bool good = true;
  for (int round = 0; round < 2 && good; round++)
    for (unsigned i = 0; i < count; i++) {
      binder.param = callee->function.params[i];
      binder.arg = args[i];
      binder.loc = tf_use_loc(args[i], loc);
      if (!tf_type_is_tensor(binder.param->type) || !tf_type_is_tensor(binder.arg->type)) {
        good = refuse(&binder, "parameters and arguments are tensors and scalars");
        continue;
      }
      good &= round == 0 ? bind_argument(&binder) : check_shapes(&binder);
    }
  return good;
}

/* ---- Symbols -------------------------------------------------------------------------------------------------------------- */

const tf_stmt *tf_verify_symbol(tf_verifier *v, const tf_expr *symbol, tf_loc loc) {
  const tf_stmt *found = NULL;
  unsigned matches = 0;
  for (unsigned i = 0; i < v->module->function_count; i++)
    if (strcmp(v->module->functions[i]->function.name, symbol->symbol.name) == 0) {
      found = found ? found : v->module->functions[i];
      matches++;
    }
  if (matches != 1) {
    tf_report(v->context, loc, CALLEE_RESOLUTION, symbol->symbol.name, matches);
    for (unsigned i = 0; i < v->module->function_count; i++)
      if (strcmp(v->module->functions[i]->function.name, symbol->symbol.name) == 0)
        tf_report(v->context, v->module->functions[i]->loc, FUNCTION_HERE, symbol->symbol.name);
    return NULL;
  }
  const tf_type *type = tf_function_type(v->context, found);
  if (symbol->type == type) return found;
  tf_report(v->context, loc, CALLEE_TYPE, symbol->symbol.name, tf_type_print(v->context, symbol->type),
            tf_type_print(v->context, type));
  tf_report(v->context, found->loc, FUNCTION_HERE, symbol->symbol.name);
  return NULL;
}

bool tf_verify_call_structure(tf_verifier *v, const tf_stmt *function, const tf_stmt *call) {
  const tf_stmt *callee = tf_verify_symbol(v, call->evaluate.callee, call->loc);
  if (!callee) return false;
  bool host = tf_function_is_host(function), host_callee = tf_function_is_host(callee);
  if (!host && host_callee) {
    tf_report(v->context, call->loc, CALL_OF_HOST, callee->function.name);
    tf_report(v->context, callee->loc, FUNCTION_HERE, callee->function.name);
    return false;
  }
  if (!host && tf_verifier_target(v, function) != tf_verifier_target(v, callee)) {
    tf_report(v->context, call->loc, CALL_TARGET, callee->function.name, tf_target_name(tf_verifier_target(v, callee)),
              tf_target_name(tf_verifier_target(v, function)));
    return false;
  }
  return tf_verify_arguments(v, callee, host, call->loc, call->evaluate.arg_count, call->evaluate.args);
}
