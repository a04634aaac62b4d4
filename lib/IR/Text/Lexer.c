/* The lexer. Indentation is measured twice, with tabs to multiples of 8 and with tabs of 1: where the two measures disagree
 * about deeper or shallower the text mixes tabs and spaces, and is refused as Python refuses it.
 *
 * An unclosed bracket would join every later line to the first. A line inside brackets that begins with a word which only
 * begins statements ends the damage: the bracket is reported, and lines count again from there. */
#include "IR/Text/Lexer.h"

#include <string.h>

#include "IR/Text/ParseLiteral.h"
#include "Support/Context.h"

typedef struct bracket {
  uint8_t closer;
  tf_loc loc;
} bracket;

typedef struct indent {
  uint32_t column, alternative; /* tabs to 8, tabs to 1 */
  bool assumed;                 /* after a fault: a level without an INDENT of its own */
} indent;

typedef struct lexer {
  tf_context *context;
  tf_arena *arena;
  const char *text;
  uint32_t length, at;
  uint32_t file, line, line_start;
  tf_tokens tokens;
  uint32_t bracket_count, indent_count; /* indents[0] is column 0 */
  bracket brackets[TF_MAX_BRACKETS];
  indent indents[TF_MAX_INDENTS + 1];
} lexer;

static const struct {
  const char *text;
  uint8_t length;
} operators[] = {
#define TF_ROW(ID, TEXT) {TEXT, sizeof TEXT - 1},
    TF_OPERATORS(TF_ROW)
#undef TF_ROW
};

static const char *const keywords[] = {
#define TF_ROW(ID, TEXT) TEXT,
    TF_KEYWORDS(TF_ROW)
#undef TF_ROW
};

const char *tf_keyword_text(tf_keyword keyword) {
  return keywords[keyword];
}

const char *tf_operator_text(tf_operator op) {
  return operators[op].text;
}

bool tf_keyword_from_text(const char *text, size_t length, tf_keyword *out) {
  for (unsigned i = 0; i < TF_KW_COUNT; i++) {
    if (keywords[i][0] != text[0] || strlen(keywords[i]) != length || memcmp(keywords[i], text, length) != 0) continue;
    *out = (tf_keyword)i;
    return true;
  }
  return false;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

/* Length of the valid UTF-8 sequence at text, or 0. */
static uint32_t utf8_length(const unsigned char *text, size_t left) {
  unsigned char c = text[0];
  if (c < 0x80) return 1;
  uint32_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  if (c < 0xC2 || c > 0xF4 || length > left) return 0;
  for (uint32_t i = 1; i < length; i++)
    if ((text[i] & 0xC0) != 0x80) return 0;
  if ((c == 0xE0 && text[1] < 0xA0) || (c == 0xED && text[1] > 0x9F)) return 0; /* overlong, surrogate */
  if ((c == 0xF0 && text[1] < 0x90) || (c == 0xF4 && text[1] > 0x8F)) return 0;
  return length;
}

/* Beyond ASCII a name holds letters, marks and digits of any script: all but these blocks of spaces, punctuation, symbols
 * and code points without a character. */
static bool is_symbol(uint32_t code) {
  static const uint32_t blocks[][2] = {
      {0x80, 0xA9},     {0xAB, 0xB4},       {0xB6, 0xB6},       {0xB8, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},
      {0xF7, 0xF7},     {0x2000, 0x203E},   {0x2041, 0x2053},   {0x2055, 0x2070}, {0x2072, 0x207E}, {0x2080, 0x208F},
      {0x20A0, 0x20CF}, {0x2190, 0x2BFF},   {0x2E00, 0x2E7F},   {0x3000, 0x3004}, {0x3008, 0x3020}, {0xD800, 0xF8FF},
      {0xFE10, 0xFE1F}, {0xFE30, 0xFE32},   {0xFE35, 0xFE4C},   {0xFE50, 0xFE6F}, {0xFF00, 0xFF0F}, {0xFF1A, 0xFF20},
      {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF}};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    if (code >= blocks[i][0] && code <= blocks[i][1]) return true;
  return false;
}

/* Bytes of the name's character at text, 0 if there is none. */
static uint32_t name_char(const char *text, size_t left) {
  if (!left) return 0;
  if ((unsigned char)text[0] < 0x80) return is_name_part(text[0]) ? 1 : 0;
  uint32_t length = utf8_length((const unsigned char *)text, left);
  uint32_t code = length == 2 ? text[0] & 0x1F : length == 3 ? text[0] & 0x0F : text[0] & 0x07;
  for (uint32_t i = 1; i < length; i++)
    code = code << 6 | (text[i] & 0x3F);
  return length && !is_symbol(code) ? length : 0;
}

static uint32_t name_length(const char *text, size_t left) {
  uint32_t length = 0;
  for (uint32_t step; (step = name_char(text + length, left - length)) != 0;)
    length += step;
  return length;
}

bool tf_is_identifier(const char *text) {
  tf_keyword keyword;
  size_t length = text ? strlen(text) : 0;
  if (!length || is_digit(text[0]) || name_length(text, length) != length) return false;
  return !tf_keyword_from_text(text, length, &keyword);
}

static char peek(const lexer *l, uint32_t ahead) {
  return l->at + ahead < l->length ? l->text[l->at + ahead] : '\0';
}

static bool at_newline(const lexer *l) {
  return l->at < l->length && (l->text[l->at] == '\n' || l->text[l->at] == '\r');
}

static tf_loc loc_at(const lexer *l, uint32_t start, uint32_t length) {
  return (tf_loc){l->file, l->line, start - l->line_start + 1, length};
}

static void push(lexer *l, tf_token_kind kind, unsigned id, uint32_t start) {
  tf_token token = {(uint8_t)kind, (uint8_t)id, start, l->at, l->line, start - l->line_start + 1};
  TF_VEC_PUSH(l->arena, &l->tokens, token);
}

/* Gives up on the rest of the text. */
static void stop(lexer *l, uint32_t start) {
  push(l, TF_TOKEN_ERROR, 0, start);
  l->at = l->length;
  l->tokens.stopped = true;
}

/* Past one line end: \n, \r\n or \r. */
static void newline(lexer *l) {
  if (l->text[l->at] == '\r' && peek(l, 1) == '\n') l->at++;
  l->at++;
  l->line++;
  l->line_start = l->at;
}

static void skip_comment(lexer *l) {
  while (l->at < l->length && !at_newline(l))
    l->at++;
}

/* ---- Indentation ---- */
static void measure_indent(lexer *l, indent *out) {
  *out = (indent){0, 0, false};
  for (;; l->at++) {
    char c = peek(l, 0);
    if (c == ' ') {
      out->column++;
      out->alternative++;
    } else if (c == '\t') {
      out->column = (out->column / 8 + 1) * 8;
      out->alternative++;
    } else if (c == '\f') {
      *out = (indent){0, 0, false};
    } else {
      return;
    }
  }
}

static void mixed_tabs(lexer *l) {
  tf_report(l->context, loc_at(l, l->line_start, l->at - l->line_start), LEX_TABS);
}

static void deeper(lexer *l, indent now) {
  if (now.alternative <= l->indents[l->indent_count].alternative) mixed_tabs(l);
  if (l->indent_count == TF_MAX_INDENTS) {
    tf_report(l->context, loc_at(l, l->at, 1), LEX_DEPTH, "blocks", TF_MAX_INDENTS);
    stop(l, l->at);
    return;
  }
  l->indents[++l->indent_count] = now;
  push(l, TF_TOKEN_INDENT, 0, l->at);
}

static void shallower(lexer *l, indent now) {
  while (l->indent_count && now.column < l->indents[l->indent_count].column) {
    if (!l->indents[l->indent_count--].assumed) push(l, TF_TOKEN_DEDENT, 0, l->at);
  }
  indent top = l->indents[l->indent_count];
  if (now.column != top.column) {
    tf_report(l->context, loc_at(l, l->at, 1), LEX_DEDENT);
    now.assumed = true; /* the lines that follow at this column are no further faults */
    l->indents[++l->indent_count] = now;
  } else if (now.alternative != top.alternative) {
    mixed_tabs(l);
  }
}

/* At the start of a line: skips blank lines, then opens or closes blocks as the first token's column says. */
static void begin_line(lexer *l) {
  indent now;
  for (;;) {
    measure_indent(l, &now);
    if (peek(l, 0) == '#') skip_comment(l);
    if (!at_newline(l)) break;
    newline(l);
  }
  if (l->at >= l->length) return;
  indent top = l->indents[l->indent_count];
  if (now.column > top.column)
    deeper(l, now);
  else if (now.column < top.column)
    shallower(l, now);
  else if (now.alternative != top.alternative)
    mixed_tabs(l);
}

/* ---- Brackets ---- */
static void open_bracket(lexer *l, unsigned id, uint32_t start) {
  if (l->bracket_count == TF_MAX_BRACKETS) {
    tf_report(l->context, loc_at(l, start, 1), LEX_DEPTH, "brackets", TF_MAX_BRACKETS);
    stop(l, start);
    return;
  }
  uint8_t closer = id == TF_PUNCT_LPAREN     ? TF_PUNCT_RPAREN
                   : id == TF_PUNCT_LBRACKET ? TF_PUNCT_RBRACKET
                                             : TF_PUNCT_RBRACE;
  l->brackets[l->bracket_count++] = (bracket){closer, loc_at(l, start, 1)};
  push(l, TF_TOKEN_OP, id, start);
}

static void close_bracket(lexer *l, unsigned id, uint32_t start) {
  if (!l->bracket_count) {
    tf_report(l->context, loc_at(l, start, 1), LEX_UNMATCHED, operators[id].text);
    push(l, TF_TOKEN_ERROR, 0, start);
    return;
  }
  bracket open = l->brackets[--l->bracket_count];
  if (open.closer == id) {
    push(l, TF_TOKEN_OP, id, start);
    return;
  }
  tf_report(l->context, loc_at(l, start, 1), LEX_MISMATCH, operators[id].text, operators[open.closer].text,
            open.loc.line);
  push(l, TF_TOKEN_ERROR, 0, start);
}

static void report_unclosed(lexer *l) {
  bracket open = l->brackets[l->bracket_count - 1];
  tf_report(l->context, open.loc, LEX_UNCLOSED, operators[open.closer].text);
  l->bracket_count = 0;
  push(l, TF_TOKEN_ERROR, 0, l->at);
}

/* Whether the line at l->at begins with a word that no expression continues with. */
static bool begins_statement(const lexer *l) {
  static const uint8_t starters[] = {TF_KW_DEF,    TF_KW_CLASS, TF_KW_WITH,  TF_KW_WHILE,  TF_KW_RETURN, TF_KW_PASS,
                                     TF_KW_IMPORT, TF_KW_TRY,   TF_KW_RAISE, TF_KW_ASSERT, TF_KW_DEL};
  uint32_t at = l->at, length = 0;
  while (at < l->length && (l->text[at] == ' ' || l->text[at] == '\t'))
    at++;
  while (at + length < l->length && is_name_part(l->text[at + length]))
    length++;
  tf_keyword keyword;
  if (!length || !tf_keyword_from_text(l->text + at, length, &keyword)) return false;
  return memchr(starters, (int)keyword, sizeof starters) != NULL;
}

/* A line end in the text: ends the logical line, or only the physical one inside brackets. */
static void end_line(lexer *l) {
  uint32_t start = l->at;
  if (!l->bracket_count) {
    push(l, TF_TOKEN_NEWLINE, 0, start);
    newline(l);
    begin_line(l);
    return;
  }
  newline(l);
  if (!begins_statement(l)) return;
  report_unclosed(l);
  push(l, TF_TOKEN_NEWLINE, 0, l->at);
  begin_line(l);
}

/* ---- Tokens ---- */
static void lex_number(lexer *l) {
  uint32_t start = l->at;
  bool is_float;
  const char *fault;
  uint32_t length = (uint32_t)tf_number_scan(l->text + start, l->length - start, &is_float, &fault);
  l->at += length;
  uint64_t value;
  if (!fault && !is_float && !tf_int_literal(l->text + start, length, &value)) fault = "it needs more than 64 bits";
  if (fault) tf_report(l->context, loc_at(l, start, length), LEX_NUMBER, fault);
  push(l, fault ? TF_TOKEN_ERROR : is_float ? TF_TOKEN_FLOAT : TF_TOKEN_INT, 0, start);
}

/* From the opening quote at l->at; `start` is where the prefix begins. Line numbers advance inside triple quotes. */
static void lex_string(lexer *l, uint32_t start) {
  char quote = l->text[l->at];
  bool triple = peek(l, 1) == quote && peek(l, 2) == quote;
  tf_token token = {TF_TOKEN_STRING, 0, start, 0, l->line, start - l->line_start + 1};
  tf_loc loc = loc_at(l, start, l->at - start + (triple ? 3 : 1));
  l->at += triple ? 3 : 1;
  for (;;) {
    if (l->at >= l->length || (!triple && at_newline(l))) {
      tf_report(l->context, loc, LEX_UNTERMINATED);
      token.kind = TF_TOKEN_ERROR;
      break;
    }
    char c = l->text[l->at];
    if (c == quote && (!triple || (peek(l, 1) == quote && peek(l, 2) == quote))) {
      l->at += triple ? 3 : 1;
      break;
    }
    if (c == '\\' && l->at + 1 < l->length) l->at++; /* whatever follows is part of the string */
    if (at_newline(l))
      newline(l);
    else
      l->at++;
  }
  token.end = l->at;
  TF_VEC_PUSH(l->arena, &l->tokens, token);
}

/* A name, or a string with a prefix. */
static void lex_word(lexer *l) {
  uint32_t start = l->at, length = name_length(l->text + start, l->length - start);
  l->at += length;
  char quote = peek(l, 0);
  if ((quote == '"' || quote == '\'') && length <= 2) {
    bool known = true, refused = false;
    for (uint32_t i = 0; i < length; i++) {
      char c = (char)(l->text[start + i] | 0x20);
      known &= strchr("rubf", c) != NULL;
      refused |= c == 'b' || c == 'f';
    }
    if (known) {
      if (refused) tf_report(l->context, loc_at(l, start, length), LEX_STRING_PREFIX, (int)length, l->text + start);
      lex_string(l, start);
      if (refused) l->tokens.items[l->tokens.count - 1].kind = TF_TOKEN_ERROR;
      return;
    }
  }
  tf_keyword keyword;
  if (tf_keyword_from_text(l->text + start, length, &keyword))
    push(l, TF_TOKEN_KEYWORD, keyword, start);
  else
    push(l, TF_TOKEN_NAME, 0, start);
}

/* A character that begins no token. */
static void lex_stray(lexer *l) {
  uint32_t start = l->at;
  l->at += utf8_length((const unsigned char *)l->text + start, l->length - start);
  unsigned char c = (unsigned char)l->text[start];
  uint32_t length = l->at - start;
  if (c >= 0x80)
    tf_report(l->context, loc_at(l, start, length), LEX_NON_ASCII, (int)length, l->text + start);
  else if (c > ' ' && c < 0x7f)
    tf_report(l->context, loc_at(l, start, 1), LEX_STRAY, (char[]){'\'', (char)c, '\'', '\0'});
  else
    tf_report(l->context, loc_at(l, start, 1), LEX_STRAY, "a control character");
  push(l, TF_TOKEN_ERROR, 0, start);
}

static void lex_operator(lexer *l) {
  uint32_t start = l->at;
  for (unsigned id = 0; id < TF_PUNCT_COUNT; id++) {
    size_t length = operators[id].length;
    if (l->length - l->at < length || memcmp(operators[id].text, l->text + l->at, length) != 0) continue;
    l->at += (uint32_t)length;
    if (id == TF_PUNCT_LPAREN || id == TF_PUNCT_LBRACKET || id == TF_PUNCT_LBRACE)
      open_bracket(l, id, start);
    else if (id == TF_PUNCT_RPAREN || id == TF_PUNCT_RBRACKET || id == TF_PUNCT_RBRACE)
      close_bracket(l, id, start);
    else
      push(l, TF_TOKEN_OP, id, start);
    return;
  }
  lex_stray(l);
}

/* A backslash joins the next line to this one. */
static void lex_backslash(lexer *l) {
  uint32_t start = l->at++;
  if (at_newline(l)) {
    newline(l);
    return;
  }
  tf_report(l->context, loc_at(l, start, 1), LEX_CONTINUATION);
  push(l, TF_TOKEN_ERROR, 0, start);
}

static void lex_token(lexer *l) {
  char c = l->text[l->at];
  if (c == ' ' || c == '\t' || c == '\f')
    l->at++;
  else if (c == '\n' || c == '\r')
    end_line(l);
  else if (c == '#')
    skip_comment(l);
  else if (c == '\\')
    lex_backslash(l);
  else if (!is_digit(c) && name_char(l->text + l->at, l->length - l->at))
    lex_word(l);
  else if (is_digit(c) || (c == '.' && is_digit(peek(l, 1))))
    lex_number(l);
  else if (c == '"' || c == '\'')
    lex_string(l, l->at);
  else
    lex_operator(l);
}

/* The first byte that makes the text no text: a NUL or broken UTF-8. Nothing is lexed then. */
static bool check_encoding(lexer *l) {
  while (l->at < l->length) {
    uint32_t length = utf8_length((const unsigned char *)l->text + l->at, l->length - l->at);
    if (!length || l->text[l->at] == '\0') {
      tf_report(l->context, loc_at(l, l->at, 1), LEX_ENCODING, (unsigned char)l->text[l->at]);
      return false;
    }
    if (at_newline(l))
      newline(l);
    else
      l->at += length;
  }
  return true;
}

tf_tokens tf_lex(tf_context *context, uint32_t file, tf_arena *arena) {
  const tf_source *source = &context->sources.items[file];
  lexer *l = TF_ARENA_NEW(arena, lexer);
  *l = (lexer){.context = context, .arena = arena, .text = source->text, .length = (uint32_t)source->length};
  l->file = file;
  l->line = 1;
  bool is_text = check_encoding(l);
  bool has_mark = l->length >= 3 && memcmp(l->text, "\xEF\xBB\xBF", 3) == 0;
  l->at = l->line_start = has_mark ? 3 : 0;
  l->line = 1;
  if (is_text) begin_line(l);
  while (is_text && l->at < l->length)
    lex_token(l);
  if (l->bracket_count && !l->tokens.stopped) report_unclosed(l);
  size_t count = l->tokens.count;
  if (count && l->tokens.items[count - 1].kind != TF_TOKEN_NEWLINE) push(l, TF_TOKEN_NEWLINE, 0, l->at);
  while (l->indent_count)
    if (!l->indents[l->indent_count--].assumed) push(l, TF_TOKEN_DEDENT, 0, l->at);
  push(l, TF_TOKEN_END, 0, l->at);
  return l->tokens;
}
