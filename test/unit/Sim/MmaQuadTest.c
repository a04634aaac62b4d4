/* mma.sync.m8n8k4 of halves: four products at once, one by each quad pair, in all layouts and types, against exact sums.
 *
 *   quad pair q: lanes 4q … 4q+3 ("low") and 4q+16 … 4q+19 ("high"); it multiplies its own 8 x 4 by its own 4 x 8
 *
 * The positions below are the PTX ISA's for this shape. Odd rounds use one-hot operands, so that every wrong place shows. */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
  unsigned row, col;
} place;

static place in_a(bool by_columns, unsigned lane, unsigned i) {
  unsigned four = lane < 16 ? 0 : 4;
  return by_columns ? (place){i + four, lane % 4} : (place){lane % 4 + four, i};
}
static place in_b(bool by_columns, unsigned lane, unsigned i) {
  unsigned four = lane < 16 ? 0 : 4;
  return by_columns ? (place){i, lane % 4 + four} : (place){lane % 4, i + four};
}
static place in_c(bool half, unsigned lane, unsigned i) {
  unsigned four = lane < 16 ? 0 : 4;
  if (half) return (place){lane % 4 + four, i};
  return (place){(lane & 1) + (i & 2) + four, (i & 4) + (lane & 2) + (i & 1)};
}

static uint64_t state = 99;
static unsigned roll(unsigned n) {
  return (unsigned)random_below(&state, n);
}

/* Multiples of 1/4 below 8: exact as halves, and so are their sums of products here as floats. */
static unsigned half_code(double x) {
  int e;
  double fraction = frexp(fabs(x), &e);
  return x == 0 ? 0 : (x < 0 ? 0x8000u : 0) | (unsigned)(e + 14) << 10 | ((unsigned)(fraction * 2048) & 1023);
}
static double half_value(unsigned h) {
  int e = (int)(h >> 10 & 31);
  double m = h & 1023, v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return h & 0x8000 ? -v : v;
}
static double round_half(double x) {
  int e;
  if (x == 0) return x;
  (void)frexp(x, &e);
  double unit = ldexp(1, (e > -13 ? e : -13) - 11);
  return nearbyint(x / unit) * unit;
}

enum { A, B, C, D, FRAGMENTS }; /* a lane has 8 words of each */
static double a[4][8][4], b[4][4][8], c[4][8][8];
static uint32_t words[32][FRAGMENTS][8];

static void choose(bool one_hot) {
  memset(a, 0, sizeof a), memset(b, 0, sizeof b), memset(c, 0, sizeof c);
  for (unsigned q = 0; q < 4; q++) {
    unsigned hot = roll(4);
    if (one_hot) a[q][roll(8)][hot] = 1 + q, b[q][hot][roll(8)] = 2;
    for (unsigned i = 0; i < 32 && !one_hot; i++)
      a[q][i / 4][i % 4] = ((int)roll(61) - 30) / 4.0, b[q][i / 8][i % 8] = ((int)roll(61) - 30) / 4.0;
    for (unsigned i = 0; i < 64 && !one_hot; i++)
      c[q][i / 8][i % 8] = ((int)roll(61) - 30) / 4.0;
  }
}

static void put_half(uint32_t *fragment, unsigned i, double x) {
  fragment[i / 2] |= half_code(x) << i % 2 * 16;
}

static void scatter(bool a_columns, bool b_columns, bool c_half) {
  memset(words, 0, sizeof words);
  for (unsigned l = 0; l < 32; l++) {
    unsigned q = l % 16 / 4;
    for (unsigned i = 0; i < 4; i++) {
      place p = in_a(a_columns, l, i), r = in_b(b_columns, l, i);
      put_half(words[l][A], i, a[q][p.row][p.col]);
      put_half(words[l][B], i, b[q][r.row][r.col]);
    }
    for (unsigned i = 0; i < 8; i++) {
      place p = in_c(c_half, l, i);
      float single = (float)c[q][p.row][p.col];
      if (c_half)
        put_half(words[l][C], i, c[q][p.row][p.col]);
      else
        memcpy(&words[l][C][i], &single, 4);
    }
  }
}

static size_t list(char *out, char prefix, unsigned n) {
  size_t used = (size_t)sprintf(out, "{");
  for (unsigned i = 0; i < n; i++)
    used += (size_t)sprintf(out + used, "%s%%%c%u", i ? ", " : "", prefix, i);
  return used + (size_t)sprintf(out + used, "}");
}

static void write_kernel(char *out, bool a_columns, bool b_columns, bool d_half, bool c_half) {
  static const unsigned count[2] = {8, 4};
  size_t n = (size_t)sprintf(out, ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                                  ".reg .b32 %%a<2>, %%b<2>, %%c<8>, %%d<8>, %%r; .reg .b64 %%rd<2>;\nld.param.u64 "
                                  "%%rd0, [p]; mov.u32 %%r, %%tid.x; mul.wide.u32 %%rd1, %%r, 128; add.u64 %%rd1, "
                                  "%%rd1, %%rd0;\n");
  for (unsigned i = 0; i < 2; i++)
    n += (size_t)sprintf(out + n, "ld.global.b32 %%a%u, [%%rd1+%u]; ld.global.b32 %%b%u, [%%rd1+%u];\n", i, 4 * i, i,
                         32 + 4 * i);
  for (unsigned i = 0; i < 8; i++)
    n += (size_t)sprintf(out + n, "ld.global.b32 %%c%u, [%%rd1+%u]; mov.b32 %%d%u, 0;\n", i, 64 + 4 * i, i);
  n += (size_t)sprintf(out + n, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s ", a_columns ? "col" : "row",
                       b_columns ? "col" : "row", d_half ? "f16" : "f32", c_half ? "f16" : "f32");
  n += list(out + n, 'd', count[d_half]);
  n += (size_t)sprintf(out + n, ", {%%a0, %%a1}, {%%b0, %%b1}, ");
  n += list(out + n, 'c', count[c_half]);
  n += (size_t)sprintf(out + n, ";\n");
  for (unsigned i = 0; i < 8; i++)
    n += (size_t)sprintf(out + n, "st.global.b32 [%%rd1+%u], %%d%u;\n", 96 + 4 * i, i);
  (void)sprintf(out + n, "ret; }\n");
}

static void compare(const char *ptx, bool d_half) {
  for (unsigned l = 0; l < 32; l++)
    for (unsigned i = 0; i < 8; i++) {
      place p = in_c(d_half, l, i);
      unsigned q = l % 16 / 4;
      double want = c[q][p.row][p.col], got;
      for (unsigned k = 0; k < 4; k++)
        want += a[q][p.row][k] * b[q][k][p.col];
      float single;
      memcpy(&single, &words[l][D][i], 4);
      got = d_half ? half_value(words[l][D][i / 2] >> i % 2 * 16 & 0xFFFF) : (double)single;
      if (d_half) want = round_half(want);
      ck_assert_msg(got == want, "lane %u element %u: got %g, expected %g\n%s", l, i, got, want, ptx);
    }
}

START_TEST(every_form) {
  char ptx[4096];
  bool a_columns = _i & 1, b_columns = _i & 2, c_half = _i / 4 > 0, d_half = _i / 4 > 1; /* f16 needs f16 in */
  write_kernel(ptx, a_columns, b_columns, d_half, c_half);
  for (unsigned round = 0; round < 12; round++) {
    choose(round % 2);
    scatter(a_columns, b_columns, c_half);
    run_ptx("sm_75", ptx, 1, 32, words, sizeof words);
    compare(ptx, d_half);
  }
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, every_form, 0, 12);
  return run_case("mma of quad pairs", tcase);
}
