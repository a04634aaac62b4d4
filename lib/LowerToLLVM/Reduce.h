/* Reductions: what their files share.
 *
 *   Reduce.c        the op: which of the two ways
 *   ReduceVisible.c every thread sees the whole source: each computes the results that it writes, in loops
 *   ReducePartials.c, ReduceShared.c
 *                   the source is dealt out: partial results per thread, then
 *                      lanes    butterfly or tree over the digits that lanes walk
 *                      warps    one partial per warp through shared memory, read back in order; a second barrier only if that
 *                               memory may be written again: by the author, or in a loop
 *   ReduceMath.c    identities, combinations, means
 *   RmsNorm.c       the same machinery around a sum of squares
 *
 * All combination trees are fixed by the layouts, so every run gives the same bits. */
#ifndef TF_LOWER_REDUCE_H
#define TF_LOWER_REDUCE_H

#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Project.h"
#include "LowerToLLVM/ReduceGroup.h"

typedef struct tf_reduction {
  tf_reduce_kind kind;
  bool squares; /* combines the squares of the elements */
  tf_dtype in, accumulator;
  unsigned rank; /* of the source */
  const tf_dim *const *shape;
  bool reduced[TF_MAX_RANK]; /* per source axis */
  const tf_dim *count;       /* elements per result */
  tf_tensor source;
} tf_reduction;

tf_reduction tf_reduction_of(tf_lowering *lowering, const tf_expr *source, const tf_tuple *axes, tf_reduce_kind kind);

/* ---- ReduceMath.c; values of the accumulator's type ---- */
LLVMValueRef tf_reduce_identity(tf_lowering *lowering, const tf_reduction *r);
/* An element in memory type as an accumulator: converted, squared, its magnitude taken. */
LLVMValueRef tf_reduce_element(tf_lowering *lowering, const tf_reduction *r, LLVMValueRef element);
LLVMValueRef tf_reduce_combine(tf_lowering *lowering, const tf_reduction *r, LLVMValueRef a, LLVMValueRef b);
/* A balanced tree over the values; the identity for none. Overwrites the array. */
LLVMValueRef tf_reduce_tree(tf_lowering *lowering, const tf_reduction *r, int64_t count, LLVMValueRef *values);
/* The result in the memory type of `dtype`: divides a mean, rounds once. */
LLVMValueRef tf_reduce_finish(tf_lowering *lowering, const tf_reduction *r, LLVMValueRef value, tf_dtype dtype);

/* The map from the source's elements to the C order of its kept axes (reduced ones at extent 1). */
void tf_reduce_result_map(tf_context *context, const tf_reduction *r, tf_affine *out);

/* ---- ReduceVisible.c ---- */
/* False (nothing emitted) if the destination's distribution does not follow axes. */
bool tf_reduce_visible(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination);

/* ---- ReduceShared.c ---- */
/* Partial results of this thread, one per distinct result that its elements belong to. */
typedef struct tf_partials {
  tf_driver driver;      /* of the source */
  tf_projection results; /* position -> result, and the thread's share of it */
  int64_t count;         /* results of this thread */
  int64_t *keys;         /* static share of each one's index */
  int32_t *slot;         /* per position: which one */
  LLVMValueRef *values;  /* per result */
  tf_group group;
} tf_partials;

/* ReducePartials.c. From driver and results: count, keys, slot; false if some key is not static. Then the values. */
bool tf_partials_find(tf_lowering *lowering, tf_partials *out);
void tf_partials_accumulate(tf_lowering *lowering, const tf_reduction *r, tf_partials *out);
/* Whether the thread has so many elements that loops should walk them. open begins loops over digits along which the results stay
 * the same, and numbers the positions that are left inside; chunks of `width` along local digit `inner` stay whole. */
typedef struct tf_partial_loops {
  tf_driver driver;
  int32_t *slot; /* per position of the driver */
  unsigned loop_count;
  tf_loop loops[TF_MAX_FACTORS];
} tf_partial_loops;
bool tf_partials_is_long(const tf_partials *partials);
void tf_partials_open(tf_lowering *lowering, const tf_partials *partials, unsigned inner, unsigned width,
                      tf_partial_loops *out);
void tf_partials_close(tf_lowering *lowering, tf_partial_loops *loops);

/* Whether that works for this source and destination; emits nothing that matters. */
bool tf_reduce_can_deal(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination);
bool tf_reduce_can_store(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                         const tf_tensor *destination);
/* Combines what this thread holds, then across the threads of each group: afterwards every thread of a group has the values.
 * workspace may be null. False after a report. */
bool tf_reduce_dealt(tf_lowering *lowering, const tf_reduction *r, const tf_expr *workspace, tf_partials *out);
/* Stores the results to the destination. False if this thread lacks some of what it is to write in registers. */
bool tf_reduce_store(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                     const tf_tensor *destination);

/* ---- ReduceStaged.c: sources whose distribution neither lanes nor warps can combine ---- */
/* A shared tile that holds the source, written by whoever has the elements; barriers around are the caller's. */
typedef struct tf_stage {
  tf_tensor tile; /* plain, the source's shape and dtype */
  tf_tensor rows; /* one accumulator per result, kept axes with the reduced ones at extent 1 */
  tf_tensor own;  /* the same memory: of the rows, those whose elements this thread holds of the source */
  tf_group group; /* all threads that take part */
  bool by_warp;   /* each warp has its own: the source's mesh counts lanes */
} tf_stage;
/* Allocates and fills the tile, and waits for it: the share of one CTA, if CTAs walk the source. False (nothing emitted) if that
 * has no static shape. */
bool tf_stage_make(tf_lowering *lowering, const tf_reduction *r, tf_stage *out);
void tf_stage_wait(tf_lowering *lowering, const tf_stage *stage);
/* The tile has been read: waits if the statement may run again, and write it. */
void tf_stage_release(tf_lowering *lowering, const tf_stage *stage);
/* reduce through a tile. */
bool tf_reduce_staged(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination);

#endif
