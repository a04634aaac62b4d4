/* Which registers an instruction reads and writes, for the init checker; see CheckInit.c. */
#include "Sim/Decode/Decode.h"

#include <string.h>

static bool is_written(uint64_t written, unsigned i) {
  return i < 64 && written >> i & 1;
}

static unsigned count_of(unsigned count, uint64_t written, bool writes) {
  unsigned n = 0;
  for (unsigned i = 0; i < count; i++)
    n += is_written(written, i) == writes;
  return n;
}

/* ---- Integer instructions that move bits, bit by bit ---------------------------------------------------------------- */

/* What bit j of the result is made of: bit a of the first operand, bit b of the second; -1: no bit of it. */
typedef struct origin {
  int a, b;
} origin;

typedef struct mover {
  const char *opcode;
  unsigned count; /* operands, the result among them */
  unsigned first; /* constant operand, `constants` of them from there */
  unsigned constants;
  origin (*bit)(int j, int width, const uint32_t *c, bool is_signed);
} mover;

static origin prmt_bit(int j, int width, const uint32_t *c, bool is_signed) {
  unsigned nibble = c[0] >> j / 8 * 4 & 15, byte = nibble & 7;
  int bit = (int)(byte % 4) * 8 + (nibble & 8 ? 7 : j % 8);
  (void)width, (void)is_signed;
  return byte < 4 ? (origin){bit, -1} : (origin){-1, bit};
}
static origin bfi_bit(int j, int width, const uint32_t *c, bool is_signed) {
  int at = (int)(c[0] & 255), n = (int)(c[1] & 255);
  (void)width, (void)is_signed;
  return j >= at && j < at + n ? (origin){j - at, -1} : (origin){-1, j};
}
static origin bfe_bit(int j, int width, const uint32_t *c, bool is_signed) {
  int at = (int)(c[0] & 255), n = (int)(c[1] & 255), last = at + n - 1 < width ? at + n - 1 : width - 1;
  if (n && j < n && at + j < width) return (origin){at + j, -1};
  return (origin){is_signed && n ? last : -1, -1};
}
static origin shl_bit(int j, int width, const uint32_t *c, bool is_signed) {
  (void)width, (void)is_signed;
  return (origin){c[0] <= (uint32_t)j ? j - (int)c[0] : -1, -1};
}
static origin shr_bit(int j, int width, const uint32_t *c, bool is_signed) {
  if (c[0] < (uint32_t)(width - j)) return (origin){j + (int)c[0], -1};
  return (origin){is_signed ? width - 1 : -1, -1};
}
static origin and_bit(int j, int width, const uint32_t *c, bool is_signed) {
  (void)width, (void)is_signed;
  return (origin){c[j / 32] >> j % 32 & 1 ? j : -1, -1};
}
static origin or_bit(int j, int width, const uint32_t *c, bool is_signed) {
  (void)width, (void)is_signed;
  return (origin){c[j / 32] >> j % 32 & 1 ? -1 : j, -1};
}
static origin both_bits(int j, int width, const uint32_t *c, bool is_signed) {
  (void)width, (void)c, (void)is_signed;
  return (origin){j, j};
}
static origin same_bit(int j, int width, const uint32_t *c, bool is_signed) {
  (void)width, (void)c, (void)is_signed;
  return (origin){j, -1};
}
static origin cvt_bit(int j, int width, const uint32_t *c, bool is_signed) {
  (void)c;
  return (origin){j < width ? j : is_signed ? width - 1 : -1, -1};
}

/* In the order of preference: with a constant operand more is known. */
static const mover movers[] = {
    {"prmt", 4, 3, 1, prmt_bit}, {"bfi", 5, 3, 2, bfi_bit},   {"bfe", 4, 2, 2, bfe_bit},  {"shl", 3, 2, 1, shl_bit},
    {"shr", 3, 2, 1, shr_bit},   {"and", 3, 2, 1, and_bit},   {"or", 3, 2, 1, or_bit},    {"and", 3, 3, 0, both_bits},
    {"or", 3, 3, 0, both_bits},  {"xor", 3, 3, 0, both_bits}, {"not", 2, 2, 0, same_bit}, {"cvt", 2, 2, 0, cvt_bit},
};

static bool is_integer(tf_type type) {
  const char *name = type == TF_T_NONE || type == TF_T_pred ? "f" : tf_type_name(type);
  return (*name == 'u' || *name == 's' || (*name == 'b' && name[1] != 'f')) && tf_type_bytes(type) <= 8;
}

/* Constant operands as words; a 64-bit one has two. */
static bool constants(const tf_decoder *d, const mover *m, const uint32_t *ops, uint32_t *c) {
  for (unsigned i = 0; i < m->constants; i++) {
    uint32_t op = ops[m->first + i];
    if ((op & 3) != TF_BANK_CONSTS) return false;
    memcpy(c + i, d->consts + (op & ~3u), m->constants == 1 && tf_type_bytes(d->form.types[0]) == 8 ? 8 : 4);
  }
  return true;
}

static const mover *mover_of(const tf_decoder *d, const uint32_t *ops, unsigned count, uint32_t *c) {
  for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
    const mover *m = &movers[i];
    if (strcmp(m->opcode, d->insn.row->opcode) != 0 || m->count != count) continue;
    if (!is_integer(d->form.types[0]) || tf_form_has(&d->form, "sat")) return NULL;
    if (strcmp(m->opcode, "cvt") == 0 && !is_integer(d->form.types[1])) return NULL;
    if (strcmp(m->opcode, "prmt") == 0 && d->stmt->mod_count > 1) return NULL;
    if (constants(d, m, ops, c)) return m;
  }
  return NULL;
}

static void trace_bits(const tf_decoder *d, tf_uses *u, const mover *m, const uint32_t *c) {
  bool cvt = strcmp(m->opcode, "cvt") == 0;
  tf_type type = d->form.types[cvt ? 1 : 0];
  int width = 8 * (int)tf_type_bytes(type);
  bool is_signed = *tf_type_name(type) == 's';
  for (int j = 0; j < 8 * (int)u->list[u->reads].bytes && j < 64; j++) {
    origin o = m->bit(j, width, c, is_signed);
    if (o.a >= 0) u->from[j / 8] |= (uint16_t)(1u << o.a / 8);
    if (o.b >= 0) u->from[j / 8] |= (uint16_t)(256u << o.b / 8);
  }
}

/* One side of a mov has one register, the other one or more equal parts of it. */
static uint32_t part_bytes(const uint8_t *widths, unsigned count, uint64_t written, bool writes) {
  unsigned here = count_of(count, written, writes), there = count - here;
  unsigned whole = here == 1 ? (unsigned)(writes ? 0 : there) : 0; /* index of a lone part on this side */
  if (here == 1) return widths[whole];
  return (uint32_t)widths[writes ? here : 0] / here;
}

/* Bytes of operand i that count: a store takes the lower part of a wider register. */
static uint32_t bytes_of(const tf_decoder *d, unsigned i, uint32_t width) {
  uint32_t stored = tf_type_bytes(d->form.types[0]);
  return i && strcmp(d->insn.row->opcode, "st") == 0 && stored < width ? stored : width;
}

bool tf_decode_uses(tf_decoder *d, const uint32_t *ops, const uint8_t *widths, unsigned count, uint64_t written) {
  tf_uses *u = tf_pool_alloc(&d->module->pool, sizeof *u + count * sizeof *u->list);
  if (!u) return tf_decode_no_memory(d);
  uint32_t c[3] = {0};
  const mover *m = mover_of(d, ops, count, c);
  bool mov = strcmp(d->insn.row->opcode, "mov") == 0;
  u->kind = mov ? TF_USE_MOVE : m ? TF_USE_BYTES : TF_USE_PLAIN;
  for (int writes = 0; writes < 2; writes++) {
    for (unsigned i = 0; i < count; i++) {
      bool in_frame = ops[i] && (ops[i] & 3) == TF_BANK_REGS;
      if (is_written(written, i) != writes || (u->kind == TF_USE_PLAIN && !in_frame)) continue;
      u->list[u->count++] =
          (tf_use){ops[i], mov ? part_bytes(widths, count, written, writes) : bytes_of(d, i, widths[i])};
    }
    if (!writes) u->reads = u->count;
  }
  if (m) trace_bits(d, u, m, c);
  d->insn.uses = u;
  return true;
}
