/* One scalar operator on known integers and bools: what an expression over coordinates and numbers is in one thread. */
#ifndef TF_VERIFY_EVALUATE_H
#define TF_VERIFY_EVALUATE_H

#include "IR/Nodes.h"

/* Applies SCALAR_BINARY, SCALAR_UNARY, WHERE or CAST to operand values (bools 0 and 1; in has one entry per operand). False
 * if the result is no integer or bool, or has no value: a division by zero, a shift count outside 0..63, unsigned 64-bit
 * operands. Integers are i64 and wrap; // and % floor. */
bool tf_evaluate_scalar(const tf_invocation *invocation, const int64_t *in, int64_t *out);

#endif
