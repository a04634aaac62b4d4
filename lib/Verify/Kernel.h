/* What verification finds out about a kernel over its whole call tree, for the lowering: geometry, and one record for
 * each place where threads meet (a site): every statement of every inlined copy has its own.
 *
 * A site is found by the call path of the walk (tf_region.path) and the statement. An unrolled loop asks for the same
 * site each time: one node has one barrier id. */
#ifndef TF_VERIFY_KERNEL_H
#define TF_VERIFY_KERNEL_H

#include "Verify/Participation.h"

typedef struct tf_site {
  const tf_call_path *path;
  const tf_stmt *stmt;  /* the EVALUATE: sync, reduce, rms_norm, mma */
  tf_thread_set active; /* threads that come here, conditions aside */
  bool block_uniform;   /* all B threads of a block come here, or none (conditions, scopes and returns included) */
  tf_participation participation; /* SYNC only */
  int barrier_id;                 /* SYNC of kind NAMED: 1 … 15, numbered in source order; else 0 */
} tf_site;

typedef struct tf_kernel {
  const tf_stmt *function;
  tf_geometry geometry;
  unsigned site_count;
  const tf_site *const *sites; /* in source order, callees' at their calls */
  int named_barriers; /* ids 1 … named_barriers belong to authored syncs; what a reduction brings comes after */
  bool uses_grid_barrier;
} tf_kernel;

/* Whether the function runs on the host: a CPU target, or a body that starts with a dispatch over variants. */
bool tf_function_is_host(const tf_stmt *function);
/* Whether a CUDA function is a kernel: host code launches, calls or dispatches to it, or no device code calls it. Memoised. */
bool tf_function_is_kernel(const tf_module *module, const tf_stmt *function);

/* The record of a kernel of a module that tf_verify has accepted; null before that and for other functions. */
const tf_kernel *tf_kernel_of(const tf_module *module, const tf_stmt *function);

/* Null if there is none. Constant time on average. */
const tf_site *tf_kernel_site(tf_context *context, const tf_kernel *kernel, const tf_call_path *path,
                              const tf_stmt *stmt);

#endif
