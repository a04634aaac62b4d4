/* PTX lexer: one pass, no allocation, tokens point into the text. */
#include "Sim/Ptx/Lexer.h"

#include <stdlib.h>
#include <string.h>

void tf_lexer_init(tf_lexer *lexer, const char *text, size_t length) {
  lexer->at = text;
  lexer->end = text + length;
  lexer->line = 1;
}

bool tf_tok_is(const tf_tok *tok, const char *text) {
  size_t n = strlen(text);
  return tok->kind != TF_TOK_END && tok->length == n && memcmp(tok->text, text, n) == 0;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' || c == '%';
}

static int digit_of(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

static void skip_block_comment(tf_lexer *lx) {
  const char *start = lx->at;
  lx->at += 2;
  while (lx->at < lx->end) {
    if (*lx->at == '*' && lx->at + 1 < lx->end && lx->at[1] == '/') {
      lx->at += 2;
      return;
    }
    if (*lx->at++ == '\n') lx->line++;
  }
  lx->unclosed = start;
}

static void skip_line(tf_lexer *lx) {
  while (lx->at < lx->end && *lx->at != '\n')
    lx->at++;
}

static void skip_space(tf_lexer *lx) {
  while (lx->at < lx->end) {
    char c = *lx->at, next = lx->at + 1 < lx->end ? lx->at[1] : '\0';
    if (c == '\n') lx->line++;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v')
      lx->at++;
    else if (c == '/' && next == '/')
      skip_line(lx);
    else if (c == '/' && next == '*')
      skip_block_comment(lx);
    else
      return;
  }
}

static tf_tok token(const tf_lexer *lx, tf_tok_kind kind, const char *start) {
  return (tf_tok){.kind = kind, .line = lx->line, .text = start, .length = (size_t)(lx->at - start)};
}

/* Digits of `base` at lx->at; *ok is false when there are none or the value exceeds 64 bits. */
static uint64_t digits(tf_lexer *lx, unsigned base, bool *ok) {
  uint64_t value = 0;
  const char *start = lx->at;
  for (; lx->at < lx->end && digit_of(*lx->at) < (int)base; lx->at++) {
    uint64_t d = (uint64_t)digit_of(*lx->at);
    if (value > (UINT64_MAX - d) / base) *ok = false;
    value = value * base + d;
  }
  if (lx->at == start) *ok = false;
  return value;
}

static tf_tok hex_float(tf_lexer *lx, tf_tok_kind kind, size_t length) {
  const char *start = lx->at;
  bool ok = true;
  lx->at += 2;
  const char *first = lx->at;
  uint64_t bits = digits(lx, 16, &ok);
  tf_tok t = token(lx, ok && (size_t)(lx->at - first) == length ? kind : TF_TOK_BAD, start);
  t.bits = bits;
  return t;
}

/* Length of a decimal floating literal at lx->at, or 0 when it is an integer. */
static size_t float_length(const tf_lexer *lx) {
  const char *p = lx->at;
  bool is_float = false;
  while (p < lx->end && is_digit(*p))
    p++;
  if (p + 1 < lx->end && *p == '.' && is_digit(p[1])) {
    is_float = true;
    for (p++; p < lx->end && is_digit(*p); p++) {
    }
  } else if (p < lx->end && *p == '.' && !(p + 1 < lx->end && is_word(p[1]))) {
    is_float = true;
    p++;
  }
  if (p < lx->end && (*p == 'e' || *p == 'E')) {
    const char *q = p + 1;
    if (q < lx->end && (*q == '+' || *q == '-')) q++;
    if (q < lx->end && is_digit(*q)) {
      is_float = true;
      for (p = q; p < lx->end && is_digit(*p); p++) {
      }
    }
  }
  return is_float ? (size_t)(p - lx->at) : 0;
}

static tf_tok decimal_float(tf_lexer *lx, size_t length) {
  char copy[128];
  const char *start = lx->at;
  lx->at += length;
  if (length >= sizeof copy) return token(lx, TF_TOK_BAD, start);
  memcpy(copy, start, length);
  copy[length] = '\0';
  double value = strtod(copy, NULL);
  tf_tok t = token(lx, TF_TOK_F64, start);
  memcpy(&t.bits, &value, sizeof value);
  return t;
}

static tf_tok number(tf_lexer *lx) {
  const char *start = lx->at;
  char c = *start, x = start + 1 < lx->end ? start[1] : '\0';
  if (c == '0' && (x == 'f' || x == 'F')) return hex_float(lx, TF_TOK_F32, 8);
  if (c == '0' && (x == 'd' || x == 'D')) return hex_float(lx, TF_TOK_F64, 16);
  size_t length = float_length(lx);
  if (length) return decimal_float(lx, length);
  unsigned base = 10;
  if (c == '0' && (x == 'x' || x == 'X' || x == 'b' || x == 'B')) {
    base = x == 'x' || x == 'X' ? 16 : 2;
    lx->at += 2;
  } else if (c == '0' && is_digit(x)) {
    base = 8;
  }
  bool ok = true, is_unsigned = false;
  uint64_t value = digits(lx, base, &ok);
  if (lx->at < lx->end && (*lx->at == 'U' || *lx->at == 'u')) {
    lx->at++;
    is_unsigned = true;
  }
  if (lx->at < lx->end && is_word(*lx->at)) {
    ok = false;
    while (lx->at < lx->end && is_word(*lx->at))
      lx->at++;
  }
  tf_tok t = token(lx, ok ? TF_TOK_INT : TF_TOK_BAD, start);
  t.bits = value;
  t.is_unsigned = is_unsigned || value > INT64_MAX;
  return t;
}

static tf_tok string(tf_lexer *lx) {
  const char *start = ++lx->at;
  uint32_t line = lx->line;
  while (lx->at < lx->end && *lx->at != '"' && *lx->at != '\n')
    lx->at += *lx->at == '\\' && lx->at + 1 < lx->end && lx->at[1] != '\n' ? 2 : 1;
  bool closed = lx->at < lx->end && *lx->at == '"';
  tf_tok t = token(lx, closed ? TF_TOK_STRING : TF_TOK_BAD, start);
  t.line = line;
  if (closed) lx->at++;
  return t;
}

static tf_tok dotted(tf_lexer *lx) {
  const char *start = lx->at++;
  while (lx->at < lx->end) {
    if (is_word(*lx->at))
      lx->at++;
    else if (lx->at + 2 < lx->end && lx->at[0] == ':' && lx->at[1] == ':' && is_word(lx->at[2]))
      lx->at += 2;
    else
      break;
  }
  return token(lx, lx->at - start > 1 ? TF_TOK_DOT : TF_TOK_BAD, start);
}

static tf_tok punct(tf_lexer *lx) {
  static const char *const two[] = {"&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};
  const char *start = lx->at;
  for (size_t i = 0; i < sizeof two / sizeof *two; i++)
    if (lx->end - start >= 2 && memcmp(start, two[i], 2) == 0) {
      lx->at += 2;
      return token(lx, TF_TOK_PUNCT, start);
    }
  lx->at++;
  bool known = *start && strchr("{}()[]<>,;:=+-*/%!~&|^?@", *start);
  return token(lx, known ? TF_TOK_PUNCT : TF_TOK_BAD, start);
}

tf_tok tf_lexer_next(tf_lexer *lx) {
  skip_space(lx);
  if (lx->unclosed) {
    tf_tok bad = {.kind = TF_TOK_BAD, .line = lx->line, .text = lx->unclosed, .length = 2};
    lx->unclosed = NULL;
    return bad;
  }
  if (lx->at >= lx->end) return token(lx, TF_TOK_END, lx->at);
  const char *start = lx->at;
  char c = *start;
  if (is_digit(c)) return number(lx);
  /* A lone % is the remainder operator of constant expressions. */
  if (is_word(c) && !(c == '%' && !(start + 1 < lx->end && is_word(start[1])))) {
    while (lx->at < lx->end && is_word(*lx->at))
      lx->at++;
    return token(lx, TF_TOK_WORD, start);
  }
  if (c == '.') return dotted(lx);
  if (c == '"') return string(lx);
  return punct(lx);
}
