/* Logic, shifts and byte permutation. */
#include "Sim/Insn/Lanes.h"

FOR_UNSIGNED(BINARY, and, a &b)
FOR_UNSIGNED(BINARY, or, a | b)
FOR_UNSIGNED(BINARY, xor, a ^ b)
FOR_UNSIGNED(UNARY, not, ~a)
FOR_UNSIGNED(UNARY, cnot, a == 0)
SELECT(select_and, BY_WIDTH(and))
SELECT(select_or, BY_WIDTH(or))
SELECT(select_xor, BY_WIDTH(xor))
SELECT(select_not, BY_WIDTH(not ))
SELECT(select_cnot, BY_WIDTH(cnot))

#define PREDICATE(name, expr)                                                                                          \
  HANDLER(name##_pred) {                                                                                               \
    SET_PRED(0, expr);                                                                                                 \
  }                                                                                                                    \
  SELECT(select_##name##_pred, [TF_T_pred] = name##_pred)
PREDICATE(and, PRED_SRC(1) & PRED_SRC(2))
PREDICATE(or, PRED_SRC(1) | PRED_SRC(2))
PREDICATE(xor, PRED_SRC(1) ^ PRED_SRC(2))
PREDICATE(not, ~PRED_SRC(1))

/* The sum of the minterms that the table of eight bits selects. */
static inline uint32_t lut3(uint32_t a, uint32_t b, uint32_t c, const uint32_t m[8]) {
  return (m[0] & ~a & ~b & ~c) | (m[1] & ~a & ~b & c) | (m[2] & ~a & b & ~c) | (m[3] & ~a & b & c) |
         (m[4] & a & ~b & ~c) | (m[5] & a & ~b & c) | (m[6] & a & b & ~c) | (m[7] & a & b & c);
}

HANDLER(lop3) {
  uint32_t m[8], *d = SLOT(uint32_t, 0);
  const uint32_t *pa = SLOT(const uint32_t, 1), *pb = SLOT(const uint32_t, 2), *pc = SLOT(const uint32_t, 3);
  for (unsigned i = 0; i < 8; i++)
    m[i] = 0u - ((uint32_t)in->imm[0] >> i & 1u);
  STORE_LANES(uint32_t, d, v = lut3(pa[l], pb[l], pc[l], m))
}

static tf_handler lop3_checked(tf_form *f, tf_handler h) {
  if (f->in->imm[0] >= 0 && f->in->imm[0] <= 255) return h;
  f->refusal = "lop3 takes a table of 8 bits, 0 to 255";
  return NULL;
}
SELECTOR(select_lop3) {
  return lop3_checked(f, lop3);
}

/* d|p: p = (d != 0) combined with q. */
HANDLER(lop3_pred) {
  uint32_t m[8], *d = SLOT(uint32_t, 0), set = 0;
  const uint32_t *pa = SLOT(const uint32_t, 2), *pb = SLOT(const uint32_t, 3), *pc = SLOT(const uint32_t, 4);
  uint32_t q = PRED_SRC(5);
  for (unsigned i = 0; i < 8; i++)
    m[i] = 0u - ((uint32_t)in->imm[0] >> i & 1u);
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    uint32_t v = lut3(pa[l], pb[l], pc[l], m);
    set |= (uint32_t)(v != 0) << l;
    d[l] = v;
  }
  SET_PRED(1, in->aux ? set & q : set | q);
}
SELECTOR(select_lop3_pred) {
  f->in->aux = tf_form_has(f, "and");
  return lop3_checked(f, lop3_pred);
}

/* Shift amounts beyond the width shift everything out. */
#define SHIFT(name, S, C, R, expr)                                                                                     \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1);                                                                                    \
    const uint32_t *pb = SLOT(const uint32_t, 2);                                                                      \
    STORE_LANES(S, d, C a = (C)pa[l]; uint32_t b = pb[l]; v = (S)(R)(expr))                                            \
  }
SHIFT(shl_16, uint32_t, uint16_t, uint16_t, b > 15 ? 0 : (uint32_t)a << b)
SHIFT(shl_32, uint32_t, uint32_t, uint32_t, b > 31 ? 0 : a << b)
SHIFT(shl_64, uint64_t, uint64_t, uint64_t, b > 63 ? 0 : a << b)
SHIFT(shr_u16, uint32_t, uint16_t, uint16_t, b > 15 ? 0 : a >> b)
SHIFT(shr_s16, uint32_t, int16_t, uint16_t, a >> (b > 15 ? 15 : b))
SHIFT(shr_u32, uint32_t, uint32_t, uint32_t, b > 31 ? 0 : a >> b)
SHIFT(shr_s32, uint32_t, int32_t, uint32_t, a >> (b > 31 ? 31 : b))
SHIFT(shr_u64, uint64_t, uint64_t, uint64_t, b > 63 ? 0 : a >> b)
SHIFT(shr_s64, uint64_t, int64_t, uint64_t, a >> (b > 63 ? 63 : b))
SELECT(select_shl, BY_WIDTH(shl))
SELECT(select_shr, BY_SIGN(shr), [TF_T_b16] = shr_u16, [TF_T_b32] = shr_u32, [TF_T_b64] = shr_u64)

/* Funnel shift of b:a; b is the more significant word. */
static inline uint32_t funnel(uint32_t a, uint32_t b, uint32_t c, bool left, bool wrap) {
  uint32_t n = wrap ? c & 31 : c > 32 ? 32 : c;
  uint64_t both = (uint64_t)b << 32 | a;
  return left ? (uint32_t)((both << n) >> 32) : (uint32_t)(both >> n);
}
TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, funnel(a, b, c, true, false))
TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, funnel(a, b, c, true, true))
TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, funnel(a, b, c, false, false))
TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, funnel(a, b, c, false, true))
SELECTOR(select_shf) {
  bool wrap = tf_form_has(f, "wrap");
  if (tf_form_has(f, "l")) return wrap ? shf_l_wrap : shf_l_clamp;
  return wrap ? shf_r_wrap : shf_r_clamp;
}

/* Byte i of b:a; bit 3 of the selector replicates its sign. */
static inline uint32_t pick_byte(uint64_t both, uint32_t selector) {
  uint32_t byte = (uint32_t)(both >> 8 * (selector & 7)) & 0xFF;
  return selector & 8 ? (byte & 0x80 ? 0xFF : 0) : byte;
}
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t both = (uint64_t)b << 32 | a;
  return pick_byte(both, selectors & 15) | pick_byte(both, selectors >> 4 & 15) << 8 |
         pick_byte(both, selectors >> 8 & 15) << 16 | pick_byte(both, selectors >> 12 & 15) << 24;
}
TERNARY(prmt, uint32_t, uint32_t, uint32_t, permute(a, b, c))
SELECT(select_prmt, [TF_T_b32] = prmt)

/* The special modes as selectors: [mode][c & 3], most significant byte first. */
static const uint16_t prmt_modes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};
TERNARY(prmt_mode, uint32_t, uint32_t, uint32_t, permute(a, b, prmt_modes[in->aux][c & 3]))
SELECTOR(select_prmt_mode) {
  static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
  f->in->aux = (uint32_t)tf_form_pick(f, 1, modes);
  return prmt_mode;
}

static const tf_row rows[] = {
#include "Sim/Insn/Logic.def"
};
TF_FAMILY(Logic, rows)
