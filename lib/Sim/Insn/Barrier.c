/* Barriers. Threads are counted; a warp of which all live lanes arrive together counts as 32 where the program gives a
 * count, since the hardware counts by warps. Those who wait are parked behind the instruction and woken by
 * tf_barrier_complete, which also delivers the result of bar.red. */
#include "Sim/Insn/Lanes.h"
#include "Sim/View.h"

enum { ALIGNED = TF_BAR_ALIGNED, COUNTED = 1u << 9 };

/* Lanes of `mask` with the leader's barrier id and count. */
static uint32_t same_barrier(const uint32_t *id, const uint32_t *count, uint32_t mask, unsigned leader) {
  uint32_t same = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (id[l] == id[leader] && (!count || count[l] == count[leader])) same |= 1u << l;
  }
  return same;
}

static bool check(tf_warp *w, const tf_insn *in, unsigned lane, uint32_t id, uint32_t count) {
  tf_barrier *b = &w->cta->barriers[id & 15];
  bool strict = w->launch->checks & TF_SIM_CHECK_SYNC;
  if (id >= TF_BARRIERS) {
    tf_find(w, in, lane, TF_FIND_barrier_id, 0, 0, "barrier %u; a CTA has barriers 0 to 15", id);
    return false;
  }
  if (strict && count % TF_LANES)
    tf_find(w, in, lane, TF_FIND_barrier_count, 0, 0, "barrier %u with a count of %u, no multiple of 32", id, count);
  if (strict && b->active && b->expected != count)
    tf_find(w, in, lane, TF_FIND_barrier_count, 0, 0, "barrier %u is used with counts %u and %u at the same time", id,
            b->expected, count);
  return true;
}

static void arrive(tf_warp *w, const tf_insn *in, uint32_t id, uint32_t count, uint32_t group, bool waits) {
  tf_barrier *b = &w->cta->barriers[id];
  if (!b->active) *b = (tf_barrier){.active = true, .red_and = 1, .expected = count};
  b->arrived += count && group == w->live ? TF_LANES : (uint32_t)__builtin_popcount(group);
  tf_check_barrier_arrive(w, in, id, (unsigned)__builtin_ctz(group));
  if (waits) b->waiting += (uint32_t)__builtin_popcount(group);
}

/* Parks the lanes behind the barrier, then lets it complete if they were the last. */
static void wait_at(tf_warp *w, uint32_t id, uint32_t group) {
  tf_warp_park(w, group, w->pc + 1);
  for (uint32_t m = group; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    w->lane_state[l] = TF_LANE_BARRIER;
    w->lane_wait[l] = id;
  }
}

static void barrier(tf_warp *w, const tf_insn *in, uint32_t mask, unsigned first, bool waits, uint32_t p) {
  const uint32_t *id = SLOT(const uint32_t, first), *count = in->aux & COUNTED ? SLOT(const uint32_t, first + 1) : NULL;
  tf_warp_park(w, w->mask & ~mask, w->pc + 1);
  while (mask) {
    unsigned leader = (unsigned)__builtin_ctz(mask);
    uint32_t group = same_barrier(id, count, mask, leader), n = count ? count[leader] : 0;
    mask &= ~group;
    if (!check(w, in, leader, id[leader], n)) {
      tf_warp_park(w, group, w->pc + 1);
      continue;
    }
    arrive(w, in, id[leader], n, group, waits);
    tf_barrier *b = &w->cta->barriers[id[leader]];
    b->red_and &= (p & group) == group;
    b->red_or |= (p & group) != 0;
    b->red_popc += (uint32_t)__builtin_popcount(p & group);
    if (waits)
      wait_at(w, id[leader], group);
    else
      tf_warp_park(w, group, w->pc + 1);
    (void)tf_barrier_complete(w->cta, id[leader]);
  }
  w->resched = true;
}

HANDLER(sync) {
  barrier(w, in, mask, 0, true, 0);
}
HANDLER(arrives) {
  barrier(w, in, mask, 0, false, 0);
}
HANDLER(red) {
  barrier(w, in, mask, 1, true, PRED_SRC(in->op_count - 1u));
}

static bool is_aligned(const tf_form *f) {
  return strcmp(f->row->opcode, "bar") == 0 || tf_form_has(f, "aligned");
}
SELECTOR(select_sync) {
  f->in->aux = (is_aligned(f) ? ALIGNED : 0u) | (f->count[1] ? COUNTED : 0u);
  return sync;
}
SELECTOR(select_arrive) {
  f->in->aux = (is_aligned(f) ? ALIGNED : 0u) | COUNTED;
  return arrives;
}
SELECTOR(select_red) {
  f->in->aux = (is_aligned(f) ? ALIGNED : 0u) | (f->operand_count == 4 ? COUNTED : 0u);
  f->in->aux |= tf_form_has(f, "popc") ? TF_BAR_POPC : tf_form_has(f, "and") ? TF_BAR_AND : TF_BAR_OR;
  return red;
}

/* The cluster's barrier: arrive and wait are separate; a phase ends when all live threads of the cluster arrived. */
HANDLER(cluster_arrive) {
  (void)in;
  for (uint32_t m = mask; m; m &= m - 1)
    w->lane_phase[__builtin_ctz(m)] = w->cta->cluster->phase;
  if (w->launch->adversarial) tf_view_release(w->cta);
  w->cta->cluster->arrived += (uint32_t)__builtin_popcount(mask);
  tf_cluster_complete(w->cta->cluster);
  w->pc++;
}
HANDLER(cluster_wait) {
  uint32_t blocked = 0;
  (void)in;
  for (uint32_t m = mask; m; m &= m - 1)
    if (w->lane_phase[__builtin_ctz(m)] == w->cta->cluster->phase) blocked |= m & (0u - m);
  tf_warp_park(w, w->mask & ~blocked, w->pc + 1);
  wait_at(w, TF_CLUSTER_BARRIER, blocked);
  w->resched = true;
}
#define ALWAYS(name, handler)                                                                                          \
  SELECTOR(name) {                                                                                                     \
    (void)f;                                                                                                           \
    return handler;                                                                                                    \
  }
ALWAYS(select_cluster_arrive, cluster_arrive)
ALWAYS(select_cluster_wait, cluster_wait)

/* Lanes and warps of one worker take turns, so their accesses are ordered already. Between workers a read-modify-write
 * of the launch orders them; a plain fence would do as well, but the thread sanitizer does not know it. */
enum { NARROW, WIDE, PROXY }; /* aux: within the CTA, beyond it, or between the proxies of one thread only */
HANDLER(fence) {
  (void)mask;
  (void)atomic_fetch_add(&w->launch->executed, 0);
  if (in->aux != NARROW && w->launch->adversarial) tf_view_release(w->cta);
  if (in->aux != PROXY) tf_check_fence(w, in->aux == WIDE);
  w->spin = true;
}
SELECTOR(select_fence) {
  f->in->aux = tf_form_has(f, "proxy") ? PROXY : tf_form_has(f, "cta") ? NARROW : WIDE;
  return fence;
}

static const tf_row rows[] = {
#include "Sim/Insn/Barrier.def"
};
TF_FAMILY(Barrier, rows)
