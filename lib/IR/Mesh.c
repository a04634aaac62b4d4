/* Meshes: construction, accessors, slices, levels and consistency.
 *
 * A mesh is consistent when each level's axes, sorted by stride, are the compact strides of a mixed-radix number: the
 * smallest is the size of everything below the level, each next one the product so far, and the last product is the
 * level's size. (A sum of arithmetic progressions is an interval in no other way.) That needs no enumeration and works
 * for symbolic sizes too. */
#include "IR/MeshLevels.h"

#include <string.h>

#include "IR/LayoutImpl.h"
#include "IR/Text/Lexer.h"
#include "IR/Ownership.h"

static bool fail(const char **reason, const char *why) {
  if (reason) *reason = why;
  return false;
}

/* The layout of a mesh with explicit strides; null if it is no mesh layout: nested, sharded, swizzled, inner layout. */
static const tf_layout *mesh_layout(tf_context *context, const tf_layout *layout) {
  if (!layout) return NULL;
  if (layout->kind == TF_LAYOUT_COMPOSED) {
    const tf_layout *outer = layout->inner ? NULL : mesh_layout(context, layout->outer);
    if (!outer || outer->kind != TF_LAYOUT_PLAIN) return NULL;
    return tf_layout_composed(context, NULL, layout->offset, outer);
  }
  if (layout->kind != TF_LAYOUT_PLAIN || !tf_tuple_is_flat(layout->shape)) return NULL;
  if (layout->strides) return layout;
  const tf_tuple *strides = tf_tuple_row_major_strides(context, layout->shape);
  return strides ? tf_layout_plain(context, layout->shape, strides) : NULL;
}

/* Different identifiers, or none. */
static bool are_axis_names(unsigned count, const char *const *names) {
  for (unsigned i = 0; i < count; i++) {
    if (!names[i] || !names[i][0]) continue;
    if (!tf_is_identifier(names[i])) return false;
    for (unsigned k = 0; k < i; k++)
      if (names[k] && strcmp(names[k], names[i]) == 0) return false;
  }
  return true;
}

const tf_mesh *tf_mesh_get(tf_context *context, unsigned level_count, const tf_topology *levels,
                           const tf_layout *layout, unsigned name_count, const char *const *names) {
  layout = mesh_layout(context, layout);
  if (!layout || level_count == 0 || level_count > TF_MESH_MAX_LEVELS) return NULL;
  tf_mesh header = {.level_count = level_count,
                    .axis_count = tf_layout_shape(layout)->leaf_count,
                    .layout = layout,
                    .offset = layout->offset ? layout->offset : tf_dim_int(context, 0)};
  if (names && (name_count > header.axis_count || !are_axis_names(name_count, names))) return NULL;
  const void **slots = TF_ARENA_ARRAY(&context->arena, const void *, level_count + header.axis_count);
  for (unsigned i = 0; i < level_count; i++) {
    if (!levels[i].size) return NULL;
    header.levels[i] = levels[i].level;
    slots[i] = levels[i].size;
  }
  for (unsigned i = 0; names && i < name_count; i++)
    if (names[i] && names[i][0]) slots[level_count + i] = tf_context_intern_cstr(context, names[i]);
  return tf_intern_with_slots(context, TF_INTERN_MESH, &header, sizeof header, slots, level_count + header.axis_count);
}

unsigned tf_mesh_level_count(const tf_mesh *mesh) {
  return mesh ? mesh->level_count : 0;
}

tf_topology tf_mesh_level(const tf_mesh *mesh, unsigned index) {
  if (index >= tf_mesh_level_count(mesh)) return (tf_topology){TF_LEVEL_COUNT, NULL};
  return (tf_topology){(tf_level)mesh->levels[index], mesh->slots[index]};
}

const tf_layout *tf_mesh_layout(const tf_mesh *mesh) {
  return mesh ? mesh->layout : NULL;
}

unsigned tf_mesh_axis_count(const tf_mesh *mesh) {
  return mesh ? mesh->axis_count : 0;
}

static const tf_layout *box_of(const tf_mesh *mesh) {
  return mesh->layout->kind == TF_LAYOUT_PLAIN ? mesh->layout : mesh->layout->outer;
}

const tf_dim *tf_mesh_axis_extent(const tf_mesh *mesh, unsigned axis) {
  return axis < tf_mesh_axis_count(mesh) ? tf_tuple_leaf_at(box_of(mesh)->shape, axis) : NULL;
}

const tf_dim *tf_mesh_axis_stride(const tf_mesh *mesh, unsigned axis) {
  return axis < tf_mesh_axis_count(mesh) ? tf_tuple_leaf_at(box_of(mesh)->strides, axis) : NULL;
}

const char *tf_mesh_axis_name(const tf_mesh *mesh, unsigned axis) {
  return axis < tf_mesh_axis_count(mesh) ? mesh->slots[mesh->level_count + axis] : NULL;
}

bool tf_mesh_axis_by_name(const tf_mesh *mesh, const char *name, unsigned *axis) {
  for (unsigned i = 0; name && i < mesh->axis_count; i++) {
    const char *own = tf_mesh_axis_name(mesh, i);
    if (!own || strcmp(own, name) != 0) continue;
    if (axis) *axis = i;
    return true;
  }
  return false;
}

bool tf_mesh_is_slice(const tf_mesh *mesh) {
  return mesh && mesh->layout->kind == TF_LAYOUT_COMPOSED;
}

const tf_dim *tf_mesh_slice_offset(const tf_mesh *mesh) {
  return mesh ? mesh->offset : NULL;
}

const tf_dim *tf_mesh_below(tf_context *context, const tf_mesh *mesh, unsigned level) {
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned i = level + 1; i < mesh->level_count; i++)
    product = tf_dim_product(context, product, mesh->slots[i]);
  return product;
}

const tf_dim *tf_mesh_domain(tf_context *context, const tf_mesh *mesh) {
  if (!mesh) return NULL;
  return tf_dim_product(context, mesh->slots[0], tf_mesh_below(context, mesh, 0));
}

const tf_mesh *tf_mesh_slice(tf_context *context, const tf_mesh *mesh, const int64_t *lo, const int64_t *hi,
                             const char **reason) {
  if (!mesh) return fail(reason, "there is no mesh"), NULL;
  int64_t extent;
  if (tf_mesh_is_slice(mesh)) return fail(reason, "a slice of a mesh cannot be sliced again"), NULL;
  const tf_dim *offset = tf_dim_int(context, 0);
  const tf_dim **extents = TF_ARENA_ARRAY(&context->arena, const tf_dim *, mesh->axis_count);
  for (unsigned i = 0; i < mesh->axis_count; i++) {
    if (!tf_dim_is_static(tf_mesh_axis_extent(mesh, i), &extent))
      return fail(reason, "a mesh with a dynamic extent cannot be sliced"), NULL;
    if (lo[i] >= hi[i]) return fail(reason, "the slice is empty"), NULL;
    if (lo[i] < 0 || hi[i] > extent) return fail(reason, "the slice reaches outside the mesh"), NULL;
    extents[i] = tf_dim_int(context, hi[i] - lo[i]);
    offset = tf_dim_linear(context, 1, offset, lo[i], tf_mesh_axis_stride(mesh, i));
    if (!offset) return fail(reason, "the slice's offset overflows"), NULL;
  }
  const tf_layout *box =
      tf_layout_plain(context, tf_tuple_dims(context, mesh->axis_count, extents), mesh->layout->strides);
  tf_topology levels[TF_MESH_MAX_LEVELS];
  for (unsigned i = 0; i < mesh->level_count; i++)
    levels[i] = tf_mesh_level(mesh, i);
  const char **names = TF_ARENA_ARRAY(&context->arena, const char *, mesh->axis_count);
  for (unsigned i = 0; i < mesh->axis_count; i++)
    names[i] = tf_mesh_axis_name(mesh, i);
  return tf_mesh_get(context, mesh->level_count, levels, tf_layout_composed(context, NULL, offset, box),
                     mesh->axis_count, names);
}

bool tf_mesh_same_shape(const tf_mesh *a, const tf_mesh *b) {
  if (!a || !b) return a == b;
  if (a->layout != b->layout || a->level_count != b->level_count) return false;
  for (unsigned i = 0; i < a->level_count; i++)
    if (a->levels[i] != b->levels[i] || a->slots[i] != b->slots[i]) return false;
  return true;
}

/* ---- Levels
 * ----------------------------------------------------------------------------------------------------------- */
static bool is_one(const tf_dim *dim) {
  int64_t value;
  return tf_dim_is_static(dim, &value) && value == 1;
}

/* Deals the axes of a full mesh to its levels; first[i] is the first axis of level i, first[level_count] the count. */
static bool deal_axes(tf_context *context, const tf_mesh *mesh, unsigned first[TF_MESH_MAX_LEVELS + 1],
                      const char **reason) {
  unsigned axis = 0;
  for (unsigned level = 0; level < mesh->level_count; level++) {
    const tf_dim *product = tf_dim_int(context, 1);
    first[level] = axis;
    while (axis < mesh->axis_count && (product != mesh->slots[level] || is_one(tf_mesh_axis_extent(mesh, axis))))
      product = tf_dim_product(context, product, tf_mesh_axis_extent(mesh, axis++));
    if (product != mesh->slots[level])
      return fail(reason, mesh->level_count == 1
                              ? "the layout's extents do not multiply to the topology's size"
                              : "the axes, taken left to right, do not multiply to each level's size");
  }
  first[mesh->level_count] = axis;
  return axis == mesh->axis_count || fail(reason, "the layout has more positions than the topologies");
}

/* The level whose range of strides, [below, below * size), holds the axis's stride. */
static bool level_by_stride(tf_context *context, const tf_mesh *mesh, unsigned axis, unsigned *level,
                            const char **reason) {
  int64_t stride, below;
  if (!tf_dim_is_static(tf_mesh_axis_stride(mesh, axis), &stride))
    return fail(reason, "a stride of the slice is dynamic");
  for (unsigned i = mesh->level_count; i-- > 0;) {
    const tf_dim *size = tf_mesh_below(context, mesh, i);
    if (!tf_dim_is_static(size, &below) || stride < below) break;
    *level = i;
  }
  return true;
}

bool tf_mesh_axis_level(tf_context *context, const tf_mesh *mesh, unsigned axis, unsigned *level, const tf_dim **below,
                        const char **reason) {
  unsigned first[TF_MESH_MAX_LEVELS + 1], found = mesh->level_count - 1;
  if (axis >= mesh->axis_count) return fail(reason, "the mesh has no such axis");
  if (tf_mesh_is_slice(mesh)) {
    if (!level_by_stride(context, mesh, axis, &found, reason)) return false;
  } else {
    if (!deal_axes(context, mesh, first, reason)) return false;
    while (first[found] > axis)
      found--;
  }
  *level = found;
  if (below) *below = tf_mesh_below(context, mesh, found);
  return true;
}

/* ---- Consistency
 * -------------------------------------------------------------------------------------------------------- */
/* Whether axes [first, end) count from `below` to below*size in compact steps. Each round finds the next stride. */
static bool level_is_compact(tf_context *context, const tf_mesh *mesh, unsigned first, unsigned end,
                             const tf_dim *below) {
  const tf_dim *expected = below;
  unsigned pending = 0;
  for (unsigned i = first; i < end; i++)
    pending += !is_one(tf_mesh_axis_extent(mesh, i));
  while (pending > 0) {
    unsigned i = first;
    while (i < end && (is_one(tf_mesh_axis_extent(mesh, i)) || tf_mesh_axis_stride(mesh, i) != expected))
      i++;
    if (i == end) return false;
    expected = tf_dim_product(context, expected, tf_mesh_axis_extent(mesh, i));
    pending--;
  }
  return true;
}

static bool full_is_consistent(tf_context *context, const tf_mesh *mesh, const char **reason) {
  unsigned first[TF_MESH_MAX_LEVELS + 1];
  if (!deal_axes(context, mesh, first, reason)) return false;
  for (unsigned level = 0; level < mesh->level_count; level++) {
    const tf_dim *below = tf_mesh_below(context, mesh, level);
    if (!below || !level_is_compact(context, mesh, first[level], first[level + 1], below))
      return fail(reason, mesh->level_count == 1
                              ? "the layout is not a bijection onto the topology's positions"
                              : "an axis's strides do not stay inside its level, or do not cover it exactly once");
  }
  return true;
}

/* A slice's parent is not recorded. What every slice of a consistent mesh satisfies: static, its strides, sorted, each
 * exceed what the smaller ones reach together, and its last position lies inside the domain. */
static bool slice_is_consistent(tf_context *context, const tf_mesh *mesh, const char **reason) {
  int64_t offset, extent, stride, domain, reach = 0;
  const tf_dim *size = tf_mesh_domain(context, mesh);
  if (!tf_dim_is_static(mesh->offset, &offset) || !size || !tf_dim_is_static(size, &domain))
    return fail(reason, "a slice of a mesh must be static");
  for (unsigned i = 0; i < mesh->axis_count; i++) {
    bool is_static = tf_dim_is_static(tf_mesh_axis_extent(mesh, i), &extent);
    if (!is_static || !tf_dim_is_static(tf_mesh_axis_stride(mesh, i), &stride) || extent < 1 || stride < 0)
      return fail(reason, "a slice of a mesh must be static");
    if (__builtin_mul_overflow(stride, extent - 1, &stride) || __builtin_add_overflow(reach, stride, &reach))
      return fail(reason, "the slice reaches outside the mesh");
  }
  if (offset < 0 || offset >= domain || reach >= domain - offset)
    return fail(reason, "the slice reaches outside the mesh");
  return tf_layout_is_injective(box_of(mesh), NULL) || fail(reason, "the slice names a position twice");
}

bool tf_mesh_is_consistent(tf_context *context, const tf_mesh *mesh, const char **reason) {
  if (!mesh) return fail(reason, "there is no mesh");
  for (unsigned i = 1; i < mesh->level_count; i++)
    if (mesh->levels[i] <= mesh->levels[i - 1]) return fail(reason, "the levels do not go from coarse to fine");
  return tf_mesh_is_slice(mesh) ? slice_is_consistent(context, mesh, reason)
                                : full_is_consistent(context, mesh, reason);
}

bool tf_mesh_coordinates(const tf_mesh *mesh, int64_t id, int64_t *coordinates) {
  int64_t offset = 0, extent, stride, last = INT64_MAX;
  if (!tf_dim_is_static(mesh->offset, &offset)) return false;
  int64_t rest = id - offset;
  for (unsigned i = 0; i < mesh->axis_count; i++)
    coordinates[i] = 0;
  for (;;) { /* strides in descending order, found by scanning: meshes have a handful of axes */
    unsigned best = mesh->axis_count;
    int64_t best_stride = 0, best_extent = 1;
    for (unsigned i = 0; i < mesh->axis_count; i++) {
      if (!tf_dim_is_static(tf_mesh_axis_extent(mesh, i), &extent)) return false;
      if (!tf_dim_is_static(tf_mesh_axis_stride(mesh, i), &stride)) return false;
      if (extent == 1 || stride >= last || stride <= best_stride) continue;
      best = i, best_stride = stride, best_extent = extent;
    }
    if (best == mesh->axis_count) return rest == 0;
    coordinates[best] = rest / best_stride;
    rest %= best_stride;
    if (rest < 0 || coordinates[best] < 0 || coordinates[best] >= best_extent) return false;
    last = best_stride;
  }
}
