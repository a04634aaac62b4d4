/* Structs of options from programs that were compiled with another version of the headers.
 *
 *   an older program     | size | a | b |                 what it lacks keeps its default
 *   this library         | size | a | b | c |
 *   a newer program      | size | a | b | c | 0 | 0 |     what is unknown here has to be zero, its default
 *
 * So structs only grow at their end, and what is added means the old behaviour when it is zero. */
#ifndef TF_SUPPORT_OPTIONS_H
#define TF_SUPPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Sets `known`, which holds the defaults and known_size bytes, to what the caller's struct says; null says nothing. Both begin
 * with a size_t, the caller's with its size. False, with `known` in part overwritten, for a size that no version has and for
 * unknown options that are set. */
bool tf_options_read(void *known, size_t known_size, const void *options);

#endif
