/* Clocks of the race checker: who has seen what of whom; see Race.h. */
#include "Sim/Race.h"

#include <stdlib.h>
#include <string.h>

static void join(uint32_t *to, const uint32_t *from) {
  for (size_t i = 0; i < TF_LANES; i++)
    if (from[i] > to[i]) to[i] = from[i];
}

/* ---- Sets of CTAs' clocks ------------------------------------------------------------------------------------------ */

static size_t lower(const tf_clockset *s, uint32_t cta) {
  size_t lo = 0, hi = s->count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->cta[mid] < cta)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

uint32_t tf_clockset_get(const tf_clockset *s, uint32_t cta) {
  size_t at = lower(s, cta);
  return at < s->count && s->cta[at] == cta ? s->clock[at] : 0;
}

static bool reserve(tf_clockset *s, size_t count) {
  size_t cap = s->cap;
  if (!tf_grow((void **)&s->cta, &cap, count, sizeof *s->cta)) return false;
  cap = s->cap;
  if (!tf_grow((void **)&s->clock, &cap, count, sizeof *s->clock)) return false;
  s->cap = cap;
  return true;
}

static bool raise_clock(tf_clockset *s, uint32_t cta, uint32_t clock) {
  size_t at = lower(s, cta);
  if (at < s->count && s->cta[at] == cta) {
    if (clock > s->clock[at]) s->clock[at] = clock;
    return true;
  }
  if (!reserve(s, s->count + 1)) return false;
  memmove(s->cta + at + 1, s->cta + at, (s->count - at) * sizeof *s->cta);
  memmove(s->clock + at + 1, s->clock + at, (s->count - at) * sizeof *s->clock);
  s->cta[at] = cta;
  s->clock[at] = clock;
  s->count++;
  return true;
}

static bool join_set(tf_clockset *to, const tf_clockset *from) {
  bool ok = true;
  for (size_t i = 0; ok && i < from->count; i++)
    ok = raise_clock(to, from->cta[i], from->clock[i]);
  return ok;
}

static void free_set(tf_clockset *s) {
  free(s->cta);
  free(s->clock);
}

/* Without its clocks the checker would invent races. */
static void need(tf_launch *l, bool ok) {
  if (!ok) tf_launch_no_memory(l);
}

/* ---- Life ---------------------------------------------------------------------------------------------------------- */

static void free_variables(tf_race_variable **buckets, size_t count) {
  for (size_t i = 0; i < count; i++)
    while (buckets[i]) {
      tf_race_variable *next = buckets[i]->next;
      free(buckets[i]->clock);
      free_set(&buckets[i]->ctas);
      free(buckets[i]);
      buckets[i] = next;
    }
}

bool tf_race_begin(tf_launch *l) {
  l->race = calloc(1, sizeof *l->race);
  return l->race != NULL;
}

void tf_race_end(tf_launch *l) {
  tf_race *g = l->race;
  if (!g) return;
  tf_race_measure(g);
  l->report->shadow_bytes += g->use.most_bytes;
  tf_shadow_free(&g->global, &g->use);
  free_variables(g->variables, TF_RACE_VARIABLES);
  free(g->events);
  free(g);
  l->race = NULL;
}

bool tf_race_cta_begin(tf_cta *c) {
  tf_race *g = c->launch->race;
  tf_race_cta *r = calloc(1, sizeof *r);
  if (!r) return false;
  r->warp = calloc(c->warp_count, sizeof *r->warp);
  if (!r->warp) {
    free(r);
    return false;
  }
  r->cta = c;
  r->clock = 1;
  r->next = g->ctas;
  if (r->next) r->next->previous = r;
  g->ctas = r;
  c->race = r;
  return true;
}

void tf_race_cta_end(tf_cta *c) {
  tf_race_cta *r = c->race;
  tf_race *g = c->launch->race;
  if (!r) return;
  tf_race_measure(g);
  if (r->next) r->next->previous = r->previous;
  *(r->previous ? &r->previous->next : &g->ctas) = r->next;
  tf_shadow_free(&r->shared, &g->use);
  free_variables(r->variables, TF_RACE_CTA_VARIABLES);
  free_set(&r->row);
  free_set(&r->met.ctas);
  for (uint32_t i = 0; i < c->warp_count; i++)
    free_set(&r->warp[i].met.ctas);
  free(r->warp);
  free(r);
  c->race = NULL;
}

/* ---- Barriers ------------------------------------------------------------------------------------------------------ */

void tf_race_warp_sync(tf_warp *w, uint32_t lanes) {
  tf_race_cta *r = w->cta->race;
  tf_race_warp *rw = &r->warp[w->index];
  uint32_t all[TF_LANES] = {0};
  r->clock++;
  for (uint32_t m = lanes; m; m &= m - 1)
    join(all, rw->know[__builtin_ctz(m)]);
  for (uint32_t m = lanes; m; m &= m - 1)
    all[__builtin_ctz(m)] = r->clock;
  for (uint32_t m = lanes; m; m &= m - 1)
    memcpy(rw->know[__builtin_ctz(m)], all, sizeof all);
}

/* Release: what the warp has done so far goes into `clock`; what it does from now on is newer. */
static void publish(tf_race_cta *r, uint32_t warp, uint32_t *clock) {
  r->seen[warp][warp] = ++r->clock;
  join(clock, r->seen[warp]);
}

/* Fences of the whole CTA may take over what the warp has met. */
static void hand_on(tf_warp *w) {
  tf_race_cta *r = w->cta->race;
  const tf_race_met *met = &r->warp[w->index].met;
  join(r->met.clock, met->clock);
  need(w->launch, join_set(&r->met.ctas, &met->ctas));
}

/* Two uses of one barrier by different warps that nothing orders are one use to the hardware. */
static void check_reuse(tf_warp *w, const tf_insn *in, uint32_t id, unsigned lane) {
  const tf_race_cta *r = w->cta->race;
  uint32_t waiters = r->last_phase[id].waiters;
  bool knows = !waiters || waiters >> w->index & 1;
  for (uint32_t m = waiters; m && !knows; m &= m - 1)
    knows = r->seen[w->index][__builtin_ctz(m)] > r->last_phase[id].clock;
  if (!knows && w->launch->checks & TF_SIM_CHECK_SYNC)
    tf_find(w, in, lane, TF_FIND_barrier_id, 0, 0,
            "barrier %u is used by warp %u, which is not ordered after its last use by warps 0x%08x: the two may mix",
            id, w->index, waiters);
}

void tf_race_barrier_arrive(tf_warp *w, const tf_insn *in, uint32_t id, unsigned lane) {
  tf_race_cta *r = w->cta->race;
  check_reuse(w, in, id, lane);
  hand_on(w);
  publish(r, w->index, r->at_barrier[id]);
}

void tf_race_barrier_done(tf_cta *c, uint32_t id) {
  tf_race_cta *r = c->race;
  uint32_t waiters = 0;
  for (uint32_t i = 0; i < c->warp_count; i++) {
    tf_warp *w = &c->warps[i];
    uint32_t lanes = 0;
    for (unsigned l = 0; l < TF_LANES; l++)
      if (w->lane_state[l] == TF_LANE_BARRIER && w->lane_wait[l] == id) lanes |= 1u << l;
    if (!lanes) continue;
    join(r->seen[i], r->at_barrier[id]);
    tf_race_warp_sync(w, lanes);
    waiters |= 1u << i;
  }
  r->last_phase[id].waiters = waiters;
  r->last_phase[id].clock = r->clock;
  memset(r->at_barrier[id], 0, sizeof r->at_barrier[id]);
}

/* The cluster's barrier orders everything in its CTAs. */
void tf_race_cluster_done(tf_cluster *k) {
  bool ok = true;
  for (uint32_t i = 0; i < k->count; i++) {
    tf_race_cta *r = k->ctas[i]->race;
    uint32_t all[TF_LANES] = {0};
    for (uint32_t w = 0; w < k->ctas[i]->warp_count; w++) {
      publish(r, w, all);
      hand_on(&k->ctas[i]->warps[w]);
    }
    for (uint32_t w = 0; w < k->ctas[i]->warp_count; w++) {
      join(r->seen[w], all);
      tf_race_warp_sync(&k->ctas[i]->warps[w], k->ctas[i]->warps[w].live);
    }
    r->clock++;
  }
  tf_clockset sum = {0};
  for (uint32_t i = 0; k->count > 1 && i < k->count; i++) {
    tf_race_cta *r = k->ctas[i]->race;
    ok = ok && join_set(&sum, &r->row) && raise_clock(&sum, (uint32_t)k->ctas[i]->linear, r->clock);
    for (uint32_t other = 0; other < k->count; other++)
      ok = ok && join_set(&((tf_race_cta *)k->ctas[other]->race)->met.ctas, &r->met.ctas);
  }
  for (uint32_t i = 0; ok && sum.count && i < k->count; i++)
    ok = join_set(&((tf_race_cta *)k->ctas[i]->race)->row, &sum);
  free_set(&sum);
  need(k->ctas[0]->launch, ok);
}

void tf_race_fence(tf_warp *w, bool wide) {
  tf_race_cta *r = w->cta->race;
  tf_race_warp *rw = &r->warp[w->index];
  join(r->seen[w->index], rw->met.clock);
  join(r->seen[w->index], r->met.clock);
  if (wide) need(w->launch, join_set(&r->row, &rw->met.ctas) && join_set(&r->row, &r->met.ctas));
  publish(r, w->index, rw->fenced);
  if (wide) rw->fenced_cta = r->clock;
}

bool tf_race_met_after(const tf_warp *w, bool here, uint32_t warp_or_cta, uint32_t clock) {
  const tf_race_cta *r = w->cta->race;
  const tf_race_met *met[] = {&r->warp[w->index].met, &r->met};
  for (unsigned i = 0; i < 2; i++)
    if (clock < (here ? met[i]->clock[warp_or_cta] : tf_clockset_get(&met[i]->ctas, warp_or_cta))) return true;
  return false;
}

/* ---- Variables ----------------------------------------------------------------------------------------------------- */

static tf_race_variable *find(tf_launch *l, tf_race_variable **bucket, uint64_t address) {
  tf_race_variable *v = *bucket;
  while (v && v->address != address)
    v = v->next;
  if (v) return v;
  v = calloc(1, sizeof *v);
  need(l, v != NULL);
  if (!v) return NULL;
  v->address = address;
  v->next = *bucket;
  *bucket = v;
  return v;
}

static void within_cta(tf_warp *w, tf_race_variable *v, unsigned lane, unsigned kind, unsigned order) {
  tf_race_cta *r = w->cta->race;
  tf_race_warp *rw = &r->warp[w->index];
  bool fenced = rw->fenced[w->index] != 0, release = order & TF_ORDER_RELEASE;
  if (kind != TF_WRITE && v->clock) join(order & TF_ORDER_ACQUIRE ? r->seen[w->index] : rw->met.clock, v->clock);
  if (kind != TF_READ && release) hand_on(w);
  if (kind != TF_READ && (release || fenced)) {
    if (!v->clock) v->clock = calloc(TF_LANES, sizeof *v->clock);
    need(w->launch, v->clock != NULL);
    if (!v->clock) return;
    if (release)
      publish(r, w->index, v->clock);
    else
      join(v->clock, rw->fenced);
  }
  v->lanes[w->index] |= 1u << lane;
  tf_race_warp_sync(w, v->lanes[w->index]);
}

static void between_ctas(tf_warp *w, tf_race_variable *v, unsigned kind, unsigned order) {
  tf_race_cta *r = w->cta->race;
  tf_race_warp *rw = &r->warp[w->index];
  bool ok = true;
  if (!(order & TF_ORDER_WIDE)) return;
  if (kind != TF_WRITE) ok = join_set(order & TF_ORDER_ACQUIRE ? &r->row : &rw->met.ctas, &v->ctas);
  if (kind != TF_READ) {
    bool release = order & TF_ORDER_RELEASE;
    uint32_t covered = release ? ++r->clock : rw->fenced_cta;
    if (covered) ok = ok && join_set(&v->ctas, &r->row) && raise_clock(&v->ctas, (uint32_t)w->cta->linear, covered);
  }
  need(w->launch, ok);
}

void tf_race_synchronise(tf_warp *w, unsigned lane, uint64_t key, uint64_t wide_key, unsigned kind, unsigned order) {
  tf_race_cta *r = w->cta->race;
  tf_race *g = w->launch->race;
  tf_race_variable *v = find(w->launch, &r->variables[key / 4 % TF_RACE_CTA_VARIABLES], key);
  if (v) within_cta(w, v, lane, kind, order);
  if (!wide_key) return;
  v = find(w->launch, &g->variables[wide_key / 4 % TF_RACE_VARIABLES], wide_key);
  if (v) between_ctas(w, v, kind, order);
}
