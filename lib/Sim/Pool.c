/* Bump allocation in chunks; see Pool.h. */
#include "Sim/Pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct tf_pool_chunk {
  struct tf_pool_chunk *next;
  size_t used, size;
} tf_pool_chunk;

enum { HEADER = 64, CHUNK = 64 * 1024 };

static tf_pool_chunk *chunk_new(tf_pool *pool, size_t need) {
  size_t size = need > CHUNK - HEADER ? need + HEADER : CHUNK;
  tf_pool_chunk *c = aligned_alloc(64, (size + 63) & ~(size_t)63);
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
