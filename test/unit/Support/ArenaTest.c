/* Arenas: alignment, zeroing, distinct memory, growing arrays and strings, exhaustion that unwinds to its guard. */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "Harness.h"
#include "Support/Context.h"

static tf_oom oom;
static tf_arena arena;

static void setup(void) {
  oom = (tf_oom){0};
  tf_arena_init(&arena, &oom);
}

static void teardown(void) {
  tf_arena_destroy(&arena);
}

START_TEST(blocks_are_zeroed_aligned_and_distinct) {
  enum { COUNT = 3000 };
  static unsigned char *blocks[COUNT];
  static size_t sizes[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    sizes[i] = i * 37 % 500 + (i % 100 == 0 ? 9000 : 0); /* some larger than a chunk */
    blocks[i] = tf_arena_alloc(&arena, sizes[i]);
    ck_assert_uint_eq((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
    for (size_t k = 0; k < sizes[i]; k++)
      if (blocks[i][k] != 0) ck_abort_msg("byte %zu of block %zu is not 0", k, i);
    memset(blocks[i], (int)(i % 251), sizes[i]);
  }
  for (size_t i = 0; i < COUNT; i++)
    for (size_t k = 0; k < sizes[i]; k++)
      if (blocks[i][k] != i % 251) ck_abort_msg("block %zu was overwritten", i);
}
END_TEST

START_TEST(empty_blocks_are_unique) {
  void *a = tf_arena_alloc(&arena, 0), *b = tf_arena_alloc(&arena, 0);
  ck_assert(a && b && a != b);
  ck_assert_ptr_nonnull(tf_arena_copy(&arena, NULL, 0));
}
END_TEST

START_TEST(copies_and_formats) {
  char text[] = "abcdef";
  char *copy = tf_arena_copy(&arena, text, sizeof text), *part = tf_arena_strndup(&arena, text, 3);
  text[0] = 'X';
  ck_assert_str_eq(copy, "abcdef");
  ck_assert_str_eq(part, "abc");
  ck_assert_str_eq(tf_arena_strndup(&arena, NULL, 0), "");
  ck_assert_str_eq(tf_arena_printf(&arena, "%d-%s", 42, "x"), "42-x");
  ck_assert_str_eq(tf_arena_printf(&arena, "%s", ""), "");
  char *wide = tf_arena_printf(&arena, "%5000d", 7);
  ck_assert_uint_eq(strlen(wide), 5000);
  ck_assert_int_eq(wide[4999], '7');
}
END_TEST

START_TEST(arrays_grow) {
  struct {
    TF_VEC(int64_t);
  } vec = {0};
  for (int64_t i = 0; i < 10000; i++)
    TF_VEC_PUSH(&arena, &vec, i * i);
  ck_assert_uint_eq(vec.count, 10000);
  ck_assert_uint_ge(vec.capacity, 10000);
  ck_assert_uint_le(vec.capacity, 20000); /* doubling: at most as much again */
  for (int64_t i = 0; i < 10000; i++)
    if (vec.items[i] != i * i) ck_abort_msg("item %d", (int)i);
}
END_TEST

START_TEST(strings_grow) {
  tf_string string;
  tf_string_init(&string, &arena);
  ck_assert_str_eq(string.text, "");
  for (int i = 0; i < 1000; i++) {
    tf_string_printf(&string, "%d", i % 10);
    ck_assert_uint_eq(string.length, (size_t)i + 1);
  }
  tf_string_puts(&string, "tail");
  tf_string_append(&string, "\0z", 2);
  tf_string_printf(&string, "%s", "");
  ck_assert_uint_eq(string.length, 1006);
  ck_assert_str_eq(string.text + 999, "9tail");
  ck_assert_int_eq(string.text[1005], 'z');
  ck_assert_int_eq(string.text[1006], '\0');
}
END_TEST

/* ---- Exhaustion ---- */
static tf_status ask_for_too_much(void *context) {
  tf_arena_alloc(&((tf_context *)context)->arena, SIZE_MAX / 2);
  return TF_OK;
}

static tf_status guard_inner(void *context) {
  ck_assert_int_eq(tf_context_try(context, ask_for_too_much, context), TF_OUT_OF_MEMORY);
  return TF_PARSE; /* the inner guard caught it: this body goes on */
}

static tf_status guard_then_fail(void *context) {
  ck_assert_int_eq(guard_inner(context), TF_PARSE);
  return ask_for_too_much(context);
}

START_TEST(exhaustion_unwinds_to_the_innermost_guard) {
  tf_context *context;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_context_try(context, ask_for_too_much, context), TF_OUT_OF_MEMORY);
  ck_assert_ptr_null(context->oom.target);
  ck_assert_int_eq(tf_context_try(context, guard_inner, context), TF_PARSE);
  ck_assert_int_eq(tf_context_try(context, guard_then_fail, context), TF_OUT_OF_MEMORY);
  ck_assert_ptr_null(context->oom.target);
  tf_context_destroy(context);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("arena");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, blocks_are_zeroed_aligned_and_distinct);
  tcase_add_test(tests, empty_blocks_are_unique);
  tcase_add_test(tests, copies_and_formats);
  tcase_add_test(tests, arrays_grow);
  tcase_add_test(tests, strings_grow);
  tcase_add_test(tests, exhaustion_unwinds_to_the_innermost_guard);
  return run_case("Arena", tests);
}
