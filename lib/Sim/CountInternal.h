/* What Count.c and CountSum.c share. */
#ifndef TF_SIM_COUNTINTERNAL_H
#define TF_SIM_COUNTINTERNAL_H

#include "Sim/Count.h"
#include "Sim/Module.h"

enum { TF_SECTOR = 32 };

typedef struct tf_count_buffer {
  const tf_alloc *alloc;
  unsigned char *touched[2]; /* read, written: a bit per sector from the one that holds alloc->lo on; null: none yet */
} tf_count_buffer;

static inline size_t tf_count_bitmap_bytes(const tf_alloc *a) {
  uint64_t sectors = (a->lo + a->bytes - 1) / TF_SECTOR - a->lo / TF_SECTOR + 1;
  return (size_t)(sectors / 8 + 1);
}

#endif
