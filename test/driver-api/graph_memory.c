/* Graphs that move host memory and own memory: captured copies in and out with replays on new inputs, memory allocated and
 * freed by nodes, left over for the next graph, and host memory that lives as long as the graph needs it. */
#include "host.h"

#include <time.h>

/* x[i] = x[i] * m + a */
static const char ptx[] =
    PTX_HEAD ".visible .entry step(.param .u64 x, .param .u32 m, .param .u32 a, .param .u32 n) {\n" PTX_INDEX
             "ld.param.u64 %rd1, [x]; ld.param.u32 %r5, [m]; ld.param.u32 %r6, [a]; mul.wide.u32 %rd2, %r1, 4;\n"
             "add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r7, [%rd1]; mad.lo.u32 %r7, %r7, %r5, %r6;\n"
             "st.global.u32 [%rd1], %r7; ret; }\n";

enum { N = 300, ROWS = 20, WIDTH = N / ROWS };

typedef struct job {
  CUfunction step;
  CUstream stream;
  unsigned in[N], out[N];
  int freed; /* by a thread of the driver's, some time */
} job;

static CUresult step(const job *j, CUdeviceptr x, unsigned m, unsigned a) {
  unsigned n = N;
  void *params[] = {&x, &m, &a, &n};
  return cuLaunchKernel(j->step, 3, 1, 1, 128, 1, 1, 0, j->stream, params, NULL);
}

/* Some columns of `in`, in all rows: a copy with pitches. */
static CUresult copy_half(const job *j, CUdeviceptr to, unsigned from_column, unsigned to_column, unsigned width) {
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = j->in + from_column,
                     .srcPitch = 4 * WIDTH,
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = to + 4 * to_column,
                     .dstPitch = 4 * WIDTH,
                     .WidthInBytes = 4 * width,
                     .Height = ROWS};
  return cuMemcpy2DAsync(&c, j->stream);
}

/* out = 3 * (in with its columns moved) + 1, through memory of the graph. */
static CUresult capture(job *j, CUgraph *graph, CUdeviceptr *memory) {
  CUresult r = cuStreamBeginCapture(j->stream, CU_STREAM_CAPTURE_MODE_GLOBAL), ended;
  if (r != CUDA_SUCCESS) return r;
  r = cuMemAllocAsync(memory, 4 * N, j->stream);
  if (r == CUDA_SUCCESS) r = copy_half(j, *memory, 0, WIDTH - 8, 8);
  if (r == CUDA_SUCCESS) r = copy_half(j, *memory, 8, 0, WIDTH - 8);
  if (r == CUDA_SUCCESS) r = step(j, *memory, 3, 1);
  if (r == CUDA_SUCCESS) r = cuMemcpyDtoHAsync(j->out, *memory, 4 * N, j->stream);
  if (r == CUDA_SUCCESS) r = cuMemFreeAsync(*memory, j->stream);
  ended = cuStreamEndCapture(j->stream, graph);
  return r == CUDA_SUCCESS ? ended : r;
}

static void replayed(job *j) {
  CUgraph graph = NULL;
  CUgraphExec exec = NULL, second = NULL;
  CUdeviceptr memory;
  CHECK(capture(j, &graph, &memory));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_EITHER(cuGraphInstantiate(&second, graph, 0), CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_INVALID_VALUE);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < N; i++)
      j->in[i] = i * i * 7919 + round * 1000003;
    memset(j->out, 0x5a, sizeof j->out);
    CHECK(cuGraphLaunch(exec, j->stream));
    CHECK(cuStreamSynchronize(j->stream));
    for (unsigned i = 0; i < N; i++) {
      unsigned row = i / WIDTH, column = i % WIDTH;
      REQUIRE(j->out[i] == 3 * j->in[row * WIDTH + (column + 8) % WIDTH] + 1);
    }
  }
  printf("%d numbers through memory of a graph, 3 times\n", N);
done:
  if (exec) RELEASE(cuGraphExecDestroy(exec));
  if (graph) RELEASE(cuGraphDestroy(graph));
}

static void free_for_job(void *data) {
  job *j = *(job **)data;
  free(data);
  __atomic_store_n(&j->freed, 1, __ATOMIC_RELEASE);
}

typedef struct staging {
  job *owner;
  unsigned value[N];
} staging;

static void count_up(void *data) {
  staging *s = data;
  for (unsigned i = 0; i < N; i++)
    s->value[i]++;
}

/* The graph that the stream is being captured into. */
static CUresult graph_of(CUstream stream, CUgraph *graph) {
  CUstreamCaptureStatus capturing;
#if CUDA_VERSION >= 13000
  return cuStreamGetCaptureInfo(stream, &capturing, NULL, graph, NULL, NULL, NULL);
#else
  return cuStreamGetCaptureInfo(stream, &capturing, NULL, graph, NULL, NULL);
#endif
}

/* Host memory that a host node counts up and a copy reads: the graph's, given away while it is being captured. */
static CUresult capture_staged(job *j, CUdeviceptr x, CUgraph *graph) {
  CUgraph open = NULL;
  CUuserObject object = NULL;
  CUresult r = cuStreamBeginCapture(j->stream, CU_STREAM_CAPTURE_MODE_GLOBAL), ended;
  if (r != CUDA_SUCCESS) return r;
  staging *s = calloc(1, sizeof *s);
  if (s) s->owner = j;
  r = s ? graph_of(j->stream, &open) : CUDA_ERROR_OUT_OF_MEMORY;
  if (r == CUDA_SUCCESS) r = cuUserObjectCreate(&object, s, free_for_job, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (r == CUDA_SUCCESS) {
    r = cuGraphRetainUserObject(open, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (r != CUDA_SUCCESS) RELEASE(cuUserObjectRelease(object, 1));
  } else {
    free(s);
  }
  if (r == CUDA_SUCCESS) r = cuLaunchHostFunc(j->stream, count_up, s);
  if (r == CUDA_SUCCESS) r = cuMemcpyHtoDAsync(x, s->value, 4 * N, j->stream);
  ended = cuStreamEndCapture(j->stream, graph);
  return r == CUDA_SUCCESS ? ended : r;
}

static void owned(job *j) {
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUdeviceptr x = 0;
  unsigned got = 0;
  CHECK(cuMemAlloc(&x, 4 * N));
  CHECK(capture_staged(j, x, &graph));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphDestroy(graph));
  graph = NULL;
  for (unsigned round = 1; round < 4; round++) {
    REQUIRE(!__atomic_load_n(&j->freed, __ATOMIC_ACQUIRE));
    CHECK(cuGraphLaunch(exec, j->stream));
    CHECK(cuStreamSynchronize(j->stream));
    CHECK(cuMemcpyDtoH(&got, x + 4 * (N - 1), 4));
    REQUIRE(got == round);
  }
done:
  if (exec) RELEASE(cuGraphExecDestroy(exec));
  if (graph) RELEASE(cuGraphDestroy(graph));
  if (x) RELEASE(cuMemFree(x));
  if (exec && !status) {
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 5000 && !__atomic_load_n(&j->freed, __ATOMIC_ACQUIRE); i++)
      (void)nanosleep(&pause, NULL);
    if (!j->freed) {
      fprintf(stderr, "the graph's object was never destroyed\n");
      status = 1;
    }
  }
}

/* One graph allocates and fills, another frees. */
static void handed_over(job *j, CUcontext ctx) {
  CUgraph first = NULL, second = NULL;
  CUgraphExec make = NULL, give = NULL;
  CUgraphNode alloc, fill, node;
  CUdeviceptr memory = 0;
  bool there = false;
  unsigned got;
  CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = 4 * N};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CHECK(cuGraphCreate(&first, 0));
  CHECK(cuGraphCreate(&second, 0));
  CHECK(cuGraphAddMemAllocNode(&alloc, first, NULL, 0, &params));
  memory = params.dptr;
  CUDA_MEMSET_NODE_PARAMS set = {.dst = memory, .value = 12345, .elementSize = 4, .width = N, .height = 1};
  CHECK(cuGraphAddMemsetNode(&fill, first, &alloc, 1, &set, ctx));
  CHECK(cuGraphAddMemFreeNode(&node, second, NULL, 0, memory));
  EXPECT(cuGraphAddMemFreeNode(&node, second, NULL, 0, memory), CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGraphInstantiate(&make, first, 0));
  CHECK(cuGraphInstantiate(&give, second, 0));
  for (int round = 0; round < 2; round++) {
    CHECK(cuGraphLaunch(make, j->stream));
    there = true;
    EXPECT(cuGraphLaunch(make, j->stream), CUDA_ERROR_INVALID_VALUE); /* it has not been freed */
    CHECK(step(j, memory, 2, 5));
    CHECK(cuMemcpyDtoHAsync(&got, memory + 4 * (N - 1), 4, j->stream));
    CHECK(cuGraphLaunch(give, j->stream));
    there = false;
    CHECK(cuStreamSynchronize(j->stream));
    REQUIRE(got == 2 * 12345 + 5);
  }
done:
  if (there) RELEASE(cuMemFreeAsync(memory, j->stream));
  if (make) RELEASE(cuGraphExecDestroy(make));
  if (give) RELEASE(cuGraphExecDestroy(give));
  if (first) RELEASE(cuGraphDestroy(first));
  if (second) RELEASE(cuGraphDestroy(second));
}

int main(void) {
  CUcontext ctx = NULL;
  CUmodule module = NULL;
  static job j;
  CHECK(cuInit(0));
  CHECK(CREATE_CONTEXT(&ctx, 0, 0));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&j.step, module, "step"));
  CHECK(cuStreamCreate(&j.stream, CU_STREAM_NON_BLOCKING));
  replayed(&j);
  if (!status) owned(&j);
  if (!status) handed_over(&j, ctx);
done:
  if (j.stream) RELEASE(cuStreamDestroy(j.stream));
  if (module) RELEASE(cuModuleUnload(module));
  if (ctx) RELEASE(cuCtxDestroy(ctx));
  return status;
}
