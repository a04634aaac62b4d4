/* A shared library with a few of the driver's symbols, for DriverTest: cuMemAlloc exists in two versions. */
#include "Runtime/CudaTypes.h"
#include "tilefoundry/Status.h"

TF_API CUresult cuInit(unsigned flags);
TF_API CUresult cuDeviceGetCount(int *count);
TF_API CUresult cuMemAlloc(CUdeviceptr *ptr, unsigned bytes);
TF_API CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes);

CUresult cuInit(unsigned flags) {
  return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  *count = 3;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *ptr, unsigned bytes) {
  *ptr = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes) {
  *ptr = 1000 + bytes;
  return CUDA_SUCCESS;
}
