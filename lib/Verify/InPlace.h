/* In-place work: a shared destination that overlaps one of the statement's sources.
 *
 * A thread may read and write its own elements in place: it reads before it writes. An element that one thread writes and another
 * one also reads or writes in the same statement is refused: nothing orders the two. Conditions are ignored; without a thread
 * scope the block counts as many threads; windows that start at coordinates are left to the race checker. */
#ifndef TF_VERIFY_INPLACE_H
#define TF_VERIFY_INPLACE_H

#include "Verify/Side.h"

void tf_verify_in_place(tf_verifier *verifier, const tf_invocation *invocation, const tf_side *destination,
                        unsigned count, const tf_side *sources, bool copy);

/* What a callee's tensor parameter stands for at this call: bound by the walk, asked by path. */
void tf_verifier_bind_tensor(tf_verifier *verifier, const tf_call_path *path, const tf_expr *param, const tf_expr *arg);
const tf_expr *tf_verifier_bound_tensor(const tf_verifier *verifier, const tf_call_path *path, const tf_expr *param);

/* The parameter of the kernel or the allocation that a tensor's memory belongs to, through views and inlined calls. */
const tf_expr *tf_verifier_root(const tf_verifier *verifier, const tf_expr *tensor);

#endif
