/* libtfsim.so: the driver's symbols, for programs that were built against the CUDA Driver API. Put it in libcuda.so.1's
 * place (a link of that name on LD_LIBRARY_PATH, or LD_PRELOAD) and they run on the simulated device unchanged.
 *
 * The environment stands in for what the API has no words for:
 *   TF_SIM_DEVICE    profile, sm_90 if unset          TF_SIM_SEED     schedule, 0 if unset
 *   TF_SIM_CHECKS    list of mem,init,race,sync,hang, TF_SIM_LOG      file that receives the accounts of faults,
 *                    or all                                           - for standard error; none if unset
 *   TF_SIM_FAIL      calls that fail, as the public   TF_SIM_COUNTERS file that receives the counters when the program
 *                    header SimDriver.h says                          ends: JSON if its name ends in .json, else a table
 *   TF_SIM_ADVERSARIAL  1: as unkind as the ISA allows */
#include "Sim/Driver/State.h"
#include "tilefoundry/SimDriver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opened by the first call and never closed: the program may call until its end. */
static struct {
  pthread_once_t once;
  tf_driver driver;
  bool ready;
} table = {.once = PTHREAD_ONCE_INIT};

static unsigned parse_checks(const char *text) {
  static const struct {
    const char *name;
    unsigned bits;
  } names[] = {{"mem", TF_SIM_CHECK_MEM},
               {"init", TF_SIM_CHECK_INIT},
               {"race", TF_SIM_CHECK_RACE},
               {"sync", TF_SIM_CHECK_SYNC},
               {"all", TF_SIM_CHECK_ALL}};
  unsigned checks = 0;
  for (size_t i = 0; text && i < sizeof names / sizeof *names; i++)
    if (strstr(text, names[i].name)) checks |= names[i].bits;
  return checks;
}

static void log_fault(const char *account) {
  const char *path = getenv("TF_SIM_LOG");
  FILE *f = !path ? NULL : strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
  if (!f) return;
  (void)fprintf(f, "%s\n", account);
  if (f != stderr) (void)fclose(f);
}

static void open_table(void) {
  const char *profile = getenv("TF_SIM_DEVICE"), *seed = getenv("TF_SIM_SEED");
  const char *adversarial = getenv("TF_SIM_ADVERSARIAL");
  char message[256];
  tf_sim_options o = {.checks = parse_checks(getenv("TF_SIM_CHECKS")),
                      .seed = seed ? strtoull(seed, NULL, 0) : 0,
                      .counters = getenv("TF_SIM_COUNTERS") != NULL};
  o.adversarial = adversarial && strcmp(adversarial, "1") == 0;
  table.ready = tf_sim_driver_open(profile ? profile : "sm_90", &o, &table.driver) == TF_OK;
  if (!table.ready) return;
  ((tf_sim_state *)table.driver.state)->told = log_fault;
  table.ready = tf_sim_driver_fail_calls(&table.driver, getenv("TF_SIM_FAIL"), message, sizeof message) == TF_OK;
  if (!table.ready) log_fault(message);
}

static void write_counters(void) {
  const char *path = getenv("TF_SIM_COUNTERS"), *end = path ? strrchr(path, '.') : NULL;
  char *text;
  bool json = end && strcmp(end, ".json") == 0;
  if (!path || !table.ready || tf_sim_driver_counters(&table.driver, json, &text) != TF_OK) return;
  FILE *f = fopen(path, "w");
  bool written = f && fputs(text, f) >= 0;
  if (f) written = fclose(f) == 0 && written;
  if (!written) log_fault("the counters cannot be written to the file that TF_SIM_COUNTERS names");
  free(text);
}

__attribute__((destructor)) static void finish(void) {
  if (table.ready) tf_sim_tell_leaks(table.driver.state, NULL);
  write_counters();
}

static const tf_driver *ready(void) {
  (void)pthread_once(&table.once, open_table);
  return table.ready ? &table.driver : NULL;
}

#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  TF_API CUresult symbol params;                                                                                       \
  CUresult symbol params {                                                                                             \
    const tf_driver *driver = ready();                                                                                 \
    return driver ? driver->member args : CUDA_ERROR_NO_DEVICE;                                                        \
  }
#include "Runtime/DriverAPI.def"

#define TF_DRIVER_PT(symbol, suffix) TF_API __typeof__(symbol) symbol##suffix __attribute__((alias(#symbol)));
#define TF_DRIVER_OLD(symbol, name)  TF_API __typeof__(symbol) name __attribute__((alias(#symbol)));
#define TF_DRIVER_OTHER(symbol)                                                                                        \
  TF_API CUresult symbol(void);                                                                                        \
  CUresult symbol(void) {                                                                                              \
    log_fault("the simulated device does not have the driver function " #symbol);                                      \
    return CUDA_ERROR_NOT_SUPPORTED;                                                                                   \
  }
#include "Sim/Driver/ExportNames.def"

int tf_sim_fail_calls(const char *rules) {
  const tf_driver *driver = ready();
  bool set = driver && tf_sim_driver_fail_calls(driver, rules, NULL, 0) == TF_OK;
  return set ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

unsigned long long tf_sim_count_calls(const char *name) {
  const tf_driver *driver = ready();
  return driver ? tf_sim_driver_calls(driver, name) : 0;
}
