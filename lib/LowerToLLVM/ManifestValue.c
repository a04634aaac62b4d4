/* JSON values of the manifest that kernels and entries share: places, dims, parameters.
 *
 * A dim is written from its normal form, so  3*S + S//4 + 1  becomes
 *   {"op": "add", "args": [{"op": "mul", "args": [3, {"var": "S"}]}, {"op": "floor_div", "args": [{"var": "S"}, 4]},
 * 1]} and a plain axis V or c*V has exactly the shape that the reader solves DimVars at. */
#include "IR/DimImpl.h"
#include "LowerToLLVM/ManifestImpl.h"

/* Kernel arguments are aligned for the widest access by contract. */
#define GMEM_ALIGNMENT 16

void tf_manifest_put(tf_manifest_writer *writer, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value)) writer->failed = true;
}

void tf_manifest_push(tf_manifest_writer *writer, json_t *array, json_t *value) {
  if (json_array_append_new(array, value)) writer->failed = true;
}

json_t *tf_manifest_op(tf_manifest_writer *writer, const char *op, json_t *a, json_t *b) {
  json_t *node = json_object(), *args = json_array();
  tf_manifest_push(writer, args, a);
  tf_manifest_push(writer, args, b);
  tf_manifest_put(writer, node, "op", json_string(op));
  tf_manifest_put(writer, node, "args", args);
  return node;
}

json_t *tf_manifest_loc(tf_manifest_writer *writer, tf_loc loc) {
  if (!loc.line) return json_null();
  json_t *node = json_object();
  tf_manifest_put(writer, node, "file", json_string(tf_context_source_name(writer->context, loc.file)));
  tf_manifest_put(writer, node, "line", json_integer(loc.line));
  tf_manifest_put(writer, node, "column", json_integer(loc.column ? loc.column : 1));
  return node;
}

/* ---- Dims ---- */

static void remember_dim_var(void *user, const char *name, int64_t lo, int64_t hi) {
  tf_manifest_writer *writer = user;
  if (json_object_get(writer->dims, name)) return;
  json_t *node = json_object();
  tf_manifest_put(writer, node, "name", json_string(name));
  tf_manifest_put(writer, node, "lo", json_integer(lo));
  tf_manifest_put(writer, node, "hi", json_integer(hi));
  tf_manifest_put(writer, writer->dims, name, node);
}

static json_t *write_dim(tf_manifest_writer *writer, const tf_dim *dim);

static const char *atom_op_name(tf_atom_kind kind) {
  switch (kind) {
  case TF_ATOM_FLOOR_DIV:
    return "floor_div";
  case TF_ATOM_MOD:
    return "mod";
  case TF_ATOM_MIN:
    return "min";
  case TF_ATOM_MAX:
    return "max";
  case TF_ATOM_VAR:
    break;
  }
  return "var";
}

static json_t *write_atom(tf_manifest_writer *writer, const tf_atom *atom) {
  json_t *node = json_object();
  if (atom->kind == TF_ATOM_VAR) {
    tf_manifest_put(writer, node, "var", json_string(atom->name));
    return node;
  }
  json_t *args = json_array();
  for (unsigned i = 0; i < atom->count; i++)
    tf_manifest_push(writer, args, write_dim(writer, atom->operands[i]));
  tf_manifest_put(writer, node, "op", json_string(atom_op_name((tf_atom_kind)atom->kind)));
  tf_manifest_put(writer, node, "args", args);
  return node;
}

static json_t *write_term(tf_manifest_writer *writer, const tf_term *term) {
  const tf_monomial *monomial = term->monomial;
  if (term->coefficient == 1 && monomial->degree == 1) return write_atom(writer, monomial->atoms[0]);
  json_t *node = json_object(), *args = json_array();
  if (term->coefficient != 1) tf_manifest_push(writer, args, json_integer(term->coefficient));
  for (unsigned i = 0; i < monomial->degree; i++)
    tf_manifest_push(writer, args, write_atom(writer, monomial->atoms[i]));
  tf_manifest_put(writer, node, "op", json_string("mul"));
  tf_manifest_put(writer, node, "args", args);
  return node;
}

static json_t *write_dim(tf_manifest_writer *writer, const tf_dim *dim) {
  if (dim->term_count == 0) return json_integer(dim->constant);
  if (dim->term_count == 1 && dim->constant == 0) return write_term(writer, &dim->terms[0]);
  json_t *node = json_object(), *args = json_array();
  for (unsigned i = 0; i < dim->term_count; i++)
    tf_manifest_push(writer, args, write_term(writer, &dim->terms[i]));
  if (dim->constant) tf_manifest_push(writer, args, json_integer(dim->constant));
  tf_manifest_put(writer, node, "op", json_string("add"));
  tf_manifest_put(writer, node, "args", args);
  return node;
}

json_t *tf_manifest_dim(tf_manifest_writer *writer, const tf_dim *dim) {
  tf_dim_visit_vars(dim, remember_dim_var, writer);
  return write_dim(writer, dim);
}

json_t *tf_manifest_extent3(tf_manifest_writer *writer, const tf_dim *dim) {
  json_t *node = json_array();
  tf_manifest_push(writer, node, tf_manifest_dim(writer, dim));
  tf_manifest_push(writer, node, json_integer(1));
  tf_manifest_push(writer, node, json_integer(1));
  return node;
}

/* ---- Parameters ---- */

/* Element strides where the type says so; a ShardLayout distributes a C-order tensor. */
static json_t *write_strides(tf_manifest_writer *writer, const tf_type *type) {
  const tf_layout *layout = tf_type_layout(type);
  if (!layout || tf_layout_get_kind(layout) != TF_LAYOUT_PLAIN) return json_null();
  const tf_tuple *strides = tf_layout_strides(layout);
  if (!strides || tf_tuple_leaf_count(strides) != tf_type_rank(type)) return json_null();
  const tf_dim *leaves[TF_MAX_FACTORS];
  tf_tuple_leaves(strides, leaves);
  json_t *node = json_array();
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    tf_manifest_push(writer, node, tf_manifest_dim(writer, leaves[i]));
  return node;
}

static int64_t param_alignment(const tf_type *type) {
  if (tf_type_storage(type) != TF_STORAGE_HOST) return GMEM_ALIGNMENT;
  unsigned bits = tf_dtype_bits(tf_type_dtype(type));
  return bits < 8 ? 1 : (int64_t)(bits / 8);
}

json_t *tf_manifest_param(tf_manifest_writer *writer, const tf_expr *param) {
  const tf_type *type = param->type;
  bool scalar = tf_type_is_scalar(type);
  json_t *node = json_object();
  tf_manifest_put(writer, node, "name", json_string(param->var.name));
  tf_manifest_put(writer, node, "kind",
                  json_string(scalar                ? "scalar"
                              : param->var.is_const ? "const_tensor"
                                                    : "tensor"));
  tf_manifest_put(writer, node, "dtype", json_string(tf_dtype_name(tf_type_dtype(type))));
  if (scalar) return node;
  json_t *shape = json_array();
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    tf_manifest_push(writer, shape, tf_manifest_dim(writer, tf_type_extent(type, i)));
  bool host = tf_type_storage(type) == TF_STORAGE_HOST;
  tf_manifest_put(writer, node, "shape", shape);
  tf_manifest_put(writer, node, "strides", write_strides(writer, type));
  tf_manifest_put(writer, node, "storage", json_string(host ? "host" : "gmem"));
  tf_manifest_put(writer, node, "alignment", json_integer(param_alignment(type)));
  return node;
}
