/* Declaring intrinsics and evaluating their conditions at each use. */
#include "IR/Text/ElaborateIntrinsic.h"

#include <string.h>

#include "IR/Text/Elaborate.h"
#include "Support/Context.h"

/* ---- Names in conditions ---- */
typedef struct capture {
  tf_elab *e;
  struct {
    TF_VEC(const char *);
  } names;
  struct {
    TF_VEC(tf_value);
  } values;
} capture;

static void capture_name(capture *c, const char *name) {
  for (size_t i = 0; i < c->names.count; i++)
    if (c->names.items[i] == name) return;
  const tf_binding *binding = tf_peek_binding(c->e, name);
  if (!binding || !tf_value_is_static(&binding->value)) return;
  TF_VEC_PUSH(&c->e->context->arena, &c->names, name);
  TF_VEC_PUSH(&c->e->context->arena, &c->values, binding->value);
}

static void capture_all(capture *c, unsigned count, tf_node *const *nodes);

static void capture_node(capture *c, const tf_node *node) {
  if (!node) return;
  switch ((tf_node_kind)node->kind) {
  case TF_NODE_NAME:
    capture_name(c, node->name);
    return;
  case TF_NODE_TUPLE:
  case TF_NODE_AND:
  case TF_NODE_OR:
    capture_all(c, node->list.count, node->list.items);
    return;
  case TF_NODE_UNARY:
  case TF_NODE_BINARY:
    capture_node(c, node->binary.left);
    capture_node(c, node->binary.right);
    return;
  case TF_NODE_COMPARE:
    capture_all(c, node->compare.count, node->compare.operands);
    return;
  case TF_NODE_IF_EXP:
    capture_node(c, node->if_exp.test);
    capture_node(c, node->if_exp.then);
    capture_node(c, node->if_exp.otherwise);
    return;
  case TF_NODE_CALL:
    capture_node(c, node->call.callee);
    capture_all(c, node->call.arg_count, node->call.args);
    for (unsigned i = 0; i < node->call.keyword_count; i++)
      capture_node(c, node->call.keywords[i].value);
    return;
  case TF_NODE_ATTRIBUTE:
    capture_node(c, node->attribute.object);
    return;
  case TF_NODE_SUBSCRIPT:
    capture_node(c, node->subscript.object);
    capture_node(c, node->subscript.index);
    return;
  case TF_NODE_SLICE:
    capture_node(c, node->slice.lower);
    capture_node(c, node->slice.upper);
    capture_node(c, node->slice.step);
    return;
  default:
    return;
  }
}

static void capture_all(capture *c, unsigned count, tf_node *const *nodes) {
  for (unsigned i = 0; i < count; i++)
    capture_node(c, nodes[i]);
}

static const struct tf_syntax *capture_source(tf_elab *e, const tf_node *node) {
  capture c = {.e = e};
  for (unsigned i = 0; i < node->def.body.count; i++)
    if (node->def.body.items[i]->kind == TF_NODE_ASSERT) capture_node(&c, node->def.body.items[i]->assert_.test);
  struct tf_syntax *source = TF_ARENA_NEW(&e->context->arena, struct tf_syntax);
  *source = (struct tf_syntax){node, (unsigned)c.names.count, c.names.items, c.values.items};
  return source;
}

/* ---- The declaration ---- */
static bool check_body(tf_elab *e, const tf_node *node) {
  bool good = true;
  for (unsigned i = 0; i < node->def.body.count; i++) {
    const tf_node *stmt = node->def.body.items[i];
    bool text =
        stmt->kind == TF_NODE_EXPR && (stmt->expr->kind == TF_NODE_STRING || stmt->expr->kind == TF_NODE_ELLIPSIS);
    bool is_assert =
        stmt->kind == TF_NODE_ASSERT && stmt->assert_.message && stmt->assert_.message->kind == TF_NODE_STRING;
    if (text || is_assert || stmt->kind == TF_NODE_PASS) continue;
    if (stmt->kind != TF_NODE_BROKEN) tf_report(e->context, stmt->loc, INTRINSIC_BODY);
    good = false;
  }
  return good;
}

static bool is_expr_annotation(tf_elab *e, const tf_node *annotation) {
  if (!annotation) return false;
  tf_value value = tf_eval(e, annotation);
  tf_name name = {.kind = TF_NAME_UNKNOWN};
  if (value.kind == TF_VALUE_PATH) name = tf_name_resolve(e->context, value.path);
  return name.kind == TF_NAME_SPECIAL && name.index == TF_SPECIAL_EXPR;
}

/* snake_case, and no name of the language: a call of it must not read as something else. */
static bool check_name(tf_elab *e, const tf_node *node) {
  const char *name = node->def.name;
  bool snake = name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' && name[0] >= 'a';
  tf_name known = tf_name_resolve(e->context, name);
  if (snake && known.kind == TF_NAME_UNKNOWN) return true;
  tf_report(e->context, node->def.name_loc, INTRINSIC_NAME, name,
            !snake                     ? "it is not in snake_case"
            : known.kind == TF_NAME_OP ? "an op has it"
                                       : "the language has it");
  return false;
}

static bool check_signature(tf_elab *e, const tf_node *node) {
  bool returns = node->def.returns && node->def.returns->kind == TF_NODE_NONE;
  if (!returns) tf_report(e->context, node->def.name_loc, INTRINSIC_RETURN, node->def.name);
  bool good = check_name(e, node) && returns;
  for (unsigned i = 0; i < node->def.param_count; i++) {
    const tf_param_syntax *param = &node->def.params[i];
    if (is_expr_annotation(e, param->annotation)) continue;
    tf_report(e->context, param->loc, INTRINSIC_PARAM, param->name);
    good = false;
  }
  return good;
}

/* {name} in the template stands for a parameter; any other brace is PTX's own. */
static bool check_template(tf_elab *e, const tf_node *node, const char *ptx, tf_loc loc) {
  tf_intrinsic_param *params = TF_ARENA_ARRAY(e->scratch, tf_intrinsic_param, node->def.param_count);
  for (unsigned i = 0; i < node->def.param_count; i++)
    params[i].name = node->def.params[i].name;
  size_t length;
  const char *stranger = tf_template_stranger(ptx, node->def.param_count, params, &length);
  if (stranger) tf_report(e->context, loc, INTRINSIC_OPERAND, (int)length, stranger, node->def.name);
  return !stranger;
}

static bool read_options(tf_elab *e, const tf_node *node, const tf_node *decorator, const char **ptx) {
  if (decorator->kind != TF_NODE_CALL) return true;
  unsigned count;
  tf_argument *args = tf_eval_arguments(e, decorator, &count);
  for (unsigned i = 0; i < count; i++) {
    bool is_ptx = args[i].keyword && strcmp(args[i].keyword, "ptx") == 0;
    if (args[i].value.kind == TF_VALUE_ERROR) return false;
    if (!is_ptx || (args[i].value.kind != TF_VALUE_STRING && args[i].value.kind != TF_VALUE_NONE)) {
      tf_report(e->context, args[i].loc, DECORATOR_ARGUMENT, "@intrinsic", "ptx= with a string");
      return false;
    }
    if (args[i].value.kind == TF_VALUE_STRING) *ptx = args[i].value.string;
    if (*ptx && !check_template(e, node, *ptx, args[i].loc)) return false;
  }
  return true;
}

/* snake_case → SnakeCase */
static const char *camel_case(tf_elab *e, const char *name) {
  tf_string out;
  tf_string_init(&out, e->scratch);
  bool upper = true;
  for (; *name; name++) {
    char c = upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
    upper = *name == '_';
    if (!upper) tf_string_append(&out, &c, 1);
  }
  return tf_context_intern_cstr(e->context, out.length ? out.text : "_");
}

const tf_intrinsic *tf_declare_intrinsic(tf_elab *e, const tf_node *node, const tf_node *decorator) {
  const char *ptx = NULL;
  bool good = check_signature(e, node);
  good &= check_body(e, node);
  good &= read_options(e, node, decorator, &ptx);
  if (!good) return NULL;
  tf_intrinsic_param *params = TF_ARENA_ARRAY(&e->context->arena, tf_intrinsic_param, node->def.param_count);
  for (unsigned i = 0; i < node->def.param_count; i++)
    params[i].name = node->def.params[i].name;
  tf_intrinsic *intrinsic = TF_ARENA_NEW(&e->context->arena, tf_intrinsic);
  *intrinsic = (tf_intrinsic){.name = node->def.name,
                              .class_name = camel_case(e, node->def.name),
                              .param_count = node->def.param_count,
                              .params = params,
                              .ptx = ptx,
                              .source = capture_source(e, node),
                              .loc = node->def.name_loc};
  return intrinsic;
}

/* ---- One use ---- */
/* What a condition sees of an argument: static values as such, else the expression with its type. */
static tf_value argument_value(tf_context *context, const tf_expr *expr) {
  if (expr->kind == TF_EXPR_TUPLE) {
    tf_value *items = TF_ARENA_ARRAY(&context->arena, tf_value, expr->tuple.count);
    for (unsigned i = 0; i < expr->tuple.count; i++)
      items[i] = argument_value(context, expr->tuple.elements[i]);
    return tf_value_of_list(context, expr->tuple.count, items, expr->loc);
  }
  if (expr->kind == TF_EXPR_VAR && expr->var.mesh) return tf_value_of_mesh(expr->var.mesh, expr);
  if (expr->kind == TF_EXPR_CALL && expr->call.op == TF_OP_DIM_VALUE)
    return tf_value_of_dim(expr->call.attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim);
  if (expr->kind != TF_EXPR_CONSTANT) return tf_value_of_expr(expr);
  tf_dtype dtype = tf_type_dtype(expr->type);
  if (tf_dtype_get_class(dtype) == TF_CLASS_FLOAT) return tf_value_of_float(expr->constant.f);
  if (tf_dtype_get_class(dtype) == TF_CLASS_BOOL) return tf_value_of_bool(expr->constant.i != 0);
  if (dtype == TF_DTYPE_U64) return tf_value_of_int((tf_int128)(uint64_t)expr->constant.i);
  return tf_value_of_int(expr->constant.i);
}

static bool check_condition(tf_elab *e, const tf_stmt *stmt, const tf_node *condition) {
  const tf_intrinsic *decl = stmt->intrinsic.decl;
  size_t errors = e->context->error_count;
  tf_value value = tf_eval(e, condition->assert_.test);
  if (value.kind == TF_VALUE_BOOL && value.b) return true;
  if (value.kind == TF_VALUE_BOOL)
    tf_report(e->context, stmt->loc, INTRINSIC_FAILED, decl->class_name, condition->assert_.message->string);
  else if (value.kind != TF_VALUE_ERROR)
    tf_report(e->context, stmt->loc, INTRINSIC_OPEN, decl->class_name);
  else if (e->context->error_count == errors)
    return false;
  tf_report(e->context, condition->loc, INTRINSIC_CONDITION);
  return false;
}

bool tf_intrinsic_check(tf_context *context, const tf_stmt *stmt) {
  const struct tf_syntax *source = stmt->intrinsic.decl->source;
  if (!source || !source->def) return true;
  const tf_node *def = source->def;
  tf_elab e = {.context = context, .scratch = &context->arena, .deciding = true};
  tf_scope_init(&e);
  for (unsigned i = 0; i < source->static_count; i++)
    tf_bind(&e, source->names[i], source->values[i], TF_NO_LOC);
  for (unsigned i = 0; i < def->def.param_count && i < stmt->intrinsic.arg_count; i++)
    tf_bind(&e, def->def.params[i].name, argument_value(context, stmt->intrinsic.args[i]), TF_NO_LOC);
  bool good = true;
  for (unsigned i = 0; i < def->def.body.count; i++)
    if (def->def.body.items[i]->kind == TF_NODE_ASSERT) good &= check_condition(&e, stmt, def->def.body.items[i]);
  return good;
}
