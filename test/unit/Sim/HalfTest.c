/* f16 and bf16 arithmetic in every form of the table: exact sums and products of 113 bits, and long double functions,
 * rounded once by a search among all codes. Packed forms do both halves; unary ones meet all 65,536 operands. */
#include "Exact.h"
#include "Harness.h"
#include "Vectors.h"

#include <check.h>
#include <math.h>
#include <string.h>

static bool is_comparison(const tf_row *row) {
  return strncmp(row->opcode, "set", 3) == 0; /* set and setp are CompareTest's */
}
static bool is_arithmetic(const tf_row *row) {
  return !is_comparison(row);
}

static uint32_t flush(exact_format f, uint32_t code) {
  return exact_is_subnormal(f, code) ? code & 0x8000 : code;
}

/* A result of which only its being infinite or no number matters; finite ones are exact. */
static bool special(exact_format f, uint32_t code) {
  return exact_is_nan(f, code) || exact_is_infinite(f, code);
}

/* a b + c, a b, a + c or a - c: `multiplies`, `adds` say which. Rounded to nearest even. */
static uint32_t multiply_add(exact_format f, bool multiplies, bool adds, uint32_t a, uint32_t b, uint32_t c) {
  if (special(f, a) || (multiplies && special(f, b)) || (adds && special(f, c))) { /* as in doubles */
    double p = (double)exact_value(f, a), q = multiplies ? (double)exact_value(f, b) : 1;
    double r = p * q + (adds ? (double)exact_value(f, c) : 0);
    return isnan(r) ? exact_nan(f) : exact_infinity(f) | (r < 0 ? 0x8000u : 0);
  }
  quad product = exact_value(f, a) * (multiplies ? exact_value(f, b) : 1);
  bool minus = (a ^ (multiplies ? b : 0)) & 0x8000;
  quad sum = adds ? exact_sum(product, exact_value(f, c)) : product;
  /* An exact zero is minus only if both terms are. */
  return exact_round(f, sum, minus && (!adds || c & 0x8000), 'n');
}

static uint32_t function(exact_format f, bool tanh, uint32_t a) {
  if (exact_is_nan(f, a)) return exact_nan(f);
  long double x = exact_is_infinite(f, a) ? (a & 0x8000 ? -INFINITY : INFINITY) : (long double)exact_value(f, a);
  long double r = tanh ? tanhl(x) : exp2l(x);
  return isinf(r) ? exact_infinity(f) : exact_round(f, r, signbit(r), 'n');
}

static uint32_t extreme(const vec_form *form, exact_format f, uint32_t a, uint32_t b) {
  bool na = exact_is_nan(f, a), nb = exact_is_nan(f, b), greatest = form->opcode[1] == 'a';
  uint32_t sign = (a ^ b) & 0x8000, size = vec_has(form, "xorsign") ? 0x7FFF : 0xFFFF;
  if ((na && nb) || (vec_has(form, "NaN") && (na || nb))) return exact_nan(f);
  a &= size, b &= size;
  quad x = exact_value(f, a), y = exact_value(f, b);
  bool less = x < y || (x == y && a > b); /* of the zeros the negative one is less */
  uint32_t r = na ? b : nb ? a : less != greatest ? a : b;
  return size == 0x7FFF ? (r & 0x7FFF) | sign : r;
}

/* Saturation makes +0 of NaN; relu leaves it. */
static uint32_t limit(const vec_form *form, exact_format f, uint32_t r) {
  uint32_t one = f == EXACT_F16 ? 0x3C00 : 0x3F80;
  bool nan = exact_is_nan(f, r), minus = r & 0x8000;
  if (vec_has(form, "sat")) return nan || minus ? 0 : r > one ? one : r;
  if (vec_has(form, "relu") && !nan && minus) return 0;
  return r;
}

static uint32_t operation(const vec_form *form, exact_format f, uint32_t a, uint32_t b, uint32_t c) {
  const char *o = form->opcode;
  uint32_t nan = 0x7FF7; /* the one that fma.oob takes for zero times whatever */
  if (strcmp(o, "neg") == 0) return a ^ 0x8000;
  if (strcmp(o, "abs") == 0) return a & 0x7FFF;
  if (strcmp(o, "min") == 0 || strcmp(o, "max") == 0) return extreme(form, f, a, b);
  if (strcmp(o, "tanh") == 0 || strcmp(o, "ex2") == 0) return function(f, o[0] == 't', a);
  if (strcmp(o, "add") == 0) return multiply_add(f, false, true, a, 0, b);
  if (strcmp(o, "sub") == 0) return multiply_add(f, false, true, a, 0, b ^ 0x8000);
  if (strcmp(o, "mul") == 0) return multiply_add(f, true, false, a, b, 0);
  if (strcmp(o, "fma") != 0) ck_abort_msg("no evaluation of %s", o);
  if (vec_has(form, "oob") && ((a & 0x7FFF) == nan || (b & 0x7FFF) == nan)) return 0;
  return multiply_add(f, true, true, a, b, c);
}

static uint32_t element(const vec_form *form, exact_format f, const uint64_t *s, unsigned shift) {
  uint32_t v[3] = {0}, r;
  for (unsigned i = 0; i < form->source_count; i++) {
    v[i] = (uint32_t)(s[i] >> shift) & 0xFFFF;
    if (vec_has(form, "ftz")) v[i] = flush(f, v[i]);
  }
  r = limit(form, f, operation(form, f, v[0], v[1], v[2]));
  return vec_has(form, "ftz") ? flush(f, r) : r;
}

static vec_result evaluate(const vec_form *form, const uint64_t s[VEC_SOURCES]) {
  const char *type = form->types[0];
  exact_format f = exact_format_of(type);
  uint32_t r = element(form, f, s, 0);
  return (vec_result){strstr(type, "x2") ? r | element(form, f, s, 16) << 16 : r, 7};
}

static const vec_suite arithmetic = {.family = "Half", .wanted = is_arithmetic, .evaluate = evaluate};

START_TEST(rows) {
  vec_check(&arithmetic, _i);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("half");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, rows, 0, vec_rows(&arithmetic));
  return run_case("Sim half", c);
}
