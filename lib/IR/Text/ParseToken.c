/* The parser's view of the token array, and the entry points of the syntax stage. */
#include "IR/Text/ParseInternal.h"

tf_loc tf_parser_loc(const tf_parser *p, const tf_token *token) {
  return (tf_loc){p->file, token->line, token->column, token->end - token->start};
}

bool tf_parser_accept(tf_parser *p, tf_operator op) {
  if (p->failed || !tf_parser_at(p, op)) return false;
  p->at++;
  return true;
}

bool tf_parser_accept_keyword(tf_parser *p, tf_keyword keyword) {
  if (p->failed || !tf_parser_at_keyword(p, keyword)) return false;
  p->at++;
  return true;
}

const char *tf_parser_describe(const tf_parser *p, const tf_token *token) {
  unsigned length = token->end - token->start;
  switch ((tf_token_kind)token->kind) {
  case TF_TOKEN_END:
    return "the end of the file";
  case TF_TOKEN_ERROR:
    return "a fault";
  case TF_TOKEN_NEWLINE:
    return "the end of the line";
  case TF_TOKEN_INDENT:
    return "an indented line";
  case TF_TOKEN_DEDENT:
    return "the end of the block";
  case TF_TOKEN_STRING:
    return "a string";
  default:
    return tf_arena_printf(p->arena, "'%.*s'%s", length > 40 ? 40 : (int)length, p->text + token->start,
                           length > 40 ? "…" : "");
  }
}

void tf_parser_unexpected(tf_parser *p, const char *wanted) {
  const tf_token *token = tf_parser_token(p);
  bool known = p->failed || token->kind == TF_TOKEN_ERROR || (token->kind == TF_TOKEN_END && p->tokens.stopped);
  p->failed = true;
  if (!known) tf_report(p->context, tf_parser_loc(p, token), SYNTAX_EXPECTED, wanted, tf_parser_describe(p, token));
}

bool tf_parser_expect(tf_parser *p, tf_operator op, const char *where) {
  if (p->failed || tf_parser_accept(p, op)) return !p->failed;
  tf_parser_unexpected(p, tf_arena_printf(p->arena, "'%s' %s", tf_operator_text(op), where));
  return false;
}

const char *tf_parser_name(tf_parser *p, const char *where, tf_loc *loc) {
  const tf_token *token = tf_parser_token(p);
  if (loc) *loc = tf_parser_loc(p, token);
  if (p->failed) return NULL;
  if (token->kind == TF_TOKEN_NAME) {
    p->at++;
    return tf_context_intern(p->context, p->text + token->start, token->end - token->start);
  }
  tf_parser_unexpected(p, tf_arena_printf(p->arena, "a name %s", where));
  return NULL;
}

tf_node *tf_parser_node(tf_parser *p, tf_node_kind kind, const tf_token *first) {
  tf_node *node = TF_ARENA_NEW(p->arena, tf_node);
  node->kind = (uint8_t)kind;
  node->start = node->end = first->start;
  node->loc = tf_parser_loc(p, first);
  return node;
}

/* The mark under a node that spans lines ends with its first one. */
tf_node *tf_parser_close(tf_parser *p, tf_node *node) {
  const tf_token *last = &p->tokens.items[p->at ? p->at - 1 : 0];
  if (last->end < node->start) return node;
  node->end = last->end;
  uint32_t length = 0, most = node->end - node->start;
  if (last->line == node->loc.line)
    length = most;
  else
    while (length < most && p->text[node->start + length] != '\n' && p->text[node->start + length] != '\r')
      length++;
  node->loc.length = length;
  return node;
}

tf_node *tf_parser_error_node(tf_parser *p) {
  return tf_parser_node(p, TF_NODE_ERROR, tf_parser_token(p));
}

static tf_parser parser_new(tf_context *context, uint32_t file, tf_arena *arena) {
  tf_parser p = {.context = context, .arena = arena, .file = file, .text = context->sources.items[file].text};
  p.tokens = tf_lex(context, file, arena);
  return p;
}

tf_block_syntax tf_parse_syntax(tf_context *context, uint32_t file, tf_arena *arena) {
  tf_parser p = parser_new(context, file, arena);
  return tf_parse_file(&p);
}

tf_node *tf_parse_expression(tf_context *context, uint32_t file, tf_arena *arena) {
  tf_parser p = parser_new(context, file, arena);
  tf_node *node = tf_parse_expr_tuple(&p);
  const tf_token *token = tf_parser_token(&p);
  if (!p.failed && token->kind != TF_TOKEN_NEWLINE && token->kind != TF_TOKEN_END)
    tf_parser_unexpected(&p, "the end of the expression");
  return p.failed ? NULL : node;
}
