/* Tokens of the source text: Python's lexical rules, as far as the language uses them.
 *
 * The whole text becomes one array of tokens. Line structure is made explicit: NEWLINE ends a logical line, INDENT and DEDENT
 * surround blocks; lines inside brackets and after a backslash are joined, blank and comment lines vanish. A fault of the
 * text is reported where it stands and leaves an ERROR token, which the parser skips without a word of its own. */
#ifndef TF_IR_LEXER_H
#define TF_IR_LEXER_H

#include <tilefoundry/Diagnostics.h>

#include "Support/Arena.h"

typedef enum tf_token_kind {
  TF_TOKEN_END,
  TF_TOKEN_ERROR,
  TF_TOKEN_NEWLINE,
  TF_TOKEN_INDENT,
  TF_TOKEN_DEDENT,
  TF_TOKEN_NAME,
  TF_TOKEN_KEYWORD,
  TF_TOKEN_INT,
  TF_TOKEN_FLOAT,
  TF_TOKEN_STRING,
  TF_TOKEN_OP
} tf_token_kind;

/* Python's keywords: all of them, so that those without a meaning here are refused by name. */
#define TF_KEYWORDS(X)                                                                                                 \
  X(FALSE, "False")                                                                                                    \
  X(NONE, "None")                                                                                                      \
  X(TRUE, "True")                                                                                                      \
  X(AND, "and") X(AS, "as") X(ASSERT, "assert") X(ASYNC, "async") X(AWAIT, "await") X(BREAK, "break")                  \
      X(CLASS, "class") X(CONTINUE, "continue") X(DEF, "def") X(DEL, "del") X(ELIF, "elif") X(ELSE, "else")            \
          X(EXCEPT, "except") X(FINALLY, "finally") X(FOR, "for") X(FROM, "from") X(GLOBAL, "global") X(IF, "if")      \
              X(IMPORT, "import") X(IN, "in") X(IS, "is") X(LAMBDA, "lambda") X(NONLOCAL, "nonlocal") X(NOT, "not")    \
                  X(OR, "or") X(PASS, "pass") X(RAISE, "raise") X(RETURN, "return") X(TRY, "try") X(WHILE, "while")    \
                      X(WITH, "with") X(YIELD, "yield")

/* Operators and delimiters, longest first where one begins another. */
#define TF_OPERATORS(X)                                                                                                \
  X(ELLIPSIS, "...")                                                                                                   \
  X(POWER_EQ, "**=")                                                                                                   \
  X(FLOOR_EQ, "//=")                                                                                                   \
  X(SHL_EQ, "<<=") X(SHR_EQ, ">>=") X(ARROW, "->") X(WALRUS, ":=") X(ADD_EQ, "+=") X(SUB_EQ, "-=") X(MUL_EQ, "*=")     \
      X(DIV_EQ, "/=") X(MOD_EQ, "%=") X(AT_EQ, "@=") X(AND_EQ, "&=") X(OR_EQ, "|=") X(XOR_EQ, "^=") X(POWER, "**")     \
          X(FLOOR_DIV, "//") X(SHL, "<<") X(SHR, ">>") X(EQ, "==") X(NE, "!=") X(LE, "<=") X(GE, ">=") X(LT, "<")      \
              X(GT, ">") X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%") X(AT, "@") X(BIT_AND, "&")        \
                  X(BIT_OR, "|") X(BIT_XOR, "^") X(INVERT, "~") X(LPAREN, "(") X(RPAREN, ")") X(LBRACKET, "[")         \
                      X(RBRACKET, "]") X(LBRACE, "{") X(RBRACE, "}") X(COMMA, ",") X(COLON, ":") X(DOT, ".")           \
                          X(SEMICOLON, ";") X(ASSIGN, "=")

typedef enum tf_keyword {
#define TF_KEYWORD_ENUM(ID, TEXT) TF_KW_##ID,
  TF_KEYWORDS(TF_KEYWORD_ENUM)
#undef TF_KEYWORD_ENUM
      TF_KW_COUNT
} tf_keyword;

typedef enum tf_operator {
#define TF_OPERATOR_ENUM(ID, TEXT) TF_PUNCT_##ID,
  TF_OPERATORS(TF_OPERATOR_ENUM)
#undef TF_OPERATOR_ENUM
      TF_PUNCT_COUNT
} tf_operator;

typedef struct tf_token {
  uint8_t kind;          /* tf_token_kind */
  uint8_t id;            /* KEYWORD: tf_keyword; OP: tf_operator */
  uint32_t start, end;   /* byte offsets in the text */
  uint32_t line, column; /* of start, from 1 */
} tf_token;

typedef struct tf_tokens {
  TF_VEC(tf_token); /* the last one is END */
  bool stopped;     /* the rest of the text was given up: END does not mean that something is missing there */
} tf_tokens;

/* As deep as Python itself goes; deeper text is refused at once. */
#define TF_MAX_BRACKETS 200
#define TF_MAX_INDENTS  100

/* The tokens of source buffer `file`, which is shorter than 4 GiB, in `arena`. Faults are reported to the context. */
tf_tokens tf_lex(tf_context *context, uint32_t file, tf_arena *arena);

const char *tf_keyword_text(tf_keyword keyword);
const char *tf_operator_text(tf_operator op);
/* Whether text[0..length) is a keyword; *out then says which. */
bool tf_keyword_from_text(const char *text, size_t length, tf_keyword *out);
/* Whether the text can be a name: letters of any script, digits and '_', and no keyword. Names are compared as they are
 * written (Python normalises them first). */
bool tf_is_identifier(const char *text);

#endif
