/* Streams and events: two streams that hand over to each other, asynchronous copies of pinned memory, timing, priorities,
 * host functions. */
#include "host.h"

static const char ptx[] = PTX_HEAD ".visible .entry scale(.param .u64 x, .param .f32 by, .param .u32 n) {\n" PTX_INDEX
                                   "ld.param.u64 %rd1, [x]; ld.param.f32 %f1, [by]; mul.wide.u32 %rd2, %r1, 4;\n"
                                   "add.u64 %rd1, %rd1, %rd2; ld.global.f32 %f2, [%rd1]; mul.f32 %f2, %f2, %f1;\n"
                                   "st.global.f32 [%rd1], %f2; ret; }\n";

enum { N = 4096, BYTES = N * sizeof(float), CHUNKS = 4 };

static void CUDA_CB count(void *calls) {
  ++*(int *)calls;
}

typedef struct pipeline {
  CUfunction scale;
  CUstream up, down;
  CUevent ready[CHUNKS];
  CUdeviceptr x;
  float *host, by;
} pipeline;

/* Copied up on one stream, computed and copied back on the other. */
static CUresult run_chunk(pipeline *p, int i, int *calls) {
  CUdeviceptr part = p->x + (CUdeviceptr)i * (BYTES / CHUNKS);
  float *host = p->host + i * (N / CHUNKS);
  unsigned n = N / CHUNKS;
  void *params[] = {&part, &p->by, &n};
  CUresult r = cuMemcpyHtoDAsync(part, host, BYTES / CHUNKS, p->up);
  if (r == CUDA_SUCCESS) r = cuEventRecord(p->ready[i], p->up);
  if (r == CUDA_SUCCESS) r = cuStreamWaitEvent(p->down, p->ready[i], 0);
  if (r == CUDA_SUCCESS) r = cuLaunchKernel(p->scale, n / 256, 1, 1, 256, 1, 1, 0, p->down, params, NULL);
  if (r == CUDA_SUCCESS) r = cuMemcpyDtoHAsync(host, part, BYTES / CHUNKS, p->down);
  return r == CUDA_SUCCESS ? cuLaunchHostFunc(p->down, count, calls) : r;
}

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  pipeline p = {.by = 2.5f};
  CUevent start = NULL, end = NULL;
  float ms = -1;
  int least, greatest, priority, calls = 0;
  unsigned flags;

  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, CU_CTX_SCHED_AUTO, 0));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&p.scale, module, "scale"));
  CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
  REQUIRE(greatest <= least);
  CHECK(cuStreamCreateWithPriority(&p.up, CU_STREAM_NON_BLOCKING, greatest));
  CHECK(cuStreamCreate(&p.down, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamGetPriority(p.up, &priority));
  REQUIRE(priority == greatest);
  CHECK(cuStreamGetFlags(p.down, &flags));
  REQUIRE(flags == CU_STREAM_NON_BLOCKING);
  CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
  for (int i = 0; i < CHUNKS; i++)
    CHECK(cuEventCreate(&p.ready[i], CU_EVENT_DISABLE_TIMING));
  CHECK(cuMemHostAlloc((void **)&p.host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
  for (int i = 0; i < N; i++)
    p.host[i] = (float)(i % 1000) * 0.5f;
  CHECK(cuMemAlloc(&p.x, BYTES));
  EXPECT(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE); /* not recorded yet */

  CHECK(cuEventRecord(start, p.up));
  for (int i = 0; i < CHUNKS; i++)
    CHECK(run_chunk(&p, i, &calls));
  CHECK(cuEventRecord(end, p.down));
  CHECK(cuEventSynchronize(end));
  CHECK(cuStreamSynchronize(p.down));
  CHECK(cuStreamQuery(p.up));
  CHECK(cuEventQuery(p.ready[CHUNKS - 1]));
  CHECK(cuEventElapsedTime(&ms, start, end));
  REQUIRE(ms >= 0 && ms < 60000);
  EXPECT(cuEventElapsedTime(&ms, p.ready[0], end), CUDA_ERROR_INVALID_HANDLE); /* has no time */
  REQUIRE(calls == CHUNKS);
  for (int i = 0; i < N; i++)
    REQUIRE(p.host[i] == (float)(i % 1000) * 0.5f * p.by);
  printf("%d chunks in %.3f ms\n", CHUNKS, (double)ms);

done:
  if (p.x) RELEASE(cuMemFree(p.x));
  if (p.host) RELEASE(cuMemFreeHost(p.host));
  for (int i = 0; i < CHUNKS; i++)
    if (p.ready[i]) RELEASE(cuEventDestroy(p.ready[i]));
  if (start) RELEASE(cuEventDestroy(start));
  if (end) RELEASE(cuEventDestroy(end));
  if (p.up) RELEASE(cuStreamDestroy(p.up));
  if (p.down) RELEASE(cuStreamDestroy(p.down));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
