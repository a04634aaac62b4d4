/* Reductions: shapes, dtypes, the threads that have to meet, and the workspace between warps. */
#include "Verify/Coverage.h"
#include "Verify/ReducePlan.h"
#include "Verify/State.h"

static const char *shape_text(tf_verifier *v, const tf_type *type) {
  tf_string text;
  tf_string_init(&text, &v->context->arena);
  tf_string_puts(&text, "(");
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    tf_string_printf(&text, "%s%s", i ? ", " : "", tf_dim_print(v->context, tf_type_extent(type, i)));
  tf_string_puts(&text, tf_type_rank(type) == 1 ? ",)" : ")");
  return text.text;
}

/* ---- Axes and shapes ------------------------------------------------------------------------------------------------------- */

static bool read_axes(tf_verifier *v, const tf_tuple *axes, unsigned rank, bool reduced[TF_MAX_RANK]) {
  for (unsigned i = 0; axes && i < tf_tuple_leaf_count(axes); i++) {
    const tf_tuple *leaf = tf_tuple_is_leaf(axes) ? axes : tf_tuple_element(axes, i);
    int64_t named = tf_static_or(tf_tuple_dim(leaf), INT64_MAX), axis = named < 0 ? named + rank : named;
    if (axis < 0 || axis >= rank) {
      TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_AXIS, (long long)named, rank);
      return false;
    }
    if (reduced[axis]) {
      TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_AXIS_TWICE, (long long)named);
      return false;
    }
    reduced[axis] = true;
  }
  return true;
}

/* Which source axis each axis of the destination is: all of them with the reduced ones at extent 1, or the others only. */
static bool match_shape(const tf_type *source, const tf_type *destination, const bool *reduced, bool keep,
                        unsigned source_axis[TF_MAX_RANK]) {
  unsigned count = 0;
  for (unsigned axis = 0; axis < tf_type_rank(source); axis++) {
    if (reduced[axis] && !keep) continue;
    if (count >= tf_type_rank(destination)) return false;
    const tf_dim *extent = tf_type_extent(destination, count);
    if (reduced[axis] ? tf_static_or(extent, 0) != 1 : extent != tf_type_extent(source, axis)) return false;
    source_axis[count++] = axis;
  }
  return count == tf_type_rank(destination);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------------------ */

static bool meet(tf_verifier *v, const char *op, const tf_reduce_plan *plan, const tf_type *source) {
  switch (plan->fault) {
  case TF_REDUCE_FINE:
    break;
  case TF_REDUCE_CROSSES_CTAS:
    TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_CTAS, op);
    return false;
  case TF_REDUCE_MISSES:
    TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_MISSING, op, (long long)plan->thread);
    return false;
  case TF_REDUCE_UNEVEN:
    TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_GROUP, op, (long long)plan->count, (long long)plan->thread);
    return false;
  case TF_REDUCE_DYNAMIC:
    TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_DYNAMIC, op, tf_type_print(v->context, source));
    return false;
  }
  tf_verifier_meet(v, op, plan->group_count, plan->groups, false);
  return true;
}

/* ---- reduce ------------------------------------------------------------------------------------------------------------------ */

static bool check_dtypes(tf_verifier *v, const tf_expr *source, const tf_expr *destination) {
  tf_dtype from = tf_type_dtype(source->type), to = tf_type_dtype(destination->type);
  if (from != TF_DTYPE_BOOL && to != TF_DTYPE_BOOL) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_DTYPE, "reduce", tf_dtype_name(from), tf_dtype_name(to));
  return false;
}

static bool check_partial(tf_verifier *v, const tf_expr *source, tf_reduce_kind kind) {
  const tf_layout *layout = tf_type_layout(source->type);
  if (!tf_layout_is_shard(layout)) return true;
  for (unsigned i = 0; i < tf_layout_attr_count(layout); i++) {
    tf_shard_attr attr = tf_layout_attr(layout, i);
    if (attr.kind != TF_SHARD_PARTIAL || attr.reduce == kind) continue;
    TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_PARTIAL, tf_reduce_name(kind), tf_reduce_name(attr.reduce));
    return false;
  }
  return true;
}

/* What the combination is computed in. */
static tf_dtype accumulator(tf_dtype dtype) {
  if (tf_dtype_is_float(dtype)) return dtype == TF_DTYPE_F64 ? dtype : TF_DTYPE_F32;
  if (tf_dtype_bits(dtype) == 64) return dtype;
  return tf_dtype_get_class(dtype) == TF_CLASS_UINT ? TF_DTYPE_U32 : TF_DTYPE_I32;
}

static bool check_workspace(tf_verifier *v, const tf_expr *workspace, const tf_expr *source) {
  tf_dtype want = accumulator(tf_type_dtype(source->type));
  bool shared =
      tf_type_storage(workspace->type) == TF_STORAGE_SMEM && !tf_layout_is_shard(tf_type_layout(workspace->type));
  bool signless = want == TF_DTYPE_U32 && tf_type_dtype(workspace->type) == TF_DTYPE_I32;
  if (shared && (tf_type_dtype(workspace->type) == want || signless)) return true;
  TF_FAIL(v, workspace, tf_verifier_loc(v, workspace), REDUCE_WORKSPACE, tf_dtype_name(want),
          tf_type_print(v->context, workspace->type));
  return false;
}

static void check_workspace_size(tf_verifier *v, const tf_expr *workspace, int64_t needed) {
  int64_t size = tf_static_or(tf_type_numel(v->context, workspace->type), -1);
  if (size < needed)
    TF_FAIL(v, workspace, tf_verifier_loc(v, workspace), REDUCE_WORKSPACE_SIZE, (long long)size, (long long)needed);
}

void tf_verify_REDUCE(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *source = inv->args[TF_ARG_REDUCE_src], *destination = inv->args[TF_ARG_REDUCE_dst];
  const tf_expr *workspace = inv->arg_count > TF_ARG_REDUCE_workspace ? inv->args[TF_ARG_REDUCE_workspace] : NULL;
  tf_reduce_kind kind = (tf_reduce_kind)inv->attrs[TF_ATTRIBUTE_REDUCE_kind].i;
  bool reduced[TF_MAX_RANK] = {false};
  unsigned source_axis[TF_MAX_RANK], rank = tf_type_rank(source->type);
  if (!tf_verify_operands_partial(v, inv) || !check_dtypes(v, source, destination)) return;
  if (!check_partial(v, source, kind) || (workspace && !check_workspace(v, workspace, source))) return;
  if (rank > TF_MAX_RANK || !read_axes(v, inv->attrs[TF_ATTRIBUTE_REDUCE_axes].tuple, rank, reduced)) return;
  if (!match_shape(source->type, destination->type, reduced, true, source_axis) &&
      !match_shape(source->type, destination->type, reduced, false, source_axis)) {
    TF_FAIL(v, v->stmt, v->stmt->loc, REDUCE_SHAPE, shape_text(v, destination->type), shape_text(v, source->type));
    return;
  }
  tf_side from, to;
  if (v->host || !tf_side_of(v, source, &from) || !tf_side_of(v, destination, &to)) return;
  const tf_reduce_plan *plan = tf_reduce_plan_of(v, &from, reduced, &to, source_axis);
  if (meet(v, "reduce", plan, source->type) && workspace) check_workspace_size(v, workspace, plan->workspace);
}

/* ---- rms_norm ---------------------------------------------------------------------------------------------------------------- */

static bool check_norm_types(tf_verifier *v, const tf_invocation *inv) {
  const tf_op_info *info = tf_op_get_info(inv->op);
  for (unsigned i = 0; i < info->operand_count; i++) {
    tf_dtype dtype = tf_type_dtype(inv->args[i]->type);
    if (tf_dtype_is_float(dtype)) continue;
    TF_FAIL(v, inv->args[i], tf_verifier_loc(v, inv->args[i]), RMS_NORM_DTYPE, info->operands[i].name,
            tf_dtype_name(dtype));
    return false;
  }
  return true;
}

static bool check_norm_shapes(tf_verifier *v, const tf_type *source, const tf_type *destination,
                              const tf_type *weight) {
  unsigned rank = tf_type_rank(source);
  bool same = rank == tf_type_rank(destination) && rank > 0 && rank <= TF_MAX_RANK;
  for (unsigned i = 0; same && i < rank; i++)
    same = tf_type_extent(source, i) == tf_type_extent(destination, i);
  if (!same) {
    TF_FAIL(v, v->stmt, v->stmt->loc, RMS_NORM_SHAPE, shape_text(v, source), shape_text(v, destination));
    return false;
  }
  if (tf_type_rank(weight) == 1 && tf_type_extent(weight, 0) == tf_type_extent(source, rank - 1)) return true;
  TF_FAIL(v, v->stmt, v->stmt->loc, RMS_NORM_WEIGHT, tf_dim_print(v->context, tf_type_extent(source, rank - 1)),
          shape_text(v, weight));
  return false;
}

void tf_verify_RMS_NORM(tf_verifier *v, const tf_invocation *inv) {
  const tf_expr *source = inv->args[TF_ARG_RMS_NORM_src], *destination = inv->args[TF_ARG_RMS_NORM_dst];
  const tf_expr *weight = inv->args[TF_ARG_RMS_NORM_weight], *sources[2] = {source, weight};
  if (!tf_verify_operands(v, inv) || !check_norm_types(v, inv)) return;
  if (!check_norm_shapes(v, source->type, destination->type, weight->type)) return;
  tf_verify_coverage(v, inv, destination, 2, sources, false);
  tf_side from, to;
  if (v->host || !tf_side_of(v, source, &from) || !tf_side_of(v, destination, &to)) return;
  bool reduced[TF_MAX_RANK] = {false};
  unsigned source_axis[TF_MAX_RANK], rank = tf_type_rank(source->type);
  for (unsigned i = 0; i < rank; i++)
    source_axis[i] = i;
  reduced[rank - 1] = true;
  meet(v, "rms_norm", tf_reduce_plan_of(v, &from, reduced, &to, source_axis), source->type);
}
