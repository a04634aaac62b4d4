/* Kernels with a barrier over the grid, in blocks and grids of more than one dimension: launched again and again, from several
 * threads on streams of their own at once. Every CTA reads what its neighbour wrote before the barrier, so counters shared by two
 * launches, or left dirty by the last one, end in a wrong value or in a hang.
 *
 *   a[c][t] -> b[c][t] = 3 * a[c + 1][t + 5] + c -> barrier -> a[c][t] = 3 * b[c + 1][t + 5] + c -> barrier -> … */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Runtime.h>
#include <tilefoundry/TileFoundry.h>

#include "Harness.h"

enum { CTAS = 6, THREADS = 48, COUNT = CTAS * THREADS, ROUNDS = 3, CALLS = 12, WORKERS = 3 };

static const char text[] = "C = 6\n"
                           "@module(entry='main')\n"
                           "class Grid:\n"
                           "    @prim_func(target=CudaTarget('sm_80'))\n"
                           "    def relay(a: Tensor[(C, 48), 'i32'], b: Tensor[(C, 48), 'i32']) -> None:\n"
                           "        with Mesh((Topology('cta', C),), Layout(shape=(C,)), ('c',)) as grid:\n"
                           "            with Mesh((Topology('thread', 48),), Layout(shape=(48,)), ('t',)) as block:\n"
                           "                c = T.coord(grid.c)\n"
                           "                t = T.coord(block.t)\n"
                           "                for i in range(3):\n"
                           "                    T.store(b, T.load(a, (c + 1) % C, (t + 5) % 48) * 3 + c, c, t)\n"
                           "                    T.sync(grid)\n"
                           "                    T.store(a, T.load(b, (c + 1) % C, (t + 5) % 48) * 3 + c, c, t)\n"
                           "                    T.sync(grid)\n"
                           "    @prim_func(target=CpuTarget())\n"
                           "    def main(a: Tensor[(C, 48), 'i32'], b: Tensor[(C, 48), 'i32']) -> None:\n"
                           "        launch(relay, a, b, grid=(3, 2), block=(4, 6, 2))\n"
                           "        launch(relay, a, b, grid=(1, 2, 3), block=(2, 24))\n";

static tf_runtime *rt;
static const tf_entry *entry;

static void step(const uint32_t *from, uint32_t *to) {
  for (unsigned c = 0; c < CTAS; c++)
    for (unsigned t = 0; t < THREADS; t++)
      to[c * THREADS + t] = from[(c + 1) % CTAS * THREADS + (t + 5) % THREADS] * 3 + c;
}

static DLTensor matrix(void *data, int64_t *shape) {
  tf_device_info info;
  ck_assert_int_eq(tf_device_get_info(rt, &info), TF_OK);
  return (DLTensor){.data = data, .device = info.device, .ndim = 2, .dtype = {kDLInt, 32, 1}, .shape = shape};
}

/* CALLS calls of two launches each on one stream; true if every value is right. */
static bool relay(tf_stream stream, uint32_t seed) {
  uint32_t have[COUNT], want[COUNT], other[COUNT];
  void *a = NULL, *b = NULL;
  int64_t shape[2] = {CTAS, THREADS};
  for (unsigned i = 0; i < COUNT; i++)
    want[i] = have[i] = (seed + i) * 2654435761u;
  bool ok = tf_device_alloc(rt, sizeof have, &a) == TF_OK && tf_device_alloc(rt, sizeof have, &b) == TF_OK &&
            tf_device_copy_in(rt, a, have, sizeof have, stream) == TF_OK;
  DLTensor first = matrix(a, shape), second = matrix(b, shape);
  tf_argument arguments[] = {{TF_ARGUMENT_TENSOR, {.tensor = &first}}, {TF_ARGUMENT_TENSOR, {.tensor = &second}}};
  for (unsigned call = 0; ok && call < CALLS; call++) {
    ok = tf_entry_call(entry, stream, arguments, 2) == TF_OK;
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
      step(want, other);
      step(other, want);
    }
  }
  ok = ok && tf_device_copy_out(rt, have, a, sizeof have, stream) == TF_OK && memcmp(have, want, sizeof have) == 0;
  ok = tf_device_free(rt, a) == TF_OK && ok;
  return tf_device_free(rt, b) == TF_OK && ok;
}

static void *work(void *argument) {
  uint32_t seed = *(uint32_t *)argument;
  tf_stream stream;
  if (tf_stream_create(rt, &stream) != TF_OK) return argument;
  bool ok = relay(stream, seed);
  return tf_stream_destroy(rt, stream) == TF_OK && ok ? NULL : argument;
}

static void load(tf_context *context, tf_program **program) {
  tf_parse_options parse = TF_PARSE_OPTIONS_INIT;
  tf_verify_options verify = TF_VERIFY_OPTIONS_INIT;
  tf_lower_options lower = TF_LOWER_OPTIONS_INIT;
  tf_program_source source = TF_PROGRAM_SOURCE_INIT;
  const tf_module *module;
  ck_assert_int_eq(tf_parse(context, "grid.tir", text, strlen(text), &parse, &module), TF_OK);
  ck_assert_int_eq(tf_verify(module, &verify), TF_OK);
  const char *ptx, *manifest;
  ck_assert_int_eq(tf_emit_ptx(module, &lower, &ptx), TF_OK);
  ck_assert_int_eq(tf_emit_manifest(module, &lower, &manifest), TF_OK);
  source.name = "grid";
  source.image = ptx;
  source.image_size = strlen(ptx);
  source.manifest = manifest;
  source.manifest_size = strlen(manifest);
  ck_assert_msg(tf_program_load(rt, &source, program) == TF_OK, "%s", tf_runtime_message(rt));
  ck_assert_int_eq(tf_program_entry(*program, NULL, &entry), TF_OK);
}

START_TEST(launches) {
  tf_context *context;
  tf_program *program = NULL;
  pthread_t threads[WORKERS];
  uint32_t seeds[WORKERS];
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  ck_assert_int_eq(tf_runtime_create(&rt), TF_OK);
  ck_assert_msg(tf_device_open(rt, "sim:sm_80", NULL) == TF_OK, "%s", tf_runtime_message(rt));
  load(context, &program);
  ck_assert_msg(relay(NULL, 7), "%s", tf_runtime_message(rt));
  for (unsigned i = 0; i < WORKERS; i++) {
    seeds[i] = 1000 * (i + 1);
    ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &seeds[i]), 0);
  }
  for (unsigned i = 0; i < WORKERS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    ck_assert_msg(!failed, "stream %u: %s", i, tf_runtime_message(rt));
  }
  tf_program_unload(program);
  tf_runtime_destroy(rt);
  tf_context_destroy(context);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("grid barrier");
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, launches);
  return run_case("grid-barrier", tests);
}
