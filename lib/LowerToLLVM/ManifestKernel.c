/* The manifest's kernels: facts of the emitted PTX, in the order of the schema's keys. */
#include "LowerToLLVM/ManifestImpl.h"

static json_t *write_hidden_param(tf_manifest_writer *writer, const tf_kernel_param *param) {
  json_t *node = json_object();
  tf_manifest_put(writer, node, "name", json_string(param->name));
  if (param->kind == TF_KERNEL_PARAM_GRID_BARRIER) {
    tf_manifest_put(writer, node, "kind", json_string("grid_barrier"));
    return node;
  }
  tf_manifest_put(writer, node, "kind", json_string("hidden_shape"));
  tf_manifest_put(writer, node, "dtype", json_string(tf_dtype_name(TF_DTYPE_I32)));
  tf_manifest_put(writer, node, "of", json_string(param->param->var.name));
  tf_manifest_put(writer, node, "axis", json_integer(param->axis));
  return node;
}

static json_t *write_params(tf_manifest_writer *writer, const tf_kernel_facts *kernel) {
  json_t *node = json_array();
  for (unsigned i = 0; i < kernel->param_count; i++) {
    const tf_kernel_param *param = &kernel->params[i];
    bool declared = param->kind == TF_KERNEL_PARAM_TENSOR || param->kind == TF_KERNEL_PARAM_SCALAR;
    tf_manifest_push(writer, node,
                     declared ? tf_manifest_param(writer, param->param) : write_hidden_param(writer, param));
  }
  return node;
}

static json_t *write_buffer(tf_manifest_writer *writer, const tf_shared_plan *plan, const tf_shared_buffer *buffer) {
  json_t *node = json_object();
  tf_manifest_put(writer, node, "name", json_string(buffer->name));
  tf_manifest_put(writer, node, "block", json_string(plan->dynamic ? "dynamic" : "static"));
  tf_manifest_put(writer, node, "offset", json_integer(buffer->offset));
  tf_manifest_put(writer, node, "bytes", json_integer(buffer->bytes));
  tf_manifest_put(writer, node, "alignment", json_integer(buffer->alignment));
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, buffer->loc));
  return node;
}

static json_t *write_shared(tf_manifest_writer *writer, const tf_shared_plan *plan) {
  int64_t bytes = plan ? plan->bytes : 0;
  bool dynamic = plan && plan->dynamic;
  json_t *node = json_object(), *buffers = json_array();
  for (size_t i = 0; plan && i < plan->buffers.count; i++)
    tf_manifest_push(writer, buffers, write_buffer(writer, plan, &plan->buffers.items[i]));
  tf_manifest_put(writer, node, "static_bytes", json_integer(dynamic ? 0 : bytes));
  tf_manifest_put(writer, node, "dynamic_bytes", json_integer(dynamic ? bytes : 0));
  tf_manifest_put(writer, node, "buffers", buffers);
  return node;
}

static const char *const abort_kind_names[] = {
    [TF_ABORT_SITE_ABORT] = "abort",
    [TF_ABORT_SITE_DIV] = "div",
    [TF_ABORT_SITE_BOUNDS] = "bounds",
};

static json_t *write_aborts(tf_manifest_writer *writer, const tf_kernel_facts *kernel) {
  json_t *node = json_array();
  for (unsigned i = 0; i < kernel->abort_count; i++) {
    const tf_abort_site *site = &kernel->aborts[i];
    json_t *item = json_object();
    tf_manifest_put(writer, item, "kind", json_string(abort_kind_names[site->kind]));
    tf_manifest_put(writer, item, "message", json_string(site->message ? site->message : ""));
    tf_manifest_put(writer, item, "loc", tf_manifest_loc(writer, site->loc));
    tf_manifest_push(writer, node, item);
  }
  return node;
}

static json_t *write_dim_or_null(tf_manifest_writer *writer, const tf_dim *dim) {
  return dim ? tf_manifest_dim(writer, dim) : json_null();
}

static json_t *write_default_shape(tf_manifest_writer *writer, const tf_dim *dim) {
  return dim ? tf_manifest_extent3(writer, dim) : json_null();
}

/* Static extents; 0, 0, 0 is "none". */
static json_t *write_static3(tf_manifest_writer *writer, const int64_t extents[3]) {
  if (!extents[0]) return json_null();
  json_t *node = json_array();
  for (int i = 0; i < 3; i++)
    tf_manifest_push(writer, node, json_integer(extents[i]));
  return node;
}

json_t *tf_manifest_kernel(tf_manifest_writer *writer, const tf_kernel_facts *kernel) {
  json_t *node = json_object();
  tf_manifest_put(writer, node, "name", json_string(kernel->function->function.name));
  tf_manifest_put(writer, node, "ptx_name", json_string(kernel->ptx_name));
  tf_manifest_put(writer, node, "parameters", write_params(writer, kernel));
  tf_manifest_put(writer, node, "grid_size", write_dim_or_null(writer, kernel->grid_size));
  tf_manifest_put(writer, node, "block_size", write_dim_or_null(writer, kernel->block_size));
  tf_manifest_put(writer, node, "default_grid", write_default_shape(writer, kernel->grid_size));
  tf_manifest_put(writer, node, "default_block", write_default_shape(writer, kernel->block_size));
  tf_manifest_put(writer, node, "required_block", write_static3(writer, kernel->required_block));
  tf_manifest_put(writer, node, "max_block_threads",
                  kernel->max_block_threads ? json_integer(kernel->max_block_threads) : json_null());
  tf_manifest_put(writer, node, "linear_grid", json_boolean(kernel->linear_grid));
  tf_manifest_put(writer, node, "shared", write_shared(writer, kernel->shared));
  tf_manifest_put(writer, node, "cooperative", json_boolean(kernel->cooperative));
  tf_manifest_put(writer, node, "cluster", write_static3(writer, kernel->cluster));
  tf_manifest_put(writer, node, "grid_barrier_bytes", json_integer(kernel->grid_barrier_bytes));
  tf_manifest_put(writer, node, "abort_sites", write_aborts(writer, kernel));
  tf_manifest_put(writer, node, "loc", tf_manifest_loc(writer, kernel->function->loc));
  return node;
}
