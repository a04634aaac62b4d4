/* Canonical domains of shard layouts. */
#include "IR/ShardDomain.h"

#include <stdarg.h>
#include <stdio.h>

#include "IR/LayoutImpl.h"

bool tf_refuse(tf_context *context, const char **reason, const char *format, ...) {
  char text[600];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (reason) *reason = tf_context_intern_cstr(context, text);
  return false;
}

static bool is_int(const tf_dim *dim, int64_t value) {
  int64_t number;
  return tf_dim_is_static(dim, &number) && number == value;
}

static bool check_attrs(tf_context *context, const tf_layout *layout, unsigned axis_count, tf_shard_domain *out,
                        const char **reason) {
  unsigned mesh_axes = tf_mesh_axis_count(layout->mesh);
  if (layout->attr_count != mesh_axes)
    return tf_refuse(context, reason, "the ShardLayout has %u attributes for a mesh of %u axes; it needs one per axis",
                     layout->attr_count, mesh_axes);
  for (unsigned i = 0; i < mesh_axes; i++) {
    tf_shard_attr attr = layout->attrs[i];
    if (attr.kind == TF_SHARD_DYNAMIC)
      return tf_refuse(context, reason, "Dynamic() has no meaning in TIR; use Split, Broadcast or Partial");
    if (attr.kind == TF_SHARD_SPLIT && attr.axis >= axis_count)
      return tf_refuse(context, reason, "Split(%u) names no axis of the layout, which has %u", attr.axis, axis_count);
    if (attr.kind == TF_SHARD_PARTIAL) out->partial = true;
  }
  return true;
}

static bool push_axis(tf_context *context, tf_shard_domain *out, tf_domain_axis axis, const char **reason) {
  if (out->count == TF_MAX_FACTORS)
    return tf_refuse(context, reason, "the ShardLayout has more than %d axes and splits", TF_MAX_FACTORS);
  out->axes[out->count++] = axis;
  return true;
}

/* Appends one layout axis: a part per mesh axis that splits it, in mesh order, then what is left. */
static bool split_axis(tf_context *context, const tf_layout *layout, unsigned axis, const tf_dim *extent,
                       const tf_dim *stride, tf_shard_domain *out, const char **reason) {
  const tf_dim *rest = extent;
  bool is_split = false;
  for (unsigned i = 0; i < layout->attr_count; i++) {
    if (layout->attrs[i].kind != TF_SHARD_SPLIT || layout->attrs[i].axis != axis) continue;
    const tf_dim *part = tf_mesh_axis_extent(layout->mesh, i);
    rest = tf_dim_exact_quotient(context, rest, part);
    if (!rest)
      return tf_refuse(context, reason,
                       "layout axis %u of extent %s is not divisible by the extents of the mesh axes that split it",
                       axis, tf_dim_print(context, extent));
    const tf_dim *step = stride ? tf_dim_product(context, stride, rest) : NULL;
    if (stride && !step) return tf_refuse(context, reason, "a stride of the layout overflows");
    if (!push_axis(context, out, (tf_domain_axis){part, step, (int)i, axis}, reason)) return false;
    if (stride && is_int(stride, 0) && !is_int(part, 1)) out->has_zero_split = true;
    is_split = true;
  }
  if (is_split && is_int(rest, 1)) return true;
  return push_axis(context, out, (tf_domain_axis){rest, stride, -1, axis}, reason);
}

/* The plain layout inside, without the identity around it; null for any other. */
static const tf_layout *plain_inside(const tf_layout *layout) {
  if (layout && layout->kind == TF_LAYOUT_COMPOSED && !layout->inner && is_int(layout->offset, 0))
    layout = layout->outer;
  return layout && layout->kind == TF_LAYOUT_PLAIN ? layout : NULL;
}

bool tf_shard_domain_of(tf_context *context, const tf_layout *layout, tf_shard_domain *out, const char **reason) {
  *out = (tf_shard_domain){.count = 0};
  const tf_layout *plain = plain_inside(layout->outer);
  if (!plain)
    return tf_refuse(context, reason,
                     "a ShardLayout wants a plain Layout inside; a swizzle belongs to the storage's own layout");
  unsigned count = plain->shape->leaf_count;
  if (!check_attrs(context, layout, count, out, reason)) return false;
  for (unsigned i = 0; i < count; i++) {
    const tf_dim *stride = plain->strides ? tf_tuple_leaf_at(plain->strides, i) : NULL;
    if (!split_axis(context, layout, i, tf_tuple_leaf_at(plain->shape, i), stride, out, reason)) return false;
  }
  out->dealt = !plain->strides || out->has_zero_split;
  return true;
}

bool tf_shard_domain_order(tf_context *context, const tf_shard_domain *domain, const tf_dim *steps[TF_MAX_FACTORS]) {
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned i = domain->count; i-- > 0;) {
    steps[i] = product;
    product = tf_dim_product(context, product, domain->axes[i].extent);
    if (!product) return false;
  }
  return true;
}

const char *tf_shard_domain_print(tf_context *context, const tf_shard_domain *domain) {
  const tf_dim *extents[TF_MAX_FACTORS], *strides[TF_MAX_FACTORS];
  tf_string out;
  tf_string_init(&out, &context->arena);
  for (unsigned i = 0; i < domain->count; i++) {
    extents[i] = domain->axes[i].extent;
    strides[i] = domain->axes[i].stride;
  }
  tf_tuple_append(context, &out, tf_tuple_dims(context, domain->count, extents));
  tf_string_puts(&out, ":");
  if (domain->count && strides[0]) {
    tf_tuple_append(context, &out, tf_tuple_dims(context, domain->count, strides));
  } else {
    tf_string_puts(&out, "None");
  }
  return out.text;
}

/* ---- Local projections -------------------------------------------------------------------------------------------------- */
static bool local_extents(tf_context *context, const tf_type *type, unsigned *count, const tf_dim **out,
                          const char **reason) {
  tf_shard_domain domain;
  if (!tf_layout_is_shard(tf_type_layout(type))) {
    *count = tf_type_rank(type);
    if (*count > TF_MAX_FACTORS) return tf_refuse(context, reason, "the tensor has more than %d axes", TF_MAX_FACTORS);
    for (unsigned i = 0; i < *count; i++)
      out[i] = tf_type_extent(type, i);
    return true;
  }
  if (!tf_shard_domain_of(context, tf_type_layout(type), &domain, reason)) return false;
  *count = tf_layout_shape(tf_type_layout(type))->leaf_count;
  for (unsigned i = 0; i < *count; i++)
    out[i] = tf_dim_int(context, 1);
  for (unsigned i = 0; i < domain.count; i++)
    if (domain.axes[i].mesh_axis < 0) out[domain.axes[i].layout_axis] = domain.axes[i].extent;
  return true;
}

tf_status tf_type_local_shape(tf_context *context, const tf_type *type, unsigned *count,
                              const tf_dim *out[TF_MAX_FACTORS], const char **reason) {
  const tf_dim *extents[TF_MAX_FACTORS];
  unsigned found;
  if (!context || !tf_type_is_tensor(type) || !count || !out) return TF_INVALID_ARGUMENT;
  if (!local_extents(context, type, &found, extents, reason)) return TF_VERIFY;
  for (unsigned i = 0; i < found; i++)
    out[i] = extents[i];
  *count = found;
  return TF_OK;
}

tf_status tf_type_local_numel(tf_context *context, const tf_type *type, const tf_dim **out, const char **reason) {
  const tf_dim *extents[TF_MAX_FACTORS];
  unsigned count;
  if (!out) return TF_INVALID_ARGUMENT;
  tf_status status = tf_type_local_shape(context, type, &count, extents, reason);
  if (status != TF_OK) return status;
  const tf_dim *product = tf_dim_int(context, 1);
  for (unsigned i = 0; i < count; i++)
    product = tf_dim_product(context, product, extents[i]);
  if (!product) return tf_refuse(context, reason, "the number of local elements overflows"), TF_VERIFY;
  *out = product;
  return TF_OK;
}

/* Packed types round up to whole bytes. */
tf_status tf_type_local_bytes(tf_context *context, const tf_type *type, const tf_dim **out, const char **reason) {
  const tf_dim *numel;
  if (!out) return TF_INVALID_ARGUMENT;
  tf_status status = tf_type_local_numel(context, type, &numel, reason);
  if (status != TF_OK) return status;
  const tf_dim *bits = tf_dim_scale(context, numel, tf_dtype_bits(tf_type_dtype(type)));
  const tf_dim *bytes = tf_dim_binary(context, TF_DIM_CEIL_DIV, bits, tf_dim_int(context, 8));
  if (!bytes) return tf_refuse(context, reason, "the number of local bytes overflows"), TF_VERIFY;
  *out = bytes;
  return TF_OK;
}
