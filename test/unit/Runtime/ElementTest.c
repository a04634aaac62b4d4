/* Element types against DLPack's codes written down once more here, and scalars at the ends of every type's range. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "Harness.h"
#include "Runtime/Element.h"
#include "tilefoundry/Runtime.h"

static const struct {
  const char *name;
  unsigned code, bits;
} dlpack[] = {{"bool", 6, 8},     {"i4", 0, 4},       {"i8", 0, 8},      {"i16", 0, 16},   {"i32", 0, 32},
              {"i64", 0, 64},     {"u8", 1, 8},       {"u16", 1, 16},    {"u32", 1, 32},   {"u64", 1, 64},
              {"f16", 2, 16},     {"bf16", 4, 16},    {"tf32", 2, 32},   {"f32", 2, 32},   {"f64", 2, 64},
              {"fp8e4m3", 10, 8}, {"fp8e5m2", 12, 8}, {"f8e8m0", 14, 8}, {"f4e2m1", 17, 4}};

START_TEST(dlpack_types) {
  ck_assert_uint_eq(sizeof dlpack / sizeof dlpack[0], TF_ELEMENT_COUNT);
  for (unsigned i = 0; i < TF_ELEMENT_COUNT; i++) {
    tf_element e;
    ck_assert_msg(tf_element_from_name(dlpack[i].name, &e), "%s", dlpack[i].name);
    DLDataType t = tf_element_to_dlpack(e);
    ck_assert_msg(t.code == dlpack[i].code && t.bits == dlpack[i].bits && t.lanes == 1, "%s", dlpack[i].name);
    ck_assert_uint_eq(tf_element_bits(e), dlpack[i].bits);
    ck_assert_str_eq(tf_element_name(e), dlpack[i].name);
  }
  tf_element e;
  ck_assert(!tf_element_from_name("float", &e));
  ck_assert_uint_eq(tf_element_bytes(TF_ELEMENT_I4, 5), 3);
  ck_assert_uint_eq(tf_element_bytes(TF_ELEMENT_F64, 5), 40);
  char text[64];
  tf_dlpack_describe((DLDataType){kDLBfloat, 16, 2}, text, sizeof text);
  ck_assert_str_eq(text, "bfloat16x2");
  tf_dlpack_describe((DLDataType){TF_DL_FLOAT8_E4M3FN, 8, 4}, text, sizeof text);
  ck_assert_str_eq(text, "fp8e4m3x4");
  tf_dlpack_describe((DLDataType){TF_DL_FLOAT4_E2M1FN, 4, 1}, text, sizeof text);
  ck_assert_str_eq(text, "f4e2m1");
  tf_dlpack_describe((DLDataType){TF_DL_FLOAT4_E2M1FN, 8, 1}, text, sizeof text);
  ck_assert_str_eq(text, "DLPack type code 17 with 8 bits");
  tf_dlpack_describe((DLDataType){99, 16, 1}, text, sizeof text);
  ck_assert_str_eq(text, "DLPack type code 99 with 16 bits");
}
END_TEST

static const struct {
  tf_element element;
  bool negative;
  uint64_t magnitude;
  bool ok;
  uint64_t bits;
} integers[] = {
    {TF_ELEMENT_I8, false, 127, true, 0x7f},
    {TF_ELEMENT_I8, false, 128, false, 0},
    {TF_ELEMENT_I8, true, 128, true, 0x80},
    {TF_ELEMENT_I8, true, 129, false, 0},
    {TF_ELEMENT_U8, false, 255, true, 0xff},
    {TF_ELEMENT_U8, false, 256, false, 0},
    {TF_ELEMENT_U8, true, 1, false, 0},
    {TF_ELEMENT_U8, true, 0, true, 0},
    {TF_ELEMENT_I32, true, 2147483648u, true, 0x80000000u},
    {TF_ELEMENT_I64, true, UINT64_C(1) << 63, true, UINT64_C(1) << 63},
    {TF_ELEMENT_I64, false, UINT64_C(1) << 63, false, 0},
    {TF_ELEMENT_U64, false, UINT64_MAX, true, UINT64_MAX},
    {TF_ELEMENT_BOOL, false, 1, true, 1},
    {TF_ELEMENT_BOOL, false, 2, false, 0},
    {TF_ELEMENT_F32, false, 16777216, true, 0x4b800000},
    {TF_ELEMENT_F32, false, 16777217, false, 0},
    {TF_ELEMENT_F32, true, 3, true, 0xc0400000},
    {TF_ELEMENT_F64, false, (UINT64_C(1) << 53) + 1, false, 0},
    {TF_ELEMENT_F64, false, UINT64_MAX, false, 0}, /* rounds to 2^64 */
    {TF_ELEMENT_F16, false, 2049, false, 0},
    {TF_ELEMENT_F16, false, 2050, true, 0x6801},
    {TF_ELEMENT_F16, false, 65536, false, 0}, /* infinity */
    {TF_ELEMENT_BF16, true, 256, true, 0xc380},
    {TF_ELEMENT_BF16, false, 257, false, 0},
    {TF_ELEMENT_FP8E4M3, false, 448, true, 0x7e},
    {TF_ELEMENT_FP8E4M3, false, 449, false, 0}, /* saturates */
    {TF_ELEMENT_TF32, false, 2048, true, 0x45000000},
};

START_TEST(integer_scalars) {
  uint64_t bits = 0x55;
  const char *why = tf_element_from_int(integers[_i].element, integers[_i].negative, integers[_i].magnitude, &bits);
  ck_assert_msg((why == NULL) == integers[_i].ok, "%d: %s", _i, why ? why : "accepted");
  ck_assert_uint_eq(bits, integers[_i].ok ? integers[_i].bits : 0x55);
}
END_TEST

START_TEST(float_and_raw_scalars) {
  uint64_t bits = 0;
  ck_assert_ptr_null(tf_element_from_float(TF_ELEMENT_F32, 0.1, &bits));
  ck_assert_uint_eq(bits, 0x3dcccccd);
  ck_assert_ptr_null(tf_element_from_float(TF_ELEMENT_F64, 0.1, &bits));
  ck_assert_uint_eq(bits, UINT64_C(0x3fb999999999999a));
  ck_assert_ptr_null(tf_element_from_float(TF_ELEMENT_BF16, 0.1, &bits));
  ck_assert_uint_eq(bits, 0x3dcd);
  ck_assert_ptr_null(tf_element_from_float(TF_ELEMENT_F16, INFINITY, &bits));
  ck_assert_uint_eq(bits, 0x7c00);
  ck_assert_ptr_nonnull(tf_element_from_float(TF_ELEMENT_I32, 1.0, &bits));
  ck_assert_ptr_nonnull(tf_element_from_float(TF_ELEMENT_F4E2M1, 1.0, &bits));
  ck_assert_ptr_null(tf_element_from_bits(TF_ELEMENT_F16, 0xffff, &bits));
  ck_assert_uint_eq(bits, 0xffff);
  ck_assert_ptr_nonnull(tf_element_from_bits(TF_ELEMENT_F16, 0x10000, &bits));
  ck_assert_ptr_nonnull(tf_element_from_bits(TF_ELEMENT_BOOL, 2, &bits));
  ck_assert_ptr_null(tf_element_from_bits(TF_ELEMENT_U64, UINT64_MAX, &bits));
}
END_TEST

int main(void) {
  TCase *c = tcase_create("element");
  tcase_add_test(c, dlpack_types);
  tcase_add_loop_test(c, integer_scalars, 0, sizeof integers / sizeof integers[0]);
  tcase_add_test(c, float_and_raw_scalars);
  return run_case("element", c);
}
