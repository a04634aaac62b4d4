/* cp.async and bulk copies: every size, cache operator and hint, with all of a source, part of it (the rest of the
 * destination becomes zero) or none, at random places; what lies around stays; misaligned copies are reported.
 *
 * Each lane copies from a place of its own in global memory to one in shared memory. Source and destination places are
 * two random permutations. A source that is not read is out of bounds on purpose. */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 64, PLACES = 128, SIZE = 16 };

static uint64_t state = 2024;
static unsigned roll(unsigned n) {
  return (unsigned)random_below(&state, n);
}
static void permute(unsigned *order, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    unsigned k = roll(i + 1);
    order[i] = order[k], order[k] = i;
  }
}

typedef struct buffer {
  uint32_t to[LANES], from[LANES], size[LANES]; /* offsets; bytes of the source, or whether to ignore it */
  unsigned char source[PLACES * SIZE], shared[PLACES * SIZE];
} buffer;

/* %r1 the destination in shared memory, %rd1 the source, %r2 the size, %p1 set if it is not zero. Threads 0 … 63 move
 * shared memory in and out. */
#define FRAME                                                                                                          \
  ".version %s\n.target sm_%s\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %%p<3>; .reg .b32 "    \
  "%%r<9>; .reg .b64 %%rd<9>; .shared .align 16 .b8 s[2048]; .shared .align 8 .b64 m;\nld.param.u64 %%rd0, [p]; "      \
  "mov.u32 "                                                                                                           \
  "%%r0, %%tid.x; mul.wide.u32 %%rd2, %%r0, 4; add.u64 %%rd2, %%rd0, %%rd2; ld.global.b32 %%r1, [%%rd2]; mov.u32 "     \
  "%%r3, s; add.u32 %%r1, %%r1, %%r3; ld.global.b32 %%r4, [%%rd2+256]; cvt.u64.u32 %%rd1, %%r4; add.u64 %%rd1, "       \
  "%%rd0, "                                                                                                            \
  "%%rd1; ld.global.b32 %%r2, [%%rd2+512]; setp.ne.u32 %%p1, %%r2, 0;\nshl.b32 %%r4, %%r0, 5; cvt.u64.u32 %%rd3, "     \
  "%%r4; add.u64 %%rd3, %%rd0, %%rd3; add.u32 %%r3, %%r3, %%r4; ld.global.v2.b64 {%%rd4, %%rd5}, [%%rd3+2816]; "       \
  "st.shared.v2.b64 [%%r3], {%%rd4, %%rd5}; ld.global.v2.b64 {%%rd4, %%rd5}, [%%rd3+2832]; st.shared.v2.b64 "          \
  "[%%r3+16], {%%rd4, %%rd5}; mov.u64 %%rd6, 0; bar.sync 0;\n%s\nbar.sync 0; ld.shared.v2.b64 {%%rd4, %%rd5}, "        \
  "[%%r3]; "                                                                                                           \
  "st.global.v2.b64 [%%rd3+2816], {%%rd4, %%rd5}; ld.shared.v2.b64 {%%rd4, %%rd5}, [%%r3+16]; st.global.v2.b64 "       \
  "[%%rd3+2832], {%%rd4, %%rd5}; ret; }\n"

enum { WHOLE, SIZED, FIXED, IGNORING, UNLESS, HOWS };
enum { SOURCE_AT = 768, OUTSIDE = 1 << 20 };

static void fill(buffer *x, unsigned bytes, unsigned how, unsigned fixed) {
  unsigned to[PLACES], from[PLACES];
  permute(to, PLACES), permute(from, PLACES);
  for (unsigned i = 0; i < PLACES * SIZE; i++)
    x->source[i] = (unsigned char)roll(256), x->shared[i] = (unsigned char)roll(256);
  for (unsigned l = 0; l < LANES; l++) {
    x->to[l] = to[l] * SIZE + roll(SIZE / bytes) * bytes;
    x->from[l] = SOURCE_AT + from[l] * SIZE + roll(SIZE / bytes) * bytes;
    x->size[l] = how == SIZED ? roll(bytes + 1) : how == FIXED ? fixed : roll(2);
    bool none = how == SIZED || how == FIXED ? x->size[l] == 0
                : how == IGNORING            ? x->size[l]
                                             : how == UNLESS && !x->size[l];
    if (none) x->from[l] += OUTSIDE;
  }
}

static void apply(buffer *x, unsigned bytes, unsigned how) {
  for (unsigned l = 0; l < LANES; l++) {
    unsigned n = how == WHOLE                       ? bytes
                 : how == SIZED || how == FIXED     ? x->size[l]
                 : (how == IGNORING) == !x->size[l] ? bytes
                                                    : 0;
    memset(x->shared + x->to[l], 0, bytes);
    memcpy(x->shared + x->to[l], (const char *)x + x->from[l] % OUTSIDE, n);
  }
}

/* How a program waits for its copies. */
static const char *const waits[] = {
    "cp.async.wait_all;",
    "cp.async.commit_group; cp.async.wait_group 0;",
    "cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 1; cp.async.wait_all;",
    "setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [m], 64; bar.sync 0; "
    "cp.async.mbarrier.arrive.noinc.shared.b64 [m]; $w: mbarrier.test_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra "
    "$w;",
    "setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [m], 64; bar.sync 0; mov.u64 %rd7, m; cvta.shared.u64 "
    "%rd7, "
    "%rd7; cp.async.mbarrier.arrive.noinc.b64 [%rd7]; $w: mbarrier.test_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra "
    "$w;",
    "setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [m], 64; bar.sync 0; "
    "cp.async.mbarrier.arrive.shared::cta.b64 [m]; mbarrier.arrive.shared.b64 %rd7, [m]; $w: "
    "mbarrier.test_wait.shared.b64 %p2, [m], %rd7; @!%p2 bra $w;",
    "setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [m], 64; bar.sync 0; "
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [m]; $w: mbarrier.test_wait.parity.shared.b64 %p2, [m], 0; @!%p2 "
    "bra "
    "$w;",
};
enum { WAITS = sizeof waits / sizeof *waits };

static const char *const hints[] = {"",          ".L2::cache_hint", ".L2::64B",
                                    ".L2::128B", ".L2::256B",       ".L2::cache_hint.L2::128B"};
enum { HINTS = sizeof hints / sizeof *hints };

static const struct {
  const char *cache;
  unsigned bytes;
} sizes[] = {{"ca", 4}, {"ca", 8}, {"ca", 16}, {"cg", 16}};

START_TEST(copies) {
  static const char *const spaces[] = {"shared", "shared::cta"};
  unsigned bytes = sizes[_i % 4].bytes, how = (unsigned)_i / 4;
  for (unsigned v = 0; v < WAITS * HINTS; v++) {
    char ptx[8192], text[1024];
    unsigned fixed = v % (bytes + 1);
    buffer x, y;
    size_t n = (size_t)sprintf(text, "cp.async.%s.%s.global%s [%%r1], [%%rd1], %u", sizes[_i % 4].cache, spaces[v % 2],
                               hints[v % HINTS], bytes);
    if (how == SIZED) n += (size_t)sprintf(text + n, ", %%r2");
    if (how == FIXED) n += (size_t)sprintf(text + n, ", %u", fixed);
    if (how == IGNORING) n += (size_t)sprintf(text + n, ", %%p1");
    if (how == UNLESS) n += (size_t)sprintf(text + n, ", !%%p1");
    if (strstr(hints[v % HINTS], "hint")) n += (size_t)sprintf(text + n, ", %%rd6");
    (void)sprintf(text + n, "; %s", waits[v % WAITS]);
    sprintf(ptx, FRAME, "7.8", "80", text);
    fill(&x, bytes, how, fixed);
    y = x;
    run_ptx("sm_80", ptx, 1, LANES, &x, sizeof x);
    apply(&y, bytes, how);
    ck_assert_msg(memcmp(&x, &y, sizeof x) == 0, "%s", text);
  }
}
END_TEST

/* ---- Bulk copies by one thread ---- */
enum { LOADS = 4, STORES = 2, STRETCH = 768 };

START_TEST(bulk) {
  static const char *const load[LOADS] = {"shared::cluster.global.mbarrier::complete_tx::bytes",
                                          "shared::cta.global.mbarrier::complete_tx::bytes",
                                          "shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint",
                                          "shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint"},
                           *const store[STORES] = {"global.shared::cta.bulk_group", "global.shared::cta.bulk_group.L2::"
                                                                                    "cache_hint"},
                           *const group[] = {"cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0;",
                                             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 1;"},
                           *const prefetch[] = {"cp.async.bulk.prefetch.L2.global [%rd1], 64;",
                                                "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], %r2, %rd6;"};
  bool loads = _i < LOADS;
  const char *form = loads ? load[_i] : store[_i - LOADS], *hint = strstr(form, "hint") ? ", %rd6" : "";
  for (unsigned v = 0; v < 12; v++) {
    char ptx[8192], text[2048];
    buffer x, y;
    memset(&x, 0, sizeof x);
    fill(&x, 16, WHOLE, 0);
    unsigned bytes = 16 * (1 + roll(STRETCH / 16)), a = 16 * roll((PLACES * SIZE - bytes) / 16),
             b = 16 * roll((PLACES * SIZE - bytes) / 16);
    x.to[0] = a, x.from[0] = SOURCE_AT + b, x.size[0] = bytes;
    y = x;
    size_t n = (size_t)sprintf(text, "setp.ne.u32 %%p2, %%r0, 0; @%%p2 bra $end; %s ", prefetch[v % 2]);
    if (loads)
      n +=
          (size_t)sprintf(text + n,
                          "mbarrier.init.shared.b64 [m], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, "
                          "[m], %%r2; cp.async.bulk.%s [%%r1], [%%rd1], %%r2, [m]%s; $w: mbarrier.try_wait.parity."
                          "shared.b64 %%p1, [m], 0; @!%%p1 bra $w;",
                          form, hint);
    else
      n += (size_t)sprintf(text + n,
                           "fence.proxy.async.shared::cta; cp.async.bulk.%s [%%rd1], [%%r1], %%r2%s; "
                           "cp.async.bulk.commit_group; %s",
                           form, hint, group[v % 3]);
    (void)sprintf(text + n, " $end:");
    sprintf(ptx, FRAME, "8.6", "90", text);
    run_ptx("sm_90", ptx, 1, LANES, &x, sizeof x);
    memcpy(loads ? y.shared + a : y.source + b, loads ? y.source + b : y.shared + a, bytes);
    ck_assert_msg(memcmp(&x, &y, sizeof x) == 0, "%u bytes\n%s", bytes, text);
  }
}
END_TEST

/* ---- Refusals at run time ---- */
static const struct {
  const char *text, *finding;
} faults[] = {
    {"add.u32 %r1, %r1, 4; cp.async.ca.shared.global [%r1], [%rd1], 8;", "misaligned"},
    {"add.u64 %rd1, %rd1, 4; cp.async.ca.shared.global [%r1], [%rd1], 8;", "misaligned"},
    {"add.u64 %rd1, %rd1, 8; cp.async.cg.shared.global [%r1], [%rd1], 16;", "misaligned"},
    {"add.u32 %r1, %r1, 8; cp.async.cg.shared.global [%r1], [%rd1], 16, 8;", "misaligned"},
    {"add.u64 %rd1, %rd1, 2; cp.async.ca.shared.global [%r1], [%rd1], 4, 1;", "misaligned"},
    {"add.u64 %rd1, %rd1, 1048576; cp.async.ca.shared.global [%r1], [%rd1], 4;", "out of bounds"},
    {"add.u32 %r1, %r1, 65536; cp.async.ca.shared.global [%r1], [%rd1], 4, 0;", "beyond shared memory"},
    {"add.u32 %r1, %r1, 8; mov.u32 %r2, 16; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;",
     "misaligned"},
    {"add.u64 %rd1, %rd1, 8; mov.u32 %r2, 16; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;",
     "misaligned"},
    {"mov.u32 %r2, 24; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;", "misaligned"},
    {"mov.u32 %r2, 65536; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;", "beyond shared memory"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [m];", "mbarrier misuse"},
};

START_TEST(refused) {
  char ptx[8192];
  buffer x;
  memset(&x, 0, sizeof x);
  fill(&x, 16, WHOLE, 0);
  sprintf(ptx, FRAME, "8.6", "90", faults[_i].text);
  run_ptx_with(&(run_ptx_config){.profile = "sm_90", .grid = 1, .block = LANES, .finding = faults[_i].finding}, ptx, &x,
               sizeof x);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("forms");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, copies, 0, 4 * HOWS);
  tcase_add_loop_test(tcase, bulk, 0, LOADS + STORES);
  tcase_add_loop_test(tcase, refused, 0, sizeof faults / sizeof *faults);
  return run_case("Sim asynchronous copies", tcase);
}
