/* Device intrinsics behind one table (Intrinsics.def): what each needs of the target is known before LLVM sees it, as
 * LLVM aborts on an intrinsic that the target cannot select. */
#ifndef TF_LOWER_INTRINSICS_H
#define TF_LOWER_INTRINSICS_H

#include "LowerToLLVM/Lowering.h"

typedef enum tf_intrinsic_id {
#define TF_INTRINSIC(ID, NAME, RESULT, PARAMS, MIN_SM, SUFFIX, MIN_PTX, FLAGS) TF_INTRINSIC_##ID,
#include "LowerToLLVM/Intrinsics.def"
  TF_INTRINSIC_COUNT
} tf_intrinsic_id;

/* Emits the call. If the target lacks it, reports LOWER_TARGET at the current statement (what names the feature in the
 * author's words, e.g. "cp.async") and returns an undefined value. Notes the PTX version that it needs. The call is
 * marked convergent where the row says so. */
LLVMValueRef tf_lower_intrinsic(tf_lowering *lowering, tf_intrinsic_id id, const char *what, unsigned count,
                                LLVMValueRef *args);
/* Whether the target has it, without a report. */
bool tf_lower_has_intrinsic(const tf_lowering *lowering, tf_intrinsic_id id);
/* The same for a feature outside of the table: sm (with suffix 'a'/'f', 0: none) and PTX version times 10. */
bool tf_lower_require(tf_lowering *lowering, const char *what, unsigned sm, char suffix, unsigned ptx);
bool tf_target_has(const tf_target *target, unsigned sm, char suffix);

/* Whether LLVM knows the row's intrinsic with exactly the row's type; for the test of the table. */
bool tf_intrinsic_is_known(LLVMContextRef llvm, LLVMModuleRef module, tf_intrinsic_id id, const char **name);

/* An LLVM intrinsic by name with explicit types, for rows of MmaAtoms.def; overload types as LLVM lists them (may be
 * none). Requirements are the caller's to check with tf_lower_require. */
LLVMValueRef tf_lower_llvm_intrinsic(tf_lowering *lowering, const char *name, unsigned overload_count,
                                     LLVMTypeRef *overloads, unsigned count, LLVMValueRef *args);

/* Inline PTX. result null: void. What it may do: nothing but its result; effects of its own; effects of all lanes together. */
typedef enum tf_asm_kind { TF_ASM_PURE, TF_ASM_EFFECT, TF_ASM_CONVERGENT } tf_asm_kind;
LLVMValueRef tf_lower_asm(tf_lowering *lowering, LLVMTypeRef result, const char *text, const char *constraints,
                          unsigned count, LLVMValueRef *args, tf_asm_kind kind);

#endif
