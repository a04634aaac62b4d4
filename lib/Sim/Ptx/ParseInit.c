/* Initialisers: nested braces fill the array row by row, an element is a constant or a symbol's address.
 *
 *   .global .u64 t[2][2] = {{f, generic(g)+8}, {0}};      elements 0 1 | 2 (3 stays zero)
 *   .global .u8 p[8] = {0xFF(g), 0xFF00(g), …};           one byte of g's address each */
#include "Sim/Ptx/ParseInternal.h"

#include <stdlib.h>
#include <string.h>

typedef struct filler {
  tf_ptx_init *list; /* heap while growing */
  size_t count, cap;
  tf_ptx_var *var;
  const uint64_t *dims;
  unsigned dim_count;
} filler;

static bool parse_symbol(tf_parser *p, tf_ptx_init *e) {
  if (p->tok.kind != TF_TOK_WORD) return tf_parse_fail(p, "expected a symbol");
  uint32_t index;
  tf_name *n = tf_parse_lookup(p, p->tok.text, p->tok.length, &index);
  if (!n || n->reg) return tf_parse_fail(p, "an initialiser names an unknown symbol");
  e->var = n->var;
  e->func = n->func;
  if (n->func) n->func->address_taken = true;
  tf_parse_advance(p);
  return true;
}

/* What may follow an address: + n or - n. */
static bool parse_addend(tf_parser *p, tf_ptx_init *e) {
  tf_const c = {0};
  if (tf_parse_accept(p, "+")) {
    if (!tf_parse_const(p, &c)) return false;
    e->bits += c.bits;
  } else if (tf_parse_accept(p, "-")) {
    if (!tf_parse_const(p, &c)) return false;
    e->bits -= c.bits;
  }
  return !c.is_float || tf_parse_fail(p, "an address takes an integer offset");
}

static bool parse_address(tf_parser *p, tf_ptx_init *e) {
  if (!tf_parse_accept(p, "generic")) return parse_symbol(p, e) && parse_addend(p, e);
  e->generic = true;
  return tf_parse_expect(p, "(", "after generic") && parse_symbol(p, e) && parse_addend(p, e) &&
         tf_parse_expect(p, ")", "after generic(…") && parse_addend(p, e);
}

/* 0xFF00(symbol): the mask picks one byte of the address. */
static bool parse_masked(tf_parser *p, uint64_t mask, tf_ptx_init *e) {
  unsigned shift = 0;
  while (shift < 64 && mask != (uint64_t)0xFF << shift)
    shift += 8;
  if (shift == 64) return tf_parse_fail(p, "an address mask must pick one byte");
  e->masked = true;
  e->shift = (uint8_t)shift;
  return parse_address(p, e) && tf_parse_expect(p, ")", "after a masked address");
}

static uint64_t convert_const(tf_const c, tf_type type) {
  if (type != TF_T_f32 && type != TF_T_f64) return c.bits;
  double d;
  float f;
  uint32_t low = (uint32_t)c.bits;
  if (c.is_f32) {
    memcpy(&f, &low, sizeof f);
    d = (double)f;
  } else if (c.is_float)
    memcpy(&d, &c.bits, sizeof d);
  else
    d = c.is_unsigned ? (double)c.bits : (double)(int64_t)c.bits;
  if (type == TF_T_f32) {
    if (c.is_f32) return low;
    f = (float)d;
    memcpy(&low, &f, sizeof low);
    return low;
  }
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static bool parse_element(tf_parser *p, const filler *f, tf_ptx_init *e) {
  if (p->tok.kind == TF_TOK_WORD && !tf_parse_at(p, "WARP_SZ")) {
    if (tf_parse_accept(p, "mask")) {
      uint64_t mask;
      return tf_parse_expect(p, "(", "after mask") && tf_parse_uint(p, UINT64_MAX, "a mask", &mask) &&
             tf_parse_expect(p, ",", "after a mask") && parse_masked(p, mask, e);
    }
    return parse_address(p, e);
  }
  tf_const c;
  if (!tf_parse_const(p, &c)) return false;
  if (!c.is_float && tf_parse_accept(p, "(")) return parse_masked(p, c.bits, e);
  if (c.is_float && tf_type_kind(f->var->type) != 'F' && tf_type_kind(f->var->type) != 'B')
    return tf_parse_fail(p, "a floating-point constant does not fit a .%s variable", tf_type_name(f->var->type));
  e->bits = convert_const(c, f->var->type);
  return true;
}

static bool append(tf_parser *p, filler *f, uint64_t index) {
  if (!tf_grow((void **)&f->list, &f->cap, f->count + 1, sizeof *f->list)) return tf_parse_no_memory(p);
  tf_ptx_init *e = &f->list[f->count++];
  *e = (tf_ptx_init){.index = index};
  return parse_element(p, f, e);
}

static uint64_t row_size(const filler *f, unsigned level) {
  uint64_t n = 1;
  for (unsigned i = level; i < f->dim_count; i++)
    n *= f->dims[i];
  return n;
}

/* The elements between braces at nesting `level`, the first of which has index `base`. */
static bool parse_list(tf_parser *p, filler *f, unsigned level, uint64_t base) {
  uint64_t row = row_size(f, level + 1), at = base;
  bool open = level == 0 && f->var->unsized;
  uint64_t end = open ? UINT64_MAX : base + (level < f->dim_count ? row_size(f, level) : 1);
  if (tf_parse_accept(p, "}")) return true;
  do {
    if (tf_parse_at(p, "}")) break;
    if (at >= end) return tf_parse_fail(p, "too many initialisers for '%s'", f->var->name);
    if (tf_parse_accept(p, "{")) {
      if (level + 1 >= f->dim_count) return tf_parse_fail(p, "initialiser braces are deeper than the array");
      if (!parse_list(p, f, level + 1, at)) return false;
      at += row;
    } else if (!append(p, f, at++))
      return false;
  } while (tf_parse_accept(p, ","));
  return tf_parse_expect(p, "}", "after an initialiser list");
}

bool tf_parse_init(tf_parser *p, tf_ptx_var *var, const uint64_t *dims, unsigned dim_count) {
  filler f = {.var = var, .dims = dims, .dim_count = dim_count};
  bool ok = tf_parse_accept(p, "{") ? parse_list(p, &f, 0, 0) : append(p, &f, 0);
  if (ok && f.count) {
    var->init = tf_pool_alloc(&p->module->pool, f.count * sizeof *var->init);
    ok = var->init ? true : tf_parse_no_memory(p);
  }
  if (ok && f.count) memcpy(var->init, f.list, f.count * sizeof *var->init);
  var->init_count = ok ? f.count : 0;
  free(f.list);
  return ok;
}
