/* LLVM modules to PTX: a well-formed one gives text for its target, a broken one is a diagnostic with LLVM's own words and no
 * text. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Text.h>

#include "Harness.h"
#include "LowerToLLVM/Targets/Emit.h"

/* A module lowering with one function: void work(), with an end or without one. */
typedef struct fixture {
  tf_context *context;
  tf_lower_options options;
  tf_module_lowering lowering;
} fixture;

static void setup(fixture *f, const char *target, bool ends) {
  *f = (fixture){.options = TF_LOWER_OPTIONS_INIT};
  ck_assert_int_eq(tf_context_create(&f->context), TF_OK);
  LLVMContextRef llvm = LLVMContextCreate();
  f->lowering = (tf_module_lowering){.context = f->context,
                                     .options = &f->options,
                                     .target = tf_target_get(f->context, target),
                                     .llvm = llvm,
                                     .llvm_module = LLVMModuleCreateWithNameInContext("test", llvm)};
  LLVMSetTarget(f->lowering.llvm_module, "nvptx64-nvidia-cuda");
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(llvm), NULL, 0, false);
  LLVMValueRef function = LLVMAddFunction(f->lowering.llvm_module, "work", type);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(llvm, function, "entry"));
  if (ends) LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
}

static void teardown(fixture *f) {
  LLVMDisposeModule(f->lowering.llvm_module);
  LLVMContextDispose(f->lowering.llvm);
  tf_context_destroy(f->context);
}

START_TEST(whole_modules) {
  static const char *const targets[] = {"sm_75", "sm_90a", "sm_103f"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    fixture f;
    char line[32];
    const char *text = NULL;
    setup(&f, targets[i], true);
    snprintf(line, sizeof line, ".target %s", targets[i]);
    ck_assert_int_eq(tf_emit_module(&f.lowering, &text), TF_OK);
    ck_assert_ptr_nonnull(strstr(text, line));
    ck_assert_ptr_nonnull(strstr(text, "work"));
    ck_assert_uint_eq(tf_context_diagnostic_count(f.context), 0);
    teardown(&f);
  }
}
END_TEST

/* LOWER_LLVM */
START_TEST(broken_modules) {
  fixture f;
  const char *text = NULL;
  setup(&f, "sm_80", false);
  ck_assert_int_eq(tf_emit_module(&f.lowering, &text), TF_UNSUPPORTED);
  ck_assert_ptr_null(text);
  ck_assert(f.lowering.failed);
  ck_assert_uint_eq(tf_context_diagnostic_count(f.context), 1);
  const tf_diagnostic *diagnostic = tf_context_diagnostic(f.context, 0);
  ck_assert_int_eq(diagnostic->id, TF_DIAG_LOWER_LLVM);
  ck_assert_ptr_nonnull(strstr(diagnostic->message, "does not have terminator"));
  teardown(&f);
}
END_TEST

/* Names and numbers that mean nothing are refused before anything is done. */
START_TEST(wrong_options) {
  static const char source[] = "@prim_func\ndef k(y: Tensor[(1,), \"f32\"]):\n    T.fill(y, 1.0)\n";
  static const struct {
    const char *print_after, *entry;
    unsigned ptx_version;
    tf_status status;
  } cases[] = {{"verify", NULL, 0, TF_INVALID_ARGUMENT},
               {"nonsense", NULL, 0, TF_INVALID_ARGUMENT},
               {NULL, NULL, 79, TF_INVALID_ARGUMENT},
               {NULL, NULL, 91, TF_INVALID_ARGUMENT},
               {NULL, "other", 0, TF_VERIFY},
               {"emit", "k", 78, TF_OK},
               {"all", NULL, 90, TF_OK}};
  tf_context *context = NULL;
  const tf_module *module = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(context, "a.tir", source, sizeof source - 1, NULL, &module), TF_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tf_lower_options options = TF_LOWER_OPTIONS_INIT;
    const char *text = NULL;
    options.print_after = cases[i].print_after;
    options.entry = cases[i].entry;
    options.ptx_version = cases[i].ptx_version;
    ck_assert_int_eq(tf_emit_ptx(module, &options, &text), cases[i].status);
    ck_assert((text != NULL) == (cases[i].status == TF_OK));
  }
  tf_context_destroy(context);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("emit");
  tcase_add_test(tests, whole_modules);
  tcase_add_test(tests, broken_modules);
  tcase_add_test(tests, wrong_options);
  return run_case("emit", tests);
}
