/* Calls on a stream that is being captured into a CUDA graph: what they do becomes nodes, and nothing is waited for.
 *
 *   launch                 kernel node                      load of host memory    now, unless a node of this call will
 *   copy                   memcpy nodes                                            have written it
 *   fill of the device     memset nodes                     fill of the host       host nodes
 *   temporary, device      allocation and release nodes     temporary, host        memory that the graph owns
 *
 * Whether a stream is being captured is asked once per call, and only when it matters; the root frame remembers it, and
 * what host memory its nodes write. */
#ifndef TF_RUNTIME_CAPTURE_H
#define TF_RUNTIME_CAPTURE_H

#include "Runtime/RuntimeImpl.h"

typedef struct tf_frame tf_frame;

typedef enum tf_capture_state { TF_CAPTURE_UNKNOWN, TF_CAPTURE_NONE, TF_CAPTURE_ACTIVE } tf_capture_state;

/* Addresses [begin, end) of host memory. */
typedef struct tf_host_range {
  uint64_t begin, end;
} tf_host_range;

/* The root frame's part. */
typedef struct tf_capture {
  tf_capture_state state;
  tf_host_range *written;
  size_t written_count, written_room;
} tf_capture;

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

TF_NODISCARD tf_status tf_capture_is_on(tf_runtime *rt, CUstream stream, bool *capturing);
/* Refuses a call that has to wait for the stream, before that would end the capture. `what` is the call's name. */
TF_NODISCARD tf_status tf_capture_refuse_wait(tf_runtime *rt, CUstream stream, const char *what);

/* Driver calls that a capture in progress, of whatever thread, may forbid although they take no part in it (allocations,
 * loading): allowed from `permit` to `restore`, for this thread. */
TF_NODISCARD tf_status tf_capture_permit(tf_runtime *rt, CUstreamCaptureMode *before);
tf_status tf_capture_restore(tf_runtime *rt, CUstreamCaptureMode before, tf_status status);

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

TF_NODISCARD tf_status tf_capture_ask(tf_frame *frame, bool *capturing);
/* UNSUPPORTED, with what would be legal, unless graphs can own memory on this driver and device. */
TF_NODISCARD tf_status tf_capture_check_memory(tf_frame *frame, const tf_mloc *loc, const char *name);
/* UNSUPPORTED unless both the call's stream and this one belong to the same capture, or neither to any. */
TF_NODISCARD tf_status tf_capture_check_stream(tf_frame *frame, const tf_mloc *loc, CUstream stream);
/* Gives malloc'ed memory to the graph, which frees it at its end; frees it at once on failure. */
TF_NODISCARD tf_status tf_capture_keep(tf_frame *frame, void *memory);
/* Captures: the element of up to 8 bytes `count` times, into host memory. */
TF_NODISCARD tf_status tf_capture_fill(tf_frame *frame, void *to, uint64_t pattern, size_t bytes, int64_t count);
/* Host memory that nodes of this call write, and whether some is in a range. */
TF_NODISCARD tf_status tf_capture_note_write(tf_frame *frame, tf_host_range range);
bool tf_capture_writes(const tf_frame *frame, tf_host_range range);
void tf_capture_close(tf_frame *frame);

#endif
