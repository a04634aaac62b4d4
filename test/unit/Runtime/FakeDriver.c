#include "FakeCapture.h"
#include "FakeDriver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fake_state fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext stack[8];
static _Thread_local int depth;
static char objects[64];

CUcontext fake_context(int number) {
  return (CUcontext)(void *)&objects[number];
}

CUstream fake_stream(int number) {
  return (CUstream)(void *)&objects[16 + number];
}

CUcontext fake_current(void) {
  return depth ? stack[depth - 1] : NULL;
}

void fake_set_current(CUcontext context) {
  depth = context ? 1 : 0;
  stack[0] = context;
}

/* What the driver still holds, so that a release that was made to fail is no leak of the test program. */
static void *held[1024];

static void *hold(void *object) {
  pthread_mutex_lock(&lock);
  int i = 0;
  while (held[i])
    i++;
  held[i] = object;
  pthread_mutex_unlock(&lock);
  return object;
}

static void let_go(void *object) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 1024; i++)
    if (held[i] == object) held[i] = NULL;
  pthread_mutex_unlock(&lock);
  free(object);
}

void fake_reset(void) {
  fake_end_graph();
  fake_reset_mode();
  for (int i = 0; i < 1024; i++) {
    free(held[i]);
    held[i] = NULL;
  }
  fake = (fake_state){.devices = 1,
                      .sms = 4,
                      .compute_major = 8,
                      .optin = 166912,
                      .cooperative = 1,
                      .occupancy = 2,
                      .max_threads = 1024,
                      .load_result = CUDA_ERROR_INVALID_PTX,
                      .version = 12080,
                      .pools = 1};
}

/* ---- Implementations of the calls that the runtime makes --------------------------------------------------------- */

static CUresult do_cuInit(unsigned flags) {
  (void)flags;
  return CUDA_SUCCESS;
}

static CUresult do_cuDriverGetVersion(int *version) {
  *version = fake.version;
  return CUDA_SUCCESS;
}

static CUresult do_cuDeviceGetCount(int *count) {
  *count = fake.devices;
  return CUDA_SUCCESS;
}

static CUresult do_cuDeviceGet(CUdevice *dev, int ordinal) {
  *dev = ordinal;
  return ordinal < fake.devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult do_cuDeviceGetName(char *name, int len, CUdevice dev) {
  snprintf(name, (size_t)len, "fake %d", dev);
  return CUDA_SUCCESS;
}

static CUresult do_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev) {
  (void)dev;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = fake.compute_major;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = fake.compute_minor;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = fake.sms;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    *value = 1024;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    *value = 64;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    *value = 2147483647;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    *value = 65535;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    *value = 49152;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = fake.optin;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    *value = fake.cooperative;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    *value = fake.pools;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    *value = fake.clusters;
    return fake.clusters < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

static CUresult do_cuCtxGetCurrent(CUcontext *ctx) {
  *ctx = fake_current();
  return CUDA_SUCCESS;
}

/* Context 1 is on device 1, everything else on device 0. */
static CUresult do_cuCtxGetDevice(CUdevice *dev) {
  *dev = fake_current() == fake_context(1);
  return CUDA_SUCCESS;
}

static CUresult do_cuCtxPushCurrent(CUcontext ctx) {
  if (depth == 8) return CUDA_ERROR_UNKNOWN;
  stack[depth++] = ctx;
  return CUDA_SUCCESS;
}

static CUresult do_cuCtxPopCurrent(CUcontext *ctx) {
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  *ctx = stack[--depth];
  return CUDA_SUCCESS;
}

static CUresult do_cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev) {
  fake.retained++;
  *ctx = fake_context(8 + dev);
  return CUDA_SUCCESS;
}

static CUresult do_cuDevicePrimaryCtxRelease(CUdevice dev) {
  (void)dev;
  fake.retained--;
  return CUDA_SUCCESS;
}

/* ---- Events -------------------------------------------------------------------------------------------------------- */

/* An event is the stream that it was recorded on. */
static CUresult do_cuEventCreate(CUevent *event, unsigned flags) {
  if (flags != CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_VALUE;
  *event = hold(calloc(1, sizeof(CUstream)));
  fake.live_events++;
  return CUDA_SUCCESS;
}

static CUresult do_cuEventDestroy(CUevent event) {
  fake.live_events--;
  let_go(event);
  return CUDA_SUCCESS;
}

static CUresult do_cuEventRecord(CUevent event, CUstream stream) {
  memcpy(event, &stream, sizeof stream);
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&fake.awaited, event, sizeof fake.awaited);
  fake.waiting = stream;
  fake.waits++;
  return fake_is_captured(stream) == fake_is_captured(fake.awaited) ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

/* ---- Modules, memory, launches ----------------------------------------------------------------------------------- */

static CUresult do_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                                      void **values) {
  if (fake.log || fake.info_log) {
    for (unsigned i = 0; i < count; i++) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER && fake.log) strcpy(values[i], fake.log);
      if (options[i] == CU_JIT_INFO_LOG_BUFFER && fake.info_log) strcpy(values[i], fake.info_log);
    }
    return fake.load_result;
  }
  CUresult safe = fake_check_safe();
  if (safe != CUDA_SUCCESS) return safe;
  bool cubin = strncmp(image, "\177ELF", 4) == 0;
  if (cubin && fake.refuse_cubins) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  pthread_mutex_lock(&lock);
  fake.live_modules++;
  *(cubin ? &fake.loaded_cubins : &fake.loaded_texts) += 1;
  pthread_mutex_unlock(&lock);
  *module = (CUmodule)hold(strdup(image));
  return CUDA_SUCCESS;
}

static CUresult do_cuModuleUnload(CUmodule module) {
  pthread_mutex_lock(&lock);
  fake.live_modules--;
  pthread_mutex_unlock(&lock);
  let_go(module);
  return CUDA_SUCCESS;
}

/* A function is the interned name: names live as long as the program. */
static CUresult do_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  static char names[32][32];
  (void)module;
  if (fake.missing_kernel && strcmp(fake.missing_kernel, name) == 0) return CUDA_ERROR_NOT_FOUND;
  pthread_mutex_lock(&lock);
  int i = 0;
  while (names[i][0] && strcmp(names[i], name) != 0)
    i++;
  snprintf(names[i], sizeof names[i], "%s", name);
  pthread_mutex_unlock(&lock);
  *function = (CUfunction)(void *)names[i];
  return CUDA_SUCCESS;
}

static CUresult do_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  (void)function;
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? fake.static_shared : fake.max_threads;
  return CUDA_SUCCESS;
}

static CUresult do_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  (void)function;
  bool clusters = attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED && value == 1;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && !clusters) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  fake.func_set_count++;
  fake.func_set_value = value;
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *ptr, size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 256, bytes) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  fake.live_memory++;
  pthread_mutex_unlock(&lock);
  memset(memory, 0xa5, bytes);
  *ptr = (CUdeviceptr)(uintptr_t)hold(memory);
  return CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr ptr) {
  pthread_mutex_lock(&lock);
  fake.live_memory--;
  pthread_mutex_unlock(&lock);
  let_go((void *)(uintptr_t)ptr);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemAlloc(CUdeviceptr *ptr, size_t bytes) {
  CUresult safe = fake_check_safe();
  return safe == CUDA_SUCCESS ? allocate(ptr, bytes) : safe;
}

static CUresult do_cuMemFree(CUdeviceptr ptr) {
  CUresult safe = fake_check_safe();
  return safe == CUDA_SUCCESS ? release(ptr) : safe;
}

static CUresult do_cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  (void)stream;
  return allocate(ptr, bytes);
}

static CUresult do_cuMemFreeAsync(CUdeviceptr ptr, CUstream stream) {
  (void)stream;
  return release(ptr);
}

static CUresult do_cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)dst, src, bytes);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  (void)stream;
  memcpy(dst, (const void *)(uintptr_t)src, bytes);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream) {
  (void)stream;
  const char *from = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const void *)(uintptr_t)c->srcDevice;
  char *to = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (void *)(uintptr_t)c->dstDevice;
  bool on_device = c->srcMemoryType == CU_MEMORYTYPE_DEVICE && c->dstMemoryType == CU_MEMORYTYPE_DEVICE;
  if (fake.picky_pitches && on_device && (c->srcPitch | c->dstPitch) % 512) return CUDA_ERROR_INVALID_VALUE;
  if (c->srcPitch < c->WidthInBytes || c->dstPitch < c->WidthInBytes) return CUDA_ERROR_INVALID_VALUE;
  for (size_t row = 0; row < c->Height; row++)
    memcpy(to + row * c->dstPitch, from + row * c->srcPitch, c->WidthInBytes);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  (void)stream;
  for (size_t i = 0; i < count; i++)
    memcpy((char *)(uintptr_t)dst + 2 * i, &value, 2);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned value, size_t width, size_t height,
                                      CUstream stream) {
  (void)stream;
  if (pitch < 4 * width) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < width * height; i++)
    memcpy((char *)(uintptr_t)dst + i / width * pitch + 4 * (i % width), &value, 4);
  return CUDA_SUCCESS;
}

static CUresult do_cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return do_cuMemsetD2D32Async(dst, 4 * count, value, count, 1, stream);
}

static CUresult do_cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  (void)stream;
  memset((void *)(uintptr_t)dst, value, count);
  pthread_mutex_lock(&lock);
  fake.memset_count++;
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamCreate(CUstream *stream, unsigned flags) {
  (void)flags;
  fake.live_streams++;
  *stream = fake_stream(9);
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamDestroy(CUstream stream) {
  (void)stream;
  fake.live_streams--;
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamSynchronize(CUstream stream) {
  CUresult may = fake_forbid(fake_is_captured(stream));
  return may == CUDA_SUCCESS ? fake.sticky : may;
}

static CUresult do_cuStreamGetId(CUstream stream, unsigned long long *id) {
  *id = (unsigned long long)(uintptr_t)stream;
  return CUDA_SUCCESS;
}

static CUresult do_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                               size_t shared_bytes) {
  (void)function, (void)block_size, (void)shared_bytes;
  *blocks = fake.occupancy;
  return CUDA_SUCCESS;
}

static CUresult do_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  (void)function, (void)config;
  *clusters = fake.occupancy;
  return CUDA_SUCCESS;
}

static CUresult record(fake_launch launch, void **params) {
  if (fake.sticky) return fake.sticky;
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < fake.param_count; i++)
    memcpy(&launch.params[i], params[i], 8);
  fake.launches[fake.launch_count++ % FAKE_MAX_LAUNCHES] = launch;
  pthread_mutex_unlock(&lock);
  if (fake.run) fake.run(launch.kernel, params);
  return CUDA_SUCCESS;
}

static CUresult do_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                  CUstream stream, void **params, void **extra) {
  (void)extra;
  return record((fake_launch){.kernel = (const char *)function,
                              .call = "cuLaunchKernel",
                              .grid = {grid_x, grid_y, grid_z},
                              .block = {block_x, block_y, block_z},
                              .smem = shared_bytes,
                              .stream = stream},
                params);
}

static CUresult do_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                             unsigned block_x, unsigned block_y, unsigned block_z,
                                             unsigned shared_bytes, CUstream stream, void **params) {
  return record((fake_launch){.kernel = (const char *)function,
                              .call = "cuLaunchCooperativeKernel",
                              .grid = {grid_x, grid_y, grid_z},
                              .block = {block_x, block_y, block_z},
                              .smem = shared_bytes,
                              .cooperative = 1,
                              .stream = stream},
                params);
}

static CUresult do_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **params, void **extra) {
  (void)extra;
  fake_launch launch = {.kernel = (const char *)function,
                        .call = "cuLaunchKernelEx",
                        .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                        .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                        .smem = c->sharedMemBytes,
                        .stream = c->hStream};
  for (unsigned i = 0; i < c->numAttrs; i++) {
    const CUlaunchAttributeValue *v = &c->attrs[i].value;
    if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) launch.cooperative = v->cooperative;
    if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      launch.pss = v->programmaticStreamSerializationAllowed;
    if (c->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    launch.cluster[0] = v->clusterDim.x;
    launch.cluster[1] = v->clusterDim.y;
    launch.cluster[2] = v->clusterDim.z;
  }
  return record(launch, params);
}

/* ---- The table: every call passes the fault switch first --------------------------------------------------------- */

static tf_driver implemented = {
    /* and what FakeCapture.c adds */
    .cuInit = do_cuInit,
    .cuDriverGetVersion = do_cuDriverGetVersion,
    .cuDeviceGetCount = do_cuDeviceGetCount,
    .cuDeviceGet = do_cuDeviceGet,
    .cuDeviceGetName = do_cuDeviceGetName,
    .cuDeviceGetAttribute = do_cuDeviceGetAttribute,
    .cuCtxGetCurrent = do_cuCtxGetCurrent,
    .cuCtxGetDevice = do_cuCtxGetDevice,
    .cuCtxPushCurrent = do_cuCtxPushCurrent,
    .cuCtxPopCurrent = do_cuCtxPopCurrent,
    .cuDevicePrimaryCtxRetain = do_cuDevicePrimaryCtxRetain,
    .cuDevicePrimaryCtxRelease = do_cuDevicePrimaryCtxRelease,
    .cuModuleLoadDataEx = do_cuModuleLoadDataEx,
    .cuModuleUnload = do_cuModuleUnload,
    .cuModuleGetFunction = do_cuModuleGetFunction,
    .cuFuncGetAttribute = do_cuFuncGetAttribute,
    .cuFuncSetAttribute = do_cuFuncSetAttribute,
    .cuMemAlloc = do_cuMemAlloc,
    .cuMemFree = do_cuMemFree,
    .cuMemAllocAsync = do_cuMemAllocAsync,
    .cuMemFreeAsync = do_cuMemFreeAsync,
    .cuMemcpyHtoDAsync = do_cuMemcpyHtoDAsync,
    .cuMemcpyDtoHAsync = do_cuMemcpyDtoHAsync,
    .cuMemcpyDtoDAsync = do_cuMemcpyDtoDAsync,
    .cuMemcpy2DAsync = do_cuMemcpy2DAsync,
    .cuMemsetD8Async = do_cuMemsetD8Async,
    .cuMemsetD16Async = do_cuMemsetD16Async,
    .cuMemsetD32Async = do_cuMemsetD32Async,
    .cuMemsetD2D32Async = do_cuMemsetD2D32Async,
    .cuStreamCreate = do_cuStreamCreate,
    .cuStreamDestroy = do_cuStreamDestroy,
    .cuStreamSynchronize = do_cuStreamSynchronize,
    .cuStreamGetId = do_cuStreamGetId,
    .cuEventCreate = do_cuEventCreate,
    .cuEventDestroy = do_cuEventDestroy,
    .cuEventRecord = do_cuEventRecord,
    .cuStreamWaitEvent = do_cuStreamWaitEvent,
    .cuOccupancyMaxActiveBlocksPerMultiprocessor = do_cuOccupancyMaxActiveBlocksPerMultiprocessor,
    .cuOccupancyMaxActiveClusters = do_cuOccupancyMaxActiveClusters,
    .cuLaunchKernel = do_cuLaunchKernel,
    .cuLaunchKernelEx = do_cuLaunchKernelEx,
    .cuLaunchCooperativeKernel = do_cuLaunchCooperativeKernel,
};

static int must_fail(const char *name) {
  pthread_mutex_lock(&lock);
  int fail = ++fake.calls == fake.fail_at;
  if (fail) fake.failed = name;
  pthread_mutex_unlock(&lock);
  return fail;
}

#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  static CUresult call_##member params {                                                                               \
    return must_fail(#member) ? fake.fail_result : implemented.member args;                                            \
  }
#include "Runtime/DriverAPI.def"

static void close_fake(tf_driver *driver) {
  (void)driver;
  fake.closed++;
}

static tf_status take_fault(tf_driver *driver, char *message, size_t size) {
  (void)driver;
  tf_status told = fake.fault;
  fake.fault = TF_OK;
  if (told != TF_OK) snprintf(message, size, "%s", fake.account ? fake.account : "the fake's account");
  return told;
}

tf_driver fake_table(void) {
  tf_driver table = {.close = close_fake, .take_fault = take_fault};
  fake_implement_captures(&implemented);
#define TF_DRIVER_FN(member, symbol, name, since, params, args)                                                        \
  if (implemented.member) table.member = call_##member;
#include "Runtime/DriverAPI.def"
  if (fake.no_stream_ids) table.cuStreamGetId = NULL;
  tf_driver_fill_missing(&table);
  return table;
}
