/* Host functions as machine code: LLVM IR for this machine that computes scalars, decides what runs, and leaves everything
 * that can be refused to the runtime's function table (tilefoundry/Compiled.h).
 *
 *   def main(x: Tensor[(S,), "f32"], n: Tensor[(), "i32"]):       int32_t main(tf_call *call, const tf_compiled_value *values) {
 *       for i in range(n):                                          for (int64_t i = 0; i < n; i++) {
 *           launch(step, x, grid=(S - i,), block=64)                  launch = {.kernel = 0, .grid = {S - i, 1, 1}, …};
 *                                                                     if ((status = call->api->launch(call, &place, &launch)))
 *                                                                       return status;
 *                                                                   }
 *                                                                   return TF_OK;
 *
 * Values: integers of every width are i64, bools i1, floats of every width double, which holds all of their values; each
 * operation rounds to its dtype. Structs of the interface are arrays of words in one alloca, which every statement uses anew.
 * Arithmetic is checked: what has no value in 64 bits ends the function with an error, as division by 0 does.
 *
 * Nothing here depends on the kernels' lowering: device code has registers, threads and its own numerics. */
#ifndef TF_LOWER_HOST_H
#define TF_LOWER_HOST_H

#include <stddef.h>

#include <llvm-c/Core.h>

#include <tilefoundry/Compiled.h>
#include <tilefoundry/Lower.h>

#include "IR/Nodes.h"
#include "IR/View.h"
#include "Support/Context.h"

typedef struct tf_host_module {
  tf_context *context;
  const tf_module *module;
  const tf_lower_options *options;
  tf_arena *arena; /* lives as long as this lowering */
  LLVMContextRef llvm;
  LLVMModuleRef llvm_module;
  LLVMTypeRef bit, status, word, real, pointer; /* i1, i32, i64, double, ptr */
  struct {
    TF_VEC(LLVMValueRef);
  } functions; /* one per entry, in the manifest's order */
} tf_host_module;

/* A scalar. bits, where it is not null, are those that `value` was made from: passing them on keeps a NaN's payload. */
typedef struct tf_host_scalar {
  tf_dtype dtype;
  LLVMValueRef value;
  LLVMValueRef bits;
} tf_host_scalar;

typedef struct tf_host_slot tf_host_slot;

/* A DimVar's value. */
typedef struct tf_host_dim {
  const char *name;
  LLVMValueRef value;
} tf_host_dim;

/* One function. */
typedef struct tf_host {
  tf_host_module *module;
  tf_context *context;
  const tf_stmt *function;
  LLVMBuilderRef builder;
  LLVMValueRef llvm_function, call, values, api;
  LLVMValueRef scratch; /* words for the structs of one statement: none is used behind its end */
  size_t scratch_used, scratch_most;
  tf_host_slot *slots; /* of variables: a hash table by address */
  size_t slot_count, slot_room;
  struct {
    TF_VEC(tf_host_dim);
  } dims;
  const char *what; /* the kernel, parameter or tensor that messages name; null: none */
  tf_loc loc;       /* of the statement being lowered */
} tf_host;

/* ---- The module (Module.c) ---- */

/* Lowers all entries of a verified module into llvm_module: one function each. Returns the global constant table of
 * tf_compiled_entry in their order. */
LLVMValueRef tf_host_lower(tf_host_module *module);
/* The module's entries in the manifest's order: its host functions, or the one kernel that an entry is derived from. */
const tf_stmt *tf_host_entry(const tf_module *module, unsigned index); /* null behind the last */
/* The number of a function among the manifest's kernels or entries. */
unsigned tf_host_kernel_index(const tf_module *module, const tf_stmt *kernel);
unsigned tf_host_entry_index(const tf_module *module, const tf_stmt *function);
/* The kernel that stands for an entry, if no function is one; null else. */
const tf_stmt *tf_host_derived(const tf_module *module);
/* A constant string, or null for null. */
LLVMValueRef tf_host_string(tf_host_module *module, const char *text);
/* A constant array of bytes with a NUL behind it. */
LLVMValueRef tf_host_bytes(tf_host_module *module, const void *bytes, size_t size);
/* A constant with an address. */
LLVMValueRef tf_host_constant(tf_host_module *module, LLVMValueRef value);

/* ---- Code and memory (Emit.c) ---- */

LLVMValueRef tf_host_int(const tf_host *host, int64_t value);
/* `count` words until the end of the statement; tf_host_begin makes all of them free. */
LLVMValueRef tf_host_words(tf_host *host, size_t count);
/* A statement begins. */
void tf_host_begin(tf_host *host, const tf_stmt *stmt);
/* The word at a byte offset of a struct: store, or load as the type. Pointers and integers alike. */
void tf_host_store(tf_host *host, LLVMValueRef base, size_t offset, LLVMValueRef value);
LLVMValueRef tf_host_load(tf_host *host, LLVMTypeRef type, LLVMValueRef base, size_t offset);
LLVMBasicBlockRef tf_host_block(tf_host *host, const char *name);
/* Goes on in the block, branching there from an open one. */
void tf_host_enter(tf_host *host, LLVMBasicBlockRef block);
bool tf_host_is_terminated(const tf_host *host);

/* Calls a member of the function table, by its offset, with the call in front of the arguments if with_call. */
LLVMValueRef tf_host_api(tf_host *host, size_t member, LLVMTypeRef result, bool with_call, unsigned count,
                         LLVMValueRef *arguments);
/* The same for one that returns a status and takes the current place first: returns it from the function if it is not OK. */
void tf_host_checked(tf_host *host, size_t member, unsigned count, LLVMValueRef *arguments);
void tf_host_return_unless_ok(tf_host *host, LLVMValueRef status);
/* Ends the function with the fault if the condition holds; abort: always. */
void tf_host_fail_if(tf_host *host, LLVMValueRef condition, tf_compiled_fault fault);
void tf_host_abort(tf_host *host, const char *message);
LLVMValueRef tf_host_intrinsic(tf_host *host, const char *name, unsigned type_count, LLVMTypeRef *types, unsigned count,
                               LLVMValueRef *arguments);

/* ---- Variables ---- */
typedef struct tf_host_binding {
  tf_host_scalar scalar; /* or, of a temporary: */
  LLVMValueRef address;  /* i64 */
} tf_host_binding;
void tf_host_bind(tf_host *host, const tf_expr *var, tf_host_binding binding);
const tf_host_binding *tf_host_find(const tf_host *host, const tf_expr *var); /* null: none */

/* ---- Scalars (Scalar.c, Arithmetic.c) ---- */
tf_host_scalar tf_host_scalar_of(tf_host *host, const tf_expr *expr);
/* Converted to another dtype; literals take it from the start. */
tf_host_scalar tf_host_scalar_as(tf_host *host, const tf_expr *expr, tf_dtype dtype);
/* An integer expression as i64. */
LLVMValueRef tf_host_integer(tf_host *host, const tf_expr *expr);
LLVMValueRef tf_host_condition(tf_host *host, const tf_expr *expr);
/* By the rules of the language's casts. */
tf_host_scalar tf_host_convert(tf_host *host, tf_host_scalar value, tf_dtype to);
LLVMValueRef tf_host_bits(tf_host *host, tf_host_scalar value); /* i64, zero above the dtype's width */
tf_host_scalar tf_host_from_bits(tf_host *host, tf_dtype dtype, LLVMValueRef bits);
/* Checked operators on i64: ADD SUB MUL FLOOR_DIV MOD MIN MAX, SHL SHR and bit operators. */
LLVMValueRef tf_host_int_binary(tf_host *host, tf_scalar_binary_kind kind, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef tf_host_dim_value(tf_host *host, const tf_dim *dim);

/* ---- Tensors (Views.c) ---- */

/* A tf_compiled_view of the tensor, filled in. */
LLVMValueRef tf_host_view(tf_host *host, const tf_expr *tensor);
/* The number of a parameter, if the expression is one; -1 else. */
int tf_host_param_index(const tf_host *host, const tf_expr *expr);

/* ---- Statements (Control.c, Calls.c, Memory.c) ---- */
void tf_host_stmt(tf_host *host, const tf_stmt *stmt);
void tf_host_launch(tf_host *host, const tf_stmt *stmt);
/* A call of a host function, or of a kernel with its own geometry. */
void tf_host_invoke(tf_host *host, const tf_stmt *callee, unsigned count, const tf_expr *const *arguments);
void tf_host_allocate(tf_host *host, const tf_expr *var);
void tf_host_copy(tf_host *host, const tf_stmt *stmt);
void tf_host_fill(tf_host *host, const tf_stmt *stmt);
tf_host_scalar tf_host_load_element(tf_host *host, const tf_expr *call);

#define TF_HOST_MEMBER(name) offsetof(tf_compiled_api, name)

#endif
