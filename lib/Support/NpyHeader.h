/* The dict literal at the head of a .npy file. */
#ifndef TF_SUPPORT_NPYHEADER_H
#define TF_SUPPORT_NPYHEADER_H

#include <stdbool.h>

#include "Support/Npy.h"

typedef struct tf_npy_header {
  char descr[32]; /* e.g. "<f4" */
  bool fortran_order;
  unsigned rank;
  int64_t shape[TF_NPY_MAX_RANK];
} tf_npy_header;

/* Parses text[0..size). On failure returns TF_PARSE or TF_UNSUPPORTED, *error_at is the offset in text of what is wrong
 * and *error a static string that says it; *out is then undefined. */
TF_NODISCARD tf_status tf_npy_header_parse(const char *text, size_t size, tf_npy_header *out, size_t *error_at,
                                           const char **error);

#endif
