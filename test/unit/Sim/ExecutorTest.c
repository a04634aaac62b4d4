/* The executor: divergence, calls, barriers, schedules, and what the checkers report of faults. */
#include "Coverage.h"
#include "Harness.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY                                                                                                          \
  HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" \
       "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1;\n"
/* Lines of the entry's body are counted from 8 on. */
#define END "\nret;\n}\n"

typedef struct run {
  unsigned grid, block, checks, threads;
  uint64_t seed, budget;
  bool cooperative, counters;
} run;

/* Runs kernel k over buf[0..words); the report is the caller's. */
static tf_status execute(const char *ptx, run r, uint32_t *buf, size_t words, tf_sim_report *report) {
  tf_sim_options o = {
      .checks = r.checks, .threads = r.threads, .seed = r.seed, .budget = r.budget, .counters = r.counters};
  tf_sim_device *device;
  tf_sim_module *module;
  uint64_t address;
  char message[512] = "";
  ck_assert_int_eq(tf_sim_device_create("sm_90", &o, &device), TF_OK);
  ck_assert_msg(tf_sim_module_load(device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s", message);
  ck_assert_int_eq(tf_sim_alloc(device, words * 4, &address), TF_OK);
  ck_assert_int_eq(tf_sim_write(device, address, buf, words * 4), TF_OK);
  tf_sim_launch_config c = {.grid = {r.grid, 1, 1}, .block = {r.block, 1, 1}, .params = &address, .param_bytes = 8};
  c.cooperative = r.cooperative;
  tf_status status = tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, report);
  ck_assert_msg(status != TF_LAUNCH, "%s", message);
  if (status == TF_OK) coverage_note(module);
  ck_assert_int_eq(tf_sim_read(device, buf, address, words * 4), TF_OK);
  tf_sim_device_destroy(device);
  return status;
}

static void execute_clean(const char *ptx, run r, uint32_t *buf, size_t words) {
  tf_sim_report report;
  tf_status status = execute(ptx, r, buf, words, &report);
  ck_assert_msg(status == TF_OK, "line %u: %s", report.count ? report.findings[0].ptx_line : 0,
                report.count ? report.findings[0].text : "");
  tf_sim_report_free(&report);
}

static const uint64_t seeds[] = {0, 1, 7, 12345};

/* Collatz steps: every lane leaves the loop at its own time, with an if inside. */
START_TEST(divergent_loops) {
  static const char ptx[] = ENTRY "add.u32 %r1, %r0, 1; mov.u32 %r2, 0;\n"
                                  "$loop: setp.eq.u32 %p1, %r1, 1; @%p1 bra $done;\n"
                                  "and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra $even;\n"
                                  "mad.lo.u32 %r1, %r1, 3, 1; bra $next;\n$even: shr.u32 %r1, %r1, 1;\n"
                                  "$next: add.u32 %r2, %r2, 1; bra $loop;\n$done: st.global.u32 [%rd1], %r2;" END;
  uint32_t buf[96];
  memset(buf, 0xAA, sizeof buf);
  execute_clean(ptx, (run){.grid = 1, .block = 96, .seed = seeds[_i]}, buf, 96);
  for (uint32_t i = 0; i < 96; i++) {
    uint32_t steps = 0;
    for (uint64_t n = i + 1; n != 1; steps++)
      n = n % 2 ? 3 * n + 1 : n / 2;
    ck_assert_uint_eq(buf[i], steps);
  }
}
END_TEST

/* Lanes of one warp compete for a lock; the holder must get on while the others spin. */
START_TEST(spin_lock_between_lanes) {
  static const char ptx[] =
      ENTRY "$try: atom.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $try;\n"
            "ld.volatile.global.u32 %r2, [%rd0+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd0+4], %r2;\n"
            "membar.gl; atom.global.exch.b32 %r3, [%rd0], 0;" END;
  uint32_t buf[2] = {0, 5};
  execute_clean(ptx, (run){.grid = 3, .block = 70, .seed = seeds[_i], .budget = 50000000}, buf, 2);
  ck_assert_uint_eq(buf[0], 0);
  ck_assert_uint_eq(buf[1], 5 + 210);
}
END_TEST

/* A producer lane of the warp sets a flag that a consumer lane of the same warp polls, in both orders of pcs. */
START_TEST(flag_between_lanes) {
  static const char ptx[] =
      ENTRY "setp.eq.u32 %p1, %r0, 3; @%p1 bra $produce;\n"
            "$wait: ld.volatile.global.u32 %r1, [%rd0+512]; setp.eq.u32 %p2, %r1, 0; @%p2 bra $wait; bra $out;\n"
            "$produce: mov.u32 %r1, 77; st.volatile.global.u32 [%rd0+512], %r1;\n$out: st.global.u32 [%rd1], %r1;" END;
  uint32_t buf[129] = {0};
  execute_clean(ptx, (run){.grid = 1, .block = 64, .seed = seeds[_i], .budget = 10000000}, buf, 129);
  for (int i = 0; i < 64; i++)
    ck_assert_uint_eq(buf[i], 77);
}
END_TEST

/* fib by recursion, with another depth in every lane, and lanes that do not call at all. */
START_TEST(recursion) {
  static const char ptx[] =
      HEAD ".func (.param .b32 r) fib(.param .b32 n)\n{ .reg .b32 %r<9>; .reg .pred %p;\n ld.param.b32 %r1, [n];\n"
           "setp.lt.u32 %p, %r1, 2; @%p bra $leaf;\n"
           "add.u32 %r2, %r1, -1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fib, (a); "
           "ld.param.b32 %r3, [b]; }\n"
           "add.u32 %r2, %r1, -2; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fib, (a); "
           "ld.param.b32 %r4, [b]; }\n"
           "add.u32 %r3, %r3, %r4; st.param.b32 [r], %r3; ret;\n$leaf: st.param.b32 [r], %r1; ret; }\n"
           ".visible .entry k(.param .u64 p)\n{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;\n"
           "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; mov.u32 "
           "%r2, 9999;\n"
           "setp.gt.u32 %p, %r0, 12; @%p bra $skip;\n"
           "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), fib, (a); ld.param.b32 %r2, [b]; }\n"
           "$skip: st.global.u32 [%rd1], %r2; ret; }\n";
  static const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  uint32_t buf[32] = {0};
  execute_clean(ptx, (run){.grid = 1, .block = 32, .seed = seeds[_i], .checks = TF_SIM_CHECK_INIT}, buf, 32);
  for (int i = 0; i < 32; i++)
    ck_assert_uint_eq(buf[i], i <= 12 ? fib[i] : 9999);
}
END_TEST

/* Calls through a table: lanes of one warp call different functions, with a structure by value. */
START_TEST(indirect_calls) {
#define FUNC(name, op)                                                                                                 \
  ".func (.param .b32 r) " name "(.param .align 4 .b8 s[8])\n{ .reg .b32 %r<4>; ld.param.b32 %r1, [s]; ld.param.b32 "  \
  "%r2, [s+4]; " op " %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }\n"
  static const char ptx[] = HEAD FUNC("f", "add.u32") FUNC("g", "mul.lo.u32") FUNC(
      "h",
      "xor.b32") ".global .u64 table[3] = {f, g, h};\n.visible .entry k(.param .u64 p)\n{ .reg .b32 %r<9>; .reg .b64 "
                 "%rd<9>;\n"
                 "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1;\n"
                 "rem.u32 %r1, %r0, 3; mul.wide.u32 %rd2, %r1, 8; mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2; "
                 "ld.global.u64 %rd4, [%rd3];\n"
                 "{ .param .align 4 .b8 a[8]; .param .b32 b; st.param.b32 [a], %r0; st.param.b32 [a+4], 6;\n"
                 "proto: .callprototype (.param .b32 _) _ (.param .align 4 .b8 _[8]);\ncall (b), %rd4, (a), proto; "
                 "ld.param.b32 %r2, [b]; }\n"
                 "st.global.u32 [%rd1], %r2; ret; }\n";
  uint32_t buf[64] = {0};
  execute_clean(ptx, (run){.grid = 1, .block = 64, .seed = seeds[_i]}, buf, 64);
  for (uint32_t i = 0; i < 64; i++)
    ck_assert_uint_eq(buf[i], i % 3 == 0 ? i + 6 : i % 3 == 1 ? i * 6 : i ^ 6);
}
END_TEST

START_TEST(indexed_branch) {
  static const char ptx[] =
      ENTRY "and.b32 %r1, %r0, 3; list: .branchtargets $a, $b, $c, $b;\nbrx.idx %r1, list;\n"
            "$a: mov.u32 %r2, 10; bra $end;\n$b: mov.u32 %r2, 20; bra $end;\n$c: mov.u32 %r2, 30;\n"
            "$end: st.global.u32 [%rd1], %r2;" END;
  static const uint32_t expected[] = {10, 20, 30, 20};
  uint32_t buf[33] = {0};
  execute_clean(ptx, (run){.grid = 1, .block = 33, .seed = seeds[_i]}, buf, 33);
  for (int i = 0; i < 33; i++)
    ck_assert_uint_eq(buf[i], expected[i & 3]);
}
END_TEST

/* Sum of a block of 200 threads through shared memory in log steps, a barrier between steps; the last warp is partial. */
START_TEST(barriers) {
  static const char ptx[] = ENTRY
      ".shared .u32 s[256]; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;\n"
      "st.shared.u32 [%r2], %r0; mov.u32 %r3, 128;\n"
      "$loop: bar.sync 0; add.u32 %r4, %r0, %r3; setp.lt.u32 %p1, %r0, %r3; setp.lt.and.u32 %p1, %r4, 200, %p1;\n"
      "shl.b32 %r5, %r3, 2; add.u32 %r5, %r5, %r2; @%p1 ld.shared.u32 %r6, [%r5]; @%p1 ld.shared.u32 %r7, [%r2];\n"
      "@%p1 add.u32 %r6, %r6, %r7; @%p1 st.shared.u32 [%r2], %r6; shr.u32 %r3, %r3, 1;\n"
      "setp.ne.u32 %p2, %r3, 0; @%p2 bra $loop; bar.sync 0; ld.shared.u32 %r8, [s]; st.global.u32 [%rd1], %r8;" END;
  uint32_t buf[200] = {0};
  execute_clean(ptx, (run){.grid = 1, .block = 200, .seed = seeds[_i], .checks = TF_SIM_CHECK_ALL}, buf, 200);
  for (int i = 0; i < 200; i++)
    ck_assert_uint_eq(buf[i], 199 * 200 / 2);
}
END_TEST

/* Warps 0 and 1 meet at barrier 1, warps 1 and 2 at barrier 2, arrive without waiting on barrier 3; early exits shrink
 * what bar.sync 0 waits for; bar.red counts. */
START_TEST(named_barriers) {
  static const char ptx[] =
      ENTRY "shr.u32 %r1, %r0, 5; mov.u32 %r2, 0; setp.eq.u32 %p1, %r1, 3; @%p1 exit;\n"
            "setp.le.u32 %p2, %r1, 1; @!%p2 bra $two; bar.sync 1, 64;\n"
            "$two: setp.ge.u32 %p3, %r1, 1; @!%p3 bra $three; barrier.sync 2, 64;\n"
            "$three: setp.eq.u32 %p4, %r1, 0; @%p4 bra $arrive; bar.sync 3, 96; bra $red;\n$arrive: bar.arrive 3, 96;\n"
            "$red: and.b32 %r3, %r0, 1; setp.eq.u32 %p5, %r3, 1; bar.red.popc.u32 %r4, 0, %p5;\n"
            "bar.red.and.pred %p6, 0, %p5; bar.red.or.pred %p7, 0, %p5; selp.u32 %r5, 100, 0, %p6; selp.u32 %r6, 1000, "
            "0, %p7;\n"
            "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; st.global.u32 [%rd1], %r4;" END;
  uint32_t buf[128];
  memset(buf, 0, sizeof buf);
  execute_clean(ptx, (run){.grid = 1, .block = 128, .seed = seeds[_i]}, buf, 128);
  for (int i = 0; i < 128; i++)
    ck_assert_uint_eq(buf[i], i < 96 ? 48 + 1000 : 0);
}
END_TEST

/* A grid barrier out of atomics: every CTA must be resident and get its turns. */
START_TEST(grid_barrier) {
  static const char ptx[] = ENTRY
      "setp.ne.u32 %p1, %r0, 0; @%p1 bra $wait; atom.global.add.u32 %r1, [%rd0], 1;\n"
      "$spin: ld.acquire.gpu.global.u32 %r2, [%rd0]; setp.lt.u32 %p2, %r2, 50; @%p2 bra $spin;\n"
      "$wait: bar.sync 0; ld.volatile.global.u32 %r3, [%rd0]; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 64, %r0;\n"
      "mul.wide.u32 %rd2, %r4, 4; add.u64 %rd2, %rd2, %rd0; st.global.u32 [%rd2+4], %r3;" END;
  uint32_t *buf = calloc(3201, 4);
  execute_clean(ptx, (run){.grid = 50, .block = 64, .seed = seeds[_i], .cooperative = true}, buf, 3201);
  for (int i = 0; i <= 3200; i++)
    ck_assert_uint_eq(buf[i], 50);
  free(buf);
}
END_TEST

START_TEST(warp_collectives) {
  static const char ptx[] =
      ENTRY "mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 20; @!%p1 bra $high;\n"
            "redux.sync.add.u32 %r2, %r0, 0x000FFFFF; shfl.sync.down.b32 %r3|%p2, %r1, 3, 31, 0x000FFFFF; bra $join;\n"
            "$high: redux.sync.max.u32 %r2, %r0, 0xFFF00000; shfl.sync.idx.b32 %r3|%p2, %r1, 22, 31, 0xFFF00000;\n"
            "$join: vote.sync.ballot.b32 %r4, %p1, -1; and.b32 %r5, %r1, 3; match.any.sync.b32 %r6, %r5, -1;\n"
            "mad.lo.u32 %r7, %r0, 16, 0; mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd0, %rd2;\n"
            "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r6};" END;
  uint32_t buf[64 * 4] = {0};
  execute_clean(ptx, (run){.grid = 1, .block = 64, .seed = seeds[_i], .checks = TF_SIM_CHECK_SYNC}, buf, 256);
  for (uint32_t t = 0; t < 64; t++) {
    uint32_t lane = t % 32, base = t - lane, *b = &buf[4 * t];
    ck_assert_uint_eq(b[0], lane < 20 ? 20 * base + 190 : base + 31);
    ck_assert_uint_eq(b[1], lane >= 20 ? 22 : lane < 17 ? lane + 3 : b[1]);
    ck_assert_uint_eq(b[2], 0x000FFFFF);
    ck_assert_uint_eq(b[3], 0x11111111u << (lane & 3));
  }
}
END_TEST

/* One fault each: body (from line 8 on), and what must be found where. */
static const struct {
  const char *name, *body, *kind;
  uint32_t line, thread;
  uint64_t count;
} faults[] = {
    {"one past the end", "\nld.global.u32 %r1, [%rd1+4];", "out of bounds", 9, 63, 1},
    {"before", "mov.u32 %r2, 0;\nst.global.u32 [%rd1+-8], %r2;", "out of bounds", 9, 0, 2},
    {"null", "mov.u64 %rd2, 0;\n\nld.u32 %r1, [%rd2+8];", "null pointer", 10, 0, 64},
    {"misaligned", "ld.global.u64 %rd2, [%rd1];", "misaligned", 8, 1, 32},
    {"wild", "mov.u64 %rd2, 0x123456789000;\nld.global.u8 %r1, [%rd2];", "out of bounds", 9, 0, 64},
    {"shared",
     ".shared .u32 s[8]; shl.b32 %r2, %r0, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], %r0;",
     "beyond shared memory", 9, 8, 56},
    {"local", ".local .b32 l[4]; mov.u64 %rd2, l;\nst.local.u32 [%rd2+16], %r0;", "beyond local memory", 9, 0, 64},
    {"param", "\n\nld.param.u64 %rd2, [p+8];", "beyond the parameters", 10, 0, 64},
    {"const", "mov.u64 %rd2, c;\nst.global.u32 [%rd2], %r0;", "write to constant memory", 9, 0, 64},
    {"space", ".shared .u32 s[8]; mov.u64 %rd2, s; cvta.shared.u64 %rd3, %rd2;\nld.global.u32 %r1, [%rd3];",
     "wrong state space", 9, 0, 64},
    {"trap", "setp.eq.u32 %p1, %r0, 40;\n@%p1 trap;", "trap", 9, 40, 1},
    {"no function", "mov.u64 %rd2, 64; proto: .callprototype _ ();\ncall %rd2, proto;", "call of no function", 9, 0, 0},
    {"branch index", "list: .branchtargets $a, $b; brx.idx %r0, list; $a: $b:", "branch index out of range", 8, 2, 0},
    {"atomic", "\natom.global.add.u32 %r1, [%rd1+4096], 1;", "out of bounds", 9, 0, 64},
};

START_TEST(finds_faults) {
  char ptx[4096];
  uint32_t buf[64] = {0};
  tf_sim_report report;
  snprintf(ptx, sizeof ptx, "%s%s%s%s", ENTRY, faults[_i].body, END, ".const .u32 c = 4;\n");
  if (strstr(faults[_i].body, "c;")) { /* the constant must stand before its use */
    snprintf(ptx, sizeof ptx, "%.*s.const .u32 c = 4; %s%s%s", (int)strlen(HEAD), HEAD, &ENTRY[strlen(HEAD)],
             faults[_i].body, END);
  }
  tf_status status = execute(ptx, (run){.grid = 1, .block = 64}, buf, 64, &report);
  ck_assert_msg(status == TF_CHECKER || status == TF_TRAP, "%s: status %s", faults[_i].name, tf_status_name(status));
  ck_assert_msg(report.count >= 1, "%s", faults[_i].name);
  const tf_sim_finding *f = &report.findings[0];
  ck_assert_str_eq(f->kind, faults[_i].kind);
  ck_assert_msg(f->ptx_line == faults[_i].line, "%s: line %u", faults[_i].name, f->ptx_line);
  ck_assert_uint_eq(f->thread[0], faults[_i].thread);
  if (faults[_i].count) ck_assert_uint_eq(f->count, faults[_i].count);
  ck_assert_str_eq(f->kernel, "k");
  tf_sim_report_free(&report);
}
END_TEST

START_TEST(source_lines) {
  static const char ptx[] =
      HEAD ".file 1 \"some/kernel.cu\"\n.visible .entry k(.param .u64 p)\n{ .reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
           ".loc 1 41 3\nld.param.u64 %rd1, [p];\n.loc 1 42 7\nst.global.u32 [%rd1+400], 1;\n"
           ".loc 1 0 7\nst.global.u32 [%rd1+404], 1;\n.loc 1 43 7\nst.global.u32 [%rd1+408], 1; ret; }\n";
  char fixed[1024];
  uint32_t buf[4] = {0};
  tf_sim_report report;
  snprintf(fixed, sizeof fixed, "%s", ptx);
  ck_assert_int_eq(execute(fixed, (run){.grid = 1, .block = 1}, buf, 4, &report), TF_CHECKER);
  ck_assert_uint_eq(report.count, 3);
  for (unsigned i = 0; i < 3; i++) {
    const tf_sim_finding *f = &report.findings[i];
    ck_assert_uint_eq(f->ptx_line, 10 + 2 * i);
    ck_assert_str_eq(f->file, "some/kernel.cu");
    ck_assert_uint_eq(f->line, i == 2 ? 43 : 42);
    ck_assert_int_eq(f->near, i == 1); /* of line 0: the compiler moved it */
    ck_assert_msg(strstr(f->text, " after the end of 'p', 16 bytes at "), "%s", f->text);
  }
  tf_sim_report_free(&report);
}
END_TEST

START_TEST(use_after_free) {
  static const char ptx[] = ENTRY "ld.global.u32 %r1, [%rd1];" END;
  tf_sim_device *device;
  tf_sim_module *module;
  tf_sim_report report;
  uint64_t address, other;
  ck_assert_int_eq(tf_sim_device_create("sm_90", NULL, &device), TF_OK);
  ck_assert_int_eq(tf_sim_module_load(device, ptx, strlen(ptx), NULL, 0, &module), TF_OK);
  ck_assert_int_eq(tf_sim_alloc(device, 4096, &address), TF_OK);
  ck_assert_int_eq(tf_sim_free(device, address), TF_OK);
  ck_assert_int_eq(tf_sim_free(device, address), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_sim_alloc(device, 4096, &other), TF_OK);
  tf_sim_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &address, .param_bytes = 8};
  ck_assert_int_eq(tf_sim_launch(tf_sim_module_function(module, "k"), &c, NULL, 0, &report), TF_CHECKER);
  ck_assert_str_eq(report.findings[0].kind, "freed memory");
  tf_sim_report_free(&report);
  tf_sim_device_destroy(device);
}
END_TEST

/* A barrier that one warp never reaches, and a lane mask whose lane waits elsewhere: the launch ends with a report. */
START_TEST(hangs) {
  static const char barrier[] =
      ENTRY "setp.lt.u32 %p1, %r0, 32; @%p1 bra $a;\nbar.sync 1, 64; bra $b;\n$a: bar.sync 2, 64;\n$b:" END;
  static const char mask[] =
      ENTRY "setp.eq.u32 %p1, %r0, 5; @%p1 bra $a;\nbar.warp.sync -1; bra $b;\n$a: bar.sync 1, 64;\n$b:" END;
  static const char flag[] = ENTRY "$w: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $w;" END;
  static const char empty[] = ENTRY "\n$w: bra $w;" END;
  /* Time goes on, but it never gets there: by 64 bits, by 32, by the timer with a nap, and beside a warp at a barrier. */
  static const char clock64[] =
      ENTRY "$w: mov.u64 %rd2, %clock64; setp.ne.u64 %p1, %rd2, 0;\n@%p1 bra $w; st.global.u32 [%rd1], 1;" END;
  static const char clock32[] =
      ENTRY "$w: mov.u32 %r1, %clock; and.b32 %r1, %r1, 0; setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $w;" END;
  static const char timer[] =
      ENTRY "$w: nanosleep.u32 100; mov.u64 %rd2, %globaltimer; setp.gt.u64 %p1, %rd2, 5;\n@%p1 bra $w;" END;
  static const char beside[] =
      ENTRY "setp.lt.u32 %p1, %r0, 32; @%p1 bra $a; bar.sync 0; bra $b;\n$a: mov.u32 %r2, "
            "%globaltimer_hi; setp.lt.u32 %p2, %r2, 100000000; @%p2 bra $a; bar.sync 0; $b:" END;
  static const char *const all[] = {barrier, mask, flag, empty, clock64, clock32, timer, beside};
  uint32_t buf[64] = {0};
  tf_sim_report report;
  tf_status status = execute(all[_i / 2], (run){.grid = 1, .block = 64, .seed = _i % 2 ? 5 : 0}, buf, 64, &report);
  ck_assert_int_eq(status, TF_TRAP);
  ck_assert_msg(report.count >= (_i / 2 < 2 ? 2u : 1u), "%zu findings", report.count);
  for (size_t i = 0; i < report.count; i++)
    ck_assert_str_eq(report.findings[i].checker, "hang");
  ck_assert_uint_ge(report.findings[0].ptx_line, 7);
  tf_sim_report_free(&report);
}
END_TEST

/* cp.async whose source ends inside the copy: only the bytes that it names are read, the rest becomes zero. */
START_TEST(short_copies) {
  static const char ptx[] = ENTRY
      ".shared .align 16 .b8 s[512]; mul.wide.u32 %rd2, %r0, 16; add.u64 %rd3, %rd0, %rd2; mov.u32 %r2, s; mad.lo.u32 "
      "%r2, %r0, 16, %r2;\n"
      "shl.b32 %r3, %r0, 4; mov.u32 %r4, 100; sub.s32 %r4, %r4, %r3; max.s32 %r4, %r4, 0; min.s32 %r4, %r4, 16;\n"
      "cp.async.ca.shared.global [%r2], [%rd3], 16, %r4; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
      "shl.b32 %r3, %r0, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r3; ld.shared.u32 %r5, [%r2]; setp.lt.u32 %p1, %r0, 25; "
      "@%p1 st.global.u32 [%rd1], %r5;\n"
      "ld.shared.u32 %r5, [%r2+100]; setp.ne.u32 %p1, %r5, 0; @%p1 trap;" END;
  uint32_t buf[25];
  for (uint32_t i = 0; i < 25; i++)
    buf[i] = i * 77 + 1;
  execute_clean(ptx, (run){.grid = 1, .block = 32, .checks = TF_SIM_CHECK_ALL, .counters = true}, buf, 25);
  for (uint32_t i = 0; i < 25; i++)
    ck_assert_uint_eq(buf[i], i * 77 + 1);
}
END_TEST

/* What looks like spinning but gets somewhere: a long loop of volatile reads, and a wait for the clock. */
START_TEST(patient_loops) {
  static const char reads[] = ENTRY "mov.u32 %r1, 0; mov.u32 %r2, 0;\n$w: ld.volatile.global.u32 %r3, [%rd0]; add.u32 "
                                    "%r2, %r2, %r3; add.u32 %r1, %r1, 1; "
                                    "setp.lt.u32 %p1, %r1, 40000; @%p1 bra $w; st.global.u32 [%rd1+4], %r2;" END;
  static const char clock[] =
      ENTRY "mov.u64 %rd2, %clock64;\n$w: mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2; "
            "setp.lt.u64 %p1, %rd3, 500000; @%p1 bra $w; mov.u32 %r2, 120000; st.global.u32 [%rd1+4], %r2;" END;
  /* Ten seconds and more of the timer, in naps; time leaps when nothing else happens. */
  static const char nap[] = ENTRY "mov.u64 %rd2, %globaltimer;\n$w: nanosleep.u32 1000; mov.u64 %rd3, %globaltimer; "
                                  "sub.u64 %rd3, %rd3, %rd2; setp.lt.u64 %p1, %rd3, 10000000000; @%p1 bra $w; mov.u32 "
                                  "%r2, 120000; st.global.u32 [%rd1+4], %r2;" END;
  /* Looks at the clock all the time and calculates for long: neither a hang nor a leap, and time goes on. */
  static const char measure[] = ENTRY
      "mov.u32 %r1, 0; mov.u64 %rd2, %clock64;\n$w: mov.u64 %rd3, %clock64; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, "
      "%r1, 60000; @%p1 bra $w; mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2; setp.lt.u64 %p1, %rd3, 240000; "
      "@%p1 trap; setp.gt.u64 %p1, %rd3, 2000000; @%p1 trap; mov.u32 %r2, 120000; st.global.u32 [%rd1+4], %r2;" END;
  static const char *const all[] = {reads, clock, nap, measure};
  uint32_t buf[65] = {3};
  execute_clean(all[_i], (run){.grid = 1, .block = 64}, buf, 65);
  ck_assert_uint_eq(buf[64], 120000);
}
END_TEST

START_TEST(budget) {
  static const char ptx[] = ENTRY "$w: add.u32 %r1, %r1, 1; bra $w;" END;
  uint32_t buf[1] = {0};
  tf_sim_report report;
  ck_assert_int_eq(execute(ptx, (run){.grid = 2, .block = 32, .budget = 100000}, buf, 1, &report), TF_TRAP);
  ck_assert_str_eq(report.findings[0].kind, "instruction budget used up");
  tf_sim_report_free(&report);
}
END_TEST

/* Bytes that nobody wrote: shared, local, and global after poisoning; written ones are fine. */
START_TEST(init_checker) {
  static const struct {
    const char *body;
    uint32_t line; /* 0: clean */
  } cases[] = {
      {".shared .u32 s[64];\nld.shared.u32 %r1, [s+8];", 9},
      {".shared .u32 s[64]; st.shared.u32 [s+8], %r0;\nld.shared.u32 %r1, [s+8];", 0},
      {".shared .u32 s[64]; st.shared.u16 [s+8], %r0;\nld.shared.u32 %r1, [s+8];", 9},
      {".local .b32 l[4]; mov.u64 %rd2, l; st.local.u32 [%rd2], %r0;\nld.local.u32 %r1, [%rd2+4];", 9},
      {".local .b32 l[4]; mov.u64 %rd2, l; st.local.u32 [%rd2+4], %r0;\nld.local.u32 %r1, [%rd2+4];", 0},
      {"\nld.global.u32 %r1, [%rd1];", 0},
  };
  char ptx[2048];
  uint32_t buf[32] = {0};
  tf_sim_report report;
  snprintf(ptx, sizeof ptx, "%s%s%s", ENTRY, cases[_i].body, END);
  tf_status status = execute(ptx, (run){.grid = 1, .block = 32, .checks = TF_SIM_CHECK_INIT}, buf, 32, &report);
  ck_assert_int_eq(status, cases[_i].line ? TF_CHECKER : TF_OK);
  ck_assert_uint_eq(report.count ? report.findings[0].ptx_line : 0, cases[_i].line);
  tf_sim_report_free(&report);
}
END_TEST

/* The same launch twice, and on one or several threads: same bytes, same counters, same findings. */
START_TEST(deterministic) {
  static const char ptx[] = ENTRY
      "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd0;\n"
      "mul.lo.u32 %r3, %r2, 2654435761; st.global.u32 [%rd2], %r3;" END;
  uint32_t *a = calloc(6000, 4), *b = calloc(6000, 4);
  tf_sim_report ra, rb;
  execute(ptx, (run){.grid = 100, .block = 64, .threads = 1, .counters = true}, a, 6000, &ra);
  execute(ptx, (run){.grid = 100, .block = 64, .threads = 4, .counters = true}, b, 6000, &rb);
  ck_assert_mem_eq(a, b, 24000);
  ck_assert_mem_eq(&ra.counters, &rb.counters, sizeof ra.counters);
  ck_assert_uint_eq(ra.count, 1); /* 400 threads write past the end */
  ck_assert_uint_eq(rb.count, 1);
  ck_assert_uint_eq(ra.findings[0].count, 400);
  ck_assert_uint_eq(rb.findings[0].count, 400);
  ck_assert_uint_eq(ra.findings[0].cta[0], 93);
  ck_assert_uint_eq(rb.findings[0].cta[0], 93);
  ck_assert_uint_eq(rb.findings[0].thread[0], 48);
  tf_sim_report_free(&ra);
  tf_sim_report_free(&rb);
  free(a);
  free(b);
}
END_TEST

START_TEST(counters) {
  static const char ptx[] = ENTRY
      ".shared .u32 s[1024]; ld.global.u32 %r1, [%rd1]; shl.b32 %r2, %r0, 3; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n"
      "st.shared.u32 [%r2], %r1; bar.sync 0; mul.wide.u32 %rd2, %r0, 128; add.u64 %rd2, %rd2, %rd0; st.global.u32 "
      "[%rd2], %r1;" END;
  uint32_t *buf = calloc(64 * 32, 4);
  tf_sim_report r;
  ck_assert_int_eq(execute(ptx, (run){.grid = 1, .block = 64, .counters = true}, buf, 64 * 32, &r), TF_OK);
  ck_assert_uint_eq(r.counters.global_requests, 4);
  ck_assert_uint_eq(r.counters.global_sectors, 2 * 4 + 2 * 32);
  ck_assert_uint_eq(r.counters.global_bytes_read, 256);
  ck_assert_uint_eq(r.counters.global_bytes_written, 256);
  ck_assert_uint_eq(r.counters.shared_requests, 2);
  ck_assert_uint_eq(r.counters.shared_ways, 4); /* stride of two words: two ways */
  ck_assert_uint_eq(r.counters.barriers, 1);
  ck_assert_uint_eq(r.counters.warp_instructions, 2 * 14);
  ck_assert_uint_eq(r.counters.lane_instructions, 64 * 14);
  tf_sim_report_free(&r);
  free(buf);
}
END_TEST

/* vprintf of several threads, in order, with the conversions; and a failing assertion. */
static void collect(void *user, const char *text, size_t length) {
  strncat(user, text, length);
}
START_TEST(printf_output) {
  static const char ptx[] = HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                                 ".global .align 1 .b8 fmt[] = {37, 100, 32, 37, 53, 46, 50, 102, 32, 37, 115, 32, 37, "
                                 "108, 108, 120, 37, 37, 10, 0};\n"
                                 ".global .align 1 .b8 str[] = {104, 105, 0};\n.visible .entry k(.param .u64 p)\n{ "
                                 ".local .align 8 .b8 l[32]; .reg .b32 %r<4>;"
                                 " .reg .b64 %rd<9>; mov.u32 %r1, %tid.x; mov.u64 %rd1, l; st.local.u32 [%rd1], %r1; "
                                 "st.local.f64 [%rd1+8], 0d400A000000000000;\n"
                                 "mov.u64 %rd2, str; st.local.u64 [%rd1+16], %rd2; st.local.u64 [%rd1+24], "
                                 "0xABCDEF0123456789; cvta.local.u64 %rd3, %rd1;\n"
                                 "mov.u64 %rd4, fmt; { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], "
                                 "%rd4; st.param.b64 [b], %rd3;"
                                 " call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; } ret; }\n";
  char text[512] = "";
  tf_sim_options o = {.print = collect, .user = text};
  tf_sim_device *device;
  tf_sim_module *module;
  char message[256] = "";
  uint64_t p = 0;
  ck_assert_int_eq(tf_sim_device_create("sm_90", &o, &device), TF_OK);
  ck_assert_msg(tf_sim_module_load(device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s", message);
  tf_sim_launch_config c = {.grid = {1, 1, 1}, .block = {2, 1, 1}, .params = &p, .param_bytes = 8};
  ck_assert_int_eq(tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, NULL), TF_OK);
  ck_assert_str_eq(text, "0  3.25 hi abcdef0123456789%\n1  3.25 hi abcdef0123456789%\n");
  tf_sim_device_destroy(device);
}
END_TEST

START_TEST(refused_launches) {
  static const char ptx[] = HEAD ".visible .entry k(.param .u64 p) .maxntid 128, 1, 1 { ret; }\n";
  static const struct {
    uint32_t grid[3], block[3];
    uint64_t shared, params;
  } bad[] = {
      {{0, 1, 1}, {1, 1, 1}, 0, 8},     {{1, 1, 1}, {0, 1, 1}, 0, 8},    {{1, 1, 1}, {129, 1, 1}, 0, 8},
      {{1, 65536, 1}, {1, 1, 1}, 0, 8}, {{1, 1, 1}, {1, 1, 65}, 0, 8},   {{1, 1, 1}, {1, 1, 1}, 232449, 8},
      {{1, 1, 1}, {1, 1, 1}, 0, 4},     {{1, 1, 1}, {1025, 1, 1}, 0, 8}, {{1, 1, 1}, {1, 1, 1}, UINT64_MAX, 8},
  };
  tf_sim_device *device;
  tf_sim_module *module;
  uint64_t p = 0;
  char message[256] = "";
  ck_assert_int_eq(tf_sim_device_create("sm_90", NULL, &device), TF_OK);
  ck_assert_int_eq(tf_sim_module_load(device, ptx, strlen(ptx), NULL, 0, &module), TF_OK);
  tf_sim_launch_config c = {.dynamic_shared = bad[_i].shared, .params = &p, .param_bytes = bad[_i].params};
  memcpy(c.grid, bad[_i].grid, sizeof c.grid);
  memcpy(c.block, bad[_i].block, sizeof c.block);
  ck_assert_int_eq(tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, NULL), TF_LAUNCH);
  ck_assert_str_ne(message, "");
  c = (tf_sim_launch_config){
      .grid = {1, 1, 1}, .block = {128, 1, 1}, .dynamic_shared = 232448, .params = &p, .param_bytes = 8};
  ck_assert_int_eq(tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, NULL), TF_OK);
  tf_sim_device_destroy(device);
}
END_TEST

int main(void) {
  enum { SEEDS = sizeof seeds / sizeof *seeds };
  TCase *c = tcase_create("executor");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, divergent_loops, 0, SEEDS);
  tcase_add_loop_test(c, spin_lock_between_lanes, 0, SEEDS);
  tcase_add_loop_test(c, flag_between_lanes, 0, SEEDS);
  tcase_add_loop_test(c, recursion, 0, SEEDS);
  tcase_add_loop_test(c, indirect_calls, 0, SEEDS);
  tcase_add_loop_test(c, indexed_branch, 0, SEEDS);
  tcase_add_loop_test(c, barriers, 0, SEEDS);
  tcase_add_loop_test(c, named_barriers, 0, SEEDS);
  tcase_add_loop_test(c, grid_barrier, 0, SEEDS);
  tcase_add_loop_test(c, warp_collectives, 0, SEEDS);
  tcase_add_loop_test(c, finds_faults, 0, sizeof faults / sizeof *faults);
  tcase_add_test(c, source_lines);
  tcase_add_test(c, use_after_free);
  tcase_add_loop_test(c, hangs, 0, 16);
  tcase_add_loop_test(c, patient_loops, 0, 4);
  tcase_add_test(c, short_copies);
  tcase_add_test(c, budget);
  tcase_add_loop_test(c, init_checker, 0, 6);
  tcase_add_test(c, deterministic);
  tcase_add_test(c, counters);
  tcase_add_test(c, printf_output);
  tcase_add_loop_test(c, refused_launches, 0, 9);
  return run_case("Sim executor", c);
}
