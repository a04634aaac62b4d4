/* The manifest's entries: CPU functions as data that a runtime interprets.
 *
 *   launch(k, x, grid=(ceildiv(S, 128),), block=(128,))      {"stmt": "launch", "kernel": "k", "grid": […], …}
 *   k(x)             k is a CUDA function                    the same with k's own geometry, in the caller's dims
 *   f(x)             f is a CPU function                     {"stmt": "call", "entry": "f", …}
 *   match T.dispatch(…)                                      {"stmt": "dispatch", …}
 *
 * A body with loops, branches, allocations, copies, loads, or windows that may leave their tensor on an inner axis is written as
 * null: only compiled code can run it. */
#include "IR/DimImpl.h"
#include "LowerToLLVM/ManifestImpl.h"
#include "Verify/Scopes.h"

#define BODY_BUDGET 20000

static json_t *write_statement(tf_manifest_writer *writer, const tf_stmt *stmt);

static json_t *new_statement(tf_manifest_writer *writer, const char *kind) {
  json_t *node = json_object();
  tf_manifest_put(writer, node, "stmt", json_string(kind));
  return node;
}

static json_t *write_arguments(tf_manifest_writer *writer, const tf_stmt *callee, unsigned count,
                               const tf_expr *const *arguments) {
  json_t *node = json_array();
  for (unsigned i = 0; i < count && i < callee->function.param_count; i++)
    tf_manifest_push(writer, node, tf_manifest_argument(writer, arguments[i], callee->function.params[i]));
  return node;
}

/* ---- Launches ---- */

typedef struct launch {
  const tf_stmt *kernel;
  json_t *grid, *block, *cluster, *dynamic_smem;
  bool cooperative, serialization;
  unsigned arg_count;
  const tf_expr *const *args;
  tf_loc loc;
} launch;

static json_t *write_launch(tf_manifest_writer *writer, const launch *it) {
  json_t *node = new_statement(writer, "launch");
  tf_manifest_put(writer, node, "kernel", json_string(it->kernel->function.name));
  tf_manifest_put(writer, node, "grid", it->grid);
  tf_manifest_put(writer, node, "block", it->block);
  tf_manifest_put(writer, node, "cluster", it->cluster);
  tf_manifest_put(writer, node, "dynamic_smem", it->dynamic_smem);
  tf_manifest_put(writer, node, "cooperative", json_boolean(it->cooperative));
  tf_manifest_put(writer, node, "programmatic_stream_serialization", json_boolean(it->serialization));
  tf_manifest_put(writer, node, "args", write_arguments(writer, it->kernel, it->arg_count, it->args));
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, it->loc));
  return node;
}

static json_t *write_extents(tf_manifest_writer *writer, const tf_expr *const *extents) {
  json_t *node = json_array();
  for (int i = 0; i < 3; i++)
    tf_manifest_push(writer, node, tf_manifest_scalar(writer, extents[i]));
  return node;
}

static json_t *write_static_tuple(tf_manifest_writer *writer, const tf_tuple *tuple) {
  json_t *node = json_array();
  for (unsigned i = 0; i < 3; i++) {
    const tf_dim *dim = i < tf_tuple_count(tuple) ? tf_tuple_dim(tf_tuple_element(tuple, i)) : NULL;
    tf_manifest_push(writer, node, dim ? tf_manifest_dim(writer, dim) : json_integer(1));
  }
  return node;
}

static void apply_launch_attrs(tf_manifest_writer *writer, launch *it, const tf_launch_attrs *attrs) {
  for (size_t i = 0; attrs && i < attrs->count; i++) {
    const tf_launch_attr *attr = &attrs->entries[i];
    switch (attr->kind) {
    case TF_LAUNCH_ATTR_COOPERATIVE:
      it->cooperative = attr->values[0] != 0;
      break;
    case TF_LAUNCH_ATTR_PROGRAMMATIC_STREAM_SERIALIZATION:
      it->serialization = attr->values[0] != 0;
      break;
    case TF_LAUNCH_ATTR_CLUSTER_DIMENSION:
      json_decref(it->cluster);
      it->cluster = json_array();
      for (int axis = 0; axis < 3; axis++)
        tf_manifest_push(writer, it->cluster, json_integer(attr->values[axis]));
      break;
    case TF_LAUNCH_ATTR_COUNT:
      break;
    }
  }
}

static json_t *write_authored_launch(tf_manifest_writer *writer, const tf_stmt *stmt) {
  const tf_expr *const *args = stmt->evaluate.args;
  const tf_attr *attrs = stmt->evaluate.attrs;
  const tf_stmt *kernel = tf_module_find(writer->facts->module, args[TF_ARG_LAUNCH_callee]->symbol.name);
  const tf_tuple *cluster = attrs[TF_ATTRIBUTE_LAUNCH_cluster].tuple;
  const tf_dim *dynamic = attrs[TF_ATTRIBUTE_LAUNCH_dynamic_smem].dim;
  /* A stream handle is a value of one process: it cannot stand in a file. */
  if (!kernel || attrs[TF_ATTRIBUTE_LAUNCH_stream].i) return tf_manifest_inexpressible(writer);
  launch it = {.kernel = kernel,
               .grid = write_extents(writer, &args[TF_ARG_LAUNCH_grid_x]),
               .block = write_extents(writer, &args[TF_ARG_LAUNCH_block_x]),
               .cluster = cluster ? write_static_tuple(writer, cluster) : json_null(),
               .dynamic_smem = dynamic ? tf_manifest_dim(writer, dynamic) : json_integer(0),
               .arg_count = stmt->evaluate.arg_count - TF_ARG_LAUNCH_args,
               .args = &args[TF_ARG_LAUNCH_args],
               .loc = stmt->loc};
  apply_launch_attrs(writer, &it, attrs[TF_ATTRIBUTE_LAUNCH_attrs].launch_attrs);
  return write_launch(writer, &it);
}

/* ---- Launches with the kernel's own geometry ---- */

typedef struct binding {
  tf_context *context;
  const tf_stmt *callee;
  const tf_expr *const *args;
} binding;

/* The coefficient c of an axis c*V, or 0 if the axis is something else. */
static int64_t coefficient_of(const tf_dim *axis, const char *name) {
  if (axis->constant || axis->term_count != 1 || axis->terms[0].monomial->degree != 1) return 0;
  const tf_atom *atom = axis->terms[0].monomial->atoms[0];
  return atom->kind == TF_ATOM_VAR && atom->name == name ? axis->terms[0].coefficient : 0;
}

/* A callee's DimVar in the caller's dims: the argument's extent at the first axis c*V, over c. */
static const tf_dim *bound_value(void *user, const char *name) {
  const binding *it = user;
  for (unsigned i = 0; i < it->callee->function.param_count; i++) {
    const tf_type *type = it->callee->function.params[i]->type;
    for (unsigned axis = 0; axis < tf_type_rank(type); axis++) {
      int64_t c = coefficient_of(tf_type_extent(type, axis), name);
      if (c <= 0) continue;
      const tf_dim *extent = tf_type_extent(it->args[i]->type, axis);
      return tf_dim_binary(it->context, TF_DIM_FLOOR_DIV, extent, tf_dim_int(it->context, c));
    }
  }
  return NULL;
}

/* The number of instances of a level, in the terms of the arguments. */
static json_t *write_geometry(tf_manifest_writer *writer, binding *it, const tf_dim *size) {
  const tf_dim *dim = tf_dim_substitute(writer->context, size, bound_value, it);
  return dim ? tf_manifest_extent3(writer, dim) : tf_manifest_inexpressible(writer);
}

static json_t *write_derived_launch(tf_manifest_writer *writer, const tf_stmt *kernel, unsigned arg_count,
                                    const tf_expr *const *args, tf_loc loc) {
  tf_geometry geometry = tf_geometry_of(writer->facts->module, kernel);
  binding bound = {writer->context, kernel, args};
  launch it = {.kernel = kernel,
               .grid = write_geometry(writer, &bound, geometry.grid),
               .block = write_geometry(writer, &bound, tf_dim_int(writer->context, geometry.block)),
               .cluster = json_null(),
               .dynamic_smem = json_integer(0),
               .arg_count = arg_count,
               .args = args,
               .loc = loc};
  return write_launch(writer, &it);
}

/* ---- Other statements ---- */

static json_t *write_entry_call(tf_manifest_writer *writer, const tf_stmt *callee, const tf_stmt *stmt) {
  json_t *node = new_statement(writer, "call");
  tf_manifest_put(writer, node, "entry", json_string(callee->function.name));
  tf_manifest_put(writer, node, "args", write_arguments(writer, callee, stmt->evaluate.arg_count, stmt->evaluate.args));
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, stmt->loc));
  return node;
}

static json_t *write_evaluate(tf_manifest_writer *writer, const tf_stmt *stmt) {
  const tf_expr *symbol = stmt->evaluate.callee;
  if (!symbol)
    return stmt->evaluate.op == TF_OP_LAUNCH ? write_authored_launch(writer, stmt) : tf_manifest_inexpressible(writer);
  const tf_stmt *callee = tf_module_find(writer->facts->module, symbol->symbol.name);
  if (!callee) return tf_manifest_inexpressible(writer);
  if (tf_function_is_host(callee)) return write_entry_call(writer, callee, stmt);
  return write_derived_launch(writer, callee, stmt->evaluate.arg_count, stmt->evaluate.args, stmt->loc);
}

static json_t *write_abort(tf_manifest_writer *writer, const tf_stmt *stmt) {
  json_t *node = new_statement(writer, "abort");
  tf_manifest_put(writer, node, "message", json_string(stmt->abort.message ? stmt->abort.message : ""));
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, stmt->loc));
  return node;
}

static json_t *write_cases(tf_manifest_writer *writer, const tf_stmt *stmt) {
  json_t *node = json_array();
  for (unsigned i = 0; i < stmt->dispatch.case_count; i++) {
    json_t *item = json_object();
    tf_manifest_put(writer, item, "lo", json_integer(stmt->dispatch.patterns[i].lo));
    tf_manifest_put(writer, item, "hi", json_integer(stmt->dispatch.patterns[i].hi));
    tf_manifest_put(writer, item, "body", write_statement(writer, stmt->dispatch.calls[i]));
    tf_manifest_push(writer, node, item);
  }
  return node;
}

static json_t *write_dispatch(tf_manifest_writer *writer, const tf_stmt *stmt) {
  const char *dim = stmt->dispatch.case_count ? stmt->dispatch.patterns[0].name : stmt->dispatch.callee_name;
  json_t *node = new_statement(writer, "dispatch");
  tf_manifest_put(writer, node, "dim", json_string(dim));
  tf_manifest_put(writer, node, "subject", tf_manifest_scalar(writer, stmt->dispatch.subjects[0]));
  tf_manifest_put(writer, node, "cases", write_cases(writer, stmt));
  tf_manifest_put(writer, node, "fallback", write_statement(writer, stmt->dispatch.fallback));
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, stmt->loc));
  return node;
}

/* Lets vanish into their uses, if what they do can be said: a load that nobody uses may still fail. */
static void skip_let(tf_manifest_writer *writer, const tf_expr *value) {
  if (value->kind != TF_EXPR_CALL) return;
  if (value->call.op == TF_OP_ALLOC_TENSOR) writer->inexpressible = true;
  if (tf_type_is_scalar(value->type)) json_decref(tf_manifest_scalar(writer, value));
}

/* Appends the statement to a list. False: nothing after it is reached. */
static bool append_statement(tf_manifest_writer *writer, json_t *list, const tf_stmt *stmt) {
  switch (stmt->kind) {
  case TF_STMT_SEQUENTIAL:
    for (unsigned i = 0; i < stmt->sequential.count; i++)
      if (!append_statement(writer, list, stmt->sequential.items[i])) return false;
    return true;
  case TF_STMT_LET:
    skip_let(writer, stmt->let.value);
    return append_statement(writer, list, stmt->let.body);
  case TF_STMT_RETURN:
    return false;
  case TF_STMT_ABORT:
    tf_manifest_push(writer, list, write_abort(writer, stmt));
    return false;
  case TF_STMT_EVALUATE:
    tf_manifest_push(writer, list, write_evaluate(writer, stmt));
    return true;
  case TF_STMT_DISPATCH_CALL:
    tf_manifest_push(writer, list, write_dispatch(writer, stmt));
    return true;
  default:
    writer->inexpressible = true;
    return true;
  }
}

/* One statement alone where there is only one, else a sequence. */
static json_t *write_statement(tf_manifest_writer *writer, const tf_stmt *stmt) {
  json_t *list = json_array();
  append_statement(writer, list, stmt);
  if (json_array_size(list) == 1) {
    json_t *only = json_incref(json_array_get(list, 0));
    json_decref(list);
    return only;
  }
  json_t *node = new_statement(writer, "sequence");
  tf_manifest_put(writer, node, "body", list);
  return node;
}

static json_t *write_body(tf_manifest_writer *writer, const tf_stmt *function) {
  writer->inexpressible = false;
  writer->budget = BODY_BUDGET;
  json_t *body = write_statement(writer, function->function.body);
  if (!writer->inexpressible) return body;
  json_decref(body);
  return json_null();
}

/* ---- Entries ---- */

static json_t *write_entry(tf_manifest_writer *writer, const tf_stmt *function, json_t *body) {
  json_t *node = json_object(), *params = json_array();
  for (unsigned i = 0; i < function->function.param_count; i++)
    tf_manifest_push(writer, params, tf_manifest_param(writer, function->function.params[i]));
  tf_manifest_put(writer, node, "name", json_string(function->function.name));
  tf_manifest_put(writer, node, "parameters", params);
  tf_manifest_put(writer, node, "output_count", json_integer(function->function.output_count));
  tf_manifest_put(writer, node, "body", body);
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, function->loc));
  return node;
}

json_t *tf_manifest_entry(tf_manifest_writer *writer, const tf_stmt *function) {
  return write_entry(writer, function, write_body(writer, function));
}

json_t *tf_manifest_derived_entry(tf_manifest_writer *writer, const tf_kernel_facts *kernel) {
  const tf_stmt *function = kernel->function;
  json_t *body =
      write_derived_launch(writer, function, function->function.param_count, function->function.params, function->loc);
  return write_entry(writer, function, body);
}
