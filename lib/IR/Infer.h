/* Result types of VALUE and SCALAR ops: one function per op, in Infer<Family>.c. Parser, builder and verifier use the
 * same.
 *
 * On success the type; on failure null, after a diagnostic at the invocation's place (operands of a wrong kind, a rule
 * that the type itself needs, e.g. a window's rank). `quiet` invocations are not needed: callers only infer once. */
#ifndef TF_IR_INFER_H
#define TF_IR_INFER_H

#include "IR/Nodes.h"

typedef const tf_type *tf_infer_fn(tf_context *context, const tf_invocation *invocation);

#define TF_INFER_VALUE(ID)  tf_infer_fn tf_infer_##ID;
#define TF_INFER_SCALAR(ID) tf_infer_fn tf_infer_##ID;
#define TF_INFER_EFFECT(ID)
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) TF_INFER_##FORM(ID)
#include <tilefoundry/Ops.def>

/* Checks the operands (tf_operands_check) and dispatches by op; Unit for EFFECT ops. */
const tf_type *tf_infer(tf_context *context, const tf_invocation *invocation);

/* Number of operands and their predicates as Ops.def has them, for ops of every form; false after a diagnostic. After
 * it, required operands are there and have the kinds that the table asks for. */
bool tf_operands_check(tf_context *context, const tf_invocation *invocation);

/* What an expression is, in words for messages: "an f32 scalar", "a tensor", "a mesh". Null: "nothing". */
const char *tf_expr_describe(tf_context *context, const tf_expr *expr);

/* Float literals among the operands of an operator take the float type of the other operand. Rewrites entries of args.
 */
void tf_infer_adapt_literals(tf_context *context, tf_op op, unsigned arg_count, const tf_expr **args);

/* The common type of mixed scalar operands (LANGUAGE of scalars: i64 with f16 is f16, f16 with bf16 is f32, i32 with
 * u32 is i64, …). False if the two do not mix (bool with a number). */
bool tf_dtype_common(tf_dtype a, tf_dtype b, tf_dtype *out);

#endif
