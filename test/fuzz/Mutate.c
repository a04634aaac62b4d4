/* Random mutations of a text, reproducible from their seed.
 *
 * Bytes that change at random rarely pass a parser, so most mutations work on tokens and lines:
 *
 *   token    dropped, doubled, exchanged with another, replaced by one of its class from this text or another one
 *   number   made extreme, one more, one less, negative
 *   bracket  its contents dropped, or replaced by those of another bracket
 *   line     dropped, doubled, moved, indented, or brought in from another text with the indentation of its new place
 *   word     of the language put in or in place of a token
 *   byte     changed, dropped, doubled; a piece of another text put in
 *
 * Classes are those of any language with names, numbers, strings and brackets, so TIR and PTX share them. */
#include "Fuzz.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum token_class { NAME, NUMBER, STRING, OPEN, CLOSE, OPERATOR } token_class;

typedef struct token {
  size_t start, length;
  token_class class;
} token;

enum { MAX_SIZE = 1 << 16 }; /* texts do not grow beyond */

typedef struct mutator {
  uint64_t state;
  fuzz_text *text;
  const fuzz_corpus *corpus;
  const char *const *words;
  size_t word_count;
  token *tokens;
  size_t token_count, token_capacity;
} mutator;

static size_t draw(mutator *m, size_t bound) {
  m->state = m->state * 6364136223846793005u + 1442695040888963407u;
  return bound ? (size_t)(m->state >> 33) % bound : 0;
}

/* Replaces `removed` bytes at `at`. bytes may lie in the text itself. */
static void splice(fuzz_text *t, size_t at, size_t removed, const char *bytes, size_t size) {
  if (removed > t->size - at) removed = t->size - at;
  size_t needed = t->size - removed + size;
  if (needed > MAX_SIZE && size > removed) return;
  char *copy = malloc(size + 1);
  if (size) memcpy(copy, bytes, size);
  if (needed >= t->capacity) t->bytes = realloc(t->bytes, t->capacity = (needed + 1) * 2);
  memmove(t->bytes + at + size, t->bytes + at + removed, t->size - at - removed);
  memcpy(t->bytes + at, copy, size);
  t->size = needed;
  free(copy);
}

/* ---- Tokens ---- */

static bool in_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || (unsigned char)c >= 0x80;
}

static size_t string_end(const char *s, size_t at, size_t size) {
  char quote = s[at++];
  while (at < size && s[at] != quote && s[at] != '\n')
    at += s[at] == '\\' && at + 1 < size ? 2 : 1;
  return at < size && s[at] == quote ? at + 1 : at;
}

/* The class and the end of the token at `at`, which is no blank. */
static size_t token_end(const char *s, size_t at, size_t size, token_class *class) {
  char c = s[at];
  *class = isdigit((unsigned char)c)                                        ? NUMBER
           : in_name(c) && !(c == '%' && at + 1 < size && s[at + 1] == ' ') ? NAME
           : c == '"' || c == '\''                                          ? STRING
           : strchr("([{", c)                                               ? OPEN
           : strchr(")]}", c)                                               ? CLOSE
                                                                            : OPERATOR;
  if (*class == STRING) return string_end(s, at, size);
  if (*class != NAME && *class != NUMBER) return at + 1;
  for (at++; at < size && (in_name(s[at]) || (*class == NUMBER && s[at] == '.'));)
    at++;
  return at;
}

/* The tokens of a text; comments and blanks are none. */
static void find_tokens(mutator *m, const char *s, size_t size) {
  m->token_count = 0;
  for (size_t at = 0; at < size;) {
    if (s[at] == '#' || (s[at] == '/' && at + 1 < size && s[at + 1] == '/')) {
      const char *end = memchr(s + at, '\n', size - at);
      bool division = s[at] == '/'; /* a comment of PTX, an operator of TIR: skipped in either */
      at = division ? at + 2 : end ? (size_t)(end - s) : size;
    } else if (s[at] == '\0' || isspace((unsigned char)s[at])) {
      at++;
    } else {
      if (m->token_count == m->token_capacity)
        m->tokens = realloc(m->tokens, (m->token_capacity = m->token_capacity * 2 + 256) * sizeof *m->tokens);
      token *t = &m->tokens[m->token_count++];
      t->start = at;
      at = token_end(s, at, size, &t->class);
      t->length = at - t->start;
    }
  }
}

/* A random token of the text, of a class if there is one of it. */
static const token *any_token(mutator *m) {
  return m->token_count ? &m->tokens[draw(m, m->token_count)] : NULL;
}

static const token *token_of(mutator *m, token_class class) {
  size_t from = draw(m, m->token_count);
  for (size_t i = 0; i < m->token_count; i++) {
    const token *t = &m->tokens[(from + i) % m->token_count];
    if (t->class == class) return t;
  }
  return NULL;
}

static void replace(mutator *m, const token *t, const char *bytes, size_t size) {
  splice(m->text, t->start, t->length, bytes, size);
}

static void drop_token(mutator *m) {
  const token *t = any_token(m);
  if (t) replace(m, t, "", 0);
}

static void double_token(mutator *m) {
  const token *t = any_token(m);
  if (t) splice(m->text, t->start, 0, m->text->bytes + t->start, t->length);
}

static void exchange_tokens(mutator *m) {
  const token *a = any_token(m), *b = a ? token_of(m, a->class) : NULL;
  if (!b || a == b) return;
  if (a->start > b->start) {
    const token *t = a;
    a = b;
    b = t;
  }
  char first[64];
  size_t length = a->length;
  if (length > sizeof first || b->length > sizeof first) return;
  memcpy(first, m->text->bytes + a->start, length);
  size_t shifted = b->start + b->length - length;
  splice(m->text, a->start, length, m->text->bytes + b->start, b->length);
  splice(m->text, shifted, b->length, first, length);
}

/* Another token of its class from this text. */
static void replace_by_near(mutator *m) {
  const token *t = any_token(m), *by = t ? token_of(m, t->class) : NULL;
  if (by) replace(m, t, m->text->bytes + by->start, by->length);
}

/* …or from any text of the corpus. */
static void replace_by_far(mutator *m) {
  const token *t = any_token(m);
  if (!t) return;
  token target = *t;
  const fuzz_text *other = &m->corpus->items[draw(m, m->corpus->count)];
  find_tokens(m, other->bytes, other->size);
  const token *by = token_of(m, target.class);
  if (by) replace(m, &target, other->bytes + by->start, by->length);
}

static const char *const extremes[] = {
    // clang-format off
    "0", "1", "2", "3", "4", "7", "16", "31", "32", "33", "48", "64", "127", "256", "1023", "1024", "1025", "65535",
    "65536", "2147483647", "2147483648", "4294967295", "0x1_0", "1e308", "1e400", "1e-45", "0.0", "1.5", "1_0",
    "0o17", "0b11", "1000003", "16777216", "99999999999999999999", "4294967296", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "4611686018427387904",
    // clang-format on
};

/* n + 1, n - 1, 2 * n or n / 2. */
static void replace_by_kin(mutator *m, const token *t) {
  char text[32] = {0}, digits[32], *end = digits + sizeof digits, *at = end;
  memcpy(text, m->text->bytes + t->start, t->length < 31 ? t->length : 31);
  unsigned long long n = strtoull(text, NULL, 0), kin[] = {n + 1, n - 1, 2 * n, n / 2}, made = kin[draw(m, 4)];
  do
    *--at = (char)('0' + made % 10);
  while (made /= 10);
  replace(m, t, at, (size_t)(end - at));
}

static void change_number(mutator *m) {
  const token *t = token_of(m, NUMBER);
  if (!t) return;
  size_t how = draw(m, 8);
  if (how < 3) {
    const char *word = extremes[draw(m, sizeof extremes / sizeof *extremes)];
    replace(m, t, word, strlen(word));
  } else if (how == 3) {
    splice(m->text, t->start, 0, "-", 1);
  } else {
    replace_by_kin(m, t);
  }
}

/* The token that closes the bracket, or null. */
static const token *closing(const mutator *m, const token *open) {
  size_t depth = 0;
  for (const token *t = open; t < m->tokens + m->token_count; t++) {
    depth += t->class == OPEN;
    depth -= t->class == CLOSE;
    if (depth == 0) return t;
    if (t->class == CLOSE && depth > m->token_count) return NULL;
  }
  return NULL;
}

static void change_bracket(mutator *m) {
  const token *open = token_of(m, OPEN), *close = open ? closing(m, open) : NULL;
  const token *other = token_of(m, OPEN), *end = other ? closing(m, other) : NULL;
  if (!close || !end) return;
  size_t from = open->start + 1, length = close->start - from;
  if (draw(m, 4) == 0)
    splice(m->text, from, length, "", 0);
  else
    splice(m->text, from, length, m->text->bytes + other->start + 1, end->start - other->start - 1);
}

static void put_word(mutator *m) {
  const char *word = m->words[draw(m, m->word_count)];
  const token *t = any_token(m);
  if (!t)
    splice(m->text, 0, 0, word, strlen(word));
  else
    splice(m->text, t->start, draw(m, 2) ? t->length : 0, word, strlen(word));
}

/* ---- Lines ---- */

static size_t line_start(const fuzz_text *t, size_t at) {
  while (at > 0 && t->bytes[at - 1] != '\n')
    at--;
  return at;
}

static size_t line_length(const fuzz_text *t, size_t at) {
  const char *end = t->size > at ? memchr(t->bytes + at, '\n', t->size - at) : NULL;
  return end ? (size_t)(end - t->bytes) + 1 - at : t->size - at;
}

static size_t indentation(const fuzz_text *t, size_t at) {
  size_t n = 0;
  while (at + n < t->size && t->bytes[at + n] == ' ')
    n++;
  return n;
}

static size_t any_line(mutator *m, const fuzz_text *t) {
  return line_start(t, draw(m, t->size));
}

/* Puts a line of `from` in front of a random line and gives it that line's indentation. */
static void bring_line(mutator *m, const fuzz_text *from, bool move) {
  char line[512];
  size_t start = any_line(m, from), length = line_length(from, start), blank = indentation(from, start);
  if (length - blank > sizeof line || blank > length) return;
  memcpy(line, from->bytes + start + blank, length - blank);
  length -= blank;
  if (move) splice(m->text, start, length + blank, "", 0);
  size_t at = any_line(m, m->text), indent = indentation(m->text, at);
  splice(m->text, at, 0, m->text->bytes + at, indent);
  splice(m->text, at + indent, 0, line, length);
}

static void drop_line(mutator *m) {
  size_t at = any_line(m, m->text);
  splice(m->text, at, line_length(m->text, at), "", 0);
}

static void move_line(mutator *m) {
  bring_line(m, m->text, true);
}

static void double_line(mutator *m) {
  bring_line(m, m->text, false);
}

static void other_line(mutator *m) {
  bring_line(m, &m->corpus->items[draw(m, m->corpus->count)], false);
}

static void indent_line(mutator *m) {
  size_t at = any_line(m, m->text);
  if (draw(m, 2))
    splice(m->text, at, 0, "    ", 4);
  else
    splice(m->text, at, indentation(m->text, at) >= 4 ? 4 : 0, "", 0);
}

/* ---- Bytes ---- */

static void change_byte(mutator *m) {
  char byte = (char)draw(m, 256);
  splice(m->text, draw(m, m->text->size), draw(m, 2), &byte, 1);
}

static void drop_bytes(mutator *m) {
  splice(m->text, draw(m, m->text->size), 1 + draw(m, 8), "", 0);
}

static void bring_piece(mutator *m) {
  const fuzz_text *other = &m->corpus->items[draw(m, m->corpus->count)];
  size_t from = draw(m, other->size), run = draw(m, 80);
  if (!other->size) return;
  splice(m->text, draw(m, m->text->size), draw(m, 2) * run, other->bytes + from,
         run < other->size - from ? run : other->size - from);
}

/* ---- All of them ---- */

static void mutate_once(mutator *m) {
  /* Often in the list is often taken. */
  static void (*const kinds[])(mutator *) = {
      replace_by_near, replace_by_near, replace_by_near, replace_by_near, replace_by_near, replace_by_far,
      replace_by_far,  change_number,   change_number,   change_number,   change_number,   change_number,
      change_number,   change_number,   change_number,   exchange_tokens, exchange_tokens, drop_token,
      double_token,    change_bracket,  change_bracket,  put_word,        put_word,        drop_line,
      drop_line,       move_line,       move_line,       double_line,     double_line,     other_line,
      other_line,      indent_line,     change_byte,     drop_bytes,      bring_piece};
  find_tokens(m, m->text->bytes, m->text->size);
  kinds[draw(m, sizeof kinds / sizeof *kinds)](m);
}

void fuzz_mutate(const fuzz_corpus *corpus, const char *const *words, uint64_t seed, fuzz_text *out) {
  mutator m = {.state = seed * 0x9E3779B97F4A7C15u + 1, .text = out, .corpus = corpus, .words = words};
  while (words[m.word_count])
    m.word_count++;
  draw(&m, 1); /* the first states of neighbouring seeds are alike */
  size_t bases = corpus->good && draw(&m, 8) ? corpus->good : corpus->count;
  const fuzz_text *base = &corpus->items[draw(&m, bases)];
  out->size = 0;
  splice(out, 0, 0, base->bytes, base->size);
  for (size_t i = 1 + (draw(&m, 3) == 0) * draw(&m, 6); i-- > 0;)
    mutate_once(&m);
  free(m.tokens);
}
