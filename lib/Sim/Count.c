/* The hooks that count while a launch runs; see Count.h. */
#include "Sim/Count.h"
#include "Sim/CountInternal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Life -------------------------------------------------------------------------------------------------------- */

bool tf_count_launch_begin(tf_launch *l) {
  const tf_memory *m = &l->device->memory;
  l->tally_count = (size_t)l->module->instruction_count + 1;
  l->buffer_count = m->count;
  l->buffers = calloc(m->count + 1, sizeof *l->buffers);
  if (!l->buffers) return false;
  for (size_t i = 0; i < m->count; i++) {
    m->list[i]->slot = i;
    l->buffers[i].alloc = m->list[i];
  }
  return true;
}

void tf_count_launch_free(tf_launch *l) {
  for (size_t i = 0; l->buffers && i < l->buffer_count; i++) {
    free(l->buffers[i].touched[0]);
    free(l->buffers[i].touched[1]);
  }
  free(l->buffers);
}

bool tf_count_worker_begin(tf_worker *worker) {
  const tf_launch *l = worker->launch;
  worker->tally = calloc(l->tally_count, sizeof *worker->tally);
  worker->buffer_bytes = calloc(2 * l->buffer_count + 2, sizeof *worker->buffer_bytes);
  return worker->tally && worker->buffer_bytes;
}

void tf_count_worker_end(tf_worker *worker) {
  free(worker->tally);
  free(worker->buffer_bytes);
}

/* ---- Global memory ----------------------------------------------------------------------------------------------- */

/* The bits of a buffer, made by whichever worker comes first. Null when memory is out: then only the bytes are counted. */
static unsigned char *touched_bits(tf_count_buffer *b, unsigned write) {
  unsigned char *bits = __atomic_load_n(&b->touched[write], __ATOMIC_ACQUIRE);
  if (bits) return bits;
  unsigned char *made = calloc(1, tf_count_bitmap_bytes(b->alloc));
  if (!made) return NULL;
  if (__atomic_compare_exchange_n(&b->touched[write], &bits, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return made;
  free(made);
  return bits;
}

static void touch(tf_count_buffer *b, unsigned write, uint64_t address, uint64_t bytes) {
  unsigned char *bits = touched_bits(b, write);
  uint64_t first = address / TF_SECTOR - b->alloc->lo / TF_SECTOR, last = (address + bytes - 1) / TF_SECTOR;
  last -= b->alloc->lo / TF_SECTOR;
  for (uint64_t s = first; bits && s <= last; s++) {
    unsigned char bit = (unsigned char)(1u << s % 8);
    if (!(__atomic_load_n(&bits[s / 8], __ATOMIC_RELAXED) & bit))
      (void)__atomic_fetch_or(&bits[s / 8], bit, __ATOMIC_RELAXED);
  }
}

static const tf_alloc *alloc_of(const tf_warp *w, const tf_alloc *last, uint64_t address, uint64_t bytes) {
  if (last && address - last->lo < last->bytes) return last;
  return tf_memory_find(&w->launch->device->memory, address, bytes);
}

static void count_buffers(tf_warp *w, const tf_access *a) {
  const tf_alloc *at = NULL;
  for (uint32_t m = a->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint32_t bytes = tf_access_bytes(a, l);
    at = alloc_of(w, at, a->addr[l], bytes);
    if (!at) continue;
    tf_count_buffer *b = &w->launch->buffers[at->slot];
    for (unsigned write = 0; write < 2; write++) {
      if (!(a->kind & (write ? TF_WRITE : TF_READ))) continue;
      w->worker->buffer_bytes[2 * at->slot + write] += bytes;
      touch(b, write, a->addr[l], bytes);
    }
  }
}

/* Different sectors that the lanes touch. */
static unsigned long count_sectors(const tf_access *a) {
  uint64_t seen[TF_LANES * 2];
  unsigned n = 0;
  unsigned long wide = 0; /* bulk copies: one lane, any size */
  for (uint32_t m = a->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t first = a->addr[l] / TF_SECTOR, last = (a->addr[l] + tf_access_bytes(a, l) - 1) / TF_SECTOR;
    if (last - first > 1) {
      wide += last - first + 1;
      continue;
    }
    for (uint64_t s = first; s <= last; s++) {
      unsigned k = 0;
      while (k < n && seen[k] != s)
        k++;
      if (k == n) seen[n++] = s;
    }
  }
  return wide + n;
}

static void count_global(tf_warp *w, tf_sim_tally *t, const tf_access *a, uint64_t bytes) {
  t->global_requests++;
  t->global_sectors += count_sectors(a);
  if (a->kind & TF_READ) t->global_bytes_read += bytes;
  if (a->kind & TF_WRITE) t->global_bytes_written += bytes;
  count_buffers(w, a);
}

/* ---- Shared memory ----------------------------------------------------------------------------------------------- */

/* Shared memory has 32 banks of 4 bytes; lanes that want different words of one bank take turns. Accesses of 8 and 16
 * bytes run in passes of 128 bytes: 16 or 8 lanes each. The turns of lanes [first, end). */
static unsigned ways_of_pass(const tf_access *a, unsigned first, unsigned end) {
  uint64_t words[TF_LANES];
  unsigned n = 0, most = 0, load[TF_LANES] = {0};
  for (unsigned l = first; l < end; l++) {
    for (uint64_t o = 0; (a->ok >> l & 1) && o < a->bytes; o += 4) {
      uint64_t word = (a->addr[l] + o) / 4;
      unsigned k = 0;
      while (k < n && words[k] != word)
        k++;
      if (k < n || n == TF_LANES) continue;
      words[n++] = word;
      unsigned ways = ++load[word % TF_LANES];
      if (ways > most) most = ways;
    }
  }
  return most;
}

static void count_shared(tf_sim_tally *t, const tf_access *a, uint64_t bytes) {
  t->shared_requests++;
  t->shared_bytes += bytes;
  if (a->bytes > 16) { /* bulk copies: rows of all banks */
    t->shared_passes += (bytes + 127) / 128;
    t->shared_ways += (bytes + 127) / 128;
    return;
  }
  unsigned lanes = a->bytes <= 4 ? TF_LANES : a->bytes <= 8 ? 16 : 8;
  for (unsigned first = 0; first < TF_LANES; first += lanes) {
    unsigned ways = ways_of_pass(a, first, first + lanes);
    t->shared_passes += ways > 0;
    t->shared_ways += ways;
  }
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

static unsigned most_at_one_address(const tf_access *a) {
  unsigned most = 0;
  for (uint32_t m = a->ok; m; m &= m - 1) {
    uint64_t address = a->addr[__builtin_ctz(m)];
    unsigned n = 0;
    for (uint32_t k = m; k; k &= k - 1)
      n += a->addr[__builtin_ctz(k)] == address;
    if (n > most) most = n;
  }
  return most;
}

void tf_count_access(tf_warp *w, const tf_insn *in, const tf_access *a) {
  if (!a->ok) return;
  tf_sim_tally *t = tf_count_at(w, in);
  uint64_t bytes = 0;
  for (uint32_t m = a->ok; m; m &= m - 1)
    bytes += tf_access_bytes(a, (unsigned)__builtin_ctz(m));
  tf_space space = (tf_space)a->space;
  if (space == TF_SPACE_GENERIC) space = tf_address_space(w, a->addr[__builtin_ctz(a->ok)]);
  if (in->cls == TF_CLASS_ATOMIC) {
    t->atomic_requests++;
    t->atomic_ways += most_at_one_address(a);
  }
  if (space == TF_SPACE_SHARED) {
    count_shared(t, a, bytes);
  } else if (space == TF_SPACE_LOCAL) {
    t->local_requests++;
    t->local_bytes += bytes;
  } else if (space == TF_SPACE_GLOBAL) {
    count_global(w, t, a, bytes);
  }
}

void tf_count_mma(tf_warp *w, const tf_insn *in, unsigned m, unsigned n, unsigned k) {
  tf_sim_tally *t = tf_count_at(w, in);
  t->mma++;
  t->mma_flops += 2ull * m * n * k;
}

/* The barrier belongs to the line where the first thread waits for it. */
void tf_count_barrier(tf_cta *cta, uint32_t id) {
  tf_worker *worker = cta->worker;
  const tf_launch *l = cta->launch;
  size_t at = l->tally_count - 1;
  for (uint32_t i = 0; i < cta->warp_count && at == l->tally_count - 1; i++) {
    const tf_warp *w = &cta->warps[i];
    for (unsigned lane = 0; lane < TF_LANES && at == l->tally_count - 1; lane++) {
      if (w->lane_state[lane] != TF_LANE_BARRIER || w->lane_wait[lane] != id) continue;
      const tf_func *f = w->lane_frame[lane]->func;
      if (f->module == l->module) at = f->first_tally + w->lane_pc[lane] - 1;
    }
  }
  worker->tally[at].barriers++;
}
