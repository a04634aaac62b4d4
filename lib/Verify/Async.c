/* Asynchronous copies. */
#include "Verify/Coverage.h"
#include "Verify/Dtypes.h"
#include "Verify/State.h"

void tf_verify_COPY_ASYNC(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *source = inv->args[TF_ARG_COPY_ASYNC_source], *destination = inv->args[TF_ARG_COPY_ASYNC_destination];
  if (!tf_verify_operands(v, inv)) return;
  tf_storage from = tf_type_storage(source->type), to = tf_type_storage(destination->type);
  if (from != TF_STORAGE_GMEM || to != TF_STORAGE_SMEM) {
    TF_FAIL(v, v->stmt, v->stmt->loc, COPY_ASYNC_STORAGE, tf_storage_name(from), tf_storage_name(to));
    return;
  }
  if (!tf_verify_copy_types(v, inv, source, destination)) return;
  tf_verify_coverage(v, inv, destination, 1, &source, true);
}

void tf_verify_CP_ASYNC_COMMIT(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_CP_ASYNC_WAIT(tf_verifier *v, const tf_invocation *inv) {
  int64_t n = inv->attrs[TF_ATTRIBUTE_CP_ASYNC_WAIT_n].i;
  if (n < 0 || n > INT32_MAX) TF_FAIL(v, v->stmt, v->stmt->loc, CP_ASYNC_COUNT, (long long)n);
}
