/* Registers: which of a thread's local values does a position of the driver mean?
 *
 * Both sides are lists of factors over logical indices. The pairing routine of the IR compares them for every thread of the
 * block; here its answer is put together with where a window's local values lie in the allocation. Factors that CTAs walk
 * have no share in a thread's registers and may be symbolic: equal ones are taken off both sides first. */
#include "LowerToLLVM/Access.h"

#include "IR/DimImpl.h"

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

static bool same_cta_factors(tf_lowering *lowering, const tf_ownership *a, const tf_ownership *b) {
  for (unsigned i = 0; i < a->factor_count; i++) {
    const tf_factor *factor = &a->factors[i];
    bool found = !is_cta_factor(lowering, a, factor);
    for (unsigned j = 0; j < b->factor_count && !found; j++)
      found = is_cta_factor(lowering, b, &b->factors[j]) && b->factors[j].step == factor->step &&
              b->factors[j].extent == factor->extent;
    if (!found) return false;
  }
  return true;
}

static bool is_static_ownership(const tf_ownership *ownership) {
  int64_t ignored;
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (!tf_dim_is_static(ownership->factors[i].extent, &ignored) ||
        !tf_dim_is_static(ownership->factors[i].step, &ignored))
      return false;
  return true;
}

bool tf_lower_comparable(tf_lowering *lowering, const tf_ownership **to, const tf_ownership **from) {
  bool ctas = same_cta_factors(lowering, *to, *from) && same_cta_factors(lowering, *from, *to);
  if (ctas) {
    *to = without_ctas(lowering, *to);
    *from = without_ctas(lowering, *from);
  }
  return is_static_ownership(*to) && is_static_ownership(*from);
}

const tf_pairing *tf_lower_pairing(tf_lowering *lowering, const tf_ownership *to, const tf_type *to_type,
                                   const tf_ownership *from, const tf_type *from_type) {
  const tf_placement *placements[2] = {NULL, NULL};
  const tf_mesh *meshes[2] = {to->mesh, from->mesh};
  for (unsigned i = 0; i < 2; i++)
    if (meshes[i] && !(placements[i] = tf_region_placement(&lowering->region, meshes[i], NULL))) return NULL;
  if (!tf_lower_comparable(lowering, &to, &from)) return NULL;
  int64_t threads = lowering->region.geometry->block;
  return tf_pairing_of(lowering->context, to, to_type, from, from_type, threads,
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
