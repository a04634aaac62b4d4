/* The race checker: happens-before by vector clocks on three levels.
 *
 *   lanes of one warp      know[b][a]: accesses of lane a before this tick are ordered before lane b
 *   warps of one CTA       seen[w][u]: accesses of warp u before this epoch are ordered before warp w
 *   CTAs of the grid       the same with CTAs
 *
 * Barriers, bar.warp.sync and chains of atomic, volatile and fenced accesses to one address join clocks. Every 4-byte
 * granule remembers its last writer and its last readers of two warps, with the bytes touched and the clocks then:
 *
 *   granule  [ writer | reader | reader of another warp ]     stamp: CTA, warp, lanes, bytes, epochs, tick, instruction
 *
 * An access conflicts with a stamp if the bytes overlap, one of the two writes, not both are atomic, and no clock orders
 * them. Launches are executed on one worker while this checker is on. What is forgotten (a third reader's warp) can hide
 * a race but never invent one. */
#include "Sim/Check.h"
#include "Sim/Module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CTAS = 1024, PAGE_GRANULES = 1024, BUCKETS = 4096 };

typedef struct stamp {
  const tf_insn *in; /* null: empty */
  uint32_t cta, lanes, epoch, cta_epoch, tick;
  uint16_t warp;
  uint8_t bytes;
  bool atomic;
} stamp;

typedef struct granule {
  stamp write, read[2];
} granule;

typedef struct page {
  struct page *next;
  uint64_t number; /* address / (4 * PAGE_GRANULES) */
  granule granules[PAGE_GRANULES];
} page;

/* A synchronisation variable: an address that atomics touched. */
typedef struct variable {
  struct variable *next;
  uint64_t address;
  uint32_t *clock;    /* by warp or by CTA */
  uint32_t lanes[32]; /* per warp of the CTA: lanes that took part */
} variable;

typedef struct tf_race_warp {
  uint32_t tick;
  uint32_t know[TF_LANES][TF_LANES];
} tf_race_warp;

typedef struct tf_race_cta {
  uint32_t warps;
  uint32_t seen[32][32];
  uint32_t at_barrier[TF_BARRIERS][32];
  tf_race_warp warp[32];
  granule *shared;
  variable *variables[64];
} tf_race_cta;

typedef struct tf_race {
  uint64_t ctas; /* 0: too many for clocks between CTAs; conflicts between them are not looked for */
  uint32_t *seen;
  page *pages[BUCKETS];
  variable *variables[BUCKETS];
} tf_race;

static void *release_variables(variable **buckets, size_t count) {
  for (size_t i = 0; i < count; i++)
    while (buckets[i]) {
      variable *next = buckets[i]->next;
      free(buckets[i]->clock);
      free(buckets[i]);
      buckets[i] = next;
    }
  return NULL;
}

bool tf_race_begin(tf_launch *l) {
  tf_race *r = calloc(1, sizeof *r);
  if (!r) return false;
  r->ctas = l->grid_count <= MAX_CTAS ? l->grid_count : 0;
  r->seen = calloc((size_t)(r->ctas * r->ctas) + 1, sizeof *r->seen);
  for (uint64_t i = 0; r->seen && i < r->ctas; i++)
    r->seen[i * r->ctas + i] = 1;
  l->race = r;
  return r->seen != NULL;
}

void tf_race_end(tf_launch *l) {
  tf_race *r = l->race;
  if (!r) return;
  for (size_t i = 0; i < BUCKETS; i++)
    while (r->pages[i]) {
      page *next = r->pages[i]->next;
      free(r->pages[i]);
      r->pages[i] = next;
    }
  release_variables(r->variables, BUCKETS);
  free(r->seen);
  free(r);
  l->race = NULL;
}

bool tf_race_cta_begin(tf_cta *c) {
  tf_race_cta *r = calloc(1, sizeof *r);
  if (!r) return false;
  r->warps = c->warp_count;
  for (uint32_t i = 0; i < 32; i++) {
    r->seen[i][i] = 1;
    r->warp[i].tick = 1;
  }
  r->shared = calloc((size_t)(c->shared_bytes + 3) / 4 + 1, sizeof *r->shared);
  c->race = r;
  return r->shared != NULL;
}

void tf_race_cta_end(tf_cta *c) {
  tf_race_cta *r = c->race;
  if (!r) return;
  release_variables(r->variables, 64);
  free(r->shared);
  free(r);
  c->race = NULL;
}

/* ---- Joining clocks ---------------------------------------------------------------------------------------------- */

static void join(uint32_t *to, const uint32_t *from, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (from[i] > to[i]) to[i] = from[i];
}

void tf_race_warp_sync(tf_warp *w, uint32_t lanes) {
  tf_race_warp *r = &((tf_race_cta *)w->cta->race)->warp[w->index];
  uint32_t all[TF_LANES] = {0};
  r->tick++;
  for (uint32_t m = lanes; m; m &= m - 1)
    join(all, r->know[__builtin_ctz(m)], TF_LANES);
  for (uint32_t m = lanes; m; m &= m - 1)
    all[__builtin_ctz(m)] = r->tick;
  for (uint32_t m = lanes; m; m &= m - 1)
    memcpy(r->know[__builtin_ctz(m)], all, sizeof all);
}

/* Release: what the warp has done so far goes into `clock`; what it does from now on is newer. */
static void publish(tf_race_cta *r, uint32_t warp, uint32_t *clock) {
  r->seen[warp][warp]++;
  join(clock, r->seen[warp], 32);
}

void tf_race_barrier_arrive(tf_warp *w, uint32_t id) {
  tf_race_cta *r = w->cta->race;
  publish(r, w->index, r->at_barrier[id]);
}

void tf_race_barrier_done(tf_cta *c, uint32_t id) {
  tf_race_cta *r = c->race;
  for (uint32_t i = 0; i < c->warp_count; i++) {
    tf_warp *w = &c->warps[i];
    uint32_t lanes = 0;
    for (unsigned l = 0; l < TF_LANES; l++)
      if (w->lane_state[l] == TF_LANE_BARRIER && w->lane_wait[l] == id) lanes |= 1u << l;
    if (!lanes) continue;
    join(r->seen[i], r->at_barrier[id], 32);
    tf_race_warp_sync(w, lanes);
  }
  memset(r->at_barrier[id], 0, sizeof r->at_barrier[id]);
}

static uint32_t *cta_clock(const tf_race *g, uint64_t cta) {
  return g->seen + cta * g->ctas;
}

/* The cluster's barrier orders everything in its CTAs. */
void tf_race_cluster_done(tf_cluster *k) {
  tf_race *g = k->ctas[0]->launch->race;
  for (uint32_t i = 0; i < k->count; i++) {
    tf_race_cta *r = k->ctas[i]->race;
    uint32_t all[32] = {0};
    for (uint32_t w = 0; w < r->warps; w++)
      publish(r, w, all);
    for (uint32_t w = 0; w < r->warps; w++) {
      join(r->seen[w], all, 32);
      tf_race_warp_sync(&k->ctas[i]->warps[w], k->ctas[i]->warps[w].live);
    }
  }
  for (uint32_t i = 0; g->ctas && i < k->count; i++)
    cta_clock(g, k->ctas[i]->linear)[k->ctas[i]->linear]++;
  for (uint32_t i = 0; g->ctas && i < k->count; i++)
    for (uint32_t j = 0; j < k->count; j++)
      join(cta_clock(g, k->ctas[i]->linear), cta_clock(g, k->ctas[j]->linear), g->ctas);
}

static variable *find_variable(variable **bucket, uint64_t address, size_t clocks) {
  variable *v = *bucket;
  while (v && v->address != address)
    v = v->next;
  if (v) return v;
  v = calloc(1, sizeof *v);
  uint32_t *clock = calloc(clocks, sizeof *clock);
  if (!v || !clock) {
    free(v);
    free(clock);
    return NULL;
  }
  v->address = address;
  v->clock = clock;
  v->next = *bucket;
  *bucket = v;
  return v;
}

/* A strong access: takes over what the address's earlier users published, and publishes. */
static void synchronise(tf_warp *w, unsigned lane, uint64_t key, bool global) {
  tf_race_cta *r = w->cta->race;
  tf_race *g = w->launch->race;
  variable *v = find_variable(&r->variables[key / 4 % 64], key, 32);
  if (v) {
    join(r->seen[w->index], v->clock, 32);
    publish(r, w->index, v->clock);
    v->lanes[w->index] |= 1u << lane;
    tf_race_warp_sync(w, v->lanes[w->index]);
  }
  v = global && g->ctas ? find_variable(&g->variables[key / 4 % BUCKETS], key, g->ctas) : NULL;
  if (!v) return;
  uint32_t *own = cta_clock(g, w->cta->linear);
  join(own, v->clock, g->ctas);
  own[w->cta->linear]++;
  join(v->clock, own, g->ctas);
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

static bool ordered(const tf_warp *w, unsigned lane, const stamp *s) {
  const tf_race_cta *r = w->cta->race;
  const tf_race *g = w->launch->race;
  if (s->cta != (uint32_t)w->cta->linear) return !g->ctas || s->cta_epoch < cta_clock(g, w->cta->linear)[s->cta];
  if (s->warp != w->index) return s->epoch < r->seen[w->index][s->warp];
  for (uint32_t m = s->lanes & ~(1u << lane); m; m &= m - 1)
    if (s->tick >= r->warp[w->index].know[lane][__builtin_ctz(m)]) return false;
  return true;
}

typedef struct touch {
  const tf_insn *in;
  unsigned lane;
  uint64_t address; /* as the program gave it */
  uint8_t bytes;    /* of the granule */
  bool write, atomic, same_value;
} touch;

/* Where a plain store takes element e of lane l from; null if the instruction is none. */
static const char *stored(const tf_warp *w, const tf_insn *in, unsigned e, unsigned l) {
  unsigned stride = in->aux >> 16 & 0xFF;
  return (const char *)tf_operand(w, in->ext[1 + e]) + (size_t)(stride < 4 ? 4 : stride) * l;
}

static bool is_store(const tf_insn *in) {
  return strcmp(in->row->opcode, "st") == 0;
}

/* What a plain store of lane l writes equals what is there. */
static bool stores_same(const tf_warp *w, const tf_insn *in, const tf_access *a, unsigned l, const unsigned char *p) {
  unsigned n = in->aux & 0xFF;
  if (!is_store(in)) return false;
  for (unsigned e = 0; e < n; e++)
    if (memcmp(stored(w, in, e, l), p + (size_t)e * (a->bytes / n), a->bytes / n) != 0) return false;
  return true;
}

/* Two lanes of one store write the same. */
static bool lanes_alike(const tf_warp *w, const tf_insn *in, unsigned a, unsigned b) {
  if (!is_store(in)) return false;
  for (unsigned e = 0; e < (in->aux & 0xFF); e++)
    if (memcmp(stored(w, in, e, a), stored(w, in, e, b), in->aux >> 24) != 0) return false;
  return true;
}

static void conflict(tf_warp *w, const touch *t, const stamp *s, bool other_writes) {
  const char *file;
  uint32_t line;
  char place[300] = "";
  tf_module_location(w->launch->module, s->in->loc, &file, &line);
  if (file) (void)snprintf(place, sizeof place, " (%s:%u)", file, line);
  bool at_once = s->in == t->in && s->warp == w->index && s->cta == (uint32_t)w->cta->linear;
  bool same = at_once ? lanes_alike(w, t->in, t->lane, (unsigned)__builtin_ctz(s->lanes)) : t->same_value;
  bool note = same && other_writes && t->write;
  (note ? tf_note : tf_find)(w, t->in, t->lane, TF_FIND_race, t->address, 4,
                             "%s of 0x%llx is not ordered with the %s at PTX line %u%s by warp %u of CTA %u%s",
                             t->write ? "write" : "read", (unsigned long long)t->address,
                             other_writes ? "write" : "read", s->in->line, place, s->warp, s->cta,
                             note ? ", which wrote the same value" : "");
}

static void check_stamp(tf_warp *w, const touch *t, const stamp *s, bool other_writes) {
  if (!s->in || !(s->bytes & t->bytes) || (s->atomic && t->atomic) || ordered(w, t->lane, s)) return;
  conflict(w, t, s, other_writes);
}

static void set_stamp(tf_warp *w, const touch *t, stamp *s) {
  const tf_race_cta *r = w->cta->race;
  const tf_race *g = w->launch->race;
  stamp now = {.in = t->in, .cta = (uint32_t)w->cta->linear, .lanes = 1u << t->lane, .warp = (uint16_t)w->index};
  now.epoch = r->seen[w->index][w->index];
  now.cta_epoch = g->ctas ? cta_clock(g, w->cta->linear)[w->cta->linear] : 0;
  now.tick = r->warp[w->index].tick;
  now.bytes = t->bytes;
  now.atomic = t->atomic;
  bool joins = s->in && s->cta == now.cta && s->warp == now.warp && s->tick == now.tick && s->bytes == now.bytes &&
               s->atomic == now.atomic;
  if (joins) now.lanes |= s->lanes;
  *s = now;
}

static void touch_granule(tf_warp *w, const touch *t, granule *g) {
  check_stamp(w, t, &g->write, true);
  if (t->write) {
    check_stamp(w, t, &g->read[0], false);
    check_stamp(w, t, &g->read[1], false);
    set_stamp(w, t, &g->write);
    if (!t->atomic) g->read[0].in = g->read[1].in = NULL; /* ordered before this write, or reported */
    return;
  }
  bool mine = !g->read[0].in || (g->read[0].warp == w->index && g->read[0].cta == (uint32_t)w->cta->linear);
  set_stamp(w, t, &g->read[mine ? 0 : 1]);
}

static granule *global_granule(tf_race *g, uint64_t address) {
  uint64_t number = address / (4 * PAGE_GRANULES);
  page **bucket = &g->pages[number % BUCKETS], *p = *bucket;
  while (p && p->number != number)
    p = p->next;
  if (!p) {
    p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->number = number;
    p->next = *bucket;
    *bucket = p;
  }
  return &p->granules[address / 4 % PAGE_GRANULES];
}

/* The CTA whose shared memory holds the pointer (a cluster's CTAs reach each other's), or null. */
static tf_cta *shared_owner(const tf_warp *w, const unsigned char *p) {
  const tf_cluster *k = w->cta->cluster;
  for (uint32_t i = 0; i < k->count; i++)
    if ((uintptr_t)p - (uintptr_t)k->ctas[i]->shared < k->ctas[i]->shared_bytes) return k->ctas[i];
  return NULL;
}

static void touch_lane(tf_warp *w, const tf_insn *in, const tf_access *a, unsigned l, const unsigned char *p) {
  tf_cta *owner = shared_owner(w, p);
  bool local = w->local && (uintptr_t)p - (uintptr_t)w->local < w->local_stride * TF_LANES;
  bool global = !owner && !local && a->space != TF_SPACE_PARAM && a->space != TF_SPACE_CONST;
  if (!owner && !global) return;
  uint64_t at = owner ? (uint64_t)(p - (unsigned char *)owner->shared) : a->addr[l];
  uint64_t key = owner ? TF_SHARED_BASE + ((uint64_t)owner->rank << TF_CTA_SHIFT) + at : at;
  touch t = {.in = in, .lane = l, .address = a->addr[l], .write = a->kind != TF_READ};
  t.atomic = a->kind == TF_ATOMIC || a->is_volatile;
  if (t.atomic) synchronise(w, l, key, global);
  t.same_value = t.write && stores_same(w, in, a, l, p);
  for (uint64_t o = at & ~(uint64_t)3; o < at + tf_access_bytes(a, l); o += 4) {
    unsigned first = o < at ? (unsigned)(at - o) : 0,
             last = at + tf_access_bytes(a, l) - o < 4 ? (unsigned)(at + tf_access_bytes(a, l) - o) : 4;
    t.bytes = (uint8_t)((1u << last) - (1u << first));
    granule *g = owner ? &((tf_race_cta *)owner->race)->shared[o / 4] : global_granule(w->launch->race, o);
    if (g) touch_granule(w, &t, g);
  }
}

void tf_race_access(tf_warp *w, const tf_insn *in, const tf_access *a) {
  for (uint32_t m = a->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    touch_lane(w, in, a, l, a->dense ? a->ptr[0] + (size_t)l * a->bytes : a->ptr[l]);
  }
}
