/* One table row per element type; DLPack's code follows from the class except for the floats that are not IEEE's. */
#include "Runtime/Element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "Support/Float.h"
#include "tilefoundry/Runtime.h"

/* Newer DLPack headers have these codes themselves. */
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION >= 1
_Static_assert(kDLBool == TF_DL_BOOL, "DLPack's code of bool");
#if DLPACK_MINOR_VERSION >= 1
_Static_assert(kDLFloat8_e4m3fn == TF_DL_FLOAT8_E4M3FN, "DLPack's code of fp8e4m3");
_Static_assert(kDLFloat8_e5m2 == TF_DL_FLOAT8_E5M2, "DLPack's code of fp8e5m2");
_Static_assert(kDLFloat8_e8m0fnu == TF_DL_FLOAT8_E8M0, "DLPack's code of f8e8m0");
_Static_assert(kDLFloat4_e2m1fn == TF_DL_FLOAT4_E2M1FN, "DLPack's code of f4e2m1");
#endif
#endif

static const struct {
  const char *name;
  unsigned bits;
  tf_element_class class;
} elements[] = {
#define TF_DTYPE(ENUM, NAME, BITS, CLASS, EXP, MAN) {NAME, BITS, TF_ELEMENT_CLASS_##CLASS},
#include <tilefoundry/DTypes.def>
#undef TF_DTYPE
};

const char *tf_element_name(tf_element element) {
  return elements[element].name;
}

unsigned tf_element_bits(tf_element element) {
  return elements[element].bits;
}

tf_element_class tf_element_get_class(tf_element element) {
  return elements[element].class;
}

bool tf_element_from_name(const char *name, tf_element *out) {
  for (unsigned i = 0; i < TF_ELEMENT_COUNT; i++)
    if (strcmp(elements[i].name, name) == 0) {
      *out = (tf_element)i;
      return true;
    }
  return false;
}

uint64_t tf_element_bytes(tf_element element, uint64_t count) {
  unsigned bits = elements[element].bits;
  return bits % 8 == 0 ? count * (bits / 8) : count / 2 + count % 2;
}

static uint8_t dlpack_code(tf_element element) {
  switch (element) {
  case TF_ELEMENT_BF16:
    return kDLBfloat;
  case TF_ELEMENT_FP8E4M3:
    return TF_DL_FLOAT8_E4M3FN;
  case TF_ELEMENT_FP8E5M2:
    return TF_DL_FLOAT8_E5M2;
  case TF_ELEMENT_F8E8M0:
    return TF_DL_FLOAT8_E8M0;
  case TF_ELEMENT_F4E2M1:
    return TF_DL_FLOAT4_E2M1FN;
  default:
    break;
  }
  static const uint8_t of_class[] = {[TF_ELEMENT_CLASS_BOOL] = TF_DL_BOOL,
                                     [TF_ELEMENT_CLASS_SINT] = kDLInt,
                                     [TF_ELEMENT_CLASS_UINT] = kDLUInt,
                                     [TF_ELEMENT_CLASS_FLOAT] = kDLFloat};
  return of_class[elements[element].class];
}

DLDataType tf_element_to_dlpack(tf_element element) {
  return (DLDataType){.code = dlpack_code(element), .bits = (uint8_t)elements[element].bits, .lanes = 1};
}

/* The language's name of what DLPack has no word for; null: it is none of the language's either. */
static const char *name_of_dlpack(DLDataType type) {
  for (unsigned i = 0; i < TF_ELEMENT_COUNT; i++) {
    DLDataType known = tf_element_to_dlpack((tf_element)i);
    if (known.code > TF_DL_BOOL && known.code == type.code && known.bits == type.bits) return elements[i].name;
  }
  return NULL;
}

void tf_dlpack_describe(DLDataType type, char *text, unsigned size) {
  static const char *const names[] = {[kDLInt] = "int",       [kDLUInt] = "uint",       [kDLFloat] = "float",
                                      [kDLBfloat] = "bfloat", [kDLComplex] = "complex", [TF_DL_BOOL] = "bool"};
  char lanes[16] = "";
  if (type.lanes != 1) snprintf(lanes, sizeof lanes, "x%u", type.lanes);
  bool known = type.code < sizeof names / sizeof names[0] && names[type.code];
  const char *name = known ? NULL : name_of_dlpack(type);
  if (known)
    snprintf(text, size, "%s%u%s", names[type.code], type.bits, lanes);
  else if (name)
    snprintf(text, size, "%s%s", name, lanes);
  else
    snprintf(text, size, "DLPack type code %u with %u bits%s", type.code, type.bits, lanes);
}

static const char *integer_bits(tf_element element, bool negative, uint64_t magnitude, uint64_t *out) {
  unsigned bits = elements[element].bits;
  bool is_signed = elements[element].class == TF_ELEMENT_CLASS_SINT;
  unsigned value_bits = elements[element].class == TF_ELEMENT_CLASS_BOOL ? 1 : is_signed ? bits - 1 : bits;
  uint64_t largest = value_bits == 64 ? UINT64_MAX : (UINT64_C(1) << value_bits) - 1;
  uint64_t limit = negative ? (is_signed ? largest + 1 : 0) : largest;
  if (magnitude > limit) return "the value is out of the dtype's range";
  uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  *out = (negative ? 0 - magnitude : magnitude) & mask;
  return NULL;
}

bool tf_element_float_format(tf_element element, tf_float_format *out) {
  switch (element) {
  case TF_ELEMENT_F16:
    *out = TF_FLOAT_F16;
    return true;
  case TF_ELEMENT_BF16:
    *out = TF_FLOAT_BF16;
    return true;
  case TF_ELEMENT_TF32:
    *out = TF_FLOAT_TF32;
    return true;
  case TF_ELEMENT_FP8E4M3:
    *out = TF_FLOAT_FP8E4M3;
    return true;
  case TF_ELEMENT_FP8E5M2:
    *out = TF_FLOAT_FP8E5M2;
    return true;
  case TF_ELEMENT_F8E8M0:
    *out = TF_FLOAT_F8E8M0;
    return true;
  default:
    return false;
  }
}

const char *tf_element_from_float(tf_element element, double value, uint64_t *out) {
  tf_float_format format;
  if (element == TF_ELEMENT_F64) {
    memcpy(out, &value, sizeof value);
  } else if (element == TF_ELEMENT_F32) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    *out = bits;
  } else if (tf_element_float_format(element, &format)) {
    *out = tf_float_encode(format, value);
  } else {
    return elements[element].class == TF_ELEMENT_CLASS_FLOAT ? "scalars of this dtype cannot be passed"
                                                             : "a floating-point value for an integer dtype";
  }
  return NULL;
}

/* The value of a float's bits; only for what tf_element_from_float made. */
static double float_value(tf_element element, uint64_t bits) {
  if (element == TF_ELEMENT_F64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (element == TF_ELEMENT_F32) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
  }
  tf_float_format format = TF_FLOAT_F16;
  (void)tf_element_float_format(element, &format);
  return tf_float_decode(format, (uint32_t)bits);
}

const char *tf_element_from_int(tf_element element, bool negative, uint64_t magnitude, uint64_t *out) {
  if (elements[element].class != TF_ELEMENT_CLASS_FLOAT) return integer_bits(element, negative, magnitude, out);
  double value = (double)magnitude;
  uint64_t bits = 0;
  const char *why = tf_element_from_float(element, negative ? -value : value, &bits);
  if (why) return why;
  double back = fabs(float_value(element, bits));
  /* 2^64 itself cannot be converted back, so the comparison is made below it. */
  if (!(back < 0x1p64) || (uint64_t)back != magnitude || back != value || (negative && float_value(element, bits) > 0))
    return "the integer is not exact in the dtype; pass a float";
  *out = bits;
  return NULL;
}

int64_t tf_element_integer(tf_element element, uint64_t bits) {
  unsigned width = elements[element].bits;
  if (elements[element].class != TF_ELEMENT_CLASS_SINT || width == 64) return (int64_t)bits;
  uint64_t sign = UINT64_C(1) << (width - 1);
  return (int64_t)((bits ^ sign) - sign);
}

const char *tf_element_from_bits(tf_element element, uint64_t bits, uint64_t *out) {
  unsigned width = elements[element].bits;
  if (width < 64 && bits >> width) return "the bits above the dtype's width are not zero";
  if (elements[element].class == TF_ELEMENT_CLASS_BOOL && bits > 1) return "a bool is 0 or 1";
  *out = bits;
  return NULL;
}
