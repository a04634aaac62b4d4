/* Names of TIR in C. TIR takes Python's identifiers: letters of every script, and words that C and C++ have taken.
 *
 *   main, double, class, …   an underscore behind it
 *   größe                    gr_xc3_xb6_xc3_x9fe: the bytes of UTF-8
 *
 * and more underscores until no other function (or parameter) has the name. */
#include "LowerToLLVM/Host/Object.h"

#include <ctype.h>
#include <string.h>

static const char *const taken[] = {
    "alignas",       "alignof",      "and",       "and_eq",   "asm",       "auto",     "bitand",   "bitor",
    "bool",          "break",        "case",      "catch",    "char",      "char16_t", "char32_t", "char8_t",
    "class",         "co_await",     "co_return", "co_yield", "compl",     "concept",  "const",    "const_cast",
    "consteval",     "constexpr",    "constinit", "continue", "decltype",  "default",  "delete",   "do",
    "double",        "dynamic_cast", "else",      "enum",     "explicit",  "export",   "extern",   "false",
    "float",         "for",          "friend",    "goto",     "if",        "inline",   "int",      "long",
    "main",          "mutable",      "namespace", "new",      "noexcept",  "not",      "not_eq",   "nullptr",
    "operator",      "or",           "or_eq",     "private",  "protected", "public",   "register", "reinterpret_cast",
    "requires",      "restrict",     "return",    "runtime",  "short",     "signed",   "sizeof",   "static",
    "static_assert", "static_cast",  "stream",    "struct",   "switch",    "template", "this",     "thread_local",
    "throw",         "true",         "try",       "typedef",  "typeid",    "typename", "typeof",   "typeof_unqual",
    "union",         "unsigned",     "using",     "virtual",  "void",      "volatile", "wchar_t",  "while",
    "xor",           "xor_eq",
};

static bool is_taken(const char *name) {
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(taken[i], name) == 0) return true;
  return false;
}

/* The name in letters, digits and underscores, and not one of C's own. */
static const char *plain(tf_context *context, const char *prefix, const char *name) {
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
    names[i] = unique(context, plain(context, prefix, function->function.name), names, i);
  return names;
}

const char *const *tf_host_c_params(tf_context *context, const tf_stmt *function) {
  unsigned count = function->function.param_count;
  const char **names = TF_ARENA_ARRAY(&context->arena, const char *, count + 1);
  for (unsigned i = 0; i < count; i++)
    names[i] = unique(context, plain(context, NULL, function->function.params[i]->var.name), names, i);
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
