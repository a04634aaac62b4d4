/* One walk over the inlined body, in source order, that carries what has been touched since the last barrier. Loops are
 * walked twice: the second time with what the first left behind, which finds every pair that meets over a back edge, as
 * sets only grow. */
#include "LowerToLLVM/SharedOverlap.h"

#include <string.h>

#include "IR/View.h"

/* Each level doubles the work of a walk. */
#define MAX_LOOP_DEPTH 10

typedef uint64_t buffer_set;

/* What may be going on when control is at a point. */
typedef struct activity {
  buffer_set touched;   /* accesses that no barrier has separated from here */
  buffer_set issued;    /* targets of asynchronous copies that are in no group yet */
  buffer_set committed; /* … that are in a group */
} activity;

typedef struct range {
  int64_t first, last; /* ticks of accesses; first > last: none */
} range;

typedef struct loop_frame {
  int depth;
  buffer_set bound_inside; /* buffers bound in the loop's body: their values end with the iteration */
  buffer_set used;
} loop_frame;

typedef struct overlap_walk {
  const tf_module *module;
  const tf_kernel *kernel;
  const tf_shared_plan *plan;
  uint64_t *conflicts;
  range ranges[TF_SHARED_PACKED_MAX];
  int64_t tick;
  activity now;
  loop_frame *loop;
  const tf_region *region; /* of the current function */
  bool gave_up;            /* loops nested too deep: everything stays apart */
} overlap_walk;

static void walk_stmt(overlap_walk *walk, const tf_stmt *stmt);

/* ---- Accesses ---- */

static int buffer_at(const tf_shared_plan *plan, const tf_call_path *path, const tf_expr *var) {
  for (size_t i = 0; i < plan->buffers.count; i++)
    if (plan->buffers.items[i].var == var && plan->buffers.items[i].path == path) return (int)i;
  return -1;
}

static const tf_stmt *function_at(const overlap_walk *walk, const tf_call_path *path) {
  return path ? tf_module_find(walk->module, path->call->evaluate.callee->symbol.name) : walk->kernel->function;
}

/* The buffer under a tensor; parameters of inlined calls lead to the caller's. -1: no shared buffer. */
static int buffer_of(const overlap_walk *walk, const tf_expr *tensor) {
  const tf_call_path *path = walk->region->path;
  for (;;) {
    const tf_view *view = tf_view_of(walk->plan->context, tensor, NULL);
    if (!view || view->base->kind != TF_EXPR_VAR) return -1;
    if (!path || !view->base->var.is_param) return buffer_at(walk->plan, path, view->base);
    const tf_stmt *function = function_at(walk, path);
    unsigned index = 0;
    while (index < function->function.param_count && function->function.params[index] != view->base)
      index++;
    if (index == function->function.param_count) return -1;
    tensor = path->call->evaluate.args[index];
    path = path->outer;
  }
}

static void extend(range *when, int64_t first, int64_t last) {
  if (when->first > first) when->first = first;
  if (when->last < last) when->last = last;
}

static void touch(overlap_walk *walk, int buffer) {
  buffer_set bit = (buffer_set)1 << buffer;
  extend(&walk->ranges[buffer], walk->tick, walk->tick);
  walk->conflicts[buffer] |= walk->now.touched;
  for (int other = 0; other < TF_SHARED_PACKED_MAX; other++)
    if (walk->now.touched >> other & 1) walk->conflicts[other] |= bit;
  walk->now.touched |= bit;
  if (walk->loop) walk->loop->used |= bit;
}

/* Every tensor that an expression mentions counts as accessed here. Bound views are looked through, as their starts are
 * evaluated where they are used; bound scalars are not. */
static void touch_expr(overlap_walk *walk, const tf_expr *expr) {
  if (!expr || expr->kind == TF_EXPR_SYMBOL_REF) return;
  if (tf_type_is_tensor(expr->type) && !tf_type_is_scalar(expr->type)) {
    int buffer = buffer_of(walk, expr);
    if (buffer >= 0) touch(walk, buffer);
    if (expr->kind == TF_EXPR_VAR && !expr->var.is_param) touch_expr(walk, expr->var.value);
  }
  for (unsigned i = 0; expr->kind == TF_EXPR_CALL && i < expr->call.arg_count; i++)
    touch_expr(walk, expr->call.args[i]);
}

/* ---- Effects ---- */

static bool is_block_barrier(const overlap_walk *walk, const tf_stmt *stmt) {
  const tf_site *site = tf_kernel_site(walk->plan->context, walk->kernel, walk->region->path, stmt);
  if (!site) return false;
  switch (site->participation.kind) {
  case TF_BARRIER_BLOCK:
  case TF_BARRIER_GRID:
    return true;
  case TF_BARRIER_WARP: /* each warp by itself */
    return walk->kernel->geometry.has_threads && walk->kernel->geometry.block <= 32;
  case TF_BARRIER_LANES:
  case TF_BARRIER_NAMED:
    break;
  }
  return false;
}

static void apply_effect(overlap_walk *walk, const tf_stmt *stmt) {
  activity *now = &walk->now;
  switch (stmt->evaluate.op) {
  case TF_OP_SYNC:
    if (is_block_barrier(walk, stmt)) now->touched &= now->issued | now->committed;
    break;
  case TF_OP_COPY_ASYNC: {
    int buffer = buffer_of(walk, stmt->evaluate.args[TF_ARG_COPY_ASYNC_destination]);
    if (buffer >= 0) now->issued |= (buffer_set)1 << buffer;
    break;
  }
  case TF_OP_CP_ASYNC_COMMIT:
    now->committed |= now->issued;
    now->issued = 0;
    break;
  case TF_OP_CP_ASYNC_WAIT:
    if (stmt->evaluate.attrs[TF_ATTRIBUTE_CP_ASYNC_WAIT_n].i == 0) now->committed = 0;
    break;
  default:
    break;
  }
}

static void walk_call(overlap_walk *walk, const tf_stmt *call) {
  const tf_stmt *callee = tf_module_find(walk->module, call->evaluate.callee->symbol.name);
  if (!callee) return;
  const tf_region *outer = walk->region;
  tf_region inner = tf_region_call(outer, call, callee);
  walk->region = &inner;
  walk_stmt(walk, callee->function.body);
  walk->region = outer;
}

static void walk_evaluate(overlap_walk *walk, const tf_stmt *stmt) {
  if (stmt->evaluate.callee) {
    walk_call(walk, stmt);
    return;
  }
  for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
    touch_expr(walk, stmt->evaluate.args[i]);
  apply_effect(walk, stmt);
}

/* ---- Control flow ---- */

static void join(activity *into, const activity *other) {
  into->touched |= other->touched;
  into->issued |= other->issued;
  into->committed |= other->committed;
}

static void touch_all(overlap_walk *walk, const tf_expr *const *exprs, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    touch_expr(walk, exprs[i]);
}

/* Two rounds with the same ticks: the second only adds what meets over the back edge. Heads (condition, bounds) belong to
 * every round and to the way out. */
static void walk_rounds(overlap_walk *walk, const tf_stmt *body, const tf_expr *const *heads, unsigned head_count) {
  int64_t start = walk->tick;
  for (int round = 0; round < 2; round++) {
    activity before = walk->now;
    walk->tick = start;
    touch_all(walk, heads, head_count);
    walk_stmt(walk, body);
    join(&walk->now, &before);
  }
  touch_all(walk, heads, head_count);
}

static void walk_loop(overlap_walk *walk, const tf_stmt *body, const tf_expr *const *heads, unsigned head_count) {
  loop_frame *outer = walk->loop;
  loop_frame frame = {.depth = outer ? outer->depth + 1 : 1};
  int64_t start = walk->tick;
  if (frame.depth > MAX_LOOP_DEPTH) {
    walk->gave_up = true;
    return;
  }
  walk->loop = &frame;
  walk_rounds(walk, body, heads, head_count);
  walk->loop = outer;
  for (int i = 0; i < TF_SHARED_PACKED_MAX; i++)
    if ((frame.used & ~frame.bound_inside) >> i & 1) extend(&walk->ranges[i], start, walk->tick);
  if (!outer) return;
  outer->used |= frame.used;
  outer->bound_inside |= frame.bound_inside;
}

static void walk_if(overlap_walk *walk, const tf_stmt *stmt) {
  touch_expr(walk, stmt->if_.cond);
  activity before = walk->now;
  walk_stmt(walk, stmt->if_.then_body);
  activity after_then = walk->now;
  join(&walk->now, &before);
  walk_stmt(walk, stmt->if_.else_body);
  join(&walk->now, &after_then);
}

static void walk_let(overlap_walk *walk, const tf_stmt *stmt) {
  int buffer = buffer_at(walk->plan, walk->region->path, stmt->let.var);
  if (buffer >= 0) {
    if (walk->loop) walk->loop->bound_inside |= (buffer_set)1 << buffer;
  } else if (tf_type_is_scalar(stmt->let.var->type)) {
    touch_expr(walk, stmt->let.value);
  }
  walk_stmt(walk, stmt->let.body);
}

static void walk_stmt(overlap_walk *walk, const tf_stmt *stmt) {
  walk->tick++;
  switch (stmt->kind) {
  case TF_STMT_SEQUENTIAL:
    for (unsigned i = 0; i < stmt->sequential.count; i++)
      walk_stmt(walk, stmt->sequential.items[i]);
    break;
  case TF_STMT_LET:
    walk_let(walk, stmt);
    break;
  case TF_STMT_FOR: {
    const tf_expr *bounds[3] = {stmt->for_.start, stmt->for_.stop, stmt->for_.step};
    walk_loop(walk, stmt->for_.body, bounds, 3);
    break;
  }
  case TF_STMT_WHILE:
    walk_loop(walk, stmt->while_.body, &stmt->while_.cond, 1);
    break;
  case TF_STMT_IF:
    walk_if(walk, stmt);
    break;
  case TF_STMT_MESH_SCOPE:
    walk_stmt(walk, stmt->mesh_scope.body);
    break;
  case TF_STMT_EVALUATE:
    walk_evaluate(walk, stmt);
    break;
  case TF_STMT_INTRINSIC:
    for (unsigned i = 0; i < stmt->intrinsic.arg_count; i++)
      touch_expr(walk, stmt->intrinsic.args[i]);
    break;
  case TF_STMT_RETURN:
  case TF_STMT_ABORT:
  case TF_STMT_DISPATCH_CALL:
  case TF_STMT_PRIM_FUNCTION:
    break;
  }
}

static bool ranges_meet(const range *a, const range *b) {
  return a->first <= b->last && b->first <= a->last;
}

void tf_shared_conflicts(const tf_module *module, const tf_kernel *kernel, const tf_shared_plan *plan,
                         uint64_t conflicts[TF_SHARED_PACKED_MAX]) {
  overlap_walk walk = {.module = module, .kernel = kernel, .plan = plan, .conflicts = conflicts};
  memset(conflicts, 0, sizeof *conflicts * TF_SHARED_PACKED_MAX);
  for (int i = 0; i < TF_SHARED_PACKED_MAX; i++)
    walk.ranges[i] = (range){INT64_MAX, -1};
  tf_region region = tf_region_begin(plan->context, kernel->function, &kernel->geometry);
  walk.region = &region;
  walk_stmt(&walk, kernel->function->function.body);
  for (size_t i = 0; i < plan->buffers.count; i++)
    for (size_t j = 0; j < plan->buffers.count; j++)
      if (walk.gave_up || ranges_meet(&walk.ranges[i], &walk.ranges[j])) conflicts[i] |= (buffer_set)1 << j;
}
