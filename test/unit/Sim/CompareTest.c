/* setp, set, selp and slct in every form of the table: each comparison of each type, alone and combined with a predicate,
 * against the host's comparisons. A float comparison is decided by two facts: how the numbers are ordered and whether one
 * is no number. */
#include "Exact.h"
#include "Harness.h"
#include "Vectors.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which of less, equal, greater, unordered make a comparison true. */
static const struct {
  const char *name;
  bool lt, eq, gt, un;
} comparisons[] = {
    {"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},  {"gt", 0, 0, 1, 0},
    {"ge", 0, 1, 1, 0},  {"lo", 1, 0, 0, 0},  {"ls", 1, 1, 0, 0},  {"hi", 0, 0, 1, 0},  {"hs", 0, 1, 1, 0},
    {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1}, {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1},
    {"geu", 0, 1, 1, 1}, {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1},
};

static double number(const vec_form *f, const char *type, uint64_t bits) {
  exact_format format = exact_format_of(type);
  if (format < EXACT_FORMATS) {
    uint32_t code = (uint32_t)bits & 0xFFFF;
    return (double)exact_value(format, vec_has(f, "ftz") && exact_is_subnormal(format, code) ? code & 0x8000 : code);
  }
  if (strcmp(type, "f64") == 0) return exact_double(bits);
  return (double)(vec_has(f, "ftz") ? exact_flush(exact_single(bits)) : exact_single(bits));
}

static bool holds(const vec_form *f, const char *type, uint64_t a, uint64_t b) {
  bool lt, eq, un = false;
  size_t c = 0;
  while (strcmp(comparisons[c].name, f->mods[0]) != 0)
    if (++c == sizeof comparisons / sizeof *comparisons) ck_abort_msg("no comparison %s", f->mods[0]);
  if (strchr(type, 'f')) {
    double x = number(f, type, a), y = number(f, type, b);
    un = isnan(x) || isnan(y), lt = x < y, eq = x == y;
  } else {
    unsigned up = 64 - vec_bits(type); /* so that the sign is where the host has it */
    a <<= up, b <<= up;
    eq = a == b, lt = type[0] == 's' ? (int64_t)a < (int64_t)b : a < b;
  }
  return un ? comparisons[c].un : lt ? comparisons[c].lt : eq ? comparisons[c].eq : comparisons[c].gt;
}

static bool combine(const vec_form *f, bool x, bool with) {
  return vec_has(f, "and") ? x && with : vec_has(f, "or") ? x || with : vec_has(f, "xor") ? x != with : x;
}

/* The second predicate is of the negated comparison, or of the upper halves. */
static vec_result evaluate_setp(const vec_form *f, const uint64_t *s) {
  const char *type = f->types[0];
  bool packed = strstr(type, "x2"), lower = holds(f, type, s[0], s[1]), with = f->source_count > 2 && s[2];
  bool second = packed ? holds(f, type, s[0] >> 16, s[1] >> 16) : !lower;
  return (vec_result){combine(f, lower, with), f->paired ? combine(f, second, with) : 7};
}

static uint64_t one(const char *type) {
  return strcmp(type, "f32") == 0 ? 0x3F800000 : type[0] == 'f' ? 0x3C00 : type[0] == 'b' ? 0x3F80 : UINT32_MAX;
}
static vec_result evaluate_set(const vec_form *f, const uint64_t *s) {
  const char *to = f->types[0], *type = f->types[1];
  bool packed = strstr(type, "x2"), with = f->source_count > 2 && s[2];
  uint64_t lower = combine(f, holds(f, type, s[0], s[1]), with) ? one(to) : 0;
  if (!packed) return (vec_result){lower, 7};
  uint64_t upper = combine(f, holds(f, type, s[0] >> 16, s[1] >> 16), with) ? one(to) : 0;
  return (vec_result){(lower & 0xFFFF) | (upper & 0xFFFF) << 16, 7};
}

/* slct takes the first source where the third is not negative; -0 is not, NaN is. */
static vec_result evaluate_choice(const vec_form *f, const uint64_t *s) {
  bool first = s[2] != 0;
  if (strcmp(f->opcode, "slct") == 0)
    first = strcmp(f->types[1], "s32") == 0 ? (int32_t)s[2] >= 0 : number(f, "f32", s[2]) >= 0;
  return (vec_result){first ? s[0] : s[1], 7};
}

static vec_result evaluate(const vec_form *f, const uint64_t s[VEC_SOURCES]) {
  if (strcmp(f->opcode, "setp") == 0) return evaluate_setp(f, s);
  return strcmp(f->opcode, "set") == 0 ? evaluate_set(f, s) : evaluate_choice(f, s);
}

/* f64 has no .ftz. Comparisons of halves give halves of the same kind or integers, both of the packed ones in 32 bits. */
static bool legal(const vec_form *f) {
  const char *to = f->types[0], *from = f->types[f->type_count - 1];
  if (strcmp(from, "f64") == 0) return !vec_has(f, "ftz");
  if (strcmp(f->opcode, "set") != 0 || exact_format_of(from) == EXACT_FORMATS) return true;
  if (exact_format_of(to) != EXACT_FORMATS) return strcmp(to, from) == 0;
  return !strstr(from, "x2") || vec_bits(to) == 32;
}

static bool of_halves(const tf_row *row) {
  return strncmp(row->opcode, "set", 3) == 0; /* the rest of the family is HalfTest's */
}

static const vec_suite wide = {.family = "Compare", .evaluate = evaluate, .legal = legal};
static const vec_suite half = {.family = "Half", .wanted = of_halves, .evaluate = evaluate, .legal = legal};

START_TEST(wide_rows) {
  vec_check(&wide, _i);
}
END_TEST
START_TEST(half_rows) {
  vec_check(&half, _i);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("setp, set, selp, slct");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, wide_rows, 0, vec_rows(&wide));
  tcase_add_loop_test(tcase, half_rows, 0, vec_rows(&half));
  return run_case("Sim comparison", tcase);
}
