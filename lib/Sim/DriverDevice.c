/* Errors, initialisation, the device and its attributes, contexts. There is one device, ordinal 0. */
#include "Sim/DriverState.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult tf_sim_cuGetErrorString(CUresult error, const char **text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = tf_sim_result_text(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGetErrorName(CUresult error, const char **name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = tf_sim_result_name(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_now()->initialized = true;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDriverGetVersion(int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult tf_sim_from_status(tf_status status) {
  switch (status) {
  case TF_OK:
    return CUDA_SUCCESS;
  case TF_OUT_OF_MEMORY:
    return CUDA_ERROR_OUT_OF_MEMORY;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult tf_sim_ready(void) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  CUcontext c = tf_sim_context();
  return c ? c->sticky : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult check_device(CUdevice dev) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  return dev == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Checks the device and that the result pointers are not null. */
#define DEVICE_CALL(dev, ...)                                                                                          \
  do {                                                                                                                 \
    CUresult ready_ = check_device(dev);                                                                               \
    if (ready_ != CUDA_SUCCESS) return ready_;                                                                         \
    const void *results_[] = {__VA_ARGS__};                                                                            \
    for (size_t i_ = 0; i_ < sizeof results_ / sizeof *results_; i_++)                                                 \
      if (!results_[i_]) return CUDA_ERROR_INVALID_VALUE;                                                              \
  } while (0)

CUresult tf_sim_cuDeviceGet(CUdevice *dev, int ordinal) {
  DEVICE_CALL(ordinal, dev);
  *dev = 0;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetCount(int *count) {
  DEVICE_CALL(0, count);
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetName(char *name, int len, CUdevice dev) {
  DEVICE_CALL(dev, name);
  if (len <= 0) return CUDA_ERROR_INVALID_VALUE;
  (void)snprintf(name, (size_t)len, "simulated %s", tf_sim_now()->profile->name);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
  DEVICE_CALL(dev, uuid);
  memset(uuid, 0, sizeof *uuid);
  (void)snprintf(uuid->bytes, sizeof uuid->bytes, "tfsim %s", tf_sim_now()->profile->name);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
  return tf_sim_cuDeviceGetUuid(uuid, dev);
}

CUresult tf_sim_cuDeviceTotalMem(size_t *bytes, CUdevice dev) {
  uint64_t available, total;
  DEVICE_CALL(dev, bytes);
  tf_sim_memory_info(tf_sim_now()->device, &available, &total);
  *bytes = total;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
  DEVICE_CALL(dev, major, minor);
  *major = (int)tf_sim_now()->profile->sm / 10;
  *minor = (int)tf_sim_now()->profile->sm % 10;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetPCIBusId(char *id, int len, CUdevice dev) {
  DEVICE_CALL(dev, id);
  if (len < 13) return CUDA_ERROR_INVALID_VALUE;
  (void)snprintf(id, (size_t)len, "0000:00:00.0");
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer) {
  DEVICE_CALL(dev, can);
  DEVICE_CALL(peer, can);
  *can = 0;
  return CUDA_SUCCESS;
}

/* Attributes with a value of their own; all others that the API knows are 0: the device lacks the ability. */
static int attribute_value(const tf_sim_profile *p, CUdevice_attribute a) {
  static const int ones[] = {
      CU_DEVICE_ATTRIBUTE_GPU_OVERLAP,
      CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
      CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
      CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
      CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
      CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
      CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT,
      CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
  };
  const struct {
    int attribute;
    unsigned value;
  } values[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, p->shared_per_block},
      {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, p->clock_khz},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, p->multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, p->memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, p->bus_bits},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, p->l2_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, p->max_threads_per_sm},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, p->sm / 10},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, p->sm % 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, p->shared_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, p->registers_per_sm},
      {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, p->shared_optin},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, p->max_blocks_per_sm},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, p->reserved_shared},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, p->max_cluster > 0},
  };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i].attribute == (int)a) return (int)values[i].value;
  for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
    if (ones[i] == (int)a) return 1;
  return 0;
}

CUresult tf_sim_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev) {
  DEVICE_CALL(dev, value);
  if ((int)attribute < 1 || (int)attribute > 200) return CUDA_ERROR_INVALID_VALUE;
  *value = attribute_value(tf_sim_now()->profile, attribute);
  return CUDA_SUCCESS;
}

/* ---- Contexts --------------------------------------------------------------------------------------------------- */

static CUresult new_context(unsigned flags, bool primary, CUcontext *out) {
  tf_sim_state *s = tf_sim_now();
  CUcontext c = calloc(1, sizeof *c);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  *c = (struct CUctx_st){.driver = s, .flags = flags, .refs = 1, .primary = primary, .next = s->contexts};
  c->limits[CU_LIMIT_STACK_SIZE] = 1024;
  c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
  c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  s->contexts = c;
  *out = c;
  return CUDA_SUCCESS;
}

TF_SIM_KNOWN(CUcontext, contexts, context)

static bool known(CUcontext c) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  bool found = contexts_has(s, c);
  pthread_mutex_unlock(&s->lock);
  return found;
}

static void remove_context(tf_sim_state *s, CUcontext c) {
  for (CUcontext *at = &s->contexts; *at; at = &(*at)->next)
    if (*at == c) {
      *at = c->next;
      break;
    }
  if (s->primary == c) s->primary = NULL;
  tf_sim_stack *stack = tf_sim_context_stack();
  unsigned kept = 0;
  for (unsigned i = 0; i < stack->depth; i++)
    if (stack->list[i] != c) stack->list[kept++] = stack->list[i];
  stack->depth = kept;
  free(c);
}

void tf_sim_free_contexts(tf_sim_state *s) {
  while (s->contexts) {
    CUcontext next = s->contexts->next;
    free(s->contexts);
    s->contexts = next;
  }
}

CUresult tf_sim_cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = CUDA_SUCCESS;
  DEVICE_CALL(dev, ctx);
  pthread_mutex_lock(&s->lock);
  if (s->primary)
    s->primary->refs++;
  else
    r = new_context(0, true, &s->primary);
  *ctx = s->primary;
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult tf_sim_cuDevicePrimaryCtxRelease(CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  DEVICE_CALL(dev, s);
  pthread_mutex_lock(&s->lock);
  bool active = s->primary != NULL;
  if (active && --s->primary->refs == 0) remove_context(s, s->primary);
  pthread_mutex_unlock(&s->lock);
  return active ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* The context stays where it is current; its error is forgotten. */
CUresult tf_sim_cuDevicePrimaryCtxReset(CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  DEVICE_CALL(dev, s);
  pthread_mutex_lock(&s->lock);
  if (s->primary) s->primary->sticky = CUDA_SUCCESS;
  pthread_mutex_unlock(&s->lock);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags) {
  tf_sim_state *s = tf_sim_now();
  DEVICE_CALL(dev, s);
  pthread_mutex_lock(&s->lock);
  if (s->primary) s->primary->flags = flags;
  pthread_mutex_unlock(&s->lock);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active) {
  tf_sim_state *s = tf_sim_now();
  DEVICE_CALL(dev, flags, active);
  pthread_mutex_lock(&s->lock);
  *active = s->primary != NULL;
  *flags = s->primary ? s->primary->flags : 0;
  pthread_mutex_unlock(&s->lock);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxCreate(CUcontext *ctx, unsigned flags, CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  tf_sim_stack *stack = tf_sim_context_stack();
  DEVICE_CALL(dev, ctx);
  if (stack->depth == TF_SIM_CONTEXT_DEPTH) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&s->lock);
  CUresult r = new_context(flags, false, ctx);
  pthread_mutex_unlock(&s->lock);
  if (r == CUDA_SUCCESS) stack->list[stack->depth++] = *ctx;
  return r;
}

CUresult tf_sim_cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice dev) {
  return params ? CUDA_ERROR_NOT_SUPPORTED : tf_sim_cuCtxCreate(ctx, flags, dev);
}

CUresult tf_sim_cuCtxDestroy(CUcontext ctx) {
  tf_sim_state *s = tf_sim_now();
  if (!ctx || !known(ctx) || ctx->primary) return CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_lock(&s->lock);
  remove_context(s, ctx);
  pthread_mutex_unlock(&s->lock);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxPushCurrent(CUcontext ctx) {
  tf_sim_stack *stack = tf_sim_context_stack();
  if (!ctx || !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (stack->depth == TF_SIM_CONTEXT_DEPTH) return CUDA_ERROR_INVALID_VALUE;
  stack->list[stack->depth++] = ctx;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxPopCurrent(CUcontext *ctx) {
  tf_sim_stack *stack = tf_sim_context_stack();
  if (stack->depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  stack->depth--;
  if (ctx) *ctx = stack->list[stack->depth];
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxSetCurrent(CUcontext ctx) {
  tf_sim_stack *stack = tf_sim_context_stack();
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (ctx && !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (stack->depth) stack->depth--;
  if (ctx) stack->list[stack->depth++] = ctx;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxGetCurrent(CUcontext *ctx) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!ctx) return CUDA_ERROR_INVALID_VALUE;
  *ctx = tf_sim_context();
  return CUDA_SUCCESS;
}

/* Calls that need a context but work on a poisoned one too. */
static CUresult with_context(const void *result) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!tf_sim_context()) return CUDA_ERROR_INVALID_CONTEXT;
  return result ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuCtxGetDevice(CUdevice *dev) {
  CUresult r = with_context(dev);
  if (r == CUDA_SUCCESS) *dev = 0;
  return r;
}

CUresult tf_sim_cuCtxGetFlags(unsigned *flags) {
  CUresult r = with_context(flags);
  if (r == CUDA_SUCCESS) *flags = tf_sim_context()->flags;
  return r;
}

CUresult tf_sim_cuCtxGetApiVersion(CUcontext ctx, unsigned *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  if (ctx && !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxSynchronize(void) {
  return tf_sim_ready();
}

CUresult tf_sim_cuCtxSetLimit(CUlimit limit, size_t value) {
  CUresult r = with_context(&value);
  if (r != CUDA_SUCCESS) return r;
  if (limit >= TF_SIM_LIMITS) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  tf_sim_context()->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxGetLimit(size_t *value, CUlimit limit) {
  CUresult r = with_context(value);
  if (r != CUDA_SUCCESS) return r;
  if (limit >= TF_SIM_LIMITS) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = tf_sim_context()->limits[limit];
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxSetCacheConfig(CUfunc_cache config) {
  return config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : tf_sim_ready();
}

CUresult tf_sim_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  CUresult r = with_context(tf_sim_now());
  if (r != CUDA_SUCCESS) return r;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}
