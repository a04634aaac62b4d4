/* Walking statements without a stack that grows with the program.
 *
 * A LetStmt's body is the rest of its block, so a function of 10,000 bindings nests 10,000 deep. A cursor flattens that: it
 * yields the statements of a block in source order and goes on inside the body of a let that ends its sequence. Only
 * real blocks (loops, branches, scopes) are recursed into, at most TF_MAX_NESTING deep. */
#ifndef TF_VERIFY_WALK_H
#define TF_VERIFY_WALK_H

#include "IR/Nodes.h"

#define TF_MAX_NESTING 1000

typedef struct tf_block_cursor {
  const tf_stmt *sequence; /* the SEQUENTIAL being read; null at the end */
  unsigned next;
  const tf_stmt *let; /* the last yielded statement, if reading goes on in its body */
} tf_block_cursor;

static inline tf_block_cursor tf_block_begin(const tf_stmt *block) {
  return (tf_block_cursor){.sequence = block};
}

/* The next statement, or null. */
static inline const tf_stmt *tf_block_next(tf_block_cursor *cursor) {
  cursor->let = NULL;
  while (cursor->sequence && cursor->next >= cursor->sequence->sequential.count)
    cursor->sequence = NULL;
  if (!cursor->sequence) return NULL;
  const tf_stmt *stmt = cursor->sequence->sequential.items[cursor->next++];
  if (stmt->kind == TF_STMT_LET && cursor->next == cursor->sequence->sequential.count) {
    cursor->let = stmt;
    *cursor = (tf_block_cursor){stmt->let.body, 0, stmt};
  }
  return stmt;
}

/* Whether the last yielded statement is a let whose body the cursor goes on with: it must not be recursed into. */
static inline bool tf_block_continues(const tf_block_cursor *cursor) {
  return cursor->let != NULL;
}

/* The bodies nested in a statement, in order; returns how many (at most 2). */
static inline unsigned tf_stmt_blocks(const tf_stmt *stmt, const tf_stmt *blocks[2]) {
  switch (stmt->kind) {
  case TF_STMT_SEQUENTIAL:
    blocks[0] = stmt;
    return 1;
  case TF_STMT_LET:
    blocks[0] = stmt->let.body;
    return 1;
  case TF_STMT_FOR:
    blocks[0] = stmt->for_.body;
    return 1;
  case TF_STMT_WHILE:
    blocks[0] = stmt->while_.body;
    return 1;
  case TF_STMT_IF:
    blocks[0] = stmt->if_.then_body;
    blocks[1] = stmt->if_.else_body;
    return 2;
  case TF_STMT_MESH_SCOPE:
    blocks[0] = stmt->mesh_scope.body;
    return 1;
  case TF_STMT_DISPATCH_CALL:
    blocks[0] = stmt->dispatch.fallback;
    return 1;
  case TF_STMT_PRIM_FUNCTION:
    blocks[0] = stmt->function.body;
    return 1;
  case TF_STMT_RETURN:
  case TF_STMT_ABORT:
  case TF_STMT_EVALUATE:
  case TF_STMT_INTRINSIC:
    break;
  }
  return 0;
}

#endif
