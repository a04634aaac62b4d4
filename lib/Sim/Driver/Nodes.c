/* The kinds of graph nodes: adding them, asking and changing what they do, in graphs and in executable graphs; updating an
 * executable graph after another graph. */
#include "Sim/Driver/State.h"

#include <stdlib.h>
#include <string.h>

CUresult tf_sim_cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
  static const CUgraphNodeType types[] = {
      [TF_WORK_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL,   [TF_WORK_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
      [TF_WORK_COPY3D] = CU_GRAPH_NODE_TYPE_MEMCPY,   [TF_WORK_SET] = CU_GRAPH_NODE_TYPE_MEMSET,
      [TF_WORK_HOST] = CU_GRAPH_NODE_TYPE_HOST,       [TF_WORK_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY,
      [TF_WORK_ALLOC] = CU_GRAPH_NODE_TYPE_MEM_ALLOC, [TF_WORK_FREE] = CU_GRAPH_NODE_TYPE_MEM_FREE,
      [TF_WORK_GRAPH] = CU_GRAPH_NODE_TYPE_GRAPH,
  };
  CUresult r = node ? tf_sim_check_graph(node->graph, false) : CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS) return r;
  if (!type) return CUDA_ERROR_INVALID_VALUE;
  *type = types[node->work.kind];
  return CUDA_SUCCESS;
}

/* ---- Work from the API's structs ------------------------------------------------------------------------------------ */

static CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS *p, tf_sim_work *w) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUfunction f = p->func ? p->func : (CUfunction)(void *)p->kern;
  if (!f) return CUDA_ERROR_INVALID_VALUE;
  *w = (tf_sim_work){.kind = TF_WORK_KERNEL, .function = f};
  w->config = (CUlaunchConfig){.gridDimX = p->gridDimX,
                               .gridDimY = p->gridDimY,
                               .gridDimZ = p->gridDimZ,
                               .blockDimX = p->blockDimX,
                               .blockDimY = p->blockDimY,
                               .blockDimZ = p->blockDimZ,
                               .sharedMemBytes = p->sharedMemBytes};
  return tf_sim_pack(w, p->kernelParams, p->extra);
}

static CUresult copy_work(const CUDA_MEMCPY3D *copy, tf_sim_work *w) {
  CUresult r = tf_sim_check_copy3d(copy);
  if (r == CUDA_SUCCESS) *w = (tf_sim_work){.kind = TF_WORK_COPY3D, .copy = *copy};
  return r;
}

static CUresult set_work(const CUDA_MEMSET_NODE_PARAMS *p, tf_sim_work *w) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return CUDA_ERROR_INVALID_VALUE;
  if (!p->width || !p->height || p->width > SIZE_MAX / 4) return CUDA_ERROR_INVALID_VALUE;
  if (p->height > 1 && p->pitch < p->width * p->elementSize) return CUDA_ERROR_INVALID_VALUE;
  *w = (tf_sim_work){.kind = TF_WORK_SET, .to = p->dst, .value = p->value, .width = p->elementSize};
  w->bytes = p->width * p->elementSize;
  w->pitch = p->pitch;
  w->height = p->height;
  return CUDA_SUCCESS;
}

static CUresult host_work(const CUDA_HOST_NODE_PARAMS *p, tf_sim_work *w) {
  if (!p || !p->fn) return CUDA_ERROR_INVALID_VALUE;
  *w = (tf_sim_work){.kind = TF_WORK_HOST, .host = p->fn, .data = p->userData};
  return CUDA_SUCCESS;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------------ */

CUresult tf_sim_add_work(CUresult made, tf_sim_work *w, CUgraphNode *node, CUgraph graph,
                         const CUgraphNode *dependencies, size_t count) {
  CUgraphNode added = NULL;
  CUresult r = tf_sim_check_graph(graph, false);
  if (r == CUDA_SUCCESS) r = made;
  if (r == CUDA_SUCCESS && (!node || (count && !dependencies))) r = CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
    if (!dependencies[i] || dependencies[i]->graph != graph) r = CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS && !(added = tf_sim_add_node(graph, w))) r = CUDA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
    if (!tf_sim_add_need(added, dependencies[i])) r = CUDA_ERROR_OUT_OF_MEMORY;
  if (made == CUDA_SUCCESS && w->kind == TF_WORK_KERNEL) free(w->params);
  if (r == CUDA_SUCCESS) *node = added;
  return r;
}

CUresult tf_sim_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                     const CUDA_KERNEL_NODE_PARAMS *params) {
  tf_sim_work w;
  CUresult made = kernel_work(params, &w);
  return tf_sim_add_work(made, &w, node, graph, dependencies, count);
}

static CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  CUDA_KERNEL_NODE_PARAMS p = {0};
  memcpy(&p, params, sizeof *params); /* the older struct is the beginning of the newer */
  return p;
}

CUresult tf_sim_cuGraphAddKernelNode_v1(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS p = newer(params);
  return tf_sim_cuGraphAddKernelNode(node, graph, dependencies, count, &p);
}

CUresult tf_sim_cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                     const CUDA_MEMCPY3D *copy, CUcontext ctx) {
  tf_sim_work w;
  (void)ctx; /* there is one device */
  CUresult made = copy_work(copy, &w);
  return tf_sim_add_work(made, &w, node, graph, dependencies, count);
}

CUresult tf_sim_cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                     const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx) {
  tf_sim_work w;
  (void)ctx;
  CUresult made = set_work(params, &w);
  return tf_sim_add_work(made, &w, node, graph, dependencies, count);
}

CUresult tf_sim_cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                   const CUDA_HOST_NODE_PARAMS *params) {
  tf_sim_work w;
  CUresult made = host_work(params, &w);
  return tf_sim_add_work(made, &w, node, graph, dependencies, count);
}

CUresult tf_sim_cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count) {
  tf_sim_work w = {.kind = TF_WORK_EMPTY};
  return tf_sim_add_work(CUDA_SUCCESS, &w, node, graph, dependencies, count);
}

CUresult tf_sim_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         size_t count, CUgraph child) {
  tf_sim_work w = {.kind = TF_WORK_GRAPH, .graph = child};
  CUresult made = child == graph ? CUDA_ERROR_INVALID_VALUE : tf_sim_check_graph(child, false);
  if (made == CUDA_SUCCESS && tf_sim_has_memory_nodes(child)) made = CUDA_ERROR_NOT_SUPPORTED;
  return tf_sim_add_work(made, &w, node, graph, dependencies, count);
}

/* ---- Asking and changing ---------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
  CUresult r = node ? tf_sim_check_graph(node->graph, false) : CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS) return r;
  if (!params || node->work.kind != TF_WORK_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  const tf_sim_work *w = &node->work;
  const CUlaunchConfig *c = &w->config;
  size_t at = (w->function->info.param_bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
  *params = (CUDA_KERNEL_NODE_PARAMS){.func = w->function,
                                      .gridDimX = c->gridDimX,
                                      .gridDimY = c->gridDimY,
                                      .gridDimZ = c->gridDimZ,
                                      .blockDimX = c->blockDimX,
                                      .blockDimY = c->blockDimY,
                                      .blockDimZ = c->blockDimZ,
                                      .sharedMemBytes = c->sharedMemBytes,
                                      .kernelParams = (void **)(void *)(w->params + at)};
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphKernelNodeGetParams_v1(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  CUDA_KERNEL_NODE_PARAMS p;
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = tf_sim_cuGraphKernelNodeGetParams(node, &p);
  if (r == CUDA_SUCCESS) memcpy(params, &p, sizeof *params);
  return r;
}

/* Copies and fills may change their form but not become something else. */
static bool same_kind(tf_sim_work_kind a, tf_sim_work_kind b) {
  bool copies = (a == TF_WORK_COPY || a == TF_WORK_COPY3D) && (b == TF_WORK_COPY || b == TF_WORK_COPY3D);
  return a == b || copies;
}

/* Puts other work of the same kind into a node. The cluster and the way of launching stay a kernel's. */
static CUresult replace(CUresult made, tf_sim_work *w, CUgraphNode node) {
  tf_sim_work copy;
  CUresult r = made;
  if (r == CUDA_SUCCESS && (!node || !same_kind(node->work.kind, w->kind))) r = CUDA_ERROR_INVALID_VALUE;
  if (r == CUDA_SUCCESS && w->kind == TF_WORK_KERNEL) {
    memcpy(w->cluster, node->work.cluster, sizeof w->cluster);
    w->cooperative = node->work.cooperative;
  }
  if (r == CUDA_SUCCESS && !tf_sim_copy_work(&copy, w)) r = CUDA_ERROR_OUT_OF_MEMORY;
  if (made == CUDA_SUCCESS && w->kind == TF_WORK_KERNEL) free(w->params);
  if (r != CUDA_SUCCESS) return r;
  tf_sim_clear_work(&node->work);
  node->work = copy;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
  tf_sim_work w;
  CUresult r = node ? tf_sim_check_graph(node->graph, false) : CUDA_ERROR_INVALID_VALUE;
  return r == CUDA_SUCCESS ? replace(kernel_work(params, &w), &w, node) : r;
}

CUresult tf_sim_cuGraphKernelNodeSetParams_v1(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS p = newer(params);
  return tf_sim_cuGraphKernelNodeSetParams(node, &p);
}

/* The node of an executable graph that was made from a node of the graph. */
static CUresult exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNode *out) {
  CUresult r = tf_sim_check_graph((CUgraph)(void *)exec, true);
  if (r != CUDA_SUCCESS) return r;
  *out = node ? tf_sim_node_of(&exec->graph, node->id) : NULL;
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_KERNEL_NODE_PARAMS *params) {
  tf_sim_work w;
  CUgraphNode mine;
  CUresult r = exec_node(exec, node, &mine);
  return r == CUDA_SUCCESS ? replace(kernel_work(params, &w), &w, mine) : r;
}

CUresult tf_sim_cuGraphExecKernelNodeSetParams_v1(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS p = newer(params);
  return tf_sim_cuGraphExecKernelNodeSetParams(exec, node, &p);
}

CUresult tf_sim_cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                               CUcontext ctx) {
  tf_sim_work w;
  CUgraphNode mine;
  (void)ctx;
  CUresult r = exec_node(exec, node, &mine);
  return r == CUDA_SUCCESS ? replace(copy_work(copy, &w), &w, mine) : r;
}

CUresult tf_sim_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx) {
  tf_sim_work w;
  CUgraphNode mine;
  (void)ctx;
  CUresult r = exec_node(exec, node, &mine);
  return r == CUDA_SUCCESS ? replace(set_work(params, &w), &w, mine) : r;
}

CUresult tf_sim_cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
  tf_sim_work w;
  CUgraphNode mine;
  CUresult r = exec_node(exec, node, &mine);
  return r == CUDA_SUCCESS ? replace(host_work(params, &w), &w, mine) : r;
}

/* ---- Updating a whole graph --------------------------------------------------------------------------------------------- */

/* What keeps `from` from taking the place of the executable graph's contents. Nodes are matched in their order. */
static CUgraphExecUpdateResult compare(CUgraph exec, CUgraph from, CUgraphNode *node) {
  *node = NULL;
  if (exec->count != from->count) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < exec->count; i++) {
    CUgraphNode a = exec->nodes[i], b = from->nodes[i];
    *node = b;
    if (!same_kind(a->work.kind, b->work.kind)) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (a->work.block) return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED; /* its address cannot change */
    if (a->need_count != b->need_count) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t k = 0; k < a->need_count; k++) {
      size_t x = 0, y = 0;
      while (exec->nodes[x] != a->needs[k])
        x++;
      while (from->nodes[y] != b->needs[k])
        y++;
      if (x != y) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
  }
  *node = NULL;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* What the new contents need is kept, what the old ones needed goes. */
static void exchange_held(CUgraph a, CUgraph b) {
  tf_sim_held *held = a->held;
  size_t count = a->held_count, cap = a->held_cap;
  a->held = b->held;
  a->held_count = b->held_count;
  a->held_cap = b->held_cap;
  b->held = held;
  b->held_count = count;
  b->held_cap = cap;
}

CUresult tf_sim_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  CUgraph ordered;
  CUgraphNode node;
  CUresult r = tf_sim_check_graph((CUgraph)(void *)exec, true);
  if (r == CUDA_SUCCESS) r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  if (!info) return CUDA_ERROR_INVALID_VALUE;
  r = tf_sim_copy_graph(graph, true, &ordered);
  if (r != CUDA_SUCCESS) return r;
  *info = (CUgraphExecUpdateResultInfo){.result = compare(&exec->graph, ordered, &node)};
  if (node) info->errorNode = tf_sim_node_of(graph, node->id);
  for (size_t i = 0; info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS && i < ordered->count; i++) {
    tf_sim_work w = exec->graph.nodes[i]->work; /* the contents change places */
    exec->graph.nodes[i]->work = ordered->nodes[i]->work;
    ordered->nodes[i]->work = w;
  }
  if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS) exchange_held(&exec->graph, ordered);
  tf_sim_free_graph(ordered);
  return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult tf_sim_cuGraphExecUpdate_v1(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                                     CUgraphExecUpdateResult *result) {
  CUgraphExecUpdateResultInfo info = {0};
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = tf_sim_cuGraphExecUpdate(exec, graph, &info);
  *result = info.result;
  if (error_node) *error_node = info.errorNode;
  return r;
}
