/* Device calls are inlined: the callee's body is lowered in place, with its parameters bound to the arguments.
 *
 * A tensor parameter becomes a pointer to the argument's first element. Registers of an argument that do not follow each
 * other (a fragment out of an array of fragments) travel through an allocation of the callee's own, copied in and out. */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Dims.h"

#include "IR/DimImpl.h"

typedef struct argument {
  bool copied;
  tf_tensor tensor;
  const int32_t *numbers;
  int64_t count;
  LLVMValueRef slot;
} argument;

static bool are_consecutive(const argument *a) {
  for (int64_t i = 1; i < a->count; i++)
    if (a->numbers[i] != a->numbers[0] + i) return false;
  return a->numbers && a->count > 0;
}

static LLVMValueRef element_of(tf_lowering *lowering, const argument *a, LLVMValueRef base, int64_t number) {
  LLVMValueRef index = tf_llvm_i32(lowering, number);
  return LLVMBuildInBoundsGEP2(lowering->builder, a->tensor.element, base, &index, 1, "");
}

static void move_registers(tf_lowering *lowering, const argument *a, bool in) {
  for (int64_t i = 0; i < a->count; i++) {
    LLVMValueRef outer = element_of(lowering, a, a->tensor.pointer, a->numbers[i]);
    LLVMValueRef inner = element_of(lowering, a, a->slot, i);
    LLVMValueRef value = LLVMBuildLoad2(lowering->builder, a->tensor.element, in ? outer : inner, "");
    LLVMBuildStore(lowering->builder, value, in ? inner : outer);
  }
}

static void bind_registers(tf_lowering *lowering, const tf_expr *param, argument *a) {
  a->numbers = tf_tensor_registers(lowering, &a->tensor, &a->count);
  if (are_consecutive(a)) {
    tf_lower_bind(lowering, param, element_of(lowering, a, a->tensor.pointer, a->numbers[0]));
    return;
  }
  a->copied = a->numbers != NULL;
  LLVMTypeRef type = LLVMArrayType2(a->tensor.element, (uint64_t)(a->count > 0 ? a->count : 0));
  a->slot = LLVMBuildAlloca(lowering->entry_builder, type, "");
  tf_lower_bind(lowering, param, a->slot);
  if (a->copied) move_registers(lowering, a, true);
}

static void bind_memory(tf_lowering *lowering, const tf_expr *param, const argument *a) {
  int64_t divisor;
  LLVMValueRef start = tf_tensor_start(lowering, &a->tensor, &divisor);
  LLVMValueRef pointer = tf_tensor_pointer(lowering, &a->tensor, start, 0);
  int64_t bytes = tf_int_gcd(divisor * tf_dtype_bytes(a->tensor.dtype), a->tensor.alignment);
  unsigned alignment = bytes == 0 || bytes > 16 ? 16 : (unsigned)(bytes & -bytes);
  tf_lower_bind(lowering, param, pointer)->alignment =
      alignment < a->tensor.alignment ? alignment : a->tensor.alignment;
}

/* Arguments are evaluated in the caller before the first parameter is bound: a recursive name would shadow them. */
static void bind_arguments(tf_lowering *lowering, const tf_stmt *call, const tf_stmt *callee, argument *arguments) {
  unsigned count = callee->function.param_count;
  LLVMValueRef *scalars = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, count);
  tf_int_facts *facts = TF_ARENA_ARRAY(lowering->arena, tf_int_facts, count);
  for (unsigned i = 0; i < count; i++) {
    const tf_expr *arg = call->evaluate.args[i], *param = callee->function.params[i];
    if (!tf_is_scalar(param)) {
      arguments[i].tensor = tf_tensor_of(lowering, arg);
      continue;
    }
    facts[i] = tf_lower_facts(lowering, arg);
    scalars[i] = tf_lower_scalar_as(lowering, arg, tf_type_dtype(param->type));
    tf_lower_note_scalar(lowering, param, arg);
  }
  for (unsigned i = 0; i < count; i++) {
    const tf_expr *param = callee->function.params[i];
    if (tf_is_scalar(param))
      tf_lower_bind(lowering, param, scalars[i])->facts = facts[i];
    else if (tf_tensor_is_register(&arguments[i].tensor))
      bind_registers(lowering, param, &arguments[i]);
    else
      bind_memory(lowering, param, &arguments[i]);
  }
}

void tf_lower_call(tf_lowering *lowering, const tf_stmt *call) {
  const tf_stmt *callee = tf_module_find(lowering->module->module, tf_expr_name(call->evaluate.callee));
  argument *arguments = TF_ARENA_ARRAY(lowering->arena, argument, callee->function.param_count);
  tf_region region = lowering->region;
  const tf_dim_frame *dims = lowering->dims, *frame = tf_dim_frame_of_call(lowering, callee, call->evaluate.args);
  LLVMBasicBlockRef return_block = lowering->return_block;
  bool uniform = lowering->block_uniform, left_early = lowering->left_early;
  size_t mark = tf_lower_mark(lowering);
  bind_arguments(lowering, call, callee, arguments);
  lowering->region = tf_region_call(&region, call, callee);
  lowering->dims = frame;
  lowering->return_block = tf_lower_new_block(lowering, "returned");
  lowering->left_early = false;
  tf_lower_stmt(lowering, callee->function.body);
  tf_lower_enter_block(lowering, lowering->return_block);
  lowering->region = region;
  lowering->dims = dims;
  lowering->return_block = return_block;
  lowering->block_uniform = uniform;
  lowering->left_early = left_early;
  for (unsigned i = 0; i < callee->function.param_count; i++)
    if (arguments[i].copied) move_registers(lowering, &arguments[i], false);
  tf_lower_reset(lowering, mark);
}
