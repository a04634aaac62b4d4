/* Reading expressions and signatures of the manifest. The shape expressions of a signature decide how its DimVars are
 * solved: the first axis, in parameter and axis order, that is V or c * V gives V. */
#include <string.h>

#include "Runtime/Dims.h"
#include "Runtime/ManifestReader.h"

static const struct {
  const char *name;
  bool pair;
} ops[] = {
#define TF_MANIFEST_OP(ENUM, NAME, PAIR, SPELLING) [TF_MOP_##ENUM] = {NAME, PAIR},
#include "Runtime/ManifestOps.def"
};
enum { OP_END = sizeof ops / sizeof ops[0] };

static tf_mexpr constant(int64_t value) {
  return (tf_mexpr){.op = TF_MOP_CONST, .value = value};
}

static bool is_solved(const tf_msignature *s, unsigned dim) {
  for (unsigned i = 0; i < s->solve_count; i++)
    if (s->solves[i].dim == dim) return true;
  return false;
}

static bool check_solved(tf_mreader *r, const tf_mnode *node, unsigned dim) {
  return is_solved(r->signature, dim) ||
         tf_mreader_fail(r, node,
                         "the dim '%s' is in no tensor axis of '%s' as V or c*V, so no call can give its value",
                         r->manifest->dims[dim].name, r->signature->name);
}

static tf_mexpr read_var(tf_mreader *r, const tf_mnode *node) {
  static const char *const keys[] = {"var", NULL};
  if (!tf_mreader_object(r, node, keys)) return constant(1);
  tf_mnode var = tf_mnode_member(node, "var");
  const char *name = tf_mreader_string(r, &var, false);
  for (unsigned i = 0; i < r->manifest->dim_count; i++)
    if (strcmp(r->manifest->dims[i].name, name) == 0) {
      if (r->signature_done) check_solved(r, &var, i);
      return (tf_mexpr){.op = TF_MOP_VAR, .index = i};
    }
  tf_mreader_fail(r, &var, "no dim is called '%s'", name);
  return constant(1);
}

/* The parameter of the current signature; reports if there is none of that name. */
static bool find_param(tf_mreader *r, const tf_mnode *node, unsigned *out) {
  const char *name = tf_mreader_string(r, node, false);
  for (unsigned i = 0; i < r->signature->param_count && !r->failed; i++)
    if (strcmp(r->signature->params[i].name, name) == 0) {
      *out = i;
      return true;
    }
  return tf_mreader_fail(r, node, "no parameter is called '%s'", name);
}

static tf_mexpr read_extent(tf_mreader *r, const tf_mnode *node) {
  static const char *const keys[] = {"shape_of", "axis", NULL};
  if (!tf_mreader_object(r, node, keys)) return constant(1);
  tf_mnode param = tf_mnode_member(node, "shape_of"), axis = tf_mnode_member(node, "axis");
  tf_mexpr expr = {.op = TF_MOP_EXTENT};
  if (!find_param(r, &param, &expr.index)) return constant(1);
  const tf_mparam *p = &r->signature->params[expr.index];
  int64_t at = tf_mreader_int(r, &axis, 0);
  if (!tf_mparam_is_tensor(p) || at >= p->rank)
    tf_mreader_fail(r, &axis, "the parameter '%s' has no such axis", p->name);
  expr.axis = (unsigned)at;
  return r->failed ? constant(1) : expr;
}

static tf_mexpr read_scalar(tf_mreader *r, const tf_mnode *node) {
  static const char *const keys[] = {"scalar", NULL};
  if (!tf_mreader_object(r, node, keys)) return constant(1);
  tf_mnode param = tf_mnode_member(node, "scalar");
  tf_mexpr expr = {.op = TF_MOP_SCALAR};
  if (!r->scalars_allowed) tf_mreader_fail(r, node, "a scalar parameter's value is known only in the body of an entry");
  if (!find_param(r, &param, &expr.index)) return constant(1);
  const tf_mparam *p = &r->signature->params[expr.index];
  if (p->kind != TF_MPARAM_SCALAR || tf_element_get_class(p->element) == TF_ELEMENT_CLASS_FLOAT)
    tf_mreader_fail(r, &param, "'%s' is no integer scalar", p->name);
  expr.element = p->element;
  return r->failed ? constant(1) : expr;
}

static tf_mexpr read_op(tf_mreader *r, const tf_mnode *node) {
  static const char *const keys[] = {"op", "args", NULL};
  if (!tf_mreader_object(r, node, keys)) return constant(1);
  tf_mnode op = tf_mnode_member(node, "op"), args = tf_mnode_member(node, "args");
  const char *name = tf_mreader_string(r, &op, false);
  unsigned found = 0;
  for (unsigned i = 0; i < OP_END; i++)
    if (ops[i].name && strcmp(ops[i].name, name) == 0) found = i;
  if (!found) tf_mreader_fail(r, &op, "unknown operator '%s'", name);
  tf_mexpr expr = {.op = (tf_mop)found};
  expr.args = tf_mreader_exprs(r, &args, 2, found && ops[found].pair ? 2 : SIZE_MAX, &expr.arg_count);
  return r->failed ? constant(1) : expr;
}

tf_mexpr tf_mreader_expr(tf_mreader *r, const tf_mnode *node) {
  if (r->failed) return constant(1);
  if (json_is_integer(node->value)) return constant(json_integer_value(node->value));
  if (json_object_get(node->value, "var")) return read_var(r, node);
  if (json_object_get(node->value, "shape_of")) return read_extent(r, node);
  if (json_object_get(node->value, "scalar")) return read_scalar(r, node);
  if (json_object_get(node->value, "op")) return read_op(r, node);
  tf_mreader_fail(r, node,
                  "expected an integer, {\"var\"}, {\"shape_of\", \"axis\"}, {\"scalar\"} or {\"op\", \"args\"}");
  return constant(1);
}

const tf_mexpr *tf_mreader_exprs(tf_mreader *r, const tf_mnode *node, size_t least, size_t most, unsigned *count) {
  size_t n = tf_mreader_array(r, node, least);
  if (n > most) tf_mreader_fail(r, node, "expected at most %zu elements, got %zu", most, n);
  tf_mexpr *exprs = TF_ARENA_ARRAY(r->arena, tf_mexpr, n);
  for (size_t i = 0; i < n && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    exprs[i] = tf_mreader_expr(r, &element);
  }
  *count = (unsigned)n;
  return exprs;
}

const tf_mexpr *tf_mreader_expr_or_null(tf_mreader *r, const tf_mnode *node) {
  if (r->failed || tf_mnode_is_null(node)) return NULL;
  tf_mexpr *expr = TF_ARENA_NEW(r->arena, tf_mexpr);
  *expr = tf_mreader_expr(r, node);
  return expr;
}

const tf_mexpr *tf_mreader_extent3_or_null(tf_mreader *r, const tf_mnode *node) {
  unsigned count;
  return r->failed || tf_mnode_is_null(node) ? NULL : tf_mreader_exprs(r, node, 3, 3, &count);
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static tf_element read_element(tf_mreader *r, const tf_mnode *param) {
  tf_mnode node = tf_mnode_member(param, "dtype");
  const char *name = tf_mreader_string(r, &node, false);
  tf_element element = TF_ELEMENT_F32;
  if (!r->failed && !tf_element_from_name(name, &element)) tf_mreader_fail(r, &node, "unknown dtype '%s'", name);
  return element;
}

static void read_tensor(tf_mreader *r, const tf_mnode *node, bool kernel, tf_mparam *out) {
  static const char *const keys[] = {"name", "kind", "dtype", "shape", "strides", "storage", "alignment", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  out->element = read_element(r, node);
  out->dlpack = tf_element_to_dlpack(out->element);
  tf_mnode shape = tf_mnode_member(node, "shape"), strides = tf_mnode_member(node, "strides");
  tf_mnode storage = tf_mnode_member(node, "storage"), alignment = tf_mnode_member(node, "alignment");
  out->shape = tf_mreader_exprs(r, &shape, 1, TF_MAX_RANK, &out->rank);
  unsigned count = out->rank;
  if (!tf_mnode_is_null(&strides)) out->strides = tf_mreader_exprs(r, &strides, 1, TF_MAX_RANK, &count);
  if (count != out->rank) tf_mreader_fail(r, &strides, "%u strides for %u axes", count, out->rank);
  static const char *const storages[] = {"gmem", "host"};
  out->host = tf_mreader_choice(r, &storage, storages, kernel ? 1 : 2) == 1;
  out->alignment = (uint64_t)tf_mreader_int(r, &alignment, 1);
  if (out->alignment & (out->alignment - 1)) tf_mreader_fail(r, &alignment, "the alignment is no power of two");
}

static void read_hidden_shape(tf_mreader *r, const tf_mnode *node, tf_mparam *out) {
  static const char *const keys[] = {"name", "kind", "dtype", "of", "axis", NULL};
  if (!tf_mreader_object(r, node, keys)) return;
  tf_mnode of = tf_mnode_member(node, "of"), axis = tf_mnode_member(node, "axis");
  tf_mnode dtype = tf_mnode_member(node, "dtype");
  out->element = read_element(r, node);
  if (out->element != TF_ELEMENT_I32) tf_mreader_fail(r, &dtype, "a hidden shape is an i32");
  int64_t at = tf_mreader_int(r, &axis, 0);
  if (!find_param(r, &of, &out->of)) return;
  const tf_mparam *p = &r->signature->params[out->of];
  if (!tf_mparam_is_tensor(p) || at >= p->rank)
    tf_mreader_fail(r, &axis, "the parameter '%s' has no such axis", p->name);
  out->axis = (unsigned)at;
}

static const char *const kind_names[] = {[TF_MPARAM_TENSOR] = "tensor",
                                         [TF_MPARAM_CONST_TENSOR] = "const_tensor",
                                         [TF_MPARAM_SCALAR] = "scalar",
                                         [TF_MPARAM_HIDDEN_SHAPE] = "hidden_shape",
                                         [TF_MPARAM_GRID_BARRIER] = "grid_barrier"};

static void read_param(tf_mreader *r, const tf_mnode *node, bool kernel, tf_mparam *out) {
  static const char *const scalar_keys[] = {"name", "kind", "dtype", NULL};
  static const char *const barrier_keys[] = {"name", "kind", NULL};
  if (!json_is_object(node->value)) {
    tf_mreader_fail(r, node, "expected an object");
    return;
  }
  tf_mnode kind = tf_mnode_member(node, "kind"), name = tf_mnode_member(node, "name");
  out->kind = (tf_mparam_kind)tf_mreader_choice(r, &kind, kind_names, kernel ? 5 : TF_MPARAM_HIDDEN_SHAPE);
  out->name = tf_mreader_string(r, &name, false);
  switch (out->kind) {
  case TF_MPARAM_TENSOR:
  case TF_MPARAM_CONST_TENSOR:
    read_tensor(r, node, kernel, out);
    break;
  case TF_MPARAM_SCALAR:
    if (tf_mreader_object(r, node, scalar_keys)) out->element = read_element(r, node);
    break;
  case TF_MPARAM_HIDDEN_SHAPE:
    read_hidden_shape(r, node, out);
    break;
  case TF_MPARAM_GRID_BARRIER:
    tf_mreader_object(r, node, barrier_keys);
    break;
  }
}

static void check_order(tf_mreader *r, const tf_mnode *at, const tf_msignature *s, unsigned i) {
  const tf_mparam *p = &s->params[i];
  for (unsigned j = 0; j < i; j++)
    if (strcmp(s->params[j].name, p->name) == 0) tf_mreader_fail(r, at, "two parameters are called '%s'", p->name);
  if (i && s->params[i - 1].kind == TF_MPARAM_GRID_BARRIER) tf_mreader_fail(r, at, "the grid barrier is not the last");
  if (i && s->params[i - 1].kind == TF_MPARAM_HIDDEN_SHAPE && p->kind < TF_MPARAM_HIDDEN_SHAPE)
    tf_mreader_fail(r, at, "a declared parameter behind hidden ones");
}

/* Adds to the plan what axis `axis` of parameter `param` says about a DimVar that nothing before it solved. */
static void plan_axis(const tf_msignature *s, tf_msolve *solves, unsigned *count, unsigned param, unsigned axis) {
  tf_msolve found = {.param = param, .axis = axis};
  if (!tf_mexpr_is_multiple(&s->params[param].shape[axis], &found.dim, &found.factor)) return;
  for (unsigned i = 0; i < *count; i++)
    if (solves[i].dim == found.dim) return;
  solves[(*count)++] = found;
}

static void plan_solves(tf_mreader *r, tf_msignature *s) {
  tf_msolve *solves = TF_ARENA_ARRAY(r->arena, tf_msolve, r->manifest->dim_count);
  unsigned count = 0;
  for (unsigned p = 0; p < s->declared_count; p++)
    for (unsigned axis = 0; tf_mparam_is_tensor(&s->params[p]) && axis < s->params[p].rank; axis++)
      plan_axis(s, solves, &count, p, axis);
  s->solves = solves;
  s->solve_count = count;
}

static void check_vars(tf_mreader *r, const tf_mnode *node, const tf_mexpr *expr) {
  if (expr->op == TF_MOP_VAR) check_solved(r, node, expr->index);
  for (unsigned i = 0; i < expr->arg_count; i++)
    check_vars(r, node, &expr->args[i]);
}

static void check_param_vars(tf_mreader *r, const tf_mnode *node, const tf_mparam *p) {
  if (!tf_mparam_is_tensor(p)) return;
  for (unsigned axis = 0; axis < p->rank && !r->failed; axis++) {
    check_vars(r, node, &p->shape[axis]);
    if (p->strides) check_vars(r, node, &p->strides[axis]);
  }
}

void tf_mreader_signature(tf_mreader *r, const tf_mnode *node, const char *name, bool kernel, tf_msignature *out) {
  size_t n = tf_mreader_array(r, node, 0);
  tf_mparam *params = TF_ARENA_ARRAY(r->arena, tf_mparam, n);
  *out = (tf_msignature){.name = name, .params = params};
  r->signature = out;
  r->signature_done = false;
  for (size_t i = 0; i < n && !r->failed; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    read_param(r, &element, kernel, &params[i]);
    if (r->failed) return;
    check_order(r, &element, out, (unsigned)i);
    out->param_count++;
    if (params[i].kind < TF_MPARAM_HIDDEN_SHAPE) out->declared_count++;
    out->has_const = out->has_const || params[i].kind == TF_MPARAM_CONST_TENSOR;
  }
  if (r->failed) return;
  plan_solves(r, out);
  r->signature_done = true;
  for (size_t i = 0; i < n; i++) {
    tf_mnode element = tf_mnode_element(node, i);
    check_param_vars(r, &element, &params[i]);
  }
}
