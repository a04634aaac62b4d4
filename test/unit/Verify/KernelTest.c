/* The records that the lowering reads: geometry over the call tree, one site per inlined copy, ids in source order, uniformity of
 * control flow at a site; and the facts behind it, against an evaluation thread by thread. Kernels are given as text. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/Text.h>
#include <tilefoundry/Verify.h>

#include "Harness.h"
#include "Verify/Kernel.h"
#include "Verify/Uniformity.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static void show(void) {
  for (size_t i = 0; i < tf_context_diagnostic_count(context); i++)
    fputs(tf_diagnostic_render(context, tf_context_diagnostic(context, i)), stderr);
}

static const tf_module *verified(const char *text) {
  const tf_module *module = NULL;
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  tf_status status = tf_parse(context, "test.tir", text, strlen(text), &options, &module);
  if (status == TF_OK) status = tf_verify(module, NULL);
  if (status != TF_OK) show();
  ck_assert_int_eq(status, TF_OK);
  return module;
}

/* clang-format off */
#define HEAD     "@prim_func(target=CudaTarget(\"sm_80\"))\ndef "
#define FLAT(n)  "Mesh((Topology(\"thread\", " #n "),), Layout(shape=(" #n ",), strides=(1,)), (\"t\",))"
#define WARPS(n) "Mesh((Topology(\"warp\", " #n "),), Layout(shape=(" #n ",), strides=(1,)), (\"w\",))"

START_TEST(geometry_over_the_call_tree) {
  const tf_module *module = verified(
      HEAD "wide(x: Tensor[(32,), \"f32\"]):\n"
      "    with " WARPS(6) " as w:\n"
      "        with " FLAT(16) " as m:\n"
      "            pass\n"
      "\n"
      HEAD "k(x: Tensor[(32,), \"f32\"]):\n"
      "    with " FLAT(64) " as m:\n"
      "        with m[0:32] as low:\n"
      "            wide(x)\n"
      "\n"
      HEAD "free(x: Tensor[(32,), \"f32\"]):\n"
      "    pass\n");
  tf_geometry geometry = tf_geometry_of(module, tf_module_find(module, "k"));
  ck_assert(geometry.has_threads && geometry.block == 192 && !geometry.has_ctas);
  ck_assert(!tf_geometry_of(module, tf_module_find(module, "free")).has_threads);
  ck_assert(tf_function_is_kernel(module, tf_module_find(module, "k")));
  ck_assert(!tf_function_is_kernel(module, tf_module_find(module, "wide")));
  ck_assert_ptr_null(tf_kernel_of(module, tf_module_find(module, "wide")));
  ck_assert_int_eq(tf_kernel_of(module, tf_module_find(module, "k"))->geometry.block, 192);
}
END_TEST

START_TEST(sites_of_inlined_copies) {
  const tf_module *module = verified(
      HEAD "pair(x: Tensor[(32,), \"f32\"]):\n"
      "    with " WARPS(4) " as w:\n"
      "        T.sync(w[0:2])\n"
      "        T.sync(w[1:3])\n"
      "\n"
      HEAD "k(x: Tensor[(32,), \"f32\"], n: Tensor[(), \"i32\"]):\n"
      "    with " WARPS(4) " as w:\n"
      "        T.sync(w[2:4])\n"
      "        for i in range(n):\n"
      "            pair(x)\n"
      "        T.sync(w)\n"
      "        if n > 3:\n"
      "            pair(x)\n"
      "        if T.coord(w.w) == 1:\n"
      "            T.sync(w[1:2])\n");
  const tf_kernel *kernel = tf_kernel_of(module, tf_module_find(module, "k"));
  ck_assert_ptr_nonnull(kernel);
  static const int ids[7] = {1, 2, 3, 0, 4, 5, 0};
  static const bool uniform[7] = {true, true, true, true, true, true, false};
  ck_assert_uint_eq(kernel->site_count, 7);
  for (unsigned i = 0; i < 7; i++) {
    const tf_site *site = kernel->sites[i];
    ck_assert_int_eq(site->barrier_id, ids[i]);
    ck_assert_msg(site->block_uniform == uniform[i], "site %u", i);
    ck_assert_ptr_eq(tf_kernel_site(context, kernel, site->path, site->stmt), site);
  }
  ck_assert_int_eq(kernel->named_barriers, 5);
  ck_assert(!kernel->uses_grid_barrier);
  ck_assert(kernel->sites[1]->stmt == kernel->sites[4]->stmt && kernel->sites[1]->path != kernel->sites[4]->path);
  ck_assert_int_eq(kernel->sites[3]->participation.kind, TF_BARRIER_BLOCK);
  ck_assert_int_eq(kernel->sites[6]->participation.kind, TF_BARRIER_LANES);
}
END_TEST

START_TEST(two_runs_agree) {
  const char *text =
      HEAD "k(x: Tensor[(32,), \"f32\"]):\n    with " FLAT(64) " as m:\n        T.sync(m[0:64])\n        T.sync(m)\n";
  const tf_module *module = verified(text);
  unsigned sites = tf_kernel_of(module, tf_module_find(module, "k"))->site_count;
  ck_assert_int_eq(tf_verify(module, NULL), TF_OK);
  ck_assert_uint_eq(tf_kernel_of(module, tf_module_find(module, "k"))->site_count, sites);
}
END_TEST

/* A faulty module reports again when it is verified again. */
START_TEST(errors_are_reported_by_each_run) {
  const char *text = HEAD "k(x: Tensor[(32,), \"f32\"]):\n    with " FLAT(64) " as m:\n        T.sync(m[0:48])\n";
  const tf_module *module = NULL;
  tf_parse_options options = TF_PARSE_OPTIONS_INIT;
  ck_assert_int_eq(tf_parse(context, "test.tir", text, strlen(text), &options, &module), TF_OK);
  for (int round = 0; round < 2; round++) {
    tf_context_clear_diagnostics(context);
    ck_assert_int_eq(tf_verify(module, NULL), TF_VERIFY);
    ck_assert_uint_eq(tf_context_error_count(context), 1);
  }
}
END_TEST

START_TEST(target_override) {
  const char *text = HEAD
      "k(x: Tensor[(32,), \"f32\"]):\n"
      "    with " FLAT(
          32) " as m:\n"
              "        s = T.alloc_tensor(TensorType(shape=(41728,), dtype=DType.f32, storage=StorageKind.SMEM))\n";
  const tf_module *module = verified(text);
  tf_verify_options options = TF_VERIFY_OPTIONS_INIT;
  options.target = tf_target_get(context, "sm_75"); /* 64 KiB a block */
  ck_assert_int_eq(tf_verify(module, &options), TF_VERIFY);
  ck_assert_int_eq(tf_verify(NULL, NULL), TF_INVALID_ARGUMENT);
}
END_TEST

/* ---- Facts -------------------------------------------------------------------------------------------------------------------- */

static const tf_stmt *find_let(const tf_stmt *block, const char *name) {
  for (unsigned i = 0; i < tf_sequential_count(block); i++) {
    const tf_stmt *stmt = tf_sequential_get(block, i);
    if (tf_stmt_get_kind(stmt) == TF_STMT_LET && strcmp(tf_expr_name(tf_stmt_var(stmt)), name) == 0) return stmt;
    const tf_stmt *found = tf_stmt_body(stmt) ? find_let(tf_stmt_body(stmt), name) : NULL;
    if (found) return found;
  }
  return NULL;
}

/* w = t / 32, l = t % 32 of 128 threads. */
static int64_t floor_mod(int64_t a, int64_t b) {
  return (a % b + b) % b;
}

START_TEST(facts_are_evaluated_in_each_thread) {
  const tf_module *module = verified(
      HEAD "k(x: Tensor[(32,), \"f32\"], n: Tensor[(), \"i32\"]):\n"
      "    with Mesh((Topology(\"thread\", 128),), Layout(shape=(4, 32)), (\"w\", \"l\")) as m:\n"
      "        a = (T.coord(m.w) - 2) % 3 * 5 + (T.coord(m.l) // 7 << 2)\n"
      "        b = T.coord(m.w) < 2 and T.coord(m.l) >= 0\n"
      "        c = T.coord(m.w) + n\n"
      "        d = T.cast(T.load(x, 0), \"i32\")\n"
      "        e = T.program_id(\"warp\") if T.coord(m.l) > 3 else -1\n"
      "        f = T.cast(T.coord(m.l) * 9, \"i8\")\n");
  const tf_stmt *k = tf_module_find(module, "k"), *scope = tf_sequential_get(tf_stmt_body(k), 0);
  tf_geometry geometry = tf_geometry_of(module, k);
  tf_region kernel = tf_region_begin(context, k, &geometry), region;
  const char *reason = NULL;
  ck_assert(tf_region_enter(&kernel, scope, &region, &reason));
  tf_facts *facts = tf_facts_create(context, &geometry);
  const char *names = "abcdef";
  const tf_fact *fact[6];
  for (int i = 0; i < 6; i++)
    fact[i] = tf_fact_of(facts, &region, tf_let_value(find_let(tf_stmt_body(k), (char[]){names[i], 0})));
  for (int64_t t = 0; t < 128; t++) {
    int64_t w = t / 32, l = t % 32;
    ck_assert_int_eq(fact[0]->values[t], floor_mod(w - 2, 3) * 5 + ((l / 7) << 2));
    ck_assert_int_eq(fact[1]->values[t], w < 2);
    ck_assert_int_eq(fact[4]->values[t], l > 3 ? w : -1);
    ck_assert_int_eq(fact[5]->values[t], (int8_t)(l * 9));
  }
  tf_thread_set warp = tf_threads_interval(32, 32), two = tf_threads_interval(0, 64),
                block = tf_threads_interval(0, 128);
  const char *why = NULL;
  ck_assert(tf_fact_uniform(fact[1], &two, NULL) && !tf_fact_uniform(fact[1], &block, &why));
  ck_assert_str_eq(why, "T.coord(m.w)");
  ck_assert(!fact[2]->known && tf_fact_uniform(fact[2], &warp, NULL) && !tf_fact_uniform(fact[2], &two, NULL));
  tf_thread_set one = tf_threads_interval(7, 1);
  ck_assert(fact[3]->unknown && !tf_fact_uniform(fact[3], &warp, NULL) && tf_fact_uniform(fact[3], &one, NULL));
  ck_assert(!tf_fact_uniform_over_grid(fact[0], NULL) && !tf_fact_uniform_over_grid(fact[3], NULL));
}
END_TEST

/* clang-format on */
int main(void) {
  TCase *tests = tcase_create("kernel");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, geometry_over_the_call_tree);
  tcase_add_test(tests, sites_of_inlined_copies);
  tcase_add_test(tests, two_runs_agree);
  tcase_add_test(tests, errors_are_reported_by_each_run);
  tcase_add_test(tests, target_override);
  tcase_add_test(tests, facts_are_evaluated_in_each_thread);
  return run_case("kernel", tests);
}
