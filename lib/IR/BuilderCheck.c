/* What the builder asks of names, operands and attributes. */
#include "IR/Belongs.h"
#include "IR/BuilderImpl.h"
#include "IR/MmaAtom.h"

#include <string.h>

bool tf_builder_misuse(tf_builder *builder, const char *function, const char *why) {
  if (builder->status != TF_OK) return false;
  builder->status = TF_INVALID_ARGUMENT;
  tf_report(builder->context, builder->place.loc, BUILDER_MISUSE, function, why);
  return false;
}

void tf_builder_break(tf_builder *builder, tf_status status) {
  if (builder->status == TF_OK) builder->status = status;
}

bool tf_builder_is_name(tf_builder *builder, const char *function, const char *name) {
  return (name && name[0]) || tf_builder_misuse(builder, function, "a name is missing");
}

/* ---- Marks ---------------------------------------------------------------------------------------------------------------- */
static void **mark_slot(tf_builder *builder, const tf_expr *expr) {
  const struct {
    const tf_builder *builder;
    const tf_expr *expr;
  } key = {builder, expr};
  return tf_context_memo(builder->context, &key, sizeof key);
}

static const tf_builder_mark *mark_of(tf_builder *builder, const tf_expr *expr) {
  return *mark_slot(builder, expr);
}

static void set_mark(tf_builder *builder, const tf_expr *expr, tf_builder_mark mark) {
  *mark_slot(builder, expr) = tf_arena_copy(&builder->context->arena, &mark, sizeof mark);
}

static bool is_open(const tf_builder *builder, uint64_t serial) {
  for (unsigned i = builder->depth; serial && i-- > 0;)
    if (builder->frames[i].serial == serial) return true;
  return serial == 0;
}

bool tf_builder_accepts(tf_builder *builder, const char *function, const tf_expr *operand) {
  if (!operand) return tf_builder_misuse(builder, function, "an operand is null");
  const tf_builder_mark *mark = mark_of(builder, operand);
  if (!mark) return tf_builder_misuse(builder, function, "an operand was not made by this builder");
  if (is_open(builder, mark->serial)) return true;
  return tf_builder_misuse(builder, function, "an operand uses a variable behind the end of its block");
}

bool tf_builder_accepts_all(tf_builder *builder, const char *function, unsigned count, const tf_expr *const *operands) {
  if (count && !operands) return tf_builder_misuse(builder, function, "the list of operands is null");
  for (unsigned i = 0; i < count; i++)
    if (!tf_builder_accepts(builder, function, operands[i])) return false;
  return true;
}

/* Operands are in open blocks, which are nested: the one with the larger serial is the inner one. */
const tf_expr *tf_builder_made(tf_builder *builder, const tf_expr *expr, unsigned count,
                               const tf_expr *const *operands) {
  tf_builder_mark mark = {0, 1};
  for (unsigned i = 0; i < count; i++) {
    const tf_builder_mark *part = operands[i] ? mark_of(builder, operands[i]) : NULL;
    if (!part) continue;
    if (part->serial > mark.serial) mark.serial = part->serial;
    if (operands[i]->kind == TF_EXPR_CALL && part->nesting >= mark.nesting) mark.nesting = part->nesting + 1;
  }
  if (mark.nesting > TF_BUILDER_MAX_EXPRESSION) {
    tf_builder_misuse(builder, "an expression", "it nests too deeply: bind parts of it with tf_builder_let");
    return NULL;
  }
  set_mark(builder, expr, mark);
  return expr;
}

const tf_expr *tf_builder_bound(tf_builder *builder, const tf_expr *variable) {
  set_mark(builder, variable, (tf_builder_mark){builder->depth ? builder->frames[builder->depth - 1].serial : 0, 1});
  return variable;
}

/* ---- Blocks --------------------------------------------------------------------------------------------------------------- */
tf_frame *tf_builder_block(tf_builder *builder, const char *function) {
  tf_frame *frame = builder->depth ? &builder->frames[builder->depth - 1] : NULL;
  if (!frame) tf_builder_misuse(builder, function, "no function is open");
  if (frame && frame->kind == TF_FRAME_DISPATCH) {
    tf_builder_misuse(builder, function, "a dispatch holds cases only");
    return NULL;
  }
  return frame;
}

/* ---- Attributes -------------------------------------------------------------------------------------------------------------- */
static bool is_static_flat(tf_context *context, const tf_tuple *tuple) {
  if (!tf_tuple_belongs(context, tuple)) return false;
  for (unsigned i = 0; i < tf_tuple_count(tuple); i++)
    if (!tf_tuple_is_leaf(tf_tuple_element(tuple, i)) ||
        !tf_dim_is_static(tf_tuple_dim(tf_tuple_element(tuple, i)), NULL))
      return false;
  return true;
}

static bool is_below(int64_t value, int64_t count) {
  return value >= 0 && value < count;
}

/* The attribute's own value; pointers are there. */
static bool accepts_value(tf_builder *builder, tf_attr_kind kind, tf_attr attr) {
  tf_context *context = builder->context;
  switch (kind) {
  case TF_ATTR_TYPE:
    return tf_type_belongs(context, attr.type);
  case TF_ATTR_LAYOUT:
    return tf_layout_belongs(context, attr.layout);
  case TF_ATTR_SHAPE:
    return tf_tuple_belongs(context, attr.tuple);
  case TF_ATTR_AXES:
    return is_static_flat(context, attr.tuple);
  case TF_ATTR_CLUSTER:
    return is_static_flat(context, attr.tuple) && tf_tuple_count(attr.tuple) == 3;
  case TF_ATTR_LITERAL:
    return attr.literal->kind == TF_EXPR_CONSTANT && mark_of(builder, attr.literal);
  case TF_ATTR_DIM:
    return tf_dim_belongs(context, attr.dim);
  case TF_ATTR_MESH:
    return tf_mesh_belongs(context, attr.mesh);
  case TF_ATTR_ATOM:
    return tf_mma_atom_belongs(context, attr.atom);
  case TF_ATTR_LAUNCH_ATTRS:
    return tf_launch_attrs_belong(context, attr.launch_attrs);
  case TF_ATTR_DTYPE:
    return is_below(attr.i, TF_DTYPE_COUNT);
  case TF_ATTR_LEVEL:
    return is_below(attr.i, TF_LEVEL_COUNT);
  case TF_ATTR_BINARY:
    return is_below(attr.i, TF_BINARY_COUNT);
  case TF_ATTR_UNARY:
    return is_below(attr.i, TF_UNARY_COUNT);
  case TF_ATTR_REDUCE:
    return is_below(attr.i, TF_REDUCE_COUNT);
  case TF_ATTR_SCALAR_BINARY:
    return is_below(attr.i, TF_SCALAR_BINARY_COUNT);
  case TF_ATTR_SCALAR_UNARY:
    return is_below(attr.i, TF_SCALAR_UNARY_COUNT);
  case TF_ATTR_INT:
  case TF_ATTR_FLOAT:
    return true;
  }
  return false;
}

static bool is_pointer(tf_attr_kind kind) {
  return kind <= TF_ATTR_CLUSTER || kind == TF_ATTR_LITERAL || (kind >= TF_ATTR_DIM && kind <= TF_ATTR_ATOM) ||
         kind == TF_ATTR_LAUNCH_ATTRS;
}

bool tf_builder_accepts_attrs(tf_builder *builder, tf_op op, const tf_attr *attrs) {
  const tf_op_info *info = tf_op_get_info(op);
  if (info->attr_count && !attrs) return tf_builder_misuse(builder, info->name, "the list of attributes is null");
  for (unsigned i = 0; i < info->attr_count; i++) {
    const tf_attr_info *attr = &info->attrs[i];
    bool absent = is_pointer(attr->kind) && !attrs[i].type;
    if (absent && !attr->required) continue;
    if (!absent && accepts_value(builder, attr->kind, attrs[i])) continue;
    const char *why = tf_arena_printf(&builder->context->arena, "the attribute '%s' %s", attr->name,
                                      absent ? "is missing" : "has no legal value, or is another context's");
    return tf_builder_misuse(builder, info->name, why);
  }
  return true;
}
