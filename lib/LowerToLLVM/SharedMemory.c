/* Materialising the shared-memory plan; see SharedMemory.h. */
#include "LowerToLLVM/SharedMemory.h"

/* '$' cannot stand in a source name, so the global meets no kernel's. */
static const char *global_name(const tf_lowering *lowering) {
  size_t length = 0;
  return tf_arena_printf(lowering->arena, "shared$%s", LLVMGetValueName2(lowering->llvm_function, &length));
}

static LLVMValueRef add_global(const tf_lowering *lowering, const char *name, int64_t bytes) {
  LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(lowering->llvm), (uint64_t)bytes);
  return LLVMAddGlobalInAddressSpace(lowering->llvm_module, type, name, TF_SPACE_SHARED);
}

static tf_shared_plan *plan_of(tf_lowering *lowering) {
  if (lowering->shared) return lowering->shared;
  lowering->shared_base = add_global(lowering, "", 0);
  lowering->shared_pointer = tf_lower_opaque_pointer(lowering, lowering->shared_base);
  return lowering->shared = tf_shared_plan_create(lowering->module->module, lowering->kernel);
}

LLVMValueRef tf_shared_allocate(tf_lowering *lowering, const tf_expr *var, int64_t bytes, unsigned alignment) {
  tf_shared_plan *plan = plan_of(lowering);
  const tf_call_path *path = lowering->region.path;
  int64_t offset = var ? tf_shared_plan_offset(plan, path, var)
                       : tf_shared_plan_scratch(plan, path, lowering->stmt, bytes, alignment);
  LLVMValueRef index = LLVMConstInt(LLVMInt32TypeInContext(lowering->llvm), (uint64_t)offset, 0);
  LLVMTypeRef byte = LLVMInt8TypeInContext(lowering->llvm);
  return LLVMBuildInBoundsGEP2(lowering->entry_builder, byte, lowering->shared_pointer, &index, 1, "");
}

static LLVMValueRef final_global(const tf_lowering *lowering, const tf_shared_plan *plan) {
  LLVMValueRef global = add_global(lowering, global_name(lowering), plan->dynamic ? 0 : plan->bytes);
  LLVMSetAlignment(global, (unsigned)plan->alignment);
  LLVMSetLinkage(global, plan->dynamic ? LLVMExternalLinkage : LLVMInternalLinkage);
  if (!plan->dynamic) LLVMSetInitializer(global, LLVMGetUndef(LLVMGlobalGetValueType(global)));
  return global;
}

void tf_shared_end(tf_lowering *lowering) {
  tf_shared_plan *plan = lowering->shared;
  if (!plan) return;
  if (tf_shared_plan_finish(plan, lowering->module->target) != TF_OK) tf_lower_fail(lowering);
  LLVMValueRef global = final_global(lowering, plan);
  LLVMReplaceAllUsesWith(lowering->shared_base, global);
  LLVMDeleteGlobal(lowering->shared_base);
  lowering->shared_base = global;
}
