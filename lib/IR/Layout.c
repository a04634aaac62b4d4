/* Layouts: construction and accessors. The algebra is in LayoutAlgebra.c, ownership in Ownership.c. */
#include "IR/LayoutImpl.h"

#include <string.h>

static const tf_layout *intern_layout(tf_context *context, const tf_layout *key) {
  return tf_context_intern_bytes(context, TF_INTERN_LAYOUT, key, sizeof *key);
}

/* A bare extent or stride is a list of one. */
static const tf_tuple *as_list(tf_context *context, const tf_tuple *tuple) {
  return tuple && tuple->is_leaf ? tf_tuple_list(context, 1, &tuple) : tuple;
}

const tf_layout *tf_layout_plain(tf_context *context, const tf_tuple *shape, const tf_tuple *strides) {
  if (!shape) return NULL;
  shape = as_list(context, shape);
  strides = as_list(context, strides);
  if (strides && !tf_tuple_is_congruent(shape, strides)) return NULL;
  const tf_layout key = {.kind = TF_LAYOUT_PLAIN, .shape = shape, .strides = strides};
  return intern_layout(context, &key);
}

const tf_layout *tf_layout_swizzle(tf_context *context, unsigned bits, unsigned base, unsigned shift) {
  const tf_layout key = {.kind = TF_LAYOUT_SWIZZLE, .bits = bits, .base = base, .shift = shift};
  return intern_layout(context, &key);
}

const tf_layout *tf_layout_composed(tf_context *context, const tf_layout *inner, const tf_dim *offset,
                                    const tf_layout *outer) {
  const tf_layout key = {
      .kind = TF_LAYOUT_COMPOSED, .inner = inner, .outer = outer, .offset = offset ? offset : tf_dim_int(context, 0)};
  return intern_layout(context, &key);
}

const tf_layout *tf_layout_shard(tf_context *context, const tf_layout *layout, unsigned attr_count,
                                 const tf_shard_attr *attrs, const tf_mesh *mesh) {
  if (!layout || !mesh) return NULL;
  size_t size = sizeof(tf_layout) + attr_count * sizeof *attrs;
  tf_layout *key = tf_arena_alloc(&context->arena, size);
  key->kind = TF_LAYOUT_SHARD;
  key->outer = layout;
  key->mesh = mesh;
  key->attr_count = attr_count;
  for (unsigned i = 0; i < attr_count; i++) {
    key->attrs[i].kind = attrs[i].kind;
    if (attrs[i].kind == TF_SHARD_SPLIT) key->attrs[i].axis = attrs[i].axis;
    if (attrs[i].kind == TF_SHARD_PARTIAL) key->attrs[i].reduce = attrs[i].reduce;
  }
  return tf_context_intern_bytes(context, TF_INTERN_LAYOUT, key, size);
}

tf_layout_kind tf_layout_get_kind(const tf_layout *layout) {
  return layout ? (tf_layout_kind)layout->kind : TF_LAYOUT_PLAIN;
}

bool tf_layout_is_shard(const tf_layout *layout) {
  return layout && layout->kind == TF_LAYOUT_SHARD;
}

const tf_tuple *tf_layout_shape(const tf_layout *layout) {
  while (layout && layout->kind != TF_LAYOUT_PLAIN)
    layout = layout->outer;
  return layout ? layout->shape : NULL;
}

const tf_tuple *tf_layout_strides(const tf_layout *layout) {
  return layout ? layout->strides : NULL;
}

void tf_layout_swizzle_bits(const tf_layout *layout, unsigned *bits, unsigned *base, unsigned *shift) {
  *bits = layout ? layout->bits : 0;
  *base = layout ? layout->base : 0;
  *shift = layout ? layout->shift : 0;
}

const tf_layout *tf_layout_inner(const tf_layout *layout) {
  return layout ? layout->inner : NULL;
}

const tf_dim *tf_layout_offset(const tf_layout *layout) {
  return layout ? layout->offset : NULL;
}

const tf_layout *tf_layout_outer(const tf_layout *layout) {
  return layout ? layout->outer : NULL;
}

unsigned tf_layout_attr_count(const tf_layout *layout) {
  return layout ? layout->attr_count : 0;
}

tf_shard_attr tf_layout_attr(const tf_layout *layout, unsigned index) {
  return layout && index < layout->attr_count ? layout->attrs[index]
                                              : (tf_shard_attr){TF_SHARD_BROADCAST, 0, (tf_reduce_kind)0};
}

const tf_mesh *tf_layout_mesh(const tf_layout *layout) {
  return layout ? layout->mesh : NULL;
}

const tf_layout *tf_layout_row_major(tf_context *context, unsigned rank, const tf_dim *const *shape) {
  const tf_tuple *extents = tf_tuple_dims(context, rank, shape);
  const tf_tuple *strides = extents ? tf_tuple_row_major_strides(context, extents) : NULL;
  return strides ? tf_layout_plain(context, extents, strides) : NULL;
}
