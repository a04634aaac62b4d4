/* Nested tuples of dims, interned. Each keeps its leaves beside its elements, so that readers of a flattened shape need
 * neither recursion nor memory. */
#include "IR/LayoutImpl.h"

#include <string.h>

const void *tf_intern_with_slots(tf_context *context, tf_intern_class kind, const void *header, size_t header_size,
                                 const void *const *slots, size_t slot_count) {
  char small[512];
  size_t size = header_size + slot_count * sizeof *slots;
  char *key = size <= sizeof small ? small : tf_arena_alloc(&context->arena, size);
  memcpy(key, header, header_size);
  if (slot_count) memcpy(key + header_size, slots, slot_count * sizeof *slots);
  return tf_context_intern_bytes(context, kind, key, size);
}

const tf_tuple *tf_tuple_leaf(tf_context *context, const tf_dim *dim) {
  if (!dim) return NULL;
  const tf_tuple header = {.is_leaf = 1, .depth = 0, .count = 1, .leaf_count = 1};
  const void *slots[] = {dim, dim};
  return tf_intern_with_slots(context, TF_INTERN_TUPLE, &header, sizeof header, slots, 2);
}

static const tf_dim *const *leaf_slots(const tf_tuple *tuple) {
  return (const tf_dim *const *)(const void *)(tuple->slots + tuple->count);
}

const tf_tuple *tf_tuple_list(tf_context *context, unsigned count, const tf_tuple *const *elements) {
  tf_tuple header = {.is_leaf = 0, .depth = 0, .count = count, .leaf_count = 0};
  for (unsigned i = 0; i < count; i++) {
    if (!elements[i]) return NULL;
    header.leaf_count += elements[i]->leaf_count;
    if (elements[i]->depth >= header.depth) header.depth = elements[i]->depth + 1;
  }
  if (header.depth > TF_TUPLE_MAX_DEPTH) return NULL;
  size_t slot_count = (size_t)count + header.leaf_count, next = count;
  const void *small[64];
  const void **slots = slot_count <= 64 ? small : TF_ARENA_ARRAY(&context->arena, const void *, slot_count);
  for (unsigned i = 0; i < count; i++) {
    slots[i] = elements[i];
    memcpy(slots + next, leaf_slots(elements[i]), elements[i]->leaf_count * sizeof *slots);
    next += elements[i]->leaf_count;
  }
  return tf_intern_with_slots(context, TF_INTERN_TUPLE, &header, sizeof header, slots, slot_count);
}

const tf_tuple *tf_tuple_dims(tf_context *context, unsigned count, const tf_dim *const *values) {
  const tf_tuple *small[32];
  const tf_tuple **elements = count <= 32 ? small : TF_ARENA_ARRAY(&context->arena, const tf_tuple *, count);
  for (unsigned i = 0; i < count; i++)
    elements[i] = tf_tuple_leaf(context, values[i]);
  return tf_tuple_list(context, count, elements);
}

const tf_tuple *tf_tuple_ints(tf_context *context, unsigned count, const int64_t *values) {
  const tf_tuple *small[32];
  const tf_tuple **elements = count <= 32 ? small : TF_ARENA_ARRAY(&context->arena, const tf_tuple *, count);
  for (unsigned i = 0; i < count; i++)
    elements[i] = tf_tuple_leaf(context, tf_dim_int(context, values[i]));
  return tf_tuple_list(context, count, elements);
}

bool tf_tuple_is_leaf(const tf_tuple *tuple) {
  return tuple && tuple->is_leaf;
}

const tf_dim *tf_tuple_dim(const tf_tuple *leaf) {
  return leaf && leaf->is_leaf ? leaf->slots[0] : NULL;
}

unsigned tf_tuple_count(const tf_tuple *tuple) {
  return tuple ? tuple->count : 0;
}

const tf_tuple *tf_tuple_element(const tf_tuple *tuple, unsigned index) {
  if (index >= tf_tuple_count(tuple)) return NULL;
  return tuple->is_leaf ? tuple : tuple->slots[index];
}

unsigned tf_tuple_leaf_count(const tf_tuple *tuple) {
  return tuple ? tuple->leaf_count : 0;
}

void tf_tuple_leaves(const tf_tuple *tuple, const tf_dim **out) {
  if (!tuple) return;
  memcpy(out, leaf_slots(tuple), tuple->leaf_count * sizeof *out);
}

const tf_dim *tf_tuple_leaf_at(const tf_tuple *tuple, unsigned index) {
  return leaf_slots(tuple)[index];
}

const tf_dim *tf_tuple_product(tf_context *context, const tf_tuple *tuple) {
  if (!tuple) return NULL;
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned i = 0; i < tuple->leaf_count; i++)
    product = tf_dim_product(context, product, leaf_slots(tuple)[i]);
  return product;
}

bool tf_tuple_is_flat(const tf_tuple *tuple) {
  return tuple->depth <= 1 && (tuple->is_leaf || tuple->count == tuple->leaf_count);
}

bool tf_tuple_is_congruent(const tf_tuple *a, const tf_tuple *b) {
  if (a->is_leaf || b->is_leaf) return a->is_leaf && b->is_leaf;
  if (a->count != b->count) return false;
  for (unsigned i = 0; i < a->count; i++)
    if (!tf_tuple_is_congruent(a->slots[i], b->slots[i])) return false;
  return true;
}

static const tf_tuple *rebuild(tf_context *context, const tf_tuple *like, const tf_dim *const **leaves) {
  if (like->is_leaf) return tf_tuple_leaf(context, *(*leaves)++);
  const tf_tuple *small[32];
  const tf_tuple **elements =
      like->count <= 32 ? small : TF_ARENA_ARRAY(&context->arena, const tf_tuple *, like->count);
  for (unsigned i = 0; i < like->count; i++)
    elements[i] = rebuild(context, like->slots[i], leaves);
  return tf_tuple_list(context, like->count, elements);
}

const tf_tuple *tf_tuple_rebuild(tf_context *context, const tf_tuple *like, const tf_dim *const *leaves) {
  return rebuild(context, like, &leaves);
}

/* Strides of the leaves, each the product of the extents before it (`forward`) or after it. */
static const tf_tuple *product_strides(tf_context *context, const tf_tuple *shape, bool forward) {
  unsigned count = shape->leaf_count;
  const tf_dim **strides = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count);
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned n = 0; n < count; n++) {
    unsigned i = forward ? n : count - 1 - n;
    if (!product) return NULL;
    strides[i] = product;
    product = tf_dim_product(context, product, leaf_slots(shape)[i]);
  }
  return tf_tuple_rebuild(context, shape, strides);
}

const tf_tuple *tf_tuple_row_major_strides(tf_context *context, const tf_tuple *shape) {
  return product_strides(context, shape, false);
}

const tf_tuple *tf_tuple_prefix_strides(tf_context *context, const tf_tuple *shape) {
  return product_strides(context, shape, true);
}
