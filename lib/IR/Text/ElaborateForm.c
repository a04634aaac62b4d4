/* Statement forms that are more than their op: launch with padded extents, T.store, match T.dispatch. */
#include "IR/Text/Elaborate.h"

#include <string.h>

#include "Support/Context.h"

/* ---- launch(kernel, args…, grid=, block=, …) ---- */
enum { EXTENTS = 3 };

/* A scalar or up to three, the rest 1. */
static bool read_extents(tf_elab *e, const tf_call_site *site, const tf_argument *arg, const char *name,
                         const tf_expr **out) {
  if (!arg) {
    tf_report(e->context, site->loc, CALL_MISSING, site->name, name);
    return false;
  }
  bool single = arg->value.kind != TF_VALUE_LIST;
  unsigned count = single ? 1 : arg->value.list.count;
  if (count == 0 || count > EXTENTS) {
    tf_report(e->context, arg->loc, LAUNCH_EXTENTS, name);
    return false;
  }
  for (unsigned i = 0; i < EXTENTS; i++) {
    tf_value one = tf_value_of_int(1);
    const tf_value *value = i >= count ? &one : single ? &arg->value : &arg->value.list.items[i];
    if (!(out[i] = tf_as_operand(e, value, arg->loc))) return false;
  }
  return true;
}

static const char *launch_takes(tf_context *context) {
  const tf_op_info *info = tf_op_get_info(TF_OP_LAUNCH);
  const char *names[8] = {"grid", "block"};
  for (unsigned i = 0; i < info->attr_count && i < 6; i++)
    names[i + 2] = info->attrs[i].name;
  return tf_takes_text(context, info->attr_count + 2, names);
}

/* The keyword arguments: grid, block, and the op's attributes. */
static bool read_launch_keywords(tf_elab *e, const tf_call_site *site, unsigned count, const tf_argument *args,
                                 const tf_expr **extents, tf_attr *attrs) {
  const tf_op_info *info = tf_op_get_info(TF_OP_LAUNCH);
  const tf_argument *grid = NULL, *block = NULL;
  bool good = true;
  for (unsigned i = 0; i < count; i++) {
    const tf_attr_info *attr = NULL;
    if (!args[i].keyword) continue;
    for (unsigned k = 0; k < info->attr_count; k++)
      if (strcmp(info->attrs[k].name, args[i].keyword) == 0) attr = &info->attrs[k];
    if (strcmp(args[i].keyword, "grid") == 0) {
      grid = &args[i];
    } else if (strcmp(args[i].keyword, "block") == 0) {
      block = &args[i];
    } else if (attr) {
      good &= tf_attribute(e, attr, site, &args[i], &attrs[attr - info->attrs]);
    } else {
      tf_report(e->context, args[i].loc, CALL_KEYWORD, site->name, args[i].keyword, launch_takes(e->context));
      good = false;
    }
  }
  good &= read_extents(e, site, grid, "grid", extents);
  return read_extents(e, site, block, "block", extents + EXTENTS) && good;
}

void tf_launch_statement(tf_elab *e, const tf_call_site *site, unsigned count, const tf_argument *args) {
  tf_argument *own = tf_arena_copy(e->scratch, args, count * sizeof *args);
  const char *text = NULL;
  for (unsigned i = 0; i < count; i++)
    if (args[i].value.kind == TF_VALUE_ERROR) return;
  if (!tf_take_loc_text(e, &count, own, &text)) return;
  if (!count || own[0].keyword || own[0].value.kind != TF_VALUE_FUNCTION) {
    tf_report(e->context, site->loc, LAUNCH_KERNEL);
    return;
  }
  const tf_function_decl *kernel = own[0].value.function;
  tf_attr *attrs = TF_ARENA_ARRAY(e->scratch, tf_attr, tf_op_get_info(TF_OP_LAUNCH)->attr_count);
  const tf_expr **operands = TF_ARENA_ARRAY(e->scratch, const tf_expr *, count + 2 * EXTENTS);
  if (!read_launch_keywords(e, site, count, own, operands + 1, attrs) || !kernel->type) return;
  operands[0] = tf_expr_symbol(e->context, kernel->name, kernel->type, own[0].loc);
  unsigned next = 1 + 2 * EXTENTS;
  for (unsigned i = 1; i < count && !own[i].keyword; i++) {
    const tf_type *type = i - 1 < kernel->param_count ? tf_type_element(kernel->type, i - 1) : NULL;
    if (!(operands[next++] = tf_function_argument(e, &own[i], type))) return;
  }
  tf_block_add(e->block,
               tf_stmt_evaluate(e->context, TF_OP_LAUNCH, next, operands, attrs, (tf_place){site->loc, text}));
}

/* ---- T.store(x, v, i, …): a fill of the window of one element ---- */
void tf_store_statement(tf_elab *e, const tf_call_site *site, unsigned count, const tf_argument *args) {
  tf_argument *own = tf_arena_copy(e->scratch, args, count * sizeof *args);
  const char *text = NULL, *unused = NULL;
  for (unsigned i = 0; i < count; i++)
    if (args[i].value.kind == TF_VALUE_ERROR) return;
  if (!tf_take_loc_text(e, &count, own, &text)) return;
  if (count < 3) {
    tf_report(e->context, site->loc, STORE_ARGUMENTS);
    return;
  }
  unsigned rank = count - 2;
  tf_argument *window = TF_ARENA_ARRAY(e->scratch, tf_argument, rank + 2);
  tf_value *ones = TF_ARENA_ARRAY(e->scratch, tf_value, rank);
  window[0] = own[0];
  for (unsigned i = 0; i < rank; i++) {
    window[i + 1] = own[i + 2];
    ones[i] = tf_value_of_int(1);
  }
  window[rank + 1] = (tf_argument){"shape", site->loc, tf_value_of_list(e->context, rank, ones, site->loc)};
  tf_value view = tf_op_call(e, TF_OP_TENSOR_VIEW, site, rank + 2, window, &unused);
  const tf_expr *value = tf_as_operand(e, &own[1].value, own[1].loc);
  if (view.kind != TF_VALUE_EXPR || !value) return;
  const tf_expr *var = tf_expr_let_var(e->context, "v", view.expr, site->loc);
  const tf_expr *operands[] = {var, value};
  tf_block_let(e->block, var, view.expr, (tf_place){site->loc, NULL});
  tf_block_add(e->block, tf_stmt_evaluate(e->context, TF_OP_FILL, 2, operands, NULL, (tf_place){site->loc, text}));
}

/* ---- match T.dispatch("name", T.shape_of(x, 0)) ---- */
static bool is_special(tf_elab *e, const tf_node *callee, tf_special special) {
  tf_value value = tf_eval(e, callee);
  if (value.kind != TF_VALUE_PATH) return false;
  tf_name name = tf_name_resolve(e->context, value.path);
  return name.kind == TF_NAME_SPECIAL && name.index == (unsigned)special;
}

static bool is_call_of(tf_elab *e, const tf_node *node, tf_special special) {
  return node->kind == TF_NODE_CALL && is_special(e, node->call.callee, special);
}

static bool read_subject(tf_elab *e, const tf_node *node, const char **name, const tf_expr **subject) {
  if (is_call_of(e, node, TF_SPECIAL_DISPATCH)) {
    unsigned count;
    tf_argument *args = tf_eval_arguments(e, node, &count);
    bool good = count == 2 && !args[0].keyword && !args[1].keyword;
    if (good && (args[0].value.kind == TF_VALUE_ERROR || args[1].value.kind == TF_VALUE_ERROR)) return false;
    if (good && args[0].value.kind == TF_VALUE_STRING) {
      *name = args[0].value.string;
      *subject = tf_as_operand(e, &args[1].value, args[1].loc);
      return *subject != NULL;
    }
  }
  if (node->kind != TF_NODE_ERROR) tf_report(e->context, node->loc, DISPATCH_SUBJECT);
  return false;
}

static bool read_pattern(tf_elab *e, const tf_node *node, tf_range_pattern *out) {
  static const char *const names[] = {"name", "lo", "hi"};
  const tf_argument *found[3] = {NULL};
  unsigned count = 0;
  tf_argument *args = is_call_of(e, node, TF_SPECIAL_DIM_VAR_RANGE_PAT) ? tf_eval_arguments(e, node, &count) : NULL;
  for (unsigned i = 0; i < count && count == 3; i++)
    for (unsigned k = 0; k < 3; k++)
      if (args[i].keyword ? strcmp(args[i].keyword, names[k]) == 0 : i == k) found[k] = &args[i];
  bool good = found[0] && found[1] && found[2] && found[0]->value.kind == TF_VALUE_STRING &&
              tf_value_int64(&found[1]->value, &out->lo) && tf_value_int64(&found[2]->value, &out->hi);
  if (good)
    out->name = found[0]->value.string;
  else if (node->kind != TF_NODE_ERROR)
    tf_report(e->context, node->loc, DISPATCH_PATTERN);
  return good;
}

/* The one statement of a case; null after a report. */
static const tf_node *only_call(tf_elab *e, const tf_clause *clause) {
  const tf_node *only = NULL;
  unsigned count = 0;
  for (unsigned i = 0; i < clause->body.count; i++) {
    const tf_node *node = clause->body.items[i];
    if (node->kind == TF_NODE_BROKEN) return NULL;
    bool text = node->kind == TF_NODE_EXPR && node->expr->kind == TF_NODE_STRING;
    if (text || node->kind == TF_NODE_PASS) continue;
    only = node;
    count++;
  }
  if (count == 1 && only->kind == TF_NODE_EXPR && only->expr->kind == TF_NODE_CALL) return only->expr;
  tf_report(e->context, clause->loc, DISPATCH_CASE_CALL);
  return NULL;
}

static bool is_wildcard(const tf_clause *clause) {
  return clause->test->kind == TF_NODE_NAME && strcmp(clause->test->name, "_") == 0;
}

/* case _: the statement that is the fallback, in a block of its own. */
static const tf_stmt *read_fallback(tf_elab *e, const tf_clause *clause) {
  const tf_node *call = only_call(e, clause);
  if (!call) return NULL;
  if (is_call_of(e, call, TF_SPECIAL_ABORT)) return tf_elab_block(e, &clause->body, clause->loc);
  tf_report(e->context, clause->loc, DISPATCH_FALLBACK);
  return NULL;
}

void tf_elab_match(tf_elab *e, const tf_node *node) {
  const char *name = NULL;
  const tf_expr *subject = NULL;
  const tf_stmt *fallback = NULL;
  unsigned count = node->match.count;
  bool good = read_subject(e, node->match.subject, &name, &subject);
  bool closed = count > 0 && is_wildcard(&node->match.cases[count - 1]);
  if (!closed) tf_report(e->context, node->loc, DISPATCH_FALLBACK);
  tf_range_pattern *patterns = TF_ARENA_ARRAY(e->scratch, tf_range_pattern, count);
  const tf_stmt **calls = TF_ARENA_ARRAY(e->scratch, const tf_stmt *, count);
  unsigned cases = closed ? count - 1 : count;
  for (unsigned i = 0; i < cases; i++) {
    good &= read_pattern(e, node->match.cases[i].test, &patterns[i]);
    const tf_node *call = only_call(e, &node->match.cases[i]);
    calls[i] = call ? tf_function_call(e, call) : NULL;
    good &= calls[i] != NULL;
  }
  if (closed) fallback = read_fallback(e, &node->match.cases[count - 1]);
  if (!good || !fallback) return;
  tf_block_add(e->block, tf_stmt_dispatch(e->context, name, subject, cases, patterns, calls, fallback,
                                          (tf_place){node->loc, NULL}));
}
