/* A graph by stream capture with a fork and a join, replayed, given other parameters in place, and updated from a second
 * capture; and the same work as a graph that is built node by node. */
#include "host.h"

/* x[i] = x[i] * m + a */
static const char ptx[] =
    PTX_HEAD ".visible .entry step(.param .u64 x, .param .u32 m, .param .u32 a, .param .u32 n) {\n" PTX_INDEX
             "ld.param.u64 %rd1, [x]; ld.param.u32 %r5, [m]; ld.param.u32 %r6, [a]; mul.wide.u32 %rd2, %r1, 4;\n"
             "add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r7, [%rd1]; mad.lo.u32 %r7, %r7, %r5, %r6;\n"
             "st.global.u32 [%rd1], %r7; ret; }\n";

enum { N = 300 };

typedef struct job {
  CUfunction step;
  CUstream stream, side;
  CUevent fork, join;
  CUdeviceptr x, y;
} job;

static CUresult step(const job *j, CUstream stream, CUdeviceptr x, unsigned m, unsigned a) {
  unsigned n = N;
  void *params[] = {&x, &m, &a, &n};
  return cuLaunchKernel(j->step, 3, 1, 1, 128, 1, 1, 0, stream, params, NULL);
}

/* x and y on two branches; then x as y left it, times 10. */
static CUresult capture(const job *j, unsigned a, CUgraph *graph) {
  CUresult r = cuStreamBeginCapture(j->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), ended;
  if (r != CUDA_SUCCESS) return r;
  if (r == CUDA_SUCCESS) r = cuMemsetD32Async(j->x, 1, N, j->stream);
  if (r == CUDA_SUCCESS) r = cuEventRecord(j->fork, j->stream);
  if (r == CUDA_SUCCESS) r = cuStreamWaitEvent(j->side, j->fork, 0);
  if (r == CUDA_SUCCESS) r = step(j, j->stream, j->x, 2, a);
  if (r == CUDA_SUCCESS) r = step(j, j->side, j->y, 1, 1);
  if (r == CUDA_SUCCESS) r = cuEventRecord(j->join, j->side);
  if (r == CUDA_SUCCESS) r = cuStreamWaitEvent(j->stream, j->join, 0);
  if (r == CUDA_SUCCESS) r = step(j, j->stream, j->x, 10, 0);
  ended = cuStreamEndCapture(j->stream, graph);
  return r == CUDA_SUCCESS ? ended : r;
}

static CUresult fetch(CUdeviceptr from, unsigned *out) {
  return cuMemcpyDtoH(out, from + 4 * (N - 1), 4);
}

/* Captured, replayed, updated from another capture. */
static void captured(const job *j) {
  CUgraph graph = NULL, other = NULL;
  CUgraphExec exec = NULL;
  CUgraphNode nodes[8];
  CUstreamCaptureStatus capturing;
  CUgraphExecUpdateResultInfo info;
  size_t count = 8;
  unsigned got;
  CHECK(capture(j, 5, &graph));
  CHECK(cuStreamIsCapturing(j->stream, &capturing));
  REQUIRE(capturing == CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK(fetch(j->y, &got));
  REQUIRE(got == 0); /* nothing has run */
  CHECK(cuGraphGetNodes(graph, nodes, &count));
  REQUIRE(count == 4);
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++)
    CHECK(cuGraphLaunch(exec, j->stream));
  CHECK(cuStreamSynchronize(j->stream));
  CHECK(fetch(j->x, &got));
  REQUIRE(got == (1 * 2 + 5) * 10);
  CHECK(fetch(j->y, &got));
  REQUIRE(got == 3);

  CHECK(capture(j, 6, &other));
  CHECK(cuGraphExecUpdate(exec, other, &info));
  CHECK(cuGraphLaunch(exec, j->stream));
  CHECK(cuStreamSynchronize(j->stream));
  CHECK(fetch(j->x, &got));
  REQUIRE(got == (1 * 2 + 6) * 10);
  printf("%zu nodes captured, replayed and updated\n", count);
done:
  if (exec) RELEASE(cuGraphExecDestroy(exec));
  if (graph) RELEASE(cuGraphDestroy(graph));
  if (other) RELEASE(cuGraphDestroy(other));
}

/* Node by node, with a parameter changed in place. */
static void built(const job *j, CUcontext ctx) {
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUgraphNode set, kernel;
  CUdeviceptr x = j->x;
  unsigned got, n = N, m = 3, a = 4;
  void *params[] = {&x, &m, &a, &n};
  CUDA_MEMSET_NODE_PARAMS fill = {.dst = x, .value = 7, .elementSize = 4, .width = N, .height = 1};
  CUDA_KERNEL_NODE_PARAMS launch = {.func = j->step,
                                    .gridDimX = 3,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 128,
                                    .blockDimY = 1,
                                    .blockDimZ = 1,
                                    .kernelParams = params};
  CHECK(cuGraphCreate(&graph, 0));
  CHECK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &fill, ctx));
  CHECK(cuGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, j->stream));
  CHECK(cuStreamSynchronize(j->stream));
  CHECK(fetch(x, &got));
  REQUIRE(got == 7 * 3 + 4);
  a = 100; /* for the executable graph only */
  CHECK(cuGraphExecKernelNodeSetParams(exec, kernel, &launch));
  CHECK(cuGraphLaunch(exec, j->stream));
  CHECK(cuStreamSynchronize(j->stream));
  CHECK(fetch(x, &got));
  REQUIRE(got == 7 * 3 + 100);
done:
  if (exec) RELEASE(cuGraphExecDestroy(exec));
  if (graph) RELEASE(cuGraphDestroy(graph));
}

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  job j = {0};
  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, 0, 0));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&j.step, module, "step"));
  CHECK(cuStreamCreate(&j.stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamCreate(&j.side, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&j.fork, CU_EVENT_DISABLE_TIMING));
  CHECK(cuEventCreate(&j.join, CU_EVENT_DISABLE_TIMING));
  CHECK(cuMemAlloc(&j.x, 4 * N));
  CHECK(cuMemAlloc(&j.y, 4 * N));
  CHECK(cuMemsetD32(j.y, 0, N));
  captured(&j);
  if (!status) built(&j, ctx);
done:
  if (j.x) RELEASE(cuMemFree(j.x));
  if (j.y) RELEASE(cuMemFree(j.y));
  if (j.fork) RELEASE(cuEventDestroy(j.fork));
  if (j.join) RELEASE(cuEventDestroy(j.join));
  if (j.stream) RELEASE(cuStreamDestroy(j.stream));
  if (j.side) RELEASE(cuStreamDestroy(j.side));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
