/* Where this thread stands: special registers, linear ids, coordinates on meshes. All of it depends on the thread alone and
 * is emitted into the entry block, once.
 *
 *   id(thread) = tid.x + ntid.x * (tid.y + ntid.y * tid.z)      id(warp) = id(thread) / 32      lane = id(thread) % 32
 *   coordinate = ((id - origin) mod modulus) / divisor          (Verify/Scopes.h)
 *
 * Blocks may be launched in any shape of the right size, so the linear id needs all three axes, unless the launches are promised
 * to have one. */
#include "LowerToLLVM/Intrinsics.h"

static const int
    level_tags[TF_LEVEL_COUNT + 1]; /* addresses of their own: keys of the linear ids; the last: the lane */

/* Symbolic extents of a mesh have values of their own in every inlined call: the frame is part of the key. */
static LLVMValueRef known(const tf_lowering *lowering, const void *what, unsigned index) {
  for (size_t i = 0; i < lowering->ids.count; i++) {
    const tf_known_id *id = &lowering->ids.items[i];
    if (id->what == what && id->index == index && id->frame == lowering->dims) return id->value;
  }
  return NULL;
}

static LLVMValueRef remember(tf_lowering *lowering, const void *what, unsigned index, LLVMValueRef value) {
  tf_known_id id = {what, lowering->dims, index, value};
  TF_VEC_PUSH(lowering->arena, &lowering->ids, id);
  return value;
}

static LLVMValueRef sreg(tf_lowering *lowering, tf_intrinsic_id id) {
  return tf_lower_intrinsic(lowering, id, "", 0, NULL);
}

/* a + b * c without wrap: ids are below 2^31. */
static LLVMValueRef multiply_add(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef product = LLVMBuildNSWMul(lowering->builder, b, c, "");
  LLVMValueRef sum = LLVMBuildNSWAdd(lowering->builder, a, product, "");
  LLVMSetNUW(product, true);
  LLVMSetNUW(sum, true);
  return sum;
}

static LLVMValueRef linear(tf_lowering *lowering, tf_intrinsic_id x, tf_intrinsic_id size_x) {
  LLVMValueRef id[3], size[2];
  for (unsigned i = 0; i < 3; i++)
    id[i] = sreg(lowering, (tf_intrinsic_id)(x + i));
  for (unsigned i = 0; i < 2; i++)
    size[i] = sreg(lowering, (tf_intrinsic_id)(size_x + i));
  return multiply_add(lowering, id[0], size[0], multiply_add(lowering, id[1], size[1], id[2]));
}

/* Whether launches have one axis: of grids the runtime makes sure, of blocks the required size. */
static bool is_linear(const tf_lowering *lowering, unsigned level) {
  return lowering->module->options->linear_launches &&
         (level == TF_LEVEL_CTA || lowering->kernel->geometry.has_threads);
}

static LLVMValueRef emit_id(tf_lowering *lowering, unsigned level) {
  bool one_axis = is_linear(lowering, level);
  if (level == TF_LEVEL_CTA)
    return one_axis ? sreg(lowering, TF_INTRINSIC_CTAID_X)
                    : linear(lowering, TF_INTRINSIC_CTAID_X, TF_INTRINSIC_NCTAID_X);
  if (level == TF_LEVEL_THREAD)
    return one_axis ? sreg(lowering, TF_INTRINSIC_TID_X) : linear(lowering, TF_INTRINSIC_TID_X, TF_INTRINSIC_NTID_X);
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  if (level == TF_LEVEL_WARP) return LLVMBuildLShr(lowering->builder, thread, tf_llvm_i32(lowering, 5), "");
  return LLVMBuildAnd(lowering->builder, thread, tf_llvm_i32(lowering, 31), "");
}

static LLVMValueRef id_of(tf_lowering *lowering, unsigned level) {
  LLVMValueRef id = known(lowering, &level_tags[level], 0);
  if (id) return id;
  LLVMBuilderRef builder = lowering->builder;
  lowering->builder = lowering->entry_builder;
  id = emit_id(lowering, level);
  lowering->builder = builder;
  return remember(lowering, &level_tags[level], 0, id);
}

LLVMValueRef tf_lower_program_id(tf_lowering *lowering, tf_level level) {
  return id_of(lowering, level);
}

LLVMValueRef tf_lower_placement_id(tf_lowering *lowering, const tf_placement *placement, unsigned level) {
  const tf_placement_level *l = &placement->levels[level];
  return id_of(lowering, l->lane ? TF_LEVEL_COUNT : (unsigned)l->level);
}

static LLVMValueRef emit_axis(tf_lowering *lowering, const tf_placement *placement, const tf_placement_axis *axis) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef id = tf_lower_placement_id(lowering, placement, axis->level);
  LLVMValueRef origin = tf_llvm_i32(lowering, placement->levels[axis->level].origin);
  id = LLVMBuildSub(b, id, origin, "");
  if (axis->modulus) id = LLVMBuildURem(b, id, tf_lower_dim32(lowering, axis->modulus), "");
  return LLVMBuildUDiv(b, id, tf_lower_dim32(lowering, axis->divisor), "");
}

LLVMValueRef tf_lower_placement_axis(tf_lowering *lowering, const tf_placement *placement, unsigned axis) {
  int64_t extent;
  const tf_placement_axis *a = &placement->axes[axis];
  if (tf_dim_is_static(a->extent, &extent) && extent == 1) return tf_llvm_i32(lowering, 0);
  LLVMValueRef value = known(lowering, placement, axis);
  if (value) return value;
  LLVMBuilderRef builder = lowering->builder;
  lowering->builder = lowering->entry_builder;
  value = emit_axis(lowering, placement, a);
  lowering->builder = builder;
  return remember(lowering, placement, axis, value);
}

LLVMValueRef tf_lower_coordinate(tf_lowering *lowering, const tf_mesh *mesh, unsigned axis) {
  const tf_placement *placement = tf_region_placement(&lowering->region, mesh, NULL);
  return placement ? tf_lower_placement_axis(lowering, placement, axis) : LLVMGetPoison(tf_llvm_int(lowering, 32));
}

/* ---- Membership of a scope ---- */
static LLVMValueRef both(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  return a ? LLVMBuildAnd(lowering->builder, a, b, "") : b;
}

/* origin <= id < size and (id - origin) mod step == 0. */
static LLVMValueRef level_inside(tf_lowering *lowering, const tf_placement *placement, unsigned level) {
  LLVMBuilderRef b = lowering->builder;
  const tf_placement_level *l = &placement->levels[level];
  LLVMValueRef id = tf_lower_placement_id(lowering, placement, level);
  LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, id, tf_lower_dim32(lowering, l->size), "");
  if (l->origin == 0 && l->step == 1) return inside;
  inside = both(lowering, inside, LLVMBuildICmp(b, LLVMIntUGE, id, tf_llvm_i32(lowering, l->origin), ""));
  LLVMValueRef distance = LLVMBuildSub(b, id, tf_llvm_i32(lowering, l->origin), "");
  LLVMValueRef rest = LLVMBuildURem(b, distance, tf_llvm_i32(lowering, l->step), "");
  return both(lowering, inside, LLVMBuildICmp(b, LLVMIntEQ, rest, tf_llvm_i32(lowering, 0), ""));
}

LLVMValueRef tf_lower_placement_inside(tf_lowering *lowering, const tf_placement *placement) {
  LLVMBuilderRef builder = lowering->builder;
  lowering->builder = lowering->entry_builder;
  LLVMValueRef inside = NULL;
  for (unsigned i = 0; i < placement->level_count; i++)
    inside = both(lowering, inside, level_inside(lowering, placement, i));
  for (unsigned i = 0; !placement->full && i < placement->axis_count; i++) {
    LLVMValueRef coordinate = tf_lower_placement_axis(lowering, placement, i);
    LLVMValueRef extent = tf_lower_dim32(lowering, placement->axes[i].extent);
    inside = both(lowering, inside, LLVMBuildICmp(lowering->builder, LLVMIntULT, coordinate, extent, ""));
  }
  lowering->builder = builder;
  return inside;
}
