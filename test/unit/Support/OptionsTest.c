/* Option structs of other versions: each length, zeros and others behind the end, sizes that no version has. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "Support/Options.h"

/* Of this library, of an older and of a newer program. */
typedef struct options {
  size_t size;
  const char *name;
  unsigned level;
  bool fast;
} options;

typedef struct old_options {
  size_t size;
  const char *name;
} old_options;

typedef struct new_options {
  size_t size;
  const char *name;
  unsigned level;
  bool fast;
  double more;
  const char *last;
} new_options;

static const options defaults = {sizeof(options), NULL, 3, false};

START_TEST(nothing) {
  options known = defaults;
  ck_assert(tf_options_read(&known, sizeof known, NULL));
  ck_assert(known.level == 3 && !known.name);
}
END_TEST

START_TEST(this_version) {
  options known = defaults, given = {sizeof given, "a", 1, true};
  ck_assert(tf_options_read(&known, sizeof known, &given));
  ck_assert(known.level == 1 && known.fast && known.size == sizeof known);
  ck_assert_str_eq(known.name, "a");
}
END_TEST

START_TEST(older) {
  options known = defaults;
  old_options given = {sizeof given, "b"};
  ck_assert(tf_options_read(&known, sizeof known, &given));
  ck_assert(known.level == 3 && !known.fast);
  ck_assert_str_eq(known.name, "b");
}
END_TEST

START_TEST(newer) {
  options known = defaults;
  new_options given = {sizeof given, "c", 2, true, 0, NULL};
  ck_assert(tf_options_read(&known, sizeof known, &given));
  ck_assert(known.level == 2 && known.fast);
  given.last = "";
  ck_assert(!tf_options_read(&known, sizeof known, &given));
  given = (new_options){sizeof given, "c", 2, true, 0.5, NULL};
  ck_assert(!tf_options_read(&known, sizeof known, &given));
}
END_TEST

START_TEST(no_version) {
  static const size_t sizes[] = {0,       1, 4, 7, 9, sizeof(options) - 1, sizeof(options) + 4, 1032, (size_t)1 << 40,
                                 SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    options known = defaults;
    new_options given = {.size = sizes[i]};
    ck_assert_msg(!tf_options_read(&known, sizeof known, &given), "%zu", sizes[i]);
  }
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("options");
  tcase_add_test(tests, nothing);
  tcase_add_test(tests, this_version);
  tcase_add_test(tests, older);
  tcase_add_test(tests, newer);
  tcase_add_test(tests, no_version);
  return run_case("options", tests);
}
