/* Turning the addresses of one warp access into host pointers, with the mem checker's rules.
 *
 * The fast path is inline: all lanes in the interval that the instruction's cache entry holds, aligned. Everything else
 * goes lane by lane through tf_access_slow, which also reports. */
#ifndef TF_SIM_ACCESS_H
#define TF_SIM_ACCESS_H

#include "Sim/Exec.h"

#include <stdalign.h>

typedef enum tf_access_kind { TF_READ = 1, TF_WRITE = 2, TF_ATOMIC = 3 } tf_access_kind;

/* How strong an access is; 0: weak. WIDE: its scope reaches beyond the CTA. */
enum { TF_ORDER_STRONG = 1, TF_ORDER_ACQUIRE = 2, TF_ORDER_RELEASE = 4, TF_ORDER_WIDE = 8 };

typedef struct tf_access {
  alignas(64) uint64_t addr[TF_LANES];
  alignas(64) unsigned char *ptr[TF_LANES]; /* valid for lanes in ok */
  uint32_t mask, ok;
  uint32_t bytes;       /* per lane */
  uint8_t kind;         /* tf_access_kind */
  uint8_t space;        /* as the instruction says */
  uint8_t align;        /* required alignment; 0: bytes */
  bool dense;           /* full warp, lane l at ptr[0] + l * bytes; ptr[1..] are not filled */
  uint8_t order;        /* TF_ORDER_… */
  bool in_flight;       /* of an asynchronous copy that nobody has waited for */
  uint32_t event;       /* the race checker's, when it has seen the access */
  const uint32_t *part; /* by lane: bytes, where fewer than `bytes`; null: all of them */
} tf_access;

static inline uint32_t tf_access_bytes(const tf_access *a, unsigned lane) {
  return a->part ? a->part[lane] : a->bytes;
}

/* Fills a->ptr and a->ok for the lanes of a->mask from a->addr. Reports what it refuses. */
void tf_access_slow(tf_warp *w, const tf_insn *in, tf_access *a);

/* The space of a generic address of this warp (tf_space; TF_SPACE_GENERIC if none). */
tf_space tf_address_space(const tf_warp *w, uint64_t address);

/* The state space window an address of `space` is relative to; 0 for global, const and generic. */
static inline uint64_t tf_window_base(unsigned space) {
  return space == TF_SPACE_SHARED  ? TF_SHARED_BASE
         : space == TF_SPACE_LOCAL ? TF_LOCAL_BASE
         : space == TF_SPACE_PARAM ? TF_PARAM_BASE
                                   : 0;
}

/* base + imm per lane, from a 32- or 64-bit register. `which`: number of the address among the operands. */
static inline void tf_access_addresses(const tf_warp *w, const tf_insn *in, uint32_t op, unsigned which, int64_t imm,
                                       uint64_t addr[TF_LANES]) {
  uint64_t offset = (uint64_t)imm;
  if (in->narrow >> which & 1) {
    const uint32_t *base = tf_operand(w, op);
    for (unsigned l = 0; l < TF_LANES; l++)
      addr[l] = (uint64_t)base[l] + offset;
  } else {
    const uint64_t *base = tf_operand(w, op);
    for (unsigned l = 0; l < TF_LANES; l++)
      addr[l] = base[l] + offset;
  }
}

/* Smallest and largest address and the bits that alignment cares about. */
typedef struct tf_extent {
  uint64_t lo, hi, low_bits, off_dense;
} tf_extent;

static inline tf_extent tf_access_extent(const tf_access *a) {
  tf_extent e = {a->addr[0], a->addr[0], a->addr[0], 0};
  for (unsigned l = 1; l < TF_LANES; l++) {
    uint64_t x = a->addr[l];
    e.lo = x < e.lo ? x : e.lo;
    e.hi = x > e.hi ? x : e.hi;
    e.low_bits |= x;
    e.off_dense |= x - (a->addr[0] + (uint64_t)l * a->bytes);
  }
  return e;
}

/* Inactive lanes take the first active lane's address, so that the fast path serves every mask. */
static inline void tf_access_fill(tf_access *a) {
  uint64_t first = a->addr[__builtin_ctz(a->mask)];
  for (unsigned l = 0; l < TF_LANES; l++)
    a->addr[l] = a->mask >> l & 1 ? a->addr[l] : first;
}

/* The interval of addresses that is known to be good for this access: [lo, hi) at host. */
static inline void tf_access_interval(const tf_warp *w, const tf_insn *in, const tf_access *a, uint64_t *lo,
                                      uint64_t *hi, char **host) {
  *lo = 1, *hi = 0, *host = NULL;
  if (a->space == TF_SPACE_SHARED) {
    *lo = 0, *hi = w->cta->shared_bytes, *host = w->cta->shared;
  } else if (a->space == TF_SPACE_GLOBAL || a->space == TF_SPACE_GENERIC || a->space == TF_SPACE_CONST) {
    if (w->launch->adversarial) return;
    const tf_interval *c = &w->worker->cache[in->site % TF_CACHE_WAYS];
    bool writable = a->kind == TF_READ || !(c->alloc && c->alloc->constant);
    *lo = c->lo, *hi = writable ? c->hi : 0, *host = c->host;
  }
}

/* Resolves any access. Inline when all lanes lie in one known interval. a->mask must not be empty. */
static inline void tf_access_resolve(tf_warp *w, const tf_insn *in, tf_access *a) {
  uint64_t lo, hi, size = a->bytes, align = a->align ? a->align : size;
  char *host;
  a->dense = false;
  if (a->mask != TF_FULL_MASK) tf_access_fill(a);
  tf_access_interval(w, in, a, &lo, &hi, &host);
  tf_extent e = tf_access_extent(a);
  bool local = a->space == TF_SPACE_LOCAL;
  if (local) lo = 0, hi = w->frame->local_base + w->frame->func->local_bytes, host = w->local;
  if (e.lo < lo || e.hi >= hi || hi - e.hi < size || (e.low_bits & (align - 1))) {
    tf_access_slow(w, in, a);
    return;
  }
  a->ok = a->mask;
  a->dense = e.off_dense == 0 && a->mask == TF_FULL_MASK && !local;
  unsigned char *base = (unsigned char *)host - lo;
  uint64_t stride = local ? w->local_stride : 0;
  if (a->dense)
    a->ptr[0] = base + a->addr[0];
  else
    for (unsigned l = 0; l < TF_LANES; l++)
      a->ptr[l] = base + a->addr[l] + l * stride;
}

/* One lane's bytes of any space, for natives such as vprintf; null when refused (not reported). */
unsigned char *tf_access_peek(tf_warp *w, unsigned lane, uint64_t generic, uint64_t bytes);
/* How many bytes may be read from `generic` on, at most `most`. */
uint64_t tf_access_reach(tf_warp *w, unsigned lane, uint64_t generic, uint64_t most);

#endif
