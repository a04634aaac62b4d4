/* Pairing against a search through the model of ShardModel.h, thread by thread and position by position. */
#include <time.h>

#include "Harness.h"
#include "ShardModel.h"

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
  TCase *tests = tcase_create("pairing");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, pairing_finds_what_each_thread_holds);
  tcase_add_test(tests, pairing_asks_only_threads_that_take_part);
  tcase_add_test(tests, pairing_of_large_tensors_is_fast);
  return run_case("Pairing", tests);
}
