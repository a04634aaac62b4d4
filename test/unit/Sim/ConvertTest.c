/* cvt in every form of the table. A source is a number, an infinity or NaN; the expectation is the definition of the
 * destination's type applied to it: clamping and truncation in 128 bits, the host's own rounding for f32 and f64, a search
 * among all codes for the smaller formats. All 65,536 sources of every conversion from 8 or 16 bits. */
#include "Exact.h"
#include "Harness.h"
#include "Vectors.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 big;

/* A source: of integers and finite floats x holds the exact number (64 bits of fraction are enough for all of them). */
typedef struct value {
  long double x;
  bool nan, infinite, negative;
} value;

/* ---- Sources ---- */
static bool is_integer(const char *type) {
  return type[0] == 'u' || type[0] == 's';
}
static big integer(uint64_t x, const char *type) {
  int bits = atoi(type + 1);
  big v = bits == 64 ? (big)x : (big)(x & ((UINT64_C(1) << bits) - 1));
  return type[0] == 's' && (v >> (bits - 1) & 1) ? v - ((big)1 << bits) : v;
}
static value of_double(double x) {
  value v = {.nan = isnan(x), .infinite = isinf(x), .negative = signbit(x)};
  if (isfinite(x)) v.x = x;
  return v;
}
static value of_code(exact_format f, uint32_t code) {
  value v = {.nan = exact_is_nan(f, code), .infinite = exact_is_infinite(f, code)};
  v.negative = code >> (exact_bits(f) - 1) & 1;
  if (!v.nan && !v.infinite) v.x = (long double)exact_value(f, code);
  return v;
}
static value source(const vec_form *f, const char *type, uint64_t bits) {
  if (is_integer(type)) return (value){.x = (long double)integer(bits, type), .negative = integer(bits, type) < 0};
  if (strcmp(type, "f64") == 0) return of_double(exact_double(bits));
  if (strcmp(type, "f32") != 0) return of_code(exact_format_of(type), (uint32_t)bits);
  float x = exact_single(bits);
  return of_double((double)(vec_has(f, "ftz") ? exact_flush(x) : x));
}

/* ---- Destinations ---- */
/* The integral number that the mode chooses; too large ones are integral already. */
static long double integral(long double x, char mode) {
  if (x >= 0x1p63L || x <= -0x1p63L) return x;
  int64_t whole = (int64_t)x; /* truncates */
  big below = (big)whole - ((long double)whole > x);
  long double rest = x - (long double)below;
  bool up = mode == 'p' ? rest > 0 : mode == 'm' ? false : mode == 'z' ? x < 0 && rest > 0 : false;
  if (mode == 'n') up = rest > 0.5 || (rest == 0.5 && below % 2 != 0);
  return (long double)(below + up);
}

static big clamp(long double x, const char *type) {
  int bits = atoi(type + 1);
  big max = ((big)1 << (type[0] == 's' ? bits - 1 : bits)) - 1, min = type[0] == 's' ? -max - 1 : 0;
  return x >= (long double)max ? max : x <= (long double)min ? min : (big)x;
}

/* Floats saturate; NaN becomes 0, or the lowest number where 64 bits take part. */
static uint64_t to_integer(const vec_form *f, const char *to, const char *from, value v) {
  int bits = atoi(to + 1);
  if (v.nan) return strcmp(from, "f64") != 0 && bits != 64 ? 0 : (uint64_t)integer(UINT64_C(1) << (bits - 1), to);
  if (v.infinite) v.x = v.negative ? -0x1p120L : 0x1p120L;
  if (!is_integer(from)) return (uint64_t)clamp(integral(v.x, f->rounding), to);
  if (vec_has(f, "sat")) return (uint64_t)clamp(v.x, to);
  return (uint64_t)integer((uint64_t)(big)v.x, to); /* cut off, then extended to the register */
}

static uint64_t to_host(const vec_form *f, bool is_single, value v, char mode) {
  volatile long double x = v.x;
  double r = v.nan ? NAN : v.negative ? -INFINITY : INFINITY;
  if (is_single) {
    fesetround(exact_host_mode(mode));
    volatile float s = (float)x;
    fesetround(FE_TONEAREST);
    if (v.nan || v.infinite) s = (float)r;
    if (v.x == 0 && v.negative && !v.nan && !v.infinite) s = -0.0f;
    return exact_single_bits(vec_has(f, "ftz") ? exact_flush(s) : s);
  }
  fesetround(exact_host_mode(mode));
  volatile double d = (double)x;
  fesetround(FE_TONEAREST);
  if (v.nan || v.infinite) d = r;
  if (v.x == 0 && v.negative && !v.nan && !v.infinite) d = -0.0;
  return exact_double_bits(d);
}

static uint64_t to_code(const vec_form *f, exact_format format, value v, char mode) {
  uint32_t sign = v.negative ? 1u << (exact_bits(format) - 1) : 0, r;
  if (v.nan) return exact_nan(format);
  if (vec_has(f, "satfinite") && fabsl(v.x) >= (long double)exact_value(format, exact_largest(format)))
    return exact_largest(format) | sign;
  r = v.infinite ? exact_infinity(format) | sign : exact_round(format, v.x, v.negative, mode);
  bool beyond = v.infinite || exact_is_infinite(format, r) || exact_is_nan(format, r);
  return vec_has(f, "satfinite") && beyond ? exact_largest(format) | sign : r;
}

/* A power of two: the exponents below and above are tried one after the other. */
static uint64_t to_power(const vec_form *f, value v) {
  if (v.nan) return 0xFF;
  if (v.infinite) return vec_has(f, "satfinite") ? 0xFE : 0xFF;
  long double x = v.x < 0 ? -v.x : v.x;
  int code = 0;
  while (code < 0xFF && ldexpl(1, code + 1 - 127) <= x)
    code++;
  if (f->rounding == 'p' && x > ldexpl(1, code - 127)) code++;
  return code == 0xFF && vec_has(f, "satfinite") ? 0xFE : (uint64_t)code;
}
static value of_power(uint64_t code) {
  return (value){.x = ldexpl(1, (int)code - 127), .nan = code == 0xFF};
}

static uint64_t convert(const vec_form *f, const char *to, const char *from, uint64_t bits) {
  bool powers = strcmp(from, "ue8m0x2") == 0;
  value v = powers ? of_power(bits) : source(f, from, bits), zero = {0}, one = {.x = 1};
  char mode = f->rounding;
  if (strcmp(to, "ue8m0x2") == 0) return to_power(f, v);
  if (is_integer(to)) return to_integer(f, to, from, v);
  if (strcmp(to, from) == 0 && strchr("nzmp", mode) && vec_bits(to) && !v.nan && !v.infinite && f->mods[0][2] == 'i')
    v.x = integral(v.x, mode); /* rni and the like to the same type */
  if (vec_has(f, "sat")) v = v.nan || v.negative ? zero : v.infinite || v.x > 1 ? one : v;
  if (vec_has(f, "relu") && !v.nan && v.negative) v = zero;
  exact_format format = exact_format_of(to);
  return format < EXACT_FORMATS ? to_code(f, format, v, mode) : to_host(f, to[1] == '3', v, mode);
}

/* ---- Packed and packing forms ---- */
static uint64_t pack_integers(const vec_form *f, const uint64_t *s) {
  const char *to = f->types[0];
  int bits = atoi(to + 1);
  uint64_t mask = (UINT64_C(1) << bits) - 1, c = f->source_count > 2 ? s[2] << 2 * bits : 0;
  uint64_t a = (uint64_t)clamp((long double)(int32_t)s[0], to) & mask,
           b = (uint64_t)clamp((long double)(int32_t)s[1], to) & mask;
  return c | a << bits | b;
}

/* Two results side by side: from two sources, the first above, or from the halves of one. */
static uint64_t pack_floats(const vec_form *f, const uint64_t *s) {
  const char *to = f->types[0], *from = f->types[1];
  unsigned half = vec_bits(to) / 2, part = vec_bits(from) / 2;
  uint64_t upper = f->source_count > 1 ? s[0] : s[0] >> part, lower = f->source_count > 1 ? s[1] : s[0];
  if (f->source_count == 1) lower &= (UINT64_C(1) << part) - 1;
  return convert(f, to, from, upper) << half | convert(f, to, from, lower);
}

static vec_result evaluate(const vec_form *f, const uint64_t s[VEC_SOURCES]) {
  if (vec_has(f, "pack")) return (vec_result){pack_integers(f, s), 7};
  if (strstr(f->types[0], "x2")) return (vec_result){pack_floats(f, s), 7};
  return (vec_result){convert(f, f->types[0], f->types[1], s[0]), 7};
}

/* A conversion that does not round may hand on a NaN's payload. */
static bool same(const vec_form *f, vec_result got, vec_result want) {
  const char *to = f->types[0];
  exact_format format = exact_format_of(to);
  if (strcmp(to, "f64") == 0) return isnan(exact_double(got.d)) && isnan(exact_double(want.d));
  if (strcmp(to, "f32") == 0 && vec_bits(f->types[1]) <= 32 && !is_integer(f->types[1]))
    return isnan(exact_single(got.d)) && isnan(exact_single(want.d));
  if (strcmp(to, f->types[1]) != 0) return false;
  return exact_is_nan(format, (uint32_t)got.d) && exact_is_nan(format, (uint32_t)want.d);
}

/* .sat between integers is there where the source has numbers that the destination lacks. */
static bool legal(const vec_form *f) {
  const char *to = f->types[0], *from = f->types[1];
  if (!vec_has(f, "sat") || vec_has(f, "pack") || !is_integer(to) || !is_integer(from)) return true;
  big least = from[0] == 's' ? -((big)1 << (atoi(from + 1) - 1)) : 0;
  big most = ((big)1 << (atoi(from + 1) - (from[0] == 's'))) - 1;
  return clamp((long double)least, to) != least || clamp((long double)most, to) != most;
}

static const vec_suite general = {.family = "Convert", .evaluate = evaluate, .same = same, .legal = legal};
static const vec_suite small = {.family = "ConvertSmall", .evaluate = evaluate};

START_TEST(general_rows) {
  vec_check(&general, _i);
}
END_TEST
START_TEST(small_rows) {
  vec_check(&small, _i);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("convert");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, general_rows, 0, vec_rows(&general));
  tcase_add_loop_test(c, small_rows, 0, vec_rows(&small));
  return run_case("Sim convert", c);
}
