/* Floor division and modulus of dims.
 *
 *   (c*x + r) // c  =  x + r // c            whole multiples of the divisor leave the quotient
 *   (g*x + k) // (g*c)  =  (x + k//g) // c   common factors cancel
 *   (x // a + k) // c  =  (x + k*a) // (a*c)
 *   x // c  =  -((-x + c-1) // c)            chosen so that the leading coefficient is positive; ceildiv(S, 128) is
 *                                            therefore (S + 127) // 128, and the printer knows it again
 *   x // c  is a number when the range of x lies between two multiples of c
 *
 * The same identities hold for a symbolic divisor that is provably not 0 (the last two: positive). Every rule keeps the
 * value for all values of the DimVars for which the original has one. */
#include "IR/DimImpl.h"

int64_t tf_int_gcd(int64_t a, int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN) return 1;
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int64_t tf_int_floor_div(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t tf_int_mod(int64_t a, int64_t b) {
  int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* ---- Polynomial division
 * ------------------------------------------------------------------------------------------------ */
/* The leading term of a sum that is not 0; a constant has the monomial null. */
static tf_term leading_term(const tf_dim *dim) {
  return dim->term_count ? dim->terms[0] : (tf_term){dim->constant, NULL};
}

/* a/b of two terms as a dim; null if b does not divide a. */
static const tf_dim *term_quotient(tf_context *context, tf_term a, tf_term b) {
  if (b.coefficient == -1 && a.coefficient == INT64_MIN) return NULL;
  if (a.coefficient % b.coefficient != 0 || (b.monomial && !a.monomial)) return NULL;
  const tf_monomial *monomial = a.monomial;
  if (b.monomial && !tf_monomial_quotient(context, a.monomial, b.monomial, &monomial)) return NULL;
  int64_t coefficient = a.coefficient / b.coefficient;
  if (!monomial) return tf_dim_int(context, coefficient);
  tf_poly poly = {.constant = 0, .count = 1};
  poly.terms[0] = (tf_term){coefficient, monomial};
  return tf_poly_finish(context, &poly);
}

const tf_dim *tf_dim_exact_quotient(tf_context *context, const tf_dim *a, const tf_dim *b) {
  const tf_dim *zero = tf_dim_int(context, 0), *quotient = zero;
  if (b == zero) return NULL;
  for (const tf_dim *rest = a; rest != zero;) {
    const tf_dim *part = term_quotient(context, leading_term(rest), leading_term(b));
    if (!part) return NULL;
    quotient = tf_dim_linear(context, 1, quotient, 1, part);
    rest = tf_dim_linear(context, 1, rest, -1, tf_dim_product(context, part, b));
    if (!quotient || !rest) return NULL;
  }
  return quotient;
}

/* ---- Common steps
 * --------------------------------------------------------------------------------------------------------- */
static int64_t coefficient_gcd(const tf_dim *dim, int64_t gcd) {
  for (unsigned i = 0; i < dim->term_count; i++)
    gcd = tf_int_gcd(gcd, dim->terms[i].coefficient);
  return gcd;
}

/* The dim with every coefficient divided by g (exactly), its constant floored. */
static const tf_dim *divide_coefficients(tf_context *context, const tf_dim *dim, int64_t g) {
  tf_poly poly = {.constant = tf_int_floor_div(dim->constant, g), .count = dim->term_count};
  for (unsigned i = 0; i < dim->term_count; i++)
    poly.terms[i] = (tf_term){dim->terms[i].coefficient / g, dim->terms[i].monomial};
  return tf_poly_finish(context, &poly);
}

/* a = c*quotient + rest with coefficients of rest truncated (their sign kept) and its constant in [0, c). */
static void split_multiples(tf_context *context, const tf_dim *a, int64_t c, const tf_dim **quotient,
                            const tf_dim **rest) {
  tf_poly q = {.constant = tf_int_floor_div(a->constant, c), .count = 0};
  tf_poly r = {.constant = tf_int_mod(a->constant, c), .count = 0};
  for (unsigned i = 0; i < a->term_count; i++) {
    tf_poly_add_term(&q, a->terms[i].coefficient / c, a->terms[i].monomial);
    tf_poly_add_term(&r, a->terms[i].coefficient % c, a->terms[i].monomial);
  }
  *quotient = tf_poly_finish(context, &q);
  *rest = tf_poly_finish(context, &r);
}

/* Whether floor(dim / c) is one number over the whole range. */
static bool single_bucket(const tf_dim *dim, int64_t c, int64_t *bucket) {
  tf_interval range = tf_interval_of(dim);
  if (range.min == INT64_MIN || range.max == INT64_MAX) return false;
  *bucket = tf_int_floor_div(range.min, c);
  return *bucket == tf_int_floor_div(range.max, c);
}

static const tf_dim *divide_atom(tf_context *context, tf_atom_kind kind, const tf_dim *a, const tf_dim *b) {
  const tf_dim *operands[2] = {a, b};
  return tf_dim_from_atom(context, kind, 2, operands);
}

/* ---- Division by a positive number
 * ------------------------------------------------------------------------------------------ */
static const tf_dim *floor_div_const(tf_context *context, const tf_dim *a, int64_t c);

/* (x // d + k) // c  as  (x + k*d) // (d*c); null where it is not of this form. */
static const tf_dim *nested_div(tf_context *context, const tf_dim *rest, int64_t c) {
  const tf_atom *atom = tf_dim_single_atom(rest);
  int64_t d, product, shift;
  if (!atom || atom->kind != TF_ATOM_FLOOR_DIV || !tf_dim_is_static(atom->operands[1], &d) || d < 0) return NULL;
  if (__builtin_mul_overflow(c, d, &product) || __builtin_mul_overflow(rest->constant, d, &shift)) return NULL;
  const tf_dim *inner = tf_dim_shift(context, atom->operands[0], shift);
  return inner ? floor_div_const(context, inner, product) : NULL;
}

/* rest // c where no coefficient of rest reaches c. */
static const tf_dim *floor_div_rest(tf_context *context, const tf_dim *rest, int64_t c) {
  int64_t bucket;
  if (single_bucket(rest, c, &bucket)) return tf_dim_int(context, bucket);
  const tf_dim *nested = nested_div(context, rest, c);
  if (nested) return nested;
  if (rest->terms[0].coefficient > 0) return divide_atom(context, TF_ATOM_FLOOR_DIV, rest, tf_dim_int(context, c));
  const tf_dim *flipped = tf_dim_shift(context, tf_dim_scale(context, rest, -1), c - 1);
  return flipped ? tf_dim_scale(context, floor_div_rest(context, flipped, c), -1) : NULL;
}

static const tf_dim *floor_div_const(tf_context *context, const tf_dim *a, int64_t c) {
  int64_t g = coefficient_gcd(a, c);
  const tf_dim *reduced = g > 1 ? divide_coefficients(context, a, g) : a, *quotient, *rest;
  c /= g;
  if (c == 1) return reduced;
  split_multiples(context, reduced, c, &quotient, &rest);
  return tf_dim_linear(context, 1, quotient, 1, floor_div_rest(context, rest, c));
}

/* ---- Symbolic divisors
 * -------------------------------------------------------------------------------------------------------- */
/* An atom that divides all terms of a and of b, null if there is none. Where b is not 0, neither is the atom, and it cancels
 * whatever its sign. */
static const tf_dim *common_atom(tf_context *context, const tf_dim *a, const tf_dim *b) {
  if (a->constant || b->constant || !a->term_count || !b->term_count) return NULL;
  for (unsigned i = 0; i < b->terms[0].monomial->degree; i++) {
    const tf_atom *atom = b->terms[0].monomial->atoms[i];
    const tf_dim *dim = tf_dim_of_atom(context, atom);
    if (tf_dim_exact_quotient(context, a, dim) && tf_dim_exact_quotient(context, b, dim)) return dim;
  }
  return NULL;
}

/* Takes the terms that b, one term, divides out of a: a = quotient*b + rest. */
static bool pull_terms(tf_context *context, const tf_dim *a, const tf_dim *b, const tf_dim **quotient,
                       const tf_dim **rest) {
  if (b->term_count != 1 || b->constant) return false;
  const tf_dim *q = tf_dim_int(context, 0);
  for (unsigned i = 0; i < a->term_count; i++) {
    tf_term term = a->terms[i];
    term.coefficient -= term.coefficient % b->terms[0].coefficient;
    const tf_dim *part = term.coefficient ? term_quotient(context, term, b->terms[0]) : NULL;
    if (part) q = tf_dim_linear(context, 1, q, 1, part);
    if (!q) return false;
  }
  *quotient = q;
  *rest = tf_dim_linear(context, 1, a, -1, tf_dim_product(context, q, b));
  return *rest && q != tf_dim_int(context, 0);
}

/* Whether 0 <= a < b, or -b <= a < 0: the quotient is then 0, or -1. */
static bool symbolic_bucket(tf_context *context, const tf_dim *a, const tf_dim *b, int64_t *bucket) {
  if (!tf_dim_is_positive(b)) return false;
  const tf_dim *below = tf_dim_linear(context, 1, b, -1, a), *above = tf_dim_linear(context, 1, b, 1, a);
  tf_interval range = tf_interval_of(a);
  *bucket = range.min >= 0 ? 0 : -1;
  if (range.min >= 0) return below && tf_dim_is_positive(below);
  return range.max < 0 && above && tf_interval_of(above).min >= 0;
}

/* A common numeric factor of b and of a's terms; 1 if there is none. a's constant may leave a remainder only where b is
 * positive: floor(floor(a/g) / y) is floor(a / (g*y)) for positive y alone. */
static int64_t common_factor(const tf_dim *a, const tf_dim *b) {
  int64_t g = coefficient_gcd(b, tf_int_gcd(b->constant, 0));
  g = coefficient_gcd(a, g);
  return tf_dim_is_positive(b) ? g : tf_int_gcd(g, a->constant);
}

static const tf_dim *floor_div_symbolic(tf_context *context, const tf_dim *a, const tf_dim *b, bool may_flip);

static const tf_dim *divide_again(tf_context *context, const tf_dim *a, const tf_dim *b, bool may_flip) {
  if (!a || !b) return NULL;
  return tf_dim_is_static(b, NULL) ? tf_dim_floor_div(context, a, b) : floor_div_symbolic(context, a, b, may_flip);
}

static bool leads_negative(const tf_dim *dim) {
  return dim->term_count && dim->terms[0].coefficient < 0;
}

/* a // b where b is not 0; null if no rule applies. */
static const tf_dim *divide_by_nonzero(tf_context *context, const tf_dim *a, const tf_dim *b, bool may_flip) {
  const tf_dim *quotient, *rest;
  quotient = tf_dim_exact_quotient(context, a, b);
  if (quotient) return quotient;
  if (pull_terms(context, a, b, &quotient, &rest))
    return tf_dim_linear(context, 1, quotient, 1, divide_again(context, rest, b, may_flip));
  const tf_dim *common = common_atom(context, a, b);
  if (!common) return NULL;
  return divide_again(context, tf_dim_exact_quotient(context, a, common), tf_dim_exact_quotient(context, b, common),
                      may_flip);
}

static const tf_dim *floor_div_symbolic(tf_context *context, const tf_dim *a, const tf_dim *b, bool may_flip) {
  int64_t bucket, g = common_factor(a, b);
  if (g > 1)
    return divide_again(context, divide_coefficients(context, a, g), divide_coefficients(context, b, g), may_flip);
  if (symbolic_bucket(context, a, b, &bucket)) return tf_dim_int(context, bucket);
  const tf_dim *quotient = tf_dim_is_nonzero(b) ? divide_by_nonzero(context, a, b, may_flip) : NULL;
  if (quotient) return quotient;
  if (may_flip && leads_negative(a) && tf_dim_is_positive(b)) {
    const tf_dim *flipped = tf_dim_linear(context, -1, a, 1, tf_dim_shift(context, b, -1));
    if (flipped && !leads_negative(flipped)) return tf_dim_scale(context, divide_again(context, flipped, b, false), -1);
  }
  return divide_atom(context, TF_ATOM_FLOOR_DIV, a, b);
}

const tf_dim *tf_dim_floor_div(tf_context *context, const tf_dim *a, const tf_dim *b) {
  int64_t divisor;
  if (!a || !b) return NULL;
  if (!tf_dim_is_static(b, &divisor)) return floor_div_symbolic(context, a, b, true);
  if (divisor == 0 || divisor == INT64_MIN) return NULL;
  if (divisor > 0) return floor_div_const(context, a, divisor);
  a = tf_dim_scale(context, a, -1);
  return a ? floor_div_const(context, a, -divisor) : NULL;
}

/* ---- Modulus
 * --------------------------------------------------------------------------------------------------------------------
 */
/* (g*x + k) % (g*y)  =  g * ((x + k//g) % y) + k % g. */
static const tf_dim *mod_scaled(tf_context *context, const tf_dim *a, const tf_dim *b, int64_t g) {
  const tf_dim *inner = tf_dim_mod(context, divide_coefficients(context, a, g), divide_coefficients(context, b, g));
  return inner ? tf_dim_shift(context, tf_dim_scale(context, inner, g), tf_int_mod(a->constant, g)) : NULL;
}

/* dim % c where the whole range of dim lies between two multiples of c; else null. */
static const tf_dim *mod_by_range(tf_context *context, const tf_dim *dim, int64_t c) {
  int64_t bucket, offset;
  if (!single_bucket(dim, c, &bucket) || __builtin_mul_overflow(bucket, -c, &offset)) return NULL;
  return tf_dim_shift(context, dim, offset);
}

static const tf_dim *mod_const(tf_context *context, const tf_dim *a, int64_t c) {
  const tf_dim *quotient, *rest, *positive, *known;
  split_multiples(context, a, c, &quotient, &rest);
  known = mod_by_range(context, rest, c);
  if (known) return known;
  tf_poly poly = {.constant = rest->constant, .count = rest->term_count};
  for (unsigned i = 0; i < rest->term_count; i++)
    poly.terms[i] = (tf_term){tf_int_mod(rest->terms[i].coefficient, c), rest->terms[i].monomial};
  positive = tf_poly_finish(context, &poly);
  known = mod_by_range(context, positive, c);
  return known ? known : divide_atom(context, TF_ATOM_MOD, positive, tf_dim_int(context, c));
}

static const tf_dim *mod_symbolic(tf_context *context, const tf_dim *a, const tf_dim *b) {
  const tf_dim *quotient, *rest;
  int64_t bucket;
  if (symbolic_bucket(context, a, b, &bucket)) return tf_dim_linear(context, 1, a, -bucket, b);
  if (tf_dim_is_nonzero(b)) {
    if (tf_dim_exact_quotient(context, a, b)) return tf_dim_int(context, 0);
    if (pull_terms(context, a, b, &quotient, &rest)) return tf_dim_mod(context, rest, b);
  }
  return divide_atom(context, TF_ATOM_MOD, a, b);
}

const tf_dim *tf_dim_mod(tf_context *context, const tf_dim *a, const tf_dim *b) {
  int64_t divisor;
  if (!a || !b) return NULL;
  bool is_static = tf_dim_is_static(b, &divisor);
  if (is_static && (divisor == 0 || divisor == INT64_MIN)) return NULL;
  if (is_static && divisor < 0) { /* x % -c  =  -(-x % c) */
    const tf_dim *negated = tf_dim_scale(context, a, -1);
    return negated ? tf_dim_scale(context, tf_dim_mod(context, negated, tf_dim_int(context, -divisor)), -1) : NULL;
  }
  int64_t g = common_factor(a, b);
  if (g > 1 && a->term_count) return mod_scaled(context, a, b, g);
  if (!is_static) return mod_symbolic(context, a, b);
  return divisor == 1 ? tf_dim_int(context, 0) : mod_const(context, a, divisor);
}
