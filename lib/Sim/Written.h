/* The init checker's memory of an allocation: one byte for each byte, 1 where somebody has written, in pages that are made
 * at the first touch. Untracked allocations (of before the checker was on, variables, mapped host memory) count as
 * written.
 *
 *   allocation ─▶ pages[offset >> 12] ─▶ 4096 flags; null: nothing written yet
 *
 * Workers write flags of their own bytes at the same time, which is why a flag is a byte and not a bit. */
#ifndef TF_SIM_WRITTEN_H
#define TF_SIM_WRITTEN_H

#include "Sim/Memory.h"

enum { TF_WRITTEN_PAGE_BITS = 12, TF_WRITTEN_PAGE = 1 << TF_WRITTEN_PAGE_BITS };

/* Begins tracking a new allocation. False: out of memory. */
bool tf_written_track(tf_alloc *alloc);
void tf_written_free(tf_alloc *alloc);
/* False: out of memory, and what was to be marked counts as unwritten. */
bool tf_written_set(tf_alloc *alloc, uint64_t offset, uint64_t bytes);
void tf_written_clear(tf_alloc *alloc, uint64_t offset, uint64_t bytes);
bool tf_written_all(const tf_alloc *alloc, uint64_t offset, uint64_t bytes);
/* What is known of the bytes at `from` becomes known of those at `to`; the ranges may overlap. */
void tf_written_copy(tf_alloc *to, uint64_t to_offset, const tf_alloc *from, uint64_t from_offset, uint64_t bytes);

#endif
