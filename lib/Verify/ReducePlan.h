/* Who has to meet in a reduction, from the layouts of its two ends.
 *
 *   result r of the destination = combination of the source elements E(r) (the reduced axes' coordinates run, the others are r's)
 *   thread t writes the results D_t that it sees of the destination; for each it needs all of E(r), wherever they are held
 *
 * Replicas stay apart: a thread takes an element from a thread with its own coordinates on the source's Broadcast axes (and, for
 * lanes, of its own warp) if one holds it. Of a Partial axis it needs every coordinate's share. A group is the closure of
 * "takes from"; groups that cross warps and share one meet at one barrier and count as one. */
#ifndef TF_VERIFY_REDUCEPLAN_H
#define TF_VERIFY_REDUCEPLAN_H

#include "Verify/Side.h"

typedef enum tf_reduce_fault {
  TF_REDUCE_FINE,
  TF_REDUCE_CROSSES_CTAS,
  TF_REDUCE_MISSES, /* thread */
  TF_REDUCE_UNEVEN, /* a group across warps that is neither the block nor whole warps: thread (its first), count */
  TF_REDUCE_DYNAMIC /* the distribution over warps and threads is symbolic, or too large to enumerate */
} tf_reduce_fault;

typedef struct tf_reduce_plan {
  tf_reduce_fault fault;
  int64_t thread, count;
  unsigned group_count; /* groups of more than one thread */
  const tf_thread_set *groups;
  const bool *crosses_warps; /* per group */
  int64_t workspace;         /* elements of the accumulator: results times warps, over the groups that cross warps */
} tf_reduce_plan;

/* reduced[i]: axis i of the source is reduced. A destination axis stands for source_axis[j]. Both sides as tf_side_of gives them;
 * in a source that every thread sees all of, nobody meets. Memoised. */
const tf_reduce_plan *tf_reduce_plan_of(const tf_verifier *verifier, const tf_side *source, const bool *reduced,
                                        const tf_side *destination, const unsigned *source_axis);

#endif
