/* Counters of grid barriers. A kernel finds them zero (or as its predecessor on the same stream left them, which is the
 * same to it: the phase bit stays, the count is back at zero) and no other launch in flight may use them.
 *
 *   stream id ─▶ slot { counters, zeroed once }      launches of one stream are ordered: they share the slot
 *
 * Stream handles are reused and the per-thread stream has one handle for many streams, so slots are keyed by the
 * driver's unique stream id. Where a launch may run beside others of its stream later (it is being captured into a
 * graph), or a driver older than 12.0 gives no ids, the launch brings its own counters: allocated, zeroed and freed in
 * stream order, which a capture records as nodes of the graph. */
#include <stdlib.h>

#include "Runtime/RuntimeImpl.h"

static tf_status run_with_own(tf_runtime *rt, CUstream stream, size_t bytes, tf_barrier_body body, void *user) {
  CUdeviceptr counters = 0;
  tf_status status = TF_CALL(rt, cuMemAllocAsync, &counters, bytes, stream);
  if (status != TF_OK) return status;
  status = TF_CALL(rt, cuMemsetD8Async, counters, 0, bytes, stream);
  if (status == TF_OK) status = body(user, counters);
  tf_status freed = TF_CALL(rt, cuMemFreeAsync, counters, stream);
  return status != TF_OK ? status : freed;
}

static tf_barrier_slot *find_slot(tf_runtime *rt, unsigned long long id, size_t bytes) {
  for (tf_barrier_slot *slot = rt->barriers; slot; slot = slot->next)
    if (slot->stream_id == id && slot->bytes >= bytes) return slot;
  return NULL;
}

/* A new slot with allocated counters that still have to be zeroed. */
static tf_status new_slot(tf_runtime *rt, unsigned long long id, size_t bytes, tf_barrier_slot **out) {
  tf_barrier_slot *slot = calloc(1, sizeof *slot);
  if (!slot) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  *slot = (tf_barrier_slot){.stream_id = id, .bytes = bytes, .dirty = true};
  tf_status status = TF_CALL(rt, cuMemAlloc, &slot->counters, bytes);
  if (status == TF_OK)
    *out = slot;
  else
    free(slot);
  return status;
}

/* Takes the slot of the stream, or makes one; *zero says that the caller must clear it in stream order. */
static tf_status take_slot(tf_runtime *rt, unsigned long long id, size_t bytes, tf_barrier_slot **out, bool *zero) {
  pthread_mutex_lock(&rt->lock);
  tf_barrier_slot *slot = find_slot(rt, id, bytes);
  pthread_mutex_unlock(&rt->lock);
  tf_barrier_slot *made = NULL;
  tf_status status = slot ? TF_OK : new_slot(rt, id, bytes, &made);
  if (status != TF_OK) return status;
  pthread_mutex_lock(&rt->lock);
  if (made) {
    made->next = rt->barriers;
    rt->barriers = slot = made;
  }
  *zero = slot->dirty;
  slot->dirty = false;
  pthread_mutex_unlock(&rt->lock);
  *out = slot;
  return TF_OK;
}

static tf_status run_with_slot(tf_runtime *rt, CUstream stream, unsigned long long id, size_t bytes,
                               tf_barrier_body body, void *user) {
  bool zero = false;
  tf_barrier_slot *slot;
  tf_status status = take_slot(rt, id, bytes, &slot, &zero);
  if (status != TF_OK) return status;
  if (zero) status = TF_CALL(rt, cuMemsetD8Async, slot->counters, 0, slot->bytes, stream);
  if (status == TF_OK) status = body(user, slot->counters);
  if (status == TF_OK) return TF_OK;
  pthread_mutex_lock(&rt->lock);
  slot->dirty = true;
  pthread_mutex_unlock(&rt->lock);
  return status;
}

tf_status tf_barrier_run(tf_runtime *rt, CUstream stream, size_t bytes, tf_barrier_body body, void *user) {
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  tf_status status = TF_CALL(rt, cuStreamIsCapturing, stream, &capturing);
  if (status != TF_OK) return status;
  unsigned long long id = 0;
  if (capturing != CU_STREAM_CAPTURE_STATUS_NONE) return run_with_own(rt, stream, bytes, body, user);
  CUresult result = rt->driver.cuStreamGetId(stream, &id);
  if (result == TF_CUDA_ERROR_MISSING_FUNCTION) return run_with_own(rt, stream, bytes, body, user);
  if (result != CUDA_SUCCESS) return tf_runtime_check(rt, result, "cuStreamGetId");
  return run_with_slot(rt, stream, id, bytes, body, user);
}

void tf_barrier_mark_dirty(tf_runtime *rt) {
  pthread_mutex_lock(&rt->lock);
  for (tf_barrier_slot *slot = rt->barriers; slot; slot = slot->next)
    slot->dirty = true;
  pthread_mutex_unlock(&rt->lock);
}

void tf_barrier_release(tf_runtime *rt) {
  bool pushed = false;
  tf_status entered = rt->barriers ? tf_context_enter(rt, &pushed) : TF_OK;
  while (rt->barriers) {
    tf_barrier_slot *slot = rt->barriers;
    rt->barriers = slot->next;
    if (entered == TF_OK) (void)rt->driver.cuMemFree(slot->counters);
    free(slot);
  }
  (void)tf_context_leave(rt, pushed, entered);
}
