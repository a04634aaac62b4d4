/* Dims, layouts and meshes with DimVars replaced: what a callee's types mean at a call. */
#include "Verify/Calls.h"

#include <string.h>

#include "IR/DimImpl.h"

static const tf_dim *value_of(void *user, const char *name) {
  const tf_dim_bindings *bindings = user;
  for (unsigned i = 0; i < bindings->count; i++)
    if (strcmp(bindings->items[i].name, name) == 0) return bindings->items[i].value;
  return NULL;
}

const tf_dim *tf_dim_bound(tf_context *context, const tf_dim *dim, const tf_dim_bindings *bindings) {
  tf_dim_bindings copy = *bindings;
  return tf_dim_substitute(context, dim, value_of, &copy);
}

static const tf_tuple *substitute_tuple(tf_context *context, const tf_tuple *tuple, const tf_dim_bindings *bindings) {
  if (!tuple) return NULL;
  if (tf_tuple_is_leaf(tuple)) {
    const tf_dim *dim = tf_dim_bound(context, tf_tuple_dim(tuple), bindings);
    return dim ? tf_tuple_leaf(context, dim) : NULL;
  }
  unsigned count = tf_tuple_count(tuple);
  const tf_tuple **elements = TF_ARENA_ARRAY(&context->arena, const tf_tuple *, count);
  for (unsigned i = 0; i < count; i++) {
    elements[i] = substitute_tuple(context, tf_tuple_element(tuple, i), bindings);
    if (!elements[i]) return NULL;
  }
  return tf_tuple_list(context, count, elements);
}

static const tf_mesh *substitute_mesh(tf_context *context, const tf_mesh *mesh, const tf_dim_bindings *bindings) {
  unsigned levels = tf_mesh_level_count(mesh), axes = tf_mesh_axis_count(mesh);
  tf_topology *topology = TF_ARENA_ARRAY(&context->arena, tf_topology, levels);
  const char **names = TF_ARENA_ARRAY(&context->arena, const char *, axes);
  for (unsigned i = 0; i < levels; i++) {
    topology[i] = tf_mesh_level(mesh, i);
    topology[i].size = tf_dim_bound(context, topology[i].size, bindings);
    if (!topology[i].size) return NULL;
  }
  for (unsigned i = 0; i < axes; i++)
    names[i] = tf_mesh_axis_name(mesh, i);
  const tf_layout *layout = tf_layout_bound(context, tf_mesh_layout(mesh), bindings);
  return layout ? tf_mesh_get(context, levels, topology, layout, axes, names) : NULL;
}

static const tf_layout *substitute_shard(tf_context *context, const tf_layout *layout,
                                         const tf_dim_bindings *bindings) {
  unsigned count = tf_layout_attr_count(layout);
  tf_shard_attr *attrs = TF_ARENA_ARRAY(&context->arena, tf_shard_attr, count);
  for (unsigned i = 0; i < count; i++)
    attrs[i] = tf_layout_attr(layout, i);
  const tf_layout *inner = tf_layout_bound(context, tf_layout_outer(layout), bindings);
  const tf_mesh *mesh = substitute_mesh(context, tf_layout_mesh(layout), bindings);
  return inner && mesh ? tf_layout_shard(context, inner, count, attrs, mesh) : NULL;
}

const tf_layout *tf_layout_bound(tf_context *context, const tf_layout *layout, const tf_dim_bindings *bindings) {
  if (!layout) return NULL;
  switch (tf_layout_get_kind(layout)) {
  case TF_LAYOUT_PLAIN: {
    const tf_tuple *shape = substitute_tuple(context, tf_layout_shape(layout), bindings);
    const tf_tuple *strides = substitute_tuple(context, tf_layout_strides(layout), bindings);
    return shape ? tf_layout_plain(context, shape, strides) : NULL;
  }
  case TF_LAYOUT_COMPOSED: {
    const tf_dim *offset = tf_dim_bound(context, tf_layout_offset(layout), bindings);
    const tf_layout *outer = tf_layout_bound(context, tf_layout_outer(layout), bindings);
    return offset && outer ? tf_layout_composed(context, tf_layout_inner(layout), offset, outer) : NULL;
  }
  case TF_LAYOUT_SHARD:
    return substitute_shard(context, layout, bindings);
  case TF_LAYOUT_SWIZZLE:
    break;
  }
  return layout;
}

bool tf_dim_is_scaled_var(tf_context *context, const tf_dim *dim, const char **name, int64_t *lo, int64_t *hi,
                          int64_t *scale) {
  if (dim->constant != 0 || dim->term_count != 1 || dim->terms[0].coefficient <= 0) return false;
  const tf_monomial *monomial = dim->terms[0].monomial;
  if (monomial->degree != 1 || monomial->atoms[0]->kind != TF_ATOM_VAR) return false;
  const tf_dim *var = tf_dim_of_atom(context, monomial->atoms[0]);
  int64_t max;
  *name = monomial->atoms[0]->name;
  *scale = dim->terms[0].coefficient;
  tf_dim_range(var, lo, &max);
  *hi = max + 1;
  return true;
}
