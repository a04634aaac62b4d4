/* libtfsim.so beyond the CUDA Driver API: making its calls fail, for testing hosts.
 *
 * libtfsim.so has the symbols of libcuda.so.1 over the simulated device. A host that is tested on it can find out what it
 * does when a call fails, each call in turn:
 *
 *     for (int n = 1; run_host_with(n) == FAILED; n++) …        where run_host_with(n) sets "n" and runs the host
 *
 * or from outside, without a change to the host, by TF_SIM_FAIL in the environment.
 *
 * Rules are separated by commas:      [NAME:]N[+][=CODE]
 *
 *   17                                         the 17th call fails with CUDA_ERROR_UNKNOWN
 *   cuMemAlloc:2=CUDA_ERROR_OUT_OF_MEMORY      the second allocation does, with this error; its number is fine, too
 *   cuLaunchKernel:1+=719                      all launches fail
 *
 * A call that fails so has no effect, except that an error after which a context is of no use (CUDA_ERROR_ILLEGAL_ADDRESS,
 * …) ends the current context as on a real device: its calls return that error until it is destroyed or reset. Names are
 * those in programs (cuMemAlloc) or of symbols (cuMemAlloc_v2). All functions count except cuGetErrorName and
 * cuGetErrorString, which fail by name only. TF_SIM_FAIL that is no list of rules makes every call return
 * CUDA_ERROR_NO_DEVICE; TF_SIM_LOG tells why. */
#ifndef TILEFOUNDRY_SIMDRIVER_H
#define TILEFOUNDRY_SIMDRIVER_H

#include "tilefoundry/Status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the rules; null or empty: none. Counting begins anew at 1. 0, or 1 (CUDA_ERROR_INVALID_VALUE) if the text is no
 * list of rules: then nothing changes. Not while other threads make calls. */
TF_API int tf_sim_fail_calls(const char *rules);

/* Calls since rules were last set or, before that, the first call: of a function, or of all if `name` is null. Thread-safe.
 */
TF_API unsigned long long tf_sim_count_calls(const char *name);

#ifdef __cplusplus
}
#endif

#endif
