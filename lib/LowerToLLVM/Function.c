/* One kernel: signature, parameters, entry block, body.
 *
 *   entry:   allocas, special registers, coordinates, values of dims       everything that depends on the thread alone
 *   body:    the statements
 *   return:  where `return` goes
 *
 * A block may have any shape of the right size, so the bound on its size is .maxntid, unless the launches are promised to have
 * one axis: then it is .reqntid. */
#include "LowerToLLVM/Function.h"

#include <string.h>

#include "LowerToLLVM/ConstLoads.h"
#include "LowerToLLVM/Debug.h"
#include "LowerToLLVM/Dims.h"
#include "LowerToLLVM/IntMath.h"
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/SharedMemory.h"

#include "IR/DimImpl.h"
#include "Verify/Calls.h"

#define PARAMETER_ALIGNMENT 16 /* by contract; the runtime checks it */
#define GRID_BARRIER_BYTES  4
#define PARAMETER_BYTES_OLD 4096  /* what any driver passes to a kernel */
#define PARAMETER_BYTES_MAX 32764 /* what drivers that read PTX 8.1 pass */

/* ---- Signature ---- */
static LLVMTypeRef param_type(const tf_lowering *lowering, const tf_kernel_param *param) {
  switch (param->kind) {
  case TF_KERNEL_PARAM_SCALAR:
    return tf_llvm_memory_type(lowering, tf_type_dtype(param->param->type));
  case TF_KERNEL_PARAM_HIDDEN_SHAPE:
    return tf_llvm_int(lowering, 32);
  default:
    return LLVMPointerTypeInContext(lowering->llvm, TF_SPACE_GLOBAL);
  }
}

static void add_enum_attribute(tf_lowering *lowering, unsigned index, const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(lowering->llvm_function, index, LLVMCreateEnumAttribute(lowering->llvm, kind, value));
}

static void add_string_attribute(tf_lowering *lowering, const char *name, const char *value) {
  LLVMAttributeRef attribute =
      LLVMCreateStringAttribute(lowering->llvm, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(lowering->llvm_function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

static void add_attributes(tf_lowering *lowering, unsigned count, const tf_kernel_param *params) {
  for (unsigned i = 0; i < count; i++) {
    if (params[i].kind == TF_KERNEL_PARAM_TENSOR) add_enum_attribute(lowering, i + 1, "align", PARAMETER_ALIGNMENT);
    if (params[i].kind == TF_KERNEL_PARAM_GRID_BARRIER) add_enum_attribute(lowering, i + 1, "align", 4);
  }
  add_enum_attribute(lowering, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
  add_enum_attribute(lowering, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "convergent", 0);
  if (lowering->module->options->flush_denormals)
    add_string_attribute(lowering, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
  if (lowering->kernel->geometry.has_threads) {
    bool linear = lowering->module->options->linear_launches;
    const char *size =
        tf_arena_printf(lowering->arena, linear ? "%lld,1,1" : "%lld", (long long)lowering->kernel->geometry.block);
    add_string_attribute(lowering, linear ? "nvvm.reqntid" : "nvvm.maxntid", size);
  }
}

/* Parameters follow each other, each aligned to its own size. */
static void check_param_space(tf_lowering *lowering, unsigned count, const LLVMTypeRef *types) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(lowering->llvm_module);
  uint64_t bytes = 0;
  for (unsigned i = 0; i < count; i++) {
    uint64_t size = LLVMABISizeOfType(data, types[i]);
    bytes = (bytes + size - 1) / size * size + size;
  }
  if (bytes > PARAMETER_BYTES_OLD) tf_lower_require(lowering, "a kernel with many parameters", 70, 0, 81);
  if (bytes <= PARAMETER_BYTES_MAX) return;
  const char *kernel = tf_function_name(lowering->kernel->function);
  tf_report(lowering->context, lowering->loc, LOWER_PARAMETERS, kernel, (long long)bytes, PARAMETER_BYTES_MAX);
  tf_lower_fail(lowering);
}

/* Adds the kernel's function, or takes what the caller's module has declared for it. */
static LLVMValueRef add_function(tf_lowering *lowering, const char *name, LLVMTypeRef type) {
  LLVMModuleRef module = lowering->llvm_module;
  LLVMValueRef found = LLVMGetNamedFunction(module, name);
  if (found && LLVMIsDeclaration(found) && LLVMGlobalGetValueType(found) == type) return found;
  if (found || LLVMGetNamedGlobal(module, name) || LLVMGetNamedGlobalAlias(module, name, strlen(name))) {
    char *text = LLVMPrintTypeToString(type);
    tf_report(lowering->context, lowering->loc, LOWER_NAME, name, text);
    LLVMDisposeMessage(text);
    tf_lower_fail(lowering);
  }
  return LLVMAddFunction(module, name, type);
}

static void declare(tf_lowering *lowering, const char *name, unsigned count, const tf_kernel_param *params) {
  LLVMTypeRef *types = TF_ARENA_ARRAY(lowering->arena, LLVMTypeRef, count);
  for (unsigned i = 0; i < count; i++)
    types[i] = param_type(lowering, &params[i]);
  check_param_space(lowering, count, types);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(lowering->llvm), types, count, false);
  lowering->llvm_function = add_function(lowering, name, type);
  LLVMSetFunctionCallConv(lowering->llvm_function, 71); /* PTX kernel */
  for (unsigned i = 0; i < count; i++)
    LLVMSetValueName2(LLVMGetParam(lowering->llvm_function, i), params[i].name, strlen(params[i].name));
  add_attributes(lowering, count, params);
}

/* ---- Bindings ---- */
static void bind_scalar(tf_lowering *lowering, const tf_expr *param, LLVMValueRef value) {
  tf_dtype dtype = tf_type_dtype(param->type);
  if (dtype == TF_DTYPE_BOOL) {
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
    value = LLVMBuildICmp(lowering->entry_builder, LLVMIntNE, value, zero, "");
  }
  tf_lower_bind(lowering, param, value)->facts = tf_facts_of_dtype(dtype);
}

/* extent is V or c*V. */
static void bind_dim(tf_lowering *lowering, tf_dim_frame *frame, const tf_kernel_param *param, LLVMValueRef value) {
  const tf_dim *extent = tf_type_extent(param->param->type, param->axis);
  if (extent->term_count != 1 || extent->constant != 0 || extent->terms[0].monomial->degree != 1) return;
  const tf_term *term = &extent->terms[0];
  if (term->monomial->atoms[0]->kind != TF_ATOM_VAR) return;
  if (term->coefficient != 1)
    value = LLVMBuildExactUDiv(lowering->entry_builder, value, tf_llvm_i32(lowering, term->coefficient), "");
  frame->entries[frame->count++] = (tf_dim_entry){.name = term->monomial->atoms[0]->name, .value = value};
}

/* The pointer behind a move that LLVM does not see through. Otherwise it would derive alignment from the parameter and
 * widen loads over their ends (three floats become one access of 16 bytes); how wide an access may be is proven by us. */
LLVMValueRef tf_lower_opaque_pointer(tf_lowering *lowering, LLVMValueRef pointer) {
  LLVMBuilderRef builder = lowering->builder;
  lowering->builder = lowering->entry_builder;
  LLVMValueRef value = tf_lower_asm(lowering, LLVMTypeOf(pointer), "mov.b64 $0, $1;", "=l,l", 1, &pointer, TF_ASM_PURE);
  lowering->builder = builder;
  return value;
}

static void bind_tensor(tf_lowering *lowering, const tf_expr *param, LLVMValueRef value) {
  LLVMValueRef pointer = tf_lower_opaque_pointer(lowering, value);
  if (param->var.is_const) tf_const_mark_pointer(lowering, pointer);
  tf_lower_bind(lowering, param, pointer)->alignment = PARAMETER_ALIGNMENT;
}

static void bind_params(tf_lowering *lowering, unsigned count, const tf_kernel_param *params) {
  tf_dim_frame *frame = TF_ARENA_NEW(lowering->arena, tf_dim_frame);
  frame->entries = TF_ARENA_ARRAY(lowering->arena, tf_dim_entry, count);
  lowering->dims = frame;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef value = LLVMGetParam(lowering->llvm_function, i);
    if (params[i].kind == TF_KERNEL_PARAM_TENSOR)
      bind_tensor(lowering, params[i].param, value);
    else if (params[i].kind == TF_KERNEL_PARAM_SCALAR)
      bind_scalar(lowering, params[i].param, value);
    else if (params[i].kind == TF_KERNEL_PARAM_HIDDEN_SHAPE)
      bind_dim(lowering, frame, &params[i], value);
    else
      lowering->grid_barrier = value;
  }
}

/* ---- Programmatic stream serialization ---- */
typedef struct serialized {
  const tf_module *module;
  const tf_stmt *kernel;
  bool found;
} serialized;

static void look_for_serialization(void *user, const tf_stmt *stmt, const tf_expr *symbol) {
  serialized *search = user;
  if (stmt->evaluate.op != TF_OP_LAUNCH || tf_module_find(search->module, symbol->symbol.name) != search->kernel)
    return;
  const tf_launch_attrs *attrs = stmt->evaluate.attrs[TF_ATTRIBUTE_LAUNCH_attrs].launch_attrs;
  for (size_t i = 0; attrs && i < attrs->count; i++)
    search->found |=
        attrs->entries[i].kind == TF_LAUNCH_ATTR_PROGRAMMATIC_STREAM_SERIALIZATION && attrs->entries[i].values[0] != 0;
}

/* Some function launches the kernel so: then it may begin while the one before it on the stream still runs, and sees what
 * that wrote only behind a wait. */
static bool is_serialized(const tf_module *module, const tf_stmt *kernel) {
  serialized search = {.module = module, .kernel = kernel};
  for (unsigned i = 0; i < module->function_count; i++)
    if (tf_function_is_host(module->functions[i]))
      tf_for_each_call(module->functions[i], look_for_serialization, &search);
  return search.found;
}

/* As text: the intrinsic does not keep accesses of memory behind it. */
static void wait_for_predecessor(tf_lowering *lowering) {
  if (tf_lower_require(lowering, "programmatic stream serialization", 90, 0, 78))
    tf_lower_asm(lowering, NULL, "griddepcontrol.wait;", "~{memory}", 0, NULL, TF_ASM_EFFECT);
}

/* ---- Body ---- */
static void lower_body(tf_lowering *lowering, const tf_stmt *function) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(lowering->llvm_function);
  LLVMBasicBlockRef body = tf_lower_new_block(lowering, "body");
  LLVMPositionBuilder(lowering->entry_builder, entry, LLVMBuildBr(lowering->entry_builder, body));
  LLVMPositionBuilderAtEnd(lowering->builder, body);
  lowering->return_block = tf_lower_new_block(lowering, "return");
  if (is_serialized(lowering->module->module, function)) wait_for_predecessor(lowering);
  tf_lower_stmt(lowering, function->function.body);
  tf_lower_enter_block(lowering, lowering->return_block);
  LLVMBuildRetVoid(lowering->builder);
}

static tf_kernel_facts facts_of(tf_lowering *lowering, const char *name, unsigned count,
                                const tf_kernel_param *params) {
  const tf_kernel *kernel = lowering->kernel;
  const tf_geometry *geometry = &kernel->geometry;
  bool linear = lowering->module->options->linear_launches;
  return (tf_kernel_facts){
      .function = kernel->function,
      .ptx_name = name,
      .param_count = count,
      .params = params,
      .grid_size = geometry->has_ctas ? geometry->grid : NULL,
      .block_size = geometry->has_threads ? tf_dim_int(lowering->context, geometry->block) : NULL,
      .required_block = {linear && geometry->has_threads ? geometry->block : 0, 1, 1},
      .max_block_threads = geometry->has_threads && !linear ? geometry->block : 0,
      .linear_grid = linear,
      .shared = lowering->shared,
      .cooperative = kernel->uses_grid_barrier,
      .grid_barrier_bytes = kernel->uses_grid_barrier ? GRID_BARRIER_BYTES : 0,
      .abort_count = (unsigned)lowering->aborts.count,
      .aborts = lowering->aborts.items,
  };
}

void tf_lower_kernel(tf_module_lowering *module, const tf_stmt *function) {
  tf_context *context = module->context;
  const tf_kernel *kernel = tf_kernel_of(module->module, function);
  const tf_kernel_param *params;
  unsigned count = tf_kernel_params(context, kernel, &params);
  const char *name = tf_escape_name(context, tf_function_name(function));
  tf_lowering lowering = {.context = context,
                          .module = module,
                          .arena = &module->arena,
                          .kernel = kernel,
                          .region = tf_region_begin(context, function, &kernel->geometry),
                          .llvm = module->llvm,
                          .llvm_module = module->llvm_module,
                          .builder = LLVMCreateBuilderInContext(module->llvm),
                          .entry_builder = LLVMCreateBuilderInContext(module->llvm),
                          .facts = tf_facts_create(context, &kernel->geometry),
                          .block_uniform = true,
                          .stmt = function,
                          .loc = function->loc};
  declare(&lowering, name, count, params);
  tf_debug_begin_function(&lowering, name, function->loc);
  LLVMPositionBuilderAtEnd(lowering.entry_builder, tf_lower_new_block(&lowering, "entry"));
  tf_lower_place(&lowering);
  bind_params(&lowering, count, params);
  lower_body(&lowering, function);
  tf_shared_end(&lowering);
  tf_kernel_facts facts = facts_of(&lowering, name, count, params);
  TF_VEC_PUSH(&context->arena, &module->kernels, facts);
  LLVMDisposeBuilder(lowering.builder);
  LLVMDisposeBuilder(lowering.entry_builder);
}

void tf_lower_fail(tf_lowering *lowering) {
  lowering->module->failed = true;
}
