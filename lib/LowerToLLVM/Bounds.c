/* -fcheck=bounds: a window without clip that leaves its source traps where it is made.
 *
 * Per axis: 0 <= start and start + extent <= source extent, in 64 bits. Flat starts are checked against the element count. */
#include "LowerToLLVM/Lowering.h"

static LLVMValueRef outside(tf_lowering *lowering, const tf_window_bound *bound) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef first = tf_lower_int64(lowering, bound->index);
  LLVMValueRef room = LLVMBuildSub(b, tf_lower_dim(lowering, bound->limit), tf_lower_dim(lowering, bound->extent), "");
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, first, tf_llvm_i64(lowering, 0), "");
  return LLVMBuildOr(b, negative, LLVMBuildICmp(b, LLVMIntSGT, first, room, ""), "");
}

static LLVMValueRef any_outside(tf_lowering *lowering, const tf_invocation *invocation) {
  tf_window_bound bounds[TF_MAX_RANK];
  unsigned count = tf_window_bounds(lowering->context, invocation, bounds);
  LLVMValueRef bad = NULL;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef test = outside(lowering, &bounds[i]);
    bad = bad ? LLVMBuildOr(lowering->builder, bad, test, "") : test;
  }
  return bad;
}

void tf_lower_check_window(tf_lowering *lowering, const tf_invocation *invocation) {
  LLVMValueRef bad = any_outside(lowering, invocation);
  int64_t known;
  if (!bad || (tf_lower_is_constant(bad, &known) && known == 0)) return;
  LLVMBasicBlockRef trap = tf_lower_new_block(lowering, "out.of.bounds"),
                    fine = tf_lower_new_block(lowering, "in.bounds");
  LLVMBuildCondBr(lowering->builder, bad, trap, fine);
  LLVMPositionBuilderAtEnd(lowering->builder, trap);
  tf_lower_trap(lowering, TF_ABORT_SITE_BOUNDS, "window outside of its tensor");
  tf_lower_enter_block(lowering, fine);
}
