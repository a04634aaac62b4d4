/* T.spread and T.reduced. */
#include "IR/LayoutHelpers.h"

#include "IR/LayoutImpl.h"
#include "IR/ShardDomain.h"

/* ---- spread ------------------------------------------------------------------------------------------------------------- */
/* The mesh's axes by descending stride: C order of these is the order of the linear positions. */
static void order_by_position(const tf_mesh *mesh, unsigned *order) {
  for (unsigned i = 0; i < tf_mesh_axis_count(mesh); i++) {
    unsigned at = i;
    int64_t stride, before;
    for (; at > 0; at--) {
      bool both = tf_dim_is_static(tf_mesh_axis_stride(mesh, i), &stride) &&
                  tf_dim_is_static(tf_mesh_axis_stride(mesh, order[at - 1]), &before);
      if (!both || before >= stride) break;
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

tf_status tf_layout_spread(tf_context *context, const tf_mesh *mesh, const tf_dim *numel, int64_t vec,
                           const tf_layout **out, const char **reason) {
  unsigned count = mesh ? tf_mesh_axis_count(mesh) : 0, order[TF_MAX_FACTORS];
  const tf_dim *extents[TF_MAX_FACTORS + 2], *share = tf_dim_int(context, vec);
  tf_shard_attr attrs[TF_MAX_FACTORS] = {{TF_SHARD_SPLIT, 0, (tf_reduce_kind)0}};
  if (!mesh || !numel || !out || count > TF_MAX_FACTORS) return TF_INVALID_ARGUMENT;
  if (vec < 1) return tf_refuse(context, reason, "chunks have at least one element"), TF_VERIFY;
  order_by_position(mesh, order);
  for (unsigned i = 0; i < count; i++) {
    extents[1 + i] = tf_mesh_axis_extent(mesh, order[i]);
    share = tf_dim_product(context, share, extents[1 + i]);
    attrs[order[i]] = (tf_shard_attr){TF_SHARD_SPLIT, 1 + i, (tf_reduce_kind)0};
  }
  extents[0] = share ? tf_dim_exact_quotient(context, numel, share) : NULL;
  extents[1 + count] = tf_dim_int(context, vec);
  if (!extents[0])
    return tf_refuse(context, reason, "%s elements do not divide over %s instances in chunks of %lld",
                     tf_dim_print(context, numel),
                     tf_dim_print(context, tf_tuple_product(context, tf_layout_shape(tf_mesh_layout(mesh)))),
                     (long long)vec),
           TF_VERIFY;
  const tf_layout *plain = tf_layout_plain(context, tf_tuple_dims(context, count + 2, extents), NULL);
  *out = tf_layout_shard(context, plain, count, attrs, mesh);
  return TF_OK;
}

/* ---- reduced ------------------------------------------------------------------------------------------------------------ */
typedef struct reduction {
  unsigned rank;
  int64_t extent[TF_MAX_FACTORS], step[TF_MAX_FACTORS]; /* of the shape, in C order */
  int64_t result_step[TF_MAX_FACTORS];                  /* of the result's shape */
  bool reduced[TF_MAX_FACTORS];
  bool is_open;        /* the first extent is only known at launch */
  const tf_dim *numel; /* of the shape */
} reduction;

static bool load_axes(tf_context *context, reduction *r, unsigned count, const int64_t *axes, const char **reason) {
  for (unsigned i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + r->rank : axes[i];
    if (axis < 0 || axis >= r->rank)
      return tf_refuse(context, reason, "axis %lld of a tensor of rank %u", (long long)axes[i], r->rank);
    r->reduced[axis] = true;
  }
  return true;
}

static bool load_shape(tf_context *context, reduction *r, unsigned rank, const tf_dim *const *shape,
                       const char **reason) {
  int64_t product = 1;
  r->rank = rank;
  for (unsigned i = rank; i-- > 0;) {
    if (i == 0 && !tf_dim_is_static(shape[0], &r->extent[0])) {
      r->step[0] = product;
      r->extent[0] = INT64_MAX; /* open: no step depends on it */
      r->is_open = true;
      break;
    }
    if (!tf_dim_is_static(shape[i], &r->extent[i]))
      return tf_refuse(context, reason, "the shape has to be static, and extent %u is %s", i,
                       tf_dim_print(context, shape[i]));
    r->step[i] = product;
    if (r->extent[i] < 0 || __builtin_mul_overflow(product, r->extent[i], &product))
      return tf_refuse(context, reason, "the shape has too many elements");
  }
  return true;
}

/* Neighbouring axes that are both reduced are one: what a factor of theirs would be split into disappears all the same. */
static void join_reduced(reduction *r) {
  int below = -1;
  for (int i = (int)r->rank - 1; i >= 0; i--) {
    if (r->extent[i] == 1) continue;
    if (r->reduced[i] && below >= 0) {
      if (r->extent[i] != INT64_MAX) r->extent[i] *= r->extent[below]; /* no overflow: their product was counted */
      r->step[i] = r->step[below];
      r->extent[below] = 1;
    }
    below = r->reduced[i] ? i : -1;
  }
}

static void derive_result(reduction *r) {
  int64_t product = 1;
  for (unsigned i = r->rank; i-- > 0;) {
    r->result_step[i] = product;
    if (i > 0 && !r->reduced[i]) product *= r->extent[i];
  }
}

/* The axis of the shape that a factor walks; rank if it straddles axes. */
static unsigned axis_of(const reduction *r, int64_t extent, int64_t step) {
  for (unsigned i = 0; i < r->rank; i++) { /* C order: steps descend */
    if (r->extent[i] == 1 || r->step[i] > step) continue;
    bool inside = step % r->step[i] == 0 && step / r->step[i] <= (r->extent[i] - 1) / (extent - 1);
    return inside ? i : r->rank;
  }
  return r->rank;
}

/* Appends what is left of each domain axis, and points the attributes at it. */
static bool keep_factors(tf_context *context, const reduction *r, const tf_shard_domain *domain,
                         const tf_dim *const *steps, tf_shard_domain *kept, tf_shard_attr *attrs, const char **reason) {
  int64_t extent, step;
  for (unsigned i = 0; i < domain->count; i++) {
    bool is_open = !tf_dim_is_static(domain->axes[i].extent, &extent);
    if ((is_open && !r->is_open) || !tf_dim_is_static(steps[i], &step))
      return tf_refuse(context, reason, "the layout has to be static");
    if (is_open) extent = 2; /* of the open axis, or it straddles the next one */
    if (extent == 1) continue;
    unsigned axis = extent > 1 && step > 0 ? axis_of(r, extent, step) : r->rank;
    if (is_open && axis != 0) axis = r->rank;
    if (axis == r->rank)
      return tf_refuse(context, reason, "the factor %lld:%lld of the layout straddles the axes of the shape",
                       (long long)extent, (long long)step);
    if (r->reduced[axis]) continue;
    int mesh_axis = domain->axes[i].mesh_axis;
    if (mesh_axis >= 0) attrs[mesh_axis] = (tf_shard_attr){TF_SHARD_SPLIT, kept->count, (tf_reduce_kind)0};
    const tf_dim *stride = tf_dim_int(context, step / r->step[axis] * r->result_step[axis]);
    kept->axes[kept->count++] = (tf_domain_axis){domain->axes[i].extent, stride, mesh_axis, 0};
  }
  return true;
}

static const tf_layout *layout_of(tf_context *context, const tf_shard_domain *kept) {
  const tf_dim *extents[TF_MAX_FACTORS], *strides[TF_MAX_FACTORS];
  for (unsigned i = 0; i < kept->count; i++) {
    extents[i] = kept->axes[i].extent;
    strides[i] = kept->axes[i].stride;
  }
  unsigned count = kept->count ? kept->count : 1;
  if (kept->count == 0) extents[0] = strides[0] = tf_dim_int(context, 1);
  return tf_layout_plain(context, tf_tuple_dims(context, count, extents), tf_tuple_dims(context, count, strides));
}

static bool reduce_shard(tf_context *context, const tf_layout *layout, const reduction *r, const tf_layout **out,
                         const char **reason) {
  tf_shard_domain domain, kept = {.count = 0};
  const tf_dim *steps[TF_MAX_FACTORS], *size = tf_dim_int(context, 1);
  tf_shard_attr attrs[TF_MAX_FACTORS];
  if (!tf_shard_domain_of(context, layout, &domain, reason)) return false;
  if (layout->attr_count > TF_MAX_FACTORS || !tf_shard_domain_order(context, &domain, steps))
    return tf_refuse(context, reason, "the layout is too large");
  for (unsigned i = 0; i < domain.count; i++) {
    size = tf_dim_product(context, size, domain.axes[i].extent);
    if (!domain.dealt) steps[i] = domain.axes[i].stride;
  }
  if (size != r->numel)
    return tf_refuse(context, reason, "the layout %s has %s elements, the shape %s",
                     tf_shard_domain_print(context, &domain), size ? tf_dim_print(context, size) : "too many",
                     tf_dim_print(context, r->numel));
  for (unsigned i = 0; i < layout->attr_count; i++)
    attrs[i] = (tf_shard_attr){TF_SHARD_BROADCAST, 0, (tf_reduce_kind)0};
  if (!keep_factors(context, r, &domain, steps, &kept, attrs, reason)) return false;
  *out = tf_layout_shard(context, layout_of(context, &kept), layout->attr_count, attrs, layout->mesh);
  return true;
}

tf_status tf_layout_reduced(tf_context *context, const tf_layout *layout, unsigned rank, const tf_dim *const *shape,
                            unsigned axis_count, const int64_t *axes, const tf_layout **out, const char **reason) {
  reduction r = {.rank = 0};
  const tf_layout *result = NULL;
  if (!context || !out || rank > TF_MAX_FACTORS || (rank && !shape)) return TF_INVALID_ARGUMENT;
  r.rank = rank;
  if (!load_axes(context, &r, axis_count, axes, reason)) return TF_VERIFY;
  if (tf_layout_is_shard(layout)) {
    if (!load_shape(context, &r, rank, shape, reason)) return TF_VERIFY;
    r.numel = tf_dim_int(context, 1);
    for (unsigned i = 0; i < rank && r.numel; i++)
      r.numel = tf_dim_product(context, r.numel, shape[i]);
    if (!r.numel) return tf_refuse(context, reason, "the shape has too many elements"), TF_VERIFY;
    join_reduced(&r);
    derive_result(&r);
    if (!reduce_shard(context, layout, &r, &result, reason)) return TF_VERIFY;
  }
  *out = result;
  return TF_OK;
}
