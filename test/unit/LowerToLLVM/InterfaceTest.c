/* The compiler's entry points as a tool chain meets them: missing arguments, options of other versions, LLVM modules that are
 * not empty, several modules in one LLVM context, several contexts in threads. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

#include <tilefoundry/TileFoundry.h>

#include "Harness.h"

static const char scale[] =
    "N = DimVar('N', 1, 100)\n"
    "@prim_func(target=CudaTarget('sm_80'))\n"
    "def scale(x: Tensor[(N,), 'f32'], by: Tensor[(), 'f32']):\n"
    "    with Mesh((Topology('cta', N), Topology('thread', 1)), Layout((N, 1)), ('c', 't')) as m:\n"
    "        T.store(x, T.load(x, T.coord(m.c)) * by, T.coord(m.c))\n";

#define SCALE_TYPE "(ptr addrspace(1), float, i32)"

static tf_context *context;
static const tf_module *module;
static LLVMContextRef llvm;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_parse(context, "scale.tir", scale, strlen(scale), NULL, &module), TF_OK);
  llvm = LLVMContextCreate();
}

static void teardown(void) {
  LLVMContextDispose(llvm);
  tf_context_destroy(context);
}

static LLVMModuleRef read_ir(const char *text) {
  char *message = NULL;
  LLVMModuleRef made = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(text, strlen(text), "ir", 1);
  ck_assert_msg(!LLVMParseIRInContext(llvm, buffer, &made, &message), "%s", message);
  return made;
}

/* ---- Missing arguments ---- */

START_TEST(null_arguments) {
  LLVMModuleRef ir = read_ir("");
  const char *text = "untouched";
  const void *bytes;
  size_t size;
  tf_host_code *code;
  ck_assert_int_eq(tf_lower_to_llvm(NULL, NULL, llvm, ir), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_lower_to_llvm(module, NULL, NULL, ir), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_lower_to_llvm(module, NULL, llvm, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_llvm(NULL, NULL, &text), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_ptx(NULL, NULL, &text), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_manifest(NULL, NULL, &text), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_header(NULL, NULL, NULL, &text), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_llvm(module, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_ptx(module, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_manifest(module, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_header(module, NULL, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_object(NULL, NULL, NULL, &bytes, &size), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_object(module, NULL, NULL, NULL, &size), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_emit_object(module, NULL, NULL, &bytes, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_host_code_create(NULL, NULL, &code), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_host_code_create(module, NULL, NULL), TF_INVALID_ARGUMENT);
  tf_host_code_destroy(NULL);
  ck_assert_str_eq(text, "untouched");
  LLVMDisposeModule(ir);
}
END_TEST

START_TEST(null_lists) {
  const tf_module *made = NULL;
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  parse.define_count = 1;
  ck_assert_int_eq(tf_parse(context, "a.tir", scale, strlen(scale), &parse, &made), TF_INVALID_ARGUMENT);
  parse = (tf_parse_options)TF_PARSE_OPTIONS_INIT;
  parse.intrinsic_count = 1;
  ck_assert_int_eq(tf_parse(context, "a.tir", scale, strlen(scale), &parse, &made), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(made);
}
END_TEST

/* Without options: what their INIT says. */
START_TEST(defaults) {
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_object_options object = TF_OBJECT_OPTIONS_INIT;
  const char *a, *b;
  const void *x, *y;
  size_t m, n;
  ck_assert_int_eq(tf_verify(module, NULL), TF_OK);
  ck_assert_int_eq(tf_emit_ptx(module, NULL, &a), TF_OK);
  ck_assert_int_eq(tf_emit_ptx(module, &lower, &b), TF_OK);
  ck_assert_str_eq(a, b);
  ck_assert_int_eq(tf_emit_header(module, NULL, NULL, &a), TF_OK);
  ck_assert_int_eq(tf_emit_header(module, &lower, &object, &b), TF_OK);
  ck_assert_str_eq(a, b);
  ck_assert_int_eq(tf_emit_object(module, NULL, NULL, &x, &m), TF_OK);
  ck_assert_int_eq(tf_emit_object(module, &lower, &object, &y, &n), TF_OK);
  ck_assert(m == n && memcmp(x, y, n) == 0);
}
END_TEST

/* ---- Options of other versions ---- */

/* What a struct of `size` bytes says that begins with this library's, and behind it zeros but for one byte of `tail`. */
static tf_status emit_sized(size_t size, unsigned char tail) {
  union {
    tf_lower_options options;
    unsigned char bytes[4 * sizeof(tf_lower_options)];
  } given = {.options = TF_LOWER_OPTIONS_INIT};
  const char *text = NULL;
  given.options.size = size;
  given.bytes[sizeof given.options + 9] = tail;
  tf_status status = tf_emit_ptx(module, &given.options, &text);
  ck_assert((text != NULL) == (status == TF_OK));
  return status;
}

START_TEST(versions) {
  for (size_t size = sizeof(size_t); size <= sizeof(tf_lower_options) + 32; size += sizeof(size_t))
    ck_assert_msg(emit_sized(size, 0) == TF_OK, "%zu", size);
  ck_assert_int_eq(emit_sized(sizeof(tf_lower_options) + 8, 1), TF_OK); /* it lies behind the end */
  ck_assert_int_eq(emit_sized(sizeof(tf_lower_options) + 16, 1), TF_INVALID_ARGUMENT);
  static const size_t none[] = {0, 4, 12, sizeof(tf_lower_options) - 1, (size_t)1 << 20, SIZE_MAX, SIZE_MAX - 7};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    ck_assert_msg(emit_sized(none[i], 0) == TF_INVALID_ARGUMENT, "%zu", none[i]);
}
END_TEST

/* An older program's fields count, and what it lacks has its default: the optimizer runs. */
START_TEST(older_program) {
  tf_lower_options old = TF_LOWER_OPTIONS_INIT, new = TF_LOWER_OPTIONS_INIT;
  const char *a, *b;
  old.size = offsetof(tf_lower_options, entry);
  old.target = new.target = tf_target_get(context, "sm_90");
  old.opt_level = 0; /* behind its end */
  ck_assert_int_eq(tf_emit_ptx(module, &old, &a), TF_OK);
  ck_assert_int_eq(tf_emit_ptx(module, &new, &b), TF_OK);
  ck_assert_str_eq(a, b);
  ck_assert_ptr_nonnull(strstr(a, ".target sm_90"));
}
END_TEST

/* ---- LLVM modules ---- */

static const char *last_message(void) {
  size_t count = tf_context_diagnostic_count(context);
  return count ? tf_context_diagnostic(context, count - 1)->message : "";
}

/* LOWER_MODULE: the module is as it was. */
START_TEST(other_targets) {
  static const char *const texts[][2] = {
      {"target triple = \"x86_64-pc-linux-gnu\"\n", "the target triple of the LLVM module is 'x86_64-pc-linux-gnu'"},
      {"target triple = \"nvptx-nvidia-cuda\"\n", "need 'nvptx64-nvidia-cuda'"},
      {"target datalayout = \"e-p:32:32\"\n", "the data layout of the LLVM module is 'e-p:32:32'"},
      {"target datalayout = \"e-p:32:32\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n", "kernels for sm_80 need 'e-"},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    LLVMModuleRef ir = read_ir(texts[i][0]);
    char *before = LLVMPrintModuleToString(ir);
    ck_assert_int_eq(tf_lower_to_llvm(module, NULL, llvm, ir), TF_INVALID_ARGUMENT);
    char *after = LLVMPrintModuleToString(ir);
    ck_assert_str_eq(before, after);
    ck_assert_msg(strstr(last_message(), texts[i][1]) != NULL, "%s", last_message());
    LLVMDisposeMessage(before);
    LLVMDisposeMessage(after);
    LLVMDisposeModule(ir);
  }
}
END_TEST

static void ck_valid(LLVMModuleRef ir) {
  char *message = NULL;
  ck_assert_msg(!LLVMVerifyModule(ir, LLVMReturnStatusAction, &message), "%s", message);
  LLVMDisposeMessage(message);
}

/* Triple and layout that were set before are fine, and are there afterwards either way. */
START_TEST(same_target) {
  LLVMModuleRef empty = read_ir("");
  ck_assert_int_eq(tf_lower_to_llvm(module, NULL, llvm, empty), TF_OK);
  ck_assert_str_eq(LLVMGetTarget(empty), "nvptx64-nvidia-cuda");
  LLVMModuleRef set = read_ir("target triple = \"nvptx64-nvidia-cuda\"\n");
  LLVMSetDataLayout(set, LLVMGetDataLayoutStr(empty));
  ck_assert_int_eq(tf_lower_to_llvm(module, NULL, llvm, set), TF_OK);
  ck_assert_str_eq(LLVMGetDataLayoutStr(set), LLVMGetDataLayoutStr(empty));
  ck_valid(set);
  LLVMDisposeModule(set);
  LLVMDisposeModule(empty);
}
END_TEST

/* LOWER_NAME: nothing is renamed behind the caller's back. */
START_TEST(taken_names) {
  static const char *const texts[] = {"define void @scale() {\n  ret void\n}\n", "@scale = global i32 0\n",
                                      "declare void @scale(i32)\n",
                                      "define void @f() {\n  ret void\n}\n@scale = alias void (), ptr @f\n",
                                      "define ptx_kernel void @scale" SCALE_TYPE " {\n  ret void\n}\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    LLVMModuleRef ir = read_ir(texts[i]);
    ck_assert_msg(tf_lower_to_llvm(module, NULL, llvm, ir) == TF_UNSUPPORTED, "%s", texts[i]);
    ck_assert_str_eq(last_message(), "the LLVM module has something named 'scale' already, which is no declaration of "
                                     "a function of type void " SCALE_TYPE);
    LLVMDisposeModule(ir);
  }
}
END_TEST

/* A declaration becomes the kernel, and what refers to it does then. */
START_TEST(declared_kernels) {
  LLVMModuleRef ir = read_ir("declare ptx_kernel void @scale" SCALE_TYPE "\n@table = global ptr @scale\n");
  LLVMValueRef declared = LLVMGetNamedFunction(ir, "scale");
  ck_assert_int_eq(tf_lower_to_llvm(module, NULL, llvm, ir), TF_OK);
  ck_assert_ptr_eq(LLVMGetNamedFunction(ir, "scale"), declared);
  ck_assert(!LLVMIsDeclaration(declared));
  ck_assert_ptr_eq(LLVMGetInitializer(LLVMGetNamedGlobal(ir, "table")), declared);
  ck_valid(ir);
  LLVMDisposeModule(ir);
}
END_TEST

/* One LLVM context for modules of several contexts of ours, linked to one; they outlive those. */
START_TEST(one_llvm_context) {
  static const char *const names[] = {"one", "two", "three"};
  LLVMModuleRef all = read_ir("");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tf_context *mine;
    const tf_module *parsed;
    char text[256];
    LLVMModuleRef ir = LLVMModuleCreateWithNameInContext(names[i], llvm);
    snprintf(text, sizeof text, "@prim_func\ndef %s(x: Tensor[(8,), 'i32']):\n    T.fill(x, %zu)\n", names[i], i);
    ck_assert_int_eq(tf_context_create(&mine), TF_OK);
    ck_assert_int_eq(tf_parse(mine, "a.tir", text, strlen(text), NULL, &parsed), TF_OK);
    ck_assert_int_eq(tf_lower_to_llvm(parsed, NULL, llvm, ir), TF_OK);
    tf_context_destroy(mine);
    ck_assert(!LLVMLinkModules2(all, ir));
  }
  ck_valid(all);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    ck_assert_ptr_nonnull(LLVMGetNamedFunction(all, names[i]));
  LLVMDisposeModule(all);
}
END_TEST

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 3 };

/* Everything that there is, in a context of this thread's own; the last PTX, to be freed. */
static void *work(void *unused) {
  (void)unused;
  char *last = NULL;
  for (int round = 0; round < ROUNDS; round++) {
    tf_context *mine;
    const tf_module *parsed;
    const char *ptx, *header;
    tf_host_code *code;
    unsigned count = 0;
    if (tf_context_create(&mine) != TF_OK) return last;
    bool fine = tf_parse(mine, "scale.tir", scale, strlen(scale), NULL, &parsed) == TF_OK &&
                tf_emit_ptx(parsed, NULL, &ptx) == TF_OK && tf_emit_header(parsed, NULL, NULL, &header) == TF_OK &&
                tf_host_code_create(parsed, NULL, &code) == TF_OK;
    free(last);
    last = fine ? strdup(ptx) : NULL;
    if (fine) fine = tf_host_code_entries(code, &count) && count == 1;
    if (last) tf_host_code_destroy(code);
    tf_context_destroy(mine);
    if (!fine) return NULL;
  }
  return last;
}

START_TEST(threads) {
  pthread_t workers[THREADS];
  char *want = work(NULL);
  ck_assert_ptr_nonnull(want);
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&workers[i], NULL, work, NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    void *got = NULL;
    pthread_join(workers[i], &got);
    ck_assert_ptr_nonnull(got);
    ck_assert_str_eq(got, want);
    free(got);
  }
  free(want);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("interface");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, null_arguments);
  tcase_add_test(tests, null_lists);
  tcase_add_test(tests, defaults);
  tcase_add_test(tests, versions);
  tcase_add_test(tests, older_program);
  tcase_add_test(tests, other_targets);
  tcase_add_test(tests, same_target);
  tcase_add_test(tests, taken_names);
  tcase_add_test(tests, declared_kernels);
  tcase_add_test(tests, one_llvm_context);
  tcase_add_test(tests, threads);
  return run_case("interface", tests);
}
