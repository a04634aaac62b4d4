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

#include "Runtime/Capture.h"

static tf_status run_with_own(tf_runtime *rt, CUstream stream, size_t bytes, tf_barrier_body body, void *user) {
  CUdeviceptr counters = 0;
  bool ordered;
  tf_status status = tf_device_take_ordered(rt, bytes, stream, &counters, &ordered);
  if (status != TF_OK) return status;
  status = TF_CALL(rt, cuMemsetD8Async, counters, 0, bytes, stream);
  if (status == TF_OK) status = body(user, counters);
  tf_status given = tf_device_give_ordered(rt, counters, stream, ordered);
  return status != TF_OK ? status : given;
}

static tf_barrier_slot *find_slot(tf_runtime *rt, unsigned long long id, size_t bytes) {
  for (tf_barrier_slot *slot = rt->barriers; slot; slot = slot->next)
    if (slot->stream_id == id && slot->bytes >= bytes) return slot;
  return NULL;
}

/* A new slot in the pool, with counters that still have to be zeroed. Two threads may each make one; the later one's is the
 * stream's then. */
static tf_status new_slot(tf_runtime *rt, unsigned long long id, size_t bytes, tf_barrier_slot **out) {
  tf_barrier_slot *slot = calloc(1, sizeof *slot);
  if (!slot) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  *slot = (tf_barrier_slot){.stream_id = id, .bytes = bytes};
  tf_status status = tf_device_take(rt, bytes, &slot->counters);
  if (status != TF_OK) {
    free(slot);
    return status;
  }
  pthread_mutex_lock(&rt->lock);
  slot->next = rt->barriers;
  rt->barriers = *out = slot;
  pthread_mutex_unlock(&rt->lock);
  return TF_OK;
}

/* Takes the slot of the stream, or makes one. */
static tf_status take_slot(tf_runtime *rt, unsigned long long id, size_t bytes, tf_barrier_slot **out) {
  pthread_mutex_lock(&rt->lock);
  tf_barrier_slot *slot = find_slot(rt, id, bytes);
  pthread_mutex_unlock(&rt->lock);
  tf_status status = slot ? TF_OK : new_slot(rt, id, bytes, &slot);
  if (status != TF_OK) return status;
  *out = slot;
  return TF_OK;
}

static void set_epoch(tf_runtime *rt, tf_barrier_slot *slot, unsigned long long epoch) {
  pthread_mutex_lock(&rt->lock);
  slot->epoch = epoch;
  pthread_mutex_unlock(&rt->lock);
}

/* Zeroes the counters in stream order unless that was done since the last fault. It counts as done when the driver has
 * it: until then every thread does it before its own launch, which does no harm between launches. */
static tf_status zero_slot(tf_runtime *rt, CUstream stream, tf_barrier_slot *slot) {
  pthread_mutex_lock(&rt->lock);
  unsigned long long epoch = rt->barrier_epoch;
  bool zeroed = slot->epoch == epoch;
  pthread_mutex_unlock(&rt->lock);
  if (zeroed) return TF_OK;
  tf_status status = TF_CALL(rt, cuMemsetD8Async, slot->counters, 0, slot->bytes, stream);
  if (status == TF_OK) set_epoch(rt, slot, epoch);
  return status;
}

static tf_status run_with_slot(tf_runtime *rt, CUstream stream, unsigned long long id, size_t bytes,
                               tf_barrier_body body, void *user) {
  tf_barrier_slot *slot;
  tf_status status = take_slot(rt, id, bytes, &slot);
  if (status == TF_OK) status = zero_slot(rt, stream, slot);
  if (status != TF_OK) return status;
  status = body(user, slot->counters);
  if (status != TF_OK) set_epoch(rt, slot, 0);
  return status;
}

tf_status tf_barrier_run(tf_runtime *rt, CUstream stream, size_t bytes, tf_barrier_body body, void *user) {
  bool capturing;
  tf_status status = tf_capture_is_on(rt, stream, &capturing);
  if (status != TF_OK) return status;
  unsigned long long id = 0;
  if (capturing && !rt->graph_memory)
    return tf_runtime_fail(
        rt, TF_UNSUPPORTED,
        "a kernel with a grid barrier cannot be captured into a graph here: its counters are memory of "
        "the graph, which takes CUDA 11.4 and a device with memory pools");
  if (capturing) return run_with_own(rt, stream, bytes, body, user);
  CUresult result = rt->driver.cuStreamGetId(stream, &id);
  if (result == TF_CUDA_ERROR_MISSING_FUNCTION) return run_with_own(rt, stream, bytes, body, user);
  if (result != CUDA_SUCCESS) return tf_runtime_check(rt, result, "cuStreamGetId");
  return run_with_slot(rt, stream, id, bytes, body, user);
}

/* The first slot of the stream, taken out of the pool. */
static tf_barrier_slot *take_out(tf_runtime *rt, unsigned long long id) {
  pthread_mutex_lock(&rt->lock);
  tf_barrier_slot **at = &rt->barriers;
  while (*at && (*at)->stream_id != id)
    at = &(*at)->next;
  tf_barrier_slot *slot = *at;
  if (slot) *at = slot->next;
  pthread_mutex_unlock(&rt->lock);
  return slot;
}

tf_status tf_barrier_forget_stream(tf_runtime *rt, unsigned long long id) {
  tf_status status = TF_OK;
  for (tf_barrier_slot *slot; id && (slot = take_out(rt, id));) {
    tf_status given = tf_device_give(rt, slot->counters);
    if (status == TF_OK) status = given;
    free(slot);
  }
  return status;
}

tf_status tf_barrier_stream(tf_runtime *rt, CUstream stream, unsigned long long *id) {
  *id = 0;
  pthread_mutex_lock(&rt->lock);
  bool any = rt->barriers != NULL;
  pthread_mutex_unlock(&rt->lock);
  return any ? TF_CALL(rt, cuStreamGetId, stream, id) : TF_OK; /* slots are of drivers that have ids */
}

void tf_barrier_mark_dirty(tf_runtime *rt) {
  pthread_mutex_lock(&rt->lock);
  rt->barrier_epoch++;
  pthread_mutex_unlock(&rt->lock);
}

void tf_barrier_release(tf_runtime *rt) {
  bool pushed = false;
  tf_status entered = rt->barriers ? tf_context_enter(rt, &pushed) : TF_OK;
  while (rt->barriers) {
    tf_barrier_slot *slot = rt->barriers;
    rt->barriers = slot->next;
    if (entered == TF_OK) (void)tf_device_give(rt, slot->counters);
    free(slot);
  }
  (void)tf_context_leave(rt, pushed, entered);
}
