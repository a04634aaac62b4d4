/* Calls of ops, read from the op table: operands by position, attributes behind them or by keyword.
 *
 *   required operands     in order
 *   optional operands     by position only where a run-time value (or None) stands there: a number there is an attribute
 *   variadic operands     as long as scalars follow
 *   attributes            in order, or by name
 *
 * so that T.iota(c, 0) names the axis and T.reduce(a, b, scratch, (0,), "sum") a workspace. */
#include "IR/Text/Elaborate.h"

#include <string.h>

#include "Support/Context.h"

/* Arguments sorted to where they belong: -1, or an index into the call's arguments. */
#define MAX_SLOTS 16
typedef struct assignment {
  int operands[MAX_SLOTS], attrs[MAX_SLOTS];
  unsigned first_variadic, variadic_count;
} assignment;

static bool is_scalar_like(const tf_value *v) {
  bool scalar_expr = v->kind == TF_VALUE_EXPR && tf_is_scalar(v->expr);
  return scalar_expr || v->kind == TF_VALUE_INT || v->kind == TF_VALUE_DIM || v->kind == TF_VALUE_FLOAT ||
         v->kind == TF_VALUE_BOOL;
}

static const char *op_takes(tf_context *context, const tf_op_info *info) {
  const char *names[2 * MAX_SLOTS];
  unsigned count = 0;
  for (unsigned i = 0; i < info->operand_count; i++)
    if (info->operands[i].arity != TF_ARITY_VARIADIC) names[count++] = info->operands[i].name;
  for (unsigned i = 0; i < info->attr_count; i++)
    names[count++] = info->attrs[i].name;
  return tf_takes_text(context, count, names);
}

/* Keywords to their slots. False after a report. */
static bool assign_keywords(const tf_op_info *info, const tf_call_site *site, unsigned count, const tf_argument *args,
                            assignment *out) {
  for (unsigned a = 0; a < count; a++) {
    if (!args[a].keyword) continue;
    int *slot = NULL;
    for (unsigned i = 0; i < info->operand_count; i++)
      if (info->operands[i].arity != TF_ARITY_VARIADIC && strcmp(info->operands[i].name, args[a].keyword) == 0)
        slot = &out->operands[i];
    for (unsigned i = 0; i < info->attr_count; i++)
      if (strcmp(info->attrs[i].name, args[a].keyword) == 0) slot = &out->attrs[i];
    if (!slot) {
      tf_report(site->context, args[a].loc, CALL_KEYWORD, site->name, args[a].keyword, op_takes(site->context, info));
      return false;
    }
    *slot = (int)a;
  }
  return true;
}

/* Positional arguments; returns how many were placed. */
static unsigned assign_positions(const tf_op_info *info, unsigned count, const tf_argument *args, assignment *out) {
  unsigned next = 0;
  for (unsigned i = 0; i < info->operand_count; i++) {
    const tf_operand_info *operand = &info->operands[i];
    if (operand->arity == TF_ARITY_VARIADIC) {
      out->first_variadic = next;
      while (next < count && is_scalar_like(&args[next].value))
        next++;
      out->variadic_count = next - out->first_variadic;
    } else if (out->operands[i] < 0 && next < count) {
      tf_value_kind kind = args[next].value.kind;
      bool fits = operand->arity == TF_ARITY_REQUIRED || kind == TF_VALUE_EXPR || kind == TF_VALUE_NONE;
      if (fits) out->operands[i] = (int)next++;
    }
  }
  for (unsigned i = 0; i < info->attr_count && next < count; i++)
    if (out->attrs[i] < 0) out->attrs[i] = (int)next++;
  for (unsigned i = 0; i < info->operand_count && next < count; i++)
    if (out->operands[i] < 0 && info->operands[i].arity == TF_ARITY_OPTIONAL) out->operands[i] = (int)next++;
  return next;
}

static bool assign(const tf_op_info *info, const tf_call_site *site, unsigned count, const tf_argument *args,
                   assignment *out) {
  *out = (assignment){.first_variadic = 0};
  for (unsigned i = 0; i < MAX_SLOTS; i++)
    out->operands[i] = out->attrs[i] = -1;
  unsigned positional = 0;
  while (positional < count && !args[positional].keyword)
    positional++;
  if (!assign_keywords(info, site, count, args, out)) return false;
  unsigned placed = assign_positions(info, positional, args, out);
  if (placed == positional) return true;
  tf_report(site->context, args[placed].loc, OP_TOO_MANY, site->name, tf_value_describe(&args[placed].value));
  return false;
}

/* ---- Operands ---- */
/* The binding of a mesh: the one it was named through, else the innermost scope in force over the same mesh. */
static const tf_expr *mesh_operand(tf_elab *e, const tf_mesh *mesh, const tf_expr *binding, tf_loc loc) {
  if (binding) return binding;
  for (size_t i = e->meshes.count; i-- > 0;)
    if (e->meshes.items[i]->var.mesh == mesh) return e->meshes.items[i];
  tf_report(e->context, loc, MESH_NOT_BOUND);
  return NULL;
}

static const tf_expr *operand(tf_elab *e, const tf_operand_info *info, const tf_argument *arg) {
  const tf_value *value = &arg->value;
  if (value->kind == TF_VALUE_NONE && info->arity == TF_ARITY_OPTIONAL) return NULL;
  if (info->predicate == TF_PRED_MESH && value->kind == TF_VALUE_MESH)
    return mesh_operand(e, value->mesh.mesh, value->mesh.binding, arg->loc);
  if (info->predicate == TF_PRED_MESH && value->kind == TF_VALUE_MESH_AXIS)
    return mesh_operand(e, value->axis.mesh, value->axis.binding, arg->loc);
  return tf_as_operand(e, value, arg->loc);
}

/* All operands in table order; null after a report. */
static const tf_expr **operands(tf_elab *e, const tf_op_info *info, const tf_call_site *site, const tf_argument *args,
                                const assignment *where, unsigned *count) {
  unsigned fixed = info->operand_count;
  if (fixed && info->operands[fixed - 1].arity == TF_ARITY_VARIADIC) fixed--;
  *count = fixed + where->variadic_count;
  const tf_expr **out = TF_ARENA_ARRAY(e->scratch, const tf_expr *, *count);
  bool good = true;
  for (unsigned i = 0; i < fixed; i++) {
    const tf_operand_info *slot = &info->operands[i];
    bool required = slot->arity == TF_ARITY_REQUIRED;
    if (where->operands[i] >= 0) {
      const tf_argument *arg = &args[where->operands[i]];
      out[i] = operand(e, slot, arg);
      good &= out[i] || (!required && arg->value.kind == TF_VALUE_NONE);
    } else if (required) {
      tf_report(e->context, site->loc, CALL_MISSING, site->name, slot->name);
      good = false;
    }
  }
  for (unsigned i = 0; i < where->variadic_count; i++)
    good &= (out[fixed + i] = operand(e, &info->operands[fixed], &args[where->first_variadic + i])) != NULL;
  return good ? out : NULL;
}

/* ---- Attributes ---- */
static bool refuse(tf_elab *e, const tf_attr_info *info, const tf_call_site *site, const tf_argument *arg,
                   const char *wanted) {
  const tf_value *value = &arg->value;
  if (value->kind != TF_VALUE_ERROR)
    tf_report(e->context, arg->loc, CALL_ARGUMENT, info->name, site->name, wanted, tf_value_tell(e->context, value));
  return false;
}

static const tf_tuple *padded_numbers(tf_elab *e, const tf_value *value, unsigned most, bool pad) {
  int64_t numbers[MAX_SLOTS];
  bool single = value->kind == TF_VALUE_INT;
  unsigned count = single ? 1 : value->kind == TF_VALUE_LIST ? value->list.count : MAX_SLOTS + 1;
  if (count > most || (pad && count == 0)) return NULL;
  for (unsigned i = 0; i < count; i++)
    if (!tf_value_int64(single ? value : &value->list.items[i], &numbers[i])) return NULL;
  for (; pad && count < most; count++)
    numbers[count] = 1;
  return tf_tuple_ints(e->context, count, numbers);
}

static bool kind_attribute(const tf_attr_info *info, const tf_value *value, tf_attr *out) {
  tf_binary_kind binary;
  tf_unary_kind unary;
  tf_reduce_kind reduce;
  bool is_string = value->kind == TF_VALUE_STRING;
  out->i = value->enumerator;
  switch (info->kind) {
  case TF_ATTR_BINARY:
    if (!is_string) return value->kind == TF_VALUE_BINARY_KIND;
    if (!tf_binary_from_name(value->string, &binary)) return false;
    out->i = binary;
    return true;
  case TF_ATTR_UNARY:
    if (!is_string) return value->kind == TF_VALUE_UNARY_KIND;
    if (!tf_unary_from_name(value->string, &unary)) return false;
    out->i = unary;
    return true;
  default:
    if (!is_string) return value->kind == TF_VALUE_REDUCE_KIND;
    if (!tf_reduce_from_name(value->string, &reduce)) return false;
    out->i = reduce;
    return true;
  }
}

static const char *kinds_text(tf_elab *e, tf_attr_kind kind) {
  tf_string text;
  bool binary = kind == TF_ATTR_BINARY, unary = kind == TF_ATTR_UNARY;
  int count = binary ? TF_BINARY_COUNT : unary ? TF_UNARY_COUNT : TF_REDUCE_COUNT;
  tf_string_init(&text, e->scratch);
  tf_string_puts(&text, binary ? "a BinaryKind (" : unary ? "a UnaryKind (" : "a ReduceKind (");
  for (int i = 0; i < count; i++)
    tf_string_printf(&text, "%s%s", i ? " " : "",
                     binary  ? tf_binary_name((tf_binary_kind)i)
                     : unary ? tf_unary_name((tf_unary_kind)i)
                             : tf_reduce_name((tf_reduce_kind)i));
  tf_string_puts(&text, ")");
  return text.text;
}

static bool literal_attribute(tf_elab *e, const tf_argument *arg, tf_attr *out) {
  const tf_value *value = &arg->value;
  bool constant = value->kind == TF_VALUE_EXPR && value->expr->kind == TF_EXPR_CONSTANT;
  bool number = value->kind == TF_VALUE_INT || value->kind == TF_VALUE_FLOAT || value->kind == TF_VALUE_BOOL;
  if (constant || number) out->literal = tf_as_operand(e, value, arg->loc);
  return constant || number;
}

static bool layout_attribute(tf_elab *e, const tf_attr_info *info, const tf_call_site *site, const tf_argument *arg,
                             tf_attr *out) {
  const char *reason;
  if (tf_value_to_layout(e->context, &arg->value, &out->layout, &reason)) return true;
  if (!reason) return refuse(e, info, site, arg, "a layout, or a shape such as (16 @ m.a, 4)");
  tf_report(e->context, arg->loc, CALL_REFUSED, site->name, reason);
  return false;
}

/* Kinds whose value is a number or names one. */
static bool number_attribute(tf_elab *e, const tf_attr_info *info, const tf_call_site *site, const tf_argument *arg,
                             tf_attr *out) {
  const tf_value *value = &arg->value;
  tf_dtype dtype;
  tf_level level;
  switch (info->kind) {
  case TF_ATTR_INT:
    return tf_value_int64(value, &out->i) || refuse(e, info, site, arg, "an integer");
  case TF_ATTR_FLOAT:
    out->f = value->kind == TF_VALUE_FLOAT ? value->f : (double)value->i;
    return value->kind == TF_VALUE_FLOAT || value->kind == TF_VALUE_INT || refuse(e, info, site, arg, "a number");
  case TF_ATTR_DTYPE:
    if (!tf_value_to_dtype(value, &dtype)) return refuse(e, info, site, arg, "a dtype such as \"f32\"");
    out->i = dtype;
    return true;
  case TF_ATTR_LEVEL:
    if (value->kind != TF_VALUE_STRING || !tf_level_from_name(value->string, &level))
      return refuse(e, info, site, arg, "\"cta\", \"warp\" or \"thread\"");
    out->i = level;
    return true;
  case TF_ATTR_DIM:
    out->dim = tf_value_dim(e->context, value);
    if (!info->required && value->kind == TF_VALUE_INT && value->i == 0) out->dim = NULL; /* as if absent */
    return out->dim || (value->kind == TF_VALUE_INT && value->i == 0) ||
           refuse(e, info, site, arg, "an integer or a dim");
  default:
    return kind_attribute(info, value, out) || refuse(e, info, site, arg, kinds_text(e, info->kind));
  }
}

bool tf_attribute(tf_elab *e, const tf_attr_info *info, const tf_call_site *site, const tf_argument *arg,
                  tf_attr *out) {
  const tf_value *value = &arg->value;
  memset(out, 0, sizeof *out);
  if (value->kind == TF_VALUE_NONE && !info->required) return true;
  switch (info->kind) {
  case TF_ATTR_TYPE:
    out->type = value->kind == TF_VALUE_TYPE ? value->type.type : NULL;
    return out->type || refuse(e, info, site, arg, "a TensorType");
  case TF_ATTR_LAYOUT:
    return layout_attribute(e, info, site, arg, out);
  case TF_ATTR_SHAPE:
    out->tuple = tf_value_to_shape(e->context, value);
    return out->tuple || refuse(e, info, site, arg, "a tuple of integers and dims");
  case TF_ATTR_AXES:
    out->tuple = padded_numbers(e, value, MAX_SLOTS, false);
    return out->tuple || refuse(e, info, site, arg, "a tuple of integers");
  case TF_ATTR_CLUSTER:
    out->tuple = padded_numbers(e, value, 3, true);
    return out->tuple || refuse(e, info, site, arg, "up to three integers");
  case TF_ATTR_LITERAL:
    return literal_attribute(e, arg, out) || refuse(e, info, site, arg, "a number that is known at compile time");
  case TF_ATTR_MESH:
    out->mesh = value->kind == TF_VALUE_MESH ? value->mesh.mesh : NULL;
    return out->mesh || refuse(e, info, site, arg, "a mesh or a slice of one");
  case TF_ATTR_ATOM:
    out->atom = value->kind == TF_VALUE_ATOM ? value->atom : NULL;
    return out->atom || refuse(e, info, site, arg, "an atom or a tile of T.cuda.mma");
  case TF_ATTR_LAUNCH_ATTRS:
    out->launch_attrs = value->kind == TF_VALUE_LAUNCH_ATTRS && value->launch_attrs->count ? value->launch_attrs : NULL;
    return value->kind == TF_VALUE_LAUNCH_ATTRS || refuse(e, info, site, arg, "LaunchAttrs(…)");
  default:
    return number_attribute(e, info, site, arg, out);
  }
}

static tf_attr *attributes(tf_elab *e, const tf_op_info *info, const tf_call_site *site, const tf_argument *args,
                           const assignment *where) {
  tf_attr *out = TF_ARENA_ARRAY(e->scratch, tf_attr, info->attr_count);
  bool good = true;
  for (unsigned i = 0; i < info->attr_count; i++) {
    int at = where->attrs[i];
    if (at < 0) {
      if (info->attrs[i].required) tf_report(e->context, site->loc, CALL_MISSING, site->name, info->attrs[i].name);
      good &= !info->attrs[i].required;
    } else if (args[at].value.kind == TF_VALUE_MESH_AXIS && info->attrs[i].kind == TF_ATTR_INT) {
      out[i].i = args[at].value.axis.axis; /* T.coord(m.a): one argument names the mesh and its axis */
    } else {
      good &= tf_attribute(e, &info->attrs[i], site, &args[at], &out[i]);
    }
  }
  return good ? out : NULL;
}

/* An axis given for a mesh operand is the axis attribute too. */
static void share_mesh_axis(const tf_op_info *info, const tf_argument *args, assignment *where) {
  for (unsigned i = 0; i < info->operand_count; i++) {
    int at = where->operands[i];
    bool axis = at >= 0 && info->operands[i].predicate == TF_PRED_MESH && args[at].value.kind == TF_VALUE_MESH_AXIS;
    for (unsigned k = 0; axis && k < info->attr_count; k++)
      if (info->attrs[k].kind == TF_ATTR_INT && where->attrs[k] < 0) where->attrs[k] = at;
  }
}

tf_value tf_op_call(tf_elab *e, tf_op op, const tf_call_site *site, unsigned count, const tf_argument *args,
                    const char **text) {
  const tf_op_info *info = tf_op_get_info(op);
  tf_argument *own = tf_arena_copy(e->scratch, args, count * sizeof *args);
  assignment where;
  for (unsigned i = 0; i < count; i++)
    if (args[i].value.kind == TF_VALUE_ERROR) return TF_VALUE_OF_ERROR;
  if (!tf_take_loc_text(e, &count, own, text) || !assign(info, site, count, own, &where)) return TF_VALUE_OF_ERROR;
  share_mesh_axis(info, own, &where);
  unsigned operand_count;
  const tf_expr **exprs = operands(e, info, site, own, &where, &operand_count);
  tf_attr *attrs = attributes(e, info, site, own, &where);
  if (!exprs || !attrs) return TF_VALUE_OF_ERROR;
  if (info->form != TF_FORM_EFFECT)
    return tf_value_of_expr(tf_expr_call(e->context, op, operand_count, exprs, attrs, site->loc));
  tf_block_add(e->block, tf_stmt_evaluate(e->context, op, operand_count, exprs, attrs, (tf_place){site->loc, *text}));
  return TF_VALUE_OF_NONE;
}
