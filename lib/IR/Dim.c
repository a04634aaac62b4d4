/* Dims: interning of atoms, monomials and sums, and their ring arithmetic. Division is in DimDivide.c, minimum and
 * maximum in DimExtremum.c, bounds and evaluation in DimRange.c. */
#include "IR/DimImpl.h"
#include "IR/Text/Lexer.h"

#include <string.h>

/* ---- Order ----------------------------------------------------------------------------------------------------------
 */
/* Interned operands make each comparison descend into one differing child only: linear in the depth. */
int tf_atom_compare(const tf_atom *a, const tf_atom *b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == TF_ATOM_VAR) return strcmp(a->name, b->name);
  for (unsigned i = 0; i < a->count && i < b->count; i++) {
    int order = tf_dim_compare(a->operands[i], b->operands[i]);
    if (order) return order;
  }
  return a->count < b->count ? -1 : 1;
}

int tf_monomial_compare(const tf_monomial *a, const tf_monomial *b) {
  if (a == b) return 0;
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  for (unsigned i = 0; i < a->degree; i++) {
    int order = tf_atom_compare(a->atoms[i], b->atoms[i]);
    if (order) return order;
  }
  return 0;
}

int tf_dim_compare(const tf_dim *a, const tf_dim *b) {
  if (a == b) return 0;
  for (unsigned i = 0; i < a->term_count && i < b->term_count; i++) {
    int order = tf_monomial_compare(a->terms[i].monomial, b->terms[i].monomial);
    if (order) return order;
    if (a->terms[i].coefficient != b->terms[i].coefficient)
      return a->terms[i].coefficient > b->terms[i].coefficient ? -1 : 1;
  }
  if (a->term_count != b->term_count) return a->term_count > b->term_count ? -1 : 1;
  return a->constant < b->constant ? -1 : 1;
}

/* ---- Sums -----------------------------------------------------------------------------------------------------------
 */
bool tf_poly_add_term(tf_poly *poly, int64_t coefficient, const tf_monomial *monomial) {
  unsigned at = 0;
  while (at < poly->count && tf_monomial_compare(poly->terms[at].monomial, monomial) < 0)
    at++;
  if (at < poly->count && poly->terms[at].monomial == monomial) {
    int64_t *sum = &poly->terms[at].coefficient;
    if (__builtin_add_overflow(*sum, coefficient, sum) || *sum == INT64_MIN) return false;
    if (poly->terms[at].coefficient == 0) {
      poly->count--;
      memmove(&poly->terms[at], &poly->terms[at + 1], (poly->count - at) * sizeof *poly->terms);
    }
    return true;
  }
  if (coefficient == 0) return true;
  if (poly->count == TF_DIM_MAX_TERMS || coefficient == INT64_MIN) return false;
  memmove(&poly->terms[at + 1], &poly->terms[at], (poly->count - at) * sizeof *poly->terms);
  poly->terms[at] = (tf_term){coefficient, monomial};
  poly->count++;
  return true;
}

bool tf_poly_add(tf_poly *poly, const tf_dim *dim, int64_t factor) {
  int64_t value;
  if (__builtin_mul_overflow(dim->constant, factor, &value)) return false;
  if (__builtin_add_overflow(poly->constant, value, &poly->constant)) return false;
  for (unsigned i = 0; i < dim->term_count; i++) {
    if (__builtin_mul_overflow(dim->terms[i].coefficient, factor, &value)) return false;
    if (!tf_poly_add_term(poly, value, dim->terms[i].monomial)) return false;
  }
  return true;
}

const tf_dim *tf_poly_finish(tf_context *context, const tf_poly *poly) {
  union {
    tf_dim dim;
    char bytes[sizeof(tf_dim) + TF_DIM_MAX_TERMS * sizeof(tf_term)];
  } key;
  key.dim.tag = TF_DIM_TAG_SUM;
  key.dim.term_count = poly->count;
  key.dim.constant = poly->constant;
  memcpy(key.bytes + sizeof(tf_dim), poly->terms, poly->count * sizeof(tf_term));
  return tf_context_intern_bytes(context, TF_INTERN_DIM, &key, sizeof(tf_dim) + poly->count * sizeof(tf_term));
}

const tf_dim *tf_dim_int(tf_context *context, int64_t value) {
  tf_dim key = {.tag = TF_DIM_TAG_SUM, .term_count = 0, .constant = value};
  return tf_context_intern_bytes(context, TF_INTERN_DIM, &key, sizeof key);
}

const tf_dim *tf_dim_linear(tf_context *context, int64_t a, const tf_dim *x, int64_t b, const tf_dim *y) {
  if (!x || !y) return NULL;
  tf_poly poly = {.constant = 0, .count = 0};
  if (a != 0 && !tf_poly_add(&poly, x, a)) return NULL;
  if (b != 0 && !tf_poly_add(&poly, y, b)) return NULL;
  return tf_poly_finish(context, &poly);
}

const tf_dim *tf_dim_shift(tf_context *context, const tf_dim *dim, int64_t constant) {
  return tf_dim_linear(context, 1, dim, 1, tf_dim_int(context, constant));
}

const tf_dim *tf_dim_scale(tf_context *context, const tf_dim *dim, int64_t factor) {
  return dim ? tf_dim_linear(context, factor, dim, 0, dim) : NULL;
}

/* ---- Monomials
 * -------------------------------------------------------------------------------------------------------- */
static const tf_monomial *monomial_get(tf_context *context, unsigned degree, const tf_atom *const *atoms) {
  union {
    tf_monomial monomial;
    char bytes[sizeof(tf_monomial) + TF_DIM_MAX_DEGREE * sizeof(tf_atom *)];
  } key;
  tf_interval range = {1, 1};
  for (unsigned i = 0; i < degree; i++)
    range = tf_interval_mul(range, (tf_interval){atoms[i]->min, atoms[i]->max});
  key.monomial.tag = TF_DIM_TAG_MONOMIAL;
  key.monomial.degree = degree;
  key.monomial.min = range.min;
  key.monomial.max = range.max;
  memcpy(key.bytes + sizeof(tf_monomial), atoms, degree * sizeof *atoms);
  return tf_context_intern_bytes(context, TF_INTERN_DIM, &key, sizeof(tf_monomial) + degree * sizeof *atoms);
}

const tf_monomial *tf_monomial_product(tf_context *context, const tf_monomial *a, const tf_monomial *b) {
  const tf_atom *atoms[TF_DIM_MAX_DEGREE];
  unsigned degree = a->degree + b->degree, i = 0, k = 0;
  if (degree > TF_DIM_MAX_DEGREE) return NULL;
  for (unsigned n = 0; n < degree; n++) {
    bool from_a = k == b->degree || (i < a->degree && tf_atom_compare(a->atoms[i], b->atoms[k]) <= 0);
    atoms[n] = from_a ? a->atoms[i++] : b->atoms[k++];
  }
  return monomial_get(context, degree, atoms);
}

bool tf_monomial_quotient(tf_context *context, const tf_monomial *a, const tf_monomial *b, const tf_monomial **out) {
  const tf_atom *atoms[TF_DIM_MAX_DEGREE];
  unsigned degree = 0, k = 0;
  for (unsigned i = 0; i < a->degree; i++) {
    if (k < b->degree && a->atoms[i] == b->atoms[k]) {
      k++;
    } else {
      atoms[degree++] = a->atoms[i];
    }
  }
  if (k < b->degree) return false;
  *out = degree ? monomial_get(context, degree, atoms) : NULL;
  return true;
}

/* ---- Atoms
 * ------------------------------------------------------------------------------------------------------------ */
static unsigned written_size(const tf_dim *dim) {
  unsigned size = 0;
  for (unsigned i = 0; i < dim->term_count; i++)
    for (unsigned k = 0; k < dim->terms[i].monomial->degree; k++)
      size += dim->terms[i].monomial->atoms[k]->size;
  return size;
}

const tf_dim *tf_dim_of_atom(tf_context *context, const tf_atom *atom) {
  tf_poly poly = {.constant = 0, .count = 1};
  poly.terms[0] = (tf_term){1, monomial_get(context, 1, &atom)};
  return tf_poly_finish(context, &poly);
}

const tf_dim *tf_dim_from_atom(tf_context *context, tf_atom_kind kind, unsigned count, const tf_dim *const *operands) {
  union {
    tf_atom atom;
    char bytes[sizeof(tf_atom) + TF_DIM_MAX_OPERANDS * sizeof(tf_dim *)];
  } key;
  memset(&key, 0, sizeof key);
  unsigned written = 1;
  for (unsigned i = 0; i < count; i++)
    written += written_size(operands[i]);
  if (written > TF_DIM_MAX_SIZE) return NULL;
  tf_interval range = tf_atom_interval(kind, count, operands);
  key.atom.tag = TF_DIM_TAG_ATOM;
  key.atom.kind = kind;
  key.atom.size = written;
  key.atom.count = count;
  key.atom.min = range.min;
  key.atom.max = range.max;
  memcpy(key.bytes + sizeof(tf_atom), operands, count * sizeof *operands);
  size_t size = sizeof(tf_atom) + count * sizeof *operands;
  return tf_dim_of_atom(context, tf_context_intern_bytes(context, TF_INTERN_DIM, &key, size));
}

const tf_atom *tf_dim_single_atom(const tf_dim *dim) {
  bool single = dim->term_count == 1 && dim->terms[0].coefficient == 1 && dim->terms[0].monomial->degree == 1;
  return single ? dim->terms[0].monomial->atoms[0] : NULL;
}

tf_status tf_dim_var(tf_context *context, const char *name, int64_t lo, int64_t hi, const tf_dim **out) {
  if (!context || !out || !tf_is_identifier(name) || lo < 0 || lo >= hi) return TF_INVALID_ARGUMENT;
  tf_atom key;
  memset(&key, 0, sizeof key);
  key.tag = TF_DIM_TAG_ATOM;
  key.kind = TF_ATOM_VAR;
  key.size = 1;
  key.min = lo;
  key.max = hi - 1;
  key.name = tf_context_intern_cstr(context, name);
  const struct { const char *tag, *name; } memo = {"tf_dim_var", key.name};
  void **known = tf_context_memo(context, &memo, sizeof memo);
  if (*known && memcmp(*known, &key, sizeof key) != 0) return TF_INVALID_ARGUMENT;
  const tf_atom *atom = tf_context_intern_bytes(context, TF_INTERN_DIM, &key, sizeof key);
  *known = (void *)(uintptr_t)atom;
  *out = tf_dim_of_atom(context, atom);
  return TF_OK;
}

/* ---- Operations
 * ------------------------------------------------------------------------------------------------------- */
/* poly += (coefficient * monomial) * dim. */
static bool add_scaled(tf_context *context, tf_poly *poly, tf_term term, const tf_dim *dim) {
  int64_t value;
  if (__builtin_mul_overflow(term.coefficient, dim->constant, &value)) return false;
  if (!tf_poly_add_term(poly, value, term.monomial)) return false;
  for (unsigned i = 0; i < dim->term_count; i++) {
    const tf_monomial *monomial = tf_monomial_product(context, term.monomial, dim->terms[i].monomial);
    if (!monomial || __builtin_mul_overflow(term.coefficient, dim->terms[i].coefficient, &value)) return false;
    if (!tf_poly_add_term(poly, value, monomial)) return false;
  }
  return true;
}

const tf_dim *tf_dim_product(tf_context *context, const tf_dim *a, const tf_dim *b) {
  if (!a || !b) return NULL;
  tf_poly poly = {.constant = 0, .count = 0};
  if (!tf_poly_add(&poly, b, a->constant)) return NULL;
  for (unsigned i = 0; i < a->term_count; i++)
    if (!add_scaled(context, &poly, a->terms[i], b)) return NULL;
  return tf_poly_finish(context, &poly);
}

/* ceildiv(a, b) = -((-a) // b). */
static const tf_dim *ceil_div(tf_context *context, const tf_dim *a, const tf_dim *b) {
  const tf_dim *negated = tf_dim_scale(context, a, -1);
  return negated ? tf_dim_scale(context, tf_dim_floor_div(context, negated, b), -1) : NULL;
}

const tf_dim *tf_dim_binary(tf_context *context, tf_dim_op op, const tf_dim *a, const tf_dim *b) {
  if (!context || !a || !b) return NULL;
  switch (op) {
  case TF_DIM_ADD:
    return tf_dim_linear(context, 1, a, 1, b);
  case TF_DIM_SUB:
    return tf_dim_linear(context, 1, a, -1, b);
  case TF_DIM_MUL:
    return tf_dim_product(context, a, b);
  case TF_DIM_FLOOR_DIV:
    return tf_dim_floor_div(context, a, b);
  case TF_DIM_MOD:
    return tf_dim_mod(context, a, b);
  case TF_DIM_CEIL_DIV:
    return ceil_div(context, a, b);
  case TF_DIM_MIN:
    return tf_dim_extremum(context, TF_ATOM_MIN, a, b);
  case TF_DIM_MAX:
    return tf_dim_extremum(context, TF_ATOM_MAX, a, b);
  }
  return NULL;
}

bool tf_dim_is_static(const tf_dim *dim, int64_t *value) {
  if (!dim || dim->term_count) return false;
  if (value) *value = dim->constant;
  return true;
}
