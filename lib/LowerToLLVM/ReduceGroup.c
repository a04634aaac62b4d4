/* See ReduceGroup.h. */
#include "LowerToLLVM/ReduceGroup.h"

#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Reduce.h"

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

bool tf_digit_of_thread(const tf_digit *digit, int64_t thread, int64_t *out) {
  int64_t coordinates[TF_MAX_MESH_AXES], extent = static_of(digit->extent, 1);
  if (!tf_placement_coordinates(digit->placement, 0, thread, coordinates)) return false;
  *out = coordinates[digit->mesh_axis] / digit->divisor % extent;
  return true;
}

/* Linear thread ids per step of the digit. */
static int64_t thread_stride(const tf_digit *digit) {
  const tf_placement_axis *axis = &digit->placement->axes[digit->mesh_axis];
  int64_t unit = digit->placement->levels[axis->level].level == TF_LEVEL_WARP ? 32 : 1;
  return unit * digit->divisor * static_of(axis->divisor, 1);
}

/* ---- Cutting digits into lanes and warps ---- */
static void add(tf_group_digit *list, unsigned *count, tf_group_digit digit) {
  if (digit.extent > 1) list[(*count)++] = digit;
}

/* Whether the lane parts of all active threads stay inside their warps. */
static bool stays_in_warp(const tf_lowering *lowering, const tf_digit *digit, int64_t stride, int64_t lanes) {
  const tf_thread_set *active = &lowering->region.active;
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    int64_t value;
    if (!tf_digit_of_thread(digit, t, &value)) continue;
    int64_t first = t - value % lanes * stride, last = first + (lanes - 1) * stride;
    if (first < 0 || first / 32 != last / 32) return false;
  }
  return true;
}

static bool add_member_digit(tf_lowering *lowering, const tf_digit *digit, tf_group *out) {
  LLVMBuilderRef b = lowering->builder;
  int64_t extent = static_of(digit->extent, 0), stride = thread_stride(digit), lanes;
  if (extent <= 1) return extent == 1;
  if (stride % 32 == 0)
    lanes = 1;
  else if (stride * extent <= 32)
    lanes = extent;
  else if (32 % stride == 0 && extent % (32 / stride) == 0)
    lanes = 32 / stride;
  else
    return false;
  if (!stays_in_warp(lowering, digit, stride, lanes)) return false;
  LLVMValueRef split = tf_llvm_i32(lowering, lanes);
  LLVMValueRef low = lanes == extent ? digit->value : LLVMBuildURem(b, digit->value, split, "");
  LLVMValueRef high = LLVMBuildUDiv(b, digit->value, split, "");
  add(out->lanes, &out->lane_count, (tf_group_digit){lanes, stride, low, *digit, 1});
  add(out->warps, &out->warp_count,
      (tf_group_digit){extent / lanes, lanes == 1 ? stride / 32 : 1, high, *digit, lanes});
  return true;
}

/* ---- Telling groups apart ---- */
static void add_index(tf_lowering *lowering, int64_t extent, LLVMValueRef value, tf_group *out) {
  if (extent <= 1) return;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef scaled = LLVMBuildMul(b, value, tf_llvm_i32(lowering, out->groups), "");
  out->index = out->index ? LLVMBuildAdd(b, out->index, scaled, "") : scaled;
  out->groups *= extent;
}

/* An axis of the source's mesh that no factor walks: it replicates the value, or holds a share of it (Partial). */
static tf_digit whole_axis(tf_lowering *lowering, const tf_placement *placement, unsigned axis) {
  return (tf_digit){.extent = placement->axes[axis].extent,
                    .value = tf_lower_placement_axis(lowering, placement, axis),
                    .placement = placement,
                    .mesh_axis = axis,
                    .divisor = 1};
}

static bool add_free_axes(tf_lowering *lowering, const tf_reduction *r, tf_group *out) {
  const tf_layout *layout = tf_type_layout(r->source.type);
  const tf_mesh *mesh = r->source.view->ownership->mesh;
  const tf_placement *placement = mesh ? tf_region_placement(&lowering->region, mesh, NULL) : NULL;
  for (unsigned axis = 0; placement && tf_layout_is_shard(layout) && axis < tf_layout_attr_count(layout); axis++) {
    tf_shard_kind kind = tf_layout_attr(layout, axis).kind;
    bool is_cta = placement->levels[placement->axes[axis].level].level == TF_LEVEL_CTA;
    if (is_cta || (kind != TF_SHARD_BROADCAST && kind != TF_SHARD_PARTIAL)) continue;
    tf_digit digit = whole_axis(lowering, placement, axis);
    if (kind == TF_SHARD_BROADCAST)
      add_index(lowering, static_of(digit.extent, 0), digit.value, out);
    else if (!add_member_digit(lowering, &digit, out))
      return false;
  }
  return true;
}

static bool add_factors(tf_lowering *lowering, const tf_driver *driver, const tf_projection *results, tf_group *out) {
  for (unsigned i = 0; i < driver->digit_count; i++) {
    const tf_digit *digit = &driver->digits[i];
    if (digit->is_local || digit->is_cta) continue;
    int64_t step = static_of(results->steps[i], -1), extent = static_of(digit->extent, -1);
    if (step < 0 || extent < 0) return false;
    if (step > 0)
      add_index(lowering, extent, digit->value, out);
    else if (!add_member_digit(lowering, digit, out))
      return false;
  }
  return true;
}

/* ---- Members ---- */
static void count_members(tf_group *group) {
  group->lane_members = group->warp_members = 1;
  group->pattern = 1;
  for (unsigned i = 0; i < group->lane_count; i++) {
    uint32_t one = group->pattern;
    for (int64_t digit = 1; digit < group->lanes[i].extent; digit++)
      group->pattern |= one << (digit * group->lanes[i].stride);
    group->lane_members *= group->lanes[i].extent;
  }
  for (unsigned i = 0; i < group->warp_count; i++)
    group->warp_members *= group->warps[i].extent;
}

/* This thread's digit, in numbers. */
static bool part_of_thread(const tf_group_digit *digit, int64_t thread, int64_t *out) {
  if (!tf_digit_of_thread(&digit->of, thread, out)) return false;
  *out = *out / digit->below % digit->extent;
  return true;
}

static bool is_aligned(const tf_lowering *lowering, const tf_group_digit *digit) {
  const tf_thread_set *active = &lowering->region.active;
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    int64_t value;
    if (part_of_thread(digit, t, &value) && t % 32 / digit->stride % digit->extent != value) return false;
  }
  return true;
}

/* Who meets directly along a warp digit. */
static void join_along(const tf_lowering *lowering, const tf_group_digit *digit, tf_group *group) {
  const tf_thread_set *active = &lowering->region.active;
  for (int64_t t = tf_threads_next(active, 0); t >= 0; t = tf_threads_next(active, t + 1)) {
    int64_t value;
    if (!part_of_thread(digit, t, &value)) continue;
    int64_t first = t / 32 - value * digit->stride;
    for (int64_t k = 0; k < digit->extent; k++)
      group->joined[t / 32] |= 1u << (first + k * digit->stride);
  }
}

/* Per warp all that it meets, directly or through others. */
static void join_warps(const tf_lowering *lowering, tf_group *group) {
  bool changed = true;
  for (int64_t t = tf_threads_next(&lowering->region.active, 0); t >= 0;
       t = tf_threads_next(&lowering->region.active, t + 1))
    group->joined[t / 32] = 1u << (t / 32);
  for (unsigned i = 0; i < group->warp_count; i++)
    join_along(lowering, &group->warps[i], group);
  while (changed) {
    changed = false;
    for (unsigned a = 0; a < TF_MAX_BLOCK / 32; a++)
      for (unsigned b = 0; b < TF_MAX_BLOCK / 32; b++)
        if ((group->joined[a] >> b & 1) && (group->joined[b] & ~group->joined[a])) {
          group->joined[a] |= group->joined[b];
          changed = true;
        }
  }
}

bool tf_group_of(tf_lowering *lowering, const tf_reduction *r, const tf_driver *driver, const tf_projection *results,
                 tf_group *out) {
  *out = (tf_group){.groups = 1};
  if (!add_factors(lowering, driver, results, out) || !add_free_axes(lowering, r, out)) return false;
  if (!out->index) out->index = tf_llvm_i32(lowering, 0);
  count_members(out);
  join_warps(lowering, out);
  out->aligned = true;
  for (unsigned i = 0; i < out->lane_count; i++)
    out->aligned = out->aligned && is_aligned(lowering, &out->lanes[i]);
  return true;
}

/* ---- Barriers ---- */
static bool is_whole_block(const tf_lowering *lowering, const tf_site *site) {
  int64_t block = lowering->region.geometry->block;
  tf_thread_set all = tf_threads_interval(0, block);
  return site->block_uniform && tf_threads_equal(&site->active, &all);
}

/* The first of the ids that this statement drew; the copies of an unrolled loop share them. */
static int drawn_id(tf_lowering *lowering, int count) {
  for (size_t i = 0; i < lowering->drawn.count; i++) {
    const tf_drawn_barrier *drawn = &lowering->drawn.items[i];
    if (drawn->path == lowering->region.path && drawn->stmt == lowering->stmt) return drawn->id;
  }
  tf_drawn_barrier drawn = {lowering->region.path, lowering->stmt,
                            lowering->kernel->named_barriers + lowering->drawn_barriers + 1};
  lowering->drawn_barriers += count;
  if (drawn.id + count - 1 > 15) {
    tf_report(lowering->context, lowering->loc, LOWER_BARRIERS, drawn.id + count - 1);
    tf_lower_fail(lowering);
  }
  TF_VEC_PUSH(lowering->arena, &lowering->drawn, drawn);
  return drawn.id;
}

static int64_t threads_of(const tf_lowering *lowering, uint32_t warps) {
  int64_t count = 0;
  for (int64_t t = tf_threads_next(&lowering->region.active, 0); t >= 0;
       t = tf_threads_next(&lowering->region.active, t + 1))
    count += warps >> (t / 32) & 1;
  return count;
}

/* Disjoint sets of warps that meet, each with an id of its own. */
static void named_barriers(tf_lowering *lowering, const tf_group *group) {
  LLVMBuilderRef b = lowering->builder;
  uint32_t sets[TF_MAX_BLOCK / 32];
  int count = 0;
  for (unsigned warp = 0; warp < TF_MAX_BLOCK / 32; warp++)
    if (group->joined[warp] && (group->joined[warp] & ((1u << warp) - 1)) == 0) sets[count++] = group->joined[warp];
  int first = drawn_id(lowering, count);
  LLVMValueRef id = tf_llvm_i32(lowering, first), threads = tf_llvm_i32(lowering, threads_of(lowering, sets[0]));
  LLVMValueRef warp = tf_lower_program_id(lowering, TF_LEVEL_WARP);
  for (int i = 1; i < count; i++) {
    LLVMValueRef bit = LLVMBuildLShr(b, tf_llvm_i32(lowering, (int64_t)sets[i]), warp, "");
    LLVMValueRef here = LLVMBuildTrunc(b, bit, tf_llvm_int(lowering, 1), "");
    id = LLVMBuildSelect(b, here, tf_llvm_i32(lowering, first + i), id, "");
    threads = LLVMBuildSelect(b, here, tf_llvm_i32(lowering, threads_of(lowering, sets[i])), threads, "");
  }
  LLVMValueRef args[2] = {id, threads};
  tf_lower_intrinsic(lowering, TF_INTRINSIC_BARRIER_COUNT, "a barrier", 2, args);
}

void tf_group_barrier(tf_lowering *lowering, const tf_group *group) {
  const tf_site *site = tf_kernel_site(lowering->context, lowering->kernel, lowering->region.path, lowering->stmt);
  if (site && !is_whole_block(lowering, site)) {
    named_barriers(lowering, group);
    return;
  }
  LLVMValueRef id = tf_llvm_i32(lowering, 0);
  tf_lower_intrinsic(lowering, TF_INTRINSIC_BARRIER_BLOCK, "a barrier", 1, &id);
}
