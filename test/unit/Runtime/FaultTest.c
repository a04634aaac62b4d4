/* Failures below the runtime: every driver call of a whole life fails in turn, the message names it, nothing leaks and
 * the first error stays; faults of running kernels; refused modules; contexts. */
#include "Fixture.h"
#include "Harness.h"

static test_tensor x, y;

/* ---- Each call in turn ------------------------------------------------------------------------------------------- */

/* A call that is prepared and run twice; its output is made. */
static tf_status prepared_life(tf_stream stream, DLTensor *output) {
  tf_prepared_call *call = NULL;
  const tf_entry *entry = NULL;
  void *other = (void *)(uintptr_t)0x300000;
  tensor_at(&x, 0x100000, kDLFloat, 32, 2, 3, 512);
  tf_argument arguments[] = {of_tensor(&x), {.kind = TF_ARGUMENT_OUTPUT, .value.output = output}};
  tf_status status = tf_program_entry(program, "half", &entry);
  if (status == TF_OK) status = tf_entry_prepare(entry, arguments, 2, &call);
  if (status == TF_OK) status = tf_prepared_call_run(call, stream);
  if (status == TF_OK) status = tf_prepared_call_set_pointers(call, 1, &(unsigned){0}, &other);
  if (status == TF_OK) status = tf_prepared_call_run(call, stream);
  tf_prepared_call_destroy(call);
  return status;
}

/* Everything that the runtime can ask of a driver, in one life. Stops at the first failure. */
static tf_status whole_life(void) {
  tf_driver table = fake_table();
  tf_status status = tf_device_attach(rt, &table, 0);
  char *text = input_text("everything.json");
  if (status == TF_OK) status = load_text(text, &program);
  free(text);
  void *memory = NULL;
  tf_stream stream = NULL;
  char bytes[16] = {0};
  tf_kernel *bare = NULL;
  tf_launch_config config = {.size = sizeof config, .grid = {1, 1, 1}, .block = {32, 4, 1}};
  uint64_t zero = 0;
  void *params[] = {&zero, &zero, &zero, &zero, &zero, &zero};
  if (status == TF_OK) status = tf_stream_create(rt, &stream);
  if (status == TF_OK) status = tf_device_alloc(rt, 16, &memory);
  if (status == TF_OK) status = tf_device_poison(rt, memory, 16);
  if (status == TF_OK) status = tf_device_copy_in(rt, memory, bytes, 16, stream);
  if (status == TF_OK) status = tf_program_kernel(program, "bare", &bare);
  if (status == TF_OK) status = tf_kernel_launch_raw(bare, &config, params);
  config.dynamic_smem = 100000;
  config.cooperative = true;
  if (status == TF_OK) status = tf_kernel_launch_raw(bare, &config, params);
  config.programmatic_stream_serialization = true;
  rt->info.compute = 90;
  if (status == TF_OK) status = tf_kernel_launch_raw(bare, &config, params);
  test_tensor m;
  tensor_at(&m, 0, kDLBfloat, 16, 2, 0, 0);
  tf_argument arguments[] = {of_tensor(&m), of_int(9), of_int(1)};
  config = (tf_launch_config){.size = sizeof config, .grid = {2, 1, 1}, .block = {32, 4, 1}};
  tf_kernel *wide = NULL;
  if (status == TF_OK) status = tf_program_kernel(program, "wide", &wide);
  rt->info.cluster_launch = true;
  if (status == TF_OK) status = tf_kernel_launch(wide, &config, arguments, 3);
  fake.capturing = 1;
  if (status == TF_OK) status = tf_kernel_launch(wide, &config, arguments, 3);
  fake.capturing = 0;
  DLTensor output = {0};
  if (status == TF_OK) status = prepared_life(stream, &output);
  if (status == TF_OK) status = tf_stream_synchronize(rt, stream);
  if (status == TF_OK) status = tf_device_copy_out(rt, bytes, memory, 16, stream);
  /* Given back whatever happened; a failure of these is told too, and the second try succeeds. */
  long live = fake.live_memory;
  tf_status freed = memory ? tf_device_free(rt, memory) : TF_OK;
  if (freed != TF_OK && fake.live_memory == live) ck_assert_int_eq(tf_device_free(rt, memory), TF_OK);
  void *made = output.data;
  live = fake.live_memory;
  tf_status given_back = tf_tensor_free(rt, &output);
  if (given_back != TF_OK && fake.live_memory == live) ck_assert_int_eq(tf_device_free(rt, made), TF_OK);
  tf_status destroyed = stream ? tf_stream_destroy(rt, stream) : TF_OK;
  if (destroyed != TF_OK && fake.live_streams) ck_assert_int_eq(tf_stream_destroy(rt, stream), TF_OK);
  if (status == TF_OK) status = freed != TF_OK ? freed : given_back != TF_OK ? given_back : destroyed;
  return status;
}

static void expect_clean(void) {
  tf_program_unload(program);
  program = NULL;
  tf_runtime_destroy(rt);
  rt = NULL;
  /* A context that could not be popped is the one thing that stays. */
  bool pop = fake.failed && strcmp(fake.failed, "cuCtxPopCurrent") == 0;
  ck_assert_int_eq(fake_current() != NULL, pop);
  fake_set_current(NULL);
}

START_TEST(every_call_fails_in_turn) {
  unsigned long n = 1, total = 0;
  for (;; n++) {
    fake_reset();
    fake_set_current(NULL);
    fake.fail_at = n;
    fake.fail_result = CUDA_ERROR_UNKNOWN;
    ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
    tf_status status = whole_life();
    const char *failed = fake.failed;
    if (!failed) {
      ck_assert_msg(status == TF_OK, "%s", tf_runtime_message(rt));
      total = fake.calls;
      fake.fail_at = 0;
      expect_clean();
      break;
    }
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s: unknown error (CUDA_ERROR_UNKNOWN)", failed);
    bool load = strcmp(failed, "cuModuleLoadDataEx") == 0;
    if (load)
      snprintf(wanted, sizeof wanted,
               "t.ptx: the device fake 0 refused the module: unknown error (CUDA_ERROR_UNKNOWN)");
    ck_assert_msg(status == TF_DRIVER, "call %lu, %s: status %d", n, failed, status);
    ck_message(wanted);
    bool release = strcmp(failed, "cuMemFreeAsync") == 0; /* nobody can free these once more */
    expect_clean();
    ck_assert_int_eq(fake.live_modules, 0);
    ck_assert_int_eq(fake.closed, 1);
    if (!release) ck_assert_int_eq(fake.live_memory, 0);
    ck_assert_int_eq(fake.live_streams, 0);
    ck_assert_int_eq(fake.retained, 0);
  }
  ck_assert_uint_gt(total, 60);
  fake_reset();
}
END_TEST

START_TEST(unload_failure_is_told) {
  setup();
  fake.fail_result = CUDA_ERROR_UNKNOWN;
  fake.fail_at = fake.calls + 4; /* getCurrent, push, exchange, unload */
  tf_program_unload(program);
  program = NULL;
  ck_assert_str_eq(fake.failed, "cuModuleUnload");
  ck_message("cuModuleUnload: unknown error (CUDA_ERROR_UNKNOWN)");
  tf_runtime_destroy(rt);
  ck_assert_ptr_null(fake_current());
  fake_reset();
}
END_TEST

START_TEST(missing_function_is_named) {
  fake_reset();
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
  tf_driver table = fake_table();
  table.cuMemAlloc = NULL;
  tf_driver_fill_missing(&table);
  ck_assert_int_eq(tf_device_attach(rt, &table, -1), TF_OK);
  void *memory = (void *)7;
  ck_assert_int_eq(tf_device_alloc(rt, 16, &memory), TF_UNSUPPORTED);
  ck_message("the CUDA driver has no function cuMemAlloc; a newer driver is needed");
  ck_assert_ptr_eq(memory, (void *)7);
  tf_runtime_destroy(rt);
}
END_TEST

/* ---- Kernels that fail ------------------------------------------------------------------------------------------- */

static void launch_half(tf_stream stream) {
  tensor_at(&x, 0x10000, kDLFloat, 32, 2, 3, 512);
  tensor_at(&y, 0x20000, kDLFloat, 32, 2, 3, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y)};
  ck_assert_msg(tf_entry_call(entry_of("half"), stream, arguments, 2) == TF_OK, "%s", tf_runtime_message(rt));
}

START_TEST(trap_lists_the_abort_sites) {
  launch_half(NULL);
  launch_half(NULL);
  fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
  ck_assert_int_eq(tf_stream_synchronize(rt, NULL), TF_TRAP);
  ck_message("a kernel failed: a kernel failed with an unspecified error (CUDA_ERROR_LAUNCH_FAILED), seen by "
             "cuStreamSynchronize; launched and not known to have ended: 'scale'\n"
             "  scale may stop at e.tir:12: abort: negative length\n"
             "  scale may stop at integer division by zero");
}
END_TEST

START_TEST(trap_of_the_simulator_gets_its_message) {
  launch_half(NULL);
  fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
  fake.fault = TF_TRAP;
  fake.account = "trap\n  at PTX line 44 (src/e.tir:12) by thread (0,0,0)";
  ck_assert_int_eq(tf_stream_synchronize(rt, NULL), TF_TRAP);
  ck_message("trap\n  at PTX line 44 (src/e.tir:12) by thread (0,0,0)\n  e.tir:12: abort: negative length");
  tf_runtime_clear_error(rt);
  fake.fault = TF_TRAP;
  fake.account = "trap\n  at PTX line 44 (src/e.tir:11) by thread (0,0,0)";
  ck_assert_int_eq(tf_stream_synchronize(rt, NULL), TF_TRAP);
  ck_message("trap\n  at PTX line 44 (src/e.tir:11) by thread (0,0,0)");
}
END_TEST

START_TEST(refused_launch_is_not_blamed) {
  tensor_at(&x, 0x10000, kDLFloat, 32, 2, 3, 512);
  tensor_at(&y, 0x20000, kDLFloat, 32, 2, 3, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y)};
  fake.sticky = CUDA_ERROR_INVALID_VALUE;
  ck_assert_int_eq(tf_entry_call(entry_of("half"), NULL, arguments, 2), TF_DRIVER);
  tf_runtime_clear_error(rt);
  fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  ck_assert_int_eq(tf_stream_synchronize(rt, NULL), TF_DRIVER);
  ck_assert_ptr_null(strstr(tf_runtime_message(rt), "scale"));
}
END_TEST

START_TEST(fault_is_told_by_the_next_call) {
  launch_half(NULL);
  fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y)};
  ck_assert_int_eq(tf_entry_call(entry_of("half"), NULL, arguments, 2), TF_DRIVER);
  ck_message(
      "a kernel failed: a kernel accessed an illegal address (CUDA_ERROR_ILLEGAL_ADDRESS), seen by cuLaunchKernel; "
      "launched and not known to have ended: 'scale'");
  fake.sticky = CUDA_SUCCESS; /* the runtime is usable where the driver is */
  tf_runtime_clear_error(rt);
  launch_half(NULL);
}
END_TEST

START_TEST(finished_launches_are_not_blamed) {
  launch_half(fake_stream(1));
  launch_half(fake_stream(2));
  ck_assert_int_eq(tf_stream_synchronize(rt, fake_stream(1)), TF_OK);
  ck_assert_int_eq(tf_stream_synchronize(rt, fake_stream(2)), TF_OK);
  fake.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  ck_assert_int_eq(tf_stream_synchronize(rt, fake_stream(2)), TF_DRIVER);
  ck_assert_ptr_null(strstr(tf_runtime_message(rt), "scale"));
}
END_TEST

START_TEST(the_simulator_tells_more) {
  const tf_status told[] = {TF_TRAP, TF_CHECKER, TF_DRIVER};
  for (int i = 0; i < 3; i++) {
    fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
    fake.fault = told[i];
    ck_assert_int_eq(tf_stream_synchronize(rt, NULL), told[i]);
    ck_message("the fake's account");
    tf_runtime_clear_error(rt);
  }
}
END_TEST

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

START_TEST(refused_module_shows_the_line) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = "bad.ptx";
  source.image = ".version 7.0\n.file 1 \"a.tir\"\n.file 2 \"lib/b.tir\"\n.loc 1 4 1\n.local .b8 x;\n.loc 2 17 "
                 "3\n\tadd.s99 %r1;\nret;\n";
  source.image_size = strlen(source.image);
  fake.log = "ptxas application ptx input, line 7; error   : Unknown modifier '.s99'\n";
  tf_program *p = NULL;
  ck_assert_int_eq(tf_program_load(rt, &source, &p), TF_DRIVER);
  ck_message("bad.ptx: the device fake 0 refused the module: PTX compilation failed (CUDA_ERROR_INVALID_PTX): ptxas "
             "application ptx input, line 7; error   : Unknown modifier '.s99'\n"
             "  PTX line 7: add.s99 %r1;\n"
             "  from lib/b.tir:17");
  ck_assert_ptr_null(p);
  ck_assert_int_eq(fake.live_modules, 1);
}
END_TEST

/* The other log, if there are no errors in it; the versions, if they are the reason. */
START_TEST(refused_module_without_errors) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = ".version 8.7\n.target sm_80\n";
  source.image_size = strlen(source.image);
  tf_program *p = NULL;
  fake.info_log = "info: line 2 is strange\n";
  ck_assert_int_eq(tf_program_load(rt, &source, &p), TF_DRIVER);
  ck_message("<program>: the device fake 0 refused the module: PTX compilation failed (CUDA_ERROR_INVALID_PTX): info: "
             "line 2 is strange\n"
             "  PTX line 2: .target sm_80");
  tf_runtime_clear_error(rt);
  fake.info_log = "";
  fake.load_result = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  ck_assert_int_eq(tf_program_load(rt, &source, &p), TF_DRIVER);
  const char *versions = strchr(tf_runtime_message(rt), '\n');
  ck_assert_str_eq(versions, "\n  the PTX is of version 8.7, the driver of CUDA 12.8: a newer driver, or ptxas or "
                             "nvJitLink of a newer toolkit, would read it");
  ck_assert_ptr_null(p);
  tf_runtime_clear_error(rt);
  fake.load_result = CUDA_ERROR_ILLEGAL_ADDRESS; /* of a kernel before */
  ck_assert_int_eq(tf_program_load(rt, &source, &p), TF_DRIVER);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "a kernel failed: "));
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "seen by cuModuleLoadDataEx"));
}
END_TEST

START_TEST(log_without_places) {
  char text[256];
  tf_jit_explain("", "ret;\n", text, sizeof text);
  ck_assert_str_eq(text, "");
  tf_jit_explain("no line here\n", "ret;\n", text, sizeof text);
  ck_assert_str_eq(text, ": no line here");
  tf_jit_explain("line 99: gone", "ret;\n", text, sizeof text);
  ck_assert_str_eq(text, ": line 99: gone");
  tf_jit_explain("line 1: cubin", NULL, text, sizeof text);
  ck_assert_str_eq(text, ": line 1: cubin");
  tf_jit_explain("line 1: x", "  ret;\n", text, sizeof text);
  ck_assert_str_eq(text, ": line 1: x\n  PTX line 1: ret;");
  tf_jit_explain("line 1: x", "  ret;\n", text, 12);
  ck_assert_str_eq(text, ": line 1: x");
}
END_TEST

START_TEST(kernel_of_the_manifest_is_missing) {
  fake.missing_kernel = "wide_1";
  char *text = input_text("everything.json");
  tf_program *p = NULL;
  ck_assert_int_eq(load_text(text, &p), TF_INVALID_ARGUMENT);
  ck_message("t.ptx: the module has no kernel 'wide_1'");
  free(text);
  ck_assert_int_eq(fake.live_modules, 1);
  tf_kernel *k = NULL;
  tf_runtime_clear_error(rt);
  fake.missing_kernel = "none";
  ck_assert_int_eq(tf_program_kernel(program, "none", &k), TF_INVALID_ARGUMENT);
  ck_message("t.ptx: the module has no kernel 'none'");
}
END_TEST

START_TEST(bad_sources) {
  tf_program *p = NULL;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  ck_assert_int_eq(tf_program_load(rt, &source, &p), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_program_load(rt, NULL, &p), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_program_load(NULL, &source, &p), TF_INVALID_ARGUMENT);
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(load_text("{", &p), TF_PARSE);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "t.ptx manifest:1:"));
  ck_assert_ptr_null(p);
}
END_TEST

START_TEST(thousand_loads) {
  char *text = input_text("everything.json");
  for (int i = 0; i < 1000; i++) {
    tf_program *p = NULL;
    tf_kernel *k = NULL;
    ck_assert_int_eq(load_text(text, &p), TF_OK);
    ck_assert_int_eq(tf_program_kernel(p, "bare", &k), TF_OK);
    tf_program_unload(p);
  }
  free(text);
  ck_assert_int_eq(fake.live_modules, 1);
}
END_TEST

/* ---- Contexts ---------------------------------------------------------------------------------------------------- */

static void attach(int ordinal, tf_status want) {
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
  tf_driver table = fake_table();
  ck_assert_int_eq(tf_device_attach(rt, &table, ordinal), want);
}

START_TEST(callers_context_is_used) {
  fake_reset();
  fake_set_current(fake_context(2));
  attach(-1, TF_OK);
  ck_assert_ptr_eq(rt->context, fake_context(2));
  ck_assert_int_eq(fake.retained, 0);
  tf_runtime_destroy(rt);
  ck_assert_ptr_eq(fake_current(), fake_context(2));
  fake_set_current(NULL);
}
END_TEST

START_TEST(current_context_of_another_device) {
  fake_reset();
  fake.devices = 2;
  fake_set_current(fake_context(1)); /* on device 1 */
  attach(0, TF_OK);
  ck_assert_ptr_eq(rt->context, fake_context(8)); /* the primary one of device 0 */
  ck_assert_int_eq(rt->info.device.device_id, 0);
  void *memory;
  ck_assert_int_eq(tf_device_alloc(rt, 5, &memory), TF_OK);
  ck_assert_ptr_eq(fake_current(), fake_context(1)); /* the caller's is current again */
  ck_assert_int_eq(tf_device_free(rt, memory), TF_OK);
  tf_runtime_destroy(rt);
  ck_assert_int_eq(fake.retained, 0);
  attach(1, TF_OK);
  ck_assert_ptr_eq(rt->context, fake_context(1));
  ck_assert_int_eq(rt->info.device.device_id, 1);
  tf_runtime_destroy(rt);
  attach(-1, TF_OK); /* the current context says which device */
  ck_assert_int_eq(rt->info.device.device_id, 1);
  tf_runtime_destroy(rt);
  fake_set_current(NULL);
}
END_TEST

START_TEST(no_device) {
  fake_reset();
  fake.devices = 0;
  attach(-1, TF_DRIVER);
  ck_message("the CUDA driver has no device");
  ck_assert_int_eq(fake.closed, 1);
  void *memory;
  ck_assert_int_eq(tf_device_alloc(rt, 5, &memory), TF_INVALID_ARGUMENT);
  tf_device_info info;
  ck_assert_int_eq(tf_device_get_info(rt, &info), TF_INVALID_ARGUMENT);
  tf_runtime_destroy(rt);
  fake_reset();
  attach(3, TF_DRIVER);
  ck_message("there is no CUDA device 3; the driver has 1");
  tf_runtime_destroy(rt);
}
END_TEST

START_TEST(device_of_an_old_driver) {
  fake_reset();
  fake.clusters = -1; /* an attribute that it does not know */
  attach(-1, TF_OK);
  tf_device_info info;
  ck_assert_int_eq(tf_device_get_info(rt, &info), TF_OK);
  ck_assert(!info.cluster_launch && info.cooperative_launch && info.compute == 80 && info.sm_count == 4);
  ck_assert_str_eq(info.name, "fake 0");
  ck_assert_uint_eq(info.shared_per_block_optin, 166912);
  tf_runtime_destroy(rt);
}
END_TEST

int main(void) {
  TCase *own = tcase_create("own setup");
  tcase_set_timeout(own, 60);
  tcase_add_test(own, every_call_fails_in_turn);
  tcase_add_test(own, unload_failure_is_told);
  tcase_add_test(own, missing_function_is_named);
  tcase_add_test(own, callers_context_is_used);
  tcase_add_test(own, current_context_of_another_device);
  tcase_add_test(own, no_device);
  tcase_add_test(own, device_of_an_old_driver);
  TCase *c = tcase_create("faults");
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, trap_lists_the_abort_sites);
  tcase_add_test(c, trap_of_the_simulator_gets_its_message);
  tcase_add_test(c, refused_launch_is_not_blamed);
  tcase_add_test(c, fault_is_told_by_the_next_call);
  tcase_add_test(c, finished_launches_are_not_blamed);
  tcase_add_test(c, the_simulator_tells_more);
  tcase_add_test(c, refused_module_shows_the_line);
  tcase_add_test(c, refused_module_without_errors);
  tcase_add_test(c, log_without_places);
  tcase_add_test(c, kernel_of_the_manifest_is_missing);
  tcase_add_test(c, bad_sources);
  tcase_add_test(c, thousand_loads);
  int failed = run_case("driver faults", own);
  return run_case("runtime faults", c) | failed;
}
