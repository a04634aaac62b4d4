/* What the simulator tells beyond the CUDA API: names of results, accounts of faults, counters per kernel. */
#include "Sim/DriverState.h"

#include "Sim/Pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  CUresult result;
  const char *name, *text;
} results[] = {
#define TF_CUDA_RESULT(name, value, text) {name, #name, text},
#include "Runtime/CudaConstants.def"
};

const char *tf_sim_result_name(CUresult result) {
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i].result == result) return results[i].name;
  return NULL;
}

const char *tf_sim_result_text(CUresult result) {
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i].result == result) return results[i].text;
  return NULL;
}

/* The driver's error for the first finding that is an error. */
CUresult tf_sim_fault_result(const tf_sim_report *report) {
  static const struct {
    const char *kind;
    CUresult result;
  } kinds[] = {
      {"misaligned", CUDA_ERROR_MISALIGNED_ADDRESS},
      {"wrong state space", CUDA_ERROR_INVALID_ADDRESS_SPACE},
      {"stack overflow", CUDA_ERROR_HARDWARE_STACK_ERROR},
      {"call of no function", CUDA_ERROR_INVALID_PC},
      {"branch index out of range", CUDA_ERROR_INVALID_PC},
      {"assertion failed", CUDA_ERROR_ASSERT},
      {"instruction budget used up", CUDA_ERROR_LAUNCH_TIMEOUT},
      {"no thread can make progress", CUDA_ERROR_LAUNCH_TIMEOUT},
  };
  const tf_sim_finding *f = NULL;
  for (size_t i = 0; i < report->count && !f; i++)
    if (!report->findings[i].note) f = &report->findings[i];
  for (size_t i = 0; f && i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(f->kind, kinds[i].kind) == 0) return kinds[i].result;
  return f && strcmp(f->checker, "mem") == 0 ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED;
}

typedef struct text {
  char *data;
  size_t used, cap;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...) {
  char line[2048];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (n < 0) return;
  size_t length = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
  if (!tf_grow((void **)&t->data, &t->cap, t->used + length + 1, 1)) return;
  memcpy(t->data + t->used, line, length + 1);
  t->used += length;
}

static void describe(text *t, const tf_sim_finding *f) {
  add(t, "%s%s: %s: %s", f->note ? "note: " : "", f->checker, f->kind, f->text);
  add(t, "\n  at PTX line %u", f->ptx_line);
  if (f->file) add(t, " (%s:%u)", f->file, f->line);
  add(t, " by thread (%u,%u,%u) of CTA (%u,%u,%u)", f->thread[0], f->thread[1], f->thread[2], f->cta[0], f->cta[1],
      f->cta[2]);
  if (f->count > 1) add(t, ", %llu times", (unsigned long long)f->count);
  add(t, "\n");
}

void tf_sim_keep_fault(tf_sim_state *s, const char *kernel, const tf_sim_report *report, tf_status status) {
  text t = {0};
  add(&t, "kernel '%s' failed on the simulated device:\n", kernel);
  for (size_t i = 0; i < report->count; i++)
    describe(&t, &report->findings[i]);
  if (t.used && t.data[t.used - 1] == '\n') t.data[t.used - 1] = '\0';
  pthread_mutex_lock(&s->lock);
  if (s->fault) {
    free(t.data); /* the first fault is the one to tell */
  } else {
    s->fault = t.data;
    s->fault_status = status == TF_TRAP || status == TF_CHECKER ? status : TF_DRIVER;
  }
  pthread_mutex_unlock(&s->lock);
}

tf_status tf_sim_take_fault(tf_driver *driver, char *message, size_t size) {
  tf_sim_state *s = driver->state;
  tf_status status = TF_OK;
  pthread_mutex_lock(&s->lock);
  if (s->fault) {
    status = s->fault_status;
    if (message && size) (void)snprintf(message, size, "%s", s->fault);
    free(s->fault);
    s->fault = NULL;
  }
  pthread_mutex_unlock(&s->lock);
  return status;
}

/* ---- Counters --------------------------------------------------------------------------------------------------- */

static tf_sim_kernel_counters *kernel_entry(tf_sim_state *s, const char *name) {
  for (size_t i = 0; i < s->kernel_count; i++)
    if (strcmp(s->kernels[i].name, name) == 0) return &s->kernels[i];
  if (!tf_grow((void **)&s->kernels, &s->kernel_cap, s->kernel_count + 1, sizeof *s->kernels)) return NULL;
  char *copy = strdup(name);
  if (!copy) return NULL;
  s->kernels[s->kernel_count] = (tf_sim_kernel_counters){.name = copy};
  return &s->kernels[s->kernel_count++];
}

static void accumulate(tf_sim_counters *sum, const tf_sim_counters *c) {
  uint64_t *to = (uint64_t *)(void *)sum;
  const uint64_t *from = (const uint64_t *)(const void *)c;
  for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
    to[i] += from[i];
}

void tf_sim_count(tf_sim_state *s, const char *kernel, const tf_sim_counters *counters) {
  if (!s->counting) return;
  pthread_mutex_lock(&s->lock);
  tf_sim_kernel_counters *k = kernel_entry(s, kernel);
  if (k) {
    k->launches++;
    accumulate(&k->sum, counters);
  }
  pthread_mutex_unlock(&s->lock);
}

void tf_sim_free_report(tf_sim_state *s) {
  for (size_t i = 0; i < s->kernel_count; i++)
    free(s->kernels[i].name);
  free(s->kernels);
  free(s->fault);
}

/* The scalar counters by name, for both outputs. */
#define COUNTERS(C)                                                                                                    \
  C(warp_instructions)                                                                                                 \
  C(lane_instructions)                                                                                                 \
  C(global_requests)                                                                                                   \
  C(global_sectors)                                                                                                    \
  C(global_bytes_read)                                                                                                 \
  C(global_bytes_written)                                                                                              \
  C(shared_requests)                                                                                                   \
  C(shared_ways)                                                                                                       \
  C(local_requests)                                                                                                    \
  C(atomic_requests)                                                                                                   \
  C(barriers)                                                                                                          \
  C(mma)                                                                                                               \
  C(mma_flops)

static void json_counters(text *t, const tf_sim_counters *c) {
#define C(name) add(t, "\"%s\": %llu, ", #name, (unsigned long long)c->name);
  COUNTERS(C)
#undef C
  add(t, "\"instructions\": {");
  for (unsigned i = 0; tf_sim_class_name(i); i++)
    add(t, "%s\"%s\": %llu", i ? ", " : "", tf_sim_class_name(i), (unsigned long long)c->by_class[i]);
  add(t, "}}");
}

/* PTX names have no characters that JSON would want escaped. */
static void json(text *t, const tf_sim_state *s, const tf_sim_counters *total) {
  add(t, "{\"device\": \"%s\", \"total\": {", s->profile->name);
  json_counters(t, total);
  add(t, ", \"kernels\": [");
  for (size_t i = 0; i < s->kernel_count; i++) {
    add(t, "%s{\"name\": \"%s\", \"launches\": %llu, ", i ? ", " : "", s->kernels[i].name,
        (unsigned long long)s->kernels[i].launches);
    json_counters(t, &s->kernels[i].sum);
  }
  add(t, "]}\n");
}

static void table_counters(text *t, const tf_sim_counters *c) {
#define C(name)                                                                                                        \
  if (c->name) add(t, "  %-24s %20llu\n", #name, (unsigned long long)c->name);
  COUNTERS(C)
#undef C
  for (unsigned i = 0; tf_sim_class_name(i); i++)
    if (c->by_class[i]) add(t, "    %-22s %20llu\n", tf_sim_class_name(i), (unsigned long long)c->by_class[i]);
}

tf_status tf_sim_driver_counters(const tf_driver *driver, bool as_json, char **out) {
  tf_sim_state *s = driver->state;
  tf_sim_counters total = {0};
  text t = {0};
  if (!s->counting) return TF_UNSUPPORTED;
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < s->kernel_count; i++)
    accumulate(&total, &s->kernels[i].sum);
  if (as_json) {
    json(&t, s, &total);
  } else {
    for (size_t i = 0; i < s->kernel_count; i++) {
      add(&t, "%s, %llu launches\n", s->kernels[i].name, (unsigned long long)s->kernels[i].launches);
      table_counters(&t, &s->kernels[i].sum);
    }
    if (s->kernel_count != 1) {
      add(&t, "all kernels\n");
      table_counters(&t, &total);
    }
  }
  pthread_mutex_unlock(&s->lock);
  if (!t.data) return TF_OUT_OF_MEMORY;
  *out = t.data;
  return TF_OK;
}
