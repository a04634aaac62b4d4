/* A host function in progress: what the plan of a manifest (Plan.c) and machine code (Compiled.c) run on.
 *
 *   tf_entry_call ─▶ frame ─▶ plan or code ─▶ launches, copies, …
 *                      │                   └─▶ call ─▶ frame of the callee ─▶ …
 *                      └─ temporaries: freed when the frame ends, however the function did
 *
 * Frames of nested calls share a root, the outermost one. Copies to and from host memory are handed to the driver
 * asynchronously; the root remembers that some may still run (`unsettled`), and the stream is waited for before anything
 * reads or frees host memory, and before the root ends. On a stream that is being captured nothing is waited for
 * (Capture.h). */
#ifndef TF_RUNTIME_FRAME_H
#define TF_RUNTIME_FRAME_H

#include "Runtime/Capture.h"
#include "Runtime/RuntimeImpl.h"
#include "Runtime/Strided.h"
#include "tilefoundry/Compiled.h"

typedef enum tf_temporary_kind {
  TF_TEMPORARY_HOST,
  TF_TEMPORARY_ASYNC, /* device memory in stream order */
  TF_TEMPORARY_DEVICE /* device memory of a driver without that: freed after waiting for the stream */
} tf_temporary_kind;

typedef struct tf_temporary {
  tf_temporary_kind kind;
  uint64_t address;
} tf_temporary;

struct tf_frame {
  tf_call call; /* first: machine code sees the frame through it */
  tf_frame *root;
  tf_program *program;
  const tf_entry *entry;
  CUstream stream;
  const tf_value *values; /* per parameter */
  const int64_t *dims;    /* per dim of the manifest */
  tf_temporary *temporaries;
  size_t temporary_count, temporary_room;
  CUstream other_stream; /* where the function launched besides `stream`; null: nowhere */
  bool unsettled;        /* the root's */
  tf_capture capture;    /* the root's */
};

/* Runs the function on values and dims that are bound to its parameters, in a frame of its own; caller null is a call from
 * outside. What the function left is freed, and host memory is settled when the outermost frame ends. */
TF_NODISCARD tf_status tf_frame_run(const tf_entry *entry, tf_frame *caller, CUstream stream, const tf_value *values,
                                    const int64_t *dims);

/* Calls entries[index] on values that are of the right kinds and dtypes already; strides as for tf_values_bind. */
TF_NODISCARD tf_status tf_frame_call(tf_frame *frame, unsigned index, const tf_mloc *loc, const tf_value *values,
                                     const int64_t *const *strides);

/* Frees all temporaries but the first `mark`. */
tf_status tf_frame_release(tf_frame *frame, size_t mark);
TF_NODISCARD tf_status tf_frame_remember(tf_frame *frame, tf_temporary temporary);
/* What the call's stream does from now on comes after what `other` has been given so far; nothing is waited for here. */
TF_NODISCARD tf_status tf_frame_follow(tf_frame *frame, CUstream other);
/* Waits until host memory is no longer read or written by copies. */
TF_NODISCARD tf_status tf_frame_settle(tf_frame *frame);

/* Records "FILE:LINE:COLUMN: FUNCTION: what: why"; what may be null. */
tf_status tf_frame_fail(const tf_frame *frame, tf_status status, const tf_mloc *loc, const char *what, const char *why);

/* ---- The two ways to run ------------------------------------------------------------------------------------------ */

tf_status tf_plan_run(tf_frame *frame);
extern const tf_compiled_api tf_compiled_functions;

/* Writes an element of up to 8 bytes `count` times, into host memory. */
void tf_fill_host(char *to, uint64_t pattern, size_t bytes, int64_t count);

/* Between Compiled.c and CompiledMemory.c; the functions are those of Compiled.h. */
static inline tf_frame *tf_frame_of(tf_call *call) {
  return (tf_frame *)(void *)call; /* its first member */
}
tf_mloc tf_place_loc(const tf_compiled_place *place);
int32_t tf_compiled_allocate(tf_call *call, const tf_compiled_place *place, const char *name, int64_t dtype,
                             int64_t is_host, int64_t elements, uint64_t *address);
int64_t tf_compiled_mark(tf_call *call);
int32_t tf_compiled_release(tf_call *call, int64_t mark);
int32_t tf_compiled_copy(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *source,
                         const tf_compiled_view *destination);
int32_t tf_compiled_fill(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *destination,
                         uint64_t bits);
int32_t tf_compiled_load(tf_call *call, const tf_compiled_place *place, const tf_compiled_view *source,
                         const int64_t *indices, uint64_t *bits);

#endif
