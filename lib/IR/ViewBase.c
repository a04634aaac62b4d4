/* The storage under views: parameters and allocations.
 *
 * A parameter's storage is C order of its shape, or what its plain layout says; a ShardLayout distributes that. An
 * allocation's storage is one array per CTA (smem), per thread (rmem) or for the entry (gmem, host):
 *
 *   plain                C order, or the strides of its layout, behind a swizzle if it has one
 *   rmem, sharded        the thread's values in order of their local number
 *   smem, sharded        one C-order buffer; without the parts that other CTAs have, if a cta axis is split; as many
 *                        buffers as there are instances on the Splits of stride 0, one behind the other */
#include "IR/MeshLevels.h"
#include "IR/ShardDomain.h"
#include "IR/ViewImpl.h"

#include <string.h>

static const tf_dim *one(const tf_view_work *work) {
  return tf_dim_int(work->context, 1);
}

/* ---- Plain storage ---------------------------------------------------------------------------------------------------- */
bool tf_view_set_row_major(tf_view_work *work) {
  const tf_dim *step = one(work);
  for (unsigned axis = work->rank; axis-- > 0;) {
    tf_view_axis *a = &work->axes[axis];
    if (!step) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
    a->mode_count = 1;
    a->modes[0] = (tf_view_mode){a->extent, step};
    step = tf_view_mul(work, step, a->extent);
  }
  work->by_coordinates = true;
  return true;
}

/* Modes of extent 1 say nothing, neighbours that walk on in equal steps are one mode. */
bool tf_view_set_modes(const tf_view_work *work, tf_view_axis *axis, unsigned count, const tf_view_mode *modes) {
  axis->mode_count = 0;
  for (unsigned i = 0; i < count; i++) {
    tf_view_mode *last = axis->mode_count ? &axis->modes[axis->mode_count - 1] : NULL;
    if (tf_dim_equals(modes[i].extent, 1)) continue;
    if (last && tf_view_mul(work, last->extent, last->stride) == modes[i].stride) {
      last->extent = tf_view_mul(work, last->extent, modes[i].extent);
      continue;
    }
    if (axis->mode_count == TF_MAX_MODES) return false;
    axis->modes[axis->mode_count++] = modes[i];
  }
  if (axis->mode_count == 0)
    axis->modes[axis->mode_count++] =
        (tf_view_mode){one(work), count ? modes[count - 1].stride : tf_dim_int(work->context, 0)};
  return true;
}

static bool layout_misfit(tf_view_work *work, const tf_layout *layout) {
  return VIEW_FAIL(work, VIEW_LAYOUT_SHAPE, tf_layout_print(work->context, layout), tf_view_print_axes(work));
}

/* A layout without strides is C order over its leaves here. */
static const tf_layout *with_strides(tf_context *context, const tf_layout *layout) {
  if (tf_layout_strides(layout)) return layout;
  unsigned count = tf_tuple_leaf_count(tf_layout_shape(layout));
  const tf_dim **leaves = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count);
  tf_tuple_leaves(tf_layout_shape(layout), leaves);
  return tf_layout_row_major(context, count, leaves);
}

/* The leaves of a layout, paired. */
static const tf_view_mode *leaf_modes(const tf_view_work *work, const tf_layout *strided, unsigned count) {
  tf_arena *arena = &work->context->arena;
  const tf_dim **extents = TF_ARENA_ARRAY(arena, const tf_dim *, count),
               **strides = TF_ARENA_ARRAY(arena, const tf_dim *, count);
  tf_tuple_leaves(tf_layout_shape(strided), extents);
  tf_tuple_leaves(tf_layout_strides(strided), strides);
  tf_view_mode *modes = TF_ARENA_ARRAY(arena, tf_view_mode, count);
  for (unsigned i = 0; i < count; i++)
    modes[i] = (tf_view_mode){extents[i], strides[i]};
  return modes;
}

/* Layouts on tensors are injective; symbolic ones are taken to be. */
static bool check_injective(tf_view_work *work, const tf_layout *strided, unsigned count, const tf_view_mode *modes) {
  const char *reason = NULL;
  for (unsigned i = 0; i < count; i++)
    if (!tf_dim_is_static(modes[i].extent, NULL) || !tf_dim_is_static(modes[i].stride, NULL)) return true;
  return tf_layout_is_injective(strided, &reason) ||
         VIEW_FAIL(work, VIEW_LAYOUT_OVERLAP, tf_layout_print(work->context, strided));
}

bool tf_view_set_plain(tf_view_work *work, const tf_layout *layout) {
  const tf_tuple *shape = tf_layout_shape(layout);
  unsigned leaf_count = tf_tuple_leaf_count(shape), leaf = 0, top = tf_tuple_is_leaf(shape) ? 1 : tf_tuple_count(shape);
  const tf_layout *strided = tf_layout_strides(layout) || leaf_count ? with_strides(work->context, layout) : NULL;
  if (!strided || top != work->rank) return layout_misfit(work, layout);
  const tf_view_mode *modes = leaf_modes(work, strided, leaf_count);
  for (unsigned axis = 0; axis < work->rank; axis++) {
    const tf_tuple *mode = tf_tuple_element(shape, axis);
    unsigned count = tf_tuple_leaf_count(mode);
    if (count == 0 || tf_tuple_product(work->context, mode) != work->axes[axis].extent ||
        !tf_view_set_modes(work, &work->axes[axis], count, modes + leaf))
      return layout_misfit(work, layout);
    leaf += count;
  }
  work->by_coordinates = true;
  return check_injective(work, strided, leaf_count, modes);
}

const tf_dim *tf_view_reach(const tf_view_work *work) {
  const tf_dim *reach = one(work);
  for (unsigned axis = 0; axis < work->rank; axis++) {
    if (tf_dim_equals(work->axes[axis].extent, 0)) return tf_dim_int(work->context, 0);
    for (unsigned m = 0; m < work->axes[axis].mode_count; m++) {
      const tf_view_mode *mode = &work->axes[axis].modes[m];
      const tf_dim *last = tf_view_add(work, mode->extent, tf_dim_int(work->context, -1));
      reach = tf_view_add(work, reach, tf_view_mul(work, last, mode->stride));
    }
  }
  return reach;
}

/* Bytes move inside blocks of 2^(base + bits) elements only, so whole blocks hold everything. */
static const tf_dim *swizzled_size(const tf_view_work *work, const tf_dim *size) {
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(work->inner, &bits, &base, &shift);
  const tf_dim *block = tf_dim_int(work->context, INT64_C(1) << (base + bits));
  return tf_view_mul(work, tf_dim_binary(work->context, TF_DIM_CEIL_DIV, size, block), block);
}

/* A swizzle of a shared allocation, and an offset in front of it. */
static bool set_composed(tf_view_work *work, const tf_layout *layout) {
  const tf_layout *inner = tf_layout_inner(layout), *outer = tf_layout_outer(layout);
  if (inner) {
    unsigned bits, base, shift;
    if (tf_layout_get_kind(inner) != TF_LAYOUT_SWIZZLE || work->storage != TF_STORAGE_SMEM)
      return VIEW_FAIL(work, VIEW_SWIZZLE, tf_layout_print(work->context, layout));
    tf_layout_swizzle_bits(inner, &bits, &base, &shift);
    if (shift == 0 || bits + base + shift > 30)
      return VIEW_FAIL(work, VIEW_SWIZZLE_BITS, tf_layout_print(work->context, inner));
    work->inner = inner;
  }
  work->constant = tf_layout_offset(layout);
  if (!outer) return tf_view_set_row_major(work);
  if (tf_layout_get_kind(outer) != TF_LAYOUT_PLAIN) return layout_misfit(work, layout);
  return tf_view_set_plain(work, outer);
}

static bool set_plain_storage(tf_view_work *work, const tf_layout *layout) {
  bool good = !layout                                            ? tf_view_set_row_major(work)
              : tf_layout_get_kind(layout) == TF_LAYOUT_PLAIN    ? tf_view_set_plain(work, layout)
              : tf_layout_get_kind(layout) == TF_LAYOUT_COMPOSED ? set_composed(work, layout)
                                                                 : layout_misfit(work, layout);
  if (!good) return false;
  work->storage_size = tf_view_add(work, work->constant, tf_view_reach(work));
  if (work->inner && work->storage_size) work->storage_size = swizzled_size(work, work->storage_size);
  return work->storage_size || VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
}

static bool begin(tf_view_work *work, const tf_type *type) {
  work->dtype = tf_type_dtype(type);
  work->storage = tf_type_storage(type);
  work->rank = tf_type_rank(type);
  work->constant = tf_dim_int(work->context, 0);
  if (work->rank > TF_MAX_RANK) return VIEW_FAIL(work, VIEW_RANK, TF_MAX_RANK, work->rank);
  for (unsigned axis = 0; axis < work->rank; axis++)
    work->axes[axis].extent = tf_type_extent(type, axis);
  return true;
}

/* C order of the shape, distributed by the layout: parameters, and an entry's own buffers. */
static bool shared_row_major(tf_view_work *work, const tf_layout *layout) {
  if (!tf_view_set_row_major(work)) return false;
  work->storage_size = tf_view_rows(work, 0);
  if (!work->storage_size) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  return tf_view_own(work, layout, true);
}

bool tf_view_from_param(tf_view_work *work, const tf_type *type) {
  const tf_layout *layout = tf_type_layout(type);
  if (!begin(work, type)) return false;
  if (tf_layout_is_shard(layout)) return shared_row_major(work, layout) && tf_view_refuse_zero_split(work, layout);
  return set_plain_storage(work, layout) && tf_view_own(work, NULL, true);
}

/* ---- Distributed allocations --------------------------------------------------------------------------------------------- */
/* A thread's values in order of their local number: local digits leftmost fastest. */
static bool number_registers(tf_view_work *work) {
  const tf_ownership *own = work->ownership;
  const tf_dim *step = one(work);
  for (unsigned i = 0; i < own->factor_count; i++)
    work->digit_strides[i] = tf_dim_int(work->context, 0);
  for (unsigned i = 0; i < own->local_count; i++) {
    work->digit_strides[own->local[i]] = step;
    step = tf_view_mul(work, step, own->factors[own->local[i]].extent);
    if (!step) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  }
  work->storage_size = step;
  work->has_digit_strides = true;
  return true;
}

static bool walks_ctas(const tf_view_work *work, int mesh_axis) {
  unsigned level;
  const tf_mesh *mesh = tf_layout_mesh(work->shard);
  return mesh_axis >= 0 && tf_mesh_axis_level(work->context, mesh, (unsigned)mesh_axis, &level, NULL, NULL) &&
         tf_mesh_level(mesh, level).level == TF_LEVEL_CTA;
}

/* How the factors of a shared allocation are stored. */
typedef struct shared_plan {
  const tf_dim *stride[TF_MAX_FACTORS]; /* as authored (0: private), or the logical step; not used for cta factors */
  bool is_cta[TF_MAX_FACTORS], is_private[TF_MAX_FACTORS];
  bool any_cta, any_private;
  bool closes_gaps; /* a part of the authored strides belongs to other CTAs */
} shared_plan;

/* The authored stride of a factor whose logical index is the C order of the layout's domain: its mode is the one whose
 * C-order steps it takes. */
static const tf_dim *authored_stride(const tf_view_work *work, const tf_shard_domain *domain, const tf_factor *factor) {
  const tf_dim *below = one(work);
  for (unsigned i = domain->count; i-- > 0 && below;) {
    const tf_domain_axis *axis = &domain->axes[i];
    const tf_dim *into = tf_view_quotient(work, factor->step, below);
    const tf_dim *steps = tf_view_quotient(work, axis->extent, tf_view_mul(work, into, factor->extent));
    if (steps && axis->mesh_axis == factor->mesh_axis) return tf_view_mul(work, axis->stride, into);
    below = tf_view_mul(work, below, axis->extent);
  }
  return NULL;
}

static bool plan_shared(tf_view_work *work, shared_plan *plan) {
  const tf_ownership *own = work->ownership;
  tf_shard_domain domain;
  const char *reason = NULL;
  if (!tf_shard_domain_of(work->context, work->shard, &domain, &reason)) return VIEW_FAIL(work, VIEW_SHARD, reason);
  for (unsigned i = 0; i < own->factor_count; i++) {
    const tf_factor *factor = &own->factors[i];
    const tf_dim *stride = domain.has_zero_split ? authored_stride(work, &domain, factor) : factor->step;
    if (!stride) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
    bool idle = tf_dim_equals(factor->extent, 1), at_zero = tf_dim_equals(stride, 0);
    plan->stride[i] = stride;
    plan->is_cta[i] = walks_ctas(work, factor->mesh_axis);
    plan->is_private[i] = factor->mesh_axis >= 0 && !plan->is_cta[i] && at_zero && !idle;
    plan->any_cta |= plan->is_cta[i];
    plan->any_private |= plan->is_private[i];
    plan->closes_gaps |= plan->is_cta[i] && !at_zero && !idle;
  }
  return true;
}

/* Whether stride a is the smaller step: by what they are at least; equal ones keep the domain's C order. */
static bool steps_less(const tf_dim *a, const tf_dim *b) {
  int64_t a_min, b_min, unused;
  tf_dim_range(a, &a_min, &unused);
  tf_dim_range(b, &b_min, &unused);
  return a_min < b_min;
}

/* Strides anew, in the order of the old ones, for the factors that a CTA stores. */
static void close_gaps(tf_view_work *work, shared_plan *plan) {
  unsigned order[TF_MAX_FACTORS], count = 0;
  for (unsigned i = work->ownership->factor_count; i-- > 0;) {
    if (plan->is_cta[i] || plan->is_private[i]) continue;
    unsigned at = count++;
    for (; at > 0 && steps_less(plan->stride[i], plan->stride[order[at - 1]]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  const tf_dim *step = one(work);
  for (unsigned k = 0; k < count; k++) {
    plan->stride[order[k]] = step;
    step = tf_view_mul(work, step, work->ownership->factors[order[k]].extent);
  }
}

/* Elements of one instance's buffer: largest offset plus 1. */
static const tf_dim *buffer_size(const tf_view_work *work, const shared_plan *plan) {
  const tf_dim *size = one(work);
  for (unsigned i = 0; i < work->ownership->factor_count; i++) {
    if (plan->is_cta[i] || plan->is_private[i]) continue;
    const tf_dim *last = tf_view_add(work, work->ownership->factors[i].extent, tf_dim_int(work->context, -1));
    size = tf_view_add(work, size, tf_view_mul(work, last, plan->stride[i]));
  }
  return size;
}

/* No two digits of a buffer may meet: the authored strides of layouts with a Split of stride 0 name no elements, so
 * nobody has checked them. */
static bool buffer_is_injective(const tf_view_work *work, const shared_plan *plan) {
  const tf_dim *shape[TF_MAX_FACTORS], *strides[TF_MAX_FACTORS];
  unsigned count = 0;
  for (unsigned i = 0; i < work->ownership->factor_count; i++) {
    if (plan->is_cta[i] || plan->is_private[i]) continue;
    shape[count] = work->ownership->factors[i].extent;
    strides[count] = plan->stride[i];
    if (!tf_dim_is_static(shape[count], NULL) || !tf_dim_is_static(strides[count], NULL)) return true;
    count++;
  }
  const char *reason = NULL;
  return count == 0 || tf_layout_is_injective(tf_layout_plain(work->context, tf_tuple_dims(work->context, count, shape),
                                                              tf_tuple_dims(work->context, count, strides)),
                                              &reason);
}

static bool place_shared(tf_view_work *work) {
  shared_plan plan;
  memset(&plan, 0, sizeof plan);
  if (!plan_shared(work, &plan)) return false;
  if (!plan.any_cta && !plan.any_private) return true; /* one C-order buffer: by coordinates */
  if (plan.closes_gaps) close_gaps(work, &plan);
  if (!buffer_is_injective(work, &plan))
    return VIEW_FAIL(work, VIEW_LAYOUT_OVERLAP, tf_layout_print(work->context, work->shard));
  const tf_dim *buffer = buffer_size(work, &plan);
  for (unsigned i = work->ownership->factor_count; i-- > 0;) {
    work->digit_strides[i] = plan.is_cta[i]       ? tf_dim_int(work->context, 0)
                             : plan.is_private[i] ? buffer
                                                  : plan.stride[i];
    if (plan.is_private[i]) buffer = tf_view_mul(work, buffer, work->ownership->factors[i].extent);
  }
  if (!buffer) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  work->storage_size = buffer;
  work->by_coordinates = false;
  work->has_digit_strides = true;
  return true;
}

bool tf_view_from_allocation(tf_view_work *work, const tf_type *type) {
  const tf_layout *layout = tf_type_layout(type);
  if (!begin(work, type)) return false;
  if (!tf_layout_is_shard(layout)) return set_plain_storage(work, layout) && tf_view_own(work, NULL, true);
  if (!shared_row_major(work, layout)) return false;
  if (work->storage == TF_STORAGE_RMEM) {
    work->by_coordinates = false;
    return number_registers(work);
  }
  return work->storage == TF_STORAGE_SMEM ? place_shared(work) : tf_view_refuse_zero_split(work, layout);
}
