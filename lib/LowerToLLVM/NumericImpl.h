/* Between the files that make up Numeric.h. */
#ifndef TF_LOWER_NUMERIC_IMPL_H
#define TF_LOWER_NUMERIC_IMPL_H

#include "LowerToLLVM/Numeric.h"

bool tf_dtype_is_float(tf_dtype dtype);
/* Types that hold values but do no arithmetic: the 8-bit floats and tf32. */
bool tf_dtype_needs_f32(tf_dtype dtype);
bool tf_binary_is_comparison(tf_binary_kind kind);

/* A function of scalars, applied lane by lane. */
typedef LLVMValueRef tf_lane_fn(tf_lowering *lowering, const void *user, const LLVMValueRef *operands);
LLVMValueRef tf_per_lane(tf_lowering *lowering, tf_lane_fn *fn, const void *user, unsigned count,
                         const LLVMValueRef *operands, unsigned width);
/* The same for a function of two lanes at a time, <2 x T>, or of one (width 1, and the last of an odd width). */
LLVMValueRef tf_per_pair(tf_lowering *lowering, tf_lane_fn *fn, const void *user, unsigned count,
                         const LLVMValueRef *operands, unsigned width);

/* NaN-propagating min or max. */
LLVMValueRef tf_float_extremum(tf_lowering *lowering, bool maximum, LLVMValueRef a, LLVMValueRef b, tf_dtype dtype);

/* Python's float // and %, exact; user is the const tf_dtype * of the operands. FloatDivision.c. */
tf_lane_fn tf_float_mod, tf_float_floor_div;

/* exp, exp2, log, log2, rsqrt of an f32 or f64, to 2 ULP; Exponential.c, Logarithm.c. */
tf_lane_fn tf_float_exp, tf_float_exp2, tf_float_log, tf_float_log2, tf_float_rsqrt;

LLVMValueRef tf_float_like(LLVMValueRef value, double number);
/* a * b + c with one rounding, whatever the options say. */
LLVMValueRef tf_float_fused(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);

#endif
