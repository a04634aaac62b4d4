/* Memory: allocation, pinned and managed host memory, copies and fills.
 *
 * Device addresses and host pointers share one space: an address that lies in a live allocation of the device is device
 * memory, any other is the caller's. Pinned and managed memory is mapped into the device at its own address. */
#include "Sim/DriverState.h"

#include <stdlib.h>
#include <string.h>

static bool on_device(CUdeviceptr p) {
  uint64_t base, bytes;
  return tf_sim_range(tf_sim_now()->device, p, &base, &bytes) == TF_OK;
}

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
  if (r != CUDA_SUCCESS) return r;
  if (!ptr || !bytes) return CUDA_ERROR_INVALID_VALUE;
  r = tf_sim_from_status(tf_sim_alloc(tf_sim_now()->device, bytes, &address));
  if (r == CUDA_SUCCESS) *ptr = address;
  return r;
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
  if (r != CUDA_SUCCESS) return r;
  if (!out || !bytes || bytes > SIZE_MAX / 2) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_host *h = calloc(1, sizeof *h);
  if (!h) return CUDA_ERROR_OUT_OF_MEMORY;
  *h = (tf_sim_host){.pointer = pointer, .bytes = bytes, .flags = flags, .kind = kind};
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

static CUresult drop_host(const void *pointer, tf_host_kind kind, CUresult missing) {
  tf_sim_host *h = take_host(pointer, kind);
  if (!h) return missing;
  (void)tf_sim_free(tf_sim_now()->device, (uint64_t)(uintptr_t)h->pointer);
  if (kind != TF_HOST_REGISTERED) free(h->pointer);
  free(h);
  return CUDA_SUCCESS;
}

void tf_sim_free_hosts(tf_sim_state *s) {
  while (s->hosts) {
    tf_sim_host *next = s->hosts->next;
    if (s->hosts->kind != TF_HOST_REGISTERED) free(s->hosts->pointer);
    free(s->hosts);
    s->hosts = next;
  }
}

CUresult tf_sim_cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags) {
  void *host;
  if (!ptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = new_host(bytes, flags, TF_HOST_MANAGED, NULL, &host);
  if (r == CUDA_SUCCESS) *ptr = (CUdeviceptr)(uintptr_t)host;
  return r;
}

/* Works in a poisoned context too, so that programs can clean up. */
CUresult tf_sim_cuMemFree(CUdeviceptr ptr) {
  if (!ptr) return CUDA_SUCCESS;
  CUresult r = drop_host((void *)(uintptr_t)ptr, TF_HOST_MANAGED, CUDA_ERROR_INVALID_VALUE);
  return r == CUDA_SUCCESS ? r : tf_sim_from_status(tf_sim_free(tf_sim_now()->device, ptr));
}

CUresult tf_sim_cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream) {
  (void)stream;
  return tf_sim_cuMemAlloc(ptr, bytes);
}

CUresult tf_sim_cuMemFreeAsync(CUdeviceptr ptr, CUstream stream) {
  (void)stream;
  return tf_sim_cuMemFree(ptr);
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

CUresult tf_sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  uint64_t base, bytes;
  tf_sim_host h;
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!data || tf_sim_range(tf_sim_now()->device, ptr, &base, &bytes) != TF_OK) return CUDA_ERROR_INVALID_VALUE;
  bool host = find_host((void *)(uintptr_t)ptr, &h), managed = host && h.kind == TF_HOST_MANAGED;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *(CUcontext *)data = tf_sim_context();
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
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *(int *)data = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *(CUdeviceptr *)data = base;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *(size_t *)data = bytes;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MAPPED:
    *(unsigned *)data = 1;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    *(unsigned long long *)data = base;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult tf_sim_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (!count || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) {
    bool type = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    if (tf_sim_cuPointerGetAttribute(data[i], attributes[i], ptr) != CUDA_SUCCESS && data[i] && type)
      *(unsigned *)data[i] = 0; /* an unknown pointer is no error here */
  }
  return CUDA_SUCCESS;
}

/* ---- Work ------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_run_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  tf_sim_device *d = tf_sim_now()->device;
  if (!bytes) return CUDA_SUCCESS;
  if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
  bool to_device = on_device(to), from_device = on_device(from);
  if (to_device && from_device) return tf_sim_from_status(tf_sim_copy(d, to, from, bytes));
  if (to_device) return tf_sim_from_status(tf_sim_write(d, to, (const void *)(uintptr_t)from, bytes));
  if (from_device) return tf_sim_from_status(tf_sim_read(d, (void *)(uintptr_t)to, from, bytes));
  memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return CUDA_SUCCESS;
}

static CUresult submit_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  tf_sim_work w = {.kind = TF_WORK_COPY, .to = to, .from = from, .bytes = bytes};
  return tf_sim_submit(stream, &w);
}

#define HOST(p) ((CUdeviceptr)(uintptr_t)(p))

CUresult tf_sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return submit_copy(NULL, dst, src, bytes);
}
CUresult tf_sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return submit_copy(stream, dst, src, bytes);
}

/* The typed forms insist on the device side being device memory: a wild pointer must not become a host access. */
static CUresult typed_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes, bool to_dev,
                           bool from_dev) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (bytes && ((to_dev && !on_device(to)) || (from_dev && !on_device(from)))) return CUDA_ERROR_INVALID_VALUE;
  return submit_copy(stream, to, from, bytes);
}
CUresult tf_sim_cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes) {
  return typed_copy(NULL, dst, HOST(src), bytes, true, false);
}
CUresult tf_sim_cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes) {
  return typed_copy(NULL, HOST(dst), src, bytes, false, true);
}
CUresult tf_sim_cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return typed_copy(NULL, dst, src, bytes, true, true);
}
CUresult tf_sim_cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream) {
  return typed_copy(stream, dst, HOST(src), bytes, true, false);
}
CUresult tf_sim_cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return typed_copy(stream, HOST(dst), src, bytes, false, true);
}
CUresult tf_sim_cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return typed_copy(stream, dst, src, bytes, true, true);
}

CUresult tf_sim_run_copy2d(const CUDA_MEMCPY2D *c) {
  CUdeviceptr from = c->srcMemoryType == CU_MEMORYTYPE_HOST ? HOST(c->srcHost) : c->srcDevice;
  CUdeviceptr to = c->dstMemoryType == CU_MEMORYTYPE_HOST ? HOST(c->dstHost) : c->dstDevice;
  size_t from_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes,
         to_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes;
  CUresult r = CUDA_SUCCESS;
  for (size_t row = 0; row < c->Height && r == CUDA_SUCCESS; row++)
    r = tf_sim_run_copy(to + (c->dstY + row) * to_pitch + c->dstXInBytes,
                        from + (c->srcY + row) * from_pitch + c->srcXInBytes, c->WidthInBytes);
  return r;
}

CUresult tf_sim_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  if (copy->srcMemoryType == CU_MEMORYTYPE_ARRAY || copy->dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return CUDA_ERROR_NOT_SUPPORTED;
  bool narrow = (copy->srcPitch && copy->srcPitch < copy->WidthInBytes + copy->srcXInBytes) ||
                (copy->dstPitch && copy->dstPitch < copy->WidthInBytes + copy->dstXInBytes);
  if (narrow) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_work w = {.kind = TF_WORK_COPY2D, .copy = *copy};
  return tf_sim_submit(stream, &w);
}
CUresult tf_sim_cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  return tf_sim_cuMemcpy2DAsync(copy, NULL);
}
CUresult tf_sim_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) {
  return tf_sim_cuMemcpy2DAsync(copy, NULL);
}

CUresult tf_sim_run_set(const tf_sim_work *w) {
  CUresult r = CUDA_SUCCESS;
  for (size_t row = 0; row < w->height && r == CUDA_SUCCESS; row++)
    r = tf_sim_from_status(
        tf_sim_memset(tf_sim_now()->device, w->to + row * w->pitch, w->value, w->width, w->bytes / w->width));
  return r;
}

static CUresult submit_set(CUstream stream, CUdeviceptr dst, unsigned value, unsigned width, size_t count) {
  if (count > SIZE_MAX / width) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_work w = {.kind = TF_WORK_SET, .to = dst, .value = value, .width = width, .bytes = count * width, .height = 1};
  return tf_sim_submit(stream, &w);
}
CUresult tf_sim_cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t count) {
  return submit_set(NULL, dst, value, 1, count);
}
CUresult tf_sim_cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t count) {
  return submit_set(NULL, dst, value, 2, count);
}
CUresult tf_sim_cuMemsetD32(CUdeviceptr dst, unsigned value, size_t count) {
  return submit_set(NULL, dst, value, 4, count);
}
CUresult tf_sim_cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  return submit_set(stream, dst, value, 1, count);
}
CUresult tf_sim_cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  return submit_set(stream, dst, value, 2, count);
}
CUresult tf_sim_cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return submit_set(stream, dst, value, 4, count);
}
CUresult tf_sim_cuMemsetD2D8(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height) {
  tf_sim_work w = {.kind = TF_WORK_SET, .to = dst, .value = value, .width = 1, .bytes = width};
  w.pitch = pitch;
  w.height = height;
  return pitch < width ? CUDA_ERROR_INVALID_VALUE : tf_sim_submit(NULL, &w);
}
CUresult tf_sim_cuMemsetD2D32(CUdeviceptr dst, size_t pitch, unsigned value, size_t width, size_t height) {
  tf_sim_work w = {.kind = TF_WORK_SET, .to = dst, .value = value, .width = 4, .bytes = width * 4};
  w.pitch = pitch;
  w.height = height;
  return width > SIZE_MAX / 4 || pitch < width * 4 ? CUDA_ERROR_INVALID_VALUE : tf_sim_submit(NULL, &w);
}
