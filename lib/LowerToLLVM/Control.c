/* Statements: blocks, lets, loops, branches, scopes, returns and aborts.
 *
 * A loop stays a loop unless its variable selects registers (Unroll.c): then it is unrolled here, its variable a constant in
 * each copy. Conditions that are constants then leave no branch. A let's body is the rest of its block and is walked without
 * recursion. */
#include "LowerToLLVM/IntMath.h"
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Lowering.h"

#include "Verify/Walk.h"

/* Copies of a loop's body at most; longer loops keep run-time indices. */
#define MAX_UNROLL    4096
/* What is expected happens so much more often, as LLVM weighs branches. */
#define LIKELY_WEIGHT 2000

/* ---- Basic blocks ---- */
LLVMBasicBlockRef tf_lower_new_block(tf_lowering *lowering, const char *name) {
  return LLVMAppendBasicBlockInContext(lowering->llvm, lowering->llvm_function, name);
}

bool tf_lower_is_terminated(const tf_lowering *lowering) {
  return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(lowering->builder)) != NULL;
}

static void branch_to(tf_lowering *lowering, LLVMBasicBlockRef block) {
  if (!tf_lower_is_terminated(lowering)) LLVMBuildBr(lowering->builder, block);
}

void tf_lower_enter_block(tf_lowering *lowering, LLVMBasicBlockRef block) {
  branch_to(lowering, block);
  LLVMMoveBasicBlockAfter(block, LLVMGetLastBasicBlock(lowering->llvm_function));
  LLVMPositionBuilderAtEnd(lowering->builder, block);
}

void tf_lower_branch_likely(tf_lowering *lowering, LLVMValueRef condition, LLVMBasicBlockRef then,
                            LLVMBasicBlockRef otherwise) {
  static const char kind[] = "prof", title[] = "branch_weights";
  LLVMValueRef branch = LLVMBuildCondBr(lowering->builder, condition, then, otherwise);
  LLVMMetadataRef weights[] = {LLVMMDStringInContext2(lowering->llvm, title, sizeof title - 1),
                               LLVMValueAsMetadata(tf_llvm_i32(lowering, LIKELY_WEIGHT)),
                               LLVMValueAsMetadata(tf_llvm_i32(lowering, 1))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(lowering->llvm, weights, sizeof weights / sizeof *weights);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(lowering->llvm, kind, sizeof kind - 1),
                  LLVMMetadataAsValue(lowering->llvm, node));
}

static bool begin_guard(tf_lowering *lowering, LLVMValueRef condition, bool likely, tf_guard *guard) {
  int64_t known;
  guard->join = NULL;
  if (!condition) return true;
  if (tf_lower_is_constant(condition, &known)) return known != 0;
  LLVMBasicBlockRef body = tf_lower_new_block(lowering, "inside");
  guard->join = tf_lower_new_block(lowering, "joined");
  if (likely)
    tf_lower_branch_likely(lowering, condition, body, guard->join);
  else
    LLVMBuildCondBr(lowering->builder, condition, body, guard->join);
  LLVMPositionBuilderAtEnd(lowering->builder, body);
  return true;
}

bool tf_lower_guard_begin(tf_lowering *lowering, LLVMValueRef condition, tf_guard *guard) {
  return begin_guard(lowering, condition, false, guard);
}

bool tf_lower_guard_likely(tf_lowering *lowering, LLVMValueRef condition, tf_guard *guard) {
  return begin_guard(lowering, condition, true, guard);
}

void tf_lower_guard_end(tf_lowering *lowering, const tf_guard *guard) {
  if (guard->join) tf_lower_enter_block(lowering, guard->join);
}

void tf_lower_loop_begin(tf_lowering *lowering, LLVMValueRef count, tf_loop *loop) {
  LLVMBuilderRef b = lowering->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), body = tf_lower_new_block(lowering, "walk.body");
  loop->header = tf_lower_new_block(lowering, "walk");
  loop->exit = tf_lower_new_block(lowering, "walked");
  tf_lower_enter_block(lowering, loop->header);
  loop->index = LLVMBuildPhi(b, tf_llvm_int(lowering, 32), "");
  LLVMValueRef zero = tf_llvm_i32(lowering, 0);
  LLVMAddIncoming(loop->index, &zero, &before, 1);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, loop->index, count, ""), body, loop->exit);
  tf_lower_enter_block(lowering, body);
}

void tf_lower_loop_end(tf_lowering *lowering, tf_loop *loop) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef next = LLVMBuildNSWAdd(b, loop->index, tf_llvm_i32(lowering, 1), "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
  LLVMAddIncoming(loop->index, &next, &latch, 1);
  LLVMBuildBr(b, loop->header);
  tf_lower_enter_block(lowering, loop->exit);
}

/* ---- Traps ---- */
void tf_lower_trap(tf_lowering *lowering, tf_abort_site_kind kind, const char *message) {
  tf_abort_site site = {kind, message, lowering->loc};
  bool known = false;
  for (size_t i = 0; i < lowering->aborts.count && !known; i++) {
    const tf_abort_site *other = &lowering->aborts.items[i];
    known = other->kind == kind && other->loc.line == site.loc.line && other->loc.column == site.loc.column;
  }
  if (!known) TF_VEC_PUSH(&lowering->context->arena, &lowering->aborts, site);
  tf_lower_asm(lowering, NULL, "trap; exit;", "", 0, NULL, TF_ASM_EFFECT);
  LLVMBuildUnreachable(lowering->builder);
}

void tf_lower_check_nonzero(tf_lowering *lowering, LLVMValueRef divisor) {
  LLVMBasicBlockRef bad = tf_lower_new_block(lowering, "div.zero"), good = tf_lower_new_block(lowering, "div.ok");
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(divisor));
  LLVMValueRef is_zero = LLVMBuildICmp(lowering->builder, LLVMIntEQ, divisor, zero, "");
  LLVMBuildCondBr(lowering->builder, is_zero, bad, good);
  LLVMPositionBuilderAtEnd(lowering->builder, bad);
  tf_lower_trap(lowering, TF_ABORT_SITE_DIV, "integer division by zero");
  tf_lower_enter_block(lowering, good);
}

/* ---- Blocks of statements ---- */
static void lower_let(tf_lowering *lowering, const tf_stmt *stmt) {
  const tf_expr *var = stmt->let.var, *value = stmt->let.value;
  if (tf_type_get_kind(value->type) != TF_TYPE_TENSOR) return;
  if (!tf_is_scalar(value)) {
    if (value->kind == TF_EXPR_CALL) tf_lower_value_call(lowering, var, value);
    return;
  }
  tf_int_facts facts = tf_lower_facts(lowering, value);
  LLVMValueRef lowered = tf_lower_scalar(lowering, value);
  tf_lower_bind(lowering, var, lowered)->facts = facts;
  tf_lower_note_scalar(lowering, var, value);
}

static void lower_block(tf_lowering *lowering, const tf_stmt *block) {
  size_t mark = tf_lower_mark(lowering);
  tf_block_cursor cursor = tf_block_begin(block);
  const tf_stmt *stmt;
  while (!tf_lower_is_terminated(lowering) && (stmt = tf_block_next(&cursor))) {
    if (!tf_block_continues(&cursor)) {
      tf_lower_stmt(lowering, stmt);
      continue;
    }
    lowering->stmt = stmt;
    lowering->loc = stmt->loc;
    tf_lower_place(lowering);
    lower_let(lowering, stmt);
  }
  tf_lower_reset(lowering, mark);
}

/* ---- for ---- */
typedef struct bounds {
  LLVMValueRef start, stop, step;
  tf_int_facts start_facts, stop_facts, step_facts;
  unsigned bits;
} bounds;

static bool static_bounds(const bounds *b, int64_t out[3]) {
  return tf_lower_is_constant(b->start, &out[0]) && tf_lower_is_constant(b->stop, &out[1]) &&
         tf_lower_is_constant(b->step, &out[2]);
}

/* In unsigned arithmetic, where the distance of any two numbers fits. */
static int64_t trip_count(const int64_t b[3]) {
  bool up = b[2] > 0;
  if (b[2] == 0 || (up ? b[0] >= b[1] : b[0] <= b[1])) return 0;
  uint64_t distance = up ? (uint64_t)b[1] - (uint64_t)b[0] : (uint64_t)b[0] - (uint64_t)b[1];
  uint64_t step = up ? (uint64_t)b[2] : 0 - (uint64_t)b[2], trips = (distance - 1) / step + 1;
  return trips > INT64_MAX ? INT64_MAX : (int64_t)trips;
}

/* 32 bits if the variable, one step past its last value included, fits. */
static unsigned loop_bits(const bounds *b) {
  int64_t step = b->step_facts.max > -b->step_facts.min ? b->step_facts.max : -b->step_facts.min;
  bool fits = tf_facts_fit(b->start_facts, 31) && tf_facts_fit(b->stop_facts, 31) && b->step_facts.min != INT64_MIN &&
              step <= INT32_MAX / 2;
  return fits ? 32 : 64;
}

static bounds bounds_of(tf_lowering *lowering, const tf_stmt *stmt) {
  bounds b = {.start_facts = tf_lower_facts(lowering, stmt->for_.start),
              .stop_facts = tf_lower_facts(lowering, stmt->for_.stop),
              .step_facts = tf_lower_facts(lowering, stmt->for_.step)};
  b.bits = loop_bits(&b);
  b.start = tf_lower_int(lowering, stmt->for_.start, b.bits);
  b.stop = tf_lower_int(lowering, stmt->for_.stop, b.bits);
  b.step = tf_lower_int(lowering, stmt->for_.step, b.bits);
  return b;
}

static tf_int_facts facts_of_variable(const bounds *b) {
  tf_int_facts facts = TF_FACTS_NONE;
  facts.divisor = tf_facts_join(b->start_facts, b->step_facts).divisor;
  if (b->step_facts.min > 0) {
    facts.min = b->start_facts.min;
    facts.max = b->stop_facts.max == INT64_MIN ? INT64_MIN : b->stop_facts.max - 1;
  } else if (b->step_facts.max < 0) {
    facts.max = b->start_facts.max;
    facts.min = b->stop_facts.min == INT64_MAX ? INT64_MAX : b->stop_facts.min + 1;
  }
  return facts;
}

static LLVMTypeRef variable_type(tf_lowering *lowering, const tf_stmt *stmt) {
  return tf_llvm_value_type(lowering, tf_type_dtype(stmt->for_.var->type));
}

/* A block that may run more than once. */
static void lower_loop_body(tf_lowering *lowering, const tf_stmt *body) {
  lowering->loop_depth++;
  lower_block(lowering, body);
  lowering->loop_depth--;
}

static void unroll(tf_lowering *lowering, const tf_stmt *stmt, const int64_t b[3], int64_t trips) {
  LLVMTypeRef type = variable_type(lowering, stmt);
  for (int64_t i = 0; i < trips && !tf_lower_is_terminated(lowering); i++) {
    size_t mark = tf_lower_mark(lowering);
    int64_t value = b[0] + i * b[2];
    tf_lower_bind(lowering, stmt->for_.var, LLVMConstInt(type, (unsigned long long)value, true))->facts =
        tf_facts_constant(value);
    if (trips == 1)
      lower_block(lowering, stmt->for_.body);
    else
      lower_loop_body(lowering, stmt->for_.body);
    tf_lower_reset(lowering, mark);
  }
}

/* step > 0 ? i < stop : step < 0 and i > stop. */
static LLVMValueRef goes_on(tf_lowering *lowering, const bounds *b, LLVMValueRef i) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMValueRef below = LLVMBuildICmp(builder, LLVMIntSLT, i, b->stop, "");
  if (b->step_facts.min > 0) return below;
  LLVMValueRef above = LLVMBuildICmp(builder, LLVMIntSGT, i, b->stop, "");
  if (b->step_facts.max < 0) return above;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(b->step));
  LLVMValueRef up = LLVMBuildICmp(builder, LLVMIntSGT, b->step, zero, "");
  LLVMValueRef down = LLVMBuildAnd(builder, LLVMBuildICmp(builder, LLVMIntSLT, b->step, zero, ""), above, "");
  return LLVMBuildSelect(builder, up, below, down, "");
}

/* Whether the variable may pass the ends of 64 bits in the step behind its last value. */
static bool may_wrap(const bounds *b) {
  int64_t past;
  bool up = b->step_facts.max > 0 && __builtin_add_overflow(b->stop_facts.max, b->step_facts.max - 1, &past);
  bool down = b->step_facts.min < 0 && __builtin_add_overflow(b->stop_facts.min, b->step_facts.min + 1, &past);
  return b->bits == 64 && (up || down);
}

/* Behind a trip: the loop ends here if what is left to stop is no more than a step. Both are compared without their signs,
 * in which no distance of two numbers wraps. */
static void end_before_wrapping(tf_lowering *lowering, const bounds *b, LLVMValueRef i, LLVMBasicBlockRef exit) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMValueRef up = LLVMBuildICmp(builder, LLVMIntSGT, b->step, LLVMConstNull(LLVMTypeOf(i)), "");
  LLVMValueRef left =
      LLVMBuildSelect(builder, up, LLVMBuildSub(builder, b->stop, i, ""), LLVMBuildSub(builder, i, b->stop, ""), "");
  LLVMValueRef step = LLVMBuildSelect(builder, up, b->step, LLVMBuildNeg(builder, b->step, ""), "");
  LLVMBasicBlockRef next = tf_lower_new_block(lowering, "for.next");
  LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntUGT, left, step, ""), next, exit);
  tf_lower_enter_block(lowering, next);
}

static void emit_for(tf_lowering *lowering, const tf_stmt *stmt, const bounds *b) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), header = tf_lower_new_block(lowering, "for");
  LLVMBasicBlockRef body = tf_lower_new_block(lowering, "for.body"), exit = tf_lower_new_block(lowering, "for.end");
  tf_lower_enter_block(lowering, header);
  LLVMValueRef i = LLVMBuildPhi(builder, tf_llvm_int(lowering, b->bits), "");
  LLVMAddIncoming(i, (LLVMValueRef[]){b->start}, &before, 1);
  LLVMBuildCondBr(builder, goes_on(lowering, b, i), body, exit);
  tf_lower_enter_block(lowering, body);
  size_t mark = tf_lower_mark(lowering);
  tf_int_facts facts = facts_of_variable(b);
  unsigned width = LLVMGetIntTypeWidth(variable_type(lowering, stmt));
  tf_lower_bind(lowering, stmt->for_.var, tf_emit_resize(lowering, i, width, facts))->facts = facts;
  lower_loop_body(lowering, stmt->for_.body);
  tf_lower_reset(lowering, mark);
  if (!tf_lower_is_terminated(lowering)) {
    if (may_wrap(b)) end_before_wrapping(lowering, b, i, exit);
    LLVMValueRef next = LLVMBuildNSWAdd(builder, i, b->step, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(builder);
    LLVMAddIncoming(i, &next, &latch, 1);
    LLVMBuildBr(builder, header);
  }
  tf_lower_enter_block(lowering, exit);
}

static bool note_return(void *user, const tf_stmt *stmt) {
  bool *returns = user;
  *returns |= stmt->kind == TF_STMT_RETURN;
  return !*returns;
}

/* What a thread does in one trip may keep it from the next: all may come to the body, or not. */
static bool may_leave(const tf_stmt *body) {
  bool returns = false;
  tf_stmt_walk(body, note_return, &returns);
  return returns;
}

static void lower_for(tf_lowering *lowering, const tf_stmt *stmt) {
  bounds b = bounds_of(lowering, stmt);
  int64_t known[3];
  bool is_static = static_bounds(&b, known);
  int64_t trips = is_static ? trip_count(known) : -1;
  tf_lower_note_loop(lowering, stmt);
  bool uniform = lowering->block_uniform;
  if (trips == 0) return;
  bool registers = trips != 1 && tf_lower_indexes_registers(lowering, stmt);
  if (trips == 1 || (registers && is_static && trips <= MAX_UNROLL)) {
    unroll(lowering, stmt, known, trips);
    return;
  }
  if (registers && is_static)
    tf_report(lowering->context, stmt->loc, LOWER_LOCAL_TRIPS, tf_expr_name(stmt->for_.var), (long long)trips);
  else if (registers)
    tf_report(lowering->context, stmt->loc, LOWER_LOCAL_MEMORY, tf_expr_name(stmt->for_.var));
  lowering->block_uniform = uniform && !may_leave(stmt->for_.body) && tf_lower_is_uniform(lowering, stmt->for_.start) &&
                            tf_lower_is_uniform(lowering, stmt->for_.stop) &&
                            tf_lower_is_uniform(lowering, stmt->for_.step);
  emit_for(lowering, stmt, &b);
  lowering->block_uniform = uniform && !lowering->left_early;
}

/* ---- while, if ---- */
static void lower_while(tf_lowering *lowering, const tf_stmt *stmt) {
  LLVMBasicBlockRef header = tf_lower_new_block(lowering, "while"), body = tf_lower_new_block(lowering, "while.body");
  LLVMBasicBlockRef exit = tf_lower_new_block(lowering, "while.end");
  bool uniform = lowering->block_uniform;
  lowering->block_uniform =
      uniform && !may_leave(stmt->while_.body) && tf_lower_is_uniform(lowering, stmt->while_.cond);
  tf_lower_enter_block(lowering, header);
  LLVMBuildCondBr(lowering->builder, tf_lower_scalar(lowering, stmt->while_.cond), body, exit);
  tf_lower_enter_block(lowering, body);
  lower_loop_body(lowering, stmt->while_.body);
  branch_to(lowering, header);
  tf_lower_enter_block(lowering, exit);
  lowering->block_uniform = uniform && !lowering->left_early;
}

static void lower_branch(tf_lowering *lowering, const tf_stmt *body, LLVMBasicBlockRef block, LLVMBasicBlockRef join) {
  LLVMPositionBuilderAtEnd(lowering->builder, block);
  lower_block(lowering, body);
  branch_to(lowering, join);
}

static bool is_empty(const tf_stmt *block) {
  return block->sequential.count == 0;
}

static void lower_if(tf_lowering *lowering, const tf_stmt *stmt) {
  LLVMValueRef condition = tf_lower_scalar(lowering, stmt->if_.cond);
  int64_t known;
  if (tf_lower_is_constant(condition, &known)) {
    lower_block(lowering, known ? stmt->if_.then_body : stmt->if_.else_body);
    return;
  }
  bool uniform = lowering->block_uniform, has_else = !is_empty(stmt->if_.else_body);
  lowering->block_uniform = uniform && tf_lower_is_uniform(lowering, stmt->if_.cond);
  LLVMBasicBlockRef then_block = tf_lower_new_block(lowering, "then"), join = tf_lower_new_block(lowering, "endif");
  LLVMBasicBlockRef else_block = has_else ? tf_lower_new_block(lowering, "else") : join;
  LLVMBuildCondBr(lowering->builder, condition, then_block, else_block);
  lower_branch(lowering, stmt->if_.then_body, then_block, join);
  if (has_else) lower_branch(lowering, stmt->if_.else_body, else_block, join);
  tf_lower_enter_block(lowering, join);
  lowering->block_uniform = uniform && !lowering->left_early;
}

/* ---- Scopes ---- */
static void lower_scope(tf_lowering *lowering, const tf_stmt *stmt) {
  tf_region outer = lowering->region, inner;
  tf_guard guard = {NULL};
  LLVMValueRef inside = NULL;
  if (!tf_region_enter(&outer, stmt, &inner, NULL)) return;
  if (tf_region_restricts_threads(&outer, &inner) || tf_region_restricts_ctas(&outer, &inner))
    inside = tf_lower_placement_inside(lowering, inner.scope->placement);
  if (!tf_lower_guard_begin(lowering, inside, &guard)) return;
  lowering->region = inner;
  lower_block(lowering, stmt->mesh_scope.body);
  lowering->region = outer;
  tf_lower_guard_end(lowering, &guard);
}

void tf_lower_stmt(tf_lowering *lowering, const tf_stmt *stmt) {
  lowering->stmt = stmt;
  lowering->loc = stmt->loc;
  tf_lower_place(lowering);
  switch (stmt->kind) {
  case TF_STMT_SEQUENTIAL:
    lower_block(lowering, stmt);
    break;
  case TF_STMT_LET: /* reached by a cursor only where the body is empty */
    lower_let(lowering, stmt);
    break;
  case TF_STMT_FOR:
    lower_for(lowering, stmt);
    break;
  case TF_STMT_WHILE:
    lower_while(lowering, stmt);
    break;
  case TF_STMT_IF:
    lower_if(lowering, stmt);
    break;
  case TF_STMT_MESH_SCOPE:
    lower_scope(lowering, stmt);
    break;
  case TF_STMT_RETURN:
    lowering->left_early |= !lowering->block_uniform;
    LLVMBuildBr(lowering->builder, lowering->return_block);
    break;
  case TF_STMT_ABORT:
    lowering->left_early |= !lowering->block_uniform;
    tf_lower_trap(lowering, TF_ABORT_SITE_ABORT, stmt->abort.message);
    break;
  case TF_STMT_EVALUATE:
    if (stmt->evaluate.callee)
      tf_lower_call(lowering, stmt);
    else
      tf_lower_effect(lowering, stmt);
    break;
  case TF_STMT_INTRINSIC:
    tf_lower_template(lowering, stmt);
    break;
  case TF_STMT_DISPATCH_CALL: /* on the host only */
  case TF_STMT_PRIM_FUNCTION:
    break;
  }
}
