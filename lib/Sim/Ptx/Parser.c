/* The module level of PTX: header directives, linkage, variables, functions, debug sections.
 *
 * The parser stops at its first error: PTX comes from compilers, and a second message would mostly be a consequence. */
#include "Sim/Ptx/ParseInternal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  uint8_t bytes;
  char kind;
} types[TF_T_COUNT] = {
    [TF_T_NONE] = {"", 0, 0},
#define T(n, b, k) [TF_T_##n] = {#n, b, (#k)[0]},
#include "Sim/Ptx/Types.def"
#undef T
};

tf_type tf_type_from_name(const char *text, size_t length) {
  for (int t = 1; t < TF_T_COUNT; t++)
    if (strlen(types[t].name) == length && memcmp(types[t].name, text, length) == 0) return (tf_type)t;
  return TF_T_NONE;
}

const char *tf_type_name(tf_type type) {
  return types[type].name;
}

unsigned tf_type_bytes(tf_type type) {
  return types[type].bytes;
}

char tf_type_kind(tf_type type) {
  return types[type].kind;
}

bool tf_ptx_fail(tf_ptx_error *error, uint32_t line, const char *token, size_t token_length, const char *format, ...) {
  if (error->line) return false;
  error->line = line ? line : 1;
  size_t n = token_length < sizeof error->token - 1 ? token_length : sizeof error->token - 1;
  for (size_t i = 0; i < n; i++)
    error->token[i] = (char)((unsigned char)token[i] < ' ' ? ' ' : token[i]);
  error->token[n] = '\0';
  va_list args;
  va_start(args, format);
  (void)vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return false;
}

bool tf_parse_fail(tf_parser *p, const char *format, ...) {
  char text[320];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (p->tok.kind == TF_TOK_END) return tf_ptx_fail(p->error, p->tok.line, "end of text", 11, "%s", text);
  return tf_ptx_fail(p->error, p->tok.line, p->tok.text, p->tok.length, "%s", text);
}

bool tf_parse_no_memory(tf_parser *p) {
  p->error->out_of_memory = true;
  return tf_parse_fail(p, "out of memory");
}

bool tf_parse_unknown(tf_parser *p, const char *text) {
  static const struct {
    const char *name, *what;
  } known[] = {
#define D(name, what) {name, what},
#include "Sim/Ptx/Directives.def"
#undef D
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!tf_parse_at(p, known[i].name)) continue;
    p->error->unsupported = true;
    return tf_parse_fail(p, "'%s' (%s) is not supported by the simulated device", known[i].name, known[i].what);
  }
  return tf_parse_fail(p, "%s", text);
}

void tf_parse_advance(tf_parser *p) {
  p->tok = tf_lexer_next(&p->lexer);
}

bool tf_parse_at(const tf_parser *p, const char *text) {
  return p->tok.kind != TF_TOK_STRING && tf_tok_is(&p->tok, text);
}

bool tf_parse_accept(tf_parser *p, const char *text) {
  if (!tf_parse_at(p, text)) return false;
  tf_parse_advance(p);
  return true;
}

bool tf_parse_expect(tf_parser *p, const char *text, const char *where) {
  return tf_parse_accept(p, text) ? true : tf_parse_fail(p, "expected '%s' %s", text, where);
}

const char *tf_parse_word(tf_parser *p, const char *what) {
  if (p->tok.kind != TF_TOK_WORD) {
    tf_parse_fail(p, "expected %s", what);
    return NULL;
  }
  const char *word = tf_pool_text(&p->module->pool, p->tok.text, p->tok.length);
  if (!word) {
    tf_parse_no_memory(p);
    return NULL;
  }
  tf_parse_advance(p);
  return word;
}

/* "7.8" arrives as a decimal float, "8" would be an integer. */
static bool parse_version(tf_parser *p) {
  unsigned major = 0, minor = 0;
  char text[16] = {0};
  if (p->tok.length < sizeof text) memcpy(text, p->tok.text, p->tok.length);
  if (sscanf(text, "%2u.%1u", &major, &minor) != 2) return tf_parse_fail(p, "expected a PTX version such as 8.0");
  if (major < 1 || major > 99) return tf_parse_fail(p, "no such PTX version");
  p->module->version = major * 10 + minor;
  tf_parse_advance(p);
  return true;
}

static bool check_target(tf_parser *p, const char *text) {
  static const struct {
    unsigned number;
    char suffix;
    unsigned version;
  } targets[] = {
#define T(number, suffix, version) {number, suffix, version},
#include "Sim/Ptx/Targets.def"
#undef T
  };
  const tf_ptx_module *m = p->module;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    if (targets[i].number != m->target || targets[i].suffix != m->target_suffix) continue;
    unsigned least = targets[i].version;
    return m->version >= least ? true
                               : tf_parse_fail(p, "%s came with PTX %u.%u, the module is of %u.%u", text, least / 10,
                                               least % 10, m->version / 10, m->version % 10);
  }
  return tf_parse_fail(p, "no such target: %s", text);
}

static bool parse_target_name(tf_parser *p) {
  char suffix = '\0', rest = '\0';
  unsigned number = 0;
  char text[24] = {0};
  if (p->tok.length < sizeof text) memcpy(text, p->tok.text, p->tok.length);
  if (strncmp(text, "sm_", 3) != 0) return true; /* texmode_unified, map_f64_to_f32, debug: no effect here */
  int n = sscanf(text, "sm_%4u%c%c", &number, &suffix, &rest);
  bool ok = n == 1 || (n == 2 && (suffix == 'a' || suffix == 'f'));
  if (!ok) return tf_parse_fail(p, "expected a target such as sm_80 or sm_90a");
  p->module->target = number;
  p->module->target_suffix = suffix;
  memcpy(p->module->target_name, text, sizeof text);
  return check_target(p, text);
}

static bool parse_target(tf_parser *p) {
  do {
    if (p->tok.kind != TF_TOK_WORD) return tf_parse_fail(p, "expected a target name");
    if (!parse_target_name(p)) return false;
    tf_parse_advance(p);
  } while (tf_parse_accept(p, ","));
  return p->module->target ? true : tf_parse_fail(p, "a .target directive must name an architecture such as sm_80");
}

static bool parse_address_size(tf_parser *p) {
  if (!(tf_parse_at(p, "64"))) return tf_parse_fail(p, "only .address_size 64 is supported");
  p->module->address_size = 64;
  tf_parse_advance(p);
  return true;
}

bool tf_ptx_parse_file(tf_parser *p) {
  uint64_t number;
  if (!tf_parse_uint(p, 1u << 20, "a file number", &number)) return false;
  if (p->tok.kind != TF_TOK_STRING) return tf_parse_fail(p, "expected a file name in quotes");
  size_t old = p->file_count;
  if (!tf_grow((void **)&p->files, &p->file_cap, number + 1, sizeof *p->files)) return tf_parse_no_memory(p);
  if (number >= old) {
    memset(p->files + old, 0, (number + 1 - old) * sizeof *p->files);
    p->file_count = number + 1;
  }
  p->files[number] = tf_pool_text(&p->module->pool, p->tok.text, p->tok.length);
  tf_parse_advance(p);
  for (int i = 0; i < 2 && tf_parse_accept(p, ","); i++)
    if (!tf_parse_uint(p, UINT64_MAX, "a time stamp or size", &number)) return false;
  return true;
}

bool tf_parse_loc(tf_parser *p) {
  uint64_t file, line, column;
  if (!tf_parse_uint(p, 1u << 20, "a file number", &file) || !tf_parse_uint(p, UINT32_MAX, "a line", &line) ||
      !tf_parse_uint(p, UINT32_MAX, "a column", &column))
    return false;
  while (tf_parse_accept(p, ",")) {
    if (tf_parse_accept(p, "function_name")) {
      if (!tf_parse_word(p, "a label")) return false;
      tf_const offset;
      if (tf_parse_accept(p, "+") && !tf_parse_const(p, &offset)) return false;
    } else if (tf_parse_accept(p, "inlined_at")) {
      uint64_t f, l, c;
      if (!tf_parse_uint(p, 1u << 20, "a file number", &f) || !tf_parse_uint(p, UINT32_MAX, "a line", &l) ||
          !tf_parse_uint(p, UINT32_MAX, "a column", &c))
        return false;
    } else
      return tf_parse_fail(p, "expected function_name or inlined_at");
  }
  const tf_ptx_loc *last = p->loc ? &p->locs[p->loc] : NULL;
  tf_ptx_loc loc = {(uint32_t)file, (uint32_t)line, false};
  if (line == 0 && (!last || last->near)) return true;
  if (line == 0) loc = (tf_ptx_loc){last->file, last->line, true};
  if (!tf_grow((void **)&p->locs, &p->loc_cap, p->loc_count + 1, sizeof *p->locs)) return tf_parse_no_memory(p);
  p->locs[p->loc_count] = loc;
  p->loc = (uint32_t)p->loc_count++;
  return true;
}

/* Debug information is data for debuggers: skipped as balanced braces. */
bool tf_parse_section(tf_parser *p) {
  if (p->tok.kind != TF_TOK_DOT && p->tok.kind != TF_TOK_WORD) return tf_parse_fail(p, "expected a section name");
  tf_parse_advance(p);
  if (!tf_parse_expect(p, "{", "after a section name")) return false;
  for (unsigned open = 1; open;) {
    if (p->tok.kind == TF_TOK_END) return tf_parse_fail(p, "unterminated .section");
    if (tf_parse_at(p, "{")) open++;
    if (tf_parse_at(p, "}")) open--;
    tf_parse_advance(p);
  }
  return true;
}

bool tf_parse_pragma(tf_parser *p) {
  do {
    if (p->tok.kind != TF_TOK_STRING) return tf_parse_fail(p, "expected a pragma in quotes");
    tf_parse_advance(p);
  } while (tf_parse_accept(p, ","));
  return tf_parse_expect(p, ";", "after .pragma");
}

/* `.alias f, g;`: f is another name of g. */
static bool parse_alias(tf_parser *p) {
  uint32_t index;
  const char *alias = tf_parse_word(p, "a function name");
  if (!alias || !tf_parse_expect(p, ",", "after the alias")) return false;
  tf_name *target = p->tok.kind == TF_TOK_WORD ? tf_parse_lookup(p, p->tok.text, p->tok.length, &index) : NULL;
  if (!target || !target->func) return tf_parse_fail(p, "an alias must name a function declared before");
  tf_name *n = tf_scope_find(&p->global, alias, strlen(alias));
  if (!n) n = tf_scope_add(p, &p->global, alias);
  if (!n) return false;
  if (n->var || n->reg) return tf_parse_fail(p, "'%s' is no function", alias);
  n->func = target->func;
  tf_parse_advance(p);
  return tf_parse_expect(p, ";", "after .alias");
}

static bool parse_linkage(tf_parser *p, tf_linkage *l) {
  bool any = false;
  for (;; any = true) {
    if (tf_parse_accept(p, ".extern"))
      l->is_extern = true;
    else if (tf_parse_accept(p, ".visible"))
      l->is_visible = true;
    else if (tf_parse_accept(p, ".weak"))
      l->is_weak = true;
    else if (tf_parse_accept(p, ".common"))
      l->is_common = true;
    else
      return any;
  }
}

static bool parse_item(tf_parser *p) {
  tf_linkage linkage = {0};
  tf_space space;
  if (tf_parse_accept(p, ".file")) return tf_ptx_parse_file(p);
  if (tf_parse_accept(p, ".loc")) return tf_parse_loc(p);
  if (tf_parse_accept(p, ".section")) return tf_parse_section(p);
  if (tf_parse_accept(p, ".pragma")) return tf_parse_pragma(p);
  if (tf_parse_accept(p, ".alias")) return parse_alias(p);
  (void)parse_linkage(p, &linkage);
  if (tf_parse_accept(p, ".entry")) return tf_parse_function(p, true, linkage);
  if (tf_parse_accept(p, ".func")) return tf_parse_function(p, false, linkage);
  if (tf_parse_space(&p->tok, &space) &&
      (space == TF_SPACE_GLOBAL || space == TF_SPACE_CONST || space == TF_SPACE_SHARED)) {
    tf_parse_advance(p);
    return tf_parse_variables(p, space, linkage);
  }
  return tf_parse_unknown(p, "expected a function, a variable or a directive at module level");
}

static bool parse_header(tf_parser *p) {
  if (!tf_parse_expect(p, ".version", "as the first directive of a module") || !parse_version(p)) return false;
  if (!tf_parse_expect(p, ".target", "after .version") || !parse_target(p)) return false;
  p->module->address_size = 64;
  return tf_parse_accept(p, ".address_size") ? parse_address_size(p) : true;
}

static bool parse_module(tf_parser *p) {
  if (!tf_ptx_scope_init(p, &p->global, NULL)) return false;
  p->scope = &p->global;
  p->vars_tail = &p->module->vars;
  p->funcs_tail = &p->module->funcs;
  p->loc_count = 1; /* entry 0: no location */
  if (!tf_grow((void **)&p->locs, &p->loc_cap, 1, sizeof *p->locs)) return tf_parse_no_memory(p);
  tf_parse_advance(p);
  if (!parse_header(p)) return false;
  while (p->tok.kind != TF_TOK_END)
    if (!parse_item(p)) return false;
  return true;
}

static bool keep_tables(tf_parser *p) {
  tf_ptx_module *m = p->module;
  m->locs = tf_pool_alloc(&m->pool, p->loc_count * sizeof *m->locs);
  m->files = tf_pool_alloc(&m->pool, (p->file_count + 1) * sizeof *m->files);
  if (!m->locs || !m->files) return tf_parse_no_memory(p);
  memcpy(m->locs, p->locs, p->loc_count * sizeof *m->locs);
  m->locs[0] = (tf_ptx_loc){0, 0, false};
  if (p->file_count) memcpy(m->files, p->files, p->file_count * sizeof *m->files);
  m->loc_count = p->loc_count;
  m->file_count = p->file_count;
  return true;
}

tf_ptx_module *tf_ptx_parse(const char *text, size_t length, tf_ptx_error *error) {
  *error = (tf_ptx_error){0};
  tf_parser p = {.error = error, .module = calloc(1, sizeof *p.module)};
  if (!p.module) {
    error->out_of_memory = true;
    tf_ptx_fail(error, 1, "", 0, "out of memory");
    return NULL;
  }
  tf_lexer_init(&p.lexer, text, length);
  bool ok = parse_module(&p) && keep_tables(&p);
  free(p.stmts);
  free(p.scopes);
  free(p.locs);
  free(p.files);
  if (ok) return p.module;
  tf_ptx_module_free(p.module);
  return NULL;
}

void tf_ptx_module_free(tf_ptx_module *module) {
  if (!module) return;
  tf_pool_free(&module->pool);
  free(module);
}
