/* Drivers: the elements of a tensor that the executing thread holds, as digits.
 *
 * Mesh digits are computed from this thread's coordinates; neighbouring local digits that continue each other are one. */
#include "LowerToLLVM/Access.h"

#include "IR/DimImpl.h"
#include "LowerToLLVM/IntMath.h"

/* digit = (coordinate / divisor) % extent, without the operations that the axis's extent makes redundant. */
static LLVMValueRef mesh_digit(tf_lowering *lowering, const tf_placement *placement, const tf_factor *factor) {
  LLVMBuilderRef b = lowering->builder;
  const tf_dim *all = placement->axes[factor->mesh_axis].extent;
  const tf_dim *covered =
      tf_dim_binary(lowering->context, TF_DIM_MUL, factor->extent, tf_dim_int(lowering->context, factor->divisor));
  LLVMValueRef value = tf_lower_placement_axis(lowering, placement, (unsigned)factor->mesh_axis);
  if (factor->divisor != 1) value = LLVMBuildUDiv(b, value, tf_llvm_i32(lowering, factor->divisor), "");
  if (all != covered) value = LLVMBuildURem(b, value, tf_lower_dim32(lowering, factor->extent), "");
  return value;
}

static void add_mesh_digit(tf_lowering *lowering, const tf_placement *placement, const tf_factor *factor,
                           tf_driver *out) {
  tf_level level = placement->levels[placement->axes[factor->mesh_axis].level].level;
  out->digits[out->digit_count++] = (tf_digit){.extent = factor->extent,
                                               .step = factor->step,
                                               .is_cta = level == TF_LEVEL_CTA,
                                               .value = mesh_digit(lowering, placement, factor),
                                               .placement = placement,
                                               .mesh_axis = (unsigned)factor->mesh_axis,
                                               .divisor = factor->divisor};
}

/* A digit that crosses axes has to be taken apart at compile time, which takes a static step. */
static bool may_join(const tf_digit *last, const tf_dim *extent) {
  int64_t ignored;
  return tf_dim_is_static(last->step, &ignored) || !tf_dim_is_static(last->extent, &ignored) ||
         !tf_dim_is_static(extent, &ignored);
}

/* Appends a local digit, or lengthens the last one. */
static void add_local_digit(tf_context *context, const tf_dim *extent, const tf_dim *step, tf_driver *out) {
  int64_t one;
  if (tf_dim_is_static(extent, &one) && one == 1) return;
  if (out->local_count > 0) {
    tf_digit *last = &out->digits[out->local[out->local_count - 1]];
    if (may_join(last, extent) && tf_dim_binary(context, TF_DIM_MUL, last->extent, last->step) == step) {
      last->extent = tf_dim_binary(context, TF_DIM_MUL, last->extent, extent);
      return;
    }
  }
  out->local[out->local_count++] = out->digit_count;
  out->digits[out->digit_count++] = (tf_digit){.extent = extent, .step = step, .is_local = true};
}

void tf_driver_number(tf_driver *driver) {
  driver->count = 1;
  for (unsigned i = 0; i < driver->local_count; i++) {
    tf_digit *digit = &driver->digits[driver->local[i]];
    int64_t extent;
    digit->stride = driver->count;
    if (digit->value) continue;
    if (!tf_dim_is_static(digit->extent, &extent) || __builtin_mul_overflow(driver->count, extent, &driver->count)) {
      driver->count = -1;
      return;
    }
  }
}

bool tf_driver_of(tf_lowering *lowering, const tf_tensor *tensor, tf_driver *out) {
  tf_context *context = lowering->context;
  const tf_ownership *ownership = tensor->view->ownership;
  const tf_placement *placement = NULL;
  if (!ownership || ownership->exact) return false; /* enumeration only */
  if (ownership->mesh && !(placement = tf_region_placement(&lowering->region, ownership->mesh, NULL))) return false;
  *out = (tf_driver){.type = tensor->type, .ownership = ownership, .rank = tf_type_rank(tensor->type)};
  for (unsigned axis = 0; axis < out->rank; axis++)
    out->shape[axis] = tf_type_extent(tensor->type, axis);
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (ownership->factors[i].mesh_axis >= 0) add_mesh_digit(lowering, placement, &ownership->factors[i], out);
  for (unsigned i = 0; i < ownership->local_count; i++) {
    const tf_factor *factor = &ownership->factors[ownership->local[i]];
    add_local_digit(context, factor->extent, factor->step, out);
  }
  tf_driver_number(out);
  return true;
}

/* ---- Digits of single axes ---- */
/* The innermost axis whose unit divides the step, its unit and its end (unit * extent). */
static bool axis_of_step(tf_context *context, const tf_driver *driver, const tf_dim *step, const tf_dim **end) {
  const tf_dim *unit = tf_dim_int(context, 1), *found = NULL;
  for (unsigned axis = driver->rank; axis-- > 0;) {
    const tf_dim *above = tf_dim_binary(context, TF_DIM_MUL, unit, driver->shape[axis]);
    if (above != unit && tf_dim_exact_quotient(context, step, unit)) found = above;
    unit = above;
  }
  *end = found;
  return found != NULL;
}

bool tf_driver_split_axes(tf_lowering *lowering, tf_driver *driver) {
  tf_context *context = lowering->context;
  tf_driver out = *driver;
  out.local_count = 0;
  out.digit_count = 0;
  for (unsigned i = 0; i < driver->digit_count; i++)
    if (!driver->digits[i].is_local) out.digits[out.digit_count++] = driver->digits[i];
  for (unsigned i = 0; i < driver->local_count; i++) {
    tf_digit rest = driver->digits[driver->local[i]];
    for (;;) {
      const tf_dim *end, *room, *more;
      if (out.digit_count == TF_MAX_FACTORS || !axis_of_step(context, driver, rest.step, &end)) return false;
      room = tf_dim_exact_quotient(context, end, rest.step);
      more = room ? tf_dim_exact_quotient(context, rest.extent, room) : NULL;
      tf_digit piece = rest;
      if (more) piece.extent = room;
      out.local[out.local_count++] = out.digit_count;
      out.digits[out.digit_count++] = piece;
      if (!more || more == tf_dim_int(context, 1)) break;
      rest.extent = more;
      rest.step = end;
    }
  }
  *driver = out;
  tf_driver_number(driver);
  return true;
}

void tf_driver_cut(tf_lowering *lowering, tf_driver *driver, unsigned which, unsigned width) {
  tf_context *context = lowering->context;
  tf_digit *digit = &driver->digits[driver->local[which]];
  const tf_dim *lower = tf_dim_int(context, width);
  if (digit->extent == lower || driver->digit_count == TF_MAX_FACTORS) return;
  tf_digit outer = *digit;
  outer.extent = tf_dim_binary(context, TF_DIM_FLOOR_DIV, digit->extent, lower);
  outer.step = tf_dim_binary(context, TF_DIM_MUL, digit->step, lower);
  digit->extent = lower;
  for (unsigned i = driver->local_count++; i > which + 1; i--)
    driver->local[i] = driver->local[i - 1];
  driver->local[which + 1] = driver->digit_count;
  driver->digits[driver->digit_count++] = outer;
  tf_driver_number(driver);
}

/* ---- Dealing out ---- */
void tf_driver_deal(tf_lowering *lowering, tf_driver *driver, int64_t chunk, int64_t threads, LLVMValueRef rank) {
  tf_context *context = lowering->context;
  const tf_dim *total = tf_dim_int(context, 1), *round = tf_dim_int(context, chunk * threads);
  for (unsigned axis = 0; axis < driver->rank; axis++)
    total = tf_dim_binary(context, TF_DIM_MUL, total, driver->shape[axis]);
  const tf_dim *rounds = tf_dim_binary(context, TF_DIM_CEIL_DIV, total, round);
  driver->ownership = NULL;
  driver->digit_count = driver->local_count = 0;
  driver->digits[driver->digit_count++] =
      (tf_digit){.extent = tf_dim_int(context, threads), .step = tf_dim_int(context, chunk), .value = rank};
  const tf_dim *extents[2] = {tf_dim_int(context, chunk), rounds}, *steps[2] = {tf_dim_int(context, 1), round};
  for (unsigned i = 0; i < 2; i++) {
    driver->local[driver->local_count++] = driver->digit_count;
    driver->digits[driver->digit_count++] = (tf_digit){.extent = extents[i], .step = steps[i], .is_local = true};
  }
  driver->limit = tf_dim_binary(context, TF_DIM_MUL, rounds, round) == total ? NULL : total;
  tf_driver_number(driver);
}
