/* cvt. Common pairs have vectorised loops of their own; all others go lane by lane through a value that holds every
 * source exactly:
 *
 *   integer source ─▶ 64-bit integer ─▶ clamp / truncate ─▶ integer
 *   float source   ─▶ double (exact) ─▶ round once       ─▶ integer or float */
#include "Sim/Insn/Formats.h"
#include "Sim/Insn/Lanes.h"

#include <fenv.h>
#include <math.h>

/* aux: destination type | source type << 8 | rounding << 16 | flags; imm[0]: bytes of the registers (d | s << 8). */
enum { FTZ = 1u << 20, SAT = 1u << 21, RELU = 1u << 22, FINITE = 1u << 23 };
static const char *const float_roundings[] = {"rn", "rz", "rm", "rp", NULL};
static const char *const integer_roundings[] = {"rni", "rzi", "rmi", "rpi", NULL};
static const int host_rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

#define DTYPE    ((tf_type)(in->aux & 0xFF))
#define STYPE    ((tf_type)(in->aux >> 8 & 0xFF))
#define ROUNDING (in->aux >> 16 & 3)

static void encode(tf_form *f, const char *const *roundings) {
  int r = roundings ? tf_form_pick(f, 0, roundings) : 0;
  f->in->aux = (uint32_t)f->types[0] | (uint32_t)f->types[1] << 8 | (r > 0 ? (uint32_t)r << 16 : 0u);
  if (tf_form_has(f, "ftz")) f->in->aux |= FTZ;
  if (tf_form_has(f, "sat")) f->in->aux |= SAT;
  if (tf_form_has(f, "relu")) f->in->aux |= RELU;
  if (tf_form_has(f, "satfinite")) f->in->aux |= FINITE;
  f->in->imm[0] = f->width[0] | f->width[1] << 8;
}

static inline uint64_t read_lane(const void *slot, unsigned bytes, unsigned l) {
  return bytes == 8 ? ((const uint64_t *)slot)[l] : ((const uint32_t *)slot)[l];
}

/* Extends the low bits of x, a value of `type`, to 64 bits. */
static inline uint64_t extend(uint64_t x, tf_type type) {
  unsigned bits = 8 * tf_type_bytes(type);
  if (bits == 64) return x;
  x &= ((uint64_t)1 << bits) - 1;
  bool negative = tf_type_kind(type) == 'S' && (x >> (bits - 1) & 1);
  return negative ? x | UINT64_MAX << bits : x;
}

static inline void write_lane(void *slot, unsigned bytes, unsigned l, uint64_t x) {
  if (bytes == 8)
    ((uint64_t *)slot)[l] = x;
  else
    ((uint32_t *)slot)[l] = (uint32_t)(bytes == 2 ? x & 0xFFFF : bytes == 1 ? x & 0xFF : x);
}

/* Clamps a 64-bit integer of the source's signedness into the destination's range. */
static uint64_t clamp(uint64_t x, bool source_signed, tf_type to) {
  unsigned bits = 8 * tf_type_bytes(to);
  if (tf_type_kind(to) == 'S') {
    int64_t max = (int64_t)(UINT64_MAX >> (65 - bits)), min = -max - 1, v = (int64_t)x;
    if (!source_signed) return x > (uint64_t)max ? (uint64_t)max : x;
    return (uint64_t)(v > max ? max : v < min ? min : v);
  }
  uint64_t max = UINT64_MAX >> (64 - bits);
  if (source_signed && (int64_t)x < 0) return 0;
  return x > max ? max : x;
}

HANDLER(int_int) {
  unsigned db = in->imm[0] & 0xFF, sb = in->imm[0] >> 8 & 0xFF;
  void *d = SLOT(void, 0);
  const void *s = SLOT(const void, 1);
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    uint64_t x = extend(read_lane(s, sb, l), STYPE);
    if (in->aux & SAT) x = clamp(x, tf_type_kind(STYPE) == 'S', DTYPE);
    write_lane(d, db, l, extend(x, DTYPE));
  }
}

/* S, D: lanes of source and destination; C, T: the types. */
#define FAST(name, S, C, D, T)                                                                                         \
  HANDLER(name) {                                                                                                      \
    D *d = SLOT(D, 0);                                                                                                 \
    const S *s = SLOT(const S, 1);                                                                                     \
    STORE_LANES(D, d, v = (D)(T)(C)s[l])                                                                               \
  }
FAST(u32_to_64, uint32_t, uint32_t, uint64_t, uint64_t)
FAST(s32_to_64, uint32_t, int32_t, uint64_t, int64_t)
FAST(any_64_to_32, uint64_t, uint64_t, uint32_t, uint32_t)
FAST(u16_to_32, uint32_t, uint16_t, uint32_t, uint32_t)
FAST(s16_to_32, uint32_t, int16_t, uint32_t, int32_t)
FAST(u8_to_32, uint32_t, uint8_t, uint32_t, uint32_t)
FAST(s8_to_32, uint32_t, int8_t, uint32_t, int32_t)
FAST(u16_to_64, uint32_t, uint16_t, uint64_t, uint64_t)
FAST(s16_to_64, uint32_t, int16_t, uint64_t, int64_t)

/* True when the source has values outside the destination's range: .sat is legal only then. */
static bool may_saturate(tf_type to, tf_type from) {
  bool to_signed = tf_type_kind(to) == 'S', from_signed = tf_type_kind(from) == 'S';
  if (from_signed && !to_signed) return true;
  return 8 * tf_type_bytes(from) - from_signed > 8 * tf_type_bytes(to) - to_signed;
}

SELECTOR(select_int_int) {
  encode(f, NULL);
  if (tf_form_has(f, "sat") && !may_saturate(f->types[0], f->types[1])) return NULL;
  unsigned db = f->width[0], sb = f->width[1], dt = tf_type_bytes(f->types[0]);
  bool sign = tf_type_kind(f->types[1]) == 'S';
  if (tf_form_has(f, "sat") || dt < 4 || (db == 8 && dt == 4)) {
    if (!tf_form_has(f, "sat") && dt == 2 && db == 2 && sb <= 4 && tf_type_bytes(f->types[1]) >= 2) return u16_to_32;
    return int_int;
  }
  switch (tf_type_bytes(f->types[1])) {
  case 1:
    return db == 4 && sb <= 4 ? (sign ? s8_to_32 : u8_to_32) : int_int;
  case 2:
    if (sb > 4) return int_int;
    return db == 8 ? (sign ? s16_to_64 : u16_to_64) : sign ? s16_to_32 : u16_to_32;
  case 4:
    return sb == 4 && db == 8 ? (sign ? s32_to_64 : u32_to_64) : int_int;
  default:
    return db == 4 ? any_64_to_32 : int_int;
  }
}

static inline float flush(float x) {
  uint32_t bits = tf_float_bits(x);
  return tf_as_float(bits & 0x7F800000u ? bits : bits & 0x80000000u);
}

/* A float lane of any type, exactly. */
static inline double read_float(const tf_insn *in, const void *slot, unsigned l) {
  uint64_t bits = read_lane(slot, in->imm[0] >> 8 & 0xFF, l);
  uint32_t low = (uint32_t)bits;
  switch (STYPE) {
  case TF_T_f16:
    return (double)tf_half_to_float(low);
  case TF_T_bf16:
    return (double)tf_bf16_to_float(low);
  case TF_T_f32:
    return (double)(in->aux & FTZ ? flush(tf_as_float(low)) : tf_as_float(low));
  default:
    return tf_as_double(bits);
  }
}

/* True when both registers have the sizes of their types, as the vectorised loops want. */
static bool natural(const tf_form *f) {
  return f->width[0] == tf_type_bytes(f->types[0]) && f->width[1] == tf_type_bytes(f->types[1]);
}

static double to_integral(double x, unsigned rounding) {
  return rounding == TF_RN ? rint(x) : rounding == TF_RZ ? trunc(x) : rounding == TF_RM ? floor(x) : ceil(x);
}

static uint64_t nan_as_integer(const tf_insn *in) {
  unsigned bits = 8 * tf_type_bytes(DTYPE);
  bool zero = STYPE != TF_T_f64 && bits != 64;
  return zero ? 0 : (uint64_t)1 << (bits - 1);
}

/* The integral double x in the destination's range, as its bits. */
static uint64_t clamp_double(double x, tf_type to) {
  unsigned bits = 8 * tf_type_bytes(to);
  bool is_signed = tf_type_kind(to) == 'S';
  double top = ldexp(1.0, (int)bits - (is_signed ? 1 : 0)), bottom = is_signed ? -top : 0.0;
  if (x >= top) return UINT64_MAX >> (is_signed ? 65 - bits : 64 - bits);
  if (x < bottom) return is_signed ? (uint64_t)1 << (bits - 1) : 0;
  return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
}

HANDLER(float_int) {
  unsigned db = in->imm[0] & 0xFF;
  void *d = SLOT(void, 0);
  const void *s = SLOT(const void, 1);
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    double x = read_float(in, s, l);
    uint64_t v = x != x ? nan_as_integer(in) : clamp_double(to_integral(x, ROUNDING), DTYPE);
    write_lane(d, db, l, extend(v, DTYPE));
  }
}
#define TO_S32(name, round)                                                                                            \
  HANDLER(name) {                                                                                                      \
    int32_t *d = SLOT(int32_t, 0);                                                                                     \
    const float *s = SLOT(const float, 1);                                                                             \
    STORE_LANES(int32_t, d, float a = round(s[l]); bool in_range = a >= -0x1p31f && a < 0x1p31f;                       \
                int32_t edge = a >= 0x1p31f ? INT32_MAX                                                                \
                               : a < 0      ? INT32_MIN                                                                \
                                            : 0;                                                                            \
                v = in_range ? (int32_t)(in_range ? a : 0.0f) : edge)                                                  \
  }
TO_S32(f32_s32_rn, rintf)
TO_S32(f32_s32_rz, truncf)
TO_S32(f32_s32_rm, floorf)
TO_S32(f32_s32_rp, ceilf)

SELECTOR(select_float_int) {
  static const tf_handler fast[] = {f32_s32_rn, f32_s32_rz, f32_s32_rm, f32_s32_rp};
  encode(f, integer_roundings);
  bool plain = f->types[0] == TF_T_s32 && f->types[1] == TF_T_f32 && natural(f) && !tf_form_has(f, "ftz");
  return plain ? fast[f->in->aux >> 16 & 3] : float_int;
}

/* A 64-bit integer as a double whose last bit is sticky: rounding it again to a short format is exact rounding. */
static double odd_double(uint64_t x, bool is_signed) {
  bool negative = is_signed && (int64_t)x < 0;
  uint64_t m = negative ? 0 - x : x;
  unsigned drop = m >> 53 ? 11 - (unsigned)__builtin_clzll(m) : 0;
  uint64_t lost = drop ? m & (((uint64_t)1 << drop) - 1) : 0;
  double d = ldexp((double)((m >> drop) | (lost != 0)), (int)drop);
  return negative ? -d : d;
}

/* Rounds x, exact or sticky, to the destination format and returns its bits, before .sat and the like. */
static uint64_t round_to(double x, tf_type to, unsigned rounding) {
  volatile double source = x;
  if (to == TF_T_f64) return tf_double_bits(x) | (x != x ? (uint64_t)1 << 51 : 0); /* NaN is quiet, its payload stays */
  if (to == TF_T_f32) {
    if (x != x) return 0x7FFFFFFFu;
    fesetround(host_rounding[rounding]);
    volatile float r = (float)source;
    fesetround(FE_TONEAREST);
    return tf_float_bits(r);
  }
  return tf_round_small(x, to == TF_T_f16 ? tf_f16_format : tf_bf16_format, (tf_rounding)rounding);
}

static double apply_range(const tf_insn *in, double x) {
  if (in->aux & SAT) return x > 0 ? (x < 1 ? x : 1) : 0;
  if (in->aux & RELU && x < 0) return 0;
  if (in->aux & RELU && x == 0) return 0;
  return x;
}

static uint64_t finish(const tf_insn *in, double x, tf_type to) {
  uint64_t bits = round_to(apply_range(in, x), to, ROUNDING);
  if (to == TF_T_f32 && in->aux & FTZ && !(bits & 0x7F800000u)) bits &= 0x80000000u;
  uint32_t infinity = to == TF_T_f16 ? 0x7C00u : 0x7F80u;
  if (in->aux & FINITE && x == x && (bits & 0x7FFF) == infinity) bits--; /* the largest number */
  return bits;
}

/* In the rounding mode in force. Compilers convert unsigned numbers by sums that make a -0 of 0 when rounding down; signed ones are
 * one instruction. The lowest bit of large numbers is sticky. */
static inline double from_unsigned(uint64_t x) {
  return x >> 63 ? (double)(int64_t)(x >> 1 | (x & 1)) * 2 : (double)(int64_t)x;
}

HANDLER(int_float) {
  unsigned db = in->imm[0] & 0xFF, sb = in->imm[0] >> 8 & 0xFF;
  void *d = SLOT(void, 0);
  const void *s = SLOT(const void, 1);
  bool is_signed = tf_type_kind(STYPE) == 'S';
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    uint64_t x = extend(read_lane(s, sb, l), STYPE);
    if (DTYPE == TF_T_f64) {
      volatile uint64_t source = x;
      fesetround(host_rounding[ROUNDING]);
      volatile double r = is_signed ? (double)(int64_t)source : from_unsigned(source);
      fesetround(FE_TONEAREST);
      write_lane(d, 8, l, tf_double_bits(apply_range(in, r)));
    } else
      write_lane(d, db, l, finish(in, odd_double(x, is_signed), DTYPE));
  }
}
FAST(s32_f32, uint32_t, int32_t, float, float)
FAST(u32_f32, uint32_t, uint32_t, float, float)
FAST(s32_f64, uint32_t, int32_t, double, double)
FAST(u32_f64, uint32_t, uint32_t, double, double)

SELECTOR(select_int_float) {
  encode(f, float_roundings);
  bool nearest = (f->in->aux >> 16) == 0, narrow = natural(f);
  tf_type d = f->types[0], s = f->types[1];
  if (nearest && narrow && d == TF_T_f32 && s == TF_T_s32) return s32_f32;
  if (nearest && narrow && d == TF_T_f32 && s == TF_T_u32) return u32_f32;
  if (nearest && narrow && d == TF_T_f64 && s == TF_T_s32) return s32_f64;
  if (nearest && narrow && d == TF_T_f64 && s == TF_T_u32) return u32_f64;
  return int_float;
}

HANDLER(float_float) {
  unsigned db = in->imm[0] & 0xFF;
  void *d = SLOT(void, 0);
  const void *s = SLOT(const void, 1);
  for (unsigned l = 0; l < TF_LANES; l++)
    if (LANE(mask, l)) write_lane(d, db, l, finish(in, read_float(in, s, l), DTYPE));
}
FAST(f32_f64, float, float, double, double)
HANDLER(f64_f32) {
  float *d = SLOT(float, 0);
  const double *s = SLOT(const double, 1);
  STORE_LANES(float, d, float a = (float)s[l]; v = a == a ? a : tf_as_float(0x7FFFFFFFu))
}
#define SMALL(name, S, D, expr)                                                                                        \
  HANDLER(name) {                                                                                                      \
    D *d = SLOT(D, 0);                                                                                                 \
    const S *s = SLOT(const S, 1);                                                                                     \
    STORE_LANES(D, d, v = expr)                                                                                        \
  }
SMALL(f16_f32, uint32_t, float, tf_half_to_float(s[l]))
SMALL(bf16_f32, uint32_t, float, tf_bf16_to_float(s[l]))
SMALL(f32_f16, float, uint32_t, tf_float_to_half(s[l]))
SMALL(f32_bf16, float, uint32_t, tf_float_to_bf16(s[l]))

SELECTOR(select_float_float) {
  encode(f, float_roundings);
  tf_type d = f->types[0], s = f->types[1];
  if (f->in->aux >> 16 || !natural(f)) return float_float;
  if (d == TF_T_f64 && s == TF_T_f32) return f32_f64;
  if (d == TF_T_f32 && s == TF_T_f64) return f64_f32;
  if (d == TF_T_f32 && s == TF_T_f16) return f16_f32;
  if (d == TF_T_f32 && s == TF_T_bf16) return bf16_f32;
  if (d == TF_T_f16 && s == TF_T_f32) return f32_f16;
  return d == TF_T_bf16 && s == TF_T_f32 ? f32_bf16 : float_float;
}

/* Rounds to an integral value of the same type: exact in double. */
HANDLER(integral) {
  unsigned db = in->imm[0] & 0xFF;
  void *d = SLOT(void, 0);
  const void *s = SLOT(const void, 1);
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    double x = to_integral(read_float(in, s, l), ROUNDING);
    write_lane(d, db, l, round_to(apply_range(in, x), DTYPE, TF_RN));
  }
}
SELECTOR(select_integral) {
  encode(f, integer_roundings);
  return integral;
}

/* The first source goes to the upper half. */
HANDLER(pack_halves) {
  uint32_t *d = SLOT(uint32_t, 0);
  const float *pa = SLOT(const float, 1), *pb = SLOT(const float, 2);
  tf_type half = DTYPE == TF_T_f16x2 ? TF_T_f16 : TF_T_bf16;
  for (unsigned l = 0; l < TF_LANES; l++)
    if (LANE(mask, l)) d[l] = (uint32_t)(finish(in, (double)pa[l], half) << 16 | finish(in, (double)pb[l], half));
}
HANDLER(pack_f16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const float *pa = SLOT(const float, 1), *pb = SLOT(const float, 2);
  STORE_LANES(uint32_t, d, v = tf_float_to_half(pa[l]) << 16 | tf_float_to_half(pb[l]))
}
HANDLER(pack_bf16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const float *pa = SLOT(const float, 1), *pb = SLOT(const float, 2);
  STORE_LANES(uint32_t, d, v = tf_float_to_bf16(pa[l]) << 16 | tf_float_to_bf16(pb[l]))
}
SELECTOR(select_pack_halves) {
  encode(f, float_roundings);
  if (f->in->aux >> 16) return pack_halves;
  return f->types[0] == TF_T_f16x2 ? pack_f16x2 : pack_bf16x2;
}

/* d = c shifted up, with the saturated a above the saturated b in its low bits. */
static uint32_t narrow(int32_t x, tf_type to, unsigned bits) {
  int32_t max = tf_type_kind(to) == 'S' ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  int32_t min = tf_type_kind(to) == 'S' ? -max - 1 : 0;
  return (uint32_t)(x > max ? max : x < min ? min : x) & ((1u << bits) - 1);
}
HANDLER(pack_int) {
  uint32_t *d = SLOT(uint32_t, 0);
  const int32_t *pa = SLOT(const int32_t, 1), *pb = SLOT(const int32_t, 2);
  const uint32_t *pc = in->op_count > 3 ? SLOT(const uint32_t, 3) : NULL;
  unsigned bits = DTYPE == TF_T_s16 || DTYPE == TF_T_u16 ? 16 : DTYPE == TF_T_s8 || DTYPE == TF_T_u8 ? 8 : 4;
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    uint32_t low = narrow(pa[l], DTYPE, bits) << bits | narrow(pb[l], DTYPE, bits);
    d[l] = pc ? pc[l] << 2 * bits | low : low;
  }
}
SELECTOR(select_pack_int) {
  encode(f, NULL);
  return pack_int;
}

static const tf_row rows[] = {
#include "Sim/Insn/Convert.def"
};
TF_FAMILY(Convert, rows)
