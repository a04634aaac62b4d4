/* Memory that graphs allocate.
 *
 *   capture or add ──▶ block: an address, nothing behind it
 *   launch:   alloc node ──▶ fresh memory at the address ──▶ … ──▶ free node, or a later free of the program ──▶ nothing
 *
 * So what a launch leaves behind is not what the next one finds, and a use before the allocation or after the release is
 * a fault as with any other freed memory. A graph that has such nodes cannot be cloned, be a part of another or be
 * instantiated twice at a time. */
#include "Sim/Driver/State.h"

#include <stdlib.h>

/* ---- Blocks ----------------------------------------------------------------------------------------------------------- */

static tf_sim_block *block_at(CUdeviceptr ptr) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  tf_sim_block *b = s->blocks;
  while (b && ptr - b->address >= b->bytes)
    b = b->next;
  pthread_mutex_unlock(&s->lock);
  return b;
}

bool tf_sim_is_graph_memory(CUdeviceptr ptr) {
  return block_at(ptr) != NULL;
}

/* With one reference, the caller's. */
static CUresult new_block(size_t bytes, tf_sim_block **out) {
  tf_sim_state *s = tf_sim_now();
  uint64_t address;
  tf_sim_block *b = calloc(1, sizeof *b);
  if (!b) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = tf_sim_from_status(tf_sim_alloc(s->device, bytes, &address));
  if (r != CUDA_SUCCESS) {
    free(b);
    return r;
  }
  (void)tf_sim_free(s->device, address); /* the address stays */
  *b = (tf_sim_block){.address = address, .bytes = bytes, .context = tf_sim_context(), .refs = 1};
  pthread_mutex_lock(&s->lock);
  b->next = s->blocks;
  s->blocks = b;
  pthread_mutex_unlock(&s->lock);
  *out = b;
  return CUDA_SUCCESS;
}

void tf_sim_drop_block(tf_sim_block *block) {
  tf_sim_state *s = tf_sim_now();
  if (--block->refs) return;
  pthread_mutex_lock(&s->lock);
  tf_sim_block **at = &s->blocks;
  while (*at != block)
    at = &(*at)->next;
  *at = block->next;
  pthread_mutex_unlock(&s->lock);
  (void)tf_sim_free(s->device, block->address);
  free(block);
}

static bool is_there(const tf_sim_block *block) {
  uint64_t base, bytes;
  return tf_sim_range(tf_sim_now()->device, block->address, &base, &bytes) == TF_OK;
}

/* ---- Execution -------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_run_alloc(const tf_sim_work *w) {
  tf_sim_device *d = tf_sim_now()->device;
  CUresult r = tf_sim_from_status(tf_sim_renew(d, w->block->address));
  if (r == CUDA_SUCCESS) tf_sim_own(d, w->block->address, w->block->context);
  return r;
}

CUresult tf_sim_run_free(const tf_sim_work *w) {
  return tf_sim_from_status(tf_sim_free(tf_sim_now()->device, w->block->address));
}

bool tf_sim_has_memory_nodes(CUgraph graph) {
  for (size_t i = 0; i < graph->count; i++)
    if (graph->nodes[i]->work.block) return true;
  return false;
}

CUresult tf_sim_prepare_memory(CUgraph graph) {
  for (size_t i = 0; i < graph->count; i++) {
    const tf_sim_work *w = &graph->nodes[i]->work;
    if (w->kind != TF_WORK_ALLOC || !is_there(w->block)) continue;
    if (!(graph->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)) return CUDA_ERROR_INVALID_VALUE;
    CUresult r = tf_sim_run_free(w);
    if (r != CUDA_SUCCESS) return r;
  }
  return CUDA_SUCCESS;
}

/* ---- Captured --------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_capture_alloc(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  CUgraphNode node;
  tf_sim_work w = {.kind = TF_WORK_ALLOC};
  CUresult r = new_block(bytes, &w.block);
  if (r != CUDA_SUCCESS) return r;
  r = tf_sim_capture_work(stream, &w, &node);
  if (r == CUDA_SUCCESS) *ptr = w.block->address;
  tf_sim_drop_block(w.block);
  return r;
}

/* The block that begins there, if no graph frees it yet. */
static tf_sim_block *releasable(CUdeviceptr ptr) {
  tf_sim_block *b = block_at(ptr);
  return b && b->address == ptr && !b->released ? b : NULL;
}

CUresult tf_sim_capture_free(CUdeviceptr ptr, CUstream stream) {
  CUgraphNode node;
  tf_sim_work w = {.kind = TF_WORK_FREE, .block = releasable(ptr)};
  if (!w.block) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = tf_sim_capture_work(stream, &w, &node);
  if (r == CUDA_SUCCESS) w.block->released = true;
  return r;
}

/* ---- Added ------------------------------------------------------------------------------------------------------------ */

static CUresult check_params(const CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  if (!p || !p->bytesize || (p->accessDescCount && !p->accessDescs)) return CUDA_ERROR_INVALID_VALUE;
  if (p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || p->poolProps.handleTypes)
    return CUDA_ERROR_INVALID_VALUE;
  const CUmemLocation *l = &p->poolProps.location;
  return l->type == CU_MEM_LOCATION_TYPE_DEVICE && l->id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                       CUDA_MEM_ALLOC_NODE_PARAMS *params) {
  tf_sim_work w = {.kind = TF_WORK_ALLOC};
  CUresult r = tf_sim_check_graph(graph, false);
  if (r == CUDA_SUCCESS) r = check_params(params);
  if (r == CUDA_SUCCESS) r = new_block(params->bytesize, &w.block);
  if (r != CUDA_SUCCESS) return r;
  r = tf_sim_add_work(CUDA_SUCCESS, &w, node, graph, dependencies, count);
  if (r == CUDA_SUCCESS) params->dptr = w.block->address;
  tf_sim_drop_block(w.block);
  return r;
}

CUresult tf_sim_cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                      CUdeviceptr ptr) {
  tf_sim_work w = {.kind = TF_WORK_FREE};
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  w.block = releasable(ptr);
  r = tf_sim_add_work(w.block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, &w, node, graph, dependencies, count);
  if (r == CUDA_SUCCESS) w.block->released = true;
  return r;
}

static CUresult check_node(CUgraphNode node, tf_sim_work_kind kind, const void *out) {
  CUresult r = node ? tf_sim_check_graph(node->graph, false) : CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS) return r;
  return out && node->work.kind == kind ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
  CUresult r = check_node(node, TF_WORK_ALLOC, params);
  if (r != CUDA_SUCCESS) return r;
  *params = (CUDA_MEM_ALLOC_NODE_PARAMS){.bytesize = node->work.block->bytes, .dptr = node->work.block->address};
  params->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *ptr) {
  CUresult r = check_node(node, TF_WORK_FREE, ptr);
  if (r == CUDA_SUCCESS) *ptr = node->work.block->address;
  return r;
}
