/* Equality and order of compile-time values, as conditions ask for them. */
#include <string.h>

#include "IR/Text/Static.h"
#include "Support/Context.h"

/* A dtype or storage compared with its name. */
static bool equals_name(const tf_value *value, const char *name) {
  tf_dtype dtype;
  tf_storage storage;
  if (value->kind == TF_VALUE_DTYPE) return tf_dtype_from_name(name, &dtype) && dtype == value->dtype;
  if (value->kind == TF_VALUE_STORAGE) return tf_storage_from_name(name, &storage) && storage == value->storage;
  return false;
}

static bool is_number(const tf_value *v) {
  return v->kind == TF_VALUE_INT || v->kind == TF_VALUE_FLOAT;
}

/* long double holds every 64-bit integer and every double. */
static long double as_number(const tf_value *v) {
  return v->kind == TF_VALUE_INT ? (long double)v->i : (long double)v->f;
}

static bool lists_equal(const tf_value *a, const tf_value *b) {
  if (a->list.count != b->list.count) return false;
  for (unsigned i = 0; i < a->list.count; i++)
    if (!tf_value_equal(&a->list.items[i], &b->list.items[i])) return false;
  return true;
}

static bool placed_equal(const tf_placed *a, const tf_placed *b) {
  if (a->extent != b->extent || a->count != b->count) return false;
  for (unsigned i = 0; i < a->count; i++)
    if (a->axes[i].mesh != b->axes[i].mesh || a->axes[i].axis != b->axes[i].axis) return false;
  return true;
}

static bool same_kind_equal(const tf_value *a, const tf_value *b) {
  switch (a->kind) {
  case TF_VALUE_NONE:
    return true;
  case TF_VALUE_BOOL:
    return a->b == b->b;
  case TF_VALUE_LIST:
    return lists_equal(a, b);
  case TF_VALUE_DTYPE:
    return a->dtype == b->dtype;
  case TF_VALUE_STORAGE:
    return a->storage == b->storage;
  case TF_VALUE_LEVEL:
    return a->level == b->level;
  case TF_VALUE_TOPOLOGY:
    return a->topology.level == b->topology.level && a->topology.size == b->topology.size;
  case TF_VALUE_MESH:
    return a->mesh.mesh == b->mesh.mesh;
  case TF_VALUE_TYPE:
    return a->type.type == b->type.type;
  case TF_VALUE_SHARD_ATTR:
    return a->shard_attr.kind == b->shard_attr.kind && a->shard_attr.axis == b->shard_attr.axis &&
           a->shard_attr.reduce == b->shard_attr.reduce;
  case TF_VALUE_BINARY_KIND:
  case TF_VALUE_UNARY_KIND:
  case TF_VALUE_REDUCE_KIND:
  case TF_VALUE_LAUNCH_ATTR_KIND:
    return a->enumerator == b->enumerator;
  case TF_VALUE_MESH_AXIS:
    return a->axis.mesh == b->axis.mesh && a->axis.axis == b->axis.axis;
  case TF_VALUE_PLACED:
    return placed_equal(a->placed, b->placed);
  case TF_VALUE_STRING:
  case TF_VALUE_PATH:
    return strcmp(a->string, b->string) == 0;
  default: /* one interned pointer each */
    return a->dim == b->dim;
  }
}

bool tf_value_equal(const tf_value *a, const tf_value *b) {
  if (is_number(a) && is_number(b)) return as_number(a) == as_number(b);
  if (a->kind == TF_VALUE_STRING && b->kind != TF_VALUE_STRING) return equals_name(b, a->string);
  if (b->kind == TF_VALUE_STRING && a->kind != TF_VALUE_STRING) return equals_name(a, b->string);
  return a->kind == b->kind && same_kind_equal(a, b);
}

static tf_compare_result result(bool truth) {
  return truth ? TF_COMPARE_TRUE : TF_COMPARE_FALSE;
}

static tf_compare_result compare_numbers(unsigned op, long double a, long double b) {
  switch (op) {
  case TF_SCALAR_BINARY_LT:
    return result(a < b);
  case TF_SCALAR_BINARY_LE:
    return result(a <= b);
  case TF_SCALAR_BINARY_GT:
    return result(a > b);
  default:
    return result(a >= b);
  }
}

/* By the bounds of the difference: the answer holds for every value of the DimVars, or is open. */
static tf_compare_result compare_dims(tf_context *context, unsigned op, const tf_dim *a, const tf_dim *b) {
  const tf_dim *difference = a && b ? tf_dim_binary(context, TF_DIM_SUB, a, b) : NULL;
  if (!difference) return TF_COMPARE_UNKNOWN;
  int64_t min, max;
  tf_dim_range(difference, &min, &max);
  tf_compare_result at_min = compare_numbers(op, (long double)min, 0.0L),
                    at_max = compare_numbers(op, (long double)max, 0.0L);
  return at_min == at_max ? at_min : TF_COMPARE_UNKNOWN; /* each relation is monotonous in the difference */
}

static tf_compare_result dims_equal(tf_context *context, const tf_value *a, const tf_value *b) {
  if (tf_value_equal(a, b)) return TF_COMPARE_TRUE;
  const tf_dim *x = tf_value_dim(context, a), *y = tf_value_dim(context, b);
  bool apart = compare_dims(context, TF_SCALAR_BINARY_LT, x, y) == TF_COMPARE_TRUE ||
               compare_dims(context, TF_SCALAR_BINARY_GT, x, y) == TF_COMPARE_TRUE;
  return apart ? TF_COMPARE_FALSE : TF_COMPARE_UNKNOWN;
}

static bool is_dim(const tf_value *v) {
  return v->kind == TF_VALUE_DIM || v->kind == TF_VALUE_INT;
}

static tf_compare_result equality(tf_context *context, const tf_value *a, const tf_value *b) {
  if ((a->kind == TF_VALUE_DIM || b->kind == TF_VALUE_DIM) && is_dim(a) && is_dim(b)) return dims_equal(context, a, b);
  return result(tf_value_equal(a, b));
}

static tf_compare_result negate(tf_compare_result truth) {
  return truth == TF_COMPARE_TRUE ? TF_COMPARE_FALSE : truth == TF_COMPARE_FALSE ? TF_COMPARE_TRUE : truth;
}

static tf_compare_result membership(tf_context *context, const tf_value *a, const tf_value *b) {
  if (b->kind == TF_VALUE_STRING && a->kind == TF_VALUE_STRING) return result(strstr(b->string, a->string) != NULL);
  if (b->kind != TF_VALUE_LIST) return TF_COMPARE_NONE;
  tf_compare_result found = TF_COMPARE_FALSE;
  for (unsigned i = 0; i < b->list.count; i++) {
    tf_compare_result one = equality(context, a, &b->list.items[i]);
    if (one == TF_COMPARE_TRUE) return one;
    if (one == TF_COMPARE_UNKNOWN) found = one;
  }
  return found;
}

tf_compare_result tf_static_compare(tf_context *context, unsigned op, const tf_value *a, const tf_value *b) {
  switch (op) {
  case TF_SCALAR_BINARY_EQ:
  case TF_BINARY_OP_IS:
    return equality(context, a, b);
  case TF_SCALAR_BINARY_NE:
  case TF_BINARY_OP_IS_NOT:
    return negate(equality(context, a, b));
  case TF_BINARY_OP_IN:
    return membership(context, a, b);
  case TF_BINARY_OP_NOT_IN:
    return negate(membership(context, a, b));
  default:
    break;
  }
  if (is_number(a) && is_number(b)) return compare_numbers(op, as_number(a), as_number(b));
  if (is_dim(a) && is_dim(b)) return compare_dims(context, op, tf_value_dim(context, a), tf_value_dim(context, b));
  return TF_COMPARE_NONE;
}
