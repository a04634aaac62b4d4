/* Intrinsics through C: effect statements of one's own, with callbacks that check and lower them. (Text declares the same
 * kind of statement with @intrinsic; conditions and a PTX template stand in place of the callbacks there.)
 *
 *   static const char *check(void *user, const tf_stmt *use) {
 *     return tf_type_rank(tf_expr_type(tf_evaluate_arg(use, 0))) == 1 ? NULL : "x must be a vector";
 *   }
 *   static tf_status emit(void *user, const tf_intrinsic_lowering *at) { … LLVMBuild… (at->builder, …) … }
 *
 *   const char *names[] = {"x"};
 *   tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
 *   options.name = "warm_up"; options.param_count = 1; options.params = names; options.verify = check; options.lower = emit;
 *   tf_intrinsic_create(context, &options, &intrinsic);
 *   tf_builder_intrinsic(builder, intrinsic, 1, (const tf_expr *[]){x});
 *
 * Text calls it as well if tf_parse is given it (tf_parse_options.intrinsics). A module that uses intrinsics of C prints with
 * their declarations, and reads back with the callbacks if the parser is given them, else without. */
#ifndef TILEFOUNDRY_INTRINSIC_H
#define TILEFOUNDRY_INTRINSIC_H

#include <tilefoundry/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LLVM's opaque objects, as in llvm-c/Types.h. */
struct LLVMOpaqueBuilder;
struct LLVMOpaqueModule;
struct LLVMOpaqueValue;

/* Called for every use while the module is verified; the arguments are tf_evaluate_arg(use, 0 … param_count-1). Null: the
 * use is fine. Else what is wrong and what would be legal; the text is copied. */
typedef const char *(*tf_intrinsic_verify_fn)(void *user, const tf_stmt *use);

/* What a lowering callback gets. It emits instructions at the builder's place, which is inside a function of the module,
 * and leaves the builder in a block of that function without a terminator; statements that follow are emitted there. One
 * operand per argument: a scalar in its dtype (bool as i1, bf16 as bfloat, fp8 as i8, tf32 as float), for a tensor a pointer
 * to its first element as this thread sees it, in the storage's address space (gmem 1, smem 3, rmem 0), null for a mesh.
 * Called once per use and inlined copy. */
typedef struct tf_intrinsic_lowering {
  size_t size;
  const tf_stmt *use;
  const tf_target *target;
  struct LLVMOpaqueModule *module;
  struct LLVMOpaqueBuilder *builder;
  unsigned operand_count;
  struct LLVMOpaqueValue *const *operands;
} tf_intrinsic_lowering;

/* TF_OK, or TF_UNSUPPORTED if the target lacks what is needed; any other status counts as that. The module is not emitted
 * then, and a diagnostic names the statement. */
typedef tf_status (*tf_intrinsic_lower_fn)(void *user, const tf_intrinsic_lowering *at);

typedef struct tf_intrinsic_options {
  size_t size;
  const char *name; /* snake_case: [a-z][a-z0-9_]*, no name of the language */
  unsigned param_count;
  const char *const *params;     /* identifiers, all different */
  const char *ptx;               /* an instruction template with {param} operands instead of lower, or null */
  tf_intrinsic_verify_fn verify; /* null: every use is fine */
  tf_intrinsic_lower_fn lower;   /* null, and no ptx: the statement emits nothing */
  void *user;                    /* passed to the callbacks; has to live as long as modules with uses are worked on */
} tf_intrinsic_options;
#define TF_INTRINSIC_OPTIONS_INIT                                                                                      \
  { sizeof(tf_intrinsic_options), 0, 0, 0, 0, 0, 0, 0 }

/* Creates the declaration; it belongs to the context. Strings are copied. TF_INVALID_ARGUMENT, with a diagnostic in the
 * context where there is one, for: null, a name or parameter that is no identifier of the form above, parameters of the same
 * name, a template and a callback both, a template that names no parameter in {…}. The builder refuses two declarations of one name in a
 * module, and one with a function's name. */
TF_API TF_NODISCARD tf_status tf_intrinsic_create(tf_context *context, const tf_intrinsic_options *options,
                                                  const tf_intrinsic **out);

TF_API const char *tf_intrinsic_name(const tf_intrinsic *intrinsic);       /* "warm_up" */
TF_API const char *tf_intrinsic_class_name(const tf_intrinsic *intrinsic); /* "WarmUp": the statement's name */
TF_API unsigned tf_intrinsic_param_count(const tf_intrinsic *intrinsic);
TF_API const char *tf_intrinsic_param_name(const tf_intrinsic *intrinsic, unsigned index);
TF_API const char *tf_intrinsic_ptx(const tf_intrinsic *intrinsic); /* null: no template */

#ifdef __cplusplus
}
#endif
#endif
