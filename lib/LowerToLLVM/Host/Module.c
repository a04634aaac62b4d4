/* All host functions of a module, and the table of them. */
#include "LowerToLLVM/Host/Host.h"

#include <string.h>

#include "Verify/Calls.h"
#include "Verify/Kernel.h"

/* ---- Who is what ---- */
static bool is_kernel(const tf_module *module, const tf_stmt *function) {
  return !tf_function_is_host(function) && tf_function_is_kernel(module, function);
}

const tf_stmt *tf_host_derived(const tf_module *module) {
  const tf_stmt *only = NULL;
  for (unsigned i = 0; i < module->function_count; i++) {
    if (tf_function_is_host(module->functions[i])) return NULL;
    if (!is_kernel(module, module->functions[i])) continue;
    if (only) return NULL;
    only = module->functions[i];
  }
  return only;
}

const tf_stmt *tf_host_entry(const tf_module *module, unsigned index) {
  const tf_stmt *derived = tf_host_derived(module);
  if (derived) return index == 0 ? derived : NULL;
  for (unsigned i = 0; i < module->function_count; i++)
    if (tf_function_is_host(module->functions[i]) && index-- == 0) return module->functions[i];
  return NULL;
}

unsigned tf_host_entry_index(const tf_module *module, const tf_stmt *function) {
  unsigned index = 0;
  for (unsigned i = 0; i < module->function_count && module->functions[i] != function; i++)
    index += tf_function_is_host(module->functions[i]);
  return index;
}

unsigned tf_host_kernel_index(const tf_module *module, const tf_stmt *kernel) {
  unsigned index = 0;
  for (unsigned i = 0; i < module->function_count && module->functions[i] != kernel; i++)
    index += is_kernel(module, module->functions[i]);
  return index;
}

/* ---- Constants ---- */
LLVMValueRef tf_host_constant(tf_host_module *module, LLVMValueRef value) {
  LLVMValueRef global = LLVMAddGlobal(module->llvm_module, LLVMTypeOf(value), "");
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
  return global;
}

LLVMValueRef tf_host_bytes(tf_host_module *module, const void *bytes, size_t size) {
  return tf_host_constant(module, LLVMConstStringInContext2(module->llvm, bytes, size, false));
}

LLVMValueRef tf_host_string(tf_host_module *module, const char *text) {
  return text ? tf_host_bytes(module, text, strlen(text)) : LLVMConstNull(module->pointer);
}

/* ---- Parameters ---- */
static void bind_scalar(tf_host *host, unsigned index) {
  const tf_expr *param = host->function->function.params[index];
  LLVMValueRef bits = tf_host_load(host, host->module->word, host->values, index * sizeof(tf_compiled_value));
  tf_host_scalar value = tf_host_from_bits(host, tf_type_dtype(param->type), bits);
  tf_host_bind(host, param, (tf_host_binding){.scalar = value});
}

static bool is_known(const tf_host *host, const char *name) {
  for (size_t i = 0; i < host->dims.count; i++)
    if (strcmp(host->dims.items[i].name, name) == 0) return true;
  return false;
}

/* An axis V or c*V gives V its value; the runtime has checked that c divides the extent. */
static void solve_axis(tf_host *host, LLVMValueRef shape, const tf_type *type, unsigned axis) {
  const char *name;
  int64_t lo, hi, factor;
  if (!tf_dim_is_scaled_var(host->context, tf_type_extent(type, axis), &name, &lo, &hi, &factor)) return;
  if (is_known(host, name)) return;
  LLVMValueRef extent = tf_host_load(host, host->module->word, shape, axis * sizeof(int64_t));
  LLVMValueRef value = LLVMBuildSDiv(host->builder, extent, tf_host_int(host, factor), "");
  TF_VEC_PUSH(host->module->arena, &host->dims, ((tf_host_dim){name, value}));
}

static void bind_params(tf_host *host) {
  const tf_stmt *function = host->function;
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_type *type = function->function.params[i]->type;
    if (tf_type_is_scalar(type)) {
      bind_scalar(host, i);
      continue;
    }
    size_t member = i * sizeof(tf_compiled_value) + offsetof(tf_compiled_value, shape);
    LLVMValueRef shape = tf_host_load(host, host->module->pointer, host->values, member);
    for (unsigned axis = 0; axis < tf_type_rank(type); axis++)
      solve_axis(host, shape, type, axis);
  }
}

/* ---- Functions ---- */
static LLVMValueRef new_function(tf_host_module *module, unsigned index) {
  const char *name = tf_arena_printf(module->arena, "tf_host_%u", index);
  LLVMTypeRef params[] = {module->pointer, module->pointer};
  LLVMTypeRef type = LLVMFunctionType(module->status, params, 2, false);
  LLVMValueRef function = LLVMAddFunction(module->llvm_module, name, type);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  return function;
}

/* A derived entry is its kernel, launched on its own parameters. */
static void lower_body(tf_host *host) {
  const tf_stmt *function = host->function;
  if (host->function == tf_host_derived(host->module->module))
    tf_host_invoke(host, function, function->function.param_count, function->function.params);
  else
    tf_host_stmt(host, function->function.body);
  if (!tf_host_is_terminated(host)) LLVMBuildRet(host->builder, LLVMConstNull(host->module->status));
}

/* The scratch words are an alloca whose size is known when everything has been written. */
static void lower_function(tf_host_module *module, const tf_stmt *function, LLVMValueRef llvm_function) {
  tf_host host = {.module = module,
                  .context = module->context,
                  .function = function,
                  .builder = LLVMCreateBuilderInContext(module->llvm),
                  .llvm_function = llvm_function,
                  .call = LLVMGetParam(llvm_function, 0),
                  .values = LLVMGetParam(llvm_function, 1)};
  LLVMPositionBuilderAtEnd(host.builder, tf_host_block(&host, "entry"));
  host.scratch = LLVMBuildArrayAlloca(host.builder, module->word, tf_host_int(&host, 1), "");
  host.api = tf_host_load(&host, module->pointer, host.call, offsetof(tf_call, api));
  tf_host_begin(&host, function);
  bind_params(&host);
  lower_body(&host);
  LLVMSetOperand(host.scratch, 0, tf_host_int(&host, (int64_t)host.scratch_most + 1));
  LLVMDisposeBuilder(host.builder);
}

/* ---- The table ---- */
static LLVMValueRef entry_table(tf_host_module *module) {
  LLVMTypeRef pair[] = {module->pointer, module->pointer};
  LLVMTypeRef type = LLVMStructTypeInContext(module->llvm, pair, 2, false);
  LLVMValueRef *rows = TF_ARENA_ARRAY(module->arena, LLVMValueRef, module->functions.count + 1);
  for (size_t i = 0; i < module->functions.count; i++) {
    const char *name = tf_host_entry(module->module, (unsigned)i)->function.name;
    LLVMValueRef fields[] = {tf_host_string(module, name), module->functions.items[i]};
    rows[i] = LLVMConstStructInContext(module->llvm, fields, 2, false);
  }
  return tf_host_constant(module, LLVMConstArray2(type, rows, module->functions.count));
}

LLVMValueRef tf_host_lower(tf_host_module *module) {
  module->bit = LLVMInt1TypeInContext(module->llvm);
  module->status = LLVMInt32TypeInContext(module->llvm);
  module->word = LLVMInt64TypeInContext(module->llvm);
  module->real = LLVMDoubleTypeInContext(module->llvm);
  module->pointer = LLVMPointerTypeInContext(module->llvm, 0);
  const tf_stmt *function;
  for (unsigned i = 0; (function = tf_host_entry(module->module, i)); i++) {
    LLVMValueRef made = new_function(module, i);
    TF_VEC_PUSH(module->arena, &module->functions, made);
    lower_function(module, function, made);
  }
  return entry_table(module);
}
