/* Integer arithmetic of the manifest: evaluating its expressions and solving DimVars from tensors' extents.
 *
 * Python's rules on 64 bits: // and % floor; overflow and division by zero are errors, never wrapped values. */
#ifndef TF_RUNTIME_DIMS_H
#define TF_RUNTIME_DIMS_H

#include "Runtime/Manifest.h"

/* The most axes of a tensor argument. */
#define TF_MAX_RANK 32

/* A tensor whose dtype, device and layout are known to be right. */
typedef struct tf_tensor {
  uint64_t data; /* address of element (0, …, 0) */
  const int64_t *shape;
} tf_tensor;

/* The value of a declared parameter. */
typedef union tf_value {
  tf_tensor tensor;
  uint64_t bits;
} tf_value;

/* What an expression may refer to. Arrays are indexed by the manifest's dims and by the signature's parameters; entries
 * that no expression uses may be anything. */
typedef struct tf_menv {
  const int64_t *dims;
  const tf_value *values;
} tf_menv;

/* Evaluates what is more than a number or a DimVar. */
const char *tf_mexpr_eval_rest(const tf_mexpr *expr, const tf_menv *env, int64_t *out);

/* Evaluates; returns null and the value in *out, or a static text that says what went wrong. The two forms that nearly
 * every expression has cost no call. */
static inline const char *tf_mexpr_eval(const tf_mexpr *expr, const tf_menv *env, int64_t *out) {
  if (expr->op != TF_MOP_CONST && expr->op != TF_MOP_VAR) return tf_mexpr_eval_rest(expr, env, out);
  *out = expr->op == TF_MOP_CONST ? expr->value : env->dims[expr->index];
  return NULL;
}

/* True if the expression is V or c * V (c > 0): then *dim is V and *factor is c. */
bool tf_mexpr_is_multiple(const tf_mexpr *expr, unsigned *dim, int64_t *factor);

/* Infix text for messages ("4*S", "ceildiv(S, 128)"), cut off at size - 1 characters. */
void tf_mexpr_format(const tf_manifest *manifest, const tf_msignature *signature, const tf_mexpr *expr, char *text,
                     size_t size);

/* Where to write why something is refused. */
typedef struct tf_why {
  char *text;
  size_t size;
} tf_why;
tf_status tf_why_set(const tf_why *why, tf_status status, const char *format, ...) TF_PRINTF(3, 4);

/* Solves the signature's DimVars from the extents of its tensors (of the values only their shapes are read), into dims[],
 * then compares every axis with its expression. All extents are below 2^31 afterwards. TF_LAUNCH with a reason. */
TF_NODISCARD tf_status tf_dims_solve(const tf_manifest *manifest, const tf_msignature *signature,
                                     const tf_value *values, int64_t *dims, const tf_why *why);

#endif
