/* binary, unary, fma, select, iota, relu, clamp.
 *
 * Each statement computes in one type: the wider of the operands' common type and the destination's; operands are converted
 * into it, the result is rounded once into the destination. Comparisons compute in the operands' common type. Literals have
 * no type of their own where a tensor stands beside them. */
#include "IR/Infer.h"
#include "LowerToLLVM/IntMath.h"
#include "LowerToLLVM/NumericImpl.h"
#include "LowerToLLVM/Project.h"
#include "LowerToLLVM/Walk.h"

#include "LowerToLLVM/Elementwise.h"

/* ---- Types ---- */
static bool is_literal(const tf_expr *expr) {
  return expr->kind == TF_EXPR_CONSTANT;
}

/* Whether the literal's value is one of the integer type. */
static bool literal_fits(const tf_expr *literal, tf_dtype dtype) {
  bool is_float = tf_dtype_is_float(tf_type_dtype(literal->type));
  int64_t value = is_float ? (int64_t)literal->constant.f : literal->constant.i;
  unsigned bits = tf_dtype_bits(dtype);
  if (tf_dtype_get_class(dtype) == TF_CLASS_UINT) return value >= 0 && (bits >= 63 || value < (int64_t)1 << bits);
  return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
}

/* The type of an operand beside another one. */
static tf_dtype type_beside(const tf_expr *expr, const tf_expr *other) {
  tf_dtype own = tf_type_dtype(expr->type), beside = tf_type_dtype(other->type);
  if (!is_literal(expr) || is_literal(other)) return own;
  if (tf_dtype_is_float(beside) || literal_fits(expr, beside)) return beside;
  return tf_dtype_is_float(own) ? TF_DTYPE_I64 : own;
}

static tf_dtype common(tf_dtype a, tf_dtype b) {
  tf_dtype out = a;
  return tf_dtype_common(a, b, &out) ? out : a;
}

static tf_dtype common_of(const tf_expr *a, const tf_expr *b) {
  return common(type_beside(a, b), type_beside(b, a));
}

static tf_dtype dst_dtype(const tf_expr *dst) {
  return tf_type_dtype(dst->type);
}

/* An operand whose elements come out as `dtype`: scalars are converted once, before the walk. */
static tf_operand operand_in(tf_lowering *lowering, const tf_expr *expr, tf_dtype dtype) {
  return tf_is_scalar(expr) ? tf_operand_as(lowering, expr, dtype) : tf_operand_of(lowering, expr);
}

/* Source i of the chunk as a value of the dtype. */
static LLVMValueRef value_of(tf_lowering *lowering, const tf_chunk *chunk, unsigned i, tf_dtype from, tf_dtype to) {
  LLVMValueRef memory = tf_convert(lowering, chunk->sources[i], from, to, chunk->width);
  return tf_to_value(lowering, memory, to, chunk->width);
}

static LLVMValueRef result_of(tf_lowering *lowering, const tf_chunk *chunk, LLVMValueRef value, tf_dtype from,
                              tf_dtype to) {
  return tf_convert(lowering, tf_to_memory(lowering, value, from, chunk->width), from, to, chunk->width);
}

/* What a statement's chunks are computed with. */
typedef struct recipe {
  int kind;
  tf_dtype sources[3], compute, dst;
  LLVMValueRef low, high; /* clamp */
} recipe;

static void run(tf_lowering *lowering, const tf_expr *dst, unsigned count, const tf_expr *const *sources, recipe *r,
                tf_chunk_fn *fn) {
  tf_operand operands[3];
  for (unsigned i = 0; i < count; i++) {
    operands[i] = operand_in(lowering, sources[i], r->compute);
    r->sources[i] = operands[i].dtype;
    if (!operands[i].is_scalar) r->sources[i] = operands[i].tensor.dtype;
  }
  tf_lower_elementwise(lowering, dst, count, operands, fn, r);
}

/* ---- Binary ---- */
static LLVMValueRef binary_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  const recipe *r = user;
  tf_binary_kind kind = (tf_binary_kind)r->kind;
  LLVMValueRef a = value_of(lowering, chunk, 0, r->sources[0], r->compute);
  LLVMValueRef b = value_of(lowering, chunk, 1, r->sources[1], r->compute);
  LLVMValueRef value = tf_compute_binary(lowering, kind, r->compute, a, b, chunk->width);
  bool gives_bool = tf_binary_is_comparison(kind) || r->compute == TF_DTYPE_BOOL;
  return result_of(lowering, chunk, value, gives_bool ? TF_DTYPE_BOOL : r->compute, r->dst);
}

void tf_lower_BINARY(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *const *args = invocation->args, *dst = args[TF_ARG_BINARY_dst];
  tf_binary_kind kind = (tf_binary_kind)invocation->attrs[TF_ATTRIBUTE_BINARY_kind].i;
  recipe r = {.kind = (int)kind, .dst = dst_dtype(dst)};
  r.compute = common_of(args[TF_ARG_BINARY_lhs], args[TF_ARG_BINARY_rhs]);
  if (!tf_binary_is_comparison(kind)) r.compute = common(r.compute, r.dst);
  run(lowering, dst, 2, args, &r, binary_chunk);
}

/* ---- Unary ---- */
static LLVMValueRef unary_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  const recipe *r = user;
  LLVMValueRef x = value_of(lowering, chunk, 0, r->sources[0], r->compute);
  if (r->kind != TF_UNARY_CAST) x = tf_compute_unary(lowering, (tf_unary_kind)r->kind, r->compute, x, chunk->width);
  return result_of(lowering, chunk, x, r->compute, r->dst);
}

static void lower_unary(tf_lowering *lowering, const tf_expr *src, const tf_expr *dst, tf_unary_kind kind) {
  recipe r = {.kind = (int)kind, .dst = dst_dtype(dst)};
  tf_dtype own = is_literal(src) ? r.dst : tf_type_dtype(src->type);
  r.compute = kind == TF_UNARY_CAST ? own : common(own, r.dst);
  run(lowering, dst, 1, &src, &r, unary_chunk);
}

void tf_lower_UNARY(tf_lowering *lowering, const tf_invocation *invocation) {
  lower_unary(lowering, invocation->args[TF_ARG_UNARY_src], invocation->args[TF_ARG_UNARY_dst],
              (tf_unary_kind)invocation->attrs[TF_ATTRIBUTE_UNARY_kind].i);
}

void tf_lower_RELU(tf_lowering *lowering, const tf_invocation *invocation) {
  lower_unary(lowering, invocation->args[TF_ARG_RELU_src], invocation->args[TF_ARG_RELU_dst], TF_UNARY_RELU);
}

/* ---- Clamp ---- */
static LLVMValueRef clamp_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  const recipe *r = user;
  LLVMValueRef x = value_of(lowering, chunk, 0, r->sources[0], r->compute);
  LLVMValueRef low = tf_llvm_splat(lowering, r->low, chunk->width),
               high = tf_llvm_splat(lowering, r->high, chunk->width);
  x = tf_compute_binary(lowering, TF_BINARY_MAX, r->compute, x, low, chunk->width);
  x = tf_compute_binary(lowering, TF_BINARY_MIN, r->compute, x, high, chunk->width);
  return result_of(lowering, chunk, x, r->compute, r->dst);
}

void tf_lower_CLAMP(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *src = invocation->args[TF_ARG_CLAMP_src], *dst = invocation->args[TF_ARG_CLAMP_dst];
  const tf_expr *low = invocation->attrs[TF_ATTRIBUTE_CLAMP_min_val].literal;
  const tf_expr *high = invocation->attrs[TF_ATTRIBUTE_CLAMP_max_val].literal;
  recipe r = {.dst = dst_dtype(dst)};
  r.compute = common(is_literal(src) ? r.dst : tf_type_dtype(src->type), r.dst);
  /* A bound that the source's integers do not reach is still that bound. */
  if (!is_literal(src)) r.compute = common(r.compute, common(type_beside(low, src), type_beside(high, src)));
  r.low = tf_operand_as(lowering, low, r.compute).scalar;
  r.high = tf_operand_as(lowering, high, r.compute).scalar;
  run(lowering, dst, 1, &src, &r, clamp_chunk);
}

/* ---- fma ---- */
static LLVMValueRef fma_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  const recipe *r = user;
  LLVMValueRef v[3];
  for (unsigned i = 0; i < 3; i++)
    v[i] = value_of(lowering, chunk, i, r->sources[i], r->compute);
  LLVMValueRef value = tf_compute_fma(lowering, r->compute, v[0], v[1], v[2], chunk->width);
  return result_of(lowering, chunk, value, r->compute, r->dst);
}

void tf_lower_FMA(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *const *args = invocation->args, *dst = args[TF_ARG_FMA_dst];
  recipe r = {.dst = dst_dtype(dst)};
  r.compute = r.dst;
  for (unsigned i = 0; i < 3; i++)
    if (!is_literal(args[i])) r.compute = common(r.compute, tf_type_dtype(args[i]->type));
  run(lowering, dst, 3, args, &r, fma_chunk);
}

/* ---- Select ---- */
static LLVMValueRef select_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  const recipe *r = user;
  LLVMValueRef condition = tf_to_value(lowering, chunk->sources[0], TF_DTYPE_BOOL, chunk->width);
  LLVMValueRef a = tf_convert(lowering, chunk->sources[1], r->sources[1], r->dst, chunk->width);
  LLVMValueRef b = tf_convert(lowering, chunk->sources[2], r->sources[2], r->dst, chunk->width);
  return LLVMBuildSelect(lowering->builder, condition, a, b, "");
}

void tf_lower_SELECT(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *const *args = invocation->args, *dst = args[TF_ARG_SELECT_dst];
  recipe r = {.dst = dst_dtype(dst)};
  tf_operand operands[3];
  for (unsigned i = 0; i < 3; i++) {
    operands[i] = operand_in(lowering, args[i], i == 0 ? TF_DTYPE_BOOL : r.dst);
    r.sources[i] = operands[i].is_scalar ? operands[i].dtype : operands[i].tensor.dtype;
  }
  tf_lower_elementwise(lowering, dst, 3, operands, select_chunk, &r);
}

/* ---- iota ---- */
typedef struct iota {
  unsigned axis;
  tf_dtype compute, dst; /* compute: i64, or the float type that start and destination meet in */
  LLVMValueRef start;
  const tf_driver *driver; /* that the projection was made for */
  tf_projection *projection;
} iota;

static LLVMValueRef iota_chunk(tf_lowering *lowering, const tf_chunk *chunk, const void *user) {
  iota *state = *(iota *const *)user;
  if (state->driver != chunk->driver) {
    tf_affine map;
    tf_affine_of_axis(lowering->context, chunk->driver->rank, chunk->driver->shape, state->axis, &map);
    tf_projection_make(lowering, chunk->driver, &map, 32, false, state->projection);
    state->driver = chunk->driver;
  }
  LLVMValueRef vector = NULL;
  for (unsigned i = 0; i < chunk->width; i++) {
    int64_t stride = chunk->width == 1 ? 0 : chunk->driver->digits[chunk->driver->local[chunk->inner]].stride;
    LLVMValueRef at = tf_projection_emit(lowering, state->projection, chunk->position + i * stride);
    at = tf_emit_resize(lowering, at, 64, tf_facts_range(0, INT32_MAX));
    at = tf_convert(lowering, at, TF_DTYPE_I64, state->compute, 1);
    at = tf_compute_binary(lowering, TF_BINARY_ADD, state->compute, at, state->start, 1);
    at = tf_convert(lowering, at, state->compute, state->dst, 1);
    vector = tf_llvm_insert(lowering, LLVMTypeOf(at), chunk->width, vector, at, i);
  }
  return vector;
}

void tf_lower_IOTA(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *dst = invocation->args[TF_ARG_IOTA_dst], *start = NULL;
  if (invocation->arg_count > TF_ARG_IOTA_start) start = invocation->args[TF_ARG_IOTA_start];
  int64_t axis = invocation->attrs[TF_ATTRIBUTE_IOTA_axis].i;
  tf_projection projection;
  iota state = {.dst = dst_dtype(dst), .compute = TF_DTYPE_I64, .projection = &projection};
  state.axis = (unsigned)(axis < 0 ? axis + tf_type_rank(dst->type) : axis);
  if (start && tf_dtype_is_float(tf_type_dtype(start->type)))
    state.compute = common(is_literal(start) ? state.dst : tf_type_dtype(start->type), state.dst);
  state.start = start ? tf_operand_as(lowering, start, state.compute).scalar : tf_llvm_i64(lowering, 0);
  iota *user = &state;
  tf_lower_elementwise(lowering, dst, 0, NULL, iota_chunk, &user);
}
