/* Views: from expressions to addresses. A chain of views is followed down to its base once; every expression's view is
 * kept in the context. */
#include "IR/Construct.h"
#include "IR/Infer.h"
#include "IR/ViewImpl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A finished view with what further views of it need. */
typedef struct view_node {
  tf_view view; /* first: the address of the node is the view's */
  const tf_view_axis *axes;
  bool by_coordinates, shard_in_row_major;
} view_node;

/* ---- Shared helpers ------------------------------------------------------------------------------------------------------ */
bool tf_view_fail(tf_view_work *work, tf_diag_id id, const char *format, ...) {
  va_list args, again;
  if (work->failed) return false;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  size_t size = (size_t)(length < 0 ? 0 : length) + 1;
  char *text = tf_arena_alloc(&work->context->arena, size);
  vsnprintf(text, size, format, again);
  va_end(again);
  work->failed = true;
  work->fault_id = id;
  work->fault = text;
  return false;
}

bool tf_dim_equals(const tf_dim *dim, int64_t value) {
  int64_t number;
  return dim && tf_dim_is_static(dim, &number) && number == value;
}

const tf_dim *tf_view_rows(const tf_view_work *work, unsigned first) {
  const tf_dim *product = tf_dim_int(work->context, 1);
  for (unsigned axis = first; axis < work->rank; axis++)
    product = tf_view_mul(work, product, work->axes[axis].extent);
  return product;
}

const char *tf_view_print_shape(tf_context *context, unsigned rank, const tf_dim *const *shape) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_string_puts(&out, "(");
  for (unsigned i = 0; i < rank; i++)
    tf_string_printf(&out, "%s%s", i ? ", " : "", shape[i] ? tf_dim_print(context, shape[i]) : "?");
  tf_string_puts(&out, rank == 1 ? ",)" : ")");
  return out.text;
}

const char *tf_view_print_axes(const tf_view_work *work) {
  const tf_dim *shape[TF_MAX_RANK];
  for (unsigned axis = 0; axis < work->rank; axis++)
    shape[axis] = work->axes[axis].extent;
  return tf_view_print_shape(work->context, work->rank, shape);
}

/* ---- Finishing ----------------------------------------------------------------------------------------------------------- */
/* The axes as a layout: one mode per axis, nested where it has several. Null on overflow. */
static const tf_layout *layout_of_axes(const tf_view_work *work) {
  tf_context *context = work->context;
  const tf_tuple *shape[TF_MAX_RANK], *strides[TF_MAX_RANK];
  for (unsigned axis = 0; axis < work->rank; axis++) {
    const tf_view_axis *a = &work->axes[axis];
    const tf_dim *extents[TF_MAX_MODES], *steps[TF_MAX_MODES];
    for (unsigned m = 0; m < a->mode_count; m++) {
      extents[m] = a->modes[m].extent;
      steps[m] = a->modes[m].stride;
    }
    bool nested = a->mode_count > 1;
    shape[axis] = nested ? tf_tuple_dims(context, a->mode_count, extents) : tf_tuple_leaf(context, a->extent);
    strides[axis] = nested ? tf_tuple_dims(context, a->mode_count, steps) : tf_tuple_leaf(context, steps[0]);
    if (!shape[axis] || !strides[axis]) return NULL;
  }
  return tf_layout_plain(context, tf_tuple_list(context, work->rank, shape),
                         tf_tuple_list(context, work->rank, strides));
}

static const tf_type *type_of_work(const tf_view_work *work, const tf_layout *plain) {
  const tf_dim *shape[TF_MAX_RANK];
  for (unsigned axis = 0; axis < work->rank; axis++)
    shape[axis] = work->axes[axis].extent;
  return tf_type_tensor(work->context, work->rank, shape, work->dtype, work->shard ? work->shard : plain,
                        work->storage);
}

static void store_strides(tf_view *view, const tf_view_work *work, const tf_layout *plain) {
  const tf_dim **strides = TF_ARENA_ARRAY(&work->context->arena, const tf_dim *, work->rank + 1);
  bool nested = false;
  for (unsigned axis = 0; work->by_coordinates && axis < work->rank; axis++) {
    if (work->axes[axis].mode_count == 1) strides[axis] = work->axes[axis].modes[0].stride;
    nested |= work->axes[axis].mode_count > 1;
  }
  view->strides = strides;
  view->address_layout = nested ? plain : NULL;
}

/* The immutable view. type: of a base, which keeps its own; null: the work's. Null after a fault. */
static view_node *finish(tf_view_work *work, const tf_type *type) {
  if (work->failed) return NULL;
  tf_arena *arena = &work->context->arena;
  view_node *node = TF_ARENA_NEW(arena, view_node);
  const tf_layout *plain = work->by_coordinates ? layout_of_axes(work) : NULL;
  tf_view *view = &node->view;
  view->base = work->base;
  view->type = type ? type : type_of_work(work, plain);
  if ((work->by_coordinates && !plain) || !view->type || !work->constant) {
    tf_view_fail(work, TF_DIAG_VIEW_OVERFLOW, tf_diag_format_VIEW_OVERFLOW, tf_view_print_axes(work));
    return NULL;
  }
  view->storage_size = work->storage_size;
  view->constant = work->constant;
  view->start_count = work->start_count;
  view->starts = tf_arena_copy(arena, work->starts, work->start_count * sizeof *work->starts);
  store_strides(view, work, plain);
  view->inner = work->inner;
  view->clip_count = work->clip_count;
  view->clips = tf_arena_copy(arena, work->clips, work->clip_count * sizeof *work->clips);
  view->clip_value = work->clip_value;
  view->ownership = work->ownership;
  if (work->has_digit_strides)
    view->digit_strides =
        tf_arena_copy(arena, work->digit_strides, work->ownership->factor_count * sizeof *work->digit_strides);
  view->outer = work->outer;
  node->axes = tf_arena_copy(arena, work->axes, work->rank * sizeof *work->axes);
  node->by_coordinates = work->by_coordinates;
  node->shard_in_row_major = work->shard_in_row_major;
  return node;
}

static void load(tf_view_work *work, const view_node *node) {
  const tf_view *view = &node->view;
  work->base = view->base;
  work->dtype = tf_type_dtype(view->type);
  work->storage = tf_type_storage(view->type);
  work->storage_size = view->storage_size;
  work->constant = view->constant;
  work->start_count = view->start_count;
  memcpy(work->starts, view->starts, view->start_count * sizeof *view->starts);
  work->rank = tf_type_rank(view->type);
  memcpy(work->axes, node->axes, work->rank * sizeof *node->axes);
  work->by_coordinates = node->by_coordinates;
  work->shard = tf_layout_is_shard(tf_type_layout(view->type)) ? tf_type_layout(view->type) : NULL;
  work->shard_in_row_major = node->shard_in_row_major;
  work->inner = view->inner;
  work->clip_count = view->clip_count;
  memcpy(work->clips, view->clips, view->clip_count * sizeof *view->clips);
  work->clip_value = view->clip_value;
  work->ownership = view->ownership;
  work->has_digit_strides = view->digit_strides != NULL;
  if (view->digit_strides)
    memcpy(work->digit_strides, view->digit_strides, view->ownership->factor_count * sizeof *view->digit_strides);
  work->outer = view->outer;
}

/* ---- tensor_view ---------------------------------------------------------------------------------------------------------- */
static bool lay(tf_view_work *work, const tf_view_request *request) {
  if (!request->layout) return tf_view_own(work, NULL, true);
  if (!tf_layout_is_shard(request->layout))
    return tf_view_lay_plain(work, request->layout, request->shape != NULL) && tf_view_own(work, NULL, true);
  return tf_view_refuse_zero_split(work, request->layout) && tf_view_own(work, request->layout, false);
}

/* Window or reshape, then the layout; a layout over a sharded value goes over the instance's part. */
static bool apply(tf_view_work *work, const tf_view_request *request, const tf_view *source) {
  if (request->start_count && !request->shape) return VIEW_FAIL(work, VIEW_NEEDS_SHAPE, "a window");
  if (request->clip && !request->start_count) return VIEW_FAIL(work, VIEW_NEEDS_SHAPE, "clip=");
  if (request->shape && request->rank > TF_MAX_RANK) return VIEW_FAIL(work, VIEW_RANK, TF_MAX_RANK, request->rank);
  if (work->shard && request->start_count) return tf_view_sharded_window(work, request);
  if (work->shard && !request->layout)
    return !request->shape || (tf_view_reshape(work, request->rank, request->shape) && tf_view_own_again(work));
  if (work->shard && !tf_view_take_part(work, source)) return false;
  if (request->start_count) return tf_view_window(work, request) && lay(work, request);
  if (request->shape && !tf_view_reshape(work, request->rank, request->shape)) return false;
  return lay(work, request);
}

static tf_view_request request_of(tf_context *context, const tf_invocation *invocation) {
  tf_view_request request = {.layout = invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_layout].layout,
                             .clip = invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_clip].literal};
  const tf_tuple *shape = invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_shape].tuple;
  request.start_count = tf_invocation_variadic(invocation, &request.starts);
  if (!shape) return request;
  request.rank = tf_tuple_leaf_count(shape);
  const tf_dim **extents = TF_ARENA_ARRAY(&context->arena, const tf_dim *, request.rank + 1);
  tf_tuple_leaves(shape, extents);
  request.shape = extents;
  return request;
}

/* ---- Expressions ----------------------------------------------------------------------------------------------------------- */
static const view_node *node_of(tf_view_work *work, const tf_expr *tensor);

static const view_node *allocation(tf_view_work *work, const tf_type *type, const tf_expr *base) {
  work->base = base;
  return tf_view_from_allocation(work, type) ? finish(work, type) : NULL;
}

static const view_node *derived(tf_view_work *work, const tf_invocation *invocation) {
  const tf_expr *memory = invocation->args[0];
  const view_node *source = node_of(work, memory);
  if (!source || invocation->op != TF_OP_TENSOR_VIEW) return source; /* a span or a pointer is the tensor itself */
  tf_view_request request = request_of(work->context, invocation);
  load(work, source);
  return apply(work, &request, &source->view) ? finish(work, NULL) : NULL;
}

static const view_node *node_of_invocation(tf_view_work *work, const tf_invocation *invocation, const tf_expr *base) {
  if (invocation->op == TF_OP_ALLOC_TENSOR)
    return allocation(work, invocation->attrs[TF_ATTRIBUTE_ALLOC_TENSOR_tensor_type].type, base);
  return derived(work, invocation);
}

static const view_node *compute(tf_view_work *work, const tf_expr *tensor) {
  if (tensor->kind == TF_EXPR_VAR && !tensor->var.value) {
    work->base = tensor;
    return tf_view_from_param(work, tensor->type) ? finish(work, tensor->type) : NULL;
  }
  const tf_expr *value = tensor->kind == TF_EXPR_VAR ? tensor->var.value : tensor;
  if (value->kind == TF_EXPR_CALL && tf_op_get_info(value->call.op)->form == TF_FORM_VALUE) {
    tf_invocation invocation = tf_invocation_of_call(value);
    return invocation.op == TF_OP_ALLOC_TENSOR || value == tensor ? node_of_invocation(work, &invocation, tensor)
                                                                  : node_of(work, value);
  }
  if (value != tensor && tf_type_is_tensor(value->type) && !tf_type_is_scalar(value->type)) return node_of(work, value);
  tf_view_fail(work, TF_DIAG_VIEW_NO_MEMORY, tf_diag_format_VIEW_NO_MEMORY, tf_expr_describe(work->context, tensor));
  return NULL;
}

/* Memoised. `work` is used afresh at each level: it only carries the fault upwards. Sources come before their views, so the
 * recursion is as deep as views that nobody has asked for yet; tf_infer asks for each as it is made. */
static const view_node *node_of(tf_view_work *work, const tf_expr *tensor) {
  const struct {
    const char *tag;
    const tf_expr *tensor;
  } key = {"tf_view_of", tensor};
  void **memo = tf_context_memo(work->context, &key, sizeof key);
  if (*memo) return *memo;
  tf_view_work inner = {.context = work->context};
  const view_node *node = compute(&inner, tensor);
  if (!node) tf_view_fail(work, inner.fault_id, "%s", inner.fault);
  *memo = (void *)(uintptr_t)node;
  return node;
}

const tf_view *tf_view_of(tf_context *context, const tf_expr *tensor, const char **reason) {
  tf_view_work work = {.context = context};
  const view_node *node = node_of(&work, tensor);
  if (!node && reason) *reason = work.fault;
  return node ? &node->view : NULL;
}

const tf_view *tf_view_of_invocation(tf_context *context, const tf_invocation *invocation) {
  tf_view_work work = {.context = context};
  const view_node *node = node_of_invocation(&work, invocation, NULL);
  if (node) return &node->view;
  tf_diag_report(context, invocation->loc, work.fault_id, "%s", work.fault);
  return NULL;
}

bool tf_view_offset(const tf_view *view, int64_t logical_index, int64_t *offset) {
  const view_node *node = (const view_node *)(const void *)view;
  int64_t sum = 0, extent, stride;
  if (!node->by_coordinates) return false;
  for (unsigned axis = tf_type_rank(view->type); axis-- > 0;)
    for (unsigned m = 0; m < node->axes[axis].mode_count; m++) {
      const tf_view_mode *mode = &node->axes[axis].modes[m];
      if (!tf_dim_is_static(mode->extent, &extent) || !tf_dim_is_static(mode->stride, &stride) || extent == 0)
        return false;
      sum += logical_index % extent * stride;
      logical_index /= extent;
    }
  *offset = sum;
  return true;
}
