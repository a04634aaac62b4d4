/* Rules of the module: names, cycles of calls, the first pass over every function.
 *
 * Cycles: functions whose callees are all done are taken out until nothing changes, then functions that nobody left calls; what
 * remains lies on a cycle (or between two), and every call among them is refused. */
#include "Verify/Calls.h"
#include "Verify/State.h"

#include "IR/Target.h"

const tf_target *tf_verifier_target(const tf_verifier *v, const tf_stmt *function) {
  if (tf_target_is_cpu(function->function.target)) return function->function.target;
  if (v->override) return v->override;
  return function->function.target ? function->function.target : tf_target_default();
}

static void check_names(tf_verifier *v) {
  for (unsigned i = 0; i < v->module->function_count; i++) {
    const tf_stmt *function = v->module->functions[i];
    const tf_stmt *first = tf_module_find(v->module, function->function.name);
    if (first == function) continue;
    tf_report(v->context, function->loc, FUNCTION_DUPLICATE, function->function.name);
    tf_report(v->context, first->loc, FUNCTION_HERE, function->function.name);
  }
  const char *entry = v->module->entry;
  if (entry && !tf_module_find(v->module, entry))
    tf_report(v->context, v->module->loc, ENTRY_MISSING, entry);
}

/* ---- Cycles ----------------------------------------------------------------------------------------------------------------- */

typedef struct tf_call_edge {
  unsigned caller, callee;
  const tf_stmt *stmt;
} tf_call_edge;

typedef struct tf_call_graph {
  tf_verifier *v;
  unsigned caller;
  struct {
    TF_VEC(tf_call_edge);
  } edges;
} tf_call_graph;

typedef struct tf_index_key {
  const char *tag;
  const void *run, *function;
} tf_index_key;

static const char index_tag;

/* The function's place in the module, through a memo: the graph is built in linear time. */
static unsigned *index_of(tf_verifier *v, const tf_stmt *function) {
  tf_index_key key = {&index_tag, v->run, function};
  void **slot = tf_context_memo(v->context, &key, sizeof key);
  if (!*slot) *slot = TF_ARENA_NEW(&v->context->arena, unsigned);
  return *slot;
}

static void add_edge(void *user, const tf_stmt *stmt, const tf_expr *symbol) {
  tf_call_graph *graph = user;
  const tf_stmt *callee = tf_module_find(graph->v->module, symbol->symbol.name);
  if (!callee) return;
  tf_call_edge edge = {graph->caller, *index_of(graph->v, callee), stmt};
  TF_VEC_PUSH(&graph->v->context->arena, &graph->edges, edge);
}

/* Takes out, one after the other, every function without edges that lead to others (or come from others): `forward` says
 * which. in[f]: f is still there. */
static void trim(tf_call_graph *graph, bool *in, bool forward) {
  tf_arena *arena = &graph->v->context->arena;
  unsigned count = graph->v->module->function_count, head = 0, tail = 0;
  unsigned *degree = TF_ARENA_ARRAY(arena, unsigned, count), *queue = TF_ARENA_ARRAY(arena, unsigned, count);
  unsigned *first = TF_ARENA_ARRAY(arena, unsigned, count + 1),
           *by_end = TF_ARENA_ARRAY(arena, unsigned, graph->edges.count);
  for (size_t e = 0; e < graph->edges.count; e++) {
    const tf_call_edge *edge = &graph->edges.items[e];
    if (!in[edge->caller] || !in[edge->callee]) continue;
    degree[forward ? edge->caller : edge->callee]++;
    first[(forward ? edge->callee : edge->caller) + 1]++;
  }
  for (unsigned f = 0; f < count; f++)
    first[f + 1] += first[f];
  unsigned *next = tf_arena_copy(arena, first, count * sizeof *first);
  for (size_t e = 0; e < graph->edges.count; e++) {
    const tf_call_edge *edge = &graph->edges.items[e];
    if (in[edge->caller] && in[edge->callee]) by_end[next[forward ? edge->callee : edge->caller]++] = (unsigned)e;
  }
  for (unsigned f = 0; f < count; f++)
    if (in[f] && degree[f] == 0) queue[tail++] = f;
  while (head < tail) {
    unsigned f = queue[head++];
    in[f] = false;
    for (unsigned i = first[f]; i < first[f + 1]; i++) {
      const tf_call_edge *edge = &graph->edges.items[by_end[i]];
      unsigned other = forward ? edge->caller : edge->callee;
      if (--degree[other] == 0) queue[tail++] = other;
    }
  }
}

static void check_cycles(tf_verifier *v) {
  tf_call_graph graph = {.v = v};
  bool *in = TF_ARENA_ARRAY(&v->context->arena, bool, v->module->function_count);
  for (unsigned i = 0; i < v->module->function_count; i++) {
    in[i] = true;
    if (tf_module_find(v->module, v->module->functions[i]->function.name) == v->module->functions[i])
      *index_of(v, v->module->functions[i]) = i;
  }
  for (unsigned i = 0; i < v->module->function_count; i++) {
    graph.caller = i;
    tf_for_each_call(v->module->functions[i], add_edge, &graph);
  }
  trim(&graph, in, true);
  trim(&graph, in, false);
  for (size_t e = 0; e < graph.edges.count; e++) {
    const tf_call_edge *edge = &graph.edges.items[e];
    if (!in[edge->caller] || !in[edge->callee]) continue;
    const tf_stmt *callee = v->module->functions[edge->callee];
    tf_report(v->context, edge->stmt->loc, RECURSION, callee->function.name,
              v->module->functions[edge->caller]->function.name);
    tf_report(v->context, callee->loc, FUNCTION_HERE, callee->function.name);
    tf_verifier_refuse_stmt(v, edge->stmt);
  }
}

void tf_verify_module_structure(tf_verifier *v) {
  check_names(v);
  for (unsigned i = 0; i < v->module->function_count; i++) {
    tf_verify_params(v, v->module->functions[i]);
    tf_verify_function_structure(v, v->module->functions[i]);
  }
  check_cycles(v);
}
