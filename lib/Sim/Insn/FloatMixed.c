/* f32 arithmetic on pairs, and with operands of 16 bits.
 *
 * A pair fills a 64-bit lane, so the 32 lanes are 64 floats in a row. 16-bit operands are widened exactly first. All
 * rounding modes go through the host's, set around the loop; NaN results are the canonical one. */
#include "Sim/Insn/Formats.h"
#include "Sim/Insn/Lanes.h"

#include <fenv.h>
#include <math.h>

enum { RND_MASK = 3, FTZ = 4, SAT = 8, BF16 = 16, PAIRS = 2 * TF_LANES };
static const char *const roundings[] = {"rn", "rz", "rm", "rp", NULL};
static const int host_rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

typedef enum operation { ADD, SUB, MUL, FMA } operation;

static inline float flush(float x) {
  uint32_t bits = tf_float_bits(x);
  return tf_as_float(bits & 0x7F800000u ? bits : bits & 0x80000000u);
}

/* count results of a op b (+ c) in the instruction's rounding mode. */
static inline __attribute__((always_inline)) void compute(operation op, const tf_insn *in, unsigned count,
                                                          const float *a, const float *b, const float *c, float *r) {
  fesetround(host_rounding[in->aux & RND_MASK]);
  for (unsigned i = 0; i < count; i++)
    r[i] = op == ADD ? a[i] + b[i] : op == SUB ? a[i] - b[i] : op == MUL ? a[i] * b[i] : fmaf(a[i], b[i], c[i]);
  __asm__ volatile("" : : "r"(r) : "memory"); /* the results are in memory before the mode changes back */
  fesetround(FE_TONEAREST);
  for (unsigned i = 0; i < count; i++) {
    if (in->aux & SAT) r[i] = r[i] > 0.0f ? (r[i] < 1.0f ? r[i] : 1.0f) : 0.0f;
    r[i] = r[i] == r[i] ? r[i] : tf_as_float(0x7FFFFFFFu);
    if (in->aux & FTZ) r[i] = flush(r[i]);
  }
}

/* ---- Pairs ---- */
static void operand_pairs(tf_warp *w, const tf_insn *in, unsigned i, float out[PAIRS]) {
  memcpy(out, SLOT(const float, i), PAIRS * sizeof *out);
  for (unsigned k = 0; in->aux & FTZ && k < PAIRS; k++)
    out[k] = flush(out[k]);
}

static inline __attribute__((always_inline)) void run_pairs(tf_warp *w, const tf_insn *in, uint32_t mask,
                                                            operation op) {
  float a[PAIRS], b[PAIRS], c[PAIRS] = {0}, r[PAIRS];
  operand_pairs(w, in, 1, a);
  operand_pairs(w, in, 2, b);
  if (op == FMA) operand_pairs(w, in, 3, c);
  compute(op, in, PAIRS, a, b, c, r);
  for (unsigned l = 0; l < TF_LANES; l++)
    if (LANE(mask, l)) memcpy(SLOT(uint64_t, 0) + l, r + (size_t)2 * l, sizeof(uint64_t));
}

/* ---- 16-bit operands ---- */
static void operand_wide(tf_warp *w, const tf_insn *in, unsigned i, float out[TF_LANES]) {
  const uint32_t *s = SLOT(const uint32_t, i);
  for (unsigned l = 0; l < TF_LANES; l++)
    out[l] = in->aux & BF16 ? tf_bf16_to_float(s[l] & 0xFFFF) : tf_half_to_float(s[l] & 0xFFFF);
}

static inline __attribute__((always_inline)) void run_mixed(tf_warp *w, const tf_insn *in, uint32_t mask,
                                                            operation op) {
  float a[TF_LANES], b[TF_LANES], r[TF_LANES], *d = SLOT(float, 0);
  operand_wide(w, in, 1, a);
  if (op == FMA) operand_wide(w, in, 2, b);
  const float *last = SLOT(const float, op == FMA ? 3 : 2);
  compute(op, in, TF_LANES, a, op == FMA ? b : last, last, r);
  STORE_LANES(float, d, v = r[l])
}

static void encode(tf_form *f) {
  int r = tf_form_pick(f, 0, roundings);
  f->in->aux = (r > 0 ? (uint32_t)r : 0u) | (tf_form_has(f, "ftz") ? FTZ : 0u) | (tf_form_has(f, "sat") ? SAT : 0u) |
               (f->types[1] == TF_T_bf16 ? BF16 : 0u);
}

#define PAIR(name, op)                                                                                                 \
  HANDLER(name##_pair) {                                                                                               \
    run_pairs(w, in, mask, op);                                                                                        \
  }                                                                                                                    \
  SELECTOR(select_##name##_pair) {                                                                                     \
    encode(f);                                                                                                         \
    return name##_pair;                                                                                                \
  }
#define MIXED(name, op)                                                                                                \
  HANDLER(name##_mixed) {                                                                                              \
    run_mixed(w, in, mask, op);                                                                                        \
  }                                                                                                                    \
  SELECTOR(select_##name##_mixed) {                                                                                    \
    encode(f);                                                                                                         \
    return name##_mixed;                                                                                               \
  }
PAIR(add, ADD)
PAIR(sub, SUB)
PAIR(mul, MUL)
PAIR(fma, FMA)
MIXED(add, ADD)
MIXED(sub, SUB)
MIXED(fma, FMA)

static const tf_row rows[] = {
#include "Sim/Insn/FloatMixed.def"
};
TF_FAMILY(FloatMixed, rows)
