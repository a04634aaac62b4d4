/* From PTX to machine code without the driver: by nvJitLink or by ptxas, whichever is there, and from the disk cache
 * when it was made before.
 *
 *   PTX ── key ──▶ cache ──hit──────────────▶ cubin ──▶ driver ──refused──▶ the PTX itself, by the driver's compiler
 *                    └─miss─▶ nvJitLink | ptxas ─▶ cubin ─┘ (cached once the driver has taken it)
 *
 * Neither tool is needed: without one, or when it fails, there is no cubin and the driver compiles the PTX. Tools are
 * looked for in $TF_NVJITLINK (a path of the library) and $TF_PTXAS, then $CUDA_HOME, $CUDA_PATH, /usr/local/cuda and
 * for ptxas PATH; a variable that names no file turns its tool off. */
#ifndef TF_RUNTIME_CUBIN_H
#define TF_RUNTIME_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "Support/Cache.h"

typedef struct tf_cubin {
  void *bytes; /* malloc'ed, with a NUL behind it */
  size_t size;
  bool cached; /* it came from the cache */
  bool has_cache;
  tf_cache cache;
  char name[64]; /* in the cache */
} tf_cubin;

/* Makes or finds the cubin of NUL-terminated PTX for a device of that compute capability (times 10). False: there is none. Thread-safe. */
bool tf_cubin_of_ptx(const char *ptx, unsigned compute, tf_cubin *out);

/* Says whether the driver took it, and frees it: what it took is kept in the cache, what it refused is not. */
void tf_cubin_close(tf_cubin *cubin, bool accepted);

#endif
