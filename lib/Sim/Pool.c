/* Bump allocation in chunks; see Pool.h. */
#include "Sim/Pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Spares ---- */
typedef struct tf_spare {
  struct tf_spare *next;
  size_t size;
} tf_spare;

enum { SPARE_HEADER = 256 };

/* Index of the list for blocks of this size; TF_SPARE_SIZES if there are too many sizes. */
static size_t list_of(tf_spares *s, size_t size) {
  size_t i = 0;
  while (i < TF_SPARE_SIZES && s->of[i].size && s->of[i].size != size)
    i++;
  if (i < TF_SPARE_SIZES) s->of[i].size = size;
  return TF_ARENA_MALLOC ? TF_SPARE_SIZES : i; /* address sanitizers want to see every end */
}

void *tf_spares_take(tf_spares *s, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size_t at = list_of(s, size);
  tf_spare *b = at < TF_SPARE_SIZES ? s->of[at].first : NULL;
  if (b)
    s->of[at].first = b->next;
  else
    b = aligned_alloc(SPARE_HEADER, (size + 2 * SPARE_HEADER - 1) & ~(size_t)(SPARE_HEADER - 1));
  if (!b) return NULL;
  b->size = size;
  return (char *)b + SPARE_HEADER;
}

void tf_spares_give(tf_spares *s, void *block) {
  if (!block) return;
  tf_spare *b = (tf_spare *)(void *)((char *)block - SPARE_HEADER);
  size_t at = list_of(s, b->size);
  if (at == TF_SPARE_SIZES) {
    free(b);
    return;
  }
  b->next = s->of[at].first;
  s->of[at].first = b;
}

void tf_spares_free(tf_spares *s) {
  for (size_t i = 0; i < TF_SPARE_SIZES; i++)
    while (s->of[i].first) {
      tf_spare *next = s->of[i].first->next;
      free(s->of[i].first);
      s->of[i].first = next;
    }
}

/* ---- Pools ---- */
typedef struct tf_pool_chunk {
  struct tf_pool_chunk *next;
  size_t used, size;
} tf_pool_chunk;

enum { HEADER = 64, CHUNK = 64 * 1024 };

static tf_pool_chunk *chunk_new(tf_pool *pool, size_t need) {
  size_t size = need > CHUNK - HEADER ? need + HEADER : CHUNK;
  size = (size + 63) & ~(size_t)63;
  tf_pool_chunk *c = pool->spares ? tf_spares_take(pool->spares, size) : aligned_alloc(64, size);
  if (!c) return NULL;
  c->used = HEADER;
  c->size = size;
  c->next = pool->head;
  pool->head = c;
  return c;
}

void *tf_pool_raw(tf_pool *pool, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size_t align = size >= 64 ? 64 : 16;
  tf_pool_chunk *c = pool->head;
  size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
  if (!c || at > c->size || size > c->size - at) {
    c = chunk_new(pool, size);
    if (!c) return NULL;
    at = c->used;
  }
  c->used = at + size;
  return (char *)c + at;
}

void *tf_pool_alloc(tf_pool *pool, size_t size) {
  void *p = tf_pool_raw(pool, size);
  return p ? memset(p, 0, size) : NULL;
}

char *tf_pool_text(tf_pool *pool, const char *text, size_t length) {
  char *copy = tf_pool_alloc(pool, length + 1);
  if (copy && length) memcpy(copy, text, length);
  return copy;
}

void tf_pool_free(tf_pool *pool) {
  tf_pool_chunk *c = pool->head;
  while (c) {
    tf_pool_chunk *next = c->next;
    if (pool->spares)
      tf_spares_give(pool->spares, c);
    else
      free(c);
    c = next;
  }
  pool->head = NULL;
}

bool tf_grow(void **data, size_t *cap, size_t want, size_t size) {
  if (want <= *cap) return true;
  size_t grown = *cap ? *cap * 2 : 16;
  if (grown < want) grown = want;
  if (grown > SIZE_MAX / size) return false;
  void *p = realloc(*data, grown * size);
  if (!p) return false;
  *data = p;
  *cap = grown;
  return true;
}
