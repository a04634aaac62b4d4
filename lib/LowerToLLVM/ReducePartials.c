/* What one thread makes of its own elements of a source that is dealt out: one partial result for each result that it has a share
 * in; see Reduce.h.
 *
 *   few elements, or registers     all written out, trees of 16
 *   many elements in memory        for (digits along which the results stay the same)
 *                                    running[j] = combine(running[j], tree of what is left) */
#include "LowerToLLVM/Reduce.h"

/* Values that are combined as one tree before they join the running value. */
#define TREE         16
/* Elements that are written out when they could be walked by loops, and those inside such loops. */
#define MAX_UNROLLED 4096
#define MAX_IN_LOOP  32

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

bool tf_partials_find(tf_lowering *lowering, tf_partials *out) {
  out->slot = TF_ARENA_ARRAY(lowering->arena, int32_t, out->driver.count);
  out->keys = TF_ARENA_ARRAY(lowering->arena, int64_t, out->driver.count);
  out->count = 0;
  for (int64_t p = 0; p < out->driver.count; p++) {
    int64_t key = static_of(tf_projection_static(lowering, &out->results, p), -1), j = 0;
    if (key < 0) return false;
    while (j < out->count && out->keys[j] != key)
      j++;
    if (j == out->count) out->keys[out->count++] = key;
    out->slot[p] = (int32_t)j;
  }
  return true;
}

typedef struct pending {
  LLVMValueRef values[TREE];
  int64_t count;
} pending;

static void flush(tf_lowering *lowering, const tf_reduction *r, pending *list, LLVMValueRef *value) {
  if (list->count == 0) return;
  LLVMValueRef tree = tf_reduce_tree(lowering, r, list->count, list->values);
  *value = *value ? tf_reduce_combine(lowering, r, *value, tree) : tree;
  list->count = 0;
}

static unsigned widest(tf_lowering *lowering, const tf_access *access, unsigned *inner) {
  unsigned best = 1;
  *inner = 0;
  for (unsigned i = 0; i < access->driver->local_count; i++) {
    int64_t extent = static_of(access->driver->digits[access->driver->local[i]].extent, 1);
    unsigned width = 16;
    while (extent % width != 0)
      width /= 2;
    width = tf_access_width(lowering, access, i, width);
    if (width > best) {
      best = width;
      *inner = i;
    }
  }
  return best;
}

/* Combines the elements of the driver's positions into values[j], which may hold something already. */
static void accumulate(tf_lowering *lowering, const tf_reduction *r, const tf_driver *driver, const int32_t *slot,
                       int64_t results, LLVMValueRef *values) {
  tf_access access;
  tf_access_of(lowering, &r->source, driver, &access);
  unsigned inner, width = widest(lowering, &access, &inner);
  int64_t stride = width > 1 ? driver->digits[driver->local[inner]].stride : 1;
  pending *lists = TF_ARENA_ARRAY(lowering->arena, pending, results);
  for (int64_t chunk = 0; chunk < driver->count / width; chunk++) {
    int64_t p = chunk / stride * stride * width + chunk % stride;
    LLVMValueRef vector = tf_access_load(lowering, &access, p, inner, width);
    for (unsigned i = 0; i < width; i++) {
      int32_t j = slot[p + i * stride];
      pending *list = &lists[j];
      list->values[list->count++] = tf_reduce_element(lowering, r, tf_llvm_extract(lowering, vector, i));
      if (list->count == TREE) flush(lowering, r, list, &values[j]);
    }
  }
  for (int64_t j = 0; j < results; j++)
    flush(lowering, r, &lists[j], &values[j]);
}

/* ---- Loops ---- */
bool tf_partials_is_long(const tf_partials *partials) {
  return partials->driver.count > MAX_UNROLLED;
}

/* Which result the positions of the shortened driver belong to. */
static void find_slots(tf_lowering *lowering, const tf_partials *partials, tf_partial_loops *out) {
  tf_projection results;
  tf_projection_make(lowering, &out->driver, &partials->results.map, 32, false, &results);
  out->slot = TF_ARENA_ARRAY(lowering->arena, int32_t, out->driver.count);
  for (int64_t p = 0; p < out->driver.count; p++) {
    int64_t key = static_of(tf_projection_static(lowering, &results, p), -1);
    while (out->slot[p] < partials->count - 1 && partials->keys[out->slot[p]] != key)
      out->slot[p]++;
  }
}

void tf_partials_open(tf_lowering *lowering, const tf_partials *partials, unsigned inner, unsigned width,
                      tf_partial_loops *out) {
  const tf_dim *zero = tf_dim_int(lowering->context, 0);
  *out = (tf_partial_loops){.driver = partials->driver};
  tf_driver *driver = &out->driver;
  tf_driver_cut(lowering, driver, inner, width);
  for (unsigned i = driver->local_count; i-- > 0 && driver->count > MAX_IN_LOOP;) {
    tf_digit *digit = &driver->digits[driver->local[i]];
    const tf_dim *step;
    if (i == inner || static_of(digit->extent, 1) == 1) continue;
    if (!tf_affine_step(lowering->context, &partials->results.map, digit->extent, digit->step, &step) || step != zero)
      continue;
    tf_lower_loop_begin(lowering, tf_lower_dim32(lowering, digit->extent), &out->loops[out->loop_count]);
    digit->value = out->loops[out->loop_count++].index;
    tf_driver_number(driver);
  }
  find_slots(lowering, partials, out);
}

void tf_partials_close(tf_lowering *lowering, tf_partial_loops *loops) {
  while (loops->loop_count > 0)
    tf_lower_loop_end(lowering, &loops->loops[--loops->loop_count]);
}

/* A running value lives in an alloca that SROA makes a phi. */
static void accumulate_in_loops(tf_lowering *lowering, const tf_reduction *r, tf_partials *out) {
  tf_access access;
  unsigned inner;
  LLVMTypeRef type = tf_llvm_memory_type(lowering, r->accumulator);
  LLVMValueRef *running = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, out->count);
  LLVMValueRef *values = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, out->count);
  tf_partial_loops *loops = TF_ARENA_NEW(lowering->arena, tf_partial_loops);
  tf_access_of(lowering, &r->source, &out->driver, &access);
  unsigned width = widest(lowering, &access, &inner);
  for (int64_t j = 0; j < out->count; j++) {
    running[j] = LLVMBuildAlloca(lowering->entry_builder, type, "");
    LLVMBuildStore(lowering->builder, tf_reduce_identity(lowering, r), running[j]);
  }
  tf_partials_open(lowering, out, inner, width, loops);
  for (int64_t j = 0; j < out->count; j++)
    values[j] = LLVMBuildLoad2(lowering->builder, type, running[j], "");
  accumulate(lowering, r, &loops->driver, loops->slot, out->count, values);
  for (int64_t j = 0; j < out->count; j++)
    LLVMBuildStore(lowering->builder, values[j], running[j]);
  tf_partials_close(lowering, loops);
  for (int64_t j = 0; j < out->count; j++)
    out->values[j] = LLVMBuildLoad2(lowering->builder, type, running[j], "");
}

void tf_partials_accumulate(tf_lowering *lowering, const tf_reduction *r, tf_partials *out) {
  out->values = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, out->count);
  if (tf_partials_is_long(out) && !tf_tensor_is_register(&r->source))
    accumulate_in_loops(lowering, r, out);
  else
    accumulate(lowering, r, &out->driver, out->slot, out->count, out->values);
}
