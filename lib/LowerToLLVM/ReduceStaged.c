/* Reductions through a shared tile: when elements are dealt across rows, or a group crosses warps unevenly.
 *
 *   every thread stores what it holds of the source      tile[logical index]
 *   barrier
 *   every thread computes the results that it writes, from the tile
 *   barrier, if the statement may run again               the tile may be written again
 *
 * A Partial source has a share in every thread along some mesh axes. The tile has these axes, too, in front, and they are reduced
 * like the others. */
#include "LowerToLLVM/Reduce.h"

#include <string.h>

#include "IR/Target.h"
#include "LowerToLLVM/Intrinsics.h"

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

/* A plain tensor in shared memory that no statement of the program names. reach: rows that one CTA has of each axis; what CTAs
 * walk moves no address in shared memory. */
static bool make_tensor(tf_lowering *lowering, unsigned rank, const tf_dim *const *shape, const int64_t *reach,
                        tf_dtype dtype, LLVMValueRef pointer, tf_tensor *out) {
  tf_context *context = lowering->context;
  tf_view *view = TF_ARENA_NEW(&context->arena, tf_view);
  const tf_dim **strides = TF_ARENA_ARRAY(&context->arena, const tf_dim *, rank), *unit = tf_dim_int(context, 1);
  for (unsigned axis = rank; axis-- > 0;
       unit = tf_dim_binary(context, TF_DIM_MUL, unit, tf_dim_int(context, reach[axis])))
    strides[axis] = unit;
  view->type = tf_type_tensor(context, rank, shape, dtype, NULL, TF_STORAGE_SMEM);
  view->constant = tf_dim_int(context, 0);
  view->storage_size = unit;
  view->strides = strides;
  if (tf_ownership_of(context, view->type, NULL, &view->ownership, NULL) != TF_OK) return false;
  view->digit_strides = TF_ARENA_ARRAY(&context->arena, const tf_dim *, view->ownership->factor_count);
  *out = (tf_tensor){.view = view,
                     .type = view->type,
                     .dtype = dtype,
                     .storage = TF_STORAGE_SMEM,
                     .element = tf_llvm_memory_type(lowering, dtype),
                     .pointer = pointer,
                     .alignment = 16};
  return true;
}

/* ---- Shares ---- */

/* Factors of the source with one more axis in front, which the mesh axis walks. */
static const tf_ownership *shared_out(tf_lowering *lowering, const tf_reduction *r, unsigned mesh_axis,
                                      const tf_dim *extent) {
  tf_context *context = lowering->context;
  tf_ownership *own = TF_ARENA_NEW(&context->arena, tf_ownership);
  *own = *r->source.view->ownership;
  for (unsigned i = 0; i < own->factor_count; i++)
    if (own->factors[i].shape_axis >= 0) own->factors[i].shape_axis++;
  own->factors[own->factor_count++] = (tf_factor){.extent = extent,
                                                  .step = tf_type_numel(context, r->source.type),
                                                  .unit = tf_dim_int(context, 1),
                                                  .mesh_axis = (int)mesh_axis,
                                                  .divisor = 1};
  return own;
}

/* The strides with one of 0 in front or, for digits, behind; null stays null. */
static const tf_dim *const *with_zero(tf_context *context, unsigned count, const tf_dim *const *strides,
                                      bool in_front) {
  const tf_dim **out = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count + 1);
  if (!strides) return NULL;
  for (unsigned i = 0; i < count; i++)
    out[i + in_front] = strides[i];
  out[in_front ? 0 : count] = tf_dim_int(context, 0);
  return out;
}

static void shift_clips(tf_context *context, tf_view *view) {
  tf_view_clip *clips = TF_ARENA_ARRAY(&context->arena, tf_view_clip, view->clip_count);
  for (unsigned i = 0; i < view->clip_count; i++) {
    clips[i] = view->clips[i];
    if (clips[i].axis >= 0) clips[i].axis++;
  }
  view->clips = clips;
}

/* The reduction over one more axis, in front: the shares that the mesh axis tells apart. False if the source's elements are known
 * by enumeration only, or there is no room. */
static bool add_share_axis(tf_lowering *lowering, tf_reduction *r, unsigned mesh_axis) {
  tf_context *context = lowering->context;
  const tf_ownership *ownership = r->source.view->ownership;
  const tf_dim *extent = tf_mesh_axis_extent(ownership->mesh, mesh_axis), *shape[TF_MAX_RANK];
  bool has_room = r->rank < TF_MAX_RANK && ownership->factor_count < TF_MAX_FACTORS;
  if (extent == tf_dim_int(context, 1)) return true;
  if (!has_room || ownership->exact || r->source.view->address_layout) return false;
  tf_view *view = TF_ARENA_NEW(&context->arena, tf_view);
  shape[0] = extent;
  for (unsigned axis = 0; axis < r->rank; axis++)
    shape[axis + 1] = r->shape[axis];
  *view = *r->source.view;
  view->type = tf_type_tensor(context, r->rank + 1, shape, r->in, NULL, r->source.storage);
  view->strides = with_zero(context, r->rank, view->strides, true);
  view->digit_strides = with_zero(context, ownership->factor_count, view->digit_strides, false);
  view->ownership = shared_out(lowering, r, mesh_axis, extent);
  shift_clips(context, view);
  memmove(&r->reduced[1], &r->reduced[0], r->rank++ * sizeof r->reduced[0]);
  r->reduced[0] = true;
  r->source.view = view;
  r->source.type = view->type;
  r->shape = tf_type_shape(view->type);
  return true;
}

static bool add_share_axes(tf_lowering *lowering, tf_reduction *r) {
  const tf_layout *layout = tf_type_layout(r->source.type);
  for (unsigned i = 0; tf_layout_is_shard(layout) && i < tf_layout_attr_count(layout); i++)
    if (tf_layout_attr(layout, i).kind == TF_SHARD_PARTIAL && !add_share_axis(lowering, r, i)) return false;
  return true;
}

/* ---- The tile ---- */

/* The rows' tensor, each thread's part of it: the source's factors on the axes that are kept. False if some cross axes. */
static bool distribute(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *rows, tf_tensor *out) {
  tf_context *context = lowering->context;
  const tf_ownership *source = r->source.view->ownership;
  tf_ownership *own = TF_ARENA_NEW(&context->arena, tf_ownership);
  tf_view *view = TF_ARENA_NEW(&context->arena, tf_view);
  const tf_dim **strides = TF_ARENA_ARRAY(&context->arena, const tf_dim *, source->factor_count);
  if (!source->steps_are_affine || source->exact) return false;
  *own = (tf_ownership){.mesh = source->mesh, .steps_are_affine = true};
  for (unsigned i = 0; i < source->factor_count; i++) {
    tf_factor factor = source->factors[i];
    if (factor.shape_axis < 0) return false;
    if (r->reduced[factor.shape_axis]) continue;
    factor.step = factor.unit;
    for (unsigned axis = (unsigned)factor.shape_axis + 1; axis < r->rank; axis++)
      factor.step = tf_dim_binary(context, TF_DIM_MUL, factor.step, tf_type_extent(rows->type, axis));
    strides[own->factor_count] =
        tf_dim_binary(context, TF_DIM_MUL, factor.unit, rows->view->strides[factor.shape_axis]);
    if (factor.mesh_axis < 0) own->local[own->local_count++] = own->factor_count;
    own->factors[own->factor_count++] = factor;
  }
  *view = *rows->view;
  view->ownership = own;
  view->digit_strides = strides;
  *out = *rows;
  out->view = view;
  return true;
}

/* Whether CTAs hold different parts of the source. */
static bool spans_ctas(tf_lowering *lowering, const tf_reduction *r) {
  tf_driver driver;
  if (!r->source.view->ownership->mesh) return false;
  if (!tf_driver_of(lowering, &r->source, &driver)) return true;
  for (unsigned i = 0; i < driver.digit_count; i++)
    if (driver.digits[i].is_cta) return true;
  return false;
}

/* One more than the largest coordinate on an axis that a CTA's share reaches; -1: unknown. */
static int64_t reach_of(tf_lowering *lowering, const tf_reduction *r, unsigned axis) {
  const tf_ownership *ownership = r->source.view->ownership;
  const tf_placement *placement =
      ownership->mesh ? tf_region_placement(&lowering->region, ownership->mesh, NULL) : NULL;
  int64_t reach = 1;
  bool split = false;
  for (unsigned i = 0; placement && i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (factor->shape_axis < 0) split = true;
    if (factor->shape_axis != (int)axis) continue;
    if (factor->mesh_axis >= 0 && placement->levels[placement->axes[factor->mesh_axis].level].level == TF_LEVEL_CTA) {
      split = true;
      continue;
    }
    int64_t extent = static_of(factor->extent, -1), unit = static_of(factor->unit, -1);
    if (extent < 0 || unit < 0) return -1;
    reach += (extent - 1) * unit;
  }
  if (!split) return static_of(r->shape[axis], -1);
  return ownership->steps_are_affine ? reach : -1;
}

/* The tile's extents of one CTA, and the results'; false if some are not static. */
static bool reach_axes(tf_lowering *lowering, const tf_reduction *r, int64_t *tile, int64_t *rows) {
  bool ctas = spans_ctas(lowering, r);
  for (unsigned axis = 0; axis < r->rank; axis++) {
    tile[axis] = ctas ? reach_of(lowering, r, axis) : static_of(r->shape[axis], -1);
    rows[axis] = r->reduced[axis] ? 1 : tile[axis];
    if (tile[axis] < 0) return false;
  }
  return true;
}

static int64_t product(unsigned rank, const int64_t *extents) {
  int64_t out = 1;
  for (unsigned axis = 0; axis < rank; axis++)
    out *= extents[axis];
  return out;
}

static bool counts_lanes(tf_lowering *lowering, const tf_reduction *r) {
  const tf_mesh *mesh = r->source.view->ownership->mesh;
  const tf_placement *placement = mesh ? tf_region_placement(&lowering->region, mesh, NULL) : NULL;
  for (unsigned i = 0; placement && i < placement->level_count; i++)
    if (placement->levels[i].lane) return true;
  return false;
}

static void join_all(const tf_lowering *lowering, tf_group *group) {
  uint32_t warps = 0;
  for (int64_t t = tf_threads_next(&lowering->region.active, 0); t >= 0;
       t = tf_threads_next(&lowering->region.active, t + 1))
    warps |= 1u << (t / 32);
  for (unsigned warp = 0; warp < TF_MAX_BLOCK / 32; warp++)
    group->joined[warp] = warps >> warp & 1 ? warps : 0;
}

/* Active lanes of a warp: the same in all of them where meshes count lanes. */
static uint32_t active_lanes(const tf_lowering *lowering) {
  uint32_t lanes = 0;
  for (int64_t t = tf_threads_next(&lowering->region.active, 0); t >= 0;
       t = tf_threads_next(&lowering->region.active, t + 1))
    lanes |= 1u << (t % 32);
  return lanes;
}

void tf_stage_wait(tf_lowering *lowering, const tf_stage *stage) {
  if (!stage->by_warp) {
    tf_group_barrier(lowering, &stage->group);
    return;
  }
  LLVMValueRef mask = tf_llvm_i32(lowering, (int64_t)active_lanes(lowering));
  tf_lower_intrinsic(lowering, TF_INTRINSIC_BARRIER_WARP, "a barrier", 1, &mask);
}

void tf_stage_release(tf_lowering *lowering, const tf_stage *stage) {
  if (lowering->loop_depth > 0) tf_stage_wait(lowering, stage);
}

static LLVMValueRef same(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  (void)lowering, (void)user;
  return chunk->sources[0];
}

static int64_t round_up(int64_t bytes) {
  return (bytes + 15) / 16 * 16;
}

/* Of no use if it is more than a block has: said here, where the statement is known. */
static LLVMValueRef allocate(tf_lowering *lowering, int64_t bytes) {
  const tf_target *target = lowering->module->target;
  int64_t limit = tf_target_smem_limit(target);
  if (bytes > limit) {
    tf_report(lowering->context, lowering->loc, LOWER_STAGE, (long long)bytes, tf_target_name(target),
              (long long)limit);
    tf_lower_fail(lowering);
    bytes = 16;
  }
  return tf_shared_allocate(lowering, NULL, bytes, 16);
}

bool tf_stage_make(tf_lowering *lowering, const tf_reduction *r, tf_stage *out) {
  tf_context *context = lowering->context;
  const tf_dim *kept[TF_MAX_RANK];
  int64_t extents[TF_MAX_RANK], result_extents[TF_MAX_RANK];
  if (!reach_axes(lowering, r, extents, result_extents)) return false;
  for (unsigned axis = 0; axis < r->rank; axis++)
    kept[axis] = r->reduced[axis] ? tf_dim_int(context, 1) : r->shape[axis];
  int64_t count = product(r->rank, extents), results = product(r->rank, result_extents);
  *out = (tf_stage){.by_warp = counts_lanes(lowering, r)};
  join_all(lowering, &out->group);
  int64_t tile = round_up(count * tf_dtype_bytes(r->in)),
          bytes = tile + round_up(results * tf_dtype_bytes(r->accumulator));
  int64_t warps = out->by_warp ? (lowering->region.geometry->block + 31) / 32 : 1;
  LLVMTypeRef byte = tf_llvm_int(lowering, 8);
  LLVMValueRef base = allocate(lowering, bytes * warps), after = tf_llvm_i32(lowering, tile);
  if (out->by_warp) {
    LLVMValueRef warp = tf_lower_program_id(lowering, TF_LEVEL_WARP);
    LLVMValueRef own = LLVMBuildMul(lowering->builder, warp, tf_llvm_i32(lowering, bytes), "");
    base = LLVMBuildGEP2(lowering->builder, byte, base, &own, 1, "");
  }
  LLVMValueRef rows = LLVMBuildGEP2(lowering->builder, byte, base, &after, 1, "");
  if (!make_tensor(lowering, r->rank, r->shape, extents, r->in, base, &out->tile)) return false;
  if (!make_tensor(lowering, r->rank, kept, result_extents, r->accumulator, rows, &out->rows)) return false;
  if (!distribute(lowering, r, &out->rows, &out->own)) {
    if (spans_ctas(lowering, r)) return false;
    out->own = out->rows;
  }
  tf_operand source = {.dtype = r->in, .tensor = r->source};
  tf_lower_elements(lowering, &out->tile, 1, &source, same, NULL);
  tf_stage_wait(lowering, out);
  return true;
}

bool tf_reduce_staged(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination) {
  tf_stage *stage = TF_ARENA_NEW(lowering->arena, tf_stage);
  tf_reduction from_tile = *r;
  if (!add_share_axes(lowering, &from_tile) || !tf_stage_make(lowering, &from_tile, stage)) return false;
  from_tile.source = stage->tile;
  bool fine = tf_reduce_visible(lowering, &from_tile, destination);
  tf_stage_release(lowering, stage);
  return fine;
}
