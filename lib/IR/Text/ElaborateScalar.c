/* Scalar expressions: static where all operands are, else calls of scalar ops. */
#include "IR/Text/Elaborate.h"

#include "IR/KindTables.h"
#include "Support/Context.h"

static tf_value error(void) {
  return TF_VALUE_OF_ERROR;
}

static tf_value call(tf_elab *e, tf_op op, unsigned count, const tf_expr *const *args, int64_t kind, tf_loc loc) {
  tf_attr attr = {.i = kind};
  for (unsigned i = 0; i < count; i++)
    if (!args[i]) return error();
  return tf_value_of_expr(tf_expr_call(e->context, op, count, args, &attr, loc));
}

static bool may_be_operand(const tf_value *v) {
  return v->kind == TF_VALUE_EXPR || v->kind == TF_VALUE_INT || v->kind == TF_VALUE_FLOAT || v->kind == TF_VALUE_BOOL ||
         v->kind == TF_VALUE_DIM;
}

static tf_value refuse_operands(tf_elab *e, const char *spelling, const tf_value *a, const tf_value *b, tf_loc loc) {
  tf_report(e->context, loc, OPERATOR_OPERANDS, spelling, tf_value_describe(a), tf_value_describe(b));
  return error();
}

tf_value tf_scalar_binary(tf_elab *e, unsigned op, const tf_value *a, const tf_value *b, tf_loc loc) {
  if (a->kind == TF_VALUE_ERROR || b->kind == TF_VALUE_ERROR) return error();
  if (tf_static_binary_applies(op, a, b)) return tf_static_binary(e->context, op, a, b, loc);
  /* Bools with bools or numbers, and dims beside floats: the result exists at run time only, if at all. */
  bool run_time =
      a->kind == TF_VALUE_EXPR || b->kind == TF_VALUE_EXPR || a->kind == TF_VALUE_DIM || b->kind == TF_VALUE_DIM;
  if (!run_time || !may_be_operand(a) || !may_be_operand(b) || op >= TF_SCALAR_BINARY_COUNT)
    return refuse_operands(e, tf_binary_op_spelling(op), a, b, loc);
  const tf_expr *args[] = {tf_as_operand(e, a, loc), tf_as_operand(e, b, loc)};
  return call(e, TF_OP_SCALAR_BINARY, 2, args, op, loc);
}

static tf_value unary(tf_elab *e, tf_scalar_unary_kind kind, const tf_value *x, tf_loc loc) {
  if (x->kind == TF_VALUE_ERROR) return error();
  if (!may_be_operand(x)) {
    tf_report(e->context, loc, OPERATOR_OPERAND, tf_scalar_unary_spelling(kind), tf_value_describe(x));
    return error();
  }
  const tf_expr *arg = tf_as_operand(e, x, loc);
  return call(e, TF_OP_SCALAR_UNARY, 1, &arg, kind, loc);
}

/* Where conditions must be decided: a part that is not. NONE stands for it. */
static bool is_open(const tf_elab *e, const tf_value *v) {
  return e->deciding && v->kind != TF_VALUE_BOOL && v->kind != TF_VALUE_ERROR;
}

tf_value tf_eval_unary(tf_elab *e, const tf_node *node) {
  tf_value x = tf_eval(e, node->binary.right), out;
  tf_unary_op op = (tf_unary_op)node->op;
  if (x.kind == TF_VALUE_ERROR) return x;
  if (op == TF_UNARY_OP_NOT) {
    if (x.kind == TF_VALUE_BOOL) return tf_value_of_bool(!x.b);
    if (is_open(e, &x)) return TF_VALUE_OF_NONE;
    return unary(e, TF_SCALAR_UNARY_NOT, &x, node->loc);
  }
  if (tf_static_unary(e->context, op, &x, node->loc, &out)) return out;
  if (op == TF_UNARY_OP_NEG) return unary(e, TF_SCALAR_UNARY_NEG, &x, node->loc);
  if (op == TF_UNARY_OP_POS && x.kind == TF_VALUE_EXPR && tf_is_scalar(x.expr)) return x;
  tf_report(e->context, node->loc, OPERATOR_OPERAND, op == TF_UNARY_OP_POS ? "+" : "~", tf_value_describe(&x));
  return error();
}

/* ---- Conditionally evaluated operands ---- */
static tf_value eval_conditional(tf_elab *e, const tf_node *node, const char *why) {
  const char *outer = e->no_hoist;
  e->no_hoist = why;
  tf_value value = tf_eval(e, node);
  e->no_hoist = outer;
  return value;
}

static const char conditional[] = "inside an operand that is evaluated conditionally";

/* `a and b`: static while all operands are; an undecided one is an error where conditions must be decided. */
tf_value tf_eval_logic(tf_elab *e, const tf_node *node) {
  bool is_or = node->kind == TF_NODE_OR;
  tf_scalar_binary_kind kind = is_or ? TF_SCALAR_BINARY_OR : TF_SCALAR_BINARY_AND;
  tf_value result = tf_eval(e, node->list.items[0]);
  for (unsigned i = 1; i < node->list.count; i++) {
    if (e->deciding && result.kind == TF_VALUE_BOOL && result.b == is_or) return result; /* the rest is not looked at */
    tf_value next = eval_conditional(e, node->list.items[i], conditional);
    if (result.kind == TF_VALUE_ERROR || next.kind == TF_VALUE_ERROR) {
      result = error();
    } else if (is_open(e, &result) || is_open(e, &next)) {
      result = TF_VALUE_OF_NONE;
    } else if (result.kind == TF_VALUE_BOOL && next.kind == TF_VALUE_BOOL) {
      result = tf_value_of_bool(is_or ? result.b || next.b : result.b && next.b);
    } else if (may_be_operand(&result) && may_be_operand(&next)) {
      const tf_expr *args[] = {tf_as_operand(e, &result, node->list.items[i - 1]->loc),
                               tf_as_operand(e, &next, node->list.items[i]->loc)};
      result = call(e, TF_OP_SCALAR_BINARY, 2, args, kind, node->loc);
    } else {
      result = refuse_operands(e, is_or ? "or" : "and", &result, &next, node->loc);
    }
  }
  return result;
}

/* ---- Comparisons ---- */
static tf_value compare(tf_elab *e, unsigned op, const tf_value *a, const tf_value *b, tf_loc loc) {
  if (a->kind == TF_VALUE_ERROR || b->kind == TF_VALUE_ERROR) return error();
  bool is_static = tf_value_is_static(a) && tf_value_is_static(b);
  tf_compare_result result = is_static ? tf_static_compare(e->context, op, a, b) : TF_COMPARE_UNKNOWN;
  bool open_dims = (a->kind == TF_VALUE_DIM || b->kind == TF_VALUE_DIM) && may_be_operand(a) && may_be_operand(b);
  if (open_dims && !e->deciding)
    result = TF_COMPARE_UNKNOWN; /* a run-time condition, also where bounds would decide it */
  if (e->deciding && (!is_static || result == TF_COMPARE_UNKNOWN)) return TF_VALUE_OF_NONE;
  if (result == TF_COMPARE_TRUE || result == TF_COMPARE_FALSE) return tf_value_of_bool(result == TF_COMPARE_TRUE);
  bool possible = may_be_operand(a) && may_be_operand(b) && op < TF_SCALAR_BINARY_COUNT && result != TF_COMPARE_NONE;
  if (!possible) return refuse_operands(e, tf_binary_op_spelling(op), a, b, loc);
  const tf_expr *args[] = {tf_as_operand(e, a, loc), tf_as_operand(e, b, loc)};
  return call(e, TF_OP_SCALAR_BINARY, 2, args, op, loc);
}

#define MAX_REPEATED 64

/* Nodes of an expression as a tree, counted up to a limit. */
static unsigned count_nodes(const tf_expr *expr, unsigned limit) {
  unsigned count = 1;
  for (unsigned i = 0; expr->kind == TF_EXPR_CALL && i < expr->call.arg_count && count < limit; i++)
    if (expr->call.args[i]) count += count_nodes(expr->call.args[i], limit - count);
  return count;
}

/* The middle operand of a chain stands in two comparisons. A large one gets a name, so that chains inside of chains do not
 * double with every level. */
static tf_value repeatable(tf_elab *e, tf_value value, tf_loc loc) {
  if (value.kind != TF_VALUE_EXPR || count_nodes(value.expr, MAX_REPEATED) < MAX_REPEATED) return value;
  if (e->no_hoist || !e->block) {
    tf_report(e->context, loc, CHAIN_OPERAND);
    return error();
  }
  const tf_expr *var = tf_expr_let_var(e->context, "c", value.expr, loc);
  tf_block_let(e->block, var, value.expr, (tf_place){loc, NULL});
  return tf_value_of_expr(var);
}

tf_value tf_eval_compare(tf_elab *e, const tf_node *node) {
  unsigned count = node->compare.count;
  tf_value left = tf_eval(e, node->compare.operands[0]), result = error();
  for (unsigned i = 1; i < count; i++) {
    const tf_node *operand = node->compare.operands[i];
    tf_value right = i == 1 ? tf_eval(e, operand) : eval_conditional(e, operand, conditional);
    if (i + 1 < count) right = repeatable(e, right, operand->loc);
    tf_value link = compare(e, node->compare.ops[i - 1], &left, &right, node->loc);
    if (i == 1) {
      result = link;
    } else if (result.kind == TF_VALUE_BOOL && link.kind == TF_VALUE_BOOL) {
      result = tf_value_of_bool(result.b && link.b);
    } else if (result.kind == TF_VALUE_ERROR || link.kind == TF_VALUE_ERROR) {
      result = error();
    } else if (is_open(e, &result) || is_open(e, &link)) {
      result = TF_VALUE_OF_NONE;
    } else {
      const tf_expr *args[] = {tf_as_operand(e, &result, node->loc), tf_as_operand(e, &link, node->loc)};
      result = call(e, TF_OP_SCALAR_BINARY, 2, args, TF_SCALAR_BINARY_AND, node->loc);
    }
    left = right;
  }
  return result;
}

/* `a if c else b`: a condition known at compile time chooses among values of any kind. */
tf_value tf_eval_if_exp(tf_elab *e, const tf_node *node) {
  tf_value test = tf_eval(e, node->if_exp.test);
  if (test.kind == TF_VALUE_BOOL) return tf_eval(e, test.b ? node->if_exp.then : node->if_exp.otherwise);
  tf_value a = eval_conditional(e, node->if_exp.then, conditional);
  tf_value b = eval_conditional(e, node->if_exp.otherwise, conditional);
  if (test.kind == TF_VALUE_ERROR || a.kind == TF_VALUE_ERROR || b.kind == TF_VALUE_ERROR) return error();
  if (test.kind != TF_VALUE_EXPR || !may_be_operand(&a) || !may_be_operand(&b))
    return refuse_operands(e, "if … else", &a, test.kind != TF_VALUE_EXPR ? &test : &b, node->loc);
  const tf_expr *args[] = {test.expr, tf_as_operand(e, &a, node->if_exp.then->loc),
                           tf_as_operand(e, &b, node->if_exp.otherwise->loc)};
  return call(e, TF_OP_WHERE, 3, args, 0, node->loc);
}

/* ---- min, max, abs, ceildiv ---- */
static tf_value fold(tf_elab *e, tf_scalar_binary_kind kind, const tf_call_site *site, unsigned count,
                     const tf_argument *args) {
  tf_value result = args[0].value;
  for (unsigned i = 1; i < count; i++)
    result = tf_scalar_binary(e, kind, &result, &args[i].value, site->loc);
  return result;
}

/* ceildiv(a, b) is -(-a // b), and for dims an operation of its own. */
static tf_value ceildiv(tf_elab *e, const tf_value *a, const tf_value *b, tf_loc loc) {
  if (a->kind == TF_VALUE_ERROR || b->kind == TF_VALUE_ERROR) return error();
  if (a->kind == TF_VALUE_FLOAT || b->kind == TF_VALUE_FLOAT) return refuse_operands(e, "ceildiv", a, b, loc);
  bool dims =
      (a->kind == TF_VALUE_DIM || b->kind == TF_VALUE_DIM) && a->kind != TF_VALUE_EXPR && b->kind != TF_VALUE_EXPR;
  const tf_dim *x = dims ? tf_value_dim(e->context, a) : NULL, *y = dims ? tf_value_dim(e->context, b) : NULL;
  if (x && y) {
    const tf_dim *quotient = tf_dim_binary(e->context, TF_DIM_CEIL_DIV, x, y);
    if (quotient) return tf_value_of_dim(quotient);
    tf_report(e->context, loc, STATIC_DIM);
    return error();
  }
  tf_value minus, quotient, out;
  if (!tf_static_unary(e->context, TF_UNARY_OP_NEG, a, loc, &minus)) minus = unary(e, TF_SCALAR_UNARY_NEG, a, loc);
  quotient = tf_scalar_binary(e, TF_SCALAR_BINARY_FLOOR_DIV, &minus, b, loc);
  if (quotient.kind == TF_VALUE_ERROR) return quotient;
  if (tf_static_unary(e->context, TF_UNARY_OP_NEG, &quotient, loc, &out)) return out;
  return unary(e, TF_SCALAR_UNARY_NEG, &quotient, loc);
}

static tf_value absolute(tf_elab *e, const tf_value *x, tf_loc loc) {
  if (x->kind == TF_VALUE_FLOAT) return tf_value_of_float(__builtin_fabs(x->f));
  if (x->kind == TF_VALUE_INT) return tf_value_of_int(x->i < 0 ? -x->i : x->i);
  return unary(e, TF_SCALAR_UNARY_ABS, x, loc);
}

static tf_value length(tf_elab *e, const tf_value *x, tf_loc loc) {
  if (x->kind == TF_VALUE_LIST) return tf_value_of_int(x->list.count);
  if (x->kind == TF_VALUE_STRING) return tf_value_of_int((tf_int128)__builtin_strlen(x->string));
  if (x->kind != TF_VALUE_ERROR) tf_report(e->context, loc, OPERATOR_OPERAND, "len", tf_value_describe(x));
  return error();
}

tf_value tf_eval_math(tf_elab *e, tf_special special, const tf_call_site *site, unsigned count,
                      const tf_argument *args) {
  unsigned least = special == TF_SPECIAL_ABS || special == TF_SPECIAL_LEN ? 1 : 2;
  bool any = special != TF_SPECIAL_CEILDIV && least == 2;
  for (unsigned i = 0; i < count; i++)
    if (args[i].keyword) {
      tf_report(e->context, args[i].loc, CALL_KEYWORD, site->name, args[i].keyword, ": arguments stand in order");
      return error();
    }
  if (count < least || (count > least && !any)) {
    tf_report(e->context, site->loc, CALL_COUNT, site->name, any ? "at least " : "", least, count);
    return error();
  }
  switch (special) {
  case TF_SPECIAL_MIN:
  case TF_SPECIAL_DIM_MIN:
    return fold(e, TF_SCALAR_BINARY_MIN, site, count, args);
  case TF_SPECIAL_MAX:
  case TF_SPECIAL_DIM_MAX:
    return fold(e, TF_SCALAR_BINARY_MAX, site, count, args);
  case TF_SPECIAL_CEILDIV:
    return ceildiv(e, &args[0].value, &args[1].value, site->loc);
  case TF_SPECIAL_ABS:
    return absolute(e, &args[0].value, site->loc);
  default:
    return length(e, &args[0].value, site->loc);
  }
}
