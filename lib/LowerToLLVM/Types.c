/* LLVM types and constants of dtypes.
 *
 *   dtype        in memory and registers     as a scalar value
 *   bool         i8, 0 or 1                  i1
 *   ints         iN                          iN
 *   f16 bf16     half, bfloat                same
 *   tf32 f32     float                       same (tf32: the low 13 bits are 0)
 *   f64          double                      same
 *   8-bit floats i8                          i8
 *
 * Chunks of elements are LLVM vectors; a chunk of one is the plain value, as NVPTX has no use for <1 x T>. */
#include "LowerToLLVM/Lowering.h"

#include "IR/KindTables.h"
#include "Support/Float.h"

LLVMTypeRef tf_llvm_int(const tf_lowering *lowering, unsigned bits) {
  return LLVMIntTypeInContext(lowering->llvm, bits);
}

LLVMValueRef tf_llvm_i32(const tf_lowering *lowering, int64_t value) {
  return LLVMConstInt(tf_llvm_int(lowering, 32), (unsigned long long)value, true);
}

LLVMValueRef tf_llvm_i64(const tf_lowering *lowering, int64_t value) {
  return LLVMConstInt(tf_llvm_int(lowering, 64), (unsigned long long)value, true);
}

unsigned tf_dtype_bytes(tf_dtype dtype) {
  return (tf_dtype_bits(dtype) + 7) / 8;
}

static LLVMTypeRef float_type(LLVMContextRef llvm, tf_dtype dtype) {
  unsigned exponent = tf_dtype_exponent_bits(dtype), bits = tf_dtype_bits(dtype);
  if (bits == 64) return LLVMDoubleTypeInContext(llvm);
  if (bits == 32) return LLVMFloatTypeInContext(llvm);
  if (bits == 16) return exponent == 5 ? LLVMHalfTypeInContext(llvm) : LLVMBFloatTypeInContext(llvm);
  return LLVMInt8TypeInContext(llvm);
}

LLVMTypeRef tf_llvm_memory_type(const tf_lowering *lowering, tf_dtype dtype) {
  if (tf_dtype_get_class(dtype) == TF_CLASS_FLOAT) return float_type(lowering->llvm, dtype);
  return tf_llvm_int(lowering, 8 * tf_dtype_bytes(dtype));
}

LLVMTypeRef tf_llvm_value_type(const tf_lowering *lowering, tf_dtype dtype) {
  return dtype == TF_DTYPE_BOOL ? tf_llvm_int(lowering, 1) : tf_llvm_memory_type(lowering, dtype);
}

LLVMTypeRef tf_llvm_vector(LLVMTypeRef element, unsigned width) {
  return width == 1 ? element : LLVMVectorType(element, width);
}

/* ---- Constants ---- */
/* Formats that Support/Float.h rounds; the others are C's own. */
static bool small_format(tf_dtype dtype, tf_float_format *out) {
  switch (dtype) {
  case TF_DTYPE_F16:
    return *out = TF_FLOAT_F16, true;
  case TF_DTYPE_BF16:
    return *out = TF_FLOAT_BF16, true;
  case TF_DTYPE_TF32:
    return *out = TF_FLOAT_TF32, true;
  case TF_DTYPE_FP8E4M3:
    return *out = TF_FLOAT_FP8E4M3, true;
  case TF_DTYPE_FP8E5M2:
    return *out = TF_FLOAT_FP8E5M2, true;
  case TF_DTYPE_F8E8M0:
    return *out = TF_FLOAT_F8E8M0, true;
  default:
    return false;
  }
}

LLVMValueRef tf_llvm_float_constant(const tf_lowering *lowering, tf_dtype dtype, double value) {
  tf_float_format format;
  LLVMTypeRef type = tf_llvm_memory_type(lowering, dtype);
  if (small_format(dtype, &format)) {
    uint32_t bits = tf_float_encode(format, value);
    return LLVMConstBitCast(LLVMConstInt(tf_llvm_int(lowering, tf_dtype_bits(dtype)), bits, false), type);
  }
  if (dtype == TF_DTYPE_F32) return LLVMConstReal(type, (double)(float)value);
  return LLVMConstReal(type, value);
}

LLVMValueRef tf_llvm_int_constant(const tf_lowering *lowering, tf_dtype dtype, int64_t value) {
  return LLVMConstInt(tf_llvm_memory_type(lowering, dtype), (unsigned long long)value, true);
}

/* ---- Vectors ---- */
LLVMValueRef tf_llvm_splat(const tf_lowering *lowering, LLVMValueRef value, unsigned width) {
  if (width == 1) return value;
  if (LLVMIsConstant(value)) {
    LLVMValueRef copies[64];
    for (unsigned i = 0; i < width; i++)
      copies[i] = value;
    return LLVMConstVector(copies, width);
  }
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), width), mask = LLVMVectorType(tf_llvm_int(lowering, 32), width);
  LLVMValueRef first =
      LLVMBuildInsertElement(lowering->builder, LLVMGetPoison(type), value, tf_llvm_i32(lowering, 0), "");
  return LLVMBuildShuffleVector(lowering->builder, first, LLVMGetPoison(type), LLVMConstNull(mask), "");
}

LLVMValueRef tf_llvm_extract(const tf_lowering *lowering, LLVMValueRef vector, unsigned index) {
  if (LLVMGetTypeKind(LLVMTypeOf(vector)) != LLVMVectorTypeKind) return vector;
  return LLVMBuildExtractElement(lowering->builder, vector, tf_llvm_i32(lowering, index), "");
}

LLVMValueRef tf_llvm_insert(const tf_lowering *lowering, LLVMTypeRef element, unsigned width, LLVMValueRef vector,
                            LLVMValueRef value, unsigned index) {
  if (width == 1) return value;
  if (!vector) vector = LLVMGetPoison(LLVMVectorType(element, width));
  return LLVMBuildInsertElement(lowering->builder, vector, value, tf_llvm_i32(lowering, index), "");
}
