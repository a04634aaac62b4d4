/* The algebra of layouts against brute force over every coordinate, 20,000 random layouts per operation. An operation that
 * not every layout has is tried until 20,000 results have been checked. */
#include "Harness.h"
#include "LayoutModel.h"

enum { ROUNDS = 20000 };

static tf_context *context;

static void setup(void) {
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
}

static void teardown(void) {
  tf_context_destroy(context);
}

/* Runs `check` on fresh seeds; the context is renewed now and then so that its arena stays small. */
static int repeat(uint64_t seed, int (*check)(uint64_t *seed)) {
  int counted = 0;
  for (int round = 0; round < ROUNDS; round++) {
    counted += check(&seed);
    if (round % 1000 == 999) {
      teardown();
      setup();
    }
  }
  return counted;
}

/* Runs `check` until it has counted ROUNDS results, which at least one round in `rarity` gives. */
static void repeat_until(uint64_t seed, int (*check)(uint64_t *seed), int rarity) {
  int counted = 0, batches = 0;
  for (; counted < ROUNDS && batches < rarity; batches++)
    counted += repeat(seed + 100 * (uint64_t)batches, check);
  ck_assert_msg(counted >= ROUNDS, "%d results in %d batches", counted, batches);
}

static const char *text(const tf_layout *layout) {
  return layout ? tf_layout_print(context, layout) : "null";
}

static void check_same_function(const model *m, const tf_layout *layout, const char *what) {
  model other = model_of(layout);
  ck_assert_msg(model_size(&other) == model_size(m), "%s: %s", what, text(layout));
  for (int64_t i = 0; i < model_size(m); i++)
    ck_assert_msg(model_apply(&other, i) == model_apply(m, i), "%s at %ld: %s", what, (long)i, text(layout));
}

/* ---- Size, cosize, evaluation, image ---- */
static int check_values(uint64_t *seed) {
  model m = random_model(seed);
  const tf_layout *layout = model_nested(context, &m, seed);
  int64_t value, offset = -77;
  ck_assert(tf_dim_is_static(tf_layout_size(context, layout), &value));
  ck_assert_int_eq(value, model_size(&m));
  ck_assert(tf_dim_is_static(tf_layout_cosize(context, layout), &value));
  ck_assert_msg(value == model_cosize(&m), "%s: cosize %ld", text(layout), (long)value);
  for (int64_t i = 0; i < model_size(&m); i++) {
    ck_assert(tf_layout_apply(layout, i, &offset));
    ck_assert_int_eq(offset, model_apply(&m, i));
  }
  ck_assert(!tf_layout_apply(layout, model_size(&m), &offset));
  ck_assert(!tf_layout_apply(layout, -1, &offset));
  return 1;
}

START_TEST(values) {
  ck_assert_int_eq(repeat(1, check_values), ROUNDS);
}
END_TEST

static int check_image(uint64_t *seed) {
  model m = random_model(seed);
  size_t count = 0, n = 0;
  const int64_t *image = tf_layout_image(context, model_layout(context, &m), &count, NULL);
  int64_t *all = model_sorted(&m);
  for (int64_t i = 0; i < model_size(&m); i++) {
    if (i && all[i] == all[i - 1]) continue;
    ck_assert_uint_lt(n, count);
    ck_assert_int_eq(image[n++], all[i]);
  }
  ck_assert_uint_eq(n, count);
  free(all);
  return 1;
}

START_TEST(image) {
  ck_assert_int_eq(repeat(2, check_image), ROUNDS);
}
END_TEST

START_TEST(missing_strides_are_prefix_products) {
  const int64_t shape[] = {3, 4, 5};
  const tf_layout *layout = tf_layout_plain(context, tf_tuple_ints(context, 3, shape), NULL);
  for (int64_t i = 0, offset; i < 60; i++) {
    ck_assert(tf_layout_apply(layout, i, &offset));
    ck_assert_int_eq(offset, i);
  }
  ck_assert_str_eq(text(tf_layout_coalesce(context, layout)), "Layout(shape=(60,), strides=(1,))");
}
END_TEST

/* ---- Forms ---- */
static int check_forms(uint64_t *seed) {
  model m = random_below(seed, 2) ? random_model(seed) : random_chain(seed, 2);
  const tf_layout *layout = model_nested(context, &m, seed);
  const tf_layout *flat = tf_layout_flatten(context, layout), *joined = tf_layout_coalesce(context, layout);
  check_same_function(&m, flat, "flatten");
  check_same_function(&m, joined, "coalesce");
  ck_assert_uint_eq(tf_tuple_count(tf_layout_shape(flat)), (unsigned)m.count);
  model j = model_of(joined);
  for (int i = 0; i < j.count; i++) {
    ck_assert(j.count == 1 || j.extent[i] != 1);
    ck_assert(i == 0 || j.extent[i - 1] * j.stride[i - 1] != j.stride[i]);
  }
  ck_assert_ptr_eq(tf_layout_coalesce(context, joined), joined);
  return j.count < m.count;
}

START_TEST(flatten_and_coalesce) {
  ck_assert_int_gt(repeat(3, check_forms), ROUNDS / 10);
}
END_TEST

/* ---- Injectivity, projection ---- */
static int check_injective(uint64_t *seed) {
  model m = random_below(seed, 3) ? random_model(seed) : random_chain(seed, 3);
  const char *reason = NULL;
  const tf_layout *layout = model_nested(context, &m, seed);
  bool injective = tf_layout_is_injective(layout, &reason);
  ck_assert_msg(injective == model_is_injective(&m), "%s", text(layout));
  ck_assert(injective || reason);
  return injective;
}

START_TEST(injective) {
  int count = repeat(4, check_injective);
  ck_assert_int_gt(count, ROUNDS / 5);
  ck_assert_int_lt(count, ROUNDS * 9 / 10);
}
END_TEST

/* Whether dividing by the strides, largest first, gives back every coordinate. */
static bool divides_back(const model *m) {
  int order[MODEL_MODES] = {0}, count = 0;
  for (int i = 0; i < m->count; i++) {
    if (m->extent[i] == 1) continue;
    if (m->stride[i] <= 0) return false;
    int at = count++;
    for (; at > 0 && m->stride[order[at - 1]] < m->stride[i]; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (int64_t index = 0; index < model_size(m); index++) {
    int64_t rest = model_apply(m, index), found = 0;
    int64_t digit[MODEL_MODES] = {0}, weight = 1;
    for (int i = 0; i < count; i++) {
      digit[order[i]] = rest / m->stride[order[i]];
      rest %= m->stride[order[i]];
    }
    for (int i = 0; i < m->count; i++) {
      found += digit[i] * weight;
      weight *= m->extent[i];
    }
    for (int i = 0; i < m->count; i++)
      if (digit[i] >= m->extent[i]) return false;
    if (rest || found != index) return false;
  }
  return true;
}

static int check_projectable(uint64_t *seed) {
  model m = random_below(seed, 2) ? random_model(seed) : random_chain(seed, 3);
  const tf_layout *layout = model_nested(context, &m, seed);
  const char *reason = NULL;
  bool projectable = tf_layout_is_inverse_projectable(layout, &reason);
  ck_assert_msg(projectable == divides_back(&m), "%s", text(layout));
  ck_assert(projectable || reason);
  return projectable;
}

START_TEST(inverse_projectable) {
  int count = repeat(5, check_projectable);
  ck_assert_int_gt(count, ROUNDS / 5);
  ck_assert_int_lt(count, ROUNDS * 9 / 10);
}
END_TEST

static int check_project(uint64_t *seed) {
  model m = random_below(seed, 2) ? random_model(seed) : random_chain(seed, 3);
  const tf_layout *layout = model_nested(context, &m, seed);
  int64_t *all = model_sorted(&m), size = model_size(&m);
  int hits = 0;
  for (int64_t offset = all[0] - 3; offset < all[size - 1] + 4; offset++) {
    int64_t index = -1;
    bool inside = bsearch(&offset, all, (size_t)size, sizeof *all, compare_int64) != NULL;
    ck_assert_msg(tf_layout_project(layout, offset, &index) == inside, "%s: offset %ld", text(layout), (long)offset);
    ck_assert(tf_layout_contains(layout, offset) == inside);
    if (!inside) continue;
    ck_assert(index >= 0 && index < size);
    ck_assert_int_eq(model_apply(&m, index), offset);
    hits++;
  }
  free(all);
  return hits > 0;
}

START_TEST(project_and_contains) {
  ck_assert_int_eq(repeat(6, check_project), ROUNDS);
}
END_TEST

/* ---- Composition ---- */
static int check_composition(uint64_t *seed) {
  model a = random_model(seed), b = random_below(seed, 2) ? random_model(seed) : random_chain(seed, 2);
  const char *reason = NULL;
  const tf_layout *lb = model_nested(context, &b, seed);
  const tf_layout *result = tf_layout_composition(context, model_nested(context, &a, seed), lb, &reason);
  if (!result) {
    ck_assert_ptr_nonnull(reason);
    return 0;
  }
  model r = model_of(result);
  ck_assert_int_eq(model_size(&r), model_size(&b));
  ck_assert_uint_eq(tf_tuple_count(tf_layout_shape(result)), tf_tuple_count(tf_layout_shape(lb)));
  for (int64_t i = 0; i < model_size(&b); i++) {
    int64_t inner = model_apply(&b, i);
    ck_assert(inner >= 0 && inner < model_size(&a));
    ck_assert_msg(model_apply(&r, i) == model_apply(&a, inner), "%s at %ld", text(result), (long)i);
  }
  return 1;
}

START_TEST(composition) {
  repeat_until(7, check_composition, 20);
}
END_TEST

/* Powers of two always divide: such a composition exists wherever b stays inside a and nothing carries. */
static int check_power_composition(uint64_t *seed) {
  model a = {.count = 3}, b = {.count = 0};
  int bits[3], total = 0;
  for (int i = 0; i < 3; i++) {
    bits[i] = (int)random_below(seed, 4);
    total += bits[i];
    a.extent[i] = (int64_t)1 << bits[i];
    a.stride[i] = (int64_t)random_below(seed, 100);
  }
  for (int bit = 0; bit < total && b.count < 4;) { /* disjoint ranges of bits of the index into a */
    bit += (int)random_below(seed, 2);
    int width = 1 + (int)random_below(seed, 3);
    if (bit + width > total) break;
    b.extent[b.count] = (int64_t)1 << width;
    b.stride[b.count++] = (int64_t)1 << bit;
    bit += width;
  }
  if (b.count == 0) return 0;
  const char *reason = "";
  const tf_layout *result =
      tf_layout_composition(context, model_layout(context, &a), model_layout(context, &b), &reason);
  ck_assert_msg(result != NULL, "%s", reason);
  model r = model_of(result);
  for (int64_t i = 0; i < model_size(&b); i++)
    ck_assert_int_eq(model_apply(&r, i), model_apply(&a, model_apply(&b, i)));
  return 1;
}

START_TEST(composition_of_powers_of_two) {
  repeat_until(8, check_power_composition, 2);
}
END_TEST

START_TEST(composition_with_a_swizzle) {
  const tf_layout *swizzle = tf_layout_swizzle(context, 3, 3, 3);
  const int64_t shape[] = {64, 8}, strides[] = {1, 64};
  const tf_layout *rows =
      tf_layout_plain(context, tf_tuple_ints(context, 2, shape), tf_tuple_ints(context, 2, strides));
  const tf_layout *result = tf_layout_composition(context, swizzle, rows, NULL);
  bool hit[512] = {false};
  for (int64_t i = 0, offset; i < 512; i++) {
    ck_assert(tf_layout_apply(result, i, &offset));
    ck_assert_int_eq(offset, i ^ ((i >> 3) & (7 << 3)));
    ck_assert(!hit[offset]);
    hit[offset] = true;
  }
  ck_assert(tf_layout_is_injective(result, NULL));
  ck_assert(
      !tf_layout_is_injective(tf_layout_composed(context, tf_layout_swizzle(context, 1, 0, 0), NULL, rows), NULL));
  int64_t size;
  ck_assert(tf_dim_is_static(tf_layout_cosize(context, result), &size) && size == 512);
  const tf_layout *moved = tf_layout_composed(context, NULL, tf_dim_int(context, 7), rows);
  int64_t index;
  ck_assert(tf_layout_project(moved, 7 + 65, &index) && index == 65);
  ck_assert(!tf_layout_contains(moved, 6));
}
END_TEST

/* ---- Complement, inverses, product ---- */
static int check_complement(uint64_t *seed) {
  model a = random_below(seed, 4) ? random_chain(seed, 3) : random_model(seed);
  int64_t cosize = 1 + (int64_t)random_below(seed, 3000);
  const char *reason = NULL;
  const tf_layout *result = tf_layout_complement(context, model_nested(context, &a, seed), cosize, &reason);
  if (!result) {
    ck_assert_ptr_nonnull(reason);
    return 0;
  }
  model c = model_of(result);
  int64_t size = model_size(&a) * model_size(&c), last = -1;
  ck_assert_int_ge(size, cosize);
  int64_t period = 1; /* no shorter: one turn of the last mode less would not reach */
  for (int i = 0; i < a.count; i++)
    if (a.extent[i] > 1 && a.stride[i] * a.extent[i] > period) period = a.stride[i] * a.extent[i];
  ck_assert(size == period || size - period < cosize);
  bool *hit = calloc((size_t)size, sizeof *hit);
  for (int64_t j = 0; j < model_size(&c); j++) {
    int64_t step = model_apply(&c, j);
    ck_assert_int_gt(step, last); /* ascending: unique */
    last = step;
    for (int64_t i = 0; i < model_size(&a); i++) {
      int64_t sum = step + model_apply(&a, i);
      ck_assert(sum >= 0 && sum < size && !hit[sum]);
      hit[sum] = true;
    }
  }
  free(hit);
  return 1;
}

START_TEST(complement) {
  repeat_until(9, check_complement, 2);
}
END_TEST

static int check_left_inverse(uint64_t *seed) {
  bool is_chain = random_below(seed, 4) != 0;
  model a = is_chain ? random_chain(seed, 3) : random_model(seed);
  const char *reason = NULL;
  const tf_layout *result = tf_layout_left_inverse(context, model_nested(context, &a, seed), &reason);
  ck_assert(result || (!is_chain && reason));
  if (!result) return 0;
  model inverse = model_of(result);
  for (int64_t i = 0; i < model_size(&a); i++)
    ck_assert_int_eq(model_apply(&inverse, model_apply(&a, i)), i);
  return 1;
}

START_TEST(left_inverse) {
  repeat_until(10, check_left_inverse, 2);
}
END_TEST

static int check_right_inverse(uint64_t *seed) {
  model a = random_below(seed, 4) ? random_chain(seed, 2) : random_model(seed);
  const char *reason = NULL;
  const tf_layout *layout = model_nested(context, &a, seed);
  const tf_layout *result = tf_layout_right_inverse(context, layout, &reason);
  if (!result) {
    ck_assert_ptr_nonnull(reason);
    return 0;
  }
  model inverse = model_of(result);
  int64_t count = model_size(&inverse);
  for (int64_t k = 0; k < count; k++)
    ck_assert_msg(model_apply(&a, model_apply(&inverse, k)) == k, "%s: %s", text(layout), text(result));
  if (divides_back(&a)) { /* as long as possible: the next offset is not there */
    int64_t *all = model_sorted(&a);
    ck_assert_ptr_null(bsearch(&count, all, (size_t)model_size(&a), sizeof *all, compare_int64));
    free(all);
  }
  return 1;
}

START_TEST(right_inverse) {
  repeat_until(11, check_right_inverse, 2);
}
END_TEST

/* The steps that a's offsets leave out, found by sieving: c_0 = 0, then the smallest number not covered yet. */
static int64_t sieve_complement(const model *a, int64_t count, int64_t *out) {
  int64_t range = 1 << 13, found = 0;
  bool *hit = calloc((size_t)range * 2, sizeof *hit);
  for (int64_t step = 0; step < range && found < count; step++) {
    if (hit[step]) continue;
    out[found++] = step;
    for (int64_t i = 0; i < model_size(a); i++)
      if (step + model_apply(a, i) < range * 2) hit[step + model_apply(a, i)] = true;
  }
  free(hit);
  return found;
}

static int check_product(uint64_t *seed) {
  model a = random_chain(seed, 2), b = random_chain(seed, 2);
  if (model_size(&a) * model_cosize(&b) > 3000) return 0;
  const char *reason = NULL;
  const tf_layout *result =
      tf_layout_product(context, model_nested(context, &a, seed), model_nested(context, &b, seed), &reason);
  if (!result) {
    ck_assert_ptr_nonnull(reason);
    return 0;
  }
  model p = model_of(result);
  ck_assert_uint_eq(tf_tuple_count(tf_layout_shape(result)), 2);
  int64_t steps[4000], cosize = model_cosize(&b), size = model_size(&a);
  ck_assert_int_eq(sieve_complement(&a, cosize, steps), cosize);
  for (int64_t j = 0; j < model_size(&b); j++)
    for (int64_t i = 0; i < size; i++)
      ck_assert_msg(model_apply(&p, i + size * j) == model_apply(&a, i) + steps[model_apply(&b, j)], "%s",
                    text(result));
  return 1;
}

START_TEST(product) {
  repeat_until(12, check_product, 5);
}
END_TEST

/* ---- The listed examples ---- */
static const tf_layout *two(int64_t e0, int64_t e1, int64_t s0, int64_t s1) {
  const int64_t e[] = {e0, e1}, s[] = {s0, s1};
  return tf_layout_plain(context, tf_tuple_ints(context, 2, e), tf_tuple_ints(context, 2, s));
}

START_TEST(examples) {
  const int64_t four = 4, zero = 0;
  const char *reason = NULL;
  ck_assert_str_eq(text(tf_layout_left_inverse(context, two(4, 32, 32, 1), NULL)),
                   "Layout(shape=(32, 4), strides=(4, 1))");
  ck_assert_str_eq(text(tf_layout_left_inverse(context, two(2, 3, 1, 4), NULL)),
                   "Layout(shape=(2, 2, 3), strides=(1, 6, 2))");
  ck_assert_str_eq(text(tf_layout_right_inverse(context, two(2, 3, 1, 4), NULL)), "Layout(shape=(2,), strides=(1,))");
  ck_assert_str_eq(text(tf_layout_complement(context, two(2, 3, 1, 4), 64, NULL)),
                   "Layout(shape=(2, 6), strides=(2, 12))");
  ck_assert(!tf_layout_is_inverse_projectable(two(5, 3, 3, 8), &reason));
  ck_assert_ptr_nonnull(reason);
  ck_assert(tf_layout_is_injective(two(5, 3, 3, 8), NULL));
  ck_assert(!tf_layout_is_inverse_projectable(two(2, 2, 1, 1), NULL));
  const tf_layout *constant =
      tf_layout_plain(context, tf_tuple_ints(context, 1, &four), tf_tuple_ints(context, 1, &zero));
  ck_assert(!tf_layout_is_inverse_projectable(constant, NULL));
  ck_assert(!tf_layout_is_injective(constant, NULL));
}
END_TEST

/* ---- Symbolic and degenerate layouts ---- */
START_TEST(symbolic_layouts) {
  const tf_dim *s, *m;
  ck_assert_int_eq(tf_dim_var(context, "S", 1, 100, &s), TF_OK);
  ck_assert_int_eq(tf_dim_var(context, "M", 1, 100, &m), TF_OK);
  const tf_dim *shape[] = {s, m};
  const tf_layout *rows = tf_layout_row_major(context, 2, shape);
  ck_assert_str_eq(text(rows), "Layout(shape=(S, M), strides=(M, 1))");
  ck_assert_str_eq(tf_dim_print(context, tf_layout_size(context, rows)), "M*S");
  ck_assert_ptr_eq(tf_layout_cosize(context, rows), tf_layout_size(context, rows));
  const tf_layout *columns = tf_layout_plain(context, tf_tuple_dims(context, 2, shape), NULL);
  ck_assert_str_eq(text(tf_layout_coalesce(context, columns)), "Layout(shape=(M*S,), strides=(1,))");
  const char *reason = NULL;
  int64_t value;
  ck_assert_ptr_null(tf_layout_left_inverse(context, rows, &reason));
  ck_assert_ptr_nonnull(reason);
  ck_assert_ptr_null(tf_layout_complement(context, rows, 64, NULL));
  ck_assert_ptr_null(tf_layout_image(context, rows, &(size_t){0}, NULL));
  ck_assert(!tf_layout_apply(rows, 0, &value));
  ck_assert(!tf_layout_is_injective(rows, NULL));
  ck_assert(!tf_layout_project(rows, 0, &value));
}
END_TEST

START_TEST(empty_and_huge_layouts) {
  int64_t value;
  const tf_layout *empty = two(0, 4, 1, 1);
  ck_assert(tf_dim_is_static(tf_layout_size(context, empty), &value) && value == 0);
  ck_assert(tf_dim_is_static(tf_layout_cosize(context, empty), &value) && value == 0);
  ck_assert(tf_layout_is_injective(empty, NULL));
  ck_assert(!tf_layout_contains(empty, 0));
  ck_assert_ptr_null(tf_layout_left_inverse(context, empty, NULL));
  const int64_t big = (int64_t)1 << 40;
  ck_assert(tf_layout_is_injective(two(big, 1 << 20, 1, big), NULL)); /* decided without enumerating */
  ck_assert(!tf_layout_is_injective(two(big, 1 << 20, 1, big - 1), NULL));
  ck_assert_ptr_null(tf_layout_left_inverse(context, two(big, big, 1, big), NULL));
  ck_assert_ptr_null(tf_layout_image(context, two(big, 2, 1, big), &(size_t){0}, NULL));
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("algebra");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, values);
  tcase_add_test(tests, image);
  tcase_add_test(tests, missing_strides_are_prefix_products);
  tcase_add_test(tests, flatten_and_coalesce);
  tcase_add_test(tests, injective);
  tcase_add_test(tests, inverse_projectable);
  tcase_add_test(tests, project_and_contains);
  tcase_add_test(tests, composition);
  tcase_add_test(tests, composition_of_powers_of_two);
  tcase_add_test(tests, composition_with_a_swizzle);
  tcase_add_test(tests, complement);
  tcase_add_test(tests, left_inverse);
  tcase_add_test(tests, right_inverse);
  tcase_add_test(tests, product);
  tcase_add_test(tests, examples);
  tcase_add_test(tests, symbolic_layouts);
  tcase_add_test(tests, empty_and_huge_layouts);
  return run_case("LayoutAlgebra", tests);
}
