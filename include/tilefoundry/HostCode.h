/* Host functions (CPU functions of a module, or the entry that is derived from its only kernel) as machine code of this
 * machine: in this process, or as an object file and a header for C and C++. The code calls libtilefoundry-runtime through
 * the interface of Compiled.h and nothing else.
 *
 *   in process       tf_executable_create (Executable.h), or by parts:
 *                    tf_emit_ptx, tf_emit_manifest, tf_host_code_create  ─▶  tf_program_load  ─▶  tf_entry_call
 *   ahead of time    tf_emit_object, tf_emit_header                      ─▶  cc main.c kernel.o -ltilefoundry-runtime
 *
 * All functions verify the module first and report as those of Lower.h do; they may be called from several threads for
 * different contexts. Of the options they read target, host_abort_traps, print_after ("host": LLVM IR of
 * the host functions) and time; objects and headers read what PTX and manifest do. Machine code is for the machine's
 * architecture in general, not for the very CPU: it runs on others of its kind, and its bytes are the same everywhere. */
#ifndef TILEFOUNDRY_HOSTCODE_H
#define TILEFOUNDRY_HOSTCODE_H

#include <tilefoundry/Compiled.h>
#include <tilefoundry/Lower.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Code in this process. It does not refer to the module or its context, which may be gone when it runs. */
typedef struct tf_host_code tf_host_code;

/* TF_UNSUPPORTED after a diagnostic if this build of LLVM has no back end for this machine, or refuses the code. */
TF_API TF_NODISCARD tf_status tf_host_code_create(const tf_module *module, const tf_lower_options *options,
                                                  TF_GIVE tf_host_code **out);
/* The programs that were loaded with it have been unloaded. Null is fine. */
TF_API void tf_host_code_destroy(TF_TAKE tf_host_code *code);
/* The entries in the order of the module's manifest, and their number; for tf_program_source. Belongs to the code. */
TF_API const tf_compiled_entry *tf_host_code_entries(const tf_host_code *code, unsigned *count);

typedef struct tf_object_options {
  size_t size;
  const char *prefix; /* put in front of every function's name; null: none */
  const void *cubin;  /* machine code of the kernels, which goes into the object beside the PTX; null: none */
  size_t cubin_size;
} tf_object_options;
#define TF_OBJECT_OPTIONS_INIT                                                                                         \
  { sizeof(tf_object_options), 0, 0, 0 }

/* A position-independent object file with one function per entry,
 *
 *   tf_status NAME(tf_runtime *, tf_stream, <the parameters in order>);
 *
 * and all that it needs: PTX, cubin if given, manifest, the host functions. Tensors are DLTensor *, scalars the C type of
 * their dtype, or the bits of f16, bf16 and the 8-bit floats in uint16_t and uint8_t; tf32 is float. A name that C or C++
 * cannot use (a keyword, `main`, a function of the C library, letters beyond ASCII) is changed; the header says into what. The
 * same module and options give the same bytes. The bytes belong to the context. */
TF_API TF_NODISCARD tf_status tf_emit_object(const tf_module *module, const tf_lower_options *options,
                                             const tf_object_options *object, const void **out, size_t *size);
/* The header that declares the object's functions, each with its parameters' dtypes and shapes, and the target as a macro; C
 * and C++. */
TF_API TF_NODISCARD tf_status tf_emit_header(const tf_module *module, const tf_lower_options *options,
                                             const tf_object_options *object, const char **out);

#ifdef __cplusplus
}
#endif
#endif
