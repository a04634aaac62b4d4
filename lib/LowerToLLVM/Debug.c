/* -g: .loc lines of the source.
 *
 * The emission kind is LLVM's "debug directives only" (3, missing from the C enumeration): .file and .loc, but not the
 * `debug` target that makes ptxas give up optimising. */
#include "LowerToLLVM/Debug.h"

#include <string.h>

#define DIRECTIVES_ONLY ((LLVMDWARFEmissionKind)3)

static void add_flag(tf_module_lowering *module, const char *name, unsigned value) {
  LLVMValueRef constant = LLVMConstInt(LLVMInt32TypeInContext(module->llvm), value, false);
  LLVMAddModuleFlag(module->llvm_module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                    LLVMValueAsMetadata(constant));
}

void tf_debug_begin_module(tf_module_lowering *module, const char *file) {
  if (!module->options->debug_lines) return;
  add_flag(module, "Debug Info Version", LLVMDebugMetadataVersion());
  add_flag(module, "Dwarf Version", 2);
  module->debug = LLVMCreateDIBuilder(module->llvm_module);
  module->debug_file = LLVMDIBuilderCreateFile(module->debug, file, strlen(file), ".", 1);
  LLVMDIBuilderCreateCompileUnit(module->debug, LLVMDWARFSourceLanguageC, module->debug_file, "tilefoundry", 11, true,
                                 "", 0, 0, "", 0, DIRECTIVES_ONLY, 0, false, false, "", 0, "", 0);
}

void tf_debug_begin_function(tf_lowering *lowering, const char *name, tf_loc loc) {
  tf_module_lowering *module = lowering->module;
  if (!module->debug) return;
  LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(module->debug, module->debug_file, NULL, 0, LLVMDIFlagZero);
  lowering->debug_scope =
      LLVMDIBuilderCreateFunction(module->debug, module->debug_file, name, strlen(name), name, strlen(name),
                                  module->debug_file, loc.line, type, false, true, loc.line, LLVMDIFlagZero, true);
  LLVMSetSubprogram(lowering->llvm_function, lowering->debug_scope);
}

void tf_debug_end_module(tf_module_lowering *module) {
  if (!module->debug) return;
  LLVMDIBuilderFinalize(module->debug);
  LLVMDisposeDIBuilder(module->debug);
  module->debug = NULL;
}

void tf_lower_place(tf_lowering *lowering) {
  if (!lowering->debug_scope || lowering->loc.line == 0) return;
  LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(lowering->llvm, lowering->loc.line, lowering->loc.column,
                                                        lowering->debug_scope, NULL);
  LLVMSetCurrentDebugLocation2(lowering->builder, at);
  LLVMSetCurrentDebugLocation2(lowering->entry_builder, at);
}
