/* Expressions as text that reads back as the same expressions.
 *
 * Two things need care. Text whose operands are all known at compile time would be computed by the parser: `1 + 2` is 3. Where
 * the IR holds such an operation its first operand is written as a run-time one, DType.i64(1) + 2. And a literal has no dtype
 * of its own: one whose dtype differs from what its place would give it is written as DType.f16(0.5). */
#include "IR/KindTables.h"
#include "IR/LayoutImpl.h"
#include "IR/Text/PrintInternal.h"
#include "IR/Text/Static.h"

enum {
  PREC_LOWEST = 0,
  PREC_WHERE = 1,
  PREC_OR,
  PREC_AND,
  PREC_COMPARE = 5,
  PREC_SUM = 10,
  PREC_PRODUCT,
  PREC_UNARY,
  PREC_CALL = 100
};

static void print_expr(tf_printer *p, const tf_expr *expr, int least, tf_dtype literal);

static void open_if(tf_printer *p, bool needed) {
  if (needed) tf_string_puts(&p->out, "(");
}

static void close_if(tf_printer *p, bool needed) {
  if (needed) tf_string_puts(&p->out, ")");
}

/* ---- Literals ---- */
static bool is_float(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
}

static tf_value literal_value(const tf_expr *constant) {
  tf_dtype dtype = tf_type_dtype(constant->type);
  if (dtype == TF_DTYPE_BOOL) return tf_value_of_bool(constant->constant.i != 0);
  if (is_float(dtype)) return tf_value_of_float(constant->constant.f);
  bool is_unsigned = tf_dtype_get_class(dtype) == TF_CLASS_UINT;
  return tf_value_of_int(is_unsigned ? (tf_int128)(uint64_t)constant->constant.i : (tf_int128)constant->constant.i);
}

static bool reads_back_plain(const tf_expr *constant, tf_dtype literal) {
  tf_dtype dtype = tf_type_dtype(constant->type);
  if (dtype == TF_DTYPE_BOOL) return true;
  if (literal != TF_DTYPE_COUNT && is_float(literal) == is_float(dtype)) return dtype == literal;
  if (literal != TF_DTYPE_COUNT && is_float(literal)) return false; /* an integer would become a float */
  if (is_float(dtype)) return dtype == TF_DTYPE_F32;
  bool large = dtype == TF_DTYPE_U64 && constant->constant.i < 0; /* beyond i64 */
  return dtype == TF_DTYPE_I64 || large;
}

static void print_constant(tf_printer *p, const tf_expr *constant, int least, bool typed) {
  tf_value value = literal_value(constant);
  bool negative = (value.kind == TF_VALUE_INT && value.i < 0) ||
                  (value.kind == TF_VALUE_FLOAT && __builtin_signbit(value.f) && __builtin_isfinite(value.f));
  bool parens = !typed && negative && least > PREC_UNARY;
  if (typed) tf_string_printf(&p->out, "DType.%s(", tf_dtype_name(tf_type_dtype(constant->type)));
  open_if(p, parens);
  tf_value_append(p->context, &p->out, &value);
  close_if(p, parens || typed);
}

/* ---- Dims as run-time values ---- */
static const tf_dim *dim_of(const tf_expr *expr) {
  return expr->call.attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim;
}

/* How tightly the text of a dim binds: by its operators outside of brackets. */
static int dim_precedence(const char *text) {
  int depth = 0, least = PREC_CALL;
  for (const char *at = text; *at; at++) {
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (depth > 0) continue;
    if (*at == '+' || *at == '-') return PREC_SUM;
    if (*at == '*' || *at == '/' || *at == '%') least = PREC_PRODUCT;
  }
  return least;
}

static void print_dim(tf_printer *p, const tf_expr *expr, int least, bool run_time) {
  const char *text = tf_dim_print(p->context, dim_of(expr));
  if (run_time || tf_dim_is_static(dim_of(expr), NULL)) {
    tf_string_printf(&p->out, "T.dim_value(%s)", text);
    return;
  }
  bool parens = least > dim_precedence(text);
  open_if(p, parens);
  tf_string_puts(&p->out, text);
  close_if(p, parens);
}

/* ---- What the parser would compute ---- */
typedef enum leaf_kind { LEAF_RUN_TIME, LEAF_NUMBER, LEAF_INT, LEAF_BOOL, LEAF_DIM } leaf_kind;

/* How an operand reads. Nested operations never read as static, since each is written so that it does not. */
static leaf_kind leaf_of(const tf_expr *expr, tf_dtype literal) {
  if (expr->kind == TF_EXPR_CONSTANT) {
    tf_dtype dtype = tf_type_dtype(expr->type);
    if (!reads_back_plain(expr, literal)) return LEAF_RUN_TIME;
    return dtype == TF_DTYPE_BOOL ? LEAF_BOOL : is_float(dtype) ? LEAF_NUMBER : LEAF_INT;
  }
  bool dim = expr->kind == TF_EXPR_CALL && expr->call.op == TF_OP_DIM_VALUE && !tf_dim_is_static(dim_of(expr), NULL);
  return dim ? LEAF_DIM : LEAF_RUN_TIME;
}

static tf_value sample_value(leaf_kind leaf) {
  switch (leaf) {
  case LEAF_INT:
    return tf_value_of_int(1);
  case LEAF_NUMBER:
    return tf_value_of_float(1.0);
  case LEAF_BOOL:
    return tf_value_of_bool(true);
  default:
    return (tf_value){.kind = TF_VALUE_DIM};
  }
}

static bool computed(tf_scalar_binary_kind kind, leaf_kind a, leaf_kind b) {
  if (a == LEAF_RUN_TIME || b == LEAF_RUN_TIME) return false;
  int prec = tf_scalar_binary_precedence(kind);
  if (prec == PREC_COMPARE) return a != LEAF_DIM && b != LEAF_DIM;
  if (prec == PREC_OR || prec == PREC_AND) return a == LEAF_BOOL && b == LEAF_BOOL;
  tf_value x = sample_value(a), y = sample_value(b);
  return tf_static_binary_applies(kind, &x, &y);
}

/* A leaf so that it reads as a run-time value. */
static void print_run_time(tf_printer *p, const tf_expr *leaf, int least) {
  if (leaf->kind == TF_EXPR_CONSTANT)
    print_constant(p, leaf, least, true);
  else
    print_dim(p, leaf, least, true);
}

/* ---- Operators ---- */
/* The dtype that the parser gives a float literal beside this operand. */
static tf_dtype literal_beside(const tf_expr *other) {
  bool decides = other->kind != TF_EXPR_CONSTANT && tf_is_scalar(other) && is_float(tf_type_dtype(other->type));
  return decides ? tf_type_dtype(other->type) : TF_DTYPE_COUNT;
}

/* A literal operand of an operator: an integer stays one beside a float. */
static tf_dtype literal_for(const tf_expr *expr, const tf_expr *other) {
  bool float_literal = expr->kind == TF_EXPR_CONSTANT && is_float(tf_type_dtype(expr->type));
  return float_literal ? literal_beside(other) : TF_DTYPE_COUNT;
}

static void print_scalar_binary(tf_printer *p, const tf_expr *call, int least) {
  const tf_expr *a = call->call.args[TF_ARG_SCALAR_BINARY_lhs], *b = call->call.args[TF_ARG_SCALAR_BINARY_rhs];
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  int prec = tf_scalar_binary_precedence(kind);
  bool function = prec == PREC_CALL, parens = !function && least > prec;
  tf_dtype la = literal_for(a, b), lb = literal_for(b, a);
  int left = function ? PREC_LOWEST : prec == PREC_COMPARE ? prec + 1 : prec, right = function ? PREC_LOWEST : prec + 1;
  open_if(p, parens);
  const char *spelling = tf_scalar_binary_spelling(kind);
  if (function) tf_string_printf(&p->out, "%s%s(", tf_print_space(p, spelling), spelling);
  if (computed(kind, leaf_of(a, la), leaf_of(b, lb)))
    print_run_time(p, a, left);
  else
    print_expr(p, a, left, la);
  tf_string_printf(&p->out, function ? ", " : " %s ", tf_scalar_binary_spelling(kind));
  print_expr(p, b, right, lb);
  close_if(p, parens || function);
}

static void print_scalar_unary(tf_printer *p, const tf_expr *call, int least) {
  const tf_expr *x = call->call.args[TF_ARG_SCALAR_UNARY_x];
  tf_scalar_unary_kind kind = (tf_scalar_unary_kind)call->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i;
  int prec = tf_scalar_unary_precedence(kind);
  bool function = prec == PREC_CALL, parens = !function && least > prec;
  leaf_kind leaf = leaf_of(x, TF_DTYPE_COUNT);
  open_if(p, parens);
  if (function) tf_string_puts(&p->out, tf_print_space(p, tf_scalar_unary_spelling(kind)));
  tf_string_puts(&p->out, tf_scalar_unary_spelling(kind));
  if (function || kind == TF_SCALAR_UNARY_NOT) tf_string_puts(&p->out, function ? "(" : " ");
  bool by_parser = kind == TF_SCALAR_UNARY_NOT ? leaf == LEAF_BOOL : leaf != LEAF_RUN_TIME && leaf != LEAF_BOOL;
  if (by_parser)
    print_run_time(p, x, PREC_CALL);
  else
    print_expr(p, x, function ? PREC_LOWEST : prec, TF_DTYPE_COUNT);
  close_if(p, parens || function);
}

static void print_where(tf_printer *p, const tf_expr *call, int least) {
  const tf_expr *cond = call->call.args[TF_ARG_WHERE_cond];
  const tf_expr *a = call->call.args[TF_ARG_WHERE_a], *b = call->call.args[TF_ARG_WHERE_b];
  open_if(p, least > PREC_WHERE);
  print_expr(p, a, PREC_OR, literal_for(a, b));
  tf_string_puts(&p->out, " if ");
  if (leaf_of(cond, TF_DTYPE_COUNT) != LEAF_RUN_TIME)
    print_run_time(p, cond, PREC_OR);
  else
    print_expr(p, cond, PREC_OR, TF_DTYPE_COUNT);
  tf_string_puts(&p->out, " else ");
  print_expr(p, b, PREC_WHERE, literal_for(b, a));
  close_if(p, least > PREC_WHERE);
}

static void print_call(tf_printer *p, const tf_expr *call, int least) {
  switch (call->call.op) {
  case TF_OP_SCALAR_BINARY:
    print_scalar_binary(p, call, least);
    return;
  case TF_OP_SCALAR_UNARY:
    print_scalar_unary(p, call, least);
    return;
  case TF_OP_WHERE:
    print_where(p, call, least);
    return;
  case TF_OP_DIM_VALUE:
    print_dim(p, call, least, false);
    return;
  default: {
    tf_invocation invocation = tf_invocation_of_call(call);
    tf_print_invocation(p, &invocation, NULL);
  }
  }
}

static void print_tuple(tf_printer *p, const tf_expr *tuple) {
  tf_string_puts(&p->out, "(");
  for (unsigned i = 0; i < tuple->tuple.count; i++) {
    if (i) tf_string_puts(&p->out, ", ");
    print_expr(p, tuple->tuple.elements[i], PREC_LOWEST, TF_DTYPE_COUNT);
  }
  tf_string_puts(&p->out, tuple->tuple.count == 1 ? ",)" : ")");
}

static void print_expr(tf_printer *p, const tf_expr *expr, int least, tf_dtype literal) {
  switch (expr->kind) {
  case TF_EXPR_VAR:
    tf_string_puts(&p->out, tf_print_name(p, expr));
    return;
  case TF_EXPR_CONSTANT:
    print_constant(p, expr, least, !reads_back_plain(expr, literal));
    return;
  case TF_EXPR_CALL:
    print_call(p, expr, least);
    return;
  case TF_EXPR_SHAPE_OF:
    tf_string_printf(&p->out, "T.shape_of(%s, %u)", tf_print_name(p, expr->shape_of.param), expr->shape_of.axis);
    return;
  case TF_EXPR_SYMBOL_REF:
    tf_string_puts(&p->out, tf_print_callee(p, expr->symbol.name));
    return;
  case TF_EXPR_TUPLE:
    print_tuple(p, expr);
    return;
  }
}

void tf_print_operand(tf_printer *p, const tf_expr *expr, tf_dtype literal) {
  print_expr(p, expr, PREC_LOWEST, literal);
}

void tf_print_value(tf_printer *p, const tf_expr *expr) {
  if (leaf_of(expr, TF_DTYPE_COUNT) != LEAF_RUN_TIME)
    print_run_time(p, expr, PREC_LOWEST);
  else
    print_expr(p, expr, PREC_LOWEST, TF_DTYPE_COUNT);
}
