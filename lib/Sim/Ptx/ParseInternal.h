/* Shared by the parser's files only. */
#ifndef TF_SIM_PTX_PARSE_INTERNAL_H
#define TF_SIM_PTX_PARSE_INTERNAL_H

#include "Sim/Ptx/Ast.h"
#include "Sim/Ptx/Lexer.h"

typedef struct tf_name {
  struct tf_name *next; /* same bucket */
  const char *name;
  size_t length;
  tf_ptx_reg *reg;
  tf_ptx_var *var;
  tf_ptx_func *func;
} tf_name;

/* One scope of names; scopes form a stack while a function is parsed. */
typedef struct tf_scope {
  struct tf_scope *parent;
  tf_name **buckets;
  size_t bucket_count, count;
  uint32_t number;
} tf_scope;

typedef struct tf_parser {
  tf_lexer lexer;
  tf_tok tok; /* the token not consumed yet */
  tf_ptx_module *module;
  tf_ptx_error *error;
  tf_scope global, *scope;
  tf_ptx_func *func; /* being parsed, or null */
  tf_ptx_var **vars_tail, **func_vars_tail;
  tf_ptx_func **funcs_tail;
  tf_ptx_reg **regs_tail;
  tf_ptx_label **labels_tail;
  size_t stmt_cap, scope_cap, loc_cap, file_cap;
  tf_ptx_stmt *stmts; /* heap while the function grows */
  size_t stmt_count;
  uint32_t *scopes;
  uint32_t scope_count;
  tf_ptx_loc *locs;
  size_t loc_count;
  const char **files;
  size_t file_count;
  uint32_t loc;
  bool in_call;   /* the statement's opcode is call */
  unsigned depth; /* nesting of braces and expressions, bounded */
} tf_parser;

enum { TF_PARSE_DEPTH = 100 };

/* Tokens. */
void tf_parse_advance(tf_parser *p);
bool tf_parse_at(const tf_parser *p, const char *text);
bool tf_parse_accept(tf_parser *p, const char *text);
bool tf_parse_expect(tf_parser *p, const char *text, const char *where);
/* Fails at the current token. */
bool tf_parse_fail(tf_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool tf_parse_no_memory(tf_parser *p);
const char *tf_parse_word(tf_parser *p, const char *what);

/* Names. */
bool tf_ptx_scope_init(tf_parser *p, tf_scope *scope, tf_scope *parent);
tf_name *tf_scope_add(tf_parser *p, tf_scope *scope, const char *name);
tf_name *tf_scope_find(const tf_scope *scope, const char *name, size_t length);
/* Finds a name through all scopes, also as an element of a parametrised register (*index). */
tf_name *tf_parse_lookup(const tf_parser *p, const char *name, size_t length, uint32_t *index);

/* Constant expressions: integer (is_float false) or double. */
typedef struct tf_const {
  bool is_float, is_unsigned;
  bool is_f32; /* written as 0f….: bits are 32 bits */
  uint64_t bits;
} tf_const;
bool tf_parse_const(tf_parser *p, tf_const *out);
/* A non-negative integer constant at most `max`. */
bool tf_parse_uint(tf_parser *p, uint64_t max, const char *what, uint64_t *out);

/* Declarations. `linkage` holds what .extern/.visible/.weak/.common gave. */
typedef struct tf_linkage {
  bool is_extern, is_weak, is_visible, is_common;
} tf_linkage;
bool tf_parse_variables(tf_parser *p, tf_space space, tf_linkage linkage);
bool tf_parse_registers(tf_parser *p);
/* One parameter of a list: `.param .align 4 .b8 name[24]` or `.reg .b32 name`. */
tf_ptx_var *tf_parse_param(tf_parser *p, bool entry);
bool tf_parse_space(const tf_tok *tok, tf_space *space);
bool tf_parse_init(tf_parser *p, tf_ptx_var *var, const uint64_t *dims, unsigned dim_count);

bool tf_parse_function(tf_parser *p, bool is_entry, tf_linkage linkage);
bool tf_parse_signature(tf_parser *p, tf_ptx_func *f, bool prototype);
bool tf_parse_body(tf_parser *p);
bool tf_parse_statement(tf_parser *p);
bool tf_parse_loc(tf_parser *p);
bool tf_parse_attribute(tf_parser *p);
/* Fails at a directive that nothing knows with `text`, or, if it is one of Directives.def, by name. */
bool tf_parse_unknown(tf_parser *p, const char *text);
bool tf_ptx_parse_file(tf_parser *p);
bool tf_parse_section(tf_parser *p);
bool tf_parse_pragma(tf_parser *p);

#endif
