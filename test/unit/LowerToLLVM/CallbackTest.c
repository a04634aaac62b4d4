/* Intrinsics that callbacks of C lower: the kernels are built here, emitted as PTX, and run on the simulated device; what they
 * leave in memory is known bit by bit.
 *
 *   put(y, v)                       every dtype's scalar as a value, a global address        y[0] = v
 *   relay(x, s, r, y)               addresses of all storages                                x -> s -> r -> y
 *   clip(y, limit)                  blocks of its own, and statements after it               y[0] = min(y[0], limit) */
#include <check.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Intrinsic.h>
#include <tilefoundry/Runtime.h>
#include <tilefoundry/TileFoundry.h>

#include "Harness.h"

/* ---- Callbacks ---- */
static unsigned space_of(LLVMValueRef pointer) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

static tf_status put(void *user, const tf_intrinsic_lowering *at) {
  ck_assert_uint_eq(at->size, sizeof *at);
  ck_assert_uint_eq(at->operand_count, 2);
  ck_assert_str_eq(tf_target_name(at->target), "sm_80");
  ck_assert_uint_eq(space_of(at->operands[0]), 1);
  LLVMTypeRef type = LLVMTypeOf(at->operands[1]);
  LLVMContextRef llvm = LLVMGetModuleContext(at->module);
  LLVMValueRef value = at->operands[1];
  if (type == LLVMInt1TypeInContext(llvm)) value = LLVMBuildZExt(at->builder, value, LLVMInt8TypeInContext(llvm), "");
  LLVMSetAlignment(LLVMBuildStore(at->builder, value, at->operands[0]), 1);
  ++*(int *)user;
  return TF_OK;
}

static tf_status relay(void *user, const tf_intrinsic_lowering *at) {
  static const unsigned spaces[] = {1, 3, 0, 1};
  LLVMTypeRef type = LLVMFloatTypeInContext(LLVMGetModuleContext(at->module));
  (void)user;
  for (unsigned i = 0; i < 4; i++)
    ck_assert_uint_eq(space_of(at->operands[i]), spaces[i]);
  for (unsigned i = 0; i < 3; i++)
    LLVMBuildStore(at->builder, LLVMBuildLoad2(at->builder, type, at->operands[i], ""), at->operands[i + 1]);
  return TF_OK;
}

static tf_status clip(void *user, const tf_intrinsic_lowering *at) {
  LLVMContextRef llvm = LLVMGetModuleContext(at->module);
  LLVMTypeRef type = LLVMFloatTypeInContext(llvm);
  LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(at->builder));
  LLVMBasicBlockRef above = LLVMAppendBasicBlockInContext(llvm, function, ""),
                    after = LLVMAppendBasicBlockInContext(llvm, function, "");
  LLVMValueRef value = LLVMBuildLoad2(at->builder, type, at->operands[0], "");
  LLVMValueRef greater = LLVMBuildFCmp(at->builder, LLVMRealOGT, value, at->operands[1], "");
  (void)user;
  LLVMBuildCondBr(at->builder, greater, above, after);
  LLVMPositionBuilderAtEnd(at->builder, above);
  LLVMBuildStore(at->builder, at->operands[1], at->operands[0]);
  LLVMBuildBr(at->builder, after);
  LLVMPositionBuilderAtEnd(at->builder, after);
  return TF_OK;
}

static tf_status refuse(void *user, const tf_intrinsic_lowering *at) {
  (void)user, (void)at;
  return TF_UNSUPPORTED;
}

static tf_status end_the_block(void *user, const tf_intrinsic_lowering *at) {
  (void)user;
  LLVMBuildUnreachable(at->builder);
  return TF_OK;
}

static tf_status go_astray(void *user, const tf_intrinsic_lowering *at) {
  LLVMContextRef llvm = LLVMGetModuleContext(at->module);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(llvm), NULL, 0, false);
  LLVMValueRef other = LLVMAddFunction(at->module, "elsewhere", type);
  (void)user;
  LLVMPositionBuilderAtEnd(at->builder, LLVMAppendBasicBlockInContext(llvm, other, "entry"));
  return TF_OK;
}

/* ---- Modules ---- */
typedef struct fixture {
  tf_context *context;
  tf_builder *builder;
  int calls;
} fixture;

static void setup(fixture *f) {
  tf_function_options function = TF_FUNCTION_OPTIONS_INIT;
  *f = (fixture){0};
  ck_assert_int_eq(tf_context_create(&f->context), TF_OK);
  ck_assert_int_eq(tf_builder_create(f->context, &f->builder), TF_OK);
  function.target = tf_target_get(f->context, "sm_80");
  function.output_count = 0;
  tf_builder_begin_module(f->builder, NULL, NULL);
  tf_builder_begin_function(f->builder, "k", &function);
}

static void teardown(fixture *f) {
  tf_builder_destroy(f->builder);
  tf_context_destroy(f->context);
}

static void begin_thread(fixture *f) {
  const tf_topology levels[] = {{TF_LEVEL_THREAD, tf_dim_int(f->context, 1)}};
  const tf_layout *one = tf_layout_plain(f->context, tf_tuple_ints(f->context, 1, (const int64_t[]){1}), NULL);
  tf_builder_begin_mesh(f->builder, "m", tf_mesh_get(f->context, 1, levels, one, 0, NULL));
}

static const tf_intrinsic *intrinsic(fixture *f, const char *name, tf_intrinsic_lower_fn lower, unsigned count) {
  static const char *const params[] = {"a", "b", "c", "d"};
  tf_intrinsic_options options = TF_INTRINSIC_OPTIONS_INIT;
  const tf_intrinsic *out = NULL;
  options.name = name;
  options.param_count = count;
  options.params = params;
  options.lower = lower;
  options.user = &f->calls;
  ck_assert_int_eq(tf_intrinsic_create(f->context, &options, &out), TF_OK);
  return out;
}

static const tf_type *vector(fixture *f, tf_dtype dtype, int64_t count, tf_storage storage) {
  const tf_dim *extent = tf_dim_int(f->context, count);
  return tf_type_tensor(f->context, 1, &extent, dtype, NULL, storage);
}

static tf_status emit(fixture *f, const char **ptx, const char **manifest) {
  tf_lower_options options = TF_LOWER_OPTIONS_INIT;
  const tf_module *module = NULL;
  ck_assert_int_eq(tf_builder_finish(f->builder, &module), TF_OK);
  tf_status status = tf_emit_ptx(module, &options, ptx);
  return status == TF_OK ? tf_emit_manifest(module, &options, manifest) : status;
}

/* ---- Running ---- */
typedef struct machine {
  tf_runtime *runtime;
  tf_program *program;
  const tf_entry *entry;
  DLDevice device;
} machine;

static void start(machine *m, const char *ptx, const char *manifest) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  tf_device_info info;
  source.name = "k";
  source.image = ptx;
  source.image_size = strlen(ptx);
  source.manifest = manifest;
  source.manifest_size = strlen(manifest);
  options.sim_checks = "all";
  ck_assert_int_eq(tf_runtime_create(&m->runtime), TF_OK);
  ck_assert_int_eq(tf_device_open(m->runtime, "sim:sm_80", &options), TF_OK);
  ck_assert_int_eq(tf_device_get_info(m->runtime, &info), TF_OK);
  m->device = info.device;
  ck_assert_msg(tf_program_load(m->runtime, &source, &m->program) == TF_OK, "%s", tf_runtime_message(m->runtime));
  ck_assert_int_eq(tf_program_entry(m->program, NULL, &m->entry), TF_OK);
}

static void call(const machine *m, const tf_argument *arguments, unsigned count) {
  tf_status status = tf_entry_call(m->entry, NULL, arguments, count);
  ck_assert_msg(status == TF_OK, "%s", tf_runtime_message(m->runtime));
}

static void stop(machine *m) {
  tf_program_unload(m->program);
  tf_runtime_destroy(m->runtime);
}

static void *place(const machine *m, const void *bytes, size_t size) {
  void *out = NULL;
  ck_assert_int_eq(tf_device_alloc(m->runtime, size, &out), TF_OK);
  if (bytes) ck_assert_int_eq(tf_device_copy_in(m->runtime, out, bytes, size, NULL), TF_OK);
  return out;
}

/* ---- Tests ---- */
static const struct {
  tf_dtype dtype;
  DLDataType type;
  uint64_t bits; /* with the sign bit set where there is one */
} scalars[] = {{TF_DTYPE_F32, {kDLFloat, 32, 1}, 0xc0490fdb},
               {TF_DTYPE_F64, {kDLFloat, 64, 1}, 0xc00921fb54442d18},
               {TF_DTYPE_F16, {kDLFloat, 16, 1}, 0xc248},
               {TF_DTYPE_BF16, {kDLBfloat, 16, 1}, 0xc049},
               {TF_DTYPE_I8, {kDLInt, 8, 1}, 0x85},
               {TF_DTYPE_U8, {kDLUInt, 8, 1}, 0xf1},
               {TF_DTYPE_I16, {kDLInt, 16, 1}, 0x8123},
               {TF_DTYPE_I32, {kDLInt, 32, 1}, 0x87654321},
               {TF_DTYPE_I64, {kDLInt, 64, 1}, 0x876543210fedcba9},
               {TF_DTYPE_U64, {kDLUInt, 64, 1}, 0xfedcba9876543210},
               {TF_DTYPE_BOOL, {TF_DL_BOOL, 8, 1}, 1}};
enum { SCALARS = sizeof scalars / sizeof *scalars };

START_TEST(scalars_of_every_dtype) {
  fixture f;
  machine m;
  const tf_expr *args[SCALARS][2];
  const char *ptx = NULL, *manifest = NULL;
  tf_argument arguments[2 * SCALARS];
  DLTensor tensors[SCALARS];
  int64_t one = 1;
  setup(&f);
  for (int i = 0; i < SCALARS; i++) {
    char name[2][8] = {{'y', (char)('a' + i)}, {'v', (char)('a' + i)}};
    args[i][0] = tf_builder_param(f.builder, name[0], vector(&f, scalars[i].dtype, 1, TF_STORAGE_GMEM), false);
    args[i][1] = tf_builder_param(f.builder, name[1], tf_type_scalar(f.context, scalars[i].dtype), false);
  }
  begin_thread(&f);
  const tf_intrinsic *use = intrinsic(&f, "put", put, 2);
  for (int i = 0; i < SCALARS; i++)
    tf_builder_intrinsic(f.builder, use, 2, args[i]);
  tf_builder_end(f.builder);
  tf_builder_end(f.builder);
  ck_assert_int_eq(emit(&f, &ptx, &manifest), TF_OK);
  ck_assert_int_ge(f.calls, SCALARS);
  start(&m, ptx, manifest);
  for (int i = 0; i < SCALARS; i++) {
    void *data = place(&m, NULL, 8);
    tensors[i] = (DLTensor){.data = data, .device = m.device, .ndim = 1, .dtype = scalars[i].type, .shape = &one};
    arguments[2 * i] = (tf_argument){TF_ARGUMENT_TENSOR, {.tensor = &tensors[i]}};
    arguments[2 * i + 1] = (tf_argument){TF_ARGUMENT_BITS, {.u = scalars[i].bits}};
  }
  call(&m, arguments, 2 * SCALARS);
  for (int i = 0; i < SCALARS; i++) {
    uint64_t got = 0;
    ck_assert_int_eq(tf_device_copy_out(m.runtime, &got, tensors[i].data, scalars[i].type.bits / 8, NULL), TF_OK);
    ck_assert_msg(got == scalars[i].bits, "%s: %llx", tf_dtype_name(scalars[i].dtype), (unsigned long long)got);
    tf_device_free(m.runtime, tensors[i].data);
  }
  stop(&m);
  teardown(&f);
}
END_TEST

START_TEST(addresses_and_blocks) {
  fixture f;
  machine m;
  const char *ptx = NULL, *manifest = NULL;
  const float x[2] = {3.25f, -7.5f};
  float y[3] = {0, 0, 100};
  int64_t two = 2, three = 3;
  setup(&f);
  const tf_expr *px = tf_builder_param(f.builder, "x", vector(&f, TF_DTYPE_F32, 2, TF_STORAGE_GMEM), false);
  const tf_expr *py = tf_builder_param(f.builder, "y", vector(&f, TF_DTYPE_F32, 3, TF_STORAGE_GMEM), false);
  begin_thread(&f);
  const tf_expr *s = tf_build_ALLOC_TENSOR(
      f.builder, "s", &(tf_args_ALLOC_TENSOR){.tensor_type = vector(&f, TF_DTYPE_F32, 1, TF_STORAGE_SMEM)});
  const tf_expr *r = tf_build_ALLOC_TENSOR(
      f.builder, "r", &(tf_args_ALLOC_TENSOR){.tensor_type = vector(&f, TF_DTYPE_F32, 1, TF_STORAGE_RMEM)});
  const tf_expr *element[2];
  for (int i = 0; i < 2; i++) {
    const tf_expr *starts[] = {tf_builder_int(f.builder, TF_DTYPE_I64, i + 1)};
    element[i] =
        tf_build_TENSOR_VIEW(f.builder, i ? "last" : "middle",
                             &(tf_args_TENSOR_VIEW){.memory = py,
                                                    .starts_count = 1,
                                                    .starts = starts,
                                                    .shape = tf_tuple_ints(f.context, 1, (const int64_t[]){1})});
  }
  tf_builder_intrinsic(f.builder, intrinsic(&f, "relay", relay, 4), 4, (const tf_expr *[]){px, s, r, element[0]});
  const tf_intrinsic *cut = intrinsic(&f, "clip", clip, 2);
  tf_builder_intrinsic(f.builder, cut, 2,
                       (const tf_expr *[]){element[0], tf_builder_float(f.builder, TF_DTYPE_F32, 5.0)});
  tf_builder_intrinsic(f.builder, cut, 2,
                       (const tf_expr *[]){element[1], tf_builder_float(f.builder, TF_DTYPE_F32, 42.5)});
  tf_builder_end(f.builder);
  tf_builder_end(f.builder);
  ck_assert_int_eq(emit(&f, &ptx, &manifest), TF_OK);
  start(&m, ptx, manifest);
  DLTensor tx = {
      .data = place(&m, x, sizeof x), .device = m.device, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = &two};
  DLTensor ty = {
      .data = place(&m, y, sizeof y), .device = m.device, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = &three};
  call(&m, (tf_argument[]){{TF_ARGUMENT_TENSOR, {.tensor = &tx}}, {TF_ARGUMENT_TENSOR, {.tensor = &ty}}}, 2);
  ck_assert_int_eq(tf_device_copy_out(m.runtime, y, ty.data, sizeof y, NULL), TF_OK);
  ck_assert_float_eq(y[0], 0);
  ck_assert_float_eq(y[1], 3.25f);
  ck_assert_float_eq(y[2], 42.5f);
  tf_device_free(m.runtime, tx.data);
  tf_device_free(m.runtime, ty.data);
  stop(&m);
  teardown(&f);
}
END_TEST

/* LOWER_CALLBACK, LOWER_CALLBACK_PLACE */
START_TEST(refusals) {
  static const struct {
    tf_intrinsic_lower_fn lower;
    tf_diag_id id;
    const char *text;
  } cases[] = {{refuse, TF_DIAG_LOWER_CALLBACK, "'odd' has no code for sm_80"},
               {end_the_block, TF_DIAG_LOWER_CALLBACK_PLACE, "'odd' left the builder"},
               {go_astray, TF_DIAG_LOWER_CALLBACK_PLACE, "in another function"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    const char *ptx = NULL, *manifest = NULL;
    setup(&f);
    begin_thread(&f);
    tf_builder_intrinsic(f.builder, intrinsic(&f, "odd", cases[i].lower, 0), 0, NULL);
    tf_builder_end(f.builder);
    tf_builder_end(f.builder);
    ck_assert_int_eq(emit(&f, &ptx, &manifest), TF_UNSUPPORTED);
    ck_assert_ptr_null(ptx);
    ck_assert_uint_eq(tf_context_diagnostic_count(f.context), 1);
    const tf_diagnostic *diagnostic = tf_context_diagnostic(f.context, 0);
    ck_assert_int_eq(diagnostic->id, cases[i].id);
    ck_assert_msg(strstr(diagnostic->message, cases[i].text) != NULL, "%s", diagnostic->message);
    teardown(&f);
  }
}
END_TEST

/* ---- From text ---- */
#define KERNEL                                                                                                         \
  "@prim_func(target=CudaTarget('sm_80'), output_count=0)\n"                                                           \
  "def k(y: Tensor[(1,), 'f32']) -> None:\n"                                                                           \
  "    with Mesh((Topology('thread', 1),), Layout(shape=(1,)), ('t',)) as m:\n"                                        \
  "        %s(y, 2.75)\n"
#define DECLARATION(name, params) "@intrinsic\ndef " name "(" params ") -> None:\n    pass\n\n"

static tf_status parse(fixture *f, const char *text, size_t count, const tf_intrinsic *const *given,
                       const tf_module **module) {
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  options.intrinsic_count = count;
  options.intrinsics = given;
  return tf_parse(f->context, "k.tir", text, strlen(text), &options, module);
}

/* What the kernel of the module writes to y[0]. */
static float result_of(const tf_module *module) {
  machine m;
  tf_lower_options options = TF_LOWER_OPTIONS_INIT;
  const char *ptx = NULL, *manifest = NULL;
  float y = -1;
  int64_t one = 1;
  ck_assert_int_eq(tf_emit_ptx(module, &options, &ptx), TF_OK);
  ck_assert_int_eq(tf_emit_manifest(module, &options, &manifest), TF_OK);
  start(&m, ptx, manifest);
  DLTensor t = {
      .data = place(&m, &y, sizeof y), .device = m.device, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = &one};
  call(&m, (tf_argument[]){{TF_ARGUMENT_TENSOR, {.tensor = &t}}}, 1);
  ck_assert_int_eq(tf_device_copy_out(m.runtime, &y, t.data, sizeof y, NULL), TF_OK);
  tf_device_free(m.runtime, t.data);
  stop(&m);
  return y;
}

/* The text calls what it was given, without a declaration and with one, and so does what it prints as. */
START_TEST(calls_from_text) {
  char plain[512], declared[512];
  fixture f;
  setup(&f);
  const tf_intrinsic *given[] = {intrinsic(&f, "relay", relay, 4), intrinsic(&f, "put", put, 2)};
  const tf_module *modules[3] = {0};
  const char *printed[2] = {0};
  snprintf(plain, sizeof plain, KERNEL, "put");
  snprintf(declared, sizeof declared, DECLARATION("put", "a: Expr, b: Expr") KERNEL, "put");
  ck_assert_int_eq(parse(&f, plain, 2, given, &modules[0]), TF_OK);
  ck_assert_int_eq(parse(&f, declared, 2, given, &modules[1]), TF_OK);
  ck_assert_int_eq(tf_print(modules[0], &printed[0]), TF_OK);
  ck_assert_int_eq(tf_print(modules[1], &printed[1]), TF_OK);
  ck_assert_str_eq(printed[0], printed[1]);
  ck_assert_ptr_nonnull(strstr(printed[0], "def put(a: Expr, b: Expr)"));
  ck_assert_ptr_null(strstr(printed[0], "relay"));
  ck_assert_int_eq(parse(&f, printed[0], 2, given, &modules[2]), TF_OK);
  for (int i = 0; i < 3; i++) {
    f.calls = 0;
    ck_assert_float_eq(result_of(modules[i]), 2.75f);
    ck_assert_int_ge(f.calls, 1);
  }
  teardown(&f);
}
END_TEST

START_TEST(refusals_of_text) {
  static const struct {
    const char *text, *message;
  } cases[] = {{DECLARATION("put", "a: Expr, c: Expr"), "intrinsic 'put': the parser was given one of this name"},
               {"@intrinsic(ptx='trap;')\ndef put(a: Expr, b: Expr) -> None:\n    pass\n\n", "declared in other words"},
               {"@prim_func(target=CudaTarget('sm_80'))\ndef put() -> None:\n    return\n\n", "a function has it"}};
  char text[1024];
  fixture f;
  const tf_module *module = NULL;
  setup(&f);
  const tf_intrinsic *put_it = intrinsic(&f, "put", put, 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(text, sizeof text, "%s" KERNEL, cases[i].text, "put");
    size_t before = tf_context_diagnostic_count(f.context);
    ck_assert_int_eq(parse(&f, text, 1, &put_it, &module), TF_PARSE);
    ck_assert_uint_gt(tf_context_diagnostic_count(f.context), before);
    const char *message = tf_context_diagnostic(f.context, before)->message;
    ck_assert_msg(strstr(message, cases[i].message) != NULL, "%s", message);
  }
  snprintf(text, sizeof text, KERNEL, "put");
  ck_assert_int_eq(parse(&f, text, 0, NULL, &module), TF_PARSE);
  ck_assert_int_eq(parse(&f, text, 2, (const tf_intrinsic *const[]){put_it, put_it}, &module), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(parse(&f, text, 2, (const tf_intrinsic *const[]){put_it, NULL}, &module), TF_INVALID_ARGUMENT);
  fixture other;
  setup(&other);
  ck_assert_int_eq(parse(&other, text, 1, &put_it, &module), TF_INVALID_ARGUMENT);
  teardown(&other);
  teardown(&f);
  ck_assert_ptr_null(module);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("callback");
  tcase_add_test(tests, scalars_of_every_dtype);
  tcase_add_test(tests, addresses_and_blocks);
  tcase_add_test(tests, refusals);
  tcase_add_test(tests, calls_from_text);
  tcase_add_test(tests, refusals_of_text);
  return run_case("callback", tests);
}
