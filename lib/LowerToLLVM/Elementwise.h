/* What the element-wise families share. */
#ifndef TF_LOWER_ELEMENTWISE_H
#define TF_LOWER_ELEMENTWISE_H

#include "LowerToLLVM/Access.h"

/* A scalar operand in a tensor's dtype: literals are rounded once from their value as written, other scalars converted as
 * the unary kind cast does. */
tf_operand tf_operand_as(tf_lowering *lowering, const tf_expr *value, tf_dtype dtype);

#endif
