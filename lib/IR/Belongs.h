/* Whether an interned object is this context's: what the builder asks of everything that callers hand it. An object of
 * another context has the same contents at another address (or other addresses inside), so interning its bytes here gives
 * a different pointer. A foreign object leaves a useless entry behind; callers stop at the first. */
#ifndef TF_IR_BELONGS_H
#define TF_IR_BELONGS_H

#include <tilefoundry/IR.h>

bool tf_dim_belongs(tf_context *context, const tf_dim *dim);
bool tf_tuple_belongs(tf_context *context, const tf_tuple *tuple);
bool tf_layout_belongs(tf_context *context, const tf_layout *layout);
bool tf_mesh_belongs(tf_context *context, const tf_mesh *mesh);
bool tf_type_belongs(tf_context *context, const tf_type *type);
bool tf_launch_attrs_belong(tf_context *context, const tf_launch_attrs *attrs);

#endif
