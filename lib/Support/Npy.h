/* NumPy's .npy files: versions 1 to 3, C order, numbers and bool.
 *
 *   \x93NUMPY major minor  length (2 or 4 bytes, little endian)  {'descr': '<f4', 'fortran_order': False, 'shape': (3,
 * 4), }\n  data
 *
 * The format is a fact of NumPy's documentation; the header is a Python dict literal, read here with a parser of
 * exactly that much of Python. Everything else (Fortran order of more than one axis, structured, complex, text and
 * object types, bytes missing or left over, sizes that overflow) is refused with a message of the form "FILE: byte N:
 * what is wrong". Big-endian data is swapped to the machine's order.
 *
 * Thread-safety: no shared state. */
#ifndef TF_SUPPORT_NPY_H
#define TF_SUPPORT_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "tilefoundry/Status.h"

#define TF_NPY_MAX_RANK 32

/* An array in memory. kind is NumPy's letter: 'b' (bool, one byte), 'i', 'u', 'f'; item_bytes 1, 2, 4 or 8 as NumPy has
 * them for that kind. data holds `count` items in C order and in the machine's byte order, and is owned by the array.
 */
typedef struct tf_npy {
  char kind;
  unsigned item_bytes;
  unsigned rank; /* 0: one item */
  int64_t shape[TF_NPY_MAX_RANK];
  size_t count; /* product of the extents */
  void *data;   /* malloc'ed; never null after a successful read, even for zero items */
} tf_npy;

/* Reads a file; "-" is standard input. On failure (TF_IO: cannot be read; TF_PARSE: malformed; TF_UNSUPPORTED: valid
 * but not of the kinds above; TF_OUT_OF_MEMORY) *out is untouched and `message` is filled. Free with tf_npy_free. */
TF_NODISCARD tf_status tf_npy_read(const char *path, tf_npy *out, char *message, size_t message_size);

/* The same from bytes in memory; `name` stands for the file in messages. */
TF_NODISCARD tf_status tf_npy_parse(const char *name, const void *bytes, size_t size, tf_npy *out, char *message,
                                    size_t message_size);

/* Writes version 1.0 in the machine's byte order; "-" is standard output. A file that could not be written completely
 * is removed again if it is a regular one. TF_IO with a message on failure. */
TF_NODISCARD tf_status tf_npy_write(const char *path, const tf_npy *array, char *message, size_t message_size);

/* Frees data and clears the array; fine on a zeroed one. */
void tf_npy_free(tf_npy *array);

#endif
