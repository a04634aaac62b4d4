/* cvt to and from fp8 and tf32 against searches over all codes: nothing here shares the formulas of the simulator. */
#include "RunPtx.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 65536 };

static double code_value(int e5m2, unsigned code) {
  int mantissa_bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
  int exponent = (int)(code & 0x7F) >> mantissa_bits;
  double mantissa = (code & ((1u << mantissa_bits) - 1)) / (double)(1 << mantissa_bits);
  if (e5m2 ? (code & 0x7F) > 0x7C : (code & 0x7F) == 0x7F) return NAN;
  if (e5m2 && (code & 0x7F) == 0x7C) return code & 0x80 ? -INFINITY : INFINITY;
  double magnitude = exponent ? ldexp(1 + mantissa, exponent - bias) : ldexp(mantissa, 1 - bias);
  return code & 0x80 ? -magnitude : magnitude;
}

/* The code nearest to x, ties to the even code, saturating; NaN is 0x7F. */
static unsigned nearest(int e5m2, double x) {
  unsigned best = 0, largest = e5m2 ? 0x7B : 0x7E;
  if (isnan(x)) return 0x7F;
  if (isinf(x)) return largest | (signbit(x) ? 0x80 : 0);
  for (unsigned code = 1; code <= largest; code++) {
    double now = fabs(code_value(e5m2, code) - fabs(x)), before = fabs(code_value(e5m2, best) - fabs(x));
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return best | (signbit(x) ? 0x80 : 0);
}

static double half_value(unsigned h) {
  int e = (int)(h >> 10 & 31);
  double m = h & 1023, v = e == 31 ? (m != 0 ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return h & 0x8000 ? -v : v;
}

static float random_float(void) {
  float f = (float)ldexp((double)rand() / RAND_MAX + 0.5, rand() % 60 - 35);
  return rand() % 2 ? f : -f;
}
static uint32_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

START_TEST(every_half_to_fp8) {
  static uint64_t x[ALL][3];
  for (unsigned i = 0; i < ALL; i++)
    x[i][0] = i | (uint64_t)(ALL - 1 - i) << 16;
  run_lanes(_i ? "cvt.rn.satfinite.e5m2x2.f16x2 %d, %a;" : "cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", "b16 b32 b32 b32",
            &x[0][0], ALL);
  for (unsigned i = 0; i < ALL; i++) {
    ck_assert_uint_eq(x[i][0] & 0xFF, nearest(_i, half_value(i)));
    ck_assert_uint_eq(x[i][0] >> 8 & 0xFF, nearest(_i, half_value(ALL - 1 - i)));
  }
}
END_TEST

START_TEST(floats_to_fp8) {
  static uint64_t x[8192][3];
  static float a[8192], b[8192];
  for (unsigned i = 0; i < 8192; i++) {
    a[i] = i < 254 ? (float)((code_value(_i, i / 2) + code_value(_i, i / 2 + 1)) / 2) : random_float(); /* ties first */
    b[i] = i == 5 ? NAN : i == 6 ? INFINITY : i == 7 ? -INFINITY : i == 8 ? -0.0f : random_float();
    if (isnan(a[i])) a[i] = 3.0f;
    x[i][0] = float_bits(a[i]), x[i][1] = float_bits(b[i]);
  }
  run_lanes(_i ? "cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;" : "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
            "b16 f32 f32 b32", &x[0][0], 8192);
  for (unsigned i = 0; i < 8192; i++) {
    ck_assert_uint_eq(x[i][0] >> 8 & 0xFF, nearest(_i, (double)a[i]));
    ck_assert_uint_eq(x[i][0] & 0xFF, nearest(_i, (double)b[i]));
  }
}
END_TEST

START_TEST(every_fp8_pair_to_half) {
  static uint64_t x[ALL][3];
  for (unsigned i = 0; i < ALL; i++)
    x[i][0] = i;
  run_lanes(_i ? "cvt.rn.f16x2.e5m2x2 %d, %a;" : "cvt.rn.f16x2.e4m3x2 %d, %a;", "b32 b16 b32 b32", &x[0][0], ALL);
  for (unsigned i = 0; i < ALL; i++)
    for (unsigned k = 0; k < 2; k++) {
      double want = code_value(_i, i >> 8 * k & 0xFF), got = half_value((unsigned)(x[i][0] >> 16 * k) & 0xFFFF);
      ck_assert_msg((isnan(want) && isnan(got)) || (want == got && signbit(want) == signbit(got)), "%#x", i);
    }
}
END_TEST

/* The two tf32 neighbours of x decide every rounding. */
static double tf32_reference(char mode, double x) {
  int e;
  frexp(x, &e);
  double unit = ldexp(1, (e > -125 ? e : -125) - 11), q = x / unit; /* exact: powers of two */
  double r = mode == 'a' ? round(q) : mode == 'z' ? trunc(q) : nearbyint(q);
  return (double)(float)(r * unit);
}

START_TEST(floats_to_tf32) {
  static const char *const text[] = {"cvt.rna.tf32.f32 %d, %a;", "cvt.rn.tf32.f32 %d, %a;", "cvt.rz.tf32.f32 %d, %a;"};
  static uint64_t x[8192][3];
  static float a[8192];
  for (unsigned i = 0; i < 8192; i++) {
    a[i] = i < 8 ? ldexpf(1 + (float)i / 4096, 3) : i == 9 ? 3.4e38f : i == 10 ? 1e-40f : random_float();
    x[i][0] = float_bits(a[i]);
  }
  run_lanes(text[_i], "b32 f32 b32 b32", &x[0][0], 8192);
  for (unsigned i = 0; i < 8192; i++) {
    float want = (float)tf32_reference("anz"[_i], (double)a[i]);
    ck_assert_uint_eq((uint32_t)x[i][0], float_bits(want));
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("convert-small");
  TCase *tcase = tcase_create("conversions");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, every_half_to_fp8, 0, 2);
  tcase_add_loop_test(tcase, floats_to_fp8, 0, 2);
  tcase_add_loop_test(tcase, every_fp8_pair_to_half, 0, 2);
  tcase_add_loop_test(tcase, floats_to_tf32, 0, 3);
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
