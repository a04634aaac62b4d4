/* Views of plain values: random chains against the model of ViewModel.h, symbolic extents, nested layouts, clip. */
#include "Harness.h"
#include "ViewModel.h"

/* ---- Random chains of plain views ----------------------------------------------------------------------------------------------------- */
static const tf_expr *random_window(const tf_expr *expr, value *v) {
  int64_t starts[MAX_RANK], extents[MAX_RANK];
  const tf_expr *indices[MAX_RANK];
  unsigned ones = 0;
  for (unsigned axis = 0; axis < v->rank; axis++) {
    extents[axis] = draw(0, 2) ? draw(1, v->shape[axis]) : axis == ones ? 1 : v->shape[axis];
    ones += axis == ones && extents[axis] == 1;
    starts[axis] = draw(0, v->shape[axis] - extents[axis]);
    indices[axis] = either(starts[axis]);
  }
  unsigned dropped = ones ? (unsigned)draw(0, ones) : 0;
  if (dropped == v->rank) dropped--;
  const tf_expr *out = window(expr, v->rank, indices, v->rank - dropped, extents + dropped);
  if (out) model_window(v, starts, extents, dropped);
  return out;
}

/* Splits an axis, joins neighbours, or both at random. */
static const tf_expr *random_reshape(const tf_expr *expr, value *v) {
  int64_t shape[MAX_RANK];
  unsigned rank = 0;
  int64_t left = v->count;
  while (left > 1 && rank < MAX_RANK - 1) {
    int64_t factor = 1;
    for (int64_t i = draw(1, left); i >= 1 && factor == 1; i--)
      if (left % i == 0) factor = i;
    shape[rank++] = factor;
    left /= factor;
  }
  shape[rank++] = left;
  const tf_expr *out = reshape(expr, rank, shape);
  if (out) model_reshape(v, rank, shape);
  return out;
}

/* Axes exchanged: addresses anew from the first element, over as many neighbours as there are elements. */
static const tf_expr *random_layout(const tf_expr *expr, value *v) {
  int64_t strides[MAX_RANK] = {0}, step = 1, first = v->address[0];
  unsigned order[MAX_RANK];
  for (unsigned i = 0; i < v->rank; i++)
    order[i] = i;
  for (unsigned i = v->rank; i-- > 1;) {
    unsigned other = (unsigned)draw(0, i), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (unsigned i = 0; i < v->rank; i++) {
    strides[order[i]] = step;
    step *= v->shape[order[i]];
  }
  const tf_expr *out = laid(expr, plain(v->rank, v->shape, strides));
  ck_assert_ptr_nonnull(out);
  for (int64_t i = 0; i < v->count; i++) {
    int64_t at[MAX_RANK], offset = 0;
    unravel(i, v->rank, v->shape, at);
    for (unsigned axis = 0; axis < v->rank; axis++)
      offset += at[axis] * strides[axis];
    v->address[i] = first + offset;
  }
  return out;
}

static bool is_even(const value *v) {
  for (int64_t i = 2; i < v->count; i++)
    if (v->address[i] - v->address[i - 1] != v->address[1] - v->address[0]) return false;
  return true;
}

static const tf_expr *random_flat(const tf_expr *expr, value *v) {
  int64_t shape[2], start;
  shape[0] = draw(1, v->count);
  shape[1] = draw(1, v->count / shape[0]);
  start = draw(0, v->count - shape[0] * shape[1]);
  const tf_expr *index = either(start);
  const tf_expr *out = window(expr, 1, &index, 2, shape);
  if (!is_even(v)) {
    ck_assert_ptr_null(out);
    return NULL;
  }
  if (out) {
    memmove(v->address, v->address + start, (size_t)(shape[0] * shape[1]) * sizeof *v->address);
    v->count = shape[0] * shape[1];
    model_reshape(v, 2, shape);
  }
  return out;
}

START_TEST(random_chains_of_plain_views) {
  static unsigned refused, accepted;
  for (unsigned round = 0; round < 400; round++) {
    unsigned rank = (unsigned)draw(1, 4);
    int64_t shape[4];
    for (unsigned i = 0; i < rank; i++)
      shape[i] = draw(1, 7);
    value *v = row_major(rank, shape);
    const tf_expr *expr = param(rank, shape, NULL);
    for (unsigned step = 0; step < 5; step++) {
      int64_t kind = draw(0, 5);
      const tf_expr *next = kind <= 1   ? random_window(expr, v)
                            : kind <= 3 ? random_reshape(expr, v)
                            : kind == 4 ? random_layout(expr, v)
                                        : random_flat(expr, v);
      refused += next == NULL;
      accepted += next != NULL;
      if (kind <= 3 && is_even(v)) ck_assert_ptr_nonnull(next);
      if (next) expr = next;
      check_plain(expr, v);
    }
    free(v);
  }
  ck_assert_uint_gt(accepted, 5 * refused);
}
END_TEST

/* ---- Symbolic shapes, spans, pointers --------------------------------------------------------------------------------------------------------------- */
START_TEST(symbolic_extents) {
  const tf_dim *s, *shape[2];
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 65536, &s), TF_OK);
  shape[0] = s;
  shape[1] = tf_dim_int(context, 512);
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM);
  const tf_expr *x = tf_expr_param(context, "x", type, false, TF_NO_LOC);
  const tf_expr *indices[] = {runtime(5), constant(0)};
  const tf_view *row = view_of(window(x, 2, indices, 1, (int64_t[]){512}));
  ck_assert_ptr_null(tf_type_layout(row->type));
  ck_assert_int_eq(first_address(row, NULL), 5 * 512);
  ck_assert_ptr_eq(row->storage_size, tf_dim_binary(context, TF_DIM_MUL, s, shape[1]));
  const tf_dim *flat = tf_dim_binary(context, TF_DIM_MUL, s, shape[1]);
  const tf_tuple *joined = tf_tuple_dims(context, 1, &flat);
  ck_assert_ptr_nonnull(view_with(x, 0, NULL, NULL, joined, NULL));
  const tf_dim *split[] = {tf_dim_binary(context, TF_DIM_MUL, s, tf_dim_int(context, 4)), tf_dim_int(context, 128)};
  ck_assert_ptr_nonnull(view_with(x, 0, NULL, NULL, tf_tuple_dims(context, 2, split), NULL));
  ck_assert_ptr_null(view_with(x, 0, NULL, NULL, tf_tuple_ints(context, 1, (int64_t[]){512}), NULL));
  const tf_expr *behind[] = {constant(65535), constant(0)};
  ck_assert_ptr_null(window(x, 2, behind, 1, (int64_t[]){512}));
}
END_TEST

START_TEST(spans_and_pointers_keep_offsets) {
  const int64_t shape[] = {9, 10};
  const tf_expr *indices[] = {runtime(4), constant(2)};
  const tf_expr *tile = window(param(2, shape, NULL), 2, indices, 2, (int64_t[]){3, 4});
  const tf_expr *span = bind(tf_expr_call(context, TF_OP_MEMORY_SPAN, 1, &tile, NULL, TF_NO_LOC));
  const tf_expr *pointer = bind(tf_expr_call(context, TF_OP_PTR_OF, 1, &span, NULL, TF_NO_LOC));
  value *v = row_major(2, shape);
  model_window(v, (int64_t[]){4, 2}, (int64_t[]){3, 4}, 0);
  check_plain(pointer, v);
  const tf_expr *more[] = {constant(1), runtime(1)};
  model_window(v, (int64_t[]){1, 1}, (int64_t[]){2, 2}, 0);
  check_plain(window(pointer, 2, more, 2, (int64_t[]){2, 2}), v);
  free(v);
}
END_TEST

/* Nested modes walk leftmost fastest; the layout's own extents are the shape if there is none. */
START_TEST(nested_layouts) {
  const tf_tuple *inner = tf_tuple_ints(context, 2, (int64_t[]){2, 3}),
                 *inner_strides = tf_tuple_ints(context, 2, (int64_t[]){12, 4});
  const tf_tuple *four = tf_tuple_leaf(context, tf_dim_int(context, 4)),
                 *unit = tf_tuple_leaf(context, tf_dim_int(context, 1));
  const tf_tuple *shape = tf_tuple_list(context, 2, (const tf_tuple *const[]){inner, four});
  const tf_tuple *strides = tf_tuple_list(context, 2, (const tf_tuple *const[]){inner_strides, unit});
  const tf_expr *x = laid(param(1, (int64_t[]){24}, NULL), tf_layout_plain(context, shape, strides));
  value *v = row_major(2, (int64_t[]){6, 4});
  for (int64_t i = 0; i < 24; i++)
    v->address[i] = i / 4 % 2 * 12 + i / 4 / 2 * 4 + i % 4;
  check_plain(x, v);
  ck_assert_ptr_nonnull(view_of(x)->address_layout);
  ck_assert_ptr_null(view_of(x)->strides[0]);
  const tf_expr *indices[] = {constant(1), constant(0)};
  ck_assert_ptr_null(window(x, 2, indices, 2, (int64_t[]){2, 4}));
  const tf_expr *columns[] = {constant(0), runtime(2)};
  model_window(v, (int64_t[]){0, 2}, (int64_t[]){6, 2}, 0);
  check_plain(window(x, 2, columns, 2, (int64_t[]){6, 2}), v);
  free(v);
}
END_TEST

/* ---- Clip ------------------------------------------------------------------------------------------------------------------------------------- */
START_TEST(clipped_windows) {
  const int64_t shape[] = {17, 30};
  const tf_expr *x = param(2, shape, NULL), *zero = tf_expr_float(context, TF_DTYPE_F32, 0, TF_NO_LOC);
  const tf_expr *indices[] = {runtime(16), constant(0)};
  const tf_tuple *tile = tf_tuple_ints(context, 2, (int64_t[]){16, 16});
  const tf_expr *clipped = view_with(x, 2, indices, NULL, tile, zero);
  const tf_view *view = view_of(clipped);
  ck_assert_uint_eq(view->clip_count, 1); /* columns 0 … 15 are inside for certain */
  ck_assert_int_eq(view->clips[0].axis, 0);
  ck_assert_int_eq(evaluate(view->clips[0].start), 16);
  ck_assert_int_eq(number(view->clips[0].extent), 17);
  ck_assert_ptr_eq(view->clip_value, zero);
  /* a window of it is clipped at the same place, counted from its own first element */
  const tf_expr *inner[] = {runtime(3), constant(8)};
  view = view_of(window(clipped, 2, inner, 1, (int64_t[]){8}));
  ck_assert_uint_eq(view->clip_count, 1);
  ck_assert_int_eq(view->clips[0].axis, -1);
  ck_assert_int_eq(evaluate(view->clips[0].start), 19);
  ck_assert_int_eq(first_address(view, NULL), 19 * 30 + 8);
  /* wider than its source: no strides */
  const tf_expr *zeros[] = {constant(0), constant(0)};
  const tf_tuple *wide = tf_tuple_ints(context, 2, (int64_t[]){32, 32});
  const tf_mesh *threads = mesh_of(TF_LEVEL_THREAD, 1, (int64_t[]){32});
  ck_assert_ptr_nonnull(
      view_with(x, 2, zeros, shard(plain(2, (int64_t[]){32, 32}, NULL), 1, (int[]){0}, threads), wide, zero));
  const tf_layout *strided = shard(plain(2, (int64_t[]){32, 32}, (int64_t[]){30, 1}), 1, (int[]){0}, threads);
  ck_assert_ptr_null(view_with(x, 2, zeros, strided, wide, zero));
  ck_assert_ptr_null(view_with(x, 2, zeros, plain(2, (int64_t[]){32, 32}, NULL), wide, zero));
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("views");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, random_chains_of_plain_views);
  tcase_add_test(tests, symbolic_extents);
  tcase_add_test(tests, spans_and_pointers_keep_offsets);
  tcase_add_test(tests, nested_layouts);
  tcase_add_test(tests, clipped_windows);
  return run_case("views", tests);
}
