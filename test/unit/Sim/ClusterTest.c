/* Shared memory and mbarriers across the CTAs of a cluster.
 *
 * Every thread sends its word to thread t ^ 5 of the CTA before it, in each of the ways that an arrival or a copy can tell
 * the receiver, who waits at its own barrier:
 *
 *   CTA r, thread t ── word ──▶ CTA r-1, slot[t ^ 5]          CTA r-1: wait, read slot[t]
 *                   ── arrival ▶ CTA r-1, barrier */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CTAS = 4, THREADS = 64, WORDS = CTAS * THREADS, BYTES = 4 * THREADS };

static uint64_t state = 31;
static uint32_t noise(void) {
  return (uint32_t)random_next(&state);
}

/* %r0 tid, %r1 rank, %r2 the receiver's rank, %a the word (and result), %rd1 its address in global memory.
 * %rd2 slot[t ^ 5], %rd3 slot[t], %rd4 the barrier m: of this CTA. %rd5, %rd6: slot[t ^ 5] and m of the receiver. */
#define KERNEL                                                                                                         \
  ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) .reqnctapercluster %u {\n.reg "     \
  ".pred %%p<4>; .reg .b16 %%h; .reg .b32 %%r<9>, %%a; .reg .b64 %%rd<12>; .shared .align 16 .b32 slot[64]; .shared "  \
  ".align 16 .b32 mine[64]; .shared .align 8 .b64 m;\nld.param.u64 %%rd0, [p]; mov.u32 %%r0, %%tid.x; mov.u32 %%r1, "  \
  "%%cluster_ctarank; add.u32 %%r2, %%r1, 3; and.b32 %%r2, %%r2, 3; mad.lo.u32 %%r3, %%r1, 64, %%r0; mul.wide.u32 "    \
  "%%rd1, %%r3, 4; add.u64 %%rd1, %%rd1, %%rd0; ld.global.b32 %%a, [%%rd1];\nmov.u64 %%rd4, m; mov.u64 %%rd3, slot; "  \
  "xor.b32 %%r4, %%r0, 5; mul.wide.u32 %%rd2, %%r4, 4; add.u64 %%rd2, %%rd3, %%rd2; mul.wide.u32 %%rd7, %%r0, 4; "     \
  "add.u64 %%rd3, %%rd3, %%rd7; mov.b32 %%r5, -1; st.shared.b32 [%%rd3], %%r5; mov.u64 %%rd8, mine; add.u64 %%rd8, "   \
  "%%rd8, %%rd7; st.shared.b32 [%%rd8], %%a; setp.ne.u32 %%p0, %%r0, 0;\n@!%%p0 mbarrier.init.shared.b64 [m], %s; "    \
  "@!%%p0 fence.mbarrier_init.release.cluster; mapa.u64 %%rd5, %%rd2, %%r2; mapa.shared::cluster.u64 %%rd6, %%rd4, "   \
  "%%r2;\nbarrier.cluster.arrive%s%s; barrier.cluster.wait%s%s;\n%s\n$w: "                                             \
  "mbarrier.%s.parity%s.shared%s.b64 %%p1, [m], 0; @!%%p1 bra $w;\nld.shared.b32 %%a, [%%rd3]; st.global.b32 "         \
  "[%%rd1], "                                                                                                          \
  "%%a; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }\n"
#define SEND "st.shared::cluster.b32 [%rd5], %a; "

static const struct {
  const char *count, *text;
} arrivals[] = {
    {"64", SEND "mbarrier.arrive.shared::cluster.b64 _, [%rd6];"},
    {"64", SEND "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%rd6], 1;"},
    {"128", SEND "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd6], 2;"},
    {"64", SEND "fence.acq_rel.cluster; mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%rd6];"},
    {"64", SEND "fence.acq_rel.cluster; mbarrier.arrive.relaxed.cta.shared::cluster.b64 _, [%rd6];"},
    {"65", SEND "mbarrier.arrive_drop.shared::cluster.b64 _, [%rd6]; @!%p0 mbarrier.arrive.shared.b64 _, [m];"},
    {"129", SEND "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%rd6], 2; @!%p0 mbarrier.arrive.b64 _, "
                 "[%rd10];"},
    {"64", SEND "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%rd6], 8; "
                "mbarrier.complete_tx.shared::cluster.b64 [%rd6], 8;"},
    {"64", SEND "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%rd6], 8; "
                "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%rd6], 8;"},
    {"64", SEND "fence.acq_rel.cluster; mbarrier.arrive.expect_tx.relaxed.cta.shared::cluster.b64 _, [%rd6], 3; "
                "mbarrier.complete_tx.relaxed.cta.shared::cluster.b64 [%rd6], 3;"},
    {"65", SEND "mbarrier.arrive_drop.expect_tx.shared::cluster.b64 _, [%rd6], 1; mbarrier.complete_tx.shared::cluster"
                ".b64 [%rd6], 1; @!%p0 mbarrier.arrive.shared.b64 _, [m];"},
    {"65", SEND "mbarrier.expect_tx.shared::cluster.b64 [%rd6], 1; mbarrier.complete_tx.shared::cluster.b64 [%rd6], 1; "
                "mbarrier.arrive_drop.release.cta.shared::cluster.b64 _, [%rd6]; @!%p0 "
                "mbarrier.arrive.expect_tx.relaxed.cluster.shared.b64 _, [m], 0;"},
    {"64",
     SEND "mbarrier.expect_tx.relaxed.cta.shared::cluster.b64 [%rd6], 1; mbarrier.complete_tx.shared::cluster.b64 "
          "[%rd6], 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd6];"},
    /* A bulk copy between CTAs; the receiver's first thread has said how many bytes it expects. */
    {"1", "st.shared.b32 [%rd2], %a; @!%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 256; bar.sync 0; mov.u64 %rd7, "
          "mine; mov.u64 %rd9, slot; mapa.u64 %rd9, %rd9, %r2; shl.b32 %r4, %r4, 2; cvt.u64.u32 %rd11, %r4; add.u64 "
          "%rd11, %rd11, %rd7; st.shared.b32 [%rd11], %a; fence.proxy.async; barrier.cluster.arrive; "
          "barrier.cluster.wait; @!%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%rd9], "
          "[%rd7], 256, [%rd6];"},
};
enum { ARRIVALS = sizeof arrivals / sizeof *arrivals };

START_TEST(exchange) {
  static const char *const waits[] = {"try_wait", "test_wait"}, *const arrive[] = {"", ".release", ".relaxed"},
                           *const wait[] = {"", ".acquire", ""}, *const aligned[] = {"", ".aligned"},
                           *const orders[] = {"", ".acquire.cluster", ".acquire.cta"}, *const own[] = {"", "::cta"};
  uint32_t x[WORDS], y[WORDS];
  char ptx[8192], body[1024];
  for (unsigned v = 0; v < 6; v++) {
    sprintf(body, "cvta.shared.u64 %%rd10, %%rd4; %s", arrivals[_i].text);
    sprintf(ptx, KERNEL, CTAS, arrivals[_i].count, arrive[v % 3], aligned[v % 2], wait[v % 3], aligned[v % 2], body,
            waits[v % 2], orders[v % 3], own[v / 3]);
    for (unsigned i = 0; i < WORDS; i++)
      x[i] = y[i] = noise();
    run_ptx("sm_90", ptx, CTAS, THREADS, x, sizeof x);
    for (unsigned i = 0; i < WORDS; i++) {
      unsigned from = (i / THREADS + 1) % CTAS * THREADS + (i % THREADS ^ 5);
      ck_assert_msg(x[i] == y[from], "CTA %u thread %u: got %x, expected %x\n%s", i / THREADS, i % THREADS, x[i],
                    y[from], ptx);
    }
  }
}
END_TEST

/* One copy from global memory to the CTAs of a mask; the others keep what they had. */
START_TEST(multicast) {
  static const unsigned masks[] = {1, 4, 15, 10, 13, 6};
  uint32_t x[WORDS + THREADS], y[WORDS + THREADS]; /* the source stands behind the words */
  char ptx[8192], body[1024];
  unsigned mask = masks[_i / 2];
  bool hint = _i % 2;
  sprintf(
      body,
      "setp.ne.u32 %%p2, %%r1, 2; shr.u32 %%r6, %u, %%r1; and.b32 %%r6, %%r6, 1; setp.ne.u32 %%p3, %%r6, 1; @%%p3 bra "
      "$e; @!%%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 256; $e: barrier.cluster.arrive; "
      "barrier.cluster.wait; mov.b16 %%h, %u; mov.u64 %%rd9, 0; @%%p2 bra $d; @%%p0 bra $d;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster%s [slot], "
      "[%%rd0+1024], 256, [m], %%h%s; $d: @%%p0 bra $f; @%%p3 mbarrier.arrive.shared.b64 _, [m]; $f:",
      mask, mask, hint ? ".L2::cache_hint" : "", hint ? ", %rd9" : "");
  sprintf(ptx, KERNEL, CTAS, "1", "", "", "", "", body, "try_wait", "", "");
  for (unsigned i = 0; i < WORDS + THREADS; i++)
    x[i] = y[i] = noise();
  run_ptx("sm_90", ptx, CTAS, THREADS, x, sizeof x);
  for (unsigned i = 0; i < WORDS; i++) {
    uint32_t want = mask >> i / THREADS & 1 ? y[WORDS + i % THREADS] : UINT32_MAX;
    ck_assert_msg(x[i] == want, "mask %x, CTA %u thread %u: got %x, expected %x\n%s", mask, i / THREADS, i % THREADS,
                  x[i], want, ptx);
  }
}
END_TEST

/* mapa and getctarank of every width undo each other, and rank 0's address reaches rank 0. */
START_TEST(ranks) {
  static const char *const forms[] = {
      "mapa.shared::cluster.u32 %r4, %r5, %r3; getctarank.shared::cluster.u32 %r6, %r4; cvt.u64.u32 %rd2, %r4; ",
      "mapa.u32 %r4, s, %r3; getctarank.shared::cluster.u32 %r6, %r4; cvt.u64.u32 %rd2, %r4; ",
      "mapa.shared::cluster.u64 %rd2, %rd3, %r3; getctarank.shared::cluster.u64 %r6, %rd2; ",
      "mapa.u64 %rd4, %rd5, %r3; getctarank.u64 %r6, %rd4; cvta.to.shared.u64 %rd2, %rd4; ",
      "mapa.u64 %rd4, %rd5, %r3; getctarank.u64 %r6, %rd4; cvta.to.shared::cluster.u64 %rd2, %rd4; ",
  };
  uint32_t x[2 * CTAS * CTAS];
  char ptx[4096];
  sprintf(
      ptx,
      ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) .explicitcluster "
      ".reqnctapercluster 4 {\n.reg .b32 %%r<9>; .reg .b64 %%rd<9>; .shared .b32 s;\nld.param.u64 %%rd0, [p]; mov.u32 "
      "%%r0, %%cluster_ctarank; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r1, %%r0, 4, %%r3; mul.wide.u32 %%rd1, %%r1, 8; "
      "add.u64 %%rd1, %%rd0, %%rd1; mad.lo.u32 %%r2, %%r0, 7, 100; st.shared.b32 [s], %%r2; mov.u32 %%r5, s; mov.u64 "
      "%%rd3, s; cvta.shared.u64 %%rd5, %%rd3;\nbarrier.cluster.arrive; barrier.cluster.wait;\n%s\nld.shared::cluster"
      ".b32 %%r7, [%%rd2]; st.global.b32 [%%rd1], %%r6; st.global.b32 [%%rd1+4], %%r7; barrier.cluster.arrive; "
      "barrier.cluster.wait; ret; }\n",
      forms[_i]);
  memset(x, 0xEE, sizeof x);
  run_ptx("sm_90", ptx, CTAS, CTAS, x, sizeof x);
  for (unsigned i = 0; i < CTAS * CTAS; i++) {
    ck_assert_msg(x[2 * i] == i % CTAS, "%s: rank %u", forms[_i], x[2 * i]);
    ck_assert_msg(x[2 * i + 1] == i % CTAS * 7 + 100, "%s: word %u", forms[_i], x[2 * i + 1]);
  }
}
END_TEST

/* The launch names clusters: three of two CTAs each. */
START_TEST(grid_of_clusters) {
  uint32_t x[8];
  memset(x, 0xEE, sizeof x);
  run_ptx(
      "sm_90",
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) .blocksareclusters .reqntid 4 "
      ".reqnctapercluster 2 {\n.reg .b32 %r<6>; .reg .b64 %rd<3>; ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; "
      "mov.u32 %r1, %nctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %nclusterid.x; mul.wide.u32 %rd1, %r0, 4; "
      "add.u64 %rd0, %rd0, %rd1; mad.lo.u32 %r1, %r1, 100, %r2; mad.lo.u32 %r1, %r3, 10, %r1; st.global.u32 [%rd0], "
      "%r1; ret; }\n",
      3, 4, x, sizeof x);
  for (unsigned i = 0; i < 8; i++)
    ck_assert_uint_eq(x[i], i < 6 ? 630 + i % 2 : 0xEEEEEEEE);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, exchange, 0, ARRIVALS);
  tcase_add_loop_test(tcase, multicast, 0, 12);
  tcase_add_loop_test(tcase, ranks, 0, 5);
  tcase_add_test(tcase, grid_of_clusters);
  return run_case("Sim clusters", tcase);
}
