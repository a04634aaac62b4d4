/* Who calls whom, and what binds to a callee's parameters. */
#ifndef TF_VERIFY_CALLS_H
#define TF_VERIFY_CALLS_H

#include "IR/Nodes.h"

/* Visits every call of the function in source order: calls, launches and dispatch cases. stmt is the EVALUATE. */
typedef void tf_call_visit_fn(void *user, const tf_stmt *stmt, const tf_expr *symbol);
void tf_for_each_call(const tf_stmt *function, tf_call_visit_fn *visit, void *user);

/* DimVars of a callee and what a call puts for them. */
typedef struct tf_dim_binding {
  const char *name; /* interned */
  const tf_dim *value;
} tf_dim_binding;

typedef struct tf_dim_bindings {
  unsigned count;
  tf_dim_binding items[32];
} tf_dim_bindings;

/* The dim with its DimVars replaced; a name without a binding stays. Null if the result cannot be represented. */
const tf_dim *tf_dim_bound(tf_context *context, const tf_dim *dim, const tf_dim_bindings *bindings);
/* The same for every dim of a layout or mesh; null gives null. */
const tf_layout *tf_layout_bound(tf_context *context, const tf_layout *layout, const tf_dim_bindings *bindings);

/* If dim is V or c*V for one DimVar V and a number c > 0: its name, range and c. */
bool tf_dim_is_scaled_var(tf_context *context, const tf_dim *dim, const char **name, int64_t *lo, int64_t *hi,
                          int64_t *scale);

#endif
