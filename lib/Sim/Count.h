/* Counting. A worker has one tally per instruction of the launch's module; everything else is a sum of these:
 *
 *   worker 0   [ i0 ][ i1 ][ i2 ]…[ elsewhere ]  ┐                       ┌▸ per launch, by class (the instruction's row)
 *   worker 1   [ i0 ][ i1 ][ i2 ]…[ elsewhere ]  ┴▸ sum per instruction ─┼▸ per source line (.loc, or the PTX line)
 *                                                                        └▸ per matrix instruction (its modifiers)
 *   launch     buffers: bytes, and a bit per 32-byte sector that was touched
 *
 * "elsewhere" takes code of other modules, which a function pointer may reach. The hooks may only be called while
 * launch->count is set. */
#ifndef TF_SIM_COUNT_H
#define TF_SIM_COUNT_H

#include "Sim/Access.h"

bool tf_count_launch_begin(tf_launch *launch);
bool tf_count_worker_begin(tf_worker *worker);
/* Sums the workers' tallies into the report. False when memory is out. */
bool tf_count_launch_end(tf_launch *launch, tf_worker *workers, unsigned count, tf_sim_report *out);
void tf_count_worker_end(tf_worker *worker);
void tf_count_launch_free(tf_launch *launch);

/* A resolved access, as tf_check_access. */
void tf_count_access(tf_warp *w, const tf_insn *in, const tf_access *a);
/* One matrix product of m x n x k. */
void tf_count_mma(tf_warp *w, const tf_insn *in, unsigned m, unsigned n, unsigned k);
/* A barrier has completed; its threads are still parked. */
void tf_count_barrier(tf_cta *cta, uint32_t id);

static inline tf_sim_tally *tf_count_at(const tf_warp *w, const tf_insn *in) {
  const tf_func *f = w->frame->func;
  const bool here = f->module == w->launch->module;
  return &w->worker->tally[here ? f->first_tally + in->site : w->launch->tally_count - 1];
}

#endif
