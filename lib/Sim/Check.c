/* The entry point of all checkers for accesses. */
#include "Sim/Check.h"
#include "Sim/Async.h"
#include "Sim/Count.h"
#include "Sim/Module.h"

#include <string.h>

static bool races(const tf_launch *l) {
  return l->checks & TF_SIM_CHECK_RACE;
}

bool tf_check_launch_begin(tf_launch *l) {
  return !races(l) || tf_race_begin(l);
}

void tf_check_launch_end(tf_launch *l) {
  tf_race_end(l);
}

bool tf_check_cta_begin(tf_cta *cta) {
  return !races(cta->launch) || tf_race_cta_begin(cta);
}

void tf_check_cta_end(tf_cta *cta) {
  tf_async_end(cta);
  tf_race_cta_end(cta);
}

void tf_check_barrier_arrive(tf_warp *w, const tf_insn *in, uint32_t id, unsigned lane) {
  if (races(w->launch)) tf_race_barrier_arrive(w, in, id, lane);
}

void tf_check_collective(tf_warp *w, const tf_insn *in, uint32_t mask) {
  if (in->member == 255) {
    if (mask != w->born)
      tf_find(w, in, (unsigned)__builtin_ctz(mask), TF_FIND_divergent, 0, 0,
              "lanes 0x%08x execute this, lanes 0x%08x of the warp do not", mask, w->born & ~mask);
    return;
  }
  const uint32_t *members = tf_operand(w, in->ext[in->member]);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (!(members[l] >> l & 1))
      tf_find(w, in, l, TF_FIND_member_mask, 0, 0, "lane %u executes with member mask 0x%08x, which misses it", l,
              members[l]);
  }
}

/* An aligned barrier is one instruction for the whole warp. Its lanes may come one after another, but not to different
 * barrier instructions, and none may stay away. */
static void check_aligned(tf_warp *w, uint32_t id) {
  uint32_t waiting = 0, elsewhere = 0, first = TF_LANES;
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (w->lane_state[l] != TF_LANE_BARRIER || w->lane_wait[l] != id) continue;
    if (first == TF_LANES) first = l;
    waiting |= 1u << l;
    bool same = w->lane_pc[l] == w->lane_pc[first] && w->lane_frame[l] == w->lane_frame[first];
    elsewhere |= same ? 0 : 1u << l;
  }
  if (!waiting) return;
  const tf_insn *in = &w->lane_frame[first]->func->code[w->lane_pc[first] - 1];
  if (!(in->aux & TF_BAR_ALIGNED)) return;
  if (elsewhere)
    tf_find(w, in, first, TF_FIND_divergent, 0, 0,
            "lanes 0x%08x wait for barrier %u here, lanes 0x%08x at another instruction", waiting & ~elsewhere, id,
            elsewhere);
  else if (waiting != w->live)
    tf_find(w, in, first, TF_FIND_divergent, 0, 0,
            "aligned barrier %u completed with lanes 0x%08x of the warp; its lanes 0x%08x never came", id, waiting,
            w->live & ~waiting);
}

/* A barrier for all threads, of which some have ended: hardware lets the rest go on, the program has lost them. */
static void check_ended(tf_cta *c, uint32_t id) {
  uint64_t ended = c->launch->block_count - c->live_threads;
  if (!ended || c->barriers[id].expected) return;
  for (uint32_t i = 0; i < c->warp_count; i++)
    for (unsigned l = 0; l < TF_LANES; l++) {
      tf_warp *w = &c->warps[i];
      if (w->lane_state[l] != TF_LANE_BARRIER || w->lane_wait[l] != id) continue;
      tf_find(w, &w->lane_frame[l]->func->code[w->lane_pc[l] - 1], l, TF_FIND_barrier_exit, 0, 0,
              "barrier %u for all threads of the CTA completed without %llu that have ended", id,
              (unsigned long long)ended);
      return;
    }
}

void tf_check_barrier_done(tf_cta *cta, uint32_t id) {
  if (cta->launch->checks & TF_SIM_CHECK_SYNC) check_ended(cta, id);
  if (cta->launch->count) tf_count_barrier(cta, id);
  for (uint32_t i = 0; i < cta->warp_count && cta->launch->checks & TF_SIM_CHECK_SYNC; i++)
    check_aligned(&cta->warps[i], id);
  if (races(cta->launch)) tf_race_barrier_done(cta, id);
}

void tf_check_warp_sync(tf_warp *w, uint32_t lanes) {
  if (races(w->launch)) tf_race_warp_sync(w, lanes);
}

void tf_check_cta_ends(tf_cta *cta) {
  if (races(cta->launch)) tf_race_cta_ends(cta);
}

void tf_check_fence(tf_warp *w, bool wide) {
  if (races(w->launch)) tf_race_fence(w, wide);
}

void tf_check_cluster_done(tf_cluster *cluster) {
  if (races(cluster->ctas[0]->launch)) tf_race_cluster_done(cluster);
}

void tf_check_forget(tf_warp *w, const tf_access *a) {
  if (w->launch->checks & TF_SIM_CHECK_INIT) tf_init_forget(w, a);
}

void tf_check_access(tf_warp *w, const tf_insn *in, tf_access *a) {
  if (w->launch->count) tf_count_access(w, in, a);
  bool later = a->in_flight && a->kind == TF_WRITE; /* it counts as written when it has landed */
  if (w->launch->checks & TF_SIM_CHECK_INIT && !later) tf_init_access(w, in, a);
  if (races(w->launch)) tf_race_access(w, in, a);
}
