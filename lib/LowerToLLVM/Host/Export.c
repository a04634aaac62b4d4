/* The object of a module: its host functions, the unit that holds kernels and manifest, and one C function per entry,
 *
 *   tf_status main_(tf_runtime *runtime, tf_stream stream, DLTensor *x, float a) {
 *     tf_argument arguments[] = {{TF_ARGUMENT_TENSOR, x}, {TF_ARGUMENT_BITS, bits of a}};
 *     return tf_compiled_call(runtime, stream, &unit, 0, arguments, 2);
 *   }
 */
#include <string.h>

#include <tilefoundry/Runtime.h>

#include "LowerToLLVM/Host/Object.h"
#include "LowerToLLVM/Program.h"
#include "Support/Options.h"

/* Device code is read in whole words, wherever it lies. */
#define CUBIN_ALIGNMENT 64

typedef struct export {
  const tf_object_options *options;
  const char *ptx, *manifest;
}
export;

/* ---- The unit ---- */
static const char *unit_name(const tf_module *module) {
  if (module->function_count && module->functions[0]->loc.line)
    return tf_context_source_name(module->context, module->functions[0]->loc.file);
  return module->name ? module->name : "module";
}

static LLVMValueRef cubin_bytes(tf_host_module *module, const tf_object_options *options) {
  if (!options->cubin) return LLVMConstNull(module->pointer);
  LLVMValueRef bytes = tf_host_bytes(module, options->cubin, options->cubin_size);
  LLVMSetAlignment(bytes, CUBIN_ALIGNMENT);
  return bytes;
}

static LLVMValueRef number(const tf_host_module *module, size_t value) {
  return LLVMConstInt(module->word, value, false);
}

/* A tf_compiled_unit, field by field. */
static LLVMValueRef unit_of(tf_host_module *module, const export *e, LLVMValueRef table) {
  LLVMValueRef fields[] = {
      number(module, TF_COMPILED_VERSION),
      number(module, sizeof(tf_compiled_api)),
      tf_host_string(module, unit_name(module->module)),
      tf_host_string(module, e->ptx),
      number(module, strlen(e->ptx)),
      cubin_bytes(module, e->options),
      number(module, e->options->cubin ? e->options->cubin_size : 0),
      tf_host_string(module, e->manifest),
      number(module, strlen(e->manifest)),
      number(module, module->functions.count),
      table,
  };
  _Static_assert(sizeof fields / sizeof *fields == sizeof(tf_compiled_unit) / 8, "a word for each field");
  unsigned count = sizeof fields / sizeof *fields;
  return tf_host_constant(module, LLVMConstStructInContext(module->llvm, fields, count, false));
}

/* ---- C functions ---- */
static LLVMTypeRef c_type(const tf_host_module *module, tf_dtype dtype) {
  const char *name = tf_host_c_type(dtype);
  if (strcmp(name, "double") == 0) return module->real;
  if (strcmp(name, "float") == 0) return LLVMFloatTypeInContext(module->llvm);
  return LLVMIntTypeInContext(module->llvm, tf_dtype_bits(dtype) < 8 ? 8 : tf_dtype_bits(dtype));
}

/* A scalar as an argument: floats of C by their bits, but tf32, which C's float has to be rounded to; i4 is checked. */
static tf_argument_kind scalar_bits(LLVMBuilderRef b, const tf_host_module *module, tf_dtype dtype, LLVMValueRef value,
                                    LLVMValueRef *bits) {
  if (dtype == TF_DTYPE_TF32) {
    *bits = LLVMBuildBitCast(b, LLVMBuildFPExt(b, value, module->real, ""), module->word, "");
    return TF_ARGUMENT_FLOAT;
  }
  if (dtype == TF_DTYPE_I4) {
    *bits = LLVMBuildSExt(b, value, module->word, "");
    return TF_ARGUMENT_INT;
  }
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
  if (kind == LLVMFloatTypeKind) value = LLVMBuildBitCast(b, value, LLVMInt32TypeInContext(module->llvm), "");
  if (kind == LLVMDoubleTypeKind) value = LLVMBuildBitCast(b, value, module->word, "");
  *bits = LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64 ? value : LLVMBuildZExt(b, value, module->word, "");
  return TF_ARGUMENT_BITS;
}

static void store_argument(LLVMBuilderRef b, const tf_host_module *module, LLVMValueRef array, unsigned index,
                           const tf_expr *param, LLVMValueRef value) {
  tf_argument_kind kind = TF_ARGUMENT_TENSOR;
  LLVMTypeRef byte = LLVMInt8TypeInContext(module->llvm);
  LLVMValueRef at[] = {number(module, index * sizeof(tf_argument) + offsetof(tf_argument, kind)),
                       number(module, index * sizeof(tf_argument) + offsetof(tf_argument, value))};
  if (tf_is_scalar(param)) kind = scalar_bits(b, module, tf_type_dtype(param->type), value, &value);
  LLVMBuildStore(b, LLVMConstInt(module->status, kind, false), LLVMBuildInBoundsGEP2(b, byte, array, &at[0], 1, ""));
  LLVMBuildStore(b, value, LLVMBuildInBoundsGEP2(b, byte, array, &at[1], 1, ""));
}

static LLVMTypeRef function_type(tf_host_module *module, const tf_stmt *function) {
  unsigned count = function->function.param_count;
  LLVMTypeRef *types = TF_ARENA_ARRAY(module->arena, LLVMTypeRef, count + 2);
  types[0] = types[1] = module->pointer;
  for (unsigned i = 0; i < count; i++) {
    const tf_expr *param = function->function.params[i];
    types[i + 2] = tf_is_scalar(param) ? c_type(module, tf_type_dtype(param->type)) : module->pointer;
  }
  return LLVMFunctionType(module->status, types, count + 2, false);
}

static LLVMValueRef runtime_call(tf_host_module *module, LLVMTypeRef *type) {
  static const char name[] = "tf_compiled_call";
  LLVMTypeRef p = module->pointer, types[] = {p, p, p, module->status, p, module->status};
  *type = LLVMFunctionType(module->status, types, 6, false);
  LLVMValueRef function = LLVMGetNamedFunction(module->llvm_module, name);
  return function ? function : LLVMAddFunction(module->llvm_module, name, *type);
}

static void export_function(tf_host_module *module, const char *name, LLVMValueRef unit, unsigned index) {
  _Static_assert(sizeof(tf_argument_kind) == 4, "kinds are stored as 32 bits");
  const tf_stmt *function = tf_host_entry(module->module, index);
  unsigned count = function->function.param_count;
  LLVMValueRef made = LLVMAddFunction(module->llvm_module, name, function_type(module, function));
  LLVMBuilderRef b = LLVMCreateBuilderInContext(module->llvm);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(module->llvm, made, "entry"));
  LLVMValueRef array = LLVMBuildAlloca(b, LLVMArrayType2(module->word, count * sizeof(tf_argument) / 8 + 1), "");
  for (unsigned i = 0; i < count; i++)
    store_argument(b, module, array, i, function->function.params[i], LLVMGetParam(made, i + 2));
  LLVMTypeRef type;
  LLVMValueRef callee = runtime_call(module, &type);
  LLVMValueRef arguments[] = {LLVMGetParam(made, 0),
                              LLVMGetParam(made, 1),
                              unit,
                              LLVMConstInt(module->status, index, false),
                              array,
                              LLVMConstInt(module->status, count, false)};
  LLVMBuildRet(b, LLVMBuildCall2(b, type, callee, arguments, 6, ""));
  LLVMDisposeBuilder(b);
}

static void add_unit(void *user, tf_host_module *module, LLVMValueRef table) {
  const export *e = user;
  const char *name = unit_name(module->module);
  LLVMSetSourceFileName(module->llvm_module, name, strlen(name));
  LLVMValueRef unit = unit_of(module, e, table);
  const char *const *names = tf_host_c_names(module->module, e->options->prefix);
  for (unsigned i = 0; i < module->functions.count; i++)
    export_function(module, names[i], unit, i);
}

/* ---- The interface ---- */
tf_status tf_host_require_entry(void *argument) {
  const tf_module *module = argument;
  if (tf_host_entry(module, 0)) return TF_OK;
  tf_report(module->context, module->function_count ? module->functions[0]->loc : TF_NO_LOC, ENTRY_NONE);
  return TF_VERIFY;
}

typedef struct keeping {
  tf_context *context;
  LLVMMemoryBufferRef buffer;
  const void *bytes;
} keeping;

static tf_status keep(void *user) {
  keeping *k = user;
  k->bytes = tf_arena_copy(&k->context->arena, LLVMGetBufferStart(k->buffer), LLVMGetBufferSize(k->buffer));
  return TF_OK;
}

tf_status tf_emit_object(const tf_module *module, const tf_lower_options *options, const tf_object_options *object,
                         const void **out, size_t *size) {
  tf_lower_options lower;
  tf_object_options known = TF_OBJECT_OPTIONS_INIT;
  if (!module || !out || !size || !tf_lower_options_read(&lower, options) ||
      !tf_options_read(&known, sizeof known, object))
    return TF_INVALID_ARGUMENT;
  export e = {.options = &known};
  keeping kept = {.context = tf_module_context(module)};
  tf_status status = tf_lower_verify(module, &lower);
  if (status == TF_OK) status = tf_lower_program(module, &lower, &e.ptx, &e.manifest);
  if (status == TF_OK) status = tf_context_try(kept.context, tf_host_require_entry, (void *)(uintptr_t)module);
  if (status == TF_OK) status = tf_host_object(module, &lower, add_unit, &e, &kept.buffer);
  if (status != TF_OK) return status;
  status = tf_context_try(kept.context, keep, &kept);
  if (status == TF_OK) {
    *out = kept.bytes;
    *size = LLVMGetBufferSize(kept.buffer);
  }
  LLVMDisposeMemoryBuffer(kept.buffer);
  return status;
}
