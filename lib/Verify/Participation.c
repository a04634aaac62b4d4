/* Classification of a sync: first which scope its mesh is, then the interval of its participants, then the barrier. */
#include "Verify/Participation.h"

static int64_t static_value(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return tf_dim_is_static(dim, &value) ? value : otherwise;
}

/* ---- The interval --------------------------------------------------------------------------------------------------------- */

/* A box of coordinates over an injective layout is one interval iff its axes, ordered by stride, fill it without gaps: the
 * smallest stride is 1 and each next one is the size of what lies below. */
tf_sync_fault tf_participants(const tf_mesh *mesh, int64_t *base, int64_t *count) {
  unsigned axes = tf_mesh_axis_count(mesh);
  int64_t filled = 1, total = 1;
  for (unsigned i = 0; i < axes; i++) {
    int64_t extent = static_value(tf_mesh_axis_extent(mesh, i), -1);
    if (extent < 0 || static_value(tf_mesh_axis_stride(mesh, i), -1) < 0) return TF_SYNC_UNPLACED;
    if (__builtin_mul_overflow(total, extent, &total)) return TF_SYNC_UNPLACED;
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (unsigned i = 0; i < axes && !grown; i++) {
      int64_t extent = static_value(tf_mesh_axis_extent(mesh, i), 1);
      if (extent > 1 && static_value(tf_mesh_axis_stride(mesh, i), 0) == filled) {
        filled *= extent;
        grown = true;
      }
    }
  }
  int64_t offset = static_value(tf_mesh_slice_offset(mesh), -1);
  if (offset < 0) return TF_SYNC_UNPLACED;
  *base = offset;
  *count = total;
  return filled == total ? TF_SYNC_FINE : TF_SYNC_NOT_CONTIGUOUS;
}

/* ---- The scope ------------------------------------------------------------------------------------------------------------ */

/* Rebuilds the slice from the full mesh and compares, so that a mesh that only looks like a slice does not pass. */
static bool is_slice_of(tf_context *context, const tf_mesh *slice, const tf_mesh *full) {
  unsigned axes = tf_mesh_axis_count(full);
  if (tf_mesh_is_slice(full) || axes != tf_mesh_axis_count(slice) || axes > TF_MAX_MESH_AXES) return false;
  int64_t lo[TF_MAX_MESH_AXES] = {0}, hi[TF_MAX_MESH_AXES], strides[TF_MAX_MESH_AXES], extents[TF_MAX_MESH_AXES];
  int64_t rest = static_value(tf_mesh_slice_offset(slice), -1);
  for (unsigned i = 0; i < axes; i++) {
    strides[i] = static_value(tf_mesh_axis_stride(full, i), -1);
    extents[i] = static_value(tf_mesh_axis_extent(full, i), -1);
    if (rest < 0 || extents[i] < 1 || (extents[i] > 1 && strides[i] < 1)) return false;
  }
  bool done[TF_MAX_MESH_AXES] = {false};
  for (unsigned round = 0; round < axes; round++) {
    unsigned widest = axes;
    for (unsigned i = 0; i < axes; i++)
      if (!done[i] && extents[i] > 1 && (widest == axes || strides[i] > strides[widest])) widest = i;
    if (widest == axes) break;
    done[widest] = true;
    lo[widest] = rest / strides[widest];
    rest %= strides[widest];
  }
  for (unsigned i = 0; i < axes; i++) {
    hi[i] = lo[i] + static_value(tf_mesh_axis_extent(slice, i), 0);
    if (hi[i] > extents[i] || hi[i] <= lo[i]) return false;
  }
  return rest == 0 && tf_mesh_slice(context, full, lo, hi, &(const char *){NULL}) == slice;
}

static bool same_levels(const tf_mesh *a, const tf_mesh *b) {
  if (tf_mesh_level_count(a) != tf_mesh_level_count(b)) return false;
  for (unsigned i = 0; i < tf_mesh_level_count(a); i++)
    if (tf_mesh_level(a, i).level != tf_mesh_level(b, i).level) return false;
  return true;
}

/* The innermost scope that the mesh is, or is a slice of; a refusal with the scope that came nearest otherwise. */
static tf_sync_fault match_scope(const tf_region *region, const tf_mesh *mesh, const tf_scope **scope) {
  *scope = NULL;
  if (!region->scope) return TF_SYNC_NO_SCOPE;
  if (!tf_placement_of(region->context, mesh, false, NULL)) return TF_SYNC_UNPLACED;
  bool sliced = tf_mesh_is_slice(mesh);
  for (const tf_scope *s = region->scope; s; s = s->outer) {
    const tf_mesh *other = s->placement->mesh;
    if (other == mesh || (sliced && is_slice_of(region->context, mesh, other))) {
      *scope = s;
      return TF_SYNC_FINE;
    }
    if (!*scope && same_levels(mesh, other)) *scope = s;
  }
  return sliced ? TF_SYNC_NOT_A_SLICE : TF_SYNC_NOT_THAT_MESH;
}

/* ---- The barrier ------------------------------------------------------------------------------------------------------------ */

static tf_sync_fault classify_grid(const tf_region *region, const tf_mesh *mesh, tf_participation *out) {
  if (tf_mesh_is_slice(mesh)) return TF_SYNC_CTA_SLICE;
  if (!region->all_ctas || tf_mesh_level(mesh, 0).size != region->geometry->grid) return TF_SYNC_PART_OF_GRID;
  tf_thread_set block = tf_threads_interval(0, region->geometry->block);
  if (!tf_threads_equal(&block, &region->active)) return TF_SYNC_NOT_ALL_ACTIVE;
  *out = (tf_participation){.kind = TF_BARRIER_GRID};
  return TF_SYNC_FINE;
}

static uint32_t lane_mask(int64_t base, int64_t count) {
  uint32_t lanes = count >= 32 ? ~UINT32_C(0) : (UINT32_C(1) << count) - 1;
  return lanes << (base % 32);
}

static tf_sync_fault choose_barrier(const tf_region *region, tf_participation *p) {
  bool one_warp = p->base / 32 == (p->base + p->count - 1) / 32;
  bool whole = p->base == 0 && p->count == (p->per_warp ? 32 : region->geometry->block);
  if (one_warp) {
    p->kind = whole ? TF_BARRIER_WARP : TF_BARRIER_LANES;
    p->mask = lane_mask(p->base, p->count);
    return TF_SYNC_FINE;
  }
  p->kind = whole ? TF_BARRIER_BLOCK : TF_BARRIER_NAMED;
  return whole || (p->base % 32 == 0 && p->count % 32 == 0) ? TF_SYNC_FINE : TF_SYNC_NOT_ALIGNED;
}

unsigned tf_participation_groups(const tf_region *region, const tf_participation *p,
                                 tf_thread_set groups[TF_MAX_BLOCK / 32]) {
  if (p->kind == TF_BARRIER_GRID || !p->per_warp) {
    groups[0] = p->kind == TF_BARRIER_GRID ? region->active : tf_threads_interval(p->base, p->count);
    return 1;
  }
  unsigned count = 0;
  for (int64_t t = tf_threads_next(&region->active, 0); t >= 0; t = tf_threads_next(&region->active, t / 32 * 32 + 32))
    groups[count++] = tf_threads_interval(t / 32 * 32 + p->base, p->count);
  return count;
}

static tf_sync_fault check_active(const tf_region *region, tf_participation *p) {
  tf_thread_set groups[TF_MAX_BLOCK / 32];
  unsigned count = tf_participation_groups(region, p, groups);
  int64_t participants = 0;
  for (unsigned i = 0; i < count; i++) {
    if (!tf_threads_subset(&groups[i], &region->active)) return TF_SYNC_NOT_ALL_ACTIVE;
    participants += tf_threads_count(&groups[i]);
  }
  p->predicated = participants != tf_threads_count(&region->active);
  return TF_SYNC_FINE;
}

tf_sync_fault tf_classify(const tf_region *region, const tf_mesh *mesh, tf_participation *out, const tf_scope **scope) {
  const tf_scope *matched = NULL;
  tf_sync_fault fault = match_scope(region, mesh, &matched);
  if (scope) *scope = matched;
  if (fault != TF_SYNC_FINE) return fault;
  if (tf_mesh_is_grid(mesh)) return classify_grid(region, mesh, out);
  if (tf_mesh_has_level(mesh, TF_LEVEL_CTA)) return TF_SYNC_MIXED;
  tf_participation p = {.per_warp = tf_mesh_level_count(mesh) == 1 && matched->placement->levels[0].lane};
  fault = tf_participants(mesh, &p.base, &p.count);
  if (fault != TF_SYNC_FINE) return fault;
  if (!tf_mesh_has_level(mesh, TF_LEVEL_THREAD)) {
    p.base *= 32;
    p.count *= 32;
  }
  fault = choose_barrier(region, &p);
  if (fault == TF_SYNC_FINE) fault = check_active(region, &p);
  if (fault == TF_SYNC_FINE) *out = p;
  return fault;
}
