/* Hooks of the checkers and counters into the executor. Families call them only when w->watch is set (or the function
 * says otherwise), so that plain runs pay one test.
 *
 * init: a byte per byte beside global, shared and local memory, 1 where written; a lane mask per register, see CheckInit.c.
 * race: clocks (Race.h) and what each byte remembers (Shadow.h). sync: the families themselves (barriers, member masks)
 * and the list of copies in flight (Async.h). */
#ifndef TF_SIM_CHECK_H
#define TF_SIM_CHECK_H

#include "Sim/Access.h"
#include "Sim/Exec.h"

bool tf_check_launch_begin(tf_launch *launch);
void tf_check_launch_end(tf_launch *launch);
bool tf_check_cta_begin(tf_cta *cta);
void tf_check_cta_end(tf_cta *cta);
/* Lanes of the warp arrive at a barrier. */
void tf_check_barrier_arrive(tf_warp *w, const tf_insn *in, uint32_t id, unsigned lane);
/* Lanes come to a collective with a member mask, or to one of the whole warp that all its lanes must execute. */
void tf_check_collective(tf_warp *w, const tf_insn *in, uint32_t mask);
/* The lanes have met at a bar.warp.sync. */
void tf_check_warp_sync(tf_warp *w, uint32_t lanes);
/* The cluster's barrier has completed. */
void tf_check_cluster_done(tf_cluster *cluster);
/* All threads of the barrier's phase have arrived; those that wait are still parked. */
void tf_check_barrier_done(tf_cta *cta, uint32_t id);
/* One warp access that has been resolved: a->ok lanes touch a->ptr[lane]. Before the bytes are read or after they have
 * been written makes no difference. Counts, marks and checks. */
void tf_check_access(tf_warp *w, const tf_insn *in, tf_access *a);
/* The CTA's last thread has ended. */
void tf_check_cta_ends(tf_cta *cta);
/* A fence of the warp; wide: its scope reaches beyond the CTA. */
void tf_check_fence(tf_warp *w, bool wide);

/* CheckInit.c; called through the hooks when the checker is on. */
void tf_init_access(tf_warp *w, const tf_insn *in, const tf_access *a);
/* Global bytes are nobody's again. */
void tf_init_forget(tf_warp *w, const tf_access *a);
/* Lane's bytes [offset, offset + bytes) of local memory begin to live: nobody has written them. */
void tf_init_local_begins(tf_warp *w, unsigned lane, uint64_t offset, uint64_t bytes);
/* The guard is set in the lanes that come to the instruction, or reported. */
void tf_init_guard(tf_warp *w, const tf_insn *in);
/* The registers that the instruction reads are set in the lanes of the mask, or reported; those it writes become set. */
void tf_init_registers(tf_warp *w, const tf_insn *in, uint32_t mask);

/* The lanes' bytes count as never written again. */
void tf_check_forget(tf_warp *w, const tf_access *a);

/* CheckRace.c; called through the hooks above when the checker is on. */
bool tf_race_begin(tf_launch *launch);
void tf_race_end(tf_launch *launch);
bool tf_race_cta_begin(tf_cta *cta);
void tf_race_cta_end(tf_cta *cta);
void tf_race_barrier_arrive(tf_warp *w, const tf_insn *in, uint32_t id, unsigned lane);
void tf_race_barrier_done(tf_cta *cta, uint32_t id);
void tf_race_warp_sync(tf_warp *w, uint32_t lanes);
void tf_race_cluster_done(tf_cluster *cluster);
void tf_race_access(tf_warp *w, const tf_insn *in, tf_access *a);
void tf_race_fence(tf_warp *w, bool wide);
/* The CTA's last thread has ended. */
void tf_race_cta_ends(tf_cta *cta);
/* Lanes' accesses of a copy that was in flight have ended: from now on they count as lane by_lane's of warp `by`, or as
 * their own lanes' if by_lane is TF_LANES. */
void tf_race_land(tf_warp *w, tf_access *a, uint32_t lanes, tf_warp *by, unsigned by_lane, const tf_insn *in);

#endif
