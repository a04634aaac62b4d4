/* The IR: modules, functions, statements, expressions; read access. Builder.h creates them.
 *
 * IR is immutable once built and owned by its context. Bodies are sequences of nested statements; expressions stand inside
 * statement fields. Walk with tf_stmt_get_kind and the accessors below, or with tf_stmt_walk.
 *
 * Accessors require the node kind that their comment names; given another kind (or null) they return null, 0 or a count of
 * 0, never crash. */
#ifndef TILEFOUNDRY_IR_H
#define TILEFOUNDRY_IR_H

#include <tilefoundry/Diagnostics.h>
#include <tilefoundry/Layout.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tf_module tf_module;
typedef struct tf_stmt tf_stmt;
typedef struct tf_expr tf_expr;
typedef struct tf_mma_atom tf_mma_atom;
typedef struct tf_target tf_target;
typedef struct tf_intrinsic tf_intrinsic;

/* ---- Ops ------------------------------------------------------------------------------------------------------------ */
typedef enum tf_op {
#define TF_OP(ID, SURFACE, FORM, FAMILY, MEANING) TF_OP_##ID,
#include <tilefoundry/Ops.def>
  TF_OP_COUNT
} tf_op;

typedef enum tf_op_form { TF_FORM_VALUE, TF_FORM_EFFECT, TF_FORM_SCALAR } tf_op_form;

typedef enum tf_operand_predicate {
  TF_PRED_TENSOR,
  TF_PRED_DST,
  TF_PRED_MEMORY,
  TF_PRED_OPERAND,
  TF_PRED_SCALAR,
  TF_PRED_INDEX,
  TF_PRED_BOOL,
  TF_PRED_MESH,
  TF_PRED_SYMBOL
} tf_operand_predicate;

typedef enum tf_operand_arity { TF_ARITY_REQUIRED, TF_ARITY_OPTIONAL, TF_ARITY_VARIADIC } tf_operand_arity;

typedef enum tf_attr_kind {
  TF_ATTR_TYPE,
  TF_ATTR_LAYOUT,
  TF_ATTR_SHAPE,   /* flat tuple of dims */
  TF_ATTR_AXES,    /* flat tuple of static numbers */
  TF_ATTR_CLUSTER, /* flat tuple of three static numbers */
  TF_ATTR_INT,
  TF_ATTR_FLOAT,
  TF_ATTR_LITERAL, /* a Constant expression, or null */
  TF_ATTR_DTYPE,
  TF_ATTR_LEVEL,
  TF_ATTR_DIM,
  TF_ATTR_MESH,
  TF_ATTR_ATOM,
  TF_ATTR_BINARY,
  TF_ATTR_UNARY,
  TF_ATTR_REDUCE,
  TF_ATTR_SCALAR_BINARY,
  TF_ATTR_SCALAR_UNARY,
  TF_ATTR_LAUNCH_ATTRS
} tf_attr_kind;

typedef struct tf_launch_attr {
  tf_launch_attr_kind kind;
  int64_t values[3]; /* CLUSTER_DIMENSION: x, y, z; the others: 0 or 1 in [0] */
} tf_launch_attr;

/* Interned list. */
typedef struct tf_launch_attrs {
  size_t count;
  const tf_launch_attr *entries; /* interned as well */
} tf_launch_attrs;

/* The value of one attribute; which member holds it follows from the attribute's kind: i for INT, DTYPE, LEVEL and the kind
 * enumerations, f for FLOAT, and the pointer of that name for the rest. */
typedef union tf_attr {
  int64_t i;
  double f;
  const tf_type *type;
  const tf_layout *layout;
  const tf_tuple *tuple; /* SHAPE, AXES, CLUSTER */
  const tf_expr *literal;
  const tf_dim *dim;
  const tf_mesh *mesh;
  const tf_mma_atom *atom;
  const tf_launch_attrs *launch_attrs;
} tf_attr;

/* What the table says of an op. Static storage. */
typedef struct tf_operand_info {
  const char *name;
  tf_operand_predicate predicate;
  tf_operand_arity arity;
  const char *meaning;
} tf_operand_info;

typedef struct tf_attr_info {
  const char *name;
  tf_attr_kind kind;
  bool required;
  const char *meaning;
} tf_attr_info;

typedef struct tf_op_info {
  const char *name;    /* surface name */
  tf_op_form form;
  const char *family;
  const char *meaning;
  unsigned operand_count, attr_count;
  const tf_operand_info *operands; /* in order; at most one VARIADIC, the last */
  const tf_attr_info *attrs;
} tf_op_info;

TF_API const tf_op_info *tf_op_get_info(tf_op op); /* null for an unknown op */
TF_API bool tf_op_from_name(const char *surface, tf_op *out);

/* ---- Expressions ------------------------------------------------------------------------------------------------------ */
typedef enum tf_expr_kind {
  TF_EXPR_VAR,
  TF_EXPR_CONSTANT,
  TF_EXPR_CALL,
  TF_EXPR_SHAPE_OF,
  TF_EXPR_SYMBOL_REF,
  TF_EXPR_TUPLE
} tf_expr_kind;

TF_API tf_expr_kind tf_expr_get_kind(const tf_expr *expr);
TF_API const tf_type *tf_expr_type(const tf_expr *expr);
TF_API tf_loc tf_expr_loc(const tf_expr *expr);
/* VAR: a binding's identity is its address; the name is for people. SYMBOL_REF: the callee's name. */
TF_API const char *tf_expr_name(const tf_expr *expr);
/* VAR bound by a MeshScope: its mesh; else null. */
TF_API const tf_mesh *tf_var_mesh(const tf_expr *var);
/* VAR that is a parameter: whether it is a ConstTensor. */
TF_API bool tf_var_is_const(const tf_expr *var);
/* CONSTANT: integers and bools through _int (u64 as its bit pattern), floats through _float. */
TF_API int64_t tf_constant_int(const tf_expr *constant);
TF_API double tf_constant_float(const tf_expr *constant);
/* CALL. */
TF_API tf_op tf_call_op(const tf_expr *call);
TF_API unsigned tf_call_arg_count(const tf_expr *call);
/* Operands in table order; an absent optional one is null; the variadic ones follow. */
TF_API const tf_expr *tf_call_arg(const tf_expr *call, unsigned index);
TF_API tf_attr tf_call_attr(const tf_expr *call, unsigned index);
/* SHAPE_OF. */
TF_API const tf_expr *tf_shape_of_param(const tf_expr *expr);
TF_API unsigned tf_shape_of_axis(const tf_expr *expr);
/* TUPLE. */
TF_API unsigned tf_tuple_expr_count(const tf_expr *expr);
TF_API const tf_expr *tf_tuple_expr_element(const tf_expr *expr, unsigned index);

/* ---- Statements -------------------------------------------------------------------------------------------------------- */
typedef enum tf_stmt_kind {
  TF_STMT_SEQUENTIAL,
  TF_STMT_LET,
  TF_STMT_FOR,
  TF_STMT_WHILE,
  TF_STMT_IF,
  TF_STMT_MESH_SCOPE,
  TF_STMT_RETURN,
  TF_STMT_ABORT,
  TF_STMT_DISPATCH_CALL,
  TF_STMT_PRIM_FUNCTION,
  TF_STMT_EVALUATE,
  TF_STMT_INTRINSIC
} tf_stmt_kind;

/* A half-open range of a DimVar: the pattern of a dispatch case. */
typedef struct tf_range_pattern {
  const char *name;
  int64_t lo, hi;
} tf_range_pattern;

TF_API tf_stmt_kind tf_stmt_get_kind(const tf_stmt *stmt);
TF_API tf_loc tf_stmt_loc(const tf_stmt *stmt);
/* The authored `loc=` text, or null. */
TF_API const char *tf_stmt_loc_text(const tf_stmt *stmt);
/* SEQUENTIAL. */
TF_API unsigned tf_sequential_count(const tf_stmt *stmt);
TF_API const tf_stmt *tf_sequential_get(const tf_stmt *stmt, unsigned index);
/* LET: var, value. FOR: var (induction). MESH_SCOPE: var (binding). */
TF_API const tf_expr *tf_stmt_var(const tf_stmt *stmt);
TF_API const tf_expr *tf_let_value(const tf_stmt *stmt);
TF_API const tf_expr *tf_for_start(const tf_stmt *stmt);
TF_API const tf_expr *tf_for_stop(const tf_stmt *stmt);
TF_API const tf_expr *tf_for_step(const tf_stmt *stmt);
/* WHILE, IF. */
TF_API const tf_expr *tf_stmt_cond(const tf_stmt *stmt);
/* LET, FOR, WHILE, MESH_SCOPE, PRIM_FUNCTION: the body; IF: the then-body; DISPATCH_CALL: the fallback. A SEQUENTIAL. */
TF_API const tf_stmt *tf_stmt_body(const tf_stmt *stmt);
TF_API const tf_stmt *tf_if_else(const tf_stmt *stmt); /* an empty SEQUENTIAL if there is none */
TF_API const tf_mesh *tf_mesh_scope_mesh(const tf_stmt *stmt);
TF_API const char *tf_abort_message(const tf_stmt *stmt);
/* EVALUATE: an op with its attributes, or a call of a function: callee is the SYMBOL_REF then, null for an op. INTRINSIC:
 * the arguments. */
TF_API const tf_expr *tf_evaluate_callee(const tf_stmt *stmt);
TF_API tf_op tf_evaluate_op(const tf_stmt *stmt);
TF_API unsigned tf_evaluate_arg_count(const tf_stmt *stmt);
TF_API const tf_expr *tf_evaluate_arg(const tf_stmt *stmt, unsigned index);
TF_API tf_attr tf_evaluate_attr(const tf_stmt *stmt, unsigned index);
TF_API const tf_intrinsic *tf_intrinsic_stmt_decl(const tf_stmt *stmt);
/* DISPATCH_CALL: cases in source order; each call is an EVALUATE of a SYMBOL_REF. */
TF_API const char *tf_dispatch_name(const tf_stmt *stmt);
TF_API const tf_expr *tf_dispatch_subject(const tf_stmt *stmt);
TF_API unsigned tf_dispatch_case_count(const tf_stmt *stmt);
TF_API tf_range_pattern tf_dispatch_pattern(const tf_stmt *stmt, unsigned index);
TF_API const tf_stmt *tf_dispatch_call(const tf_stmt *stmt, unsigned index);

/* PRIM_FUNCTION. */
TF_API const char *tf_function_name(const tf_stmt *function);
TF_API unsigned tf_function_param_count(const tf_stmt *function);
TF_API const tf_expr *tf_function_param(const tf_stmt *function, unsigned index);
TF_API unsigned tf_function_output_count(const tf_stmt *function);
TF_API const tf_target *tf_function_target(const tf_stmt *function); /* null: none given, the default CUDA target */
TF_API const tf_type *tf_function_type(tf_context *context, const tf_stmt *function); /* its CALLABLE type */

/* Calls visit for the statement and everything nested in it, parents first; visit returns false to skip the children. */
typedef bool (*tf_stmt_visit_fn)(void *user, const tf_stmt *stmt);
TF_API void tf_stmt_walk(const tf_stmt *stmt, tf_stmt_visit_fn visit, void *user);
/* Structural equality up to renaming of bindings (parameters' names count: they are the interface); locations never count.
 * Modules of different contexts are never equal: compare their printed texts. */
TF_API bool tf_module_equal(const tf_module *a, const tf_module *b);

/* ---- Modules ------------------------------------------------------------------------------------------------------------ */
TF_API const char *tf_module_name(const tf_module *module);  /* null: functions outside of a class */
TF_API const char *tf_module_entry(const tf_module *module); /* null: not given */
TF_API tf_context *tf_module_context(const tf_module *module);
TF_API unsigned tf_module_function_count(const tf_module *module);
TF_API const tf_stmt *tf_module_function(const tf_module *module, unsigned index);
TF_API const tf_stmt *tf_module_find(const tf_module *module, const char *name); /* the first of that name, or null */
TF_API unsigned tf_module_intrinsic_count(const tf_module *module);
TF_API const tf_intrinsic *tf_module_intrinsic(const tf_module *module, unsigned index);

/* ---- Targets ------------------------------------------------------------------------------------------------------------ */
/* "cpu" or "sm_80", "sm_90a", …, or a device name of Targets.def ("nvidia.h200_sxm"). Null if unknown. Interned. */
TF_API const tf_target *tf_target_get(tf_context *context, const char *name);
TF_API bool tf_target_is_cpu(const tf_target *target);
TF_API const char *tf_target_name(const tf_target *target); /* "cpu", "sm_80" */
TF_API unsigned tf_target_sm(const tf_target *target);      /* 80; 0 for cpu */
TF_API char tf_target_suffix(const tf_target *target);      /* 'a', 'f' or 0 */

/* ---- MMA atoms: a realised instruction, or a tile of it over several warps -------------------------------------------------- */
TF_API const tf_mma_atom *tf_mma_atom_get(tf_context *context, const char *op_name); /* null if unknown */
/* The tile over M x N x K of warps (wm, wn); null with *reason set if the atom does not divide it. */
TF_API const tf_mma_atom *tf_mma_atom_tile(tf_context *context, const tf_mma_atom *atom, const int64_t mnk[3],
                                           const int64_t warps[2], const char **reason);
TF_API const char *tf_mma_atom_name(const tf_mma_atom *atom);
TF_API void tf_mma_atom_shape(const tf_mma_atom *atom, int64_t mnk[3]);       /* of the tile, if it is one */
TF_API bool tf_mma_atom_is_tile(const tf_mma_atom *atom, int64_t warps[2]);
TF_API const tf_mma_atom *tf_mma_atom_base(const tf_mma_atom *atom);          /* the instruction under a tile */
TF_API tf_dtype tf_mma_atom_dtype(const tf_mma_atom *atom, char operand);      /* 'A', 'B', 'C' */
TF_API const tf_layout *tf_mma_atom_layout(const tf_mma_atom *atom, char operand);
TF_API const tf_mesh *tf_mma_atom_required_scope(const tf_mma_atom *atom);
/* Unsplit axes of the given extents in front of a fragment layout: an array of fragments. */
TF_API const tf_layout *tf_mma_stack(tf_context *context, const tf_layout *layout, unsigned count, const int64_t *extents);

#ifdef __cplusplus
}
#endif
#endif
