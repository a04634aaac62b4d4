/* Geometry, limits, shared memory, co-residency and the driver call that a launch becomes, on kernels of the manifest and
 * bare ones. scale: grid S CTAs, 128 threads; wide: cooperative, cluster (2, 1, 1), block (32, 4, 1). */
#include "Fixture.h"
#include "Harness.h"

static test_tensor x, y;

static tf_launch_config config_of(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz) {
  tf_launch_config c = TF_LAUNCH_CONFIG_INIT;
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  memcpy(c.grid, grid, sizeof grid);
  memcpy(c.block, block, sizeof block);
  return c;
}

static tf_status launch_scale(const tf_launch_config *c, int64_t s) {
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, s, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, s, 512);
  tf_argument arguments[] = {of_tensor(&x), of_float(2), of_tensor(&y)};
  return tf_kernel_launch(kernel_of("scale"), c, arguments, 3);
}

static void expect_refused(tf_status status, const char *message) {
  ck_assert_int_eq(status, TF_LAUNCH);
  ck_message(message);
  tf_runtime_clear_error(rt);
  ck_assert_uint_eq(fake.launch_count, 0);
}

START_TEST(shapes_of_the_right_size) {
  tf_launch_config c = TF_LAUNCH_CONFIG_INIT;
  c.stream = fake_stream(3);
  ck_assert_msg(launch_scale(&c, 6) == TF_OK, "%s", tf_runtime_message(rt));
  const fake_launch *l = &fake.launches[0];
  ck_assert_str_eq(l->call, "cuLaunchKernel");
  ck_assert(l->grid[0] == 6 && l->grid[1] == 1 && l->block[0] == 128 && l->stream == fake_stream(3));
  c = config_of(1, 2, 3, 4, 8, 4);
  ck_assert_msg(launch_scale(&c, 6) == TF_OK, "%s", tf_runtime_message(rt));
  l = &fake.launches[1];
  ck_assert(l->grid[2] == 3 && l->block[1] == 8);
}
END_TEST

START_TEST(wrong_sizes) {
  tf_launch_config c = config_of(5, 1, 1, 128, 1, 1);
  expect_refused(launch_scale(&c, 6), "kernel 'scale': the grid is (5, 1, 1), the kernel needs 6 CTAs (S) in it");
  c = config_of(6, 1, 1, 64, 1, 1);
  expect_refused(launch_scale(&c, 6),
                 "kernel 'scale': the block is (64, 1, 1), the kernel needs 128 threads (128) in it");
  c = config_of(0, 1, 1, 128, 1, 1); /* empty: nothing is launched, whatever S is */
  ck_assert_int_eq(launch_scale(&c, 6), TF_OK);
  ck_assert_uint_eq(fake.launch_count, 0);
  c.size = 3;
  ck_assert_int_eq(launch_scale(&c, 6), TF_INVALID_ARGUMENT);
}
END_TEST

static tf_status launch_raw(const char *name, const tf_launch_config *c) {
  static uint64_t value;
  void *params[FAKE_MAX_PARAMS];
  for (int i = 0; i < FAKE_MAX_PARAMS; i++)
    params[i] = &value;
  return tf_kernel_launch_raw(kernel_of(name), c, params);
}

START_TEST(limits) {
  tf_launch_config c = config_of(1, 65536, 1, 1, 1, 1);
  expect_refused(launch_raw("bare", &c), "kernel 'bare': grid.y is 65536, the device's limit is 65535");
  c = config_of(1, 1, 1, 1, 1, 65);
  expect_refused(launch_raw("bare", &c), "kernel 'bare': block.z is 65, the device's limit is 64");
  c = config_of(1, 1, 1, 32, 33, 1);
  expect_refused(launch_raw("bare", &c), "kernel 'bare': a block of 1056 threads, the device's limit is 1024");
  fake.max_threads = 256;
  c = config_of(1, 1, 1, 257, 1, 1);
  expect_refused(launch_raw("small", &c),
                 "kernel 'small': a block of 257 threads, the kernel was compiled for at most 256");
  c = config_of(2147483647, 65535, 65535, 256, 1, 1);
  ck_assert_int_eq(launch_raw("small", &c), TF_OK);
  ck_assert_uint_eq(fake.launch_count, 1);
}
END_TEST

START_TEST(empty_grids_succeed) {
  for (int i = 0; i < 6; i++) {
    unsigned e[6] = {1, 1, 1, 1, 1, 1};
    e[i] = 0;
    tf_launch_config c = config_of(e[0], e[1], e[2], e[3], e[4], e[5]);
    ck_assert_int_eq(launch_raw("bare", &c), TF_OK);
  }
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

START_TEST(shared_memory) {
  fake.static_shared = 1000;
  tf_launch_config c = config_of(1, 1, 1, 32, 1, 1);
  c.dynamic_smem = 49152 - 1000;
  ck_assert_int_eq(launch_raw("s", &c), TF_OK);
  ck_assert_uint_eq(fake.func_set_count, 0);
  c.dynamic_smem++;
  ck_assert_int_eq(launch_raw("s", &c), TF_OK);
  c.dynamic_smem = 166912 - 1000;
  ck_assert_int_eq(launch_raw("s", &c), TF_OK);
  ck_assert_uint_eq(fake.func_set_count, 1); /* once, to all that there is */
  ck_assert_int_eq(fake.func_set_value, 165912);
  ck_assert_uint_eq(fake.launches[2].smem, 165912);
  fake.launch_count = 0;
  c.dynamic_smem++;
  expect_refused(
      launch_raw("s", &c),
      "kernel 's': 166913 bytes of shared memory (1000 static and 165913 dynamic), the device's limit is 166912");
}
END_TEST

START_TEST(shared_memory_names_the_buffers) {
  tf_launch_config c = TF_LAUNCH_CONFIG_INIT;
  c.dynamic_smem = 200000;
  expect_refused(launch_scale(&c, 1), "kernel 'scale': 200000 bytes of shared memory (0 static and 200000 dynamic), "
                                      "the device's limit is 166912; buffers: tile 512");
  c.dynamic_smem = SIZE_MAX;
  expect_refused(launch_scale(&c, 1), "kernel 'scale': 18446744073709551615 bytes of dynamic shared memory");
}
END_TEST

static tf_status launch_wide(int64_t k, unsigned grid) {
  static test_tensor m;
  rt->info.cluster_launch = true;
  tensor_at(&m, 0x10000, kDLBfloat, 16, 2, 4 * k, (k + 7) / 8);
  m.t.strides = m.strides;
  m.strides[0] = 2 * k;
  m.strides[1] = 1;
  tf_argument arguments[] = {of_tensor(&m), of_int(9), of_int(1)};
  tf_launch_config c = config_of(grid, 1, 1, 32, 4, 1);
  return tf_kernel_launch(kernel_of("wide_1"), &c, arguments, 3);
}

START_TEST(cooperative) {
  fake.param_count = 6;
  fake.occupancy = 4; /* clusters of two CTAs */
  ck_assert_msg(launch_wide(100, 8) == TF_OK, "%s", tf_runtime_message(rt));
  const fake_launch *l = &fake.launches[0];
  ck_assert_str_eq(l->call, "cuLaunchCooperativeKernel");
  ck_assert_uint_eq(l->smem, 1024 + 200);
  ck_assert(l->params[1] == 9 && l->params[2] == 1 && l->params[3] == 400 && l->params[4] == 13);
  fake.launch_count = 0;
  expect_refused(launch_wide(100, 10),
                 "kernel 'wide': a cooperative grid of (10, 1, 1) CTAs, but only 8 of them (blocks of 128 threads, 0 "
                 "static and 1224 dynamic bytes of shared memory) fit on the device's 4 multiprocessors at once");
  rt->info.cooperative_launch = false;
  expect_refused(launch_wide(100, 8), "kernel 'wide': the device has no cooperative launches");
}
END_TEST

START_TEST(cooperative_without_clusters) {
  tf_launch_config c = config_of(2, 2, 2, 32, 1, 1);
  c.cooperative = true;
  ck_assert_int_eq(launch_raw("bare", &c), TF_OK); /* 4 multiprocessors of 2 */
  ck_assert_str_eq(fake.launches[0].call, "cuLaunchCooperativeKernel");
  fake.launch_count = 0;
  c.grid[0] = 3;
  ck_assert_int_eq(launch_raw("bare", &c), TF_LAUNCH);
  ck_assert_ptr_nonnull(strstr(tf_runtime_message(rt), "grid of (3, 2, 2) CTAs, but only 8 of them"));
  ck_assert_uint_eq(fake.launch_count, 0);
}
END_TEST

/* Refused by name on a device that is too old for it. */
START_TEST(programmatic_serialization) {
  tf_launch_config c = config_of(1, 1, 1, 32, 1, 1);
  c.programmatic_stream_serialization = true;
  tf_kernel *bare = kernel_of("bare");
  rt->info.compute = 89;
  ck_assert_int_eq(tf_kernel_launch_raw(bare, &c, NULL), TF_LAUNCH);
  ck_message(
      "kernel 'bare': programmatic stream serialization takes a device of compute capability 9.0, this one has 8.9");
  ck_assert_uint_eq(fake.launch_count, 0);
  rt->info.compute = 90;
  ck_assert_int_eq(tf_kernel_launch_raw(bare, &c, NULL), TF_OK);
  ck_assert(fake.launches[0].pss && strcmp(fake.launches[0].call, "cuLaunchKernelEx") == 0);
}
END_TEST

START_TEST(clusters) {
  tf_launch_config c = config_of(4, 6, 1, 32, 1, 1);
  c.cluster[0] = 2;
  c.cluster[1] = 3;
  c.cluster[2] = 1;
  expect_refused(launch_raw("bare", &c), "kernel 'bare': the device has no thread block clusters");
  rt->info.cluster_launch = true;
  c.programmatic_stream_serialization = true;
  c.cooperative = true;
  ck_assert_msg(launch_raw("bare", &c) == TF_LAUNCH, "12 CTAs in 2 clusters of 6 do not fit 24");
  tf_runtime_clear_error(rt);
  fake.occupancy = 4;
  ck_assert_msg(launch_raw("bare", &c) == TF_OK, "%s", tf_runtime_message(rt));
  const fake_launch *l = &fake.launches[0];
  ck_assert_str_eq(l->call, "cuLaunchKernelEx");
  ck_assert(l->cluster[0] == 2 && l->cluster[1] == 3 && l->cluster[2] == 1 && l->pss && l->cooperative);
  fake.launch_count = 0;
  c.cluster[1] = 4;
  expect_refused(launch_raw("bare", &c), "kernel 'bare': grid.y is 6, no multiple of the cluster's 4");
  c.cluster[0] = 4;
  c.cluster[1] = 6;
  expect_refused(launch_raw("bare", &c), "kernel 'bare': a cluster of (4, 6, 1) CTAs, the limit is 16");
  fake.func_set_count = 0;
  c.cluster[0] = 2; /* more than every device has: the function says that it may, once */
  for (int i = 0; i < 2; i++)
    ck_assert_msg(launch_raw("bare", &c) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert(fake.func_set_count == 1 && fake.func_set_value == 1 && fake.launches[1].cluster[1] == 6);
  fake.launch_count = 0;
  c.cluster[1] = 0;
  expect_refused(launch_raw("bare", &c), "kernel 'bare': a cluster with an extent of 0");
}
END_TEST

START_TEST(required_block_and_cluster) {
  rt->info.cluster_launch = true;
  tf_launch_config c = config_of(2, 1, 1, 4, 32, 1);
  expect_refused(launch_raw("wide", &c), "kernel 'wide': the block is (4, 32, 1), the kernel requires (32, 4, 1)");
  c = config_of(2, 2, 1, 32, 4, 1);
  expect_refused(launch_raw("wide", &c),
                 "kernel 'wide': the grid is (2, 2, 1), the kernel was compiled for grids of one axis");
  c = config_of(3, 1, 1, 32, 4, 1);
  expect_refused(launch_raw("wide", &c), "kernel 'wide': grid.x is 3, no multiple of the cluster's 2");
  c = config_of(4, 1, 1, 32, 4, 1);
  c.cluster[0] = c.cluster[1] = c.cluster[2] = 1;
  expect_refused(launch_raw("wide", &c), "kernel 'wide': another cluster than the one that the kernel requires");
  c = (tf_launch_config)TF_LAUNCH_CONFIG_INIT;
  expect_refused(launch_raw("wide", &c), "kernel 'wide': a raw launch must name its grid and block");
}
END_TEST

START_TEST(no_default_geometry) {
  tf_launch_config c = TF_LAUNCH_CONFIG_INIT;
  test_tensor m;
  tensor_at(&m, 0, kDLBfloat, 16, 2, 0, 0);
  tf_argument arguments[] = {of_tensor(&m), of_int(9), of_int(1)};
  expect_refused(tf_kernel_launch(kernel_of("wide"), &c, arguments, 3),
                 "kernel 'wide': grid: the kernel has no default, the launch must name it");
  ck_assert_int_eq(tf_kernel_launch(kernel_of("bare"), &c, NULL, 0), TF_INVALID_ARGUMENT);
  ck_message("kernel 'bare': no manifest describes its parameters");
}
END_TEST

/* ---- Grid barrier counters --------------------------------------------------------------------------------------- */

static uint64_t counters_of(unsigned launch) {
  return fake.launches[launch].params[5];
}

static tf_status launch_on(CUstream stream) {
  test_tensor m;
  rt->info.cluster_launch = true;
  tensor_at(&m, 0, kDLBfloat, 16, 2, 0, 0);
  tf_argument arguments[] = {of_tensor(&m), of_int(9), of_int(1)};
  tf_launch_config c = config_of(2, 1, 1, 32, 4, 1);
  c.stream = stream;
  return tf_kernel_launch(kernel_of("wide"), &c, arguments, 3);
}

START_TEST(barrier_counters_are_per_stream) {
  fake.param_count = 6;
  CUstream order[] = {fake_stream(1), fake_stream(2), fake_stream(1), NULL, fake_stream(2)};
  for (int i = 0; i < 5; i++)
    ck_assert_int_eq(launch_on(order[i]), TF_OK);
  ck_assert_uint_eq(counters_of(0), counters_of(2));
  ck_assert_uint_eq(counters_of(1), counters_of(4));
  ck_assert_uint_ne(counters_of(0), counters_of(1));
  ck_assert_uint_ne(counters_of(0), counters_of(3));
  ck_assert_uint_ne(counters_of(1), counters_of(3));
  ck_assert_uint_eq(fake.memset_count, 3); /* each zeroed once, before its first launch */
  static const char zeros[8];
  ck_assert_mem_eq((void *)(uintptr_t)counters_of(3), zeros, 8);
}
END_TEST

START_TEST(barrier_counters_after_a_fault) {
  ck_assert_int_eq(launch_on(NULL), TF_OK);
  ck_assert_uint_eq(fake.memset_count, 1);
  fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
  ck_assert_int_eq(tf_stream_synchronize(rt, NULL), TF_DRIVER);
  fake.sticky = CUDA_SUCCESS;
  ck_assert_int_eq(launch_on(NULL), TF_OK);
  ck_assert_uint_eq(fake.memset_count, 2);
}
END_TEST

START_TEST(barrier_counters_of_a_capture) {
  fake.param_count = 6;
  ck_assert_int_eq(launch_on(NULL), TF_OK);
  fake.capturing = 1;
  ck_assert_int_eq(launch_on(NULL), TF_OK);
  ck_assert_uint_ne(counters_of(0), counters_of(1));
  ck_assert_uint_eq(fake.memset_count, 2);
  ck_assert_int_eq(fake.live_memory, 1); /* the capture's own were given back in stream order */
}
END_TEST

static CUresult (*real_memset)(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream);
static unsigned unzeroed, zeroing;

/* In the middle of one thread's zeroing another one launches on the same stream. */
static CUresult memset_late(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  if (!zeroing++) ck_assert_int_eq(launch_on(stream), TF_OK);
  return real_memset(dst, value, count, stream);
}

static void look_at_counters(const char *kernel, void **params) {
  uint64_t value;
  (void)kernel;
  memcpy(&value, (void *)(uintptr_t) * (uint64_t *)params[5], sizeof value);
  unzeroed += value != 0;
}

START_TEST(barrier_counters_of_two_threads) {
  real_memset = rt->driver.cuMemsetD8Async;
  rt->driver.cuMemsetD8Async = memset_late;
  fake.run = look_at_counters;
  unzeroed = zeroing = 0;
  ck_assert_int_eq(launch_on(fake_stream(1)), TF_OK);
  ck_assert_uint_eq(fake.launch_count, 2);
  ck_assert_uint_eq(unzeroed, 0);
  ck_assert_int_eq(launch_on(fake_stream(1)), TF_OK);
  ck_assert_uint_eq(zeroing, 2); /* from now on they are known to be zero */
}
END_TEST

START_TEST(barrier_counters_go_with_their_stream) {
  for (int i = 0; i < 3; i++) {
    tf_stream stream;
    ck_assert_int_eq(tf_stream_create(rt, &stream), TF_OK);
    ck_assert_int_eq(launch_on(stream), TF_OK);
    ck_assert_int_eq(launch_on(NULL), TF_OK);
    ck_assert_int_eq(fake.live_memory, 2);
    ck_assert_int_eq(tf_stream_destroy(rt, stream), TF_OK);
    ck_assert_int_eq(fake.live_memory, 1);
  }
}
END_TEST

static CUresult no_pools(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  (void)ptr, (void)bytes, (void)stream;
  return CUDA_ERROR_NOT_SUPPORTED;
}

static void setup_old_driver(void) {
  fake_reset();
  fake.no_stream_ids = 1;
  fake_set_current(NULL);
  open_runtime();
  char *text = input_text("everything.json");
  ck_assert_int_eq(load_text(text, &program), TF_OK);
  free(text);
}

START_TEST(barrier_counters_without_stream_ids) {
  ck_assert_int_eq(launch_on(NULL), TF_OK);
  ck_assert_int_eq(launch_on(NULL), TF_OK);
  ck_assert_uint_eq(fake.memset_count, 2);
  ck_assert_int_eq(fake.live_memory, 0);
}
END_TEST

START_TEST(barrier_counters_without_ids_and_pools) {
  rt->driver.cuMemAllocAsync = no_pools;
  for (int i = 0; i < 2; i++) {
    ck_assert_msg(launch_on(NULL) == TF_OK, "%s", tf_runtime_message(rt));
    ck_assert_int_eq(fake.live_memory, 0); /* after waiting for the launch */
  }
  fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
  ck_assert_int_ne(launch_on(NULL), TF_OK);
  ck_assert_int_eq(fake.live_memory, 0);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("launch");
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, shapes_of_the_right_size);
  tcase_add_test(c, wrong_sizes);
  tcase_add_test(c, limits);
  tcase_add_test(c, empty_grids_succeed);
  tcase_add_test(c, shared_memory);
  tcase_add_test(c, shared_memory_names_the_buffers);
  tcase_add_test(c, cooperative);
  tcase_add_test(c, cooperative_without_clusters);
  tcase_add_test(c, programmatic_serialization);
  tcase_add_test(c, clusters);
  tcase_add_test(c, required_block_and_cluster);
  tcase_add_test(c, no_default_geometry);
  tcase_add_test(c, barrier_counters_are_per_stream);
  tcase_add_test(c, barrier_counters_after_a_fault);
  tcase_add_test(c, barrier_counters_of_a_capture);
  tcase_add_test(c, barrier_counters_of_two_threads);
  tcase_add_test(c, barrier_counters_go_with_their_stream);
  TCase *old = tcase_create("old driver");
  tcase_add_checked_fixture(old, setup_old_driver, teardown);
  tcase_add_test(old, barrier_counters_without_stream_ids);
  tcase_add_test(old, barrier_counters_without_ids_and_pools);
  int failed = run_case("launch", c);
  return run_case("launch on an old driver", old) | failed;
}
