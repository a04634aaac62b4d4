/* From host functions to object files; see tilefoundry/HostCode.h. */
#ifndef TF_LOWER_HOST_OBJECT_H
#define TF_LOWER_HOST_OBJECT_H

#include <llvm-c/TargetMachine.h>

#include <tilefoundry/HostCode.h>

#include "LowerToLLVM/Host/Host.h"

/* A machine for this computer's architecture, position-independent; null if LLVM has no back end for it. */
LLVMTargetMachineRef tf_host_machine(void);

/* Lowers the host functions of a verified module (nothing here verifies it), lets `finish` add to the LLVM module what the job needs (user, the
 * lowering, the table of entries), and emits an object. Runs in an LLVM context of its own, under the out-of-memory
 * guard. *out is malloc'ed by LLVM (LLVMDisposeMemoryBuffer). */
typedef void (*tf_host_finish_fn)(void *user, tf_host_module *module, LLVMValueRef table);
TF_NODISCARD tf_status tf_host_object(const tf_module *module, const tf_lower_options *options,
                                      tf_host_finish_fn finish, void *user, LLVMMemoryBufferRef *out);

/* Objects for this process (Jit.c). `finish` for them: gives the table the name that linking looks for, and *user, an
 * unsigned, the number of entries. */
void tf_host_name_table(void *user, tf_host_module *module, LLVMValueRef table);
/* Links such an object; takes the buffer over. TF_UNSUPPORTED after a diagnostic in the context, or silently where that is
 * null. */
TF_NODISCARD tf_status tf_host_link(tf_context *context, LLVMMemoryBufferRef object, unsigned count,
                                    TF_GIVE tf_host_code **out);

/* The C names of the object's functions in the order of the entries, and of a function's parameters; unique. Names.c. */
const char *const *tf_host_c_names(const tf_module *module, const char *prefix);
const char *const *tf_host_c_params(tf_context *context, const tf_stmt *function);
const char *tf_host_c_type(tf_dtype dtype); /* of a scalar */

/* TF_VERIFY with a diagnostic for a module that gives no C function. Its argument is a const tf_module *; under the guard of
 * tf_context_try. */
tf_status tf_host_require_entry(void *module);

#endif
