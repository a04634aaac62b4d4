/* Interning: equal bytes are one object, different bytes or classes are not, contexts share nothing. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "Support/Context.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

START_TEST(creation) {
  ck_assert_int_eq(tf_context_create(NULL), TF_INVALID_ARGUMENT);
  tf_context_destroy(NULL);
}
END_TEST

START_TEST(strings_are_unique) {
  char first[] = "kernel", second[] = "kernel!";
  const char *a = tf_context_intern(context, first, 6);
  first[0] = 'X';
  ck_assert_str_eq(a, "kernel");
  ck_assert_ptr_eq(tf_context_intern(context, second, 6), a); /* not NUL-terminated there */
  ck_assert_ptr_eq(tf_context_intern_cstr(context, "kernel"), a);
  ck_assert_ptr_ne(tf_context_intern_cstr(context, "kerne"), a);
  ck_assert_ptr_ne(tf_context_intern_cstr(context, "Kernel"), a);
  const char *empty = tf_context_intern(context, "x", 0);
  ck_assert_str_eq(empty, "");
  ck_assert_ptr_eq(tf_context_intern_cstr(context, ""), empty);
  const char *inner = tf_context_intern(context, "a\0b", 3);
  ck_assert(memcmp(inner, "a\0b", 4) == 0 && inner != tf_context_intern_cstr(context, "a"));
}
END_TEST

START_TEST(many_strings_stay_distinct) {
  enum { COUNT = 20000 };
  static const char *seen[COUNT];
  char text[32];
  for (int i = 0; i < COUNT; i++)
    seen[i] = tf_context_intern(context, text, (size_t)sprintf(text, "name_%d", i * 7919 % COUNT));
  for (int i = 0; i < COUNT; i++) {
    sprintf(text, "name_%d", i * 7919 % COUNT);
    if (strcmp(seen[i], text) != 0) ck_abort_msg("%s became %s", text, seen[i]);
    if (tf_context_intern_cstr(context, text) != seen[i]) ck_abort_msg("%s is there twice", text);
  }
}
END_TEST

START_TEST(classes_are_apart) {
  const int key = 5;
  const void *objects[TF_INTERN_CLASS_COUNT];
  for (int kind = 0; kind < TF_INTERN_CLASS_COUNT; kind++) {
    objects[kind] = tf_context_intern_bytes(context, (tf_intern_class)kind, &key, sizeof key);
    ck_assert_int_eq(*(const int *)objects[kind], 5);
    ck_assert_uint_eq((uintptr_t)objects[kind] % _Alignof(max_align_t), 0);
    for (int other = 0; other < kind; other++)
      ck_assert_ptr_ne(objects[kind], objects[other]);
  }
}
END_TEST

START_TEST(contexts_share_nothing) {
  tf_context *other;
  ck_assert_int_eq(tf_context_create(&other), TF_OK);
  ck_assert_ptr_ne(tf_context_intern_cstr(context, "a"), tf_context_intern_cstr(other, "a"));
  tf_context_destroy(other);
  ck_assert_str_eq(tf_context_intern_cstr(context, "a"), "a");
}
END_TEST

START_TEST(memo_slots) {
  const int key[] = {1, 2}, other[] = {1, 3};
  int result;
  void **slot = tf_context_memo(context, key, sizeof key);
  ck_assert_ptr_null(*slot);
  *slot = &result;
  ck_assert_ptr_eq(*tf_context_memo(context, key, sizeof key), &result);
  ck_assert_ptr_null(*tf_context_memo(context, other, sizeof other));
  ck_assert_ptr_null(*tf_context_memo(context, key, sizeof *key));
  for (int i = 0; i < 1000; i++) /* slots stay where they are while the table grows */
    *tf_context_memo(context, &i, sizeof i) = &result;
  ck_assert_ptr_eq(tf_context_memo(context, key, sizeof key), slot);
}
END_TEST

START_TEST(sources) {
  ck_assert_str_eq(tf_context_source_name(context, 0), "<unknown>");
  char text[] = "one\ntwo";
  uint32_t a = tf_context_add_source(context, "a.tir", text, 7), b = tf_context_add_source(context, "b.tir", "", 0);
  ck_assert(a == 1 && b == 2);
  ck_assert_str_eq(tf_context_source_name(context, a), "a.tir");
  ck_assert_str_eq(tf_context_source_name(context, b), "b.tir");
  ck_assert_str_eq(tf_context_source_name(context, 99), "<unknown>");
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("interning");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, creation);
  tcase_add_test(tests, strings_are_unique);
  tcase_add_test(tests, many_strings_stay_distinct);
  tcase_add_test(tests, classes_are_apart);
  tcase_add_test(tests, contexts_share_nothing);
  tcase_add_test(tests, memo_slots);
  tcase_add_test(tests, sources);
  return run_case("Intern", tests);
}
