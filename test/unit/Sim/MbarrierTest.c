/* mbarrier objects: random sequences of operations by one thread, each observed in full and compared with a model.
 *
 * The model is the PTX ISA's description: a phase ends when no arrival is pending and no transaction is open; pending is
 * then set to the count of the next phase. Every operation is followed by
 *
 *    pending_count of the state it gave | test_wait and try_wait for that state | both waits for parity 0 and 1
 *
 * Modifiers (order and scope, state space, wait instruction) are drawn for each. Misuse must be reported. */
#include "Harness.h"
#include "Random.h"
#include "RunPtx.h"

#include <check.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 24, MOST = (1 << 20) - 1 };

static uint64_t state = 4711;
static unsigned roll(unsigned n) {
  return (unsigned)random_below(&state, n);
}

typedef struct model {
  int pending, count, open; /* open: transactions */
  unsigned phase;
} model;

static void settle(model *m) {
  if (m->pending || m->open) return;
  m->pending = m->count;
  m->phase++;
}

static char text[65536];
static size_t used;
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  used += (size_t)vsnprintf(text + used, sizeof text - used, format, args);
  va_end(args);
  ck_assert_uint_lt(used, sizeof text);
}

/* ".release.cta" or nothing, then a space of the thread's own CTA; `order` is release or acquire. */
static void say_modifiers(const char *order, bool weak) {
  static const char *const scopes[] = {"cta", "cluster"};
  unsigned how = roll(weak ? 3 : 2);
  if (how) say(".%s.%s", how == 2 ? "relaxed" : order, scopes[roll(2)]);
}
static const char *address(bool remote) {
  static const char *const spaces[] = {".shared", ".shared::cta", ""};
  unsigned n = roll(remote ? 4 : 3);
  if (n == 3) {
    say(".shared::cluster.b64");
    return "%rd7"; /* mapa of rank 0 */
  }
  say("%s.b64", spaces[n]);
  return n == 2 ? "%rd6" : "%rd5"; /* generic, shared */
}

/* What the state of a phase answers: bits 0 and 1 of the expectation, see observe. */
static void observe(const model *m, bool has_state, unsigned phase_of_state, int pending_of_state, unsigned step,
                    uint32_t *want) {
  say("mov.b32 %%r2, 0;\n");
  for (unsigned i = 0; i < 4; i++) { /* i & 1: try_wait; i >> 1: by state, or by parity below */
    const char *hint = i & 1 && roll(2) ? ", 100" : "";
    say("mbarrier.%s%s", i & 1 ? "try_wait" : "test_wait", i & 2 ? ".parity" : "");
    if (!has_state && !(i & 2)) { /* no state: ask for the parity in its place */
      say(".parity");
    }
    say_modifiers("acquire", true);
    const char *at = address(false);
    unsigned parity = roll(2);
    bool by_state = has_state && !(i & 2);
    if (by_state)
      say(" %%p1, [%s], %%rd2%s;", at, hint);
    else
      say(" %%p1, [%s], %u%s;", at, parity, hint);
    say(" selp.b32 %%r1, %u, 0, %%p1; or.b32 %%r2, %%r2, %%r1;\n", 1u << i);
    bool ended = by_state ? m->phase != phase_of_state : (m->phase & 1) != parity;
    *want |= (unsigned)ended << i;
  }
  if (has_state) {
    say("mbarrier.pending_count.b64 %%r1, %%rd2; shl.b32 %%r1, %%r1, 8; or.b32 %%r2, %%r2, %%r1;\n");
    *want |= (uint32_t)pending_of_state << 8;
  }
  say("st.global.b32 [%%rd0+%u], %%r2;\n", 4 * step);
}

static void say_init(model *m) {
  *m = (model){.count = 1 + (int)roll(roll(4) ? 6 : 1000)};
  m->pending = m->count;
  say("mbarrier.init");
  const char *at = address(false);
  say(" [%s], %d;\n", at, m->count);
}

/* One operation that the model allows now. Returns whether it left a state in %rd2. */
static bool say_operation(model *m) {
  unsigned kind = m->pending ? roll(6) : 4 + roll(2); /* all have arrived: it is the transactions' turn */
  bool drop = roll(3) == 0 && m->count > 1;
  int n = 1 + (int)roll((unsigned)m->pending + !m->pending), bytes = 1 + (int)roll(roll(2) ? 4 : 500000);
  if (drop && n >= m->count) n = 1;
  bool ends = n == m->pending && m->open == 0;
  if (kind == 0) n = 1;
  if (kind == 2 && ends) kind = 1; /* .noComplete may not end the phase */
  if (kind == 3 && m->open + bytes > MOST) kind = 0, n = 1;
  switch (kind) {
  case 0: /* arrive, without and with a count */
  case 1:
  case 2:
  case 3:
    say("mbarrier.arrive%s%s", drop ? "_drop" : "", kind == 2 ? ".noComplete" : kind == 3 ? ".expect_tx" : "");
    if (kind == 2 && roll(2)) say(".release.cta");
    if (kind != 2) say_modifiers("release", true);
    const char *at = address(kind != 2);
    bool remote = strcmp(at, "%rd7") == 0;
    say(" %s, [%s]", remote ? "_" : "%rd2", at);
    if (kind) say(", %d", kind == 3 ? bytes : n);
    say(";\n");
    if (kind == 3) m->open += bytes, n = 1;
    m->pending -= n;
    m->count -= drop ? n : 0;
    settle(m);
    return !remote;
  default: /* transactions; completions may come first */
    if (kind == 5 ? m->open - bytes < -MOST : m->open + bytes > MOST) return false;
    say("mbarrier.%s_tx", kind == 5 ? "complete" : "expect");
    if (roll(2)) say(".relaxed.%s", roll(2) ? "cta" : "cluster");
    at = address(true);
    say(" [%s], %d;\n", at, bytes);
    m->open += kind == 5 ? -bytes : bytes;
    settle(m);
    return false;
  }
}

static void begin(void) {
  used = 0;
  say(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %%r<9>; .reg .b64 "
      "%%rd<9>; .reg .pred %%p<3>; .shared .align 8 .b64 m;\nld.param.u64 %%rd0, [p]; mov.u64 %%rd5, m; "
      "cvta.shared.u64 %%rd6, %%rd5; mapa.shared::cluster.u64 %%rd7, %%rd5, 0;\n");
}

START_TEST(sequences) {
  uint32_t want[STEPS] = {0}, got[STEPS];
  model m;
  state = 4711u + (unsigned)_i * 7919u;
  begin();
  say_init(&m);
  for (unsigned i = 0; i < STEPS; i++) {
    if (roll(12) == 0) {
      say("mbarrier.inval");
      const char *at = address(false);
      say(" [%s];\n", at);
      say_init(&m);
    }
    if (m.open && roll(3) == 0) { /* bring the phase to its end now and then */
      say("mbarrier.%s_tx.shared.b64 [%%rd5], %d;\n", m.open > 0 ? "complete" : "expect", abs(m.open));
      m.open = 0;
      settle(&m);
    }
    model before = m;
    bool has_state = say_operation(&m);
    observe(&m, has_state, before.phase, before.pending, i, &want[i]);
  }
  say("ret; }\n");
  memset(got, 0xEE, sizeof got);
  run_ptx("sm_90", text, 1, 1, got, sizeof got);
  for (unsigned i = 0; i < STEPS; i++)
    ck_assert_msg(got[i] == want[i], "step %u: got %x, expected %x\n%s", i, got[i], want[i], text);
}
END_TEST

/* The number of transactions may go to either end of its range. */
START_TEST(whole_range) {
  uint32_t got[2];
  begin();
  say("mbarrier.init.shared.b64 [m], 2; mbarrier.%s_tx.shared.b64 [m], 1048575; mbarrier.arrive.shared.b64 %%rd2, [m], "
      "2; mbarrier.test_wait.shared.b64 %%p1, [m], %%rd2; selp.b32 %%r1, 1, 0, %%p1; st.global.b32 [%%rd0], "
      "%%r1;\nmbarrier.%s_tx.shared.b64 [m], 1048575; mbarrier.test_wait.shared.b64 %%p1, [m], %%rd2; selp.b32 %%r1, "
      "1, "
      "0, %%p1; st.global.b32 [%%rd0+4], %%r1; ret; }\n",
      _i ? "complete" : "expect", _i ? "expect" : "complete");
  run_ptx("sm_90", text, 1, 1, got, sizeof got);
  ck_assert_uint_eq(got[0], 0);
  ck_assert_uint_eq(got[1], 1);
}
END_TEST

static const char *const misuses[] = {
    "mbarrier.init.shared.b64 [m], 0;",
    "mbarrier.init.shared.b64 [m], 1048576;",
    "mbarrier.arrive.shared.b64 %rd2, [m];",
    "mbarrier.init.shared.b64 [m], 1; mbarrier.inval.shared.b64 [m]; mbarrier.test_wait.shared.b64 %p1, [m], 0;",
    "mbarrier.init.shared.b64 [m], 2; mbarrier.arrive.shared.b64 %rd2, [m], 3;",
    "mbarrier.init.shared.b64 [m], 2; mov.b32 %r3, 0; mbarrier.arrive.shared.b64 %rd2, [m], %r3;",
    "mbarrier.init.shared.b64 [m], 2; mbarrier.arrive.noComplete.shared.b64 %rd2, [m], 2;",
    ("mbarrier.init.shared.b64 [m], 2; mbarrier.expect_tx.shared.b64 [m], 1048575; "
     "mbarrier.expect_tx.shared.b64 [m], 1;"),
    "mbarrier.init.shared.b64 [m], 2; mbarrier.complete_tx.shared.b64 [m], 1048576;",
    "cp.async.mbarrier.arrive.shared.b64 [m];",
};

START_TEST(misuse) {
  uint32_t nothing = 0;
  begin();
  say("%s ret; }\n", misuses[_i]);
  run_ptx_with(&(run_ptx_config){.profile = "sm_90", .grid = 1, .block = 1, .finding = "mbarrier misuse"}, text,
               &nothing, sizeof nothing);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("objects");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, sequences, 0, 150);
  tcase_add_loop_test(tcase, whole_range, 0, 2);
  tcase_add_loop_test(tcase, misuse, 0, sizeof misuses / sizeof *misuses);
  return run_case("Sim mbarrier", tcase);
}
