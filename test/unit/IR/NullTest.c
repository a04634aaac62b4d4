/* Null objects: constructors pass them on, readers give null, 0 or false. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <tilefoundry/IR.h>

#include "Harness.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

START_TEST(tuples) {
  const tf_dim *leaves[1] = {NULL};
  const tf_tuple *none = NULL;
  ck_assert_ptr_null(tf_tuple_leaf(context, NULL));
  ck_assert_ptr_null(tf_tuple_list(context, 1, &none));
  ck_assert_ptr_null(tf_tuple_dims(context, 1, leaves));
  ck_assert(!tf_tuple_is_leaf(NULL) && tf_tuple_count(NULL) == 0 && tf_tuple_leaf_count(NULL) == 0);
  ck_assert(!tf_tuple_dim(NULL) && !tf_tuple_element(NULL, 0) && !tf_tuple_product(context, NULL));
  tf_tuple_leaves(NULL, leaves);
  ck_assert_ptr_null(leaves[0]);
}
END_TEST

START_TEST(layouts) {
  unsigned bits = 1, base = 1, shift = 1;
  ck_assert_ptr_null(tf_layout_plain(context, NULL, NULL));
  ck_assert(tf_layout_get_kind(NULL) == TF_LAYOUT_PLAIN && !tf_layout_is_shard(NULL));
  ck_assert(!tf_layout_shape(NULL) && !tf_layout_strides(NULL) && !tf_layout_inner(NULL) && !tf_layout_outer(NULL));
  ck_assert(!tf_layout_offset(NULL) && !tf_layout_mesh(NULL) && tf_layout_attr_count(NULL) == 0);
  ck_assert_int_eq(tf_layout_attr(NULL, 3).kind, TF_SHARD_BROADCAST);
  tf_layout_swizzle_bits(NULL, &bits, &base, &shift);
  ck_assert_uint_eq(bits + base + shift, 0);
  ck_assert_str_eq(tf_layout_print(context, NULL), "None");
}
END_TEST

START_TEST(meshes) {
  const char *reason = NULL;
  int64_t range[1] = {0};
  ck_assert_ptr_null(tf_mesh_get(context, 0, NULL, NULL, 0, NULL));
  ck_assert(tf_mesh_level_count(NULL) == 0 && tf_mesh_axis_count(NULL) == 0 && !tf_mesh_layout(NULL));
  ck_assert(tf_mesh_level(NULL, 0).level == TF_LEVEL_COUNT && !tf_mesh_level(NULL, 0).size);
  ck_assert(!tf_mesh_axis_extent(NULL, 0) && !tf_mesh_axis_stride(NULL, 0) && !tf_mesh_axis_name(NULL, 0));
  ck_assert(!tf_mesh_is_slice(NULL) && !tf_mesh_slice_offset(NULL) && !tf_mesh_domain(context, NULL));
  ck_assert_ptr_null(tf_mesh_slice(context, NULL, range, range, &reason));
  ck_assert_str_eq(reason, "there is no mesh");
  ck_assert(!tf_mesh_is_consistent(context, NULL, NULL));
  ck_assert(tf_mesh_same_shape(NULL, NULL));
  ck_assert_str_eq(tf_mesh_print(context, NULL), "None");
}
END_TEST

START_TEST(types) {
  ck_assert(tf_type_get_kind(NULL) == TF_TYPE_UNIT && !tf_type_is_tensor(NULL) && !tf_type_is_scalar(NULL));
  ck_assert(tf_type_rank(NULL) == 0 && !tf_type_extent(NULL, 0) && !tf_type_shape(NULL) && !tf_type_layout(NULL));
  ck_assert(tf_type_storage(NULL) == TF_STORAGE_NONE && !tf_type_numel(context, NULL));
  ck_assert(tf_type_element_count(NULL) == 0 && !tf_type_element(NULL, 0));
  ck_assert_str_eq(tf_dtype_name(tf_type_dtype(NULL)), tf_dtype_name((tf_dtype)0));
  ck_assert_str_eq(tf_type_print(context, NULL), "None");
  ck_assert_str_eq(tf_dim_print(context, NULL), "None");
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("null");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, tuples);
  tcase_add_test(tests, layouts);
  tcase_add_test(tests, meshes);
  tcase_add_test(tests, types);
  return run_case("null", tests);
}
