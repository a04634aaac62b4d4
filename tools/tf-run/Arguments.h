/* The parameters of what is launched, bound to what the command line says. */
#ifndef TF_RUN_ARGUMENTS_H
#define TF_RUN_ARGUMENTS_H

#include "Array.h"
#include "Options.h"
#include "Runtime/Manifest.h"
#include "Source.h"
#include "tilefoundry/Runtime.h"

typedef struct tf_run_param {
  const char *name;
  const char *given;         /* the text of --arg; null: none */
  const tf_mparam *manifest; /* null for a bare kernel */
  tf_element element;
  bool is_scalar, is_host;
  bool is_bytes; /* passed by value as the bytes of npy: a struct of a bare kernel, nothing that is run through */
  unsigned rank;
  int64_t shape[TF_NPY_MAX_RANK], strides[TF_NPY_MAX_RANK]; /* in elements; C order if the parameter has no own */
  uint64_t bits;                                            /* scalar */
  tf_npy npy;                                               /* what a file holds, until it is converted */
  tf_run_array host; /* content before the run (unless poisoned), after it the result */
  size_t bytes;      /* of the storage that the strides span */
  void *storage;     /* on the device, or host memory for is_host */
  DLTensor tensor;
} tf_run_param;

typedef struct tf_run_params {
  unsigned count;
  tf_run_param *items;
} tf_run_params;

/* Makes the parameters of a signature, reads the files, solves the dims from arrays and --dim, and fills shapes and
 * contents. `where` leads messages. Reports to stderr and returns false on failure. */
bool tf_run_params_of_signature(const tf_run_options *options, const char *where, const tf_manifest *manifest,
                                const tf_msignature *signature, tf_run_params *out);
/* The same for a kernel of which only the PTX is known. */
bool tf_run_params_of_ptx(const tf_run_options *options, const char *where, const tf_run_ptx_param *ptx, int count,
                          tf_run_params *out);

/* Gives every tensor its memory: contents copied in, the rest poisoned. */
bool tf_run_params_upload(tf_runtime *rt, tf_run_params *params);
/* Copies every tensor that --out, --print or --expect names back into its host array. */
bool tf_run_params_download(tf_runtime *rt, const tf_run_options *options, tf_run_params *params);
void tf_run_params_free(tf_runtime *rt, tf_run_params *params);

/* By name, or by number for bare kernels; null if there is none. */
tf_run_param *tf_run_params_find(tf_run_params *params, const char *name);

#endif
