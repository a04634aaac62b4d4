/* Views under construction. A view starts as its base's storage and is rewritten step by step: window, reshape, part,
 * layout. Its address is kept in one of two forms:
 *
 *   by coordinates   every axis of the shape is a list of modes, leftmost fastest; an ordinary axis is one mode
 *   by digits        every factor of the ownership has a stride (register fragments, private shared buffers)
 *
 * Taking an instance's part turns the second into the first. The first fault ends the work: fault_id and fault hold it. */
#ifndef TF_IR_VIEW_IMPL_H
#define TF_IR_VIEW_IMPL_H

#include "IR/DimImpl.h"
#include "IR/View.h"

#define TF_MAX_MODES 16 /* of one axis */

typedef struct tf_view_mode {
  const tf_dim *extent, *stride;
} tf_view_mode;

typedef struct tf_view_axis {
  const tf_dim *extent;
  unsigned mode_count; /* >= 1; leftmost fastest */
  tf_view_mode modes[TF_MAX_MODES];
} tf_view_axis;

typedef struct tf_view_work {
  tf_context *context;
  const tf_expr *base;
  tf_dtype dtype;
  tf_storage storage;
  const tf_dim *storage_size;
  const tf_dim *constant;
  unsigned start_count;
  tf_view_start starts[TF_MAX_STARTS];
  unsigned rank;
  tf_view_axis axes[TF_MAX_RANK]; /* extents always, modes if by_coordinates */
  bool by_coordinates;
  const tf_layout *shard;  /* the value's ShardLayout, or null */
  bool shard_in_row_major; /* its strides step in C order of the value's shape, not in the axes' strides */
  const tf_layout *inner;
  unsigned clip_count;
  tf_view_clip clips[TF_MAX_RANK];
  const tf_expr *clip_value;
  const tf_ownership *ownership;
  bool has_digit_strides;
  const tf_dim *digit_strides[TF_MAX_FACTORS];
  const tf_view *outer;
  bool failed;
  tf_diag_id fault_id;
  const char *fault;
} tf_view_work;

/* Records the fault with a row of Diags.def and gives false: return VIEW_FAIL(work, VIEW_SHAPE, …). */
#define VIEW_FAIL(work, ID, ...) tf_view_fail((work), TF_DIAG_##ID, tf_diag_format_##ID, __VA_ARGS__)
bool tf_view_fail(tf_view_work *work, tf_diag_id id, const char *format, ...) TF_PRINTF(3, 4);

/* ---- Dims: null means overflow and is passed on ---- */
static inline const tf_dim *tf_view_mul(const tf_view_work *work, const tf_dim *a, const tf_dim *b) {
  return a && b ? tf_dim_binary(work->context, TF_DIM_MUL, a, b) : NULL;
}
static inline const tf_dim *tf_view_quotient(const tf_view_work *work, const tf_dim *a, const tf_dim *b) {
  return a && b ? tf_dim_exact_quotient(work->context, a, b) : NULL; /* null also if it is not exact */
}
static inline const tf_dim *tf_view_add(const tf_view_work *work, const tf_dim *a, const tf_dim *b) {
  return a && b ? tf_dim_binary(work->context, TF_DIM_ADD, a, b) : NULL;
}
bool tf_dim_equals(const tf_dim *dim, int64_t value);
/* Product of the extents of axes first … rank-1: the C-order step of axis first-1. */
const tf_dim *tf_view_rows(const tf_view_work *work, unsigned first);
const char *tf_view_print_shape(tf_context *context, unsigned rank, const tf_dim *const *shape);
const char *tf_view_print_axes(const tf_view_work *work);

/* ---- Storage (ViewBase.c) ---- */
bool tf_view_from_param(tf_view_work *work, const tf_type *type);
bool tf_view_from_allocation(tf_view_work *work, const tf_type *type);
/* C order over the extents in work->axes. */
bool tf_view_set_row_major(tf_view_work *work);
/* The axes of a plain layout whose top-level modes have the extents in work->axes. */
bool tf_view_set_plain(tf_view_work *work, const tf_layout *layout);
/* One axis of these modes, leftmost fastest, in the shortest form; false if there are too many. */
bool tf_view_set_modes(const tf_view_work *work, tf_view_axis *axis, unsigned count, const tf_view_mode *modes);
/* Largest offset of the axes plus 1. */
const tf_dim *tf_view_reach(const tf_view_work *work);

/* ---- Ownership (ViewShard.c) ---- */
/* Sets the ownership of the value by `shard` (null: plain) and the strides of its digits from the axes. The layout's strides
 * step in C order of the shape if in_row_major, else in the axes' strides. */
bool tf_view_own(tf_view_work *work, const tf_layout *shard, bool in_row_major);
/* The plain value that one instance owns of the sharded one: `outer` is that one, finished. */
bool tf_view_take_part(tf_view_work *work, const tf_view *outer);
/* After a change of the shape that keeps all logical indices. */
bool tf_view_own_again(tf_view_work *work);
bool tf_view_refuse_zero_split(tf_view_work *work, const tf_layout *shard);

/* ---- Windows and reshapes ---- */
typedef struct tf_view_request {
  unsigned start_count;
  const tf_expr *const *starts;
  const tf_layout *layout;
  unsigned rank;              /* of shape */
  const tf_dim *const *shape; /* null: not given */
  const tf_expr *clip;
} tf_view_request;
bool tf_view_window(tf_view_work *work, const tf_view_request *request);         /* ViewWindow.c: a plain source */
bool tf_view_sharded_window(tf_view_work *work, const tf_view_request *request); /* ViewShardWindow.c */
bool tf_view_reshape(tf_view_work *work, unsigned rank, const tf_dim *const *shape);
/* All axes as modes from the fastest on, extent-1 ones dropped and neighbours joined; returns their number. */
#define TF_MAX_ALL_MODES (TF_MAX_RANK * TF_MAX_MODES)
unsigned tf_view_all_modes(const tf_view_work *work, tf_view_mode modes[TF_MAX_ALL_MODES]);
bool tf_view_lay_plain(tf_view_work *work, const tf_layout *layout, bool has_shape); /* addresses by a plain layout */

/* Adds index * stride; constants go into work->constant. */
bool tf_view_add_start(tf_view_work *work, const tf_expr *index, const tf_dim *stride);
/* Checks starts and extents against the source's axes: counts, windows proven outside. padded receives the extents of
 * shape with 1s in front (one per source axis). */
bool tf_view_check_window(tf_view_work *work, const tf_view_request *request, const tf_dim **padded);

/* Bounds of an integer scalar expression that hold in every execution; INT64_MIN and INT64_MAX: unbounded. */
void tf_expr_range(const tf_expr *expr, int64_t *min, int64_t *max);

#endif
