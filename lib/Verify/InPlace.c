/* Overlap of destination and sources, element by element (see InPlace.h). */
#include "Verify/InPlace.h"

#include <string.h>

#define MOST_SPAN                                                                                                      \
  (INT64_C(1) << 22) /* elements between the lowest and the highest address: beyond it nothing is claimed */

typedef struct tf_tensor_key {
  const char *tag;
  const void *run, *root, *path, *param;
} tf_tensor_key;

static const char tensor_tag;

static void **tensor_slot(const tf_verifier *v, const tf_call_path *path, const tf_expr *param) {
  tf_tensor_key key = {&tensor_tag, v->run, v->root, path, param};
  return tf_context_memo(v->context, &key, sizeof key);
}

void tf_verifier_bind_tensor(tf_verifier *v, const tf_call_path *path, const tf_expr *param, const tf_expr *arg) {
  union {
    const tf_expr *expr;
    void *slot;
  } value = {arg};
  *tensor_slot(v, path, param) = value.slot;
}

const tf_expr *tf_verifier_bound_tensor(const tf_verifier *v, const tf_call_path *path, const tf_expr *param) {
  return path ? *tensor_slot(v, path, param) : NULL;
}

const tf_expr *tf_verifier_root(const tf_verifier *v, const tf_expr *tensor) {
  const tf_call_path *path = v->region.path;
  for (;;) {
    const tf_view *view = tf_view_of(v->context, tensor, NULL);
    if (!view) return tensor;
    const tf_expr *arg = tf_verifier_bound_tensor(v, path, view->base);
    if (!arg) return view->base;
    tensor = arg;
    path = path->outer;
  }
}

/* ---- Whether two addresses can be compared ---------------------------------------------------------------------------------- */

static bool same_start(const tf_view_start *a, const tf_view_start *b) {
  return a->index == b->index && a->mesh == b->mesh && a->mesh_axis == b->mesh_axis && a->divisor == b->divisor &&
         a->extent == b->extent && a->stride == b->stride;
}

static bool same_starts(const tf_view *a, const tf_view *b) {
  if (a->start_count != b->start_count) return false;
  for (unsigned i = 0; i < a->start_count; i++)
    if (!same_start(&a->starts[i], &b->starts[i])) return false;
  return true;
}

/* Whether the threads that come here begin the view at different places: then only the race checker can tell. Starts at an outer
 * instance's own part do not count, instances are kept apart. */
static bool starts_differ(const tf_verifier *v, const tf_view *view) {
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_expr *index = view->starts[i].index;
    if (index && !tf_fact_uniform(tf_fact_of(v->facts, &v->region, index), &v->region.active, NULL)) return true;
  }
  return false;
}

/* The same through the arguments that callees' parameters stand for. */
static bool begins_differ(const tf_verifier *v, const tf_view *view) {
  for (const tf_call_path *path = v->region.path; view; path = path->outer) {
    if (starts_differ(v, view)) return true;
    const tf_expr *arg = tf_verifier_bound_tensor(v, path, view->base);
    if (!arg) return false;
    view = tf_view_of(v->context, arg, NULL);
  }
  return false;
}

/* Constant distance between the addresses of two views; false if it is not known. */
static bool distance(const tf_verifier *v, const tf_view *a, const tf_view *b, int64_t *out) {
  if (a->base != b->base || !same_starts(a, b)) return false;
  const tf_dim *difference = tf_dim_binary(v->context, TF_DIM_SUB, a->constant, b->constant);
  return difference && tf_dim_is_static(difference, out);
}

/* The same through inlined calls: where both bases are parameters, the arguments have to begin at known places. */
static bool compare(const tf_verifier *v, const tf_view *a, const tf_view *b, int64_t *out) {
  int64_t shift = 0, step;
  for (const tf_call_path *path = v->region.path;; path = path->outer) {
    if (distance(v, a, b, &step)) {
      *out = shift + step;
      return true;
    }
    const tf_expr *x = tf_verifier_bound_tensor(v, path, a->base), *y = tf_verifier_bound_tensor(v, path, b->base);
    const tf_dim *inside = tf_dim_binary(v->context, TF_DIM_SUB, a->constant, b->constant);
    if (!x || !y || a->start_count || b->start_count || !inside || !tf_dim_is_static(inside, &step)) return false;
    shift += step;
    a = tf_view_of(v->context, x, NULL);
    b = tf_view_of(v->context, y, NULL);
    if (!a || !b || !path) return false;
  }
}

/* Both views put their C-order index at the same distance from their beginning. */
static bool same_form(const tf_side *a, const tf_side *b) {
  if (a->view == b->view) return true;
  if (tf_type_rank(a->type) != tf_type_rank(b->type) || !a->view->strides || !b->view->strides) return false;
  for (unsigned i = 0; i < tf_type_rank(a->type); i++)
    if (!a->view->strides[i] || a->view->strides[i] != b->view->strides[i] ||
        tf_type_extent(a->type, i) != tf_type_extent(b->type, i))
      return false;
  return true;
}

/* ---- Enumeration ---------------------------------------------------------------------------------------------------------- */

enum { READ = 1, WRITTEN = 2, SEVERAL = 4 };

typedef struct tf_cells {
  int64_t key;
  uint8_t *flags;
  int32_t *last; /* thread + 1 that handled the cell last */
} tf_cells;

/* A source and which of its elements the thread at hand holds: those with its mark. */
typedef struct tf_holder {
  tf_index_map map;
  int64_t numel, local, *indices;
  int32_t *marks;
} tf_holder;

enum { MOST_SOURCES = 4 };

typedef struct tf_overlap {
  tf_verifier *v;
  tf_arena *scratch;
  tf_side destination;
  unsigned count; /* of sources: the one in question, then those that restrict what a thread computes */
  tf_side sources[MOST_SOURCES];
  tf_holder holders[MOST_SOURCES];
  bool by_index; /* addresses are the indices themselves */
  int64_t shift; /* of the destination's address against the source's */
  int64_t low, span;
  unsigned instances;
  tf_cells cells[TF_MAX_BLOCK];
  bool shifted; /* some element lands elsewhere than where it came from */
} tf_overlap;

static bool address(const tf_overlap *o, const tf_side *side, int64_t index, int64_t shift, int64_t *out) {
  int64_t offset = index;
  if (!o->by_index && !tf_view_offset(side->view, index, &offset)) return false;
  return !__builtin_add_overflow(offset, shift, out);
}

static bool find_span(tf_overlap *o) {
  int64_t high = INT64_MIN, low = INT64_MAX, at;
  const tf_side *sides[2] = {&o->destination, &o->sources[0]};
  for (int i = 0; i < 2; i++) {
    int64_t numel = tf_side_span(o->v, sides[i]);
    if (numel < 0 || numel > MOST_SPAN) return false;
    for (int64_t n = 0; n < numel; n++) {
      if (!address(o, sides[i], n, i == 0 ? o->shift : 0, &at)) return false;
      low = at < low ? at : low;
      high = at > high ? at : high;
    }
  }
  o->low = low;
  return low <= high && !__builtin_sub_overflow(high, low, &o->span) && ++o->span <= MOST_SPAN;
}

static tf_cells *cells_of(tf_overlap *o, int64_t key) {
  for (unsigned i = 0; i < o->instances; i++)
    if (o->cells[i].key == key) return &o->cells[i];
  tf_cells *cells = &o->cells[o->instances++];
  *cells = (tf_cells){key, TF_ARENA_ARRAY(o->scratch, uint8_t, o->span), TF_ARENA_ARRAY(o->scratch, int32_t, o->span)};
  return cells;
}

static void touch(const tf_overlap *o, tf_cells *cells, int64_t at, int64_t thread, uint8_t how) {
  at -= o->low;
  if (cells->last[at] != 0 && cells->last[at] != thread + 1) cells->flags[at] |= SEVERAL;
  cells->last[at] = (int32_t)thread + 1;
  cells->flags[at] |= how;
}

static bool prepare(tf_overlap *o, int64_t *written_count) {
  int64_t sum = *written_count = tf_side_local_numel(&o->destination);
  if (sum < 0) return false;
  for (unsigned i = 0; i < o->count; i++) {
    tf_holder *h = &o->holders[i];
    h->numel = tf_side_span(o->v, &o->sources[i]);
    h->local = tf_side_local_numel(&o->sources[i]);
    if (h->numel < 0 || h->local < 0 || h->numel > MOST_SPAN || h->local > MOST_SPAN) return false;
    sum += h->local;
    h->indices = TF_ARENA_ARRAY(o->scratch, int64_t, h->local + 1);
    h->marks = TF_ARENA_ARRAY(o->scratch, int32_t, h->numel + 1);
  }
  return sum <= MOST_SPAN * 16 / tf_threads_count(&o->v->region.active);
}

/* Marks what the thread holds; false if it has no place on a mesh. */
static bool mark(const tf_overlap *o, int64_t thread) {
  for (unsigned i = 0; i < o->count; i++) {
    const tf_holder *h = &o->holders[i];
    if (!tf_side_enumerate(&o->sources[i], -1, thread, h->indices)) return false;
    for (int64_t n = 0; n < h->local; n++)
      if (h->indices[n] >= 0 && h->indices[n] < h->numel) h->marks[h->indices[n]] = (int32_t)thread + 1;
  }
  return true;
}

/* Whether the thread computes an element of the destination: it holds what the element takes of every source. */
static bool computes(const tf_overlap *o, int64_t thread, int64_t index) {
  for (unsigned i = 0; i < o->count; i++) {
    const tf_holder *h = &o->holders[i];
    int64_t at = tf_index_map_apply(&h->map, index);
    if (at < 0 || at >= h->numel || h->marks[at] != (int32_t)thread + 1) return false;
  }
  return true;
}

static bool enumerate(tf_overlap *o) {
  const tf_thread_set *active = &o->v->region.active;
  int64_t to, x, y;
  if (!prepare(o, &to)) return false;
  int64_t *written = TF_ARENA_ARRAY(o->scratch, int64_t, to + 1);
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    if (!tf_side_enumerate(&o->destination, -1, t, written) || !mark(o, t)) continue;
    tf_cells *cells = cells_of(o, tf_side_instance(o->v, &o->destination, t));
    for (int64_t i = 0; i < to; i++) {
      if (!computes(o, t, written[i])) continue;
      int64_t index = tf_index_map_apply(&o->holders[0].map, written[i]);
      if (!address(o, &o->destination, written[i], o->shift, &x) || !address(o, &o->sources[0], index, 0, &y))
        return false;
      touch(o, cells, x, t, WRITTEN);
      touch(o, cells, y, t, READ);
      o->shifted = o->shifted || x != y;
    }
  }
  return true;
}

/* 0: no overlap that matters, else the row to report. */
static tf_diag_id verdict(const tf_overlap *o, bool copy) {
  bool overlaps = false, contested = false;
  for (unsigned i = 0; i < o->instances; i++)
    for (int64_t n = 0; n < o->span; n++) {
      uint8_t flags = o->cells[i].flags[n];
      overlaps = overlaps || (flags & (READ | WRITTEN)) == (READ | WRITTEN);
      contested = contested || flags == (READ | WRITTEN | SEVERAL);
    }
  if (overlaps && copy && o->shifted) return TF_DIAG_COPY_OVERLAP;
  if (!o->v->host && (contested || (overlaps && !o->v->geometry.has_threads))) return TF_DIAG_IN_PLACE;
  return TF_DIAG_COUNT;
}

static void report(tf_overlap *o, const tf_invocation *inv, tf_diag_id row) {
  tf_verifier *v = o->v;
  const char *op = tf_op_get_info(inv->op)->name;
  if (row == TF_DIAG_COPY_OVERLAP) TF_FAIL(v, v->stmt, v->stmt->loc, COPY_OVERLAP);
  if (row == TF_DIAG_IN_PLACE) TF_FAIL(v, v->stmt, v->stmt->loc, IN_PLACE, op);
}

/* Adds a source; false if its elements cannot be named. */
static bool add_source(tf_overlap *o, const tf_side *side, bool copy) {
  o->sources[o->count] = *side;
  return tf_index_map_of(o->destination.type, side->type, copy, &o->holders[o->count++].map);
}

/* All CTAs as one, with the sources that restrict the threads where these are dealt to CTAs alike, else without them. */
static bool reduce_sides(tf_overlap *o) {
  for (; o->count > 0; o->count--) {
    tf_index_map maps[MOST_SOURCES];
    for (unsigned i = 0; i < o->count; i++)
      maps[i] = o->holders[i].map;
    if (tf_sides_reduce(o->v->context, &o->destination, o->count, o->sources, maps)) return true;
  }
  return false;
}

/* True if a fault was reported: source `which` against the destination. */
static bool check_pair(tf_verifier *v, const tf_invocation *inv, const tf_side *destination, unsigned count,
                       const tf_side *sources, unsigned which, bool copy) {
  const tf_side *source = &sources[which];
  int64_t shift;
  if (tf_type_storage(source->type) != tf_type_storage(destination->type)) return false;
  if (!compare(v, destination->view, source->view, &shift) || begins_differ(v, destination->view)) return false;
  tf_arena scratch;
  tf_arena_init(&scratch, &v->context->oom);
  tf_overlap *o = TF_ARENA_NEW(&scratch, tf_overlap);
  tf_diag_id row = TF_DIAG_COUNT;
  *o = (tf_overlap){.v = v, .scratch = &scratch, .destination = *destination, .shift = shift};
  o->by_index = shift == 0 && same_form(destination, source);
  bool known = add_source(o, source, copy);
  for (unsigned i = 0; i < count && i < MOST_SOURCES && known; i++)
    if (i != which && !sources[i].everything) known = add_source(o, &sources[i], copy);
  if (known && reduce_sides(o) && find_span(o) && enumerate(o)) row = verdict(o, copy);
  if (row != TF_DIAG_COUNT) report(o, inv, row);
  tf_arena_destroy(&scratch);
  return row != TF_DIAG_COUNT;
}

/* ---- Stores that every thread repeats ----------------------------------------------------------------------------------------- */

/* Whether the view's place depends on the thread, or conditions already choose among the threads. */
static bool varies(const tf_verifier *v, const tf_side *side) {
  for (unsigned i = 0; i < side->view->start_count; i++)
    if (!side->view->starts[i].index) return true;
  if (begins_differ(v, side->view)) return true;
  for (const tf_control *control = v->control; control; control = control->outer)
    if (control->fact && !tf_fact_uniform(control->fact, &v->region.active, NULL)) return true;
  return false;
}

static void remark_repeated(tf_verifier *v, const tf_invocation *inv, const tf_side *destination, unsigned count,
                            const tf_side *sources) {
  long long threads = tf_threads_count(&v->region.active);
  bool repeated = threads > 1 && destination->everything && !varies(v, destination);
  for (unsigned i = 0; i < count; i++)
    repeated = repeated && sources[i].everything && tf_type_storage(sources[i].type) != TF_STORAGE_RMEM;
  if (repeated)
    TF_FAIL(v, v->stmt, v->stmt->loc, REPEATED_STORE, tf_op_get_info(inv->op)->name, threads,
            tf_storage_name(tf_type_storage(destination->type)));
}

void tf_verify_in_place(tf_verifier *v, const tf_invocation *inv, const tf_side *destination, unsigned count,
                        const tf_side *sources, bool copy) {
  bool reported = false;
  for (unsigned i = 0; i < count; i++)
    reported |= check_pair(v, inv, destination, count, sources, i, copy);
  if (!reported && !v->host) remark_repeated(v, inv, destination, count, sources);
}
