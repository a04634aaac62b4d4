/* The shared-memory plan of one kernel: which buffer lies where in the block's shared memory.
 *
 *   0            5120         9728     9760
 *   |  a_tile     |  b_tile    | scratch |          one static array up to 48 KiB, beyond that one dynamic block
 *
 * Authored allocations are found by a walk over the kernel's inlined body: each inlined copy of a callee has buffers of
 * its own, named by (call path, variable). Scratch that the compiler needs (reductions across warps) is added while the
 * code is made. All offsets count in one block; tf_shared_plan_finish decides which, when everything is known.
 *
 * Two authored buffers share bytes only if barriers keep them apart on every path (SharedOverlap.h). Scratch never
 * shares: its users order their own accesses and nothing else. */
#ifndef TF_LOWER_SHARED_PLAN_H
#define TF_LOWER_SHARED_PLAN_H

#include "Verify/Kernel.h"

/* Statically declared shared memory of a kernel, on every target. */
#define TF_SHARED_STATIC_LIMIT 49152

typedef struct tf_shared_buffer {
  const char *name; /* the tensor's, or what scratch is for; of the context */
  const tf_call_path *path;
  const tf_expr *var;  /* the allocation's variable; null for scratch */
  const tf_stmt *stmt; /* scratch: whose it is */
  int64_t bytes, alignment, offset;
  tf_loc loc;
} tf_shared_buffer;

typedef struct tf_shared_plan {
  tf_context *context;
  const tf_stmt *function;
  struct {
    TF_VEC(tf_shared_buffer);
  } buffers;
  int64_t bytes;     /* end of the last buffer */
  int64_t alignment; /* strongest of all buffers, at least 16 */
  bool dynamic;      /* decided by tf_shared_plan_finish */
} tf_shared_plan;

/* Places the authored allocations of a verified kernel. The plan lives as long as the context. */
tf_shared_plan *tf_shared_plan_create(const tf_module *module, const tf_kernel *kernel);

/* The offset of `bytes` bytes of scratch for a statement of an inlined copy; added when it is first asked for, so that
 * the copies of an unrolled loop use the same bytes. alignment is a power of two. */
int64_t tf_shared_plan_scratch(tf_shared_plan *plan, const tf_call_path *path, const tf_stmt *stmt, int64_t bytes,
                               int64_t alignment);

/* The offset of an authored allocation, or -1 if (path, var) is none. */
int64_t tf_shared_plan_offset(const tf_shared_plan *plan, const tf_call_path *path, const tf_expr *var);

/* Chooses the block. TF_UNSUPPORTED after one diagnostic with a note per buffer when the plan exceeds the target's
 * limit. */
TF_NODISCARD tf_status tf_shared_plan_finish(tf_shared_plan *plan, const tf_target *target);

/* Bytes of shared memory that a block needs for the verified allocation bound to var. */
int64_t tf_shared_bytes_of(tf_context *context, const tf_expr *var);

#endif
