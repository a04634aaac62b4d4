/* The PTX front end: what it accepts, and that what it refuses is refused with the right line and token. */
#include "Harness.h"
#include "PtxTexts.h"
#include "Sim/Sim.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static tf_status load(const char *profile, const char *text, char *message, size_t size) {
  tf_sim_device *device;
  tf_sim_module *module;
  ck_assert_int_eq(tf_sim_device_create(profile, NULL, &device), TF_OK);
  tf_status status = tf_sim_module_load(device, text, strlen(text), message, size, &module);
  tf_sim_device_destroy(device);
  return status;
}

/* Statements in a kernel with registers of all kinds; the first stands on line 9. */
static const char *text_of(const char *body) {
  static char text[4096];
  snprintf(
      text, sizeof text,
      ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<9>; .reg "
      ".b16 %%h<9>;\n.reg .b32 %%r<9>; .reg .u32 %%u<9>; .reg .f32 %%f<9>; .reg .f64 %%fd<9>;\n.reg .b64 %%rd<9>; "
      ".shared .align 8 .b8 "
      "sh[64];\n%s\nret;\n}\n",
      body);
  return text;
}
static tf_status load_body(const char *body, char *message, size_t size) {
  return load("sm_90", text_of(body), message, size);
}

static const char *const accepted[] = {
    "add.s32 %r1, %r2, -3;",
    "@!%p1 bra $L1; $L1:",
    "{ .reg .b32 %r1; mov.b32 %r1, 7; { .reg .f32 %r1; mov.f32 %r1, 0f3F800000; } }",
    "mov.u32 %r1, (3 + 4) * 2 << 1;",
    "mov.f32 %f1, 1.5; mov.f32 %f1, -2.5e-3; mov.f64 %fd1, 0d3FF0000000000000;",
    "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd1, {%r1, %r2}; mov.b32 {%h1, _}, %r1;",
    "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;",
    "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];",
    "ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%r1, %r2}, [%rd1];",
    "st.shared.u32 [sh+4], %r1; mov.u32 %r1, sh; st.shared.u8 [%r1], %r2;",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1; shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3;",
    "ld.global.acquire.gpu.u32 %r1, [%rd1]; atom.global.add.relaxed.gpu.u32 %r1, [%rd1], %r2; st.u32.global [%rd1], "
    "%r1;",
    "add.f32.ftz.rn %f1, %f2, %f3; setp.and.u32.lt %p1, %r1, %r2, %p2; cvt.f16.sat.f32.rn %h1, %f1;",
    "shfl.bfly.sync.b32 %r1, %r2, 1, 31, -1; bar.sync 0; barrier.aligned.sync 0; fence.gpu.acq_rel;",
    "mma.aligned.sync.row.col.m16n8k8.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};",
    "cp.async.shared.ca.L2::128B.global [sh], [%rd1], 4; ld.L2::64B.nc.global.L1::evict_last.v2.u32 {%r1, %r2}, "
    "[%rd1];",
    "add.f32 %f1, %r1, %r2; mov.u32 %r1, %u1; add.u32 %u1, %r1, %u2; mov.b32 %f1, 0f3F800000; mov.b64 %fd1, 1.5;",
    ".reg .b32 %none<0>; ld.param.u64 %rd1, [p]; ld.u32 %r1, [sh]; ld.shared::cluster.u32 %r1, [sh];",
    "{ $L1: bra $L2; } { $L1: bra $L2; } $L2:",
    "atom.global.cas.b32 %r1, [%rd1], 0, 1; red.relaxed.gpu.global.add.f32 [%rd1], %f1;",
    "bar.sync 0; barrier.sync.aligned 1, 64; bar.red.popc.u32 %r1, 0, %p1;",
    ".pragma \"nounroll\"; .loc 1 2 3",
    "list: .branchtargets $A, $B; brx.idx %r1, list; $A: mov.u32 %r2, 1; $B:",
    "lop3.b32 %r1, %r2, %r3, %r4, 0x96; prmt.b32 %r1, %r2, %r3, 0x3210;",
    "mov.u32 %r1, %tid.x; mov.u64 %rd1, %clock64; cvt.u64.u32 %rd1, %ctaid.y;",
    "cvt.rn.f16x2.f32 %r1, %f1, %f2; cvt.rzi.s32.f32 %r1, %f1; cvt.sat.u8.s32 %r1, %r2;",
    "mov.pred %p1, 1; fence.acq_rel.gpu; membar.gl; nanosleep.u32 20;",
    "/* a comment\n over lines */ mov.u32 %r1, 0b101; // and another",
};

START_TEST(accepts) {
  char message[512] = "";
  ck_assert_msg(load_body(accepted[_i], message, sizeof message) == TF_OK, "%s\n%s", accepted[_i], message);
}
END_TEST

/* Refused: the body, and how the message must begin. */
static const struct {
  const char *body, *message;
} refused[] = {
    {".extern .shared .align 16 .b8 dynamic[];", "line 9: '.extern'"},
    {"adx.s32 %r1, %r2, 1;", "line 9: 'adx'"},
    {"mov.u32 %r1, 1;\nadd.s32.wrap %r1, %r2, 1;", "line 10: '.wrap'"},
    {"add.sat.u32 %r1, %r2, 1;", "line 9: '.u32'"},
    {"add %r1, %r2, 1;", "line 9: 'add'"},
    {"add.s32 %r1, %r2;", "line 9: 'add'"},
    {"add.s32 %r1, %r2, %q1;", "line 9: '%q1'"},
    {"add.s32 %r1, %r2, %rd1;", "line 9: '%rd1'"},
    {"add.s32 %r10, %r2, %r1;", "line 9: '%r10'"},
    {"add.f32 %f1, %f2, 1;", "line 9: '1'"},
    /* Combinations that no target has; ptxas refuses them too. */
    {"mad.f32 %f1, %f2, %f3, %f4;", "line 9: 'mad': 'mad' lacks a modifier: one of rn|rz|rm|rp"},
    {"setp.eq.f16 %p1|%p2, %h1, %h2;", "line 9: '%p1'"},
    {"cvt.rzi.ftz.s32.f64 %r1, %fd1;", "line 9: '.f64'"},
    {"cvt.rni.sat.s32.bf16 %r1, %h1;", "line 9: '.bf16'"},
    {"cvt.rn.sat.bf16.s32 %h1, %r1;", "line 9: '.bf16'"},
    {"cvt.sat.f32.bf16 %f1, %h1;", "line 9: '.bf16'"},
    {"cvt.rn.ftz.f16.f64 %h1, %fd1;", "line 9: '.f64'"},
    {"cvt.rni.s8.bf16 %h1, %h2;", "line 9: '.bf16'"},
    {"cvt.sat.u32.u16 %r1, %h1;", "line 9: 'cvt'"},
    {"max.xorsign.f32 %f1, %f2, %f3;", "line 9: 'max': 'max' lacks a modifier: one of abs"},
    {"min.abs.f16 %h1, %h2, %h3;", "line 9: 'min': 'min' lacks a modifier: one of xorsign"},
    {"mov.u32 %r1, 2", "line 10: 'ret'"},
    {"bra nowhere;", "line 9: 'nowhere'"},
    {"{ inner: }\nbra inner;", "line 10: 'inner'"},
    {"@%r1 bra $L; $L:", "line 9: '%r1'"},
    {"ld.global.v4.u32 {%r1, %r2}, [%rd1];", "line 9: 'ld'"},
    {"ld.global.u32 %r1, [%f1+4];", "line 9: '%f1': an address register must be an integer"},
    {"setp.lt.u32 %r1, %r2, 3;", "line 9: '%r1'"},
    {".reg .b32 %r<4>;", "line 9: '%r'"},
    {"mov.u32 %r1, 1/0;", "line 9: '"},
    {"mov.u32 %r1, 0x1FFFFFFFFFFFFFFFFF;", "line 9: '0x1FFFFFFFFFFFFFFFFF'"},
    {"mov.u32 %r1, 12ab;", "line 9: '12ab'"},
    {"ld.global.v8.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd1];", "line 9: 'ld'"},
    {"ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];", "line 9: 'ld'"},
    {"ld.global.v2.b128 {%rd1, %rd2}, [%rd1];", "line 9: '"},
    {"call nothing, (%r1);", "line 9: 'nothing'"},
    {".frobnicate 3;", "line 9: '.frobnicate'"},
    {"mov.u32 %r1, \"text\";", "line 9: 'text'"},
    {"mov.u32 %r1, #;", "line 9: '#'"},
    /* What looks like a form of the table and is none; ptxas says the same. */
    {"mov.f16 %h1, %h2;", "line 9: '.f16'"},
    {"mov.bf16 %h1, %h2;", "line 9: '.bf16'"},
    {"mov.f16x2 %r1, %r2;", "line 9: '.f16x2'"},
    {"mov.bf16x2 %r1, %r2;", "line 9: '.bf16x2'"},
    {"bar.sync.aligned 0;", "line 9: '.aligned'"},
    {"bar.cta.arrive.aligned 0, 32;", "line 9: '.aligned'"},
    {"bar.red.popc.aligned.u32 %r1, 0, %p1;", "line 9: '.aligned'"},
    {"bar.red.and.aligned.pred %p2, 0, %p1;", "line 9: '.aligned'"},
    {"fence.proxy.async::global;", "line 9: '.async::global'"},
    {"fence.proxy.async::shared::cta;", "line 9: '.async::shared::cta'"},
    {"fence.proxy.async::shared::cluster;", "line 9: '.async::shared::cluster'"},
    {"fence.acquire.sync_restrict::shared::cta.cluster;", "line 9: '.sync_restrict::shared::cta'"},
    {"fence.release.sync_restrict::shared::cluster.cluster;", "line 9: '.sync_restrict::shared::cluster'"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%r4, %r5};",
     "line 9: '.f16'"},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f32 {%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%f1, %f2, "
     "%f3, %f4};",
     "line 9: '.f32'"},
    {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2}, {%f1, %f2, %f3, "
     "%f4, %f5, %f6, %f7, %f8};",
     "line 9: '.f32'"},
    {"mbarrier.arrive.release.shared.b64 %rd1, [sh];", "line 9: 'mbarrier': the order needs a scope"},
    {"mbarrier.test_wait.cta.shared.b64 %p1, [sh], %rd1;", "line 9: 'mbarrier': the scope needs an order"},
    {"mbarrier.expect_tx.relaxed.shared.b64 [sh], 4;", "line 9: 'mbarrier': the order needs a scope"},
    {"mbarrier.arrive.noComplete.relaxed.cta.shared.b64 %rd1, [sh], 1;", "line 9: '.relaxed'"},
    {"mbarrier.arrive.noComplete.release.cluster.shared.b64 %rd1, [sh], 1;", "line 9: '.cluster'"},
    {"mbarrier.arrive.shared::cluster.b64 %rd1, [sh];", "line 9: 'mbarrier': 'mbarrier' takes operands of other kinds"},
    {"mbarrier.try_wait.shared::cluster.b64 %p1, [sh], %rd1;", "line 9: '.shared::cluster'"},
    {"shfl.up.b32 %r1, %r2, 1, 0;", "line 9: 'shfl': 'shfl' without .sync ended with PTX 6.3"},
    {"vote.all.pred %p1, %p2;", "line 9: 'vote': 'vote' without .sync ended with PTX 6.3"},
    {"setmaxnreg.inc.sync.aligned.u32 64;", "line 9: 'setmaxnreg': 'setmaxnreg' needs a target of one architecture"},
    {"pmevent 16;", "line 9: 'pmevent': events are 0 to 15"},
    {"pmevent.mask 65536;", "line 9: 'pmevent': the mask has 16 bits"},
    {"discard.global.L2 [%rd1], 64;", "line 9: 'discard': the size must be 128"},
    {"applypriority.L2::evict_normal [%rd1], 256;", "line 9: 'applypriority': the size must be 128"},
    {"prefetch.local.L2::evict_last [%rd1];", "line 9: '.L2::evict_last'"},
    {"ld.global.L2::evict_first.u32 %r1, [%rd1];", "line 9: 'ld': 'ld' lacks a modifier: one of v8"},
    {"st.global.L2::evict_last.v2.b64 [%rd1], {%rd1, %rd2};", "line 9: '.v2'"},
    {"cp.async.cg.shared.global [sh], [%rd1], 8;", "line 9: 'cp': cp.async.cg copies 16 bytes"},
    {"cp.async.ca.shared.global [sh], [%rd1], 12;", "line 9: 'cp': cp.async.ca copies 4, 8 or 16"},
    {"cp.async.mbarrier.arrive.shared::cluster.b64 [sh];", "line 9: '.shared::cluster'"},
    {"cp.async.wait_group %r1;", "line 9: '%r1'"},
    {"ld.mmio.relaxed.sys.global.v2.u32 {%r1, %r2}, [%rd1];", "line 9: '.v2'"},
    {"ld.mmio.relaxed.gpu.global.u32 %r1, [%rd1];", "line 9: '.gpu'"},
    {"ld.mmio.u32 %r1, [%rd1];", "line 9: 'ld': 'ld' lacks a modifier: one of relaxed"},
    {"atom.global.exch.u32 %r1, [%rd1], %r2;", "line 9: '.u32'"},
    {"atom.global.cas.s32 %r1, [%rd1], %r2, %r3;", "line 9: '.s32'"},
    {"atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], %r2, %r3, %rd2;", "line 9: '.L2::cache_hint'"},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};", "line 9: '.u4'"},
    {"add.u32 %r1, %tid.x, 1;", "line 9: '%tid.x': special registers are read by mov and cvt only"},
    {"add.u64 %rd1, %rd2, sh;", "line 9: 'sh': 'add' takes registers; an address is moved to one first"},
    {"st.shared.u32 [sh], sh;", "line 9: 'sh': 'st' takes registers"},
    {"st.global.u32 [%rd1], %clock;", "line 9: '%clock': special registers are read by mov and cvt only"},
    /* Modifiers that exclude or need each other. */
    {"ld.weak.gpu.global.u32 %r1, [%rd1];", "line 9: '.weak': '.weak' and '.gpu' exclude each other on 'ld'"},
    {"ld.relaxed.gpu.global.cg.u32 %r1, [%rd1];", "line 9: '.relaxed': '.relaxed' and '.cg' exclude each other"},
    {"ld.acquire.global.u32 %r1, [%rd1];", "line 9: '.acquire': '.acquire' on 'ld' needs one of cta|cluster|gpu|sys"},
    {"st.gpu.global.u32 [%rd1], %r1;", "line 9: '.gpu': '.gpu' on 'st' needs one of relaxed|acquire|release"},
    {"st.release.cta.local.u32 [%rd1], %r1;", "line 9: '.release': '.release' and '.local' exclude each other"},
    {"ld.shared.L1::no_allocate.u32 %r1, [sh];", "line 9: '.L1::no_allocate': '.L1::no_allocate' and '.shared'"},
    {"ld.global.cs.L1::evict_first.u32 %r1, [%rd1];", "line 9: '.L1::evict_first': '.L1::evict_first' and '.cs'"},
    {"ld.nc.u32 %r1, [%rd1];", "line 9: '.nc': '.nc' on 'ld' needs one of global"},
    {"atom.shared.add.L2::cache_hint.u32 %r1, [sh], %r2, %rd2;", "line 9: '.L2::cache_hint': '.L2::cache_hint' and"},
    /* Modifiers in another order, types and the opcode's own words apart. */
    {"cvt.f16.f32.rn.sat.rz %h1, %f1;", "line 9: '.rz'"},
    {"mul.s32.lo %r1, %r2, %r3;", "line 9: '.lo'"},
    {"cvta.global.to.u64 %rd1, %rd2;", "line 9: '.to'"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, %r3, {%r4}, {%r5, %r6};", "line 9: 'mma'"},
    /* Types of registers and constants, state spaces, names. */
    {"add.s32 %r1, %f1, %r2;", "line 9: '%f1': register '%f1' is .f32, the instruction takes .s32 here"},
    {"add.f32 %f1, %f2, %u1;", "line 9: '%u1': register '%u1' is .u32, the instruction takes .f32 here"},
    {"ld.global.f32 %fd1, [%rd1];", "line 9: '%fd1': register '%fd1' is .f64, the instruction takes .f32 here"},
    {"fma.rn.bf16x2 %r1, %r2, %u1, %r3;", "line 9: '%u1'"},
    {"mov.u32 %r1, 0f3F800000;", "line 9: '0f3F800000': a .u32 operand takes no floating-point constant"},
    {"add.s64 %rd1, %rd2, 1.5;", "line 9: '1.5': a .s64 operand takes no floating-point constant"},
    {"mov.b64 %rd1, 0f3F800000;", "line 9: '0f3F800000': a .b64 operand takes no"},
    {"add.f16x2 %r1, %r2, 1;", "line 9: '1': a .f16x2 operand takes no integer constant"},
    {"ld.global.u32 %r1, [sh];", "line 9: 'sh': 'sh' is in another state space than 'ld' names"},
    {"st.shared.u32 [p], %r1;", "line 9: 'p': 'p' is in another state space"},
    {"cp.async.ca.shared.global [%rd1], [sh], 4;", "line 9: 'sh': 'sh' is in another state space than 'cp' names"},
    {"ld.u64 %rd1, [p];", "line 9: 'p': 'p' is in another state space than 'ld' names"},
    {"ret;;", "line 9: ';'"},
    {"$L1: mov.u32 %r1, 1;\n$L1: mov.u32 %r1, 2;", "line 10: '$L1': label '$L1' stands twice in this scope"},
    {".shared .b8 empty[];", "line 9: ';': 'empty' has no size and is not .extern"},
    {".local .b8 empty[0];", "line 9: ';': 'empty' has no size and is not .extern"},
    {"mov.u32 %r1, %r2.x;", "line 9: '%r2.x': a register of one component has no others"},
    {"t: .calltargets nobody;", "line 9: ';': no function 'nobody' was declared"},
    /* A cache policy stands there exactly if the hint does. */
    {"ld.global.u32 %r1, [%rd1], %rd2;", "line 9: 'ld': 'ld' takes 2 operands here, 3 given"},
    {"ld.global.L2::cache_hint.u32 %r1, [%rd1];", "line 9: 'ld': 'ld' takes 3 operands here, 2 given"},
    {"cp.async.ca.shared.global.L2::cache_hint [sh], [%rd1], 4;", "line 9: 'cp'"},
    {"cp.async.ca.shared.global [sh], [%rd1], 4, %rd2;", "line 9: '%rd2'"},
};

static void check_refusal(const char *body, const char *beginning, bool ptxas_too) {
  char message[512] = "";
  tf_status status = load_body(body, message, sizeof message);
  ck_assert_msg(status == TF_PARSE || status == TF_UNSUPPORTED, "%s was accepted", body);
  ck_assert_msg(strncmp(message, beginning, strlen(beginning)) == 0, "%s\n%s", body, message);
  if (ptxas_too && status == TF_PARSE) ptx_refused(text_of(body));
}

START_TEST(refuses) {
  check_refusal(refused[_i].body, refused[_i].message, true);
}
END_TEST

/* Here ptxas is more patient: it drops the upper bits of the one and reads half an address in the other. */
START_TEST(refuses_more) {
  check_refusal("lop3.b32 %r1, %r2, %r3, %r4, 256;", "line 9: 'lop3'", false);
  check_refusal("ld.global.u32 %r1, [%h1];", "line 9: '%h1'", false);
}
END_TEST

/* Real instructions that this device does not run: refused by name, as unsupported and not as unknown. */
static const struct {
  const char *body, *name;
} unsupported[] = {
    {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%rd1, {%r1}], [sh];",
     "'cp.async.bulk.tensor'"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [sh], 16;", "'cp.reduce.async.bulk'"},
    {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];", "'tex'"},
    {"sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};", "'sust'"},
    {"multimem.ld_reduce.global.add.u32 %r1, [%rd1];", "'multimem'"},
    {"vadd.s32.s32.s32 %r1, %r2, %r3;", "'vadd'"},
};

START_TEST(refuses_by_name) {
  char message[512] = "";
  ck_assert_int_eq(load_body(unsupported[_i].body, message, sizeof message), TF_UNSUPPORTED);
  ptx_accepted(text_of(unsupported[_i].body));
  ck_assert_msg(strstr(message, unsupported[_i].name) && strstr(message, "not supported by the simulated device"),
                "%s\n%s", unsupported[_i].body, message);
}
END_TEST

/* Many labels and branches: loading stays linear. */
START_TEST(many_labels) {
  enum { LABELS = 40000 };
  char *text = malloc(LABELS * 48 + 256), message[512] = "";
  size_t n = (size_t)sprintf(text, HEAD ".entry k() {\n");
  for (int i = 0; i < LABELS; i++)
    n += (size_t)sprintf(text + n, "$L%d: bra $L%d;\n", i, (i * 7919 + 1) % LABELS);
  (void)sprintf(text + n, "ret; }\n");
  clock_t start = clock();
  ck_assert_msg(load("sm_80", text, message, sizeof message) == TF_OK, "%s", message);
  ck_assert_double_lt((double)(clock() - start) / CLOCKS_PER_SEC, 3);
  free(text);
}
END_TEST

/* Whole modules: text, profile, status, beginning of the message. */
static const struct {
  const char *text, *profile, *message;
  tf_status status;
} modules[] = {
    {HEAD, "sm_80", "", TF_OK},
    {"", "sm_80", "line 1: 'end of text'", TF_PARSE},
    {".target sm_80\n", "sm_80", "line 1: '.target'", TF_PARSE},
    {".version 7.8\n.target gpu\n", "sm_80", "line 3: ", TF_PARSE},
    {".version 99.9\n.target sm_80\n", "sm_80", "line 1: '.version'", TF_UNSUPPORTED},
    {".version 8.0\n.target sm_90\n", "sm_80", "line 1: 'sm_90'", TF_UNSUPPORTED},
    {".version 8.0\n.target sm_90a\n", "sm_90", "", TF_OK},
    {".version 8.0\n.target sm_90a\n", "sm_100", "line 1: 'sm_90a'", TF_UNSUPPORTED},
    {".version 7.8\n.target sm_75\n", "sm_90", "", TF_OK},
    {".version 6.0\n.target sm_80\n", "sm_80", "line 2: 'sm_80': sm_80 came with PTX 7.0", TF_PARSE},
    {".version 7.8\n.target sm_90a\n", "sm_90", "line 2: 'sm_90a': sm_90a came with PTX 8.0", TF_PARSE},
    {".version 8.0\n.target sm_91\n", "sm_100", "line 2: 'sm_91': no such target", TF_PARSE},
    {".version 8.0\n.target sm_90\n.func f(.param .b32 a) { ret; }\n.entry k() { { .param .b8 p; call.uni f, (p); } }",
     "sm_90", "line 4: 'f': 'a' of 4 bytes is passed 1", TF_PARSE},
    {".version 6.3\n.target sm_75\n.entry k() { .reg .b32 %r<4>; redux.sync.add.s32 %r1, %r2, -1; }", "sm_80",
     "line 3: 'redux'", TF_PARSE},
    {".version 8.0\n.target sm_75\n.entry k() { .reg .b32 %r<4>; redux.sync.add.s32 %r1, %r2, -1; }", "sm_80",
     "line 3: 'redux'", TF_PARSE},
    {".version 7.8\n.target sm_80\n.entry k() { .reg .b32 %r<4>; .reg .b64 %d; ld.acquire.cluster.global.u32 %r1, "
     "[%d]; }",
     "sm_80", "line 3: 'ld': '.cluster' on 'ld' needs .target sm_90", TF_PARSE},
    {".version 6.0\n.target sm_60\n.entry k() { .reg .b32 %r<4>; .reg .b64 %d; st.release.gpu.global.u32 [%d], %r1; }",
     "sm_80", "line 3: 'st': '.release' on 'st' needs .target sm_70", TF_PARSE},
    {".version 5.0\n.target sm_60\n.entry k() { .reg .b32 %r<4>; .reg .b64 %d; atom.gpu.global.add.u32 %r1, [%d], 1; }",
     "sm_80", "line 3: 'atom': '.gpu' on 'atom' needs .version 6.0", TF_PARSE},
    {".version 8.0\n.target sm_70\n.entry k() { .reg .b32 %r<4>; .reg .b64 %d; st.release.gpu.global.u32 [%d], %r1; }",
     "sm_80", "", TF_OK},
    /* fp8 is of 7.8 on sm_90 and of 8.1 on sm_89 */
    {".version 7.8\n.target sm_90\n.entry k() { .reg .b16 %h; .reg .b32 %r; cvt.rn.f16x2.e4m3x2 %r, %h; }", "sm_90", "",
     TF_OK},
    {".version 8.0\n.target sm_89\n.entry k() { .reg .b16 %h; .reg .b32 %r; cvt.rn.f16x2.e4m3x2 %r, %h; }", "sm_89",
     "line 3: 'cvt': this form of 'cvt' needs .version 8.1", TF_PARSE},
    {".version 6.4\n.target sm_75\n.entry k() { .reg .b16 %h; set.eq.u16.f16 %h, %h, %h; }", "sm_75",
     "line 3: 'set': this form of 'set' needs .version 6.5", TF_PARSE},
    {".version 8.0\n.target sm_80\n.entry k() { .reg .b16 %h; .reg .b32 %r; cvt.rz.satfinite.f16.f32 %h, %r; }",
     "sm_80", "line 3: 'cvt'", TF_PARSE},
    {".version 7.2\n.target sm_80\n.entry k() { .reg .b32 %r; max.xorsign.abs.f32 %r, %r, %r; }", "sm_80",
     "line 3: 'max'", TF_PARSE},
    {".version 8.0\n.target sm_90a\n.entry k() { wgmma.fence.sync.aligned; }", "sm_90",
     "line 3: 'wgmma': 'wgmma' (warp-group matrix products) is not supported", TF_UNSUPPORTED},
    {".version 8.6\n.target sm_100a\n.entry k() { .shared .b32 s; "
     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; }",
     "sm_100", "line 3: 'tcgen05': 'tcgen05' (fifth-generation tensor cores) is not supported", TF_UNSUPPORTED},
    /* Modifiers that are younger than their instruction. */
    {".version 7.4\n.target sm_80\n.entry k() { .reg .pred %p; .reg .b64 %d; .shared .b32 s; cp.async.ca.shared.global "
     "[s], [%d], 4, %p; }",
     "sm_80", "line 3: 'cp': this form of 'cp' needs .version 7.5", TF_PARSE},
    {".version 7.3\n.target sm_80\n.entry k() { .reg .b64 %d; .shared .b32 s; cp.async.ca.shared.global.L2::64B [s], "
     "[%d], 4; }",
     "sm_80", "line 3: 'cp': '.L2::64B' on 'cp' needs .version 7.4", TF_PARSE},
    {".version 7.6\n.target sm_80\n.entry k() { .reg .pred %p; .reg .b64 %d; isspacep.param %p, %d; }", "sm_80",
     "line 3: 'isspacep': '.param' on 'isspacep' needs .version 7.7", TF_PARSE},
    {".version 7.7\n.target sm_80\n.entry k() { bar.cta.sync 0; }", "sm_80",
     "line 3: 'bar': '.cta' on 'bar' needs .version 7.8", TF_PARSE},
    {".version 7.8\n.target sm_90\n.entry k() { barrier.cluster.arrive.relaxed; }", "sm_90",
     "line 3: 'barrier': '.relaxed' on 'barrier' needs .version 8.0", TF_PARSE},
    {".version 8.5\n.target sm_90\n.entry k() { .reg .b64 %d; .shared .b64 s; mbarrier.arrive.relaxed.cta.shared.b64 "
     "%d, [s]; }",
     "sm_90", "line 3: 'mbarrier': '.relaxed' on 'mbarrier' needs .version 8.6", TF_PARSE},
    {".version 8.6\n.target sm_80\n.entry k() { .reg .b64 %d; .shared .b64 s; mbarrier.arrive.shared.b64 %d, [s], 2; }",
     "sm_80", "line 3: 'mbarrier': this form of 'mbarrier' needs .target sm_90", TF_PARSE},
    {".version 8.2\n.target sm_80\n.entry k() { .reg .b128 %a, %b; mov.b128 %a, %b; }", "sm_80", "line 3: ", TF_PARSE},
    {".version 6.3\n.target sm_75\n.entry k() { .reg .b32 %r<3>; shfl.up.b32 %r1, %r2, 1, 0; }", "sm_80", "", TF_OK},
    {".version 8.0\n.target sm_90a\n.entry k() { setmaxnreg.dec.sync.aligned.u32 25; }", "sm_90",
     "line 3: 'setmaxnreg': the number of registers", TF_PARSE},
/* Every directive of PTX 9.0: taken, or refused by name. Those of old versions and made-up ones are unknown. */
#define NEW ".version 9.0\n.target sm_90\n.address_size 64\n"
    {NEW
     ".global .attribute(.managed) .s32 g;\n.visible .global .attribute(.managed) .align 4 .b8 h[16];\n.common "
     ".global .align 4 .b8 c[16];\n.weak .global .u32 w;\n.extern .shared .align 16 .b8 dyn[];\n.entry k() { ret; }",
     "sm_90", "", TF_OK},
    {NEW ".func a() .abi_preserve 6 { ret; }\n.func b() .abi_preserve_control 6 { ret; }\n.func c() .noreturn { trap; "
         "}\n.extern .func d() .noreturn;\n.visible .func e(.param .b32 a, .param .align 8 .b8 v[]) { ret; }\n.visible "
         ".func g();\n.alias g, a;",
     "sm_90", "", TF_OK},
    {NEW ".visible .entry k() .blocksareclusters .reqntid 32 .reqnctapercluster 2 { ret; }\n.visible .entry l() "
         ".explicitcluster .maxclusterrank 4 .maxntid 64 .minnctapersm 2 .maxnreg 32 { ret; }",
     "sm_90", "", TF_OK},
    {NEW
     ".func f() { ret; }\n.pragma \"nounroll\";\n.visible .entry k(.param .u64 .ptr .const .align 8 p, .param .u64 "
     ".ptr q, .param .u64 .ptr .local .align 4 s) { .pragma \"used_bytes_mask 0xff\"; .shared .align 8 .b8 s2[4][4]; "
     ".local .v4 .f32 l; p2: .callprototype _ () .noreturn; t: .calltargets f; ret; }\n.section .debug_line { .b32 0, "
     "1\n $L_x: .b8 1, 2\n .b64 $L_x+4 }\n.section .debug_loc { }",
     "sm_90", "", TF_OK},
    {NEW ".global .texref t;", "sm_90", "line 4: '.texref': '.texref' (textures and surfaces) is not supported",
     TF_UNSUPPORTED},
    {NEW ".global .surfref t;", "sm_90", "line 4: '.surfref'", TF_UNSUPPORTED},
    {NEW ".visible .entry k(.param .texref t) { ret; }", "sm_90", "line 4: '.texref'", TF_UNSUPPORTED},
    {".version 7.0\n.target sm_80, texmode_independent\n.global .samplerref s = {addr_mode_0 = clamp_to_border, "
     "filter_mode = nearest};",
     "sm_80", "line 3: '.samplerref'", TF_UNSUPPORTED},
    {".version 1.4\n.target sm_10\n.tex .u32 t;", "sm_80", "line 3: '.tex'", TF_UNSUPPORTED},
    {NEW ".sreg .b32 x;", "sm_90", "line 4: '.sreg': expected a function, a variable or a directive", TF_PARSE},
    {NEW ".language \"x\";", "sm_90", "line 4: '.language'", TF_PARSE},
    {NEW "@@DWARF .section .debug_info, \"\", @progbits", "sm_90", "line 4: '@'", TF_PARSE},
    {NEW ".visible .entry k() .frob 4 { ret; }", "sm_90", "line 4: '.frob'", TF_PARSE},
    {NEW ".visible .entry k() {\n.frob 4; ret; }", "sm_90", "line 5: '.frob': unknown directive", TF_PARSE},
    {HEAD ".global .u64 a = b;", "sm_80", "line 4: 'b'", TF_PARSE},
    {HEAD ".global .u32 a[2] = {1, 2, 3};", "sm_80", "line 4: ", TF_PARSE},
    {HEAD ".global .u32 a[2][2] = {{1, 2}, {3}};", "sm_80", "", TF_OK},
    {HEAD ".extern .global .u32 a;", "sm_80", "line 4: 'a'", TF_PARSE},
    {HEAD ".shared .u32 a = 1;", "sm_80", "line 4: ", TF_PARSE},
    {HEAD ".entry k() { ret; }\n.entry k() { ret; }", "sm_80", "line 5: 'k'", TF_PARSE},
    {HEAD ".entry k() { ret;", "sm_80", "line 4: 'end of text'", TF_PARSE},
    {HEAD ".entry k() { .shared .b8 s[49152]; .reg .b32 %r; mov.u32 %r, s; }", "sm_80", "", TF_OK},
    {HEAD ".entry k() { .shared .b8 s[49153]; .reg .b32 %r; mov.u32 %r, s; }", "sm_80", "line 4: 'k'", TF_PARSE},
    {HEAD ".extern .func f();\n.entry k() { call f; }", "sm_80", "line 5: 'f'", TF_PARSE},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { call f; }", "sm_80", "line 5: 'f'", TF_PARSE},
    {HEAD ".section .debug_str { .b8 1, 2 }\n.file 1 \"a.cu\", 3, 4\n.entry k() .maxntid 32, 1, 1 .minnctapersm 2 { }",
     "sm_80", "", TF_OK},
    {HEAD ".visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 4 .b8 s[24]) { ret; }", "sm_80", "",
     TF_OK},
    {HEAD ".global .align 1 .b8 g[4294967296000];", "sm_80", "line 4: ", TF_PARSE},
    {HEAD ".reg .b32 %r;", "sm_80", "line 4: ", TF_PARSE},
    {HEAD "/* unterminated\n", "sm_80", "line 5: '/*'", TF_PARSE},
};

START_TEST(whole_modules) {
  char message[512] = "";
  tf_status status = load(modules[_i].profile, modules[_i].text, message, sizeof message);
  ck_assert_msg(status == modules[_i].status, "%s\nstatus %s: %s", modules[_i].text, tf_status_name(status), message);
  ck_assert_msg(strncmp(message, modules[_i].message, strlen(modules[_i].message)) == 0, "%s\n%s", modules[_i].text,
                message);
}
END_TEST

/* Deep nesting of every kind ends in a message, not in the end of the stack. */
START_TEST(deep_nesting) {
  static const char *const openings[] = {"{", "mov.u32 %r1, (", "mov.u32 %r1, -", "call (", "mov.b64 %rd1, {"};
  char *text = malloc(200000), message[512];
  for (size_t k = 0; k < sizeof openings / sizeof *openings; k++) {
    size_t n = (size_t)sprintf(text, HEAD ".entry k() { .reg .b32 %%r<3>; .reg .b64 %%rd<3>;\n%s", openings[k]);
    const char *again = openings[k] + strlen(openings[k]) - 1;
    for (int i = 0; i < 100000; i++)
      text[n++] = *again;
    text[n] = '\0';
    ck_assert_int_eq(load("sm_80", text, message, sizeof message), TF_PARSE);
    ck_assert_msg(strncmp(message, "line 5", 6) == 0, "%s", message);
  }
  free(text);
}
END_TEST

START_TEST(initialisers) {
  static const char text[] = HEAD ".global .align 4 .u32 a[2][3] = {{1, 2}, {4, 5, -1}};\n"
                                  ".global .f32 f[3] = {0f3F800000, 2.5, -0.0};\n.global .f64 d = 1e300;\n"
                                  ".const .u16 h[] = {65535, 2};\n.global .u64 p[2] = {a+8, generic(a)};\n"
                                  ".global .u8 m[2] = {0xFF(a), 0xFF00(a)};\n";
  tf_sim_device *device;
  tf_sim_module *module;
  uint64_t address, bytes, pa, p[2];
  uint32_t a[6];
  float f[3];
  double d;
  uint16_t h[2];
  uint8_t m[2];
  ck_assert_int_eq(tf_sim_device_create("sm_80", NULL, &device), TF_OK);
  ck_assert_int_eq(tf_sim_module_load(device, text, sizeof text - 1, NULL, 0, &module), TF_OK);
#define READ(name)                                                                                                     \
  ck_assert(tf_sim_module_global(module, #name, &address, &bytes));                                                    \
  ck_assert_uint_eq(bytes, sizeof name);                                                                               \
  ck_assert_int_eq(tf_sim_read(device, &name, address, bytes), TF_OK)
  READ(a);
  pa = address;
  READ(f);
  READ(d);
  READ(h);
  READ(p);
  READ(m);
  static const uint32_t expected[6] = {1, 2, 0, 4, 5, UINT32_MAX};
  ck_assert_mem_eq(a, expected, sizeof a);
  ck_assert(f[0] == 1.0f && f[1] == 2.5f && f[2] == 0 && d == 1e300);
  ck_assert(h[0] == 65535 && h[1] == 2);
  ck_assert(p[0] == pa + 8 && p[1] == pa);
  ck_assert(m[0] == (pa & 0xFF) && m[1] == (pa >> 8 & 0xFF));
  ck_assert(!tf_sim_module_global(module, "nothing", &address, &bytes));
  tf_sim_device_destroy(device);
}
END_TEST

START_TEST(layouts) {
  static const char text[] =
      HEAD ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[5], .param .u16 d)"
           " .reqntid 32, 2, 1 { .local .align 8 .b8 l[20]; .shared .align 16 .b8 s[40]; .reg .b32 %r;"
           " mov.u32 %r, s; ret; }\n";
  static const uint64_t offsets[] = {0, 8, 16, 22}, sizes[] = {1, 8, 5, 2};
  tf_sim_device *device;
  tf_sim_module *module;
  tf_sim_function_info info;
  ck_assert_int_eq(tf_sim_device_create("sm_80", NULL, &device), TF_OK);
  ck_assert_int_eq(tf_sim_module_load(device, text, sizeof text - 1, NULL, 0, &module), TF_OK);
  const tf_sim_function *f = tf_sim_module_function(module, "k");
  ck_assert_ptr_nonnull(f);
  ck_assert_ptr_null(tf_sim_module_function(module, "l"));
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t offset, size;
    ck_assert(tf_sim_function_param(f, i, &offset, &size));
    ck_assert_uint_eq(offset, offsets[i]);
    ck_assert_uint_eq(size, sizes[i]);
  }
  ck_assert(!tf_sim_function_param(f, 4, NULL, NULL));
  ck_assert_str_eq(tf_sim_function_param_name(f, 2), "c");
  tf_sim_function_info_get(f, &info);
  ck_assert_uint_eq(info.param_bytes, 24);
  ck_assert_uint_eq(info.static_shared, 40);
  ck_assert_uint_eq(info.local_bytes, 32);
  ck_assert_uint_eq(info.max_threads, 64);
  tf_sim_device_destroy(device);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("PTX");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, accepts, 0, sizeof accepted / sizeof *accepted);
  tcase_add_loop_test(c, refuses, 0, sizeof refused / sizeof *refused);
  tcase_add_test(c, refuses_more);
  tcase_add_loop_test(c, refuses_by_name, 0, sizeof unsupported / sizeof *unsupported);
  tcase_add_test(c, many_labels);
  tcase_add_loop_test(c, whole_modules, 0, sizeof modules / sizeof *modules);
  tcase_add_test(c, deep_nesting);
  tcase_add_test(c, initialisers);
  tcase_add_test(c, layouts);
  return run_case("Sim front end", c);
}
