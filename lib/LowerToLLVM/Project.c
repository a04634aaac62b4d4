/* See Project.h. */
#include "LowerToLLVM/Project.h"

#include "IR/DimImpl.h"
#include "LowerToLLVM/IntMath.h"

int64_t tf_driver_local_digit(const tf_driver *driver, int64_t position, unsigned which) {
  const tf_digit *digit = &driver->digits[driver->local[which]];
  int64_t extent = 1;
  if (digit->value || !tf_dim_is_static(digit->extent, &extent)) return 0;
  return position / digit->stride % extent;
}

static bool is_static(const tf_dim *dim) {
  int64_t ignored;
  return tf_dim_is_static(dim, &ignored);
}

static LLVMValueRef dim_as(tf_lowering *lowering, const tf_dim *dim, unsigned bits) {
  return bits == 32 ? tf_lower_dim32(lowering, dim) : tf_lower_dim(lowering, dim);
}

static LLVMValueRef add(tf_lowering *lowering, LLVMValueRef sum, LLVMValueRef part) {
  return sum ? LLVMBuildAdd(lowering->builder, sum, part, "") : part;
}

static LLVMValueRef digit_value(tf_lowering *lowering, const tf_digit *digit, unsigned bits) {
  return tf_emit_resize(lowering, digit->value, bits, tf_facts_range(0, INT32_MAX));
}

/* A thread's digit times its step, or f(digit * step) where it crosses an axis. */
static LLVMValueRef thread_share(tf_lowering *lowering, const tf_projection *projection, const tf_digit *digit,
                                 const tf_dim *step) {
  LLVMValueRef value = digit_value(lowering, digit, projection->bits);
  LLVMValueRef factor = dim_as(lowering, step ? step : digit->step, projection->bits);
  LLVMValueRef product = LLVMBuildMul(lowering->builder, value, factor, "");
  return step ? product : tf_affine_emit(lowering, &projection->map, product);
}

/* What divides f of every multiple of the step. */
static int64_t crossing_divisor(const tf_projection *projection, const tf_dim *step) {
  int64_t divisor = tf_dim_divisor(step), stride_divisor = 0;
  for (unsigned i = 0; i < projection->map.rank; i++)
    stride_divisor = tf_int_gcd(stride_divisor, tf_dim_divisor(projection->map.strides[i]));
  unsigned last = projection->map.rank - 1;
  int64_t inner = tf_int_gcd(divisor, tf_dim_divisor(projection->map.extents[last]));
  int64_t rest = 0;
  for (unsigned i = 0; i < last; i++)
    rest = tf_int_gcd(rest, tf_dim_divisor(projection->map.strides[i]));
  int64_t fine = tf_int_gcd(rest, inner * tf_dim_divisor(projection->map.strides[last]));
  return fine > stride_divisor ? fine : stride_divisor;
}

static void add_thread_digit(tf_lowering *lowering, tf_projection *projection, unsigned index) {
  const tf_digit *digit = &projection->driver->digits[index];
  int64_t divisor;
  if (!projection->separable) {
    divisor = tf_dim_divisor(digit->step);
    LLVMValueRef value = digit_value(lowering, digit, projection->bits);
    LLVMValueRef step = dim_as(lowering, digit->step, projection->bits);
    projection->base = add(lowering, projection->base, LLVMBuildMul(lowering->builder, value, step, ""));
  } else {
    const tf_dim *step = projection->steps[index];
    divisor = step ? tf_dim_divisor(step) : crossing_divisor(projection, digit->step);
    if (divisor != 0)
      projection->base = add(lowering, projection->base, thread_share(lowering, projection, digit, step));
  }
  projection->divisor = tf_int_gcd(projection->divisor, divisor);
}

void tf_projection_make(tf_lowering *lowering, const tf_driver *driver, const tf_affine *map, unsigned bits,
                        bool without_ctas, tf_projection *out) {
  tf_context *context = lowering->context;
  const tf_dim *extents[TF_MAX_FACTORS], *steps[TF_MAX_FACTORS];
  bool counts[TF_MAX_FACTORS];
  unsigned count = 0;
  *out = (tf_projection){.driver = driver, .map = *map, .bits = bits};
  for (unsigned i = 0; i < driver->digit_count; i++) {
    counts[i] = !(without_ctas && driver->digits[i].is_cta);
    if (!counts[i]) continue;
    extents[count] = driver->digits[i].extent;
    steps[count++] = driver->digits[i].step;
  }
  out->separable = tf_affine_separates(context, map, count, extents, steps);
  for (unsigned i = 0; i < driver->digit_count; i++) {
    const tf_digit *digit = &driver->digits[i];
    if (!counts[i])
      out->steps[i] = tf_dim_int(context, 0);
    else if (!tf_affine_step(context, map, digit->extent, digit->step, &out->steps[i]))
      out->steps[i] = NULL;
    if (!out->steps[i] && digit->is_local && (digit->value || !is_static(digit->step))) out->separable = false;
  }
  for (unsigned i = 0; i < driver->digit_count; i++)
    if (counts[i] && !driver->digits[i].is_local) add_thread_digit(lowering, out, i);
}

/* Logical index of the position's local digits. */
static int64_t local_index(const tf_driver *driver, int64_t position) {
  int64_t index = 0;
  for (unsigned i = 0; i < driver->local_count; i++) {
    int64_t step = 0;
    tf_dim_is_static(driver->digits[driver->local[i]].step, &step);
    index += tf_driver_local_digit(driver, position, i) * step;
  }
  return index;
}

const tf_dim *tf_projection_static(tf_lowering *lowering, const tf_projection *projection, int64_t position) {
  tf_context *context = lowering->context;
  const tf_driver *driver = projection->driver;
  if (!projection->separable) return NULL;
  const tf_dim *sum = tf_dim_int(context, 0);
  for (unsigned i = 0; i < driver->local_count && sum; i++) {
    unsigned index = driver->local[i];
    int64_t digit = tf_driver_local_digit(driver, position, i), step = 0;
    if (digit == 0) continue;
    const tf_dim *part;
    if (projection->steps[index])
      part = tf_dim_binary(context, TF_DIM_MUL, tf_dim_int(context, digit), projection->steps[index]);
    else
      part = tf_dim_is_static(driver->digits[index].step, &step) ? tf_affine_at(context, &projection->map, digit * step)
                                                                 : NULL;
    sum = part ? tf_dim_binary(context, TF_DIM_ADD, sum, part) : NULL;
  }
  return sum;
}

LLVMValueRef tf_projection_loops(tf_lowering *lowering, const tf_projection *projection) {
  const tf_driver *driver = projection->driver;
  LLVMValueRef sum = NULL;
  for (unsigned i = 0; i < driver->local_count; i++) {
    const tf_digit *digit = &driver->digits[driver->local[i]];
    const tf_dim *step = projection->separable ? projection->steps[driver->local[i]] : digit->step;
    if (!digit->value) continue;
    LLVMValueRef value = digit_value(lowering, digit, projection->bits);
    sum = add(lowering, sum, LLVMBuildMul(lowering->builder, value, dim_as(lowering, step, projection->bits), ""));
  }
  return sum;
}

LLVMValueRef tf_projection_emit(tf_lowering *lowering, const tf_projection *projection, int64_t position) {
  LLVMTypeRef type = tf_llvm_int(lowering, projection->bits);
  LLVMValueRef sum = projection->base, loops = tf_projection_loops(lowering, projection);
  if (loops) sum = add(lowering, sum, loops);
  const tf_dim *fixed = tf_projection_static(lowering, projection, position);
  if (fixed) {
    if (tf_dim_divisor(fixed) != 0 || !sum) sum = add(lowering, sum, dim_as(lowering, fixed, projection->bits));
    return sum;
  }
  LLVMValueRef local = LLVMConstInt(type, (unsigned long long)local_index(projection->driver, position), true);
  return tf_affine_emit(lowering, &projection->map, add(lowering, sum, local));
}

/* ---- Runs ---- */
static int64_t stride_divisor(const tf_projection *projection, unsigned index) {
  const tf_dim *step = projection->steps[index];
  return step ? tf_dim_divisor(step) : crossing_divisor(projection, projection->driver->digits[index].step);
}

/* Whether index x -> offset steps by 1 inside aligned runs of `width` and moves by multiples of it between them. */
static bool keeps_runs(const tf_projection *projection, int64_t width) {
  const tf_affine *map = &projection->map;
  int64_t unit;
  if (map->rank == 0) return false;
  unsigned last = map->rank - 1;
  if (!tf_dim_is_static(map->strides[last], &unit) || unit != 1) return false;
  if (last > 0 && tf_dim_divisor(map->extents[last]) % width != 0) return false;
  for (unsigned i = 0; i < last; i++)
    if (tf_dim_divisor(map->strides[i]) % width != 0) return false;
  return true;
}

static bool run_is_legal(const tf_projection *projection, unsigned inner, int64_t width) {
  const tf_driver *driver = projection->driver;
  int64_t unit;
  if (projection->divisor % width != 0) return false;
  if (!projection->separable && !keeps_runs(projection, width)) return false;
  for (unsigned i = 0; i < driver->local_count; i++) {
    unsigned index = driver->local[i];
    const tf_digit *digit = &driver->digits[index];
    if (i == inner) {
      const tf_dim *step = projection->separable ? projection->steps[index] : digit->step;
      if (!step || !tf_dim_is_static(step, &unit) || unit != 1) return false;
    } else if ((projection->separable ? stride_divisor(projection, index) : tf_dim_divisor(digit->step)) % width != 0) {
      return false;
    }
  }
  return true;
}

unsigned tf_projection_run(tf_lowering *lowering, const tf_projection *projection, unsigned inner, unsigned width) {
  (void)lowering;
  while (width > 1 && !run_is_legal(projection, inner, width))
    width /= 2;
  return width;
}
