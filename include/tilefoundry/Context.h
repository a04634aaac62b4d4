/* The context: owner of everything that the compiler interns (strings, dims, layouts, meshes, types, atoms), of the
 * modules built in it, and of the diagnostics.
 *
 * Threads: several contexts may be used by several threads at once; one context belongs to one thread at a time.
 * Lifetime: what a context owns, text included, ends with it. A null context is an error of the caller's: functions with a status
 * say TF_INVALID_ARGUMENT, the small ones are undefined.
 * Memory: the entry points that do work (parse, build, verify, lower, print) return TF_OUT_OF_MEMORY when the system
 * has none left; the context can then only be destroyed. The small constructors of Type.h and Layout.h have no status:
 * call them through tf_context_try if you need to survive exhaustion, otherwise they end in abort(). */
#ifndef TILEFOUNDRY_CONTEXT_H
#define TILEFOUNDRY_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <tilefoundry/Status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tf_context tf_context;

/* Creates an empty context. TF_INVALID_ARGUMENT if out is null, TF_OUT_OF_MEMORY. */
TF_API TF_NODISCARD tf_status tf_context_create(tf_context **out);

/* Frees the context and every object that it owns; null is fine. */
TF_API void tf_context_destroy(TF_TAKE tf_context *context);

/* Runs body(argument) so that exhaustion inside it unwinds to here: returns TF_OUT_OF_MEMORY then, else body's status.
 * Calls nest. */
TF_API tf_status tf_context_try(tf_context *context, tf_status (*body)(void *argument), void *argument);

/* The context's own copy of text[0..length): equal text gives the same pointer, NUL-terminated, valid as long as the
 * context. */
TF_API const char *tf_context_intern(tf_context *context, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
