/* Host functions through LLVM's back end for this machine. */
#include "LowerToLLVM/Host/Object.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>

#include "LowerToLLVM/Targets/Emit.h"

/* ---- The machine ---- */
static void initialize(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

/* The architecture's baseline, so that the bytes depend on the architecture only; the quick code generator, whose time is
 * linear in the code. */
LLVMTargetMachineRef tf_host_machine(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize);
  char *triple = LLVMGetDefaultTargetTriple(), *error = NULL;
  LLVMTargetRef target;
  LLVMTargetMachineRef machine = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &error))
    LLVMDisposeMessage(error);
  else
    machine = LLVMCreateTargetMachine(target, triple, "generic", "", LLVMCodeGenLevelNone, LLVMRelocPIC,
                                      LLVMCodeModelDefault);
  LLVMDisposeMessage(triple);
  return machine;
}

/* ---- One job ---- */
typedef struct job {
  tf_host_module lowering;
  tf_arena arena;
  tf_host_finish_fn finish;
  void *user;
  LLVMTargetMachineRef machine;
  LLVMMemoryBufferRef buffer;
} job;

static tf_status refuse(job *work, const char *message) {
  tf_report(work->lowering.context, TF_NO_LOC, LOWER_LLVM, message);
  return TF_UNSUPPORTED;
}

static void print(const tf_host_module *lowering) {
  if (!tf_pass_prints(lowering->options, TF_PASS_HOST)) return;
  char *text = LLVMPrintModuleToString(lowering->llvm_module);
  lowering->options->print(lowering->options->user, "host", text);
  LLVMDisposeMessage(text);
}

static tf_status check_llvm(job *work) {
  char *message = NULL;
  bool broken = LLVMVerifyModule(work->lowering.llvm_module, LLVMReturnStatusAction, &message);
  tf_status status = broken ? refuse(work, message) : TF_OK;
  LLVMDisposeMessage(message);
  return status;
}

/* Calls of the runtime are what takes time in a host function, and there are long ones: everything here is linear. */
static tf_status optimize(job *work) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error =
      LLVMRunPasses(work->lowering.llvm_module, "function(early-cse,simplifycfg),globaldce", work->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return TF_OK;
  char *message = LLVMGetErrorMessage(error);
  tf_status status = refuse(work, message);
  LLVMDisposeErrorMessage(message);
  return status;
}

static tf_status emit(job *work) {
  char *error = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(work->machine, work->lowering.llvm_module, LLVMObjectFile, &error,
                                           &work->buffer))
    return TF_OK;
  tf_status status = refuse(work, error);
  LLVMDisposeMessage(error);
  return status;
}

static void set_up(job *work) {
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(work->machine);
  char *triple = LLVMGetTargetMachineTriple(work->machine);
  LLVMSetTarget(work->lowering.llvm_module, triple);
  LLVMSetModuleDataLayout(work->lowering.llvm_module, data);
  LLVMDisposeMessage(triple);
  LLVMDisposeTargetData(data);
}

static tf_status run(void *argument) {
  job *work = argument;
  if (!work->machine) return refuse(work, "no back end for this machine");
  set_up(work);
  tf_pass_timer timer = tf_pass_begin(work->lowering.options, TF_PASS_HOST);
  work->finish(work->user, &work->lowering, tf_host_lower(&work->lowering));
  print(&work->lowering);
  tf_status status = check_llvm(work);
  if (status == TF_OK) status = optimize(work);
  if (status == TF_OK) status = emit(work);
  tf_pass_end(&timer);
  return status;
}

tf_status tf_host_object(const tf_module *module, const tf_lower_options *options, tf_host_finish_fn finish, void *user,
                         LLVMMemoryBufferRef *out) {
  tf_context *context = tf_module_context(module);
  LLVMContextRef llvm = LLVMContextCreate();
  job work = {.finish = finish, .user = user, .machine = tf_host_machine()};
  tf_arena_init(&work.arena, &context->oom);
  work.lowering = (tf_host_module){.context = context,
                                   .module = module,
                                   .options = options,
                                   .arena = &work.arena,
                                   .llvm = llvm,
                                   .llvm_module = LLVMModuleCreateWithNameInContext("host", llvm)};
  tf_status status = tf_context_try(context, run, &work);
  if (work.machine) LLVMDisposeTargetMachine(work.machine);
  LLVMDisposeModule(work.lowering.llvm_module);
  LLVMContextDispose(llvm);
  tf_arena_destroy(&work.arena);
  if (status == TF_OK) *out = work.buffer;
  return status;
}
