/* Reading the entries: first all signatures (calls may refer forward), then the bodies, then the check that calls have
 * no cycle. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/Dims.h"
#include "Runtime/ManifestReader.h"

static void read_stmt(tf_mreader *r, const tf_mnode *node, tf_mstmt *out);

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static bool find_entry_param(tf_mreader *r, const tf_mnode *node, unsigned *out) {
  const char *name = tf_mreader_string(r, node, false);
  for (unsigned i = 0; i < r->signature->param_count && !r->failed; i++)
    if (strcmp(r->signature->params[i].name, name) == 0) {
      *out = i;
      return true;
    }
  return tf_mreader_fail(r, node, "no parameter is called '%s'", name);
}

static void read_view(tf_mreader *r, const tf_mnode *node, tf_marg *out) {
  static const char *const keys[] = {"view", "offset", "shape", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode view = tf_mnode_member(node, "view"), offset = tf_mnode_member(node, "offset");
  tf_mnode shape = tf_mnode_member(node, "shape");
  find_entry_param(r, &view, &out->param);
  out->value = tf_mreader_expr(r, &offset);
  out->shape = tf_mreader_exprs(r, &shape, 1, TF_MAX_RANK, &out->rank);
}

static void read_float(tf_mreader *r, const tf_mnode *node, tf_marg *out) {
  static const char *const keys[] = {"float", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode number = tf_mnode_member(node, "float");
  const char *text = tf_mreader_string(r, &number, false);
  if (r->failed) return;
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the host's may write 1,5 */
  if (!c_locale) {
    tf_mreader_fail(r, &number, "out of memory");
    return;
  }
  char *end = NULL;
  out->number = strtod_l(text, &end, c_locale);
  freelocale(c_locale);
  if (end == text || *end) tf_mreader_fail(r, &number, "'%s' is no number", text);
}

static void read_arg(tf_mreader *r, const tf_mnode *node, tf_marg *out) {
  static const char *const param_keys[] = {"param", NULL}, *const int_keys[] = {"int", NULL};
  if (json_object_get(node->value, "param")) {
    out->kind = TF_MARG_PARAM;
    tf_mnode param = tf_mnode_member(node, "param");
    if (tf_mreader_object(r, node, param_keys)) find_entry_param(r, &param, &out->param);
  } else if (json_object_get(node->value, "view")) {
    out->kind = TF_MARG_VIEW;
    read_view(r, node, out);
  } else if (json_object_get(node->value, "int")) {
    out->kind = TF_MARG_INT;
    tf_mnode value = tf_mnode_member(node, "int");
    if (tf_mreader_object(r, node, int_keys)) out->value = tf_mreader_expr(r, &value);
  } else if (json_object_get(node->value, "float")) {
    out->kind = TF_MARG_FLOAT;
    read_float(r, node, out);
  } else {
    tf_mreader_fail(r, node, "expected {\"param\"}, {\"view\", …}, {\"int\"} or {\"float\"}");
  }
}

static bool is_tensor(const tf_mparam *p) {
  return p->kind == TF_MPARAM_TENSOR || p->kind == TF_MPARAM_CONST_TENSOR;
}

/* Whether the argument can ever fit the callee's parameter; extents and values are checked when it is called. */
static void check_arg(tf_mreader *r, const tf_mnode *at, const tf_marg *arg, const tf_mparam *want) {
  if (r->failed) return;
  const tf_mparam *have = arg->kind <= TF_MARG_VIEW ? &r->signature->params[arg->param] : NULL;
  if (is_tensor(want) != (have && is_tensor(have))) {
    tf_mreader_fail(r, at, "'%s' takes a %s", want->name, is_tensor(want) ? "tensor" : "scalar");
  } else if (have && have->element != want->element) {
    tf_mreader_fail(r, at, "'%s' is %s, '%s' takes %s", have->name, tf_element_name(have->element), want->name,
                    tf_element_name(want->element));
  } else if (have && is_tensor(have) && have->host != want->host) {
    tf_mreader_fail(r, at, "'%s' is in %s memory, '%s' is not", have->name, have->host ? "host" : "device", want->name);
  } else if (is_tensor(want) && (arg->kind == TF_MARG_VIEW ? arg->rank : have->rank) != want->rank) {
    tf_mreader_fail(r, at, "'%s' has %u axes", want->name, want->rank);
  }
}

static void read_args(tf_mreader *r, const tf_mnode *node, const tf_msignature *callee, tf_mstmt *out) {
  size_t count = tf_mreader_array(r, node, 0);
  if (!r->failed && count != callee->declared_count)
    tf_mreader_fail(r, node, "'%s' takes %u arguments, got %zu", callee->name, callee->declared_count, count);
  if (r->failed) return;
  tf_marg *args = TF_ARENA_ARRAY(r->arena, tf_marg, count);
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    read_arg(r, &element, &args[i]);
    check_arg(r, &element, &args[i], &callee->params[i]);
  }
  out->args = args;
  out->arg_count = (unsigned)count;
}

static bool same_expr(const tf_mexpr *a, const tf_mexpr *b) {
  if (a->op != b->op || a->index != b->index || a->axis != b->axis || a->value != b->value) return false;
  if (a->arg_count != b->arg_count) return false;
  for (unsigned i = 0; i < a->arg_count; i++)
    if (!same_expr(&a->args[i], &b->args[i])) return false;
  return true;
}

static bool same_param(const tf_mparam *a, const tf_mparam *b) {
  if (a->kind != b->kind || a->element != b->element || a->rank != b->rank) return false;
  if (a->alignment != b->alignment || !a->strides != !b->strides) return false;
  for (unsigned axis = 0; axis < a->rank; axis++)
    if (!same_expr(&a->shape[axis], &b->shape[axis]) ||
        (a->strides && !same_expr(&a->strides[axis], &b->strides[axis])))
      return false;
  return true;
}

/* Indices of parameters are equal on both sides then, so expressions mean the same. */
static bool is_passed_through(const tf_msignature *entry, const tf_msignature *kernel, const tf_mstmt *launch) {
  if (entry->declared_count != kernel->declared_count) return false;
  for (unsigned i = 0; i < launch->arg_count; i++)
    if (launch->args[i].kind != TF_MARG_PARAM || launch->args[i].param != i ||
        !same_param(&entry->params[i], &kernel->params[i]))
      return false;
  return true;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

static void read_launch(tf_mreader *r, const tf_mnode *node, tf_mstmt *out) {
  static const char *const keys[] = {"stmt",    "kernel",       "grid",        "block",
                                     "cluster", "dynamic_smem", "cooperative", "programmatic_stream_serialization",
                                     "args",    "loc",          NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode kernel = tf_mnode_member(node, "kernel"), grid = tf_mnode_member(node, "grid");
  tf_mnode block = tf_mnode_member(node, "block"), cluster = tf_mnode_member(node, "cluster");
  tf_mnode smem = tf_mnode_member(node, "dynamic_smem"), cooperative = tf_mnode_member(node, "cooperative");
  tf_mnode pss = tf_mnode_member(node, "programmatic_stream_serialization"), args = tf_mnode_member(node, "args");
  const char *name = tf_mreader_string(r, &kernel, false);
  unsigned found = 0;
  while (found < r->manifest->kernel_count && strcmp(r->manifest->kernels[found].signature.name, name) != 0)
    found++;
  if (found == r->manifest->kernel_count) tf_mreader_fail(r, &kernel, "no kernel is called '%s'", name);
  out->callee = found;
  unsigned three;
  out->grid = tf_mreader_exprs(r, &grid, 3, 3, &three);
  out->block = tf_mreader_exprs(r, &block, 3, 3, &three);
  out->cluster = tf_mreader_extent3_or_null(r, &cluster);
  out->dynamic_smem = tf_mreader_expr(r, &smem);
  out->cooperative = tf_mreader_bool(r, &cooperative);
  out->programmatic_stream_serialization = tf_mreader_bool(r, &pss);
  if (r->failed) return;
  const tf_msignature *callee = &r->manifest->kernels[found].signature;
  read_args(r, &args, callee, out);
  if (!r->failed) out->same_signature = is_passed_through(r->signature, callee, out);
}

static void read_call(tf_mreader *r, const tf_mnode *node, tf_mstmt *out) {
  static const char *const keys[] = {"stmt", "entry", "args", "loc", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode entry = tf_mnode_member(node, "entry"), args = tf_mnode_member(node, "args");
  const char *name = tf_mreader_string(r, &entry, false);
  unsigned found = 0;
  while (found < r->manifest->entry_count && strcmp(r->manifest->entries[found].signature.name, name) != 0)
    found++;
  if (found == r->manifest->entry_count) tf_mreader_fail(r, &entry, "no entry is called '%s'", name);
  out->callee = found;
  if (!r->failed) read_args(r, &args, &r->manifest->entries[found].signature, out);
}

static void read_case(tf_mreader *r, const tf_mnode *node, tf_mcase *out) {
  static const char *const keys[] = {"lo", "hi", "body", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode lo = tf_mnode_member(node, "lo"), hi = tf_mnode_member(node, "hi"), body = tf_mnode_member(node, "body");
  out->lo = tf_mreader_int(r, &lo, INT64_MIN);
  out->hi = tf_mreader_int(r, &hi, INT64_MIN);
  read_stmt(r, &body, &out->body);
}

static void read_dispatch(tf_mreader *r, const tf_mnode *node, tf_mstmt *out) {
  static const char *const keys[] = {"stmt", "dim", "subject", "cases", "fallback", "loc", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode dim = tf_mnode_member(node, "dim"), subject = tf_mnode_member(node, "subject");
  tf_mnode cases = tf_mnode_member(node, "cases"), fallback = tf_mnode_member(node, "fallback");
  out->text = tf_mreader_string(r, &dim, false);
  out->subject = tf_mreader_expr(r, &subject);
  size_t count = tf_mreader_array(r, &cases, 0);
  tf_mcase *items = TF_ARENA_ARRAY(r->arena, tf_mcase, count);
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(&cases, i);
    read_case(r, &element, &items[i]);
  }
  tf_mstmt *otherwise = TF_ARENA_NEW(r->arena, tf_mstmt);
  if (!r->failed) read_stmt(r, &fallback, otherwise);
  out->cases = items;
  out->count = (unsigned)count;
  out->body = otherwise;
}

static void read_sequence(tf_mreader *r, const tf_mnode *node, tf_mstmt *out) {
  static const char *const keys[] = {"stmt", "body", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode body = tf_mnode_member(node, "body");
  size_t count = tf_mreader_array(r, &body, 0);
  tf_mstmt *items = TF_ARENA_ARRAY(r->arena, tf_mstmt, count);
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(&body, i);
    read_stmt(r, &element, &items[i]);
  }
  out->body = items;
  out->count = (unsigned)count;
}

static void read_abort(tf_mreader *r, const tf_mnode *node, tf_mstmt *out) {
  static const char *const keys[] = {"stmt", "message", "loc", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode message = tf_mnode_member(node, "message");
  out->text = tf_mreader_string(r, &message, true);
}

static void read_stmt(tf_mreader *r, const tf_mnode *node, tf_mstmt *out) {
  static const char *const kinds[] = {"launch", "call", "dispatch", "sequence", "abort"};
  static void (*const readers[])(tf_mreader *, const tf_mnode *, tf_mstmt *) = {read_launch, read_call, read_dispatch,
                                                                                read_sequence, read_abort};
  if (r->failed) return;
  tf_mnode kind = tf_mnode_member(node, "stmt"), loc = tf_mnode_member(node, "loc");
  if (!kind.value) {
    tf_mreader_fail(r, node, "expected a statement: an object with the key 'stmt'");
    return;
  }
  out->kind = (tf_mstmt_kind)tf_mreader_choice(r, &kind, kinds, 5);
  if (r->failed) return;
  readers[out->kind](r, node, out);
  if (out->kind != TF_MSTMT_SEQUENCE) out->loc = tf_mreader_loc(r, &loc);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

static void read_head(tf_mreader *r, const tf_mnode *node, tf_mentry *out) {
  static const char *const keys[] = {"name", "parameters", "output_count", "body", "loc", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode name = tf_mnode_member(node, "name"), params = tf_mnode_member(node, "parameters");
  tf_mnode outputs = tf_mnode_member(node, "output_count"), loc = tf_mnode_member(node, "loc");
  tf_mreader_signature(r, &params, tf_mreader_string(r, &name, false), false, &out->signature);
  int64_t count = tf_mreader_int(r, &outputs, 0);
  if (count > out->signature.param_count) tf_mreader_fail(r, &outputs, "more outputs than parameters");
  out->signature.output_count = (unsigned)count;
  out->loc = tf_mreader_loc(r, &loc);
}

static void read_body(tf_mreader *r, const tf_mnode *node, tf_mentry *out) {
  tf_mnode body = tf_mnode_member(node, "body");
  if (tf_mnode_is_null(&body)) return;
  r->signature = &out->signature;
  r->scalars_allowed = true;
  tf_mstmt *stmt = TF_ARENA_NEW(r->arena, tf_mstmt);
  read_stmt(r, &body, stmt);
  out->body = stmt;
}

/* Depth-first over the calls; `color` is 1 while an entry is on the path and 2 when it is done. */
static bool has_cycle(const tf_manifest *m, const tf_mstmt *stmt, unsigned char *color) {
  if (!stmt) return false;
  if (stmt->kind == TF_MSTMT_CALL) {
    unsigned char *mark = &color[stmt->callee];
    if (*mark) return *mark == 1;
    *mark = 1;
    if (has_cycle(m, m->entries[stmt->callee].body, color)) return true;
    *mark = 2;
  }
  if (stmt->kind == TF_MSTMT_DISPATCH) {
    for (unsigned i = 0; i < stmt->count; i++)
      if (has_cycle(m, &stmt->cases[i].body, color)) return true;
    return has_cycle(m, stmt->body, color);
  }
  for (unsigned i = 0; stmt->kind == TF_MSTMT_SEQUENCE && i < stmt->count; i++)
    if (has_cycle(m, &stmt->body[i], color)) return true;
  return false;
}

static void check_cycles(tf_mreader *r, const tf_mnode *node) {
  const tf_manifest *m = r->manifest;
  unsigned char *color = TF_ARENA_ARRAY(r->arena, unsigned char, m->entry_count);
  for (unsigned i = 0; i < m->entry_count && !r->failed; i++) {
    memset(color, 0, m->entry_count);
    color[i] = 1;
    tf_mnode element = tf_mnode_element(node, i);
    if (has_cycle(m, m->entries[i].body, color)) tf_mreader_fail(r, &element, "the calls of the entry form a cycle");
  }
}

void tf_mreader_entries(tf_mreader *r, const tf_mnode *node) {
  size_t count = tf_mreader_array(r, node, 0);
  tf_mentry *entries = TF_ARENA_ARRAY(r->arena, tf_mentry, count);
  r->manifest->entries = entries;
  r->scalars_allowed = false;
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    read_head(r, &element, &entries[i]);
    for (size_t j = 0; j < i && !r->failed; j++)
      if (strcmp(entries[j].signature.name, entries[i].signature.name) == 0)
        tf_mreader_fail(r, &element, "two entries are called '%s'", entries[i].signature.name);
    r->manifest->entry_count++;
  }
  for (size_t i = 0; i < count && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    read_body(r, &element, &entries[i]);
  }
  if (!r->failed) check_cycles(r, node);
}
