/* What it takes from text to the first call: compiled (cold), and from the disk cache (warm).
 *
 *   parse | verify | executable (key, compile or read, link the host code) | load (manifest, module, kernels) | call
 *
 * on the simulated device, whose own part, everything inside of the driver's functions, is shown apart. The kernels are an empty
 * one and kernels/matmul.tir; of the latter the launch is left out, so that nothing is simulated. Cold and warm are the first
 * thing that fresh processes do, which read the libraries' pages and start LLVM in that time; warm is measured once more in a
 * process that has compiled before. Other work on the machine only ever adds time, so of many rounds the shortest counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tilefoundry/TileFoundry.h>

#include "Runtime/RuntimeImpl.h"

enum { ROUNDS = 40, PROCESSES = 10 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void need(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "first-call: %s\n", what);
  exit(1);
}

/* ---- The driver's part ------------------------------------------------------------------------------------------- */

static tf_driver real;
static double in_driver;
static bool launches; /* else they return at once */

#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  static inline CUresult timed_##member params {                                                                       \
    double start_ = now();                                                                                             \
    bool skipped_ = !launches && strncmp(#member, "cuLaunchKernel", 14) == 0;                                          \
    CUresult result_ = skipped_ ? CUDA_SUCCESS : real.member args;                                                     \
    in_driver += now() - start_;                                                                                       \
    return result_;                                                                                                    \
  }
#include "Runtime/DriverAPI.def"

static void time_driver(tf_runtime *rt) {
  real = rt->driver;
#define TF_DRIVER_FN(member, symbol, name, since, params, args) rt->driver.member = timed_##member;
#include "Runtime/DriverAPI.def"
}

/* ---- One start --------------------------------------------------------------------------------------------------- */

typedef struct times {
  double own, parse, verify, executable, load, call, driver;
} times;

static void note_pass(void *user, const char *pass, double seconds) {
  if (strcmp(pass, "verify") == 0) *(double *)user += seconds * 1e3;
}

typedef struct tensor {
  DLDataType dtype;
  int64_t shape[2];
} tensor;

typedef struct subject {
  const char *name, *kernel;
  char *text;
  size_t size;
  bool launches;
  int tensor_count;
  tensor tensors[3];
} subject;

static tf_executable *make_executable(const subject *s, times *t) {
  tf_context *context;
  const tf_module *module;
  tf_executable *executable;
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  lower.time = note_pass;
  lower.user = &t->verify;
  double start = now();
  need(tf_context_create(&context) == TF_OK, "no memory");
  need(tf_parse(context, s->name, s->text, s->size, &parse, &module) == TF_OK, "the kernel does not parse");
  double parsed = now();
  need(tf_executable_create(module, &lower, NULL, &executable) == TF_OK, "the kernel does not compile");
  double made = now();
  tf_context_destroy(context);
  t->parse = parsed - start + now() - made;
  t->executable = made - parsed - t->verify;
  return executable;
}

static void fill_arguments(tf_runtime *rt, const subject *s, DLTensor *tensors, tf_argument *arguments) {
  for (int i = 0; i < s->tensor_count; i++) {
    tensor *x = (tensor *)(uintptr_t)&s->tensors[i];
    void *data = NULL;
    need(tf_device_alloc(rt, (size_t)(x->shape[0] * x->shape[1]) * x->dtype.bits / 8, &data) == TF_OK, "no memory");
    tensors[i] = (DLTensor){.data = data, .device = {kDLCUDA, 0}, .ndim = 2, .dtype = x->dtype, .shape = x->shape};
    arguments[i] = (tf_argument){TF_ARGUMENT_TENSOR, {.tensor = &tensors[i]}};
  }
}

/* The runtime's part, on an open device. Memory for the arguments is not counted: a program has its arrays in any case. */
static void load_and_call(tf_runtime *rt, const subject *s, const tf_executable *executable, times *t) {
  DLTensor tensors[3];
  tf_argument arguments[3];
  tf_program *program;
  const tf_entry *entry;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  fill_arguments(rt, s, tensors, arguments);
  in_driver = 0;
  double start = now();
  tf_executable_source(executable, &source);
  need(tf_program_load(rt, &source, &program) == TF_OK, tf_runtime_message(rt));
  need(tf_program_entry(program, NULL, &entry) == TF_OK, tf_runtime_message(rt));
  double loaded = now(), loading = in_driver;
  need(tf_entry_call(entry, NULL, arguments, (unsigned)s->tensor_count) == TF_OK, tf_runtime_message(rt));
  double called = now();
  t->load = loaded - start - loading;
  t->call = called - loaded - (in_driver - loading);
  t->driver = in_driver;
  tf_program_unload(program);
  for (int i = 0; i < s->tensor_count; i++)
    tf_device_free(rt, tensors[i].data);
}

static times start_once(const subject *s) {
  times t = {0};
  tf_runtime *rt;
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_threads = 1;
  need(tf_runtime_create(&rt) == TF_OK && tf_device_open(rt, "sim", &options) == TF_OK, "no device");
  time_driver(rt);
  launches = s->launches;
  tf_executable *executable = make_executable(s, &t);
  load_and_call(rt, s, executable, &t);
  t.own = t.parse + t.verify + t.executable + t.load + t.call;
  tf_runtime_destroy(rt);
  tf_executable_destroy(executable);
  return t;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void print_row(const subject *s, const char *what, const times *t) {
  printf("%-22s %-8s %8.2f ms  = parse %5.2f, verify %5.2f, executable %7.2f, load %5.2f, call %5.2f; driver %6.2f\n",
         what, s->kernel, t->own, t->parse, t->verify, t->executable, t->load, t->call, t->driver);
  fflush(stdout);
}

static void keep_shorter(times *best, const times *t) {
  if (best->own == 0 || t->own < best->own) *best = *t;
}

/* The shortest times of processes, which write them as they are. */
static times time_processes(const subject *s, const char *self, const char *how) {
  times best = {0};
  for (int i = 0; i < PROCESSES; i++) {
    int ends[2];
    times t;
    need(pipe(ends) == 0, "no pipe");
    pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execl(self, self, how, s->kernel, (char *)NULL);
      _exit(1);
    }
    close(ends[1]);
    need(child > 0 && read(ends[0], &t, sizeof t) == sizeof t, "a process failed");
    close(ends[0]);
    waitpid(child, NULL, 0);
    keep_shorter(&best, &t);
  }
  return best;
}

static void measure(const subject *s, const char *self) {
  times again = {0}, cold = time_processes(s, self, "cold");
  (void)start_once(s); /* compiles */
  for (int i = 0; i < ROUNDS; i++) {
    times t = start_once(s);
    keep_shorter(&again, &t);
  }
  times warm = time_processes(s, self, "warm");
  print_row(s, "first call cold", &cold);
  print_row(s, "first call warm", &warm);
  print_row(s, "  in an old process", &again);
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

static char empty[] = "@prim_func(target=CudaTarget('sm_80'))\n"
                      "def idle(x: Tensor[(64, 64), 'f32']) -> None:\n"
                      "    with Mesh((Topology('cta', 1), Topology('thread', 32)), Layout(shape=(32,)), ('t',)) as m:\n"
                      "        return\n";

static char *read_file(const char *path, size_t *size) {
  static char text[1 << 16];
  FILE *file = fopen(path, "rb");
  need(file != NULL, path);
  *size = fread(text, 1, sizeof text, file);
  fclose(file);
  return text;
}

/* The cache is a folder of this run, which its processes inherit. */
static void measure_all(const subject *subjects, const char *self) {
  char folder[] = "/tmp/tf-first-call-XXXXXX", command[64];
  need(mkdtemp(folder) != NULL, "no folder for the cache");
  setenv("TF_CACHE", folder, 1);
  for (int i = 0; i < 2; i++)
    measure(&subjects[i], self);
  snprintf(command, sizeof command, "rm -r %s", folder);
  need(system(command) == 0, "the cache's folder stays");
}

int main(int argc, char **argv) {
  DLDataType bf16 = {kDLBfloat, 16, 1}, f32 = {kDLFloat, 32, 1};
  subject subjects[] = {{.name = "idle.tir",
                         .kernel = "idle",
                         .text = empty,
                         .size = sizeof empty - 1,
                         .launches = true,
                         .tensor_count = 1,
                         .tensors = {{f32, {64, 64}}}},
                        {.name = "matmul.tir",
                         .kernel = "matmul",
                         .tensor_count = 3,
                         .tensors = {{bf16, {128, 256}}, {bf16, {256, 128}}, {f32, {128, 128}}}}};
  subjects[1].text = read_file(TF_MATMUL, &subjects[1].size);
  if (argc == 3) {
    if (strcmp(argv[1], "cold") == 0) setenv("TF_CACHE", "off", 1);
    times t = start_once(&subjects[strcmp(argv[2], "matmul") == 0]);
    return fwrite(&t, sizeof t, 1, stdout) != 1;
  }
  measure_all(subjects, argv[0]);
  return 0;
}
