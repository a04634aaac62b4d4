/* Adversarial launches: what the ISA leaves open is used against the program. Each case also runs plainly, where the kind
 * answer comes out, so that the difference is the mode's. */
#include "Harness.h"
#include "Sim/Sim.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1024 };

#define HEAD                                                                                                           \
  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{ .reg .pred %p<9>; .reg .b32 "    \
  "%r<19>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n.shared .align 16 .b8 s[256]; .shared .align 8 .b64 m; ld.param.u64 "   \
  "%rd0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1;\n"

typedef struct setup {
  bool adversarial;
  uint64_t seed;
  unsigned grid, block, checks;
} setup;

/* Runs the body on a buffer of WORDS words: written before if `fill`, else as the device gives it. */
static void run(setup s, const char *body, uint32_t *words, bool fill) {
  char ptx[4096], message[512] = "";
  tf_sim_options o = {.adversarial = s.adversarial, .seed = s.seed, .budget = 1000000, .checks = s.checks};
  tf_sim_device *device;
  tf_sim_module *module;
  uint64_t address;
  (void)snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", HEAD, body);
  ck_assert_int_eq(tf_sim_device_create("sm_90", &o, &device), TF_OK);
  ck_assert_msg(tf_sim_module_load(device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s", message);
  ck_assert_int_eq(tf_sim_alloc(device, 4 * WORDS, &address), TF_OK);
  if (fill) ck_assert_int_eq(tf_sim_write(device, address, words, 4 * WORDS), TF_OK);
  tf_sim_launch_config c = {
      .grid = {s.grid, 1, 1}, .block = {s.block, 1, 1}, .params = &address, .param_bytes = sizeof address};
  tf_status status = tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, NULL);
  ck_assert_msg(status == TF_OK, "%s", message);
  ck_assert_int_eq(tf_sim_read(device, words, address, 4 * WORDS), TF_OK);
  tf_sim_device_destroy(device);
}

static void number(uint32_t *words) {
  for (uint32_t i = 0; i < WORDS; i++)
    words[i] = 1000 + 7 * i;
}

/* What a thread reads of its copy before and after the wait. */
START_TEST(copies_land_late) {
  static const char body[] = "cp.async.ca.shared.global [s], [%rd0], 4; cp.async.commit_group;\n"
                             "ld.shared.u32 %r1, [s]; cp.async.wait_group 0; ld.shared.u32 %r2, [s];\n"
                             "st.global.u32 [%rd0+16], %r1; st.global.u32 [%rd0+20], %r2;";
  for (int adversarial = 0; adversarial < 2; adversarial++) {
    uint32_t w[WORDS];
    number(w);
    run((setup){.adversarial = adversarial, .grid = 1, .block = 1}, body, w, true);
    ck_assert_int_eq(w[4] == 1000, !adversarial);
    ck_assert_uint_eq(w[5], 1000);
  }
}
END_TEST

/* The source is read when the copy lands: a store to it before the wait is a race that shows. */
START_TEST(sources_are_read_late) {
  static const char body[] = "cp.async.ca.shared.global [s], [%rd0], 4; st.global.u32 [%rd0], 5;\n"
                             "cp.async.wait_all; ld.shared.u32 %r2, [s]; st.global.u32 [%rd0+20], %r2;";
  for (int adversarial = 0; adversarial < 2; adversarial++) {
    uint32_t w[WORDS];
    number(w);
    run((setup){.adversarial = adversarial, .grid = 1, .block = 1}, body, w, true);
    ck_assert_uint_eq(w[5], adversarial ? 5 : 1000);
  }
}
END_TEST

/* A phase that a bulk copy completes does not end before somebody has waited in vain, and then the bytes are there. */
START_TEST(phases_are_held_back) {
  static const char body[] =
      "mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 _, [m], 64;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], 64, [m]; mov.u32 %r5, 0;\n"
      "$w: mbarrier.try_wait.parity.shared.b64 %p1, [m], 0; add.u32 %r5, %r5, 1; @!%p1 bra $w;\n"
      "ld.shared.u32 %r2, [s+60]; st.global.u32 [%rd0+256], %r5; st.global.u32 [%rd0+260], %r2;";
  for (int adversarial = 0; adversarial < 2; adversarial++) {
    uint32_t w[WORDS];
    number(w);
    run((setup){.adversarial = adversarial, .grid = 1, .block = 1}, body, w, true);
    ck_assert_int_eq(w[64] > 1, adversarial);
    ck_assert_uint_eq(w[65], 1000 + 7 * 15);
  }
}
END_TEST

/* Variables are not fresh memory: what their initialisers leave out is zero. */
START_TEST(variables_are_zero) {
  static const char body[] = ".const .align 4 .b16 c[4] = {7, 8}; .global .align 4 .b32 g[2];\n"
                             "ld.const.u32 %r1, [c]; ld.const.u32 %r2, [c+4]; ld.global.u32 %r3, [g+4];\n"
                             "st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+4], %r2; st.global.u32 [%rd0+8], %r3;";
  for (int adversarial = 0; adversarial < 2; adversarial++) {
    uint32_t w[WORDS];
    number(w);
    run((setup){.adversarial = adversarial, .grid = 1, .block = 1}, body, w, true);
    ck_assert_uint_eq(w[0], 8 << 16 | 7);
    ck_assert_uint_eq(w[1], 0);
    ck_assert_uint_eq(w[2], 0);
  }
}
END_TEST

START_TEST(fresh_memory_is_noise) {
  static const char body[] = "ld.shared.u32 %r1, [s]; st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+4], %r7;";
  uint32_t plain[WORDS], first[WORDS], again[WORDS], other[WORDS];
  run((setup){.grid = 1, .block = 1}, body, plain, false);
  run((setup){.adversarial = true, .seed = 1, .grid = 1, .block = 1}, body, first, false);
  run((setup){.adversarial = true, .seed = 1, .grid = 1, .block = 1}, body, again, false);
  run((setup){.adversarial = true, .seed = 2, .grid = 1, .block = 1}, body, other, false);
  ck_assert(plain[0] == 0 && plain[1] == 0 && plain[100] == 0);
  ck_assert(first[0] != 0 && first[1] != 0 && first[100] != 0);
  ck_assert_mem_eq(first, again, sizeof first);
  ck_assert(first[0] != other[0] && first[1] != other[1]);
}
END_TEST

/* CTA 0 writes data and then a flag, and ends; CTA 1 waits for the flag and reads the data. */
static uint32_t data_behind_flag(bool adversarial, const char *fence, const char *flag) {
  char body[1024];
  uint32_t w[WORDS];
  number(w);
  (void)snprintf(
      body, sizeof body,
      "setp.ne.u32 %%p1, %%r9, 0; @%%p1 bra $c; st.global.u32 [%%rd0+512], 77; %s %s.global.u32 [%%rd0], 1;\n"
      "bra $e; $c: ld.acquire.gpu.global.u32 %%r1, [%%rd0]; setp.ne.u32 %%p2, %%r1, 1; @%%p2 bra $c;\n"
      "ld.global.u32 %%r2, [%%rd0+512]; st.global.u32 [%%rd0+256], %%r2; $e:",
      fence, flag);
  run((setup){.adversarial = adversarial, .grid = 2, .block = 1}, body, w, true);
  ck_assert_uint_eq(w[128], 77); /* after the launch everything is there */
  return w[64];
}

START_TEST(stores_need_a_release) {
  ck_assert_uint_eq(data_behind_flag(false, "", "st.relaxed.gpu"), 77);
  ck_assert_uint_eq(data_behind_flag(true, "", "st.relaxed.gpu"), 1000 + 7 * 128);
  ck_assert_uint_eq(data_behind_flag(true, "", "st.volatile"), 1000 + 7 * 128);
  ck_assert_uint_eq(data_behind_flag(true, "membar.cta;", "st.relaxed.gpu"), 1000 + 7 * 128);
  ck_assert_uint_eq(data_behind_flag(true, "membar.gl;", "st.relaxed.gpu"), 77);
  ck_assert_uint_eq(data_behind_flag(true, "fence.acq_rel.gpu;", "st.volatile"), 77);
  ck_assert_uint_eq(data_behind_flag(true, "", "st.release.gpu"), 77);
}
END_TEST

/* A CTA sees its own stores in program order, by whatever kind of access. */
START_TEST(own_stores_are_seen) {
  static const char body[] =
      "st.global.u32 [%rd0], 1; ld.volatile.global.u32 %r1, [%rd0]; st.volatile.global.u32 [%rd0], 2;\n"
      "ld.global.u32 %r2, [%rd0]; atom.global.add.u32 %r3, [%rd0], 1; ld.global.u32 %r4, [%rd0];\n"
      "st.global.u8 [%rd0+1], 9; ld.global.u32 %r5, [%rd0]; st.global.v4.u32 [%rd0+16], {%r1,%r2,%r3,%r4};\n"
      "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd0+16]; st.global.v4.u32 [%rd0+32], {%r1,%r2,%r3,%r4};\n"
      "st.global.u32 [%rd0+48], %r5;";
  uint32_t w[WORDS];
  static const uint32_t want[] = {1, 2, 2, 3, 0x0903};
  number(w);
  run((setup){.adversarial = true, .grid = 1, .block = 1}, body, w, true);
  ck_assert_mem_eq(w + 8, want, sizeof want);
  ck_assert_uint_eq(w[0], 0x0903);
}
END_TEST

typedef struct function {
  const char *text;
  double (*exact)(double x);
  double relative, absolute; /* documented */
} function;
static double reciprocal(double x) {
  return 1 / x;
}
static double reciprocal_root(double x) {
  return 1 / sqrt(x);
}
static double self_quotient(double x) {
  return x / (double)0x1.b6db6ep+0f;
}
static const function functions[] = {
    {"ex2.approx.f32 %f2, %f1;", exp2, 0x1p-22, 0},
    {"lg2.approx.f32 %f2, %f1;", log2, 0x1p-22, 0x1p-22},
    {"sin.approx.f32 %f2, %f1;", sin, 0, 0x1p-20},
    {"cos.approx.f32 %f2, %f1;", cos, 0, 0x1p-20},
    {"tanh.approx.f32 %f2, %f1;", tanh, 0x1p-11, 0},
    {"rsqrt.approx.f32 %f2, %f1;", reciprocal_root, 0x1.12p-23, 0}, /* 2^-22.9 */
    {"rcp.approx.f32 %f2, %f1;", reciprocal, 0x1p-23, 0},
    {"sqrt.approx.f32 %f2, %f1;", sqrt, 0x1p-23, 0},
    {"div.approx.f32 %f2, %f1, 0f3FDB6DB7;", self_quotient, 0x1p-22, 0},
    {"div.full.f32 %f2, %f1, 0f3FDB6DB7;", self_quotient, 0x1p-22, 0},
};

START_TEST(approximations_err_within_bounds) {
  const function *f = &functions[_i];
  char body[512];
  float x[WORDS], plain[WORDS], hard[WORDS], other[WORDS];
  for (int i = 0; i < WORDS; i++)
    x[i] = 0.25f + (float)i * 0x1.45p-9f;
  (void)snprintf(body, sizeof body, "ld.global.f32 %%f1, [%%rd1]; %s st.global.f32 [%%rd1], %%f2;", f->text);
  memcpy(plain, x, sizeof x), memcpy(hard, x, sizeof x), memcpy(other, x, sizeof x);
  run((setup){.grid = 1, .block = WORDS}, body, (uint32_t *)(void *)plain, true);
  run((setup){.adversarial = true, .seed = 1, .grid = 1, .block = WORDS}, body, (uint32_t *)(void *)hard, true);
  run((setup){.adversarial = true, .seed = 2, .grid = 1, .block = WORDS}, body, (uint32_t *)(void *)other, true);
  int moved = 0, seeds_differ = 0;
  for (int i = 0; i < WORDS; i++) {
    double want = f->exact((double)x[i]), bound = f->relative * fabs(want) + f->absolute;
    ck_assert_msg(fabs((double)hard[i] - want) <= bound, "%s of %a: %a, exactly %a", f->text, (double)x[i],
                  (double)hard[i], want);
    moved += hard[i] != plain[i];
    seeds_differ += hard[i] != other[i];
  }
  ck_assert_msg(moved > WORDS / 8 && seeds_differ > WORDS / 8, "%s: %d moved, %d by seed", f->text, moved,
                seeds_differ);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("adversary");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, copies_land_late);
  tcase_add_test(c, sources_are_read_late);
  tcase_add_test(c, phases_are_held_back);
  tcase_add_test(c, variables_are_zero);
  tcase_add_test(c, fresh_memory_is_noise);
  tcase_add_test(c, stores_need_a_release);
  tcase_add_test(c, own_stores_are_seen);
  tcase_add_loop_test(c, approximations_err_within_bounds, 0, sizeof functions / sizeof *functions);
  return run_case("Sim adversary", c);
}
