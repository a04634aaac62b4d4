/* Every float of the language but f64 has at most 24 bits of precision and fits a double, so sums, products and quotients
 * of two such numbers may be computed in double and rounded once more: 53 >= 2 * 24 + 2 bits make that exact.
 *
 * Integers of 64 bits do not fit: they are rounded to odd first, so that the second rounding sees on which side of a tie
 * they lie. */
#include "Runtime/Scalars.h"

#include <math.h>
#include <string.h>

#include "Runtime/Element.h"

double tf_scalar_decode(int64_t dtype, uint64_t bits) {
  tf_float_format format;
  if (tf_element_float_format((tf_element)dtype, &format)) return tf_float_decode(format, (uint32_t)bits);
  if (dtype == TF_ELEMENT_F32) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint64_t tf_scalar_encode(int64_t dtype, double value) {
  uint64_t bits = 0;
  (void)tf_element_from_float((tf_element)dtype, value, &bits); /* fails for integers only */
  return bits;
}

double tf_scalar_round(int64_t dtype, double value) {
  return tf_scalar_decode(dtype, tf_scalar_encode(dtype, value));
}

/* The double next to the magnitude with an odd last bit, or the magnitude itself. */
static double to_odd(uint64_t magnitude) {
  if (magnitude >> 53 == 0) return (double)magnitude;
  int shift = 64 - 53 - __builtin_clzll(magnitude);
  uint64_t kept = magnitude >> shift, lost = magnitude & ((UINT64_C(1) << shift) - 1);
  return ldexp((double)(kept | (lost != 0)), shift);
}

double tf_scalar_from_int(int64_t dtype, int64_t value, int64_t is_unsigned) {
  bool negative = !is_unsigned && value < 0;
  uint64_t magnitude = negative ? 0 - (uint64_t)value : (uint64_t)value;
  double sum = dtype == TF_ELEMENT_F64 ? (double)magnitude : to_odd(magnitude);
  return tf_scalar_round(dtype, negative ? -sum : sum);
}

double tf_scalar_floor_mod(double a, double b) {
  if (b == 0) return NAN;
  double rest = fmod(a, b);
  if (rest == 0) return copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Python's: (a - a % b) / b is nearly an integer, and the nearest one is meant. */
double tf_scalar_floor_div(double a, double b) {
  if (b == 0) return a / b;
  double rest = fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0 || isnan(quotient)) return copysign(quotient, a / b);
  double down = floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}
