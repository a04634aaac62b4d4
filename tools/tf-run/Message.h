/* Errors of tf-run: "WHERE: error: …" on stderr. Returns false, for `return tf_run_error(…)`. */
#ifndef TF_RUN_MESSAGE_H
#define TF_RUN_MESSAGE_H

#include <stdbool.h>

bool tf_run_error(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
