#include "Compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "Message.h"

typedef struct comparison {
  const char *name;
  const tf_run_array *got;
  tf_run_array want;
  tf_run_tolerance tolerance;
  double max_absolute, max_relative;
  size_t bad, first_bad;
} comparison;

static bool is_integer(tf_element element) {
  return tf_element_get_class(element) != TF_ELEMENT_CLASS_FLOAT;
}

static bool is_signed(tf_element element) {
  return tf_element_get_class(element) == TF_ELEMENT_CLASS_SINT;
}

/* Integers of up to 64 bits as sign and magnitude compare exactly where doubles would round. */
static bool integers_equal(const comparison *c, size_t i) {
  uint64_t a = tf_run_array_bits(c->got, i), b = tf_run_array_bits(&c->want, i);
  double va = tf_run_array_value(c->got, i), vb = tf_run_array_value(&c->want, i);
  if (va < 0 || vb < 0) {
    unsigned wa = tf_element_bits(c->got->element), wb = tf_element_bits(c->want.element);
    if (!is_signed(c->got->element) || !is_signed(c->want.element)) return false;
    a = wa < 64 ? a | UINT64_MAX << wa : a;
    b = wb < 64 ? b | UINT64_MAX << wb : b;
  }
  return a == b && (va < 0) == (vb < 0);
}

static void compare_element(comparison *c, size_t i) {
  double got = tf_run_array_value(c->got, i), want = tf_run_array_value(&c->want, i);
  bool exact = is_integer(c->got->element) && is_integer(c->want.element);
  if (exact ? integers_equal(c, i) : got == want || (isnan(got) && isnan(want))) return;
  double absolute = fabs(got - want), relative = absolute / fabs(want);
  if (isnan(absolute)) absolute = INFINITY;
  if (isnan(relative)) relative = INFINITY;
  c->max_absolute = fmax(c->max_absolute, absolute);
  c->max_relative = fmax(c->max_relative, relative);
  double allowed = c->tolerance.atol + (exact ? 0 : c->tolerance.rtol * fabs(want));
  bool lost = exact && absolute == 0; /* different integers that are one double */
  if (isfinite(want) && absolute <= allowed && !lost) return;
  if (c->bad++ == 0) c->first_bad = i;
}

static void print_index(const tf_run_array *a, size_t index, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "("), rest = a->count;
  for (unsigned axis = 0; axis < a->rank && used < size; axis++) {
    rest /= (size_t)a->shape[axis];
    used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? ", " : "", index / rest);
    index %= rest;
  }
  if (used < size) snprintf(text + used, size - used, ")");
}

static bool report(const comparison *c) {
  printf("%s: max absolute error %.3g, max relative error %.3g (rtol %g, atol %g): %s\n", c->name, c->max_absolute,
         c->max_relative, c->tolerance.rtol, c->tolerance.atol, c->bad ? "FAILED" : "ok");
  if (!c->bad) return true;
  char index[128];
  print_index(c->got, c->first_bad, index, sizeof index);
  return tf_run_error("tf-run",
                      "'%s': %zu of %zu elements are out of tolerance; first at %s: got %.17g, expected %.17g", c->name,
                      c->bad, c->got->count, index, tf_run_array_value(c->got, c->first_bad),
                      tf_run_array_value(&c->want, c->first_bad));
}

static bool same_shape(const tf_run_array *a, const tf_npy *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0;
}

/* The reference keeps its own type: an f64 reference of an f32 result is compared as it is. */
static bool load_reference(comparison *c, const tf_npy *npy, const char *path) {
  char text[256];
  tf_element element;
  tf_run_npy_describe(npy, text, sizeof text);
  if (!same_shape(c->got, npy))
    return tf_run_error("tf-run", "'%s': %s is %s, the result has another shape", c->name, path, text);
  if (!tf_run_element_of_npy(npy, &element)) return tf_run_error("tf-run", "'%s': %s is %s", c->name, path, text);
  const char *why = tf_run_array_from_npy(npy, element, &c->want);
  return !why || tf_run_error("tf-run", "'%s': %s: %s", c->name, path, why);
}

bool tf_run_compare(const char *name, const tf_run_array *got, const char *path, tf_run_tolerance tolerance) {
  comparison c = {.name = name, .got = got, .tolerance = tolerance};
  tf_npy npy;
  char message[512];
  if (tf_npy_read(path, &npy, message, sizeof message) != TF_OK)
    return tf_run_error("tf-run", "'%s': %s", name, message);
  bool good = load_reference(&c, &npy, path);
  for (size_t i = 0; good && i < got->count; i++)
    compare_element(&c, i);
  good = good && report(&c);
  tf_run_array_free(&c.want);
  tf_npy_free(&npy);
  return good;
}
