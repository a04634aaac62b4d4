/* Operands as threads see them (see Side.h). */
#include "Verify/Side.h"

#include <string.h>

static bool is_one(const tf_dim *dim) {
  return tf_static_or(dim, 0) == 1;
}

/* Walked by a mesh axis, and really: an axis of extent 1 decides nothing. */
static bool is_walked(const tf_factor *factor) {
  return factor->mesh_axis >= 0 && !is_one(factor->extent);
}

static tf_level level_of(const tf_placement *placement, int mesh_axis) {
  return placement->levels[placement->axes[mesh_axis].level].level;
}

bool tf_side_of(tf_verifier *v, const tf_expr *tensor, tf_side *side) {
  memset(side, 0, sizeof *side);
  side->expr = tensor;
  side->view = tf_view_of(v->context, tensor, NULL);
  if (!side->view || !side->view->ownership) return false;
  side->type = tensor->type;
  side->ownership = side->view->ownership;
  side->everything = true;
  if (!side->ownership->mesh) return true;
  if (v->host) return false; /* host code moves whole tensors */
  side->placement = tf_region_placement(&v->region, side->ownership->mesh, NULL);
  if (!side->placement) return false;
  for (unsigned i = 0; i < side->ownership->factor_count; i++)
    if (is_walked(&side->ownership->factors[i])) side->everything = false;
  return true;
}

/* ---- Comparing ------------------------------------------------------------------------------------------------------------ */

static bool same_factor(const tf_side *a, const tf_factor *f, const tf_side *b, const tf_factor *g) {
  if (f->extent != g->extent || f->step != g->step || is_walked(f) != is_walked(g)) return false;
  if (!is_walked(f)) return true;
  return f->divisor == g->divisor &&
         tf_placement_same_axis(a->placement, (unsigned)f->mesh_axis, b->placement, (unsigned)g->mesh_axis);
}

static bool same_shape(const tf_type *a, const tf_type *b) {
  if (tf_type_rank(a) != tf_type_rank(b)) return false;
  for (unsigned i = 0; i < tf_type_rank(a); i++)
    if (tf_type_extent(a, i) != tf_type_extent(b, i)) return false;
  return true;
}

bool tf_sides_have_one_shape(const tf_side *a, const tf_side *b) {
  return same_shape(a->type, b->type);
}

/* The next factor from i on that is longer than 1, or the end. */
static unsigned skip_ones(const tf_ownership *ownership, unsigned i) {
  while (i < ownership->factor_count && is_one(ownership->factors[i].extent))
    i++;
  return i;
}

bool tf_sides_alike(const tf_side *a, const tf_side *b) {
  const tf_ownership *x = a->ownership, *y = b->ownership;
  if (!same_shape(a->type, b->type)) return false;
  if (x == y && (a->placement == b->placement)) return true;
  if (!x->steps_are_affine || !y->steps_are_affine) return false;
  unsigned i = skip_ones(x, 0), j = skip_ones(y, 0);
  while (i < x->factor_count && j < y->factor_count) {
    if (!same_factor(a, &x->factors[i], b, &y->factors[j])) return false;
    i = skip_ones(x, i + 1);
    j = skip_ones(y, j + 1);
  }
  return i == x->factor_count && j == y->factor_count;
}

/* ---- One CTA for all ------------------------------------------------------------------------------------------------------ */

static bool by_cta(const tf_side *side, const tf_factor *factor) {
  return is_walked(factor) && level_of(side->placement, factor->mesh_axis) == TF_LEVEL_CTA;
}

static unsigned cta_factors(const tf_side *side, const tf_factor *out[TF_MAX_FACTORS]) {
  unsigned count = 0;
  for (unsigned i = 0; i < side->ownership->factor_count; i++)
    if (by_cta(side, &side->ownership->factors[i])) out[count++] = &side->ownership->factors[i];
  return count;
}

/* What one step of the destination's factor adds to the source's logical index; null if that is not known. */
static const tf_dim *mapped_step(tf_context *context, const tf_factor *factor, const tf_index_map *map) {
  if (map->identity) return factor->step;
  if (factor->shape_axis < 0 || !factor->unit) return NULL;
  return tf_dim_binary(context, TF_DIM_MUL, factor->unit, tf_dim_int(context, map->source_strides[factor->shape_axis]));
}

static bool has_cta_factor(const tf_side *destination, const tf_factor *wanted, const tf_dim *step,
                           const tf_side *source) {
  const tf_factor *own[TF_MAX_FACTORS];
  unsigned count = cta_factors(source, own);
  for (unsigned i = 0; i < count; i++) {
    if (own[i]->extent != wanted->extent || own[i]->step != step || own[i]->divisor != wanted->divisor) continue;
    if (tf_placement_same_axis(destination->placement, (unsigned)wanted->mesh_axis, source->placement,
                               (unsigned)own[i]->mesh_axis))
      return true;
  }
  return false;
}

/* Whether CTAs walk the source as they walk the destination, or broadcast it: factors along which every CTA reads the same. */
static bool same_cta_factors(tf_context *context, const tf_side *destination, const tf_side *source,
                             const tf_index_map *map) {
  const tf_factor *own[TF_MAX_FACTORS], *unused[TF_MAX_FACTORS];
  unsigned count = cta_factors(destination, own), matched = 0;
  for (unsigned i = 0; i < count; i++) {
    const tf_dim *step = mapped_step(context, own[i], map);
    if (!step) return false;
    if (tf_static_or(step, -1) == 0) continue;
    if (!has_cta_factor(destination, own[i], step, source)) return false;
    matched++;
  }
  return matched == cta_factors(source, unused);
}

static void reduce_side(tf_side *side, bool drop) {
  tf_ownership *out = &side->reduced;
  *out = *side->ownership;
  if (!out->steps_are_affine) return;
  out->factor_count = out->local_count = 0;
  for (unsigned i = 0; i < side->ownership->factor_count; i++) {
    tf_factor factor = side->ownership->factors[i];
    bool cta = by_cta(side, &factor);
    if (cta && drop) continue;
    if (cta || !is_walked(&factor)) {
      factor.mesh_axis = -1;
      factor.divisor = 1;
      out->local[out->local_count++] = out->factor_count;
    }
    out->factors[out->factor_count++] = factor;
  }
}

bool tf_sides_reduce(tf_context *context, tf_side *destination, unsigned count, tf_side *sources,
                     const tf_index_map *maps) {
  static const tf_index_map identity = {.identity = true};
  const tf_factor *unused[TF_MAX_FACTORS];
  unsigned own = cta_factors(destination, unused), with = 0, same = 0;
  for (unsigned i = 0; i < count; i++) {
    with += cta_factors(&sources[i], unused) > 0;
    same += same_cta_factors(context, destination, &sources[i], &maps[i]);
  }
  bool drop = own > 0 && same == count && count > 0;
  if (own > 0 && with > 0 && !drop) return false;
  for (unsigned i = 1; i < count; i++)
    if (own == 0 && with > 0 &&
        !(same_shape(sources[0].type, sources[i].type) &&
          same_cta_factors(context, &sources[0], &sources[i], &identity)))
      return false;
  reduce_side(destination, drop);
  for (unsigned i = 0; i < count; i++)
    reduce_side(&sources[i], drop);
  return true;
}

typedef struct tf_side_list {
  const tf_side *sides[8];
} tf_side_list;

static bool side_is_cta(void *user, unsigned share, const tf_factor *factor) {
  return by_cta(((tf_side_list *)user)->sides[share], factor);
}

static bool side_is_same(void *user, const tf_factor *first, unsigned share, const tf_factor *other) {
  const tf_side_list *list = user;
  return first->divisor == other->divisor &&
         tf_placement_same_axis(list->sides[0]->placement, (unsigned)first->mesh_axis, list->sides[share]->placement,
                                (unsigned)other->mesh_axis);
}

bool tf_sides_shorten(tf_context *context, tf_side *destination, unsigned count, tf_side *sources) {
  tf_side *all[8] = {destination};
  tf_side_list list = {{destination}};
  tf_share shares[8] = {{destination->ownership, destination->type}};
  bool open = tf_share_is_open(&shares[0]);
  if (count > 7) return false;
  for (unsigned i = 0; i < count; i++) {
    list.sides[i + 1] = all[i + 1] = &sources[i];
    shares[i + 1] = (tf_share){sources[i].ownership, sources[i].type};
    open |= tf_share_is_open(&shares[i + 1]);
  }
  tf_share_query query = {side_is_cta, side_is_same, &list};
  if (!open || !tf_shares_of_one_cta(context, count + 1, shares, &query)) return false;
  for (unsigned i = 0; i <= count; i++) {
    all[i]->ownership = shares[i].ownership;
    all[i]->type = shares[i].type;
    all[i]->reduced = *shares[i].ownership;
  }
  return true;
}

void tf_sides_unreduce(tf_side *destination, unsigned count, tf_side *sources) {
  destination->reduced = *destination->ownership;
  for (unsigned i = 0; i < count; i++)
    sources[i].reduced = *sources[i].ownership;
}

int64_t tf_side_local_numel(const tf_side *side) {
  for (unsigned i = 0; i < side->reduced.factor_count; i++)
    if (tf_static_or(side->reduced.factors[i].extent, -1) < 0 || tf_static_or(side->reduced.factors[i].step, -1) < 0)
      return -1;
  return tf_ownership_local_numel(&side->reduced);
}

int64_t tf_side_span(const tf_verifier *v, const tf_side *side) {
  int64_t numel = tf_static_or(tf_type_numel(v->context, side->type), -1), span = 1;
  if (numel >= 0 || !side->reduced.steps_are_affine) return numel;
  for (unsigned i = 0; i < side->reduced.factor_count; i++) {
    int64_t extent = tf_static_or(side->reduced.factors[i].extent, -1),
            step = tf_static_or(side->reduced.factors[i].step, -1);
    if (extent < 0 || step < 0) return -1;
    int64_t reach;
    if (__builtin_mul_overflow(extent - 1, step, &reach) || __builtin_add_overflow(span, reach, &span)) return -1;
  }
  return span;
}

bool tf_side_enumerate(const tf_side *side, int64_t cta, int64_t thread, int64_t *out) {
  int64_t coordinates[TF_MAX_MESH_AXES] = {0};
  if (side->placement && !tf_placement_coordinates(side->placement, cta, thread, coordinates)) return false;
  tf_ownership_enumerate(&side->reduced, coordinates, out);
  return true;
}

/* ---- Coverage by threads and instances ------------------------------------------------------------------------------------- */

/* The thread's place among the instances of the mesh's warp and thread levels. */
static int64_t instance_number(const tf_placement *placement, const int64_t *coordinates) {
  int64_t number = 0;
  for (unsigned i = 0; i < placement->axis_count; i++)
    if (level_of(placement, (int)i) != TF_LEVEL_CTA)
      number = number * tf_static_or(placement->axes[i].extent, 1) + coordinates[i];
  return number;
}

static bool all_instances(const tf_verifier *v, const tf_placement *placement) {
  int64_t wanted = 1, coordinates[TF_MAX_MESH_AXES];
  tf_thread_set found = {{0}};
  for (unsigned i = 0; i < placement->axis_count; i++) {
    bool cta = level_of(placement, (int)i) == TF_LEVEL_CTA;
    if (!cta) wanted *= tf_static_or(placement->axes[i].extent, 1);
  }
  if (placement->levels[0].level == TF_LEVEL_CTA &&
      !(v->region.all_ctas && placement->full && placement->levels[0].size == v->geometry.grid))
    return false;
  for (int64_t t = tf_threads_next(&v->region.active, 0); t >= 0; t = tf_threads_next(&v->region.active, t + 1))
    if (tf_placement_coordinates(placement, -1, t, coordinates))
      tf_threads_add(&found, instance_number(placement, coordinates));
  return tf_threads_count(&found) == wanted;
}

bool tf_side_is_covered_by_threads(const tf_verifier *v, const tf_side *side) {
  if (!side->ownership->steps_are_affine || !side->placement) return false;
  const tf_dim *held = tf_dim_int(v->context, 1);
  for (unsigned i = 0; i < side->ownership->factor_count && held; i++)
    held = tf_dim_binary(v->context, TF_DIM_MUL, held, side->ownership->factors[i].extent);
  return held && held == tf_type_numel(v->context, side->type) && all_instances(v, side->placement);
}

/* Digits of the thread's walked factors, as one number. */
static int64_t digits(const tf_placement *placement, const tf_ownership *ownership, const int64_t *coordinates,
                      int64_t number) {
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (!is_walked(factor) || level_of(placement, factor->mesh_axis) == TF_LEVEL_CTA) continue;
    int64_t extent = tf_static_or(factor->extent, 1);
    int64_t digit = coordinates[factor->mesh_axis] / factor->divisor % extent;
    number = (int64_t)((uint64_t)number * (uint64_t)extent + (uint64_t)digit);
  }
  return number;
}

static int64_t add_digits(const tf_verifier *v, const tf_ownership *ownership, int64_t thread, int64_t number) {
  int64_t coordinates[TF_MAX_MESH_AXES];
  const tf_placement *placement = ownership->mesh ? tf_region_placement(&v->region, ownership->mesh, NULL) : NULL;
  if (!placement || !tf_placement_coordinates(placement, -1, thread, coordinates)) return number;
  return digits(placement, ownership, coordinates, number);
}

int64_t tf_side_instance(const tf_verifier *v, const tf_side *side, int64_t thread) {
  int64_t number = 0;
  for (const tf_view *outer = side->view->outer; outer; outer = outer->outer)
    number = add_digits(v, outer->ownership, thread, number);
  const tf_view *base = tf_view_of(v->context, side->view->base, NULL);
  if (base && base->ownership && base->ownership->private_instances)
    number = add_digits(v, base->ownership, thread, number);
  return number;
}

/* ---- Index maps -------------------------------------------------------------------------------------------------------------- */

bool tf_index_map_of(const tf_type *destination, const tf_type *source, bool same_count, tf_index_map *map) {
  memset(map, 0, sizeof *map);
  map->identity = same_count || same_shape(destination, source);
  if (map->identity) return true;
  unsigned rank = tf_type_rank(destination), source_rank = tf_type_rank(source);
  if (rank > TF_MAX_RANK || source_rank > rank) return false;
  map->rank = rank;
  int64_t stride = 1;
  for (unsigned i = 0; i < rank; i++) {
    unsigned axis = rank - 1 - i;
    map->extents[axis] = tf_static_or(tf_type_extent(destination, axis), axis == 0 ? INT64_MAX : -1);
    if (map->extents[axis] < 0) return false;
    if (i >= source_rank) continue;
    int64_t extent = tf_static_or(tf_type_extent(source, source_rank - 1 - i), axis == 0 ? 2 : -1);
    if (extent < 0) return false;
    map->source_strides[axis] = extent == 1 ? 0 : stride;
    if (__builtin_mul_overflow(stride, extent, &stride)) return false; /* the first axis's is not used any more */
  }
  return true;
}

int64_t tf_index_map_apply(const tf_index_map *map, int64_t index) {
  if (map->identity) return index;
  int64_t source = 0;
  for (unsigned axis = map->rank; axis-- > 0;) {
    source += index % map->extents[axis] * map->source_strides[axis];
    index /= map->extents[axis];
  }
  return source;
}
