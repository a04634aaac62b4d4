/* Static layouts as arrays. Injectivity is decided without enumerating the domain: two coordinates collide exactly when
 * a nonzero vector z with |z_i| < extent_i has  sum z_i * stride_i = 0.  A depth-first search over the strides in
 * descending order finds one; what the smaller strides can still reach bounds each z_i, which leaves few choices. */
#include "IR/FlatLayout.h"

#include "IR/LayoutImpl.h"

#define TF_FLAT_MAX_OFFSET ((int64_t)1 << 62)

static bool fail(const char **reason, const char *why) {
  if (reason) *reason = why;
  return false;
}

/* Bounds the size and the sum of |stride| * (extent - 1), so that no later arithmetic overflows. */
bool tf_flat_is_bounded(const tf_flat *flat) {
  int64_t size = 1, reach = 0, span;
  for (unsigned i = 0; i < flat->count; i++) {
    int64_t extent = flat->extent[i] > 0 ? flat->extent[i] : 1, stride = flat->stride[i];
    if (flat->extent[i] < 0 || stride <= -TF_FLAT_MAX_OFFSET || stride >= TF_FLAT_MAX_OFFSET) return false;
    if (__builtin_mul_overflow(extent - 1, stride < 0 ? -stride : stride, &span)) return false;
    if (__builtin_mul_overflow(size, extent, &size) || __builtin_add_overflow(reach, span, &reach)) return false;
    if (size > TF_FLAT_MAX_OFFSET || reach > TF_FLAT_MAX_OFFSET) return false;
  }
  return true;
}

bool tf_flat_load(const tf_layout *layout, tf_flat *out, const char **reason) {
  if (!layout || layout->kind != TF_LAYOUT_PLAIN) return fail(reason, "the layout is not a plain one");
  if (layout->shape->leaf_count > TF_FLAT_MAX_MODES) return fail(reason, "the layout has more than 64 modes");
  out->count = layout->shape->leaf_count;
  int64_t product = 1;
  for (unsigned i = 0; i < out->count; i++) {
    if (!tf_dim_is_static(tf_tuple_leaf_at(layout->shape, i), &out->extent[i]))
      return fail(reason, "an extent of the layout is not known at compile time");
    if (out->extent[i] < 0) return fail(reason, "an extent of the layout is negative");
    out->stride[i] = product;
    if (layout->strides && !tf_dim_is_static(tf_tuple_leaf_at(layout->strides, i), &out->stride[i]))
      return fail(reason, "a stride of the layout is not known at compile time");
    if (__builtin_mul_overflow(product, out->extent[i], &product)) return fail(reason, "the layout is too large");
  }
  return tf_flat_is_bounded(out) || fail(reason, "the layout is too large");
}

const tf_layout *tf_flat_store(tf_context *context, const tf_flat *flat) {
  if (flat->count == 0) {
    const int64_t one = 1, zero = 0;
    return tf_layout_plain(context, tf_tuple_ints(context, 1, &one), tf_tuple_ints(context, 1, &zero));
  }
  return tf_layout_plain(context, tf_tuple_ints(context, flat->count, flat->extent),
                         tf_tuple_ints(context, flat->count, flat->stride));
}

int64_t tf_flat_size(const tf_flat *flat) {
  int64_t size = 1;
  for (unsigned i = 0; i < flat->count; i++) {
    if (flat->extent[i] == 0) return 0;
    size *= flat->extent[i];
  }
  return size;
}

bool tf_flat_push(tf_flat *flat, int64_t extent, int64_t stride) {
  if (flat->count == TF_FLAT_MAX_MODES) return false;
  flat->extent[flat->count] = extent;
  flat->stride[flat->count++] = stride;
  return true;
}

void tf_flat_coalesce(tf_flat *flat) {
  unsigned kept = 0;
  for (unsigned i = 0; i < flat->count; i++) {
    if (flat->extent[i] == 1) continue;
    if (kept > 0 && flat->extent[kept - 1] * flat->stride[kept - 1] == flat->stride[i]) {
      flat->extent[kept - 1] *= flat->extent[i];
      continue;
    }
    flat->extent[kept] = flat->extent[i];
    flat->stride[kept++] = flat->stride[i];
  }
  flat->count = kept;
}

void tf_flat_sort(tf_flat *flat, unsigned *position) {
  unsigned order[TF_FLAT_MAX_MODES], count = 0;
  for (unsigned i = 0; i < flat->count; i++) {
    if (flat->extent[i] == 1) continue;
    unsigned at = count++;
    for (; at > 0 && flat->stride[order[at - 1]] > flat->stride[i]; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  const tf_flat before = *flat;
  flat->count = count;
  for (unsigned i = 0; i < count; i++) {
    flat->extent[i] = before.extent[order[i]];
    flat->stride[i] = before.stride[order[i]];
    if (position) position[i] = order[i];
  }
}

/* ---- Injectivity
 * ---------------------------------------------------------------------------------------------------------- */
typedef struct collision_search {
  tf_flat sorted;                   /* ascending, positive strides */
  int64_t reach[TF_FLAT_MAX_MODES]; /* reach[i]: what modes 0..i add up to at most */
  long budget;
} collision_search;

/* Whether z_0..z_i can make up `rest`; `nonzero` says that a larger mode already has a nonzero z. By symmetry the first
 * nonzero z may be taken positive. */
static bool can_collide(collision_search *search, int i, int64_t rest, bool nonzero) {
  if (i < 0) return rest == 0 && nonzero;
  if (--search->budget < 0) return true;
  int64_t stride = search->sorted.stride[i], most = search->sorted.extent[i] - 1;
  int64_t below = i > 0 ? search->reach[i - 1] : 0;
  int64_t low = -tf_int_floor_div(below - rest, stride); /* the smallest z with rest - z*stride <= below */
  int64_t high = tf_int_floor_div(rest + below, stride);
  if (low < -most) low = -most;
  if (high > most) high = most;
  if (!nonzero && low < 0) low = 0;
  for (int64_t z = low; z <= high; z++)
    if (can_collide(search, i - 1, rest - z * stride, nonzero || z != 0)) return true;
  return false;
}

bool tf_flat_is_injective(const tf_flat *flat, const char **reason) {
  collision_search search = {.sorted = *flat, .budget = 2000000};
  if (tf_flat_size(flat) <= 1) return true;
  for (unsigned i = 0; i < flat->count; i++) /* reversing an axis changes no distances */
    if (flat->stride[i] < 0) search.sorted.stride[i] = -flat->stride[i];
  tf_flat_sort(&search.sorted, NULL);
  if (search.sorted.stride[0] == 0) return fail(reason, "a stride is 0 on an axis longer than 1");
  for (unsigned i = 0; i < search.sorted.count; i++)
    search.reach[i] = (i ? search.reach[i - 1] : 0) + (search.sorted.extent[i] - 1) * search.sorted.stride[i];
  if (!can_collide(&search, (int)search.sorted.count - 1, 0, false)) return true;
  return fail(reason, search.budget < 0 ? "whether two coordinates share an offset is too hard to decide"
                                        : "two coordinates share an offset");
}

bool tf_flat_is_projectable(const tf_flat *flat) {
  tf_flat sorted = *flat;
  int64_t reach = 0;
  if (tf_flat_size(flat) == 0) return true;
  tf_flat_sort(&sorted, NULL);
  for (unsigned i = 0; i < sorted.count; i++) {
    if (sorted.stride[i] <= reach) return false;
    reach += (sorted.extent[i] - 1) * sorted.stride[i];
  }
  return true;
}
