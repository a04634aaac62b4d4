/* Communication between lanes, barriers with reductions, matrix moves and small logic: each lane's result against a
 * function of all lanes' sources. `<x|y>` in a text stands for one of its alternatives in each run; `v` tells which. */
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

/* Sources of all threads, three each; i is the thread, v the variant. */
typedef uint64_t (*expected)(const uint64_t *y, unsigned i, unsigned v);
#define A(t) ((uint32_t)y[3 * (t)])
#define B(t) ((uint32_t)y[3 * (t) + 1])
#define E(name, ...)                                                                                                   \
  static uint64_t name(const uint64_t *y, unsigned i, unsigned v) {                                                    \
    unsigned first = i & ~31u, lane = i & 31u;                                                                         \
    (void)y, (void)v, (void)first, (void)lane;                                                                         \
    __VA_ARGS__                                                                                                        \
  }

E(shuffled, {
  unsigned from = v == 0 ? lane - 3 : v == 1 ? lane + 3 : v == 2 ? lane ^ 3 : 3;
  return from < 32 ? A(first + from) : A(i);
})
E(in_range, { return v == 0 ? lane >= 3 : v == 1 ? lane + 3 < 32 : 1; })
static uint32_t ballot(const uint64_t *y, unsigned first) {
  uint32_t m = 0;
  for (unsigned l = 0; l < 32; l++)
    m |= (A(first + l) & 1) << l;
  return m;
}
E(voted, {
  uint32_t m = ballot(y, first);
  return v == 0 ? m == UINT32_MAX : v == 1 ? m != 0 : m == 0 || m == UINT32_MAX;
})
E(ballots, { return ballot(y, first); })
E(matches, {
  uint32_t m = 0;
  for (unsigned l = 0; l < 32; l++)
    m |= (uint32_t)(v ? (y[3 * (first + l)] & 7) == (y[3 * i] & 7) : (A(first + l) & 7) == (A(i) & 7)) << l;
  return m;
})
E(all_match, { return v == 2 ? 0 : UINT32_MAX; })
E(everybody, { return UINT32_MAX; })
/* Numbers in order of their codes: -inf … -0, +0 … +inf. */
static int64_t place(uint32_t bits) {
  return bits >> 31 ? -(int64_t)(bits & INT32_MAX) - 1 : (int64_t)bits;
}
E(extreme_float, {
  uint32_t best = 0x7FFFFFFF;
  for (unsigned l = 0; l < 32; l++) {
    uint32_t x = v & 2 ? A(first + l) & INT32_MAX : A(first + l);
    bool nan = (x & INT32_MAX) > 0x7F800000;
    if (nan && v >= 4) return 0x7FFFFFFF;
    if (!nan && (best == 0x7FFFFFFF || (v & 1 ? place(x) > place(best) : place(x) < place(best)))) best = x;
  }
  return best;
})
E(elected, { return lane == 0; })
E(reduced, {
  uint32_t r = A(first);
  for (unsigned l = 1; l < 32; l++) {
    uint32_t x = A(first + l);
    bool less = v >= 3 ? (int32_t)x < (int32_t)r : x < r;
    r = v % 3 == 0 ? r + x : (v % 3 == 1) == less ? x : r;
  }
  return r;
})
E(combined, {
  uint32_t r = A(first);
  for (unsigned l = 1; l < 32; l++)
    r = v == 0 ? r & A(first + l) : v == 1 ? r | A(first + l) : r ^ A(first + l);
  return r;
})
E(counted, {
  uint32_t n = 0;
  for (unsigned t = 0; t < COUNT; t++)
    n += A(t) & 1;
  return n;
})
E(decided, {
  uint32_t all = 1, any = 0;
  for (unsigned t = 0; t < COUNT; t++)
    all &= A(t) & 1, any |= A(t) & 1;
  return v % 2 ? any : all;
})
E(neighbour, { return A(i ^ 64); })
E(consumed, { return i < 64 ? A(i) : A(i ^ 64); })
/* Row r of matrix k holds words 4 r … 4 r + 3 of that matrix's 32; lane l's fragment is word l. */
E(transposed, {
  unsigned row = lane / 4, col = lane % 4 * 2;
  uint32_t low = A(first + 4 * col + row / 2) >> row % 2 * 16 & 0xFFFF;
  uint32_t high = A(first + 4 * (col + 1) + row / 2) >> row % 2 * 16 & 0xFFFF;
  return low | high << 16;
})
E(same, { return A(i); })
E(logic, {
  unsigned p = A(i) & 1, q = B(i) & 1;
  return v == 0 ? p & q : v == 1 ? p | q : p ^ q;
})
E(inverse, { return !(A(i) & 1); })
E(words, { return (v == 0 ? A(i) & B(i) : v == 1 ? A(i) | B(i) : A(i) ^ B(i)); })
E(permuted, {
  uint64_t both = (uint64_t)B(i) << 32 | A(i);
  unsigned s = (unsigned)y[3 * i + 2] & 3;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned from = v == 0   ? s + k
                    : v == 1 ? (s - k) & 7
                    : v == 2 ? s
                    : v == 3 ? (k > s ? k : s)
                    : v == 4 ? (k < s ? k : s)
                             : (s & 1) * 2 + k % 2;
    r |= (uint32_t)(both >> 8 * from & 0xFF) << 8 * k;
  }
  return r;
})

E(kept, { return A(i) & 1 ? 0 : A(i); })
E(shortened, {
  unsigned n = (unsigned)y[3 * i + 2] & 7;
  return n >= 4 ? A(i) : A(i) & ((1u << 8 * n) - 1);
})
E(sixteenth, { return (uint32_t)y[2 * i]; })
E(fourth, { return (uint32_t)(y[i / 2] >> i % 2 * 32); })
E(zero, { return 0; })

#define PRED  ".reg .pred %p<3>; .reg .b32 %t<4>; and.b32 %t0, %a, 1; setp.ne.u32 %p0, %t0, 0;\n"
#define GIVE  "\nselp.b32 %d, 1, 0, %p1;"
#define PLACE ".reg .b32 %u<3>; .shared .align 16 .b32 s[128]; mov.u32 %u0, s; mov.u32 %u1, %tid.x;\n"
#define SHARE                                                                                                          \
  PLACE "shl.b32 %u2, %u1, 2; add.u32 %u2, %u0, %u2; xor.b32 %u1, %u2, 256; st.shared.b32 [%u2], %a; mov.b32 %d, "     \
        "%a;\n"
#define NEIGHBOUR "ld.shared.b32 %d, [%u1];"
#define PRODUCE   ".reg .pred %q; .reg .b32 %t; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, 64; @%q bra $c; "
#define WARP      "and.b32 %u2, %u1, 96; shl.b32 %u2, %u2, 2; add.u32 %u0, %u0, %u2; and.b32 %u1, %u1, 31;\n"
#define ROW       "and.b32 %u2, %u1, 7; shl.b32 %u2, %u2, 4; add.u32 %u2, %u0, %u2;\n"
#define MBAR(n)                                                                                                        \
  ".reg .b64 %w; .shared .align 8 .b64 m; setp.eq.u32 %p0, %u1, 0; @%p0 mbarrier.init.<shared|shared::cta>"            \
  ".b64 [m], " n "; bar.sync 0;\n"
#define OWN "shl.b32 %u1, %u1, 2; add.u32 %u1, %u0, %u1;\n"

typedef struct form {
  const char *text;
  expected want;
} form;

static const form forms[] = {
    {"shfl.sync.<up|down|bfly|idx>.b32 %d, %a, 3, <0|31|31|31>, -1;", shuffled},
    {PRED "vote.sync.<all|any|uni>.pred %p1, %p0, -1;" GIVE, voted},
    {PRED "vote.sync.ballot.b32 %d, %p0, -1;", ballots},
    {".reg .b64 %w; and.b32 %a, %a, 7; cvt.u64.u32 %w, %a; match.any.sync.<b32 %d, %a|b64 %d, %w>, -1;", matches},
    {".reg .b64 %w; .reg .pred %p; mov.u64 %w, 7; match.all.sync.<b32 %d|b64 %d|b32 %d>|%p, <5|%w|%a>, -1;", all_match},
    {"activemask.b32 %d;", everybody},
    {PRED "elect.sync _|%p1, -1;" GIVE, elected},
    {"redux.sync.<add|min|max|add|min|max>.<u32|u32|u32|s32|s32|s32> %d, %a, -1;", reduced},
    {"redux.sync.<and|or|xor>.b32 %d, %a, -1;", combined},
    {"redux.sync.<min|max|min|max|min|max|min|max><||.abs|.abs|||.abs|.abs><||||.NaN|.NaN|.NaN|.NaN>.f32 %d, %a, -1;",
     extreme_float},
    {PRED "<bar|bar.cta>.red.popc.u32 %d, 2, %p0;", counted},
    {PRED "<bar|bar.cta>.red.popc.u32 %d, 2, 128, %p0;", counted},
    {PRED "<barrier|barrier.cta|barrier.cta>.red.popc<|.aligned|>.u32 %d, 2, %p0;", counted},
    {PRED "<barrier|barrier.cta|barrier.cta>.red.popc<|.aligned|>.u32 %d, 15, 128, %p0;", counted},
    {PRED "<bar|bar.cta>.red.<and|or>.pred %p1, 1, %p0;" GIVE, decided},
    {PRED "<bar|bar.cta>.red.<and|or>.pred %p1, 1, 128, %p0;" GIVE, decided},
    {PRED "<barrier|barrier.cta|barrier|barrier.cta>.red.<and|or><.aligned|.aligned||>.pred %p1, 3, %p0;" GIVE,
     decided},
    {PRED "<barrier|barrier.cta|barrier|barrier.cta>.red.<and|or><.aligned|.aligned||>.pred %p1, 3, 128, %p0;" GIVE,
     decided},
    {SHARE "<bar|bar.cta>.sync 4<|, 128>; " NEIGHBOUR, neighbour},
    {SHARE "<barrier|barrier.cta|barrier>.sync<|.aligned|.aligned> 4<|, 128>; " NEIGHBOUR, neighbour},
    /* Two warps store, arrive and go on to another barrier, which two wait at before they wait for the first and read. */
    {SHARE PRODUCE
     "<bar|bar.cta>.arrive 5, 128; bar.sync 6, 128; bra $e;\n$c: bar.sync 6, 128; bar.sync 5, 128; " NEIGHBOUR " $e:",
     consumed},
    {SHARE PRODUCE "<barrier|barrier.cta|barrier>.arrive<|.aligned|.aligned> 5, 128; barrier.sync 6, 128; bra $e;\n$c: "
                   "barrier.sync 6, 128; barrier.sync 5, 128; " NEIGHBOUR " $e:",
     consumed},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;", transposed},
    {PLACE WARP ROW OWN
     "st.shared.b32 [%u1], %a; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.<shared|shared::cta>.b16 "
     "{%d}, [%u2];",
     same},
    {PLACE WARP ROW OWN
     "st.shared.b32 [%u1], %a; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%d}, "
     "[%u2];",
     transposed},
    {PLACE WARP ROW OWN "stmatrix.sync.aligned.m8n8.x1.<shared|shared::cta>.b16 [%u2], {%a}; bar.warp.sync -1; "
                        "ld.shared.b32 %d, [%u1];",
     same},
    {PLACE WARP ROW OWN
     "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%u2], {%a}; bar.warp.sync -1; ld.shared.b32 %d, "
     "[%u1];",
     transposed},
    {PRED "and.b32 %t1, %b, 1; setp.ne.u32 %p2, %t1, 0; <and|or|xor>.pred %p1, %p0, %p2;" GIVE, logic},
    {PRED "not.pred %p1, %p0;" GIVE, inverse},
    {PRED "mov.pred %p1, %p0; @%p1 bra.uni $x; $x: not.pred %p1, %p1;" GIVE, inverse},
    {".reg .b64 %w<3>; cvt.u64.u32 %w0, %a; cvt.u64.u32 %w1, %b; <and|or|xor>.b64 %w2, %w0, %w1; cvt.u32.u64 %d, %w2;",
     words},
    {"and.b32 %c, %c, 3; prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16> %d, %a, %b, %c;", permuted},
    {".reg .b128 %o<2>; .reg .b64 %w<2>; cvt.u64.u32 %w0, %a; mov.b128 %o0, {%w0, %w0}; mov.b128 %o1, %o0; mov.b128 "
     "{%w0, "
     "%w1}, %o1; cvt.u32.u64 %d, %w1;",
     same},
    {PLACE OWN ".reg .b64 %w; mov.u64 %w, 0; cp.async.ca.<shared|shared::cta>.global<|.L2::64B|.L2::128B|.L2::256B|"
               ".L2::cache_hint> [%u1], [%rd1], 4<|, 4|, 4|, 4|, 4, %w>; cp.async.<wait_all|commit_group>; "
               "cp.async.wait_group 0; ld.shared.b32 %d, [%u1];",
     same},
    {PLACE OWN PRED
     "cp.async.ca.<shared|shared::cta>.global [%u1], [%rd1], 4, %p0; cp.async.wait_all; ld.shared.b32 %d, "
     "[%u1];",
     kept},
    {PLACE OWN
     "and.b32 %c, %c, 7; min.u32 %c, %c, 4; cp.async.ca.shared.global [%u1], [%rd1], 4, %c; cp.async.wait_all; "
     "ld.shared.b32 %d, [%u1];",
     shortened},
    {".reg .b32 %u<3>; .reg .b64 %w; .shared .align 16 .b8 s[2048]; mov.u32 %u0, s; mov.u32 %u1, %tid.x; mad.lo.u32 "
     "%u1, "
     "%u1, 16, %u0; sub.u32 %u0, %u1, %u0; cvt.u64.u32 %w, %u0; add.u64 %w, %w, %rd0; cp.async.cg.<shared|shared::cta>"
     ".global<|.L2::64B|.L2::128B|.L2::256B> [%u1], [%w], 16; cp.async.wait_all; ld.shared.b32 %d, [%u1]; bar.sync 0;",
     sixteenth},
    {PRED PLACE MBAR(
         "128") "shl.b32 %u2, %u1, 2; add.u32 %u2, %u0, %u2; st.shared.b32 [%u2], %a; mbarrier.<arrive|"
                "arrive_drop><|.release.cta|.release.cluster><.shared|.shared::cta>.b64 %w, [m]<|, 1>;\n$w: "
                "mbarrier.<test_wait|try_wait><|.acquire.cta|.acquire.cluster><.shared|.shared::cta>.b64 %p1, "
                "[m], %w; @!%p1 bra $w; xor.b32 %u2, %u1, 64; shl.b32 %u2, %u2, 2; add.u32 %u2, %u0, %u2; "
                "ld.shared.b32 %d, [%u2]; bar.sync 0; @%p0 mbarrier.inval.<shared|shared::cta>.b64 [m];",
     neighbour},
    {PRED PLACE MBAR(
         "128") "shl.b32 %u2, %u1, 2; add.u32 %u2, %u0, %u2; st.shared.b32 [%u2], %a; mbarrier.<arrive|"
                "arrive_drop>.expect_tx<|.release.cta|.release.cluster>.<shared|shared::cta>.b64 %w, [m], 4; "
                "mbarrier.complete_tx<|.relaxed.cta|.relaxed.cluster>.<shared|shared::cta>.b64 [m], 4;\n$w: "
                "mbarrier.<test_wait|try_wait>.parity<|.acquire.cta|.acquire.cluster>.<shared|shared::cta>.b64 "
                "%p1, [m], 0; @!%p1 bra $w; xor.b32 %u2, %u1, 64; shl.b32 %u2, %u2, 2; add.u32 %u2, %u0, %u2; "
                "ld.shared.b32 %d, [%u2];",
     neighbour},
    {PRED PLACE MBAR(
         "1") "@!%p0 bra $w; mbarrier.arrive.expect_tx.shared.b64 %w, [m], 512; cp.async.bulk.<shared::cluster|"
              "shared::cta>.global.mbarrier::complete_tx::bytes [s], [%rd0], 512, [m];\n$w: "
              "mbarrier.try_wait.parity.shared.b64 %p1, [m], 0; @!%p1 bra $w; shl.b32 %u2, %u1, 2; add.u32 %u2, "
              "%u0, %u2; ld.shared.b32 %d, [%u2]; bar.sync 0;",
     fourth},
    {PLACE
     "mapa.shared::cluster.u32 %u1, %u0, 0; getctarank.shared::cluster.u32 %d, %u1; barrier.cluster.arrive<|.release|"
     ".relaxed><|.aligned>; barrier.cluster.wait<|.acquire><|.aligned>;",
     zero},
    {"<membar.cta|membar.gl|membar.sys|membar.proxy.alias|fence.cta|fence.sc.cta|fence.acq_rel.cluster|fence.acquire."
     "gpu|"
     "fence.release.sys|fence.proxy.alias|fence.proxy.async|fence.mbarrier_init.release.cluster|fence.acquire."
     "sync_restrict::shared::cluster.cluster|fence.release.sync_restrict::shared::cta.cluster|fence.proxy.async.global|"
     "fence.proxy.async.shared::cta|fence.proxy.async.shared::cluster|fence.proxy.async::generic.acquire.sync_restrict:"
     ":"
     "shared::cluster.cluster|fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster>; nanosleep.u32 1; "
     "mov.<b32|u32|s32> %d, %a;",
     same},
};
/* Before PTX 6.4 the lanes that are there take part, without a mask. */
static const form old_forms[] = {
    {"shfl.<up|down|bfly|idx>.b32 %d, %a, 3, <0|31|31|31>;", shuffled},
    {PRED "shfl.<up|down|bfly|idx>.b32 %t0|%p1, %a, 3, <0|31|31|31>;" GIVE, in_range},
    {PRED "vote.<all|any|uni>.pred %p1, %p0;" GIVE, voted},
    {PRED "vote.ballot.b32 %d, %p0;", ballots},
};
enum { FORMS = sizeof forms / sizeof *forms, OLD_FORMS = sizeof old_forms / sizeof *old_forms };

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
    if (n > most) most = n;
    for (const char *p = text + 1; p < end; p++)
      if (*p == '|')
        at++;
      else if (at == v % n)
        *out++ = *p;
    text = end + 1;
  }
  *out = '\0';
  return most;
}

static void check_form(const form *f, void (*run)(const char *, const char *, uint64_t *, unsigned)) {
  static uint64_t x[3 * COUNT], y[3 * COUNT];
  char text[1024];
  unsigned variants = expand(f->text, 0, text);
  for (unsigned round = 0; round < 8 * variants; round++) {
    unsigned v = round % variants, kind = round / variants;
    /* In the last kinds one thread's lowest bit differs from all others', in the first or in the last warps. */
    int one = (int)(next() % (COUNT / 2) + (kind > 5 ? COUNT / 2 : 0)) * 3;
    for (int i = 0; i < 3 * COUNT; i++) {
      uint64_t bit = kind < 2 ? next() & 1 : kind == 2 ? 0 : kind == 3 ? 1 : (kind % 2 == 0) == (i == one);
      y[i] = x[i] = (next() & ~UINT64_C(1)) | bit;
    }
    (void)expand(f->text, v, text);
    run(text, "b32 b32 b32 b32", x, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
      uint32_t want = (uint32_t)f->want(y, i, v);
      ck_assert_msg((uint32_t)x[3 * i] == want, "%s\nthread %u: got %x, expected %x", text, i, (unsigned)x[3 * i],
                    want);
    }
  }
}

START_TEST(every_form) {
  check_form(&forms[_i], run_lanes);
}
END_TEST

START_TEST(every_old_form) {
  check_form(&old_forms[_i], run_old_lanes);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, every_form, 0, FORMS);
  tcase_add_loop_test(tcase, every_old_form, 0, OLD_FORMS);
  return run_case("Sim warp", tcase);
}
