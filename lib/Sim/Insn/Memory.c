/* Loads and stores: addresses, one resolution for the whole warp, then one loop per element of the vector.
 *
 *   dense: lane l's element e at base + l * bytes + e * size; the loops become vector moves */
#include "Sim/Insn/Lanes.h"

enum { ORDER_AT = 8, ORDER = 15u << ORDER_AT }; /* aux: number of elements | TF_ORDER_… << 8 */

static inline void begin(tf_warp *w, const tf_insn *in, uint32_t mask, tf_access *a, uint32_t op, unsigned size,
                         unsigned kind) {
  a->mask = mask;
  a->bytes = size * (in->aux & 0xFF);
  a->align = 0;
  a->kind = (uint8_t)kind;
  a->part = NULL;
  a->space = in->space;
  a->order = (uint8_t)((in->aux & ORDER) >> ORDER_AT);
  a->in_flight = false;
  tf_access_addresses(w, in, op, 0, in->imm[0], a->addr);
  tf_access_resolve(w, in, a);
  if (w->watch) tf_check_access(w, in, a);
  if (a->order) w->spin = true;
}

/* M: type in memory; S: lane of the register, into which M is extended. */
#define LOAD(name, M, S)                                                                                               \
  HANDLER(name) {                                                                                                      \
    tf_access a;                                                                                                       \
    unsigned n = in->aux & 0xFF;                                                                                       \
    begin(w, in, mask, &a, in->ext[n], sizeof(M), TF_READ);                                                            \
    for (unsigned e = 0; e < n; e++) {                                                                                 \
      S *d = EXT(S, e);                                                                                                \
      if (a.dense && n == 1) {                                                                                         \
        const unsigned char *p = a.ptr[0];                                                                             \
        for (unsigned l = 0; l < TF_LANES; l++) {                                                                      \
          M x;                                                                                                         \
          memcpy(&x, p + l * sizeof(M), sizeof x);                                                                     \
          d[l] = (S)x;                                                                                                 \
        }                                                                                                              \
      } else if (a.dense) {                                                                                            \
        const unsigned char *p = a.ptr[0] + e * sizeof(M);                                                             \
        for (unsigned l = 0; l < TF_LANES; l++, p += a.bytes) {                                                        \
          M x;                                                                                                         \
          memcpy(&x, p, sizeof x);                                                                                     \
          d[l] = (S)x;                                                                                                 \
        }                                                                                                              \
      } else if (a.ok == TF_FULL_MASK) {                                                                               \
        for (unsigned l = 0; l < TF_LANES; l++) {                                                                      \
          M x;                                                                                                         \
          memcpy(&x, a.ptr[l] + e * sizeof(M), sizeof x);                                                              \
          d[l] = (S)x;                                                                                                 \
        }                                                                                                              \
      } else {                                                                                                         \
        for (uint32_t m = mask; m; m &= m - 1) {                                                                       \
          unsigned l = (unsigned)__builtin_ctz(m);                                                                     \
          M x = 0; /* what a refused load gives */                                                                     \
          if (LANE(a.ok, l)) memcpy(&x, a.ptr[l] + e * sizeof(M), sizeof x);                                           \
          d[l] = (S)x;                                                                                                 \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define STORE(name, M, S)                                                                                              \
  HANDLER(name) {                                                                                                      \
    tf_access a;                                                                                                       \
    unsigned n = in->aux & 0xFF;                                                                                       \
    begin(w, in, mask, &a, in->ext[0], sizeof(M), TF_WRITE);                                                           \
    w->worker->progress++;                                                                                             \
    for (unsigned e = 0; e < n; e++) {                                                                                 \
      const S *s = EXT(const S, 1 + e);                                                                                \
      if (a.dense && n == 1) {                                                                                         \
        unsigned char *p = a.ptr[0];                                                                                   \
        for (unsigned l = 0; l < TF_LANES; l++) {                                                                      \
          M x = (M)s[l];                                                                                               \
          memcpy(p + l * sizeof(M), &x, sizeof x);                                                                     \
        }                                                                                                              \
      } else if (a.dense) {                                                                                            \
        unsigned char *p = a.ptr[0] + e * sizeof(M);                                                                   \
        for (unsigned l = 0; l < TF_LANES; l++, p += a.bytes) {                                                        \
          M x = (M)s[l];                                                                                               \
          memcpy(p, &x, sizeof x);                                                                                     \
        }                                                                                                              \
      } else {                                                                                                         \
        for (uint32_t m = a.ok; m; m &= m - 1) {                                                                       \
          unsigned l = (unsigned)__builtin_ctz(m);                                                                     \
          M x = (M)s[l];                                                                                               \
          memcpy(a.ptr[l] + e * sizeof(M), &x, sizeof x);                                                              \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

LOAD(ld_u8_32, uint8_t, uint32_t)
LOAD(ld_u16_32, uint16_t, uint32_t)
LOAD(ld_u32_32, uint32_t, uint32_t)
LOAD(ld_u8_64, uint8_t, uint64_t)
LOAD(ld_u16_64, uint16_t, uint64_t)
LOAD(ld_u32_64, uint32_t, uint64_t)
LOAD(ld_u64_64, uint64_t, uint64_t)
LOAD(ld_s8_16, int8_t, uint32_t) /* narrowed to 16 bits below */
LOAD(ld_s8_32, int8_t, uint32_t)
LOAD(ld_s16_32, int16_t, uint32_t)
LOAD(ld_s8_64, int8_t, uint64_t)
LOAD(ld_s16_64, int16_t, uint64_t)
LOAD(ld_s32_64, int32_t, uint64_t)
STORE(st_8_32, uint8_t, uint32_t)
STORE(st_16_32, uint16_t, uint32_t)
STORE(st_32_32, uint32_t, uint32_t)
STORE(st_8_64, uint8_t, uint64_t)
STORE(st_16_64, uint16_t, uint64_t)
STORE(st_32_64, uint32_t, uint64_t)
STORE(st_64_64, uint64_t, uint64_t)

/* 16-bit registers keep the upper half of their lane clear, so a sign-extended byte is cut to 16 bits. */
HANDLER(ld_s8_to_16) {
  ld_s8_16(w, in, mask);
  for (unsigned e = 0; e < (in->aux & 0xFF); e++) {
    uint32_t *d = EXT(uint32_t, e);
    STORE_LANES(uint32_t, d, v = d[l] & 0xFFFFu)
  }
}

/* 128-bit elements are two 64-bit ones side by side in the slot. */
HANDLER(ld_128) {
  tf_access a;
  unsigned n = in->aux & 0xFF;
  begin(w, in, mask, &a, in->ext[n], 16, TF_READ);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    for (unsigned e = 0; e < n; e++) {
      char *d = EXT(char, e) + 16 * l;
      memset(d, 0, 16);
      if (LANE(a.ok, l)) memcpy(d, (a.dense ? a.ptr[0] + l * a.bytes : a.ptr[l]) + 16 * e, 16);
    }
  }
}
HANDLER(st_128) {
  tf_access a;
  unsigned n = in->aux & 0xFF;
  begin(w, in, mask, &a, in->ext[0], 16, TF_WRITE);
  w->worker->progress++;
  for (uint32_t m = a.ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    for (unsigned e = 0; e < n; e++)
      memcpy((a.dense ? a.ptr[0] + l * a.bytes : a.ptr[l]) + 16 * e, EXT(const char, 1 + e) + 16 * l, 16);
  }
}

/* Registers and constants of up to 32 bits lie in slots of one size. */
static unsigned slot_bytes(unsigned width) {
  return width < 4 ? 4 : width;
}

static bool encode(tf_form *f, unsigned list) {
  static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", NULL};
  unsigned n = tf_form_has(f, "v8") ? 8 : tf_form_has(f, "v4") ? 4 : tf_form_has(f, "v2") ? 2 : 1;
  if (f->count[list] != n) {
    f->refusal = "the list of registers does not match .v2, .v4 or .v8";
    return false;
  }
  for (unsigned i = 1; i < n; i++)
    if (slot_bytes(f->width[f->first[list] + i]) != slot_bytes(f->width[f->first[list]])) {
      f->refusal = "the registers of a vector must have one size";
      return false;
    }
  /* The race checker wants the width of the registers and of what is stored of them. */
  f->in->aux = n | (uint32_t)f->width[f->first[list]] << 16 | (uint32_t)tf_type_bytes(f->types[0]) << 24;
  for (int i = 0; strong[i]; i++)
    if (tf_form_has(f, strong[i])) f->in->aux |= (TF_ORDER_STRONG | tf_form_order(f)) << ORDER_AT;
  return true;
}

SELECTOR(select_ld) {
  static const tf_handler to32[TF_T_COUNT] = {
      [TF_T_b8] = ld_u8_32,   [TF_T_u8] = ld_u8_32,   [TF_T_s8] = ld_s8_32,   [TF_T_b16] = ld_u16_32,
      [TF_T_u16] = ld_u16_32, [TF_T_s16] = ld_s16_32, [TF_T_b32] = ld_u32_32, [TF_T_u32] = ld_u32_32,
      [TF_T_s32] = ld_u32_32, [TF_T_f32] = ld_u32_32};
  static const tf_handler to64[TF_T_COUNT] = {
      [TF_T_b8] = ld_u8_64,   [TF_T_u8] = ld_u8_64,   [TF_T_s8] = ld_s8_64,   [TF_T_b16] = ld_u16_64,
      [TF_T_u16] = ld_u16_64, [TF_T_s16] = ld_s16_64, [TF_T_b32] = ld_u32_64, [TF_T_u32] = ld_u32_64,
      [TF_T_s32] = ld_s32_64, [TF_T_f32] = ld_u32_64, [TF_T_b64] = ld_u64_64, [TF_T_u64] = ld_u64_64,
      [TF_T_s64] = ld_u64_64, [TF_T_f64] = ld_u64_64};
  if (!encode(f, 0)) return NULL;
  unsigned width = f->width[0];
  if (f->types[0] == TF_T_b128) return width == 16 ? ld_128 : NULL;
  if (width == 16) return NULL;
  /* A destination of 16 bits takes sign-extended bytes and halves cut to 16 bits. */
  if (width == 2 && f->types[0] == TF_T_s8) return ld_s8_to_16;
  if (width == 2) return to32[f->types[0]] == ld_s16_32 ? ld_u16_32 : to32[f->types[0]];
  return (width == 8 ? to64 : to32)[f->types[0]];
}

SELECTOR(select_st) {
  if (!encode(f, 1)) return NULL;
  unsigned width = f->width[1], size = tf_type_bytes(f->types[0]);
  if (size == 16) return width == 16 ? st_128 : NULL;
  if (width == 16) return NULL;
  if (width == 8) return size == 1 ? st_8_64 : size == 2 ? st_16_64 : size == 4 ? st_32_64 : st_64_64;
  return size == 1 ? st_8_32 : size == 2 ? st_16_32 : st_32_32;
}

static const tf_row rows[] = {
#include "Sim/Insn/Memory.def"
};
TF_FAMILY(Memory, rows)
