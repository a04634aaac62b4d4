/* Functions: decorator, parameters, body. */
#include "IR/Text/Elaborate.h"
#include "IR/Text/PrintInternal.h"

#include <string.h>

#include "Support/Context.h"

/* ---- Tensor[shape, dtype, layout | storage, …] ---- */
typedef struct annotation {
  tf_elab *e;
  tf_dtype dtype;
  const tf_tuple *shape;
  const tf_layout *layout, *dealt;
  tf_storage storage;
  bool has_layout, has_storage;
} annotation;

static bool refuse_item(tf_elab *e, tf_loc loc, const char *wanted, const tf_value *value) {
  if (value->kind != TF_VALUE_ERROR) tf_report(e->context, loc, TENSOR_ITEM, wanted, tf_value_tell(e->context, value));
  return false;
}

/* The extent that is none, where the shape is written out. */
static bool refuse_shape(tf_elab *e, const tf_node *node, const tf_value *value) {
  static const char wanted[] = "a shape of integers and dims";
  bool listed = value->kind == TF_VALUE_LIST && node->kind == TF_NODE_TUPLE && node->list.count == value->list.count;
  for (unsigned i = 0; listed && i < value->list.count; i++) {
    const tf_value *item = &value->list.items[i];
    if (item->kind != TF_VALUE_PLACED && !tf_value_dim(e->context, item))
      return refuse_item(e, node->list.items[i]->loc, wanted, item);
  }
  return refuse_item(e, node->loc, wanted, value);
}

static bool read_shape(annotation *a, const tf_node *node) {
  const char *reason = NULL;
  tf_value value = tf_eval_static(a->e, node, "a shape");
  if (value.kind == TF_VALUE_ERROR) return false;
  if (tf_value_to_dealt_shape(a->e->context, &value, &a->shape, &a->dealt, &reason)) return true;
  if (!reason) return refuse_shape(a->e, node, &value);
  tf_report(a->e->context, node->loc, CALL_REFUSED, "Tensor", reason);
  return false;
}

static bool read_dtype(annotation *a, const tf_node *node) {
  tf_value value = tf_eval_static(a->e, node, "a dtype");
  return tf_value_to_dtype(&value, &a->dtype) || refuse_item(a->e, node->loc, "a dtype such as \"f32\"", &value);
}

/* Behind the dtype: a layout or None, then a storage; either may be missing. */
static bool read_rest(annotation *a, const tf_node *node) {
  const char *reason = NULL;
  tf_value value = tf_eval_static(a->e, node, "a layout or storage");
  if (value.kind == TF_VALUE_ERROR) return false;
  if (!a->has_storage && tf_value_to_storage(&value, &a->storage)) {
    a->has_storage = true;
    return true;
  }
  bool free = !a->has_layout && !a->has_storage;
  a->has_layout = true;
  if (free && tf_value_to_layout(a->e->context, &value, &a->layout, &reason)) return true;
  if (!reason) return refuse_item(a->e, node->loc, "a layout, None or a storage", &value);
  tf_report(a->e->context, node->loc, CALL_REFUSED, "Tensor", reason);
  return false;
}

tf_value tf_eval_tensor(tf_elab *e, const tf_node *node, bool is_const) {
  const tf_node *index = node->subscript.index;
  annotation a = {.e = e, .storage = TF_STORAGE_GMEM};
  if (index->kind != TF_NODE_TUPLE || index->list.count < 2 || index->list.count > 4) {
    if (index->kind != TF_NODE_ERROR) tf_report(e->context, node->loc, TENSOR_FORM);
    return TF_VALUE_OF_ERROR;
  }
  bool good = read_shape(&a, index->list.items[0]);
  good &= read_dtype(&a, index->list.items[1]);
  for (unsigned i = 2; i < index->list.count; i++)
    good &= read_rest(&a, index->list.items[i]);
  if (!good) return TF_VALUE_OF_ERROR;
  unsigned rank = tf_tuple_leaf_count(a.shape);
  const tf_dim **extents = TF_ARENA_ARRAY(e->scratch, const tf_dim *, rank);
  tf_tuple_leaves(a.shape, extents);
  const tf_type *type = tf_type_tensor(e->context, rank, extents, a.dtype, a.layout ? a.layout : a.dealt, a.storage);
  return (tf_value){.kind = TF_VALUE_TYPE, .type = {type, is_const}};
}

/* ---- Parameters ---- */
static const tf_expr *declare_param(tf_elab *e, const tf_param_syntax *param) {
  if (!param->annotation) {
    tf_report(e->context, param->loc, PARAM_ANNOTATION, param->name);
    return NULL;
  }
  if (tf_print_hides(param->name, true)) tf_report(e->context, param->loc, NAME_HIDES, param->name, "parameter");
  tf_value value = tf_eval_static(e, param->annotation, "the type of a parameter");
  if (value.kind == TF_VALUE_TYPE)
    return tf_expr_param(e->context, param->name, value.type.type, value.type.is_const, param->loc);
  if (value.kind != TF_VALUE_ERROR) tf_report(e->context, param->annotation->loc, PARAM_ANNOTATION, param->name);
  return NULL;
}

static void declare_params(tf_elab *e, tf_function_decl *decl) {
  const tf_node *node = decl->node;
  bool good = true;
  decl->param_count = node->def.param_count;
  decl->params = TF_ARENA_ARRAY(e->scratch, const tf_expr *, decl->param_count);
  const tf_type **types = TF_ARENA_ARRAY(e->scratch, const tf_type *, decl->param_count);
  for (unsigned i = 0; i < decl->param_count; i++) {
    decl->params[i] = declare_param(e, &node->def.params[i]);
    types[i] = decl->params[i] ? decl->params[i]->type : NULL;
    good &= types[i] != NULL;
  }
  if (good) decl->type = tf_type_callable(e->context, decl->param_count, types);
}

/* ---- @prim_func(target=, output_count=) ---- */
static bool read_option(tf_elab *e, const tf_argument *arg, tf_function_decl *decl) {
  int64_t count;
  if (arg->value.kind == TF_VALUE_ERROR) return false;
  if (arg->keyword && strcmp(arg->keyword, "target") == 0) {
    if (arg->value.kind == TF_VALUE_TARGET) decl->target = arg->value.target;
    if (arg->value.kind == TF_VALUE_TARGET || arg->value.kind == TF_VALUE_NONE) return true;
  } else if (arg->keyword && strcmp(arg->keyword, "output_count") == 0) {
    if (tf_value_int64(&arg->value, &count) && count >= 0 && count <= INT32_MAX) {
      decl->output_count = (unsigned)count;
      return true;
    }
  }
  tf_report(e->context, arg->loc, DECORATOR_ARGUMENT, "@prim_func",
            "target= with CudaTarget(…) or CpuTarget(), and output_count= with a number");
  return false;
}

tf_function_decl *tf_declare_function(tf_elab *e, const tf_node *node, const tf_node *decorator) {
  tf_function_decl *decl = TF_ARENA_NEW(e->scratch, tf_function_decl);
  *decl = (tf_function_decl){.name = node->def.name, .node = node, .output_count = 1, .target = e->default_target};
  if (decorator->kind == TF_NODE_CALL) {
    unsigned count;
    tf_argument *args = tf_eval_arguments(e, decorator, &count);
    for (unsigned i = 0; i < count; i++)
      (void)read_option(e, &args[i], decl);
  }
  if (tf_print_hides(node->def.name, false))
    tf_report(e->context, node->def.name_loc, NAME_HIDES, node->def.name, "function");
  if (node->def.returns && node->def.returns->kind != TF_NODE_NONE)
    tf_report(e->context, node->def.returns->loc, FUNCTION_RETURN, node->def.name);
  declare_params(e, decl);
  return decl;
}

/* ---- The body ---- */
const tf_stmt *tf_define_function(tf_elab *e, const tf_function_decl *decl) {
  const tf_node *node = decl->node;
  tf_block body;
  tf_block_init(&body, e->context);
  e->block = &body;
  tf_scope_push(e, false);
  for (unsigned i = 0; i < decl->param_count; i++) {
    const tf_expr *param = decl->params[i];
    tf_bind(e, node->def.params[i].name, param ? tf_value_of_expr(param) : TF_VALUE_OF_ERROR, node->def.params[i].loc);
  }
  tf_elab_statements(e, &node->def.body);
  tf_scope_pop(e);
  tf_rebindings_clear(e);
  e->block = NULL;
  const tf_stmt *stmts = tf_block_finish(&body, node->loc);
  if (!decl->type) return NULL;
  return tf_stmt_function(e->context, decl->name, decl->param_count, decl->params, stmts, decl->output_count,
                          decl->target, (tf_place){node->loc, NULL});
}
