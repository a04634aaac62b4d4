/* The simulated device's address space.
 *
 *   0            never mapped: null and small offsets from it
 *   SHARED_BASE  + CTA's rank+1 in its cluster << 24 (0: the CTA itself) + offset        4 GiB
 *   LOCAL_BASE   + offset in the thread's stack                                          4 GiB
 *   PARAM_BASE   + offset in the kernel's parameters
 *   CODE_BASE    function pointers, 16 bytes apart; no data
 *   CONST_BASE   .const variables              ┐ allocations, never adjacent:
 *   GLOBAL_BASE  .global variables and alloc   ┘ [ bytes ][ guard ≥ 4 KiB ][ bytes ]…
 *
 * Addresses are never reused, so a freed allocation is recognised for ever. The table of allocations is sorted by
 * address; it does not change while a launch runs (the device's lock), so workers read it without one. */
#ifndef TF_SIM_MEMORY_H
#define TF_SIM_MEMORY_H

#include "tilefoundry/Status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TF_SHARED_BASE ((uint64_t)1 << 40)
#define TF_LOCAL_BASE  ((uint64_t)2 << 40)
#define TF_PARAM_BASE  ((uint64_t)3 << 40)
#define TF_CODE_BASE   ((uint64_t)4 << 40)
#define TF_CONST_BASE  ((uint64_t)0x60 << 40)
#define TF_GLOBAL_BASE ((uint64_t)0x70 << 40)
#define TF_WINDOW      ((uint64_t)1 << 32)
#define TF_CTA_SHIFT   24

typedef struct tf_alloc {
  uint64_t lo, bytes;
  char *host;
  unsigned char **written; /* init checker, see Written.h; null: all of it counts as written */
  uint64_t written_bytes;  /* of pages that were made */
  bool freed, constant, external;
  size_t slot;       /* counting: number among the launch's buffers */
  bool variable;     /* a module's, not the program's: no leak */
  const char *label; /* variable's name, or null */
  const void *owner; /* what tf_sim_own was told */
} tf_alloc;

typedef struct tf_interval {
  uint64_t lo, hi; /* empty: lo = 1, hi = 0 */
  char *host;      /* of lo */
  tf_alloc *alloc;
} tf_interval;

typedef struct tf_memory {
  tf_alloc **list; /* sorted by lo */
  size_t count, cap;
  uint64_t next_global, next_const;
  uint64_t used, limit;
  bool track_init; /* new allocations remember what is written */
  bool noisy;      /* new allocations are noise even if they are not tracked */
  int noise;       /* file of noise that fresh memory is mapped from; -1: none yet */
} tf_memory;

void tf_memory_init(tf_memory *memory, uint64_t limit);
void tf_memory_destroy(tf_memory *memory);
/* A new zeroed (or, tracked or noisy, random-looking) allocation, in the const window if `constant`. */
tf_status tf_memory_alloc(tf_memory *memory, uint64_t bytes, bool constant, const char *label, tf_alloc **out);
tf_status tf_memory_map(tf_memory *memory, void *host, uint64_t bytes);
/* Frees the host bytes and remembers the range as freed. INVALID_ARGUMENT unless `address` begins a live allocation. */
tf_status tf_memory_free(tf_memory *memory, uint64_t address);
/* Puts fresh bytes behind an address that was freed. INVALID_ARGUMENT unless a freed allocation begins there. */
tf_status tf_memory_renew(tf_memory *memory, uint64_t address);
/* The allocation with the greatest lo <= address, live or freed; null if none. */
tf_alloc *tf_memory_below(const tf_memory *memory, uint64_t address);
/* The live allocation that holds all of [address, address+bytes), or null. */
tf_alloc *tf_memory_find(const tf_memory *memory, uint64_t address, uint64_t bytes);
/* Deterministic noise for fresh memory. */
void tf_memory_noise(void *to, uint64_t bytes, uint64_t seed);
/* The same for shared memory, where no word of it looks like an mbarrier that somebody has made. */
void tf_shared_noise(void *to, uint64_t bytes, uint64_t seed);

#endif
