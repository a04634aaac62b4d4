/* Several threads on one runtime: launches on streams of their own, first use of large shared memory, failing calls, one
 * prepared call that all of them run, bare kernels, loading and unloading. ThreadSanitizer watches; the counts are checked here. */
#include <pthread.h>

#include "Fixture.h"
#include "Harness.h"

enum { THREADS = 4, ROUNDS = 200, KERNELS = 16 };

static tf_program *second;         /* every other thread's */
static tf_prepared_call *prepared; /* run by all threads at once */

static void *work(void *argument) {
  int id = *(int *)argument;
  static const char *const names[] = {"a", "b", "c", "d"};
  char *text = input_text("everything.json");
  uint64_t zero = 0;
  void *params[] = {&zero, &zero, &zero, &zero};
  test_tensor x, y, m;
  tensor_at(&x, 0x1000000, kDLFloat, 32, 2, 2, 512);
  tensor_at(&y, 0x2000000, kDLFloat, 32, 2, 2, 512);
  tensor_at(&m, 0, kDLBfloat, 16, 2, 0, 0);
  tf_argument good[] = {of_tensor(&x), of_tensor(&y)}, wide[] = {of_tensor(&m), of_int(9), of_int(1)};
  const tf_entry *half = NULL;
  tf_kernel *barrier = NULL;
  tf_program *mine = id % 2 ? second : program;
  bool ok = tf_program_entry(mine, "half", &half) == TF_OK && tf_program_kernel(mine, "wide", &barrier) == TF_OK;
  for (int i = 0; ok && i < ROUNDS; i++) {
    tf_launch_config c = {
        .size = sizeof c, .grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_smem = 60000, .stream = fake_stream(id)};
    tf_kernel *bare = NULL;
    ok = ok && tf_program_kernel(mine, names[i % 4], &bare) == TF_OK;
    ok = ok && tf_kernel_launch_raw(bare, &c, params) == TF_OK;
    ok = ok && tf_entry_call(half, fake_stream(id), good, 2) == TF_OK;
    ok = ok && tf_entry_call(half, fake_stream(id), good, 1) == TF_LAUNCH;
    ok = ok && tf_prepared_call_run(prepared, fake_stream(id)) == TF_OK;
    tf_prepared_call *own = NULL;
    ok = ok && tf_entry_prepare(half, good, 2, &own) == TF_OK;
    ok = ok && tf_prepared_call_set_pointers(own, 1, &(unsigned){1}, &y.t.data) == TF_OK;
    ok = ok && tf_prepared_call_run(own, fake_stream(id)) == TF_OK;
    tf_prepared_call_destroy(own);
    c = (tf_launch_config){.size = sizeof c, .grid = {2, 1, 1}, .block = {32, 4, 1}, .stream = fake_stream(id)};
    ok = ok && tf_kernel_launch(barrier, &c, wide, 3) == TF_OK;
    ok = ok && strcmp(tf_runtime_message(rt), "half: got 1 arguments, expected 2") == 0;
    tf_program *p = NULL;
    ok = ok && load_text(text, &p) == TF_OK;
    tf_program_unload(p);
    ok = ok && tf_stream_synchronize(rt, fake_stream(id)) == TF_OK;
  }
  free(text);
  return ok ? NULL : argument;
}

START_TEST(threads) {
  pthread_t thread[THREADS];
  int ids[THREADS];
  char *text = input_text("everything.json");
  ck_assert_int_eq(load_text(text, &second), TF_OK);
  free(text);
  rt->info.cluster_launch = true;
  test_tensor x, y;
  tensor_at(&x, 0x3000000, kDLFloat, 32, 2, 5, 512);
  tensor_at(&y, 0x4000000, kDLFloat, 32, 2, 5, 512);
  ck_assert_int_eq(tf_entry_prepare(entry_of("half"), (tf_argument[]){of_tensor(&x), of_tensor(&y)}, 2, &prepared),
                   TF_OK);
  for (int i = 0; i < THREADS; i++) {
    ids[i] = i;
    ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &ids[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(thread[i], &result);
    ck_assert_msg(result == NULL, "thread %d: %s", i, tf_runtime_message(rt));
  }
  tf_prepared_call_destroy(prepared);
  tf_program_unload(second);
  ck_assert_uint_eq(fake.launch_count, THREADS * ROUNDS * 5);
  ck_assert_int_eq(fake.live_modules, 1);
  ck_assert_uint_eq(fake.memset_count, THREADS);
}
END_TEST

/* ---- Opting in to large shared memory, once per function --------------------------------------------------------- */

static tf_kernel *kernels[KERNELS];
static pthread_barrier_t start;

static void *launch_all(void *argument) {
  for (int i = 0; i < KERNELS; i++) {
    tf_launch_config c = {.size = sizeof c, .grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_smem = 60000};
    (void)pthread_barrier_wait(&start);
    if (tf_kernel_launch_raw(kernels[i], &c, NULL) != TF_OK) return argument;
  }
  return NULL;
}

START_TEST(opting_in) {
  pthread_t thread[THREADS];
  for (int i = 0; i < KERNELS; i++)
    kernels[i] = kernel_of((char[]){'k', (char)('a' + i), 0});
  ck_assert_int_eq(pthread_barrier_init(&start, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, launch_all, &start), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(thread[i], &failed);
    ck_assert_msg(!failed, "%s", tf_runtime_message(rt));
  }
  pthread_barrier_destroy(&start);
  ck_assert_uint_eq(fake.launch_count, THREADS * KERNELS);
  ck_assert_uint_eq(fake.func_set_count, KERNELS);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("threads");
  tcase_set_timeout(c, 120);
  tcase_add_checked_fixture(c, setup, teardown);
  tcase_add_test(c, threads);
  tcase_add_test(c, opting_in);
  return run_case("threads", c);
}
