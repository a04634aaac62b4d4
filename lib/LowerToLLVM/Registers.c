/* Registers: which of a thread's local values does a position of the driver mean?
 *
 * Both sides are lists of factors over logical indices. The pairing routine of the IR compares them for every thread of the
 * block; here its answer is put together with where a window's local values lie in the allocation. Factors that CTAs walk
 * have no share in a thread's registers and may be symbolic: equal ones are taken off both sides first. */
#include "LowerToLLVM/AccessImpl.h"

#include "IR/DimImpl.h"
#include "IR/Share.h"

/* ---- Numbers of a view's local values ---- */
/* Static part of a register view's start; false when it is only known at run time. */
static bool static_start(tf_lowering *lowering, const tf_tensor *tensor, int64_t *out) {
  int64_t divisor;
  LLVMValueRef start = tf_tensor_start(lowering, tensor, &divisor);
  *out = 0;
  return !start || tf_lower_is_constant(start, out);
}

static int64_t number_at(const tf_view *view, int64_t position) {
  int64_t number = 0;
  for (unsigned i = 0; i < view->ownership->local_count; i++) {
    unsigned index = view->ownership->local[i];
    int64_t extent = 1, stride = 0;
    tf_dim_is_static(view->ownership->factors[index].extent, &extent);
    tf_dim_is_static(view->digit_strides[index], &stride);
    number += position % extent * stride;
    position /= extent;
  }
  return number;
}

const int32_t *tf_tensor_numbers(tf_lowering *lowering, const tf_tensor *tensor, int64_t *count) {
  *count = tf_ownership_local_numel(tensor->view->ownership);
  int32_t *numbers = TF_ARENA_ARRAY(lowering->arena, int32_t, *count > 0 ? *count : 0);
  for (int64_t i = 0; i < *count; i++)
    numbers[i] = (int32_t)number_at(tensor->view, i);
  return numbers;
}

const int32_t *tf_tensor_registers(tf_lowering *lowering, const tf_tensor *tensor, int64_t *count) {
  int64_t start;
  if (!static_start(lowering, tensor, &start)) return NULL;
  int32_t *numbers = (int32_t *)(uintptr_t)tf_tensor_numbers(lowering, tensor, count);
  for (int64_t i = 0; i < *count; i++)
    numbers[i] += (int32_t)start;
  return numbers;
}

static LLVMValueRef register_pointer(tf_lowering *lowering, const tf_tensor *tensor, int64_t number) {
  LLVMValueRef index = tf_llvm_i32(lowering, number);
  return LLVMBuildInBoundsGEP2(lowering->builder, tensor->element, tensor->pointer, &index, 1, "");
}

LLVMValueRef tf_register_load(tf_lowering *lowering, const tf_tensor *tensor, int64_t number) {
  return LLVMBuildLoad2(lowering->builder, tensor->element, register_pointer(lowering, tensor, number), "");
}

void tf_register_store(tf_lowering *lowering, const tf_tensor *tensor, int64_t number, LLVMValueRef value) {
  LLVMBuildStore(lowering->builder, value, register_pointer(lowering, tensor, number));
}

/* ---- Pairing ---- */
static bool is_cta_factor(tf_lowering *lowering, const tf_ownership *ownership, const tf_factor *factor) {
  if (factor->mesh_axis < 0) return false;
  const tf_placement *placement = tf_region_placement(&lowering->region, ownership->mesh, NULL);
  return placement && placement->levels[placement->axes[factor->mesh_axis].level].level == TF_LEVEL_CTA;
}

static tf_ownership *without_ctas(tf_lowering *lowering, const tf_ownership *ownership) {
  tf_ownership *out = TF_ARENA_NEW(&lowering->context->arena, tf_ownership);
  *out = *ownership;
  out->factor_count = out->local_count = 0;
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (is_cta_factor(lowering, ownership, factor)) continue;
    if (factor->mesh_axis < 0) out->local[out->local_count++] = out->factor_count;
    out->factors[out->factor_count++] = *factor;
  }
  return out;
}

/* What one step of a factor of `to` adds to the logical index of `from`, with broadcasting; null if that is not known. */
static const tf_dim *mapped_step(tf_context *context, const tf_factor *factor, const tf_type *to, const tf_type *from) {
  if (tf_type_numel(context, to) == tf_type_numel(context, from)) return factor->step;
  int axis = factor->shape_axis - (int)tf_type_rank(to) + (int)tf_type_rank(from);
  if (factor->shape_axis < 0) return NULL;
  if (axis < 0 || tf_type_extent(from, (unsigned)axis) == tf_dim_int(context, 1)) return tf_dim_int(context, 0);
  const tf_dim *step = factor->unit;
  for (unsigned i = (unsigned)axis + 1; i < tf_type_rank(from); i++)
    step = tf_dim_binary(context, TF_DIM_MUL, step, tf_type_extent(from, i));
  return step;
}

static bool has_cta_factor(tf_lowering *lowering, const tf_ownership *ownership, const tf_factor *wanted,
                           const tf_dim *step) {
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    const tf_factor *factor = &ownership->factors[i];
    if (is_cta_factor(lowering, ownership, factor) && factor->step == step && factor->extent == wanted->extent)
      return true;
  }
  return false;
}

static unsigned cta_factor_count(tf_lowering *lowering, const tf_ownership *ownership) {
  unsigned count = 0;
  for (unsigned i = 0; i < ownership->factor_count; i++)
    count += is_cta_factor(lowering, ownership, &ownership->factors[i]);
  return count;
}

/* Whether CTAs walk both alike, or `from` is broadcast along what they walk of `to`. */
static bool same_cta_factors(tf_lowering *lowering, const tf_comparison *c) {
  unsigned matched = 0;
  for (unsigned i = 0; i < c->to->factor_count; i++) {
    const tf_factor *factor = &c->to->factors[i];
    if (!is_cta_factor(lowering, c->to, factor)) continue;
    const tf_dim *step = mapped_step(lowering->context, factor, c->to_type, c->from_type);
    if (step == tf_dim_int(lowering->context, 0)) continue;
    if (!step || !has_cta_factor(lowering, c->from, factor, step)) return false;
    matched++;
  }
  return matched == cta_factor_count(lowering, c->from);
}

static bool is_static_ownership(const tf_ownership *ownership) {
  int64_t ignored;
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (!tf_dim_is_static(ownership->factors[i].extent, &ignored) ||
        !tf_dim_is_static(ownership->factors[i].step, &ignored))
      return false;
  return true;
}

/* Rows of the first axis that a CTA's share reaches; -1: unknown. */
static int64_t reached_rows(const tf_ownership *ownership, const tf_type *type) {
  int64_t span = 1, inner = 1, extent, step;
  for (unsigned i = 0; i < ownership->factor_count; i++) {
    if (!tf_dim_is_static(ownership->factors[i].extent, &extent) ||
        !tf_dim_is_static(ownership->factors[i].step, &step))
      return -1;
    span += (extent - 1) * step;
  }
  for (unsigned axis = 1; axis < tf_type_rank(type); axis++) {
    if (!tf_dim_is_static(tf_type_extent(type, axis), &extent)) return -1;
    inner *= extent;
  }
  return inner > 0 ? (span + inner - 1) / inner : -1;
}

static const tf_type *with_rows(tf_context *context, const tf_type *type, int64_t rows) {
  const tf_dim *shape[TF_MAX_RANK];
  for (unsigned axis = 0; axis < tf_type_rank(type); axis++)
    shape[axis] = axis == 0 ? tf_dim_int(context, rows) : tf_type_extent(type, axis);
  return tf_type_tensor(context, tf_type_rank(type), shape, tf_type_dtype(type), NULL, tf_type_storage(type));
}

/* A first axis of unknown length counts what one CTA has of it: no step depends on it. */
static void limit_rows(tf_lowering *lowering, tf_comparison *c) {
  int64_t ignored;
  bool to = tf_type_rank(c->to_type) > 0 && !tf_dim_is_static(tf_type_extent(c->to_type, 0), &ignored);
  bool from = tf_type_rank(c->from_type) > 0 && !tf_dim_is_static(tf_type_extent(c->from_type, 0), &ignored);
  int64_t rows = to ? reached_rows(c->to, c->to_type) : 0, others = from ? reached_rows(c->from, c->from_type) : 0;
  if (rows < 0 || others < 0) return;
  if (others > rows) rows = others;
  if (to) c->to_type = with_rows(lowering->context, c->to_type, rows);
  if (from) c->from_type = with_rows(lowering->context, c->from_type, rows);
}

/* ---- The same where sizes behind the first axis are known at launch only ---- */
typedef struct share_placements {
  const tf_placement *placements[2];
} share_placements;

static bool share_is_cta(void *user, unsigned share, const tf_factor *factor) {
  const tf_placement *placement = ((share_placements *)user)->placements[share];
  return placement && factor->mesh_axis >= 0 &&
         placement->levels[placement->axes[factor->mesh_axis].level].level == TF_LEVEL_CTA;
}

static bool share_is_same(void *user, const tf_factor *first, unsigned share, const tf_factor *other) {
  const share_placements *p = user;
  return first->divisor == other->divisor && tf_placement_same_axis(p->placements[0], (unsigned)first->mesh_axis,
                                                                    p->placements[share], (unsigned)other->mesh_axis);
}

static const tf_placement *placement_of(tf_lowering *lowering, const tf_ownership *ownership) {
  return ownership->mesh ? tf_region_placement(&lowering->region, ownership->mesh, NULL) : NULL;
}

/* Equal counts pair in C order, which is axis by axis for equal shapes only. */
static bool pairs_by_axis(tf_lowering *lowering, const tf_comparison *c) {
  unsigned rank = tf_type_rank(c->to_type);
  if (tf_type_numel(lowering->context, c->to_type) != tf_type_numel(lowering->context, c->from_type)) return true;
  for (unsigned axis = 0; axis < rank && rank == tf_type_rank(c->from_type); axis++)
    if (tf_type_extent(c->to_type, axis) != tf_type_extent(c->from_type, axis)) return false;
  return rank == tf_type_rank(c->from_type);
}

static bool shorten(tf_lowering *lowering, tf_comparison *c) {
  tf_share shares[2] = {{c->to, c->to_type}, {c->from, c->from_type}};
  share_placements user = {{placement_of(lowering, c->to), placement_of(lowering, c->from)}};
  tf_share_query query = {share_is_cta, share_is_same, &user};
  if (!tf_share_is_open(&shares[0]) && !tf_share_is_open(&shares[1])) return false;
  if (!pairs_by_axis(lowering, c) || !tf_shares_of_one_cta(lowering->context, 2, shares, &query)) return false;
  *c = (tf_comparison){shares[0].ownership, shares[1].ownership, shares[0].type, shares[1].type};
  return true;
}

bool tf_lower_comparable(tf_lowering *lowering, tf_comparison *comparison) {
  if (shorten(lowering, comparison)) return true;
  if (same_cta_factors(lowering, comparison)) {
    comparison->to = without_ctas(lowering, comparison->to);
    comparison->from = without_ctas(lowering, comparison->from);
    limit_rows(lowering, comparison);
  }
  return is_static_ownership(comparison->to) && is_static_ownership(comparison->from);
}

const tf_pairing *tf_lower_pairing(tf_lowering *lowering, const tf_ownership *to, const tf_type *to_type,
                                   const tf_ownership *from, const tf_type *from_type) {
  const tf_placement *placements[2] = {NULL, NULL};
  const tf_mesh *meshes[2] = {to->mesh, from->mesh};
  tf_comparison c = {to, from, to_type, from_type};
  for (unsigned i = 0; i < 2; i++)
    if (meshes[i] && !(placements[i] = tf_region_placement(&lowering->region, meshes[i], NULL))) return NULL;
  if (!tf_lower_comparable(lowering, &c)) return NULL;
  int64_t threads = lowering->region.geometry->block;
  return tf_pairing_of(lowering->context, c.to, c.to_type, c.from, c.from_type, threads,
                       placements[0] ? tf_placement_instance : NULL, (void *)(uintptr_t)placements[0],
                       placements[1] ? tf_placement_instance : NULL, (void *)(uintptr_t)placements[1]);
}

/* Numbers, without the window's start, of the values at the driver's positions; null if they differ between threads. */
const int32_t *tf_driver_registers(tf_lowering *lowering, const tf_driver *driver, const tf_tensor *tensor) {
  int64_t count = 0;
  const int32_t *numbers = tf_tensor_numbers(lowering, tensor, &count);
  if (driver->ownership == tensor->view->ownership && driver->type == tensor->type) return count >= 0 ? numbers : NULL;
  if (!driver->ownership) return NULL;
  const tf_pairing *pairing =
      tf_lower_pairing(lowering, driver->ownership, driver->type, tensor->view->ownership, tensor->type);
  if (!pairing || pairing->kind != TF_PAIRING_UNIFORM || pairing->count != driver->count) return NULL;
  int32_t *registers = TF_ARENA_ARRAY(lowering->arena, int32_t, pairing->count);
  for (int64_t i = 0; i < pairing->count; i++)
    registers[i] = numbers[pairing->position[i]];
  return registers;
}
