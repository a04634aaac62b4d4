/* Rounding of doubles to small formats; see Insn/Formats.h. */
#include "Sim/Insn/Formats.h"

static double round_integer(double scaled, tf_rounding r) {
  double down = floor(scaled), rest = scaled - down;
  switch (r) {
  case TF_RZ:
    return trunc(scaled);
  case TF_RM:
    return down;
  case TF_RP:
    return ceil(scaled);
  case TF_RNA:
    return scaled < 0 ? -floor(-scaled + 0.5) : floor(scaled + 0.5);
  default:
    if (rest != 0.5) return rest < 0.5 ? down : down + 1;
    return fmod(down, 2.0) == 0 ? down : down + 1;
  }
}

uint32_t tf_round_small(double x, tf_small f, tf_rounding rounding) {
  int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
  uint32_t sign = signbit(x) ? 1u << (f.exponent_bits + f.fraction_bits) : 0;
  uint32_t infinity = (uint32_t)top << f.fraction_bits;
  if (x != x) return infinity | ((1u << f.fraction_bits) - 1);
  if (isinf(x)) return sign | infinity;
  if (x == 0) return sign;
  int exponent = ilogb(x);
  if (exponent < 1 - bias) exponent = 1 - bias;
  /* In units of the last place; |units| < 2^(fraction_bits+1), or equal after rounding up. */
  double units = round_integer(ldexp(x, f.fraction_bits - exponent), rounding);
  double magnitude = fabs(units);
  if (magnitude == 0) return sign;
  if (magnitude >= ldexp(1.0, f.fraction_bits + 1)) {
    magnitude /= 2;
    exponent++;
  }
  if (exponent > bias) {
    bool largest = rounding == TF_RZ || (rounding == TF_RM && x > 0) || (rounding == TF_RP && x < 0);
    return sign | (largest ? infinity - 1 : infinity);
  }
  uint32_t units_bits = (uint32_t)magnitude, hidden = 1u << f.fraction_bits;
  if (units_bits < hidden) return sign | units_bits; /* subnormal */
  return sign | (uint32_t)(exponent + bias) << f.fraction_bits | (units_bits - hidden);
}

double tf_add_odd(double a, double b) {
  double sum = a + b;
  if (!isfinite(sum)) return sum;
  double part = sum - a, error = (a - (sum - part)) + (b - part);
  if (error == 0) return sum;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (bits & 1) return sum;
  return nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}
