/* Shared memory of other CTAs of the cluster: it is there until the last thread of its CTA has ended, so something must
 * order that end behind each access (a barrier of the cluster, an mbarrier).
 *
 *      CTA 0   … ld from CTA 1 …  | arrive        |           the newest access from each CTA is kept; when the owner
 *      CTA 1   …                  |      wait | end           ends, its clocks say whether it knows of them */
#include "Sim/Module.h"
#include "Sim/Race.h"

static void report(const tf_race_remote *a, const tf_cta *owner) {
  const uint32_t *at = owner->ctaid;
  tf_find(a->warp, a->in, a->lane, TF_FIND_cta_ended, a->address, a->bytes,
          "access to shared memory of CTA (%u,%u,%u), whose threads may have ended: nothing orders their end behind it",
          at[0], at[1], at[2]);
}

void tf_race_remote_access(tf_warp *w, const tf_insn *in, const tf_access *a, unsigned lane, tf_cta *owner) {
  tf_race_cta *r = w->cta->race, *theirs = owner->race;
  tf_race_remote access = {w, in, a->addr[lane], r->clock, tf_access_bytes(a, lane), lane};
  if (owner->live_threads)
    theirs->remote[w->cta->rank] = access;
  else
    report(&access, owner);
}

void tf_race_cta_ends(tf_cta *c) {
  const tf_race_cta *r = c->race;
  for (uint32_t i = 0; i < c->cluster->count; i++) {
    const tf_race_remote *a = &r->remote[i];
    if (a->warp && a->clock >= tf_clockset_get(&r->row, (uint32_t)a->warp->cta->linear)) report(a, c);
  }
}
