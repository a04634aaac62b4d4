/* Memory of every kind: pitched planes, boxes, fills of all widths, pinned, mapped, registered and managed memory, stream-
 * ordered allocation, and what the API knows of pointers. */
#include "host.h"

/* out[i] = in[i] + 1 */
static const char ptx[] = PTX_HEAD ".visible .entry next(.param .u64 in, .param .u64 out, .param .u32 n) {\n" PTX_INDEX
                                   "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r1, 4;\n"
                                   "add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r5, [%rd1];\n"
                                   "add.u32 %r5, %r5, 1; st.global.u32 [%rd2], %r5; ret; }\n";

enum { W = 37, H = 11, N = 256 };

static CUresult next(CUfunction f, CUdeviceptr in, CUdeviceptr out, CUstream stream) {
  unsigned n = N;
  void *params[] = {&in, &out, &n};
  return cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, stream, params, NULL);
}

/* A plane into pitched memory and a part of it back. */
static void planes(void) {
  unsigned char plane[H][W], part[5][9];
  unsigned short row[16];
  CUdeviceptr p = 0;
  size_t pitch;
  for (int i = 0; i < H * W; i++)
    (&plane[0][0])[i] = (unsigned char)(i * 5 + 3);
  CHECK(cuMemAllocPitch(&p, &pitch, W, H, 4));
  REQUIRE(pitch >= W && pitch % 32 == 0);
  CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                      .srcHost = plane,
                      .srcPitch = W,
                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                      .dstDevice = p,
                      .dstPitch = pitch,
                      .WidthInBytes = W,
                      .Height = H};
  CHECK(cuMemcpy2D(&up));
  CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = p,
                        .srcPitch = pitch,
                        .srcXInBytes = 20,
                        .srcY = 4,
                        .dstMemoryType = CU_MEMORYTYPE_HOST,
                        .dstHost = part,
                        .dstPitch = 9,
                        .WidthInBytes = 9,
                        .Height = 5};
  CHECK(cuMemcpy2DAsync(&down, NULL));
  CHECK(cuCtxSynchronize());
  for (int y = 0; y < 5; y++)
    REQUIRE(memcmp(part[y], &plane[4 + y][20], 9) == 0);
  CHECK(cuMemsetD2D8(p, pitch, 0xA0, W, H));
  CHECK(cuMemsetD2D16(p, pitch, 0xBEEF, 3, H));
  CHECK(cuMemsetD2D32(p + 8, pitch, 0x01020304, 2, 1));
  CHECK(cuMemsetD16(p + 20, 0x1234, 2));
  CHECK(cuMemcpyDtoH(row, p, sizeof row));
  static const unsigned short want[16] = {0xBEEF, 0xBEEF, 0xBEEF, 0xA0A0, 0x0304, 0x0102, 0x0304, 0x0102,
                                          0xA0A0, 0xA0A0, 0x1234, 0x1234, 0xA0A0, 0xA0A0, 0xA0A0, 0xA0A0};
  REQUIRE(memcmp(row, want, sizeof want) == 0);
  CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = p,
                       .srcPitch = pitch,
                       .srcHeight = H,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = part,
                       .dstPitch = 9,
                       .dstHeight = 5,
                       .WidthInBytes = 9,
                       .Height = 5,
                       .Depth = 1};
  CHECK(cuMemcpy3D(&box));
  REQUIRE(part[0][8] == 0x04 && part[1][8] == 0xA0 && part[4][5] == 0xBE);
  up.dstPitch = W - 1;
  EXPECT(cuMemcpy2D(&up), CUDA_ERROR_INVALID_VALUE);
done:
  if (p) RELEASE(cuMemFree(p));
}

static void host_memory(CUfunction f) {
  unsigned *pinned = NULL, type, flags, *registered = NULL;
  CUdeviceptr device = 0, mapped, managed = 0;
  bool done_registering = false;
  CHECK(cuMemAllocHost((void **)&pinned, 4 * N));
  CHECK(cuMemAlloc(&device, 4 * N));
  CHECK(cuMemAllocManaged(&managed, 4 * N, CU_MEM_ATTACH_GLOBAL));
  registered = aligned_alloc(4096, 8192);
  REQUIRE(registered != NULL);
  CHECK(cuMemHostRegister(registered, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
  done_registering = true;
  for (unsigned i = 0; i < N; i++)
    pinned[i] = i * i;
  CHECK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  CHECK(cuMemHostGetFlags(&flags, pinned));
  CHECK(next(f, mapped, device, NULL)); /* read across the bus */
  CHECK(next(f, device, managed, NULL));
  CHECK(cuMemHostGetDevicePointer(&mapped, registered, 0));
  CHECK(next(f, managed, mapped, NULL));
  CHECK(cuCtxSynchronize());
  for (unsigned i = 0; i < N; i++)
    REQUIRE(registered[i] == i * i + 3 && ((unsigned *)(uintptr_t)managed)[i] == i * i + 2);
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
  REQUIRE(type == CU_MEMORYTYPE_DEVICE);
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)pinned));
  REQUIRE(type == CU_MEMORYTYPE_HOST);
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
  REQUIRE(type == 1);
  EXPECT(cuMemHostUnregister(pinned), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
done:
  if (done_registering) RELEASE(cuMemHostUnregister(registered));
  free(registered);
  if (managed) RELEASE(cuMemFree(managed));
  if (device) RELEASE(cuMemFree(device));
  if (pinned) RELEASE(cuMemFreeHost(pinned));
}

static void stream_ordered(CUfunction f) {
  CUstream stream = NULL;
  CUdeviceptr a = 0, b = 0, base;
  CUmemoryPool pool;
  cuuint64_t used = 0, keep = UINT64_MAX;
  unsigned got = 0;
  size_t size;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
  CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  CHECK(cuMemAllocAsync(&a, 4 * N, stream));
  CHECK(cuMemAllocAsync(&b, 4 * N, stream));
  CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  REQUIRE(used >= 2 * 4 * N);
  CHECK(cuMemsetD32Async(a, 41, N, stream));
  CHECK(next(f, a, b, stream));
  CHECK(cuMemcpyDtoHAsync(&got, b + 4 * 200, 4, stream));
  CHECK(cuStreamSynchronize(stream));
  REQUIRE(got == 42);
  CHECK(cuMemGetAddressRange(&base, &size, b + 100));
  REQUIRE(base == b && size >= 4 * N);
done:
  if (a) RELEASE(cuMemFreeAsync(a, stream));
  if (b) RELEASE(cuMemFreeAsync(b, stream));
  if (stream) RELEASE(cuStreamDestroy(stream));
}

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  CUfunction f;
  size_t before, after, total;
  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, CU_CTX_MAP_HOST, 0));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&f, module, "next"));
  CHECK(cuMemGetInfo(&before, &total));
  planes();
  host_memory(f);
  stream_ordered(f);
  CHECK(cuMemGetInfo(&after, &total));
  REQUIRE(status || after <= total);
  if (!status) printf("memory of every kind, %zu of %zu MiB free\n", after >> 20, total >> 20);
done:
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
