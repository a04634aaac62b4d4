/* Tuples, layouts, meshes and types as Python text; the parser's static evaluator reads every one of them back. */
#include "IR/KindTables.h"
#include "IR/LayoutImpl.h"

void tf_string_quote(tf_string *out, const char *text) {
  tf_string_puts(out, "\"");
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      tf_string_printf(out, "\\%c", c);
    } else if (c < 0x20 || c == 0x7F) {
      tf_string_printf(out, "\\x%02x", c);
    } else {
      tf_string_append(out, text, 1);
    }
  }
  tf_string_puts(out, "\"");
}

void tf_tuple_append(tf_context *context, tf_string *out, const tf_tuple *tuple) {
  if (tuple->is_leaf) {
    tf_dim_append(context, out, tuple->slots[0]);
    return;
  }
  tf_string_puts(out, "(");
  for (unsigned i = 0; i < tuple->count; i++) {
    if (i) tf_string_puts(out, ", ");
    tf_tuple_append(context, out, tuple->slots[i]);
  }
  tf_string_puts(out, tuple->count == 1 ? ",)" : ")");
}

void tf_layout_append_attr(tf_string *out, tf_shard_attr attr) {
  switch (attr.kind) {
  case TF_SHARD_SPLIT:
    tf_string_printf(out, "Split(%u)", attr.axis);
    break;
  case TF_SHARD_BROADCAST:
    tf_string_puts(out, "Broadcast()");
    break;
  case TF_SHARD_PARTIAL:
    tf_string_printf(out, "Partial(\"%s\")", tf_reduce_name(attr.reduce));
    break;
  case TF_SHARD_DYNAMIC:
    tf_string_puts(out, "Dynamic()");
    break;
  }
}

static void append_shard(tf_context *context, tf_string *out, const tf_layout *layout) {
  tf_string_puts(out, "ShardLayout(layout=");
  tf_layout_append(context, out, layout->outer);
  tf_string_puts(out, ", attrs=(");
  for (unsigned i = 0; i < layout->attr_count; i++) {
    if (i) tf_string_puts(out, ", ");
    tf_layout_append_attr(out, layout->attrs[i]);
  }
  tf_string_puts(out, layout->attr_count == 1 ? ",), mesh=" : "), mesh=");
  tf_mesh_append(context, out, layout->mesh);
  tf_string_puts(out, ")");
}

static void append_composed(tf_context *context, tf_string *out, const tf_layout *layout) {
  tf_string_puts(out, "ComposedLayout(inner=");
  tf_layout_append(context, out, layout->inner);
  tf_string_puts(out, ", offset=");
  tf_dim_append(context, out, layout->offset);
  tf_string_puts(out, ", outer=");
  tf_layout_append(context, out, layout->outer);
  tf_string_puts(out, ")");
}

static void append_plain(tf_context *context, tf_string *out, const tf_layout *layout) {
  tf_string_puts(out, "Layout(shape=");
  tf_tuple_append(context, out, layout->shape);
  if (layout->strides) {
    tf_string_puts(out, ", strides=");
    tf_tuple_append(context, out, layout->strides);
  }
  tf_string_puts(out, ")");
}

void tf_layout_append(tf_context *context, tf_string *out, const tf_layout *layout) {
  if (!layout) {
    tf_string_puts(out, "None");
    return;
  }
  switch ((tf_layout_kind)layout->kind) {
  case TF_LAYOUT_PLAIN:
    append_plain(context, out, layout);
    break;
  case TF_LAYOUT_SWIZZLE:
    tf_string_printf(out, "Swizzle(%u, %u, %u)", layout->bits, layout->base, layout->shift);
    break;
  case TF_LAYOUT_COMPOSED:
    append_composed(context, out, layout);
    break;
  case TF_LAYOUT_SHARD:
    append_shard(context, out, layout);
    break;
  }
}

static bool has_names(const tf_mesh *mesh) {
  for (unsigned i = 0; i < mesh->axis_count; i++)
    if (tf_mesh_axis_name(mesh, i)) return true;
  return false;
}

void tf_mesh_append(tf_context *context, tf_string *out, const tf_mesh *mesh) {
  if (!mesh) {
    tf_string_puts(out, "None");
    return;
  }
  tf_string_puts(out, "Mesh((");
  for (unsigned i = 0; i < mesh->level_count; i++) {
    tf_topology level = tf_mesh_level(mesh, i);
    tf_string_printf(out, "%sTopology(\"%s\", ", i ? ", " : "", tf_level_name(level.level));
    tf_dim_append(context, out, level.size);
    tf_string_puts(out, ")");
  }
  tf_string_puts(out, mesh->level_count == 1 ? ",), " : "), ");
  tf_layout_append(context, out, mesh->layout);
  if (has_names(mesh)) {
    tf_string_puts(out, ", (");
    for (unsigned i = 0; i < mesh->axis_count; i++) {
      if (i) tf_string_puts(out, ", ");
      const char *name = tf_mesh_axis_name(mesh, i);
      tf_string_quote(out, name ? name : "");
    }
    tf_string_puts(out, mesh->axis_count == 1 ? ",)" : ")");
  }
  tf_string_puts(out, ")");
}

static void append_type(tf_context *context, tf_string *out, const tf_type *type);

static void append_types(tf_context *context, tf_string *out, const tf_type *type) {
  tf_string_puts(out, "(");
  for (unsigned i = 0; i < type->count; i++) {
    if (i) tf_string_puts(out, ", ");
    append_type(context, out, type->slots[i]);
  }
  tf_string_puts(out, type->count == 1 ? ",)" : ")");
}

static void append_tensor(tf_context *context, tf_string *out, const tf_type *type) {
  tf_string_puts(out, "TensorType(shape=(");
  for (unsigned i = 0; i < type->count; i++) {
    if (i) tf_string_puts(out, ", ");
    tf_dim_append(context, out, type->slots[i]);
  }
  tf_string_printf(out, "%s), dtype=DType.%s", type->count == 1 ? "," : "", tf_dtype_name((tf_dtype)type->dtype));
  if (type->layout) {
    tf_string_puts(out, ", layout=");
    tf_layout_append(context, out, type->layout);
  }
  if (type->storage != TF_STORAGE_NONE)
    tf_string_printf(out, ", storage=StorageKind.%s", tf_storage_enumerator((tf_storage)type->storage));
  tf_string_puts(out, ")");
}

static void append_type(tf_context *context, tf_string *out, const tf_type *type) {
  if (!type) {
    tf_string_puts(out, "None");
    return;
  }
  switch ((tf_type_kind)type->kind) {
  case TF_TYPE_TENSOR:
    append_tensor(context, out, type);
    break;
  case TF_TYPE_TUPLE:
    tf_string_puts(out, "TupleType(");
    append_types(context, out, type);
    tf_string_puts(out, ")");
    break;
  case TF_TYPE_UNIT:
    tf_string_puts(out, "UnitType()");
    break;
  case TF_TYPE_CALLABLE:
    tf_string_puts(out, "CallableType(params=");
    append_types(context, out, type);
    tf_string_puts(out, ", return_type=UnitType())");
    break;
  case TF_TYPE_MESH:
    tf_string_puts(out, "MeshType()");
    break;
  }
}

const char *tf_layout_print(tf_context *context, const tf_layout *layout) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_layout_append(context, &out, layout);
  return out.text;
}

const char *tf_mesh_print(tf_context *context, const tf_mesh *mesh) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_mesh_append(context, &out, mesh);
  return out.text;
}

const char *tf_type_print(tf_context *context, const tf_type *type) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  append_type(context, &out, type);
  return out.text;
}
