/* Contexts: the primary one and those that programs make, which of them is current in a thread, and what ends them.
 *
 * A fault of a kernel ends a context: every call that needs it returns the fault's error from then on, also those that
 * release something, until it is destroyed or, if it is the primary one, reset. */
#include "Sim/Driver/State.h"

#include <stdlib.h>
#include <string.h>

TF_SIM_KNOWN(CUcontext, contexts, context)

CUresult tf_sim_ready(void) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  CUcontext c = tf_sim_context();
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  return c->destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : c->sticky;
}

/* Under the state's lock. */
static CUresult new_context(unsigned flags, bool primary, CUcontext *out) {
  tf_sim_state *s = tf_sim_now();
  if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
  CUcontext c = calloc(1, sizeof *c);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  *c = (struct CUctx_st){.driver = s, .flags = flags, .refs = 1, .primary = primary, .next = s->contexts};
  c->id = ++s->next_id;
  c->limits[CU_LIMIT_STACK_SIZE] = 1024;
  c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
  c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  c->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  c->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  c->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  s->contexts = c;
  *out = c;
  return CUDA_SUCCESS;
}

/* A context that exists and has not been destroyed. */
static bool known(CUcontext c) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  bool found = contexts_has(s, c) && !c->destroyed;
  pthread_mutex_unlock(&s->lock);
  return found;
}

/* Everything that was made in the context. Without the state's lock. */
static void release_contents(tf_sim_state *s, CUcontext c) {
  tf_sim_free_streams(s, c);
  tf_sim_free_modules(s, c);
  tf_sim_free_hosts(s, c);
  tf_sim_tell_leaks(s, c);
  tf_sim_free_owned(s->device, c);
}

static void forget_current(CUcontext c) {
  tf_sim_stack *stack = tf_sim_context_stack();
  unsigned kept = 0;
  for (unsigned i = 0; i < stack->depth; i++)
    if (stack->list[i] != c) stack->list[kept++] = stack->list[i];
  stack->depth = kept;
}

void tf_sim_free_contexts(tf_sim_state *s) {
  while (s->contexts) {
    CUcontext next = s->contexts->next;
    free(s->contexts);
    s->contexts = next;
  }
}

/* ---- The primary context ------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = CUDA_SUCCESS;
  TF_SIM_DEVICE_CALL(dev, ctx);
  pthread_mutex_lock(&s->lock);
  if (!s->primary)
    r = new_context(0, true, &s->primary);
  else if (s->primary->refs++ == 0) /* released before: alive again, as new */
    s->primary->destroyed = false;
  if (r == CUDA_SUCCESS) *ctx = s->primary;
  pthread_mutex_unlock(&s->lock);
  return r;
}

static bool primary_active(const tf_sim_state *s) {
  return s->primary && s->primary->refs;
}

CUresult tf_sim_cuDevicePrimaryCtxRelease(CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  TF_SIM_DEVICE_CALL(dev, s);
  pthread_mutex_lock(&s->lock);
  bool active = primary_active(s), last = active && --s->primary->refs == 0;
  if (last) s->primary->destroyed = true;
  pthread_mutex_unlock(&s->lock);
  if (last) {
    release_contents(s, s->primary);
    s->primary->sticky = CUDA_SUCCESS;
  }
  return active ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* The context stays where it is current; its contents are gone and its error is forgotten. */
CUresult tf_sim_cuDevicePrimaryCtxReset(CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  TF_SIM_DEVICE_CALL(dev, s);
  if (!s->primary) return CUDA_SUCCESS;
  release_contents(s, s->primary);
  s->primary->sticky = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags) {
  tf_sim_state *s = tf_sim_now();
  CUcontext made;
  TF_SIM_DEVICE_CALL(dev, s);
  if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = s->primary ? CUDA_SUCCESS : tf_sim_cuDevicePrimaryCtxRetain(&made, dev);
  if (r == CUDA_SUCCESS) s->primary->flags = flags;
  return r;
}

CUresult tf_sim_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active) {
  tf_sim_state *s = tf_sim_now();
  TF_SIM_DEVICE_CALL(dev, flags, active);
  pthread_mutex_lock(&s->lock);
  *active = primary_active(s);
  *flags = s->primary ? s->primary->flags : 0;
  pthread_mutex_unlock(&s->lock);
  return CUDA_SUCCESS;
}

/* ---- Contexts of the program's own ----------------------------------------------------------------------------------- */

CUresult tf_sim_cuCtxCreate(CUcontext *ctx, unsigned flags, CUdevice dev) {
  tf_sim_state *s = tf_sim_now();
  tf_sim_stack *stack = tf_sim_context_stack();
  TF_SIM_DEVICE_CALL(dev, ctx);
  if (stack->depth == TF_SIM_CONTEXT_DEPTH) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&s->lock);
  CUresult r = new_context(flags, false, ctx);
  pthread_mutex_unlock(&s->lock);
  if (r == CUDA_SUCCESS) stack->list[stack->depth++] = *ctx;
  return r;
}

CUresult tf_sim_cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *params, int count, unsigned flags, CUdevice dev) {
  return params || count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : tf_sim_cuCtxCreate(ctx, flags, dev);
}

CUresult tf_sim_cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice dev) {
  return params ? CUDA_ERROR_NOT_SUPPORTED : tf_sim_cuCtxCreate(ctx, flags, dev);
}

CUresult tf_sim_cuCtxDestroy(CUcontext ctx) {
  tf_sim_state *s = tf_sim_now();
  if (!ctx || !known(ctx) || ctx->primary) return CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_lock(&s->lock);
  ctx->destroyed = true;
  pthread_mutex_unlock(&s->lock);
  forget_current(ctx);
  release_contents(s, ctx);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxAttach(CUcontext *ctx, unsigned flags) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!ctx || flags || tf_sim_context()->primary) return CUDA_ERROR_INVALID_VALUE;
  *ctx = tf_sim_context();
  (*ctx)->refs++;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxDetach(CUcontext ctx) {
  if (!ctx || !known(ctx) || ctx->primary) return CUDA_ERROR_INVALID_CONTEXT;
  return --ctx->refs ? CUDA_SUCCESS : tf_sim_cuCtxDestroy(ctx);
}

/* ---- Which one is current ---------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuCtxPushCurrent(CUcontext ctx) {
  tf_sim_stack *stack = tf_sim_context_stack();
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!ctx || !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (stack->depth == TF_SIM_CONTEXT_DEPTH) return CUDA_ERROR_INVALID_VALUE;
  stack->list[stack->depth++] = ctx;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxPopCurrent(CUcontext *ctx) {
  tf_sim_stack *stack = tf_sim_context_stack();
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
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

/* ---- What a context knows ------------------------------------------------------------------------------------------------ */

/* Calls that need a context but work on a poisoned one too. */
static CUresult with_context(const void *result) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!tf_sim_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (tf_sim_context()->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return result ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuCtxGetDevice(CUdevice *dev) {
  CUresult r = with_context(dev);
  if (r == CUDA_SUCCESS) *dev = 0;
  return r;
}

CUresult tf_sim_cuCtxGetDevice_v2(CUdevice *dev, CUcontext ctx) {
  if (!ctx) return tf_sim_cuCtxGetDevice(dev);
  if (!known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!dev) return CUDA_ERROR_INVALID_VALUE;
  *dev = 0;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxGetFlags(unsigned *flags) {
  CUresult r = with_context(flags);
  if (r == CUDA_SUCCESS) *flags = tf_sim_context()->flags;
  return r;
}

CUresult tf_sim_cuCtxSetFlags(unsigned flags) {
  CUresult r = with_context(&flags);
  if (r != CUDA_SUCCESS) return r;
  if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_context()->flags = flags;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxGetId(CUcontext ctx, unsigned long long *id) {
  if (!ctx) ctx = tf_sim_context();
  if (!ctx || !known(ctx)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = ctx->id;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxGetApiVersion(CUcontext ctx, unsigned *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  if (ctx && !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxSynchronize(void) {
  CUresult r = tf_sim_ready();
  return r == CUDA_SUCCESS ? tf_sim_capture_waits(tf_sim_context()) : r;
}

CUresult tf_sim_cuCtxSynchronize_v2(CUcontext ctx) {
  if (!ctx) return tf_sim_cuCtxSynchronize();
  if (!known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  return ctx->sticky != CUDA_SUCCESS ? ctx->sticky : tf_sim_capture_waits(ctx);
}

/* Limits that the API knows but the device has no use for are kept like the others. */
CUresult tf_sim_cuCtxSetLimit(CUlimit limit, size_t value) {
  CUresult r = with_context(&value);
  if (r != CUDA_SUCCESS) return r;
  if (limit >= CU_LIMIT_PERSISTING_L2_CACHE_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
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
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_context()->cache = config;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuCtxGetCacheConfig(CUfunc_cache *config) {
  CUresult r = with_context(config);
  if (r == CUDA_SUCCESS) *config = tf_sim_context()->cache;
  return r;
}

CUresult tf_sim_cuCtxSetSharedMemConfig(CUsharedconfig config) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS; /* a hint; banks have four bytes on every device of ours */
}

CUresult tf_sim_cuCtxGetSharedMemConfig(CUsharedconfig *config) {
  CUresult r = with_context(config);
  if (r == CUDA_SUCCESS) *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return r;
}

CUresult tf_sim_cuCtxResetPersistingL2Cache(void) {
  return tf_sim_ready();
}

CUresult tf_sim_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  CUresult r = with_context(tf_sim_now());
  if (r != CUDA_SUCCESS) return r;
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

/* One device: a context of it is no peer. */
CUresult tf_sim_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return peer && known(peer) ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult tf_sim_cuCtxDisablePeerAccess(CUcontext peer) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  return peer && known(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT;
}

/* Of all work of the context, which has ended when the call is made. */
CUresult tf_sim_cuCtxRecordEvent(CUcontext ctx, CUevent event) {
  if (!ctx || !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  CUresult r = ctx->sticky != CUDA_SUCCESS ? ctx->sticky : tf_sim_capture_waits(ctx);
  return r == CUDA_SUCCESS ? tf_sim_cuEventRecord(event, CU_STREAM_LEGACY) : r;
}

CUresult tf_sim_cuCtxWaitEvent(CUcontext ctx, CUevent event) {
  if (!ctx || !known(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  CUresult r = ctx->sticky != CUDA_SUCCESS ? ctx->sticky : tf_sim_capture_waits(ctx);
  return r == CUDA_SUCCESS ? tf_sim_check_event(event) : r;
}
