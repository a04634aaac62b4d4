/* Calls on a stream that is being captured; see Capture.h. */
#include "Runtime/Capture.h"

#include <stdlib.h>
#include <string.h>

#include "Runtime/Frame.h"

#define NOT_EXCHANGED ((CUstreamCaptureMode)-1)

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

/* The capture that a stream takes part in: 0 is none. Drivers without these functions capture nothing. */
static tf_status capture_of(tf_runtime *rt, CUstream stream, unsigned long long *id) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t found = 0;
  CUresult result = rt->driver.cuStreamGetCaptureInfo_v1(stream, &status, &found);
  *id = status == CU_STREAM_CAPTURE_STATUS_NONE ? 0 : found;
  if (status != CU_STREAM_CAPTURE_STATUS_NONE && found == 0) *id = UINT64_MAX; /* invalidated: it has no number */
  return result == TF_CUDA_ERROR_MISSING_FUNCTION ? TF_OK : tf_runtime_check(rt, result, "cuStreamGetCaptureInfo");
}

tf_status tf_capture_is_on(tf_runtime *rt, CUstream stream, bool *capturing) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult result = rt->driver.cuStreamIsCapturing(stream, &status);
  *capturing = status != CU_STREAM_CAPTURE_STATUS_NONE;
  return result == TF_CUDA_ERROR_MISSING_FUNCTION ? TF_OK : tf_runtime_check(rt, result, "cuStreamIsCapturing");
}

tf_status tf_capture_refuse_wait(tf_runtime *rt, CUstream stream, const char *what) {
  bool capturing;
  tf_status status = tf_capture_is_on(rt, stream, &capturing);
  if (status != TF_OK || !capturing) return status;
  return tf_runtime_fail(rt, TF_UNSUPPORTED,
                         "%s: the stream is being captured into a graph, so it has no end to wait for: end the capture "
                         "first, or use another stream",
                         what);
}

tf_status tf_capture_permit(tf_runtime *rt, CUstreamCaptureMode *before) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUresult result = rt->driver.cuThreadExchangeStreamCaptureMode(&mode);
  *before = result == CUDA_SUCCESS ? mode : NOT_EXCHANGED;
  if (result == TF_CUDA_ERROR_MISSING_FUNCTION) return TF_OK;
  return tf_runtime_check(rt, result, "cuThreadExchangeStreamCaptureMode");
}

tf_status tf_capture_restore(tf_runtime *rt, CUstreamCaptureMode before, tf_status status) {
  if (before == NOT_EXCHANGED) return status;
  tf_status restored = TF_CALL(rt, cuThreadExchangeStreamCaptureMode, &before);
  return status != TF_OK ? status : restored;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

tf_status tf_capture_ask(tf_frame *frame, bool *capturing) {
  tf_capture *c = &frame->root->capture;
  *capturing = c->state == TF_CAPTURE_ACTIVE;
  if (c->state != TF_CAPTURE_UNKNOWN) return TF_OK;
  tf_status status = tf_capture_is_on(frame->program->runtime, frame->stream, capturing);
  if (status == TF_OK) c->state = *capturing ? TF_CAPTURE_ACTIVE : TF_CAPTURE_NONE;
  return status;
}

tf_status tf_capture_check_memory(tf_frame *frame, const tf_mloc *loc, const char *name) {
  if (frame->program->runtime->graph_memory) return TF_OK;
  return tf_frame_fail(frame, TF_UNSUPPORTED, loc, name,
                       "the stream is being captured into a graph, and graphs cannot own memory here (that takes CUDA "
                       "11.4 and a device with memory pools): make the temporary a parameter");
}

tf_status tf_capture_check_stream(tf_frame *frame, const tf_mloc *loc, CUstream stream) {
  unsigned long long mine, others;
  tf_runtime *rt = frame->program->runtime;
  tf_status status = capture_of(rt, frame->stream, &mine);
  if (status == TF_OK) status = capture_of(rt, stream, &others);
  if (status != TF_OK || mine == others) return status;
  return tf_frame_fail(
      frame, TF_UNSUPPORTED, loc, "stream",
      "it and the call's stream do not belong to the same capture of a graph: let it wait for an event "
      "of the captured stream first, or capture neither");
}

/* The graph that is being made. */
static tf_status graph_of(tf_frame *frame, CUgraph *graph) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  tf_runtime *rt = frame->program->runtime;
  tf_status got = TF_CALL(rt, cuStreamGetCaptureInfo, frame->stream, &status, NULL, graph, NULL, NULL);
  if (got != TF_OK || status == CU_STREAM_CAPTURE_STATUS_ACTIVE) return got;
  return tf_runtime_check(rt, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "cuStreamGetCaptureInfo");
}

tf_status tf_capture_keep(tf_frame *frame, void *memory) {
  tf_runtime *rt = frame->program->runtime;
  CUgraph graph = NULL;
  CUuserObject object = NULL;
  tf_status status = graph_of(frame, &graph);
  if (status == TF_OK)
    status = TF_CALL(rt, cuUserObjectCreate, &object, memory, free, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (status != TF_OK) {
    free(memory);
    return status;
  }
  status = TF_CALL(rt, cuGraphRetainUserObject, graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  if (status != TF_OK) (void)rt->driver.cuUserObjectRelease(object, 1);
  return status;
}

/* ---- Fills of host memory ---------------------------------------------------------------------------------------- */

typedef struct host_fill {
  char *to;
  uint64_t pattern;
  size_t bytes;
  int64_t count;
} host_fill;

static void run_fill(void *data) {
  const host_fill *f = data;
  tf_fill_host(f->to, f->pattern, f->bytes, f->count);
}

tf_status tf_capture_fill(tf_frame *frame, void *to, uint64_t pattern, size_t bytes, int64_t count) {
  tf_runtime *rt = frame->program->runtime;
  host_fill *fill = malloc(sizeof *fill);
  if (!fill) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  *fill = (host_fill){to, pattern, bytes, count};
  tf_status status = tf_capture_keep(frame, fill);
  return status == TF_OK ? TF_CALL(rt, cuLaunchHostFunc, frame->stream, run_fill, fill) : status;
}

/* ---- What nodes write -------------------------------------------------------------------------------------------- */

tf_status tf_capture_note_write(tf_frame *frame, tf_host_range range) {
  tf_capture *c = &frame->root->capture;
  if (c->written_count == c->written_room) {
    size_t room = 2 * c->written_room + 4;
    tf_host_range *grown = realloc(c->written, room * sizeof *grown);
    if (!grown) return tf_runtime_fail(frame->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
    c->written = grown;
    c->written_room = room;
  }
  c->written[c->written_count++] = range;
  return TF_OK;
}

bool tf_capture_writes(const tf_frame *frame, tf_host_range range) {
  const tf_capture *c = &frame->root->capture;
  for (size_t i = 0; i < c->written_count; i++)
    if (c->written[i].begin < range.end && range.begin < c->written[i].end) return true;
  return false;
}

void tf_capture_close(tf_frame *frame) {
  free(frame->capture.written);
}
