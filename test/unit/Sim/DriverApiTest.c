/* The CUDA Driver API over the simulated device, family by family: what ordinary use (DriverTest.c, the host programs)
 * leaves out. Expectations are the driver's documentation. Graphs are in DriverGraphTest.c. */
#include "DriverFixture.h"
#include "Harness.h"

/* ---- Errors and attributes ---------------------------------------------------------------------------------------- */

START_TEST(errors) {
  const char *text;
#define TF_CUDA_RESULT(code, value, words)                                                                             \
  OK(d.cuGetErrorName(code, &text));                                                                                   \
  ck_assert_str_eq(text, #code);                                                                                       \
  OK(d.cuGetErrorString(code, &text));                                                                                 \
  ck_assert_uint_gt(strlen(text), 4);
#include "Runtime/CudaConstants.def"
  IS(d.cuGetErrorName((CUresult)12345, &text), INVALID_VALUE);
  ck_assert_ptr_null(text);
  IS(d.cuGetErrorString((CUresult)-1, &text), INVALID_VALUE);
  ck_assert_ptr_null(text);
}
END_TEST

START_TEST(device_attributes) {
  int value;
#define TF_CUDA_DEVICE_ATTRIBUTE(attribute, number) OK(d.cuDeviceGetAttribute(&value, attribute, 0));
#include "Runtime/CudaConstants.def"
  IS(d.cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0), INVALID_VALUE);
  IS(d.cuDeviceGetAttribute(&value, (CUdevice_attribute)150, 0), INVALID_VALUE);
  IS(d.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), INVALID_DEVICE);
  IS(d.cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), INVALID_VALUE);
  static const struct {
    CUdevice_attribute attribute;
    int value;
  } rows[] = {
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 166912},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 40 << 20},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0},
      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1},
      {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    OK(d.cuDeviceGetAttribute(&value, rows[i].attribute, 0));
    ck_assert_int_eq(value, rows[i].value);
  }
  CUdevprop p;
  CUdevice dev = 7;
  char id[16];
  OK(d.cuDeviceGetProperties(&p, 0));
  ck_assert(p.SIMDWidth == 32 && p.maxThreadsDim[2] == 64 && p.clockRate == 1410000);
  OK(d.cuDeviceGetPCIBusId(id, sizeof id, 0));
  OK(d.cuDeviceGetByPCIBusId(&dev, id));
  ck_assert_int_eq(dev, 0);
  IS(d.cuDeviceGetByPCIBusId(&dev, "0000:01:00.0"), INVALID_DEVICE);
}
END_TEST

/* ---- Contexts ----------------------------------------------------------------------------------------------------- */

static void *use_destroyed(void *user) {
  CUdeviceptr x;
  CUcontext now;
  OK(d.cuCtxSetCurrent(user));
  OK(d.cuCtxDestroy(user)); /* gone for this thread */
  OK(d.cuCtxGetCurrent(&now));
  ck_assert_ptr_null(now);
  IS(d.cuMemAlloc(&x, 4), INVALID_CONTEXT);
  return NULL;
}

/* What was made in a context goes with it; threads where it is still current are told. */
START_TEST(contexts_own) {
  CUcontext other, now;
  CUdeviceptr x, y;
  CUmodule m;
  CUstream s;
  CUevent e;
  void *pinned;
  pthread_t thread;
  unsigned long long id, other_id;
  unsigned flags;
  size_t before, after, total;
  OK(d.cuMemGetInfo(&before, &total));
  OK(d.cuCtxCreate(&other, CU_CTX_SCHED_YIELD, 0));
  OK(d.cuCtxGetFlags(&flags));
  ck_assert_uint_eq(flags, CU_CTX_SCHED_YIELD);
  OK(d.cuCtxGetId(other, &other_id));
  OK(d.cuCtxGetId(context, &id));
  ck_assert_uint_ne(id, other_id);
  OK(d.cuMemAlloc(&x, 1 << 20));
  OK(d.cuMemAllocHost(&pinned, 64));
  OK(d.cuModuleLoadData(&m, ptx));
  OK(d.cuStreamCreate(&s, 0));
  OK(d.cuEventCreate(&e, 0));
  OK(d.cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_CONTEXT, x));
  ck_assert_ptr_eq(now, other);
  OK(d.cuCtxPopCurrent(&now));
  ck_assert_ptr_eq(now, other);
  y = words(4, 9);
  OK(d.cuCtxPushCurrent(other));
  ck_assert_int_eq(pthread_create(&thread, NULL, use_destroyed, other), 0);
  pthread_join(thread, NULL);
  IS(d.cuMemAlloc(&x, 4), CONTEXT_IS_DESTROYED);
  IS(d.cuCtxSynchronize(), CONTEXT_IS_DESTROYED);
  IS(d.cuCtxPushCurrent(other), INVALID_CONTEXT);
  IS(d.cuCtxDestroy(other), INVALID_CONTEXT);
  OK(d.cuCtxPopCurrent(&now));
  IS(d.cuMemFree(x), INVALID_VALUE);
  IS(d.cuModuleUnload(m), INVALID_HANDLE);
  IS(d.cuStreamSynchronize(s), INVALID_HANDLE);
  IS(d.cuEventSynchronize(e), INVALID_HANDLE);
  IS(d.cuMemFreeHost(pinned), INVALID_VALUE);
  expect(y, 4, 9);
  OK(d.cuMemFree(y));
  OK(d.cuMemGetInfo(&after, &total));
  ck_assert_uint_eq(after, before);
}
END_TEST

START_TEST(primary_context) {
  CUcontext a, b;
  CUdeviceptr x;
  unsigned flags;
  int active;
  OK(d.cuDevicePrimaryCtxGetState(0, &flags, &active));
  ck_assert_int_eq(active, 0);
  IS(d.cuDevicePrimaryCtxRelease(0), INVALID_CONTEXT);
  OK(d.cuDevicePrimaryCtxRetain(&a, 0));
  OK(d.cuDevicePrimaryCtxRetain(&b, 0));
  ck_assert_ptr_eq(a, b);
  IS(d.cuCtxDestroy(a), INVALID_CONTEXT);
  OK(d.cuCtxSetCurrent(a));
  OK(d.cuMemAlloc(&x, 64));
  OK(d.cuDevicePrimaryCtxRelease(0));
  OK(d.cuMemsetD8(x, 0, 64));
  OK(d.cuDevicePrimaryCtxRelease(0)); /* the last one: gone with its memory */
  IS(d.cuMemsetD8(x, 0, 64), CONTEXT_IS_DESTROYED);
  OK(d.cuDevicePrimaryCtxGetState(0, &flags, &active));
  ck_assert_int_eq(active, 0);
  OK(d.cuDevicePrimaryCtxRetain(&b, 0));
  OK(d.cuCtxSetCurrent(b));
  IS(d.cuMemsetD8(x, 0, 64), INVALID_VALUE);
  OK(d.cuMemAlloc(&x, 64));
}
END_TEST

/* A context with a fault is of no use; others, and the same one after a reset, are. */
START_TEST(faults_end_a_context) {
  CUcontext primary;
  CUdeviceptr x = words(1, 1), y;
  CUdevice dev;
  CUstream s;
  CUevent e;
  OK(d.cuDevicePrimaryCtxRetain(&primary, 0));
  OK(d.cuCtxPushCurrent(primary));
  OK(d.cuModuleLoadData(&module, ptx));
  OK(d.cuModuleGetFunction(&fault, module, "fault"));
  OK(d.cuStreamCreate(&s, 0));
  OK(d.cuEventCreate(&e, 0));
  OK(d.cuMemAlloc(&y, 4));
  OK(d.cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
  IS(d.cuStreamSynchronize(s), ILLEGAL_ADDRESS);
  IS(d.cuCtxSynchronize(), ILLEGAL_ADDRESS);
  IS(d.cuMemcpyDtoH(&dev, y, 4), ILLEGAL_ADDRESS);
  IS(d.cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ILLEGAL_ADDRESS);
  IS(d.cuEventRecord(e, s), ILLEGAL_ADDRESS);
  IS(d.cuEventDestroy(e), ILLEGAL_ADDRESS);
  IS(d.cuStreamDestroy(s), ILLEGAL_ADDRESS);
  IS(d.cuMemFree(y), ILLEGAL_ADDRESS);
  OK(d.cuCtxGetDevice(&dev));
  OK(d.cuCtxPopCurrent(NULL));
  expect(x, 1, 1); /* the other context */
  OK(d.cuCtxPushCurrent(primary));
  IS(d.cuMemAlloc(&y, 4), ILLEGAL_ADDRESS);
  OK(d.cuDevicePrimaryCtxReset(0));
  IS(d.cuModuleUnload(module), INVALID_HANDLE);
  OK(d.cuMemAlloc(&y, 4));
  OK(d.cuCtxSynchronize());
  OK(d.cuCtxPopCurrent(NULL));
}
END_TEST

/* ---- Symbols ------------------------------------------------------------------------------------------------------ */

static void *look_up(const char *name, int version, CUdriverProcAddressQueryResult want) {
  void *function = &function;
  CUdriverProcAddressQueryResult status = 99;
  OK(d.cuGetProcAddress_v2(name, &function, version, 0, &status));
  ck_assert_msg(status == want, "%s %d: %u", name, version, status);
  ck_assert((want == CU_GET_PROC_ADDRESS_SUCCESS) == (function != NULL));
  return function;
}

static void *address_of(CUresult (*const *member)(void)) {
  void *p;
  memcpy(&p, member, sizeof p);
  return p;
}
#define MEMBER(name) address_of((CUresult(*const *)(void))(const void *)&d.name)

START_TEST(symbols) {
  CUdriverProcAddressQueryResult ok = CU_GET_PROC_ADDRESS_SUCCESS;
  void *p;
  ck_assert_ptr_eq(look_up("cuMemAlloc", 13000, ok), MEMBER(cuMemAlloc));
  ck_assert_ptr_eq(look_up("cuMemAlloc", 3020, ok), MEMBER(cuMemAlloc));
  look_up("cuMemAlloc", 2000, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT); /* 32-bit sizes then */
  ck_assert_ptr_eq(look_up("cuCtxCreate", 12040, ok), MEMBER(cuCtxCreate_v3));
  ck_assert_ptr_eq(look_up("cuCtxCreate", 11030, ok), MEMBER(cuCtxCreate));
  ck_assert_ptr_eq(look_up("cuCtxCreate", 13000, ok), MEMBER(cuCtxCreate_v4));
  ck_assert_ptr_eq(look_up("cuGraphAddKernelNode", 11080, ok), MEMBER(cuGraphAddKernelNode_v1));
  ck_assert_ptr_eq(look_up("cuGraphAddKernelNode", 12000, ok), MEMBER(cuGraphAddKernelNode));
  ck_assert_ptr_eq(look_up("cuGetProcAddress", 11080, ok), MEMBER(cuGetProcAddress));
  ck_assert_ptr_eq(look_up("cuGetProcAddress", 12080, ok), MEMBER(cuGetProcAddress_v2));
  ck_assert_ptr_eq(look_up("cuLaunchKernelEx", 11060, ok), MEMBER(cuLaunchKernelEx));
  look_up("cuLaunchKernelEx", 11050, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  look_up("cuMemAlloc_v2", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND); /* names are given without a version */
  look_up("cuTexObjectCreate", 13000, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  IS(d.cuGetProcAddress_v2("cuMemAlloc", &p, 13010, 0, NULL), INVALID_VALUE); /* newer than the driver */
  IS(d.cuGetProcAddress_v2("cuMemAlloc", &p, 13000, 3, NULL), INVALID_VALUE);
  OK(d.cuGetProcAddress_v2("cuMemcpyHtoDAsync", &p, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
  ck_assert_ptr_eq(p, MEMBER(cuMemcpyHtoDAsync));
  IS(d.cuGetProcAddress("nonsense", &p, 12000, 0), NOT_FOUND);
#define TF_DRIVER_FN(member, symbol, title, since, params, args) look_up(#title, 13000, ok);
#include "Runtime/DriverAPI.def"
}
END_TEST

/* ---- Modules ------------------------------------------------------------------------------------------------------ */

START_TEST(binaries_are_refused) {
  static const unsigned char fat[16] = {0x50, 0xED, 0x55, 0xBA, 1, 0, 16, 0};
  char log[200] = "x", info[8] = "x";
  CUmodule m = NULL;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  void *values[] = {log, (void *)sizeof log, info, (void *)sizeof info, (void *)4};
  IS(d.cuModuleLoadDataEx(&m, "\177ELF\2\1\1", 5, options, values), NO_BINARY_FOR_GPU);
  ck_assert_ptr_null(m);
  ck_assert_ptr_nonnull(strstr(log, "load the PTX"));
  ck_assert_uint_eq((size_t)values[1], strlen(log));
  ck_assert_uint_eq((size_t)values[3], 0);
  ck_assert_str_eq(info, "");
  IS(d.cuModuleLoadData(&m, fat), NO_BINARY_FOR_GPU);
  IS(d.cuModuleLoadFatBinary(&m, fat), NO_BINARY_FOR_GPU);
  IS(d.cuLibraryLoadData((CUlibrary *)(void *)&m, fat, NULL, NULL, 0, NULL, NULL, 0), NO_BINARY_FOR_GPU);
  /* A short log is cut, and ends. */
  values[0] = log, values[1] = (void *)8;
  IS(d.cuModuleLoadDataEx(&m, HEAD ".entry k() { nonsense; }", 2, options, values), INVALID_PTX);
  ck_assert_uint_eq((size_t)values[1], 7);
  ck_assert_uint_eq(strlen(log), 7);
  /* No log at all. */
  IS(d.cuModuleLoadDataEx(&m, HEAD ".entry k() { nonsense; }", 0, NULL, NULL), INVALID_PTX);
}
END_TEST

START_TEST(linking) {
  static const char caller[] =
      HEAD ".extern .func (.param .b32 r) twice(.param .b32 v);\n.visible .entry go(.param .u64 "
           "x) { .reg .b32 %r<3>; .reg .b64 %rd; ld.param.u64 %rd, [x]; .param .b32 a; .param "
           ".b32 b; mov.u32 %r1, 21; st.param.b32 [a], %r1; call (b), twice, (a); "
           "ld.param.b32 %r2, [b]; st.global.u32 [%rd], %r2; ret; }\n";
  static const char callee[] =
      HEAD ".visible .func (.param .b32 r) twice(.param .b32 v) { .reg .b32 %r; ld.param.b32 %r, "
           "[v]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }\n";
  CUlinkState link;
  CUlibrary library;
  CUkernel kernel;
  CUfunction f;
  CUmodule m;
  char log[256] = "";
  void *image, *x_param;
  size_t size;
  const char *name;
  unsigned count;
  CUdeviceptr x = words(1, 0);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  OK(d.cuLinkCreate(2, options, values, &link));
  OK(d.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)caller, sizeof caller, "caller", 0, NULL, NULL));
  IS(d.cuLinkComplete(link, &image, &size), INVALID_PTX); /* nobody defines it */
  ck_assert_msg(strstr(log, "twice") != NULL, "%s", log);
  OK(d.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)callee, sizeof callee, "callee", 0, NULL, NULL));
  OK(d.cuLinkComplete(link, &image, &size));
  OK(d.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
  OK(d.cuLinkDestroy(link));
  IS(d.cuLinkComplete(link, &image, &size), INVALID_HANDLE);
  OK(d.cuLibraryGetKernelCount(&count, library));
  ck_assert_uint_eq(count, 1);
  OK(d.cuLibraryGetKernel(&kernel, library, "go"));
  OK(d.cuKernelGetName(&name, kernel));
  ck_assert_str_eq(name, "go");
  OK(d.cuKernelGetFunction(&f, kernel));
  OK(d.cuLibraryGetModule(&m, library));
  x_param = &x;
  OK(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, &x_param, NULL));
  expect(x, 1, 42);
  IS(d.cuLibraryGetKernel(&kernel, library, "nope"), NOT_FOUND);
  OK(d.cuLibraryUnload(library));
  IS(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, &x_param, NULL), INVALID_HANDLE);
  OK(d.cuLinkCreate(0, NULL, NULL, &link));
  IS(d.cuLinkAddData(link, CU_JIT_INPUT_CUBIN, log, 4, NULL, 0, NULL, NULL), NO_BINARY_FOR_GPU);
  IS(d.cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, NULL, NULL), FILE_NOT_FOUND);
}
END_TEST

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

/* A box of 3 x 2 x 2 bytes out of one of 5 x 4 x 3 into the middle of one of 8 x 3 x 4. */
START_TEST(boxes) {
  unsigned char from[3][4][5], to[4][3][8], want[4][3][8];
  CUdeviceptr x, y;
  for (int i = 0; i < 60; i++)
    (&from[0][0][0])[i] = (unsigned char)(i + 1);
  memset(want, 0xEE, sizeof want);
  for (int z = 0; z < 2; z++)
    for (int row = 0; row < 2; row++)
      for (int i = 0; i < 3; i++)
        want[1 + z][row][4 + i] = from[1 + z][2 + row][1 + i];
  OK(d.cuMemAlloc(&x, sizeof from));
  OK(d.cuMemAlloc(&y, sizeof to));
  OK(d.cuMemcpyHtoD(x, from, sizeof from));
  OK(d.cuMemsetD8(y, 0xEE, sizeof to));
  CUDA_MEMCPY3D c = {.srcXInBytes = 1,
                     .srcY = 2,
                     .srcZ = 1,
                     .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = x,
                     .srcPitch = 5,
                     .srcHeight = 4,
                     .dstXInBytes = 4,
                     .dstZ = 1,
                     .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                     .dstDevice = y,
                     .dstPitch = 8,
                     .dstHeight = 3,
                     .WidthInBytes = 3,
                     .Height = 2,
                     .Depth = 2};
  OK(d.cuMemcpy3D(&c));
  OK(d.cuMemcpyDtoH(to, y, sizeof to));
  ck_assert_mem_eq(to, want, sizeof want);
  c.dstPitch = 6;
  IS(d.cuMemcpy3D(&c), INVALID_VALUE); /* narrower than the row */
  c.dstPitch = 8;
  c.srcHeight = 3;
  IS(d.cuMemcpy3D(&c), INVALID_VALUE);
  c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  IS(d.cuMemcpy3D(&c), NOT_SUPPORTED);
}
END_TEST

START_TEST(fills) {
  unsigned short got[4][8], want[4][8];
  CUdeviceptr x;
  CUstream s;
  OK(d.cuStreamCreate(&s, 0));
  OK(d.cuMemAlloc(&x, sizeof got));
  OK(d.cuMemsetD8(x, 0x11, sizeof got));
  OK(d.cuMemsetD2D16(x + 2, 16, 0xABCD, 3, 4));
  OK(d.cuMemsetD2D8Async(x + 10, 16, 0x22, 2, 2, s));
  OK(d.cuMemsetD2D32Async(x + 12, 16, 0x77665544, 1, 3, s));
  OK(d.cuMemsetD2D16Async(x + 14, 16, 0x3333, 1, 1, s));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++)
      want[i][j] = j >= 1 && j < 4 ? 0xABCD : 0x1111;
  for (int i = 0; i < 3; i++)
    want[i][6] = 0x5544, want[i][7] = 0x7766;
  want[0][5] = want[1][5] = 0x2222;
  want[0][7] = 0x3333;
  OK(d.cuMemcpyDtoH(got, x, sizeof got));
  ck_assert_mem_eq(got, want, sizeof got);
  IS(d.cuMemsetD32(x + 2, 0, 1), INVALID_VALUE); /* misaligned */
  IS(d.cuMemsetD2D16(x, 4, 0, 3, 2), INVALID_VALUE);
  IS(d.cuMemsetD8(x + 1, 0, sizeof got), INVALID_VALUE);
  IS(d.cuMemsetD8((CUdeviceptr)(uintptr_t)got, 0, 1), INVALID_VALUE); /* not the device's */
}
END_TEST

START_TEST(pointers) {
  CUdeviceptr x = words(100, 1), at;
  char mine[64];
  unsigned type = 99;
  size_t size;
  int ordinal = 5;
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void *data[] = {&type, &size, &ordinal, &at};
  OK(d.cuPointerGetAttributes(4, names, data, x + 40));
  ck_assert(type == CU_MEMORYTYPE_DEVICE && size == 400 && ordinal == 0 && at == x);
  OK(d.cuPointerGetAttributes(4, names, data, (CUdeviceptr)(uintptr_t)mine));
  ck_assert(type == 0 && size == 0 && ordinal == -2 && at == 0);
  IS(d.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)mine), INVALID_VALUE);
  OK(d.cuMemHostRegister(mine, sizeof mine, 0));
  IS(d.cuMemHostRegister(mine, sizeof mine, 0), HOST_MEMORY_ALREADY_REGISTERED);
  OK(d.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)mine));
  ck_assert_uint_eq(type, CU_MEMORYTYPE_HOST);
  OK(d.cuMemHostUnregister(mine));
  IS(d.cuMemHostUnregister(mine), HOST_MEMORY_NOT_REGISTERED);
#define TF_CUDA_POINTER_ATTRIBUTE(name, value)                                                                         \
  {                                                                                                                    \
    unsigned long long room[2];                                                                                        \
    CUresult r = d.cuPointerGetAttribute(room, name, x);                                                               \
    bool none = name == CU_POINTER_ATTRIBUTE_HOST_POINTER || name == CU_POINTER_ATTRIBUTE_P2P_TOKENS ||                \
                name == CU_POINTER_ATTRIBUTE_MAPPING_SIZE || name == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR;           \
    ck_assert_msg((r == CUDA_SUCCESS) != none, #name ": %d", (int)r);                                                  \
  }
#include "Runtime/CudaConstants.def"
}
END_TEST

START_TEST(pools) {
  CUmemoryPool pool, mine, now;
  CUdeviceptr x, y;
  CUstream s;
  cuuint64_t number = 7;
  int flag = 5;
  OK(d.cuStreamCreate(&s, 0));
  OK(d.cuDeviceGetDefaultMemPool(&pool, 0));
  OK(d.cuDeviceGetMemPool(&now, 0));
  ck_assert_ptr_eq(now, pool);
  OK(d.cuMemAllocAsync(&x, 1000, s));
  OK(d.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &number));
  ck_assert_uint_eq(number, 1000);
  OK(d.cuMemsetD8Async(x, 1, 1000, s));
  OK(d.cuMemFreeAsync(x, s));
  IS(d.cuMemsetD8Async(x, 1, 1000, s), INVALID_VALUE);
  IS(d.cuMemFreeAsync(x, s), INVALID_VALUE);
  OK(d.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &number));
  ck_assert_uint_eq(number, 0);
  OK(d.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &number));
  ck_assert_uint_eq(number, 1000);
  number = 1 << 20;
  OK(d.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &number));
  IS(d.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &number), INVALID_VALUE);
  OK(d.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &flag));
  ck_assert_int_eq(flag, 1);
  CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  OK(d.cuMemPoolCreate(&mine, &props));
  OK(d.cuMemAllocFromPoolAsync(&y, 64, mine, s));
  OK(d.cuMemFree(y)); /* as good as the asynchronous one */
  OK(d.cuDeviceSetMemPool(0, mine));
  OK(d.cuMemPoolDestroy(mine));
  IS(d.cuMemAllocFromPoolAsync(&y, 64, mine, s), INVALID_VALUE);
  IS(d.cuMemPoolDestroy(pool), INVALID_VALUE);
}
END_TEST

/* ---- Launches ----------------------------------------------------------------------------------------------------- */

START_TEST(launch_attributes) {
  CUdeviceptr x = words(1, 0);
  CUevent e;
  unsigned value = 5;
  void *params[] = {&x, &value};
  CUlaunchAttribute list[3] = {{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION},
                               {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY},
                               {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT}};
  OK(d.cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
  list[0].value.programmaticStreamSerializationAllowed = 1;
  list[2].value.programmaticEvent.event = e;
  CUlaunchConfig c = {.gridDimX = 1,
                      .gridDimY = 1,
                      .gridDimZ = 1,
                      .blockDimX = 1,
                      .blockDimY = 1,
                      .blockDimZ = 1,
                      .attrs = list,
                      .numAttrs = 3};
  OK(d.cuLaunchKernelEx(&c, add, params, NULL));
  OK(d.cuEventSynchronize(e));
  expect(x, 1, 5);
  list[1] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}};
  c.gridDimX = 2;
  IS(d.cuLaunchKernelEx(&c, add, params, NULL), INVALID_CLUSTER_SIZE); /* sm_80 has no clusters */
  list[1] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
  c.gridDimX = 1 << 20;
  IS(d.cuLaunchKernelEx(&c, add, params, NULL), COOPERATIVE_LAUNCH_TOO_LARGE);
  c.numAttrs = 1, c.attrs = NULL;
  IS(d.cuLaunchKernelEx(&c, add, params, NULL), INVALID_VALUE);
  IS(d.cuLaunchKernel((CUfunction)(void *)&x, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), INVALID_HANDLE);
  IS(d.cuLaunchKernel(add, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL), INVALID_VALUE);
  IS(d.cuLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL), INVALID_VALUE);
  IS(d.cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), INVALID_VALUE);
}
END_TEST

/* ---- Failures on purpose ------------------------------------------------------------------------------------------ */

static void rules(const char *text) {
  char message[128] = "";
  ck_assert_msg(tf_sim_driver_fail_calls(&d, text, message, sizeof message) == TF_OK, "%s", message);
}

START_TEST(injected_failures) {
  CUdeviceptr x, y;
  const char *text;
  rules("3");
  OK(d.cuMemAlloc(&x, 4));
  OK(d.cuGetErrorName(CUDA_SUCCESS, &text)); /* does not count */
  OK(d.cuMemFree(x));
  IS(d.cuCtxSynchronize(), UNKNOWN);
  OK(d.cuCtxSynchronize());
  ck_assert_uint_eq(tf_sim_driver_calls(&d, NULL), 4);
  ck_assert_uint_eq(tf_sim_driver_calls(&d, "cuCtxSynchronize"), 2);
  ck_assert_uint_eq(tf_sim_driver_calls(&d, "cuMemAlloc_v2"), 1);
  ck_assert_uint_eq(tf_sim_driver_calls(&d, "nonsense"), 0);
  rules("cuMemAlloc:2=CUDA_ERROR_OUT_OF_MEMORY,cuMemFree:1+=1,cuGetErrorName:1=999");
  OK(d.cuMemAlloc(&x, 4));
  y = 77;
  IS(d.cuMemAlloc(&y, 4), OUT_OF_MEMORY);
  ck_assert_uint_eq(y, 77); /* no effect */
  IS(d.cuMemFree(x), INVALID_VALUE);
  IS(d.cuMemFree(x), INVALID_VALUE);
  IS(d.cuGetErrorName(CUDA_SUCCESS, &text), UNKNOWN);
  OK(d.cuMemAlloc(&y, 4));
  rules(NULL);
  OK(d.cuMemFree(x));
  /* An error that ends a context does. */
  rules("cuLaunchKernel:1=CUDA_ERROR_ILLEGAL_ADDRESS");
  IS(d.cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ILLEGAL_ADDRESS);
  IS(d.cuCtxSynchronize(), ILLEGAL_ADDRESS);
  rules("");
  IS(d.cuCtxSynchronize(), ILLEGAL_ADDRESS);
  OK(d.cuCtxDestroy(context));
  OK(d.cuCtxCreate(&context, 0, 0));
  OK(d.cuCtxSynchronize());
}
END_TEST

START_TEST(bad_rules) {
  static const char *const bad[] = {"0",          "x",   "cuNonsense:1", "cuMemAlloc:", "1=CUDA_ERROR_NONSENSE",
                                    "1=4711",     "1=0", "1,,2",         "1 ",          "-1",
                                    "cuMemAlloc", "1++"};
  char message[128];
  rules("cuMemGetInfo:1=2");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    message[0] = '\0';
    ck_assert_msg(tf_sim_driver_fail_calls(&d, bad[i], message, sizeof message) == TF_INVALID_ARGUMENT, "%s", bad[i]);
    ck_assert_msg(strlen(message) > 10, "%s: %s", bad[i], message);
  }
  IS(d.cuMemGetInfo(NULL, NULL), OUT_OF_MEMORY); /* the rules from before */
}
END_TEST

int main(void) {
  TCase *c = tcase_create("api");
  tcase_add_checked_fixture(c, open_device, close_device);
  tcase_add_test(c, errors);
  tcase_add_test(c, device_attributes);
  tcase_add_test(c, contexts_own);
  tcase_add_test(c, primary_context);
  tcase_add_test(c, faults_end_a_context);
  tcase_add_test(c, symbols);
  tcase_add_test(c, binaries_are_refused);
  tcase_add_test(c, linking);
  tcase_add_test(c, boxes);
  tcase_add_test(c, fills);
  tcase_add_test(c, pointers);
  tcase_add_test(c, pools);
  tcase_add_test(c, launch_attributes);
  tcase_add_test(c, injected_failures);
  tcase_add_test(c, bad_rules);
  return run_case("Sim driver API", c);
}
