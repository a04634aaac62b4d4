/* Graphs as data: nodes, edges, copies, and their execution.
 *
 *   graph ──copy──▶ clone                      a copy keeps the nodes' ids, so the node of an executable graph that was
 *     └──copy, in an order that keeps the      made from a given node is the one with its id
 *        edges──▶ executable graph
 *
 * Nodes run one after another in that order: one of those that the edges allow. As with the real driver, a graph is not
 * for several threads at once. */
#include "Sim/Driver/State.h"

#include "Sim/Pool.h"

#include <stdlib.h>
#include <string.h>

TF_SIM_KNOWN(CUgraph, graphs, graph)

/* ---- Work that nodes own -------------------------------------------------------------------------------------------- */

static size_t pointers_at(const tf_sim_function_info *info) {
  return (info->param_bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
}

/* The packed parameters, and behind them an array of pointers to each, which a question for the node's parameters gives. */
static bool copy_params(tf_sim_work *to, const tf_sim_work *from) {
  const tf_sim_function_info *info = &from->function->info;
  size_t at = pointers_at(info);
  to->params = calloc(1, at + (info->param_count + 1) * sizeof(void *));
  if (!to->params) return false;
  if (info->param_bytes) memcpy(to->params, from->params, info->param_bytes);
  for (uint32_t i = 0; i < info->param_count; i++) {
    uint64_t offset = 0;
    (void)tf_sim_function_param(from->function->function, i, &offset, NULL);
    void *part = to->params + offset;
    memcpy(to->params + at + i * sizeof part, &part, sizeof part);
  }
  return true;
}

bool tf_sim_copy_work(tf_sim_work *to, const tf_sim_work *from) {
  *to = *from;
  if (from->kind == TF_WORK_KERNEL) return copy_params(to, from);
  if (from->kind == TF_WORK_GRAPH) return tf_sim_copy_graph(from->graph, true, &to->graph) == CUDA_SUCCESS;
  if (from->block) from->block->refs++;
  return true;
}

void tf_sim_clear_work(tf_sim_work *w) {
  if (w->kind == TF_WORK_KERNEL) free(w->params);
  if (w->kind == TF_WORK_GRAPH) tf_sim_free_graph(w->graph);
  if (w->block) tf_sim_drop_block(w->block);
  *w = (tf_sim_work){.kind = TF_WORK_EMPTY};
}

/* ---- Nodes and edges -------------------------------------------------------------------------------------------------- */

CUgraph tf_sim_new_graph(tf_sim_state *s) {
  CUgraph g = calloc(1, sizeof(struct CUgraphExec_st));
  if (!g) return NULL;
  g->driver = s;
  pthread_mutex_lock(&s->lock);
  g->number = ++s->next_id;
  pthread_mutex_unlock(&s->lock);
  return g;
}

static void free_node(CUgraphNode node) {
  tf_sim_clear_work(&node->work);
  free(node->needs);
  free(node);
}

void tf_sim_free_graph(CUgraph g) {
  if (!g) return;
  for (size_t i = 0; i < g->count; i++)
    free_node(g->nodes[i]);
  free(g->nodes);
  tf_sim_let_go(g);
  free(g);
}

void tf_sim_enlist_graph(CUgraph g) {
  tf_sim_state *s = g->driver;
  pthread_mutex_lock(&s->lock);
  g->next = s->graphs;
  s->graphs = g;
  pthread_mutex_unlock(&s->lock);
}

CUgraphNode tf_sim_add_node(CUgraph g, const tf_sim_work *work) {
  CUgraphNode node = calloc(1, sizeof *node);
  if (!node) return NULL;
  node->graph = g;
  node->id = ++g->next_id;
  bool ok = tf_grow((void **)&g->nodes, &g->cap, g->count + 1, sizeof(CUgraphNode));
  if (ok && !tf_sim_copy_work(&node->work, work)) {
    node->work = (tf_sim_work){.kind = TF_WORK_EMPTY};
    ok = false;
  }
  if (!ok) {
    free_node(node);
    return NULL;
  }
  g->nodes[g->count++] = node;
  return node;
}

bool tf_sim_add_need(CUgraphNode node, CUgraphNode need) {
  for (size_t i = 0; i < node->need_count; i++)
    if (node->needs[i] == need) return true;
  if (!tf_grow((void **)&node->needs, &node->need_cap, node->need_count + 1, sizeof need)) return false;
  node->needs[node->need_count++] = need;
  return true;
}

CUgraphNode tf_sim_node_of(CUgraph g, unsigned long long id) {
  for (size_t i = 0; i < g->count; i++)
    if (g->nodes[i]->id == id) return g->nodes[i];
  return NULL;
}

static bool has_node(CUgraph g, const struct CUgraphNode_st *node) {
  for (size_t i = 0; i < g->count; i++)
    if (g->nodes[i] == node) return true;
  return false;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------------- */

/* The next node that is not taken and needs nothing that is not taken; the first added of these. */
static CUgraphNode next_ready(CUgraph from, CUgraph taken) {
  for (size_t i = 0; i < from->count; i++) {
    CUgraphNode node = from->nodes[i];
    bool ready = !tf_sim_node_of(taken, node->id);
    for (size_t k = 0; ready && k < node->need_count; k++)
      ready = tf_sim_node_of(taken, node->needs[k]->id) != NULL;
    if (ready) return node;
  }
  return NULL;
}

static bool copy_node(CUgraphNode from, CUgraph to) {
  CUgraphNode node = tf_sim_add_node(to, &from->work);
  if (!node) return false;
  node->id = from->id;
  for (size_t i = 0; i < from->need_count; i++)
    if (!tf_sim_add_need(node, tf_sim_node_of(to, from->needs[i]->id))) return false;
  return true;
}

CUresult tf_sim_copy_graph(CUgraph from, bool executable, CUgraph *out) {
  CUgraph made = tf_sim_new_graph(from->driver);
  CUresult r = made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  while (r == CUDA_SUCCESS && made->count < from->count) {
    CUgraphNode node = next_ready(from, made);
    if (!node) r = CUDA_ERROR_INVALID_VALUE; /* a circle */
    if (node && !copy_node(node, made)) r = CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (r == CUDA_SUCCESS && !tf_sim_hold_again(made, from)) r = CUDA_ERROR_OUT_OF_MEMORY;
  if (r != CUDA_SUCCESS) {
    tf_sim_free_graph(made);
    return r;
  }
  made->executable = executable;
  made->next_id = from->next_id;
  *out = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_run_graph(CUgraph g) {
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < g->count && r == CUDA_SUCCESS; i++)
    r = tf_sim_execute(&g->nodes[i]->work);
  return r;
}

/* ---- Graphs of the API -------------------------------------------------------------------------------------------------- */

CUresult tf_sim_check_graph(CUgraph graph, bool executable) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  pthread_mutex_lock(&s->lock);
  bool found = graph && graphs_has(s, graph) && graph->executable == executable;
  for (size_t i = 0; !executable && !found && i < s->capture_count; i++)
    found = s->captures[i]->graph == graph; /* cuStreamGetCaptureInfo gives it away */
  pthread_mutex_unlock(&s->lock);
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphCreate(CUgraph *graph, unsigned flags) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!graph || flags) return CUDA_ERROR_INVALID_VALUE;
  CUgraph made = tf_sim_new_graph(tf_sim_now());
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  tf_sim_enlist_graph(made);
  *graph = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphClone(CUgraph *clone, CUgraph graph) {
  CUgraph made;
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  if (!clone) return CUDA_ERROR_INVALID_VALUE;
  if (tf_sim_has_memory_nodes(graph)) return CUDA_ERROR_NOT_SUPPORTED;
  r = tf_sim_copy_graph(graph, false, &made);
  if (r != CUDA_SUCCESS) return r;
  tf_sim_enlist_graph(made);
  *clone = made;
  return CUDA_SUCCESS;
}

/* Memory nodes give the same addresses in every executable graph, so there may be only one at a time. */
static bool can_instantiate(CUgraph graph) {
  tf_sim_state *s = graph->driver;
  bool free_to = true;
  if (!tf_sim_has_memory_nodes(graph)) return true;
  pthread_mutex_lock(&s->lock);
  for (CUgraph at = s->graphs; at; at = at->next)
    if (at->executable && at->number == graph->number) free_to = false;
  pthread_mutex_unlock(&s->lock);
  return free_to;
}

/* Executable graphs stand in the same list, so that closing the table frees them. */
CUresult tf_sim_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  CUgraph made;
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  if (!exec || flags > 15) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH || !can_instantiate(graph)) return CUDA_ERROR_NOT_SUPPORTED;
  r = tf_sim_copy_graph(graph, true, &made);
  if (r != CUDA_SUCCESS) return r;
  made->number = graph->number;
  made->flags = flags;
  tf_sim_enlist_graph(made);
  *exec = (CUgraphExec)(void *)made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                      size_t size) {
  if (error_node) *error_node = NULL;
  if (log && size) *log = '\0';
  return tf_sim_cuGraphInstantiate(exec, graph, 0);
}
CUresult tf_sim_cuGraphInstantiate_v1(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                      size_t size) {
  return tf_sim_cuGraphInstantiate_v2(exec, graph, error_node, log, size);
}

CUresult tf_sim_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = tf_sim_cuGraphInstantiate(exec, graph, params->flags);
  params->hErrNode_out = NULL;
  params->result_out = r == CUDA_SUCCESS               ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                       : r == CUDA_ERROR_INVALID_VALUE ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                                                       : CUDA_GRAPH_INSTANTIATE_ERROR;
  return r;
}

CUresult tf_sim_cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags) {
  CUresult r = tf_sim_check_graph((CUgraph)(void *)exec, true);
  if (r != CUDA_SUCCESS) return r;
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->graph.flags;
  return CUDA_SUCCESS;
}

/* A launch into a capturing stream becomes a child graph there, which cannot have memory of its own. */
CUresult tf_sim_cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  CUresult r = tf_sim_check_graph((CUgraph)(void *)exec, true);
  if (r == CUDA_SUCCESS) r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  bool captured = !tf_sim_default_stream(stream) && stream->capture;
  if (captured && tf_sim_has_memory_nodes(&exec->graph)) return CUDA_ERROR_NOT_SUPPORTED;
  if (!captured) r = tf_sim_prepare_memory(&exec->graph);
  if (r != CUDA_SUCCESS) return r;
  tf_sim_work w = {.kind = TF_WORK_GRAPH, .graph = &exec->graph};
  return tf_sim_submit(stream, &w);
}

CUresult tf_sim_cuGraphUpload(CUgraphExec exec, CUstream stream) {
  CUresult r = tf_sim_check_stream(stream);
  return r == CUDA_SUCCESS ? tf_sim_check_graph((CUgraph)(void *)exec, true) : r;
}

static CUresult destroy(CUgraph graph, bool executable) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  CUgraph *at = &s->graphs;
  while (*at && *at != graph)
    at = &(*at)->next;
  bool found = graph && *at && graph->executable == executable;
  if (found) *at = graph->next;
  pthread_mutex_unlock(&s->lock);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_free_graph(graph);
  CUcontext c = tf_sim_context();
  return c ? c->sticky : CUDA_SUCCESS;
}
CUresult tf_sim_cuGraphDestroy(CUgraph graph) {
  return destroy(graph, false);
}
CUresult tf_sim_cuGraphExecDestroy(CUgraphExec exec) {
  return destroy((CUgraph)(void *)exec, true);
}

void tf_sim_free_graphs(tf_sim_state *s) {
  while (s->graphs) {
    CUgraph next = s->graphs->next;
    tf_sim_free_graph(s->graphs);
    s->graphs = next;
  }
}

/* ---- Nodes of the API --------------------------------------------------------------------------------------------------- */

/* Fills up to *count entries; null asks for the number. What is left of the caller's array is null. */
static CUresult give(CUgraphNode *to, size_t *count, CUgraph graph, bool roots) {
  size_t n = 0, room = to ? *count : 0;
  for (size_t i = 0; i < graph->count; i++) {
    if (roots && graph->nodes[i]->need_count) continue;
    if (n < room) to[n] = graph->nodes[i];
    n++;
  }
  for (size_t i = n; i < room; i++)
    to[i] = NULL;
  if (!to || room > n) *count = n;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  return count ? give(nodes, count, graph, false) : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  return count ? give(nodes, count, graph, true) : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  if (!count || !from != !to) return CUDA_ERROR_INVALID_VALUE;
  size_t n = 0, room = from ? *count : 0;
  for (size_t i = 0; i < graph->count; i++)
    for (size_t k = 0; k < graph->nodes[i]->need_count; k++, n++) {
      if (n >= room) continue;
      from[n] = graph->nodes[i]->needs[k];
      to[n] = graph->nodes[i];
    }
  for (size_t i = n; i < room; i++)
    from[i] = to[i] = NULL;
  if (!from || room > n) *count = n;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                                   size_t *count) {
  CUresult r = tf_sim_cuGraphGetEdges(graph, from, to, count);
  if (r == CUDA_SUCCESS && edges && from) memset(edges, 0, *count * sizeof *edges);
  return r;
}

CUresult tf_sim_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
  CUresult r = tf_sim_check_graph(graph, false);
  if (r != CUDA_SUCCESS) return r;
  if (count && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++)
    if (!has_node(graph, from[i]) || !has_node(graph, to[i]) || from[i] == to[i]) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++)
    if (!tf_sim_add_need(to[i], from[i])) return CUDA_ERROR_OUT_OF_MEMORY;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *edges, size_t count) {
  for (size_t i = 0; edges && i < count; i++)
    if (edges[i].from_port || edges[i].to_port || edges[i].type) return CUDA_ERROR_NOT_SUPPORTED;
  return tf_sim_cuGraphAddDependencies(graph, from, to, count);
}

CUresult tf_sim_cuGraphDestroyNode(CUgraphNode node) {
  CUresult r = node ? tf_sim_check_graph(node->graph, false) : CUDA_ERROR_INVALID_VALUE;
  if (r != CUDA_SUCCESS) return r;
  CUgraph g = node->graph;
  if (tf_sim_has_memory_nodes(g)) return CUDA_ERROR_NOT_SUPPORTED;
  for (size_t i = 0, kept = 0; i < g->count; i++) {
    if (g->nodes[i] != node) g->nodes[kept++] = g->nodes[i];
    CUgraphNode other = g->nodes[i];
    for (size_t k = 0; k < other->need_count; k++)
      if (other->needs[k] == node) other->needs[k--] = other->needs[--other->need_count];
  }
  g->count--;
  free_node(node);
  return CUDA_SUCCESS;
}
