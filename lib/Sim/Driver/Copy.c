/* Copies and fills: of rows, planes and boxes, at once and as work of streams.
 *
 * Calls without a stream are work of the legacy stream; the typed copies among them and all fills are also calls that a
 * capture may forbid. */
#include "Sim/Driver/State.h"

#include <string.h>

#define HOST(p) ((CUdeviceptr)(uintptr_t)(p))

static bool on_device(CUdeviceptr p) {
  uint64_t base, bytes;
  return tf_sim_range(tf_sim_now()->device, p, &base, &bytes) == TF_OK;
}

/* Or will be when a graph runs: what is submitted may be captured for it. */
static bool may_be_on_device(CUdeviceptr p) {
  return on_device(p) || tf_sim_is_graph_memory(p);
}

CUresult tf_sim_run_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  tf_sim_device *d = tf_sim_now()->device;
  if (!bytes) return CUDA_SUCCESS;
  if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
  bool to_device = on_device(to), from_device = on_device(from);
  if (!to_device && tf_sim_is_graph_memory(to)) return CUDA_ERROR_INVALID_VALUE;
  if (!from_device && tf_sim_is_graph_memory(from)) return CUDA_ERROR_INVALID_VALUE;
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

/* A call that returns when its work has ended, by its definition. */
static CUresult synchronous(void) {
  CUresult r = tf_sim_ready();
  if (r == CUDA_SUCCESS) r = tf_sim_capture_legacy();
  return r == CUDA_SUCCESS ? tf_sim_capture_unsafe() : r;
}

CUresult tf_sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  CUresult r = synchronous();
  return r == CUDA_SUCCESS ? submit_copy(NULL, dst, src, bytes) : r;
}
CUresult tf_sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return submit_copy(stream, dst, src, bytes);
}

/* There is one device, and its contexts share addresses. */
CUresult tf_sim_cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes) {
  return dst_ctx && src_ctx ? tf_sim_cuMemcpyDtoD(dst, src, bytes) : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult tf_sim_cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes,
                                  CUstream stream) {
  return dst_ctx && src_ctx ? tf_sim_cuMemcpyDtoDAsync(dst, src, bytes, stream) : CUDA_ERROR_INVALID_CONTEXT;
}

/* The typed forms insist on the device side being device memory: a wild pointer must not become a host access. */
static CUresult typed_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, size_t bytes, bool to_dev,
                           bool from_dev) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (bytes && ((to_dev && !may_be_on_device(to)) || (from_dev && !may_be_on_device(from))))
    return CUDA_ERROR_INVALID_VALUE;
  return submit_copy(stream, to, from, bytes);
}
static CUresult typed_now(CUdeviceptr to, CUdeviceptr from, size_t bytes, bool to_dev, bool from_dev) {
  CUresult r = synchronous();
  return r == CUDA_SUCCESS ? typed_copy(NULL, to, from, bytes, to_dev, from_dev) : r;
}
CUresult tf_sim_cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes) {
  return typed_now(dst, HOST(src), bytes, true, false);
}
CUresult tf_sim_cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes) {
  return typed_now(HOST(dst), src, bytes, false, true);
}
CUresult tf_sim_cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return typed_now(dst, src, bytes, true, true);
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

/* ---- Planes and boxes --------------------------------------------------------------------------------------------- */

/* One side of a copy: `pitch` bytes from row to row, `height` rows from plane to plane. */
typedef struct side {
  CUmemorytype type;
  CUdeviceptr at;
  size_t x, y, z, pitch, height;
} side;

static side source_of(const CUDA_MEMCPY3D *c) {
  bool host = c->srcMemoryType == CU_MEMORYTYPE_HOST;
  return (side){c->srcMemoryType,
                host ? HOST(c->srcHost) : c->srcDevice,
                c->srcXInBytes,
                c->srcY,
                c->srcZ,
                c->srcPitch ? c->srcPitch : c->srcXInBytes + c->WidthInBytes,
                c->srcHeight ? c->srcHeight : c->Height};
}

static side destination_of(const CUDA_MEMCPY3D *c) {
  bool host = c->dstMemoryType == CU_MEMORYTYPE_HOST;
  return (side){c->dstMemoryType,
                host ? HOST(c->dstHost) : c->dstDevice,
                c->dstXInBytes,
                c->dstY,
                c->dstZ,
                c->dstPitch ? c->dstPitch : c->dstXInBytes + c->WidthInBytes,
                c->dstHeight ? c->dstHeight : c->Height};
}

static CUdeviceptr row_of(const side *s, size_t y, size_t z) {
  return s->at + ((s->z + z) * s->height + s->y + y) * s->pitch + s->x;
}

static CUresult check_side(const side *s, const CUDA_MEMCPY3D *c) {
  if (s->type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (s->type < CU_MEMORYTYPE_HOST || s->type > CU_MEMORYTYPE_UNIFIED) return CUDA_ERROR_INVALID_VALUE;
  if (s->pitch < s->x + c->WidthInBytes || (c->Depth > 1 && s->height < s->y + c->Height))
    return CUDA_ERROR_INVALID_VALUE;
  if (!c->WidthInBytes || !c->Height || !c->Depth) return CUDA_SUCCESS;
  bool device = s->type == CU_MEMORYTYPE_DEVICE;
  return !s->at || (device && !may_be_on_device(row_of(s, 0, 0))) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult tf_sim_check_copy3d(const CUDA_MEMCPY3D *copy) {
  if (!copy || copy->reserved0 || copy->reserved1) return CUDA_ERROR_INVALID_VALUE;
  side from = source_of(copy), to = destination_of(copy);
  CUresult r = check_side(&from, copy);
  return r == CUDA_SUCCESS ? check_side(&to, copy) : r;
}

CUresult tf_sim_run_copy3d(const CUDA_MEMCPY3D *c) {
  side from = source_of(c), to = destination_of(c);
  CUresult r = CUDA_SUCCESS;
  for (size_t z = 0; z < c->Depth; z++)
    for (size_t y = 0; y < c->Height && r == CUDA_SUCCESS; y++)
      r = tf_sim_run_copy(row_of(&to, y, z), row_of(&from, y, z), c->WidthInBytes);
  return r;
}

CUresult tf_sim_cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
  CUresult r = tf_sim_check_stream(stream);
  if (r == CUDA_SUCCESS) r = tf_sim_check_copy3d(copy);
  if (r != CUDA_SUCCESS) return r;
  tf_sim_work w = {.kind = TF_WORK_COPY3D, .copy = *copy};
  return tf_sim_submit(stream, &w);
}
CUresult tf_sim_cuMemcpy3D(const CUDA_MEMCPY3D *copy) {
  CUresult r = synchronous();
  return r == CUDA_SUCCESS ? tf_sim_cuMemcpy3DAsync(copy, NULL) : r;
}

/* A plane is a box of depth 1. */
static CUDA_MEMCPY3D plane(const CUDA_MEMCPY2D *c) {
  return (CUDA_MEMCPY3D){.srcXInBytes = c->srcXInBytes,
                         .srcY = c->srcY,
                         .srcMemoryType = c->srcMemoryType,
                         .srcHost = c->srcHost,
                         .srcDevice = c->srcDevice,
                         .srcPitch = c->srcPitch,
                         .dstXInBytes = c->dstXInBytes,
                         .dstY = c->dstY,
                         .dstMemoryType = c->dstMemoryType,
                         .dstHost = c->dstHost,
                         .dstDevice = c->dstDevice,
                         .dstPitch = c->dstPitch,
                         .WidthInBytes = c->WidthInBytes,
                         .Height = c->Height,
                         .Depth = 1};
}

CUresult tf_sim_cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D box = plane(copy);
  return tf_sim_cuMemcpy3DAsync(&box, stream);
}
CUresult tf_sim_cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  CUresult r = synchronous();
  return r == CUDA_SUCCESS ? tf_sim_cuMemcpy2DAsync(copy, NULL) : r;
}
CUresult tf_sim_cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) {
  return tf_sim_cuMemcpy2D(copy);
}

/* ---- Fills --------------------------------------------------------------------------------------------------------- */

CUresult tf_sim_run_set(const tf_sim_work *w) {
  CUresult r = CUDA_SUCCESS;
  for (size_t row = 0; row < w->height && r == CUDA_SUCCESS; row++)
    r = tf_sim_from_status(
        tf_sim_memset(tf_sim_now()->device, w->to + row * w->pitch, w->value, w->width, w->bytes / w->width));
  return r;
}

static CUresult submit_set(CUstream stream, CUdeviceptr dst, size_t pitch, unsigned value, unsigned width, size_t count,
                           size_t height) {
  CUresult r = tf_sim_ready();
  if (r != CUDA_SUCCESS) return r;
  if (count > SIZE_MAX / width || (height > 1 && pitch < count * width)) return CUDA_ERROR_INVALID_VALUE;
  if (dst % width || (height > 1 && pitch % width)) return CUDA_ERROR_INVALID_VALUE;
  if (count && height && !may_be_on_device(dst)) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_work w = {.kind = TF_WORK_SET, .to = dst, .value = value, .width = width, .bytes = count * width};
  w.pitch = pitch;
  w.height = height;
  return tf_sim_submit(stream, &w);
}
static CUresult set_now(CUdeviceptr dst, size_t pitch, unsigned value, unsigned width, size_t count, size_t height) {
  CUresult r = synchronous();
  return r == CUDA_SUCCESS ? submit_set(NULL, dst, pitch, value, width, count, height) : r;
}
CUresult tf_sim_cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t count) {
  return set_now(dst, 0, value, 1, count, 1);
}
CUresult tf_sim_cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t count) {
  return set_now(dst, 0, value, 2, count, 1);
}
CUresult tf_sim_cuMemsetD32(CUdeviceptr dst, unsigned value, size_t count) {
  return set_now(dst, 0, value, 4, count, 1);
}
CUresult tf_sim_cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  return submit_set(stream, dst, 0, value, 1, count, 1);
}
CUresult tf_sim_cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  return submit_set(stream, dst, 0, value, 2, count, 1);
}
CUresult tf_sim_cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return submit_set(stream, dst, 0, value, 4, count, 1);
}
CUresult tf_sim_cuMemsetD2D8(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height) {
  return set_now(dst, pitch, value, 1, width, height);
}
CUresult tf_sim_cuMemsetD2D16(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height) {
  return set_now(dst, pitch, value, 2, width, height);
}
CUresult tf_sim_cuMemsetD2D32(CUdeviceptr dst, size_t pitch, unsigned value, size_t width, size_t height) {
  return set_now(dst, pitch, value, 4, width, height);
}
CUresult tf_sim_cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height,
                                  CUstream stream) {
  return submit_set(stream, dst, pitch, value, 1, width, height);
}
CUresult tf_sim_cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height,
                                   CUstream stream) {
  return submit_set(stream, dst, pitch, value, 2, width, height);
}
CUresult tf_sim_cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned value, size_t width, size_t height,
                                   CUstream stream) {
  return submit_set(stream, dst, pitch, value, 4, width, height);
}
