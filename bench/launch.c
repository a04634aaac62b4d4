/* What a checked call costs over the bare driver call that it ends in.
 *
 * One kernel with 10 tensors of 2 axes (a DimVar and 64) that does nothing, called in two ways:
 *
 *   bare      cuLaunchKernel with 11 parameters (10 pointers and the extent)
 *   checked   tf_entry_call with 10 DLTensors: every check of every argument, geometry from formulas, then the same call
 *
 * and that once on the simulated device, and once with a launch that returns at once in its place: the simulated launch
 * is so much longer than everything else that its own jitter would hide the difference. Other work on the machine only
 * ever adds time, so of many rounds the shortest counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tilefoundry/TileFoundry.h>

#include "Runtime/RuntimeImpl.h"

enum { TENSORS = 10, ROUNDS = 100, CALLS = 200 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void need(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "launch: %s\n", what);
  exit(1);
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, "%s", more);
}

static void write_source(char *text, size_t size) {
  char parameter[64];
  snprintf(text, size, "S = DimVar('S', 1, 65536)\n\n@prim_func(target=CudaTarget('sm_80'))\ndef idle(");
  for (int i = 0; i < TENSORS; i++) {
    snprintf(parameter, sizeof parameter, "%st%d: Tensor[(S, 64), 'f32']", i ? ", " : "", i);
    append(text, size, parameter);
  }
  append(text, size,
         ") -> None:\n"
         "    with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout(shape=(32,)), ('t',)) as m:\n"
         "        return\n");
}

static void compile(tf_context *context, const char **ptx, const char **manifest) {
  char text[2048];
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  const tf_module *module;
  write_source(text, sizeof text);
  tf_status status = tf_parse(context, "idle.tir", text, strlen(text), &parse, &module);
  if (status == TF_OK) status = tf_emit_ptx(module, &lower, ptx);
  if (status == TF_OK) status = tf_emit_manifest(module, &lower, manifest);
  const tf_diagnostic *first = status == TF_OK ? NULL : tf_context_diagnostic(context, 0);
  need(status == TF_OK, first ? tf_diagnostic_render(context, first) : "the kernel does not compile");
}

/* ---- Both ways --------------------------------------------------------------------------------------------------- */

typedef struct bench {
  tf_runtime *rt;
  tf_program *program;
  const tf_entry *entry;
  tf_kernel *kernel;
  int64_t shape[2];
  DLTensor tensors[TENSORS];
  tf_argument arguments[TENSORS];
  uint64_t pointers[TENSORS];
  int32_t extent;
  void *parameters[TENSORS + 1];
} bench;

/* The context is current, as in a program of bare calls. */
static void prepare(bench *b) {
  tf_device_info info;
  need(b->rt->driver.cuCtxSetCurrent(b->rt->context) == CUDA_SUCCESS, "cuCtxSetCurrent");
  need(tf_device_get_info(b->rt, &info) == TF_OK, "no device");
  b->shape[0] = b->extent = 7;
  b->shape[1] = 64;
  for (int i = 0; i < TENSORS; i++) {
    void *data = NULL;
    need(tf_device_alloc(b->rt, 7 * 64 * sizeof(float), &data) == TF_OK, tf_runtime_message(b->rt));
    b->pointers[i] = (uint64_t)(uintptr_t)data;
    b->tensors[i] =
        (DLTensor){.data = data, .device = info.device, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = b->shape};
    b->arguments[i] = (tf_argument){TF_ARGUMENT_TENSOR, {.tensor = &b->tensors[i]}};
    b->parameters[i] = &b->pointers[i];
  }
  b->parameters[TENSORS] = &b->extent;
}

static double time_bare(bench *b) {
  double start = now();
  for (int i = 0; i < CALLS; i++)
    need(b->rt->driver.cuLaunchKernel(b->kernel->function, 1, 1, 1, 32, 1, 1, 0, NULL, b->parameters, NULL) ==
             CUDA_SUCCESS,
         "cuLaunchKernel");
  return (now() - start) / CALLS;
}

static double time_checked(bench *b) {
  double start = now();
  for (int i = 0; i < CALLS; i++)
    need(tf_entry_call(b->entry, NULL, b->arguments, TENSORS) == TF_OK, tf_runtime_message(b->rt));
  return (now() - start) / CALLS;
}

static void report(bench *b, const char *what) {
  double bare = 1e18, checked = 1e18;
  for (int i = 0; i < ROUNDS; i++) {
    double x = time_bare(b), y = time_checked(b);
    bare = x < bare ? x : bare;
    checked = y < checked ? y : checked;
  }
  need(tf_stream_synchronize(b->rt, NULL) == TF_OK, tf_runtime_message(b->rt));
  printf("%-20s bare %6.0f ns, checked %6.0f ns, over it %5.0f ns\n", what, bare, checked, checked - bare);
}

/* ---- The launch that returns at once ----------------------------------------------------------------------------- */

static unsigned long launches;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                                     \
  static inline CUresult at_once_##member params {                                                                     \
    launches++;                                                                                                        \
    return CUDA_SUCCESS;                                                                                               \
  }
#include "Runtime/DriverAPI.def"
#pragma GCC diagnostic pop

static void launch_at_once(bench *b) {
  b->rt->driver.cuLaunchKernel = at_once_cuLaunchKernel;
  b->rt->driver.cuLaunchKernelEx = at_once_cuLaunchKernelEx;
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

/* The device is opened with one worker, so that no thread has to be woken for a launch. */
static double load(bench *b, const char *ptx, const char *manifest) {
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_threads = 1;
  tf_program_source program = TF_PROGRAM_SOURCE_INIT;
  program.image = ptx;
  program.image_size = strlen(ptx);
  program.manifest = manifest;
  program.manifest_size = strlen(manifest);
  need(tf_runtime_create(&b->rt) == TF_OK, "no memory");
  need(tf_device_open(b->rt, "sim", &options) == TF_OK, tf_runtime_message(b->rt));
  double start = now();
  need(tf_program_load(b->rt, &program, &b->program) == TF_OK, tf_runtime_message(b->rt));
  double loaded = now() - start;
  need(tf_program_entry(b->program, NULL, &b->entry) == TF_OK, tf_runtime_message(b->rt));
  need(tf_program_kernel(b->program, "idle", &b->kernel) == TF_OK, tf_runtime_message(b->rt));
  prepare(b);
  return loaded;
}

int main(void) {
  static bench b;
  tf_context *context;
  const char *ptx, *manifest;
  need(tf_context_create(&context) == TF_OK, "no memory");
  compile(context, &ptx, &manifest);
  double loaded = load(&b, ptx, manifest), start = now();
  need(tf_entry_call(b.entry, NULL, b.arguments, TENSORS) == TF_OK, tf_runtime_message(b.rt));
  double first = now() - start;
  printf("load %.2f ms, first call %.2f ms\n", loaded / 1e6, first / 1e6);
  report(&b, "simulated launch:");
  launch_at_once(&b);
  report(&b, "launch at once:");
  need(launches == 2ul * ROUNDS * CALLS, "a call did not launch");
  for (int i = 0; i < TENSORS; i++)
    tf_device_free(b.rt, b.tensors[i].data);
  tf_program_unload(b.program);
  tf_runtime_destroy(b.rt);
  tf_context_destroy(context);
  return 0;
}
