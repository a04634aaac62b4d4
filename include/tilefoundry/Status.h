/* The one status type and the ownership and export words that every public header uses. */
#ifndef TILEFOUNDRY_STATUS_H
#define TILEFOUNDRY_STATUS_H

#if defined(__GNUC__)
#define TF_API __attribute__((visibility("default")))
#define TF_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define TF_NODISCARD __attribute__((warn_unused_result))
#else
#define TF_API
#define TF_PRINTF(fmt, args)
#define TF_NODISCARD
#endif

/* Ownership of a pointer that crosses a call. GIVE: the caller receives it and frees it with the type's destroy
 * function. TAKE: the callee takes it over, also when it fails. KEEP: borrowed for the duration of the call (or, in a
 * result, for the lifetime of the object it came from). */
#define TF_GIVE
#define TF_TAKE
#define TF_KEEP

/* Structs of options begin with `size`, the caller's sizeof, and are set by their _INIT macro; a null pointer stands for that.
 * They only grow at their end. A shorter one, of a program that was compiled with older headers, has the defaults in what it
 * lacks; a longer one is fine if what the library does not know is zero; any other size is TF_INVALID_ARGUMENT. */

#ifdef __cplusplus
extern "C" {
#endif

/* Result of every fallible function. Results travel through the last `out` parameter, which is left untouched on
 * failure. The message that belongs to a failure is held by the caller's context or runtime object. */
typedef enum tf_status {
  TF_OK = 0,
  TF_INVALID_ARGUMENT, /* the caller broke the function's contract: null, foreign context, wrong kind, bad size */
  TF_PARSE,            /* the source text is at fault; see the diagnostics */
  TF_VERIFY,           /* the program breaks a rule of the language; see the diagnostics */
  TF_UNSUPPORTED,      /* legal, but not for this target, tool chain or build */
  TF_OUT_OF_MEMORY,
  TF_IO,      /* a file could not be read or written */
  TF_DRIVER,  /* the CUDA driver (or the simulated one) refused a call */
  TF_LAUNCH,  /* arguments, geometry or resources of a launch are at fault; nothing was launched */
  TF_TRAP,    /* device or host code stopped itself (abort, a failed check) */
  TF_CHECKER, /* a checker of the simulated device found a fault */
} tf_status;

/* The enumerator's spelling without its prefix, e.g. "OUT_OF_MEMORY"; "unknown status" for any other value.
 * Never null; static storage; thread-safe. */
TF_API const char *tf_status_name(tf_status status);

#ifdef __cplusplus
}
#endif
#endif
