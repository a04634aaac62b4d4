/* Scalars and arguments of host bodies.
 *
 * A manifest's expressions know the entry's parameters, extents and DimVars, and nothing of bindings: a let-bound
 * scalar is written out where it is used. What they cannot say (loads, bit operators, conditions, casts that change the
 * value) makes the body inexpressible. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "IR/ViewImpl.h"
#include "LowerToLLVM/ManifestImpl.h"

json_t *tf_manifest_inexpressible(tf_manifest_writer *writer) {
  writer->inexpressible = true;
  return json_null();
}

static bool is_float(const tf_expr *scalar) {
  return tf_dtype_get_class(tf_type_dtype(scalar->type)) == TF_CLASS_FLOAT;
}

static json_t *name_object(tf_manifest_writer *writer, const char *key, const char *name) {
  json_t *node = json_object();
  tf_manifest_put(writer, node, key, json_string(name));
  return node;
}

/* Whether every value of `from` is the same number in `to`. */
static bool cast_keeps_value(tf_dtype from, tf_dtype to) {
  tf_dtype_class a = tf_dtype_get_class(from), b = tf_dtype_get_class(to);
  unsigned from_bits = tf_dtype_bits(from), to_bits = tf_dtype_bits(to);
  if (from == to) return true;
  if (a == TF_CLASS_FLOAT || b == TF_CLASS_FLOAT || b == TF_CLASS_BOOL) return false;
  if (a == TF_CLASS_BOOL) return true;
  if (a == b) return to_bits >= from_bits;
  return a == TF_CLASS_UINT && to_bits > from_bits;
}

static json_t *write_shape_of(tf_manifest_writer *writer, const tf_expr *expr) {
  json_t *node = name_object(writer, "shape_of", expr->shape_of.param->var.name);
  tf_manifest_put(writer, node, "axis", json_integer(expr->shape_of.axis));
  return node;
}

static json_t *write_binary(tf_manifest_writer *writer, const tf_expr *call) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  switch (kind) {
  case TF_SCALAR_BINARY_ADD:
  case TF_SCALAR_BINARY_SUB:
  case TF_SCALAR_BINARY_MUL:
  case TF_SCALAR_BINARY_FLOOR_DIV:
  case TF_SCALAR_BINARY_MOD:
  case TF_SCALAR_BINARY_MIN:
  case TF_SCALAR_BINARY_MAX:
    return tf_manifest_op(writer, tf_scalar_binary_name(kind),
                          tf_manifest_scalar(writer, call->call.args[TF_ARG_SCALAR_BINARY_lhs]),
                          tf_manifest_scalar(writer, call->call.args[TF_ARG_SCALAR_BINARY_rhs]));
  default:
    return tf_manifest_inexpressible(writer);
  }
}

static json_t *write_unary(tf_manifest_writer *writer, const tf_expr *call) {
  const tf_expr *x = call->call.args[TF_ARG_SCALAR_UNARY_x];
  switch ((tf_scalar_unary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i) {
  case TF_SCALAR_UNARY_NEG:
    return tf_manifest_op(writer, "sub", json_integer(0), tf_manifest_scalar(writer, x));
  case TF_SCALAR_UNARY_ABS: {
    json_t *negative = tf_manifest_op(writer, "sub", json_integer(0), tf_manifest_scalar(writer, x));
    return tf_manifest_op(writer, "max", tf_manifest_scalar(writer, x), negative);
  }
  default:
    return tf_manifest_inexpressible(writer);
  }
}

static json_t *write_call(tf_manifest_writer *writer, const tf_expr *call) {
  switch (call->call.op) {
  case TF_OP_DIM_VALUE:
    return tf_manifest_dim(writer, call->call.attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim);
  case TF_OP_SCALAR_BINARY:
    return write_binary(writer, call);
  case TF_OP_SCALAR_UNARY:
    return write_unary(writer, call);
  case TF_OP_CAST: {
    const tf_expr *x = call->call.args[TF_ARG_CAST_x];
    bool same = cast_keeps_value(tf_type_dtype(x->type), tf_type_dtype(call->type));
    return same ? tf_manifest_scalar(writer, x) : tf_manifest_inexpressible(writer);
  }
  default:
    return tf_manifest_inexpressible(writer);
  }
}

json_t *tf_manifest_scalar(tf_manifest_writer *writer, const tf_expr *scalar) {
  if (is_float(scalar) || writer->inexpressible || !writer->budget) return tf_manifest_inexpressible(writer);
  writer->budget--;
  switch (scalar->kind) {
  case TF_EXPR_CONSTANT:
    return json_integer(scalar->constant.i);
  case TF_EXPR_SHAPE_OF:
    return write_shape_of(writer, scalar);
  case TF_EXPR_VAR:
    if (scalar->var.is_param) return name_object(writer, "scalar", scalar->var.name);
    return scalar->var.value ? tf_manifest_scalar(writer, scalar->var.value) : tf_manifest_inexpressible(writer);
  case TF_EXPR_CALL:
    return write_call(writer, scalar);
  default:
    return tf_manifest_inexpressible(writer);
  }
}

/* ---- Arguments ---- */

/* Through lets to what they stand for. */
static const tf_expr *resolve(const tf_expr *expr) {
  while (expr->kind == TF_EXPR_VAR && !expr->var.is_param && expr->var.value)
    expr = expr->var.value;
  return expr;
}

static json_t *write_float(tf_manifest_writer *writer, const tf_expr *constant) {
  double value = is_float(constant) ? constant->constant.f : (double)constant->constant.i;
  const char *text = isnan(value)   ? "nan"
                     : isinf(value) ? (value < 0 ? "-inf" : "inf")
                                    : tf_arena_printf(&writer->context->arena, "%.*g", DBL_DECIMAL_DIG, value);
  return name_object(writer, "float", text);
}

static json_t *write_scalar_argument(tf_manifest_writer *writer, const tf_expr *argument, const tf_expr *param) {
  const tf_expr *value = resolve(argument);
  bool float_param = is_float(param), same = tf_type_dtype(value->type) == tf_type_dtype(param->type);
  if (value->kind == TF_EXPR_VAR && value->var.is_param && same) return name_object(writer, "param", value->var.name);
  if (float_param && value->kind == TF_EXPR_CONSTANT) return write_float(writer, value);
  if (float_param) return tf_manifest_inexpressible(writer);
  json_t *node = json_object();
  tf_manifest_put(writer, node, "int", tf_manifest_scalar(writer, value));
  return node;
}

static bool is_extent_1(const tf_dim *dim) {
  int64_t value = 0;
  return tf_dim_is_static(dim, &value) && value == 1;
}

/* Whether the viewed elements lie in C order without gaps and nothing but a start stands between them and the base. */
static bool is_c_order_window(tf_context *context, const tf_view *view) {
  if (view->address_layout || view->inner || view->clip_count || view->outer) return false;
  const tf_dim *expected = tf_dim_int(context, 1);
  for (unsigned axis = tf_type_rank(view->type); axis-- > 0;) {
    const tf_dim *extent = tf_type_extent(view->type, axis);
    if (!is_extent_1(extent) && view->strides[axis] != expected) return false;
    expected = expected ? tf_dim_binary(context, TF_DIM_MUL, expected, extent) : NULL;
  }
  return true;
}

/* Whether the window is inside of its source on each axis wherever its elements are inside of the parameter, which is what the
 * runtime asks: starts that it cannot judge are known to be good, all but the first axis' of the parameter itself. */
static bool is_judged_by_offset(tf_context *context, const tf_invocation *window) {
  tf_window_bound bounds[TF_MAX_RANK];
  unsigned count = tf_window_bounds(context, window, bounds);
  bool of_param = resolve(window->args[TF_ARG_TENSOR_VIEW_memory])->kind == TF_EXPR_VAR;
  for (unsigned i = of_param ? 1 : 0; i < count; i++) {
    const tf_dim *room = tf_dim_binary(context, TF_DIM_SUB, bounds[i].limit, bounds[i].extent);
    int64_t least, most, low, high;
    tf_expr_range(bounds[i].index, &least, &most);
    tf_dim_range(room, &low, &high);
    if (least < 0 || most > low) return false;
  }
  return true;
}

/* The windows that a tensor is made of, from the outermost on. */
static bool are_judged_by_offset(tf_context *context, const tf_expr *tensor) {
  const tf_expr *value = resolve(tensor);
  if (value->kind != TF_EXPR_CALL) return true; /* a parameter */
  tf_invocation invocation = tf_invocation_of_call(value);
  if (invocation.op == TF_OP_TENSOR_VIEW && !is_judged_by_offset(context, &invocation)) return false;
  return are_judged_by_offset(context, invocation.args[0]);
}

static json_t *window_offset(tf_manifest_writer *writer, const tf_view *view) {
  json_t *offset = tf_manifest_dim(writer, view->constant);
  for (unsigned i = 0; i < view->start_count; i++) {
    json_t *step = tf_manifest_op(writer, "mul", tf_manifest_scalar(writer, view->starts[i].index),
                                  tf_manifest_dim(writer, view->starts[i].stride));
    offset = tf_manifest_op(writer, "add", offset, step);
  }
  return offset;
}

static json_t *write_window(tf_manifest_writer *writer, const tf_expr *tensor) {
  const char *reason = NULL;
  const tf_view *view = tf_view_of(writer->context, tensor, &reason);
  if (!view || !view->base->var.is_param || !is_c_order_window(writer->context, view) ||
      !are_judged_by_offset(writer->context, tensor))
    return tf_manifest_inexpressible(writer);
  json_t *node = name_object(writer, "view", view->base->var.name), *shape = json_array();
  for (unsigned axis = 0; axis < tf_type_rank(view->type); axis++)
    tf_manifest_push(writer, shape, tf_manifest_dim(writer, tf_type_extent(view->type, axis)));
  tf_manifest_put(writer, node, "offset", window_offset(writer, view));
  tf_manifest_put(writer, node, "shape", shape);
  return node;
}

json_t *tf_manifest_argument(tf_manifest_writer *writer, const tf_expr *argument, const tf_expr *param) {
  if (tf_type_is_scalar(argument->type)) return write_scalar_argument(writer, argument, param);
  const tf_expr *tensor = resolve(argument);
  if (tensor->kind == TF_EXPR_VAR && tensor->var.is_param) {
    /* The runtime has checked its strides already, and against its own layout. */
    bool alike = tf_type_layout(tensor->type) == tf_type_layout(param->type);
    return alike ? name_object(writer, "param", tensor->var.name) : tf_manifest_inexpressible(writer);
  }
  return write_window(writer, argument);
}
