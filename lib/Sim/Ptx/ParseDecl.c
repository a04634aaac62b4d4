/* Declarations: variables with their initialisers, registers, parameters. */
#include "Sim/Ptx/ParseInternal.h"

#include <string.h>

/* More than any device holds; keeps sizes far from overflow. */
#define MAX_BYTES ((uint64_t)1 << 33)

bool tf_parse_space(const tf_tok *tok, tf_space *space) {
  static const struct {
    const char *name;
    tf_space space;
  } table[] = {{".reg", TF_SPACE_REG},       {".global", TF_SPACE_GLOBAL}, {".const", TF_SPACE_CONST},
               {".shared", TF_SPACE_SHARED}, {".local", TF_SPACE_LOCAL},   {".param", TF_SPACE_PARAM}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (tf_tok_is(tok, table[i].name)) {
      *space = table[i].space;
      return true;
    }
  return false;
}

typedef struct spec {
  tf_type type;
  uint32_t align;
  uint8_t vector;
} spec;

static bool parse_align(tf_parser *p, uint32_t *align) {
  uint64_t value;
  if (!tf_parse_uint(p, 1u << 20, "an alignment", &value)) return false;
  if (value == 0 || (value & (value - 1))) return tf_parse_fail(p, "an alignment must be a power of two");
  *align = (uint32_t)value;
  return true;
}

/* `.attribute(.managed, .unified(1, 2))`: placement hints without a meaning on one device. */
bool tf_parse_attribute(tf_parser *p) {
  if (!tf_parse_expect(p, "(", "after .attribute")) return false;
  for (unsigned open = 1; open;) {
    if (p->tok.kind == TF_TOK_END || p->tok.kind == TF_TOK_BAD) return tf_parse_fail(p, "unterminated .attribute");
    if (tf_parse_at(p, "(")) open++;
    if (tf_parse_at(p, ")")) open--;
    tf_parse_advance(p);
  }
  return true;
}

/* `.align 8 .v2 .f32` in any order, and `.ptr .global .align 16` of entry parameters. */
static bool parse_spec(tf_parser *p, spec *s) {
  *s = (spec){.vector = 1};
  bool ptr = false;
  for (; p->tok.kind == TF_TOK_DOT;) {
    tf_space ignored;
    tf_type type = tf_type_from_name(p->tok.text + 1, p->tok.length - 1);
    if (tf_parse_accept(p, ".align")) {
      uint32_t align = 1;
      if (!parse_align(p, &align)) return false;
      if (!ptr) s->align = align; /* the pointee's alignment says nothing about the parameter */
    } else if (tf_parse_accept(p, ".attribute")) {
      if (!tf_parse_attribute(p)) return false;
    } else if (tf_parse_at(p, ".v2") || tf_parse_at(p, ".v4")) {
      s->vector = (uint8_t)(p->tok.text[2] - '0');
      tf_parse_advance(p);
    } else if (tf_parse_accept(p, ".ptr")) {
      ptr = true;
    } else if (ptr && tf_parse_space(&p->tok, &ignored)) {
      tf_parse_advance(p);
    } else if (type != TF_T_NONE && s->type == TF_T_NONE) {
      s->type = type;
      tf_parse_advance(p);
    } else {
      return tf_parse_unknown(p, "this cannot stand in a declaration");
    }
  }
  return s->type != TF_T_NONE ? true : tf_parse_fail(p, "expected a type such as .b32 or .f64");
}

static bool parse_dims(tf_parser *p, tf_ptx_var *v, uint64_t *dims, unsigned *count) {
  while (tf_parse_accept(p, "[")) {
    if (*count == 16) return tf_parse_fail(p, "too many dimensions");
    if (tf_parse_accept(p, "]")) {
      if (*count) return tf_parse_fail(p, "only the first dimension may be open");
      v->unsized = true;
      dims[(*count)++] = 0;
      continue;
    }
    uint64_t n;
    if (!tf_parse_uint(p, MAX_BYTES, "an array size", &n)) return false;
    if (!tf_parse_expect(p, "]", "after an array size")) return false;
    dims[(*count)++] = n;
  }
  return true;
}

static bool size_var(tf_parser *p, tf_ptx_var *v, const spec *s, const uint64_t *dims, unsigned count) {
  uint64_t elements = s->vector;
  for (unsigned i = 0; i < count; i++) {
    if (dims[i] && elements > MAX_BYTES / dims[i])
      return tf_parse_fail(p, "variable '%s' is larger than any device's memory", v->name);
    elements *= dims[i];
  }
  v->elements = elements;
  v->bytes = elements * tf_type_bytes(s->type);
  if (v->bytes > MAX_BYTES) return tf_parse_fail(p, "variable '%s' is larger than any device's memory", v->name);
  uint32_t natural = tf_type_bytes(s->type) * s->vector;
  v->align = s->align ? s->align : natural;
  return true;
}

static tf_ptx_var *new_var(tf_parser *p, const char *name, tf_space space, const spec *s) {
  tf_ptx_var *v = tf_pool_alloc(&p->module->pool, sizeof *v);
  if (!v) {
    tf_parse_no_memory(p);
    return NULL;
  }
  v->name = name;
  v->space = space;
  v->type = s->type;
  v->line = p->tok.line;
  v->in_function = p->func != NULL;
  return v;
}

/* Global and const variables of a function's body live as long as the module, so they stand in its list. */
static void append_var(tf_parser *p, tf_ptx_var *v) {
  bool of_function = p->func && v->space != TF_SPACE_GLOBAL && v->space != TF_SPACE_CONST;
  tf_ptx_var ***tail = of_function ? &p->func_vars_tail : &p->vars_tail;
  **tail = v;
  *tail = &v->next;
}

/* A module variable may be declared extern and then defined, or declared again; the later, fuller one wins in place. */
static tf_ptx_var *redeclared(tf_parser *p, const char *name, tf_space space, tf_linkage linkage) {
  tf_name *n = tf_scope_find(p->scope, name, strlen(name));
  if (!n || !n->var || p->func || n->var->space != space) return NULL;
  return n->var->is_extern || linkage.is_extern ? n->var : NULL;
}

static bool declare(tf_parser *p, tf_space space, const spec *s, tf_linkage linkage) {
  const char *name = tf_parse_word(p, "a variable name");
  if (!name) return false;
  tf_ptx_var *v = redeclared(p, name, space, linkage);
  bool again = v != NULL;
  if (!again) {
    v = new_var(p, name, space, s);
    tf_name *n = v ? tf_scope_add(p, p->scope, name) : NULL;
    if (!n) return false;
    n->var = v;
    append_var(p, v);
  }
  v->is_extern = again ? v->is_extern && linkage.is_extern : linkage.is_extern;
  v->is_weak = linkage.is_weak;
  v->is_common = linkage.is_common;
  v->is_visible = linkage.is_visible;
  uint64_t dims[16];
  unsigned count = 0;
  if (!parse_dims(p, v, dims, &count) || !size_var(p, v, s, dims, count)) return false;
  if (!tf_parse_accept(p, "="))
    return v->bytes || v->is_extern ? true : tf_parse_fail(p, "'%s' has no size and is not .extern", name);
  if (space != TF_SPACE_GLOBAL && space != TF_SPACE_CONST)
    return tf_parse_fail(p, "only .global and .const variables may have an initialiser");
  if (!tf_parse_init(p, v, dims, count)) return false;
  if (v->unsized) {
    dims[0] = v->init_count ? v->init[v->init_count - 1].index + 1 : 0;
    uint64_t inner = 1;
    for (unsigned i = 1; i < count; i++)
      inner *= dims[i] ? dims[i] : 1;
    dims[0] = (dims[0] + inner - 1) / inner;
    v->unsized = false;
    return size_var(p, v, s, dims, count);
  }
  return true;
}

bool tf_parse_variables(tf_parser *p, tf_space space, tf_linkage linkage) {
  spec s;
  if (!parse_spec(p, &s)) return false;
  if (s.type == TF_T_pred) return tf_parse_fail(p, "predicates live in registers only");
  do
    if (!declare(p, space, &s, linkage)) return false;
  while (tf_parse_accept(p, ","));
  return tf_parse_expect(p, ";", "after a declaration");
}

static bool declare_register(tf_parser *p, const spec *s) {
  const char *name = tf_parse_word(p, "a register name");
  if (!name) return false;
  tf_ptx_reg *r = tf_pool_alloc(&p->module->pool, sizeof *r);
  if (!r) return tf_parse_no_memory(p);
  *r = (tf_ptx_reg){.name = name, .type = s->type, .vector = s->vector};
  if (tf_parse_accept(p, "<")) {
    uint64_t count;
    bool ok = p->tok.kind == TF_TOK_INT && p->tok.bits <= 1u << 20;
    count = p->tok.bits;
    if (!ok) return tf_parse_fail(p, "a register count must be an integer of at most %u", 1u << 20);
    tf_parse_advance(p);
    if (!tf_parse_expect(p, ">", "after a register count")) return false;
    if (count == 0) return true; /* none */
    r->count = (uint32_t)count;
  }
  tf_name *n = tf_scope_add(p, p->scope, name);
  if (!n) return false;
  n->reg = r;
  *p->regs_tail = r;
  p->regs_tail = &r->next;
  return true;
}

bool tf_parse_registers(tf_parser *p) {
  spec s;
  if (!p->func) return tf_parse_fail(p, "registers are declared inside functions only");
  if (!parse_spec(p, &s)) return false;
  do
    if (!declare_register(p, &s)) return false;
  while (tf_parse_accept(p, ","));
  return tf_parse_expect(p, ";", "after a declaration");
}

tf_ptx_var *tf_parse_param(tf_parser *p, bool entry) {
  tf_space space = TF_SPACE_PARAM;
  if (!tf_parse_space(&p->tok, &space) || (space != TF_SPACE_PARAM && space != TF_SPACE_REG)) {
    tf_parse_fail(p, "expected .param or .reg");
    return NULL;
  }
  tf_parse_advance(p);
  spec s;
  if (!parse_spec(p, &s)) return NULL;
  const char *name = tf_parse_word(p, "a parameter name");
  tf_ptx_var *v = name ? new_var(p, name, space, &s) : NULL;
  uint64_t dims[16];
  unsigned count = 0;
  if (!v || !parse_dims(p, v, dims, &count) || !size_var(p, v, &s, dims, count)) return NULL;
  v->in_function = true;
  v->is_entry_param = entry;
  return v;
}
