/* Streams and events. A stream's work has ended when the call that submits it returns, so waiting for it has nothing left to
 * do; what remains are handles, times, attributes and the rules about capturing streams (Capture.c). */
#include "Sim/Driver/State.h"

#include "Sim/Pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

TF_SIM_KNOWN(CUstream, streams, stream)
TF_SIM_KNOWN(CUevent, events, event)

bool tf_sim_default_stream(CUstream s) {
  return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD;
}

CUresult tf_sim_check_stream(CUstream stream) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS || tf_sim_default_stream(stream)) return r;
  pthread_mutex_lock(&s->lock);
  bool found = streams_has(s, stream);
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static bool capturing(CUstream stream) {
  return !tf_sim_default_stream(stream) && stream->capture;
}

/* ---- Work ------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_execute(const tf_sim_work *w) {
  switch (w->kind) {
  case TF_WORK_KERNEL:
    return tf_sim_run_kernel(w);
  case TF_WORK_COPY:
    return tf_sim_run_copy(w->to, w->from, w->bytes);
  case TF_WORK_COPY3D:
    return tf_sim_run_copy3d(&w->copy);
  case TF_WORK_SET:
    return tf_sim_run_set(w);
  case TF_WORK_GRAPH:
    return tf_sim_run_graph(w->graph);
  case TF_WORK_HOST:
    w->host(w->data);
    return CUDA_SUCCESS;
  case TF_WORK_ALLOC:
    return tf_sim_run_alloc(w);
  case TF_WORK_FREE:
    return tf_sim_run_free(w);
  case TF_WORK_EMPTY:
    return CUDA_SUCCESS;
  }
  return CUDA_SUCCESS;
}

CUresult tf_sim_submit(CUstream stream, const tf_sim_work *work) {
  CUgraphNode node;
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (capturing(stream)) return tf_sim_capture_work(stream, work, &node);
  if (tf_sim_default_stream(stream) && stream != CU_STREAM_PER_THREAD) r = tf_sim_capture_legacy();
  return r == CUDA_SUCCESS ? tf_sim_execute(work) : r;
}

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  CUstream made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  int clamped = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *made = (struct CUstream_st){.context = tf_sim_context(), .flags = flags, .priority = clamped};
  pthread_mutex_lock(&s->lock);
  made->id = ++s->next_id + 16;
  made->next = s->streams;
  s->streams = made;
  pthread_mutex_unlock(&s->lock);
  *stream = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuStreamCreate(CUstream *stream, unsigned flags) {
  return tf_sim_cuStreamCreateWithPriority(stream, flags, 0);
}

static void free_stream(CUstream stream) {
  tf_sim_capture_leave(stream);
  free(stream->needs.list);
  free(stream);
}

/* Gone even if the context is poisoned; the result says that it is. */
CUresult tf_sim_cuStreamDestroy(CUstream stream) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  CUstream *at = &s->streams;
  while (*at && *at != stream)
    at = &(*at)->next;
  bool found = stream && *at;
  if (found) *at = stream->next;
  pthread_mutex_unlock(&s->lock);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  CUresult sticky = stream->context->sticky;
  free_stream(stream);
  return sticky;
}

/* A capturing stream cannot be waited for: trying to ends the capture. */
CUresult tf_sim_cuStreamSynchronize(CUstream stream) {
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (tf_sim_default_stream(stream)) return stream == CU_STREAM_PER_THREAD ? r : tf_sim_capture_legacy();
  if (!stream->capture) return CUDA_SUCCESS;
  stream->capture->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
CUresult tf_sim_cuStreamQuery(CUstream stream) {
  return tf_sim_cuStreamSynchronize(stream);
}

#define STREAM_VALUE(result, ordinary, default_value)                                                                  \
  CUresult r = tf_sim_check_stream(stream);                                                                            \
  if (r != CUDA_SUCCESS) return r;                                                                                     \
  if (!(result)) return CUDA_ERROR_INVALID_VALUE;                                                                      \
  *(result) = tf_sim_default_stream(stream) ? (default_value) : (ordinary);                                            \
  return CUDA_SUCCESS

CUresult tf_sim_cuStreamGetFlags(CUstream stream, unsigned *flags) {
  STREAM_VALUE(flags, stream->flags, 0);
}
CUresult tf_sim_cuStreamGetPriority(CUstream stream, int *priority) {
  STREAM_VALUE(priority, stream->priority, 0);
}
/* The default streams' ids differ from each other and from all others'; those start at 17. */
CUresult tf_sim_cuStreamGetId(CUstream stream, unsigned long long *id) {
  STREAM_VALUE(id, stream->id, stream == CU_STREAM_PER_THREAD ? 2 : 1);
}
CUresult tf_sim_cuStreamGetCtx(CUstream stream, CUcontext *ctx) {
  STREAM_VALUE(ctx, stream->context, tf_sim_context());
}
CUresult tf_sim_cuStreamGetDevice(CUstream stream, CUdevice *dev) {
  STREAM_VALUE(dev, 0, 0);
}

/* ---- Attributes: kept for the program, the device has no use for them --------------------------------------------- */

static CUlaunchAttributeValue *attribute_of(CUstream stream, CUstreamAttrID attribute) {
  if (attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) return &stream->attributes[0];
  if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) return &stream->attributes[1];
  return NULL;
}

static CUresult check_attribute(CUstream stream, CUstreamAttrID attribute, const void *value) {
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (tf_sim_default_stream(stream)) return CUDA_ERROR_NOT_SUPPORTED;
  return value && attribute_of(stream, attribute) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value) {
  CUresult r = check_attribute(stream, attribute, value);
  if (r == CUDA_SUCCESS) *value = *attribute_of(stream, attribute);
  return r;
}

CUresult tf_sim_cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value) {
  CUresult r = check_attribute(stream, attribute, value);
  if (r == CUDA_SUCCESS) *attribute_of(stream, attribute) = *value;
  return r;
}

CUresult tf_sim_cuStreamCopyAttributes(CUstream dst, CUstream src) {
  CUresult r = tf_sim_check_stream(dst);
  if (r == CUDA_SUCCESS) r = tf_sim_check_stream(src);
  if (r != CUDA_SUCCESS) return r;
  if (tf_sim_default_stream(dst) || tf_sim_default_stream(src)) return CUDA_ERROR_NOT_SUPPORTED;
  memcpy(dst->attributes, src->attributes, sizeof dst->attributes);
  return CUDA_SUCCESS;
}

/* Managed memory belongs to everybody here. */
CUresult tf_sim_cuStreamAttachMemAsync(CUstream stream, CUdeviceptr ptr, size_t length, unsigned flags) {
  uint64_t base, bytes;
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  bool known = tf_sim_range(tf_sim_now()->device, ptr, &base, &bytes) == TF_OK;
  bool fits = known && length <= bytes - (ptr - base);
  bool kind = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE;
  return fits && kind ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Host functions ----------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_work w = {.kind = TF_WORK_HOST, .host = function, .data = data};
  return tf_sim_submit(stream, &w);
}

CUresult tf_sim_cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags) {
  CUresult r = tf_sim_cuStreamSynchronize(stream);
  if (r != CUDA_SUCCESS) return r;
  if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
  callback(stream, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

CUresult tf_sim_check_event(CUevent event) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  pthread_mutex_lock(&s->lock);
  bool found = event && events_has(s, event);
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult tf_sim_cuEventCreate(CUevent *event, unsigned flags) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!event || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS) /* needs the other flag, and another process */
    return flags & CU_EVENT_DISABLE_TIMING ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  CUevent made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->driver = s;
  made->context = tf_sim_context();
  made->flags = flags;
  pthread_mutex_lock(&s->lock);
  made->next = s->events;
  s->events = made;
  pthread_mutex_unlock(&s->lock);
  *event = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuEventDestroy(CUevent event) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  CUevent *at = &s->events;
  while (*at && *at != event)
    at = &(*at)->next;
  bool found = event && *at;
  if (found) *at = event->next;
  pthread_mutex_unlock(&s->lock);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  CUresult sticky = event->context->sticky;
  free(event->needs.list);
  free(event);
  return sticky;
}

CUresult tf_sim_cuEventRecord(CUevent event, CUstream stream) {
  struct timespec t;
  CUresult r = tf_sim_check_event(event);
  if (r == CUDA_SUCCESS) r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (!tf_sim_default_stream(stream) && stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
  if (capturing(stream)) return tf_sim_capture_record(stream, event);
  if (tf_sim_default_stream(stream) && stream != CU_STREAM_PER_THREAD) r = tf_sim_capture_legacy();
  if (r != CUDA_SUCCESS) return r;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  event->time = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
  event->recorded = true;
  event->capture = 0;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  /* An external record is one only inside a capture, where it would be a node of its own kind. */
  if (flags && tf_sim_check_stream(stream) == CUDA_SUCCESS)
    return capturing(stream) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_ILLEGAL_STATE;
  return tf_sim_cuEventRecord(event, stream);
}

/* An event without a recording counts as complete. */
CUresult tf_sim_cuEventQuery(CUevent event) {
  CUresult r = tf_sim_check_event(event);
  if (r != CUDA_SUCCESS) return r;
  return tf_sim_captured_event(event) ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}
CUresult tf_sim_cuEventSynchronize(CUevent event) {
  return tf_sim_cuEventQuery(event);
}

CUresult tf_sim_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  CUresult r = tf_sim_check_stream(stream);
  if (r == CUDA_SUCCESS) r = tf_sim_check_event(event);
  if (r != CUDA_SUCCESS) return r;
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  if (tf_sim_captured_event(event) || capturing(stream)) return tf_sim_capture_wait(stream, event);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  CUresult r = tf_sim_check_event(start);
  if (r == CUDA_SUCCESS) r = tf_sim_check_event(end);
  if (r != CUDA_SUCCESS) return r;
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  if (tf_sim_captured_event(start) || tf_sim_captured_event(end)) return CUDA_ERROR_CAPTURED_EVENT;
  bool timed = !((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING);
  if (!timed || !start->recorded || !end->recorded || start->context != end->context) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = (float)((end->time - start->time) * 1e3);
  return CUDA_SUCCESS;
}
CUresult tf_sim_cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return tf_sim_cuEventElapsedTime(milliseconds, start, end);
}

/* ---- The end of a context ----------------------------------------------------------------------------------------- */

void tf_sim_free_streams(tf_sim_state *s, CUcontext of) {
  for (CUstream *at = &s->streams; *at;) {
    CUstream stream = *at;
    if (of && stream->context != of) {
      at = &stream->next;
      continue;
    }
    *at = stream->next;
    free_stream(stream);
  }
  for (CUevent *at = &s->events; *at;) {
    CUevent event = *at;
    if (of && event->context != of) {
      at = &event->next;
      continue;
    }
    *at = event->next;
    free(event->needs.list);
    free(event);
  }
}
