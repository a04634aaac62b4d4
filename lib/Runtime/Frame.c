/* Frames: their arrays, their temporaries, calls between host functions. See Frame.h. */
#include "Runtime/Frame.h"

#include <inttypes.h>
#include <stdlib.h>

#define INLINE_DIMS 32

_Static_assert(sizeof(tf_value) == sizeof(tf_compiled_value), "machine code reads the values of a frame");
_Static_assert(sizeof(tf_value) == 2 * sizeof(uint64_t), "words of a value");
_Static_assert(offsetof(tf_value, bits) == offsetof(tf_compiled_value, bits) &&
                   offsetof(tf_value, tensor.data) == offsetof(tf_compiled_value, bits) &&
                   offsetof(tf_value, tensor.shape) == offsetof(tf_compiled_value, shape),
               "machine code reads the values of a frame");

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

tf_status tf_frame_fail(const tf_frame *frame, tf_status status, const tf_mloc *loc, const char *what,
                        const char *why) {
  const char *name = frame->entry->manifest->signature.name;
  tf_runtime *rt = frame->program->runtime;
  const char *separator = what ? ": " : "";
  what = what ? what : "";
  if (!loc->file) return tf_runtime_fail(rt, status, "%s: %s%s%s", name, what, separator, why);
  return tf_runtime_fail(rt, status, "%s:%" PRId64 ":%" PRId64 ": %s: %s%s%s", loc->file, loc->line, loc->column, name,
                         what, separator, why);
}

/* ---- Temporaries ------------------------------------------------------------------------------------------------- */

static tf_status free_temporary(tf_frame *frame, const tf_temporary *t) {
  tf_runtime *rt = frame->program->runtime;
  tf_status status = TF_OK;
  switch (t->kind) {
  case TF_TEMPORARY_HOST:
    status = tf_frame_settle(frame);
    free((void *)(uintptr_t)t->address);
    return status;
  case TF_TEMPORARY_ASYNC:
  case TF_TEMPORARY_DEVICE:
    return tf_device_give_ordered(rt, t->address, frame->stream, t->kind == TF_TEMPORARY_ASYNC);
  }
  return status;
}

tf_status tf_frame_follow(tf_frame *frame, CUstream other) {
  tf_runtime *rt = frame->program->runtime;
  CUevent event = NULL;
  tf_status status = TF_CALL(rt, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
  if (status != TF_OK) return status;
  status = TF_CALL(rt, cuEventRecord, event, other);
  if (status == TF_OK) status = TF_CALL(rt, cuStreamWaitEvent, frame->stream, event, CU_EVENT_WAIT_DEFAULT);
  tf_status destroyed = TF_CALL(rt, cuEventDestroy, event);
  return status != TF_OK ? status : destroyed;
}

/* Work on another stream is to end before what `stream` frees. */
static tf_status follow_other(tf_frame *frame) {
  CUstream other = frame->other_stream;
  frame->other_stream = NULL;
  return other ? tf_frame_follow(frame, other) : TF_OK;
}

tf_status tf_frame_release(tf_frame *frame, size_t mark) {
  if (frame->temporary_count <= mark) return TF_OK;
  tf_status status = follow_other(frame);
  while (frame->temporary_count > mark) {
    tf_status freed = free_temporary(frame, &frame->temporaries[--frame->temporary_count]);
    if (status == TF_OK) status = freed;
  }
  return status;
}

tf_status tf_frame_remember(tf_frame *frame, tf_temporary temporary) {
  if (frame->temporary_count == frame->temporary_room) {
    size_t room = 2 * frame->temporary_room + 4;
    tf_temporary *grown = realloc(frame->temporaries, room * sizeof *grown);
    if (!grown) {
      (void)free_temporary(frame, &temporary);
      return tf_runtime_fail(frame->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
    }
    frame->temporaries = grown;
    frame->temporary_room = room;
  }
  frame->temporaries[frame->temporary_count++] = temporary;
  return TF_OK;
}

tf_status tf_frame_settle(tf_frame *frame) {
  if (!frame->root->unsettled) return TF_OK;
  frame->root->unsettled = false;
  return TF_CALL(frame->program->runtime, cuStreamSynchronize, frame->stream);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static tf_status close_frame(tf_frame *frame, tf_status status) {
  tf_status freed = tf_frame_release(frame, 0);
  if (frame->root == frame) {
    tf_status settled = tf_frame_settle(frame);
    if (freed == TF_OK) freed = settled;
    tf_capture_close(frame);
  }
  free(frame->temporaries);
  return status != TF_OK ? status : freed;
}

tf_status tf_frame_run(const tf_entry *entry, tf_frame *caller, CUstream stream, const tf_value *values,
                       const int64_t *dims) {
  tf_frame frame = {.call.api = &tf_compiled_functions,
                    .program = entry->program,
                    .entry = entry,
                    .stream = stream,
                    .values = values,
                    .dims = dims};
  frame.root = caller ? caller->root : &frame;
  tf_status status = entry->function ? (tf_status)entry->function(&frame.call, (const tf_compiled_value *)values)
                                     : tf_plan_run(&frame);
  return close_frame(&frame, status);
}

/* The dims of the callee's values are found, and its own demands checked. */
static tf_status bind_and_run(tf_frame *frame, const tf_entry *callee, const tf_mloc *loc, const tf_value *values,
                              const int64_t *const *strides, int64_t *dims) {
  const tf_msignature *s = &callee->manifest->signature;
  char text[512];
  tf_why why = {text, sizeof text};
  tf_status status = tf_values_bind(frame->program->manifest, s, values, strides, dims, &why);
  if (status != TF_OK) return tf_frame_fail(frame, status, loc, s->name, text);
  return tf_frame_run(callee, frame, frame->stream, values, dims);
}

tf_status tf_frame_call(tf_frame *frame, unsigned index, const tf_mloc *loc, const tf_value *values,
                        const int64_t *const *strides) {
  const tf_entry *callee = &frame->program->entries[index];
  if (!callee->function && !callee->manifest->body)
    return tf_frame_fail(frame, TF_UNSUPPORTED, loc, callee->manifest->signature.name,
                         "the function exists as compiled code only");
  size_t count = frame->program->manifest->dim_count;
  int64_t inline_dims[INLINE_DIMS], *dims = inline_dims;
  if (count > INLINE_DIMS) dims = malloc(count * sizeof *dims);
  if (!dims) return tf_runtime_fail(frame->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
  tf_status status = bind_and_run(frame, callee, loc, values, strides, dims);
  if (dims != inline_dims) free(dims);
  return status;
}
