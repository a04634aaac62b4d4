/* Atomics: per lane a compare-and-swap loop on the host's memory, so that they are atomic between workers too. Lanes take
 * their turns in ascending order, or from another start when the seed says so. */
#include "Sim/Insn/Formats.h"
#include "Sim/Insn/Lanes.h"

#include <math.h>

typedef uint64_t (*combiner)(uint64_t old, uint64_t b, uint64_t c);

#define COMBINE(name, expr)                                                                                            \
  static uint64_t name(uint64_t old, uint64_t b, uint64_t c) {                                                         \
    (void)old;                                                                                                         \
    (void)b;                                                                                                           \
    (void)c;                                                                                                           \
    return expr;                                                                                                       \
  }
#define F(x) tf_as_float((uint32_t)(x))
#define G(x) tf_as_double(x)

static float canonical(float x) {
  return x == x ? x : tf_as_float(0x7FFFFFFFu);
}
static uint64_t add_half(uint64_t a, uint64_t b) {
  return tf_float_to_half(tf_half_to_float((uint32_t)a & 0xFFFFu) + tf_half_to_float((uint32_t)b & 0xFFFFu));
}
static uint64_t add_bf16(uint64_t a, uint64_t b) {
  double sum =
      tf_add_odd((double)tf_bf16_to_float((uint32_t)a & 0xFFFFu), (double)tf_bf16_to_float((uint32_t)b & 0xFFFFu));
  return tf_round_small(sum, tf_bf16_format, TF_RN);
}
/* -0 is less than +0; a NaN loses against a number. */
static uint64_t lesser(uint64_t a, uint64_t b, bool max, bool bf16) {
  a &= 0xFFFF, b &= 0xFFFF;
  float x = bf16 ? tf_bf16_to_float((uint32_t)a) : tf_half_to_float((uint32_t)a);
  float y = bf16 ? tf_bf16_to_float((uint32_t)b) : tf_half_to_float((uint32_t)b);
  if (x != x) return y != y ? 0x7FFF : b;
  if (y != y) return a;
  return (x == y ? (a >> 15 & 1) != max : (x < y) != max) ? a : b;
}
static uint64_t lesser_two(uint64_t a, uint64_t b, bool max, bool bf16) {
  return lesser(a, b, max, bf16) | lesser(a >> 16, b >> 16, max, bf16) << 16;
}

COMBINE(op_and, old &b)
COMBINE(op_or, old | b)
COMBINE(op_xor, old ^ b)
COMBINE(op_exch, b)
COMBINE(op_cas, old == b ? c : old)
COMBINE(op_add, old + b)
COMBINE(op_inc, old >= b ? 0 : old + 1)
COMBINE(op_dec, old == 0 || old > b ? b : old - 1)
COMBINE(op_min_u, old < b ? old : b)
COMBINE(op_max_u, old > b ? old : b)
COMBINE(op_min_s32, (int32_t)old < (int32_t)b ? old : b)
COMBINE(op_max_s32, (int32_t)old > (int32_t)b ? old : b)
COMBINE(op_min_s64, (int64_t)old < (int64_t)b ? old : b)
COMBINE(op_max_s64, (int64_t)old > (int64_t)b ? old : b)
COMBINE(op_add_f32, tf_float_bits(canonical(F(old) + F(b))))
COMBINE(op_add_f64, tf_double_bits(G(old) + G(b)))
COMBINE(op_add_f16, add_half(old, b))
COMBINE(op_add_f16x2, add_half(old, b) | add_half(old >> 16, b >> 16) << 16)
COMBINE(op_add_bf16, add_bf16(old, b))
COMBINE(op_add_bf16x2, add_bf16(old, b) | add_bf16(old >> 16, b >> 16) << 16)
COMBINE(op_min_f16, lesser(old, b, false, false))
COMBINE(op_max_f16, lesser(old, b, true, false))
COMBINE(op_min_f16x2, lesser_two(old, b, false, false))
COMBINE(op_max_f16x2, lesser_two(old, b, true, false))
COMBINE(op_min_bf16, lesser(old, b, false, true))
COMBINE(op_max_bf16, lesser(old, b, true, true))
COMBINE(op_min_bf16x2, lesser_two(old, b, false, true))
COMBINE(op_max_bf16x2, lesser_two(old, b, true, true))

static const combiner combiners[] = {
    op_and,     op_or,        op_xor,       op_exch,      op_cas,      op_add,        op_inc,
    op_dec,     op_min_u,     op_max_u,     op_min_s32,   op_max_s32,  op_min_s64,    op_max_s64,
    op_add_f32, op_add_f64,   op_add_f16,   op_add_f16x2, op_add_bf16, op_add_bf16x2, op_min_f16,
    op_max_f16, op_min_f16x2, op_max_f16x2, op_min_bf16,  op_max_bf16, op_min_bf16x2, op_max_bf16x2};
enum {
  AND,
  OR,
  XOR,
  EXCH,
  CAS,
  ADD,
  INC,
  DEC,
  MIN_U,
  MAX_U,
  MIN_S32,
  MAX_S32,
  MIN_S64,
  MAX_S64,
  ADD_F32,
  ADD_F64,
  ADD_F16,
  ADD_F16X2,
  ADD_BF16,
  ADD_BF16X2,
  MIN_F16,
  MAX_F16,
  MIN_F16X2,
  MAX_F16X2,
  MIN_BF16,
  MAX_BF16,
  MIN_BF16X2,
  MAX_BF16X2
};

#define SWAP(T)                                                                                                        \
  static uint64_t swap_##T(unsigned char *at, combiner op, uint64_t b, uint64_t c, bool *changed) {                    \
    T *p = (T *)(void *)at, old = __atomic_load_n(p, __ATOMIC_SEQ_CST), new;                                           \
    do                                                                                                                 \
      new = (T)op(old, b, c);                                                                                          \
    while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));                     \
    *changed |= new != old;                                                                                            \
    return old;                                                                                                        \
  }
SWAP(uint16_t)
SWAP(uint32_t)
SWAP(uint64_t)

static inline uint64_t lane_value(const void *slot, unsigned bytes, unsigned l) {
  return bytes == 8 ? ((const uint64_t *)slot)[l] : ((const uint32_t *)slot)[l];
}

/* aux: combiner | bytes << 8; operand `at` is the address, the values follow. */
static void run(tf_warp *w, const tf_insn *in, uint32_t mask, unsigned at, void *d) {
  unsigned bytes = in->aux >> 8 & 0xFF;
  combiner op = combiners[in->aux & 0xFF];
  bool changed = false, cas = (in->aux & 0xFF) == CAS;
  tf_access a;
  a.mask = mask;
  a.bytes = bytes;
  a.align = 0;
  a.kind = TF_ATOMIC;
  a.part = NULL;
  a.space = in->space;
  a.order = (uint8_t)(in->aux >> 16 & 15);
  a.in_flight = false;
  tf_access_addresses(w, in, in->op[at], 0, in->imm[0], a.addr);
  tf_access_resolve(w, in, &a);
  if (w->watch) tf_check_access(w, in, &a);
  const void *b = SLOT(const void, at + 1), *c = cas ? SLOT(const void, at + 2) : b;
  unsigned start = w->launch->seed ? (unsigned)(w->cta->rng >> 37) % TF_LANES : 0;
  for (unsigned i = 0; i < TF_LANES; i++) {
    unsigned l = (i + start) % TF_LANES;
    uint64_t old = 0;
    if (!LANE(mask, l)) continue;
    uint64_t x = lane_value(b, bytes, l), y = lane_value(c, bytes, l);
    unsigned char *p = a.dense ? a.ptr[0] + l * bytes : a.ptr[l];
    if (LANE(a.ok, l))
      old = bytes == 2   ? swap_uint16_t(p, op, x, y, &changed)
            : bytes == 4 ? swap_uint32_t(p, op, x, y, &changed)
                         : swap_uint64_t(p, op, x, y, &changed);
    if (!d) continue;
    if (bytes == 8)
      ((uint64_t *)d)[l] = old;
    else
      ((uint32_t *)d)[l] = (uint32_t)old;
  }
  w->worker->progress += changed;
  w->spin = true;
}

/* ---- 128 bits: exchange and compare-and-swap ---- */
__extension__ typedef unsigned __int128 wide;

/* Not every CPU can do this at once; workers that share memory take turns. */
static wide swap_wide(tf_warp *w, unsigned char *at, bool cas, wide b, wide c, bool *changed) {
  wide old, new;
  while (atomic_flag_test_and_set_explicit(&w->launch->wide_atomic, memory_order_acquire))
    ;
  memcpy(&old, at, sizeof old);
  new = !cas ? b : old == b ? c : old;
  memcpy(at, &new, sizeof new);
  atomic_flag_clear_explicit(&w->launch->wide_atomic, memory_order_release);
  *changed |= new != old;
  return old;
}

HANDLER(atom_128) {
  tf_access a = {.mask = mask, .bytes = 16, .kind = TF_ATOMIC, .space = in->space};
  char *d = SLOT(char, 0);
  a.order = (uint8_t)(in->aux >> 16 & 15);
  const char *b = SLOT(const char, 2);
  bool changed = false, cas = (in->aux & 0xFF) == CAS;
  const char *c = cas ? SLOT(const char, 3) : b;
  tf_access_addresses(w, in, in->op[1], 0, in->imm[0], a.addr);
  tf_access_resolve(w, in, &a);
  if (w->watch) tf_check_access(w, in, &a);
  unsigned start = w->launch->seed ? (unsigned)(w->cta->rng >> 37) % TF_LANES : 0;
  for (unsigned i = 0; i < TF_LANES; i++) {
    unsigned l = (i + start) % TF_LANES;
    wide x, y, old = 0;
    if (!LANE(mask, l)) continue;
    memcpy(&x, b + 16 * l, sizeof x);
    memcpy(&y, c + 16 * l, sizeof y);
    if (LANE(a.ok, l)) old = swap_wide(w, a.dense ? a.ptr[0] + 16 * l : a.ptr[l], cas, x, y, &changed);
    memcpy(d + 16 * l, &old, sizeof old);
  }
  w->worker->progress += changed;
  w->spin = true;
}

/* ---- Vectors: lane by lane, element by element ---- */
static uint32_t vector_element(const tf_warp *w, uint32_t operand, unsigned l) {
  return ((const uint32_t *)tf_operand(w, operand))[l];
}

static void run_vector(tf_warp *w, const tf_insn *in, uint32_t mask, unsigned at, bool result) {
  unsigned bytes = in->aux >> 8 & 0xFF, n = in->aux >> 24;
  combiner op = combiners[in->aux & 0xFF];
  bool changed = false;
  tf_access a = {.mask = mask, .bytes = bytes * n, .kind = TF_ATOMIC, .space = in->space};
  a.order = (uint8_t)(in->aux >> 16 & 15);
  tf_access_addresses(w, in, in->ext[at], 0, in->imm[0], a.addr);
  tf_access_resolve(w, in, &a);
  if (w->watch) tf_check_access(w, in, &a);
  unsigned start = w->launch->seed ? (unsigned)(w->cta->rng >> 37) % TF_LANES : 0;
  for (unsigned i = 0; i < TF_LANES; i++) {
    unsigned l = (i + start) % TF_LANES;
    unsigned char *p = a.dense ? a.ptr[0] + l * a.bytes : a.ptr[l];
    for (unsigned e = 0; e < n && LANE(mask, l); e++) {
      uint64_t x = vector_element(w, in->ext[at + 1 + e], l), old = 0;
      if (LANE(a.ok, l))
        old = bytes == 2 ? swap_uint16_t(p + 2 * e, op, x, x, &changed) : swap_uint32_t(p + 4 * e, op, x, x, &changed);
      if (result) EXT(uint32_t, e)[l] = (uint32_t)old;
    }
  }
  w->worker->progress += changed;
  w->spin = true;
}
HANDLER(atom_vector) {
  run_vector(w, in, mask, in->aux >> 24, true);
}
HANDLER(red_vector) {
  run_vector(w, in, mask, 0, false);
}

HANDLER(atom) {
  run(w, in, mask, 1, SLOT(void, 0));
}
HANDLER(red) {
  run(w, in, mask, 0, NULL);
}

static int add_of(tf_type t) {
  switch (t) {
  case TF_T_f32:
    return ADD_F32;
  case TF_T_f64:
    return ADD_F64;
  case TF_T_f16:
    return ADD_F16;
  case TF_T_f16x2:
    return ADD_F16X2;
  case TF_T_bf16:
    return ADD_BF16;
  case TF_T_bf16x2:
    return ADD_BF16X2;
  default:
    return ADD;
  }
}

static int extreme_of(tf_type t, bool max) {
  switch (t) {
  case TF_T_s32:
    return MIN_S32 + max;
  case TF_T_s64:
    return MIN_S64 + max;
  case TF_T_f16:
    return MIN_F16 + max;
  case TF_T_f16x2:
    return MIN_F16X2 + max;
  case TF_T_bf16:
    return MIN_BF16 + max;
  case TF_T_bf16x2:
    return MIN_BF16X2 + max;
  default:
    return MIN_U + max;
  }
}

static void encode(tf_form *f) {
  static const char *const names[] = {"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max", NULL};
  tf_type t = f->types[0];
  int op = -1;
  for (unsigned slot = 0; op < 0; slot++) /* every row has one */
    op = tf_form_pick(f, slot, names);
  if (op == ADD)
    op = add_of(t);
  else if (op == 8 || op == 9)
    op = extreme_of(t, op == 9);
  f->in->aux = (uint32_t)op | tf_type_bytes(t) << 8 | (TF_ORDER_STRONG | tf_form_order(f)) << 16;
}
SELECTOR(select_atom) {
  encode(f);
  if (f->types[0] == TF_T_b128) return atom_128;
  return atom;
}
SELECTOR(select_red) {
  encode(f);
  return red;
}

/* aux: the number of elements in the upper byte. */
static bool encode_vector(tf_form *f, unsigned list) {
  unsigned n = tf_form_has(f, "v8") ? 8 : tf_form_has(f, "v4") ? 4 : 2;
  encode(f);
  f->in->aux |= n << 24;
  if (f->in->space != TF_SPACE_GLOBAL && f->in->space != TF_SPACE_GENERIC) f->refusal = "vectors are in global memory";
  if (f->count[list] != n || (strcmp(f->row->opcode, "atom") == 0 && f->count[0] != n))
    f->refusal = "the list of registers does not match .v2, .v4 or .v8";
  return !f->refusal;
}
SELECTOR(select_atom_vector) {
  return encode_vector(f, 2) ? atom_vector : NULL;
}
SELECTOR(select_red_vector) {
  return encode_vector(f, 1) ? red_vector : NULL;
}

static const tf_row rows[] = {
#include "Sim/Insn/Atomic.def"
};
TF_FAMILY(Atomic, rows)
