/* Statements and blocks. A logical line is one or more simple statements, or the head of a compound one.
 *
 * What Python has and the language lacks is refused by name where it begins; the block that hangs on it is still read, so
 * that its own faults are found in the same run. */
#include "IR/Text/ParseInternal.h"

#include <string.h>

static void parse_line(tf_parser *p, tf_node_vec *out);

/* ---- Recovery ---- */
static void skip_line(tf_parser *p) {
  for (;;) {
    tf_token_kind kind = (tf_token_kind)tf_parser_token(p)->kind;
    if (kind == TF_TOKEN_END || kind == TF_TOKEN_DEDENT || kind == TF_TOKEN_INDENT) return;
    p->at++;
    if (kind == TF_TOKEN_NEWLINE) return;
  }
}

static tf_block_syntax read_indented(tf_parser *p) {
  tf_node_vec items = {0};
  p->at++; /* INDENT */
  while (tf_parser_token(p)->kind != TF_TOKEN_DEDENT && tf_parser_token(p)->kind != TF_TOKEN_END)
    parse_line(p, &items);
  if (tf_parser_token(p)->kind == TF_TOKEN_DEDENT) p->at++;
  return (tf_block_syntax){(unsigned)items.count, items.items};
}

void tf_parser_recover(tf_parser *p) {
  skip_line(p);
  p->failed = false;
  if (tf_parser_token(p)->kind == TF_TOKEN_INDENT) (void)read_indented(p);
}

static tf_node *broken(tf_parser *p) {
  return tf_parser_node(p, TF_NODE_BROKEN, tf_parser_token(p));
}

static tf_node *refuse(tf_parser *p, const char *what, const char *instead) {
  tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_UNSUPPORTED, what, instead);
  p->failed = true;
  return broken(p);
}

/* ---- Blocks ---- */
tf_block_syntax tf_parse_block(tf_parser *p, const char *where) {
  tf_block_syntax block = {0, NULL};
  tf_parser_expect(p, TF_PUNCT_COLON, where);
  if (p->failed) {
    skip_line(p);
    p->failed = false;
    return tf_parser_token(p)->kind == TF_TOKEN_INDENT ? read_indented(p) : block;
  }
  if (tf_parser_token(p)->kind != TF_TOKEN_NEWLINE) { /* on the same line */
    tf_node_vec items = {0};
    parse_line(p, &items);
    return (tf_block_syntax){(unsigned)items.count, items.items};
  }
  p->at++;
  if (tf_parser_token(p)->kind == TF_TOKEN_INDENT) return read_indented(p);
  if (tf_parser_token(p)->kind != TF_TOKEN_ERROR && !p->tokens.stopped)
    tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_BLOCK, where);
  return block;
}

/* A faulty head with its block: BROKEN, the block already read. */
static tf_node *close_compound(tf_node *node, bool head_failed) {
  if (head_failed) node->kind = TF_NODE_BROKEN;
  return node;
}

/* ---- Compound statements ---- */
static void refuse_loop_else(tf_parser *p) {
  if (!tf_parser_at_keyword(p, TF_KW_ELSE)) return;
  tf_report(p->context, tf_parser_loc(p, tf_parser_token(p)), SYNTAX_UNSUPPORTED, "'else' of a loop",
            "; write what follows the loop behind it");
  p->at++;
  (void)tf_parse_block(p, "after 'else'");
}

/* What a loop or a scope binds: a name, which Python lets stand in parentheses. */
static const char *parse_target(tf_parser *p, const char *where, tf_loc *loc) {
  unsigned open = 0;
  while (tf_parser_accept(p, TF_PUNCT_LPAREN))
    open++;
  const char *name = tf_parser_name(p, where, loc);
  while (!p->failed && open-- > 0)
    tf_parser_expect(p, TF_PUNCT_RPAREN, "after the name");
  return name;
}

/* From the range or condition on. */
static tf_node *parse_loop(tf_parser *p, tf_node *node, const char *where) {
  node->block.head = tf_parse_expr(p);
  tf_parser_close(p, node);
  bool failed = p->failed;
  node->block.body = tf_parse_block(p, where);
  refuse_loop_else(p);
  return close_compound(node, failed);
}

static tf_node *parse_for(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_FOR, tf_parser_token(p));
  p->at++;
  node->block.name = parse_target(p, "after 'for'", &node->block.name_loc);
  if (!p->failed && tf_parser_at(p, TF_PUNCT_COMMA)) (void)refuse(p, "a loop over several names", "; use one name");
  if (!p->failed && !tf_parser_accept_keyword(p, TF_KW_IN)) tf_parser_unexpected(p, "'in' after the loop's name");
  return parse_loop(p, node, "after the head of 'for'");
}

static tf_node *parse_while(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_WHILE, tf_parser_token(p));
  p->at++;
  return parse_loop(p, node, "after the condition of 'while'");
}

static tf_node *parse_if(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_IF, tf_parser_token(p));
  struct {
    TF_VEC(tf_clause);
  } clauses = {0};
  bool failed = false;
  do {
    tf_clause clause = {.loc = tf_parser_loc(p, tf_parser_token(p))};
    p->at++;
    clause.test = tf_parse_expr(p);
    if (!clauses.count) tf_parser_close(p, node);
    failed |= p->failed;
    clause.body = tf_parse_block(p, "after the condition of 'if'");
    TF_VEC_PUSH(p->arena, &clauses, clause);
  } while (tf_parser_at_keyword(p, TF_KW_ELIF));
  if (tf_parser_at_keyword(p, TF_KW_ELSE)) {
    p->at++;
    node->if_.has_else = true;
    node->if_.otherwise = tf_parse_block(p, "after 'else'");
  }
  node->if_.count = (unsigned)clauses.count;
  node->if_.clauses = clauses.items;
  return close_compound(node, failed);
}

#define MAX_WITH_ITEMS 4 /* each nests what follows it one deeper */

/* Whether a parenthesis opens here that holds all of the head, `with (MESH as NAME):`, and not a mesh alone. */
static bool at_parenthesised_items(const tf_parser *p) {
  if (!tf_parser_at(p, TF_PUNCT_LPAREN)) return false;
  const tf_token *token = tf_parser_token(p);
  bool named = false;
  for (unsigned depth = 0; token->kind != TF_TOKEN_END && token->kind != TF_TOKEN_NEWLINE; token++) {
    bool op = token->kind == TF_TOKEN_OP;
    depth += op && (token->id == TF_PUNCT_LPAREN || token->id == TF_PUNCT_LBRACKET || token->id == TF_PUNCT_LBRACE);
    depth -= op && (token->id == TF_PUNCT_RPAREN || token->id == TF_PUNCT_RBRACKET || token->id == TF_PUNCT_RBRACE);
    named |= depth == 1 && token->kind == TF_TOKEN_KEYWORD && token->id == TF_KW_AS;
    if (depth == 0) break;
  }
  if (token->kind != TF_TOKEN_OP) return false;
  return named && token[1].kind == TF_TOKEN_OP && token[1].id == TF_PUNCT_COLON;
}

static tf_node *parse_with_item(tf_parser *p, const tf_token *first) {
  tf_node *node = tf_parser_node(p, TF_NODE_WITH, first);
  node->block.head = tf_parse_expr(p);
  if (!p->failed && !tf_parser_accept_keyword(p, TF_KW_AS)) tf_parser_unexpected(p, "'as NAME' after the mesh");
  node->block.name = parse_target(p, "after 'as'", &node->block.name_loc);
  return tf_parser_close(p, node);
}

/* with A as a, B as b: is with A as a: with B as b: */
static tf_node *parse_with(tf_parser *p) {
  tf_node *items[MAX_WITH_ITEMS];
  const tf_token *first = tf_parser_token(p);
  unsigned count = 0;
  p->at++;
  bool open = at_parenthesised_items(p);
  p->at += open;
  do {
    if (open && count && tf_parser_at(p, TF_PUNCT_RPAREN)) break;
    if (count == MAX_WITH_ITEMS) {
      (void)refuse(p, "a fifth mesh in one 'with'", "; nest another 'with'");
      break;
    }
    items[count] = parse_with_item(p, count ? tf_parser_token(p) : first);
  } while (++count && tf_parser_accept(p, TF_PUNCT_COMMA));
  if (open) tf_parser_expect(p, TF_PUNCT_RPAREN, "after the meshes");
  bool failed = p->failed;
  tf_block_syntax body = tf_parse_block(p, "after the head of 'with'");
  for (unsigned i = count; i-- > 0;) {
    items[i]->block.body = body;
    body = (tf_block_syntax){1, tf_arena_copy(p->arena, &items[i], sizeof items[i])};
  }
  return close_compound(items[0], failed);
}

static bool at_word(const tf_parser *p, const char *word) {
  const tf_token *token = tf_parser_token(p);
  return token->kind == TF_TOKEN_NAME && token->end - token->start == strlen(word) &&
         memcmp(p->text + token->start, word, token->end - token->start) == 0;
}

/* `match` is a name unless a subject follows it and the line ends in a colon. */
static bool at_match(const tf_parser *p) {
  if (!at_word(p, "match")) return false;
  const tf_token *token = tf_parser_token(p) + 1, *last = token;
  bool subject = token->kind == TF_TOKEN_NAME || token->kind == TF_TOKEN_STRING || token->kind == TF_TOKEN_INT ||
                 (token->kind == TF_TOKEN_OP && (token->id == TF_PUNCT_LPAREN || token->id == TF_PUNCT_LBRACKET));
  if (!subject) return false;
  for (; token->kind != TF_TOKEN_NEWLINE && token->kind != TF_TOKEN_END; token++)
    last = token;
  return last->kind == TF_TOKEN_OP && last->id == TF_PUNCT_COLON;
}

static tf_clause parse_case(tf_parser *p) {
  tf_clause clause = {.loc = tf_parser_loc(p, tf_parser_token(p))};
  p->at++;
  clause.test = tf_parse_expr(p);
  if (!p->failed && tf_parser_at_keyword(p, TF_KW_IF))
    (void)refuse(p, "a guard of a case", "; a case is a range of a DimVar");
  if (p->failed) clause.test = tf_parser_error_node(p);
  clause.body = tf_parse_block(p, "after the pattern of 'case'");
  return clause;
}

static tf_node *parse_match(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_MATCH, tf_parser_token(p));
  struct {
    TF_VEC(tf_clause);
  } cases = {0};
  p->at++;
  node->match.subject = tf_parse_expr(p);
  tf_parser_close(p, node);
  bool failed = p->failed;
  tf_parser_expect(p, TF_PUNCT_COLON, "after the subject of 'match'");
  failed |= p->failed;
  skip_line(p);
  p->failed = false;
  if (tf_parser_token(p)->kind != TF_TOKEN_INDENT) {
    if (!failed) tf_report(p->context, node->loc, SYNTAX_BLOCK, "after the subject of 'match'");
    return close_compound(node, true);
  }
  p->at++;
  while (tf_parser_token(p)->kind != TF_TOKEN_DEDENT && tf_parser_token(p)->kind != TF_TOKEN_END) {
    if (at_word(p, "case")) {
      TF_VEC_PUSH(p->arena, &cases, parse_case(p));
    } else {
      tf_parser_unexpected(p, "'case'");
      failed = true;
      tf_parser_recover(p);
    }
  }
  if (tf_parser_token(p)->kind == TF_TOKEN_DEDENT) p->at++;
  node->match.count = (unsigned)cases.count;
  node->match.cases = cases.items;
  return close_compound(node, failed);
}

/* try, async and the like: one report for the whole construct, its blocks read for faults of their own. */
static tf_node *parse_foreign(tf_parser *p, const char *what, const char *instead) {
  tf_node *node = refuse(p, what, instead);
  tf_parser_recover(p);
  while (tf_parser_at_keyword(p, TF_KW_EXCEPT) || tf_parser_at_keyword(p, TF_KW_FINALLY) ||
         tf_parser_at_keyword(p, TF_KW_ELSE))
    tf_parser_recover(p);
  return node;
}

/* Null if no compound statement begins here. */
static tf_node *parse_compound(tf_parser *p) {
  if (tf_parser_at(p, TF_PUNCT_AT)) return tf_parse_decorated(p);
  if (at_match(p)) return parse_match(p);
  if (tf_parser_token(p)->kind != TF_TOKEN_KEYWORD) return NULL;
  switch ((tf_keyword)tf_parser_token(p)->id) {
  case TF_KW_FOR:
    return parse_for(p);
  case TF_KW_WHILE:
    return parse_while(p);
  case TF_KW_IF:
    return parse_if(p);
  case TF_KW_WITH:
    return parse_with(p);
  case TF_KW_DEF:
  case TF_KW_CLASS:
    return tf_parse_decorated(p);
  case TF_KW_TRY:
    return parse_foreign(p, "'try'", "; nothing is raised here, T.abort stops");
  case TF_KW_ASYNC:
    return parse_foreign(p, "'async'", "");
  case TF_KW_ELIF:
  case TF_KW_ELSE:
  case TF_KW_EXCEPT:
  case TF_KW_FINALLY: {
    tf_node *node = broken(p);
    tf_parser_unexpected(p, "a statement");
    tf_parser_recover(p);
    return node;
  }
  default:
    return NULL;
  }
}

/* ---- Simple statements ---- */
static const char *dotted_name(tf_parser *p) {
  tf_string path;
  tf_string_init(&path, p->arena);
  while (tf_parser_at(p, TF_PUNCT_DOT) || tf_parser_at(p, TF_PUNCT_ELLIPSIS)) { /* a relative import */
    tf_string_puts(&path, tf_operator_text((tf_operator)tf_parser_token(p)->id));
    p->at++;
  }
  bool relative = path.length > 0;
  if (relative && tf_parser_at_keyword(p, TF_KW_IMPORT)) return tf_context_intern(p->context, path.text, path.length);
  do {
    const char *name = tf_parser_name(p, "in the import", NULL);
    if (!name) return NULL;
    if (path.length && path.text[path.length - 1] != '.') tf_string_puts(&path, ".");
    tf_string_puts(&path, name);
  } while (tf_parser_accept(p, TF_PUNCT_DOT));
  return tf_context_intern(p->context, path.text, path.length);
}

static const char *parse_alias(tf_parser *p) {
  return tf_parser_accept_keyword(p, TF_KW_AS) ? tf_parser_name(p, "after 'as'", NULL) : NULL;
}

typedef struct import_vec {
  TF_VEC(tf_import_name);
} import_vec;

static void parse_from(tf_parser *p, import_vec *names) {
  const char *module = dotted_name(p);
  if (!p->failed && !tf_parser_accept_keyword(p, TF_KW_IMPORT)) tf_parser_unexpected(p, "'import'");
  if (tf_parser_accept(p, TF_PUNCT_MUL)) return;
  bool open = tf_parser_accept(p, TF_PUNCT_LPAREN);
  do {
    if (open && names->count && tf_parser_at(p, TF_PUNCT_RPAREN)) break;
    const char *name = tf_parser_name(p, "in the import", NULL);
    tf_import_name item = {module, name, parse_alias(p)};
    TF_VEC_PUSH(p->arena, names, item);
  } while (tf_parser_accept(p, TF_PUNCT_COMMA));
  if (open) tf_parser_expect(p, TF_PUNCT_RPAREN, "after the imported names");
}

static tf_node *parse_import(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_IMPORT, tf_parser_token(p));
  import_vec names = {0};
  bool from = tf_parser_at_keyword(p, TF_KW_FROM);
  p->at++;
  if (from) {
    parse_from(p, &names);
  } else {
    do {
      const char *module = dotted_name(p);
      tf_import_name item = {module, NULL, parse_alias(p)};
      TF_VEC_PUSH(p->arena, &names, item);
    } while (tf_parser_accept(p, TF_PUNCT_COMMA));
  }
  node->import.count = (unsigned)names.count;
  node->import.names = names.items;
  return tf_parser_close(p, node);
}

static tf_node *parse_return(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_RETURN, tf_parser_token(p));
  p->at++;
  if (tf_parser_token(p)->kind != TF_TOKEN_NEWLINE && !tf_parser_at(p, TF_PUNCT_SEMICOLON))
    node->expr = tf_parse_expr_tuple(p);
  return tf_parser_close(p, node);
}

static tf_node *parse_assert(tf_parser *p) {
  tf_node *node = tf_parser_node(p, TF_NODE_ASSERT, tf_parser_token(p));
  p->at++;
  node->assert_.test = tf_parse_expr(p);
  if (tf_parser_accept(p, TF_PUNCT_COMMA)) node->assert_.message = tf_parse_expr(p);
  return tf_parser_close(p, node);
}

static bool at_augmented(const tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  if (token->kind != TF_TOKEN_OP) return false;
  const char *text = tf_operator_text((tf_operator)token->id);
  size_t length = strlen(text);
  bool comparison = token->id == TF_PUNCT_EQ || token->id == TF_PUNCT_NE || token->id == TF_PUNCT_LE ||
                    token->id == TF_PUNCT_GE || token->id == TF_PUNCT_WALRUS;
  return length >= 2 && text[length - 1] == '=' && !comparison;
}

/* `NAME = expr`, after the target was read. A faulty value leaves the name bound, so that its uses are no faults. */
static tf_node *parse_assign(tf_parser *p, tf_node *target) {
  if (target->kind != TF_NODE_NAME) {
    const char *what = target->kind == TF_NODE_TUPLE       ? "assignment to several names"
                       : target->kind == TF_NODE_SUBSCRIPT ? "assignment to an element"
                                                           : "assignment to anything but a name";
    const char *instead =
        target->kind == TF_NODE_SUBSCRIPT ? "; T.store and T.copy write tensors" : "; bind one name a line";
    tf_report(p->context, target->loc, SYNTAX_UNSUPPORTED, what, instead);
    p->failed = true;
    return target;
  }
  tf_node *node = tf_parser_node(p, TF_NODE_ASSIGN, tf_parser_token(p));
  node->start = target->start;
  node->loc = target->loc;
  node->assign.name = target->name;
  node->assign.name_loc = target->loc;
  p->at++;
  node->assign.value = tf_parse_expr_tuple(p);
  if (!p->failed && tf_parser_at(p, TF_PUNCT_ASSIGN)) (void)refuse(p, "a chained assignment", "; bind one name a line");
  if (p->failed) node->assign.value = tf_parser_error_node(p);
  return tf_parser_close(p, node);
}

static tf_node *parse_expr_stmt(tf_parser *p) {
  const tf_token *first = tf_parser_token(p);
  tf_node *expr = tf_parse_expr_tuple(p);
  if (p->failed) return expr;
  if (tf_parser_at(p, TF_PUNCT_ASSIGN)) return parse_assign(p, expr);
  if (at_augmented(p)) return refuse(p, "augmented assignment", "; names do not change, keep state in an rmem tensor");
  if (tf_parser_at(p, TF_PUNCT_COLON)) return refuse(p, "an annotated assignment", "; write NAME = expr");
  tf_node *node = tf_parser_node(p, TF_NODE_EXPR, first);
  node->expr = expr;
  return tf_parser_close(p, node);
}

static tf_node *parse_simple(tf_parser *p) {
  const tf_token *token = tf_parser_token(p);
  if (token->kind != TF_TOKEN_KEYWORD) return parse_expr_stmt(p);
  switch ((tf_keyword)token->id) {
  case TF_KW_IMPORT:
  case TF_KW_FROM:
    return parse_import(p);
  case TF_KW_RETURN:
    return parse_return(p);
  case TF_KW_ASSERT:
    return parse_assert(p);
  case TF_KW_PASS: {
    tf_node *node = tf_parser_node(p, TF_NODE_PASS, token);
    p->at++;
    return tf_parser_close(p, node);
  }
  case TF_KW_BREAK:
  case TF_KW_CONTINUE:
    return refuse(p, token->id == TF_KW_BREAK ? "'break'" : "'continue'", "; put the condition into 'while' or 'if'");
  case TF_KW_DEL:
  case TF_KW_GLOBAL:
  case TF_KW_NONLOCAL:
    return refuse(p, tf_keyword_text((tf_keyword)token->id), "; a name ends with its block");
  case TF_KW_RAISE:
    return refuse(p, "'raise'", "; T.abort stops");
  default:
    return parse_expr_stmt(p);
  }
}

/* One logical line. */
static void parse_line(tf_parser *p, tf_node_vec *out) {
  const tf_token *token = tf_parser_token(p);
  if (token->kind == TF_TOKEN_NEWLINE) { /* left over after a fault */
    p->at++;
    return;
  }
  if (token->kind == TF_TOKEN_INDENT) {
    tf_report(p->context, tf_parser_loc(p, token), SYNTAX_INDENT);
    (void)read_indented(p);
    return;
  }
  tf_node *compound = parse_compound(p);
  if (compound) {
    TF_VEC_PUSH(p->arena, out, compound);
    return;
  }
  do {
    if (tf_parser_token(p)->kind == TF_TOKEN_NEWLINE) break;
    tf_node *node = parse_simple(p);
    if (p->failed && node->kind != TF_NODE_ASSIGN) node = broken(p);
    TF_VEC_PUSH(p->arena, out, node);
  } while (tf_parser_accept(p, TF_PUNCT_SEMICOLON));
  if (!p->failed && tf_parser_token(p)->kind != TF_TOKEN_NEWLINE) tf_parser_unexpected(p, "the end of the line");
  if (p->failed)
    tf_parser_recover(p);
  else
    p->at++;
}

tf_block_syntax tf_parse_file(tf_parser *p) {
  tf_node_vec items = {0};
  while (tf_parser_token(p)->kind != TF_TOKEN_END) {
    if (tf_parser_token(p)->kind == TF_TOKEN_DEDENT)
      p->at++;
    else
      parse_line(p, &items);
  }
  return (tf_block_syntax){(unsigned)items.count, items.items};
}
