/* Growing text; see Text.h. */
#include "Sim/Text.h"
#include "Sim/Pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tf_text_add(tf_text *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n >= 0 && tf_grow((void **)&t->data, &t->cap, t->used + (size_t)n + 1, 1)) {
    (void)vsnprintf(t->data + t->used, (size_t)n + 1, format, again);
    t->used += (size_t)n;
  }
  va_end(again);
}

void tf_text_add_json(tf_text *t, const char *text) {
  if (!text) {
    tf_text_add(t, "null");
    return;
  }
  tf_text_add(t, "\"");
  for (const char *p = text; *p; p++) {
    unsigned char c = (unsigned char)*p;
    if (c == '"' || c == '\\')
      tf_text_add(t, "\\%c", c);
    else if (c < 0x20)
      tf_text_add(t, "\\u%04x", c);
    else
      tf_text_add(t, "%c", c);
  }
  tf_text_add(t, "\"");
}
