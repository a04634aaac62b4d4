/* mma.sync: unpack the fragments of all lanes into matrices, multiply, pack the result.
 *
 * All shapes but m8n8k4 of f16 share one map. With p elements in a register, g = lane / 4, t = lane % 4:
 *
 *        A (m x k)                              B (k x 8)                  C, D (m x 8)
 *   row  g + 8 (r % 2)        m = 16            row  4p r + t p + i        row  g + 8 (r / 2)
 *        g                    m = 8             col  g                     col  2 t + r % 2
 *   col  4p (r / 2) + t p + i m = 16
 *        4p r + t p + i       m = 8             for register r and its i-th element, lowest bits first
 */
#include "Sim/Insn/Elements.h"

#include <fenv.h>
#include <math.h>
#ifdef __FMA__
#include <immintrin.h>
#endif

enum { MAX_K = 64 };

/* What the handlers need to know of a form; kept in in->aux. */
typedef struct shape {
  unsigned m, k;
  tf_element a, b;
  bool c_half, d_half, saturate, use_and, a_col, b_col;
} shape;

static uint32_t encode_shape(shape s) {
  return s.m | s.k << 5 | (uint32_t)s.a << 14 | (uint32_t)s.b << 18 | (uint32_t)s.c_half << 22 |
         (uint32_t)s.d_half << 23 | (uint32_t)s.saturate << 24 | (uint32_t)s.use_and << 25 | (uint32_t)s.a_col << 26 |
         (uint32_t)s.b_col << 27;
}

static inline shape decode_shape(uint32_t aux) {
  return (shape){.m = aux & 31,
                 .k = aux >> 5 & 511,
                 .a = (tf_element)(aux >> 14 & 15),
                 .b = (tf_element)(aux >> 18 & 15),
                 .c_half = aux >> 22 & 1,
                 .d_half = aux >> 23 & 1,
                 .saturate = aux >> 24 & 1,
                 .use_and = aux >> 25 & 1,
                 .a_col = aux >> 26 & 1,
                 .b_col = aux >> 27 & 1};
}

static inline unsigned a_registers(shape s) {
  unsigned bits = s.m * s.k * tf_element_bits(s.a);
  return bits / (s.a == TF_EL_F64 ? 64u * TF_LANES : 32u * TF_LANES);
}
static inline unsigned b_registers(shape s) {
  unsigned bits = 8 * s.k * tf_element_bits(s.b);
  return bits / (s.b == TF_EL_F64 ? 64u * TF_LANES : 32u * TF_LANES);
}
static inline unsigned c_registers(shape s, bool half) {
  return s.m / (half ? 8 : 4);
}

/* ---- Fragments to matrices and back ---- */
/* Four words of a register, of lanes 4 g … 4 g + 3, are one row: 4p elements next to each other, lowest bits first (the
 * host is little-endian, as the device). So a register of A is 8 rows of A, and a register of B is 8 columns of B. */
static inline __attribute__((always_inline)) void decode_row(tf_element e, const uint32_t *words, double *out) {
  const unsigned bits = tf_element_bits(e);
  if (bits == 16) {
    uint16_t half[8];
    memcpy(half, words, sizeof half);
    for (unsigned i = 0; i < 8; i++)
      out[i] = tf_element_value(e, half[i]);
  } else if (bits == 8) {
    uint8_t byte[16];
    memcpy(byte, words, sizeof byte);
    for (unsigned i = 0; i < 16; i++)
      out[i] = tf_element_value(e, byte[i]);
  } else {
    for (unsigned i = 0; i < 128 / bits; i++)
      out[i] = tf_element_value(e, words[i * bits / 32] >> (i * bits & 31));
  }
}

static inline __attribute__((always_inline)) void unpack_a(tf_warp *w, const tf_insn *in, unsigned at, shape s,
                                                           double *a) {
  const unsigned columns = 128 / tf_element_bits(s.a), n = a_registers(s);
  for (unsigned r = 0; r < n; r++) {
    const uint32_t *reg = EXT(const uint32_t, at + r);
    unsigned row0 = s.m == 16 ? 8 * (r & 1) : 0, col0 = columns * (s.m == 16 ? r >> 1 : r);
    for (unsigned g = 0; g < 8; g++)
      decode_row(s.a, reg + (size_t)4 * g, a + (row0 + g) * s.k + col0);
  }
}

static inline __attribute__((always_inline)) void unpack_b(tf_warp *w, const tf_insn *in, unsigned at, shape s,
                                                           double b[MAX_K][8]) {
  const unsigned rows = 128 / tf_element_bits(s.b), n = b_registers(s);
  for (unsigned r = 0; r < n; r++) {
    const uint32_t *reg = EXT(const uint32_t, at + r);
    double columns[8][MAX_K];
    for (unsigned g = 0; g < 8; g++)
      decode_row(s.b, reg + (size_t)4 * g, columns[g]);
    for (unsigned k = 0; k < rows; k++)
      for (unsigned g = 0; g < 8; g++)
        b[rows * r + k][g] = columns[g][k];
  }
}

/* Four doubles at a time, which compilers do not find by themselves here. The products are exact in double, so fusing them
 * into the sum changes nothing. */
typedef double quad __attribute__((vector_size(32), aligned(8)));
#ifdef __FMA__
#define MULTIPLY_ADD(a, b, c) ((quad)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

static inline __attribute__((always_inline)) void multiply(shape s, const double *a, double b[MAX_K][8],
                                                           double c[16][8]) {
  for (unsigned i = 0; i < s.m; i++) {
    quad left = *(const quad *)c[i], right = *(const quad *)(c[i] + 4);
    for (unsigned k = 0; k < s.k; k++) {
      double x = a[i * s.k + k];
      quad all = {x, x, x, x};
      left = MULTIPLY_ADD(all, *(const quad *)b[k], left);
      right = MULTIPLY_ADD(all, *(const quad *)(b[k] + 4), right);
    }
    *(quad *)c[i] = left;
    *(quad *)(c[i] + 4) = right;
  }
}

/* Rows of C have 8 elements, two a lane, so eight rows seen as one array hold those of lane l at 2 l and 2 l + 1. */
static inline __attribute__((always_inline)) void unpack_c(tf_warp *w, const tf_insn *in, unsigned at, shape s,
                                                           double c[16][8]) {
  for (unsigned rows = 0; rows < s.m / 8; rows++) {
    double *flat = c[8 * rows];
    if (s.c_half) {
      const uint32_t *reg = EXT(const uint32_t, at + rows);
      for (unsigned l = 0; l < TF_LANES; l++) {
        flat[2 * l] = tf_half_value(reg[l]);
        flat[2 * l + 1] = tf_half_value(reg[l] >> 16);
      }
    } else {
      const float *even = EXT(const float, at + 2 * rows), *odd = EXT(const float, at + 2 * rows + 1);
      for (unsigned l = 0; l < TF_LANES; l++) {
        flat[2 * l] = (double)even[l];
        flat[2 * l + 1] = (double)odd[l];
      }
    }
  }
}

static inline __attribute__((always_inline)) void pack_d(tf_warp *w, const tf_insn *in, uint32_t mask, shape s,
                                                         double c[16][8]) {
  for (unsigned rows = 0; rows < s.m / 8; rows++) {
    const double *flat = c[8 * rows];
    if (s.d_half) {
      uint32_t *d = EXT(uint32_t, rows);
      STORE_LANES(uint32_t, d, v = tf_half_bits(flat[2 * l]) | tf_half_bits(flat[2 * l + 1]) << 16)
    } else {
      uint32_t *even = EXT(uint32_t, 2 * rows), *odd = EXT(uint32_t, 2 * rows + 1);
      STORE_LANES(uint32_t, even, v = tf_single_bits(flat[2 * l]))
      STORE_LANES(uint32_t, odd, v = tf_single_bits(flat[2 * l + 1]))
    }
  }
}

static inline __attribute__((always_inline)) void mma_float(tf_warp *w, const tf_insn *in, uint32_t mask, shape s) {
  double a[16 * MAX_K], b[MAX_K][8], c[16][8];
  unsigned at = c_registers(s, s.d_half);
  unpack_a(w, in, at, s, a);
  unpack_b(w, in, at += a_registers(s), s, b);
  unpack_c(w, in, at + b_registers(s), s, c);
  multiply(s, a, b, c);
  pack_d(w, in, mask, s, c);
  if (w->launch->count) tf_count_mma(w, in, s.m, 8, s.k);
}

HANDLER(mma_float_any) {
  mma_float(w, in, mask, decode_shape(in->aux));
}
/* The forms of inner loops, with everything known at compile time. */
HANDLER(mma_bf16_k16) {
  mma_float(w, in, mask, (shape){.m = 16, .k = 16, .a = TF_EL_BF16, .b = TF_EL_BF16});
}
HANDLER(mma_f16_k16) {
  mma_float(w, in, mask, (shape){.m = 16, .k = 16, .a = TF_EL_F16, .b = TF_EL_F16});
}

/* ---- m8n8k4 of f16: four products, one by each set of lanes {4q…4q+3, 4q+16…4q+19} ---- */
/* Position of element i of lane l in its quad pair's 8 x 8 result. */
static void quad_position(bool half, unsigned l, unsigned i, unsigned *row, unsigned *col) {
  *row = (half ? l & 3 : (l & 1) + (i & 2)) + (l & 16 ? 4 : 0);
  *col = half ? i : (i & 4) + (l & 2) + (i & 1);
}

static double quad_element(tf_warp *w, const tf_insn *in, unsigned at, bool half, unsigned l, unsigned i) {
  if (!half) return (double)tf_as_float(EXT(const uint32_t, at + i)[l]);
  return tf_half_value(EXT(const uint32_t, at + i / 2)[l] >> 16 * (i & 1));
}

HANDLER(mma_quad) {
  const shape s = decode_shape(in->aux);
  double a[4][8][4], b[4][4][8], c[4][8][8];
  unsigned at = s.d_half ? 4 : 8, row, col;
  for (unsigned l = 0; l < TF_LANES; l++) {
    unsigned q = l % 16 / 4, high = l & 16 ? 4 : 0;
    for (unsigned i = 0; i < 4; i++) {
      double x = quad_element(w, in, at, true, l, i), y = quad_element(w, in, at + 2, true, l, i);
      a[q][s.a_col ? i + high : l % 4 + high][s.a_col ? l % 4 : i] = x;
      b[q][s.b_col ? i : l % 4][s.b_col ? l % 4 + high : i + high] = y;
    }
    for (unsigned i = 0; i < 8; i++) {
      quad_position(s.c_half, l, i, &row, &col);
      c[q][row][col] = quad_element(w, in, at + 4, s.c_half, l, i);
    }
  }
  for (unsigned q = 0; q < 4; q++)
    for (unsigned i = 0; i < 8; i++)
      for (unsigned k = 0; k < 4; k++)
        for (unsigned j = 0; j < 8; j++)
          c[q][i][j] += a[q][i][k] * b[q][k][j];
  for (unsigned l = 0; l < TF_LANES; l++)
    for (unsigned i = 0; i < 8 && LANE(mask, l); i++) {
      quad_position(s.d_half, l, i, &row, &col);
      double x = c[l % 16 / 4][row][col];
      uint32_t *reg = EXT(uint32_t, s.d_half ? i / 2 : i);
      if (!s.d_half)
        reg[l] = tf_single_bits(x);
      else
        reg[l] = (i & 1) ? (reg[l] & 0xFFFF) | tf_half_bits(x) << 16 : tf_half_bits(x);
    }
  if (w->launch->count) tf_count_mma(w, in, 32, 8, 4);
}

/* Sources are read before any destination is written: a register may be both. */
static void store_words(tf_warp *w, const tf_insn *in, uint32_t mask, unsigned n, uint32_t result[4][TF_LANES]) {
  for (unsigned r = 0; r < n; r++) {
    uint32_t *d = EXT(uint32_t, r);
    STORE_LANES(uint32_t, d, v = result[r][l])
  }
}

/* ---- Integers: exact sums, then wrap or clamp ---- */
HANDLER(mma_int) {
  const shape s = decode_shape(in->aux);
  double a[16 * MAX_K], b[MAX_K][8], c[16][8];
  uint32_t result[4][TF_LANES];
  unsigned nd = c_registers(s, false), at = nd;
  unpack_a(w, in, at, s, a);
  unpack_b(w, in, at += a_registers(s), s, b);
  at += b_registers(s);
  for (unsigned r = 0; r < nd; r++)
    for (unsigned l = 0; l < TF_LANES; l++)
      c[l / 4 + 8 * (r >> 1)][l % 4 * 2 + (r & 1)] = (double)(int32_t)EXT(const uint32_t, at + r)[l];
  multiply(s, a, b, c); /* far below 2^53 */
  for (unsigned r = 0; r < nd; r++)
    for (unsigned l = 0; l < TF_LANES; l++) {
      int64_t x = (int64_t)c[l / 4 + 8 * (r >> 1)][l % 4 * 2 + (r & 1)];
      if (s.saturate) x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
      result[r][l] = (uint32_t)x;
    }
  store_words(w, in, mask, nd, result);
  if (w->launch->count) tf_count_mma(w, in, s.m, 8, s.k);
}

/* Bits: population counts of the words of a row of A and a column of B; word t + 4 r of row g stands in lane 4 g + t. */
HANDLER(mma_bits) {
  const shape s = decode_shape(in->aux);
  unsigned nd = c_registers(s, false), na = a_registers(s), nb = b_registers(s);
  uint32_t result[4][TF_LANES];
  for (unsigned r = 0; r < nd; r++)
    for (unsigned l = 0; l < TF_LANES; l++) {
      unsigned row = l / 4, col = l % 4 * 2 + (r & 1);
      result[r][l] = EXT(const uint32_t, nd + na + nb + r)[l];
      for (unsigned word = 0; word < s.k / 32; word++) {
        unsigned ra = s.m == 16 ? word / 4 * 2 + (r >> 1) : word / 4;
        uint32_t x = EXT(const uint32_t, nd + ra)[row * 4 + word % 4];
        uint32_t y = EXT(const uint32_t, nd + na + word / 4)[col * 4 + word % 4];
        result[r][l] += (uint32_t)__builtin_popcount(s.use_and ? x & y : x ^ y);
      }
    }
  store_words(w, in, mask, nd, result);
  if (w->launch->count) tf_count_mma(w, in, s.m, 8, s.k);
}

/* Double: a chain of fused multiply-adds in order of k, each rounded as asked (imm[0]). */
HANDLER(mma_double) {
  const shape s = decode_shape(in->aux);
  unsigned nd = c_registers(s, false), na = a_registers(s), nb = b_registers(s);
  double result[4][TF_LANES];
  fesetround((int)in->imm[0]);
  for (unsigned r = 0; r < nd; r++)
    for (unsigned l = 0; l < TF_LANES; l++) {
      unsigned col = l % 4 * 2 + (r & 1);
      double sum = EXT(const double, nd + na + nb + r)[l];
      for (unsigned k = 0; k < s.k; k++) {
        unsigned ra = s.m == 16 ? k / 4 * 2 + (r >> 1) : k / 4;
        sum = fma(EXT(const double, nd + ra)[l / 4 * 4 + k % 4], EXT(const double, nd + na + k / 4)[col * 4 + k % 4],
                  sum);
      }
      result[r][l] = sum;
    }
  tf_keep(result);
  fesetround(FE_TONEAREST);
  for (unsigned r = 0; r < nd; r++) {
    double *d = EXT(double, r);
    STORE_LANES(double, d, v = result[r][l])
  }
  if (w->launch->count) tf_count_mma(w, in, s.m, 8, s.k);
}

/* ---- Selection ---- */
static void read_shape(tf_form *f, shape *s) {
  unsigned n;
  const char *text = f->mods[2];
  *s = (shape){.m = (unsigned)(text[2] == 'n' ? text[1] - '0' : (text[1] - '0') * 10 + text[2] - '0')};
  text = strchr(text, 'k') + 1;
  for (n = 0; *text; text++)
    n = n * 10 + (unsigned)(*text - '0');
  s->k = n;
  s->d_half = f->types[0] == TF_T_f16;
  s->c_half = f->types[3] == TF_T_f16;
  s->a = tf_element_of(f->types[1]);
  s->b = tf_element_of(f->types[2]);
  s->saturate = tf_form_has(f, "satfinite");
  s->use_and = tf_form_has(f, "and");
  s->a_col = f->mods[3][0] == 'c';
  s->b_col = f->mods[4][0] == 'c';
  f->in->aux = encode_shape(*s);
}

/* The lists of registers must have the lengths that the shape asks for. */
static bool check_lists(tf_form *f, unsigned d, unsigned a, unsigned b, unsigned c) {
  const unsigned want[4] = {d, a, b, c};
  for (unsigned i = 0; i < 4; i++)
    if (f->count[i] != want[i]) {
      f->refusal = "a fragment has another number of registers than its shape and type need";
      return false;
    }
  return true;
}

static bool prepare(tf_form *f, shape *s) {
  read_shape(f, s);
  return check_lists(f, c_registers(*s, s->d_half), a_registers(*s), b_registers(*s), c_registers(*s, s->c_half));
}

SELECTOR(select_mma_float) {
  shape s;
  if (!prepare(f, &s)) return NULL;
  if (s.k == 16 && !s.c_half && !s.d_half && s.a == TF_EL_BF16) return mma_bf16_k16;
  if (s.k == 16 && !s.c_half && !s.d_half && s.a == TF_EL_F16) return mma_f16_k16;
  return mma_float_any;
}
SELECTOR(select_mma_int) {
  shape s;
  return prepare(f, &s) ? mma_int : NULL;
}
SELECTOR(select_mma_bits) {
  shape s;
  return prepare(f, &s) ? mma_bits : NULL;
}
SELECTOR(select_mma_double) {
  shape s;
  f->in->imm[0] = tf_host_rounding(f);
  return prepare(f, &s) ? mma_double : NULL;
}
SELECTOR(select_mma_quad) {
  shape s;
  read_shape(f, &s);
  return check_lists(f, s.d_half ? 4 : 8, 2, 2, s.c_half ? 4 : 8) ? mma_quad : NULL;
}

static const tf_row rows[] = {
#include "Sim/Insn/Mma.def"
};
TF_FAMILY(Mma, rows)
