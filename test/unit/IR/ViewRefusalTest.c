/* What views and allocations refuse: each fault with its row of the diagnostics. */
#include "Harness.h"
#include "ViewModel.h"

/* ---- Refusals: each with its row ------------------------------------------------------------------------------------------------------------------------ */
static void refused(const tf_expr *expr, tf_diag_id id) {
  ck_assert_ptr_null(expr);
  size_t count = tf_context_diagnostic_count(context);
  ck_assert_uint_eq(count, 1);
  ck_assert_msg(tf_context_diagnostic(context, 0)->id == id, "%s: %s",
                tf_diag_name(tf_context_diagnostic(context, 0)->id), tf_context_diagnostic(context, 0)->message);
  tf_context_clear_diagnostics(context);
}

START_TEST(refused_windows) {
  const tf_expr *x = param(2, (int64_t[]){12, 20}, NULL);
  const tf_expr *zeros[] = {constant(0), constant(0), constant(0)}, *far[] = {constant(5), constant(1)};
  const tf_expr *before[] = {constant(-1), constant(0)}, *last = constant(233);
  refused(view_with(x, 2, zeros, NULL, NULL, NULL), TF_DIAG_VIEW_NEEDS_SHAPE);
  refused(view_with(x, 0, NULL, NULL, tf_tuple_ints(context, 1, (int64_t[]){240}), constant(0)),
          TF_DIAG_VIEW_NEEDS_SHAPE);
  refused(window(x, 3, zeros, 2, (int64_t[]){1, 1}), TF_DIAG_VIEW_STARTS);
  refused(window(x, 2, zeros, 3, (int64_t[]){1, 1, 1}), TF_DIAG_VIEW_WINDOW_RANK);
  refused(window(x, 2, zeros, 2, (int64_t[]){13, 20}), TF_DIAG_VIEW_LARGER);
  refused(window(x, 2, far, 2, (int64_t[]){8, 8}), TF_DIAG_VIEW_OUTSIDE);
  refused(window(x, 2, before, 2, (int64_t[]){1, 1}), TF_DIAG_VIEW_OUTSIDE);
  refused(window(x, 1, &last, 1, (int64_t[]){8}), TF_DIAG_VIEW_OUTSIDE);
  const tf_expr *tile = window(x, 2, zeros, 2, (int64_t[]){6, 4});
  refused(window(tile, 1, zeros, 1, (int64_t[]){8}), TF_DIAG_VIEW_FLAT_START);
  refused(reshape(tile, 2, (int64_t[]){8, 3}), TF_DIAG_VIEW_RESHAPE_STRIDED);
  refused(reshape(tile, 2, (int64_t[]){8, 4}), TF_DIAG_VIEW_RESHAPE_COUNT);
}
END_TEST

START_TEST(refused_layouts) {
  const tf_expr *x = param(2, (int64_t[]){12, 20}, NULL);
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){4});
  const tf_shard_attr pending = {.kind = TF_SHARD_PARTIAL, .reduce = TF_REDUCE_SUM};
  const tf_layout *partial = tf_layout_shard(context, plain(2, (int64_t[]){12, 20}, NULL), 1, &pending, threads);
  const tf_tuple *same = tf_tuple_ints(context, 2, (int64_t[]){12, 20});
  refused(view_with(x, 0, NULL, plain(2, (int64_t[]){20, 12}, NULL), same, NULL), TF_DIAG_VIEW_LAYOUT_SHAPE);
  refused(laid(x, plain(2, (int64_t[]){12, 20}, (int64_t[]){1, 1})), TF_DIAG_VIEW_LAYOUT_OVERLAP);
  refused(laid(x, plain(2, (int64_t[]){12, 20}, (int64_t[]){21, 1})), TF_DIAG_VIEW_LAYOUT_OUTSIDE);
  refused(laid(x, tf_layout_composed(context, NULL, tf_dim_int(context, 1), plain(2, (int64_t[]){12, 20}, NULL))),
          TF_DIAG_VIEW_LAYOUT_OUTSIDE);
  refused(laid(x, tf_layout_composed(context, tf_layout_swizzle(context, 1, 1, 1), NULL, NULL)), TF_DIAG_VIEW_SWIZZLE);
  refused(laid(x, shard(plain(2, (int64_t[]){12, 20}, (int64_t[]){0, 1}), 1, (int[]){0}, threads)),
          TF_DIAG_VIEW_ZERO_SPLIT);
  refused(laid(x, shard(plain(2, (int64_t[]){12, 20}, NULL), 1, (int[]){2}, threads)), TF_DIAG_VIEW_SHARD);
  refused(laid(laid(x, partial), plain(1, (int64_t[]){240}, NULL)), TF_DIAG_VIEW_PARTIAL);
}
END_TEST

START_TEST(refused_allocations) {
  refused(alloc(tf_type_scalar(context, TF_DTYPE_F32)), TF_DIAG_ALLOC_RANK);
  refused(alloc(NULL), TF_DIAG_ALLOC_TYPE);
  const tf_dim *s;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 9, &s), TF_OK);
  refused(alloc(tf_type_tensor(context, 1, &s, TF_DTYPE_F32, NULL, TF_STORAGE_RMEM)), TF_DIAG_ALLOC_DYNAMIC);
  ck_assert_ptr_nonnull(alloc(tf_type_tensor(context, 1, &s, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM)));
  const tf_layout *cleared = tf_layout_composed(context, tf_layout_swizzle(context, 2, 0, 0), NULL, NULL);
  refused(alloc(tensor(1, (int64_t[]){64}, cleared, TF_STORAGE_SMEM)), TF_DIAG_VIEW_SWIZZLE_BITS);
}
END_TEST

START_TEST(refused_clips) {
  const tf_expr *x = param(2, (int64_t[]){12, 20}, NULL), *indices[] = {runtime(3), runtime(4)};
  const tf_expr *zero = tf_expr_float(context, TF_DTYPE_F32, 0, TF_NO_LOC),
                *one = tf_expr_float(context, TF_DTYPE_F32, 1, TF_NO_LOC);
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){4});
  const tf_tuple *tile = tf_tuple_ints(context, 2, (int64_t[]){4, 4});
  const tf_layout *rows = shard(plain(2, (int64_t[]){4, 4}, NULL), 1, (int[]){0}, threads);
  const tf_expr *clipped = view_with(x, 2, indices, NULL, tile, zero);
  refused(reshape(clipped, 1, (int64_t[]){16}), TF_DIAG_VIEW_CLIP_RESHAPE);
  refused(view_with(clipped, 2, indices, NULL, tile, one), TF_DIAG_VIEW_CLIP_VALUES);
  refused(laid(laid(clipped, rows), plain(2, (int64_t[]){1, 4}, NULL)), TF_DIAG_VIEW_CLIP_PART);
  refused(laid(clipped, plain(2, (int64_t[]){4, 4}, NULL)), TF_DIAG_VIEW_CLIP_LAYOUT);
  refused(view_with(laid(window(x, 2, indices, 2, (int64_t[]){4, 4}), rows), 2, indices, NULL, tile, zero),
          TF_DIAG_VIEW_CLIP_SHARDED);
}
END_TEST

START_TEST(scalars_have_no_memory) {
  const char *reason = NULL;
  tf_attr attr = {.i = TF_LEVEL_THREAD};
  ck_assert_ptr_null(tf_view_of(context, tf_expr_call(context, TF_OP_PROGRAM_ID, 0, NULL, &attr, TF_NO_LOC), &reason));
  ck_assert_ptr_nonnull(strstr(reason, "has no memory to view: view a parameter"));
  ck_assert_ptr_null(tf_view_of(context, bind(constant(3)), NULL));
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("views");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, refused_windows);
  tcase_add_test(tests, refused_layouts);
  tcase_add_test(tests, refused_allocations);
  tcase_add_test(tests, refused_clips);
  tcase_add_test(tests, scalars_have_no_memory);
  return run_case("refused views", tests);
}
