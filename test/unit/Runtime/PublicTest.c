/* Every function of Runtime.h with null, and with numbers out of range: statuses, never a crash. What a failed call would
 * have written stays as it was. */
#include "Fixture.h"
#include "Harness.h"

#define IS(call, status) ck_assert_int_eq(call, TF_##status)

static void *untouched;
#define NOT_WRITTEN(pointer) ck_assert_ptr_eq((void *)(pointer), (void *)&untouched)

START_TEST(runtime_object) {
  IS(tf_runtime_create(NULL), INVALID_ARGUMENT);
  tf_runtime_destroy(NULL);
  IS(tf_runtime_status(NULL), INVALID_ARGUMENT);
  ck_assert_str_eq(tf_runtime_message(NULL), "");
  tf_runtime_clear_error(NULL);
  tf_runtime_clear_error(rt);
  IS(tf_runtime_status(rt), OK);
  ck_assert_str_eq(tf_runtime_message(rt), "");
}
END_TEST

START_TEST(device) {
  tf_device_info info;
  char *text = (char *)&untouched;
  IS(tf_device_open(NULL, "sim", NULL), INVALID_ARGUMENT);
  IS(tf_device_open(rt, NULL, NULL), INVALID_ARGUMENT);
  IS(tf_device_get_info(NULL, &info), INVALID_ARGUMENT);
  IS(tf_device_get_info(rt, NULL), INVALID_ARGUMENT);
  IS(tf_device_counters(NULL, true, &text), INVALID_ARGUMENT);
  IS(tf_device_counters(rt, true, NULL), INVALID_ARGUMENT);
  IS(tf_device_counters(rt, false, &text), UNSUPPORTED);
  NOT_WRITTEN(text);
  tf_string_free(NULL);
}
END_TEST

START_TEST(device_memory) {
  void *memory = (void *)&untouched;
  char bytes[4] = {0};
  IS(tf_device_alloc(NULL, 4, &memory), INVALID_ARGUMENT);
  IS(tf_device_alloc(rt, 4, NULL), INVALID_ARGUMENT);
  fake.fail_at = fake.calls + 4;
  fake.fail_result = CUDA_ERROR_OUT_OF_MEMORY;
  IS(tf_device_alloc(rt, 4, &memory), OUT_OF_MEMORY);
  NOT_WRITTEN(memory);
  IS(tf_device_free(NULL, bytes), INVALID_ARGUMENT);
  IS(tf_device_free(rt, NULL), OK);
  IS(tf_device_copy_in(NULL, bytes, bytes, 4, NULL), INVALID_ARGUMENT);
  IS(tf_device_copy_in(rt, NULL, bytes, 4, NULL), INVALID_ARGUMENT);
  IS(tf_device_copy_in(rt, bytes, NULL, 4, NULL), INVALID_ARGUMENT);
  IS(tf_device_copy_in(rt, NULL, NULL, 0, NULL), OK);
  IS(tf_device_copy_out(NULL, bytes, bytes, 4, NULL), INVALID_ARGUMENT);
  IS(tf_device_copy_out(rt, NULL, bytes, 4, NULL), INVALID_ARGUMENT);
  IS(tf_device_copy_out(rt, bytes, NULL, 4, NULL), INVALID_ARGUMENT);
  IS(tf_device_copy_out(rt, NULL, NULL, 0, NULL), OK);
  IS(tf_device_poison(NULL, bytes, 4), INVALID_ARGUMENT);
  IS(tf_device_poison(rt, NULL, 4), INVALID_ARGUMENT);
  IS(tf_device_poison(rt, NULL, 0), OK);
  IS(tf_tensor_free(NULL, NULL), INVALID_ARGUMENT);
  IS(tf_tensor_free(rt, NULL), OK);
  IS(tf_tensor_free(rt, &(DLTensor){0}), OK);
}
END_TEST

START_TEST(streams) {
  IS(tf_stream_create(NULL, &(tf_stream){0}), INVALID_ARGUMENT);
  IS(tf_stream_create(rt, NULL), INVALID_ARGUMENT);
  IS(tf_stream_destroy(NULL, fake_stream(1)), INVALID_ARGUMENT);
  IS(tf_stream_synchronize(NULL, NULL), INVALID_ARGUMENT);
  IS(tf_stream_synchronize(rt, NULL), OK);
}
END_TEST

START_TEST(programs) {
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  tf_program *none = (tf_program *)&untouched;
  const tf_entry *entry = (const tf_entry *)&untouched;
  tf_kernel *kernel = (tf_kernel *)&untouched;
  IS(tf_program_load(NULL, &source, &none), INVALID_ARGUMENT);
  IS(tf_program_load(rt, NULL, &none), INVALID_ARGUMENT);
  IS(tf_program_load(rt, &source, &none), INVALID_ARGUMENT);
  source.image = "x";
  IS(tf_program_load(rt, &source, NULL), INVALID_ARGUMENT);
  IS(tf_program_load(rt, &source, &none), INVALID_ARGUMENT); /* without a size */
  source.image_size = 1;
  source.size = 3;
  IS(tf_program_load(rt, &source, &none), INVALID_ARGUMENT);
  tf_program_unload(NULL);
  IS(tf_program_entry(NULL, "main", &entry), INVALID_ARGUMENT);
  IS(tf_program_entry(program, "main", NULL), INVALID_ARGUMENT);
  IS(tf_program_entry(program, "", &entry), INVALID_ARGUMENT);
  tf_program *bare = NULL;
  IS(load_text(NULL, &bare), OK);
  IS(tf_program_entry(bare, NULL, &entry), INVALID_ARGUMENT); /* it has none */
  tf_program_unload(bare);
  IS(tf_program_kernel(NULL, "wide", &kernel), INVALID_ARGUMENT);
  IS(tf_program_kernel(program, NULL, &kernel), INVALID_ARGUMENT);
  IS(tf_program_kernel(program, "wide", NULL), INVALID_ARGUMENT);
  NOT_WRITTEN(none);
  NOT_WRITTEN(entry);
  NOT_WRITTEN(kernel);
}
END_TEST

START_TEST(entries) {
  const tf_entry *entry = entry_of("half");
  ck_assert_ptr_null(tf_entry_name(NULL));
  ck_assert_uint_eq(tf_entry_parameter_count(NULL), 0);
  ck_assert_uint_eq(tf_entry_parameter_count(entry), 2);
  ck_assert_str_eq(tf_entry_parameter(entry, 1).name, "q");
  const unsigned beyond[] = {2, 3, 1000000, UINT32_MAX};
  for (int i = 0; i < 4; i++) {
    tf_parameter_info info = tf_entry_parameter(entry, beyond[i]);
    ck_assert(!info.name && !info.dtype && !info.is_scalar && !info.rank && !info.is_output);
  }
  ck_assert_ptr_null(tf_entry_parameter(NULL, 0).name);
}
END_TEST

START_TEST(calls) {
  const tf_entry *entry = entry_of("half");
  tf_argument none[2] = {{.kind = TF_ARGUMENT_TENSOR}, {.kind = TF_ARGUMENT_TENSOR}};
  IS(tf_entry_call(NULL, NULL, none, 2), INVALID_ARGUMENT);
  IS(tf_entry_call(entry, NULL, NULL, 2), INVALID_ARGUMENT);
  IS(tf_entry_call(entry, NULL, NULL, 0), LAUNCH);
  IS(tf_entry_call(entry, NULL, none, 2), LAUNCH); /* null tensors */
  DLTensor blank = {.device = {kDLCUDA, 0}, .dtype = {kDLFloat, 32, 1}, .ndim = 2};
  none[0].value.tensor = none[1].value.tensor = &blank;
  IS(tf_entry_call(entry, NULL, none, 2), LAUNCH); /* without shapes */
  none[1].kind = TF_ARGUMENT_OUTPUT;
  none[1].value.output = NULL;
  IS(tf_entry_call(entry, NULL, none, 2), LAUNCH);
  none[0].kind = (tf_argument_kind)99;
  none[1].kind = (tf_argument_kind)-1;
  IS(tf_entry_call(entry, NULL, none, 2), LAUNCH);
  static const tf_compiled_unit unit = {.name = "none"};
  IS(tf_compiled_call(NULL, NULL, &unit, 0, none, 2), INVALID_ARGUMENT);
  IS(tf_compiled_call(rt, NULL, NULL, 0, none, 2), INVALID_ARGUMENT);
  IS(tf_compiled_call(rt, NULL, &unit, 0, none, 2), INVALID_ARGUMENT);
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

START_TEST(prepared_calls) {
  const tf_entry *entry = entry_of("half");
  tf_prepared_call *call = (tf_prepared_call *)&untouched;
  tf_argument none[2] = {{.kind = TF_ARGUMENT_TENSOR}, {.kind = TF_ARGUMENT_TENSOR}};
  IS(tf_entry_prepare(NULL, none, 2, &call), INVALID_ARGUMENT);
  IS(tf_entry_prepare(entry, NULL, 2, &call), INVALID_ARGUMENT);
  IS(tf_entry_prepare(entry, none, 2, NULL), INVALID_ARGUMENT);
  IS(tf_entry_prepare(entry, none, 2, &call), LAUNCH);
  NOT_WRITTEN(call);
  IS(tf_prepared_call_run(NULL, NULL), INVALID_ARGUMENT);
  IS(tf_prepared_call_set_pointers(NULL, 0, NULL, NULL), INVALID_ARGUMENT);
  IS(tf_prepared_call_set_scalar(NULL, 0, none), INVALID_ARGUMENT);
  tf_prepared_call_destroy(NULL);
  test_tensor p, q;
  tensor_at(&p, 0x1000000, kDLFloat, 32, 2, 2, 512);
  tensor_at(&q, 0x2000000, kDLFloat, 32, 2, 2, 512);
  IS(tf_entry_prepare(entry, (tf_argument[]){of_tensor(&p), of_tensor(&q)}, 2, &call), OK);
  IS(tf_prepared_call_set_pointers(call, 1, NULL, NULL), INVALID_ARGUMENT);
  IS(tf_prepared_call_set_pointers(call, 1, &(unsigned){UINT32_MAX}, (void *[]){NULL}), LAUNCH);
  IS(tf_prepared_call_set_pointers(call, 1, &(unsigned){0}, (void *[]){NULL}), LAUNCH);
  IS(tf_prepared_call_set_scalar(call, 0, NULL), INVALID_ARGUMENT);
  IS(tf_prepared_call_set_scalar(call, 2, &(tf_argument){.kind = TF_ARGUMENT_INT}), LAUNCH);
  IS(tf_prepared_call_run(call, NULL), OK);
  tf_prepared_call_destroy(call);
}
END_TEST

START_TEST(launches) {
  tf_kernel *kernel = kernel_of("wide"), *bare = kernel_of("bare");
  tf_launch_config config = TF_LAUNCH_CONFIG_INIT;
  tf_argument none[3] = {{.kind = TF_ARGUMENT_TENSOR}, {.kind = TF_ARGUMENT_TENSOR}, {.kind = TF_ARGUMENT_TENSOR}};
  IS(tf_kernel_launch(NULL, &config, none, 3), INVALID_ARGUMENT);
  IS(tf_kernel_launch(kernel, NULL, none, 3), LAUNCH); /* of the tensors */
  IS(tf_kernel_launch(kernel, &config, NULL, 3), INVALID_ARGUMENT);
  IS(tf_kernel_launch(kernel, &config, none, 3), LAUNCH);
  none[0].kind = TF_ARGUMENT_OUTPUT; /* of entries only */
  IS(tf_kernel_launch(kernel, &config, none, 3), LAUNCH);
  none[0].kind = TF_ARGUMENT_TENSOR;
  IS(tf_kernel_launch(bare, &config, NULL, 0), INVALID_ARGUMENT); /* nothing describes it */
  IS(tf_kernel_launch_raw(NULL, &config, NULL), INVALID_ARGUMENT);
  IS(tf_kernel_launch_raw(bare, NULL, NULL), LAUNCH); /* no grid, no block */
  config.size = 3;
  IS(tf_kernel_launch_raw(bare, &config, NULL), INVALID_ARGUMENT);
  IS(tf_kernel_launch(kernel, &config, none, 3), INVALID_ARGUMENT);
  config.size = sizeof config;
  config.dynamic_smem = SIZE_MAX;
  IS(tf_kernel_launch_raw(bare, &config, NULL), LAUNCH);
  config.dynamic_smem = 0;
  for (int axis = 0; axis < 3; axis++) {
    config.grid[0] = config.grid[1] = config.grid[2] = config.block[0] = config.block[1] = config.block[2] = 1;
    config.grid[axis] = UINT32_MAX;
    IS(tf_kernel_launch_raw(bare, &config, NULL), LAUNCH);
    config.grid[axis] = 1;
    config.block[axis] = UINT32_MAX;
    IS(tf_kernel_launch_raw(bare, &config, NULL), LAUNCH);
    config.block[axis] = 1;
  }
  ck_assert_uint_eq(fake.launch_count, 0);
  IS(tf_kernel_launch_raw(bare, &config, NULL), OK);
}
END_TEST

/* Before a device is open, and after opening one has failed. */
START_TEST(no_device) {
  tf_runtime *closed;
  tf_device_info info;
  tf_stream stream;
  void *memory;
  char *text;
  tf_program *none = NULL;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  source.image = "x";
  source.image_size = 1;
  IS(tf_runtime_create(&closed), OK);
  for (int k = 0; k < 2; k++) {
    if (k) {
      tf_runtime_clear_error(closed);
      IS(tf_device_open(closed, "sim:sm_1", NULL), UNSUPPORTED);
      tf_runtime_clear_error(closed);
    }
    IS(tf_device_get_info(closed, &info), INVALID_ARGUMENT);
    ck_assert_str_eq(tf_runtime_message(closed), "no device is open");
    IS(tf_device_alloc(closed, 4, &memory), INVALID_ARGUMENT);
    IS(tf_device_free(closed, &text), INVALID_ARGUMENT);
    IS(tf_device_copy_in(closed, &text, &text, 4, NULL), INVALID_ARGUMENT);
    IS(tf_device_copy_out(closed, &text, &text, 4, NULL), INVALID_ARGUMENT);
    IS(tf_device_poison(closed, &text, 4), INVALID_ARGUMENT);
    IS(tf_device_counters(closed, true, &text), UNSUPPORTED);
    IS(tf_stream_create(closed, &stream), INVALID_ARGUMENT);
    IS(tf_stream_destroy(closed, fake_stream(1)), INVALID_ARGUMENT);
    IS(tf_stream_synchronize(closed, NULL), INVALID_ARGUMENT);
    IS(tf_program_load(closed, &source, &none), INVALID_ARGUMENT);
    ck_assert_str_eq(tf_runtime_message(closed), "no device is open"); /* still the first */
  }
  tf_runtime_destroy(closed);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("public");
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, runtime_object);
  tcase_add_test(c, device);
  tcase_add_test(c, device_memory);
  tcase_add_test(c, streams);
  tcase_add_test(c, programs);
  tcase_add_test(c, entries);
  tcase_add_test(c, calls);
  tcase_add_test(c, prepared_calls);
  tcase_add_test(c, launches);
  tcase_add_test(c, no_device);
  return run_case("public", c);
}
