/* Element types as the manifest names them, generated from DTypes.def, and what DLPack calls them. */
#ifndef TF_RUNTIME_ELEMENT_H
#define TF_RUNTIME_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "Support/Float.h"

#include <dlpack/dlpack.h>

typedef enum tf_element {
#define TF_DTYPE(ENUM, NAME, BITS, CLASS, EXP, MAN) TF_ELEMENT_##ENUM,
#include <tilefoundry/DTypes.def>
#undef TF_DTYPE
  TF_ELEMENT_COUNT
} tf_element;

typedef enum tf_element_class {
  TF_ELEMENT_CLASS_BOOL,
  TF_ELEMENT_CLASS_SINT,
  TF_ELEMENT_CLASS_UINT,
  TF_ELEMENT_CLASS_FLOAT
} tf_element_class;

const char *tf_element_name(tf_element element);
unsigned tf_element_bits(tf_element element);
/* The small format (Support/Float.h) of a float that C lacks; false for all other types. */
bool tf_element_float_format(tf_element element, tf_float_format *out);
tf_element_class tf_element_get_class(tf_element element);
bool tf_element_from_name(const char *name, tf_element *out);

/* Bytes of `count` elements; sub-byte elements are packed and the last byte is filled up. */
uint64_t tf_element_bytes(tf_element element, uint64_t count);

DLDataType tf_element_to_dlpack(tf_element element);

/* "float32", "bfloat16x2", "code 9 with 8 bits": how a DLPack type reads in a message. Writes into text. */
void tf_dlpack_describe(DLDataType type, char *text, unsigned size);

/* A scalar argument's bits in an element type. The three return a static text that says why it cannot be, or null and
 * the bits in *out: an integer must be representable (in a float exactly), a float fits only floats and is rounded
 * once, bits must leave everything above the type's width zero. */
const char *tf_element_from_int(tf_element element, bool negative, uint64_t magnitude, uint64_t *out);
const char *tf_element_from_float(tf_element element, double value, uint64_t *out);
const char *tf_element_from_bits(tf_element element, uint64_t bits, uint64_t *out);

/* The number that the bits of an integer or bool stand for; of u64 beyond 63 bits, modulo 2^64. */
int64_t tf_element_integer(tf_element element, uint64_t bits);

#endif
