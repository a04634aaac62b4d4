/* Placements against the definition: the coordinates of an instance on a mesh are those whose strides sum to its linear
 * position; tried by search over all coordinates, on random full meshes and slices. Then regions: what nesting means. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "IR/Construct.h"
#include "Random.h"
#include "Verify/Scopes.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static uint64_t state = 12345;

static int64_t pick(int64_t below) {
  return (int64_t)random_below(&state, (uint64_t)below);
}

/* A mesh as plain numbers. */
typedef struct plain_mesh {
  unsigned levels, axes;
  tf_level level[3];
  int64_t size[3], extent[9], stride[9], lo[9], hi[9];
  bool sliced;
} plain_mesh;

/* Cuts the level into one to three axes, in any order of strides. */
static void deal_level(plain_mesh *m, int64_t size, int64_t below) {
  int64_t parts[3] = {1, 1, 1}, rest = size;
  unsigned count = 1 + (unsigned)pick(3), order[3] = {0, 1, 2};
  for (unsigned i = 0; i + 1 < count; i++) {
    int64_t divisors[64], found = 0;
    for (int64_t d = 1; d <= rest; d++)
      if (rest % d == 0 && found < 64) divisors[found++] = d;
    parts[i] = divisors[pick(found)];
    rest /= parts[i];
  }
  parts[count - 1] = rest;
  for (unsigned i = count; i-- > 1;) {
    unsigned j = (unsigned)pick(i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  int64_t stride = below, strides[3] = {0};
  for (unsigned k = 0; k < 3; k++)
    if (order[k] < count) {
      strides[order[k]] = stride;
      stride *= parts[order[k]];
    }
  for (unsigned i = 0; i < count; i++) {
    m->extent[m->axes] = parts[i];
    m->stride[m->axes++] = strides[i];
  }
}

static plain_mesh random_mesh(void) {
  static const tf_level sets[6][3] = {{TF_LEVEL_CTA, 0, 0},
                                      {TF_LEVEL_WARP, 0, 0},
                                      {TF_LEVEL_THREAD, 0, 0},
                                      {TF_LEVEL_CTA, TF_LEVEL_THREAD, 0},
                                      {TF_LEVEL_WARP, TF_LEVEL_THREAD, 0},
                                      {TF_LEVEL_CTA, TF_LEVEL_WARP, TF_LEVEL_THREAD}};
  static const unsigned counts[6] = {1, 1, 1, 2, 2, 3};
  plain_mesh m = {0};
  int64_t which = pick(6), below = 1;
  m.levels = counts[which];
  for (unsigned i = 0; i < m.levels; i++) {
    m.level[i] = sets[which][i];
    bool after_warp = i > 0 && m.level[i - 1] == TF_LEVEL_WARP;
    m.size[i] = after_warp ? 32 : m.level[i] == TF_LEVEL_THREAD ? 1 + pick(96) : 1 + pick(8);
    below *= m.size[i];
  }
  for (unsigned i = 0; i < m.levels; i++) {
    below /= m.size[i];
    deal_level(&m, m.size[i], below);
  }
  m.sliced = pick(2) == 0;
  for (unsigned i = 0; i < m.axes; i++) {
    m.lo[i] = m.sliced ? pick(m.extent[i]) : 0;
    m.hi[i] = m.sliced ? m.lo[i] + 1 + pick(m.extent[i] - m.lo[i]) : m.extent[i];
  }
  return m;
}

static const tf_mesh *build(const plain_mesh *m) {
  tf_topology levels[3];
  for (unsigned i = 0; i < m->levels; i++)
    levels[i] = (tf_topology){m->level[i], tf_dim_int(context, m->size[i])};
  const tf_layout *layout =
      tf_layout_plain(context, tf_tuple_ints(context, m->axes, m->extent), tf_tuple_ints(context, m->axes, m->stride));
  const tf_mesh *mesh = tf_mesh_get(context, m->levels, levels, layout, 0, NULL);
  const char *reason = NULL;
  if (m->sliced) mesh = tf_mesh_slice(context, mesh, m->lo, m->hi, &reason);
  return mesh;
}

/* The linear position of a thread on the mesh's levels; -1 outside. */
static int64_t position(const plain_mesh *m, int64_t cta, int64_t thread, bool lanes) {
  int64_t linear = 0;
  bool warps = false;
  for (unsigned i = 0; i < m->levels; i++) {
    int64_t id = m->level[i] == TF_LEVEL_CTA    ? cta
                 : m->level[i] == TF_LEVEL_WARP ? thread / 32
                 : warps || lanes               ? thread % 32
                                                : thread;
    warps = warps || m->level[i] == TF_LEVEL_WARP;
    if (id >= m->size[i]) return -1;
    linear = linear * m->size[i] + id;
  }
  return linear;
}

/* By search: the coordinates inside the (sliced) box whose strides sum to the position. */
static bool search(const plain_mesh *m, int64_t linear, int64_t *coordinates) {
  int64_t c[9] = {0};
  for (;;) {
    int64_t sum = 0;
    for (unsigned i = 0; i < m->axes; i++)
      sum += (m->lo[i] + c[i]) * m->stride[i];
    if (sum == linear) {
      for (unsigned i = 0; i < m->axes; i++)
        coordinates[i] = c[i];
      return true;
    }
    unsigned axis = 0;
    while (axis < m->axes && ++c[axis] == m->hi[axis] - m->lo[axis])
      c[axis++] = 0;
    if (axis == m->axes) return false;
  }
}

START_TEST(placements_match_their_definition) {
  for (int round = 0; round < 400; round++) {
    plain_mesh m = random_mesh();
    const char *reason = NULL;
    const tf_placement *p = tf_placement_of(context, build(&m), false, &reason);
    ck_assert_msg(p != NULL, "round %d: %s %s", round, tf_mesh_print(context, build(&m)),
                  reason ? reason : "no reason");
    for (int64_t cta = 0; cta < 9; cta++)
      for (int64_t thread = 0; thread < 130; thread++) {
        int64_t got[TF_MAX_MESH_AXES], wanted[9], linear = position(&m, cta, thread, false);
        bool inside = linear >= 0 && search(&m, linear, wanted);
        ck_assert_msg(tf_placement_coordinates(p, cta, thread, got) == inside, "round %d cta %d thread %d", round,
                      (int)cta, (int)thread);
        for (unsigned i = 0; inside && i < m.axes; i++)
          ck_assert_msg(got[i] == wanted[i], "round %d cta %d thread %d axis %u", round, (int)cta, (int)thread, i);
      }
  }
}
END_TEST

static const tf_mesh *mesh1(tf_level level, int64_t size, unsigned axes, const int64_t *extents,
                            const int64_t *strides) {
  tf_topology topology = {level, tf_dim_int(context, size)};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, axes, extents),
                                            strides ? tf_tuple_ints(context, axes, strides) : NULL);
  return tf_mesh_get(context, 1, &topology, layout, 0, NULL);
}

static const tf_stmt *scope_stmt(const tf_mesh *mesh) {
  tf_place place = {TF_NO_LOC, NULL};
  const tf_expr *var = tf_expr_mesh_var(context, "m", mesh, TF_NO_LOC);
  return tf_stmt_mesh_scope(context, var, tf_stmt_sequential(context, 0, NULL, place), place);
}

static const tf_stmt *empty_function(void) {
  tf_place place = {TF_NO_LOC, NULL};
  return tf_stmt_function(context, "k", 0, NULL, tf_stmt_sequential(context, 0, NULL, place), 0, NULL, place);
}

static tf_region enter(const tf_region *region, const tf_mesh *mesh) {
  tf_region inner;
  const char *reason = NULL;
  ck_assert_msg(tf_region_enter(region, scope_stmt(mesh), &inner, &reason), "%s", reason ? reason : "");
  return inner;
}

START_TEST(threads_inside_warps_are_lanes) {
  tf_geometry geometry = {true, 128, false, tf_dim_int(context, 1)};
  tf_region kernel = tf_region_begin(context, empty_function(), &geometry);
  tf_region warps = enter(&kernel, mesh1(TF_LEVEL_WARP, 4, 1, (int64_t[]){4}, NULL));
  tf_region lanes = enter(&warps, mesh1(TF_LEVEL_THREAD, 16, 1, (int64_t[]){16}, NULL));
  ck_assert_int_eq(tf_threads_count(&warps.active), 128);
  ck_assert_int_eq(tf_threads_count(&lanes.active), 64); /* the first 16 lanes of each warp */
  ck_assert(tf_threads_has(&lanes.active, 32 + 15) && !tf_threads_has(&lanes.active, 32 + 16));
  int64_t coordinate;
  ck_assert(tf_placement_coordinates(lanes.scope->placement, 0, 64 + 5, &coordinate));
  ck_assert_int_eq(coordinate, 5);
}
END_TEST

START_TEST(same_level_starts_afresh) {
  tf_geometry geometry = {true, 128, false, tf_dim_int(context, 1)};
  tf_region kernel = tf_region_begin(context, empty_function(), &geometry);
  tf_region flat = enter(&kernel, mesh1(TF_LEVEL_THREAD, 128, 1, (int64_t[]){128}, NULL));
  tf_region first = enter(&flat, mesh1(TF_LEVEL_THREAD, 32, 2, (int64_t[]){4, 8}, (int64_t[]){1, 4}));
  tf_thread_set wanted = tf_threads_interval(0, 32);
  ck_assert(tf_threads_equal(&first.active, &wanted));
  ck_assert(tf_region_restricts_threads(&flat, &first));
  ck_assert(!tf_region_restricts_threads(&kernel, &flat));
}
END_TEST

START_TEST(refusals_say_why) {
  const char *reason = NULL;
  ck_assert_ptr_null(tf_placement_of(context, mesh1(TF_LEVEL_THREAD, 64, 1, (int64_t[]){64}, NULL), true, &reason));
  ck_assert_ptr_nonnull(strstr(reason, "32"));
  ck_assert_ptr_null(
      tf_placement_of(context, mesh1(TF_LEVEL_THREAD, 2048, 1, (int64_t[]){2048}, NULL), false, &reason));
  ck_assert_ptr_nonnull(strstr(reason, "1024"));
  ck_assert_ptr_null(
      tf_placement_of(context, mesh1(TF_LEVEL_THREAD, 8, 2, (int64_t[]){4, 2}, (int64_t[]){1, 1}), false, &reason));
  ck_assert_ptr_nonnull(reason);
  const tf_dim *dynamic = NULL;
  ck_assert_int_eq(tf_dim_var(context, "T", 1, 100, &dynamic), TF_OK);
  tf_topology topology = {TF_LEVEL_THREAD, dynamic};
  const tf_tuple *shape = tf_tuple_dims(context, 1, &dynamic);
  const tf_mesh *mesh = tf_mesh_get(context, 1, &topology, tf_layout_plain(context, shape, NULL), 0, NULL);
  ck_assert_ptr_null(tf_placement_of(context, mesh, false, &reason));
  ck_assert_ptr_nonnull(strstr(reason, "T"));
}
END_TEST

START_TEST(nested_scopes_provide_a_tile) {
  tf_geometry geometry = {true, 128, false, tf_dim_int(context, 1)};
  tf_region kernel = tf_region_begin(context, empty_function(), &geometry);
  tf_topology levels[2] = {{TF_LEVEL_WARP, tf_dim_int(context, 4)}, {TF_LEVEL_THREAD, tf_dim_int(context, 32)}};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, 4, (int64_t[]){2, 2, 4, 8}),
                                            tf_tuple_ints(context, 4, (int64_t[]){64, 32, 1, 4}));
  const tf_mesh *tile = tf_mesh_get(context, 2, levels, layout, 0, NULL);
  ck_assert_ptr_null(tf_region_placement(&kernel, tile, NULL));
  tf_region warps = enter(&kernel, mesh1(TF_LEVEL_WARP, 4, 2, (int64_t[]){2, 2}, (int64_t[]){2, 1}));
  ck_assert(!tf_region_provides(&warps, tile));
  tf_region lanes = enter(&warps, mesh1(TF_LEVEL_THREAD, 32, 2, (int64_t[]){4, 8}, (int64_t[]){1, 4}));
  ck_assert(tf_region_provides(&lanes, tile));
  const tf_placement *p = tf_region_placement(&lanes, tile, NULL);
  int64_t c[TF_MAX_MESH_AXES];
  ck_assert(p && tf_placement_coordinates(p, 0, 32 * 3 + 4 * 6 + 2, c));
  ck_assert(c[0] == 1 && c[1] == 1 && c[2] == 2 && c[3] == 6);
  tf_region other = enter(&warps, mesh1(TF_LEVEL_THREAD, 32, 2, (int64_t[]){8, 4}, (int64_t[]){1, 8}));
  ck_assert(!tf_region_provides(&other, tile));
}
END_TEST

START_TEST(thread_sets) {
  tf_thread_set set = tf_threads_interval(60, 10);
  int64_t seen = 0;
  for (int64_t t = tf_threads_next(&set, 0); t >= 0; t = tf_threads_next(&set, t + 1))
    ck_assert_int_eq(t, 60 + seen++);
  ck_assert_int_eq(seen, 10);
  tf_thread_set all = tf_threads_interval(0, 1024);
  ck_assert(tf_threads_subset(&set, &all) && !tf_threads_subset(&all, &set));
  ck_assert_int_eq(tf_threads_next(&all, 1023), 1023);
  ck_assert_int_eq(tf_threads_next(&all, 1024), -1);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("scopes");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, placements_match_their_definition);
  tcase_add_test(tests, threads_inside_warps_are_lanes);
  tcase_add_test(tests, same_level_starts_afresh);
  tcase_add_test(tests, refusals_say_why);
  tcase_add_test(tests, nested_scopes_provide_a_tile);
  tcase_add_test(tests, thread_sets);
  return run_case("scopes", tests);
}
