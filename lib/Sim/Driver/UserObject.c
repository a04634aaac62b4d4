/* Objects of the program's whose life graphs extend. References belong to the program or to graphs; the copies of a graph,
 * executable ones among them, have their own. With the last one the object is destroyed, in the call that gives it up:
 * the real driver does it in a thread of its own some time later, so nothing may depend on when. */
#include "Sim/Driver/State.h"

#include "Sim/Pool.h"

#include <limits.h>
#include <stdlib.h>

TF_SIM_KNOWN(CUuserObject, objects, object)

static bool retain(tf_sim_state *s, CUuserObject object, unsigned count) {
  pthread_mutex_lock(&s->lock);
  bool known = object && objects_has(s, object);
  if (known) object->refs += count;
  pthread_mutex_unlock(&s->lock);
  return known;
}

/* False if there is no such object, or it has fewer references. */
static bool release(tf_sim_state *s, CUuserObject object, unsigned count) {
  pthread_mutex_lock(&s->lock);
  CUuserObject *at = &s->objects;
  while (*at && *at != object)
    at = &(*at)->next;
  bool known = object && *at && object->refs >= count, last = false;
  if (known) {
    object->refs -= count;
    last = object->refs == 0;
    if (last) *at = object->next;
  }
  pthread_mutex_unlock(&s->lock);
  if (!last) return known;
  object->destroy(object->data);
  free(object);
  return true;
}

/* What the program still has is left alone, as at the end of a process. */
void tf_sim_free_objects(tf_sim_state *s) {
  while (s->objects) {
    CUuserObject next = s->objects->next;
    free(s->objects);
    s->objects = next;
  }
}

/* ---- Graphs ----------------------------------------------------------------------------------------------------------- */

static tf_sim_held *find_held(CUgraph graph, CUuserObject object) {
  for (size_t i = 0; i < graph->held_count; i++)
    if (graph->held[i].object == object) return &graph->held[i];
  return NULL;
}

/* Adds to what the graph holds; the references are there already. */
static bool add_held(CUgraph graph, CUuserObject object, unsigned count) {
  tf_sim_held *held = find_held(graph, object);
  if (held) {
    held->count += count;
    return true;
  }
  if (!tf_grow((void **)&graph->held, &graph->held_cap, graph->held_count + 1, sizeof *graph->held)) return false;
  graph->held[graph->held_count++] = (tf_sim_held){object, count};
  return true;
}

bool tf_sim_hold_again(CUgraph graph, CUgraph of) {
  for (size_t i = 0; i < of->held_count; i++) {
    const tf_sim_held *held = &of->held[i];
    if (!add_held(graph, held->object, held->count)) return false;
    (void)retain(graph->driver, held->object, held->count);
  }
  return true;
}

void tf_sim_let_go(CUgraph graph) {
  for (size_t i = 0; i < graph->held_count; i++)
    (void)release(graph->driver, graph->held[i].object, graph->held[i].count);
  free(graph->held);
  graph->held = NULL;
  graph->held_count = graph->held_cap = 0;
}

/* ---- The API ---------------------------------------------------------------------------------------------------------- */

static bool is_count(unsigned count) {
  return count > 0 && count <= INT_MAX;
}

CUresult tf_sim_cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy, unsigned count, unsigned flags) {
  tf_sim_state *s = tf_sim_now();
  if (!object || !destroy || !is_count(count) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  CUuserObject made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *made = (struct CUuserObject_st){.destroy = destroy, .data = data, .refs = count};
  pthread_mutex_lock(&s->lock);
  made->next = s->objects;
  s->objects = made;
  pthread_mutex_unlock(&s->lock);
  *object = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuUserObjectRetain(CUuserObject object, unsigned count) {
  return is_count(count) && retain(tf_sim_now(), object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuUserObjectRelease(CUuserObject object, unsigned count) {
  return is_count(count) && release(tf_sim_now(), object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  if (!is_count(count) || flags > CU_GRAPH_USER_OBJECT_MOVE || !retain(s, object, count))
    return CUDA_ERROR_INVALID_VALUE;
  bool held = add_held(graph, object, count);
  if (!held || flags == CU_GRAPH_USER_OBJECT_MOVE) (void)release(s, object, count);
  return held ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult tf_sim_cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  tf_sim_held *held = find_held(graph, object);
  if (!is_count(count) || !held || held->count < count) return CUDA_ERROR_INVALID_VALUE;
  held->count -= count;
  if (!held->count) *held = graph->held[--graph->held_count];
  (void)release(tf_sim_now(), object, count);
  return CUDA_SUCCESS;
}
