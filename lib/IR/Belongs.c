/* Membership of interned objects; the sizes of the structs follow from their counts. */
#include "IR/Belongs.h"

#include "IR/LayoutImpl.h"

static bool belongs(tf_context *context, tf_intern_class class, const void *object, size_t size) {
  return object && tf_context_intern_bytes(context, class, object, size) == object;
}

bool tf_dim_belongs(tf_context *context, const tf_dim *dim) {
  return dim && belongs(context, TF_INTERN_DIM, dim, sizeof *dim + dim->term_count * sizeof *dim->terms);
}

bool tf_tuple_belongs(tf_context *context, const tf_tuple *tuple) {
  if (!tuple) return false;
  size_t slots = (size_t)tuple->count + tuple->leaf_count;
  return belongs(context, TF_INTERN_TUPLE, tuple, sizeof *tuple + slots * sizeof *tuple->slots);
}

bool tf_layout_belongs(tf_context *context, const tf_layout *layout) {
  return layout &&
         belongs(context, TF_INTERN_LAYOUT, layout, sizeof *layout + layout->attr_count * sizeof *layout->attrs);
}

bool tf_mesh_belongs(tf_context *context, const tf_mesh *mesh) {
  if (!mesh) return false;
  size_t slots = (size_t)mesh->level_count + mesh->axis_count;
  return belongs(context, TF_INTERN_MESH, mesh, sizeof *mesh + slots * sizeof *mesh->slots);
}

bool tf_type_belongs(tf_context *context, const tf_type *type) {
  return type && belongs(context, TF_INTERN_TYPE, type, sizeof *type + type->count * sizeof *type->slots);
}

bool tf_launch_attrs_belong(tf_context *context, const tf_launch_attrs *attrs) {
  return belongs(context, TF_INTERN_ATTR, attrs, attrs ? sizeof *attrs : 0) &&
         belongs(context, TF_INTERN_ATTR, attrs->entries, attrs->count * sizeof *attrs->entries);
}
