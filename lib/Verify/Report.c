/* Reporting: once per fault however often its statement is inlined, with the calls and scopes around as notes. */
#include "Verify/State.h"

#include <string.h>

typedef struct tf_report_key {
  const char *tag;
  const void *module, *anchor;
  uint64_t id;
} tf_report_key;

static const char reported_tag, refused_tag;

/* True the first time. The mark belongs to one verification: marks of earlier ones carry another number. */
static bool mark(tf_verifier *v, const char *tag, const void *anchor, uint64_t id, bool set) {
  tf_report_key key = {tag, v->module, anchor, id};
  void **slot = tf_context_memo(v->context, &key, sizeof key);
  bool first = *slot != v->run;
  if (set) *slot = v->run;
  return first;
}

bool tf_verifier_first(tf_verifier *v, tf_diag_id id, const void *anchor) {
  return mark(v, &reported_tag, anchor, (uint64_t)id, true);
}

void tf_verifier_refuse_stmt(tf_verifier *v, const tf_stmt *stmt) {
  mark(v, &refused_tag, stmt, 0, true);
}

bool tf_verifier_is_refused(tf_verifier *v, const tf_stmt *stmt) {
  return !mark(v, &refused_tag, stmt, 0, false);
}

tf_loc tf_use_loc(const tf_expr *expr, tf_loc statement) {
  bool own = expr && expr->kind != TF_EXPR_VAR && expr->loc.line != 0;
  return own ? expr->loc : statement;
}

tf_loc tf_verifier_loc(const tf_verifier *v, const tf_expr *expr) {
  return tf_use_loc(expr, v->stmt->loc);
}

bool tf_verifier_call_notes(tf_verifier *v) {
  enum { MOST = 4 };
  int shown = 0;
  for (const tf_call_path *path = v->region.path; path && shown < MOST; path = path->outer, shown++)
    tf_report(v->context, path->call->loc, CALLED_HERE);
  return true;
}

void tf_verifier_scope_notes(tf_verifier *v) {
  for (const tf_scope *scope = v->region.scope; scope; scope = scope->outer)
    tf_report(v->context, scope->stmt->loc, SCOPE_IN_FORCE, scope->stmt->mesh_scope.var->var.name,
              tf_mesh_print(v->context, scope->placement->mesh));
  if (!v->region.scope) tf_report(v->context, v->region.function->loc, SCOPE_NONE, v->region.function->function.name);
}
