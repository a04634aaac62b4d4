/* The mbarrier object, a 64-bit word in shared memory that the ISA leaves opaque:
 *
 *    63 … 62      61 … 42            41 … 40   39 … 20        19 … 0
 *    phase (1)    transactions open  (unused)  arrivals of    arrivals still
 *    and "live"   + 2^19                       each phase     missing in this one
 *
 * A phase completes when no arrival is missing and no transaction is open; the next begins at once. */
#ifndef TF_SIM_INSN_MBARRIER_H
#define TF_SIM_INSN_MBARRIER_H

#include "Sim/Insn/Lanes.h"

#define TF_MBAR_COUNT  0xFFFFFull
#define TF_MBAR_LIVE   (1ull << 62)
#define TF_MBAR_PHASE  (1ull << 63)
#define TF_MBAR_TX_ONE (1ull << 42)
#define TF_MBAR_TX_0   (1ull << 61) /* 2^19 transactions: none open */
#define TF_MBAR_TX     (TF_MBAR_COUNT << 42)

static inline uint64_t tf_mbarrier_new(uint32_t count) {
  return TF_MBAR_LIVE | TF_MBAR_TX_0 | (uint64_t)count << 20 | count;
}

static inline uint64_t tf_mbarrier_settle(uint64_t b) {
  if ((b & TF_MBAR_COUNT) || (b & TF_MBAR_TX) != TF_MBAR_TX_0) return b;
  return (b ^ TF_MBAR_PHASE) | (b >> 20 & TF_MBAR_COUNT);
}

static inline uint64_t tf_mbarrier_expect(uint64_t b, uint32_t bytes) {
  return b + bytes * TF_MBAR_TX_ONE;
}
static inline uint64_t tf_mbarrier_complete(uint64_t b, uint32_t bytes) {
  return tf_mbarrier_settle(b - bytes * TF_MBAR_TX_ONE);
}
/* drop: later phases expect that many fewer. */
static inline uint64_t tf_mbarrier_arrive(uint64_t b, uint32_t count, bool drop) {
  return tf_mbarrier_settle(b - count - (drop ? (uint64_t)count << 20 : 0));
}

/* One lane's object at a shared address, or false after a report. kind: TF_WRITE makes it, all else is TF_ATOMIC. */
static inline bool tf_mbarrier_access(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t address, unsigned space,
                                      tf_access_kind kind, uint64_t **out) {
  tf_access a = {.mask = 1u << lane, .bytes = 8, .kind = (uint8_t)kind, .space = (uint8_t)space, .is_volatile = true};
  a.addr[lane] = address;
  tf_access_fill(&a);
  tf_access_slow(w, in, &a);
  if (!a.ok) return false;
  if (w->watch) tf_check_access(w, in, &a);
  *out = (uint64_t *)(void *)a.ptr[lane];
  w->worker->progress++;
  return true;
}

#endif
