/* Memory: allocation, pinned and managed host memory, what the API knows of a pointer.
 *
 * Device addresses and host pointers share one space: an address that lies in a live allocation of the device is device
 * memory, any other is the caller's. Pinned and managed memory is mapped into the device at its own address. */
#include "Sim/Driver/State.h"

#include <stdlib.h>
#include <string.h>

CUresult tf_sim_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  uint64_t available, total;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!free_bytes || !total_bytes) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_memory_info(tf_sim_now()->device, &available, &total);
  *free_bytes = available;
  *total_bytes = total;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemAlloc(CUdeviceptr *ptr, size_t bytes) {
  uint64_t address;
  CUresult r = tf_sim_ready();
  if (r == CUDA_SUCCESS) r = tf_sim_capture_unsafe();
  if (r != CUDA_SUCCESS) return r;
  if (!ptr || !bytes) return CUDA_ERROR_INVALID_VALUE;
  r = tf_sim_from_status(tf_sim_alloc(tf_sim_now()->device, bytes, &address));
  if (r != CUDA_SUCCESS) return r;
  tf_sim_own(tf_sim_now()->device, address, tf_sim_context());
  *ptr = address;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemAllocPitch(CUdeviceptr *ptr, size_t *pitch, size_t width_bytes, size_t height,
                                unsigned element_bytes) {
  if (!pitch || !width_bytes || !height || width_bytes > SIZE_MAX / 2) return CUDA_ERROR_INVALID_VALUE;
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) return CUDA_ERROR_INVALID_VALUE;
  size_t rows = (width_bytes + 511) & ~(size_t)511;
  if (height > SIZE_MAX / rows) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = tf_sim_cuMemAlloc(ptr, rows * height);
  if (r == CUDA_SUCCESS) *pitch = rows;
  return r;
}

static CUresult new_host(size_t bytes, unsigned flags, tf_host_kind kind, void *pointer, void **out) {
  tf_sim_state *s = tf_sim_now();
  CUresult r = tf_sim_ready();
  if (r == CUDA_SUCCESS) r = tf_sim_capture_unsafe();
  if (r != CUDA_SUCCESS) return r;
  if (!out || !bytes || bytes > SIZE_MAX / 2) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_host *h = calloc(1, sizeof *h);
  if (!h) return CUDA_ERROR_OUT_OF_MEMORY;
  *h = (tf_sim_host){.pointer = pointer, .bytes = bytes, .flags = flags, .kind = kind, .context = tf_sim_context()};
  if (!pointer) h->pointer = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  bool mapped = h->pointer && tf_sim_map_host(s->device, h->pointer, bytes) == TF_OK;
  if (!mapped) {
    if (!pointer) free(h->pointer);
    free(h);
    return pointer ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_ERROR_OUT_OF_MEMORY;
  }
  pthread_mutex_lock(&s->lock);
  h->next = s->hosts;
  s->hosts = h;
  pthread_mutex_unlock(&s->lock);
  *out = h->pointer;
  return CUDA_SUCCESS;
}

/* Takes the block that begins at `pointer` out of the list; null if there is none of this kind. */
static tf_sim_host *take_host(const void *pointer, tf_host_kind kind) {
  tf_sim_state *s = tf_sim_now();
  pthread_mutex_lock(&s->lock);
  tf_sim_host **at = &s->hosts, *found = NULL;
  while (*at && !((*at)->pointer == pointer && (*at)->kind == kind))
    at = &(*at)->next;
  found = *at;
  if (found) *at = found->next;
  pthread_mutex_unlock(&s->lock);
  return found;
}

static void release_host(tf_sim_state *s, tf_sim_host *h) {
  (void)tf_sim_free(s->device, (uint64_t)(uintptr_t)h->pointer);
  if (h->kind != TF_HOST_REGISTERED) free(h->pointer);
  free(h);
}

/* What a call that releases something returns: the error of the current context, if it is poisoned. */
static CUresult released(void) {
  CUcontext c = tf_sim_context();
  return c ? c->sticky : CUDA_SUCCESS;
}

static CUresult drop_host(const void *pointer, tf_host_kind kind, CUresult missing) {
  tf_sim_host *h = take_host(pointer, kind);
  if (!h) return missing;
  release_host(tf_sim_now(), h);
  return released();
}

void tf_sim_free_hosts(tf_sim_state *s, CUcontext of) {
  for (tf_sim_host **at = &s->hosts; *at;) {
    tf_sim_host *h = *at;
    if (of && h->context != of) {
      at = &h->next;
      continue;
    }
    *at = h->next;
    release_host(s, h);
  }
}

CUresult tf_sim_cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags) {
  void *host;
  if (!ptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = new_host(bytes, flags, TF_HOST_MANAGED, NULL, &host);
  if (r == CUDA_SUCCESS) *ptr = (CUdeviceptr)(uintptr_t)host;
  return r;
}

/* Releases in a poisoned context too, as its end would. */
CUresult tf_sim_cuMemFree(CUdeviceptr ptr) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult r = tf_sim_capture_unsafe();
  if (r != CUDA_SUCCESS) return r;
  if (!ptr) return released();
  tf_sim_host *h = take_host((void *)(uintptr_t)ptr, TF_HOST_MANAGED);
  if (h) {
    release_host(tf_sim_now(), h);
    return released();
  }
  r = tf_sim_from_status(tf_sim_free(tf_sim_now()->device, ptr));
  return r == CUDA_SUCCESS ? released() : r;
}

CUresult tf_sim_cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr) {
  uint64_t lo, size;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (tf_sim_range(tf_sim_now()->device, ptr, &lo, &size) != TF_OK) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = lo;
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemAllocHost(void **ptr, size_t bytes) {
  return new_host(bytes, 0, TF_HOST_PINNED, NULL, ptr);
}

CUresult tf_sim_cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags) {
  return flags > 7 ? CUDA_ERROR_INVALID_VALUE : new_host(bytes, flags, TF_HOST_PINNED, NULL, ptr);
}

CUresult tf_sim_cuMemFreeHost(void *ptr) {
  return ptr ? drop_host(ptr, TF_HOST_PINNED, CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

CUresult tf_sim_cuMemHostRegister(void *ptr, size_t bytes, unsigned flags) {
  void *same;
  return ptr ? new_host(bytes, flags, TF_HOST_REGISTERED, ptr, &same) : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuMemHostUnregister(void *ptr) {
  return drop_host(ptr, TF_HOST_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* A copy of the host block around a pointer. */
static bool find_host(const void *ptr, tf_sim_host *out) {
  tf_sim_state *s = tf_sim_now();
  bool found = false;
  pthread_mutex_lock(&s->lock);
  for (const tf_sim_host *h = s->hosts; h && !found; h = h->next) {
    uintptr_t at = (uintptr_t)ptr - (uintptr_t)h->pointer;
    found = at < h->bytes;
    if (found) *out = *h;
  }
  pthread_mutex_unlock(&s->lock);
  return found;
}

CUresult tf_sim_cuMemHostGetDevicePointer(CUdeviceptr *dev, void *ptr, unsigned flags) {
  tf_sim_host h;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!dev || flags || !find_host(ptr, &h)) return CUDA_ERROR_INVALID_VALUE;
  *dev = (CUdeviceptr)(uintptr_t)ptr;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuMemHostGetFlags(unsigned *flags, void *ptr) {
  tf_sim_host h;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!flags || !find_host(ptr, &h)) return CUDA_ERROR_INVALID_VALUE;
  *flags = h.flags;
  return CUDA_SUCCESS;
}

/* Attributes that are a number of four bytes and the same for all memory. */
static bool constant_attribute(CUpointer_attribute attribute, unsigned *value) {
  static const struct {
    CUpointer_attribute attribute;
    unsigned value;
  } rows[] = {
      {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0},
      {CU_POINTER_ATTRIBUTE_MAPPED, 1},
      {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 1}, /* copies have always ended when they return */
      {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
      {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, 0},
      {CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, 0},
      {CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].attribute == attribute) {
      *value = rows[i].value;
      return true;
    }
  return false;
}

CUresult tf_sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  uint64_t base, bytes;
  tf_sim_host h;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!data || tf_sim_range(tf_sim_now()->device, ptr, &base, &bytes) != TF_OK) return CUDA_ERROR_INVALID_VALUE;
  if (constant_attribute(attribute, data)) return CUDA_SUCCESS;
  bool host = find_host((void *)(uintptr_t)ptr, &h), managed = host && h.kind == TF_HOST_MANAGED;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *(CUcontext *)data = host ? h.context : (CUcontext)(uintptr_t)tf_sim_owner(tf_sim_now()->device, ptr);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)data = host && !managed ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    *(CUdeviceptr *)data = ptr;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    *(void **)data = host ? (void *)(uintptr_t)ptr : NULL;
    return host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *(unsigned *)data = managed;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *(size_t *)data = bytes;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
  case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    *(unsigned long long *)data = base;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    *(unsigned long long *)data = 0;
    return CUDA_SUCCESS;
  default:
    return attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult tf_sim_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  uint64_t base, bytes;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  bool good = value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
  if (!good || tf_sim_range(tf_sim_now()->device, ptr, &base, &bytes) != TF_OK) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/* Bytes of an attribute's value. */
static size_t attribute_bytes(CUpointer_attribute attribute) {
  static const CUpointer_attribute wide[] = {
      CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
      CU_POINTER_ATTRIBUTE_HOST_POINTER,     CU_POINTER_ATTRIBUTE_BUFFER_ID,
      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
      CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,   CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
      CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
  };
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    if (wide[i] == attribute) return 8;
  return 4;
}

/* An unknown pointer is no error here: what would be unknown is 0. */
CUresult tf_sim_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr) {
  uint64_t base, bytes;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!count || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  bool known = tf_sim_range(tf_sim_now()->device, ptr, &base, &bytes) == TF_OK;
  for (unsigned i = 0; i < count; i++) {
    if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
    if (known && tf_sim_cuPointerGetAttribute(data[i], attributes[i], ptr) == CUDA_SUCCESS) continue;
    bool ordinal = attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    if (ordinal)
      *(int *)data[i] = -2;
    else
      memset(data[i], 0, attribute_bytes(attributes[i]));
  }
  return CUDA_SUCCESS;
}
