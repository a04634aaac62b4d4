/* Asynchronous copies are done where they are issued; commit and wait have nothing left to do then. Every order of
 * completion that the ISA allows includes this one. What an instruction waits for is still visible to the checkers
 * through its class. */
#include "Sim/Insn/Mbarrier.h"

/* aux of cp.async: bytes of a copy | flags. */
enum { SOURCE_SIZE = 1 << 8, IGNORE = 1 << 9 };

/* Operand `which` (0 the destination, 1 the source) for the lanes of `mask`, aligned to the whole copy. part: bytes of
 * each lane, if not all. */
static void resolve(tf_warp *w, const tf_insn *in, tf_access *a, uint32_t mask, unsigned which, const uint32_t *part,
                    unsigned kind) {
  a->mask = mask;
  a->bytes = in->aux & 0xFF;
  a->align = 0;
  a->kind = (uint8_t)kind;
  a->space = which ? TF_SPACE_GLOBAL : TF_SPACE_SHARED;
  a->is_volatile = false;
  a->part = part;
  a->ok = 0;
  if (!mask) return;
  tf_access_addresses(w, in, in->op[which], which, in->imm[which], a->addr);
  tf_access_resolve(w, in, a);
  if (w->watch) tf_check_access(w, in, a);
}

static unsigned char *pointer(const tf_access *a, unsigned l) {
  return a->dense ? a->ptr[0] + (size_t)l * a->bytes : a->ptr[l];
}

/* Bytes that a lane reads from its source; the rest of the destination becomes zero. */
static unsigned source_bytes(tf_warp *w, const tf_insn *in, unsigned l) {
  unsigned bytes = in->aux & 0xFF;
  if (in->aux & IGNORE) return PRED_SRC(2) >> l & 1 ? 0 : bytes;
  if (!(in->aux & SOURCE_SIZE)) return bytes;
  uint32_t n = SLOT(const uint32_t, 2)[l];
  return n < bytes ? n : bytes;
}

/* Lanes that copy part of their bytes: only that part of the source is looked at. */
static void cp_async_partial(tf_warp *w, const tf_insn *in, const tf_access *to) {
  uint32_t part[TF_LANES], some = 0;
  tf_access from;
  for (unsigned l = 0; l < TF_LANES; l++) {
    part[l] = LANE(to->ok, l) ? source_bytes(w, in, l) : 0;
    some |= (uint32_t)(part[l] > 0) << l;
  }
  resolve(w, in, &from, some, 1, part, TF_READ);
  for (uint32_t m = to->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    unsigned char bytes[16] = {0};
    if (LANE(from.ok, l)) memcpy(bytes, pointer(&from, l), part[l]);
    memcpy(pointer(to, l), bytes, to->bytes);
  }
}

HANDLER(cp_async) {
  tf_access to, from;
  unsigned bytes = in->aux & 0xFF;
  resolve(w, in, &to, mask, 0, NULL, TF_WRITE);
  w->worker->progress++;
  if (in->aux & (SOURCE_SIZE | IGNORE)) {
    cp_async_partial(w, in, &to);
    return;
  }
  resolve(w, in, &from, mask, 1, NULL, TF_READ);
  if (from.dense && to.dense) {
    memcpy(to.ptr[0], from.ptr[0], (size_t)bytes * TF_LANES);
    return;
  }
  for (unsigned l = 0; l < TF_LANES; l++) {
    if (!LANE(to.ok, l)) continue;
    if (LANE(from.ok, l))
      memcpy(pointer(&to, l), pointer(&from, l), bytes);
    else
      memset(pointer(&to, l), 0, bytes);
  }
}

HANDLER(nothing) {
  (void)w, (void)in, (void)mask;
}

/* The copies are done, so the arrival that they would trigger happens now. Without .noinc the pending count grew by it
 * before. */
HANDLER(arrive) {
  uint64_t addr[TF_LANES], *object;
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (tf_mbarrier_object(w, in, l, addr[l], in->space, &object) && in->aux)
      (void)tf_mbarrier_arrive(w, in, l, object, 1, false);
  }
}

/* ---- Bulk copies: one lane, any multiple of 16 bytes ---- */
static bool bulk_pointer(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t address, unsigned space, uint32_t bytes,
                         unsigned kind, unsigned char **out) {
  tf_access a = {.mask = 1u << lane, .bytes = bytes, .align = 16, .kind = (uint8_t)kind, .space = (uint8_t)space};
  if (bytes == 0 || bytes % 16) {
    tf_find(w, in, lane, TF_FIND_misaligned, address, bytes, "a bulk copy of %u bytes; it takes multiples of 16",
            bytes);
    return false;
  }
  a.addr[lane] = address;
  tf_access_fill(&a);
  tf_access_slow(w, in, &a);
  if (!a.ok) return false;
  if (w->watch) tf_check_access(w, in, &a);
  *out = a.ptr[lane];
  return true;
}

typedef struct bulk {
  unsigned from, to; /* spaces */
  bool barrier, multicast;
} bulk;

/* A shared address of the same offset in the CTA of another rank. */
static uint64_t in_cta(uint64_t address, unsigned rank) {
  uint64_t offset = address & (((uint64_t)1 << TF_CTA_SHIFT) - 1);
  return (address & ~(TF_WINDOW - 1)) | (uint64_t)(rank + 1) << TF_CTA_SHIFT | offset;
}

static void bulk_lane(tf_warp *w, const tf_insn *in, unsigned l, bulk b, uint64_t to, uint64_t from, uint32_t bytes,
                      uint64_t barrier) {
  unsigned char *p, *q;
  uint64_t *object;
  if (!bulk_pointer(w, in, l, from, b.from, bytes, TF_READ, &p)) return;
  if (!bulk_pointer(w, in, l, to, b.to, bytes, TF_WRITE, &q)) return;
  memmove(q, p, bytes);
  w->worker->progress++;
  if (b.barrier && tf_mbarrier_object(w, in, l, barrier, TF_SPACE_SHARED, &object))
    (void)tf_mbarrier_complete(w, in, l, object, bytes);
}

static void run_bulk(tf_warp *w, const tf_insn *in, uint32_t mask, bulk b) {
  uint64_t to[TF_LANES], from[TF_LANES], barrier[TF_LANES] = {0};
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], to);
  tf_access_addresses(w, in, in->op[1], 1, in->imm[1], from);
  if (b.barrier) tf_access_addresses(w, in, in->op[3], 2, in->imm[2], barrier);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint32_t bytes = SLOT(const uint32_t, 2)[l];
    if (!b.multicast) {
      bulk_lane(w, in, l, b, to[l], from[l], bytes, barrier[l]);
      continue;
    }
    for (unsigned rank = 0; rank < w->cta->cluster->count && rank < 16; rank++)
      if (SLOT(const uint32_t, 4)[l] >> rank & 1)
        bulk_lane(w, in, l, b, in_cta(to[l], rank), from[l], bytes, in_cta(barrier[l], rank));
  }
}

HANDLER(bulk_load) {
  run_bulk(w, in, mask, (bulk){TF_SPACE_GLOBAL, TF_SPACE_SHARED, true, false});
}
HANDLER(bulk_multicast) {
  run_bulk(w, in, mask, (bulk){TF_SPACE_GLOBAL, TF_SPACE_SHARED, true, true});
}
HANDLER(bulk_across) {
  run_bulk(w, in, mask, (bulk){TF_SPACE_SHARED, TF_SPACE_SHARED, true, false});
}
HANDLER(bulk_store) {
  run_bulk(w, in, mask, (bulk){TF_SPACE_SHARED, TF_SPACE_GLOBAL, false, false});
}

/* ---- Selection ---- */
static bool encode_size(tf_form *f) {
  int64_t bytes = f->in->imm[2];
  bool wide = tf_form_has(f, "cg");
  if (bytes != 16 && (wide || (bytes != 4 && bytes != 8))) {
    f->refusal = wide ? "cp.async.cg copies 16 bytes" : "cp.async.ca copies 4, 8 or 16 bytes";
    return false;
  }
  f->in->aux = (uint32_t)bytes;
  return true;
}

SELECTOR(select_cp_async) {
  if (!encode_size(f)) return NULL;
  if (f->operand_count > 3 && f->count[3] && f->width[f->first[3]] == 4) f->in->aux |= SOURCE_SIZE;
  return cp_async;
}
SELECTOR(select_cp_async_ignore) {
  if (!encode_size(f)) return NULL;
  f->in->aux |= IGNORE;
  return cp_async;
}
SELECTOR(select_group) {
  (void)f;
  return nothing;
}
SELECTOR(select_nothing) {
  (void)f;
  return nothing;
}
SELECTOR(select_arrive) {
  f->in->aux = tf_form_has(f, "noinc");
  return arrive;
}
SELECTOR(select_bulk_load) {
  (void)f;
  return bulk_load;
}
SELECTOR(select_bulk_multicast) {
  (void)f;
  return bulk_multicast;
}
SELECTOR(select_bulk_across) {
  (void)f;
  return bulk_across;
}
SELECTOR(select_bulk_store) {
  (void)f;
  return bulk_store;
}

static const tf_row rows[] = {
#include "Sim/Insn/AsyncCopy.def"
};
TF_FAMILY(AsyncCopy, rows)
