/* -fcheck=bounds: a window without clip that leaves its source traps where it is made.
 *
 * Per axis: 0 <= start and start + extent <= source extent, in 64 bits. Flat starts are checked against the element count. */
#include "LowerToLLVM/Lowering.h"

static LLVMValueRef outside(tf_lowering *lowering, const tf_expr *start, const tf_dim *extent, const tf_dim *limit) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef first = tf_lower_int64(lowering, start);
  LLVMValueRef room = LLVMBuildSub(b, tf_lower_dim(lowering, limit), tf_lower_dim(lowering, extent), "");
  LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, first, tf_llvm_i64(lowering, 0), "");
  return LLVMBuildOr(b, negative, LLVMBuildICmp(b, LLVMIntSGT, first, room, ""), "");
}

/* The window's extent on an axis of the source: its shape may have dropped leading axes. */
static const tf_dim *window_extent(tf_context *context, const tf_tuple *shape, unsigned rank, unsigned axis) {
  unsigned count = tf_tuple_count(shape), dropped = rank - count;
  return axis < dropped ? tf_dim_int(context, 1) : tf_tuple_dim(tf_tuple_element(shape, axis - dropped));
}

static LLVMValueRef any_outside(tf_lowering *lowering, const tf_invocation *invocation) {
  tf_context *context = lowering->context;
  const tf_expr *const *starts, *memory = invocation->args[TF_ARG_TENSOR_VIEW_memory];
  unsigned count = tf_invocation_variadic(invocation, &starts), rank = tf_type_rank(memory->type);
  const tf_tuple *shape = invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_shape].tuple;
  LLVMValueRef bad = NULL;
  if (!shape || tf_tuple_count(shape) > rank) return NULL;
  if (count == 1 && rank > 1)
    return outside(lowering, starts[0], tf_tuple_product(context, shape), tf_type_numel(context, memory->type));
  for (unsigned axis = 0; axis < count; axis++) {
    LLVMValueRef test =
        outside(lowering, starts[axis], window_extent(context, shape, rank, axis), tf_type_extent(memory->type, axis));
    bad = bad ? LLVMBuildOr(lowering->builder, bad, test, "") : test;
  }
  return bad;
}

void tf_lower_check_window(tf_lowering *lowering, const tf_invocation *invocation) {
  if (invocation->attrs[TF_ATTRIBUTE_TENSOR_VIEW_clip].literal) return;
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
