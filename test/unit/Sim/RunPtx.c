/* Running PTX in unit tests. */
#include "RunPtx.h"

#include "Coverage.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MORE_AT = 32 };

static void run_variant(const run_ptx_config *c, bool baseline, const char *ptx, void *bytes, size_t size) {
  tf_sim_device *device;
  tf_sim_module *module;
  tf_sim_report report;
  unsigned char params[256] = {0};
  uint64_t address;
  char message[512] = "";
  tf_sim_options options = {.checks = TF_SIM_CHECK_MEM | c->checks, .baseline = baseline};
  ck_assert_int_eq(tf_sim_device_create(c->profile, &options, &device), TF_OK);
  ck_assert_msg(tf_sim_module_load(device, ptx, strlen(ptx), message, sizeof message, &module) == TF_OK, "%s\n%s",
                message, ptx);
  ck_assert_int_eq(tf_sim_alloc(device, size, &address), TF_OK);
  ck_assert_int_eq(tf_sim_write(device, address, bytes, size), TF_OK);
  memcpy(params, &address, sizeof address);
  if (c->more) memcpy(params + MORE_AT, c->more, c->more_bytes);
  tf_sim_launch_config config = {
      .grid = {c->grid, 1, 1}, .block = {c->block, 1, 1}, .params = params, .param_bytes = MORE_AT + c->more_bytes};
  const tf_sim_function *kernel = tf_sim_module_function(module, "k");
  tf_status status = tf_sim_launch(kernel, &config, message, sizeof message, &report);
  if (!c->finding)
    ck_assert_msg(status == TF_OK, "%s\n%s", report.count ? report.findings[0].text : message, ptx);
  else
    ck_assert_msg(report.count && strcmp(report.findings[0].kind, c->finding) == 0, "%s instead of %s\n%s",
                  report.count ? report.findings[0].text : message, c->finding, ptx);
  coverage_note(module);
  tf_sim_report_free(&report);
  ck_assert_int_eq(tf_sim_read(device, bytes, address, size), TF_OK);
  tf_sim_module_unload(module);
  tf_sim_device_destroy(device);
}

/* With and without the CPU's vector extensions: the same bytes. */
void run_ptx_with(const run_ptx_config *c, const char *ptx, void *bytes, size_t size) {
  void *again = malloc(size);
  ck_assert_ptr_nonnull(again);
  memcpy(again, bytes, size);
  run_variant(c, false, ptx, bytes, size);
  run_variant(c, true, ptx, again, size);
  ck_assert_msg(memcmp(bytes, again, size) == 0, "the variants differ in\n%s", ptx);
  free(again);
}

void run_ptx(const char *profile, const char *ptx, unsigned grid, unsigned block, void *bytes, size_t size) {
  run_ptx_with(&(run_ptx_config){.profile = profile, .grid = grid, .block = block}, ptx, bytes, size);
}

/* Each register is loaded and stored in its own width. */
static unsigned width(const char *type) {
  unsigned bits = 0;
  (void)sscanf(type + 1, "%u", &bits);
  return bits;
}

static void run_lanes_of(const char *head, const char *text, const char *types, uint64_t *x, unsigned count) {
  char ptx[2048], type[4][8] = {"b32", "b32", "b32", "b32"};
  (void)sscanf(types, "%7s %7s %7s %7s", type[0], type[1], type[2], type[3]);
  size_t n = (size_t)snprintf(ptx, sizeof ptx,
                              "%s.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                              ".reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n.reg .%s %%d;\n.reg .%s %%a;\n.reg .%s %%b;\n"
                              ".reg .%s %%c;\nld.param.u64 %%rd0, [p];\nmov.u32 %%r0, %%tid.x;\n"
                              "mov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r0, %%r1, 128, %%r0;\n"
                              "mul.wide.u32 %%rd1, %%r0, 24;\nadd.s64 %%rd1, %%rd0, %%rd1;\n",
                              head, type[0], type[1], type[2], type[3]);
  for (unsigned i = 0; i < 3; i++)
    n += (size_t)snprintf(ptx + n, sizeof ptx - n, "ld.global.b%u %%%c, [%%rd1 + %u];\n", width(type[1 + i]),
                          (char)('a' + i), 8 * i);
  (void)snprintf(ptx + n, sizeof ptx - n, "%s\nst.global.b%u [%%rd1], %%d;\nret;\n}\n", text, width(type[0]));
  ck_assert_uint_eq(count % 128, 0);
  run_ptx("sm_100", ptx, count / 128, 128, x, (size_t)count * 24);
}

void run_lanes(const char *text, const char *types, uint64_t *x, unsigned count) {
  run_lanes_of(".version 8.7\n.target sm_100a\n", text, types, x, count);
}

void run_old_lanes(const char *text, const char *types, uint64_t *x, unsigned count) {
  run_lanes_of(".version 6.3\n.target sm_75\n", text, types, x, count);
}
