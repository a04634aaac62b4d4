/* Functions and classes with their decorators. */
#include "IR/Text/ParseInternal.h"

typedef struct param_vec {
  TF_VEC(tf_param_syntax);
} param_vec;

static void parse_param(tf_parser *p, param_vec *params) {
  if (tf_parser_at(p, TF_PUNCT_MUL) || tf_parser_at(p, TF_PUNCT_POWER) || tf_parser_at(p, TF_PUNCT_DIV)) {
    tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_UNSUPPORTED, "'*' or '/' among parameters",
              "; each has a name and a type");
    p->failed = true;
    return;
  }
  tf_param_syntax param = {0};
  param.name = tf_parser_name(p, "of a parameter", &param.loc);
  if (tf_parser_accept(p, TF_PUNCT_COLON)) param.annotation = tf_parse_expr(p);
  if (!p->failed && tf_parser_at(p, TF_PUNCT_ASSIGN)) {
    tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_UNSUPPORTED, "a default of a parameter", "");
    p->failed = true;
  }
  for (size_t i = 0; i < params->count && !p->failed; i++) {
    if (params->items[i].name != param.name) continue;
    tf_report(p->context, param.loc, SYNTAX_REPEATED, "parameter", param.name);
    p->failed = true;
  }
  TF_VEC_PUSH(p->arena, params, param);
}

static void parse_params(tf_parser *p, tf_node *node) {
  param_vec params = {0};
  tf_parser_expect(p, TF_PUNCT_LPAREN, "after the function's name");
  while (!p->failed && !tf_parser_at(p, TF_PUNCT_RPAREN)) {
    parse_param(p, &params);
    if (!tf_parser_accept(p, TF_PUNCT_COMMA)) break;
  }
  tf_parser_expect(p, TF_PUNCT_RPAREN, "after the parameters");
  node->def.param_count = (unsigned)params.count;
  node->def.params = params.items;
}

/* `class NAME:`; `class NAME():` is the same to Python. */
static void parse_bases(tf_parser *p) {
  if (!tf_parser_accept(p, TF_PUNCT_LPAREN)) return;
  if (!p->failed && !tf_parser_at(p, TF_PUNCT_RPAREN)) {
    tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_UNSUPPORTED, "a base class",
              "; a module has none");
    p->failed = true;
  }
  tf_parser_expect(p, TF_PUNCT_RPAREN, "after 'class NAME('");
}

static void parse_decorators(tf_parser *p, tf_node_vec *decorators) {
  while (tf_parser_accept(p, TF_PUNCT_AT)) {
    tf_node *decorator = tf_parse_expr(p);
    if (!p->failed && tf_parser_token(p)->kind != TF_TOKEN_NEWLINE) tf_parser_unexpected(p, "the end of the line");
    if (p->failed) {
      tf_parser_recover(p);
      decorator = tf_parser_error_node(p);
    } else {
      p->at++;
    }
    TF_VEC_PUSH(p->arena, decorators, decorator);
  }
}

tf_node *tf_parse_decorated(tf_parser *p) {
  tf_node_vec decorators = {0};
  parse_decorators(p, &decorators);
  bool is_class = tf_parser_at_keyword(p, TF_KW_CLASS);
  tf_node *node = tf_parser_node(p, is_class ? TF_NODE_CLASS : TF_NODE_DEF, tf_parser_token(p));
  if (!is_class && !tf_parser_at_keyword(p, TF_KW_DEF)) {
    tf_parser_unexpected(p, "'def' or 'class' after the decorator");
    tf_parser_recover(p);
    node->kind = TF_NODE_BROKEN;
    return node;
  }
  p->at++;
  node->def.name = tf_parser_name(p, is_class ? "after 'class'" : "after 'def'", &node->def.name_loc);
  if (is_class)
    parse_bases(p);
  else
    parse_params(p, node);
  if (!is_class && tf_parser_accept(p, TF_PUNCT_ARROW)) node->def.returns = tf_parse_expr(p);
  tf_parser_close(p, node);
  bool failed = p->failed;
  node->def.decorator_count = (unsigned)decorators.count;
  node->def.decorators = decorators.items;
  node->def.body = tf_parse_block(p, is_class ? "after the head of the class" : "after the head of the function");
  if (failed) {
    node->op = node->kind; /* its name is known all the same */
    node->kind = TF_NODE_BROKEN;
  }
  return node;
}
