#include "FakeCapture.h"

#include <stdlib.h>

#include "FakeDriver.h"

/* User objects of the graph. */
struct CUuserObject_st {
  CUhostFn destroy;
  void *data;
};
static CUuserObject kept[64];
static _Thread_local CUstreamCaptureMode thread_mode;

void fake_end_graph(void) {
  for (int i = 0; i < 64; i++) {
    if (!kept[i]) continue;
    kept[i]->destroy(kept[i]->data);
    free(kept[i]);
    kept[i] = NULL;
    fake.live_objects--;
  }
}

void fake_reset_mode(void) {
  thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
}

bool fake_is_captured(CUstream stream) {
  return fake.capturing && (!fake.captured_stream || fake.captured_stream == stream);
}

CUresult fake_forbid(bool forbidden) {
  if (!forbidden) return CUDA_SUCCESS;
  __atomic_fetch_add(&fake.forbidden, 1, __ATOMIC_RELAXED);
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult fake_check_safe(void) {
  return fake_forbid(fake.capturing && thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED);
}

static CUresult do_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *exchanged) {
  CUstreamCaptureMode before = thread_mode;
  thread_mode = *exchanged;
  *exchanged = before;
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  *status = fake_is_captured(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

static CUresult do_cuStreamGetCaptureInfo_v1(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id) {
  if (fake_is_captured(stream)) *id = 77;
  return do_cuStreamIsCapturing(stream, status);
}

static CUresult do_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies, size_t *count) {
  (void)id, (void)dependencies, (void)count;
  if (fake_is_captured(stream)) *graph = (CUgraph)(void *)kept;
  return do_cuStreamIsCapturing(stream, status);
}

static CUresult do_cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy, unsigned count,
                                      unsigned flags) {
  if (count != 1 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) return CUDA_ERROR_INVALID_VALUE;
  *object = malloc(sizeof **object);
  **object = (struct CUuserObject_st){destroy, data};
  fake.live_objects++;
  return CUDA_SUCCESS;
}

static CUresult do_cuUserObjectRelease(CUuserObject object, unsigned count) {
  if (count != 1) return CUDA_ERROR_INVALID_VALUE;
  object->destroy(object->data);
  free(object);
  fake.live_objects--;
  return CUDA_SUCCESS;
}

static CUresult do_cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  if (graph != (CUgraph)(void *)kept || count != 1 || flags != CU_GRAPH_USER_OBJECT_MOVE)
    return CUDA_ERROR_INVALID_VALUE;
  int i = 0;
  while (kept[i])
    i++;
  kept[i] = object;
  return CUDA_SUCCESS;
}

static CUresult do_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  (void)stream;
  fake.host_nodes++;
  function(data);
  return CUDA_SUCCESS;
}

void fake_implement_captures(tf_driver *table) {
  table->cuStreamIsCapturing = do_cuStreamIsCapturing;
  table->cuStreamGetCaptureInfo_v1 = do_cuStreamGetCaptureInfo_v1;
  table->cuStreamGetCaptureInfo = do_cuStreamGetCaptureInfo;
  table->cuThreadExchangeStreamCaptureMode = do_cuThreadExchangeStreamCaptureMode;
  table->cuUserObjectCreate = do_cuUserObjectCreate;
  table->cuUserObjectRelease = do_cuUserObjectRelease;
  table->cuGraphRetainUserObject = do_cuGraphRetainUserObject;
  table->cuLaunchHostFunc = do_cuLaunchHostFunc;
}
