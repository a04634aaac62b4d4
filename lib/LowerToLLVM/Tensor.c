/* Tensor operands down to pointers: the base's pointer, the view's constant and starts, the swizzle.
 *
 *   pointer = base + inner(constant + sum of starts + what the element adds)
 *
 * Offsets are in elements. 32 bits suffice where the whole storage has less than 2^31 bytes: every sum of valid parts is
 * then exact in i32, whatever the intermediate values are, and is sign-extended when it meets the pointer. */
#include "LowerToLLVM/Access.h"

#include "IR/DimImpl.h"
#include "LowerToLLVM/ConstLoads.h"
#include "LowerToLLVM/IntMath.h"

bool tf_tensor_is_register(const tf_tensor *tensor) {
  return tensor->storage == TF_STORAGE_RMEM;
}

static bool needs_wide(const tf_view *view, unsigned bytes) {
  if (tf_type_storage(view->base->type) == TF_STORAGE_RMEM || tf_type_storage(view->base->type) == TF_STORAGE_SMEM)
    return false;
  int64_t min, max;
  tf_dim_range(view->storage_size, &min, &max);
  return max > INT32_MAX / (int64_t)bytes;
}

tf_tensor tf_tensor_of(tf_lowering *lowering, const tf_expr *expr) {
  const tf_view *view = tf_view_of(lowering->context, expr, NULL);
  tf_binding *binding = tf_lower_find(lowering, view->base);
  tf_dtype dtype = tf_type_dtype(view->type);
  LLVMTypeRef element = tf_llvm_memory_type(lowering, dtype);
  LLVMValueRef missing = LLVMGetPoison(LLVMPointerTypeInContext(lowering->llvm, TF_SPACE_GENERIC));
  return (tf_tensor){.expr = expr,
                     .view = view,
                     .type = view->type,
                     .dtype = dtype,
                     .storage = tf_type_storage(view->base->type),
                     .is_const = view->base->kind == TF_EXPR_VAR && view->base->var.is_const,
                     .element = element,
                     .pointer = binding ? binding->value : missing,
                     .alignment = binding ? binding->alignment : tf_dtype_bytes(dtype),
                     .wide = needs_wide(view, tf_dtype_bytes(dtype))};
}

/* ---- Starts ---- */
/* This instance's digit for a start that an outer distribution decides. */
static LLVMValueRef start_digit(tf_lowering *lowering, const tf_view_start *start) {
  LLVMValueRef coordinate = tf_lower_coordinate(lowering, start->mesh, start->mesh_axis);
  LLVMValueRef digit = LLVMBuildUDiv(lowering->builder, coordinate, tf_llvm_i32(lowering, start->divisor), "");
  return LLVMBuildURem(lowering->builder, digit, tf_lower_dim32(lowering, start->extent), "");
}

static LLVMValueRef start_value(tf_lowering *lowering, const tf_view_start *start, unsigned bits) {
  if (start->index) return tf_lower_int(lowering, start->index, bits);
  return tf_emit_resize(lowering, start_digit(lowering, start), bits, tf_facts_range(0, INT32_MAX));
}

static LLVMValueRef dim_as(tf_lowering *lowering, const tf_dim *dim, unsigned bits) {
  return bits == 32 ? tf_lower_dim32(lowering, dim) : tf_lower_dim(lowering, dim);
}

/* Adds value * stride; value and sum may be null for 0. */
static LLVMValueRef add_scaled(tf_lowering *lowering, LLVMValueRef sum, LLVMValueRef value, const tf_dim *stride,
                               unsigned bits) {
  value = tf_emit_resize(lowering, value, bits, TF_FACTS_NONE);
  LLVMValueRef part = LLVMBuildMul(lowering->builder, value, dim_as(lowering, stride, bits), "");
  return sum ? LLVMBuildAdd(lowering->builder, sum, part, "") : part;
}

LLVMValueRef tf_tensor_start(tf_lowering *lowering, const tf_tensor *tensor, int64_t *divisor) {
  const tf_view *view = tensor->view;
  unsigned bits = tensor->wide ? 64 : 32;
  LLVMValueRef sum = NULL;
  *divisor = tf_dim_divisor(view->constant);
  if (*divisor != 0) sum = dim_as(lowering, view->constant, bits);
  for (unsigned i = 0; i < view->start_count; i++) {
    const tf_view_start *start = &view->starts[i];
    if (start->index) tf_lower_note_index(lowering, tensor, start->index);
    tf_int_facts facts = start->index ? tf_lower_facts(lowering, start->index) : tf_facts_range(0, INT32_MAX);
    tf_int_facts scaled = tf_facts_binary(TF_SCALAR_BINARY_MUL, facts, tf_facts_of_dim(start->stride));
    *divisor = tf_int_gcd(*divisor, scaled.divisor);
    sum = add_scaled(lowering, sum, start_value(lowering, start, bits), start->stride, bits);
  }
  return sum;
}

/* ---- Pointers ---- */
/* The b bits at m+s, xored into the b bits at m. */
static LLVMValueRef swizzled(tf_lowering *lowering, const tf_layout *swizzle, LLVMValueRef offset) {
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(swizzle, &bits, &base, &shift);
  LLVMTypeRef type = LLVMTypeOf(offset);
  LLVMValueRef mask = LLVMConstInt(type, ((1ull << bits) - 1) << base, false);
  LLVMValueRef source = LLVMBuildLShr(lowering->builder, offset, LLVMConstInt(type, shift, false), "");
  return LLVMBuildXor(lowering->builder, offset, LLVMBuildAnd(lowering->builder, source, mask, ""), "");
}

static LLVMValueRef advance(tf_lowering *lowering, LLVMTypeRef element, LLVMValueRef pointer, LLVMValueRef offset) {
  LLVMValueRef index = tf_emit_resize(lowering, offset, 64, TF_FACTS_NONE);
  return LLVMBuildGEP2(lowering->builder, element, pointer, &index, 1, "");
}

static LLVMValueRef advance_constant(tf_lowering *lowering, LLVMTypeRef element, LLVMValueRef pointer,
                                     int64_t constant) {
  LLVMValueRef index = tf_llvm_i64(lowering, constant);
  return constant == 0 ? pointer : LLVMBuildGEP2(lowering->builder, element, pointer, &index, 1, "");
}

/* Multiples of the block in which a swizzle permutes pass it unchanged: they are left to the access's immediate offset. */
static LLVMValueRef swizzled_pointer(tf_lowering *lowering, const tf_tensor *tensor, LLVMValueRef offset,
                                     int64_t constant) {
  LLVMTypeRef type = tf_llvm_int(lowering, tensor->wide ? 64 : 32);
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(tensor->view->inner, &bits, &base, &shift);
  int64_t low = constant & ((INT64_C(1) << (base + bits + shift)) - 1);
  LLVMValueRef part = LLVMConstInt(type, (unsigned long long)low, true);
  LLVMValueRef sum = offset ? LLVMBuildAdd(lowering->builder, offset, part, "") : part;
  LLVMValueRef pointer =
      advance(lowering, tensor->element, tensor->pointer, swizzled(lowering, tensor->view->inner, sum));
  return advance_constant(lowering, tensor->element, pointer, constant - low);
}

LLVMValueRef tf_tensor_pointer(tf_lowering *lowering, const tf_tensor *tensor, LLVMValueRef offset, int64_t constant) {
  if (tensor->view->inner) return swizzled_pointer(lowering, tensor, offset, constant);
  LLVMValueRef pointer = tensor->pointer;
  if (offset) pointer = advance(lowering, tensor->element, pointer, offset);
  return advance_constant(lowering, tensor->element, pointer, constant);
}

/* ---- Single elements ---- */
/* Storage elements per step on an axis whose coordinate counts what the thread holds: the strides of the local digits
 * that walk the axis. Registers and private buffers; the digits of an axis that is indexed are contiguous in number. */
static const tf_dim *local_stride(tf_lowering *lowering, const tf_view *view, unsigned axis) {
  tf_context *context = lowering->context;
  const tf_dim *unit = tf_dim_int(context, 1);
  for (unsigned i = tf_type_rank(view->type); i-- > axis + 1;)
    unit = tf_dim_binary(context, TF_DIM_MUL, unit, tf_type_extent(view->type, i));
  for (unsigned i = 0; i < view->ownership->factor_count; i++)
    if (view->ownership->factors[i].step == unit && view->ownership->factors[i].mesh_axis < 0)
      return view->digit_strides[i];
  return tf_dim_int(context, 0);
}

LLVMValueRef tf_tensor_element(tf_lowering *lowering, const tf_tensor *tensor, unsigned rank,
                               const LLVMValueRef *coordinates) {
  const tf_view *view = tensor->view;
  int64_t divisor;
  unsigned bits = tensor->wide ? 64 : 32;
  LLVMValueRef offset = tf_tensor_start(lowering, tensor, &divisor);
  for (unsigned axis = 0; axis < rank; axis++) {
    const tf_dim *stride = view->strides ? view->strides[axis] : NULL;
    if (!stride) stride = local_stride(lowering, view, axis);
    offset = add_scaled(lowering, offset, coordinates[axis], stride, bits);
  }
  int64_t constant;
  if (tf_lower_is_constant(offset, &constant)) return tf_tensor_pointer(lowering, tensor, NULL, constant);
  return tf_tensor_pointer(lowering, tensor, offset, 0);
}

LLVMValueRef tf_tensor_load(tf_lowering *lowering, const tf_tensor *tensor, LLVMValueRef pointer, unsigned width,
                            unsigned alignment) {
  LLVMValueRef load = LLVMBuildLoad2(lowering->builder, tf_llvm_vector(tensor->element, width), pointer, "");
  LLVMSetAlignment(load, alignment);
  if (tensor->is_const) tf_const_mark_load(lowering, load);
  return load;
}

void tf_tensor_store(tf_lowering *lowering, LLVMValueRef pointer, LLVMValueRef value, unsigned alignment) {
  LLVMSetAlignment(LLVMBuildStore(lowering->builder, value, pointer), alignment);
}

/* ---- Clipped elements ---- */
/* Whether the element at i64 coordinates of the value exists, as tf_access_inside. */
static LLVMValueRef tensor_inside(tf_lowering *lowering, const tf_tensor *tensor, unsigned rank,
                              const LLVMValueRef *coordinates) {
  LLVMBuilderRef b = lowering->builder;
  LLVMValueRef inside = NULL;
  for (unsigned i = 0; i < tensor->view->clip_count; i++) {
    const tf_view_clip *clip = &tensor->view->clips[i];
    LLVMValueRef at = clip->start ? tf_lower_int64(lowering, clip->start) : tf_llvm_i64(lowering, 0);
    if (clip->axis >= 0 && (unsigned)clip->axis < rank) at = LLVMBuildAdd(b, at, coordinates[clip->axis], "");
    LLVMValueRef test = LLVMBuildICmp(b, LLVMIntULT, at, tf_lower_dim(lowering, clip->extent), "");
    inside = inside ? LLVMBuildAnd(b, inside, test, "") : test;
  }
  return inside;
}

LLVMValueRef tf_tensor_clip_value(tf_lowering *lowering, const tf_tensor *tensor) {
  const tf_expr *literal = tensor->view->clip_value;
  bool is_float = tf_dtype_get_class(tensor->dtype) == TF_CLASS_FLOAT;
  bool float_literal = tf_dtype_get_class(tf_type_dtype(literal->type)) == TF_CLASS_FLOAT;
  double number = float_literal ? literal->constant.f : (double)literal->constant.i;
  if (is_float) return tf_llvm_float_constant(lowering, tensor->dtype, number);
  int64_t integer = float_literal ? (int64_t)literal->constant.f : literal->constant.i;
  return tf_llvm_int_constant(lowering, tensor->dtype, integer);
}

LLVMValueRef tf_tensor_load_element(tf_lowering *lowering, const tf_tensor *tensor, unsigned rank,
                                    const tf_expr *const *indices) {
  LLVMValueRef coordinates[TF_MAX_RANK];
  for (unsigned axis = 0; axis < rank; axis++)
    tf_lower_note_index(lowering, tensor, indices[axis]);
  for (unsigned axis = 0; axis < rank; axis++)
    coordinates[axis] = tf_lower_int(lowering, indices[axis], tensor->wide || tensor->view->clip_count > 0 ? 64 : 32);
  LLVMValueRef pointer = tf_tensor_element(lowering, tensor, rank, coordinates);
  LLVMValueRef inside = tensor_inside(lowering, tensor, rank, coordinates);
  if (!inside) return tf_tensor_load(lowering, tensor, pointer, 1, tf_dtype_bytes(tensor->dtype));
  LLVMBasicBlockRef before = LLVMGetInsertBlock(lowering->builder), after;
  tf_guard guard;
  LLVMValueRef clip = tf_tensor_clip_value(lowering, tensor), loaded;
  if (!tf_lower_guard_likely(lowering, inside, &guard)) return clip;
  loaded = tf_tensor_load(lowering, tensor, pointer, 1, tf_dtype_bytes(tensor->dtype));
  after = LLVMGetInsertBlock(lowering->builder);
  tf_lower_guard_end(lowering, &guard);
  if (!guard.join) return loaded;
  LLVMValueRef phi = LLVMBuildPhi(lowering->builder, tensor->element, ""), values[2] = {clip, loaded};
  LLVMBasicBlockRef blocks[2] = {before, after};
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}
