/* Python's number and string literals.
 *
 *   integer   0b…  0o…  0x…  or decimal without leading zeros; single underscores between digits and after the prefix
 *   float     digits . digits e±digits with at least a dot or an exponent; underscores between digits */
#include "IR/Text/ParseLiteral.h"

#include <stdlib.h>
#include <string.h>

typedef struct cursor {
  const char *text;
  size_t length, at;
} cursor;

static char peek(const cursor *c) {
  return c->at < c->length ? c->text[c->at] : '\0';
}

static char peek_at(const cursor *c, size_t ahead) {
  return c->at + ahead < c->length ? c->text[c->at + ahead] : '\0';
}

/* The digit's value, or 99. */
static unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
  return 99;
}

static bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Digits with single underscores between them; false if there is none or an underscore ends them. */
static bool scan_digits(cursor *c, unsigned base) {
  if (digit_value(peek(c)) >= base) return false;
  for (;;) {
    while (digit_value(peek(c)) < base)
      c->at++;
    if (peek(c) != '_') return true;
    c->at++;
    if (digit_value(peek(c)) >= base) return false;
  }
}

static const char *scan_prefixed(cursor *c, unsigned base) {
  c->at += 2;
  if (peek(c) == '_') c->at++;
  return scan_digits(c, base) ? NULL : "digits are missing or misplaced after the base prefix";
}

static bool exponent_follows(const cursor *c) {
  if ((peek(c) | 0x20) != 'e') return false;
  char sign = peek_at(c, 1);
  bool has_sign = sign == '+' || sign == '-';
  return digit_value(peek_at(c, has_sign ? 2 : 1)) < 10;
}

static const char *scan_decimal(cursor *c, bool *is_float) {
  size_t start = c->at;
  const char *digits_fault = "an underscore stands between digits only";
  if (peek(c) != '.' && !scan_digits(c, 10)) return digits_fault;
  size_t end = c->at;
  if (peek(c) == '.') {
    *is_float = true;
    c->at++;
    if (digit_value(peek(c)) < 10 && !scan_digits(c, 10)) return digits_fault;
  }
  if (exponent_follows(c)) {
    *is_float = true;
    c->at += peek_at(c, 1) == '+' || peek_at(c, 1) == '-' ? 2 : 1;
    if (!scan_digits(c, 10)) return digits_fault;
  }
  if ((peek(c) | 0x20) == 'j') return "there are no complex numbers here";
  if (*is_float || c->text[start] != '0') return NULL;
  for (size_t i = start; i < end; i++)
    if (c->text[i] != '0' && c->text[i] != '_') return "leading zeros are not allowed; octal numbers begin with 0o";
  return NULL;
}

size_t tf_number_scan(const char *text, size_t length, bool *is_float, const char **fault) {
  cursor c = {text, length, 0};
  *is_float = false;
  char second = length > 1 ? (char)(text[1] | 0x20) : '\0';
  if (text[0] == '0' && (second == 'x' || second == 'o' || second == 'b'))
    *fault = scan_prefixed(&c, second == 'x' ? 16 : second == 'o' ? 8 : 2);
  else
    *fault = scan_decimal(&c, is_float);
  if (is_word(peek(&c))) {
    if (!*fault) *fault = "a letter or digit follows it directly";
    while (is_word(peek(&c)))
      c.at++;
  }
  return c.at;
}

bool tf_int_literal(const char *text, size_t length, uint64_t *out) {
  unsigned base = 10;
  size_t at = 0;
  if (length > 1 && text[0] == '0' && text[1] != '_' && digit_value(text[1]) >= 10) {
    char prefix = (char)(text[1] | 0x20);
    base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : 2;
    at = 2;
  }
  uint64_t value = 0;
  for (; at < length; at++) {
    if (text[at] == '_') continue;
    if (__builtin_mul_overflow(value, (uint64_t)base, &value)) return false;
    if (__builtin_add_overflow(value, (uint64_t)digit_value(text[at]), &value)) return false;
  }
  *out = value;
  return true;
}

double tf_float_literal(const char *text, size_t length) {
  char small[64];
  char *buffer = length < sizeof small ? small : malloc(length + 1);
  if (!buffer) return 0.0;
  size_t count = 0;
  for (size_t i = 0; i < length; i++)
    if (text[i] != '_') buffer[count++] = text[i];
  buffer[count] = '\0';
  double value = strtod(buffer, NULL);
  if (buffer != small) free(buffer);
  return value;
}

/* ---- Strings ---- */
static bool append_code_point(tf_string *out, uint32_t code, const char **fault) {
  char bytes[4];
  if (code == 0 || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) {
    *fault = code == 0 ? "a string holds no NUL" : "this is no Unicode character";
    return false;
  }
  if (code < 0x80) {
    bytes[0] = (char)code;
    tf_string_append(out, bytes, 1);
    return true;
  }
  unsigned length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (unsigned i = length; i-- > 1; code >>= 6)
    bytes[i] = (char)(0x80 | (code & 0x3F));
  bytes[0] = (char)(lead[length] | code);
  tf_string_append(out, bytes, length);
  return true;
}

static bool append_hex(cursor *c, unsigned digits, tf_string *out, const char **fault) {
  uint32_t code = 0;
  for (unsigned i = 0; i < digits; i++) {
    unsigned value = digit_value(peek(c));
    if (value >= 16) {
      *fault = "the escape has too few hexadecimal digits";
      return false;
    }
    code = code * 16 + value;
    c->at++;
  }
  return append_code_point(out, code, fault);
}

static bool append_octal(cursor *c, tf_string *out, const char **fault) {
  uint32_t code = 0;
  for (unsigned i = 0; i < 3 && digit_value(peek(c)) < 8; i++, c->at++)
    code = code * 8 + digit_value(peek(c));
  return append_code_point(out, code, fault);
}

/* At the character after a backslash. */
static bool append_escape(cursor *c, tf_string *out, const char **fault) {
  static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
  char e = peek(c);
  const char *simple = e ? strchr(from, e) : NULL;
  if (simple) {
    c->at++;
    tf_string_append(out, &to[simple - from], 1);
    return true;
  }
  if (digit_value(e) < 8) return append_octal(c, out, fault);
  switch (e) {
  case '\r': /* a joined line */
    c->at += peek_at(c, 1) == '\n' ? 2 : 1;
    return true;
  case '\n':
    c->at++;
    return true;
  case 'x':
    c->at++;
    return append_hex(c, 2, out, fault);
  case 'u':
    c->at++;
    return append_hex(c, 4, out, fault);
  case 'U':
    c->at++;
    return append_hex(c, 8, out, fault);
  case 'N':
    *fault = "characters are not named here; write \\u and four digits";
    return false;
  default: /* Python keeps the backslash of an escape that it does not know */
    tf_string_puts(out, "\\");
    return true;
  }
}

bool tf_string_literal(const char *text, size_t length, tf_string *out, const char **fault, size_t *at) {
  cursor c = {text, length, 0};
  bool raw = false;
  while (peek(&c) != '"' && peek(&c) != '\'')
    raw |= (c.text[c.at++] | 0x20) == 'r';
  bool triple = length - c.at >= 6 && peek_at(&c, 1) == peek(&c) && peek_at(&c, 2) == peek(&c);
  c.at += triple ? 3 : 1;
  c.length -= triple ? 3 : 1;
  while (c.at < c.length) {
    *at = c.at;
    char byte = c.text[c.at++];
    if (byte == '\\' && !raw) {
      if (!append_escape(&c, out, fault)) return false;
    } else if (byte == '\r') { /* line ends in the text are \n */
      if (peek(&c) == '\n') c.at++;
      tf_string_puts(out, "\n");
    } else {
      tf_string_append(out, &byte, 1);
    }
  }
  return true;
}
