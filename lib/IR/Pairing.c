/* Pairing: for each local position of one tensor, where the same thread holds the same logical index of another.
 *
 * Both sides are enumerated for every thread of a block; a table over `from`'s logical indices answers "at which of my
 * positions?". A thread enters only what it holds and takes it out again, so the cost is the sum of the local parts, not
 * threads times elements. Sides that no mesh axis walks are the same for all threads and are enumerated once. */
#include "IR/Ownership.h"

#include <stdlib.h>
#include <string.h>

#include "IR/LayoutImpl.h"

#define MAX_PAIRED ((int64_t)1 << 24)

/* One side, its local part for the current thread, and the coordinates of all threads. */
typedef struct side {
  const tf_ownership *ownership;
  int64_t numel, local;
  bool same_for_all;
  unsigned axes;
  const int64_t *table; /* thread_count rows: 1 if inside, then the coordinates */
  int64_t *index;       /* local logical indices */
} side;

static bool static_numel(const tf_type *type, int64_t *out) {
  int64_t product = 1, extent;
  for (unsigned i = 0; i < tf_type_rank(type); i++) {
    if (!tf_dim_is_static(tf_type_extent(type, i), &extent) || extent < 0) return false;
    if (__builtin_mul_overflow(product, extent, &product)) return false;
  }
  *out = product;
  return product <= MAX_PAIRED;
}

/* Coordinates of all threads, interned, so that they can stand in the memo's key. */
static const int64_t *coordinate_table(tf_context *context, unsigned axes, int64_t threads, tf_instance_fn coords,
                                       void *user) {
  size_t row = 1 + axes, size = (size_t)threads * row * sizeof(int64_t);
  int64_t *table = calloc((size_t)threads * row + 1, sizeof *table);
  if (!table) tf_oom_raise(&context->oom);
  for (int64_t thread = 0; thread < threads; thread++) {
    int64_t *at = table + (size_t)thread * row;
    at[0] = axes == 0 && !coords ? 1 : coords && coords(user, thread, at + 1);
    if (!at[0]) memset(at, 0, row * sizeof *at);
  }
  const int64_t *interned = tf_context_intern_bytes(context, TF_INTERN_ATTR, table, size);
  free(table);
  return interned;
}

static bool load_side(tf_context *context, side *s, const tf_ownership *ownership, const tf_type *type, int64_t threads,
                      tf_instance_fn coords, void *user) {
  s->ownership = ownership;
  s->local = tf_ownership_local_numel(ownership);
  s->same_for_all = ownership->local_count == ownership->factor_count;
  s->axes = ownership->mesh ? tf_mesh_axis_count(ownership->mesh) : 0;
  if (s->local < 0 || !static_numel(type, &s->numel)) return false;
  s->table = coordinate_table(context, s->axes, threads, coords, user);
  return true;
}

static const int64_t *row_of(const side *s, int64_t thread) {
  return s->table + (size_t)thread * (1 + s->axes);
}

static void enumerate(side *s, int64_t thread) {
  tf_ownership_enumerate(s->ownership, row_of(s, thread) + 1, s->index);
}

/* ---- Broadcasting -------------------------------------------------------------------------------------------------------- */
/* For each logical index of `to`, that of `from` under NumPy's rules; equal element counts pair as they are. Null in
 * *map means the identity. False if the shapes do not broadcast. */
static bool broadcast_map(tf_context *context, const tf_type *to, int64_t to_numel, const tf_type *from,
                          int64_t from_numel, int32_t **map) {
  unsigned rank = tf_type_rank(to), from_rank = tf_type_rank(from);
  int64_t extent[TF_MAX_FACTORS], step[TF_MAX_FACTORS] = {0}, digit[TF_MAX_FACTORS] = {0}, product = 1, value;
  *map = NULL;
  if (to_numel == from_numel) return true;
  if (from_rank > rank || rank > TF_MAX_FACTORS) return false;
  for (unsigned i = 0; i < rank; i++)
    tf_dim_is_static(tf_type_extent(to, i), &extent[i]);
  for (unsigned i = from_rank; i-- > 0;) {
    unsigned axis = i + rank - from_rank;
    tf_dim_is_static(tf_type_extent(from, i), &value);
    if (value != 1 && value != extent[axis]) return false;
    step[axis] = value == 1 ? 0 : product;
    product *= value;
  }
  *map = malloc(((size_t)to_numel + 1) * sizeof **map);
  if (!*map) tf_oom_raise(&context->oom);
  int64_t at = 0;
  for (int64_t n = 0; n < to_numel; n++) { /* an odometer over to's coordinates */
    (*map)[n] = (int32_t)at;
    for (unsigned axis = rank; axis-- > 0;) {
      at += step[axis];
      if (++digit[axis] < extent[axis]) break;
      at -= step[axis] * extent[axis];
      digit[axis] = 0;
    }
  }
  return true;
}

/* ---- The search ------------------------------------------------------------------------------------------------------------- */
typedef struct search {
  side to, from;
  int64_t threads;
  const int32_t *map; /* null: identity */
  int32_t *where;     /* position of each logical index of from in the current thread, -1: not held */
  int32_t *position;  /* of the first thread */
  int32_t *current;
  tf_pairing *out;
} search;

static void enter(search *s, bool entered) {
  for (int64_t q = 0; q < s->from.local; q++)
    s->where[s->from.index[q]] = entered ? (int32_t)q : -1;
}

/* Fills `positions` for one thread; false, with the place noted, if it lacks an element. */
static bool pair_thread(search *s, int64_t thread, int32_t *positions) {
  for (int64_t p = 0; p < s->to.local; p++) {
    int64_t index = s->to.index[p];
    positions[p] = s->where[s->map ? s->map[index] : index];
    if (positions[p] >= 0) continue;
    s->out->kind = TF_PAIRING_MISSING;
    s->out->thread = thread;
    s->out->index = index;
    return false;
  }
  return true;
}

static void pair_threads(search *s) {
  bool first = true, same = s->to.same_for_all && s->from.same_for_all;
  s->out->kind = TF_PAIRING_UNIFORM;
  for (int64_t thread = 0; thread < s->threads; thread++) {
    if (!row_of(&s->to, thread)[0] || !row_of(&s->from, thread)[0]) continue;
    if (first || !s->to.same_for_all) enumerate(&s->to, thread);
    if (first || !s->from.same_for_all) {
      if (!first) enter(s, false);
      enumerate(&s->from, thread);
      enter(s, true);
    }
    if (!pair_thread(s, thread, first ? s->position : s->current)) return;
    if (!first && memcmp(s->position, s->current, (size_t)s->to.local * sizeof *s->current) != 0)
      s->out->kind = TF_PAIRING_VARYING;
    first = false;
    if (same) break;
  }
}

static void run_search(tf_context *context, search *s) {
  size_t to = (size_t)s->to.local + 1, from = (size_t)s->from.local + 1, numel = (size_t)s->from.numel + 1;
  s->to.index = malloc(to * sizeof *s->to.index);
  s->from.index = malloc(from * sizeof *s->from.index);
  s->where = malloc(numel * sizeof *s->where);
  s->current = malloc(to * sizeof *s->current);
  s->position = TF_ARENA_ARRAY(&context->arena, int32_t, to);
  bool complete = s->to.index && s->from.index && s->where && s->current;
  if (complete) {
    memset(s->where, 0xFF, numel * sizeof *s->where);
    pair_threads(s);
  }
  free(s->to.index);
  free(s->from.index);
  free(s->where);
  free(s->current);
  if (!complete) tf_oom_raise(&context->oom);
  s->out->count = s->to.local;
  s->out->position = s->out->kind == TF_PAIRING_UNIFORM ? s->position : NULL;
}

const tf_pairing *tf_pairing_of(tf_context *context, const tf_ownership *to, const tf_type *to_type,
                                const tf_ownership *from, const tf_type *from_type, int64_t thread_count,
                                tf_instance_fn to_coords, void *to_user, tf_instance_fn from_coords, void *from_user) {
  search s = {.threads = thread_count};
  int32_t *map;
  if (!to || !from || thread_count < 0 || thread_count > 4096) return NULL;
  if (!load_side(context, &s.to, to, to_type, thread_count, to_coords, to_user)) return NULL;
  if (!load_side(context, &s.from, from, from_type, thread_count, from_coords, from_user)) return NULL;
  const void *key[] = {"tf_pairing_of", to, to_type, from, from_type, s.to.table, s.from.table};
  void **memo = tf_context_memo(context, key, sizeof key);
  if (*memo) return *memo;
  if (!broadcast_map(context, to_type, s.to.numel, from_type, s.from.numel, &map)) return NULL;
  s.map = map;
  s.out = TF_ARENA_NEW(&context->arena, tf_pairing);
  run_search(context, &s);
  free(map);
  *memo = s.out;
  return s.out;
}
