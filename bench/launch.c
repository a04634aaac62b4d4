/* What a call costs over the bare driver call that it ends in.
 *
 * One kernel with 10 tensors of 2 axes (a DimVar and 64) that does nothing, called in these ways:
 *
 *   bare      cuLaunchKernel with 11 parameters (10 pointers and the extent)
 *   checked   tf_entry_call with 10 DLTensors: every check of every argument, geometry from formulas, then the same call
 *   prepared  tf_prepared_call_run: the arguments were checked before, the rest is the same
 *
 * the latter two by the manifest's plan and by machine code of the host function. All that once on the simulated device, and
 * once with a launch that returns at once in its place: the simulated launch is so much longer than everything else that its
 * own jitter hides small differences, but it leaves the caches like a driver's launch does. Other work on the machine only
 * ever adds time, so of many rounds, in which all ways take turns, the shortest counts. */
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

typedef struct compiled {
  const char *ptx, *manifest;
  tf_host_code *code;
} compiled;

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

static void compile(tf_context *context, compiled *out) {
  char text[2048];
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  const tf_module *module;
  write_source(text, sizeof text);
  tf_status status = tf_parse(context, "idle.tir", text, strlen(text), &parse, &module);
  if (status == TF_OK) status = tf_emit_ptx(module, &lower, &out->ptx);
  if (status == TF_OK) status = tf_emit_manifest(module, &lower, &out->manifest);
  if (status == TF_OK) status = tf_host_code_create(module, &lower, &out->code);
  const tf_diagnostic *first = status == TF_OK ? NULL : tf_context_diagnostic(context, 0);
  need(status == TF_OK, first ? tf_diagnostic_render(context, first) : "the kernel does not compile");
}

/* ---- The ways ---------------------------------------------------------------------------------------------------- */

enum { PLAN, CODE, PROGRAMS };

typedef struct bench {
  tf_runtime *rt;
  tf_program *programs[PROGRAMS];
  const tf_entry *entries[PROGRAMS];
  tf_prepared_call *prepared[PROGRAMS];
  CUfunction function;
  int64_t shape[2];
  DLTensor tensors[TENSORS];
  tf_argument arguments[TENSORS];
  uint64_t pointers[TENSORS];
  int32_t extent;
  void *parameters[TENSORS + 1];
} bench;

static bool call_bare(const bench *b, int unused) {
  (void)unused;
  return b->rt->driver.cuLaunchKernel(b->function, 1, 1, 1, 32, 1, 1, 0, NULL, (void **)(uintptr_t)b->parameters,
                                      NULL) == CUDA_SUCCESS;
}

static bool call_checked(const bench *b, int program) {
  return tf_entry_call(b->entries[program], NULL, b->arguments, TENSORS) == TF_OK;
}

static bool call_prepared(const bench *b, int program) {
  return tf_prepared_call_run(b->prepared[program], NULL) == TF_OK;
}

static const struct {
  const char *name;
  bool (*call)(const bench *b, int program);
  int program;
} ways[] = {
    {"bare", call_bare, PLAN},
    {"checked", call_checked, PLAN},
    {"prepared", call_prepared, PLAN},
    {"checked, machine code", call_checked, CODE},
    {"prepared, machine code", call_prepared, CODE},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static double time_way(const bench *b, int way) {
  double start = now();
  for (int i = 0; i < CALLS; i++)
    need(ways[way].call(b, ways[way].program), tf_runtime_message(b->rt));
  return (now() - start) / CALLS;
}

static void time_ways(const bench *b, double best[WAYS]) {
  for (int way = 0; way < WAYS; way++)
    best[way] = 1e18;
  for (int i = 0; i < ROUNDS; i++)
    for (int way = 0; way < WAYS; way++) {
      double time = time_way(b, way);
      best[way] = time < best[way] ? time : best[way];
    }
  need(tf_stream_synchronize(b->rt, NULL) == TF_OK, tf_runtime_message(b->rt));
}

/* ---- The launch that returns at once ----------------------------------------------------------------------------- */

static unsigned long launches;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
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

/* The device is opened with one worker, so that no thread has to be woken for a launch, and its context is current, as in a
 * program of bare calls. */
static void open_device(bench *b) {
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_threads = 1;
  need(tf_runtime_create(&b->rt) == TF_OK, "no memory");
  need(tf_device_open(b->rt, "sim", &options) == TF_OK, tf_runtime_message(b->rt));
  need(b->rt->driver.cuCtxSetCurrent(b->rt->context) == CUDA_SUCCESS, "cuCtxSetCurrent");
}

static void load(bench *b, const compiled *c, int program) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = c->ptx;
  source.image_size = strlen(c->ptx);
  source.manifest = c->manifest;
  source.manifest_size = strlen(c->manifest);
  if (program == CODE) source.entries = tf_host_code_entries(c->code, &source.entry_count);
  need(tf_program_load(b->rt, &source, &b->programs[program]) == TF_OK, tf_runtime_message(b->rt));
  need(tf_program_entry(b->programs[program], NULL, &b->entries[program]) == TF_OK, tf_runtime_message(b->rt));
}

static void make_arguments(bench *b) {
  b->shape[0] = b->extent = 7;
  b->shape[1] = 64;
  for (int i = 0; i < TENSORS; i++) {
    void *data = NULL;
    need(tf_device_alloc(b->rt, 7 * 64 * sizeof(float), &data) == TF_OK, tf_runtime_message(b->rt));
    b->pointers[i] = (uint64_t)(uintptr_t)data;
    b->tensors[i] = (DLTensor){
        .data = data, .device = b->rt->info.device, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = b->shape};
    b->arguments[i] = (tf_argument){TF_ARGUMENT_TENSOR, {.tensor = &b->tensors[i]}};
    b->parameters[i] = &b->pointers[i];
  }
  b->parameters[TENSORS] = &b->extent;
}

static void prepare(bench *b, const compiled *c) {
  tf_kernel *kernel;
  open_device(b);
  for (int i = 0; i < PROGRAMS; i++)
    load(b, c, i);
  need(tf_program_kernel(b->programs[PLAN], "idle", &kernel) == TF_OK, tf_runtime_message(b->rt));
  b->function = kernel->function;
  make_arguments(b);
  for (int i = 0; i < PROGRAMS; i++)
    need(tf_entry_prepare(b->entries[i], b->arguments, TENSORS, &b->prepared[i]) == TF_OK, tf_runtime_message(b->rt));
}

static void clean_up(bench *b) {
  for (int i = 0; i < TENSORS; i++)
    tf_device_free(b->rt, b->tensors[i].data);
  for (int i = 0; i < PROGRAMS; i++) {
    tf_prepared_call_destroy(b->prepared[i]);
    tf_program_unload(b->programs[i]);
  }
  tf_runtime_destroy(b->rt);
}

int main(void) {
  static bench b;
  static compiled c;
  double simulated[WAYS], at_once[WAYS];
  tf_context *context;
  need(tf_context_create(&context) == TF_OK, "no memory");
  compile(context, &c);
  prepare(&b, &c);
  time_ways(&b, simulated);
  launch_at_once(&b);
  time_ways(&b, at_once);
  need(launches == (unsigned long)WAYS * ROUNDS * CALLS, "a call did not launch");
  printf("%-24s%24s%24s\n%-24s%12s%12s%12s%12s\n", "", "simulated launch", "launch at once", "call, ns", "",
         "over bare", "", "over bare");
  for (int i = 0; i < WAYS; i++)
    printf("%-24s%12.0f%12.0f%12.0f%12.0f\n", ways[i].name, simulated[i], simulated[i] - simulated[0], at_once[i],
           at_once[i] - at_once[0]);
  clean_up(&b);
  tf_host_code_destroy(c.code);
  tf_context_destroy(context);
  return 0;
}
