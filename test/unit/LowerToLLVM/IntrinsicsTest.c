/* The intrinsic table against LLVM: every row's name is known and has exactly the row's type; on every target, what the row
 * allows becomes PTX of the version that was noted, and what it does not is one message at the statement. Target features
 * against a plain statement of the rule. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/IR.h>

#include "Harness.h"
#include "IR/Target.h"
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Targets/Emit.h"

static const char *const targets[] = {
#define TF_TARGET(NAME, SM, SUFFIX, PTX, SMEM) NAME,
#include <tilefoundry/Targets.def>
};
#define TARGETS (sizeof targets / sizeof *targets)

static const struct {
  const char *id, *params;
  unsigned sm;
  char suffix;
  unsigned ptx;
} rows[] = {
#define TF_INTRINSIC(ID, NAME, RESULT, PARAMS, MIN_SM, SUFFIX, MIN_PTX, FLAGS) {#ID, PARAMS, MIN_SM, SUFFIX, MIN_PTX},
#include "LowerToLLVM/Intrinsics.def"
};

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

/* ---- Every row on a target, in one function ---- */
typedef struct fixture {
  tf_context *context;
  tf_lower_options options;
  tf_module_lowering module;
  tf_lowering lowering;
} fixture;

static void setup(fixture *f, const char *target) {
  *f = (fixture){.options = TF_LOWER_OPTIONS_INIT};
  ck_assert_int_eq(tf_context_create(&f->context), TF_OK);
  LLVMContextRef llvm = LLVMContextCreate();
  f->module = (tf_module_lowering){.context = f->context,
                                   .options = &f->options,
                                   .target = tf_target_get(f->context, target),
                                   .llvm = llvm,
                                   .llvm_module = LLVMModuleCreateWithNameInContext("test", llvm)};
  LLVMSetTarget(f->module.llvm_module, "nvptx64-nvidia-cuda");
  f->lowering = (tf_lowering){.context = f->context,
                              .module = &f->module,
                              .llvm = llvm,
                              .llvm_module = f->module.llvm_module,
                              .builder = LLVMCreateBuilderInContext(llvm),
                              .loc = {.line = 1, .column = 1}};
  LLVMTypeRef params[3] = {LLVMPointerTypeInContext(llvm, TF_SPACE_SHARED),
                           LLVMPointerTypeInContext(llvm, TF_SPACE_GLOBAL), LLVMFloatTypeInContext(llvm)};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(llvm), params, 3, false);
  f->lowering.llvm_function = LLVMAddFunction(f->module.llvm_module, "work", type);
  LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(llvm, f->lowering.llvm_function, "entry");
  LLVMPositionBuilderAtEnd(f->lowering.builder, block);
}

static void teardown(fixture *f) {
  LLVMDisposeBuilder(f->lowering.builder);
  LLVMDisposeModule(f->module.llvm_module);
  LLVMContextDispose(f->module.llvm);
  tf_context_destroy(f->context);
}

/* Floats and pointers come from outside, so that the call is not folded; integers may have to be constants. */
static LLVMValueRef argument(fixture *f, char letter) {
  if (letter == 'i') return tf_llvm_i32(&f->lowering, 1);
  if (letter == 's') return LLVMConstInt(tf_llvm_int(&f->lowering, 16), 1, false);
  return LLVMGetParam(f->lowering.llvm_function, letter == '3' ? 0 : letter == '1' ? 1 : 2);
}

/* Results are stored, lest the call is dropped. */
static void call_row(fixture *f, unsigned row) {
  LLVMValueRef args[8];
  unsigned count = (unsigned)strlen(rows[row].params);
  for (unsigned i = 0; i < count; i++)
    args[i] = argument(f, rows[row].params[i]);
  LLVMValueRef value = tf_lower_intrinsic(&f->lowering, (tf_intrinsic_id)row, rows[row].id, count, args);
  if (!value || LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVoidTypeKind || LLVMIsPoison(value)) return;
  LLVMSetVolatile(LLVMBuildStore(f->lowering.builder, value, LLVMGetParam(f->lowering.llvm_function, 1)), true);
}

static void check_refusal(const fixture *f, unsigned row) {
  char text[128];
  size_t count = tf_context_diagnostic_count(f->context);
  snprintf(text, sizeof text, "%s needs sm_%u", rows[row].id, rows[row].sm);
  const tf_diagnostic *last = tf_context_diagnostic(f->context, count - 1);
  ck_assert_int_eq(last->id, TF_DIAG_LOWER_TARGET);
  ck_assert_msg(strncmp(last->message, text, strlen(text)) == 0, "%s", last->message);
  ck_assert_ptr_nonnull(strstr(last->message, tf_target_name(f->module.target)));
}

static void check_text(fixture *f, const char *target) {
  const char *text = NULL;
  char version[32], arch[32];
  LLVMBuildRetVoid(f->lowering.builder);
  ck_assert_int_eq(tf_emit_module(&f->module, &text), TF_OK);
  unsigned ptx = tf_ptx_version(&f->module);
  snprintf(version, sizeof version, ".version %u.%u\n", ptx / 10, ptx % 10);
  snprintf(arch, sizeof arch, ".target %s\n", target);
  ck_assert_ptr_nonnull(strstr(text, version));
  ck_assert_ptr_nonnull(strstr(text, arch));
}

/* LOWER_TARGET */
START_TEST(rows_are_gated) {
  fixture f;
  unsigned ptx = 0;
  size_t messages = 0;
  setup(&f, targets[_i]);
  for (unsigned row = 0; row < TF_INTRINSIC_COUNT; row++) {
    bool has = tf_target_has(f.module.target, rows[row].sm, rows[row].suffix);
    call_row(&f, row);
    messages += !has;
    ck_assert_msg(tf_context_diagnostic_count(f.context) == messages, "%s: %s", targets[_i], rows[row].id);
    if (has && rows[row].ptx > ptx) ptx = rows[row].ptx;
    if (!has) check_refusal(&f, row);
  }
  ck_assert_uint_eq(f.module.ptx_version, ptx);
  ck_assert(f.module.failed == (messages > 0));
  f.module.failed = false;
  check_text(&f, targets[_i]);
  teardown(&f);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("table");
  tcase_add_loop_test(tests, rows_are_llvms, 0, TF_INTRINSIC_COUNT);
  tcase_add_test(tests, features_of_targets);
  tcase_add_loop_test(tests, rows_are_gated, 0, TARGETS);
  return run_case("intrinsics", tests);
}
