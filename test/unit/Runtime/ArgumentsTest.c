/* Every check of an entry's arguments has a call that passes and calls that fail, with their messages; after a failure
 * nothing has been launched, and a call is prepared or refused alike. The entry is half(p: ConstTensor (S, 512) f32, q: Tensor (S, 512) f32), S in [1, 65536). */
#include "Fixture.h"
#include "Harness.h"

static test_tensor p, q;

static void good(void) {
  tensor_at(&p, 0x10000, kDLFloat, 32, 2, 3, 512);
  tensor_at(&q, 0x20000, kDLFloat, 32, 2, 3, 512);
}

/* Calls the entry, after preparing the call, which launches nothing and says the same. */
static tf_status call_entry(const char *name, const tf_argument *arguments, unsigned count) {
  const tf_entry *entry = entry_of(name);
  bool clean = tf_runtime_status(rt) == TF_OK;
  unsigned before = fake.launch_count;
  tf_prepared_call *prepared = NULL;
  tf_status expected = tf_entry_prepare(entry, arguments, count, &prepared);
  char *message = strdup(tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launch_count, before);
  ck_assert_int_eq(prepared != NULL, expected == TF_OK);
  tf_prepared_call_destroy(prepared);
  if (clean) tf_runtime_clear_error(rt);
  tf_status status = tf_entry_call(entry, NULL, arguments, count);
  ck_assert_int_eq(status, expected);
  ck_message(message);
  free(message);
  return status;
}

static tf_status call(void) {
  tf_argument arguments[] = {of_tensor(&p), of_tensor(&q)};
  return call_entry("half", arguments, 2);
}

static void expect_ok(void) {
  unsigned before = fake.launch_count;
  ck_assert_msg(call() == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launch_count, before + 1);
}

static void expect_refused(const char *message) {
  unsigned before = fake.launch_count;
  ck_assert_int_eq(call(), TF_LAUNCH);
  ck_message(message);
  ck_assert_int_eq(tf_runtime_status(rt), TF_LAUNCH);
  ck_assert_uint_eq(fake.launch_count, before);
  tf_runtime_clear_error(rt);
}

START_TEST(right) {
  good();
  fake.param_count = 4;
  expect_ok();
  const fake_launch *l = &fake.launches[0];
  ck_assert_str_eq(l->kernel, "scale");
  ck_assert_uint_eq(l->grid[0], 3);
  ck_assert_uint_eq(l->block[0], 128);
  ck_assert_uint_eq(l->smem, 16);
  ck_assert_uint_eq(l->params[0], 0x10000);
  ck_assert_uint_eq(l->params[1], 0x3f000000);
  ck_assert_uint_eq(l->params[2], 0x20000);
  ck_assert_uint_eq(l->params[3], 3);
}
END_TEST

START_TEST(count) {
  good();
  tf_argument arguments[] = {of_tensor(&p), of_tensor(&q), of_int(1)};
  ck_assert_int_eq(call_entry("half", arguments, 1), TF_LAUNCH);
  ck_message("half: got 1 arguments, expected 2");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_entry("half", arguments, 3), TF_LAUNCH);
  ck_message("half: got 3 arguments, expected 2");
  ck_assert_int_eq(call_entry("half", NULL, 2), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_entry_call(NULL, NULL, arguments, 2), TF_INVALID_ARGUMENT);
  tf_prepared_call *none = NULL;
  ck_assert_int_eq(tf_entry_prepare(NULL, arguments, 2, &none), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_entry_prepare(entry_of("half"), arguments, 2, NULL), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(none);
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

START_TEST(kind) {
  good();
  tf_argument arguments[] = {of_tensor(&p), of_int(7)};
  ck_assert_int_eq(call_entry("half", arguments, 2), TF_LAUNCH);
  ck_message("half: argument 'q': expected a tensor, got a scalar");
  tf_runtime_clear_error(rt);
  arguments[1] = (tf_argument){.kind = TF_ARGUMENT_TENSOR};
  ck_assert_int_eq(call_entry("half", arguments, 2), TF_LAUNCH);
  ck_message("half: argument 'q': the tensor is null");
}
END_TEST

START_TEST(dtype) {
  good();
  p.t.dtype.bits = 16;
  expect_refused("half: argument 'p': the tensor's dtype is float16, expected f32");
  good();
  p.t.dtype.code = kDLInt;
  expect_refused("half: argument 'p': the tensor's dtype is int32, expected f32");
  good();
  q.t.dtype.lanes = 4;
  expect_refused("half: argument 'q': the tensor's dtype is float32x4, expected f32");
}
END_TEST

START_TEST(rank) {
  good();
  q.t.ndim = 1;
  expect_refused("half: argument 'q': the tensor has 1 axes, expected 2");
  q.t.ndim = -1;
  expect_refused("half: argument 'q': the tensor has -1 axes, expected 2");
  good();
  q.t.shape = NULL;
  expect_refused("half: argument 'q': the tensor's shape is null");
}
END_TEST

START_TEST(extents) {
  good();
  p.shape[1] = 511;
  expect_refused("half: argument 'p': axis 1 has extent 511, expected 512");
  good();
  q.shape[0] = 4;
  expect_refused("half: argument 'q': axis 0 has extent 4, expected 3 (S)");
  good();
  p.shape[0] = q.shape[0] = 65536;
  expect_refused("half: argument 'p': axis 0 has extent 65536, so S is 65536, expected a value in [1, 65536)");
  p.shape[0] = q.shape[0] = 0;
  expect_refused("half: argument 'p': axis 0 has extent 0, so S is 0, expected a value in [1, 65536)");
  p.shape[0] = q.shape[0] = INT64_C(1) << 31;
  expect_refused("half: argument 'p': axis 0 has extent 2147483648; extents lie in [0, 2^31)");
  good();
  p.shape[0] = q.shape[0] = 1;
  expect_ok();
  q.t.data = (void *)(uintptr_t)0x40000000;
  p.shape[0] = q.shape[0] = 65535;
  expect_ok();
}
END_TEST

START_TEST(strides) {
  good();
  p.t.strides = p.strides;
  p.strides[0] = 512;
  p.strides[1] = 1;
  expect_ok();
  p.strides[0] = 513;
  expect_refused("half: argument 'p': axis 0 has stride 513, expected 512 (C order)");
  p.strides[0] = 1;
  p.strides[1] = 3;
  expect_refused("half: argument 'p': axis 1 has stride 3, expected 1 (C order)");
  p.shape[0] = q.shape[0] = 1; /* the stride of an axis of one never counts */
  p.strides[0] = -77;
  p.strides[1] = 1;
  expect_ok();
}
END_TEST

START_TEST(device) {
  good();
  q.t.device = (DLDevice){kDLCPU, 0};
  expect_refused("half: argument 'q': the tensor is on cpu:0, expected cuda:0");
  q.t.device = (DLDevice){kDLCUDA, 1};
  expect_refused("half: argument 'q': the tensor is on cuda:1, expected cuda:0");
  q.t.device = (DLDevice){kDLExtDev, 3};
  expect_refused("half: argument 'q': the tensor is on DLPack device type 12:3, expected cuda:0");
  q.t.device = (DLDevice){(DLDeviceType)0, 0};
  expect_refused("half: argument 'q': the tensor is on DLPack device type 0:0, expected cuda:0");
  q.t.device = (DLDevice){kDLCUDAManaged, 0};
  expect_ok();
}
END_TEST

START_TEST(alignment_and_null) {
  good();
  p.t.byte_offset = 8;
  expect_refused("half: argument 'p': the first element is at address 0x10008, expected a multiple of 16");
  p.t.data = (void *)(uintptr_t)0x10008;
  expect_ok(); /* address and offset together are aligned */
  p.t.byte_offset = UINT64_MAX - 7;
  expect_refused("half: argument 'p': a byte offset of 18446744073709551608 leaves the address space");
  good();
  q.t.data = NULL;
  expect_refused("half: argument 'q': the tensor's data is null");
}
END_TEST

START_TEST(overlap) {
  good();
  q.t.data = (void *)(uintptr_t)(0x10000 + 3 * 2048 - 16);
  expect_refused("half: argument 'q': [0x117f0, 0x12ff0) overlaps 'p' [0x10000, 0x11800), which is a ConstTensor");
  q.t.data = (void *)(uintptr_t)(0x10000 + 3 * 2048);
  expect_ok();
  q.t.data = (void *)(uintptr_t)(0x10000 - 3 * 2048);
  expect_ok();
  q.t.data = p.t.data;
  expect_refused("half: argument 'q': [0x10000, 0x11800) overlaps 'p' [0x10000, 0x11800), which is a ConstTensor");
}
END_TEST

/* barrier(m: Tensor (4*K, ceildiv(K, 8)) bf16 with row pitch 2*K, host: Tensor (3) u8 in host memory, n: i64) */
static tf_status call_barrier(test_tensor *m, test_tensor *host, tf_argument n) {
  tf_argument arguments[] = {of_tensor(m), of_tensor(host), n};
  return call_entry("barrier", arguments, 3);
}

START_TEST(strided_host_and_scalar) {
  test_tensor m, host;
  barrier_tensors(&m, 0x10000, 40, 2, &host);
  ck_assert_msg(call_barrier(&m, &host, of_int(-5)) == TF_OK, "%s", tf_runtime_message(rt));
  m.strides[0] = 2;
  ck_assert_int_eq(call_barrier(&m, &host, of_int(-5)), TF_LAUNCH);
  ck_message("barrier: argument 'm': axis 0 has stride 2, expected 20");
  tf_runtime_clear_error(rt);
  m.t.strides = NULL;
  ck_assert_int_eq(call_barrier(&m, &host, of_int(-5)), TF_LAUNCH);
  ck_message("barrier: argument 'm': axis 0 has stride 2, expected 20");
  tf_runtime_clear_error(rt);
  host.t.device.device_type = kDLCUDA;
  ck_assert_int_eq(call_barrier(&m, &host, of_int(-5)), TF_LAUNCH);
  ck_message("barrier: argument 'host': the tensor is on cuda:0, expected host memory");
  tf_runtime_clear_error(rt);
  host.t.device.device_type = kDLCUDAHost;
  ck_assert_int_eq(call_barrier(&m, &host, of_float(1)), TF_LAUNCH);
  ck_message("barrier: argument 'n': a floating-point value for an integer dtype (i64): got 1");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_barrier(&m, &host, of_tensor(&m)), TF_LAUNCH);
  ck_message("barrier: argument 'n': expected a scalar (i64): got a tensor");
  tf_runtime_clear_error(rt);
  m.shape[0] = 42;
  ck_assert_int_eq(call_barrier(&m, &host, of_int(0)), TF_LAUNCH);
  ck_message("barrier: argument 'm': axis 0 has extent 42, expected a multiple of 4 (it is 4*K)");
}
END_TEST

/* What is wrong with a scalar, and what came: of each kind of argument one that is refused and one that is not. */
START_TEST(scalars) {
  test_tensor m, host;
  barrier_tensors(&m, 0, 0, 0, &host);
  static const struct {
    tf_argument argument;
    const char *message;
  } cases[] = {
      {{.kind = TF_ARGUMENT_INT, .value.i = INT64_MIN}, NULL},
      {{.kind = TF_ARGUMENT_UINT, .value.u = INT64_MAX}, NULL},
      {{.kind = TF_ARGUMENT_BITS, .value.u = UINT64_MAX}, NULL},
      {{.kind = TF_ARGUMENT_UINT, .value.u = UINT64_MAX},
       "the value is out of the dtype's range (i64): got 18446744073709551615"},
      {{.kind = TF_ARGUMENT_FLOAT, .value.f = -0.1},
       "a floating-point value for an integer dtype (i64): got -0.10000000000000001"},
      {{.kind = TF_ARGUMENT_TENSOR}, "expected a scalar (i64): got a tensor"},
      {{.kind = (tf_argument_kind)17}, "unknown kind of argument (i64): got 17"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char message[128];
    tf_status status = call_barrier(&m, &host, cases[i].argument);
    ck_assert_int_eq(status, cases[i].message ? TF_LAUNCH : TF_OK);
    snprintf(message, sizeof message, "barrier: argument 'n': %s", cases[i].message ? cases[i].message : "");
    if (cases[i].message) ck_message(message);
    tf_runtime_clear_error(rt);
  }
}
END_TEST

/* An empty tensor needs no data, no alignment and no strides. */
START_TEST(empty_tensor) {
  test_tensor m, host;
  barrier_tensors(&m, 0, 0, 0, &host);
  ck_assert_msg(call_barrier(&m, &host, of_int(0)) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launch_count, 1);
}
END_TEST

START_TEST(first_error_stays) {
  good();
  q.t.ndim = 1;
  ck_assert_int_eq(call(), TF_LAUNCH);
  good();
  p.t.dtype.bits = 16;
  ck_assert_int_eq(call(), TF_LAUNCH);
  ck_message("half: argument 'q': the tensor has 1 axes, expected 2");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(tf_runtime_status(rt), TF_OK);
  ck_message("");
}
END_TEST

int main(void) {
  TCase *c = tcase_create("arguments");
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, right);
  tcase_add_test(c, count);
  tcase_add_test(c, kind);
  tcase_add_test(c, dtype);
  tcase_add_test(c, rank);
  tcase_add_test(c, extents);
  tcase_add_test(c, strides);
  tcase_add_test(c, device);
  tcase_add_test(c, alignment_and_null);
  tcase_add_test(c, overlap);
  tcase_add_test(c, strided_host_and_scalar);
  tcase_add_test(c, scalars);
  tcase_add_test(c, empty_tensor);
  tcase_add_test(c, first_error_stays);
  return run_case("arguments", c);
}
