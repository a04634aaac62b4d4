/* Prepared calls on the fake driver: a run launches exactly what a call with the same arguments launches, whatever has become of
 * the caller's tensors; every check of a setter has a value that passes and one that is refused with its message and changes
 * nothing. (The checks of preparing are tested with those of calls, in ArgumentsTest.c.) */
#include "CompiledFixture.h"
#include "Harness.h"

static test_tensor y;

static tf_argument of_uint(uint64_t v) {
  return (tf_argument){.kind = TF_ARGUMENT_UINT, .value.u = v};
}

static tf_prepared_call *prepared(const tf_entry *entry, const tf_argument *arguments, unsigned count) {
  tf_prepared_call *call = NULL;
  ck_assert_msg(tf_entry_prepare(entry, arguments, count, &call) == TF_OK, "%s", tf_runtime_message(rt));
  return call;
}

/* The launches of one run, on stream 3. */
static void run(const tf_prepared_call *call) {
  fake.launch_count = 0;
  ck_assert_msg(tf_prepared_call_run(call, fake_stream(3)) == TF_OK, "%s", tf_runtime_message(rt));
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* What tf_entry_call launched and said on these arguments, against three runs of the prepared call, for which nothing of
 * the arguments is left. */
static void compare(const char *name, tf_argument *arguments, unsigned count) {
  static fake_launch expected[FAKE_MAX_LAUNCHES];
  const tf_entry *entry = entry_of(name);
  fake.param_count = 4;
  fake.launch_count = 0;
  tf_status status = tf_entry_call(entry, fake_stream(3), arguments, count);
  unsigned launches = fake.launch_count;
  char *message = strdup(tf_runtime_message(rt));
  memcpy(expected, fake.launches, sizeof expected);
  tf_runtime_clear_error(rt);
  tf_prepared_call *call = prepared(entry, arguments, count);
  memset(arguments, 0xa5, count * sizeof *arguments);
  memset(&x, 0xa5, sizeof x);
  memset(&y, 0xa5, sizeof y);
  for (int i = 0; i < 3; i++) {
    memset(fake.launches, 0, sizeof fake.launches);
    fake.launch_count = 0;
    ck_assert_int_eq(tf_prepared_call_run(call, fake_stream(3)), status);
    ck_message(message);
    ck_assert_uint_eq(fake.launch_count, launches);
    for (unsigned k = 0; k < launches; k++)
      ck_assert_msg(memcmp(&expected[k], &fake.launches[k], sizeof expected[k]) == 0, "launch %u of run %d", k, i);
    tf_runtime_clear_error(rt);
  }
  tf_prepared_call_destroy(call);
  free(message);
}

/* A sequence with a call, windows with scalars in formulas, a dispatch without a case: an abort. */
START_TEST(runs_are_calls) {
  static const int64_t extents[] = {1, 5, 15, 32, 37, 63, 20, 64}, counts[] = {0, 100, -3, 32767};
  for (unsigned i = 0; i < 8; i++) {
    tensor_at(&x, 0x1000000, kDLFloat, 32, 2, extents[i], 512);
    tensor_at(&y, 0x2000000, kDLFloat, 32, 2, extents[i], 512);
    tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(counts[i % 4])};
    compare("main", arguments, 3);
  }
}
END_TEST

START_TEST(runs_that_pass_parameters_on) {
  for (int64_t s = 1; s < 65536; s = 7 * s + 4) {
    tensor_at(&x, 0x10000000, kDLFloat, 32, 2, s, 512);
    tensor_at(&y, 0x20000000, kDLFloat, 32, 2, s, 512);
    tf_argument arguments[] = {of_tensor(&x), of_float(0.1 * (double)s), of_tensor(&y)};
    compare(s % 2 ? "exact" : "loose", arguments, 3);
  }
}
END_TEST

/* Host memory, strides, hidden extents, a cluster and the counters of a grid barrier. */
START_TEST(runs_of_all_kinds_of_parameters) {
  barrier_tensors(&x, 0x10000, 40, 2, &y);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(-5)};
  compare("barrier", arguments, 3);
}
END_TEST

START_TEST(runs_can_be_refused) {
  tensor_at(&x, 0x100000, kDLFloat, 32, 2, 6, 512);
  tensor_at(&y, 0x100010, kDLFloat, 32, 2, 6, 512); /* loose lets it through, its kernel does not */
  tf_argument arguments[] = {of_tensor(&x), of_float(0.5), of_tensor(&y)};
  compare("loose", arguments, 3);
}
END_TEST

START_TEST(nothing_to_run) {
  tf_prepared_call *call = NULL;
  ck_assert_int_eq(tf_entry_prepare(entry_of("compiled"), NULL, 0, &call), TF_UNSUPPORTED);
  ck_message("compiled: the function exists as compiled code only");
  ck_assert_ptr_null(call);
  ck_assert_int_eq(tf_prepared_call_run(NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_prepared_call_set_pointers(NULL, 0, NULL, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_prepared_call_set_scalar(NULL, 0, &(tf_argument){.kind = TF_ARGUMENT_INT}), TF_INVALID_ARGUMENT);
  tf_prepared_call_destroy(NULL);
}
END_TEST

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* exact(u: ConstTensor (S, 512) f32, f: f32, v: Tensor (S, 512) f32), S = 6, 0x3000 bytes each. */
static tf_prepared_call *prepare_exact(void) {
  tensor_at(&x, 0x100000, kDLFloat, 32, 2, 6, 512);
  tensor_at(&y, 0x200000, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), of_float(0.75), of_tensor(&y)};
  fake.param_count = 4;
  return prepared(entry_of("exact"), arguments, 3);
}

static tf_status set(tf_prepared_call *call, unsigned parameter, uint64_t address) {
  void *pointer = (void *)(uintptr_t)address;
  return tf_prepared_call_set_pointers(call, 1, &parameter, &pointer);
}

static void expect_params(const tf_prepared_call *call, uint64_t u, uint64_t f, uint64_t v) {
  run(call);
  const uint64_t *params = fake.launches[0].params;
  ck_assert_uint_eq(fake.launch_count, 1);
  ck_assert_uint_eq(params[0], u);
  ck_assert_uint_eq(params[1], f);
  ck_assert_uint_eq(params[2], v);
  ck_assert_uint_eq(params[3], 6);
}

START_TEST(other_addresses) {
  tf_prepared_call *call = prepare_exact();
  expect_params(call, 0x100000, 0x3f400000, 0x200000);
  ck_assert_int_eq(set(call, 2, 0x103000), TF_OK); /* right behind u */
  expect_params(call, 0x100000, 0x3f400000, 0x103000);
  ck_assert_int_eq(set(call, 0, 0x106000), TF_OK);
  expect_params(call, 0x106000, 0x3f400000, 0x103000);
  ck_assert_int_eq(tf_prepared_call_set_pointers(call, 0, NULL, NULL), TF_OK);
  const unsigned both[] = {0, 2}, twice[] = {0, 2, 0};
  void *exchanged[] = {(void *)(uintptr_t)0x103000, (void *)(uintptr_t)0x106000, (void *)(uintptr_t)0x500000};
  ck_assert_int_eq(tf_prepared_call_set_pointers(call, 2, both, exchanged), TF_OK);
  expect_params(call, 0x103000, 0x3f400000, 0x106000);
  ck_assert_int_eq(tf_prepared_call_set_pointers(call, 3, twice, exchanged), TF_OK);
  expect_params(call, 0x500000, 0x3f400000, 0x106000);
  tf_prepared_call_destroy(call);
}
END_TEST

static void expect_refused(tf_status status, const char *message) {
  ck_assert_int_eq(status, TF_LAUNCH);
  ck_message(message);
  tf_runtime_clear_error(rt);
}

START_TEST(refused_addresses) {
  tf_prepared_call *call = prepare_exact();
  expect_refused(set(call, 0, 0), "exact: argument 'u': the tensor's data is null");
  expect_refused(set(call, 2, 0x200008),
                 "exact: argument 'v': the first element is at address 0x200008, expected a multiple of 16");
  expect_refused(set(call, 2, 0x102ff0),
                 "exact: argument 'v': [0x102ff0, 0x105ff0) overlaps 'u' [0x100000, 0x103000), which is a ConstTensor");
  expect_refused(set(call, 0, 0x202ff0),
                 "exact: argument 'v': [0x200000, 0x203000) overlaps 'u' [0x202ff0, 0x205ff0), which is a ConstTensor");
  expect_refused(set(call, 1, 0x300000), "exact: argument 'f' is a scalar, it has no address");
  expect_refused(set(call, 3, 0x300000), "exact: there is no parameter 3, only 3 of them");
  const unsigned numbers[] = {0, 2};
  void *pointers[] = {(void *)(uintptr_t)0x300000, (void *)(uintptr_t)0x400004};
  expect_refused(tf_prepared_call_set_pointers(call, 2, numbers, pointers),
                 "exact: argument 'v': the first element is at address 0x400004, expected a multiple of 16");
  ck_assert_int_eq(tf_prepared_call_set_pointers(call, 2, NULL, pointers), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_prepared_call_set_pointers(call, 2, numbers, NULL), TF_INVALID_ARGUMENT);
  expect_params(call, 0x100000, 0x3f400000, 0x200000); /* not even the good one of two */
  tf_prepared_call_destroy(call);
}
END_TEST

/* An empty tensor needs neither data nor alignment. */
START_TEST(addresses_of_empty_tensors) {
  fake.clusters = 1;
  fake.param_count = 5;
  rt->info.cluster_launch = true;
  tensor_at(&x, 0x10000, kDLBfloat, 16, 2, 0, 0);
  tensor_at(&y, 0x30001, kDLUInt, 8, 1, 3, 0);
  y.t.device.device_type = kDLCPU;
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(-5)};
  tf_prepared_call *call = prepared(entry_of("barrier"), arguments, 3);
  ck_assert_int_eq(set(call, 0, 0), TF_OK);
  ck_assert_int_eq(set(call, 0, 0x10003), TF_OK);
  run(call);
  ck_assert_uint_eq(fake.launches[0].params[0], 0x10003);
  expect_refused(set(call, 1, 0), "barrier: argument 'host': the tensor's data is null");
  tf_prepared_call_destroy(call);
}
END_TEST

/* ---- Scalars ----------------------------------------------------------------------------------------------------- */

START_TEST(other_scalars) {
  tf_prepared_call *call = prepare_exact();
  const tf_argument bits = {.kind = TF_ARGUMENT_BITS, .value.u = 0x7f801234}, tenth = of_float(0.1), three = of_int(-3),
                    four = of_uint(4);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 1, &bits), TF_OK);
  expect_params(call, 0x100000, 0x7f801234, 0x200000);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 1, &tenth), TF_OK);
  expect_params(call, 0x100000, 0x3dcccccd, 0x200000);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 1, &three), TF_OK);
  expect_params(call, 0x100000, 0xc0400000, 0x200000);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 1, &four), TF_OK);
  expect_params(call, 0x100000, 0x40800000, 0x200000);
  tf_prepared_call_destroy(call);
}
END_TEST

START_TEST(refused_scalars) {
  tf_prepared_call *call = prepare_exact();
  const tf_argument inexact = of_int((1 << 24) + 1), tensor = of_tensor(&x), one = of_int(1),
                    wide = {.kind = TF_ARGUMENT_BITS, .value.u = UINT64_C(1) << 32};
  expect_refused(tf_prepared_call_set_scalar(call, 1, &inexact),
                 "exact: argument 'f': the integer is not exact in the dtype; pass a float (f32): got 16777217");
  expect_refused(tf_prepared_call_set_scalar(call, 1, &wide),
                 "exact: argument 'f': the bits above the dtype's width are not zero (f32): got the bits 0x100000000");
  expect_refused(tf_prepared_call_set_scalar(call, 1, &tensor),
                 "exact: argument 'f': expected a scalar (f32): got a tensor");
  expect_refused(tf_prepared_call_set_scalar(call, 2, &one),
                 "exact: argument 'v' is a tensor, it can get another address only");
  expect_refused(tf_prepared_call_set_scalar(call, 3, &one), "exact: there is no parameter 3, only 3 of them");
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 1, NULL), TF_INVALID_ARGUMENT);
  expect_params(call, 0x100000, 0x3f400000, 0x200000);
  tf_prepared_call_destroy(call);
}
END_TEST

/* main's dynamic shared memory is max(0, count, 64), its kernel's scalar count - 1. */
START_TEST(scalars_decide_the_geometry) {
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 37, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, 37, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(-4)}, hundred = of_int(100),
              too_large = of_int(32768);
  fake.param_count = 4;
  tf_prepared_call *call = prepared(entry_of("main"), arguments, 3);
  run(call);
  ck_assert(fake.launches[0].smem == 64 && fake.launches[0].params[1] == 0xc0a00000);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 2, &hundred), TF_OK);
  run(call);
  ck_assert(fake.launches[0].smem == 100 && fake.launches[0].params[1] == 0x42c60000);
  expect_refused(tf_prepared_call_set_scalar(call, 2, &too_large),
                 "main: argument 'count': the value is out of the dtype's range (i16): got 32768");
  tf_prepared_call_destroy(call);
}
END_TEST

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

START_TEST(outputs_are_made_once) {
  DLTensor out;
  memset(&out, 0xa5, sizeof out);
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 5, 512);
  tf_argument arguments[] = {of_tensor(&x), {.kind = TF_ARGUMENT_OUTPUT, .value.output = &out}};
  fake.param_count = 4;
  tf_prepared_call *call = prepared(entry_of("half"), arguments, 2);
  ck_assert(out.ndim == 2 && out.shape[0] == 5 && out.shape[1] == 512 && !out.strides && out.data);
  ck_assert_int_eq(fake.live_memory, 1);
  uint64_t address = (uint64_t)(uintptr_t)out.data;
  out.shape[0] = -1; /* the caller's now, as all of it */
  for (int i = 0; i < 3; i++) {
    run(call);
    ck_assert(fake.launches[0].params[2] == address && fake.launches[0].params[3] == 5);
  }
  ck_assert_int_eq(tf_tensor_free(rt, &out), TF_OK);
  tf_prepared_call_destroy(call);
  x.t.dtype.bits = 16;
  tf_prepared_call *none = NULL;
  ck_assert_int_eq(tf_entry_prepare(entry_of("half"), arguments, 2, &none), TF_LAUNCH);
  ck_assert(!none && !out.data && fake.live_memory == 0);
}
END_TEST

/* ---- Machine code ------------------------------------------------------------------------------------------------ */

/* main(x, y: (6, 512) f32, count: i16): values as they are now, a temporary, and a launch on them. */
static uint64_t seen[3];
static int64_t seen_rows;

static int32_t look_and_launch(tf_call *call, const tf_compiled_value *v) {
  for (int i = 0; i < 3; i++)
    seen[i] = v[i].bits;
  seen_rows = v[0].shape[0] + v[1].shape[0];
  if (v[2].bits == 7) return call->api->fail(call, &place, TF_COMPILED_ABORT, NULL, "seven");
  uint64_t address;
  int32_t status = call->api->allocate(call, &place, "t", TF_ELEMENT_F32, 0, 100, &address);
  if (status != TF_OK) return status;
  tf_compiled_argument arguments[] = {
      {TF_COMPILED_PARAM, 0, NULL}, {TF_COMPILED_INT, v[2].bits, NULL}, {TF_COMPILED_PARAM, 1, NULL}};
  tf_compiled_launch l = {
      .flags = TF_COMPILED_OWN_GRID | TF_COMPILED_OWN_BLOCK, .argument_count = 3, .arguments = arguments};
  return call->api->launch(call, &place, &l);
}

static const tf_compiled_entry entries[] = {{"main", look_and_launch}, {"half", run_nothing},
                                            {"barrier", run_nothing},  {"exact", run_nothing},
                                            {"loose", run_nothing},    {"compiled", run_nothing}};

static void setup_compiled(void) {
  open_with(entries);
}

START_TEST(machine_code) {
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 6, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(-5)}, two = of_int(2), seven = of_int(7);
  tf_prepared_call *call = prepared(entry_of("main"), arguments, 3);
  memset(&x, 0xa5, sizeof x);
  memset(&y, 0xa5, sizeof y);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 2, &two), TF_OK);
  ck_assert_int_eq(set(call, 1, 0x3000000), TF_OK);
  run(call);
  ck_assert(seen[0] == 0x1000000 && seen[1] == 0x3000000 && seen[2] == 2 && seen_rows == 12);
  const fake_launch *l = &fake.launches[0];
  ck_assert(l->grid[0] == 6 && l->params[0] == 0x1000000 && l->params[1] == 0x40000000 && l->params[2] == 0x3000000);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 2, &seven), TF_OK);
  ck_assert_int_eq(tf_prepared_call_run(call, NULL), TF_TRAP);
  ck_message("c.tir:3:5: main: abort: seven");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(tf_prepared_call_set_scalar(call, 2, &two), TF_OK);
  run(call); /* an abort leaves nothing behind */
  tf_prepared_call_destroy(call);
  ck_assert_int_eq(fake.live_memory, 0);
}
END_TEST

/* ---- Lifetime and faults ----------------------------------------------------------------------------------------- */

START_TEST(destroyed_after_the_program) {
  tf_prepared_call *call = prepare_exact();
  run(call);
  tf_program_unload(program);
  program = NULL;
  tf_prepared_call_destroy(call);
}
END_TEST

/* The context of the caller is current again after each of the functions. */
START_TEST(contexts) {
  fake_set_current(fake_context(5));
  tf_prepared_call *call = prepare_exact();
  ck_assert_ptr_eq(fake_current(), fake_context(5));
  run(call);
  ck_assert_ptr_eq(fake_current(), fake_context(5));
  tf_prepared_call_destroy(call);
  fake_set_current(NULL);
}
END_TEST

START_TEST(faults_are_told_by_runs) {
  tf_prepared_call *call = prepare_exact();
  run(call);
  fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
  ck_assert_int_eq(tf_prepared_call_run(call, NULL), TF_TRAP);
  ck_message("a kernel failed: a kernel failed with an unspecified error (CUDA_ERROR_LAUNCH_FAILED), seen by "
             "cuLaunchKernel; launched and not known to have ended: 'scale'\n"
             "  scale may stop at e.tir:12: abort: negative length\n"
             "  scale may stop at integer division by zero");
  ck_assert_int_eq(tf_prepared_call_run(call, NULL), TF_TRAP);
  fake.sticky = CUDA_SUCCESS;
  tf_runtime_clear_error(rt);
  expect_params(call, 0x100000, 0x3f400000, 0x200000);
  tf_prepared_call_destroy(call);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("prepared");
  TCase *plans = tcase_create("plans"), *code = tcase_create("machine code");
  tcase_add_checked_fixture(plans, setup, teardown);
  tcase_add_test(plans, runs_are_calls);
  tcase_add_test(plans, runs_that_pass_parameters_on);
  tcase_add_test(plans, runs_of_all_kinds_of_parameters);
  tcase_add_test(plans, runs_can_be_refused);
  tcase_add_test(plans, nothing_to_run);
  tcase_add_test(plans, other_addresses);
  tcase_add_test(plans, refused_addresses);
  tcase_add_test(plans, addresses_of_empty_tensors);
  tcase_add_test(plans, other_scalars);
  tcase_add_test(plans, refused_scalars);
  tcase_add_test(plans, scalars_decide_the_geometry);
  tcase_add_test(plans, outputs_are_made_once);
  tcase_add_test(plans, destroyed_after_the_program);
  tcase_add_test(plans, contexts);
  tcase_add_test(plans, faults_are_told_by_runs);
  tcase_add_checked_fixture(code, setup_compiled, teardown);
  tcase_add_test(code, machine_code);
  suite_add_tcase(suite, plans);
  suite_add_tcase(suite, code);
  return run_suite(suite);
}
