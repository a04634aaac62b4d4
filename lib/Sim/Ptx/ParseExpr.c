/* Constant expressions of PTX: C's operators on 64-bit integers and doubles, by precedence climbing. */
#include "Sim/Ptx/ParseInternal.h"

#include <string.h>

static double as_double(tf_const c) {
  if (c.is_f32) {
    uint32_t low = (uint32_t)c.bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return (double)f;
  }
  if (c.is_float) {
    double d;
    memcpy(&d, &c.bits, sizeof d);
    return d;
  }
  return c.is_unsigned ? (double)c.bits : (double)(int64_t)c.bits;
}

static tf_const of_double(double d) {
  tf_const c = {.is_float = true};
  memcpy(&c.bits, &d, sizeof d);
  return c;
}

static bool binary_float(tf_parser *p, const char *op, tf_const *a, tf_const b) {
  double x = as_double(*a), y = as_double(b);
  switch (*op) {
  case '+':
    *a = of_double(x + y);
    return true;
  case '-':
    *a = of_double(x - y);
    return true;
  case '*':
    *a = of_double(x * y);
    return true;
  case '/':
    *a = of_double(x / y);
    return true;
  default:
    return tf_parse_fail(p, "operator '%s' takes integers", op);
  }
}

static bool divide(tf_parser *p, const char *op, tf_const *a, tf_const b) {
  if (b.bits == 0) return tf_parse_fail(p, "division by zero in a constant expression");
  bool rest = *op == '%';
  if (a->is_unsigned) {
    a->bits = rest ? a->bits % b.bits : a->bits / b.bits;
  } else if ((int64_t)b.bits == -1) { /* INT64_MIN / -1 overflows in C */
    a->bits = rest ? 0 : 0 - a->bits;
  } else {
    int64_t x = (int64_t)a->bits, y = (int64_t)b.bits;
    a->bits = (uint64_t)(rest ? x % y : x / y);
  }
  return true;
}

static uint64_t shift(const char *op, tf_const a, uint64_t by) {
  if (*op == '<') return by > 63 ? 0 : a.bits << by;
  if (a.is_unsigned || !(a.bits >> 63)) return by > 63 ? 0 : a.bits >> by;
  return by > 63 ? UINT64_MAX : ~(~a.bits >> by);
}

static bool compare(const char *op, tf_const a, tf_const b) {
  int64_t sa = (int64_t)a.bits, sb = (int64_t)b.bits;
  bool less = a.is_unsigned ? a.bits < b.bits : sa < sb, equal = a.bits == b.bits;
  if (op[0] == '=') return equal;
  if (op[0] == '!') return !equal;
  if (op[0] == '<') return less || (op[1] == '=' && equal);
  return op[1] == '=' ? !less : !less && !equal;
}

static bool binary(tf_parser *p, const char *op, tf_const *a, tf_const b) {
  if (a->is_float || b.is_float) return binary_float(p, op, a, b);
  bool shifting = op[0] == op[1] && (op[0] == '<' || op[0] == '>');
  if (!shifting) a->is_unsigned = a->is_unsigned || b.is_unsigned;
  if (shifting) {
    a->bits = shift(op, *a, b.bits);
    return true;
  }
  bool logical = op[0] == op[1] && (op[0] == '&' || op[0] == '|');
  if (logical) {
    a->bits = op[0] == '&' ? a->bits && b.bits : a->bits || b.bits;
    return true;
  }
  if (op[1] == '=' || op[0] == '<' || op[0] == '>') {
    a->bits = compare(op, *a, b);
    return true;
  }
  switch (*op) {
  case '+':
    a->bits += b.bits;
    return true;
  case '-':
    a->bits -= b.bits;
    return true;
  case '*':
    a->bits *= b.bits;
    return true;
  case '&':
    a->bits &= b.bits;
    return true;
  case '|':
    a->bits |= b.bits;
    return true;
  case '^':
    a->bits ^= b.bits;
    return true;
  default:
    return divide(p, op, a, b);
  }
}

static bool conditional(tf_parser *p, tf_const *out);

static bool cast_or_group(tf_parser *p, tf_const *out) {
  bool to_signed = tf_parse_at(p, ".s64"), to_unsigned = tf_parse_at(p, ".u64");
  if (to_signed || to_unsigned) tf_parse_advance(p);
  if (!to_signed && !to_unsigned && !conditional(p, out)) return false;
  if (!tf_parse_expect(p, ")", "in a constant expression")) return false;
  if (!to_signed && !to_unsigned) return true;
  if (!tf_parse_const(p, out)) return false;
  out->is_unsigned = to_unsigned;
  return true;
}

static bool literal(tf_parser *p, tf_const *out) {
  tf_tok t = p->tok;
  *out = (tf_const){.bits = t.bits, .is_unsigned = t.is_unsigned};
  out->is_float = t.kind == TF_TOK_F32 || t.kind == TF_TOK_F64;
  out->is_f32 = t.kind == TF_TOK_F32;
  if (tf_tok_is(&t, "WARP_SZ")) out->bits = 32;
  if (t.kind != TF_TOK_INT && !out->is_float && !tf_tok_is(&t, "WARP_SZ"))
    return tf_parse_fail(p, "expected a constant");
  tf_parse_advance(p);
  return true;
}

static bool negate(tf_parser *p, tf_const *out) {
  if (out->is_f32)
    out->bits ^= 0x80000000u;
  else if (out->is_float)
    out->bits ^= (uint64_t)1 << 63;
  else
    out->bits = 0 - out->bits, out->is_unsigned = false;
  (void)p;
  return true;
}

static bool unary(tf_parser *p, tf_const *out) {
  if (p->depth >= TF_PARSE_DEPTH) return tf_parse_fail(p, "constant expression is nested too deeply");
  p->depth++;
  bool ok;
  if (tf_parse_accept(p, "("))
    ok = cast_or_group(p, out);
  else if (tf_parse_accept(p, "-"))
    ok = unary(p, out) && negate(p, out);
  else if (tf_parse_accept(p, "+"))
    ok = unary(p, out);
  else if (tf_parse_at(p, "!") || tf_parse_at(p, "~")) {
    bool invert = tf_parse_at(p, "~");
    tf_parse_advance(p);
    ok = unary(p, out) && (!out->is_float || tf_parse_fail(p, "operator takes an integer"));
    if (ok) out->bits = invert ? ~out->bits : !out->bits;
  } else
    ok = literal(p, out);
  p->depth--;
  return ok;
}

static int precedence(const tf_tok *t) {
  static const struct {
    const char *op;
    int level;
  } table[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
               {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
  for (size_t i = 0; t->kind == TF_TOK_PUNCT && i < sizeof table / sizeof *table; i++)
    if (tf_tok_is(t, table[i].op)) return table[i].level;
  return 0;
}

static bool climb(tf_parser *p, int level, tf_const *out) {
  if (!unary(p, out)) return false;
  for (int next; (next = precedence(&p->tok)) > level;) {
    char op[3] = {0};
    memcpy(op, p->tok.text, p->tok.length);
    tf_parse_advance(p);
    tf_const right;
    if (!climb(p, next, &right) || !binary(p, op, out, right)) return false;
  }
  return true;
}

static bool conditional(tf_parser *p, tf_const *out) {
  if (!climb(p, 0, out)) return false;
  if (!tf_parse_accept(p, "?")) return true;
  tf_const yes, no;
  if (p->depth >= TF_PARSE_DEPTH) return tf_parse_fail(p, "constant expression is nested too deeply");
  p->depth++;
  bool ok = conditional(p, &yes) && tf_parse_expect(p, ":", "in a constant expression") && conditional(p, &no);
  p->depth--;
  if (ok) *out = out->bits ? yes : no;
  return ok;
}

bool tf_parse_const(tf_parser *p, tf_const *out) {
  return conditional(p, out);
}

bool tf_parse_uint(tf_parser *p, uint64_t max, const char *what, uint64_t *out) {
  tf_const c;
  tf_tok at = p->tok;
  if (!tf_parse_const(p, &c)) return false;
  bool negative = !c.is_unsigned && (int64_t)c.bits < 0;
  if (c.is_float || negative || c.bits > max)
    return tf_ptx_fail(p->error, at.line, at.text, at.length, "%s must be an integer from 0 to %llu", what,
                       (unsigned long long)max);
  *out = c.bits;
  return true;
}
