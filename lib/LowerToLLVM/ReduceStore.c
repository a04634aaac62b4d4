/* Results to their destination; see Reduce.h.
 *
 *   memory      one thread of each group stores; the address follows the source's kept digits
 *   registers   every thread keeps what it holds of the destination: which partial that is must not depend on the thread */
#include "LowerToLLVM/Reduce.h"

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

/* The destination's axis that stands for a source axis; -1: it was dropped. */
static int destination_axis(const tf_reduction *r, const tf_tensor *destination, unsigned axis) {
  if (tf_type_rank(destination->type) == r->rank) return (int)axis;
  int kept = 0;
  for (unsigned i = 0; i < axis; i++)
    kept += !r->reduced[i];
  return r->reduced[axis] ? -1 : kept;
}

/* ---- Memory ---- */
static bool address_map(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination, tf_affine *map) {
  const tf_dim *strides[TF_MAX_RANK], *zero = tf_dim_int(lowering->context, 0);
  for (unsigned axis = 0; axis < r->rank; axis++) {
    int at = destination_axis(r, destination, axis);
    strides[axis] = zero;
    if (r->reduced[axis] || at < 0) continue;
    if (!destination->view->strides || !destination->view->strides[at]) return false;
    strides[axis] = destination->view->strides[at];
  }
  tf_affine_make(lowering->context, r->rank, r->shape, strides, map);
  return true;
}

static void make_clips(tf_lowering *lowering, const tf_reduction *r, tf_access *access) {
  const tf_view *view = access->tensor->view;
  access->clips = TF_ARENA_ARRAY(lowering->arena, tf_projection, view->clip_count);
  for (unsigned i = 0; i < view->clip_count; i++) {
    tf_affine map = {0};
    for (unsigned axis = 0; axis < r->rank; axis++)
      if (view->clips[i].axis >= 0 && destination_axis(r, access->tensor, axis) == view->clips[i].axis &&
          !r->reduced[axis])
        tf_affine_of_axis(lowering->context, r->rank, r->shape, axis, &map);
    tf_projection_make(lowering, access->driver, &map, 64, false, &access->clips[i]);
  }
}

/* An access of the destination from the source's positions. */
static bool access_of(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                      const tf_tensor *destination, tf_access *out) {
  tf_affine map;
  if (!address_map(lowering, r, destination, &map)) return false;
  *out = (tf_access){.tensor = destination, .driver = &partials->driver};
  out->start = tf_tensor_start(lowering, destination, &out->divisor);
  out->projection = TF_ARENA_NEW(lowering->arena, tf_projection);
  tf_projection_make(lowering, &partials->driver, &map, destination->wide ? 64 : 32,
                     destination->storage == TF_STORAGE_SMEM, out->projection);
  make_clips(lowering, r, out);
  return true;
}

static LLVMValueRef is_first(tf_lowering *lowering, const tf_group *group) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef first = NULL;
  for (unsigned i = 0; i < group->lane_count + group->warp_count; i++) {
    const tf_group_digit *digit = i < group->lane_count ? &group->lanes[i] : &group->warps[i - group->lane_count];
    LLVMValueRef zero = LLVMBuildICmp(b, LLVMIntEQ, digit->value, tf_llvm_i32(lowering, 0), "");
    first = first ? LLVMBuildAnd(b, first, zero, "") : zero;
  }
  return first;
}

static int64_t first_position(const tf_partials *partials, int64_t result) {
  int64_t position = 0;
  while (partials->slot[position] != result)
    position++;
  return position;
}

static bool store_memory(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                         const tf_tensor *destination) {
  tf_access access;
  tf_guard guard;
  if (!access_of(lowering, r, partials, destination, &access)) return false;
  if (!tf_lower_guard_begin(lowering, is_first(lowering, &partials->group), &guard)) return true;
  for (int64_t j = 0; j < partials->count; j++) {
    LLVMValueRef value = tf_reduce_finish(lowering, r, partials->values[j], destination->dtype);
    tf_access_store(lowering, &access, first_position(partials, j), 0, 1, value);
  }
  tf_lower_guard_end(lowering, &guard);
  return true;
}

/* ---- Registers ---- */
/* What a thread's digits add to a result's index; CTAs' are alike on both sides. */
static bool thread_share(const tf_driver *driver, const tf_dim *const *steps, int64_t thread, int64_t *out) {
  *out = 0;
  for (unsigned i = 0; i < driver->digit_count; i++) {
    const tf_digit *digit = &driver->digits[i];
    int64_t value, step = static_of(steps[i], -1);
    if (digit->is_local || digit->is_cta) continue;
    if (step < 0 || !tf_digit_of_thread(digit, thread, &value)) return false;
    *out += value * step;
  }
  return true;
}

/* Static index of each of the destination's own positions. */
static bool destination_keys(tf_lowering *lowering, const tf_driver *driver, int64_t *keys) {
  tf_affine identity;
  tf_projection projection;
  tf_affine_make(lowering->context, driver->rank, driver->shape, NULL, &identity);
  tf_projection_make(lowering, driver, &identity, 32, false, &projection);
  for (int64_t q = 0; q < driver->count; q++)
    if ((keys[q] = static_of(tf_projection_static(lowering, &projection, q), -1)) < 0) return false;
  return true;
}

static int64_t find(const tf_partials *partials, int64_t key) {
  for (int64_t j = 0; j < partials->count; j++)
    if (partials->keys[j] == key) return j;
  return -1;
}

/* Which partial each position of the destination is, the same for all active threads. */
static bool match(tf_lowering *lowering, const tf_partials *partials, const tf_driver *driver, int64_t *which) {
  const tf_dim *steps[TF_MAX_FACTORS];
  int64_t *keys = TF_ARENA_ARRAY(lowering->arena, int64_t, driver->count);
  bool first = true;
  if (!destination_keys(lowering, driver, keys)) return false;
  for (unsigned i = 0; i < driver->digit_count; i++)
    steps[i] = driver->digits[i].step;
  const tf_thread_set *active = &lowering->region.active;
  bool alone = !lowering->region.geometry->has_threads;
  for (int64_t t = alone ? 0 : tf_threads_next(active, 0); t >= 0; t = alone ? -1 : tf_threads_next(active, t + 1)) {
    int64_t have, want;
    if (!thread_share(&partials->driver, partials->results.steps, t, &have)) return false;
    if (!thread_share(driver, steps, t, &want)) return false;
    for (int64_t q = 0; q < driver->count; q++) {
      int64_t j = find(partials, keys[q] + want - have);
      if (j < 0 || (!first && which[q] != j)) return false;
      which[q] = j;
    }
    first = false;
  }
  return !first;
}

static bool store_registers(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                            const tf_tensor *destination) {
  tf_driver driver;
  tf_access access;
  if (!tf_driver_of(lowering, destination, &driver) || driver.count < 0) return false;
  int64_t *which = TF_ARENA_ARRAY(lowering->arena, int64_t, driver.count);
  if (!match(lowering, partials, &driver, which)) return false;
  if (!tf_access_of(lowering, destination, &driver, &access)) return false;
  for (int64_t q = 0; q < driver.count; q++) {
    LLVMValueRef value = tf_reduce_finish(lowering, r, partials->values[which[q]], destination->dtype);
    tf_access_store(lowering, &access, q, 0, 1, value);
  }
  return true;
}

bool tf_reduce_can_store(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                         const tf_tensor *destination) {
  tf_affine map;
  tf_driver driver;
  if (!tf_tensor_is_register(destination)) return address_map(lowering, r, destination, &map);
  if (!tf_driver_of(lowering, destination, &driver) || driver.count < 0) return false;
  return match(lowering, partials, &driver, TF_ARENA_ARRAY(lowering->arena, int64_t, driver.count));
}

bool tf_reduce_store(tf_lowering *lowering, const tf_reduction *r, const tf_partials *partials,
                     const tf_tensor *destination) {
  return tf_tensor_is_register(destination) ? store_registers(lowering, r, partials, destination)
                                            : store_memory(lowering, r, partials, destination);
}
