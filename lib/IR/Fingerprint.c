/* See Fingerprint.h. The text says which statements there are, so a list of what each adds to it in walking order is unambiguous. */
#include "IR/Fingerprint.h"

#include <string.h>

#include "IR/Nodes.h"
#include "IR/Text/PrintInternal.h"

typedef struct walker {
  const tf_context *context;
  tf_string *out;
  uint32_t file; /* of the last statement */
  bool failed;
} walker;

static void add_name(walker *w, const char *name) {
  tf_string_append(w->out, name ? "+" : "-", 1);
  if (name) tf_string_append(w->out, name, strlen(name) + 1);
}

/* The index of a file is the context's own affair: its name is written where it changes. */
static void add_place(walker *w, tf_loc loc) {
  add_name(w, loc.file != w->file ? tf_context_source_name(w->context, loc.file) : NULL);
  w->file = loc.file;
  const uint32_t place[] = {loc.line, loc.column, loc.length};
  tf_string_append(w->out, (const char *)place, sizeof place);
}

static const tf_expr *bound_by(const tf_stmt *stmt) {
  switch (stmt->kind) {
  case TF_STMT_LET:
    return stmt->let.var;
  case TF_STMT_FOR:
    return stmt->for_.var;
  case TF_STMT_MESH_SCOPE:
    return stmt->mesh_scope.var;
  default:
    return NULL;
  }
}

static bool add_stmt(void *user, const tf_stmt *stmt) {
  walker *w = user;
  const tf_expr *var = bound_by(stmt);
  add_place(w, stmt->loc);
  add_name(w, stmt->loc_text);
  if (var) add_name(w, var->var.name);
  w->failed |= stmt->kind == TF_STMT_INTRINSIC && stmt->intrinsic.decl->lower;
  return true;
}

bool tf_module_fingerprint(const tf_module *module, tf_string *out) {
  const char *text;
  walker w = {.context = module->context, .out = out, .file = UINT32_MAX};
  if (tf_print_quietly(module, &text) != TF_OK) return false;
  add_name(&w, text);
  add_place(&w, module->loc);
  for (unsigned i = 0; i < module->function_count; i++)
    tf_stmt_walk(module->functions[i], add_stmt, &w);
  return !w.failed;
}
