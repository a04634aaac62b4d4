/* Run-time values of dims. A kernel's DimVars are solved from its hidden shape parameters; an inlined callee's DimVars stand
 * for dims of its caller, which are known from the argument types. So every dim is computed in the entry block. */
#ifndef TF_LOWER_DIMS_H
#define TF_LOWER_DIMS_H

#include "LowerToLLVM/Lowering.h"

typedef struct tf_dim_entry {
  const char *name;    /* interned */
  LLVMValueRef value;  /* i32, of a kernel's DimVar; or */
  const tf_dim *outer; /* the caller's dim */
} tf_dim_entry;

typedef struct tf_dim_frame {
  const struct tf_dim_frame *caller; /* null for the kernel */
  unsigned count;
  tf_dim_entry *entries;
} tf_dim_frame;

/* The frame of a callee: each DimVar of its parameters' shapes against the arguments' extents. */
const tf_dim_frame *tf_dim_frame_of_call(tf_lowering *lowering, const tf_stmt *callee, const tf_expr *const *args);

#endif
