/* Module variables by name: coefficients in constant memory, a table and a counter in global memory; two loads of one module
 * are two sets of variables. */
#include "host.h"

/* out[i] = c0 + c1 i + c2 i^2, and every thread counts itself; a pointer in global memory says where out is. */
static const char ptx[] = PTX_HEAD
    ".const .align 4 .u32 coefficients[3] = {1, 2, 3};\n.global .u32 count = 100;\n.global .u64 target;\n"
    ".global .align 8 .u8 blob[5] = {1, 2, 3, 4, 5};\n"
    ".visible .entry evaluate(.param .u32 n) {\n" PTX_INDEX
    "ld.const.u32 %r5, [coefficients]; ld.const.u32 %r6, [coefficients+4]; ld.const.u32 %r7, [coefficients+8];\n"
    "mad.lo.u32 %r8, %r7, %r1, %r6; mad.lo.u32 %r8, %r8, %r1, %r5; ld.global.u64 %rd1, [target];\n"
    "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r8;\n"
    "red.global.add.u32 [count], 1; ret; }\n";

enum { N = 500 };

typedef struct instance {
  CUmodule module;
  CUfunction evaluate;
  CUdeviceptr coefficients, count, target;
} instance;

static CUresult load(instance *i) {
  size_t bytes;
  CUresult r = cuModuleLoadData(&i->module, ptx);
  if (r == CUDA_SUCCESS) r = cuModuleGetFunction(&i->evaluate, i->module, "evaluate");
  if (r == CUDA_SUCCESS) r = cuModuleGetGlobal(&i->coefficients, &bytes, i->module, "coefficients");
  if (r == CUDA_SUCCESS && bytes != 12) r = CUDA_ERROR_UNKNOWN;
  if (r == CUDA_SUCCESS) r = cuModuleGetGlobal(&i->count, NULL, i->module, "count");
  return r == CUDA_SUCCESS ? cuModuleGetGlobal(&i->target, NULL, i->module, "target") : r;
}

int main(void) {
  CUcontext ctx = NULL;
  CUdeviceptr out = 0, blob;
  instance a = {0}, b = {0};
  unsigned char bytes[5];
  unsigned n = N, got[N], count;
  static const unsigned other[3] = {7, 0, 1};
  size_t size;
  void *params[] = {&n};

  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, 0, 0));
  CHECK(load(&a));
  CHECK(load(&b));
  REQUIRE(a.coefficients != b.coefficients && a.count != b.count);
  CHECK(cuModuleGetGlobal(NULL, &size, a.module, "blob"));
  CHECK(cuModuleGetGlobal(&blob, NULL, a.module, "blob"));
  REQUIRE(size == 5);
  CHECK(cuMemcpyDtoH(bytes, blob, 5));
  REQUIRE(bytes[0] == 1 && bytes[4] == 5);
  EXPECT(cuModuleGetGlobal(&blob, &size, a.module, "nowhere"), CUDA_ERROR_NOT_FOUND);

  CHECK(cuMemAlloc(&out, sizeof got));
  CHECK(cuMemcpyHtoD(a.target, &out, 8));
  CHECK(cuMemcpyHtoD(b.target, &out, 8));
  CHECK(cuMemcpyHtoD(b.coefficients, other, sizeof other));

  CHECK(cuLaunchKernel(a.evaluate, 4, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
  CHECK(cuMemcpyDtoH(got, out, sizeof got));
  for (unsigned i = 0; i < N; i++)
    REQUIRE(got[i] == 1 + 2 * i + 3 * i * i);
  CHECK(cuLaunchKernel(b.evaluate, 4, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
  CHECK(cuMemcpyDtoH(got, out, sizeof got));
  for (unsigned i = 0; i < N; i++)
    REQUIRE(got[i] == 7 + i * i);
  CHECK(cuLaunchKernel(b.evaluate, 4, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
  CHECK(cuMemcpyDtoH(&count, a.count, 4));
  REQUIRE(count == 100 + N);
  CHECK(cuMemcpyDtoH(&count, b.count, 4));
  REQUIRE(count == 100 + 2 * N);
  printf("two instances counted %d and %d threads\n", N, 2 * N);

done:
  if (out) RELEASE(cuMemFree(out));
  if (a.module) RELEASE(cuModuleUnload(a.module));
  if (b.module) RELEASE(cuModuleUnload(b.module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
