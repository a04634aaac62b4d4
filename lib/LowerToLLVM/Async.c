/* Asynchronous copies: cp.async of 16, 8 or 4 bytes.
 *
 * The plan of the statement is that of an ordinary copy (Walk.h): the same thread moves the same chunks. The width is what
 * is proven of both sides; elements outside of a clipped source are filled with zeros by the instruction itself, which
 * reads nothing then. Where that is not enough (narrower than 4 bytes, another clip value, a clipped destination) the
 * copy is an ordinary one, which is complete at once and so at every later wait. */
#include <math.h>

#include "LowerToLLVM/AccessImpl.h"
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Walk.h"

static bool has_async_copies(const tf_lowering *lowering) {
  return tf_lower_has_intrinsic(lowering, TF_INTRINSIC_CP_ASYNC_16);
}

/* ---- Is it possible, and how wide? ---- */

static bool fills_zero(const tf_view *view) {
  const tf_expr *value = view->clip_value;
  if (!view->clip_count) return true;
  bool is_float = tf_dtype_get_class(tf_type_dtype(value->type)) == TF_CLASS_FLOAT;
  return is_float ? value->constant.f == 0 && !signbit(value->constant.f) : value->constant.i == 0;
}

/* Elements per instruction; 0: less than 4 bytes. */
static unsigned proven_width(tf_lowering *lowering, const tf_walk *walk) {
  unsigned bytes = tf_dtype_bytes(walk->destination.dtype);
  unsigned width = tf_access_width(lowering, &walk->loads[0], walk->inner, walk->width);
  width = tf_access_width(lowering, &walk->store, walk->inner, width);
  while (width > 1 && !tf_access_is_coarse(lowering, &walk->loads[0], walk->inner, width))
    width /= 2;
  return width * bytes < 4 ? 0 : width;
}

/* Null if the statement can be asynchronous; *width receives the elements per instruction. */
static const char *obstacle(tf_lowering *lowering, const tf_walk *walk, unsigned *width) {
  const tf_view *source = walk->sources[0].tensor.view;
  if (walk->destination.view->clip_count) return "its destination is clipped";
  if (!fills_zero(source)) return "elements outside of the source can only be filled with 0";
  *width = proven_width(lowering, walk);
  return *width ? NULL : "no run of 4 bytes is provably contiguous and aligned on both sides";
}

/* ---- Code ---- */

static tf_intrinsic_id instruction(unsigned bytes, bool fills) {
  switch (bytes) {
  case 4:
    return fills ? TF_INTRINSIC_CP_ASYNC_4_ZFILL : TF_INTRINSIC_CP_ASYNC_4;
  case 8:
    return fills ? TF_INTRINSIC_CP_ASYNC_8_ZFILL : TF_INTRINSIC_CP_ASYNC_8;
  default:
    return fills ? TF_INTRINSIC_CP_ASYNC_16_ZFILL : TF_INTRINSIC_CP_ASYNC_16;
  }
}

/* Bytes that the instruction reads: all, or none where the chunk lies outside. */
static LLVMValueRef bytes_inside(tf_lowering *lowering, const tf_access *load, int64_t position, unsigned bytes) {
  LLVMValueRef inside = tf_access_inside(lowering, load, position), all = tf_llvm_i32(lowering, bytes);
  return inside ? LLVMBuildSelect(lowering->builder, inside, all, tf_llvm_i32(lowering, 0), "") : all;
}

static void copy_chunk(tf_lowering *lowering, const tf_walk *walk, int64_t position) {
  const tf_access *load = &walk->loads[0];
  unsigned bytes = walk->width * tf_dtype_bytes(walk->destination.dtype);
  bool fills = load->tensor->view->clip_count > 0;
  tf_guard guard;
  if (!tf_lower_guard_likely(lowering, tf_driver_exists(lowering, &walk->driver, position), &guard)) return;
  LLVMValueRef args[3] = {tf_access_address(lowering, &walk->store, position),
                          tf_access_address(lowering, load, position)};
  if (fills) args[2] = bytes_inside(lowering, load, position, bytes);
  tf_lower_intrinsic(lowering, instruction(bytes, fills), "cp.async", fills ? 3 : 2, args);
  tf_lower_guard_end(lowering, &guard);
}

void tf_lower_COPY_ASYNC(tf_lowering *lowering, const tf_invocation *invocation) {
  if (!has_async_copies(lowering)) {
    tf_lower_COPY(lowering, invocation);
    return;
  }
  tf_walk *walk = TF_ARENA_NEW(lowering->arena, tf_walk);
  tf_tensor destination = tf_tensor_of(lowering, invocation->args[TF_ARG_COPY_ASYNC_destination]);
  tf_operand source = tf_operand_of(lowering, invocation->args[TF_ARG_COPY_ASYNC_source]);
  if (!tf_walk_plan(lowering, &destination, 1, &source, walk)) return;
  unsigned width = 0;
  const char *reason = obstacle(lowering, walk, &width);
  if (reason) {
    tf_report(lowering->context, lowering->loc, ASYNC_ORDINARY, reason);
    tf_lower_COPY(lowering, invocation);
    return;
  }
  walk->width = width;
  tf_walk_open(lowering, walk);
  for (int64_t chunk = 0; chunk < tf_walk_chunks(walk); chunk++)
    copy_chunk(lowering, walk, tf_walk_position(walk, chunk));
  tf_walk_close(lowering, walk);
}

/* ---- Groups ---- */

void tf_lower_CP_ASYNC_COMMIT(tf_lowering *lowering, const tf_invocation *invocation) {
  (void)invocation;
  if (has_async_copies(lowering)) tf_lower_intrinsic(lowering, TF_INTRINSIC_CP_ASYNC_COMMIT, "cp.async", 0, NULL);
}

void tf_lower_CP_ASYNC_WAIT(tf_lowering *lowering, const tf_invocation *invocation) {
  LLVMValueRef groups = tf_llvm_i32(lowering, invocation->attrs[TF_ATTRIBUTE_CP_ASYNC_WAIT_n].i);
  if (has_async_copies(lowering)) tf_lower_intrinsic(lowering, TF_INTRINSIC_CP_ASYNC_WAIT, "cp.async", 1, &groups);
}
