/* Reductions. */
#include "LowerToLLVM/Lowering.h"

static void refuse(tf_lowering *lowering) {
  tf_report(lowering->context, lowering->loc, LOWER_REDUCE);
  tf_lower_fail(lowering);
}

void tf_lower_REDUCE(tf_lowering *lowering, const tf_invocation *invocation) {
  (void)invocation;
  refuse(lowering);
}

void tf_lower_RMS_NORM(tf_lowering *lowering, const tf_invocation *invocation) {
  (void)invocation;
  refuse(lowering);
}
