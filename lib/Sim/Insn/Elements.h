/* Matrix elements: exact decoding to double, and one rounding on the way back.
 *
 * Products of two elements of at most 16 bits, and sums of any number of them that a matrix instruction takes, are formed
 * in double and rounded once per instruction to the accumulator's type. */
#ifndef TF_SIM_INSN_ELEMENTS_H
#define TF_SIM_INSN_ELEMENTS_H

#include "Sim/Insn/Formats.h"
#include "Sim/Insn/Lanes.h"

#include <fenv.h>

/* The host's rounding mode for .rn .rz .rm .rp; to nearest where none stands. */
static inline int tf_host_rounding(const tf_form *f) {
  return tf_form_has(f, "rz")   ? FE_TOWARDZERO
         : tf_form_has(f, "rm") ? FE_DOWNWARD
         : tf_form_has(f, "rp") ? FE_UPWARD
                                : FE_TONEAREST;
}

typedef enum tf_element {
  TF_EL_F16,
  TF_EL_BF16,
  TF_EL_TF32,
  TF_EL_E4M3,
  TF_EL_E5M2,
  TF_EL_U8,
  TF_EL_S8,
  TF_EL_U4,
  TF_EL_S4,
  TF_EL_B1,
  TF_EL_F64,
  TF_EL_COUNT
} tf_element;

static inline unsigned tf_element_bits(tf_element e) {
  static const unsigned char bits[TF_EL_COUNT] = {16, 16, 32, 8, 8, 8, 8, 4, 4, 1, 64};
  return bits[e];
}

static inline tf_element tf_element_of(tf_type type) {
  static const signed char of[TF_T_COUNT] = {
      [TF_T_bf16] = TF_EL_BF16, [TF_T_tf32] = TF_EL_TF32, [TF_T_e4m3] = TF_EL_E4M3, [TF_T_e5m2] = TF_EL_E5M2,
      [TF_T_u8] = TF_EL_U8,     [TF_T_s8] = TF_EL_S8,     [TF_T_u4] = TF_EL_U4,     [TF_T_s4] = TF_EL_S4,
      [TF_T_b1] = TF_EL_B1,     [TF_T_f64] = TF_EL_F64,   [TF_T_f16] = TF_EL_F16,
  };
  return (tf_element)of[type];
}

static inline double tf_half_value(uint32_t h) {
  return (double)tf_half_to_float(h & 0xFFFF);
}

static inline double tf_e4m3_value(uint32_t c) {
  uint32_t exponent = c >> 3 & 15, mantissa = c & 7;
  double magnitude =
      exponent == 0 ? mantissa * 0x1p-9 : tf_as_double((uint64_t)(exponent + 1016) << 52 | (uint64_t)mantissa << 49);
  if ((c & 0x7F) == 0x7F) magnitude = __builtin_nan("");
  return c & 0x80 ? -magnitude : magnitude;
}

/* The value of the element in the low bits of `bits`; B1 and F64 are not decoded here. */
static inline double tf_element_value(tf_element e, uint32_t bits) {
  switch (e) {
  case TF_EL_F16:
    return tf_half_value(bits);
  case TF_EL_BF16:
    return (double)tf_as_float(bits << 16);
  case TF_EL_TF32:
    return (double)tf_as_float(bits & 0xFFFFE000u); /* the hardware ignores the low bits */
  case TF_EL_E4M3:
    return tf_e4m3_value(bits);
  case TF_EL_E5M2:
    return tf_half_value((bits & 0xFF) << 8);
  case TF_EL_U8:
    return (double)(uint8_t)bits;
  case TF_EL_S8:
    return (double)(int8_t)bits;
  case TF_EL_U4:
    return (double)(bits & 15);
  case TF_EL_S4:
    return (double)((int32_t)(bits << 28) >> 28);
  default:
    return 0;
  }
}

/* Rounds to nearest even; NaN becomes the canonical one. */
static inline uint32_t tf_half_bits(double x) {
  uint64_t bits = tf_double_bits(x);
  uint32_t sign = (uint32_t)(bits >> 63) << 15;
  int exponent = (int)(bits >> 52 & 0x7FF) - 1023;
  if (x != x) return 0x7FFF;
  if (exponent < -25) return sign;
  if (exponent > 15) return sign | 0x7C00;
  uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFu) | 1ull << 52;
  int shift = exponent >= -14 ? 42 : 28 - exponent;
  uint64_t kept = mantissa >> shift, rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  return sign | ((exponent >= -14 ? (uint32_t)(exponent + 14) << 10 : 0) + (uint32_t)kept);
}

static inline uint32_t tf_single_bits(double x) {
  return x != x ? 0x7FFFFFFFu : tf_float_bits((float)x);
}

#endif
