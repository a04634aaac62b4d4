/* Views and ownership: laying a ShardLayout over a value, and taking one instance's part of it.
 *
 * The part is a plain value again. What the mesh walks becomes a start, what is local becomes its axes:
 *
 *   (64, 64), CTA (i, j) of 4 x 4 owns a block               part: shape (16, 16), strides (64, 1)
 *   factors {4 axis 0: 16 rows} {16 local} {4 axis 1: …} …   starts: coordinate 0 * 16*64, coordinate 1 * 16
 *
 * Its elements stand in order of their logical index; where that is no box (every other row), the part is flat. */
#include "IR/ShardDomain.h"
#include "IR/ViewImpl.h"

#include <string.h>

/* ---- Digit strides ------------------------------------------------------------------------------------------------------ */
/* A value's modes, fastest first, joined; and its factors, cut where a mode ends. */
typedef struct stepping {
  const tf_view_work *work;
  unsigned mode_count;
  tf_view_mode modes[TF_MAX_ALL_MODES];
  tf_ownership own; /* with the factors so far */
  const tf_dim *strides[TF_MAX_FACTORS];
} stepping;

/* The mode that a logical step falls into: *into counts its steps, *room how many factor steps are left in it. */
static const tf_view_mode *mode_of_step(const stepping *s, const tf_dim *step, const tf_dim **into,
                                        const tf_dim **room) {
  const tf_dim *below = tf_dim_int(s->work->context, 1);
  for (unsigned i = 0; i < s->mode_count && below; i++) {
    *into = tf_view_quotient(s->work, step, below);
    *room = tf_view_quotient(s->work, s->modes[i].extent, *into);
    if (*room && !tf_dim_equals(*into, 0) && !tf_dim_equals(*room, 1)) return &s->modes[i];
    below = tf_view_mul(s->work, below, s->modes[i].extent);
  }
  return NULL;
}

static bool push_factor(stepping *s, tf_factor factor, const tf_dim *stride) {
  if (!stride || s->own.factor_count == TF_MAX_FACTORS) return false;
  if (factor.mesh_axis < 0) s->own.local[s->own.local_count++] = s->own.factor_count;
  s->strides[s->own.factor_count] = stride;
  s->own.factors[s->own.factor_count++] = factor;
  return true;
}

/* The rest of a factor after its first `count` steps. */
static bool advance(const stepping *s, tf_factor *factor, const tf_dim *count) {
  int64_t steps = 1;
  factor->extent = tf_view_quotient(s->work, factor->extent, count);
  factor->step = tf_view_mul(s->work, factor->step, count);
  factor->unit = factor->unit ? tf_view_mul(s->work, factor->unit, count) : NULL;
  if (factor->mesh_axis >= 0 && !tf_dim_is_static(count, &steps)) return false;
  return factor->extent && factor->step && !__builtin_mul_overflow(factor->divisor, steps, &factor->divisor);
}

/* Adds the factor in parts that step evenly in storage. False if there are none. */
static bool push_even(stepping *s, tf_factor factor) {
  while (!tf_dim_equals(factor.extent, 1)) {
    const tf_dim *into, *room;
    const tf_view_mode *mode = mode_of_step(s, factor.step, &into, &room);
    if (!mode) return false;
    const tf_dim *stride = tf_view_mul(s->work, into, mode->stride);
    if (tf_view_quotient(s->work, room, factor.extent)) return push_factor(s, factor, stride);
    tf_factor part = factor;
    part.extent = room;
    if (!advance(s, &factor, room) || !push_factor(s, part, stride)) return false;
  }
  return true;
}

static bool push_stepping(stepping *s, const tf_factor *factor) {
  const tf_view_axis *axis = factor->shape_axis >= 0 ? &s->work->axes[factor->shape_axis] : NULL;
  if (axis && axis->mode_count == 1)
    return push_factor(s, *factor, tf_view_mul(s->work, factor->unit, axis->modes[0].stride));
  return push_even(s, *factor);
}

/* Elements that are named by storage offsets, and only so, have steps in the storage already. */
static void step_by_offsets(tf_view_work *work) {
  for (unsigned i = 0; i < work->ownership->factor_count; i++)
    work->digit_strides[i] = work->ownership->factors[i].step;
  work->has_digit_strides = true;
}

/* Digit strides from the axes. Factors that cross modes are cut there, so that every digit steps evenly. */
static void step_digits(tf_view_work *work) {
  const tf_ownership *old = work->ownership;
  if (old->exact) {
    step_by_offsets(work);
    return;
  }
  stepping s = {.work = work};
  s.mode_count = tf_view_all_modes(work, s.modes);
  s.own = *old;
  s.own.factor_count = s.own.local_count = 0;
  bool even = true;
  for (unsigned i = 0; even && i < old->factor_count; i++)
    even = push_stepping(&s, &old->factors[i]);
  work->has_digit_strides = even;
  if (!even) return;
  memcpy(work->digit_strides, s.strides, s.own.factor_count * sizeof *s.strides);
  if (s.own.factor_count != old->factor_count)
    work->ownership = tf_arena_copy(&work->context->arena, &s.own, sizeof s.own);
}

/* ---- Ownership ------------------------------------------------------------------------------------------------------------ */
static const tf_type *type_with(const tf_view_work *work, const tf_layout *layout) {
  const tf_dim *shape[TF_MAX_RANK];
  for (unsigned axis = 0; axis < work->rank; axis++)
    shape[axis] = work->axes[axis].extent;
  return tf_type_tensor(work->context, work->rank, shape, work->dtype, layout, work->storage);
}

/* The axes' strides; false if some axis has several. */
static bool axis_strides(const tf_view_work *work, const tf_dim *strides[TF_MAX_RANK]) {
  for (unsigned axis = 0; axis < work->rank; axis++) {
    if (work->axes[axis].mode_count != 1) return false;
    strides[axis] = work->axes[axis].modes[0].stride;
  }
  return true;
}

/* A clipped window that is wider than its source has coordinates that no storage offset names. Where that is open (a source of
 * unknown extent) strides name coordinates all the same: they are multiples of the storage's own. */
static bool clip_is_wide(const tf_view_work *work) {
  for (unsigned i = 0; i < work->clip_count; i++) {
    const tf_view_clip *clip = &work->clips[i];
    int64_t min, max;
    if (clip->axis < 0) continue;
    tf_dim_range(tf_dim_binary(work->context, TF_DIM_SUB, clip->extent, work->axes[clip->axis].extent), &min, &max);
    if (max < 0) return true;
  }
  return false;
}

bool tf_view_refuse_zero_split(tf_view_work *work, const tf_layout *shard) {
  tf_shard_domain domain;
  const char *reason = NULL;
  if (!tf_shard_domain_of(work->context, shard, &domain, &reason)) return VIEW_FAIL(work, VIEW_SHARD, reason);
  if (!domain.has_zero_split) return true;
  return VIEW_FAIL(work, VIEW_ZERO_SPLIT, tf_shard_domain_print(work->context, &domain));
}

bool tf_view_own(tf_view_work *work, const tf_layout *shard, bool in_row_major) {
  const tf_dim *strides[TF_MAX_RANK];
  const char *reason = NULL;
  bool has_strides = shard && tf_layout_get_kind(tf_layout_outer(shard)) == TF_LAYOUT_PLAIN &&
                     tf_layout_strides(tf_layout_outer(shard));
  bool strided = has_strides && !in_row_major;
  if (strided && !axis_strides(work, strides))
    return VIEW_FAIL(work, VIEW_SHARD_NESTED, tf_layout_print(work->context, shard));
  if (strided && clip_is_wide(work)) return VIEW_FAIL(work, VIEW_CLIP_LAYOUT, tf_layout_print(work->context, shard));
  const tf_type *type = type_with(work, shard);
  tf_status status = tf_ownership_of(work->context, type, strided ? strides : NULL, &work->ownership, &reason);
  if (status != TF_OK) return VIEW_FAIL(work, VIEW_SHARD, reason ? reason : tf_type_print(work->context, type));
  work->shard = shard;
  work->shard_in_row_major = in_row_major;
  step_digits(work);
  return true;
}

/* ---- Reshaped sharded values --------------------------------------------------------------------------------------------- */
/* The stride of a factor of the new ownership from the old one's that contains it. */
static const tf_dim *inherited_stride(const tf_view_work *work, const tf_ownership *old, const tf_dim *const *strides,
                                      const tf_factor *factor) {
  for (unsigned i = 0; i < old->factor_count; i++) {
    const tf_factor *from = &old->factors[i];
    const tf_dim *into = tf_view_quotient(work, factor->step, from->step);
    if (from->mesh_axis != factor->mesh_axis || !into || tf_dim_equals(into, 0)) continue;
    if (!tf_view_quotient(work, from->extent, tf_view_mul(work, into, factor->extent))) continue;
    return tf_view_mul(work, strides[i], into);
  }
  return NULL;
}

/* Where the new shape cuts factors unevenly their logical steps stay right; they stand on no axis any more. */
static const tf_ownership *without_axes(const tf_view_work *work, const tf_ownership *old) {
  tf_ownership *own = tf_arena_copy(&work->context->arena, old, sizeof *old);
  for (unsigned i = 0; i < own->factor_count; i++) {
    own->factors[i].shape_axis = -1;
    own->factors[i].unit = NULL;
  }
  own->steps_are_affine = false;
  return own;
}

bool tf_view_own_again(tf_view_work *work) {
  if (work->by_coordinates) return tf_view_own(work, work->shard, work->shard_in_row_major);
  const tf_ownership *old = work->ownership;
  const tf_dim *strides[TF_MAX_FACTORS];
  const char *reason = NULL;
  bool inherits =
      tf_ownership_of(work->context, type_with(work, work->shard), NULL, &work->ownership, &reason) == TF_OK;
  for (unsigned i = 0; inherits && i < work->ownership->factor_count; i++) {
    strides[i] = inherited_stride(work, old, work->digit_strides, &work->ownership->factors[i]);
    inherits = strides[i] != NULL;
  }
  if (inherits) {
    memcpy(work->digit_strides, strides, work->ownership->factor_count * sizeof *strides);
  } else {
    work->ownership = without_axes(work, old);
  }
  return true;
}

/* ---- Parts --------------------------------------------------------------------------------------------------------------- */
static bool before(const tf_factor *a, const tf_factor *b) {
  if (a->shape_axis != b->shape_axis) return a->shape_axis > b->shape_axis;
  const tf_dim *x = a->shape_axis >= 0 ? a->unit : a->step, *y = b->shape_axis >= 0 ? b->unit : b->step;
  int64_t x_min, y_min, unused;
  tf_dim_range(x, &x_min, &unused);
  tf_dim_range(y, &y_min, &unused);
  return x_min < y_min;
}

/* Local factors by ascending step in the logical index. */
static unsigned sort_local(const tf_ownership *own, unsigned order[TF_MAX_FACTORS]) {
  for (unsigned i = 0; i < own->local_count; i++) {
    unsigned at = i;
    for (; at > 0 && before(&own->factors[own->local[i]], &own->factors[order[at - 1]]); at--)
      order[at] = order[at - 1];
    order[at] = own->local[i];
  }
  return own->local_count;
}

/* Whether the local elements are neighbours on every axis: units 1, then each the product of the extents before. */
static bool part_is_box(const tf_view_work *work, const unsigned *order, unsigned count) {
  const tf_ownership *own = work->ownership;
  if (!own->steps_are_affine) return false;
  const tf_dim *unit = NULL;
  int axis = -1;
  for (unsigned i = 0; i < count; i++) {
    const tf_factor *factor = &own->factors[order[i]];
    if (factor->shape_axis != axis) unit = tf_dim_int(work->context, 1);
    axis = factor->shape_axis;
    if (factor->unit != unit) return false;
    unit = tf_view_mul(work, unit, factor->extent);
  }
  return true;
}

/* Axis `to` from the ordered local factors that stand on `axis` (-1: all). */
static bool set_part_axis(tf_view_work *work, const unsigned *order, unsigned count, int axis, tf_view_axis *to) {
  tf_view_mode modes[TF_MAX_FACTORS];
  unsigned used = 0;
  to->extent = tf_dim_int(work->context, 1);
  for (unsigned i = 0; i < count; i++) {
    const tf_factor *factor = &work->ownership->factors[order[i]];
    if (axis >= 0 && factor->shape_axis != axis) continue;
    modes[used++] = (tf_view_mode){factor->extent, work->digit_strides[order[i]]};
    to->extent = tf_view_mul(work, to->extent, factor->extent);
  }
  return to->extent && tf_view_set_modes(work, to, used, modes);
}

static bool start_at_own_digits(tf_view_work *work) {
  for (unsigned i = 0; i < work->ownership->factor_count; i++) {
    const tf_factor *factor = &work->ownership->factors[i];
    if (factor->mesh_axis < 0 || tf_dim_equals(work->digit_strides[i], 0)) continue;
    if (work->start_count == TF_MAX_STARTS) return VIEW_FAIL(work, VIEW_DEEP, TF_MAX_STARTS);
    work->starts[work->start_count++] = (tf_view_start){.mesh = work->ownership->mesh,
                                                        .mesh_axis = (unsigned)factor->mesh_axis,
                                                        .divisor = factor->divisor,
                                                        .extent = factor->extent,
                                                        .stride = work->digit_strides[i]};
  }
  return true;
}

/* A clipped axis keeps its coordinates only if nothing splits it. */
static bool clips_survive(tf_view_work *work, bool box) {
  for (unsigned c = 0; c < work->clip_count; c++) {
    bool split = !box;
    for (unsigned i = 0; i < work->ownership->factor_count; i++)
      split |=
          work->ownership->factors[i].mesh_axis >= 0 && work->ownership->factors[i].shape_axis == work->clips[c].axis;
    if (split && work->clips[c].axis >= 0) return VIEW_FAIL(work, VIEW_CLIP_PART, (unsigned)work->clips[c].axis);
  }
  return true;
}

bool tf_view_take_part(tf_view_work *work, const tf_view *outer) {
  unsigned order[TF_MAX_FACTORS];
  if (work->ownership->partial) return VIEW_FAIL(work, VIEW_PARTIAL, tf_layout_print(work->context, work->shard));
  if (!work->has_digit_strides) return VIEW_FAIL(work, VIEW_UNEVEN, tf_layout_print(work->context, work->shard));
  unsigned count = sort_local(work->ownership, order);
  bool box = part_is_box(work, order, count), good = clips_survive(work, box) && start_at_own_digits(work);
  if (!good) return false;
  for (unsigned axis = 0; good && axis < (box ? work->rank : 1); axis++)
    good = set_part_axis(work, order, count, box ? (int)axis : -1, &work->axes[axis]);
  if (!good) return VIEW_FAIL(work, VIEW_UNEVEN, tf_layout_print(work->context, work->shard));
  work->rank = box ? work->rank : 1;
  work->by_coordinates = true;
  work->outer = outer;
  return tf_view_own(work, NULL, true);
}
