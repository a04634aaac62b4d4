/* NVIDIA's own header against our declarations, at compile time: every enumerator's value, every size and offset, every
 * prototype. A translation unit of its own, because cuda.h and CudaTypes.h declare the same names; both are measured
 * with the same .def files. The internal-version switch makes cuda.h declare the older versions of functions too, and
 * keeps it from redirecting the plain names to the newest ones. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <stddef.h>
#include <stdint.h>

#define TF_CUDA_RESULT(name, value, text)      _Static_assert((int)name == (value), #name);
#define TF_CUDA_DEVICE_ATTRIBUTE(name, value)  _Static_assert((int)name == (value), #name);
#define TF_CUDA_FUNC_ATTRIBUTE(name, value)    _Static_assert((int)name == (value), #name);
#define TF_CUDA_JIT_OPTION(name, value)        _Static_assert((int)name == (value), #name);
#define TF_CUDA_LAUNCH_ATTRIBUTE(name, value)  _Static_assert((int)name == (value), #name);
#define TF_CUDA_POINTER_ATTRIBUTE(name, value) _Static_assert((int)name == (value), #name);
#define TF_CUDA_FLAG(type, name, value)        _Static_assert((int)name == (value), #name);
#include "Runtime/CudaConstants.def"

#define TF_CUDA_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type);
#define TF_CUDA_FIELD(type, field, offset, bytes)                                                                      \
  _Static_assert(offsetof(type, field) == (offset), "offset of " #type "." #field);                                    \
  _Static_assert(sizeof(((type *)0)->field) == (bytes), "size of " #type "." #field);
#include "Runtime/CudaLayouts.def"

#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&symbol), CUresult(CUDAAPI *) params),                        \
                 "prototype of " #symbol);
#include "Runtime/DriverAPI.def"

/* The version from which cuGetProcAddress gives a function: the typedefs carry it in their names. */
#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  _Static_assert(__builtin_types_compatible_p(PFN_##name##_v##since, CUresult(CUDAAPI *) params),                      \
                 #symbol " is not " #name " of version " #since);
#include "Runtime/DriverAPI.def"

/* The version that was compared with; the test prints it when it fails to be recent enough. */
int tf_test_cuda_header_version(void);
int tf_test_cuda_header_version(void) {
  return CUDA_VERSION;
}

const char *tf_test_wrong_header_handle(void);
const char *tf_test_wrong_header_handle(void) {
#define TF_CUDA_HANDLE(name, value)                                                                                    \
  if ((uintptr_t)(name) != (value)) return #name;
#include "Runtime/CudaLayouts.def"
  return NULL;
}
