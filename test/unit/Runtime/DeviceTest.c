/* Opening devices by name, and the whole runtime on the simulated one: a program is loaded from PTX, its entry called,
 * results and faults come back. The expectation is plain C. */
#include <pthread.h>

#include "Harness.h"
#include "Inputs.h"

#include "Runtime/RuntimeImpl.h"

static tf_runtime *rt;

static void setup(void) {
  setenv("TF_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
}

static void teardown(void) {
  tf_runtime_destroy(rt);
  unsetenv("TF_CUDA_DRIVER");
}

#define ck_message(text) ck_assert_str_eq(tf_runtime_message(rt), text)
#define ck_ok(call)      ck_assert_msg((call) == TF_OK, "%s", tf_runtime_message(rt))

/* ---- Specs ------------------------------------------------------------------------------------------------------- */

static const char *const bad_specs[] = {"",     "gpu",      "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999",
                                        "Auto", "simulator"};

START_TEST(bad_spec) {
  char wanted[128];
  snprintf(wanted, sizeof wanted, "'%s' is no device; there are auto, cuda, cuda:N, sim, sim:sm_N", bad_specs[_i]);
  ck_assert_int_eq(tf_device_open(rt, bad_specs[_i], NULL), TF_INVALID_ARGUMENT);
  ck_message(wanted);
}
END_TEST

START_TEST(bad_calls) {
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.size--;
  ck_assert_int_eq(tf_device_open(rt, "sim", &options), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_device_open(NULL, "sim", NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_device_open(rt, NULL, NULL), TF_INVALID_ARGUMENT);
  tf_runtime_clear_error(rt);
  ck_ok(tf_device_open(rt, "sim", NULL));
  ck_assert_int_eq(tf_device_open(rt, "sim", NULL), TF_INVALID_ARGUMENT);
  ck_message("a device is open already");
}
END_TEST

START_TEST(cuda_never_falls_back) {
  ck_assert_int_eq(tf_device_open(rt, "cuda", NULL), TF_IO);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "/nonexistent/libcuda.so.1"));
}
END_TEST

START_TEST(real_driver) {
  tf_device_info info;
  setenv("TF_CUDA_DRIVER", TF_TEST_FAKE_CUDA, 1);
  ck_ok(tf_device_open(rt, _i ? "auto" : "cuda:0", NULL));
  ck_ok(tf_device_get_info(rt, &info));
  ck_assert_str_eq(info.name, "fake 0");
  ck_assert(!info.simulated && !info.fallback_note && info.compute == 80);
  char *text = NULL;
  ck_assert_int_eq(tf_device_counters(rt, true, &text), TF_UNSUPPORTED);
  ck_message("only the simulated device has counters");
}
END_TEST

START_TEST(auto_falls_back) {
  tf_device_info info;
  ck_ok(tf_device_open(rt, "auto", NULL));
  ck_assert_int_eq(tf_runtime_status(rt), TF_OK);
  ck_message("");
  ck_ok(tf_device_get_info(rt, &info));
  ck_assert(info.simulated && info.compute == 80 && info.device.device_type == kDLCUDA && info.device.device_id == 0);
  ck_assert_ptr_nonnull(strstr(info.fallback_note, "/nonexistent/libcuda.so.1"));
  ck_assert_ptr_nonnull(strstr(info.fallback_note, "using the simulated device"));
}
END_TEST

static const struct {
  const char *spec, *target;
  unsigned compute; /* 0: refused */
} profiles[] = {{"sim", NULL, 80},      {"sim", "sm_75", 75}, {"sim", "sm_87", 89},     {"sim", "sm_90a", 90},
                {"sim", "sm_87a", 0},   {"sim", "sm_999", 0}, {"sim", "compute_80", 0}, {"sim:sm_90", "sm_80", 90},
                {"sim:sm_12", NULL, 0}, {"auto", "sm_90", 90}};

START_TEST(profile) {
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  tf_device_info info;
  options.target = profiles[_i].target;
  tf_status status = tf_device_open(rt, profiles[_i].spec, &options);
  ck_assert_int_eq(status, profiles[_i].compute ? TF_OK : TF_UNSUPPORTED);
  if (!profiles[_i].compute) return;
  ck_ok(tf_device_get_info(rt, &info));
  ck_assert_uint_eq(info.compute, profiles[_i].compute);
  ck_assert_int_eq(info.fallback_note != NULL, strcmp(profiles[_i].spec, "auto") == 0);
}
END_TEST

START_TEST(checkers) {
  static const char *const good[] = {"none", "all", "mem", "race,sync", "mem,init,race,sync"};
  static const char *const bad[] = {"", "memory", "mem,", ",mem", "mem race"};
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_checks = bad[_i];
  ck_assert_int_eq(tf_device_open(rt, "sim", &options), TF_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "is no list of checkers"));
  tf_runtime_clear_error(rt);
  options.sim_checks = good[_i];
  ck_ok(tf_device_open(rt, "sim", &options));
}
END_TEST

/* ---- The simulated device ---------------------------------------------------------------------------------------- */

static tf_program *program;
static float *x, *y; /* device */
enum { ROWS = 37, COUNT = ROWS * 512 };

static void open_sim(const char *checks) {
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_checks = checks;
  options.sim_counters = true;
  ck_ok(tf_device_open(rt, "sim", &options));
  char *ptx = input_text("scale.ptx"), *manifest = input_text("everything.json");
  char *for_80 = replaced(manifest, "\"cluster\": [2, 1, 1]", "\"cluster\": null");
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = "scale.ptx";
  source.image = ptx;
  source.image_size = strlen(ptx);
  source.manifest = for_80;
  source.manifest_size = strlen(for_80);
  ck_ok(tf_program_load(rt, &source, &program));
  free(ptx);
  free(manifest);
  free(for_80);
  void *memory[2];
  for (int i = 0; i < 2; i++)
    ck_ok(tf_device_alloc(rt, COUNT * sizeof(float), &memory[i]));
  x = memory[0];
  y = memory[1];
}

static void close_sim(void) {
  (void)tf_device_free(rt, x);
  (void)tf_device_free(rt, y);
  tf_program_unload(program);
}

static tf_status call_half(int64_t rows) {
  int64_t shape[] = {rows, 512};
  DLTensor p = {.data = x, .device = {kDLCUDA, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape}, q = p;
  q.data = y;
  const tf_argument arguments[] = {{.kind = TF_ARGUMENT_TENSOR, .value.tensor = &p},
                                   {.kind = TF_ARGUMENT_TENSOR, .value.tensor = &q}};
  const tf_entry *entry = NULL;
  ck_ok(tf_program_entry(program, "half", &entry));
  return tf_entry_call(entry, NULL, arguments, 2);
}

START_TEST(entry_on_the_simulator) {
  static float in[COUNT], out[COUNT];
  open_sim("all");
  for (int i = 0; i < COUNT; i++)
    in[i] = (float)((i * 7919) % 4001 - 2000) / 16;
  ck_ok(tf_device_copy_in(rt, x, in, sizeof in, NULL));
  ck_ok(tf_device_poison(rt, y, sizeof out));
  ck_ok(call_half(ROWS));
  ck_ok(tf_stream_synchronize(rt, NULL));
  ck_ok(tf_device_copy_out(rt, out, y, sizeof out, NULL));
  for (int i = 0; i < COUNT; i++)
    ck_assert_msg(out[i] == in[i] * 0.5f, "%d: %g", i, (double)out[i]);
  char *json = NULL, *table = NULL;
  ck_ok(tf_device_counters(rt, true, &json));
  ck_ok(tf_device_counters(rt, false, &table));
  ck_assert(json[0] == '{' && strlen(table) > 0);
  tf_string_free(json);
  tf_string_free(table);
  close_sim();
}
END_TEST

START_TEST(unwritten_input_is_found) {
  open_sim("init");
  ck_ok(tf_device_poison(rt, x, COUNT * sizeof(float)));
  tf_status status = call_half(1);
  if (status == TF_OK) status = tf_stream_synchronize(rt, NULL);
  ck_assert_int_eq(status, TF_CHECKER);
  ck_assert_msg(strstr(tf_runtime_message(rt), "scale") != NULL, "%s", tf_runtime_message(rt));
  close_sim();
}
END_TEST

/* From opening to the result, with the n-th call of the driver made to fail: the status that stopped it. */
static tf_status run_failing(const char *rules) {
  tf_runtime *mine;
  tf_program *loaded = NULL;
  void *memory = NULL;
  float value = 1.5f;
  ck_assert_int_eq(tf_runtime_create(&mine), TF_OK);
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_fail = rules;
  char *ptx = input_text("scale.ptx");
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = ptx;
  source.image_size = strlen(ptx);
  tf_status status = tf_device_open(mine, "sim", &options);
  if (status == TF_OK) status = tf_program_load(mine, &source, &loaded);
  if (status == TF_OK) status = tf_device_alloc(mine, sizeof value, &memory);
  if (status == TF_OK) status = tf_device_copy_in(mine, memory, &value, sizeof value, NULL);
  if (status == TF_OK) status = tf_stream_synchronize(mine, NULL);
  if (status == TF_OK) status = tf_device_copy_out(mine, &value, memory, sizeof value, NULL);
  if (status != TF_OK) ck_assert_msg(strstr(tf_runtime_message(mine), "NOT_PERMITTED"), "%s", tf_runtime_message(mine));
  if (memory) (void)tf_device_free(mine, memory);
  tf_program_unload(loaded);
  tf_runtime_destroy(mine);
  free(ptx);
  return status;
}

/* Every call of the runtime in turn; those past the result (of the cleaning up) change nothing any more. */
START_TEST(calls_that_fail) {
  char rules[64];
  unsigned failed = 0, last = 0;
  for (unsigned n = 1; n < 60; n++) {
    (void)snprintf(rules, sizeof rules, "%u=CUDA_ERROR_NOT_PERMITTED", n);
    if (run_failing(rules) == TF_OK) continue;
    failed++;
    last = n;
  }
  ck_assert_uint_gt(failed, 10);
  ck_assert_uint_lt(last, 58);
  tf_device_options options = TF_DEVICE_OPTIONS_INIT;
  options.sim_fail = "cuMemAlloc:zero";
  ck_assert_int_eq(tf_device_open(rt, "sim", &options), TF_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "'cuMemAlloc:zero'"));
}
END_TEST

static tf_status launch_raw(const char *name, void **params) {
  tf_kernel *kernel = NULL;
  tf_launch_config config = TF_LAUNCH_CONFIG_INIT;
  config.grid[0] = config.grid[1] = config.grid[2] = config.block[0] = config.block[1] = config.block[2] = 1;
  ck_ok(tf_program_kernel(program, name, &kernel));
  tf_status status = tf_kernel_launch_raw(kernel, &config, params);
  return status == TF_OK ? tf_stream_synchronize(rt, NULL) : status;
}

START_TEST(last_element_is_no_fault) {
  open_sim("mem");
  uint64_t bytes = COUNT * sizeof(float) - 4;
  void *params[] = {&x, &bytes};
  float one = 1, zero = 0;
  ck_ok(tf_device_copy_in(rt, (char *)x + bytes, &one, 4, NULL));
  ck_ok(launch_raw("stray", params));
  ck_ok(tf_device_copy_out(rt, &zero, x, 4, NULL));
  ck_assert_float_eq(zero, 1);
  close_sim();
}
END_TEST

/* A fault is the end of a CUDA context: later calls on it fail too, and the first message stays. */
START_TEST(stray_access_is_found) {
  open_sim("mem");
  uint64_t bytes = COUNT * sizeof(float);
  void *params[] = {&x, &bytes};
  ck_assert_int_eq(launch_raw("stray", params), TF_CHECKER);
  char *first = strdup(tf_runtime_message(rt));
  ck_assert_msg(strstr(first, "stray") != NULL, "%s", first);
  ck_assert_int_ne(call_half(1), TF_OK);
  ck_assert_int_eq(tf_runtime_status(rt), TF_CHECKER);
  ck_message(first);
  free(first);
  close_sim();
}
END_TEST

START_TEST(trap_is_told) {
  open_sim("none");
  uint32_t no_rows = 0;
  float a = 1;
  void *params[] = {&x, &a, &y, &no_rows};
  ck_assert_int_eq(launch_raw("scale", params), TF_TRAP);
  ck_assert_msg(strstr(tf_runtime_message(rt), "scale") != NULL, "%s", tf_runtime_message(rt));
  close_sim();
}
END_TEST

START_TEST(refused_module_is_located) {
  open_sim("none");
  tf_program *p = NULL;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.name = "bad.ptx";
  source.image = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  frobnicate.u32 %r1;\n}\n";
  source.image_size = strlen(source.image);
  ck_assert_int_eq(tf_program_load(rt, &source, &p), TF_DRIVER);
  ck_assert_msg(strstr(tf_runtime_message(rt), "PTX line 6: frobnicate.u32 %r1;") != NULL, "%s",
                tf_runtime_message(rt));
  close_sim();
}
END_TEST

START_TEST(two_devices_at_once) {
  tf_runtime *second = NULL;
  void *memory = NULL;
  tf_device_info info;
  open_sim("none");
  ck_assert_int_eq(tf_runtime_create(&second), TF_OK);
  ck_assert_int_eq(tf_device_open(second, "sim:sm_90", NULL), TF_OK);
  ck_assert_int_eq(tf_device_alloc(second, 64, &memory), TF_OK);
  ck_ok(call_half(2));
  ck_ok(tf_stream_synchronize(rt, NULL));
  ck_assert_int_eq(tf_device_get_info(second, &info), TF_OK);
  ck_assert_uint_eq(info.compute, 90);
  ck_assert_int_eq(tf_device_free(second, memory), TF_OK);
  tf_runtime_destroy(second);
  ck_ok(call_half(2));
  ck_ok(tf_stream_synchronize(rt, NULL));
  close_sim();
}
END_TEST

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static tf_status load_ptx(const char *text, tf_program **out) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = text;
  source.image_size = strlen(text);
  return tf_program_load(rt, &source, out);
}

/* A thread's: its own module, stream, memory; y = a * x, or a + x in the other module. */
typedef struct worker {
  const char *ptx;
  bool adds;
} worker;

enum { WORKER_ROWS = 3, WORKER_COUNT = WORKER_ROWS * 512, WORKER_ROUNDS = 12 };

static bool compute(tf_kernel *kernel, tf_stream stream, void *memory[2], bool adds) {
  static _Thread_local float in[WORKER_COUNT], out[WORKER_COUNT];
  float a = adds ? 3.25f : -1.5f;
  unsigned rows = WORKER_ROWS;
  void *params[] = {&memory[0], &a, &memory[1], &rows};
  tf_launch_config config = TF_LAUNCH_CONFIG_INIT;
  memcpy(config.grid, (unsigned[]){WORKER_ROWS, 1, 1}, sizeof config.grid);
  memcpy(config.block, (unsigned[]){128, 1, 1}, sizeof config.block);
  config.stream = stream;
  for (int round = 0; round < WORKER_ROUNDS; round++) {
    for (int i = 0; i < WORKER_COUNT; i++)
      in[i] = (float)((i * 7919 + round * 31) % 4001 - 2000) / 16;
    bool ok = tf_device_copy_in(rt, memory[0], in, sizeof in, stream) == TF_OK &&
              tf_kernel_launch_raw(kernel, &config, params) == TF_OK &&
              tf_device_copy_out(rt, out, memory[1], sizeof out, stream) == TF_OK;
    for (int i = 0; i < WORKER_COUNT && ok; i++)
      ok = out[i] == (adds ? a + in[i] : a * in[i]);
    if (!ok) return false;
  }
  return true;
}

static void *work(void *argument) {
  const worker *w = argument;
  tf_program *mine = NULL;
  tf_kernel *kernel = NULL;
  tf_stream stream = NULL;
  void *memory[2] = {NULL, NULL};
  bool ok = load_ptx(w->ptx, &mine) == TF_OK && tf_program_kernel(mine, "scale", &kernel) == TF_OK &&
            tf_stream_create(rt, &stream) == TF_OK;
  for (int i = 0; i < 2 && ok; i++)
    ok = tf_device_alloc(rt, WORKER_COUNT * sizeof(float), &memory[i]) == TF_OK;
  ok = ok && compute(kernel, stream, memory, w->adds);
  for (int i = 0; i < 2; i++)
    ok = tf_device_free(rt, memory[i]) == TF_OK && ok;
  if (stream) ok = tf_stream_destroy(rt, stream) == TF_OK && ok;
  tf_program_unload(mine);
  return ok ? NULL : argument;
}

START_TEST(two_modules_in_two_threads) {
  pthread_t threads[2];
  char *ptx = input_text("scale.ptx"), *other = replaced(ptx, "mul.rn.f32 %f3", "add.rn.f32 %f3");
  worker workers[2] = {{ptx, false}, {other, true}};
  ck_ok(tf_device_open(rt, "sim", NULL));
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  for (int i = 0; i < 2; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    ck_assert_msg(!failed, "thread %d: %s", i, tf_runtime_message(rt));
  }
  free(ptx);
  free(other);
}
END_TEST

/* The device is as before, and the sanitizers find nothing left of the host's. */
START_TEST(thousand_loads) {
  size_t before, after, total;
  char *ptx = input_text("scale.ptx");
  ck_ok(tf_device_open(rt, "sim", NULL));
  ck_assert_int_eq(rt->driver.cuCtxPushCurrent(rt->context), CUDA_SUCCESS);
  ck_assert_int_eq(rt->driver.cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  for (int i = 0; i < 1000; i++) {
    tf_program *p = NULL;
    tf_kernel *kernel = NULL;
    ck_ok(load_ptx(ptx, &p));
    ck_ok(tf_program_kernel(p, "scale", &kernel));
    tf_program_unload(p);
  }
  ck_assert_int_eq(rt->driver.cuMemGetInfo(&after, &total), CUDA_SUCCESS);
  ck_assert_uint_eq(before, after);
  ck_assert_int_eq(rt->driver.cuCtxPopCurrent(&(CUcontext){NULL}), CUDA_SUCCESS);
  free(ptx);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("device");
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_loop_test(c, bad_spec, 0, sizeof bad_specs / sizeof bad_specs[0]);
  tcase_add_test(c, bad_calls);
  tcase_add_test(c, cuda_never_falls_back);
  tcase_add_loop_test(c, real_driver, 0, 2);
  tcase_add_test(c, auto_falls_back);
  tcase_add_loop_test(c, profile, 0, sizeof profiles / sizeof profiles[0]);
  tcase_add_loop_test(c, checkers, 0, 5);
  tcase_add_test(c, entry_on_the_simulator);
  tcase_add_test(c, unwritten_input_is_found);
  tcase_add_test(c, calls_that_fail);
  tcase_add_test(c, last_element_is_no_fault);
  tcase_add_test(c, stray_access_is_found);
  tcase_add_test(c, trap_is_told);
  tcase_add_test(c, refused_module_is_located);
  tcase_add_test(c, two_devices_at_once);
  tcase_add_test(c, two_modules_in_two_threads);
  tcase_add_test(c, thousand_loads);
  return run_case("device", c);
}
