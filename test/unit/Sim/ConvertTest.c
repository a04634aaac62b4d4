/* cvt against definitions: all 65,536 halves both ways, integers by clamping and truncation in 128 bits, floats by the
 * host's rounding modes. */
#include "RunPtx.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 big;

enum { COUNT = 1024, ALL = 65536 };

static uint64_t noise = 88172645463325252u;
static uint64_t next(void) {
  noise ^= noise << 13;
  noise ^= noise >> 7;
  noise ^= noise << 17;
  return noise;
}

/* ---- integer to integer ------------------------------------------------------------------------------------------ */

static const char *const ints[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};

static int bits_in(const char *type) {
  return atoi(type + 1);
}
static big value_of(uint64_t x, const char *type) {
  int bits = bits_in(type);
  big v = bits == 64 ? (big)x : (big)(x & (((uint64_t)1 << bits) - 1));
  return type[0] == 's' && (v >> (bits - 1) & 1) ? v - ((big)1 << bits) : v;
}
static big clamp(big v, const char *type) {
  int bits = bits_in(type);
  big max = ((big)1 << (type[0] == 's' ? bits - 1 : bits)) - 1, min = type[0] == 's' ? -max - 1 : 0;
  return v > max ? max : v < min ? min : v;
}
/* Registers are at least 16 bits wide. */
static const char *register_of(const char *type) {
  return bits_in(type) == 64 ? "b64" : bits_in(type) == 32 ? "b32" : "b16";
}

START_TEST(integers) {
  const char *to = ints[_i / 16], *from = ints[_i / 2 % 8];
  bool sat = _i & 1;
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[100], types[40];
  for (int i = 0; i < COUNT * 3; i++)
    y[i] = x[i] = next() >> (next() & 63);
  snprintf(text, sizeof text, "cvt%s.%s.%s %%d, %%a;", sat ? ".sat" : "", to, from);
  snprintf(types, sizeof types, "%s %s b32 b32", register_of(to), register_of(from));
  run_lanes(text, types, x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    big v = value_of(y[3 * i], from);
    if (sat) v = clamp(v, to);
    v = value_of((uint64_t)v, to); /* truncation, then extension to the register */
    int bits = bits_in(to) < 16 ? 16 : bits_in(to);
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    ck_assert_msg((x[3 * i] & mask) == ((uint64_t)v & mask), "%s %llx: %llx, expected %llx", text,
                  (unsigned long long)y[3 * i], (unsigned long long)x[3 * i], (unsigned long long)((uint64_t)v & mask));
  }
}
END_TEST

/* ---- float to integer and back ----------------------------------------------------------------------------------- */

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static const char *const integral[] = {"rni", "rzi", "rmi", "rpi"}, *const rounded[] = {"rn", "rz", "rm", "rp"};

static double integral_of(double x, int mode) {
  volatile double v = x, r;
  fesetround(modes[mode]);
  r = nearbyint(v);
  fesetround(FE_TONEAREST);
  return r;
}

START_TEST(floats_to_integers) {
  const char *to = ints[_i / 8];
  int mode = _i / 2 % 4;
  bool wide = _i & 1;
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[100], types[40];
  for (int i = 0; i < COUNT; i++) {
    double d = ldexp((double)(int64_t)next(), (int)(next() % 72) - 71);
    if (i % 16 == 0) d = NAN;
    if (i % 16 == 1) d = i % 32 == 1 ? INFINITY : -INFINITY;
    if (i % 16 == 2) d = (double)(int)(next() % 64) / 2 - 16;
    if (i % 16 == 3) d = ldexp(1.0, bits_in(to) - (int)(next() % 2)) * (next() % 2 ? 1 : -1);
    float f = (float)d;
    uint32_t low;
    memcpy(&low, &f, 4);
    y[3 * i] = low;
    if (wide) memcpy(&y[3 * i], &d, 8);
    x[3 * i] = y[3 * i];
  }
  snprintf(text, sizeof text, "cvt.%s.%s.%s %%d, %%a;", integral[mode], to, wide ? "f64" : "f32");
  snprintf(types, sizeof types, "%s %s b32 b32", register_of(to), wide ? "f64" : "f32");
  run_lanes(text, types, x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    uint32_t low = (uint32_t)y[3 * i];
    float f;
    double d;
    memcpy(&f, &low, 4);
    memcpy(&d, &y[3 * i], 8);
    if (!wide) d = (double)f;
    big v;
    int bits = bits_in(to);
    if (d != d)
      v = !wide && bits != 64 ? 0 : value_of((uint64_t)1 << (bits - 1), to);
    else
      v = clamp(d > 1e30 ? (big)1 << 100 : d < -1e30 ? -((big)1 << 100) : (big)integral_of(d, mode), to);
    int width = bits < 16 ? 16 : bits;
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    ck_assert_msg((x[3 * i] & mask) == ((uint64_t)v & mask), "%s %a: %llx, expected %llx", text, d,
                  (unsigned long long)x[3 * i], (unsigned long long)((uint64_t)v & mask));
  }
}
END_TEST

START_TEST(integers_to_floats) {
  const char *from = ints[_i / 8];
  int mode = _i / 2 % 4;
  bool wide = _i & 1;
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[100], types[40];
  for (int i = 0; i < COUNT * 3; i++)
    y[i] = x[i] = next() >> (next() & 63);
  snprintf(text, sizeof text, "cvt.%s.%s.%s %%d, %%a;", rounded[mode], wide ? "f64" : "f32", from);
  snprintf(types, sizeof types, "%s %s b32 b32", wide ? "f64" : "f32", register_of(from));
  run_lanes(text, types, x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    volatile big v = value_of(y[3 * i], from);
    volatile long double exact = (long double)v; /* 64 bits of fraction hold every source */
    fesetround(modes[mode]);
    volatile float f = (float)exact;
    volatile double d = (double)exact;
    fesetround(FE_TONEAREST);
    uint64_t want = 0;
    if (wide)
      memcpy(&want, (const void *)&d, 8);
    else
      memcpy(&want, (const void *)&f, 4);
    ck_assert_msg((wide ? x[3 * i] : (uint32_t)x[3 * i]) == want, "%s %llx: %llx, expected %llx", text,
                  (unsigned long long)y[3 * i], (unsigned long long)x[3 * i], (unsigned long long)want);
  }
}
END_TEST

START_TEST(f64_to_f32) {
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[100];
  for (int i = 0; i < COUNT * 3; i++) {
    double d = ldexp((double)(int64_t)next(), (int)(next() % 300) - 213);
    memcpy(&y[i], &d, 8);
    x[i] = y[i];
  }
  snprintf(text, sizeof text, "cvt.%s.f32.f64 %%d, %%a;", rounded[_i]);
  run_lanes(text, "f32 f64 b32 b32", x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    volatile double d;
    memcpy((void *)&d, &y[3 * i], 8);
    fesetround(modes[_i]);
    volatile float f = (float)d;
    fesetround(FE_TONEAREST);
    uint32_t want;
    memcpy(&want, (const void *)&f, 4);
    ck_assert_msg((uint32_t)x[3 * i] == want, "%s %a: %08x, expected %08x", text, d, (uint32_t)x[3 * i], want);
  }
}
END_TEST

/* ---- halves ------------------------------------------------------------------------------------------------------ */

static double half_value(uint32_t h, bool bf16) {
  int fraction = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, top = bf16 ? 255 : 31, e = (int)(h >> fraction) & top;
  double m = (double)(h & ((1u << fraction) - 1)), s = h & 0x8000 ? -1 : 1;
  if (e == top) return m != 0 ? NAN : s * INFINITY;
  return s * (e ? ldexp(m + (1 << fraction), e - bias - fraction) : ldexp(m, 1 - bias - fraction));
}

START_TEST(all_halves_widen) {
  bool bf16 = _i & 1;
  uint64_t *x = calloc(ALL * 3, sizeof *x);
  for (uint32_t h = 0; h < ALL; h++)
    x[3 * h] = h;
  run_lanes(bf16 ? "cvt.f32.bf16 %d, %a;" : "cvt.f32.f16 %d, %a;", "f32 b16 b32 b32", x, ALL);
  for (uint32_t h = 0; h < ALL; h++) {
    uint32_t low = (uint32_t)x[3 * h];
    float f;
    memcpy(&f, &low, 4);
    double want = half_value(h, bf16);
    ck_assert_msg(want != want ? f != f : (double)f == want && !signbit(f) == !signbit(want), "%04x: %a, expected %a",
                  h, (double)f, want);
  }
  free(x);
}
END_TEST

/* Around every half: itself, the points just beside the middle to the next one, and the middle. */
START_TEST(all_halves_round) {
  static const char *const texts[] = {"cvt.rn.f16.f32 %d, %a;",  "cvt.rn.bf16.f32 %d, %a;", "cvt.rz.f16.f32 %d, %a;",
                                      "cvt.rz.bf16.f32 %d, %a;", "cvt.rp.f16.f32 %d, %a;",  "cvt.rm.f16.f32 %d, %a;"};
  bool bf16 = _i & 1 && _i < 4;
  uint32_t infinity = bf16 ? 0x7F80 : 0x7C00;
  uint64_t *x = calloc(ALL * 3, sizeof *x);
  for (int side = -1; side <= 1; side++) {
    for (uint32_t h = 0; h < ALL; h++) {
      uint32_t mag = h & 0x7FFF;
      double lo = half_value(mag, bf16),
             hi = mag + 1 == infinity ? 2 * lo - half_value(mag - 1, bf16) : half_value(mag + 1, bf16);
      float f = (float)((lo + hi) / 2);
      if (mag >= infinity) f = (float)lo;
      if (side && mag < infinity) f = nextafterf(f, side < 0 ? 0 : INFINITY);
      f = h & 0x8000 ? -f : f;
      uint32_t low;
      memcpy(&low, &f, 4);
      x[3 * h] = low;
    }
    run_lanes(texts[_i], "b16 f32 b32 b32", x, ALL);
    for (uint32_t h = 0; h < ALL; h++) {
      uint32_t mag = h & 0x7FFF, sign = h & 0x8000, want;
      bool up = _i < 2 ? side > 0 || (side == 0 && (mag & 1)) : _i < 4 ? false : (_i == 4) == !sign;
      if (mag > infinity)
        want = 0x7FFF;
      else
        want = (mag < infinity && up ? mag + 1 : mag) | sign;
      ck_assert_msg((x[3 * h] & 0xFFFF) == want, "%s beside %04x (%d): %04x, expected %04x", texts[_i], h, side,
                    (unsigned)x[3 * h] & 0xFFFF, want);
    }
  }
  free(x);
}
END_TEST

START_TEST(odds_and_ends) {
  static const struct {
    const char *text, *types;
    uint64_t a, b, want;
  } cases[] = {
      {"cvt.rn.f16x2.f32 %d, %a, %b;", "b32 f32 f32 b32", 0x3F800000, 0x40000000, 0x3C004000},
      {"cvt.rn.bf16x2.f32 %d, %a, %b;", "b32 f32 f32 b32", 0x3F800000, 0x40000000, 0x3F804000},
      {"cvt.rn.relu.f16x2.f32 %d, %a, %b;", "b32 f32 f32 b32", 0xBF800000, 0x40000000, 0x00004000},
      {"cvt.rn.satfinite.f16.f32 %d, %a;", "b16 f32 f32 b32", 0x7F000000, 0, 0x7BFF},
      {"cvt.rn.sat.f16.f32 %d, %a;", "b16 f32 f32 b32", 0x40000000, 0, 0x3C00},
      {"cvt.sat.f32.f32 %d, %a;", "f32 f32 f32 b32", 0x7FC00000, 0, 0},
      {"cvt.rni.f32.f32 %d, %a;", "f32 f32 f32 b32", 0x40200000, 0, 0x40000000},
      {"cvt.rpi.f32.f32 %d, %a;", "f32 f32 f32 b32", 0xBF000000, 0, 0x80000000},
      {"cvt.rzi.f64.f64 %d, %a;", "f64 f64 f64 b32", 0xC004CCCCCCCCCCCD, 0, 0xC000000000000000},
      {"cvt.rmi.f16.f16 %d, %a;", "b16 b16 b16 b32", 0xBE00, 0, 0xC000},
      {"cvt.ftz.f32.f32 %d, %a;", "f32 f32 f32 b32", 0x80000001, 0, 0x80000000},
      {"cvt.ftz.f64.f32 %d, %a;", "f64 f32 f32 b32", 0x00000001, 0, 0},
      {"cvt.f64.f32 %d, %a;", "f64 f32 f32 b32", 0x00000001, 0, 0x36A0000000000000},
      {"cvt.rn.f16.f64 %d, %a;", "b16 f64 f64 b32", 0x3FF0020000000001, 0, 0x3C01}, /* just above a tie of f16 */
      {"cvt.rn.f16.s64 %d, %a;", "b16 b64 b64 b32", 2049, 0, 0x6800},
      {"cvt.rn.bf16.u64 %d, %a;", "b16 b64 b64 b32", 0x8080000000000001, 0, 0x5F01},
      {"cvt.rn.f16.u16 %d, %a;", "b16 b16 b16 b32", 65535, 0, 0x7C00},
      {"cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", 300, (uint32_t)-300, 0x7F80},
      {"cvt.pack.sat.u16.s32 %d, %a, %b;", "b32 b32 b32 b32", 70000, (uint32_t)-5, 0xFFFF0000},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    uint64_t x[128 * 3] = {0};
    for (int i = 0; i < 128; i++)
      x[3 * i] = cases[k].a, x[3 * i + 1] = cases[k].b;
    run_lanes(cases[k].text, cases[k].types, x, 128);
    int bits = atoi(cases[k].types + 1);
    uint64_t got = x[3 * 100] & (bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
    ck_assert_msg(got == cases[k].want, "%s %llx %llx: %llx, expected %llx", cases[k].text,
                  (unsigned long long)cases[k].a, (unsigned long long)cases[k].b, (unsigned long long)got,
                  (unsigned long long)cases[k].want);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("Sim convert");
  TCase *c = tcase_create("convert");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, integers, 0, 128);
  tcase_add_loop_test(c, floats_to_integers, 0, 64);
  tcase_add_loop_test(c, integers_to_floats, 0, 64);
  tcase_add_loop_test(c, f64_to_f32, 0, 4);
  tcase_add_loop_test(c, all_halves_widen, 0, 2);
  tcase_add_loop_test(c, all_halves_round, 0, 6);
  tcase_add_test(c, odds_and_ends);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
