/* Meshes: consistency, coordinates, levels and slices against enumeration of every position. */
#include "Harness.h"
#include "IR/MeshLevels.h"
#include "IR/Ownership.h"
#include "LayoutModel.h"

enum { AXES = 4 };

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

typedef struct mesh_model {
  int axes, levels;
  int64_t extent[AXES], stride[AXES], size[2];
  int level[AXES]; /* of each axis, left to right; -1: straddles */
} mesh_model;

static int64_t product(int count, const int64_t *values) {
  int64_t p = 1;
  for (int i = 0; i < count; i++)
    p *= values[i];
  return p;
}

static const tf_mesh *mesh_of(const mesh_model *m, const char *const *names) {
  const tf_topology levels[] = {{m->levels == 2 ? TF_LEVEL_WARP : TF_LEVEL_THREAD, tf_dim_int(context, m->size[0])},
                                {TF_LEVEL_THREAD, tf_dim_int(context, m->size[1])}};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, (unsigned)m->axes, m->extent),
                                            tf_tuple_ints(context, (unsigned)m->axes, m->stride));
  return tf_mesh_get(context, (unsigned)m->levels, levels, layout, names ? (unsigned)m->axes : 0, names);
}

/* Compact strides in random order, per level; sometimes one number is changed. */
static mesh_model random_mesh(uint64_t *seed) {
  mesh_model m = {.axes = 1 + (int)random_below(seed, AXES), .levels = 1 + (int)random_below(seed, 2)};
  int cut = m.levels == 2 ? (int)random_below(seed, (uint64_t)m.axes + 1) : m.axes, order[AXES] = {0};
  for (int i = 0; i < m.axes; i++)
    m.extent[i] = 1 + (int64_t)random_below(seed, 4);
  m.size[0] = product(cut, m.extent);
  m.size[1] = product(m.axes - cut, m.extent + cut);
  for (int half = 0; half < 2; half++) {
    int first = half ? cut : 0, end = half ? m.axes : cut, n = end - first;
    int64_t stride = half ? 1 : m.levels == 2 ? m.size[1] : 1;
    for (int i = 0; i < n; i++) {
      int at = (int)random_below(seed, (uint64_t)i + 1);
      order[i] = order[at];
      order[at] = first + i;
    }
    for (int i = 0; i < n; i++) {
      m.stride[order[i]] = stride;
      stride *= m.extent[order[i]];
    }
  }
  uint64_t change = random_below(seed, 6);
  if (change == 0) m.stride[random_below(seed, (uint64_t)m.axes)] = (int64_t)random_below(seed, 20);
  if (change == 1) m.size[0] += 1;
  if (change == 2) m.extent[random_below(seed, (uint64_t)m.axes)] += 1;
  return m;
}

/* Deals the axes; false if some level's size is not met. */
static bool deal(mesh_model *m) {
  int axis = 0;
  for (int level = 0; level < m->levels; level++) {
    int64_t p = 1;
    while (axis < m->axes && (p != m->size[level] || m->extent[axis] == 1)) {
      p *= m->extent[axis];
      m->level[axis++] = level;
    }
    if (p != m->size[level]) return false;
  }
  return axis == m->axes;
}

static int64_t position(const mesh_model *m, int64_t index) {
  int64_t sum = 0;
  for (int i = 0; i < m->axes; i++) {
    sum += index % m->extent[i] * m->stride[i];
    index /= m->extent[i];
  }
  return sum;
}

/* By enumeration: each position of the domain once, and an axis changes nothing but its own level's position. */
static bool model_is_consistent(mesh_model *m) {
  bool hit[4096] = {false};
  int64_t domain = product(m->levels, m->size), count = product(m->axes, m->extent);
  if (!deal(m) || count != domain) return false;
  for (int64_t i = 0; i < count; i++) {
    int64_t id = position(m, i);
    if (id >= domain || hit[id]) return false;
    hit[id] = true;
  }
  for (int axis = 0; axis < m->axes; axis++)
    for (int64_t c = 0; c < m->extent[axis]; c++) {
      int64_t id = c * m->stride[axis], below = m->levels == 2 ? m->size[1] : 1;
      if (m->levels == 2 && m->level[axis] == 0 && id % below) return false;
      if (m->levels == 2 && m->level[axis] == 1 && id >= below) return false;
    }
  return true;
}

START_TEST(consistency) {
  uint64_t seed = 41;
  int consistent = 0;
  for (int round = 0; round < 20000; round++) {
    mesh_model m = random_mesh(&seed);
    const char *reason = NULL;
    const tf_mesh *mesh = mesh_of(&m, NULL);
    bool expected = model_is_consistent(&m), actual = tf_mesh_is_consistent(context, mesh, &reason);
    ck_assert_msg(actual == expected, "%s: %s", tf_mesh_print(context, mesh), reason ? reason : "consistent");
    ck_assert(actual || reason);
    consistent += actual;
    for (unsigned axis = 0; actual && axis < (unsigned)m.axes; axis++) {
      unsigned level;
      const tf_dim *below;
      ck_assert(tf_mesh_axis_level(context, mesh, axis, &level, &below, NULL));
      ck_assert_int_eq(level, m.level[axis]);
      ck_assert(below == tf_dim_int(context, m.levels == 2 && level == 0 ? m.size[1] : 1));
    }
  }
  ck_assert_int_gt(consistent, 8000);
  ck_assert_int_lt(consistent, 18000);
}
END_TEST

START_TEST(coordinates_of_full_meshes) {
  uint64_t seed = 42;
  int checked = 0;
  for (int round = 0; round < 40000; round++) {
    mesh_model m = random_mesh(&seed);
    if (!model_is_consistent(&m)) continue;
    const tf_mesh *mesh = mesh_of(&m, NULL);
    int64_t domain = product(m.levels, m.size), found[AXES];
    for (int64_t id = 0; id < domain; id++) {
      ck_assert(tf_mesh_coordinates(mesh, id, found));
      for (int i = 0; i < m.axes; i++)
        ck_assert_int_eq(found[i], m.extent[i] == 1 ? 0 : id / m.stride[i] % m.extent[i]);
    }
    ck_assert(!tf_mesh_coordinates(mesh, domain, found) && !tf_mesh_coordinates(mesh, -1, found));
    checked++;
  }
  ck_assert_int_ge(checked, 20000);
}
END_TEST

static void check_slice(const mesh_model *m, const tf_mesh *slice, const int64_t *lo, const int64_t *hi) {
  int64_t domain = product(m->levels, m->size), found[AXES], inside = 0;
  for (int64_t id = 0; id < domain; id++) {
    bool expected = true;
    for (int i = 0; i < m->axes; i++) {
      int64_t c = m->extent[i] == 1 ? 0 : id / m->stride[i] % m->extent[i];
      expected &= c >= lo[i] && c < hi[i];
    }
    ck_assert(tf_mesh_coordinates(slice, id, found) == expected);
    inside += expected;
    for (int i = 0; i < m->axes && expected; i++)
      ck_assert_int_eq(found[i], (m->extent[i] == 1 ? 0 : id / m->stride[i] % m->extent[i]) - lo[i]);
  }
  int64_t size = 1;
  for (int i = 0; i < m->axes; i++)
    size *= hi[i] - lo[i];
  ck_assert_int_eq(inside, size);
}

START_TEST(slices) {
  uint64_t seed = 43;
  int checked = 0;
  for (int round = 0; round < 40000; round++) {
    mesh_model m = random_mesh(&seed);
    if (!model_is_consistent(&m)) continue;
    int64_t lo[AXES], hi[AXES];
    for (int i = 0; i < m.axes; i++) {
      lo[i] = (int64_t)random_below(&seed, (uint64_t)m.extent[i]);
      hi[i] = lo[i] + 1 + (int64_t)random_below(&seed, (uint64_t)(m.extent[i] - lo[i]));
    }
    const char *reason = NULL;
    const tf_mesh *mesh = mesh_of(&m, NULL), *slice = tf_mesh_slice(context, mesh, lo, hi, &reason);
    ck_assert(slice && tf_mesh_is_slice(slice) && !tf_mesh_is_slice(mesh));
    ck_assert_msg(tf_mesh_is_consistent(context, slice, &reason), "%s: %s", tf_mesh_print(context, slice), reason);
    check_slice(&m, slice, lo, hi);
    for (unsigned axis = 0; axis < (unsigned)m.axes; axis++) { /* a slice knows its axes' levels by their strides */
      unsigned level;
      ck_assert(tf_mesh_axis_level(context, slice, axis, &level, NULL, NULL));
      if (m.extent[axis] > 1) ck_assert_int_eq(level, m.level[axis]);
    }
    ck_assert(!tf_mesh_slice(context, slice, lo, hi, &reason) && strstr(reason, "again"));
    checked++;
  }
  ck_assert_int_ge(checked, 20000);
}
END_TEST

START_TEST(slice_example_and_text) {
  const mesh_model m = {.axes = 2, .levels = 1, .extent = {4, 8}, .stride = {1, 4}, .size = {32}};
  const char *const names[] = {"a", "b"};
  const tf_mesh *mesh = mesh_of(&m, names);
  ck_assert_str_eq(tf_mesh_print(context, mesh),
                   "Mesh((Topology(\"thread\", 32),), Layout(shape=(4, 8), strides=(1, 4)), (\"a\", \"b\"))");
  const int64_t lo[] = {1, 2}, hi[] = {3, 3};
  const tf_mesh *slice = tf_mesh_slice(context, mesh, lo, hi, NULL);
  ck_assert_str_eq(tf_mesh_print(context, slice),
                   "Mesh((Topology(\"thread\", 32),), ComposedLayout(inner=None, offset=9, outer=Layout(shape=(2, 1), "
                   "strides=(1, 4))), (\"a\", \"b\"))");
  int64_t offset;
  ck_assert(tf_dim_is_static(tf_mesh_slice_offset(slice), &offset) && offset == 9);
  ck_assert(tf_dim_is_static(tf_mesh_slice_offset(mesh), &offset) && offset == 0);
  unsigned axis = 9;
  ck_assert(tf_mesh_axis_by_name(slice, "b", &axis) && axis == 1);
  ck_assert(!tf_mesh_axis_by_name(slice, "c", &axis) && axis == 1);
  ck_assert_str_eq(tf_mesh_axis_name(mesh, 0), "a");
  ck_assert_ptr_null(tf_mesh_axis_name(mesh, 2));
  ck_assert_ptr_null(tf_mesh_axis_extent(mesh, 2));
  const int64_t empty[] = {1, 2}, outside[] = {3, 9}, from[] = {-1, 0};
  const char *reason = NULL;
  ck_assert(!tf_mesh_slice(context, mesh, lo, empty, &reason) && strstr(reason, "empty"));
  ck_assert(!tf_mesh_slice(context, mesh, lo, outside, &reason) && strstr(reason, "outside"));
  ck_assert(!tf_mesh_slice(context, mesh, from, hi, &reason) && strstr(reason, "outside"));
}
END_TEST

START_TEST(names_and_missing_strides) {
  const mesh_model m = {.axes = 2, .levels = 1, .extent = {4, 8}, .stride = {8, 1}, .size = {32}};
  const char *const names[] = {"a", "b"}, *const none[] = {"", NULL};
  const tf_topology level = {TF_LEVEL_THREAD, tf_dim_int(context, 32)};
  const tf_layout *plain = tf_layout_plain(context, tf_tuple_ints(context, 2, m.extent), NULL);
  ck_assert_ptr_eq(tf_mesh_get(context, 1, &level, plain, 0, NULL), mesh_of(&m, NULL)); /* C order */
  ck_assert_ptr_eq(mesh_of(&m, none), mesh_of(&m, NULL));
  ck_assert_ptr_eq(tf_mesh_get(context, 1, &level, plain, 1, names),
                   tf_mesh_get(context, 1, &level, plain, 2, (const char *const[]){"a", NULL}));
  ck_assert_ptr_ne(mesh_of(&m, names), mesh_of(&m, NULL));
  ck_assert(tf_mesh_same_shape(mesh_of(&m, names), mesh_of(&m, NULL)));
  mesh_model other = m;
  other.stride[0] = 1, other.stride[1] = 4;
  ck_assert(!tf_mesh_same_shape(mesh_of(&other, NULL), mesh_of(&m, NULL)));
}
END_TEST

START_TEST(symbolic_meshes) {
  const tf_dim *s, *two;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 100, &s), TF_OK);
  two = tf_dim_int(context, 2);
  const tf_topology level = {TF_LEVEL_CTA, tf_dim_binary(context, TF_DIM_MUL, s, two)};
  const tf_dim *shape[] = {two, s}, *strides[] = {tf_dim_int(context, 1), two};
  const tf_mesh *rows = tf_mesh_get(context, 1, &level, tf_layout_row_major(context, 2, shape), 0, NULL);
  const tf_layout *layout =
      tf_layout_plain(context, tf_tuple_dims(context, 2, shape), tf_tuple_dims(context, 2, strides));
  const char *reason = NULL;
  ck_assert(tf_mesh_is_consistent(context, rows, &reason));
  ck_assert(tf_mesh_is_consistent(context, tf_mesh_get(context, 1, &level, layout, 0, NULL), NULL));
  const tf_topology wrong = {TF_LEVEL_CTA, s};
  ck_assert(!tf_mesh_is_consistent(context, tf_mesh_get(context, 1, &wrong, layout, 0, NULL), &reason));
  ck_assert_ptr_eq(tf_mesh_domain(context, rows), level.size);
  int64_t coordinates[2], lo[] = {0, 0}, hi[] = {1, 1};
  ck_assert(!tf_mesh_coordinates(rows, 0, coordinates));
  ck_assert(!tf_mesh_slice(context, rows, lo, hi, &reason) && strstr(reason, "dynamic"));
}
END_TEST

START_TEST(misuse) {
  const tf_dim *four = tf_dim_int(context, 4);
  const tf_topology level = {TF_LEVEL_THREAD, four}, null_size = {TF_LEVEL_THREAD, NULL};
  const tf_topology backwards[] = {{TF_LEVEL_THREAD, four}, {TF_LEVEL_CTA, four}};
  const tf_layout *plain = tf_layout_row_major(context, 1, &four);
  const tf_tuple *leaf = tf_tuple_leaf(context, four), *pair[] = {leaf, leaf},
                 *nested[] = {tf_tuple_list(context, 2, pair), leaf};
  const char *const names[] = {"a", "b"};
  ck_assert_ptr_null(tf_mesh_get(context, 1, &level, NULL, 0, NULL));
  ck_assert_ptr_null(tf_mesh_get(context, 0, &level, plain, 0, NULL));
  ck_assert_ptr_null(tf_mesh_get(context, 1, &null_size, plain, 0, NULL));
  ck_assert_ptr_null(tf_mesh_get(context, 1, &level, plain, 2, names));
  ck_assert_ptr_null(tf_mesh_get(context, 1, &level, tf_layout_swizzle(context, 1, 1, 1), 0, NULL));
  ck_assert_ptr_null(
      tf_mesh_get(context, 1, &level, tf_layout_plain(context, tf_tuple_list(context, 2, nested), NULL), 0, NULL));
  const char *reason = NULL;
  const tf_layout *square = tf_layout_row_major(context, 2, (const tf_dim *const[]){four, four});
  const tf_mesh *mesh = tf_mesh_get(context, 2, backwards, square, 0, NULL);
  ck_assert(!tf_mesh_is_consistent(context, mesh, &reason) && strstr(reason, "coarse"));
  ck_assert_int_eq(tf_mesh_level(mesh, 2).level, TF_LEVEL_COUNT);
  ck_assert_ptr_null(tf_mesh_level(mesh, 2).size);
  /* a slice that no mesh has: its last position is outside */
  const tf_layout *forged =
      tf_layout_composed(context, NULL, tf_dim_int(context, 3),
                         tf_layout_row_major(context, 1, (const tf_dim *const[]){tf_dim_int(context, 2)}));
  ck_assert(!tf_mesh_is_consistent(context, tf_mesh_get(context, 1, &level, forged, 0, NULL), &reason));
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("meshes");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, consistency);
  tcase_add_test(tests, coordinates_of_full_meshes);
  tcase_add_test(tests, slices);
  tcase_add_test(tests, slice_example_and_text);
  tcase_add_test(tests, names_and_missing_strides);
  tcase_add_test(tests, symbolic_meshes);
  tcase_add_test(tests, misuse);
  return run_case("Mesh", tests);
}
