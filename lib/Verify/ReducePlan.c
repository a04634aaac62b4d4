/* Groups of a reduction by enumeration (see ReducePlan.h).
 *
 * CTAs first: a factor that CTAs walk may not lie on a reduced axis, and has to be the destination's, too; then one CTA stands for
 * all and these factors are dropped. What is left is renumbered without gaps: an axis counts only the coordinates that
 * remain, elements e in 0 … N-1, results r in 0 … R-1, r a function of e. A side whose elements are dealt across rows has no
 * factors to drop; it keeps its own numbers.
 *
 * A cls is what a thread's choice of holders depends on: its instance, its warp (for lanes), its Broadcast coordinates. Nodes
 * (cls, r) and threads are united: (cls, r) with the holders of E(r), then each thread with (its cls, its results). */
#include "Verify/ReducePlan.h"

#include <string.h>

#define MOST_CELLS (INT64_C(1) << 24)

typedef struct tf_plan_thread {
  int64_t key;     /* instance and warp: elements do not travel between different ones */
  int64_t replica; /* Broadcast coordinates */
  int64_t share;   /* Partial coordinates */
  unsigned cls;    /* number of (key, replica) */
  unsigned part;   /* number of share */
} tf_plan_thread;

typedef struct tf_planner {
  const tf_verifier *v;
  tf_arena *scratch;
  const tf_side *source, *destination;
  const bool *reduced;
  const unsigned *source_axis;
  int64_t extents[TF_MAX_RANK]; /* of the source's axes, renumbered */
  int64_t numel, results, per_result;
  tf_ownership elements, wanted; /* how the two sides are enumerated */
  tf_plan_thread threads[TF_MAX_BLOCK];
  unsigned class_count, part_count;
  int64_t class_keys[TF_MAX_BLOCK], class_replicas[TF_MAX_BLOCK], parts[TF_MAX_BLOCK];
  int16_t *holder;    /* [cls][part][element]: thread, or -1 */
  uint8_t *needed;    /* [cls][result] */
  int32_t *by_result; /* elements, those of each result together */
  int32_t *parent;    /* union-find over threads, then nodes */
  tf_reduce_plan plan;
} tf_planner;

static bool fault(tf_planner *p, tf_reduce_fault kind) {
  p->plan.fault = kind;
  return false;
}

/* ---- CTAs, renumbering --------------------------------------------------------------------------------------------------------- */

static bool by_cta(const tf_side *side, const tf_factor *factor) {
  if (factor->mesh_axis < 0 || tf_static_or(factor->extent, 0) == 1) return false;
  const tf_placement *placement = side->placement;
  return placement->levels[placement->axes[factor->mesh_axis].level].level == TF_LEVEL_CTA;
}

/* Whether `other` has the same CTA factor on the axis that stands for the source's `axis`. */
static bool has_cta_factor(const tf_planner *p, const tf_side *other, bool other_is_source, int axis,
                           const tf_factor *wanted) {
  for (unsigned i = 0; i < other->ownership->factor_count; i++) {
    const tf_factor *factor = &other->ownership->factors[i];
    if (!by_cta(other, factor) || factor->shape_axis < 0) continue;
    int own = other_is_source ? factor->shape_axis : (int)p->source_axis[factor->shape_axis];
    if (own == axis && factor->extent == wanted->extent && factor->unit == wanted->unit) return true;
  }
  return false;
}

static bool check_ctas(tf_planner *p) {
  const tf_side *sides[2] = {p->source, p->destination};
  for (int s = 0; s < 2; s++)
    for (unsigned i = 0; i < sides[s]->ownership->factor_count; i++) {
      const tf_factor *factor = &sides[s]->ownership->factors[i];
      if (!by_cta(sides[s], factor)) continue;
      if (factor->shape_axis < 0) return fault(p, TF_REDUCE_DYNAMIC);
      int axis = s == 0 ? factor->shape_axis : (int)p->source_axis[factor->shape_axis];
      if (p->reduced[axis] || !has_cta_factor(p, sides[1 - s], s == 1, axis, factor))
        return fault(p, TF_REDUCE_CROSSES_CTAS);
    }
  return true;
}

/* Extent of a source axis without its CTA factors: the largest coordinate that is left, plus 1; -1 if it is symbolic. */
static int64_t extent_without_ctas(const tf_planner *p, unsigned axis) {
  const tf_ownership *ownership = p->source->ownership;
  bool split = false;
  int64_t reach = 1;
  for (unsigned i = 0; i < ownership->factor_count && ownership->steps_are_affine; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (factor->shape_axis != (int)axis) continue;
    if (by_cta(p->source, factor)) {
      split = true;
      continue;
    }
    int64_t extent = tf_static_or(factor->extent, -1), unit = tf_static_or(factor->unit, -1);
    if (extent < 0 || unit < 0 || extent > MOST_CELLS || unit > MOST_CELLS) return -1;
    reach += (extent - 1) * unit;
  }
  return split ? reach : tf_static_or(tf_type_extent(p->source->type, axis), -1);
}

static bool renumber(tf_planner *p) {
  p->numel = p->results = p->per_result = 1;
  for (unsigned axis = 0; axis < tf_type_rank(p->source->type); axis++) {
    int64_t extent = extent_without_ctas(p, axis), *part = p->reduced[axis] ? &p->per_result : &p->results;
    p->extents[axis] = extent;
    if (extent < 0 || extent > MOST_CELLS) return fault(p, TF_REDUCE_DYNAMIC);
    p->numel *= extent;
    *part *= extent;
    if (p->numel > MOST_CELLS || *part > MOST_CELLS) return fault(p, TF_REDUCE_DYNAMIC);
  }
  return true;
}

/* Steps in the renumbered elements (or results): per axis of the source. */
static void axis_steps(const tf_planner *p, bool results, int64_t steps[TF_MAX_RANK]) {
  int64_t step = 1;
  for (unsigned axis = tf_type_rank(p->source->type); axis-- > 0;) {
    bool counts = !results || !p->reduced[axis];
    steps[axis] = counts ? step : 0;
    step *= counts ? p->extents[axis] : 1;
  }
}

/* The side's ownership with CTA factors dropped, stepping in the new numbers. */
static bool restep(const tf_planner *p, const tf_side *side, bool is_source, bool results, tf_ownership *out) {
  int64_t steps[TF_MAX_RANK];
  axis_steps(p, results, steps);
  *out = *side->ownership;
  out->exact = NULL;
  out->factor_count = out->local_count = 0;
  for (unsigned i = 0; i < side->ownership->factor_count; i++) {
    tf_factor factor = side->ownership->factors[i];
    if (by_cta(side, &factor)) continue;
    int64_t unit = factor.unit ? tf_static_or(factor.unit, -1) : -1;
    if (factor.shape_axis < 0 || unit < 0 || tf_static_or(factor.extent, -1) < 0) return false;
    unsigned axis = is_source ? (unsigned)factor.shape_axis : p->source_axis[factor.shape_axis];
    factor.step = tf_dim_int(p->v->context, unit * steps[axis]);
    if (factor.mesh_axis < 0) out->local[out->local_count++] = out->factor_count;
    out->factors[out->factor_count++] = factor;
  }
  return true;
}

/* A side that is dealt across rows is enumerated by its own logical indices. */
static bool take_numbers(tf_planner *p, const tf_side *side, bool is_source, tf_ownership *out) {
  if (side->ownership->steps_are_affine) return restep(p, side, is_source, !is_source, out);
  *out = *side->ownership;
  return tf_ownership_local_numel(out) >= 0;
}

/* The result that an element of the source belongs to. */
static int64_t result_of_element(const tf_planner *p, int64_t element) {
  int64_t steps[TF_MAX_RANK], result = 0;
  axis_steps(p, true, steps);
  for (unsigned axis = tf_type_rank(p->source->type); axis-- > 0;) {
    result += element % p->extents[axis] * steps[axis];
    element /= p->extents[axis];
  }
  return result;
}

/* The result that an index of the destination names, in what tf_ownership_enumerate gives for `wanted`. */
static int64_t result_of_wanted(const tf_planner *p, int64_t index) {
  if (p->destination->ownership->steps_are_affine) return index;
  int64_t steps[TF_MAX_RANK], result = 0;
  axis_steps(p, true, steps);
  for (unsigned axis = tf_type_rank(p->destination->type); axis-- > 0;) {
    int64_t extent = tf_static_or(tf_type_extent(p->destination->type, axis), 1);
    result += index % extent * steps[p->source_axis[axis]];
    index /= extent;
  }
  return result;
}

static bool has_ctas(const tf_side *side) {
  for (unsigned i = 0; i < side->ownership->factor_count; i++)
    if (by_cta(side, &side->ownership->factors[i])) return true;
  return false;
}

/* Shares of an unreduced value in other CTAs. */
static bool has_cta_shares(const tf_side *side) {
  const tf_layout *layout = tf_type_layout(side->type);
  const tf_placement *placement = side->placement;
  for (unsigned i = 0; i < placement->axis_count && i < tf_layout_attr_count(layout); i++)
    if (tf_layout_attr(layout, i).kind == TF_SHARD_PARTIAL && tf_static_or(placement->axes[i].extent, 0) != 1 &&
        placement->levels[placement->axes[i].level].level == TF_LEVEL_CTA)
      return true;
  return false;
}

static bool prepare(tf_planner *p) {
  if (has_cta_shares(p->source)) return fault(p, TF_REDUCE_CROSSES_CTAS);
  bool affine = p->source->ownership->steps_are_affine && p->destination->ownership->steps_are_affine;
  if (!affine && (has_ctas(p->source) || has_ctas(p->destination))) return fault(p, TF_REDUCE_DYNAMIC);
  if (affine && !check_ctas(p)) return false;
  if (!renumber(p)) return false;
  bool good = take_numbers(p, p->source, true, &p->elements) && take_numbers(p, p->destination, false, &p->wanted);
  return good || fault(p, TF_REDUCE_DYNAMIC);
}

/* ---- Classes --------------------------------------------------------------------------------------------------------------------- */

static unsigned number_of(int64_t *values, unsigned *count, int64_t value) {
  for (unsigned i = 0; i < *count; i++)
    if (values[i] == value) return i;
  values[*count] = value;
  return (*count)++;
}

/* Coordinates on the mesh axes of one kind, as a number. */
static int64_t coordinates_of_kind(const tf_side *source, tf_shard_kind kind, const int64_t *coordinates) {
  const tf_layout *layout = tf_type_layout(source->type);
  uint64_t number = 0;
  for (unsigned i = 0; i < source->placement->axis_count && i < tf_layout_attr_count(layout); i++)
    if (tf_layout_attr(layout, i).kind == kind)
      number = number * (uint64_t)tf_static_or(source->placement->axes[i].extent, 1) + (uint64_t)coordinates[i];
  return (int64_t)number;
}

static bool classify(tf_planner *p) {
  const tf_placement *placement = p->source->placement;
  const tf_thread_set *active = &p->v->region.active;
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    int64_t coordinates[TF_MAX_MESH_AXES];
    tf_plan_thread *thread = &p->threads[t];
    if (!tf_placement_coordinates(placement, -1, t, coordinates)) return fault(p, TF_REDUCE_MISSES);
    bool lanes = placement->level_count == 1 && placement->levels[0].lane;
    uint64_t instance = (uint64_t)tf_side_instance(p->v, p->source, t);
    thread->key = (int64_t)(instance * (TF_MAX_BLOCK / 32) + (uint64_t)(lanes ? t / 32 : 0));
    thread->replica = coordinates_of_kind(p->source, TF_SHARD_BROADCAST, coordinates);
    thread->share = coordinates_of_kind(p->source, TF_SHARD_PARTIAL, coordinates);
    thread->part = number_of(p->parts, &p->part_count, thread->share);
    unsigned cls = 0;
    while (cls < p->class_count && (p->class_keys[cls] != thread->key || p->class_replicas[cls] != thread->replica))
      cls++;
    if (cls == p->class_count) {
      p->class_keys[cls] = thread->key;
      p->class_replicas[cls] = thread->replica;
      p->class_count++;
    }
    thread->cls = cls;
  }
  int64_t cells = p->numel * p->class_count * p->part_count;
  return cells <= MOST_CELLS || fault(p, TF_REDUCE_DYNAMIC);
}

/* ---- Holders, needs -------------------------------------------------------------------------------------------------------------- */

static bool coordinates_on(const tf_side *side, int64_t thread, int64_t *coordinates) {
  memset(coordinates, 0, TF_MAX_MESH_AXES * sizeof *coordinates);
  return !side->placement || tf_placement_coordinates(side->placement, -1, thread, coordinates);
}

static void fill_holders(tf_planner *p) {
  const tf_thread_set *active = &p->v->region.active;
  int64_t local = tf_ownership_local_numel(&p->elements), coordinates[TF_MAX_MESH_AXES];
  int64_t *elements = TF_ARENA_ARRAY(p->scratch, int64_t, local + 1);
  int64_t cells = p->numel * p->class_count * p->part_count;
  p->holder = TF_ARENA_ARRAY(p->scratch, int16_t, cells + 1);
  memset(p->holder, 0xff, (size_t)cells * sizeof *p->holder);
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    if (!coordinates_on(p->source, t, coordinates)) continue;
    tf_ownership_enumerate(&p->elements, coordinates, elements);
    int16_t *holder = p->holder + (p->threads[t].cls * p->part_count + p->threads[t].part) * p->numel;
    for (int64_t i = 0; i < local; i++) {
      if (elements[i] < 0 || elements[i] >= p->numel) continue;
      if (holder[elements[i]] < 0) holder[elements[i]] = (int16_t)t;
    }
  }
}

/* Elements sorted by result: each result has per_result of them. */
static void sort_by_result(tf_planner *p) {
  int64_t *next = TF_ARENA_ARRAY(p->scratch, int64_t, p->results + 1);
  p->by_result = TF_ARENA_ARRAY(p->scratch, int32_t, p->numel + 1);
  for (int64_t r = 0; r < p->results; r++)
    next[r] = r * p->per_result;
  for (int64_t e = 0; e < p->numel; e++) {
    int64_t result = result_of_element(p, e);
    p->by_result[next[result]++] = (int32_t)e;
  }
}

static int32_t root(tf_planner *p, int32_t node) {
  while (p->parent[node] != node) {
    p->parent[node] = p->parent[p->parent[node]];
    node = p->parent[node];
  }
  return node;
}

static void unite(tf_planner *p, int32_t a, int32_t b) {
  a = root(p, a);
  b = root(p, b);
  if (a != b) p->parent[a > b ? a : b] = a > b ? b : a;
}

static int32_t node_of(const tf_planner *p, unsigned cls, int64_t result) {
  return (int32_t)(TF_MAX_BLOCK + cls * p->results + result);
}

/* The thread that gives `element` of one share to a class: of its own replica, else of another one with the same key. */
static int find_holder(const tf_planner *p, unsigned cls, unsigned part, int64_t element) {
  int own = p->holder[(cls * p->part_count + part) * p->numel + element];
  for (unsigned c = 0; c < p->class_count && own < 0; c++)
    if (p->class_keys[c] == p->class_keys[cls]) own = p->holder[(c * p->part_count + part) * p->numel + element];
  return own;
}

/* Unites a needed result of a cls with everybody who holds a piece of it. */
static bool gather(tf_planner *p, unsigned cls, int64_t result) {
  for (int64_t i = 0; i < p->per_result; i++) {
    int32_t element = p->by_result[result * p->per_result + i];
    for (unsigned part = 0; part < p->part_count; part++) {
      int holder = find_holder(p, cls, part, element);
      if (holder < 0) return false;
      unite(p, node_of(p, cls, result), holder);
    }
  }
  return true;
}

static bool connect(tf_planner *p) {
  const tf_thread_set *active = &p->v->region.active;
  int64_t local = tf_ownership_local_numel(&p->wanted), coordinates[TF_MAX_MESH_AXES];
  int64_t *wanted = TF_ARENA_ARRAY(p->scratch, int64_t, local + 1);
  p->needed = TF_ARENA_ARRAY(p->scratch, uint8_t, p->class_count * p->results + 1);
  p->parent = TF_ARENA_ARRAY(p->scratch, int32_t, TF_MAX_BLOCK + p->class_count * p->results);
  for (int64_t i = 0; i < TF_MAX_BLOCK + p->class_count * p->results; i++)
    p->parent[i] = (int32_t)i;
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    p->plan.thread = t;
    if (!coordinates_on(p->destination, t, coordinates)) continue;
    tf_ownership_enumerate(&p->wanted, coordinates, wanted);
    for (int64_t i = 0; i < local; i++) {
      unsigned cls = p->threads[t].cls;
      int64_t result = result_of_wanted(p, wanted[i]);
      if (result < 0 || result >= p->results) return fault(p, TF_REDUCE_MISSES);
      uint8_t *needed = &p->needed[cls * p->results + result];
      if (!*needed && !gather(p, cls, result)) return fault(p, TF_REDUCE_MISSES);
      *needed = 1;
      unite(p, (int32_t)t, node_of(p, cls, result));
    }
  }
  return true;
}

/* ---- Groups -------------------------------------------------------------------------------------------------------------------------- */

static bool crosses_warps(const tf_thread_set *group) {
  int64_t first = tf_threads_next(group, 0);
  return tf_threads_next(group, first / 32 * 32 + 32) >= 0;
}

/* All lanes of the warps that the group touches. */
static tf_thread_set warps_of(const tf_thread_set *group, int64_t *warps) {
  tf_thread_set out = {{0}};
  *warps = 0;
  for (int64_t t = tf_threads_next(group, 0); t >= 0; t = tf_threads_next(group, t / 32 * 32 + 32), (*warps)++)
    for (int64_t lane = 0; lane < 32; lane++)
      tf_threads_add(&out, t / 32 * 32 + lane);
  return out;
}

static void merge_groups(tf_thread_set *groups, unsigned *count) {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = 0; i < *count; i++)
      for (unsigned j = i + 1; j < *count; j++) {
        int64_t unused;
        if (!crosses_warps(&groups[i]) || !crosses_warps(&groups[j])) continue;
        tf_thread_set a = warps_of(&groups[i], &unused), b = warps_of(&groups[j], &unused);
        if (!tf_threads_intersect(&a, &b)) continue;
        for (unsigned w = 0; w < TF_MAX_BLOCK / 64; w++)
          groups[i].bits[w] |= groups[j].bits[w];
        groups[j--] = groups[--*count];
        changed = true;
      }
  }
}

/* Results that the group's threads need, each once per cls. */
static int64_t results_of_group(tf_planner *p, const tf_thread_set *group) {
  int64_t count = 0;
  for (unsigned cls = 0; cls < p->class_count; cls++)
    for (int64_t r = 0; r < p->results; r++) {
      int32_t top = p->needed[cls * p->results + r] ? root(p, node_of(p, cls, r)) : TF_MAX_BLOCK;
      count += top < TF_MAX_BLOCK && tf_threads_has(group, top);
    }
  return count;
}

static bool collect_groups(tf_planner *p) {
  tf_context *context = p->v->context;
  tf_thread_set *groups = TF_ARENA_ARRAY(p->scratch, tf_thread_set, TF_MAX_BLOCK);
  int32_t *group_of = TF_ARENA_ARRAY(p->scratch, int32_t, TF_MAX_BLOCK);
  const tf_thread_set *active = &p->v->region.active;
  unsigned all = 0, count = 0;
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    int32_t top = root(p, (int32_t)t);
    if (group_of[top] == 0) group_of[top] = (int32_t)++all;
    tf_threads_add(&groups[group_of[top] - 1], t);
  }
  for (unsigned i = 0; i < all; i++)
    if (tf_threads_count(&groups[i]) > 1) groups[count++] = groups[i];
  merge_groups(groups, &count);
  bool *crosses = TF_ARENA_ARRAY(&context->arena, bool, count + 1);
  tf_thread_set block = tf_threads_interval(0, p->v->geometry.block);
  for (unsigned i = 0; i < count; i++) {
    int64_t warps;
    crosses[i] = crosses_warps(&groups[i]);
    if (!crosses[i]) continue;
    tf_thread_set whole = warps_of(&groups[i], &warps);
    p->plan.workspace += warps * results_of_group(p, &groups[i]);
    p->plan.thread = tf_threads_next(&groups[i], 0);
    p->plan.count = tf_threads_count(&groups[i]);
    if (!tf_threads_equal(&whole, &groups[i]) && !tf_threads_equal(&block, &groups[i]))
      return fault(p, TF_REDUCE_UNEVEN);
  }
  p->plan.group_count = count;
  p->plan.groups = tf_arena_copy(&context->arena, groups, count * sizeof *groups);
  p->plan.crosses_warps = crosses;
  return true;
}

static void make_plan(tf_planner *p) {
  if (p->source->everything && !p->source->ownership->partial) return;
  if (!prepare(p) || !classify(p)) return;
  fill_holders(p);
  sort_by_result(p);
  if (connect(p)) collect_groups(p);
}

/* ---- Memo ---------------------------------------------------------------------------------------------------------------------------- */

typedef struct tf_plan_key {
  const char *tag;
  const tf_view *source, *destination;
  const tf_placement *from, *to;
  const tf_scope *scope;
  tf_thread_set active;
  int64_t block;
  uint64_t reduced;
} tf_plan_key;

static const char plan_tag;

const tf_reduce_plan *tf_reduce_plan_of(const tf_verifier *v, const tf_side *source, const bool *reduced,
                                        const tf_side *destination, const unsigned *source_axis) {
  tf_plan_key key;
  memset(&key, 0, sizeof key);
  key.tag = &plan_tag;
  key.source = source->view;
  key.destination = destination->view;
  key.from = source->placement;
  key.to = destination->placement;
  key.scope = v->region.scope;
  key.active = v->region.active;
  key.block = v->geometry.block;
  for (unsigned axis = 0; axis < tf_type_rank(source->type); axis++)
    key.reduced |= (uint64_t)reduced[axis] << axis;
  void **slot = tf_context_memo(v->context, &key, sizeof key);
  if (!*slot) {
    tf_arena scratch;
    tf_arena_init(&scratch, &v->context->oom);
    tf_planner *planner = TF_ARENA_NEW(&scratch, tf_planner);
    *planner = (tf_planner){.v = v,
                            .scratch = &scratch,
                            .source = source,
                            .destination = destination,
                            .reduced = reduced,
                            .source_axis = source_axis};
    make_plan(planner);
    *slot = tf_arena_copy(&v->context->arena, &planner->plan, sizeof planner->plan);
    tf_arena_destroy(&scratch);
  }
  return *slot;
}
