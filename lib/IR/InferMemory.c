/* Types of allocations, spans, pointers and views. A view's type is read off its address: the strides of its axes become a
 * plain layout, which the type drops where it is C order of the shape. */
#include "IR/Infer.h"
#include "IR/View.h"

/* Registers and shared memory are laid out at compile time: what a thread or a CTA holds has one size. */
static bool check_size(tf_context *context, const tf_invocation *invocation, const tf_type *type) {
  const tf_view *view = tf_view_of_invocation(context, invocation);
  tf_storage storage = tf_type_storage(type);
  if (!view) return false;
  if (storage != TF_STORAGE_RMEM && storage != TF_STORAGE_SMEM) return true;
  if (tf_dim_is_static(view->storage_size, NULL)) return true;
  tf_report(context, invocation->loc, ALLOC_DYNAMIC, storage == TF_STORAGE_RMEM ? "thread" : "CTA",
            tf_dim_print(context, view->storage_size), tf_type_print(context, type));
  return false;
}

const tf_type *tf_infer_ALLOC_TENSOR(tf_context *context, const tf_invocation *invocation) {
  const tf_type *type = invocation->attrs[TF_ATTRIBUTE_ALLOC_TENSOR_tensor_type].type;
  if (!tf_type_is_tensor(type)) {
    tf_report(context, invocation->loc, ALLOC_TYPE);
    return NULL;
  }
  if (tf_type_rank(type) == 0) {
    tf_report(context, invocation->loc, ALLOC_RANK);
    return NULL;
  }
  return check_size(context, invocation, type) ? type : NULL;
}

const tf_type *tf_infer_MEMORY_SPAN(tf_context *context, const tf_invocation *invocation) {
  (void)context;
  return invocation->args[TF_ARG_MEMORY_SPAN_x]->type;
}

const tf_type *tf_infer_PTR_OF(tf_context *context, const tf_invocation *invocation) {
  (void)context;
  return invocation->args[TF_ARG_PTR_OF_x]->type;
}

const tf_type *tf_infer_TENSOR_VIEW(tf_context *context, const tf_invocation *invocation) {
  const tf_view *view = tf_view_of_invocation(context, invocation);
  return view ? view->type : NULL;
}
