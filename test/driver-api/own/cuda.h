/* In the place of NVIDIA's cuda.h where the toolkit is not installed: the project's own declarations of the driver's
 * interface under the names that programs write, as of CUDA 12.0. Linker names carry the versions, as cuda.h's macros do. */
#ifndef TF_TEST_OWN_CUDA_H
#define TF_TEST_OWN_CUDA_H

#include "Runtime/CudaTypes.h"

#define CUDA_VERSION 12000
#define CUDA_CB

#define TF_DRIVER_FN(member, symbol, name, since, params, args) CUresult member params __asm__(#symbol);
#include "Runtime/DriverAPI.def"

/* Programs that look functions up get the newer form. */
#define cuGetProcAddress cuGetProcAddress_v2

#endif
