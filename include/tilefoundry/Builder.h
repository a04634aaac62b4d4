/* Building IR through C, with named arguments:
 *
 *   tf_builder *b;  tf_builder_create(context, &b);
 *   tf_builder_begin_module(b, NULL, NULL);
 *   tf_builder_begin_function(b, "scale", &(tf_function_options){.size = sizeof(tf_function_options), .target = target});
 *   const tf_expr *x = tf_builder_param(b, "x", type, false), *y = …;
 *   const tf_expr *m = tf_builder_begin_mesh(b, "m", mesh);
 *   const tf_expr *v = tf_build_TENSOR_VIEW(b, "v", &(tf_args_TENSOR_VIEW){.memory = x, .layout = shard});
 *   tf_build_COPY(b, &(tf_args_COPY){.source = v, .destination = r});
 *   tf_builder_end(b);      // the mesh scope
 *   tf_builder_end(b);      // the function
 *   tf_builder_finish(b, &module);
 *
 * A let's scope is the rest of its block. Errors stick: after a misuse (null operand, foreign context, wrong expression
 * kind, unbalanced end) every call does nothing and tf_builder_finish returns the status of the first, with a diagnostic in
 * the context. Structure and operand kinds are checked here; the language's rules are the verifier's. */
#ifndef TILEFOUNDRY_BUILDER_H
#define TILEFOUNDRY_BUILDER_H

#include <tilefoundry/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tf_builder tf_builder;

TF_API TF_NODISCARD tf_status tf_builder_create(tf_context *context, tf_builder **out);
TF_API void tf_builder_destroy(TF_TAKE tf_builder *builder);

/* Location for what is built next; a NULL text leaves out the authored loc=. */
TF_API void tf_builder_set_loc(tf_builder *builder, tf_loc loc, const char *text);

/* name and entry may be null. Exactly one module per builder. */
TF_API void tf_builder_begin_module(tf_builder *builder, const char *name, const char *entry);
/* Ends the module; the builder can only be destroyed then. */
TF_API TF_NODISCARD tf_status tf_builder_finish(tf_builder *builder, const tf_module **out);

typedef struct tf_function_options {
  size_t size;
  const tf_target *target; /* null: the default CUDA target */
  unsigned output_count;
} tf_function_options;
#define TF_FUNCTION_OPTIONS_INIT {sizeof(tf_function_options), 0, 1}

/* Declares a function so that bodies may refer to it before it is begun; params give its callable type. Optional for
 * functions that are begun before they are named. */
TF_API void tf_builder_declare_function(tf_builder *builder, const char *name, const tf_type *callable);
/* Lists an intrinsic among the module's; those that are used are listed at their first use without it. */
TF_API void tf_builder_declare_intrinsic(tf_builder *builder, const tf_intrinsic *decl);
TF_API void tf_builder_begin_function(tf_builder *builder, const char *name, const tf_function_options *options);
/* Only between begin_function and its first statement; names are different ones. A module whose parameters or functions have names
 * that text cannot hold (no identifiers, or "range") works; only tf_print refuses it. */
TF_API const tf_expr *tf_builder_param(tf_builder *builder, const char *name, const tf_type *type, bool is_const);

/* Blocks; each is closed by tf_builder_end. The results are the bound variables. */
TF_API const tf_expr *tf_builder_begin_for(tf_builder *builder, const char *name, const tf_expr *start,
                                           const tf_expr *stop, const tf_expr *step);
TF_API void tf_builder_begin_while(tf_builder *builder, const tf_expr *cond);
TF_API void tf_builder_begin_if(tf_builder *builder, const tf_expr *cond);
TF_API void tf_builder_begin_else(tf_builder *builder); /* directly inside begin_if … end */
TF_API const tf_expr *tf_builder_begin_mesh(tf_builder *builder, const char *name, const tf_mesh *mesh);
TF_API void tf_builder_end(tf_builder *builder);

TF_API void tf_builder_return(tf_builder *builder);
TF_API void tf_builder_abort(tf_builder *builder, const char *message);
TF_API const tf_expr *tf_builder_let(tf_builder *builder, const char *name, const tf_expr *value);
TF_API void tf_builder_call(tf_builder *builder, const char *callee, unsigned count, const tf_expr *const *args);
TF_API void tf_builder_intrinsic(tf_builder *builder, const tf_intrinsic *decl, unsigned count,
                                 const tf_expr *const *args);

/* Dispatch: cases in order, then the fallback's message; closed by tf_builder_end. */
TF_API void tf_builder_begin_dispatch(tf_builder *builder, const char *name, const tf_expr *subject,
                                      const char *abort_message);
TF_API void tf_builder_case(tf_builder *builder, const char *dim_var, int64_t lo, int64_t hi, const char *callee,
                            unsigned count, const tf_expr *const *args);

/* Leaves. Integer and bool constants of any integer dtype; float constants of any float dtype. */
TF_API const tf_expr *tf_builder_int(tf_builder *builder, tf_dtype dtype, int64_t value);
TF_API const tf_expr *tf_builder_float(tf_builder *builder, tf_dtype dtype, double value);
TF_API const tf_expr *tf_builder_shape_of(tf_builder *builder, const tf_expr *param, unsigned axis);
TF_API const tf_expr *tf_builder_symbol(tf_builder *builder, const char *function);
TF_API const tf_expr *tf_builder_tuple(tf_builder *builder, unsigned count, const tf_expr *const *elements);

TF_API const tf_launch_attrs *tf_launch_attrs_get(tf_context *context, size_t count, const tf_launch_attr *entries);

/* ---- One argument struct and one function per op, from the table ---------------------------------------------------------- */
#define TF_CTYPE_TYPE const tf_type *
#define TF_CTYPE_LAYOUT const tf_layout *
#define TF_CTYPE_SHAPE const tf_tuple *
#define TF_CTYPE_AXES const tf_tuple *
#define TF_CTYPE_CLUSTER const tf_tuple *
#define TF_CTYPE_INT int64_t
#define TF_CTYPE_FLOAT double
#define TF_CTYPE_LITERAL const tf_expr *
#define TF_CTYPE_DTYPE tf_dtype
#define TF_CTYPE_LEVEL tf_level
#define TF_CTYPE_DIM const tf_dim *
#define TF_CTYPE_MESH const tf_mesh *
#define TF_CTYPE_ATOM const tf_mma_atom *
#define TF_CTYPE_BINARY tf_binary_kind
#define TF_CTYPE_UNARY tf_unary_kind
#define TF_CTYPE_REDUCE tf_reduce_kind
#define TF_CTYPE_SCALAR_BINARY tf_scalar_binary_kind
#define TF_CTYPE_SCALAR_UNARY tf_scalar_unary_kind
#define TF_CTYPE_LAUNCH_ATTRS const tf_launch_attrs *

/* reserved: leave 0. */
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING)                                                                      \
  typedef struct tf_args_##ID {                                                                                        \
    int reserved;
#define TF_OPERAND(ID, NAME, PREDICATE, MEANING) const tf_expr *NAME;
#define TF_OPTIONAL(ID, NAME, PREDICATE, MEANING) const tf_expr *NAME;
#define TF_VARIADIC(ID, NAME, PREDICATE, MEANING)                                                                      \
  unsigned NAME##_count;                                                                                               \
  const tf_expr *const *NAME;
#define TF_ATTR(ID, NAME, KIND, DEFAULT, MEANING) TF_CTYPE_##KIND NAME;
#define TF_OP_END(ID)                                                                                                  \
  }                                                                                                                    \
  tf_args_##ID;
#include <tilefoundry/Ops.def>

/* VALUE: binds `name` to the op's result and returns the variable. SCALAR: returns the expression. EFFECT: appends the
 * statement. Named by the op's enumerator: tf_build_TENSOR_VIEW, tf_build_COPY. */
#define TF_BUILD_VALUE(ID)                                                                                             \
  TF_API const tf_expr *tf_build_##ID(tf_builder *builder, const char *name, const tf_args_##ID *args);
#define TF_BUILD_SCALAR(ID) TF_API const tf_expr *tf_build_##ID(tf_builder *builder, const tf_args_##ID *args);
#define TF_BUILD_EFFECT(ID) TF_API void tf_build_##ID(tf_builder *builder, const tf_args_##ID *args);
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) TF_BUILD_##FORM(ID)
#include <tilefoundry/Ops.def>

/* The same, given as an op and generic arrays in table order: for front ends that read the op table. For EFFECT and VALUE
 * ops see above; name is used for VALUE only. Null on error and for EFFECT. */
TF_API const tf_expr *tf_builder_op(tf_builder *builder, tf_op op, const char *name, unsigned arg_count,
                                    const tf_expr *const *args, const tf_attr *attrs);

#ifdef __cplusplus
}
#endif
#endif
