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

void tf_check_barrier_arrive(tf_warp *w, uint32_t id) {
  if (races(w->launch)) tf_race_barrier_arrive(w, id);
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

void tf_check_barrier_done(tf_cta *cta, uint32_t id) {
  if (cta->launch->count) tf_count_barrier(cta, id);
  for (uint32_t i = 0; i < cta->warp_count && cta->launch->checks & TF_SIM_CHECK_SYNC; i++)
    check_aligned(&cta->warps[i], id);
  if (races(cta->launch)) tf_race_barrier_done(cta, id);
}

void tf_check_warp_sync(tf_warp *w, uint32_t lanes) {
  if (races(w->launch)) tf_race_warp_sync(w, lanes);
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
