/* Are the lanes of each warp together at a statement? What the compiler introduces of its own accord (ldmatrix in place
 * of loads) must not appear where an author's condition keeps some lanes away.
 *
 * The answer is allowed to be "no" too often. It is "yes" if
 *   - the threads that the scopes admit are whole warps,
 *   - every condition and loop bound around the statement, and around the calls that lead to it, has one value per warp:
 *     it reads no memory and no coordinate that tells lanes apart,
 *   - no `return` in these functions stands under any other condition. */
#include "LowerToLLVM/Mma.h"

#define WARP 32

static bool holds_whole_warps(const tf_region *region) {
  if (!region->geometry->has_threads || region->geometry->block % WARP) return false;
  for (unsigned i = 0; i < TF_MAX_BLOCK / 64; i++) {
    uint32_t low = (uint32_t)region->active.bits[i], high = (uint32_t)(region->active.bits[i] >> 32);
    if ((low && low != UINT32_MAX) || (high && high != UINT32_MAX)) return false;
  }
  return true;
}

/* ---- Values ---- */

typedef struct place {
  tf_lowering *lowering;
  const tf_stmt *function;
  const tf_call_path *path; /* that leads to the function */
} place;

static const tf_stmt *function_at(const tf_lowering *lowering, const tf_call_path *path) {
  return path ? tf_module_find(lowering->module->module, path->call->evaluate.callee->symbol.name)
              : lowering->kernel->function;
}

static bool is_warp_value(const place *at, const tf_expr *expr);

static bool are_warp_values(const place *at, unsigned count, const tf_expr *const *exprs) {
  for (unsigned i = 0; i < count; i++)
    if (exprs[i] && !is_warp_value(at, exprs[i])) return false;
  return true;
}

/* An inlined call's parameter is what the call passes; a kernel's is the same for every thread. */
static bool is_warp_param(const place *at, const tf_expr *param) {
  if (!at->path) return true;
  for (unsigned i = 0; i < at->function->function.param_count; i++) {
    if (at->function->function.params[i] != param) continue;
    place caller = {at->lowering, function_at(at->lowering, at->path->outer), at->path->outer};
    return is_warp_value(&caller, at->path->call->evaluate.args[i]);
  }
  return false;
}

static bool is_warp_coordinate(const place *at, const tf_expr *coord) {
  const tf_mesh *mesh = tf_var_mesh(coord->call.args[TF_ARG_COORD_mesh]);
  const tf_placement *placement = mesh ? tf_region_placement(&at->lowering->region, mesh, NULL) : NULL;
  if (!placement) return false;
  const tf_placement_axis *axis = &placement->axes[coord->call.attrs[TF_ATTRIBUTE_COORD_axis].i];
  const tf_placement_level *level = &placement->levels[axis->level];
  int64_t divisor = 1;
  if (level->level != TF_LEVEL_THREAD) return true;
  return !level->lane && level->origin % WARP == 0 && tf_dim_is_static(axis->divisor, &divisor) && divisor % WARP == 0;
}

static bool is_warp_call(const place *at, const tf_expr *call) {
  switch (call->call.op) {
  case TF_OP_LOAD:
    return false;
  case TF_OP_PROGRAM_ID:
    return call->call.attrs[TF_ATTRIBUTE_PROGRAM_ID_level].i != TF_LEVEL_THREAD;
  case TF_OP_COORD:
    return is_warp_coordinate(at, call);
  default:
    return are_warp_values(at, call->call.arg_count, call->call.args);
  }
}

/* Loop variables follow their bounds, which the walk below looks at. */
static bool is_warp_value(const place *at, const tf_expr *expr) {
  switch (expr->kind) {
  case TF_EXPR_VAR:
    if (expr->var.is_param) return is_warp_param(at, expr);
    return !expr->var.value || is_warp_value(at, expr->var.value);
  case TF_EXPR_CALL:
    return is_warp_call(at, expr);
  default:
    return true;
  }
}

/* ---- Control flow ---- */

static bool decides_alike(const place *at, const tf_stmt *stmt) {
  switch (stmt->kind) {
  case TF_STMT_FOR:
    return are_warp_values(at, 3, (const tf_expr *const[]){stmt->for_.start, stmt->for_.stop, stmt->for_.step});
  case TF_STMT_WHILE:
    return is_warp_value(at, stmt->while_.cond);
  case TF_STMT_IF:
    return is_warp_value(at, stmt->if_.cond);
  default:
    return true;
  }
}

typedef struct search {
  const place *at;
  const tf_stmt *wanted;
  bool found;
  bool split; /* the wanted statement, or a return, stands where lanes may go apart */
} search;

static bool visit_split(void *user, const tf_stmt *stmt) {
  search *it = user;
  if (stmt == it->wanted || stmt->kind == TF_STMT_RETURN) it->split = true;
  return !it->split;
}

/* Under a structure that lanes may decide differently, everything is apart. */
static bool visit(void *user, const tf_stmt *stmt) {
  search *it = user;
  if (stmt == it->wanted) it->found = true;
  if (it->split || decides_alike(it->at, stmt)) return !it->split;
  tf_stmt_walk(stmt, visit_split, it);
  return false;
}

static bool is_reached_together(tf_lowering *lowering, const tf_call_path *path, const tf_stmt *stmt) {
  place at = {lowering, function_at(lowering, path), path};
  search it = {.at = &at, .wanted = stmt};
  tf_stmt_walk(at.function->function.body, visit, &it);
  return it.found && !it.split;
}

bool tf_lower_is_warp_converged(tf_lowering *lowering) {
  if (!holds_whole_warps(&lowering->region)) return false;
  const tf_stmt *stmt = lowering->stmt;
  for (const tf_call_path *path = lowering->region.path;; path = path->outer) {
    if (!is_reached_together(lowering, path, stmt)) return false;
    if (!path) return true;
    stmt = path->call;
  }
}
