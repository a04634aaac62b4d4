/* The intrinsic table against LLVM: every row's name is known and has exactly the row's type. Target features against a plain
 * statement of the rule. */
#include <check.h>
#include <stdlib.h>

#include <tilefoundry/IR.h>

#include "LowerToLLVM/Intrinsics.h"

START_TEST(rows_are_llvms) {
  LLVMContextRef llvm = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", llvm);
  const char *name = NULL;
  bool known = tf_intrinsic_is_known(llvm, module, (tf_intrinsic_id)_i, &name);
  ck_assert_msg(known, "%s", name);
  LLVMDisposeModule(module);
  LLVMContextDispose(llvm);
}
END_TEST

START_TEST(features_of_targets) {
  static const struct {
    const char *target;
    unsigned sm;
    char suffix;
    bool has;
  } cases[] = {{"sm_80", 75, 0, true},       {"sm_75", 80, 0, false},     {"sm_90", 90, 'a', false},
               {"sm_90a", 90, 'a', true},    {"sm_100a", 90, 'a', false}, {"sm_103f", 100, 'f', true},
               {"sm_103a", 100, 'f', true},  {"sm_103", 100, 'f', false}, {"sm_120f", 100, 'f', false},
               {"sm_100f", 103, 'f', false}, {"sm_121", 120, 0, true}};
  tf_context *context = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    ck_assert_msg(tf_target_has(tf_target_get(context, cases[i].target), cases[i].sm, cases[i].suffix) == cases[i].has,
                  "%s has sm_%u%c", cases[i].target, cases[i].sm, cases[i].suffix ? cases[i].suffix : ' ');
  tf_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("intrinsics");
  TCase *tests = tcase_create("table");
  tcase_add_loop_test(tests, rows_are_llvms, 0, TF_INTRINSIC_COUNT);
  tcase_add_test(tests, features_of_targets);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
