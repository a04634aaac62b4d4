/* Tokens at exact places; what Python's own tokenizer cannot be asked about: line ends, the byte order mark, recovery. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "Harness.h"
#include "IR/Text/Lexer.h"
#include "Support/Context.h"

/* The tokens as "line:column KIND" with NAME, INT, … by their first letters; errors as '!'. */
static void lex(const char *text, size_t length, char *out, size_t size) {
  static const char kinds[] = "$!n><NKIFSO";
  tf_context *context;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  tf_tokens tokens = tf_lex(context, tf_context_add_source(context, "text", text, length), &context->arena);
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; i < tokens.count && at < size; i++)
    at += (size_t)snprintf(out + at, size - at, "%s%u:%u%c", i ? " " : "", tokens.items[i].line, tokens.items[i].column,
                           kinds[tokens.items[i].kind]);
  tf_context_destroy(context);
}

static void check(const char *text, const char *expected) {
  char got[512];
  lex(text, strlen(text), got, sizeof got);
  ck_assert_str_eq(got, expected);
}

START_TEST(line_ends) {
  check("a\nb\n", "1:1N 1:2n 2:1N 2:2n 3:1$");
  check("a\r\nb\r\n", "1:1N 1:2n 2:1N 2:2n 3:1$");
  check("a\rb", "1:1N 1:2n 2:1N 2:2n 2:2$");
  check("a\\\r\nb", "1:1N 2:1N 2:2n 2:2$");
  check("if a:\r\n  b\r\n", "1:1K 1:4N 1:5O 1:6n 2:3> 2:3N 2:4n 3:1< 3:1$");
  check("'''a\r\nb'''\r\nc", "1:1S 2:5n 3:1N 3:2n 3:2$");
}
END_TEST

START_TEST(marks_and_blanks) {
  check("", "1:1$");
  check("\n \n# c\n", "4:1$");
  check("\xEF\xBB\xBF"
        "a = 1",
        "1:1N 1:3O 1:5I 1:6n 1:6$");
  check("a # \xc3\xa9\n", "1:1N 1:7n 2:1$");
  check("\f a\n", "1:3> 1:3N 1:4n 2:1< 2:1$");
  check("(\n\n  a\n)\n", "1:1O 3:3N 4:1O 4:2n 5:1$");
}
END_TEST

START_TEST(indentation) {
  check("if a:\n\tb\n\tc\n", "1:1K 1:4N 1:5O 1:6n 2:2> 2:2N 2:3n 3:2N 3:3n 4:1< 4:1$");
  check("a\n  b\n    c\nd", "1:1N 1:2n 2:3> 2:3N 2:4n 3:5> 3:5N 3:6n 4:1< 4:1< 4:1N 4:2n 4:2$");
  /* Back to a column that no block has: the lines there count as the outer block's. */
  check("a\n    b\n  c\n  d\ne", "1:1N 1:2n 2:5> 2:5N 2:6n 3:3< 3:3N 3:4n 4:3N 4:4n 5:1N 5:2n 5:2$");
}
END_TEST

START_TEST(faults) {
  check("a ? b\n", "1:1N 1:3! 1:5N 1:6n 2:1$");
  check("x = 'a\nb\n", "1:1N 1:3O 1:5! 1:7n 2:1N 2:2n 3:1$");
  check("f(a\ndef g\n", "1:1N 1:2O 1:3N 2:1! 2:1n 2:1K 2:5N 2:6n 3:1$");
  check("1_ 0x 08 1e5_\n", "1:1! 1:4! 1:7! 1:10! 1:14n 2:1$");
  char got[512];
  lex("a\0b", 3, got, sizeof got); /* no text at all */
  ck_assert_str_eq(got, "1:1$");
}
END_TEST

START_TEST(identifiers) {
  ck_assert(tf_is_identifier("a_1"));
  ck_assert(tf_is_identifier("_"));
  ck_assert(tf_is_identifier("match"));
  ck_assert(tf_is_identifier("gr\xc3\xb6\xc3\x9f"
                             "e1"));
  ck_assert(!tf_is_identifier("a\xc3\x97"));
  ck_assert(!tf_is_identifier("a\xff"));
  ck_assert(!tf_is_identifier(""));
  ck_assert(!tf_is_identifier(NULL));
  ck_assert(!tf_is_identifier("1a"));
  ck_assert(!tf_is_identifier("a-b"));
  ck_assert(!tf_is_identifier("lambda"));
}
END_TEST

int main(void) {
  TCase *all = tcase_create("all");
  tcase_add_test(all, line_ends);
  tcase_add_test(all, marks_and_blanks);
  tcase_add_test(all, indentation);
  tcase_add_test(all, faults);
  tcase_add_test(all, identifiers);
  return run_case("lexer", all);
}
