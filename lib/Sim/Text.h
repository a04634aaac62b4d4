/* Growing text for reports. */
#ifndef TF_SIM_TEXT_H
#define TF_SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tf_text {
  char *data; /* terminated; null while empty. Release with free */
  size_t used, cap;
} tf_text;

/* Appends; what does not fit because memory is out is dropped as a whole. */
void tf_text_add(tf_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes; null gives null. */
void tf_text_add_json(tf_text *t, const char *text);

#endif
