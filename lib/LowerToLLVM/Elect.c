/* One writer among replicas.
 *
 * Threads that differ only along axes on which the elements are replicated would all store the same values to the same places.
 * One of each such set stores, the one at coordinate 0 of these axes; the language lets a reader wait for all of them.
 *
 *   Broadcast over 4 warps:   w0 stores | w1  w2  w3 skip          plain: thread 0 of the block stores
 *
 * Besides the mesh's own axes the lanes of a warp count, where the mesh has warps alone, the warps, where it counts lanes, and
 * all threads, where it has CTAs alone.
 *
 * That is only done where it is certain that the chosen thread comes here and that the others write to the same places:
 * conditions are uniform over the block, nobody has returned, every thread that the mesh places is active, and what the place
 * depends on is the same for the whole set. */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Walk.h"

typedef struct election {
  tf_lowering *lowering;
  const tf_ownership *ownership;
  const tf_placement *placement; /* null: plain */
  bool has_warps, has_threads;   /* levels of the mesh; neither: the whole block is one set */
  bool counts_lanes;             /* threads within any warp, not one of a mesh */
  bool by_warp;                  /* then: each warp has sets of its own */
} election;

static bool is_one(const tf_dim *extent) {
  int64_t value;
  return tf_dim_is_static(extent, &value) && value == 1;
}

static tf_level level_of(const tf_placement *placement, unsigned axis) {
  return placement->levels[placement->axes[axis].level].level;
}

static bool is_walked(const tf_ownership *ownership, unsigned axis) {
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (ownership->factors[i].mesh_axis == (int)axis) return true;
  return false;
}

/* Whether the elements are replicated along the axis, among the threads of a block. */
static bool is_free(const election *e, unsigned axis) {
  return level_of(e->placement, axis) != TF_LEVEL_CTA && !is_one(e->placement->axes[axis].extent) &&
         !is_walked(e->ownership, axis);
}

static bool has_choice(const election *e) {
  if (!e->has_threads || (e->counts_lanes && !e->by_warp)) return true;
  for (unsigned axis = 0; axis < e->placement->axis_count; axis++)
    if (is_free(e, axis)) return true;
  return false;
}

/* ---- Who writes the same --------------------------------------------------------------------------------------------------- */

/* The first thread of the set that a thread belongs to; false if it has no place. */
static bool writer_of(const election *e, int64_t thread, int64_t *key) {
  int64_t coordinates[TF_MAX_MESH_AXES], number = e->by_warp ? thread / 32 : 0;
  *key = 0;
  if (!e->placement) return true;
  if (!tf_placement_coordinates(e->placement, 0, thread, coordinates)) return false;
  for (unsigned axis = 0; axis < e->placement->axis_count; axis++) {
    if (level_of(e->placement, axis) == TF_LEVEL_CTA || is_free(e, axis)) continue;
    int64_t extent = 1;
    tf_dim_is_static(e->placement->axes[axis].extent, &extent);
    number = number * extent + coordinates[axis];
  }
  *key = number;
  return true;
}

/* Whether every thread of the block that has a place is active. */
static bool all_are_active(const election *e) {
  int64_t key, block = e->lowering->region.geometry->block;
  for (int64_t t = 0; t < block; t++)
    if (writer_of(e, t, &key) && !tf_threads_has(&e->lowering->region.active, t)) return false;
  return true;
}

/* ---- Whether they write to the same places ------------------------------------------------------------------------------------- */

/* Whether the threads of the set have the same coordinate on the axis of some mesh. */
static bool same_coordinate(const election *e, const tf_thread_set *set, const tf_mesh *mesh, unsigned axis) {
  const tf_placement *placement = tf_region_placement(&e->lowering->region, mesh, NULL);
  int64_t coordinates[TF_MAX_MESH_AXES], first = -1;
  if (!placement) return false;
  for (int64_t t = tf_threads_next(set, 0); t >= 0; t = tf_threads_next(set, t + 1)) {
    if (!tf_placement_coordinates(placement, 0, t, coordinates)) return false;
    if (first >= 0 && coordinates[axis] != first) return false;
    first = coordinates[axis];
  }
  return true;
}

static bool same_buffer(const election *e, const tf_thread_set *set, const tf_view *view) {
  const tf_view *base = tf_view_of(e->lowering->context, view->base, NULL);
  if (!base || !base->ownership) return false;
  if (!base->ownership->private_instances) return true;
  for (unsigned i = 0; i < base->ownership->factor_count; i++) {
    const tf_factor *factor = &base->ownership->factors[i];
    if (factor->mesh_axis >= 0 && !same_coordinate(e, set, base->ownership->mesh, (unsigned)factor->mesh_axis))
      return false;
  }
  return true;
}

static bool same_place(const election *e, const tf_thread_set *set, const tf_view *view) {
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_view_start *start = &view->starts[i];
    if (!start->index) {
      if (!same_coordinate(e, set, start->mesh, start->mesh_axis)) return false;
      continue;
    }
    const tf_fact *fact = tf_fact_of(e->lowering->facts, &e->lowering->region, start->index);
    if (!tf_fact_uniform(fact, set, NULL)) return false;
  }
  return same_buffer(e, set, view);
}

/* Numbers of the threads' sets, -1 for those without a place. */
static const int64_t *keys_of(const election *e) {
  int64_t block = e->lowering->region.geometry->block;
  int64_t *keys = TF_ARENA_ARRAY(e->lowering->arena, int64_t, block);
  for (int64_t t = 0; t < block; t++)
    if (!writer_of(e, t, &keys[t])) keys[t] = -1;
  return keys;
}

/* Over every set of threads that write the same elements. */
static bool same_places(const election *e, const tf_view *view) {
  int64_t block = e->lowering->region.geometry->block;
  const tf_view *base = tf_view_of(e->lowering->context, view->base, NULL);
  bool shared = base && base->ownership && !base->ownership->private_instances;
  if (shared && tf_lower_view_is_uniform(e->lowering, view)) return true;
  const int64_t *keys = keys_of(e);
  tf_thread_set done = {{0}};
  for (int64_t t = 0; t < block; t++) {
    tf_thread_set set = {{0}};
    if (keys[t] < 0 || tf_threads_has(&done, t)) continue;
    for (int64_t u = t; u < block; u++) {
      if (keys[u] != keys[t]) continue;
      tf_threads_add(&set, u);
      tf_threads_add(&done, u);
    }
    if (!same_place(e, &set, view)) return false;
  }
  return true;
}

/* ---- The condition ------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef is_zero(tf_lowering *lowering, LLVMValueRef value) {
  return LLVMBuildICmp(lowering->builder, LLVMIntEQ, value, tf_llvm_i32(lowering, 0), "");
}

static LLVMValueRef both(tf_lowering *lowering, LLVMValueRef a, LLVMValueRef b) {
  return a ? LLVMBuildAnd(lowering->builder, a, b, "") : b;
}

static LLVMValueRef condition(const election *e) {
  tf_lowering *lowering = e->lowering;
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD), chosen = NULL;
  if (!e->has_warps && !e->has_threads) return is_zero(lowering, thread);
  for (unsigned axis = 0; axis < e->placement->axis_count; axis++)
    if (is_free(e, axis))
      chosen = both(lowering, chosen, is_zero(lowering, tf_lower_placement_axis(lowering, e->placement, axis)));
  if (e->counts_lanes && !e->by_warp)
    chosen = both(lowering, chosen, is_zero(lowering, tf_lower_program_id(lowering, TF_LEVEL_WARP)));
  if (e->has_threads) return chosen;
  LLVMValueRef lane = LLVMBuildAnd(lowering->builder, thread, tf_llvm_i32(lowering, 31), "");
  return both(lowering, chosen, is_zero(lowering, lane));
}

static void look_at_levels(election *e) {
  bool lanes = false;
  for (unsigned i = 0; e->placement && i < e->placement->level_count; i++) {
    e->has_warps |= e->placement->levels[i].level == TF_LEVEL_WARP;
    e->has_threads |= e->placement->levels[i].level == TF_LEVEL_THREAD;
    lanes |= e->placement->levels[i].lane;
  }
  e->counts_lanes = lanes && !e->has_warps;
}

LLVMValueRef tf_walk_writer(tf_lowering *lowering, const tf_walk *walk) {
  const tf_tensor *destination = &walk->destination;
  election e = {.lowering = lowering, .ownership = walk->driver.ownership};
  const tf_geometry *geometry = lowering->region.geometry;
  if (!e.ownership || walk->overlaps || e.ownership->partial || !geometry->has_threads || geometry->block == 1)
    return NULL;
  if (!lowering->block_uniform || tf_tensor_is_register(destination) || !destination->view->base) return NULL;
  if (e.ownership->mesh && !(e.placement = tf_region_placement(&lowering->region, e.ownership->mesh, NULL)))
    return NULL;
  look_at_levels(&e);
  if (!all_are_active(&e)) return NULL;
  if (has_choice(&e) && same_places(&e, destination->view)) return condition(&e);
  e.by_warp = e.counts_lanes;
  return e.by_warp && has_choice(&e) && same_places(&e, destination->view) ? condition(&e) : NULL;
}
