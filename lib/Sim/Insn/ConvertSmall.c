/* cvt to and from the small formats: pairs of 8, 6 or 4 bits, tf32 in the upper 19 bits of 32.
 *
 *                        bias  largest  NaN     first source, and first element of a pair: upper half
 *   e4m3   s eeee mmm       7      448  0x7F
 *   e5m2   s eeeee mm      15    57344  0x7F    with infinities; the upper byte of an f16
 *   e2m3   s ee mmm         1      7.5  none    in the lower 6 bits of a byte
 *   e3m2   s eee mm         3       28  none    in the lower 6 bits of a byte
 *   e2m1   s ee m           1        6  none    two in a byte
 *   ue8m0  eeeeeeee       127    2^127  0xFF    a power of two
 *
 * Narrowing to these rounds to nearest even and saturates, infinities too; NaN becomes NaN or else the largest number.
 * ue8m0 takes the magnitude, rounds it down or up to a power of two, and saturates if asked. */
#include "Sim/Insn/Elements.h"
#include "Sim/Insn/Formats.h"

enum { RELU = 1, FINITE = 2, MODE_SHIFT = 4, FORMAT_SHIFT = 8 };
enum { RN, RZ, RNA, RP };

typedef struct tiny {
  tf_type type;
  unsigned mantissa, part; /* bits of the fraction, and of an element in its pair */
  int least;               /* exponent of the least normal number */
  uint32_t largest, nan, sign;
} tiny;
static const tiny tinies[] = {
    {TF_T_e4m3x2, 3, 8, -6, 0x7E, 0x7F, 0x80}, {TF_T_e5m2x2, 2, 8, -14, 0x7B, 0x7F, 0x80},
    {TF_T_e2m3x2, 3, 8, 0, 0x1F, 0x1F, 0x20},  {TF_T_e3m2x2, 2, 8, -2, 0x1F, 0x1F, 0x20},
    {TF_T_e2m1x2, 1, 4, 0, 7, 7, 8},
};

/* |x| as the format has it. */
static inline uint32_t tiny_magnitude(float x, const tiny *t) {
  uint32_t bits = tf_float_bits(x) & 0x7FFFFFFFu;
  int exponent = (int)(bits >> 23) - 127;
  uint32_t significand = (bits & 0x7FFFFFu) | 0x800000u;
  int shift = 23 - (int)t->mantissa + (exponent < t->least ? t->least - exponent : 0);
  if (shift > 25) return 0;
  uint32_t kept = significand >> shift, rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  if (exponent >= t->least) kept += (uint32_t)(exponent - t->least) << t->mantissa;
  return kept > t->largest ? t->largest : kept;
}

static inline uint32_t narrow(float x, uint32_t aux) {
  const tiny *t = &tinies[aux >> FORMAT_SHIFT];
  if (x != x) return t->nan;
  if ((aux & RELU) && x <= 0) return 0;
  return tiny_magnitude(x, t) | (tf_float_bits(x) >> 31 ? t->sign : 0);
}

HANDLER(from_f32) {
  uint32_t *d = SLOT(uint32_t, 0);
  const float *pa = SLOT(const float, 1), *pb = SLOT(const float, 2);
  const uint32_t aux = in->aux, part = tinies[aux >> FORMAT_SHIFT].part;
  STORE_LANES(uint32_t, d, v = narrow(pa[l], aux) << part | narrow(pb[l], aux))
}

HANDLER(from_f16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), aux = in->aux, part = tinies[aux >> FORMAT_SHIFT].part;
  STORE_LANES(uint32_t, d,
              v = narrow(tf_half_to_float(s[l] >> 16), aux) << part | narrow(tf_half_to_float(s[l] & 0xFFFF), aux))
}

/* Every value of these formats is an f16 value; of 6 and 4 bits all codes are numbers. */
static inline double tiny_value(uint32_t code, const tiny *t) {
  uint32_t magnitude = code & (t->sign - 1), fraction = magnitude & ((1u << t->mantissa) - 1);
  int exponent = (int)(magnitude >> t->mantissa);
  uint32_t units = exponent ? fraction | 1u << t->mantissa : fraction;
  double x = ldexp((double)units, (exponent ? exponent - 1 : 0) + t->least - (int)t->mantissa);
  return code & t->sign ? -x : x;
}

static inline uint32_t widen(uint32_t code, uint32_t aux) {
  const tiny *t = &tinies[aux >> FORMAT_SHIFT];
  double x = t->type == TF_T_e5m2x2   ? tf_half_value(code << 8)
             : t->type == TF_T_e4m3x2 ? tf_e4m3_value(code)
                                      : tiny_value(code, t);
  uint32_t half = tf_half_bits(x);
  return (aux & RELU) && (half & 0x8000) ? 0 : half;
}

HANDLER(to_f16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), aux = in->aux, part = tinies[aux >> FORMAT_SHIFT].part;
  const uint32_t low = (1u << part) - 1;
  STORE_LANES(uint32_t, d, v = widen(s[l] >> part & low, aux) << 16 | widen(s[l] & low, aux))
}

/* The bits of an f32. Up: to the next power of two, but 2^-127 is the least. */
static inline uint32_t power(uint32_t bits, uint32_t aux) {
  uint32_t magnitude = bits & 0x7FFFFFFFu, exponent = magnitude >> 23;
  if (magnitude > 0x7F800000u) return 0xFF;
  bool up = (aux >> MODE_SHIFT & 15) == RP && magnitude > 0x00400000u && exponent < 0xFF && (magnitude & 0x7FFFFFu);
  exponent += up;
  return exponent == 0xFF && (aux & FINITE) ? 0xFE : exponent;
}
HANDLER(powers_of_f32) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *pa = SLOT(const uint32_t, 1), *pb = SLOT(const uint32_t, 2), aux = in->aux;
  STORE_LANES(uint32_t, d, v = power(pa[l], aux) << 8 | power(pb[l], aux))
}
HANDLER(powers_of_bf16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), aux = in->aux;
  STORE_LANES(uint32_t, d, v = power(s[l] & 0xFFFF0000u, aux) << 8 | power(s[l] << 16, aux))
}
static inline uint32_t power_bf16(uint32_t code) {
  return code == 0xFF ? 0x7FFF : code ? code << 7 : 0x40;
}
HANDLER(powers_to_bf16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1);
  STORE_LANES(uint32_t, d, v = power_bf16(s[l] >> 8 & 0xFF) << 16 | power_bf16(s[l] & 0xFF))
}

static inline uint32_t tf32(uint32_t bits, uint32_t aux) {
  uint32_t magnitude = bits & 0x7FFFFFFFu, mode = aux >> MODE_SHIFT & 15;
  if (magnitude > 0x7F800000u) return 0x7FFFFFFFu;
  if ((aux & RELU) && (bits >> 31)) return 0;
  uint32_t up = mode == RNA ? 0x1000u : mode == RN ? 0xFFFu + (magnitude >> 13 & 1u) : 0;
  uint32_t rounded = magnitude == 0x7F800000u ? magnitude : (magnitude + up) & 0xFFFFE000u;
  if ((aux & FINITE) && rounded >= 0x7F800000u) rounded = 0x7F7FE000u;
  return rounded | (bits & 0x80000000u);
}

HANDLER(to_tf32) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), aux = in->aux;
  STORE_LANES(uint32_t, d, v = tf32(s[l], aux))
}

static void encode(tf_form *f, unsigned small) {
  static const char *const modes[] = {[RN] = "rn", [RZ] = "rz", [RNA] = "rna", [RP] = "rp", NULL};
  uint32_t format = 0;
  while (format < sizeof tinies / sizeof *tinies && tinies[format].type != f->types[small])
    format++;
  f->in->aux = (uint32_t)tf_form_pick(f, 0, modes) << MODE_SHIFT | format << FORMAT_SHIFT;
  if (tf_form_has(f, "relu")) f->in->aux |= RELU;
  if (tf_form_has(f, "satfinite")) f->in->aux |= FINITE;
}

SELECTOR(select_tf32) {
  encode(f, 0);
  return to_tf32;
}
SELECTOR(select_from_f32) {
  encode(f, 0);
  return from_f32;
}
SELECTOR(select_from_f16x2) {
  encode(f, 0);
  return from_f16x2;
}
SELECTOR(select_to_f16x2) {
  encode(f, 1);
  return to_f16x2;
}
SELECTOR(select_to_powers) {
  encode(f, 0);
  return f->types[1] == TF_T_f32 ? powers_of_f32 : powers_of_bf16x2;
}
SELECTOR(select_from_powers) {
  (void)f;
  return powers_to_bf16x2;
}

static const tf_row rows[] = {
#include "Sim/Insn/ConvertSmall.def"
};
TF_FAMILY(ConvertSmall, rows)
