/* Keeping counters: one record per launch up to a limit, and sums per kernel without one. What cannot be kept because
 * memory is out is missing from the texts; the launch itself goes on. */
#include "Sim/Driver/Counters.h"

#include <stdlib.h>
#include <string.h>

void tf_sim_add_counters(tf_sim_counters *to, const tf_sim_counters *from) {
  tf_sim_tally_add(to, (const tf_sim_tally *)(const void *)from);
  for (size_t i = 0; i < sizeof to->by_class / sizeof *to->by_class; i++)
    to->by_class[i] += from->by_class[i];
}

static const char *keep_name(tf_sim_records *r, const char *name) {
  return tf_pool_text(&r->names, name, strlen(name));
}

static tf_sim_kernel_sum *kernel_sum(tf_sim_records *r, const char *name) {
  for (size_t i = 0; i < r->kernel_count; i++)
    if (strcmp(r->kernels[i].name, name) == 0) return &r->kernels[i];
  if (!tf_grow((void **)&r->kernels, &r->kernel_cap, r->kernel_count + 1, sizeof *r->kernels)) return NULL;
  const char *copy = keep_name(r, name);
  if (!copy) return NULL;
  r->kernels[r->kernel_count] = (tf_sim_kernel_sum){.name = copy};
  return &r->kernels[r->kernel_count++];
}

static int compare_lines(const tf_sim_line *a, const tf_sim_line *b) {
  if (!a->file != !b->file) return a->file ? 1 : -1;
  int c = a->file ? strcmp(a->file, b->file) : 0;
  return c ? c : (a->line > b->line) - (a->line < b->line);
}

/* Both lists are sorted, so each line is looked for from where the one before was found. */
static void add_lines(tf_sim_records *r, tf_sim_kernel_sum *k, const tf_sim_breakdown *b) {
  size_t at = 0;
  for (size_t i = 0; i < b->line_count; i++) {
    while (at < k->line_count && compare_lines(&k->lines[at], &b->lines[i]) < 0)
      at++;
    if (at == k->line_count || compare_lines(&k->lines[at], &b->lines[i]) != 0) {
      if (!tf_grow((void **)&k->lines, &k->line_cap, k->line_count + 1, sizeof *k->lines)) return;
      const char *file = b->lines[i].file ? keep_name(r, b->lines[i].file) : NULL;
      if (b->lines[i].file && !file) return;
      memmove(&k->lines[at + 1], &k->lines[at], (k->line_count - at) * sizeof *k->lines);
      k->lines[at] = (tf_sim_line){.file = file, .line = b->lines[i].line};
      k->line_count++;
    }
    tf_sim_tally_add(&k->lines[at].tally, &b->lines[i].tally);
  }
}

static void add_mmas(tf_sim_records *r, tf_sim_kernel_sum *k, const tf_sim_breakdown *b) {
  for (size_t i = 0; i < b->mma_count; i++) {
    size_t at = 0;
    while (at < k->mma_count && strcmp(k->mmas[at].name, b->mmas[i].name) != 0)
      at++;
    if (at == k->mma_count) {
      if (!tf_grow((void **)&k->mmas, &k->mma_cap, at + 1, sizeof *k->mmas)) return;
      const char *name = keep_name(r, b->mmas[i].name), *type = keep_name(r, b->mmas[i].type);
      if (!name || !type) return;
      k->mmas[k->mma_count++] = (tf_sim_mma){.name = name, .type = type};
    }
    k->mmas[at].count += b->mmas[i].count;
    k->mmas[at].flops += b->mmas[i].flops;
  }
}

static void keep_launch(tf_sim_records *r, const char *kernel, const tf_sim_work *w, tf_sim_report *report) {
  if (r->launch_count == TF_SIM_KEPT_LAUNCHES ||
      !tf_grow((void **)&r->launches, &r->launch_cap, r->launch_count + 1, sizeof *r->launches)) {
    r->left_out++;
    return;
  }
  const CUlaunchConfig *c = &w->config;
  r->launches[r->launch_count++] = (tf_sim_launch_record){.kernel = kernel,
                                                          .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                                          .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                                          .cluster = {w->cluster[0], w->cluster[1], w->cluster[2]},
                                                          .dynamic_shared = c->sharedMemBytes,
                                                          .counters = report->counters,
                                                          .breakdown = report->breakdown};
  report->breakdown = NULL;
}

void tf_sim_keep_counters(tf_sim_state *s, const tf_sim_work *w, tf_sim_report *report) {
  if (!s->counting) return;
  pthread_mutex_lock(&s->lock);
  if (!s->records) s->records = calloc(1, sizeof *s->records);
  tf_sim_kernel_sum *k = s->records ? kernel_sum(s->records, w->function->info.name) : NULL;
  if (k) {
    k->launches++;
    tf_sim_add_counters(&k->counters, &report->counters);
    if (report->breakdown) add_lines(s->records, k, report->breakdown);
    if (report->breakdown) add_mmas(s->records, k, report->breakdown);
    keep_launch(s->records, k->name, w, report);
  }
  pthread_mutex_unlock(&s->lock);
}

void tf_sim_free_counters(tf_sim_state *s) {
  tf_sim_records *r = s->records;
  if (!r) return;
  for (size_t i = 0; i < r->launch_count; i++)
    tf_sim_breakdown_free(r->launches[i].breakdown);
  for (size_t i = 0; i < r->kernel_count; i++) {
    free(r->kernels[i].lines);
    free(r->kernels[i].mmas);
  }
  free(r->launches);
  free(r->kernels);
  tf_pool_free(&r->names);
  free(r);
  s->records = NULL;
}

tf_status tf_sim_driver_counters(const tf_driver *driver, bool json, char **out) {
  static const tf_sim_records none;
  tf_sim_state *s = driver->state;
  if (!s->counting) return TF_UNSUPPORTED;
  pthread_mutex_lock(&s->lock);
  const tf_sim_records *r = s->records ? s->records : &none;
  char *text = json ? tf_sim_counters_json(r, s->profile) : tf_sim_counters_table(r, s->profile);
  pthread_mutex_unlock(&s->lock);
  if (!text) return TF_OUT_OF_MEMORY;
  *out = text;
  return TF_OK;
}
