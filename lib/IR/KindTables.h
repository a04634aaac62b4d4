/* Columns of DTypes.def and Kinds.def that only the compiler's own folders read. An unknown value gives 0 or "unknown".
 * Static storage, thread-safe. */
#ifndef TF_IR_KIND_TABLES_H
#define TF_IR_KIND_TABLES_H

#include <tilefoundry/Type.h>

unsigned tf_dtype_exponent_bits(tf_dtype dtype);
unsigned tf_dtype_mantissa_bits(tf_dtype dtype);
/* The enumerator as source text spells it after "StorageKind.", e.g. "RMEM". */
const char *tf_storage_enumerator(tf_storage storage);
/* The operator, or the name of the function where Python has none; Python's precedence, 100 for calls. */
const char *tf_scalar_binary_spelling(tf_scalar_binary_kind kind);
int tf_scalar_binary_precedence(tf_scalar_binary_kind kind);
const char *tf_scalar_unary_spelling(tf_scalar_unary_kind kind);
int tf_scalar_unary_precedence(tf_scalar_unary_kind kind);

#endif
