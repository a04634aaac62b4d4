/* The race checker's view of accesses: each touch is held against what the cells remember (Shadow.h), by the clocks of
 * Race.h, and then remembered itself.
 *
 * An access conflicts with what a cell remembers if one of the two writes, not both are strong, and no clock orders them.
 * So a plain read beside atomics is a race, also the first read of a compare-and-swap loop: the memory model gives it no
 * value, and a compiler may read in parts or keep an old one. */
#include "Sim/Race.h"
#include "Sim/Module.h"

#include <stdio.h>
#include <string.h>

typedef struct touch {
  tf_warp *w;
  const tf_insn *in;
  const tf_access *a;
  unsigned lane;
  tf_ref ref;
  bool write, strong, narrow;
  /* Events that were looked at last; neighbours meet them again. */
  uint32_t same; /* of another warp, and ordered before all of this one */
  uint32_t mine; /* of this warp, and landed: ordered before its own lane */
} touch;

static const tf_event *event_of(const touch *t, tf_ref ref) {
  return &((tf_race *)t->w->launch->race)->events[ref >> 5];
}

/* True when the event's access by lane `ref & 31` is ordered before the touch. */
static bool ordered(touch *t, const tf_event *e, tf_ref ref) {
  const tf_race_cta *r = t->w->cta->race;
  if (e->tag & TF_EVENT_ASYNC) return false;
  uint32_t warp = e->who % TF_LANES, cta = e->who / TF_LANES, lane = ref & 31;
  bool here = cta == (uint32_t)t->w->cta->linear;
  if (!here || warp != t->w->index) {
    bool before = e->clock < (here ? r->seen[t->w->index][warp] : tf_clockset_get(&r->row, cta));
    if (before) t->same = ref >> 5;
    return before;
  }
  t->mine = ref >> 5;
  return lane == t->lane || e->clock < r->warp[warp].know[t->lane][lane];
}

/* ---- Reports ------------------------------------------------------------------------------------------------------- */

/* Where a plain store takes element e of lane l from. */
static const char *stored(const tf_warp *w, const tf_insn *in, unsigned e, unsigned l) {
  unsigned stride = in->aux >> 16 & 0xFF;
  return (const char *)tf_operand(w, in->ext[1 + e]) + (size_t)(stride < 4 ? 4 : stride) * l;
}

static bool is_store(const tf_insn *in) {
  return strcmp(in->row->opcode, "st") == 0;
}

/* What a plain store of the lane writes equals what is there. */
static bool stores_same(const touch *t) {
  unsigned n = t->in->aux & 0xFF;
  if (!is_store(t->in)) return false;
  const unsigned char *p = t->a->dense ? t->a->ptr[0] + (size_t)t->lane * t->a->bytes : t->a->ptr[t->lane];
  for (unsigned e = 0; e < n; e++)
    if (memcmp(stored(t->w, t->in, e, t->lane), p + (size_t)e * (t->a->bytes / n), t->a->bytes / n) != 0) return false;
  return true;
}

/* Two lanes of one store write the same. */
static bool lanes_alike(const touch *t, unsigned other) {
  if (!is_store(t->in)) return false;
  for (unsigned e = 0; e < (t->in->aux & 0xFF); e++)
    if (memcmp(stored(t->w, t->in, e, t->lane), stored(t->w, t->in, e, other), t->in->aux >> 24) != 0) return false;
  return true;
}

static void describe_other(const touch *t, const tf_event *e, tf_ref ref, char *text, size_t size) {
  const tf_launch *l = t->w->launch;
  const char *file;
  uint32_t line;
  char place[300] = "";
  bool near = tf_module_location(l->module, tf_event_insn(e)->loc, &file, &line);
  if (file) (void)snprintf(place, sizeof place, " (%s%s:%u)", near ? "near " : "", file, line);
  uint64_t n = (uint64_t)(e->who % TF_LANES) * TF_LANES + (ref & 31), c = e->who / TF_LANES;
  const uint32_t *b = l->block, *g = l->grid;
  (void)snprintf(text, size, "at PTX line %u%s by thread (%u,%u,%u) of CTA (%u,%u,%u)%s", tf_event_insn(e)->line, place,
                 (unsigned)(n % b[0]), (unsigned)(n / b[0] % b[1]), (unsigned)(n / b[0] / b[1]), (unsigned)(c % g[0]),
                 (unsigned)(c / g[0] % g[1]), (unsigned)(c / g[0] / g[1]),
                 e->tag & TF_EVENT_ASYNC ? ", a copy in flight" : "");
}

/* How the accesses could be ordered, where that is a word in the text. */
static const char *cure(const touch *t, const tf_event *e, bool other_writes) {
  if (t->strong && e->tag & TF_EVENT_STRONG) return "; a scope of one of them is its CTA, which the other is not in";
  uint32_t warp = e->who % TF_LANES, cta = e->who / TF_LANES;
  bool here = cta == (uint32_t)t->w->cta->linear;
  if (other_writes && !t->write && e->tag & TF_EVENT_STRONG) return "; a volatile or relaxed read would be";
  return !t->strong && tf_race_met_after(t->w, here, here ? warp : cta, e->clock)
             ? "; the flag that tells of it was read without .acquire and without a fence behind"
             : "";
}

static void conflict(const touch *t, tf_ref ref, bool other_writes) {
  const tf_event *e = event_of(t, ref);
  bool at_once = tf_event_insn(e) == t->in && e->who == tf_race_who(t->w) && e->clock == event_of(t, t->ref)->clock;
  bool note = other_writes && t->write && (at_once ? lanes_alike(t, ref & 31) : stores_same(t));
  if (is_store(tf_event_insn(e)) || strcmp(tf_event_insn(e)->row->opcode, "mbarrier") == 0) other_writes = true;
  char other[400];
  uint32_t bytes = tf_access_bytes(t->a, t->lane);
  describe_other(t, e, ref, other, sizeof other);
  (note ? tf_note : tf_find)(t->w, t->in, t->lane, TF_FIND_race, t->a->addr[t->lane], bytes,
                             "%s of %u bytes at 0x%llx is not ordered with the %s %s%s", t->write ? "write" : "read",
                             bytes, (unsigned long long)t->a->addr[t->lane], other_writes ? "write" : "read", other,
                             note ? ", which wrote the same value" : cure(t, e, other_writes));
}

/* Strong accesses from different CTAs, of which one is meant for its own CTA only. */
static bool too_narrow(const touch *t, const tf_event *e) {
  return (t->narrow || e->tag & TF_EVENT_NARROW) && e->who / TF_LANES != (uint32_t)t->w->cta->linear;
}

static void look_up(touch *t, tf_ref ref, bool other_writes) {
  const tf_event *e = event_of(t, ref);
  if (e->tag & TF_EVENT_STRONG && t->strong && !too_narrow(t, e)) return;
  if (!ordered(t, e, ref)) conflict(t, ref, other_writes);
}

static inline void hold_against(touch *t, tf_ref ref, bool other_writes) {
  if (ref >> 5 == t->same || (ref >> 5 == t->mine && (ref & 31) == t->lane)) return;
  look_up(t, ref, other_writes);
}

/* ---- Cells --------------------------------------------------------------------------------------------------------- */

enum { WRITE, READ, OTHER, LANES };

static void check_read_lanes(touch *t, const tf_ref *c, bool wide) {
  tf_ref ref = c[READ];
  if (!wide || (c[LANES] & (c[LANES] - 1)) == 0) {
    hold_against(t, ref, false);
    return;
  }
  const tf_event *e = event_of(t, ref);
  bool mine = e->who == tf_race_who(t->w);
  for (uint32_t m = c[LANES]; m; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m);
    hold_against(t, (ref & ~31u) | lane, false);
    if (!mine) break; /* all lanes of another warp are ordered alike */
  }
}

static inline void touch_write(touch *t, tf_ref *c, bool wide) {
  if (c[WRITE]) hold_against(t, c[WRITE], true);
  if (c[READ]) check_read_lanes(t, c, wide);
  if (wide && c[OTHER]) hold_against(t, c[OTHER], false);
  tf_ref last = c[WRITE];
  c[WRITE] = t->ref;
  if (t->strong) { /* a plain write, by the same thread perhaps, is still one to others */
    unsigned spare = wide ? OTHER : READ;
    if (last && !c[spare] && !(event_of(t, last)->tag & TF_EVENT_STRONG)) c[spare] = last;
    return;
  }
  c[READ] = 0; /* ordered before this write, or reported */
  if (wide) c[OTHER] = c[LANES] = 0;
}

static inline void touch_read(touch *t, tf_ref *c, bool wide) {
  if (c[WRITE]) hold_against(t, c[WRITE], true);
  if (!wide) {
    c[READ] = t->ref;
    return;
  }
  bool same = c[READ] >> 5 == t->ref >> 5;
  if (!same && c[READ] && event_of(t, c[READ])->who != tf_race_who(t->w)) c[OTHER] = c[READ];
  c[LANES] = (same ? c[LANES] : 0) | 1u << t->lane;
  c[READ] = t->ref;
}

static unsigned width_of(uint64_t at, uint64_t bytes) {
  return (unsigned)__builtin_ctzll(at | bytes | 1u << TF_SHADOW_WIDEST);
}

static inline void touch_range(touch *t, tf_shadow *s, uint64_t at, uint64_t bytes) {
  tf_shadow_use *use = &((tf_race *)t->w->launch->race)->use;
  unsigned shift = width_of(at, bytes);
  for (uint64_t end = at + bytes; at < end;) {
    uint64_t number = at >> TF_SHADOW_PAGE_BITS, next = (number + 1) << TF_SHADOW_PAGE_BITS,
             stop = end < next ? end : next;
    tf_shadow_page *p = tf_shadow_at(s, use, number, shift);
    if (!p) return;
    unsigned refs = tf_cell_refs(p);
    tf_ref *c = tf_shadow_cell(p, at), *last = c + ((stop - at) >> p->shift) * refs;
    for (; c < last; c += refs)
      t->write ? touch_write(t, c, refs == 4) : touch_read(t, c, refs == 4);
    at = stop;
  }
}

/* ---- Accesses ------------------------------------------------------------------------------------------------------ */

/* Whose shadow has the bytes, and where. Null: memory that only one thread can write. */
static inline tf_shadow *place_of(const tf_warp *w, const tf_access *a, unsigned lane, uint64_t *at, tf_cta **owner) {
  uint64_t address = a->addr[lane];
  unsigned space = a->space;
  *owner = NULL;
  if (space == TF_SPACE_GENERIC) {
    space = tf_address_space(w, address);
    address -= tf_window_base(space);
  }
  *at = address;
  if (space == TF_SPACE_GLOBAL) return &((tf_race *)w->launch->race)->global;
  if (space != TF_SPACE_SHARED) return NULL;
  uint64_t rank = address >> TF_CTA_SHIFT;
  *owner = rank ? w->cta->cluster->ctas[rank - 1] : w->cta;
  *at = address & (((uint64_t)1 << TF_CTA_SHIFT) - 1);
  return &((tf_race_cta *)(*owner)->race)->shared;
}

static inline void touch_lane(touch *t, tf_shadow *s, uint64_t at, tf_cta *owner) {
  const tf_access *a = t->a;
  uint64_t key = owner ? TF_SHARED_BASE + ((uint64_t)owner->rank << TF_CTA_SHIFT) + at : at, wide_key = key;
  if (owner && owner != t->w->cta && !a->in_flight) tf_race_remote_access(t->w, t->in, a, t->lane, owner);
  if (owner) wide_key = owner->cluster->count > 1 ? (uint64_t)1 << 63 | owner->linear << TF_CTA_SHIFT | at : 0;
  if (t->strong) tf_race_synchronise(t->w, t->lane, key, wide_key, a->kind, a->order);
  touch_range(t, s, at, tf_access_bytes(a, t->lane));
}

void tf_race_access(tf_warp *w, const tf_insn *in, tf_access *a) {
  touch t = {.w = w, .in = in, .a = a, .write = a->kind != TF_READ, .strong = a->order != 0};
  t.narrow = t.strong && !(a->order & TF_ORDER_WIDE);
  unsigned flags =
      (t.strong ? TF_EVENT_STRONG : 0u) | (a->in_flight ? TF_EVENT_ASYNC : 0u) | (t.narrow ? TF_EVENT_NARROW : 0u);
  a->event = 0;
  for (uint32_t m = a->ok; m; m &= m - 1) {
    uint64_t at;
    tf_cta *owner;
    t.lane = (unsigned)__builtin_ctz(m);
    tf_shadow *s = place_of(w, a, t.lane, &at, &owner);
    if (!s) continue;
    if (!a->event || t.strong) { /* strong lanes tick the clock */
      a->event = tf_race_event(w, in, flags);
      t.same = t.mine = 0; /* events may have been collected */
    }
    if (!a->event) return;
    t.ref = a->event << 5 | t.lane;
    touch_lane(&t, s, at, owner);
  }
}

/* ---- Copies that land ---------------------------------------------------------------------------------------------- */

static void land_range(tf_race *g, tf_shadow *s, uint64_t at, uint64_t bytes, uint32_t from, tf_ref to,
                       bool keep_lane) {
  for (uint64_t end = at + bytes; at < end;) {
    uint64_t number = at >> TF_SHADOW_PAGE_BITS, next = (number + 1) << TF_SHADOW_PAGE_BITS,
             stop = end < next ? end : next;
    tf_shadow_page *p = tf_shadow_at(s, &g->use, number, TF_SHADOW_WIDEST);
    if (!p) return;
    unsigned refs = tf_cell_refs(p);
    for (tf_ref *c = tf_shadow_cell(p, at), *last = c + ((stop - at) >> p->shift) * refs; c < last; c += refs)
      for (unsigned i = WRITE; i < LANES && i < refs; i++)
        if (c[i] >> 5 == from) c[i] = keep_lane ? (to & ~31u) | (c[i] & 31) : to;
    at = stop;
  }
}

void tf_race_land(tf_warp *w, tf_access *a, uint32_t lanes, tf_warp *by, unsigned by_lane, const tf_insn *in) {
  uint32_t event = a->event ? tf_race_event(by, in, 0) : 0;
  if (!event) return;
  for (uint32_t m = a->ok & lanes; m; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t at;
    tf_cta *owner;
    tf_shadow *s = place_of(w, a, l, &at, &owner);
    bool own = by_lane == TF_LANES;
    if (s) land_range(w->launch->race, s, at, tf_access_bytes(a, l), a->event, event << 5 | (own ? l : by_lane), own);
  }
}
