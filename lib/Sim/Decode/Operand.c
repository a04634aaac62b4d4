/* Operands to places: registers to slots of the frame, constants to slots of the function's constant bank (broadcast, so
 * that a handler reads them like registers), symbols to addresses. */
#include "Sim/Decode/Decode.h"

#include <stdlib.h>
#include <string.h>

/* One element of an operand pattern; see Insn.h. */
typedef struct spec {
  char what;      /* d s D S m i l M _ h */
  bool relaxed;   /* r */
  bool twice;     /* w */
  bool predicate; /* p */
  bool element;   /* e: of a list, the form's first type divided by the length of the list */
  bool optional;
  tf_type type;
} spec;

static bool next_spec(const char **at, const tf_form *form, spec *s, bool *alternative) {
  while (**at == ' ')
    ++*at;
  if (!**at) return false;
  *s = (spec){.what = *(*at)++};
  const char *start = *at;
  while (**at && **at != ' ' && **at != '|' && **at != '?')
    ++*at;
  size_t n = (size_t)(*at - start);
  if (n && *start == 'r') s->relaxed = true, start++, n--;
  if (n && *start == 'w') s->twice = true, start++, n--;
  if (n == 1 && *start == 'e') {
    s->element = true;
    s->type = TF_T_b8;
  } else if (n == 1 && *start == 'p') {
    s->predicate = true;
    s->type = TF_T_pred;
  } else if (n == 1 && *start >= '0' && *start <= '9') {
    s->type = form ? form->types[*start - '0'] : TF_T_NONE;
  } else {
    s->type = tf_type_from_name(start, n);
  }
  if (s->what == 'h') s->type = TF_T_b64;
  s->optional = **at == '?';
  if (s->optional) ++*at;
  *alternative = **at == '|';
  if (*alternative) ++*at;
  return true;
}

unsigned tf_operands_expected(const char *pattern, bool hint, unsigned *least) {
  spec s;
  unsigned most = 0;
  bool alternative;
  *least = 0;
  while (next_spec(&pattern, NULL, &s, &alternative)) {
    bool absent = s.what == 'h' && !hint;
    most += !absent;
    *least += !absent && !s.optional;
    if (alternative) next_spec(&pattern, NULL, &s, &alternative);
  }
  return most;
}

static unsigned slot_width(tf_type type) {
  unsigned bytes = tf_type_bytes(type);
  return bytes <= 4 ? 4 : bytes;
}

static uint32_t new_slot(tf_decoder *d, tf_type type) {
  if (type == TF_T_pred) {
    if (d->pred_at == d->pred_end) {
      d->pred_at = d->regs_bytes;
      d->regs_bytes += 64;
      d->pred_end = d->regs_bytes;
    }
    d->pred_at += 4;
    return d->pred_at - 4;
  }
  uint32_t at = d->regs_bytes;
  d->regs_bytes += slot_width(type) * TF_LANES;
  return at;
}

uint32_t tf_decode_slot(tf_decoder *d, const tf_ptx_reg *declared, uint32_t index) {
  tf_ptx_reg *reg = (tf_ptx_reg *)declared; /* the decoder annotates the tree it was given */
  if (!reg->slots) {
    size_t n = (size_t)(reg->count ? reg->count : 1) * reg->vector;
    reg->slots = tf_pool_alloc(&d->module->ptx->pool, n * sizeof *reg->slots);
    if (!reg->slots) {
      tf_decode_no_memory(d);
      return TF_NO_OPERAND;
    }
  }
  if (!reg->slots[index]) reg->slots[index] = new_slot(d, reg->type);
  if (d->regs_bytes > 1u << 28) {
    tf_decode_fail(d, reg->name, "the function has too many registers");
    return TF_NO_OPERAND;
  }
  return reg->slots[index];
}

static void broadcast(char *to, unsigned width, uint64_t value) {
  uint32_t low = (uint32_t)value;
  memset(to, 0, (size_t)width * TF_LANES);
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (width == 4)
      memcpy(to + 4 * l, &low, 4);
    else
      memcpy(to + width * l, &value, 8);
  }
}

static size_t const_hash(unsigned width, uint64_t value, size_t size) {
  uint64_t h = (value + width) * 0x9E3779B97F4A7C15u;
  return (size_t)(h >> 32) & (size - 1);
}

/* The hash table holds indices + 1 into the list of constants. */
static bool const_rehash(tf_decoder *d) {
  size_t size = d->const_index_size ? d->const_index_size * 2 : 64;
  uint32_t *index = calloc(size, sizeof *index);
  if (!index) return tf_decode_no_memory(d);
  for (uint32_t i = 0; i < d->const_count; i++) {
    size_t h = const_hash(d->const_list[i].width, d->const_list[i].value, size);
    while (index[h])
      h = (h + 1) & (size - 1);
    index[h] = i + 1;
  }
  free(d->const_index);
  d->const_index = index;
  d->const_index_size = size;
  return true;
}

static bool const_append(tf_decoder *d, unsigned width, uint64_t value) {
  size_t bytes = (size_t)width * TF_LANES;
  if (!tf_grow((void **)&d->consts, &d->const_cap, d->const_bytes + bytes, 1) ||
      !tf_grow((void **)&d->const_list, &d->const_list_cap, d->const_count + 1u, sizeof *d->const_list))
    return tf_decode_no_memory(d);
  broadcast(d->consts + d->const_bytes, width, value);
  d->const_list[d->const_count++] = (tf_const_slot){value, (uint32_t)d->const_bytes, width};
  d->const_bytes += bytes;
  return true;
}

uint32_t tf_decode_const(tf_decoder *d, unsigned width, uint64_t value) {
  if (width == 4) value &= UINT32_MAX;
  if (d->const_count * 2u >= d->const_index_size && !const_rehash(d)) return TF_NO_OPERAND;
  size_t h = const_hash(width, value, d->const_index_size);
  for (; d->const_index[h]; h = (h + 1) & (d->const_index_size - 1)) {
    const tf_const_slot *c = &d->const_list[d->const_index[h] - 1];
    if (c->value == value && c->width == width) return c->at | TF_BANK_CONSTS;
  }
  if (!const_append(d, width, value)) return TF_NO_OPERAND;
  d->const_index[h] = d->const_count;
  return d->const_list[d->const_count - 1].at | TF_BANK_CONSTS;
}

/* Integers stand for integers and bits, floats for floats and bits of their size; f16 and packed types have no constants.
 * Decimal fractions are rounded to 32 bits too. */
static bool takes_constant(tf_type type, tf_operand_kind constant) {
  char kind = tf_type_kind(type);
  if (kind == 'P') return constant == TF_OP_INT;
  if (constant == TF_OP_INT) return kind == 'B' || kind == 'U' || kind == 'S';
  if (kind == 'F') return tf_type_bytes(type) >= 4;
  return kind == 'B' && (type == TF_T_b32 || (type == TF_T_b64 && constant == TF_OP_F64));
}

static bool convert_constant(tf_decoder *d, const tf_ptx_operand *o, tf_type type, uint64_t *bits) {
  float f;
  double x;
  uint32_t low = (uint32_t)o->value;
  *bits = (uint64_t)o->value;
  if (!takes_constant(type, o->kind))
    return tf_decode_fail(d, o->name ? o->name : d->stmt->opcode, "a .%s operand takes no %s constant",
                          tf_type_name(type), o->kind == TF_OP_INT ? "integer" : "floating-point");
  if (type == TF_T_pred) { /* true or false in all lanes */
    *bits = o->value ? UINT32_MAX : 0;
    return o->kind == TF_OP_INT ? true : tf_decode_fail(d, o->name, "expected a predicate");
  }
  if (o->kind == TF_OP_F64 && tf_type_bytes(type) < 8) { /* a decimal constant, rounded to the operand's type */
    memcpy(&x, &o->value, sizeof x);
    f = (float)x;
    memcpy(&low, &f, sizeof low);
    *bits = low;
  } else if (o->kind == TF_OP_F32 && type == TF_T_f64) {
    memcpy(&f, &low, sizeof f);
    x = (double)f;
    memcpy(bits, &x, sizeof x);
  }
  unsigned bytes = tf_type_bytes(type);
  if (bytes < 8) *bits &= ((uint64_t)1 << 8 * bytes) - 1;
  return true;
}

/* Addresses that only a frame knows: a slot that is set when the frame is made. */
static bool frame_value(tf_decoder *d, tf_frame_base base, uint64_t offset, unsigned width, uint32_t *op) {
  for (size_t i = 0; i < d->init_count; i++) {
    const tf_frame_init *have = &d->inits[i];
    if (have->base == base && have->offset == offset && have->width == width) {
      *op = have->operand;
      return true;
    }
  }
  if (!tf_grow((void **)&d->inits, &d->init_cap, d->init_count + 1, sizeof *d->inits)) return tf_decode_no_memory(d);
  *op = new_slot(d, width == 4 ? TF_T_b32 : TF_T_b64);
  d->inits[d->init_count++] =
      (tf_frame_init){.operand = *op, .offset = offset, .base = (uint8_t)base, .width = (uint8_t)width};
  return true;
}

static bool var_address(tf_decoder *d, const tf_ptx_operand *o, unsigned width, uint64_t addend, uint32_t *op) {
  tf_ptx_var *v = o->var;
  bool dynamic = v->space == TF_SPACE_SHARED && v->unsized;
  if (dynamic) return frame_value(d, TF_BASE_DYNAMIC_SHARED, addend, width, op);
  bool stacked = v->space == TF_SPACE_LOCAL || (v->space == TF_SPACE_PARAM && !v->is_entry_param);
  if (stacked) return frame_value(d, TF_BASE_LOCAL, v->address + addend, width, op);
  if (width == 4 && (v->space == TF_SPACE_GLOBAL || v->space == TF_SPACE_CONST))
    return tf_decode_fail(d, o->name, "the address of '%s' needs 64 bits", o->name);
  *op = tf_decode_const(d, width, v->address + addend);
  return *op != TF_NO_OPERAND;
}

static bool opcode_among(const tf_decoder *d, const char *const *list) {
  for (; *list; list++)
    if (strcmp(d->stmt->opcode, *list) == 0) return true;
  return false;
}

static bool special_value(tf_decoder *d, const tf_ptx_operand *o, unsigned width, bool relaxed, uint32_t *op,
                          uint8_t *got) {
  unsigned bytes;
  static const char *const readers[] = {"mov", "cvt", NULL};
  *op = tf_sreg_operand(o->name, &bytes);
  if (*op != TF_NO_OPERAND && bytes == 8 && width == 4) { /* %gridid was 32 bits wide in old PTX: its low half */
    return tf_decode_fail(d, o->name, "'%s' is 64 bits wide", o->name);
  }
  size_t count;
  if (*op == TF_NO_OPERAND) {
    const tf_row *const *rows = o->name[0] == '%' ? tf_row_find(d->module->device, o->name, &count) : NULL;
    if (!rows) return tf_decode_fail(d, o->name, "unknown name '%s'", o->name);
  }
  if (!opcode_among(d, readers)) return tf_decode_fail(d, o->name, "special registers are read by mov and cvt only");
  if (*op != TF_NO_OPERAND) d->module->device->reads_sreg[*op / 256] = true;
  if (*op == TF_NO_OPERAND) {
    const tf_row *const *rows = tf_row_find(d->module->device, o->name, &count);
    bytes = rows[0]->operands[2] == '6' ? 8 : 4; /* du64 or du32 */
    tf_insn saved = d->insn;
    tf_form form = {.row = rows[0], .in = &d->insn};
    *op = new_slot(d, bytes == 8 ? TF_T_b64 : TF_T_b32);
    d->insn = (tf_insn){.row = rows[0], .cls = rows[0]->cls, .guard = TF_NO_OPERAND, .op = {*op}, .op_count = 1};
    d->insn.line = d->stmt->line;
    d->insn.loc = d->stmt->loc;
    d->insn.run = rows[0]->select(&form);
    if (!tf_decode_uses(d, op, &(uint8_t){(uint8_t)bytes}, 1, 1) || !tf_decode_append(d)) return false;
    d->insn = saved;
  }
  *got = (uint8_t)bytes;
  if (bytes != width && !(relaxed && bytes > width))
    return tf_decode_fail(d, o->name, "'%s' is %u bits wide, the operand %u", o->name, bytes * 8, width * 8);
  return true;
}

/* True when a register of type `have` may stand for an operand of type `want`, sizes apart: bits fit everything, integers
 * do not care for signs, floats are themselves, packed 16-bit numbers are all alike; other formats live in bits only. */
static bool agrees(tf_type want, tf_type have) {
  char kind = tf_type_kind(want), other = tf_type_kind(have);
  if (kind == 'B' || other == 'B' || kind == 'P') return true;
  if (kind == 'U' || kind == 'S') return other != 'F';
  bool packed = want == TF_T_f16x2 || want == TF_T_u16x2 || want == TF_T_s16x2;
  return kind == 'X' ? packed && other == 'X' : want == have;
}

static bool register_value(tf_decoder *d, const tf_ptx_operand *o, tf_type type, bool relaxed, uint32_t *op,
                           uint8_t *got) {
  tf_type have = o->reg->type;
  if (strchr(o->name, '.')) return tf_decode_fail(d, o->name, "a register of one component has no others");
  if (o->value) return tf_decode_fail(d, o->name, "a register takes no offset here");
  if ((have == TF_T_pred) != (type == TF_T_pred))
    return tf_decode_fail(
        d, o->name, have == TF_T_pred ? "a predicate register cannot stand here" : "expected a predicate register");
  unsigned bytes = tf_type_bytes(have), want = tf_type_bytes(type);
  bool fits = type == TF_T_pred || (relaxed ? bytes >= want : bytes == want);
  if (fits && !agrees(type, have))
    return tf_decode_fail(d, o->name, "register '%s' is .%s, the instruction takes .%s here", o->name,
                          tf_type_name(have), tf_type_name(type));
  if (!fits)
    return tf_decode_fail(d, o->name, "register '%s' is .%s, the instruction takes %u bits here", o->name,
                          tf_type_name(have), want * 8);
  *op = tf_decode_slot(d, o->reg, o->reg_index);
  *got = have == TF_T_pred ? 0 : (uint8_t)bytes;
  return *op != TF_NO_OPERAND;
}

bool tf_decode_value(tf_decoder *d, const tf_ptx_operand *o, tf_type type, unsigned width, bool relaxed, uint32_t *op,
                     uint8_t *got) {
  static const char *const takers[] = {"mov", "cvta", "mapa", "getctarank", "call", NULL};
  uint64_t bits;
  if (!width) width = slot_width(type);
  *got = (uint8_t)width;
  if (type == TF_T_NONE) return tf_decode_fail(d, o->name ? o->name : "", "operand of unknown type");
  switch (o->kind) {
  case TF_OP_INT:
  case TF_OP_F32:
  case TF_OP_F64:
    if (!convert_constant(d, o, type, &bits)) return false;
    *op = tf_decode_const(d, width, bits);
    return *op != TF_NO_OPERAND;
  case TF_OP_NAME:
    if (o->reg) return register_value(d, o, type, relaxed, op, got);
    if ((o->var || o->func) && !opcode_among(d, takers))
      return tf_decode_fail(d, o->name, "'%s' takes registers; an address is moved to one first", d->stmt->opcode);
    if (o->var) return var_address(d, o, width, (uint64_t)o->value, op);
    if (o->func) {
      o->func->address_taken = true;
      const tf_func *f = o->func->decoded;
      *op = tf_decode_const(d, width, f->address);
      return width == 8 && *op != TF_NO_OPERAND ? true
                                                : tf_decode_fail(d, o->name, "a function's address needs 64 bits");
    }
    return special_value(d, o, width, relaxed, op, got);
  default:
    return tf_decode_fail(d, o->name ? o->name : "", "expected a register or a constant");
  }
}

static bool push(tf_decoder *d, uint32_t op, uint8_t width) {
  if (d->op_count == TF_MAX_OPERANDS) return tf_decode_fail(d, d->stmt->opcode, "too many operands");
  d->ops[d->op_count] = op;
  d->widths[d->op_count++] = width;
  return true;
}

static bool decode_destination(tf_decoder *d, const tf_ptx_operand *o, const spec *s) {
  if (d->op_count < 64) d->written |= (uint64_t)1 << d->op_count;
  if (o->kind == TF_OP_SINK) return push(d, 0, (uint8_t)slot_width(s->type)); /* the frame's scratch slot */
  if (o->kind != TF_OP_NAME || !o->reg) return tf_decode_fail(d, o->name ? o->name : "", "expected a register");
  uint32_t op = TF_NO_OPERAND;
  uint8_t got = 0;
  tf_type type = s->twice ? (tf_type_bytes(s->type) == 2 ? TF_T_b32 : TF_T_b64) : s->type;
  return register_value(d, o, type, s->relaxed, &op, &got) && push(d, op, got);
}

static bool decode_source(tf_decoder *d, const tf_ptx_operand *o, const spec *s) {
  uint32_t op = TF_NO_OPERAND;
  uint8_t got = 0;
  tf_type type = s->twice ? (tf_type_bytes(s->type) == 2 ? TF_T_b32 : TF_T_b64) : s->type;
  if (o->negated && !s->predicate) return tf_decode_fail(d, o->name, "'!' stands before predicates only");
  if (o->kind == TF_OP_SINK) return tf_decode_fail(d, "_", "'_' cannot be read");
  if (!tf_decode_value(d, o, type, 0, s->relaxed, &op, &got)) return false;
  if (o->negated && d->op_count < 32) d->insn.negate |= 1u << d->op_count;
  return push(d, op, got);
}

static bool take_imm(tf_decoder *d, int64_t value) {
  if (d->imm_count == TF_IMMEDIATES) return tf_decode_fail(d, d->stmt->opcode, "too many constants");
  d->insn.imm[d->imm_count++] = value;
  return true;
}

/* Space of the n-th state space among the statement's modifiers; TF_SPACE_GENERIC: there are fewer. */
static tf_space nth_space(const tf_ptx_stmt *s, unsigned n) {
  static const struct {
    const char *name;
    tf_space space;
  } spaces[] = {{"global", TF_SPACE_GLOBAL},
                {"const", TF_SPACE_CONST},
                {"local", TF_SPACE_LOCAL},
                {"shared", TF_SPACE_SHARED},
                {"param", TF_SPACE_PARAM}};
  for (uint32_t i = 0; i < s->mod_count; i++)
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
      size_t length = strlen(spaces[k].name);
      bool same =
          strncmp(s->mods[i], spaces[k].name, length) == 0 && (!s->mods[i][length] || s->mods[i][length] == ':');
      if (same && n-- == 0) return spaces[k].space;
    }
  return TF_SPACE_GENERIC;
}

/* A variable stands in the space that the instruction names for this address. Parameters have no generic address without
 * cvta. */
static bool right_space(tf_decoder *d, const tf_ptx_operand *o) {
  tf_space space = nth_space(d->stmt, d->address_count);
  bool generic = space == TF_SPACE_GENERIC;
  if (generic ? o->var->space != TF_SPACE_PARAM || d->address_count : space == o->var->space) return true;
  return tf_decode_fail(d, o->name, "'%s' is in another state space than '%s' names", o->name, d->stmt->opcode);
}

static bool decode_address(tf_decoder *d, const tf_ptx_operand *o) {
  uint32_t op = TF_NO_OPERAND;
  uint8_t width = 8;
  if (o->kind != TF_OP_ADDR) return tf_decode_fail(d, o->name ? o->name : "", "expected an address in brackets");
  if (o->items) return tf_decode_fail(d, o->name ? o->name : "", "no coordinates are taken here");
  if (o->reg) {
    unsigned bytes = tf_type_bytes(o->reg->type);
    if (!strchr("BUS", tf_type_kind(o->reg->type)) || (bytes != 4 && bytes != 8))
      return tf_decode_fail(d, o->name, "an address register must be an integer of 32 or 64 bits");
    op = tf_decode_slot(d, o->reg, o->reg_index);
    width = (uint8_t)bytes;
    if (width == 4) d->insn.narrow = (uint8_t)(d->insn.narrow | 1u << d->address_count);
  } else if (o->var) {
    if (!right_space(d, o) || !var_address(d, o, 8, 0, &op)) return false;
  } else if (o->name) {
    return tf_decode_fail(d, o->name, "unknown name '%s'", o->name);
  } else {
    op = tf_decode_const(d, 8, 0);
  }
  d->address_count++;
  return op != TF_NO_OPERAND && take_imm(d, o->value) && push(d, op, width);
}

static bool decode_label(tf_decoder *d, const tf_ptx_operand *o) {
  const tf_ptx_label *label = o->kind == TF_OP_NAME ? tf_decode_label(d, o->name) : NULL;
  if (!label || label->targets || label->prototype)
    return tf_decode_fail(d, o->name ? o->name : "", "unknown label '%s'", o->name ? o->name : "");
  if (!tf_grow((void **)&d->fixups, &d->fixup_cap, d->fixup_count + 1, sizeof *d->fixups))
    return tf_decode_no_memory(d);
  d->fixups[d->fixup_count++] = (tf_fixup){UINT32_MAX, d->imm_count};
  return take_imm(d, label->statement);
}

static tf_type element_type(unsigned bytes, uint32_t count) {
  if (count < 2 || bytes % count) return TF_T_NONE;
  switch (bytes / count) {
  case 1:
    return TF_T_b8;
  case 2:
    return TF_T_b16;
  case 4:
    return TF_T_b32;
  default:
    return bytes / count == 8 ? TF_T_b64 : TF_T_NONE;
  }
}

static bool decode_list(tf_decoder *d, const tf_ptx_operand *o, spec s) {
  s.what = s.what == 'D' ? 'd' : 's';
  const tf_ptx_operand *items = o->kind == TF_OP_VEC ? o->items : o;
  uint32_t count = o->kind == TF_OP_VEC ? o->item_count : 1;
  if (s.element) s.type = element_type(tf_type_bytes(d->form.types[0]), count);
  if (s.type == TF_T_NONE) return tf_decode_fail(d, d->stmt->opcode, "no list of %u elements can stand here", count);
  for (uint32_t i = 0; i < count; i++)
    if (!(s.what == 'd' ? decode_destination(d, &items[i], &s) : decode_source(d, &items[i], &s))) return false;
  return true;
}

static bool decode_one(tf_decoder *d, const tf_ptx_operand *o, const spec *s) {
  switch (s->what) {
  case 'd':
    return decode_destination(d, o, s);
  case 's':
  case 'h':
    return decode_source(d, o, s);
  case 'D':
  case 'S':
    return decode_list(d, o, *s);
  case 'm':
    return decode_address(d, o);
  case 'M':
    d->insn.member = (uint8_t)d->op_count;
    return decode_source(d, o, &(spec){.what = 's', .type = TF_T_u32});
  case '_':
    return push(d, 0, 8);
  case 'i':
    if (o->kind != TF_OP_INT) return tf_decode_fail(d, o->name ? o->name : "", "expected an integer constant");
    return take_imm(d, o->value);
  default:
    return decode_label(d, o);
  }
}

static bool decode_pair(tf_decoder *d, const tf_ptx_operand *o, const spec *left, const spec *right) {
  if (o->kind == TF_OP_PAIR) return decode_one(d, &o->items[0], left) && decode_one(d, &o->items[1], right);
  if (!right->optional) return tf_decode_fail(d, o->name ? o->name : "", "expected a pair a|b");
  return decode_one(d, o, left) && push(d, 0, 4);
}

/* False for an operand of another kind than the pattern's: perhaps another row of the opcode takes it. Fragments of
 * matrices are lists even of one register. A predicate where an optional number may stand belongs to another row: cp.async with ignore-src. */
static bool kind_fits(const tf_row *row, const spec *s, const tf_ptx_operand *o) {
  if (s->optional && !s->predicate && o->kind == TF_OP_NAME && o->reg && o->reg->type == TF_T_pred) return false;
  switch (s->what) {
  case 'm':
    return o->kind == TF_OP_ADDR;
  case '_':
    return o->kind == TF_OP_SINK;
  case 'D':
  case 'S':
    return s->element || row->cls == TF_CLASS_MATRIX ? o->kind == TF_OP_VEC : o->kind != TF_OP_ADDR;
  default:
    return o->kind != TF_OP_ADDR && o->kind != TF_OP_VEC;
  }
}

static void reset(tf_decoder *d) {
  d->op_count = d->imm_count = d->address_count = 0;
  d->written = 0;
  d->insn.negate = 0;
  d->insn.narrow = 0;
  d->insn.member = 255;
}

bool tf_decode_operands(tf_decoder *d, const tf_row *row, bool *mismatch) {
  bool hint = tf_form_has(&d->form, "L2::cache_hint");
  unsigned least, most = tf_operands_expected(row->operands, hint, &least), i = 0;
  *mismatch = d->stmt->operand_count < least || d->stmt->operand_count > most;
  if (*mismatch) return false;
  reset(d);
  unsigned spare = d->stmt->operand_count - least; /* for optional ones, from left to right */
  const char *at = row->operands;
  spec left, right;
  bool alternative;
  while (next_spec(&at, &d->form, &left, &alternative)) {
    bool pair = alternative;
    if (pair) next_spec(&at, &d->form, &right, &alternative);
    if (d->form.operand_count == TF_FORM_OPERANDS) return tf_decode_fail(d, row->opcode, "too many operands");
    unsigned slot = d->form.operand_count++;
    d->form.first[slot] = d->op_count;
    bool here = left.what == 'h' ? hint : !left.optional || spare > 0;
    if (here) {
      spare -= left.optional;
      const tf_ptx_operand *o = &d->stmt->operands[i++];
      if (!kind_fits(row, &left, o)) {
        *mismatch = true;
        return false;
      }
      if (!pair && o->kind == TF_OP_PAIR) return tf_decode_fail(d, o->name ? o->name : "", "no pair can stand here");
      if (!(pair ? decode_pair(d, o, &left, &right) : decode_one(d, o, &left))) return false;
    }
    d->form.count[slot] = d->op_count - d->form.first[slot];
  }
  return true;
}
