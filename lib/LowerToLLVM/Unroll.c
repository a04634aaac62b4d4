/* Does a loop's variable select registers? Registers have no addresses, so such a loop is unrolled.
 *
 * The variable's influence is followed through scalar lets, inner loops' bounds and arguments of inlined calls, to the
 * starts of windows of register tensors and to indices of T.load from them. */
#include "LowerToLLVM/Lowering.h"

#include "Verify/Walk.h"

typedef struct influence {
  tf_lowering *lowering;
  struct {
    TF_VEC(const tf_expr *);
  } vars; /* what depends on the loop's variable */
  bool found;
} influence;

static bool depends(const influence *state, const tf_expr *expr);

static bool any_depends(const influence *state, unsigned count, const tf_expr *const *exprs) {
  for (unsigned i = 0; i < count; i++)
    if (exprs[i] && depends(state, exprs[i])) return true;
  return false;
}

static bool depends(const influence *state, const tf_expr *expr) {
  if (expr->kind == TF_EXPR_CALL) return any_depends(state, expr->call.arg_count, expr->call.args);
  for (size_t i = 0; i < state->vars.count; i++)
    if (state->vars.items[i] == expr) return true;
  return false;
}

static void add(influence *state, const tf_expr *var) {
  TF_VEC_PUSH(state->lowering->arena, &state->vars, var);
}

static bool in_registers(const tf_expr *tensor) {
  return tf_type_get_kind(tensor->type) == TF_TYPE_TENSOR && tf_type_storage(tensor->type) == TF_STORAGE_RMEM;
}

/* Loads and windows of register tensors anywhere in the expression. */
static void scan_expr(influence *state, const tf_expr *expr) {
  if (!expr || expr->kind != TF_EXPR_CALL || state->found) return;
  bool selects = expr->call.op == TF_OP_LOAD || expr->call.op == TF_OP_TENSOR_VIEW;
  if (selects && in_registers(expr->call.args[0]) && any_depends(state, expr->call.arg_count - 1, expr->call.args + 1))
    state->found = true;
  for (unsigned i = 0; i < expr->call.arg_count; i++)
    scan_expr(state, expr->call.args[i]);
}

static void scan_block(influence *state, const tf_stmt *block);

static void scan_call(influence *state, const tf_stmt *call) {
  const tf_stmt *callee = tf_module_find(state->lowering->module->module, tf_expr_name(call->evaluate.callee));
  for (unsigned i = 0; i < call->evaluate.arg_count; i++)
    if (depends(state, call->evaluate.args[i])) add(state, callee->function.params[i]);
  scan_block(state, callee->function.body);
}

static void scan_stmt(influence *state, const tf_stmt *stmt) {
  switch (stmt->kind) {
  case TF_STMT_LET:
    scan_expr(state, stmt->let.value);
    if (tf_is_scalar(stmt->let.value) && depends(state, stmt->let.value)) add(state, stmt->let.var);
    break;
  case TF_STMT_FOR:
    scan_expr(state, stmt->for_.start), scan_expr(state, stmt->for_.stop), scan_expr(state, stmt->for_.step);
    if (depends(state, stmt->for_.start) || depends(state, stmt->for_.stop) || depends(state, stmt->for_.step))
      add(state, stmt->for_.var);
    break;
  case TF_STMT_WHILE:
    scan_expr(state, stmt->while_.cond);
    break;
  case TF_STMT_IF:
    scan_expr(state, stmt->if_.cond);
    break;
  case TF_STMT_EVALUATE:
    for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
      scan_expr(state, stmt->evaluate.args[i]);
    if (stmt->evaluate.callee) scan_call(state, stmt);
    break;
  default:
    break;
  }
}

static void scan_block(influence *state, const tf_stmt *block) {
  tf_block_cursor cursor = tf_block_begin(block);
  const tf_stmt *stmt, *nested[2];
  while (!state->found && (stmt = tf_block_next(&cursor))) {
    scan_stmt(state, stmt);
    unsigned count = tf_block_continues(&cursor) ? 0 : tf_stmt_blocks(stmt, nested);
    for (unsigned i = 0; i < count && !state->found; i++)
      scan_block(state, nested[i]);
  }
}

bool tf_lower_indexes_registers(tf_lowering *lowering, const tf_stmt *loop) {
  influence state = {.lowering = lowering};
  add(&state, loop->for_.var);
  scan_block(&state, loop->for_.body);
  return state.found;
}
