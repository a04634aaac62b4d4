/* tf-run: load or compile, open a device, bind arguments, run, show and compare results.
 *
 *   FILE ─▶ source (PTX, manifest) ─▶ program on a device ─▶ entry | kernel | bare kernel
 *                                                               │ arguments: --arg, --dim, --type
 *                                                               ▼
 *                                         run × --repeat ─▶ --out, --print, --expect, --counters
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "Arguments.h"
#include "Compare.h"
#include "Message.h"
#include "Progress.h"
#include "Runtime/RuntimeImpl.h"

#define MAX_BARE_PARAMS 256

typedef struct job {
  const tf_run_options *options;
  tf_run_source source;
  tf_runtime *rt;
  bool simulated;
  tf_program *program;
  const tf_entry *entry; /* or a kernel: */
  tf_kernel *kernel;
  tf_run_params params;
  tf_argument *arguments;
  void **bare; /* values of a bare kernel: pointers to addresses or bits */
  tf_run_ptx_param *ptx_params;
} job;

/* The runtime's message; one that begins with a place in a source, "FILE:12:5: ", keeps it in front. */
static bool failed(const job *s) {
  const char *message = tf_runtime_message(s->rt), *name = s->source.name;
  size_t length = strlen(name);
  unsigned line, column;
  int end = 0;
  bool placed =
      strncmp(message, name, length) == 0 && sscanf(message + length, ":%u:%u: %n", &line, &column, &end) == 2;
  if (!placed || !end) return tf_run_error(name, "%s", message);
  char where[512];
  snprintf(where, sizeof where, "%s:%u:%u", name, line, column);
  return tf_run_error(where, "%s", message + length + (size_t)end);
}

/* ---- Device and program ------------------------------------------------------------------------------------------ */

/* Ctrl-C stops a launch of the simulated device, which then tells where it stood; a second one ends the program. */
static int interrupted;

static void interrupt(int signal) {
  (void)signal;
  __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
}

static bool catch_interrupts(void) {
  struct sigaction action = {.sa_flags = (int)SA_RESETHAND};
  action.sa_handler = interrupt;
  return sigaction(SIGINT, &action, NULL) == 0 || tf_run_error("tf-run", "the handler of Ctrl-C cannot be set");
}

static bool wants_simulator(const tf_run_options *o) {
  return strcmp(o->checks, "none") != 0 || o->counters || o->seed || o->budget || o->adversarial;
}

/* Checkers, counters and seeds exist on the simulated device only, so asking for them chooses it. */
static bool open_device(job *s) {
  const tf_run_options *o = s->options;
  tf_device_options d = TF_DEVICE_OPTIONS_INIT;
  const char *spec = o->device;
  if (strcmp(spec, "auto") == 0 && wants_simulator(o)) spec = "sim";
  if (strncmp(spec, "cuda", 4) == 0 && wants_simulator(o))
    return tf_run_error("tf-run", "--check, --adversarial, --counters, --seed and --budget need the simulated device, not "
                        "--device=%s",
                        spec);
  d.target = *s->source.target ? s->source.target : NULL;
  d.sim_checks = o->checks;
  d.sim_counters = o->counters;
  d.sim_seed = o->seed;
  d.sim_adversarial = o->adversarial;
  d.sim_budget = o->budget;
  d.sim_cancel = &interrupted;
  tf_device_info info;
  if (tf_device_open(s->rt, spec, &d) != TF_OK || tf_device_get_info(s->rt, &info) != TF_OK)
    return tf_run_error("tf-run", "%s", tf_runtime_message(s->rt));
  s->simulated = info.simulated;
  if (info.fallback_note) fprintf(stderr, "tf-run: note: %s\n", info.fallback_note);
  return true;
}

static bool load_program(job *s) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = s->source.name;
  source.image = s->source.ptx;
  source.image_size = s->source.ptx_size;
  source.manifest = s->source.manifest;
  source.manifest_size = s->source.manifest ? strlen(s->source.manifest) : 0;
  source.entries = s->source.entries;
  source.entry_count = s->source.entry_count;
  return tf_program_load(s->rt, &source, &s->program) == TF_OK ||
         tf_run_error("tf-run", "%s", tf_runtime_message(s->rt));
}

/* ---- What is run ------------------------------------------------------------------------------------------------- */

/* A kernel that only the PTX describes; without --kernel it is the only or first one. */
static bool choose_bare(job *s) {
  const tf_run_options *o = s->options;
  char found[128] = "";
  s->ptx_params = calloc(MAX_BARE_PARAMS, sizeof *s->ptx_params);
  if (!s->ptx_params) return tf_run_error("tf-run", "out of memory");
  int count = tf_run_ptx_params(s->source.ptx, o->kernel, found, s->ptx_params, MAX_BARE_PARAMS);
  if (count < 0) return tf_run_error(s->source.name, "no kernel '%s' in it", o->kernel ? o->kernel : ".entry");
  if (count > MAX_BARE_PARAMS)
    return tf_run_error(s->source.name, "'%s' has %d parameters, tf-run takes %d", found, count, MAX_BARE_PARAMS);
  if (tf_program_kernel(s->program, found, &s->kernel) != TF_OK) return failed(s);
  if (!o->grid[0] && !o->grid[1] && !o->grid[2])
    return tf_run_error(s->source.name, "a kernel without a manifest needs --kernel, --grid and --block");
  return tf_run_params_of_ptx(o, s->source.name, s->ptx_params, count, &s->params);
}

static bool choose(job *s) {
  const tf_run_options *o = s->options;
  const tf_manifest *m = s->program->manifest;
  if (!m && o->entry) return tf_run_error(s->source.name, "--entry needs a manifest: give --manifest=FILE.json");
  if (o->kernel && m && tf_program_kernel(s->program, o->kernel, &s->kernel) != TF_OK) return failed(s);
  if (!m || (s->kernel && !s->kernel->manifest)) return choose_bare(s);
  if (s->kernel) return tf_run_params_of_signature(o, s->source.name, m, &s->kernel->manifest->signature, &s->params);
  if (tf_program_entry(s->program, o->entry, &s->entry) != TF_OK) return failed(s);
  return tf_run_params_of_signature(o, s->source.name, m, &s->entry->manifest->signature, &s->params);
}

static bool make_arguments(job *s) {
  s->arguments = calloc(s->params.count + 1, sizeof *s->arguments);
  s->bare = calloc(s->params.count + 1, sizeof *s->bare);
  if (!s->arguments || !s->bare) return tf_run_error("tf-run", "out of memory");
  for (unsigned i = 0; i < s->params.count; i++) {
    tf_run_param *p = &s->params.items[i];
    if (p->is_scalar)
      s->arguments[i] = (tf_argument){.kind = TF_ARGUMENT_BITS, .value.u = p->bits};
    else
      s->arguments[i] = (tf_argument){.kind = TF_ARGUMENT_TENSOR, .value.tensor = &p->tensor};
    s->bare[i] = p->is_bytes ? p->npy.data : p->is_scalar ? (void *)&p->bits : (void *)&p->storage;
  }
  return true;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static tf_status launch(job *s) {
  if (s->entry) return tf_entry_call(s->entry, NULL, s->arguments, s->params.count);
  const tf_run_options *o = s->options;
  tf_launch_config c = TF_LAUNCH_CONFIG_INIT;
  memcpy(c.grid, o->grid, sizeof c.grid);
  memcpy(c.block, o->block, sizeof c.block);
  memcpy(c.cluster, o->cluster, sizeof c.cluster);
  c.dynamic_smem = o->smem;
  c.cooperative = o->cooperative;
  if (s->kernel->manifest) return tf_kernel_launch(s->kernel, &c, s->arguments, s->params.count);
  return tf_kernel_launch_raw(s->kernel, &c, s->bare);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_times(double *times, unsigned count) {
  qsort(times, count, sizeof *times, by_value);
  printf("%u runs: min %.3f ms, median %.3f ms, max %.3f ms\n", count, times[0] * 1e3, times[count / 2] * 1e3,
         times[count - 1] * 1e3);
}

static bool run_all(job *s, double *times) {
  tf_status status = TF_OK;
  tf_run_progress *progress = tf_run_progress_start("running");
  for (unsigned i = 0; i < s->options->repeat && status == TF_OK; i++) {
    tf_run_progress_step(progress, i, s->options->repeat);
    double start = now();
    status = launch(s);
    if (status == TF_OK) status = tf_stream_synchronize(s->rt, NULL);
    times[i] = now() - start;
  }
  tf_run_progress_stop(progress);
  return status == TF_OK || failed(s);
}

static bool run(job *s) {
  if (s->simulated && !catch_interrupts()) return false;
  double *times = calloc(s->options->repeat, sizeof *times);
  if (!times) return tf_run_error("tf-run", "out of memory");
  bool good = run_all(s, times);
  if (good && s->options->repeat > 1) print_times(times, s->options->repeat);
  free(times);
  return good;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static bool write_outs(job *s) {
  const tf_run_options *o = s->options;
  char message[512];
  for (unsigned i = 0; i < o->outs.count; i++) {
    const tf_run_param *p = tf_run_params_find(&s->params, o->outs.items[i].name);
    tf_npy npy;
    if (!tf_run_array_to_npy(&p->host, o->raw, &npy)) return tf_run_error("tf-run", "'%s': out of memory", p->name);
    tf_status status = tf_npy_write(o->outs.items[i].value, &npy, message, sizeof message);
    tf_npy_free(&npy);
    if (status != TF_OK) return tf_run_error("tf-run", "%s", message);
  }
  return true;
}

/* All comparisons are made even if the first one fails. */
static bool compare(job *s) {
  const tf_run_options *o = s->options;
  bool good = true;
  for (unsigned i = 0; i < o->expects.count; i++) {
    const tf_run_param *p = tf_run_params_find(&s->params, o->expects.items[i].name);
    good = tf_run_compare(p->name, &p->host, o->expects.items[i].value + 1, o->expect_tolerance[i]) && good;
  }
  return good;
}

static bool print_counters(job *s) {
  char *text = NULL;
  if (!s->options->counters) return true;
  if (tf_device_counters(s->rt, s->options->counters_json, &text) != TF_OK) return failed(s);
  fputs(text, stdout);
  tf_string_free(text);
  return true;
}

static bool show_results(job *s) {
  if (!tf_run_params_download(s->rt, s->options, &s->params)) return false;
  for (unsigned i = 0; i < s->options->prints.count; i++) {
    const tf_run_param *p = tf_run_params_find(&s->params, s->options->prints.items[i].name);
    tf_run_array_print(p->name, &p->host);
  }
  bool good = write_outs(s) && print_counters(s);
  return compare(s) && good;
}

static bool run_job(job *s) {
  if (!tf_run_source_load(s->options, &s->source)) return false;
  if (tf_runtime_create(&s->rt) != TF_OK) return tf_run_error("tf-run", "out of memory");
  return open_device(s) && load_program(s) && choose(s) && tf_run_params_upload(s->rt, &s->params) &&
         make_arguments(s) && run(s) && show_results(s);
}

static void close_job(job *s) {
  if (s->rt) tf_run_params_free(s->rt, &s->params);
  tf_program_unload(s->program);
  tf_runtime_destroy(s->rt);
  tf_run_source_free(&s->source);
  free(s->arguments);
  free(s->bare);
  free(s->ptx_params);
}

int main(int argc, char **argv) {
  tf_run_options options;
  tf_run_options_parse(argc, argv, &options);
  job s = {.options = &options};
  bool good = run_job(&s);
  close_job(&s);
  if (fflush(stdout) != 0 || ferror(stdout)) good = tf_run_error("tf-run", "standard output cannot be written");
  return good ? 0 : 1;
}
