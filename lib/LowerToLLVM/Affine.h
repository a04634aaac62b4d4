/* From logical index to storage offset.
 *
 * A tensor's address is a C-order walk over axes with strides:   f(x) = sum over axes of ((x / P) mod extent) * stride,
 * P the product of the extents to the right. A driver hands out x as a sum of digits; where no two digits of it carry
 * into each other across an axis boundary, f of the sum is the sum of f's, and a digit that stays inside one axis
 * contributes digit * stride:
 *
 *     axes (16, 16) : (ld, 1)      x = 2*c0 + {0, 1}  +  16*c1 + {0, 128}        f = 2*c0 + {0, 1} + ld*c1 + {0, 8*ld}
 *
 * Adjacent axes that are contiguous in storage are one axis here, so most boundaries do not exist. */
#ifndef TF_LOWER_AFFINE_H
#define TF_LOWER_AFFINE_H

#include "LowerToLLVM/Access.h"

#define TF_MAX_AFFINE (2 * TF_MAX_FACTORS)

typedef struct tf_affine {
  unsigned rank;
  const tf_dim *extents[TF_MAX_AFFINE], *strides[TF_MAX_AFFINE];
  const tf_dim *below[TF_MAX_AFFINE]; /* P of each axis */
} tf_affine;

/* The walk of a view's value under the driver's shape: axes of extent 1 broadcast (stride 0) unless the element counts are
 * equal. */
void tf_affine_of_view(tf_context *context, const tf_view *view, unsigned rank, const tf_dim *const *shape,
                       tf_affine *out);
/* Axes given one by one; strides null: C order, f is the index itself. */
void tf_affine_make(tf_context *context, unsigned rank, const tf_dim *const *extents, const tf_dim *const *strides,
                    tf_affine *out);
/* f = coordinate on one axis of the shape. */
void tf_affine_of_axis(tf_context *context, unsigned rank, const tf_dim *const *shape, unsigned axis, tf_affine *out);

/* Storage elements per step of a digit that counts `extent` steps of `step` logical indices; false if the digit crosses an
 * axis boundary. */
bool tf_affine_step(tf_context *context, const tf_affine *map, const tf_dim *extent, const tf_dim *step,
                    const tf_dim **out);
/* Whether f of the sum of the digits is the sum of their f's. */
bool tf_affine_separates(tf_context *context, const tf_affine *map, unsigned count, const tf_dim *const *extents,
                         const tf_dim *const *steps);
/* f of a static index; null if an inner extent is symbolic. */
const tf_dim *tf_affine_at(tf_context *context, const tf_affine *map, int64_t index);
/* f of a run-time index (i32 or i64), in its width. */
LLVMValueRef tf_affine_emit(tf_lowering *lowering, const tf_affine *map, LLVMValueRef index);

#endif
