/* The DimVars that a module mentions, found wherever dims can stand. Types, layouts and meshes are shared: each is read once. */
#include "IR/Text/ElaborateIntrinsic.h"
#include "IR/LayoutImpl.h"
#include "IR/Text/PrintInternal.h"

typedef struct collector {
  tf_printer *p;
  tf_print_table seen; /* objects, and names of DimVars */
  tf_dim_vars *out;
} collector;

static bool first_time(collector *c, const void *object) {
  if (!object) return false;
  return tf_print_entry_of(c->p->context, &c->seen, object)->count++ == 0;
}

static void add_var(void *user, const char *name, int64_t lo, int64_t hi) {
  collector *c = user;
  const char *interned = tf_context_intern_cstr(c->p->context, name);
  if (!first_time(c, interned)) return;
  tf_dim_var_info info = {interned, lo, hi};
  TF_VEC_PUSH(&c->p->context->arena, c->out, info);
}

static void from_dim(collector *c, const tf_dim *dim) {
  if (first_time(c, dim)) tf_dim_visit_vars(dim, add_var, c);
}

static void from_tuple(collector *c, const tf_tuple *tuple) {
  if (!first_time(c, tuple)) return;
  for (unsigned i = 0; i < tuple->leaf_count; i++)
    from_dim(c, tf_tuple_leaf_at(tuple, i));
}

static void from_layout(collector *c, const tf_layout *layout);

static void from_mesh(collector *c, const tf_mesh *mesh) {
  if (!first_time(c, mesh)) return;
  for (unsigned i = 0; i < mesh->level_count; i++)
    from_dim(c, tf_mesh_level(mesh, i).size);
  from_layout(c, mesh->layout);
}

static void from_layout(collector *c, const tf_layout *layout) {
  if (!first_time(c, layout)) return;
  from_tuple(c, layout->shape);
  from_tuple(c, layout->strides);
  from_dim(c, layout->offset);
  from_layout(c, layout->inner);
  from_layout(c, layout->outer);
  from_mesh(c, layout->mesh);
}

static void from_type(collector *c, const tf_type *type) {
  if (!first_time(c, type) || !tf_type_is_tensor(type)) return;
  for (unsigned i = 0; i < tf_type_rank(type); i++)
    from_dim(c, tf_type_extent(type, i));
  from_layout(c, tf_type_layout(type));
}

static void from_attr(collector *c, tf_attr_kind kind, tf_attr attr) {
  switch (kind) {
  case TF_ATTR_TYPE:
    from_type(c, attr.type);
    break;
  case TF_ATTR_LAYOUT:
    from_layout(c, attr.layout);
    break;
  case TF_ATTR_SHAPE:
    from_tuple(c, attr.tuple);
    break;
  case TF_ATTR_DIM:
    from_dim(c, attr.dim);
    break;
  case TF_ATTR_MESH:
    from_mesh(c, attr.mesh);
    break;
  default: /* the others hold no dims */
    break;
  }
}

static void from_invocation(collector *c, const tf_invocation *invocation);

static void from_expr(collector *c, const tf_expr *expr) {
  if (!expr) return;
  if (expr->kind == TF_EXPR_CALL) {
    tf_invocation invocation = tf_invocation_of_call(expr);
    from_invocation(c, &invocation);
  }
  for (unsigned i = 0; expr->kind == TF_EXPR_TUPLE && i < expr->tuple.count; i++)
    from_expr(c, expr->tuple.elements[i]);
}

static void from_invocation(collector *c, const tf_invocation *invocation) {
  const tf_op_info *info = tf_op_get_info(invocation->op);
  for (unsigned i = 0; i < invocation->arg_count; i++)
    from_expr(c, invocation->args[i]);
  for (unsigned i = 0; info && i < info->attr_count; i++)
    from_attr(c, info->attrs[i].kind, invocation->attrs[i]);
}

static bool from_stmt(void *user, const tf_stmt *stmt) {
  collector *c = user;
  switch (stmt->kind) {
  case TF_STMT_LET:
    from_expr(c, stmt->let.value);
    break;
  case TF_STMT_FOR:
    from_expr(c, stmt->for_.start);
    from_expr(c, stmt->for_.stop);
    from_expr(c, stmt->for_.step);
    break;
  case TF_STMT_WHILE:
  case TF_STMT_IF:
    from_expr(c, tf_stmt_cond(stmt));
    break;
  case TF_STMT_MESH_SCOPE:
    from_mesh(c, stmt->mesh_scope.mesh);
    break;
  case TF_STMT_EVALUATE: {
    tf_invocation invocation = tf_invocation_of_evaluate(stmt);
    from_invocation(c, &invocation);
    break;
  }
  case TF_STMT_INTRINSIC:
    for (unsigned i = 0; i < stmt->intrinsic.arg_count; i++)
      from_expr(c, stmt->intrinsic.args[i]);
    break;
  default:
    break;
  }
  return true;
}

/* A static name that a condition mentions. */
static void from_value(collector *c, const tf_value *value) {
  switch (value->kind) {
  case TF_VALUE_DIM:
    from_dim(c, value->dim);
    break;
  case TF_VALUE_LIST:
    for (unsigned i = 0; i < value->list.count; i++)
      from_value(c, &value->list.items[i]);
    break;
  case TF_VALUE_TOPOLOGY:
    from_dim(c, value->topology.size);
    break;
  case TF_VALUE_LAYOUT:
    from_layout(c, value->layout);
    break;
  case TF_VALUE_MESH:
    from_mesh(c, value->mesh.mesh);
    break;
  case TF_VALUE_TYPE:
    from_type(c, value->type.type);
    break;
  default: /* the others hold no dims */
    break;
  }
}

static void from_intrinsic(collector *c, const tf_intrinsic *intrinsic) {
  const struct tf_syntax *source = intrinsic->source;
  for (unsigned i = 0; source && i < source->static_count; i++)
    from_value(c, &source->values[i]);
}

void tf_print_collect_dims(tf_printer *p, const tf_module *module, tf_dim_vars *out) {
  collector c = {.p = p, .out = out};
  for (unsigned i = 0; i < module->intrinsic_count; i++)
    from_intrinsic(&c, module->intrinsics[i]);
  for (unsigned i = 0; i < module->function_count; i++) {
    const tf_stmt *function = module->functions[i];
    for (unsigned k = 0; k < function->function.param_count; k++)
      from_type(&c, function->function.params[k]->type);
    tf_stmt_walk(function->function.body, from_stmt, &c);
  }
}

/* ---- Names that mean something else ---- */
static void hide(tf_printer *p, const char *name) {
  tf_print_entry_of(p->context, &p->hidden, tf_context_intern_cstr(p->context, name))->count = 1;
}

void tf_print_hide_dims(tf_printer *p, const tf_module *module) {
  for (unsigned i = 0; i < module->intrinsic_count; i++) {
    hide(p, module->intrinsics[i]->name);
    for (unsigned k = 0; k < module->intrinsics[i]->param_count; k++)
      hide(p, module->intrinsics[i]->params[k].name);
  }
  for (unsigned i = 0; i < module->function_count; i++) {
    const tf_stmt *function = module->functions[i];
    hide(p, function->function.name);
    for (unsigned k = 0; k < function->function.param_count; k++)
      hide(p, function->function.params[k]->var.name);
  }
}

bool tf_print_writes_out(const tf_context *context, const char *name) {
  const tf_printer *p = context->printing;
  return tf_print_uses(name) || (p && (p->writes_out_all || tf_print_holds(&p->hidden, name)));
}
