/* Moves, packing, addresses of state spaces, clocks, hints and control flow: each form in a small program whose outcome
 * follows from the sources alone. `<x|y>` in a text stands for one of its alternatives, `v` tells which. */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 128 };

static uint64_t noise = 88172645463325252u;
static uint64_t next(void) {
  return random_next(&noise);
}

/* ---- Lanes: %d from %a, %b, %c ---- */
typedef uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
static uint64_t same(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return a;
}
static uint64_t swap_bytes(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return (a & 0xFF) << 8 | (a >> 8 & 0xFF);
}
static uint64_t swap_halves(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return (a & 0xFFFF) << 16 | (a >> 16 & 0xFFFF);
}
static uint64_t rotate_halves(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return a << 48 | a >> 16;
}
static uint64_t swap_words(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return a << 32 | a >> 32;
}
static uint64_t rotate_bytes(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return (a << 24 | (a & UINT32_MAX) >> 8) & UINT32_MAX;
}
static uint64_t joined(uint64_t a, uint64_t b, uint64_t c) {
  (void)c;
  return (a & UINT32_MAX) | b << 32;
}
static uint64_t exclusive(uint64_t a, uint64_t b, uint64_t c) {
  (void)c;
  return a ^ b;
}
static uint64_t chosen(uint64_t a, uint64_t b, uint64_t c) {
  return c % 3 == 0 ? a : c % 3 == 1 ? b : a ^ b;
}
static uint64_t doubled(uint64_t a, uint64_t b, uint64_t c) {
  (void)b, (void)c;
  return 2 * a;
}

static const struct {
  const char *text, *registers;
  expected want;
} lanes[] = {
    {"mov.<b16|u16|s16> %d, %a;", "b16 b16 b16 b16", same},
    {"mov.<b32|u32|s32> %d, %a;", "b32 b32 b32 b32", same},
    {"mov.<b64|u64|s64> %d, %a;", "b64 b64 b64 b64", same},
    {"mov.f32 %d, %a;", "f32 f32 f32 f32", same},
    {"mov.f64 %d, %a;", "f64 f64 f64 f64", same},
    {".reg .b8 %x<2>; mov.b16 {%x0, %x1}, %a; mov.b16 %d, {%x1, %x0};", "b16 b16 b16 b16", swap_bytes},
    {".reg .b8 %x<4>; mov.b32 {%x0, %x1, %x2, %x3}, %a; mov.b32 %d, {%x1, %x2, %x3, %x0};", "b32 b32 b32 b32",
     rotate_bytes},
    {".reg .b16 %h<2>; mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", "b32 b32 b32 b32", swap_halves},
    {".reg .b16 %h<2>; mov.b32 {%h0, _}, %a; mov.b32 {_, %h1}, %a; mov.b32 %d, {%h1, %h0};", "b32 b32 b32 b32",
     swap_halves},
    {".reg .b16 %h<4>; mov.b64 {%h0, %h1, %h2, %h3}, %a; mov.b64 %d, {%h1, %h2, %h3, %h0};", "b64 b64 b64 b64",
     rotate_halves},
    {".reg .b32 %w<2>; mov.b64 {%w0, %w1}, %a; mov.b64 %d, {%w1, %w0};", "b64 b64 b64 b64", swap_words},
    {"mov.b64 %d, {%a, %b};", "b64 b32 b32 b32", joined},
    {".reg .b128 %o<2>; .reg .b64 %w<2>; mov.b128 %o0, {%a, %b}; mov.b128 %o1, %o0; mov.b128 {%w0, %w1}, %o1; xor.b64 "
     "%d, %w0, %w1;",
     "b64 b64 b64 b64", exclusive},
    {".reg .b128 %o; .reg .b32 %w<4>; .reg .b64 %x<2>; mov.b128 %o, {%a, %b}; mov.b128 {%w0, %w1, %w2, %w3}, %o; "
     "mov.b128 %o, {%w2, %w3, %w0, %w1}; mov.b128 {%x0, _}, %o; xor.b64 %d, %a, %x0;",
     "b64 b64 b64 b64", exclusive},
    /* Lanes go to a target of their own, or all to one. */
    {".reg .b64 %w; rem.u64 %c, %c, 3; cvt.u32.u64 %r3, %c; list: .branchtargets $A, $B, $C; brx.idx %r3, list;\n$A: "
     "mov.b64 %d, %a; bra $E; $B: mov.b64 %d, %b; bra.uni $E; $C: xor.b64 %d, %a, %b; $E:",
     "b64 b64 b64 b64", chosen},
    {"mov.u32 %r3, 1; list: .branchtargets $A, $B, $A; brx.idx.uni %r3, list;\n$A: mov.b64 %d, 0; bra $E; $B: mov.b64 "
     "%d, %a; $E:",
     "b64 b64 b64 b64", same},
    /* Hints: nothing changes. */
    {"<prefetch.global.L1|prefetch.global.L2|prefetch.L1|prefetch.L2|prefetch.global.L2::evict_last|prefetch.L2::evict_"
     "normal|prefetchu.L1> [%rd1]; mov.b32 %d, %a;",
     "b32 b32 b32 b32", same},
    {".reg .b64 %w; .local .b32 l[4]; mov.u64 %w, l; prefetch.local.<L1|L2> [%w]; mov.b32 %d, %a;", "b32 b32 b32 b32",
     same},
    {"<applypriority.global.L2::evict_normal|applypriority.L2::evict_normal> [%rd0], 128; mov.b32 %d, %a;",
     "b32 b32 b32 b32", same},
    {"<pmevent 0|pmevent 15|pmevent.mask 5>; mov.b32 %d, %a;", "b32 b32 b32 b32", same},
    {"<griddepcontrol.launch_dependents|griddepcontrol.wait>; mov.b32 %d, %a;", "b32 b32 b32 b32", same},
    {"nanosleep.u32 <0|7|%a>; mov.b32 %d, %a;", "b32 b32 b32 b32", same},
    {".reg .b64 %w; "
     "createpolicy.fractional.<L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged><|.L2::"
     "evict_first|.L2::evict_unchanged>.b64 %w<|, 0.5>; ld.global.L2::cache_hint.b32 %d, [%rd1], %w;",
     "b32 b32 b32 b32", same},
    {".reg .b64 %w; "
     "createpolicy.range<|.global>.<L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged><|"
     ".L2::evict_first|.L2::evict_unchanged>.b64 %w, [%rd0], <64|4096>, 8192; ld.global.L2::cache_hint.b32 %d, [%rd1], "
     "%w;",
     "b32 b32 b32 b32", same},
    {".reg .b64 %w; mov.u64 %w, 3; createpolicy.cvt.L2.b64 %w, %w; ld.global.L2::cache_hint.b32 %d, [%rd1], %w;",
     "b32 b32 b32 b32", same},
};
enum { LANES = sizeof lanes / sizeof *lanes };

/* Writes variant v of a text; returns how many it has. */
static unsigned expand(const char *text, unsigned v, char *out) {
  unsigned most = 1;
  while (*text) {
    const char *end = *text == '<' ? strchr(text, '>') : NULL;
    if (!end || !memchr(text, '|', (size_t)(end - text))) { /* %p<3> declares registers */
      *out++ = *text++;
      continue;
    }
    unsigned n = 1, at = 0;
    for (const char *p = text; p < end; p++)
      n += *p == '|';
    most *= n;
    for (const char *p = text + 1; p < end; p++)
      if (*p == '|')
        at++;
      else if (at == v % n)
        *out++ = *p;
    v /= n;
    text = end + 1;
  }
  *out = '\0';
  return most;
}

static uint64_t cut(uint64_t x, const char *registers) {
  unsigned bits = (unsigned)atoi(registers + 1);
  return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}

START_TEST(lane_forms) {
  static uint64_t x[3 * COUNT], y[3 * COUNT];
  char text[1024];
  unsigned variants = expand(lanes[_i].text, 0, text);
  for (unsigned v = 0; v < variants; v++) {
    for (int i = 0; i < 3 * COUNT; i++)
      x[i] = y[i] = i % 5 ? next() : next() >> (next() & 63);
    (void)expand(lanes[_i].text, v, text);
    run_lanes(text, lanes[_i].registers, x, COUNT);
    for (unsigned i = 0; i < 3 * COUNT; i += 3) {
      uint64_t want = cut(lanes[_i].want(y[i], y[i + 1], y[i + 2]), lanes[_i].registers);
      uint64_t got = cut(x[i], lanes[_i].registers);
      ck_assert_msg(got == want, "%s\n%llx %llx %llx: got %llx, expected %llx", text, (unsigned long long)y[i],
                    (unsigned long long)y[i + 1], (unsigned long long)y[i + 2], (unsigned long long)got,
                    (unsigned long long)want);
    }
  }
}
END_TEST

/* A function that ends in ret.uni, and one that some lanes leave early. */
START_TEST(returns) {
  static const char ptx[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n.func (.reg .b64 r) twice(.reg .b64 x) { .reg .pred %p; "
      "setp.lt.s64 %p, x, 0; add.u64 r, x, x; @%p ret; ret.uni; }\n.visible .entry k(.param .u64 p) {\n.reg .b32 %r; "
      ".reg "
      ".b64 %rd<4>; ld.param.u64 %rd0, [p]; mov.u32 %r, %tid.x; mul.wide.u32 %rd1, %r, 8; add.u64 %rd0, %rd0, %rd1; "
      "ld.global.u64 %rd2, [%rd0]; <call|call.uni> (%rd3), twice, (%rd2); st.global.u64 [%rd0], %rd3; ret.uni; }\n";
  uint64_t x[32], y[32];
  char text[1024];
  for (unsigned v = 0; v < expand(ptx, 0, text); v++) {
    for (unsigned i = 0; i < 32; i++)
      x[i] = y[i] = next();
    (void)expand(ptx, v, text);
    run_ptx("sm_80", text, 1, 32, x, sizeof x);
    for (unsigned i = 0; i < 32; i++)
      ck_assert_uint_eq(x[i], doubled(y[i], 0, 0));
  }
}
END_TEST

START_TEST(breakpoint) {
  uint32_t x = 5;
  run_ptx_with(&(run_ptx_config){.profile = "sm_80", .grid = 1, .block = 1, .finding = "trap"},
               ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b64 %rd; "
               "ld.param.u64 %rd, [p]; st.global.u32 [%rd], 6; brkpt; st.global.u32 [%rd], 7; ret; }\n",
               &x, sizeof x);
  ck_assert_uint_eq(x, 6);
}
END_TEST

/* setmaxnreg belongs to one architecture's targets. */
START_TEST(register_numbers) {
  uint32_t x = 5;
  run_ptx(
      "sm_90",
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) .maxnreg 64 {\n.reg .b64 %rd; "
      "ld.param.u64 %rd, [p]; setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 232; "
      "st.global.u32 [%rd], 6; ret; }\n",
      1, 128, &x, sizeof x);
  ck_assert_uint_eq(x, 6);
}
END_TEST

/* ---- State spaces ---- */
enum { GLOBAL = 1, SHARED = 2, CTA = 4, CLUSTER = 8, LOCAL = 16, CONST = 32, PARAM = 64, ENTRY = 128 };
/* A variable, the instruction that makes its address generic and back, how to load from it, and what it is in. */
static const struct {
  const char *address, *name, *load;
  unsigned in;
  uint32_t value;
} spaces[] = {
    {"mov.u64 %rd1, g;", "global", "global", GLOBAL, 11},
    {"mov.u64 %rd1, s; st.shared.u32 [s], 22;", "shared", "shared", SHARED | CTA | CLUSTER, 22},
    {"mov.u64 %rd1, s; st.shared.u32 [s], 33;", "shared::cta", "shared::cta", SHARED | CTA | CLUSTER, 33},
    {"mov.u64 %rd1, s; st.shared.u32 [s], 44;", "shared::cluster", "shared::cluster", SHARED | CTA | CLUSTER, 44},
    /* the other CTA's */
    {"mov.u64 %rd1, s; mov.u32 %r1, %cluster_ctarank; mad.lo.u32 %r2, %r1, 5, 50; st.shared.u32 [s], %r2; xor.b32 %r1, "
     "%r1, 1; mapa.shared::cluster.u64 %rd1, %rd1, %r1;",
     "shared::cluster", "shared::cluster", CLUSTER, 55},
    {"mov.u64 %rd1, l; st.local.u32 [l], 66;", "local", "local", LOCAL, 66},
    {"mov.u64 %rd1, c;", "const", "const", CONST, 77},
    {"mov.u64 %rd1, q;", "param", "param", PARAM | ENTRY, 88},
    {"mov.u64 %rd1, q;", "param::entry", "param::entry", PARAM | ENTRY, 88},
};

START_TEST(state_spaces) {
  char ptx[4096];
  uint32_t x[4], q[2] = {0, 88};
  sprintf(
      ptx,
      ".version 8.3\n.target sm_90\n.address_size 64\n.global .u32 g = 11; .const .u32 c[2] = {5, 77};\n.visible "
      ".entry k(.param .u64 p, .param .align 32 .b8 q[8]) .reqnctapercluster 2 {\n.reg .pred %%p<9>; .reg .b32 "
      "%%r<9>; .reg .b64 %%rd<9>; .shared .b32 s; .local .b32 l;\n%s add.u64 %%rd1, %%rd1, %u; "
      "barrier.cluster.arrive; barrier.cluster.wait; cvta.%s.u64 %%rd2, %%rd1; ld.u32 %%r3, [%%rd2]; cvta.to.%s.u64 "
      "%%rd3, %%rd2; ld.%s.u32 %%r4, [%%rd3];\nisspacep.global %%p1, %%rd2; isspacep.shared %%p2, %%rd2; "
      "isspacep.shared::cta %%p3, %%rd2; isspacep.shared::cluster %%p4, %%rd2; isspacep.local %%p5, %%rd2; "
      "isspacep.const %%p6, %%rd2; isspacep.param %%p7, %%rd2; isspacep.param::entry %%p8, %%rd2; mov.u32 %%r5, 0;\n",
      spaces[_i].address, strchr("cp", *spaces[_i].name) ? 4u : 0u, spaces[_i].name, spaces[_i].name, spaces[_i].load);
  for (unsigned i = 1; i <= 8; i++)
    sprintf(ptx + strlen(ptx), "selp.u32 %%r6, %u, 0, %%p%u; or.b32 %%r5, %%r5, %%r6;\n", 1u << (i - 1), i);
  strcat(ptx, "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r7, %ctaid.x; setp.ne.u32 %p1, %r7, 0; @%p1 bra "
              "$e; ld.param.u64 %rd0, [p]; st.global.v2.u32 [%rd0], {%r3, %r4}; st.global.u32 [%rd0+8], %r5; $e: ret; "
              "}\n");
  memset(x, 0xEE, sizeof x);
  run_ptx_with(&(run_ptx_config){.profile = "sm_90", .grid = 2, .block = 1, .more = q, .more_bytes = sizeof q}, ptx, x,
               sizeof x);
  ck_assert_msg(x[0] == spaces[_i].value && x[1] == spaces[_i].value, "%u and %u\n%s", x[0], x[1], ptx);
  ck_assert_msg(x[2] == spaces[_i].in, "in %x, expected %x\n%s", x[2], spaces[_i].in, ptx);
}
END_TEST

/* ---- Clocks ---- */
START_TEST(clocks) {
  static const char ptx[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 "
      "%rd<6>; ld.param.u64 %rd0, [p];\nmov.u64 %rd1, %<clock64|globaltimer>; nanosleep.u32 10; mov.u32 %r0, "
      "%<clock|globaltimer_lo>; mov.u32 %r1, %<clock_hi|globaltimer_hi>; mov.u64 %rd2, "
      "%<clock64|globaltimer>;\nmov.b64 "
      "%rd3, {%r0, %r1}; st.global.u64 [%rd0], %rd1; st.global.u64 [%rd0+8], %rd3; st.global.u64 [%rd0+16], %rd2; ret; "
      "}\n";
  char text[1024];
  for (unsigned v = 0; v < 2; v++) {
    uint64_t t[3] = {0};
    (void)expand(ptx, v * 15, text);
    run_ptx("sm_80", text, 1, 1, t, sizeof t);
    ck_assert_msg(t[0] < t[1] && t[1] < t[2] && t[2] < 100000, "%llu %llu %llu", (unsigned long long)t[0],
                  (unsigned long long)t[1], (unsigned long long)t[2]);
  }
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, lane_forms, 0, LANES);
  tcase_add_test(tcase, returns);
  tcase_add_test(tcase, breakpoint);
  tcase_add_test(tcase, register_numbers);
  tcase_add_loop_test(tcase, state_spaces, 0, sizeof spaces / sizeof *spaces);
  tcase_add_test(tcase, clocks);
  return run_case("Sim moves", tcase);
}
