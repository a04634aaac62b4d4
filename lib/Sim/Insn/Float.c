/* Single- and double-precision arithmetic.
 *
 * Round-to-nearest runs in vectorised loops. The directed modes set the host's rounding mode around a loop: operands and
 * results go through memory and fesetround is an opaque call, so the compiler can move nothing across it.
 * NaN results of f32 operations are the canonical 0x7FFFFFFF of the device, whatever the host makes. Those of f64 carry
 * the payload of the first operand that is NaN; which one the host would take depends on how the loop was compiled.
 * Approximate functions are computed in double precision and rounded once: the error bounds that the ISA documents for
 * the hardware (2^-22 relative or so) are met with a margin of more than 2^20.
 * Adversarial launches use that margin up, see Perturb.h. */
#include "Sim/Insn/Lanes.h"
#include "Sim/Insn/Perturb.h"

#include <fenv.h>
#include <math.h>

/* aux */
enum { RND_MASK = 3, FTZ = 4, SAT = 8 };
static const char *const roundings[] = {"rn", "rz", "rm", "rp", NULL};
static const int host_rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static inline float canonical(float x) {
  return x == x ? x : tf_as_float(0x7FFFFFFFu);
}
static inline float flush(float x) {
  uint32_t bits = tf_float_bits(x);
  return tf_as_float(bits & 0x7F800000u ? bits : bits & 0x80000000u);
}
/* v, or if it is NaN the quiet one of the first operand that is, or the default NaN. */
static inline double first_nan(double v, double a, double b, double c) {
  double nan = a != a ? a : b != b ? b : c;
  uint64_t payload = tf_double_bits(nan) | (uint64_t)1 << 51;
  return v == v ? v : tf_as_double(nan != nan ? payload : (uint64_t)0xFFF8 << 48);
}
/* NaN becomes +0. */
static inline float saturate(float x) {
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

static uint32_t encode(const tf_form *f) {
  int r = tf_form_pick(f, 0, roundings);
  return (r > 0 ? (uint32_t)r : 0u) | (tf_form_has(f, "ftz") ? FTZ : 0u) | (tf_form_has(f, "sat") ? SAT : 0u);
}

/* One operation in its variants: nearest, nearest with ftz, and any mode with everything. n operands. */
#define LOAD1(T, F) T a = F(pa[l]);
#define LOAD2(T, F) T a = F(pa[l]), b = F(pb[l]);
#define LOAD3(T, F) T a = F(pa[l]), b = F(pb[l]), c = F(pc[l]);
#define NAN64_1(v)  first_nan(v, a, a, a)
#define NAN64_2(v)  first_nan(v, a, b, b)
#define NAN64_3(v)  first_nan(v, a, b, c)
#define SRC1(T)     const T *pa = SLOT(const T, 1);
#define SRC2(T)     const T *pa = SLOT(const T, 1), *pb = SLOT(const T, 2);
#define SRC3(T)     const T *pa = SLOT(const T, 1), *pb = SLOT(const T, 2), *pc = SLOT(const T, 3);
#define SAME(x)     (x)

#define OPERATION(name, n, expr32, expr64)                                                                             \
  HANDLER(name##_f32) {                                                                                                \
    float *d = SLOT(float, 0);                                                                                         \
    SRC##n(float) STORE_LANES(float, d, LOAD##n(float, SAME) v = canonical(expr32))                                    \
  }                                                                                                                    \
  HANDLER(name##_f32_ftz) {                                                                                            \
    float *d = SLOT(float, 0);                                                                                         \
    SRC##n(float) STORE_LANES(float, d, LOAD##n(float, flush) v = flush(canonical(expr32)))                            \
  }                                                                                                                    \
  HANDLER(name##_f32_any) {                                                                                            \
    float *d = SLOT(float, 0), r[TF_LANES];                                                                            \
    bool ftz = in->aux & FTZ;                                                                                          \
    SRC##n(float) fesetround(host_rounding[in->aux & RND_MASK]);                                                       \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      LOAD##n(float, SAME) LOAD##n##_FLUSH r[l] = (expr32);                                                            \
    }                                                                                                                  \
    tf_keep(r);                                                                                                        \
    fesetround(FE_TONEAREST);                                                                                          \
    STORE_LANES(float, d, v = in->aux & SAT ? saturate(r[l]) : canonical(r[l]); if (ftz) v = flush(v))                 \
  }                                                                                                                    \
  HANDLER(name##_f64) {                                                                                                \
    double *d = SLOT(double, 0);                                                                                       \
    SRC##n(double) STORE_LANES(double, d, LOAD##n(double, SAME) v = NAN64_##n(expr64))                                 \
  }                                                                                                                    \
  HANDLER(name##_f64_any) {                                                                                            \
    double *d = SLOT(double, 0), r[TF_LANES];                                                                          \
    SRC##n(double) fesetround(host_rounding[in->aux & RND_MASK]);                                                      \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      LOAD##n(double, SAME) r[l] = (expr64);                                                                           \
    }                                                                                                                  \
    tf_keep(r);                                                                                                        \
    fesetround(FE_TONEAREST);                                                                                          \
    STORE_LANES(double, d, LOAD##n(double, SAME) v = NAN64_##n(r[l]))                                                  \
  }                                                                                                                    \
  SELECTOR(select_##name) {                                                                                            \
    f->in->aux = encode(f);                                                                                            \
    if (f->types[0] == TF_T_f64) return f->in->aux ? name##_f64_any : name##_f64;                                      \
    if (!f->in->aux) return name##_f32;                                                                                \
    return f->in->aux == FTZ ? name##_f32_ftz : name##_f32_any;                                                        \
  }
#define LOAD1_FLUSH                                                                                                    \
  if (ftz) a = flush(a);
#define LOAD2_FLUSH                                                                                                    \
  if (ftz) a = flush(a), b = flush(b);
#define LOAD3_FLUSH                                                                                                    \
  if (ftz) a = flush(a), b = flush(b), c = flush(c);

OPERATION(add, 2, a + b, a + b)
OPERATION(sub, 2, a - b, a - b)
OPERATION(mul, 2, a *b, a *b)
OPERATION(fma, 3, fmaf(a, b, c), fma(a, b, c))
OPERATION(div, 2, a / b, a / b)
OPERATION(rcp, 1, 1.0f / a, 1.0 / a)
OPERATION(sqrt, 1, sqrtf(a), sqrt(a))

/* Divisors beyond 2^126 give 0 in the approximate form (as documented), or NaN for an infinite dividend. */
static inline float divide_approx(const tf_warp *w, float a, float b) {
  float size = fabsf(b);
  if (size > 0x1p126f && size < INFINITY)
    return fabsf(a) == INFINITY ? NAN : a != a ? a : copysignf(0.0f, a) * copysignf(1.0f, b);
  double q = (double)a / (double)b;
  return w->launch->adversarial ? (float)tf_perturb(w, q, TF_ERR_DIV * fabs(q)) : a / b;
}
HANDLER(div_approx) {
  float *d = SLOT(float, 0);
  bool ftz = in->aux & FTZ;
  SRC2(float)
  STORE_LANES(float, d, LOAD2(float, SAME) LOAD2_FLUSH v = canonical(divide_approx(w, a, b)); if (ftz) v = flush(v))
}
/* The quotient of two floats, rounded to double first, is the same as rounded once. */
HANDLER(div_perturbed) {
  float *d = SLOT(float, 0);
  bool ftz = in->aux & FTZ;
  SRC2(float)
  if (!w->launch->adversarial) {
    (ftz ? div_f32_ftz : div_f32)(w, in, mask);
    return;
  }
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    LOAD2(float, SAME) LOAD2_FLUSH;
    double q = (double)a / (double)b;
    float v = canonical((float)tf_perturb(w, q, TF_ERR_DIV * fabs(q)));
    d[l] = ftz ? flush(v) : v;
  }
}
SELECTOR(select_div_approx) {
  f->in->aux = encode(f);
  return tf_form_has(f, "approx") ? div_approx : div_perturbed;
}

#define FUNCTION(name, expr, error)                                                                                    \
  HANDLER(name##_approx) {                                                                                             \
    float *d = SLOT(float, 0);                                                                                         \
    const float *pa = SLOT(const float, 1);                                                                            \
    bool ftz = in->aux & FTZ;                                                                                          \
    for (unsigned l = 0; l < TF_LANES; l++) {                                                                          \
      if (!LANE(mask, l)) continue;                                                                                    \
      double a = (double)(ftz ? flush(pa[l]) : pa[l]);                                                                 \
      double exact = (expr), size = fabs(exact);                                                                       \
      float v = canonical((float)tf_perturb(w, exact, error));                                                         \
      (void)size;                                                                                                      \
      d[l] = ftz ? flush(v) : v;                                                                                       \
    }                                                                                                                  \
  }                                                                                                                    \
  SELECTOR(select_##name##_approx) {                                                                                   \
    f->in->aux = encode(f);                                                                                            \
    return name##_approx;                                                                                              \
  }
FUNCTION(rsqrt, 1.0 / sqrt(a), TF_ERR_RSQRT *size)
FUNCTION(sin, sin(a), TF_ERR_SIN_ABS)
FUNCTION(cos, cos(a), TF_ERR_SIN_ABS)
FUNCTION(lg2, log2(a), a > 0.5 && a < 2 ? TF_ERR_LG2 : TF_ERR_LG2 * size)
FUNCTION(ex2, exp2(a), TF_ERR_EX2 *size)
FUNCTION(tanh, tanh(a), TF_ERR_TANH *size)
/* Those that are rounded correctly have a faster way to it. */
#define QUICK(name)                                                                                                    \
  HANDLER(name##_quick) {                                                                                              \
    if (w->launch->adversarial)                                                                                        \
      name##_approx(w, in, mask);                                                                                      \
    else                                                                                                               \
      (in->aux & FTZ ? name##_f32_ftz : name##_f32)(w, in, mask);                                                      \
  }                                                                                                                    \
  SELECTOR(select_##name##_quick) {                                                                                    \
    return select_##name##_approx(f) ? name##_quick : NULL;                                                            \
  }
FUNCTION(rcp, 1.0 / a, TF_ERR_RCP *size)
FUNCTION(sqrt, sqrt(a), TF_ERR_SQRT *size)
QUICK(rcp)
QUICK(sqrt)

HANDLER(rsqrt_f64) {
  double *d = SLOT(double, 0);
  const double *pa = SLOT(const double, 1);
  STORE_LANES(double, d, double a = pa[l]; v = NAN64_1(1.0 / sqrt(a)))
}
SELECT(select_rsqrt_f64, [TF_T_f64] = rsqrt_f64)

/* The .approx.ftz forms for f64 give the upper word only: 20 bits of fraction; the lower word is zero. Every NaN becomes
 * the default one. */
static inline double upper_word(double x) {
  uint64_t bits = x == x ? tf_double_bits(x) : (uint64_t)0xFFF8 << 48;
  uint64_t exponent = bits >> 52 & 0x7FF;
  if (exponent == 0) return tf_as_double(bits & (uint64_t)1 << 63);
  return tf_as_double(bits & 0xFFFFFFFF00000000u);
}
HANDLER(rcp_f64_approx) {
  double *d = SLOT(double, 0);
  const double *pa = SLOT(const double, 1);
  STORE_LANES(double, d, v = upper_word(1.0 / upper_word(pa[l])))
}
HANDLER(rsqrt_f64_approx) {
  double *d = SLOT(double, 0);
  const double *pa = SLOT(const double, 1);
  STORE_LANES(double, d, v = upper_word(1.0 / sqrt(upper_word(pa[l]))))
}
SELECT(select_rcp_f64_approx, [TF_T_f64] = rcp_f64_approx)
SELECT(select_rsqrt_f64_approx, [TF_T_f64] = rsqrt_f64_approx)

#define SIGN(name, S, expr, flushed)                                                                                   \
  HANDLER(name) {                                                                                                      \
    S *d = SLOT(S, 0);                                                                                                 \
    const S *pa = SLOT(const S, 1);                                                                                    \
    STORE_LANES(S, d, S a = pa[l]; v = expr; flushed)                                                                  \
  }
#define FLUSH_BITS                                                                                                     \
  if (!(v & 0x7F800000u)) v &= 0x80000000u
SIGN(abs_f32, uint32_t, a & 0x7FFFFFFFu, )
SIGN(abs_f32_ftz, uint32_t, a & 0x7FFFFFFFu, FLUSH_BITS)
SIGN(abs_f64, uint64_t, a &INT64_MAX, )
SIGN(neg_f32, uint32_t, a ^ 0x80000000u, )
SIGN(neg_f32_ftz, uint32_t, a ^ 0x80000000u, FLUSH_BITS)
SIGN(neg_f64, uint64_t, a ^ (uint64_t)1 << 63, )
SELECTOR(select_abs) {
  return f->types[0] == TF_T_f64 ? abs_f64 : tf_form_has(f, "ftz") ? abs_f32_ftz : abs_f32;
}
SELECTOR(select_neg) {
  return f->types[0] == TF_T_f64 ? neg_f64 : tf_form_has(f, "ftz") ? neg_f32_ftz : neg_f32;
}

/* -0 is less than +0; a NaN loses against a number. */
#define EXTREME(name, T, less)                                                                                         \
  static inline T name(T a, T b) {                                                                                     \
    T lower = (a < b || (a == b && less)) ? a : b;                                                                     \
    return a != a ? b : b != b ? a : lower;                                                                            \
  }
EXTREME(min32, float, signbit(a))
EXTREME(min64, double, signbit(a))
#define MAX32(a, b) (-min32(-(a), -(b)))
#define MAX64(a, b) (-min64(-(a), -(b)))

enum { PROPAGATE = 16, XOR_SIGN = 32, MAXIMUM = 64, MAGNITUDE = 128 };
#define MINMAX(name, op)                                                                                               \
  HANDLER(name) {                                                                                                      \
    float *d = SLOT(float, 0);                                                                                         \
    SRC2(float)                                                                                                        \
    STORE_LANES(float, d, v = canonical(op(pa[l], pb[l])))                                                             \
  }
MINMAX(min_f32, min32)
MINMAX(max_f32, MAX32)
HANDLER(minmax_any) {
  float *d = SLOT(float, 0);
  bool ftz = in->aux & FTZ;
  SRC2(float)
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    LOAD2(float, SAME) LOAD2_FLUSH;
    uint32_t sign = (tf_float_bits(a) ^ tf_float_bits(b)) & 0x80000000u;
    bool nan = in->aux & PROPAGATE && (a != a || b != b);
    if (in->aux & XOR_SIGN) a = fabsf(a), b = fabsf(b);
    float v = canonical(nan ? NAN : in->aux & MAXIMUM ? MAX32(a, b) : min32(a, b));
    d[l] = in->aux & XOR_SIGN && v == v ? tf_as_float(tf_float_bits(v) | sign) : v;
  }
}
HANDLER(min_f64) {
  double *d = SLOT(double, 0);
  SRC2(double)
  STORE_LANES(double, d, v = min64(pa[l], pb[l]))
}
HANDLER(max_f64) {
  double *d = SLOT(double, 0);
  SRC2(double)
  STORE_LANES(double, d, v = MAX64(pa[l], pb[l]))
}

static tf_handler minmax(tf_form *f, tf_handler plain, tf_handler wide, uint32_t flags) {
  if (f->types[0] == TF_T_f64) return wide;
  flags |= encode(f) | (tf_form_has(f, "NaN") ? PROPAGATE : 0u) | (tf_form_has(f, "xorsign") ? XOR_SIGN : 0u);
  f->in->aux = flags;
  return flags & ~(uint32_t)MAXIMUM ? minmax_any : plain;
}
SELECTOR(select_min) {
  return minmax(f, min_f32, min_f64, 0);
}
SELECTOR(select_max) {
  return minmax(f, max_f32, max_f64, MAXIMUM);
}

/* Of three numbers, or of their magnitudes. */
HANDLER(minmax_three) {
  float *d = SLOT(float, 0);
  bool ftz = in->aux & FTZ, max = in->aux & MAXIMUM;
  SRC3(float)
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(mask, l)) continue;
    LOAD3(float, SAME) LOAD3_FLUSH;
    bool nan = in->aux & PROPAGATE && (a != a || b != b || c != c);
    if (in->aux & MAGNITUDE) a = fabsf(a), b = fabsf(b), c = fabsf(c);
    d[l] = canonical(nan ? NAN : max ? MAX32(MAX32(a, b), c) : min32(min32(a, b), c));
  }
}
static tf_handler three(tf_form *f, uint32_t flags) {
  if (tf_form_has(f, "NaN")) flags |= PROPAGATE;
  if (tf_form_has(f, "abs")) flags |= MAGNITUDE;
  f->in->aux = encode(f) | flags;
  return minmax_three;
}
SELECTOR(select_min_three) {
  return three(f, 0);
}
SELECTOR(select_max_three) {
  return three(f, MAXIMUM);
}

enum { FINITE, INFINITE, NUMBER, NOT_A_NUMBER, NORMAL, SUBNORMAL };
static bool has_property(int class, unsigned property) {
  switch (property) {
  case FINITE:
    return class != FP_INFINITE && class != FP_NAN;
  case INFINITE:
    return class == FP_INFINITE;
  case NUMBER:
    return class != FP_NAN;
  case NOT_A_NUMBER:
    return class == FP_NAN;
  case NORMAL:
    return class == FP_NORMAL || class == FP_ZERO; /* zero counts as normal */
  default:
    return class == FP_SUBNORMAL;
  }
}
#define TESTP(name, T)                                                                                                 \
  HANDLER(name) {                                                                                                      \
    const T *pa = SLOT(const T, 1);                                                                                    \
    uint32_t r = 0;                                                                                                    \
    for (unsigned l = 0; l < TF_LANES; l++)                                                                            \
      r |= (uint32_t)has_property(fpclassify(pa[l]), in->aux) << l;                                                    \
    SET_PRED(0, r);                                                                                                    \
  }
TESTP(testp_f32, float)
TESTP(testp_f64, double)
SELECTOR(select_testp) {
  static const char *const names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal", NULL};
  f->in->aux = (uint32_t)tf_form_pick(f, 0, names);
  return f->types[0] == TF_T_f64 ? testp_f64 : testp_f32;
}

/* The sign of a with the magnitude of b. */
BINARY(copysign_f32, uint32_t, uint32_t, uint32_t, (a & 0x80000000u) | (b & 0x7FFFFFFFu))
BINARY(copysign_f64, uint64_t, uint64_t, uint64_t, (a & (uint64_t)1 << 63) | (b & INT64_MAX))
SELECT(select_copysign, [TF_T_f32] = copysign_f32, [TF_T_f64] = copysign_f64)

static const tf_row rows[] = {
#include "Sim/Insn/Float.def"
};
TF_FAMILY(Float, rows)
