/* Allocations, views, copies and fills. */
#include "Verify/Coverage.h"
#include "Verify/Dtypes.h"
#include "Verify/State.h"

#include "IR/Target.h"
#include "IR/View.h"

/* ---- Allocations ---------------------------------------------------------------------------------------------------------- */

static bool check_alloc_storage(tf_verifier *v, const tf_invocation *inv, const tf_type *type) {
  tf_storage storage = tf_type_storage(type);
  bool fits = v->host ? storage == TF_STORAGE_GMEM || storage == TF_STORAGE_HOST
                      : storage == TF_STORAGE_RMEM || storage == TF_STORAGE_SMEM;
  if (fits) return true;
  const char *hint = v->host ? "a CPU function allocates gmem or host"
                     : storage == TF_STORAGE_GMEM || storage == TF_STORAGE_HOST
                         ? "device code allocates rmem (one per thread) or smem (one per CTA); pass gmem as a parameter"
                         : "device code allocates rmem (one per thread) or smem (one per CTA)";
  TF_FAIL(v, v->stmt, inv->loc, ALLOC_STORAGE, storage == TF_STORAGE_NONE ? "none" : tf_storage_name(storage), hint);
  return false;
}

static void check_shared_limit(tf_verifier *v, const tf_invocation *inv, const tf_type *type) {
  const tf_view *view = v->let_var ? tf_view_of(v->context, v->let_var, NULL) : NULL;
  int64_t elements = view ? tf_static_or(view->storage_size, -1) : -1;
  int64_t limit = tf_target_smem_limit(v->target), size = (tf_dtype_bits(tf_type_dtype(type)) + 7) / 8;
  if (elements > limit / size)
    TF_FAIL(v, v->stmt, inv->loc, ALLOC_SHARED_LIMIT, v->let_var->var.name, (long long)elements, (long long)size,
            tf_target_name(v->target), (long long)limit);
}

/* That the local part is static, and that there is a rank, is part of the type's inference. */
void tf_verify_ALLOC_TENSOR(tf_verifier *v, const tf_invocation *inv) {
  const tf_type *type = inv->attrs[TF_ATTRIBUTE_ALLOC_TENSOR_tensor_type].type;
  for (unsigned axis = 0; axis < tf_type_rank(type); axis++) {
    int64_t min, max;
    tf_dim_range(tf_type_extent(type, axis), &min, &max);
    if (min < 0) {
      TF_FAIL(v, v->stmt, inv->loc, EXTENT_NEGATIVE, axis, tf_dim_print(v->context, tf_type_extent(type, axis)));
      return;
    }
  }
  if (!check_alloc_storage(v, inv, type)) return;
  if (!tf_verify_layout(v, v->stmt, inv->loc, tf_type_layout(type))) return;
  if (tf_type_storage(type) == TF_STORAGE_SMEM) check_shared_limit(v, inv, type);
}

/* ---- Views ------------------------------------------------------------------------------------------------------------------- */

void tf_verify_MEMORY_SPAN(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_PTR_OF(tf_verifier *v, const tf_invocation *inv) {
  (void)v;
  (void)inv;
}

void tf_verify_TENSOR_VIEW(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *clip = inv->attrs[TF_ATTRIBUTE_TENSOR_VIEW_clip].literal;
  if (!tf_verify_layout(v, v->stmt, inv->loc, inv->attrs[TF_ATTRIBUTE_TENSOR_VIEW_layout].layout) || !clip) return;
  tf_verify_stored_scalar(v, inv, clip, tf_type_dtype(inv->args[TF_ARG_TENSOR_VIEW_memory]->type));
}

/* ---- Copies and fills --------------------------------------------------------------------------------------------------------- */

static bool check_copy_storage(tf_verifier *v, const tf_expr *source, const tf_expr *destination) {
  tf_storage from = tf_type_storage(source->type), to = tf_type_storage(destination->type);
  if (!v->host || from == TF_STORAGE_GMEM || to == TF_STORAGE_GMEM) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, COPY_HOST, tf_storage_name(from), tf_storage_name(to));
  return false;
}

static const char *count_text(tf_verifier *v, const tf_dim *count) {
  return count ? tf_dim_print(v->context, count) : "more than 64 bits can count";
}

bool tf_verify_copy_types(tf_verifier *v, const tf_invocation *inv, const tf_expr *source, const tf_expr *destination) {
  const char *op = tf_op_get_info(inv->op)->name;
  tf_dtype from = tf_type_dtype(source->type), to = tf_type_dtype(destination->type);
  if (from != to) {
    TF_FAIL(v, v->stmt, v->stmt->loc, COPY_DTYPE, op, tf_dtype_name(from), tf_dtype_name(to));
    return false;
  }
  const tf_dim *count = tf_type_numel(v->context, source->type), *wanted = tf_type_numel(v->context, destination->type);
  if (count == wanted && count) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, COPY_COUNT, op, count_text(v, count), count_text(v, wanted));
  return false;
}

void tf_verify_COPY(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *source = inv->args[TF_ARG_COPY_source], *destination = inv->args[TF_ARG_COPY_destination];
  if (!tf_verify_operands(v, inv) || !check_copy_storage(v, source, destination)) return;
  if (!tf_verify_copy_types(v, inv, source, destination)) return;
  tf_verify_coverage(v, inv, destination, 1, &source, true);
}

void tf_verify_FILL(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *tensor = inv->args[TF_ARG_FILL_tensor], *value = inv->args[TF_ARG_FILL_value];
  if (!tf_verify_operands(v, inv) || !tf_verify_stored_scalar(v, inv, value, tf_type_dtype(tensor->type))) return;
  tf_verify_coverage(v, inv, tensor, 0, NULL, false);
}
