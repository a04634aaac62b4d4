/* Recursive descent over the part of Python that NumPy writes:
 *
 *   dict  := '{' [ pair { ',' pair } [ ',' ] ] '}' end        pair := string ':' (string | bool | tuple)
 *   tuple := '(' [ int { ',' int } [ ',' ] ] ')'              end  := white space and the newline
 *
 * Each of the three keys must be there once. The first error wins; the cursor stays where it was found. */
#include "Support/NpyHeader.h"

#include <ctype.h>
#include <string.h>

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4 };

typedef struct cursor {
  const char *at;
  const char *end;
  const char *error;
  tf_status status;
} cursor;

static bool fail(cursor *c, tf_status status, const char *error) {
  if (!c->error) {
    c->error = error;
    c->status = status;
  }
  return false;
}

static void skip_space(cursor *c) {
  while (c->at < c->end && isspace((unsigned char)*c->at))
    c->at++;
}

static bool accept(cursor *c, char wanted) {
  skip_space(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool expect(cursor *c, char wanted, const char *error) {
  return accept(c, wanted) || fail(c, TF_PARSE, error);
}

static bool parse_string(cursor *c, char *out, size_t size) {
  skip_space(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return fail(c, TF_PARSE, "expected a quoted string");
  const char *start = c->at + 1, *close = memchr(start, *c->at, (size_t)(c->end - start));
  if (!close) return fail(c, TF_PARSE, "a string without an end");
  size_t length = (size_t)(close - start);
  if (length >= size || memchr(start, '\\', length) || memchr(start, '\0', length))
    return fail(c, TF_PARSE, "a string that no .npy header has");
  memcpy(out, start, length);
  out[length] = '\0';
  c->at = close + 1;
  return true;
}

static bool parse_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

static bool parse_bool(cursor *c, bool *out) {
  skip_space(c);
  if (parse_word(c, "True")) {
    *out = true;
    return true;
  }
  *out = false;
  return parse_word(c, "False") || fail(c, TF_PARSE, "expected True or False");
}

static bool parse_extent(cursor *c, int64_t *out) {
  skip_space(c);
  if (c->at == c->end || !isdigit((unsigned char)*c->at))
    return fail(c, TF_PARSE, "expected an extent (an integer >= 0)");
  int64_t value = 0;
  for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *c->at - '0', &value))
      return fail(c, TF_PARSE, "an extent beyond 64 bits");
  if (c->at < c->end && *c->at == 'L') c->at++; /* Python 2 wrote long integers so */
  *out = value;
  return true;
}

static bool parse_shape(cursor *c, tf_npy_header *out) {
  if (!expect(c, '(', "expected the shape as a tuple")) return false;
  out->rank = 0;
  bool comma = true;
  while (!accept(c, ')')) {
    if (!comma) return fail(c, TF_PARSE, "expected ',' or ')' in the shape");
    if (out->rank == TF_NPY_MAX_RANK) return fail(c, TF_UNSUPPORTED, "more than 32 axes");
    if (!parse_extent(c, &out->shape[out->rank++])) return false;
    comma = accept(c, ',');
  }
  return out->rank != 1 || comma || fail(c, TF_PARSE, "a shape of one axis needs a comma to be a tuple");
}

static bool parse_pair(cursor *c, tf_npy_header *out, unsigned *seen) {
  char key[16];
  const char *start = c->at;
  if (!parse_string(c, key, sizeof key)) return false;
  unsigned bit = strcmp(key, "descr") == 0           ? KEY_DESCR
                 : strcmp(key, "fortran_order") == 0 ? KEY_ORDER
                 : strcmp(key, "shape") == 0         ? KEY_SHAPE
                                                     : 0;
  if (!bit || (*seen & bit)) {
    c->at = start;
    return fail(c, TF_PARSE, bit ? "a key that is there twice" : "a key that no .npy header has");
  }
  *seen |= bit;
  if (!expect(c, ':', "expected ':' after the key")) return false;
  skip_space(c);
  if (bit == KEY_DESCR && c->at < c->end && *c->at == '[')
    return fail(c, TF_UNSUPPORTED, "a structured dtype; arrays of one number type are read");
  if (bit == KEY_DESCR) return parse_string(c, out->descr, sizeof out->descr);
  return bit == KEY_ORDER ? parse_bool(c, &out->fortran_order) : parse_shape(c, out);
}

static bool parse_dict(cursor *c, tf_npy_header *out) {
  unsigned seen = 0;
  if (!expect(c, '{', "expected the header's dict")) return false;
  bool comma = true;
  while (!accept(c, '}')) {
    if (!comma) return fail(c, TF_PARSE, "expected ',' or '}' in the header");
    if (!parse_pair(c, out, &seen)) return false;
    comma = accept(c, ',');
  }
  if (seen != (KEY_DESCR | KEY_ORDER | KEY_SHAPE))
    return fail(c, TF_PARSE, "the header lacks one of 'descr', 'fortran_order', 'shape'");
  skip_space(c);
  return c->at == c->end || fail(c, TF_PARSE, "text behind the header's dict");
}

tf_status tf_npy_header_parse(const char *text, size_t size, tf_npy_header *out, size_t *error_at, const char **error) {
  cursor c = {.at = text, .end = text + size, .status = TF_OK};
  memset(out, 0, sizeof *out);
  if (parse_dict(&c, out)) return TF_OK;
  *error_at = (size_t)(c.at - text);
  *error = c.error;
  return c.status;
}
