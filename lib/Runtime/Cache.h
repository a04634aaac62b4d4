/* The disk cache of compiled kernels: small files under names that are hashes of everything that went into them.
 *
 *   <directory>/4f1c…e2.cubin      "TFCACHE1" | size, 8 bytes | XXH3-128 of the payload, 16 bytes | payload
 *   <directory>/.tmp-…             being written; gets its name, complete, by rename
 *
 * An entry is either complete or not there: a writer that is killed leaves a .tmp file, which is swept an hour later; a
 * torn or changed entry does not match its hash, is removed, and counts as absent. A cache is a convenience: whatever
 * goes wrong with it (full disk, no permission, no directory) is silent and costs only time.
 *
 * Where: $TF_CACHE, or $XDG_CACHE_HOME/tilefoundry, or $HOME/.cache/tilefoundry; TF_CACHE=off is none. How much:
 * $TF_CACHE_LIMIT bytes, 512 MiB if unset; what was not used for the longest time goes first.
 *
 * Threads and processes may use one directory at once. */
#ifndef TF_RUNTIME_CACHE_H
#define TF_RUNTIME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tilefoundry/Status.h"

typedef struct tf_cache {
  char directory[3072];
  uint64_t limit; /* bytes of all entries */
} tf_cache;

/* What the environment says; false if there is to be no cache. The directory need not exist. */
bool tf_cache_open(tf_cache *out);

/* The entry's payload, malloc'ed with a NUL behind it; false if there is none. Names are file names of up to 100 bytes
 * that do not begin with a dot. */
bool tf_cache_get(const tf_cache *cache, const char *name, TF_GIVE void **bytes, size_t *size);

/* Adds or replaces an entry, then makes room. Nothing happens if it does not fit or cannot be written. */
void tf_cache_put(const tf_cache *cache, const char *name, const void *bytes, size_t size);

void tf_cache_remove(const tf_cache *cache, const char *name);

#endif
