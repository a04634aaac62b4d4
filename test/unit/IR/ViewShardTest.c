/* Views of distributed values: who owns which element, and where it lies, instance by instance. */
#include "Harness.h"
#include "ViewModel.h"

/* ---- Distributions over plain views ---------------------------------------------------------------------------------------------------- */
START_TEST(distributions_over_a_window_step_in_its_storage) {
  const int64_t shape[] = {40, 50}, starts[] = {7, 3}, extents[] = {16, 24};
  value *v = row_major(2, shape);
  const tf_expr *indices[] = {runtime(7), runtime(3)};
  const tf_expr *x = window(param(2, shape, NULL), 2, indices, 2, extents);
  model_window(v, starts, extents, 0);
  const tf_mesh *mesh = mesh_of(TF_LEVEL_THREAD, 2, (int64_t[]){4, 8});
  /* Strides name storage offsets: rows are 50 apart. */
  const tf_layout *strided = shard(plain(3, (int64_t[]){16, 8, 3}, (int64_t[]){50, 3, 1}), 2, (int[]){0, 1}, mesh);
  check_distribution(laid(x, strided), v, mesh, 2, (int64_t[]){4, 8});
  /* Without strides the elements are dealt in C order. */
  const tf_layout *dealt = shard(plain(3, (int64_t[]){4, 8, 12}, NULL), 2, (int[]){0, 1}, mesh);
  check_distribution(laid(x, dealt), v, mesh, 2, (int64_t[]){4, 8});
  /* Strides of the window's own C order name elements outside of it. */
  const tf_layout *wrong = shard(plain(3, (int64_t[]){16, 8, 3}, (int64_t[]){24, 3, 1}), 2, (int[]){0, 1}, mesh);
  ck_assert_ptr_null(laid(x, wrong));
  ck_assert_ptr_nonnull(strstr(tf_context_diagnostic(context, 0)->message, "plain window"));
  free(v);
}
END_TEST

/* Chunks that cross rows of C-order storage still step evenly; over a strided window they do not. */
START_TEST(dealt_chunks_across_rows) {
  const int64_t shape[] = {16, 12};
  const tf_mesh *mesh = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){8});
  const tf_layout *dealt = shard(plain(3, (int64_t[]){3, 8, 8}, NULL), 1, (int[]){1}, mesh);
  value *v = row_major(2, shape);
  const tf_expr *x = param(2, shape, NULL);
  check_distribution(laid(x, dealt), v, mesh, 1, (int64_t[]){8});
  const int64_t wide[] = {16, 20};
  const tf_expr *zero[] = {constant(0), runtime(4)};
  const tf_view *view = view_of(laid(window(param(2, wide, NULL), 2, zero, 2, shape), dealt));
  ck_assert_ptr_null(view->digit_strides);
  int64_t offset;
  ck_assert(tf_view_offset(view, 13, &offset));
  ck_assert_int_eq(offset, 21);
  free(v);
}
END_TEST

/* A CTA's part over its threads: blocks of a matrix, then rows of the block; and a part that is no box. */
START_TEST(parts_of_parts) {
  const int64_t shape[] = {24, 32};
  const tf_mesh *grid = mesh_of(TF_LEVEL_CTA, 2, (int64_t[]){3, 2}),
                *threads = mesh_of(TF_LEVEL_THREAD, 2, (int64_t[]){4, 8});
  const tf_layout *blocks = shard(plain(2, (int64_t[]){24, 32}, NULL), 2, (int[]){0, 1}, grid);
  const tf_layout *rows = shard(plain(3, (int64_t[]){8, 8, 2}, NULL), 2, (int[]){0, 1}, threads);
  const tf_expr *whole = laid(param(2, shape, NULL), blocks), *part = laid(whole, rows);
  const tf_view *view = view_of(part);
  ck_assert_ptr_eq(view->outer, view_of(whole));
  ck_assert_int_eq(number(tf_type_extent(view->type, 0)), 8);
  ck_assert_int_eq(number(tf_type_extent(view->type, 1)), 16);
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 2; j++)
      for (int64_t t = 0; t < 32; t++) {
        instance who = {{grid, threads}, {{i, j}, {t / 8, t % 8}}};
        element elements[4];
        ck_assert_uint_eq(elements_of(view, &who, elements, 4), 4);
        for (int64_t n = 0; n < 4; n++) {
          /* local numbers: the second row digit is local (8 rows over 4), then the pair of columns: rows first */
          int64_t row = 2 * (t / 8) + n % 2, column = 2 * (t % 8) + n / 2;
          ck_assert_int_eq(elements[n].logical, row * 16 + column);
          ck_assert_int_eq(elements[n].address, (8 * i + row) * 32 + 16 * j + column);
        }
      }
}
END_TEST

/* A row of a matrix with a symbolic number of them, one per CTA: the CTA's digit counts rows. */
START_TEST(parts_over_a_symbolic_grid) {
  const tf_dim *rows, *shape[2];
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 1000, &rows), TF_OK);
  shape[0] = rows;
  shape[1] = tf_dim_int(context, 512);
  tf_topology ctas = {TF_LEVEL_CTA, rows};
  const tf_mesh *grid =
      tf_mesh_get(context, 1, &ctas, tf_layout_plain(context, tf_tuple_dims(context, 1, shape), NULL), 0, NULL);
  const tf_layout *by_row =
      shard(tf_layout_plain(context, tf_tuple_dims(context, 2, shape), NULL), 1, (int[]){0}, grid);
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32, by_row, TF_STORAGE_GMEM);
  const tf_expr *x = tf_expr_param(context, "x", type, false, TF_NO_LOC);
  const tf_view *row = view_of(laid(x, plain(2, (int64_t[]){1, 512}, NULL)));
  ck_assert_uint_eq(row->start_count, 1);
  ck_assert_ptr_null(row->starts[0].index);
  ck_assert_ptr_eq(row->starts[0].mesh, grid);
  ck_assert_ptr_eq(row->starts[0].extent, rows);
  ck_assert_int_eq(number(row->starts[0].stride), 512);
  ck_assert_ptr_null(tf_type_layout(row->type));
}
END_TEST

START_TEST(parts_that_are_no_box_are_flat) {
  const int64_t shape[] = {6, 4};
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){2});
  /* thread t owns rows t, t + 2, t + 4 */
  const tf_layout *striped = shard(plain(3, (int64_t[]){3, 2, 4}, (int64_t[]){8, 4, 1}), 1, (int[]){1}, threads);
  const tf_view *view = view_of(
      laid(laid(param(2, shape, NULL), striped), shard(plain(1, (int64_t[]){12}, NULL), 1, (int[]){-1}, threads)));
  ck_assert_uint_eq(tf_type_rank(view->type), 1);
  ck_assert_int_eq(number(tf_type_extent(view->type, 0)), 12);
  for (int64_t t = 0; t < 2; t++) {
    instance who = {{threads}, {{t}}};
    element elements[12];
    ck_assert_uint_eq(elements_of(view, &who, elements, 12), 12);
    for (int64_t n = 0; n < 12; n++)
      ck_assert_int_eq(elements[n].address, (2 * (elements[n].logical / 4) + t) * 4 + elements[n].logical % 4);
  }
}
END_TEST

/* ---- Register fragments ----------------------------------------------------------------------------------------------------------------- */
/* Element (i, j) of an array of accumulators has the accumulator's own layout, and its registers step by the array's. */
START_TEST(windows_of_fragment_arrays) {
  const tf_layout *c_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'C');
  const tf_mesh *lanes = tf_layout_mesh(c_layout);
  const tf_layout *stack = tf_mma_stack(context, c_layout, 2, (int64_t[]){3, 5});
  const tf_expr *acc = alloc(tensor(4, (int64_t[]){3, 5, 16, 8}, stack, TF_STORAGE_RMEM));
  ck_assert_int_eq(number(view_of(acc)->storage_size), 60);
  element whole[64], part[8];
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 5; j++) {
      const tf_expr *indices[] = {either(i), either(j), constant(0), constant(0)};
      const tf_expr *one = window(acc, 4, indices, 2, (int64_t[]){16, 8});
      ck_assert_ptr_eq(tf_type_layout(view_of(one)->type), c_layout);
      for (int64_t lane = 0; lane < 32; lane += 5) {
        instance who = {{lanes}, {{lane % 4, lane / 4}}};
        unsigned all = elements_of(view_of(acc), &who, whole, 64), few = elements_of(view_of(one), &who, part, 8);
        ck_assert_uint_eq(all, 60);
        ck_assert_uint_eq(few, 4);
        for (unsigned p = 0; p < few; p++) { /* the same register holds the same element of the array */
          ck_assert_int_eq(whole[part[p].address].address, part[p].address);
          ck_assert_int_eq(whole[part[p].address].logical, (i * 5 + j) * 128 + part[p].logical);
        }
      }
    }
  /* layout= may say it again, in any way that means the same, and nothing else */
  const tf_expr *indices[] = {constant(2), runtime(1), constant(0), constant(0)};
  const tf_tuple *shape = tf_tuple_ints(context, 2, (int64_t[]){16, 8});
  ck_assert_ptr_nonnull(view_with(acc, 4, indices, c_layout, shape, NULL));
  const tf_layout *other = shard(plain(4, (int64_t[]){2, 4, 8, 2}, (int64_t[]){64, 2, 8, 1}), 2, (int[]){1, 2}, lanes);
  ck_assert_ptr_null(view_with(acc, 4, indices, other, shape, NULL));
  /* a split axis cannot be cut */
  const tf_expr *cut[] = {constant(0), constant(0), constant(8), constant(0)};
  ck_assert_ptr_null(window(acc, 4, cut, 2, (int64_t[]){8, 8}));
}
END_TEST

START_TEST(windows_of_several_fragments) {
  const tf_layout *a_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'A');
  const tf_mesh *lanes = tf_layout_mesh(a_layout);
  const tf_layout *stack = tf_mma_stack(context, a_layout, 2, (int64_t[]){4, 3});
  const tf_expr *a = alloc(tensor(4, (int64_t[]){4, 3, 16, 16}, stack, TF_STORAGE_RMEM));
  const tf_expr *indices[] = {constant(1), runtime(2), constant(0), constant(0)};
  const tf_expr *two = window(a, 4, indices, 4, (int64_t[]){2, 1, 16, 16});
  const tf_view *view = view_of(two);
  const tf_layout *want = tf_mma_stack(context, a_layout, 1, (int64_t[]){2});
  ck_assert_ptr_eq(tf_layout_outer(tf_type_layout(view->type)), tf_layout_outer(want));
  /* the type alone gives the same ownership as the view */
  const tf_ownership *own;
  ck_assert_int_eq(tf_ownership_of(context, view->type, NULL, &own, NULL), TF_OK);
  element whole[128], part[32];
  instance who = {{lanes}, {{3, 5}}};
  int64_t listed[16];
  tf_ownership_enumerate(own, who.coordinates[0], listed);
  elements_of(view_of(a), &who, whole, 128);
  ck_assert_uint_eq(elements_of(view, &who, part, 32), 16);
  for (unsigned p = 0; p < 16; p++) {
    ck_assert_int_eq(part[p].logical, listed[p]);
    int64_t i = part[p].logical / 256, inside = part[p].logical % 256;
    ck_assert_int_eq(whole[part[p].address].logical, ((1 + i) * 3 + 2) * 256 + inside);
  }
}
END_TEST

/* A tile's layout with extents of 1 inside comes out of an array of tiles as it went in. */
START_TEST(windows_of_arrays_of_tiles) {
  const tf_mma_atom *atom = atom_named("SM80_16x8x8_F32TF32TF32F32_TN");
  for (int64_t warps = 1; warps <= 2; warps++) {
    const int64_t mnk[] = {16 * warps, 8, 8}, grid[] = {warps, 1};
    const tf_layout *c_layout = tf_mma_atom_layout(tf_mma_atom_tile(context, atom, mnk, grid, NULL), 'C');
    for (int64_t n = 1; n <= 3; n++) {
      const tf_layout *stack = tf_mma_stack(context, c_layout, 1, &n);
      const tf_expr *acc = alloc(tensor(3, (int64_t[]){n, mnk[0], 8}, stack, TF_STORAGE_RMEM));
      const tf_expr *indices[] = {runtime(n - 1), constant(0), constant(0)};
      ck_assert_ptr_eq(tf_type_layout(window(acc, 3, indices, 2, mnk)->type), c_layout);
    }
  }
}
END_TEST

/* A thread's own values as a plain tensor. */
START_TEST(the_part_of_a_fragment) {
  const tf_layout *c_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'C');
  const tf_expr *acc = alloc(tensor(2, (int64_t[]){16, 8}, c_layout, TF_STORAGE_RMEM));
  const tf_view *view = view_of(laid(acc, plain(1, (int64_t[]){4}, NULL)));
  ck_assert_uint_eq(view->start_count, 0);
  for (int64_t i = 0; i < 4; i++) {
    int64_t offset;
    ck_assert(tf_view_offset(view, i, &offset));
    ck_assert_int_eq(offset, i);
  }
}
END_TEST

/* ---- Shared allocations ------------------------------------------------------------------------------------------------------------------- */
START_TEST(shared_allocations_are_one_buffer) {
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 2, (int64_t[]){4, 8});
  const int64_t shape[] = {8, 24};
  value *v = row_major(2, shape);
  const tf_layout *dealt = shard(plain(2, (int64_t[]){8, 24}, NULL), 2, (int[]){0, 1}, threads);
  const tf_expr *buffer = alloc(tensor(2, shape, dealt, TF_STORAGE_SMEM));
  ck_assert_int_eq(number(view_of(buffer)->storage_size), 192);
  check_distribution(buffer, v, threads, 2, (int64_t[]){4, 8});
  free(v);
}
END_TEST

START_TEST(ctas_keep_their_own_part) {
  const tf_mesh *grid = mesh_of(TF_LEVEL_CTA, 1, (int64_t[]){4});
  /* columns are split over CTAs: 6 of 24 stay, rows close up */
  const tf_layout *split = shard(plain(2, (int64_t[]){5, 24}, NULL), 1, (int[]){1}, grid);
  const tf_expr *buffer = alloc(tensor(2, (int64_t[]){5, 24}, split, TF_STORAGE_SMEM));
  const tf_view *view = view_of(buffer);
  ck_assert_int_eq(number(view->storage_size), 30);
  bool seen[30] = {false};
  element elements[30];
  instance who = {{grid}, {{3}}};
  ck_assert_uint_eq(elements_of(view, &who, elements, 30), 30);
  for (unsigned i = 0; i < 30; i++) {
    int64_t row = elements[i].logical / 24, column = elements[i].logical % 24;
    ck_assert_int_eq(column / 6, 3);
    ck_assert_int_eq(elements[i].address, row * 6 + column % 6);
    seen[elements[i].address] = true;
  }
  for (unsigned i = 0; i < 30; i++)
    ck_assert(seen[i]);
  /* the extent that a Split divides away may be symbolic */
  const tf_dim *symbol, *extents[2];
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 1000, &symbol), TF_OK);
  tf_topology ctas = {TF_LEVEL_CTA, symbol};
  const tf_tuple *one = tf_tuple_dims(context, 1, &symbol);
  const tf_mesh *all = tf_mesh_get(context, 1, &ctas, tf_layout_plain(context, one, NULL), 0, NULL);
  extents[0] = symbol;
  extents[1] = tf_dim_int(context, 12);
  const tf_layout *rows = shard(tf_layout_plain(context, tf_tuple_dims(context, 2, extents), NULL), 1, (int[]){0}, all);
  const tf_expr *row = alloc(tf_type_tensor(context, 2, extents, TF_DTYPE_F32, rows, TF_STORAGE_SMEM));
  ck_assert_int_eq(number(view_of(row)->storage_size), 12);
  ck_assert_ptr_null(alloc(tf_type_tensor(context, 2, extents, TF_DTYPE_F32, NULL, TF_STORAGE_SMEM)));
}
END_TEST

/* Warps with a buffer each (stride 0), padded to 5 elements per row. */
START_TEST(private_buffers_lie_behind_one_another) {
  const tf_mesh *warps = mesh_of(TF_LEVEL_WARP, 1, (int64_t[]){3});
  const tf_layout *split = shard(plain(3, (int64_t[]){3, 2, 4}, (int64_t[]){0, 5, 1}), 1, (int[]){0}, warps);
  const tf_expr *buffer = alloc(tensor(3, (int64_t[]){3, 2, 4}, split, TF_STORAGE_SMEM));
  const tf_view *view = view_of(buffer);
  ck_assert(view->ownership->private_instances);
  ck_assert_int_eq(number(view->storage_size), 27);
  for (int64_t w = 0; w < 3; w++) {
    element elements[8];
    instance who = {{warps}, {{w}}};
    ck_assert_uint_eq(elements_of(view, &who, elements, 8), 8);
    for (unsigned i = 0; i < 8; i++) {
      int64_t inside = elements[i].logical % 8;
      ck_assert_int_eq(elements[i].logical / 8, w);
      ck_assert_int_eq(elements[i].address, 9 * w + inside / 4 * 5 + inside % 4);
    }
  }
  /* its part is a plain buffer at the warp's place; a window cuts what is not split */
  const tf_view *part = view_of(laid(buffer, shard(plain(2, (int64_t[]){2, 4}, NULL), 1, (int[]){-1}, warps)));
  instance who = {{warps}, {{2}}};
  ck_assert_int_eq(first_address(part, &who), 18);
  const tf_expr *indices[] = {constant(0), runtime(1), constant(2)};
  const tf_view *corner = view_of(window(buffer, 3, indices, 3, (int64_t[]){3, 1, 2}));
  element elements[2];
  ck_assert_uint_eq(elements_of(corner, &who, elements, 2), 2);
  ck_assert_int_eq(elements[0].address, 18 + 5 + 2);
  ck_assert_int_eq(elements[0].logical, 4);
  ck_assert_int_eq(elements[1].address, 18 + 5 + 3);
  ck_assert(corner->ownership->private_instances);
}
END_TEST

START_TEST(swizzles_are_behind_all_views) {
  const tf_layout *swizzle = tf_layout_swizzle(context, 3, 3, 3);
  const int64_t shape[] = {16, 64};
  const tf_layout *composed = tf_layout_composed(context, swizzle, NULL, plain(2, shape, (int64_t[]){64, 1}));
  const tf_expr *buffer = alloc(tensor(2, shape, composed, TF_STORAGE_SMEM));
  ck_assert_ptr_eq(view_of(buffer)->inner, swizzle);
  ck_assert_int_eq(number(view_of(buffer)->storage_size), 1024);
  value *v = row_major(2, shape);
  const tf_expr *indices[] = {runtime(4), constant(32)};
  const tf_expr *tile = window(buffer, 2, indices, 2, (int64_t[]){8, 16});
  model_window(v, (int64_t[]){4, 32}, (int64_t[]){8, 16}, 0);
  check_plain(tile, v);
  ck_assert_ptr_eq(view_of(tile)->inner, swizzle);
  /* whole blocks of 64 elements, if the size is none */
  const int64_t odd[] = {3, 50};
  const tf_layout *small = tf_layout_composed(context, swizzle, NULL, plain(2, odd, NULL));
  ck_assert_int_eq(number(view_of(alloc(tensor(2, odd, small, TF_STORAGE_SMEM)))->storage_size), 192);
  ck_assert_ptr_null(alloc(tensor(2, odd, small, TF_STORAGE_RMEM)));
  ck_assert_ptr_null(laid(tile, tf_layout_composed(context, swizzle, NULL, NULL)));
  free(v);
}
END_TEST

/* ---- Reshapes of distributed values ------------------------------------------------------------------------------------------------------------ */
START_TEST(reshapes_keep_the_distribution) {
  const tf_layout *c_layout = tf_mma_atom_layout(atom_named("SM80_16x8x16_F32BF16BF16F32_TN"), 'C');
  const tf_mesh *lanes = tf_layout_mesh(c_layout);
  const tf_expr *acc = alloc(tensor(2, (int64_t[]){16, 8}, c_layout, TF_STORAGE_RMEM));
  static const int64_t shapes[][3] = {{8, 16, 1}, {128, 1, 1}, {2, 8, 8}, {4, 4, 8}};
  for (unsigned s = 0; s < 4; s++) {
    const tf_expr *other = reshape(acc, 3, shapes[s]);
    ck_assert_ptr_eq(tf_type_layout(other->type), c_layout);
    for (int64_t lane = 0; lane < 32; lane++) {
      instance who = {{lanes}, {{lane % 4, lane / 4}}};
      element before[4], after[4];
      elements_of(view_of(acc), &who, before, 4);
      ck_assert_uint_eq(elements_of(view_of(other), &who, after, 4), 4);
      for (unsigned i = 0; i < 4; i++) /* the same register holds the same logical index */
        for (unsigned k = 0; k < 4; k++)
          ck_assert(before[i].address != after[k].address || before[i].logical == after[k].logical);
    }
  }
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("views");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, distributions_over_a_window_step_in_its_storage);
  tcase_add_test(tests, dealt_chunks_across_rows);
  tcase_add_test(tests, parts_of_parts);
  tcase_add_test(tests, parts_over_a_symbolic_grid);
  tcase_add_test(tests, parts_that_are_no_box_are_flat);
  tcase_add_test(tests, windows_of_fragment_arrays);
  tcase_add_test(tests, windows_of_several_fragments);
  tcase_add_test(tests, windows_of_arrays_of_tiles);
  tcase_add_test(tests, the_part_of_a_fragment);
  tcase_add_test(tests, shared_allocations_are_one_buffer);
  tcase_add_test(tests, ctas_keep_their_own_part);
  tcase_add_test(tests, private_buffers_lie_behind_one_another);
  tcase_add_test(tests, swizzles_are_behind_all_views);
  tcase_add_test(tests, reshapes_keep_the_distribution);
  return run_case("views of distributed values", tests);
}
