/* Loads and stores of chunks; the cases are in Access.c. Values that a guard may skip are joined by phis. */
#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Project.h"

LLVMValueRef tf_driver_exists(tf_lowering *lowering, const tf_driver *driver, int64_t position) {
  if (driver->seen) return tf_driver_sees(lowering, driver, position);
  if (!driver->limit) return NULL;
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef index = tf_llvm_i64(lowering, 0);
  for (unsigned i = 0, local = 0; i < driver->digit_count; i++) {
    const tf_digit *digit = &driver->digits[i];
    LLVMValueRef value;
    if (digit->value)
      value = tf_emit_resize(lowering, digit->value, 64, tf_facts_range(0, INT32_MAX));
    else
      value = tf_llvm_i64(lowering, tf_driver_local_digit(driver, position, local));
    local += digit->is_local;
    index = LLVMBuildAdd(b, index, LLVMBuildMul(b, value, tf_lower_dim(lowering, digit->step), ""), "");
  }
  return LLVMBuildICmp(b, LLVMIntULT, index, tf_lower_dim(lowering, driver->limit), "");
}

static int64_t nth(const tf_access *access, int64_t position, unsigned inner, unsigned n) {
  return position + n * access->driver->digits[access->driver->local[inner]].stride;
}

/* ---- Registers ---- */
static LLVMValueRef gather(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner,
                           unsigned width) {
  const tf_tensor *tensor = access->tensor;
  LLVMValueRef vector = NULL;
  for (unsigned i = 0; i < width; i++) {
    int64_t at = width == 1 ? position : nth(access, position, inner, i);
    LLVMValueRef value =
        LLVMBuildLoad2(lowering->builder, tensor->element, tf_access_address(lowering, access, at), "");
    vector = tf_llvm_insert(lowering, tensor->element, width, vector, value, i);
  }
  return vector;
}

static void scatter(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner, unsigned width,
                    LLVMValueRef vector) {
  for (unsigned i = 0; i < width; i++) {
    int64_t at = width == 1 ? position : nth(access, position, inner, i);
    LLVMValueRef value = tf_llvm_extract(lowering, vector, i);
    LLVMBuildStore(lowering->builder, value, tf_access_address(lowering, access, at));
  }
}

/* ---- Memory, all elements inside ---- */
static LLVMValueRef slice(tf_lowering *lowering, LLVMValueRef vector, unsigned from, unsigned count, unsigned width) {
  LLVMValueRef mask[64];
  if (count == width) return vector;
  if (count == 1) return tf_llvm_extract(lowering, vector, from);
  for (unsigned i = 0; i < count; i++)
    mask[i] = tf_llvm_i32(lowering, from + i);
  return LLVMBuildShuffleVector(lowering->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                LLVMConstVector(mask, count), "");
}

static LLVMValueRef load_runs(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner,
                              unsigned width) {
  const tf_tensor *tensor = access->tensor;
  unsigned run = width == 1 ? 1 : tf_access_width(lowering, access, inner, width);
  unsigned alignment = run * tf_dtype_bytes(tensor->dtype);
  LLVMValueRef vector = NULL;
  for (unsigned i = 0; i < width; i += run) {
    LLVMValueRef pointer = tf_access_address(lowering, access, width == 1 ? position : nth(access, position, inner, i));
    LLVMValueRef part = tf_tensor_load(lowering, tensor, pointer, run, alignment);
    if (run == width) return part;
    for (unsigned j = 0; j < run; j++)
      vector = tf_llvm_insert(lowering, tensor->element, width, vector, tf_llvm_extract(lowering, part, j), i + j);
  }
  return vector;
}

static void store_runs(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner, unsigned width,
                       LLVMValueRef vector) {
  unsigned run = width == 1 ? 1 : tf_access_width(lowering, access, inner, width);
  unsigned alignment = run * tf_dtype_bytes(access->tensor->dtype);
  for (unsigned i = 0; i < width; i += run) {
    LLVMValueRef pointer = tf_access_address(lowering, access, width == 1 ? position : nth(access, position, inner, i));
    tf_tensor_store(lowering, pointer, slice(lowering, vector, i, run, width), alignment);
  }
}

/* ---- Memory, some elements outside ---- */
static bool is_guarded(const tf_access *access) {
  return access->tensor->view->clip_count > 0 || access->driver->limit || access->driver->seen;
}

/* What elements outside read as; those past a deal's end are never used. */
static LLVMValueRef outside_value(tf_lowering *lowering, const tf_access *access, unsigned width) {
  const tf_tensor *tensor = access->tensor;
  if (tensor->view->clip_count == 0) return LLVMGetPoison(tf_llvm_vector(tensor->element, width));
  return tf_llvm_splat(lowering, tf_tensor_clip_value(lowering, tensor), width);
}

/* Joins the value made inside a guard with the one that stands before it. */
static LLVMValueRef join(tf_lowering *lowering, const tf_guard *guard, LLVMBasicBlockRef before, LLVMValueRef otherwise,
                         LLVMValueRef made) {
  LLVMBasicBlockRef blocks[2] = {before, LLVMGetInsertBlock(lowering->builder)};
  LLVMValueRef values[2] = {otherwise, made};
  tf_lower_guard_end(lowering, guard);
  if (!guard->join) return made;
  LLVMValueRef phi = LLVMBuildPhi(lowering->builder, LLVMTypeOf(made), "");
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}

static LLVMValueRef load_if(tf_lowering *lowering, const tf_access *access, LLVMValueRef condition, int64_t position,
                            unsigned inner, unsigned width, LLVMValueRef otherwise) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(lowering->builder);
  tf_guard guard;
  if (!tf_lower_guard_likely(lowering, condition, &guard)) return otherwise;
  return join(lowering, &guard, before, otherwise, load_runs(lowering, access, position, inner, width));
}

static LLVMValueRef load_each(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner,
                              unsigned width) {
  LLVMValueRef vector = NULL, outside = outside_value(lowering, access, 1);
  for (unsigned i = 0; i < width; i++) {
    int64_t at = nth(access, position, inner, i);
    LLVMValueRef inside = tf_access_inside(lowering, access, at);
    LLVMValueRef value = load_if(lowering, access, inside, at, inner, 1, outside);
    vector = tf_llvm_insert(lowering, access->tensor->element, width, vector, value, i);
  }
  return vector;
}

static LLVMValueRef first_and_last(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner,
                                   unsigned width) {
  LLVMValueRef first = tf_access_inside(lowering, access, position);
  LLVMValueRef last = tf_access_inside(lowering, access, nth(access, position, inner, width - 1));
  return LLVMBuildAnd(lowering->builder, first, last, "");
}

LLVMValueRef tf_access_load(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner,
                            unsigned width) {
  if (access->registers) return gather(lowering, access, position, inner, width);
  if (!is_guarded(access)) return load_runs(lowering, access, position, inner, width);
  if (width == 1 || tf_access_is_coarse(lowering, access, inner, width))
    return load_if(lowering, access, tf_access_inside(lowering, access, position), position, inner, width,
                   outside_value(lowering, access, width));
  if (tf_access_width(lowering, access, inner, width) == 1 || !tf_access_is_monotonic(access, inner))
    return load_each(lowering, access, position, inner, width);
  LLVMValueRef whole = first_and_last(lowering, access, position, inner, width), values[2];
  LLVMBasicBlockRef fast = tf_lower_new_block(lowering, "whole"), slow = tf_lower_new_block(lowering, "edge"), ends[2];
  LLVMBasicBlockRef after = tf_lower_new_block(lowering, "loaded");
  tf_lower_branch_likely(lowering, whole, fast, slow);
  LLVMPositionBuilderAtEnd(lowering->builder, fast);
  values[0] = load_runs(lowering, access, position, inner, width);
  ends[0] = LLVMGetInsertBlock(lowering->builder);
  LLVMBuildBr(lowering->builder, after);
  LLVMPositionBuilderAtEnd(lowering->builder, slow);
  values[1] = load_each(lowering, access, position, inner, width);
  ends[1] = LLVMGetInsertBlock(lowering->builder);
  tf_lower_enter_block(lowering, after);
  LLVMValueRef phi = LLVMBuildPhi(lowering->builder, LLVMTypeOf(values[0]), "");
  LLVMAddIncoming(phi, values, ends, 2);
  return phi;
}

static void store_if(tf_lowering *lowering, const tf_access *access, LLVMValueRef condition, int64_t position,
                     unsigned inner, unsigned width, LLVMValueRef value) {
  tf_guard guard;
  if (!tf_lower_guard_likely(lowering, condition, &guard)) return;
  store_runs(lowering, access, position, inner, width, value);
  tf_lower_guard_end(lowering, &guard);
}

static void store_each(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner, unsigned width,
                       LLVMValueRef value) {
  for (unsigned i = 0; i < width; i++) {
    int64_t at = nth(access, position, inner, i);
    LLVMValueRef inside = tf_access_inside(lowering, access, at);
    store_if(lowering, access, inside, at, inner, 1, tf_llvm_extract(lowering, value, i));
  }
}

void tf_access_store(tf_lowering *lowering, const tf_access *access, int64_t position, unsigned inner, unsigned width,
                     LLVMValueRef value) {
  if (access->registers) {
    scatter(lowering, access, position, inner, width, value);
    return;
  }
  if (!is_guarded(access)) {
    store_runs(lowering, access, position, inner, width, value);
    return;
  }
  if (width == 1 || tf_access_is_coarse(lowering, access, inner, width)) {
    store_if(lowering, access, tf_access_inside(lowering, access, position), position, inner, width, value);
    return;
  }
  if (tf_access_width(lowering, access, inner, width) == 1 || !tf_access_is_monotonic(access, inner)) {
    store_each(lowering, access, position, inner, width, value);
    return;
  }
  LLVMValueRef whole = first_and_last(lowering, access, position, inner, width);
  LLVMBasicBlockRef fast = tf_lower_new_block(lowering, "whole"), slow = tf_lower_new_block(lowering, "edge");
  LLVMBasicBlockRef after = tf_lower_new_block(lowering, "stored");
  tf_lower_branch_likely(lowering, whole, fast, slow);
  LLVMPositionBuilderAtEnd(lowering->builder, fast);
  store_runs(lowering, access, position, inner, width, value);
  LLVMBuildBr(lowering->builder, after);
  LLVMPositionBuilderAtEnd(lowering->builder, slow);
  store_each(lowering, access, position, inner, width, value);
  tf_lower_enter_block(lowering, after);
}
