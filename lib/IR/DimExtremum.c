/* Minimum and maximum of dims in one form:
 *
 *   min(x + t, y + t)  =  t + min(x, y)        common terms and the smaller constant move out
 *   min(g*x, g*y)      =  g * min(x, y)
 *   min(-x, -y)        =  -max(x, y)           chosen so that leading coefficients are positive
 *   min(min(x, y), z)  =  min(x, y, z)         sorted, without operands that another one bounds over the whole range */
#include "IR/DimImpl.h"

#include <string.h>

typedef struct operand_list {
  unsigned count;
  const tf_dim *items[TF_DIM_MAX_OPERANDS];
} operand_list;

/* The index of the term that is 1 * (an atom of this kind), or -1. */
static int nested_term(const tf_dim *dim, tf_atom_kind kind) {
  for (unsigned i = 0; i < dim->term_count; i++) {
    const tf_monomial *monomial = dim->terms[i].monomial;
    if (dim->terms[i].coefficient == 1 && monomial->degree == 1 && monomial->atoms[0]->kind == kind) return (int)i;
  }
  return -1;
}

/* Appends t + each operand of a nested minimum, or the dim itself. False on overflow or when the list is full. */
static bool append_operand(tf_context *context, operand_list *list, tf_atom_kind kind, const tf_dim *dim) {
  int nested = nested_term(dim, kind);
  const tf_atom *atom = nested >= 0 ? dim->terms[nested].monomial->atoms[0] : NULL;
  if (!atom || list->count + atom->count > TF_DIM_MAX_OPERANDS) {
    if (list->count == TF_DIM_MAX_OPERANDS) return false;
    list->items[list->count++] = dim;
    return true;
  }
  tf_poly rest = {.constant = 0, .count = 0};
  if (!tf_poly_add(&rest, dim, 1) || !tf_poly_add_term(&rest, -1, dim->terms[nested].monomial)) return false;
  const tf_dim *shift = tf_poly_finish(context, &rest);
  for (unsigned i = 0; i < atom->count; i++) {
    list->items[list->count] = tf_dim_linear(context, 1, shift, 1, atom->operands[i]);
    if (!list->items[list->count++]) return false;
  }
  return true;
}

/* Whether `a` can never be the extremum while `b` is there. */
static bool is_dominated(tf_context *context, tf_atom_kind kind, const tf_dim *a, const tf_dim *b) {
  const tf_dim *excess =
      kind == TF_ATOM_MIN ? tf_dim_linear(context, 1, a, -1, b) : tf_dim_linear(context, 1, b, -1, a);
  return excess && tf_interval_of(excess).min >= 0;
}

static void drop_dominated(tf_context *context, operand_list *list, tf_atom_kind kind) {
  for (unsigned i = 0; i < list->count; i++) {
    for (unsigned k = 0; k < list->count; k++) {
      if (i == k || !is_dominated(context, kind, list->items[i], list->items[k])) continue;
      list->count--;
      memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof *list->items);
      i--;
      break;
    }
  }
}

static bool all_have_term(const operand_list *list, tf_term term) {
  for (unsigned i = 0; i < list->count; i++) {
    bool found = false;
    for (unsigned k = 0; k < list->items[i]->term_count && !found; k++)
      found = list->items[i]->terms[k].monomial == term.monomial &&
              list->items[i]->terms[k].coefficient == term.coefficient;
    if (!found) return false;
  }
  return true;
}

/* The terms that all operands share, with the smallest of their constants. */
static const tf_dim *common_part(tf_context *context, const operand_list *list) {
  tf_poly poly = {.constant = list->items[0]->constant, .count = 0};
  for (unsigned i = 1; i < list->count; i++)
    if (list->items[i]->constant < poly.constant) poly.constant = list->items[i]->constant;
  const tf_dim *first = list->items[0];
  for (unsigned k = 0; k < first->term_count; k++)
    if (all_have_term(list, first->terms[k]))
      tf_poly_add_term(&poly, first->terms[k].coefficient, first->terms[k].monomial);
  return tf_poly_finish(context, &poly);
}

/* The factor to divide all operands by: their common divisor, negative if that makes leading coefficients positive. */
static int64_t common_scale(const operand_list *list) {
  int64_t gcd = 0;
  bool negative = true;
  for (unsigned i = 0; i < list->count; i++) {
    const tf_dim *dim = list->items[i];
    gcd = tf_int_gcd(gcd, dim->constant);
    for (unsigned k = 0; k < dim->term_count; k++)
      gcd = tf_int_gcd(gcd, dim->terms[k].coefficient);
    if (dim->term_count && dim->terms[0].coefficient > 0) negative = false;
  }
  return negative ? -gcd : gcd;
}

static void sort_operands(operand_list *list) {
  for (unsigned i = 1; i < list->count; i++)
    for (unsigned k = i; k > 0 && tf_dim_compare(list->items[k - 1], list->items[k]) > 0; k--) {
      const tf_dim *other = list->items[k];
      list->items[k] = list->items[k - 1];
      list->items[k - 1] = other;
    }
}

/* Subtracts the shift from every operand and divides by the scale. */
static bool normalise(tf_context *context, operand_list *list, const tf_dim *shift, int64_t *scale) {
  for (unsigned i = 0; i < list->count; i++) {
    list->items[i] = tf_dim_linear(context, 1, list->items[i], -1, shift);
    if (!list->items[i]) return false;
  }
  *scale = common_scale(list);
  const tf_dim *divisor = tf_dim_int(context, *scale);
  for (unsigned i = 0; i < list->count; i++) {
    list->items[i] = tf_dim_exact_quotient(context, list->items[i], divisor);
    if (!list->items[i]) return false;
  }
  return true;
}

const tf_dim *tf_dim_extremum(tf_context *context, tf_atom_kind kind, const tf_dim *a, const tf_dim *b) {
  operand_list list = {.count = 0};
  int64_t scale;
  if (!a || !b) return NULL;
  if (!append_operand(context, &list, kind, a) || !append_operand(context, &list, kind, b)) return NULL;
  drop_dominated(context, &list, kind);
  if (list.count == 1) return list.items[0];
  const tf_dim *shift = common_part(context, &list);
  if (!normalise(context, &list, shift, &scale)) return NULL;
  sort_operands(&list);
  if (scale < 0) kind = kind == TF_ATOM_MIN ? TF_ATOM_MAX : TF_ATOM_MIN;
  const tf_dim *atom = tf_dim_from_atom(context, kind, list.count, list.items);
  return atom ? tf_dim_linear(context, 1, shift, scale, atom) : NULL;
}
