/* What the checkers remember of memory: its size against the bytes that were touched, and that it tells bytes apart. */
#include "Harness.h"
#include "Sim/Module.h"
#include "Sim/Shadow.h"
#include "Sim/Sim.h"
#include "Sim/Written.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOUCHED = 1 << 20, AT_START = 80 << 10 /* events that are allowed without a page, and the first table */ };

/* Each of 1024 threads walks with steps of 1024 accesses; 32 passes separated by barriers, of which every other reads. */
static const char *const walks[] = {
    "st.global.v4.u32 [%rd2], {%r1,%r2,%r3,%r4}; bar.sync 0; ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd3];",
    "st.global.u32 [%rd2], %r1; bar.sync 0; ld.global.u32 %r1, [%rd3];",
    "st.global.u16 [%rd2], %h1; bar.sync 0; ld.global.u16 %h1, [%rd3];",
    "st.global.u8 [%rd2], %h1; bar.sync 0; ld.global.u8 %h1, [%rd3];",
};
static const unsigned widths[] = {16, 4, 2, 1};

static void walk(unsigned which, uint64_t allocation, tf_sim_report *report, uint64_t *written) {
  char ptx[2048], message[256];
  unsigned width = widths[which];
  tf_sim_options o = {.checks = TF_SIM_CHECK_ALL};
  tf_sim_device *device;
  tf_sim_module *module;
  uint64_t address;
  (void)snprintf(
      ptx, sizeof ptx,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{ .reg .pred %%p; .reg "
      ".b16 %%h<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>;\nld.param.u64 %%rd0, [p]; mov.u32 %%r0, %%tid.x; "
      "mov.u16 %%h1, 1; mov.u32 %%r1, 1; mov.u32 %%r2, 2; mov.u32 %%r3, 3; mov.u32 %%r4, 4;\n"
      "mul.wide.u32 %%rd2, %%r0, %u; add.u64 %%rd2, %%rd0, %%rd2; xor.b32 %%r5, %%r0, 33; mul.wide.u32 %%rd3, "
      "%%r5, %u; add.u64 %%rd3, %%rd0, %%rd3; mov.u32 %%r6, 0;\n$l: %s add.u64 %%rd2, %%rd2, %u; add.u64 %%rd3, "
      "%%rd3, %u; bar.sync 0;\nadd.u32 %%r6, %%r6, 1; setp.lt.u32 %%p, %%r6, %u; @%%p bra $l; ret; }\n",
      width, width, walks[which], 1024 * width, 1024 * width, TOUCHED / (1024 * width));
  ck_assert_int_eq(tf_sim_device_create("sm_90", &o, &device), TF_OK);
  ck_assert_msg(tf_sim_module_load(device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s", message);
  ck_assert_int_eq(tf_sim_alloc(device, allocation, &address), TF_OK);
  tf_sim_launch_config c = {.grid = {1, 1, 1}, .block = {1024, 1, 1}, .params = &address, .param_bytes = 8};
  tf_status status = tf_sim_launch(tf_sim_module_function(module, "k"), &c, message, sizeof message, report);
  ck_assert_msg(status == TF_OK, "%s", message);
  *written = tf_memory_below(&device->memory, address)->written_bytes;
  tf_sim_device_destroy(device);
}

START_TEST(footprint_is_bounded) {
  tf_sim_report r;
  uint64_t written;
  walk((unsigned)_i, TOUCHED, &r, &written);
  ck_assert_uint_eq(written, TOUCHED);
  ck_assert_msg(r.shadow_bytes + written <= 12ull * TOUCHED + AT_START, "accesses of %u bytes: %llu bytes for %d",
                widths[_i], (unsigned long long)(r.shadow_bytes + written), TOUCHED);
  ck_assert_uint_ge(r.shadow_bytes, TOUCHED); /* it did watch */
  tf_sim_report_free(&r);
}
END_TEST

START_TEST(untouched_memory_costs_nothing) {
  tf_sim_report small, large;
  uint64_t written_small, written_large;
  walk(1, TOUCHED, &small, &written_small);
  walk(1, 1ull << 32, &large, &written_large);
  ck_assert_uint_eq(small.shadow_bytes, large.shadow_bytes);
  ck_assert_uint_eq(written_small, written_large);
  tf_sim_report_free(&small);
  tf_sim_report_free(&large);
}
END_TEST

START_TEST(pages_split_and_keep_what_they_know) {
  tf_shadow s = {0};
  tf_shadow_use use = {0};
  tf_shadow_page *p = tf_shadow_at(&s, &use, 7, 4);
  ck_assert_ptr_nonnull(p);
  tf_ref *wide = tf_shadow_cell(p, 7 * TF_SHADOW_PAGE + 48);
  wide[0] = 5 << 5 | 3, wide[1] = 6 << 5, wide[2] = 7 << 5, wide[3] = 1;
  for (unsigned shift = 3; shift + 1 > 0; shift--) {
    p = tf_shadow_at(&s, &use, 7, shift);
    for (unsigned at = 40; at < 72; at++) {
      const tf_ref *c = tf_shadow_cell(p, 7 * TF_SHADOW_PAGE + at);
      bool inside = at >= 48 && at < 64;
      ck_assert_uint_eq(c[0], inside ? 5 << 5 | 3 : 0);
      ck_assert_uint_eq(c[1], inside ? 6 << 5 : 0);
      if (shift) ck_assert_uint_eq(c[2], inside ? 7 << 5 : 0);
    }
  }
  ck_assert_uint_eq(use.pages, 1);
  ck_assert_uint_eq(use.cell_bytes, 8 * TF_SHADOW_PAGE);
  tf_shadow_free(&s, &use);
  ck_assert_uint_eq(use.pages + use.cell_bytes, 0);
}
END_TEST

/* Against one flag per byte, with ranges across pages. */
START_TEST(written_bytes_by_brute_force) {
  enum { BYTES = 20000 };
  static unsigned char flags[2][BYTES];
  tf_alloc a[2] = {{.bytes = BYTES}, {.bytes = BYTES}};
  uint32_t x = 12345;
  memset(flags, 0, sizeof flags);
  ck_assert(tf_written_track(&a[0]) && tf_written_track(&a[1]));
  for (int i = 0; i < 3000; i++) {
    x = x * 1664525u + 1013904223u;
    unsigned at = (x >> 8) % BYTES, n = (x >> 4) % (i % 7 ? 40 : 9000), which = x >> 30 & 1, kind = (x >> 28) & 3;
    if (n > BYTES - at) n = BYTES - at;
    unsigned from = (unsigned)((at * 7u) % (BYTES - n + 1)), source = x >> 27 & 1;
    if (kind == 0) tf_written_clear(&a[which], at, n), memset(flags[which] + at, 0, n);
    if (kind == 1) ck_assert(tf_written_set(&a[which], at, n)), memset(flags[which] + at, 1, n);
    if (kind == 2) {
      tf_written_copy(&a[which], at, &a[source], from, n);
      memmove(flags[which] + at, flags[source] + from, n);
    }
    bool all = !memchr(flags[which] + at, 0, n);
    ck_assert_int_eq(tf_written_all(&a[which], at, n), all);
    if (n) ck_assert_int_eq(tf_written_all(&a[which], at, 1), flags[which][at]);
  }
  tf_written_free(&a[0]);
  tf_written_free(&a[1]);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("shadows");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, footprint_is_bounded, 0, 4);
  tcase_add_test(c, untouched_memory_costs_nothing);
  tcase_add_test(c, pages_split_and_keep_what_they_know);
  tcase_add_test(c, written_bytes_by_brute_force);
  return run_case("Sim shadows", c);
}
