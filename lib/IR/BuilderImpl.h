/* The builder's state. Builder.c has blocks and statements, BuilderCheck.c what it asks of operands, BuilderOps.c the ops.
 *
 * Every expression that a builder makes is marked with the block that it needs: the innermost one that binds a variable in
 * it. An operand is fine iff it carries this builder's mark and its block is still open. That one rule catches null, foreign
 * contexts, other builders, and variables used behind the end of their block. */
#ifndef TF_IR_BUILDER_IMPL_H
#define TF_IR_BUILDER_IMPL_H

#include <tilefoundry/Builder.h>

#include "IR/Construct.h"

#define TF_BUILDER_MAX_BLOCKS     200  /* nested blocks, and */
#define TF_BUILDER_MAX_EXPRESSION 1000 /* nested operators: what later stages recurse over */

typedef enum tf_frame_kind {
  TF_FRAME_FUNCTION,
  TF_FRAME_FOR,
  TF_FRAME_WHILE,
  TF_FRAME_IF,
  TF_FRAME_ELSE,
  TF_FRAME_MESH,
  TF_FRAME_DISPATCH
} tf_frame_kind;

/* A block that is open. */
typedef struct tf_frame {
  tf_frame_kind kind;
  uint64_t serial; /* never used again */
  tf_place place;
  tf_block block;
  const tf_expr *var;                        /* FOR, MESH */
  const tf_expr *start, *stop, *step, *cond; /* cond: WHILE, IF, ELSE */
  const tf_stmt *then_body;                  /* ELSE */
  const char *name;                          /* FUNCTION, DISPATCH */
  unsigned output_count;
  const tf_target *target;
  struct {
    TF_VEC(const tf_expr *);
  } params;
  const tf_expr *subject; /* DISPATCH */
  const char *message;
  struct {
    TF_VEC(tf_range_pattern);
  } patterns;
  struct {
    TF_VEC(const tf_stmt *);
  } calls;
} tf_frame;

/* A function that may be referred to. */
typedef struct tf_builder_function {
  const char *name;
  const tf_type *type; /* declared or finished; null: being built */
} tf_builder_function;

struct tf_builder {
  tf_context *context;
  tf_status status; /* of the first misuse; everything after it does nothing */
  tf_place place;
  bool begun, finished;
  const char *name, *entry;
  tf_loc module_loc;
  uint64_t next_serial;
  unsigned depth;
  tf_frame *frames; /* depth open ones, innermost last */
  size_t frame_capacity;
  struct {
    TF_VEC(tf_builder_function);
  } known;
  struct {
    TF_VEC(const tf_stmt *);
  } functions;
  struct {
    TF_VEC(const tf_intrinsic *);
  } intrinsics;
};

/* What is known of an expression of this builder. */
typedef struct tf_builder_mark {
  uint64_t serial; /* of the block that it needs; 0: none */
  unsigned nesting;
} tf_builder_mark;

/* Every public function runs its work through this: nothing happens after a misuse, and exhaustion becomes a status. */
typedef struct tf_build {
  tf_builder *builder;
  const void *in; /* the function's own arguments */
  const tf_expr *out;
} tf_build;
typedef void tf_build_fn(tf_build *build);
const tf_expr *tf_build_run(tf_builder *builder, tf_build_fn *fn, const void *in);

/* Records a misuse of the API and reports it; the first one counts. False. */
bool tf_builder_misuse(tf_builder *builder, const char *function, const char *why);
/* A rule of the language that a result type needs is broken; it was reported already. */
void tf_builder_break(tf_builder *builder, tf_status status);

/* ---- BuilderCheck.c ---- */
/* Whether the operand may stand here. */
bool tf_builder_accepts(tf_builder *builder, const char *function, const tf_expr *operand);
bool tf_builder_accepts_all(tf_builder *builder, const char *function, unsigned count, const tf_expr *const *operands);
/* Marks a new expression made of operands (null ones are skipped), or a variable of the innermost block. */
const tf_expr *tf_builder_made(tf_builder *builder, const tf_expr *expr, unsigned count,
                               const tf_expr *const *operands);
const tf_expr *tf_builder_bound(tf_builder *builder, const tf_expr *variable);
/* Whether attributes are there where the table requires them, in range, and this context's. */
bool tf_builder_accepts_attrs(tf_builder *builder, tf_op op, const tf_attr *attrs);
/* The innermost open block if statements may be added to it, else null after a misuse. */
tf_frame *tf_builder_block(tf_builder *builder, const char *function);
bool tf_builder_is_name(tf_builder *builder, const char *function, const char *name);

#endif
