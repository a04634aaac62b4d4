/* Scalar expressions.
 *
 * Integers are i64 by the language. They are computed in 32 bits where that is provably the same: sums, products and bit
 * operations are exact modulo 2^32 whenever only the low half is asked for; the rest is narrow when the facts of both
 * operands fit. Loop variables, coordinates and static numbers have tight facts, so index arithmetic is narrow. */
#include "LowerToLLVM/Access.h"
#include "LowerToLLVM/Dims.h"
#include "LowerToLLVM/IntMath.h"
#include "LowerToLLVM/Numeric.h"

bool tf_lower_is_constant(LLVMValueRef value, int64_t *out) {
  if (!value || !LLVMIsAConstantInt(value)) return false;
  *out = LLVMConstIntGetSExtValue(value);
  return true;
}

static tf_dtype dtype_of(const tf_expr *expr) {
  return tf_type_dtype(expr->type);
}

static bool is_integer(tf_dtype dtype) {
  tf_dtype_class class = tf_dtype_get_class(dtype);
  return class == TF_CLASS_SINT || class == TF_CLASS_UINT;
}

/* ---- Facts ---- */
static tf_int_facts facts_of_coordinate(const tf_expr *call) {
  const tf_mesh *mesh = call->call.args[TF_ARG_COORD_mesh]->var.mesh;
  unsigned axis = (unsigned)call->call.attrs[TF_ATTRIBUTE_COORD_axis].i;
  tf_int_facts extent = tf_facts_of_dim(tf_mesh_axis_extent(mesh, axis));
  return tf_facts_range(0, extent.max == INT64_MAX ? INT32_MAX : extent.max - 1);
}

static tf_int_facts facts_of_program_id(const tf_lowering *lowering, tf_level level) {
  const tf_geometry *geometry = lowering->region.geometry;
  if (level == TF_LEVEL_CTA || !geometry->has_threads)
    return tf_facts_range(0, level == TF_LEVEL_CTA ? INT32_MAX : 1023);
  return tf_facts_range(0, level == TF_LEVEL_WARP ? (geometry->block - 1) / 32 : geometry->block - 1);
}

static tf_int_facts facts_of_unary(tf_lowering *lowering, const tf_expr *call) {
  tf_int_facts x = tf_lower_facts(lowering, call->call.args[TF_ARG_SCALAR_UNARY_x]), zero = tf_facts_constant(0);
  tf_int_facts negated = tf_facts_binary(TF_SCALAR_BINARY_SUB, zero, x);
  if (call->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i == TF_SCALAR_UNARY_NEG) return negated;
  return tf_facts_binary(TF_SCALAR_BINARY_MAX, x, negated);
}

static tf_int_facts facts_of_call(tf_lowering *lowering, const tf_expr *expr) {
  const tf_expr *const *args = expr->call.args;
  const tf_attr *attrs = expr->call.attrs;
  switch (expr->call.op) {
  case TF_OP_COORD:
    return facts_of_coordinate(expr);
  case TF_OP_PROGRAM_ID:
    return facts_of_program_id(lowering, (tf_level)attrs[TF_ATTRIBUTE_PROGRAM_ID_level].i);
  case TF_OP_DIM_VALUE:
    return tf_facts_of_dim(attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim);
  case TF_OP_SCALAR_BINARY:
    if (!is_integer(dtype_of(args[0])) || !is_integer(dtype_of(args[1]))) break;
    return tf_facts_binary((tf_scalar_binary_kind)attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i,
                           tf_lower_facts(lowering, args[0]), tf_lower_facts(lowering, args[1]));
  case TF_OP_SCALAR_UNARY:
    return is_integer(dtype_of(args[0])) ? facts_of_unary(lowering, expr) : TF_FACTS_NONE;
  case TF_OP_WHERE:
    return tf_facts_join(tf_lower_facts(lowering, args[TF_ARG_WHERE_a]),
                         tf_lower_facts(lowering, args[TF_ARG_WHERE_b]));
  default:
    break;
  }
  return tf_facts_of_dtype(dtype_of(expr));
}

tf_int_facts tf_lower_facts(tf_lowering *lowering, const tf_expr *expr) {
  if (!is_integer(dtype_of(expr))) return TF_FACTS_NONE;
  switch (expr->kind) {
  case TF_EXPR_CONSTANT:
    return tf_facts_constant(expr->constant.i);
  case TF_EXPR_CALL:
    return facts_of_call(lowering, expr);
  case TF_EXPR_SHAPE_OF:
    return tf_facts_of_dim(tf_type_extent(expr->shape_of.param->type, expr->shape_of.axis));
  case TF_EXPR_VAR: {
    tf_binding *binding = tf_lower_find(lowering, expr);
    int64_t constant;
    if (!binding) return TF_FACTS_NONE;
    return tf_lower_is_constant(binding->value, &constant) ? tf_facts_constant(constant) : binding->facts;
  }
  default:
    return tf_facts_of_dtype(dtype_of(expr));
  }
}

/* ---- Integers ---- */
/* Operators whose low half depends on the operands' low halves only. */
static LLVMValueRef modular(tf_lowering *lowering, tf_scalar_binary_kind kind, LLVMValueRef a, LLVMValueRef b) {
  switch (kind) {
  case TF_SCALAR_BINARY_ADD:
    return LLVMBuildAdd(lowering->builder, a, b, "");
  case TF_SCALAR_BINARY_SUB:
    return LLVMBuildSub(lowering->builder, a, b, "");
  case TF_SCALAR_BINARY_MUL:
    return LLVMBuildMul(lowering->builder, a, b, "");
  case TF_SCALAR_BINARY_BIT_AND:
    return LLVMBuildAnd(lowering->builder, a, b, "");
  case TF_SCALAR_BINARY_BIT_OR:
    return LLVMBuildOr(lowering->builder, a, b, "");
  case TF_SCALAR_BINARY_BIT_XOR:
    return LLVMBuildXor(lowering->builder, a, b, "");
  default:
    return NULL;
  }
}

static bool is_modular(tf_scalar_binary_kind kind) {
  return kind == TF_SCALAR_BINARY_ADD || kind == TF_SCALAR_BINARY_SUB || kind == TF_SCALAR_BINARY_MUL ||
         kind == TF_SCALAR_BINARY_BIT_AND || kind == TF_SCALAR_BINARY_BIT_OR || kind == TF_SCALAR_BINARY_BIT_XOR;
}

static LLVMValueRef check_divisor(tf_lowering *lowering, LLVMValueRef divisor) {
  if (lowering->module->options->check_div && !LLVMIsAConstantInt(divisor)) tf_lower_check_nonzero(lowering, divisor);
  return divisor;
}

/* The others, on exact operands. */
static LLVMValueRef exact_operator(tf_lowering *lowering, tf_scalar_binary_kind kind, LLVMValueRef a, LLVMValueRef b,
                                   tf_int_facts fa, tf_int_facts fb) {
  switch (kind) {
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return tf_emit_floor_div(lowering, a, check_divisor(lowering, b), fa, fb);
  case TF_SCALAR_BINARY_MOD:
    return tf_emit_floor_mod(lowering, a, check_divisor(lowering, b), fa, fb);
  case TF_SCALAR_BINARY_SHL:
    return LLVMBuildShl(lowering->builder, a, b, "");
  case TF_SCALAR_BINARY_SHR:
    return LLVMBuildAShr(lowering->builder, a, b, "");
  default: {
    LLVMIntPredicate better = kind == TF_SCALAR_BINARY_MIN ? LLVMIntSLT : LLVMIntSGT;
    return LLVMBuildSelect(lowering->builder, LLVMBuildICmp(lowering->builder, better, a, b, ""), a, b, "");
  }
  }
}

static LLVMValueRef int_binary(tf_lowering *lowering, const tf_expr *expr, unsigned bits) {
  tf_scalar_binary_kind kind = (tf_scalar_binary_kind)expr->call.attrs[TF_ATTRIBUTE_SCALAR_BINARY_kind].i;
  const tf_expr *lhs = expr->call.args[0], *rhs = expr->call.args[1];
  tf_int_facts fa = tf_lower_facts(lowering, lhs), fb = tf_lower_facts(lowering, rhs);
  tf_int_facts result = tf_facts_binary(kind, fa, fb);
  if (is_modular(kind)) {
    unsigned width = tf_facts_fit(result, 32) ? 32 : bits;
    LLVMValueRef a = tf_lower_int(lowering, lhs, width), b = tf_lower_int(lowering, rhs, width);
    return tf_emit_resize(lowering, modular(lowering, kind, a, b), bits, result);
  }
  bool narrow = tf_facts_fit(fa, 32) && tf_facts_fit(fb, 32) && tf_facts_fit(result, 32);
  unsigned width = narrow ? 32 : 64;
  LLVMValueRef a = tf_lower_int(lowering, lhs, width), b = tf_lower_int(lowering, rhs, width);
  return tf_emit_resize(lowering, exact_operator(lowering, kind, a, b, fa, fb), bits, result);
}

static LLVMValueRef int_unary(tf_lowering *lowering, const tf_expr *expr, unsigned bits) {
  LLVMBuilderRef b = lowering->builder;
  const tf_expr *x = expr->call.args[TF_ARG_SCALAR_UNARY_x];
  tf_int_facts facts = tf_lower_facts(lowering, expr);
  bool negate = expr->call.attrs[TF_ATTRIBUTE_SCALAR_UNARY_kind].i == TF_SCALAR_UNARY_NEG;
  bool narrow = tf_facts_fit(facts, 32) && tf_facts_fit(tf_lower_facts(lowering, x), 32);
  LLVMValueRef value = tf_lower_int(lowering, x, narrow ? 32 : negate ? bits : 64);
  LLVMValueRef negated = LLVMBuildNeg(b, value, "");
  if (negate) return tf_emit_resize(lowering, negated, bits, facts);
  LLVMValueRef positive = LLVMBuildICmp(b, LLVMIntSGT, value, negated, "");
  return tf_emit_resize(lowering, LLVMBuildSelect(b, positive, value, negated, ""), bits, facts);
}

/* Integers without an operator of their own: the value in its dtype, widened by its signedness. */
static LLVMValueRef int_leaf(tf_lowering *lowering, const tf_expr *expr, unsigned bits) {
  tf_dtype dtype = dtype_of(expr);
  tf_int_facts facts = tf_lower_facts(lowering, expr);
  if (tf_dtype_get_class(dtype) == TF_CLASS_UINT && tf_dtype_bits(dtype) < 64 && facts.min < 0) facts.min = 0;
  return tf_emit_resize(lowering, tf_lower_scalar(lowering, expr), bits, facts);
}

LLVMValueRef tf_lower_int(tf_lowering *lowering, const tf_expr *expr, unsigned bits) {
  LLVMTypeRef type = tf_llvm_int(lowering, bits);
  if (expr->kind == TF_EXPR_CONSTANT) return LLVMConstInt(type, (unsigned long long)expr->constant.i, true);
  if (expr->kind == TF_EXPR_SHAPE_OF) {
    const tf_dim *extent = tf_type_extent(expr->shape_of.param->type, expr->shape_of.axis);
    return bits == 32 ? tf_lower_dim32(lowering, extent) : tf_lower_dim(lowering, extent);
  }
  if (expr->kind != TF_EXPR_CALL) return int_leaf(lowering, expr, bits);
  const tf_attr *attrs = expr->call.attrs;
  tf_int_facts facts = tf_lower_facts(lowering, expr);
  switch (expr->call.op) {
  case TF_OP_SCALAR_BINARY:
    return int_binary(lowering, expr, bits);
  case TF_OP_SCALAR_UNARY:
    return int_unary(lowering, expr, bits);
  case TF_OP_DIM_VALUE:
    return bits == 32 ? tf_lower_dim32(lowering, attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim)
                      : tf_lower_dim(lowering, attrs[TF_ATTRIBUTE_DIM_VALUE_dim].dim);
  case TF_OP_PROGRAM_ID: {
    LLVMValueRef id = tf_lower_program_id(lowering, (tf_level)attrs[TF_ATTRIBUTE_PROGRAM_ID_level].i);
    return tf_emit_resize(lowering, id, bits, facts);
  }
  case TF_OP_COORD: {
    const tf_scope *scope = tf_region_scope_of(&lowering->region, expr->call.args[TF_ARG_COORD_mesh]);
    unsigned axis = (unsigned)attrs[TF_ATTRIBUTE_COORD_axis].i;
    return tf_emit_resize(lowering, tf_lower_placement_axis(lowering, scope->placement, axis), bits, facts);
  }
  default:
    return int_leaf(lowering, expr, bits);
  }
}

LLVMValueRef tf_lower_int64(tf_lowering *lowering, const tf_expr *expr) {
  return tf_lower_int(lowering, expr, 64);
}

/* ---- Every scalar ---- */
static LLVMValueRef constant(tf_lowering *lowering, const tf_expr *expr) {
  tf_dtype dtype = dtype_of(expr);
  if (dtype == TF_DTYPE_BOOL) return LLVMConstInt(tf_llvm_int(lowering, 1), expr->constant.i != 0, false);
  if (tf_dtype_get_class(dtype) == TF_CLASS_FLOAT) return tf_llvm_float_constant(lowering, dtype, expr->constant.f);
  return tf_llvm_int_constant(lowering, dtype, expr->constant.i);
}

static LLVMValueRef variable(tf_lowering *lowering, const tf_expr *expr) {
  tf_binding *binding = tf_lower_find(lowering, expr);
  return binding && binding->value ? binding->value : LLVMGetPoison(tf_llvm_value_type(lowering, dtype_of(expr)));
}

LLVMValueRef tf_lower_scalar(tf_lowering *lowering, const tf_expr *expr) {
  switch (expr->kind) {
  case TF_EXPR_CONSTANT:
    return constant(lowering, expr);
  case TF_EXPR_VAR:
    return variable(lowering, expr);
  case TF_EXPR_SHAPE_OF:
    return tf_lower_int(lowering, expr, tf_dtype_bits(dtype_of(expr)));
  case TF_EXPR_CALL:
    return tf_lower_scalar_call(lowering, expr);
  default:
    return LLVMGetPoison(tf_llvm_value_type(lowering, dtype_of(expr)));
  }
}

LLVMValueRef tf_lower_scalar_as(tf_lowering *lowering, const tf_expr *expr, tf_dtype dtype) {
  tf_dtype from = dtype_of(expr);
  if (from == dtype) return tf_lower_scalar(lowering, expr);
  if (is_integer(from) && is_integer(dtype) && tf_dtype_bits(dtype) >= 32)
    return tf_lower_int(lowering, expr, tf_dtype_bits(dtype));
  LLVMValueRef value = tf_to_memory(lowering, tf_lower_scalar(lowering, expr), from, 1);
  return tf_to_value(lowering, tf_convert(lowering, value, from, dtype, 1), dtype, 1);
}
