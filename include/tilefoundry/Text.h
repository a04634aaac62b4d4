/* The text form: a subset of Python's syntax (docs/Language.md). */
#ifndef TILEFOUNDRY_TEXT_H
#define TILEFOUNDRY_TEXT_H

#include <tilefoundry/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Overrides a module-level static number, as tf-llc -D NAME=VALUE does. value is Python text of a static expression. */
typedef struct tf_define {
  const char *name;
  const char *value;
} tf_define;

typedef struct tf_parse_options {
  size_t size;
  size_t define_count;
  const tf_define *defines;
  /* Of tf_intrinsic_create in this context, with different names (TF_INVALID_ARGUMENT otherwise): the text may call them as if
   * it had declared them. Where it does declare one of them, as printed modules do, in the same words, that one is meant. */
  size_t intrinsic_count;
  const tf_intrinsic *const *intrinsics;
} tf_parse_options;
#define TF_PARSE_OPTIONS_INIT                                                                                          \
  { sizeof(tf_parse_options), 0, 0, 0, 0 }

/* Parses text[0..length), UTF-8, under the given buffer name. All errors are reported to the context's diagnostics, not
 * only the first. TF_PARSE then. A file with several `@module` classes and free functions
 * gives the last class, or the free functions if there is no class. The module belongs to the context. */
TF_API TF_NODISCARD tf_status tf_parse(tf_context *context, const char *name, const char *text, size_t length,
                                       const tf_parse_options *options, const tf_module **out);

/* The canonical text, ended by a newline: parse(print(m)) equals m, print(parse(print(m))) equals print(m). A string of
 * the context. */
TF_API TF_NODISCARD tf_status tf_print(const tf_module *module, const char **out);
/* The statement alone, indented by `indent` levels; for messages and --print-after. */
TF_API TF_NODISCARD tf_status tf_print_stmt(tf_context *context, const tf_stmt *stmt, unsigned indent,
                                            const char **out);

#ifdef __cplusplus
}
#endif
#endif
