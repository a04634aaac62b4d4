/* Expressions: precedence climbing over one table of operators, Python's levels.
 *
 *   1 if else   2 or   3 and   4 not   5 comparisons   6 |   7 ^   8 &   9 << >>   10 + -   11 * / // % @   12 unary   13 **
 *
 * `and`, `or` and comparisons collect their operands into one node (a chain means more than its parts). Recursion is counted:
 * no text can exhaust the stack. */
#include "IR/Text/ParseInternal.h"

#include <string.h>

#include "IR/KindTables.h"
#include "IR/Text/ParseLiteral.h"

#define CHAINED_ARGS     8
#define TF_MAX_RECURSION (2 * TF_MAX_HEIGHT + 2 * TF_MAX_BRACKETS)

enum { LEVEL_TERNARY = 1, LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_BIT_OR, LEVEL_UNARY = 12, LEVEL_POWER };

const char *tf_binary_op_spelling(unsigned op) {
  static const char *const extra[] = {"**", "@", "in", "not in", "is", "is not"};
  if (op < TF_SCALAR_BINARY_COUNT) return tf_scalar_binary_spelling((tf_scalar_binary_kind)op);
  return op < TF_BINARY_OP_COUNT ? extra[op - TF_SCALAR_BINARY_COUNT] : "?";
}

/* ---- Nodes ---- */
static void raise_height(tf_parser *p, tf_node *node, const tf_node *child) {
  if (!child || child->height < node->height) return;
  node->height = (uint16_t)(child->height + 1);
  if (node->height <= TF_MAX_HEIGHT || p->failed) return;
  tf_report(p->context, node->loc, SYNTAX_DEPTH, TF_MAX_HEIGHT);
  p->failed = true;
}

/* Operands of one node that become a chain of operations, each inside the next: the height is that of the chain. */
static void raise_by(tf_parser *p, tf_node *node, size_t count) {
  size_t height = node->height + count;
  if (height > TF_MAX_HEIGHT && !p->failed) {
    tf_report(p->context, node->loc, SYNTAX_DEPTH, TF_MAX_HEIGHT);
    p->failed = true;
  }
  node->height = (uint16_t)(height > TF_MAX_HEIGHT ? TF_MAX_HEIGHT + 1 : height);
}

static bool enter(tf_parser *p) {
  if (p->failed) return false;
  if (++p->depth <= TF_MAX_RECURSION) return true;
  tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_DEPTH, TF_MAX_HEIGHT);
  p->failed = true;
  return true; /* the caller leaves as usual */
}

static tf_node *node_from(tf_parser *p, tf_node_kind kind, const tf_node *first) {
  tf_node *node = TF_ARENA_NEW(p->arena, tf_node);
  node->kind = (uint8_t)kind;
  node->start = first->start;
  node->loc = first->loc;
  return node;
}

static tf_node *list_node(tf_parser *p, tf_node *node, const tf_node_vec *items) {
  node->list.count = (unsigned)items->count;
  node->list.items = items->items;
  for (size_t i = 0; i < items->count; i++)
    raise_height(p, node, items->items[i]);
  return tf_parser_close(p, node);
}

/* ---- Atoms ---- */
static tf_node *parse_strings(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_STRING, tf_parser_token(p));
  tf_string value;
  tf_string_init(&value, p->arena);
  for (; tf_parser_token(p)->kind == TF_TOKEN_STRING; p->at++) { /* neighbours are one string */
    const tf_token *token = tf_parser_token(p);
    const char *fault;
    size_t at;
    if (tf_string_literal(p->text + token->start, token->end - token->start, &value, &fault, &at)) continue;
    tf_loc loc = tf_parser_loc(p, token);
    if (!memchr(p->text + token->start, '\n', at)) loc.column += (uint32_t)at, loc.length = 1;
    tf_report(p->context, loc, SYNTAX_ESCAPE, fault);
    p->failed = true;
    return node;
  }
  node->string = tf_context_intern(p->context, value.text, value.length);
  return tf_parser_close(p, node);
}

static tf_node *parse_number(tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  bool is_float = token->kind == TF_TOKEN_FLOAT;
  tf_node *node = tf_parser_node(p, is_float ? TF_NODE_FLOAT : TF_NODE_INT, token);
  if (is_float)
    node->number = tf_float_literal(p->text + token->start, token->end - token->start);
  else
    (void)tf_int_literal(p->text + token->start, token->end - token->start,
                         &node->integer); /* the lexer has tried it */
  p->at++;
  return tf_parser_close(p, node);
}

static tf_node *unsupported(tf_parser *p, const char *what, const char *instead) {
  if (!p->failed) tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_UNSUPPORTED, what, instead);
  p->failed = true;
  return tf_parser_error_node(p);
}

/* An element of a tuple, list or argument list: an expression that no comprehension follows. */
static tf_node *parse_element(tf_parser *p) {
  if (tf_parser_at(p, TF_PUNCT_MUL) || tf_parser_at(p, TF_PUNCT_POWER))
    return unsupported(p, "unpacking with *", "; write the elements out");
  tf_node *node = tf_parse_expr(p);
  if (tf_parser_at_keyword(p, TF_KW_FOR) || tf_parser_at_keyword(p, TF_KW_ASYNC))
    return unsupported(p, "a comprehension", "; write the elements out");
  if (tf_parser_at(p, TF_PUNCT_WALRUS)) return unsupported(p, "':='", "; bind the name in a statement of its own");
  return node;
}

/* Elements up to the closing bracket; *comma tells whether there was one. */
static tf_node_vec parse_elements(tf_parser *p, tf_operator closer, bool *comma) {
  tf_node_vec items = {0};
  *comma = false;
  while (!p->failed && !tf_parser_at(p, closer)) {
    TF_VEC_PUSH(p->arena, &items, parse_element(p));
    if (!tf_parser_accept(p, TF_PUNCT_COMMA)) break;
    *comma = true;
  }
  return items;
}

static tf_node *parse_parenthesised(tf_parser *p) {
  const tf_token *open = tf_parser_token(p);
  bool is_list = open->id == TF_PUNCT_LBRACKET, comma;
  tf_operator closer = is_list ? TF_PUNCT_RBRACKET : TF_PUNCT_RPAREN;
  tf_node *tuple = tf_parser_node(p, TF_NODE_TUPLE, open);
  p->at++;
  tf_node_vec items = parse_elements(p, closer, &comma);
  tf_parser_expect(p, closer, is_list ? "after the list's elements" : "after the expression in parentheses");
  if (is_list || comma || items.count != 1) return list_node(p, tuple, &items);
  tf_node *inner = items.items[0];
  inner->parenthesised = true;
  inner->start = tuple->start;
  inner->loc = tuple->loc;
  return tf_parser_close(p, inner);
}

static tf_node *parse_keyword_atom(tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  switch ((tf_keyword)token->id) {
  case TF_KW_TRUE:
  case TF_KW_FALSE:
  case TF_KW_NONE: {
    tf_node_kind kind = token->id == TF_KW_TRUE    ? TF_NODE_TRUE
                        : token->id == TF_KW_FALSE ? TF_NODE_FALSE
                                                   : TF_NODE_NONE;
    tf_node *node = tf_parser_node(p, kind, token);
    p->at++;
    return tf_parser_close(p, node);
  }
  case TF_KW_LAMBDA:
    return unsupported(p, "lambda", "; write a function with @prim_func");
  case TF_KW_AWAIT:
  case TF_KW_YIELD:
    return unsupported(p, tf_keyword_text((tf_keyword)token->id), "");
  default:
    tf_parser_unexpected(p, "an expression");
    return tf_parser_error_node(p);
  }
}

/* Whether the operator stands here for a second time, as in C's && and ||. */
static bool is_doubled(const tf_parser *p, tf_operator op) {
  const tf_token *token = tf_parser_token(p);
  return p->at > 0 && tf_parser_at(p, op) && token[-1].end == token->start &&
         p->text[token[-1].start] == p->text[token->start];
}

static tf_node *parse_atom(tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  tf_node *node;
  switch ((tf_token_kind)token->kind) {
  case TF_TOKEN_NAME:
    node = tf_parser_node(p, TF_NODE_NAME, token);
    node->name = tf_context_intern(p->context, p->text + token->start, token->end - token->start);
    p->at++;
    return tf_parser_close(p, node);
  case TF_TOKEN_INT:
  case TF_TOKEN_FLOAT:
    return parse_number(p);
  case TF_TOKEN_STRING:
    return parse_strings(p);
  case TF_TOKEN_KEYWORD:
    return parse_keyword_atom(p);
  default:
    break;
  }
  if (tf_parser_at(p, TF_PUNCT_LPAREN) || tf_parser_at(p, TF_PUNCT_LBRACKET)) return parse_parenthesised(p);
  if (tf_parser_at(p, TF_PUNCT_LBRACE)) return unsupported(p, "a dict or set", "; tuples hold several values");
  if (tf_parser_at(p, TF_PUNCT_ELLIPSIS)) {
    node = tf_parser_node(p, TF_NODE_ELLIPSIS, token);
    p->at++;
    return tf_parser_close(p, node);
  }
  if (is_doubled(p, TF_PUNCT_BIT_AND)) return unsupported(p, "'&&'", "; write 'and'");
  if (is_doubled(p, TF_PUNCT_BIT_OR)) return unsupported(p, "'||'", "; write 'or'");
  tf_parser_unexpected(p, "an expression");
  return tf_parser_error_node(p);
}

/* ---- Calls, attributes, subscripts ---- */
typedef struct keyword_vec {
  TF_VEC(tf_keyword_arg);
} keyword_vec;

/* Whether `name =` stands here. */
static bool at_keyword_arg(const tf_parser *p) {
  const tf_token *next = tf_parser_token(p) + 1; /* END is behind every name */
  return tf_parser_token(p)->kind == TF_TOKEN_NAME && next->kind == TF_TOKEN_OP && next->id == TF_PUNCT_ASSIGN;
}

static void parse_keyword_arg(tf_parser *p, keyword_vec *keywords) {
  tf_keyword_arg arg;
  arg.name = tf_parser_name(p, "before =", &arg.loc);
  tf_parser_accept(p, TF_PUNCT_ASSIGN);
  arg.value = parse_element(p);
  for (size_t i = 0; i < keywords->count && !p->failed; i++) {
    if (keywords->items[i].name != arg.name) continue;
    tf_report(p->context, arg.loc, SYNTAX_REPEATED, "argument", arg.name);
    p->failed = true;
  }
  TF_VEC_PUSH(p->arena, keywords, arg);
}

static tf_node *parse_call(tf_parser *p, tf_node *callee) {
  tf_node *node = node_from(p, TF_NODE_CALL, callee);
  tf_node_vec args = {0};
  keyword_vec keywords = {0};
  p->at++;
  while (!p->failed && !tf_parser_at(p, TF_PUNCT_RPAREN)) {
    if (at_keyword_arg(p)) {
      parse_keyword_arg(p, &keywords);
    } else if (keywords.count && !tf_parser_at(p, TF_PUNCT_MUL) && !tf_parser_at(p, TF_PUNCT_POWER)) {
      tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_POSITIONAL);
      p->failed = true;
    } else {
      TF_VEC_PUSH(p->arena, &args, parse_element(p));
    }
    if (!tf_parser_accept(p, TF_PUNCT_COMMA)) break;
  }
  tf_parser_expect(p, TF_PUNCT_RPAREN, "after the arguments");
  node->call.callee = callee;
  node->call.arg_count = (unsigned)args.count;
  node->call.args = args.items;
  node->call.keyword_count = (unsigned)keywords.count;
  node->call.keywords = keywords.items;
  raise_height(p, node, callee);
  for (size_t i = 0; i < args.count; i++)
    raise_height(p, node, args.items[i]);
  for (size_t i = 0; i < keywords.count; i++)
    raise_height(p, node, keywords.items[i].value);
  if (args.count > CHAINED_ARGS) raise_by(p, node, args.count); /* it may be min or max */
  return tf_parser_close(p, node);
}

static tf_node *parse_slice_part(tf_parser *p) {
  bool absent =
      tf_parser_at(p, TF_PUNCT_COLON) || tf_parser_at(p, TF_PUNCT_COMMA) || tf_parser_at(p, TF_PUNCT_RBRACKET);
  return absent ? NULL : tf_parse_expr(p);
}

/* An index: an expression, or a slice. */
static tf_node *parse_index(tf_parser *p) {
  const tf_token *first = tf_parser_token(p);
  tf_node *lower = tf_parser_at(p, TF_PUNCT_COLON) ? NULL : parse_element(p);
  if (!tf_parser_at(p, TF_PUNCT_COLON) || p->failed) return lower ? lower : tf_parser_error_node(p);
  tf_node *node = tf_parser_node(p, TF_NODE_SLICE, first);
  p->at++;
  node->slice.lower = lower;
  node->slice.upper = parse_slice_part(p);
  if (tf_parser_accept(p, TF_PUNCT_COLON)) node->slice.step = parse_slice_part(p);
  raise_height(p, node, lower);
  raise_height(p, node, node->slice.upper);
  raise_height(p, node, node->slice.step);
  return tf_parser_close(p, node);
}

static tf_node *parse_subscript(tf_parser *p, tf_node *object) {
  tf_node *node = node_from(p, TF_NODE_SUBSCRIPT, object);
  p->at++;
  const tf_token *first = tf_parser_token(p);
  tf_node_vec items = {0};
  bool comma = false;
  do {
    if (comma && tf_parser_at(p, TF_PUNCT_RBRACKET)) break;
    TF_VEC_PUSH(p->arena, &items, parse_index(p));
    if (tf_parser_at(p, TF_PUNCT_COMMA)) comma = true;
  } while (tf_parser_accept(p, TF_PUNCT_COMMA));
  node->subscript.object = object;
  node->subscript.index = comma ? list_node(p, tf_parser_node(p, TF_NODE_TUPLE, first), &items) : items.items[0];
  tf_parser_expect(p, TF_PUNCT_RBRACKET, "after the index");
  raise_height(p, node, object);
  raise_height(p, node, node->subscript.index);
  return tf_parser_close(p, node);
}

static tf_node *parse_attribute(tf_parser *p, tf_node *object) {
  tf_node *node = node_from(p, TF_NODE_ATTRIBUTE, object);
  p->at++;
  node->attribute.object = object;
  node->attribute.name = tf_parser_name(p, "after '.'", &node->attribute.name_loc);
  raise_height(p, node, object);
  return tf_parser_close(p, node);
}

static tf_node *parse_postfix(tf_parser *p) {
  tf_node *node = parse_atom(p);
  while (!p->failed) {
    if (tf_parser_at(p, TF_PUNCT_DOT))
      node = parse_attribute(p, node);
    else if (tf_parser_at(p, TF_PUNCT_LPAREN))
      node = parse_call(p, node);
    else if (tf_parser_at(p, TF_PUNCT_LBRACKET))
      node = parse_subscript(p, node);
    else
      break;
  }
  return node;
}

/* ---- Operators ---- */
static tf_node *parse_level(tf_parser *p, int level);

static tf_node *parse_unary(tf_parser *p, tf_unary_op op, int level) {
  tf_node *node = tf_parser_node(p, TF_NODE_UNARY, tf_parser_token(p));
  p->at++;
  node->op = (uint8_t)op;
  node->binary.right = parse_level(p, level);
  raise_height(p, node, node->binary.right);
  return tf_parser_close(p, node);
}

/* An operand: what binds tighter than every binary operator except `**`, whose right side takes a unary operand. */
static tf_node *parse_operand(tf_parser *p) {
  if (tf_parser_at(p, TF_PUNCT_SUB)) return parse_unary(p, TF_UNARY_OP_NEG, LEVEL_UNARY);
  if (tf_parser_at(p, TF_PUNCT_ADD)) return parse_unary(p, TF_UNARY_OP_POS, LEVEL_UNARY);
  if (tf_parser_at(p, TF_PUNCT_INVERT)) return parse_unary(p, TF_UNARY_OP_INVERT, LEVEL_UNARY);
  tf_node *base = parse_postfix(p);
  if (p->failed || !tf_parser_at(p, TF_PUNCT_POWER)) return base;
  tf_node *node = node_from(p, TF_NODE_BINARY, base);
  p->at++;
  node->op = TF_BINARY_OP_POWER;
  node->binary.left = base;
  node->binary.right = parse_level(p, LEVEL_UNARY);
  raise_height(p, node, base);
  raise_height(p, node, node->binary.right);
  return tf_parser_close(p, node);
}

/* The operator at the current token, its level, and how many tokens it has; level 0 if there is none. */
typedef struct operator_info {
  uint8_t op;
  int level;
  unsigned tokens;
} operator_info;

static operator_info keyword_operator(const tf_parser *p, const tf_token *token) {
  const tf_token *next = token + 1;
  bool next_not = next->kind == TF_TOKEN_KEYWORD && next->id == TF_KW_NOT;
  switch ((tf_keyword)token->id) {
  case TF_KW_OR:
    return (operator_info){TF_SCALAR_BINARY_OR, LEVEL_OR, 1};
  case TF_KW_AND:
    return (operator_info){TF_SCALAR_BINARY_AND, LEVEL_AND, 1};
  case TF_KW_IN:
    return (operator_info){TF_BINARY_OP_IN, LEVEL_COMPARE, 1};
  case TF_KW_IS:
    return (operator_info){next_not ? TF_BINARY_OP_IS_NOT : TF_BINARY_OP_IS, LEVEL_COMPARE, next_not ? 2 : 1};
  case TF_KW_NOT:
    if (next->kind == TF_TOKEN_KEYWORD && next->id == TF_KW_IN)
      return (operator_info){TF_BINARY_OP_NOT_IN, LEVEL_COMPARE, 2};
    break;
  default:
    break;
  }
  (void)p;
  return (operator_info){0, 0, 0};
}

static operator_info operator_here(const tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  if (p->failed) return (operator_info){0, 0, 0};
  if (token->kind == TF_TOKEN_KEYWORD) return keyword_operator(p, token);
  if (token->kind != TF_TOKEN_OP) return (operator_info){0, 0, 0};
  if (token->id == TF_PUNCT_AT) return (operator_info){TF_BINARY_OP_AT, LEVEL_UNARY - 1, 1};
  const char *text = tf_operator_text((tf_operator)token->id);
  for (unsigned kind = 0; kind < TF_SCALAR_BINARY_COUNT; kind++)
    if (strcmp(tf_scalar_binary_spelling((tf_scalar_binary_kind)kind), text) == 0)
      return (operator_info){(uint8_t)kind, tf_scalar_binary_precedence((tf_scalar_binary_kind)kind), 1};
  return (operator_info){0, 0, 0};
}

/* `first` and all further operands of one `and` or `or`. */
static tf_node *parse_logic(tf_parser *p, tf_node *first, operator_info info) {
  tf_node *node = node_from(p, info.op == TF_SCALAR_BINARY_OR ? TF_NODE_OR : TF_NODE_AND, first);
  tf_node_vec items = {0};
  TF_VEC_PUSH(p->arena, &items, first);
  while (!p->failed && operator_here(p).tokens && operator_here(p).op == info.op) {
    p->at++;
    TF_VEC_PUSH(p->arena, &items, parse_level(p, info.level + 1));
  }
  list_node(p, node, &items);
  raise_by(p, node, items.count);
  return node;
}

static tf_node *parse_comparison(tf_parser *p, tf_node *first) {
  tf_node *node = node_from(p, TF_NODE_COMPARE, first);
  tf_node_vec operands = {0};
  struct {
    TF_VEC(uint8_t);
  } ops = {0};
  TF_VEC_PUSH(p->arena, &operands, first);
  for (operator_info info; (info = operator_here(p)).level == LEVEL_COMPARE;) {
    p->at += info.tokens;
    TF_VEC_PUSH(p->arena, &ops, info.op);
    TF_VEC_PUSH(p->arena, &operands, parse_level(p, LEVEL_BIT_OR));
  }
  node->compare.count = (unsigned)operands.count;
  node->compare.operands = operands.items;
  node->compare.ops = ops.items;
  for (size_t i = 0; i < operands.count; i++)
    raise_height(p, node, operands.items[i]);
  raise_by(p, node, operands.count);
  return tf_parser_close(p, node);
}

static tf_node *parse_binary(tf_parser *p, tf_node *left, operator_info info) {
  tf_node *node = node_from(p, TF_NODE_BINARY, left);
  p->at++;
  node->op = info.op;
  node->binary.left = left;
  node->binary.right = parse_level(p, info.level + 1);
  raise_height(p, node, left);
  raise_height(p, node, node->binary.right);
  return tf_parser_close(p, node);
}

/* Everything that binds at `level` or tighter. */
static tf_node *parse_climb(tf_parser *p, int level) {
  tf_node *left = level <= LEVEL_NOT && tf_parser_at_keyword(p, TF_KW_NOT) ? parse_unary(p, TF_UNARY_OP_NOT, LEVEL_NOT)
                                                                           : parse_operand(p);
  for (operator_info info; (info = operator_here(p)).level >= level && info.level;) {
    /* `not a == b` was read as one operand: nothing tighter than `and` continues it. */
    if (info.level == LEVEL_OR || info.level == LEVEL_AND)
      left = parse_logic(p, left, info);
    else if (info.level == LEVEL_COMPARE)
      left = parse_comparison(p, left);
    else
      left = parse_binary(p, left, info);
  }
  return left;
}

static tf_node *parse_level(tf_parser *p, int level) {
  if (!enter(p)) return tf_parser_error_node(p);
  tf_node *node = p->failed ? tf_parser_error_node(p) : parse_climb(p, level);
  p->depth--;
  return node;
}

static tf_node *parse_ternary(tf_parser *p) {
  tf_node *then = parse_level(p, LEVEL_OR);
  if (p->failed || !tf_parser_at_keyword(p, TF_KW_IF)) return then;
  tf_node *node = node_from(p, TF_NODE_IF_EXP, then);
  p->at++;
  node->if_exp.then = then;
  node->if_exp.test = parse_level(p, LEVEL_OR);
  if (!tf_parser_accept_keyword(p, TF_KW_ELSE)) {
    tf_parser_unexpected(p, "'else' of the conditional expression");
    return tf_parser_error_node(p);
  }
  node->if_exp.otherwise = tf_parse_expr(p);
  raise_height(p, node, then);
  raise_height(p, node, node->if_exp.test);
  raise_height(p, node, node->if_exp.otherwise);
  return tf_parser_close(p, node);
}

tf_node *tf_parse_expr(tf_parser *p) {
  if (!enter(p)) return tf_parser_error_node(p);
  tf_node *node = p->failed ? tf_parser_error_node(p) : parse_ternary(p);
  p->depth--;
  return node;
}

static bool ends_expression(const tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  return token->kind == TF_TOKEN_NEWLINE || token->kind == TF_TOKEN_END || tf_parser_at(p, TF_PUNCT_ASSIGN) ||
         tf_parser_at(p, TF_PUNCT_COLON) || tf_parser_at(p, TF_PUNCT_SEMICOLON);
}

tf_node *tf_parse_expr_tuple(tf_parser *p) {
  const tf_token *start = tf_parser_token(p);
  tf_node *first = parse_element(p);
  if (p->failed || !tf_parser_at(p, TF_PUNCT_COMMA)) return first;
  tf_node_vec items = {0};
  TF_VEC_PUSH(p->arena, &items, first);
  while (tf_parser_accept(p, TF_PUNCT_COMMA) && !ends_expression(p))
    TF_VEC_PUSH(p->arena, &items, parse_element(p));
  return list_node(p, tf_parser_node(p, TF_NODE_TUPLE, start), &items);
}
