/* Visiting statements. The rest of a block is nested in the let before it, as deep as the block is long, so the last
 * statement of a sequence is visited in place of its parent instead of by recursion. */
#include "IR/Nodes.h"

/* Visits what is nested in the statement, except for the last child, which is returned. */
static const tf_stmt *walk_children(const tf_stmt *stmt, tf_stmt_visit_fn visit, void *user) {
  unsigned count;
  switch (stmt->kind) {
  case TF_STMT_SEQUENTIAL:
    count = stmt->sequential.count;
    for (unsigned i = 0; i + 1 < count; i++)
      tf_stmt_walk(stmt->sequential.items[i], visit, user);
    return count ? stmt->sequential.items[count - 1] : NULL;
  case TF_STMT_IF:
    tf_stmt_walk(stmt->if_.then_body, visit, user);
    return stmt->if_.else_body;
  case TF_STMT_DISPATCH_CALL:
    for (unsigned i = 0; i < stmt->dispatch.case_count; i++)
      tf_stmt_walk(stmt->dispatch.calls[i], visit, user);
    return stmt->dispatch.fallback;
  default:
    return tf_stmt_body(stmt);
  }
}

void tf_stmt_walk(const tf_stmt *stmt, tf_stmt_visit_fn visit, void *user) {
  while (stmt && visit && visit(user, stmt))
    stmt = walk_children(stmt, visit, user);
}
