/* The small formats against values built from their definition, against the compiler's own half precision, and at every
 * rounding boundary: between each two neighbours a < b, everything below the midpoint is a, above it b, the midpoint
 * itself goes to the even code (tf32: to b, away from zero). */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "Harness.h"
#include "Support/Float.h"

/* What a format is, written down here once more from the formats' publications. */
typedef struct facts {
  tf_float_format format;
  int exp_bits, man_bits, shift; /* shift: padding bits below the code in storage */
  bool saturates, ties_away;
  double max, min_subnormal;
} facts;

static const facts all[] = {
    {TF_FLOAT_F16, 5, 10, 0, false, false, 65504.0, 0x1p-24},
    {TF_FLOAT_BF16, 8, 7, 0, false, false, 0x1.fep127, 0x1p-133},
    {TF_FLOAT_TF32, 8, 10, 13, false, true, 0x1.ffcp127, 0x1p-136},
    {TF_FLOAT_FP8E4M3, 4, 3, 0, true, false, 448.0, 0x1p-9},
    {TF_FLOAT_FP8E5M2, 5, 2, 0, true, false, 57344.0, 0x1p-16},
};
enum { ALL = sizeof all / sizeof all[0] };

/* Value of a positive code by its definition, by repeated doubling and halving; NaN or inf for the special codes. */
static double value_of(const facts *f, uint32_t code) {
  uint32_t top = (1u << f->exp_bits) - 1, field = code >> f->man_bits, man = code & ((1u << f->man_bits) - 1);
  if (f->format == TF_FLOAT_FP8E4M3) {
    if (code == 0x7f) return NAN;
  } else if (field == top) {
    return man ? NAN : INFINITY;
  }
  double unit = 1.0;
  int exponent = (int)(field ? field : 1) - (int)(top / 2) - f->man_bits;
  for (int i = 0; i < exponent; i++)
    unit *= 2;
  for (int i = 0; i > exponent; i--)
    unit *= 0.5;
  return unit * (man + (field ? 1u << f->man_bits : 0u));
}

static uint32_t positive_codes(const facts *f) {
  return 1u << (f->exp_bits + f->man_bits);
}

static uint32_t sign_bit(const facts *f) {
  return positive_codes(f) << f->shift;
}

static bool same(double a, double b) {
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

START_TEST(every_code_decodes) {
  const facts *f = &all[_i];
  for (uint32_t code = 0; code < positive_codes(f); code++) {
    double want = value_of(f, code);
    ck_assert_msg(same(tf_float_decode(f->format, code << f->shift), want), "format %d code %x", _i, code);
    double negative = tf_float_decode(f->format, (code << f->shift) | sign_bit(f));
    ck_assert_msg(same(negative, -want), "format %d code -%x", _i, code);
  }
}
END_TEST

START_TEST(every_code_survives) {
  const facts *f = &all[_i];
  for (uint32_t code = 0; code < positive_codes(f); code++) {
    double value = value_of(f, code);
    if (!isfinite(value)) continue;
    ck_assert_uint_eq(tf_float_encode(f->format, value), code << f->shift);
    ck_assert_uint_eq(tf_float_encode(f->format, -value), (code << f->shift) | sign_bit(f));
  }
}
END_TEST

static void check_both_signs(const facts *f, double value, uint32_t code) {
  ck_assert_msg(tf_float_encode(f->format, value) == code << f->shift, "format %d value %a: got %x, want %x",
                (int)(f - all), value, tf_float_encode(f->format, value), code << f->shift);
  ck_assert_uint_eq(tf_float_encode(f->format, -value), (code << f->shift) | sign_bit(f));
}

START_TEST(every_boundary_rounds) {
  const facts *f = &all[_i];
  for (uint32_t a = 0; a + 1 < positive_codes(f) && isfinite(value_of(f, a + 1)); a++) {
    double lo = value_of(f, a), hi = value_of(f, a + 1), mid = lo + (hi - lo) / 2;
    check_both_signs(f, mid, f->ties_away || (a & 1) ? a + 1 : a);
    check_both_signs(f, nextafter(mid, 0), a);
    check_both_signs(f, nextafter(mid, INFINITY), a + 1);
    check_both_signs(f, nextafter(lo, INFINITY), a);
    check_both_signs(f, nextafter(hi, 0), a + 1);
  }
}
END_TEST

START_TEST(beyond_the_largest) {
  const facts *f = &all[_i];
  uint32_t top = positive_codes(f);
  while (!isfinite(value_of(f, top - 1)))
    top--;
  ck_assert_double_eq(value_of(f, top - 1), f->max);
  ck_assert_double_eq(value_of(f, 1), f->min_subnormal);
  double half_step = (f->max - value_of(f, top - 2)) / 2;
  uint32_t over = f->saturates ? top - 1 : top;
  check_both_signs(f, nextafter(f->max + half_step, 0), top - 1);
  check_both_signs(f, f->max + half_step, over); /* the tie's even neighbour is the first code that is not finite */
  check_both_signs(f, f->max * 2, over);
  check_both_signs(f, DBL_MAX, over);
  check_both_signs(f, INFINITY, over);
  check_both_signs(f, DBL_MIN, 0);
  check_both_signs(f, 0x1p-1074, 0);
  ck_assert(isnan(tf_float_decode(f->format, tf_float_encode(f->format, NAN))));
  uint32_t nan = tf_float_encode(f->format, NAN);
  ck_assert_uint_eq(tf_float_encode(f->format, copysign(NAN, -1)), nan | sign_bit(f));
}
END_TEST

#ifdef __FLT16_MAX__
__extension__ typedef _Float16 half_float;

START_TEST(half_agrees_with_the_compiler) {
  for (uint32_t code = 0; code < 0x10000; code++) {
    uint16_t bits = (uint16_t)code;
    half_float half;
    memcpy(&half, &bits, sizeof half);
    ck_assert(same(tf_float_decode(TF_FLOAT_F16, code), (double)half));
  }
  srand(11);
  for (int i = 0; i < 200000; i++) {
    float value = ldexpf((float)rand() / (float)RAND_MAX - 0.5f, rand() % 45 - 27);
    half_float half = (half_float)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F16, value), bits);
  }
}
END_TEST
#endif

static float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

START_TEST(truncated_formats_share_bits) {
  for (uint32_t code = 0; code < 0x10000; code++)
    ck_assert(same(tf_float_decode(TF_FLOAT_BF16, code), (double)float_of_bits(code << 16)));
  for (uint32_t code = 0; code < 0x80000; code++)
    ck_assert(same(tf_float_decode(TF_FLOAT_TF32, code << 13), (double)float_of_bits(code << 13)));
  for (uint32_t code = 0; code < 0x100; code++)
    ck_assert(same(tf_float_decode(TF_FLOAT_FP8E5M2, code), tf_float_decode(TF_FLOAT_F16, code << 8)));
  ck_assert_double_eq(tf_float_decode(TF_FLOAT_TF32, 0x3f801fff), 1.0);
}
END_TEST

START_TEST(known_values) {
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_BF16, 0.2691408770), tf_float_encode(TF_FLOAT_BF16, 0.26953125));
  ck_assert_double_eq(tf_float_decode(TF_FLOAT_BF16, tf_float_encode(TF_FLOAT_BF16, 0.2691408770)), 0.26953125);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_TF32, 1 + 0x1p-11), 0x3f802000);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_FP8E4M3, 1.0), 0x38);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_FP8E4M3, -0.0), 0x80);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_FP8E5M2, 1.0), 0x3c);
  /* One rounding only: through a float this would become the tie 1 + 2^-11 and then go down to 1. */
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
}
END_TEST

START_TEST(powers_of_two) {
  for (uint32_t code = 0; code < 255; code++) {
    double value = code < 127 ? 1.0 / pow(2, 127 - (int)code) : pow(2, (int)code - 127);
    ck_assert_double_eq(tf_float_decode(TF_FLOAT_F8E8M0, code), value);
    ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, value), code);
    if (code == 254) continue;
    ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, 1.5 * value), code + (code & 1));
    ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, nextafter(1.5 * value, 0)), code);
    ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, nextafter(1.5 * value, INFINITY)), code + 1);
  }
  ck_assert(isnan(tf_float_decode(TF_FLOAT_F8E8M0, 255)));
  const double to_nan[] = {NAN, -1.0, -0x1p-130, -INFINITY};
  for (unsigned i = 0; i < 4; i++)
    ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, to_nan[i]), 255);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, 0.0), 0);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, 0x1p-200), 0);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, 0x1p-1074), 0);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, INFINITY), 254);
  ck_assert_uint_eq(tf_float_encode(TF_FLOAT_F8E8M0, 1e300), 254);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("float");
  tcase_add_loop_test(c, every_code_decodes, 0, ALL);
  tcase_add_loop_test(c, every_code_survives, 0, ALL);
  tcase_add_loop_test(c, every_boundary_rounds, 0, ALL);
  tcase_add_loop_test(c, beyond_the_largest, 0, ALL);
#ifdef __FLT16_MAX__
  tcase_add_test(c, half_agrees_with_the_compiler);
#endif
  tcase_add_test(c, truncated_formats_share_bits);
  tcase_add_test(c, known_values);
  tcase_add_test(c, powers_of_two);
  return run_case("float", c);
}
