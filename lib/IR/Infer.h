/* Result types of VALUE and SCALAR ops: one function per op, in Infer<Family>.c. Parser, builder and verifier use the same.
 *
 * On success the type; on failure null, after a diagnostic at the invocation's place (operands of a wrong kind, a rule that
 * the type itself needs, e.g. a window's rank). `quiet` invocations are not needed: callers only infer once. */
#ifndef TF_IR_INFER_H
#define TF_IR_INFER_H

#include "IR/Nodes.h"

typedef const tf_type *tf_infer_fn(tf_context *context, const tf_invocation *invocation);

#define TF_INFER_VALUE(ID) tf_infer_fn tf_infer_##ID;
#define TF_INFER_SCALAR(ID) tf_infer_fn tf_infer_##ID;
#define TF_INFER_EFFECT(ID)
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) TF_INFER_##FORM(ID)
#include <tilefoundry/Ops.def>

/* Dispatches by op; Unit for EFFECT ops. */
const tf_type *tf_infer(tf_context *context, const tf_invocation *invocation);

/* The common type of mixed scalar operands (LANGUAGE of scalars: i64 with f16 is f16, f16 with bf16 is f32, i32 with u32 is
 * i64, …). False if the two do not mix (bool with a number). */
bool tf_dtype_common(tf_dtype a, tf_dtype b, tf_dtype *out);

#endif
