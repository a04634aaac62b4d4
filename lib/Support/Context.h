/* The context's inside: what the compiler's own folders use of it.
 *
 * Interning is by bytes: an object is described by a flat, zero-padded key (a struct, possibly with a tail array) whose
 * pointers are themselves interned, so equal objects have equal bytes and pointer equality is structural equality. */
#ifndef TF_SUPPORT_CONTEXT_H
#define TF_SUPPORT_CONTEXT_H

#include <tilefoundry/Diagnostics.h>

#include "Support/Arena.h"

/* One table per kind of interned object; equal bytes of different classes are different objects. */
typedef enum tf_intern_class {
  TF_INTERN_STRING,
  TF_INTERN_DIM,
  TF_INTERN_TUPLE,
  TF_INTERN_LAYOUT,
  TF_INTERN_MESH,
  TF_INTERN_TYPE,
  TF_INTERN_ATOM,
  TF_INTERN_TARGET,
  TF_INTERN_ATTR, /* attribute lists: dims, ints, launch attributes, patterns */
  TF_INTERN_MEMO, /* computed results keyed by their inputs: tf_context_memo */
  TF_INTERN_CLASS_COUNT
} tf_intern_class;

typedef struct tf_source {
  const char *name;
  const char *text;
  size_t length;
} tf_source;

struct tf_intern_entry; /* uthash entry, Context.c */

struct tf_context {
  tf_oom oom;
  tf_arena arena; /* everything that lives as long as the context */
  struct tf_intern_entry *interned[TF_INTERN_CLASS_COUNT];
  struct {
    TF_VEC(tf_source);
  } sources;
  struct {
    TF_VEC(tf_diagnostic);
  } diagnostics;
  size_t error_count;
  tf_diag_handler handler;
  void *handler_user;
  const struct tf_printer *printing; /* a module's printer at work, or null; it decides how DimVars are spelled */
};

/* The unique object with these bytes: the stored copy, in the context's arena. */
const void *tf_context_intern_bytes(tf_context *context, tf_intern_class kind, const void *bytes, size_t size);

/* A slot for a result computed from the key (any bytes, e.g. a function tag and two layouts). The slot's value is null
 * until the caller stores one; it lives as long as the context. */
void **tf_context_memo(tf_context *context, const void *key, size_t size);

const char *tf_context_intern_cstr(tf_context *context, const char *text);

/* Reports a diagnostic; use the macro, which lets the compiler check the arguments against the row's format:
 *   tf_report(context, loc, COPY_COUNT, a, b); */
void tf_diag_report(tf_context *context, tf_loc loc, tf_diag_id id, const char *format, ...) TF_PRINTF(4, 5);

#define TF_DIAG(ID, SEVERITY, RULE, FORMAT) static const char tf_diag_format_##ID[] __attribute__((unused)) = FORMAT;
#include <tilefoundry/Diags.def>

/* A row without arguments needs a form of its own in standard C, which has no optional comma. */
#define tf_report(context, loc, ...)                                                                                   \
  TF_REPORT_FORM(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, 1, ~)(context, loc, __VA_ARGS__)
#define TF_REPORT_FORM(a, b, c, d, e, f, g, h, i, j, k, l, FORM, ...) TF_REPORT_##FORM
#define TF_REPORT_1(context, loc, ID) tf_diag_report((context), (loc), TF_DIAG_##ID, tf_diag_format_##ID)
#define TF_REPORT_N(context, loc, ID, ...)                                                                             \
  tf_diag_report((context), (loc), TF_DIAG_##ID, tf_diag_format_##ID, __VA_ARGS__)

#define TF_NO_LOC ((tf_loc){0, 0, 0, 0})

#endif
