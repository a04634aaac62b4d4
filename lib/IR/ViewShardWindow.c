/* Windows of sharded values: only axes that no Split touches are cut, so every instance keeps the same share.
 *
 *   acc (4, 2, 16, 8), layout (4, 2,  2, 4, 8, 2):(256, 128,  1, 2, 8, 64), Split(3) Split(4)     an array of fragments
 *   window at (i, j, 0, 0) of shape (16, 8)           layout (2, 4, 8, 2):(1, 2, 8, 64), Split(1) Split(2)
 *                                                     starts i * 8 registers …, as the cut axis steps in storage
 *
 * The result's layout is the source's without what was cut, its strides stepping in C order of the window's shape, so that
 * the type alone says who owns what. */
#include "IR/ShardDomain.h"
#include "IR/ViewImpl.h"

#include <string.h>

typedef struct cut {
  tf_view_work *work;
  unsigned dropped;
  const tf_dim *window[TF_MAX_RANK]; /* extents of the window on the source's axes */
  bool is_cut[TF_MAX_RANK];          /* not the whole axis */
  const tf_dim *row[TF_MAX_RANK];    /* C-order step of a source axis in the window's shape */
  const tf_dim *stride[TF_MAX_RANK]; /* storage elements per step on a cut axis */
} cut;

/* ---- What is cut ----------------------------------------------------------------------------------------------------------- */
/* Storage elements per step on the axis: its stride, or what its local digits have in common. */
static const tf_dim *axis_stride(const tf_view_work *work, unsigned axis) {
  if (work->by_coordinates) return work->axes[axis].mode_count == 1 ? work->axes[axis].modes[0].stride : NULL;
  const tf_dim *common = NULL;
  for (unsigned i = 0; i < work->ownership->factor_count; i++) {
    const tf_factor *factor = &work->ownership->factors[i];
    if (factor->shape_axis != (int)axis) continue;
    const tf_dim *stride = tf_view_quotient(work, work->digit_strides[i], factor->unit);
    if (!stride || (common && common != stride)) return NULL;
    common = stride;
  }
  return common ? common : tf_dim_int(work->context, 0);
}

static bool find_cuts(cut *c, const tf_view_request *request) {
  tf_view_work *work = c->work;
  for (unsigned axis = 0; axis < work->rank; axis++) {
    int64_t min, max;
    tf_expr_range(request->starts[axis], &min, &max);
    c->is_cut[axis] = c->window[axis] != work->axes[axis].extent || min != 0 || max != 0;
    if (!c->is_cut[axis]) continue;
    for (unsigned i = 0; i < work->ownership->factor_count; i++) {
      const tf_factor *factor = &work->ownership->factors[i];
      if (factor->mesh_axis >= 0 && factor->shape_axis == (int)axis) return VIEW_FAIL(work, VIEW_SPLIT_AXIS, axis);
    }
    c->stride[axis] = axis_stride(work, axis);
    if (!c->stride[axis]) return VIEW_FAIL(work, VIEW_NESTED_AXIS, axis);
    if (!tf_view_add_start(work, request->starts[axis], c->stride[axis])) return false;
  }
  const tf_dim *row = tf_dim_int(work->context, 1);
  for (unsigned axis = work->rank; axis-- > 0;) {
    c->row[axis] = row;
    row = tf_view_mul(work, row, c->window[axis]);
  }
  return row || VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
}

/* ---- The layout without them ------------------------------------------------------------------------------------------------- */
typedef struct domain_builder {
  unsigned count;
  const tf_dim *extents[TF_MAX_FACTORS], *steps[TF_MAX_FACTORS];
  int mode_of_mesh_axis[TF_MAX_FACTORS]; /* -1: none */
  bool axis_done[TF_MAX_RANK];           /* the cut axis has its mode already */
  bool leading;                          /* only cut axes so far */
} domain_builder;

static bool emit(domain_builder *out, const tf_dim *extent, const tf_dim *step) {
  if (out->count == TF_MAX_FACTORS || !step) return false;
  out->extents[out->count] = extent;
  out->steps[out->count++] = step;
  return true;
}

/* A cut axis is one mode of the window's extent, at the place of its first one. */
static bool emit_cut_axis(const cut *c, domain_builder *out, int axis) {
  if (out->axis_done[axis]) return true;
  out->axis_done[axis] = true;
  return tf_dim_equals(c->window[axis], 1) || emit(out, c->window[axis], c->row[axis]);
}

static const tf_dim *new_step(const cut *c, const tf_factor *factor) {
  return tf_view_mul(c->work, factor->unit, c->row[factor->shape_axis]);
}

/* The factors of the ownership that a mode of the domain became: from *next on for local ones (they stand in the same
 * order), by mesh axis for the others. */
static unsigned factors_of(const cut *c, const tf_domain_axis *mode, unsigned *next,
                           const tf_factor *out[TF_MAX_FACTORS]) {
  const tf_ownership *own = c->work->ownership;
  const tf_dim *left = mode->extent;
  unsigned count = 0;
  for (unsigned i = mode->mesh_axis < 0 ? *next : 0; i < own->factor_count && !tf_dim_equals(left, 1); i++) {
    if (own->factors[i].mesh_axis != mode->mesh_axis) continue;
    out[count++] = &own->factors[i];
    left = tf_view_quotient(c->work, left, own->factors[i].extent);
    if (mode->mesh_axis < 0) *next = i + 1;
    if (!left) break;
  }
  return count;
}

/* The first axis from `axis` on whose steps the given one is a multiple of. */
static unsigned axis_of_step(const cut *c, unsigned axis, const tf_dim *step, const tf_dim **unit) {
  for (; axis < c->work->rank; axis++) {
    *unit = tf_view_quotient(c->work, step, tf_view_rows(c->work, axis + 1));
    if (*unit && !tf_dim_equals(*unit, 0)) break;
  }
  return axis;
}

static bool axis_goes(const cut *c, unsigned axis) {
  return c->is_cut[axis] || axis < c->dropped;
}

/* A mode of extent 1 may stand on several axes by its step. In front of the domain, as in an array of one fragment, it
 * goes with a cut axis; everywhere else it stays, so that the fragment's own layout comes out as it was. */
static bool emit_idle(const cut *c, domain_builder *out, const tf_domain_axis *mode, const tf_dim *step) {
  const tf_dim *unit = NULL;
  unsigned axis = axis_of_step(c, 0, step, &unit);
  if (out->leading && mode->mesh_axis < 0 && (axis == c->work->rank || axis_goes(c, axis))) return true;
  while (axis < c->work->rank && axis_goes(c, axis))
    axis = axis_of_step(c, axis + 1, step, &unit);
  if (axis == c->work->rank) return mode->mesh_axis < 0 || emit(out, mode->extent, tf_dim_int(c->work->context, 0));
  out->leading = false;
  return emit(out, mode->extent, tf_view_mul(c->work, unit, c->row[axis]));
}

static bool emit_mode(const cut *c, domain_builder *out, const tf_domain_axis *mode, const tf_dim *order,
                      unsigned *next) {
  const tf_factor *factors[TF_MAX_FACTORS];
  bool cuts = false;
  if (mode->mesh_axis >= 0) {
    out->mode_of_mesh_axis[mode->mesh_axis] = (int)out->count;
    out->leading = false;
  }
  if (tf_dim_equals(mode->extent, 1)) return emit_idle(c, out, mode, mode->stride ? mode->stride : order);
  unsigned count = factors_of(c, mode, next, factors);
  for (unsigned i = 0; i < count; i++)
    cuts |= c->is_cut[factors[i]->shape_axis];
  if (count && !cuts) {
    out->leading = false;
    return emit(out, mode->extent, new_step(c, factors[0]));
  }
  for (unsigned i = 0; i < count; i++) {
    int axis = factors[i]->shape_axis;
    if (!(c->is_cut[axis] ? emit_cut_axis(c, out, axis) : emit(out, factors[i]->extent, new_step(c, factors[i]))))
      return false;
  }
  return count > 0;
}

/* Whether the steps are C order of the domain: what a layout without strides says. */
static bool is_dealt(const cut *c, const domain_builder *out) {
  const tf_dim *step = tf_dim_int(c->work->context, 1);
  for (unsigned i = out->count; i-- > 0;) {
    if (out->steps[i] != step && !tf_dim_equals(out->extents[i], 1)) return false;
    step = tf_view_mul(c->work, step, out->extents[i]);
  }
  return true;
}

static const tf_layout *finish_layout(const cut *c, domain_builder *out) {
  tf_context *context = c->work->context;
  const tf_layout *source = c->work->shard;
  if (out->count == 0) emit(out, tf_dim_int(context, 1), tf_dim_int(context, 0));
  bool dealt = !tf_layout_strides(tf_layout_outer(source)) && is_dealt(c, out);
  const tf_layout *plain = tf_layout_plain(context, tf_tuple_dims(context, out->count, out->extents),
                                           dealt ? NULL : tf_tuple_dims(context, out->count, out->steps));
  unsigned attr_count = tf_layout_attr_count(source);
  tf_shard_attr *attrs = TF_ARENA_ARRAY(&context->arena, tf_shard_attr, attr_count);
  for (unsigned i = 0; i < attr_count; i++) {
    attrs[i] = tf_layout_attr(source, i);
    if (attrs[i].kind == TF_SHARD_SPLIT) attrs[i].axis = (unsigned)out->mode_of_mesh_axis[i];
  }
  return tf_layout_shard(context, plain, attr_count, attrs, tf_layout_mesh(source));
}

static const tf_layout *cut_layout(const cut *c) {
  tf_shard_domain domain;
  const tf_dim *order[TF_MAX_FACTORS];
  const char *reason = NULL;
  domain_builder out;
  unsigned next = 0;
  memset(&out, 0, sizeof out);
  out.leading = true;
  if (!tf_shard_domain_of(c->work->context, c->work->shard, &domain, &reason)) return NULL;
  if (!tf_shard_domain_order(c->work->context, &domain, order)) return NULL;
  for (unsigned i = 0; i < domain.count; i++)
    if (!emit_mode(c, &out, &domain.axes[i], order[i], &next)) return NULL;
  return finish_layout(c, &out);
}

/* ---- The ownership without them ------------------------------------------------------------------------------------------------ */
static void push_factor(tf_view_work *work, tf_ownership *own, tf_factor factor, const tf_dim *stride,
                        const tf_dim **strides) {
  factor.step = tf_view_mul(work, factor.unit, tf_view_rows(work, (unsigned)factor.shape_axis + 1));
  if (factor.mesh_axis < 0) own->local[own->local_count++] = own->factor_count;
  strides[own->factor_count] = stride;
  own->factors[own->factor_count++] = factor;
}

/* After the shape has become the window's. */
static void cut_ownership(const cut *c, const tf_ownership *old) {
  tf_view_work *work = c->work;
  tf_ownership *own = TF_ARENA_NEW(&work->context->arena, tf_ownership);
  const tf_dim *strides[TF_MAX_FACTORS];
  bool done[TF_MAX_RANK] = {false};
  own->mesh = old->mesh;
  own->steps_are_affine = true;
  own->partial = old->partial;
  own->private_instances = old->private_instances;
  for (unsigned i = 0; i < old->factor_count; i++) {
    tf_factor factor = old->factors[i];
    unsigned axis = (unsigned)factor.shape_axis;
    factor.shape_axis -= (int)c->dropped;
    if (!c->is_cut[axis]) {
      push_factor(work, own, factor, work->digit_strides[i], strides);
    } else if (!done[axis]) {
      done[axis] = true;
      factor.extent = c->window[axis];
      factor.unit = tf_dim_int(work->context, 1);
      if (!tf_dim_equals(factor.extent, 1)) push_factor(work, own, factor, c->stride[axis], strides);
    }
  }
  work->ownership = own;
  memcpy(work->digit_strides, strides, own->factor_count * sizeof *strides);
}

static void cut_axes(const cut *c) {
  tf_view_work *work = c->work;
  for (unsigned axis = 0; axis + c->dropped < work->rank; axis++) {
    work->axes[axis] = work->axes[axis + c->dropped];
    work->axes[axis].extent = c->window[axis + c->dropped];
    if (c->is_cut[axis + c->dropped] && work->by_coordinates)
      work->axes[axis].modes[0].extent = c->window[axis + c->dropped];
  }
  work->rank -= c->dropped;
}

/* ---- Restating the layout --------------------------------------------------------------------------------------------------------- */
/* Joins neighbours that walk on in equal steps, so that equal ownerships have equal lists. */
static unsigned joined(const tf_view_work *work, const tf_ownership *own, tf_factor out[TF_MAX_FACTORS]) {
  unsigned count = 0;
  for (unsigned i = 0; i < own->factor_count; i++) {
    tf_factor *last = count ? &out[count - 1] : NULL;
    const tf_factor *next = &own->factors[i];
    if (last && last->mesh_axis < 0 && next->mesh_axis < 0 &&
        tf_view_mul(work, last->step, last->extent) == next->step) {
      last->extent = tf_view_mul(work, last->extent, next->extent);
    } else {
      out[count++] = *next;
    }
  }
  return count;
}

static bool same_ownership(const tf_view_work *work, const tf_ownership *a, const tf_ownership *b) {
  tf_factor x[TF_MAX_FACTORS], y[TF_MAX_FACTORS];
  unsigned count = joined(work, a, x);
  if (!b->mesh || !tf_mesh_same_shape(a->mesh, b->mesh) || joined(work, b, y) != count || a->exact || b->exact)
    return false;
  for (unsigned i = 0; i < count; i++)
    if (x[i].extent != y[i].extent || x[i].step != y[i].step || x[i].mesh_axis != y[i].mesh_axis ||
        x[i].divisor != y[i].divisor)
      return false;
  return true;
}

static bool restate(tf_view_work *work, const tf_layout *layout) {
  const tf_dim *shape[TF_MAX_RANK];
  const tf_ownership *own = NULL;
  const char *reason = NULL;
  for (unsigned axis = 0; axis < work->rank; axis++)
    shape[axis] = work->axes[axis].extent;
  const tf_type *type = tf_type_tensor(work->context, work->rank, shape, work->dtype, layout, work->storage);
  bool good = layout == work->shard ||
              (tf_layout_is_shard(layout) && tf_ownership_of(work->context, type, NULL, &own, &reason) == TF_OK &&
               same_ownership(work, work->ownership, own));
  if (!good) return VIEW_FAIL(work, VIEW_RESTATE, tf_layout_print(work->context, work->shard));
  work->shard = layout;
  return true;
}

bool tf_view_sharded_window(tf_view_work *work, const tf_view_request *request) {
  cut c;
  memset(&c, 0, sizeof c);
  c.work = work;
  if (request->clip) return VIEW_FAIL(work, VIEW_CLIP_SHARDED, tf_layout_print(work->context, work->shard));
  if (!tf_view_check_window(work, request, c.window)) return false;
  c.dropped = work->rank - request->rank;
  if (!work->ownership->steps_are_affine || !work->has_digit_strides || work->clip_count)
    return VIEW_FAIL(work, VIEW_UNEVEN, tf_layout_print(work->context, work->shard));
  if (!find_cuts(&c, request)) return false;
  bool changes = c.dropped > 0;
  for (unsigned axis = 0; axis < work->rank; axis++)
    changes |= c.is_cut[axis];
  if (changes) {
    const tf_ownership *old = work->ownership;
    const tf_layout *layout = cut_layout(&c);
    if (!layout) return VIEW_FAIL(work, VIEW_UNEVEN, tf_layout_print(work->context, work->shard));
    cut_axes(&c);
    cut_ownership(&c, old);
    work->shard = layout;
    work->shard_in_row_major = true;
  }
  return !request->layout || restate(work, request->layout);
}
