/* Events of the race checker and their collection; see Shadow.h. */
#include "Sim/Race.h"
#include "Sim/Async.h"

#include <stdlib.h>
#include <string.h>

enum { AT_LEAST = 4096, PER_PAGE = 3 * TF_SHADOW_PAGE / (int)sizeof(tf_event), MOST = 1 << 27 };

static uint32_t allowance(const tf_race *g) {
  uint64_t n = AT_LEAST + g->use.pages * PER_PAGE;
  return n < MOST ? (uint32_t)n : MOST;
}

/* ---- Collection ---------------------------------------------------------------------------------------------------- */

static void each_page(tf_race *g, void (*visit)(tf_race *g, tf_shadow_page *p)) {
  for (size_t i = 0; i < g->global.size; i++)
    if (g->global.table[i]) visit(g, g->global.table[i]);
  for (tf_race_cta *c = g->ctas; c; c = c->next)
    for (size_t i = 0; i < c->shared.size; i++)
      if (c->shared.table[i]) visit(g, c->shared.table[i]);
}

/* The third and fourth reference of a cell are another reader and the lanes of the first one. */
static bool is_lanes(const tf_shadow_page *p, uint32_t i) {
  return p->shift && i % 4 == 3;
}

static void mark(tf_race *g, tf_shadow_page *p) {
  for (uint32_t i = 0; i < p->count; i++)
    if (!is_lanes(p, i)) g->moved[p->refs[i] >> 5] = 1;
}

static void redirect(tf_race *g, tf_shadow_page *p) {
  for (uint32_t i = 0; i < p->count; i++)
    if (!is_lanes(p, i) && p->refs[i]) p->refs[i] = g->moved[p->refs[i] >> 5] << 5 | (p->refs[i] & 31);
}

static void forget_reads(tf_race *g, tf_shadow_page *p) {
  (void)g;
  for (uint32_t i = 0; i < p->count; i++)
    if (i % tf_cell_refs(p)) p->refs[i] = 0;
}

static void forget_all(tf_race *g, tf_shadow_page *p) {
  (void)g;
  memset(p->refs, 0, p->count * sizeof *p->refs);
}

static void each_copy(tf_race *g, void (*visit)(tf_race *g, uint32_t *event)) {
  for (tf_race_cta *c = g->ctas; c; c = c->next)
    for (uint32_t i = 0; i < c->cta->warp_count; i++)
      for (tf_copy *k = c->cta->warps[i].copies.first; k; k = k->next) {
        visit(g, &k->to.event);
        visit(g, &k->from.event);
      }
}
static void mark_copy(tf_race *g, uint32_t *event) {
  g->moved[*event] = 1;
}
static void redirect_copy(tf_race *g, uint32_t *event) {
  if (*event) *event = g->moved[*event];
}

/* Closes the gaps; returns how many events are left. */
static uint32_t compact(tf_race *g) {
  uint32_t n = 1;
  g->moved[0] = 0;
  for (uint32_t i = 1; i < g->event_count; i++) {
    if (!g->moved[i]) continue;
    g->events[n] = g->events[i];
    g->moved[i] = n++;
  }
  return n;
}

static uint32_t live(tf_race *g) {
  uint32_t n = 1;
  memset(g->moved, 0, g->event_count * sizeof *g->moved);
  each_page(g, mark);
  each_copy(g, mark_copy);
  for (uint32_t i = 1; i < g->event_count; i++)
    n += g->moved[i] != 0;
  return n;
}

static bool collect(tf_race *g) {
  uint32_t enough = allowance(g) / 4 * 3;
  g->moved = malloc(g->event_count * sizeof *g->moved);
  if (!g->moved) return false;
  if (live(g) > enough) each_page(g, forget_reads);
  if (live(g) > enough) each_page(g, forget_all);
  (void)live(g);
  g->event_count = compact(g);
  each_page(g, redirect);
  each_copy(g, redirect_copy);
  free(g->moved);
  g->moved = NULL;
  for (tf_race_cta *c = g->ctas; c; c = c->next)
    for (uint32_t i = 0; i < c->cta->warp_count; i++)
      memset(c->warp[i].recent, 0, sizeof c->warp[i].recent);
  return true;
}

/* ---- New events ---------------------------------------------------------------------------------------------------- */

static bool make_room(tf_race *g) {
  if (g->event_count < g->event_cap) return true;
  uint32_t allowed = allowance(g);
  if (g->event_cap >= allowed) return collect(g) && g->event_count < g->event_cap;
  uint32_t cap = g->event_cap ? g->event_cap * 2 : 1024;
  if (cap > allowed) cap = allowed;
  tf_event *grown = realloc(g->events, cap * sizeof *grown);
  if (!grown) return false;
  g->events = grown;
  g->event_cap = cap;
  if (g->event_count == 0) g->event_count = 1;
  return true;
}

void tf_race_measure(tf_race *g) {
  uint64_t bytes = g->use.cell_bytes + (uint64_t)g->event_cap * sizeof *g->events;
  if (bytes > g->use.most_bytes) g->use.most_bytes = bytes;
}

uint32_t tf_race_event(tf_warp *w, const tf_insn *in, unsigned flags) {
  tf_race *g = w->launch->race;
  tf_race_cta *r = w->cta->race;
  uintptr_t tag = (uintptr_t)in | flags;
  size_t at = (in->site ^ flags) % TF_RACE_RECENT;
  if (r->warp[w->index].recent[at].tag == tag && r->warp[w->index].recent[at].clock == r->clock)
    return r->warp[w->index].recent[at].event;
  tf_race_measure(g);
  if (w->cta->linear >= UINT32_MAX / TF_LANES || !make_room(g)) return 0;
  uint32_t id = g->event_count++;
  g->events[id] = (tf_event){tag, tf_race_who(w), r->clock};
  r->warp[w->index].recent[at].tag = tag;
  r->warp[w->index].recent[at].clock = r->clock;
  r->warp[w->index].recent[at].event = id;
  return id;
}
