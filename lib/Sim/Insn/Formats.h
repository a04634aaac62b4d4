/* Small floating-point formats: exact widening and rounding from wider formats, in integer arithmetic.
 *
 *            sign  exponent  fraction
 *   f16        1      5        10
 *   bf16       1      8         7
 *   tf32       1      8        10      (in the upper 19 bits of 32)
 * Everything rounds through tf_round_small, which takes a double: widening to double is exact for all of them. */
#ifndef TF_SIM_INSN_FORMATS_H
#define TF_SIM_INSN_FORMATS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum tf_rounding { TF_RN, TF_RZ, TF_RM, TF_RP, TF_RNA } tf_rounding;

typedef struct tf_small {
  int exponent_bits, fraction_bits;
} tf_small;

static const tf_small tf_f16_format = {5, 10}, tf_bf16_format = {8, 7}, tf_tf32_format = {8, 10};

/* f16 to f32: exact, also for subnormals. Branch-free, so loops over it vectorise. NaN payloads move along. */
static inline float tf_half_to_float(uint32_t h) {
  uint32_t sign = (h & 0x8000u) << 16, em = h & 0x7FFFu;
  uint32_t shifted = em << 13;
  /* Scale by 2^112 makes the exponent right for normal and subnormal numbers alike. */
  float scaled;
  memcpy(&scaled, &shifted, sizeof scaled);
  scaled *= 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &scaled, sizeof bits);
  bits = em >= 0x7C00u ? shifted | 0x7F800000u : bits;
  bits |= sign;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* f32 to f16, nearest even; NaN becomes 0x7FFF. */
static inline uint32_t tf_float_to_half(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  /* Normal results: round the 13 dropped bits in place. */
  uint32_t normal = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
  normal = (normal - 0x38000000u) >> 13;
  /* Subnormal results: adding 0.5 aligns and rounds them to the last place. */
  float a;
  memcpy(&a, &magnitude, sizeof a);
  a += 0.5f;
  uint32_t tiny;
  memcpy(&tiny, &a, sizeof tiny);
  tiny -= 0x3F000000u;
  uint32_t r = magnitude < 0x38800000u ? tiny : normal;
  r = magnitude >= 0x477FF000u ? 0x7C00u : r;
  r = magnitude > 0x7F800000u ? 0x7FFFu : r | sign;
  return r;
}

static inline float tf_bf16_to_float(uint32_t b) {
  uint32_t bits = b << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* f32 to bf16, nearest even; NaN becomes 0x7FFF. */
static inline uint32_t tf_float_to_bf16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  uint32_t r = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  return (bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FFFu : r;
}

/* Rounds any double to a small format with IEEE infinities; returns its bits. NaN: all ones below the sign. Overflow goes
 * to infinity or the largest number as the rounding says. */
uint32_t tf_round_small(double x, tf_small format, tf_rounding rounding);
/* The value of an odd-rounded sum a + b: rounding it again to at most 50 bits is rounding the exact sum. */
double tf_add_odd(double a, double b);

#endif
