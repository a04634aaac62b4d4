/* Asynchronous copies that are kept until they land; see Async.h. */
#include "Sim/Async.h"
#include "Sim/Check.h"
#include "Sim/Insn/Mbarrier.h"

#include <stdlib.h>
#include <string.h>

enum { FAILED_WAITS = 2 }; /* before a phase that is held back completes */

tf_copy *tf_async_new(tf_warp *w, const tf_insn *in, tf_copy_kind kind) {
  tf_copy *k = aligned_alloc(64, (sizeof *k + 63) & ~(size_t)63);
  if (!k) {
    tf_launch_no_memory(w->launch);
    return NULL;
  }
  memset(k, 0, sizeof *k);
  k->in = in;
  k->kind = kind;
  for (unsigned l = 0; l < TF_LANES; l++)
    k->group[l] = kind == TF_COPY_BULK ? w->copies.bulk_committed[l] : w->copies.committed[l];
  *(w->copies.first ? &w->copies.last->next : &w->copies.first) = k;
  w->copies.last = k;
  return k;
}

/* ---- Bytes --------------------------------------------------------------------------------------------------------- */

static unsigned char *pointer(const tf_access *a, unsigned l) {
  return a->dense ? a->ptr[0] + (size_t)l * a->bytes : a->ptr[l];
}

static void move(tf_copy *k, uint32_t lanes) {
  for (uint32_t m = lanes & k->to.ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    unsigned char *to = pointer(&k->to, l);
    uint32_t n = k->from.ok >> l & 1 ? tf_access_bytes(&k->from, l) : 0;
    if (n) memmove(to, pointer(&k->from, l), n);
    memset(to + n, 0, k->to.bytes - n);
  }
}

/* Global memory is seen through the CTA's view of it, which may have changed since the start. */
static void look_again(tf_warp *w, const tf_copy *k, tf_access *a) {
  uint32_t ok = a->ok;
  if (a->space == TF_SPACE_SHARED || !ok) return;
  a->mask = ok;
  tf_access_slow(w, k->in, a);
}

static void move_late(tf_warp *w, tf_copy *k, uint32_t lanes) {
  lanes &= k->late;
  if (!lanes) return;
  look_again(w, k, &k->from);
  look_again(w, k, &k->to);
  move(k, lanes);
  k->late &= ~lanes;
}

void tf_async_start(tf_warp *w, tf_copy *k) {
  const tf_launch *l = w->launch;
  k->lanes = k->to.ok;
  k->to.in_flight = k->from.in_flight = true;
  if (w->watch) {
    tf_check_access(w, k->in, &k->from);
    tf_check_access(w, k->in, &k->to);
  }
  if (!l->adversarial) {
    move(k, k->lanes);
    return;
  }
  k->late = k->lanes;
  for (uint32_t m = k->lanes; m; m &= m - 1) {
    unsigned lane = (unsigned)__builtin_ctz(m);
    if (k->to.space == TF_SPACE_SHARED)
      tf_shared_noise(pointer(&k->to, lane), k->to.bytes, l->seed ^ k->to.addr[lane] ^ k->in->line);
  }
}

/* ---- Landing ------------------------------------------------------------------------------------------------------- */

static void land(tf_warp *w, tf_copy *k, uint32_t lanes, tf_warp *by, unsigned by_lane) {
  const tf_launch *l = w->launch;
  lanes &= k->lanes;
  if (!lanes) return;
  move_late(w, k, lanes);
  if (l->checks & TF_SIM_CHECK_RACE) {
    tf_race_land(w, &k->to, lanes, by, by_lane, k->in);
    tf_race_land(w, &k->from, lanes, by, by_lane, k->in);
  }
  if (l->checks & TF_SIM_CHECK_INIT) {
    tf_access part = k->to;
    part.ok = part.mask = lanes & k->to.ok;
    part.dense = k->to.dense && part.ok == TF_FULL_MASK;
    if (k->to.dense && !part.dense)
      for (unsigned i = 0; i < TF_LANES; i++)
        part.ptr[i] = pointer(&k->to, i);
    tf_init_access(w, k->in, &part);
  }
  k->lanes &= ~lanes;
  w->worker->progress++;
}

static void sweep(tf_warp *w) {
  tf_copy **at = &w->copies.first;
  w->copies.last = NULL;
  while (*at) {
    tf_copy *k = *at;
    if (k->lanes) {
      w->copies.last = k;
      at = &k->next;
      continue;
    }
    *at = k->next;
    free(k);
  }
}

/* ---- Groups -------------------------------------------------------------------------------------------------------- */

void tf_async_commit(tf_warp *w, uint32_t mask, tf_copy_kind kind) {
  uint32_t *committed = kind == TF_COPY_BULK ? w->copies.bulk_committed : w->copies.committed;
  for (uint32_t m = mask; m; m &= m - 1)
    committed[__builtin_ctz(m)]++;
}

static uint32_t complete_lanes(const tf_warp *w, const tf_copy *k, uint32_t mask, int64_t keep) {
  const uint32_t *committed = k->kind == TF_COPY_BULK ? w->copies.bulk_committed : w->copies.committed;
  uint32_t done = 0;
  for (uint32_t m = mask & k->lanes; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (keep == TF_KEEP_NONE || (int64_t)k->group[l] + keep < (int64_t)committed[l]) done |= 1u << l;
  }
  return done;
}

void tf_async_wait(tf_warp *w, uint32_t mask, tf_copy_kind kind, int64_t keep, bool read_only) {
  bool race = w->launch->checks & TF_SIM_CHECK_RACE;
  for (tf_copy *k = w->copies.first; k; k = k->next) {
    if (k->kind != kind) continue;
    uint32_t lanes = complete_lanes(w, k, mask, keep);
    if (!lanes) continue;
    if (!read_only) {
      land(w, k, lanes, w, TF_LANES);
      continue;
    }
    move_late(w, k, lanes);
    if (race) tf_race_land(w, &k->from, lanes & ~k->read, w, TF_LANES, k->in);
    k->read |= lanes;
  }
  sweep(w);
}

/* ---- Barriers ------------------------------------------------------------------------------------------------------ */

static bool is_for(const tf_copy *k, unsigned l, const uint64_t *object) {
  return (k->kind == TF_COPY_BARRIER || k->kind == TF_COPY_ARRIVAL) && k->lanes >> l & 1 && k->object[l] == object;
}

/* The lane's copies before the arrival; landed for `by`, or with null only moved. */
static void precede(tf_warp *w, const tf_copy *arrival, unsigned l, tf_warp *by, unsigned by_lane) {
  for (tf_copy *k = w->copies.first; k != arrival; k = k->next) {
    if (k->kind != TF_COPY_GROUP) continue;
    if (by)
      land(w, k, 1u << l, by, by_lane);
    else
      move_late(w, k, 1u << l);
  }
}

static bool observe_warp(tf_warp *w, tf_warp *by, unsigned by_lane, const uint64_t *object, unsigned phase) {
  bool any = false;
  for (tf_copy *k = w->copies.first; k; k = k->next)
    for (unsigned l = 0; l < TF_LANES; l++) {
      if (!is_for(k, l, object) || (k->phase >> l & 1) != phase || k->late >> l & 1) continue;
      any = true;
      if (k->kind == TF_COPY_BARRIER) {
        land(w, k, 1u << l, by, by_lane);
        continue;
      }
      precede(w, k, l, by, by_lane);
      k->lanes &= ~(1u << l);
    }
  if (any) sweep(w);
  return any;
}

bool tf_async_observe(tf_warp *w, unsigned lane, const uint64_t *object, unsigned phase) {
  const tf_cluster *c = w->cta->cluster;
  bool any = false;
  for (uint32_t i = 0; i < c->count; i++)
    for (uint32_t j = 0; j < c->ctas[i]->warp_count; j++)
      if (c->ctas[i]->warps[j].copies.first) any |= observe_warp(&c->ctas[i]->warps[j], w, lane, object, phase);
  return any;
}

/* What was held back completes: bytes move, then the barrier hears of it. */
static void complete(tf_warp *w, tf_copy *k, unsigned l) {
  uint64_t *object = k->object[l];
  if (k->kind == TF_COPY_BARRIER) {
    move_late(w, k, 1u << l);
    (void)tf_mbarrier_complete(w, k->in, l, object, k->to.bytes);
  } else {
    precede(w, k, l, NULL, 0);
    k->late &= ~(1u << l);
    (void)tf_mbarrier_arrive(w, k->in, l, object, 1, false);
  }
  w->worker->progress++;
}

static bool complete_all(tf_cluster *c, const uint64_t *object, unsigned polls) {
  bool any = false;
  for (uint32_t i = 0; i < c->count; i++)
    for (uint32_t j = 0; j < c->ctas[i]->warp_count; j++) {
      tf_warp *w = &c->ctas[i]->warps[j];
      for (tf_copy *k = w->copies.first; k; k = k->next)
        for (unsigned l = 0; l < TF_LANES; l++) {
          if (!(k->late >> l & 1) || !k->object[l] || (object && k->object[l] != object)) continue;
          if (k->polls[l]++ < polls) continue;
          complete(w, k, l);
          any = true;
        }
    }
  return any;
}

void tf_async_poll(tf_warp *w, const uint64_t *object) {
  (void)complete_all(w->cta->cluster, object, FAILED_WAITS);
}

bool tf_async_settle(tf_cluster *c) {
  return complete_all(c, NULL, 0);
}

/* ---- The end ------------------------------------------------------------------------------------------------------- */

static void report(tf_warp *w, const tf_copy *k) {
  uint32_t lanes = k->lanes & ~k->read;
  if (k->kind == TF_COPY_ARRIVAL || !lanes) return;
  unsigned l = (unsigned)__builtin_ctz(lanes);
  tf_find(w, k->in, l, TF_FIND_unwaited_copy, k->to.addr[l], k->to.bytes,
          "the copy of %u bytes to 0x%llx by lanes 0x%08x was never waited for before the threads ended", k->to.bytes,
          (unsigned long long)k->to.addr[l], lanes);
}

void tf_async_end(tf_cta *c) {
  for (uint32_t i = 0; i < c->warp_count && c->warps; i++) {
    tf_warp *w = &c->warps[i];
    bool ended = w->launch && c->live_threads == 0 && w->launch->checks & TF_SIM_CHECK_SYNC;
    for (const tf_copy *k = w->copies.first; k && ended; k = k->next)
      report(w, k);
    tf_async_free(w);
  }
}

void tf_async_free(tf_warp *w) {
  while (w->copies.first) {
    tf_copy *next = w->copies.first->next;
    free(w->copies.first);
    w->copies.first = next;
  }
  w->copies.last = NULL;
}
