/* What every test program ends with. */
#ifndef TF_TEST_HARNESS_H
#define TF_TEST_HARNESS_H

#include <check.h>
#include <stdlib.h>

/* Runs the suite and frees it; the exit status of main. */
static inline int run_suite(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A suite of one test case. */
static inline int run_case(const char *name, TCase *tests) {
  Suite *suite = suite_create(name);
  suite_add_tcase(suite, tests);
  return run_suite(suite);
}

#endif
