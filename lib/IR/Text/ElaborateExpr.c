/* Expressions: names, literals, tuples, operators, attributes, subscripts. */
#include "IR/Text/Elaborate.h"

#include <string.h>

#include "Support/Context.h"

/* ---- Names ---- */
static tf_value path_value(tf_elab *e, const char *path) {
  tf_name name = tf_name_resolve(e->context, path);
  if (name.kind == TF_NAME_VALUE) return name.value;
  if (name.kind == TF_NAME_UNKNOWN) return TF_VALUE_OF_ERROR;
  return (tf_value){.kind = TF_VALUE_PATH, .path = path};
}

static tf_value eval_name(tf_elab *e, const tf_node *node) {
  const tf_binding *binding = tf_lookup(e, node->name, node->loc);
  if (binding) return binding->value;
  tf_value value = path_value(e, node->name);
  if (value.kind != TF_VALUE_ERROR) return value;
  tf_loc ended = tf_ended_binding(e, node->name);
  tf_report(e->context, node->loc, NAME_UNKNOWN, node->name, ended.line ? "" : tf_suggest(e, node->name));
  if (ended.line) tf_report(e->context, ended, NAME_ENDED, node->name);
  return value;
}

/* ---- Operands ---- */
static const tf_expr *int_constant(tf_elab *e, tf_int128 value, tf_loc loc) {
  if (value > INT64_MAX) return tf_expr_int(e->context, TF_DTYPE_U64, (int64_t)(uint64_t)value, loc);
  return tf_expr_int(e->context, TF_DTYPE_I64, (int64_t)value, loc);
}

static const tf_expr *tuple_operand(tf_elab *e, const tf_value *value, tf_loc loc) {
  const tf_expr **elements = TF_ARENA_ARRAY(e->scratch, const tf_expr *, value->list.count);
  for (unsigned i = 0; i < value->list.count; i++)
    if (!(elements[i] = tf_as_operand(e, &value->list.items[i], loc))) return NULL;
  return tf_expr_tuple(e->context, value->list.count, elements, loc);
}

const tf_expr *tf_as_operand(tf_elab *e, const tf_value *value, tf_loc loc) {
  tf_attr dim;
  switch (value->kind) {
  case TF_VALUE_EXPR:
    return value->expr;
  case TF_VALUE_INT:
    return int_constant(e, value->i, loc);
  case TF_VALUE_FLOAT:
    return tf_expr_float(e->context, TF_DTYPE_F32, value->f, loc);
  case TF_VALUE_BOOL:
    return tf_expr_int(e->context, TF_DTYPE_BOOL, value->b, loc);
  case TF_VALUE_DIM:
    dim.dim = value->dim;
    return tf_expr_call(e->context, TF_OP_DIM_VALUE, 0, NULL, &dim, loc);
  case TF_VALUE_MESH:
    if (value->mesh.binding) return value->mesh.binding;
    break;
  case TF_VALUE_LIST:
    return tuple_operand(e, value, loc);
  case TF_VALUE_ERROR:
    return NULL;
  default:
    break;
  }
  tf_report(e->context, loc, OPERAND_VALUE, tf_value_describe(value));
  return NULL;
}

tf_value tf_eval_static(tf_elab *e, const tf_node *node, const char *what) {
  tf_value value = tf_eval(e, node);
  if (tf_value_is_static(&value) || value.kind == TF_VALUE_ERROR) return value;
  tf_report(e->context, node->loc, STATIC_ONLY, what);
  return TF_VALUE_OF_ERROR;
}

/* ---- Operators ---- */
static tf_value eval_binary(tf_elab *e, const tf_node *node) {
  tf_value a = tf_eval(e, node->binary.left), b = tf_eval(e, node->binary.right);
  if (a.kind == TF_VALUE_ERROR || b.kind == TF_VALUE_ERROR) return TF_VALUE_OF_ERROR;
  if (node->op == TF_BINARY_OP_AT) return tf_static_place(e->context, &a, &b, node->loc);
  return tf_scalar_binary(e, node->op, &a, &b, node->loc);
}

static tf_value eval_tuple(tf_elab *e, const tf_node *node) {
  tf_value *items = TF_ARENA_ARRAY(e->scratch, tf_value, node->list.count);
  for (unsigned i = 0; i < node->list.count; i++)
    items[i] = tf_eval(e, node->list.items[i]);
  return tf_value_of_list(e->context, node->list.count, items, node->loc);
}

/* ---- Attributes ---- */
static tf_value mesh_attribute(const tf_value *mesh, const char *name) {
  unsigned axis;
  if (tf_mesh_axis_by_name(mesh->mesh.mesh, name, &axis))
    return (tf_value){.kind = TF_VALUE_MESH_AXIS, .axis = {mesh->mesh.mesh, mesh->mesh.binding, axis}};
  if (strcmp(name, "layout") == 0) return tf_value_of_layout(tf_mesh_layout(mesh->mesh.mesh));
  return TF_VALUE_OF_ERROR;
}

static tf_value atom_attribute(const tf_mma_atom *atom, const char *name) {
  if (strcmp(name, "required_scope") == 0) return tf_value_of_mesh(tf_mma_atom_required_scope(atom), NULL);
  if (strcmp(name, "op") == 0) return (tf_value){.kind = TF_VALUE_MMA_OP, .mma_op = tf_mma_atom_name(atom)};
  if (name[0] && !name[1] && strchr("ABC", name[0])) return tf_value_of_layout(tf_mma_atom_layout(atom, name[0]));
  return TF_VALUE_OF_ERROR;
}

static tf_value type_attribute(tf_elab *e, const tf_type *type, const char *name, tf_loc loc) {
  if (!tf_type_is_tensor(type)) return TF_VALUE_OF_ERROR;
  if (strcmp(name, "dtype") == 0) return (tf_value){.kind = TF_VALUE_DTYPE, .dtype = tf_type_dtype(type)};
  if (strcmp(name, "layout") == 0) return tf_value_of_layout(tf_type_layout(type));
  if (strcmp(name, "storage") == 0) {
    tf_storage storage = tf_type_storage(type);
    return storage == TF_STORAGE_NONE ? TF_VALUE_OF_NONE : (tf_value){.kind = TF_VALUE_STORAGE, .storage = storage};
  }
  if (strcmp(name, "shape") != 0) return TF_VALUE_OF_ERROR;
  tf_value *items = TF_ARENA_ARRAY(e->scratch, tf_value, tf_type_rank(type));
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    items[i] = tf_value_of_dim(tf_type_extent(type, i));
  return tf_value_of_list(e->context, tf_type_rank(type), items, loc);
}

static tf_value attribute_of(tf_elab *e, const tf_value *object, const char *name, tf_loc loc) {
  switch (object->kind) {
  case TF_VALUE_PATH:
    return path_value(e, tf_context_intern_cstr(e->context, tf_arena_printf(e->scratch, "%s.%s", object->path, name)));
  case TF_VALUE_MESH:
    return mesh_attribute(object, name);
  case TF_VALUE_ATOM:
    return atom_attribute(object->atom, name);
  case TF_VALUE_TYPE:
    return type_attribute(e, object->type.type, name, loc);
  case TF_VALUE_EXPR:
    return type_attribute(e, object->expr->type, name, loc);
  default:
    return TF_VALUE_OF_ERROR;
  }
}

/* T.name for an intrinsic of the file, as for an op. */
static tf_value intrinsic_member(tf_elab *e, const tf_value *object, const char *name) {
  bool space = object->kind == TF_VALUE_PATH && tf_name_resolve(e->context, object->path).kind == TF_NAME_SPACE;
  const tf_binding *binding = space ? tf_peek_binding(e, name) : NULL;
  return binding && binding->value.kind == TF_VALUE_INTRINSIC ? binding->value : TF_VALUE_OF_ERROR;
}

/* What the object has instead. */
static const char *attribute_text(tf_elab *e, const tf_value *object, const char *name) {
  if (object->kind == TF_VALUE_PATH) return tf_suggest(e, name);
  if (object->kind != TF_VALUE_MESH) return "";
  const tf_mesh *mesh = object->mesh.mesh;
  if (tf_mesh_axis_count(mesh) == 0 || !tf_mesh_axis_name(mesh, 0)) return ": its axes have no names";
  tf_string text;
  tf_string_init(&text, e->scratch);
  for (unsigned i = 0; i < tf_mesh_axis_count(mesh); i++)
    tf_string_printf(&text, "%s%s", i ? ", " : ": its axes are ", tf_mesh_axis_name(mesh, i));
  return text.text;
}

static tf_value eval_attribute(tf_elab *e, const tf_node *node) {
  tf_value object = tf_eval(e, node->attribute.object);
  const char *name = node->attribute.name;
  if (object.kind == TF_VALUE_ERROR) return object;
  tf_value value = attribute_of(e, &object, name, node->loc);
  if (value.kind == TF_VALUE_ERROR) value = intrinsic_member(e, &object, name);
  if (value.kind != TF_VALUE_ERROR) return value;
  const char *what = object.kind == TF_VALUE_PATH ? object.path : tf_value_describe(&object);
  tf_report(e->context, node->attribute.name_loc, NAME_ATTRIBUTE, what, name, attribute_text(e, &object, name));
  return value;
}

/* ---- Subscripts ---- */
static bool read_bound(tf_elab *e, const tf_node *node, bool *has, int64_t *out) {
  if (!node) return true;
  tf_value value = tf_eval(e, node);
  *has = true;
  if (value.kind == TF_VALUE_ERROR || tf_value_int64(&value, out)) return value.kind != TF_VALUE_ERROR;
  tf_report(e->context, node->loc, SLICE_DYNAMIC, tf_value_describe(&value));
  return false;
}

static bool read_range(tf_elab *e, const tf_node *node, tf_slice_range *out) {
  *out = (tf_slice_range){0};
  if (node->kind != TF_NODE_SLICE) {
    out->is_index = true;
    return read_bound(e, node, &out->has_lower, &out->lower);
  }
  int64_t step = 1;
  bool has_step = false;
  if (!read_bound(e, node->slice.step, &has_step, &step)) return false;
  if (step != 1) {
    tf_report(e->context, node->loc, SLICE_REFUSED, "a step other than 1 leaves gaps");
    return false;
  }
  return read_bound(e, node->slice.lower, &out->has_lower, &out->lower) &&
         read_bound(e, node->slice.upper, &out->has_upper, &out->upper);
}

static tf_value slice_mesh(tf_elab *e, const tf_mesh *mesh, const tf_node *node) {
  const tf_node *index = node->subscript.index;
  bool several = index->kind == TF_NODE_TUPLE;
  unsigned count = several ? index->list.count : 1;
  tf_slice_range *ranges = TF_ARENA_ARRAY(e->scratch, tf_slice_range, count);
  for (unsigned i = 0; i < count; i++)
    if (!read_range(e, several ? index->list.items[i] : index, &ranges[i])) return TF_VALUE_OF_ERROR;
  const char *reason;
  const tf_mesh *slice = tf_static_slice(e->context, mesh, count, ranges, &reason);
  if (slice) return tf_value_of_mesh(slice, NULL);
  tf_report(e->context, node->loc, SLICE_REFUSED, reason);
  return TF_VALUE_OF_ERROR;
}

static tf_value list_element(tf_elab *e, const tf_value *list, const tf_node *node) {
  tf_value index = tf_eval_static(e, node->subscript.index, "the index of a tuple");
  int64_t at;
  if (index.kind == TF_VALUE_ERROR) return index;
  if (tf_value_int64(&index, &at)) {
    if (at < 0) at += list->list.count;
    if (at >= 0 && at < (int64_t)list->list.count) return list->list.items[at];
  }
  tf_report(e->context, node->subscript.index->loc, TUPLE_INDEX, list->list.count);
  return TF_VALUE_OF_ERROR;
}

static tf_value eval_subscript(tf_elab *e, const tf_node *node) {
  tf_value object = tf_eval(e, node->subscript.object);
  if (object.kind == TF_VALUE_ERROR) return object;
  if (object.kind == TF_VALUE_MESH) return slice_mesh(e, object.mesh.mesh, node);
  if (object.kind == TF_VALUE_LIST) return list_element(e, &object, node);
  if (object.kind == TF_VALUE_PATH) {
    tf_name name = tf_name_resolve(e->context, object.path);
    bool is_const = name.index == TF_SPECIAL_CONST_TENSOR;
    if (name.kind == TF_NAME_SPECIAL && (is_const || name.index == TF_SPECIAL_TENSOR))
      return tf_eval_tensor(e, node, is_const);
  }
  const char *instead = "";
  if (object.kind == TF_VALUE_EXPR) instead = "; T.load reads an element, T.tensor_view names a window";
  if (object.kind == TF_VALUE_FUNCTION) instead = "; launch(kernel, …, grid=, block=) names a launch's extents";
  tf_report(e->context, node->loc, SUBSCRIPT, tf_value_describe(&object), instead);
  return TF_VALUE_OF_ERROR;
}

/* ---- All of them ---- */
tf_value tf_eval(tf_elab *e, const tf_node *node) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_NAME:
    return eval_name(e, node);
  case TF_NODE_INT:
    return tf_value_of_int((tf_int128)node->integer);
  case TF_NODE_FLOAT:
    return tf_value_of_float(node->number);
  case TF_NODE_STRING:
    return tf_value_of_string(node->string);
  case TF_NODE_TRUE:
  case TF_NODE_FALSE:
    return tf_value_of_bool(node->kind == TF_NODE_TRUE);
  case TF_NODE_NONE:
    return TF_VALUE_OF_NONE;
  case TF_NODE_TUPLE:
    return eval_tuple(e, node);
  case TF_NODE_UNARY:
    return tf_eval_unary(e, node);
  case TF_NODE_BINARY:
    return eval_binary(e, node);
  case TF_NODE_AND:
  case TF_NODE_OR:
    return tf_eval_logic(e, node);
  case TF_NODE_COMPARE:
    return tf_eval_compare(e, node);
  case TF_NODE_IF_EXP:
    return tf_eval_if_exp(e, node);
  case TF_NODE_CALL:
    return tf_eval_call(e, node, NULL);
  case TF_NODE_ATTRIBUTE:
    return eval_attribute(e, node);
  case TF_NODE_SUBSCRIPT:
    return eval_subscript(e, node);
  case TF_NODE_SLICE:
  case TF_NODE_ELLIPSIS:
    tf_report(e->context, node->loc, EXPR_MISPLACED, node->kind == TF_NODE_SLICE ? "a slice" : "'...'");
    return TF_VALUE_OF_ERROR;
  default:
    return TF_VALUE_OF_ERROR; /* reported by the parser */
  }
}
