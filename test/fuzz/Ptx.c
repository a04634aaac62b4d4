/* Fuzzed: PTX on the simulated device. Whatever the text, loading it and running its kernels neither crash nor hang. Every
 * kernel of a text that loads is launched with made-up arguments, under a small budget and all checkers. */
#include "Fuzz.h"

#include "Sim/Sim.h"

#include <string.h>

enum { BUFFER = 4096 };

static void launch(tf_sim_device *device, const tf_sim_function *f) {
  unsigned char params[4096];
  uint64_t buffer = 0, offset, bytes;
  tf_sim_function_info info;
  tf_sim_function_info_get(f, &info);
  if (info.param_bytes > sizeof params || tf_sim_alloc(device, BUFFER, &buffer) != TF_OK) return;
  memset(params, 0, sizeof params);
  for (uint32_t i = 0; tf_sim_function_param(f, i, &offset, &bytes); i++) {
    uint64_t value = bytes == 8 ? buffer : 64;
    memcpy(params + offset, &value, bytes < 8 ? bytes : 8);
  }
  tf_sim_launch_config c = {.grid = {2, 1, 1}, .block = {48, 1, 1}, .dynamic_shared = 256, .params = params};
  c.param_bytes = sizeof params;
  tf_sim_report report;
  char message[256];
  (void)tf_sim_launch(f, &c, message, sizeof message, &report);
  tf_sim_report_free(&report);
  (void)tf_sim_free(device, buffer);
}

static fuzz_reach run(const char *text, size_t length) {
  tf_sim_options o = {.checks = TF_SIM_CHECK_ALL, .counters = true, .threads = 1, .budget = 20000};
  tf_sim_device *device;
  tf_sim_module *module;
  char message[512];
  if (tf_sim_device_create("sm_90", &o, &device) != TF_OK) return FUZZ_REFUSED;
  fuzz_reach reach = FUZZ_REFUSED;
  if (tf_sim_module_load(device, text, length, message, sizeof message, &module) == TF_OK) {
    reach = FUZZ_READ;
    for (size_t i = 0; i < 8 && tf_sim_module_entry(module, i); i++)
      launch(device, tf_sim_module_entry(module, i));
    tf_sim_module_unload(module);
  }
  tf_sim_device_destroy(device);
  return reach;
}

static const char *const words[] = {
    "%r1",       "%rd1",   "%f1",      "%p1",  ".u32",       ".s64",       ".f16",
    ".b128",     ".pred",  "0",        "-1",   "0xFFFFFFFF", "0f7F800000", "4294967296",
    "{",         "}",      "[",        "]",    ";",          "@",          ".shared",
    ".param",    ".local", "bar.sync", "call", "ret;",       "bra",        "mov",
    "_",         ".v4",    ".sync",    "atom", "ld",         "st",         "shfl.sync.idx.b32",
    "<1048576>", "$L",     ":",        NULL};

const fuzz_target fuzz_this = {"ptx", run, words, {"refused", "loaded and run"}};
