/* wmma: load, multiply and store matrices as opaque fragments.
 *
 * The ISA leaves open which element a register holds; only load, mma and store have to agree. Here a fragment is its
 * matrix in a fixed order (A, C, D by rows, B by columns), dealt to the lanes in equal contiguous shares:
 *
 *   element e of the matrix  =  share position e % v of lane e / v,     v = elements / 32
 *
 * Where the ISA asks for more registers than that needs (f16 operands), the share is repeated, and every copy carries the
 * same value whatever a program does to all elements of a fragment. */
#include "Sim/Insn/Elements.h"

#include <math.h>

/* The outer index counts rows of A, C, D and columns of B. */
typedef struct fragment {
  unsigned outer, inner;
  tf_type type;
} fragment;

enum { COLUMN = 1u << 16, AND_OP = 1u << 17, SATURATE = 1u << 18, HAS_STRIDE = 1u << 19 };
/* aux: m | n << 6, k in bits 20..27, and the flags; types follow from the row's modifiers, kept in imm[1] as four bytes. */

static fragment fragment_of(char which, unsigned m, unsigned n, unsigned k, tf_type type) {
  return which == 'a' ? (fragment){m, k, type} : which == 'b' ? (fragment){n, k, type} : (fragment){m, n, type};
}

static unsigned type_bits(tf_type t) {
  return t == TF_T_b1 ? 1 : t == TF_T_u4 || t == TF_T_s4 ? 4 : 8 * tf_type_bytes(t);
}
static unsigned share(fragment f) {
  return f.outer * f.inner / TF_LANES;
}
/* f16 operands A and B take eight registers whatever the shape. */
static unsigned registers(fragment f, char which) {
  if (f.type == TF_T_f64) return share(f);
  if (f.type == TF_T_f16 && (which == 'a' || which == 'b')) return 8;
  return share(f) * type_bits(f.type) / 32;
}

typedef struct parts {
  unsigned m, n, k;
  tf_type type[4]; /* d, a, b, c of mma; [0] of load and store */
} parts;

static parts decode(const tf_insn *in) {
  parts p = {.m = in->aux & 63, .n = in->aux >> 6 & 63, .k = in->aux >> 20};
  for (unsigned i = 0; i < 4; i++)
    p.type[i] = (tf_type)((uint64_t)in->imm[1] >> 8 * i & 0xFF);
  return p;
}

/* ---- Load and store ---- */
/* One unit a lane: an element, or 32 bits of elements smaller than a byte. */
typedef struct transfer {
  fragment f;
  unsigned unit_bytes, units, per_unit, regs;
} transfer;

static transfer transfer_of(const tf_insn *in) {
  parts p = decode(in);
  char which = (char)((uint64_t)in->imm[1] >> 32);
  transfer t = {.f = fragment_of(which, p.m, p.n, p.k, p.type[0])};
  unsigned bits = type_bits(t.f.type);
  t.unit_bytes = bits < 8 ? 4 : bits / 8;
  t.per_unit = bits < 8 ? 32 / bits : 1;
  t.units = share(t.f) / t.per_unit;
  t.regs = registers(t.f, which);
  return t;
}

/* Address of unit i of each lane. Fragments stand inner-contiguous in memory unless `across`. */
static void unit_access(tf_warp *w, const tf_insn *in, uint32_t mask, const transfer *t, uint32_t base,
                        const uint32_t *stride, unsigned i, unsigned kind, tf_access *a) {
  bool across = in->aux & COLUMN;
  a->mask = mask;
  a->bytes = t->unit_bytes;
  a->align = 0;
  a->kind = (uint8_t)kind;
  a->part = NULL;
  a->space = in->space;
  a->order = 0;
  a->in_flight = false;
  tf_access_addresses(w, in, base, 0, in->imm[0], a->addr);
  for (unsigned l = 0; l < TF_LANES; l++) {
    unsigned e = l * share(t->f) + i * t->per_unit, o = e / t->f.inner, n = e % t->f.inner;
    uint64_t ld = stride ? stride[l] : across ? t->f.outer : t->f.inner;
    uint64_t at = across ? n * ld + o : o * ld + n;
    a->addr[l] += at * type_bits(t->f.type) / 8;
  }
  tf_access_resolve(w, in, a);
  if (w->watch) tf_check_access(w, in, a);
}

static unsigned char *unit_pointer(const tf_access *a, unsigned l) {
  return a->dense ? a->ptr[0] + (size_t)l * a->bytes : a->ptr[l];
}

/* Bytes of a lane's registers seen as one array. */
static void get_registers(tf_warp *w, const tf_insn *in, unsigned at, const transfer *t, unsigned l,
                          unsigned char bytes[64]) {
  unsigned width = t->f.type == TF_T_f64 ? 8 : 4;
  for (unsigned r = 0; r < t->regs; r++)
    memcpy(bytes + (size_t)r * width, (const char *)tf_operand(w, in->ext[at + r]) + (size_t)l * width, width);
}
static void put_registers(tf_warp *w, const tf_insn *in, const transfer *t, unsigned l, const unsigned char bytes[64]) {
  unsigned width = t->f.type == TF_T_f64 ? 8 : 4;
  for (unsigned r = 0; r < t->regs; r++)
    memcpy((char *)tf_operand(w, in->ext[r]) + (size_t)l * width, bytes + (size_t)r * width, width);
}

HANDLER(load) {
  transfer t = transfer_of(in);
  unsigned char lanes[TF_LANES][64] = {{0}};
  const uint32_t *stride = in->aux & HAS_STRIDE ? EXT(const uint32_t, t.regs + 1) : NULL;
  tf_access a;
  for (unsigned i = 0; i < t.units; i++) {
    unit_access(w, in, mask, &t, in->ext[t.regs], stride, i, TF_READ, &a);
    for (unsigned l = 0; l < TF_LANES; l++)
      if (LANE(a.ok, l)) memcpy(lanes[l] + (size_t)i * t.unit_bytes, unit_pointer(&a, l), t.unit_bytes);
  }
  size_t filled = (size_t)t.units * t.unit_bytes, all = (size_t)t.regs * (t.f.type == TF_T_f64 ? 8 : 4);
  for (unsigned l = 0; l < TF_LANES; l++) {
    for (size_t at = filled; at < all; at += filled)
      memcpy(lanes[l] + at, lanes[l], filled);
    if (LANE(mask, l)) put_registers(w, in, &t, l, lanes[l]);
  }
}

HANDLER(store) {
  transfer t = transfer_of(in);
  unsigned char lanes[TF_LANES][64];
  const uint32_t *stride = in->aux & HAS_STRIDE ? EXT(const uint32_t, t.regs + 1) : NULL;
  tf_access a;
  w->worker->progress++;
  for (unsigned l = 0; l < TF_LANES; l++)
    get_registers(w, in, 1, &t, l, lanes[l]);
  for (unsigned i = 0; i < t.units; i++) {
    unit_access(w, in, mask, &t, in->ext[0], stride, i, TF_WRITE, &a);
    for (unsigned l = 0; l < TF_LANES; l++)
      if (LANE(a.ok, l)) memcpy(unit_pointer(&a, l), lanes[l] + (size_t)i * t.unit_bytes, t.unit_bytes);
  }
}

/* ---- Multiply ---- */
/* The matrix of a fragment whose registers begin at `at`, in its order. */
static void unpack(tf_warp *w, const tf_insn *in, unsigned at, fragment f, double *out) {
  unsigned v = share(f), bits = type_bits(f.type), per = bits == 64 ? 1 : 32 / bits;
  for (unsigned l = 0; l < TF_LANES; l++)
    for (unsigned i = 0; i < v; i++) {
      double x;
      if (f.type == TF_T_f64) {
        x = EXT(const double, at + i)[l];
      } else {
        uint32_t word = EXT(const uint32_t, at + i / per)[l];
        x = f.type == TF_T_f32   ? (double)tf_as_float(word)
            : f.type == TF_T_s32 ? (double)(int32_t)word
                                 : tf_element_value(tf_element_of(f.type), word >> (i % per * bits & 31));
      }
      out[l * v + i] = x;
    }
}

static uint32_t wrap(double x, bool saturate) {
  int64_t n = (int64_t)x;
  if (saturate) n = n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n;
  return (uint32_t)n;
}

static void pack(tf_warp *w, const tf_insn *in, uint32_t mask, fragment f, const double *d) {
  unsigned v = share(f);
  for (unsigned l = 0; l < TF_LANES; l++)
    for (unsigned i = 0; i < v && LANE(mask, l); i++) {
      double x = d[l * v + i];
      if (f.type == TF_T_f64)
        EXT(double, i)[l] = x;
      else if (f.type == TF_T_f32)
        EXT(uint32_t, i)[l] = tf_single_bits(x);
      else if (f.type == TF_T_s32)
        EXT(uint32_t, i)[l] = wrap(x, in->aux & SATURATE);
      else if (i & 1)
        EXT(uint32_t, i / 2)[l] |= tf_half_bits(x) << 16;
      else
        EXT(uint32_t, i / 2)[l] = tf_half_bits(x);
    }
}

HANDLER(mma) {
  parts p = decode(in);
  double a[32 * 16], b[32 * 32], d[32 * 32];
  fragment fa = fragment_of('a', p.m, p.n, p.k, p.type[1]), fb = fragment_of('b', p.m, p.n, p.k, p.type[2]);
  fragment fd = fragment_of('d', p.m, p.n, p.k, p.type[0]), fc = fragment_of('c', p.m, p.n, p.k, p.type[3]);
  unsigned at = registers(fd, 'd');
  unpack(w, in, at, fa, a);
  unpack(w, in, at += registers(fa, 'a'), fb, b);
  unpack(w, in, at + registers(fb, 'b'), fc, d);
  fesetround((int)in->imm[2]);
  tf_keep(a), tf_keep(b), tf_keep(d);
  for (unsigned i = 0; i < p.m; i++)
    for (unsigned j = 0; j < p.n; j++) {
      double sum = d[i * p.n + j];
      for (unsigned k = 0; k < p.k; k++)
        sum = p.type[0] == TF_T_f64 ? fma(a[i * p.k + k], b[j * p.k + k], sum) : sum + a[i * p.k + k] * b[j * p.k + k];
      d[i * p.n + j] = sum;
    }
  tf_keep(d);
  fesetround(FE_TONEAREST);
  pack(w, in, mask, fd, d);
  if (w->launch->count) tf_count_mma(w, in, p.m, p.n, p.k);
}

/* Four words of 32 bits a row; row o's word j is lane 4 o + j. */
HANDLER(mma_bits) {
  uint32_t sum[64];
  for (unsigned e = 0; e < 64; e++) {
    unsigned row = e / 8, col = e % 8;
    sum[e] = EXT(const uint32_t, 4 + e % 2)[e / 2];
    for (unsigned j = 0; j < 4; j++) {
      uint32_t x = EXT(const uint32_t, 2)[row * 4 + j], y = EXT(const uint32_t, 3)[col * 4 + j];
      sum[e] += (uint32_t)__builtin_popcount(in->aux & AND_OP ? x & y : x ^ y);
    }
  }
  for (unsigned l = 0; l < TF_LANES; l++)
    for (unsigned i = 0; i < 2 && LANE(mask, l); i++)
      EXT(uint32_t, i)[l] = sum[2 * l + i];
  if (w->launch->count) tf_count_mma(w, in, 8, 8, 128);
}

/* ---- Selection ---- */
static unsigned number_after(const char *text, char letter) {
  unsigned n = 0;
  for (text = strchr(text, letter) + 1; *text >= '0' && *text <= '9'; text++)
    n = n * 10 + (unsigned)(*text - '0');
  return n;
}

static void encode(tf_form *f, unsigned shape_slot, const tf_type types[4], char which) {
  const char *shape = f->mods[shape_slot];
  uint64_t kinds = (uint64_t)(unsigned char)which << 32;
  for (unsigned i = 0; i < 4; i++)
    kinds |= (uint64_t)types[i] << 8 * i;
  f->in->aux = number_after(shape, 'm') | number_after(shape, 'n') << 6 | number_after(shape, 'k') << 20;
  f->in->imm[1] = (int64_t)kinds;
}

static bool check_count(tf_form *f, unsigned list, unsigned want) {
  if (f->count[list] == want) return true;
  f->refusal = "a fragment has another number of registers than its shape and type need";
  return false;
}

static bool encode_transfer(tf_form *f, unsigned list) {
  char which = f->mods[1][0];
  encode(f, 5, (const tf_type[4]){f->types[0]}, which);
  bool column = f->mods[4][0] == 'c';
  /* B's own order is by columns. */
  if (column != (which == 'b')) f->in->aux |= COLUMN;
  if (f->operand_count > 2 && f->count[2]) f->in->aux |= HAS_STRIDE;
  return check_count(f, list, transfer_of(f->in).regs);
}

SELECTOR(select_load) {
  return encode_transfer(f, 0) ? load : NULL;
}
SELECTOR(select_store) {
  return encode_transfer(f, 1) ? store : NULL;
}

static tf_handler select_product(tf_form *f, const tf_type types[4]) {
  encode(f, 5, types, 0);
  if (tf_form_has(f, "satfinite")) f->in->aux |= SATURATE;
  f->in->imm[2] = tf_host_rounding(f);
  parts p = decode(f->in);
  static const char which[4] = {'d', 'a', 'b', 'c'};
  for (unsigned i = 0; i < 4; i++)
    if (!check_count(f, i, registers(fragment_of(which[i], p.m, p.n, p.k, types[i]), which[i]))) return NULL;
  return mma;
}

/* Without operand types both are f16. */
SELECTOR(select_half) {
  return select_product(f, (const tf_type[4]){f->types[0], TF_T_f16, TF_T_f16, f->types[1]});
}
SELECTOR(select_mma) {
  return select_product(f, (const tf_type[4]){f->types[0], f->types[1], f->types[2], f->types[3]});
}
SELECTOR(select_bits) {
  f->in->aux = tf_form_has(f, "and") ? AND_OP : 0;
  return check_count(f, 0, 2) && check_count(f, 1, 1) && check_count(f, 2, 1) && check_count(f, 3, 2) ? mma_bits : NULL;
}

static const tf_row rows[] = {
#include "Sim/Insn/Wmma.def"
};
TF_FAMILY(Wmma, rows)
