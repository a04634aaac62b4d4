/* Names of variables in printed text. */
#include <string.h>

#include "IR/Text/Lexer.h"
#include "IR/Text/PrintInternal.h"
#include "IR/Text/StaticCall.h"

/* ---- The table: open addressing over pointers ---- */
static size_t slot_of(const tf_print_table *table, const void *key) {
  size_t at = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 20;
  for (at &= table->capacity - 1; table->entries[at].key && table->entries[at].key != key;)
    at = (at + 1) & (table->capacity - 1);
  return at;
}

static void grow(tf_context *context, tf_print_table *table) {
  tf_print_table larger = {.capacity = table->capacity ? table->capacity * 2 : 64, .count = table->count};
  larger.entries = TF_ARENA_ARRAY(&context->arena, tf_print_entry, larger.capacity);
  for (size_t i = 0; i < table->capacity; i++)
    if (table->entries[i].key) larger.entries[slot_of(&larger, table->entries[i].key)] = table->entries[i];
  *table = larger;
}

tf_print_entry *tf_print_entry_of(tf_context *context, tf_print_table *table, const void *key) {
  if (table->count * 2 >= table->capacity) grow(context, table);
  tf_print_entry *entry = &table->entries[slot_of(table, key)];
  if (!entry->key) {
    entry->key = key;
    table->count++;
  }
  return entry;
}

bool tf_print_holds(const tf_print_table *table, const void *key) {
  return table->capacity && table->entries[slot_of(table, key)].key;
}

static tf_print_entry *entry_of_name(tf_printer *p, const char *name) {
  return tf_print_entry_of(p->context, &p->names, tf_context_intern_cstr(p->context, name));
}

/* ---- Names ---- */
void tf_print_release(tf_printer *p, size_t mark) {
  while (p->taken.count > mark)
    entry_of_name(p, p->taken.items[--p->taken.count])->count--;
}

void tf_print_reserve(tf_printer *p, const char *name) {
  entry_of_name(p, name)->count++;
}

/* The name as an identifier: what Python does not allow in one becomes '_'. */
static const char *spellable(tf_printer *p, const char *name) {
  if (tf_is_identifier(name)) return name;
  tf_string out;
  tf_string_init(&out, &p->context->arena);
  bool starts = name && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z') || name[0] == '_');
  if (!starts) tf_string_puts(&out, "_");
  for (; name && *name; name++) {
    char one[2] = {*name, '\0'}, with[3] = {'_', *name, '\0'};
    tf_string_puts(&out, tf_is_identifier(with) ? one : "_");
  }
  return tf_is_identifier(out.text) ? out.text : tf_arena_printf(&p->context->arena, "%s_", out.text);
}

static const char *take(tf_printer *p, const tf_expr *var, const char *name) {
  entry_of_name(p, name)->count++;
  TF_VEC_PUSH(&p->context->arena, &p->taken, name);
  tf_print_entry_of(p->context, &p->vars, var)->name = name;
  return name;
}

const char *tf_print_bind(tf_printer *p, const tf_expr *var) {
  const char *base = spellable(p, var->var.name), *name = base;
  tf_print_entry *entry = entry_of_name(p, base);
  unsigned number = entry->next;
  while (entry_of_name(p, name)->count)
    name = tf_arena_printf(&p->context->arena, "%s_%u", base, ++number);
  entry_of_name(p, base)->next = number;
  return take(p, var, name);
}

const char *tf_print_bind_param(tf_printer *p, const tf_expr *param) {
  const char *name = param->var.name;
  if (!tf_is_identifier(name))
    tf_printer_fail(p, name, "a parameter has it, and it is no identifier");
  else if (tf_print_hides(name, true))
    tf_printer_fail(p, name, "a parameter has it, and the language uses it");
  return take(p, param, name);
}

/* A variable from outside of what is printed keeps its own name. */
const char *tf_print_name(tf_printer *p, const tf_expr *var) {
  const char *name = tf_print_entry_of(p->context, &p->vars, var)->name;
  return name ? name : spellable(p, var->var.name);
}

/* ---- Names of the language ---- */
/* Those that appear without T. in printed text beside the names in capitals. */
static const struct {
  const char *name;
  bool behind_space; /* may stand behind T. as well */
  bool in_functions;
} bare[] = {{"min", true, true},         {"max", true, true},     {"abs", true, true},         {"float", false, true},
            {"range", false, true},      {"launch", false, true}, {"ceildiv", false, true},    {"dim_min", false, true},
            {"dim_max", false, true},    {"len", false, false},   {"prim_func", false, false}, {"module", false, false},
            {"intrinsic", false, false}, {"T", false, true}};

enum { BARE_COUNT = sizeof bare / sizeof *bare };

static size_t find_bare(const char *name) {
  size_t at = 0;
  while (at < BARE_COUNT && strcmp(bare[at].name, name) != 0)
    at++;
  return at;
}

static bool is_printed_bare(const char *name) {
  bool capital = name[0] >= 'A' && name[0] <= 'Z' && name[1] && strncmp(name, "SM", 2) != 0;
  return capital || find_bare(name) < BARE_COUNT;
}

static void reserve_name(void *user, const char *name) {
  if (is_printed_bare(name)) tf_print_reserve(user, name);
}

void tf_print_reserve_language(tf_printer *p) {
  tf_print_reserve(p, "T");
  tf_name_each(reserve_name, p);
}

typedef struct name_search {
  const char *name;
  bool found;
} name_search;

static void compare_name(void *user, const char *name) {
  name_search *search = user;
  search->found |= strcmp(search->name, name) == 0;
}

bool tf_print_uses(const char *name) {
  name_search search = {name, find_bare(name) < BARE_COUNT};
  if (!search.found && is_printed_bare(name)) tf_name_each(compare_name, &search);
  return search.found;
}

bool tf_print_hides(const char *name, bool is_param) {
  size_t at = find_bare(name);
  if (at < BARE_COUNT && (bare[at].behind_space || (is_param && !bare[at].in_functions))) return false;
  return tf_print_uses(name);
}

const char *tf_print_space(tf_printer *p, const char *name) {
  return entry_of_name(p, name)->count > 1 ? "T." : ""; /* once for the language */
}

const char *tf_print_callee(tf_printer *p, const char *name) {
  for (unsigned i = 0; p->function && i < p->function->function.param_count; i++)
    if (strcmp(p->function->function.params[i]->var.name, name) == 0)
      tf_printer_fail(p, name, "a parameter has it where a function of that name is called");
  return name;
}
