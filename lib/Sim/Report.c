/* Collecting findings; see Report.h. */
#include "Sim/Report.h"
#include "Sim/Exec.h"
#include "Sim/Module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *checker, *kind;
} table[] = {
#define F(id, checker, kind) [TF_FIND_##id] = {checker, kind},
#include "Sim/Findings.def"
#undef F
};

void tf_report_init(tf_report *r) {
  *r = (tf_report){0};
  (void)pthread_mutex_init(&r->lock, NULL);
}

static void coordinates(const tf_warp *w, unsigned lane, tf_sim_finding *f) {
  const tf_launch *l = w->launch;
  uint64_t t = (uint64_t)w->index * TF_LANES + lane;
  memcpy(f->cta, w->cta->ctaid, sizeof f->cta);
  f->thread[0] = (uint32_t)(t % l->block[0]);
  f->thread[1] = (uint32_t)(t / l->block[0] % l->block[1]);
  f->thread[2] = (uint32_t)(t / l->block[0] / l->block[1]);
}

static int compare3(const uint32_t a[3], const uint32_t b[3]) {
  for (int i = 2; i >= 0; i--)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

static int compare_place(const tf_sim_finding *a, const tf_sim_finding *b) {
  int c = compare3(a->cta, b->cta);
  return c ? c : compare3(a->thread, b->thread);
}

static tf_sim_finding *find_same(tf_report *r, const tf_sim_finding *f) {
  for (size_t i = 0; i < r->count; i++)
    if (r->list[i].kind == f->kind && r->list[i].ptx_line == f->ptx_line && r->list[i].note == f->note)
      return &r->list[i];
  return NULL;
}

static void keep(tf_report *r, tf_sim_finding *f, const char *text) {
  tf_sim_finding *same = find_same(r, f);
  if (same) {
    same->count++;
    if (compare_place(f, same) >= 0) return; /* the first thread speaks for all */
    f->count = same->count;
  } else {
    if (!tf_grow((void **)&r->list, &r->cap, r->count + 1, sizeof *r->list)) return;
    same = &r->list[r->count++];
  }
  f->text = tf_pool_text(&r->pool, text, strlen(text));
  if (!f->text) f->text = f->kind;
  *same = *f;
}

static bool stops(tf_finding kind) {
  return strcmp(table[kind].checker, "trap") == 0 || strcmp(table[kind].checker, "hang") == 0 ||
         kind == TF_FIND_stack_overflow || kind == TF_FIND_bad_call || kind == TF_FIND_bad_branch;
}

static void record(tf_warp *w, const tf_insn *in, unsigned lane, tf_finding kind, bool note, uint64_t address,
                   uint32_t bytes, const char *text) {
  tf_launch *l = w->launch;
  tf_sim_finding f = {.checker = table[kind].checker, .kind = table[kind].kind, .count = 1, .note = note};
  f.kernel = l->entry->name;
  f.address = address;
  f.bytes = bytes;
  coordinates(w, lane, &f);
  if (in) {
    f.ptx_line = in->line;
    f.near = tf_module_location(l->module, in->loc, &f.file, &f.line);
  }
  pthread_mutex_lock(&l->report->lock);
  keep(l->report, &f, text);
  if (!note) {
    l->report->failed = true;
    l->report->occurrences++;
    if (stops(kind)) l->report->trapped = true;
    if (stops(kind) || l->report->occurrences >= TF_MAX_OCCURRENCES) atomic_store(&l->stop, true);
  }
  pthread_mutex_unlock(&l->report->lock);
}

void tf_find(tf_warp *w, const tf_insn *in, unsigned lane, tf_finding kind, uint64_t address, uint32_t bytes,
             const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  record(w, in, lane, kind, false, address, bytes, text);
}

void tf_note(tf_warp *w, const tf_insn *in, unsigned lane, tf_finding kind, uint64_t address, uint32_t bytes,
             const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  record(w, in, lane, kind, true, address, bytes, text);
}

static int by_place(const void *a, const void *b) {
  const tf_sim_finding *x = a, *y = b;
  if (x->ptx_line != y->ptx_line) return x->ptx_line < y->ptx_line ? -1 : 1;
  int c = compare_place(x, y);
  return c ? c : strcmp(x->kind, y->kind);
}

/* The strings move into one block that begins with the findings, so that one free releases them. */
static void hand_over(tf_report *r, tf_sim_report *out) {
  size_t bytes = r->count * sizeof *r->list;
  for (size_t i = 0; i < r->count; i++) {
    const tf_sim_finding *f = &r->list[i];
    bytes += strlen(f->text) + strlen(f->kernel) + (f->file ? strlen(f->file) : 0) + 3;
  }
  char *block = malloc(bytes ? bytes : 1);
  if (!block) return;
  if (r->count) memcpy(block, r->list, r->count * sizeof *r->list);
  out->findings = (tf_sim_finding *)(void *)block;
  out->count = r->count;
  char *at = block + r->count * sizeof *r->list;
  for (size_t i = 0; i < r->count; i++) {
    const char **strings[] = {&out->findings[i].text, &out->findings[i].kernel, &out->findings[i].file};
    for (int s = 0; s < 3; s++) {
      if (!*strings[s]) continue;
      size_t n = strlen(*strings[s]) + 1;
      memcpy(at, *strings[s], n);
      *strings[s] = at;
      at += n;
    }
  }
}

void tf_report_finish(tf_report *r, tf_sim_report *out) {
  out->shadow_bytes = r->shadow_bytes;
  out->status = r->trapped ? TF_TRAP : r->failed ? TF_CHECKER : TF_OK;
  if (r->count) qsort(r->list, r->count, sizeof *r->list, by_place);
  hand_over(r, out);
  free(r->list);
  tf_pool_free(&r->pool);
  (void)pthread_mutex_destroy(&r->lock);
}

void tf_sim_report_free(tf_sim_report *report) {
  free(report->findings);
  tf_sim_breakdown_free(report->breakdown);
  *report = (tf_sim_report){0};
}
