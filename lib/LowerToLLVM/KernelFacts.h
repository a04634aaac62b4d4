/* What lowering a module leaves behind for the manifest: facts of the emitted PTX that the module alone does not tell.
 *
 * The driver fills one tf_kernel_facts per .entry, in the PTX's order, while it lowers; Manifest.c turns them and the
 * module's CPU functions into JSON. Everything is borrowed and lives as long as the context. */
#ifndef TF_LOWER_KERNEL_FACTS_H
#define TF_LOWER_KERNEL_FACTS_H

#include "LowerToLLVM/SharedPlan.h"

typedef enum tf_kernel_param_kind {
  TF_KERNEL_PARAM_TENSOR,       /* 64-bit pointer to element (0, …, 0) */
  TF_KERNEL_PARAM_SCALAR,       /* by value in its dtype */
  TF_KERNEL_PARAM_HIDDEN_SHAPE, /* i32 extent of an axis of a tensor parameter */
  TF_KERNEL_PARAM_GRID_BARRIER  /* pointer to the launch's counters; the last one */
} tf_kernel_param_kind;

typedef struct tf_kernel_param {
  tf_kernel_param_kind kind;
  const char *name;     /* in the manifest; the declared name, <tensor>_shape_<axis>, or of the barrier */
  const tf_expr *param; /* TENSOR, SCALAR: the declared parameter; HIDDEN_SHAPE: the tensor parameter it describes */
  unsigned axis;        /* HIDDEN_SHAPE */
} tf_kernel_param;

typedef enum tf_abort_site_kind { TF_ABORT_SITE_ABORT, TF_ABORT_SITE_DIV, TF_ABORT_SITE_BOUNDS } tf_abort_site_kind;

typedef struct tf_abort_site {
  tf_abort_site_kind kind;
  const char *message;
  tf_loc loc;
} tf_abort_site;

typedef struct tf_kernel_facts {
  const tf_stmt *function; /* the PrimFunction: source name, place */
  const char *ptx_name;    /* escaped to what PTX can spell */
  unsigned param_count;
  const tf_kernel_param *params; /* exactly the .entry's, in its order */
  const tf_dim *grid_size;       /* CTAs of every launch; null: the launch decides */
  const tf_dim *block_size;      /* threads of every block; null: the launch decides */
  int64_t required_block[3];     /* .reqntid; 0, 0, 0: none */
  int64_t max_block_threads;     /* .maxntid; 0: none */
  bool linear_grid;              /* the grid has one axis in every launch */
  const tf_shared_plan *shared;  /* finished; null: the kernel has no shared memory */
  bool cooperative;
  int64_t cluster[3]; /* .reqnctapercluster; 0, 0, 0: none */
  int64_t grid_barrier_bytes;
  unsigned abort_count;
  const tf_abort_site *aborts; /* in source order */
} tf_kernel_facts;

typedef struct tf_module_facts {
  const tf_module *module;
  const tf_target *target;  /* of the PTX */
  unsigned ptx_version;     /* of the PTX, times 10 */
  const char *chosen_entry; /* --entry; null: not given */
  unsigned kernel_count;
  const tf_kernel_facts *kernels;
} tf_module_facts;

#endif
