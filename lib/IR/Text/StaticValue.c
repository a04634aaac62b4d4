/* Making, describing, printing and comparing compile-time values. */
#include "IR/Text/Static.h"

#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

#include "IR/KindTables.h"
#include "IR/LayoutImpl.h"
#include "Support/Context.h"

tf_value tf_value_of_int(tf_int128 i) {
  return (tf_value){.kind = TF_VALUE_INT, .i = i};
}

tf_value tf_value_of_bool(bool b) {
  return (tf_value){.kind = TF_VALUE_BOOL, .b = b};
}

/* One NaN, without a sign: text knows no other. */
tf_value tf_value_of_float(double f) {
  return (tf_value){.kind = TF_VALUE_FLOAT, .f = isnan(f) ? NAN : f};
}

tf_value tf_value_of_string(const char *interned) {
  return (tf_value){.kind = TF_VALUE_STRING, .string = interned};
}

tf_value tf_value_of_dim(const tf_dim *dim) {
  int64_t value;
  if (tf_dim_is_static(dim, &value)) return tf_value_of_int(value);
  return (tf_value){.kind = TF_VALUE_DIM, .dim = dim};
}

tf_value tf_value_of_expr(const tf_expr *expr) {
  return expr ? (tf_value){.kind = TF_VALUE_EXPR, .expr = expr} : TF_VALUE_OF_ERROR;
}

tf_value tf_value_of_layout(const tf_layout *layout) {
  return layout ? (tf_value){.kind = TF_VALUE_LAYOUT, .layout = layout} : TF_VALUE_OF_NONE;
}

tf_value tf_value_of_mesh(const tf_mesh *mesh, const tf_expr *binding) {
  return (tf_value){.kind = TF_VALUE_MESH, .mesh = {mesh, binding}};
}

tf_value tf_value_of_list(tf_context *context, unsigned count, const tf_value *items, tf_loc loc) {
  tf_value list = {.kind = TF_VALUE_LIST, .list = {.count = count, .depth = 1, .is_static = true}};
  size_t size = 1;
  for (unsigned i = 0; i < count; i++) {
    bool nested = items[i].kind == TF_VALUE_LIST;
    if (items[i].kind == TF_VALUE_ERROR) return TF_VALUE_OF_ERROR;
    size += nested ? items[i].list.size : 1;
    if (nested && items[i].list.depth >= list.list.depth) list.list.depth = (uint8_t)(items[i].list.depth + 1);
    list.list.is_static &= tf_value_is_static(&items[i]);
  }
  if (list.list.depth > TF_MAX_LIST_DEPTH || size > TF_MAX_LIST_SIZE) {
    tf_report(context, loc, STATIC_LIST, TF_MAX_LIST_SIZE, TF_MAX_LIST_DEPTH);
    return TF_VALUE_OF_ERROR;
  }
  list.list.size = (unsigned)size;
  list.list.items = tf_arena_copy(&context->arena, items, count * sizeof *items);
  return list;
}

tf_value tf_value_of_tuple(tf_context *context, const tf_tuple *tuple) {
  if (!tuple) return TF_VALUE_OF_NONE;
  if (tf_tuple_is_leaf(tuple)) return tf_value_of_dim(tf_tuple_dim(tuple));
  unsigned count = tf_tuple_count(tuple);
  tf_value *items = TF_ARENA_ARRAY(&context->arena, tf_value, count);
  for (unsigned i = 0; i < count; i++)
    items[i] = tf_value_of_tuple(context, tf_tuple_element(tuple, i));
  return tf_value_of_list(context, count, items, TF_NO_LOC);
}

bool tf_value_is_static(const tf_value *value) {
  if (value->kind == TF_VALUE_LIST) return value->list.is_static;
  return value->kind != TF_VALUE_EXPR && value->kind != TF_VALUE_ERROR;
}

const char *tf_value_describe(const tf_value *value) {
  static const char *const words[] = {
      [TF_VALUE_NONE] = "None",
      [TF_VALUE_BOOL] = "a bool",
      [TF_VALUE_INT] = "an integer",
      [TF_VALUE_FLOAT] = "a float",
      [TF_VALUE_STRING] = "a string",
      [TF_VALUE_DIM] = "a dim",
      [TF_VALUE_LIST] = "a tuple",
      [TF_VALUE_DTYPE] = "a dtype",
      [TF_VALUE_STORAGE] = "a storage",
      [TF_VALUE_LEVEL] = "a level",
      [TF_VALUE_TOPOLOGY] = "a Topology",
      [TF_VALUE_LAYOUT] = "a layout",
      [TF_VALUE_MESH] = "a mesh",
      [TF_VALUE_SHARD_ATTR] = "a shard attribute",
      [TF_VALUE_TYPE] = "a type",
      [TF_VALUE_ATOM] = "an MMA atom",
      [TF_VALUE_TARGET] = "a target",
      [TF_VALUE_BINARY_KIND] = "a BinaryKind",
      [TF_VALUE_UNARY_KIND] = "a UnaryKind",
      [TF_VALUE_REDUCE_KIND] = "a ReduceKind",
      [TF_VALUE_LAUNCH_ATTR_KIND] = "a CudaLaunchAttr",
      [TF_VALUE_LAUNCH_ATTRS] = "launch attributes",
      [TF_VALUE_MMA_OP] = "an MMA instruction",
      [TF_VALUE_MESH_AXIS] = "a mesh axis (T.coord gives the coordinate on it)",
      [TF_VALUE_PLACED] = "an extent dealt over a mesh",
      [TF_VALUE_EXPR] = "a run-time value",
      [TF_VALUE_PATH] = "a name of the language",
      [TF_VALUE_FUNCTION] = "a function",
      [TF_VALUE_INTRINSIC] = "an intrinsic",
      [TF_VALUE_ERROR] = "a fault",
  };
  return words[value->kind];
}

/* ---- Printing ---- */
void tf_int128_append(tf_string *out, tf_int128 value) {
  if (value < 0)
    tf_string_printf(out, "%lld", (long long)value);
  else
    tf_string_printf(out, "%llu", (unsigned long long)value);
}

/* As Python's repr: the shortest digits that give the double back, an exponent only for very small and very large ones. */
void tf_float_append(tf_string *out, double value) {
  if (isnan(value) || isinf(value)) {
    tf_string_puts(out, isnan(value) ? "float(\"nan\")" : value > 0 ? "float(\"inf\")" : "float(\"-inf\")");
    return;
  }
  char text[40];
  int digits = 0;
  do
    snprintf(text, sizeof text, "%.*e", digits, value);
  while (strtod(text, NULL) != value && ++digits < 17);
  int exponent = atoi(strchr(text, 'e') + 1);
  if (exponent < -4 || exponent > 15)
    tf_string_puts(out, text);
  else
    tf_string_printf(out, "%.*f", digits - exponent > 1 ? digits - exponent : 1, value);
}

static void append_list(tf_context *context, tf_string *out, const tf_value *value) {
  tf_string_puts(out, "(");
  for (unsigned i = 0; i < value->list.count; i++) {
    if (i) tf_string_puts(out, ", ");
    tf_value_append(context, out, &value->list.items[i]);
  }
  tf_string_puts(out, value->list.count == 1 ? ",)" : ")");
}

static void append_atom(tf_string *out, const tf_mma_atom *atom) {
  int64_t mnk[3], warps[2];
  if (!tf_mma_atom_is_tile(atom, warps)) {
    tf_string_printf(out, "T.cuda.mma.atom(op=T.cuda.mma.%s)", tf_mma_atom_name(atom));
    return;
  }
  tf_mma_atom_shape(atom, mnk);
  tf_string_puts(out, "T.cuda.mma.tile(");
  append_atom(out, tf_mma_atom_base(atom));
  tf_string_printf(out, ", (%lld, %lld, %lld), (%lld, %lld))", (long long)mnk[0], (long long)mnk[1], (long long)mnk[2],
                   (long long)warps[0], (long long)warps[1]);
}

static void append_target(tf_string *out, const tf_target *target) {
  if (tf_target_is_cpu(target))
    tf_string_puts(out, "CpuTarget()");
  else
    tf_string_printf(out, "CudaTarget(\"%s\")", tf_target_name(target));
}

static void append_launch_attrs(tf_string *out, const tf_launch_attrs *attrs) {
  tf_string_puts(out, "LaunchAttrs((");
  for (size_t i = 0; i < attrs->count; i++) {
    const tf_launch_attr *entry = &attrs->entries[i];
    tf_string_printf(out, "%s(CudaLaunchAttr.%s, ", i ? ", " : "", tf_launch_attr_name(entry->kind));
    if (entry->kind == TF_LAUNCH_ATTR_CLUSTER_DIMENSION)
      tf_string_printf(out, "(%lld, %lld, %lld))", (long long)entry->values[0], (long long)entry->values[1],
                       (long long)entry->values[2]);
    else
      tf_string_printf(out, "%lld)", (long long)entry->values[0]);
  }
  tf_string_puts(out, attrs->count == 1 ? ",))" : "))");
}

static void append_upper(tf_string *out, const char *prefix, const char *name) {
  tf_string_puts(out, prefix);
  for (; *name; name++) {
    char c = *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
    tf_string_append(out, &c, 1);
  }
}

/* Values that only the language itself has. */
static void append_object(tf_context *context, tf_string *out, const tf_value *value) {
  switch (value->kind) {
  case TF_VALUE_SHARD_ATTR:
    tf_layout_append_attr(out, value->shard_attr);
    break;
  case TF_VALUE_TYPE:
    tf_string_puts(out, tf_type_print(context, value->type.type));
    break;
  case TF_VALUE_ATOM:
    append_atom(out, value->atom);
    break;
  case TF_VALUE_TARGET:
    append_target(out, value->target);
    break;
  case TF_VALUE_BINARY_KIND:
    append_upper(out, "BinaryKind.", tf_binary_name((tf_binary_kind)value->enumerator));
    break;
  case TF_VALUE_UNARY_KIND:
    append_upper(out, "UnaryKind.", tf_unary_name((tf_unary_kind)value->enumerator));
    break;
  case TF_VALUE_REDUCE_KIND:
    append_upper(out, "ReduceKind.", tf_reduce_name((tf_reduce_kind)value->enumerator));
    break;
  case TF_VALUE_LAUNCH_ATTR_KIND:
    tf_string_printf(out, "CudaLaunchAttr.%s", tf_launch_attr_name((tf_launch_attr_kind)value->enumerator));
    break;
  case TF_VALUE_LAUNCH_ATTRS:
    append_launch_attrs(out, value->launch_attrs);
    break;
  case TF_VALUE_MMA_OP:
    tf_string_printf(out, "T.cuda.mma.%s", value->mma_op);
    break;
  case TF_VALUE_PATH:
    tf_string_puts(out, value->path);
    break;
  default:
    tf_string_puts(out, tf_value_describe(value));
    break;
  }
}

void tf_value_append(tf_context *context, tf_string *out, const tf_value *value) {
  switch (value->kind) {
  case TF_VALUE_BOOL:
    tf_string_puts(out, value->b ? "True" : "False");
    break;
  case TF_VALUE_INT:
    tf_int128_append(out, value->i);
    break;
  case TF_VALUE_FLOAT:
    tf_float_append(out, value->f);
    break;
  case TF_VALUE_STRING:
    tf_string_quote(out, value->string);
    break;
  case TF_VALUE_DIM:
    tf_string_puts(out, tf_dim_print(context, value->dim));
    break;
  case TF_VALUE_LIST:
    append_list(context, out, value);
    break;
  case TF_VALUE_DTYPE:
    tf_string_printf(out, "DType.%s", tf_dtype_name(value->dtype));
    break;
  case TF_VALUE_STORAGE:
    tf_string_printf(out, "StorageKind.%s", tf_storage_enumerator(value->storage));
    break;
  case TF_VALUE_TOPOLOGY:
    tf_string_printf(out, "Topology(\"%s\", %s)", tf_level_name(value->topology.level),
                     tf_dim_print(context, value->topology.size));
    break;
  case TF_VALUE_LAYOUT:
    tf_string_puts(out, tf_layout_print(context, value->layout));
    break;
  case TF_VALUE_MESH:
    tf_string_puts(out, tf_mesh_print(context, value->mesh.mesh));
    break;
  default:
    append_object(context, out, value);
    break;
  }
}

const char *tf_value_print(tf_context *context, const tf_value *value) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_value_append(context, &out, value);
  return out.text;
}

/* ---- Conversions ---- */
bool tf_value_int64(const tf_value *value, int64_t *out) {
  if (value->kind != TF_VALUE_INT || value->i > INT64_MAX) return false;
  *out = (int64_t)value->i;
  return true;
}

const tf_dim *tf_value_dim(tf_context *context, const tf_value *value) {
  int64_t i;
  if (value->kind == TF_VALUE_DIM) return value->dim;
  return tf_value_int64(value, &i) ? tf_dim_int(context, i) : NULL;
}
