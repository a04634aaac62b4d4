/* Memory in stream order and the pools it comes from, managed memory's hints.
 *
 * Allocation and release are done when they are submitted; while a stream captures they become nodes of the graph
 * (GraphMemory.c). Pools keep nothing back, so the memory that they reserve is what is in use. */
#include "Sim/Driver/State.h"

#include <stdlib.h>
#include <string.h>

TF_SIM_KNOWN(CUmemoryPool, pools, pool)

static CUmemoryPool new_pool(tf_sim_state *s) {
  CUmemoryPool p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->reuse[0] = p->reuse[1] = p->reuse[2] = 1;
  p->next = s->pools;
  s->pools = p;
  return p;
}

void tf_sim_free_pools(tf_sim_state *s) {
  while (s->pools) {
    CUmemoryPool next = s->pools->next;
    free(s->pools);
    s->pools = next;
  }
}

static CUmemoryPool default_pool(tf_sim_state *s) {
  if (!s->default_pool) s->default_pool = new_pool(s);
  return s->default_pool;
}

/* ---- Allocation --------------------------------------------------------------------------------------------------- */

static bool capturing(CUstream stream) {
  return !tf_sim_default_stream(stream) && stream->capture;
}

static CUresult allocate(CUdeviceptr *ptr, size_t bytes) {
  tf_sim_state *s = tf_sim_now();
  uint64_t address;
  CUresult r = tf_sim_from_status(tf_sim_alloc(s->device, bytes, &address));
  if (r != CUDA_SUCCESS) return r;
  tf_sim_own(s->device, address, tf_sim_context());
  *ptr = address;
  return CUDA_SUCCESS;
}

static void count_use(CUmemoryPool pool, uint64_t bytes) {
  pool->used += bytes;
  if (pool->used > pool->used_high) pool->used_high = pool->used;
  pool->reserved = pool->used;
  if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
}

CUresult tf_sim_cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS) return r;
  if (!ptr || !bytes || !pool || !pools_has(s, pool)) return CUDA_ERROR_INVALID_VALUE;
  if (capturing(stream)) return tf_sim_capture_alloc(ptr, bytes, stream);
  r = allocate(ptr, bytes);
  pthread_mutex_lock(&s->lock);
  if (r == CUDA_SUCCESS) count_use(pool, bytes);
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult tf_sim_cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  tf_sim_state *s = tf_sim_now();
  CUmemoryPool pool = s->pool ? s->pool : default_pool(s);
  return pool ? tf_sim_cuMemAllocFromPoolAsync(ptr, bytes, pool, stream) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult tf_sim_cuMemFreeAsync(CUdeviceptr ptr, CUstream stream) {
  tf_sim_state *s = tf_sim_now();
  uint64_t base, bytes;
  CUresult r = tf_sim_check_stream(stream);
  if (r != CUDA_SUCCESS || !ptr) return r;
  if (capturing(stream)) return tf_sim_capture_free(ptr, stream);
  bool known = tf_sim_range(s->device, ptr, &base, &bytes) == TF_OK && base == ptr;
  if (!known || tf_sim_free(s->device, ptr) != TF_OK) return CUDA_ERROR_INVALID_VALUE;
  if (tf_sim_is_graph_memory(ptr)) return CUDA_SUCCESS; /* of no pool */
  pthread_mutex_lock(&s->lock);
  CUmemoryPool pool = s->pool ? s->pool : s->default_pool;
  if (pool) pool->reserved = pool->used = pool->used > bytes ? pool->used - bytes : 0;
  pthread_mutex_unlock(&s->lock);
  return CUDA_SUCCESS;
}

/* ---- Pools ---------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, pool);
  CUmemoryPool p = default_pool(tf_sim_now());
  if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
  *pool = p;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, pool);
  if (!tf_sim_now()->pool) return tf_sim_cuDeviceGetDefaultMemPool(pool, dev);
  *pool = tf_sim_now()->pool;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  TF_SIM_DEVICE_CALL(dev, pool);
  if (!pools_has(tf_sim_now(), pool)) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_now()->pool = pool;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
  tf_sim_state *s = tf_sim_now();
  if (!s->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (props->handleTypes) return CUDA_ERROR_NOT_SUPPORTED;
  if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->location.id != 0) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&s->lock);
  CUmemoryPool made = new_pool(s);
  pthread_mutex_unlock(&s->lock);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *pool = made;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemPoolDestroy(CUmemoryPool pool) {
  tf_sim_state *s = tf_sim_now();
  if (!pool || !pools_has(s, pool) || pool == s->default_pool) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&s->lock);
  for (CUmemoryPool *at = &s->pools; *at; at = &(*at)->next)
    if (*at == pool) {
      *at = pool->next;
      break;
    }
  if (s->pool == pool) s->pool = NULL;
  pthread_mutex_unlock(&s->lock);
  free(pool);
  return CUDA_SUCCESS;
}

static uint64_t *number_of(CUmemoryPool p, CUmemPool_attribute attribute) {
  switch (attribute) {
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    return &p->threshold;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    return &p->reserved;
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    return &p->reserved_high;
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    return &p->used;
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    return &p->used_high;
  default:
    return NULL;
  }
}

static CUresult check_pool(CUmemoryPool pool, CUmemPool_attribute attribute, const void *value) {
  bool known = pool && pools_has(tf_sim_now(), pool);
  bool valid =
      attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
  return known && valid && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  CUresult r = check_pool(pool, attribute, value);
  if (r != CUDA_SUCCESS) return r;
  const uint64_t *number = number_of(pool, attribute);
  if (number)
    *(cuuint64_t *)value = *number;
  else
    *(int *)value = pool->reuse[attribute - 1];
  return CUDA_SUCCESS;
}

/* The high-water marks can be reset to 0, what is current cannot be set. */
CUresult tf_sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  CUresult r = check_pool(pool, attribute, value);
  if (r != CUDA_SUCCESS) return r;
  uint64_t *number = number_of(pool, attribute);
  if (!number) {
    pool->reuse[attribute - 1] = *(const int *)value != 0;
    return CUDA_SUCCESS;
  }
  uint64_t wanted = *(const cuuint64_t *)value;
  bool current = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
  bool mark = attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
  if (current || (mark && wanted)) return CUDA_ERROR_INVALID_VALUE;
  *number = wanted;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  (void)keep; /* nothing is kept back */
  return pool && pools_has(tf_sim_now(), pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool is_device(const CUmemLocation *l) {
  return l->type == CU_MEM_LOCATION_TYPE_DEVICE && l->id == 0;
}

/* The device always has access to its own pools. */
CUresult tf_sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
  if (!pool || !pools_has(tf_sim_now(), pool) || (count && !map)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    if (!is_device(&map[i].location)) return CUDA_ERROR_INVALID_DEVICE;
    if (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
  if (!flags || !location || !pool || !pools_has(tf_sim_now(), pool)) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(location)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

/* ---- Managed memory's hints: checked, without effect -------------------------------------------------------------------- */

static CUresult check_range(CUdeviceptr ptr, size_t count) {
  uint64_t base, bytes;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  bool known = tf_sim_range(tf_sim_now()->device, ptr, &base, &bytes) == TF_OK;
  return known && count && count <= bytes - (ptr - base) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool is_place(const CUmemLocation *l) {
  return is_device(l) || (l->type >= CU_MEM_LOCATION_TYPE_HOST && l->type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
}

CUresult tf_sim_cuMemAdvise_v2(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUmemLocation location) {
  CUresult r = check_range(ptr, count);
  if (r != CUDA_SUCCESS) return r;
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  bool anywhere = advice <= CU_MEM_ADVISE_UNSET_READ_MOSTLY || advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  return anywhere || is_place(&location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* The CPU was -1 as a device. */
static CUmemLocation place_of(CUdevice dev) {
  return (CUmemLocation){.type = dev == -1 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
                         .id = dev == -1 ? 0 : dev};
}

CUresult tf_sim_cuMemAdvise(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUdevice dev) {
  return tf_sim_cuMemAdvise_v2(ptr, count, advice, place_of(dev));
}

CUresult tf_sim_cuMemPrefetchAsync_v2(CUdeviceptr ptr, size_t count, CUmemLocation location, unsigned flags,
                                      CUstream stream) {
  CUresult r = tf_sim_check_stream(stream);
  if (r == CUDA_SUCCESS) r = check_range(ptr, count);
  if (r != CUDA_SUCCESS) return r;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (!is_place(&location)) return CUDA_ERROR_INVALID_DEVICE;
  tf_sim_work w = {.kind = TF_WORK_EMPTY};
  return tf_sim_submit(stream, &w);
}

CUresult tf_sim_cuMemPrefetchAsync(CUdeviceptr ptr, size_t count, CUdevice dev, CUstream stream) {
  return tf_sim_cuMemPrefetchAsync_v2(ptr, count, place_of(dev), 0, stream);
}

/* Nothing is remembered of hints: memory is read-mostly never, and prefers no place. */
CUresult tf_sim_cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr ptr,
                                       size_t count) {
  CUresult r = check_range(ptr, count);
  if (r != CUDA_SUCCESS) return r;
  if (!data || size < 4 || size % 4) return CUDA_ERROR_INVALID_VALUE;
  if (attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY || attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
    return CUDA_ERROR_INVALID_VALUE;
  int none = attribute == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
                     attribute == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE ||
                     attribute == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE
                 ? 0
                 : -2; /* CU_DEVICE_INVALID */
  for (size_t i = 0; i < size / 4; i++)
    ((int *)data)[i] = none;
  return CUDA_SUCCESS;
}
