/* tf_device_open: which device a spec means. "auto" tries the driver and, whatever is wrong with it, falls back to the
 * simulator, remembering why; an explicit "cuda" never falls back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Runtime/Capture.h"
#include "Runtime/SimDriver.h"
#include "Support/Options.h"

#define DEFAULT_TARGET "sm_80"

/* ---- The simulated device ---------------------------------------------------------------------------------------- */

typedef struct checker_name {
  const char *name;
  unsigned bits;
} checker_name;

static const checker_name checkers[] = {{"none", 0},
                                        {"all", TF_SIM_CHECK_ALL},
                                        {"mem", TF_SIM_CHECK_MEM},
                                        {"init", TF_SIM_CHECK_INIT},
                                        {"race", TF_SIM_CHECK_RACE},
                                        {"sync", TF_SIM_CHECK_SYNC},
                                        {"hang", 0}}; /* always on, like mem */

/* A comma-separated list of checkers. */
static bool parse_checks(const char *text, unsigned *out) {
  *out = 0;
  while (text) {
    size_t length = strcspn(text, ","), i = 0, count = sizeof checkers / sizeof checkers[0];
    while (i < count && !(strlen(checkers[i].name) == length && memcmp(checkers[i].name, text, length) == 0))
      i++;
    if (i == count) return false;
    *out |= checkers[i].bits;
    text = text[length] ? text + length + 1 : NULL;
  }
  return true;
}

/* The smallest profile that runs PTX for the target: the very architecture for a target with a suffix, else any that is
 * not older. Null if there is none. */
static const tf_sim_profile *profile_for(const char *target) {
  char *suffix;
  unsigned long sm = strncmp(target, "sm_", 3) == 0 ? strtoul(target + 3, &suffix, 10) : 0;
  const tf_sim_profile *best = NULL, *p;
  for (unsigned i = 0; sm && (p = tf_sim_profile_at(i)); i++) {
    bool runs = *suffix ? p->sm == sm : p->sm >= sm;
    if (runs && (!best || p->sm < best->sm)) best = p;
  }
  return best;
}

static tf_status no_profile(tf_runtime *rt, const char *what, const char *name) {
  char known[256] = "";
  const tf_sim_profile *p;
  for (unsigned i = 0, used = 0; (p = tf_sim_profile_at(i)) && used < sizeof known; i++)
    used += (unsigned)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", p->name);
  return tf_runtime_fail(rt, TF_UNSUPPORTED, "no simulated device %s %s; there are %s", what, name, known);
}

static tf_status open_sim(tf_runtime *rt, const char *profile, const tf_device_options *options) {
  const char *target = options->target ? options->target : DEFAULT_TARGET;
  tf_sim_options sim = {.counters = options->sim_counters,
                        .threads = options->sim_threads,
                        .seed = options->sim_seed,
                        .adversarial = options->sim_adversarial,
                        .budget = options->sim_budget,
                        .cancel = options->sim_cancel};
  if (!parse_checks(options->sim_checks, &sim.checks))
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT,
                           "'%s' is no list of checkers; there are mem, init, race, sync, hang, all, none",
                           options->sim_checks);
  const tf_sim_profile *found = profile ? tf_sim_profile_find(profile) : profile_for(target);
  if (!found) return no_profile(rt, profile ? "is called" : "runs PTX for", profile ? profile : target);
  tf_driver table;
  tf_status status = tf_sim_driver_open(found->name, &sim, &table);
  if (status != TF_OK) return tf_runtime_fail(rt, status, "the simulated device %s cannot be opened", found->name);
  char message[256];
  status = tf_sim_driver_fail_calls(&table, options->sim_fail, message, sizeof message);
  if (status != TF_OK) {
    tf_driver_close(&table);
    return tf_runtime_fail(rt, status, "calls that fail: %s", message);
  }
  return tf_device_attach(rt, &table, 0);
}

/* ---- The real device --------------------------------------------------------------------------------------------- */

static tf_status open_cuda(tf_runtime *rt, int ordinal) {
  tf_driver table;
  char message[256];
  tf_status status = tf_driver_open(NULL, &table, message, sizeof message);
  return status == TF_OK ? tf_device_attach(rt, &table, ordinal) : tf_runtime_fail(rt, status, "%s", message);
}

static tf_status open_auto(tf_runtime *rt, const tf_device_options *options) {
  if (open_cuda(rt, -1) == TF_OK) return TF_OK;
  char reason[sizeof rt->note];
  snprintf(reason, sizeof reason, "%s", tf_runtime_message(rt));
  tf_runtime_clear_error(rt);
  tf_status status = open_sim(rt, NULL, options);
  if (status != TF_OK) return status;
  snprintf(rt->note, sizeof rt->note, "%.200s; using the simulated device sm_%u", reason, rt->info.compute);
  rt->info.fallback_note = rt->note;
  return TF_OK;
}

static tf_status open_spec(tf_runtime *rt, const char *spec, const tf_device_options *options) {
  if (strcmp(spec, "auto") == 0) return open_auto(rt, options);
  if (strcmp(spec, "cuda") == 0) return open_cuda(rt, -1);
  if (strcmp(spec, "sim") == 0) return open_sim(rt, NULL, options);
  if (strncmp(spec, "sim:", 4) == 0) return open_sim(rt, spec + 4, options);
  char *end = NULL;
  long ordinal = strncmp(spec, "cuda:", 5) == 0 && spec[5] >= '0' && spec[5] <= '9' ? strtol(spec + 5, &end, 10) : -1;
  if (ordinal < 0 || ordinal > INT32_MAX || *end)
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "'%s' is no device; there are auto, cuda, cuda:N, sim, sim:sm_N",
                           spec);
  return open_cuda(rt, (int)ordinal);
}

tf_status tf_device_open(tf_runtime *runtime, const char *spec, const tf_device_options *options) {
  tf_device_options known = TF_DEVICE_OPTIONS_INIT;
  if (!runtime || !spec) return TF_INVALID_ARGUMENT;
  if (runtime->open) return tf_runtime_fail(runtime, TF_INVALID_ARGUMENT, "a device is open already");
  if (!tf_options_read(&known, sizeof known, options))
    return tf_runtime_fail(runtime, TF_INVALID_ARGUMENT,
                           "device options that were not made with TF_DEVICE_OPTIONS_INIT");
  return open_spec(runtime, spec, &known);
}

tf_status tf_device_counters(tf_runtime *runtime, bool json, char **out) {
  if (!runtime || !out) return TF_INVALID_ARGUMENT;
  if (!runtime->open || !runtime->driver.is_sim)
    return tf_runtime_fail(runtime, TF_UNSUPPORTED, "only the simulated device has counters");
  tf_status status = tf_sim_driver_counters(&runtime->driver, json, out);
  return status == TF_OK ? TF_OK : tf_runtime_fail(runtime, status, "the simulated device was opened without counters");
}

void tf_string_free(char *text) {
  free(text);
}

tf_status tf_device_poison(tf_runtime *runtime, void *pointer, size_t bytes) {
  if (!runtime || (bytes && !pointer)) return TF_INVALID_ARGUMENT;
  if (!bytes) return TF_OK;
  bool pushed;
  CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK && runtime->driver.is_sim) {
    status = tf_sim_driver_poison(&runtime->driver, address, bytes);
    if (status != TF_OK) status = tf_runtime_fail(runtime, status, "the memory to be poisoned is not the device's");
  } else if (status == TF_OK) {
    status = tf_capture_refuse_wait(runtime, NULL, "tf_device_poison");
    if (status == TF_OK) status = TF_CALL(runtime, cuMemsetD8Async, address, 0xff, bytes, NULL);
    if (status == TF_OK) status = TF_CALL(runtime, cuStreamSynchronize, NULL);
  }
  return tf_context_leave(runtime, pushed, status);
}
