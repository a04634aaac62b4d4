/* The parser's state, shared by its files.
 *
 * A fault is reported once, then `failed` makes everything up to the statement's end pass silently: the statement becomes
 * BROKEN, the parser goes on with the next logical line. Loops end when `failed` is set. */
#ifndef TF_IR_PARSE_INTERNAL_H
#define TF_IR_PARSE_INTERNAL_H

#include "IR/Text/Syntax.h"
#include "Support/Context.h"

typedef struct tf_parser {
  tf_context *context;
  tf_arena *arena;
  uint32_t file;
  const char *text;
  tf_tokens tokens;
  size_t at;
  unsigned depth; /* of recursion in expressions */
  bool failed;
} tf_parser;

typedef struct tf_node_vec {
  TF_VEC(tf_node *);
} tf_node_vec;

static inline const tf_token *tf_parser_token(const tf_parser *p) {
  return &p->tokens.items[p->at];
}

static inline bool tf_parser_at(const tf_parser *p, tf_operator op) {
  const tf_token *token = tf_parser_token(p);
  return token->kind == TF_TOKEN_OP && token->id == op;
}

static inline bool tf_parser_at_keyword(const tf_parser *p, tf_keyword keyword) {
  const tf_token *token = tf_parser_token(p);
  return token->kind == TF_TOKEN_KEYWORD && token->id == keyword;
}

/* Past the token if it is the one; false otherwise. Nothing matches after a failure. */
bool tf_parser_accept(tf_parser *p, tf_operator op);
bool tf_parser_accept_keyword(tf_parser *p, tf_keyword keyword);
/* The same, or a report that names what is missing. */
bool tf_parser_expect(tf_parser *p, tf_operator op, const char *where);
/* An identifier, interned; null after a report. */
const char *tf_parser_name(tf_parser *p, const char *where, tf_loc *loc);

tf_loc tf_parser_loc(const tf_parser *p, const tf_token *token);
/* Reports that something else than `wanted` stands here and fails. */
void tf_parser_unexpected(tf_parser *p, const char *wanted);
/* What the token is, for messages. */
const char *tf_parser_describe(const tf_parser *p, const tf_token *token);

tf_node *tf_parser_node(tf_parser *p, tf_node_kind kind, const tf_token *first);
/* Sets the node's end behind the last token read, and its place's length. */
tf_node *tf_parser_close(tf_parser *p, tf_node *node);
tf_node *tf_parser_error_node(tf_parser *p);

/* One expression; with `tuple`, also a bare tuple `a, b`. */
tf_node *tf_parse_expr(tf_parser *p);
tf_node *tf_parse_expr_tuple(tf_parser *p);

/* Statements up to the end of the file or block. */
tf_block_syntax tf_parse_file(tf_parser *p);
/* ':' and what follows it: statements on the same line, or an indented block. */
tf_block_syntax tf_parse_block(tf_parser *p, const char *where);
/* def and class with their decorators. */
tf_node *tf_parse_decorated(tf_parser *p);
/* Skips the rest of a faulty logical line, and reads a block that hangs on it for its own faults. */
void tf_parser_recover(tf_parser *p);

#endif
