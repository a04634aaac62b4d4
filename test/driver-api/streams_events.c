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

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  CUfunction scale;
  CUstream up = NULL, down = NULL;
  CUevent start = NULL, end = NULL, ready[CHUNKS] = {NULL};
  CUdeviceptr x = 0;
  float *host = NULL, by = 2.5f, ms = -1;
  int least, greatest, priority, calls = 0;
  unsigned n = N / CHUNKS, flags;

  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, CU_CTX_SCHED_AUTO, 0));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
  REQUIRE(greatest <= least);
  CHECK(cuStreamCreateWithPriority(&up, CU_STREAM_NON_BLOCKING, greatest));
  CHECK(cuStreamCreate(&down, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamGetPriority(up, &priority));
  REQUIRE(priority == greatest);
  CHECK(cuStreamGetFlags(down, &flags));
  REQUIRE(flags == CU_STREAM_NON_BLOCKING);
  CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
  for (int i = 0; i < CHUNKS; i++)
    CHECK(cuEventCreate(&ready[i], CU_EVENT_DISABLE_TIMING));
  CHECK(cuMemHostAlloc((void **)&host, BYTES, CU_MEMHOSTALLOC_PORTABLE));
  for (int i = 0; i < N; i++)
    host[i] = (float)(i % 1000) * 0.5f;
  CHECK(cuMemAlloc(&x, BYTES));
  EXPECT(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE); /* not recorded yet */

  CHECK(cuEventRecord(start, up));
  for (int i = 0; i < CHUNKS; i++) { /* copied up on one stream, computed and copied back on the other */
    CUdeviceptr part = x + (CUdeviceptr)i * (BYTES / CHUNKS);
    void *params[] = {&part, &by, &n};
    CHECK(cuMemcpyHtoDAsync(part, host + i * (N / CHUNKS), BYTES / CHUNKS, up));
    CHECK(cuEventRecord(ready[i], up));
    CHECK(cuStreamWaitEvent(down, ready[i], 0));
    CHECK(cuLaunchKernel(scale, n / 256, 1, 1, 256, 1, 1, 0, down, params, NULL));
    CHECK(cuMemcpyDtoHAsync(host + i * (N / CHUNKS), part, BYTES / CHUNKS, down));
    CHECK(cuLaunchHostFunc(down, count, &calls));
  }
  CHECK(cuEventRecord(end, down));
  CHECK(cuEventSynchronize(end));
  CHECK(cuStreamSynchronize(down));
  CHECK(cuStreamQuery(up));
  CHECK(cuEventQuery(ready[CHUNKS - 1]));
  CHECK(cuEventElapsedTime(&ms, start, end));
  REQUIRE(ms >= 0 && ms < 60000);
  EXPECT(cuEventElapsedTime(&ms, ready[0], end), CUDA_ERROR_INVALID_HANDLE); /* has no time */
  REQUIRE(calls == CHUNKS);
  for (int i = 0; i < N; i++)
    REQUIRE(host[i] == (float)(i % 1000) * 0.5f * by);
  printf("%d chunks in %.3f ms\n", CHUNKS, (double)ms);

done:
  if (x) RELEASE(cuMemFree(x));
  if (host) RELEASE(cuMemFreeHost(host));
  for (int i = 0; i < CHUNKS; i++)
    if (ready[i]) RELEASE(cuEventDestroy(ready[i]));
  if (start) RELEASE(cuEventDestroy(start));
  if (end) RELEASE(cuEventDestroy(end));
  if (up) RELEASE(cuStreamDestroy(up));
  if (down) RELEASE(cuStreamDestroy(down));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
