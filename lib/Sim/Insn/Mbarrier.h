/* The mbarrier object, a 64-bit word in shared memory that the ISA leaves opaque:
 *
 *    63      62      61   60 … 40              39 … 20        19 … 0
 *    phase   live    -    transactions open    arrivals of    arrivals still
 *                         + 2^20               each phase     missing in this one
 *
 * A phase completes when no arrival is missing and no transaction is open; the next begins at once. Transactions may
 * complete before they are expected: their number is between -(2^20 - 1) and 2^20 - 1, as the ISA says. What the ISA
 * leaves undefined (more arrivals than are missing, counts out of range) is reported and leaves the object alone. */
#ifndef TF_SIM_INSN_MBARRIER_H
#define TF_SIM_INSN_MBARRIER_H

#include "Sim/Insn/Lanes.h"
#include "Sim/View.h"

#define TF_MBAR_COUNT 0xFFFFFull
#define TF_MBAR_LIVE  (1ull << 62)
#define TF_MBAR_PHASE (1ull << 63)
#define TF_MBAR_TX_AT 40
#define TF_MBAR_TX    (0x1FFFFFull << TF_MBAR_TX_AT)
#define TF_MBAR_TX_0  (1ull << 60) /* 2^20: none open */

static inline uint64_t tf_mbarrier_new(uint32_t count) {
  return TF_MBAR_LIVE | TF_MBAR_TX_0 | (uint64_t)count << 20 | count;
}

static inline uint64_t tf_mbarrier_settle(uint64_t b) {
  if ((b & TF_MBAR_COUNT) || (b & TF_MBAR_TX) != TF_MBAR_TX_0) return b;
  return (b ^ TF_MBAR_PHASE) | (b >> 20 & TF_MBAR_COUNT);
}

/* False after a report: the object would count what it cannot. */
static inline bool tf_mbarrier_bad(tf_warp *w, const tf_insn *in, unsigned lane, const char *what, uint32_t number) {
  tf_find(w, in, lane, TF_FIND_mbarrier, 0, 8, "mbarrier: %s (%u)", what, number);
  return false;
}

/* Opens that many transactions, or completes them. */
static inline bool tf_mbarrier_transact(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t *b, uint32_t bytes,
                                        bool complete) {
  int64_t open = (int64_t)((*b & TF_MBAR_TX) >> TF_MBAR_TX_AT) - (1 << 20);
  open += complete ? -(int64_t)bytes : (int64_t)bytes;
  if (open > (int64_t)TF_MBAR_COUNT || open < -(int64_t)TF_MBAR_COUNT)
    return tf_mbarrier_bad(w, in, lane, "more than 2^20 - 1 transactions are open or ahead", bytes);
  *b = (*b & ~TF_MBAR_TX) | (uint64_t)(open + (1 << 20)) << TF_MBAR_TX_AT;
  *b = tf_mbarrier_settle(*b);
  return true;
}

static inline bool tf_mbarrier_expect(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t *b, uint32_t bytes) {
  return tf_mbarrier_transact(w, in, lane, b, bytes, false);
}
static inline bool tf_mbarrier_complete(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t *b, uint32_t bytes) {
  return tf_mbarrier_transact(w, in, lane, b, bytes, true);
}

/* drop: later phases expect that many fewer. */
static inline bool tf_mbarrier_arrive(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t *b, uint32_t count,
                                      bool drop) {
  if (count == 0 || count > (*b & TF_MBAR_COUNT))
    return tf_mbarrier_bad(w, in, lane, count ? "more arrivals than the phase still misses" : "an arrival of none",
                           count);
  *b -= count + (drop ? (uint64_t)count << 20 : 0);
  *b = tf_mbarrier_settle(*b);
  return true;
}

/* One lane's object at a shared address, or false after a report. kind: TF_WRITE makes or ends it and is weak, TF_READ waits
 * and acquires, TF_ATOMIC arrives and releases. */
static inline bool tf_mbarrier_access(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t address, unsigned space,
                                      tf_access_kind kind, uint64_t **out) {
  tf_access a = {.mask = 1u << lane, .bytes = 8, .kind = (uint8_t)kind, .space = (uint8_t)space};
  if (kind != TF_WRITE)
    a.order = TF_ORDER_STRONG | (kind == TF_READ ? TF_ORDER_ACQUIRE : TF_ORDER_RELEASE) | TF_ORDER_WIDE;
  a.addr[lane] = address;
  tf_access_fill(&a);
  tf_access_slow(w, in, &a);
  if (!a.ok) return false;
  if (w->launch->adversarial && kind == TF_ATOMIC) tf_view_release(w->cta);
  if (w->watch) tf_check_access(w, in, &a);
  *out = (uint64_t *)(void *)a.ptr[lane];
  w->worker->progress += kind != TF_READ; /* asking changes nothing */
  return true;
}

/* The same for an object that must be live. */
static inline bool tf_mbarrier_object(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t address, unsigned space,
                                      tf_access_kind kind, uint64_t **out) {
  if (!tf_mbarrier_access(w, in, lane, address, space, kind, out)) return false;
  if (**out & TF_MBAR_LIVE) return true;
  tf_find(w, in, lane, TF_FIND_mbarrier, address, 8, "no mbarrier was initialised at this address");
  return false;
}

#endif
