/* Check writes every assertion that it passes to a pipe. Property tests pass millions: here an assertion costs nothing
 * until it fails. */
#ifndef TF_TEST_QUIET_CHECK_H
#define TF_TEST_QUIET_CHECK_H

#include <check.h>

#undef ck_assert
#undef ck_assert_msg
#undef ck_assert_int_eq
#define ck_assert(condition)          ((condition) ? (void)0 : ck_abort_msg("%s fails", #condition))
#define ck_assert_msg(condition, ...) ((condition) ? (void)0 : ck_abort_msg(__VA_ARGS__))
#define ck_assert_int_eq(a, b)                                                                                         \
  ((long)(a) == (long)(b) ? (void)0 : ck_abort_msg("%s is %ld, %s is %ld", #a, (long)(a), #b, (long)(b)))

#endif
