/* Diagnostics: what is wrong, where, why, and what would be legal. Every message is a row of Diags.def.
 *
 * Rendered form:
 *   kernel.tir:12:5: error: copy needs equal element counts, got 128 and 64 [tir-2.3-copy]
 *       T.copy(a, b)
 *       ^~~~~~
 *   kernel.tir:9:5: note: b is bound here
 */
#ifndef TILEFOUNDRY_DIAGNOSTICS_H
#define TILEFOUNDRY_DIAGNOSTICS_H

#include <stdbool.h>

#include <tilefoundry/Context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in a source buffer of the context. line and column count from 1 (columns in bytes); line 0 is "no place".
 * length is the extent of the marked text on that line, 0 if unknown. */
typedef struct tf_loc {
  uint32_t file; /* index of the buffer in the context; see tf_context_add_source */
  uint32_t line;
  uint32_t column;
  uint32_t length;
} tf_loc;

typedef enum tf_severity { TF_SEVERITY_ERROR, TF_SEVERITY_WARNING, TF_SEVERITY_REMARK, TF_SEVERITY_NOTE } tf_severity;

/* One enumerator per row of Diags.def, in its order. */
typedef enum tf_diag_id {
#define TF_DIAG(ID, SEVERITY, RULE, FORMAT) TF_DIAG_##ID,
#include <tilefoundry/Diags.def>
  TF_DIAG_COUNT
} tf_diag_id;

/* A reported diagnostic. Strings belong to the context. */
typedef struct tf_diagnostic {
  tf_diag_id id;
  tf_severity severity;
  const char *rule; /* e.g. "tir-1.5.4"; empty for notes and for input errors outside the language's rules */
  const char *message;
  tf_loc loc;
} tf_diagnostic;

/* Called for every diagnostic as it is reported, notes directly after what they belong to. Must not call back into the
 * context except for the functions of this header. */
typedef void (*tf_diag_handler)(void *user, const tf_diagnostic *diagnostic);

/* Installs a handler in place of the one before (null: none). Diagnostics are collected and stay readable through
 * tf_context_diagnostic either way. */
TF_API void tf_context_set_diag_handler(tf_context *context, tf_diag_handler handler, TF_KEEP void *user);

/* Collected diagnostics in order of report, notes included; null for an index behind the end. They stay until
 * tf_context_clear_diagnostics, which leaves texts that were rendered. error_count counts those of severity error. */
TF_API size_t tf_context_diagnostic_count(const tf_context *context);
TF_API const tf_diagnostic *tf_context_diagnostic(const tf_context *context, size_t index);
TF_API size_t tf_context_error_count(const tf_context *context);
TF_API void tf_context_clear_diagnostics(tf_context *context);

/* Registers a source buffer under a name for messages; text is copied. Returns its index for tf_loc.file. Index 0 always
 * exists: it is the empty buffer "<unknown>". */
TF_API uint32_t tf_context_add_source(tf_context *context, const char *name, const char *text, size_t length);
TF_API const char *tf_context_source_name(const tf_context *context, uint32_t file);

/* Renders the diagnostic as shown at the top of this file (several lines, each ended by a newline) into a string of the
 * context. */
TF_API const char *tf_diagnostic_render(tf_context *context, const tf_diagnostic *diagnostic);

/* The row's identifier ("COPY_COUNT", "UNKNOWN" for no row) and rule ("" for none); static storage. */
TF_API const char *tf_diag_name(tf_diag_id id);
TF_API const char *tf_diag_rule(tf_diag_id id);

#ifdef __cplusplus
}
#endif
#endif
