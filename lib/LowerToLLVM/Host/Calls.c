/* Launches and calls: their structs, with arguments as the parameter itself, a window, or bits.
 *
 * A scalar of the callee's own dtype goes as bits, an integer of another one is checked against the callee's range by the
 * runtime, literals are rounded there. */
#include "LowerToLLVM/Host/Host.h"

#include "Verify/Kernel.h"

#define LAUNCH(member)          offsetof(tf_compiled_launch, member)
#define WORDS(type)             (sizeof(type) / 8)
#define ARGUMENT(index, member) ((index) * sizeof(tf_compiled_argument) + offsetof(tf_compiled_argument, member))

/* ---- Arguments ---- */
typedef struct argument {
  tf_compiled_argument_kind kind;
  LLVMValueRef bits, view;
} argument;

static argument scalar_argument(tf_host *host, const tf_expr *arg, const tf_expr *param) {
  tf_dtype want = tf_type_dtype(param->type);
  tf_host_scalar value = tf_host_scalar_of(host, arg);
  if (value.dtype == want) return (argument){TF_COMPILED_BITS, tf_host_bits(host, value), NULL};
  if (tf_dtype_get_class(want) != TF_CLASS_FLOAT) return (argument){TF_COMPILED_INT, value.value, NULL};
  LLVMValueRef number = tf_host_scalar_as(host, arg, TF_DTYPE_F64).value;
  return (argument){TF_COMPILED_FLOAT, LLVMBuildBitCast(host->builder, number, host->module->word, ""), NULL};
}

/* A parameter in C order that is passed on to one in C order needs no look at its strides. */
static bool is_plain_param(const tf_host *host, const tf_expr *arg, const tf_expr *param) {
  return tf_host_param_index(host, arg) >= 0 && !tf_type_layout(arg->type) && !tf_type_layout(param->type);
}

static argument argument_of(tf_host *host, const tf_expr *arg, const tf_expr *param) {
  if (tf_is_scalar(param)) return scalar_argument(host, arg, param);
  LLVMValueRef zero = tf_host_int(host, 0);
  if (is_plain_param(host, arg, param))
    return (argument){TF_COMPILED_PARAM, tf_host_int(host, tf_host_param_index(host, arg)), NULL};
  return (argument){TF_COMPILED_VIEW, zero, tf_host_view(host, arg)};
}

/* The array of tf_compiled_argument. */
static LLVMValueRef argument_array(tf_host *host, const tf_stmt *callee, unsigned count, const tf_expr *const *args) {
  LLVMValueRef array = tf_host_words(host, count * WORDS(tf_compiled_argument));
  for (unsigned i = 0; i < count; i++) {
    const tf_expr *param = callee->function.params[i];
    host->what = param->var.name;
    argument a = argument_of(host, args[i], param);
    tf_host_store(host, array, ARGUMENT(i, kind), tf_host_int(host, a.kind));
    tf_host_store(host, array, ARGUMENT(i, bits), a.bits);
    tf_host_store(host, array, ARGUMENT(i, view), a.view ? a.view : LLVMConstNull(host->module->pointer));
  }
  return array;
}

/* The function's own parameters in order, which the callee declares alike. */
static bool is_passed(const tf_host *host, const tf_stmt *callee, unsigned count, const tf_expr *const *args) {
  const tf_stmt *function = host->function;
  if (count != function->function.param_count) return false;
  for (unsigned i = 0; i < count; i++) {
    const tf_expr *mine = function->function.params[i], *its = callee->function.params[i];
    if (args[i] != mine || mine->type != its->type || mine->var.is_const != its->var.is_const) return false;
  }
  return true;
}

/* ---- Launches ---- */
typedef struct launch {
  const tf_stmt *kernel;
  LLVMValueRef grid[3], block[3], cluster[3], dynamic_smem;
  int64_t flags, stream;
  unsigned count;
  const tf_expr *const *args;
} launch;

static void store3(tf_host *host, LLVMValueRef out, size_t offset, LLVMValueRef const values[3]) {
  for (size_t i = 0; i < 3; i++)
    tf_host_store(host, out, offset + 8 * i, values[i]);
}

static void emit_launch(tf_host *host, launch *it) {
  bool passed = is_passed(host, it->kernel, it->count, it->args);
  LLVMValueRef arguments = LLVMConstNull(host->module->pointer), out = tf_host_words(host, WORDS(tf_compiled_launch));
  if (!passed) arguments = argument_array(host, it->kernel, it->count, it->args);
  it->flags |= passed ? TF_COMPILED_PASSED : 0;
  it->flags |= it->stream ? TF_COMPILED_STREAM : 0;
  tf_host_store(host, out, LAUNCH(kernel), tf_host_int(host, tf_host_kernel_index(host->module->module, it->kernel)));
  store3(host, out, LAUNCH(grid), it->grid);
  store3(host, out, LAUNCH(block), it->block);
  store3(host, out, LAUNCH(cluster), it->cluster);
  tf_host_store(host, out, LAUNCH(dynamic_smem), it->dynamic_smem);
  tf_host_store(host, out, LAUNCH(flags), tf_host_int(host, it->flags));
  tf_host_store(host, out, LAUNCH(stream), tf_host_int(host, it->stream));
  tf_host_store(host, out, LAUNCH(argument_count), tf_host_int(host, passed ? 0 : it->count));
  tf_host_store(host, out, LAUNCH(arguments), arguments);
  tf_host_checked(host, TF_HOST_MEMBER(launch), 1, &out);
}

static void set3(tf_host *host, LLVMValueRef out[3], int64_t x, int64_t y, int64_t z) {
  out[0] = tf_host_int(host, x);
  out[1] = tf_host_int(host, y);
  out[2] = tf_host_int(host, z);
}

static void apply_attrs(tf_host *host, launch *it, const tf_launch_attrs *attrs) {
  for (size_t i = 0; attrs && i < attrs->count; i++) {
    const tf_launch_attr *attr = &attrs->entries[i];
    switch (attr->kind) {
    case TF_LAUNCH_ATTR_COOPERATIVE:
      it->flags |= attr->values[0] ? TF_COMPILED_COOPERATIVE : 0;
      break;
    case TF_LAUNCH_ATTR_PROGRAMMATIC_STREAM_SERIALIZATION:
      it->flags |= attr->values[0] ? TF_COMPILED_SERIALIZATION : 0;
      break;
    case TF_LAUNCH_ATTR_CLUSTER_DIMENSION:
      set3(host, it->cluster, attr->values[0], attr->values[1], attr->values[2]);
      break;
    case TF_LAUNCH_ATTR_COUNT:
      break;
    }
  }
}

static void set_cluster(tf_host *host, launch *it, const tf_tuple *cluster) {
  set3(host, it->cluster, 0, 0, 0);
  for (unsigned i = 0; cluster && i < 3; i++) {
    const tf_dim *dim = i < tf_tuple_count(cluster) ? tf_tuple_dim(tf_tuple_element(cluster, i)) : NULL;
    it->cluster[i] = dim ? tf_host_dim_value(host, dim) : tf_host_int(host, 1);
  }
}

void tf_host_launch(tf_host *host, const tf_stmt *stmt) {
  const tf_expr *const *args = stmt->evaluate.args;
  const tf_attr *attrs = stmt->evaluate.attrs;
  const tf_dim *dynamic = attrs[TF_ATTRIBUTE_LAUNCH_dynamic_smem].dim;
  launch it = {.kernel = tf_module_find(host->module->module, args[TF_ARG_LAUNCH_callee]->symbol.name),
               .stream = attrs[TF_ATTRIBUTE_LAUNCH_stream].i,
               .count = stmt->evaluate.arg_count - TF_ARG_LAUNCH_args,
               .args = &args[TF_ARG_LAUNCH_args]};
  host->what = it.kernel->function.name;
  for (unsigned i = 0; i < 3; i++) {
    it.grid[i] = tf_host_integer(host, args[TF_ARG_LAUNCH_grid_x + i]);
    it.block[i] = tf_host_integer(host, args[TF_ARG_LAUNCH_block_x + i]);
  }
  set_cluster(host, &it, attrs[TF_ATTRIBUTE_LAUNCH_cluster].tuple);
  it.dynamic_smem = dynamic ? tf_host_dim_value(host, dynamic) : tf_host_int(host, 0);
  apply_attrs(host, &it, attrs[TF_ATTRIBUTE_LAUNCH_attrs].launch_attrs);
  emit_launch(host, &it);
}

/* A kernel that is called like a function: as many CTAs and threads as its scopes describe. */
static void launch_plainly(tf_host *host, const tf_stmt *kernel, unsigned count, const tf_expr *const *args) {
  tf_geometry geometry = tf_geometry_of(host->module->module, kernel);
  launch it = {.kernel = kernel, .count = count, .args = args, .dynamic_smem = tf_host_int(host, 0)};
  set3(host, it.grid, 1, 1, 1);
  set3(host, it.block, geometry.block, 1, 1);
  set3(host, it.cluster, 0, 0, 0);
  it.flags = geometry.has_ctas ? TF_COMPILED_OWN_GRID : 0;
  emit_launch(host, &it);
}

void tf_host_invoke(tf_host *host, const tf_stmt *callee, unsigned count, const tf_expr *const *args) {
  if (!tf_function_is_host(callee)) {
    launch_plainly(host, callee, count, args);
    return;
  }
  LLVMValueRef array = argument_array(host, callee, count, args);
  LLVMValueRef arguments[] = {tf_host_int(host, tf_host_entry_index(host->module->module, callee)), array,
                              tf_host_int(host, count)};
  tf_host_checked(host, TF_HOST_MEMBER(call), 3, arguments);
}
