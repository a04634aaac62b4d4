/* Hooks of the checkers and counters into the executor. Families call them only when w->watch is set (or the function
 * says otherwise), so that plain runs pay one test.
 *
 * init: a byte per byte beside global, shared and local memory, 1 where written.
 * race, sync: see CheckRace.c and CheckSync.c. */
#ifndef TF_SIM_CHECK_H
#define TF_SIM_CHECK_H

#include "Sim/Access.h"
#include "Sim/Exec.h"

bool tf_check_cta_begin(tf_cta *cta);
void tf_check_cta_end(tf_cta *cta);
/* All threads of the barrier's phase have arrived. */
void tf_check_barrier_done(tf_cta *cta, uint32_t id);
/* One warp access that has been resolved: a->ok lanes touch a->ptr[lane]. Before the bytes are read or after they have
 * been written makes no difference. Counts, marks and checks. */
void tf_check_access(tf_warp *w, const tf_insn *in, const tf_access *a);

#endif
