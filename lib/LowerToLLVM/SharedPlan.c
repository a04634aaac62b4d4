/* Placing buffers: a walk over the inlined body finds the authored allocations; each goes as low as the earlier ones that it
 * must not share bytes with allow (SharedOverlap.h); scratch follows. A swizzle permutes inside aligned blocks of
 * 2^(base + bits) elements, so its storage ends at a multiple of that. */
#include "LowerToLLVM/SharedPlan.h"

#include "IR/Target.h"
#include "IR/View.h"
#include "LowerToLLVM/SharedOverlap.h"

/* The widest access: 16 bytes. */
#define ACCESS_ALIGNMENT 16

static int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* ---- Sizes ---- */

static const tf_dim *whole_swizzle_blocks(tf_context *context, const tf_dim *elements, const tf_layout *swizzle) {
  unsigned bits, base, shift;
  tf_layout_swizzle_bits(swizzle, &bits, &base, &shift);
  const tf_dim *block = tf_dim_int(context, (int64_t)1 << (bits + base));
  const tf_dim *blocks = tf_dim_binary(context, TF_DIM_CEIL_DIV, elements, block);
  return tf_dim_binary(context, TF_DIM_MUL, blocks, block);
}

int64_t tf_shared_bytes_of(tf_context *context, const tf_expr *var) {
  const tf_view *view = tf_view_of(context, var, NULL);
  const tf_dim *elements = view->storage_size;
  if (view->inner) elements = whole_swizzle_blocks(context, elements, view->inner);
  int64_t count = 0, bits = (int64_t)tf_dtype_bits(tf_type_dtype(var->type));
  tf_dim_is_static(elements, &count);
  return (count * bits + 7) / 8;
}

/* ---- The walk ---- */

typedef struct plan_walk {
  tf_shared_plan *plan;
  const tf_module *module;
  const tf_region *region; /* of the function being walked; its scopes do not matter here */
} plan_walk;

static void place(tf_shared_plan *plan, tf_shared_buffer *buffer, int64_t offset) {
  buffer->offset = offset;
  if (plan->bytes < offset + buffer->bytes) plan->bytes = offset + buffer->bytes;
  if (plan->alignment < buffer->alignment) plan->alignment = buffer->alignment;
}

static void plan_allocation(plan_walk *walk, const tf_stmt *let) {
  const tf_expr *value = let->let.value;
  if (value->kind != TF_EXPR_CALL || value->call.op != TF_OP_ALLOC_TENSOR) return;
  if (tf_type_storage(value->type) != TF_STORAGE_SMEM) return;
  tf_context *context = walk->plan->context;
  tf_shared_buffer buffer = {.name = let->let.var->var.name,
                             .path = walk->region->path,
                             .var = let->let.var,
                             .bytes = tf_shared_bytes_of(context, let->let.var),
                             .alignment = ACCESS_ALIGNMENT,
                             .loc = let->loc};
  TF_VEC_PUSH(&context->arena, &walk->plan->buffers, buffer);
}

static bool plan_stmt(void *user, const tf_stmt *stmt);

static void plan_call(plan_walk *walk, const tf_stmt *call) {
  const tf_stmt *callee = tf_module_find(walk->module, call->evaluate.callee->symbol.name);
  if (!callee) return;
  tf_region inner = tf_region_call(walk->region, call, callee);
  plan_walk nested = *walk;
  nested.region = &inner;
  tf_stmt_walk(callee->function.body, plan_stmt, &nested);
}

static bool plan_stmt(void *user, const tf_stmt *stmt) {
  plan_walk *walk = user;
  if (stmt->kind == TF_STMT_LET) plan_allocation(walk, stmt);
  if (stmt->kind == TF_STMT_EVALUATE && stmt->evaluate.callee) plan_call(walk, stmt);
  return true;
}

/* ---- Offsets ---- */

/* The first buffer before `index` that conflicts with it and reaches into its bytes, or null. */
static const tf_shared_buffer *obstacle(const tf_shared_plan *plan, size_t index, uint64_t conflicts) {
  const tf_shared_buffer *buffer = &plan->buffers.items[index];
  for (size_t i = 0; i < index; i++) {
    const tf_shared_buffer *other = &plan->buffers.items[i];
    bool apart = other->offset + other->bytes <= buffer->offset || buffer->offset + buffer->bytes <= other->offset;
    if (!apart && conflicts >> i & 1) return other;
  }
  return NULL;
}

/* First fit in source order: each buffer as low as the ones before it allow. */
static void assign_packed(tf_shared_plan *plan, const uint64_t *conflicts) {
  for (size_t i = 0; i < plan->buffers.count; i++) {
    tf_shared_buffer *buffer = &plan->buffers.items[i];
    buffer->offset = 0;
    for (const tf_shared_buffer *other; (other = obstacle(plan, i, conflicts[i]));)
      buffer->offset = round_up(other->offset + other->bytes, buffer->alignment);
    place(plan, buffer, buffer->offset);
  }
}

static void assign_in_line(tf_shared_plan *plan) {
  for (size_t i = 0; i < plan->buffers.count; i++) {
    tf_shared_buffer *buffer = &plan->buffers.items[i];
    place(plan, buffer, round_up(plan->bytes, buffer->alignment));
  }
}

static void assign_offsets(const tf_module *module, const tf_kernel *kernel, tf_shared_plan *plan) {
  uint64_t conflicts[TF_SHARED_PACKED_MAX];
  if (plan->buffers.count > TF_SHARED_PACKED_MAX) {
    assign_in_line(plan);
    return;
  }
  tf_shared_conflicts(module, kernel, plan, conflicts);
  assign_packed(plan, conflicts);
}

tf_shared_plan *tf_shared_plan_create(const tf_module *module, const tf_kernel *kernel) {
  tf_context *context = module->context;
  tf_shared_plan *plan = TF_ARENA_NEW(&context->arena, tf_shared_plan);
  plan->context = context;
  plan->function = kernel->function;
  plan->alignment = ACCESS_ALIGNMENT;
  tf_region region = tf_region_begin(context, kernel->function, &kernel->geometry);
  plan_walk walk = {plan, module, &region};
  tf_stmt_walk(kernel->function->function.body, plan_stmt, &walk);
  assign_offsets(module, kernel, plan);
  return plan;
}

/* ---- Use ---- */

static const char *purpose_of(const tf_stmt *stmt) {
  bool op = stmt && stmt->kind == TF_STMT_EVALUATE && !stmt->evaluate.callee;
  return op ? tf_op_get_info(stmt->evaluate.op)->name : "scratch";
}

int64_t tf_shared_plan_scratch(tf_shared_plan *plan, const tf_call_path *path, const tf_stmt *stmt, int64_t bytes,
                               int64_t alignment) {
  for (size_t i = 0; i < plan->buffers.count; i++) {
    const tf_shared_buffer *known = &plan->buffers.items[i];
    bool same = !known->var && known->stmt == stmt && known->path == path;
    if (same && known->bytes >= bytes && known->alignment >= alignment) return known->offset;
  }
  tf_shared_buffer buffer = {.name = purpose_of(stmt),
                             .path = path,
                             .stmt = stmt,
                             .bytes = bytes,
                             .alignment = alignment,
                             .loc = stmt ? stmt->loc : TF_NO_LOC};
  place(plan, &buffer, round_up(plan->bytes, alignment));
  TF_VEC_PUSH(&plan->context->arena, &plan->buffers, buffer);
  return buffer.offset;
}

int64_t tf_shared_plan_offset(const tf_shared_plan *plan, const tf_call_path *path, const tf_expr *var) {
  for (size_t i = 0; var && i < plan->buffers.count; i++)
    if (plan->buffers.items[i].var == var && plan->buffers.items[i].path == path) return plan->buffers.items[i].offset;
  return -1;
}

static void report_limit(const tf_shared_plan *plan, const tf_target *target) {
  tf_context *context = plan->context;
  tf_report(context, plan->function->loc, SHARED_LIMIT, plan->function->function.name, (long long)plan->bytes,
            tf_target_name(target), (long long)tf_target_smem_limit(target));
  for (size_t i = 0; i < plan->buffers.count; i++) {
    const tf_shared_buffer *buffer = &plan->buffers.items[i];
    tf_report(context, buffer->loc, SHARED_BUFFER, buffer->name, (long long)buffer->bytes, (long long)buffer->offset);
  }
}

tf_status tf_shared_plan_finish(tf_shared_plan *plan, const tf_target *target) {
  plan->dynamic = plan->bytes > TF_SHARED_STATIC_LIMIT;
  if (plan->bytes <= tf_target_smem_limit(target)) return TF_OK;
  report_limit(plan, target);
  return TF_UNSUPPORTED;
}
