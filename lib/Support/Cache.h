/* The disk cache of compiled code: files under names that are hashes of everything that went into them.
 *
 *   <directory>/4f1c…e2.cubin      "TFCACHE1" | size, 8 bytes | XXH3-128 of the payload, 16 bytes | payload
 *   <directory>/.tmp-…             being written; gets its name, complete, by rename
 *
 * An entry is either complete or not there: a writer that is killed leaves a .tmp file, which is swept an hour later; a
 * torn or changed entry does not match its hash, is removed, and counts as absent. A cache is a convenience: whatever
 * goes wrong with it (full disk, no permission, no directory) is silent and costs only time.
 *
 * Code is run from it, so it is private: directories are made with mode 0700, files with 0600, and a directory or file that
 * belongs to somebody else or that others can write to counts as absent.
 *
 * Where: $TF_CACHE, or $XDG_CACHE_HOME/tilefoundry, or $HOME/.cache/tilefoundry; TF_CACHE=off is none. How much:
 * $TF_CACHE_LIMIT bytes, 512 MiB if unset; what was not used for the longest time goes first.
 *
 * Threads and processes may use one directory at once. */
#ifndef TF_SUPPORT_CACHE_H
#define TF_SUPPORT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tilefoundry/Status.h"

typedef struct tf_cache {
  char directory[3072];
  uint64_t limit; /* bytes of all entries */
} tf_cache;

/* A piece of what an entry is made from. */
typedef struct tf_cache_part {
  const void *bytes;
  size_t size;
} tf_cache_part;

/* The name of what is made from these pieces: the XXH3-128 of their sizes and bytes, and a suffix with its dot. */
void tf_cache_name(const tf_cache_part *parts, unsigned count, const char *suffix, char name[64]);

/* What the environment says; false if there is to be no cache. The directory need not exist. */
bool tf_cache_open(tf_cache *out);

/* The entry's payload, malloc'ed with a NUL behind it; false if there is none. Names are file names of up to 100 bytes
 * that do not begin with a dot. */
bool tf_cache_get(const tf_cache *cache, const char *name, TF_GIVE void **bytes, size_t *size);

/* Adds or replaces an entry, then makes room. Nothing happens if it does not fit or cannot be written. */
void tf_cache_put(const tf_cache *cache, const char *name, const void *bytes, size_t size);

void tf_cache_remove(const tf_cache *cache, const char *name);

#endif
