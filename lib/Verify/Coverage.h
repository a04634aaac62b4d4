/* Coverage: does every thread hold what an element-wise statement wants of it, and is all of the destination written?
 *
 * For thread t, S_t are the logical indices that it sees in every source and D_t those in the destination:
 *
 *   rmem destination      D_t must lie in S_t, for every active thread
 *   shared destination    t writes D_t and S_t; over all threads that see the same instance these must make up all of D
 *
 * Thread domains are enumerated, once per set of layouts; CTAs' shares are compared symbolically. */
#ifndef TF_VERIFY_COVERAGE_H
#define TF_VERIFY_COVERAGE_H

#include "Verify/State.h"

/* Checks the statement's destination against its tensor sources (scalars are left out by the caller), reports what is missing,
 * shared in-place work by several threads, and stores that all threads repeat. copy: elements pair by their C-order index, and
 * an overlap of different elements is refused. */
void tf_verify_coverage(tf_verifier *verifier, const tf_invocation *invocation, const tf_expr *destination,
                        unsigned count, const tf_expr *const *sources, bool copy);

#endif
