/* Functions: signature, performance directives, and the body's frame of scopes. */
#include "Sim/Ptx/ParseInternal.h"

#include <string.h>

static bool parse_params(tf_parser *p, bool entry, tf_ptx_var ***list, uint32_t *count) {
  size_t cap = 0;
  if (tf_parse_accept(p, ")")) return true;
  do {
    tf_ptx_var *v = tf_parse_param(p, entry);
    if (!v) return false;
    if (*count == cap) {
      cap = cap ? cap * 2 : 8;
      tf_ptx_var **grown = tf_pool_alloc(&p->module->pool, cap * sizeof(tf_ptx_var *));
      if (!grown) return tf_parse_no_memory(p);
      if (*count) memcpy(grown, *list, *count * sizeof *grown);
      *list = grown;
    }
    (*list)[(*count)++] = v;
  } while (tf_parse_accept(p, ","));
  return tf_parse_expect(p, ")", "after a parameter list");
}

/* (returns) name (params); a prototype has `_` for the name. */
bool tf_parse_signature(tf_parser *p, tf_ptx_func *f, bool prototype) {
  f->line = p->tok.line;
  if (tf_parse_accept(p, ".attribute") && !tf_parse_attribute(p)) return false;
  if (!f->is_entry && tf_parse_accept(p, "(") && !parse_params(p, false, &f->rets, &f->ret_count)) return false;
  f->name = tf_parse_word(p, prototype ? "'_' in a prototype" : "a function name");
  if (!f->name) return false;
  if (tf_parse_accept(p, "(") && !parse_params(p, f->is_entry, &f->params, &f->param_count)) return false;
  return true;
}

static bool parse_dims3(tf_parser *p, uint32_t out[3], const char *what) {
  for (int i = 0; i < 3; i++) {
    uint64_t v = 1;
    if ((i == 0 || tf_parse_accept(p, ",")) && !tf_parse_uint(p, UINT32_MAX, what, &v)) return false;
    out[i] = (uint32_t)v;
  }
  return true;
}

static bool parse_count(tf_parser *p, uint32_t *out, const char *what) {
  uint64_t v;
  if (!tf_parse_uint(p, UINT32_MAX, what, &v)) return false;
  *out = (uint32_t)v;
  return true;
}

static bool parse_directives(tf_parser *p, tf_ptx_func *f) {
  bool ok = true;
  uint32_t ignored;
  while (ok) {
    if (tf_parse_accept(p, ".maxntid"))
      ok = parse_dims3(p, f->maxntid, ".maxntid");
    else if (tf_parse_accept(p, ".reqntid"))
      ok = parse_dims3(p, f->reqntid, ".reqntid");
    else if (tf_parse_accept(p, ".reqnctapercluster"))
      ok = parse_dims3(p, f->reqcluster, ".reqnctapercluster");
    else if (tf_parse_accept(p, ".minnctapersm") || tf_parse_accept(p, ".maxnctapersm"))
      ok = parse_count(p, &f->minnctapersm, ".minnctapersm");
    else if (tf_parse_accept(p, ".maxnreg"))
      ok = parse_count(p, &f->maxnreg, ".maxnreg");
    else if (tf_parse_accept(p, ".maxclusterrank"))
      ok = parse_count(p, &f->maxclusterrank, ".maxclusterrank");
    else if (tf_parse_accept(p, ".explicitcluster"))
      f->explicit_cluster = true;
    else if (tf_parse_accept(p, ".blocksareclusters"))
      f->explicit_cluster = f->blocks_are_clusters = true;
    else if (tf_parse_accept(p, ".abi_preserve") || tf_parse_accept(p, ".abi_preserve_control"))
      ok = parse_count(p, &ignored, "a number of registers");
    else if (tf_parse_accept(p, ".noreturn"))
      f->noreturn = true;
    else if (tf_parse_accept(p, ".pragma"))
      ok = tf_parse_pragma(p);
    else if (tf_parse_accept(p, ".loc"))
      ok = tf_parse_loc(p);
    else
      return true;
  }
  return false;
}

static bool declare_formals(tf_parser *p, tf_ptx_var **list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    tf_ptx_var *v = list[i];
    tf_name *n = tf_scope_add(p, p->scope, v->name);
    if (!n) return false;
    if (v->space == TF_SPACE_REG) { /* a register parameter is a register of the body */
      tf_ptx_reg *r = tf_pool_alloc(&p->module->pool, sizeof *r);
      if (!r) return tf_parse_no_memory(p);
      *r = (tf_ptx_reg){.name = v->name, .type = v->type, .vector = 1};
      n->reg = r;
      *p->regs_tail = r;
      p->regs_tail = &r->next;
    } else {
      n->var = v;
    }
  }
  return true;
}

static bool keep_body(tf_parser *p, tf_ptx_func *f) {
  f->stmts = tf_pool_alloc(&p->module->pool, (p->stmt_count + 1) * sizeof *f->stmts);
  f->scope_parent = tf_pool_alloc(&p->module->pool, (p->scope_count + 1) * sizeof *f->scope_parent);
  if (!f->stmts || !f->scope_parent) return tf_parse_no_memory(p);
  if (p->stmt_count) memcpy(f->stmts, p->stmts, p->stmt_count * sizeof *f->stmts);
  if (p->scope_count) memcpy(f->scope_parent, p->scopes, p->scope_count * sizeof *f->scope_parent);
  f->stmt_count = p->stmt_count;
  f->scope_count = p->scope_count;
  f->has_body = true;
  return true;
}

static bool parse_definition(tf_parser *p, tf_ptx_func *f) {
  tf_scope formals;
  if (!tf_ptx_scope_init(p, &formals, &p->global)) return false;
  p->func = f;
  p->scope = &formals;
  p->func_vars_tail = &f->vars;
  p->regs_tail = &f->regs;
  p->labels_tail = &f->labels;
  p->stmt_count = p->scope_count = 0;
  p->loc = 0;
  bool ok = declare_formals(p, f->rets, f->ret_count) && declare_formals(p, f->params, f->param_count) &&
            tf_parse_body(p) && keep_body(p, f);
  p->func = NULL;
  p->scope = &p->global;
  return ok;
}

/* The function of this name, new or declared before; a definition replaces a prototype's signature. */
static tf_ptx_func *enter_function(tf_parser *p, const tf_ptx_func *seen) {
  tf_name *n = tf_scope_find(&p->global, seen->name, strlen(seen->name));
  if (n && !n->func) {
    tf_ptx_fail(p->error, seen->line, seen->name, strlen(seen->name), "'%s' is declared as a variable before",
                seen->name);
    return NULL;
  }
  if (n) return n->func;
  tf_ptx_func *f = tf_pool_alloc(&p->module->pool, sizeof *f);
  n = f ? tf_scope_add(p, &p->global, seen->name) : NULL;
  if (!n) {
    if (!f) tf_parse_no_memory(p);
    return NULL;
  }
  n->func = f;
  *f = *seen;
  *p->funcs_tail = f;
  p->funcs_tail = &f->next;
  return f;
}

static void adopt(tf_ptx_func *f, const tf_ptx_func *seen) {
  tf_ptx_func *next = f->next;
  bool taken = f->address_taken, visible = f->is_visible;
  *f = *seen;
  f->next = next;
  f->address_taken = taken;
  f->is_visible = visible || seen->is_visible;
}

bool tf_parse_function(tf_parser *p, bool is_entry, tf_linkage linkage) {
  tf_ptx_func seen = {.is_entry = is_entry, .is_extern = linkage.is_extern, .is_weak = linkage.is_weak};
  seen.is_visible = linkage.is_visible;
  if (!tf_parse_signature(p, &seen, false) || !parse_directives(p, &seen)) return false;
  tf_ptx_func *f = enter_function(p, &seen);
  if (!f) return false;
  if (tf_parse_accept(p, ";")) return true;
  if (f->has_body)
    return tf_ptx_fail(p->error, seen.line, seen.name, strlen(seen.name), "function '%s' is defined twice", seen.name);
  adopt(f, &seen);
  return parse_definition(p, f);
}
