/* Kernels: which functions are, and the record that verification leaves of each. */
#include "Verify/Kernel.h"

#include "Verify/Calls.h"
#include "Verify/State.h"

#include "IR/Target.h"

typedef struct tf_kernel_key {
  const char *tag;
  const void *owner, *path, *what;
} tf_kernel_key;

static const char kernel_tag, site_tag, calls_tag, collected_tag;

/* A slot's pointer that was a pointer to const. */
static void *slot_value(const void *pointer) {
  union {
    const void *from;
    void *to;
  } value = {pointer};
  return value.to;
}

/* ---- Who calls whom ------------------------------------------------------------------------------------------------------- */

bool tf_function_is_host(const tf_stmt *function) {
  if (tf_target_is_cpu(function->function.target)) return true;
  const tf_stmt *body = function->function.body;
  return body->sequential.count > 0 && body->sequential.items[0]->kind == TF_STMT_DISPATCH_CALL;
}

typedef struct tf_callers {
  bool by_device, by_host;
} tf_callers;

typedef struct tf_call_scan {
  const tf_module *module;
  bool host;
} tf_call_scan;

static tf_callers *callers_of(const tf_module *module, const tf_stmt *function) {
  tf_kernel_key key = {&calls_tag, module, NULL, function};
  void **slot = tf_context_memo(module->context, &key, sizeof key);
  if (!*slot) *slot = TF_ARENA_NEW(&module->context->arena, tf_callers);
  return *slot;
}

static void count_call(void *user, const tf_stmt *stmt, const tf_expr *symbol) {
  (void)stmt;
  const tf_call_scan *scan = user;
  const tf_stmt *callee = tf_module_find(scan->module, symbol->symbol.name);
  if (!callee) return;
  tf_callers *callers = callers_of(scan->module, callee);
  callers->by_host = callers->by_host || scan->host;
  callers->by_device = callers->by_device || !scan->host;
}

bool tf_function_is_kernel(const tf_module *module, const tf_stmt *function) {
  tf_kernel_key key = {&collected_tag, module, NULL, NULL};
  void **collected = tf_context_memo(module->context, &key, sizeof key);
  if (!*collected) {
    *collected = slot_value(&collected_tag);
    for (unsigned i = 0; i < module->function_count; i++) {
      tf_call_scan scan = {module, tf_function_is_host(module->functions[i])};
      tf_for_each_call(module->functions[i], count_call, &scan);
    }
  }
  if (tf_function_is_host(function)) return false;
  const tf_callers *callers = callers_of(module, function);
  return callers->by_host || !callers->by_device;
}

/* ---- Records -------------------------------------------------------------------------------------------------------------- */

static void **site_slot(tf_context *context, const tf_stmt *function, const tf_call_path *path, const tf_stmt *stmt) {
  tf_kernel_key key = {&site_tag, function, path, stmt};
  return tf_context_memo(context, &key, sizeof key);
}

static void report_named(tf_verifier *v, const tf_kernel *kernel) {
  if (!tf_verifier_first(v, TF_DIAG_NAMED_BARRIERS, v->root)) return;
  const tf_site *first_too_many = NULL;
  for (unsigned i = 0; i < kernel->site_count && !first_too_many; i++)
    if (kernel->sites[i]->barrier_id == 16) first_too_many = kernel->sites[i];
  tf_report(v->context, first_too_many->stmt->loc, NAMED_BARRIERS, v->root->function.name, kernel->named_barriers);
  for (unsigned i = 0; i < kernel->site_count; i++)
    if (kernel->sites[i]->barrier_id > 0)
      tf_report(v->context, kernel->sites[i]->stmt->loc, NAMED_BARRIER_HERE, kernel->sites[i]->barrier_id);
}

void tf_verifier_record_kernel(tf_verifier *v) {
  tf_arena *arena = &v->context->arena;
  tf_kernel *kernel = TF_ARENA_NEW(arena, tf_kernel);
  const tf_site **sites = TF_ARENA_ARRAY(arena, const tf_site *, v->meetings.count + 1);
  *kernel = (tf_kernel){.function = v->root, .geometry = v->geometry, .sites = sites};
  for (size_t i = 0; i < v->meetings.count; i++) {
    tf_site *site = v->meetings.items[i].site;
    bool sync = site->stmt->kind == TF_STMT_EVALUATE && site->stmt->evaluate.op == TF_OP_SYNC;
    if (sync && site->participation.kind == TF_BARRIER_NAMED) site->barrier_id = ++kernel->named_barriers;
    if (sync && site->participation.kind == TF_BARRIER_GRID) kernel->uses_grid_barrier = true;
    *site_slot(v->context, v->root, site->path, site->stmt) = site;
    sites[kernel->site_count++] = site;
  }
  if (kernel->named_barriers > 15) report_named(v, kernel);
  tf_kernel_key key = {&kernel_tag, v->module, NULL, v->root};
  *tf_context_memo(v->context, &key, sizeof key) = kernel;
}

const tf_kernel *tf_kernel_of(const tf_module *module, const tf_stmt *function) {
  tf_kernel_key key = {&kernel_tag, module, NULL, function};
  return *tf_context_memo(module->context, &key, sizeof key);
}

const tf_site *tf_kernel_site(tf_context *context, const tf_kernel *kernel, const tf_call_path *path,
                              const tf_stmt *stmt) {
  return *site_slot(context, kernel->function, path, stmt);
}
