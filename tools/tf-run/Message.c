#include "Message.h"

#include <stdarg.h>
#include <stdio.h>

bool tf_run_error(const char *where, const char *format, ...) {
  va_list args;
  fflush(stdout); /* results that were printed before come first on a shared terminal */
  fprintf(stderr, "%s: error: ", where);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return false;
}
