/* What the simulator tells beyond the CUDA API: names of results, and accounts of faults. */
#include "Sim/Driver/State.h"
#include "Sim/Text.h"

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

bool tf_sim_result_of(const char *text, CUresult *out) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  bool numeric = *text >= '0' && *text <= '9' && !*end;
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    if (numeric ? number != (unsigned long)results[i].result : strcmp(results[i].name, text) != 0) continue;
    *out = results[i].result;
    return true;
  }
  return false;
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

static void describe(tf_text *t, const tf_sim_finding *f) {
  tf_text_add(t, "%s%s: %s: %s", f->note ? "note: " : "", f->checker, f->kind, f->text);
  tf_text_add(t, "\n  at PTX line %u", f->ptx_line);
  if (f->file) tf_text_add(t, " (%s%s:%u)", f->near ? "near " : "", f->file, f->line);
  tf_text_add(t, " by thread (%u,%u,%u) of CTA (%u,%u,%u)", f->thread[0], f->thread[1], f->thread[2], f->cta[0],
              f->cta[1], f->cta[2]);
  if (f->count > 1) tf_text_add(t, ", %llu times", (unsigned long long)f->count);
  tf_text_add(t, "\n");
}

void tf_sim_tell_leaks(tf_sim_state *s, CUcontext context) {
  enum { SHOWN = 16 };
  tf_text t = {0};
  uint64_t sum, address, bytes, count = tf_sim_live_allocations(s->device, context, &sum);
  if (count == 0 || !s->lists_leaks || !s->told) return;
  tf_text_add(&t, "mem: leak: %llu allocation%s of %llu bytes in all %s never freed", (unsigned long long)count,
              count == 1 ? "" : "s", (unsigned long long)sum, count == 1 ? "was" : "were");
  for (uint64_t i = 0; i < SHOWN && tf_sim_live_allocation(s->device, context, i, &address, &bytes); i++)
    tf_text_add(&t, "\n  0x%llx: %llu bytes", (unsigned long long)address, (unsigned long long)bytes);
  if (count > SHOWN) tf_text_add(&t, "\n  and %llu more", (unsigned long long)(count - SHOWN));
  if (t.data) s->told(t.data);
  free(t.data);
}

void tf_sim_keep_fault(tf_sim_state *s, const char *kernel, const tf_sim_report *report, tf_status status) {
  tf_text t = {0};
  tf_text_add(&t, "kernel '%s' failed on the simulated device:\n", kernel);
  for (size_t i = 0; i < report->count; i++)
    describe(&t, &report->findings[i]);
  if (t.used && t.data[t.used - 1] == '\n') t.data[t.used - 1] = '\0';
  if (s->told && t.data) s->told(t.data);
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
