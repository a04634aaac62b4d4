/* The driver table: every CUDA Driver API function that is used, as a member of one struct.
 *
 *     libcuda.so.1 ──dlopen──▶ struct tf_driver ◀── lib/Sim (in process)
 *                                   │
 *                          devices, modules, launches
 *
 * Nothing links libcuda. All code above this line calls `driver->cuMemAlloc(…)` and cannot tell which device answers.
 * A symbol that the library lacks is no error when loading: its member is a stand-in that returns
 * TF_CUDA_ERROR_MISSING_FUNCTION, so that a call of it is reported by name and everything else works.
 *
 * Thread-safety: a filled table is read-only; the functions in it are as thread-safe as the CUDA driver's (all of
 * them).
 */
#ifndef TF_RUNTIME_DRIVER_H
#define TF_RUNTIME_DRIVER_H

#include "Runtime/CudaTypes.h"
#include "tilefoundry/Status.h"

/* What a stand-in for a missing symbol returns; no driver uses the number. */
#define TF_CUDA_ERROR_MISSING_FUNCTION ((CUresult)0x7f0001)

typedef struct tf_driver tf_driver;
struct tf_driver {
#define TF_DRIVER_FN(member, symbol, name, since, params, args) CUresult(*member) params;
#include "Runtime/DriverAPI.def"
  /* Not part of the CUDA API. `close` releases what the opener attached in `state` (a dlopen handle, a simulated
   * device); null when there is nothing to release. `is_sim` says that the simulator answers. */
  void *state;
  void (*close)(tf_driver *driver);
  int is_sim;
  /* Only the simulator has it (else null): its account of the fault behind the last error of a launch or of a
   * synchronisation. Writes a NUL-terminated text (kernel, thread, PTX and source lines, several lines) into message
   * and returns TF_TRAP (the kernel stopped itself), TF_CHECKER (a checker's finding) or TF_DRIVER (any other fault of
   * the program); TF_OK, with message untouched, if nothing is to be told. Each fault is told once. Thread-safe. */
  tf_status (*take_fault)(tf_driver *driver, char *message, size_t message_size);
};

/* Fills *out from the shared library `path`; null means $TF_CUDA_DRIVER, or libcuda.so.1 if that is unset. cuInit is
 * not called. On failure (TF_IO: the library does not load or is no CUDA driver) *out is untouched and `message`, of
 * `message_size` bytes, says why. The table is released by tf_driver_close. */
TF_NODISCARD tf_status tf_driver_open(const char *path, tf_driver *out, char *message, size_t message_size);

/* Calls the table's own close, if any, and clears the table. */
void tf_driver_close(tf_driver *driver);

/* Fills every member of *out that is null with its stand-in (for tables that implement only a part). */
void tf_driver_fill_missing(tf_driver *out);

/* The enumerator's spelling ("CUDA_ERROR_NOT_FOUND") and its meaning in a few words; "CUDA_ERROR_???" and "unknown
 * error code" for a number outside CudaConstants.def. Never null, static storage, thread-safe. */
const char *tf_cuda_result_name(CUresult result);
const char *tf_cuda_result_text(CUresult result);

#endif
