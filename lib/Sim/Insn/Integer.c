/* Integer arithmetic: two's complement, wrapping (the families are compiled with -fwrapv). */
#include "Sim/Insn/Lanes.h"

__extension__ typedef __int128 wide_s;
__extension__ typedef unsigned __int128 wide_u;

FOR_UNSIGNED(BINARY, add, a + b)
FOR_UNSIGNED(BINARY, sub, a - b)
FOR_UNSIGNED(BINARY, mul, (uint64_t)a *b)
FOR_UNSIGNED(TERNARY, mad, (uint64_t)a *b + c)
SELECT(select_add, BY_WIDTH(add))
SELECT(select_sub, BY_WIDTH(sub))
SELECT(select_mul_lo, BY_WIDTH(mul))
SELECT(select_mad_lo, BY_WIDTH(mad))

static inline int32_t saturate32(int64_t x) {
  return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

BINARY(add_sat, uint32_t, int32_t, uint32_t, saturate32((int64_t)a + b))
BINARY(sub_sat, uint32_t, int32_t, uint32_t, saturate32((int64_t)a - b))
SELECT(select_add_sat, [TF_T_s32] = add_sat)
SELECT(select_sub_sat, [TF_T_s32] = sub_sat)

#define HIGH(M, name, more)                                                                                            \
  M(name##_u16, uint32_t, uint16_t, uint16_t, (((uint32_t)a * b) >> 16) more)                                          \
  M(name##_s16, uint32_t, int16_t, uint16_t, (((int32_t)a * b) >> 16) more)                                            \
  M(name##_u32, uint32_t, uint32_t, uint32_t, (((uint64_t)a * b) >> 32) more)                                          \
  M(name##_s32, uint32_t, int32_t, uint32_t, (((int64_t)a * b) >> 32) more)                                            \
  M(name##_u64, uint64_t, uint64_t, uint64_t, (uint64_t)(((wide_u)a * b) >> 64) more)                                  \
  M(name##_s64, uint64_t, int64_t, uint64_t, (int64_t)(((wide_s)a * b) >> 64) more)
HIGH(BINARY, mulhi, )
HIGH(TERNARY, madhi, +c)
SELECT(select_mul_hi, BY_SIGN(mulhi))
SELECT(select_mad_hi, BY_SIGN(madhi))
TERNARY(madhi_sat, uint32_t, int32_t, uint32_t, saturate32((((int64_t)a * b) >> 32) + c))
SELECT(select_mad_hi_sat, [TF_T_s32] = madhi_sat)

/* D: lane type of the doubled result; C: operand; X: product. */
#define WIDE(name, D, C, X)                                                                                            \
  HANDLER(mulwide_##name) {                                                                                            \
    D *d = SLOT(D, 0);                                                                                                 \
    const uint32_t *pa = SLOT(const uint32_t, 1), *pb = SLOT(const uint32_t, 2);                                       \
    STORE_LANES(D, d, v = (D)((X)(C)pa[l] * (X)(C)pb[l]))                                                              \
  }                                                                                                                    \
  HANDLER(madwide_##name) {                                                                                            \
    D *d = SLOT(D, 0);                                                                                                 \
    const uint32_t *pa = SLOT(const uint32_t, 1), *pb = SLOT(const uint32_t, 2);                                       \
    const D *pc = SLOT(const D, 3);                                                                                    \
    STORE_LANES(D, d, v = (D)((D)((X)(C)pa[l] * (X)(C)pb[l]) + pc[l]))                                                 \
  }
WIDE(u16, uint32_t, uint16_t, uint32_t)
WIDE(s16, uint32_t, int16_t, int32_t)
WIDE(u32, uint64_t, uint32_t, uint64_t)
WIDE(s32, uint64_t, int32_t, int64_t)
#define BY_NARROW(n) [TF_T_u16] = n##_u16, [TF_T_s16] = n##_s16, [TF_T_u32] = n##_u32, [TF_T_s32] = n##_s32
SELECT(select_mul_wide, BY_NARROW(mulwide))
SELECT(select_mad_wide, BY_NARROW(madwide))

/* 24-bit operands: lo is bits 31..0 of the 48-bit product, hi bits 47..16. */
#define S24(x) ((int64_t)((int32_t)((uint32_t)(x) << 8) >> 8))
#define U24(x) ((uint64_t)((x)&0xFFFFFFu))
BINARY(mul24lo_u32, uint32_t, uint32_t, uint32_t, U24(a) * U24(b))
BINARY(mul24lo_s32, uint32_t, uint32_t, uint32_t, S24(a) * S24(b))
BINARY(mul24hi_u32, uint32_t, uint32_t, uint32_t, (U24(a) * U24(b)) >> 16)
BINARY(mul24hi_s32, uint32_t, uint32_t, uint32_t, (S24(a) * S24(b)) >> 16)
TERNARY(mad24lo_u32, uint32_t, uint32_t, uint32_t, U24(a) * U24(b) + c)
TERNARY(mad24lo_s32, uint32_t, uint32_t, uint32_t, (uint64_t)(S24(a) * S24(b)) + c)
TERNARY(mad24hi_u32, uint32_t, uint32_t, uint32_t, ((U24(a) * U24(b)) >> 16) + c)
TERNARY(mad24hi_s32, uint32_t, uint32_t, uint32_t, (uint64_t)((S24(a) * S24(b)) >> 16) + c)

SELECTOR(select_mul24) {
  bool s = f->types[0] == TF_T_s32;
  if (tf_form_has(f, "lo")) return s ? mul24lo_s32 : mul24lo_u32;
  return s ? mul24hi_s32 : mul24hi_u32;
}

SELECTOR(select_mad24) {
  bool s = f->types[0] == TF_T_s32;
  if (tf_form_has(f, "lo")) return s ? mad24lo_s32 : mad24lo_u32;
  return s ? mad24hi_s32 : mad24hi_u32;
}
TERNARY(mad24hi_sat, uint32_t, int32_t, uint32_t, saturate32((S24(a) * S24(b) >> 16) + c))
SELECT(select_mad24_hi_sat, [TF_T_s32] = mad24hi_sat)

FOR_SIGNS(TERNARY, sad, (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
SELECT(select_sad, BY_SIGN(sad))

/* By zero: all ones, as the hardware gives; remainder by zero: the dividend. */
#define DIVIDE(S, C, R, op)                                                                                            \
  S *d = SLOT(S, 0);                                                                                                   \
  const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                              \
  for (unsigned l = 0; l < TF_LANES; l++) {                                                                            \
    if (!LANE(mask, l)) continue;                                                                                      \
    C a = (C)pa[l], b = (C)pb[l];                                                                                      \
    d[l] = (S)(R)(op);                                                                                                 \
  }
#define DIV_TYPE(name, S, C, R, quotient, rest)                                                                        \
  HANDLER(div_##name){DIVIDE(S, C, R, b == 0 ? (C)-1 : quotient)} HANDLER(rem_##name) {                                \
    DIVIDE(S, C, R, b == 0 ? a : rest)                                                                                 \
  }
DIV_TYPE(u16, uint32_t, uint16_t, uint16_t, a / b, a % b)
DIV_TYPE(s16, uint32_t, int16_t, uint16_t, a / b, a % b)
DIV_TYPE(u32, uint32_t, uint32_t, uint32_t, a / b, a % b)
DIV_TYPE(s32, uint32_t, int32_t, uint32_t, (int64_t)a / b, (int64_t)a % b)
DIV_TYPE(u64, uint64_t, uint64_t, uint64_t, a / b, a % b)
DIV_TYPE(s64, uint64_t, int64_t, uint64_t, b == -1 ? -a : a / b, b == -1 ? 0 : a % b)
SELECT(select_div, BY_SIGN(div))
SELECT(select_rem, BY_SIGN(rem))

UNARY(abs_s16, uint32_t, int16_t, uint16_t, a < 0 ? -a : a)
UNARY(abs_s32, uint32_t, int32_t, uint32_t, a < 0 ? -a : a)
UNARY(abs_s64, uint64_t, int64_t, uint64_t, a < 0 ? -a : a)
UNARY(neg_s16, uint32_t, int16_t, uint16_t, -a)
UNARY(neg_s32, uint32_t, int32_t, uint32_t, -a)
UNARY(neg_s64, uint64_t, int64_t, uint64_t, -a)
SELECT(select_abs, [TF_T_s16] = abs_s16, [TF_T_s32] = abs_s32, [TF_T_s64] = abs_s64)
SELECT(select_neg, [TF_T_s16] = neg_s16, [TF_T_s32] = neg_s32, [TF_T_s64] = neg_s64)

FOR_SIGNS(BINARY, min, a < b ? a : b)
FOR_SIGNS(BINARY, max, a > b ? a : b)
SELECT(select_min, BY_SIGN(min))
SELECT(select_max, BY_SIGN(max))

#define LOW16(x)  ((x)&0xFFFFu)
#define HIGH16(x) ((x) >> 16)
#define PACKED(name, C, expr)                                                                                          \
  static inline uint32_t name##_half(C a, C b) {                                                                       \
    return (uint16_t)(expr);                                                                                           \
  }                                                                                                                    \
  BINARY(name, uint32_t, uint32_t, uint32_t,                                                                           \
         name##_half((C)LOW16(a), (C)LOW16(b)) | name##_half((C)HIGH16(a), (C)HIGH16(b)) << 16)
PACKED(add_x2, uint16_t, a + b)
PACKED(min_s16x2, int16_t, a < b ? a : b)
PACKED(min_u16x2, uint16_t, a < b ? a : b)
PACKED(max_s16x2, int16_t, a > b ? a : b)
PACKED(max_u16x2, uint16_t, a > b ? a : b)
PACKED(min_relu_x2, int16_t, a < b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
PACKED(max_relu_x2, int16_t, a > b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
BINARY(min_relu, uint32_t, int32_t, uint32_t, a < b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
BINARY(max_relu, uint32_t, int32_t, uint32_t, a > b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
SELECT(select_add_packed, [TF_T_s16x2] = add_x2, [TF_T_u16x2] = add_x2)
SELECT(select_min_packed, [TF_T_s16x2] = min_s16x2, [TF_T_u16x2] = min_u16x2)
SELECT(select_max_packed, [TF_T_s16x2] = max_s16x2, [TF_T_u16x2] = max_u16x2)
SELECT(select_min_relu, [TF_T_s32] = min_relu, [TF_T_s16x2] = min_relu_x2)
SELECT(select_max_relu, [TF_T_s32] = max_relu, [TF_T_s16x2] = max_relu_x2)

/* Results of 32 bits from operands of 64. */
#define NARROWING(name, expr)                                                                                          \
  HANDLER(name) {                                                                                                      \
    uint32_t *d = SLOT(uint32_t, 0);                                                                                   \
    const uint64_t *pa = SLOT(const uint64_t, 1);                                                                      \
    STORE_LANES(uint32_t, d, uint64_t a = pa[l]; v = (uint32_t)(expr))                                                 \
  }
UNARY(popc_32, uint32_t, uint32_t, uint32_t, __builtin_popcount(a))
UNARY(clz_32, uint32_t, uint32_t, uint32_t, a ? __builtin_clz(a) : 32)
NARROWING(popc_64, __builtin_popcountll(a))
NARROWING(clz_64, a ? __builtin_clzll(a) : 64)
SELECT(select_popc, [TF_T_b32] = popc_32, [TF_T_b64] = popc_64)
SELECT(select_clz, [TF_T_b32] = clz_32, [TF_T_b64] = clz_64)

/* Position of the most significant bit that differs from the sign; all ones if none. */
static inline uint32_t find32(uint32_t a, bool shift) {
  if (!a) return UINT32_MAX;
  return (uint32_t)(shift ? __builtin_clz(a) : 31 - __builtin_clz(a));
}
static inline uint32_t find64(uint64_t a, bool shift) {
  if (!a) return UINT32_MAX;
  return (uint32_t)(shift ? __builtin_clzll(a) : 63 - __builtin_clzll(a));
}
UNARY(bfind_u32, uint32_t, uint32_t, uint32_t, find32(a, in->aux))
UNARY(bfind_s32, uint32_t, uint32_t, uint32_t, find32(a >> 31 ? ~a : a, in->aux))
NARROWING(bfind_u64, find64(a, in->aux))
NARROWING(bfind_s64, find64(a >> 63 ? ~a : a, in->aux))

SELECTOR(select_bfind) {
  static const tf_handler table[TF_T_COUNT] = {BY_SIGN_32_64(bfind)};
  f->in->aux = tf_form_has(f, "shiftamt");
  return table[f->types[0]];
}

/* Position of the n-th set bit from `base` on, upwards for n > 0, downwards for n < 0. */
static uint32_t nth_set(uint32_t bits, uint32_t base, int32_t n) {
  if (base > 31) return UINT32_MAX;
  if (n == 0) return bits >> base & 1 ? base : UINT32_MAX;
  int step = n < 0 ? -1 : 1;
  int64_t left = n < 0 ? -(int64_t)n : n;
  for (int at = (int)base; at >= 0 && at < 32; at += step)
    if ((bits >> at & 1) && --left == 0) return (uint32_t)at;
  return UINT32_MAX;
}
TERNARY(fns, uint32_t, uint32_t, uint32_t, nth_set(a, b, (int32_t)c))
SELECT(select_fns, [TF_T_b32] = fns)

static inline uint32_t reverse32(uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
  return __builtin_bswap32(x);
}
UNARY(brev_32, uint32_t, uint32_t, uint32_t, reverse32(a))
UNARY(brev_64, uint64_t, uint64_t, uint64_t, (uint64_t)reverse32((uint32_t)a) << 32 | reverse32((uint32_t)(a >> 32)))
SELECT(select_brev, [TF_T_b32] = brev_32, [TF_T_b64] = brev_64)

/* Bits [pos, pos+len) of a, extended with zeros or with bit min(pos+len-1, msb). */
static inline uint64_t extract(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed) {
  pos &= 0xFF;
  len &= 0xFF;
  if (len == 0) return 0;
  unsigned top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
  uint64_t sign = is_signed && (a >> top & 1) ? UINT64_MAX : 0;
  if (pos >= bits) return sign;
  uint64_t field = a >> pos;
  unsigned have = bits - pos < len ? bits - pos : len;
  return have >= 64 ? field : (field & (((uint64_t)1 << have) - 1)) | sign << have;
}
#define BFE(name, S, bits, is_signed)                                                                                  \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1);                                                                                    \
    const uint32_t *pb = SLOT(const uint32_t, 2), *pc = SLOT(const uint32_t, 3);                                       \
    STORE_LANES(S, d, v = (S)extract(pa[l], pb[l], pc[l], bits, is_signed))                                            \
  }
BFE(bfe_u32, uint32_t, 32, false)
BFE(bfe_s32, uint32_t, 32, true)
BFE(bfe_u64, uint64_t, 64, false)
BFE(bfe_s64, uint64_t, 64, true)
SELECT(select_bfe, BY_SIGN_32_64(bfe))

/* b with bits [pos, pos+len) replaced by the low bits of a. */
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits) {
  pos &= 0xFF;
  len &= 0xFF;
  if (pos >= bits || len == 0) return b;
  uint64_t field = len >= 64 ? UINT64_MAX : ((uint64_t)1 << len) - 1;
  return (b & ~(field << pos)) | (a & field) << pos;
}
#define BFI(name, S, bits)                                                                                             \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                            \
    const uint32_t *pc = SLOT(const uint32_t, 3), *pe = SLOT(const uint32_t, 4);                                       \
    STORE_LANES(S, d, v = (S)insert(pa[l], pb[l], pc[l], pe[l], bits))                                                 \
  }
BFI(bfi_32, uint32_t, 32)
BFI(bfi_64, uint64_t, 64)
SELECT(select_bfi, [TF_T_b32] = bfi_32, [TF_T_b64] = bfi_64)

static inline uint32_t make_mask(uint32_t pos, uint32_t len, bool clamp) {
  if (!clamp) pos &= 31, len &= 31;
  if (pos > 31) return 0;
  uint32_t ones = len > 31 ? UINT32_MAX : (1u << len) - 1;
  return ones << pos;
}
BINARY(bmsk, uint32_t, uint32_t, uint32_t, make_mask(a, b, in->aux))
SELECTOR(select_bmsk) {
  f->in->aux = tf_form_has(f, "clamp");
  return bmsk;
}

static inline uint32_t extend(uint32_t a, uint32_t n, bool clamp, bool is_signed) {
  if (!clamp) n &= 31;
  if (n >= 32) return a;
  if (n == 0) return 0;
  uint32_t ones = (1u << n) - 1;
  return is_signed && (a >> (n - 1) & 1) ? a | ~ones : a & ones;
}
BINARY(szext, uint32_t, uint32_t, uint32_t, extend(a, b, in->aux & 1, in->aux >> 1))
SELECTOR(select_szext) {
  f->in->aux = (uint32_t)tf_form_has(f, "clamp") | (f->types[0] == TF_T_s32 ? 2u : 0u);
  return szext;
}

static inline int32_t byte_of(uint32_t x, unsigned i, bool is_signed) {
  uint8_t b = (uint8_t)(x >> 8 * i);
  return is_signed ? (int8_t)b : b;
}
static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, uint32_t signs) {
  for (unsigned i = 0; i < 4; i++)
    c += (uint32_t)(byte_of(a, i, signs & 1) * byte_of(b, i, signs >> 1));
  return c;
}
/* The two 16-bit halves of a with two bytes of b: the low two or the high two. */
static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, uint32_t signs, unsigned first) {
  for (unsigned i = 0; i < 2; i++) {
    uint16_t half = (uint16_t)(a >> 16 * i);
    int32_t x = signs & 1 ? (int16_t)half : half;
    c += (uint32_t)x * (uint32_t)byte_of(b, first + i, signs >> 1 & 1);
  }
  return c;
}
TERNARY(dp4a, uint32_t, uint32_t, uint32_t, dot4(a, b, c, in->aux))
TERNARY(dp2a, uint32_t, uint32_t, uint32_t, dot2(a, b, c, in->aux & 3, in->aux >> 2))
static uint32_t dot_signs(const tf_form *f) {
  return (f->types[0] == TF_T_s32 ? 1u : 0u) | (f->types[1] == TF_T_s32 ? 2u : 0u);
}
SELECTOR(select_dp4a) {
  f->in->aux = dot_signs(f);
  return dp4a;
}
SELECTOR(select_dp2a) {
  f->in->aux = dot_signs(f) | (tf_form_has(f, "hi") ? 8u : 0u);
  return dp2a;
}

/* Extended precision. `takes`: the carry flag goes in; aux: it comes out. */
#define SUM(name, S, takes)                                                                                            \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                            \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      if (!LANE(mask, l)) continue;                                                                                    \
      S a = pa[l], b = pb[l], carry = (S)((takes) ? LANE(w->cc, l) : 0), sum = (S)(a + b), r = (S)(sum + carry);       \
      if (in->aux) w->cc = (w->cc & ~(1u << l)) | (uint32_t)(sum < a || r < sum) << l;                                 \
      d[l] = r;                                                                                                        \
    }                                                                                                                  \
  }
#define DIFFERENCE(name, S, takes)                                                                                     \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                            \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      if (!LANE(mask, l)) continue;                                                                                    \
      S a = pa[l], b = pb[l], borrow = (S)((takes) ? LANE(w->cc, l) : 0), r = (S)(a - b - borrow);                     \
      if (in->aux) w->cc = (w->cc & ~(1u << l)) | (uint32_t)(a < b || (a == b && borrow)) << l;                        \
      d[l] = r;                                                                                                        \
    }                                                                                                                  \
  }
SUM(add_cc_32, uint32_t, false)
SUM(add_cc_64, uint64_t, false)
SUM(addc_32, uint32_t, true)
SUM(addc_64, uint64_t, true)
DIFFERENCE(sub_cc_32, uint32_t, false)
DIFFERENCE(sub_cc_64, uint64_t, false)
DIFFERENCE(subc_32, uint32_t, true)
DIFFERENCE(subc_64, uint64_t, true)

#define CARRY_SELECT(name, n, out)                                                                                     \
  SELECTOR(name) {                                                                                                     \
    f->in->aux = out;                                                                                                  \
    return tf_type_bytes(f->types[0]) == 8 ? n##_64 : n##_32;                                                          \
  }
CARRY_SELECT(select_add_cc, add_cc, 1)
CARRY_SELECT(select_addc, addc, tf_form_has(f, "cc"))
CARRY_SELECT(select_sub_cc, sub_cc, 1)
CARRY_SELECT(select_subc, subc, tf_form_has(f, "cc"))

/* aux bits: 0 carry out, 1 carry in, 2 high half, 3 signed. */
#define MAD_CARRY(name, S, WS, WU, bits)                                                                               \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2), *pc = SLOT(const S, 3);                                    \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      if (!LANE(mask, l)) continue;                                                                                    \
      WU p = in->aux & 8 ? (WU)((WS)(WU)(WS)(SIGNED_##bits)pa[l] * (WS)(SIGNED_##bits)pb[l]) : (WU)pa[l] * pb[l];      \
      S t = in->aux & 4 ? (S)(p >> bits) : (S)p, carry = (S)(in->aux & 2 ? LANE(w->cc, l) : 0);                        \
      S sum = (S)(t + pc[l]), r = (S)(sum + carry);                                                                    \
      if (in->aux & 1) w->cc = (w->cc & ~(1u << l)) | (uint32_t)(sum < t || r < sum) << l;                             \
      d[l] = r;                                                                                                        \
    }                                                                                                                  \
  }
typedef int32_t SIGNED_32;
typedef int64_t SIGNED_64;
MAD_CARRY(mad_carry_32, uint32_t, int64_t, uint64_t, 32)
MAD_CARRY(mad_carry_64, uint64_t, wide_s, wide_u, 64)

static tf_handler mad_carry(tf_form *f, uint32_t flags) {
  if (tf_form_has(f, "hi")) flags |= 4;
  if (tf_type_kind(f->types[0]) == 'S') flags |= 8;
  f->in->aux = flags;
  return tf_type_bytes(f->types[0]) == 8 ? mad_carry_64 : mad_carry_32;
}
SELECTOR(select_mad_cc) {
  return mad_carry(f, 1);
}
SELECTOR(select_madc) {
  return mad_carry(f, 2u | tf_form_has(f, "cc"));
}

static const tf_row rows[] = {
#include "Sim/Insn/Integer.def"
};
TF_FAMILY(Integer, rows)
