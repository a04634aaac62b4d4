/* Counters against numbers that were worked out by hand, one kernel per access pattern; how is said beside each.
 *
 * Every kernel is one warp unless it says otherwise, with p a global buffer that begins on a sector and s a shared array
 * that begins on bank 0. %r1 is the lane t, %rd1 is p, and rd(k) below leaves p + k t in %rd2, rs(k) leaves s + k t in
 * %r2. Reading the parameter counts nowhere but among the instructions. */
#include "Harness.h"
#include "Sim/Sim.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                           \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b16 "     \
  "%h<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %d<4>; .shared .align 128 .b8 s[8192]; "      \
  ".local .align 8 .b8 mine[64];\n"                                                                                    \
  "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p];\n"
#define RD(k) "mul.wide.u32 %rd2, %r1, " #k "; add.u64 %rd2, %rd1, %rd2;\n"
#define RS(k) "mov.u32 %r2, s; mad.lo.u32 %r2, %r1, " #k ", %r2;\n"
#define LOW   "setp.lt.u32 %p1, %r1, 16;\n"
#define TAIL  "ret; }\n"

typedef struct example {
  const char *name, *body;
  unsigned block;        /* threads */
  tf_sim_tally expected; /* instructions are compared only where they are given */
} example;

/* A global access: requests, sectors, bytes read, bytes written. */
#define GLOBAL(requests, sectors, in, out)                                                                             \
  .global_requests = (requests), .global_sectors = (sectors), .global_bytes_read = (in), .global_bytes_written = (out)
#define SHARED(requests, passes, ways, bytes)                                                                          \
  .shared_requests = (requests), .shared_passes = (passes), .shared_ways = (ways), .shared_bytes = (bytes)

static const example examples[] = {
    /* Global memory. 32 lanes of 4 bytes are 128 bytes: 4 sectors of 32. */
    {"coalesced", RD(4) "ld.global.u32 %r3, [%rd2];", 32, {GLOBAL(1, 4, 128, 0)}},
    {"coalesced store", RD(4) "st.global.u32 [%rd2], %r1;", 32, {GLOBAL(1, 4, 0, 128)}},
    /* The same, half a sector further: it begins and ends inside one. */
    {"coalesced, off by half a sector", RD(4) "ld.global.u32 %r3, [%rd2+16];", 32, {GLOBAL(1, 5, 128, 0)}},
    /* Every second word: the 128 bytes lie in 256. */
    {"stride 2", RD(8) "ld.global.u32 %r3, [%rd2];", 32, {GLOBAL(1, 8, 128, 0)}},
    {"stride 2, store", RD(8) "st.global.u32 [%rd2], %r1;", 32, {GLOBAL(1, 8, 0, 128)}},
    /* Every eighth word is a sector of its own, and so is every 32nd: no lane shares one. */
    {"stride 8", RD(32) "ld.global.u32 %r3, [%rd2];", 32, {GLOBAL(1, 32, 128, 0)}},
    {"stride 32", RD(128) "ld.global.u32 %r3, [%rd2];", 32, {GLOBAL(1, 32, 128, 0)}},
    {"broadcast", "ld.global.u32 %r3, [%rd1];", 32, {GLOBAL(1, 1, 128, 0)}},
    {"2 bytes a lane", RD(2) "ld.global.u16 %h1, [%rd2];", 32, {GLOBAL(1, 2, 64, 0)}},
    {"1 byte a lane", RD(1) "ld.global.u8 %r3, [%rd2];", 32, {GLOBAL(1, 1, 32, 0)}},
    {"8 bytes a lane", RD(8) "ld.global.v2.u32 {%r3, %r4}, [%rd2];", 32, {GLOBAL(1, 8, 256, 0)}},
    {"8 bytes a lane, one register", RD(8) "ld.global.u64 %rd3, [%rd2];", 32, {GLOBAL(1, 8, 256, 0)}},
    {"16 bytes a lane", RD(16) "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd2];", 32, {GLOBAL(1, 16, 512, 0)}},
    {"16 bytes a lane, store", RD(16) "st.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1};", 32, {GLOBAL(1, 16, 0, 512)}},
    /* 16 bytes at a stride of 32: each lane half of a sector of its own. */
    {"16 bytes, stride 2", RD(32) "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd2];", 32, {GLOBAL(1, 32, 512, 0)}},
    /* A generic address is whatever it points to. */
    {"generic", RD(4) "ld.u32 %r3, [%rd2];", 32, {GLOBAL(1, 4, 128, 0)}},
    {"half a warp", RD(4) "ld.global.u32 %r3, [%rd2];", 16, {GLOBAL(1, 2, 64, 0)}},
    /* 40 threads: a full warp and one of 8 lanes, which is one sector. */
    {"a warp and a quarter", RD(4) "ld.global.u32 %r3, [%rd2];", 40, {GLOBAL(2, 5, 160, 0)}},
    {"guard true for 16 lanes", LOW RD(4) "@%p1 ld.global.u32 %r3, [%rd2];", 32, {GLOBAL(1, 2, 64, 0)}},
    {"guard true for none", "setp.gt.u32 %p1, %r1, 99; @%p1 ld.global.u32 %r3, [%rd1];", 32, {0}},
    /* Divergent halves: either half is a request of 16 lanes, 64 bytes, 2 sectors. Instructions: mov, ld.param, setp, bra
     * and the two of RD for all; ld and bra for the low half; ld for the high half; ret for all, together again. */
    {"divergent halves",
     LOW RD(4) "@!%p1 bra high; ld.global.u32 %r3, [%rd2]; bra join;\nhigh: ld.global.u32 %r3, [%rd2+1024];\njoin: ",
     32,
     {GLOBAL(2, 4, 128, 0), .warp_instructions = 6 + 2 + 1 + 1, .lane_instructions = 5 * 32 + 16 + 2 * 16 + 16 + 32}},

    /* Shared memory. 32 banks of 4 bytes: a pass serves a word of each. */
    {"shared", RS(4) "ld.shared.u32 %r3, [%r2];", 32, {SHARED(1, 1, 1, 128)}},
    {"shared store", RS(4) "st.shared.u32 [%r2], %r1;", 32, {SHARED(1, 1, 1, 128)}},
    {"shared broadcast", "ld.shared.u32 %r3, [s];", 32, {SHARED(1, 1, 1, 128)}},
    /* Bank 2 t mod 32: lanes t and t + 16 meet. */
    {"2-way", RS(8) "ld.shared.u32 %r3, [%r2];", 32, {SHARED(1, 1, 2, 128)}},
    {"4-way", RS(16) "ld.shared.u32 %r3, [%r2];", 32, {SHARED(1, 1, 4, 128)}},
    /* Bank 32 t mod 32: all in bank 0. A row of 33 words puts lane t into bank t again. */
    {"32-way", RS(128) "ld.shared.u32 %r3, [%r2];", 32, {SHARED(1, 1, 32, 128)}},
    {"32-way store", RS(128) "st.shared.u32 [%r2], %r1;", 32, {SHARED(1, 1, 32, 128)}},
    {"padded rows", RS(132) "ld.shared.u32 %r3, [%r2];", 32, {SHARED(1, 1, 1, 128)}},
    /* Four lanes share a word, so 32 bytes lie in 8 banks: no conflict. */
    {"bytes", RS(1) "ld.shared.u8 %r3, [%r2];", 32, {SHARED(1, 1, 1, 32)}},
    /* 8 and 16 bytes a lane: 256 and 512 bytes, so 2 and 4 passes of 128 without conflict. */
    {"shared, 8 bytes", RS(8) "ld.shared.v2.u32 {%r3, %r4}, [%r2];", 32, {SHARED(1, 2, 2, 256)}},
    {"shared, 16 bytes", RS(16) "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];", 32, {SHARED(1, 4, 4, 512)}},
    /* 8 bytes at a stride of 16: in each half of the warp lanes t and t + 8 meet in bank 4 t mod 32. */
    {"8 bytes, 2-way", RS(16) "ld.shared.u64 %rd3, [%r2];", 32, {SHARED(1, 2, 4, 256)}},
    /* 16 bytes at a stride of 128: the 8 lanes of a pass are all in banks 0 to 3. */
    {"16 bytes, 8-way", RS(128) "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];", 32, {SHARED(1, 4, 32, 512)}},
    /* Lanes 0 to 15 only: one of the two passes has nobody. */
    {"8 bytes, half a warp", RS(8) "ld.shared.u64 %rd3, [%r2];", 16, {SHARED(1, 1, 1, 128)}},
    /* A generic address of shared memory. */
    {"generic shared",
     RS(8) "cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd3, %rd3; ld.u32 %r3, [%rd3];",
     32,
     {SHARED(1, 1, 2, 128)}},
    /* ldmatrix reads rows of 16 bytes, 8 of them a pass. x4: 32 rows that follow each other; x1 asks lanes 0 to 7. */
    {"ldmatrix x4",
     RS(16) "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];",
     32,
     {SHARED(1, 4, 4, 512)}},
    {"ldmatrix x1", RS(16) "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];", 32, {SHARED(1, 1, 1, 128)}},
    /* Rows of 64 bytes: of 8 rows, every second begins in the same bank. */
    {"ldmatrix x2, 4-way",
     RS(64) "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [%r2];",
     32,
     {SHARED(1, 2, 8, 256)}},

    /* Atomics read and write. All at one address meet there 32 at a time; one word is one bank. */
    {"atomics at one address",
     "red.global.add.u32 [%rd1], 1;",
     32,
     {GLOBAL(1, 1, 128, 128), .atomic_requests = 1, .atomic_ways = 32}},
    {"atomics side by side",
     RD(4) "atom.global.add.u32 %r3, [%rd2], 1;",
     32,
     {GLOBAL(1, 4, 128, 128), .atomic_requests = 1, .atomic_ways = 1}},
    {"atomics in pairs",
     "shr.u32 %r1, %r1, 1;" RD(4) "red.global.add.u32 [%rd2], 1;",
     32,
     {GLOBAL(1, 2, 128, 128), .atomic_requests = 1, .atomic_ways = 2}},
    {"shared atomics at one address",
     "atom.shared.add.u32 %r3, [s], 1;",
     32,
     {SHARED(1, 1, 1, 128), .atomic_requests = 1, .atomic_ways = 32}},

    /* Local memory, asynchronous copies, barriers. */
    {"local",
     "st.local.u32 [mine+4], %r1; ld.local.u64 %rd3, [mine+8];",
     32,
     {.local_requests = 2, .local_bytes = 32 * 4 + 32 * 8}},
    /* Even lanes read 4 of their 16 bytes, odd lanes all: still one request, to every sector; all 512 are written. */
    {"cp.async of parts",
     RD(16) RS(16) "and.b32 %r3, %r1, 1; mad.lo.u32 %r3, %r3, 12, 4; cp.async.cg.shared.global [%r2], [%rd2], 16, %r3; "
                   "cp.async.wait_all;",
     32,
     {GLOBAL(1, 16, 16 * 4 + 16 * 16, 0), SHARED(1, 4, 4, 512)}},
    /* Lanes 0 to 15 ignore their source: the others' 256 bytes are 8 sectors. */
    {"cp.async of half a warp",
     LOW RD(16) RS(16) "cp.async.cg.shared.global [%r2], [%rd2], 16, %p1; cp.async.wait_all;",
     32,
     {GLOBAL(1, 8, 256, 0), SHARED(1, 4, 4, 512)}},
    {"cp.async of nothing",
     RD(16) RS(16) "cp.async.cg.shared.global [%r2], [%rd2], 16, 0; cp.async.wait_all;",
     32,
     {SHARED(1, 4, 4, 512)}},
    /* cp.async reads 16 sectors and writes 512 bytes of shared memory, in one instruction. */
    {"cp.async",
     RD(16) RS(16) "cp.async.cg.shared.global [%r2], [%rd2], 16; cp.async.wait_all;",
     32,
     {GLOBAL(1, 16, 512, 0), SHARED(1, 4, 4, 512)}},
    {"barriers", "bar.sync 0; bar.sync 0;", 96, {.barriers = 2, .warp_instructions = 3 * 5, .lane_instructions = 480}},

    /* Operations: fma is 2, packed types count both elements, min is none; a guard counts its lanes. mov.b32 and cvt are
     * no arithmetic. */
    {"operations",
     "mov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, %f1, %f1; mul.f32 %f2, %f2, %f1; min.f32 %f2, %f2, %f1;",
     32,
     {.flops = 32 * (2 + 1)}},
    {"operations in pairs", "fma.rn.f16x2 %r3, %r4, %r4, %r4; add.f16 %h1, %h2, %h2;", 32, {.flops = 32 * (4 + 1)}},
    {"operations under a guard", LOW "mov.f64 %d1, 0d0000000000000000; @%p1 add.f64 %d1, %d1, %d1;", 32, {.flops = 16}},
    /* 2 * 16 * 8 * 16. */
    {"matrix product",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r3, %r4, %r5, %r6}, {%r7, %r8}, "
     "{%f1, %f2, %f3, %f4};",
     32,
     {.mma = 1, .mma_flops = 4096}},
    {"matrix product of bits",
     "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r3, %r4}, {%r5}, {%r6}, {%r3, %r4};",
     32,
     {.mma = 1, .mma_flops = 2 * 8 * 8 * 128}},
    {"wmma",
     "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
     "{%r3,%r3,%r3,%r3,%r3,%r3,%r3,%r3}, {%r4,%r4,%r4,%r4,%r4,%r4,%r4,%r4}, {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
     32,
     {.mma = 1, .mma_flops = 2 * 16 * 16 * 16}},
};

typedef struct launched {
  tf_sim_device *device;
  tf_sim_report report;
  uint64_t p;
} launched;

static launched run(const char *ptx, unsigned grid, unsigned block, const tf_sim_options *options) {
  launched l;
  tf_sim_module *module;
  char message[512] = "";
  ck_assert_int_eq(tf_sim_device_create("sm_80", options, &l.device), TF_OK);
  ck_assert_int_eq(tf_sim_alloc(l.device, 65536, &l.p), TF_OK);
  ck_assert_msg(tf_sim_module_load(l.device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s\n%s",
                message, ptx);
  tf_sim_launch_config c = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = &l.p, .param_bytes = 8};
  tf_status s = tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, &l.report);
  ck_assert_msg(s == TF_OK, "%s\n%s", message, ptx);
  return l;
}

static void finish(launched *l) {
  tf_sim_report_free(&l->report);
  tf_sim_device_destroy(l->device);
}

static void compare(const char *name, const char *field, uint64_t got, uint64_t want) {
  ck_assert_msg(got == want, "%s: %s is %llu, by hand %llu", name, field, (unsigned long long)got,
                (unsigned long long)want);
}

/* Sums over classes and over lines are the launch's. */
static void check_sums(const char *name, const tf_sim_report *r) {
  tf_sim_tally sum = {0};
  uint64_t by_class = 0;
  for (unsigned i = 0; i < 16; i++)
    by_class += r->counters.by_class[i];
  for (size_t i = 0; i < r->breakdown->line_count; i++)
    tf_sim_tally_add(&sum, &r->breakdown->lines[i].tally);
  compare(name, "the sum over classes", by_class, r->counters.warp_instructions);
#define COUNTER(field, text) compare(name, "the sum over lines of " #field, sum.field, r->counters.field);
#include "Sim/Counters.def"
}

START_TEST(by_hand) {
  const example *e = &examples[_i];
  char ptx[4096];
  (void)snprintf(ptx, sizeof ptx, "%s%s\n%s", HEAD, e->body, TAIL);
  for (uint64_t seed = 0; seed < 3; seed++) {
    launched l = run(ptx, 1, e->block, &(tf_sim_options){.counters = true, .seed = seed});
    const tf_sim_counters *got = &l.report.counters;
    tf_sim_tally want = e->expected;
    if (!want.warp_instructions || seed) { /* another schedule may keep halves apart for longer */
      want.warp_instructions = got->warp_instructions;
      want.lane_instructions = got->lane_instructions;
    }
#define COUNTER(field, text) compare(e->name, #field, got->field, want.field);
#include "Sim/Counters.def"
    check_sums(e->name, &l.report);
    finish(&l);
  }
}
END_TEST

/* Lines come from .loc, and where there is none from the PTX text: the head's last line is 5, so the body begins on 6. */
START_TEST(lines) {
  char ptx[4096];
  (void)snprintf(ptx, sizeof ptx, "%s%s%s.file 1 \"some/where.cu\"\n", HEAD,
                 "ld.global.u32 %r3, [%rd1];\n\n.loc 1 42 7\nld.global.u32 %r3, [%rd1];\n.loc 1 40 1\n" RD(
                     4) "st.global.u32 [%rd2], %r3; ld.global.u32 %r3, [%rd2];\n.loc 1 42 1\nst.shared.u32 [s], %r3;\n",
                 TAIL);
  launched l = run(ptx, 3, 32, &(tf_sim_options){.counters = true});
  const tf_sim_breakdown *b = l.report.breakdown;
  ck_assert_uint_eq(b->line_count, 4);
  ck_assert_ptr_null(b->lines[0].file);
  ck_assert_uint_eq(b->lines[0].line, 5);
  ck_assert_uint_eq(b->lines[0].tally.warp_instructions, 3 * 2);
  ck_assert_uint_eq(b->lines[1].line, 6);
  ck_assert_uint_eq(b->lines[1].tally.global_sectors, 3);
  ck_assert_str_eq(b->lines[2].file, "some/where.cu");
  ck_assert_uint_eq(b->lines[2].line, 40);
  ck_assert_uint_eq(b->lines[2].tally.global_requests, 3 * 2);
  ck_assert_uint_eq(b->lines[2].tally.global_sectors, 3 * 2 * 4);
  ck_assert_uint_eq(b->lines[3].line, 42); /* two places in the text, one line, and the ret that follows */
  ck_assert_uint_eq(b->lines[3].tally.warp_instructions, 3 * 3);
  ck_assert_uint_eq(b->lines[3].tally.shared_requests, 3);
  finish(&l);
}
END_TEST

/* 3 CTAs of 64 threads read the same 256 bytes and write 256 bytes each at a stride of two words. */
START_TEST(buffers) {
  static const char body[] = RD(4) "ld.global.u32 %r3, [%rd2]; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 64, %r1; "
                                   "mov.u64 %rd3, g; mul.wide.u32 %rd4, %r4, 8; add.u64 %rd3, %rd3, %rd4; "
                                   "st.global.u32 [%rd3+4], %r3;\n";
  char ptx[4096], *rest;
  (void)snprintf(ptx, sizeof ptx, "%s%s%s", HEAD, body, TAIL);
  rest = strstr(ptx, ".visible");
  char with_variable[4096];
  (void)snprintf(with_variable, sizeof with_variable, "%.*s.global .align 512 .b8 g[2048];\n%s", (int)(rest - ptx), ptx,
                 rest);
  for (unsigned threads = 1; threads < 5; threads += 3) {
    launched l = run(with_variable, 3, 64, &(tf_sim_options){.counters = true, .threads = threads});
    const tf_sim_breakdown *b = l.report.breakdown;
    ck_assert_uint_eq(b->buffer_count, 2);
    ck_assert_str_eq(b->buffers[0].name, "p");
    ck_assert_uint_eq(b->buffers[0].address, l.p);
    ck_assert_uint_eq(b->buffers[0].bytes, 65536);
    ck_assert_uint_eq(b->buffers[0].bytes_read, 3 * 256);
    ck_assert_uint_eq(b->buffers[0].bytes_written, 0);
    ck_assert_uint_eq(b->buffers[0].sectors_read, 8);
    ck_assert_uint_eq(b->buffers[0].sectors_written, 0);
    ck_assert_str_eq(b->buffers[1].name, "g");
    ck_assert_uint_eq(b->buffers[1].bytes_written, 3 * 256);
    ck_assert_uint_eq(b->buffers[1].sectors_written, 3 * 16);
    ck_assert_uint_eq(b->buffers[1].sectors_read, 0);
    finish(&l);
  }
}
END_TEST

START_TEST(matrix_instructions) {
  char ptx[4096];
  (void)snprintf(ptx, sizeof ptx, "%s%s%s", HEAD,
                 "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r3,%r4,%r5,%r6}, {%r7,%r8}, "
                 "{%f1,%f2,%f3,%f4};\n"
                 "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
                 "{%r3,%r3,%r3,%r3,%r3,%r3,%r3,%r3}, {%r4,%r4,%r4,%r4,%r4,%r4,%r4,%r4}, "
                 "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};\n"
                 "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r3,%r4,%r5,%r6}, {%r7,%r8}, "
                 "{%f1,%f2,%f3,%f4};\n",
                 TAIL);
  launched l = run(ptx, 1, 64, &(tf_sim_options){.counters = true});
  const tf_sim_breakdown *b = l.report.breakdown;
  ck_assert_uint_eq(b->mma_count, 2);
  ck_assert_str_eq(b->mmas[0].name, "m16n16k16 f32.f16.f16.f32");
  ck_assert_str_eq(b->mmas[0].type, "f16");
  ck_assert_uint_eq(b->mmas[0].count, 2);
  ck_assert_uint_eq(b->mmas[0].flops, 2 * 2 * 16 * 16 * 16);
  ck_assert_str_eq(b->mmas[1].name, "m16n8k8 f32.tf32.tf32.f32");
  ck_assert_str_eq(b->mmas[1].type, "tf32");
  ck_assert_uint_eq(b->mmas[1].count, 2 * 2);
  ck_assert_uint_eq(b->mmas[1].flops, 4 * 2 * 16 * 8 * 8);
  finish(&l);
}
END_TEST

/* ---- Estimates --------------------------------------------------------------------------------------------------- */

static double relative(double got, double want) {
  return want == 0 ? got : got / want - 1 < 0 ? 1 - got / want : got / want - 1;
}

/* Work for exactly one second on every SM of a device, one resource at a time: its rate from the data sheet. */
START_TEST(rates) {
  static const struct {
    const char *profile, *type;
    double tensor, dram, fp32; /* operations, bytes, operations (fma is 2) a second, from the vendor's data sheets */
  } rows[] = {
      {"sm_75", "f16", 65e12, 320e9, 8.1e12},     /* T4 */
      {"sm_80", "bf16", 312e12, 1555e9, 19.5e12}, /* A100 40 GB */
      {"sm_80", "tf32", 156e12, 1555e9, 19.5e12},    {"sm_80", "s8", 624e12, 1555e9, 19.5e12},
      {"sm_80", "b1", 4992e12, 1555e9, 19.5e12},     {"sm_80", "f64", 19.5e12, 1555e9, 19.5e12},
      {"sm_86", "f16", 71e12, 936e9, 35.6e12},       /* GeForce RTX 3090 */
      {"sm_89", "f16", 165.2e12, 1008e9, 82.6e12},   /* GeForce RTX 4090 */
      {"sm_90", "f64", 67e12, 3352e9, 67e12},        /* H100 SXM */
      {"sm_120", "f16", 209.5e12, 1792e9, 104.8e12}, /* GeForce RTX 5090 */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const tf_sim_profile *p = tf_sim_profile_find(rows[i].profile);
    tf_sim_mma mma = {.name = "", .type = rows[i].type, .count = 1, .flops = (uint64_t)rows[i].tensor};
    tf_sim_buffer half = {.sectors_read = (uint64_t)(rows[i].dram / 64),
                          .sectors_written = (uint64_t)(rows[i].dram / 64)};
    tf_sim_breakdown b = {.mmas = &mma, .mma_count = 1, .buffers = &half, .buffer_count = 1};
    tf_sim_counters c = {.by_class[1] = (uint64_t)(rows[i].fp32 / 64)}; /* a warp's fma is 64 */
    tf_sim_estimate e;
    ck_assert_str_eq(tf_sim_class_name(1), "float");
    tf_sim_estimate_launch(p, 1u << 20, &c, &b, &e);
    ck_assert_uint_eq(e.multiprocessors, p->multiprocessors);
    ck_assert_msg(relative(e.seconds[TF_SIM_RESOURCE_TENSOR], 1) < 0.02, "%s %s tensor: %g s", p->name, rows[i].type,
                  e.seconds[TF_SIM_RESOURCE_TENSOR]);
    ck_assert_msg(relative(e.seconds[TF_SIM_RESOURCE_DRAM], 1) < 0.01, "%s DRAM: %g s", p->name,
                  e.seconds[TF_SIM_RESOURCE_DRAM]);
    ck_assert_msg(relative(e.seconds[TF_SIM_RESOURCE_FP32], 1) < 0.02, "%s fp32: %g s", p->name,
                  e.seconds[TF_SIM_RESOURCE_FP32]);
  }
}
END_TEST

/* One SM of an A100 at 1.41 GHz: 128 bytes of shared memory, 4 warp instructions and 64 lanes of f32 a clock. */
START_TEST(bounds) {
  const tf_sim_profile *p = tf_sim_profile_find("sm_80");
  tf_sim_estimate e;
  tf_sim_counters shared = {.shared_ways = 14100, .warp_instructions = 8000, .by_class[1] = 2000};
  tf_sim_estimate_launch(p, 1, &shared, NULL, &e);
  ck_assert_uint_eq(e.multiprocessors, 1);
  ck_assert_str_eq(tf_sim_resource_name(e.bound), "shared");
  ck_assert(relative(e.seconds[TF_SIM_RESOURCE_SHARED], 10e-6) < 1e-9);
  ck_assert(relative(e.seconds[TF_SIM_RESOURCE_ISSUE], 2000 / 1.41e9) < 1e-9);
  ck_assert(relative(e.seconds[TF_SIM_RESOURCE_FP32], 1000 / 1.41e9) < 1e-9);
  /* Two CTAs share the work; more than there are multiprocessors do not help. */
  tf_sim_estimate_launch(p, 2, &shared, NULL, &e);
  ck_assert(relative(e.seconds[TF_SIM_RESOURCE_SHARED], 5e-6) < 1e-9);
  /* 108 SMs x 48 bytes, whatever the number of CTAs: 162 sectors a clock. */
  tf_sim_counters l2 = {.global_sectors = 162 * 1410};
  tf_sim_estimate_launch(p, 1, &l2, NULL, &e);
  ck_assert_str_eq(tf_sim_resource_name(e.bound), "L2");
  ck_assert(relative(e.seconds[TF_SIM_RESOURCE_L2], 1e-6) < 1e-9);
  tf_sim_counters wide = {.by_class[2] = 1410}; /* double: 32 lanes a clock */
  ck_assert_str_eq(tf_sim_class_name(2), "double");
  tf_sim_estimate_launch(p, 1, &wide, NULL, &e);
  ck_assert_str_eq(tf_sim_resource_name(e.bound), "fp64");
  ck_assert(relative(e.seconds[TF_SIM_RESOURCE_FP64], 1e-6) < 1e-9);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("counters");
  tcase_add_loop_test(c, by_hand, 0, (int)(sizeof examples / sizeof *examples));
  tcase_add_test(c, lines);
  tcase_add_test(c, buffers);
  tcase_add_test(c, matrix_instructions);
  tcase_add_test(c, rates);
  tcase_add_test(c, bounds);
  return run_case("Sim counters", c);
}
