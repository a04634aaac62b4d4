/* Clusters and CTAs: making them, running their warps in turns, barriers, and telling when nothing moves any more.
 *
 * A cluster is the unit that is made resident; without clusters it is one CTA. A round gives every warp of it one turn. */
#include "Sim/Exec.h"
#include "Sim/Module.h"
#include "Sim/Async.h"
#include "Sim/View.h"
#include "Sim/Check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURN_FUEL = 16384, IDLE_ROUNDS = 64 };

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static bool alloc_shared(tf_cta *c) {
  const tf_launch *l = c->launch;
  c->shared_bytes = l->shared_bytes;
  c->shared = tf_spares_take(&c->worker->spares, l->shared_bytes + 256);
  if (!c->shared) return false;
  if (l->adversarial || l->checks & TF_SIM_CHECK_INIT)
    tf_shared_noise(c->shared, l->shared_bytes, c->linear + 1 + l->seed);
  else
    memset(c->shared, 0, l->shared_bytes);
  if (l->checks & TF_SIM_CHECK_INIT) c->shared_init = calloc(1, l->shared_bytes + 1);
  return !(l->checks & TF_SIM_CHECK_INIT) || c->shared_init;
}

static bool start_cta(tf_cta *c) {
  const tf_launch *l = c->launch;
  c->warp_count = (uint32_t)((l->block_count + TF_LANES - 1) / TF_LANES);
  c->live_threads = (uint32_t)l->block_count;
  c->rng = mix(l->seed ^ mix(c->linear + 1));
  c->warps = tf_spares_take(&c->worker->spares, c->warp_count * sizeof *c->warps);
  if (!c->warps) return false;
  memset(c->warps, 0, c->warp_count * sizeof *c->warps);
  if (!alloc_shared(c)) return false;
  for (uint32_t i = 0; i < c->warp_count; i++) {
    tf_warp *w = &c->warps[i];
    w->cta = c;
    w->launch = c->launch;
    w->worker = c->worker;
    w->index = i;
    w->frames.spares = &c->worker->spares;
    if (!tf_warp_init(w)) return false;
  }
  return tf_check_cta_begin(c);
}

/* The cluster's place in the grid of clusters, in the launch's order (shuffled by the seed). */
static void place(tf_cluster *k, const tf_launch *l, uint64_t index) {
  uint64_t n[3];
  for (int i = 0; i < 3; i++) {
    k->size[i] = l->cluster[i];
    n[i] = l->grid[i] / l->cluster[i];
  }
  k->id[0] = (uint32_t)(index % n[0]);
  k->id[1] = (uint32_t)(index / n[0] % n[1]);
  k->id[2] = (uint32_t)(index / n[0] / n[1]);
}

static bool start_member(tf_cluster *k, tf_worker *worker, uint32_t rank) {
  const tf_launch *l = worker->launch;
  tf_cta *c = calloc(1, sizeof *c);
  if (!c) return false;
  k->ctas[rank] = c;
  c->launch = worker->launch;
  c->worker = worker;
  c->cluster = k;
  c->rank = rank;
  c->ctaid[0] = k->id[0] * k->size[0] + rank % k->size[0];
  c->ctaid[1] = k->id[1] * k->size[1] + rank / k->size[0] % k->size[1];
  c->ctaid[2] = k->id[2] * k->size[2] + rank / k->size[0] / k->size[1];
  c->linear = c->ctaid[0] + (uint64_t)l->grid[0] * (c->ctaid[1] + (uint64_t)l->grid[1] * c->ctaid[2]);
  return start_cta(c);
}

tf_cluster *tf_cluster_start(tf_worker *worker, uint64_t index) {
  const tf_launch *l = worker->launch;
  tf_cluster *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  k->count = l->cluster[0] * l->cluster[1] * l->cluster[2];
  k->ctas = calloc(k->count, sizeof(tf_cta *));
  place(k, l, index);
  bool ok = k->ctas != NULL;
  for (uint32_t i = 0; ok && i < k->count; i++)
    ok = start_member(k, worker, i);
  if (ok) return k;
  tf_cluster_free(k);
  return NULL;
}

void tf_cluster_free(tf_cluster *k) {
  for (uint32_t i = 0; k->ctas && i < k->count; i++) {
    tf_cta *c = k->ctas[i];
    if (!c) continue;
    tf_check_cta_end(c);
    tf_view_retire(c);
    for (uint32_t j = 0; c->warps && j < c->warp_count; j++)
      tf_warp_free(&c->warps[j]);
    tf_spares_give(&c->worker->spares, c->warps);
    tf_spares_give(&c->worker->spares, c->shared);
    free(c->shared_init);
    free(c);
  }
  free(k->ctas);
  free(k);
}

/* bar.red's result for a lane that has waited: its instruction stands before the one it goes on with. */
static void deliver(tf_warp *w, unsigned l, const tf_barrier *b) {
  const tf_frame *f = w->lane_frame[l];
  const tf_insn *in = &f->func->code[w->lane_pc[l] - 1];
  unsigned kind = in->row->cls == TF_CLASS_BARRIER ? in->aux & TF_BAR_MASK : 0;
  if (!kind) return;
  uint32_t *d = (uint32_t *)(void *)(f->regs + (in->op[0] & ~3u));
  if (kind == TF_BAR_POPC)
    d[l] = b->red_popc;
  else
    *d = (*d & ~(1u << l)) | (kind == TF_BAR_AND ? b->red_and : b->red_or) << l;
}

static void wake(tf_cta *c, uint32_t id) {
  for (uint32_t i = 0; i < c->warp_count; i++) {
    tf_warp *w = &c->warps[i];
    for (unsigned l = 0; l < TF_LANES; l++) {
      if (w->lane_state[l] != TF_LANE_BARRIER || w->lane_wait[l] != id) continue;
      if (id < TF_BARRIERS) deliver(w, l, &c->barriers[id]);
      w->lane_state[l] = TF_LANE_RUN;
    }
  }
}

bool tf_barrier_complete(tf_cta *c, uint32_t id) {
  tf_barrier *b = &c->barriers[id];
  uint32_t expected = b->expected ? b->expected : c->live_threads;
  if (!b->active || b->arrived < expected) return false;
  tf_check_barrier_done(c, id);
  wake(c, id);
  *b = (tf_barrier){0};
  c->worker->progress++;
  return true;
}

void tf_cluster_complete(tf_cluster *k) {
  uint32_t live = 0;
  for (uint32_t i = 0; i < k->count; i++)
    live += k->ctas[i]->live_threads;
  if (k->arrived == 0 || k->arrived < live) return;
  k->arrived = 0;
  k->phase++;
  tf_check_cluster_done(k);
  for (uint32_t i = 0; i < k->count; i++)
    wake(k->ctas[i], TF_CLUSTER_BARRIER);
  k->ctas[0]->worker->progress++;
}

void tf_barrier_recheck(tf_cta *c) {
  for (uint32_t id = 0; id < TF_BARRIERS; id++)
    if (c->barriers[id].active && !c->barriers[id].expected && c->live_threads) tf_barrier_complete(c, id);
  tf_cluster_complete(c->cluster);
}

/* One line per group of threads that stand at the same place, for the hang report. */
static void describe_warp(tf_warp *w, const char *why) {
  uint32_t seen = 0;
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (w->lane_state[l] == TF_LANE_EXIT || (seen >> l & 1)) continue;
    uint32_t same = 0;
    for (unsigned k = l; k < TF_LANES; k++)
      if (w->lane_state[k] == w->lane_state[l] && w->lane_pc[k] == w->lane_pc[l] &&
          w->lane_frame[k] == w->lane_frame[l])
        same |= 1u << k;
    seen |= same;
    const tf_func *f = w->lane_frame[l]->func;
    uint32_t pc = w->lane_pc[l];
    char state[64];
    bool spins = false; /* perhaps on what a kernel of another stream would write on a GPU */
    if (w->lane_state[l] == TF_LANE_BARRIER && w->lane_wait[l] == TF_CLUSTER_BARRIER)
      (void)snprintf(state, sizeof state, "wait at the cluster's barrier");
    else if (w->lane_state[l] == TF_LANE_BARRIER)
      (void)snprintf(state, sizeof state, "wait at barrier %u", w->lane_wait[l]);
    else if (w->lane_state[l] == TF_LANE_GATHER)
      (void)snprintf(state, sizeof state, "wait for the members 0x%08x", w->lane_wait[l]);
    else
      spins = snprintf(state, sizeof state, "spin") > 0 && w->launch->entry->global_order;
    if (w->lane_state[l] == TF_LANE_BARRIER && pc) pc--; /* they go on behind the barrier */
    tf_find(w, &f->code[pc], l, TF_FIND_hang, 0, 0, "%s: warp %u lanes 0x%08x %s (%s in '%s')%s", why, w->index, same,
            state, f->code[pc].row->opcode, f->name,
            spins ? "; launches run one after another here, so no other kernel can end this" : "");
  }
}

void tf_cluster_report_hang(tf_cluster *k, const char *why) {
  for (uint32_t i = 0; i < k->count; i++)
    for (uint32_t j = 0; j < k->ctas[i]->warp_count; j++)
      describe_warp(&k->ctas[i]->warps[j], why);
}

static int64_t turn_fuel(tf_cta *c) {
  if (!c->launch->seed) return TURN_FUEL;
  c->rng = c->rng * 6364136223846793005u + 1442695040888963407u;
  return 1 + (int64_t)((c->rng >> 33) % 400) * ((c->rng >> 60) ? 1 : 40);
}

/* The order of the warps in this round: natural, or rotated and reversed by the seed. */
static uint32_t warp_at(const tf_cta *c, uint32_t i, uint64_t round) {
  if (!c->launch->seed) return i;
  uint32_t at = (uint32_t)((i + (round >> 1)) % c->warp_count);
  return round & 1 ? c->warp_count - 1 - at : at;
}

typedef struct round_state {
  bool moved, done;
} round_state;

static void round_cta(tf_cta *c, round_state *s) {
  uint64_t order = c->launch->seed ? c->rng >> 20 : 0;
  for (uint32_t i = 0; i < c->warp_count; i++) {
    tf_warp *w = &c->warps[warp_at(c, i, order)];
    if (!w->live) continue;
    uint64_t executed = w->worker->executed;
    tf_turn turn = tf_warp_run(w, turn_fuel(c));
    if (w->worker->executed != executed) s->moved = true;
    if (turn != TF_TURN_DONE) s->done = false;
  }
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes) {
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    memcpy(&word, (const char *)data + i, 8);
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

static uint64_t hash_frames(uint64_t h, const tf_frame *f) {
  for (; f; f = f->sibling) {
    if (f->live) h = hash_bytes(h, f->regs, f->func->regs_bytes);
    if (f->child) h = hash_frames(h, f->child);
  }
  return h;
}

/* A warp that comes back to a state while no memory has changed will do so for ever. The state is compared with one that
 * is renewed at powers of two (Brent), so every cycle is found. */
static bool warp_loops(tf_warp *w, uint64_t idle) {
  uint64_t h = hash_bytes(w->live, w->lane_pc, sizeof w->lane_pc);
  h = hash_bytes(h ^ w->cc, w->lane_state, sizeof w->lane_state);
  h = hash_frames(h, w->root);
  if (idle == IDLE_ROUNDS) w->looped = false;
  if (idle > IDLE_ROUNDS && h == w->seen_state) w->looped = true;
  if ((idle & (idle - 1)) == 0) w->seen_state = h;
  return w->looped;
}

/* Do all warps loop? Of those that loop over a clock this shows only while the clock stands still, so it is held for the
 * first half of each stretch of rounds between powers of two: a kernel that measures a long calculation sees its time. */
static bool cluster_loops(tf_cluster *k) {
  bool all = true;
  for (uint32_t i = 0; i < k->count; i++)
    for (uint32_t j = 0; j < k->ctas[i]->warp_count; j++)
      if (k->ctas[i]->warps[j].live) all &= warp_loops(&k->ctas[i]->warps[j], k->idle);
  return all;
}

static void hold_clock(tf_cluster *k) {
  uint64_t idle = k->idle + 1, stretch = 1; /* as after this round, if it changes nothing */
  while (stretch <= idle / 2)
    stretch *= 2;
  const tf_worker *worker = k->ctas[0]->worker;
  bool hold = idle >= IDLE_ROUNDS && idle < stretch + stretch / 2;
  if (hold && !k->held) k->timed = false;
  if (!hold)
    k->held = 0;
  else if (!k->held)
    k->held = worker->clock + worker->executed + 1;
}

/* All warps loop. If some of them look at a clock, time is all they wait for: it leaps, twice as far each time. Who still
 * waits after half an hour waits for ever. */
static bool wait_is_over(tf_cluster *k) {
  if (!k->timed || k->leap >= (uint64_t)1 << 41) return false;
  k->leap = k->leap ? 2 * k->leap : 1 << 16;
  k->ctas[0]->worker->clock += k->leap;
  k->held = 0;
  k->idle = IDLE_ROUNDS - 1;
  return true;
}

tf_round tf_cluster_round(tf_cluster *k) {
  round_state s = {.done = true};
  tf_worker *worker = k->ctas[0]->worker;
  bool changed = worker->progress != k->progress; /* by other clusters, since the last round */
  uint64_t progress = worker->progress;
  if (k->idle == 0) k->leap = 0;
  hold_clock(k);
  for (uint32_t i = 0; i < k->count; i++)
    round_cta(k->ctas[i], &s);
  k->progress = worker->progress;
  if (s.done) return TF_ROUND_DONE;
  k->idle = changed || worker->progress != progress ? 0 : k->idle + 1;
  bool spins = s.moved && k->idle >= IDLE_ROUNDS && cluster_loops(k);
  if (s.moved && !spins) return TF_ROUND_READY;
  if (tf_async_settle(k) || (spins && wait_is_over(k))) return TF_ROUND_READY;
  return spins ? TF_ROUND_SPINNING : TF_ROUND_STUCK;
}
