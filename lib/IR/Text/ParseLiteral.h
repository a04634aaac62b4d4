/* Values of number and string literals. */
#ifndef TF_IR_PARSE_LITERAL_H
#define TF_IR_PARSE_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Support/Arena.h"

/* Length of the number at the start of text[0..length), which begins with a digit or with a dot and a digit. *is_float tells
 * which kind it is; *fault is null, or says why Python (or the language) refuses it; the length then covers the fault. */
size_t tf_number_scan(const char *text, size_t length, bool *is_float, const char **fault);

/* The value of a scanned integer; false beyond 64 bits. */
bool tf_int_literal(const char *text, size_t length, uint64_t *out);
/* The value of a scanned floating-point literal, rounded to nearest even. */
double tf_float_literal(const char *text, size_t length);

/* Appends the value of one string literal, prefix and quotes included, as UTF-8. False with *fault set (a static string) and
 * *at its byte offset, when an escape is malformed or the value would hold a NUL or a lone surrogate. */
bool tf_string_literal(const char *text, size_t length, tf_string *out, const char **fault, size_t *at);

#endif
