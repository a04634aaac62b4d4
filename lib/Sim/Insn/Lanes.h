/* How handlers are written: macros for operands and for loops over the 32 lanes that the compiler vectorises.
 *
 * A destination may be the very slot of a source (same lanes), never a part of one, so the loops carry no dependence.
 * With a full mask the loop stores unconditionally; otherwise every lane is computed and stored through a select, which
 * is right for everything that cannot fault. Included by the families only; each is compiled once per CPU variant with
 * TF_VARIANT_SUFFIX telling its exported table apart. */
#ifndef TF_SIM_INSN_LANES_H
#define TF_SIM_INSN_LANES_H

#include "Sim/Access.h"
#include "Sim/Check.h"
#include "Sim/Count.h"

#include <string.h>

#define TF_PASTE_(a, b, c) a##b##c
#define TF_PASTE(a, b, c)  TF_PASTE_(a, b, c)

#define INSN(opcode, mods, operands, isa, sm, cls, flags, select)                                                      \
  {opcode, mods, operands, isa, sm, TF_CLASS_##cls, flags, select},

#define TF_FAMILY(name, rows)                                                                                          \
  extern const tf_family TF_PASTE(tf_family_##name, _, TF_VARIANT_SUFFIX);                                             \
  const tf_family TF_PASTE(tf_family_##name, _, TF_VARIANT_SUFFIX) = {#name, rows, sizeof(rows) / sizeof *(rows)};

#if defined(__GNUC__) && !defined(__clang__)
#define TF_IVDEP _Pragma("GCC ivdep")
#else
#define TF_IVDEP
#endif

/* Operand i as an array of 32 lanes. */
#define SLOT(T, i)     ((T *)__builtin_assume_aligned(tf_operand(w, in->op[i]), 64))
#define EXT(T, i)      ((T *)__builtin_assume_aligned(tf_operand(w, in->ext[i]), 64))
/* A predicate operand as a mask; sources honour '!'. */
#define PRED(i)        (*(uint32_t *)tf_operand(w, in->op[i]))
#define PRED_SRC(i)    (PRED(i) ^ (0u - (in->negate >> (i)&1u)))

#define HANDLER(name)  static void name(tf_warp *w, const tf_insn *in, uint32_t mask)
#define SELECTOR(name) static tf_handler name(tf_form *f)
/* A selector that goes by the first type: SELECT(select_add, [TF_T_u32] = add_32, …). */
#define SELECT(name, ...)                                                                                              \
  SELECTOR(name) {                                                                                                     \
    static const tf_handler table[TF_T_COUNT] = {__VA_ARGS__};                                                         \
    return table[f->types[0]];                                                                                         \
  }

#define LANE(mask, l) ((mask) >> (l)&1u)
/* Runs `body` (which may use l and sets v) for each lane and stores v to d[l]. */
#define STORE_LANES(T, d, body)                                                                                        \
  if (mask == TF_FULL_MASK) {                                                                                          \
    TF_IVDEP for (unsigned l = 0; l < TF_LANES; l++) {                                                                 \
      T v;                                                                                                             \
      body;                                                                                                            \
      (d)[l] = v;                                                                                                      \
    }                                                                                                                  \
  } else {                                                                                                             \
    TF_IVDEP for (unsigned l = 0; l < TF_LANES; l++) {                                                                 \
      T v;                                                                                                             \
      body;                                                                                                            \
      (d)[l] = LANE(mask, l) ? v : (d)[l];                                                                             \
    }                                                                                                                  \
  }

/* S: type of a lane in the slot; C: type to compute with; R: type of the result before it is widened to a lane. */
#define UNARY(name, S, C, R, expr)                                                                                     \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1);                                                                                    \
    STORE_LANES(S, d, C a = (C)pa[l]; v = (S)(R)(expr))                                                                \
  }
#define BINARY(name, S, C, R, expr)                                                                                    \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2);                                                            \
    STORE_LANES(S, d, C a = (C)pa[l]; C b = (C)pb[l]; v = (S)(R)(expr))                                                \
  }
#define TERNARY(name, S, C, R, expr)                                                                                   \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1), *pb = SLOT(const S, 2), *pc = SLOT(const S, 3);                                    \
    STORE_LANES(S, d, C a = (C)pa[l]; C b = (C)pb[l]; C c = (C)pc[l]; v = (S)(R)(expr))                                \
  }

/* 16-bit values live zero-extended in 32-bit lanes. */
#define FOR_UNSIGNED(M, name, expr)                                                                                    \
  M(name##_16, uint32_t, uint16_t, uint16_t, expr)                                                                     \
  M(name##_32, uint32_t, uint32_t, uint32_t, expr)                                                                     \
  M(name##_64, uint64_t, uint64_t, uint64_t, expr)
#define FOR_SIGNS(M, name, expr)                                                                                       \
  M(name##_u16, uint32_t, uint16_t, uint16_t, expr)                                                                    \
  M(name##_s16, uint32_t, int16_t, uint16_t, expr)                                                                     \
  M(name##_u32, uint32_t, uint32_t, uint32_t, expr)                                                                    \
  M(name##_s32, uint32_t, int32_t, uint32_t, expr)                                                                     \
  M(name##_u64, uint64_t, uint64_t, uint64_t, expr)                                                                    \
  M(name##_s64, uint64_t, int64_t, uint64_t, expr)
#define BY_WIDTH(name)                                                                                                 \
  [TF_T_u16] = name##_16, [TF_T_s16] = name##_16, [TF_T_b16] = name##_16, [TF_T_u32] = name##_32,                      \
  [TF_T_s32] = name##_32, [TF_T_b32] = name##_32, [TF_T_u64] = name##_64, [TF_T_s64] = name##_64,                      \
  [TF_T_b64] = name##_64
#define BY_SIGN_32_64(name)                                                                                            \
  [TF_T_u32] = name##_u32, [TF_T_s32] = name##_s32, [TF_T_u64] = name##_u64, [TF_T_s64] = name##_s64
#define BY_SIGN(name)                                                                                                  \
  [TF_T_u16] = name##_u16, [TF_T_s16] = name##_s16, [TF_T_u32] = name##_u32, [TF_T_s32] = name##_s32,                  \
  [TF_T_u64] = name##_u64, [TF_T_s64] = name##_s64

/* What is in memory there is computed before anything that follows, such as a change of the host's rounding mode, and read
 * again behind it. */
static inline void tf_keep(const void *values) {
  __asm__ volatile("" : : "r"(values) : "memory");
}

/* TF_ORDER_… that the modifiers ask for, without STRONG: .acquire, .release, and whether the scope is wider than the CTA. */
static inline uint32_t tf_form_order(const tf_form *f) {
  bool both = tf_form_has(f, "acq_rel") || tf_form_has(f, "sc");
  return (both || tf_form_has(f, "acquire") ? TF_ORDER_ACQUIRE : 0u) |
         (both || tf_form_has(f, "release") ? TF_ORDER_RELEASE : 0u) | (tf_form_has(f, "cta") ? 0u : TF_ORDER_WIDE);
}

static inline float tf_as_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static inline uint32_t tf_float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
static inline double tf_as_double(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}
static inline uint64_t tf_double_bits(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

/* Packs 32 lane values of 0 or 1 into a mask. */
static inline uint32_t tf_pack_mask(const unsigned char flag[TF_LANES]) {
  uint32_t mask = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint64_t eight;
    memcpy(&eight, flag + 8 * i, 8);
    mask |= (uint32_t)(eight * 0x0102040810204080u >> 56) << 8 * i;
  }
  return mask;
}

/* Sets the lanes of `mask` in predicate operand i. */
#define SET_PRED(i, value)                                                                                             \
  do {                                                                                                                 \
    uint32_t *pred_ = (uint32_t *)tf_operand(w, in->op[i]);                                                            \
    *pred_ = (*pred_ & ~mask) | ((value)&mask);                                                                        \
  } while (0)

#endif
