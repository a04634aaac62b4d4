/* Rules about element types (see Dtypes.h). */
#include "Verify/Dtypes.h"

#include <math.h>

#include "IR/Infer.h"

/* Range of an integer dtype as i64; u64 is all of its bit patterns. */
static void integer_range(tf_dtype dtype, int64_t *lo, int64_t *hi) {
  unsigned bits = tf_dtype_bits(dtype);
  bool sign = tf_dtype_get_class(dtype) == TF_CLASS_SINT;
  *lo = sign ? (bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1))) : bits == 64 ? INT64_MIN : 0;
  *hi = bits == 64 ? INT64_MAX : sign ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
}

static bool is_integral(double value) {
  return isfinite(value) && floor(value) == value && fabs(value) <= 9007199254740992.0;
}

/* The integer that a literal is, if it is one. */
static bool literal_integer(const tf_expr *literal, int64_t *value) {
  if (!tf_dtype_is_float(tf_type_dtype(literal->type))) {
    *value = literal->constant.i;
    return true;
  }
  if (!is_integral(literal->constant.f)) return false;
  *value = (int64_t)literal->constant.f;
  return true;
}

static bool refuse_fraction(tf_verifier *v, const tf_invocation *inv, const tf_expr *literal) {
  TF_FAIL(v, literal, tf_verifier_loc(v, literal), LITERAL_NOT_INTEGRAL, literal->constant.f,
          tf_op_get_info(inv->op)->name);
  return false;
}

static bool check_literal_range(tf_verifier *v, const tf_invocation *inv, const tf_expr *literal, tf_dtype dtype) {
  int64_t value, lo, hi;
  if (!literal_integer(literal, &value)) return refuse_fraction(v, inv, literal);
  integer_range(dtype, &lo, &hi);
  if (value >= lo && value <= hi) return true;
  TF_FAIL(v, literal, tf_verifier_loc(v, literal), LITERAL_RANGE, (long long)value, tf_dtype_name(dtype));
  return false;
}

bool tf_verify_stored_scalar(tf_verifier *v, const tf_invocation *inv, const tf_expr *value, tf_dtype dtype) {
  tf_dtype have = tf_type_dtype(value->type);
  bool literal = tf_is_literal(value) && have != TF_DTYPE_BOOL;
  if (literal && tf_dtype_is_integer(dtype)) return check_literal_range(v, inv, value, dtype);
  int64_t number;
  bool flag = literal && dtype == TF_DTYPE_BOOL && literal_integer(value, &number) && (number == 0 || number == 1);
  if (have == dtype || flag || (literal && tf_dtype_is_float(dtype)) ||
      (have == TF_DTYPE_I64 && tf_dtype_is_integer(dtype)))
    return true;
  TF_FAIL(v, value, tf_verifier_loc(v, value), STORE_DTYPE, tf_op_get_info(inv->op)->name, tf_dtype_name(have),
          tf_dtype_name(dtype), tf_dtype_name(dtype));
  return false;
}

bool tf_verify_operand_type(tf_verifier *v, const tf_invocation *inv, const tf_expr *operand, bool integers,
                            tf_operand_type *out) {
  tf_dtype dtype = tf_type_dtype(operand->type);
  bool literal = tf_is_literal(operand) && dtype != TF_DTYPE_BOOL;
  *out = (tf_operand_type){dtype, literal};
  if (!literal || !integers || !tf_dtype_is_float(dtype)) return true;
  int64_t value;
  if (!literal_integer(operand, &value)) return refuse_fraction(v, inv, operand);
  out->dtype = TF_DTYPE_I64;
  return true;
}

bool tf_verify_common(tf_verifier *v, const tf_invocation *inv, tf_operand_type a, tf_operand_type b,
                      tf_operand_type *out) {
  tf_dtype common;
  if (!tf_dtype_common(a.dtype, b.dtype, &common)) {
    TF_FAIL(v, v->stmt, v->stmt->loc, OPERANDS_MIXED, tf_op_get_info(inv->op)->name, tf_dtype_name(a.dtype),
            tf_dtype_name(b.dtype));
    return false;
  }
  *out = (tf_operand_type){common, a.adapts && b.adapts};
  bool same_class = tf_dtype_is_float(a.dtype) == tf_dtype_is_float(b.dtype);
  if (a.adapts != b.adapts && same_class) out->dtype = a.adapts ? b.dtype : a.dtype;
  return true;
}
