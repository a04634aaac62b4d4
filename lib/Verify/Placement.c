/* Placements: from a mesh to the formula that gives an instance its coordinates (see Scopes.h).
 *
 * A full mesh hands its axes to its levels from left to right until the product of their extents is the level's size; inside
 * a level an axis of stride s is (id / s) mod extent, s counted in ids of that level. A slice no longer knows the extents
 * of its parent, but its offset splits into one origin per level, and what is left, id - origin, is a number whose digits are
 * the coordinates: the axes longer than 1, ordered by stride, are its places. */
#include "Verify/Scopes.h"

typedef struct tf_memo_entry {
  const tf_placement *placement;
  const char *reason;
} tf_memo_entry;

typedef struct tf_placement_key {
  const char *tag;
  const tf_mesh *mesh;
  uint64_t lanes;
} tf_placement_key;

static const char memo_tag;

static bool refuse(tf_memo_entry *entry, const char *reason) {
  entry->reason = reason;
  return false;
}

static int64_t static_value(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return tf_dim_is_static(dim, &value) ? value : otherwise;
}

bool tf_mesh_has_level(const tf_mesh *mesh, tf_level level) {
  for (unsigned i = 0; i < tf_mesh_level_count(mesh); i++)
    if (tf_mesh_level(mesh, i).level == level) return true;
  return false;
}

bool tf_mesh_is_grid(const tf_mesh *mesh) {
  return tf_mesh_level_count(mesh) == 1 && tf_mesh_level(mesh, 0).level == TF_LEVEL_CTA;
}

/* ---- Levels ---------------------------------------------------------------------------------------------------------- */

static bool check_thread_level(tf_context *context, const tf_placement_level *level, bool after_warp,
                               tf_memo_entry *entry) {
  int64_t size = static_value(level->size, -1);
  if (size < 0)
    return refuse(entry, tf_arena_printf(&context->arena,
                                         "the size of its %s level is %s, which is known at launch only; the number of "
                                         "threads of a block has to be a number",
                                         tf_level_name(level->level), tf_dim_print(context, level->size)));
  if (after_warp && size != 32)
    return refuse(entry, tf_arena_printf(&context->arena,
                                         "a mesh over warp and thread has 32 threads in every warp, this one %lld",
                                         (long long)size));
  if (level->lane && size > 32)
    return refuse(entry, tf_arena_printf(&context->arena,
                                         "inside a warp scope `thread` counts the lanes of a warp, and there are 32, "
                                         "not %lld",
                                         (long long)size));
  int64_t most = TF_MAX_BLOCK / (level->level == TF_LEVEL_WARP ? 32 : 1);
  if (size > most)
    return refuse(entry, tf_arena_printf(&context->arena, "its %s level has %lld positions, and a block at most %lld",
                                         tf_level_name(level->level), (long long)size, (long long)most));
  return true;
}

static bool build_levels(tf_context *context, const tf_mesh *mesh, bool lanes, tf_placement *placement,
                         tf_memo_entry *entry) {
  unsigned count = tf_mesh_level_count(mesh);
  if (count == 0 || count > TF_LEVEL_COUNT)
    return refuse(entry, "a mesh names one to three different levels, from cta over warp to thread");
  placement->level_count = count;
  for (unsigned i = 0; i < count; i++) {
    tf_topology topology = tf_mesh_level(mesh, i);
    tf_placement_level *level = &placement->levels[i];
    if (i > 0 && topology.level <= placement->levels[i - 1].level)
      return refuse(entry, "a mesh names its levels from coarse to fine, cta before warp before thread, each once");
    bool after_warp = i > 0 && placement->levels[i - 1].level == TF_LEVEL_WARP;
    *level = (tf_placement_level){.level = topology.level, .size = topology.size, .step = 1};
    level->lane = topology.level == TF_LEVEL_THREAD && (after_warp || (lanes && i == 0));
    if (topology.level == TF_LEVEL_CTA) continue;
    if (!check_thread_level(context, level, after_warp, entry)) return false;
    if (!after_warp) placement->threads = static_value(level->size, 0) * (level->level == TF_LEVEL_WARP ? 32 : 1);
    if (level->lane && !after_warp) placement->threads = 32;
  }
  return true;
}

/* Instances of all finer levels inside one of level i. */
static const tf_dim *below(tf_context *context, const tf_placement *placement, unsigned i) {
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned j = i + 1; j < placement->level_count; j++)
    product = tf_dim_binary(context, TF_DIM_MUL, product, placement->levels[j].size);
  return product;
}

/* ---- Axes of a full mesh -------------------------------------------------------------------------------------------- */

static void full_axis(tf_context *context, const tf_mesh *mesh, unsigned axis, unsigned level,
                      tf_placement *placement) {
  const tf_dim *extent = tf_mesh_axis_extent(mesh, axis);
  tf_placement_axis *out = &placement->axes[axis];
  *out = (tf_placement_axis){.level = level, .extent = extent, .divisor = tf_dim_int(context, 1)};
  if (static_value(extent, 0) == 1) return;
  out->divisor =
      tf_dim_binary(context, TF_DIM_FLOOR_DIV, tf_mesh_axis_stride(mesh, axis), below(context, placement, level));
  const tf_dim *modulus = tf_dim_binary(context, TF_DIM_MUL, out->divisor, extent);
  out->modulus = modulus == placement->levels[level].size ? NULL : modulus;
}

static bool build_full(tf_context *context, const tf_mesh *mesh, tf_placement *placement, tf_memo_entry *entry) {
  unsigned axis = 0;
  for (unsigned level = 0; level < placement->level_count; level++) {
    const tf_dim *filled = tf_dim_int(context, 1);
    while (filled != placement->levels[level].size && axis < placement->axis_count) {
      filled = tf_dim_binary(context, TF_DIM_MUL, filled, tf_mesh_axis_extent(mesh, axis));
      full_axis(context, mesh, axis++, level, placement);
    }
    if (filled != placement->levels[level].size)
      return refuse(entry,
                    tf_arena_printf(&context->arena,
                                    "its axes do not fill the %s level: from left to right their extents have to "
                                    "multiply to %s",
                                    tf_level_name(placement->levels[level].level),
                                    tf_dim_print(context, placement->levels[level].size)));
  }
  for (; axis < placement->axis_count; axis++) {
    if (static_value(tf_mesh_axis_extent(mesh, axis), 0) != 1)
      return refuse(entry, "it has more axes than its levels have positions");
    full_axis(context, mesh, axis, placement->level_count - 1, placement);
  }
  return true;
}

/* ---- Axes of a slice -------------------------------------------------------------------------------------------------- */

/* The smallest divisor above `divisor` among the level's axes that are longer than 1; 0 if there is none. */
static int64_t next_divisor(const int64_t *divisors, const tf_placement *placement, unsigned level, int64_t divisor) {
  int64_t next = 0;
  for (unsigned i = 0; i < placement->axis_count; i++) {
    bool place = placement->axes[i].level == level && divisors[i] > divisor;
    if (place && (next == 0 || divisors[i] < next)) next = divisors[i];
  }
  return next;
}

static unsigned level_of_stride(const int64_t *belows, unsigned count, int64_t stride) {
  unsigned level = 0;
  while (level + 1 < count && stride < belows[level])
    level++;
  return level;
}

static bool build_slice(tf_context *context, const tf_mesh *mesh, tf_placement *placement, tf_memo_entry *entry) {
  int64_t belows[TF_LEVEL_COUNT], divisors[TF_MAX_MESH_AXES], offset = static_value(tf_mesh_slice_offset(mesh), -1);
  for (unsigned level = 0; level < placement->level_count; level++) {
    belows[level] = static_value(below(context, placement, level), -1);
    int64_t size = static_value(placement->levels[level].size, -1);
    if (belows[level] < 1 || size < 1 || offset < 0) return refuse(entry, "a slice has static extents only");
    placement->levels[level].origin = offset / belows[level] % size;
  }
  for (unsigned i = 0; i < placement->axis_count; i++) {
    int64_t extent = static_value(tf_mesh_axis_extent(mesh, i), -1),
            stride = static_value(tf_mesh_axis_stride(mesh, i), -1);
    if (extent < 1 || (extent > 1 && stride < 1))
      return refuse(entry, "a slice has positive static extents and strides");
    unsigned level = extent > 1 ? level_of_stride(belows, placement->level_count, stride) : 0;
    divisors[i] = extent > 1 ? stride / belows[level] : 0;
    placement->axes[i] = (tf_placement_axis){.level = level,
                                             .extent = tf_mesh_axis_extent(mesh, i),
                                             .divisor = tf_dim_int(context, extent > 1 ? divisors[i] : 1)};
  }
  for (unsigned i = 0; i < placement->axis_count; i++) {
    int64_t next = divisors[i] > 0 ? next_divisor(divisors, placement, placement->axes[i].level, divisors[i]) : 0;
    placement->axes[i].modulus = next > 0 ? tf_dim_int(context, next) : NULL;
  }
  for (unsigned level = 0; level < placement->level_count; level++) {
    int64_t step = next_divisor(divisors, placement, level, 0);
    placement->levels[level].step = step > 0 ? step : static_value(placement->levels[level].size, 1);
  }
  return true;
}

static bool build(tf_context *context, const tf_mesh *mesh, bool lanes, tf_placement *placement, tf_memo_entry *entry) {
  placement->mesh = mesh;
  placement->axis_count = tf_mesh_axis_count(mesh);
  placement->full = !tf_mesh_is_slice(mesh);
  if (placement->axis_count > TF_MAX_MESH_AXES) return refuse(entry, "it has over 16 axes");
  if (!build_levels(context, mesh, lanes, placement, entry)) return false;
  const char *reason = NULL;
  if (!tf_mesh_is_consistent(context, mesh, &reason)) return refuse(entry, reason);
  return placement->full ? build_full(context, mesh, placement, entry) : build_slice(context, mesh, placement, entry);
}

const tf_placement *tf_placement_of(tf_context *context, const tf_mesh *mesh, bool lanes, const char **reason) {
  tf_placement_key key = {&memo_tag, mesh, lanes};
  void **slot = tf_context_memo(context, &key, sizeof key);
  if (!*slot) {
    tf_memo_entry *entry = TF_ARENA_NEW(&context->arena, tf_memo_entry);
    tf_placement *placement = TF_ARENA_NEW(&context->arena, tf_placement);
    if (build(context, mesh, lanes, placement, entry)) entry->placement = placement;
    *slot = entry;
  }
  const tf_memo_entry *entry = *slot;
  if (reason) *reason = entry->reason;
  return entry->placement;
}

/* ---- Coordinates ---------------------------------------------------------------------------------------------------------- */

static int64_t id_on(const tf_placement_level *level, int64_t cta, int64_t thread) {
  if (level->level == TF_LEVEL_CTA) return cta;
  if (level->level == TF_LEVEL_WARP) return thread / 32;
  return level->lane ? thread % 32 : thread;
}

bool tf_placement_coordinates(const tf_placement *placement, int64_t cta, int64_t thread, int64_t *coordinates) {
  int64_t rest[TF_LEVEL_COUNT];
  bool counted[TF_LEVEL_COUNT];
  for (unsigned i = 0; i < placement->level_count; i++) {
    const tf_placement_level *level = &placement->levels[i];
    int64_t size = static_value(level->size, -1);
    counted[i] = size >= 0 && (level->level != TF_LEVEL_CTA || cta >= 0);
    rest[i] = id_on(level, cta, thread) - level->origin;
    if (counted[i] && (rest[i] < 0 || rest[i] + level->origin >= size || rest[i] % level->step != 0)) return false;
  }
  for (unsigned i = 0; i < placement->axis_count; i++) {
    const tf_placement_axis *axis = &placement->axes[i];
    int64_t extent = static_value(axis->extent, -1), value = 0;
    if (counted[axis->level] && extent > 1) {
      int64_t modulus = axis->modulus ? static_value(axis->modulus, 1) : INT64_MAX;
      value = rest[axis->level] % modulus / static_value(axis->divisor, 1);
      if (value >= extent) return false;
    }
    if (coordinates) coordinates[i] = value;
  }
  return true;
}

bool tf_placement_instance(void *placement, int64_t thread, int64_t *coordinates) {
  return tf_placement_coordinates(placement, -1, thread, coordinates);
}

bool tf_placement_same_axis(const tf_placement *a, unsigned i, const tf_placement *b, unsigned j) {
  const tf_placement_axis *x = &a->axes[i], *y = &b->axes[j];
  const tf_placement_level *p = &a->levels[x->level], *q = &b->levels[y->level];
  return p->level == q->level && p->lane == q->lane && p->origin == q->origin && x->divisor == y->divisor &&
         x->modulus == y->modulus && x->extent == y->extent;
}
