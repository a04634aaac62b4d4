/* Allocations, views, copies and fills.
 *
 * A register allocation is one alloca of its local elements in the entry block; a shared one lies in the kernel's block of
 * shared memory. Views need no code: their uses resolve them. */
#include "LowerToLLVM/Access.h"
#include "LowerToLLVM/Elementwise.h"
#include "LowerToLLVM/Mma.h"
#include "LowerToLLVM/Numeric.h"

#include "LowerToLLVM/SharedPlan.h"

static void allocate_registers(tf_lowering *lowering, const tf_expr *var, const tf_type *type) {
  int64_t count = 0;
  tf_dim_is_static(tf_view_of(lowering->context, var, NULL)->storage_size, &count);
  LLVMTypeRef element = tf_llvm_memory_type(lowering, tf_type_dtype(type));
  LLVMValueRef slot = LLVMBuildAlloca(lowering->entry_builder, LLVMArrayType2(element, (uint64_t)count), "");
  LLVMSetAlignment(slot, 16);
  tf_lower_bind(lowering, var, slot)->alignment = 16;
}

static void allocate_shared(tf_lowering *lowering, const tf_expr *var) {
  int64_t bytes = tf_shared_bytes_of(lowering->context, var);
  tf_lower_bind(lowering, var, tf_shared_allocate(lowering, var, bytes, 16))->alignment = 16;
}

void tf_lower_ALLOC_TENSOR(tf_lowering *lowering, const tf_expr *var, const tf_invocation *invocation) {
  const tf_type *type = invocation->attrs[TF_ATTRIBUTE_ALLOC_TENSOR_tensor_type].type;
  if (tf_type_storage(type) == TF_STORAGE_SMEM)
    allocate_shared(lowering, var);
  else
    allocate_registers(lowering, var, type);
}

/* Spans and pointers need no code: tf_view_of finds what the variable stands for. */
void tf_lower_MEMORY_SPAN(tf_lowering *lowering, const tf_expr *var, const tf_invocation *invocation) {
  (void)lowering, (void)var, (void)invocation;
}

void tf_lower_PTR_OF(tf_lowering *lowering, const tf_expr *var, const tf_invocation *invocation) {
  (void)lowering, (void)var, (void)invocation;
}

void tf_lower_TENSOR_VIEW(tf_lowering *lowering, const tf_expr *var, const tf_invocation *invocation) {
  (void)var;
  if (lowering->module->options->check_bounds) tf_lower_check_window(lowering, invocation);
}

/* ---- Copies ---- */
static LLVMValueRef first_source(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  (void)lowering, (void)user;
  return chunk->sources[0];
}

void tf_lower_COPY(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *source = invocation->args[TF_ARG_COPY_source];
  const tf_expr *destination = invocation->args[TF_ARG_COPY_destination];
  if (tf_lower_ldmatrix(lowering, source, destination, NULL)) return;
  tf_operand operand = tf_operand_of(lowering, source);
  tf_lower_elementwise(lowering, destination, 1, &operand, first_source, NULL);
}

/* ---- Fills ---- */
/* A literal takes the tensor's dtype as it stands, rounded once; other scalars are converted. */
static LLVMValueRef literal(tf_lowering *lowering, const tf_expr *value, tf_dtype dtype) {
  bool is_float = tf_dtype_get_class(tf_type_dtype(value->type)) == TF_CLASS_FLOAT;
  if (tf_dtype_get_class(dtype) == TF_CLASS_FLOAT)
    return tf_llvm_float_constant(lowering, dtype, is_float ? value->constant.f : (double)value->constant.i);
  return tf_llvm_int_constant(lowering, dtype, is_float ? (int64_t)value->constant.f : value->constant.i);
}

tf_operand tf_operand_as(tf_lowering *lowering, const tf_expr *value, tf_dtype dtype) {
  tf_operand operand = {.is_scalar = true, .dtype = dtype};
  if (value->kind == TF_EXPR_CONSTANT)
    operand.scalar = literal(lowering, value, dtype);
  else
    operand.scalar = tf_to_memory(lowering, tf_lower_scalar_as(lowering, value, dtype), dtype, 1);
  return operand;
}

void tf_lower_FILL(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *tensor = invocation->args[TF_ARG_FILL_tensor];
  tf_operand operand = tf_operand_as(lowering, invocation->args[TF_ARG_FILL_value], tf_type_dtype(tensor->type));
  tf_lower_elementwise(lowering, tensor, 1, &operand, first_source, NULL);
}
