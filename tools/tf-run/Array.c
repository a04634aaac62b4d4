#include "Array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Support/Float.h"

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

static size_t item_bytes(tf_element element) {
  return tf_element_bits(element) / 8;
}

bool tf_run_array_create(tf_run_array *out, tf_element element, unsigned rank, const int64_t *shape) {
  tf_run_array a = {.element = element, .rank = rank, .count = 1};
  bool fits = tf_element_bits(element) >= 8;
  for (unsigned i = 0; i < rank; i++) {
    a.shape[i] = shape[i];
    fits = fits && !__builtin_mul_overflow(a.count, (size_t)shape[i], &a.count);
  }
  size_t bytes;
  if (!fits || __builtin_mul_overflow(a.count, item_bytes(element), &bytes)) return false;
  a.data = malloc(bytes ? bytes : 1);
  if (a.data) *out = a;
  return a.data != NULL;
}

void tf_run_array_free(tf_run_array *array) {
  free(array->data);
  memset(array, 0, sizeof *array);
}

uint64_t tf_run_array_bits(const tf_run_array *array, size_t index) {
  uint64_t bits = 0; /* little endian: the low bytes come first */
  size_t bytes = item_bytes(array->element);
  memcpy(&bits, (const char *)array->data + index * bytes, bytes);
  return bits;
}

void tf_run_array_set_bits(tf_run_array *array, size_t index, uint64_t bits) {
  size_t bytes = item_bytes(array->element);
  memcpy((char *)array->data + index * bytes, &bits, bytes);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static double float_value(tf_element element, uint64_t bits) {
  tf_float_format format;
  if (tf_element_float_format(element, &format)) return tf_float_decode(format, (uint32_t)bits);
  if (element == TF_ELEMENT_F64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

static int64_t signed_value(tf_element element, uint64_t bits) {
  unsigned width = tf_element_bits(element);
  uint64_t sign = UINT64_C(1) << (width - 1);
  return width == 64 ? (int64_t)bits : (int64_t)((bits ^ sign) - sign);
}

double tf_run_element_value(tf_element element, uint64_t bits) {
  switch (tf_element_get_class(element)) {
  case TF_ELEMENT_CLASS_FLOAT:
    return float_value(element, bits);
  case TF_ELEMENT_CLASS_SINT:
    return (double)signed_value(element, bits);
  default:
    return (double)bits;
  }
}

double tf_run_array_value(const tf_run_array *array, size_t index) {
  return tf_run_element_value(array->element, tf_run_array_bits(array, index));
}

static bool is_word(const char *text, const char *word) {
  return strcmp(text, word) == 0;
}

static const char *parse_integer(const char *text, tf_element element, uint64_t *bits, bool *parsed) {
  bool negative = *text == '-';
  const char *digits = text + (negative || *text == '+');
  char *end;
  unsigned long long magnitude = strtoull(digits, &end, 0);
  *parsed = *digits >= '0' && *digits <= '9' && !*end;
  return *parsed ? tf_element_from_int(element, negative, magnitude, bits) : NULL;
}

const char *tf_run_scalar_parse(const char *text, tf_element element, uint64_t *bits) {
  bool truth = is_word(text, "True") || is_word(text, "true");
  if (truth || is_word(text, "False") || is_word(text, "false"))
    return tf_element_get_class(element) == TF_ELEMENT_CLASS_BOOL ? tf_element_from_int(element, false, truth, bits)
                                                                  : "a bool for a number";
  bool parsed = false;
  bool is_float = tf_element_get_class(element) == TF_ELEMENT_CLASS_FLOAT;
  const char *why = is_float ? NULL : parse_integer(text, element, bits, &parsed);
  if (parsed) return why;
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end) return "this is no number";
  return tf_element_from_float(element, value, bits);
}

/* ---- .npy -------------------------------------------------------------------------------------------------------- */

/* NumPy's kind and size of an element type; bf16, fp8 and tf32 as they travel: float32. */
static char npy_kind(tf_element element) {
  static const char kinds[] = {[TF_ELEMENT_CLASS_BOOL] = 'b',
                               [TF_ELEMENT_CLASS_SINT] = 'i',
                               [TF_ELEMENT_CLASS_UINT] = 'u',
                               [TF_ELEMENT_CLASS_FLOAT] = 'f'};
  return kinds[tf_element_get_class(element)];
}

static bool travels_as_f32(tf_element element) {
  tf_float_format format;
  return element != TF_ELEMENT_F16 && tf_element_float_format(element, &format);
}

static unsigned npy_bytes(tf_element element) {
  return travels_as_f32(element) ? 4 : tf_element_bits(element) / 8;
}

bool tf_run_element_of_npy(const tf_npy *npy, tf_element *out) {
  for (unsigned i = 0; i < TF_ELEMENT_COUNT; i++) {
    tf_element e = (tf_element)i;
    if (tf_element_bits(e) < 8 || travels_as_f32(e)) continue;
    if (npy_kind(e) != npy->kind || npy_bytes(e) != npy->item_bytes) continue;
    *out = e;
    return true;
  }
  return false;
}

static void encode(const tf_npy *npy, tf_run_array *out) {
  const float *from = npy->data;
  tf_float_format format = TF_FLOAT_BF16;
  (void)tf_element_float_format(out->element, &format);
  for (size_t i = 0; i < out->count; i++)
    tf_run_array_set_bits(out, i, tf_float_encode(format, (double)from[i]));
}

const char *tf_run_array_from_npy(const tf_npy *npy, tf_element element, tf_run_array *out) {
  tf_float_format format;
  bool same = npy->kind == npy_kind(element) && npy->item_bytes == npy_bytes(element);
  bool bits =
      npy->kind == 'u' && tf_element_float_format(element, &format) && npy->item_bytes * 8 == tf_element_bits(element);
  if (tf_element_bits(element) < 8) return "arrays of packed elements are not supported";
  if (!same && !bits) return "convert it with numpy's astype";
  if (!tf_run_array_create(out, element, npy->rank, npy->shape)) return "out of memory";
  if (same && travels_as_f32(element))
    encode(npy, out);
  else
    memcpy(out->data, npy->data, npy->count * npy->item_bytes);
  for (size_t i = 0; element == TF_ELEMENT_BOOL && i < out->count; i++)
    tf_run_array_set_bits(out, i, tf_run_array_bits(out, i) != 0);
  return NULL;
}

bool tf_run_array_to_npy(const tf_run_array *array, bool raw, tf_npy *out) {
  bool decode = travels_as_f32(array->element) && !raw;
  tf_npy npy = {.kind = npy_kind(array->element),
                .item_bytes = npy_bytes(array->element),
                .rank = array->rank,
                .count = array->count};
  if (raw && travels_as_f32(array->element)) {
    npy.kind = 'u';
    npy.item_bytes = tf_element_bits(array->element) / 8;
  }
  memcpy(npy.shape, array->shape, sizeof npy.shape);
  npy.data = malloc(npy.count * npy.item_bytes + 1);
  if (!npy.data) return false;
  float *values = npy.data;
  for (size_t i = 0; decode && i < npy.count; i++)
    values[i] = (float)tf_run_array_value(array, i);
  if (!decode) memcpy(npy.data, array->data, npy.count * npy.item_bytes);
  *out = npy;
  return true;
}

static size_t describe_shape(unsigned rank, const int64_t *shape, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "(");
  for (unsigned i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? ", " : "", shape[i]);
  if (used < size) used += (size_t)snprintf(text + used, size - used, rank == 1 ? ",)" : ")");
  return used;
}

void tf_run_npy_describe(const tf_npy *npy, char *text, size_t size) {
  const char *name = npy->kind == 'b' ? "bool" : npy->kind == 'i' ? "int" : npy->kind == 'u' ? "uint" : "float";
  char width[8] = "";
  if (npy->kind != 'b') snprintf(width, sizeof width, "%u", npy->item_bytes * 8);
  size_t used = (size_t)snprintf(text, size, "%s%s ", name, width);
  if (used < size) describe_shape(npy->rank, npy->shape, text + used, size - used);
}

/* ---- Contents ---------------------------------------------------------------------------------------------------- */

void tf_run_array_fill(tf_run_array *array, uint64_t bits) {
  for (size_t i = 0; i < array->count; i++)
    tf_run_array_set_bits(array, i, bits);
}

/* splitmix64 of seed and index: any element can be computed by itself. */
static uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t random_bits(tf_element element, uint64_t noise) {
  uint64_t bits = 0;
  switch (tf_element_get_class(element)) {
  case TF_ELEMENT_CLASS_BOOL:
    return noise >> 63;
  case TF_ELEMENT_CLASS_UINT:
    return noise >> 60;
  case TF_ELEMENT_CLASS_SINT:
    (void)tf_element_from_int(element, noise >> 63, (noise >> 60 & 7) + (noise >> 63), &bits);
    return bits;
  case TF_ELEMENT_CLASS_FLOAT:
    (void)tf_element_from_float(element, (double)(noise >> 11) * 0x1p-52 - 1, &bits);
    break;
  }
  return bits;
}

void tf_run_array_randomize(tf_run_array *array, uint64_t seed) {
  for (size_t i = 0; i < array->count; i++)
    tf_run_array_set_bits(array, i, random_bits(array->element, mix(seed, i)));
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

#define PRINT_EDGE 4 /* elements shown at each end of an abridged axis */

static void print_element(const tf_run_array *a, size_t index) {
  uint64_t bits = tf_run_array_bits(a, index);
  switch (tf_element_get_class(a->element)) {
  case TF_ELEMENT_CLASS_BOOL:
    printf("%s", bits ? "True" : "False");
    return;
  case TF_ELEMENT_CLASS_SINT:
    printf("%" PRId64, signed_value(a->element, bits));
    return;
  case TF_ELEMENT_CLASS_UINT:
    printf("%" PRIu64, bits);
    return;
  case TF_ELEMENT_CLASS_FLOAT:
    break;
  }
  int digits = a->element == TF_ELEMENT_F64 ? 17 : a->element == TF_ELEMENT_F32 ? 9 : 6;
  printf("%.*g", digits, float_value(a->element, bits));
}

static void print_axis(const tf_run_array *a, unsigned axis, size_t start, size_t span) {
  if (axis == a->rank) {
    print_element(a, start);
    return;
  }
  size_t extent = (size_t)a->shape[axis], step = extent ? span / extent : 0;
  bool last = axis + 1 == a->rank;
  printf("[");
  for (size_t i = 0; i < extent; i++) {
    if (i && last) printf(" ");
    if (i && !last) printf("\n%*s", (int)axis + 1, "");
    if (extent > 2 * PRINT_EDGE + 1 && i == PRINT_EDGE) {
      printf("…");
      i = extent - PRINT_EDGE - 1;
    } else {
      print_axis(a, axis + 1, start + i * step, step);
    }
  }
  printf("]");
}

void tf_run_array_print(const char *name, const tf_run_array *array) {
  char shape[256];
  describe_shape(array->rank, array->shape, shape, sizeof shape);
  printf("%s: %s %s\n", name, tf_element_name(array->element), shape);
  print_axis(array, 0, 0, array->count);
  printf("\n");
}
