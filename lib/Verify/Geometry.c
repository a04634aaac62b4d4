/* Geometry of a kernel: the block and the grid that its scopes and parameters ask for, over its whole call tree.
 *
 * Each function of the tree is read once, however often it is called: its chain of scopes starts fresh. What counts:
 *   thread scope             its size                       inside a warp scope: one warp (the warp scope counts itself)
 *   warp, (warp, thread)     32 threads a warp
 *   cta                      its size
 * and the block (grid) is the largest of them. A sliced scope counts as its full mesh. */
#include "Verify/Scopes.h"

#include "Verify/Walk.h"

typedef struct tf_measure {
  tf_context *context;
  const tf_module *module;
  tf_geometry geometry;
  struct {
    TF_VEC(const tf_stmt *);
  } functions; /* reached so far, in order; those before `done` are read */
} tf_measure;

static void measure_mesh(tf_measure *measure, const tf_mesh *mesh, bool lanes) {
  const tf_placement *placement = tf_placement_of(measure->context, mesh, lanes, NULL);
  if (!placement) return;
  tf_geometry *geometry = &measure->geometry;
  if (placement->threads > 0) {
    geometry->has_threads = true;
    if (placement->threads > geometry->block) geometry->block = placement->threads;
  }
  if (placement->levels[0].level == TF_LEVEL_CTA) {
    const tf_dim *size = placement->levels[0].size;
    const tf_dim *grid = geometry->has_ctas ? tf_dim_binary(measure->context, TF_DIM_MAX, geometry->grid, size) : size;
    geometry->has_ctas = true;
    geometry->grid = grid ? grid : size;
  }
}

static void reach(tf_measure *measure, const char *name) {
  const tf_stmt *callee = tf_module_find(measure->module, name);
  if (!callee || tf_target_is_cpu(callee->function.target)) return;
  for (size_t i = 0; i < measure->functions.count; i++)
    if (measure->functions.items[i] == callee) return;
  TF_VEC_PUSH(&measure->context->arena, &measure->functions, callee);
}

/* lanes: some enclosing scope's finest level is warp. */
static void measure_block(tf_measure *measure, const tf_stmt *block, bool lanes, unsigned depth);

static void measure_stmt(tf_measure *measure, const tf_stmt *stmt, bool lanes, unsigned depth) {
  if (stmt->kind == TF_STMT_MESH_SCOPE) {
    const tf_mesh *mesh = stmt->mesh_scope.mesh;
    measure_mesh(measure, mesh, lanes);
    unsigned levels = tf_mesh_level_count(mesh);
    lanes = lanes || (levels > 0 && tf_mesh_level(mesh, levels - 1).level == TF_LEVEL_WARP);
  } else if (stmt->kind == TF_STMT_EVALUATE && stmt->evaluate.callee) {
    reach(measure, stmt->evaluate.callee->symbol.name);
  }
  const tf_stmt *blocks[2];
  unsigned count = tf_stmt_blocks(stmt, blocks);
  for (unsigned i = 0; i < count; i++)
    measure_block(measure, blocks[i], lanes, depth + 1);
}

static void measure_block(tf_measure *measure, const tf_stmt *block, bool lanes, unsigned depth) {
  if (depth > TF_MAX_NESTING) return;
  tf_block_cursor cursor = tf_block_begin(block);
  for (const tf_stmt *stmt = tf_block_next(&cursor); stmt; stmt = tf_block_next(&cursor))
    if (!tf_block_continues(&cursor)) measure_stmt(measure, stmt, lanes, depth);
}

static void measure_function(tf_measure *measure, const tf_stmt *function) {
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_type *type = function->function.params[i]->type;
    if (tf_type_is_tensor(type) && tf_layout_is_shard(tf_type_layout(type)))
      measure_mesh(measure, tf_layout_mesh(tf_type_layout(type)), false);
  }
  measure_block(measure, function->function.body, false, 0);
}

tf_geometry tf_geometry_of(const tf_module *module, const tf_stmt *function) {
  tf_context *context = module->context;
  tf_measure measure = {.context = context, .module = module};
  measure.geometry = (tf_geometry){.block = 1, .grid = tf_dim_int(context, 1)};
  if (tf_target_is_cpu(function->function.target)) return measure.geometry;
  TF_VEC_PUSH(&context->arena, &measure.functions, function);
  for (size_t i = 0; i < measure.functions.count; i++)
    measure_function(&measure, measure.functions.items[i]);
  return measure.geometry;
}
