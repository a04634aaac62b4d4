/* Host functions in this process: the object of the module, linked by LLVM's JIT. Its only undefined names are those of the
 * C library that LLVM's back end may call for copies of memory; they are defined here, so nothing is looked up by name in
 * the process. */
#include <llvm-c/LLJIT.h>
#include <stdlib.h>
#include <string.h>

#include "LowerToLLVM/Host/Object.h"
#include "LowerToLLVM/Program.h"

#define TABLE "tf_compiled_entries"

struct tf_host_code {
  LLVMOrcLLJITRef jit;
  const tf_compiled_entry *entries;
  unsigned count;
};

/* ---- The object ---- */
void tf_host_name_table(void *user, tf_host_module *module, LLVMValueRef table) {
  *(unsigned *)user = (unsigned)module->functions.count;
  LLVMSetLinkage(table, LLVMExternalLinkage);
  LLVMSetUnnamedAddress(table, LLVMNoUnnamedAddr);
  LLVMSetValueName2(table, TABLE, strlen(TABLE));
}

/* ---- Linking ---- */
static LLVMOrcCSymbolMapPair memory_function(LLVMOrcLLJITRef jit, const char *name, void *address) {
  LLVMJITSymbolFlags flags = {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
  return (LLVMOrcCSymbolMapPair){LLVMOrcLLJITMangleAndIntern(jit, name),
                                 {(LLVMOrcExecutorAddress)(uintptr_t)address, flags}};
}

/* A function's address as data, which C has no cast for. */
static void *address_of(void (*function)(void)) {
  void *address;
  memcpy(&address, &function, sizeof address);
  return address;
}

static LLVMErrorRef define_memory_functions(LLVMOrcLLJITRef jit) {
  typedef void (*any)(void);
  LLVMOrcCSymbolMapPair symbols[] = {memory_function(jit, "memcpy", address_of((any)memcpy)),
                                     memory_function(jit, "memmove", address_of((any)memmove)),
                                     memory_function(jit, "memset", address_of((any)memset))};
  LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(symbols, 3);
  LLVMErrorRef error = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), unit);
  if (error) LLVMOrcDisposeMaterializationUnit(unit);
  return error;
}

static LLVMErrorRef create_jit(LLVMOrcLLJITRef *out) {
  LLVMTargetMachineRef machine = tf_host_machine();
  if (!machine) return LLVMCreateStringError("no back end for this machine");
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  return LLVMOrcCreateLLJIT(out, builder);
}

/* Takes the object over. */
static LLVMErrorRef link_object(tf_host_code *code, LLVMMemoryBufferRef object) {
  LLVMErrorRef error = create_jit(&code->jit);
  if (!error) error = define_memory_functions(code->jit);
  if (error) {
    LLVMDisposeMemoryBuffer(object);
    return error;
  }
  LLVMOrcExecutorAddress table = 0;
  error = LLVMOrcLLJITAddObjectFile(code->jit, LLVMOrcLLJITGetMainJITDylib(code->jit), object);
  if (!error) error = LLVMOrcLLJITLookup(code->jit, &table, TABLE);
  code->entries = (const tf_compiled_entry *)(uintptr_t)table;
  return error;
}

static tf_status refuse(tf_context *context, LLVMErrorRef error) {
  if (!context) {
    LLVMConsumeError(error);
    return TF_UNSUPPORTED;
  }
  char *message = LLVMGetErrorMessage(error);
  tf_report(context, TF_NO_LOC, LOWER_LLVM, message);
  LLVMDisposeErrorMessage(message);
  return TF_UNSUPPORTED;
}

tf_status tf_host_link(tf_context *context, LLVMMemoryBufferRef object, unsigned count, tf_host_code **out) {
  tf_host_code *code = calloc(1, sizeof *code);
  if (!code) {
    LLVMDisposeMemoryBuffer(object);
    return TF_OUT_OF_MEMORY;
  }
  code->count = count;
  LLVMErrorRef error = link_object(code, object);
  if (!error) {
    *out = code;
    return TF_OK;
  }
  tf_host_code_destroy(code);
  return refuse(context, error);
}

/* ---- The interface ---- */
tf_status tf_host_code_create(const tf_module *module, const tf_lower_options *options, tf_host_code **out) {
  tf_lower_options known;
  if (!module || !out || !tf_lower_options_read(&known, options)) return TF_INVALID_ARGUMENT;
  unsigned count = 0;
  LLVMMemoryBufferRef object = NULL;
  tf_status status = tf_lower_verify(module, &known);
  if (status == TF_OK) status = tf_host_object(module, &known, tf_host_name_table, &count, &object);
  return status == TF_OK ? tf_host_link(tf_module_context(module), object, count, out) : status;
}

void tf_host_code_destroy(tf_host_code *code) {
  if (!code) return;
  LLVMErrorRef error = code->jit ? LLVMOrcDisposeLLJIT(code->jit) : NULL;
  if (error) LLVMConsumeError(error);
  free(code);
}

const tf_compiled_entry *tf_host_code_entries(const tf_host_code *code, unsigned *count) {
  if (count) *count = code->count;
  return code->entries;
}
