/* Every row of DTypes.def and Kinds.def through the look-ups, and facts about dtypes from outside the table. */
#include <check.h>
#include <string.h>

#include "Harness.h"
#include "IR/KindTables.h"

START_TEST(dtypes_match_their_formats) {
  /* sizes and formats by definition (IEEE 754, OCP FP8/MX, NVIDIA tf32, bfloat16), independent of the table */
  static const struct {
    const char *name;
    unsigned bits;
    tf_dtype_class class;
    unsigned exponent, mantissa;
  } facts[] = {
      {"bool", 8, TF_CLASS_BOOL, 0, 0},     {"i4", 4, TF_CLASS_SINT, 0, 0},      {"i8", 8, TF_CLASS_SINT, 0, 0},
      {"i16", 16, TF_CLASS_SINT, 0, 0},     {"i32", 32, TF_CLASS_SINT, 0, 0},    {"i64", 64, TF_CLASS_SINT, 0, 0},
      {"u8", 8, TF_CLASS_UINT, 0, 0},       {"u16", 16, TF_CLASS_UINT, 0, 0},    {"u32", 32, TF_CLASS_UINT, 0, 0},
      {"u64", 64, TF_CLASS_UINT, 0, 0},     {"f4e2m1", 4, TF_CLASS_FLOAT, 2, 1}, {"fp8e4m3", 8, TF_CLASS_FLOAT, 4, 3},
      {"fp8e5m2", 8, TF_CLASS_FLOAT, 5, 2}, {"f8e8m0", 8, TF_CLASS_FLOAT, 8, 0}, {"f16", 16, TF_CLASS_FLOAT, 5, 10},
      {"bf16", 16, TF_CLASS_FLOAT, 8, 7},   {"tf32", 32, TF_CLASS_FLOAT, 8, 10}, {"f32", 32, TF_CLASS_FLOAT, 8, 23},
      {"f64", 64, TF_CLASS_FLOAT, 11, 52},
  };
  ck_assert_uint_eq(sizeof facts / sizeof *facts, TF_DTYPE_COUNT);
  for (unsigned i = 0; i < TF_DTYPE_COUNT; i++) {
    tf_dtype dtype;
    ck_assert(tf_dtype_from_name(facts[i].name, &dtype));
    ck_assert_str_eq(tf_dtype_name(dtype), facts[i].name);
    ck_assert_uint_eq(tf_dtype_bits(dtype), facts[i].bits);
    ck_assert_int_eq(tf_dtype_get_class(dtype), facts[i].class);
    ck_assert_uint_eq(tf_dtype_exponent_bits(dtype), facts[i].exponent);
    ck_assert_uint_eq(tf_dtype_mantissa_bits(dtype), facts[i].mantissa);
  }
}
END_TEST

/* Each enumerator gives its row's name and comes back from it; neighbours and null do not. */
#define CHECK_ROW(NOUN, TYPE, VALUE, NAME)                                                                             \
  do {                                                                                                                 \
    TYPE found = (TYPE)-1;                                                                                             \
    ck_assert_str_eq(tf_##NOUN##_name(VALUE), NAME);                                                                   \
    ck_assert(tf_##NOUN##_from_name(NAME, &found) && found == (VALUE));                                                \
    ck_assert(tf_##NOUN##_from_name(NAME, NULL));                                                                      \
    found = (TYPE)-1;                                                                                                  \
    ck_assert(!tf_##NOUN##_from_name(NAME "x", &found) && !tf_##NOUN##_from_name("", &found));                         \
    ck_assert(!tf_##NOUN##_from_name(NULL, &found) && found == (TYPE)-1);                                              \
  } while (0)

START_TEST(every_row_comes_back_from_its_name) {
#define TF_STORAGE(ENUM, NAME)     CHECK_ROW(storage, tf_storage, TF_STORAGE_##ENUM, NAME);
#define TF_LEVEL(ENUM, NAME)       CHECK_ROW(level, tf_level, TF_LEVEL_##ENUM, NAME);
#define TF_BINARY(ENUM, NAME)      CHECK_ROW(binary, tf_binary_kind, TF_BINARY_##ENUM, NAME);
#define TF_UNARY(ENUM, NAME)       CHECK_ROW(unary, tf_unary_kind, TF_UNARY_##ENUM, NAME);
#define TF_REDUCE(ENUM, NAME)      CHECK_ROW(reduce, tf_reduce_kind, TF_REDUCE_##ENUM, NAME);
#define TF_LAUNCH_ATTR(ENUM, NAME) CHECK_ROW(launch_attr, tf_launch_attr_kind, TF_LAUNCH_ATTR_##ENUM, NAME);
#include <tilefoundry/Kinds.def>
#define TF_DTYPE(ENUM, NAME, BITS, CLASS, EXP, MAN) CHECK_ROW(dtype, tf_dtype, TF_DTYPE_##ENUM, NAME);
#include <tilefoundry/DTypes.def>
#undef TF_DTYPE
}
END_TEST

START_TEST(operators) {
  ck_assert_str_eq(tf_scalar_binary_name(TF_SCALAR_BINARY_FLOOR_DIV), "floor_div");
  ck_assert_str_eq(tf_scalar_binary_spelling(TF_SCALAR_BINARY_FLOOR_DIV), "//");
  ck_assert_str_eq(tf_scalar_unary_name(TF_SCALAR_UNARY_NEG), "neg");
  ck_assert_str_eq(tf_scalar_unary_spelling(TF_SCALAR_UNARY_NOT), "not");
  /* Python's order, from loose to tight */
  static const tf_scalar_binary_kind order[] = {
      TF_SCALAR_BINARY_OR,      TF_SCALAR_BINARY_AND,     TF_SCALAR_BINARY_LT,  TF_SCALAR_BINARY_BIT_OR,
      TF_SCALAR_BINARY_BIT_XOR, TF_SCALAR_BINARY_BIT_AND, TF_SCALAR_BINARY_SHL, TF_SCALAR_BINARY_ADD,
      TF_SCALAR_BINARY_MUL,     TF_SCALAR_BINARY_MIN};
  for (size_t i = 1; i < sizeof order / sizeof *order; i++)
    ck_assert_int_lt(tf_scalar_binary_precedence(order[i - 1]), tf_scalar_binary_precedence(order[i]));
  ck_assert_int_lt(tf_scalar_binary_precedence(TF_SCALAR_BINARY_AND), tf_scalar_unary_precedence(TF_SCALAR_UNARY_NOT));
  ck_assert_int_lt(tf_scalar_unary_precedence(TF_SCALAR_UNARY_NOT), tf_scalar_binary_precedence(TF_SCALAR_BINARY_LT));
  ck_assert_int_gt(tf_scalar_unary_precedence(TF_SCALAR_UNARY_NEG), tf_scalar_binary_precedence(TF_SCALAR_BINARY_MUL));
  ck_assert_str_eq(tf_storage_enumerator(TF_STORAGE_RMEM), "RMEM");
}
END_TEST

START_TEST(values_outside_the_tables) {
  ck_assert_str_eq(tf_dtype_name(TF_DTYPE_COUNT), "unknown");
  ck_assert_str_eq(tf_storage_name(TF_STORAGE_NONE), "unknown");
  ck_assert_str_eq(tf_storage_enumerator(TF_STORAGE_NONE), "unknown");
  ck_assert_str_eq(tf_level_name((tf_level)-1), "unknown");
  ck_assert_str_eq(tf_scalar_binary_name(TF_SCALAR_BINARY_COUNT), "unknown");
  ck_assert_str_eq(tf_scalar_binary_spelling(TF_SCALAR_BINARY_COUNT), "unknown");
  ck_assert_str_eq(tf_scalar_unary_spelling((tf_scalar_unary_kind)99), "unknown");
  ck_assert_int_eq(tf_scalar_binary_precedence(TF_SCALAR_BINARY_COUNT), 0);
  ck_assert_int_eq(tf_scalar_unary_precedence(TF_SCALAR_UNARY_COUNT), 0);
  ck_assert_uint_eq(tf_dtype_bits(TF_DTYPE_COUNT), 0);
  ck_assert_uint_eq(tf_dtype_exponent_bits((tf_dtype)-1), 0);
  ck_assert_uint_eq(tf_dtype_mantissa_bits((tf_dtype)-1), 0);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("tables");
  tcase_add_test(tests, dtypes_match_their_formats);
  tcase_add_test(tests, every_row_comes_back_from_its_name);
  tcase_add_test(tests, operators);
  tcase_add_test(tests, values_outside_the_tables);
  return run_case("Kinds", tests);
}
