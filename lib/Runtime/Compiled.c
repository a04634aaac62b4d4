/* The function table of machine code: launches and calls with its arguments turned into values, and how it ends. */
#include <stdlib.h>
#include <string.h>

#include "Runtime/Frame.h"
#include "Runtime/Scalars.h"

tf_mloc tf_place_loc(const tf_compiled_place *place) {
  return (tf_mloc){place->file, place->line, place->column};
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* The strides of the view's axes, which the callee's binding holds against its own; those of extent-1 axes never count. */
static const char *read_strides(const tf_compiled_view *v, int64_t *strides) {
  int64_t next[TF_MAX_RANK] = {0}; /* stride with which a slower mode goes on; 0: the axis has none yet */
  for (int64_t i = v->mode_count; i-- > 0;) {
    const tf_compiled_mode *mode = &v->modes[i];
    if (mode->extent <= 1) continue;
    if (next[mode->axis] && next[mode->axis] != mode->stride)
      return "an axis of the window has no single stride: copy it to a tensor first";
    if (!next[mode->axis]) strides[mode->axis] = mode->stride;
    next[mode->axis] = mode->stride * mode->extent;
  }
  return NULL;
}

static const char *view_value(const tf_mparam *want, const tf_compiled_view *v, int64_t *strides, tf_value *out) {
  int64_t count = tf_view_count(v);
  if (v->clip_count) return "a clipped window is no tensor that a function can take: copy it to one first";
  if (count < 0) return "extents out of range";
  if (count > 0 && !tf_view_is_inside(v)) return "the window leaves its tensor";
  if (tf_element_bits(want->element) < 8 && v->offset % 2 != 0) return "the window starts inside a byte";
  out->tensor = (tf_tensor){v->data + tf_element_bytes(want->element, (uint64_t)v->offset), v->shape};
  return read_strides(v, strides);
}

static const char *argument_value(const tf_frame *f, const tf_compiled_argument *a, const tf_mparam *want,
                                  int64_t *strides, tf_value *out) {
  int64_t i = (int64_t)a->bits;
  double number;
  switch ((tf_compiled_argument_kind)a->kind) {
  case TF_COMPILED_PARAM:
    *out = f->values[a->bits];
    return NULL;
  case TF_COMPILED_VIEW:
    return view_value(want, a->view, strides, out);
  case TF_COMPILED_BITS:
    out->bits = a->bits;
    return NULL;
  case TF_COMPILED_INT:
    return tf_element_from_int(want->element, i < 0, i < 0 ? 0 - a->bits : a->bits, &out->bits);
  case TF_COMPILED_FLOAT:
    memcpy(&number, &a->bits, sizeof number);
    return tf_element_from_float(want->element, number, &out->bits);
  }
  return "unknown kind of argument";
}

/* The values of a call's arguments, and the strides of those that are windows (null: they are right already). */
typedef struct arguments {
  tf_value *values;
  const int64_t **strides;
  void *heap;
  uint64_t inline_words[192];
} arguments;

static bool open_arguments(arguments *out, const tf_compiled_argument *from, int64_t count) {
  size_t words = 3 * (size_t)count;
  for (int64_t i = 0; i < count; i++)
    words += from[i].kind == TF_COMPILED_VIEW ? (size_t)from[i].view->rank : 0;
  uint64_t *block = out->inline_words;
  out->heap = NULL;
  if (words > sizeof out->inline_words / sizeof *block) out->heap = block = malloc(words * sizeof *block);
  if (!block) return false;
  out->values = (tf_value *)block;
  out->strides = (const int64_t **)(block + 2 * (size_t)count);
  int64_t *strides = (int64_t *)(block + 3 * (size_t)count);
  for (int64_t i = 0; i < count; i++) {
    bool view = from[i].kind == TF_COMPILED_VIEW;
    out->strides[i] = view ? strides : NULL;
    strides += view ? from[i].view->rank : 0;
  }
  return true;
}

static tf_status fill_arguments(const tf_frame *f, const tf_mloc *loc, const tf_msignature *callee,
                                const tf_compiled_argument *from, int64_t count, arguments *out) {
  for (int64_t i = 0; i < count; i++) {
    const tf_mparam *want = &callee->params[i];
    const char *error = argument_value(f, &from[i], want, (int64_t *)(uintptr_t)out->strides[i], &out->values[i]);
    if (error) return tf_frame_fail(f, TF_LAUNCH, loc, want->name, error);
  }
  return TF_OK;
}

static tf_status out_of_memory(const tf_frame *f) {
  return tf_runtime_fail(f->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
}

/* ---- Launches and calls ------------------------------------------------------------------------------------------ */

static tf_geometry geometry_of(const tf_compiled_launch *l, const tf_mloc *place) {
  tf_geometry g = {.place = place,
                   .dynamic_smem = l->dynamic_smem,
                   .cooperative = (l->flags & TF_COMPILED_COOPERATIVE) != 0,
                   .programmatic_stream_serialization = (l->flags & TF_COMPILED_SERIALIZATION) != 0};
  memcpy(g.grid, l->grid, sizeof g.grid);
  memcpy(g.block, l->block, sizeof g.block);
  memcpy(g.cluster, l->cluster, sizeof g.cluster);
  if (l->flags & TF_COMPILED_OWN_GRID) g.grid[0] = -1; /* tf_launch_kernel completes it */
  if (l->flags & TF_COMPILED_OWN_BLOCK) g.block[0] = -1;
  return g;
}

static bool is_negative(const int64_t extents[3]) {
  return extents[0] < 0 || extents[1] < 0 || extents[2] < 0;
}

static CUstream stream_of(tf_frame *f, const tf_compiled_launch *l) {
  CUstream stream = (CUstream)(uintptr_t)l->stream;
  return l->flags & TF_COMPILED_STREAM ? stream : f->stream;
}

/* Temporaries may be used on one more stream at a time; the call's own stream is put behind an earlier one. */
static tf_status note_stream(tf_frame *f, const tf_mloc *loc, CUstream stream) {
  CUstream other = f->other_stream;
  if (stream == f->stream || stream == other) return TF_OK;
  tf_status status = tf_capture_check_stream(f, loc, stream);
  if (status != TF_OK) return status;
  f->other_stream = stream;
  return other ? tf_frame_follow(f, other) : TF_OK;
}

static tf_status launch_arguments(tf_frame *f, const tf_mloc *loc, const tf_compiled_launch *l, tf_kernel *kernel,
                                  const tf_geometry *g) {
  arguments a;
  if (!open_arguments(&a, l->arguments, l->argument_count)) return out_of_memory(f);
  tf_status status = fill_arguments(f, loc, &kernel->manifest->signature, l->arguments, l->argument_count, &a);
  if (status == TF_OK) status = tf_launch_kernel(kernel, g, stream_of(f, l), a.values, a.strides, NULL);
  free(a.heap);
  return status;
}

static int32_t launch(tf_call *call, const tf_compiled_place *place, const tf_compiled_launch *l) {
  tf_frame *f = tf_frame_of(call);
  tf_kernel *kernel = &f->program->kernels[l->kernel];
  const tf_mloc loc = tf_place_loc(place);
  const tf_geometry g = geometry_of(l, &loc);
  if ((!(l->flags & TF_COMPILED_OWN_GRID) && is_negative(g.grid)) ||
      (!(l->flags & TF_COMPILED_OWN_BLOCK) && is_negative(g.block)))
    return (int32_t)tf_frame_fail(f, TF_LAUNCH, &loc, kernel->name, "an extent is negative");
  tf_status status = note_stream(f, &loc, stream_of(f, l));
  if (status != TF_OK) return (int32_t)status;
  if (l->flags & TF_COMPILED_PASSED)
    return (int32_t)tf_launch_kernel(kernel, &g, stream_of(f, l), f->values, NULL, f->dims);
  return (int32_t)launch_arguments(f, &loc, l, kernel, &g);
}

static int32_t call_entry(tf_call *call, const tf_compiled_place *place, int64_t entry,
                          const tf_compiled_argument *from, int64_t count) {
  tf_frame *f = tf_frame_of(call);
  const tf_mloc loc = tf_place_loc(place);
  const tf_msignature *callee = &f->program->entries[entry].manifest->signature;
  arguments a;
  if (!open_arguments(&a, from, count)) return (int32_t)out_of_memory(f);
  tf_status status = fill_arguments(f, &loc, callee, from, count, &a);
  if (status == TF_OK) status = tf_frame_call(f, (unsigned)entry, &loc, a.values, a.strides);
  free(a.heap);
  return (int32_t)status;
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static int32_t fail(tf_call *call, const tf_compiled_place *place, int64_t fault, const char *what, const char *text) {
  const tf_frame *f = tf_frame_of(call);
  const tf_mloc loc = tf_place_loc(place);
  switch ((tf_compiled_fault)fault) {
  case TF_COMPILED_ABORT:
    return (int32_t)tf_frame_fail(f, TF_TRAP, &loc, "abort", text && *text ? text : "(no message)");
  case TF_COMPILED_OVERFLOW:
    return (int32_t)tf_frame_fail(f, TF_LAUNCH, &loc, what, "the arithmetic overflows 64 bits");
  case TF_COMPILED_DIVISION:
    return (int32_t)tf_frame_fail(f, TF_LAUNCH, &loc, what, "division by zero");
  case TF_COMPILED_SHIFT:
    return (int32_t)tf_frame_fail(f, TF_LAUNCH, &loc, what, "a shift by less than 0 or more than 63");
  case TF_COMPILED_WINDOW:
    return (int32_t)tf_frame_fail(f, TF_LAUNCH, &loc, what, "the window leaves its tensor");
  }
  return (int32_t)tf_frame_fail(f, TF_LAUNCH, &loc, what, "the function stopped itself");
}

const tf_compiled_api tf_compiled_functions = {
    .size = sizeof(tf_compiled_api),
    .launch = launch,
    .call = call_entry,
    .allocate = tf_compiled_allocate,
    .mark = tf_compiled_mark,
    .release = tf_compiled_release,
    .copy = tf_compiled_copy,
    .fill = tf_compiled_fill,
    .load = tf_compiled_load,
    .fail = fail,
    .decode = tf_scalar_decode,
    .encode = tf_scalar_encode,
    .round = tf_scalar_round,
    .from_int = tf_scalar_from_int,
    .floor_div = tf_scalar_floor_div,
    .floor_mod = tf_scalar_floor_mod,
};
