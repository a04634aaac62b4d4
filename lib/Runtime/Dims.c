/* The evaluator is a fold over the operands with one checked step per operator; the solver runs the plan that the
 * manifest reader made, then compares every axis of every tensor. */
#include "Runtime/Dims.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXTENT_LIMIT INT32_MAX

tf_status tf_why_set(const tf_why *why, tf_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why->text, why->size, format, args);
  va_end(args);
  return status;
}

/* ---- Evaluation -------------------------------------------------------------------------------------------------- */

static const char overflow[] = "the arithmetic overflows 64 bits";

static const char *floor_div(int64_t a, int64_t b, int64_t *quotient, int64_t *rest) {
  if (b == 0) return "division by zero";
  if (a == INT64_MIN && b == -1) return overflow;
  int64_t q = a / b, r = a % b;
  bool down = r != 0 && (r < 0) != (b < 0);
  *quotient = down ? q - 1 : q;
  *rest = down ? r + b : r;
  return NULL;
}

static const char *step(tf_mop op, int64_t a, int64_t b, int64_t *out) {
  int64_t rest = 0;
  const char *why;
  switch (op) {
  case TF_MOP_ADD:
    return __builtin_add_overflow(a, b, out) ? overflow : NULL;
  case TF_MOP_SUB:
    return __builtin_sub_overflow(a, b, out) ? overflow : NULL;
  case TF_MOP_MUL:
    return __builtin_mul_overflow(a, b, out) ? overflow : NULL;
  case TF_MOP_FLOOR_DIV:
    return floor_div(a, b, out, &rest);
  case TF_MOP_MOD:
    return floor_div(a, b == -1 ? 1 : b, &rest, out);
  case TF_MOP_CEIL_DIV:
    why = floor_div(a, b, out, &rest);
    return why ? why : rest != 0 && __builtin_add_overflow(*out, 1, out) ? overflow : NULL;
  case TF_MOP_MIN:
    *out = a < b ? a : b;
    return NULL;
  case TF_MOP_MAX:
    *out = a > b ? a : b;
    return NULL;
  default:
    return "not an operator";
  }
}

const char *tf_mexpr_eval_rest(const tf_mexpr *expr, const tf_menv *env, int64_t *out) {
  if (expr->op == TF_MOP_EXTENT) {
    const int64_t *shape = env->values[expr->index].tensor.shape;
    if (!shape) return "the extent of a tensor that is not there";
    *out = shape[expr->axis];
    return NULL;
  }
  if (expr->op == TF_MOP_SCALAR) {
    *out = tf_element_integer(expr->element, env->values[expr->index].bits);
    return NULL;
  }
  int64_t value = 0;
  const char *why = tf_mexpr_eval(&expr->args[0], env, &value);
  for (unsigned i = 1; i < expr->arg_count && !why; i++) {
    int64_t operand;
    why = tf_mexpr_eval(&expr->args[i], env, &operand);
    if (!why) why = step(expr->op, value, operand, &value);
  }
  if (!why) *out = value;
  return why;
}

bool tf_mexpr_is_multiple(const tf_mexpr *expr, unsigned *dim, int64_t *factor) {
  const tf_mexpr *var = expr;
  *factor = 1;
  if (expr->op == TF_MOP_MUL && expr->arg_count == 2) {
    bool first = expr->args[0].op == TF_MOP_CONST;
    const tf_mexpr *c = &expr->args[first ? 0 : 1];
    var = &expr->args[first ? 1 : 0];
    if (c->op != TF_MOP_CONST || c->value <= 0) return false;
    *factor = c->value;
  }
  *dim = var->index;
  return var->op == TF_MOP_VAR;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const char *const spellings[] = {
#define TF_MANIFEST_OP(ENUM, NAME, PAIR, SPELLING) [TF_MOP_##ENUM] = SPELLING,
#include "Runtime/ManifestOps.def"
};

typedef struct text_end {
  char *at;
  size_t room;
} text_end;

static void put(text_end *t, const char *text) {
  size_t n = strlen(text);
  if (n >= t->room) n = t->room - 1;
  memcpy(t->at, text, n);
  t->at[n] = '\0';
  t->at += n;
  t->room -= n;
}

static void put_int(text_end *t, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, value);
  put(t, digits);
}

static void put_expr(const tf_manifest *m, const tf_msignature *s, const tf_mexpr *e, text_end *t, bool nested);

static void put_operands(const tf_manifest *m, const tf_msignature *s, const tf_mexpr *e, text_end *t) {
  const char *spelling = spellings[e->op];
  bool call = e->op >= TF_MOP_CEIL_DIV;
  if (call) put(t, spelling);
  if (call) put(t, "(");
  for (unsigned i = 0; i < e->arg_count; i++) {
    if (i && !call && e->op != TF_MOP_MUL) put(t, " ");
    if (i) put(t, call ? "," : spelling);
    if (i && e->op != TF_MOP_MUL) put(t, " ");
    put_expr(m, s, &e->args[i], t, !call);
  }
  if (call) put(t, ")");
}

static void put_expr(const tf_manifest *m, const tf_msignature *s, const tf_mexpr *e, text_end *t, bool nested) {
  switch (e->op) {
  case TF_MOP_CONST:
    put_int(t, e->value);
    return;
  case TF_MOP_VAR:
    put(t, m->dims[e->index].name);
    return;
  case TF_MOP_SCALAR:
    put(t, s->params[e->index].name);
    return;
  case TF_MOP_EXTENT:
    put(t, "shape_of(");
    put(t, s->params[e->index].name);
    put(t, ", ");
    put_int(t, e->axis);
    put(t, ")");
    return;
  default:
    break;
  }
  bool parens = nested && e->op < TF_MOP_CEIL_DIV;
  if (parens) put(t, "(");
  put_operands(m, s, e, t);
  if (parens) put(t, ")");
}

void tf_mexpr_format(const tf_manifest *manifest, const tf_msignature *signature, const tf_mexpr *expr, char *text,
                     size_t size) {
  text_end t = {.at = text, .room = size};
  *text = '\0';
  put_expr(manifest, signature, expr, &t, false);
}

/* ---- Solving ----------------------------------------------------------------------------------------------------- */

static bool is_extent(int64_t extent) {
  return extent >= 0 && extent <= EXTENT_LIMIT;
}

static tf_status refuse_extent(const tf_mparam *p, unsigned axis, int64_t extent, const tf_why *why) {
  return tf_why_set(why, TF_LAUNCH, "argument '%s': axis %u has extent %" PRId64 "; extents lie in [0, 2^31)", p->name,
                    axis, extent);
}

static tf_status solve_one(const tf_manifest *m, const tf_msignature *s, const tf_msolve *plan, int64_t extent,
                           int64_t *dims, const tf_why *why) {
  const tf_mparam *p = &s->params[plan->param];
  const tf_mdim *dim = &m->dims[plan->dim];
  if (!is_extent(extent)) return refuse_extent(p, plan->axis, extent, why);
  if (extent % plan->factor != 0)
    return tf_why_set(why, TF_LAUNCH,
                      "argument '%s': axis %u has extent %" PRId64 ", expected a multiple of %" PRId64
                      " (it is %" PRId64 "*%s)",
                      p->name, plan->axis, extent, plan->factor, plan->factor, dim->name);
  int64_t value = extent / plan->factor;
  if (value < dim->lo || value >= dim->hi)
    return tf_why_set(why, TF_LAUNCH,
                      "argument '%s': axis %u has extent %" PRId64 ", so %s is %" PRId64
                      ", expected a value in [%" PRId64 ", %" PRId64 ")",
                      p->name, plan->axis, extent, dim->name, value, dim->lo, dim->hi);
  dims[plan->dim] = value;
  return TF_OK;
}

static tf_status refuse_axis(const tf_manifest *m, const tf_msignature *s, const tf_mparam *p, unsigned axis,
                             int64_t actual, const tf_menv *env, const tf_why *why) {
  int64_t expected = 0;
  const tf_mexpr *expr = &p->shape[axis];
  const char *error = tf_mexpr_eval(expr, env, &expected);
  char text[96];
  tf_mexpr_format(m, s, expr, text, sizeof text);
  if (error) return tf_why_set(why, TF_LAUNCH, "argument '%s': axis %u is %s: %s", p->name, axis, text, error);
  if (expr->op == TF_MOP_CONST)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': axis %u has extent %" PRId64 ", expected %" PRId64, p->name, axis,
                      actual, expected);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': axis %u has extent %" PRId64 ", expected %" PRId64 " (%s)", p->name,
                    axis, actual, expected, text);
}

/* Of a tensor parameter. */
static tf_status check_axes(const tf_manifest *m, const tf_msignature *s, const tf_mparam *p, const int64_t *shape,
                            const tf_menv *env, const tf_why *why) {
  for (unsigned axis = 0; axis < p->rank; axis++) {
    int64_t expected;
    if (!is_extent(shape[axis])) return refuse_extent(p, axis, shape[axis], why);
    if (tf_mexpr_eval(&p->shape[axis], env, &expected) || shape[axis] != expected)
      return refuse_axis(m, s, p, axis, shape[axis], env, why);
  }
  return TF_OK;
}

tf_status tf_dims_solve(const tf_manifest *manifest, const tf_msignature *signature, const tf_value *values,
                        int64_t *dims, const tf_why *why) {
  tf_status status = TF_OK;
  for (unsigned i = 0; i < signature->solve_count && status == TF_OK; i++) {
    const tf_msolve *plan = &signature->solves[i];
    status = solve_one(manifest, signature, plan, values[plan->param].tensor.shape[plan->axis], dims, why);
  }
  const tf_menv env = {.dims = dims, .values = values};
  for (unsigned i = 0; i < signature->declared_count && status == TF_OK; i++) {
    const tf_mparam *p = &signature->params[i];
    if (tf_mparam_is_tensor(p)) status = check_axes(manifest, signature, p, values[i].tensor.shape, &env, why);
  }
  return status;
}
