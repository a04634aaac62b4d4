/* The walk from logical index to storage offset against its definition, on random axes: every index of the tensor, digits with
 * and without carries, and what is known of integers against enumeration. */
#include <check.h>
#include <stdlib.h>

#include "Harness.h"
#include "LowerToLLVM/Affine.h"
#include "LowerToLLVM/Function.h"
#include "LowerToLLVM/IntMath.h"

#include "IR/DimImpl.h"
#include "Random.h"

static uint64_t state = 88172645463325252u;

static int64_t below(int64_t bound) {
  return (int64_t)random_below(&state, (uint64_t)bound);
}

typedef struct axes {
  unsigned rank;
  int64_t extent[4], stride[4];
} axes;

static int64_t offset_of(const axes *a, int64_t index) {
  int64_t sum = 0;
  for (unsigned i = a->rank; i-- > 0; index /= a->extent[i])
    sum += index % a->extent[i] * a->stride[i];
  return sum;
}

static int64_t size_of(const axes *a) {
  int64_t size = 1;
  for (unsigned i = 0; i < a->rank; i++)
    size *= a->extent[i];
  return size;
}

/* Strides are often those of a contiguous tensor, so that axes are merged. */
static axes random_axes(void) {
  axes a = {.rank = 1 + (unsigned)below(4)};
  int64_t unit = 1;
  for (unsigned i = a.rank; i-- > 0;) {
    a.extent[i] = 1 + below(6);
    a.stride[i] = below(3) ? unit : 1 + below(40);
    unit = a.stride[i] * a.extent[i];
  }
  return a;
}

static void map_of(tf_context *context, const axes *a, tf_affine *map) {
  const tf_dim *extents[4], *strides[4];
  for (unsigned i = 0; i < a->rank; i++) {
    extents[i] = tf_dim_int(context, a->extent[i]);
    strides[i] = tf_dim_int(context, a->stride[i]);
  }
  tf_affine_make(context, a->rank, extents, strides, map);
}

static int64_t value_of(const tf_dim *dim) {
  int64_t value = -1;
  ck_assert_ptr_nonnull(dim);
  ck_assert(tf_dim_is_static(dim, &value));
  return value;
}

START_TEST(offsets_of_all_indices) {
  tf_context *context = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  for (int n = 0; n < 300; n++) {
    axes a = random_axes();
    tf_affine map;
    map_of(context, &a, &map);
    for (int64_t i = 0; i < size_of(&a); i++)
      ck_assert_int_eq(value_of(tf_affine_at(context, &map, i)), offset_of(&a, i));
  }
  tf_context_destroy(context);
}
END_TEST

/* A digit that is said to step evenly does; it stays inside the tensor. */
START_TEST(steps_are_even) {
  tf_context *context = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  int even = 0;
  for (int n = 0; n < 3000; n++) {
    axes a = random_axes();
    tf_affine map;
    const tf_dim *step = NULL;
    map_of(context, &a, &map);
    int64_t unit = 1 + below(size_of(&a)), extent = 1 + below((size_of(&a) - 1) / unit + 1);
    if (!tf_affine_step(context, &map, tf_dim_int(context, extent), tf_dim_int(context, unit), &step)) continue;
    even += extent > 1;
    for (int64_t d = 0; d < extent; d++)
      ck_assert_int_eq(offset_of(&a, d * unit), d * value_of(step));
  }
  ck_assert_int_gt(even, 200);
  tf_context_destroy(context);
}
END_TEST

/* Digits that are said not to carry into each other add up. */
START_TEST(separate_digits_add_up) {
  tf_context *context = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  int separate = 0;
  for (int n = 0; n < 5000; n++) {
    axes a = random_axes();
    tf_affine map;
    map_of(context, &a, &map);
    int64_t unit[2], extent[2], size = size_of(&a);
    const tf_dim *units[2], *extents[2];
    for (int i = 0; i < 2; i++) {
      unit[i] = 1 + below(size);
      extent[i] = 1 + below(4);
      units[i] = tf_dim_int(context, unit[i]);
      extents[i] = tf_dim_int(context, extent[i]);
    }
    if ((extent[0] - 1) * unit[0] + (extent[1] - 1) * unit[1] >= size) continue;
    if (!tf_affine_separates(context, &map, 2, extents, units)) continue;
    separate += extent[0] > 1 && extent[1] > 1;
    for (int64_t i = 0; i < extent[0]; i++)
      for (int64_t j = 0; j < extent[1]; j++)
        ck_assert_int_eq(offset_of(&a, i * unit[0] + j * unit[1]),
                         offset_of(&a, i * unit[0]) + offset_of(&a, j * unit[1]));
  }
  ck_assert_int_gt(separate, 100);
  tf_context_destroy(context);
}
END_TEST

/* ---- Integer facts ---- */
static int64_t apply(tf_scalar_binary_kind kind, int64_t a, int64_t b) {
  switch (kind) {
  case TF_SCALAR_BINARY_ADD:
    return a + b;
  case TF_SCALAR_BINARY_SUB:
    return a - b;
  case TF_SCALAR_BINARY_MUL:
    return a * b;
  case TF_SCALAR_BINARY_FLOOR_DIV:
    return tf_int_floor_div(a, b);
  case TF_SCALAR_BINARY_MOD:
    return tf_int_mod(a, b);
  case TF_SCALAR_BINARY_MIN:
    return a < b ? a : b;
  case TF_SCALAR_BINARY_MAX:
    return a > b ? a : b;
  case TF_SCALAR_BINARY_BIT_AND:
    return a & b;
  case TF_SCALAR_BINARY_BIT_OR:
    return a | b;
  case TF_SCALAR_BINARY_BIT_XOR:
    return a ^ b;
  default:
    return a < b;
  }
}

START_TEST(facts_hold_for_all_values) {
  for (int n = 0; n < 20000; n++) {
    tf_scalar_binary_kind kind = (tf_scalar_binary_kind)below(TF_SCALAR_BINARY_COUNT);
    if (kind == TF_SCALAR_BINARY_SHL || kind == TF_SCALAR_BINARY_SHR || kind == TF_SCALAR_BINARY_DIV) continue;
    int64_t step[2] = {1 + below(4), 1 + below(4)}, first[2] = {below(21) - 10, below(21) - 10},
            count[2] = {1 + below(6), 1 + below(6)};
    tf_int_facts facts[2];
    for (int i = 0; i < 2; i++)
      facts[i] = (tf_int_facts){step[i], first[i] * step[i], (first[i] + count[i] - 1) * step[i]};
    tf_int_facts result = tf_facts_binary(kind, facts[0], facts[1]);
    for (int64_t a = facts[0].min; a <= facts[0].max; a += step[0])
      for (int64_t b = facts[1].min; b <= facts[1].max; b += step[1]) {
        if (b == 0 && (kind == TF_SCALAR_BINARY_FLOOR_DIV || kind == TF_SCALAR_BINARY_MOD)) continue;
        int64_t value = apply(kind, a, b);
        ck_assert_msg(value >= result.min && value <= result.max &&
                          (result.divisor ? value % result.divisor == 0 : value == 0),
                      "kind %d: %lld, %lld -> %lld not in [%lld, %lld] by %lld", (int)kind, (long long)a, (long long)b,
                      (long long)value, (long long)result.min, (long long)result.max, (long long)result.divisor);
      }
  }
}
END_TEST

/* ---- Names ---- */
START_TEST(names_are_spelled_reversibly) {
  static const char *const names[][2] = {
      {"saxpy", "saxpy"},     {"_k1", "_k1"},           {"1k", "$31k"}, {"a.b", "a$2eb"},         {"a$b", "a$24b"},
      {"\xc3\xa9", "$c3$a9"}, {"WARP_SZ", "$57ARP_SZ"}, {"_", "$5f"},   {"WARP_SZ_", "WARP_SZ_"}, {"__", "__"}};
  tf_context *context = NULL;
  ck_assert_int_eq(tf_context_create(&context), TF_OK);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    ck_assert_str_eq(tf_escape_name(context, names[i][0]), names[i][1]);
  tf_context_destroy(context);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("all");
  tcase_add_test(tests, offsets_of_all_indices);
  tcase_add_test(tests, steps_are_even);
  tcase_add_test(tests, separate_digits_add_up);
  tcase_add_test(tests, facts_hold_for_all_values);
  tcase_add_test(tests, names_are_spelled_reversibly);
  return run_case("affine", tests);
}
