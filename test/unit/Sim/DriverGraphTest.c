/* Stream capture and graphs of the CUDA Driver API over the simulated device. Expectations are the driver's documentation. */
#include "DriverFixture.h"
#include "Harness.h"

/* ---- Capture ------------------------------------------------------------------------------------------------------ */

static void launch_add(CUstream s, CUdeviceptr x, unsigned value) {
  void *params[] = {&x, &value};
  OK(d.cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
}

/* origin: +1 ── fork ── +2 ─────── join ── +8 ; other: ── +4 ──┘. Nothing runs before the graph does. */
START_TEST(fork_and_join) {
  CUstream s, t;
  CUevent forked, back;
  CUgraph graph, captured;
  CUgraphExec exec;
  CUgraphNode nodes[8], from[8], to[8];
  CUstreamCaptureStatus status;
  CUdeviceptr x = words(1, 0);
  cuuint64_t id;
  const CUgraphNode *needs;
  size_t count = 8;
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  OK(d.cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
  OK(d.cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch_add(s, x, 1);
  OK(d.cuEventRecord(forked, s));
  OK(d.cuStreamWaitEvent(t, forked, 0));
  OK(d.cuStreamIsCapturing(t, &status));
  ck_assert_uint_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  launch_add(s, x, 2);
  launch_add(t, x, 4);
  IS(d.cuEventQuery(forked), CAPTURED_EVENT);
  OK(d.cuEventRecord(back, t));
  OK(d.cuStreamWaitEvent(s, back, 0));
  OK(d.cuStreamGetCaptureInfo(s, &status, &id, &captured, &needs, &count));
  ck_assert_uint_eq(count, 2);
  launch_add(s, x, 8);
  IS(d.cuStreamEndCapture(t, &graph), STREAM_CAPTURE_UNMATCHED);
  OK(d.cuStreamEndCapture(s, &graph));
  ck_assert_ptr_eq(graph, captured);
  OK(d.cuStreamIsCapturing(t, &status));
  ck_assert_uint_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
  expect(x, 1, 0);
  count = 8;
  OK(d.cuGraphGetNodes(graph, nodes, &count));
  ck_assert_uint_eq(count, 4);
  count = 8;
  OK(d.cuGraphGetEdges(graph, from, to, &count));
  ck_assert_uint_eq(count, 4);
  count = 8;
  OK(d.cuGraphGetRootNodes(graph, nodes, &count));
  ck_assert_uint_eq(count, 1);
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuGraphLaunch(exec, s));
  expect(x, 1, 30);
}
END_TEST

START_TEST(bad_captures) {
  CUstream s, t;
  CUevent e, before;
  CUgraph graph = (CUgraph)1;
  CUdeviceptr x = words(1, 0);
  CUstreamCaptureStatus status;
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  OK(d.cuEventCreate(&e, 0));
  OK(d.cuEventCreate(&before, 0));
  OK(d.cuEventRecord(before, t));
  IS(d.cuStreamEndCapture(s, &graph), ILLEGAL_STATE);
  IS(d.cuStreamBeginCapture(NULL, 0), STREAM_CAPTURE_UNSUPPORTED);
  /* A stream that joined must come back. */
  OK(d.cuStreamBeginCapture(s, 0));
  IS(d.cuStreamBeginCapture(s, 0), ILLEGAL_STATE);
  OK(d.cuEventRecord(e, s));
  OK(d.cuStreamWaitEvent(t, e, 0));
  launch_add(t, x, 1);
  IS(d.cuStreamEndCapture(s, &graph), STREAM_CAPTURE_UNJOINED);
  ck_assert_ptr_null(graph);
  OK(d.cuStreamSynchronize(t));
  /* Waiting for a capturing stream, or for the context, ends the capture. */
  OK(d.cuStreamBeginCapture(s, 0));
  IS(d.cuStreamSynchronize(s), STREAM_CAPTURE_UNSUPPORTED);
  OK(d.cuStreamIsCapturing(s, &status));
  ck_assert_uint_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  void *params[] = {&x, &status};
  IS(d.cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, params, NULL), STREAM_CAPTURE_INVALIDATED);
  IS(d.cuStreamEndCapture(s, &graph), STREAM_CAPTURE_INVALIDATED);
  OK(d.cuStreamBeginCapture(s, 0));
  IS(d.cuCtxSynchronize(), STREAM_CAPTURE_UNSUPPORTED);
  IS(d.cuStreamEndCapture(s, &graph), STREAM_CAPTURE_INVALIDATED);
  /* An event from outside. */
  OK(d.cuStreamBeginCapture(s, 0));
  IS(d.cuStreamWaitEvent(s, before, 0), STREAM_CAPTURE_ISOLATION);
  IS(d.cuStreamEndCapture(s, &graph), STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(forbidden_calls) {
  CUstream s, t, blocking;
  CUevent e;
  CUgraph graph;
  CUdeviceptr x = words(1, 0), y;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamCreate(&blocking, 0));
  OK(d.cuEventCreate(&e, 0));
  /* Unsafe calls are forbidden, unless the mode allows them. */
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  IS(d.cuMemAlloc(&y, 4), STREAM_CAPTURE_UNSUPPORTED);
  IS(d.cuStreamEndCapture(s, &graph), STREAM_CAPTURE_INVALIDATED);
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(d.cuMemAlloc(&y, 4));
  OK(d.cuStreamEndCapture(s, &graph));
  OK(d.cuGraphDestroy(graph));
  OK(d.cuThreadExchangeStreamCaptureMode(&mode));
  ck_assert_uint_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(d.cuMemFree(y));
  OK(d.cuStreamEndCapture(s, &graph));
  OK(d.cuThreadExchangeStreamCaptureMode(&mode));
  /* The legacy stream synchronises with blocking streams. */
  OK(d.cuStreamBeginCapture(blocking, 0));
  IS(d.cuMemsetD8(x, 0, 4), STREAM_CAPTURE_IMPLICIT);
  IS(d.cuStreamEndCapture(blocking, &graph), STREAM_CAPTURE_INVALIDATED);
  /* Two captures do not mix. */
  OK(d.cuStreamBeginCapture(s, 0));
  OK(d.cuStreamBeginCapture(t, 0));
  OK(d.cuEventRecord(e, s));
  IS(d.cuStreamWaitEvent(t, e, 0), STREAM_CAPTURE_MERGE);
  IS(d.cuStreamEndCapture(s, &graph), STREAM_CAPTURE_INVALIDATED);
  IS(d.cuStreamEndCapture(t, &graph), STREAM_CAPTURE_INVALIDATED);
  /* A capture whose stream goes away goes with it. */
  OK(d.cuStreamBeginCapture(s, 0));
  launch_add(s, x, 1);
  OK(d.cuStreamDestroy(s));
  OK(d.cuMemAlloc(&y, 4));
}
END_TEST

/* Memory that is allocated in a capture has its address at once and lives with the graphs. */
START_TEST(captured_memory) {
  CUstream s;
  CUgraph graph;
  CUgraphExec exec;
  CUdeviceptr x = words(1, 0), tmp;
  CUgraphNode nodes[8];
  CUgraphNodeType type;
  unsigned got;
  size_t count = 8;
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(d.cuMemAllocAsync(&tmp, 4, s));
  OK(d.cuMemsetD32Async(tmp, 5, 1, s));
  launch_add(s, tmp, 2);
  OK(d.cuMemcpyDtoDAsync(x, tmp, 4, s));
  OK(d.cuMemFreeAsync(tmp, s));
  OK(d.cuStreamEndCapture(s, &graph));
  OK(d.cuGraphGetNodes(graph, nodes, &count));
  static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEMSET,
                                          CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
                                          CU_GRAPH_NODE_TYPE_MEM_FREE};
  ck_assert_uint_eq(count, 5);
  for (int i = 0; i < 5; i++) {
    OK(d.cuGraphNodeGetType(nodes[i], &type));
    ck_assert_uint_eq(type, types[i]);
  }
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  OK(d.cuGraphDestroy(graph));
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuGraphLaunch(exec, s));
  expect(x, 1, 7);
  OK(d.cuGraphExecDestroy(exec));
  IS(d.cuMemcpyDtoH(&got, tmp, 4), INVALID_VALUE);
}
END_TEST

/* ---- Graphs ------------------------------------------------------------------------------------------------------- */

static void count_call(void *data) {
  ++*(int *)data;
}

/* set ─▸ add ─▸ copy ─▸ host, the edges made in several ways and in the wrong order. */
START_TEST(built_graphs) {
  CUgraph graph, clone;
  CUgraphNode set, kernel, copy, host, empty, nodes[8];
  CUgraphExec exec, cloned;
  CUdeviceptr x = words(4, 0);
  unsigned value = 3, got[4] = {0}, more = 10;
  int calls = 0;
  size_t count = 8;
  void *params[] = {&x, &value}, *changed[] = {&x, &more};
  CUDA_MEMSET_NODE_PARAMS m = {.dst = x, .value = 40, .elementSize = 4, .width = 4, .height = 1};
  CUDA_KERNEL_NODE_PARAMS k = {.func = add,
                               .gridDimX = 1,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 4,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .kernelParams = params};
  CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = x,
                     .dstMemoryType = CU_MEMORYTYPE_HOST,
                     .dstHost = got,
                     .WidthInBytes = 16,
                     .Height = 1,
                     .Depth = 1};
  CUDA_HOST_NODE_PARAMS h = {count_call, &calls};
  OK(d.cuGraphCreate(&graph, 0));
  OK(d.cuGraphAddHostNode(&host, graph, NULL, 0, &h));
  OK(d.cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &c, context));
  OK(d.cuGraphAddMemsetNode(&set, graph, NULL, 0, &m, context));
  OK(d.cuGraphAddKernelNode(&kernel, graph, &set, 1, &k));
  OK(d.cuGraphAddEmptyNode(&empty, graph, &kernel, 1));
  CUgraphNode from[] = {empty, copy}, to[] = {copy, host};
  OK(d.cuGraphAddDependencies(graph, from, to, 2));
  value = 1000; /* taken when the node was made */
  OK(d.cuGraphClone(&clone, graph));
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  OK(d.cuGraphLaunch(exec, NULL));
  for (int i = 0; i < 4; i++)
    ck_assert_uint_eq(got[i], 43);
  ck_assert_int_eq(calls, 1);
  /* Another value for the kernel, in the executable graph only. */
  CUDA_KERNEL_NODE_PARAMS now;
  OK(d.cuGraphKernelNodeGetParams(kernel, &now));
  ck_assert(now.func == add && now.blockDimX == 4 && *(unsigned *)now.kernelParams[1] == 3);
  k.kernelParams = changed;
  OK(d.cuGraphExecKernelNodeSetParams(exec, kernel, &k));
  m.value = 100;
  OK(d.cuGraphExecMemsetNodeSetParams(exec, set, &m, context));
  OK(d.cuGraphLaunch(exec, NULL));
  ck_assert(got[3] == 110 && calls == 2);
  IS(d.cuGraphExecKernelNodeSetParams(exec, set, &k), INVALID_VALUE); /* no kernel */
  /* The clone is a graph of its own. */
  OK(d.cuGraphDestroyNode(host));
  OK(d.cuGraphGetNodes(graph, nodes, &count));
  ck_assert_uint_eq(count, 4);
  OK(d.cuGraphInstantiate(&cloned, clone, 0));
  OK(d.cuGraphLaunch(cloned, NULL));
  ck_assert(got[0] == 43 && calls == 3);
}
END_TEST

START_TEST(bad_graphs) {
  CUgraph graph, other;
  CUgraphNode a, b, c;
  CUgraphExec exec;
  OK(d.cuGraphCreate(&graph, 0));
  OK(d.cuGraphCreate(&other, 0));
  OK(d.cuGraphAddEmptyNode(&a, graph, NULL, 0));
  OK(d.cuGraphAddEmptyNode(&b, graph, &a, 1));
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  /* A circle cannot be executed. */
  OK(d.cuGraphAddDependencies(graph, &b, &a, 1));
  IS(d.cuGraphInstantiate(&exec, graph, 0), INVALID_VALUE);
  CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
  IS(d.cuGraphInstantiateWithParams(&exec, graph, &p), INVALID_VALUE);
  ck_assert_uint_eq(p.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  IS(d.cuGraphAddEmptyNode(&c, other, &a, 1), INVALID_VALUE); /* another graph's node */
  IS(d.cuGraphAddDependencies(graph, &a, &a, 1), INVALID_VALUE);
  IS(d.cuGraphLaunch((CUgraphExec)(void *)graph, NULL), INVALID_VALUE); /* not executable */
  IS(d.cuGraphDestroy((CUgraph)(void *)exec), INVALID_VALUE);
}
END_TEST

START_TEST(child_graphs) {
  CUgraph child, graph;
  CUgraphNode node, inside;
  CUgraphExec exec, inner;
  CUstream s;
  CUdeviceptr x = words(1, 0);
  unsigned value = 7;
  void *params[] = {&x, &value};
  CUDA_KERNEL_NODE_PARAMS k = {.func = add,
                               .gridDimX = 1,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = 1,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .kernelParams = params};
  OK(d.cuGraphCreate(&child, 0));
  OK(d.cuGraphAddKernelNode(&inside, child, NULL, 0, &k));
  OK(d.cuGraphCreate(&graph, 0));
  OK(d.cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
  OK(d.cuGraphAddChildGraphNode(&node, graph, &node, 1, child));
  IS(d.cuGraphAddChildGraphNode(&node, graph, NULL, 0, graph), INVALID_VALUE);
  OK(d.cuGraphInstantiate(&inner, child, 0));
  OK(d.cuGraphDestroy(child));
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  OK(d.cuGraphLaunch(exec, NULL));
  expect(x, 1, 14);
  /* Launching a graph into a capture makes it a child. */
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamBeginCapture(s, 0));
  OK(d.cuGraphLaunch(inner, s));
  OK(d.cuStreamEndCapture(s, &graph));
  expect(x, 1, 14);
  OK(d.cuGraphExecDestroy(inner));
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  OK(d.cuGraphLaunch(exec, s));
  expect(x, 1, 21);
}
END_TEST

static CUgraph one_kernel(CUdeviceptr x, unsigned value, bool second) {
  CUgraph graph;
  CUstream s;
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuStreamBeginCapture(s, 0));
  launch_add(s, x, value);
  if (second) launch_add(s, x, value);
  OK(d.cuStreamEndCapture(s, &graph));
  return graph;
}

START_TEST(updates) {
  CUdeviceptr x = words(1, 0);
  CUgraph a = one_kernel(x, 1, false), b = one_kernel(x, 100, false), c = one_kernel(x, 1, true), e;
  CUgraphExec exec;
  CUgraphExecUpdateResultInfo info;
  CUgraphNode node;
  CUgraphExecUpdateResult result;
  OK(d.cuGraphInstantiate(&exec, a, 0));
  OK(d.cuGraphExecUpdate(exec, b, &info));
  ck_assert_uint_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  OK(d.cuGraphLaunch(exec, NULL));
  expect(x, 1, 100);
  IS(d.cuGraphExecUpdate(exec, c, &info), GRAPH_EXEC_UPDATE_FAILURE);
  ck_assert_uint_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  OK(d.cuGraphCreate(&e, 0));
  OK(d.cuGraphAddEmptyNode(&node, e, NULL, 0));
  IS(d.cuGraphExecUpdate_v1(exec, e, &node, &result), GRAPH_EXEC_UPDATE_FAILURE);
  ck_assert_uint_eq(result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  OK(d.cuGraphLaunch(exec, NULL)); /* as it was */
  expect(x, 1, 200);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("graphs");
  tcase_add_checked_fixture(c, open_device, close_device);
  tcase_add_test(c, fork_and_join);
  tcase_add_test(c, bad_captures);
  tcase_add_test(c, forbidden_calls);
  tcase_add_test(c, captured_memory);
  tcase_add_test(c, built_graphs);
  tcase_add_test(c, bad_graphs);
  tcase_add_test(c, child_graphs);
  tcase_add_test(c, updates);
  return run_case("Sim driver graphs", c);
}
