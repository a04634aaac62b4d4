/* Enumerating thread domains of one statement (see Coverage.h). The result of an enumeration is kept in the context, keyed by all
 * that it was computed from. */
#include "Verify/Coverage.h"

#include <string.h>

#include "Verify/InPlace.h"
#include "Verify/Side.h"

enum { MOST_SOURCES = 4 };
#define MOST_STEPS (INT64_C(1) << 27) /* of an enumeration: beyond it the two sides have to be provably alike */

typedef enum tf_outcome { COVERED, MISSING, UNPROVEN } tf_outcome;

typedef struct tf_coverage {
  tf_outcome outcome;
  int64_t thread, index; /* MISSING: the first thread that lacks it (rmem), and the element */
  int64_t count;         /* MISSING: how many elements nobody writes */
} tf_coverage;

typedef struct tf_statement {
  tf_verifier *v;
  const tf_invocation *inv;
  tf_side destination;
  unsigned count; /* sources that do not obviously hold all that is wanted */
  tf_side sources[MOST_SOURCES];
  tf_index_map maps[MOST_SOURCES];
  bool copy, shared;
  bool shortened; /* the sides are those of one CTA (tf_sides_shorten) */
  bool
      each_cta; /* CTAs are enumerated one by one: some do not come here, or the sides split over them in different ways */
  tf_arena *scratch;
} tf_statement;

/* ---- Enumeration ---------------------------------------------------------------------------------------------------------- */

/* Which elements of a source the thread at hand sees: those with its mark. */
typedef struct tf_seen {
  int32_t *stamp;
  int64_t numel, local;
  int64_t *indices;
} tf_seen;

static bool prepare_seen(tf_statement *s, const tf_side *side, tf_seen *seen) {
  seen->numel = tf_side_span(s->v, side);
  seen->local = tf_side_local_numel(side);
  if (seen->numel < 0 || seen->local < 0 || seen->numel > MOST_STEPS || seen->local > MOST_STEPS) return false;
  seen->stamp = TF_ARENA_ARRAY(s->scratch, int32_t, seen->numel + 1);
  seen->indices = TF_ARENA_ARRAY(s->scratch, int64_t, seen->local + 1);
  return true;
}

static void stamp(const tf_side *side, tf_seen *seen, int64_t cta, int64_t thread, int32_t mark) {
  if (!tf_side_enumerate(side, cta, thread, seen->indices)) return;
  for (int64_t i = 0; i < seen->local; i++)
    if (seen->indices[i] >= 0 && seen->indices[i] < seen->numel) seen->stamp[seen->indices[i]] = mark;
}

static bool held(const tf_statement *s, const tf_seen *seen, int32_t mark, int64_t index) {
  for (unsigned i = 0; i < s->count; i++) {
    int64_t at = tf_index_map_apply(&s->maps[i], index);
    if (at < 0 || at >= seen[i].numel || seen[i].stamp[at] != mark) return false;
  }
  return true;
}

/* What the threads of one instance see and write of the destination: two bits per element. */
typedef struct tf_instance {
  int64_t key;
  uint8_t *elements; /* 1: seen, 2: written */
} tf_instance;

typedef struct tf_instances {
  unsigned count;
  tf_instance items[TF_MAX_BLOCK];
} tf_instances;

static uint8_t *instance_of(tf_statement *s, tf_instances *all, int64_t key, int64_t numel) {
  for (unsigned i = 0; i < all->count; i++)
    if (all->items[i].key == key) return all->items[i].elements;
  tf_instance *instance = &all->items[all->count++];
  instance->key = key;
  instance->elements = TF_ARENA_ARRAY(s->scratch, uint8_t, numel + 1);
  return instance->elements;
}

static tf_coverage judge_instances(const tf_instances *all, int64_t numel) {
  tf_coverage result = {.outcome = COVERED, .index = -1};
  for (unsigned i = 0; i < all->count; i++)
    for (int64_t n = 0; n < numel; n++)
      if (all->items[i].elements[n] == 1) {
        result.outcome = MISSING;
        if (result.count++ == 0) result.index = n;
      }
  return result;
}

typedef struct tf_enumeration {
  tf_statement *s;
  tf_seen destination, sources[MOST_SOURCES];
  tf_instances *instances;
  int32_t mark; /* of the thread and CTA at hand */
  tf_coverage result;
} tf_enumeration;

/* One thread; false when the verdict is reached. */
static bool visit(tf_enumeration *e, int64_t cta, int64_t thread) {
  tf_statement *s = e->s;
  e->mark++;
  for (unsigned i = 0; i < s->count; i++)
    stamp(&s->sources[i], &e->sources[i], cta, thread, e->mark);
  if (!tf_side_enumerate(&s->destination, cta, thread, e->destination.indices)) return true;
  int64_t key = s->shared ? tf_side_instance(s->v, &s->destination, thread) : 0;
  uint8_t *elements = s->shared ? instance_of(s, e->instances, key, e->destination.numel) : NULL;
  for (int64_t i = 0; i < e->destination.local; i++) {
    int64_t index = e->destination.indices[i];
    bool good = held(s, e->sources, e->mark, index);
    if (!s->shared && !good) {
      e->result = (tf_coverage){MISSING, thread, index, 1};
      return false;
    }
    if (s->shared && index >= 0 && index < e->destination.numel) elements[index] |= good ? 3 : 1;
  }
  return true;
}

/* Whether a CTA comes here, as far as the scopes of this function say. */
static bool cta_is_inside(const tf_verifier *v, int64_t cta) {
  int64_t thread = tf_threads_next(&v->region.active, 0);
  for (const tf_scope *scope = v->region.scope; scope; scope = scope->outer)
    if (!tf_placement_coordinates(scope->placement, cta, thread, NULL)) return false;
  return true;
}

static tf_coverage enumerate(tf_statement *s) {
  tf_coverage unproven = {.outcome = UNPROVEN};
  tf_enumeration e = {.s = s, .instances = TF_ARENA_NEW(s->scratch, tf_instances)};
  if (!prepare_seen(s, &s->destination, &e.destination)) return unproven;
  int64_t steps = e.destination.local, ctas = s->each_cta ? tf_static_or(s->v->geometry.grid, MOST_STEPS) : 1;
  for (unsigned i = 0; i < s->count; i++) {
    if (!prepare_seen(s, &s->sources[i], &e.sources[i])) return unproven;
    steps += e.sources[i].local;
  }
  const tf_thread_set *active = &s->v->region.active;
  if (steps > MOST_STEPS / tf_threads_count(active) / ctas) return unproven;
  for (int64_t cta = 0; cta < ctas; cta++) {
    if (s->each_cta && !cta_is_inside(s->v, cta)) continue;
    for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1))
      if (!visit(&e, s->each_cta ? cta : -1, t)) return e.result;
  }
  return s->shared ? judge_instances(e.instances, e.destination.numel) : (tf_coverage){.outcome = COVERED};
}

/* ---- Memo ------------------------------------------------------------------------------------------------------------------ */

typedef struct tf_coverage_side {
  const tf_ownership *ownership;
  const tf_type *type;
  const tf_placement *placement;
  const tf_view *outer, *base; /* what decides the instance */
} tf_coverage_side;

typedef struct tf_coverage_key {
  const char *tag;
  const tf_stmt *function; /* parameters' meshes count as in scope */
  const tf_scope *scope;
  tf_thread_set active;
  tf_coverage_side sides[MOST_SOURCES + 1];
  const tf_dim *grid; /* if each CTA is enumerated */
  uint64_t count, copy;
} tf_coverage_key;

static const char coverage_tag;

static tf_coverage_side side_key(const tf_side *side) {
  return (tf_coverage_side){side->ownership, side->type, side->placement, side->view->outer, side->view};
}

static tf_coverage memoised(tf_statement *s) {
  tf_coverage_key key;
  memset(&key, 0, sizeof key);
  key.tag = &coverage_tag;
  key.function = s->v->region.function;
  key.active = s->v->region.active;
  key.sides[0] = side_key(&s->destination);
  bool instances = s->shared && (s->destination.view->outer || s->destination.view->base);
  key.scope = instances || s->each_cta ? s->v->region.scope : NULL;
  key.grid = s->each_cta ? s->v->geometry.grid : NULL;
  if (!instances) key.sides[0].base = NULL;
  for (unsigned i = 0; i < s->count; i++) {
    key.sides[i + 1] = side_key(&s->sources[i]);
    key.sides[i + 1].base = key.sides[i + 1].outer = NULL;
  }
  key.count = s->count;
  key.copy = s->copy;
  void **slot = tf_context_memo(s->v->context, &key, sizeof key);
  if (!*slot) {
    tf_arena scratch;
    tf_arena_init(&scratch, &s->v->context->oom);
    s->scratch = &scratch;
    tf_coverage result = enumerate(s);
    tf_arena_destroy(&scratch);
    *slot = tf_arena_copy(&s->v->context->arena, &result, sizeof result);
  }
  return *(tf_coverage *)*slot;
}

/* ---- Verdict ---------------------------------------------------------------------------------------------------------------- */

static const char *layout_text(tf_verifier *v, const tf_type *type) {
  return tf_type_layout(type) ? tf_layout_print(v->context, tf_type_layout(type))
                              : "plain (every thread sees all of it)";
}

/* An element's coordinates, "(3, 17)". */
static const char *element_text(tf_verifier *v, const tf_type *type, int64_t index) {
  int64_t coordinates[TF_MAX_RANK] = {0};
  unsigned rank = tf_type_rank(type) < TF_MAX_RANK ? tf_type_rank(type) : TF_MAX_RANK;
  for (unsigned axis = rank; axis-- > 0;) {
    int64_t extent = tf_static_or(tf_type_extent(type, axis), INT64_MAX);
    coordinates[axis] = extent > 0 ? index % extent : 0;
    index /= extent > 0 ? extent : 1;
  }
  tf_string text;
  tf_string_init(&text, &v->context->arena);
  for (unsigned axis = 0; axis < rank; axis++)
    tf_string_printf(&text, "%s%lld", axis ? ", " : "(", (long long)coordinates[axis]);
  tf_string_puts(&text, ")");
  return text.text;
}

static void note_layouts(tf_statement *s) {
  tf_verifier *v = s->v;
  tf_report(v->context, s->destination.expr->loc, LAYOUT_OF_DESTINATION, layout_text(v, s->destination.expr->type));
  for (unsigned i = 0; i < s->count; i++)
    tf_report(v->context, s->sources[i].expr->loc, LAYOUT_OF_SOURCE, layout_text(v, s->sources[i].expr->type));
  tf_report(v->context, v->stmt->loc, STAGING_HINT);
}

static void report(tf_statement *s, const tf_coverage *coverage) {
  tf_verifier *v = s->v;
  const char *op = tf_op_get_info(s->inv->op)->name;
  bool reported = false;
  if (coverage->outcome == UNPROVEN)
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, PAIRING_UNPROVEN, op);
  else if (!s->shared)
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, PAIRING_MISSING, op, (long long)coverage->thread,
                       element_text(v, s->destination.type, coverage->index));
  else
    reported = TF_FAIL(v, v->stmt, v->stmt->loc, NOT_COVERED, op, (long long)coverage->count,
                       element_text(v, s->destination.type, coverage->index));
  if (reported) note_layouts(s);
}

static void check(tf_statement *s) {
  if (s->count == 0) return;
  if (s->shared && s->destination.everything && s->count == 1 && s->maps[0].identity &&
      tf_side_is_covered_by_threads(s->v, &s->sources[0]))
    return;
  s->each_cta = !s->shortened && (!s->v->region.all_ctas ||
                                  !tf_sides_reduce(s->v->context, &s->destination, s->count, s->sources, s->maps));
  if (s->each_cta) tf_sides_unreduce(&s->destination, s->count, s->sources);
  tf_coverage result = memoised(s);
  if (result.outcome != COVERED) report(s, &result);
}

/* Copies pair in C order, which is axis by axis for equal shapes only. */
static bool pairs_by_axis(const tf_statement *s) {
  for (unsigned i = 0; s->copy && i < s->count; i++)
    if (!tf_sides_have_one_shape(&s->destination, &s->sources[i])) return false;
  return s->v->region.all_ctas && s->count > 0;
}

static bool map_sources(tf_statement *s) {
  s->shortened = pairs_by_axis(s) && tf_sides_shorten(s->v->context, &s->destination, s->count, s->sources);
  for (unsigned i = 0; i < s->count; i++)
    if (!tf_index_map_of(s->destination.type, s->sources[i].type, s->copy, &s->maps[i])) return false;
  return true;
}

void tf_verify_coverage(tf_verifier *v, const tf_invocation *inv, const tf_expr *destination, unsigned count,
                        const tf_expr *const *sources, bool copy) {
  tf_statement s = {.v = v, .inv = inv, .copy = copy};
  tf_side sides[MOST_SOURCES];
  if (!tf_side_of(v, destination, &s.destination)) return;
  tf_storage storage = tf_type_storage(destination->type);
  s.shared = storage == TF_STORAGE_GMEM || storage == TF_STORAGE_SMEM;
  for (unsigned i = 0; i < count && i < MOST_SOURCES; i++) {
    tf_side *side = &sides[i];
    if (!tf_side_of(v, sources[i], side)) return;
    if (side->everything || tf_sides_alike(side, &s.destination)) continue;
    s.sources[s.count++] = *side;
  }
  const tf_side whole = s.destination;
  if (!map_sources(&s)) {
    report(&s, &(tf_coverage){.outcome = UNPROVEN});
    return;
  }
  if (!v->host) check(&s);
  if (s.shared || v->host) tf_verify_in_place(v, inv, &whole, count, sides, copy);
}
