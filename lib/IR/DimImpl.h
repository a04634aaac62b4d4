/* Dims from the inside: the normal form and the helpers that its files share.
 *
 *   dim       constant + sum of terms             3*S*M + 2*(S//4) + 7
 *   term      coefficient * monomial              3 * (S*M)
 *   monomial  sorted product of atoms             S*M
 *   atom      a DimVar, a//b, a%b, min(…), max(…) whose operands are dims again
 *
 * All four are interned, so equal expressions are equal pointers. Terms stand in graded lexicographic order of their
 * monomials (higher degree first); that order respects multiplication, which polynomial division needs. Names order
 * DimVars, never addresses: the form of an expression is the same in every run. */
#ifndef TF_IR_DIM_IMPL_H
#define TF_IR_DIM_IMPL_H

#include <tilefoundry/Type.h>

#include "Support/Context.h"

typedef enum tf_atom_kind { TF_ATOM_VAR, TF_ATOM_FLOOR_DIV, TF_ATOM_MOD, TF_ATOM_MIN, TF_ATOM_MAX } tf_atom_kind;

/* The first word of each interned struct tells them apart inside TF_INTERN_DIM. */
typedef enum tf_dim_tag { TF_DIM_TAG_SUM, TF_DIM_TAG_MONOMIAL, TF_DIM_TAG_ATOM } tf_dim_tag;

typedef struct tf_atom {
  uint32_t tag, kind;
  uint32_t size;  /* atoms in the expression written out, this one included: bounds every recursion over dims */
  uint32_t count; /* operands */
  int64_t min, max;
  const char *name; /* VAR */
  const tf_dim *operands[];
} tf_atom;

typedef struct tf_monomial {
  uint32_t tag, degree;
  int64_t min, max;
  const tf_atom *atoms[]; /* sorted, with repetition */
} tf_monomial;

typedef struct tf_term {
  int64_t coefficient; /* never 0 or INT64_MIN */
  const tf_monomial *monomial;
} tf_term;

struct tf_dim {
  uint32_t tag, term_count;
  int64_t constant;
  tf_term terms[];
};

/* Expressions beyond these are refused (null), so that no input makes arithmetic or recursion explode. */
#define TF_DIM_MAX_TERMS    48
#define TF_DIM_MAX_DEGREE   16
#define TF_DIM_MAX_SIZE     400
#define TF_DIM_MAX_OPERANDS 12

/* A sum under construction: terms sorted, no zero coefficients. */
typedef struct tf_poly {
  int64_t constant;
  unsigned count;
  tf_term terms[TF_DIM_MAX_TERMS];
} tf_poly;

int tf_atom_compare(const tf_atom *a, const tf_atom *b);
int tf_monomial_compare(const tf_monomial *a, const tf_monomial *b);
int tf_dim_compare(const tf_dim *a, const tf_dim *b);

/* poly += factor * dim, or one term. False on overflow of a coefficient or the term limit. */
bool tf_poly_add(tf_poly *poly, const tf_dim *dim, int64_t factor);
bool tf_poly_add_term(tf_poly *poly, int64_t coefficient, const tf_monomial *monomial);
const tf_dim *tf_poly_finish(tf_context *context, const tf_poly *poly);

/* a*x + b*y; null operands give null, as does overflow: callers chain without checks. */
const tf_dim *tf_dim_linear(tf_context *context, int64_t a, const tf_dim *x, int64_t b, const tf_dim *y);
const tf_dim *tf_dim_shift(tf_context *context, const tf_dim *dim, int64_t constant);
const tf_dim *tf_dim_scale(tf_context *context, const tf_dim *dim, int64_t factor);
const tf_dim *tf_dim_product(tf_context *context, const tf_dim *a, const tf_dim *b);

/* The monomial a*b; null beyond the degree limit. a/b; null unless b's atoms are among a's; b == a gives *is_one. */
const tf_monomial *tf_monomial_product(tf_context *context, const tf_monomial *a, const tf_monomial *b);
bool tf_monomial_quotient(tf_context *context, const tf_monomial *a, const tf_monomial *b, const tf_monomial **out);

/* The dim that is just this atom, after interning it with its range. Null beyond the size limit. */
const tf_dim *tf_dim_from_atom(tf_context *context, tf_atom_kind kind, unsigned count, const tf_dim *const *operands);
const tf_dim *tf_dim_of_atom(tf_context *context, const tf_atom *atom);
/* The atom if the dim is `1*atom + constant`, else null. */
const tf_atom *tf_dim_single_atom(const tf_dim *dim);

/* The polynomial q with q*b == a, or null if there is none (b may vanish for some values: the caller decides). */
const tf_dim *tf_dim_exact_quotient(tf_context *context, const tf_dim *a, const tf_dim *b);
const tf_dim *tf_dim_floor_div(tf_context *context, const tf_dim *a, const tf_dim *b);
const tf_dim *tf_dim_mod(tf_context *context, const tf_dim *a, const tf_dim *b);
const tf_dim *tf_dim_extremum(tf_context *context, tf_atom_kind kind, const tf_dim *a, const tf_dim *b);

/* Ranges: [min, max], where INT64_MIN as a minimum and INT64_MAX as a maximum mean "unbounded". */
typedef struct tf_interval {
  int64_t min, max;
} tf_interval;
tf_interval tf_interval_of(const tf_dim *dim);
tf_interval tf_interval_mul(tf_interval a, tf_interval b);
tf_interval tf_atom_interval(tf_atom_kind kind, unsigned count, const tf_dim *const *operands);
bool tf_dim_is_positive(const tf_dim *dim);
bool tf_dim_is_nonzero(const tf_dim *dim);

/* Appends the dim's Python text. */
void tf_dim_append(tf_context *context, tf_string *out, const tf_dim *dim);

/* Greatest common divisor of magnitudes; gcd(0, x) = |x|. Magnitude 2^63 does not occur: it is reported as 1. */
int64_t tf_int_gcd(int64_t a, int64_t b);
/* Python's // for b != 0; INT64_MIN // -1 is excluded by the callers. */
int64_t tf_int_floor_div(int64_t a, int64_t b);
int64_t tf_int_mod(int64_t a, int64_t b);

#endif
