/* Look-ups in the tables of DTypes.def and Kinds.def. Every function below is a reader of a table: adding a row there
 * is all that a new dtype, storage, level or kind needs here. */
#include <tilefoundry/Type.h>

#include <string.h>

#include "IR/KindTables.h"

/* NAME_name and NAME_from_name over a table of strings; the array's bound is the enum's COUNT. */
#define DEFINE_NAME(NOUN, TYPE)                                                                                        \
  const char *tf_##NOUN##_name(TYPE value) {                                                                           \
    return name_at(NOUN##_names, sizeof NOUN##_names / sizeof *NOUN##_names, (int)value);                              \
  }
#define DEFINE_FROM_NAME(NOUN, TYPE)                                                                                   \
  bool tf_##NOUN##_from_name(const char *name, TYPE *out) {                                                            \
    int value = find_name(NOUN##_names, sizeof NOUN##_names / sizeof *NOUN##_names, name);                             \
    if (value < 0) return false;                                                                                       \
    if (out) *out = (TYPE)value;                                                                                       \
    return true;                                                                                                       \
  }

static const char *name_at(const char *const *names, size_t count, int value) {
  return value >= 0 && (size_t)value < count ? names[value] : "unknown";
}

static int find_name(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; name && i < count; i++)
    if (strcmp(names[i], name) == 0) return (int)i;
  return -1;
}

typedef struct dtype_row {
  unsigned bits;
  tf_dtype_class class;
  unsigned exponent, mantissa;
} dtype_row;

static const dtype_row dtype_rows[] = {
#define TF_DTYPE(ENUM, NAME, BITS, CLASS, EXP, MAN) {BITS, TF_CLASS_##CLASS, EXP, MAN},
#include <tilefoundry/DTypes.def>
#undef TF_DTYPE
};

static const char *const dtype_names[] = {
#define TF_DTYPE(ENUM, NAME, BITS, CLASS, EXP, MAN) NAME,
#include <tilefoundry/DTypes.def>
#undef TF_DTYPE
};
static const char *const storage_names[] = {
#define TF_STORAGE(ENUM, NAME) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const storage_enums[] = {
#define TF_STORAGE(ENUM, NAME) #ENUM,
#include <tilefoundry/Kinds.def>
};
static const char *const level_names[] = {
#define TF_LEVEL(ENUM, NAME) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const binary_names[] = {
#define TF_BINARY(ENUM, NAME) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const unary_names[] = {
#define TF_UNARY(ENUM, NAME) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const reduce_names[] = {
#define TF_REDUCE(ENUM, NAME) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const scalar_binary_names[] = {
#define TF_SCALAR_BINARY(ENUM, NAME, SPELLING, PREC) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const scalar_unary_names[] = {
#define TF_SCALAR_UNARY(ENUM, NAME, SPELLING, PREC) NAME,
#include <tilefoundry/Kinds.def>
};
static const char *const launch_attr_names[] = {
#define TF_LAUNCH_ATTR(ENUM, NAME) NAME,
#include <tilefoundry/Kinds.def>
};

DEFINE_NAME(dtype, tf_dtype)
DEFINE_FROM_NAME(dtype, tf_dtype)
DEFINE_NAME(storage, tf_storage)
DEFINE_FROM_NAME(storage, tf_storage)
DEFINE_NAME(level, tf_level)
DEFINE_FROM_NAME(level, tf_level)
DEFINE_NAME(binary, tf_binary_kind)
DEFINE_FROM_NAME(binary, tf_binary_kind)
DEFINE_NAME(unary, tf_unary_kind)
DEFINE_FROM_NAME(unary, tf_unary_kind)
DEFINE_NAME(reduce, tf_reduce_kind)
DEFINE_FROM_NAME(reduce, tf_reduce_kind)
DEFINE_NAME(scalar_binary, tf_scalar_binary_kind)
DEFINE_NAME(scalar_unary, tf_scalar_unary_kind)
DEFINE_NAME(launch_attr, tf_launch_attr_kind)
DEFINE_FROM_NAME(launch_attr, tf_launch_attr_kind)

static dtype_row dtype_row_of(tf_dtype dtype) {
  return (unsigned)dtype < TF_DTYPE_COUNT ? dtype_rows[dtype] : (dtype_row){0, TF_CLASS_BOOL, 0, 0};
}

unsigned tf_dtype_bits(tf_dtype dtype) {
  return dtype_row_of(dtype).bits;
}

tf_dtype_class tf_dtype_get_class(tf_dtype dtype) {
  return dtype_row_of(dtype).class;
}

unsigned tf_dtype_exponent_bits(tf_dtype dtype) {
  return dtype_row_of(dtype).exponent;
}

unsigned tf_dtype_mantissa_bits(tf_dtype dtype) {
  return dtype_row_of(dtype).mantissa;
}

const char *tf_storage_enumerator(tf_storage storage) {
  return name_at(storage_enums, TF_STORAGE_COUNT, (int)storage);
}

typedef struct operator_row {
  const char *spelling;
  int precedence;
} operator_row;

static const operator_row binary_operators[] = {
#define TF_SCALAR_BINARY(ENUM, NAME, SPELLING, PREC) {SPELLING, PREC},
#include <tilefoundry/Kinds.def>
};
static const operator_row unary_operators[] = {
#define TF_SCALAR_UNARY(ENUM, NAME, SPELLING, PREC) {SPELLING, PREC},
#include <tilefoundry/Kinds.def>
};

const char *tf_scalar_binary_spelling(tf_scalar_binary_kind kind) {
  return (unsigned)kind < TF_SCALAR_BINARY_COUNT ? binary_operators[kind].spelling : "unknown";
}

int tf_scalar_binary_precedence(tf_scalar_binary_kind kind) {
  return (unsigned)kind < TF_SCALAR_BINARY_COUNT ? binary_operators[kind].precedence : 0;
}

const char *tf_scalar_unary_spelling(tf_scalar_unary_kind kind) {
  return (unsigned)kind < TF_SCALAR_UNARY_COUNT ? unary_operators[kind].spelling : "unknown";
}

int tf_scalar_unary_precedence(tf_scalar_unary_kind kind) {
  return (unsigned)kind < TF_SCALAR_UNARY_COUNT ? unary_operators[kind].precedence : 0;
}
