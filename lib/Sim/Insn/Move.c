/* Moves, packing and unpacking, conversion between state-space and generic addresses, clocks, cache hints. */
#include "Sim/Insn/Lanes.h"

UNARY(mov_32, uint32_t, uint32_t, uint32_t, a)
UNARY(mov_64, uint64_t, uint64_t, uint64_t, a)
SELECTOR(select_mov) {
  return tf_type_bytes(f->types[0]) == 8 ? mov_64 : mov_32;
}

HANDLER(mov_pred) {
  SET_PRED(0, PRED_SRC(1));
}
SELECT(select_mov_pred, [TF_T_pred] = mov_pred)

HANDLER(mov_128) {
  char *d = SLOT(char, 0);
  const char *s = SLOT(const char, 1);
  for (unsigned l = 0; l < TF_LANES; l++)
    if (LANE(mask, l)) memmove(d + 16 * l, s + 16 * l, 16);
}
SELECT(select_mov_128, [TF_T_b128] = mov_128)

static unsigned lane_width(unsigned bytes) {
  return bytes <= 4 ? 4 : bytes;
}

/* aux: bytes of an element, of the whole. Elements go from the least significant end. */
HANDLER(pack) {
  unsigned part = in->aux & 0xFF, whole = in->aux >> 8, n = whole / part;
  for (unsigned l = 0; l < TF_LANES; l++) {
    unsigned char bytes[16] = {0};
    if (!LANE(mask, l)) continue;
    for (unsigned i = 0; i < n; i++)
      memcpy(bytes + i * part, EXT(const char, 1 + i) + lane_width(part) * l, part);
    memcpy(EXT(char, 0) + lane_width(whole) * l, bytes, lane_width(whole));
  }
}
HANDLER(pack_2x32) {
  uint64_t *d = SLOT(uint64_t, 0);
  const uint32_t *lo = SLOT(const uint32_t, 1), *hi = SLOT(const uint32_t, 2);
  STORE_LANES(uint64_t, d, v = (uint64_t)hi[l] << 32 | lo[l])
}
HANDLER(pack_2x16) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *lo = SLOT(const uint32_t, 1), *hi = SLOT(const uint32_t, 2);
  STORE_LANES(uint32_t, d, v = hi[l] << 16 | (lo[l] & 0xFFFFu))
}
SELECTOR(select_pack) {
  unsigned whole = tf_type_bytes(f->types[0]), part = whole / f->count[1];
  f->in->aux = part | whole << 8;
  if (part == 4 && whole == 8) return pack_2x32;
  return part == 2 && whole == 4 ? pack_2x16 : pack;
}

HANDLER(unpack) {
  unsigned part = in->aux & 0xFF, whole = in->aux >> 8, n = whole / part;
  for (unsigned l = 0; l < TF_LANES; l++) {
    unsigned char bytes[16] = {0};
    if (!LANE(mask, l)) continue;
    memcpy(bytes, EXT(const char, n) + lane_width(whole) * l, whole);
    for (unsigned i = 0; i < n; i++) {
      char *to = EXT(char, i) + lane_width(part) * l;
      memset(to, 0, lane_width(part));
      memcpy(to, bytes + i * part, part);
    }
  }
}
HANDLER(unpack_2x32) {
  const uint64_t *s = SLOT(const uint64_t, 2);
  uint32_t *lo = SLOT(uint32_t, 0), *hi = SLOT(uint32_t, 1);
  STORE_LANES(uint32_t, lo, v = (uint32_t)s[l])
  STORE_LANES(uint32_t, hi, v = (uint32_t)(s[l] >> 32))
}
HANDLER(unpack_2x16) {
  const uint32_t *s = SLOT(const uint32_t, 2);
  uint32_t *lo = SLOT(uint32_t, 0), *hi = SLOT(uint32_t, 1);
  STORE_LANES(uint32_t, lo, v = s[l] & 0xFFFFu)
  STORE_LANES(uint32_t, hi, v = s[l] >> 16)
}
SELECTOR(select_unpack) {
  unsigned whole = tf_type_bytes(f->types[0]), part = whole / f->count[0];
  f->in->aux = part | whole << 8;
  if (part == 4 && whole == 8) return unpack_2x32;
  return part == 2 && whole == 4 ? unpack_2x16 : unpack;
}

static uint64_t window_of(const tf_form *f) {
  if (tf_form_has(f, "local")) return TF_LOCAL_BASE;
  if (tf_form_has(f, "param") || tf_form_has(f, "param::entry")) return TF_PARAM_BASE;
  if (tf_form_has(f, "shared") || tf_form_has(f, "shared::cta") || tf_form_has(f, "shared::cluster"))
    return TF_SHARED_BASE;
  return 0; /* global and const addresses are generic addresses */
}

HANDLER(add_offset) {
  uint64_t *d = SLOT(uint64_t, 0), offset = (uint64_t)in->imm[0];
  const uint64_t *s = SLOT(const uint64_t, 1);
  STORE_LANES(uint64_t, d, v = s[l] + offset)
}
SELECTOR(select_cvta) {
  f->in->imm[0] = (int64_t)window_of(f);
  return add_offset;
}
SELECTOR(select_cvta_to) {
  f->in->imm[0] = (int64_t)(0 - window_of(f));
  return add_offset;
}

/* aux: the space asked for; shared::cta is the CTA's own part of the window only. */
HANDLER(isspacep) {
  uint32_t r = 0;
  const uint64_t *a = SLOT(const uint64_t, 1);
  for (unsigned l = 0; l < TF_LANES; l++) {
    tf_space s = LANE(mask, l) ? tf_address_space(w, a[l]) : TF_SPACE_GENERIC;
    bool own = !in->imm[0] || (a[l] - TF_SHARED_BASE) >> TF_CTA_SHIFT == 0;
    r |= (uint32_t)(s == (tf_space)in->aux && own) << l;
  }
  SET_PRED(0, r);
}
SELECTOR(select_isspacep) {
  uint64_t base = window_of(f);
  f->in->aux = base == TF_LOCAL_BASE     ? TF_SPACE_LOCAL
               : base == TF_PARAM_BASE   ? TF_SPACE_PARAM
               : base == TF_SHARED_BASE  ? TF_SPACE_SHARED
               : tf_form_has(f, "const") ? TF_SPACE_CONST
                                         : TF_SPACE_GLOBAL;
  f->in->imm[0] = tf_form_has(f, "shared::cta") || tf_form_has(f, "shared");
  return isspacep;
}

/* Time is counted in executed warp instructions, so that it is the same in every run. Cta.c holds it now and then, to
 * see who waits for nothing else. */
static uint64_t now(tf_warp *w) {
  tf_cluster *k = w->cta->cluster;
  w->spin = true;
  if (!k->held) return ++w->worker->clock + w->worker->executed;
  k->timed = true;
  return k->held;
}

HANDLER(clock_low) {
  uint32_t *d = SLOT(uint32_t, 0), t = (uint32_t)now(w);
  STORE_LANES(uint32_t, d, v = t)
}
HANDLER(clock_high) {
  uint32_t *d = SLOT(uint32_t, 0), t = (uint32_t)(now(w) >> 32);
  STORE_LANES(uint32_t, d, v = t)
}
HANDLER(clock_64) {
  uint64_t *d = SLOT(uint64_t, 0), t = now(w);
  STORE_LANES(uint64_t, d, v = t)
}
#define ALWAYS(name, handler)                                                                                          \
  SELECTOR(name) {                                                                                                     \
    (void)f;                                                                                                           \
    return handler;                                                                                                    \
  }
ALWAYS(select_clock, clock_low)
ALWAYS(select_clock_hi, clock_high)
ALWAYS(select_clock64, clock_64)
ALWAYS(select_globaltimer, clock_64)

/* Hints have no effect on results. */
HANDLER(nothing) {
  (void)w;
  (void)in;
  (void)mask;
}
ALWAYS(select_nothing, nothing)

/* discard.L2: the bytes are nobody's from now on, as if they were overwritten with nothing in particular. */
HANDLER(discard) {
  tf_access a = {.mask = mask, .bytes = 128, .align = 128, .kind = TF_WRITE, .space = in->space};
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], a.addr);
  tf_access_fill(&a);
  tf_access_slow(w, in, &a);
  w->worker->progress++;
  if (w->watch) tf_check_access(w, in, &a);
  if (w->watch) tf_check_forget(w, &a);
}

/* A constant operand must lie in [least, most] and be a multiple of `step`. */
static tf_handler hint_within(tf_form *f, unsigned at, int64_t least, int64_t most, int64_t step, const char *refusal) {
  int64_t value = f->in->imm[at];
  if (value >= least && value <= most && value % step == 0) return nothing;
  f->refusal = refusal;
  return NULL;
}
SELECTOR(select_line) {
  return hint_within(f, 1, 128, 128, 1, "the size must be 128 bytes");
}
SELECTOR(select_discard) {
  return select_line(f) ? discard : NULL;
}
SELECTOR(select_pmevent) {
  bool mask = tf_form_has(f, "mask");
  return hint_within(f, 0, 0, mask ? 65535 : 15, 1, mask ? "the mask has 16 bits" : "events are 0 to 15");
}
SELECTOR(select_setmaxnreg) {
  return hint_within(f, 0, 24, 256, 8, "the number of registers must be a multiple of 8 from 24 to 256");
}

HANDLER(yield) {
  (void)in;
  (void)mask;
  w->spin = true;
  w->worker->clock += 32;
}
ALWAYS(select_yield, yield)

HANDLER(policy) {
  uint64_t *d = SLOT(uint64_t, 0);
  STORE_LANES(uint64_t, d, v = 0)
}
ALWAYS(select_policy, policy)

static const tf_row rows[] = {
#include "Sim/Insn/Move.def"
};
TF_FAMILY(Move, rows)
