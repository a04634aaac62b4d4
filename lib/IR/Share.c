/* See Share.h. Axes are counted from the last one, as broadcasting aligns them. */
#include "IR/Share.h"

#include "IR/DimImpl.h"
#include "IR/View.h"
#include "Support/Context.h"

enum { MOST_SHARES = 8 };

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

bool tf_share_is_open(const tf_share *share) {
  for (unsigned axis = 1; axis < tf_type_rank(share->type); axis++)
    if (static_of(tf_type_extent(share->type, axis), -1) < 0) return true;
  return false;
}

/* The share's axis that lies over an axis of share 0; -1: it is broadcast there. */
static int axis_over(const tf_share *shares, unsigned which, unsigned axis) {
  int own = (int)axis - (int)tf_type_rank(shares[0].type) + (int)tf_type_rank(shares[which].type);
  const tf_dim *extent = own >= 0 ? tf_type_extent(shares[which].type, (unsigned)own) : NULL;
  if (!extent || (static_of(extent, 0) == 1 && static_of(tf_type_extent(shares[0].type, axis), 0) != 1)) return -1;
  return own;
}

/* ---- CTAs ---- */
static bool has_same(const tf_share *shares, unsigned which, const tf_factor *first, int axis,
                     const tf_share_query *query) {
  const tf_ownership *ownership = shares[which].ownership;
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *other = &ownership->factors[i];
    if (other->shape_axis != axis || other->extent != first->extent || other->unit != first->unit) continue;
    if (query->is_cta(query->user, which, other) && query->is_same(query->user, first, which, other)) return true;
  }
  return false;
}

static unsigned cta_factors(const tf_share *shares, unsigned which, const tf_share_query *query) {
  unsigned count = 0;
  for (unsigned i = 0; i < shares[which].ownership->factor_count; i++)
    count += query->is_cta(query->user, which, &shares[which].ownership->factors[i]);
  return count;
}

static bool dealt_alike(const tf_share *shares, unsigned which, const tf_share_query *query) {
  unsigned matched = 0;
  for (unsigned i = 0; i < shares[0].ownership->factor_count; i++) {
    const tf_factor *factor = &shares[0].ownership->factors[i];
    if (!query->is_cta(query->user, 0, factor)) continue;
    int axis = axis_over(shares, which, (unsigned)factor->shape_axis);
    if (axis < 0) continue;
    if (!has_same(shares, which, factor, axis, query)) return false;
    matched++;
  }
  return matched == cta_factors(shares, which, query);
}

/* ---- Extents ---- */
/* One more than the largest coordinate that one CTA's part has on the axis, from its first; -1: not static. */
static int64_t reach(const tf_share *shares, unsigned which, int axis, const tf_share_query *query) {
  const tf_ownership *ownership = shares[which].ownership;
  int64_t out = 1;
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (factor->shape_axis != axis || query->is_cta(query->user, which, factor)) continue;
    int64_t extent = static_of(factor->extent, -1), unit = static_of(factor->unit, -1), part;
    if (extent < 0 || unit < 0 || __builtin_mul_overflow(extent - 1, unit, &part) ||
        __builtin_add_overflow(out, part, &out))
      return -1;
  }
  return out;
}

static bool reach_axis(const tf_share *shares, unsigned count, unsigned axis, const tf_share_query *query,
                       int64_t *out) {
  *out = 1;
  for (unsigned which = 0; which < count; which++) {
    int own = axis_over(shares, which, axis);
    int64_t one = own < 0 ? 1 : reach(shares, which, own, query);
    if (one < 0) return false;
    if (one > *out) *out = one;
  }
  return true;
}

/* ---- The new shares ---- */
static const tf_type *shortened(tf_context *context, const tf_share *shares, unsigned which, const int64_t *extents) {
  const tf_dim *shape[TF_MAX_RANK];
  unsigned rank = tf_type_rank(shares[which].type), front = tf_type_rank(shares[0].type) - rank;
  for (unsigned axis = 0; axis < rank; axis++)
    shape[axis] = tf_dim_int(context, axis_over(shares, which, axis + front) < 0 ? 1 : extents[axis + front]);
  return tf_type_tensor(context, rank, shape, tf_type_dtype(shares[which].type), NULL,
                        tf_type_storage(shares[which].type));
}

static const tf_ownership *without_ctas(tf_context *context, const tf_share *shares, unsigned which,
                                        const tf_type *type, const tf_share_query *query) {
  tf_ownership *out = TF_ARENA_NEW(&context->arena, tf_ownership);
  *out = *shares[which].ownership;
  out->factor_count = out->local_count = 0;
  for (unsigned i = 0; i < shares[which].ownership->factor_count; i++) {
    tf_factor factor = shares[which].ownership->factors[i];
    if (query->is_cta(query->user, which, &factor)) continue;
    factor.step = factor.unit;
    for (unsigned axis = (unsigned)factor.shape_axis + 1; axis < tf_type_rank(type); axis++)
      factor.step = tf_dim_binary(context, TF_DIM_MUL, factor.step, tf_type_extent(type, axis));
    if (factor.mesh_axis < 0) out->local[out->local_count++] = out->factor_count;
    out->factors[out->factor_count++] = factor;
  }
  return out;
}

static bool is_axis_by_axis(const tf_share *share) {
  if (!share->ownership->steps_are_affine || share->ownership->exact) return false;
  for (unsigned i = 0; i < share->ownership->factor_count; i++)
    if (share->ownership->factors[i].shape_axis < 0 || !share->ownership->factors[i].unit) return false;
  return true;
}

bool tf_shares_of_one_cta(tf_context *context, unsigned count, tf_share *shares, const tf_share_query *query) {
  int64_t extents[TF_MAX_RANK];
  tf_share out[MOST_SHARES];
  unsigned rank = tf_type_rank(shares[0].type);
  if (count > MOST_SHARES || rank > TF_MAX_RANK) return false;
  for (unsigned i = 0; i < count; i++)
    if (tf_type_rank(shares[i].type) > rank || !is_axis_by_axis(&shares[i]) || !dealt_alike(shares, i, query))
      return false;
  for (unsigned axis = 0; axis < rank; axis++)
    if (!reach_axis(shares, count, axis, query, &extents[axis])) return false;
  for (unsigned i = 0; i < count; i++) {
    out[i].type = shortened(context, shares, i, extents);
    out[i].ownership = without_ctas(context, shares, i, out[i].type, query);
  }
  for (unsigned i = 0; i < count; i++)
    shares[i] = out[i];
  return true;
}
