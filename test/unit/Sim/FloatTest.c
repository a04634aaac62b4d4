/* f32 and f64 arithmetic in all rounding modes against the host's own under fesetround; approximate functions against
 * long double; halves exhaustively or on noise against exact sums in __float128 rounded by search. */
#include "RunPtx.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __float128 quad;

enum { COUNT = 1024 };
static const char *const rounding_names[] = {"rn", "rz", "rm", "rp"};
static const int rounding_modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static uint64_t noise = 88172645463325252u;
static uint64_t next(void) {
  noise ^= noise << 13;
  noise ^= noise >> 7;
  noise ^= noise << 17;
  return noise;
}

static float f32_of(uint64_t x) {
  uint32_t bits = (uint32_t)x;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}
static double f64_of(uint64_t x) {
  double d;
  memcpy(&d, &x, 8);
  return d;
}
static uint64_t bits64_of(double d) {
  uint64_t bits;
  memcpy(&bits, &d, 8);
  return bits;
}

/* Numbers of all sizes, close to each other often enough for cancellation, with the special ones among them. */
static uint64_t next_f32(void) {
  static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                   0x00800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                   0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x3F800001};
  uint64_t r = next();
  if (r % 5 == 0) return edges[(r >> 8) % 15];
  return r % 5 < 3 ? (r >> 20 & 0x80FFFFFF) | 0x3F000000 : r >> 24 & 0xFFFFFFFF;
}
static uint64_t next_f64(void) {
  static const uint64_t edges[] = {0,
                                   0x8000000000000000,
                                   1,
                                   0x000FFFFFFFFFFFFF,
                                   0x3FF0000000000000,
                                   0x7FEFFFFFFFFFFFFF,
                                   0xFFF0000000000000,
                                   0x7FF8000000000000,
                                   0x3FF0000000000001};
  uint64_t r = next();
  if (r % 6 == 0) return edges[(r >> 8) % 9];
  return r % 2 ? (next() & 0x801FFFFFFFFFFFFF) | 0x3FE0000000000000 : next();
}

static float flush(float x) {
  return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT };
static const struct {
  const char *name;
  int operands;
} ops[] = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3}, {"div", 2}, {"rcp", 1}, {"sqrt", 1}};

static float host32(int op, float a, float b, float c, int rounding) {
  volatile float x = a, y = b, z = c, r;
  fesetround(rounding);
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
static double host64(int op, double a, double b, double c, int rounding) {
  volatile double x = a, y = b, z = c, r;
  fesetround(rounding);
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

static void fill(uint64_t *x, uint64_t *y, uint64_t (*source)(void)) {
  for (int i = 0; i < COUNT * 3; i++)
    y[i] = x[i] = source();
}

static const char *operands(int n) {
  return n == 1 ? "%d, %a" : n == 2 ? "%d, %a, %b" : "%d, %a, %b, %c";
}

START_TEST(single_precision) {
  int op = _i / 16, mode = _i / 4 % 4, ftz = _i & 1, sat = _i >> 1 & 1 && op <= FMA;
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[200];
  fill(x, y, next_f32);
  snprintf(text, sizeof text, "%s.%s%s%s.f32 %s;", ops[op].name, rounding_names[mode], ftz ? ".ftz" : "",
           sat ? ".sat" : "", operands(ops[op].operands));
  run_lanes(text, "f32 f32 f32 f32", x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    float a = f32_of(y[3 * i]), b = f32_of(y[3 * i + 1]), c = f32_of(y[3 * i + 2]);
    if (ftz) a = flush(a), b = flush(b), c = flush(c);
    float want = host32(op, a, b, c, rounding_modes[mode]);
    if (sat) want = want > 0 ? (want < 1 ? want : 1.0f) : 0.0f;
    if (ftz) want = flush(want);
    uint32_t bits = want != want ? 0x7FFFFFFFu : bits_of(want);
    ck_assert_msg((uint32_t)x[3 * i] == bits, "%s %a %a %a: %a, expected %a", text, a, b, c, f32_of(x[3 * i]), want);
  }
}
END_TEST

START_TEST(wide) {
  int op = _i / 4, mode = _i % 4;
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[200];
  fill(x, y, next_f64);
  snprintf(text, sizeof text, "%s.%s.f64 %s;", ops[op].name, rounding_names[mode], operands(ops[op].operands));
  run_lanes(text, "f64 f64 f64 f64", x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    double a = f64_of(y[3 * i]), b = f64_of(y[3 * i + 1]), c = f64_of(y[3 * i + 2]), got = f64_of(x[3 * i]);
    double want = host64(op, a, b, c, rounding_modes[mode]);
    bool same = want != want ? got != got : x[3 * i] == bits64_of(want);
    ck_assert_msg(same, "%s %a %a %a: %a, expected %a", text, a, b, c, got, want);
  }
}
END_TEST

static long double rsqrt_(long double x) {
  return 1 / sqrtl(x);
}
static long double rcp_(long double x) {
  return 1 / x;
}
static const struct {
  const char *name;
  long double (*f)(long double);
  float low, high;
} functions[] = {{"sin", sinl, -100, 100},  {"cos", cosl, -100, 100},         {"lg2", log2l, 1e-30f, 1e30f},
                 {"ex2", exp2l, -125, 125}, {"rsqrt", rsqrt_, 1e-30f, 1e30f}, {"tanh", tanhl, -10, 10},
                 {"sqrt", sqrtl, 0, 1e30f}, {"rcp", rcp_, 1e-3f, 1e30f}};

START_TEST(approximations) {
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[100];
  for (int i = 0; i < COUNT * 3; i++) {
    double u = (double)(next() >> 11) * 0x1p-53, lo = functions[_i].low, hi = functions[_i].high;
    bool wide_range = lo > 0;
    y[i] = x[i] = bits_of((float)(wide_range ? lo * pow(hi / lo, u) : lo + (hi - lo) * u));
  }
  snprintf(text, sizeof text, "%s.approx.f32 %%d, %%a;", functions[_i].name);
  run_lanes(text, "f32 f32 f32 f32", x, COUNT);
  for (int i = 0; i < COUNT; i++) {
    long double want = functions[_i].f(f32_of(y[3 * i]));
    float got = f32_of(x[3 * i]);
    /* Correctly rounded but for the double in between: just over half a unit in the last place. */
    ck_assert_msg(fabsl(got - want) <= fabsl(want) * 0x1.0001p-24L + 0x1p-149L, "%s(%a) = %a, expected %La",
                  functions[_i].name, f32_of(y[3 * i]), got, want);
  }
}
END_TEST

START_TEST(approximation_edges) {
  static const struct {
    const char *text;
    uint32_t a, b, want;
  } cases[] = {
      {"ex2.approx.f32 %d, %a;", 0x80000001, 0, 0x3F800000},
      {"ex2.approx.f32 %d, %a;", 0xFF800000, 0, 0},
      {"ex2.approx.ftz.f32 %d, %a;", 0xC2FE0000, 0, 0},
      {"lg2.approx.f32 %d, %a;", 0, 0, 0xFF800000},
      {"lg2.approx.ftz.f32 %d, %a;", 1, 0, 0xFF800000},
      {"lg2.approx.f32 %d, %a;", 0xBF800000, 0, 0x7FFFFFFF},
      {"rcp.approx.f32 %d, %a;", 0x80000000, 0, 0xFF800000},
      {"rcp.approx.ftz.f32 %d, %a;", 1, 0, 0x7F800000},
      {"rsqrt.approx.f32 %d, %a;", 0x80000000, 0, 0xFF800000},
      {"rsqrt.approx.f32 %d, %a;", 0xBF800000, 0, 0x7FFFFFFF},
      {"sin.approx.f32 %d, %a;", 0x80000000, 0, 0x80000000},
      {"sin.approx.f32 %d, %a;", 0x7F800000, 0, 0x7FFFFFFF},
      {"div.approx.f32 %d, %a, %b;", 0x3F800000, 0x7F000000, 0},
      {"div.approx.f32 %d, %a, %b;", 0x7F800000, 0x7F000000, 0x7FFFFFFF},
      {"div.full.f32 %d, %a, %b;", 0x40400000, 0x40000000, 0x3FC00000},
      {"min.f32 %d, %a, %b;", 0, 0x80000000, 0x80000000},
      {"max.f32 %d, %a, %b;", 0x80000000, 0, 0},
      {"min.f32 %d, %a, %b;", 0x7FC00000, 0x40000000, 0x40000000},
      {"max.NaN.f32 %d, %a, %b;", 0x7FC00000, 0x40000000, 0x7FFFFFFF},
      {"max.xorsign.abs.f32 %d, %a, %b;", 0xC0400000, 0x40000000, 0xC0400000},
      {"abs.ftz.f32 %d, %a;", 0x80000001, 0, 0},
      {"neg.f32 %d, %a;", 1, 0, 0x80000001},
      {"copysign.f32 %d, %a, %b;", 0x80000000, 0x40000000, 0xC0000000},
      {".reg .pred %p; testp.subnormal.f32 %p, %a; selp.b32 %d, %b, 9, %p;", 1, 5, 5},
      {".reg .pred %p; testp.normal.f32 %p, %a; selp.b32 %d, %b, 9, %p;", 1, 5, 9},
      {".reg .pred %p; setp.ne.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", 0x7FC00000, 0, 0},
      {".reg .pred %p; setp.neu.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", 0x7FC00000, 0, 1},
      {".reg .pred %p; setp.eq.ftz.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", 1, 0x80000002, 1},
      {".reg .pred %p; setp.ltu.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", 0x3F800000, 0x7FC00000, 1},
      {".reg .pred %p; setp.nan.f32 %p, %a, %b; selp.b32 %d, 1, 0, %p;", 0x3F800000, 0x7FC00000, 1},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    uint64_t x[128 * 3];
    for (int i = 0; i < 128; i++)
      x[3 * i] = cases[k].a, x[3 * i + 1] = cases[k].b;
    run_lanes(cases[k].text, "b32 b32 b32 b32", x, 128);
    ck_assert_msg((uint32_t)x[3 * 77] == cases[k].want, "%s %08x %08x: %08x, expected %08x", cases[k].text, cases[k].a,
                  cases[k].b, (uint32_t)x[3 * 77], cases[k].want);
  }
}
END_TEST

/* ---- Halves: value of a code by definition, rounding by trying the neighbours ------------------------------------ */

static quad half_value(uint32_t h, int bf16) {
  int fraction = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, e = (int)(h >> fraction) & (bf16 ? 0xFF : 0x1F);
  quad m = (quad)(h & ((1u << fraction) - 1)) / (quad)(1 << fraction), scale = 1;
  int power = e ? e - bias : 1 - bias;
  for (int i = 0; i < abs(power); i++)
    scale = power > 0 ? scale * 2 : scale / 2;
  quad v = (e ? 1 + m : m) * scale;
  return h & 0x8000 ? -v : v;
}
static int half_is_nan(uint32_t h, int bf16) {
  return (h & 0x7FFF) > (bf16 ? 0x7F80u : 0x7C00u);
}
static int half_is_inf(uint32_t h, int bf16) {
  return (h & 0x7FFF) == (bf16 ? 0x7F80u : 0x7C00u);
}

/* Nearest even code of an exact value: binary search over the ordered codes. */
static uint32_t round_half(quad v, int negative, int bf16) {
  uint32_t infinity = bf16 ? 0x7F80 : 0x7C00, lo = 0, hi = infinity;
  quad a = v < 0 ? -v : v;
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (half_value(mid, bf16) <= a)
      lo = mid;
    else
      hi = mid;
  }
  /* The code after the largest number stands for infinity and lies where the next number would. */
  quad below = half_value(lo, bf16), above = hi == infinity
                                                 ? 2 * half_value(infinity - 1, bf16) - half_value(infinity - 2, bf16)
                                                 : half_value(hi, bf16);
  quad down = a - below, up = above - a;
  uint32_t code = down < up ? lo : up < down ? hi : lo & 1 ? hi : lo;
  return code | (negative ? 0x8000u : 0);
}

/* a + b; where 113 bits are too few, the neighbour with an odd last bit, which is no tie of any shorter format. */
static quad exact_sum(quad a, quad b) {
  __extension__ typedef unsigned __int128 image;
  quad sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
  image bits;
  memcpy(&bits, &sum, sizeof bits);
  if (error == 0 || bits & 1) return sum;
  bits += (error > 0) == (sum > 0) ? 1 : ~(image)0;
  memcpy(&sum, &bits, sizeof bits);
  return sum;
}

static void half_pairs(uint64_t *x, uint64_t *y, int bf16) {
  static const uint32_t edges[] = {0,      0x8000, 1,      0x8001, 0x3FF,  0x400,  0x7F,   0x80,
                                   0x3C00, 0x3F80, 0x7BFF, 0x7C00, 0xFC00, 0x7F7F, 0x7F80, 0x7FFF};
  uint32_t one = bf16 ? 0x3F80 : 0x3C00;
  for (int i = 0; i < COUNT * 3; i++) {
    uint64_t r = next();
    uint32_t h = r % 6 == 0  ? edges[(r >> 9) % 16]
                 : r % 6 < 3 ? (uint32_t)(r >> 20 & 0x81FF) + one - 0x100
                             : (uint32_t)(r >> 24 & 0xFFFF);
    y[i] = x[i] = h & 0xFFFF;
  }
}

static const char *const half_ops[] = {"add", "sub", "mul", "fma"};

START_TEST(half_arithmetic) {
  int op = _i / 2, bf16 = _i & 1;
  for (int round = 0; round < 8; round++) {
    uint64_t x[COUNT * 3], y[COUNT * 3];
    char text[100];
    half_pairs(x, y, bf16);
    snprintf(text, sizeof text, "%s.rn.%s %s;", half_ops[op], bf16 ? "bf16" : "f16", operands(op == 3 ? 3 : 2));
    run_lanes(text, "b16 b16 b16 b16", x, COUNT);
    for (int i = 0; i < COUNT; i++) {
      uint32_t a = (uint32_t)y[3 * i], b = (uint32_t)y[3 * i + 1], c = (uint32_t)y[3 * i + 2], got = (uint32_t)x[3 * i],
               want;
      bool special = half_is_nan(a, bf16) || half_is_inf(a, bf16) || half_is_nan(b, bf16) || half_is_inf(b, bf16) ||
                     (op == 3 && (half_is_nan(c, bf16) || half_is_inf(c, bf16)));
      if (special) { /* infinities and NaN behave in doubles as they do here */
        double p = half_is_nan(a, bf16)   ? NAN
                   : half_is_inf(a, bf16) ? (a & 0x8000 ? -INFINITY : INFINITY)
                                          : (double)half_value(a, bf16);
        double q = half_is_nan(b, bf16)   ? NAN
                   : half_is_inf(b, bf16) ? (b & 0x8000 ? -INFINITY : INFINITY)
                                          : (double)half_value(b, bf16);
        double s = half_is_nan(c, bf16)   ? NAN
                   : half_is_inf(c, bf16) ? (c & 0x8000 ? -INFINITY : INFINITY)
                                          : (double)half_value(c, bf16);
        double r = op == 0 ? p + q : op == 1 ? p - q : op == 2 ? p * q : p * q + s;
        ck_assert(isnan(r) || isinf(r));
        want = isnan(r) ? 0x7FFF : (bf16 ? 0x7F80u : 0x7C00u) | (r < 0 ? 0x8000u : 0);
      } else {
        quad p = half_value(a, bf16), q = half_value(b, bf16), s = half_value(c, bf16);
        quad r = op == 2 ? p * q : exact_sum(op == 3 ? p * q : p, op == 3 ? s : op == 1 ? -q : q);
        int sb = (int)(b >> 15) ^ (op == 1), sp = op >= 2 ? (int)((a ^ b) >> 15 & 1) : (int)(a >> 15);
        int other = op == 3 ? (int)(c >> 15) : sb;
        /* Exact zero: minus only if both terms are. */
        int negative = r != 0 ? r < 0 : op == 2 ? sp : sp && other;
        want = round_half(r, negative, bf16);
      }
      ck_assert_msg(got == want, "%s %04x %04x %04x: %04x, expected %04x", text, a, b, c, got, want);
    }
  }
}
END_TEST

/* The packed form does both halves alike. */
START_TEST(half_pairs_alike) {
  static const char *const packed[] = {"add.f16x2", "mul.f16x2",      "fma.rn.f16x2", "fma.rn.relu.bf16x2",
                                       "min.f16x2", "max.NaN.bf16x2", "sub.bf16x2",   "add.sat.f16x2"};
  char single[40], text[100];
  uint64_t lo[COUNT * 3], hi[COUNT * 3], both[COUNT * 3], y[COUNT * 3];
  int n = strncmp(packed[_i], "fma", 3) == 0 ? 3 : 2;
  snprintf(single, sizeof single, "%.*s", (int)strlen(packed[_i]) - 2, packed[_i]);
  half_pairs(lo, y, 0);
  half_pairs(hi, y, 0);
  for (int i = 0; i < COUNT * 3; i++)
    both[i] = lo[i] | hi[i] << 16;
  snprintf(text, sizeof text, "%s %s;", single, operands(n));
  run_lanes(text, "b16 b16 b16 b16", lo, COUNT);
  run_lanes(text, "b16 b16 b16 b16", hi, COUNT);
  snprintf(text, sizeof text, "%s %s;", packed[_i], operands(n));
  run_lanes(text, "b32 b32 b32 b32", both, COUNT);
  for (int i = 0; i < COUNT; i++)
    ck_assert_msg((uint32_t)both[3 * i] == ((uint32_t)lo[3 * i] & 0xFFFF) + ((uint32_t)hi[3 * i] << 16), "%s: %08x",
                  text, (uint32_t)both[3 * i]);
}
END_TEST

int main(void) {
  Suite *s = suite_create("Sim float");
  TCase *c = tcase_create("float");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, single_precision, 0, 7 * 16);
  tcase_add_loop_test(c, wide, 0, 7 * 4);
  tcase_add_loop_test(c, approximations, 0, sizeof functions / sizeof *functions);
  tcase_add_test(c, approximation_edges);
  tcase_add_loop_test(c, half_arithmetic, 0, 8);
  tcase_add_loop_test(c, half_pairs_alike, 0, 8);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
