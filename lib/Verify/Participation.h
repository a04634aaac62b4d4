/* Participation: which threads a sync joins, and which barrier does it. One routine for the verifier and the lowering.
 *
 *   participants of a mesh = offset + sum coord * stride over its layout; they have to be one interval [base, base +
 * count)
 *
 *   base 0, count = the whole block, over 32 threads          BLOCK   barrier.cta.sync.aligned.all 0
 *   base 0, count = the whole block, at most 32 threads       WARP    bar.warp.sync mask          (mask: exactly these
 * lanes) within one warp                                           LANES   bar.warp.sync mask          only
 * participants go there more than one warp, base and count multiples of 32        NAMED barrier.cta.sync.aligned.count
 * id, count     the same the full mesh over cta, all CTAs of the grid              GRID    the software barrier of the
 * runtime
 *
 * base, count and mask are relative to the instance around the matched scope: for lanes nested in a warp scope
 * (per_warp) the barrier exists once in every active warp, `position` is thread % 32; otherwise it is the linear thread
 * id. A warp position counts 32 threads. "The whole block" is B of the kernel: a full mesh smaller than B is a subset.
 *
 * A thread takes part iff base <= position < base + count; every other thread must not reach the barrier. */
#ifndef TF_VERIFY_PARTICIPATION_H
#define TF_VERIFY_PARTICIPATION_H

#include "Verify/Scopes.h"

typedef enum tf_barrier_kind {
  TF_BARRIER_BLOCK,
  TF_BARRIER_WARP,
  TF_BARRIER_LANES,
  TF_BARRIER_NAMED,
  TF_BARRIER_GRID
} tf_barrier_kind;

typedef struct tf_participation {
  tf_barrier_kind kind;
  int64_t base, count; /* GRID: 0 */
  bool per_warp;       /* base and count are lanes of each active warp */
  bool predicated; /* some active thread is no participant: emit base <= position < base + count around the barrier */
  uint32_t mask;   /* WARP, LANES: exactly the participating lanes, shifted to their place in the warp */
} tf_participation;

/* Why a sync is refused; one row of the diagnostics each. */
typedef enum tf_sync_fault {
  TF_SYNC_FINE,
  TF_SYNC_NO_SCOPE,      /* no scope is in force */
  TF_SYNC_NOT_THAT_MESH, /* a full mesh that is no scope in force (levels, layout and names) */
  TF_SYNC_NOT_A_SLICE,   /* a sliced mesh that is no constant slice of a full scope in force, nor itself one in force */
  TF_SYNC_CTA_SLICE,     /* part of the grid */
  TF_SYNC_PART_OF_GRID,  /* a full cta mesh, but other CTAs exist or do not come here */
  TF_SYNC_MIXED,         /* cta together with warp or thread */
  TF_SYNC_UNPLACED, /* no placement (Scopes.h): a symbolic thread level, an inconsistent layout, levels out of order */
  TF_SYNC_NOT_CONTIGUOUS, /* the participants are not one interval */
  TF_SYNC_NOT_ALIGNED,    /* across warps, but base or count is no multiple of 32 */
  TF_SYNC_NOT_ALL_ACTIVE  /* scopes or the call site keep some of the participants away */
} tf_sync_fault;

/* The interval of linear positions of a mesh or slice that has a placement, in positions of its own domain: TF_SYNC_FINE or
 * TF_SYNC_NOT_CONTIGUOUS. A symbolic extent (of a cta level) is TF_SYNC_UNPLACED. */
tf_sync_fault tf_participants(const tf_mesh *mesh, int64_t *base, int64_t *count);

/* The whole classification of T.sync(mesh) at a place; conditions are not looked at. *out only on TF_SYNC_FINE. *scope
 * (may be null) receives the scope that was matched, or for a refusal the one that came nearest, if any. */
tf_sync_fault tf_classify(const tf_region *region, const tf_mesh *mesh, tf_participation *out, const tf_scope **scope);

/* The participants as threads of the block, one group per barrier that exists at run time: groups[0..count), at most
 * one per warp; returns count. GRID: one group of all active threads. */
unsigned tf_participation_groups(const tf_region *region, const tf_participation *participation,
                                 tf_thread_set groups[TF_MAX_BLOCK / 32]);

#endif
