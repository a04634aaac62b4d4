/* Which shared buffers may lie on the same bytes?
 *
 *   for k …:                         a  |===========|                       a is dead when b is first used, and a barrier of
 *     copy(x, a); sync; use(a); sync                 b  |===========|       the whole block stands between: they may share
 *   copy(y, b); sync; use(b)
 *
 * Two buffers stay apart if
 *   - both may hold a value at once: their ranges of accesses, in source order, meet. A loop around accesses, but inside
 *     of the buffer's binding, counts as a whole (a value may travel over its back edge); or
 *   - on some path an access of one follows an access of the other without a barrier of the whole block in between, the
 *     back edges of loops included. Pending asynchronous copies outlive barriers until a wait for all groups.
 * Branches count as run one after the other, so that threads on different sides of a condition are kept apart; a return
 * counts as nothing, so that threads that went on are. Barriers of parts of the block never separate here. */
#ifndef TF_LOWER_SHARED_OVERLAP_H
#define TF_LOWER_SHARED_OVERLAP_H

#include "LowerToLLVM/SharedPlan.h"

/* More buffers than this are never packed. */
#define TF_SHARED_PACKED_MAX 64

/* conflicts[i], bit j: buffers i and j of the plan (TF_SHARED_PACKED_MAX at most) must not share bytes. */
void tf_shared_conflicts(const tf_module *module, const tf_kernel *kernel, const tf_shared_plan *plan,
                         uint64_t conflicts[TF_SHARED_PACKED_MAX]);

#endif
