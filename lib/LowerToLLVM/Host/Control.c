/* Statements of host functions. Temporaries of a loop's body are freed at its end; all others with the function. */
#include "LowerToLLVM/Host/Host.h"

#include "Verify/Walk.h"

/* ---- Blocks ---- */
static void lower_let(tf_host *host, const tf_stmt *stmt) {
  const tf_expr *var = stmt->let.var, *value = stmt->let.value;
  if (tf_type_get_kind(value->type) != TF_TYPE_TENSOR) return;
  if (tf_is_scalar(value))
    tf_host_bind(host, var, (tf_host_binding){.scalar = tf_host_scalar_of(host, value)});
  else if (value->kind == TF_EXPR_CALL && value->call.op == TF_OP_ALLOC_TENSOR)
    tf_host_allocate(host, var);
}

static void lower_block(tf_host *host, const tf_stmt *block) {
  tf_block_cursor cursor = tf_block_begin(block);
  const tf_stmt *stmt;
  while (!tf_host_is_terminated(host) && (stmt = tf_block_next(&cursor))) {
    if (!tf_block_continues(&cursor)) {
      tf_host_stmt(host, stmt);
      continue;
    }
    tf_host_begin(host, stmt);
    lower_let(host, stmt);
  }
}

static bool note_allocation(void *user, const tf_stmt *stmt) {
  bool *found = user;
  const tf_expr *value = stmt->kind == TF_STMT_LET ? stmt->let.value : NULL;
  *found |= value && value->kind == TF_EXPR_CALL && value->call.op == TF_OP_ALLOC_TENSOR;
  return !*found;
}

/* A loop's body: what it allocates is gone at its end. */
static void lower_body(tf_host *host, const tf_stmt *body) {
  bool allocates = false;
  tf_stmt_walk(body, note_allocation, &allocates);
  LLVMValueRef mark = NULL;
  if (allocates) mark = tf_host_api(host, TF_HOST_MEMBER(mark), host->module->word, true, 0, NULL);
  lower_block(host, body);
  if (!allocates || tf_host_is_terminated(host)) return;
  LLVMValueRef status = tf_host_api(host, TF_HOST_MEMBER(release), host->module->status, true, 1, &mark);
  tf_host_return_unless_ok(host, status);
}

/* ---- Loops ---- */

/* step > 0 ? i < stop : step < 0 and i > stop; a step of 0 makes no trip. */
static LLVMValueRef goes_on(tf_host *host, LLVMValueRef i, LLVMValueRef stop, LLVMValueRef step) {
  LLVMBuilderRef b = host->builder;
  LLVMValueRef zero = tf_host_int(host, 0);
  LLVMValueRef up =
      LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntSGT, step, zero, ""), LLVMBuildICmp(b, LLVMIntSLT, i, stop, ""), "");
  LLVMValueRef down =
      LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntSLT, step, zero, ""), LLVMBuildICmp(b, LLVMIntSGT, i, stop, ""), "");
  return LLVMBuildOr(b, up, down, "");
}

/* The next value, which ends the loop where it does not fit 64 bits. */
static void advance(tf_host *host, LLVMValueRef i, LLVMValueRef step, LLVMBasicBlockRef header,
                    LLVMBasicBlockRef exit) {
  LLVMValueRef pair =
      tf_host_intrinsic(host, "llvm.sadd.with.overflow", 1, &host->module->word, 2, (LLVMValueRef[]){i, step});
  LLVMValueRef next = LLVMBuildExtractValue(host->builder, pair, 0, "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(host->builder);
  LLVMBuildCondBr(host->builder, LLVMBuildExtractValue(host->builder, pair, 1, ""), exit, header);
  LLVMAddIncoming(i, &next, &latch, 1);
}

static void lower_for(tf_host *host, const tf_stmt *stmt) {
  LLVMValueRef start = tf_host_integer(host, stmt->for_.start), stop = tf_host_integer(host, stmt->for_.stop);
  LLVMValueRef step = tf_host_integer(host, stmt->for_.step);
  LLVMBasicBlockRef header = tf_host_block(host, "for"), body = tf_host_block(host, "for.body");
  LLVMBasicBlockRef exit = tf_host_block(host, "for.end"), before = LLVMGetInsertBlock(host->builder);
  tf_host_enter(host, header);
  LLVMValueRef i = LLVMBuildPhi(host->builder, host->module->word, "");
  LLVMAddIncoming(i, &start, &before, 1);
  LLVMBuildCondBr(host->builder, goes_on(host, i, stop, step), body, exit);
  tf_host_enter(host, body);
  tf_host_scalar number = {.dtype = TF_DTYPE_I64, .value = i};
  number = tf_host_convert(host, number, tf_type_dtype(stmt->for_.var->type));
  tf_host_bind(host, stmt->for_.var, (tf_host_binding){.scalar = number});
  lower_body(host, stmt->for_.body);
  if (!tf_host_is_terminated(host)) advance(host, i, step, header, exit);
  tf_host_enter(host, exit);
}

static void lower_while(tf_host *host, const tf_stmt *stmt) {
  LLVMBasicBlockRef header = tf_host_block(host, "while"), body = tf_host_block(host, "while.body");
  LLVMBasicBlockRef exit = tf_host_block(host, "while.end");
  tf_host_enter(host, header);
  LLVMBuildCondBr(host->builder, tf_host_condition(host, stmt->while_.cond), body, exit);
  tf_host_enter(host, body);
  lower_body(host, stmt->while_.body);
  if (!tf_host_is_terminated(host)) LLVMBuildBr(host->builder, header);
  tf_host_enter(host, exit);
}

/* ---- Branches ---- */
static void lower_branch(tf_host *host, const tf_stmt *body, LLVMBasicBlockRef block, LLVMBasicBlockRef join) {
  LLVMMoveBasicBlockAfter(block, LLVMGetLastBasicBlock(host->llvm_function));
  LLVMPositionBuilderAtEnd(host->builder, block);
  lower_block(host, body);
  if (!tf_host_is_terminated(host)) LLVMBuildBr(host->builder, join);
}

static void lower_if(tf_host *host, const tf_stmt *stmt) {
  LLVMValueRef condition = tf_host_condition(host, stmt->if_.cond);
  LLVMBasicBlockRef then_block = tf_host_block(host, "then"), else_block = tf_host_block(host, "else");
  LLVMBasicBlockRef join = tf_host_block(host, "endif");
  LLVMBuildCondBr(host->builder, condition, then_block, else_block);
  lower_branch(host, stmt->if_.then_body, then_block, join);
  lower_branch(host, stmt->if_.else_body, else_block, join);
  tf_host_enter(host, join);
}

static void lower_invocation(tf_host *host, const tf_stmt *stmt) {
  const tf_stmt *callee = tf_module_find(host->module->module, stmt->evaluate.callee->symbol.name);
  host->what = callee->function.name;
  tf_host_invoke(host, callee, stmt->evaluate.arg_count, stmt->evaluate.args);
}

/* The first case that holds the extent runs its call; none: the fallback, which aborts. */
static void lower_dispatch(tf_host *host, const tf_stmt *stmt) {
  LLVMValueRef subject = tf_host_integer(host, stmt->dispatch.subjects[0]);
  LLVMBasicBlockRef join = tf_host_block(host, "dispatched");
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    const tf_range_pattern *pattern = &stmt->dispatch.patterns[i];
    LLVMBasicBlockRef taken = tf_host_block(host, "case"), next = tf_host_block(host, "next");
    LLVMValueRef above = LLVMBuildICmp(host->builder, LLVMIntSGE, subject, tf_host_int(host, pattern->lo), "");
    LLVMValueRef below = LLVMBuildICmp(host->builder, LLVMIntSLT, subject, tf_host_int(host, pattern->hi), "");
    LLVMBuildCondBr(host->builder, LLVMBuildAnd(host->builder, above, below, ""), taken, next);
    tf_host_enter(host, taken);
    tf_host_stmt(host, stmt->dispatch.calls[i]);
    if (!tf_host_is_terminated(host)) LLVMBuildBr(host->builder, join);
    tf_host_enter(host, next);
  }
  lower_block(host, stmt->dispatch.fallback);
  if (!tf_host_is_terminated(host)) LLVMBuildBr(host->builder, join);
  tf_host_enter(host, join);
}

/* ---- Statements ---- */
static void lower_op(tf_host *host, const tf_stmt *stmt) {
  switch (stmt->evaluate.op) {
  case TF_OP_LAUNCH:
    tf_host_launch(host, stmt);
    break;
  case TF_OP_COPY:
    tf_host_copy(host, stmt);
    break;
  case TF_OP_FILL:
    tf_host_fill(host, stmt);
    break;
  default: /* the verifier lets no other op into host code */
    break;
  }
}

void tf_host_stmt(tf_host *host, const tf_stmt *stmt) {
  tf_host_begin(host, stmt);
  switch (stmt->kind) {
  case TF_STMT_SEQUENTIAL:
    lower_block(host, stmt);
    break;
  case TF_STMT_LET: /* reached by a cursor only where the body is empty */
    lower_let(host, stmt);
    break;
  case TF_STMT_FOR:
    lower_for(host, stmt);
    break;
  case TF_STMT_WHILE:
    lower_while(host, stmt);
    break;
  case TF_STMT_IF:
    lower_if(host, stmt);
    break;
  case TF_STMT_RETURN:
    LLVMBuildRet(host->builder, LLVMConstNull(host->module->status));
    break;
  case TF_STMT_ABORT:
    tf_host_abort(host, stmt->abort.message);
    break;
  case TF_STMT_EVALUATE:
    if (stmt->evaluate.callee)
      lower_invocation(host, stmt);
    else
      lower_op(host, stmt);
    break;
  case TF_STMT_DISPATCH_CALL:
    lower_dispatch(host, stmt);
    break;
  case TF_STMT_MESH_SCOPE: /* device code only */
  case TF_STMT_INTRINSIC:
  case TF_STMT_PRIM_FUNCTION:
    break;
  }
}
