/* Device memory and streams: the driver's calls under the runtime's context. */
#include "Runtime/RuntimeImpl.h"

static CUdeviceptr device_address(const void *pointer) {
  return (CUdeviceptr)(uintptr_t)pointer;
}

tf_status tf_device_alloc(tf_runtime *runtime, size_t bytes, void **out) {
  if (!runtime || !out) return TF_INVALID_ARGUMENT;
  bool pushed;
  CUdeviceptr address = 0;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = TF_CALL(runtime, cuMemAlloc, &address, bytes ? bytes : 1);
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
  if (status == TF_OK) status = TF_CALL(runtime, cuMemFree, device_address(pointer));
  return tf_context_leave(runtime, pushed, status);
}

tf_status tf_device_copy_in(tf_runtime *runtime, void *device, const void *host, size_t bytes, tf_stream stream) {
  if (!runtime || (bytes && (!device || !host))) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK && bytes)
    status = TF_CALL(runtime, cuMemcpyHtoDAsync, device_address(device), host, bytes, (CUstream)stream);
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamSynchronize, (CUstream)stream);
  return tf_context_leave(runtime, pushed, status);
}

tf_status tf_device_copy_out(tf_runtime *runtime, void *host, const void *device, size_t bytes, tf_stream stream) {
  if (!runtime || (bytes && (!device || !host))) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
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
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamDestroy, (CUstream)stream);
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK) tf_recent_forget_stream(runtime, (CUstream)stream);
  return status;
}

tf_status tf_stream_synchronize(tf_runtime *runtime, tf_stream stream) {
  if (!runtime) return TF_INVALID_ARGUMENT;
  bool pushed;
  tf_status status = tf_context_enter(runtime, &pushed);
  if (status == TF_OK) status = TF_CALL(runtime, cuStreamSynchronize, (CUstream)stream);
  status = tf_context_leave(runtime, pushed, status);
  if (status == TF_OK) tf_recent_forget_stream(runtime, (CUstream)stream);
  return status;
}
