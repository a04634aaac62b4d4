/* The init checker: what writes shared and global memory beside plain stores, and what makes bytes nobody's again. */
#include "Harness.h"
#include "RunPtx.h"
#include "Sim/Sim.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* %rd0 the buffer, all of it written; s and m nobody has written. One thread in each of two CTAs of a cluster; %rd5 is s
 * and %rd6 is m of the other CTA, %r9 the rank. */
#define HEAD                                                                                                           \
  ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) .reqnctapercluster 2 {\n.reg "      \
  ".pred "                                                                                                             \
  "%p<4>; .reg .b32 %r<10>; .reg .b64 %rd<9>; .shared .align 16 .b8 s[256]; .shared .align 8 .b64 m; .local .b32 l;\n" \
  "ld.param.u64 %rd0, [p]; mov.u32 %r9, %cluster_ctarank; xor.b32 %r8, %r9, 1; mov.u64 %rd5, s; mov.u64 %rd6, m; "     \
  "mapa.u64 %rd5, %rd5, %r8; mapa.u64 %rd6, %rd6, %r8;\n"
#define MEET "barrier.cluster.arrive; barrier.cluster.wait; "

static const char unwritten[] = "read of bytes nobody wrote";
static const struct {
  const char *text, *finding;
} examples[] = {
    {"ld.shared.b32 %r1, [s];", unwritten},
    {"st.shared.b32 [s], 1; ld.shared.b32 %r1, [s];", NULL},
    {"st.shared.b16 [s], %h; ld.shared.b32 %r1, [s];", unwritten},
    {"ld.local.b32 %r1, [l];", unwritten},
    {"mbarrier.init.shared.b64 [m], 1; ld.shared.b64 %rd1, [m];", NULL},
    {"mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.shared.b64 %rd1, [m]; mbarrier.test_wait.shared.b64 %p1, [m], "
     "%rd1; mbarrier.inval.shared.b64 [m]; ld.shared.b64 %rd1, [m];",
     NULL},
    {"mbarrier.init.shared.b64 [m], 1; ld.shared.b32 %r1, [m+8];", unwritten},
    {"mbarrier.init.shared.b64 [m], 1; " MEET "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd6]; " MEET
     "mbarrier.test_wait.parity.shared.b64 %p1, [m], 0;",
     NULL},
    {"cp.async.ca.shared.global [s], [%rd0], 8; cp.async.wait_all; ld.shared.b64 %rd1, [s];", NULL},
    {"cp.async.ca.shared.global [s], [%rd0], 8; cp.async.wait_all; ld.shared.b64 %rd1, [s+8];", unwritten},
    {"cp.async.cg.shared.global [s], [%rd0], 16, 4; cp.async.wait_all; ld.shared.v2.b64 {%rd1, %rd2}, [s];", NULL},
    {"mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 _, [m], 64; cp.async.bulk.shared::cluster."
     "global.mbarrier::complete_tx::bytes [s], [%rd0], 64, [m]; $w: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0; "
     "@!%p1 bra $w; ld.shared.b64 %rd1, [s+56];",
     NULL},
    {"mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 _, [m], 64; cp.async.bulk.shared::cluster."
     "global.mbarrier::complete_tx::bytes [s], [%rd0], 64, [m]; $w: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0; "
     "@!%p1 bra $w; ld.shared.b64 %rd1, [s+64];",
     unwritten},
    {"cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 16; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group 0;",
     unwritten},
    {"st.shared::cluster.b32 [%rd5], 7; " MEET "ld.shared.b32 %r1, [s]; " MEET, NULL},
    {MEET "ld.shared::cluster.b32 %r1, [%rd5]; " MEET, unwritten},
    {"discard.global.L2 [%rd0+128], 128; ld.global.b32 %r1, [%rd0+124];", NULL},
    {"discard.global.L2 [%rd0+128], 128; ld.global.b32 %r1, [%rd0+252];", unwritten},
    {"discard.L2 [%rd0+128], 128; st.global.b32 [%rd0+128], 1; ld.global.b32 %r1, [%rd0+128];", NULL},
    {"discard.global.L2 [%rd0+64], 128;", "misaligned"},
    {"discard.global.L2 [%rd0+512], 128;", "out of bounds"},
};

START_TEST(written_or_not) {
  static unsigned char buffer[512];
  char ptx[4096];
  memset(buffer, 3, sizeof buffer);
  sprintf(ptx, "%s.reg .b16 %%h; mov.b16 %%h, 1;\n%s\n%sret; }\n", HEAD, examples[_i].text,
          strstr(examples[_i].text, "cluster.wait") ? MEET : "");
  run_ptx_with(
      &(run_ptx_config){
          .profile = "sm_90", .grid = 2, .block = 1, .checks = TF_SIM_CHECK_INIT, .finding = examples[_i].finding},
      ptx, buffer, sizeof buffer);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("examples");
  tcase_add_loop_test(tcase, written_or_not, 0, sizeof examples / sizeof *examples);
  return run_case("Sim init checker", tcase);
}
