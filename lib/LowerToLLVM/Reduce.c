/* reduce: along axes, over whatever threads hold the elements; see Reduce.h. */
#include "LowerToLLVM/NumericImpl.h"
#include "LowerToLLVM/Reduce.h"

static tf_dtype accumulator_of(tf_dtype dtype) {
  if (tf_dtype_is_float(dtype)) return dtype == TF_DTYPE_F64 ? dtype : TF_DTYPE_F32;
  if (tf_dtype_bits(dtype) == 64) return dtype;
  return tf_dtype_get_class(dtype) == TF_CLASS_UINT ? TF_DTYPE_U32 : TF_DTYPE_I32;
}

static void read_axes(const tf_tuple *axes, tf_reduction *r) {
  for (unsigned i = 0; axes && i < tf_tuple_leaf_count(axes); i++) {
    const tf_tuple *leaf = tf_tuple_is_leaf(axes) ? axes : tf_tuple_element(axes, i);
    int64_t axis = 0;
    tf_dim_is_static(tf_tuple_dim(leaf), &axis);
    r->reduced[axis < 0 ? axis + r->rank : axis] = true;
  }
}

/* Elements per result: the reduced axes' extents, and the shares of a Partial. */
static const tf_dim *count_of(tf_context *context, const tf_reduction *r) {
  const tf_dim *count = tf_dim_int(context, 1);
  const tf_layout *layout = tf_type_layout(r->source.type);
  bool resolves = true;
  for (unsigned axis = 0; axis < r->rank; axis++) {
    if (r->reduced[axis]) count = tf_dim_binary(context, TF_DIM_MUL, count, r->shape[axis]);
    resolves = resolves && !r->reduced[axis];
  }
  for (unsigned i = 0; resolves && tf_layout_is_shard(layout) && i < tf_layout_attr_count(layout); i++)
    if (tf_layout_attr(layout, i).kind == TF_SHARD_PARTIAL)
      count = tf_dim_binary(context, TF_DIM_MUL, count, tf_mesh_axis_extent(tf_layout_mesh(layout), i));
  return count;
}

tf_reduction tf_reduction_of(tf_lowering *lowering, const tf_expr *source, const tf_tuple *axes, tf_reduce_kind kind) {
  tf_reduction r = {.kind = kind, .source = tf_tensor_of(lowering, source)};
  r.in = r.source.dtype;
  r.accumulator = accumulator_of(r.in);
  r.rank = tf_type_rank(r.source.type);
  r.shape = tf_type_shape(r.source.type);
  read_axes(axes, &r);
  r.count = count_of(lowering->context, &r);
  return r;
}

/* Whether every thread sees every element: nothing is dealt out, nobody has to meet. */
static bool is_visible(const tf_reduction *r) {
  const tf_ownership *ownership = r->source.view->ownership;
  const tf_layout *layout = tf_type_layout(r->source.type);
  for (unsigned i = 0; i < ownership->factor_count; i++)
    if (ownership->factors[i].mesh_axis >= 0) return false;
  for (unsigned i = 0; tf_layout_is_shard(layout) && i < tf_layout_attr_count(layout); i++)
    if (tf_layout_attr(layout, i).kind == TF_SHARD_PARTIAL) return false;
  return true;
}

void tf_lower_REDUCE(tf_lowering *lowering, const tf_invocation *invocation) {
  const tf_expr *workspace = NULL;
  if (invocation->arg_count > TF_ARG_REDUCE_workspace) workspace = invocation->args[TF_ARG_REDUCE_workspace];
  tf_reduction r =
      tf_reduction_of(lowering, invocation->args[TF_ARG_REDUCE_src], invocation->attrs[TF_ATTRIBUTE_REDUCE_axes].tuple,
                      (tf_reduce_kind)invocation->attrs[TF_ATTRIBUTE_REDUCE_kind].i);
  tf_tensor destination = tf_tensor_of(lowering, invocation->args[TF_ARG_REDUCE_dst]);
  bool fine = false;
  if (is_visible(&r)) {
    fine = tf_reduce_visible(lowering, &r, &destination);
  } else {
    tf_partials *partials = TF_ARENA_NEW(lowering->arena, tf_partials);
    fine = tf_reduce_can_deal(lowering, &r, &destination) && tf_reduce_dealt(lowering, &r, workspace, partials) &&
           tf_reduce_store(lowering, &r, partials, &destination);
    if (!fine) fine = tf_reduce_staged(lowering, &r, &destination);
  }
  if (fine) return;
  tf_report(lowering->context, lowering->loc, LOWER_REDUCE);
  tf_lower_fail(lowering);
}
