/* Ownership against a model written from the definition: an instance's coordinate on a layout axis is the mesh digits that
 * split it, in mesh order, then the local digit; the element is the storage offset, divided by the storage's strides in
 * descending order, or the C-order index of the domain coordinate. Nothing here uses the library's factors. */
#include <stdio.h>
#include <time.h>

#include "IR/Ownership.h"
#include "LayoutModel.h"

enum { MAX_AXES = 6, MAX_NUMEL = 4096 }; /* three axes of three factors each fit */

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static void renew(int round) {
  if (round % 500 != 499) return;
  teardown();
  setup();
}

/* ---- The model ---- */
typedef struct shard {
  int rank, layout_axes, mesh_axes;
  int64_t shape[MAX_AXES], storage[MAX_AXES]; /* storage strides */
  int64_t extent[MAX_AXES * 2], stride[MAX_AXES * 2];
  bool has_strides;
  int64_t mesh[MAX_AXES];
  int split[MAX_AXES]; /* layout axis, or -1: Broadcast, -2: Partial */
} shard;

static int64_t numel_of(int count, const int64_t *extents) {
  int64_t product = 1;
  for (int i = 0; i < count; i++)
    product *= extents[i];
  return product;
}

static int64_t local_extent(const shard *s, int axis) {
  int64_t rest = s->extent[axis];
  for (int a = 0; a < s->mesh_axes; a++)
    if (s->split[a] == axis) rest /= s->mesh[a];
  return rest;
}

static int64_t local_count(const shard *s) {
  int64_t product = 1;
  for (int k = 0; k < s->layout_axes; k++)
    product *= local_extent(s, k);
  return product;
}

static bool is_dealt(const shard *s) {
  for (int a = 0; a < s->mesh_axes; a++)
    if (s->split[a] >= 0 && s->mesh[a] > 1 && s->has_strides && s->stride[s->split[a]] == 0) return true;
  return !s->has_strides;
}

/* The coordinate on each layout axis of local position `number` of an instance. */
static void domain_coordinate(const shard *s, const int64_t *instance, int64_t number, int64_t *x) {
  for (int k = 0; k < s->layout_axes; k++) {
    int64_t local = local_extent(s, k);
    x[k] = 0;
    for (int a = 0; a < s->mesh_axes; a++)
      if (s->split[a] == k) x[k] = x[k] * s->mesh[a] + instance[a];
    x[k] = x[k] * local + number % local;
    number /= local;
  }
}

/* The C-order index of the element at a storage offset; -1 outside the shape. */
static int64_t element_at(const shard *s, int64_t offset) {
  int64_t index = 0;
  bool used[MAX_AXES] = {false};
  for (;;) {
    int best = -1;
    for (int i = 0; i < s->rank; i++)
      if (!used[i] && s->shape[i] > 1 && (best < 0 || s->storage[i] > s->storage[best])) best = i;
    if (best < 0) return offset == 0 ? index : -1;
    used[best] = true;
    int64_t digit = offset < 0 ? -1 : offset / s->storage[best];
    if (digit < 0 || digit >= s->shape[best]) return -1;
    offset -= digit * s->storage[best];
    index += digit * numel_of(s->rank - best - 1, s->shape + best + 1);
  }
}

static int64_t model_element(const shard *s, const int64_t *instance, int64_t number) {
  int64_t x[MAX_AXES * 2], offset = 0, order = 0;
  domain_coordinate(s, instance, number, x);
  for (int k = 0; k < s->layout_axes; k++) {
    offset += x[k] * s->stride[k];
    order = order * s->extent[k] + x[k];
  }
  return is_dealt(s) ? order : element_at(s, offset);
}

static bool next_instance(const shard *s, int64_t *instance) {
  for (int a = s->mesh_axes; a-- > 0;) {
    if (++instance[a] < s->mesh[a]) return true;
    instance[a] = 0;
  }
  return false;
}

/* Whether the definition accepts it: offsets all different, and all inside the shape. */
static bool model_accepts(const shard *s) {
  if (numel_of(s->rank, s->shape) != numel_of(s->layout_axes, s->extent)) return false;
  if (is_dealt(s)) return true;
  model m = {.count = s->layout_axes};
  memcpy(m.extent, s->extent, sizeof m.extent);
  memcpy(m.stride, s->stride, sizeof m.stride);
  if (!model_is_injective(&m)) return false;
  for (int64_t i = 0; i < model_size(&m); i++)
    if (element_at(s, model_apply(&m, i)) < 0) return false;
  return true;
}

/* ---- The library's objects ---- */
static const tf_tuple *ints(int count, const int64_t *values) {
  return tf_tuple_ints(context, (unsigned)count, values);
}

static const tf_mesh *mesh_of(const shard *s) {
  const tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, numel_of(s->mesh_axes, s->mesh))};
  const tf_layout *layout = tf_layout_plain(context, ints(s->mesh_axes, s->mesh), NULL);
  return tf_mesh_get(context, 1, &level, layout, 0, NULL);
}

static const tf_layout *layout_of(const shard *s) {
  tf_shard_attr attrs[MAX_AXES];
  for (int a = 0; a < s->mesh_axes; a++)
    attrs[a] = s->split[a] >= 0    ? (tf_shard_attr){TF_SHARD_SPLIT, (unsigned)s->split[a], TF_REDUCE_SUM}
               : s->split[a] == -1 ? (tf_shard_attr){TF_SHARD_BROADCAST, 0, TF_REDUCE_SUM}
                                   : (tf_shard_attr){TF_SHARD_PARTIAL, 0, TF_REDUCE_MAX};
  const tf_tuple *strides = s->has_strides ? ints(s->layout_axes, s->stride) : NULL;
  const tf_layout *plain = tf_layout_plain(context, ints(s->layout_axes, s->extent), strides);
  return tf_layout_shard(context, plain, (unsigned)s->mesh_axes, attrs, mesh_of(s));
}

static const tf_type *type_of(const shard *s, tf_storage storage) {
  const tf_dim *shape[MAX_AXES];
  for (int i = 0; i < s->rank; i++)
    shape[i] = tf_dim_int(context, s->shape[i]);
  return tf_type_tensor(context, (unsigned)s->rank, shape, TF_DTYPE_F32, layout_of(s), storage);
}

static tf_status ownership_of(const shard *s, const tf_ownership **out, const char **reason) {
  const tf_dim *strides[MAX_AXES];
  for (int i = 0; i < s->rank; i++)
    strides[i] = tf_dim_int(context, s->storage[i]);
  return tf_ownership_of(context, type_of(s, TF_STORAGE_RMEM), strides, out, reason);
}

static const char *describe(const shard *s) {
  const tf_type *type = type_of(s, TF_STORAGE_RMEM);
  return tf_type_print(context, type);
}

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

/* ---- Random shard layouts ---- */
static int64_t pick_divisor(uint64_t *seed, int64_t n) {
  int64_t divisor = 1 + (int64_t)random_below(seed, (uint64_t)n);
  while (n % divisor)
    divisor--;
  return divisor;
}

static void random_shape(uint64_t *seed, shard *s) {
  static const int64_t extents[] = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16};
  do {
    s->rank = 1 + (int)random_below(seed, 3);
    for (int i = 0; i < s->rank; i++)
      s->shape[i] = extents[random_below(seed, 11)];
  } while (numel_of(s->rank, s->shape) > 512);
  int64_t stride = 1;
  bool is_padded = random_below(seed, 3) == 0; /* a window of something larger */
  for (int i = s->rank; i-- > 0;) {
    s->storage[i] = stride;
    stride *= s->shape[i] + (is_padded ? (int64_t)random_below(seed, 5) : 0);
  }
}

/* Gives each mesh axis a divisor of what is left of some layout axis, or nothing to split. */
static void random_splits(uint64_t *seed, shard *s) {
  s->mesh_axes = 1 + (int)random_below(seed, 3);
  for (int a = 0; a < s->mesh_axes; a++)
    s->mesh[a] = 1;
  for (int a = 0; a < s->mesh_axes; a++) {
    s->split[a] =
        random_below(seed, 5) ? (int)random_below(seed, (uint64_t)s->layout_axes) : -1 - (int)random_below(seed, 2);
    if (s->split[a] < 0) s->mesh[a] = 1 + (int64_t)random_below(seed, 3);
    if (s->split[a] >= 0) s->mesh[a] = pick_divisor(seed, local_extent(s, s->split[a]));
  }
}

/* Factors of the shape's axes in random order, each stepping through the storage: every element exactly once. */
static void factor_shape(uint64_t *seed, shard *s) {
  s->layout_axes = 0;
  for (int i = 0; i < s->rank; i++) {
    int64_t rest = s->shape[i], stride = s->storage[i];
    for (int n = 0; n < 3 && (n == 0 || rest > 1); n++) {
      int64_t part = n == 2 ? rest : pick_divisor(seed, rest);
      s->extent[s->layout_axes] = part;
      s->stride[s->layout_axes++] = stride;
      stride *= part;
      rest /= part;
    }
  }
  for (int i = s->layout_axes; i-- > 1;) {
    int k = (int)random_below(seed, (uint64_t)i + 1);
    int64_t e = s->extent[i], t = s->stride[i];
    s->extent[i] = s->extent[k], s->stride[i] = s->stride[k];
    s->extent[k] = e, s->stride[k] = t;
  }
}

static shard random_valid(uint64_t *seed) {
  shard s = {.has_strides = true};
  random_shape(seed, &s);
  factor_shape(seed, &s);
  random_splits(seed, &s);
  return s;
}

/* Another shape's extents with as many elements: layout axes that cross the shape's axes. */
static shard random_crossing(uint64_t *seed) {
  shard s = {.layout_axes = 1 + (int)random_below(seed, 3), .has_strides = random_below(seed, 2)};
  random_shape(seed, &s);
  int64_t rest = numel_of(s.rank, s.shape), stride = 1;
  for (int k = 0; k < s.layout_axes; k++) {
    s.extent[k] = k + 1 == s.layout_axes ? rest : pick_divisor(seed, rest);
    rest /= s.extent[k];
  }
  for (int k = s.layout_axes; k-- > 0;) {
    s.stride[k] = stride;
    stride *= s.extent[k];
  }
  random_splits(seed, &s);
  return s;
}

/* Anything: strides out of a small pool, 0 among them. */
static shard random_wild(uint64_t *seed) {
  shard s = random_below(seed, 2) ? random_valid(seed) : random_crossing(seed);
  s.has_strides = true;
  int k = (int)random_below(seed, (uint64_t)s.layout_axes);
  s.stride[k] = (int64_t)random_below(seed, 4) ? (int64_t)random_below(seed, 40) : 0;
  if (random_below(seed, 4) == 0) s.storage[random_below(seed, (uint64_t)s.rank)] = 1 + (int64_t)random_below(seed, 30);
  return s;
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

/* ---- Pairing ---- */
typedef struct coords {
  const tf_mesh *mesh;
  int64_t threads; /* that take part */
} coords;

static bool instance_of(void *user, int64_t thread, int64_t *coordinates) {
  const coords *c = user;
  return thread < c->threads && tf_mesh_coordinates(c->mesh, thread, coordinates);
}

static int64_t broadcast_index(const shard *to, const shard *from, int64_t index) {
  int64_t result = 0, weight = 1;
  if (numel_of(to->rank, to->shape) == numel_of(from->rank, from->shape)) return index;
  for (int i = to->rank - 1, k = from->rank - 1; k >= 0; i--, k--) {
    int64_t coordinate = index % to->shape[i];
    index /= to->shape[i];
    result += from->shape[k] == 1 ? 0 : coordinate * weight;
    weight *= from->shape[k];
  }
  return result;
}

/* The pairing by search: for each thread and position of `to`, the first position of `from` with that element. */
static void check_pairing(const tf_pairing *p, const shard *to, const shard *from, int64_t threads) {
  int64_t first[MAX_NUMEL], count = local_count(to);
  tf_pairing_kind kind = TF_PAIRING_UNIFORM;
  ck_assert_int_eq(p->count, count);
  for (int64_t t = 0; t < threads; t++) {
    int64_t ct[MAX_AXES], cf[MAX_AXES];
    ck_assert(tf_mesh_coordinates(mesh_of(to), t, ct) && tf_mesh_coordinates(mesh_of(from), t, cf));
    for (int64_t n = 0; n < count; n++) {
      int64_t element = model_element(to, ct, n), wanted = broadcast_index(to, from, element), q = 0;
      while (q < local_count(from) && model_element(from, cf, q) != wanted)
        q++;
      if (q == local_count(from)) {
        ck_assert_int_eq(p->kind, TF_PAIRING_MISSING);
        ck_assert_int_eq(p->thread, t);
        ck_assert_int_eq(p->index, element);
        return;
      }
      if (t == 0) first[n] = q;
      if (first[n] != q) kind = TF_PAIRING_VARYING;
    }
  }
  ck_assert_int_eq(p->kind, kind);
  for (int64_t n = 0; n < count && kind == TF_PAIRING_UNIFORM; n++)
    ck_assert_int_eq(p->position[n], first[n]);
}

/* Another layout over as many threads; some of its extents may be 1, which broadcasts. */
static bool random_partner(uint64_t *seed, const shard *to, shard *from) {
  int64_t threads = numel_of(to->mesh_axes, to->mesh), stride = 1;
  *from = (shard){.rank = to->rank, .has_strides = true};
  bool broadcasts = random_below(seed, 3) == 0;
  for (int i = from->rank; i-- > 0;) {
    from->shape[i] = broadcasts && random_below(seed, 2) ? 1 : to->shape[i];
    from->storage[i] = stride;
    stride *= from->shape[i];
  }
  for (int attempt = 0; attempt < 60; attempt++) {
    factor_shape(seed, from);
    random_splits(seed, from);
    if (numel_of(from->mesh_axes, from->mesh) == threads) return true;
  }
  return false;
}

START_TEST(pairing_finds_what_each_thread_holds) {
  uint64_t seed = 31;
  int kinds[3] = {0};
  for (int round = 0; round < 8000; round++) {
    shard to = random_below(&seed, 2) ? random_valid(&seed) : random_crossing(&seed), from;
    const tf_ownership *a = NULL, *b = NULL;
    if (!model_accepts(&to)) continue;
    if (random_below(&seed, 4) == 0) {
      from = to;
    } else if (!random_partner(&seed, &to, &from)) {
      continue;
    }
    ck_assert(ownership_of(&to, &a, NULL) == TF_OK && ownership_of(&from, &b, NULL) == TF_OK);
    int64_t threads = numel_of(to.mesh_axes, to.mesh);
    coords ca = {mesh_of(&to), threads}, cb = {mesh_of(&from), threads};
    const tf_type *ta = type_of(&to, TF_STORAGE_RMEM), *tb = type_of(&from, TF_STORAGE_RMEM);
    const tf_pairing *p = tf_pairing_of(context, a, ta, b, tb, threads, instance_of, &ca, instance_of, &cb);
    ck_assert(p != NULL);
    check_pairing(p, &to, &from, threads);
    kinds[p->kind]++;
    ck_assert(tf_pairing_of(context, a, ta, b, tb, threads, instance_of, &ca, instance_of, &cb) == p); /* memoised */
    renew(round);
  }
  ck_assert_int_gt(kinds[TF_PAIRING_UNIFORM], 500);
  ck_assert_int_gt(kinds[TF_PAIRING_MISSING], 500);
  ck_assert_int_gt(kinds[TF_PAIRING_VARYING], 20);
}
END_TEST

START_TEST(pairing_asks_only_threads_that_take_part) {
  const shard rows = {.rank = 1,
                      .shape = {8},
                      .storage = {1},
                      .layout_axes = 1,
                      .extent = {8},
                      .stride = {1},
                      .has_strides = true,
                      .mesh_axes = 1,
                      .mesh = {4},
                      .split = {0}};
  shard all = rows;
  all.split[0] = -1;
  const tf_ownership *part = NULL, *whole = NULL;
  ck_assert(ownership_of(&rows, &part, NULL) == TF_OK && ownership_of(&all, &whole, NULL) == TF_OK);
  coords everyone = {mesh_of(&rows), 4}, one = {mesh_of(&rows), 1};
  const tf_type *tp = type_of(&rows, TF_STORAGE_RMEM), *tw = type_of(&all, TF_STORAGE_RMEM);
  const tf_pairing *p = tf_pairing_of(context, part, tp, whole, tw, 4, instance_of, &everyone, instance_of, &everyone);
  ck_assert_int_eq(p->kind, TF_PAIRING_VARYING);
  p = tf_pairing_of(context, part, tp, whole, tw, 4, instance_of, &one, instance_of, &everyone);
  ck_assert_int_eq(p->kind, TF_PAIRING_UNIFORM);
  ck_assert_int_eq(p->position[1], 1);
  const tf_dim *three = tf_dim_int(context, 3);
  const tf_type *odd = tf_type_tensor(context, 1, &three, TF_DTYPE_F32, NULL, TF_STORAGE_RMEM);
  const tf_ownership *o = NULL;
  ck_assert_int_eq(tf_ownership_of(context, odd, NULL, &o, NULL), TF_OK);
  ck_assert_ptr_null(tf_pairing_of(context, part, tp, o, odd, 4, instance_of, &everyone, NULL, NULL));
}
END_TEST

START_TEST(pairing_of_large_tensors_is_fast) {
  const shard rows = {.rank = 2,
                      .shape = {256, 256},
                      .storage = {256, 1},
                      .layout_axes = 2,
                      .extent = {256, 256},
                      .stride = {256, 1},
                      .has_strides = true,
                      .mesh_axes = 1,
                      .mesh = {256},
                      .split = {0}};
  shard same = rows;
  same.layout_axes = 3; /* the same elements in another local order */
  same.extent[1] = 16, same.stride[1] = 1, same.extent[2] = 16, same.stride[2] = 16;
  const tf_ownership *a = NULL, *b = NULL;
  ck_assert(ownership_of(&rows, &a, NULL) == TF_OK && ownership_of(&same, &b, NULL) == TF_OK);
  coords c = {mesh_of(&rows), 256};
  clock_t start = clock();
  const tf_pairing *p = tf_pairing_of(context, a, type_of(&rows, TF_STORAGE_RMEM), b, type_of(&same, TF_STORAGE_RMEM),
                                      256, instance_of, &c, instance_of, &c);
  double ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
  ck_assert_int_eq(p->kind, TF_PAIRING_UNIFORM);
  ck_assert_int_eq(p->count, 256);
  ck_assert_msg(ms < 500, "%f ms", ms); /* a few; the bound leaves room for sanitizers */
}
END_TEST

int main(void) {
  Suite *suite = suite_create("Ownership");
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
  tcase_add_test(tests, plain_tensors_are_local);
  tcase_add_test(tests, flags);
  tcase_add_test(tests, refusals);
  tcase_add_test(tests, pairing_finds_what_each_thread_holds);
  tcase_add_test(tests, pairing_asks_only_threads_that_take_part);
  tcase_add_test(tests, pairing_of_large_tensors_is_fast);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
