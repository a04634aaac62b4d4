/* What is known about a dim's value: bounds by interval arithmetic, divisors, evaluation, substitution, its DimVars.
 *
 * An interval's end that does not fit 64 bits is open: INT64_MIN below, INT64_MAX above. */
#include "IR/DimImpl.h"

#include <string.h>

__extension__ typedef __int128 wide;
static const wide unbounded = (wide)1 << 63; /* one beyond INT64_MAX: products of it stay beyond */

static wide widen(int64_t value) {
  return value == INT64_MAX ? unbounded : (wide)value;
}

static int64_t clamp(wide value) {
  if (value >= unbounded) return INT64_MAX;
  return value <= -unbounded ? INT64_MIN : (int64_t)value;
}

static int64_t add_min(int64_t a, int64_t b) {
  return a == INT64_MIN || b == INT64_MIN ? INT64_MIN : clamp((wide)a + b);
}

static int64_t add_max(int64_t a, int64_t b) {
  return a == INT64_MAX || b == INT64_MAX ? INT64_MAX : clamp((wide)a + b);
}

tf_interval tf_interval_mul(tf_interval a, tf_interval b) {
  wide ends[4] = {(wide)a.min * b.min, a.min * widen(b.max), widen(a.max) * b.min, widen(a.max) * widen(b.max)};
  wide low = ends[0], high = ends[0];
  for (int i = 1; i < 4; i++) {
    low = ends[i] < low ? ends[i] : low;
    high = ends[i] > high ? ends[i] : high;
  }
  return (tf_interval){clamp(low), clamp(high)};
}

tf_interval tf_interval_of(const tf_dim *dim) {
  tf_interval sum = {dim->constant, dim->constant};
  for (unsigned i = 0; i < dim->term_count; i++) {
    int64_t c = dim->terms[i].coefficient;
    const tf_monomial *monomial = dim->terms[i].monomial;
    tf_interval part = tf_interval_mul((tf_interval){c, c}, (tf_interval){monomial->min, monomial->max});
    sum.min = add_min(sum.min, part.min);
    sum.max = add_max(sum.max, part.max);
  }
  return sum;
}

/* ---- Atoms
 * ------------------------------------------------------------------------------------------------------------ */
/* An end of an interval. An open one stands for values beyond 64 bits on its side. */
typedef struct interval_end {
  int64_t value;
  bool open;
} interval_end;

/* floor(a / b) at two ends; b is not 0. */
static int64_t end_quotient(interval_end a, interval_end b) {
  bool same_sign = (a.value < 0) == (b.value < 0);
  if (a.open) return same_sign ? INT64_MAX : INT64_MIN;
  if (b.open) return a.value == 0 || same_sign ? 0 : -1;
  if (b.value == -1) return clamp(-(wide)a.value);
  return tf_int_floor_div(a.value, b.value);
}

/* The quotient is monotonic in each operand while b keeps its sign: the ends bound it. */
static tf_interval floor_div_interval(tf_interval a, tf_interval b) {
  const interval_end as[2] = {{a.min, a.min == INT64_MIN}, {a.max, a.max == INT64_MAX}};
  const interval_end bs[2] = {{b.min, b.min == INT64_MIN}, {b.max, b.max == INT64_MAX}};
  if (b.min <= 0 && b.max >= 0) { /* |a // b| never exceeds |a| */
    if (as[0].open || as[1].open || a.max == INT64_MIN) return (tf_interval){INT64_MIN, INT64_MAX};
    int64_t most = a.max > -a.min ? a.max : -a.min;
    return (tf_interval){-most, most};
  }
  tf_interval range = {INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; i++) {
    int64_t end = end_quotient(as[i / 2], bs[i % 2]);
    range.min = end < range.min ? end : range.min;
    range.max = end > range.max ? end : range.max;
  }
  return range;
}

static tf_interval mod_interval(tf_interval a, tf_interval b) {
  tf_interval range = {b.min < 0 ? b.min + 1 : 0, b.max > 0 ? b.max - 1 : 0};
  if (b.min == INT64_MIN) range.min = INT64_MIN;
  if (b.max == INT64_MAX) range.max = INT64_MAX;
  if (a.min >= 0 && b.min >= 0 && a.max < range.max) range.max = a.max; /* a % b <= a for both not negative */
  return range;
}

static tf_interval extremum_interval(tf_atom_kind kind, unsigned count, const tf_dim *const *operands) {
  tf_interval range = tf_interval_of(operands[0]);
  for (unsigned i = 1; i < count; i++) {
    tf_interval other = tf_interval_of(operands[i]);
    bool lower = kind == TF_ATOM_MIN;
    if (lower ? other.min < range.min : other.min > range.min) range.min = other.min;
    if (lower ? other.max < range.max : other.max > range.max) range.max = other.max;
  }
  return range;
}

tf_interval tf_atom_interval(tf_atom_kind kind, unsigned count, const tf_dim *const *operands) {
  if (kind == TF_ATOM_MIN || kind == TF_ATOM_MAX) return extremum_interval(kind, count, operands);
  tf_interval a = tf_interval_of(operands[0]), b = tf_interval_of(operands[1]);
  return kind == TF_ATOM_FLOOR_DIV ? floor_div_interval(a, b) : mod_interval(a, b);
}

bool tf_dim_is_positive(const tf_dim *dim) {
  return tf_interval_of(dim).min > 0;
}

bool tf_dim_is_nonzero(const tf_dim *dim) {
  tf_interval range = tf_interval_of(dim);
  return range.min > 0 || range.max < 0;
}

void tf_dim_range(const tf_dim *dim, int64_t *min, int64_t *max) {
  tf_interval range = dim ? tf_interval_of(dim) : (tf_interval){INT64_MIN, INT64_MAX};
  if (min) *min = range.min;
  if (max) *max = range.max;
}

/* ---- Divisors
 * ------------------------------------------------------------------------------------------------------------ */
static int64_t atom_divisor(const tf_atom *atom) {
  int64_t gcd = 0;
  if (atom->kind == TF_ATOM_VAR || atom->kind == TF_ATOM_FLOOR_DIV) return 1;
  for (unsigned i = 0; i < atom->count; i++)
    gcd = tf_int_gcd(gcd, tf_dim_divisor(atom->operands[i]));
  return gcd;
}

int64_t tf_dim_divisor(const tf_dim *dim) {
  if (!dim) return 1;
  int64_t gcd = tf_int_gcd(dim->constant, 0);
  for (unsigned i = 0; i < dim->term_count; i++) {
    int64_t part = tf_int_gcd(dim->terms[i].coefficient, 0), product;
    const tf_monomial *monomial = dim->terms[i].monomial;
    for (unsigned k = 0; k < monomial->degree; k++)
      if (!__builtin_mul_overflow(part, atom_divisor(monomial->atoms[k]), &product)) part = product;
    gcd = tf_int_gcd(gcd, part);
  }
  return gcd;
}

/* ---- Evaluation
 * ------------------------------------------------------------------------------------------------------------- */
typedef struct evaluation {
  tf_dim_value_fn value_of;
  void *user;
} evaluation;

static bool evaluate(const evaluation *e, const tf_dim *dim, int64_t *out);

static bool divide_values(tf_atom_kind kind, int64_t a, int64_t b, int64_t *out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *out = kind == TF_ATOM_FLOOR_DIV ? tf_int_floor_div(a, b) : tf_int_mod(a, b);
  return true;
}

static bool evaluate_atom(const evaluation *e, const tf_atom *atom, int64_t *out) {
  int64_t value, other;
  if (atom->kind == TF_ATOM_VAR) return e->value_of && e->value_of(e->user, atom->name, out);
  if (!evaluate(e, atom->operands[0], &value)) return false;
  for (unsigned i = 1; i < atom->count; i++) {
    if (!evaluate(e, atom->operands[i], &other)) return false;
    if (atom->kind == TF_ATOM_MIN) {
      value = other < value ? other : value;
    } else if (atom->kind == TF_ATOM_MAX) {
      value = other > value ? other : value;
    } else if (!divide_values((tf_atom_kind)atom->kind, value, other, &value)) {
      return false;
    }
  }
  *out = value;
  return true;
}

/* Sums and products are formed in 128 bits as far as they go: only a result beyond 64 bits is an overflow. */
static bool evaluate(const evaluation *e, const tf_dim *dim, int64_t *out) {
  wide sum = dim->constant;
  for (unsigned i = 0; i < dim->term_count; i++) {
    wide product = dim->terms[i].coefficient;
    for (unsigned k = 0; k < dim->terms[i].monomial->degree; k++) {
      int64_t value;
      if (!evaluate_atom(e, dim->terms[i].monomial->atoms[k], &value)) return false;
      if (__builtin_mul_overflow(product, (wide)value, &product)) return false;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return false;
  }
  *out = (int64_t)sum;
  return *out == sum;
}

bool tf_dim_evaluate(const tf_dim *dim, tf_dim_value_fn value_of, void *user, int64_t *out) {
  evaluation e = {value_of, user};
  int64_t value;
  if (!dim || !evaluate(&e, dim, &value)) return false;
  if (out) *out = value;
  return true;
}

/* ---- DimVars
 * ------------------------------------------------------------------------------------------------------------------ */
/* The DimVar with the smallest name greater than `after` (null: any). Scanning once per DimVar needs no memory. */
static const tf_atom *next_var(const tf_dim *dim, const char *after, const tf_atom *best) {
  for (unsigned i = 0; i < dim->term_count; i++) {
    const tf_monomial *monomial = dim->terms[i].monomial;
    for (unsigned k = 0; k < monomial->degree; k++) {
      const tf_atom *atom = monomial->atoms[k];
      for (unsigned n = 0; n < atom->count; n++)
        best = next_var(atom->operands[n], after, best);
      if (atom->kind != TF_ATOM_VAR || (after && strcmp(atom->name, after) <= 0)) continue;
      if (!best || strcmp(atom->name, best->name) < 0) best = atom;
    }
  }
  return best;
}

void tf_dim_visit_vars(const tf_dim *dim, tf_dim_visit_fn visit, void *user) {
  const char *after = NULL;
  if (!dim || !visit) return;
  for (const tf_atom *var = next_var(dim, after, NULL); var; var = next_var(dim, after, NULL)) {
    visit(user, var->name, var->min, var->max + 1);
    after = var->name;
  }
}

static const tf_dim *substitute_atom(tf_context *context, const tf_atom *atom, tf_dim_replace_fn replace, void *user) {
  static const tf_dim_op ops[] = {[TF_ATOM_FLOOR_DIV] = TF_DIM_FLOOR_DIV,
                                  [TF_ATOM_MOD] = TF_DIM_MOD,
                                  [TF_ATOM_MIN] = TF_DIM_MIN,
                                  [TF_ATOM_MAX] = TF_DIM_MAX};
  if (atom->kind == TF_ATOM_VAR) {
    const tf_dim *self = NULL, *other = replace(user, atom->name);
    if (other) return other;
    return tf_dim_var(context, atom->name, atom->min, atom->max + 1, &self) == TF_OK ? self : NULL;
  }
  const tf_dim *value = tf_dim_substitute(context, atom->operands[0], replace, user);
  for (unsigned i = 1; i < atom->count; i++)
    value =
        tf_dim_binary(context, ops[atom->kind], value, tf_dim_substitute(context, atom->operands[i], replace, user));
  return value;
}

const tf_dim *tf_dim_substitute(tf_context *context, const tf_dim *dim, tf_dim_replace_fn replace, void *user) {
  if (!context || !dim || !replace) return NULL;
  const tf_dim *sum = tf_dim_int(context, dim->constant);
  for (unsigned i = 0; i < dim->term_count && sum; i++) {
    const tf_dim *product = tf_dim_int(context, dim->terms[i].coefficient);
    for (unsigned k = 0; k < dim->terms[i].monomial->degree; k++)
      product =
          tf_dim_product(context, product, substitute_atom(context, dim->terms[i].monomial->atoms[k], replace, user));
    sum = tf_dim_linear(context, 1, sum, 1, product);
  }
  return sum;
}
