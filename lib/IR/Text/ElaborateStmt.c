/* Statements of a function's body. */
#include "IR/Text/Elaborate.h"

#include "Support/Context.h"

static void elab_statement(tf_elab *e, const tf_node *node);

void tf_elab_statements(tf_elab *e, const tf_block_syntax *block) {
  for (unsigned i = 0; i < block->count; i++)
    elab_statement(e, block->items[i]);
}

/* The statements into a block of IR of their own, in the innermost scope. */
static const tf_stmt *elab_into(tf_elab *e, const tf_block_syntax *block, tf_loc loc) {
  tf_block own, *outer = e->block;
  tf_block_init(&own, e->context);
  e->block = &own;
  tf_elab_statements(e, block);
  e->block = outer;
  return tf_block_finish(&own, loc);
}

const tf_stmt *tf_elab_block(tf_elab *e, const tf_block_syntax *block, tf_loc loc) {
  tf_scope_push(e, true);
  const tf_stmt *body = elab_into(e, block, loc);
  tf_scope_pop(e);
  return body;
}

/* ---- Bindings ---- */
static bool is_bindable(tf_elab *e, const tf_value *value, tf_loc loc) {
  if (value->kind != TF_VALUE_LIST || tf_value_is_static(value)) return true;
  tf_report(e->context, loc, TUPLE_RUN_TIME);
  return false;
}

static void elab_assign(tf_elab *e, const tf_node *node) {
  const tf_node *expr = node->assign.value;
  const char *text = NULL;
  tf_value value = expr->kind == TF_NODE_CALL ? tf_eval_call(e, expr, &text) : tf_eval(e, expr);
  if (!is_bindable(e, &value, expr->loc)) value = TF_VALUE_OF_ERROR;
  if (value.kind == TF_VALUE_EXPR) {
    const tf_expr *var = tf_expr_let_var(e->context, node->assign.name, value.expr, node->assign.name_loc);
    tf_block_let(e->block, var, value.expr, (tf_place){node->loc, text});
    value = tf_value_of_expr(var);
  }
  tf_bind(e, node->assign.name, value, node->assign.name_loc);
}

/* ---- Loops ---- */
/* The three operands of range(…); false after a report. */
static bool read_range(tf_elab *e, const tf_node *head, const tf_expr **out) {
  bool is_range = false;
  if (head->kind == TF_NODE_CALL) {
    tf_value callee = tf_eval(e, head->call.callee);
    tf_name name = {.kind = TF_NAME_UNKNOWN};
    if (callee.kind == TF_VALUE_PATH) name = tf_name_resolve(e->context, callee.path);
    is_range = name.kind == TF_NAME_SPECIAL && name.index == TF_SPECIAL_RANGE;
  }
  unsigned count = is_range ? head->call.arg_count : 0;
  if (!is_range || count < 1 || count > 3 || head->call.keyword_count) {
    if (head->kind != TF_NODE_ERROR) tf_report(e->context, head->loc, FOR_RANGE);
    return false;
  }
  bool good = true;
  const tf_expr *given[3];
  for (unsigned i = 0; i < count; i++) {
    tf_value value = tf_eval(e, head->call.args[i]);
    given[i] = tf_as_operand(e, &value, head->call.args[i]->loc);
    good &= given[i] != NULL;
  }
  out[0] = count == 1 ? tf_expr_int(e->context, TF_DTYPE_I64, 0, head->loc) : given[0];
  out[1] = given[count == 1 ? 0 : 1];
  out[2] = count == 3 ? given[2] : tf_expr_int(e->context, TF_DTYPE_I64, 1, head->loc);
  return good;
}

static void elab_for(tf_elab *e, const tf_node *node) {
  const tf_expr *bounds[3];
  size_t mark = e->rebindings.count;
  bool good = read_range(e, node->block.head, bounds);
  const tf_type *type = tf_type_scalar(e->context, TF_DTYPE_I64);
  const tf_expr *var = tf_expr_var_new(e->context, node->block.name, type, node->block.name_loc);
  tf_scope_push(e, true);
  tf_bind(e, node->block.name, tf_value_of_expr(var), node->block.name_loc);
  tf_scope_loop(e, e->reads);
  const tf_stmt *body = elab_into(e, &node->block.body, node->loc);
  tf_scope_pop(e);
  tf_rebindings_resume(e, mark);
  if (good)
    tf_block_add(e->block,
                 tf_stmt_for(e->context, var, bounds[0], bounds[1], bounds[2], body, (tf_place){node->loc, NULL}));
}

static const tf_expr *elab_condition(tf_elab *e, const tf_node *node) {
  tf_value value = tf_eval(e, node);
  return tf_as_operand(e, &value, node->loc);
}

static void elab_while(tf_elab *e, const tf_node *node) {
  size_t mark = e->rebindings.count;
  uint32_t start = e->reads;
  const char *outer = e->no_hoist;
  e->no_hoist = "inside the condition of 'while', which is evaluated each time: T.load takes indices";
  const tf_expr *cond = elab_condition(e, node->block.head);
  e->no_hoist = outer;
  tf_scope_push(e, true);
  tf_scope_loop(e, start);
  const tf_stmt *body = elab_into(e, &node->block.body, node->loc);
  tf_scope_pop(e);
  tf_rebindings_resume(e, mark);
  if (cond) tf_block_add(e->block, tf_stmt_while(e->context, cond, body, (tf_place){node->loc, NULL}));
}

/* ---- if, elif, else: an elif is an if in the else-block of the one before; built from the last one back ---- */
typedef struct branch {
  const tf_expr *cond;
  const tf_stmt *body;
  tf_block around; /* the block that the `if` stands in; what its condition needs goes there too */
} branch;

/* Each condition nests what follows it one deeper. */
#define MAX_CLAUSES 1000

static void elab_if(tf_elab *e, const tf_node *node) {
  unsigned count = node->if_.count;
  size_t mark = e->rebindings.count;
  tf_block *outer = e->block;
  bool good = true;
  if (e->clauses + count > MAX_CLAUSES) {
    tf_report(e->context, node->loc, IF_CLAUSES, MAX_CLAUSES);
    return;
  }
  e->clauses += count;
  branch *branches = TF_ARENA_ARRAY(e->scratch, branch, count);
  for (unsigned i = 0; i < count; i++) {
    const tf_clause *clause = &node->if_.clauses[i];
    if (i) {
      tf_block_init(&branches[i].around, e->context);
      e->block = &branches[i].around;
      tf_rebindings_suspend(e, mark);
    }
    branches[i].cond = elab_condition(e, clause->test);
    branches[i].body = tf_elab_block(e, &clause->body, clause->loc);
    good &= branches[i].cond != NULL;
  }
  tf_rebindings_suspend(e, mark);
  const tf_stmt *otherwise = node->if_.has_else ? tf_elab_block(e, &node->if_.otherwise, node->loc) : NULL;
  tf_rebindings_resume(e, mark);
  e->clauses -= count;
  e->block = outer;
  for (unsigned i = count; good && i-- > 0;) {
    tf_place place = {node->if_.clauses[i].loc, NULL};
    const tf_stmt *stmt = tf_stmt_if(e->context, branches[i].cond, branches[i].body, otherwise, place);
    tf_block *around = i ? &branches[i].around : outer;
    tf_block_add(around, stmt);
    if (i) otherwise = tf_block_finish(around, place.loc);
  }
}

/* ---- with MESH as NAME ---- */
static void elab_with(tf_elab *e, const tf_node *node) {
  size_t mark = e->rebindings.count;
  tf_value value = tf_eval_static(e, node->block.head, "the mesh of a scope");
  const tf_expr *var = NULL;
  if (value.kind == TF_VALUE_MESH) {
    var = tf_expr_mesh_var(e->context, node->block.name, value.mesh.mesh, node->block.name_loc);
    value.mesh.binding = var;
    TF_VEC_PUSH(e->scratch, &e->meshes, var);
  } else {
    if (value.kind != TF_VALUE_ERROR)
      tf_report(e->context, node->block.head->loc, WITH_MESH, tf_value_describe(&value));
    value = TF_VALUE_OF_ERROR;
  }
  tf_scope_push(e, true);
  tf_bind(e, node->block.name, value, node->block.name_loc);
  const tf_stmt *body = elab_into(e, &node->block.body, node->loc);
  tf_scope_pop(e);
  tf_rebindings_resume(e, mark);
  if (!var) return;
  e->meshes.count--;
  tf_block_add(e->block, tf_stmt_mesh_scope(e->context, var, body, (tf_place){node->loc, NULL}));
}

/* ---- The rest ---- */
static void elab_expr(tf_elab *e, const tf_node *node) {
  switch ((tf_node_kind)node->expr->kind) {
  case TF_NODE_STRING: /* a docstring */
  case TF_NODE_ELLIPSIS:
  case TF_NODE_ERROR:
    return;
  case TF_NODE_CALL:
    tf_call_statement(e, node->expr);
    return;
  default:
    tf_report(e->context, node->loc, EXPR_UNUSED);
  }
}

static void elab_return(tf_elab *e, const tf_node *node) {
  if (node->expr && node->expr->kind != TF_NODE_NONE)
    tf_report(e->context, node->expr->loc, RETURN_VALUE);
  else
    tf_block_add(e->block, tf_stmt_return(e->context, (tf_place){node->loc, NULL}));
}

static void elab_statement(tf_elab *e, const tf_node *node) {
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_ASSIGN:
    elab_assign(e, node);
    return;
  case TF_NODE_EXPR:
    elab_expr(e, node);
    return;
  case TF_NODE_RETURN:
    elab_return(e, node);
    return;
  case TF_NODE_FOR:
    elab_for(e, node);
    return;
  case TF_NODE_WHILE:
    elab_while(e, node);
    return;
  case TF_NODE_IF:
    elab_if(e, node);
    return;
  case TF_NODE_WITH:
    elab_with(e, node);
    return;
  case TF_NODE_MATCH:
    tf_elab_match(e, node);
    return;
  case TF_NODE_ASSERT:
    tf_report(e->context, node->loc, STMT_MISPLACED, "'assert'", "the body of an @intrinsic");
    return;
  case TF_NODE_IMPORT:
    tf_report(e->context, node->loc, STMT_MISPLACED, "an import", "the top level of the file");
    return;
  case TF_NODE_DEF:
  case TF_NODE_CLASS:
    tf_report(e->context, node->loc, STMT_MISPLACED, node->kind == TF_NODE_DEF ? "a function" : "a class",
              "the top level of the file or of a module");
    return;
  default: /* PASS, BROKEN */
    return;
  }
}
