/* Conversions between the small floating-point formats and C's float and double.
 *
 *   format     bits  sign exp man   bias   beyond the largest finite value       NaN codes
 *   f16         16    1    5   10    15    infinity                              exp 31, man != 0
 *   bf16        16    1    8    7   127    infinity                              exp 255, man != 0
 *   tf32        32    1    8   10   127    infinity; low 13 of 32 bits are 0     as f32
 *   fp8e4m3      8    1    4    3     7    saturates to ±448, infinities too     0x7f, 0xff; there is no infinity
 *   fp8e5m2      8    1    5    2    15    saturates to ±57344, infinities too   0x7d..0x7f and with the sign
 *   f8e8m0       8    0    8    0   127    saturates to 2^127                    0xff; there is no zero
 *
 * Encoding rounds to nearest, ties to even (tf32: ties away from zero), in one step from a double, so the result is
 * correctly rounded whether the value came from a float or from a decimal constant. Subnormals are exact. A NaN becomes
 * the quiet NaN of the format with the sign kept. f8e8m0 holds only powers of two: zero and everything below 2^-127
 * become 2^-127, negative numbers become NaN, ties go to the even exponent code. Decoding is always exact.
 *
 * Thread-safety: pure functions. */
#ifndef TF_SUPPORT_FLOAT_H
#define TF_SUPPORT_FLOAT_H

#include <stdint.h>

typedef enum tf_float_format {
  TF_FLOAT_F16,
  TF_FLOAT_BF16,
  TF_FLOAT_TF32,
  TF_FLOAT_FP8E4M3,
  TF_FLOAT_FP8E5M2,
  TF_FLOAT_F8E8M0,
} tf_float_format;

/* The code of `value` in the low bits of the result; the rest is zero. */
uint32_t tf_float_encode(tf_float_format format, double value);

/* The value of a code; bits above the format's width are ignored, and so are tf32's low 13. */
double tf_float_decode(tf_float_format format, uint32_t code);

#endif
