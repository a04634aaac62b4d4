/* f16 and bf16 arithmetic. Every result is the exact result rounded once:
 *
 *   f16  add, sub, mul: f32 carries them exactly or with enough bits (24 >= 2*11 + 2) that rounding twice is rounding once
 *   the rest:           a double, made odd where it is inexact, then an odd f32, then the half; an odd last bit remembers
 *                       that something was cut off, so the last rounding is right
 * Packed forms apply the scalar to both halves. */
#include "Sim/Insn/Formats.h"
#include "Sim/Insn/Lanes.h"
#include "Sim/Insn/Perturb.h"

#include <math.h>

enum { ADD, SUB, MUL, FMA, MIN, MAX, TANH, EX2 };
/* aux: operation | flags */
enum {
  FTZ = 1u << 8,
  SAT = 1u << 9,
  RELU = 1u << 10,
  PROPAGATE = 1u << 11,
  XOR_SIGN = 1u << 12,
  OOB = 1u << 13,
  TWO = 1u << 14,
  BRAIN = 1u << 15
};
#define NAN16     0x7FFFu
/* What copies through tensor maps write beyond a tensor's bounds when asked for NaN; fma.oob makes 0 of products with it.
 * The ISA names the value without its bits: these are the ones that devices have been seen to write. */
#define OOB_NAN16 0x7FF7u

static inline double sum_odd(double a, double b) {
  double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
  uint64_t bits = tf_double_bits(sum);
  bool finite = (bits >> 52 & 0x7FF) != 0x7FF, inexact = error != 0 && error == error;
  /* Towards the error: away from zero if they have one sign. */
  uint64_t step = (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
  return finite && inexact && !(bits & 1) ? tf_as_double(bits + step) : sum;
}
static inline float odd_float(double x) {
  float r = (float)x;
  uint32_t bits = tf_float_bits(r);
  bool finite = (bits >> 23 & 0xFF) != 0xFF, inexact = (double)r != x && x == x;
  bool outward = fabs(x) > fabs((double)r);
  uint32_t odd = bits & 1 ? bits : outward ? bits + 1 : bits - 1;
  return finite && inexact ? tf_as_float(odd) : r;
}

static inline float widen(uint32_t h, bool bf16) {
  return bf16 ? tf_bf16_to_float(h) : tf_half_to_float(h);
}
static inline uint32_t shorten(float f, bool bf16) {
  return bf16 ? tf_float_to_bf16(f) : tf_float_to_half(f);
}
static inline uint32_t flush(uint32_t h, bool bf16) {
  uint32_t exponent = bf16 ? 0x7F80u : 0x7C00u;
  return h & exponent ? h : h & 0x8000u;
}

static inline uint32_t extreme(uint32_t a, uint32_t b, bool max, bool bf16, uint32_t flags) {
  float x = widen(a, bf16), y = widen(b, bf16);
  uint32_t sign = (a ^ b) & 0x8000u;
  if (flags & PROPAGATE && (x != x || y != y)) return NAN16;
  if (x != x && y != y) return NAN16;
  if (flags & XOR_SIGN) a &= 0x7FFFu, b &= 0x7FFFu, x = fabsf(x), y = fabsf(y);
  bool first = x != x ? false : y != y ? true : x == y ? ((a >> 15 & 1) != max) : (x < y) != max;
  uint32_t r = first ? a : b;
  return flags & XOR_SIGN ? (r & 0x7FFFu) | sign : r;
}

/* One half; `op`, `bf16` and `flags` are constants where speed matters. */
static inline uint32_t half_op(unsigned op, bool bf16, uint32_t flags, uint32_t a, uint32_t b, uint32_t c) {
  if (flags & FTZ) a = flush(a, bf16), b = flush(b, bf16), c = flush(c, bf16);
  if (flags & OOB && ((a & 0x7FFFu) == OOB_NAN16 || (b & 0x7FFFu) == OOB_NAN16)) return 0;
  float x = widen(a, bf16), y = widen(b, bf16), r = 0;
  double product = (double)x * (double)y;
  switch (op) {
  case ADD:
    r = bf16 ? odd_float(sum_odd((double)x, (double)y)) : x + y;
    break;
  case SUB:
    r = bf16 ? odd_float(sum_odd((double)x, -(double)y)) : x - y;
    break;
  case MUL:
    r = bf16 ? odd_float(product) : x * y;
    break;
  case FMA:
    r = odd_float(bf16 ? sum_odd(product, (double)widen(c, bf16)) : product + (double)widen(c, bf16));
    break;
  case TANH:
    r = odd_float(tanh((double)x));
    break;
  case EX2:
    r = odd_float(exp2((double)x));
    break;
  default:
    return extreme(a, b, op == MAX, bf16, flags);
  }
  if (flags & SAT) r = r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f;
  if (flags & RELU) r = r < 0.0f ? 0.0f : r;
  uint32_t h = shorten(r, bf16);
  if (flags & RELU && h == 0x8000u) h = 0;
  return flags & FTZ ? flush(h, bf16) : h;
}

#define SCALAR(op, bf16, flags, a, b, c) half_op(op, bf16, flags, (a)&0xFFFFu, (b)&0xFFFFu, (c)&0xFFFFu)
#define PAIR(op, bf16, flags, a, b, c)                                                                                 \
  (SCALAR(op, bf16, flags, a, b, c) | SCALAR(op, bf16, flags, (a) >> 16, (b) >> 16, (c) >> 16) << 16)
#define FORM(name, shape, op, bf16, flags)                                                                             \
  HANDLER(name) {                                                                                                      \
    uint32_t *d = SLOT(uint32_t, 0);                                                                                   \
    const uint32_t *pa = SLOT(const uint32_t, 1);                                                                      \
    const uint32_t *pb = in->op_count > 2 ? SLOT(const uint32_t, 2) : pa;                                              \
    const uint32_t *pc = in->op_count > 3 ? SLOT(const uint32_t, 3) : pa;                                              \
    STORE_LANES(uint32_t, d, v = shape(op, bf16, flags, pa[l], pb[l], pc[l]))                                          \
  }
FORM(any_f16, SCALAR, in->aux & 0xFF, false, in->aux)
FORM(any_bf16, SCALAR, in->aux & 0xFF, true, in->aux)
FORM(any_f16x2, PAIR, in->aux & 0xFF, false, in->aux)
FORM(any_bf16x2, PAIR, in->aux & 0xFF, true, in->aux)
FORM(add_f16x2, PAIR, ADD, false, 0)
FORM(sub_f16x2, PAIR, SUB, false, 0)
FORM(mul_f16x2, PAIR, MUL, false, 0)
FORM(fma_f16x2, PAIR, FMA, false, 0)
FORM(fma_bf16x2, PAIR, FMA, true, 0)

static tf_handler choose(tf_form *f, uint32_t op) {
  static const tf_handler fast[] = {add_f16x2, sub_f16x2, mul_f16x2, fma_f16x2};
  uint32_t flags = (tf_form_has(f, "ftz") ? FTZ : 0u) | (tf_form_has(f, "sat") ? SAT : 0u);
  flags |= (tf_form_has(f, "relu") ? RELU : 0u) | (tf_form_has(f, "NaN") ? PROPAGATE : 0u);
  flags |= (tf_form_has(f, "xorsign") ? XOR_SIGN : 0u) | (tf_form_has(f, "oob") ? OOB : 0u);
  f->in->aux = op | flags;
  switch (f->types[0]) {
  case TF_T_f16:
    return any_f16;
  case TF_T_bf16:
    return any_bf16;
  case TF_T_f16x2:
    return !flags && op <= FMA ? fast[op] : any_f16x2;
  default:
    return !flags && op == FMA ? fma_bf16x2 : any_bf16x2;
  }
}
SELECTOR(select_arith) {
  const char *o = f->row->opcode;
  return choose(f, strcmp(o, "add") == 0   ? ADD
                   : strcmp(o, "sub") == 0 ? SUB
                   : strcmp(o, "mul") == 0 ? MUL
                   : strcmp(o, "min") == 0 ? MIN
                                           : MAX);
}
SELECTOR(select_fma) {
  return choose(f, FMA);
}
/* Approximate functions of an adversarial launch, one half. */
static uint32_t perturbed(const tf_warp *w, bool tanh_op, bool bf16, bool ftz, uint32_t a) {
  double x = (double)widen(ftz ? flush(a, bf16) : a, bf16), exact = tanh_op ? tanh(x) : exp2(x);
  double error = tanh_op ? (bf16 ? TF_ERR_TANH_BF16_ABS : TF_ERR_TANH_F16_ABS)
                         : (bf16 ? TF_ERR_EX2_BF16 : TF_ERR_EX2_F16) * fabs(exact);
  uint32_t h = shorten(odd_float(tf_perturb(w, exact, error)), bf16);
  return ftz ? flush(h, bf16) : h;
}

HANDLER(function) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *pa = SLOT(const uint32_t, 1);
  bool pair = in->aux & TWO, bf16 = in->aux & BRAIN, ftz = in->aux & FTZ, tanh_op = (in->aux & 0xFF) == TANH;
  if (!w->launch->adversarial) {
    (pair ? bf16 ? any_bf16x2 : any_f16x2 : bf16 ? any_bf16 : any_f16)(w, in, mask);
    return;
  }
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    uint32_t low = perturbed(w, tanh_op, bf16, ftz, pa[l] & 0xFFFFu);
    d[l] = low | (pair ? perturbed(w, tanh_op, bf16, ftz, pa[l] >> 16) << 16 : 0);
  }
}
SELECTOR(select_function) {
  tf_type t = f->types[0];
  if (!choose(f, strcmp(f->row->opcode, "tanh") == 0 ? TANH : EX2)) return NULL;
  f->in->aux |= (t == TF_T_f16x2 || t == TF_T_bf16x2 ? TWO : 0u) | (t == TF_T_bf16 || t == TF_T_bf16x2 ? BRAIN : 0u);
  return function;
}

/* neg and abs: the sign bits; ftz flushes first. */
HANDLER(sign_bits) {
  uint32_t *d = SLOT(uint32_t, 0), clear = (uint32_t)in->imm[0], flip = (uint32_t)in->imm[1];
  const uint32_t *pa = SLOT(const uint32_t, 1);
  bool ftz = in->aux & FTZ;
  STORE_LANES(uint32_t, d, uint32_t a = pa[l]; if (ftz) a = flush(a & 0xFFFFu, false) | flush(a >> 16, false) << 16;
              v = (a & ~clear) ^ flip)
}
SELECTOR(select_sign) {
  uint32_t bits = tf_type_bytes(f->types[0]) == 4 ? 0x80008000u : 0x8000u;
  bool neg = strcmp(f->row->opcode, "neg") == 0;
  f->in->imm[0] = neg ? 0 : bits;
  f->in->imm[1] = neg ? bits : 0;
  f->in->aux = tf_form_has(f, "ftz") ? FTZ : 0;
  return sign_bits;
}

static bool compare(unsigned cmp, float a, float b) {
  bool nan = a != a || b != b;
  switch (cmp) {
  case 0:
    return a == b;
  case 1:
    return !nan && a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  case 5:
    return a >= b;
  case 12:
    return !nan;
  case 13:
    return nan;
  default: /* the unordered forms of the first six */
    return nan || compare(cmp - 6, a, b);
  }
}

/* aux: comparison | bf16 << 8 | packed << 9 | join << 10 | ftz << 12 | integer result << 13 */
enum { BF16 = 1u << 8, PACKED = 1u << 9, CMP_FTZ = 1u << 12, INTEGER = 1u << 13 };
static uint32_t join(uint32_t how, uint32_t value, uint32_t with) {
  return how == 1 ? value & with : how == 2 ? value | with : how == 3 ? value ^ with : value;
}
static uint32_t compare_lanes(const tf_insn *in, const uint32_t *a, const uint32_t *b, unsigned shift) {
  uint32_t r = 0;
  bool bf16 = in->aux & BF16;
  for (unsigned l = 0; l < TF_LANES; l++) {
    uint32_t x = a[l] >> shift & 0xFFFFu, y = b[l] >> shift & 0xFFFFu;
    if (in->aux & CMP_FTZ) x = flush(x, bf16), y = flush(y, bf16);
    r |= (uint32_t)compare(in->aux & 0xFF, widen(x, bf16), widen(y, bf16)) << l;
  }
  return r;
}
static void encode_compare(tf_form *f, tf_type t) {
  static const char *const cmps[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ", "neu",
                                     "ltu", "leu", "gtu", "geu", "num", "nan", NULL};
  uint32_t how = tf_form_has(f, "and") ? 1 : tf_form_has(f, "or") ? 2 : tf_form_has(f, "xor") ? 3 : 0;
  f->in->aux = (uint32_t)tf_form_pick(f, 0, cmps) | how << 10;
  if (t == TF_T_bf16 || t == TF_T_bf16x2) f->in->aux |= BF16;
  if (t == TF_T_f16x2 || t == TF_T_bf16x2) f->in->aux |= PACKED;
  if (tf_form_has(f, "ftz")) f->in->aux |= CMP_FTZ;
}

/* Packed: p from the low halves, q from the high ones. A scalar comparison has one result. */
HANDLER(setp) {
  const uint32_t *a = SLOT(const uint32_t, 2), *b = SLOT(const uint32_t, 3);
  uint32_t how = in->aux >> 10 & 3, with = how ? PRED_SRC(4) : 0;
  SET_PRED(0, join(how, compare_lanes(in, a, b, 0), with));
  if (in->op[1]) SET_PRED(1, join(how, compare_lanes(in, a, b, 16), with));
}
HANDLER(setp_scalar) {
  uint32_t how = in->aux >> 10 & 3, with = how ? PRED_SRC(3) : 0;
  SET_PRED(0, join(how, compare_lanes(in, SLOT(const uint32_t, 1), SLOT(const uint32_t, 2), 0), with));
}
SELECTOR(select_setp) {
  encode_compare(f, f->types[0]);
  return f->in->aux & PACKED ? setp : setp_scalar;
}

HANDLER(set) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *a = SLOT(const uint32_t, 1), *b = SLOT(const uint32_t, 2);
  uint32_t how = in->aux >> 10 & 3, with = how ? PRED_SRC(3) : 0, yes = (uint32_t)in->imm[0];
  uint32_t low = join(how, compare_lanes(in, a, b, 0), with);
  uint32_t high = in->aux & PACKED ? join(how, compare_lanes(in, a, b, 16), with) : 0;
  STORE_LANES(uint32_t, d, v = LANE(low, l) * yes | (LANE(high, l) * yes & 0xFFFFu) << 16)
}
SELECTOR(select_set) {
  tf_type d = f->types[0], s = f->types[1];
  encode_compare(f, s);
  bool packed = f->in->aux & PACKED, one_each = d == s;
  bool integer = tf_type_kind(d) == 'U' || tf_type_kind(d) == 'S';
  if (!one_each && !integer) return NULL;
  uint32_t all = tf_type_bytes(d) == 4 && !packed ? UINT32_MAX : 0xFFFFu;
  f->in->imm[0] = integer ? all : f->in->aux & BF16 ? 0x3F80 : 0x3C00;
  return packed && tf_type_bytes(d) != 4 ? NULL : set;
}

static const tf_row rows[] = {
#include "Sim/Insn/Half.def"
};
TF_FAMILY(Half, rows)
