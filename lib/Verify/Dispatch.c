/* DispatchCall: the first case whose range holds the extent runs its variant; no case is left to chance.
 *
 *   case [1, 16)   case [16, 32)        extents of the DimVar in [lo, hi) that no case holds go to the fallback:  a note
 *                                       extents that two cases hold go to the first:                               a note */
#include "Verify/State.h"

static bool check_subject(tf_verifier *v, const tf_stmt *function, const tf_stmt *stmt, const tf_dim **extent) {
  if (stmt->dispatch.subject_count != 1) {
    tf_report(v->context, stmt->loc, DISPATCH_SUBJECT_COUNT, stmt->dispatch.subject_count);
    return false;
  }
  const tf_expr *subject = stmt->dispatch.subjects[0];
  if (subject->kind != TF_EXPR_SHAPE_OF) {
    tf_report(v->context, stmt->loc, DISPATCH_NOT_SHAPE_OF);
    return false;
  }
  const tf_expr *param = subject->shape_of.param;
  bool found = false;
  for (unsigned i = 0; i < function->function.param_count; i++)
    found = found || function->function.params[i] == param;
  if (!found || !tf_type_is_tensor(param->type) || subject->shape_of.axis >= tf_type_rank(param->type)) {
    tf_report(v->context, stmt->loc, DISPATCH_NOT_SHAPE_OF);
    return false;
  }
  *extent = tf_type_extent(param->type, subject->shape_of.axis);
  return true;
}

static bool check_fallback(tf_verifier *v, const tf_stmt *stmt) {
  const tf_stmt *fallback = stmt->dispatch.fallback;
  if (fallback && fallback->kind == TF_STMT_SEQUENTIAL && fallback->sequential.count == 1 &&
      fallback->sequential.items[0]->kind == TF_STMT_ABORT)
    return true;
  tf_report(v->context, stmt->loc, DISPATCH_NO_ABORT);
  return false;
}

/* The first extent in [from, hi) that no case holds, or hi; *end is where the gap ends. */
static int64_t next_gap(const tf_stmt *stmt, int64_t from, int64_t hi, int64_t *end) {
  for (bool moved = true; moved && from < hi;) {
    moved = false;
    for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
      const tf_range_pattern *p = &stmt->dispatch.patterns[i];
      if (p->lo <= from && from < p->hi) {
        from = p->hi;
        moved = true;
      }
    }
  }
  *end = hi;
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    const tf_range_pattern *p = &stmt->dispatch.patterns[i];
    if (p->lo > from && p->lo < *end) *end = p->lo;
  }
  return from < hi ? from : hi;
}

static void note_ranges(tf_verifier *v, const tf_stmt *stmt, int64_t lo, int64_t hi) {
  bool gaps = false;
  int64_t end;
  for (int64_t from = next_gap(stmt, lo, hi, &end); from < hi; from = next_gap(stmt, end, hi, &end)) {
    if (!gaps) tf_report(v->context, stmt->loc, DISPATCH_GAP, (long long)lo, (long long)hi);
    tf_report(v->context, stmt->loc, DISPATCH_GAP_RANGE, (long long)from, (long long)end);
    gaps = true;
  }
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++)
    for (unsigned j = 0; j < i; j++) {
      const tf_range_pattern *a = &stmt->dispatch.patterns[j], *b = &stmt->dispatch.patterns[i];
      int64_t from = a->lo > b->lo ? a->lo : b->lo, to = a->hi < b->hi ? a->hi : b->hi;
      if (from >= to) continue;
      tf_report(v->context, stmt->dispatch.calls[i]->loc, DISPATCH_OVERLAP, (long long)b->lo, (long long)b->hi,
                (long long)from, (long long)to);
      tf_report(v->context, stmt->dispatch.calls[j]->loc, DISPATCH_CASE_HERE, (long long)a->lo, (long long)a->hi);
    }
}

typedef struct tf_range_of {
  int64_t lo, hi;
  const char *name;
  unsigned count;
} tf_range_of;

static void take_range(void *user, const char *name, int64_t lo, int64_t hi) {
  *(tf_range_of *)user = (tf_range_of){lo, hi, name, ((tf_range_of *)user)->count + 1};
}

static bool check_patterns(tf_verifier *v, const tf_stmt *stmt, const tf_dim *extent) {
  tf_range_of var = {0, 0, NULL, 0};
  tf_dim_visit_vars(extent, take_range, &var);
  bool good = true, is_var = var.count == 1;
  if (is_var) {
    const tf_dim *dim = NULL;
    is_var = tf_dim_var(v->context, var.name, var.lo, var.hi, &dim) == TF_OK && dim == extent;
  }
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    const tf_range_pattern *p = &stmt->dispatch.patterns[i];
    tf_loc loc = stmt->dispatch.calls[i]->loc;
    if (!p->name || p->lo >= p->hi) {
      tf_report(v->context, loc, DISPATCH_RANGE, p->name ? p->name : "", (long long)p->lo, (long long)p->hi);
      good = false;
    } else if (!is_var || tf_context_intern_cstr(v->context, p->name) != tf_context_intern_cstr(v->context, var.name)) {
      tf_report(v->context, loc, DISPATCH_PATTERN_VAR, p->name, tf_dim_print(v->context, extent));
      good = false;
    }
  }
  if (good && stmt->dispatch.case_count > 0) note_ranges(v, stmt, var.lo, var.hi);
  return good;
}

bool tf_verify_dispatch(tf_verifier *v, const tf_stmt *function, const tf_stmt *stmt) {
  if (!tf_function_is_host(function)) {
    tf_report(v->context, stmt->loc, DISPATCH_PLACE, function->function.name);
    return false;
  }
  const tf_dim *extent = NULL;
  bool good = check_subject(v, function, stmt, &extent);
  good &= check_fallback(v, stmt);
  if (extent) good &= check_patterns(v, stmt, extent);
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    const tf_stmt *call = stmt->dispatch.calls[i];
    if (call->kind != TF_STMT_EVALUATE || !call->evaluate.callee) {
      tf_report(v->context, call->loc, DISPATCH_NOT_A_CALL);
      good = false;
    } else {
      good &= tf_verify_call_structure(v, function, call);
    }
  }
  return good;
}
