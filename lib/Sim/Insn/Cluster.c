/* mbarrier objects (Mbarrier.h has their bits) and addresses of shared memory in the other CTAs of a cluster.
 *
 * A cluster runs on one host thread, so an object changes as a whole. Waits never block: they answer, and the program's
 * loop around them lets other warps on. */
#include "Sim/Insn/Mbarrier.h"

enum { DROP = 1, EXPECT = 2, COUNTED = 4, PARITY = 8, COMPLETE = 16 };

HANDLER(init) {
  uint64_t addr[TF_LANES], *object;
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (tf_mbarrier_access(w, in, l, addr[l], in->space, TF_WRITE, &object))
      *object = tf_mbarrier_new(SLOT(const uint32_t, 1)[l] & (uint32_t)TF_MBAR_COUNT);
  }
}

HANDLER(inval) {
  uint64_t addr[TF_LANES], *object;
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (tf_mbarrier_access(w, in, l, addr[l], in->space, TF_WRITE, &object)) *object = 0;
  }
}

/* The live object of a lane, or null after a report. */
static uint64_t *live_object(tf_warp *w, const tf_insn *in, unsigned l, uint64_t address) {
  uint64_t *object;
  if (!tf_mbarrier_access(w, in, l, address, in->space, TF_ATOMIC, &object)) return NULL;
  if (*object & TF_MBAR_LIVE) return object;
  tf_find(w, in, l, TF_FIND_mbarrier, address, 8, "no mbarrier was initialised at this address");
  return NULL;
}

HANDLER(mbar_arrive) {
  uint64_t addr[TF_LANES], *state = SLOT(uint64_t, 0), *object;
  const uint32_t *operand = in->aux & COUNTED ? SLOT(const uint32_t, 2) : NULL;
  tf_access_addresses(w, in, in->op[1], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint32_t n = operand ? operand[l] : 1;
    if (!(object = live_object(w, in, l, addr[l]))) continue;
    uint64_t before = *object;
    if (in->aux & EXPECT) *object = tf_mbarrier_expect(*object, n);
    *object = tf_mbarrier_arrive(*object, in->aux & EXPECT ? 1 : n, in->aux & DROP);
    state[l] = before;
  }
}

HANDLER(tx) {
  uint64_t addr[TF_LANES], *object;
  const uint32_t *bytes = SLOT(const uint32_t, 1);
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (!(object = live_object(w, in, l, addr[l]))) continue;
    *object = in->aux & COMPLETE ? tf_mbarrier_complete(*object, bytes[l]) : tf_mbarrier_expect(*object, bytes[l]);
  }
}

HANDLER(wait_phase) {
  uint64_t addr[TF_LANES], *object;
  uint32_t done = 0;
  uint64_t progress = w->worker->progress; /* asking changes nothing */
  tf_access_addresses(w, in, in->op[1], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (!(object = live_object(w, in, l, addr[l]))) continue;
    bool asked = in->aux & PARITY ? SLOT(const uint32_t, 2)[l] & 1 : (SLOT(const uint64_t, 2)[l] & TF_MBAR_PHASE) != 0;
    if (((*object & TF_MBAR_PHASE) != 0) != asked) done |= 1u << l;
  }
  SET_PRED(0, done);
  w->worker->progress = progress;
  w->spin = true;
}

HANDLER(pending) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint64_t *s = SLOT(const uint64_t, 1);
  STORE_LANES(uint32_t, d, v = (uint32_t)(s[l] & TF_MBAR_COUNT))
}

/* ---- Addresses: the window's bits 24 and up hold the CTA's rank + 1 ---- */
#define OFFSET (((uint64_t)1 << TF_CTA_SHIFT) - 1)

HANDLER(mapa_32) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), *rank = SLOT(const uint32_t, 2);
  STORE_LANES(uint32_t, d, v = (s[l] & (uint32_t)OFFSET) | (rank[l] + 1) << TF_CTA_SHIFT)
}
HANDLER(mapa_64) {
  uint64_t *d = SLOT(uint64_t, 0);
  const uint64_t *s = SLOT(const uint64_t, 1);
  const uint32_t *rank = SLOT(const uint32_t, 2);
  STORE_LANES(uint64_t, d, v = (s[l] & ~(TF_WINDOW - 1)) | (s[l] & OFFSET) | (uint64_t)(rank[l] + 1) << TF_CTA_SHIFT)
}

#define GETCTARANK(name, T)                                                                                            \
  HANDLER(name) {                                                                                                      \
    uint32_t *d = SLOT(uint32_t, 0);                                                                                   \
    const T *s = SLOT(const T, 1);                                                                                     \
    uint32_t own = w->cta->rank;                                                                                       \
    STORE_LANES(uint32_t, d, uint32_t r = (uint32_t)(s[l] >> TF_CTA_SHIFT) & 0xFF; v = r ? r - 1 : own)                \
  }
GETCTARANK(getctarank_32, uint32_t)
GETCTARANK(getctarank_64, uint64_t)

/* ---- Selection ---- */
SELECTOR(select_init) {
  (void)f;
  return init;
}
SELECTOR(select_inval) {
  (void)f;
  return inval;
}
SELECTOR(select_mbar_arrive) {
  f->in->aux = (strcmp(f->mods[0], "arrive_drop") == 0 ? DROP : 0) | (tf_form_has(f, "expect_tx") ? EXPECT : 0) |
               (f->operand_count > 2 && f->count[2] ? COUNTED : 0);
  return mbar_arrive;
}
SELECTOR(select_tx) {
  f->in->aux = strcmp(f->mods[0], "complete_tx") == 0 ? COMPLETE : 0;
  return tx;
}
SELECTOR(select_wait) {
  f->in->aux = tf_form_has(f, "parity") ? PARITY : 0;
  return wait_phase;
}
SELECTOR(select_pending) {
  (void)f;
  return pending;
}
SELECTOR(select_mapa) {
  return f->types[0] == TF_T_u64 ? mapa_64 : mapa_32;
}
SELECTOR(select_getctarank) {
  return f->types[0] == TF_T_u64 ? getctarank_64 : getctarank_32;
}

static const tf_row rows[] = {
#include "Sim/Insn/Cluster.def"
};
TF_FAMILY(Cluster, rows)
