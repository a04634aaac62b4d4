/* The manifest in memory: docs/manifest.schema.json as resolved C objects (names are indices, expressions are trees).
 *
 * A manifest is immutable, lives in one arena and is freed as a whole. Every name in it has been resolved and every
 * cross-reference checked when it was read, so its users have no error paths for bad references. */
#ifndef TF_RUNTIME_MANIFEST_H
#define TF_RUNTIME_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Runtime/Element.h"
#include "tilefoundry/Status.h"

#define TF_MANIFEST_VERSION 1

typedef struct tf_mloc {
  const char *file; /* null: unknown */
  int64_t line, column;
} tf_mloc;

typedef struct tf_mdim {
  const char *name;
  int64_t lo, hi; /* lo <= value < hi */
} tf_mdim;

typedef enum tf_mop {
  TF_MOP_CONST,  /* value */
  TF_MOP_VAR,    /* dims[index] of the manifest */
  TF_MOP_EXTENT, /* extent of axis `axis` of parameter `index` */
  TF_MOP_SCALAR, /* value of scalar parameter `index` */
#define TF_MANIFEST_OP(ENUM, NAME, PAIR, SPELLING) TF_MOP_##ENUM,
#include "Runtime/ManifestOps.def"
} tf_mop;

typedef struct tf_mexpr tf_mexpr;
struct tf_mexpr {
  tf_mop op;
  unsigned index, axis;
  tf_element element; /* SCALAR: the parameter's dtype, an integer's */
  int64_t value;
  unsigned arg_count;
  const tf_mexpr *args; /* by value, arg_count of them */
};

typedef enum tf_mparam_kind {
  TF_MPARAM_TENSOR,
  TF_MPARAM_CONST_TENSOR,
  TF_MPARAM_SCALAR,
  TF_MPARAM_HIDDEN_SHAPE,
  TF_MPARAM_GRID_BARRIER
} tf_mparam_kind;

typedef struct tf_mparam {
  const char *name;
  tf_mparam_kind kind;
  tf_element element;
  DLDataType dlpack;       /* the same for tensors' headers */
  unsigned rank;           /* tensors; else 0 */
  const tf_mexpr *shape;   /* rank of them */
  const tf_mexpr *strides; /* null: C order; else rank of them, in elements */
  bool host;               /* storage is host, not gmem */
  uint64_t alignment;      /* bytes */
  unsigned of, axis;       /* hidden_shape: tensor parameter and its axis */
} tf_mparam;

/* How one DimVar of a function is found: value = extent of that axis / factor. */
typedef struct tf_msolve {
  unsigned dim; /* in the manifest's dims */
  unsigned param, axis;
  int64_t factor;
} tf_msolve;

/* What kernels and entries have in common: parameters, and the plan that solves their DimVars. Only the first
 * declared_count parameters are passed by callers. */
typedef struct tf_msignature {
  const char *name;
  unsigned param_count, declared_count;
  const tf_mparam *params;
  unsigned solve_count;
  const tf_msolve *solves; /* in parameter and axis order */
  bool has_const;          /* a const_tensor among the parameters */
  unsigned output_count;   /* of an entry: how many of the declared ones, the last, are results */
} tf_msignature;

typedef enum tf_abort_kind { TF_ABORT_ABORT, TF_ABORT_DIV, TF_ABORT_BOUNDS } tf_abort_kind;

typedef struct tf_mabort_site {
  tf_abort_kind kind;
  const char *message;
  tf_mloc loc;
} tf_mabort_site;

typedef struct tf_mbuffer {
  const char *name;
  bool dynamic;
  int64_t offset, bytes, alignment;
  tf_mloc loc;
} tf_mbuffer;

typedef struct tf_mkernel {
  tf_msignature signature; /* name is the source name */
  const char *ptx_name;
  const tf_mexpr *grid_size, *block_size;       /* null: the launch decides */
  const tf_mexpr *default_grid, *default_block; /* three each, or null */
  bool has_required_block, has_cluster;
  int64_t required_block[3], cluster[3];
  int64_t max_block_threads; /* 0: none */
  bool linear_grid;          /* the grid has one axis */
  int64_t static_bytes;      /* shared memory */
  tf_mexpr dynamic_bytes;
  unsigned buffer_count;
  const tf_mbuffer *buffers;
  bool cooperative;
  int64_t grid_barrier_bytes;
  unsigned abort_count;
  const tf_mabort_site *aborts;
  tf_mloc loc;
} tf_mkernel;

typedef enum tf_marg_kind { TF_MARG_PARAM, TF_MARG_VIEW, TF_MARG_INT, TF_MARG_FLOAT } tf_marg_kind;

typedef struct tf_marg {
  tf_marg_kind kind;
  unsigned param;        /* PARAM, VIEW: of the surrounding entry */
  tf_mexpr value;        /* INT: the value; VIEW: the offset in elements */
  unsigned rank;         /* VIEW */
  const tf_mexpr *shape; /* VIEW */
  double number;         /* FLOAT */
} tf_marg;

typedef enum tf_mstmt_kind {
  TF_MSTMT_LAUNCH,
  TF_MSTMT_CALL,
  TF_MSTMT_DISPATCH,
  TF_MSTMT_SEQUENCE,
  TF_MSTMT_ABORT
} tf_mstmt_kind;

typedef struct tf_mstmt tf_mstmt;
typedef struct tf_mcase tf_mcase;
struct tf_mstmt {
  tf_mstmt_kind kind;
  tf_mloc loc;
  unsigned callee; /* LAUNCH: kernel; CALL: entry */
  bool
      same_signature; /* LAUNCH: the arguments are the entry\'s parameters in order, and the kernel declares the same ones:
                        * what was solved and checked for the entry holds for the kernel */
  unsigned arg_count;
  const tf_marg *args;
  const tf_mexpr *grid, *block, *cluster; /* LAUNCH: three each; cluster may be null */
  tf_mexpr dynamic_smem;
  bool cooperative, programmatic_stream_serialization;
  const char *text;      /* DISPATCH: the dim's name; ABORT: the message */
  tf_mexpr subject;      /* DISPATCH */
  unsigned count;        /* DISPATCH: cases; SEQUENCE: statements */
  const tf_mcase *cases; /* DISPATCH */
  const tf_mstmt *body;  /* SEQUENCE: count of them; DISPATCH: the fallback */
};

struct tf_mcase {
  int64_t lo, hi;
  tf_mstmt body;
};

typedef struct tf_mentry {
  tf_msignature signature;
  const tf_mstmt *body; /* null: compiled code only */
  tf_mloc loc;
} tf_mentry;

typedef struct tf_manifest {
  const char *module, *target, *ptx_version;
  unsigned dim_count, kernel_count, entry_count;
  const tf_mdim *dims;
  const tf_mkernel *kernels;
  const tf_mentry *entries;
  const tf_mentry *default_entry; /* null: none */
} tf_manifest;

/* Reads JSON text. `name` stands for the text in messages. On failure (TF_PARSE, TF_OUT_OF_MEMORY) *out is untouched
 * and message says what is wrong where: "NAME:line:col: …" for broken JSON, "NAME: kernels[0].grid_size: …" for the
 * rest. */
TF_NODISCARD tf_status tf_manifest_read(const char *name, const char *text, size_t size,
                                        TF_GIVE const tf_manifest **out, char *message, size_t message_size);
void tf_manifest_free(TF_TAKE const tf_manifest *manifest); /* null is fine */

static inline bool tf_mparam_is_tensor(const tf_mparam *param) {
  return param->kind == TF_MPARAM_TENSOR || param->kind == TF_MPARAM_CONST_TENSOR;
}

#endif
