/* The plan of an element-wise statement: Walk.c. */
#ifndef TF_LOWER_WALK_H
#define TF_LOWER_WALK_H

#include "LowerToLLVM/Access.h"
#include "LowerToLLVM/Numeric.h"

typedef struct tf_walk {
  tf_tensor destination;
  unsigned source_count;
  tf_operand sources[4];
  tf_driver driver;
  tf_access store, loads[4]; /* they point into this struct: it must not move */
  LLVMValueRef *loaded[4];   /* what each source gave, by the place of a chunk's first position (tf_access_place) */
  bool has_registers;
  bool overlaps; /* a source drives that holds elements which its thread does not see of the destination */
  unsigned inner, width;
  unsigned loop_count;
  tf_loop loops[TF_MAX_FACTORS];
  LLVMValueRef writer; /* whether this thread is the one of its replicas that stores; null: no replicas, or all do */
  tf_guard guard;      /* of the writer, between open and close */
} tf_walk;

/* Picks driver and chunks; false after a report. */
bool tf_walk_plan(tf_lowering *lowering, const tf_tensor *destination, unsigned source_count, const tf_operand *sources,
                  tf_walk *walk);

/* Elect.c: the writer's condition, i1, or null. */
LLVMValueRef tf_walk_writer(tf_lowering *lowering, const tf_walk *walk);

/* Branches around everything in threads that are not the writer; opens loops for the slowest digits until what remains is short enough to unroll; close ends them. Between the two, the
 * remaining chunks of `width` positions are written out: position of the first element of chunk 0 … chunks - 1. width may be
 * lowered to a divisor of the planned one before. */
void tf_walk_open(tf_lowering *lowering, tf_walk *walk);
void tf_walk_close(tf_lowering *lowering, tf_walk *walk);
int64_t tf_walk_chunks(const tf_walk *walk);
int64_t tf_walk_position(const tf_walk *walk, int64_t chunk);

/* Whether a view means the same elements to all threads of a block. */
bool tf_lower_view_is_uniform(tf_lowering *lowering, const tf_view *view);

#endif
