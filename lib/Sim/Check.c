/* The init checker; the entry point of all checkers for accesses. */
#include "Sim/Check.h"
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

void tf_check_cluster_done(tf_cluster *cluster) {
  if (races(cluster->ctas[0]->launch)) tf_race_cluster_done(cluster);
}

static const unsigned char *lane_ptr(const tf_access *a, unsigned l) {
  return a->dense ? a->ptr[0] + (size_t)l * a->bytes : a->ptr[l];
}

/* The CTA whose shared memory holds the pointer (a cluster's CTAs reach each other's), or null. */
static tf_cta *shared_owner(const tf_warp *w, const unsigned char *p) {
  const tf_cluster *k = w->cta->cluster;
  for (uint32_t i = 0; i < k->count; i++)
    if ((uintptr_t)p - (uintptr_t)k->ctas[i]->shared < k->ctas[i]->shared_bytes) return k->ctas[i];
  return NULL;
}

static bool in_local(const tf_warp *w, const unsigned char *p) {
  return w->local && (uintptr_t)p - (uintptr_t)w->local < w->local_stride * TF_LANES;
}

/* Where the init bytes of a resolved pointer are; null if the memory is not tracked. */
static unsigned char *init_of(tf_warp *w, const tf_access *a, unsigned l, const unsigned char *p) {
  const tf_cta *owner = shared_owner(w, p);
  if (owner) return owner->shared_init ? owner->shared_init + (p - (unsigned char *)owner->shared) : NULL;
  if (in_local(w, p)) return w->local_init ? w->local_init + (p - (unsigned char *)w->local) : NULL;
  if (a->space != TF_SPACE_GLOBAL && a->space != TF_SPACE_GENERIC) return NULL;
  const tf_alloc *m = tf_memory_find(&w->launch->device->memory, a->addr[l], tf_access_bytes(a, l));
  return m && m->init ? m->init + (a->addr[l] - m->lo) : NULL;
}

static void check_init(tf_warp *w, const tf_insn *in, const tf_access *a) {
  for (uint32_t m = a->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    unsigned char *init = init_of(w, a, l, lane_ptr(a, l));
    uint32_t bytes = tf_access_bytes(a, l);
    if (!init) continue;
    if (a->kind != TF_WRITE && memchr(init, 0, bytes))
      tf_find(w, in, l, TF_FIND_uninitialised, a->addr[l], bytes, "read of %u bytes at 0x%llx that nobody has written",
              bytes, (unsigned long long)a->addr[l]);
    if (a->kind != TF_READ) memset(init, 1, bytes);
  }
}

void tf_check_forget(tf_warp *w, const tf_access *a) {
  if (!(w->launch->checks & TF_SIM_CHECK_INIT)) return;
  for (uint32_t m = a->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    unsigned char *init = init_of(w, a, l, lane_ptr(a, l));
    if (init) memset(init, 0, a->bytes);
  }
}

void tf_check_access(tf_warp *w, const tf_insn *in, const tf_access *a) {
  if (w->launch->count) tf_count_access(w, in, a);
  if (w->launch->checks & TF_SIM_CHECK_INIT) check_init(w, in, a);
  if (races(w->launch)) tf_race_access(w, in, a);
}
