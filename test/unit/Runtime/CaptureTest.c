/* Calls while streams are being captured, on a driver that counts every call that would end the capture: none may be made,
 * whatever fails. What the graphs do is tested on the simulated device (LowerToLLVM/GraphTest.c). */
#include "CompiledFixture.h"
#include "Harness.h"

static test_tensor y;
static tf_compiled_fn *body;

static int32_t run_body(tf_call *call, const tf_compiled_value *values) {
  return body(call, values);
}

static const tf_compiled_entry entries[ENTRIES] = {{"main", run_body},       {"half", run_nothing},
                                                   {"barrier", run_nothing}, {"exact", run_nothing},
                                                   {"loose", run_nothing},   {"compiled", run_nothing}};

static tf_status call_body(tf_compiled_fn *function) {
  body = function;
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 6, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(0)};
  return tf_entry_call(entry_of("main"), fake_stream(1), arguments, 3);
}

static void setup_capture(void) {
  open_with(entries);
  fake.capturing = 1;
}

static void end_capture(void) {
  ck_assert_uint_eq(fake.forbidden, 0);
  fake.capturing = 0;
  fake_end_graph();
  ck_assert_int_eq(fake.live_objects, 0);
  ck_assert_int_eq(fake.live_events, 0);
  teardown();
}

/* ---- Everything that a function can do --------------------------------------------------------------------------- */

static uint64_t device, host;

static int32_t allocate(tf_call *call) {
  int32_t status = call->api->allocate(call, &place, "t", TF_ELEMENT_I32, 0, 64, &device);
  return status == TF_OK ? call->api->allocate(call, &place, "h", TF_ELEMENT_I32, 1, 64, &host) : status;
}

static int32_t launch_on(tf_call *call, int stream) {
  tf_compiled_launch l = {.flags = TF_COMPILED_STREAM | TF_COMPILED_OWN_GRID | TF_COMPILED_OWN_BLOCK};
  tf_compiled_argument arguments[] = {
      {TF_COMPILED_PARAM, 0, NULL}, {TF_COMPILED_BITS, 0, NULL}, {TF_COMPILED_PARAM, 1, NULL}};
  l.arguments = arguments;
  l.argument_count = 3;
  l.stream = (uint64_t)(uintptr_t)fake_stream(stream);
  return call->api->launch(call, &place, &l);
}

/* Copies 64 numbers from a to b where `way` is 0 (in) or 1 (out), or fills b. */
static int32_t move(tf_call *call, int way) {
  int64_t shape = 64;
  tf_compiled_mode mode = {0, 64, 1};
  tf_compiled_view d = {"t", device, 64, 0, TF_ELEMENT_I32, 0, 1, &shape, 1, &mode, 0, NULL, 0};
  tf_compiled_view h = {"h", host, 64, 0, TF_ELEMENT_I32, 1, 1, &shape, 1, &mode, 0, NULL, 0};
  if (way == 2) return call->api->fill(call, &place, &h, 17);
  return way ? call->api->copy(call, &place, &d, &h) : call->api->copy(call, &place, &h, &d);
}

static int32_t everything(tf_call *call, const tf_compiled_value *v) {
  int32_t status = allocate(call);
  (void)v;
  if (status == TF_OK) status = move(call, 2);
  if (status == TF_OK) status = move(call, 0);
  for (int stream = 1; stream < 4 && status == TF_OK; stream++)
    status = launch_on(call, stream);
  if (status == TF_OK) status = move(call, 1);
  return status;
}

START_TEST(nothing_is_waited_for) {
  ck_assert_msg(call_body(everything) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.host_nodes, 1);
  ck_assert_int_eq(fake.live_memory, 0); /* allocated and freed in stream order */
  ck_assert_int_eq(fake.live_objects, 2);
  ck_assert_int_eq(((int32_t *)(uintptr_t)host)[63], 17); /* the graph's, after the call too */
  ck_assert_uint_eq(fake.waits, 2);
}
END_TEST

/* A failure of any call is told by its name, and leaves nothing behind but the graph's. */
START_TEST(every_call_fails_in_turn) {
  unsigned long before = fake.calls, total, n;
  ck_assert_int_eq(call_body(everything), TF_OK);
  total = fake.calls - before;
  ck_assert_uint_gt(total, 25);
  for (n = 1; n <= total; n++) {
    fake.fail_at = fake.calls + n;
    fake.fail_result = CUDA_ERROR_UNKNOWN;
    fake.failed = NULL;
    tf_runtime_clear_error(rt);
    ck_assert_int_eq(call_body(everything), TF_DRIVER);
    char wanted[128];
    bool v1 = strcmp(fake.failed, "cuStreamGetCaptureInfo_v1") == 0;
    snprintf(wanted, sizeof wanted, "%s: unknown error (CUDA_ERROR_UNKNOWN)",
             v1 ? "cuStreamGetCaptureInfo" : fake.failed);
    ck_message(wanted);
    bool is_free = strcmp(fake.failed, "cuMemFreeAsync") == 0;
    ck_assert_int_eq(fake.live_memory, is_free); /* nobody can free that one again */
    if (is_free) fake.live_memory = 0;
    if (strcmp(fake.failed, "cuEventDestroy") == 0) fake.live_events = 0;
    ck_assert_int_eq(fake.live_events, 0);
    if (strcmp(fake.failed, "cuCtxPopCurrent") == 0) fake_set_current(NULL);
    fake_end_graph();
    ck_assert_int_eq(fake.live_objects, 0);
  }
  fake.fail_at = 0;
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_body(everything), TF_OK);
}
END_TEST

/* ---- What cannot be -------------------------------------------------------------------------------------------- */

static int32_t elsewhere(tf_call *call, const tf_compiled_value *v) {
  (void)v;
  return launch_on(call, 2);
}

/* One of the two streams is captured, the other is not: whichever it is, the launch is refused and not made. */
START_TEST(streams_of_different_captures) {
  for (int captured = 1; captured < 3; captured++) {
    fake.captured_stream = fake_stream(captured);
    ck_assert_int_eq(call_body(elsewhere), TF_UNSUPPORTED);
    ck_message("c.tir:3:5: main: stream: it and the call's stream do not belong to the same capture of a graph: let it "
               "wait for an event of the captured stream first, or capture neither");
    tf_runtime_clear_error(rt);
  }
  fake.captured_stream = fake_stream(3);
  ck_assert_int_eq(call_body(elsewhere), TF_OK);
  fake.captured_stream = NULL;
  ck_assert_int_eq(call_body(elsewhere), TF_OK);
  ck_assert_uint_eq(fake.launch_count, 2);
}
END_TEST

static int32_t only_device(tf_call *call, const tf_compiled_value *v) {
  (void)v;
  return call->api->allocate(call, &place, "t", TF_ELEMENT_I32, 0, 64, &device);
}

static int32_t only_host(tf_call *call, const tf_compiled_value *v) {
  (void)v;
  return call->api->allocate(call, &place, "h", TF_ELEMENT_I32, 1, 64, &host);
}

static void open_old(void) {
  fake.version = 11030;
  open_runtime();
}

static void open_without_pools(void) {
  fake.pools = 0;
  open_runtime();
}

/* Drivers and devices whose graphs own no memory: refused before the driver is asked, allowed outside of a capture. */
START_TEST(graphs_without_memory) {
  fake.capturing = 0;
  tf_program_unload(program);
  tf_runtime_destroy(rt);
  fake.closed = 0;
  (_i ? open_old : open_without_pools)();
  ck_assert_int_eq(load_entries(entries, ENTRIES, &program), TF_OK);
  tf_compiled_fn *const wanting[] = {only_device, only_host, everything};
  for (int k = 0; k < 3; k++) {
    fake.capturing = 1;
    ck_assert_int_eq(call_body(wanting[k]), TF_UNSUPPORTED);
    const char *name = k == 1 ? "main: h:" : "main: t:";
    ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), name));
    ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "graphs cannot own memory here"));
    tf_runtime_clear_error(rt);
    fake.capturing = 0;
    ck_assert_msg(call_body(wanting[k]) == TF_OK, "%s", tf_runtime_message(rt));
  }
}
END_TEST

/* A driver without the functions that ask about captures has none. */
START_TEST(drivers_without_captures) {
  fake.capturing = 0;
  rt->driver.cuStreamIsCapturing = NULL;
  rt->driver.cuStreamGetCaptureInfo_v1 = NULL;
  rt->driver.cuThreadExchangeStreamCaptureMode = NULL;
  tf_driver_fill_missing(&rt->driver);
  void *memory;
  ck_assert_int_eq(tf_device_alloc(rt, 4, &memory), TF_OK);
  ck_assert_msg(call_body(everything) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_int_eq(tf_stream_synchronize(rt, NULL), TF_OK);
  ck_assert_int_eq(tf_device_free(rt, memory), TF_OK);
}
END_TEST

/* ---- Other calls ------------------------------------------------------------------------------------------------- */

/* Allocations and loading are made in the mode that a capture permits, which ends with them. */
START_TEST(the_mode_is_put_back) {
  void *memory;
  tf_program *another = NULL;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  ck_assert_int_eq(rt->driver.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  ck_assert_int_eq(tf_device_alloc(rt, 4, &memory), TF_OK);
  ck_assert_int_eq(load_entries(entries, ENTRIES, &another), TF_OK);
  tf_program_unload(another);
  ck_assert_int_eq(tf_device_free(rt, memory), TF_OK);
  fake.fail_at = fake.calls + 4; /* getCurrent, push, exchange, the allocation */
  fake.fail_result = CUDA_ERROR_OUT_OF_MEMORY;
  ck_assert_int_eq(tf_device_alloc(rt, 4, &memory), TF_OUT_OF_MEMORY);
  ck_assert_str_eq(fake.failed, "cuMemAlloc");
  ck_assert_int_eq(rt->driver.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
  ck_assert_uint_eq(mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}
END_TEST

START_TEST(waits_are_refused) {
  char bytes[4] = {0};
  void *memory;
  ck_assert_int_eq(tf_device_alloc(rt, 4, &memory), TF_OK);
  for (int k = 0; k < 3; k++) {
    tf_runtime_clear_error(rt);
    static const char *const names[] = {"tf_device_copy_in", "tf_device_copy_out", "tf_stream_synchronize"};
    char wanted[160];
    ck_assert_int_eq(k == 0   ? tf_device_copy_in(rt, memory, bytes, 4, fake_stream(1))
                     : k == 1 ? tf_device_copy_out(rt, bytes, memory, 4, fake_stream(1))
                              : tf_stream_synchronize(rt, fake_stream(1)),
                     TF_UNSUPPORTED);
    snprintf(
        wanted, sizeof wanted,
        "%s: the stream is being captured into a graph, so it has no end to wait for: end the capture first, or use "
        "another stream",
        names[k]);
    ck_message(wanted);
  }
  ck_assert_int_eq(tf_device_free(rt, memory), TF_OK);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("capture");
  tcase_add_checked_fixture(c, setup_capture, end_capture);
  tcase_add_test(c, nothing_is_waited_for);
  tcase_add_test(c, every_call_fails_in_turn);
  tcase_add_test(c, streams_of_different_captures);
  tcase_add_loop_test(c, graphs_without_memory, 0, 2);
  tcase_add_test(c, drivers_without_captures);
  tcase_add_test(c, the_mode_is_put_back);
  tcase_add_test(c, waits_are_refused);
  return run_case("capture", c);
}
