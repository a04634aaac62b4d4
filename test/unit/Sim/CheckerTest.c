/* The race and sync checkers: kernels with a planted fault, which must be found at its line, and clean twins, which must
 * not be blamed, all under several schedules. */
#include "Harness.h"
#include "Sim/Sim.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body begins on line 8; %r0 tid, %r1 its byte offset in s (%r2), %rd1 its word in global memory, %r9 ctaid. */
#define ENTRY                                                                                                          \
  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{ .reg .pred %p<9>; .reg .b32 "    \
  "%r<19>; .reg .b64 %rd<9>; .reg .b16 %h<5>;\n.shared .align 16 .b8 s[2048]; ld.param.u64 %rd0, [p]; mov.u32 %r0, "   \
  "%tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; mov.u32 %r9, %ctaid.x;\nshl.b32 %r1, %r0, 2; mov.u32 " \
  "%r2, s; add.u32 %r2, %r2, %r1; xor.b32 %r3, %r2, 256; xor.b32 %r4, %r2, 4; shr.u32 %r5, %r0, 5;\n"

typedef struct example {
  const char *name, *body, *kind; /* kind null: clean */
  uint32_t line;                  /* of the finding: the later access */
  unsigned grid, block;
  bool note;
} example;

static const example examples[] = {
    {"neighbour warp without a barrier", "st.shared.u32 [%r2], %r0;\nld.shared.u32 %r6, [%r3];", "data race", 9, 1, 128,
     false},
    {"neighbour warp with a barrier", "st.shared.u32 [%r2], %r0; bar.sync 0;\nld.shared.u32 %r6, [%r3];", NULL, 0, 1,
     128, false},
    {"barrier at the back edge missing",
     "mov.u32 %r7, 0;\n$l: st.shared.u32 [%r2], %r7; bar.sync 0;\nld.shared.u32 %r6, [%r3]; add.u32 %r7, %r7, 1; "
     "setp.lt.u32 %p1, %r7, 4; @%p1 bra $l;",
     "data race", 9, 1, 128, false},
    {"barrier at the back edge",
     "mov.u32 %r7, 0;\n$l: st.shared.u32 [%r2], %r7; bar.sync 0;\nld.shared.u32 %r6, [%r3]; bar.sync 0; add.u32 %r7, "
     "%r7, 1; setp.lt.u32 %p1, %r7, 4; @%p1 bra $l;",
     NULL, 0, 1, 128, false},
    {"neighbour lane without syncwarp", "st.shared.u32 [%r2], %r0;\nld.shared.u32 %r6, [%r4];", "data race", 9, 1, 32,
     false},
    {"neighbour lane with syncwarp", "st.shared.u32 [%r2], %r0; bar.warp.sync -1;\nld.shared.u32 %r6, [%r4];", NULL, 0,
     1, 32, false},
    {"syncwarp of the wrong lanes",
     "st.shared.u32 [%r2], %r0; setp.ge.u32 %p1, %r0, 16; @%p1 bra $h; bar.warp.sync 0xFFFF; bra $j;\n$h: "
     "bar.warp.sync "
     "0xFFFF0000; $j: xor.b32 %r6, %r2, 64;\nld.shared.u32 %r7, [%r6];",
     "data race", 10, 1, 32, false},
    {"all lanes write one word", "\nst.shared.u32 [s], %r0;", "data race", 9, 1, 32, false},
    {"all lanes write one word alike", "mov.u32 %r6, 7;\nst.shared.u32 [s], %r6;", "data race", 9, 1, 64, true},
    {"one lane of each warp", "and.b32 %r6, %r0, 31; setp.eq.u32 %p1, %r6, 0;\n@%p1 st.shared.u32 [s], %r5;",
     "data race", 9, 1, 64, false},
    {"different bytes of a word", "mov.u32 %r6, s; add.u32 %r6, %r0, %r6;\nst.shared.u8 [%r6], %r0;", NULL, 0, 1, 64,
     false},
    {"halves of another's word", "st.shared.u32 [%r2], %r0;\nxor.b32 %r6, %r2, 130; ld.shared.u16 %h1, [%r6];",
     "data race", 9, 1, 64, false},
    {"atomics", "\natom.shared.add.u32 %r6, [s], 1; red.shared.max.u32 [s], %r0;", NULL, 0, 1, 128, false},
    {"atomic against a plain read", "atom.shared.add.u32 %r6, [s], 1;\nld.shared.u32 %r7, [s];", "data race", 0, 1, 64,
     false},
/* A compare-and-swap loop: its first read must be one that the memory model gives a value. */
#define SWAP_LOOP(read)                                                                                                \
  read " %r6, [%rd0];\n$l: add.u32 %r7, %r6, %r0; mov.u32 %r8, %r6; atom.global.cas.b32 %r6, [%rd0], %r8, %r7; "       \
       "setp.ne.u32 %p1, %r6, %r8; @%p1 bra $l;"
    {"compare-and-swap after a plain read", "\n" SWAP_LOOP("ld.global.u32"), "data race", 9, 2, 64, false},
    {"compare-and-swap after a volatile read", "\n" SWAP_LOOP("ld.volatile.global.u32"), NULL, 0, 2, 64, false},
    {"compare-and-swap after a relaxed read", "\n" SWAP_LOOP("ld.relaxed.gpu.global.u32"), NULL, 0, 2, 64, false},
    {"plain write, then compare-and-swap behind a barrier",
     "setp.ne.u32 %p2, %r0, 0; @!%p2 st.shared.u32 [s], 7; bar.sync 0; ld.volatile.shared.u32 %r6, [s];\n$l: add.u32 "
     "%r7, %r6, 1; mov.u32 %r8, %r6; atom.shared.cas.b32 %r6, [s], %r8, %r7; setp.ne.u32 %p1, %r6, %r8; @%p1 bra $l; "
     "bar.sync 0; ld.shared.u32 %r6, [s];",
     NULL, 0, 1, 64, false},
    {"named barriers of two halves",
     "and.b32 %r6, %r0, 64; setp.eq.u32 %p1, %r6, 0; st.shared.u32 [%r2], %r0; @%p1 bra $a; bar.sync 1, 64; bra $b;\n"
     "$a: bar.sync 2, 64; $b: xor.b32 %r7, %r2, 128; ld.shared.u32 %r6, [%r7];",
     NULL, 0, 1, 128, false},
    {"across the halves",
     "and.b32 %r6, %r0, 64; setp.eq.u32 %p1, %r6, 0; st.shared.u32 [%r2], %r0; @%p1 bra $a; bar.sync 1, 64; bra $b;\n"
     "$a: bar.sync 2, 64; $b:\nld.shared.u32 %r6, [%r3];",
     "data race", 10, 1, 128, false},
    {"producer arrives, consumer waits",
     "setp.eq.u32 %p1, %r5, 0; @!%p1 bra $c; st.shared.u32 [%r2], %r0; bar.arrive 1, 64; bra $e;\n"
     "$c: bar.sync 1, 64; xor.b32 %r6, %r2, 128; ld.shared.u32 %r7, [%r6]; $e:",
     NULL, 0, 1, 64, false},
    {"producer waits, too late",
     "setp.eq.u32 %p1, %r5, 0; @!%p1 bra $c; bar.arrive 1, 64;\nst.shared.u32 [%r2], %r0; bra $e;\n"
     "$c: bar.sync 1, 64; xor.b32 %r6, %r2, 128; ld.shared.u32 %r7, [%r6]; $e:",
     "data race", 0, 1, 64, false},
    {"flag with fences",
     "setp.ne.u32 %p1, %r0, 0; @%p1 bra $c; st.shared.u32 [s+512], 5; fence.acq_rel.cta; st.relaxed.cta.shared.u32 "
     "[s], 1; bra $e;\n"
     "$c: setp.ne.u32 %p2, %r0, 32; @%p2 bra $e; $w: ld.acquire.cta.shared.u32 %r6, [s]; setp.ne.u32 %p3, %r6, 1; @%p3 "
     "bra $w;\n"
     "ld.shared.u32 %r7, [s+512]; $e:",
     NULL, 0, 1, 64, false},
    {"two CTAs write one word", "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.global.u32 [%rd0], %r9;", "data race", 9, 2, 32,
     false},
    {"CTAs write their own words",
     "mad.lo.u32 %r6, %r9, 32, %r0; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd0, %rd2;\nst.global.u32 [%rd2], %r6;",
     NULL, 0, 4, 32, false},
    {"read what another CTA writes",
     "mad.lo.u32 %r6, %r9, 32, %r0; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd0, %rd2;\nst.global.u32 [%rd2], %r6;\n"
     "ld.global.u32 %r7, [%rd1];",
     "data race", 0, 2, 32, false},
    {"last block sums",
     "mul.wide.u32 %rd2, %r9, 4; add.u64 %rd2, %rd0, %rd2; setp.ne.u32 %p1, %r0, 0; @%p1 bra $e; st.global.u32 "
     "[%rd2+64], %r9; membar.gl;\n"
     "atom.global.add.u32 %r6, [%rd0], 1; setp.ne.u32 %p2, %r6, 3; @%p2 bra $e; membar.gl; ld.global.u32 %r7, "
     "[%rd0+64];\n"
     "ld.global.u32 %r8, [%rd0+76]; $e:",
     NULL, 0, 4, 32, false},
    {"same CTA through global memory",
     "st.global.u32 [%rd1], %r0;\nxor.b32 %r6, %r0, 32; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd0, %rd2; "
     "ld.global.u32 %r7, [%rd2];",
     "data race", 9, 1, 64, false},
    {"count no multiple of a warp", "mov.u32 %r6, 48;\nbar.sync 1, %r6;", "barrier count", 9, 1, 64, false},
    {"id out of range", "\nmov.u32 %r6, 16; bar.sync %r6;", "barrier id", 9, 1, 64, false},
    {"two counts at once", "setp.eq.u32 %p1, %r5, 0; @%p1 bra $a;\nbar.sync 1, 64; bra $e; $a: bar.sync 1, 96; $e:",
     "barrier count", 9, 1, 64, false},
    {"half a warp at one barrier, half at another",
     "and.b32 %r6, %r0, 16; setp.eq.u32 %p1, %r6, 0; @%p1 bra $a; bar.sync 0; bra $e;\n$a: bar.sync 0; $e:",
     "divergent aligned instruction", 0, 1, 64, false},
    {"mask misses the lane", "setp.ge.u32 %p1, %r0, 4; @%p1 bra $e;\nshfl.sync.idx.b32 %r6, %r0, 0, 31, 0xE; $e:",
     "member mask misses the executing lane", 9, 1, 32, false},
    {"mask of the lanes that execute",
     "setp.ge.u32 %p1, %r0, 4; @%p1 bra $e;\nshfl.sync.idx.b32 %r6, %r0, 0, 31, 0xF; $e:", NULL, 0, 1, 32, false},
    {"lanes meet at a barrier after diverging",
     "and.b32 %r6, %r0, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra $a; add.u32 %r7, %r0, 1; $a: bar.sync 0;", NULL, 0, 1, 64,
     false},
};

static void run(const example *e, uint64_t seed, tf_sim_report *report) {
  char ptx[4096], message[512] = "";
  tf_sim_options o = {.checks = TF_SIM_CHECK_ALL & ~TF_SIM_CHECK_INIT, .seed = seed, .budget = 1000000};
  tf_sim_device *device;
  tf_sim_module *module;
  uint64_t address;
  snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", ENTRY, e->body);
  ck_assert_int_eq(tf_sim_device_create("sm_90", &o, &device), TF_OK);
  ck_assert_msg(tf_sim_module_load(device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s: %s",
                e->name, message);
  ck_assert_int_eq(tf_sim_alloc(device, 4096, &address), TF_OK);
  tf_sim_launch_config c = {.grid = {e->grid, 1, 1}, .block = {e->block, 1, 1}, .params = &address, .param_bytes = 8};
  tf_status status = tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, report);
  ck_assert_msg(status != TF_LAUNCH, "%s", message);
  tf_sim_device_destroy(device);
}

static const uint64_t seeds[] = {0, 1, 2, 99};

START_TEST(planted_and_clean) {
  const example *e = &examples[_i / 4];
  tf_sim_report r;
  run(e, seeds[_i % 4], &r);
  bool found = false;
  for (size_t i = 0; i < r.count; i++) {
    const tf_sim_finding *f = &r.findings[i];
    ck_assert_msg(e->kind || f->note, "%s, seed %llu: blamed for %s at line %u: %s", e->name,
                  (unsigned long long)seeds[_i % 4], f->kind, f->ptx_line, f->text);
    found = found || (e->kind && strcmp(f->kind, e->kind) == 0 && f->note == e->note &&
                      (!e->line || f->ptx_line == e->line || seeds[_i % 4]));
  }
  ck_assert_msg(found == (e->kind != NULL), "%s, seed %llu: %s not found among %zu findings (%s, line %u)", e->name,
                (unsigned long long)seeds[_i % 4], e->kind, r.count, r.count ? r.findings[0].text : "none",
                r.count ? r.findings[0].ptx_line : 0);
  if (e->note || !e->kind) ck_assert_int_eq(r.status, TF_OK);
  tf_sim_report_free(&r);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("checkers");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, planted_and_clean, 0, 4 * (int)(sizeof examples / sizeof *examples));
  return run_case("Sim checkers", c);
}
