/* Composition, complement, inverses and the product of static layouts.
 *
 *   composition(A, B)(i)         A(B(i))
 *   complement(A, n)             the steps that A leaves out: (A, complement) is a bijection onto a range of at least n
 *   left_inverse(A)(A(i))        i
 *   A(right_inverse(A)(k))       k, for as long as A's offsets count 0, 1, 2, …
 *   product(A, B)                copies of A, laid out by B over A's complement
 *
 * Layouts are sums of one term per mode, so each mode of B may be composed by itself only where the digits of A's modes
 * never carry; that is checked, and such a composition is refused as undefined. */
#include <string.h>

#include "IR/FlatLayout.h"
#include "IR/LayoutImpl.h"

static void *fail(const char **reason, const char *why) {
  if (reason) *reason = why;
  return NULL;
}

static const char *const too_many_modes = "the result has more than 64 modes";

/* ---- Composition ---------------------------------------------------------------------------------------------------------- */
typedef struct composer {
  tf_context *context;
  const char **reason;
  tf_flat a;                        /* coalesced */
  int64_t reach[TF_FLAT_MAX_MODES]; /* what all of b's modes together add to each digit of a, at most */
} composer;

/* Appends digit steps 0, step, …, step*(count-1) of a's mode. */
static bool take_digit(composer *c, tf_flat *out, unsigned mode, int64_t count, int64_t step) {
  c->reach[mode] += (count - 1) * step;
  if (c->reach[mode] >= c->a.extent[mode]) {
    fail(c->reason, "the modes of the right-hand layout carry into one another in the left-hand one");
    return false;
  }
  if (tf_flat_push(out, count, step * c->a.stride[mode])) return true;
  fail(c->reason, too_many_modes);
  return false;
}

/* One mode (extent : stride) of b as modes of the result. */
static bool compose_mode(composer *c, int64_t extent, int64_t stride, tf_flat *out) {
  out->count = 0;
  if (extent <= 1 || stride == 0) return tf_flat_push(out, extent, 0);
  for (unsigned i = 0; i < c->a.count && extent > 1; i++) {
    int64_t size = c->a.extent[i];
    if (stride < size && extent - 1 <= (size - 1) / stride) return take_digit(c, out, i, extent, stride);
    if (stride % size == 0) {
      stride /= size;
      continue;
    }
    int64_t part = stride < size && size % stride == 0 ? size / stride : 0;
    if (part == 0 || extent % part != 0)
      return fail(c->reason, "a mode of the right-hand layout does not divide the modes of the left-hand one"), false;
    if (!take_digit(c, out, i, part, stride)) return false;
    extent /= part;
    stride = 1;
  }
  return extent == 1 || (fail(c->reason, "the right-hand layout reaches outside the left-hand one"), false);
}

/* Replaces each leaf of b by the tuple of its modes: the result keeps b's structure. */
static bool compose_tuple(composer *c, const tf_tuple *shape, const tf_flat *b, unsigned *leaf,
                          const tf_tuple **extents, const tf_tuple **strides) {
  if (shape->is_leaf) {
    tf_flat modes;
    unsigned i = (*leaf)++;
    if (!compose_mode(c, b->extent[i], b->stride[i], &modes)) return false;
    *extents = tf_tuple_ints(c->context, modes.count, modes.extent);
    *strides = tf_tuple_ints(c->context, modes.count, modes.stride);
    if (modes.count != 1) return true;
    *extents = tf_tuple_element(*extents, 0);
    *strides = tf_tuple_element(*strides, 0);
    return true;
  }
  const tf_tuple **e = TF_ARENA_ARRAY(&c->context->arena, const tf_tuple *, shape->count);
  const tf_tuple **s = TF_ARENA_ARRAY(&c->context->arena, const tf_tuple *, shape->count);
  for (unsigned i = 0; i < shape->count; i++)
    if (!compose_tuple(c, tf_tuple_element(shape, i), b, leaf, &e[i], &s[i])) return false;
  *extents = tf_tuple_list(c->context, shape->count, e);
  *strides = tf_tuple_list(c->context, shape->count, s);
  return *extents && *strides;
}

static const tf_layout *compose_plain(tf_context *context, const tf_layout *a, const tf_layout *b,
                                      const char **reason) {
  composer c = {.context = context, .reason = reason};
  tf_flat flat_b;
  unsigned leaf = 0;
  const tf_tuple *extents, *strides;
  if (!tf_flat_load(a, &c.a, reason) || !tf_flat_load(b, &flat_b, reason)) return NULL;
  if (tf_flat_size(&c.a) == 0 || tf_flat_size(&flat_b) == 0) return fail(reason, "a layout is empty");
  for (unsigned i = 0; i < flat_b.count; i++)
    if (flat_b.stride[i] < 0) return fail(reason, "a stride of the right-hand layout is negative");
  tf_flat_coalesce(&c.a);
  if (!compose_tuple(&c, b->shape, &flat_b, &leaf, &extents, &strides)) return NULL;
  return tf_layout_plain(context, extents, strides);
}

const tf_layout *tf_layout_composition(tf_context *context, const tf_layout *a, const tf_layout *b,
                                       const char **reason) {
  if (!a || !b || b->kind != TF_LAYOUT_PLAIN) return fail(reason, "the right-hand layout is not a plain one");
  if (a->kind == TF_LAYOUT_PLAIN) return compose_plain(context, a, b, reason);
  if (a->kind == TF_LAYOUT_SWIZZLE) return tf_layout_composed(context, a, NULL, b);
  if (a->kind != TF_LAYOUT_COMPOSED) return fail(reason, "a ShardLayout does not compose");
  const tf_layout *outer = tf_layout_composition(context, a->outer, b, reason);
  return outer ? tf_layout_composed(context, a->inner, a->offset, outer) : NULL;
}

/* ---- Chains --------------------------------------------------------------------------------------------------------------- */
/* A layout's modes by ascending stride, and where each stands in the domain (the product of the extents before it). */
typedef struct chain {
  tf_flat sorted;
  int64_t weight[TF_FLAT_MAX_MODES];
  int64_t size;
} chain;

static bool load_chain(const tf_layout *layout, chain *out, const char **reason) {
  unsigned position[TF_FLAT_MAX_MODES];
  int64_t weights[TF_FLAT_MAX_MODES], product = 1;
  if (!tf_flat_load(layout, &out->sorted, reason)) return false;
  out->size = tf_flat_size(&out->sorted);
  if (out->size == 0) return fail(reason, "the layout is empty"), false;
  for (unsigned i = 0; i < out->sorted.count; i++) {
    if (out->sorted.stride[i] < 0 && out->sorted.extent[i] > 1) return fail(reason, "a stride is negative"), false;
    weights[i] = product;
    product *= out->sorted.extent[i];
  }
  tf_flat_sort(&out->sorted, position);
  for (unsigned i = 0; i < out->sorted.count; i++)
    out->weight[i] = weights[position[i]];
  return true;
}

/* Checks that each stride is a multiple of the extent of everything below it; `gap` receives the quotient. */
static bool gap_below(const chain *c, unsigned i, int64_t covered, int64_t *gap, const char **reason) {
  if (c->sorted.stride[i] == 0) return fail(reason, "a stride is 0 on an axis longer than 1"), false;
  *gap = c->sorted.stride[i] / covered;
  if (*gap > 0 && c->sorted.stride[i] % covered == 0) return true;
  return fail(reason, "a stride is not a multiple of what the smaller strides cover"), false;
}

static const tf_layout *finish(tf_context *context, tf_flat *flat) {
  tf_flat_coalesce(flat);
  return tf_flat_store(context, flat);
}

const tf_layout *tf_layout_complement(tf_context *context, const tf_layout *layout, int64_t cosize,
                                      const char **reason) {
  chain c;
  tf_flat out = {.count = 0};
  int64_t covered = 1, gap;
  if (!load_chain(layout, &c, reason)) return NULL;
  if (cosize < 1) return fail(reason, "the range of a complement is empty");
  for (unsigned i = 0; i < c.sorted.count; i++) {
    if (!gap_below(&c, i, covered, &gap, reason)) return NULL;
    if (!tf_flat_push(&out, gap, covered)) return fail(reason, too_many_modes);
    covered = c.sorted.stride[i] * c.sorted.extent[i];
  }
  int64_t rest = cosize / covered + (cosize % covered != 0);
  if (!tf_flat_push(&out, rest, covered)) return fail(reason, too_many_modes);
  return finish(context, &out);
}

const tf_layout *tf_layout_left_inverse(tf_context *context, const tf_layout *layout, const char **reason) {
  chain c;
  tf_flat out = {.count = 0};
  int64_t covered = 1, gap;
  if (!load_chain(layout, &c, reason)) return NULL;
  int64_t beyond = c.size; /* indices of offsets that the layout skips count on after its own */
  for (unsigned i = 0; i < c.sorted.count; i++) {
    if (!gap_below(&c, i, covered, &gap, reason)) return NULL;
    if (gap > 1 && !tf_flat_push(&out, gap, beyond)) return fail(reason, too_many_modes);
    if (!tf_flat_push(&out, c.sorted.extent[i], c.weight[i])) return fail(reason, too_many_modes);
    if (__builtin_mul_overflow(beyond, gap, &beyond)) return fail(reason, "the inverse is too large");
    covered = c.sorted.stride[i] * c.sorted.extent[i];
  }
  return finish(context, &out);
}

const tf_layout *tf_layout_right_inverse(tf_context *context, const tf_layout *layout, const char **reason) {
  chain c;
  tf_flat out = {.count = 0};
  int64_t covered = 1;
  if (!load_chain(layout, &c, reason)) return NULL;
  for (unsigned i = 0; i < c.sorted.count; i++) {
    if (c.sorted.stride[i] != covered) continue; /* stride 0, or a gap: nothing after a gap matches either */
    tf_flat_push(&out, c.sorted.extent[i], c.weight[i]);
    covered *= c.sorted.extent[i];
  }
  return finish(context, &out);
}

/* ---- Product ---------------------------------------------------------------------------------------------------------------- */
static const tf_tuple *strides_of(tf_context *context, const tf_layout *layout) {
  return layout->strides ? layout->strides : tf_tuple_prefix_strides(context, layout->shape);
}

const tf_layout *tf_layout_product(tf_context *context, const tf_layout *a, const tf_layout *b, const char **reason) {
  tf_flat flat_a, flat_b;
  int64_t cosize = 1, range;
  if (!tf_flat_load(a, &flat_a, reason) || !tf_flat_load(b, &flat_b, reason)) return NULL;
  for (unsigned i = 0; i < flat_b.count; i++)
    if (flat_b.stride[i] > 0) cosize += (flat_b.extent[i] - 1) * flat_b.stride[i];
  if (__builtin_mul_overflow(tf_flat_size(&flat_a), cosize, &range)) return fail(reason, "the product is too large");
  const tf_layout *rest = tf_layout_complement(context, a, range, reason);
  const tf_layout *tiles = rest ? tf_layout_composition(context, rest, b, reason) : NULL;
  if (!tiles) return NULL;
  const tf_tuple *extents[] = {a->shape, tiles->shape};
  const tf_tuple *strides[] = {strides_of(context, a), tiles->strides};
  return tf_layout_plain(context, tf_tuple_list(context, 2, extents), tf_tuple_list(context, 2, strides));
}
