/* The race checker's memory about memory: for every byte that was touched, who wrote it last and who read it last.
 *
 *   address ─▶ page of 1 KiB, made at the first touch ─▶ cell ─▶ references ─▶ event
 *
 *   cell       [ write | read | read of another warp | lanes of the read ]      4 references; 2 where a cell is a byte
 *   reference  event << 5 | lane, 0: none
 *   event      instruction and flags, CTA and warp, the CTA's clock then        16 bytes, shared by all lanes and cells
 *
 * A page's cells are as wide as the narrowest access to it (16 bytes down to 1), so bytes are told apart where a program
 * tells them apart, and wide copies stay cheap:
 *
 *   cell, bytes               16    8    4    2    1
 *   cells' bytes per byte      1    2    4    8    8
 *
 * Events that no cell refers to any more are collected when there are more than three bytes of events for each byte of
 * the pages. If all of them are alive the reads are forgotten, then everything. So cells and events never take more than
 * 8 + 3 bytes per byte touched (and 64 KiB at the start). What is forgotten can hide a race but never invent one. */
#ifndef TF_SIM_SHADOW_H
#define TF_SIM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tf_insn;

typedef uint32_t tf_ref;

enum {
  TF_SHADOW_PAGE_BITS = 10,
  TF_SHADOW_PAGE = 1 << TF_SHADOW_PAGE_BITS,
  TF_SHADOW_WIDEST = 4, /* log2 of the widest cell */
};

typedef struct tf_shadow_page {
  uint64_t number; /* address >> TF_SHADOW_PAGE_BITS */
  uint32_t shift;  /* log2 of the bytes of a cell */
  uint32_t count;  /* references */
  tf_ref refs[];
} tf_shadow_page;

/* Pages by number: an open-addressed table. */
typedef struct tf_shadow {
  tf_shadow_page **table;
  size_t size, count; /* size: a power of two, or 0 */
  tf_shadow_page *last;
} tf_shadow;

typedef struct tf_event {
  uintptr_t tag; /* instruction | TF_EVENT_… ; 0: free */
  uint32_t who;  /* CTA * 32 + warp */
  uint32_t clock;
} tf_event;

enum {
  TF_EVENT_STRONG = 1, /* atomic, or strong of another kind */
  TF_EVENT_ASYNC = 2,  /* of a copy in flight: ordered with nothing until it has been waited for */
  TF_EVENT_NARROW = 4, /* strong, for threads of its CTA only */
  TF_EVENT_FLAGS = 7
};

/* Memory that all shadows of a launch have. */
typedef struct tf_shadow_use {
  uint64_t pages, cell_bytes; /* now */
  uint64_t most_bytes;        /* of cells and events, at the highest */
} tf_shadow_use;

static inline const struct tf_insn *tf_event_insn(const tf_event *e) {
  return (const struct tf_insn *)(e->tag & ~(uintptr_t)TF_EVENT_FLAGS);
}

tf_shadow_page *tf_shadow_find(tf_shadow *shadow, tf_shadow_use *use, uint64_t number, unsigned shift);
/* The page of this number with cells of at most 1 << shift bytes; made or split if need be. Null: out of memory. */
static inline tf_shadow_page *tf_shadow_at(tf_shadow *shadow, tf_shadow_use *use, uint64_t number, unsigned shift) {
  tf_shadow_page *last = shadow->last;
  return last && last->number == number && last->shift <= shift ? last : tf_shadow_find(shadow, use, number, shift);
}
void tf_shadow_free(tf_shadow *shadow, tf_shadow_use *use);

static inline unsigned tf_cell_refs(const tf_shadow_page *p) {
  return p->shift ? 4 : 2;
}
static inline tf_ref *tf_shadow_cell(tf_shadow_page *p, uint64_t address) {
  return p->refs + ((address & (TF_SHADOW_PAGE - 1)) >> p->shift) * tf_cell_refs(p);
}

#endif
