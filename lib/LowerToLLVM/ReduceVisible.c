/* Sources that every thread sees whole: each thread computes the results that it writes.
 *
 *   for each of its results          digits of the destination's driver, mapped onto the source's kept axes
 *     for the reduced axes           digits of their own: the innermost contiguous ones in vectors and trees, the rest loops
 *
 * Loops are opened where the counts are symbolic or long and no register has to be chosen. */
#include "LowerToLLVM/Reduce.h"

#define MAX_UNROLLED 64

typedef struct visible {
  const tf_reduction *r;
  tf_driver results; /* the destination's: which results this thread writes */
  tf_driver both;    /* over the source: the same digits, then the reduced axes' */
  unsigned kept;     /* local digits of `both` that are the results' */
  tf_access load, store;
  unsigned inner, width;
  tf_loop loops[TF_MAX_FACTORS];
  unsigned loop_count;
} visible;

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

/* C order of the destination to C order of the source at reduced coordinates 0. */
static void source_map(tf_context *context, const tf_reduction *r, const tf_driver *results, tf_affine *map) {
  const tf_dim *units[TF_MAX_RANK], *strides[TF_MAX_RANK], *unit = tf_dim_int(context, 1);
  for (unsigned axis = r->rank; axis-- > 0; unit = tf_dim_binary(context, TF_DIM_MUL, unit, r->shape[axis]))
    units[axis] = unit;
  bool same_rank = results->rank == r->rank;
  for (unsigned axis = 0, at = 0; axis < r->rank; axis++) {
    if (same_rank)
      strides[axis] = r->reduced[axis] ? tf_dim_int(context, 0) : units[axis];
    else if (!r->reduced[axis])
      strides[at++] = units[axis];
  }
  tf_affine_make(context, results->rank, results->shape, strides, map);
}

static bool add_kept(tf_lowering *lowering, visible *v, const tf_affine *map) {
  for (unsigned i = 0; i < v->results.digit_count; i++) {
    tf_digit digit = v->results.digits[i];
    if (!tf_affine_step(lowering->context, map, digit.extent, digit.step, &digit.step)) return false;
    v->both.digits[v->both.digit_count++] = digit;
  }
  for (unsigned i = 0; i < v->results.local_count; i++)
    v->both.local[v->both.local_count++] = v->results.local[i];
  v->kept = v->both.local_count;
  return true;
}

static bool add_reduced(tf_context *context, visible *v) {
  const tf_reduction *r = v->r;
  const tf_dim *unit = tf_dim_int(context, 1);
  for (unsigned axis = r->rank; axis-- > 0;) {
    if (r->reduced[axis]) {
      if (v->both.digit_count == TF_MAX_FACTORS) return false;
      v->both.local[v->both.local_count++] = v->both.digit_count;
      v->both.digits[v->both.digit_count++] = (tf_digit){.extent = r->shape[axis], .step = unit, .is_local = true};
    }
    unit = tf_dim_binary(context, TF_DIM_MUL, unit, r->shape[axis]);
  }
  return true;
}

static bool make_drivers(tf_lowering *lowering, visible *v, const tf_tensor *destination) {
  tf_affine map;
  if (!tf_driver_of(lowering, destination, &v->results)) return false;
  if (!tf_driver_split_axes(lowering, &v->results)) return false;
  source_map(lowering->context, v->r, &v->results, &map);
  v->both = (tf_driver){.rank = v->r->rank, .type = v->r->source.type, .ownership = v->r->source.view->ownership};
  for (unsigned axis = 0; axis < v->r->rank; axis++)
    v->both.shape[axis] = v->r->shape[axis];
  if (!add_kept(lowering, v, &map) || !add_reduced(lowering->context, v)) return false;
  tf_driver_number(&v->both);
  return true;
}

/* The access of the source. Its registers are chosen by position, in the order of its own local numbers: every position's
 * logical index is that number's. */
static bool access_source(tf_lowering *lowering, visible *v) {
  const tf_tensor *source = &v->r->source;
  if (!tf_tensor_is_register(source)) return tf_access_of(lowering, source, &v->both, &v->load);
  tf_affine identity;
  tf_projection projection;
  int64_t count = 0, own_count = tf_ownership_local_numel(source->view->ownership);
  const int32_t *numbers = tf_tensor_numbers(lowering, source, &count);
  if (v->both.count < 0 || own_count < 0) return false;
  int64_t *logical = TF_ARENA_ARRAY(lowering->arena, int64_t, own_count);
  int32_t *registers = TF_ARENA_ARRAY(lowering->arena, int32_t, v->both.count), *by_index;
  by_index = TF_ARENA_ARRAY(lowering->arena, int32_t, own_count);
  tf_ownership_enumerate(source->view->ownership, NULL, logical);
  for (int64_t i = 0; i < own_count; i++)
    by_index[logical[i]] = numbers[i];
  tf_affine_make(lowering->context, v->both.rank, v->both.shape, NULL, &identity);
  tf_projection_make(lowering, &v->both, &identity, 32, true, &projection);
  if (projection.base) /* it depends on the thread */
    return tf_access_indexed(lowering, source, &v->both, &v->load) ||
           tf_access_by_index(lowering, source, &v->both, &v->load);
  for (int64_t p = 0; p < v->both.count; p++)
    registers[p] = by_index[static_of(tf_projection_static(lowering, &projection, p), 0)];
  v->load = (tf_access){.tensor = source, .driver = &v->both, .registers = registers};
  v->load.start = tf_tensor_start(lowering, source, &v->load.divisor);
  return true;
}

/* ---- Loops ---- */
static void open_loop(tf_lowering *lowering, visible *v, unsigned which) {
  tf_digit *digit = &v->both.digits[v->both.local[which]];
  tf_lower_loop_begin(lowering, tf_lower_dim32(lowering, digit->extent), &v->loops[v->loop_count]);
  digit->value = v->loops[v->loop_count++].index;
  if (which < v->kept) {
    v->results.digits[v->results.local[which]].value = digit->value;
    tf_driver_number(&v->results);
  }
  tf_driver_number(&v->both);
}

static bool is_long(int64_t count) {
  return count < 0 || count > MAX_UNROLLED;
}

static int64_t kept_count(const visible *v) {
  return v->results.count;
}

/* Positions of the reduced digits that no loop walks. */
static int64_t reduced_count(const visible *v) {
  int64_t count = 1;
  for (unsigned i = v->kept; i < v->both.local_count; i++) {
    const tf_digit *digit = &v->both.digits[v->both.local[i]];
    int64_t extent = digit->value ? 1 : static_of(digit->extent, -1);
    if (extent < 0) return -1;
    count *= extent;
  }
  return count;
}

static bool uses_registers(const visible *v) {
  return v->load.registers || v->store.registers;
}

/* ---- One result ---- */
/* The widest chunk along a reduced digit; it becomes the digit's own lower part, so that a loop can walk the rest. */
static void choose_chunk(tf_lowering *lowering, visible *v) {
  v->width = 1;
  for (unsigned i = v->kept; i < v->both.local_count; i++) {
    int64_t divisor = tf_dim_divisor(v->both.digits[v->both.local[i]].extent);
    unsigned width = 16;
    while (width > 1 && divisor % width != 0)
      width /= 2;
    width = tf_access_width(lowering, &v->load, i, width);
    if (width <= v->width) continue;
    v->width = width;
    v->inner = i;
  }
}

/* The chunk's digits become a digit of their own, so that a loop can walk the rest. */
static void split_chunk(tf_lowering *lowering, visible *v) {
  if (v->width == 1) return;
  tf_driver_cut(lowering, &v->both, v->inner, v->width);
  tf_access_of(lowering, v->load.tensor, &v->both, &v->load);
}

/* All unrolled positions of one result, `kept` its share of the position. */
static LLVMValueRef sum_unrolled(tf_lowering *lowering, visible *v, int64_t kept) {
  int64_t results = v->results.count, count = reduced_count(v), chunk = v->width, n = 0;
  int64_t stride = v->width > 1 ? v->both.digits[v->both.local[v->inner]].stride / results : 1;
  LLVMValueRef *values = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, count);
  for (int64_t c = 0; c < count / chunk; c++) {
    int64_t p = c / stride * stride * chunk + c % stride;
    LLVMValueRef vector = tf_access_load(lowering, &v->load, kept + p * results, v->inner, v->width);
    for (unsigned i = 0; i < v->width; i++)
      values[n++] = tf_reduce_element(lowering, v->r, tf_llvm_extract(lowering, vector, i));
  }
  return tf_reduce_tree(lowering, v->r, n, values);
}

static void store_result(tf_lowering *lowering, visible *v, int64_t kept, LLVMValueRef value) {
  LLVMValueRef result = tf_reduce_finish(lowering, v->r, value, v->store.tensor->dtype);
  tf_access_store(lowering, &v->store, kept, 0, 1, result);
}

/* A running value per unrolled result lives in an alloca that SROA makes a phi. */
static void sum_in_loops(tf_lowering *lowering, visible *v) {
  LLVMTypeRef type = tf_llvm_memory_type(lowering, v->r->accumulator);
  int64_t results = v->results.count;
  unsigned outer_loops = v->loop_count;
  LLVMValueRef *running = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, results);
  for (int64_t i = 0; i < results; i++) {
    running[i] = LLVMBuildAlloca(lowering->entry_builder, type, "");
    LLVMBuildStore(lowering->builder, tf_reduce_identity(lowering, v->r), running[i]);
  }
  for (unsigned i = v->both.local_count; i-- > v->kept && is_long(reduced_count(v));)
    if (i != v->inner || v->width == 1) open_loop(lowering, v, i);
  for (int64_t i = 0; i < results; i++) {
    LLVMValueRef value = sum_unrolled(lowering, v, i);
    LLVMValueRef before = LLVMBuildLoad2(lowering->builder, type, running[i], "");
    LLVMBuildStore(lowering->builder, tf_reduce_combine(lowering, v->r, before, value), running[i]);
  }
  while (v->loop_count > outer_loops)
    tf_lower_loop_end(lowering, &v->loops[--v->loop_count]);
  for (int64_t i = 0; i < results; i++)
    store_result(lowering, v, i, LLVMBuildLoad2(lowering->builder, type, running[i], ""));
}

static void emit(tf_lowering *lowering, visible *v) {
  if (is_long(reduced_count(v)) && !v->load.registers) {
    sum_in_loops(lowering, v);
    return;
  }
  for (int64_t i = 0; i < v->results.count; i++)
    store_result(lowering, v, i, sum_unrolled(lowering, v, i));
}

bool tf_reduce_visible(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination) {
  visible *v = TF_ARENA_NEW(lowering->arena, visible);
  v->r = r;
  if (!make_drivers(lowering, v, destination) || !access_source(lowering, v)) return false;
  if (!tf_access_of(lowering, destination, &v->results, &v->store)) return false;
  if (uses_registers(v) && v->results.count < 0) return false;
  choose_chunk(lowering, v);
  if (!v->load.registers) split_chunk(lowering, v);
  for (unsigned i = v->kept; i-- > 0 && is_long(kept_count(v)) && !uses_registers(v);)
    open_loop(lowering, v, i);
  emit(lowering, v);
  while (v->loop_count > 0)
    tf_lower_loop_end(lowering, &v->loops[--v->loop_count]);
  return true;
}
