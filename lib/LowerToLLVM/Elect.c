/* One writer among replicas.
 *
 * Threads that differ only along mesh axes on which the elements are replicated would all store the same values to the same
 * places. One of each such set stores, the one at coordinate 0 of these axes; the language lets a reader wait for all of them.
 *
 *   Broadcast over 4 warps:   w0 stores | w1  w2  w3 skip          plain: thread 0 of the block stores
 *
 * That is only done where it is certain that the chosen thread comes here: conditions are uniform over the block, nobody has
 * returned, and every thread that the mesh places is active. */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Walk.h"

static bool is_private(tf_lowering *lowering, const tf_view *view) {
  const tf_view *base = tf_view_of(lowering->context, view->base, NULL);
  return base && base->ownership && base->ownership->private_instances;
}

/* Whether all threads would write to the same places. */
static bool is_one_place(tf_lowering *lowering, const tf_tensor *destination) {
  if (tf_tensor_is_register(destination) || !destination->view->base) return false;
  return !is_private(lowering, destination->view) && tf_lower_view_is_uniform(lowering, destination->view);
}

/* Whether every thread of the block that has a place is active. */
static bool all_are_active(const tf_lowering *lowering, const tf_placement *placement) {
  int64_t coordinates[TF_MAX_MESH_AXES], block = lowering->region.geometry->block;
  for (int64_t t = 0; t < block; t++)
    if ((!placement || tf_placement_coordinates(placement, 0, t, coordinates)) &&
        !tf_threads_has(&lowering->region.active, t))
      return false;
  return true;
}

static bool is_walked(const tf_ownership *ownership, unsigned axis) {
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (ownership->factors[i].mesh_axis == (int)axis) return true;
  return false;
}

static LLVMValueRef is_zero(tf_lowering *lowering, LLVMValueRef value) {
  return LLVMBuildICmp(lowering->builder, LLVMIntEQ, value, tf_llvm_i32(lowering, 0), "");
}

static LLVMValueRef first_on_free_axes(tf_lowering *lowering, const tf_placement *placement,
                                       const tf_ownership *ownership) {
  LLVMValueRef chosen = NULL;
  for (unsigned axis = 0; axis < placement->axis_count; axis++) {
    int64_t extent;
    bool is_cta = placement->levels[placement->axes[axis].level].level == TF_LEVEL_CTA;
    bool is_one = tf_dim_is_static(placement->axes[axis].extent, &extent) && extent == 1;
    if (is_cta || is_one || is_walked(ownership, axis)) continue;
    LLVMValueRef here = is_zero(lowering, tf_lower_placement_axis(lowering, placement, axis));
    chosen = chosen ? LLVMBuildAnd(lowering->builder, chosen, here, "") : here;
  }
  return chosen;
}

LLVMValueRef tf_walk_writer(tf_lowering *lowering, const tf_walk *walk) {
  const tf_ownership *ownership = walk->driver.ownership;
  const tf_geometry *geometry = lowering->region.geometry;
  if (!ownership || walk->overlaps || ownership->partial || !geometry->has_threads || geometry->block == 1) return NULL;
  if (!lowering->block_uniform || !is_one_place(lowering, &walk->destination)) return NULL;
  const tf_placement *placement =
      ownership->mesh ? tf_region_placement(&lowering->region, ownership->mesh, NULL) : NULL;
  if ((ownership->mesh && !placement) || !all_are_active(lowering, placement)) return NULL;
  if (placement) return first_on_free_axes(lowering, placement, ownership);
  return is_zero(lowering, tf_lower_program_id(lowering, TF_LEVEL_THREAD));
}
