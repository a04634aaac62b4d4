/* The runtime's inside: objects behind Runtime.h and what its files use of each other.
 *
 * Locking: runtime->lock guards the error, the ring of recent launches, the barrier pool, the opt-in flags and the list
 * of kernels of programs without a manifest. It is never held across a driver call that can wait for the device.
 * Everything else in these objects is written before they are handed out and only read afterwards. */
#ifndef TF_RUNTIME_RUNTIMEIMPL_H
#define TF_RUNTIME_RUNTIMEIMPL_H

#include <pthread.h>

#include "Runtime/Dims.h"
#include "Runtime/Driver.h"
#include "Runtime/Manifest.h"
#include "tilefoundry/Compiled.h"
#include "tilefoundry/Runtime.h"

/* A zeroed counter block of one stream; launches of a stream are ordered, so they may share it. */
typedef struct tf_barrier_slot tf_barrier_slot;
struct tf_barrier_slot {
  tf_barrier_slot *next;
  unsigned long long stream_id;
  CUdeviceptr counters;
  size_t bytes;
  unsigned long long epoch; /* of the runtime when it was zeroed last; 0: not yet */
};

#define TF_RECENT_LAUNCHES 8

/* A launch that was handed to the driver and of which no synchronisation has said that it ended well. */
typedef struct tf_recent_launch {
  const tf_kernel *kernel; /* null: unused */
  CUstream stream;
} tf_recent_launch;

struct tf_runtime {
  pthread_mutex_t lock;
  tf_status status;
  char *message; /* malloc'ed, or null for "" */
  bool open;
  tf_driver driver;
  CUdevice device;
  CUcontext context;
  bool owns_primary;  /* the context is the device's primary one and was retained by us */
  int driver_version; /* 12080 is CUDA 12.8 */
  bool graph_memory;  /* graphs can own memory, of the device and of the host */
  tf_device_info info;
  char name[128];
  char note[256];
  tf_recent_launch recent[TF_RECENT_LAUNCHES];
  unsigned recent_next;
  unsigned long long recent_dropped; /* launches that fell out of the ring */
  tf_barrier_slot *barriers;
  unsigned long long barrier_epoch; /* from 1; a fault begins the next, in which all counters are zeroed again */
  pthread_mutex_t unit_lock;        /* held while a unit is loaded */
  struct tf_loaded_unit *units;     /* of tf_compiled_call; only ever put in front, read without a lock */
};

struct tf_kernel {
  tf_program *program;
  const tf_mkernel *manifest; /* null: a kernel of a bare PTX */
  const char *name;           /* for messages */
  CUfunction function;
  int static_shared;   /* bytes */
  int max_threads;     /* of a block, as the function was compiled */
  bool opted_in;       /* dynamic shared memory up to the device's limit is allowed; under the lock */
  bool large_clusters; /* likewise, of more than 8 CTAs */
  tf_kernel *next;     /* list of the bare kernels, which own name */
};

struct tf_entry {
  tf_program *program;
  const tf_mentry *manifest;
  tf_compiled_fn *function; /* machine code; null: the manifest's plan */
};

struct tf_program {
  tf_runtime *runtime;
  CUmodule module;
  const tf_manifest *manifest; /* null: none */
  tf_kernel *kernels;          /* manifest->kernel_count */
  tf_entry *entries;           /* manifest->entry_count */
  tf_kernel *bare;             /* found by name later; under the lock */
  char name[64];
};

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Records the failure if it is the first and returns `status`. */
tf_status tf_runtime_fail(tf_runtime *rt, tf_status status, const char *format, ...) TF_PRINTF(3, 4);

/* The status of a driver call; a failure is recorded with the function's name, the result's name and meaning, and, for
 * a fault of a running kernel, what is known about it. */
tf_status tf_runtime_check(tf_runtime *rt, CUresult result, const char *function);
#define TF_CALL(rt, function, ...) tf_runtime_check((rt), (rt)->driver.function(__VA_ARGS__), #function)

/* ---- Device ------------------------------------------------------------------------------------------------------ */

/* Takes over a filled driver table (closed on failure too) and opens a device of it: ordinal -1 is the current
 * context's or the first. */
TF_NODISCARD tf_status tf_device_attach(tf_runtime *rt, const tf_driver *driver, int ordinal);
void tf_device_detach(tf_runtime *rt);

/* Memory outside of any stream's order, also while a stream is being captured; in the runtime's current context. */
TF_NODISCARD tf_status tf_device_take(tf_runtime *rt, size_t bytes, CUdeviceptr *out);
tf_status tf_device_give(tf_runtime *rt, CUdeviceptr address);
/* Memory in the stream's order where the driver and the device have that (*ordered); else giving it back waits for the
 * stream. */
TF_NODISCARD tf_status tf_device_take_ordered(tf_runtime *rt, size_t bytes, CUstream stream, CUdeviceptr *out,
                                              bool *ordered);
tf_status tf_device_give_ordered(tf_runtime *rt, CUdeviceptr address, CUstream stream, bool ordered);

/* Makes the runtime's context current for one call; leave undoes exactly what enter did and returns the status of the
 * call: `status`, or the failure to undo if that is the first. */
TF_NODISCARD tf_status tf_context_enter(tf_runtime *rt, bool *pushed);
tf_status tf_context_leave(tf_runtime *rt, bool pushed, tf_status status);

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* A launch in numbers; 64-bit because formulas and callers may be wrong. */
typedef struct tf_geometry {
  int64_t grid[3], block[3];
  int64_t cluster[3]; /* all 0: none */
  int64_t dynamic_smem;
  bool cooperative, programmatic_stream_serialization;
  const tf_mloc *place; /* of the launch in a host function, for messages; null: none */
} tf_geometry;

/* An extent of 0: such a launch succeeds and does nothing. */
bool tf_geometry_is_empty(const tf_geometry *geometry);

/* Records why a launch is refused, as "FILE:LINE:COLUMN: kernel 'NAME': TEXT"; TF_LAUNCH. */
tf_status tf_launch_refuse(const tf_kernel *kernel, const tf_geometry *geometry, const char *format, ...)
    TF_PRINTF(3, 4);

/* Checks the geometry against kernel and device and launches with the parameters' addresses. An empty grid or block
 * succeeds without a launch. */
TF_NODISCARD tf_status tf_launch_checked(tf_kernel *kernel, const tf_geometry *geometry, CUstream stream,
                                         void **params);

/* Launches a kernel of a manifest on values for its declared parameters: checks the geometry against the kernel's sizes,
 * fills hidden parameters. `dims` are those of the values if these are known to be right for the kernel; null: the values are
 * bound first (tf_values_bind; strides are for that). */
TF_NODISCARD tf_status tf_launch_kernel(tf_kernel *kernel, const tf_geometry *geometry, CUstream stream,
                                        const tf_value *values, const int64_t *const *strides, const int64_t *dims);

/* Remembers a launch for later messages, from just before it is made; remove forgets it if it was refused. */
unsigned tf_recent_add(tf_runtime *rt, const tf_kernel *kernel, CUstream stream);
void tf_recent_remove(tf_runtime *rt, unsigned number);
void tf_recent_forget_stream(tf_runtime *rt, CUstream stream);
void tf_recent_forget_program(tf_runtime *rt, const tf_program *program);

/* Calls the launch with zeroed grid-barrier counters that no other launch in flight uses. `launch` gets their address.
 */
typedef tf_status (*tf_barrier_body)(void *user, CUdeviceptr counters);
TF_NODISCARD tf_status tf_barrier_run(tf_runtime *rt, CUstream stream, size_t bytes, tf_barrier_body body, void *user);
/* After a failed launch or a fault: counters may have been left anywhere. */
void tf_barrier_mark_dirty(tf_runtime *rt);
/* The id of a stream that may have counters (else 0), to be given back when it has been destroyed. */
TF_NODISCARD tf_status tf_barrier_stream(tf_runtime *rt, CUstream stream, unsigned long long *id);
tf_status tf_barrier_forget_stream(tf_runtime *rt, unsigned long long id);
void tf_barrier_release(tf_runtime *rt);

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* Checks a call from outside (all that Runtime.h lists) and turns its arguments into values, one per declared parameter, and
 * dims, one per dim of the manifest. Shapes in values point into the caller's tensors. `strides` is room for a pointer per
 * declared parameter. */
TF_NODISCARD tf_status tf_arguments_bind(tf_runtime *rt, const tf_manifest *manifest, const tf_msignature *signature,
                                         const tf_argument *arguments, unsigned count, tf_value *values,
                                         const int64_t **strides, int64_t *dims);

/* The part of it for values of the right kinds, dtypes and devices: dims, sizes, addresses, strides, overlaps. `strides`, or
 * an entry of it, is null where they are known to be the declared ones. */
TF_NODISCARD tf_status tf_values_bind(const tf_manifest *manifest, const tf_msignature *signature,
                                      const tf_value *values, const int64_t *const *strides, int64_t *dims,
                                      const tf_why *why);

/* Parts of these: of one tensor, the shape of which is known to be right, null and alignment; one scalar; and among all values,
 * a written tensor that shares bytes with a const_tensor. */
TF_NODISCARD tf_status tf_tensor_check_address(const tf_mparam *param, const tf_tensor *tensor, const tf_why *why);
TF_NODISCARD tf_status tf_argument_read_scalar(const tf_mparam *param, const tf_argument *argument, uint64_t *bits,
                                               const tf_why *why);
TF_NODISCARD tf_status tf_values_check_overlap(const tf_msignature *signature, const tf_menv *env, const tf_why *why);

/* Unloads what tf_compiled_call has loaded. */
void tf_units_unload(tf_runtime *rt);

/* Turns a module's load log into "…line 12: …" with that line of the PTX and the source line behind it. Writes into
 * text; empty if the log says nothing. `ptx` may be null (a cubin). */
void tf_jit_explain(const char *log, const char *ptx, char *text, size_t size);

#endif
