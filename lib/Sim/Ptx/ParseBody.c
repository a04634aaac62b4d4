/* Function bodies: nested scopes, declarations, labels, statements and their operands. */
#include "Sim/Ptx/ParseInternal.h"

#include <stdlib.h>
#include <string.h>

static bool parse_operand(tf_parser *p, tf_ptx_operand *o);

/* A list of operands up to `close`, moved into the pool. */
static bool parse_list(tf_parser *p, const char *close, tf_ptx_operand **out, uint32_t *count) {
  tf_ptx_operand *list = NULL;
  size_t cap = 0, n = 0;
  bool ok = true;
  if (!tf_parse_accept(p, close)) {
    do {
      ok = tf_grow((void **)&list, &cap, n + 1, sizeof *list) ? true : tf_parse_no_memory(p);
      ok = ok && parse_operand(p, &list[n]);
      n++;
    } while (ok && tf_parse_accept(p, ","));
    ok = ok && tf_parse_expect(p, close, "after a list of operands");
  }
  if (ok && n) {
    *out = tf_pool_alloc(&p->module->pool, n * sizeof **out);
    ok = *out ? true : tf_parse_no_memory(p);
  }
  if (ok && n) memcpy(*out, list, n * sizeof **out);
  *count = (uint32_t)n;
  free(list);
  return ok;
}

static void resolve(const tf_parser *p, tf_ptx_operand *o, const char *text, size_t length) {
  tf_name *n = tf_parse_lookup(p, text, length, &o->reg_index);
  if (!n) return;
  o->reg = n->reg;
  o->var = n->var;
  o->func = n->func;
}

/* name, name.x (special register or vector component), name+4 */
static bool parse_name(tf_parser *p, tf_ptx_operand *o) {
  tf_tok t = p->tok;
  o->kind = tf_tok_is(&t, "_") ? TF_OP_SINK : TF_OP_NAME;
  resolve(p, o, t.text, t.length);
  tf_parse_advance(p);
  size_t length = t.length;
  bool adjacent = p->tok.kind == TF_TOK_DOT && p->tok.text == t.text + t.length;
  if (adjacent && o->reg && o->reg->vector > 1) {
    const char *at = p->tok.length == 2 ? strchr("xyzwrgba", p->tok.text[1]) : NULL;
    unsigned c = at ? (unsigned)(at - "xyzwrgba") % 4 : 4;
    if (!at || c >= o->reg->vector) return tf_parse_fail(p, "no such component of a vector register");
    o->reg_index = o->reg_index * o->reg->vector + c;
    tf_parse_advance(p);
  } else if (adjacent) { /* %tid.x */
    length += p->tok.length;
    tf_parse_advance(p);
  } else if (o->reg && o->reg->vector > 1) {
    return tf_parse_fail(p, "a vector register needs a component here");
  }
  o->name = tf_pool_text(&p->module->pool, t.text, length);
  return o->name ? true : tf_parse_no_memory(p);
}

static bool parse_offset(tf_parser *p, tf_ptx_operand *o) {
  tf_const c = {0};
  bool minus = tf_parse_at(p, "-");
  if (!minus && !tf_parse_at(p, "+")) return true;
  tf_parse_advance(p);
  if (!tf_parse_const(p, &c)) return false;
  if (c.is_float) return tf_parse_fail(p, "an address takes an integer offset");
  o->value = (int64_t)(minus ? 0 - c.bits : c.bits);
  return true;
}

static bool parse_number(tf_parser *p, tf_ptx_operand *o) {
  tf_tok t = p->tok;
  tf_const c;
  if (!tf_parse_const(p, &c)) return false;
  o->kind = !c.is_float ? TF_OP_INT : c.is_f32 ? TF_OP_F32 : TF_OP_F64;
  o->value = (int64_t)c.bits;
  o->name = tf_pool_text(&p->module->pool, t.text, t.length);
  return o->name ? true : tf_parse_no_memory(p);
}

static bool parse_address(tf_parser *p, tf_ptx_operand *o) {
  bool word = p->tok.kind == TF_TOK_WORD && !tf_parse_at(p, "WARP_SZ");
  if (word ? !parse_name(p, o) || !parse_offset(p, o) : !parse_number(p, o)) return false;
  if (!word && o->kind != TF_OP_INT) return tf_parse_fail(p, "an address must be an integer");
  if (!word) o->name = NULL;
  o->kind = TF_OP_ADDR;
  if (tf_parse_accept(p, ",")) { /* tensor coordinates */
    if (!tf_parse_expect(p, "{", "before coordinates") || !parse_list(p, "}", &o->items, &o->item_count)) return false;
  }
  return tf_parse_expect(p, "]", "after an address");
}

static bool parse_simple(tf_parser *p, tf_ptx_operand *o) {
  if (tf_parse_accept(p, "[")) return parse_address(p, o);
  if (tf_parse_accept(p, "{")) {
    o->kind = TF_OP_VEC;
    return parse_list(p, "}", &o->items, &o->item_count);
  }
  if (p->in_call && tf_parse_accept(p, "(")) { /* elsewhere a parenthesis begins a constant */
    o->kind = TF_OP_GROUP;
    return parse_list(p, ")", &o->items, &o->item_count);
  }
  if (tf_parse_accept(p, "!")) {
    o->negated = true;
    return p->tok.kind == TF_TOK_WORD ? parse_name(p, o) : tf_parse_fail(p, "expected a predicate after '!'");
  }
  if (p->tok.kind == TF_TOK_WORD && !tf_parse_at(p, "WARP_SZ")) return parse_name(p, o) && parse_offset(p, o);
  return parse_number(p, o);
}

static bool parse_operand(tf_parser *p, tf_ptx_operand *o) {
  *o = (tf_ptx_operand){.line = p->tok.line};
  if (p->depth >= TF_PARSE_DEPTH) return tf_parse_fail(p, "operands are nested too deeply");
  p->depth++;
  bool ok = parse_simple(p, o);
  p->depth--;
  if (!ok || !tf_parse_at(p, "|") || (o->kind != TF_OP_NAME && o->kind != TF_OP_SINK)) return ok;
  tf_parse_advance(p);
  tf_ptx_operand *pair = tf_pool_alloc(&p->module->pool, 2 * sizeof *pair);
  if (!pair) return tf_parse_no_memory(p);
  pair[0] = *o;
  pair[1].line = p->tok.line;
  *o = (tf_ptx_operand){.kind = TF_OP_PAIR, .line = pair[0].line, .name = pair[0].name, .items = pair, .item_count = 2};
  return p->tok.kind == TF_TOK_WORD ? parse_name(p, &pair[1]) : tf_parse_fail(p, "expected a register after '|'");
}

static bool parse_mods(tf_parser *p, tf_ptx_stmt *s) {
  const char *mods[TF_PTX_MODS];
  while (p->tok.kind == TF_TOK_DOT) {
    if (s->mod_count == TF_PTX_MODS) return tf_parse_fail(p, "too many modifiers");
    mods[s->mod_count] = tf_pool_text(&p->module->pool, p->tok.text + 1, p->tok.length - 1);
    if (!mods[s->mod_count++]) return tf_parse_no_memory(p);
    tf_parse_advance(p);
  }
  s->mods = tf_pool_alloc(&p->module->pool, (s->mod_count + 1) * sizeof *s->mods);
  if (!s->mods) return tf_parse_no_memory(p);
  memcpy(s->mods, mods, s->mod_count * sizeof *mods);
  return true;
}

static bool parse_guard(tf_parser *p, tf_ptx_stmt *s) {
  if (!tf_parse_accept(p, "@")) return true;
  s->guard = tf_pool_alloc(&p->module->pool, sizeof *s->guard);
  if (!s->guard) return tf_parse_no_memory(p);
  s->guard->line = p->tok.line;
  s->guard->negated = tf_parse_accept(p, "!");
  if (p->tok.kind != TF_TOK_WORD) return tf_parse_fail(p, "expected a predicate register");
  if (!parse_name(p, s->guard)) return false;
  if (!s->guard->reg || s->guard->reg->type != TF_T_pred)
    return tf_ptx_fail(p->error, s->line, s->guard->name, strlen(s->guard->name), "'%s' is no predicate register",
                       s->guard->name);
  return true;
}

bool tf_parse_statement(tf_parser *p) {
  tf_ptx_stmt s = {.line = p->tok.line, .loc = p->loc, .scope = p->scope->number};
  if (!parse_guard(p, &s)) return false;
  s.line = p->tok.line;
  s.opcode = tf_parse_word(p, "an instruction");
  if (!s.opcode || !parse_mods(p, &s)) return false;
  p->in_call = strcmp(s.opcode, "call") == 0;
  if (!parse_list(p, ";", &s.operands, &s.operand_count)) return false;
  if (!tf_grow((void **)&p->stmts, &p->stmt_cap, p->stmt_count + 1, sizeof s)) return tf_parse_no_memory(p);
  p->stmts[p->stmt_count++] = s;
  return true;
}

static bool open_scope(tf_parser *p, tf_scope *scope) {
  if (!tf_ptx_scope_init(p, scope, p->scope)) return false;
  if (!tf_grow((void **)&p->scopes, &p->scope_cap, p->scope_count + 1, sizeof *p->scopes)) return tf_parse_no_memory(p);
  p->scopes[p->scope_count] = p->scope_count ? p->scope->number : 0;
  scope->number = p->scope_count++;
  p->scope = scope;
  return true;
}

static bool parse_targets(tf_parser *p, tf_ptx_label *label, bool functions) {
  size_t cap = 0;
  tf_ptx_label_list *list = tf_pool_alloc(&p->module->pool, sizeof *list);
  if (!list) return tf_parse_no_memory(p);
  do {
    if (list->count == cap) {
      cap = cap ? cap * 2 : 16;
      const char **grown = tf_pool_alloc(&p->module->pool, cap * sizeof *grown);
      if (!grown) return tf_parse_no_memory(p);
      if (list->count) memcpy(grown, list->names, list->count * sizeof *grown);
      list->names = grown;
    }
    const char *name = tf_parse_word(p, "a label");
    if (!name) return false;
    uint32_t index;
    const tf_name *known = functions ? tf_parse_lookup(p, name, strlen(name), &index) : NULL;
    if (functions && (!known || !known->func)) return tf_parse_fail(p, "no function '%s' was declared", name);
    list->names[list->count++] = name;
  } while (tf_parse_accept(p, ","));
  label->targets = list;
  return tf_parse_expect(p, ";", "after a list of targets");
}

static bool parse_prototype(tf_parser *p, tf_ptx_label *label) {
  label->prototype = tf_pool_alloc(&p->module->pool, sizeof *label->prototype);
  if (!label->prototype) return tf_parse_no_memory(p);
  if (!tf_parse_signature(p, label->prototype, true)) return false;
  label->prototype->noreturn = tf_parse_accept(p, ".noreturn");
  return tf_parse_expect(p, ";", "after a prototype");
}

static bool parse_label(tf_parser *p, const char *name, uint32_t line) {
  tf_ptx_label *label = tf_pool_alloc(&p->module->pool, sizeof *label);
  if (!label) return tf_parse_no_memory(p);
  *label = (tf_ptx_label){.name = name, .scope = p->scope->number, .line = line, .statement = (uint32_t)p->stmt_count};
  *p->labels_tail = label;
  p->labels_tail = &label->next;
  if (tf_parse_accept(p, ".branchtargets")) return parse_targets(p, label, false);
  if (tf_parse_accept(p, ".calltargets")) return parse_targets(p, label, true);
  if (tf_parse_accept(p, ".callprototype")) return parse_prototype(p, label);
  return true;
}

/* A label is a word followed by a colon; one token of look-ahead on a copy of the lexer tells. */
static bool at_label(const tf_parser *p) {
  if (p->tok.kind != TF_TOK_WORD) return false;
  tf_lexer ahead = p->lexer;
  tf_tok next = tf_lexer_next(&ahead);
  return tf_tok_is(&next, ":");
}

static bool parse_block(tf_parser *p);

static bool parse_directive(tf_parser *p) {
  tf_space space;
  if (tf_parse_accept(p, ".loc")) return tf_parse_loc(p);
  if (tf_parse_accept(p, ".pragma")) return tf_parse_pragma(p);
  if (tf_parse_accept(p, ".file")) return tf_ptx_parse_file(p);
  if (!tf_parse_space(&p->tok, &space)) return tf_parse_unknown(p, "unknown directive in a function");
  tf_parse_advance(p);
  return space == TF_SPACE_REG ? tf_parse_registers(p) : tf_parse_variables(p, space, (tf_linkage){0});
}

static bool parse_element(tf_parser *p) {
  if (tf_parse_at(p, "{")) return parse_block(p);
  if (at_label(p)) {
    uint32_t line = p->tok.line;
    const char *name = tf_parse_word(p, "a label");
    return name && tf_parse_expect(p, ":", "after a label") && parse_label(p, name, line);
  }
  return p->tok.kind == TF_TOK_DOT ? parse_directive(p) : tf_parse_statement(p);
}

static bool parse_block(tf_parser *p) {
  tf_scope scope, *outer = p->scope;
  if (!tf_parse_expect(p, "{", "before a function body")) return false;
  if (p->depth >= TF_PARSE_DEPTH) return tf_parse_fail(p, "blocks are nested too deeply");
  p->depth++;
  bool ok = open_scope(p, &scope);
  while (ok && !tf_parse_accept(p, "}"))
    ok = p->tok.kind == TF_TOK_END ? tf_parse_fail(p, "unterminated function body") : parse_element(p);
  p->depth--;
  p->scope = outer;
  return ok;
}

bool tf_parse_body(tf_parser *p) {
  return parse_block(p);
}
