/* Our own declarations against the same table of sizes and offsets that CudaHeaderFacts.c holds cuda.h to. */
#include "Runtime/CudaTypes.h"

#define TF_CUDA_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type);
#define TF_CUDA_FIELD(type, field, offset, bytes)                                                                      \
  _Static_assert(offsetof(type, field) == (offset), "offset of " #type "." #field);                                    \
  _Static_assert(sizeof(((type *)0)->field) == (bytes), "size of " #type "." #field);
#include "Runtime/CudaLayouts.def"

/* Pointers are no constants for the compiler: DriverTest asks. */
const char *tf_test_wrong_handle(void);
const char *tf_test_wrong_handle(void) {
#define TF_CUDA_HANDLE(name, value)                                                                                    \
  if ((uintptr_t)(name) != (value)) return #name;
#include "Runtime/CudaLayouts.def"
  return NULL;
}
