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

/* The index of the only term that is c * min(…) with positive c, or c * max(…) with negative c, which is a minimum too
 * (max: the other way round); -1 if there is none or more than one, whose expansion would be ambiguous. */
static int nested_term(const tf_dim *dim, tf_atom_kind kind) {
  const tf_atom_kind opposite = kind == TF_ATOM_MIN ? TF_ATOM_MAX : TF_ATOM_MIN;
  int found = -1;
  for (unsigned i = 0; i < dim->term_count; i++) {
    const tf_monomial *monomial = dim->terms[i].monomial;
    tf_atom_kind wanted = dim->terms[i].coefficient > 0 ? kind : opposite;
    if (monomial->degree != 1 || monomial->atoms[0]->kind != wanted) continue;
    if (found >= 0) return -1;
    found = (int)i;
  }
  return found;
}

/* Appends t + c * each operand of a nested minimum, or the dim itself. False on overflow or when the list is full. */
static bool append_operand(tf_context *context, operand_list *list, tf_atom_kind kind, const tf_dim *dim) {
  int nested = nested_term(dim, kind);
  const tf_term term = nested >= 0 ? dim->terms[nested] : (tf_term){0, NULL};
  const tf_atom *atom = nested >= 0 ? term.monomial->atoms[0] : NULL;
  if (list->count + (atom ? atom->count : 1) > TF_DIM_MAX_OPERANDS) return false;
  if (!atom) {
    list->items[list->count++] = dim;
    return true;
  }
  tf_poly rest = {.constant = 0, .count = 0};
  if (!tf_poly_add(&rest, dim, 1) || !tf_poly_add_term(&rest, -term.coefficient, term.monomial)) return false;
  const tf_dim *shift = tf_poly_finish(context, &rest);
  for (unsigned i = 0; i < atom->count; i++) {
    list->items[list->count] = tf_dim_linear(context, 1, shift, term.coefficient, atom->operands[i]);
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

/* The terms that all operands share. */
static const tf_dim *common_terms(tf_context *context, const operand_list *list) {
  tf_poly poly = {.constant = 0, .count = 0};
  const tf_dim *first = list->items[0];
  for (unsigned k = 0; k < first->term_count; k++)
    if (all_have_term(list, first->terms[k]))
      tf_poly_add_term(&poly, first->terms[k].coefficient, first->terms[k].monomial);
  return tf_poly_finish(context, &poly);
}

static bool leads_negative(const operand_list *list) {
  for (unsigned i = 0; i < list->count; i++)
    if (list->items[i]->term_count && list->items[i]->terms[0].coefficient > 0) return false;
  return true;
}

static int64_t least_constant(const operand_list *list) {
  int64_t least = list->items[0]->constant;
  for (unsigned i = 1; i < list->count; i++)
    if (list->items[i]->constant < least) least = list->items[i]->constant;
  return least;
}

static int64_t common_divisor(const operand_list *list) {
  int64_t gcd = 0;
  for (unsigned i = 0; i < list->count; i++) {
    gcd = tf_int_gcd(gcd, list->items[i]->constant);
    for (unsigned k = 0; k < list->items[i]->term_count; k++)
      gcd = tf_int_gcd(gcd, list->items[i]->terms[k].coefficient);
  }
  return gcd;
}

static void sort_operands(operand_list *list) {
  for (unsigned i = 1; i < list->count; i++)
    for (unsigned k = i; k > 0 && tf_dim_compare(list->items[k - 1], list->items[k]) > 0; k--) {
      const tf_dim *other = list->items[k];
      list->items[k] = list->items[k - 1];
      list->items[k - 1] = other;
    }
}

/* Replaces each operand x by (sign*x - shift) / divisor; the division is exact. */
static bool map_operands(tf_context *context, operand_list *list, int64_t sign, const tf_dim *shift, int64_t divisor) {
  for (unsigned i = 0; i < list->count; i++) {
    const tf_dim *mapped = tf_dim_linear(context, sign, list->items[i], -1, shift);
    list->items[i] = mapped ? tf_dim_exact_quotient(context, mapped, tf_dim_int(context, divisor)) : NULL;
    if (!list->items[i]) return false;
  }
  return true;
}

const tf_dim *tf_dim_extremum(tf_context *context, tf_atom_kind kind, const tf_dim *a, const tf_dim *b) {
  operand_list list = {.count = 0};
  const tf_dim *zero = tf_dim_int(context, 0);
  if (!a || !b) return NULL;
  if (!append_operand(context, &list, kind, a) || !append_operand(context, &list, kind, b)) return NULL;
  drop_dominated(context, &list, kind);
  if (list.count == 1) return list.items[0];

  const tf_dim *terms = common_terms(context, &list);
  if (!map_operands(context, &list, 1, terms, 1)) return NULL;
  int64_t sign = leads_negative(&list) ? -1 : 1;
  if (sign < 0) kind = kind == TF_ATOM_MIN ? TF_ATOM_MAX : TF_ATOM_MIN;
  if (sign < 0 && !map_operands(context, &list, -1, zero, 1)) return NULL;
  const tf_dim *constant = tf_dim_int(context, least_constant(&list));
  if (!map_operands(context, &list, 1, constant, 1)) return NULL;
  int64_t divisor = common_divisor(&list);
  if (!map_operands(context, &list, 1, zero, divisor)) return NULL;

  sort_operands(&list);
  const tf_dim *atom = tf_dim_from_atom(context, kind, list.count, list.items);
  const tf_dim *inner = atom ? tf_dim_linear(context, 1, constant, divisor, atom) : NULL;
  return tf_dim_linear(context, 1, terms, sign, inner);
}
