/* From the syntax tree to IR: names get meanings, static expressions values, the rest becomes nodes.
 *
 * Evaluation is one walk: tf_eval gives a tf_value that is static where everything in it is, and an EXPR else. What goes wrong
 * is reported where it stands and becomes ERROR; ERROR meets further operations in silence, and a name bound to it is bound.
 *
 *   file    ─ declare ─▶ statics, functions (name, parameters, target), classes       in source order
 *           ─ define  ─▶ bodies, with the statics that stand before each function     in source order again */
#ifndef TF_IR_ELABORATE_H
#define TF_IR_ELABORATE_H

#include <tilefoundry/Text.h>

#include "IR/Construct.h"
#include "IR/Text/StaticCall.h"
#include "IR/Text/Syntax.h"

/* ---- Names and scopes (ElaborateScope.c) ---- */
typedef struct tf_binding {
  const char *name;
  tf_value value;
  tf_loc loc;
  unsigned scope; /* index of the scope that it belongs to */
  uint32_t last_read;
  tf_loc
      rebound; /* where a nested block has bound the name anew, so that a later read here is an error; line 0: nowhere */
  struct tf_binding *outer, *sibling; /* hidden by this one; next of its scope */
} tf_binding;

typedef struct tf_scope {
  tf_binding *bindings;
  bool is_block; /* nested in a function's body, where rebinding an outer name is watched */
  bool is_loop;
  uint32_t loop_start; /* reads counted when the loop began */
} tf_scope;

/* A nested block has bound a name of an outer one. */
typedef struct tf_rebinding {
  tf_binding *binding;
  tf_loc loc;
} tf_rebinding;

typedef struct tf_symbol {
  const char *name;
  tf_binding *top;
  tf_loc ended;      /* where its last block-local binding stood; line 0: there was none */
  unsigned ended_in; /* the function of it, as tf_elab.functions counts */
} tf_symbol;

typedef struct tf_function_decl {
  const char *name;
  const tf_node *node;
  unsigned param_count;
  const tf_expr **params; /* null where the parameter's type is faulty */
  const tf_type *type;    /* CALLABLE; null if any parameter is faulty */
  unsigned output_count;
  const tf_target *target;
} tf_function_decl;

typedef struct tf_elab {
  tf_context *context;
  tf_arena *scratch; /* lives as long as one parse */
  const tf_parse_options *options;
  bool *define_used, *intrinsic_used; /* of the options' */
  struct {
    TF_VEC(tf_symbol);
  } symbols; /* open addressing over `slots` */
  uint32_t *slots;
  size_t slot_count;
  struct {
    TF_VEC(tf_scope);
  } scopes;
  struct {
    TF_VEC(tf_rebinding);
  } rebindings;
  uint32_t reads;
  unsigned functions; /* whose bodies have been read */

  tf_block *block;      /* that statements and hoisted lets go to; null outside of functions */
  const char *no_hoist; /* why no let may be put before the statement here; null: it may */
  struct {
    TF_VEC(const tf_expr *);
  } meshes;         /* bindings of the scopes in force, outermost first */
  unsigned clauses; /* conditions of the `if`s around this place */
  bool deciding;    /* evaluating a condition of an intrinsic: nothing may stay open */
  const tf_target *default_target;
} tf_elab;

void tf_scope_init(tf_elab *e);
void tf_scope_push(tf_elab *e, bool is_block);
void tf_scope_pop(tf_elab *e);
/* From here on the innermost scope is a loop whose reads count from `start`. */
void tf_scope_loop(tf_elab *e, uint32_t start);
void tf_bind(tf_elab *e, const char *name, tf_value value, tf_loc loc);
/* The visible binding, counted as read; null if there is none. */
tf_binding *tf_lookup(tf_elab *e, const char *name, tf_loc loc);
/* Where a binding of the name stood whose block has ended, in this function; line 0: there was none. */
tf_loc tf_ended_binding(tf_elab *e, const char *name);
/* The binding, not counted as read. */
tf_binding *tf_peek_binding(tf_elab *e, const char *name);
/* Rebindings in a construct count behind it, but not in the alternatives of the block that made them. `mark` is
 * e->rebindings.count at the construct's start. */
void tf_rebindings_suspend(tf_elab *e, size_t mark);
void tf_rebindings_resume(tf_elab *e, size_t mark);
/* Forgets them at the end of a function. */
void tf_rebindings_clear(tf_elab *e);
/* "; did you mean 'x'?" for a name that is close to a known one, "; write T.unary(…, kind="x")" for a kind, else "". */
const char *tf_suggest(tf_elab *e, const char *name);

/* ---- Expressions (ElaborateExpr.c, ElaborateScalar.c) ---- */
tf_value tf_eval(tf_elab *e, const tf_node *node);
/* A static value, or ERROR after a report that `what` must be known at compile time. */
tf_value tf_eval_static(tf_elab *e, const tf_node *node, const char *what);
/* As an operand: numbers become constants, dims run-time values. Null after a report. */
const tf_expr *tf_as_operand(tf_elab *e, const tf_value *value, tf_loc loc);
tf_value tf_eval_logic(tf_elab *e, const tf_node *node);
tf_value tf_eval_compare(tf_elab *e, const tf_node *node);
tf_value tf_eval_if_exp(tf_elab *e, const tf_node *node);
tf_value tf_eval_unary(tf_elab *e, const tf_node *node);
/* `a op b`, static where it can be. */
tf_value tf_scalar_binary(tf_elab *e, unsigned op, const tf_value *a, const tf_value *b, tf_loc loc);
/* min, max, abs and their relatives on static or run-time numbers. */
tf_value tf_eval_math(tf_elab *e, tf_special special, const tf_call_site *site, unsigned count,
                      const tf_argument *args);

/* ---- Calls (ElaborateCall.c, ElaborateOp.c) ---- */
/* Arguments of a call in order, evaluated. */
tf_argument *tf_eval_arguments(tf_elab *e, const tf_node *call, unsigned *count);
/* A call that stands for a value. A VALUE op is bound under a fresh name before the statement, except where `text` is given:
 * the call is the whole value of a binding then, and *text receives its loc= text. */
tf_value tf_eval_call(tf_elab *e, const tf_node *call, const char **text);
/* A call that stands as a statement. */
void tf_call_statement(tf_elab *e, const tf_node *call);
/* An op with evaluated arguments; `text` receives the loc= text. SCALAR and VALUE: the call. EFFECT: the statement is added
 * to the block, the result is NONE. */
tf_value tf_op_call(tf_elab *e, tf_op op, const tf_call_site *site, unsigned count, const tf_argument *args,
                    const char **text);
/* One attribute from a value; false after a report. */
bool tf_attribute(tf_elab *e, const tf_attr_info *info, const tf_call_site *site, const tf_argument *arg, tf_attr *out);
void tf_launch_statement(tf_elab *e, const tf_call_site *site, unsigned count, const tf_argument *args);
void tf_store_statement(tf_elab *e, const tf_call_site *site, unsigned count, const tf_argument *args);
/* An argument of a function, in the type of its parameter where it is a literal. `type` may be null. */
const tf_expr *tf_function_argument(tf_elab *e, const tf_argument *arg, const tf_type *type);
/* Takes the loc= argument out of the list. */
bool tf_take_loc_text(tf_elab *e, unsigned *count, tf_argument *args, const char **text);

/* ---- Statements, functions, the file ---- */
void tf_elab_statements(tf_elab *e, const tf_block_syntax *block);
/* A nested block in a scope and block of its own. */
const tf_stmt *tf_elab_block(tf_elab *e, const tf_block_syntax *block, tf_loc loc);
void tf_elab_match(tf_elab *e, const tf_node *node);
/* A call of a function that stands as a statement, without adding it; null after a report. */
const tf_stmt *tf_function_call(tf_elab *e, const tf_node *call);
/* The declaration of a function under its decorator; never null. */
tf_function_decl *tf_declare_function(tf_elab *e, const tf_node *node, const tf_node *decorator);
const tf_stmt *tf_define_function(tf_elab *e, const tf_function_decl *decl);
/* An @intrinsic; null after a report. */
const tf_intrinsic *tf_declare_intrinsic(tf_elab *e, const tf_node *node, const tf_node *decorator);
/* The type of a parameter: Tensor[…]. */
tf_value tf_eval_tensor(tf_elab *e, const tf_node *subscript, bool is_const);

#endif
