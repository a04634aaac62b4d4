/* Flags of bytes that were written; see Written.h. */
#include "Sim/Written.h"

#include <stdlib.h>
#include <string.h>

bool tf_written_track(tf_alloc *a) {
  a->written = calloc((size_t)((a->bytes + TF_WRITTEN_PAGE - 1) >> TF_WRITTEN_PAGE_BITS), sizeof *a->written);
  return a->written != NULL;
}

void tf_written_free(tf_alloc *a) {
  uint64_t pages = (a->bytes + TF_WRITTEN_PAGE - 1) >> TF_WRITTEN_PAGE_BITS;
  for (uint64_t i = 0; a->written && a->written_bytes && i < pages; i++)
    free(a->written[i]);
  free(a->written);
  a->written = NULL;
  a->written_bytes = 0;
}

/* The page, made if need be; several workers may want it at once. */
static unsigned char *page_at(tf_alloc *a, uint64_t index) {
  unsigned char *p = __atomic_load_n(&a->written[index], __ATOMIC_ACQUIRE), *none = NULL;
  if (p) return p;
  p = calloc(1, TF_WRITTEN_PAGE);
  if (!p) return NULL;
  if (!__atomic_compare_exchange_n(&a->written[index], &none, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    free(p);
    return none;
  }
  (void)__atomic_fetch_add(&a->written_bytes, TF_WRITTEN_PAGE, __ATOMIC_RELAXED);
  return p;
}

static uint64_t part(uint64_t offset, uint64_t bytes) {
  uint64_t left = TF_WRITTEN_PAGE - (offset & (TF_WRITTEN_PAGE - 1));
  return bytes < left ? bytes : left;
}

bool tf_written_set(tf_alloc *a, uint64_t offset, uint64_t bytes) {
  if (!a->written) return true;
  for (uint64_t n; bytes; offset += n, bytes -= n) {
    unsigned char *p = page_at(a, offset >> TF_WRITTEN_PAGE_BITS);
    if (!p) return false;
    n = part(offset, bytes);
    memset(p + (offset & (TF_WRITTEN_PAGE - 1)), 1, n);
  }
  return true;
}

void tf_written_clear(tf_alloc *a, uint64_t offset, uint64_t bytes) {
  if (!a->written) return;
  for (uint64_t n; bytes; offset += n, bytes -= n) {
    unsigned char *p = a->written[offset >> TF_WRITTEN_PAGE_BITS];
    n = part(offset, bytes);
    if (p) memset(p + (offset & (TF_WRITTEN_PAGE - 1)), 0, n);
  }
}

bool tf_written_all(const tf_alloc *a, uint64_t offset, uint64_t bytes) {
  if (!a->written) return true;
  for (uint64_t n; bytes; offset += n, bytes -= n) {
    const unsigned char *p = __atomic_load_n(&a->written[offset >> TF_WRITTEN_PAGE_BITS], __ATOMIC_ACQUIRE);
    n = part(offset, bytes);
    if (!p || memchr(p + (offset & (TF_WRITTEN_PAGE - 1)), 0, n)) return false;
  }
  return true;
}

static bool written_at(const tf_alloc *a, uint64_t offset) {
  const unsigned char *p = a->written ? a->written[offset >> TF_WRITTEN_PAGE_BITS] : NULL;
  return !a->written || (p && p[offset & (TF_WRITTEN_PAGE - 1)]);
}

static void copy_byte(tf_alloc *to, uint64_t at, const tf_alloc *from, uint64_t from_at) {
  if (written_at(from, from_at))
    (void)tf_written_set(to, at, 1);
  else
    tf_written_clear(to, at, 1);
}

void tf_written_copy(tf_alloc *to, uint64_t at, const tf_alloc *from, uint64_t from_at, uint64_t bytes) {
  if (!to->written) return;
  if (tf_written_all(from, from_at, bytes)) {
    (void)tf_written_set(to, at, bytes);
    return;
  }
  bool down = from_at < at;
  for (uint64_t i = 0; i < bytes; i++) {
    uint64_t k = down ? bytes - 1 - i : i;
    copy_byte(to, at + k, from, from_at + k);
  }
}
