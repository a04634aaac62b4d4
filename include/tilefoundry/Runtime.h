/* The runtime: from PTX and its manifest to checked calls on a CUDA device or on the simulated one.
 *
 *   tf_runtime ── a device, its context, the message of the first error
 *      └─ tf_program ── a loaded PTX module (with its manifest, and the machine code of its host functions)
 *            ├─ tf_entry ──── a host function: arguments are checked, then it runs
 *            │     └─ tf_prepared_call ─── arguments are checked once, then it runs again and again
 *            └─ tf_kernel ─── one kernel, launched with a geometry of the caller's
 *
 *     tf_runtime *rt;
 *     tf_runtime_create(&rt);
 *     if (tf_device_open(rt, "auto", NULL) == TF_OK && tf_program_load(rt, &source, &program) == TF_OK &&
 *         tf_program_entry(program, NULL, &entry) == TF_OK && tf_entry_call(entry, NULL, arguments, 3) == TF_OK)
 *       tf_stream_synchronize(rt, NULL);
 *     if (tf_runtime_status(rt) != TF_OK) fprintf(stderr, "%s\n", tf_runtime_message(rt));
 *
 * Errors: every fallible function returns a status. The runtime object keeps the status and the message of the *first*
 * failure; later ones never overwrite it, tf_runtime_clear_error forgets it. Nothing here prints, exits or aborts. A
 * call that failed before its launch has launched nothing. Faults of running kernels are found later, by the next call
 * that talks to the device or by tf_stream_synchronize, and are reported with the names of the kernels that were in
 * flight.
 *
 * Contexts: the calling thread's current CUDA context is used if there is one on the device when it is opened, else the
 * device's primary context. Calls make that context current for their own duration only.
 *
 * Threads: all functions may be called from several threads at once for the same object, except that
 * create/open/destroy of a runtime, unload of a program, and changes and destroy of a prepared call must not run beside
 * other calls on that object. Launches on one stream are ordered as the caller orders his calls.
 *
 * Graphs: calls may be made on a stream that is being captured into a CUDA graph, in every mode of capture. What they do
 * becomes nodes of the graph; nothing runs, and nothing is waited for. As long as the graph is launched it needs what its
 * nodes name: the program, the tensors, those in host memory too. Scalars, extents, windows and what a function decided
 * are those of the capture. Temporaries and the counters of grid barriers belong to the graph: one that has any can be
 * instantiated once at a time, and neither be cloned nor be a part of another graph. A call that fails leaves what it has
 * captured so far, and the capture goes on; end it and destroy the graph. Loading, allocating and freeing are no
 * part of a graph and allowed during any capture; what has to wait for a captured stream is refused.
 *
 * Tensors are DLPack's (dlpack/dlpack.h). On the simulated device they carry kDLCUDA and the ordinal 0 like on a real
 * one, and their data pointers come from tf_device_alloc. */
#ifndef TILEFOUNDRY_RUNTIME_H
#define TILEFOUNDRY_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dlpack/dlpack.h>

#include <tilefoundry/Compiled.h>
#include <tilefoundry/Status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tf_runtime tf_runtime;
typedef struct tf_program tf_program;
typedef struct tf_entry tf_entry;
typedef struct tf_kernel tf_kernel;
typedef void *tf_stream; /* a CUstream of the runtime's context; null is the legacy default stream. The driver's handles
                          * of the default streams, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, are as good */

/* DLPack's type codes that older versions of its header lack. Bits are 8 for bool and the 8-bit floats, 4 for f4e2m1.
 */
#define TF_DL_BOOL          6u
#define TF_DL_FLOAT8_E4M3FN 10u
#define TF_DL_FLOAT8_E5M2   12u
#define TF_DL_FLOAT8_E8M0   14u
#define TF_DL_FLOAT4_E2M1FN 17u

/* ---- The runtime object ------------------------------------------------------------------------------------------ */

/* A runtime without a device yet. TF_INVALID_ARGUMENT for null, TF_OUT_OF_MEMORY. */
TF_API TF_NODISCARD tf_status tf_runtime_create(TF_GIVE tf_runtime **out);

/* Closes the device. Programs must have been unloaded. Null is fine. */
TF_API void tf_runtime_destroy(TF_TAKE tf_runtime *runtime);

/* The first failure since creation or the last clear: TF_OK and "" if there was none. The text stays valid until the
 * next clear or destroy. For null: TF_INVALID_ARGUMENT and "". */
TF_API tf_status tf_runtime_status(const tf_runtime *runtime);
TF_API const char *tf_runtime_message(const tf_runtime *runtime);
TF_API void tf_runtime_clear_error(tf_runtime *runtime);

/* ---- The device -------------------------------------------------------------------------------------------------- */

typedef struct tf_device_options {
  size_t size;
  const char *target;     /* the .target that will be loaded, e.g. "sm_90a": chooses the simulated device of "auto" and
                           * "sim"; null is sm_80 */
  const char *sim_checks; /* checkers of the simulated device: "none", "all", or a list of mem, init, race, sync, hang;
                           * null is "none". mem and hang are always on */
  uint64_t sim_seed;      /* order of lanes, warps and CTAs on the simulated device; 0 is the natural order */
  unsigned sim_threads;   /* worker threads; 0 lets it choose */
  uint64_t sim_budget;    /* warp instructions that a launch may execute on the simulated device; 0 is no limit */
  const int *sim_cancel;  /* set to nonzero, also by a signal handler, to stop launches on the simulated device; must
                           * outlive it; null is none */
  bool sim_counters;      /* count instructions and traffic; see tf_device_counters */
  bool sim_adversarial;   /* the simulated device is as unkind as the ISA allows: asynchronous copies land as late as their
                           * wait permits, fresh memory and registers hold noise, stores reach other CTAs by a fence or
                           * release only, approximate functions err within their bounds. Launches run on one worker */
  const char *sim_fail;   /* driver calls of the simulated device that fail, for testing: rules as in SimDriver.h; null is
                           * none */
} tf_device_options;
#define TF_DEVICE_OPTIONS_INIT                                                                                         \
  { sizeof(tf_device_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Opens a device, once per runtime. `spec`:
 *   "auto"       the first CUDA device if a driver and a device are there, else the simulated one
 *   "cuda[:N]"   CUDA device N, default 0; the driver library is $TF_CUDA_DRIVER or libcuda.so.1
 *   "sim[:sm_N]" the simulated device with the profile of that architecture
 * options may be null. TF_INVALID_ARGUMENT: malformed spec or options, or a device is open; TF_IO: no driver library;
 * TF_DRIVER: the driver refused; TF_UNSUPPORTED: no such simulated profile. */
TF_API TF_NODISCARD tf_status tf_device_open(tf_runtime *runtime, const char *spec, const tf_device_options *options);

typedef struct tf_device_info {
  const char *name; /* owned by the runtime */
  DLDevice device;  /* what tensors on it carry */
  unsigned compute; /* compute capability times 10: 80, 90, … */
  bool simulated;
  const char *fallback_note; /* null, or why "auto" chose the simulated device; worth one line to the user */
  unsigned sm_count;
  unsigned max_threads_per_block, max_block[3], max_grid[3];
  size_t shared_per_block, shared_per_block_optin; /* bytes */
  bool cooperative_launch, cluster_launch;
} tf_device_info;

/* TF_INVALID_ARGUMENT if no device is open. */
TF_API TF_NODISCARD tf_status tf_device_get_info(tf_runtime *runtime, tf_device_info *out);

/* The simulated device's counters since it was opened, as JSON or as a table for people; free with tf_string_free.
 * docs/counters.schema.json describes the JSON. TF_UNSUPPORTED on a real device and without sim_counters. */
TF_API TF_NODISCARD tf_status tf_device_counters(tf_runtime *runtime, bool json, TF_GIVE char **out);
TF_API void tf_string_free(TF_TAKE char *text);

/* ---- Memory and streams: thin covers of the driver, so that a program needs no CUDA headers ---------------------- */

/* Device memory; zero bytes give a valid pointer too. TF_OUT_OF_MEMORY if the device has none left. Freeing null is fine;
 * programs wait for work that uses the memory first. */
TF_API TF_NODISCARD tf_status tf_device_alloc(tf_runtime *runtime, size_t bytes, void **out);
TF_API tf_status tf_device_free(tf_runtime *runtime, void *pointer);
/* Copies, finished when they return, ordered after all earlier work on `stream`. TF_UNSUPPORTED if that is being captured. */
TF_API TF_NODISCARD tf_status tf_device_copy_in(tf_runtime *runtime, void *device, const void *host, size_t bytes,
                                                tf_stream stream);
TF_API TF_NODISCARD tf_status tf_device_copy_out(tf_runtime *runtime, void *host, const void *device, size_t bytes,
                                                 tf_stream stream);

/* Makes the bytes say that nobody wrote them: noise that the simulated device's init checker recognises; all ones, a NaN
 * in every floating-point type, on a real device. Ordered before everything that is launched later. */
TF_API TF_NODISCARD tf_status tf_device_poison(tf_runtime *runtime, void *pointer, size_t bytes);

/* A stream of the runtime's context that does not wait for the default one; destroyed before the runtime is. Streams that
 * the program made itself in that context serve as well. */
TF_API TF_NODISCARD tf_status tf_stream_create(tf_runtime *runtime, tf_stream *out);
TF_API tf_status tf_stream_destroy(tf_runtime *runtime, tf_stream stream);
/* Waits for the stream's work and reports what went wrong in it: TF_TRAP if a kernel stopped itself (the message lists
 * the abort sites of the kernels in flight, or the very site on the simulated device), TF_CHECKER for a checker's
 * finding, TF_DRIVER for other faults, TF_UNSUPPORTED if the stream is being captured (the capture goes on). */
TF_API TF_NODISCARD tf_status tf_stream_synchronize(tf_runtime *runtime, tf_stream stream);

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

typedef struct tf_program_source {
  size_t size;
  const char *name;     /* for messages; null is "<program>" */
  const void *image;    /* PTX text, or a cubin */
  size_t image_size;    /* bytes, without a terminating NUL */
  const char *manifest; /* JSON text of docs/manifest.schema.json; null: only tf_kernel_launch_raw is possible */
  size_t manifest_size;
  const tf_compiled_entry
      *entries; /* machine code of the manifest's entries, in its order, as tf_host_code_entries gives
                                     * it; null: the entries run by the manifest's plans, which some do not have. The
                                     * table is copied, the code must outlive the program */
  unsigned entry_count;
  const void *cubin; /* machine code of the kernels, tried before the image; null: none */
  size_t cubin_size;
} tf_program_source;
#define TF_PROGRAM_SOURCE_INIT                                                                                         \
  { sizeof(tf_program_source), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Loads a program; what `source` points to is read before this returns (but for the code of entries, see there). PTX for a real device is assembled by nvJitLink or ptxas where one is
 * found ($TF_NVJITLINK, $TF_PTXAS, $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, PATH) and kept in a disk cache ($TF_CACHE, or
 * tilefoundry in $XDG_CACHE_HOME or ~/.cache; TF_CACHE=off: none; at most $TF_CACHE_LIMIT bytes; not used if others can write
 * to it); without them, or if the
 * driver refuses the result, by the driver. TF_PARSE: the manifest is malformed (the message names the place
 * in it); TF_INVALID_ARGUMENT: the machine code is of another module; TF_DRIVER: the device refused the module (the message
 * holds the log, the PTX line and the source line). */
TF_API TF_NODISCARD tf_status tf_program_load(tf_runtime *runtime, const tf_program_source *source,
                                              TF_GIVE tf_program **out);
/* Waits for nothing: the caller has synchronised the streams that use it, and destroyed the graphs. Null is fine. */
TF_API void tf_program_unload(TF_TAKE tf_program *program);

/* The entry of that name, or the module's default entry for null. TF_INVALID_ARGUMENT with a message that lists the
 * entries. Belongs to the program. */
TF_API TF_NODISCARD tf_status tf_program_entry(tf_program *program, const char *name, const tf_entry **out);
/* The kernel of that source name or PTX name; without a manifest any .entry of the module. Belongs to the program. */
TF_API TF_NODISCARD tf_status tf_program_kernel(tf_program *program, const char *name, tf_kernel **out);

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef enum tf_argument_kind {
  TF_ARGUMENT_TENSOR, /* .tensor */
  TF_ARGUMENT_INT,    /* .i; must be representable in the parameter's dtype; exactly so for a float */
  TF_ARGUMENT_UINT,   /* .u; likewise */
  TF_ARGUMENT_FLOAT,  /* .f; float parameters only, rounded once to the parameter's dtype */
  TF_ARGUMENT_BITS,   /* .u; the parameter's bits as they are, the rest zero */
  TF_ARGUMENT_OUTPUT, /* .output; of an output parameter of an entry: the runtime makes the tensor, with the extents that
                       * follow from the other arguments, and fills it in if the call ends well; tf_tensor_free frees it */
} tf_argument_kind;

typedef struct tf_argument {
  tf_argument_kind kind;
  union {
    const DLTensor *tensor;
    int64_t i;
    uint64_t u;
    double f;
    DLTensor *output;
  } value;
} tf_argument;

/* What can be passed where; strings belong to the program. */
typedef struct tf_parameter_info {
  const char *name;
  const char *dtype; /* "f32", … */
  bool is_scalar;    /* else a tensor */
  bool is_const;     /* a tensor that is only read */
  bool is_host;      /* a tensor in host memory */
  unsigned rank;     /* of a tensor */
  bool is_output;    /* among the last `output_count` parameters of the function */
} tf_parameter_info;

/* Of no entry: null, 0. */
TF_API const char *tf_entry_name(const tf_entry *entry);
TF_API unsigned tf_entry_parameter_count(const tf_entry *entry);
TF_API tf_parameter_info tf_entry_parameter(const tf_entry *entry, unsigned index); /* all zero behind the last */

/* Checks the arguments, all of them before anything is launched, and runs the entry on the stream:
 *   number of arguments; tensor or scalar; dtype code, bits and lanes; rank; static extents; every DimVar solved at its
 *   first axis, in its range, divisible, the same everywhere, extents below 2^31; strides (null is C order; those of
 *   extent-1 axes never count); device; alignment of data + byte_offset; null data of a tensor with elements; a tensor
 *   that is written overlapping a ConstTensor.
 * TF_LAUNCH with a message that names the parameter, what was expected and what came, and where the launch or call stands if
 * it is one of the entry's own; TF_TRAP if the entry itself aborts; TF_UNSUPPORTED if the entry has neither machine code nor a
 * plan.
 *
 * Launches, copies between device tensors and fills are asynchronous, in the order of the stream. Host tensors that the
 * entry copies to or from are finished with when it returns. Temporaries are gone then, however it ended; an error in the
 * middle of a sequence leaves what was launched before it. Temporaries in device memory are taken from the device's current
 * memory pool in the order of the stream; that pool's release threshold says what it keeps between calls.
 *
 * On a stream that is being captured host tensors are read and written whenever the graph runs, by copies and fills alike,
 * so they live as long as it may; a T.load of one is done now. TF_UNSUPPORTED for what a graph cannot do: a T.load of an
 * element that this very call has the graph write, a launch on another stream that is not part of the same capture, and
 * temporaries where graphs cannot own memory (before CUDA 11.4, devices without memory pools). */
TF_API TF_NODISCARD tf_status tf_entry_call(const tf_entry *entry, tf_stream stream, const tf_argument *arguments,
                                            unsigned count);

/* Frees a tensor that was made for TF_ARGUMENT_OUTPUT and makes it blank; a blank or null one is fine. Waits for the device
 * where the tensor is in its memory. */
TF_API tf_status tf_tensor_free(tf_runtime *runtime, DLTensor *tensor);

/* Calls entry number `entry` of an object that was compiled ahead of time; what the functions of a generated header do. The
 * unit is loaded once per runtime, at its first call, and unloaded by tf_runtime_destroy. A blank tensor (all zero) of an
 * output parameter stands for TF_ARGUMENT_OUTPUT. Besides what tf_entry_call and tf_program_load return: TF_UNSUPPORTED if
 * the object needs another version of this library. */
TF_API TF_NODISCARD tf_status tf_compiled_call(tf_runtime *runtime, tf_stream stream, const tf_compiled_unit *unit,
                                               unsigned entry, const tf_argument *arguments, unsigned count);

/* ---- Prepared calls ---------------------------------------------------------------------------------------------- */

/* A call of an entry whose arguments were checked once, to be made again and again: a run costs its launches and little else.
 * It keeps the values, the extents, and the dims that follow from them. Of the caller's arguments and DLTensors nothing has to
 * live on, only the memory that the tensors describe. Shapes stay; addresses and scalars may change between runs.
 *
 *     tf_entry_prepare(entry, arguments, 3, &call);
 *     for (int i = 0; i < n; i++) {
 *       tf_prepared_call_set_pointers(call, 1, &(unsigned){0}, &inputs[i]);
 *       tf_prepared_call_run(call, stream);
 *     }
 *
 * Lifetime: runs and setters need the program to be loaded; destroy does not.
 * Threads: a call may be run by several threads at once, on the same or different streams. Setters and destroy must not run
 * beside anything else on the same call. Launches and asynchronous copies keep the values that they were made with: a setter
 * after a run changes the later ones only. */
typedef struct tf_prepared_call tf_prepared_call;

/* Checks the arguments like tf_entry_call, with its errors, and launches nothing. The tensor of a TF_ARGUMENT_OUTPUT is made now
 * and the caller's, to be freed after the last run; every run writes to it. */
TF_API TF_NODISCARD tf_status tf_entry_prepare(const tf_entry *entry, const tf_argument *arguments, unsigned count,
                                               TF_GIVE tf_prepared_call **out);
/* What tf_entry_call does after its checks, with the same promises. The geometry is worked out and held against the kernels'
 * and the device's limits each time, since scalars may decide it. */
TF_API TF_NODISCARD tf_status tf_prepared_call_run(const tf_prepared_call *call, tf_stream stream);

/* Gives tensors other addresses: `parameters` are their numbers, `pointers` where their elements (0, …, 0) lie (data +
 * byte_offset of a DLTensor), in the same device's or host memory. Checked are null and alignment of tensors with elements, and that no
 * written tensor overlaps a ConstTensor when all of them have changed: what is exchanged must be set in one call. TF_LAUNCH with
 * a message, and nothing has changed, if one is refused. Of equal numbers the last counts. */
TF_API TF_NODISCARD tf_status tf_prepared_call_set_pointers(tf_prepared_call *call, unsigned count,
                                                            const unsigned *parameters, void *const *pointers);
/* Gives a scalar another value, with the check of tf_entry_call: TF_LAUNCH, and the value stays, if the dtype cannot hold it. */
TF_API TF_NODISCARD tf_status tf_prepared_call_set_scalar(tf_prepared_call *call, unsigned parameter,
                                                          const tf_argument *value);

/* Null is fine. */
TF_API void tf_prepared_call_destroy(TF_TAKE tf_prepared_call *call);

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

typedef struct tf_launch_config {
  size_t size;
  unsigned grid[3],
      block[3];        /* CTAs and threads; all three 0: the manifest's default (grid_size or block_size, 1, 1) */
  unsigned cluster[3]; /* all three 0: none */
  size_t dynamic_smem; /* bytes, on top of what the manifest says that the kernel needs itself */
  bool cooperative;
  bool programmatic_stream_serialization;
  tf_stream stream;
} tf_launch_config;
#define TF_LAUNCH_CONFIG_INIT                                                                                          \
  { sizeof(tf_launch_config), {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, false, false, 0 }

/* Launches a kernel that the manifest describes on its declared parameters, checked like tf_entry_call's; config null is
 * the kernel's own geometry on the default stream. Grid and block must have the sizes that the kernel asks for, within the
 * device's limits; a grid or block with an extent of 0 launches nothing and succeeds. A cooperative launch is refused, with
 * the numbers, if its CTAs cannot all be resident at once. TF_INVALID_ARGUMENT without a manifest. */
TF_API TF_NODISCARD tf_status tf_kernel_launch(tf_kernel *kernel, const tf_launch_config *config,
                                               const tf_argument *arguments, unsigned count);

/* Launches any kernel with bare parameters: one pointer to each parameter's value, in the .entry's order, as
 * cuLaunchKernel takes them (null for a kernel without any). Only the geometry is checked, which has to be named. */
TF_API TF_NODISCARD tf_status tf_kernel_launch_raw(tf_kernel *kernel, const tf_launch_config *config,
                                                   void *const *parameters);

#ifdef __cplusplus
}
#endif
#endif
