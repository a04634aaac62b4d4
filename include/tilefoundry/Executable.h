/* Everything that a program runs of a module, made by one call: PTX, its manifest, and the machine code of the host functions.
 * What was made once is kept on disk, so that the next start compiles nothing.
 *
 *   tf_executable_create(module, …)  ─▶  tf_executable_source  ─▶  tf_program_load (Runtime.h)  ─▶  tf_entry_call
 *     verify ─▶ key ─▶ cache ─hit─────────────────────────▶ link host code
 *                        └─miss─▶ lower, once ─▶ cache ─────────┘
 *
 * The cache: files in $TF_CACHE, or tilefoundry in $XDG_CACHE_HOME or ~/.cache; TF_CACHE=off: none; at most $TF_CACHE_LIMIT
 * bytes (512 MiB if unset), of which those that were not used for the longest time go first. The runtime keeps machine code
 * of kernels in the same folder. Code is run from there: it is made for its owner alone, and a folder that belongs to somebody
 * else or that others can write to is not used.
 *
 * What is found there is what would be made, byte for byte: the key holds the module with the places of its statements, all
 * options that matter, and which build of this library and of LLVM it was. The module is verified in any case, so its
 * diagnostics are the same. Not kept are a module whose lowering has something to say (a remark, say), which it says every
 * time; one with an intrinsic that a callback lowers; and whatever options with print_after make, which are never looked for
 * either. `time` hears of what ran: of "verify" alone when the rest was found. Whatever goes wrong with the cache costs only
 * time. */
#ifndef TILEFOUNDRY_EXECUTABLE_H
#define TILEFOUNDRY_EXECUTABLE_H

#include <tilefoundry/Compiled.h>
#include <tilefoundry/Lower.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tf_program_source; /* of Runtime.h */

/* It refers neither to the module nor to its context, and never changes: threads may share it. */
typedef struct tf_executable tf_executable;

typedef struct tf_executable_options {
  size_t size;
  bool host_code; /* machine code of the host functions; INIT: true. Without it entries run by the manifest's plans */
  bool cache;     /* INIT: true */
} tf_executable_options;
#define TF_EXECUTABLE_OPTIONS_INIT                                                                                     \
  { sizeof(tf_executable_options), true, true }

/* Verifies, then finds or makes it. Reports, and may be called from several threads, as the functions of Lower.h and
 * HostCode.h. */
TF_API TF_NODISCARD tf_status tf_executable_create(const tf_module *module, const tf_lower_options *lower,
                                                   const tf_executable_options *options, TF_GIVE tf_executable **out);
/* The programs that were loaded with it have been unloaded. Null is fine. */
TF_API void tf_executable_destroy(TF_TAKE tf_executable *executable);

/* What tf_emit_ptx, tf_emit_manifest and tf_host_code_entries give, NUL-terminated; belongs to the executable. size and count may
 * be null. The entries are null without host code. */
TF_API const char *tf_executable_ptx(const tf_executable *executable, size_t *size);
TF_API const char *tf_executable_manifest(const tf_executable *executable, size_t *size);
TF_API const tf_compiled_entry *tf_executable_entries(const tf_executable *executable, unsigned *count);

/* Sets image, manifest and entries of a source that was initialised; its name is the caller's. */
TF_API void tf_executable_source(const tf_executable *executable, struct tf_program_source *source);

#ifdef __cplusplus
}
#endif
#endif
