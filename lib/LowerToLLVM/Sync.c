/* Barriers. What a sync joins was decided by the verifier (Verify/Participation.h); here each kind becomes code:
 *
 *   BLOCK   bar.sync 0
 *   WARP    bar.warp.sync mask
 *   LANES   if (base <= position < base + count) bar.warp.sync mask
 *   NAMED   if (base <= position < base + count) bar.sync id, count
 *   GRID    bar.sync 0;  one thread: arrive and wait on the launch's counter;  barrier.sync 0
 *
 * The grid barrier's counter is one 32-bit word. Every CTA adds 1, the first CTA adds 2^31 - (CTAs - 1), so that all
 * together add 2^31: the low bits are 0 again, the top bit has flipped, and whoever arrived waits for just that. The
 * word needs no reset between barriers or launches.
 *
 *   phase 0   0x00000000  +1 -> 0x00000001  +1 -> 0x00000002  +(2^31 - 2) -> 0x80000000   phase 1
 *
 * Arriving releases and waiting acquires at device scope; the block barriers around carry that to the other threads. */
#include "LowerToLLVM/Intrinsics.h"
#include "LowerToLLVM/Lowering.h"

/* ---- Within a block ---- */

static LLVMValueRef position_of(tf_lowering *lowering, const tf_participation *who) {
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  if (!who->per_warp) return thread;
  return LLVMBuildAnd(lowering->builder, thread, tf_llvm_i32(lowering, 31), "lane");
}

/* base <= position < base + count, in one unsigned comparison; null if every active thread takes part. */
static LLVMValueRef takes_part(tf_lowering *lowering, const tf_participation *who) {
  if (!who->predicated) return NULL;
  LLVMValueRef position = position_of(lowering, who);
  if (who->base) position = LLVMBuildSub(lowering->builder, position, tf_llvm_i32(lowering, who->base), "from.base");
  return LLVMBuildICmp(lowering->builder, LLVMIntULT, position, tf_llvm_i32(lowering, who->count), "takes.part");
}

static void block_barrier(tf_lowering *lowering, tf_intrinsic_id which) {
  LLVMValueRef id = tf_llvm_i32(lowering, 0);
  tf_lower_intrinsic(lowering, which, "bar.sync", 1, &id);
}

static void warp_barrier(tf_lowering *lowering, const tf_participation *who) {
  LLVMValueRef mask = tf_llvm_i32(lowering, who->mask);
  tf_lower_intrinsic(lowering, TF_INTRINSIC_BARRIER_WARP, "bar.warp.sync", 1, &mask);
}

static void named_barrier(tf_lowering *lowering, const tf_participation *who, int id) {
  LLVMValueRef args[2] = {tf_llvm_i32(lowering, id), tf_llvm_i32(lowering, who->count)};
  tf_lower_intrinsic(lowering, TF_INTRINSIC_BARRIER_COUNT, "bar.sync", 2, args);
}

/* ---- Across the grid ---- */

/* CTAs of the launch, whatever its shape. */
static LLVMValueRef grid_size(tf_lowering *lowering) {
  int64_t size = 0;
  if (lowering->kernel->geometry.has_ctas && tf_dim_is_static(lowering->kernel->geometry.grid, &size))
    return tf_llvm_i32(lowering, size);
  LLVMValueRef x = tf_lower_intrinsic(lowering, TF_INTRINSIC_NCTAID_X, "nctaid", 0, NULL);
  LLVMValueRef y = tf_lower_intrinsic(lowering, TF_INTRINSIC_NCTAID_Y, "nctaid", 0, NULL);
  LLVMValueRef z = tf_lower_intrinsic(lowering, TF_INTRINSIC_NCTAID_Z, "nctaid", 0, NULL);
  return LLVMBuildMul(lowering->builder, LLVMBuildMul(lowering->builder, x, y, ""), z, "ctas");
}

/* 1, or for the first CTA what completes the sum to 2^31. */
static LLVMValueRef increment(tf_lowering *lowering) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMValueRef zero = tf_llvm_i32(lowering, 0), cta = tf_lower_program_id(lowering, TF_LEVEL_CTA);
  LLVMValueRef rest = LLVMBuildSub(builder, tf_llvm_i32(lowering, INT64_C(0x80000001)), grid_size(lowering), "rest");
  LLVMValueRef first = LLVMBuildICmp(builder, LLVMIntEQ, cta, zero, "first.cta");
  return LLVMBuildSelect(builder, first, rest, tf_llvm_i32(lowering, 1), "increment");
}

/* Inline PTX, because LLVM's atomicrmw loses ordering and scope on this target. */
static LLVMValueRef arrive(tf_lowering *lowering) {
  LLVMValueRef args[2] = {lowering->grid_barrier, increment(lowering)};
  return tf_lower_asm(lowering, tf_llvm_int(lowering, 32), "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;",
                      "=r,l,r,~{memory}", 2, args, true);
}

static LLVMValueRef load_phase(tf_lowering *lowering) {
  LLVMValueRef args[1] = {lowering->grid_barrier};
  return tf_lower_asm(lowering, tf_llvm_int(lowering, 32), "ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}", 1,
                      args, true);
}

static void wait_for_flip(tf_lowering *lowering, LLVMValueRef before) {
  LLVMBuilderRef builder = lowering->builder;
  LLVMBasicBlockRef wait = tf_lower_new_block(lowering, "grid.wait"), done = tf_lower_new_block(lowering, "grid.done");
  tf_lower_enter_block(lowering, wait);
  LLVMValueRef changed = LLVMBuildXor(builder, load_phase(lowering), before, "changed");
  LLVMValueRef flipped = LLVMBuildICmp(builder, LLVMIntSLT, changed, tf_llvm_i32(lowering, 0), "flipped");
  LLVMBuildCondBr(builder, flipped, done, wait);
  tf_lower_enter_block(lowering, done);
}

/* The waiting thread comes to the second barrier later than the other lanes of its warp. */
static void grid_barrier(tf_lowering *lowering) {
  tf_guard guard;
  block_barrier(lowering, TF_INTRINSIC_BARRIER_BLOCK);
  LLVMValueRef thread = tf_lower_program_id(lowering, TF_LEVEL_THREAD);
  LLVMValueRef elected = LLVMBuildICmp(lowering->builder, LLVMIntEQ, thread, tf_llvm_i32(lowering, 0), "elected");
  if (tf_lower_guard_begin(lowering, elected, &guard)) {
    wait_for_flip(lowering, arrive(lowering));
    tf_lower_guard_end(lowering, &guard);
  }
  block_barrier(lowering, TF_INTRINSIC_BARRIER_BLOCK_APART);
}

void tf_lower_SYNC(tf_lowering *lowering, const tf_invocation *invocation) {
  (void)invocation;
  const tf_site *site = tf_kernel_site(lowering->context, lowering->kernel, lowering->region.path, lowering->stmt);
  const tf_participation *who = &site->participation;
  if (who->kind == TF_BARRIER_BLOCK) {
    block_barrier(lowering, TF_INTRINSIC_BARRIER_BLOCK);
    return;
  }
  if (who->kind == TF_BARRIER_GRID) {
    grid_barrier(lowering);
    return;
  }
  tf_guard guard;
  if (!tf_lower_guard_begin(lowering, takes_part(lowering, who), &guard)) return;
  if (who->kind == TF_BARRIER_NAMED)
    named_barrier(lowering, who, site->barrier_id);
  else
    warp_barrier(lowering, who);
  tf_lower_guard_end(lowering, &guard);
}
