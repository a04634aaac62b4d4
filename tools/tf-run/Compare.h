/* Results against references. */
#ifndef TF_RUN_COMPARE_H
#define TF_RUN_COMPARE_H

#include "Array.h"
#include "Options.h"

/* Element by element: |got - want| <= atol + rtol * |want|, in double; integers against integers without the
 * relative part; NaN equals NaN, infinities equal themselves. Prints the largest absolute and relative error to stdout and, if elements are out of
 * tolerance, their number and the first of them to stderr. False then, and when the reference does not fit. */
bool tf_run_compare(const char *name, const tf_run_array *got, const char *path, tf_run_tolerance tolerance);

#endif
