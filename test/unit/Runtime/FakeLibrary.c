/* The fake driver as a libcuda.so.1: all of the driver's symbols under their versioned names, and kernels that run. A
 * launch of a kernel whose name is known here is executed by a C function on the parameters it was given, so a program
 * that talks to it gets real results without any device:
 *
 *   scale(x, a, y, x_shape_0)   y[i] = a * x[i] over x_shape_0 * 512 floats
 *   count(out, n)               out[i] = i over n 32-bit integers
 *   fail()                      the launch succeeds and every later call reports a fault
 */
#include <pthread.h>
#include <string.h>

#include "FakeDriver.h"

static uint64_t param(void **params, int index, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, params[index], bytes);
  return value;
}

static void run_scale(void **params) {
  const float *x = (const float *)(uintptr_t)param(params, 0, 8);
  float *y = (float *)(uintptr_t)param(params, 2, 8), a;
  memcpy(&a, params[1], sizeof a);
  uint64_t n = param(params, 3, 4) * 512;
  for (uint64_t i = 0; i < n; i++)
    y[i] = a * x[i];
}

static void run_count(void **params) {
  int *out = (int *)(uintptr_t)param(params, 0, 8);
  uint64_t n = param(params, 1, 4);
  for (uint64_t i = 0; i < n; i++)
    out[i] = (int)i;
}

static void run_known(const char *name, void **params) {
  if (strcmp(name, "scale") == 0) run_scale(params);
  if (strcmp(name, "count") == 0) run_count(params);
  if (strcmp(name, "fail") == 0) fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tf_driver table;

static void init(void) {
  fake_reset();
  fake.run = run_known;
  table = fake_table();
}

static const tf_driver *driver(void) {
  pthread_once(&once, init);
  return &table;
}

#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  TF_API CUresult symbol params;                                                                                       \
  CUresult symbol params {                                                                                             \
    return driver()->member args;                                                                                      \
  }
#include "Runtime/DriverAPI.def"
