/* f32 and f64 arithmetic in every form of the table: the host's own operations under fesetround, approximate functions
 * against long double, the rest by cases. f32 pairs and arithmetic with 16-bit operands alike. */
#include "Exact.h"
#include "Harness.h"
#include "Vectors.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const vec_form *f, const char *opcode) {
  return strcmp(f->opcode, opcode) == 0;
}

/* ---- One operation, one rounding ---- */
enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, NONE };
static int operation(const vec_form *f) {
  static const char *const names[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt"};
  int i = 0;
  while (i < NONE && !is(f, names[i]))
    i++;
  return is(f, "mad") ? FMA : i;
}
static float single(int op, char mode, float a, float b, float c) {
  volatile float x = a, y = b, z = c, r;
  fesetround(exact_host_mode(mode));
  r = op == ADD   ? x + y
      : op == SUB ? x - y
      : op == MUL ? x * y
      : op == FMA ? fmaf(x, y, z)
      : op == DIV ? x / y
      : op == RCP ? 1.0f / x
                  : sqrtf(x);
  fesetround(FE_TONEAREST);
  return r;
}
static double wide(int op, char mode, double a, double b, double c) {
  volatile double x = a, y = b, z = c, r;
  fesetround(exact_host_mode(mode));
  r = op == ADD   ? x + y
      : op == SUB ? x - y
      : op == MUL ? x * y
      : op == FMA ? fma(x, y, z)
      : op == DIV ? x / y
      : op == RCP ? 1.0 / x
                  : sqrt(x);
  fesetround(FE_TONEAREST);
  return r;
}

/* ---- Approximate functions: what they approximate ---- */
static long double function(const vec_form *f, long double x) {
  if (is(f, "rcp")) return 1 / x;
  if (is(f, "sqrt")) return sqrtl(x);
  if (is(f, "rsqrt")) return 1 / sqrtl(x);
  if (is(f, "sin")) return sinl(x);
  if (is(f, "cos")) return cosl(x);
  if (is(f, "lg2")) return log2l(x);
  if (is(f, "ex2")) return exp2l(x);
  if (is(f, "tanh")) return tanhl(x);
  ck_abort_msg("no evaluation of %s", f->name);
  return 0;
}
/* Divisors beyond 2^126 give zero, or NaN under an infinity. */
static float divide_approx(float a, float b) {
  if (fabsf(b) > 0x1p126f && !isinf(b) && !isnan(a) && !isnan(b)) return isinf(a) ? NAN : 0;
  return single(DIV, 'n', a, b, 0);
}

/* ---- By cases ---- */
static uint64_t extreme(const vec_form *f, double a, double b, bool is_single) {
  double x = a, y = b, r;
  if (vec_has(f, "xorsign")) x = fabs(a), y = fabs(b);
  bool least = is(f, "min"), less = x < y || (x == y && signbit(x) && !signbit(y));
  if ((isnan(a) && isnan(b)) || (vec_has(f, "NaN") && (isnan(a) || isnan(b))))
    r = NAN;
  else
    r = isnan(a) ? y : isnan(b) ? x : less == least ? x : y;
  if (vec_has(f, "xorsign") && !isnan(r)) r = copysign(r, !signbit(a) == !signbit(b) ? 1 : -1);
  return is_single ? exact_single_bits((float)r) : exact_double_bits(r);
}

/* The least or greatest of the sorted numbers; NaNs are none, unless .NaN asks for them. */
static uint64_t extreme_of_three(const vec_form *f, const float v[3]) {
  float numbers[3];
  unsigned n = 0;
  for (unsigned i = 0; i < 3; i++) {
    float x = vec_has(f, "abs") ? fabsf(v[i]) : v[i];
    if (isnan(x) && vec_has(f, "NaN")) return exact_single_bits(NAN);
    if (isnan(x)) continue;
    unsigned at = n++;
    for (; at > 0 && (numbers[at - 1] > x || (numbers[at - 1] == x && signbit(x))); at--)
      numbers[at] = numbers[at - 1];
    numbers[at] = x;
  }
  return exact_single_bits(n == 0 ? NAN : is(f, "min") ? numbers[0] : numbers[n - 1]);
}

/* Fields by definition: zero counts as normal. */
static bool property(const vec_form *f, uint64_t bits, bool is_single) {
  uint64_t exponent = is_single ? bits >> 23 & 0xFF : bits >> 52 & 0x7FF, top = is_single ? 0xFF : 0x7FF;
  uint64_t fraction = bits & (is_single ? 0x7FFFFF : 0xFFFFFFFFFFFFF);
  if (vec_has(f, "finite")) return exponent != top;
  if (vec_has(f, "infinite")) return exponent == top && fraction == 0;
  if (vec_has(f, "number")) return exponent != top || fraction == 0;
  if (vec_has(f, "notanumber")) return exponent == top && fraction != 0;
  if (vec_has(f, "normal")) return exponent != top && (exponent != 0 || fraction == 0);
  return exponent == 0 && fraction != 0;
}

static float saturate(float x) {
  return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; /* also of NaN */
}

static uint64_t evaluate_single(const vec_form *f, const uint64_t *s) {
  uint64_t sign = 0x80000000u;
  float v[3], r;
  for (int i = 0; i < 3; i++) {
    v[i] = exact_single(s[i]);
    if (vec_has(f, "ftz")) v[i] = exact_flush(v[i]);
  }
  if (is(f, "copysign")) return (s[0] & sign) | (s[1] & ~sign);
  if (is(f, "testp")) return property(f, s[0], true);
  if ((is(f, "min") || is(f, "max")) && f->source_count == 3) return extreme_of_three(f, v);
  if (is(f, "min") || is(f, "max")) return extreme(f, v[0], v[1], true);
  if (is(f, "abs"))
    r = fabsf(v[0]);
  else if (is(f, "neg"))
    r = -v[0];
  else if (is(f, "div") && vec_has(f, "approx"))
    r = divide_approx(v[0], v[1]);
  else if (operation(f) != NONE)
    r = single(operation(f), f->rounding, v[0], v[1], v[2]);
  else
    r = (float)function(f, v[0]);
  if (vec_has(f, "sat")) r = saturate(r);
  return exact_single_bits(vec_has(f, "ftz") ? exact_flush(r) : r);
}

/* rcp and rsqrt .approx.ftz.f64 see and give the upper word only. */
static double upper(double x) {
  if (isnan(x)) return exact_double(UINT64_C(0xFFF8) << 48);
  if (fpclassify(x) == FP_SUBNORMAL) return copysign(0, x);
  return exact_double(exact_double_bits(x) & 0xFFFFFFFF00000000u);
}

static uint64_t evaluate_wide(const vec_form *f, const uint64_t *s) {
  uint64_t sign = UINT64_C(1) << 63;
  double a = exact_double(s[0]), b = exact_double(s[1]), c = exact_double(s[2]), r;
  if (is(f, "copysign")) return (s[0] & sign) | (s[1] & ~sign);
  if (is(f, "testp")) return property(f, s[0], false);
  if (is(f, "min") || is(f, "max")) return extreme(f, a, b, false);
  if (is(f, "abs")) return s[0] & ~sign;
  if (is(f, "neg")) return s[0] ^ sign;
  if (vec_has(f, "ftz")) return exact_double_bits(upper((double)function(f, upper(a))));
  r = operation(f) == NONE ? (double)function(f, a) : wide(operation(f), f->rounding, a, b, c);
  for (unsigned i = 0; isnan(r) && i < f->source_count; i++) /* payloads are kept, those of the first NaN */
    if (isnan(exact_double(s[i]))) return s[i] | UINT64_C(1) << 51;
  return isnan(r) ? UINT64_C(0xFFF8) << 48 : exact_double_bits(r);
}

static vec_result evaluate(const vec_form *f, const uint64_t s[VEC_SOURCES]) {
  bool is_single = strcmp(f->types[0], "f32") == 0;
  return (vec_result){is_single ? evaluate_single(f, s) : evaluate_wide(f, s), 7};
}

/* NaNs of abs, neg, min and max may have any payload. The approximate functions are computed exactly and rounded, but for a
 * double in between: one unit in the last place, where the ISA grants them two or more; of a double's upper word, one
 * unit of that. A zero quotient has either sign. */
static bool same(const vec_form *f, vec_result got, vec_result want) {
  bool is_single = strcmp(f->types[0], "f32") == 0;
  double x = is_single ? (double)exact_single(got.d) : exact_double(got.d);
  double y = is_single ? (double)exact_single(want.d) : exact_double(want.d);
  if (isnan(x) && isnan(y)) return is(f, "abs") || is(f, "neg") || (!is_single && (is(f, "min") || is(f, "max")));
  if (!vec_has(f, "approx") && !vec_has(f, "full")) return false;
  if (is(f, "div") && x == 0 && y == 0) return true;
  int64_t unit = !is_single && vec_has(f, "ftz") ? INT64_C(1) << 32 : 1, off = (int64_t)(got.d - want.d);
  return off % unit == 0 && llabs(off) <= unit && signbit(x) == signbit(y);
}

/* ---- Pairs of f32, and f32 with 16-bit operands ---- */
static float operand(const vec_form *f, unsigned i, const uint64_t *s, unsigned shift) {
  exact_format format = exact_format_of(f->of_type[i]);
  float x = format < EXACT_FORMATS ? (float)exact_value(format, (uint32_t)s[i]) : exact_single(s[i] >> shift);
  return vec_has(f, "ftz") ? exact_flush(x) : x;
}
static uint64_t mixed_element(const vec_form *f, const uint64_t *s, unsigned shift) {
  float v[3] = {0};
  for (unsigned i = 0; i < f->source_count; i++)
    v[i] = operand(f, i, s, shift);
  float r = single(operation(f), f->rounding, v[0], v[1], v[2]);
  if (vec_has(f, "sat")) r = saturate(r);
  return exact_single_bits(vec_has(f, "ftz") ? exact_flush(r) : r);
}
static vec_result evaluate_mixed(const vec_form *f, const uint64_t s[VEC_SOURCES]) {
  uint64_t r = mixed_element(f, s, 0);
  if (f->width == 64) r |= mixed_element(f, s, 32) << 32;
  return (vec_result){r, 7};
}

static const vec_suite plain = {.family = "Float", .evaluate = evaluate, .same = same};
static const vec_suite mixed = {.family = "FloatMixed", .evaluate = evaluate_mixed};

START_TEST(plain_rows) {
  vec_check(&plain, _i);
}
END_TEST
START_TEST(mixed_rows) {
  vec_check(&mixed, _i);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("float");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, plain_rows, 0, vec_rows(&plain));
  tcase_add_loop_test(c, mixed_rows, 0, vec_rows(&mixed));
  return run_case("Sim float", c);
}
