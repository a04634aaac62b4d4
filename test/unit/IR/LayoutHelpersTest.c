/* T.spread and T.reduced against their definitions, instance by instance. */
#include "Harness.h"
#include "IR/LayoutHelpers.h"
#include "ShardModel.h"

/* ---- T.spread ---- */
/* A thread mesh with its axes' strides in random order: positions are not the C order of the coordinates. */
static const tf_mesh *random_mesh(uint64_t *seed, int64_t *count) {
  int64_t extent[3], stride[3], product = 1;
  int order[3], axes = 1 + (int)random_below(seed, 3);
  for (int i = 0; i < axes; i++) {
    int at = (int)random_below(seed, (uint64_t)i + 1);
    extent[i] = 1 + (int64_t)random_below(seed, 4);
    order[i] = order[at];
    order[at] = i;
  }
  for (int i = 0; i < axes; i++) {
    stride[order[i]] = product;
    product *= extent[order[i]];
  }
  const tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, product)};
  *count = product;
  return tf_mesh_get(context, 1, &level, tf_layout_plain(context, ints(axes, extent), ints(axes, stride)), 0, NULL);
}

static void check_spread(const tf_mesh *mesh, int64_t count, int64_t chunks, int64_t vec) {
  const tf_dim *numel = tf_dim_int(context, chunks * count * vec);
  const tf_layout *layout = NULL;
  const tf_ownership *o = NULL;
  int64_t coordinates[3], held[MAX_NUMEL];
  ck_assert_int_eq(tf_layout_spread(context, mesh, numel, vec, &layout, NULL), TF_OK);
  const tf_type *type = tf_type_tensor(context, 1, &numel, TF_DTYPE_F32, layout, TF_STORAGE_GMEM);
  ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, NULL), TF_OK);
  ck_assert_int_eq(tf_ownership_local_numel(o), chunks * vec);
  for (int64_t id = 0; id < count; id++) {
    ck_assert(tf_mesh_coordinates(mesh, id, coordinates));
    tf_ownership_enumerate(o, coordinates, held);
    for (int64_t n = 0; n < chunks * vec; n++) { /* chunk number id + count * turn; turns count fastest */
      int64_t turn = n % chunks, lane = n / chunks;
      ck_assert_int_eq(held[n], (id + count * turn) * vec + lane);
    }
  }
}

START_TEST(spread_deals_chunks_in_turn) {
  uint64_t seed = 61;
  for (int round = 0; round < 20000; round++) {
    int64_t count;
    const tf_mesh *mesh = random_mesh(&seed, &count);
    check_spread(mesh, count, 1 + (int64_t)random_below(&seed, 5), 1 + (int64_t)random_below(&seed, 5));
    renew(round);
  }
}
END_TEST

START_TEST(spread_refusals) {
  int64_t lanes = 32;
  const tf_dim *size = tf_dim_int(context, lanes), *s;
  const tf_topology level = {TF_LEVEL_THREAD, size};
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, tf_layout_row_major(context, 1, &size), 0, NULL);
  const tf_layout *out = NULL;
  const char *reason = NULL;
  ck_assert_int_eq(tf_layout_spread(context, mesh, tf_dim_int(context, 100), 1, &out, &reason), TF_VERIFY);
  ck_assert_ptr_nonnull(strstr(reason, "100 elements do not divide over 32 instances in chunks of 1"));
  ck_assert_int_eq(tf_layout_spread(context, mesh, tf_dim_int(context, 64), 0, &out, &reason), TF_VERIFY);
  ck_assert_int_eq(tf_layout_spread(context, NULL, size, 1, &out, &reason), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_layout_spread(context, mesh, NULL, 1, &out, &reason), TF_INVALID_ARGUMENT);
  ck_assert_ptr_null(out);
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 100, &s), TF_OK);
  const tf_dim *many = tf_dim_binary(context, TF_DIM_MUL, s, tf_dim_int(context, 128));
  ck_assert_int_eq(tf_layout_spread(context, mesh, many, 4, &out, &reason), TF_OK);
  ck_assert_str_eq(tf_layout_print(context, tf_layout_outer(out)), "Layout(shape=(S, 32, 4))");
}
END_TEST

/* ---- T.reduced ---- */
/* The C-order index in the reduced shape of the element that absorbs `index`. */
static int64_t absorb(const shard *s, const bool *reduced, int64_t index) {
  int64_t result = 0, weight = 1;
  for (int i = s->rank; i-- > 0;) {
    int64_t coordinate = index % s->shape[i];
    index /= s->shape[i];
    if (reduced[i]) continue;
    result += coordinate * weight;
    weight *= s->shape[i];
  }
  return result;
}

/* What an instance of the source holds, absorbed, each once, in the order of first occurrence. */
static int64_t expected_part(const shard *s, const bool *reduced, const int64_t *instance, int64_t *out) {
  int64_t count = 0;
  for (int64_t n = 0; n < local_count(s); n++) {
    int64_t element = absorb(s, reduced, model_element(s, instance, n)), k = 0;
    while (k < count && out[k] != element)
      k++;
    if (k == count) out[count++] = element;
  }
  return count;
}

static void check_reduced(const shard *s, const bool *reduced, const tf_layout *layout) {
  const tf_dim *shape[MAX_AXES];
  const tf_ownership *o = NULL;
  const char *reason = "";
  int64_t instance[MAX_AXES] = {0}, held[MAX_NUMEL], expected[MAX_NUMEL];
  for (int i = 0; i < s->rank; i++)
    shape[i] = tf_dim_int(context, reduced[i] ? 1 : s->shape[i]);
  const tf_type *type = tf_type_tensor(context, (unsigned)s->rank, shape, TF_DTYPE_F32, layout, TF_STORAGE_RMEM);
  ck_assert_msg(tf_ownership_of(context, type, NULL, &o, &reason) == TF_OK, "%s: %s", reason, describe(s));
  ck_assert(o->steps_are_affine && !o->partial);
  do {
    int64_t count = expected_part(s, reduced, instance, expected);
    ck_assert_msg(tf_ownership_local_numel(o) == count, "%s\n%s", describe(s), tf_layout_print(context, layout));
    tf_ownership_enumerate(o, instance, held);
    for (int64_t n = 0; n < count; n++)
      ck_assert_msg(held[n] == expected[n], "%s\n%s", describe(s), tf_layout_print(context, layout));
  } while (next_instance(s, instance));
}

/* Reduces over random axes; returns whether the layout was accepted. */
static bool try_reduced(uint64_t *seed, const shard *s) {
  const tf_dim *shape[MAX_AXES];
  int64_t axes[MAX_AXES];
  bool reduced[MAX_AXES] = {false};
  unsigned count = 0;
  const tf_layout *layout = NULL;
  const char *reason = NULL;
  for (int i = 0; i < s->rank; i++) {
    shape[i] = tf_dim_int(context, s->shape[i]);
    reduced[i] = random_below(seed, 2);
    if (reduced[i]) axes[count++] = random_below(seed, 2) ? i : i - s->rank;
  }
  tf_status status = tf_layout_reduced(context, layout_of(s), (unsigned)s->rank, shape, count, axes, &layout, &reason);
  if (status != TF_OK) {
    ck_assert(status == TF_VERIFY && strstr(reason, "straddles"));
    ck_assert(count < (unsigned)s->rank); /* nothing is left to straddle then */
    return false;
  }
  check_reduced(s, reduced, layout);
  return true;
}

START_TEST(reduced_layouts_hold_what_their_sources_reach) {
  uint64_t seed = 62;
  for (int round = 0; round < 10000; round++) {
    shard s = {.has_strides = true};
    int64_t stride = 1;
    random_shape(&seed, &s);
    for (int i = s.rank; i-- > 0; stride *= s.shape[i])
      s.storage[i] = stride; /* offsets over C order of the shape */
    factor_shape(&seed, &s);
    random_splits(&seed, &s);
    ck_assert_msg(try_reduced(&seed, &s), "%s", describe(&s)); /* no factor straddles here */
    renew(round);
  }
}
END_TEST

START_TEST(reduced_dealt_layouts) {
  uint64_t seed = 63;
  int accepted = 0;
  for (int round = 0; round < 10000; round++) {
    shard s = random_crossing(&seed);
    s.has_strides = false;
    accepted += try_reduced(&seed, &s);
    renew(round);
  }
  ck_assert_int_gt(accepted, 2000);
  ck_assert_int_lt(accepted, 9500);
}
END_TEST

START_TEST(reduced_accumulator) {
  const shard c = {.rank = 2,
                   .shape = {16, 8},
                   .storage = {8, 1},
                   .layout_axes = 4,
                   .extent = {2, 4, 8, 2},
                   .stride = {1, 2, 8, 64},
                   .has_strides = true,
                   .mesh_axes = 2,
                   .mesh = {4, 8},
                   .split = {1, 2}};
  const tf_dim *shape[] = {tf_dim_int(context, 16), tf_dim_int(context, 8)};
  const tf_layout *out = NULL;
  const int64_t axis = -1, bad = 2;
  const char *reason = NULL;
  ck_assert_int_eq(tf_layout_reduced(context, layout_of(&c), 2, shape, 1, &axis, &out, NULL), TF_OK);
  ck_assert_str_eq(tf_layout_print(context, tf_layout_outer(out)), "Layout(shape=(8, 2), strides=(1, 8))");
  ck_assert_int_eq(tf_layout_attr(out, 0).kind, TF_SHARD_BROADCAST);
  ck_assert(tf_layout_attr(out, 1).kind == TF_SHARD_SPLIT && tf_layout_attr(out, 1).axis == 0);
  ck_assert_int_eq(tf_layout_reduced(context, layout_of(&c), 2, shape, 1, &bad, &out, &reason), TF_VERIFY);
  ck_assert_ptr_nonnull(strstr(reason, "axis 2"));
  ck_assert_int_eq(tf_layout_reduced(context, layout_of(&c), 1, shape, 1, &axis, &out, &reason), TF_VERIFY);
  ck_assert_ptr_nonnull(strstr(reason, "128 elements"));
  ck_assert_int_eq(tf_layout_reduced(context, NULL, 2, shape, 1, &axis, &out, &reason), TF_OK);
  ck_assert_ptr_null(out);
  ck_assert_int_eq(tf_layout_reduced(context, NULL, 2, NULL, 1, &axis, &out, &reason), TF_INVALID_ARGUMENT);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("helpers");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, spread_deals_chunks_in_turn);
  tcase_add_test(tests, spread_refusals);
  tcase_add_test(tests, reduced_layouts_hold_what_their_sources_reach);
  tcase_add_test(tests, reduced_dealt_layouts);
  tcase_add_test(tests, reduced_accumulator);
  return run_case("LayoutHelpers", tests);
}
