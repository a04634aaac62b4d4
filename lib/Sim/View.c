/* Global memory as one CTA sees it; see View.h. */
#include "Sim/View.h"
#include "Sim/Module.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, MOST_RETIRED = 1 << 20 }; /* sectors that are kept for CTAs that have ended */

static size_t slot_of(const tf_view *v, uint64_t number) {
  size_t at = (size_t)(number * 0x9E3779B97F4A7C15u >> 20) & (v->size - 1);
  while (v->table[at] && v->table[at]->number != number)
    at = (at + 1) & (v->size - 1);
  return at;
}

static tf_sector *find(const tf_view *v, uint64_t number) {
  return v->size ? v->table[slot_of(v, number)] : NULL;
}

static bool grow(tf_view *v) {
  if (v->count * 2 < v->size) return true;
  tf_view old = *v;
  v->size = old.size ? old.size * 2 : 64;
  v->table = calloc(v->size, sizeof(tf_sector *));
  if (!v->table) {
    *v = old;
    return false;
  }
  for (size_t i = 0; i < old.size; i++)
    if (old.table[i]) v->table[slot_of(v, old.table[i]->number)] = old.table[i];
  free(old.table);
  return true;
}

/* The sector as memory has it now, as far as the allocation reaches. */
static void look(tf_sector *s, const tf_alloc *a) {
  uint64_t first = s->number * SECTOR;
  for (unsigned i = 0; i < SECTOR; i++)
    if (first + i - a->lo < a->bytes) s->bytes[i] = (unsigned char)a->host[first + i - a->lo];
  s->dirty = 0;
  s->live = true;
}

static tf_sector *make(tf_view *v, uint64_t number, const tf_alloc *a) {
  tf_sector *s = find(v, number);
  if (!s) {
    s = grow(v) ? tf_pool_alloc(&v->pool, sizeof *s) : NULL;
    if (!s) return NULL;
    s->number = number;
    v->table[slot_of(v, number)] = s;
    v->count++;
  }
  if (!s->live) look(s, a);
  return s;
}

/* Memory that was freed in the meantime takes nothing. */
static void let_go(const tf_memory *m, tf_sector *s) {
  s->live = false;
  if (!s->dirty) return;
  uint64_t first = s->number * SECTOR;
  const tf_alloc *a = tf_memory_below(m, first + (unsigned)(31 - __builtin_clz(s->dirty)));
  for (uint32_t d = s->dirty; d && a && !a->freed; d &= d - 1) {
    unsigned i = (unsigned)__builtin_ctz(d);
    if (first + i - a->lo < a->bytes) a->host[first + i - a->lo] = (char)s->bytes[i];
  }
  s->dirty = 0;
}

static void let_all_go(const tf_memory *m, tf_view *v) {
  for (size_t i = 0; i < v->size; i++)
    if (v->table[i]) let_go(m, v->table[i]);
}

static void let_range_go(const tf_memory *m, tf_view *v, uint64_t address, uint64_t bytes) {
  for (uint64_t n = address / SECTOR; v->size && n <= (address + bytes - 1) / SECTOR; n++) {
    tf_sector *s = find(v, n);
    if (s && s->live) let_go(m, s);
  }
}

unsigned char *tf_view_pointer(tf_warp *w, const tf_access *a, uint64_t address, const tf_alloc *alloc,
                               unsigned char *real) {
  const tf_memory *m = &w->launch->device->memory;
  tf_view *v = &w->cta->view;
  uint64_t at = address % SECTOR;
  bool strong = a->order || a->kind == TF_ATOMIC, sync = a->order & (TF_ORDER_ACQUIRE | TF_ORDER_RELEASE);
  if (sync && a->order & TF_ORDER_WIDE) let_all_go(m, v);
  if (strong || at + a->bytes > SECTOR) {
    let_range_go(m, v, address, a->bytes);
    return real;
  }
  tf_sector *s = a->kind == TF_READ ? find(v, address / SECTOR) : make(v, address / SECTOR, alloc);
  if (!s || !s->live) return real;
  if (a->kind != TF_READ) s->dirty |= (uint32_t)((((uint64_t)1 << a->bytes) - 1) << at);
  return s->bytes + at;
}

void tf_view_release(tf_cta *c) {
  let_all_go(&c->launch->device->memory, &c->view);
}

static void discard(tf_view *v) {
  tf_pool_free(&v->pool);
  free(v->table);
}

void tf_view_retire(tf_cta *c) {
  tf_launch *l = c->launch;
  if (!c->view.count) return;
  tf_view *v = l->retired_sectors + c->view.count <= MOST_RETIRED ? malloc(sizeof *v) : NULL;
  if (!v) {
    tf_view_release(c);
    discard(&c->view);
  } else {
    *v = c->view;
    v->next = NULL;
    *(l->retired ? &l->retired_last->next : &l->retired) = v;
    l->retired_last = v;
    l->retired_sectors += v->count;
  }
  c->view = (tf_view){0};
}

void tf_view_finish(tf_launch *l) {
  while (l->retired) {
    tf_view *v = l->retired;
    let_all_go(&l->device->memory, v);
    l->retired = v->next;
    discard(v);
    free(v);
  }
}
