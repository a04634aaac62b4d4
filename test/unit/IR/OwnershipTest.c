/* Ownership against the model of ShardModel.h: every element that every instance holds, coverage, runs, refusals. */
#include "Harness.h"
#include "ShardModel.h"

/* ---- Comparing ---- */
/* Elements by the public factors alone: coordinates per axis, which must stay inside the axis. */
static int64_t by_factors(const tf_ownership *o, const shard *s, const int64_t *instance, int64_t number) {
  int64_t coordinate[MAX_AXES] = {0}, extent, unit, index = 0;
  for (unsigned i = 0; i < o->factor_count; i++) {
    const tf_factor *f = &o->factors[i];
    ck_assert(tf_dim_is_static(f->extent, &extent) && tf_dim_is_static(f->unit, &unit) && extent > 1);
    int64_t digit = f->mesh_axis >= 0 ? instance[f->mesh_axis] / f->divisor % extent : number % extent;
    if (f->mesh_axis < 0) number /= extent;
    coordinate[f->shape_axis] += digit * unit;
  }
  for (int i = 0; i < s->rank; i++) {
    ck_assert(coordinate[i] < s->shape[i]);
    index = index * s->shape[i] + coordinate[i];
  }
  return index;
}

static void check_instance(const tf_ownership *o, const shard *s, const int64_t *instance, int *owners) {
  int64_t held[MAX_NUMEL], count = local_count(s);
  ck_assert_int_eq(tf_ownership_local_numel(o), count);
  tf_ownership_enumerate(o, instance, held);
  for (int64_t n = 0; n < count; n++) {
    int64_t expected = model_element(s, instance, n);
    ck_assert_msg(held[n] == expected, "position %ld: %ld, expected %ld: %s", (long)n, (long)held[n], (long)expected,
                  describe(s));
    if (o->steps_are_affine) ck_assert_int_eq(by_factors(o, s, instance, n), expected);
    owners[expected]++;
  }
}

/* Every run of the claimed length is consecutive and aligned, in every instance. */
static void check_run(const tf_ownership *o, const shard *s) {
  int64_t held[MAX_NUMEL], instance[MAX_AXES] = {0}, run = tf_ownership_run(o, 8);
  ck_assert(run == 1 || run == 2 || run == 4 || run == 8);
  do {
    tf_ownership_enumerate(o, instance, held);
    for (int64_t n = 0; n < local_count(s); n++) {
      ck_assert_msg(held[n] == held[n - n % run] + n % run, "run %ld: %s", (long)run, describe(s));
      ck_assert(n % run != 0 || held[n] % run == 0);
    }
  } while (next_instance(s, instance));
}

/* Each element is held by exactly one instance of those that share their Broadcast and Partial coordinates. */
static void check_ownership(const tf_ownership *o, const shard *s) {
  static int owners[MAX_NUMEL];
  int64_t instance[MAX_AXES] = {0}, numel = numel_of(s->rank, s->shape), copies = 1;
  memset(owners, 0, sizeof owners);
  for (int a = 0; a < s->mesh_axes; a++)
    if (s->split[a] < 0) copies *= s->mesh[a];
  do
    check_instance(o, s, instance, owners);
  while (next_instance(s, instance));
  for (int64_t i = 0; i < numel; i++)
    ck_assert_int_eq(owners[i], copies);
  check_run(o, s);
}

/* Checks one layout; returns whether it was accepted. */
static bool check_shard(const shard *s) {
  const tf_ownership *o = NULL;
  const char *reason = NULL;
  tf_status status = ownership_of(s, &o, &reason);
  bool accepts = model_accepts(s);
  ck_assert_msg((status == TF_OK) == accepts, "%s: %s", describe(s), reason ? reason : "accepted");
  if (!accepts) {
    ck_assert(status == TF_VERIFY && reason && reason[0] && !o);
    return false;
  }
  check_ownership(o, s);
  return true;
}

START_TEST(valid_layouts_are_covers) {
  uint64_t seed = 21;
  int affine = 0;
  for (int round = 0; round < 20000; round++) {
    shard s = random_valid(&seed);
    const tf_ownership *o = NULL;
    ck_assert(check_shard(&s));
    ck_assert_int_eq(ownership_of(&s, &o, NULL), TF_OK);
    affine += o->steps_are_affine;
    renew(round);
  }
  ck_assert_int_eq(affine, 20000); /* the lowering computes addresses from factors wherever they exist */
}
END_TEST

START_TEST(crossing_layouts) {
  uint64_t seed = 22;
  int accepted = 0, affine = 0, enumerated = 0;
  for (int round = 0; round < 20000; round++) {
    shard s = random_crossing(&seed);
    const tf_ownership *o = NULL;
    accepted += check_shard(&s);
    if (ownership_of(&s, &o, NULL) == TF_OK) {
      affine += o->steps_are_affine;
      enumerated += !o->steps_are_affine;
    }
    renew(round);
  }
  ck_assert_int_gt(accepted, 15000);
  ck_assert_int_gt(affine, 10000);
  ck_assert_int_gt(enumerated, 300);
}
END_TEST

START_TEST(wild_layouts_are_judged_by_the_definition) {
  uint64_t seed = 23;
  int accepted = 0;
  for (int round = 0; round < 20000; round++) {
    shard s = random_wild(&seed);
    accepted += check_shard(&s);
    renew(round);
  }
  ck_assert_int_gt(accepted, 1000);
  ck_assert_int_lt(accepted, 17000);
}
END_TEST

/* Where a factorisation exists it must be found: crossing layouts whose cuts align are affine. */
START_TEST(factors_are_refined) {
  const shard cases[] = {
      {.rank = 2,
       .shape = {4, 8},
       .storage = {8, 1},
       .layout_axes = 1,
       .extent = {32},
       .mesh_axes = 1,
       .mesh = {2},
       .split = {0}},
      {.rank = 3,
       .shape = {4, 3, 8},
       .storage = {24, 8, 1},
       .layout_axes = 1,
       .extent = {96},
       .mesh_axes = 1,
       .mesh = {32},
       .split = {0}},
      {.rank = 2,
       .shape = {16, 8},
       .storage = {8, 1},
       .layout_axes = 3,
       .extent = {2, 32, 2},
       .mesh_axes = 1,
       .mesh = {32},
       .split = {1}},
  };
  const unsigned counts[] = {3, 4, 4};
  for (size_t i = 0; i < 3; i++) {
    const tf_ownership *o = NULL;
    ck_assert_int_eq(ownership_of(&cases[i], &o, NULL), TF_OK);
    ck_assert_msg(o->steps_are_affine == (i != 1), "%s", describe(&cases[i]));
    if (i != 1) ck_assert_int_eq(o->factor_count, counts[i]);
    check_ownership(o, &cases[i]);
  }
}
END_TEST

/* ---- Fragments: what a lane holds, from the PTX ISA's tables ---- */
static void check_fragment(const shard *s, int columns, int (*place)(int c0, int c1, int v, int *column), int count) {
  const tf_ownership *o = NULL;
  ck_assert_int_eq(ownership_of(s, &o, NULL), TF_OK);
  ck_assert(o->steps_are_affine);
  for (int lane = 0; lane < 32; lane++) {
    int64_t instance[] = {lane % 4, lane / 4}, held[16];
    tf_ownership_enumerate(o, instance, held);
    ck_assert_int_eq(tf_ownership_local_numel(o), count);
    for (int v = 0; v < count; v++) {
      int column, row = place(lane % 4, lane / 4, v, &column);
      ck_assert_int_eq(held[v], row * columns + column);
    }
  }
}

static int place_a(int c0, int c1, int v, int *column) {
  *column = 2 * c0 + v % 2 + (v / 2 % 2) * 8;
  return c1 + v / 4 * 8;
}

static int place_b(int c0, int c1, int v, int *column) {
  *column = c1;
  return 2 * c0 + v % 2 + v / 2 * 8;
}

static int place_c(int c0, int c1, int v, int *column) {
  *column = 2 * c0 + v % 2;
  return c1 + v / 2 * 8;
}

START_TEST(mma_fragments) {
  const shard a = {.rank = 2,
                   .shape = {16, 16},
                   .storage = {16, 1},
                   .layout_axes = 5,
                   .extent = {2, 4, 2, 8, 2},
                   .stride = {1, 2, 8, 16, 128},
                   .has_strides = true,
                   .mesh_axes = 2,
                   .mesh = {4, 8},
                   .split = {1, 3}};
  const shard b = {.rank = 2,
                   .shape = {16, 8},
                   .storage = {8, 1},
                   .layout_axes = 4,
                   .extent = {8, 2, 4, 2},
                   .stride = {1, 8, 16, 64},
                   .has_strides = true,
                   .mesh_axes = 2,
                   .mesh = {4, 8},
                   .split = {2, 0}};
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
  check_fragment(&a, 16, place_a, 8);
  check_fragment(&b, 8, place_b, 4);
  check_fragment(&c, 8, place_c, 4);
  const tf_ownership *o = NULL;
  ck_assert_int_eq(ownership_of(&c, &o, NULL), TF_OK);
  ck_assert_int_eq(tf_ownership_run(o, 8), 2);
}
END_TEST

START_TEST(unfactored_splits_become_blocks) {
  const shard s = {.rank = 2,
                   .shape = {2, 1536},
                   .storage = {1536, 1},
                   .layout_axes = 2,
                   .extent = {2, 1536},
                   .stride = {1536, 1},
                   .has_strides = true,
                   .mesh_axes = 3,
                   .mesh = {2, 4, 32},
                   .split = {0, 1, 1}};
  const tf_ownership *o = NULL;
  const int64_t instance[] = {1, 2, 7};
  int64_t held[12];
  ck_assert_int_eq(ownership_of(&s, &o, NULL), TF_OK);
  tf_ownership_enumerate(o, instance, held);
  for (int i = 0; i < 12; i++)
    ck_assert_int_eq(held[i], 1536 + 2 * 384 + 7 * 12 + i);
  ck_assert_int_eq(tf_ownership_run(o, 16), 4); /* 12 consecutive elements, at multiples of 12 */
}
END_TEST

/* ---- Symbolic extents ---- */
START_TEST(a_symbolic_axis_split_by_itself) {
  const tf_dim *s;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 65536, &s), TF_OK);
  const tf_dim *twelve = tf_dim_int(context, 12), *shape[] = {s, twelve}, *mesh_shape[] = {s};
  const tf_topology level = {TF_LEVEL_CTA, s};
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, tf_layout_row_major(context, 1, mesh_shape), 0, NULL);
  const tf_shard_attr split = {TF_SHARD_SPLIT, 0, TF_REDUCE_SUM};
  const tf_layout *layout = tf_layout_shard(context, tf_layout_row_major(context, 2, shape), 1, &split, mesh);
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F16, layout, TF_STORAGE_SMEM);
  const tf_ownership *o = NULL;
  ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, NULL), TF_OK);
  ck_assert(o->steps_are_affine && o->factor_count == 2 && !o->private_instances);
  ck_assert(o->factors[0].mesh_axis == 0 && o->factors[0].extent == s && o->factors[0].step == twelve);
  ck_assert(o->factors[1].mesh_axis == -1 && o->factors[1].shape_axis == 1);
  ck_assert_int_eq(tf_ownership_local_numel(o), 12);
  const tf_dim *numel = NULL, *bytes = NULL, *local[TF_MAX_FACTORS];
  unsigned count;
  ck_assert_int_eq(tf_type_local_numel(context, type, &numel, NULL), TF_OK);
  ck_assert_int_eq(tf_type_local_bytes(context, type, &bytes, NULL), TF_OK);
  ck_assert_int_eq(tf_type_local_shape(context, type, &count, local, NULL), TF_OK);
  ck_assert(numel == twelve && bytes == tf_dim_int(context, 24));
  ck_assert(count == 2 && local[0] == tf_dim_int(context, 1) && local[1] == twelve);
}
END_TEST

START_TEST(symbolic_rows_over_threads) {
  const tf_dim *m;
  ck_assert_int_eq(tf_dim_var(context, "M", 1, 1000, &m), TF_OK);
  const tf_dim *shape[] = {m, tf_dim_int(context, 128)}, *lanes = tf_dim_int(context, 32), *mesh_shape[] = {lanes};
  const tf_topology level = {TF_LEVEL_THREAD, lanes};
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, tf_layout_row_major(context, 1, mesh_shape), 0, NULL);
  const tf_shard_attr columns = {TF_SHARD_SPLIT, 1, TF_REDUCE_SUM}, rows = {TF_SHARD_SPLIT, 0, TF_REDUCE_SUM};
  const tf_layout *plain = tf_layout_row_major(context, 2, shape);
  const tf_ownership *o = NULL;
  const char *reason = NULL;
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32,
                                       tf_layout_shard(context, plain, 1, &columns, mesh), TF_STORAGE_GMEM);
  ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, &reason), TF_OK);
  ck_assert(o->steps_are_affine && o->factor_count == 3 && tf_ownership_local_numel(o) == -1);
  type =
      tf_type_tensor(context, 2, shape, TF_DTYPE_F32, tf_layout_shard(context, plain, 1, &rows, mesh), TF_STORAGE_GMEM);
  ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, &reason), TF_VERIFY); /* M need not divide by 32 */
  ck_assert_ptr_nonnull(strstr(reason, "not divisible"));
  ck_assert_int_eq(tf_type_local_numel(context, type, &shape[0], &reason), TF_VERIFY);
  ck_assert_ptr_eq(shape[0], m);
}
END_TEST

START_TEST(symbolic_multiples_divide) {
  const tf_dim *m, *lanes = tf_dim_int(context, 32), *mesh_shape[] = {lanes};
  ck_assert_int_eq(tf_dim_var(context, "M", 1, 1000, &m), TF_OK);
  const tf_dim *shape[] = {tf_dim_binary(context, TF_DIM_MUL, m, tf_dim_int(context, 128))};
  const tf_topology level = {TF_LEVEL_THREAD, lanes};
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, tf_layout_row_major(context, 1, mesh_shape), 0, NULL);
  const tf_shard_attr split = {TF_SHARD_SPLIT, 0, TF_REDUCE_SUM};
  const tf_layout *layout =
      tf_layout_shard(context, tf_layout_plain(context, tf_tuple_dims(context, 1, shape), NULL), 1, &split, mesh);
  const tf_type *type = tf_type_tensor(context, 1, shape, TF_DTYPE_F32, layout, TF_STORAGE_GMEM);
  const tf_ownership *o = NULL;
  ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, NULL), TF_OK);
  ck_assert_str_eq(tf_dim_print(context, o->factors[0].step), "4*M");
  ck_assert_str_eq(tf_dim_print(context, o->factors[1].extent), "4*M");
  ck_assert_int_eq(tf_ownership_run(o, 16), 4);
}
END_TEST

START_TEST(symbolic_storage_in_any_order) {
  const tf_dim *m, *one = tf_dim_int(context, 1), *eight = tf_dim_int(context, 8);
  ck_assert_int_eq(tf_dim_var(context, "M", 1, 1000, &m), TF_OK);
  const tf_dim *shape[] = {m, eight}, *columns[] = {one, m}; /* column-major: M consecutive rows */
  const tf_topology level = {TF_LEVEL_THREAD, eight};
  const tf_mesh *mesh = tf_mesh_get(context, 1, &level, tf_layout_row_major(context, 1, &eight), 0, NULL);
  const tf_shard_attr split = {TF_SHARD_SPLIT, 1, TF_REDUCE_SUM};
  const tf_layout *plain =
      tf_layout_plain(context, tf_tuple_dims(context, 2, shape), tf_tuple_dims(context, 2, columns));
  const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32,
                                       tf_layout_shard(context, plain, 1, &split, mesh), TF_STORAGE_GMEM);
  const tf_ownership *o = NULL;
  const char *reason = "";
  ck_assert_msg(tf_ownership_of(context, type, columns, &o, &reason) == TF_OK, "%s", reason);
  ck_assert(o->steps_are_affine && o->factor_count == 2);
  ck_assert(o->factors[0].shape_axis == 0 && o->factors[0].step == eight && o->factors[0].mesh_axis == -1);
  ck_assert(o->factors[1].shape_axis == 1 && o->factors[1].step == one && o->factors[1].mesh_axis == 0);
}
END_TEST

START_TEST(empty_tensors) {
  const shard cases[] = {
      {.rank = 2,
       .shape = {0, 8},
       .storage = {8, 1},
       .layout_axes = 2,
       .extent = {0, 8},
       .stride = {8, 1},
       .has_strides = true,
       .mesh_axes = 1,
       .mesh = {8},
       .split = {1}},
      {.rank = 2,
       .shape = {4, 0},
       .storage = {0, 1},
       .layout_axes = 2,
       .extent = {4, 0},
       .stride = {0, 1},
       .has_strides = true,
       .mesh_axes = 1,
       .mesh = {4},
       .split = {0}},
  };
  for (size_t i = 0; i < 2; i++) {
    const tf_ownership *o = NULL;
    const int64_t instance[] = {1};
    int64_t untouched = -5;
    ck_assert_int_eq(ownership_of(&cases[i], &o, NULL), TF_OK);
    ck_assert_int_eq(tf_ownership_local_numel(o), 0);
    tf_ownership_enumerate(o, instance, &untouched);
    ck_assert_int_eq(untouched, -5);
  }
}
END_TEST

/* ---- Flags, plain tensors, refusals ---- */
START_TEST(plain_tensors_are_local) {
  const tf_dim *shape[] = {tf_dim_int(context, 3), tf_dim_int(context, 1), tf_dim_int(context, 5)};
  const tf_type *type = tf_type_tensor(context, 3, shape, TF_DTYPE_I32, NULL, TF_STORAGE_SMEM);
  const tf_ownership *o = NULL;
  int64_t held[15];
  ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, NULL), TF_OK);
  ck_assert(!o->mesh && o->factor_count == 2 && o->local_count == 2 && o->steps_are_affine);
  tf_ownership_enumerate(o, NULL, held);
  for (int i = 0; i < 15; i++)
    ck_assert_int_eq(held[i], i);
  const tf_ownership *scalar = NULL;
  ck_assert_int_eq(tf_ownership_of(context, tf_type_scalar(context, TF_DTYPE_F32), NULL, &scalar, NULL), TF_OK);
  ck_assert_int_eq(tf_ownership_local_numel(scalar), 1);
  tf_ownership_enumerate(scalar, NULL, held + 3);
  ck_assert_int_eq(held[3], 0);
}
END_TEST

START_TEST(flags) {
  shard s = {.rank = 2,
             .shape = {4, 8},
             .storage = {8, 1},
             .layout_axes = 2,
             .extent = {4, 8},
             .stride = {0, 1},
             .has_strides = true,
             .mesh_axes = 2,
             .mesh = {4, 2},
             .split = {0, -2}};
  const tf_ownership *o = NULL;
  ck_assert_int_eq(tf_ownership_of(context, type_of(&s, TF_STORAGE_SMEM), NULL, &o, NULL), TF_OK);
  ck_assert(o->private_instances && o->partial);
  ck_assert_int_eq(tf_ownership_of(context, type_of(&s, TF_STORAGE_RMEM), NULL, &o, NULL), TF_OK);
  ck_assert(!o->private_instances && o->partial);
  s.stride[0] = 8;
  s.split[1] = -1;
  ck_assert_int_eq(tf_ownership_of(context, type_of(&s, TF_STORAGE_SMEM), NULL, &o, NULL), TF_OK);
  ck_assert(!o->private_instances && !o->partial);
}
END_TEST

static void refuse(const shard *s, const char *part) {
  const tf_ownership *o = NULL;
  const char *reason = NULL;
  ck_assert_int_eq(ownership_of(s, &o, &reason), TF_VERIFY);
  ck_assert_msg(strstr(reason, part) != NULL, "'%s' lacks '%s'", reason, part);
  reason = NULL; /* the memoised refusal says the same */
  ck_assert_int_eq(ownership_of(s, &o, &reason), TF_VERIFY);
  ck_assert_ptr_nonnull(strstr(reason, part));
}

START_TEST(refusals) {
  const shard good = {.rank = 2,
                      .shape = {4, 8},
                      .storage = {8, 1},
                      .layout_axes = 2,
                      .extent = {4, 8},
                      .stride = {8, 1},
                      .has_strides = true,
                      .mesh_axes = 1,
                      .mesh = {4},
                      .split = {0}};
  const tf_ownership *o = NULL;
  shard s = good;
  ck_assert_int_eq(ownership_of(&s, &o, NULL), TF_OK);
  s.split[0] = 2;
  refuse(&s, "names no axis");
  s = good, s.mesh[0] = 3;
  refuse(&s, "not divisible");
  s = good, s.stride[1] = 2;
  refuse(&s, "not injective");
  s = good, s.storage[0] = 16;
  refuse(&s, "outside the shape (4, 8) over storage strides (16, 1)");
  s = good, s.stride[0] = 16;
  refuse(&s, "T.tensor_view");
  s = good, s.extent[0] = 8;
  refuse(&s, "64 elements");
  s = good, s.stride[0] = INT64_MAX / 2;
  refuse(&s, "do not decompose");
  s = good, s.stride[0] = -8;
  refuse(&s, "outside the shape");
  s = good, s.storage[0] = INT64_MAX;
  refuse(&s, "outside the shape");
  const tf_mesh *mesh = mesh_of(&good);
  const tf_layout *plain = tf_layout_plain(context, ints(2, good.extent), ints(2, good.stride));
  const tf_shard_attr dynamic = {TF_SHARD_DYNAMIC, 0, TF_REDUCE_SUM}, two[2] = {{TF_SHARD_BROADCAST, 0, TF_REDUCE_SUM}};
  const tf_dim *shape[] = {tf_dim_int(context, 4), tf_dim_int(context, 8)};
  const tf_layout *bad[] = {tf_layout_shard(context, plain, 1, &dynamic, mesh),
                            tf_layout_shard(context, plain, 2, two, mesh),
                            tf_layout_shard(context, tf_layout_swizzle(context, 1, 1, 1), 1, two, mesh)};
  const char *parts[] = {"Dynamic", "2 attributes", "plain Layout inside"};
  for (int i = 0; i < 3; i++) {
    const char *reason = NULL;
    const tf_type *type = tf_type_tensor(context, 2, shape, TF_DTYPE_F32, bad[i], TF_STORAGE_RMEM);
    ck_assert_int_eq(tf_ownership_of(context, type, NULL, &o, &reason), TF_VERIFY);
    ck_assert_ptr_nonnull(strstr(reason, parts[i]));
  }
  ck_assert_int_eq(tf_ownership_of(context, tf_type_unit(context), NULL, &o, NULL), TF_INVALID_ARGUMENT);
  ck_assert_int_eq(tf_ownership_of(NULL, NULL, NULL, &o, NULL), TF_INVALID_ARGUMENT);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("ownership");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, valid_layouts_are_covers);
  tcase_add_test(tests, crossing_layouts);
  tcase_add_test(tests, wild_layouts_are_judged_by_the_definition);
  tcase_add_test(tests, factors_are_refined);
  tcase_add_test(tests, mma_fragments);
  tcase_add_test(tests, unfactored_splits_become_blocks);
  tcase_add_test(tests, a_symbolic_axis_split_by_itself);
  tcase_add_test(tests, symbolic_rows_over_threads);
  tcase_add_test(tests, symbolic_multiples_divide);
  tcase_add_test(tests, symbolic_storage_in_any_order);
  tcase_add_test(tests, empty_tensors);
  tcase_add_test(tests, plain_tensors_are_local);
  tcase_add_test(tests, flags);
  tcase_add_test(tests, refusals);
  return run_case("Ownership", tests);
}
