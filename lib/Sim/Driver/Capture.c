/* Stream capture: what is submitted to a capturing stream becomes nodes of a graph.
 *
 * A stream that captures keeps the nodes that its next node will need, an event those at the time of its recording; waiting
 * for such an event makes another stream join. When the capture ends, all that the joined streams did must be needed,
 * directly or not, by what the origin would do next. Calls that a real driver refuses during a capture are refused here,
 * and end it as they do there, although nothing could go wrong. */
#include "Sim/Driver/State.h"

#include "Sim/Pool.h"

#include <stdlib.h>
#include <string.h>

/* This thread's mode against unsafe calls, which it may exchange. */
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* ---- Sets of nodes -------------------------------------------------------------------------------------------------- */

static bool add_node(tf_sim_nodes *set, CUgraphNode node) {
  for (size_t i = 0; i < set->count; i++)
    if (set->list[i] == node) return true;
  if (!tf_grow((void **)&set->list, &set->cap, set->count + 1, sizeof(CUgraphNode))) return false;
  set->list[set->count++] = node;
  return true;
}

static bool add_nodes(tf_sim_nodes *set, const tf_sim_nodes *more) {
  for (size_t i = 0; i < more->count; i++)
    if (!add_node(set, more->list[i])) return false;
  return true;
}

/* ---- Life ----------------------------------------------------------------------------------------------------------- */

static void leave(CUstream stream) {
  stream->capture = NULL;
  stream->needs.count = 0;
}

/* Ends a capture for every stream. The graph is the caller's. */
static CUgraph end_capture(tf_sim_state *s, tf_sim_capture *c) {
  CUgraph graph = c->graph;
  pthread_mutex_lock(&s->lock);
  for (CUstream at = s->streams; at; at = at->next)
    if (at->capture == c) leave(at);
  for (size_t i = 0; i < s->capture_count; i++)
    if (s->captures[i] == c) s->captures[i] = s->captures[--s->capture_count];
  pthread_mutex_unlock(&s->lock);
  free(c);
  return graph;
}

/* The stream is about to go: the capture that began on it ends, one that it joined goes on without it. */
void tf_sim_capture_leave(CUstream stream) {
  tf_sim_capture *c = stream->capture;
  if (!c) return;
  leave(stream);
  if (c->origin == stream)
    tf_sim_free_graph(end_capture(tf_sim_now(), c));
  else
    c->invalid = true;
}

void tf_sim_free_captures(tf_sim_state *s) {
  for (size_t i = 0; i < s->capture_count; i++) {
    tf_sim_free_graph(s->captures[i]->graph);
    free(s->captures[i]);
  }
  free(s->captures);
}

static tf_sim_capture *capture_of(const tf_sim_state *s, unsigned long long id) {
  for (size_t i = 0; id && i < s->capture_count; i++)
    if (s->captures[i]->id == id) return s->captures[i];
  return NULL;
}

CUresult tf_sim_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  if (tf_sim_default_stream(stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  tf_sim_capture *c = calloc(1, sizeof *c);
  CUgraph graph = c ? tf_sim_new_graph(s) : NULL;
  pthread_mutex_lock(&s->lock);
  bool room = graph && tf_grow((void **)&s->captures, &s->capture_cap, s->capture_count + 1, sizeof *s->captures);
  if (room) {
    *c = (tf_sim_capture){.graph = graph, .origin = stream, .id = ++s->next_id, .mode = mode, .thread = pthread_self()};
    s->captures[s->capture_count++] = c;
    stream->capture = c;
    stream->needs.count = 0;
  }
  pthread_mutex_unlock(&s->lock);
  if (room) return CUDA_SUCCESS;
  tf_sim_free_graph(graph);
  free(c);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

/* True when every node of `of` is among `ends` or needed by one of them. A node comes after those it needs. */
static bool reached(CUgraph graph, const tf_sim_nodes *ends, const tf_sim_nodes *of) {
  bool *seen = calloc(graph->count + 1, sizeof *seen);
  bool all = seen != NULL;
  for (size_t i = graph->count; seen && i-- > 0;) {
    CUgraphNode node = graph->nodes[i];
    for (size_t k = 0; k < ends->count; k++)
      seen[i] |= ends->list[k] == node;
    for (size_t k = 0; seen[i] && k < node->need_count; k++)
      for (size_t j = 0; j < i; j++)
        seen[j] |= graph->nodes[j] == node->needs[k];
  }
  for (size_t k = 0; seen && k < of->count; k++)
    for (size_t i = 0; i < graph->count; i++)
      if (graph->nodes[i] == of->list[k]) all &= seen[i];
  free(seen);
  return all;
}

static bool joined(const tf_sim_state *s, const tf_sim_capture *c) {
  for (CUstream at = s->streams; at; at = at->next)
    if (at->capture == c && at != c->origin && !reached(c->graph, &c->origin->needs, &at->needs)) return false;
  return true;
}

CUresult tf_sim_cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (tf_sim_default_stream(stream) || !stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  tf_sim_capture *c = stream->capture;
  if (c->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  bool own = c->mode == CU_STREAM_CAPTURE_MODE_RELAXED || pthread_equal(c->thread, pthread_self());
  if (!own) return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  if (c->invalid) r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (r == CUDA_SUCCESS && !joined(s, c)) r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  CUgraph made = end_capture(s, c);
  *graph = r == CUDA_SUCCESS ? made : NULL;
  if (r == CUDA_SUCCESS)
    tf_sim_enlist_graph(made);
  else
    tf_sim_free_graph(made);
  return r;
}

/* ---- What is captured ------------------------------------------------------------------------------------------------- */

CUresult tf_sim_capture_work(CUstream stream, const tf_sim_work *work, CUgraphNode *out) {
  tf_sim_capture *c = stream->capture;
  if (c->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  CUgraphNode node = tf_sim_add_node(c->graph, work);
  bool ok = node != NULL;
  for (size_t i = 0; ok && i < stream->needs.count; i++)
    ok = tf_sim_add_need(node, stream->needs.list[i]);
  stream->needs.count = 0;
  ok = ok && add_node(&stream->needs, node);
  if (!ok) c->invalid = true;
  *out = node;
  return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult tf_sim_capture_record(CUstream stream, CUevent event) {
  tf_sim_capture *c = stream->capture;
  if (c->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event->needs.count = 0;
  if (!add_nodes(&event->needs, &stream->needs)) return CUDA_ERROR_OUT_OF_MEMORY;
  event->capture = c->id;
  event->recorded = false;
  return CUDA_SUCCESS;
}

bool tf_sim_captured_event(CUevent event) {
  return capture_of(tf_sim_now(), event->capture) != NULL;
}

CUresult tf_sim_capture_wait(CUstream stream, CUevent event) {
  tf_sim_capture *c = capture_of(tf_sim_now(), event->capture);
  if (tf_sim_default_stream(stream)) { /* the legacy stream cannot join */
    c->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (!c) { /* outside of the capture; an event without a recording asks for nothing */
    if (!event->recorded) return CUDA_SUCCESS;
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (c->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture && stream->capture != c) {
    stream->capture->invalid = c->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  stream->capture = c;
  return add_nodes(&stream->needs, &event->needs) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- What a capture forbids ------------------------------------------------------------------------------------------- */

CUresult tf_sim_capture_unsafe(void) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = CUDA_SUCCESS;
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < s->capture_count; i++) {
    tf_sim_capture *c = s->captures[i];
    bool mine = pthread_equal(c->thread, pthread_self());
    bool forbids = (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL) ||
                   (c->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && mine) ||
                   (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mine);
    if (!forbids) continue;
    c->invalid = true;
    r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  pthread_mutex_unlock(&s->lock);
  return r;
}

/* A question about the legacy stream gets the same error but does no harm. */
static CUresult legacy(bool invalidate) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = CUDA_SUCCESS;
  pthread_mutex_lock(&s->lock);
  for (CUstream at = s->streams; at; at = at->next) {
    bool synchronises = !(at->flags & CU_STREAM_NON_BLOCKING) && at->context == tf_sim_context();
    if (!at->capture || !synchronises) continue;
    if (invalidate) at->capture->invalid = true;
    r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult tf_sim_capture_legacy(void) {
  return legacy(true);
}

CUresult tf_sim_capture_waits(CUcontext context) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = CUDA_SUCCESS;
  pthread_mutex_lock(&s->lock);
  for (CUstream at = s->streams; at; at = at->next) {
    if (!at->capture || at->context != context) continue;
    at->capture->invalid = true;
    r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult tf_sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  CUstreamCaptureMode before = thread_mode;
  thread_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

/* ---- Questions ---------------------------------------------------------------------------------------------------------- */

static CUstreamCaptureStatus status_of(CUstream stream) {
  if (tf_sim_default_stream(stream) || !stream->capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static CUresult ask(CUstream stream, CUstreamCaptureStatus *status) {
  CUresult r = tf_sim_check_stream(stream);
  if (r == CUDA_SUCCESS && tf_sim_default_stream(stream) && stream != CU_STREAM_PER_THREAD) r = legacy(false);
  if (r != CUDA_SUCCESS) return r;
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = status_of(stream);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  return ask(stream, status);
}

CUresult tf_sim_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                       const CUgraphNode **dependencies, size_t *count) {
  CUresult r = ask(stream, status);
  if (r != CUDA_SUCCESS || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return r;
  if (id) *id = stream->capture->id;
  if (graph) *graph = stream->capture->graph;
  if (dependencies) *dependencies = stream->needs.list;
  if (count) *count = stream->needs.count;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuStreamGetCaptureInfo_v1(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id) {
  return tf_sim_cuStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL);
}

/* Edges carry no data here. */
CUresult tf_sim_cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies,
                                          const CUgraphEdgeData **edges, size_t *count) {
  if (edges) *edges = NULL;
  return tf_sim_cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, count);
}
