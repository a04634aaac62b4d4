/* Ownership: from a shard layout to factors over the tensor's shape.
 *
 * Elements are named in one of two ways, and both end in the same question: a factor moves by `value` in some space, which
 * axis of the shape does that walk?
 *
 *   dealt    value = step in C order of the domain, an axis's value = its step in C order of the shape
 *   offsets  value = the layout's stride,           an axis's value = the storage's stride on it
 *
 * A factor (extent e, value v) walks axis a in steps of u = v / value_a if u * (e-1) stays inside the axis. Otherwise it is
 * cut where the axis ends, and the outer part goes on with the next axis. The result names every element exactly once
 * when, on each axis, the units sorted are compact (1, then each the product of the extents before, up to the axis's
 * extent); that proves at once that the layout is injective, reaches nothing outside the shape and carries nowhere, also
 * for symbolic extents. What does not decompose this way is enumerated, if it is static. */
#include "IR/Ownership.h"

#include <string.h>

#include "IR/FlatLayout.h"
#include "IR/LayoutImpl.h"
#include "IR/MeshLevels.h"
#include "IR/ShardDomain.h"

/* Offsets of a static layout over a static storage that do not decompose factor by factor. */
typedef struct tf_exact_domain {
  unsigned rank; /* axes longer than 1, in descending storage stride */
  int64_t extent[TF_MAX_FACTORS], stride[TF_MAX_FACTORS], order[TF_MAX_FACTORS];
} tf_exact_domain;

typedef struct builder {
  tf_context *context;
  const char **reason;
  unsigned rank;
  const tf_dim *extent[TF_MAX_FACTORS]; /* of the shape */
  const tf_dim *value[TF_MAX_FACTORS];  /* of one step on the axis */
  const tf_dim *order[TF_MAX_FACTORS];  /* its step in the logical index */
  unsigned search[TF_MAX_FACTORS];      /* axes longer than 1, largest value first */
  unsigned search_count;
  tf_ownership *out;
} builder;

static bool is_int(const tf_dim *dim, int64_t value) {
  int64_t number;
  return tf_dim_is_static(dim, &number) && number == value;
}

/* ---- Placing factors on axes ---------------------------------------------------------------------------------------------- */
static bool push_factor(builder *b, tf_factor factor) {
  if (b->out->factor_count == TF_MAX_FACTORS) return false;
  b->out->factors[b->out->factor_count++] = factor;
  return true;
}

static bool fits(builder *b, const tf_dim *unit, const tf_dim *extent, const tf_dim *axis_extent) {
  const tf_dim *reach = tf_dim_product(b->context, unit, tf_dim_shift(b->context, extent, -1));
  const tf_dim *room = tf_dim_linear(b->context, 1, axis_extent, -1, reach);
  return room && tf_dim_is_positive(room);
}

static bool place(builder *b, tf_factor factor, const tf_dim *value);

/* Cuts the factor at the end of the axis, `room` steps away, and places both parts. */
static bool place_cut(builder *b, tf_factor factor, const tf_dim *value, unsigned axis, const tf_dim *unit) {
  const tf_dim *room = tf_dim_exact_quotient(b->context, b->extent[axis], unit);
  const tf_dim *rest = room && !is_int(room, 1) ? tf_dim_exact_quotient(b->context, factor.extent, room) : NULL;
  int64_t inner = 1;
  if (!rest || is_int(rest, 1)) return false;
  if (factor.mesh_axis >= 0 && !tf_dim_is_static(room, &inner)) return false;
  tf_factor first = factor, second = factor;
  first.extent = room;
  second.extent = rest;
  if (factor.mesh_axis >= 0 && __builtin_mul_overflow(factor.divisor, inner, &second.divisor)) return false;
  const tf_dim *next = tf_dim_product(b->context, value, room);
  return next && place(b, first, value) && place(b, second, next);
}

static bool place(builder *b, tf_factor factor, const tf_dim *value) {
  if (is_int(factor.extent, 1)) return true;
  for (unsigned i = 0; i < b->search_count; i++) {
    unsigned axis = b->search[i];
    const tf_dim *unit = tf_dim_exact_quotient(b->context, value, b->value[axis]);
    if (!unit || is_int(unit, 0)) continue;
    if (!fits(b, unit, factor.extent, b->extent[axis])) return place_cut(b, factor, value, axis, unit);
    factor.shape_axis = (int)axis;
    factor.unit = unit;
    factor.step = tf_dim_product(b->context, unit, b->order[axis]);
    return factor.step && push_factor(b, factor);
  }
  return false;
}

/* Whether the factors on the axis count through it exactly once. */
static bool axis_is_compact(const builder *b, unsigned axis) {
  const tf_dim *expected = tf_dim_int(b->context, 1);
  const tf_ownership *o = b->out;
  for (unsigned used = 0; expected != b->extent[axis]; used++) {
    unsigned i = 0;
    while (i < o->factor_count && (o->factors[i].shape_axis != (int)axis || o->factors[i].unit != expected))
      i++;
    if (i == o->factor_count || used > o->factor_count) return false;
    expected = tf_dim_product(b->context, expected, o->factors[i].extent);
    if (!expected) return false;
  }
  return true;
}

/* Whether the factors name every element of the shape exactly once; the domain has as many elements as the shape, so a
 * compact chain of factors on each axis leaves none over. */
static bool place_all(builder *b, const tf_shard_domain *domain, const tf_dim *const *values) {
  b->out->factor_count = 0;
  for (unsigned i = 0; i < domain->count; i++) {
    const tf_domain_axis *axis = &domain->axes[i];
    const tf_factor factor = {.extent = axis->extent, .mesh_axis = axis->mesh_axis, .divisor = 1, .shape_axis = -1};
    if (!place(b, factor, values[i])) return false;
  }
  for (unsigned i = 0; i < b->rank; i++)
    if (!axis_is_compact(b, i)) return false;
  return true;
}

/* Factors as they stand, with values for steps: right for enumeration, not for addresses. */
static void place_unrefined(builder *b, const tf_shard_domain *domain, const tf_dim *const *values) {
  b->out->factor_count = 0;
  for (unsigned i = 0; i < domain->count; i++) {
    if (is_int(domain->axes[i].extent, 1)) continue;
    push_factor(b, (tf_factor){.extent = domain->axes[i].extent,
                               .step = values[i],
                               .shape_axis = -1,
                               .mesh_axis = domain->axes[i].mesh_axis,
                               .divisor = 1});
  }
}

/* ---- The shape ------------------------------------------------------------------------------------------------------------- */
/* Whether axis a comes before axis c in the search: the larger value, where that is provable, else the order of the
 * shape, which is right for C order. */
static bool searched_before(const builder *b, unsigned a, unsigned c) {
  const tf_dim *excess = tf_dim_linear(b->context, 1, b->value[a], -1, b->value[c]);
  const tf_interval range = excess ? tf_interval_of(excess) : (tf_interval){INT64_MIN, INT64_MAX};
  if (range.min >= 0 && range.max > 0) return true;
  if (range.max <= 0 && range.min < 0) return false;
  return a < c;
}

static void sort_search(builder *b) {
  b->search_count = 0;
  for (unsigned axis = 0; axis < b->rank; axis++) {
    if (is_int(b->extent[axis], 1)) continue;
    unsigned at = b->search_count++;
    for (; at > 0 && searched_before(b, axis, b->search[at - 1]); at--)
      b->search[at] = b->search[at - 1];
    b->search[at] = axis;
  }
}

static bool load_shape(builder *b, const tf_type *type) {
  b->rank = tf_type_rank(type);
  if (b->rank > TF_MAX_FACTORS)
    return tf_refuse(b->context, b->reason, "the tensor has more than %d axes", TF_MAX_FACTORS);
  const tf_dim *product = tf_dim_int(b->context, 1);
  for (unsigned i = b->rank; i-- > 0;) {
    b->extent[i] = tf_type_extent(type, i);
    b->order[i] = product;
    b->value[i] = product;
    product = tf_dim_product(b->context, product, b->extent[i]);
    if (!product) return tf_refuse(b->context, b->reason, "the tensor's number of elements overflows");
  }
  sort_search(b);
  return true;
}

/* Whether the static storage strides let an offset be divided into coordinates; symbolic ones are taken to. */
static bool storage_is_divisible(const builder *b) {
  int64_t reach = 0, stride, extent;
  for (unsigned i = b->search_count; i-- > 0;) {
    unsigned axis = b->search[i];
    if (!tf_dim_is_static(b->value[axis], &stride) || !tf_dim_is_static(b->extent[axis], &extent)) return true;
    if (stride <= reach) return false;
    if (__builtin_mul_overflow(stride, extent - 1, &stride) || __builtin_add_overflow(reach, stride, &reach))
      return false;
  }
  return true;
}

/* ---- Offsets that do not decompose ------------------------------------------------------------------------------------------- */
static bool load_exact(const builder *b, tf_exact_domain *exact) {
  exact->rank = b->search_count;
  for (unsigned i = 0; i < b->search_count; i++) {
    unsigned axis = b->search[i];
    if (!tf_dim_is_static(b->extent[axis], &exact->extent[i]) || !tf_dim_is_static(b->value[axis], &exact->stride[i]) ||
        !tf_dim_is_static(b->order[axis], &exact->order[i]) || exact->stride[i] <= 0)
      return false;
  }
  return true;
}

static bool decompose(const tf_exact_domain *exact, int64_t offset, int64_t *index) {
  int64_t sum = 0;
  for (unsigned i = 0; i < exact->rank; i++) {
    int64_t digit = offset / exact->stride[i];
    if (offset < 0 || digit >= exact->extent[i]) return false;
    sum += digit * exact->order[i];
    offset -= digit * exact->stride[i];
  }
  *index = sum;
  return offset == 0;
}

static bool load_domain(const tf_shard_domain *domain, tf_flat *flat) {
  flat->count = domain->count;
  for (unsigned i = 0; i < domain->count; i++)
    if (!tf_dim_is_static(domain->axes[i].extent, &flat->extent[i]) ||
        !tf_dim_is_static(domain->axes[i].stride, &flat->stride[i]))
      return false;
  return tf_flat_is_bounded(flat);
}

/* The first offset of the domain that names no element, if there is one. */
static bool find_outside(const tf_exact_domain *exact, const tf_flat *domain, int64_t *outside) {
  int64_t size = tf_flat_size(domain), index;
  for (int64_t n = 0; n < size; n++) {
    int64_t rest = n;
    *outside = 0;
    for (unsigned i = 0; i < domain->count; i++) {
      *outside += rest % domain->extent[i] * domain->stride[i];
      rest /= domain->extent[i];
    }
    if (!decompose(exact, *outside, &index)) return true;
  }
  return false;
}

static const char *dims_text(builder *b, const tf_dim *const *dims) {
  tf_string out;
  tf_string_init(&out, &b->context->arena);
  tf_tuple_append(b->context, &out, tf_tuple_dims(b->context, b->rank, dims));
  return out.text;
}

/* Names elements by offsets one by one; refuses what is not injective or leaves the shape. */
static bool enumerate_offsets(builder *b, const tf_shard_domain *domain, const tf_dim *const *values) {
  const char *why, *text = tf_shard_domain_print(b->context, domain);
  tf_exact_domain exact;
  tf_flat flat;
  int64_t outside;
  if (!load_domain(domain, &flat) || !load_exact(b, &exact))
    return tf_refuse(b->context, b->reason,
                     "the offsets of the layout %s do not decompose into coordinates of the shape %s at compile time",
                     text, dims_text(b, b->extent));
  if (!tf_flat_is_injective(&flat, &why))
    return tf_refuse(b->context, b->reason, "the layout %s is not injective: %s", text, why);
  if (tf_flat_size(&flat) > (int64_t)1 << 24)
    return tf_refuse(b->context, b->reason, "the layout %s is too large to enumerate", text);
  if (find_outside(&exact, &flat, &outside))
    return tf_refuse(
        b->context, b->reason,
        "the layout %s names storage offset %lld, which is outside the shape %s over storage strides %s; copy "
        "through a plain window instead, T.tensor_view(a, i, k, shape=…)",
        text, (long long)outside, dims_text(b, b->extent), dims_text(b, b->value));
  place_unrefined(b, domain, values);
  b->out->exact = tf_arena_copy(&b->context->arena, &exact, sizeof exact);
  return true;
}

/* ---- Building ------------------------------------------------------------------------------------------------------------------ */
static bool build_plain(builder *b) {
  for (unsigned i = b->rank; i-- > 0;) {
    if (is_int(b->extent[i], 1)) continue;
    push_factor(b, (tf_factor){.extent = b->extent[i],
                               .step = b->order[i],
                               .shape_axis = (int)i,
                               .unit = tf_dim_int(b->context, 1),
                               .mesh_axis = -1,
                               .divisor = 1});
  }
  b->out->steps_are_affine = true;
  return true;
}

static bool build_dealt(builder *b, const tf_shard_domain *domain) {
  const tf_dim *steps[TF_MAX_FACTORS];
  if (!tf_shard_domain_order(b->context, domain, steps))
    return tf_refuse(b->context, b->reason, "the layout's number of elements overflows");
  b->out->steps_are_affine = place_all(b, domain, steps);
  if (!b->out->steps_are_affine) place_unrefined(b, domain, steps);
  return true;
}

static bool build_offsets(builder *b, const tf_shard_domain *domain, const tf_dim *const *storage_strides) {
  const tf_dim *strides[TF_MAX_FACTORS];
  for (unsigned i = 0; i < domain->count; i++)
    strides[i] = domain->axes[i].stride;
  for (unsigned i = 0; i < b->rank && storage_strides; i++)
    b->value[i] = storage_strides[i];
  sort_search(b);
  b->out->steps_are_affine = storage_is_divisible(b) && place_all(b, domain, strides);
  return b->out->steps_are_affine || enumerate_offsets(b, domain, strides);
}

/* A Split of stride 0 over CTAs says nothing: shared memory belongs to the CTA anyway. */
static bool has_private_split(builder *b, const tf_shard_domain *domain) {
  for (unsigned i = 0; i < domain->count; i++) {
    const tf_domain_axis *axis = &domain->axes[i];
    unsigned level;
    if (axis->mesh_axis < 0 || !axis->stride || !is_int(axis->stride, 0) || is_int(axis->extent, 1)) continue;
    bool known = tf_mesh_axis_level(b->context, b->out->mesh, (unsigned)axis->mesh_axis, &level, NULL, NULL);
    if (!known || tf_mesh_level(b->out->mesh, level).level != TF_LEVEL_CTA) return true;
  }
  return false;
}

static bool build_shard(builder *b, const tf_type *type, const tf_dim *const *storage_strides) {
  const tf_layout *layout = tf_type_layout(type);
  tf_shard_domain domain;
  if (!tf_shard_domain_of(b->context, layout, &domain, b->reason)) return false;
  const tf_dim *size = tf_dim_int(b->context, 1), *numel = tf_type_numel(b->context, type);
  for (unsigned i = 0; i < domain.count; i++)
    size = tf_dim_product(b->context, size, domain.axes[i].extent);
  if (!size || size != numel)
    return tf_refuse(b->context, b->reason, "the layout %s has %s elements, the tensor of shape %s has %s",
                     tf_shard_domain_print(b->context, &domain), size ? tf_dim_print(b->context, size) : "too many",
                     dims_text(b, b->extent), tf_dim_print(b->context, numel));
  b->out->mesh = tf_layout_mesh(layout);
  b->out->partial = domain.partial;
  b->out->private_instances = tf_type_storage(type) == TF_STORAGE_SMEM && has_private_split(b, &domain);
  bool is_dealt = domain.dealt || is_int(numel, 0); /* nothing to name: any steps will do */
  return is_dealt ? build_dealt(b, &domain) : build_offsets(b, &domain, storage_strides);
}

static void index_local_factors(tf_ownership *ownership) {
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (ownership->factors[i].mesh_axis < 0) ownership->local[ownership->local_count++] = i;
}

typedef struct memo_result {
  const tf_ownership *ownership; /* null: refused */
  const char *reason;
} memo_result;

static memo_result *compute(tf_context *context, const tf_type *type, const tf_dim *const *storage_strides) {
  memo_result *result = TF_ARENA_NEW(&context->arena, memo_result);
  tf_ownership *ownership = TF_ARENA_NEW(&context->arena, tf_ownership);
  builder b = {.context = context, .reason = &result->reason, .out = ownership};
  bool built = load_shape(&b, type) &&
               (tf_layout_is_shard(tf_type_layout(type)) ? build_shard(&b, type, storage_strides) : build_plain(&b));
  if (!built) return result;
  index_local_factors(ownership);
  result->ownership = ownership;
  return result;
}

tf_status tf_ownership_of(tf_context *context, const tf_type *type, const tf_dim *const *storage_strides,
                          const tf_ownership **out, const char **reason) {
  const void *key[TF_MAX_FACTORS + 2] = {"tf_ownership_of", type};
  if (!context || !tf_type_is_tensor(type) || !out || tf_type_rank(type) > TF_MAX_FACTORS) return TF_INVALID_ARGUMENT;
  unsigned rank = storage_strides ? tf_type_rank(type) : 0;
  for (unsigned i = 0; i < rank; i++)
    if (!(key[2 + i] = storage_strides[i])) return TF_INVALID_ARGUMENT;
  void **memo = tf_context_memo(context, key, (2 + rank) * sizeof *key);
  if (!*memo) *memo = compute(context, type, storage_strides);
  const memo_result *result = *memo;
  if (!result->ownership) {
    if (reason) *reason = result->reason;
    return TF_VERIFY;
  }
  *out = result->ownership;
  return TF_OK;
}

/* ---- Enumeration ------------------------------------------------------------------------------------------------------------------ */
int64_t tf_ownership_local_numel(const tf_ownership *ownership) {
  int64_t product = 1, extent;
  for (unsigned i = 0; i < ownership->local_count; i++) {
    if (!tf_dim_is_static(ownership->factors[ownership->local[i]].extent, &extent)) return -1;
    if (__builtin_mul_overflow(product, extent, &product)) return -1;
  }
  return product;
}

static int64_t int_of(const tf_dim *dim) {
  int64_t value = 0;
  tf_dim_is_static(dim, &value);
  return value;
}

void tf_ownership_enumerate(const tf_ownership *ownership, const int64_t *coordinates, int64_t *out) {
  int64_t base = 0, filled = 1;
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (is_int(factor->extent, 0)) return; /* no element at all */
    if (factor->mesh_axis < 0) continue;
    base += coordinates[factor->mesh_axis] / factor->divisor % int_of(factor->extent) * int_of(factor->step);
  }
  out[0] = base;
  for (unsigned i = 0; i < ownership->local_count; i++) { /* each factor repeats what stands, one step further */
    const tf_factor *factor = &ownership->factors[ownership->local[i]];
    int64_t extent = int_of(factor->extent), step = int_of(factor->step), end = filled * extent;
    for (int64_t n = filled; n < end; n++)
      out[n] = out[n - filled] + step;
    filled = end;
  }
  for (int64_t n = 0; ownership->exact && n < filled; n++)
    decompose(ownership->exact, out[n], &out[n]);
}

/* ---- Runs --------------------------------------------------------------------------------------------------------------------------- */
/* The largest power of two that divides the number and does not exceed `max`; any number divides 0. */
static int64_t power_of_two_in(int64_t number, int64_t max) {
  int64_t power = 1;
  while (power <= max / 2 && number % (power * 2) == 0)
    power *= 2;
  return power;
}

/* Elements are named exactly once, so the steps of all factors beyond the run are multiples of its length, and with them
 * the first element of every run. */
int64_t tf_ownership_run(const tf_ownership *ownership, int64_t max) {
  int64_t run = 1, extent;
  bool open = true;
  if (ownership->exact || max < 1) return 1;
  for (unsigned i = 0; open && i < ownership->local_count; i++) { /* factors that continue one another from step 1 */
    const tf_factor *factor = &ownership->factors[ownership->local[i]];
    if (!is_int(factor->step, run)) break;
    open = tf_dim_is_static(factor->extent, &extent);
    if (__builtin_mul_overflow(run, open ? extent : tf_dim_divisor(factor->extent), &run)) return 1;
  }
  return power_of_two_in(run, max);
}
