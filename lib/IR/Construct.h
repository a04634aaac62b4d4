/* Making nodes: the one place that fills the structs of Nodes.h. Parser and builder stand on it.
 *
 * Everything is allocated in the context's arena; arrays and strings given are copied, so callers may reuse theirs.
 * Nothing is checked beyond what a result type needs: structure is the caller's, the language's rules are the
 * verifier's. Exhaustion unwinds (Arena.h). */
#ifndef TF_IR_CONSTRUCT_H
#define TF_IR_CONSTRUCT_H

#include "IR/Nodes.h"

/* ---- Expressions ----------------------------------------------------------------------------------------------------
 */
/* A variable of a given type (induction variables: i64), without a value. */
const tf_expr *tf_expr_var_new(tf_context *context, const char *name, const tf_type *type, tf_loc loc);
const tf_expr *tf_expr_param(tf_context *context, const char *name, const tf_type *type, bool is_const, tf_loc loc);
/* The variable of a LetStmt: its type is the value's. */
const tf_expr *tf_expr_let_var(tf_context *context, const char *name, const tf_expr *value, tf_loc loc);
/* The binding of a MeshScope. */
const tf_expr *tf_expr_mesh_var(tf_context *context, const char *name, const tf_mesh *mesh, tf_loc loc);

/* Integers and bools; floats. A float keeps all of the double's digits: rounding to the dtype is done once, where it is
 * used. */
const tf_expr *tf_expr_int(tf_context *context, tf_dtype dtype, int64_t value, tf_loc loc);
const tf_expr *tf_expr_float(tf_context *context, tf_dtype dtype, double value, tf_loc loc);
const tf_expr *tf_expr_shape_of(tf_context *context, const tf_expr *param, unsigned axis, tf_loc loc);
/* type is the callee's CALLABLE type. */
const tf_expr *tf_expr_symbol(tf_context *context, const char *name, const tf_type *type, tf_loc loc);
const tf_expr *tf_expr_tuple(tf_context *context, unsigned count, const tf_expr *const *elements, tf_loc loc);

/* A VALUE or SCALAR op with operands and attributes in table order (variadic operands last, an absent optional operand
 * null). A float literal beside an operand of another float type takes that type. The result type is inferred; null
 * after a diagnostic at `loc` if it cannot be. */
const tf_expr *tf_expr_call(tf_context *context, tf_op op, unsigned arg_count, const tf_expr *const *args,
                            const tf_attr *attrs, tf_loc loc);

/* ---- Statements
 * ------------------------------------------------------------------------------------------------------- */
/* Where a statement stands and the authored loc= text (null: none). */
typedef struct tf_place {
  tf_loc loc;
  const char *text;
} tf_place;

const tf_stmt *tf_stmt_sequential(tf_context *context, unsigned count, const tf_stmt *const *items, tf_place place);
const tf_stmt *tf_stmt_let(tf_context *context, const tf_expr *var, const tf_expr *value, const tf_stmt *body,
                           tf_place place);
const tf_stmt *tf_stmt_for(tf_context *context, const tf_expr *var, const tf_expr *start, const tf_expr *stop,
                           const tf_expr *step, const tf_stmt *body, tf_place place);
const tf_stmt *tf_stmt_while(tf_context *context, const tf_expr *cond, const tf_stmt *body, tf_place place);
/* else_body null: an empty one. */
const tf_stmt *tf_stmt_if(tf_context *context, const tf_expr *cond, const tf_stmt *then_body, const tf_stmt *else_body,
                          tf_place place);
/* var is the binding made by tf_expr_mesh_var; the scope's mesh is the variable's. */
const tf_stmt *tf_stmt_mesh_scope(tf_context *context, const tf_expr *var, const tf_stmt *body, tf_place place);
const tf_stmt *tf_stmt_return(tf_context *context, tf_place place);
/* message null: empty. */
const tf_stmt *tf_stmt_abort(tf_context *context, const char *message, tf_place place);
/* An EFFECT op; see tf_expr_call for the arrays. */
const tf_stmt *tf_stmt_evaluate(tf_context *context, tf_op op, unsigned arg_count, const tf_expr *const *args,
                                const tf_attr *attrs, tf_place place);
/* A call of a function: callee is a SYMBOL_REF. */
const tf_stmt *tf_stmt_call(tf_context *context, const tf_expr *callee, unsigned arg_count, const tf_expr *const *args,
                            tf_place place);
const tf_stmt *tf_stmt_intrinsic(tf_context *context, const tf_intrinsic *decl, unsigned arg_count,
                                 const tf_expr *const *args, tf_place place);
/* One subject; calls are made by tf_stmt_call; fallback is a SEQUENTIAL of one ABORT in verified IR. */
const tf_stmt *tf_stmt_dispatch(tf_context *context, const char *name, const tf_expr *subject, unsigned case_count,
                                const tf_range_pattern *patterns, const tf_stmt *const *calls, const tf_stmt *fallback,
                                tf_place place);
const tf_stmt *tf_stmt_function(tf_context *context, const char *name, unsigned param_count,
                                const tf_expr *const *params, const tf_stmt *body, unsigned output_count,
                                const tf_target *target, tf_place place);

/* name and entry may be null. */
const tf_module *tf_module_new(tf_context *context, const char *name, const char *entry, tf_loc loc,
                               unsigned function_count, const tf_stmt *const *functions, unsigned intrinsic_count,
                               const tf_intrinsic *const *intrinsics);

/* ---- Blocks: statements in source order become nested lets
 * ------------------------------------------------------------------ copy(a, b) Sequential(Evaluate(copy), v =
 * T.tensor_view(a, …)   →               Let(v, …, Sequential(Evaluate(copy)))) copy(v, b) A let is the last statement
 * of its sequence, its body is the rest of the block (possibly empty). */
typedef struct tf_block_item {
  const tf_stmt *stmt; /* null: a let of var to value at place */
  const tf_expr *var, *value;
  tf_place place;
} tf_block_item;

typedef struct tf_block {
  tf_context *context;
  TF_VEC(tf_block_item);
} tf_block;

void tf_block_init(tf_block *block, tf_context *context);
void tf_block_add(tf_block *block, const tf_stmt *stmt);
void tf_block_let(tf_block *block, const tf_expr *var, const tf_expr *value, tf_place place);
/* The SEQUENTIAL of the whole block; linear in its length. */
const tf_stmt *tf_block_finish(tf_block *block, tf_loc loc);

#endif
