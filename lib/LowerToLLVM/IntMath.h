/* Integer arithmetic on LLVM values with Python's meaning, and what is known of integers at compile time. Values are i32
 * or i64; both operands have the same width. */
#ifndef TF_LOWER_INT_MATH_H
#define TF_LOWER_INT_MATH_H

#include "LowerToLLVM/Lowering.h"

#define TF_FACTS_NONE ((tf_int_facts){1, INT64_MIN, INT64_MAX})

tf_int_facts tf_facts_constant(int64_t value);
tf_int_facts tf_facts_range(int64_t min, int64_t max);
tf_int_facts tf_facts_of_dim(const tf_dim *dim);
tf_int_facts tf_facts_of_dtype(tf_dtype dtype); /* every value of an integer dtype; u64 as i64 */
/* What the result of an integer operator can be; sound under wrap-around (gives up where 64 bits could overflow). */
tf_int_facts tf_facts_binary(tf_scalar_binary_kind kind, tf_int_facts a, tf_int_facts b);
tf_int_facts tf_facts_join(tf_int_facts a, tf_int_facts b);
bool tf_facts_fit(tf_int_facts facts, unsigned bits); /* as a signed number of that width */

/* An integer expression in that many bits (32: modulo 2^32). */
LLVMValueRef tf_lower_int(tf_lowering *lowering, const tf_expr *expr, unsigned bits);

/* Floor division and modulus (sign of the divisor). Never undefined: a run-time divisor 0 gives some value; the check of
 * -fcheck=div stands before. */
LLVMValueRef tf_emit_floor_div(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b, tf_int_facts fa, tf_int_facts fb);
LLVMValueRef tf_emit_floor_mod(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b, tf_int_facts fa, tf_int_facts fb);

/* Sign extension of an i32 to i64 (zero extension where facts say it is not negative) and truncation; same width: itself. */
LLVMValueRef tf_emit_resize(tf_lowering *lowering, LLVMValueRef value, unsigned bits, tf_int_facts facts);

#endif
