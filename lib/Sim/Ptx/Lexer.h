/* Tokens of PTX text.
 *
 * PTX has words, dotted words and numbers. A dotted word (".u32", ".shared::cta", ".L2::128B") is one token: it is a
 * directive at the start of a statement and a modifier after an opcode; who reads it knows which. */
#ifndef TF_SIM_PTX_LEXER_H
#define TF_SIM_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tf_tok_kind {
  TF_TOK_END,
  TF_TOK_WORD,   /* name, register or opcode: letters, digits, _ $ % */
  TF_TOK_DOT,    /* dotted word, with its dot */
  TF_TOK_INT,    /* integer literal; value in `bits`, `is_unsigned` when written with U or beyond the signed range */
  TF_TOK_F32,    /* 0f….: the 32 bits in `bits` */
  TF_TOK_F64,    /* 0d…. or decimal: the 64 bits in `bits` */
  TF_TOK_STRING, /* text without its quotes; escapes are kept as written */
  TF_TOK_PUNCT,  /* one character (or two: && || == != <= >= << >>), in text */
  TF_TOK_BAD,    /* something no PTX token begins with, or a malformed literal */
} tf_tok_kind;

typedef struct tf_tok {
  tf_tok_kind kind;
  bool is_unsigned;
  uint32_t line;
  const char *text; /* into the source, not terminated */
  size_t length;
  uint64_t bits;
} tf_tok;

typedef struct tf_lexer {
  const char *at, *end;
  const char *unclosed; /* a comment that lacks its end: the next token, a bad one */
  uint32_t line;
} tf_lexer;

void tf_lexer_init(tf_lexer *lexer, const char *text, size_t length);
/* The next token; at the end TF_TOK_END for ever. Never reads outside the text. */
tf_tok tf_lexer_next(tf_lexer *lexer);
/* True when the token's text is exactly `text`. */
bool tf_tok_is(const tf_tok *tok, const char *text);

#endif
