/* wmma: load, product and store of every shape and type, in all layouts, from generic, global and shared memory, with and
 * without a leading dimension, against plain products. All values are chosen so that every sum is exact.
 *
 *   buffer, in bytes:   A at 0 | B at 2048 | C at 6144 | D at 10240 | end at 14336 */
#include "Exact.h"
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { F16, BF16, TF32, U8, S8, U4, S4, B1, F64, F32, S32, KINDS } kind;
static const struct {
  const char *name;
  unsigned bits;
} kinds[KINDS] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"u8", 8},   {"s8", 8},  {"u4", 4},
                  {"s4", 4},   {"b1", 1},    {"f64", 64},  {"f32", 32}, {"s32", 32}};

typedef struct form {
  unsigned m, n, k;
  kind d, a, b, c;
  const char *mode; /* "" | "xor" "and" of bits | "satfinite" | a rounding */
} form;

#define WIDE(d, a, b, c, mode)                                                                                         \
  {16, 16, 16, d, a, b, c, mode}, {8, 32, 16, d, a, b, c, mode}, {                                                     \
    32, 8, 16, d, a, b, c, mode                                                                                        \
  }
static const form forms[] = {
    WIDE(F16, F16, F16, F16, ""),
    WIDE(F32, F16, F16, F32, ""),
    WIDE(F32, F16, F16, F16, ""),
    WIDE(F16, F16, F16, F32, ""),
    WIDE(F32, BF16, BF16, F32, ""),
    {16, 16, 8, F32, TF32, TF32, F32, ""},
    {8, 8, 4, F64, F64, F64, F64, ""},
    {8, 8, 4, F64, F64, F64, F64, "rn"},
    {8, 8, 4, F64, F64, F64, F64, "rz"},
    {8, 8, 4, F64, F64, F64, F64, "rm"},
    {8, 8, 4, F64, F64, F64, F64, "rp"},
    WIDE(S32, U8, U8, S32, ""),
    WIDE(S32, S8, S8, S32, "satfinite"),
    WIDE(S32, U8, U8, S32, "satfinite"),
    {8, 8, 32, S32, U4, U4, S32, "satfinite"},
    {8, 8, 32, S32, U4, U4, S32, ""},
    {8, 8, 32, S32, S4, S4, S32, "satfinite"},
    {8, 8, 128, S32, B1, B1, S32, "xor"},
    {8, 8, 128, S32, B1, B1, S32, "and"},
};
enum { FORMS = sizeof forms / sizeof *forms, LAYOUTS = 16, BYTES = 14336 };
static const unsigned place_of[4] = {0, 2048, 6144, 10240}; /* A, B, C, D */

/* One matrix of a form: of `rows` x `cols`, by rows or by columns in memory. */
typedef struct matrix {
  kind type;
  unsigned rows, cols, lead;
  bool by_columns;
} matrix;

static matrix matrix_of(const form *f, unsigned which, unsigned layouts, bool padded) {
  matrix x = {.type = which == 0   ? f->a
                      : which == 1 ? f->b
                      : which == 2 ? f->c
                                   : f->d,
              .rows = which == 1 ? f->k : f->m,
              .cols = which == 0 ? f->k : f->n,
              .by_columns = layouts >> which & 1};
  if (kinds[x.type].bits < 8) x.by_columns = which == 1; /* the only layouts that such operands have */
  x.lead = (x.by_columns ? x.rows : x.cols) + (padded ? 128 / kinds[x.type].bits : 0);
  return x;
}
static size_t index_of(const matrix *x, unsigned r, unsigned c) {
  return x->by_columns ? (size_t)c * x->lead + r : (size_t)r * x->lead + c;
}

/* ---- Values ---- */
static uint64_t state = 2463534242u;
static unsigned roll(unsigned n) {
  return (unsigned)random_below(&state, n);
}
static double element(kind t, bool extreme) {
  if (t == S32 && extreme) return roll(2) ? 2147483600.0 : -2147483600.0;
  if (t == S32) return (double)roll(200001) - 100000;
  if (t == U8 || t == U4 || t == B1) return roll(1u << kinds[t].bits);
  if (t == S8 || t == S4) return (double)roll(1u << kinds[t].bits) - (1 << (kinds[t].bits - 1));
  return (double)roll(7) - 3;
}
static uint64_t encode(kind t, double x) {
  float single = (float)x;
  uint32_t bits;
  uint64_t wide;
  int e;
  memcpy(&bits, &single, 4);
  memcpy(&wide, &x, 8);
  if (t == F64) return wide;
  if (t == F32 || t == TF32) return bits;
  if (t == BF16) return bits >> 16;
  if (t != F16) return (uint64_t)(int64_t)x;
  double fraction = frexp(fabs(x), &e);
  return x == 0 ? 0 : (x < 0 ? 0x8000u : 0) | (uint64_t)(e + 14) << 10 | ((uint64_t)(fraction * 2048) & 1023);
}
static void put(unsigned char *base, kind t, size_t i, uint64_t code) {
  unsigned bits = kinds[t].bits;
  if (bits >= 8) {
    memcpy(base + i * bits / 8, &code, bits / 8);
    return;
  }
  unsigned shift = (unsigned)(i * bits % 8), mask = ((1u << bits) - 1) << shift;
  base[i * bits / 8] = (unsigned char)((base[i * bits / 8] & ~mask) | ((unsigned)code << shift & mask));
}
static uint64_t get(const unsigned char *base, kind t, size_t i) {
  uint64_t code = 0;
  memcpy(&code, base + i * kinds[t].bits / 8, kinds[t].bits / 8);
  return code;
}

/* ---- The kernel ---- */
static unsigned registers(const matrix *x, unsigned which) {
  if (x->type == F16 && which < 2) return 8;
  unsigned words = x->rows * x->cols * kinds[x->type].bits / 1024;
  return x->type == F64 ? words / 2 : words;
}
static size_t list(char *out, char prefix, unsigned n) {
  size_t used = (size_t)sprintf(out, "{");
  for (unsigned i = 0; i < n; i++)
    used += (size_t)sprintf(out + used, "%s%%%c%u", i ? ", " : "", prefix, i);
  return used + (size_t)sprintf(out + used, "}");
}
static size_t transfer(char *out, const form *f, const matrix *x, unsigned which, const char *space, bool padded) {
  size_t n =
      (size_t)sprintf(out, "wmma.%s.%c.sync.aligned.%s.m%un%uk%u%s.%s ", which == 3 ? "store" : "load", "abcd"[which],
                      x -> by_columns ? "col" : "row", f->m, f->n, f->k, space, kinds[x->type].name);
  if (which < 3) {
    n += list(out + n, "abcd"[which], registers(x, which));
    n += (size_t)sprintf(out + n, ", [%%rd1 + %u]", place_of[which]);
  } else {
    n += (size_t)sprintf(out + n, "[%%rd1 + %u], ", place_of[which]);
    n += list(out + n, 'd', registers(x, which));
  }
  if (padded) n += (size_t)sprintf(out + n, ", %u", x->lead);
  return n + (size_t)sprintf(out + n, ";\n");
}
static size_t product(char *out, const form *f, const matrix x[4]) {
  bool bits = f->a == B1, named = f->a != F16; /* halves go without saying */
  size_t n = (size_t)sprintf(out, "wmma.mma%s%s%s.sync.aligned.%s.%s.m%un%uk%u.%s", bits ? "." : "",
                             bits ? f->mode : "", bits ? ".popc" : "", x[0].by_columns ? "col" : "row",
                             x[1].by_columns ? "col" : "row", f->m, f->n, f->k, kinds[f->d].name);
  if (named) n += (size_t)sprintf(out + n, ".%s.%s", kinds[f->a].name, kinds[f->b].name);
  n += (size_t)sprintf(out + n, ".%s", kinds[f->c].name);
  if (strcmp(f->mode, "satfinite") == 0 || f->mode[0] == 'r') n += (size_t)sprintf(out + n, ".%s", f->mode);
  static const unsigned order[4] = {3, 0, 1, 2};
  for (unsigned i = 0; i < 4; i++) {
    n += (size_t)sprintf(out + n, i ? ", " : " ");
    n += list(out + n, "abcd"[order[i]], registers(&x[order[i]], order[i]));
  }
  return n + (size_t)sprintf(out + n, ";\n");
}

/* Copies the buffer between global memory (%rd0) and shared memory (%rd1, a generic or shared address). */
static size_t copy(char *out, bool in, const char *label) {
  return (size_t)sprintf(
      out,
      "mov.u32 %%r0, %%tid.x; mul.lo.u32 %%r0, %%r0, 4;\n$%s: cvt.u64.u32 %%rd2, %%r0; add.u64 %%rd3, "
      "%%rd0, %%rd2; add.u64 %%rd4, %%rd1, %%rd2;\nld.%s.b32 %%r1, [%%rd%u]; st.%s.b32 [%%rd%u], "
      "%%r1;\nadd.u32 %%r0, %%r0, 128; setp.lt.u32 %%p, %%r0, %u; @%%p bra $%s; bar.warp.sync -1;\n",
      label, in ? "global" : "shared", in ? 3u : 4u, in ? "shared" : "global", in ? 4u : 3u, (unsigned)BYTES, label);
}

static void write_kernel(char *out, const form *f, const matrix x[4], const char *space, bool padded) {
  const char *type = f->d == F64 ? "f64" : "b32";
  bool shared = strstr(space, "shared") != NULL;
  size_t n = (size_t)sprintf(out,
                             ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                             ".reg .%s %%a<9>, %%b<9>, %%c<9>, %%d<9>; .reg .b64 %%rd<5>; .reg .b32 %%r<3>; .reg .pred "
                             "%%p;\n.shared .align 32 .b8 s[%u];\nld.param.u64 %%rd0, [p]; mov.u64 %%rd1, %s;\n",
                             type, (unsigned)BYTES, shared ? "s" : "%rd0");
  if (shared) n += copy(out + n, true, "in");
  for (unsigned i = 0; i < 3; i++)
    n += transfer(out + n, f, &x[i], i, space, padded);
  n += product(out + n, f, x);
  n += transfer(out + n, f, &x[3], 3, space, padded);
  if (shared) n += (size_t)sprintf(out + n, "bar.warp.sync -1;\n");
  if (shared) n += copy(out + n, false, "out");
  (void)sprintf(out + n, "ret;\n}\n");
}

/* A chain of fused multiply-adds, each rounded by the host. */
static double rounded(const form *f, const double *a, const double *b, double c, unsigned i, unsigned j) {
  volatile double sum = c;
  fesetround(exact_host_mode(f->mode[1]));
  for (unsigned k = 0; k < f->k; k++) {
    volatile double x = a[i * f->k + k], y = b[k * f->n + j];
    sum = fma(x, y, sum);
  }
  fesetround(FE_TONEAREST);
  return sum;
}

static double expected(const form *f, const double *a, const double *b, double c, unsigned i, unsigned j) {
  if (f->mode[0] == 'r') return rounded(f, a, b, c, i, j);
  for (unsigned k = 0; k < f->k; k++) {
    double x = a[i * f->k + k], y = b[k * f->n + j];
    c += strcmp(f->mode, "xor") == 0 ? (double)(x != y) : x * y;
  }
  if (strcmp(f->mode, "satfinite") == 0) c = c > INT32_MAX ? INT32_MAX : c < INT32_MIN ? INT32_MIN : c;
  return c;
}

static void fill(const form *f, const matrix *x, unsigned char *base, double *values) {
  for (unsigned r = 0; r < x->rows; r++)
    for (unsigned c = 0; c < x->cols; c++) {
      values[r * x->cols + c] = element(x->type, strcmp(f->mode, "satfinite") == 0) / (f->mode[0] == 'r' ? 3 : 1);
      put(base, x->type, index_of(x, r, c), encode(x->type, values[r * x->cols + c]));
    }
}

START_TEST(every_form) {
  static const char *const spaces[] = {"", ".global", ".shared", ".shared::cta"};
  static unsigned char buffer[BYTES];
  static double values[3][4096];
  char ptx[8192];
  const form *f = &forms[_i / LAYOUTS];
  bool padded = (_i ^ _i / LAYOUTS) & 1;
  matrix x[4];
  memset(buffer, 0xA5, sizeof buffer);
  for (unsigned i = 0; i < 4; i++)
    x[i] = matrix_of(f, i, (unsigned)_i % LAYOUTS, padded);
  for (unsigned i = 0; i < 3; i++)
    fill(f, &x[i], buffer + place_of[i], values[i]);
  write_kernel(ptx, f, x, spaces[(_i >> 1 ^ _i / LAYOUTS) & 3], padded);
  run_ptx("sm_90", ptx, 1, 32, buffer, sizeof buffer);
  for (unsigned i = 0; i < f->m; i++)
    for (unsigned j = 0; j < f->n; j++) {
      double want = expected(f, values[0], values[1], values[2][i * f->n + j], i, j);
      uint64_t code = encode(f->d, want), got = get(buffer + place_of[3], f->d, index_of(&x[3], i, j));
      if (f->d == S32) code &= UINT32_MAX;
      ck_assert_msg(got == code, "(%u, %u): got %llx, expected %llx (%g)\n%s", i, j, (unsigned long long)got,
                    (unsigned long long)code, want, ptx);
    }
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, every_form, 0, FORMS * LAYOUTS);
  return run_case("Sim wmma", tcase);
}
