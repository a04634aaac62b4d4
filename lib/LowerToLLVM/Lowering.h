/* The lowering from inside: the state that all op families share.
 *
 *   tf_module_lowering      one LLVM module: target, options, intrinsics seen, least PTX version
 *     tf_lowering           one kernel: builder, environment, scopes, shared memory; device calls are inlined into it
 *       bindings            what a TIR variable stands for: a scalar value, the storage under a tensor, a mesh
 *
 * How tensors live here. Every allocation and parameter is a *pointer*, whatever its storage:
 *
 *   gmem   kernel parameter, ptr addrspace(1)
 *   smem   byte offset in the kernel's shared block, ptr addrspace(3)
 *   rmem   one alloca per allocation, placed in the entry block:  [local elements x T], element q = local number q
 *
 *        acc: (16, 8) f32 in accumulator layout          a lane's alloca      [ v0 v1 v2 v3 ]
 *                                                        rows c1, c1 + 8        0  1  64 64+1   (logical index - base)
 *
 * Registers are allocas so that control flow needs no bookkeeping of ours: all accesses that the kernel needs at
 * constant positions are written at constant positions (loops whose variable selects registers are unrolled here), and
 * SROA, which every pipeline of Targets/Emit.c begins with, turns them into SSA values. An access at a run-time
 * position keeps the alloca in local memory: legal, and the op's remark says so.
 *
 * How elements are reached: Access.h. How numbers are computed: Numeric.h. Target features: Intrinsics.h.
 *
 * Errors: lowering functions return nothing. What a target lacks is reported with tf_lower_fail; lowering goes on,
 * so that all of it is reported, with undefined values in place of the missing ones; the driver drops the module then.
 * Everything that verified IR cannot contain is not checked again. */
#ifndef TF_LOWER_LOWERING_H
#define TF_LOWER_LOWERING_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include <tilefoundry/Lower.h>

#include "IR/Nodes.h"
#include "IR/View.h"
#include "Support/Context.h"
#include "LowerToLLVM/KernelFacts.h"
#include "Verify/Uniformity.h"

/* Address spaces of NVPTX. */
enum { TF_SPACE_GENERIC = 0, TF_SPACE_GLOBAL = 1, TF_SPACE_SHARED = 3, TF_SPACE_LOCAL = 5 };

typedef struct tf_module_lowering {
  tf_context *context;
  const tf_module *module;
  const tf_lower_options *options;
  const tf_target *target; /* never null, never cpu */
  LLVMContextRef llvm;
  LLVMModuleRef llvm_module;
  tf_arena arena;       /* lives as long as this lowering */
  unsigned ptx_version; /* the least that serves what was emitted so far, times 10 */
  bool failed;          /* something was reported as unsupported */
  const char *missing;  /* the feature that was reported last, and where */
  tf_loc missing_loc;
  LLVMDIBuilderRef debug; /* -g; else null */
  LLVMMetadataRef debug_file;
  struct {
    TF_VEC(tf_kernel_facts);
  } kernels; /* lowered so far, for the manifest */
} tf_module_lowering;

/* ---- Bindings ---- */
/* What is known of an integer at compile time; feeds alignment proofs and 32-bit addressing. */
typedef struct tf_int_facts {
  int64_t divisor;  /* >= 1 and divides every value; 0: the value is 0 */
  int64_t min, max; /* INT64_MIN, INT64_MAX: unbounded */
} tf_int_facts;

typedef struct tf_binding {
  const tf_expr *var;
  /* Scalars: the value in its dtype (tf_llvm_value_type). Tensors: the pointer to element 0 of the allocation, the
   * parameter, or of the caller's view that a parameter of an inlined call stands for. Null: a view or a mesh, which
   * are never materialised; look at the variable itself. */
  LLVMValueRef value;
  tf_int_facts facts; /* of an integer scalar */
  unsigned alignment; /* of a tensor's pointer, in bytes */
  struct tf_binding *shadowed;
} tf_binding;

/* Named barriers that a statement drew for itself. */
typedef struct tf_drawn_barrier {
  const tf_call_path *path;
  const tf_stmt *stmt;
  int id;
} tf_drawn_barrier;

/* A register tensor that a statement keeps in local memory, as a remark said. */
typedef struct tf_local_note {
  const tf_stmt *stmt;
  const tf_expr *base;
} tf_local_note;

/* A value that the entry block holds. */
typedef struct tf_known_id {
  const void *what; /* a placement, or a level's tag */
  const struct tf_dim_frame *frame;
  unsigned index;
  LLVMValueRef value;
} tf_known_id;

typedef struct tf_environment {
  struct tf_environment_slot *slots;
  size_t used, capacity;
  struct {
    TF_VEC(tf_binding *);
  } stack;
} tf_environment;

/* ---- One kernel ---- */
typedef struct tf_lowering {
  tf_context *context;
  tf_module_lowering *module;
  tf_arena *arena;
  const tf_kernel *kernel; /* what the verifier knows of it: geometry, barrier sites */
  tf_region region;        /* where the walk is: current function, call path, scopes, active threads */
  LLVMContextRef llvm;
  LLVMModuleRef llvm_module;
  LLVMBuilderRef builder;
  LLVMBuilderRef entry_builder; /* at the end of the entry block's allocas and special registers */
  LLVMValueRef llvm_function;
  LLVMBasicBlockRef return_block; /* where `return` of the current function goes */
  tf_environment environment;
  const struct tf_dim_frame *dims; /* run-time values of the current function's DimVars: Dims.c */
  struct {
    TF_VEC(struct tf_known_id);
  } ids;                       /* special registers and coordinates that the entry block already holds: Ids.c */
  tf_shared_plan *shared;      /* where shared allocations lie; null until the first one */
  LLVMValueRef shared_pointer; /* the block of shared memory as code sees it */
  LLVMValueRef shared_base;    /* placeholder of the block of shared memory */
  LLVMValueRef grid_barrier;   /* hidden parameter, or null */
  tf_facts *facts;             /* of scalar variables, for uniformity */
  bool block_uniform;          /* all threads of a block come here, or none, as far as conditions decide */
  bool left_early;             /* some threads of the current function may have returned before */
  unsigned loop_depth;         /* loops around the statement, those around the calls that lead to it included */
  LLVMMetadataRef debug_scope; /* -g: the function's subprogram; null: no lines */
  struct {
    TF_VEC(tf_drawn_barrier);
  } drawn;
  struct {
    TF_VEC(tf_abort_site);
  } aborts; /* where the kernel may trap */
  struct {
    TF_VEC(tf_local_note);
  } local_notes;
  int drawn_barriers;  /* ids that reductions drew, after the kernel's authored ones */
  const tf_stmt *stmt; /* being lowered */
  tf_loc loc;          /* its place */
} tf_lowering;

/* Binds (shadowing) and finds. find returns null for views and meshes. */
tf_binding *tf_lower_bind(tf_lowering *lowering, const tf_expr *var, LLVMValueRef value);
tf_binding *tf_lower_find(tf_lowering *lowering, const tf_expr *var);
/* Marks of the environment: bindings made after the mark vanish at reset. */
size_t tf_lower_mark(const tf_lowering *lowering);
void tf_lower_reset(tf_lowering *lowering, size_t mark);

/* ---- Statements ---- */
void tf_lower_stmt(tf_lowering *lowering, const tf_stmt *stmt); /* Control.c: any statement, dispatch by kind */
bool tf_lower_is_terminated(const tf_lowering *lowering);       /* nothing can follow in the current block */

/* `if (condition) { … }` around what is emitted between begin and end. A constant condition emits no branch; begin
 * returns false if the body is dead (emit nothing then, and do not call end). */
typedef struct tf_guard {
  LLVMBasicBlockRef join; /* null: no branch was needed */
} tf_guard;
bool tf_lower_guard_begin(tf_lowering *lowering, LLVMValueRef condition, tf_guard *guard); /* condition null: true */
/* The same where the body is what is expected, so that LLVM lays it out in line. */
bool tf_lower_guard_likely(tf_lowering *lowering, LLVMValueRef condition, tf_guard *guard);
void tf_lower_guard_end(tf_lowering *lowering, const tf_guard *guard);
/* A conditional branch that is expected to go to `then`. */
void tf_lower_branch_likely(tf_lowering *lowering, LLVMValueRef condition, LLVMBasicBlockRef then,
                            LLVMBasicBlockRef otherwise);

/* A counted loop in 32 bits, for (i = 0; i < count; i++), for walks over elements; count may be a run-time value. */
typedef struct tf_loop {
  LLVMBasicBlockRef header, exit;
  LLVMValueRef index; /* i32 */
} tf_loop;
void tf_lower_loop_begin(tf_lowering *lowering, LLVMValueRef count, tf_loop *loop);
void tf_lower_loop_end(tf_lowering *lowering, tf_loop *loop);
LLVMBasicBlockRef tf_lower_new_block(tf_lowering *lowering, const char *name);
void tf_lower_enter_block(tf_lowering *lowering,
                          LLVMBasicBlockRef block); /* branches there if needed, and goes on in it */

/* trap and end the thread (Control.c); the current block is terminated. The site is recorded for the manifest. */
void tf_lower_trap(tf_lowering *lowering, tf_abort_site_kind kind, const char *message);
/* Traps if the integer divisor is 0 (-fcheck=div). */
void tf_lower_check_nonzero(tf_lowering *lowering, LLVMValueRef divisor);

/* ---- Scalars (Scalar.c) ---- */
/* The value of a scalar expression in its own dtype (tf_llvm_value_type), or converted to another. */
LLVMValueRef tf_lower_scalar(tf_lowering *lowering, const tf_expr *expr);
LLVMValueRef tf_lower_scalar_as(tf_lowering *lowering, const tf_expr *expr, tf_dtype dtype);
/* An integer expression as i64. Constants stay constants. */
LLVMValueRef tf_lower_int64(tf_lowering *lowering, const tf_expr *expr);
tf_int_facts tf_lower_facts(tf_lowering *lowering,
                            const tf_expr *expr); /* of an integer expression, with loop bounds known here */
/* A dim's run-time value as i64 / modulo 2^32; constants for static dims. */
LLVMValueRef tf_lower_dim(tf_lowering *lowering, const tf_dim *dim);
LLVMValueRef tf_lower_dim32(tf_lowering *lowering, const tf_dim *dim);
/* Whether the value is a compile-time integer here (loop variables of unrolled loops are). */
bool tf_lower_is_constant(LLVMValueRef value, int64_t *out);

/* Hoisting is by construction: what depends on the thread alone is emitted into the entry block, once per kernel. */
/* Linear id of this thread, warp or CTA (x fastest), i32. */
LLVMValueRef tf_lower_program_id(tf_lowering *lowering, tf_level level);
/* This instance's coordinate on an axis of a mesh that is in scope (or a parameter's), i32, >= 0. */
LLVMValueRef tf_lower_coordinate(tf_lowering *lowering, const tf_mesh *mesh, unsigned axis);
/* The same for a placement that is known already (Verify/Scopes.h). */
LLVMValueRef tf_lower_placement_axis(tf_lowering *lowering, const tf_placement *placement, unsigned axis);
/* Whether this instance has a position on the placement's mesh, i1. */
LLVMValueRef tf_lower_placement_inside(tf_lowering *lowering, const tf_placement *placement);
/* Linear id of the thread within its block, or of a lane within its warp, as a placement's level counts it. */
LLVMValueRef tf_lower_placement_id(tf_lowering *lowering, const tf_placement *placement, unsigned level);

/* Debug.c: gives what is emitted next the current statement's line. */
void tf_lower_place(tf_lowering *lowering);
/* Template.c: the statement of an @intrinsic. */
void tf_lower_template(tf_lowering *lowering, const tf_stmt *stmt);

/* ---- Inlined calls and uniformity (Call.c, Uniform.c) ---- */
void tf_lower_call(tf_lowering *lowering, const tf_stmt *call);
/* Remembers what a scalar variable depends on. */
void tf_lower_note_scalar(tf_lowering *lowering, const tf_expr *var, const tf_expr *value);
void tf_lower_note_loop(tf_lowering *lowering, const tf_stmt *loop);
/* Whether all active threads of a block agree on the scalar. */
bool tf_lower_is_uniform(tf_lowering *lowering, const tf_expr *scalar);
/* Whether a loop's variable selects registers, so that it has to be known at compile time. */
bool tf_lower_indexes_registers(tf_lowering *lowering, const tf_stmt *loop);
/* -fcheck=bounds: traps if a window without clip leaves its source. */
void tf_lower_check_window(tf_lowering *lowering, const tf_invocation *invocation);

/* ---- Constants and types (Types.c) ---- */
LLVMTypeRef tf_llvm_int(const tf_lowering *lowering, unsigned bits);
LLVMValueRef tf_llvm_i32(const tf_lowering *lowering, int64_t value);
LLVMValueRef tf_llvm_i64(const tf_lowering *lowering, int64_t value);
/* How a dtype lies in memory and in register allocas: bool and the 8-bit floats are i8, tf32 is float. */
LLVMTypeRef tf_llvm_memory_type(const tf_lowering *lowering, tf_dtype dtype);
/* What scalars of the dtype are as SSA values: bool is i1, everything else as in memory. */
LLVMTypeRef tf_llvm_value_type(const tf_lowering *lowering, tf_dtype dtype);
/* T for width 1, <width x T> otherwise. */
LLVMTypeRef tf_llvm_vector(LLVMTypeRef element, unsigned width);
unsigned tf_dtype_bytes(tf_dtype dtype);
/* A constant of the dtype as it lies in memory, rounded once from a double (floats), or from bits (integers, bool). */
LLVMValueRef tf_llvm_float_constant(const tf_lowering *lowering, tf_dtype dtype, double value);
LLVMValueRef tf_llvm_int_constant(const tf_lowering *lowering, tf_dtype dtype, int64_t value);
/* value, or <value, value, …>. */
LLVMValueRef tf_llvm_splat(const tf_lowering *lowering, LLVMValueRef value, unsigned width);
/* Element of a vector or, for width 1, the value itself; and the way back. */
LLVMValueRef tf_llvm_extract(const tf_lowering *lowering, LLVMValueRef vector, unsigned index);
LLVMValueRef tf_llvm_insert(const tf_lowering *lowering, LLVMTypeRef element, unsigned width, LLVMValueRef vector,
                            LLVMValueRef value, unsigned index); /* vector null: starts from poison */

/* ---- Shared memory (SharedPlan.c) ---- */
/* Pointer, addrspace(3), of `bytes` bytes of the block's shared memory for an allocation (its LetStmt's variable, one
 * per inlined copy), or for scratch that an op needs at this statement (var null; the lowering's region and stmt
 * identify it). */
LLVMValueRef tf_shared_allocate(tf_lowering *lowering, const tf_expr *var, int64_t bytes, unsigned alignment);

/* The same pointer, in the entry block, with everything that LLVM knows of it forgotten (Function.c). */
LLVMValueRef tf_lower_opaque_pointer(tf_lowering *lowering, LLVMValueRef pointer);

/* ---- Reports ---- */
/* Marks the lowering as failed; use after a tf_report at lowering->loc. */
void tf_lower_fail(tf_lowering *lowering);

/* ---- One function per op: in the file of its family ----
 * VALUE ops materialise only what needs code (an allocation); views are resolved at their uses. SCALAR ops return the
 * value of the call in its dtype (tf_llvm_value_type). */
typedef void tf_lower_value_fn(tf_lowering *lowering, const tf_expr *var, const tf_invocation *invocation);
typedef void tf_lower_effect_fn(tf_lowering *lowering, const tf_invocation *invocation);
typedef LLVMValueRef tf_lower_scalar_fn(tf_lowering *lowering, const tf_expr *call);

#define TF_LOWER_VALUE(ID)                        tf_lower_value_fn tf_lower_##ID;
#define TF_LOWER_EFFECT(ID)                       tf_lower_effect_fn tf_lower_##ID;
#define TF_LOWER_SCALAR(ID)                       tf_lower_scalar_fn tf_lower_##ID;
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) TF_LOWER_##FORM(ID)
#include <tilefoundry/Ops.def>

/* Dispatch by op. */
LLVMValueRef tf_lower_scalar_call(tf_lowering *lowering, const tf_expr *call);
void tf_lower_value_call(tf_lowering *lowering, const tf_expr *var, const tf_expr *call);
void tf_lower_effect(tf_lowering *lowering, const tf_stmt *evaluate);

#endif
