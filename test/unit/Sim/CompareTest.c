/* setp and set: every comparison of every type, alone and combined with a predicate, against the host's comparisons.
 *
 * Each lane compares edge values and noise. A float comparison is decided by two facts: how the numbers are ordered and
 * whether one is no number. */
#include "RunPtx.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256 };

typedef struct source {
  const char *name;
  char kind; /* 's' signed, 'u' unsigned, 'b' bits, 'f' float, 'h' f16, 'g' bf16 */
  unsigned bits;
  bool packed, ftz;
} source;

static const source sources[] = {
    {"s16", 's', 16, 0, 0},   {"s32", 's', 32, 0, 0},    {"s64", 's', 64, 0, 0},  {"u16", 'u', 16, 0, 0},
    {"u32", 'u', 32, 0, 0},   {"u64", 'u', 64, 0, 0},    {"b16", 'b', 16, 0, 0},  {"b32", 'b', 32, 0, 0},
    {"b64", 'b', 64, 0, 0},   {"f32", 'f', 32, 0, 0},    {"f32", 'f', 32, 0, 1},  {"f64", 'f', 64, 0, 0},
    {"f16", 'h', 16, 0, 0},   {"f16", 'h', 16, 0, 1},    {"bf16", 'g', 16, 0, 0}, {"f16x2", 'h', 16, 1, 0},
    {"f16x2", 'h', 16, 1, 1}, {"bf16x2", 'g', 16, 1, 0},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* Comparisons: which of less, equal, greater, unordered make them true. */
static const struct {
  const char *name, *kinds;
  unsigned lt, eq, gt, un;
} comparisons[] = {
    {"eq", "subfhg", 0, 1, 0, 0}, {"ne", "subfhg", 1, 0, 1, 0}, {"lt", "sufhg", 1, 0, 0, 0},
    {"le", "sufhg", 1, 1, 0, 0},  {"gt", "sufhg", 0, 0, 1, 0},  {"ge", "sufhg", 0, 1, 1, 0},
    {"lo", "u", 1, 0, 0, 0},      {"ls", "u", 1, 1, 0, 0},      {"hi", "u", 0, 0, 1, 0},
    {"hs", "u", 0, 1, 1, 0},      {"equ", "fhg", 0, 1, 0, 1},   {"neu", "fhg", 1, 0, 1, 1},
    {"ltu", "fhg", 1, 0, 0, 1},   {"leu", "fhg", 1, 1, 0, 1},   {"gtu", "fhg", 0, 0, 1, 1},
    {"geu", "fhg", 0, 1, 1, 1},   {"num", "fhg", 1, 1, 1, 0},   {"nan", "fhg", 0, 0, 0, 1},
};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };
static const char *const combinations[] = {"", "and", "or", "xor"};

/* ---- Values ---- */
static uint64_t noise = 88172645463325252u;
static uint64_t next(void) {
  noise ^= noise << 13;
  noise ^= noise >> 7;
  noise ^= noise << 17;
  return noise;
}
static uint64_t value(const source *s) {
  static const uint64_t ints[] = {0, 1, 5, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, UINT64_MAX};
  static const uint32_t halves[] = {0,      0x8000, 1,      0x8001, 0x3C00, 0xBC00,
                                    0x3F80, 0x7C00, 0xFC00, 0x7F80, 0x7E00, 0x7FC0};
  static const uint32_t singles[] = {0, 0x80000000, 1, 0x80000001, 0x3F800000, 0xBF800000, 0x7F800000, 0x7FC00000};
  uint64_t r = next();
  if (r % 4 == 0) return next();
  r >>= 8;
  if (s->packed) return halves[r % 12] | halves[r / 12 % 12] << 16;
  if (s->kind == 'h' || s->kind == 'g') return halves[r % 12];
  if (s->kind != 'f') return ints[r % 10];
  if (s->bits == 32) return singles[r % 8];
  return (uint64_t)singles[r % 8] << 32;
}
static double number(const source *s, uint64_t x) {
  uint32_t word = s->kind == 'g' ? (uint32_t)(x & 0xFFFF) << 16 : (uint32_t)x;
  float single;
  double wide;
  memcpy(&single, &word, 4);
  memcpy(&wide, &x, 8);
  if (s->kind == 'h') {
    int e = (int)(x >> 10 & 31);
    double m = (double)(x & 1023);
    wide = e == 31 ? (m != 0 ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    if (s->ftz && e == 0) wide = 0;
    return x & 0x8000 ? -wide : wide;
  }
  if (s->bits == 64) return wide;
  return s->ftz && fpclassify(single) == FP_SUBNORMAL ? 0 : (double)single;
}
static int64_t extend(uint64_t x, unsigned bits) {
  return (int64_t)(x << (64 - bits)) >> (64 - bits);
}

static bool holds(const source *s, unsigned comparison, uint64_t a, uint64_t b) {
  bool lt, eq, un = false;
  uint64_t mask = UINT64_MAX >> (64 - s->bits);
  if (strchr("fhg", s->kind)) {
    double x = number(s, a), y = number(s, b);
    un = isnan(x) || isnan(y), lt = x < y, eq = x == y;
  } else {
    eq = (a & mask) == (b & mask);
    lt = s->kind == 's' ? extend(a, s->bits) < extend(b, s->bits) : (a & mask) < (b & mask);
  }
  return un   ? comparisons[comparison].un
         : lt ? comparisons[comparison].lt
         : eq ? comparisons[comparison].eq
              : comparisons[comparison].gt;
}
static bool combine(unsigned how, bool x, bool c) {
  return how == 0 ? x : how == 1 ? x && c : how == 2 ? x || c : x != c;
}

static void fill(const source *s, uint64_t *x, uint64_t *y) {
  for (int i = 0; i < 3 * COUNT; i++)
    x[i] = y[i] = i % 3 < 2 ? value(s) : next() & 1;
}
static void types(const source *s, const char *d, char *out) {
  unsigned bits = s->packed ? 32 : s->bits;
  sprintf(out, "%s b%u b%u b32", d, bits, bits);
}

/* Both results of setp, into bits 0 and 1. The second is of the negated comparison, or of the upper half. */
static void check_setp(const source *s, unsigned c, unsigned how) {
  static uint64_t x[3 * COUNT], y[3 * COUNT];
  char text[512], registers[64];
  fill(s, x, y);
  types(s, "b32", registers);
  sprintf(text,
          ".reg .pred %%p<3>; .reg .b32 %%t<2>; setp.ne.u32 %%p2, %%c, 0; setp.%s%s%s%s.%s %%p0|%%p1, %%a, %%b%s; "
          "selp.b32 %%t0, 1, 0, %%p0; selp.b32 %%t1, 2, 0, %%p1; or.b32 %%d, %%t0, %%t1;",
          comparisons[c].name, how ? "." : "", combinations[how], s->ftz ? ".ftz" : "", s->name, how ? ", %p2" : "");
  run_lanes(text, registers, x, COUNT);
  for (int i = 0; i < 3 * COUNT; i += 3) {
    bool lower = holds(s, c, y[i], y[i + 1]), upper = holds(s, c, y[i] >> 16, y[i + 1] >> 16), with = y[i + 2];
    unsigned want = combine(how, lower, with) | combine(how, s->packed ? upper : !lower, with) * 2u;
    ck_assert_msg((x[i] & UINT32_MAX) == want, "%s\n%llx %llx %d: got %x, expected %x", text, (unsigned long long)y[i],
                  (unsigned long long)y[i + 1], with, (unsigned)x[i], want);
  }
}

/* One result of set, by destination type. */
static uint64_t truth(const source *s, const char *d, bool lower, bool upper) {
  if (strcmp(d, "f32") == 0) return lower ? 0x3F800000 : 0;
  unsigned one = s->kind == 'g' ? 0x3F80 : 0x3C00;
  if (strstr(d, "f16")) return (lower ? one : 0) | (s->packed && upper ? one << 16 : 0);
  if (s->packed) return (lower ? 0xFFFFu : 0) | (upper ? 0xFFFF0000u : 0);
  return lower ? (strstr(d, "16") ? 0xFFFF : UINT32_MAX) : 0;
}
static void check_set(const source *s, unsigned c, unsigned how, const char *d) {
  static uint64_t x[3 * COUNT], y[3 * COUNT];
  char text[512], registers[64];
  bool narrow = !s->packed && strstr(d, "16");
  fill(s, x, y);
  types(s, narrow ? "b16" : "b32", registers);
  sprintf(text, ".reg .pred %%p; setp.ne.u32 %%p, %%c, 0; set.%s%s%s%s.%s.%s %%d, %%a, %%b%s;", comparisons[c].name,
          how ? "." : "", combinations[how], s->ftz ? ".ftz" : "", d, s->name, how ? ", %p" : "");
  run_lanes(text, registers, x, COUNT);
  for (int i = 0; i < 3 * COUNT; i += 3) {
    bool lower = combine(how, holds(s, c, y[i], y[i + 1]), y[i + 2] & 1);
    bool upper = combine(how, holds(s, c, y[i] >> 16, y[i + 1] >> 16), y[i + 2] & 1);
    uint64_t want = truth(s, d, lower, upper), got = x[i] & (narrow ? 0xFFFF : UINT32_MAX);
    ck_assert_msg(got == want, "%s\n%llx %llx: got %llx, expected %llx", text, (unsigned long long)y[i],
                  (unsigned long long)y[i + 1], (unsigned long long)got, (unsigned long long)want);
  }
}

START_TEST(comparing) {
  static const char *const whole[] = {"u32", "s32", "f32"}, *const half[] = {"f16", "u16", "u32", "s16", "s32"},
                           *const brain[] = {"bf16", "u16", "u32", "s16", "s32"},
                           *const halves[] = {"f16x2", "u32", "s32"}, *const brains[] = {"bf16x2", "u32", "s32"};
  const source *s = &sources[_i];
  bool h = s->kind == 'h', g = s->kind == 'g';
  const char *const *d = s->packed ? (h ? halves : brains) : h ? half : g ? brain : whole;
  unsigned n = s->packed || !(h || g) ? 3 : 5;
  for (unsigned c = 0, turn = 0; c < COMPARISONS; c++) {
    if (!strchr(comparisons[c].kinds, s->kind)) continue;
    for (unsigned how = 0; how < 4; how++, turn++) {
      check_setp(s, c, how);
      check_set(s, c, how, d[(turn + turn / 4) % n]);
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("Sim comparison");
  TCase *tcase = tcase_create("setp and set");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, comparing, 0, SOURCES);
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
