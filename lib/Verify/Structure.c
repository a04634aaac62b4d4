/* The first pass: each function as it stands, without the scopes and threads that a call brings.
 *
 * Bindings: parameters seed the bound set, every let, loop and scope adds one variable, and a use has to stand inside the
 * binding's block. The set is a mark per variable in the context, so the pass is linear; leaving a block closes its
 * variables again. */
#include "Verify/State.h"

#include <string.h>

#include "IR/Text/ElaborateIntrinsic.h"
#include "IR/Infer.h"
#include "IR/Target.h"

/* The state of a variable while its function is read. */
typedef struct tf_bound {
  const tf_stmt *function; /* where it is bound */
  tf_loc loc;
  bool open; /* its block is being read */
} tf_bound;

typedef struct tf_reader {
  tf_verifier *v;
  const tf_stmt *function;
  bool host;
  unsigned depth;
} tf_reader;

typedef struct tf_bound_key {
  const char *tag;
  const void *run, *var;
} tf_bound_key;

static const char bound_tag;

static tf_bound *bound_of(tf_reader *r, const tf_expr *var) {
  tf_bound_key key = {&bound_tag, r->v->run, var};
  void **slot = tf_context_memo(r->v->context, &key, sizeof key);
  if (!*slot) *slot = TF_ARENA_NEW(&r->v->context->arena, tf_bound);
  return *slot;
}

static tf_loc loc_or(tf_loc loc, tf_loc otherwise) {
  return loc.line != 0 ? loc : otherwise;
}

static void bind(tf_reader *r, const tf_expr *var, tf_loc loc) {
  tf_bound *bound = bound_of(r, var);
  if (bound->function) {
    tf_report(r->v->context, loc, VAR_REBOUND, var->var.name);
    tf_report(r->v->context, bound->loc, BOUND_HERE, var->var.name);
  }
  *bound = (tf_bound){r->function, loc, true};
}

static void close_binding(tf_reader *r, const tf_expr *var) {
  bound_of(r, var)->open = false;
}

/* ---- Expressions ------------------------------------------------------------------------------------------------------------ */

static bool read_expr(tf_reader *r, const tf_expr *expr, tf_loc stmt_loc, unsigned depth);

static bool read_var(tf_reader *r, const tf_expr *var, tf_loc loc) {
  const tf_bound *bound = bound_of(r, var);
  if (bound->open && bound->function == r->function) return true;
  tf_report(r->v->context, loc, VAR_NOT_IN_SCOPE, var->var.name);
  if (bound->function) tf_report(r->v->context, bound->loc, BOUND_HERE, var->var.name);
  return false;
}

static bool read_shape_of(tf_reader *r, const tf_expr *expr, tf_loc loc) {
  const tf_expr *param = expr->shape_of.param;
  bool found = false;
  for (unsigned i = 0; i < r->function->function.param_count; i++)
    found = found || r->function->function.params[i] == param;
  if (!found) {
    tf_report(r->v->context, loc, SHAPE_OF_FOREIGN, r->function->function.name);
    return false;
  }
  unsigned rank = tf_type_is_tensor(param->type) ? tf_type_rank(param->type) : 0;
  if (expr->shape_of.axis < rank) return true;
  tf_report(r->v->context, loc, SHAPE_OF_RANK, expr->shape_of.axis, param->var.name, rank);
  return false;
}

static bool read_call(tf_reader *r, const tf_expr *expr, tf_loc loc, unsigned depth) {
  const tf_op_info *info = tf_op_get_info(expr->call.op);
  bool good = true;
  if (depth > 0 && info->form != TF_FORM_SCALAR) {
    if (expr->call.op == TF_OP_ALLOC_TENSOR)
      tf_report(r->v->context, loc, ALLOC_NESTED);
    else
      tf_report(r->v->context, loc, VALUE_NESTED, info->name);
    good = false;
  }
  for (unsigned i = 0; i < expr->call.arg_count; i++)
    if (expr->call.args[i]) good &= read_expr(r, expr->call.args[i], loc, depth + 1);
  if (r->host && (expr->call.op == TF_OP_PROGRAM_ID || expr->call.op == TF_OP_COORD)) {
    tf_report(r->v->context, loc, HOST_OP, info->name);
    good = false;
  }
  return good;
}

/* depth 0: the value of a let, where VALUE ops may stand. */
static bool read_expr(tf_reader *r, const tf_expr *expr, tf_loc stmt_loc, unsigned depth) {
  tf_loc loc = tf_use_loc(expr, stmt_loc);
  if (depth > TF_MAX_NESTING) {
    if (tf_verifier_first(r->v, TF_DIAG_NESTING, r->function))
      tf_report(r->v->context, loc, NESTING, (int)TF_MAX_NESTING);
    return false;
  }
  switch (expr->kind) {
  case TF_EXPR_VAR:
    return read_var(r, expr, loc);
  case TF_EXPR_CALL:
    return read_call(r, expr, loc, depth);
  case TF_EXPR_SHAPE_OF:
    return read_shape_of(r, expr, loc);
  case TF_EXPR_SYMBOL_REF:
    tf_report(r->v->context, loc, SYMBOL_PLACE, expr->symbol.name);
    return false;
  case TF_EXPR_TUPLE:
    tf_report(r->v->context, loc, TUPLE_PLACE);
    return false;
  case TF_EXPR_CONSTANT:
    break;
  }
  return true;
}

/* An operand of a statement: a scalar expression or a variable. */
static bool read_operand(tf_reader *r, const tf_expr *expr, const tf_stmt *stmt) {
  return expr == NULL || read_expr(r, expr, stmt->loc, 1);
}

/* ---- Statements ------------------------------------------------------------------------------------------------------------- */

static void read_block(tf_reader *r, const tf_stmt *block);

static bool read_condition(tf_reader *r, const tf_stmt *stmt, const tf_expr *cond) {
  if (!read_operand(r, cond, stmt)) return false;
  if (tf_is_scalar(cond) && tf_type_dtype(cond->type) == TF_DTYPE_BOOL) return true;
  tf_report(r->v->context, tf_use_loc(cond, stmt->loc), CONDITION_NOT_BOOL, tf_expr_describe(r->v->context, cond));
  return false;
}

static bool read_bound(tf_reader *r, const tf_stmt *stmt, const tf_expr *bound) {
  if (!read_operand(r, bound, stmt)) return false;
  if (tf_is_scalar(bound) && tf_dtype_is_integer(tf_type_dtype(bound->type))) return true;
  tf_report(r->v->context, tf_use_loc(bound, stmt->loc), RANGE_NOT_INTEGER, tf_expr_describe(r->v->context, bound));
  return false;
}

static bool read_let(tf_reader *r, const tf_stmt *stmt) {
  bool good = read_expr(r, stmt->let.value, stmt->loc, 0);
  if (good && stmt->let.value->kind == TF_EXPR_CALL &&
      tf_op_get_info(stmt->let.value->call.op)->form == TF_FORM_EFFECT) {
    tf_report(r->v->context, stmt->loc, VALUE_NESTED, tf_op_get_info(stmt->let.value->call.op)->name);
    good = false;
  }
  if (stmt->let.var->type != stmt->let.value->type) {
    tf_report(r->v->context, stmt->loc, LET_TYPE, stmt->let.var->var.name,
              tf_type_print(r->v->context, stmt->let.var->type), tf_type_print(r->v->context, stmt->let.value->type));
    good = false;
  }
  bind(r, stmt->let.var, stmt->loc);
  return good;
}

static bool read_op(tf_reader *r, const tf_stmt *stmt) {
  bool good = true;
  for (unsigned i = 0; i < stmt->evaluate.arg_count; i++) {
    const tf_expr *arg = stmt->evaluate.args[i];
    bool callee =
        i == TF_ARG_LAUNCH_callee && stmt->evaluate.op == TF_OP_LAUNCH && arg && arg->kind == TF_EXPR_SYMBOL_REF;
    if (!callee) good &= read_operand(r, arg, stmt);
  }
  if (!good) return false;
  if (tf_op_get_info(stmt->evaluate.op)->form != TF_FORM_EFFECT) {
    tf_report(r->v->context, stmt->loc, VALUE_AS_STMT, tf_op_get_info(stmt->evaluate.op)->name);
    return false;
  }
  tf_invocation inv = tf_invocation_of_evaluate(stmt);
  return tf_operands_check(r->v->context, &inv);
}

static bool read_call_stmt(tf_reader *r, const tf_stmt *stmt) {
  bool good = true;
  for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
    good &= read_operand(r, stmt->evaluate.args[i], stmt);
  return good && tf_verify_call_structure(r->v, r->function, stmt);
}

/* An intrinsic has conditions (declared in text) or a callback (registered through C). */
static bool read_intrinsic(tf_reader *r, const tf_stmt *stmt) {
  const tf_intrinsic *decl = stmt->intrinsic.decl;
  bool good = true;
  if (stmt->intrinsic.arg_count != decl->param_count) {
    tf_report(r->v->context, stmt->loc, OPERAND_COUNT, decl->class_name, "", decl->param_count,
              stmt->intrinsic.arg_count);
    return false;
  }
  for (unsigned i = 0; i < stmt->intrinsic.arg_count; i++)
    good &= read_operand(r, stmt->intrinsic.args[i], stmt);
  if (r->host && (decl->ptx || decl->lower)) {
    tf_report(r->v->context, stmt->loc, HOST_OP, decl->class_name);
    good = false;
  }
  good = good && tf_verify_template(r->v->context, stmt);
  const char *fault = good && decl->verify ? decl->verify(decl->user, stmt) : NULL;
  if (fault) tf_report(r->v->context, stmt->loc, INTRINSIC_FAILED, decl->class_name, fault);
  return good && !fault && tf_intrinsic_check(r->v->context, stmt);
}

static bool read_dispatch(tf_reader *r, const tf_stmt *stmt) {
  bool good = true;
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    const tf_stmt *call = stmt->dispatch.calls[i];
    for (unsigned k = 0; call->kind == TF_STMT_EVALUATE && k < call->evaluate.arg_count; k++)
      good &= read_operand(r, call->evaluate.args[k], call);
  }
  return tf_verify_dispatch(r->v, r->function, stmt) && good;
}

static bool read_simple(tf_reader *r, const tf_stmt *stmt) {
  bool good = true;
  switch (stmt->kind) {
  case TF_STMT_LET:
    return read_let(r, stmt);
  case TF_STMT_FOR:
    good &= read_bound(r, stmt, stmt->for_.start);
    good &= read_bound(r, stmt, stmt->for_.stop);
    good &= read_bound(r, stmt, stmt->for_.step);
    bind(r, stmt->for_.var, stmt->loc);
    return good;
  case TF_STMT_WHILE:
    return read_condition(r, stmt, stmt->while_.cond);
  case TF_STMT_IF:
    return read_condition(r, stmt, stmt->if_.cond);
  case TF_STMT_MESH_SCOPE:
    bind(r, stmt->mesh_scope.var, stmt->loc);
    return true;
  case TF_STMT_EVALUATE:
    return stmt->evaluate.callee ? read_call_stmt(r, stmt) : read_op(r, stmt);
  case TF_STMT_DISPATCH_CALL:
    return read_dispatch(r, stmt);
  case TF_STMT_INTRINSIC:
    return read_intrinsic(r, stmt);
  case TF_STMT_PRIM_FUNCTION:
    tf_report(r->v->context, stmt->loc, FUNCTION_NESTED, stmt->function.name);
    return false;
  case TF_STMT_SEQUENTIAL:
  case TF_STMT_RETURN:
  case TF_STMT_ABORT:
    break;
  }
  return true;
}

static void read_stmt(tf_reader *r, const tf_stmt *stmt, bool continues) {
  if (!read_simple(r, stmt)) tf_verifier_refuse_stmt(r->v, stmt);
  if (continues || stmt->kind == TF_STMT_DISPATCH_CALL || stmt->kind == TF_STMT_PRIM_FUNCTION) return;
  const tf_stmt *blocks[2];
  unsigned count = tf_stmt_blocks(stmt, blocks);
  for (unsigned i = 0; i < count; i++)
    read_block(r, blocks[i]);
  if (stmt->kind == TF_STMT_LET) close_binding(r, stmt->let.var);
  if (stmt->kind == TF_STMT_FOR) close_binding(r, stmt->for_.var);
  if (stmt->kind == TF_STMT_MESH_SCOPE) close_binding(r, stmt->mesh_scope.var);
}

/* Lets whose body was read as the rest of the block end with it. */
static void close_block(tf_reader *r, const tf_stmt *block) {
  tf_block_cursor cursor = tf_block_begin(block);
  for (const tf_stmt *stmt = tf_block_next(&cursor); stmt; stmt = tf_block_next(&cursor))
    if (tf_block_continues(&cursor)) close_binding(r, stmt->let.var);
}

static bool ends(const tf_stmt *stmt) {
  return stmt->kind == TF_STMT_RETURN || stmt->kind == TF_STMT_ABORT;
}

static void read_block(tf_reader *r, const tf_stmt *block) {
  if (r->depth >= TF_MAX_NESTING) {
    if (tf_verifier_first(r->v, TF_DIAG_NESTING, r->function))
      tf_report(r->v->context, block->loc, NESTING, (int)TF_MAX_NESTING);
    return;
  }
  r->depth++;
  const tf_stmt *end = NULL;
  tf_block_cursor cursor = tf_block_begin(block);
  for (const tf_stmt *stmt = tf_block_next(&cursor); stmt; stmt = tf_block_next(&cursor)) {
    if (end && ends(end)) {
      tf_report(r->v->context, stmt->loc, UNREACHABLE, end->kind == TF_STMT_RETURN ? "return" : "abort");
      end = NULL;
      read_stmt(r, stmt, tf_block_continues(&cursor));
      continue;
    }
    read_stmt(r, stmt, tf_block_continues(&cursor));
    end = stmt;
  }
  close_block(r, block);
  r->depth--;
}

/* ---- Functions and modules --------------------------------------------------------------------------------------------------- */

void tf_verify_function_structure(tf_verifier *v, const tf_stmt *function) {
  tf_reader reader = {v, function, tf_function_is_host(function), 0};
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_expr *param = function->function.params[i];
    bind(&reader, param, loc_or(param->loc, function->loc));
  }
  read_block(&reader, function->function.body);
  for (unsigned i = 0; i < function->function.param_count; i++)
    close_binding(&reader, function->function.params[i]);
}
