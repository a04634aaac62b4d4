/* Tensors of host functions as tf_compiled_view: the storage's address, and how its elements are reached. What a view is
 * follows from IR/View.h, as for device code; its extents, strides and starts are computed where it is used. */
#include "IR/ViewImpl.h"
#include "LowerToLLVM/Host/Host.h"

#define VIEW(member)        offsetof(tf_compiled_view, member)
#define WORDS(type)         (sizeof(type) / 8)
#define MODE(index, member) ((index) * sizeof(tf_compiled_mode) + offsetof(tf_compiled_mode, member))
#define CLIP(index, member) ((index) * sizeof(tf_compiled_clip) + offsetof(tf_compiled_clip, member))
#define MAX_MODES           (TF_MAX_RANK * TF_MAX_MODES)

int tf_host_param_index(const tf_host *host, const tf_expr *expr) {
  for (unsigned i = 0; i < host->function->function.param_count; i++)
    if (host->function->function.params[i] == expr) return (int)i;
  return -1;
}

static LLVMValueRef storage_address(tf_host *host, const tf_expr *base) {
  int param = tf_host_param_index(host, base);
  if (param >= 0)
    return tf_host_load(host, host->module->word, host->values, (size_t)param * sizeof(tf_compiled_value));
  const tf_host_binding *binding = tf_host_find(host, base);
  return binding ? binding->address : LLVMGetPoison(host->module->word);
}

/* A clipped window may lie so far off that its offset has more than 64 bits: then it has no element, and any offset serves. */
static LLVMValueRef offset_of(tf_host *host, const tf_view *view) {
  LLVMValueRef sum = tf_host_dim_value(host, view->constant);
  for (unsigned i = 0; i < view->start_count; i++) {
    LLVMValueRef index = tf_host_integer(host, view->starts[i].index);
    LLVMValueRef stride = tf_host_dim_value(host, view->starts[i].stride);
    if (view->clip_count) {
      sum = LLVMBuildAdd(host->builder, sum, LLVMBuildMul(host->builder, index, stride, ""), "");
      continue;
    }
    LLVMValueRef step = tf_host_int_binary(host, TF_SCALAR_BINARY_MUL, index, stride);
    sum = tf_host_int_binary(host, TF_SCALAR_BINARY_ADD, sum, step);
  }
  return sum;
}

/* ---- Windows ---- */

/* Inside of the storage is not enough, which the runtime asks for: a row that is too long goes on in the next one. */
static void check_window(tf_host *host, const tf_invocation *invocation, const char *what) {
  tf_window_bound bounds[TF_MAX_RANK];
  unsigned count = tf_window_bounds(host->context, invocation, bounds);
  const char *outer = host->what;
  for (unsigned i = 0; i < count; i++) {
    LLVMBuilderRef b = host->builder;
    const tf_dim *room = tf_dim_binary(host->context, TF_DIM_SUB, bounds[i].limit, bounds[i].extent);
    LLVMValueRef index = tf_host_integer(host, bounds[i].index);
    LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, index, tf_host_int(host, 0), "");
    LLVMValueRef above = LLVMBuildICmp(b, LLVMIntSGT, index, tf_host_dim_value(host, room), "");
    host->what = outer ? outer : what;
    tf_host_fail_if(host, LLVMBuildOr(b, below, above, ""), TF_COMPILED_WINDOW);
    host->what = outer;
  }
}

/* Those that a tensor is made of, from the outermost on. */
static void check_windows(tf_host *host, const tf_expr *tensor, const char *what) {
  const tf_expr *value = tensor->kind == TF_EXPR_VAR ? tensor->var.value : tensor;
  if (!value) return; /* a parameter */
  if (value->kind != TF_EXPR_CALL) {
    check_windows(host, value, what);
    return;
  }
  tf_invocation invocation = tf_invocation_of_call(value);
  if (invocation.op == TF_OP_ALLOC_TENSOR) return;
  check_windows(host, invocation.args[0], what);
  if (invocation.op == TF_OP_TENSOR_VIEW) check_window(host, &invocation, what);
}

/* ---- Modes ---- */
typedef struct mode {
  unsigned axis;
  const tf_dim *extent, *stride;
} mode;

/* The leaves of an axis's mode in the address layout, slowest first: layouts are leftmost-fastest. */
static unsigned layout_modes(const tf_view *view, unsigned axis, mode *out) {
  const tf_tuple *shape = tf_tuple_element(tf_layout_shape(view->address_layout), axis);
  const tf_tuple *strides = tf_tuple_element(tf_layout_strides(view->address_layout), axis);
  const tf_dim *extents[TF_MAX_MODES], *steps[TF_MAX_MODES];
  unsigned count = tf_tuple_leaf_count(shape);
  tf_tuple_leaves(shape, extents);
  tf_tuple_leaves(strides, steps);
  for (unsigned i = 0; i < count; i++)
    out[i] = (mode){axis, extents[count - 1 - i], steps[count - 1 - i]};
  return count;
}

/* All modes from slow to fast. Storage that host code reaches is addressed by coordinates: an axis without a stride of its
 * own has modes in the address layout. */
static unsigned modes_of(const tf_view *view, mode *out) {
  unsigned count = 0;
  for (unsigned axis = 0; axis < tf_type_rank(view->type); axis++) {
    if (view->strides[axis])
      out[count++] = (mode){axis, tf_type_extent(view->type, axis), view->strides[axis]};
    else
      count += layout_modes(view, axis, &out[count]);
  }
  return count;
}

static LLVMValueRef mode_array(tf_host *host, unsigned count, const mode *modes) {
  LLVMValueRef array = tf_host_words(host, count * WORDS(tf_compiled_mode));
  for (unsigned i = 0; i < count; i++) {
    tf_host_store(host, array, MODE(i, axis), tf_host_int(host, modes[i].axis));
    tf_host_store(host, array, MODE(i, extent), tf_host_dim_value(host, modes[i].extent));
    tf_host_store(host, array, MODE(i, stride), tf_host_dim_value(host, modes[i].stride));
  }
  return array;
}

static LLVMValueRef shape_array(tf_host *host, const tf_type *type) {
  LLVMValueRef array = tf_host_words(host, tf_type_rank(type));
  for (unsigned axis = 0; axis < tf_type_rank(type); axis++)
    tf_host_store(host, array, axis * sizeof(int64_t), tf_host_dim_value(host, tf_type_extent(type, axis)));
  return array;
}

/* ---- Clips ---- */
static LLVMValueRef clip_array(tf_host *host, const tf_view *view) {
  LLVMValueRef array = tf_host_words(host, view->clip_count * WORDS(tf_compiled_clip));
  for (unsigned i = 0; i < view->clip_count; i++) {
    const tf_view_clip *clip = &view->clips[i];
    LLVMValueRef start = clip->start ? tf_host_integer(host, clip->start) : tf_host_int(host, 0);
    tf_host_store(host, array, CLIP(i, axis), tf_host_int(host, clip->axis));
    tf_host_store(host, array, CLIP(i, start), start);
    tf_host_store(host, array, CLIP(i, extent), tf_host_dim_value(host, clip->extent));
  }
  return array;
}

static LLVMValueRef clip_bits(tf_host *host, const tf_view *view) {
  if (!view->clip_value) return tf_host_int(host, 0);
  return tf_host_bits(host, tf_host_scalar_as(host, view->clip_value, tf_type_dtype(view->type)));
}

/* ---- The struct ---- */
static void store_clips(tf_host *host, LLVMValueRef out, const tf_view *view) {
  LLVMValueRef none = LLVMConstNull(host->module->pointer);
  tf_host_store(host, out, VIEW(clip_count), tf_host_int(host, view->clip_count));
  tf_host_store(host, out, VIEW(clips), view->clip_count ? clip_array(host, view) : none);
  tf_host_store(host, out, VIEW(clip_bits), clip_bits(host, view));
}

LLVMValueRef tf_host_view(tf_host *host, const tf_expr *tensor) {
  const tf_view *view = tf_view_of(host->context, tensor, NULL);
  mode modes[MAX_MODES];
  unsigned count = modes_of(view, modes);
  const tf_type *type = view->type;
  check_windows(host, tensor, view->base->var.name);
  LLVMValueRef out = tf_host_words(host, WORDS(tf_compiled_view));
  tf_host_store(host, out, VIEW(name), tf_host_string(host->module, view->base->var.name));
  tf_host_store(host, out, VIEW(data), storage_address(host, view->base));
  tf_host_store(host, out, VIEW(size), tf_host_dim_value(host, view->storage_size));
  tf_host_store(host, out, VIEW(offset), offset_of(host, view));
  tf_host_store(host, out, VIEW(dtype), tf_host_int(host, tf_type_dtype(type)));
  tf_host_store(host, out, VIEW(is_host), tf_host_int(host, tf_type_storage(type) == TF_STORAGE_HOST));
  tf_host_store(host, out, VIEW(rank), tf_host_int(host, tf_type_rank(type)));
  tf_host_store(host, out, VIEW(shape), shape_array(host, type));
  tf_host_store(host, out, VIEW(mode_count), tf_host_int(host, count));
  tf_host_store(host, out, VIEW(modes), mode_array(host, count, modes));
  store_clips(host, out, view);
  return out;
}
