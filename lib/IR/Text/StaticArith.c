/* Python's arithmetic on numbers and dims. Integers are computed in 128 bits and must land in 64. */
#include "IR/Text/Static.h"

#include <math.h>
#include <string.h>

#include "Support/Context.h"

#define INT_MIN_VALUE (-((tf_int128)1 << 63))
#define INT_MAX_VALUE (((tf_int128)1 << 64) - 1)

static bool is_number(const tf_value *v) {
  return v->kind == TF_VALUE_INT || v->kind == TF_VALUE_FLOAT;
}

static bool is_dim(const tf_value *v) {
  return v->kind == TF_VALUE_INT || v->kind == TF_VALUE_DIM;
}

/* The operation of dims with the same name, if there is one. */
static bool dim_operation(unsigned op, tf_dim_op *out) {
  switch (op) {
  case TF_SCALAR_BINARY_ADD:
    *out = TF_DIM_ADD;
    return true;
  case TF_SCALAR_BINARY_SUB:
    *out = TF_DIM_SUB;
    return true;
  case TF_SCALAR_BINARY_MUL:
    *out = TF_DIM_MUL;
    return true;
  case TF_SCALAR_BINARY_FLOOR_DIV:
    *out = TF_DIM_FLOOR_DIV;
    return true;
  case TF_SCALAR_BINARY_MOD:
    *out = TF_DIM_MOD;
    return true;
  case TF_SCALAR_BINARY_MIN:
    *out = TF_DIM_MIN;
    return true;
  case TF_SCALAR_BINARY_MAX:
    *out = TF_DIM_MAX;
    return true;
  default:
    return false;
  }
}

static bool is_bit_operator(unsigned op) {
  return op == TF_SCALAR_BINARY_BIT_AND || op == TF_SCALAR_BINARY_BIT_OR || op == TF_SCALAR_BINARY_BIT_XOR ||
         op == TF_SCALAR_BINARY_SHL || op == TF_SCALAR_BINARY_SHR;
}

bool tf_static_binary_applies(unsigned op, const tf_value *a, const tf_value *b) {
  tf_dim_op dim_op;
  if (is_bit_operator(op)) return a->kind == TF_VALUE_INT && b->kind == TF_VALUE_INT;
  if (is_number(a) && is_number(b))
    return op == TF_SCALAR_BINARY_DIV || op == TF_BINARY_OP_POWER || dim_operation(op, &dim_op);
  if (is_dim(a) && is_dim(b)) return dim_operation(op, &dim_op);
  bool sequences = a->kind == b->kind && (a->kind == TF_VALUE_LIST || a->kind == TF_VALUE_STRING);
  return sequences && op == TF_SCALAR_BINARY_ADD;
}

static tf_value overflow(tf_context *context, tf_loc loc) {
  tf_report(context, loc, STATIC_OVERFLOW);
  return TF_VALUE_OF_ERROR;
}

static tf_value division_by_zero(tf_context *context, tf_loc loc) {
  tf_report(context, loc, STATIC_DIV_ZERO);
  return TF_VALUE_OF_ERROR;
}

static tf_value checked(tf_context *context, tf_int128 i, tf_loc loc) {
  return i < INT_MIN_VALUE || i > INT_MAX_VALUE ? overflow(context, loc) : tf_value_of_int(i);
}

/* ---- Integers ---- */
static tf_int128 floor_div(tf_int128 a, tf_int128 b) {
  tf_int128 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static tf_value int_power(tf_context *context, tf_int128 base, tf_int128 exponent, tf_loc loc) {
  if (exponent < 0) {
    if (base == 0) return division_by_zero(context, loc);
    return tf_value_of_float(pow((double)base, (double)exponent));
  }
  if (base == 0 || base == 1) return tf_value_of_int(exponent == 0 ? 1 : base);
  if (base == -1) return tf_value_of_int(exponent % 2 ? -1 : 1);
  if (exponent > 64) return overflow(context, loc);
  tf_int128 result = 1;
  for (; exponent > 0; exponent--) {
    bool overflows = __builtin_mul_overflow(result, base, &result);
    if (overflows || result < INT_MIN_VALUE || result > INT_MAX_VALUE) return overflow(context, loc);
  }
  return tf_value_of_int(result);
}

static tf_value int_shift(tf_context *context, bool left, tf_int128 a, tf_int128 count, tf_loc loc) {
  if (count < 0 || count > 63) {
    tf_report(context, loc, STATIC_SHIFT);
    return TF_VALUE_OF_ERROR;
  }
  if (left) return checked(context, a * ((tf_int128)1 << (unsigned)count), loc);
  return tf_value_of_int(floor_div(a, (tf_int128)1 << (unsigned)count));
}

static tf_value int_binary(tf_context *context, unsigned op, tf_int128 a, tf_int128 b, tf_loc loc) {
  tf_int128 product;
  switch (op) {
  case TF_SCALAR_BINARY_ADD:
    return checked(context, a + b, loc);
  case TF_SCALAR_BINARY_SUB:
    return checked(context, a - b, loc);
  case TF_SCALAR_BINARY_MUL:
    return __builtin_mul_overflow(a, b, &product) ? overflow(context, loc) : checked(context, product, loc);
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return b == 0 ? division_by_zero(context, loc) : checked(context, floor_div(a, b), loc);
  case TF_SCALAR_BINARY_MOD:
    return b == 0 ? division_by_zero(context, loc) : tf_value_of_int(a - floor_div(a, b) * b);
  case TF_SCALAR_BINARY_DIV:
    return b == 0 ? division_by_zero(context, loc) : tf_value_of_float((double)((long double)a / (long double)b));
  case TF_BINARY_OP_POWER:
    return int_power(context, a, b, loc);
  case TF_SCALAR_BINARY_MIN:
    return tf_value_of_int(a < b ? a : b);
  case TF_SCALAR_BINARY_MAX:
    return tf_value_of_int(a > b ? a : b);
  case TF_SCALAR_BINARY_BIT_AND:
    return tf_value_of_int(a & b);
  case TF_SCALAR_BINARY_BIT_OR:
    return checked(context, a | b, loc);
  case TF_SCALAR_BINARY_BIT_XOR:
    return checked(context, a ^ b, loc);
  default:
    return int_shift(context, op == TF_SCALAR_BINARY_SHL, a, b, loc);
  }
}

/* ---- Floats ---- */
/* Python's divmod of floats: the modulus has the divisor's sign, the quotient is the floor of the exact one. */
static void float_divmod(double a, double b, double *quotient, double *modulus) {
  double mod = fmod(a, b), div = (a - mod) / b;
  if (mod != 0.0) {
    if ((b < 0.0) != (mod < 0.0)) {
      mod += b;
      div -= 1.0;
    }
  } else {
    mod = copysign(0.0, b);
  }
  if (div != 0.0) {
    double floored = floor(div);
    *quotient = div - floored > 0.5 ? floored + 1.0 : floored;
  } else {
    *quotient = copysign(0.0, a / b);
  }
  *modulus = mod;
}

static tf_value float_power(tf_context *context, double a, double b, tf_loc loc) {
  if (a == 0.0 && b < 0.0) return division_by_zero(context, loc);
  double result = pow(a, b);
  if (isinf(result) && isfinite(a) && isfinite(b)) return overflow(context, loc);
  if (isnan(result) && !isnan(a) && !isnan(b)) { /* Python answers with a complex number */
    tf_report(context, loc, STATIC_COMPLEX);
    return TF_VALUE_OF_ERROR;
  }
  return tf_value_of_float(result);
}

static tf_value float_binary(tf_context *context, unsigned op, double a, double b, tf_loc loc) {
  double quotient, modulus;
  switch (op) {
  case TF_SCALAR_BINARY_ADD:
    return tf_value_of_float(a + b);
  case TF_SCALAR_BINARY_SUB:
    return tf_value_of_float(a - b);
  case TF_SCALAR_BINARY_MUL:
    return tf_value_of_float(a * b);
  case TF_SCALAR_BINARY_DIV:
    return b == 0.0 ? division_by_zero(context, loc) : tf_value_of_float(a / b);
  case TF_BINARY_OP_POWER:
    return float_power(context, a, b, loc);
  default:
    if (b == 0.0) return division_by_zero(context, loc);
    float_divmod(a, b, &quotient, &modulus);
    return tf_value_of_float(op == TF_SCALAR_BINARY_MOD ? modulus : quotient);
  }
}

static double as_double(const tf_value *v) {
  return v->kind == TF_VALUE_INT ? (double)v->i : v->f;
}

/* min and max keep the operand itself, as Python does: the first one if they are equal. */
static tf_value number_extremum(unsigned op, const tf_value *a, const tf_value *b) {
  bool second = op == TF_SCALAR_BINARY_MIN ? as_double(b) < as_double(a) : as_double(b) > as_double(a);
  return second ? *b : *a;
}

/* ---- Dims and sequences ---- */
static tf_value dim_binary(tf_context *context, unsigned op, const tf_value *a, const tf_value *b, tf_loc loc) {
  tf_dim_op dim_op = TF_DIM_ADD;
  (void)dim_operation(op, &dim_op);
  if ((dim_op == TF_DIM_FLOOR_DIV || dim_op == TF_DIM_MOD) && b->kind == TF_VALUE_INT && b->i == 0)
    return division_by_zero(context, loc);
  const tf_dim *x = tf_value_dim(context, a), *y = tf_value_dim(context, b);
  const tf_dim *result = x && y ? tf_dim_binary(context, dim_op, x, y) : NULL;
  if (result) return tf_value_of_dim(result);
  tf_report(context, loc, STATIC_DIM);
  return TF_VALUE_OF_ERROR;
}

static tf_value concatenate(tf_context *context, const tf_value *a, const tf_value *b, tf_loc loc) {
  if (a->kind == TF_VALUE_STRING) {
    const char *joined = tf_arena_printf(&context->arena, "%s%s", a->string, b->string);
    if (strlen(joined) <= TF_MAX_LIST_SIZE) return tf_value_of_string(tf_context_intern_cstr(context, joined));
    tf_report(context, loc, STATIC_LIST, TF_MAX_LIST_SIZE, TF_MAX_LIST_DEPTH);
    return TF_VALUE_OF_ERROR;
  }
  unsigned count = a->list.count + b->list.count;
  tf_value *items = TF_ARENA_ARRAY(&context->arena, tf_value, count);
  for (unsigned i = 0; i < count; i++)
    items[i] = i < a->list.count ? a->list.items[i] : b->list.items[i - a->list.count];
  return tf_value_of_list(context, count, items, loc);
}

tf_value tf_static_binary(tf_context *context, unsigned op, const tf_value *a, const tf_value *b, tf_loc loc) {
  if (a->kind == TF_VALUE_LIST || a->kind == TF_VALUE_STRING) return concatenate(context, a, b, loc);
  if (a->kind == TF_VALUE_DIM || b->kind == TF_VALUE_DIM) return dim_binary(context, op, a, b, loc);
  if (a->kind == TF_VALUE_INT && b->kind == TF_VALUE_INT) return int_binary(context, op, a->i, b->i, loc);
  if (op == TF_SCALAR_BINARY_MIN || op == TF_SCALAR_BINARY_MAX) return number_extremum(op, a, b);
  return float_binary(context, op, as_double(a), as_double(b), loc);
}

bool tf_static_unary(tf_context *context, tf_unary_op op, const tf_value *a, tf_loc loc, tf_value *out) {
  tf_value zero = tf_value_of_int(0);
  if (op == TF_UNARY_OP_INVERT) {
    if (a->kind != TF_VALUE_INT) return false;
    *out = checked(context, -a->i - 1, loc);
    return true;
  }
  if (op == TF_UNARY_OP_NOT || (!is_number(a) && a->kind != TF_VALUE_DIM)) return false;
  if (op == TF_UNARY_OP_POS)
    *out = *a;
  else if (a->kind == TF_VALUE_FLOAT)
    *out = tf_value_of_float(-a->f);
  else
    *out = tf_static_binary(context, TF_SCALAR_BINARY_SUB, &zero, a, loc);
  return true;
}
