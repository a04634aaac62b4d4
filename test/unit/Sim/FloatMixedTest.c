/* f32 pairs and mixed-precision arithmetic of sm_100: exact results from double or long double, rounded by hand. */
#include "RunPtx.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096 };

static float from_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return f != f ? 0x7FFFFFFFu : bits;
}
static float random_float(void) {
  float f = (float)ldexp((double)rand() / RAND_MAX + 0.5, rand() % 24 - 12);
  return rand() % 2 ? f : -f;
}

/* The f32 next to an exact value in the direction: n nearest even, z to zero, m down, p up. */
static float rounded(long double exact, char mode) {
  float near = (float)exact; /* nearest even from long double: one rounding */
  bool up = (long double)near<exact, down = (long double)near> exact;
  if (mode == 'p' && up) return nextafterf(near, INFINITY);
  if (mode == 'm' && down) return nextafterf(near, -INFINITY);
  if (mode == 'z' && ((exact > 0 && down) || (exact < 0 && up))) return nextafterf(near, 0);
  return near;
}

/* a op b (+ c) of random operands is exact in long double: the exponents are within 24 of each other. */
static long double exact(char op, long double a, long double b, long double c) {
  return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a * b + c;
}

static const struct {
  const char *text;
  char op, mode;
} pairs[] = {
    {"add.rn.f32x2 %d, %a, %b;", '+', 'n'},     {"add.rz.f32x2 %d, %a, %b;", '+', 'z'},
    {"sub.rn.f32x2 %d, %a, %b;", '-', 'n'},     {"sub.rp.f32x2 %d, %a, %b;", '-', 'p'},
    {"mul.rn.f32x2 %d, %a, %b;", '*', 'n'},     {"mul.rm.f32x2 %d, %a, %b;", '*', 'm'},
    {"fma.rn.f32x2 %d, %a, %b, %c;", 'f', 'n'}, {"fma.rz.f32x2 %d, %a, %b, %c;", 'f', 'z'},
};

START_TEST(pair) {
  static uint64_t x[COUNT][3];
  static float s[COUNT][3][2];
  for (unsigned i = 0; i < COUNT; i++)
    for (unsigned k = 0; k < 3; k++) {
      for (unsigned half = 0; half < 2; half++)
        s[i][k][half] = rand() % 97 ? random_float() : rand() % 2 ? INFINITY : 0.0f;
      x[i][k] = (uint64_t)bits_of(s[i][k][1]) << 32 | bits_of(s[i][k][0]);
    }
  run_lanes(pairs[_i].text, "b64 b64 b64 b64", &x[0][0], COUNT);
  for (unsigned i = 0; i < COUNT; i++)
    for (unsigned half = 0; half < 2; half++) {
      long double value = exact(pairs[_i].op, s[i][0][half], s[i][1][half], s[i][2][half]);
      float want = rounded(value, pairs[_i].mode);
      uint32_t got = (uint32_t)(x[i][0] >> 32 * half);
      if (want == 0) continue; /* the sign of an exact zero depends on the mode */
      ck_assert_msg(got == bits_of(want), "%s %a %a %a: got %a, expected %a", pairs[_i].text, s[i][0][half],
                    s[i][1][half], s[i][2][half], from_bits(got), want);
    }
}
END_TEST

static const struct {
  const char *text, *types;
  char op, mode;
  bool bf16, sat;
} mixed[] = {
    {"add.f32.f16 %d, %a, %b;", "f32 b16 f32 b32", '+', 'n', false, false},
    {"add.rz.f32.bf16 %d, %a, %b;", "f32 b16 f32 b32", '+', 'z', true, false},
    {"sub.rp.f32.f16 %d, %a, %b;", "f32 b16 f32 b32", '-', 'p', false, false},
    {"sub.rn.sat.f32.bf16 %d, %a, %b;", "f32 b16 f32 b32", '-', 'n', true, true},
    {"fma.rn.f32.f16 %d, %a, %b, %c;", "f32 b16 b16 f32", 'f', 'n', false, false},
    {"fma.rm.f32.bf16 %d, %a, %b, %c;", "f32 b16 b16 f32", 'f', 'm', true, false},
};

/* A random value of the 16-bit format, and its code. */
static float narrow(bool bf16, uint64_t *code) {
  if (bf16) {
    uint32_t bits = bits_of(random_float()) & 0xFFFF0000u;
    *code = bits >> 16;
    return from_bits(bits);
  }
  unsigned sign = (unsigned)rand() % 2, exponent = 5 + (unsigned)rand() % 20, mantissa = (unsigned)rand() % 1024;
  *code = sign << 15 | exponent << 10 | mantissa;
  return (float)ldexp(sign ? -(1024.0 + mantissa) : 1024.0 + mantissa, (int)exponent - 25);
}

START_TEST(mixed_precision) {
  static uint64_t x[COUNT][3];
  static float s[COUNT][3];
  bool fma = mixed[_i].op == 'f';
  for (unsigned i = 0; i < COUNT; i++)
    for (unsigned k = 0; k < 3; k++)
      if (k == 0 || (fma && k == 1))
        s[i][k] = narrow(mixed[_i].bf16, &x[i][k]);
      else
        x[i][k] = bits_of(s[i][k] = random_float());
  run_lanes(mixed[_i].text, mixed[_i].types, &x[0][0], COUNT);
  for (unsigned i = 0; i < COUNT; i++) {
    float want = rounded(exact(mixed[_i].op, s[i][0], s[i][1], s[i][2]), mixed[_i].mode);
    if (mixed[_i].sat) want = want < 0 ? 0 : want > 1 ? 1 : want;
    ck_assert_msg((uint32_t)x[i][0] == bits_of(want), "%s %a %a %a: got %a, expected %a", mixed[_i].text, s[i][0],
                  s[i][1], s[i][2], from_bits((uint32_t)x[i][0]), want);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("float-mixed");
  TCase *tcase = tcase_create("sm_100");
  tcase_add_loop_test(tcase, pair, 0, (int)(sizeof pairs / sizeof *pairs));
  tcase_add_loop_test(tcase, mixed_precision, 0, (int)(sizeof mixed / sizeof *mixed));
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
