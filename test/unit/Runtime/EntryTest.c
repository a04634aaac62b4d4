/* Entries as the manifest describes them: dispatch over half-open ranges with gaps, sequences, calls, windows, scalars in
 * expressions, aborts. main(x, y: (S, 512) f32, count: i16) dispatches on S: [1, 16), [32, 64), else abort. */
#include "Fixture.h"
#include "Harness.h"

static test_tensor x, y;

static tf_status call_main(int64_t s, int64_t count) {
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, s, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, s, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&y), of_int(count)};
  fake.launch_count = 0;
  fake.param_count = 4;
  return tf_entry_call(entry_of(NULL), fake_stream(2), arguments, 3);
}

START_TEST(first_case_is_a_sequence) {
  for (int64_t s = 1; s < 16; s += 7) {
    ck_assert_msg(call_main(s, 0) == TF_OK, "%s", tf_runtime_message(rt));
    ck_assert_uint_eq(fake.launch_count, 2);
    const fake_launch *a = &fake.launches[0], *b = &fake.launches[1];
    ck_assert(a->grid[0] == s && a->block[0] == 32 && a->block[1] == 4 && a->smem == 0);
    ck_assert_uint_eq(a->params[0], 0x1000000);
    ck_assert_uint_eq(a->params[1], 0x40400000); /* 0x1.8p1 */
    ck_assert_uint_eq(a->params[2], 0x2000000);
    ck_assert_uint_eq(a->params[3], (uint64_t)s);
    ck_assert_uint_eq(b->params[0], 0x2000000); /* half(y, x) */
    ck_assert_uint_eq(b->params[1], 0x3f000000);
    ck_assert_uint_eq(b->params[2], 0x1000000);
    ck_assert(b->smem == 16 && b->stream == fake_stream(2));
  }
}
END_TEST

START_TEST(second_case_has_windows) {
  ck_assert_msg(call_main(37, 100) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launch_count, 1);
  const fake_launch *l = &fake.launches[0];
  ck_assert_str_eq(l->call, "cuLaunchKernelEx"); /* programmatic stream serialization */
  ck_assert(l->pss && l->grid[0] == 1 && l->grid[1] == 18 && l->smem == 100);
  ck_assert_uint_eq(l->params[0], 0x1000000 + 18 * 512 * 4);
  ck_assert_uint_eq(l->params[1], 0x42c60000); /* 99 */
  ck_assert_uint_eq(l->params[2], 0x2000000);
  ck_assert_uint_eq(l->params[3], 18);
  ck_assert_int_eq(call_main(37, -3), TF_OK);
  ck_assert_uint_eq(fake.launches[0].smem, 64);
  ck_assert_uint_eq(fake.launches[0].params[1], 0xc0800000); /* -4 */
}
END_TEST

START_TEST(gaps_reach_the_fallback) {
  const int64_t outside[] = {16, 20, 31, 64, 1000};
  for (int i = 0; i < 5; i++) {
    ck_assert_int_eq(call_main(outside[i], 0), TF_TRAP);
    ck_message("e.tir:36:13: main: abort: no variant for this S");
    ck_assert_uint_eq(fake.launch_count, 0);
    tf_runtime_clear_error(rt);
  }
  ck_assert_int_eq(call_main(15, 0), TF_OK);
  ck_assert_int_eq(call_main(32, 0), TF_OK);
  ck_assert_int_eq(call_main(63, 0), TF_OK);
}
END_TEST

START_TEST(scalar_range) {
  ck_assert_int_eq(call_main(1, 32768), TF_LAUNCH);
  ck_message("main: argument 'count': the value is out of the dtype's range (i16): got 32768");
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

static tf_status call_through(const char *entry, uint64_t u, uint64_t v) {
  tensor_at(&x, u, kDLFloat, 32, 2, 6, 512);
  tensor_at(&y, v, kDLFloat, 32, 2, 6, 512);
  tf_argument arguments[] = {of_tensor(&x), of_float(0.75), of_tensor(&y)};
  fake.param_count = 4;
  fake.launch_count = 0;
  return tf_entry_call(entry_of(entry), NULL, arguments, 3);
}

/* Entries whose launch passes their parameters on; what was checked for the entry is not checked again if the kernel asks
 * for exactly the same. */
START_TEST(parameters_passed_through) {
  const char *const entries[] = {"exact", "loose"};
  for (int i = 0; i < 2; i++) {
    ck_assert_msg(call_through(entries[i], 0x100000, 0x200000) == TF_OK, "%s", tf_runtime_message(rt));
    const fake_launch *l = &fake.launches[0];
    ck_assert(l->grid[0] == 6 && l->params[0] == 0x100000 && l->params[1] == 0x3f400000 && l->params[2] == 0x200000);
    ck_assert_uint_eq(l->params[3], 6);
  }
  ck_assert_int_eq(call_through("exact", 0x100000, 0x100010), TF_LAUNCH);
  ck_message("exact: argument 'v': [0x100010, 0x103010) overlaps 'u' [0x100000, 0x103000), which is a ConstTensor");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_through("loose", 0x100000, 0x100010), TF_LAUNCH);
  ck_message(
      "kernel 'scale': refused: argument 'y': [0x100010, 0x103010) overlaps 'x' [0x100000, 0x103000), which is a "
      "ConstTensor");
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

START_TEST(const_overlap_inside_a_call) {
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 2, 512);
  tf_argument arguments[] = {of_tensor(&x), of_tensor(&x), of_int(0)};
  ck_assert_int_eq(tf_entry_call(entry_of("main"), NULL, arguments, 3), TF_LAUNCH);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "kernel 'scale': refused: argument 'y'"));
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

static char *text;

static void load_changed(const char *from, const char *to) {
  char *original = input_text("everything.json");
  text = replaced(original, from, to);
  free(original);
  tf_program_unload(program);
  program = NULL;
  ck_assert_msg(load_text(text, &program) == TF_OK, "%s", tf_runtime_message(rt));
  free(text);
}

START_TEST(windows_stay_inside) {
  load_changed("\"offset\": {\"op\": \"mul\", \"args\": [512,", "\"offset\": {\"op\": \"mul\", \"args\": [1024,");
  ck_assert_int_eq(call_main(32, 0), TF_LAUNCH);
  ck_message("e.tir:34:13: main: x: the window leaves its tensor");
  ck_assert_uint_eq(fake.launch_count, 0);
  tf_runtime_clear_error(rt);
  load_changed("\"offset\": {\"op\": \"mul\", \"args\": [512,", "\"offset\": {\"op\": \"mul\", \"args\": [-1,");
  ck_assert_int_eq(call_main(32, 0), TF_LAUNCH);
  ck_message("e.tir:34:13: main: x: the window leaves its tensor");
}
END_TEST

START_TEST(windows_keep_the_alignment) {
  load_changed("\"offset\": {\"op\": \"mul\", \"args\": [512,", "\"offset\": {\"op\": \"mul\", \"args\": [1,");
  ck_assert_int_eq(call_main(33, 0), TF_OK); /* 16 elements of 4 bytes */
  ck_assert_int_eq(call_main(35, 0), TF_LAUNCH);
  ck_message("e.tir:34:13: kernel 'scale': refused: argument 'x': the first element is at address 0x1000044, expected "
             "a multiple of 16");
}
END_TEST

START_TEST(windows_keep_the_alignment_through_calls) {
  load_changed(
      "\"args\": [{\"param\": \"y\"}, {\"param\": \"x\"}]",
      "\"args\": [{\"view\": \"y\", \"offset\": {\"op\": \"sub\", \"args\": [{\"var\": \"S\"}, 1]}, \"shape\": "
      "[{\"op\": \"sub\", \"args\": [{\"var\": \"S\"}, 1]}, 512]}, {\"view\": \"x\", \"offset\": 0, \"shape\": "
      "[{\"op\": \"sub\", \"args\": [{\"var\": \"S\"}, 1]}, 512]}]");
  ck_assert_msg(call_main(5, 0) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launches[1].params[0], 0x2000000 + 16);
  ck_assert_uint_eq(fake.launches[1].params[3], 4);
  ck_assert_int_eq(call_main(4, 0), TF_LAUNCH);
  ck_message("main: half: argument 'p': the first element is at address 0x200000c, expected a multiple of 16");
  ck_assert_uint_eq(fake.launch_count, 1);
}
END_TEST

START_TEST(formulas_can_fail) {
  load_changed("\"grid\": [1, {\"op\": \"floor_div\", \"args\": [{\"var\": \"S\"}, 2]}, 1]",
               "\"grid\": [1, {\"op\": \"floor_div\", \"args\": [{\"var\": \"S\"}, {\"scalar\": \"count\"}]}, 1]");
  ck_assert_int_eq(call_main(32, 0), TF_LAUNCH);
  ck_message("e.tir:34:13: main: scale: division by zero");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(call_main(32, -2), TF_LAUNCH);
  ck_message("e.tir:34:13: main: scale: an extent is negative");
  ck_assert_int_eq(call_main(32, 2), TF_OK);
}
END_TEST

/* An output's extents may be given by those of the tensors before it. */
START_TEST(outputs_by_extents_of_others) {
  load_changed("{\"name\": \"q\", \"kind\": \"tensor\", \"dtype\": \"f32\", \"shape\": [{\"var\": \"S\"}, 512]",
               "{\"name\": \"q\", \"kind\": \"tensor\", \"dtype\": \"f32\", \"shape\": [{\"shape_of\": \"p\", "
               "\"axis\": 0}, 512]");
  DLTensor out = {0};
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 11, 512);
  tf_argument arguments[] = {of_tensor(&x), {.kind = TF_ARGUMENT_OUTPUT, .value.output = &out}};
  ck_assert_msg(tf_entry_call(entry_of("half"), NULL, arguments, 2) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert(out.ndim == 2 && out.shape[0] == 11 && out.shape[1] == 512);
  ck_assert_int_eq(tf_tensor_free(rt, &out), TF_OK);
  y = x;
  y.t.shape = y.shape;
  y.shape[0] = 12;
  arguments[1] = of_tensor(&y);
  ck_assert_int_eq(tf_entry_call(entry_of("half"), NULL, arguments, 2), TF_LAUNCH);
  ck_message("half: argument 'q': axis 0 has extent 12, expected 11 (shape_of(p, 0))");
}
END_TEST

START_TEST(lookups) {
  const tf_entry *e = NULL;
  ck_assert_int_eq(tf_program_entry(program, "nope", &e), TF_INVALID_ARGUMENT);
  ck_message("t.ptx: no entry 'nope'; there are: 'main', 'half', 'barrier', 'exact', 'loose', 'compiled'");
  tf_runtime_clear_error(rt);
  ck_assert_str_eq(tf_entry_name(entry_of(NULL)), "main");
  ck_assert_uint_eq(tf_entry_parameter_count(entry_of("barrier")), 3);
  tf_parameter_info info = tf_entry_parameter(entry_of("barrier"), 1);
  ck_assert(info.is_host && !info.is_const && !info.is_scalar && info.rank == 1);
  ck_assert_str_eq(info.dtype, "u8");
  ck_assert(tf_entry_parameter(entry_of("half"), 0).is_const);
  ck_assert(tf_entry_parameter(entry_of("main"), 2).is_scalar);
  ck_assert_int_eq(tf_entry_call(entry_of("compiled"), NULL, NULL, 0), TF_UNSUPPORTED);
  ck_message("compiled: the function exists as compiled code only");
  load_changed("\"default_entry\": \"main\"", "\"default_entry\": null");
  tf_runtime_clear_error(rt);
  ck_assert_int_eq(tf_program_entry(program, NULL, &e), TF_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "names no default entry"));
}
END_TEST

/* Frames beyond their inline size: 70 parameters, 70 windows. */
START_TEST(many_parameters) {
  static char json[1 << 16];
  size_t n = 0;
#define ADD(...) n += (size_t)snprintf(json + n, sizeof json - n, __VA_ARGS__)
  ADD("{\"version\":1,\"module\":\"m\",\"target\":\"sm_80\",\"ptx_version\":\"7.0\",\"dims\":[{\"name\":\"S\",\"lo\":0,"
      "\"hi\":100}],\"kernels\":[{\"name\":\"k\",\"ptx_name\":\"k\",\"parameters\":[");
  for (int i = 0; i < 70; i++)
    ADD("%s{\"name\":\"p%d\",\"kind\":\"tensor\",\"dtype\":\"i32\",\"shape\":[{\"var\":\"S\"}],\"strides\":null,"
        "\"storage\":\"gmem\",\"alignment\":4}",
        i ? "," : "", i);
  ADD("],\"grid_size\":null,\"block_size\":null,\"default_grid\":null,\"default_block\":null,\"required_block\":null,"
      "\"max_block_threads\":null,\"linear_grid\":false,\"shared\":{\"static_bytes\":0,\"dynamic_bytes\":0,\"buffers\":"
      "[]},\"cooperative\":"
      "false,\"cluster\":null,\"grid_barrier_bytes\":0,\"abort_sites\":[],\"loc\":null}],\"entries\":[{\"name\":\"e\","
      "\"parameters\":[");
  for (int i = 0; i < 70; i++)
    ADD("%s{\"name\":\"p%d\",\"kind\":\"tensor\",\"dtype\":\"i32\",\"shape\":[{\"var\":\"S\"}],\"strides\":null,"
        "\"storage\":\"gmem\",\"alignment\":4}",
        i ? "," : "", i);
  ADD("],\"output_count\":0,\"body\":{\"stmt\":\"launch\",\"kernel\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],"
      "\"cluster\":null,\"dynamic_smem\":0,\"cooperative\":false,\"programmatic_stream_serialization\":false,\"args\":"
      "[");
  for (int i = 0; i < 70; i++)
    ADD("%s{\"view\":\"p%d\",\"offset\":%d,\"shape\":[3]}", i ? "," : "", i, i % 4);
  ADD("],\"loc\":null},\"loc\":null}],\"default_entry\":\"e\"}");
#undef ADD
  tf_program_unload(program);
  program = NULL;
  ck_assert_msg(load_text(json, &program) == TF_OK, "%s", tf_runtime_message(rt));
  static test_tensor t[70];
  tf_argument arguments[70];
  for (int i = 0; i < 70; i++) {
    tensor_at(&t[i], 0x1000 + 0x100 * (unsigned)i, kDLInt, 32, 1, 6, 0);
    arguments[i] = of_tensor(&t[i]);
  }
  fake.param_count = 70;
  ck_assert_msg(tf_entry_call(entry_of("e"), NULL, arguments, 70) == TF_OK, "%s", tf_runtime_message(rt));
  for (unsigned i = 0; i < 70; i++)
    ck_assert_uint_eq(fake.launches[0].params[i], 0x1000 + 0x100 * i + i % 4 * 4);
}
END_TEST

/* Three axes of 2^31 - 1 and an empty one: no elements, although the product of the first three has more than 64 bits. */
START_TEST(huge_and_empty) {
#define PARAM                                                                                                          \
  "\"parameters\":[{\"name\":\"p\",\"kind\":\"tensor\",\"dtype\":\"i32\",\"shape\":[{\"var\":\"S\"},{\"var\":\"S\"},"  \
  "{\"var\":\"S\"},{\"var\":\"E\"}],\"strides\":null,\"storage\":\"gmem\",\"alignment\":4}]"
  static const char json[] =
      "{\"version\":1,\"module\":\"m\",\"target\":\"sm_80\",\"ptx_version\":\"7.0\",\"dims\":[{\"name\":\"S\",\"lo\":0,"
      "\"hi\":2147483648},{\"name\":\"E\",\"lo\":0,\"hi\":10}],\"kernels\":[{\"name\":\"k\",\"ptx_name\":\"k\"," PARAM
      ",\"grid_size\":null,\"block_size\":null,\"default_grid\":null,\"default_block\":null,\"required_block\":null,"
      "\"max_block_threads\":null,\"linear_grid\":false,\"shared\":{\"static_bytes\":0,\"dynamic_bytes\":0,\"buffers\":"
      "[]},\"cooperative\":false,\"cluster\":null,\"grid_barrier_bytes\":0,\"abort_sites\":[],\"loc\":null}],"
      "\"entries\":[{\"name\":\"e\"," PARAM
      ",\"output_count\":0,\"body\":{\"stmt\":\"launch\",\"kernel\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],"
      "\"cluster\":null,\"dynamic_smem\":0,\"cooperative\":false,\"programmatic_stream_serialization\":false,\"args\":["
      "{\"view\":\"p\",\"offset\":0,\"shape\":[{\"var\":\"S\"},{\"var\":\"S\"},{\"var\":\"S\"},{\"var\":\"E\"}]}],"
      "\"loc\":null},\"loc\":null}],\"default_entry\":\"e\"}";
#undef PARAM
  tf_program_unload(program);
  program = NULL;
  ck_assert_msg(load_text(json, &program) == TF_OK, "%s", tf_runtime_message(rt));
  int64_t shape[] = {INT32_MAX, INT32_MAX, INT32_MAX, 0};
  static test_tensor t;
  tensor_at(&t, 0x1000, kDLInt, 32, 4, 0, 0);
  t.t.shape = shape;
  tf_argument argument = of_tensor(&t);
  ck_assert_msg(tf_entry_call(entry_of("e"), NULL, &argument, 1) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_uint_eq(fake.launch_count, 1);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("entry");
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, first_case_is_a_sequence);
  tcase_add_test(c, second_case_has_windows);
  tcase_add_test(c, gaps_reach_the_fallback);
  tcase_add_test(c, scalar_range);
  tcase_add_test(c, parameters_passed_through);
  tcase_add_test(c, const_overlap_inside_a_call);
  tcase_add_test(c, windows_stay_inside);
  tcase_add_test(c, windows_keep_the_alignment);
  tcase_add_test(c, windows_keep_the_alignment_through_calls);
  tcase_add_test(c, formulas_can_fail);
  tcase_add_test(c, outputs_by_extents_of_others);
  tcase_add_test(c, lookups);
  tcase_add_test(c, many_parameters);
  tcase_add_test(c, huge_and_empty);
  return run_case("entry", c);
}
