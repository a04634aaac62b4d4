/* Files of test/unit/Runtime/Inputs, and a manifest text with parts replaced. */
#ifndef TF_TEST_INPUTS_H
#define TF_TEST_INPUTS_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole file as a malloc'ed string. */
static inline char *input_text(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", TF_TEST_INPUTS, name);
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "%s", path);
  char *text = calloc(1, 1 << 16);
  size_t size = fread(text, 1, (1 << 16) - 1, file);
  ck_assert_uint_lt(size, (1 << 16) - 1);
  fclose(file);
  return text;
}

/* A copy of text with the first `from` replaced by `to`; both malloc'ed. Fails if `from` is not there. */
static inline char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "the input has no \"%s\"", from);
  char *out = calloc(1, strlen(text) + strlen(to) + 1);
  memcpy(out, text, (size_t)(at - text));
  strcat(out, to);
  strcat(out, at + strlen(from));
  return out;
}

#endif
