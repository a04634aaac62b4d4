/* The verifier's state while it walks a kernel (or a host function) over its call tree.
 *
 * Two passes. Structure.c reads every function once, as it stands: bindings, symbols, operand kinds, placement of ops. Driver.c
 * then walks each kernel as it will run: device calls are entered at their place, so each statement is seen with the scopes,
 * the active threads and the conditions in force there, once per inlined copy; a fault is reported once all the same.
 * Statements that the first pass refused are skipped by the second. */
#ifndef TF_VERIFY_STATE_H
#define TF_VERIFY_STATE_H

#include "Verify/Kernel.h"
#include "Verify/Uniformity.h"
#include "Verify/Verify.h"
#include "Verify/Walk.h"

/* ---- Control flow around a statement --------------------------------------------------------------------------------------
 * Persistent lists: a site keeps the heads that were current at its place, and is judged when the walk is over. */

/* A place where threads leave: a return or an abort. */
typedef struct tf_exit {
  const struct tf_exit *before;
  const struct tf_control *control; /* conditions in force there */
  const tf_thread_set *gone;        /* of a return inside a narrower scope: the threads of that scope; else null */
  tf_loc loc;
} tf_exit;

/* The returns (of the function) and aborts (of the kernel) met so far. */
typedef struct tf_exits {
  const tf_exit *returns, *aborts;
} tf_exits;

/* What a loop's body added; the next iteration depends on it. Filled after the body was walked. */
typedef struct tf_loop_exits {
  tf_exits first, last;
} tf_loop_exits;

typedef struct tf_control {
  const struct tf_control *outer;
  const tf_fact *fact;       /* the condition of an if or while, the bounds of a for; or */
  const tf_loop_exits *loop; /* what the loop around may have left through; exactly one of the two */
  tf_loc loc;
} tf_control;

/* A place where threads meet, kept until the walk's end. */
typedef struct tf_meeting {
  tf_site *site;
  const char *what; /* "sync", "reduce", … */
  tf_loc loc;
  const tf_control *control;
  tf_exits exits;
  bool grid;            /* all threads of all CTAs; groups are then unused */
  unsigned group_count; /* sets of threads that have to come here together */
  const tf_thread_set *groups;
} tf_meeting;

struct tf_verifier {
  tf_context *context;
  const tf_module *module;
  void *run;                 /* unique to this verification: marks of earlier ones do not count */
  const tf_target *override; /* of the options, or null */
  const tf_stmt *root;       /* the kernel or host function that is walked */
  const tf_target *target;   /* what it is compiled for */
  bool host;
  tf_geometry geometry;
  tf_region region;
  const tf_stmt *stmt;    /* the statement at hand */
  const tf_expr *let_var; /* the variable of the let at hand, or null */
  tf_facts *facts;
  const tf_control *control;
  tf_exits exits;
  tf_thread_set entry_active; /* threads that entered the function that is walked */
  unsigned depth;
  int64_t walked; /* statements, inlined copies included */
  struct {
    TF_VEC(tf_meeting);
  } meetings;
};

/* ---- Reporting ------------------------------------------------------------------------------------------------------------- */

/* Whether this diagnostic is new for this anchor (a statement, expression or type): inlined copies report once. */
bool tf_verifier_first(tf_verifier *verifier, tf_diag_id id, const void *anchor);
/* Notes that belong to every diagnostic: the calls that led here. True. */
bool tf_verifier_call_notes(tf_verifier *verifier);

/* Reports row ID once per anchor, with the notes above; true if it did, so that further notes may follow. */
#define TF_FAIL(verifier, anchor, where, ...)                                                                          \
  (tf_verifier_first((verifier), TF_FIRST_ID(__VA_ARGS__, ~), (anchor))                                                \
       ? (tf_report((verifier)->context, (where), __VA_ARGS__), tf_verifier_call_notes(verifier))                      \
       : false)
#define TF_FIRST_ID(ID, ...) TF_DIAG_##ID

/* Where an expression is used: its own place, but for a variable (whose place is its binding) the statement's. */
tf_loc tf_use_loc(const tf_expr *expr, tf_loc statement);
/* The same for the statement at hand. */
tf_loc tf_verifier_loc(const tf_verifier *verifier, const tf_expr *expr);

/* Notes that list the scopes in force, innermost first. */
void tf_verifier_scope_notes(tf_verifier *verifier);

/* Statements that Structure.c refused: the walk leaves them out. */
void tf_verifier_refuse_stmt(tf_verifier *verifier, const tf_stmt *stmt);
bool tf_verifier_is_refused(tf_verifier *verifier, const tf_stmt *stmt);

/* ---- Structure.c, Params.c, Calls.c, Dispatch.c: what is asked of every function once ------------------------------------------------- */
void tf_verify_module_structure(tf_verifier *verifier);
void tf_verify_function_structure(tf_verifier *verifier, const tf_stmt *function);
void tf_verify_params(tf_verifier *verifier, const tf_stmt *function);
/* A call of a function or of a dispatch case: the symbol and the arguments. False if refused. */
bool tf_verify_call_structure(tf_verifier *verifier, const tf_stmt *function, const tf_stmt *call);
/* Template.c: whether the arguments of an @intrinsic have the types that its PTX names; true where it has none. */
bool tf_verify_template(tf_context *context, const tf_stmt *stmt);
bool tf_verify_dispatch(tf_verifier *verifier, const tf_stmt *function, const tf_stmt *dispatch);

/* The one function that a symbol names, and whose type it has; null after a report. */
const tf_stmt *tf_verify_symbol(tf_verifier *verifier, const tf_expr *symbol, tf_loc loc);
/* Arguments against a callee's parameters: count, kind, dtype, storage, extents after binding its DimVars, layout. host: what is
 * only known at run time is checked there. */
bool tf_verify_arguments(tf_verifier *verifier, const tf_stmt *callee, bool host, tf_loc loc, unsigned count,
                         const tf_expr *const *args);
/* The target that a CUDA function is compiled for. */
const tf_target *tf_verifier_target(const tf_verifier *verifier, const tf_stmt *function);

/* ---- Operands (Operands.c) -------------------------------------------------------------------------------------------------- */
/* Rules that hold for operands of every effect op, by the op table: written ones are no ConstTensor, read ones no Partial,
 * none is packed below a byte, and storage fits the side (host or device). False if one is broken. */
bool tf_verify_operands(tf_verifier *verifier, const tf_invocation *invocation);
/* The same without the rule about Partial. */
bool tf_verify_operands_partial(tf_verifier *verifier, const tf_invocation *invocation);

/* A ShardLayout at hand: its mesh in scope, every active thread on it, its attributes. True if fine (or not sharded). */
bool tf_verify_layout(tf_verifier *verifier, const void *anchor, tf_loc loc, const tf_layout *layout);

bool tf_is_literal(const tf_expr *expr);
static inline bool tf_is_tensor_operand(const tf_expr *expr) {
  return expr && tf_type_is_tensor(expr->type) && !tf_type_is_scalar(expr->type);
}
static inline bool tf_dtype_is_float(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_FLOAT;
}
static inline bool tf_dtype_is_integer(tf_dtype dtype) {
  return tf_dtype_get_class(dtype) == TF_CLASS_SINT || tf_dtype_get_class(dtype) == TF_CLASS_UINT;
}
static inline int64_t tf_static_or(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

/* ---- Meetings (Control.c) ------------------------------------------------------------------------------------------------------ */
/* Records that these groups of threads meet at the statement at hand; judged by tf_verifier_judge. */
tf_site *tf_verifier_meet(tf_verifier *verifier, const char *what, unsigned group_count, const tf_thread_set *groups,
                          bool grid);
/* Conditions: push around a body and pop after it. */
void tf_control_push(tf_verifier *verifier, const tf_fact *fact, tf_loc loc);
tf_loop_exits *tf_control_push_loop(tf_verifier *verifier);
void tf_control_pop_loop(tf_verifier *verifier, tf_loop_exits *loop);
void tf_control_pop(tf_verifier *verifier);
void tf_control_leave(tf_verifier *verifier, bool abort, tf_loc loc);
/* After the walk: uniformity of every meeting. */
void tf_verifier_judge(tf_verifier *verifier);
/* Named barriers get their ids, and the lowering its record (Kernel.h). */
void tf_verifier_record_kernel(tf_verifier *verifier);

#endif
