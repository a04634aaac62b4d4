/* Which level of its mesh an axis walks. A mesh over several levels hands its axes to them left to right:
 *
 *   Mesh((cta 4, thread 32), Layout((4, 8, 4), (32, 4, 1)))     axis 0: cta, steps of 1     axes 1, 2: thread, 4 and 1
 *
 * The linear id of an instance is (…(c0*size1 + c1)*size2 + c2…): a level's own positions are its axes' strides divided
 * by the product of the sizes below it. */
#ifndef TF_IR_MESH_LEVELS_H
#define TF_IR_MESH_LEVELS_H

#include <tilefoundry/Layout.h>

/* The index of the level that the axis walks, and the product of the sizes of the finer levels (`below` may be null).
 * On a full mesh axes are dealt left to right; on a slice, whose extents say nothing, the stride decides. False with
 * *reason (may be null; a static string) for an axis that straddles levels, or where symbolic sizes leave it open. */
bool tf_mesh_axis_level(tf_context *context, const tf_mesh *mesh, unsigned axis, unsigned *level, const tf_dim **below,
                        const char **reason);

/* The product of the sizes of the levels after `level`; null on overflow. */
const tf_dim *tf_mesh_below(tf_context *context, const tf_mesh *mesh, unsigned level);

#endif
