/* Arrays of any element type in host memory, and what travels between them and .npy files.
 *
 *   element       .npy that is read            .npy that is written (--raw)
 *   bool          bool                         bool
 *   i8 … u64      the same type                the same type
 *   f16 f32 f64   the same type; f16 also u2   the same type
 *   bf16          f4 rounded, or u2 as bits    f4 exact (u2)
 *   fp8*, f8e8m0  f4 rounded, or u1 as bits    f4 exact (u1)
 *   tf32          f4 rounded, or u4 as bits    f4 exact (u4)
 *
 * i4 and f4e2m1 are not supported: their elements are packed. */
#ifndef TF_RUN_ARRAY_H
#define TF_RUN_ARRAY_H

#include "Runtime/Element.h"
#include "Support/Npy.h"

typedef struct tf_run_array {
  tf_element element;
  unsigned rank;
  int64_t shape[TF_NPY_MAX_RANK];
  size_t count;
  void *data; /* count elements in C order, owned */
} tf_run_array;

/* An array of that shape with undefined content. Returns false when memory ends or the size overflows. */
bool tf_run_array_create(tf_run_array *out, tf_element element, unsigned rank, const int64_t *shape);
void tf_run_array_free(tf_run_array *array);

/* The element's bits, and its value as a double (i64 and u64 beyond 2^53 are rounded). */
uint64_t tf_run_array_bits(const tf_run_array *array, size_t index);
void tf_run_array_set_bits(tf_run_array *array, size_t index, uint64_t bits);
double tf_run_array_value(const tf_run_array *array, size_t index);
double tf_run_element_value(tf_element element, uint64_t bits);

/* Converts a file's array into one of the element type; shapes are copied. Returns a static text that says why not, or
 * null. */
const char *tf_run_array_from_npy(const tf_npy *npy, tf_element element, tf_run_array *out);
/* The element type that a file's array has of itself. */
bool tf_run_element_of_npy(const tf_npy *npy, tf_element *out);
/* A new array for tf_npy_write; false when memory ends. */
bool tf_run_array_to_npy(const tf_run_array *array, bool raw, tf_npy *out);

/* "float32 (3, 4)": a file's array in words. */
void tf_run_npy_describe(const tf_npy *npy, char *text, size_t size);

/* A number as the command line writes it (7, -0x10, 1e-3, inf, nan, True, False) in the element type. Returns why not, or
 * null. */
const char *tf_run_scalar_parse(const char *text, tf_element element, uint64_t *bits);

void tf_run_array_fill(tf_run_array *array, uint64_t bits);
/* The same numbers for the same seed on every machine: floats uniform in [-1, 1) (f8e8m0: powers of two from
 * 2^-8 to 2^7), integers in [-8, 8) or [0, 16). */
void tf_run_array_randomize(tf_run_array *array, uint64_t seed);

/* Prints "NAME: f32 (3, 4)" and the elements to stdout, long axes abridged. */
void tf_run_array_print(const char *name, const tf_run_array *array);

#endif
