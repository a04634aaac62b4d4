/* Host functions as machine code, written in C here: what the function table does, and what it frees on every way out. */
#include "CompiledFixture.h"
#include "Harness.h"

static tf_compiled_fn *body; /* of the entry `main` */

static int32_t run_body(tf_call *call, const tf_compiled_value *values) {
  return body(call, values);
}

static int32_t run_half(tf_call *call, const tf_compiled_value *values);

static const tf_compiled_entry entries[] = {{"main", run_body},     {"half", run_half},     {"barrier", run_nothing},
                                            {"exact", run_nothing}, {"loose", run_nothing}, {"compiled", run_nothing}};
static const tf_compiled_place nowhere = {NULL, 0, 0};

static void setup_compiled(void) {
  open_with(entries);
}

/* Calls main on tensors that are never read, with S = 6, unless `made` are given. */
static test_tensor y;

static tf_status call_body(tf_compiled_fn *function, int64_t count) {
  body = function;
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 6, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(count)};
  return tf_entry_call(entry_of("main"), fake_stream(1), arguments, 3);
}

/* ---- Values and launches ----------------------------------------------------------------------------------------- */

static int32_t look(tf_call *call, const tf_compiled_value *v) {
  ck_assert(call->api->size == sizeof(tf_compiled_api));
  ck_assert_uint_eq(v[0].bits, 0x1000000);
  ck_assert(v[0].shape[0] == 6 && v[0].shape[1] == 512 && v[1].bits == 0x2000000);
  ck_assert_uint_eq(v[2].bits, 0xfffb);
  return TF_OK;
}

START_TEST(values_are_the_arguments) {
  ck_assert_msg(call_body(look, -5) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_int_eq(call_body(look, 32768), TF_LAUNCH); /* checked before: the body does not run */
  ck_message("main: argument 'count': the value is out of the dtype's range (i16): got 32768");
}
END_TEST

/* scale(x, a, y) on rows from, from + 1 of x: a window with these arguments. */
static int64_t first_row, row_stride, column_stride, scalar_kind, grid_x, launch_flags;
static uint64_t scalar_bits;

static int32_t launch_rows(tf_call *call, const tf_compiled_value *v) {
  int64_t shape[] = {2, 512};
  tf_compiled_mode modes[] = {{0, 2, row_stride}, {1, 512, column_stride}};
  tf_compiled_view view = {.name = "x",
                           .data = v[0].bits,
                           .size = 6 * 512,
                           .offset = first_row * 512,
                           .dtype = TF_ELEMENT_F32,
                           .rank = 2,
                           .shape = shape,
                           .mode_count = 2,
                           .modes = modes};
  tf_compiled_view whole = view;
  whole.data = v[1].bits;
  whole.offset = 0;
  int64_t rows[] = {2, 512};
  tf_compiled_mode plain[] = {{0, 2, 512}, {1, 512, 1}};
  whole.shape = rows;
  whole.modes = plain;
  tf_compiled_argument arguments[] = {
      {TF_COMPILED_VIEW, 0, &view}, {scalar_kind, scalar_bits, NULL}, {TF_COMPILED_VIEW, 0, &whole}};
  tf_compiled_launch l = {.grid = {grid_x, 1, 1}, .block = {128, 1, 1}, .argument_count = 3, .arguments = arguments};
  l.flags = launch_flags;
  return call->api->launch(call, &place, &l);
}

static void set_rows(int64_t first, int64_t row, int64_t column, int64_t kind, uint64_t bits, int64_t grid) {
  first_row = first;
  row_stride = row;
  column_stride = column;
  scalar_kind = kind;
  scalar_bits = bits;
  grid_x = grid;
  launch_flags = 0;
  fake.launch_count = 0;
  tf_runtime_clear_error(rt);
}

static void expect_refused(const char *message) {
  ck_assert_int_eq(call_body(launch_rows, 0), TF_LAUNCH);
  ck_message(message);
  ck_assert_uint_eq(fake.launch_count, 0);
}

START_TEST(launches_of_windows) {
  double half = 0.5, tenth = 0.1;
  uint64_t half_bits, tenth_bits;
  memcpy(&half_bits, &half, 8);
  memcpy(&tenth_bits, &tenth, 8);
  set_rows(4, 512, 1, TF_COMPILED_BITS, 0x7f801234, 2); /* a NaN that stays what it is */
  ck_assert_msg(call_body(launch_rows, 0) == TF_OK, "%s", tf_runtime_message(rt));
  const fake_launch *l = &fake.launches[0];
  ck_assert(l->params[0] == 0x1000000 + 4 * 512 * 4 && l->params[1] == 0x7f801234 && l->params[2] == 0x2000000);
  ck_assert(l->params[3] == 2 && l->grid[0] == 2 && l->block[0] == 128 && l->stream == fake_stream(1));
  set_rows(0, 512, 1, TF_COMPILED_FLOAT, tenth_bits, 2);
  ck_assert_int_eq(call_body(launch_rows, 0), TF_OK);
  ck_assert_uint_eq(fake.launches[0].params[1], 0x3dcccccd);
  set_rows(0, 512, 1, TF_COMPILED_INT, (uint64_t)-3, 2);
  ck_assert_int_eq(call_body(launch_rows, 0), TF_OK);
  ck_assert_uint_eq(fake.launches[0].params[1], 0xc0400000);
  set_rows(0, 512, 1, TF_COMPILED_INT, (1u << 24) + 1, 2);
  expect_refused("c.tir:3:5: main: a: the integer is not exact in the dtype; pass a float");
  set_rows(5, 512, 1, TF_COMPILED_FLOAT, half_bits, 2);
  expect_refused("c.tir:3:5: main: x: the window leaves its tensor");
  set_rows(-1, 512, 1, TF_COMPILED_FLOAT, half_bits, 2);
  expect_refused("c.tir:3:5: main: x: the window leaves its tensor");
  set_rows(0, 1024, 1, TF_COMPILED_FLOAT, half_bits, 2);
  expect_refused("c.tir:3:5: kernel 'scale': refused: argument 'x': axis 0 has stride 1024, expected 512 (C order)");
  set_rows(0, 1, 6, TF_COMPILED_FLOAT, half_bits, 2);
  expect_refused("c.tir:3:5: kernel 'scale': refused: argument 'x': axis 1 has stride 6, expected 1 (C order)");
  set_rows(0, 512, 1, TF_COMPILED_FLOAT, half_bits, 3);
  expect_refused("c.tir:3:5: kernel 'scale': the grid is (3, 1, 1), the kernel needs 2 CTAs (S) in it");
  set_rows(0, 512, 1, TF_COMPILED_FLOAT, half_bits, -2);
  expect_refused("c.tir:3:5: main: scale: an extent is negative");
  launch_flags = TF_COMPILED_OWN_GRID; /* grid is not read */
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_body(launch_rows, 0), TF_OK);
  ck_assert_uint_eq(fake.launches[0].grid[0], 2);
}
END_TEST

/* ---- Calls and ends ---------------------------------------------------------------------------------------------- */

static int depth_of_temporaries;

static int32_t run_half(tf_call *call, const tf_compiled_value *values) {
  uint64_t address;
  int32_t status = call->api->allocate(call, &place, "t", TF_ELEMENT_F32, 0, 100, &address);
  depth_of_temporaries = (int)fake.live_memory;
  return status != TF_OK || values[0].shape[0] != 6 ? status
                                                    : call->api->fail(call, &place, TF_COMPILED_ABORT, NULL, "six");
}

static int32_t call_half(tf_call *call, const tf_compiled_value *v) {
  uint64_t address;
  tf_compiled_argument arguments[] = {{TF_COMPILED_PARAM, 0, NULL}, {TF_COMPILED_PARAM, v[2].bits, NULL}};
  int32_t status = call->api->allocate(call, &place, "t", TF_ELEMENT_F64, 0, 10, &address);
  return status == TF_OK ? call->api->call(call, &place, 1, arguments, 2) : status;
}

START_TEST(calls_of_other_functions) {
  ck_assert_int_eq(call_body(call_half, 1), TF_TRAP);
  ck_message("c.tir:3:5: half: abort: six");
  ck_assert_int_eq(depth_of_temporaries, 2);
  ck_assert_int_eq(fake.live_memory, 0);
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_body(call_half, 0), TF_LAUNCH); /* half(x, x): what is written overlaps a ConstTensor */
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "c.tir:3:5: main: half: argument 'q'"));
  ck_assert_int_eq(fake.live_memory, 0);
}
END_TEST

static int64_t fault;

static int32_t stop(tf_call *call, const tf_compiled_value *v) {
  (void)v;
  return call->api->fail(call, fault == TF_COMPILED_SHIFT ? &nowhere : &place, fault, fault ? "scale" : NULL,
                         fault ? NULL : "");
}

START_TEST(faults_have_messages) {
  static const char *const messages[] = {
      "c.tir:3:5: main: abort: (no message)", "c.tir:3:5: main: scale: the arithmetic overflows 64 bits",
      "c.tir:3:5: main: scale: division by zero", "main: scale: a shift by less than 0 or more than 63"};
  for (fault = TF_COMPILED_ABORT; fault <= TF_COMPILED_SHIFT; fault++) {
    ck_assert_int_eq(call_body(stop, 0), fault ? TF_LAUNCH : TF_TRAP);
    ck_message(messages[fault]);
    tf_runtime_clear_error(rt);
  }
}
END_TEST

/* ---- Temporaries ------------------------------------------------------------------------------------------------- */

static int end_with; /* 0: returns; 1: aborts; 2: a launch is refused */

static int32_t use_temporaries(tf_call *call, const tf_compiled_value *v) {
  const tf_compiled_api *api = call->api;
  uint64_t address;
  int32_t status = TF_OK;
  for (int i = 0; i < 9 && status == TF_OK; i++)
    status = api->allocate(call, &place, "t", TF_ELEMENT_F32, i % 3 == 0, 1000 * i, &address);
  ck_assert_int_eq(fake.live_memory, 6);
  ck_assert_int_eq(api->mark(call), 9);
  ck_assert_int_eq(api->release(call, 4), TF_OK);
  ck_assert_int_eq(fake.live_memory, 2);
  ck_assert_int_eq(api->release(call, 4), TF_OK);
  ck_assert_int_eq(api->mark(call), 4);
  if (end_with == 1) return api->fail(call, &place, TF_COMPILED_ABORT, NULL, "on purpose");
  return end_with == 2 ? launch_rows(call, v) : status;
}

START_TEST(temporaries_end_with_the_function) {
  set_rows(9, 512, 1, TF_COMPILED_BITS, 0, 2);
  const tf_status wanted[] = {TF_OK, TF_TRAP, TF_LAUNCH};
  for (end_with = 0; end_with < 3; end_with++) {
    tf_runtime_clear_error(rt);
    ck_assert_int_eq(call_body(use_temporaries, 0), wanted[end_with]);
    ck_assert_int_eq(fake.live_memory, 0);
  }
}
END_TEST

static CUresult no_pools(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  (void)ptr, (void)bytes, (void)stream;
  return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult no_function(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  (void)ptr, (void)bytes, (void)stream;
  return TF_CUDA_ERROR_MISSING_FUNCTION;
}

START_TEST(devices_without_memory_pools) {
  end_with = 0;
  rt->driver.cuMemAllocAsync = no_pools;
  ck_assert_msg(call_body(use_temporaries, 0) == TF_OK, "%s", tf_runtime_message(rt));
  rt->driver.cuMemAllocAsync = no_function;
  ck_assert_msg(call_body(use_temporaries, 0) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_int_eq(fake.live_memory, 0);
}
END_TEST

static int32_t ask_for_too_much(tf_call *call, const tf_compiled_value *v) {
  uint64_t address = 77;
  bool negative = v[2].bits != 0;
  int32_t status = call->api->allocate(call, &place, "big", TF_ELEMENT_F64, 0, negative ? -1 : INT64_MAX / 4, &address);
  ck_assert_uint_eq(address, 77);
  return status;
}

START_TEST(impossible_sizes) {
  ck_assert_int_eq(call_body(ask_for_too_much, 0), TF_OUT_OF_MEMORY);
  ck_message("c.tir:3:5: main: big: out of memory");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_body(ask_for_too_much, 1), TF_LAUNCH);
  ck_message("c.tir:3:5: main: big: an extent is negative");
}
END_TEST

/* ---- Work on other streams ends before temporaries go ------------------------------------------------------------ */

static int32_t launch_elsewhere(tf_call *call, const tf_compiled_value *v) {
  uint64_t address;
  (void)v;
  int32_t status = call->api->allocate(call, &place, "t", TF_ELEMENT_F32, 0, 8, &address);
  tf_compiled_launch l = {.flags = TF_COMPILED_STREAM | TF_COMPILED_OWN_GRID | TF_COMPILED_OWN_BLOCK};
  tf_compiled_argument arguments[] = {
      {TF_COMPILED_PARAM, 0, NULL}, {TF_COMPILED_BITS, 0, NULL}, {TF_COMPILED_PARAM, 1, NULL}};
  l.arguments = arguments;
  l.argument_count = 3;
  for (int i = 2; i < 4 && status == TF_OK; i++) {
    l.stream = (uint64_t)(uintptr_t)fake_stream(i);
    status = call->api->launch(call, &place, &l);
    if (status == TF_OK) status = call->api->launch(call, &place, &l);
  }
  return status;
}

START_TEST(other_streams) {
  ck_assert_msg(call_body(launch_elsewhere, 0) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launch_count, 4);
  ck_assert(fake.launches[0].stream == fake_stream(2) && fake.launches[3].stream == fake_stream(3));
  ck_assert_uint_eq(fake.waits, 2); /* the call's stream for each of the others; the host for none */
  ck_assert(fake.waiting == fake_stream(1) && fake.awaited == fake_stream(3));
  ck_assert_int_eq(fake.live_events, 0);
}
END_TEST

/* ---- Copies, fills, loads ---------------------------------------------------------------------------------------- */

/* A (7, 9) view of every width, in both memories: row-major with gaps of 2 elements. */
static int width_log, from_host, to_host;
static unsigned char image[8 * 100];

static tf_compiled_view wide_view(uint64_t data, bool host, const int64_t *shape, const tf_compiled_mode *modes) {
  static const int64_t dtypes[] = {TF_ELEMENT_U8, TF_ELEMENT_F16, TF_ELEMENT_F32, TF_ELEMENT_F64};
  return (tf_compiled_view){.name = host ? "h" : "d",
                            .data = data,
                            .size = 80,
                            .offset = 3,
                            .dtype = dtypes[width_log],
                            .is_host = host,
                            .rank = 2,
                            .shape = shape,
                            .mode_count = 2,
                            .modes = modes};
}

static int32_t move_around(tf_call *call, const tf_compiled_value *v) {
  const tf_compiled_api *api = call->api;
  int64_t shape[] = {7, 9},
          dtype = (int64_t[]){TF_ELEMENT_U8, TF_ELEMENT_F16, TF_ELEMENT_F32, TF_ELEMENT_F64}[width_log];
  tf_compiled_mode rows[] = {{0, 7, 11}, {1, 9, 1}}, columns[] = {{0, 7, 1}, {1, 9, 8}};
  uint64_t source = 0, target = 0, pattern = UINT64_C(0x8877665544332211), bits = 0;
  (void)v;
  int32_t status = api->allocate(call, &place, "s", dtype, from_host, 80, &source);
  if (status == TF_OK) status = api->allocate(call, &place, "t", dtype, to_host, 80, &target);
  if (status != TF_OK) return status;
  if (width_log < 3) pattern &= (UINT64_C(1) << (8 << width_log)) - 1;
  memcpy((void *)(uintptr_t)source, image, (size_t)80 << width_log);
  memset((void *)(uintptr_t)target, 0x5a, (size_t)80 << width_log);
  tf_compiled_view a = wide_view(source, from_host, shape, rows), b = wide_view(target, to_host, shape, columns);
  status = api->copy(call, &place, &a, &b);
  tf_compiled_view cell = wide_view(target, to_host, (int64_t[]){1, 3}, (tf_compiled_mode[]){{0, 1, 0}, {1, 3, 8}});
  if (status == TF_OK) status = api->fill(call, &place, &cell, pattern);
  const unsigned char *got = (void *)(uintptr_t)target;
  size_t width = (size_t)1 << width_log;
  for (size_t i = 0; i < 7 && status == TF_OK; i++)
    for (size_t j = 0; j < 9; j++) {
      const void *want = i == 0 && j < 3 ? (const void *)&pattern : image + (3 + i * 11 + j) * width;
      ck_assert_int_eq(memcmp(got + (3 + i + j * 8) * width, want, width), 0);
    }
  ck_assert(got[0] == 0x5a && got[(3 + 7) * width] == 0x5a);
  if (status == TF_OK && to_host) status = api->load(call, &place, &b, (int64_t[]){6, 2}, &bits);
  if (status == TF_OK && to_host) ck_assert_int_eq(memcmp(&bits, image + (3 + 6 * 11 + 2) * width, width), 0);
  return status;
}

START_TEST(copies_of_every_width) {
  for (size_t i = 0; i < sizeof image; i++)
    image[i] = (unsigned char)(i * 37 + i / 256);
  for (width_log = 0; width_log < 4; width_log++)
    for (int way = 1; way < 4; way++) {
      from_host = way == 1;
      to_host = way == 2;
      ck_assert_msg(call_body(move_around, 0) == TF_OK, "%s", tf_runtime_message(rt));
    }
}
END_TEST

START_TEST(pitches_that_a_driver_refuses) {
  fake.picky_pitches = 1;
  for (width_log = 0; width_log < 4; width_log++) {
    from_host = to_host = 0;
    ck_assert_msg(call_body(move_around, 0) == TF_OK, "%s", tf_runtime_message(rt));
  }
  ck_message("");
}
END_TEST

static int32_t use_packed(tf_call *call, const tf_compiled_value *v) {
  uint64_t t = 0, h = 0;
  int64_t count = 5, offset = (int16_t)v[2].bits;
  tf_compiled_mode mode = {0, 5, 1};
  int32_t status = call->api->allocate(call, &place, "t", TF_ELEMENT_I4, 0, 9, &t);
  if (status == TF_OK) status = call->api->allocate(call, &place, "h", TF_ELEMENT_I4, 1, 5, &h);
  if (status != TF_OK) return status;
  tf_compiled_view a = {"t", t, 9, offset, TF_ELEMENT_I4, 0, 1, &count, 1, &mode, 0, NULL, 0};
  tf_compiled_view b = {"h", h, 5, 0, TF_ELEMENT_I4, 1, 1, &count, 1, &mode, 0, NULL, 0};
  memcpy((void *)(uintptr_t)t, (unsigned char[]){0x21, 0x43, 0x65, 0x87, 0x09}, 5);
  status = call->api->copy(call, &place, &a, &b);
  const unsigned char *got = (void *)(uintptr_t)h;
  if (status == TF_OK) ck_assert(got[0] == (offset ? 0x43 : 0x21) && (got[2] & 15) == (offset ? 7 : 5));
  if (status == TF_OK) status = call->api->fill(call, &place, &b, 0xf);
  if (status == TF_OK) ck_assert(got[0] == 0xff && (got[2] & 15) == 15);
  return status;
}

START_TEST(packed_elements_move_as_bytes) {
  ck_assert_msg(call_body(use_packed, 0) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_msg(call_body(use_packed, 2) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_int_eq(call_body(use_packed, 1), TF_UNSUPPORTED);
  ck_message("c.tir:3:5: main: h: the window begins or ends inside a byte");
}
END_TEST

/* ---- Each driver call in turn ------------------------------------------------------------------------------------ */

static int32_t everything(tf_call *call, const tf_compiled_value *v) {
  int32_t status = TF_OK;
  for (int way = 1; way < 4 && status == TF_OK; way++) {
    from_host = way == 1;
    to_host = way == 2;
    width_log = way;
    status = move_around(call, v);
  }
  return status == TF_OK ? launch_rows(call, v) : status;
}

START_TEST(every_call_fails_in_turn) {
  set_rows(0, 512, 1, TF_COMPILED_BITS, 0, 2);
  ck_assert_int_eq(call_body(everything, 0), TF_OK);
  unsigned long before = fake.calls, total, n;
  ck_assert_int_eq(call_body(everything, 0), TF_OK);
  total = fake.calls - before;
  ck_assert_uint_gt(total, 20);
  for (n = 1; n <= total; n++) {
    fake.fail_at = fake.calls + n;
    fake.fail_result = CUDA_ERROR_UNKNOWN;
    fake.failed = NULL;
    tf_runtime_clear_error(rt);
    ck_assert_int_eq(call_body(everything, 0), TF_DRIVER);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s: unknown error (CUDA_ERROR_UNKNOWN)", fake.failed);
    ck_message(wanted);
    bool is_free = strcmp(fake.failed, "cuMemFreeAsync") == 0;
    ck_assert_int_eq(fake.live_memory, is_free); /* nobody can free that one again */
    if (is_free) fake.live_memory = 0;
    if (strcmp(fake.failed, "cuCtxPopCurrent") == 0) fake_set_current(NULL);
  }
  fake.fail_at = 0;
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_body(everything, 0), TF_OK);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("compiled");
  tcase_add_checked_fixture(c, setup_compiled, teardown);
  tcase_add_test(c, values_are_the_arguments);
  tcase_add_test(c, launches_of_windows);
  tcase_add_test(c, calls_of_other_functions);
  tcase_add_test(c, faults_have_messages);
  tcase_add_test(c, temporaries_end_with_the_function);
  tcase_add_test(c, devices_without_memory_pools);
  tcase_add_test(c, impossible_sizes);
  tcase_add_test(c, other_streams);
  tcase_add_test(c, copies_of_every_width);
  tcase_add_test(c, pitches_that_a_driver_refuses);
  tcase_add_test(c, packed_elements_move_as_bytes);
  tcase_add_test(c, every_call_fails_in_turn);
  return run_case("compiled", c);
}
