/* Linking two PTX texts, one of which calls a function of the other, and loading the result as a library, whose kernels
 * need no module handle. */
#include "host.h"

static const char caller[] = PTX_HEAD
    ".extern .func (.param .b32 result) collatz(.param .b32 value);\n"
    ".visible .entry all(.param .u64 x, .param .u32 n) {\n" PTX_INDEX
    ".param .b32 in; .param .b32 out; ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "add.u32 %r5, %r1, 1; st.param.b32 [in], %r5; call (out), collatz, (in); ld.param.b32 %r6, [out];\n"
    "st.global.u32 [%rd1], %r6; ret; }\n.global .u32 version = 3;\n";
static const char callee[] =
    PTX_HEAD ".visible .func (.param .b32 result) collatz(.param .b32 value) {\n"
             ".reg .pred %p<3>; .reg .b32 %r<6>; ld.param.b32 %r1, [value]; mov.u32 %r2, 0;\n"
             "step: setp.le.u32 %p1, %r1, 1; @%p1 bra over; and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0;\n"
             "@%p2 shr.u32 %r1, %r1, 1; @!%p2 mad.lo.u32 %r1, %r1, 3, 1; add.u32 %r2, %r2, 1; bra step;\n"
             "over: st.param.b32 [result], %r2; ret; }\n";

enum { N = 100 };

static unsigned collatz(unsigned value) {
  unsigned steps = 0;
  for (; value > 1; steps++)
    value = value % 2 ? value * 3 + 1 : value / 2;
  return steps;
}

int main(void) {
  CUcontext ctx = NULL;
  CUlinkState link = NULL;
  CUlibrary library = NULL;
  CUkernel kernel;
  CUfunction f;
  CUdeviceptr x = 0, version;
  const char *name;
  char errors[512] = "";
  void *image;
  size_t size, offset, bytes;
  unsigned n = N, count, got[N];

  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, 0, 0));
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {errors, (void *)sizeof errors};
  CHECK(cuLinkCreate(2, options, values, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)caller, sizeof caller, "caller.ptx", 0, NULL, NULL));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)callee, sizeof callee, "callee.ptx", 0, NULL, NULL));
  CHECK(cuLinkComplete(link, &image, &size));
  REQUIRE(size > 0);
  CHECK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
  CHECK(cuLibraryGetKernelCount(&count, library));
  REQUIRE(count == 1);
  CHECK(cuLibraryGetKernel(&kernel, library, "all"));
  CHECK(cuKernelGetName(&name, kernel));
  REQUIRE(strcmp(name, "all") == 0);
  CHECK(cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
  REQUIRE(offset == 8 && bytes == 4);
  CHECK(cuKernelGetFunction(&f, kernel));
  CHECK(cuLibraryGetGlobal(&version, &bytes, library, "version"));
  REQUIRE(bytes == 4);
  CHECK(cuMemcpyDtoH(&count, version, 4));
  REQUIRE(count == 3);
  CHECK(cuMemAlloc(&x, sizeof got));
  void *params[] = {&x, &n};
  CHECK(cuLaunchKernel((CUfunction)(void *)kernel, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL)); /* a kernel will do */
  CHECK(cuMemcpyDtoH(got, x, sizeof got));
  for (unsigned i = 0; i < N; i++)
    REQUIRE(got[i] == collatz(i + 1));
  printf("27 takes %u steps\n", got[26]);

done:
  if (x) RELEASE(cuMemFree(x));
  if (library) RELEASE(cuLibraryUnload(library));
  if (link) RELEASE(cuLinkDestroy(link));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
