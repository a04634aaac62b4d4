/* Shared memory in LLVM IR: one global per kernel, whose size is known when the kernel's body is done.
 *
 *   static:   @shared$k = internal addrspace(3) global [9728 x i8]          dynamic:   external [0 x i8]
 *
 * While code is made, buffers point into a placeholder; tf_shared_end puts the real global in its place. */
#ifndef TF_LOWER_SHARED_MEMORY_H
#define TF_LOWER_SHARED_MEMORY_H

#include "LowerToLLVM/Lowering.h"
#include "LowerToLLVM/SharedPlan.h"

/* Ends the plan of the kernel: chooses the block and materialises it. Call once per kernel, after its body; a kernel
 * without shared memory gets nothing. Fails the lowering when the target has not enough. */
void tf_shared_end(tf_lowering *lowering);

#endif
