/* A kernel that goes wrong, and what a host has to do then: the error comes with the next call that waits, stays with the
 * context for good, and ends with it; other contexts and a new one are fine. */
#include "host.h"

static const char ptx[] = PTX_HEAD
    ".visible .entry wild(.param .u64 at) { .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 1; ret; }\n"
    ".visible .entry stop() { trap; }\n";

static CUresult run_wild(CUdeviceptr at) {
  CUmodule module;
  CUfunction f;
  void *params[] = {&at};
  CUresult r = cuModuleLoadData(&module, ptx);
  if (r == CUDA_SUCCESS) r = cuModuleGetFunction(&f, module, "wild");
  return r == CUDA_SUCCESS ? cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) : r;
}

int main(void) {
  CUcontext bad = NULL, good = NULL, primary = NULL;
  CUdeviceptr kept = 0, x, y;
  CUdevice dev;
  CUmodule module;
  CUfunction f;
  const char *name;
  unsigned got;

  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&good, 0, 0));
  CHECK(cuMemAlloc(&kept, 4));
  CHECK(cuMemsetD32(kept, 77, 1));

  CHECK(CREATE_CONTEXT(&bad, 0, 0));
  CHECK(cuMemAlloc(&x, 4));
  CHECK(run_wild(16));
  EXPECT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuMemAlloc(&y, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuMemcpyDtoH(&got, x, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuMemFree(x), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT(cuModuleLoadData(&module, ptx), CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
  REQUIRE(strcmp(name, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
  CHECK(cuCtxGetDevice(&dev)); /* asks nothing of the device */
  CHECK(cuCtxDestroy(bad));
  bad = NULL;

  CHECK(cuCtxSetCurrent(good));
  CHECK(cuMemcpyDtoH(&got, kept, 4));
  REQUIRE(got == 77);

  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  CHECK(cuCtxPushCurrent(primary));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&f, module, "stop"));
  CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  EXPECT_EITHER(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EITHER(cuMemAlloc(&y, 4), CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  CHECK(cuDevicePrimaryCtxReset(0));
  CHECK(cuMemAlloc(&y, 4));
  CHECK(run_wild(y));
  CHECK(cuMemcpyDtoH(&got, y, 4));
  REQUIRE(got == 1);
  CHECK(cuMemFree(y));
  printf("two faults, and on\n");

done:
  if (primary) RELEASE(cuDevicePrimaryCtxRelease(0));
  if (kept) RELEASE(cuCtxSetCurrent(good));
  if (kept) RELEASE(cuMemFree(kept));
  if (bad) RELEASE(cuCtxDestroy(bad));
  if (good) RELEASE(cuCtxDestroy(good));
  return status;
}
