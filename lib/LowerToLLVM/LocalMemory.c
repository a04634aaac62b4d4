/* Why a register tensor is in local memory: whatever keeps one there is said in a remark, once per statement.
 *
 *   a loop whose variable selects registers and that cannot be unrolled       at the loop (Control.c)
 *   any other scalar that is known at run time only                           at the statement; named as the author wrote it
 *   an address that an intrinsic gets                                         at the statement
 *   positions that differ from thread to thread                               at the statement (Varying.c) */
#include "LowerToLLVM/Access.h"

/* ---- Causes ---- */
typedef enum cause { CAUSE_NONE, CAUSE_LOOP, CAUSE_OTHER } cause;

static cause cause_of(tf_lowering *lowering, const tf_expr *expr, const char **name);

/* The first argument that is not known, others before loops' variables. */
static cause cause_of_call(tf_lowering *lowering, const tf_expr *call, const char **name) {
  bool is_leaf = call->call.op == TF_OP_LOAD || call->call.op == TF_OP_COORD || call->call.op == TF_OP_PROGRAM_ID;
  cause worst = CAUSE_NONE;
  if (is_leaf) {
    *name = tf_arena_printf(lowering->arena, "T.%s", tf_op_get_info(call->call.op)->name);
    return CAUSE_OTHER;
  }
  for (unsigned i = 0; i < call->call.arg_count && worst != CAUSE_OTHER; i++) {
    cause one = call->call.args[i] ? cause_of(lowering, call->call.args[i], name) : CAUSE_NONE;
    if (one > worst) worst = one;
  }
  return worst;
}

static cause cause_of_variable(tf_lowering *lowering, const tf_expr *var, const char **name) {
  const tf_binding *binding = tf_lower_find(lowering, var);
  if (binding && binding->value && LLVMIsConstant(binding->value)) return CAUSE_NONE;
  const char *inside;
  cause found = CAUSE_OTHER;
  if (var->var.value)
    found = cause_of(lowering, var->var.value, &inside);
  else if (!var->var.is_param)
    return CAUSE_LOOP;
  *name = tf_arena_printf(lowering->arena, "'%s'", tf_expr_name(var));
  return found;
}

static cause cause_of(tf_lowering *lowering, const tf_expr *expr, const char **name) {
  switch (expr->kind) {
  case TF_EXPR_VAR:
    return cause_of_variable(lowering, expr, name);
  case TF_EXPR_CALL:
    return cause_of_call(lowering, expr, name);
  case TF_EXPR_SHAPE_OF:
    *name = "T.shape_of";
    return CAUSE_OTHER;
  default:
    return CAUSE_NONE;
  }
}

/* ---- Remarks ---- */
/* Whether this tensor was spoken of at this statement before: bodies of unrolled loops are lowered more than once. */
static bool is_said(tf_lowering *lowering, const tf_expr *base) {
  for (size_t i = 0; i < lowering->local_notes.count; i++) {
    const tf_local_note *note = &lowering->local_notes.items[i];
    if (note->stmt == lowering->stmt && note->base == base) return true;
  }
  tf_local_note note = {lowering->stmt, base};
  TF_VEC_PUSH(lowering->arena, &lowering->local_notes, note);
  return false;
}

static const char *name_of(const tf_tensor *tensor) {
  const tf_expr *base = tensor->view->base;
  return base->kind == TF_EXPR_VAR ? tf_expr_name(base) : "a register tensor";
}

void tf_lower_note_index(tf_lowering *lowering, const tf_tensor *tensor, const tf_expr *index) {
  const char *name = NULL;
  if (!tf_tensor_is_register(tensor) || cause_of(lowering, index, &name) != CAUSE_OTHER) return;
  if (is_said(lowering, tensor->view->base)) return;
  tf_report(lowering->context, lowering->loc, LOWER_LOCAL_INDEX, name, name_of(tensor), name_of(tensor));
}

void tf_lower_note_address(tf_lowering *lowering, const tf_tensor *tensor) {
  if (!tf_tensor_is_register(tensor) || is_said(lowering, tensor->view->base)) return;
  tf_report(lowering->context, lowering->loc, LOWER_LOCAL_ADDRESS, name_of(tensor));
}
