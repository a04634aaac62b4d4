/* Device memory and streams: the driver's calls under the runtime's context. Memory in no stream's order is taken and given
 * back in the capture mode that permits it, so that a capture elsewhere, which it is no part of, is not ended by it. */
#include "Runtime/Capture.h"

static CUdeviceptr device_address(const void *pointer) {
  return (CUdeviceptr)(uintptr_t)pointer;
}

tf_status tf_device_take(tf_runtime *rt, size_t bytes, CUdeviceptr *out) {
  CUstreamCaptureMode mode;
  tf_status status = tf_capture_permit(rt, &mode);
  if (status != TF_OK) return status;
  CUdeviceptr address = 0;
  status = tf_capture_restore(rt, mode, TF_CALL(rt, cuMemAlloc, &address, bytes));
  if (status == TF_OK)
    *out = address;
  else if (address)
    (void)rt->driver.cuMemFree(address); /* no failure gives memory away */
  return status;
}

tf_status tf_device_give(tf_runtime *rt, CUdeviceptr address) {
  CUstreamCaptureMode mode;
  tf_status status = tf_capture_permit(rt, &mode);
  if (status != TF_OK) return status;
  return tf_capture_restore(rt, mode, TF_CALL(rt, cuMemFree, address));
}

/* Drivers before 11.2 and devices without memory pools have no allocations in stream order. */
tf_status tf_device_take_ordered(tf_runtime *rt, size_t bytes, CUstream stream, CUdeviceptr *out, bool *ordered) {
  CUdeviceptr address = 0;
  CUresult result = rt->driver.cuMemAllocAsync(&address, bytes, stream);
  *ordered = result != TF_CUDA_ERROR_MISSING_FUNCTION && result != CUDA_ERROR_NOT_SUPPORTED;
  if (!*ordered) return tf_device_take(rt, bytes, out);
  tf_status status = tf_runtime_check(rt, result, "cuMemAllocAsync");
  if (status == TF_OK) *out = address;
  return status;
}

tf_status tf_device_give_ordered(tf_runtime *rt, CUdeviceptr address, CUstream stream, bool ordered) {
  if (ordered) return TF_CALL(rt, cuMemFreeAsync, address, stream);
  tf_status status = TF_CALL(rt, cuStreamSynchronize, stream);
  tf_status given = tf_device_give(rt, address);
  return status != TF_OK ? status : given;
}

tf_status tf_device_alloc(tf_runtime *runtime, size_t bytes, void **out) {
  if (!runtime || !out) return TF_INVALID_ARGUMENT;
  bool pushed;
  CUdeviceptr address = 0;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = tf_device_take(runtime, bytes ? bytes : 1, &address);
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK)
    *out = (void *)(uintptr_t)address;
  else if (address)
    (void)runtime->driver.cuMemFree(address); /* no failure gives memory away */
  return status;
}

tf_status tf_device_free(tf_runtime *runtime, void *pointer) {
  if (!runtime) return TF_INVALID_ARGUMENT;
  if (!pointer) return TF_OK;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = tf_device_give(runtime, device_address(pointer));
  return tf_context_leave(runtime, pushed, status);
}

tf_status tf_device_copy_in(tf_runtime *runtime, void *device, const void *host, size_t bytes, tf_stream stream) {
  if (!runtime || (bytes && (!device || !host))) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = tf_capture_refuse_wait(runtime, (CUstream)stream, "tf_device_copy_in");
  if (status == TF_OK && bytes)
    status = TF_CALL(runtime, cuMemcpyHtoDAsync, device_address(device), host, bytes, (CUstream)stream);
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamSynchronize, (CUstream)stream);
  return tf_context_leave(runtime, pushed, status);
}

tf_status tf_device_copy_out(tf_runtime *runtime, void *host, const void *device, size_t bytes, tf_stream stream) {
  if (!runtime || (bytes && (!device || !host))) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = tf_capture_refuse_wait(runtime, (CUstream)stream, "tf_device_copy_out");
  if (status == TF_OK && bytes)
    status = TF_CALL(runtime, cuMemcpyDtoHAsync, host, device_address(device), bytes, (CUstream)stream);
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamSynchronize, (CUstream)stream);
  return tf_context_leave(runtime, pushed, status);
}

tf_status tf_stream_create(tf_runtime *runtime, tf_stream *out) {
  if (!runtime || !out) return TF_INVALID_ARGUMENT;
  bool pushed;
  CUstream stream = NULL;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK)
    *out = stream;
  else if (stream)
    (void)runtime->driver.cuStreamDestroy(stream);
  return status;
}

tf_status tf_stream_destroy(tf_runtime *runtime, tf_stream stream) {
  if (!runtime) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  unsigned long long counters = 0;
  if (status == TF_OK) status = tf_barrier_stream(runtime, (CUstream)stream, &counters);
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamDestroy, (CUstream)stream);
  if (status == TF_OK) status = tf_barrier_forget_stream(runtime, counters);
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK) tf_recent_forget_stream(runtime, (CUstream)stream);
  return status;
}

tf_status tf_stream_synchronize(tf_runtime *runtime, tf_stream stream) {
  if (!runtime) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = tf_capture_refuse_wait(runtime, (CUstream)stream, "tf_stream_synchronize");
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamSynchronize, (CUstream)stream);
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK) tf_recent_forget_stream(runtime, (CUstream)stream);
  return status;
}
