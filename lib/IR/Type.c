/* Types: construction with normalisation, accessors.
 *
 * A tensor type's plain layout is kept only where it says something: C order of the shape is null. Strides of extent-1
 * axes are 0, whatever was written, since they never count. */
#include "IR/LayoutImpl.h"

#include <string.h>

static const tf_type *get_type(tf_context *context, const tf_type *header, const void *const *slots) {
  return tf_intern_with_slots(context, TF_INTERN_TYPE, header, sizeof *header, slots, header->count);
}

static bool is_one(const tf_dim *dim) {
  int64_t value;
  return tf_dim_is_static(dim, &value) && value == 1;
}

/* Whether one axis of a layout, `mode` of its leaves starting at `leaf`, walks leftmost-fastest in equal steps: its
 * total extent and its step. Leaves of extent 1 do not count; `step` is null if there is no other. */
static bool mode_is_strided(tf_context *context, const tf_layout *layout, unsigned leaf, unsigned mode,
                            const tf_dim **extent, const tf_dim **step) {
  const tf_dim *next = NULL;
  *extent = tf_dim_int(context, 1);
  *step = NULL;
  for (unsigned i = leaf; i < leaf + mode; i++) {
    const tf_dim *e = tf_tuple_leaf_at(layout->shape, i), *s = tf_tuple_leaf_at(layout->strides, i);
    if (is_one(e)) continue;
    if (next && s != next) return false;
    if (!*step) *step = s;
    next = tf_dim_product(context, s, e);
    *extent = tf_dim_product(context, *extent, e);
    if (!next || !*extent) return false;
  }
  return true;
}

static bool is_row_major(tf_context *context, unsigned rank, const tf_dim *const *shape, const tf_layout *layout) {
  if (layout->shape->count != rank) return false;
  unsigned leaf = layout->shape->leaf_count;
  const tf_dim *expected = tf_dim_int(context, 1), *extent, *step;
  for (unsigned axis = rank; axis-- > 0;) {
    unsigned mode = tf_tuple_element(layout->shape, axis)->leaf_count;
    leaf -= mode;
    if (!mode_is_strided(context, layout, leaf, mode, &extent, &step)) return false;
    if (extent != shape[axis] || (step && step != expected)) return false;
    expected = tf_dim_product(context, expected, shape[axis]);
    if (!expected) return false;
  }
  return true;
}

/* The layout with the strides of extent-1 leaves set to 0. */
static const tf_layout *without_idle_strides(tf_context *context, const tf_layout *layout) {
  unsigned count = layout->shape->leaf_count;
  const tf_dim **strides = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count);
  tf_tuple_leaves(layout->strides, strides);
  for (unsigned i = 0; i < count; i++)
    if (is_one(tf_tuple_leaf_at(layout->shape, i))) strides[i] = tf_dim_int(context, 0);
  return tf_layout_plain(context, layout->shape, tf_tuple_rebuild(context, layout->strides, strides));
}

static const tf_layout *normal_layout(tf_context *context, unsigned rank, const tf_dim *const *shape,
                                      const tf_layout *layout) {
  int64_t offset;
  if (layout && layout->kind == TF_LAYOUT_COMPOSED && !layout->inner && layout->outer &&
      tf_dim_is_static(layout->offset, &offset) && offset == 0)
    layout = layout->outer; /* the identity around a layout */
  if (!layout || layout->kind != TF_LAYOUT_PLAIN) return layout;
  if (!layout->strides) {
    const tf_tuple *strides = tf_tuple_row_major_strides(context, layout->shape);
    if (!strides) return layout;
    layout = tf_layout_plain(context, layout->shape, strides);
  }
  return is_row_major(context, rank, shape, layout) ? NULL : without_idle_strides(context, layout);
}

const tf_type *tf_type_tensor(tf_context *context, unsigned rank, const tf_dim *const *shape, tf_dtype dtype,
                              const tf_layout *layout, tf_storage storage) {
  for (unsigned i = 0; i < rank; i++)
    if (!shape[i]) return NULL;
  const tf_type header = {.kind = TF_TYPE_TENSOR,
                          .count = rank,
                          .dtype = (int32_t)dtype,
                          .storage = rank ? (int32_t)storage : TF_STORAGE_NONE,
                          .layout = rank ? normal_layout(context, rank, shape, layout) : NULL};
  return get_type(context, &header, (const void *const *)(const void *)shape);
}

const tf_type *tf_type_scalar(tf_context *context, tf_dtype dtype) {
  return tf_type_tensor(context, 0, NULL, dtype, NULL, TF_STORAGE_NONE);
}

static const tf_type *composite(tf_context *context, tf_type_kind kind, unsigned count, const tf_type *const *parts) {
  for (unsigned i = 0; i < count; i++)
    if (!parts[i]) return NULL;
  const tf_type header = {.kind = kind, .count = count, .storage = TF_STORAGE_NONE};
  return get_type(context, &header, (const void *const *)(const void *)parts);
}

const tf_type *tf_type_unit(tf_context *context) {
  return composite(context, TF_TYPE_UNIT, 0, NULL);
}

const tf_type *tf_type_mesh(tf_context *context) {
  return composite(context, TF_TYPE_MESH, 0, NULL);
}

const tf_type *tf_type_tuple(tf_context *context, unsigned count, const tf_type *const *elements) {
  return composite(context, TF_TYPE_TUPLE, count, elements);
}

const tf_type *tf_type_callable(tf_context *context, unsigned count, const tf_type *const *params) {
  return composite(context, TF_TYPE_CALLABLE, count, params);
}

tf_type_kind tf_type_get_kind(const tf_type *type) {
  return type ? (tf_type_kind)type->kind : TF_TYPE_UNIT;
}

bool tf_type_is_tensor(const tf_type *type) {
  return type && type->kind == TF_TYPE_TENSOR;
}

bool tf_type_is_scalar(const tf_type *type) {
  return tf_type_is_tensor(type) && type->count == 0;
}

unsigned tf_type_rank(const tf_type *type) {
  return tf_type_is_tensor(type) ? type->count : 0;
}

const tf_dim *tf_type_extent(const tf_type *type, unsigned axis) {
  return axis < tf_type_rank(type) ? type->slots[axis] : NULL;
}

const tf_dim *const *tf_type_shape(const tf_type *type) {
  return tf_type_is_tensor(type) ? (const tf_dim *const *)(const void *)type->slots : NULL;
}

tf_dtype tf_type_dtype(const tf_type *type) {
  return type ? (tf_dtype)type->dtype : (tf_dtype)0;
}

const tf_layout *tf_type_layout(const tf_type *type) {
  return type ? type->layout : NULL;
}

tf_storage tf_type_storage(const tf_type *type) {
  return type ? (tf_storage)type->storage : TF_STORAGE_NONE;
}

unsigned tf_type_element_count(const tf_type *type) {
  return type && (type->kind == TF_TYPE_TUPLE || type->kind == TF_TYPE_CALLABLE) ? type->count : 0;
}

const tf_type *tf_type_element(const tf_type *type, unsigned index) {
  return index < tf_type_element_count(type) ? type->slots[index] : NULL;
}

const tf_dim *tf_type_numel(tf_context *context, const tf_type *type) {
  if (!type) return NULL;
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    product = tf_dim_product(context, product, type->slots[i]);
  return product;
}
