/* Asynchronous copies. A plain launch does them where they are issued, which is one of the orders that the ISA allows; commit
 * and wait have nothing left to do then. Launches that check or are adversarial keep them until they land, see Async.h. */
#include "Sim/Async.h"
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
  a->order = 0;
  a->in_flight = a->dense = false;
  a->part = part;
  a->ok = 0;
  if (!mask) return;
  tf_access_addresses(w, in, in->op[which], which, in->imm[which], a->addr);
  tf_access_resolve(w, in, a);
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

/* What each lane of `mask` reads; returns the lanes that read anything. */
static uint32_t source_parts(tf_warp *w, const tf_insn *in, uint32_t mask, uint32_t part[TF_LANES]) {
  uint32_t some = 0;
  for (unsigned l = 0; l < TF_LANES; l++) {
    part[l] = LANE(mask, l) ? source_bytes(w, in, l) : 0;
    some |= (uint32_t)(part[l] > 0) << l;
  }
  return some;
}

/* Lanes that copy part of their bytes: only that part of the source is looked at. */
static void cp_async_partial(tf_warp *w, const tf_insn *in, const tf_access *to) {
  uint32_t part[TF_LANES];
  tf_access from;
  resolve(w, in, &from, source_parts(w, in, to->ok, part), 1, part, TF_READ);
  if (w->watch && from.ok) tf_check_access(w, in, &from);
  for (uint32_t m = to->ok; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    unsigned char bytes[16] = {0};
    if (LANE(from.ok, l)) memcpy(bytes, pointer(&from, l), part[l]);
    memcpy(pointer(to, l), bytes, to->bytes);
  }
}

static void copy_now(tf_warp *w, const tf_insn *in, uint32_t mask) {
  tf_access to, from;
  unsigned bytes = in->aux & 0xFF;
  resolve(w, in, &to, mask, 0, NULL, TF_WRITE);
  if (w->watch) tf_check_access(w, in, &to);
  if (in->aux & (SOURCE_SIZE | IGNORE)) {
    cp_async_partial(w, in, &to);
    return;
  }
  resolve(w, in, &from, mask, 1, NULL, TF_READ);
  if (w->watch) tf_check_access(w, in, &from);
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

static void copy_later(tf_warp *w, const tf_insn *in, uint32_t mask) {
  tf_copy *k = tf_async_new(w, in, TF_COPY_GROUP);
  if (!k) return;
  bool partial = in->aux & (SOURCE_SIZE | IGNORE);
  resolve(w, in, &k->to, mask, 0, NULL, TF_WRITE);
  resolve(w, in, &k->from, partial ? source_parts(w, in, k->to.ok, k->part) : mask, 1, partial ? k->part : NULL,
          TF_READ);
  tf_async_start(w, k);
}

HANDLER(cp_async) {
  w->worker->progress++;
  if (tf_async_kept(w->launch))
    copy_later(w, in, mask);
  else
    copy_now(w, in, mask);
}

/* aux: BULK; imm[0] of wait_group: how many groups may be under way. */
enum { BULK = 1, READ_ONLY = 2 };
HANDLER(commit_group) {
  tf_async_commit(w, mask, in->aux & BULK ? TF_COPY_BULK : TF_COPY_GROUP);
}
HANDLER(wait_group) {
  if (w->copies.first)
    tf_async_wait(w, mask, in->aux & BULK ? TF_COPY_BULK : TF_COPY_GROUP, in->imm[0], in->aux & READ_ONLY);
}
HANDLER(wait_all) {
  (void)in;
  if (w->copies.first) tf_async_wait(w, mask, TF_COPY_GROUP, TF_KEEP_NONE, false);
}

HANDLER(nothing) {
  (void)w, (void)in, (void)mask;
}

/* The arrival that the lane's copies so far trigger when they are done. Without .noinc the pending count grows by it
 * before. Copies that are done already trigger it now. */
HANDLER(arrive) {
  uint64_t addr[TF_LANES], *object;
  tf_copy *k = tf_async_kept(w->launch) ? tf_async_new(w, in, TF_COPY_ARRIVAL) : NULL;
  bool noinc = in->aux, late = w->launch->adversarial && k;
  tf_access_addresses(w, in, in->op[0], 0, in->imm[0], addr);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (!tf_mbarrier_object(w, in, l, addr[l], in->space, TF_ATOMIC, &object)) continue;
    if (k) {
      k->object[l] = object;
      k->lanes |= 1u << l;
      if (*object & TF_MBAR_PHASE) k->phase |= 1u << l;
    }
    if (late && !noinc) *object += 1;
    if (!late && noinc) (void)tf_mbarrier_arrive(w, in, l, object, 1, false);
    if (late) k->late |= 1u << l;
  }
}

/* ---- Bulk copies: one lane, any multiple of 16 bytes ---- */
static bool bulk_access(tf_warp *w, const tf_insn *in, unsigned lane, uint64_t address, unsigned space, uint32_t bytes,
                        unsigned kind, tf_access *a) {
  *a = (tf_access){.mask = 1u << lane, .bytes = bytes, .align = 16, .kind = (uint8_t)kind, .space = (uint8_t)space};
  if (bytes == 0 || bytes % 16) {
    tf_find(w, in, lane, TF_FIND_misaligned, address, bytes, "a bulk copy of %u bytes; it takes multiples of 16",
            bytes);
    return false;
  }
  a->addr[lane] = address;
  tf_access_fill(a);
  tf_access_slow(w, in, a);
  return a->ok != 0;
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

/* The copy is kept; in an adversarial launch its barrier hears of it later. */
static void bulk_later(tf_warp *w, const tf_insn *in, unsigned l, bulk b, const tf_access *to, const tf_access *from,
                       uint64_t *object) {
  tf_copy *k = tf_async_new(w, in, b.barrier ? TF_COPY_BARRIER : TF_COPY_BULK);
  if (!k) return;
  k->to = *to;
  k->from = *from;
  k->object[l] = object;
  if (object && *object & TF_MBAR_PHASE) k->phase = 1u << l;
  tf_async_start(w, k);
  if (object && !k->late) (void)tf_mbarrier_complete(w, in, l, object, to->bytes);
}

static void bulk_lane(tf_warp *w, const tf_insn *in, unsigned l, bulk b, uint64_t to, uint64_t from, uint32_t bytes,
                      uint64_t barrier) {
  tf_access p, q;
  uint64_t *object = NULL;
  if (!bulk_access(w, in, l, from, b.from, bytes, TF_READ, &p)) return;
  if (!bulk_access(w, in, l, to, b.to, bytes, TF_WRITE, &q)) return;
  if (b.barrier && !tf_mbarrier_object(w, in, l, barrier, TF_SPACE_SHARED, TF_ATOMIC, &object)) return;
  w->worker->progress++;
  if (tf_async_kept(w->launch)) {
    bulk_later(w, in, l, b, &q, &p, object);
    return;
  }
  if (w->watch) {
    tf_check_access(w, in, &p);
    tf_check_access(w, in, &q);
  }
  memmove(q.ptr[l], p.ptr[l], bytes);
  if (object) (void)tf_mbarrier_complete(w, in, l, object, bytes);
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
SELECTOR(select_commit) {
  f->in->aux = tf_form_has(f, "bulk") ? BULK : 0;
  return commit_group;
}
SELECTOR(select_wait_group) {
  f->in->aux = (tf_form_has(f, "bulk") ? BULK : 0) | (tf_form_has(f, "read") ? READ_ONLY : 0);
  return wait_group;
}
SELECTOR(select_wait_all) {
  (void)f;
  return wait_all;
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
