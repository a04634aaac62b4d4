/* Calls: of compile-time functions, ops, functions and intrinsics, and the forms with rules of their own. */
#include "IR/Text/Elaborate.h"

#include <string.h>

#include "Support/Context.h"

tf_argument *tf_eval_arguments(tf_elab *e, const tf_node *call, unsigned *count) {
  *count = call->call.arg_count + call->call.keyword_count;
  tf_argument *args = TF_ARENA_ARRAY(e->scratch, tf_argument, *count);
  for (unsigned i = 0; i < call->call.arg_count; i++) {
    const tf_node *arg = call->call.args[i];
    args[i] = (tf_argument){NULL, arg->loc, tf_eval(e, arg)};
  }
  for (unsigned i = 0; i < call->call.keyword_count; i++) {
    const tf_keyword_arg *arg = &call->call.keywords[i];
    args[call->call.arg_count + i] = (tf_argument){arg->name, arg->value->loc, tf_eval(e, arg->value)};
  }
  return args;
}

bool tf_take_loc_text(tf_elab *e, unsigned *count, tf_argument *args, const char **text) {
  for (unsigned i = 0; i < *count; i++) {
    if (!args[i].keyword || strcmp(args[i].keyword, "loc") != 0) continue;
    tf_argument arg = args[i];
    memmove(&args[i], &args[i + 1], (--*count - i) * sizeof *args);
    if (arg.value.kind == TF_VALUE_NONE) return true;
    if (arg.value.kind == TF_VALUE_STRING) {
      *text = arg.value.string;
      return true;
    }
    tf_report(e->context, arg.loc, LOC_TEXT, tf_value_describe(&arg.value));
    return false;
  }
  return true;
}

static bool has_error(unsigned count, const tf_argument *args) {
  for (unsigned i = 0; i < count; i++)
    if (args[i].value.kind == TF_VALUE_ERROR) return true;
  return false;
}

/* ---- Typed literals: DType.f16(0.5) ---- */
static bool int_fits(tf_dtype dtype, tf_int128 value) {
  unsigned bits = tf_dtype_bits(dtype);
  if (tf_dtype_get_class(dtype) == TF_CLASS_UINT) return value >= 0 && value < ((tf_int128)1 << bits);
  return value >= -((tf_int128)1 << (bits - 1)) && value < ((tf_int128)1 << (bits - 1));
}

static tf_value typed_literal(tf_elab *e, tf_dtype dtype, tf_loc loc, unsigned count, const tf_argument *args) {
  const tf_value *value = count == 1 && !args[0].keyword ? &args[0].value : NULL;
  tf_dtype_class class = tf_dtype_get_class(dtype);
  if (value && value->kind == TF_VALUE_BOOL && class == TF_CLASS_BOOL)
    return tf_value_of_expr(tf_expr_int(e->context, dtype, value->b, loc));
  bool is_int = value && value->kind == TF_VALUE_INT;
  if (class == TF_CLASS_FLOAT && value && (is_int || value->kind == TF_VALUE_FLOAT))
    return tf_value_of_expr(tf_expr_float(e->context, dtype, is_int ? (double)value->i : value->f, loc));
  if (class != TF_CLASS_FLOAT && class != TF_CLASS_BOOL && is_int && int_fits(dtype, value->i))
    return tf_value_of_expr(tf_expr_int(e->context, dtype, (int64_t)(uint64_t)value->i, loc));
  if (!has_error(count, args)) tf_report(e->context, loc, TYPED_LITERAL, tf_dtype_name(dtype));
  return TF_VALUE_OF_ERROR;
}

/* ---- T.shape_of ---- */
static tf_value shape_of(tf_elab *e, const tf_call_site *site, unsigned count, const tf_argument *args) {
  int64_t axis;
  if (has_error(count, args)) return TF_VALUE_OF_ERROR;
  const tf_expr *param = count == 2 && args[0].value.kind == TF_VALUE_EXPR ? args[0].value.expr : NULL;
  while (param && param->kind == TF_EXPR_VAR && param->var.value) /* y = x */
    param = param->var.value;
  if (!param || param->kind != TF_EXPR_VAR || !param->var.is_param) {
    tf_report(e->context, site->loc, SHAPE_OF_PARAM);
    return TF_VALUE_OF_ERROR;
  }
  if (tf_value_int64(&args[1].value, &axis) && axis >= 0 && axis < (int64_t)tf_type_rank(param->type))
    return tf_value_of_expr(tf_expr_shape_of(e->context, param, (unsigned)axis, site->loc));
  tf_report(e->context, args[1].loc, SHAPE_OF_AXIS, param->var.name, tf_type_rank(param->type));
  return TF_VALUE_OF_ERROR;
}

/* ---- Calls that stand for a value ---- */
/* Why no let can go before the statement here; null if it can. */
static const char *hoist_fault(const tf_elab *e, tf_op op) {
  if (!e->block) return "outside of a function";
  if (op == TF_OP_ALLOC_TENSOR) return "inside an expression: bind it to a name of its own";
  return e->no_hoist;
}

static tf_value value_call(tf_elab *e, tf_op op, const tf_call_site *site, unsigned count, const tf_argument *args,
                           const char **text) {
  const char *own_text = NULL;
  if (tf_op_get_info(op)->form == TF_FORM_EFFECT) {
    tf_report(e->context, site->loc, EFFECT_AS_VALUE, site->name);
    return TF_VALUE_OF_ERROR;
  }
  if (!e->block) {
    tf_report(e->context, site->loc, OUTSIDE_FUNCTION, site->name);
    return TF_VALUE_OF_ERROR;
  }
  tf_value value = tf_op_call(e, op, site, count, args, text ? text : &own_text);
  if (text || value.kind != TF_VALUE_EXPR || tf_op_get_info(op)->form != TF_FORM_VALUE) return value;
  const char *fault = hoist_fault(e, op);
  if (fault) {
    tf_report(e->context, site->loc, VALUE_OP_NESTED, site->name, fault);
    return TF_VALUE_OF_ERROR;
  }
  const tf_expr *var = tf_expr_let_var(e->context, "v", value.expr, site->loc);
  tf_block_let(e->block, var, value.expr, (tf_place){site->loc, own_text});
  return tf_value_of_expr(var);
}

static tf_value special_call(tf_elab *e, tf_special special, const tf_call_site *site, unsigned count,
                             const tf_argument *args) {
  switch (special) {
  case TF_SPECIAL_MIN:
  case TF_SPECIAL_MAX:
  case TF_SPECIAL_DIM_MIN:
  case TF_SPECIAL_DIM_MAX:
  case TF_SPECIAL_CEILDIV:
  case TF_SPECIAL_ABS:
  case TF_SPECIAL_LEN:
    return tf_eval_math(e, special, site, count, args);
  case TF_SPECIAL_SHAPE_OF:
    return shape_of(e, site, count, args);
  case TF_SPECIAL_TENSOR:
  case TF_SPECIAL_CONST_TENSOR:
    tf_report(e->context, site->loc, TENSOR_FORM);
    return TF_VALUE_OF_ERROR;
  default:
    tf_report(e->context, site->loc, EFFECT_AS_VALUE, site->name);
    return TF_VALUE_OF_ERROR;
  }
}

tf_value tf_eval_call(tf_elab *e, const tf_node *call, const char **text) {
  tf_value callee = tf_eval(e, call->call.callee);
  unsigned count;
  tf_argument *args = tf_eval_arguments(e, call, &count);
  if (callee.kind == TF_VALUE_ERROR) return callee;
  if (callee.kind == TF_VALUE_DTYPE) return typed_literal(e, callee.dtype, call->loc, count, args);
  if (callee.kind == TF_VALUE_PATH) {
    tf_name name = tf_name_resolve(e->context, callee.path);
    tf_call_site site = {e->context, callee.path, call->loc};
    if (name.kind == TF_NAME_BUILTIN) return tf_builtin_call(name.index, &site, count, args);
    if (name.kind == TF_NAME_SPECIAL) return special_call(e, (tf_special)name.index, &site, count, args);
    if (name.kind == TF_NAME_OP) return value_call(e, (tf_op)name.index, &site, count, args, text);
  }
  if (callee.kind == TF_VALUE_FUNCTION)
    tf_report(e->context, call->loc, EFFECT_AS_VALUE, callee.function->name);
  else if (callee.kind == TF_VALUE_INTRINSIC)
    tf_report(e->context, call->loc, EFFECT_AS_VALUE, callee.intrinsic->name);
  else
    tf_report(e->context, call->call.callee->loc, NOT_CALLABLE, tf_value_describe(&callee));
  return TF_VALUE_OF_ERROR;
}

/* ---- Calls of functions and intrinsics ---- */
const tf_expr *tf_function_argument(tf_elab *e, const tf_argument *arg, const tf_type *type) {
  const tf_value *value = &arg->value;
  bool number = value->kind == TF_VALUE_INT || value->kind == TF_VALUE_FLOAT;
  if (type && number && tf_type_is_scalar(type)) {
    tf_dtype dtype = tf_type_dtype(type);
    tf_dtype_class class = tf_dtype_get_class(dtype);
    if (class == TF_CLASS_FLOAT)
      return tf_expr_float(e->context, dtype, value->kind == TF_VALUE_INT ? (double)value->i : value->f, arg->loc);
    if (class != TF_CLASS_BOOL && value->kind == TF_VALUE_INT && int_fits(dtype, value->i))
      return tf_expr_int(e->context, dtype, (int64_t)(uint64_t)value->i, arg->loc);
  }
  return tf_as_operand(e, value, arg->loc);
}

static bool no_keywords(tf_elab *e, const char *name, unsigned count, const tf_argument *args) {
  for (unsigned i = 0; i < count; i++) {
    if (!args[i].keyword) continue;
    tf_report(e->context, args[i].loc, CALL_KEYWORD, name, args[i].keyword, ": arguments stand in order");
    return false;
  }
  return true;
}

/* Arguments by name, of a function or intrinsic with these parameters, at the parameters' places. Those by position stand
 * before them; without any name the count is the caller's business. */
static bool place_keywords(tf_elab *e, const tf_call_site *site, unsigned param_count, const char *const *params,
                           unsigned *count, tf_argument **args) {
  unsigned first = 0;
  while (first < *count && !(*args)[first].keyword)
    first++;
  if (first == *count) return true;
  tf_argument *placed = TF_ARENA_ARRAY(e->scratch, tf_argument, param_count + 1);
  bool *given = TF_ARENA_ARRAY(e->scratch, bool, param_count + 1);
  for (unsigned i = 0; i < *count; i++) {
    const tf_argument *arg = &(*args)[i];
    unsigned at = arg->keyword ? 0 : i;
    while (at < param_count && arg->keyword && strcmp(params[at], arg->keyword) != 0)
      at++;
    if (at >= param_count || given[at]) {
      if (at < param_count)
        tf_report(e->context, arg->loc, CALL_TWICE, site->name, params[at]);
      else if (arg->keyword)
        tf_report(e->context, arg->loc, CALL_KEYWORD, site->name, arg->keyword,
                  tf_takes_text(e->context, param_count, params));
      else
        tf_report(e->context, site->loc, CALL_COUNT, site->name, "", param_count, *count);
      return false;
    }
    placed[at] = *arg;
    given[at] = true;
  }
  for (unsigned i = 0; i < param_count; i++)
    if (!given[i]) {
      tf_report(e->context, site->loc, CALL_MISSING, site->name, params[i]);
      return false;
    }
  *count = param_count;
  *args = placed;
  return true;
}

static bool place_of_function(tf_elab *e, const tf_function_decl *callee, tf_loc loc, unsigned *count,
                              tf_argument **args) {
  const char **names = TF_ARENA_ARRAY(e->scratch, const char *, callee->param_count);
  for (unsigned i = 0; i < callee->param_count; i++)
    names[i] = callee->params[i]->var.name;
  return place_keywords(e, &(tf_call_site){e->context, callee->name, loc}, callee->param_count, names, count, args);
}

static bool place_of_intrinsic(tf_elab *e, const tf_intrinsic *decl, tf_loc loc, unsigned *count, tf_argument **args) {
  const char **names = TF_ARENA_ARRAY(e->scratch, const char *, decl->param_count);
  for (unsigned i = 0; i < decl->param_count; i++)
    names[i] = decl->params[i].name;
  return place_keywords(e, &(tf_call_site){e->context, decl->name, loc}, decl->param_count, names, count, args);
}

static const tf_stmt *call_function(tf_elab *e, const tf_function_decl *callee, tf_loc loc, unsigned count,
                                    tf_argument *args) {
  const char *text = NULL;
  if (has_error(count, args) || !tf_take_loc_text(e, &count, args, &text)) return NULL;
  if (!callee->type || !place_of_function(e, callee, loc, &count, &args)) return NULL;
  const tf_expr **exprs = TF_ARENA_ARRAY(e->scratch, const tf_expr *, count);
  for (unsigned i = 0; i < count; i++) {
    const tf_type *type = i < callee->param_count ? tf_type_element(callee->type, i) : NULL;
    if (!(exprs[i] = tf_function_argument(e, &args[i], type))) return NULL;
  }
  const tf_expr *symbol = tf_expr_symbol(e->context, callee->name, callee->type, loc);
  return tf_stmt_call(e->context, symbol, count, exprs, (tf_place){loc, text});
}

const tf_stmt *tf_function_call(tf_elab *e, const tf_node *call) {
  if (call->kind != TF_NODE_CALL) {
    if (call->kind != TF_NODE_ERROR) tf_report(e->context, call->loc, DISPATCH_CASE_CALL);
    return NULL;
  }
  tf_value callee = tf_eval(e, call->call.callee);
  unsigned count;
  tf_argument *args = tf_eval_arguments(e, call, &count);
  if (callee.kind == TF_VALUE_FUNCTION) return call_function(e, callee.function, call->loc, count, args);
  if (callee.kind != TF_VALUE_ERROR) tf_report(e->context, call->loc, DISPATCH_CASE_CALL);
  return NULL;
}

/* An intrinsic that the text need not declare belongs to the module by being called. */
static void mark_used(tf_elab *e, const tf_intrinsic *decl) {
  for (size_t i = 0; i < e->options->intrinsic_count; i++)
    if (e->options->intrinsics[i] == decl) e->intrinsic_used[i] = true;
}

static void call_intrinsic(tf_elab *e, const tf_intrinsic *decl, tf_loc loc, unsigned count, tf_argument *args) {
  const char *text = NULL;
  if (has_error(count, args) || !tf_take_loc_text(e, &count, args, &text)) return;
  if (!place_of_intrinsic(e, decl, loc, &count, &args)) return;
  if (count != decl->param_count) {
    tf_report(e->context, loc, CALL_COUNT, decl->name, "", decl->param_count, count);
    return;
  }
  const tf_expr **exprs = TF_ARENA_ARRAY(e->scratch, const tf_expr *, count);
  for (unsigned i = 0; i < count; i++)
    if (!(exprs[i] = tf_as_operand(e, &args[i].value, args[i].loc))) return;
  mark_used(e, decl);
  tf_block_add(e->block, tf_stmt_intrinsic(e->context, decl, count, exprs, (tf_place){loc, text}));
}

/* ---- Calls that stand as statements ---- */
static void abort_statement(tf_elab *e, const tf_call_site *site, unsigned count, tf_argument *args) {
  const char *text = NULL, *message = "";
  if (has_error(count, args) || !tf_take_loc_text(e, &count, args, &text) || !no_keywords(e, site->name, count, args))
    return;
  if (count > 1 || (count == 1 && args[0].value.kind != TF_VALUE_STRING)) {
    tf_report(e->context, site->loc, ABORT_MESSAGE);
    return;
  }
  if (count) message = args[0].value.string;
  tf_block_add(e->block, tf_stmt_abort(e->context, message, (tf_place){site->loc, text}));
}

static void op_statement(tf_elab *e, tf_op op, const tf_call_site *site, unsigned count, const tf_argument *args) {
  const char *text = NULL;
  if (op == TF_OP_LAUNCH)
    tf_launch_statement(e, site, count, args);
  else if (tf_op_get_info(op)->form == TF_FORM_EFFECT)
    (void)tf_op_call(e, op, site, count, args, &text);
  else
    tf_report(e->context, site->loc, VALUE_UNUSED, site->name);
}

static void path_statement(tf_elab *e, const char *path, const tf_node *call, unsigned count, tf_argument *args) {
  tf_name name = tf_name_resolve(e->context, path);
  tf_call_site site = {e->context, path, call->loc};
  if (name.kind == TF_NAME_OP)
    op_statement(e, (tf_op)name.index, &site, count, args);
  else if (name.kind == TF_NAME_SPECIAL && name.index == TF_SPECIAL_ABORT)
    abort_statement(e, &site, count, args);
  else if (name.kind == TF_NAME_SPECIAL && name.index == TF_SPECIAL_STORE)
    tf_store_statement(e, &site, count, args);
  else if (name.kind == TF_NAME_SPECIAL || name.kind == TF_NAME_BUILTIN)
    tf_report(e->context, call->loc, VALUE_UNUSED, path);
  else
    tf_report(e->context, call->call.callee->loc, NOT_CALLABLE, "a namespace");
}

void tf_call_statement(tf_elab *e, const tf_node *call) {
  tf_value callee = tf_eval(e, call->call.callee);
  unsigned count;
  tf_argument *args = tf_eval_arguments(e, call, &count);
  switch (callee.kind) {
  case TF_VALUE_ERROR:
    return;
  case TF_VALUE_FUNCTION: {
    const tf_stmt *stmt = call_function(e, callee.function, call->loc, count, args);
    if (stmt) tf_block_add(e->block, stmt);
    return;
  }
  case TF_VALUE_INTRINSIC:
    call_intrinsic(e, callee.intrinsic, call->loc, count, args);
    return;
  case TF_VALUE_PATH:
    path_statement(e, callee.path, call, count, args);
    return;
  default:
    tf_report(e->context, call->call.callee->loc, NOT_CALLABLE, tf_value_describe(&callee));
  }
}
