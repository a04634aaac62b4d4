/* One encoder for all formats with a mantissa: a double is m * 2^(e - 52) with a 53-bit m; the format's grid around it
 * has the spacing 2^q; drop the bits of m below q and round.
 *
 *        m:  1xxxxxxxxxx|xxxxxxxx…x      q = max(e, emin) - man
 *            kept         dropped        code = (max(e, emin) - emin) << man  +  kept
 *
 * The implicit one of a normal number carries into the exponent field by itself, and so does a mantissa that rounds up
 * to the next power of two; a subnormal has no implicit one and lands in exponent field 0. */
#include "Support/Float.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct format_info {
  int man;             /* stored mantissa bits */
  int bias;            /* of the exponent field */
  unsigned bits;       /* of the code, without padding */
  unsigned padding;    /* zero bits below the code in storage */
  uint32_t max_finite; /* code of the largest finite value */
  uint32_t overflow;   /* code of what lies beyond it: infinity, or max_finite where the format saturates */
  uint32_t nan;        /* the quiet NaN that is produced */
  bool has_inf;        /* the top exponent field holds infinity and NaN only */
  bool ties_away;
} format_info;

static const format_info formats[] = {
    [TF_FLOAT_F16] = {10, 15, 16, 0, 0x7bff, 0x7c00, 0x7e00, true, false},
    [TF_FLOAT_BF16] = {7, 127, 16, 0, 0x7f7f, 0x7f80, 0x7fc0, true, false},
    [TF_FLOAT_TF32] = {10, 127, 19, 13, 0x3fbff, 0x3fc00, 0x3fe00, true, true},
    [TF_FLOAT_FP8E4M3] = {3, 7, 8, 0, 0x7e, 0x7e, 0x7f, false, false},
    [TF_FLOAT_FP8E5M2] = {2, 15, 8, 0, 0x7b, 0x7b, 0x7e, true, false},
};

#define DOUBLE_MAN  52
#define DOUBLE_BIAS 1023

static uint32_t round_magnitude(const format_info *f, uint64_t bits) {
  int field = (int)(bits >> DOUBLE_MAN) & 0x7ff;
  uint64_t m = bits & ((UINT64_C(1) << DOUBLE_MAN) - 1);
  if (field) m |= UINT64_C(1) << DOUBLE_MAN;
  int e = field ? field - DOUBLE_BIAS : 1 - DOUBLE_BIAS;
  int emin = 1 - f->bias;
  int top = e > emin ? e : emin;
  int drop = top - f->man - (e - DOUBLE_MAN);
  if (drop > DOUBLE_MAN + 2) return 0; /* below half of the smallest subnormal */
  if (top - emin >= 1 << (f->bits - 1 - (unsigned)f->man)) return f->overflow;
  uint64_t kept = m >> drop, rest = m & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
  if (rest > half || (rest == half && (f->ties_away || (kept & 1)))) kept++;
  uint64_t code = ((uint64_t)(top - emin) << f->man) + kept;
  return code > f->max_finite ? f->overflow : (uint32_t)code;
}

static uint32_t encode_e8m0(double value) {
  if (isnan(value) || value < 0) return 0xff;
  if (isinf(value)) return 0xfe;
  int e;
  double mantissa = frexp(value, &e); /* value = mantissa * 2^e, mantissa in [0.5, 1) or 0 */
  int code = e - 1 + 127;
  if (mantissa == 0 || code < 0) return 0;
  if (code >= 0xfe) return 0xfe;
  return (uint32_t)(mantissa > 0.75 || (mantissa == 0.75 && (code & 1)) ? code + 1 : code);
}

uint32_t tf_float_encode(tf_float_format format, double value) {
  if (format == TF_FLOAT_F8E8M0) return encode_e8m0(value);
  const format_info *f = &formats[format];
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t sign = (uint32_t)(bits >> 63) << (f->bits - 1);
  bits &= ~(UINT64_C(1) << 63);
  uint32_t code = isnan(value) ? f->nan : isinf(value) ? f->overflow : round_magnitude(f, bits);
  return (sign | code) << f->padding;
}

static double decode_magnitude(const format_info *f, uint32_t code) {
  uint32_t top_field = (1u << (f->bits - 1 - (unsigned)f->man)) - 1;
  uint32_t field = code >> f->man, m = code & ((1u << f->man) - 1);
  if (f->has_inf && field == top_field) return m ? (double)NAN : (double)INFINITY;
  if (!f->has_inf && code == f->nan) return (double)NAN;
  if (field == 0) return ldexp((double)m, 1 - f->bias - f->man);
  return ldexp((double)(m | 1u << f->man), (int)field - f->bias - f->man);
}

double tf_float_decode(tf_float_format format, uint32_t code) {
  if (format == TF_FLOAT_F8E8M0) return (code & 0xff) == 0xff ? (double)NAN : ldexp(1.0, (int)(code & 0xff) - 127);
  const format_info *f = &formats[format];
  code >>= f->padding;
  uint32_t sign = 1u << (f->bits - 1);
  double magnitude = decode_magnitude(f, code & (sign - 1));
  return code & sign ? -magnitude : magnitude;
}
