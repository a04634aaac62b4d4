/* Parameters of a function: sharded or not, storage, extents, and the DimVars that they have to determine.
 *
 * A DimVar gets its value at launch from an argument's shape, so each one that a function uses anywhere has to be, times a number
 * at most, the extent of some axis of a tensor parameter. */
#include "IR/View.h"
#include "Verify/Calls.h"
#include "Verify/State.h"

#include <string.h>

static tf_loc param_loc(const tf_stmt *function, const tf_expr *param) {
  return param->loc.line != 0 ? param->loc : function->loc;
}

static bool is_tensor_param(const tf_expr *param) {
  return tf_type_is_tensor(param->type) && !tf_type_is_scalar(param->type);
}

/* ---- Layouts, storage, extents -------------------------------------------------------------------------------------------- */

static void check_homogeneity(tf_verifier *v, const tf_stmt *function) {
  const tf_expr *first = NULL;
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_expr *param = function->function.params[i];
    if (!is_tensor_param(param)) continue;
    bool sharded = tf_layout_is_shard(tf_type_layout(param->type));
    if (first && sharded != tf_layout_is_shard(tf_type_layout(first->type))) {
      tf_report(v->context, param_loc(function, param), PARAM_MIXED, param->var.name,
                sharded ? "sharded" : "not sharded", first->var.name, sharded ? "not" : "sharded");
      tf_report(v->context, param_loc(function, first), PARAMETER_HERE, first->var.name,
                tf_type_print(v->context, first->type));
      return;
    }
    first = first ? first : param;
  }
}

static const char *allowed_storage(bool host, bool kernel) {
  return host ? "gmem or host" : kernel ? "gmem" : "gmem, smem or rmem";
}

static void check_param(tf_verifier *v, const tf_stmt *function, const tf_expr *param) {
  tf_loc loc = param_loc(function, param);
  if (!tf_type_is_tensor(param->type)) {
    tf_report(v->context, loc, PARAM_KIND, param->var.name, tf_type_print(v->context, param->type));
    return;
  }
  if (tf_type_is_scalar(param->type)) return;
  tf_storage storage = tf_type_storage(param->type);
  bool host = tf_function_is_host(function), kernel = !host && tf_function_is_kernel(v->module, function);
  bool fits = storage == TF_STORAGE_GMEM || (host && storage == TF_STORAGE_HOST) ||
              (!host && !kernel && (storage == TF_STORAGE_SMEM || storage == TF_STORAGE_RMEM));
  if (!fits)
    tf_report(v->context, loc, PARAM_STORAGE, param->var.name, tf_storage_name(storage),
              host     ? "a host function"
              : kernel ? "a kernel"
                       : "a device function",
              allowed_storage(host, kernel));
  const char *reason;
  if (!tf_view_of(v->context, param, &reason)) tf_report(v->context, loc, PARAM_LAYOUT, param->var.name, reason);
  for (unsigned axis = 0; axis < tf_type_rank(param->type); axis++) {
    int64_t min, max;
    tf_dim_range(tf_type_extent(param->type, axis), &min, &max);
    if (min < 0)
      tf_report(v->context, loc, EXTENT_NEGATIVE, axis, tf_dim_print(v->context, tf_type_extent(param->type, axis)));
  }
}

/* ---- DimVars ---------------------------------------------------------------------------------------------------------------- */

typedef struct tf_dim_use {
  tf_verifier *v;
  const tf_stmt *function;
  tf_loc loc;
  struct {
    TF_VEC(const char *);
  } solved, missing;
} tf_dim_use;

static bool contains(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static void use_name(void *user, const char *name, int64_t lo, int64_t hi) {
  (void)lo;
  (void)hi;
  tf_dim_use *use = user;
  if (contains(use->solved.items, use->solved.count, name) || contains(use->missing.items, use->missing.count, name))
    return;
  TF_VEC_PUSH(&use->v->context->arena, &use->missing, name);
  tf_report(use->v->context, use->loc, DIM_UNSOLVED, name, use->function->function.name, name, name);
}

static void use_dim(tf_dim_use *use, const tf_dim *dim) {
  if (dim) tf_dim_visit_vars(dim, use_name, use);
}

static void use_tuple(tf_dim_use *use, const tf_tuple *tuple) {
  if (!tuple) return;
  if (tf_tuple_is_leaf(tuple)) {
    use_dim(use, tf_tuple_dim(tuple));
    return;
  }
  for (unsigned i = 0; i < tf_tuple_count(tuple); i++)
    use_tuple(use, tf_tuple_element(tuple, i));
}

static void use_layout(tf_dim_use *use, const tf_layout *layout);

static void use_mesh(tf_dim_use *use, const tf_mesh *mesh) {
  if (!mesh) return;
  for (unsigned i = 0; i < tf_mesh_level_count(mesh); i++)
    use_dim(use, tf_mesh_level(mesh, i).size);
  use_layout(use, tf_mesh_layout(mesh));
}

static void use_layout(tf_dim_use *use, const tf_layout *layout) {
  if (!layout || tf_layout_get_kind(layout) == TF_LAYOUT_SWIZZLE) return;
  if (tf_layout_get_kind(layout) == TF_LAYOUT_PLAIN) {
    use_tuple(use, tf_layout_shape(layout));
    use_tuple(use, tf_layout_strides(layout));
    return;
  }
  if (tf_layout_get_kind(layout) == TF_LAYOUT_COMPOSED) use_dim(use, tf_layout_offset(layout));
  if (tf_layout_is_shard(layout)) use_mesh(use, tf_layout_mesh(layout));
  use_layout(use, tf_layout_outer(layout));
}

static void use_type(tf_dim_use *use, const tf_type *type) {
  if (!type || !tf_type_is_tensor(type)) return;
  for (unsigned axis = 0; axis < tf_type_rank(type); axis++)
    use_dim(use, tf_type_extent(type, axis));
  use_layout(use, tf_type_layout(type));
}

/* Attributes that hold dims, by their kind in the op table. */
static void use_attr(tf_dim_use *use, tf_attr_kind kind, tf_attr attr) {
  switch (kind) {
  case TF_ATTR_TYPE:
    use_type(use, attr.type);
    break;
  case TF_ATTR_LAYOUT:
    use_layout(use, attr.layout);
    break;
  case TF_ATTR_SHAPE:
    use_tuple(use, attr.tuple);
    break;
  case TF_ATTR_DIM:
    use_dim(use, attr.dim);
    break;
  case TF_ATTR_MESH:
    use_mesh(use, attr.mesh);
    break;
  default:
    break;
  }
}

static void use_attrs(tf_dim_use *use, tf_op op, const tf_attr *attrs) {
  const tf_op_info *info = tf_op_get_info(op);
  for (unsigned i = 0; i < info->attr_count; i++)
    use_attr(use, info->attrs[i].kind, attrs[i]);
}

static void use_expr(tf_dim_use *use, const tf_expr *expr, unsigned depth) {
  if (!expr || expr->kind != TF_EXPR_CALL || depth > TF_MAX_NESTING) return;
  use_attrs(use, expr->call.op, expr->call.attrs);
  for (unsigned i = 0; i < expr->call.arg_count; i++)
    use_expr(use, expr->call.args[i], depth + 1);
}

static void use_block(tf_dim_use *use, const tf_stmt *block, unsigned depth);

static void use_stmt(tf_dim_use *use, const tf_stmt *stmt) {
  use->loc = stmt->loc;
  switch (stmt->kind) {
  case TF_STMT_LET:
    use_expr(use, stmt->let.value, 0);
    break;
  case TF_STMT_FOR:
    use_expr(use, stmt->for_.start, 0);
    use_expr(use, stmt->for_.stop, 0);
    use_expr(use, stmt->for_.step, 0);
    break;
  case TF_STMT_WHILE:
    use_expr(use, stmt->while_.cond, 0);
    break;
  case TF_STMT_IF:
    use_expr(use, stmt->if_.cond, 0);
    break;
  case TF_STMT_MESH_SCOPE:
    use_mesh(use, stmt->mesh_scope.mesh);
    break;
  case TF_STMT_EVALUATE:
    if (!stmt->evaluate.callee) use_attrs(use, stmt->evaluate.op, stmt->evaluate.attrs);
    for (unsigned i = 0; i < stmt->evaluate.arg_count; i++)
      use_expr(use, stmt->evaluate.args[i], 0);
    break;
  default:
    break;
  }
}

static void use_block(tf_dim_use *use, const tf_stmt *block, unsigned depth) {
  if (depth > TF_MAX_NESTING) return;
  tf_block_cursor cursor = tf_block_begin(block);
  for (const tf_stmt *stmt = tf_block_next(&cursor); stmt; stmt = tf_block_next(&cursor)) {
    use_stmt(use, stmt);
    if (tf_block_continues(&cursor)) continue;
    const tf_stmt *blocks[2];
    unsigned count = tf_stmt_blocks(stmt, blocks);
    for (unsigned i = 0; i < count; i++)
      use_block(use, blocks[i], depth + 1);
  }
}

static void check_dims(tf_verifier *v, const tf_stmt *function) {
  tf_dim_use use = {.v = v, .function = function};
  for (unsigned i = 0; i < function->function.param_count; i++) {
    const tf_expr *param = function->function.params[i];
    if (!is_tensor_param(param)) continue;
    for (unsigned axis = 0; axis < tf_type_rank(param->type); axis++) {
      const char *name;
      int64_t lo, hi, scale;
      if (tf_dim_is_scaled_var(v->context, tf_type_extent(param->type, axis), &name, &lo, &hi, &scale))
        TF_VEC_PUSH(&v->context->arena, &use.solved, name);
    }
  }
  for (unsigned i = 0; i < function->function.param_count; i++) {
    use.loc = param_loc(function, function->function.params[i]);
    use_type(&use, function->function.params[i]->type);
  }
  use_block(&use, function->function.body, 0);
}

void tf_verify_params(tf_verifier *v, const tf_stmt *function) {
  for (unsigned i = 0; i < function->function.param_count; i++)
    check_param(v, function, function->function.params[i]);
  check_homogeneity(v, function);
  check_dims(v, function);
  if (function->function.output_count > function->function.param_count)
    tf_report(v->context, function->loc, OUTPUT_COUNT, function->function.name, function->function.output_count,
              function->function.param_count);
}
