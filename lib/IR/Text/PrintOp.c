/* Calls of ops as text, from the op table; meshes and layouts with the names of the scopes in force. */
#include <string.h>

#include "IR/LayoutImpl.h"
#include "IR/Text/PrintInternal.h"
#include "IR/Text/Static.h"

/* ---- Meshes ---- */
/* The ranges of a slice of `full`, if the mesh is one: the offset is taken apart by falling strides, the proof is that
 * slicing again gives the same mesh. */
static bool slice_ranges(tf_context *context, const tf_mesh *full, const tf_mesh *slice, int64_t *lo, int64_t *hi) {
  unsigned rank = tf_mesh_axis_count(full);
  int64_t offset, extent[TF_MAX_FACTORS], stride[TF_MAX_FACTORS];
  if (tf_mesh_is_slice(full) || rank != tf_mesh_axis_count(slice) || rank > TF_MAX_FACTORS) return false;
  if (!tf_dim_is_static(tf_mesh_slice_offset(slice), &offset)) return false;
  bool done[TF_MAX_FACTORS] = {false};
  for (unsigned i = 0; i < rank; i++) {
    if (!tf_dim_is_static(tf_mesh_axis_extent(slice, i), &extent[i])) return false;
    if (!tf_dim_is_static(tf_mesh_axis_stride(full, i), &stride[i])) return false;
  }
  for (unsigned n = 0; n < rank; n++) {
    unsigned best = rank;
    for (unsigned i = 0; i < rank; i++)
      if (!done[i] && (best == rank || stride[i] > stride[best])) best = i;
    done[best] = true;
    lo[best] = stride[best] > 0 ? offset / stride[best] : 0;
    int64_t whole;
    if (tf_dim_is_static(tf_mesh_axis_extent(full, best), &whole) && lo[best] > whole - extent[best])
      lo[best] = whole > extent[best] ? whole - extent[best] : 0;
    hi[best] = lo[best] + extent[best];
    offset -= lo[best] * stride[best];
  }
  const char *reason;
  return offset == 0 && tf_mesh_slice(context, full, lo, hi, &reason) == slice;
}

static bool print_slice_of(tf_printer *p, const tf_expr *binding, const tf_mesh *mesh) {
  int64_t lo[TF_MAX_FACTORS], hi[TF_MAX_FACTORS], whole;
  const tf_mesh *full = binding->var.mesh;
  if (!slice_ranges(p->context, full, mesh, lo, hi)) return false;
  tf_string_printf(&p->out, "%s[", tf_print_name(p, binding));
  for (unsigned i = 0; i < tf_mesh_axis_count(full); i++) {
    bool all = tf_dim_is_static(tf_mesh_axis_extent(full, i), &whole) && lo[i] == 0 && hi[i] == whole;
    if (i) tf_string_puts(&p->out, ", ");
    if (all)
      tf_string_puts(&p->out, ":");
    else
      tf_string_printf(&p->out, "%lld:%lld", (long long)lo[i], (long long)hi[i]);
  }
  tf_string_puts(&p->out, "]");
  return true;
}

static const tf_expr *scope_over(const tf_printer *p, const tf_mesh *mesh) {
  for (size_t i = p->meshes.count; i-- > 0;)
    if (p->meshes.items[i]->var.mesh == mesh) return p->meshes.items[i];
  return NULL;
}

void tf_print_mesh(tf_printer *p, const tf_mesh *mesh) {
  const tf_expr *binding = scope_over(p, mesh);
  if (binding) {
    tf_string_puts(&p->out, tf_print_name(p, binding));
    return;
  }
  for (size_t i = p->meshes.count; tf_mesh_is_slice(mesh) && i-- > 0;)
    if (print_slice_of(p, p->meshes.items[i], mesh)) return;
  tf_mesh_append(p->context, &p->out, mesh);
}

/* Text of a layout or type, with the mesh at its end replaced by the name of its scope. */
static void print_with_scope(tf_printer *p, const char *text, const tf_mesh *mesh) {
  const tf_expr *binding = mesh ? scope_over(p, mesh) : NULL;
  const char *spelled =
      binding ? tf_arena_printf(&p->context->arena, "mesh=%s)", tf_mesh_print(p->context, mesh)) : NULL;
  const char *at = spelled ? strstr(text, spelled) : NULL;
  if (!at) {
    tf_string_puts(&p->out, text);
    return;
  }
  tf_string_append(&p->out, text, (size_t)(at - text));
  tf_string_printf(&p->out, "mesh=%s)%s", tf_print_name(p, binding), at + strlen(spelled));
}

void tf_print_layout(tf_printer *p, const tf_layout *layout) {
  const tf_mesh *mesh = tf_layout_is_shard(layout) ? tf_layout_mesh(layout) : NULL;
  print_with_scope(p, tf_layout_print(p->context, layout), mesh);
}

static void print_type(tf_printer *p, const tf_type *type) {
  const tf_layout *layout = tf_type_is_tensor(type) ? tf_type_layout(type) : NULL;
  const tf_mesh *mesh = tf_layout_is_shard(layout) ? tf_layout_mesh(layout) : NULL;
  print_with_scope(p, tf_type_print(p->context, type), mesh);
}

/* ---- Attributes ---- */
static void print_static(tf_printer *p, tf_value value) {
  tf_value_append(p->context, &p->out, &value);
}

static void print_attr(tf_printer *p, tf_attr_kind kind, tf_attr attr) {
  switch (kind) {
  case TF_ATTR_TYPE:
    print_type(p, attr.type);
    return;
  case TF_ATTR_LAYOUT:
    tf_print_layout(p, attr.layout);
    return;
  case TF_ATTR_SHAPE:
  case TF_ATTR_AXES:
  case TF_ATTR_CLUSTER:
    tf_tuple_append(p->context, &p->out, attr.tuple);
    return;
  case TF_ATTR_INT:
    tf_string_printf(&p->out, "%lld", (long long)attr.i);
    return;
  case TF_ATTR_FLOAT:
    tf_float_append(&p->out, attr.f);
    return;
  case TF_ATTR_LITERAL:
    tf_print_operand(p, attr.literal, TF_DTYPE_COUNT);
    return;
  case TF_ATTR_DTYPE:
    tf_string_printf(&p->out, "\"%s\"", tf_dtype_name((tf_dtype)attr.i));
    return;
  case TF_ATTR_LEVEL:
    tf_string_printf(&p->out, "\"%s\"", tf_level_name((tf_level)attr.i));
    return;
  case TF_ATTR_DIM:
    tf_string_puts(&p->out, tf_dim_print(p->context, attr.dim));
    return;
  case TF_ATTR_MESH:
    tf_print_mesh(p, attr.mesh);
    return;
  case TF_ATTR_ATOM:
    print_static(p, (tf_value){.kind = TF_VALUE_ATOM, .atom = attr.atom});
    return;
  case TF_ATTR_BINARY:
    tf_string_printf(&p->out, "\"%s\"", tf_binary_name((tf_binary_kind)attr.i));
    return;
  case TF_ATTR_UNARY:
    tf_string_printf(&p->out, "\"%s\"", tf_unary_name((tf_unary_kind)attr.i));
    return;
  case TF_ATTR_REDUCE:
    tf_string_printf(&p->out, "\"%s\"", tf_reduce_name((tf_reduce_kind)attr.i));
    return;
  case TF_ATTR_LAUNCH_ATTRS:
    print_static(p, (tf_value){.kind = TF_VALUE_LAUNCH_ATTRS, .launch_attrs = attr.launch_attrs});
    return;
  case TF_ATTR_SCALAR_BINARY: /* operators are no calls */
  case TF_ATTR_SCALAR_UNARY:
    return;
  }
}

static bool is_default(const tf_attr_info *info, tf_attr attr) {
  if (info->required) return false;
  return info->kind == TF_ATTR_FLOAT ? attr.f == 0.0 : attr.i == 0; /* pointers are as wide as i */
}

/* What an op is about stands without its name. */
static bool is_positional(const tf_attr_info *info) {
  tf_attr_kind k = info->kind;
  return info->required &&
         (k == TF_ATTR_TYPE || k == TF_ATTR_MESH || k == TF_ATTR_LEVEL || k == TF_ATTR_DTYPE || k == TF_ATTR_DIM);
}

/* ---- Calls ---- */
static void separator(tf_printer *p, bool *first) {
  if (!*first) tf_string_puts(&p->out, ", ");
  *first = false;
}

static void print_attrs(tf_printer *p, const tf_op_info *info, const tf_attr *attrs, bool *first) {
  for (unsigned i = 0; i < info->attr_count; i++) {
    if (is_default(&info->attrs[i], attrs[i])) continue;
    separator(p, first);
    if (!is_positional(&info->attrs[i])) tf_string_printf(&p->out, "%s=", info->attrs[i].name);
    print_attr(p, info->attrs[i].kind, attrs[i]);
  }
}

/* T.coord(m.a), or by number where the axis has no name. */
static void print_coord(tf_printer *p, const tf_invocation *call) {
  const tf_expr *mesh = call->args[TF_ARG_COORD_mesh];
  int64_t axis = call->attrs[TF_ATTRIBUTE_COORD_axis].i;
  const char *name = mesh->var.mesh ? tf_mesh_axis_name(mesh->var.mesh, (unsigned)axis) : NULL;
  if (name)
    tf_string_printf(&p->out, "T.coord(%s.%s", tf_print_name(p, mesh), name);
  else
    tf_string_printf(&p->out, "T.coord(%s, %lld", tf_print_name(p, mesh), (long long)axis);
}

static bool is_one(const tf_expr *expr) {
  return expr->kind == TF_EXPR_CONSTANT && tf_type_dtype(expr->type) == TF_DTYPE_I64 && expr->constant.i == 1;
}

/* Three extents without trailing ones; a single one without a tuple. */
static void print_extents(tf_printer *p, const char *name, const tf_expr *const *extents) {
  unsigned count = 3;
  while (count > 1 && is_one(extents[count - 1]))
    count--;
  tf_string_printf(&p->out, ", %s=%s", name, count > 1 ? "(" : "");
  for (unsigned i = 0; i < count; i++) {
    if (i) tf_string_puts(&p->out, ", ");
    tf_print_operand(p, extents[i], TF_DTYPE_COUNT);
  }
  if (count > 1) tf_string_puts(&p->out, ")");
}

static void print_launch(tf_printer *p, const tf_invocation *call) {
  const tf_expr *callee = call->args[TF_ARG_LAUNCH_callee];
  bool first = false;
  tf_string_printf(&p->out, "launch(%s", tf_print_callee(p, callee->symbol.name));
  for (unsigned i = TF_ARG_LAUNCH_args; i < call->arg_count; i++) {
    unsigned index = i - TF_ARG_LAUNCH_args;
    bool known = index < tf_type_element_count(callee->type);
    const tf_type *type = known ? tf_type_element(callee->type, index) : NULL;
    tf_string_puts(&p->out, ", ");
    tf_print_operand(p, call->args[i], type && tf_type_is_scalar(type) ? tf_type_dtype(type) : TF_DTYPE_COUNT);
  }
  print_extents(p, "grid", &call->args[TF_ARG_LAUNCH_grid_x]);
  print_extents(p, "block", &call->args[TF_ARG_LAUNCH_block_x]);
  print_attrs(p, tf_op_get_info(TF_OP_LAUNCH), call->attrs, &first);
}

static void print_operands(tf_printer *p, const tf_op_info *info, const tf_invocation *call, bool *first) {
  for (unsigned i = 0; i < call->arg_count; i++) {
    const tf_operand_info *operand = &info->operands[i < info->operand_count ? i : info->operand_count - 1];
    if (!call->args[i]) continue;
    separator(p, first);
    if (operand->arity == TF_ARITY_OPTIONAL) tf_string_printf(&p->out, "%s=", operand->name);
    tf_print_operand(p, call->args[i], TF_DTYPE_COUNT);
  }
}

void tf_print_invocation(tf_printer *p, const tf_invocation *call, const char *loc_text) {
  const tf_op_info *info = tf_op_get_info(call->op);
  bool first = true;
  if (call->op == TF_OP_COORD) {
    print_coord(p, call);
  } else if (call->op == TF_OP_LAUNCH) {
    print_launch(p, call);
  } else {
    tf_string_printf(&p->out, "T.%s(", info->name);
    print_operands(p, info, call, &first);
    print_attrs(p, info, call->attrs, &first);
  }
  if (loc_text) {
    tf_string_puts(&p->out, first && info->operand_count + info->attr_count == 0 ? "loc=" : ", loc=");
    tf_string_quote(&p->out, loc_text);
  }
  tf_string_puts(&p->out, ")");
}
