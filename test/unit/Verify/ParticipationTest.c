/* Barriers: the classification of random slices against the set of their participants, listed thread by thread; then the
 * refusals, one by one. */
#include <check.h>
#include <stdlib.h>

#include "Harness.h"
#include "IR/Construct.h"
#include "Random.h"
#include "Verify/Participation.h"

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

static uint64_t state = 2024;

static int64_t pick(int64_t below) {
  return (int64_t)random_below(&state, (uint64_t)below);
}

static const tf_place nowhere = {{0, 0, 0, 0}, NULL};

static const tf_stmt *function(void) {
  return tf_stmt_function(context, "k", 0, NULL, tf_stmt_sequential(context, 0, NULL, nowhere), 0, NULL, nowhere);
}

static tf_region enter(const tf_region *region, const tf_mesh *mesh) {
  tf_region inner;
  const tf_expr *var = tf_expr_mesh_var(context, "m", mesh, TF_NO_LOC);
  const tf_stmt *stmt = tf_stmt_mesh_scope(context, var, tf_stmt_sequential(context, 0, NULL, nowhere), nowhere);
  const char *reason = NULL;
  ck_assert_msg(tf_region_enter(region, stmt, &inner, &reason), "%s", reason ? reason : "");
  return inner;
}

static const tf_mesh *mesh_of(tf_level level, int64_t size, unsigned axes, const int64_t *extents,
                              const int64_t *strides) {
  tf_topology topology = {level, tf_dim_int(context, size)};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, axes, extents),
                                            strides ? tf_tuple_ints(context, axes, strides) : NULL);
  return tf_mesh_get(context, 1, &topology, layout, 0, NULL);
}

/* ---- Random slices ---------------------------------------------------------------------------------------------------------- */

/* What the table of barriers says of a set of threads in a block, read off the set itself. */
static tf_sync_fault verdict_of(const bool *in, int64_t block, tf_participation *out) {
  int64_t first = -1, last = -1, count = 0;
  for (int64_t t = 0; t < block; t++)
    if (in[t]) {
      first = first < 0 ? t : first;
      last = t;
      count++;
    }
  if (last - first + 1 != count) return TF_SYNC_NOT_CONTIGUOUS;
  *out = (tf_participation){.base = first, .count = count, .predicated = count != block};
  if (first / 32 == last / 32) {
    out->kind = count == block ? TF_BARRIER_WARP : TF_BARRIER_LANES;
    for (int64_t t = first; t <= last; t++)
      out->mask |= UINT32_C(1) << (t % 32);
    return TF_SYNC_FINE;
  }
  out->kind = count == block ? TF_BARRIER_BLOCK : TF_BARRIER_NAMED;
  if (count == block) return TF_SYNC_FINE;
  return first % 32 == 0 && (last + 1) % 32 == 0 ? TF_SYNC_FINE : TF_SYNC_NOT_ALIGNED;
}

START_TEST(slices_match_their_participants) {
  static const int64_t shapes[][3] = {{4, 32, 1},  {2, 64, 1}, {8, 16, 1}, {2, 2, 32},
                                      {128, 1, 1}, {3, 16, 1}, {1, 24, 1}, {4, 8, 4}};
  for (int round = 0; round < 3000; round++) {
    const int64_t *extents = shapes[pick(8)];
    int64_t block = extents[0] * extents[1] * extents[2], lo[3], hi[3];
    const tf_mesh *full = mesh_of(TF_LEVEL_THREAD, block, 3, extents, NULL);
    bool in[256] = {false};
    for (int i = 0; i < 3; i++) {
      lo[i] = pick(3) == 0 ? pick(extents[i]) : 0;
      hi[i] = pick(3) == 0 ? lo[i] + 1 + pick(extents[i] - lo[i]) : extents[i];
    }
    for (int64_t a = lo[0]; a < hi[0]; a++)
      for (int64_t b = lo[1]; b < hi[1]; b++)
        for (int64_t c = lo[2]; c < hi[2]; c++)
          in[(a * extents[1] + b) * extents[2] + c] = true;
    tf_geometry geometry = {true, block, false, tf_dim_int(context, 1)};
    tf_region kernel = tf_region_begin(context, function(), &geometry), region = enter(&kernel, full);
    const char *reason = NULL;
    const tf_mesh *slice = tf_mesh_slice(context, full, lo, hi, &reason);
    tf_participation wanted = {0}, got = {0};
    tf_sync_fault fault = verdict_of(in, block, &wanted);
    ck_assert_msg(tf_classify(&region, slice, &got, NULL) == fault, "round %d", round);
    if (fault != TF_SYNC_FINE) continue;
    ck_assert_msg(got.kind == wanted.kind && got.base == wanted.base && got.count == wanted.count &&
                      got.mask == wanted.mask && got.predicated == wanted.predicated && !got.per_warp,
                  "round %d", round);
  }
}
END_TEST

/* ---- Nested scopes ------------------------------------------------------------------------------------------------------------ */

START_TEST(lanes_inside_warps) {
  tf_geometry geometry = {true, 128, false, tf_dim_int(context, 1)};
  tf_region kernel = tf_region_begin(context, function(), &geometry);
  const tf_mesh *warps = mesh_of(TF_LEVEL_WARP, 4, 1, (int64_t[]){4}, NULL);
  const tf_mesh *lanes = mesh_of(TF_LEVEL_THREAD, 32, 1, (int64_t[]){32}, NULL);
  tf_region in_warps = enter(&kernel, warps), in_lanes = enter(&in_warps, lanes);
  tf_participation p;
  ck_assert_int_eq(tf_classify(&in_lanes, lanes, &p, NULL), TF_SYNC_FINE);
  ck_assert(p.kind == TF_BARRIER_WARP && p.per_warp && p.count == 32 && p.mask == UINT32_MAX && !p.predicated);
  const char *reason = NULL;
  const tf_mesh *some = tf_mesh_slice(context, lanes, (int64_t[]){8}, (int64_t[]){16}, &reason);
  ck_assert_int_eq(tf_classify(&in_lanes, some, &p, NULL), TF_SYNC_FINE);
  ck_assert(p.kind == TF_BARRIER_LANES && p.per_warp && p.base == 8 && p.count == 8 && p.mask == 0xFF00 &&
            p.predicated);
  tf_thread_set groups[TF_MAX_BLOCK / 32];
  ck_assert_uint_eq(tf_participation_groups(&in_lanes, &p, groups), 4);
  ck_assert(tf_threads_has(&groups[2], 64 + 8) && !tf_threads_has(&groups[2], 64 + 7) &&
            tf_threads_count(&groups[2]) == 8);

  ck_assert_int_eq(tf_classify(&in_lanes, warps, &p, NULL), TF_SYNC_FINE);
  ck_assert(p.kind == TF_BARRIER_BLOCK && p.count == 128 && !p.per_warp);
  const tf_mesh *two = tf_mesh_slice(context, warps, (int64_t[]){1}, (int64_t[]){3}, &reason);
  ck_assert_int_eq(tf_classify(&in_warps, two, &p, NULL), TF_SYNC_FINE);
  ck_assert(p.kind == TF_BARRIER_NAMED && p.base == 32 && p.count == 64 && p.predicated);
}
END_TEST

START_TEST(a_full_mesh_below_the_block_is_a_subset) {
  tf_geometry geometry = {true, 128, false, tf_dim_int(context, 1)};
  tf_region kernel = tf_region_begin(context, function(), &geometry);
  const tf_mesh *half = mesh_of(TF_LEVEL_THREAD, 64, 1, (int64_t[]){64}, NULL);
  tf_region region = enter(&kernel, half);
  tf_participation p;
  ck_assert_int_eq(tf_classify(&region, half, &p, NULL), TF_SYNC_FINE);
  ck_assert(p.kind == TF_BARRIER_NAMED && p.base == 0 && p.count == 64 && !p.predicated);
}
END_TEST

START_TEST(grid) {
  const tf_dim *s = NULL;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 1000, &s), TF_OK);
  tf_topology topology = {TF_LEVEL_CTA, s};
  const tf_mesh *all =
      tf_mesh_get(context, 1, &topology, tf_layout_plain(context, tf_tuple_dims(context, 1, &s), NULL), 0, NULL);
  tf_geometry geometry = {true, 64, true, s};
  tf_region kernel = tf_region_begin(context, function(), &geometry), region = enter(&kernel, all);
  tf_participation p;
  ck_assert_int_eq(tf_classify(&region, all, &p, NULL), TF_SYNC_FINE);
  ck_assert_int_eq(p.kind, TF_BARRIER_GRID);
  tf_region narrow = enter(&region, mesh_of(TF_LEVEL_THREAD, 32, 1, (int64_t[]){32}, NULL));
  ck_assert_int_eq(tf_classify(&narrow, all, &p, NULL), TF_SYNC_NOT_ALL_ACTIVE);
  const tf_mesh *four = mesh_of(TF_LEVEL_CTA, 4, 1, (int64_t[]){4}, NULL);
  tf_region part = enter(&region, four);
  ck_assert(!part.all_ctas && region.all_ctas);
  ck_assert_int_eq(tf_classify(&part, four, &p, NULL), TF_SYNC_PART_OF_GRID);
  const char *reason = NULL;
  const tf_mesh *slice = tf_mesh_slice(context, four, (int64_t[]){1}, (int64_t[]){3}, &reason);
  ck_assert_int_eq(tf_classify(&part, slice, &p, NULL), TF_SYNC_CTA_SLICE);
}
END_TEST

START_TEST(three_refusals) {
  tf_geometry geometry = {true, 64, false, tf_dim_int(context, 1)};
  tf_region kernel = tf_region_begin(context, function(), &geometry);
  const tf_mesh *m = mesh_of(TF_LEVEL_THREAD, 64, 2, (int64_t[]){2, 32}, NULL);
  const tf_mesh *other = mesh_of(TF_LEVEL_THREAD, 64, 2, (int64_t[]){4, 16}, NULL);
  tf_participation p;
  const tf_scope *nearest = NULL;
  ck_assert_int_eq(tf_classify(&kernel, m, &p, NULL), TF_SYNC_NO_SCOPE);
  tf_region region = enter(&kernel, m);
  ck_assert_int_eq(tf_classify(&region, other, &p, &nearest), TF_SYNC_NOT_THAT_MESH);
  ck_assert_ptr_eq(nearest, region.scope);
  /* A slice that covers the same threads, but of another mesh. */
  const char *reason = NULL;
  const tf_mesh *foreign = tf_mesh_slice(context, other, (int64_t[]){0, 0}, (int64_t[]){2, 16}, &reason);
  ck_assert_int_eq(tf_classify(&region, foreign, &p, NULL), TF_SYNC_NOT_A_SLICE);
  /* Forged: the strides are the mesh's, but the offset is no corner of a box in it. */
  tf_topology topology = {TF_LEVEL_THREAD, tf_dim_int(context, 64)};
  const tf_layout *box = tf_layout_plain(context, tf_tuple_ints(context, 2, (int64_t[]){1, 32}),
                                         tf_tuple_ints(context, 2, (int64_t[]){32, 1}));
  const tf_mesh *forged =
      tf_mesh_get(context, 1, &topology, tf_layout_composed(context, NULL, tf_dim_int(context, 16), box), 0, NULL);
  ck_assert_int_eq(tf_classify(&region, forged, &p, NULL), TF_SYNC_NOT_A_SLICE);
  /* The full mesh again, in force only as a slice. */
  const tf_mesh *half = tf_mesh_slice(context, m, (int64_t[]){0, 0}, (int64_t[]){1, 32}, &reason);
  tf_region sliced = enter(&kernel, half);
  ck_assert_int_eq(tf_classify(&sliced, m, &p, NULL), TF_SYNC_NOT_THAT_MESH);
  ck_assert_int_eq(tf_classify(&sliced, half, &p, NULL), TF_SYNC_FINE);
  ck_assert(p.kind == TF_BARRIER_LANES && p.count == 32);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("participation");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, slices_match_their_participants);
  tcase_add_test(tests, lanes_inside_warps);
  tcase_add_test(tests, a_full_mesh_below_the_block_is_a_subset);
  tcase_add_test(tests, grid);
  tcase_add_test(tests, three_refusals);
  return run_case("participation", tests);
}
