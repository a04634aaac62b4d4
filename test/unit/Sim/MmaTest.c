/* mma.sync, every shape and type, against the PTX ISA's fragment formulas and exact sums.
 *
 * For each form a kernel loads the registers of all lanes, executes the instruction and stores the result. The test fills
 * matrices with random elements, places element i of each lane's fragment where the ISA says, and multiplies in integers
 * or long double. Elements are chosen so that every sum is exact in double. */
#include "Exact.h"
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { F16, BF16, TF32, E4M3, E5M2, U8, S8, U4, S4, B1, F64, F32, S32, KINDS } kind;
static const struct {
  const char *name;
  unsigned bits;
} kinds[KINDS] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8}, {"u8", 8},  {"s8", 8},
                  {"u4", 4},   {"s4", 4},    {"b1", 1},    {"f64", 64}, {"f32", 32}, {"s32", 32}};

typedef struct form {
  unsigned m, k;
  kind d, a, b, c;
  const char *extra; /* "" | ".satfinite" before the types | ".xor.popc" or a rounding after them */
} form;

static const form forms[] = {
    {16, 8, F32, F16, F16, F32, ""},
    {16, 8, F16, F16, F16, F16, ""},
    {16, 16, F32, F16, F16, F32, ""},
    {16, 16, F16, F16, F16, F16, ""},
    {16, 8, F32, BF16, BF16, F32, ""},
    {16, 16, F32, BF16, BF16, F32, ""},
    {16, 4, F32, TF32, TF32, F32, ""},
    {16, 8, F32, TF32, TF32, F32, ""},
    {16, 32, F32, E4M3, E4M3, F32, ""},
    {16, 32, F32, E4M3, E5M2, F32, ""},
    {16, 32, F32, E5M2, E4M3, F32, ""},
    {16, 32, F16, E4M3, E5M2, F16, ""},
    {16, 32, F16, E5M2, E4M3, F16, ""},
    {16, 16, F32, E5M2, E5M2, F32, ""},
    {16, 16, F32, E4M3, E4M3, F32, ""},
    {16, 16, F16, E4M3, E5M2, F16, ""},
    {16, 16, F16, E5M2, E4M3, F16, ""},
    {8, 16, S32, S8, S8, S32, ""},
    {8, 16, S32, U8, S8, S32, ""},
    {8, 16, S32, S8, U8, S32, ".satfinite"},
    {8, 16, S32, U8, U8, S32, ".satfinite"},
    {16, 16, S32, S8, U8, S32, ""},
    {16, 32, S32, S8, S8, S32, ""},
    {16, 32, S32, U8, U8, S32, ""},
    {16, 32, S32, S8, S8, S32, ".satfinite"},
    {8, 32, S32, S4, U4, S32, ""},
    {8, 32, S32, U4, S4, S32, ".satfinite"},
    {8, 32, S32, U4, U4, S32, ""},
    {16, 32, S32, S4, S4, S32, ""},
    {16, 64, S32, U4, S4, S32, ""},
    {16, 32, S32, S4, U4, S32, ".satfinite"},
    {16, 64, S32, U4, U4, S32, ""},
    {16, 64, S32, S4, S4, S32, ".satfinite"},
    {8, 128, S32, B1, B1, S32, ".xor.popc"},
    {8, 128, S32, B1, B1, S32, ".and.popc"},
    {16, 128, S32, B1, B1, S32, ".and.popc"},
    {16, 256, S32, B1, B1, S32, ".xor.popc"},
    {16, 256, S32, B1, B1, S32, ".and.popc"},
    {8, 4, F64, F64, F64, F64, ""},
    {16, 4, F64, F64, F64, F64, ""},
    {16, 8, F64, F64, F64, F64, ""},
    {16, 16, F64, F64, F64, F64, ""},
    {8, 4, F64, F64, F64, F64, ".rn"},
    {8, 4, F64, F64, F64, F64, ".rz"},
    {8, 4, F64, F64, F64, F64, ".rm"},
    {8, 4, F64, F64, F64, F64, ".rp"},
    {16, 4, F64, F64, F64, F64, ".rn"},
    {16, 8, F64, F64, F64, F64, ".rz"},
    {16, 16, F64, F64, F64, F64, ".rm"},
    {16, 16, F64, F64, F64, F64, ".rp"},
};

/* .satfinite, .xor.popc, .rz */
static bool extra_is(const form *f, char letter) {
  return f->extra[0] && f->extra[1] == letter;
}

/* ---- The ISA's maps: position of element i of a lane's fragment ---- */
static void a_position(const form *f, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
  unsigned g = lane >> 2, t = lane % 4, bits = kinds[f->a].bits, p = bits == 64 ? 1 : 32 / bits;
  if (f->m == 8) {
    *row = g, *col = t * p + i;
  } else {
    unsigned chunk = i / p; /* chunks alternate between the upper and the lower rows, then go on along k */
    *row = chunk % 2 == 0 ? g : g + 8;
    *col = t * p + i % p + (i < 2 * p ? 0 : chunk / 2 * 4 * p);
  }
}
static void b_position(const form *f, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
  unsigned bits = kinds[f->b].bits, p = bits == 64 ? 1 : 32 / bits;
  *row = lane % 4 * p + i % p + i / p * 4 * p;
  *col = lane >> 2;
}
static void c_position(unsigned lane, unsigned i, unsigned *row, unsigned *col) {
  *row = i < 2 ? lane >> 2 : (lane >> 2) + 8;
  *col = lane % 4 * 2 + (i & 1);
}

/* ---- Encoding exactly representable values ---- */
static uint64_t encode(kind t, double x) {
  float single = (float)x;
  uint32_t bits;
  uint64_t wide;
  int e;
  memcpy(&bits, &single, 4);
  memcpy(&wide, &x, 8);
  double fraction = frexp(fabs(x), &e); /* in [0.5, 1) */
  uint64_t sign = signbit(x) ? 1 : 0;
  switch (t) {
  case F32:
  case TF32:
    return bits;
  case F64:
    return wide;
  case BF16:
    return bits >> 16;
  case F16:
    return x == 0 ? sign << 15 : sign << 15 | (uint64_t)(e + 14) << 10 | ((uint64_t)(fraction * 2048) & 1023);
  case E5M2:
    return x == 0 ? sign << 7 : sign << 7 | (uint64_t)(e + 14) << 2 | ((uint64_t)(fraction * 8) & 3);
  case E4M3:
    return x == 0 ? sign << 7 : sign << 7 | (uint64_t)(e + 6) << 3 | ((uint64_t)(fraction * 16) & 7);
  default:
    return (uint64_t)(int64_t)x;
  }
}

static uint64_t state = 12345;
static unsigned roll(unsigned n) {
  return (unsigned)random_below(&state, n);
}
static double element(kind t) {
  switch (t) {
  case U8:
    return roll(256);
  case S8:
    return (double)roll(256) - 128;
  case U4:
    return roll(16);
  case S4:
    return (double)roll(16) - 8;
  case B1:
    return roll(2);
  case S32:
    return (double)roll(2000000) - 1000000;
  case E5M2:
    return ((double)roll(4) + 4) * ldexp(roll(2) ? 1 : -1, (int)roll(5) - 4);
  case E4M3:
    return ((double)roll(8) + 8) * ldexp(roll(2) ? 1 : -1, (int)roll(5) - 6);
  default:
    return ((double)roll(61) - 30) / 4;
  }
}

/* ---- One run ---- */
typedef struct data {
  double a[16][256], b[256][8], c[16][8];
  uint32_t regs[4][32][16]; /* D, A, B, C: by lane, 32-bit words */
} data;

static unsigned words(unsigned rows, unsigned cols, kind t) {
  return rows * cols * kinds[t].bits / (32 * 32);
}

static void place(uint32_t *lane_words, unsigned i, kind t, uint64_t code) {
  unsigned bits = kinds[t].bits;
  if (bits == 64) {
    memcpy(lane_words + (size_t)2 * i, &code, 8);
  } else {
    uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    lane_words[i * bits / 32] |= ((uint32_t)code & mask) << i * bits % 32;
  }
}

/* One element of A and one of B that meet, so that a wrong place anywhere shows in one result. */
static void choose_one_hot(const form *f, data *d) {
  unsigned i = roll(f->m), k = roll(f->k), j = roll(8);
  d->a[i][k] = 1;
  d->b[k][j] = f->b == S4 || f->b == S8 ? -1 : 1;
}

static void choose(const form *f, data *d) {
  for (unsigned i = 0; i < f->m; i++)
    for (unsigned k = 0; k < f->k; k++)
      d->a[i][k] = element(f->a) / (extra_is(f, 'r') ? 3 : 1); /* thirds have to be rounded */
  for (unsigned k = 0; k < f->k; k++)
    for (unsigned j = 0; j < 8; j++)
      d->b[k][j] = element(f->b);
  for (unsigned i = 0; i < f->m; i++)
    for (unsigned j = 0; j < 8; j++)
      d->c[i][j] = extra_is(f, 's') ? (roll(2) ? 2147483000.0 : -2147483000.0) : element(f->c);
}

static void fill(const form *f, data *d, bool one_hot) {
  memset(d, 0, sizeof *d);
  (one_hot ? choose_one_hot : choose)(f, d);
  for (unsigned l = 0; l < 32; l++) {
    unsigned row, col;
    for (unsigned i = 0; i < f->m * f->k / 32; i++) {
      a_position(f, l, i, &row, &col);
      place(d->regs[1][l], i, f->a, encode(f->a, d->a[row][col]));
    }
    for (unsigned i = 0; i < 8 * f->k / 32; i++) {
      b_position(f, l, i, &row, &col);
      place(d->regs[2][l], i, f->b, encode(f->b, d->b[row][col]));
    }
    for (unsigned i = 0; i < f->m * 8 / 32; i++) {
      c_position(l, i, &row, &col);
      place(d->regs[3][l], i, f->c, encode(f->c, d->c[row][col]));
    }
  }
}

static size_t list(char *out, char prefix, unsigned n) {
  size_t used = (size_t)sprintf(out, "{");
  for (unsigned i = 0; i < n; i++)
    used += (size_t)sprintf(out + used, "%s%%%c%u", i ? ", " : "", prefix, i);
  return used + (size_t)sprintf(out + used, "}");
}

/* ld.global of fragment `which` (16 words apart by lane) into registers. */
static size_t loads(char *out, char prefix, unsigned which, unsigned n, unsigned step, const char *type) {
  size_t used = 0;
  for (unsigned i = 0; i < n; i++)
    used +=
        (size_t)sprintf(out + used, "ld.global.%s %%%c%u, [%%rd1 + %u];\n", type, prefix, i, which * 2048 + i * step);
  return used;
}

static void write_kernel(const form *f, char *out) {
  bool f64 = f->d == F64;
  unsigned step = f64 ? 8 : 4, per = step / 4;
  unsigned nd = words(f->m, 8, f->d) / per, na = words(f->m, f->k, f->a) / per, nb = words(8, f->k, f->b) / per,
           nc = words(f->m, 8, f->c) / per;
  const char *type = f64 ? "f64" : "b32";
  size_t n = (size_t)sprintf(out,
                             ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                             ".reg .%s %%d<16>, %%a<16>, %%b<16>, %%c<16>;\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n"
                             "ld.param.u64 %%rd0, [p];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd1, %%r0, 64;\n"
                             "add.s64 %%rd1, %%rd0, %%rd1;\n",
                             type);
  n += loads(out + n, 'a', 1, na, step, type);
  n += loads(out + n, 'b', 2, nb, step, type);
  n += loads(out + n, 'c', 3, nc, step, type);
  bool before = f->extra[0] && extra_is(f, 's');
  n +=
      (size_t)sprintf(out + n, "mma.sync.aligned.m%un8k%u.row.col%s.%s.%s.%s.%s%s ", f->m, f->k, before ? f->extra : "",
                      kinds[f->d].name, kinds[f->a].name, kinds[f->b].name, kinds[f->c].name, before ? "" : f->extra);
  n += list(out + n, 'd', nd);
  n += (size_t)sprintf(out + n, ", ");
  n += list(out + n, 'a', na);
  n += (size_t)sprintf(out + n, ", ");
  n += list(out + n, 'b', nb);
  n += (size_t)sprintf(out + n, ", ");
  n += list(out + n, 'c', nc);
  n += (size_t)sprintf(out + n, ";\n");
  for (unsigned i = 0; i < nd; i++)
    n += (size_t)sprintf(out + n, "st.global.%s [%%rd1 + %u], %%d%u;\n", type, i * step, i);
  (void)sprintf(out + n, "ret;\n}\n");
}

/* A chain of fused multiply-adds, each rounded by the host. */
static double rounded(const form *f, const data *d, unsigned row, unsigned col) {
  volatile double sum = d->c[row][col];
  fesetround(exact_host_mode(f->extra[2]));
  for (unsigned k = 0; k < f->k; k++) {
    volatile double a = d->a[row][k], b = d->b[k][col];
    sum = fma(a, b, sum);
  }
  fesetround(FE_TONEAREST);
  return sum;
}

static double expected(const form *f, const data *d, unsigned row, unsigned col) {
  double sum = d->c[row][col];
  if (extra_is(f, 'r')) return rounded(f, d, row, col);
  for (unsigned k = 0; k < f->k; k++) {
    double a = d->a[row][k], b = d->b[k][col];
    sum += extra_is(f, 'x') ? (double)(a != b) : a * b;
  }
  if (extra_is(f, 's')) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  return sum;
}

/* f16 results may need rounding: compare values after one rounding by hand. */
static double round_half(double x) {
  int e;
  if (x == 0) return x;
  frexp(x, &e);
  double unit = ldexp(1, (e > -13 ? e : -13) - 11);
  return nearbyint(x / unit) * unit;
}

static double half_value(unsigned h) {
  int e = (int)(h >> 10 & 31);
  double m = h & 1023, v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return h & 0x8000 ? -v : v;
}

static void compare(const form *f, const data *d) {
  for (unsigned l = 0; l < 32; l++)
    for (unsigned i = 0; i < f->m * 8 / 32; i++) {
      unsigned row, col;
      c_position(l, i, &row, &col);
      double want = expected(f, d, row, col);
      const uint32_t *reg = d->regs[0][l];
      if (f->d == F16) {
        ck_assert_double_eq(half_value(reg[i / 2] >> 16 * (i & 1) & 0xFFFF), round_half(want));
      } else {
        uint64_t code = encode(f->d, f->d == F32 ? (double)(float)want : want), got = reg[i];
        if (f->d == F64) memcpy(&got, reg + (size_t)2 * i, 8);
        if (f->d != F64) code &= UINT32_MAX;
        ck_assert_msg(got == code, "m%uk%u %s lane %u element %u: got %llx, expected %llx (%g)", f->m, f->k,
                      kinds[f->a].name, l, i, (unsigned long long)got, (unsigned long long)code, want);
      }
    }
}

START_TEST(every_form) {
  static data d;
  char ptx[8192];
  const form *f = &forms[_i];
  write_kernel(f, ptx);
  for (int round = 0; round < 16; round++) {
    fill(f, &d, round >= 8);
    run_ptx("sm_90", ptx, 1, 32, d.regs, sizeof d.regs);
    compare(f, &d);
  }
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, every_form, 0, (int)(sizeof forms / sizeof *forms));
  return run_case("mma", tcase);
}
