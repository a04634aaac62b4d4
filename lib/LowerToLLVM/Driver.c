/* The entry points of Lower.h and Program.h: verify, lower every kernel into one LLVM module, then what was asked for.
 *
 *   tf_verify -> tf_lower_kernel for each kernel -> LLVM IR -> (Targets/Emit.c) PTX
 *                                                -> facts   -> (Manifest.c) JSON */
#include <tilefoundry/Lower.h>
#include <tilefoundry/Verify.h>

#include <string.h>

#include "IR/Target.h"
#include "LowerToLLVM/Debug.h"
#include "LowerToLLVM/Function.h"
#include "LowerToLLVM/Manifest.h"
#include "LowerToLLVM/Program.h"
#include "LowerToLLVM/Targets/Emit.h"
#include "Support/Options.h"
#include "Verify/Kernel.h"

/* ---- Target ---- */
static const tf_target *target_of(const tf_stmt *function) {
  const tf_target *target = tf_function_target(function);
  return target && !tf_target_is_cpu(target) ? target : tf_target_default();
}

static bool is_kernel(const tf_module *module, const tf_stmt *function) {
  return !tf_function_is_host(function) && tf_function_is_kernel(module, function);
}

/* One PTX module has one target: the option's, else the one that all kernels name. */
static bool choose_target(tf_module_lowering *lowering) {
  const tf_module *module = lowering->module;
  const tf_stmt *first = NULL;
  lowering->target = lowering->options->target;
  for (unsigned i = 0; i < module->function_count; i++) {
    const tf_stmt *function = module->functions[i];
    if (lowering->options->target || !is_kernel(module, function)) continue;
    if (!first) {
      first = function;
      lowering->target = target_of(function);
    } else if (target_of(function) != lowering->target) {
      tf_report(lowering->context, function->loc, LOWER_TARGETS, tf_function_name(function),
                tf_target_name(target_of(function)), tf_function_name(first), tf_target_name(lowering->target));
      return false;
    }
  }
  if (!lowering->target) lowering->target = tf_target_default();
  return true;
}

/* ---- The module ---- */
static bool is_empty(const char *text) {
  return !text || !*text;
}

/* The caller's module says nothing of this, or the same. */
static tf_status check_module(const tf_module_lowering *lowering, const char *what, const char *have,
                              const char *want) {
  if (is_empty(have) || strcmp(have, want) == 0) return TF_OK;
  tf_report(lowering->context, TF_NO_LOC, LOWER_MODULE, what, have, tf_target_name(lowering->target), want);
  return TF_INVALID_ARGUMENT;
}

static tf_status set_up_module(const tf_module_lowering *lowering, const char *triple, const char *layout) {
  LLVMModuleRef module = lowering->llvm_module;
  tf_status status = check_module(lowering, "target triple", LLVMGetTarget(module), triple);
  if (status == TF_OK) status = check_module(lowering, "data layout", LLVMGetDataLayoutStr(module), layout);
  if (status != TF_OK) return status;
  LLVMSetTarget(module, triple);
  LLVMSetDataLayout(module, layout);
  return TF_OK;
}

/* Sets the caller's module up for the target, or checks that it is. */
static tf_status prepare(tf_module_lowering *lowering) {
  LLVMTargetMachineRef machine = tf_target_machine(lowering->target, tf_target_min_ptx(lowering->target), 0);
  if (!machine) {
    tf_report(lowering->context, TF_NO_LOC, LOWER_LLVM, "no back end for nvptx64");
    return TF_UNSUPPORTED;
  }
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(machine);
  char *layout = LLVMCopyStringRepOfTargetData(data), *triple = LLVMGetTargetMachineTriple(machine);
  tf_status status = set_up_module(lowering, triple, layout);
  LLVMDisposeMessage(layout);
  LLVMDisposeMessage(triple);
  LLVMDisposeTargetData(data);
  LLVMDisposeTargetMachine(machine);
  return status;
}

static const char *source_name(const tf_module *module) {
  return module->function_count > 0 ? tf_context_source_name(module->context, module->functions[0]->loc.file) : "";
}

static tf_status lower_kernels(tf_module_lowering *lowering) {
  const tf_module *module = lowering->module;
  tf_pass_timer timer = tf_pass_begin(lowering->options, TF_PASS_LOWER);
  tf_debug_begin_module(lowering, source_name(module));
  for (unsigned i = 0; i < module->function_count; i++)
    if (is_kernel(module, module->functions[i])) tf_lower_kernel(lowering, module->functions[i]);
  tf_debug_end_module(lowering);
  tf_pass_end(&timer);
  return lowering->failed ? TF_UNSUPPORTED : TF_OK;
}

tf_status tf_lower_verify(const tf_module *module, const tf_lower_options *options) {
  tf_verify_options verify_options = TF_VERIFY_OPTIONS_INIT;
  verify_options.target = options->target;
  tf_pass_timer timer = tf_pass_begin(options, TF_PASS_VERIFY);
  tf_status status = tf_verify(module, &verify_options);
  tf_pass_end(&timer);
  return status;
}

static tf_status lower_module(tf_module_lowering *lowering) {
  tf_status status = choose_target(lowering) ? prepare(lowering) : TF_UNSUPPORTED;
  if (status == TF_OK) status = lower_kernels(lowering);
  return status;
}

/* ---- Jobs: what an entry point does once the module is lowered, under the out-of-memory guard ---- */
typedef enum job_kind { JOB_NOTHING, JOB_LLVM, JOB_PTX, JOB_MANIFEST, JOB_PROGRAM } job_kind;

typedef struct job {
  job_kind kind;
  tf_module_lowering lowering;
  const char *text, *manifest;
} job;

static tf_status print_llvm(job *work) {
  char *text = LLVMPrintModuleToString(work->lowering.llvm_module);
  work->text = tf_arena_strndup(&work->lowering.context->arena, text, strlen(text));
  LLVMDisposeMessage(text);
  return TF_OK;
}

static tf_module_facts facts_of(const tf_module_lowering *lowering) {
  return (tf_module_facts){.module = lowering->module,
                           .target = lowering->target,
                           .ptx_version = tf_ptx_version(lowering),
                           .chosen_entry = lowering->options->entry,
                           .kernel_count = (unsigned)lowering->kernels.count,
                           .kernels = lowering->kernels.items};
}

/* Code does not depend on the entry, but a name that means nothing is a mistake whatever is asked for. */
static tf_status check_entry(const tf_module_lowering *lowering) {
  tf_module_facts facts = facts_of(lowering);
  const char *name = NULL;
  return lowering->options->entry ? tf_manifest_default_entry(&facts, &name) : TF_OK;
}

static tf_status write_manifest(job *work, const char **out) {
  tf_module_facts facts = facts_of(&work->lowering);
  return tf_manifest_write(&facts, out);
}

static tf_status write_program(job *work) {
  tf_status status = tf_emit_module(&work->lowering, &work->text);
  return status == TF_OK ? write_manifest(work, &work->manifest) : status;
}

static tf_status run_job(void *argument) {
  job *work = argument;
  tf_status status = lower_module(&work->lowering);
  if (status == TF_OK) status = check_entry(&work->lowering);
  if (status != TF_OK) return status;
  switch (work->kind) {
  case JOB_LLVM:
    return print_llvm(work);
  case JOB_PTX:
    return tf_emit_module(&work->lowering, &work->text);
  case JOB_MANIFEST:
    return write_manifest(work, &work->text);
  case JOB_PROGRAM:
    return write_program(work);
  case JOB_NOTHING:
    break;
  }
  return TF_OK;
}

static tf_status start_job(job *work, const tf_module *module, const tf_lower_options *options, LLVMContextRef llvm,
                           LLVMModuleRef llvm_module) {
  tf_context *context = tf_module_context(module);
  work->lowering = (tf_module_lowering){
      .context = context, .module = module, .options = options, .llvm = llvm, .llvm_module = llvm_module};
  tf_arena_init(&work->lowering.arena, &context->oom);
  tf_status status = tf_context_try(context, run_job, work);
  if (work->lowering.debug) LLVMDisposeDIBuilder(work->lowering.debug);
  tf_arena_destroy(&work->lowering.arena);
  return status;
}

bool tf_lower_options_read(tf_lower_options *known, const tf_lower_options *options) {
  *known = (tf_lower_options)TF_LOWER_OPTIONS_INIT;
  return tf_options_read(known, sizeof *known, options) && tf_pass_is_shown(known->print_after) &&
         (known->ptx_version == 0 || tf_ptx_version_is_known(known->ptx_version));
}

/* A job in an LLVM context of its own. */
static tf_status run_alone(job *work, const tf_module *module, const tf_lower_options *options) {
  LLVMContextRef llvm = LLVMContextCreate();
  const char *name = tf_module_name(module);
  LLVMModuleRef llvm_module = LLVMModuleCreateWithNameInContext(name ? name : "tir", llvm);
  LLVMContextSetDiagnosticHandler(llvm, tf_llvm_diagnostic, &work->lowering);
  tf_status status = start_job(work, module, options, llvm, llvm_module);
  LLVMDisposeModule(llvm_module);
  LLVMContextDispose(llvm);
  return status;
}

static tf_status emit_text(job_kind kind, const tf_module *module, const tf_lower_options *options, const char **out) {
  tf_lower_options known;
  if (!module || !out || !tf_lower_options_read(&known, options)) return TF_INVALID_ARGUMENT;
  job work = {.kind = kind};
  tf_status status = tf_lower_verify(module, &known);
  if (status == TF_OK) status = run_alone(&work, module, &known);
  if (status == TF_OK) *out = work.text;
  return status;
}

tf_status tf_lower_program(const tf_module *module, const tf_lower_options *options, const char **ptx,
                           const char **manifest) {
  job work = {.kind = JOB_PROGRAM};
  tf_status status = run_alone(&work, module, options);
  if (status != TF_OK) return status;
  *ptx = work.text;
  *manifest = work.manifest;
  return TF_OK;
}

tf_status tf_lower_to_llvm(const tf_module *module, const tf_lower_options *options, LLVMContextRef llvm_context,
                           LLVMModuleRef llvm_module) {
  tf_lower_options known;
  if (!module || !llvm_context || !llvm_module || !tf_lower_options_read(&known, options)) return TF_INVALID_ARGUMENT;
  job work = {.kind = JOB_NOTHING};
  tf_status status = tf_lower_verify(module, &known);
  return status == TF_OK ? start_job(&work, module, &known, llvm_context, llvm_module) : status;
}

tf_status tf_emit_llvm(const tf_module *module, const tf_lower_options *options, const char **out) {
  return emit_text(JOB_LLVM, module, options, out);
}

tf_status tf_emit_ptx(const tf_module *module, const tf_lower_options *options, const char **out) {
  return emit_text(JOB_PTX, module, options, out);
}

tf_status tf_emit_manifest(const tf_module *module, const tf_lower_options *options, const char **out) {
  return emit_text(JOB_MANIFEST, module, options, out);
}
