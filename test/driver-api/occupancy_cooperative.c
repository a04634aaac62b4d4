/* Attributes of functions, dynamic shared memory beyond 48 KiB, occupancy, and a cooperative launch whose CTAs meet at a
 * barrier of the grid: each adds its number, and after the barrier every one of them reads the whole sum. */
#include "host.h"

static const char ptx[] = PTX_HEAD
    ".extern .shared .align 16 .b8 scratch[];\n"
    ".visible .entry all_sum(.param .u64 cells, .param .u64 out) .maxntid 128, 1, 1 {\n"
    ".reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [cells]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; @%p1 bra meet;\n"
    "red.global.add.u32 [%rd1], %r2; membar.gl; red.global.add.u32 [%rd1+4], 1;\n"
    "wait: ld.volatile.global.u32 %r4, [%rd1+4]; setp.lt.u32 %p2, %r4, %r3; @%p2 bra wait; membar.gl;\n"
    "ld.volatile.global.u32 %r5, [%rd1]; st.shared.u32 [scratch+60000], %r5;\n"
    "meet: bar.sync 0; ld.shared.u32 %r6, [scratch+60000]; mov.u32 %r7, %ntid.x; mad.lo.u32 %r7, %r2, %r7, %r1;\n"
    "mul.wide.u32 %rd3, %r7, 4; add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r6; ret; }\n";

enum { THREADS = 128, SHARED = 61440, FEW = 48 << 10 };

static size_t CUDA_CB bytes_of(int block) {
  return (size_t)block * 64;
}

/* What the module says of its function. */
static void describe(CUfunction f) {
  int value;
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
  REQUIRE(value == THREADS);
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
  REQUIRE(value == 0);
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
  REQUIRE(value == 75);
done:
  return;
}

int main(void) {
  CUdevice dev;
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  CUfunction f;
  CUdeviceptr cells = 0, out = 0;
  int value, cooperative, sms, optin, per_sm, least, block, grid;
  unsigned *host = NULL, count;
  size_t room;

  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&dev, 0));
  CHECK(CREATE_CONTEXT(&ctx, 0, dev));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&f, module, "all_sum"));
  describe(f); /* told if wrong */
  CHECK(cuDeviceGetAttribute(&cooperative, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, dev));
  CHECK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev));
  CHECK(cuDeviceGetAttribute(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, dev));
  REQUIRE(cooperative && optin >= SHARED);

  CHECK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED));
  CHECK(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_SHARED));
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  REQUIRE(value == SHARED);
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, f, THREADS, SHARED));
  REQUIRE(per_sm >= 1);
  CHECK(cuOccupancyMaxPotentialBlockSize(&least, &block, f, bytes_of, 0, 0));
  REQUIRE(block > 0 && block <= THREADS && least >= sms);
  CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&room, f, 1, THREADS));
  REQUIRE(room >= FEW);

  grid = 20; /* fewer than fit */
  count = (unsigned)(grid * THREADS);
  REQUIRE(grid <= per_sm * sms);
  host = calloc(count, sizeof *host);
  REQUIRE(host != NULL);
  CHECK(cuMemAlloc(&cells, 8));
  CHECK(cuMemAlloc(&out, 4 * count));
  CHECK(cuMemsetD32(cells, 0, 2));
  void *params[] = {&cells, &out};
  EXPECT(cuLaunchCooperativeKernel(f, (unsigned)(per_sm * sms + 1), 1, 1, THREADS, 1, 1, SHARED, NULL, params),
         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, (unsigned)optin + 1, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLaunchCooperativeKernel(f, (unsigned)grid, 1, 1, THREADS, 1, 1, SHARED, NULL, params));
  CHECK(cuMemcpyDtoH(host, out, 4 * count));
  for (unsigned i = 0; i < count; i++)
    REQUIRE(host[i] == (unsigned)(grid * (grid - 1) / 2));
  printf("%d CTAs met; %d of %d threads fit a multiprocessor\n", grid, per_sm, THREADS);

done:
  free(host);
  if (cells) RELEASE(cuMemFree(cells));
  if (out) RELEASE(cuMemFree(out));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
