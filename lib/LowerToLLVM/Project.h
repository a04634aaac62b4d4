/* A projection: what a driver's element contributes to a number that is affine in its axes, an address or a coordinate.
 *
 *   value(position) = base  +  sum of the position's local digits * steps  +  sum of the loops' digits * steps
 *                     the thread's digits (once)   static, often constant       inside walks with loops
 *
 * Where digits carry into each other across an axis (see Affine.h) the logical index is computed and taken apart. */
#ifndef TF_LOWER_PROJECT_H
#define TF_LOWER_PROJECT_H

#include "LowerToLLVM/Affine.h"

typedef struct tf_projection {
  const tf_driver *driver;
  tf_affine map;
  unsigned bits;
  bool separable;
  const tf_dim
      *steps[TF_MAX_FACTORS]; /* separable: per driver digit; null: local digits that cross an axis, by tf_affine_at */
  LLVMValueRef base;          /* null: 0 */
  int64_t divisor;            /* divides base; 0: it is 0 */
} tf_projection;

/* without_ctas: digits that CTAs walk contribute nothing (shared memory, registers). */
void tf_projection_make(tf_lowering *lowering, const tf_driver *driver, const tf_affine *map, unsigned bits,
                        bool without_ctas, tf_projection *out);
/* The static share of a position; null if it cannot be told apart from the rest (not separable). */
const tf_dim *tf_projection_static(tf_lowering *lowering, const tf_projection *projection, int64_t position);
/* The share of digits that loops walk; null: 0. */
LLVMValueRef tf_projection_loops(tf_lowering *lowering, const tf_projection *projection);
/* The whole number. */
LLVMValueRef tf_projection_emit(tf_lowering *lowering, const tf_projection *projection, int64_t position);
/* The largest power of two <= width such that chunks of that many positions along local digit `inner` step by exactly 1
 * and everything else is a multiple of it. */
unsigned tf_projection_run(tf_lowering *lowering, const tf_projection *projection, unsigned inner, unsigned width);

#endif
