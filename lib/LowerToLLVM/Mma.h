/* Matrix instructions: what the copy lowering and the mma lowering share. */
#ifndef TF_LOWER_MMA_H
#define TF_LOWER_MMA_H

#include "LowerToLLVM/Access.h"

/* The copy of a shared tile into a register fragment by ldmatrix, where the statement allows it: 32-bit registers dealt to
 * the lanes as an 8 x 8 matrix of 16-bit pairs deals them, rows of 16 contiguous and aligned bytes, all lanes of each
 * warp at the statement. False: nothing was emitted, copy as usual.
 *
 * interleaved is not null: the fragments are an operand B that nobody but the product sees. Then the columns of two
 * neighbouring fragments j, j + 1 may come interleaved where that is cheaper, and *interleaved says whether they do:
 *
 *     column 2h + s of fragment j + t   holds   column 2h + t of fragment j + s          s, t = 0, 1
 *
 * Both are columns of lane h in the accumulator, so its registers only have to be named the same way. */
bool tf_lower_ldmatrix(tf_lowering *lowering, const tf_expr *source, const tf_expr *destination, bool *interleaved);

/* Whether every warp that executes the current statement does so with all 32 lanes at once: scopes hold whole warps, and
 * no condition, loop bound or early exit on the way depends on a lane or on memory. */
bool tf_lower_is_warp_converged(tf_lowering *lowering);

/* The lanes of a warp work together in this call: nothing may move it into a branch that only some of them take. */
void tf_lower_mark_convergent(tf_lowering *lowering, LLVMValueRef call);

#endif
