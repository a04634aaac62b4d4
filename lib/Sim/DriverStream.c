/* Streams, events, capture and graphs. */
#include "Sim/DriverState.h"

#include "Sim/Pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

TF_SIM_KNOWN(CUstream, streams, stream)
TF_SIM_KNOWN(CUevent, events, event)
TF_SIM_KNOWN(CUgraph, graphs, graph)

static bool is_default(CUstream s) {
  return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD;
}

static CUresult check_stream(CUstream stream) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS || is_default(stream)) return r;
  pthread_mutex_lock(&s->lock);
  bool found = streams_has(s, stream);
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- Work ------------------------------------------------------------------------------------------------------- */

static bool copy_work(tf_sim_work *to, const tf_sim_work *from) {
  *to = *from;
  if (from->kind != TF_WORK_KERNEL) return true;
  size_t bytes = from->function->info.param_bytes;
  to->params = malloc(bytes ? bytes : 1);
  if (to->params && bytes) memcpy(to->params, from->params, bytes);
  return to->params != NULL;
}

static void clear_graph(CUgraph g) {
  for (size_t i = 0; i < g->count; i++)
    if (g->work[i].kind == TF_WORK_KERNEL) free(g->work[i].params);
  free(g->work);
  *g = (struct CUgraph_st){.driver = g->driver, .next = g->next};
}

static bool record(CUgraph g, const tf_sim_work *work) {
  if (!tf_grow((void **)&g->work, &g->cap, g->count + 1, sizeof *g->work)) return false;
  if (!copy_work(&g->work[g->count], work)) return false;
  g->count++;
  return true;
}

CUresult tf_sim_execute(const tf_sim_work *w) {
  switch (w->kind) {
  case TF_WORK_KERNEL:
    return tf_sim_run_kernel(w);
  case TF_WORK_COPY:
    return tf_sim_run_copy(w->to, w->from, w->bytes);
  case TF_WORK_COPY2D:
    return tf_sim_run_copy2d(&w->copy);
  case TF_WORK_SET:
    return tf_sim_run_set(w);
  default:
    w->host(w->data);
    return CUDA_SUCCESS;
  }
}

CUresult tf_sim_submit(CUstream stream, const tf_sim_work *work) {
  CUresult r = check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (is_default(stream) || !stream->capture) return tf_sim_execute(work);
  return record(stream->capture, work) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
  made->id = ++s->next_stream + 16;
  made->next = s->streams;
  s->streams = made;
  pthread_mutex_unlock(&s->lock);
  *stream = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuStreamCreate(CUstream *stream, unsigned flags) {
  return tf_sim_cuStreamCreateWithPriority(stream, flags, 0);
}

static void free_graph(CUgraph g) {
  if (!g) return;
  clear_graph(g);
  free(g);
}

/* Works in a poisoned context too. */
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
  free_graph(stream->capture);
  free(stream);
  return CUDA_SUCCESS;
}

/* A stream's work has ended when it was submitted; only a capturing stream cannot be waited for. */
CUresult tf_sim_cuStreamSynchronize(CUstream stream) {
  CUresult r = check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  return !is_default(stream) && stream->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}
CUresult tf_sim_cuStreamQuery(CUstream stream) {
  return tf_sim_cuStreamSynchronize(stream);
}

#define STREAM_VALUE(result, ordinary, default_value)                                                                  \
  CUresult r = check_stream(stream);                                                                                   \
  if (r != CUDA_SUCCESS) return r;                                                                                     \
  if (!(result)) return CUDA_ERROR_INVALID_VALUE;                                                                      \
  *(result) = is_default(stream) ? (default_value) : (ordinary);                                                       \
  return CUDA_SUCCESS

CUresult tf_sim_cuStreamGetFlags(CUstream stream, unsigned *flags) {
  STREAM_VALUE(flags, stream->flags, 0);
}
CUresult tf_sim_cuStreamGetPriority(CUstream stream, int *priority) {
  STREAM_VALUE(priority, stream->priority, 0);
}
CUresult tf_sim_cuStreamGetId(CUstream stream, unsigned long long *id) {
  STREAM_VALUE(id, stream->id, (unsigned long long)(uintptr_t)stream);
}
CUresult tf_sim_cuStreamGetCtx(CUstream stream, CUcontext *ctx) {
  STREAM_VALUE(ctx, stream->context, tf_sim_context());
}

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

static CUresult check_event(CUevent event) {
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
  CUevent made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->driver = s;
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
  free(event);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuEventRecord(CUevent event, CUstream stream) {
  struct timespec t;
  CUresult r = check_event(event);
  if (r == CUDA_SUCCESS) r = check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (!is_default(stream) && stream->capture) return CUDA_SUCCESS; /* orders nothing in a graph that runs in order */
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  event->time = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
  event->recorded = true;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuEventQuery(CUevent event) {
  return check_event(event);
}
CUresult tf_sim_cuEventSynchronize(CUevent event) {
  return check_event(event);
}

CUresult tf_sim_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  CUresult r = check_stream(stream);
  (void)flags;
  return r == CUDA_SUCCESS ? check_event(event) : r;
}

CUresult tf_sim_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  CUresult r = check_event(start);
  if (r == CUDA_SUCCESS) r = check_event(end);
  if (r != CUDA_SUCCESS) return r;
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  bool timed = !((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING);
  if (!timed || !start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = (float)((end->time - start->time) * 1e3);
  return CUDA_SUCCESS;
}
CUresult tf_sim_cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return tf_sim_cuEventElapsedTime(milliseconds, start, end);
}

/* ---- Capture and graphs ----------------------------------------------------------------------------------------- */

static CUgraph new_graph(tf_sim_state *s) {
  CUgraph g = calloc(1, sizeof *g);
  if (g) g->driver = s;
  return g;
}

static void enlist(tf_sim_state *s, CUgraph g) {
  pthread_mutex_lock(&s->lock);
  g->next = s->graphs;
  s->graphs = g;
  pthread_mutex_unlock(&s->lock);
}

CUresult tf_sim_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  CUresult r = check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  if (is_default(stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = new_graph(tf_sim_now());
  return stream->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult tf_sim_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  CUresult r = check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (is_default(stream) || !stream->capture || !graph) return CUDA_ERROR_ILLEGAL_STATE;
  *graph = stream->capture;
  stream->capture = NULL;
  enlist(tf_sim_now(), *graph);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  STREAM_VALUE(status, stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE,
               CU_STREAM_CAPTURE_STATUS_NONE);
}

CUresult tf_sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_STREAM_CAPTURE_MODE_RELAXED; /* nothing that the stricter modes forbid can go wrong here */
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphCreate(CUgraph *graph, unsigned flags) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!graph || flags) return CUDA_ERROR_INVALID_VALUE;
  *graph = new_graph(tf_sim_now());
  if (!*graph) return CUDA_ERROR_OUT_OF_MEMORY;
  enlist(tf_sim_now(), *graph);
  return CUDA_SUCCESS;
}

static CUresult check_graph(CUgraph graph) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  pthread_mutex_lock(&s->lock);
  bool found = graph && graphs_has(s, graph);
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* An executable graph is a graph in the same list, so that closing the table frees it. */
CUresult tf_sim_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  CUresult r = check_graph(graph);
  (void)flags;
  if (r != CUDA_SUCCESS) return r;
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  CUgraphExec made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->graph.driver = tf_sim_now();
  for (size_t i = 0; i < graph->count; i++)
    if (!record(&made->graph, &graph->work[i])) {
      free_graph(&made->graph);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  enlist(tf_sim_now(), &made->graph);
  *exec = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  CUresult r = check_graph(graph);
  if (r != CUDA_SUCCESS) return r;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; nodes && i < *count; i++)
    nodes[i] = i < graph->count ? (CUgraphNode)(void *)&graph->work[i] : NULL;
  if (!nodes || *count > graph->count) *count = graph->count;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  CUresult r = check_graph((CUgraph)(void *)exec);
  for (size_t i = 0; r == CUDA_SUCCESS && i < exec->graph.count; i++)
    r = tf_sim_submit(stream, &exec->graph.work[i]);
  return r;
}

CUresult tf_sim_cuGraphUpload(CUgraphExec exec, CUstream stream) {
  CUresult r = check_stream(stream);
  return r == CUDA_SUCCESS ? check_graph((CUgraph)(void *)exec) : r;
}

/* Works in a poisoned context too. */
CUresult tf_sim_cuGraphDestroy(CUgraph graph) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  CUgraph *at = &s->graphs;
  while (*at && *at != graph)
    at = &(*at)->next;
  bool found = graph && *at;
  if (found) *at = graph->next;
  pthread_mutex_unlock(&s->lock);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  free_graph(graph);
  return CUDA_SUCCESS;
}
CUresult tf_sim_cuGraphExecDestroy(CUgraphExec exec) {
  return tf_sim_cuGraphDestroy((CUgraph)(void *)exec);
}

void tf_sim_free_streams(tf_sim_state *s) {
  while (s->streams) {
    CUstream next = s->streams->next;
    free_graph(s->streams->capture);
    free(s->streams);
    s->streams = next;
  }
  while (s->events) {
    CUevent next = s->events->next;
    free(s->events);
    s->events = next;
  }
  while (s->graphs) {
    CUgraph next = s->graphs->next;
    free_graph(s->graphs);
    s->graphs = next;
  }
}
