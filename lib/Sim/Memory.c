/* Allocations of the simulated device; see Memory.h for the map. */
#include "Sim/Memory.h"
#include "Sim/Pool.h"
#include "Sim/Written.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD = 4096, ALIGN = 512, NOISE = 4 << 20, MAPPINGS = 8192 };

void tf_memory_init(tf_memory *m, uint64_t limit) {
  *m = (tf_memory){.next_global = TF_GLOBAL_BASE, .next_const = TF_CONST_BASE, .limit = limit, .noise = -1};
}

static void release(tf_alloc *a) {
  if (!a->external && a->host) (void)munmap(a->host, a->bytes);
  tf_written_free(a);
  a->host = NULL;
}

void tf_memory_destroy(tf_memory *m) {
  for (size_t i = 0; i < m->count; i++) {
    release(m->list[i]);
    free(m->list[i]);
  }
  free(m->list);
  if (m->noise >= 0) (void)close(m->noise);
  m->noise = -1;
  m->list = NULL;
  m->count = m->cap = 0;
}

/* Index of the first allocation with lo > address. */
static size_t upper(const tf_memory *m, uint64_t address) {
  size_t lo = 0, hi = m->count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (m->list[mid]->lo <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static tf_status insert(tf_memory *m, tf_alloc *a) {
  if (!tf_grow((void **)&m->list, &m->cap, m->count + 1, sizeof *m->list)) return TF_OUT_OF_MEMORY;
  size_t at = upper(m, a->lo);
  memmove(&m->list[at + 1], &m->list[at], (m->count - at) * sizeof *m->list);
  m->list[at] = a;
  m->count++;
  return TF_OK;
}

void tf_memory_noise(void *to, uint64_t bytes, uint64_t seed) {
  unsigned char *p = to;
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u;
  for (uint64_t i = 0; i < bytes; i++) {
    if ((i & 7) == 0) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    p[i] = (unsigned char)(x >> 8 * (i & 7));
  }
}

void tf_shared_noise(void *to, uint64_t bytes, uint64_t seed) {
  unsigned char *p = to;
  tf_memory_noise(to, bytes, seed);
  for (uint64_t i = 0; i < bytes; i++)
    if (((uintptr_t)(p + i) & 7) == 7) p[i] &= 0xBF; /* bit 62 of the word, see Insn/Mbarrier.h */
}

/* A file of noise, made once; its pages are shared by all that map it until they are written. */
static bool noise_file(tf_memory *m) {
  if (m->noise >= 0) return true;
  int file = memfd_create("noise", MFD_CLOEXEC);
  char *bytes = file >= 0 && ftruncate(file, NOISE) == 0
                    ? mmap(NULL, NOISE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                    : MAP_FAILED;
  if (bytes == MAP_FAILED) {
    if (file >= 0) (void)close(file);
    return false;
  }
  tf_memory_noise(bytes, NOISE, NOISE);
  (void)munmap(bytes, NOISE);
  m->noise = file;
  return true;
}

/* Small allocations are filled; large ones are mapped from the file, so that noise costs nothing until it is touched. */
static void make_noisy(tf_memory *m, tf_alloc *a) {
  uint64_t at = 0;
  if (a->bytes >= NOISE && noise_file(m))
    for (; at < a->bytes && at / NOISE < MAPPINGS; at += NOISE) {
      uint64_t n = a->bytes - at < NOISE ? a->bytes - at : NOISE;
      if (mmap(a->host + at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, m->noise, 0) ==
          MAP_FAILED)
        break;
    }
  if (at < a->bytes && at / NOISE < MAPPINGS) tf_memory_noise(a->host + at, a->bytes - at, a->lo ^ m->count);
}

/* Pages come from the system untouched, so a profile's 80 GiB cost only what is used, and variables are zero where no initialiser
 * says otherwise. */
static bool back(tf_memory *m, tf_alloc *a, bool track) {
  a->host = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a->host == MAP_FAILED) {
    a->host = NULL;
    return false;
  }
  if (track || (m->noisy && !a->variable)) make_noisy(m, a);
  return !track || tf_written_track(a);
}

tf_status tf_memory_alloc(tf_memory *m, uint64_t bytes, bool constant, const char *label, tf_alloc **out) {
  if (bytes == 0) return TF_INVALID_ARGUMENT;
  if (bytes > m->limit || m->used > m->limit - bytes) return TF_OUT_OF_MEMORY;
  tf_alloc *a = calloc(1, sizeof *a);
  if (!a) return TF_OUT_OF_MEMORY;
  uint64_t *next = constant ? &m->next_const : &m->next_global;
  *a = (tf_alloc){.lo = *next, .bytes = bytes, .constant = constant, .label = label, .variable = label != NULL};
  if (!back(m, a, m->track_init && !label) || insert(m, a) != TF_OK) {
    release(a);
    free(a);
    return TF_OUT_OF_MEMORY;
  }
  *next += (bytes + GUARD + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
  m->used += bytes;
  *out = a;
  return TF_OK;
}

tf_status tf_memory_map(tf_memory *m, void *host, uint64_t bytes) {
  uint64_t lo = (uint64_t)(uintptr_t)host;
  if (!host || bytes == 0) return TF_INVALID_ARGUMENT;
  tf_alloc *below = tf_memory_below(m, lo + bytes - 1);
  if (below && !below->freed && below->lo + below->bytes > lo) return TF_INVALID_ARGUMENT;
  if (below && below->lo == lo) { /* freed before, mapped again */
    below->freed = false;
    below->host = host;
    below->bytes = bytes;
    return TF_OK;
  }
  tf_alloc *a = calloc(1, sizeof *a);
  if (!a) return TF_OUT_OF_MEMORY;
  *a = (tf_alloc){.lo = lo, .bytes = bytes, .host = host, .external = true};
  tf_status status = insert(m, a);
  if (status != TF_OK) free(a);
  return status;
}

tf_status tf_memory_free(tf_memory *m, uint64_t address) {
  tf_alloc *a = tf_memory_below(m, address);
  if (!a || a->lo != address || a->freed) return TF_INVALID_ARGUMENT;
  if (!a->external) m->used -= a->bytes;
  release(a);
  a->freed = true;
  a->label = NULL; /* the name belongs to a module that goes away */
  return TF_OK;
}

tf_status tf_memory_renew(tf_memory *m, uint64_t address) {
  tf_alloc *a = tf_memory_below(m, address);
  if (!a || a->lo != address || !a->freed || a->external) return TF_INVALID_ARGUMENT;
  if (a->bytes > m->limit || m->used > m->limit - a->bytes) return TF_OUT_OF_MEMORY;
  if (!back(m, a, m->track_init)) {
    release(a);
    return TF_OUT_OF_MEMORY;
  }
  a->freed = false;
  m->used += a->bytes;
  return TF_OK;
}

tf_alloc *tf_memory_below(const tf_memory *m, uint64_t address) {
  size_t at = upper(m, address);
  return at ? m->list[at - 1] : NULL;
}

tf_alloc *tf_memory_find(const tf_memory *m, uint64_t address, uint64_t bytes) {
  tf_alloc *a = tf_memory_below(m, address);
  if (!a || a->freed || address - a->lo > a->bytes || bytes > a->bytes - (address - a->lo)) return NULL;
  return a;
}
