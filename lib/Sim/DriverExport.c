/* libtfsim.so: the driver's symbols, for programs that were built against the CUDA Driver API. Put it in libcuda.so.1's
 * place (a link of that name on LD_LIBRARY_PATH, or LD_PRELOAD) and they run on the simulated device unchanged.
 *
 * The environment stands in for what the API has no words for:
 *   TF_SIM_DEVICE    profile, sm_90 if unset          TF_SIM_SEED     schedule, 0 if unset
 *   TF_SIM_CHECKS    list of mem,init,race,sync,all   TF_SIM_LOG      file that receives the accounts of faults,
 *                                                                     - for standard error; none if unset */
#include "Sim/DriverState.h"

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

static void open_table(void) {
  const char *profile = getenv("TF_SIM_DEVICE"), *seed = getenv("TF_SIM_SEED");
  tf_sim_options o = {.checks = parse_checks(getenv("TF_SIM_CHECKS")), .seed = seed ? strtoull(seed, NULL, 0) : 0};
  table.ready = tf_sim_driver_open(profile ? profile : "sm_90", &o, &table.driver) == TF_OK;
}

static void log_fault(void) {
  const char *path = getenv("TF_SIM_LOG");
  char account[8192];
  if (!path || table.driver.take_fault(&table.driver, account, sizeof account) == TF_OK) return;
  FILE *f = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
  if (!f) return;
  (void)fprintf(f, "%s\n", account);
  if (f != stderr) (void)fclose(f);
}

static const tf_driver *ready(void) {
  (void)pthread_once(&table.once, open_table);
  return table.ready ? &table.driver : NULL;
}

static CUresult done(CUresult result) {
  if (result >= CUDA_ERROR_ILLEGAL_ADDRESS && result < CUDA_ERROR_NOT_PERMITTED) log_fault();
  return result;
}

#define TF_DRIVER_FN(member, symbol, params, args)                                                                     \
  TF_API CUresult symbol params;                                                                                       \
  CUresult symbol params {                                                                                             \
    const tf_driver *driver = ready();                                                                                 \
    return driver ? done(driver->member args) : CUDA_ERROR_NO_DEVICE;                                                  \
  }
#include "Runtime/DriverAPI.def"
