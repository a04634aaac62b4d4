/* Views: what memory a tensor value names. Views compose, and nothing of a chain is lost: every tensor expression resolves
 * to one base (a parameter or an allocation) and one address form over the axes of its own shape:
 *
 *   element (i0, i1, …) of the value lives at   base + inner( constant + sum start_k * start_stride_k + sum i_a * stride_a )
 *
 *   x: (128, 256) C order;  v = tensor_view(x, i, 16*k, shape=(16, 16))
 *   v: starts {i * 256, (16*k) * 1}, strides (256, 1)
 *
 * with inner the swizzle of the storage, if any. A ShardLayout never changes addresses, it says who owns which element: the
 * ownership over the value's shape stands beside. The verifier and the lowering read views through this one routine. */
#ifndef TF_IR_VIEW_H
#define TF_IR_VIEW_H

#include "IR/Nodes.h"
#include "IR/Ownership.h"

#define TF_MAX_RANK 16
#define TF_MAX_STARTS 32

/* One run-time (or static) summand of a window's start. */
typedef struct tf_view_start {
  const tf_expr *index; /* scalar expression, in elements of the axis it counts */
  const tf_dim *stride; /* storage elements per step */
} tf_view_start;

/* A clipped axis: elements whose coordinate start + i is outside [0, extent) of the source read as clip. */
typedef struct tf_view_clip {
  unsigned axis;         /* of the value's shape */
  const tf_expr *start;  /* coordinate of element 0 on the source's axis; null: 0 */
  const tf_dim *extent;  /* of the source's axis */
} tf_view_clip;

typedef struct tf_view {
  const tf_expr *base;  /* VAR: the parameter, or the allocation's binding */
  const tf_type *type;  /* of the viewed value: shape, dtype, layout, storage */
  const tf_dim *constant;
  unsigned start_count;
  tf_view_start starts[TF_MAX_STARTS];
  /* A value whose storage steps do not follow its shape's axes (a flattened part, a plain layout with nested axes) has
   * address_layout set: a plain layout over the C-order index of the shape, read with C-order coordinates; strides are null. */
  const tf_dim *strides[TF_MAX_RANK];
  const tf_layout *address_layout;
  const tf_layout *inner; /* a Swizzle, or null */
  unsigned clip_count;
  tf_view_clip clips[TF_MAX_RANK];
  const tf_expr *clip_value; /* literal; null without clip */
  /* Ownership of the value by the instances of its ShardLayout's mesh; a part of a part (views of sharded views) keeps the
   * outer ones in `outer`: the value is what the outer instance owns. Their shares of the address are: outer factor digits
   * times outer_strides. */
  const tf_ownership *ownership;
  const struct tf_view *outer; /* null, or the sharded view that this one splits again */
} tf_view;

/* The view of a tensor-typed expression (a VAR, or a VALUE call). Memoised per expression in the context. Null, with
 * *reason set to a string of the context, when it breaks a rule of views (the verifier reports the reason; a verified module
 * has none). */
const tf_view *tf_view_of(tf_context *context, const tf_expr *tensor, const char **reason);

#endif
