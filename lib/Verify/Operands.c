/* What every op asks of its tensor operands, read from the op table's predicates. */
#include "Verify/InPlace.h"
#include "Verify/State.h"

#include "IR/View.h"

bool tf_is_literal(const tf_expr *expr) {
  return expr->kind == TF_EXPR_CONSTANT;
}

static const tf_operand_info *operand_info(const tf_op_info *info, unsigned index) {
  return &info->operands[index < info->operand_count ? index : info->operand_count - 1];
}

static bool storage_fits(const tf_verifier *v, tf_storage storage) {
  bool host = storage == TF_STORAGE_HOST, device = storage == TF_STORAGE_SMEM || storage == TF_STORAGE_RMEM;
  return storage == TF_STORAGE_GMEM || (v->host ? host : device);
}

static bool check_storage(tf_verifier *v, const tf_invocation *inv, const tf_operand_info *operand,
                          const tf_expr *arg) {
  tf_storage storage = tf_type_storage(arg->type);
  if (storage_fits(v, storage)) return true;
  TF_FAIL(v, arg, tf_verifier_loc(v, arg), OPERAND_STORAGE, operand->name, tf_op_get_info(inv->op)->name,
          storage == TF_STORAGE_NONE ? "none" : tf_storage_name(storage),
          v->host ? "host code reaches host and gmem" : "device code reaches gmem, smem and rmem");
  return false;
}

static bool check_written(tf_verifier *v, const tf_invocation *inv, const tf_operand_info *operand,
                          const tf_expr *arg) {
  const tf_expr *root = tf_verifier_root(v, arg);
  if (root->kind != TF_EXPR_VAR || !root->var.is_const) return true;
  if (TF_FAIL(v, arg, tf_verifier_loc(v, arg), CONST_WRITTEN, operand->name, tf_op_get_info(inv->op)->name,
              root->var.name))
    tf_report(v->context, root->loc, PARAMETER_HERE, root->var.name, tf_type_print(v->context, root->type));
  return false;
}

static bool check_partial(tf_verifier *v, const tf_invocation *inv, const tf_operand_info *operand,
                          const tf_expr *arg) {
  const tf_view *view = tf_view_of(v->context, arg, NULL);
  if (!view || !view->ownership || !view->ownership->partial) return true;
  TF_FAIL(v, arg, tf_verifier_loc(v, arg), PARTIAL_READ, operand->name, tf_op_get_info(inv->op)->name);
  return false;
}

static bool check_packed(tf_verifier *v, const tf_invocation *inv, const tf_operand_info *operand, const tf_expr *arg) {
  if (tf_dtype_bits(tf_type_dtype(arg->type)) >= 8) return true;
  TF_FAIL(v, arg, tf_verifier_loc(v, arg), OPERAND_PACKED, operand->name, tf_op_get_info(inv->op)->name,
          tf_dtype_name(tf_type_dtype(arg->type)));
  return false;
}

static bool check_operand(tf_verifier *v, const tf_invocation *inv, const tf_operand_info *operand, const tf_expr *arg,
                          bool partial) {
  bool good = check_storage(v, inv, operand, arg) && check_packed(v, inv, operand, arg);
  if (operand->predicate == TF_PRED_DST) return good && check_written(v, inv, operand, arg);
  return good && (partial || check_partial(v, inv, operand, arg));
}

static bool check_operands(tf_verifier *v, const tf_invocation *inv, bool partial) {
  const tf_op_info *info = tf_op_get_info(inv->op);
  bool good = true;
  for (unsigned i = 0; i < inv->arg_count; i++)
    if (tf_is_tensor_operand(inv->args[i])) good &= check_operand(v, inv, operand_info(info, i), inv->args[i], partial);
  return good;
}

bool tf_verify_operands(tf_verifier *v, const tf_invocation *inv) {
  return check_operands(v, inv, false);
}

bool tf_verify_operands_partial(tf_verifier *v, const tf_invocation *inv) {
  return check_operands(v, inv, true);
}

/* ---- Meshes of layouts ------------------------------------------------------------------------------------------------------ */

static bool check_threads(tf_verifier *v, const void *anchor, tf_loc loc, const tf_placement *placement) {
  for (int64_t t = tf_threads_next(&v->region.active, 0); t >= 0; t = tf_threads_next(&v->region.active, t + 1)) {
    if (tf_placement_coordinates(placement, -1, t, NULL)) continue;
    if (TF_FAIL(v, anchor, loc, THREAD_OUTSIDE_MESH, (long long)t, tf_mesh_print(v->context, placement->mesh)))
      tf_verifier_scope_notes(v);
    return false;
  }
  return true;
}

bool tf_verify_layout(tf_verifier *v, const void *anchor, tf_loc loc, const tf_layout *layout) {
  if (!tf_layout_is_shard(layout) || v->host) return true;
  const tf_placement *placement = tf_region_placement(&v->region, tf_layout_mesh(layout), NULL);
  if (placement) return check_threads(v, anchor, loc, placement);
  if (TF_FAIL(v, anchor, loc, MESH_NOT_IN_SCOPE, tf_mesh_print(v->context, tf_layout_mesh(layout))))
    tf_verifier_scope_notes(v);
  return false;
}
