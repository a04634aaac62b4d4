/* Memory for things that die together: a PTX module's syntax tree, its decoded code, a launch's frames.
 *
 *   pool ─▶ chunk ─▶ chunk ─▶ …      allocation bumps a pointer in the newest chunk; destroy frees all chunks at once
 *
 * Out of memory is one policy: allocation functions return null, the callers turn that into TF_OUT_OF_MEMORY. */
#ifndef TF_SIM_POOL_H
#define TF_SIM_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Blocks of a few sizes that are taken and given back again and again, as a worker's CTAs do: the heap would return
 * their pages to the system and fetch fresh ones each time. */
enum { TF_SPARE_SIZES = 8 };
typedef struct tf_spares {
  struct {
    size_t size; /* 0: not in use */
    struct tf_spare *first;
  } of[TF_SPARE_SIZES];
} tf_spares;

/* A block of `size` bytes, aligned to 256, its contents undefined; null when memory is out. Not thread-safe. */
void *tf_spares_take(tf_spares *spares, size_t size);
/* Takes the block back; null is fine. */
void tf_spares_give(tf_spares *spares, void *block);
/* Frees the blocks that were given back. */
void tf_spares_free(tf_spares *spares);

typedef struct tf_pool {
  struct tf_pool_chunk *head;
  tf_spares *spares; /* where chunks come from and go to; null: the heap */
} tf_pool;

/* Zeroed memory of `size` bytes aligned to 64 bytes if large, 16 otherwise; null when memory is out. Not thread-safe. */
void *tf_pool_alloc(tf_pool *pool, size_t size);
/* The same without zeroing. */
void *tf_pool_raw(tf_pool *pool, size_t size);
/* Copy of text[0, length) with a terminating null. */
char *tf_pool_text(tf_pool *pool, const char *text, size_t length);
/* Frees every chunk; the pool is empty and usable afterwards. */
void tf_pool_free(tf_pool *pool);

/* Growing arrays on the heap: makes room for `want` elements of `size` bytes at *data (capacity in *cap).
 * False when memory is out; *data is then unchanged. */
bool tf_grow(void **data, size_t *cap, size_t want, size_t size);

#endif
