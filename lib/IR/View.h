/* Views: what memory a tensor value names. Views compose, and nothing of a chain is lost: every tensor expression resolves
 * to one base (a parameter or an allocation) and one address, a sum:
 *
 *   element   lives at   base + inner( constant + sum of starts + sum of digits * digit_strides )
 *
 *   starts    what does not depend on the element: the windows' first elements, and the place of the part that an outer
 *             distribution gives to this instance
 *   digits    of the element, one per factor of the value's ownership (Ownership.h): counted through locally, or known
 *             from the instance's coordinate
 *
 *   x: (128, 256) C order;  v = tensor_view(x, i, 16*k, shape=(16, 16))      starts  i * 256, k * 16      strides (256, 1)
 *
 * Where the address is a function of the coordinates alone (everything but register fragments and private shared buffers)
 * the strides of the value's axes say the same. A ShardLayout never changes such addresses, it says who owns which element.
 * The numbers are in elements of the base's storage; in rmem that is the thread's array of local values, and digits that a
 * mesh walks have stride 0 there. The verifier and the lowering read views through this one routine. */
#ifndef TF_IR_VIEW_H
#define TF_IR_VIEW_H

#include "IR/Nodes.h"
#include "IR/Ownership.h"

#define TF_MAX_RANK   16
#define TF_MAX_STARTS 32

/* One summand of the address that is the same for all elements. */
typedef struct tf_view_start {
  const tf_expr *index; /* integer scalar; null: a digit of this instance's own coordinate, the fields below */
  const tf_mesh *mesh;
  unsigned mesh_axis;
  int64_t divisor; /* digit = (coordinate on mesh_axis / divisor) % extent */
  const tf_dim *extent;
  const tf_dim *stride; /* storage elements per step */
} tf_view_start;

/* A clipped axis: an element whose coordinate start + i is outside [0, extent) of the source reads as clip_value and is
 * never written. */
typedef struct tf_view_clip {
  int axis;             /* of the value's shape, i its coordinate; -1: an axis that the window dropped, i is 0 */
  const tf_expr *start; /* null: 0 */
  const tf_dim *extent; /* of the source's axis */
} tf_view_clip;

typedef struct tf_view {
  const tf_expr *base; /* VAR: the parameter or the allocation's binding (or an ALLOC_TENSOR call itself) */
  const tf_type *type; /* of the viewed value: shape, dtype, layout, storage */
  const tf_dim
      *storage_size; /* elements of the base's storage: of the parameter, of a thread's (rmem) or CTA's (smem) copy */
  const tf_dim *constant;
  unsigned start_count;
  const tf_view_start *starts;
  /* Per axis of the shape. Null for all axes: the address is no function of the coordinates (see above), use digit_strides.
   * Null for some: those axes walk several strides; address_layout has one (then nested, leftmost-fastest) mode per axis. */
  const tf_dim *const *strides;
  const tf_layout *address_layout; /* null if every axis has a stride, or none has */
  const tf_layout *inner;          /* a Swizzle, or null */
  unsigned clip_count;
  const tf_view_clip *clips;
  const tf_expr *clip_value; /* literal; null without clip */
  /* Who owns which element: by the instances of the mesh of the type's ShardLayout; without one every instance has all. */
  const tf_ownership *ownership;
  /* One per ownership->factors entry: storage elements per step of its digit. Null if some factor does not step evenly in
   * storage (dealt chunks that cross the rows of a strided window): then address_layout or strides decide, per element. */
  const tf_dim *const *digit_strides;
  const struct tf_view
      *outer; /* the sharded view whose part this one (or its source) is, or null; its digits that its mesh
                                  walks stand among the starts */
} tf_view;

/* The view of a tensor-typed expression: a VAR, or a VALUE call. Memoised per expression in the context. Null, with *reason
 * (may be null) set to a string of the context, when it breaks a rule of views; tf_infer has reported that already. */
const tf_view *tf_view_of(tf_context *context, const tf_expr *tensor, const char **reason);

/* The same for an invocation of a VALUE op that is no node yet; null after a diagnostic at its place. */
const tf_view *tf_view_of_invocation(tf_context *context, const tf_invocation *invocation);

/* Where a window's start may lie for the window to be inside of its source: 0 <= index and index + extent <= limit. */
typedef struct tf_window_bound {
  const tf_expr *index;
  const tf_dim *extent, *limit;
} tf_window_bound;

/* The bounds of a TENSOR_VIEW's starts, TF_MAX_RANK at most: one per axis of its source, or of a flat start the one by the
 * numbers of elements. 0 for what is no window, and for clipped ones, which may lie anywhere. */
unsigned tf_window_bounds(tf_context *context, const tf_invocation *invocation, tf_window_bound *out);

/* Offset of the element with this C-order index in the value, from `constant` plus the starts, before inner. Values whose
 * address is a function of the coordinates, with static extents; false for others. */
bool tf_view_offset(const tf_view *view, int64_t logical_index, int64_t *offset);

#endif
