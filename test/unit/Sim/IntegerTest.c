/* Integer, logic, shift and byte instructions in every form of the table against exact arithmetic in 128 bits, bit loops
 * and the ISA's own pseudo-code. */
#include "Harness.h"
#include "Operands.h"
#include "RunPtx.h"
#include "Vectors.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 big;
__extension__ typedef unsigned __int128 ubig;

/* What an operation sees: its sources as numbers of the instruction's type and as bits. */
typedef struct context {
  const vec_form *f;
  const char *type;
  int bits;
  big a, b, c;
  const uint64_t *s;
} context;

static big number(uint64_t x, const char *type) {
  int bits = atoi(type + 1);
  big v = bits == 64 ? (big)x : (big)(x & ((UINT64_C(1) << bits) - 1));
  return type[0] == 's' && (v >> (bits - 1) & 1) ? v - ((big)1 << bits) : v;
}
static big clamp(big v, const char *type) {
  int bits = atoi(type + 1);
  big max = ((big)1 << (type[0] == 's' ? bits - 1 : bits)) - 1, min = type[0] == 's' ? -max - 1 : 0;
  return v > max ? max : v < min ? min : v;
}

/* OP(name, expression): one function per opcode, of a, b, c and x. */
#define OP(name, expression)                                                                                           \
  static big op_##name(const context *x) {                                                                             \
    big a = x->a, b = x->b, c = x->c;                                                                                  \
    (void)a, (void)b, (void)c;                                                                                         \
    return expression;                                                                                                 \
  }
#define HAS(mod) vec_has(x->f, mod)

/* ---- Arithmetic ---- */
static big limited(const context *x, big v) {
  return HAS("sat") ? clamp(v, x->type) : v;
}
/* The product, its upper half where .hi says so: the exact product has up to 128 bits, signed or not. */
static big product(const context *x) {
  int shift = HAS("hi") ? x->bits : 0;
  if (x->type[0] == 's') return (x->a * x->b) >> shift;
  return (big)(((ubig)x->a * (ubig)x->b) >> shift);
}
static big low24(const context *x, uint64_t v) {
  big m = (big)(v & 0xFFFFFF);
  return x->type[0] == 's' && m & 0x800000 ? m - 0x1000000 : m;
}
static big product24(const context *x) {
  return (low24(x, x->s[0]) * low24(x, x->s[1])) >> (HAS("hi") ? 16 : 0);
}
static big lifted(const context *x, big v) {
  return HAS("relu") && v < 0 ? 0 : v;
}
OP(add, limited(x, a + b))
OP(sub, limited(x, a - b))
OP(mul, product(x))
OP(mad, limited(x, product(x) + (HAS("wide") ? (big)x->s[2] : c)))
OP(mul24, product24(x))
OP(mad24, limited(x, product24(x) + c))
OP(sad, c + (a < b ? b - a : a - b))
OP(div, b ? a / b : -1)
OP(rem, b ? a % b : a)
OP(abs, a < 0 ? -a : a)
OP(neg, -a)
OP(min, lifted(x, a < b ? a : b))
OP(max, lifted(x, a > b ? a : b))

/* ---- Bits ---- */
static int bit(uint64_t v, int i) {
  return (int)(v >> i & 1);
}
static int leading_zeros(uint64_t v, int bits) {
  int n = 0;
  while (n < bits && !bit(v, bits - 1 - n))
    n++;
  return n;
}
static big count_ones(const context *x) {
  int n = 0;
  for (int i = 0; i < x->bits; i++)
    n += bit(x->s[0], i);
  return n;
}
static big find(const context *x) {
  uint64_t v = x->s[0];
  if (x->type[0] == 's' && bit(v, x->bits - 1)) v = ~v;
  int n = leading_zeros(v, x->bits);
  return n == x->bits ? (big)UINT32_MAX : HAS("shiftamt") ? n : x->bits - 1 - n;
}
static big find_nth(const context *x) {
  int64_t base = (int64_t)x->s[1], offset = (int32_t)x->s[2];
  if (offset == 0) return base < 32 && bit(x->s[0], (int)base) ? base : -1;
  int64_t count = llabs(offset) - 1, step = offset > 0 ? 1 : -1;
  for (int64_t at = base; at >= 0 && at < 32; at += step)
    if (bit(x->s[0], (int)at) && count-- == 0) return at;
  return -1;
}
static big reverse(const context *x) {
  uint64_t r = 0;
  for (int i = 0; i < x->bits; i++)
    r |= (uint64_t)bit(x->s[0], i) << (x->bits - 1 - i);
  return (big)r;
}
static big extract(const context *x) {
  int pos = (int)(x->s[1] & 0xFF), len = (int)(x->s[2] & 0xFF), top = pos + len - 1;
  if (top > x->bits - 1) top = x->bits - 1;
  int sign = x->type[0] == 's' && len ? bit(x->s[0], top) : 0;
  uint64_t d = 0;
  for (int i = 0; i < x->bits; i++)
    d |= (uint64_t)(i < len && pos + i < x->bits ? bit(x->s[0], pos + i) : sign) << i;
  return (big)d;
}
static big insert(const context *x) {
  uint64_t d = x->s[1];
  int pos = (int)(x->s[2] & 0xFF), len = (int)(x->s[3] & 0xFF);
  for (int i = 0; i < len && pos + i < x->bits; i++)
    d = (d & ~(UINT64_C(1) << (pos + i))) | (uint64_t)bit(x->s[0], i) << (pos + i);
  return (big)d;
}
/* The ISA's pseudo-code: ones from bit a up to bit a + b. */
static big bit_mask(const context *x) {
  uint32_t a = (uint32_t)x->s[0], b = (uint32_t)x->s[1], a1 = a & 31, sum = a1 + (b & 31);
  bool clamped = HAS("clamp");
  uint32_t mask0 = clamped && a >= 32 ? 0 : UINT32_MAX << a1;
  bool overflow = sum >= 32 || (clamped && (a >= 32 || b >= 32));
  uint32_t mask1 = overflow ? 0 : UINT32_MAX << sum;
  return mask0 & ~mask1;
}
static big sign_or_zero_extend(const context *x) {
  uint32_t a = (uint32_t)x->s[0], b = (uint32_t)x->s[1], b1 = b & 31;
  bool too_large = b >= 32 && HAS("clamp");
  uint32_t mask = too_large ? 0 : UINT32_MAX << b1, sign = 0;
  if (b1 != 0 && !too_large && x->type[0] == 's') sign = a >> ((b1 - 1) & 31) & 1;
  return (a & ~mask) | (sign ? mask : 0);
}
OP(popc, count_ones(x))
OP(clz, leading_zeros(x->s[0], x->bits))
OP(bfind, find(x))
OP(fns, find_nth(x))
OP(brev, reverse(x))
OP(bfe, extract(x))
OP(bfi, insert(x))
OP(bmsk, bit_mask(x))
OP(szext, sign_or_zero_extend(x))

/* ---- Dot products ---- */
static big part(uint64_t v, int i, int bits, const char *type) {
  big p = (big)(v >> bits * i & ((1u << bits) - 1));
  return type[0] == 's' && p >> (bits - 1) ? p - (1 << bits) : p;
}
static big dot(const context *x, int n, int bits, int first) {
  big sum = (big)x->s[2];
  for (int i = 0; i < n; i++)
    sum += part(x->s[0], i, bits, x->f->types[0]) * part(x->s[1], first + i, 8, x->f->types[1]);
  return sum;
}
OP(dp4a, dot(x, 4, 8, 0))
OP(dp2a, dot(x, 2, 16, HAS("hi") ? 2 : 0))

/* ---- Logic, shifts, bytes ---- */
static big table(const context *x) {
  uint64_t d = 0;
  for (int i = 0; i < 32; i++) {
    int index = bit(x->s[0], i) * 4 + bit(x->s[1], i) * 2 + bit(x->s[2], i);
    d |= (uint64_t)(x->f->immediate >> index & 1) << i;
  }
  return (big)d;
}
static big shift_right(const context *x) {
  int n = x->s[1] < (uint64_t)x->bits ? (int)x->s[1] : x->bits;
  return x->a >> n; /* of 128 bits: the sign fills up */
}
static ubig both(const context *x) {
  return (ubig)x->s[1] << 32 | x->s[0];
}
static big funnel(const context *x) {
  uint64_t c = x->s[2];
  int n = (int)(HAS("wrap") ? c % 32 : c > 32 ? 32 : c);
  return HAS("l") ? (big)((both(x) << n) >> 32) : (big)(both(x) >> n);
}
static big byte(const context *x, unsigned i) {
  return (big)(both(x) >> 8 * i & 0xFF);
}
static big permute(const context *x) {
  static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
  int mode = vec_pick(x->f, modes);
  unsigned c = (unsigned)x->s[2], m = c & 3;
  big d = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned from[] = {m + i, (m - i) & 7, m, i > m ? i : m, i < m ? i : m, (i & 1) + 2 * (m & 1)};
    unsigned nibble = c >> 4 * i & 15;
    big v = byte(x, mode < 0 ? nibble & 7 : from[mode]);
    if (mode < 0 && nibble & 8) v = v & 0x80 ? 0xFF : 0;
    d |= v << 8 * i;
  }
  return d;
}
OP(and, (big)(x->s[0] & x->s[1]))
OP(or, (big)(x->s[0] | x->s[1]))
OP(xor, (big)(x->s[0] ^ x->s[1]))
OP(not, (big)~x->s[0])
OP(cnot, x->s[0] == 0)
OP(lop3, table(x))
OP(shl, x->s[1] < (uint64_t)x->bits ? a << x->s[1] : 0)
OP(shr, shift_right(x))
OP(shf, funnel(x))
OP(prmt, permute(x))

static const struct {
  const char *opcode;
  big (*apply)(const context *x);
} operations[] = {
#define ROW(name) {#name, op_##name},
    ROW(add) ROW(sub) ROW(mul) ROW(mad) ROW(mul24) ROW(mad24) ROW(sad) ROW(div) ROW(rem) ROW(abs) ROW(neg) ROW(min)
        ROW(max) ROW(popc) ROW(clz) ROW(bfind) ROW(fns) ROW(brev) ROW(bfe) ROW(bfi) ROW(bmsk) ROW(szext) ROW(dp4a)
            ROW(dp2a) ROW(and) ROW(or) ROW(xor) ROW(not ) ROW(cnot) ROW(lop3) ROW(shl) ROW(shr) ROW(shf) ROW(prmt)
#undef ROW
};

static big apply(const vec_form *f, const char *type, const uint64_t *s) {
  context x = {.f = f, .type = type, .bits = atoi(type + 1), .s = s};
  x.a = number(s[0], type), x.b = number(s[1], type), x.c = number(s[2], type);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (strcmp(operations[i].opcode, f->opcode) == 0) return operations[i].apply(&x);
  ck_abort_msg("no evaluation of %s", f->opcode);
  return 0;
}

/* The element operation on both halves. */
static uint64_t apply_packed(const vec_form *f, const uint64_t *s) {
  char element[4] = {f->types[0][0], '1', '6', 0};
  uint64_t upper[3] = {s[0] >> 16, s[1] >> 16, 0};
  return ((uint64_t)apply(f, element, s) & 0xFFFF) | ((uint64_t)apply(f, element, upper) & 0xFFFF) << 16;
}

/* ---- The carry flag ----
 * Before the instruction it is set from %x, afterwards it is read into %y. Additions and subtractions each use their own
 * kind, so that it does not matter how a borrow is kept. */
static bool takes_carry(const vec_form *f) {
  return strcmp(f->opcode, "addc") == 0 || strcmp(f->opcode, "subc") == 0 || strcmp(f->opcode, "madc") == 0;
}
static bool with_carry(const vec_form *f) {
  return vec_has(f, "cc") || takes_carry(f);
}
static const char *carry_frame(const vec_form *f, bool after) {
  if (!with_carry(f)) return "";
  if (f->opcode[0] == 's') return after ? "subc.u32 %y, 0, 0;" : "sub.cc.u32 %y, 0, %x;";
  return after ? "addc.u32 %y, 0, 0;" : "add.cc.u32 %y, %x, -1;";
}
static vec_result apply_carry(const vec_form *f, const uint64_t *s) {
  int bits = atoi(f->types[0] + 1);
  bool flag = s[3] != 0, takes = takes_carry(f), subtracts = f->opcode[0] == 's';
  big a = (big)s[0], b = (big)s[1], sum, mask = ((big)1 << bits) - 1;
  if (f->opcode[0] == 'm') { /* a part of the product, then the addition */
    context x = {.f = f, .type = f->types[0], .bits = bits, .s = s};
    x.a = number(s[0], x.type), x.b = number(s[1], x.type);
    a = product(&x) & mask, b = (big)s[2];
  }
  sum = subtracts ? a - b - (takes && flag) : a + b + (takes && flag);
  bool out = subtracts ? sum < 0 : sum >> bits;
  if (!vec_has(f, "cc")) out = flag;
  return (vec_result){(uint64_t)sum, subtracts ? 0u - out : out};
}

static vec_result evaluate(const vec_form *f, const uint64_t s[VEC_SOURCES]) {
  if (with_carry(f)) return apply_carry(f, s);
  const char *type = f->types[0];
  if (strstr(type, "x2")) return (vec_result){apply_packed(f, s), 7};
  uint64_t d = (uint64_t)apply(f, strcmp(type, "pred") == 0 ? "u8" : type, s);
  if (!f->paired) return (vec_result){d, 7};
  bool set = (uint32_t)d != 0; /* lop3 joins "not zero" with a predicate */
  return (vec_result){d, vec_has(f, "and") ? set && s[3] : set || s[3]};
}

/* Words to and from their halves. */
START_TEST(packs) {
  static const struct {
    const char *text, *types;
  } moves[] = {
      {"mov.b64 %d, {%a, %b};", "b64 b32 b32 b32"},
      {".reg .b16 %l, %h; mov.b32 {%l, %h}, %a; mov.b32 %d, {%h, %l};", "b32 b32 b32 b32"},
  };
  uint64_t x[128 * 3], y[128 * 3];
  for (int i = 0; i < 128 * 3; i++)
    x[i] = y[i] = operand_value("b64");
  run_lanes(moves[_i].text, moves[_i].types, x, 128);
  for (int i = 0; i < 128 * 3; i += 3) {
    uint64_t low = y[i] & UINT32_MAX, want = low | y[i + 1] << 32, swapped = low >> 16 | (low & 0xFFFF) << 16;
    ck_assert_uint_eq(_i ? x[i] & UINT32_MAX : x[i], _i ? swapped : want);
  }
}
END_TEST

static const vec_suite integer = {.family = "Integer", .evaluate = evaluate, .frame = carry_frame};
static const vec_suite logic = {.family = "Logic", .evaluate = evaluate};

START_TEST(integer_rows) {
  vec_check(&integer, _i);
}
END_TEST
START_TEST(logic_rows) {
  vec_check(&logic, _i);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("integer");
  tcase_set_timeout(c, 60);
  tcase_add_loop_test(c, integer_rows, 0, vec_rows(&integer));
  tcase_add_loop_test(c, logic_rows, 0, vec_rows(&logic));
  tcase_add_loop_test(c, packs, 0, 2);
  return run_case("Sim integer", c);
}
