/* Matrix instructions: what the copy lowering and the mma lowering share. */
#ifndef TF_LOWER_MMA_H
#define TF_LOWER_MMA_H

#include "LowerToLLVM/Access.h"

/* The copy of a shared tile into a register fragment by ldmatrix, where the statement allows it: 32-bit registers dealt to
 * the lanes as an 8 x 8 matrix of 16-bit pairs deals them, rows of 16 contiguous and aligned bytes, all lanes of each
 * warp at the statement. False: nothing was emitted, copy as usual. */
bool tf_lower_ldmatrix(tf_lowering *lowering, const tf_expr *source, const tf_expr *destination);

/* Whether every warp that executes the current statement does so with all 32 lanes at once: scopes hold whole warps, and
 * no condition, loop bound or early exit on the way depends on a lane or on memory. */
bool tf_lower_is_warp_converged(tf_lowering *lowering);

/* The lanes of a warp work together in this call: nothing may move it into a branch that only some of them take. */
void tf_lower_mark_convergent(tf_lowering *lowering, LLVMValueRef call);

#endif
