/* Regions: walking into mesh scopes and callees, and finding where a mesh's instances stand (see Scopes.h). */
#include "Verify/Scopes.h"

tf_region tf_region_begin(tf_context *context, const tf_stmt *function, const tf_geometry *geometry) {
  return (tf_region){.context = context,
                     .function = function,
                     .geometry = geometry,
                     .active = tf_threads_interval(0, geometry->has_threads ? geometry->block : 1),
                     .all_ctas = true};
}

/* Whether a mesh that starts at `thread` counts lanes here. */
static bool inside_warps(const tf_scope *scope) {
  for (; scope; scope = scope->outer) {
    const tf_mesh *mesh = scope->placement->mesh;
    if (tf_mesh_level(mesh, tf_mesh_level_count(mesh) - 1).level == TF_LEVEL_WARP) return true;
  }
  return false;
}

static bool covers_grid(const tf_placement *placement, const tf_geometry *geometry) {
  const tf_placement_level *first = &placement->levels[0];
  return first->level != TF_LEVEL_CTA || (placement->full && first->size == geometry->grid);
}

bool tf_region_enter(const tf_region *region, const tf_stmt *mesh_scope, tf_region *out, const char **reason) {
  const tf_placement *placement =
      tf_placement_of(region->context, mesh_scope->mesh_scope.mesh, inside_warps(region->scope), reason);
  if (!placement) return false;
  tf_scope *scope = TF_ARENA_NEW(&region->context->arena, tf_scope);
  *scope = (tf_scope){region->scope, mesh_scope, placement};
  tf_region inner = *region;
  inner.scope = scope;
  inner.all_ctas = region->all_ctas && covers_grid(placement, region->geometry);
  if (placement->threads > 0) {
    inner.active = (tf_thread_set){{0}};
    for (int64_t t = tf_threads_next(&region->active, 0); t >= 0; t = tf_threads_next(&region->active, t + 1))
      if (tf_placement_coordinates(placement, -1, t, NULL)) tf_threads_add(&inner.active, t);
  }
  *out = inner;
  return true;
}

bool tf_region_restricts_threads(const tf_region *outer, const tf_region *inner) {
  return !tf_threads_equal(&outer->active, &inner->active);
}

bool tf_region_restricts_ctas(const tf_region *outer, const tf_region *inner) {
  return inner->scope != outer->scope && !covers_grid(inner->scope->placement, inner->geometry);
}

tf_region tf_region_call(const tf_region *region, const tf_stmt *call, const tf_stmt *callee) {
  tf_region inner = *region;
  tf_call_path path = {region->path, call};
  inner.path = tf_context_intern_bytes(region->context, TF_INTERN_MEMO, &path, sizeof path);
  inner.function = callee;
  inner.scope = NULL;
  return inner;
}

/* ---- Finding a mesh --------------------------------------------------------------------------------------------------- */

/* Whether `mesh`, over exactly (warp, thread), is what a warp scope and a lane scope nested in it describe together: the
 * warp scope's axes with strides in threads, followed by the lane scope's. */
static bool concatenates(tf_context *context, const tf_mesh *mesh, const tf_mesh *warps, const tf_mesh *lanes) {
  unsigned split = tf_mesh_axis_count(warps), count = tf_mesh_axis_count(mesh);
  if (count != split + tf_mesh_axis_count(lanes) || tf_mesh_is_slice(warps) || tf_mesh_is_slice(lanes)) return false;
  const tf_dim *lanes_of_warp = tf_dim_int(context, 32);
  for (unsigned i = 0; i < count; i++) {
    const tf_mesh *part = i < split ? warps : lanes;
    unsigned axis = i < split ? i : i - split;
    const tf_dim *stride = tf_mesh_axis_stride(part, axis);
    if (i < split) stride = tf_dim_binary(context, TF_DIM_MUL, stride, lanes_of_warp);
    if (tf_mesh_axis_extent(mesh, i) != tf_mesh_axis_extent(part, axis) || tf_mesh_axis_stride(mesh, i) != stride)
      return false;
  }
  return tf_mesh_level(mesh, 0).size == tf_mesh_level(warps, 0).size &&
         tf_mesh_level(mesh, 1).size == tf_mesh_level(lanes, 0).size;
}

static bool is_single(const tf_mesh *mesh, tf_level level) {
  return tf_mesh_level_count(mesh) == 1 && tf_mesh_level(mesh, 0).level == level;
}

static bool nested_provides(const tf_region *region, const tf_mesh *mesh) {
  bool over_warps = tf_mesh_level_count(mesh) == 2 && tf_mesh_level(mesh, 0).level == TF_LEVEL_WARP &&
                    tf_mesh_level(mesh, 1).level == TF_LEVEL_THREAD && !tf_mesh_is_slice(mesh);
  if (!over_warps) return false;
  for (const tf_scope *lanes = region->scope; lanes; lanes = lanes->outer) {
    if (!is_single(lanes->placement->mesh, TF_LEVEL_THREAD) || !lanes->placement->levels[0].lane) continue;
    for (const tf_scope *warps = lanes->outer; warps; warps = warps->outer)
      if (is_single(warps->placement->mesh, TF_LEVEL_WARP) &&
          concatenates(region->context, mesh, warps->placement->mesh, lanes->placement->mesh))
        return true;
  }
  return false;
}

static bool param_provides(const tf_stmt *function, const tf_mesh *mesh) {
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_type *type = function->function.params[i]->type;
    const tf_layout *layout = tf_type_is_tensor(type) ? tf_type_layout(type) : NULL;
    if (tf_layout_is_shard(layout) && tf_mesh_same_shape(tf_layout_mesh(layout), mesh)) return true;
  }
  return false;
}

const tf_placement *tf_region_placement(const tf_region *region, const tf_mesh *mesh, const tf_scope **scope) {
  const tf_scope *found = NULL;
  for (const tf_scope *s = region->scope; s && !found; s = s->outer)
    if (s->placement->mesh == mesh) found = s;
  for (const tf_scope *s = region->scope; s && !found; s = s->outer)
    if (tf_mesh_same_shape(s->placement->mesh, mesh)) found = s;
  if (scope) *scope = found;
  if (found) return found->placement;
  if (nested_provides(region, mesh) || param_provides(region->function, mesh))
    return tf_placement_of(region->context, mesh, false, NULL);
  return NULL;
}

bool tf_region_provides(const tf_region *region, const tf_mesh *mesh) {
  for (const tf_scope *s = region->scope; s; s = s->outer)
    if (tf_mesh_same_shape(s->placement->mesh, mesh)) return true;
  return nested_provides(region, mesh);
}

const tf_scope *tf_region_scope_of(const tf_region *region, const tf_expr *binding) {
  for (const tf_scope *s = region->scope; s; s = s->outer)
    if (s->stmt->mesh_scope.var == binding) return s;
  return NULL;
}
