/* cvt to and from the small formats: fp8 pairs in 16 bits, tf32 in the upper 19 bits of 32.
 *
 *   e4m3  s eeee mmm     bias 7, no infinity, NaN 0x7F, largest 448        first source, and first element of a pair: upper byte
 *   e5m2  s eeeee mm     bias 15, the upper byte of an f16, largest 57344
 *
 * Narrowing to fp8 rounds to nearest even and saturates, infinities too; NaN becomes 0x7F. */
#include "Sim/Insn/Formats.h"
#include "Sim/Insn/Elements.h"

enum { RELU = 1, FINITE = 2, E5M2 = 4, MODE_SHIFT = 4 };
enum { RN, RZ, RNA };

/* |x| as an fp8 magnitude: `mantissa` bits, least exponent -bias + 1; saturates at `largest`. */
static inline uint32_t fp8_magnitude(float x, unsigned mantissa, int least, uint32_t largest) {
  uint32_t bits = tf_float_bits(x) & 0x7FFFFFFFu;
  int exponent = (int)(bits >> 23) - 127;
  uint32_t significand = (bits & 0x7FFFFFu) | 0x800000u;
  int shift = 23 - (int)mantissa + (exponent < least ? least - exponent : 0);
  if (shift > 25) return 0;
  uint32_t kept = significand >> shift, rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  if (exponent >= least) kept += (uint32_t)(exponent - least) << mantissa;
  return kept > largest ? largest : kept;
}

static inline uint32_t fp8(float x, uint32_t aux) {
  if (x != x) return 0x7F;
  if ((aux & RELU) && x <= 0) return 0;
  uint32_t magnitude = aux & E5M2 ? fp8_magnitude(x, 2, -14, 0x7B) : fp8_magnitude(x, 3, -6, 0x7E);
  return magnitude | (tf_float_bits(x) >> 24 & 0x80);
}

HANDLER(from_f32) {
  uint32_t *d = SLOT(uint32_t, 0);
  const float *pa = SLOT(const float, 1), *pb = SLOT(const float, 2);
  const uint32_t aux = in->aux;
  STORE_LANES(uint32_t, d, v = fp8(pa[l], aux) << 8 | fp8(pb[l], aux))
}

HANDLER(from_f16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), aux = in->aux;
  STORE_LANES(uint32_t, d, v = fp8(tf_half_to_float(s[l] >> 16), aux) << 8 | fp8(tf_half_to_float(s[l] & 0xFFFF), aux))
}

/* Every fp8 value is an f16 value. */
static inline uint32_t fp8_half(uint32_t code, uint32_t aux) {
  double x = aux & E5M2 ? tf_half_value(code << 8) : tf_e4m3_value(code);
  uint32_t half = tf_half_bits(x);
  return (aux & RELU) && (half & 0x8000) ? 0 : half;
}

HANDLER(to_f16x2) {
  uint32_t *d = SLOT(uint32_t, 0);
  const uint32_t *s = SLOT(const uint32_t, 1), aux = in->aux;
  STORE_LANES(uint32_t, d, v = fp8_half(s[l] >> 8 & 0xFF, aux) << 16 | fp8_half(s[l] & 0xFF, aux))
}

static inline uint32_t tf32(uint32_t bits, uint32_t aux) {
  uint32_t magnitude = bits & 0x7FFFFFFFu, mode = aux >> MODE_SHIFT;
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
  static const char *const modes[] = {[RN] = "rn", [RZ] = "rz", [RNA] = "rna", NULL};
  f->in->aux = (uint32_t)tf_form_pick(f, 0, modes) << MODE_SHIFT;
  if (tf_form_has(f, "relu")) f->in->aux |= RELU;
  if (tf_form_has(f, "satfinite")) f->in->aux |= FINITE;
  if (f->types[small] == TF_T_e5m2x2) f->in->aux |= E5M2;
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

static const tf_row rows[] = {
#include "Sim/Insn/ConvertSmall.def"
};
TF_FAMILY(ConvertSmall, rows)
