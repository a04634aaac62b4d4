/* Arithmetic on LLVM values (scalars or vectors) with the language's rounding, NaN and saturation rules.
 *
 * Operands come as they lie in memory (memory type of their dtype) and leave so. Computation happens in a *compute
 * type*: f16 and bf16 stay what they are where the operation is exact in them (negation, min, one rounding), else go
 * through f32; fp8 goes through f16; integers through the wider of both; bool is i1. Each result is rounded once. */
#ifndef TF_LOWER_NUMERIC_H
#define TF_LOWER_NUMERIC_H

#include "LowerToLLVM/Lowering.h"

/* value of dtype `from` in dtype `to`, by the rules of the unary kind cast. Width 1: a plain value. Memory types. */
LLVMValueRef tf_convert(tf_lowering *lowering, LLVMValueRef value, tf_dtype from, tf_dtype to, unsigned width);

/* bool: i8 <-> i1; everything else unchanged. */
LLVMValueRef tf_to_value(tf_lowering *lowering, LLVMValueRef memory, tf_dtype dtype, unsigned width);
LLVMValueRef tf_to_memory(tf_lowering *lowering, LLVMValueRef value, tf_dtype dtype, unsigned width);

/* lhs <kind> rhs, both already of `dtype` (value types), result of `dtype`, or i1 for comparisons. */
LLVMValueRef tf_compute_binary(tf_lowering *lowering, tf_binary_kind kind, tf_dtype dtype, LLVMValueRef lhs,
                               LLVMValueRef rhs, unsigned width);
/* Every unary kind but cast, in `dtype`. */
LLVMValueRef tf_compute_unary(tf_lowering *lowering, tf_unary_kind kind, tf_dtype dtype, LLVMValueRef value,
                              unsigned width);
/* a*b + c with one rounding. */
LLVMValueRef tf_compute_fma(tf_lowering *lowering, tf_dtype dtype, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c,
                            unsigned width);

/* Applies contraction / fast-math flags of the options to an instruction just built; returns it. */
LLVMValueRef tf_numeric_flags(tf_lowering *lowering, LLVMValueRef value);

#endif
