/* Element types of element-wise statements: which mix, and which literals fit. */
#ifndef TF_VERIFY_DTYPES_H
#define TF_VERIFY_DTYPES_H

#include "Verify/State.h"

/* A scalar that is stored as it is (fill, and a callee's scalar parameter): the same dtype, a literal, or an i64 into an integer
 * tensor; a constant has to lie in the dtype's range. False after a report. */
bool tf_verify_stored_scalar(tf_verifier *verifier, const tf_invocation *invocation, const tf_expr *value,
                             tf_dtype dtype);

/* An operand of an element-wise op beside others: a float literal that is integral counts as that integer where `integers` is
 * set (some tensor of the statement has an integer dtype); any other float literal is refused there. *dtype receives the type
 * it computes in; `adapts` is set for a literal, which takes the type of what it meets. */
typedef struct tf_operand_type {
  tf_dtype dtype;
  bool adapts;
} tf_operand_type;
bool tf_verify_operand_type(tf_verifier *verifier, const tf_invocation *invocation, const tf_expr *operand,
                            bool integers, tf_operand_type *out);

/* The common type of two operands: literals adapt, numbers do not mix with bools. False after a report. */
bool tf_verify_common(tf_verifier *verifier, const tf_invocation *invocation, tf_operand_type a, tf_operand_type b,
                      tf_operand_type *out);

/* copy's rule for two tensors: one dtype and element count. */
bool tf_verify_copy_types(tf_verifier *verifier, const tf_invocation *invocation, const tf_expr *source,
                          const tf_expr *destination);

#endif
