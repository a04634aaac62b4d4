/* Diagnostics: collecting, handlers, counts, and the rendered text with its caret line. */
#include <check.h>
#include <string.h>

#include "Harness.h"
#include "Support/Context.h"

static tf_context *context;
static uint32_t file;

static void setup(void) {
  static const char text[] = "first line\n"
                             "\tT.copy(a, b)\r\n"
                             "\n"
                             "x = \"\xC3\xA4\xC3\xB6\" + y\n"
                             "last";
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  file = tf_context_add_source(context, "k.tir", text, sizeof text - 1);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static const char *render(tf_loc loc) {
  tf_report(context, loc, FILE_READ, "in.tir", "no such file");
  return tf_diagnostic_render(context, tf_context_diagnostic(context, tf_context_diagnostic_count(context) - 1));
}

START_TEST(placed_messages_show_the_line) {
  ck_assert_str_eq(render((tf_loc){file, 1, 7, 4}), "k.tir:1:7: error: cannot read 'in.tir': no such file\n"
                                                    "first line\n"
                                                    "      ^~~~\n");
  ck_assert_str_eq(render((tf_loc){file, 5, 1, 99}), "k.tir:5:1: error: cannot read 'in.tir': no such file\n"
                                                     "last\n"
                                                     "^~~~\n"); /* never beyond the line */
}
END_TEST

START_TEST(tabs_and_utf8_keep_the_caret_in_its_column) {
  ck_assert_str_eq(render((tf_loc){file, 2, 9, 1}), "k.tir:2:9: error: cannot read 'in.tir': no such file\n"
                                                    "\tT.copy(a, b)\n"
                                                    "\t       ^\n");
  ck_assert_str_eq(render((tf_loc){file, 4, 13, 1}), "k.tir:4:13: error: cannot read 'in.tir': no such file\n"
                                                     "x = \"\xC3\xA4\xC3\xB6\" + y\n"
                                                     "          ^\n");
  ck_assert_str_eq(render((tf_loc){file, 4, 5, 6}), "k.tir:4:5: error: cannot read 'in.tir': no such file\n"
                                                    "x = \"\xC3\xA4\xC3\xB6\" + y\n"
                                                    "    ^~~~\n"); /* six bytes, four characters */
}
END_TEST

START_TEST(places_without_text) {
  ck_assert_str_eq(render((tf_loc){file, 3, 1, 0}), "k.tir:3:1: error: cannot read 'in.tir': no such file\n");
  ck_assert_str_eq(render((tf_loc){file, 70, 1, 0}), "k.tir:70:1: error: cannot read 'in.tir': no such file\n");
  ck_assert_str_eq(render((tf_loc){file, 1, 90, 0}), "k.tir:1:90: error: cannot read 'in.tir': no such file\n");
  ck_assert_str_eq(render((tf_loc){file, 0, 0, 0}), "k.tir: error: cannot read 'in.tir': no such file\n");
  ck_assert_str_eq(render(TF_NO_LOC), "error: cannot read 'in.tir': no such file\n");
  ck_assert_str_eq(render((tf_loc){77, 1, 1, 0}), "<unknown>:1:1: error: cannot read 'in.tir': no such file\n");
}
END_TEST

START_TEST(rules_and_severities_are_shown) {
  static const struct {
    tf_severity severity;
    const char *text;
  } rows[] = {{TF_SEVERITY_ERROR, "error: m [tir-1]\n"},
              {TF_SEVERITY_WARNING, "warning: m [tir-1]\n"},
              {TF_SEVERITY_REMARK, "remark: m [tir-1]\n"},
              {TF_SEVERITY_NOTE, "note: m [tir-1]\n"}};
  for (int i = 0; i < 4; i++) {
    const tf_diagnostic diagnostic = {.severity = rows[i].severity, .rule = "tir-1", .message = "m"};
    ck_assert_str_eq(tf_diagnostic_render(context, &diagnostic), rows[i].text);
  }
}
END_TEST

START_TEST(bytes_that_are_no_text_become_question_marks) {
  static const char text[] = "a\xFF\x01\xC3"
                             "b\x7F\xE2\x82\xAC";
  uint32_t raw = tf_context_add_source(context, "raw.tir", text, sizeof text - 1);
  tf_report(context, ((tf_loc){raw, 1, 2, 1}), FILE_READ, "x\xFE", "\x1B[31m");
  const tf_diagnostic *last = tf_context_diagnostic(context, tf_context_diagnostic_count(context) - 1);
  ck_assert_str_eq(tf_diagnostic_render(context, last), "raw.tir:1:2: error: cannot read 'x?': ?[31m\n"
                                                        "a???b?\xE2\x82\xAC\n"
                                                        " ^\n");
}
END_TEST

START_TEST(collecting) {
  ck_assert_uint_eq(tf_context_diagnostic_count(context), 0);
  tf_report(context, ((tf_loc){file, 2, 3, 4}), FILE_READ, "a", "b");
  tf_report(context, TF_NO_LOC, FILE_WRITE, "c", "d");
  ck_assert_uint_eq(tf_context_diagnostic_count(context), 2);
  ck_assert_uint_eq(tf_context_error_count(context), 2);
  const tf_diagnostic *first = tf_context_diagnostic(context, 0), *second = tf_context_diagnostic(context, 1);
  ck_assert(first->id == TF_DIAG_FILE_READ && first->severity == TF_SEVERITY_ERROR);
  ck_assert(first->loc.line == 2 && first->loc.column == 3 && first->loc.length == 4);
  ck_assert_str_eq(first->message, "cannot read 'a': b");
  ck_assert_str_eq(second->message, "cannot write 'c': d");
  ck_assert_ptr_null(tf_context_diagnostic(context, 2));
  tf_context_clear_diagnostics(context);
  ck_assert_uint_eq(tf_context_diagnostic_count(context), 0);
  ck_assert_uint_eq(tf_context_error_count(context), 0);
  ck_assert_ptr_null(tf_context_diagnostic(context, 0));
}
END_TEST

static void remember(void *user, const tf_diagnostic *diagnostic) {
  strcat(user, diagnostic->message);
  strcat(user, "|");
}

START_TEST(handlers_see_each_message_once) {
  char seen[200] = "";
  tf_context_set_diag_handler(context, remember, seen);
  tf_report(context, TF_NO_LOC, FILE_READ, "a", "b");
  tf_report(context, TF_NO_LOC, FILE_READ, "c", "d");
  ck_assert_str_eq(seen, "cannot read 'a': b|cannot read 'c': d|");
  tf_context_set_diag_handler(context, NULL, NULL);
  tf_report(context, TF_NO_LOC, FILE_READ, "e", "f");
  ck_assert_str_eq(seen, "cannot read 'a': b|cannot read 'c': d|");
  ck_assert_uint_eq(tf_context_diagnostic_count(context), 3); /* collected either way */
}
END_TEST

START_TEST(only_errors_count) {
  size_t errors = 0;
  for (int id = 0; id < TF_DIAG_COUNT; id++) {
    tf_diag_report(context, TF_NO_LOC, (tf_diag_id)id, "%d", id);
    const tf_diagnostic *last = tf_context_diagnostic(context, (size_t)id);
    errors += last->severity == TF_SEVERITY_ERROR;
    ck_assert_uint_eq(tf_context_error_count(context), errors);
    ck_assert_str_eq(last->rule, tf_diag_rule((tf_diag_id)id));
    ck_assert(tf_diag_name((tf_diag_id)id)[0]);
    if (last->severity == TF_SEVERITY_NOTE) ck_assert_str_eq(last->rule, "");
  }
}
END_TEST

START_TEST(names) {
  ck_assert_str_eq(tf_diag_name(TF_DIAG_FILE_READ), "FILE_READ");
  ck_assert_str_eq(tf_diag_rule(TF_DIAG_FILE_READ), "");
  ck_assert_str_eq(tf_diag_name(TF_DIAG_COUNT), "UNKNOWN");
  ck_assert_str_eq(tf_diag_rule((tf_diag_id)-1), "");
  ck_assert_str_eq(tf_status_name(TF_OUT_OF_MEMORY), "OUT_OF_MEMORY");
  ck_assert_str_eq(tf_status_name(TF_OK), "OK");
  ck_assert_str_eq(tf_status_name((tf_status)99), "unknown status");
}
END_TEST

START_TEST(long_messages_are_kept_whole) {
  char name[3000];
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = '\0';
  tf_report(context, TF_NO_LOC, FILE_READ, name, "x");
  ck_assert_uint_eq(strlen(tf_context_diagnostic(context, 0)->message), strlen("cannot read '': x") + sizeof name - 1);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("diagnostics");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, placed_messages_show_the_line);
  tcase_add_test(tests, tabs_and_utf8_keep_the_caret_in_its_column);
  tcase_add_test(tests, places_without_text);
  tcase_add_test(tests, rules_and_severities_are_shown);
  tcase_add_test(tests, collecting);
  tcase_add_test(tests, handlers_see_each_message_once);
  tcase_add_test(tests, only_errors_count);
  tcase_add_test(tests, names);
  tcase_add_test(tests, bytes_that_are_no_text_become_question_marks);
  tcase_add_test(tests, long_messages_are_kept_whole);
  return run_case("Diagnostics", tests);
}
