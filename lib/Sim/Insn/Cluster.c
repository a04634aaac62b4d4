/* mbarrier objects (Mbarrier.h has their bits) and addresses of shared memory in the other CTAs of a cluster.
 *
 * A cluster runs on one host thread, so an object changes as a whole. Waits never block: they answer, and the program's
 * loop around them lets other warps on. */
#include "Sim/Async.h"
#include "Sim/Insn/Mbarrier.h"

enum { DROP = 1, EXPECT = 2, COUNTED = 4, PARITY = 8, COMPLETE = 16, STAYS = 32 };

HANDLER(init) {
  uint64_t addr[TF_LANES], *object;
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint32_t count = SLOT(const uint32_t, 1)[l];
    if (!tf_mbarrier_access(w, in, l, addr[l], in->space, TF_WRITE, &object)) continue;
    if (count == 0 || count > TF_MBAR_COUNT)
      (void)tf_mbarrier_bad(w, in, l, "a count of arrivals must be 1 to 2^20 - 1", count);
    else
      *object = tf_mbarrier_new(count);
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

HANDLER(mbar_arrive) {
  uint64_t addr[TF_LANES], *state = SLOT(uint64_t, 0), *object;
  const uint32_t *operand = in->aux & COUNTED ? SLOT(const uint32_t, 2) : NULL;
  tf_access_addresses(w, in, in->op[1], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint32_t n = operand ? operand[l] : 1;
    if (!tf_mbarrier_object(w, in, l, addr[l], in->space, TF_ATOMIC, &object)) continue;
    uint64_t before = *object;
    bool ends = !(in->aux & EXPECT) && n == (before & TF_MBAR_COUNT) && (before & TF_MBAR_TX) == TF_MBAR_TX_0;
    if ((in->aux & STAYS) && ends) (void)tf_mbarrier_bad(w, in, l, ".noComplete completes the phase", n);
    if ((in->aux & EXPECT) && !tf_mbarrier_expect(w, in, l, object, n)) continue;
    if (!tf_mbarrier_arrive(w, in, l, object, in->aux & EXPECT ? 1 : n, in->aux & DROP)) continue;
    state[l] = before;
  }
}

HANDLER(tx) {
  uint64_t addr[TF_LANES], *object;
  const uint32_t *bytes = SLOT(const uint32_t, 1);
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (tf_mbarrier_object(w, in, l, addr[l], in->space, TF_ATOMIC, &object))
      (void)(in->aux & COMPLETE ? tf_mbarrier_complete : tf_mbarrier_expect)(w, in, l, object, bytes[l]);
  }
}

HANDLER(wait_phase) {
  uint64_t addr[TF_LANES], *object;
  uint32_t done = 0;
  bool kept = tf_async_kept(w->launch), polled = !w->launch->adversarial;
  tf_access_addresses(w, in, in->op[1], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (!tf_mbarrier_object(w, in, l, addr[l], in->space, TF_READ, &object)) continue;
    bool asked = in->aux & PARITY ? SLOT(const uint32_t, 2)[l] & 1 : (SLOT(const uint64_t, 2)[l] & TF_MBAR_PHASE) != 0;
    if (((*object & TF_MBAR_PHASE) != 0) != asked) {
      done |= 1u << l;
      /* What lands now is handed on to those who wait later. */
      if (kept && tf_async_observe(w, l, object, asked))
        (void)tf_mbarrier_object(w, in, l, addr[l], in->space, TF_ATOMIC, &object);
    } else if (!polled) {
      tf_async_poll(w, object);
      polled = true;
    }
  }
  SET_PRED(0, done);
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
/* An order and its scope stand together or not at all. */
static bool ordered_in_scope(tf_form *f) {
  static const char *const orders[] = {"release", "relaxed", "acquire"};
  bool order = false, scope = tf_form_has(f, "cta") || tf_form_has(f, "cluster");
  for (unsigned i = 0; i < 3; i++)
    order |= tf_form_has(f, orders[i]);
  if (order != scope) f->refusal = order ? "the order needs a scope" : "the scope needs an order";
  return order == scope;
}

SELECTOR(select_mbar_arrive) {
  if (!ordered_in_scope(f)) return NULL;
  f->in->aux = (strcmp(f->mods[0], "arrive_drop") == 0 ? DROP : 0) | (tf_form_has(f, "expect_tx") ? EXPECT : 0) |
               (tf_form_has(f, "noComplete") ? STAYS : 0) | (f->operand_count > 2 && f->count[2] ? COUNTED : 0);
  return mbar_arrive;
}
SELECTOR(select_tx) {
  if (!ordered_in_scope(f)) return NULL;
  f->in->aux = strcmp(f->mods[0], "complete_tx") == 0 ? COMPLETE : 0;
  return tx;
}
SELECTOR(select_wait) {
  if (!ordered_in_scope(f)) return NULL;
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
