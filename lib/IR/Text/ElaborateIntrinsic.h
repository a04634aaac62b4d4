/* @intrinsic: user-defined effect statements, declared in text. */
#ifndef TF_IR_ELABORATE_INTRINSIC_H
#define TF_IR_ELABORATE_INTRINSIC_H

#include "IR/Text/Static.h"

/* What an intrinsic keeps of its declaration: the tree, and the values of the static names that its conditions mention. */
struct tf_syntax {
  const tf_node *def;
  unsigned static_count;
  const char *const *names;
  const tf_value *values;
};

/* Evaluates the declaration's conditions for one use (an INTRINSIC statement) and reports those that do not hold, or that
 * cannot be decided at compile time. An intrinsic without conditions holds. */
bool tf_intrinsic_check(tf_context *context, const tf_stmt *stmt);

/* The declaration as canonical text. */
void tf_intrinsic_append(tf_context *context, tf_string *out, const tf_intrinsic *intrinsic);

/* Same name, parameters, template and conditions. */
bool tf_intrinsic_equal(tf_context *context, const tf_intrinsic *a, const tf_intrinsic *b);

#endif
