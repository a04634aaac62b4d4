/* Integer, logic, comparison and selection instructions against exact arithmetic in 128 bits, on edge values and noise. */
#include "RunPtx.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 big;
__extension__ typedef unsigned __int128 ubig;
typedef uint64_t (*evaluate)(uint64_t a, uint64_t b, uint64_t c);

enum { COUNT = 1024 };

static uint64_t noise = 88172645463325252u;
static uint64_t next(void) {
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   65,
                                   255,
                                   0x7F,
                                   0x80,
                                   0x7FFF,
                                   0x8000,
                                   0xFFFF,
                                   0x7FFFFFFF,
                                   0x80000000,
                                   0xFFFFFFFF,
                                   0x7FFFFFFFFFFFFFFF,
                                   0x8000000000000000,
                                   UINT64_MAX,
                                   0xFFFFFF};
  noise ^= noise << 13;
  noise ^= noise >> 7;
  noise ^= noise << 17;
  if (noise % 3 == 0) return edges[(noise >> 8) % (sizeof edges / sizeof *edges)];
  return noise >> (noise >> 58);
}

#define S(bits, x) ((int##bits##_t)(x))
#define U(bits, x) ((uint##bits##_t)(x))
#define E(name, expr)                                                                                                  \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c) {                                                           \
    (void)a;                                                                                                           \
    (void)b;                                                                                                           \
    (void)c;                                                                                                           \
    return (uint64_t)(expr);                                                                                           \
  }

static big clamp32(big x) {
  return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}
static int s24(uint64_t x) {
  x &= 0xFFFFFF;
  return x & 0x800000 ? (int)x - 0x1000000 : (int)x;
}
E(add, a + b)
E(sub, a - b)
E(add_sat, clamp32((big)S(32, a) + S(32, b)))
E(sub_sat, clamp32((big)S(32, a) - S(32, b)))
E(mul, a *b)
E(mulhi_u16, ((big)U(16, a) * U(16, b)) >> 16)
E(mulhi_s16, ((big)S(16, a) * S(16, b)) >> 16)
E(mulhi_u32, ((big)U(32, a) * U(32, b)) >> 32)
E(mulhi_s32, ((big)S(32, a) * S(32, b)) >> 32)
E(mulhi_u64, ((ubig)a * b) >> 64)
E(mulhi_s64, ((big)S(64, a) * S(64, b)) >> 64)
E(wide_u16, (big)U(16, a) * U(16, b))
E(wide_s16, (big)S(16, a) * S(16, b))
E(wide_u32, (big)U(32, a) * U(32, b))
E(wide_s32, (big)S(32, a) * S(32, b))
E(mad, a *b + c)
E(madhi_s32, (((big)S(32, a) * S(32, b)) >> 32) + c)
E(madhi_sat, clamp32((((big)S(32, a) * S(32, b)) >> 32) + S(32, c)))
E(madwide_s32, (big)S(32, a) * S(32, b) + (big)c)
E(mul24_lo_u, (a & 0xFFFFFF) * (b & 0xFFFFFF))
E(mul24_lo_s, (big)s24(a) * s24(b))
E(mul24_hi_u, ((ubig)(a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16)
E(mul24_hi_s, ((big)s24(a) * s24(b)) >> 16)
E(mad24_lo_s, (big)s24(a) * s24(b) + (big)c)
E(sad_s32, c + (uint64_t)((big)S(32, a) < S(32, b) ? (big)S(32, b) - S(32, a) : (big)S(32, a) - S(32, b)))
E(sad_u16, c + (U(16, a) < U(16, b) ? U(16, b) - U(16, a) : U(16, a) - U(16, b)))
E(div_u32, U(32, b) ? U(32, a) / U(32, b) : UINT32_MAX)
E(div_s32, S(32, b) ? (big)S(32, a) / S(32, b) : -1)
E(div_s16, S(16, b) ? (big)S(16, a) / S(16, b) : -1)
E(div_s64, S(64, b) ? (big)S(64, a) / S(64, b) : -1)
E(div_u64, b ? a / b : UINT64_MAX)
E(rem_s32, S(32, b) ? (big)S(32, a) % S(32, b) : S(32, a))
E(rem_s64, S(64, b) ? (big)S(64, a) % S(64, b) : S(64, a))
E(rem_u16, U(16, b) ? U(16, a) % U(16, b) : U(16, a))
E(abs_s16, S(16, a) < 0 ? -(big)S(16, a) : S(16, a))
E(abs_s64, S(64, a) < 0 ? -(big)S(64, a) : S(64, a))
E(neg, 0 - a)
E(min_s16, S(16, a) < S(16, b) ? a : b)
E(min_u32, U(32, a) < U(32, b) ? a : b)
E(max_s32, S(32, a) > S(32, b) ? a : b)
E(max_u64, a > b ? a : b)
E(min_s64, S(64, a) < S(64, b) ? a : b)
static uint64_t halves(uint64_t lo, uint64_t hi) {
  return (lo & 0xFFFF) | (hi & 0xFFFF) << 16;
}
E(add_x2, halves(a + b, (a >> 16) + (b >> 16)))
E(min_s16x2, halves(min_s16(a, b, 0), min_s16(a >> 16, b >> 16, 0)))
E(max_relu, S(32, a) > S(32, b) ? (S(32, a) > 0 ? a : 0) : (S(32, b) > 0 ? b : 0))
static uint64_t ones(uint64_t x, int bits) {
  uint64_t n = 0;
  for (int i = 0; i < bits; i++)
    n += x >> i & 1;
  return n;
}
static uint64_t leading(uint64_t x, int bits) {
  uint64_t n = 0;
  while (n < (uint64_t)bits && !(x >> (bits - 1 - (int)n) & 1))
    n++;
  return n;
}
E(popc32, ones(a, 32))
E(popc64, ones(a, 64))
E(clz32, leading(a, 32))
E(clz64, leading(a, 64))
static uint64_t find(uint64_t x, int bits, int is_signed, int shift) {
  if (is_signed && (x >> (bits - 1) & 1)) x = ~x;
  uint64_t n = leading(x, bits);
  return n == (uint64_t)bits ? UINT32_MAX : shift ? n : (uint64_t)bits - 1 - n;
}
E(bfind_u32, find(a, 32, 0, 0))
E(bfind_s32, find(a, 32, 1, 0))
E(bfind_shift_s64, find(a, 64, 1, 1))
E(bfind_u64, find(a, 64, 0, 0))
static uint64_t reverse(uint64_t x, int bits) {
  uint64_t r = 0;
  for (int i = 0; i < bits; i++)
    r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}
E(brev32, reverse(a, 32))
E(brev64, reverse(a, 64))
/* The ISA's own pseudo-code, bit by bit. */
static uint64_t field(uint64_t a, uint64_t b, uint64_t c, int bits, int is_signed) {
  int pos = (int)(b & 0xFF), len = (int)(c & 0xFF), top = pos + len - 1;
  if (top > bits - 1) top = bits - 1;
  int sign = is_signed && len ? (int)(a >> top & 1) : 0;
  uint64_t d = 0;
  for (int i = 0; i < bits; i++)
    d |= (uint64_t)(i < len && pos + i < bits ? a >> (pos + i) & 1 : (uint64_t)sign) << i;
  return d;
}
E(bfe_u32, field(a, b, c, 32, 0))
E(bfe_s32, field(a, b, c, 32, 1))
E(bfe_u64, field(a, b, c, 64, 0))
E(bfe_s64, field(a, b, c, 64, 1))
static uint64_t insert(uint64_t a, uint64_t b, int pos, int len, int bits) {
  for (int i = 0; i < len && pos + i < bits; i++)
    b = (b & ~((uint64_t)1 << (pos + i))) | (a >> i & 1) << (pos + i);
  return b;
}
E(bfi_32, insert(a, b, (int)(c & 0xFF), 11, 32))
E(bfi_64, insert(a, b, (int)(c & 0xFF), 37, 64))
static int byte(uint64_t x, int i, int is_signed) {
  int v = (int)(x >> 8 * i & 0xFF);
  return is_signed && v > 127 ? v - 256 : v;
}
static uint64_t dot4(uint64_t a, uint64_t b, uint64_t c, int sa, int sb) {
  big r = (big)c;
  for (int i = 0; i < 4; i++)
    r += byte(a, i, sa) * byte(b, i, sb);
  return (uint64_t)r;
}
E(dp4a_ss, dot4(a, b, c, 1, 1))
E(dp4a_us, dot4(a, b, c, 0, 1))
E(dp2a_lo, (big)c + (big)S(16, a) * byte(b, 0, 0) + (big)S(16, a >> 16) * byte(b, 1, 0))
E(dp2a_hi, (big)c + (big)U(16, a) * byte(b, 2, 1) + (big)U(16, a >> 16) * byte(b, 3, 1))
E(and_, a &b)
E(or_, a | b)
E(xor_, a ^ b)
E(not_, ~a)
E(cnot16, U(16, a) == 0)
static uint64_t lut(uint64_t a, uint64_t b, uint64_t c, int table) {
  uint64_t d = 0;
  for (int i = 0; i < 32; i++)
    d |= (uint64_t)(table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
  return d;
}
E(lop3_96, lut(a, b, c, 0x96))
E(lop3_1d, lut(a, b, c, 0x1D))
E(shl16, (b & 0xFFFFFFFF) > 15 ? 0 : a << (b & 31))
E(shl32, (b & 0xFFFFFFFF) > 31 ? 0 : a << (b & 31))
E(shl64, (b & 0xFFFFFFFF) > 63 ? 0 : a << (b & 63))
E(shr_u32, (b & 0xFFFFFFFF) > 31 ? 0 : U(32, a) >> (b & 31))
E(shr_s32, (big)S(32, a) >> ((b & 0xFFFFFFFF) > 31 ? 31 : (b & 31)))
E(shr_s16, (big)S(16, a) >> ((b & 0xFFFFFFFF) > 15 ? 15 : (b & 15)))
E(shr_s64, (big)S(64, a) >> ((b & 0xFFFFFFFF) > 63 ? 63 : (b & 63)))
static ubig pair(uint64_t a, uint64_t b) {
  return (ubig)(b & 0xFFFFFFFF) << 32 | (a & 0xFFFFFFFF);
}
static int clamped(uint64_t c) {
  return (c & 0xFFFFFFFF) > 32 ? 32 : (int)(c & 0xFFFFFFFF);
}
E(shf_l_wrap, (pair(a, b) << (c & 31)) >> 32)
E(shf_r_wrap, pair(a, b) >> (c & 31))
E(shf_l_clamp, (pair(a, b) << clamped(c)) >> 32)
E(shf_r_clamp, pair(a, b) >> clamped(c))
static uint64_t permute(uint64_t a, uint64_t b, uint64_t sel) {
  uint64_t all = (uint64_t)pair(a, b), d = 0;
  for (int i = 0; i < 4; i++) {
    uint64_t s = sel >> 4 * i & 15, v = all >> 8 * (s & 7) & 0xFF;
    d |= (s & 8 ? (v & 0x80 ? 0xFFu : 0) : v) << 8 * i;
  }
  return d;
}
E(prmt, permute(a, b, c))
E(prmt_f4e, (uint64_t)(pair(a, b) >> 8 * (c & 3)))
E(setp_lt_s32, S(32, a) < S(32, b) ? 1 : 0)
E(setp_hi_u64, a > b)
E(setp_le_s16, S(16, a) <= S(16, b))
E(set_ge, S(32, a) >= S(32, b) ? UINT32_MAX : 0)
E(slct, S(32, c) >= 0 ? a : b)
E(bmsk, (b & 0xFFFFFFFF) > 31   ? (a & 0xFFFFFFFF) > 31 ? 0 : UINT64_MAX << (a & 31)
          : (a & 0xFFFFFFFF) > 31 ? 0
                                : (((uint64_t)1 << (b & 31)) - 1) << (a & 31))
E(add128_hi, (uint64_t)((((ubig)b << 64 | a) + ((ubig)a << 64 | c)) >> 64))
E(sub128_hi, (uint64_t)((((ubig)b << 64 | a) - ((ubig)a << 64 | c)) >> 64))
E(mul64_parts, (uint64_t)(((ubig)U(32, a) * ((uint64_t)U(32, c) << 32 | U(32, b))) >> 32))
E(pack, (a & 0xFFFFFFFF) | b << 32)
E(swap16, (a >> 16 & 0xFFFF) | (a & 0xFFFF) << 16)

E(min_u16, U(16, a) < U(16, b) ? a : b)
E(min_u64, a < b ? a : b)
E(max_s16, S(16, a) > S(16, b) ? a : b)
E(max_u16, U(16, a) > U(16, b) ? a : b)
E(max_u32, U(32, a) > U(32, b) ? a : b)
E(max_s64, S(64, a) > S(64, b) ? a : b)
E(max_s16x2, halves(max_s16(a, b, 0), max_s16(a >> 16, b >> 16, 0)))
E(max_u16x2, halves(max_u16(a, b, 0), max_u16(a >> 16, b >> 16, 0)))
E(min_u16x2, halves(min_u16(a, b, 0), min_u16(a >> 16, b >> 16, 0)))
E(div_u16, U(16, b) ? U(16, a) / U(16, b) : UINT16_MAX)
E(rem_u64, b ? a % b : a)
E(abs_s32, S(32, a) < 0 ? -(big)S(32, a) : S(32, a))
E(madhi_s16, (((big)S(16, a) * S(16, b)) >> 16) + c)
E(madhi_u16, (((big)U(16, a) * U(16, b)) >> 16) + c)
E(madhi_u32, (((big)U(32, a) * U(32, b)) >> 32) + c)
E(madhi_u64, (uint64_t)(((ubig)a * b) >> 64) + c)
E(madhi_s64, (uint64_t)(((big)S(64, a) * S(64, b)) >> 64) + c)
E(madwide_u32, (uint64_t)U(32, a) * U(32, b) + c)
E(madwide_s16, (big)S(16, a) * S(16, b) + (big)c)
E(madwide_u16, (big)U(16, a) * U(16, b) + (big)c)
E(cnot32, U(32, a) == 0)
E(cnot64, a == 0)

#define P(op) ".reg .pred %p; " op "; selp.b32 %d, 1, 0, %p;"
static const struct {
  const char *text, *types; /* of d a b c */
  evaluate f;
} forms[] = {
    {"add.s16 %d, %a, %b;", "b16 b16 b16 b16", add},
    {"sub.u16 %d, %a, %b;", "b16 b16 b16 b16", sub},
    {"mul.lo.s16 %d, %a, %b;", "b16 b16 b16 b16", mul},
    {"mul.lo.s64 %d, %a, %b;", "b64 b64 b64 b64", mul},
    {"mad.lo.u16 %d, %a, %b, %c;", "b16 b16 b16 b16", mad},
    {"mad.lo.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", mad},
    {"mad.lo.u64 %d, %a, %b, %c;", "b64 b64 b64 b64", mad},
    {"mad.hi.s16 %d, %a, %b, %c;", "b16 b16 b16 b16", madhi_s16},
    {"mad.hi.u16 %d, %a, %b, %c;", "b16 b16 b16 b16", madhi_u16},
    {"mad.hi.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", madhi_u32},
    {"mad.hi.u64 %d, %a, %b, %c;", "b64 b64 b64 b64", madhi_u64},
    {"mad.hi.s64 %d, %a, %b, %c;", "b64 b64 b64 b64", madhi_s64},
    {"mad.wide.u32 %d, %a, %b, %c;", "b64 b32 b32 b64", madwide_u32},
    {"mad.wide.s16 %d, %a, %b, %c;", "b32 b16 b16 b32", madwide_s16},
    {"mad.wide.u16 %d, %a, %b, %c;", "b32 b16 b16 b32", madwide_u16},
    {"min.u16 %d, %a, %b;", "b16 b16 b16 b16", min_u16},
    {"min.u64 %d, %a, %b;", "b64 b64 b64 b64", min_u64},
    {"max.s16 %d, %a, %b;", "b16 b16 b16 b16", max_s16},
    {"max.u16 %d, %a, %b;", "b16 b16 b16 b16", max_u16},
    {"max.u32 %d, %a, %b;", "b32 b32 b32 b32", max_u32},
    {"max.s64 %d, %a, %b;", "b64 b64 b64 b64", max_s64},
    {"max.s16x2 %d, %a, %b;", "b32 b32 b32 b32", max_s16x2},
    {"max.u16x2 %d, %a, %b;", "b32 b32 b32 b32", max_u16x2},
    {"min.u16x2 %d, %a, %b;", "b32 b32 b32 b32", min_u16x2},
    {"add.s16x2 %d, %a, %b;", "b32 b32 b32 b32", add_x2},
    {"div.u16 %d, %a, %b;", "b16 b16 b16 b16", div_u16},
    {"rem.u64 %d, %a, %b;", "b64 b64 b64 b64", rem_u64},
    {"abs.s32 %d, %a;", "b32 b32 b32 b32", abs_s32},
    {"neg.s64 %d, %a;", "b64 b64 b64 b64", neg},
    {"and.b64 %d, %a, %b;", "b64 b64 b64 b64", and_},
    {"or.b16 %d, %a, %b;", "b16 b16 b16 b16", or_},
    {"or.b64 %d, %a, %b;", "b64 b64 b64 b64", or_},
    {"xor.b16 %d, %a, %b;", "b16 b16 b16 b16", xor_},
    {"not.b32 %d, %a;", "b32 b32 b32 b32", not_},
    {"cnot.b32 %d, %a;", "b32 b32 b32 b32", cnot32},
    {"cnot.b64 %d, %a;", "b64 b64 b64 b64", cnot64},
    {"add.u16 %d, %a, %b;", "b16 b16 b16 b16", add},
    {"add.s32 %d, %a, %b;", "b32 b32 b32 b32", add},
    {"add.u64 %d, %a, %b;", "b64 b64 b64 b64", add},
    {"add.sat.s32 %d, %a, %b;", "b32 b32 b32 b32", add_sat},
    {"sub.s16 %d, %a, %b;", "b16 b16 b16 b16", sub},
    {"sub.u32 %d, %a, %b;", "b32 b32 b32 b32", sub},
    {"sub.s64 %d, %a, %b;", "b64 b64 b64 b64", sub},
    {"sub.sat.s32 %d, %a, %b;", "b32 b32 b32 b32", sub_sat},
    {"mul.lo.u16 %d, %a, %b;", "b16 b16 b16 b16", mul},
    {"mul.lo.s32 %d, %a, %b;", "b32 b32 b32 b32", mul},
    {"mul.lo.u64 %d, %a, %b;", "b64 b64 b64 b64", mul},
    {"mul.hi.u16 %d, %a, %b;", "b16 b16 b16 b16", mulhi_u16},
    {"mul.hi.s16 %d, %a, %b;", "b16 b16 b16 b16", mulhi_s16},
    {"mul.hi.u32 %d, %a, %b;", "b32 b32 b32 b32", mulhi_u32},
    {"mul.hi.s32 %d, %a, %b;", "b32 b32 b32 b32", mulhi_s32},
    {"mul.hi.u64 %d, %a, %b;", "b64 b64 b64 b64", mulhi_u64},
    {"mul.hi.s64 %d, %a, %b;", "b64 b64 b64 b64", mulhi_s64},
    {"mul.wide.u16 %d, %a, %b;", "b32 b16 b16 b16", wide_u16},
    {"mul.wide.s16 %d, %a, %b;", "b32 b16 b16 b16", wide_s16},
    {"mul.wide.u32 %d, %a, %b;", "b64 b32 b32 b32", wide_u32},
    {"mul.wide.s32 %d, %a, %b;", "b64 b32 b32 b32", wide_s32},
    {"mad.lo.s16 %d, %a, %b, %c;", "b16 b16 b16 b16", mad},
    {"mad.lo.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", mad},
    {"mad.lo.s64 %d, %a, %b, %c;", "b64 b64 b64 b64", mad},
    {"mad.hi.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", madhi_s32},
    {"mad.hi.sat.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", madhi_sat},
    {"mad.wide.s32 %d, %a, %b, %c;", "b64 b32 b32 b64", madwide_s32},
    {"mul24.lo.u32 %d, %a, %b;", "b32 b32 b32 b32", mul24_lo_u},
    {"mul24.lo.s32 %d, %a, %b;", "b32 b32 b32 b32", mul24_lo_s},
    {"mul24.hi.u32 %d, %a, %b;", "b32 b32 b32 b32", mul24_hi_u},
    {"mul24.hi.s32 %d, %a, %b;", "b32 b32 b32 b32", mul24_hi_s},
    {"mad24.lo.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", mad24_lo_s},
    {"sad.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", sad_s32},
    {"sad.u16 %d, %a, %b, %c;", "b16 b16 b16 b16", sad_u16},
    {"div.u32 %d, %a, %b;", "b32 b32 b32 b32", div_u32},
    {"div.s32 %d, %a, %b;", "b32 b32 b32 b32", div_s32},
    {"div.s16 %d, %a, %b;", "b16 b16 b16 b16", div_s16},
    {"div.s64 %d, %a, %b;", "b64 b64 b64 b64", div_s64},
    {"div.u64 %d, %a, %b;", "b64 b64 b64 b64", div_u64},
    {"rem.s32 %d, %a, %b;", "b32 b32 b32 b32", rem_s32},
    {"rem.s64 %d, %a, %b;", "b64 b64 b64 b64", rem_s64},
    {"rem.u16 %d, %a, %b;", "b16 b16 b16 b16", rem_u16},
    {"abs.s16 %d, %a;", "b16 b16 b16 b16", abs_s16},
    {"abs.s64 %d, %a;", "b64 b64 b64 b64", abs_s64},
    {"neg.s16 %d, %a;", "b16 b16 b16 b16", neg},
    {"neg.s32 %d, %a;", "b32 b32 b32 b32", neg},
    {"min.s16 %d, %a, %b;", "b16 b16 b16 b16", min_s16},
    {"min.u32 %d, %a, %b;", "b32 b32 b32 b32", min_u32},
    {"max.s32 %d, %a, %b;", "b32 b32 b32 b32", max_s32},
    {"max.u64 %d, %a, %b;", "b64 b64 b64 b64", max_u64},
    {"min.s64 %d, %a, %b;", "b64 b64 b64 b64", min_s64},
    {"add.u16x2 %d, %a, %b;", "b32 b32 b32 b32", add_x2},
    {"min.s16x2 %d, %a, %b;", "b32 b32 b32 b32", min_s16x2},
    {"max.relu.s32 %d, %a, %b;", "b32 b32 b32 b32", max_relu},
    {"popc.b32 %d, %a;", "b32 b32 b32 b32", popc32},
    {"popc.b64 %d, %a;", "b32 b64 b32 b32", popc64},
    {"clz.b32 %d, %a;", "b32 b32 b32 b32", clz32},
    {"clz.b64 %d, %a;", "b32 b64 b32 b32", clz64},
    {"bfind.u32 %d, %a;", "b32 b32 b32 b32", bfind_u32},
    {"bfind.s32 %d, %a;", "b32 b32 b32 b32", bfind_s32},
    {"bfind.shiftamt.s64 %d, %a;", "b32 b64 b32 b32", bfind_shift_s64},
    {"bfind.u64 %d, %a;", "b32 b64 b32 b32", bfind_u64},
    {"brev.b32 %d, %a;", "b32 b32 b32 b32", brev32},
    {"brev.b64 %d, %a;", "b64 b64 b64 b64", brev64},
    {"bfe.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", bfe_u32},
    {"bfe.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", bfe_s32},
    {"bfe.u64 %d, %a, %b, %c;", "b64 b64 b32 b32", bfe_u64},
    {"bfe.s64 %d, %a, %b, %c;", "b64 b64 b32 b32", bfe_s64},
    {"bfi.b32 %d, %a, %b, %c, 11;", "b32 b32 b32 b32", bfi_32},
    {"bfi.b64 %d, %a, %b, %c, 37;", "b64 b64 b64 b32", bfi_64},
    {"dp4a.s32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", dp4a_ss},
    {"dp4a.u32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", dp4a_us},
    {"dp2a.lo.s32.u32 %d, %a, %b, %c;", "b32 b32 b32 b32", dp2a_lo},
    {"dp2a.hi.u32.s32 %d, %a, %b, %c;", "b32 b32 b32 b32", dp2a_hi},
    {"bmsk.clamp.b32 %d, %a, %b;", "b32 b32 b32 b32", bmsk},
    {"and.b16 %d, %a, %b;", "b16 b16 b16 b16", and_},
    {"or.b32 %d, %a, %b;", "b32 b32 b32 b32", or_},
    {"xor.b64 %d, %a, %b;", "b64 b64 b64 b64", xor_},
    {"not.b16 %d, %a;", "b16 b16 b16 b16", not_},
    {"not.b64 %d, %a;", "b64 b64 b64 b64", not_},
    {"cnot.b16 %d, %a;", "b16 b16 b16 b16", cnot16},
    {"lop3.b32 %d, %a, %b, %c, 0x96;", "b32 b32 b32 b32", lop3_96},
    {"lop3.b32 %d, %a, %b, %c, 0x1D;", "b32 b32 b32 b32", lop3_1d},
    {"shl.b16 %d, %a, %b;", "b16 b16 b32 b32", shl16},
    {"shl.b32 %d, %a, %b;", "b32 b32 b32 b32", shl32},
    {"shl.b64 %d, %a, %b;", "b64 b64 b32 b32", shl64},
    {"shr.u32 %d, %a, %b;", "b32 b32 b32 b32", shr_u32},
    {"shr.s32 %d, %a, %b;", "b32 b32 b32 b32", shr_s32},
    {"shr.s16 %d, %a, %b;", "b16 b16 b32 b32", shr_s16},
    {"shr.s64 %d, %a, %b;", "b64 b64 b32 b32", shr_s64},
    {"shf.l.wrap.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_l_wrap},
    {"shf.r.wrap.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_r_wrap},
    {"shf.l.clamp.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_l_clamp},
    {"shf.r.clamp.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_r_clamp},
    {"prmt.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", prmt},
    {"prmt.b32.f4e %d, %a, %b, %c;", "b32 b32 b32 b32", prmt_f4e},
    {P("setp.lt.s32 %p, %a, %b"), "b32 b32 b32 b32", setp_lt_s32},
    {P("setp.hi.u64 %p, %a, %b"), "b32 b64 b64 b32", setp_hi_u64},
    {P("setp.le.s16 %p, %a, %b"), "b32 b16 b16 b32", setp_le_s16},
    {"set.ge.u32.s32 %d, %a, %b;", "b32 b32 b32 b32", set_ge},
    {"slct.u64.s32 %d, %a, %b, %c;", "b64 b64 b64 b32", slct},
    {".reg .b64 %t; add.cc.u64 %t, %a, %c; addc.u64 %d, %b, %a;", "b64 b64 b64 b64", add128_hi},
    {".reg .b64 %t; sub.cc.u64 %t, %a, %c; subc.u64 %d, %b, %a;", "b64 b64 b64 b64", sub128_hi},
    {".reg .b32 %l, %m, %h, %z; mov.u32 %z, 0; mul.lo.u32 %l, %a, %b; mul.hi.u32 %m, %a, %b; mad.lo.cc.u32 %m, %a, %c, "
     "%m; "
     "madc.hi.u32 %h, %a, %c, %z; mov.b64 %d, {%m, %h};",
     "b64 b32 b32 b32", mul64_parts},
    {"mov.b64 %d, {%a, %b};", "b64 b32 b32 b32", pack},
    {".reg .b16 %l, %h; mov.b32 {%l, %h}, %a; mov.b32 %d, {%h, %l};", "b32 b32 b32 b32", swap16},
};

static uint64_t masked(uint64_t x, const char *type) {
  int bits = atoi(type + 1);
  return bits == 64 ? x : x & (((uint64_t)1 << bits) - 1);
}

/* The whole warp, then with every third lane masked off: those must keep what they had. */
static void check(int i, int guarded) {
  uint64_t x[COUNT * 3], y[COUNT * 3];
  char text[600];
  for (int k = 0; k < COUNT * 3; k++)
    y[k] = x[k] = next();
  const char *d = forms[i].types, type[3] = {d[1], d[2], 0};
  const char *guard =
      guarded ? ".reg .pred %q; .reg .b32 %n; rem.u32 %n, %r0, 3; setp.ne.u32 %q, %n, 1;\n@!%q bra $skip;" : "";
  snprintf(text, sizeof text, "mov.b%s %%d, 7; %s\n{ %s }\n$skip:", type, guard, forms[i].text);
  run_lanes(text, forms[i].types, x, COUNT);
  for (int k = 0; k < COUNT; k++) {
    uint64_t got = masked(x[3 * k], d), want = masked(forms[i].f(y[3 * k], y[3 * k + 1], y[3 * k + 2]), d);
    if (guarded && k % 3 == 1) want = 7;
    ck_assert_msg(got == want, "%s a=%llx b=%llx c=%llx: %llx, expected %llx", forms[i].text,
                  (unsigned long long)y[3 * k], (unsigned long long)y[3 * k + 1], (unsigned long long)y[3 * k + 2],
                  (unsigned long long)got, (unsigned long long)want);
  }
}

START_TEST(full_warps) {
  check(_i, 0);
}
END_TEST

START_TEST(partial_warps) {
  check(_i, 1);
}
END_TEST

int main(void) {
  Suite *s = suite_create("Sim integer");
  TCase *c = tcase_create("integer");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, full_warps, 0, sizeof forms / sizeof *forms);
  tcase_add_loop_test(c, partial_warps, 0, sizeof forms / sizeof *forms);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_NORMAL);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed != 0;
}
