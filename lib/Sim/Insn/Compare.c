/* Comparison and selection. A comparison yields a mask of lanes; setp and set only differ in where it goes. */
#include "Sim/Insn/Lanes.h"

typedef uint32_t (*comparer)(const void *a, const void *b);

#define COMPARE(name, S, C, expr)                                                                                      \
  static uint32_t name(const void *pa, const void *pb) {                                                               \
    const S *x = __builtin_assume_aligned(pa, 64), *y = __builtin_assume_aligned(pb, 64);                              \
    unsigned char flag[TF_LANES];                                                                                      \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      C a = (C)x[l], b = (C)y[l];                                                                                      \
      flag[l] = (unsigned char)((expr) ? 1 : 0);                                                                       \
    }                                                                                                                  \
    return tf_pack_mask(flag);                                                                                         \
  }

#define ORDERED(n, S, C, V)                                                                                            \
  COMPARE(eq_##n, S, C, V(a) == V(b))                                                                                  \
  COMPARE(ne_##n, S, C, (int)(V(a) < V(b)) | (int)(V(a) > V(b)))                                                       \
  COMPARE(lt_##n, S, C, V(a) < V(b))                                                                                   \
  COMPARE(le_##n, S, C, V(a) <= V(b))                                                                                  \
  COMPARE(gt_##n, S, C, V(a) > V(b))                                                                                   \
  COMPARE(ge_##n, S, C, V(a) >= V(b))
#define UNORDERED(n, S, C, V)                                                                                          \
  ORDERED(n, S, C, V)                                                                                                  \
  COMPARE(equ_##n, S, C, !((int)(V(a) < V(b)) | (int)(V(a) > V(b))))                                                   \
  COMPARE(neu_##n, S, C, !(V(a) == V(b)))                                                                              \
  COMPARE(ltu_##n, S, C, !(V(a) >= V(b)))                                                                              \
  COMPARE(leu_##n, S, C, !(V(a) > V(b)))                                                                               \
  COMPARE(gtu_##n, S, C, !(V(a) <= V(b)))                                                                              \
  COMPARE(geu_##n, S, C, !(V(a) < V(b)))                                                                               \
  COMPARE(num_##n, S, C, (int)(V(a) == V(a)) & (int)(V(b) == V(b)))                                                    \
  COMPARE(nan_##n, S, C, (int)(V(a) != V(a)) | (int)(V(b) != V(b)))

static inline float flushed(float x) {
  uint32_t bits = tf_float_bits(x);
  return tf_as_float(bits & 0x7F800000u ? bits : bits & 0x80000000u);
}
#define PLAIN(x) (x)
ORDERED(u16, uint32_t, uint16_t, PLAIN)
ORDERED(s16, uint32_t, int16_t, PLAIN)
ORDERED(u32, uint32_t, uint32_t, PLAIN)
ORDERED(s32, uint32_t, int32_t, PLAIN)
ORDERED(u64, uint64_t, uint64_t, PLAIN)
ORDERED(s64, uint64_t, int64_t, PLAIN)
UNORDERED(f32, float, float, PLAIN)
UNORDERED(f32z, float, float, flushed)
UNORDERED(f64, double, double, PLAIN)

/* In the order of cmp_names. */
#define SIX(n)      eq_##n, ne_##n, lt_##n, le_##n, gt_##n, ge_##n
#define FOURTEEN(n) SIX(n), equ_##n, neu_##n, ltu_##n, leu_##n, gtu_##n, geu_##n, num_##n, nan_##n
enum { CMP_COUNT = 14 };
static const char *const cmp_names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ", "neu",
                                        "ltu", "leu", "gtu", "geu", "num", "nan", NULL};
static const char *const unsigned_names[] = {"lo", "ls", "hi", "hs", NULL}; /* lt le gt ge */

enum { C_U16, C_S16, C_U32, C_S32, C_U64, C_S64, C_F32, C_F32Z, C_F64 };
static const comparer comparers[][CMP_COUNT] = {
    {SIX(u16)}, {SIX(s16)},      {SIX(u32)},       {SIX(s32)},      {SIX(u64)},
    {SIX(s64)}, {FOURTEEN(f32)}, {FOURTEEN(f32z)}, {FOURTEEN(f64)},
};

static int type_row(tf_type t, bool ftz) {
  switch (t) {
  case TF_T_u16:
  case TF_T_b16:
    return C_U16;
  case TF_T_s16:
    return C_S16;
  case TF_T_u32:
  case TF_T_b32:
    return C_U32;
  case TF_T_s32:
    return C_S32;
  case TF_T_u64:
  case TF_T_b64:
    return C_U64;
  case TF_T_s64:
    return C_S64;
  case TF_T_f32:
    return ftz ? C_F32Z : C_F32;
  default:
    return C_F64;
  }
}

/* aux: comparer's row and column, and how the third predicate joins. */
enum { JOIN_NONE, JOIN_AND, JOIN_OR, JOIN_XOR };

static bool encode(tf_form *f, tf_type type) {
  int cmp = tf_form_pick(f, 0, cmp_names);
  if (cmp < 0) cmp = 2 + tf_form_pick(f, 0, unsigned_names);
  bool ftz = tf_form_has(f, "ftz");
  if (ftz && type == TF_T_f64) return false;
  uint32_t join = tf_form_has(f, "and")   ? JOIN_AND
                  : tf_form_has(f, "or")  ? JOIN_OR
                  : tf_form_has(f, "xor") ? JOIN_XOR
                                          : 0;
  f->in->aux = (uint32_t)type_row(type, ftz) | (uint32_t)cmp << 8 | join << 16;
  return true;
}

static inline uint32_t joined(uint32_t join, uint32_t value, uint32_t with) {
  return join == JOIN_AND ? value & with : join == JOIN_OR ? value | with : join == JOIN_XOR ? value ^ with : value;
}

HANDLER(setp) {
  uint32_t r = comparers[in->aux & 0xFF][in->aux >> 8 & 0xFF](SLOT(const void, 2), SLOT(const void, 3));
  uint32_t join = in->aux >> 16, with = join ? PRED_SRC(4) : 0;
  SET_PRED(0, joined(join, r, with));
  if (in->op[1]) SET_PRED(1, joined(join, ~r, with));
}
SELECTOR(select_setp) {
  return encode(f, f->types[0]) ? setp : NULL;
}

static uint32_t set_mask(tf_warp *w, const tf_insn *in) {
  uint32_t r = comparers[in->aux & 0xFF][in->aux >> 8 & 0xFF](SLOT(const void, 1), SLOT(const void, 2));
  uint32_t join = in->aux >> 16 & 0xFF;
  return joined(join, r, join ? PRED_SRC(3) : 0);
}
HANDLER(set_int) {
  uint32_t r = set_mask(w, in), *d = SLOT(uint32_t, 0);
  STORE_LANES(uint32_t, d, v = 0u - LANE(r, l))
}
HANDLER(set_float) {
  uint32_t r = set_mask(w, in), *d = SLOT(uint32_t, 0), one = (uint32_t)in->imm[0];
  STORE_LANES(uint32_t, d, v = LANE(r, l) * one)
}
SELECTOR(select_set) {
  if (!encode(f, f->types[1])) return NULL;
  f->in->imm[0] = f->types[0] == TF_T_f32 ? 0x3F800000 : f->types[0] == TF_T_f16 ? 0x3C00 : 0x3F80;
  return tf_type_kind(f->types[0]) == 'F' ? set_float : set_int;
}

#define SELP(name, S)                                                                                                  \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                            \
    uint32_t p = PRED_SRC(3);                                                                                          \
    STORE_LANES(S, d, v = LANE(p, l) ? pa[l] : pb[l])                                                                  \
  }
SELP(selp_32, uint32_t)
SELP(selp_64, uint64_t)
SELECTOR(select_selp) {
  return tf_type_bytes(f->types[0]) == 8 ? selp_64 : selp_32;
}

/* a where c >= 0. Minus zero counts as zero, NaN as negative. */
#define SLCT(name, S, C, cond)                                                                                         \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                            \
    const C *pc = SLOT(const C, 3);                                                                                    \
    STORE_LANES(S, d, v = (cond) ? pa[l] : pb[l])                                                                      \
  }
SLCT(slct_32_int, uint32_t, int32_t, pc[l] >= 0)
SLCT(slct_64_int, uint64_t, int32_t, pc[l] >= 0)
SLCT(slct_32_float, uint32_t, float, pc[l] >= 0)
SLCT(slct_64_float, uint64_t, float, pc[l] >= 0)
SLCT(slct_32_ftz, uint32_t, float, flushed(pc[l]) >= 0)
SLCT(slct_64_ftz, uint64_t, float, flushed(pc[l]) >= 0)
SELECTOR(select_slct) {
  bool wide = tf_type_bytes(f->types[0]) == 8;
  if (f->types[1] == TF_T_s32) return wide ? slct_64_int : slct_32_int;
  if (tf_form_has(f, "ftz")) return wide ? slct_64_ftz : slct_32_ftz;
  return wide ? slct_64_float : slct_32_float;
}

static const tf_row rows[] = {
#include "Sim/Insn/Compare.def"
};
TF_FAMILY(Compare, rows)
