/* Static functions beyond plain construction: MMA atoms and their tiles, T.spread, T.reduced, launch attributes. */
#include <tilefoundry/Builder.h>

#include "IR/LayoutHelpers.h"
#include "IR/Text/StaticCall.h"
#include "Support/Context.h"

/* Exactly `count` static numbers. */
static bool numbers(const tf_bound_args *args, unsigned index, unsigned count, int64_t *out, const char *wanted) {
  const tf_value *value = &args->values[index];
  bool good = value->kind == TF_VALUE_LIST && value->list.count == count;
  for (unsigned i = 0; i < count && good; i++)
    good = tf_value_int64(&value->list.items[i], &out[i]);
  if (!good) (void)tf_bad_argument(args, index, wanted);
  return good;
}

static tf_value refused(const tf_bound_args *args, unsigned index, const char *reason) {
  tf_report(args->site->context, args->locs[index], CALL_REFUSED, args->site->name, reason);
  return TF_VALUE_OF_ERROR;
}

/* ---- MMA ---- */
tf_value tf_builtin_ATOM(const tf_bound_args *args) {
  const tf_value *op = &args->values[0];
  const char *name = op->kind == TF_VALUE_MMA_OP ? op->mma_op : op->kind == TF_VALUE_STRING ? op->string : NULL;
  const tf_mma_atom *atom = name ? tf_mma_atom_get(args->site->context, name) : NULL;
  if (!atom) return tf_bad_argument(args, 0, "an instruction such as T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN");
  return (tf_value){.kind = TF_VALUE_ATOM, .atom = atom};
}

tf_value tf_builtin_TILE(const tf_bound_args *args) {
  int64_t mnk[3], warps[2], unused[2];
  const char *reason = NULL;
  const tf_value *atom = &args->values[0];
  if (atom->kind != TF_VALUE_ATOM || tf_mma_atom_is_tile(atom->atom, unused))
    return tf_bad_argument(args, 0, "an atom made by T.cuda.mma.atom");
  if (!numbers(args, 1, 3, mnk, "three numbers (M, N, K)") || !numbers(args, 2, 2, warps, "two numbers (wm, wn)"))
    return TF_VALUE_OF_ERROR;
  const tf_mma_atom *tile = tf_mma_atom_tile(args->site->context, atom->atom, mnk, warps, &reason);
  return tile ? (tf_value){.kind = TF_VALUE_ATOM, .atom = tile} : refused(args, 1, reason);
}

#define MAX_STACK 8

tf_value tf_builtin_STACK(const tf_bound_args *args) {
  const tf_value *layout = &args->values[0], *list = &args->values[1];
  int64_t extents[MAX_STACK];
  if (layout->kind != TF_VALUE_LAYOUT || !tf_layout_is_shard(layout->layout))
    return tf_bad_argument(args, 0, "a fragment's layout such as atom.C");
  bool single = list->kind == TF_VALUE_INT;
  unsigned count = single ? 1 : list->kind == TF_VALUE_LIST ? list->list.count : 0;
  bool good = count >= 1 && count <= MAX_STACK;
  for (unsigned i = 0; i < count && good; i++)
    good = tf_value_int64(single ? list : &list->list.items[i], &extents[i]) && extents[i] >= 1;
  if (!good) return tf_bad_argument(args, 1, "one to eight positive numbers");
  const tf_layout *stacked = tf_mma_stack(args->site->context, layout->layout, count, extents);
  return stacked ? tf_value_of_layout(stacked) : tf_bad_argument(args, 0, "a fragment's layout such as atom.C");
}

/* ---- T.spread, T.reduced ---- */
tf_value tf_builtin_SPREAD(const tf_bound_args *args) {
  tf_context *context = args->site->context;
  const tf_layout *layout;
  const char *reason = NULL;
  int64_t vec;
  if (args->values[0].kind != TF_VALUE_MESH) return tf_bad_argument(args, 0, "a mesh");
  const tf_tuple *shape = tf_value_to_shape(context, &args->values[1]);
  const tf_dim *elements = shape ? tf_tuple_product(context, shape) : NULL;
  if (!elements) return tf_bad_argument(args, 1, "a tuple of integers and dims");
  if (!tf_argument_int(args, 2, &vec)) return TF_VALUE_OF_ERROR;
  tf_status status = tf_layout_spread(context, args->values[0].mesh.mesh, elements, vec, &layout, &reason);
  return status == TF_OK ? tf_value_of_layout(layout)
                         : refused(args, 0, reason ? reason : "the mesh has too many axes");
}

#define MAX_AXES 32

/* Axes as numbers; false if there is something else among them. */
static bool read_axes(const tf_value *value, unsigned *count, int64_t *out) {
  bool single = value->kind == TF_VALUE_INT;
  *count = single ? 1 : value->kind == TF_VALUE_LIST ? value->list.count : MAX_AXES + 1;
  for (unsigned i = 0; i < *count && *count <= MAX_AXES; i++)
    if (!tf_value_int64(single ? value : &value->list.items[i], &out[i])) return false;
  return *count <= MAX_AXES;
}

tf_value tf_builtin_REDUCED(const tf_bound_args *args) {
  tf_context *context = args->site->context;
  const tf_value *value = &args->values[0];
  const tf_layout *layout;
  const char *reason = NULL;
  int64_t axes[MAX_AXES];
  unsigned axis_count;
  if (value->kind != TF_VALUE_NONE && value->kind != TF_VALUE_LAYOUT)
    return tf_bad_argument(args, 0, "a layout or None");
  const tf_tuple *shape = tf_value_to_shape(context, &args->values[1]);
  if (!shape) return tf_bad_argument(args, 1, "a tuple of integers");
  if (!read_axes(&args->values[2], &axis_count, axes)) return tf_bad_argument(args, 2, "a tuple of axes of the shape");
  unsigned rank = tf_tuple_leaf_count(shape);
  const tf_dim **extents = TF_ARENA_ARRAY(&context->arena, const tf_dim *, rank);
  tf_tuple_leaves(shape, extents);
  tf_status status = tf_layout_reduced(context, value->kind == TF_VALUE_LAYOUT ? value->layout : NULL, rank, extents,
                                       axis_count, axes, &layout, &reason);
  return status == TF_OK ? tf_value_of_layout(layout)
                         : refused(args, 0, reason ? reason : "the shape has too many axes");
}

/* ---- Launch attributes ---- */
/* (CudaLaunchAttr.X, value) */
static bool read_launch_attr(const tf_value *pair, tf_launch_attr *out) {
  *out = (tf_launch_attr){0};
  if (pair->kind != TF_VALUE_LIST || pair->list.count != 2) return false;
  const tf_value *kind = &pair->list.items[0], *value = &pair->list.items[1];
  if (kind->kind != TF_VALUE_LAUNCH_ATTR_KIND) return false;
  out->kind = (tf_launch_attr_kind)kind->enumerator;
  if (out->kind != TF_LAUNCH_ATTR_CLUSTER_DIMENSION) {
    if (value->kind == TF_VALUE_BOOL) out->values[0] = value->b;
    return value->kind == TF_VALUE_BOOL ||
           (tf_value_int64(value, &out->values[0]) && out->values[0] >= 0 && out->values[0] <= 1);
  }
  bool single = value->kind == TF_VALUE_INT;
  unsigned count = single ? 1 : value->kind == TF_VALUE_LIST ? value->list.count : 0;
  bool good = count >= 1 && count <= 3;
  for (unsigned i = 0; i < 3; i++)
    out->values[i] = 1;
  for (unsigned i = 0; i < count && good; i++)
    good = tf_value_int64(single ? value : &value->list.items[i], &out->values[i]);
  return good;
}

tf_value tf_builtin_LAUNCH_ATTRS(const tf_bound_args *args) {
  const tf_value *list = &args->values[0];
  tf_launch_attr entries[TF_LAUNCH_ATTR_COUNT];
  bool none = list->kind == TF_VALUE_NONE;
  bool pair = list->kind == TF_VALUE_LIST && list->list.count && list->list.items[0].kind == TF_VALUE_LAUNCH_ATTR_KIND;
  unsigned count = none ? 0 : pair ? 1 : list->kind == TF_VALUE_LIST ? list->list.count : 1;
  bool good = none || (list->kind == TF_VALUE_LIST && count <= TF_LAUNCH_ATTR_COUNT);
  for (unsigned i = 0; i < count && good; i++)
    good = read_launch_attr(pair ? list : &list->list.items[i], &entries[i]);
  if (!good) return tf_bad_argument(args, 0, "pairs such as (CudaLaunchAttr.COOPERATIVE, True)");
  return (tf_value){.kind = TF_VALUE_LAUNCH_ATTRS,
                    .launch_attrs = tf_launch_attrs_get(args->site->context, count, entries)};
}
