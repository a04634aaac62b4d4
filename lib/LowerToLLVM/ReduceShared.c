/* Sources that are dealt out to threads; see Reduce.h. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Mma.h"
#include "LowerToLLVM/Reduce.h"

static int64_t static_of(const tf_dim *dim, int64_t otherwise) {
  int64_t value;
  return dim && tf_dim_is_static(dim, &value) ? value : otherwise;
}

/* ---- Lanes ---- */
/* Lanes that take part: this group's, or all of a warp that is known to be together. */
static LLVMValueRef member_mask(tf_lowering *lowering, const tf_group *group) {
  LLVMBuilderRef b = lowering->builder;
  if (group->pattern == UINT32_MAX || tf_lower_is_warp_converged(lowering)) return tf_llvm_i32(lowering, -1);
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  LLVMValueRef first = LLVMBuildAnd(b, thread, tf_llvm_i32(lowering, 31), "");
  for (unsigned i = 0; i < group->lane_count; i++) {
    LLVMValueRef stride = tf_llvm_i32(lowering, group->lanes[i].stride);
    first = LLVMBuildSub(b, first, LLVMBuildMul(b, group->lanes[i].value, stride, ""), "");
  }
  return LLVMBuildShl(b, tf_llvm_i32(lowering, (int64_t)group->pattern), first, "");
}

static LLVMValueRef shuffle_word(tf_lowering *lowering, tf_intrinsic_id id, LLVMValueRef mask, LLVMValueRef word,
                                 LLVMValueRef lane) {
  LLVMValueRef args[4] = {mask, word, lane, tf_llvm_i32(lowering, 31)};
  return tf_lower_intrinsic(lowering, id, "a shuffle", 4, args);
}

/* 64-bit values travel in two halves. */
static LLVMValueRef shuffle(tf_lowering *lowering, tf_intrinsic_id id, LLVMValueRef mask, LLVMValueRef value,
                            LLVMValueRef lane, unsigned bits) {
  LLVMBuilderRef b = lowering->builder;
  LLVMTypeRef type = LLVMTypeOf(value), word = tf_llvm_int(lowering, 32), wide = tf_llvm_int(lowering, 64);
  if (bits == 32) {
    LLVMValueRef moved = shuffle_word(lowering, id, mask, LLVMBuildBitCast(b, value, word, ""), lane);
    return LLVMBuildBitCast(b, moved, type, "");
  }
  LLVMValueRef all = LLVMBuildBitCast(b, value, wide, ""), shift = tf_llvm_i64(lowering, 32);
  LLVMValueRef low = shuffle_word(lowering, id, mask, LLVMBuildTrunc(b, all, word, ""), lane);
  LLVMValueRef top = LLVMBuildTrunc(b, LLVMBuildLShr(b, all, shift, ""), word, "");
  LLVMValueRef high = shuffle_word(lowering, id, mask, top, lane);
  high = LLVMBuildShl(b, LLVMBuildZExt(b, high, wide, ""), shift, "");
  return LLVMBuildBitCast(b, LLVMBuildOr(b, high, LLVMBuildZExt(b, low, wide, ""), ""), type, "");
}

static bool is_power_of_two(int64_t value) {
  return (value & (value - 1)) == 0;
}

/* Whether the lane number has the digit at its stride's bit position, so that exclusive or moves it. */
static bool is_butterfly(const tf_group_digit *digit) {
  return is_power_of_two(digit->extent) && is_power_of_two(digit->stride);
}

static LLVMValueRef lane_id(tf_lowering *lowering) {
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  return LLVMBuildAnd(lowering->builder, thread, tf_llvm_i32(lowering, 31), "");
}

/* The values of digit + step come over where there are any; in the end digit 0 has all and hands it out. */
static LLVMValueRef tree_over(tf_lowering *lowering, const tf_reduction *r, const tf_group_digit *digit,
                              LLVMValueRef mask, LLVMValueRef value, unsigned bits) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef lane = lane_id(lowering), stride = tf_llvm_i32(lowering, digit->stride);
  for (int64_t step = 1; step < digit->extent; step *= 2) {
    LLVMValueRef reach = LLVMBuildAdd(b, digit->value, tf_llvm_i32(lowering, step), "");
    LLVMValueRef there = LLVMBuildICmp(b, LLVMIntULT, reach, tf_llvm_i32(lowering, digit->extent), "");
    LLVMValueRef from = LLVMBuildAdd(b, lane, tf_llvm_i32(lowering, step * digit->stride), "");
    from = LLVMBuildSelect(b, there, from, lane, "");
    LLVMValueRef other = shuffle(lowering, TF_INTRINSIC_SHFL_IDX, mask, value, from, bits);
    value = LLVMBuildSelect(b, there, tf_reduce_combine(lowering, r, value, other), value, "");
  }
  LLVMValueRef first = LLVMBuildSub(b, lane, LLVMBuildMul(b, digit->value, stride, ""), "");
  return shuffle(lowering, TF_INTRINSIC_SHFL_IDX, mask, value, first, bits);
}

/* The instruction that combines 32-bit integers over a whole warp; TF_INTRINSIC_COUNT: none. */
static tf_intrinsic_id warp_instruction(const tf_lowering *lowering, const tf_reduction *r, const tf_group *group) {
  bool is_signed = r->accumulator == TF_DTYPE_I32;
  tf_intrinsic_id id = TF_INTRINSIC_COUNT;
  if (group->lane_members != 32 || (!is_signed && r->accumulator != TF_DTYPE_U32)) return id;
  if (r->kind == TF_REDUCE_SUM) id = TF_INTRINSIC_REDUX_ADD;
  if (r->kind == TF_REDUCE_MIN) id = is_signed ? TF_INTRINSIC_REDUX_MIN : TF_INTRINSIC_REDUX_UMIN;
  if (r->kind == TF_REDUCE_MAX) id = is_signed ? TF_INTRINSIC_REDUX_MAX : TF_INTRINSIC_REDUX_UMAX;
  return id != TF_INTRINSIC_COUNT && tf_lower_has_intrinsic(lowering, id) ? id : TF_INTRINSIC_COUNT;
}

static LLVMValueRef over_lanes(tf_lowering *lowering, const tf_reduction *r, const tf_group *group, LLVMValueRef mask,
                               LLVMValueRef value) {
  unsigned bits = tf_dtype_bits(r->accumulator);
  tf_intrinsic_id whole = warp_instruction(lowering, r, group);
  if (whole != TF_INTRINSIC_COUNT) {
    LLVMValueRef args[2] = {value, mask};
    return tf_lower_intrinsic(lowering, whole, "a reduction over a warp", 2, args);
  }
  for (unsigned i = 0; i < group->lane_count; i++) {
    const tf_group_digit *digit = &group->lanes[i];
    if (!is_butterfly(digit) || !group->aligned) {
      value = tree_over(lowering, r, digit, mask, value, bits);
      continue;
    }
    for (int64_t step = digit->extent / 2; step >= 1; step /= 2) {
      LLVMValueRef distance = tf_llvm_i32(lowering, step * digit->stride);
      LLVMValueRef other = shuffle(lowering, TF_INTRINSIC_SHFL_BFLY, mask, value, distance, bits);
      value = tf_reduce_combine(lowering, r, value, other);
    }
  }
  return value;
}

/* ---- Warps ---- */
static LLVMValueRef warp_index(tf_lowering *lowering, const tf_group *group) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef index = tf_llvm_i32(lowering, 0);
  int64_t unit = 1;
  for (unsigned i = 0; i < group->warp_count; i++) {
    LLVMValueRef part = LLVMBuildMul(b, group->warps[i].value, tf_llvm_i32(lowering, unit), "");
    index = LLVMBuildAdd(b, index, part, "");
    unit *= group->warps[i].extent;
  }
  return index;
}

static LLVMValueRef all_zero(tf_lowering *lowering, unsigned count, const tf_group_digit *digits,
                             LLVMValueRef and_also) {
  LLVMBuilderRef b = lowering->builder;
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef zero = LLVMBuildICmp(b, LLVMIntEQ, digits[i].value, tf_llvm_i32(lowering, 0), "");
    and_also = and_also ? LLVMBuildAnd(b, and_also, zero, "") : zero;
  }
  return and_also;
}

/* Where partials lie in the workspace, in elements per step of each. What a thread reads together lies together; so does what
 * neighbouring lanes write:
 *
 *   lanes tell groups apart     warp 0: | group 0: j = 0 1 2 3 | group 1: 0 1 2 3 | ...   warp 1: | ...
 *   a warp serves one group     group 0: | j = 0: warp 0 1 2 3 | j = 1: 0 1 2 3 | ...     group 1: | ... */
typedef struct slots {
  LLVMTypeRef type;
  LLVMValueRef base;
  unsigned bytes, alignment; /* of an element, of base */
  bool written_again;        /* it is the author's, or the statement may run again */
  int64_t group, result, warp;
} slots;

/* The given workspace if it is large enough for all groups, replicas included, else scratch of our own. */
static void place_slots(tf_lowering *lowering, const tf_expr *workspace, int64_t elements, slots *out) {
  if (workspace) {
    tf_tensor tensor = tf_tensor_of(lowering, workspace);
    if (static_of(tf_type_numel(lowering->context, tensor.type), 0) >= elements && !tensor.view->inner) {
      int64_t divisor;
      LLVMValueRef start = tf_tensor_start(lowering, &tensor, &divisor);
      out->base = tf_tensor_pointer(lowering, &tensor, start, 0);
      out->written_again = true;
      while (out->alignment > out->bytes &&
             (tensor.alignment % out->alignment != 0 || divisor * out->bytes % out->alignment != 0))
        out->alignment /= 2;
      return;
    }
  }
  out->base = tf_shared_allocate(lowering, NULL, elements * out->bytes, out->alignment);
  out->written_again = lowering->loop_depth > 0;
}

static slots slots_of(tf_lowering *lowering, const tf_reduction *r, const tf_group *group, const tf_expr *workspace,
                      int64_t results) {
  slots out = {
      .type = tf_llvm_memory_type(lowering, r->accumulator), .bytes = tf_dtype_bytes(r->accumulator), .alignment = 16};
  int64_t warps = group->warp_members;
  bool by_lane = group->lane_members < 32 && group->groups > 1;
  place_slots(lowering, workspace, group->groups * results * warps, &out);
  out.group = by_lane ? results : results * warps;
  out.result = by_lane ? 1 : warps;
  out.warp = by_lane ? group->groups * results : 1;
  return out;
}

/* Neighbours of `count` that one access moves. */
static unsigned vector_of(const slots *s, int64_t step, int64_t count) {
  unsigned width = step == 1 ? s->alignment / s->bytes : 1;
  while (count % width != 0)
    width /= 2;
  return width;
}

static LLVMValueRef slot(tf_lowering *lowering, const slots *s, LLVMValueRef row, int64_t offset) {
  LLVMValueRef at = LLVMBuildAdd(lowering->builder, row, tf_llvm_i32(lowering, offset), "");
  return LLVMBuildGEP2(lowering->builder, s->type, s->base, &at, 1, "");
}

static void store_partials(tf_lowering *lowering, const slots *s, LLVMValueRef row, const tf_partials *partials) {
  unsigned width = vector_of(s, s->result, partials->count);
  for (int64_t j = 0; j < partials->count; j += width) {
    LLVMValueRef vector = NULL;
    for (unsigned i = 0; i < width; i++)
      vector = tf_llvm_insert(lowering, s->type, width, vector, partials->values[j + i], i);
    tf_tensor_store(lowering, slot(lowering, s, row, j * s->result), vector, width * s->bytes);
  }
}

/* values[j * warps + w]: the partials of result j. */
static LLVMValueRef *load_partials(tf_lowering *lowering, const slots *s, LLVMValueRef row, int64_t results,
                                   int64_t warps) {
  LLVMValueRef *values = TF_ARENA_ARRAY(lowering->arena, LLVMValueRef, results * warps);
  bool along_results = s->result == 1;
  int64_t count = along_results ? results : warps, others = along_results ? warps : results;
  unsigned width = vector_of(s, 1, count);
  LLVMTypeRef type = tf_llvm_vector(s->type, width);
  for (int64_t other = 0; other < others; other++)
    for (int64_t first = 0; first < count; first += width) {
      int64_t offset = first + other * (along_results ? s->warp : s->result);
      LLVMValueRef vector = LLVMBuildLoad2(lowering->builder, type, slot(lowering, s, row, offset), "");
      LLVMSetAlignment(vector, width * s->bytes);
      for (unsigned i = 0; i < width; i++) {
        int64_t at = along_results ? (first + i) * warps + other : other * warps + first + i;
        values[at] = tf_llvm_extract(lowering, vector, i);
      }
    }
  return values;
}

static void over_warps(tf_lowering *lowering, const tf_reduction *r, const tf_group *group, const tf_expr *workspace,
                       tf_partials *partials) {
  LLVMBuilderRef b = lowering->builder;
  slots s = slots_of(lowering, r, group, workspace, partials->count);
  LLVMValueRef row = LLVMBuildMul(b, group->index, tf_llvm_i32(lowering, s.group), "");
  LLVMValueRef warp = LLVMBuildMul(b, warp_index(lowering, group), tf_llvm_i32(lowering, s.warp), "");
  tf_guard guard;
  if (tf_lower_guard_begin(lowering, all_zero(lowering, group->lane_count, group->lanes, NULL), &guard)) {
    store_partials(lowering, &s, LLVMBuildAdd(b, row, warp, ""), partials);
    tf_lower_guard_end(lowering, &guard);
  }
  tf_group_barrier(lowering, group);
  LLVMValueRef *values = load_partials(lowering, &s, row, partials->count, group->warp_members);
  for (int64_t j = 0; j < partials->count; j++)
    partials->values[j] = tf_reduce_tree(lowering, r, group->warp_members, &values[j * group->warp_members]);
  if (s.written_again) tf_group_barrier(lowering, group);
}

/* Everything about the threads' shares that can fail, before any code is made. */
static bool plan(tf_lowering *lowering, const tf_reduction *r, tf_partials *out) {
  tf_affine map;
  if (!tf_driver_of(lowering, &r->source, &out->driver) || out->driver.count < 0) return false;
  tf_reduce_result_map(lowering->context, r, &map);
  tf_projection_make(lowering, &out->driver, &map, 32, false, &out->results);
  if (!out->results.separable || !tf_partials_find(lowering, out)) return false;
  return tf_group_of(lowering, r, &out->driver, &out->results, &out->group);
}

bool tf_reduce_can_deal(tf_lowering *lowering, const tf_reduction *r, const tf_tensor *destination) {
  tf_partials *partials = TF_ARENA_NEW(lowering->arena, tf_partials);
  return plan(lowering, r, partials) && tf_reduce_can_store(lowering, r, partials, destination);
}

bool tf_reduce_dealt(tf_lowering *lowering, const tf_reduction *r, const tf_expr *workspace, tf_partials *out) {
  if (!plan(lowering, r, out)) return false;
  tf_partials_accumulate(lowering, r, out);
  if (out->group.lane_count > 0) {
    LLVMValueRef mask = member_mask(lowering, &out->group);
    for (int64_t j = 0; j < out->count; j++)
      out->values[j] = over_lanes(lowering, r, &out->group, mask, out->values[j]);
  }
  if (out->group.warp_count > 0) over_warps(lowering, r, &out->group, workspace, out);
  return true;
}
