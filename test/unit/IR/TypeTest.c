/* Tuples, layouts and types: interning, normalisation, accessors, Python text, misuse. */
#include <stdio.h>

#include "Harness.h"
#include "LayoutModel.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static const tf_dim *num(int64_t value) {
  return tf_dim_int(context, value);
}

static const tf_tuple *pair(const tf_tuple *a, const tf_tuple *b) {
  const tf_tuple *elements[] = {a, b};
  return tf_tuple_list(context, 2, elements);
}

static const tf_tuple *leaf(int64_t value) {
  return tf_tuple_leaf(context, num(value));
}

static const tf_layout *flat(unsigned count, const int64_t *extents, const int64_t *strides) {
  return tf_layout_plain(context, tf_tuple_ints(context, count, extents),
                         strides ? tf_tuple_ints(context, count, strides) : NULL);
}

static const tf_type *tensor(unsigned rank, const int64_t *extents, const tf_layout *layout) {
  const tf_dim *shape[8];
  for (unsigned i = 0; i < rank; i++)
    shape[i] = num(extents[i]);
  return tf_type_tensor(context, rank, shape, TF_DTYPE_F32, layout, TF_STORAGE_GMEM);
}

/* ---- Tuples ---- */
START_TEST(tuples) {
  const tf_tuple *inner = pair(leaf(2), leaf(3)), *nested = pair(inner, leaf(5));
  ck_assert_ptr_eq(nested, pair(pair(leaf(2), leaf(3)), leaf(5)));
  ck_assert_ptr_ne(nested, pair(leaf(5), inner));
  ck_assert(!tf_tuple_is_leaf(nested) && tf_tuple_is_leaf(leaf(5)));
  ck_assert(tf_tuple_count(nested) == 2 && tf_tuple_count(leaf(5)) == 1 && tf_tuple_leaf_count(nested) == 3);
  ck_assert_ptr_eq(tf_tuple_element(nested, 0), inner);
  ck_assert_ptr_null(tf_tuple_element(nested, 2));
  ck_assert_ptr_eq(tf_tuple_dim(tf_tuple_element(nested, 1)), num(5));
  ck_assert_ptr_null(tf_tuple_dim(nested));
  const tf_dim *leaves[3];
  tf_tuple_leaves(nested, leaves);
  ck_assert(leaves[0] == num(2) && leaves[1] == num(3) && leaves[2] == num(5));
  ck_assert_ptr_eq(tf_tuple_product(context, nested), num(30));
  ck_assert_ptr_eq(tf_tuple_product(context, tf_tuple_list(context, 0, NULL)), num(1));
  int64_t many[100];
  for (int i = 0; i < 100; i++)
    many[i] = i;
  const tf_tuple *wide = tf_tuple_ints(context, 100, many);
  ck_assert_uint_eq(tf_tuple_leaf_count(wide), 100);
  ck_assert_ptr_eq(tf_tuple_dim(tf_tuple_element(wide, 77)), num(77));
}
END_TEST

START_TEST(tuple_misuse) {
  const tf_tuple *deep = leaf(1);
  int levels = 0;
  ck_assert_ptr_null(tf_tuple_leaf(context, NULL));
  ck_assert_ptr_null(pair(leaf(1), NULL));
  for (; deep && levels < 1000; levels++)
    deep = tf_tuple_list(context, 1, &deep);
  ck_assert_int_lt(levels, 100); /* nesting is bounded: recursion over tuples is safe */
}
END_TEST

/* ---- Layouts ---- */
START_TEST(layout_text) {
  const int64_t e[] = {4, 8}, s[] = {1, 4}, one = 8;
  const tf_layout *plain = flat(2, e, s);
  ck_assert_str_eq(tf_layout_print(context, plain), "Layout(shape=(4, 8), strides=(1, 4))");
  ck_assert_str_eq(tf_layout_print(context, flat(2, e, NULL)), "Layout(shape=(4, 8))");
  ck_assert_str_eq(tf_layout_print(context, flat(1, &one, NULL)), "Layout(shape=(8,))");
  ck_assert_ptr_eq(tf_layout_plain(context, leaf(8), leaf(1)), flat(1, &one, (const int64_t[]){1}));
  const tf_layout *nested =
      tf_layout_plain(context, pair(pair(leaf(2), leaf(3)), leaf(5)), pair(pair(leaf(1), leaf(2)), leaf(6)));
  ck_assert_str_eq(tf_layout_print(context, nested), "Layout(shape=((2, 3), 5), strides=((1, 2), 6))");
  const tf_layout *swizzle = tf_layout_swizzle(context, 3, 3, 3);
  ck_assert_str_eq(tf_layout_print(context, swizzle), "Swizzle(3, 3, 3)");
  ck_assert_str_eq(tf_layout_print(context, tf_layout_composed(context, NULL, NULL, plain)),
                   "ComposedLayout(inner=None, offset=0, outer=Layout(shape=(4, 8), strides=(1, 4)))");
  ck_assert_str_eq(tf_layout_print(context, tf_layout_composed(context, swizzle, num(5), plain)),
                   "ComposedLayout(inner=Swizzle(3, 3, 3), offset=5, outer=Layout(shape=(4, 8), strides=(1, 4)))");
  ck_assert_str_eq(tf_layout_print(context, NULL), "None");
}
END_TEST

static const tf_mesh *lanes(void) {
  const int64_t e[] = {2, 4, 4}, s[] = {16, 1, 4};
  const char *const names[] = {"i", "q_2", "k"};
  const tf_topology level = {TF_LEVEL_THREAD, num(32)};
  return tf_mesh_get(context, 1, &level, flat(3, e, s), 3, names);
}

START_TEST(shard_layouts) {
  const int64_t e[] = {4, 8}, s[] = {8, 1};
  const tf_shard_attr attrs[] = {
      {TF_SHARD_SPLIT, 1, TF_REDUCE_MAX}, {TF_SHARD_BROADCAST, 5, TF_REDUCE_MIN}, {TF_SHARD_PARTIAL, 3, TF_REDUCE_SUM}};
  const tf_shard_attr clean[] = {{TF_SHARD_SPLIT, 1, (tf_reduce_kind)0},
                                 {TF_SHARD_BROADCAST, 0, (tf_reduce_kind)0},
                                 {TF_SHARD_PARTIAL, 0, TF_REDUCE_SUM}};
  const tf_layout *layout = tf_layout_shard(context, flat(2, e, s), 3, attrs, lanes());
  ck_assert_ptr_eq(layout, tf_layout_shard(context, flat(2, e, s), 3, clean, lanes())); /* idle fields do not count */
  ck_assert_str_eq(
      tf_layout_print(context, layout),
      "ShardLayout(layout=Layout(shape=(4, 8), strides=(8, 1)), attrs=(Split(1), Broadcast(), Partial(\"sum\")), "
      "mesh=Mesh((Topology(\"thread\", 32),), Layout(shape=(2, 4, 4), strides=(16, 1, 4)), (\"i\", \"q_2\", "
      "\"k\")))");
  ck_assert(tf_layout_is_shard(layout) && !tf_layout_is_shard(flat(2, e, s)) && !tf_layout_is_shard(NULL));
  ck_assert_uint_eq(tf_layout_attr_count(layout), 3);
  ck_assert(tf_layout_attr(layout, 2).kind == TF_SHARD_PARTIAL && tf_layout_attr(layout, 2).reduce == TF_REDUCE_SUM);
  ck_assert_int_eq(tf_layout_attr(layout, 3).kind, TF_SHARD_BROADCAST);
  ck_assert_ptr_eq(tf_layout_mesh(layout), lanes());
  ck_assert_ptr_eq(tf_layout_outer(layout), flat(2, e, s));
  ck_assert_ptr_eq(tf_layout_shape(layout), tf_tuple_ints(context, 2, e));
}
END_TEST

START_TEST(layout_misuse) {
  const int64_t e[] = {4, 8};
  ck_assert_ptr_null(tf_layout_plain(context, NULL, NULL));
  ck_assert_ptr_null(tf_layout_plain(context, tf_tuple_ints(context, 2, e), leaf(1)));
  ck_assert_ptr_null(
      tf_layout_plain(context, pair(leaf(2), pair(leaf(2), leaf(2))), pair(pair(leaf(2), leaf(2)), leaf(2))));
  ck_assert_ptr_null(tf_layout_shard(context, NULL, 0, NULL, lanes()));
  ck_assert_ptr_null(tf_layout_shard(context, flat(2, e, NULL), 0, NULL, NULL));
  const tf_dim *null_shape[] = {NULL};
  ck_assert_ptr_null(tf_layout_row_major(context, 1, null_shape));
  const char *reason = NULL;
  ck_assert(!tf_layout_is_injective(NULL, &reason) && reason);
  ck_assert_ptr_null(tf_layout_composition(context, NULL, NULL, &reason));
  ck_assert_ptr_null(tf_layout_cosize(context, NULL));
  ck_assert(!tf_layout_contains(NULL, 0));
}
END_TEST

/* ---- Types ---- */
/* Brute force: the type is plain exactly when every element's address is its C-order index. */
static bool is_row_major(const int64_t *shape, unsigned rank, const model *m, const int *axis_of) {
  int64_t numel = 1;
  for (unsigned i = 0; i < rank; i++)
    numel *= shape[i];
  for (int64_t index = 0; index < numel; index++) {
    int64_t coordinate[4], rest = index, address = 0;
    for (unsigned i = rank; i-- > 0;) {
      coordinate[i] = rest % shape[i];
      rest /= shape[i];
    }
    for (int k = 0; k < m->count; k++) { /* an axis walks its modes leftmost fastest */
      address += coordinate[axis_of[k]] % m->extent[k] * m->stride[k];
      coordinate[axis_of[k]] /= m->extent[k];
    }
    if (address != index) return false;
  }
  return true;
}

START_TEST(plain_layouts_are_normalised) {
  uint64_t seed = 51;
  int plain = 0;
  for (int round = 0; round < 20000; round++) {
    unsigned rank = 1 + (unsigned)random_below(&seed, 3);
    const tf_tuple *extents[3], *strides[3];
    int64_t shape[3], stride = 1;
    int axis_of[MODEL_MODES] = {0}, first[4] = {0};
    model m = {0};
    for (unsigned i = 0; i < rank; i++) {
      int parts = 1 + (int)random_below(&seed, 2);
      shape[i] = 1;
      for (int p = 0; p < parts; p++) {
        m.extent[m.count] = 1 + (int64_t)random_below(&seed, 3);
        axis_of[m.count] = (int)i;
        shape[i] *= m.extent[m.count++];
      }
      first[i + 1] = m.count;
    }
    for (unsigned i = rank; i-- > 0;)
      for (int k = first[i]; k < first[i + 1]; k++) {
        m.stride[k] = random_below(&seed, 12) == 0 ? (int64_t)random_below(&seed, 9) : stride;
        stride *= m.extent[k];
      }
    for (unsigned i = 0; i < rank; i++) {
      extents[i] = tf_tuple_ints(context, (unsigned)(first[i + 1] - first[i]), m.extent + first[i]);
      strides[i] = tf_tuple_ints(context, (unsigned)(first[i + 1] - first[i]), m.stride + first[i]);
    }
    const tf_layout *layout =
        tf_layout_plain(context, tf_tuple_list(context, rank, extents), tf_tuple_list(context, rank, strides));
    const tf_type *type = tensor(rank, shape, layout);
    bool expected = is_row_major(shape, rank, &m, axis_of);
    ck_assert_msg((tf_type_layout(type) == NULL) == expected, "%s", tf_layout_print(context, layout));
    ck_assert((type == tensor(rank, shape, NULL)) == expected);
    plain += expected;
  }
  ck_assert_int_gt(plain, 5000);
  ck_assert_int_lt(plain, 19000);
}
END_TEST

START_TEST(idle_strides_and_identities) {
  const int64_t row[] = {1, 32}, s0[] = {64, 1}, s1[] = {7, 2}, s2[] = {0, 2};
  ck_assert_ptr_eq(tensor(2, row, flat(2, row, s0)), tensor(2, row, NULL));
  ck_assert_ptr_eq(tensor(2, row, flat(2, row, s1)), tensor(2, row, flat(2, row, s2)));
  ck_assert_ptr_ne(tensor(2, row, flat(2, row, s1)), tensor(2, row, NULL));
  ck_assert_ptr_eq(tensor(2, row, tf_layout_composed(context, NULL, NULL, flat(2, row, s0))), tensor(2, row, NULL));
  ck_assert_ptr_ne(
      tensor(2, row, tf_layout_composed(context, tf_layout_swizzle(context, 1, 1, 1), NULL, flat(2, row, s0))),
      tensor(2, row, NULL));
  ck_assert_ptr_eq(tensor(2, row, flat(2, row, NULL)), tensor(2, row, NULL));
  const tf_dim *s, *eight = num(8);
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 100, &s), TF_OK);
  const tf_dim *shape[] = {s, eight}, *strides[] = {eight, num(1)};
  const tf_layout *symbolic =
      tf_layout_plain(context, tf_tuple_dims(context, 2, shape), tf_tuple_dims(context, 2, strides));
  ck_assert_ptr_null(tf_type_layout(tf_type_tensor(context, 2, shape, TF_DTYPE_F32, symbolic, TF_STORAGE_GMEM)));
}
END_TEST

START_TEST(type_text) {
  const int64_t e[] = {16, 8}, s[] = {1, 16}, one = 5;
  ck_assert_str_eq(tf_type_print(context, tensor(2, e, flat(2, e, s))),
                   "TensorType(shape=(16, 8), dtype=DType.f32, layout=Layout(shape=(16, 8), strides=(1, 16)), "
                   "storage=StorageKind.GMEM)");
  ck_assert_str_eq(tf_type_print(context, tensor(1, &one, NULL)),
                   "TensorType(shape=(5,), dtype=DType.f32, storage=StorageKind.GMEM)");
  ck_assert_str_eq(tf_type_print(context, tf_type_scalar(context, TF_DTYPE_I32)),
                   "TensorType(shape=(), dtype=DType.i32)");
  const tf_type *parts[] = {tf_type_scalar(context, TF_DTYPE_BOOL)};
  ck_assert_str_eq(tf_type_print(context, tf_type_tuple(context, 1, parts)),
                   "TupleType((TensorType(shape=(), dtype=DType.bool),))");
  ck_assert_str_eq(tf_type_print(context, tf_type_callable(context, 0, NULL)),
                   "CallableType(params=(), return_type=UnitType())");
  ck_assert_str_eq(tf_type_print(context, tf_type_mesh(context)), "MeshType()");
}
END_TEST

START_TEST(type_accessors) {
  const int64_t e[] = {3, 4};
  const tf_type *type = tensor(2, e, NULL), *scalar = tf_type_scalar(context, TF_DTYPE_F16), *parts[] = {type, scalar};
  ck_assert(tf_type_is_tensor(type) && !tf_type_is_scalar(type) && tf_type_is_scalar(scalar));
  ck_assert(tf_type_rank(type) == 2 && tf_type_extent(type, 1) == num(4) && !tf_type_extent(type, 2));
  ck_assert(tf_type_shape(type)[0] == num(3) && tf_type_dtype(scalar) == TF_DTYPE_F16);
  ck_assert(tf_type_storage(type) == TF_STORAGE_GMEM && tf_type_storage(scalar) == TF_STORAGE_NONE);
  ck_assert_ptr_eq(tf_type_tensor(context, 0, NULL, TF_DTYPE_F16, NULL, TF_STORAGE_GMEM), scalar); /* a value */
  ck_assert_ptr_eq(tf_type_numel(context, type), num(12));
  ck_assert_ptr_eq(tf_type_numel(context, scalar), num(1));
  const tf_type *callable = tf_type_callable(context, 2, parts), *tuple = tf_type_tuple(context, 2, parts);
  ck_assert_ptr_ne(callable, tuple);
  ck_assert_ptr_eq(callable, tf_type_callable(context, 2, parts));
  ck_assert(tf_type_get_kind(callable) == TF_TYPE_CALLABLE && tf_type_element_count(tuple) == 2);
  ck_assert(tf_type_element(tuple, 1) == scalar && !tf_type_element(tuple, 2) && tf_type_element_count(type) == 0);
  ck_assert(tf_type_rank(callable) == 0 && !tf_type_shape(callable) && !tf_type_is_tensor(NULL));
  ck_assert_ptr_ne(tf_type_unit(context), tf_type_mesh(context));
  const tf_dim *null_shape[] = {NULL};
  ck_assert_ptr_null(tf_type_tensor(context, 1, null_shape, TF_DTYPE_F32, NULL, TF_STORAGE_GMEM));
  ck_assert_ptr_null(tf_type_tuple(context, 1, (const tf_type *const[]){NULL}));
}
END_TEST

/* ---- Local projections ---- */
START_TEST(local_projections) {
  const int64_t e[] = {2, 1536}, s[] = {1536, 1}, m[] = {2, 4, 32};
  const tf_topology level = {TF_LEVEL_THREAD, num(256)};
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, flat(3, m, NULL), 0, NULL);
  const tf_shard_attr attrs[] = {{TF_SHARD_SPLIT, 0, (tf_reduce_kind)0},
                                 {TF_SHARD_SPLIT, 1, (tf_reduce_kind)0},
                                 {TF_SHARD_SPLIT, 1, (tf_reduce_kind)0}};
  const tf_dim *shape[] = {num(2), num(1536)}, *local[TF_MAX_FACTORS], *value = NULL;
  const tf_layout *layout = tf_layout_shard(context, flat(2, e, s), 3, attrs, mesh);
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F4E2M1, layout, TF_STORAGE_RMEM);
  unsigned count = 0;
  const char *reason = NULL;
  ck_assert_int_eq(tf_type_local_shape(context, type, &count, local, &reason), TF_OK);
  ck_assert(count == 2 && local[0] == num(1) && local[1] == num(12));
  ck_assert_int_eq(tf_type_local_numel(context, type, &value, &reason), TF_OK);
  ck_assert_ptr_eq(value, num(12));
  ck_assert_int_eq(tf_type_local_bytes(context, type, &value, &reason), TF_OK);
  ck_assert_ptr_eq(value, num(6));
  const int64_t odd[] = {3, 5};
  ck_assert_int_eq(tf_type_local_bytes(context, tensor(2, odd, NULL), &value, &reason), TF_OK);
  ck_assert_ptr_eq(value, num(60));
  const tf_shard_attr wrong[] = {{TF_SHARD_SPLIT, 0, (tf_reduce_kind)0},
                                 {TF_SHARD_SPLIT, 0, (tf_reduce_kind)0},
                                 {TF_SHARD_BROADCAST, 0, (tf_reduce_kind)0}};
  type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32, tf_layout_shard(context, flat(2, e, s), 3, wrong, mesh),
                        TF_STORAGE_RMEM);
  ck_assert_int_eq(tf_type_local_numel(context, type, &value, &reason), TF_VERIFY);
  ck_assert(strstr(reason, "not divisible") && value == num(60));
  ck_assert_int_eq(tf_type_local_numel(context, tf_type_unit(context), &value, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_type_local_numel(NULL, type, &value, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_type_local_bytes(context, type, NULL, NULL), TF_INVALID_ARGUMENT);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("types");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, tuples);
  tcase_add_test(tests, tuple_misuse);
  tcase_add_test(tests, layout_text);
  tcase_add_test(tests, shard_layouts);
  tcase_add_test(tests, layout_misuse);
  tcase_add_test(tests, plain_layouts_are_normalised);
  tcase_add_test(tests, idle_strides_and_identities);
  tcase_add_test(tests, type_text);
  tcase_add_test(tests, type_accessors);
  tcase_add_test(tests, local_projections);
  return run_case("Type", tests);
}
