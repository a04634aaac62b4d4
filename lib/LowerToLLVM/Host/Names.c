/* Names of TIR in C. TIR takes Python's identifiers: letters of every script, and words that C and C++ have taken.
 *
 *   main, class, exp, …      an underscore behind it
 *   größe                    gr_xc3_xb6_xc3_x9fe: the bytes of UTF-8
 *
 * and more underscores until no other function (or parameter) has the name. */
#include "LowerToLLVM/Host/Object.h"

#include <ctype.h>
#include <string.h>

#include "LowerToLLVM/Host/CNames.h"

/* Whether one of the lines, of words between blanks, has this word. */
static bool has_word(const char *const *lines, size_t count, const char *word, size_t length) {
  for (size_t i = 0; i < count; i++)
    for (const char *at = lines[i]; (at = strstr(at, " ")); at++)
      if (strncmp(at + 1, word, length) == 0 && at[1 + length] == ' ') return true;
  return false;
}

static bool has_beginning(const char *const *beginnings, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
  return false;
}

#define COUNT(list)                  (sizeof(list) / sizeof *(list))
#define HAS_WORD(list, word, length) has_word((list), COUNT(list), (word), (length))
#define HAS_BEGINNING(list, name)    has_beginning((list), COUNT(list), (name))

/* Keywords, and what C keeps for itself: __x, _X. */
static bool is_reserved(const char *name) {
  if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]))) return true;
  return HAS_WORD(c_keywords, name, strlen(name));
}

static bool is_param_taken(const char *name) {
  return is_reserved(name) || HAS_WORD(c_visible, name, strlen(name)) || HAS_BEGINNING(c_visible_families, name);
}

static bool is_function_taken(const char *name) {
  size_t length = strlen(name);
  bool variant = length > 1 && (name[length - 1] == 'f' || name[length - 1] == 'l');
  return is_param_taken(name) || HAS_WORD(c_functions, name, length) || HAS_WORD(c_math_functions, name, length) ||
         (variant && HAS_WORD(c_math_functions, name, length - 1)) || HAS_BEGINNING(c_function_families, name);
}

/* The name in letters, digits and underscores, and not one that is taken. */
static const char *plain(tf_context *context, const char *prefix, const char *name, bool is_taken(const char *)) {
  tf_string text;
  tf_string_init(&text, &context->arena);
  tf_string_puts(&text, prefix ? prefix : "");
  for (const char *at = name; *at; at++) {
    unsigned char c = (unsigned char)*at;
    if (c < 128 && (isalnum(c) || c == '_'))
      tf_string_append(&text, at, 1);
    else
      tf_string_printf(&text, "_x%02x", c);
  }
  if (is_taken(text.text)) tf_string_puts(&text, "_");
  return text.text;
}

/* The name, with underscores until none of the earlier ones equals it. */
static const char *unique(tf_context *context, const char *name, const char *const *earlier, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (strcmp(earlier[i], name) == 0)
      return unique(context, tf_arena_printf(&context->arena, "%s_", name), earlier, count);
  return name;
}

const char *const *tf_host_c_names(const tf_module *module, const char *prefix) {
  tf_context *context = tf_module_context(module);
  const char **names = TF_ARENA_ARRAY(&context->arena, const char *, module->function_count + 1);
  const tf_stmt *function;
  for (unsigned i = 0; (function = tf_host_entry(module, i)); i++)
    names[i] = unique(context, plain(context, prefix, function->function.name, is_function_taken), names, i);
  return names;
}

const char *const *tf_host_c_params(tf_context *context, const tf_stmt *function) {
  unsigned count = function->function.param_count;
  const char **names = TF_ARENA_ARRAY(&context->arena, const char *, count + 1);
  for (unsigned i = 0; i < count; i++)
    names[i] = unique(context, plain(context, NULL, function->function.params[i]->var.name, is_param_taken), names, i);
  return names;
}

const char *tf_host_c_type(tf_dtype dtype) {
  unsigned bits = tf_dtype_bits(dtype);
  switch (tf_dtype_get_class(dtype)) {
  case TF_CLASS_BOOL:
    return "bool";
  case TF_CLASS_SINT:
    return bits == 64 ? "int64_t" : bits == 32 ? "int32_t" : bits == 16 ? "int16_t" : "int8_t";
  case TF_CLASS_FLOAT:
    if (bits >= 32) return bits == 64 ? "double" : "float";
    break;
  case TF_CLASS_UINT:
    break;
  }
  return bits == 64 ? "uint64_t" : bits == 32 ? "uint32_t" : bits == 16 ? "uint16_t" : "uint8_t";
}
