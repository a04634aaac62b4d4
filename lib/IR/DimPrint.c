/* Dims as Python text. Every string reads back as the same dim.
 *
 * A DimVar stands under its name, which printed modules bind to it. One whose name means something else there, as in
 * DimVar("T", 1, 9), is written out wherever it stands.
 *
 * Python's // and % stand at the level of * and group from the left, and unary minus binds tighter: inside a product
 * and after a leading minus a division is put in parentheses, as a numerator it is not. */
#include "IR/DimImpl.h"

#include <inttypes.h>

#include "IR/Text/PrintInternal.h"

typedef enum precedence { PREC_SUM, PREC_PRODUCT, PREC_ATOM } precedence;

static void print_dim(tf_context *context, tf_string *out, const tf_dim *dim, precedence level);

static void print_call(tf_context *context, tf_string *out, const char *name, const tf_dim *a, const tf_dim *b) {
  tf_string_printf(out, "%s(", name);
  print_dim(context, out, a, PREC_SUM);
  tf_string_puts(out, ", ");
  print_dim(context, out, b, PREC_SUM);
  tf_string_puts(out, ")");
}

/* dim_min(dim_min(a, b), c): the functions take two operands. */
static void print_extremum(tf_context *context, tf_string *out, const tf_atom *atom) {
  const char *name = atom->kind == TF_ATOM_MIN ? "dim_min(" : "dim_max(";
  for (unsigned i = 1; i < atom->count; i++)
    tf_string_puts(out, name);
  print_dim(context, out, atom->operands[0], PREC_SUM);
  for (unsigned i = 1; i < atom->count; i++) {
    tf_string_puts(out, ", ");
    print_dim(context, out, atom->operands[i], PREC_SUM);
    tf_string_puts(out, ")");
  }
}

/* The x of an atom (x + b - 1) // b with positive b, which is ceildiv(x, b); null for any other. */
static const tf_dim *ceil_div_numerator(tf_context *context, const tf_atom *atom) {
  const tf_dim *a = atom->operands[0], *b = atom->operands[1];
  if (atom->kind != TF_ATOM_FLOOR_DIV || !tf_dim_is_positive(b)) return NULL;
  const tf_dim *x = tf_dim_linear(context, 1, a, -1, tf_dim_shift(context, b, -1));
  bool simpler = x && x->constant == 0 && x->term_count + b->term_count <= a->term_count;
  return simpler && a->constant != 0 ? x : NULL;
}

static void print_division(tf_context *context, tf_string *out, const tf_atom *atom, bool in_product) {
  const tf_dim *x = ceil_div_numerator(context, atom);
  if (x) {
    print_call(context, out, "ceildiv", x, atom->operands[1]);
    return;
  }
  if (in_product) tf_string_puts(out, "(");
  print_dim(context, out, atom->operands[0], PREC_PRODUCT);
  tf_string_puts(out, atom->kind == TF_ATOM_FLOOR_DIV ? "//" : "%");
  print_dim(context, out, atom->operands[1], PREC_ATOM);
  if (in_product) tf_string_puts(out, ")");
}

static void print_var(tf_context *context, tf_string *out, const tf_atom *atom) {
  if (tf_print_writes_out(context, atom->name))
    tf_string_printf(out, "DimVar(\"%s\", %" PRId64 ", %" PRId64 ")", atom->name, atom->min, atom->max + 1);
  else
    tf_string_puts(out, atom->name);
}

static void print_atom(tf_context *context, tf_string *out, const tf_atom *atom, bool in_product) {
  switch ((tf_atom_kind)atom->kind) {
  case TF_ATOM_VAR:
    print_var(context, out, atom);
    break;
  case TF_ATOM_FLOOR_DIV:
  case TF_ATOM_MOD:
    print_division(context, out, atom, in_product);
    break;
  case TF_ATOM_MIN:
  case TF_ATOM_MAX:
    print_extremum(context, out, atom);
    break;
  }
}

/* The sign of a term; `first` terms carry it themselves, and so does the least number, whose magnitude no dim has. */
static void print_sign(tf_string *out, int64_t coefficient, bool first) {
  bool least = coefficient == INT64_MIN;
  if (first || least) {
    tf_string_printf(out, "%s%s", first ? "" : " + ", coefficient < 0 ? "-" : "");
  } else {
    tf_string_puts(out, coefficient < 0 ? " - " : " + ");
  }
}

static void print_term(tf_context *context, tf_string *out, tf_term term, bool first) {
  uint64_t magnitude = term.coefficient < 0 ? 0 - (uint64_t)term.coefficient : (uint64_t)term.coefficient;
  const tf_monomial *monomial = term.monomial;
  print_sign(out, term.coefficient, first);
  if (magnitude != 1) tf_string_printf(out, "%" PRIu64 "*", magnitude);
  bool in_product = magnitude != 1 || monomial->degree > 1 || (first && term.coefficient < 0);
  for (unsigned i = 0; i < monomial->degree; i++) {
    if (i) tf_string_puts(out, "*");
    print_atom(context, out, monomial->atoms[i], in_product);
  }
}

static bool needs_parentheses(const tf_dim *dim, precedence level) {
  unsigned parts = dim->term_count + (dim->constant != 0);
  if (level == PREC_SUM || parts == 0) return false;
  if (parts > 1) return true;
  if (level == PREC_PRODUCT) return false;
  if (dim->term_count == 0) return dim->constant < 0;
  const tf_atom *atom = tf_dim_single_atom(dim);
  return !atom || atom->kind == TF_ATOM_FLOOR_DIV || atom->kind == TF_ATOM_MOD;
}

static void print_dim(tf_context *context, tf_string *out, const tf_dim *dim, precedence level) {
  bool parentheses = needs_parentheses(dim, level);
  if (parentheses) tf_string_puts(out, "(");
  for (unsigned i = 0; i < dim->term_count; i++)
    print_term(context, out, dim->terms[i], i == 0);
  if (dim->term_count == 0) {
    tf_string_printf(out, "%" PRId64, dim->constant);
  } else if (dim->constant != 0) {
    uint64_t magnitude = dim->constant < 0 ? 0 - (uint64_t)dim->constant : (uint64_t)dim->constant;
    print_sign(out, dim->constant, false);
    tf_string_printf(out, "%" PRIu64, magnitude);
  }
  if (parentheses) tf_string_puts(out, ")");
}

void tf_dim_append(tf_context *context, tf_string *out, const tf_dim *dim) {
  if (!dim) {
    tf_string_puts(out, "None"); /* the dim of an overflow: only messages print it */
    return;
  }
  print_dim(context, out, dim, PREC_SUM);
}

const char *tf_dim_print(tf_context *context, const tf_dim *dim) {
  tf_string out;
  tf_string_init(&out, &context->arena);
  tf_dim_append(context, &out, dim);
  return out.text;
}
