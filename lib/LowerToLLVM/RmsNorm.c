/* rms_norm: dst = src * rsqrt(mean of squares over the last axis + eps) * weight, in f32 (f64 for f64), rounded once.
 *
 * The mean is a reduction of squares; afterwards each thread scales the elements that it holds of the source. */
#include "LowerToLLVM/NumericImpl.h"
#include "LowerToLLVM/Reduce.h"

typedef struct norm {
  tf_reduction mean;
  tf_partials partials;
  LLVMValueRef *scales; /* per row */
  LLVMValueRef epsilon;
  tf_tensor destination, weight;
  tf_access source_access, destination_access, weight_access;
} norm;

static void make_scales(tf_lowering *lowering, norm *n, double eps) {
  tf_dtype dtype = n->mean.accumulator;
  n->scales = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, n->partials.count);
  LLVMValueRef epsilon = tf_llvm_float_constant(lowering, dtype, eps);
  for (int64_t j = 0; j < n->partials.count; j++) {
    LLVMValueRef mean = tf_reduce_finish(lowering, &n->mean, n->partials.values[j], dtype);
    LLVMValueRef sum = tf_compute_binary(lowering, TF_BINARY_ADD, dtype, mean, epsilon, 1);
    n->scales[j] = tf_compute_unary(lowering, TF_UNARY_RSQRT, dtype, sum, 1);
  }
}

static LLVMValueRef scaled(tf_lowering *lowering, const norm *n, LLVMValueRef x, LLVMValueRef weight,
                           LLVMValueRef scale) {
  tf_dtype dtype = n->mean.accumulator;
  x = tf_convert(lowering, x, n->mean.in, dtype, 1);
  weight = tf_convert(lowering, weight, n->weight.dtype, dtype, 1);
  LLVMValueRef value = tf_compute_binary(lowering, TF_BINARY_MUL, dtype, x, scale, 1);
  value = tf_compute_binary(lowering, TF_BINARY_MUL, dtype, value, weight, 1);
  return tf_convert(lowering, value, dtype, n->destination.dtype, 1);
}

static unsigned chunk_width(tf_lowering *lowering, const norm *n, const tf_driver *driver, unsigned *inner) {
  unsigned best = 1;
  *inner = 0;
  for (unsigned i = 0; i < driver->local_count; i++) {
    int64_t divisor = tf_dim_divisor(driver->digits[driver->local[i]].extent);
    unsigned limit = 16, width;
    while (divisor % limit != 0)
      limit /= 2;
    width = tf_access_width(lowering, &n->destination_access, i, limit);
    if (n->destination_access.registers) width = tf_access_width(lowering, &n->weight_access, i, limit);
    if (width <= best) continue;
    best = width;
    *inner = i;
  }
  return best;
}

static void scale_chunk(tf_lowering *lowering, const norm *n, const int32_t *slot, int64_t position, unsigned inner,
                        unsigned width) {
  const tf_driver *driver = n->source_access.driver;
  int64_t stride = width > 1 ? driver->digits[driver->local[inner]].stride : 1;
  LLVMValueRef x = tf_access_load(lowering, &n->source_access, position, inner, width);
  LLVMValueRef weight = tf_access_load(lowering, &n->weight_access, position, inner, width), out = NULL;
  for (unsigned i = 0; i < width; i++) {
    LLVMValueRef scale = n->scales[slot[position + i * stride]];
    LLVMValueRef value =
        scaled(lowering, n, tf_llvm_extract(lowering, x, i), tf_llvm_extract(lowering, weight, i), scale);
    out = tf_llvm_insert(lowering, n->destination.element, width, out, value, i);
  }
  tf_access_store(lowering, &n->destination_access, position, inner, width, out);
}

static bool reach(tf_lowering *lowering, norm *n, const tf_driver *driver) {
  return tf_access_of(lowering, &n->mean.source, driver, &n->source_access) &&
         tf_access_of(lowering, &n->destination, driver, &n->destination_access) &&
         tf_access_varying(lowering, &n->weight, driver, &n->weight_access);
}

static void scale(tf_lowering *lowering, const norm *n, const tf_driver *driver, const int32_t *slot) {
  unsigned inner, width = chunk_width(lowering, n, driver, &inner);
  int64_t stride = width > 1 ? driver->digits[driver->local[inner]].stride : 1;
  for (int64_t chunk = 0; chunk < driver->count / width; chunk++)
    scale_chunk(lowering, n, slot, chunk / stride * stride * width + chunk % stride, inner, width);
}

static bool has_registers(const norm *n) {
  return n->source_access.registers || n->destination_access.registers || n->weight_access.registers;
}

static bool lower(tf_lowering *lowering, norm *n, double eps) {
  tf_driver driver;
  if (!tf_driver_of(lowering, &n->mean.source, &driver) || driver.count < 0) return false;
  if (!tf_reduce_dealt(lowering, &n->mean, NULL, &n->partials) || !reach(lowering, n, &n->partials.driver))
    return false;
  make_scales(lowering, n, eps);
  if (!tf_partials_is_long(&n->partials) || has_registers(n)) {
    scale(lowering, n, &n->partials.driver, n->partials.slot);
    return true;
  }
  tf_partial_loops *loops = TF_ARENA_NEW(lowering->arena, tf_partial_loops);
  unsigned inner, width = chunk_width(lowering, n, &n->partials.driver, &inner);
  tf_partials_open(lowering, &n->partials, inner, width, loops);
  bool fine = reach(lowering, n, &loops->driver);
  if (fine) scale(lowering, n, &loops->driver, loops->slot);
  tf_partials_close(lowering, loops);
  return fine;
}

/* ---- Through a shared tile ---- */
static LLVMValueRef norm_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  const norm *n = user;
  LLVMValueRef out = NULL;
  for (unsigned i = 0; i < chunk->width; i++) {
    LLVMValueRef mean = tf_llvm_extract(lowering, chunk->sources[1], i);
    LLVMValueRef sum = tf_compute_binary(lowering, TF_BINARY_ADD, n->mean.accumulator, mean, n->epsilon, 1);
    LLVMValueRef scale = tf_compute_unary(lowering, TF_UNARY_RSQRT, n->mean.accumulator, sum, 1);
    LLVMValueRef value = scaled(lowering, n, tf_llvm_extract(lowering, chunk->sources[0], i),
                                tf_llvm_extract(lowering, chunk->sources[2], i), scale);
    out = tf_llvm_insert(lowering, n->destination.element, chunk->width, out, value, i);
  }
  return out;
}

static bool lower_staged(tf_lowering *lowering, norm *n, double eps) {
  tf_stage *stage = TF_ARENA_NEW(lowering->arena, tf_stage);
  if (!tf_stage_make(lowering, &n->mean, stage)) return false;
  tf_reduction from_tile = n->mean;
  from_tile.source = stage->tile;
  n->epsilon = tf_llvm_float_constant(lowering, n->mean.accumulator, eps);
  if (!tf_reduce_visible(lowering, &from_tile, &stage->own)) return false;
  tf_stage_wait(lowering, stage);
  tf_operand sources[3] = {{.dtype = n->mean.in, .tensor = stage->tile},
                           {.dtype = n->mean.accumulator, .tensor = stage->rows},
                           {.dtype = n->weight.dtype, .tensor = n->weight}};
  tf_lower_elements(lowering, &n->destination, 3, sources, norm_chunk, n);
  tf_stage_release(lowering, stage);
  return true;
}

void tf_lower_RMS_NORM(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *source = invocation->args[TF_ARG_RMS_NORM_src];
  norm *n = TF_ARENA_NEW(lowering->arena, norm);
  int64_t last = (int64_t)tf_type_rank(source->type) - 1;
  const tf_tuple *axes = tf_tuple_ints(lowering->context, 1, &last);
  n->mean = tf_reduction_of(lowering, source, axes, TF_REDUCE_MEAN);
  n->mean.squares = true;
  n->destination = tf_tensor_of(lowering, invocation->args[TF_ARG_RMS_NORM_dst]);
  n->weight = tf_tensor_of(lowering, invocation->args[TF_ARG_RMS_NORM_weight]);
  double eps = invocation->attrs[TF_ATTRIBUTE_RMS_NORM_eps].f;
  if (lower(lowering, n, eps) || lower_staged(lowering, n, eps)) return;
  tf_report(lowering->context, lowering->loc, LOWER_REDUCE);
  tf_lower_fail(lowering);
}
