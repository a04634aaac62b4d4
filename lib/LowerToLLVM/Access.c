/* Accesses: one operand seen from the driver; see Access.h.
 *
 * A chunk of positions becomes memory accesses like this:
 *
 *   not clipped      one vector access per run
 *   clipped          if (first and last inside) one vector access, else one guarded access per element;
 *                    one test is enough where the source's edge cannot fall inside a chunk */
#include "LowerToLLVM/Access.h"

#include "IR/DimImpl.h"
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Project.h"

static unsigned offset_bits(const tf_tensor *tensor) {
  return tensor->wide ? 64 : 32;
}

/* ---- Making ---- */
/* The coordinate on the value's clipped axis, as the driver walks it. */
static void clip_axis(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, int axis,
                      tf_affine *map) {
  unsigned own = tf_type_rank(tensor->type);
  int64_t extent;
  map->rank = 0;
  if (axis < 0 || (tf_dim_is_static(tf_type_extent(tensor->type, (unsigned)axis), &extent) && extent == 1)) return;
  bool aligned = driver->rank >= own;
  for (unsigned i = 0; i < own && aligned; i++) {
    const tf_dim *mine = tf_type_extent(tensor->type, i), *other = driver->shape[i + driver->rank - own];
    aligned = mine == other || (tf_dim_is_static(mine, &extent) && extent == 1);
  }
  if (aligned)
    tf_affine_of_axis(lowering->context, driver->rank, driver->shape, (unsigned)axis + driver->rank - own, map);
  else
    tf_affine_of_axis(lowering->context, own, tf_type_shape(tensor->type), (unsigned)axis, map);
}

/* A start that may be anything needs 64 bits, lest it wraps back into the source. From one of 32 bits, signed, a window of less
 * than 2^31 reaches below 2^32, and what lies before the source is beyond any extent of 31 bits when read as unsigned. */
static unsigned clip_bits(tf_lowering *lowering, const tf_driver *driver, const tf_view_clip *clip) {
  bool narrow = !clip->start || tf_facts_fit(tf_lower_facts(lowering, clip->start), 32);
  for (unsigned i = 0; i < driver->rank && narrow; i++)
    narrow = tf_facts_fit(tf_facts_of_dim(driver->shape[i]), 32);
  return narrow && tf_facts_fit(tf_facts_of_dim(clip->extent), 32) ? 32 : 64;
}

static void make_clips(tf_lowering *lowering, tf_access *access) {
  const tf_view *view = access->tensor->view;
  access->clips = TF_ARENA_ARRAY(lowering->arena, tf_projection, view->clip_count);
  for (unsigned i = 0; i < view->clip_count; i++) {
    tf_affine map;
    unsigned bits = clip_bits(lowering, access->driver, &view->clips[i]);
    clip_axis(lowering, access->tensor, access->driver, view->clips[i].axis, &map);
    tf_projection_make(lowering, access->driver, &map, bits, false, &access->clips[i]);
  }
}

static LLVMValueRef sum(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  if (!a || !b) return a ? a : b;
  return LLVMBuildAdd(lowering->builder, a, b, "");
}

static void make_memory(tf_lowering *lowering, tf_access *access) {
  const tf_tensor *tensor = access->tensor;
  tf_affine map;
  tf_affine_of_view(lowering->context, tensor->view, access->driver->rank, access->driver->shape, &map);
  access->projection = TF_ARENA_NEW(lowering->arena, tf_projection);
  bool shared = tensor->storage == TF_STORAGE_SMEM;
  tf_projection_make(lowering, access->driver, &map, offset_bits(tensor), shared, access->projection);
  if (access->projection->separable && !tensor->view->inner)
    access->pointer = tf_tensor_pointer(lowering, tensor, sum(lowering, access->start, access->projection->base), 0);
  if (tensor->view->clip_count > 0) make_clips(lowering, access);
}

bool tf_access_of(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out) {
  *out = (tf_access){.tensor = tensor, .driver = driver};
  if (tf_tensor_is_register(tensor)) {
    out->registers = tf_driver_registers(lowering, driver, tensor);
    if (!out->registers) return false;
  }
  out->start = tf_tensor_start(lowering, tensor, &out->divisor);
  if (!out->registers) make_memory(lowering, out);
  return true;
}

bool tf_access_indexed(tf_lowering *lowering, const tf_tensor *tensor, const tf_driver *driver, tf_access *out) {
  const tf_view *view = tensor->view;
  for (unsigned axis = 0; axis < tf_type_rank(tensor->type); axis++)
    if (!view->strides || !view->strides[axis]) return false;
  *out = (tf_access){.tensor = tensor, .driver = driver};
  out->start = tf_tensor_start(lowering, tensor, &out->divisor);
  make_memory(lowering, out);
  tf_report(lowering->context, lowering->loc, LOWER_VARYING);
  return true;
}

/* ---- Widths ---- */
unsigned tf_access_width(tf_lowering *lowering, const tf_access *access, unsigned inner, unsigned width) {
  unsigned bytes = tf_dtype_bytes(access->tensor->dtype);
  if (access->registers) return 1;
  while (width > 1 && (width * bytes > 16 || width * bytes > access->tensor->alignment || access->divisor % width != 0))
    width /= 2;
  if (access->tensor->view->inner) {
    unsigned bits, base, shift;
    tf_layout_swizzle_bits(access->tensor->view->inner, &bits, &base, &shift);
    while (width > 1 && width > 1u << base)
      width /= 2;
  }
  return tf_projection_run(lowering, access->projection, inner, width);
}

/* ---- Pointers ---- */
static LLVMValueRef register_pointer(tf_lowering *lowering, const tf_access *access, int64_t position) {
  const tf_tensor *tensor = access->tensor;
  if (!access->table) return tf_tensor_pointer(lowering, tensor, access->start, access->registers[position]);
  LLVMValueRef number = tf_varying_number(lowering, access, position);
  return tf_tensor_pointer(lowering, tensor, sum(lowering, access->start, number), 0);
}

LLVMValueRef tf_access_address(tf_lowering *lowering, const tf_access *access, int64_t position) {
  const tf_tensor *tensor = access->tensor;
  int64_t constant = 0;
  if (access->registers) return register_pointer(lowering, access, position);
  if (!access->projection->separable)
    return tf_tensor_pointer(
        lowering, tensor, sum(lowering, access->start, tf_projection_emit(lowering, access->projection, position)), 0);
  const tf_dim *fixed = tf_projection_static(lowering, access->projection, position);
  LLVMValueRef moving = tf_projection_loops(lowering, access->projection);
  if (!tf_dim_is_static(fixed, &constant)) {
    LLVMValueRef part = tensor->wide ? tf_lower_dim(lowering, fixed) : tf_lower_dim32(lowering, fixed);
    moving = sum(lowering, moving, part);
    constant = 0;
  }
  if (!access->pointer) {
    LLVMValueRef offset = sum(lowering, access->start, sum(lowering, access->projection->base, moving));
    return tf_tensor_pointer(lowering, tensor, offset, constant);
  }
  tf_tensor from_here = *tensor;
  from_here.pointer = access->pointer;
  return tf_tensor_pointer(lowering, &from_here, moving, constant);
}

/* ---- Broadcasting ---- */
static bool ignores(const tf_projection *projection, unsigned digit) {
  int64_t step = 0;
  return projection->separable && projection->steps[digit] && tf_dim_is_static(projection->steps[digit], &step) &&
         step == 0;
}

/* Whether the tensor is broadcast along a local digit. */
static bool is_broadcast(const tf_access *access, unsigned which) {
  const tf_driver *driver = access->driver;
  if (!access->projection || driver->limit || driver->seen) return false;
  bool same = ignores(access->projection, driver->local[which]);
  for (unsigned n = 0; n < access->tensor->view->clip_count; n++)
    same = same && ignores(&access->clips[n], driver->local[which]);
  return same;
}

int64_t tf_access_place(const tf_access *access, int64_t position) {
  const tf_driver *driver = access->driver;
  int64_t place = position;
  for (unsigned i = 0; i < driver->local_count; i++)
    if (is_broadcast(access, i))
      place -= tf_driver_local_digit(driver, position, i) * driver->digits[driver->local[i]].stride;
  return place;
}

double tf_access_share(const tf_access *access) {
  double share = 1;
  int64_t extent;
  for (unsigned i = 0; i < access->driver->local_count; i++)
    if (is_broadcast(access, i) && tf_dim_is_static(access->driver->digits[access->driver->local[i]].extent, &extent) &&
        extent > 0)
      share /= (double)extent;
  return share;
}

/* ---- Existence ---- */
static LLVMValueRef both(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  return a && b ? LLVMBuildAnd(lowering->builder, a, b, "") : a ? a : b;
}

/* The clipped axis's coordinate in the source, at a position. */
static LLVMValueRef clip_coordinate(tf_lowering *lowering, const tf_access *access, unsigned which, int64_t position) {
  const tf_view_clip *clip = &access->tensor->view->clips[which];
  LLVMValueRef at = tf_projection_emit(lowering, &access->clips[which], position);
  return clip->start ? sum(lowering, tf_lower_int(lowering, clip->start, access->clips[which].bits), at) : at;
}

static LLVMValueRef extent_of(tf_lowering *lowering, const tf_access *access, unsigned which) {
  const tf_dim *extent = access->tensor->view->clips[which].extent;
  return access->clips[which].bits == 64 ? tf_lower_dim(lowering, extent) : tf_lower_dim32(lowering, extent);
}

LLVMValueRef tf_access_inside(tf_lowering *lowering, const tf_access *access, int64_t position) {
  LLVMValueRef inside = tf_driver_exists(lowering, access->driver, position);
  for (unsigned i = 0; i < access->tensor->view->clip_count; i++) {
    LLVMValueRef at = clip_coordinate(lowering, access, i, position);
    inside =
        both(lowering, inside, LLVMBuildICmp(lowering->builder, LLVMIntULT, at, extent_of(lowering, access, i), ""));
  }
  return inside;
}

/* Whether a chunk of `width` positions from a multiple of width is wholly inside or wholly outside. */
static bool clip_is_coarse(tf_lowering *lowering, const tf_access *access, unsigned which, unsigned inner,
                           unsigned width) {
  const tf_view_clip *clip = &access->tensor->view->clips[which];
  const tf_projection *projection = &access->clips[which];
  if (ignores(projection, access->driver->local[inner])) return true;
  int64_t start = clip->start ? tf_lower_facts(lowering, clip->start).divisor : 0;
  return tf_dim_divisor(clip->extent) % width == 0 && start % width == 0 &&
         tf_projection_run(lowering, projection, inner, width) == width;
}

/* Whether a chunk whose first and last positions are inside is inside altogether: the coordinates move one way. */
bool tf_access_is_monotonic(const tf_access *access, unsigned inner) {
  for (unsigned i = 0; i < access->tensor->view->clip_count; i++)
    if (!access->clips[i].separable || !access->clips[i].steps[access->driver->local[inner]]) return false;
  return true;
}

bool tf_access_is_coarse(tf_lowering *lowering, const tf_access *access, unsigned inner, unsigned width) {
  for (unsigned i = 0; i < access->tensor->view->clip_count; i++)
    if (!clip_is_coarse(lowering, access, i, inner, width)) return false;
  const tf_dim *limit = access->driver->limit;
  if (access->driver->seen && width > access->driver->seen_width[inner]) return false;
  return !limit || tf_dim_divisor(limit) % width == 0;
}
