/* See Affine.h. */
#include "LowerToLLVM/Affine.h"

#include "IR/DimImpl.h"

static const tf_dim *product(tf_context *context, const tf_dim *a, const tf_dim *b) {
  return tf_dim_binary(context, TF_DIM_MUL, a, b);
}

static bool is_static(const tf_dim *dim, int64_t value) {
  int64_t have;
  return tf_dim_is_static(dim, &have) && have == value;
}

/* ---- Making the axes ---- */
/* Appends an axis on the right, unless it is trivial or continues the one to its left. */
static void append(tf_context *context, tf_affine *map, const tf_dim *extent, const tf_dim *stride) {
  if (is_static(extent, 1)) return;
  if (map->rank > 0 && product(context, extent, stride) == map->strides[map->rank - 1]) {
    map->extents[map->rank - 1] = product(context, map->extents[map->rank - 1], extent);
    map->strides[map->rank - 1] = stride;
    return;
  }
  map->extents[map->rank] = extent;
  map->strides[map->rank++] = stride;
}

static void finish(tf_context *context, tf_affine *map) {
  const tf_dim *below = tf_dim_int(context, 1);
  for (unsigned i = map->rank; i-- > 0;) {
    map->below[i] = below;
    below = product(context, below, map->extents[i]);
  }
}

/* A nested mode walks its leaves leftmost-fastest: the rightmost is the slowest. */
static void append_mode(tf_context *context, tf_affine *map, const tf_tuple *shape, const tf_tuple *strides) {
  if (tf_tuple_is_leaf(shape)) {
    append(context, map, tf_tuple_dim(shape), tf_tuple_dim(strides));
    return;
  }
  for (unsigned i = tf_tuple_count(shape); i-- > 0;)
    append_mode(context, map, tf_tuple_element(shape, i), tf_tuple_element(strides, i));
}

static void append_axis(tf_context *context, const tf_view *view, unsigned axis, tf_affine *map) {
  if (view->strides && view->strides[axis]) {
    append(context, map, tf_type_extent(view->type, axis), view->strides[axis]);
    return;
  }
  const tf_tuple *shape = tf_layout_shape(view->address_layout), *strides = tf_layout_strides(view->address_layout);
  if (tf_tuple_is_leaf(shape))
    append_mode(context, map, shape, strides);
  else
    append_mode(context, map, tf_tuple_element(shape, axis), tf_tuple_element(strides, axis));
}

/* The address is no function of the coordinates: the ownership's own factors, slowest first, are the axes. */
static void append_factors(tf_context *context, const tf_view *view, tf_affine *map) {
  const tf_ownership *ownership = view->ownership;
  bool used[TF_MAX_FACTORS] = {false};
  const tf_dim *above = tf_type_numel(context, view->type);
  for (unsigned n = 0; n < ownership->factor_count; n++)
    for (unsigned i = 0; i < ownership->factor_count; i++) {
      const tf_factor *factor = &ownership->factors[i];
      if (used[i] || product(context, factor->step, factor->extent) != above) continue;
      used[i] = true;
      append(context, map, factor->extent, view->digit_strides[i]);
      above = factor->step;
      break;
    }
}

static bool has_axes(const tf_view *view) {
  for (unsigned axis = 0; axis < tf_type_rank(view->type); axis++)
    if (view->strides && view->strides[axis]) return true;
  return view->address_layout != NULL;
}

void tf_affine_of_view(tf_context *context, const tf_view *view, unsigned rank, const tf_dim *const *shape,
                       tf_affine *out) {
  out->rank = 0;
  unsigned own = tf_type_rank(view->type);
  const tf_dim *count = tf_dim_int(context, 1);
  for (unsigned axis = 0; axis < rank; axis++)
    count = product(context, count, shape[axis]);
  bool same_count = tf_type_numel(context, view->type) == count;
  if (!has_axes(view)) {
    append_factors(context, view, out);
  } else if (same_count) {
    for (unsigned axis = 0; axis < own; axis++)
      append_axis(context, view, axis, out);
  } else {
    for (unsigned axis = 0; axis < rank; axis++) {
      bool missing = axis + own < rank;
      unsigned mine = axis + own - rank;
      if (missing || (is_static(tf_type_extent(view->type, mine), 1) && !is_static(shape[axis], 1)))
        append(context, out, shape[axis], tf_dim_int(context, 0));
      else
        append_axis(context, view, mine, out);
    }
  }
  finish(context, out);
}

void tf_affine_make(tf_context *context, unsigned rank, const tf_dim *const *extents, const tf_dim *const *strides,
                    tf_affine *out) {
  const tf_dim *unit[TF_MAX_AFFINE], *below = tf_dim_int(context, 1);
  for (unsigned i = rank; i-- > 0; below = product(context, below, extents[i]))
    unit[i] = below;
  out->rank = 0;
  for (unsigned i = 0; i < rank; i++)
    append(context, out, extents[i], strides ? strides[i] : unit[i]);
  finish(context, out);
}

void tf_affine_of_axis(tf_context *context, unsigned rank, const tf_dim *const *shape, unsigned axis, tf_affine *out) {
  out->rank = 0;
  for (unsigned i = 0; i < rank; i++)
    append(context, out, shape[i], tf_dim_int(context, i == axis));
  finish(context, out);
}

/* ---- Digits ---- */
/* a <= b for all values of the DimVars, as far as ranges tell. */
static bool at_most(tf_context *context, const tf_dim *a, const tf_dim *b) {
  const tf_dim *gap = a && b ? tf_dim_binary(context, TF_DIM_SUB, b, a) : NULL;
  int64_t min = -1, max;
  if (gap) tf_dim_range(gap, &min, &max);
  return min >= 0;
}

/* (extent - 1) * step, the largest contribution. */
static const tf_dim *reach(tf_context *context, const tf_dim *extent, const tf_dim *step) {
  return product(context, tf_dim_binary(context, TF_DIM_SUB, extent, tf_dim_int(context, 1)), step);
}

static const tf_dim *minus_one(tf_context *context, const tf_dim *dim) {
  return tf_dim_binary(context, TF_DIM_SUB, dim, tf_dim_int(context, 1));
}

bool tf_affine_step(tf_context *context, const tf_affine *map, const tf_dim *extent, const tf_dim *step,
                    const tf_dim **out) {
  for (unsigned i = 0; i < map->rank; i++) {
    const tf_dim *unit = tf_dim_exact_quotient(context, step, map->below[i]);
    if (!unit) continue;
    const tf_dim *above = i > 0 ? map->below[i - 1] : NULL;
    if (above && !at_most(context, reach(context, extent, step), minus_one(context, above))) return false;
    *out = product(context, unit, map->strides[i]);
    return *out != NULL;
  }
  *out = tf_dim_int(context, 0);
  return true;
}

/* The largest digit * step modulo the boundary; null if unknown. */
static const tf_dim *residue(tf_context *context, const tf_dim *extent, const tf_dim *step, const tf_dim *boundary) {
  if (tf_dim_exact_quotient(context, step, boundary)) return tf_dim_int(context, 0);
  const tf_dim *largest = reach(context, extent, step);
  if (at_most(context, largest, minus_one(context, boundary))) return largest;
  int64_t e, s, p, max = 0;
  if (!tf_dim_is_static(extent, &e) || !tf_dim_is_static(step, &s) || !tf_dim_is_static(boundary, &p)) return NULL;
  if (e > 4096 || p <= 0) return NULL;
  for (int64_t digit = 0; digit < e; digit++)
    if (digit * s % p > max) max = digit * s % p;
  return tf_dim_int(context, max);
}

bool tf_affine_separates(tf_context *context, const tf_affine *map, unsigned count, const tf_dim *const *extents,
                         const tf_dim *const *steps) {
  for (unsigned i = 0; i + 1 < map->rank; i++) {
    const tf_dim *sum = tf_dim_int(context, 0);
    for (unsigned digit = 0; digit < count && sum; digit++) {
      const tf_dim *part = residue(context, extents[digit], steps[digit], map->below[i]);
      sum = part ? tf_dim_binary(context, TF_DIM_ADD, sum, part) : NULL;
    }
    if (!sum || !at_most(context, sum, minus_one(context, map->below[i]))) return false;
  }
  return true;
}

const tf_dim *tf_affine_at(tf_context *context, const tf_affine *map, int64_t index) {
  const tf_dim *sum = tf_dim_int(context, 0);
  for (unsigned i = map->rank; i-- > 0;) {
    int64_t extent = 0, digit = index;
    if (i > 0 && (!tf_dim_is_static(map->extents[i], &extent) || extent <= 0)) return NULL;
    if (i > 0) {
      digit = index % extent;
      index /= extent;
    }
    sum = tf_dim_binary(context, TF_DIM_ADD, sum, product(context, tf_dim_int(context, digit), map->strides[i]));
  }
  return sum;
}

static LLVMValueRef dim_as(tf_lowering *lowering, const tf_dim *dim, LLVMTypeRef type) {
  return LLVMGetIntTypeWidth(type) == 32 ? tf_lower_dim32(lowering, dim) : tf_lower_dim(lowering, dim);
}

LLVMValueRef tf_affine_emit(tf_lowering *lowering, const tf_affine *map, LLVMValueRef index) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef type = LLVMTypeOf(index);
  LLVMValueRef sum = LLVMConstNull(type);
  for (unsigned i = map->rank; i-- > 0;) {
    LLVMValueRef digit = index;
    if (i > 0) {
      LLVMValueRef extent = dim_as(lowering, map->extents[i], type);
      digit = LLVMBuildURem(b, index, extent, "");
      index = LLVMBuildUDiv(b, index, extent, "");
    }
    sum = LLVMBuildAdd(b, sum, LLVMBuildMul(b, digit, dim_as(lowering, map->strides[i], type), ""), "");
  }
  return sum;
}
