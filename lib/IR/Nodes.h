/* The nodes as structs: what the compiler's own stages read directly. Immutable once built; allocated in the context's
 * arena; bindings are compared by address. The public accessors of IR.h stand on these. */
#ifndef TF_IR_NODES_H
#define TF_IR_NODES_H

#include <tilefoundry/Intrinsic.h>

#include "Support/Context.h"

struct tf_expr {
  tf_expr_kind kind;
  const tf_type *type;
  tf_loc loc;
  union {
    struct {
      const char *name;    /* interned */
      const tf_mesh *mesh; /* bound by a MeshScope: its mesh */
      const tf_expr *value; /* bound by a LetStmt: its value, so that views and allocations are found from their uses */
      bool is_param;
      bool is_const; /* a ConstTensor parameter */
    } var;
    struct {
      int64_t i; /* integers, bools; u64 as bits */
      double f;  /* floats; every dtype's values fit */
    } constant;
    struct {
      tf_op op;
      unsigned arg_count;
      const tf_expr *const *args; /* table order; absent optional: null; variadic last */
      const tf_attr *attrs;       /* table order */
    } call;
    struct {
      const tf_expr *param;
      unsigned axis;
    } shape_of;
    struct {
      const char *name;
    } symbol;
    struct {
      unsigned count;
      const tf_expr *const *elements;
    } tuple;
  };
};

struct tf_stmt {
  tf_stmt_kind kind;
  tf_loc loc;
  const char *loc_text; /* authored loc=, or null */
  union {
    struct {
      unsigned count;
      const tf_stmt *const *items;
    } sequential;
    struct {
      const tf_expr *var, *value;
      const tf_stmt *body;
    } let;
    struct {
      const tf_expr *var, *start, *stop, *step;
      const tf_stmt *body;
    } for_;
    struct {
      const tf_expr *cond;
      const tf_stmt *body;
    } while_;
    struct {
      const tf_expr *cond;
      const tf_stmt *then_body, *else_body;
    } if_;
    struct {
      const tf_mesh *mesh;
      const tf_expr *var;
      const tf_stmt *body;
    } mesh_scope;
    struct {
      const char *message;
    } abort;
    struct {
      const char *callee_name;
      unsigned subject_count; /* 1 in verified IR */
      const tf_expr *const *subjects;
      unsigned case_count;
      const tf_range_pattern *patterns; /* one subject: one pattern a case */
      const tf_stmt *const *calls;
      const tf_stmt *fallback;
    } dispatch;
    struct {
      const char *name;
      unsigned param_count;
      const tf_expr *const *params;
      const tf_stmt *body;
      unsigned output_count;
      const tf_target *target; /* null: the default */
    } function;
    struct {
      const tf_expr *callee; /* SYMBOL_REF, or null for an op */
      tf_op op;
      unsigned arg_count;
      const tf_expr *const *args;
      const tf_attr *attrs;
    } evaluate;
    struct {
      const tf_intrinsic *decl;
      unsigned arg_count;
      const tf_expr *const *args;
    } intrinsic;
  };
};

struct tf_module {
  tf_context *context;
  const char *name;  /* of the class, or null */
  const char *entry; /* or null */
  tf_loc loc;        /* of the class, or where the builder stood */
  unsigned function_count;
  const tf_stmt *const *functions;
  unsigned intrinsic_count;
  const tf_intrinsic *const *intrinsics;
};

/* A compile-time value of the source language: what the static evaluator computes and what names stand for. */
typedef enum tf_value_kind {
  TF_VALUE_NONE,
  TF_VALUE_BOOL,
  TF_VALUE_INT,
  TF_VALUE_FLOAT,
  TF_VALUE_STRING,
  TF_VALUE_DIM, /* not a plain number */
  TF_VALUE_LIST,
  TF_VALUE_DTYPE,
  TF_VALUE_STORAGE,
  TF_VALUE_LEVEL,
  TF_VALUE_TOPOLOGY,
  TF_VALUE_LAYOUT,
  TF_VALUE_MESH,
  TF_VALUE_SHARD_ATTR,
  TF_VALUE_TYPE,
  TF_VALUE_ATOM,
  TF_VALUE_TARGET,
  TF_VALUE_BINARY_KIND,
  TF_VALUE_UNARY_KIND,
  TF_VALUE_REDUCE_KIND,
  TF_VALUE_LAUNCH_ATTR_KIND,
  TF_VALUE_LAUNCH_ATTRS,
  TF_VALUE_MMA_OP,    /* the bare instruction, T.cuda.mma.NAME */
  TF_VALUE_MESH_AXIS, /* m.a */
  TF_VALUE_PLACED,    /* N @ m.a */
  TF_VALUE_EXPR,      /* known at run time only */
  TF_VALUE_PATH,      /* a name of the language that is no value yet: T, T.cuda, T.copy, Layout */
  TF_VALUE_FUNCTION,
  TF_VALUE_INTRINSIC,
  TF_VALUE_ERROR /* what could not be evaluated; reported already */
} tf_value_kind;

/* An intrinsic's condition sees its arguments through this. */
typedef struct tf_intrinsic_param {
  const char *name;
} tf_intrinsic_param;

/* A user-defined effect statement: declared in text (conditions, template) or registered through C (callbacks). */
struct tf_intrinsic {
  const char *name;       /* snake_case, unique in the module */
  const char *class_name; /* CamelCase, as diagnostics call the statement */
  unsigned param_count;
  const tf_intrinsic_param *params;
  const char *ptx; /* instruction template with {name} operands, or null */
  const struct tf_syntax *source; /* the declaration's syntax tree: its conditions are evaluated at each use; or null */
  tf_loc loc;
  tf_intrinsic_verify_fn verify; /* registered through C (Intrinsic.h); null otherwise */
  tf_intrinsic_lower_fn lower;
  void *user;
};

/* The parameter that a template names in braces at `open`, with the length of "{name}"; -1: the brace is PTX's own. */
int tf_template_param(const tf_intrinsic *decl, const char *open, size_t *length);
/* "{name}" of a template that looks like a parameter and is none of the names, or null. */
const char *tf_template_stranger(const char *ptx, unsigned count, const tf_intrinsic_param *params, size_t *length);

static inline bool tf_is_scalar(const tf_expr *expr) {
  return tf_type_is_scalar(expr->type);
}

/* The op and operands of either invocation form, so that one verifier or printer serves CALL and EVALUATE. */
typedef struct tf_invocation {
  tf_op op;
  unsigned arg_count;
  const tf_expr *const *args;
  const tf_attr *attrs;
  tf_loc loc;
} tf_invocation;
tf_invocation tf_invocation_of_call(const tf_expr *call);
tf_invocation tf_invocation_of_evaluate(const tf_stmt *evaluate);

/* Number of variadic operands that follow the fixed ones, and the first of them. */
unsigned tf_invocation_variadic(const tf_invocation *invocation, const tf_expr *const **first);

/* Symbolic indices of operands and attributes, generated: TF_ARG_COPY_source, TF_ATTR_COPY_…; use
 * inv.args[TF_ARG_COPY_destination] and inv.attrs[TF_ATTRIBUTE_MMA_atom].atom. */
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) enum {
#define TF_OPERAND(ID, NAME, PREDICATE, MEANING) TF_ARG_##ID##_##NAME,
#define TF_OPTIONAL(ID, NAME, PREDICATE, MEANING) TF_ARG_##ID##_##NAME,
#define TF_VARIADIC(ID, NAME, PREDICATE, MEANING) TF_ARG_##ID##_##NAME,
#define TF_OP_END(ID)                                                                                                  \
  TF_ARGS_##ID                                                                                                         \
  }                                                                                                                    \
  ;
#include <tilefoundry/Ops.def>
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) enum {
#define TF_ATTR(ID, NAME, KIND, DEFAULT, MEANING) TF_ATTRIBUTE_##ID##_##NAME,
#define TF_OP_END(ID)                                                                                                  \
  TF_ATTRIBUTES_##ID                                                                                                   \
  }                                                                                                                    \
  ;
#include <tilefoundry/Ops.def>

#endif
