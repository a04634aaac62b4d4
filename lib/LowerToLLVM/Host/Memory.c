/* Temporaries, copies, fills, loads. */
#include "LowerToLLVM/Host/Host.h"

void tf_host_allocate(tf_host *host, const tf_expr *var) {
  const tf_view *view = tf_view_of(host->context, var, NULL);
  const tf_type *type = var->type;
  host->what = var->var.name;
  LLVMValueRef out = tf_host_words(host, 1);
  LLVMValueRef arguments[] = {tf_host_string(host->module, var->var.name), tf_host_int(host, tf_type_dtype(type)),
                              tf_host_int(host, tf_type_storage(type) == TF_STORAGE_HOST),
                              tf_host_dim_value(host, view->storage_size), out};
  tf_host_checked(host, TF_HOST_MEMBER(allocate), 5, arguments);
  tf_host_bind(host, var, (tf_host_binding){.address = tf_host_load(host, host->module->word, out, 0)});
}

void tf_host_copy(tf_host *host, const tf_stmt *stmt) {
  const tf_expr *const *args = stmt->evaluate.args;
  LLVMValueRef views[2];
  views[0] = tf_host_view(host, args[TF_ARG_COPY_source]);
  views[1] = tf_host_view(host, args[TF_ARG_COPY_destination]);
  tf_host_checked(host, TF_HOST_MEMBER(copy), 2, views);
}

void tf_host_fill(tf_host *host, const tf_stmt *stmt) {
  const tf_expr *tensor = stmt->evaluate.args[TF_ARG_FILL_tensor], *value = stmt->evaluate.args[TF_ARG_FILL_value];
  LLVMValueRef bits = tf_host_bits(host, tf_host_scalar_as(host, value, tf_type_dtype(tensor->type)));
  tf_host_checked(host, TF_HOST_MEMBER(fill), 2, (LLVMValueRef[]){tf_host_view(host, tensor), bits});
}

tf_host_scalar tf_host_load_element(tf_host *host, const tf_expr *call) {
  tf_invocation invocation = tf_invocation_of_call(call);
  const tf_expr *const *indices, *x = call->call.args[TF_ARG_LOAD_x];
  unsigned count = tf_invocation_variadic(&invocation, &indices);
  LLVMValueRef view = tf_host_view(host, x), array = tf_host_words(host, count), bits = tf_host_words(host, 1);
  for (unsigned i = 0; i < count; i++)
    tf_host_store(host, array, i * sizeof(int64_t), tf_host_integer(host, indices[i]));
  tf_host_checked(host, TF_HOST_MEMBER(load), 3, (LLVMValueRef[]){view, array, bits});
  return tf_host_from_bits(host, tf_type_dtype(call->type), tf_host_load(host, host->module->word, bits, 0));
}
