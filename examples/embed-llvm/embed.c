/* A tool chain of one's own: a TIR kernel joins an LLVM module that already holds other device code.
 *
 *   LLVM IR of the tool chain ─▶ LLVMModuleRef ◀── tf_lower_to_llvm ── TIR
 *                                     │
 *                 passes and target machine of the tool chain ─▶ PTX on standard output
 *
 *   cc embed.c $(pkg-config --cflags --libs tilefoundry) $(llvm-config-22 --cflags --ldflags --libs) -o embed
 *   ./embed > both.ptx
 *   tf-run --kernel=shift --grid=1 --block=64 --arg 0=@x.npy --arg 1=3.0 --out 0=y.npy both.ptx
 *
 * TileFoundry neither runs passes nor emits anything here: it adds functions to the caller's module, in the caller's LLVM
 * context, and leaves the rest to him. */
#include <stdio.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <tilefoundry/TileFoundry.h>

/* What the tool chain has: x[i] += by. It says nothing of triple and data layout, so TileFoundry sets them. */
static const char existing[] =
    "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    "define ptx_kernel void @shift(ptr addrspace(1) %x, float %by) {\n"
    "  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
    "  %p = getelementptr float, ptr addrspace(1) %x, i32 %i\n"
    "  %v = load float, ptr addrspace(1) %p\n"
    "  %w = fadd float %v, %by\n"
    "  store float %w, ptr addrspace(1) %p\n"
    "  ret void\n"
    "}\n";

/* What joins it: column sums of an array of 64 columns, a thread each. */
static const char added[] =
    "@prim_func(target=CudaTarget('sm_80'))\n"
    "def column_sums(x: Tensor[(24, 64), 'f32'], y: Tensor[(64,), 'f32']) -> None:\n"
    "    with Mesh((Topology('cta', 1), Topology('thread', 64)), Layout(shape=(64,)), ('t',)) as block:\n"
    "        own = ShardLayout(layout=Layout(shape=(64,)), attrs=(Split(0),), mesh=block)\n"
    "        sum = T.alloc_tensor(TensorType(shape=(64,), dtype=DType.f32, layout=own, storage=StorageKind.RMEM))\n"
    "        T.fill(sum, 0.0)\n"
    "        for row in range(24):\n"
    "            T.binary(sum, T.tensor_view(x, row, 0, shape=(64,), layout=own), sum, kind='add')\n"
    "        T.copy(sum, T.tensor_view(y, layout=own))\n";

static int failed(char *message) {
  fprintf(stderr, "embed: %s\n", message);
  LLVMDisposeMessage(message);
  return 1;
}

static int read_existing(LLVMContextRef llvm, LLVMModuleRef *module) {
  char *message = NULL;
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRange(existing, strlen(existing), "existing", 1);
  return LLVMParseIRInContext(llvm, text, module, &message) ? failed(message) : 0; /* takes the buffer */
}

static int add_kernel(LLVMContextRef llvm, LLVMModuleRef module) {
  tf_context *context;
  if (tf_context_create(&context) != TF_OK) return 1;
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  const tf_module *tir;
  tf_status status = tf_parse(context, "added.tir", added, strlen(added), &parse, &tir);
  if (status == TF_OK) status = tf_lower_to_llvm(tir, &lower, llvm, module); /* verifies first */
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    fputs(tf_diagnostic_render(context, tf_context_diagnostic(context, i)), stderr);
  tf_context_destroy(context);
  return status != TF_OK;
}

/* ---- The tool chain's own back end ---- */

static int optimize(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, "default<O2>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return 0;
  char *message = LLVMGetErrorMessage(error);
  fprintf(stderr, "embed: %s\n", message);
  LLVMDisposeErrorMessage(message);
  return 1;
}

static int emit(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  char *message = NULL;
  LLVMMemoryBufferRef ptx;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) return failed(message);
  LLVMDisposeMessage(message);
  if (optimize(module, machine)) return 1;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, &ptx)) return failed(message);
  fwrite(LLVMGetBufferStart(ptx), 1, LLVMGetBufferSize(ptx), stdout);
  LLVMDisposeMemoryBuffer(ptx);
  return 0;
}

static int emit_for(LLVMModuleRef module, const char *cpu, const char *features) {
  LLVMTargetRef target;
  char *message = NULL;
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  if (LLVMGetTargetFromTriple(LLVMGetTarget(module), &target, &message)) return failed(message);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, LLVMGetTarget(module), cpu, features, LLVMCodeGenLevelDefault, LLVMRelocDefault,
                              LLVMCodeModelDefault);
  int status = emit(module, machine);
  LLVMDisposeTargetMachine(machine);
  return status;
}

int main(void) {
  LLVMContextRef llvm = LLVMContextCreate();
  LLVMModuleRef module = NULL;
  int status = read_existing(llvm, &module) || add_kernel(llvm, module) || emit_for(module, "sm_80", "+ptx70");
  if (module) LLVMDisposeModule(module);
  LLVMContextDispose(llvm);
  return status;
}
