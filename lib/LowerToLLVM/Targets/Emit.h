/* From an LLVM module to PTX text. */
#ifndef TF_LOWER_TARGETS_EMIT_H
#define TF_LOWER_TARGETS_EMIT_H

#include <llvm-c/TargetMachine.h>

#include "LowerToLLVM/Lowering.h"

/* A machine for the target at a PTX version (times 10); null if LLVM lacks it. Free with LLVMDisposeTargetMachine. */
LLVMTargetMachineRef tf_target_machine(const tf_target *target, unsigned ptx_version, unsigned opt_level);

/* The version to emit: the least that has the target and what the code uses, or what the caller asks for. */
unsigned tf_ptx_version(const tf_module_lowering *module);

/* Verifies, optimises and emits. TF_UNSUPPORTED after a diagnostic when LLVM refuses; *out is a string of the context. */
TF_NODISCARD tf_status tf_emit_module(tf_module_lowering *module, const char **out);

/* A message of LLVM's as a diagnostic (errors and warnings; the rest is dropped). Install with
 * LLVMContextSetDiagnosticHandler, the module lowering as user. */
void tf_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *user);

typedef enum tf_pass {
#define TF_PASS(ENUM, NAME, OWN, SHOWS) TF_PASS_##ENUM,
#include <tilefoundry/Passes.def>
} tf_pass;

/* Timing and printing hooks around a pass. */
typedef struct tf_pass_timer {
  const tf_lower_options *options;
  tf_pass pass;
  double start;
} tf_pass_timer;
tf_pass_timer tf_pass_begin(const tf_lower_options *options, tf_pass pass);
void tf_pass_end(const tf_pass_timer *timer);
bool tf_pass_prints(const tf_lower_options *options, tf_pass pass);
/* Whether print_after may be this: null, "all", or a pass that leaves something to show. */
bool tf_pass_is_shown(const char *name);

#endif
