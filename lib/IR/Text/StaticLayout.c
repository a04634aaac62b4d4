/* Shapes, layouts, meshes, shard layouts and tensor types from compile-time values. */
#include <string.h>

#include "IR/LayoutImpl.h"
#include "IR/Text/StaticCall.h"
#include "Support/Context.h"

static const char extents_wanted[] = "a tuple of integers and dims";
static const char layout_wanted[] = "a layout, or a shape such as (16 @ m.a, 4)";

/* ---- Tuples ---- */
const tf_tuple *tf_value_to_tuple(tf_context *context, const tf_value *value) {
  if (value->kind != TF_VALUE_LIST) {
    const tf_dim *dim = tf_value_dim(context, value);
    return dim ? tf_tuple_leaf(context, dim) : NULL;
  }
  const tf_tuple **elements = TF_ARENA_ARRAY(&context->arena, const tf_tuple *, value->list.count);
  for (unsigned i = 0; i < value->list.count; i++)
    if (!(elements[i] = tf_value_to_tuple(context, &value->list.items[i]))) return NULL;
  return tf_tuple_list(context, value->list.count, elements);
}

const tf_tuple *tf_value_to_shape(tf_context *context, const tf_value *value) {
  const tf_tuple *tuple = tf_value_to_tuple(context, value);
  if (!tuple || !tf_tuple_is_flat(tuple)) return NULL;
  return tf_tuple_is_leaf(tuple) ? tf_tuple_list(context, 1, &tuple) : tuple;
}

/* ---- N @ m.a ---- */
static bool place_axis(const tf_value *value, tf_mesh_axis *out) {
  if (value->kind == TF_VALUE_MESH_AXIS) {
    *out = value->axis;
    return true;
  }
  if (value->kind != TF_VALUE_MESH || tf_mesh_axis_count(value->mesh.mesh) != 1) return false;
  *out = (tf_mesh_axis){value->mesh.mesh, value->mesh.binding, 0};
  return true;
}

tf_value tf_static_place(tf_context *context, const tf_value *extent, const tf_value *axes, tf_loc loc) {
  bool several = axes->kind == TF_VALUE_LIST;
  unsigned count = several ? axes->list.count : 1;
  tf_mesh_axis *out = TF_ARENA_ARRAY(&context->arena, tf_mesh_axis, count);
  bool good = count > 0;
  for (unsigned i = 0; i < count && good; i++)
    good = place_axis(several ? &axes->list.items[i] : axes, &out[i]) && out[i].mesh == out[0].mesh;
  const tf_dim *dim = tf_value_dim(context, extent);
  if (!good || !dim) {
    tf_report(context, loc, PLACE_OPERANDS, tf_value_describe(extent), tf_value_describe(axes));
    return TF_VALUE_OF_ERROR;
  }
  tf_placed *placed = TF_ARENA_NEW(&context->arena, tf_placed);
  *placed = (tf_placed){dim, count, out};
  return (tf_value){.kind = TF_VALUE_PLACED, .placed = placed};
}

static bool has_placed(const tf_value *value) {
  if (value->kind == TF_VALUE_PLACED) return true;
  for (unsigned i = 0; value->kind == TF_VALUE_LIST && i < value->list.count; i++)
    if (value->list.items[i].kind == TF_VALUE_PLACED) return true;
  return false;
}

/* A shape whose dealt extents are being split into mesh extents and what stays with each instance. */
typedef struct dealt {
  tf_context *context;
  const tf_mesh *mesh;
  tf_shard_attr *attrs; /* one per mesh axis */
  struct {
    TF_VEC(const tf_dim *);
  } extents; /* of the layout */
} dealt;

static const char *indivisible(const dealt *d, const tf_placed *placed, const tf_dim *rest, const tf_dim *extent) {
  return tf_arena_printf(
      &d->context->arena,
      "the extent %s is not divisible by the extents of the mesh axes that it is dealt over: %s over %s",
      tf_dim_print(d->context, placed->extent), tf_dim_print(d->context, rest), tf_dim_print(d->context, extent));
}

static bool deal_one(dealt *d, const tf_placed *placed, const char **reason) {
  const tf_dim *rest = placed->extent;
  if (placed->axes[0].mesh != d->mesh) return *reason = "one layout names several meshes", false;
  for (unsigned i = 0; i < placed->count; i++) {
    unsigned axis = placed->axes[i].axis;
    const tf_dim *extent = tf_mesh_axis_extent(d->mesh, axis);
    const tf_dim *quotient = tf_dim_binary(d->context, TF_DIM_FLOOR_DIV, rest, extent);
    if (!quotient || tf_dim_binary(d->context, TF_DIM_MUL, quotient, extent) != rest)
      return *reason = indivisible(d, placed, rest, extent), false;
    if (d->attrs[axis].kind == TF_SHARD_SPLIT) return *reason = "a mesh axis is used twice", false;
    d->attrs[axis] = (tf_shard_attr){TF_SHARD_SPLIT, (unsigned)d->extents.count, (tf_reduce_kind)0};
    TF_VEC_PUSH(&d->context->arena, &d->extents, extent);
    rest = quotient;
  }
  int64_t left;
  if (!tf_dim_is_static(rest, &left) || left != 1) TF_VEC_PUSH(&d->context->arena, &d->extents, rest);
  return true;
}

static const tf_layout *deal(tf_context *context, unsigned count, const tf_value *items, const tf_tuple *strides,
                             const char **reason) {
  dealt d = {.context = context};
  for (unsigned i = 0; i < count && !d.mesh; i++)
    if (items[i].kind == TF_VALUE_PLACED) d.mesh = items[i].placed->axes[0].mesh;
  unsigned rank = tf_mesh_axis_count(d.mesh);
  d.attrs = TF_ARENA_ARRAY(&context->arena, tf_shard_attr, rank);
  for (unsigned i = 0; i < rank; i++)
    d.attrs[i].kind = TF_SHARD_BROADCAST;
  for (unsigned i = 0; i < count; i++) {
    if (items[i].kind == TF_VALUE_PLACED) {
      if (!deal_one(&d, items[i].placed, reason)) return NULL;
      continue;
    }
    const tf_dim *dim = tf_value_dim(context, &items[i]);
    if (!dim) return *reason = "a shape with N @ m.a is flat", NULL;
    TF_VEC_PUSH(&context->arena, &d.extents, dim);
  }
  const tf_tuple *shape = tf_tuple_dims(context, (unsigned)d.extents.count, d.extents.items);
  const tf_layout *plain = tf_layout_plain(context, shape, strides);
  if (!plain) return *reason = "the strides do not match the dealt shape", NULL;
  return tf_layout_shard(context, plain, rank, d.attrs, d.mesh);
}

/* The layout of a shape, dealt or not, with strides or null. */
static const tf_layout *layout_of_shape(tf_context *context, const tf_value *shape, const tf_value *strides,
                                        const char **reason) {
  const tf_tuple *steps = NULL;
  if (strides && strides->kind != TF_VALUE_NONE) {
    steps = tf_value_to_tuple(context, strides);
    if (!steps) return *reason = "strides are a tuple of integers and dims", NULL;
    if (tf_tuple_is_leaf(steps)) steps = tf_tuple_list(context, 1, &steps);
  }
  if (has_placed(shape)) {
    bool single = shape->kind == TF_VALUE_PLACED;
    return deal(context, single ? 1 : shape->list.count, single ? shape : shape->list.items, steps, reason);
  }
  const tf_tuple *extents = tf_value_to_tuple(context, shape);
  if (!extents) return *reason = "a shape is a tuple of integers and dims", NULL;
  const tf_layout *layout = tf_layout_plain(context, extents, steps);
  if (!layout) *reason = "shape and strides differ in structure";
  return layout;
}

bool tf_value_to_layout(tf_context *context, const tf_value *value, const tf_layout **out, const char **reason) {
  *reason = NULL;
  *out = NULL;
  if (value->kind == TF_VALUE_NONE) return true;
  if (value->kind == TF_VALUE_LAYOUT) {
    *out = value->layout;
    return true;
  }
  if (value->kind != TF_VALUE_LIST && value->kind != TF_VALUE_PLACED) return false;
  const tf_value *shape = value, *strides = NULL;
  bool pair = value->kind == TF_VALUE_LIST && value->list.count == 2 && value->list.items[0].kind == TF_VALUE_LIST &&
              value->list.items[1].kind == TF_VALUE_LIST;
  if (pair) {
    shape = &value->list.items[0];
    strides = &value->list.items[1];
  }
  *out = layout_of_shape(context, shape, strides, reason);
  return *out != NULL;
}

bool tf_value_to_dealt_shape(tf_context *context, const tf_value *value, const tf_tuple **shape,
                             const tf_layout **layout, const char **reason) {
  *reason = NULL;
  if (!has_placed(value)) {
    *shape = tf_value_to_shape(context, value);
    return *shape != NULL;
  }
  bool single = value->kind == TF_VALUE_PLACED;
  unsigned count = single ? 1 : value->list.count;
  const tf_value *items = single ? value : value->list.items;
  const tf_dim **extents = TF_ARENA_ARRAY(&context->arena, const tf_dim *, count);
  for (unsigned i = 0; i < count; i++)
    extents[i] = items[i].kind == TF_VALUE_PLACED ? items[i].placed->extent : tf_value_dim(context, &items[i]);
  *layout = deal(context, count, items, NULL, reason);
  if (*layout) *shape = tf_tuple_dims(context, count, extents);
  return *layout != NULL;
}

/* ---- The constructors ---- */
/* Reports what is wrong with an argument: the reason found, or what would have been right. */
static tf_value refuse(const tf_bound_args *args, unsigned index, const char *reason, const char *wanted) {
  if (!reason) return tf_bad_argument(args, index, wanted);
  tf_report(args->site->context, args->locs[index], CALL_REFUSED, args->site->name, reason);
  return TF_VALUE_OF_ERROR;
}

static bool argument_layout(const tf_bound_args *args, unsigned index, const tf_layout **out) {
  const char *reason;
  if (tf_value_to_layout(args->site->context, &args->values[index], out, &reason)) return true;
  (void)refuse(args, index, reason, layout_wanted);
  return false;
}

static bool argument_mesh(const tf_bound_args *args, unsigned index, const tf_mesh **out) {
  *out = args->values[index].kind == TF_VALUE_MESH ? args->values[index].mesh.mesh : NULL;
  if (!*out) (void)tf_bad_argument(args, index, "a mesh");
  return *out != NULL;
}

tf_value tf_builtin_TOPOLOGY(const tf_bound_args *args) {
  const char *name;
  tf_topology topology;
  if (!tf_argument_string(args, 0, &name) || !tf_argument_dim(args, 1, &topology.size)) return TF_VALUE_OF_ERROR;
  if (!tf_level_from_name(name, &topology.level)) return tf_bad_argument(args, 0, "\"cta\", \"warp\" or \"thread\"");
  return (tf_value){.kind = TF_VALUE_TOPOLOGY, .topology = topology};
}

tf_value tf_builtin_LAYOUT(const tf_bound_args *args) {
  const char *reason = NULL;
  const tf_layout *layout = layout_of_shape(args->site->context, &args->values[0], &args->values[1], &reason);
  return layout ? tf_value_of_layout(layout) : refuse(args, 0, reason, extents_wanted);
}

/* One level of composition: inner and outer are no compositions themselves. */
tf_value tf_builtin_COMPOSED_LAYOUT(const tf_bound_args *args) {
  const tf_layout *inner, *outer;
  const tf_dim *offset = NULL;
  if (!argument_layout(args, 0, &inner) || !argument_layout(args, 2, &outer)) return TF_VALUE_OF_ERROR;
  if (args->values[1].kind != TF_VALUE_NONE && !tf_argument_dim(args, 1, &offset)) return TF_VALUE_OF_ERROR;
  if (!outer || outer->kind != TF_LAYOUT_PLAIN) return tf_bad_argument(args, 2, "a plain Layout");
  if (inner && inner->kind != TF_LAYOUT_PLAIN && inner->kind != TF_LAYOUT_SWIZZLE)
    return tf_bad_argument(args, 0, "None, a Swizzle or a plain Layout");
  return tf_value_of_layout(tf_layout_composed(args->site->context, inner, offset, outer));
}

tf_value tf_builtin_SWIZZLE(const tf_bound_args *args) {
  unsigned b, m, s;
  if (!tf_argument_index(args, 0, &b) || !tf_argument_index(args, 1, &m) || !tf_argument_index(args, 2, &s))
    return TF_VALUE_OF_ERROR;
  if (b > 31 || m > 31 || s > 31 || b + m + s > 31 || (b && !s)) {
    tf_report(args->site->context, args->site->loc, SWIZZLE_BITS, b, m, s);
    return TF_VALUE_OF_ERROR;
  }
  return tf_value_of_layout(tf_layout_swizzle(args->site->context, b, m, s));
}

/* One Topology, or a tuple of them. */
static bool argument_topologies(const tf_bound_args *args, unsigned *count, tf_topology out[TF_MESH_MAX_LEVELS]) {
  const tf_value *value = &args->values[0];
  bool single = value->kind == TF_VALUE_TOPOLOGY;
  const tf_value *items = single ? value : value->kind == TF_VALUE_LIST ? value->list.items : NULL;
  *count = single ? 1 : items ? value->list.count : 0;
  bool good = *count >= 1 && *count <= TF_MESH_MAX_LEVELS;
  for (unsigned i = 0; i < *count && good; i++) {
    good = items[i].kind == TF_VALUE_TOPOLOGY;
    if (good) out[i] = items[i].topology;
  }
  if (!good) (void)tf_bad_argument(args, 0, "a tuple of one to four Topology");
  return good;
}

static bool argument_names(const tf_bound_args *args, unsigned *count, const char *const **out) {
  const tf_value *value = &args->values[2];
  bool single = value->kind == TF_VALUE_STRING;
  *count = 0;
  *out = NULL;
  if (value->kind == TF_VALUE_NONE) return true;
  bool good = single || value->kind == TF_VALUE_LIST;
  const tf_value *items = single ? value : good ? value->list.items : NULL;
  *count = single ? 1 : good ? value->list.count : 0;
  const char **names = TF_ARENA_ARRAY(&args->site->context->arena, const char *, *count);
  for (unsigned i = 0; i < *count && good; i++) {
    good = items[i].kind == TF_VALUE_STRING && (items[i].string[0] == '\0' || tf_is_identifier(items[i].string));
    if (good) names[i] = items[i].string;
    for (unsigned j = 0; j < i && good; j++)
      good = names[j][0] == '\0' || strcmp(names[i], names[j]) != 0;
  }
  *out = names;
  if (!good) (void)tf_bad_argument(args, 2, "a tuple of different names, one per axis");
  return good;
}

tf_value tf_builtin_MESH(const tf_bound_args *args) {
  unsigned level_count, name_count;
  tf_topology levels[TF_MESH_MAX_LEVELS];
  const char *const *names;
  const tf_layout *layout;
  if (!argument_topologies(args, &level_count, levels) || !argument_layout(args, 1, &layout) ||
      !argument_names(args, &name_count, &names))
    return TF_VALUE_OF_ERROR;
  const tf_tuple *shape = layout && !tf_layout_is_shard(layout) ? tf_layout_shape(layout) : NULL;
  if (!shape || !tf_tuple_is_flat(shape)) return tf_bad_argument(args, 1, "a flat layout");
  if (name_count && name_count != tf_tuple_leaf_count(shape)) {
    tf_report(args->site->context, args->locs[2], MESH_NAMES, name_count, tf_tuple_leaf_count(shape));
    return TF_VALUE_OF_ERROR;
  }
  const tf_mesh *mesh = tf_mesh_get(args->site->context, level_count, levels, layout, name_count, names);
  if (mesh) return tf_value_of_mesh(mesh, NULL);
  return tf_bad_argument(args, 1, "a flat layout, plain or composed without an inner one");
}

tf_value tf_builtin_SPLIT(const tf_bound_args *args) {
  tf_shard_attr attr = {.kind = TF_SHARD_SPLIT};
  if (!tf_argument_index(args, 0, &attr.axis)) return TF_VALUE_OF_ERROR;
  return (tf_value){.kind = TF_VALUE_SHARD_ATTR, .shard_attr = attr};
}

tf_value tf_builtin_BROADCAST(const tf_bound_args *args) {
  (void)args;
  return (tf_value){.kind = TF_VALUE_SHARD_ATTR, .shard_attr = {.kind = TF_SHARD_BROADCAST}};
}

tf_value tf_builtin_PARTIAL(const tf_bound_args *args) {
  tf_shard_attr attr = {.kind = TF_SHARD_PARTIAL, .reduce = TF_REDUCE_SUM};
  if (args->values[0].kind != TF_VALUE_NONE && !tf_value_to_reduce(&args->values[0], &attr.reduce))
    return tf_bad_argument(args, 0, "a ReduceKind such as \"sum\"");
  return (tf_value){.kind = TF_VALUE_SHARD_ATTR, .shard_attr = attr};
}

tf_value tf_builtin_DYNAMIC(const tf_bound_args *args) {
  (void)args;
  return (tf_value){.kind = TF_VALUE_SHARD_ATTR, .shard_attr = {.kind = TF_SHARD_DYNAMIC}};
}

tf_value tf_builtin_SHARD_LAYOUT(const tf_bound_args *args) {
  const tf_layout *layout;
  const tf_mesh *mesh;
  const tf_value *list = &args->values[1];
  if (!argument_layout(args, 0, &layout) || !argument_mesh(args, 2, &mesh)) return TF_VALUE_OF_ERROR;
  if (!layout || tf_layout_is_shard(layout) || layout->kind == TF_LAYOUT_SWIZZLE)
    return tf_bad_argument(args, 0, "a layout without a mesh");
  bool single = list->kind == TF_VALUE_SHARD_ATTR;
  if (!single && list->kind != TF_VALUE_LIST)
    return tf_bad_argument(args, 1, "a tuple of Split, Broadcast and Partial");
  unsigned count = single ? 1 : list->list.count;
  tf_shard_attr *attrs = TF_ARENA_ARRAY(&args->site->context->arena, tf_shard_attr, count);
  for (unsigned i = 0; i < count; i++) {
    const tf_value *item = single ? list : &list->list.items[i];
    if (item->kind != TF_VALUE_SHARD_ATTR) return tf_bad_argument(args, 1, "a tuple of Split, Broadcast and Partial");
    attrs[i] = item->shard_attr;
  }
  if (count == tf_mesh_axis_count(mesh))
    return tf_value_of_layout(tf_layout_shard(args->site->context, layout, count, attrs, mesh));
  tf_report(args->site->context, args->locs[1], SHARD_ATTRS, count, tf_mesh_axis_count(mesh));
  return TF_VALUE_OF_ERROR;
}

tf_value tf_builtin_TENSOR_TYPE(const tf_bound_args *args) {
  tf_context *context = args->site->context;
  const tf_tuple *shape;
  const tf_layout *layout, *sugar = NULL;
  const char *reason;
  tf_dtype dtype;
  tf_storage storage = TF_STORAGE_GMEM;
  if (!tf_value_to_dealt_shape(context, &args->values[0], &shape, &sugar, &reason))
    return refuse(args, 0, reason, extents_wanted);
  if (!tf_value_to_dtype(&args->values[1], &dtype))
    return tf_bad_argument(args, 1, "a dtype such as DType.f32 or \"f32\"");
  if (!argument_layout(args, 2, &layout)) return TF_VALUE_OF_ERROR;
  if (args->values[3].kind != TF_VALUE_NONE && !tf_value_to_storage(&args->values[3], &storage))
    return tf_bad_argument(args, 3, "a storage such as StorageKind.SMEM or \"smem\"");
  const tf_dim **extents = TF_ARENA_ARRAY(&context->arena, const tf_dim *, tf_tuple_leaf_count(shape));
  tf_tuple_leaves(shape, extents);
  const tf_type *type =
      tf_type_tensor(context, tf_tuple_leaf_count(shape), extents, dtype, layout ? layout : sugar, storage);
  return (tf_value){.kind = TF_VALUE_TYPE, .type = {type, false}};
}

/* ---- Slices of a mesh ---- */
const tf_mesh *tf_static_slice(tf_context *context, const tf_mesh *mesh, unsigned count, const tf_slice_range *ranges,
                               const char **reason) {
  unsigned rank = tf_mesh_axis_count(mesh);
  int64_t *lo = TF_ARENA_ARRAY(&context->arena, int64_t, rank), *hi = TF_ARENA_ARRAY(&context->arena, int64_t, rank);
  if (count > rank) return *reason = "it has more indices than the mesh has axes", NULL;
  if (tf_mesh_is_slice(mesh)) return *reason = "a slice of a mesh cannot be sliced again", NULL;
  for (unsigned i = 0; i < rank; i++) {
    int64_t extent;
    if (!tf_dim_is_static(tf_mesh_axis_extent(mesh, i), &extent))
      return *reason = "a mesh with a dynamic extent cannot be sliced", NULL;
    tf_slice_range range = i < count ? ranges[i] : (tf_slice_range){0};
    if (range.is_index) {
      if (range.lower < -extent || range.lower >= extent) return *reason = "an index lies outside its axis", NULL;
      lo[i] = range.lower < 0 ? range.lower + extent : range.lower;
      hi[i] = lo[i] + 1;
      continue;
    }
    lo[i] = !range.has_lower ? 0 : range.lower < 0 && range.lower >= -extent ? range.lower + extent : range.lower;
    hi[i] = !range.has_upper ? extent : range.upper < 0 && range.upper >= -extent ? range.upper + extent : range.upper;
    if (lo[i] < 0 || hi[i] > extent) return *reason = "it reaches outside the mesh", NULL;
    if (lo[i] >= hi[i]) return *reason = "it is empty", NULL;
  }
  return tf_mesh_slice(context, mesh, lo, hi, reason);
}
