/* From start to end: device, primary context, module, memory, launch with an array of parameters and with a packed buffer. */
#include "host.h"

static const char ptx[] = PTX_HEAD
    ".visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n" PTX_INDEX
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; mul.wide.u32 %rd4, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;\n"
    "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd3], %f3; ret; }\n";

enum { N = 1000, BYTES = N * sizeof(float) };

/* Must match the kernel's parameters in order and alignment. */
typedef struct packed {
  CUdeviceptr a, b, c;
  unsigned n;
} packed;

static bool right(const float *c, const float *a, const float *b) {
  for (int i = 0; i < N; i++)
    if (c[i] != a[i] + b[i]) return false;
  return true;
}

int main(void) {
  CUdevice dev;
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  CUfunction add;
  CUdeviceptr a = 0, b = 0, c = 0;
  int count, major, minor, version;
  size_t total;
  char name[128];
  unsigned n = N;
  float *host = calloc(3 * N, sizeof *host), *sum = host + 2 * N;
  if (!host) return 1;
  for (int i = 0; i < 2 * N; i++)
    host[i] = (float)(i * 7 % 113) - 0.25f * (float)i;

  CHECK(cuInit(0));
  CHECK(cuDriverGetVersion(&version));
  CHECK(cuDeviceGetCount(&count));
  REQUIRE(count > 0 && version >= 12000);
  CHECK(cuDeviceGet(&dev, 0));
  CHECK(cuDeviceGetName(name, sizeof name, dev));
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
  CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev));
  CHECK(cuDeviceTotalMem(&total, dev));
  printf("%s: sm_%d%d, %zu MiB\n", name, major, minor, total >> 20);

  CHECK(cuDevicePrimaryCtxRetain(&ctx, dev));
  CHECK(cuCtxSetCurrent(ctx));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&add, module, "vector_add"));
  CHECK(cuMemAlloc(&a, BYTES));
  CHECK(cuMemAlloc(&b, BYTES));
  CHECK(cuMemAlloc(&c, BYTES));
  CHECK(cuMemcpyHtoD(a, host, BYTES));
  CHECK(cuMemcpyHtoD(b, host + N, BYTES));
  CHECK(cuMemsetD32(c, 0xFFFFFFFF, N));

  void *params[] = {&a, &b, &c, &n};
  CHECK(cuLaunchKernel(add, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(sum, c, BYTES));
  REQUIRE(right(sum, host, host + N));

  packed buffer = {a, b, c, N};
  size_t size = sizeof buffer;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CHECK(cuMemsetD32(c, 0xFFFFFFFF, N));
  CHECK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
  CHECK(cuMemcpyDtoH(sum, c, BYTES)); /* waits */
  REQUIRE(right(sum, host, host + N));

done:
  if (a) RELEASE(cuMemFree(a));
  if (b) RELEASE(cuMemFree(b));
  if (c) RELEASE(cuMemFree(c));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuDevicePrimaryCtxRelease(dev));
  free(host);
  return status;
}
