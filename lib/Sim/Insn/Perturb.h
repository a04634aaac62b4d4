/* Approximate functions of an adversarial launch: any result within the bound that the ISA documents is legal, so one is
 * chosen that depends on the exact result and the seed. Zeros, infinities, NaN and 1 (2^0, cos 0) stay what they are. */
#ifndef TF_SIM_INSN_PERTURB_H
#define TF_SIM_INSN_PERTURB_H

#include "Sim/Insn/Lanes.h"

#include <math.h>

/* `exact`, or in an adversarial launch a value at most `error` away from it. The bounds below leave room for the rounding
 * that follows. */
static inline double tf_perturb(const tf_warp *w, double exact, double error) {
  double size = fabs(exact);
  if (!w->launch->adversarial || !(size >= 0x1p-126 && size < 0x1p127) || size == 1.0) return exact;
  uint64_t x = (tf_double_bits(exact) ^ (w->launch->seed + 1) * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 29) * 0x94D049BB133111EBu;
  return exact + error * ((double)(int64_t)(x ^ x >> 32) * 0x1p-63);
}

/* Documented bounds less the rounding to the result's type: relative to |v| except where a name says otherwise. */
#define TF_ERR_RCP           0x1p-25             /* 1 ulp */
#define TF_ERR_DIV           0x1.8p-24           /* 2 ulp */
#define TF_ERR_SQRT          0x1p-24             /* 2^-23 */
#define TF_ERR_RSQRT         0x1p-24             /* 2^-22.9 */
#define TF_ERR_EX2           0x1.8p-23           /* 2^-22 */
#define TF_ERR_LG2           0x1.8p-23           /* 2^-22; absolute between 0.5 and 2 */
#define TF_ERR_SIN_ABS       0x1p-21             /* 2^-20.9 absolute, between -pi and pi */
#define TF_ERR_TANH          (0x1p-11 - 0x1p-24) /* 2^-11 */
#define TF_ERR_EX2_F16       (0x1p-10)           /* 2^-9.9 */
#define TF_ERR_EX2_BF16      (0x1p-8)            /* 2^-7 */
#define TF_ERR_TANH_F16_ABS  0x1p-12             /* 2^-10.987 absolute */
#define TF_ERR_TANH_BF16_ABS 0x1p-9              /* 2^-8 absolute */

#endif
