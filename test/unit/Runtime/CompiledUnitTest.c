/* Host functions as machine code, from outside: outputs that the runtime makes, objects compiled ahead of time, threads. */
#include <pthread.h>

#include "CompiledFixture.h"
#include "Harness.h"

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

static int32_t write_output(tf_call *call, const tf_compiled_value *v) {
  if (v[0].shape[0] == 7) return call->api->fail(call, &place, TF_COMPILED_ABORT, NULL, "seven");
  memset((void *)(uintptr_t)v[1].bits, 0x3c, 4 * 512 * (size_t)v[1].shape[0]);
  return TF_OK;
}

/* main has one output: its last parameter, a scalar. half has one as well: q. */
static int32_t write_half(tf_call *call, const tf_compiled_value *v) {
  return write_output(call, v);
}

static const tf_compiled_entry output_entries[] = {{"main", run_nothing},    {"half", write_half},
                                                   {"barrier", run_nothing}, {"exact", run_nothing},
                                                   {"loose", run_nothing},   {"compiled", run_nothing}};

START_TEST(outputs_are_made) {
  tf_program *made = NULL;
  const tf_entry *half = NULL;
  ck_assert_int_eq(load_entries(output_entries, ENTRIES, &made), TF_OK);
  ck_assert_int_eq(tf_program_entry(made, "half", &half), TF_OK);
  ck_assert(!tf_entry_parameter(half, 0).is_output && tf_entry_parameter(half, 1).is_output);
  DLTensor out = {.ndim = 99};
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), {.kind = TF_ARGUMENT_OUTPUT, .value.output = &out}};
  ck_assert_msg(tf_entry_call(half, NULL, arguments, 2) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert(out.ndim == 2 && out.shape[0] == 6 && out.shape[1] == 512 && !out.strides && out.byte_offset == 0);
  ck_assert(out.dtype.code == kDLFloat && out.dtype.bits == 32 && out.dtype.lanes == 1);
  ck_assert(out.device.device_type == kDLCUDA && out.device.device_id == 0);
  ck_assert_int_eq(((unsigned char *)out.data)[4 * 512 * 6 - 1], 0x3c);
  ck_assert_int_eq(fake.live_memory, 1);
  ck_assert_int_eq(tf_tensor_free(rt, &out), TF_OK);
  ck_assert(fake.live_memory == 0 && !out.data && !out.shape);
  ck_assert_int_eq(tf_tensor_free(rt, &out), TF_OK);

  out.ndim = 99;
  x.shape[0] = 7; /* the call fails: nothing is given away, nothing stays */
  ck_assert_int_eq(tf_entry_call(half, NULL, arguments, 2), TF_TRAP);
  ck_assert(out.ndim == 99 && fake.live_memory == 0);
  tf_runtime_clear_error(rt);
  x.shape[0] = 0;
  ck_assert_int_eq(tf_entry_call(half, NULL, arguments, 2), TF_LAUNCH);
  ck_message("half: the outputs cannot be made: no argument gives S a value in [1, 65536)");
  tf_runtime_clear_error(rt);
  x.t.dtype.bits = 16; /* other faults are found as ever */
  x.shape[0] = 6;
  ck_assert_int_eq(tf_entry_call(half, NULL, arguments, 2), TF_LAUNCH);
  ck_message("half: argument 'p': the tensor's dtype is float16, expected f32");
  ck_assert_int_eq(fake.live_memory, 0);
  tf_runtime_clear_error(rt);
  arguments[0] = arguments[1];
  ck_assert_int_eq(tf_entry_call(half, NULL, arguments, 2), TF_LAUNCH);
  ck_message("half: argument 'p' is no output of the function: pass a tensor");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(tf_entry_call(half, NULL, arguments, 1), TF_LAUNCH);
  ck_message("half: got 1 arguments, expected 2");
  tf_program_unload(made);
}
END_TEST

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

START_TEST(code_of_another_module) {
  tf_program *none = NULL;
  tf_compiled_entry other[ENTRIES];
  memcpy(other, output_entries, sizeof other);
  other[2].name = "barriere";
  ck_assert_int_eq(load_entries(other, ENTRIES, &none), TF_INVALID_ARGUMENT);
  ck_message("t.ptx: the machine code is for another module: its entries are not the manifest's");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(load_entries(output_entries, ENTRIES - 1, &none), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(none);
}
END_TEST

static tf_compiled_unit unit_of(char *manifest, const void *cubin) {
  return (tf_compiled_unit){.version = TF_COMPILED_VERSION,
                            .api_size = sizeof(tf_compiled_api),
                            .name = "u.tir",
                            .ptx = "ptx text",
                            .ptx_size = 8,
                            .cubin = cubin,
                            .cubin_size = cubin ? 8 : 0,
                            .manifest = manifest,
                            .manifest_size = strlen(manifest),
                            .entry_count = ENTRIES,
                            .entries = output_entries};
}

START_TEST(units_are_loaded_once) {
  char *text = input_text("everything.json");
  const tf_compiled_unit unit = unit_of(text, NULL), second = unit_of(text, "\177ELF....");
  fake.loaded_texts = fake.loaded_cubins = 0;
  DLTensor out = {0};
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), {.kind = TF_ARGUMENT_TENSOR, .value.tensor = &out}};
  for (int i = 0; i < 3; i++) {
    ck_assert_msg(tf_compiled_call(rt, NULL, &unit, 1, arguments, 2) == TF_OK, "%s", tf_runtime_message(rt));
    ck_assert(out.shape[0] == 6 && fake.live_memory == 1);
    ck_assert_int_eq(tf_tensor_free(rt, &out), TF_OK); /* blank again */
    ck_assert_int_eq(tf_compiled_call(rt, NULL, &second, 5, NULL, 0), TF_OK);
  }
  ck_assert(fake.loaded_texts == 1 && fake.loaded_cubins == 1 && fake.live_modules == 3);
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &unit, 6, NULL, 0), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &unit, 1, arguments, 1), TF_LAUNCH);
  tf_runtime_clear_error(rt);
  fake.refuse_cubins = 1; /* then its PTX is loaded */
  const tf_compiled_unit third = unit_of(text, "\177ELF....");
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &third, 5, NULL, 0), TF_OK);
  ck_assert(fake.loaded_texts == 2 && fake.loaded_cubins == 1);
  free(text); /* manifests were read */
}
END_TEST

START_TEST(units_of_another_interface) {
  char *text = input_text("everything.json");
  tf_compiled_unit unit = unit_of(text, NULL);
  unit.version = 2;
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &unit, 5, NULL, 0), TF_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "u.tir: the object was compiled for another runtime"));
  tf_runtime_clear_error(rt);
  unit.version = TF_COMPILED_VERSION;
  unit.api_size += 8;
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &unit, 5, NULL, 0), TF_UNSUPPORTED);
  tf_runtime_clear_error(rt);
  unit.api_size = 64; /* an older object uses less of the table */
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &unit, 5, NULL, 0), TF_OK);
  fake.log = "ptxas error";
  const tf_compiled_unit broken = unit_of(text, NULL);
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &broken, 5, NULL, 0), TF_DRIVER);
  fake.log = NULL;
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(tf_compiled_call(rt, NULL, &broken, 5, NULL, 0), TF_OK); /* the next call tries again */
  free(text);
}
END_TEST

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 2, CALLS = 150 };
static char *shared_text;
static tf_compiled_unit shared_unit;

static int32_t threaded(tf_call *call, const tf_compiled_value *v) {
  const tf_compiled_api *api = call->api;
  uint64_t host, device, bits = 0;
  int64_t shape = 64;
  tf_compiled_mode mode = {0, 64, 1};
  int32_t status = api->allocate(call, &place, "h", TF_ELEMENT_I32, 1, 64, &host);
  if (status == TF_OK) status = api->allocate(call, &place, "d", TF_ELEMENT_I32, 0, 64, &device);
  if (status != TF_OK) return status;
  tf_compiled_view h = {"h", host, 64, 0, TF_ELEMENT_I32, 1, 1, &shape, 1, &mode, 0, NULL, 0};
  tf_compiled_view d = {"d", device, 64, 0, TF_ELEMENT_I32, 0, 1, &shape, 1, &mode, 0, NULL, 0};
  status = api->fill(call, &place, &d, v[0].bits);
  if (status == TF_OK) status = api->copy(call, &place, &d, &h);
  if (status == TF_OK) status = api->load(call, &place, &h, (int64_t[]){63}, &bits);
  if (status == TF_OK && bits != (uint32_t)v[0].bits) status = TF_CHECKER;
  tf_compiled_launch l = {.flags = TF_COMPILED_OWN_GRID | TF_COMPILED_OWN_BLOCK, .argument_count = 3};
  tf_compiled_argument arguments[] = {
      {TF_COMPILED_PARAM, 0, NULL}, {TF_COMPILED_BITS, 0, NULL}, {TF_COMPILED_PARAM, 1, NULL}};
  l.arguments = arguments;
  return status == TF_OK ? api->launch(call, &place, &l) : status;
}

static const tf_compiled_entry thread_entries[] = {{"main", threaded},       {"half", run_nothing},
                                                   {"barrier", run_nothing}, {"exact", run_nothing},
                                                   {"loose", run_nothing},   {"compiled", run_nothing}};

static void *call_often(void *argument) {
  int id = *(int *)argument;
  test_tensor a, b;
  tf_status status = TF_OK;
  for (int i = 0; i < CALLS && status == TF_OK; i++) {
    tensor_at(&a, 0x1000000 * (uint64_t)(id + 1) + 16 * (unsigned)i, kDLFloat, 32, 2, 6, 512);
    tensor_at(&b, 0x8000000, kDLFloat, 32, 2, 6, 512);
    tf_argument arguments[] = {of_tensor(&a), of_tensor(&b), of_int(i)};
    status = tf_compiled_call(rt, fake_stream(id), &shared_unit, 0, arguments, 3);
  }
  return status == TF_OK ? NULL : argument;
}

START_TEST(threads_on_streams_of_their_own) {
  pthread_t thread[THREADS];
  int ids[THREADS];
  shared_text = input_text("everything.json");
  shared_unit = unit_of(shared_text, NULL);
  shared_unit.entries = thread_entries;
  fake.loaded_texts = 0;
  for (int i = 0; i < THREADS; i++) {
    ids[i] = i;
    ck_assert_int_eq(pthread_create(&thread[i], NULL, call_often, &ids[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(thread[i], &failed);
    ck_assert_msg(!failed, "thread %d: %s", i, tf_runtime_message(rt));
  }
  ck_assert_uint_eq(fake.loaded_texts, 1);
  ck_assert_uint_eq(fake.launch_count, THREADS * CALLS);
  ck_assert_int_eq(fake.live_memory, 0);
  free(shared_text);
}
END_TEST

static void setup_units(void) {
  open_with(output_entries);
}

int main(void) {
  TCase *c = tcase_create("compiled units");
  tcase_add_checked_fixture(c, setup_units, teardown);
  tcase_add_test(c, outputs_are_made);
  tcase_add_test(c, code_of_another_module);
  tcase_add_test(c, units_are_loaded_once);
  tcase_add_test(c, units_of_another_interface);
  tcase_add_test(c, threads_on_streams_of_their_own);
  return run_case("compiled-units", c);
}
