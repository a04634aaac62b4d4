/* Windows, reshapes and plain layouts of plain values.
 *
 * A window keeps its source's strides and adds a start:
 *
 *   x (128, 256), strides (256, 1);   window at (i, 16*k) of shape (16, 16)     starts i * 256, 16*k * 1;  strides (256, 1)
 *
 * A reshape walks the same storage in the same C order under other axes; a strided window can be cut along its rows and
 * joined over whole rows, not across them. A plain layout gives new strides from the same first element. */
#include "IR/Construct.h"
#include "IR/ViewImpl.h"

/* ---- Starts ----------------------------------------------------------------------------------------------------------- */
bool tf_view_add_start(tf_view_work *work, const tf_expr *index, const tf_dim *stride) {
  int64_t min, max;
  tf_expr_range(index, &min, &max);
  if (!stride) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  if (tf_dim_equals(stride, 0)) return true;
  if (min == max && min != INT64_MIN && max != INT64_MAX) {
    const tf_dim *offset = tf_view_mul(work, stride, tf_dim_int(work->context, min));
    work->constant = tf_view_add(work, work->constant, offset);
    return work->constant || VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  }
  if (work->start_count == TF_MAX_STARTS) return VIEW_FAIL(work, VIEW_DEEP, TF_MAX_STARTS);
  work->starts[work->start_count++] = (tf_view_start){.index = index, .stride = stride};
  return true;
}

/* Whether the window on an axis lies outside of it in every execution. room = extent - window. */
static bool check_axis(tf_view_work *work, unsigned axis, const tf_expr *start, const tf_dim *window) {
  tf_context *context = work->context;
  const tf_dim *extent = work->axes[axis].extent, *room = tf_dim_binary(context, TF_DIM_SUB, extent, window);
  int64_t room_min, room_max, min, max;
  if (!room) return true;
  tf_dim_range(room, &room_min, &room_max);
  if (room_max < 0)
    return VIEW_FAIL(work, VIEW_LARGER, tf_dim_print(context, window), axis, tf_dim_print(context, extent));
  tf_expr_range(start, &min, &max);
  if (max >= 0 && min <= room_max) return true;
  return VIEW_FAIL(work, VIEW_OUTSIDE, tf_dim_print(context, window), (long long)(max < 0 ? max : min), axis,
                   tf_dim_print(context, extent));
}

bool tf_view_check_window(tf_view_work *work, const tf_view_request *request, const tf_dim **padded) {
  if (request->start_count != work->rank) return VIEW_FAIL(work, VIEW_STARTS, work->rank, request->start_count);
  if (request->rank > work->rank) return VIEW_FAIL(work, VIEW_WINDOW_RANK, request->rank, work->rank);
  unsigned dropped = work->rank - request->rank;
  for (unsigned axis = 0; axis < work->rank; axis++) {
    padded[axis] = axis < dropped ? tf_dim_int(work->context, 1) : request->shape[axis - dropped];
    if (!request->clip && !check_axis(work, axis, request->starts[axis], padded[axis])) return false;
  }
  return true;
}

unsigned tf_window_bounds(tf_context *context, const tf_invocation *invocation, tf_window_bound *out) {
  const tf_expr *const *starts, *memory = invocation->args[TF_ARG_TENSOR_VIEW_memory];
  unsigned count = tf_invocation_variadic(invocation, &starts), rank = tf_type_rank(memory->type);
  const tf_tuple *shape = invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_shape].tuple;
  if (!shape || invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_clip].literal) return 0;
  if (count == 1 && rank > 1) {
    *out = (tf_window_bound){starts[0], tf_tuple_product(context, shape), tf_type_numel(context, memory->type)};
    return 1;
  }
  unsigned dropped = rank - tf_tuple_count(shape); /* leading axes that the window's shape lacks */
  for (unsigned axis = 0; axis < count; axis++) {
    const tf_dim *extent =
        axis < dropped ? tf_dim_int(context, 1) : tf_tuple_dim(tf_tuple_element(shape, axis - dropped));
    out[axis] = (tf_window_bound){starts[axis], extent, tf_type_extent(memory->type, axis)};
  }
  return count;
}

/* ---- Clipping ----------------------------------------------------------------------------------------------------------- */
static const tf_expr *sum_of(tf_context *context, const tf_expr *a, const tf_expr *b) {
  int64_t min, max;
  tf_expr_range(b, &min, &max);
  if (!a) return b;
  if (min == 0 && max == 0) return a;
  tf_attr kind = {.i = TF_SCALAR_BINARY_ADD};
  return tf_expr_call(context, TF_OP_SCALAR_BINARY, 2, (const tf_expr *const[]){a, b}, &kind, a->loc);
}

/* Whether all of the window is inside the axis in every execution. */
static bool is_inside(const tf_view_work *work, const tf_expr *start, const tf_dim *window, const tf_dim *extent) {
  int64_t min, max, room_min, room_max;
  const tf_dim *room = tf_dim_binary(work->context, TF_DIM_SUB, extent, window);
  if (!room) return false;
  tf_expr_range(start, &min, &max);
  tf_dim_range(room, &room_min, &room_max);
  return min >= 0 && max <= room_min;
}

static bool push_clip(tf_view_work *work, int axis, const tf_expr *start, const tf_dim *extent) {
  if (work->clip_count == TF_MAX_RANK) return VIEW_FAIL(work, VIEW_DEEP, TF_MAX_RANK);
  work->clips[work->clip_count++] = (tf_view_clip){axis, start, extent};
  return true;
}

static bool same_literal(const tf_expr *a, const tf_expr *b) {
  return a == b || (a->kind == TF_EXPR_CONSTANT && b->kind == TF_EXPR_CONSTANT && a->type == b->type &&
                    a->constant.i == b->constant.i && a->constant.f == b->constant.f);
}

/* The source's clipped axes move with the window; the window clips those axes that it may leave. */
static bool clip_window(tf_view_work *work, const tf_view_request *request, const tf_dim *const *padded) {
  int dropped = (int)(work->rank - request->rank);
  for (unsigned i = 0; i < work->clip_count; i++) {
    tf_view_clip *clip = &work->clips[i];
    if (clip->axis < 0) continue;
    clip->start = sum_of(work->context, clip->start, request->starts[clip->axis]);
    clip->axis = clip->axis >= dropped ? clip->axis - dropped : -1;
  }
  if (!request->clip) return true;
  if (work->clip_value && !same_literal(work->clip_value, request->clip))
    return VIEW_FAIL(work, VIEW_CLIP_VALUES, "clip=");
  work->clip_value = request->clip;
  for (unsigned axis = 0; axis < work->rank; axis++) {
    if (is_inside(work, request->starts[axis], padded[axis], work->axes[axis].extent)) continue;
    int to = (int)axis >= dropped ? (int)axis - dropped : -1;
    if (!push_clip(work, to, request->starts[axis], work->axes[axis].extent)) return false;
  }
  return true;
}

/* ---- Windows -------------------------------------------------------------------------------------------------------------- */
static bool window_axis(tf_view_work *work, unsigned axis, const tf_expr *start, const tf_dim *window) {
  tf_view_axis *a = &work->axes[axis];
  int64_t min, max;
  tf_expr_range(start, &min, &max);
  bool whole = window == a->extent && min == 0 && max == 0;
  if (whole) return true;
  if (a->mode_count != 1) return VIEW_FAIL(work, VIEW_NESTED_AXIS, axis);
  if (!tf_view_add_start(work, start, a->modes[0].stride)) return false;
  a->extent = a->modes[0].extent = window;
  return true;
}

static bool window_per_axis(tf_view_work *work, const tf_view_request *request) {
  const tf_dim *padded[TF_MAX_RANK];
  if (!tf_view_check_window(work, request, padded) || !clip_window(work, request, padded)) return false;
  for (unsigned axis = 0; axis < work->rank; axis++)
    if (!window_axis(work, axis, request->starts[axis], padded[axis])) return false;
  unsigned dropped = work->rank - request->rank;
  for (unsigned axis = 0; axis < request->rank; axis++)
    work->axes[axis] = work->axes[axis + dropped];
  work->rank = request->rank;
  return true;
}

static bool set_extents(tf_view_work *work, unsigned rank, const tf_dim *const *shape) {
  if (rank > TF_MAX_RANK) return VIEW_FAIL(work, VIEW_RANK, TF_MAX_RANK, rank);
  work->rank = rank;
  for (unsigned axis = 0; axis < rank; axis++)
    work->axes[axis].extent = shape[axis];
  return true;
}

/* One start counts through the source in C order, so that order has to walk the storage in equal steps. */
static bool window_flat(tf_view_work *work, const tf_view_request *request) {
  tf_view_mode modes[TF_MAX_ALL_MODES];
  if (request->clip || work->clip_count)
    return VIEW_FAIL(work, VIEW_CLIP_RESHAPE,
                     work->rank == 1 ? "a window of more axes than its source"
                                     : "one flat start, instead of one for each axis of the source,");
  if (tf_view_all_modes(work, modes) != 1) return VIEW_FAIL(work, VIEW_FLAT_START, tf_view_print_axes(work));
  tf_view_axis whole = {.extent = modes[0].extent};
  tf_dim const *source = tf_view_rows(work, 0);
  if (!set_extents(work, request->rank, request->shape) || !tf_view_set_row_major(work)) return false;
  const tf_dim *window = tf_view_rows(work, 0);
  if (!window || !source) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  tf_view_work flat = *work; /* checked as a window of a vector */
  flat.rank = 1;
  whole.extent = source;
  flat.axes[0] = whole;
  if (!check_axis(&flat, 0, request->starts[0], window)) {
    work->failed = true;
    work->fault_id = flat.fault_id;
    work->fault = flat.fault;
    return false;
  }
  for (unsigned axis = 0; axis < work->rank; axis++)
    work->axes[axis].modes[0].stride = tf_view_mul(work, work->axes[axis].modes[0].stride, modes[0].stride);
  return tf_view_add_start(work, request->starts[0], modes[0].stride);
}

bool tf_view_window(tf_view_work *work, const tf_view_request *request) {
  bool per_axis = request->start_count == work->rank && request->rank <= work->rank;
  if (request->start_count == 1 && !per_axis) return window_flat(work, request);
  return window_per_axis(work, request);
}

/* ---- Reshapes ---------------------------------------------------------------------------------------------------------------- */
unsigned tf_view_all_modes(const tf_view_work *work, tf_view_mode modes[TF_MAX_ALL_MODES]) {
  unsigned count = 0;
  for (unsigned axis = work->rank; axis-- > 0;)
    for (unsigned m = 0; m < work->axes[axis].mode_count; m++) {
      const tf_view_mode *mode = &work->axes[axis].modes[m];
      tf_view_mode *last = count ? &modes[count - 1] : NULL;
      if (tf_dim_equals(mode->extent, 1)) continue;
      if (last && tf_view_mul(work, last->extent, last->stride) == mode->stride) {
        last->extent = tf_view_mul(work, last->extent, mode->extent);
      } else {
        modes[count++] = *mode;
      }
    }
  if (count == 0) modes[count++] = (tf_view_mode){tf_dim_int(work->context, 1), tf_dim_int(work->context, 1)};
  return count;
}

/* Takes `extent` elements from the fastest modes on; what is left of the last one stays. */
static bool take_axis(const tf_view_work *work, const tf_dim *extent, tf_view_axis *axis, tf_view_mode *modes,
                      unsigned *at, unsigned count) {
  tf_view_mode taken[TF_MAX_MODES];
  unsigned used = 0;
  axis->extent = extent;
  while (!tf_dim_equals(extent, 1)) {
    if (*at == count || used == TF_MAX_MODES) return false;
    tf_view_mode *mode = &modes[*at];
    const tf_dim *rest = tf_view_quotient(work, mode->extent, extent);
    if (rest) {
      taken[used++] = (tf_view_mode){extent, mode->stride};
      *mode = (tf_view_mode){rest, tf_view_mul(work, mode->stride, extent)};
      *at += tf_dim_equals(rest, 1);
      break;
    }
    extent = tf_view_quotient(work, extent, mode->extent);
    if (!extent) return false;
    taken[used++] = *mode;
    ++*at;
  }
  return tf_view_set_modes(work, axis, used, taken);
}

static bool reshape_axes(tf_view_work *work, unsigned rank, const tf_dim *const *shape) {
  tf_view_mode modes[TF_MAX_ALL_MODES];
  unsigned count = tf_view_all_modes(work, modes), at = 0;
  const char *source = tf_view_print_axes(work);
  if (!set_extents(work, rank, shape)) return false;
  for (unsigned axis = rank; axis-- > 0;)
    if (!take_axis(work, shape[axis], &work->axes[axis], modes, &at, count))
      return VIEW_FAIL(work, VIEW_RESHAPE_STRIDED, source, tf_view_print_axes(work));
  return true;
}

static bool has_shape(const tf_view_work *work, unsigned rank, const tf_dim *const *shape) {
  bool same = rank == work->rank;
  for (unsigned axis = 0; same && axis < rank; axis++)
    same = work->axes[axis].extent == shape[axis];
  return same;
}

bool tf_view_reshape(tf_view_work *work, unsigned rank, const tf_dim *const *shape) {
  if (has_shape(work, rank, shape)) return true;
  const tf_dim *from = tf_view_rows(work, 0), *to = tf_dim_int(work->context, 1);
  for (unsigned axis = 0; axis < rank; axis++)
    to = tf_view_mul(work, to, shape[axis]);
  if (!from || from != to)
    return VIEW_FAIL(work, VIEW_RESHAPE_COUNT, tf_view_print_axes(work),
                     tf_view_print_shape(work->context, rank, shape));
  if (work->clip_count) return VIEW_FAIL(work, VIEW_CLIP_RESHAPE, "a reshape");
  bool empty = tf_dim_equals(to, 0);
  if (!work->by_coordinates || empty) {
    bool by_coordinates = work->by_coordinates;
    if (!set_extents(work, rank, shape) || !tf_view_set_row_major(work)) return false;
    work->by_coordinates = by_coordinates;
    return true;
  }
  return reshape_axes(work, rank, shape);
}

/* ---- Plain layouts ------------------------------------------------------------------------------------------------------------- */
/* The layout's own top-level extents, if it has as many elements as the value. */
static bool adopt_extents(tf_view_work *work, const tf_layout *layout) {
  const tf_tuple *shape = tf_layout_shape(layout);
  unsigned rank = tf_tuple_is_leaf(shape) ? 1 : tf_tuple_count(shape);
  const tf_dim *extents[TF_MAX_RANK];
  if (rank > TF_MAX_RANK || tf_tuple_product(work->context, shape) != tf_view_rows(work, 0)) return true;
  for (unsigned axis = 0; axis < rank; axis++)
    extents[axis] = tf_tuple_product(work->context, tf_tuple_element(shape, axis));
  return set_extents(work, rank, extents);
}

static bool lay_swizzle(tf_view_work *work, const tf_layout *inner) {
  bool whole = tf_dim_equals(work->constant, 0) && work->start_count == 0 && !work->inner;
  if (tf_layout_get_kind(inner) != TF_LAYOUT_SWIZZLE || !whole || work->storage != TF_STORAGE_SMEM)
    return VIEW_FAIL(work, VIEW_SWIZZLE, tf_layout_print(work->context, inner));
  work->inner = inner;
  return true;
}

bool tf_view_lay_plain(tf_view_work *work, const tf_layout *layout, bool has_shape) {
  const tf_layout *plain = layout;
  const tf_dim *before = tf_view_reach(work), *offset = tf_dim_int(work->context, 0);
  if (work->clip_count) return VIEW_FAIL(work, VIEW_CLIP_LAYOUT, tf_layout_print(work->context, layout));
  if (tf_layout_get_kind(layout) == TF_LAYOUT_COMPOSED) {
    plain = tf_layout_outer(layout);
    offset = tf_layout_offset(layout);
    if (tf_layout_inner(layout) && !lay_swizzle(work, tf_layout_inner(layout))) return false;
  }
  if (plain) {
    if (tf_layout_get_kind(plain) != TF_LAYOUT_PLAIN)
      return VIEW_FAIL(work, VIEW_LAYOUT_SHAPE, tf_layout_print(work->context, layout), tf_view_print_axes(work));
    if (!has_shape && !adopt_extents(work, plain)) return false;
    if (!tf_view_set_plain(work, plain)) return false;
  }
  work->constant = tf_view_add(work, work->constant, offset);
  const tf_dim *after = tf_view_add(work, tf_view_reach(work), offset);
  if (!before || !after || !work->constant) return VIEW_FAIL(work, VIEW_OVERFLOW, tf_view_print_axes(work));
  int64_t room_min = 0, room_max = 0, offset_min, offset_max;
  const tf_dim *room = tf_dim_binary(work->context, TF_DIM_SUB, before, after);
  if (room) tf_dim_range(room, &room_min, &room_max);
  tf_dim_range(offset, &offset_min, &offset_max);
  if (room_max >= 0 && offset_max >= 0) return true;
  return VIEW_FAIL(work, VIEW_LAYOUT_OUTSIDE, tf_layout_print(work->context, layout),
                   tf_dim_print(work->context, after), tf_dim_print(work->context, before));
}
