/* The init checker: memory that nobody has written, registers that nothing has set.
 *
 * Memory has a flag per byte: of global allocations in pages (Written.h), of shared and local memory in one block. A frame's
 * registers have a mask of lanes for each byte of a lane, in a block of the same shape as the registers; a predicate has one:
 *
 *   f->regs  [ r0: 32 lanes of 4 bytes       ][ r1 …
 *   f->set   [ byte 0, 1, 2, 3 of r0 |unused ][ r1 …
 *
 * mov and what else only takes bytes apart and puts them together (prmt, bfi, shifts by constants … : Decode/Uses.c) hand
 * unset bytes on instead of reporting them: compilers copy values that are undefined on paths where nobody looks at them,
 * and pack registers of which one half means nothing. All else that reads an unset register is reported. */
#include "Sim/Check.h"
#include "Sim/Module.h"
#include "Sim/Written.h"

#include <stdio.h>
#include <string.h>

/* ---- Memory -------------------------------------------------------------------------------------------------------- */

static const unsigned char *lane_ptr(const tf_access *a, unsigned l) {
  return a->dense ? a->ptr[0] + (size_t)l * a->bytes : a->ptr[l];
}

static void unwritten(tf_warp *w, const tf_insn *in, const tf_access *a, unsigned l, const char *what) {
  uint32_t bytes = tf_access_bytes(a, l);
  tf_find(w, in, l, TF_FIND_uninitialised, a->addr[l], bytes,
          "read of %u bytes at 0x%llx in %s memory that nobody has written", bytes, (unsigned long long)a->addr[l],
          what);
}

/* False if the access reads bytes that nobody has written. */
static bool touch_flags(unsigned char *flags, uint64_t bytes, unsigned kind) {
  bool written = kind == TF_WRITE || !memchr(flags, 0, bytes);
  if (kind != TF_READ) memset(flags, 1, bytes);
  return written;
}

/* The CTA of the cluster whose shared memory holds the pointer, or null. */
static tf_cta *shared_owner(const tf_warp *w, const unsigned char *p) {
  const tf_cluster *k = w->cta->cluster;
  for (uint32_t i = 0; i < k->count; i++)
    if ((uintptr_t)p - (uintptr_t)k->ctas[i]->shared < k->ctas[i]->shared_bytes) return k->ctas[i];
  return NULL;
}

static void touch_global(tf_warp *w, const tf_insn *in, const tf_access *a, unsigned l, uint64_t bytes) {
  tf_alloc *m = tf_memory_find(&w->launch->device->memory, a->addr[l], bytes);
  if (!m || !m->written) return;
  uint64_t offset = a->addr[l] - m->lo;
  if (a->kind != TF_WRITE && !tf_written_all(m, offset, bytes)) unwritten(w, in, a, l, "global");
  if (a->kind != TF_READ && !tf_written_set(m, offset, bytes)) tf_launch_no_memory(w->launch);
}

static void touch_lane(tf_warp *w, const tf_insn *in, const tf_access *a, unsigned l) {
  const unsigned char *p = lane_ptr(a, l);
  const tf_cta *c = shared_owner(w, p);
  uint32_t bytes = tf_access_bytes(a, l);
  if (c) {
    if (!touch_flags(c->shared_init + (p - (unsigned char *)c->shared), bytes, a->kind))
      unwritten(w, in, a, l, "shared");
  } else if (w->local && (uintptr_t)p - (uintptr_t)w->local < w->local_stride * TF_LANES) {
    if (!touch_flags(w->local_init + (p - (unsigned char *)w->local), bytes, a->kind)) unwritten(w, in, a, l, "local");
  } else if (a->space == TF_SPACE_GLOBAL || a->space == TF_SPACE_GENERIC)
    touch_global(w, in, a, l, bytes);
}

/* Lanes side by side in memory are one range; only if some of it is unwritten is it looked at lane by lane. */
static bool touch_dense(tf_warp *w, const tf_access *a) {
  uint64_t bytes = (uint64_t)a->bytes * TF_LANES;
  if (a->space == TF_SPACE_SHARED && a->addr[0] + bytes <= w->cta->shared_bytes) {
    unsigned char *flags = w->cta->shared_init + a->addr[0];
    return (a->kind == TF_WRITE || !memchr(flags, 0, bytes)) && touch_flags(flags, bytes, a->kind);
  }
  if (a->space != TF_SPACE_GLOBAL) return false;
  tf_alloc *m = tf_memory_find(&w->launch->device->memory, a->addr[0], bytes);
  if (!m) return false;
  if (a->kind != TF_WRITE && !tf_written_all(m, a->addr[0] - m->lo, bytes)) return false;
  return a->kind == TF_READ || tf_written_set(m, a->addr[0] - m->lo, bytes);
}

void tf_init_access(tf_warp *w, const tf_insn *in, const tf_access *a) {
  if (a->dense && !a->part && touch_dense(w, a)) return;
  for (uint32_t m = a->ok; m; m &= m - 1)
    touch_lane(w, in, a, (unsigned)__builtin_ctz(m));
}

void tf_init_forget(tf_warp *w, const tf_access *a) {
  for (uint32_t m = a->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    tf_alloc *g = tf_memory_find(&w->launch->device->memory, a->addr[l], a->bytes);
    if (g) tf_written_clear(g, a->addr[l] - g->lo, a->bytes);
  }
}

void tf_init_local_begins(tf_warp *w, unsigned lane, uint64_t offset, uint64_t bytes) {
  if (w->local_init) memset(w->local_init + lane * w->local_stride + offset, 0, bytes);
}

/* ---- Registers ----------------------------------------------------------------------------------------------------- */

typedef uint32_t four __attribute__((vector_size(16)));

static four *masks_of(const tf_frame *f, uint32_t op) {
  return (four *)(void *)(f->set + (op & ~3u));
}

static bool is_predicate(const tf_use *u) {
  return u->bytes == 0;
}

static unsigned fours(const tf_use *u) {
  return u->bytes <= 4 ? 1 : u->bytes / 4;
}

/* Lanes of the mask in which not all bytes of the register are set. */
static uint32_t unset_lanes(const tf_frame *f, const tf_use *u, uint32_t mask) {
  if (is_predicate(u)) {
    uint32_t set;
    memcpy(&set, f->set + (u->op & ~3u), sizeof set);
    return mask & ~set;
  }
  const four *m = masks_of(f, u->op);
  four all = m[0];
  if (u->bytes < 4)
    return mask & ~(u->bytes == 1 ? all[0] : u->bytes == 2 ? all[0] & all[1] : all[0] & all[1] & all[2]);
  for (unsigned i = 1; i < fours(u); i++)
    all &= m[i];
  return mask & ~(all[0] & all[1] & all[2] & all[3]);
}

static void set_lanes(const tf_frame *f, const tf_use *u, uint32_t mask) {
  if (is_predicate(u)) {
    uint32_t *set = (uint32_t *)(void *)(f->set + (u->op & ~3u));
    *set |= mask;
    return;
  }
  four *m = masks_of(f, u->op);
  for (unsigned i = 0; i < fours(u); i++)
    m[i] |= mask;
}

/* The name of the register in a slot. */
static void name_of(const tf_func *f, uint32_t op, char *text, size_t size) {
  for (const tf_ptx_reg *r = f->ptx->regs; r; r = r->next) {
    size_t n = (size_t)(r->count ? r->count : 1) * r->vector;
    for (size_t i = 0; r->slots && i < n; i++)
      if (r->slots[i] == op) {
        (void)(r->count ? snprintf(text, size, "%s%zu", r->name, i / r->vector) : snprintf(text, size, "%s", r->name));
        return;
      }
  }
  (void)snprintf(text, size, "a register");
}

static void report_unset(tf_warp *w, const tf_insn *in, uint32_t op, uint32_t lanes) {
  char name[120];
  name_of(w->frame->func, op, name, sizeof name);
  tf_find(w, in, (unsigned)__builtin_ctz(lanes), TF_FIND_unset_register, 0, 0,
          "%s is read by lanes 0x%08x of the warp before anything has set it", name, lanes);
}

void tf_init_guard(tf_warp *w, const tf_insn *in) {
  tf_use guard = {in->guard, 0};
  uint32_t bad = unset_lanes(w->frame, &guard, w->mask);
  if (bad) report_unset(w, in, in->guard, bad);
}

/* Lanes that have set byte i of an operand. */
static uint32_t byte_set(const tf_frame *f, const tf_use *u, unsigned i) {
  if (is_predicate(u)) return ~unset_lanes(f, u, TF_FULL_MASK);
  return (u->op & 3) == TF_BANK_REGS ? ((const uint32_t *)masks_of(f, u->op))[i] : TF_FULL_MASK;
}

static void give_byte(tf_frame *f, const tf_use *u, unsigned i, uint32_t mask, uint32_t set) {
  if (!u->op || (u->op & 3) != TF_BANK_REGS) return;
  f->unset += (mask & ~set) != 0;
  uint32_t *m = (uint32_t *)masks_of(f, u->op) + (is_predicate(u) ? 0 : i);
  *m = (*m & ~mask) | (set & mask);
}

/* Bytes of a register that its type does not have (16 bits in a slot of 32) are set with the others. */
static void give_rest(tf_frame *f, const tf_use *u, uint32_t mask) {
  for (unsigned i = u->bytes; i && i < 4; i++)
    give_byte(f, u, i, mask, mask);
}

static void move_bytes(tf_frame *f, const tf_uses *u, uint32_t mask) {
  uint32_t set[16];
  unsigned n = 0;
  for (unsigned i = 0; i < u->reads; i++)
    for (unsigned k = 0; n < 16 && (k < u->list[i].bytes || k == 0); k++)
      set[n++] = byte_set(f, &u->list[i], k);
  unsigned at = 0;
  for (unsigned i = u->reads; i < u->count; i++) {
    for (unsigned k = 0; at < n && (k < u->list[i].bytes || k == 0); k++)
      give_byte(f, &u->list[i], k, mask, set[at++]);
    give_rest(f, &u->list[i], mask);
  }
}

static void mix_bytes(tf_frame *f, const tf_uses *u, uint32_t mask) {
  const tf_use *to = &u->list[u->reads];
  uint32_t set[8];
  for (unsigned i = 0; i < to->bytes; i++) {
    set[i] = TF_FULL_MASK;
    for (uint32_t m = u->from[i]; m; m &= m - 1) {
      unsigned bit = (unsigned)__builtin_ctz(m);
      set[i] &= byte_set(f, &u->list[bit / 8], bit % 8);
    }
  }
  for (unsigned i = 0; i < to->bytes; i++)
    give_byte(f, to, i, mask, set[i]);
  give_rest(f, to, mask);
}

/* All that the instruction touches is set in all lanes: what it does with that changes nothing. */
static bool is_sound(const tf_frame *f, const tf_uses *u) {
  for (unsigned i = 0; i < u->count; i++) {
    const tf_use *use = &u->list[i];
    if (use->op && (use->op & 3) == TF_BANK_REGS && unset_lanes(f, use, TF_FULL_MASK)) return false;
  }
  return true;
}

static void use_registers(tf_warp *w, const tf_insn *in, uint32_t mask) {
  tf_frame *f = w->frame;
  const tf_uses *u = in->uses;
  if (u->kind == TF_USE_MOVE) {
    move_bytes(f, u, mask);
    return;
  }
  if (u->kind == TF_USE_BYTES) {
    mix_bytes(f, u, mask);
    return;
  }
  for (unsigned i = 0; i < u->reads; i++) {
    uint32_t bad = unset_lanes(f, &u->list[i], mask);
    if (bad) report_unset(w, in, u->list[i].op, bad);
  }
  for (unsigned i = u->reads; i < u->count; i++)
    set_lanes(f, &u->list[i], mask);
}

/* Loops come to the same instructions again and again. */
void tf_init_registers(tf_warp *w, const tf_insn *in, uint32_t mask) {
  tf_frame *f = w->frame;
  if (f->sound[in->site] == f->unset) return;
  use_registers(w, in, mask);
  if (mask == TF_FULL_MASK && is_sound(f, in->uses)) f->sound[in->site] = f->unset;
}
