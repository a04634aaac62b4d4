/* ConstTensors: nobody writes what they name while a kernel runs, so their loads are invariant. */
#ifndef TF_LOWER_CONST_LOADS_H
#define TF_LOWER_CONST_LOADS_H

#include "LowerToLLVM/Lowering.h"

/* The pointer that a ConstTensor parameter is bound to, an instruction; and a load of it. */
void tf_const_mark_pointer(tf_lowering *lowering, LLVMValueRef pointer);
void tf_const_mark_load(tf_lowering *lowering, LLVMValueRef load);

/* Behind LLVM's passes: marks the loads again that come from such pointers. */
void tf_const_restore_loads(LLVMModuleRef module);

#endif
