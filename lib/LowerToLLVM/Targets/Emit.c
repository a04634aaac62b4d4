/* PTX emission.
 *
 *   verify -> optimize (LLVM's pipeline; it begins with SROA at every level, so that register tensors leave memory) -> emit
 *
 * LLVM ends the process when it meets an instruction that the target cannot do. That is made unreachable before: every
 * intrinsic is checked against the target as it is called (Intrinsics.c), target names come from a table of our own. */
#include "LowerToLLVM/Targets/Emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "IR/Target.h"
#include "LowerToLLVM/ConstLoads.h"

/* ---- Passes ---- */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const struct {
  const char *name;
  bool shows;
} passes[] = {
#define TF_PASS(ENUM, NAME, OWN, SHOWS) {NAME, SHOWS},
#include <tilefoundry/Passes.def>
};

tf_pass_timer tf_pass_begin(const tf_lower_options *options, tf_pass pass) {
  return (tf_pass_timer){options, pass, options->time ? now() : 0};
}

void tf_pass_end(const tf_pass_timer *timer) {
  if (timer->options->time) timer->options->time(timer->options->user, passes[timer->pass].name, now() - timer->start);
}

bool tf_pass_prints(const tf_lower_options *options, tf_pass pass) {
  return options->print && options->print_after &&
         (strcmp(options->print_after, passes[pass].name) == 0 || strcmp(options->print_after, "all") == 0);
}

bool tf_pass_is_shown(const char *name) {
  if (!name || strcmp(name, "all") == 0) return true;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    if (passes[i].shows && strcmp(passes[i].name, name) == 0) return true;
  return false;
}

static void print_module(tf_module_lowering *module, tf_pass pass) {
  if (!tf_pass_prints(module->options, pass)) return;
  char *text = LLVMPrintModuleToString(module->llvm_module);
  module->options->print(module->options->user, passes[pass].name, text);
  LLVMDisposeMessage(text);
}

/* ---- Machines ---- */
static void initialize(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

static LLVMCodeGenOptLevel codegen_level(unsigned level) {
  static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
                                               LLVMCodeGenLevelAggressive};
  return levels[level > 3 ? 3 : level];
}

LLVMTargetMachineRef tf_target_machine(const tf_target *target, unsigned ptx_version, unsigned opt_level) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize);
  static const char triple[] = "nvptx64-nvidia-cuda";
  LLVMTargetRef llvm_target;
  char *error = NULL, features[32];
  if (LLVMGetTargetFromTriple(triple, &llvm_target, &error)) {
    LLVMDisposeMessage(error);
    return NULL;
  }
  snprintf(features, sizeof features, "+ptx%u", ptx_version);
  return LLVMCreateTargetMachine(llvm_target, triple, tf_target_name(target), features, codegen_level(opt_level),
                                 LLVMRelocDefault, LLVMCodeModelDefault);
}

unsigned tf_ptx_version(const tf_module_lowering *module) {
  unsigned version = tf_target_min_ptx(module->target);
  if (module->ptx_version > version) version = module->ptx_version;
  if (module->options->ptx_version > version) version = module->options->ptx_version;
  return version;
}

/* ---- LLVM's messages ---- */
void tf_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  tf_module_lowering *module = user;
  LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
  if (severity != LLVMDSError) return;
  char *text = LLVMGetDiagInfoDescription(info);
  tf_report(module->context, TF_NO_LOC, LOWER_LLVM, text);
  LLVMDisposeMessage(text);
  module->failed = true;
}

static tf_status refuse(tf_module_lowering *module, const char *message) {
  tf_report(module->context, TF_NO_LOC, LOWER_LLVM, message);
  module->failed = true;
  return TF_UNSUPPORTED;
}

/* ---- Pipeline ---- */
static tf_status verify(tf_module_lowering *module) {
  char *message = NULL;
  tf_pass_timer timer = tf_pass_begin(module->options, TF_PASS_LLVM_VERIFY);
  bool broken = LLVMVerifyModule(module->llvm_module, LLVMReturnStatusAction, &message);
  tf_pass_end(&timer);
  tf_status status = broken ? refuse(module, message) : TF_OK;
  LLVMDisposeMessage(message);
  return status;
}

static tf_status optimize(tf_module_lowering *module, LLVMTargetMachineRef machine) {
  static const char *const pipelines[] = {"function(sroa,early-cse,simplifycfg)", "default<O1>", "default<O2>",
                                          "default<O3>"};
  unsigned level = module->options->opt_level > 3 ? 3 : module->options->opt_level;
  tf_pass_timer timer = tf_pass_begin(module->options, TF_PASS_OPTIMIZE);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module->llvm_module, pipelines[level], machine, options);
  LLVMDisposePassBuilderOptions(options);
  tf_pass_end(&timer);
  if (!error) {
    tf_const_restore_loads(module->llvm_module);
    print_module(module, TF_PASS_OPTIMIZE);
    return TF_OK;
  }
  char *message = LLVMGetErrorMessage(error);
  tf_status status = refuse(module, message);
  LLVMDisposeErrorMessage(message);
  return status;
}

static tf_status emit(tf_module_lowering *module, LLVMTargetMachineRef machine, const char **out) {
  LLVMMemoryBufferRef buffer = NULL;
  char *error = NULL;
  tf_pass_timer timer = tf_pass_begin(module->options, TF_PASS_EMIT);
  bool failed = LLVMTargetMachineEmitToMemoryBuffer(machine, module->llvm_module, LLVMAssemblyFile, &error, &buffer);
  tf_pass_end(&timer);
  if (failed) {
    tf_status status = refuse(module, error);
    LLVMDisposeMessage(error);
    return status;
  }
  *out = tf_arena_strndup(&module->context->arena, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  if (tf_pass_prints(module->options, TF_PASS_EMIT))
    module->options->print(module->options->user, passes[TF_PASS_EMIT].name, *out);
  return module->failed ? TF_UNSUPPORTED : TF_OK;
}

tf_status tf_emit_module(tf_module_lowering *module, const char **out) {
  const char *text = NULL;
  print_module(module, TF_PASS_LOWER);
  tf_status status = verify(module);
  LLVMTargetMachineRef machine =
      status == TF_OK ? tf_target_machine(module->target, tf_ptx_version(module), module->options->opt_level) : NULL;
  if (status == TF_OK && !machine) status = refuse(module, "no back end for nvptx64");
  if (status == TF_OK) status = optimize(module, machine);
  if (status == TF_OK) status = emit(module, machine, &text);
  if (machine) LLVMDisposeTargetMachine(machine);
  if (status == TF_OK) *out = text;
  return status;
}
