/* The static helpers T.spread and T.reduced. Reasons are strings of the context. */
#ifndef TF_IR_LAYOUT_HELPERS_H
#define TF_IR_LAYOUT_HELPERS_H

#include <tilefoundry/Layout.h>

/* T.spread(mesh, shape, vec): deals C-order chunks of `vec` contiguous elements round-robin over the mesh's instances in the
 * order of their linear positions. The layout, without strides, over `numel` elements (the product of the shape):
 *
 *   (chunks per instance | mesh axes, largest stride first | vec)
 *
 * TF_VERIFY if instances * vec does not divide numel, or vec < 1. */
TF_NODISCARD tf_status tf_layout_spread(tf_context *context, const tf_mesh *mesh, const tf_dim *numel, int64_t vec,
                                        const tf_layout **out, const char **reason);

/* T.reduced(layout, shape, axes): the layout of the result of reducing a tensor of this shape and layout over the axes
 * (negative ones count from the end): the result has extent 1 there. Null in *out for null and plain layouts. The offsets
 * are decomposed over C order of the shape (no strides, or a Split of stride 0: C order of the domain); factors on reduced
 * axes disappear, their mesh axes and Partial ones become Broadcast, extent-1 factors vanish, strides are re-derived for C
 * order of the result. TF_VERIFY where a factor straddles axes that are not all reduced, for symbolic extents, axes out of range, and
 * layouts that do not fit the shape. */
TF_NODISCARD tf_status tf_layout_reduced(tf_context *context, const tf_layout *layout, unsigned rank,
                                         const tf_dim *const *shape, unsigned axis_count, const int64_t *axes,
                                         const tf_layout **out, const char **reason);

#endif
