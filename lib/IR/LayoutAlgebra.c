/* The algebra of layouts: size, cosize, evaluation, image, flattening, coalescing, injectivity, projection.
 * Compositions and inverses are in LayoutCompose.c.
 *
 * A flat index enumerates a domain leftmost-fastest. Arithmetic on static layouts happens in tf_flat. */
#include <stdlib.h>

#include "IR/FlatLayout.h"
#include "IR/LayoutImpl.h"

static const char *const not_static = "the layout is not a static one";

static void *fail(const char **reason, const char *why) {
  if (reason) *reason = why;
  return NULL;
}

const tf_dim *tf_layout_size(tf_context *context, const tf_layout *layout) {
  const tf_tuple *shape = tf_layout_shape(layout);
  return shape ? tf_tuple_product(context, shape) : NULL;
}

/* ---- Evaluation
 * ------------------------------------------------------------------------------------------------------------ */
static int64_t swizzle(const tf_layout *layout, int64_t offset) {
  if (layout->bits + layout->base > 62 || layout->shift > 62) return offset;
  int64_t mask = (((int64_t)1 << layout->bits) - 1) << layout->base;
  return offset ^ ((offset >> layout->shift) & mask);
}

static bool apply_plain(const tf_layout *layout, int64_t index, int64_t *offset) {
  int64_t sum = 0, product = 1, extent, stride;
  for (unsigned i = 0; i < layout->shape->leaf_count; i++) {
    if (!tf_dim_is_static(tf_tuple_leaf_at(layout->shape, i), &extent) || extent <= 0) return false;
    stride = product;
    if (layout->strides && !tf_dim_is_static(tf_tuple_leaf_at(layout->strides, i), &stride)) return false;
    if (__builtin_mul_overflow(stride, index % extent, &stride) || __builtin_add_overflow(sum, stride, &sum))
      return false;
    index /= extent;
    if (__builtin_mul_overflow(product, extent, &product)) return false;
  }
  *offset = sum;
  return index == 0;
}

bool tf_layout_apply(const tf_layout *layout, int64_t index, int64_t *offset) {
  int64_t outer, shift;
  if (!layout || index < 0) return false;
  switch ((tf_layout_kind)layout->kind) {
  case TF_LAYOUT_PLAIN:
    return apply_plain(layout, index, offset);
  case TF_LAYOUT_SWIZZLE:
    *offset = swizzle(layout, index);
    return true;
  case TF_LAYOUT_COMPOSED:
    if (!tf_layout_apply(layout->outer, index, &outer) || !tf_dim_is_static(layout->offset, &shift)) return false;
    if (__builtin_add_overflow(outer, shift, &outer)) return false;
    if (layout->inner) return tf_layout_apply(layout->inner, outer, offset);
    *offset = outer;
    return true;
  case TF_LAYOUT_SHARD:
    break;
  }
  return false;
}

/* ---- Image
 * -------------------------------------------------------------------------------------------------------------------
 */
#define MAX_ENUMERATED ((int64_t)1 << 24)

static int compare_offsets(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* All offsets, sorted, repetitions kept, in memory from malloc; null with *reason set. */
static int64_t *sorted_offsets(const tf_layout *layout, size_t *count, const char **reason) {
  const tf_tuple *shape = tf_layout_shape(layout);
  int64_t size = 1, extent;
  for (unsigned i = 0; shape && i < shape->leaf_count; i++) {
    if (!tf_dim_is_static(tf_tuple_leaf_at(shape, i), &extent) || extent < 0) return fail(reason, not_static);
    if (__builtin_mul_overflow(size, extent, &size) || size > MAX_ENUMERATED)
      return fail(reason, "the layout is too large to enumerate");
  }
  int64_t *offsets = shape ? malloc(((size_t)size + 1) * sizeof *offsets) : NULL;
  if (!offsets) return fail(reason, shape ? "out of memory" : not_static);
  for (int64_t i = 0; i < size; i++) {
    if (tf_layout_apply(layout, i, &offsets[i])) continue;
    free(offsets);
    return fail(reason, not_static);
  }
  qsort(offsets, (size_t)size, sizeof *offsets, compare_offsets);
  *count = (size_t)size;
  return offsets;
}

const int64_t *tf_layout_image(tf_context *context, const tf_layout *layout, size_t *count, const char **reason) {
  size_t total, kept = 0;
  int64_t *offsets = sorted_offsets(layout, &total, reason);
  if (!offsets) return NULL;
  for (size_t i = 0; i < total; i++)
    if (i == 0 || offsets[i] != offsets[kept - 1]) offsets[kept++] = offsets[i];
  const int64_t *image = tf_arena_copy(&context->arena, offsets, kept * sizeof *offsets);
  free(offsets);
  *count = kept;
  return image;
}

/* ---- Cosize
 * ------------------------------------------------------------------------------------------------------------------ */
/* 1 + sum of (extent - 1) * stride over the axes that lead upward. */
static const tf_dim *plain_cosize(tf_context *context, const tf_layout *layout) {
  const tf_tuple *strides = layout->strides ? layout->strides : tf_tuple_prefix_strides(context, layout->shape);
  const tf_dim *sum = tf_dim_int(context, 1);
  if (!strides) return NULL;
  for (unsigned i = 0; i < layout->shape->leaf_count; i++) {
    const tf_dim *extent = tf_tuple_leaf_at(layout->shape, i), *stride = tf_tuple_leaf_at(strides, i);
    tf_interval range = tf_interval_of(stride);
    if (extent == tf_dim_int(context, 0)) return extent;
    if (range.max <= 0) continue;
    if (range.min < 0) return NULL;
    sum = tf_dim_linear(context, 1, sum, 1, tf_dim_product(context, tf_dim_shift(context, extent, -1), stride));
  }
  return sum;
}

const tf_dim *tf_layout_cosize(tf_context *context, const tf_layout *layout) {
  if (!layout || layout->kind == TF_LAYOUT_SHARD || layout->kind == TF_LAYOUT_SWIZZLE) return NULL;
  if (layout->kind == TF_LAYOUT_PLAIN) return plain_cosize(context, layout);
  if (!layout->inner && layout->outer) {
    const tf_dim *outer = tf_layout_cosize(context, layout->outer);
    return outer == tf_dim_int(context, 0) ? outer : tf_dim_linear(context, 1, outer, 1, layout->offset);
  }
  size_t count;
  const int64_t *image = tf_layout_image(context, layout, &count, NULL);
  return image ? tf_dim_int(context, count ? image[count - 1] + 1 : 0) : NULL;
}

/* ---- Forms
 * -------------------------------------------------------------------------------------------------------------------
 */
static const tf_layout *map_outer(tf_context *context, const tf_layout *layout,
                                  const tf_layout *(*map)(tf_context *, const tf_layout *)) {
  const tf_layout *outer = layout->outer ? map(context, layout->outer) : NULL;
  return outer ? tf_layout_composed(context, layout->inner, layout->offset, outer) : NULL;
}

static const tf_tuple *flat_tuple(tf_context *context, const tf_tuple *tuple) {
  const tf_dim **leaves = TF_ARENA_ARRAY(&context->arena, const tf_dim *, tuple->leaf_count);
  tf_tuple_leaves(tuple, leaves);
  return tf_tuple_dims(context, tuple->leaf_count, leaves);
}

const tf_layout *tf_layout_flatten(tf_context *context, const tf_layout *layout) {
  if (!layout || layout->kind == TF_LAYOUT_SHARD || layout->kind == TF_LAYOUT_SWIZZLE) return layout;
  if (layout->kind == TF_LAYOUT_COMPOSED) return map_outer(context, layout, tf_layout_flatten);
  return tf_layout_plain(context, flat_tuple(context, layout->shape),
                         layout->strides ? flat_tuple(context, layout->strides) : NULL);
}

/* Drops extent-1 modes and joins a mode to the one before where it continues it; works on symbolic dims too. */
const tf_layout *tf_layout_coalesce(tf_context *context, const tf_layout *layout) {
  if (!layout || layout->kind == TF_LAYOUT_SHARD || layout->kind == TF_LAYOUT_SWIZZLE) return layout;
  if (layout->kind == TF_LAYOUT_COMPOSED) return map_outer(context, layout, tf_layout_coalesce);
  const tf_tuple *strides = layout->strides ? layout->strides : tf_tuple_prefix_strides(context, layout->shape);
  if (!strides) return NULL;
  unsigned count = layout->shape->leaf_count, kept = 0;
  const tf_dim **e = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count + 1);
  const tf_dim **s = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count + 1), *one = tf_dim_int(context, 1);
  for (unsigned i = 0; i < count; i++) {
    e[kept] = tf_tuple_leaf_at(layout->shape, i);
    s[kept] = tf_tuple_leaf_at(strides, i);
    if (e[kept] == one) continue;
    const tf_dim *next = kept ? tf_dim_product(context, e[kept - 1], s[kept - 1]) : NULL;
    const tf_dim *joined = next == s[kept] && kept ? tf_dim_product(context, e[kept - 1], e[kept]) : NULL;
    if (joined) {
      e[kept - 1] = joined;
    } else {
      kept++;
    }
  }
  if (kept == 0) {
    e[0] = one;
    s[kept++] = tf_dim_int(context, 0);
  }
  return tf_layout_plain(context, tf_tuple_dims(context, kept, e), tf_tuple_dims(context, kept, s));
}

/* ---- Injectivity and projection
 * ------------------------------------------------------------------------------------------------ */
/* x ^ ((x >> s) & mask) is a bijection unless s is 0, where it clears bits. */
static bool keeps_distinct(const tf_layout *inner) {
  return !inner || (inner->kind == TF_LAYOUT_SWIZZLE && (inner->shift > 0 || inner->bits == 0));
}

bool tf_layout_is_injective(const tf_layout *layout, const char **reason) {
  tf_flat flat;
  if (layout && layout->kind == TF_LAYOUT_COMPOSED && keeps_distinct(layout->inner))
    return tf_layout_is_injective(layout->outer, reason);
  if (layout && layout->kind == TF_LAYOUT_PLAIN)
    return tf_flat_load(layout, &flat, reason) && tf_flat_is_injective(&flat, reason);
  size_t count;
  int64_t *offsets = layout ? sorted_offsets(layout, &count, reason) : fail(reason, not_static);
  if (!offsets) return false;
  bool distinct = true;
  for (size_t i = 1; i < count && distinct; i++)
    distinct = offsets[i] != offsets[i - 1];
  free(offsets);
  if (!distinct) fail(reason, "two coordinates share an offset");
  return distinct;
}

bool tf_layout_is_inverse_projectable(const tf_layout *layout, const char **reason) {
  tf_flat flat;
  if (layout && layout->kind == TF_LAYOUT_COMPOSED && !layout->inner)
    return tf_layout_is_inverse_projectable(layout->outer, reason);
  if (!tf_flat_load(layout, &flat, reason)) return false;
  if (tf_flat_is_projectable(&flat)) return true;
  fail(reason, "the coordinates cannot be read off an offset by dividing by the strides in descending order");
  return false;
}

typedef struct projection {
  tf_flat sorted;
  unsigned position[TF_FLAT_MAX_MODES];
  int64_t least[TF_FLAT_MAX_MODES], most[TF_FLAT_MAX_MODES]; /* reach of modes 0..i */
  int64_t digit[TF_FLAT_MAX_MODES];                          /* by position */
} projection;

/* Finds digits of modes 0..i that make up `rest`, the largest mode first. */
static bool find_digits(projection *p, int i, int64_t rest) {
  if (i < 0) return rest == 0;
  if (rest < p->least[i] || rest > p->most[i]) return false;
  for (int64_t digit = 0; digit < p->sorted.extent[i]; digit++) {
    if (!find_digits(p, i - 1, rest - digit * p->sorted.stride[i])) continue;
    p->digit[p->position[i]] = digit;
    return true;
  }
  return false;
}

/* The digits where strides are superincreasing: division alone, no search. */
static bool divide_digits(projection *p, int64_t rest) {
  for (unsigned i = p->sorted.count; i-- > 0;) {
    int64_t digit = rest / p->sorted.stride[i];
    if (rest < 0 || digit >= p->sorted.extent[i]) return false;
    p->digit[p->position[i]] = digit;
    rest -= digit * p->sorted.stride[i];
  }
  return rest == 0;
}

static bool project_plain(const tf_layout *layout, int64_t offset, int64_t *index) {
  projection p = {.digit = {0}};
  tf_flat flat;
  if (!tf_flat_load(layout, &flat, NULL) || tf_flat_size(&flat) == 0) return false;
  p.sorted = flat;
  tf_flat_sort(&p.sorted, p.position);
  int64_t least = 0, most = 0, weight = 1;
  for (unsigned i = 0; i < p.sorted.count; i++) {
    int64_t span = (p.sorted.extent[i] - 1) * p.sorted.stride[i];
    p.least[i] = least += span < 0 ? span : 0;
    p.most[i] = most += span > 0 ? span : 0;
  }
  bool found =
      tf_flat_is_projectable(&flat) ? divide_digits(&p, offset) : find_digits(&p, (int)p.sorted.count - 1, offset);
  if (!found) return false;
  *index = 0;
  for (unsigned i = 0; i < flat.count; i++) {
    *index += p.digit[i] * weight;
    weight *= flat.extent[i];
  }
  return true;
}

bool tf_layout_project(const tf_layout *layout, int64_t offset, int64_t *index) {
  int64_t shift, found, size = 1, value;
  if (!layout || layout->kind == TF_LAYOUT_SHARD || layout->kind == TF_LAYOUT_SWIZZLE) return false;
  if (layout->kind == TF_LAYOUT_PLAIN) return project_plain(layout, offset, index);
  if (!layout->inner)
    return layout->outer && tf_dim_is_static(layout->offset, &shift) &&
           !__builtin_sub_overflow(offset, shift, &offset) && tf_layout_project(layout->outer, offset, index);
  const tf_tuple *shape = tf_layout_shape(layout);
  for (unsigned i = 0; shape && i < shape->leaf_count; i++)
    if (!tf_dim_is_static(tf_tuple_leaf_at(shape, i), &value) || __builtin_mul_overflow(size, value, &size))
      return false;
  for (found = 0; shape && found < size && found < MAX_ENUMERATED; found++) {
    if (!tf_layout_apply(layout, found, &value) || value != offset) continue;
    *index = found;
    return true;
  }
  return false;
}

bool tf_layout_contains(const tf_layout *layout, int64_t offset) {
  int64_t index;
  return tf_layout_project(layout, offset, &index);
}
