/* What graphs own: memory by nodes, captured or added, and objects of the program. */
#include "DriverFixture.h"

#include "Harness.h"

static CUstream s;

static void open_stream(void) {
  open_device();
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
}

static size_t free_bytes(void) {
  size_t available, total;
  OK(d.cuMemGetInfo(&available, &total));
  return available;
}

static CUgraphExec instantiated(CUgraph graph, unsigned long long flags) {
  CUgraphExec exec;
  OK(d.cuGraphInstantiate(&exec, graph, flags));
  return exec;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

/* tmp = alloc; tmp[0] = value; x[0] = tmp[0]; a free of it if `frees`. */
static CUgraph capture_alloc(CUdeviceptr x, unsigned value, bool frees, CUdeviceptr *tmp) {
  CUgraph graph;
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(d.cuMemAllocAsync(tmp, 1000, s));
  OK(d.cuMemsetD32Async(*tmp, value, 1, s));
  OK(d.cuMemcpyDtoDAsync(x, *tmp, 4, s));
  if (frees) OK(d.cuMemFreeAsync(*tmp, s));
  OK(d.cuStreamEndCapture(s, &graph));
  return graph;
}

/* There is memory from the allocation to the release only, at the same address each time. */
START_TEST(lifetimes) {
  CUdeviceptr x = words(1, 0), tmp, other;
  size_t before = free_bytes();
  unsigned got;
  CUgraph graph = capture_alloc(x, 5, true, &tmp);
  CUgraphExec exec = instantiated(graph, 0);
  ck_assert_uint_eq(free_bytes(), before);
  IS(d.cuMemsetD32(tmp, 1, 1), INVALID_VALUE);
  IS(d.cuMemcpyDtoH(&got, tmp, 4), INVALID_VALUE);
  IS(d.cuMemcpyHtoD(tmp, &got, 4), INVALID_VALUE);
  IS(d.cuMemcpy(tmp, x, 4), INVALID_VALUE);
  for (unsigned i = 0; i < 3; i++) {
    OK(d.cuMemsetD32(x, 0, 1));
    OK(d.cuGraphLaunch(exec, s));
    expect(x, 1, 5);
    ck_assert_uint_eq(free_bytes(), before);
  }
  IS(d.cuMemFree(tmp), INVALID_VALUE);
  OK(d.cuMemAlloc(&other, 1000));
  ck_assert_uint_ne(other, tmp); /* the address stays the graph's */
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuGraphExecDestroy(exec));
  OK(d.cuGraphDestroy(graph));
}
END_TEST

/* What a launch leaves is freed by the program, by another graph, or by the next launch. */
START_TEST(left_behind) {
  CUdeviceptr x = words(1, 0), tmp, again;
  size_t before = free_bytes();
  CUgraph graph = capture_alloc(x, 6, false, &tmp), second;
  CUgraphExec exec = instantiated(graph, 0), freeing;
  CUgraphNode node;
  OK(d.cuGraphLaunch(exec, s));
  ck_assert_uint_eq(free_bytes(), before - 1000);
  expect(tmp, 1, 6);
  IS(d.cuGraphLaunch(exec, s), INVALID_VALUE);
  OK(d.cuMemFreeAsync(tmp, s));
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuMemFree(tmp));
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuGraphCreate(&second, 0));
  OK(d.cuGraphAddMemFreeNode(&node, second, NULL, 0, tmp));
  OK(d.cuGraphMemFreeNodeGetParams(node, &again));
  ck_assert_uint_eq(again, tmp);
  freeing = instantiated(second, 0);
  OK(d.cuGraphLaunch(freeing, s));
  ck_assert_uint_eq(free_bytes(), before);
  OK(d.cuGraphExecDestroy(exec));
  exec = instantiated(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuGraphLaunch(exec, s));
  ck_assert_uint_eq(free_bytes(), before - 1000);
}
END_TEST

/* alloc ─▸ set ─▸ copy ─▸ free, node by node. */
START_TEST(added_nodes) {
  CUdeviceptr x = words(1, 0), twice;
  CUgraph graph, other;
  CUgraphNode alloc, set, copy, release, node;
  CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = 64}, got;
  OK(d.cuGraphCreate(&graph, 0));
  OK(d.cuGraphCreate(&other, 0));
  IS(d.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params), INVALID_VALUE);
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  IS(d.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params), INVALID_VALUE);
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  OK(d.cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  CUDA_MEMSET_NODE_PARAMS m = {.dst = params.dptr, .value = 40, .elementSize = 4, .width = 4, .height = 1};
  CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                     .srcDevice = params.dptr + 8,
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = x,
                     .WidthInBytes = 4,
                     .Height = 1,
                     .Depth = 1};
  OK(d.cuGraphAddMemsetNode(&set, graph, &alloc, 1, &m, context));
  OK(d.cuGraphAddMemcpyNode(&copy, graph, &set, 1, &c, context));
  OK(d.cuGraphAddMemFreeNode(&release, graph, &copy, 1, params.dptr));
  OK(d.cuGraphMemAllocNodeGetParams(alloc, &got));
  ck_assert(got.dptr == params.dptr && got.bytesize == 64);
  IS(d.cuGraphMemAllocNodeGetParams(set, &got), INVALID_VALUE);
  IS(d.cuGraphMemFreeNodeGetParams(alloc, &twice), INVALID_VALUE);
  IS(d.cuGraphAddMemFreeNode(&node, graph, &copy, 1, params.dptr), INVALID_VALUE); /* twice */
  IS(d.cuGraphAddMemFreeNode(&node, other, NULL, 0, params.dptr), INVALID_VALUE);  /* elsewhere too */
  IS(d.cuGraphAddMemFreeNode(&node, graph, NULL, 0, x), INVALID_VALUE);
  IS(d.cuGraphAddMemFreeNode(&node, graph, NULL, 0, params.dptr + 8), INVALID_VALUE);
  CUgraphExec exec = instantiated(graph, 0);
  for (int i = 0; i < 2; i++) {
    OK(d.cuMemsetD32(x, 0, 1));
    OK(d.cuGraphLaunch(exec, s));
    expect(x, 1, 40);
  }
}
END_TEST

START_TEST(restrictions) {
  CUdeviceptr x = words(1, 0), tmp, mine;
  CUgraph graph = capture_alloc(x, 5, true, &tmp), clone, parent, same;
  CUgraphExec exec = instantiated(graph, 0), second;
  CUgraphNode node, nodes[8];
  CUgraphExecUpdateResultInfo info;
  size_t count = 8;
  IS(d.cuGraphClone(&clone, graph), NOT_SUPPORTED);
  IS(d.cuGraphInstantiate(&second, graph, 0), NOT_SUPPORTED);
  OK(d.cuGraphCreate(&parent, 0));
  IS(d.cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph), NOT_SUPPORTED);
  OK(d.cuGraphGetNodes(graph, nodes, &count));
  IS(d.cuGraphDestroyNode(nodes[1]), NOT_SUPPORTED);
  IS(d.cuGraphExecUpdate(exec, graph, &info), GRAPH_EXEC_UPDATE_FAILURE);
  ck_assert_uint_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
  OK(d.cuStreamBeginCapture(s, 0));
  IS(d.cuGraphLaunch(exec, s), NOT_SUPPORTED);
  IS(d.cuMemFreeAsync(x, s), INVALID_VALUE); /* no graph's */
  IS(d.cuMemFreeAsync(tmp, s), INVALID_VALUE);
  OK(d.cuMemAllocAsync(&mine, 4, s));
  OK(d.cuMemFreeAsync(mine, s));
  IS(d.cuMemFreeAsync(mine, s), INVALID_VALUE);
  OK(d.cuStreamEndCapture(s, &same));
  OK(d.cuGraphExecDestroy(exec));
  OK(d.cuGraphInstantiate(&second, graph, 0)); /* now it is the only one */
  OK(d.cuGraphLaunch(second, s));
  expect(x, 1, 5);
}
END_TEST

/* A kernel that uses the memory after its release is at fault. */
START_TEST(used_after_release) {
  CUgraph graph;
  CUdeviceptr tmp;
  unsigned v = 1;
  void *params[] = {&tmp, &v};
  OK(d.cuStreamBeginCapture(s, 0));
  OK(d.cuMemAllocAsync(&tmp, 4, s));
  OK(d.cuMemsetD32Async(tmp, 0, 1, s));
  OK(d.cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
  OK(d.cuMemFreeAsync(tmp, s));
  OK(d.cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
  OK(d.cuStreamEndCapture(s, &graph));
  CUgraphExec exec = instantiated(graph, 0);
  (void)d.cuGraphLaunch(exec, s);
  IS(d.cuStreamSynchronize(s), ILLEGAL_ADDRESS);
}
END_TEST

/* A question about the legacy stream does not end the capture of a blocking one, work on it does. */
START_TEST(legacy_stream) {
  CUstream blocking;
  CUgraph graph;
  CUstreamCaptureStatus status;
  OK(d.cuStreamCreate(&blocking, 0));
  OK(d.cuStreamBeginCapture(blocking, 0));
  IS(d.cuStreamIsCapturing(NULL, &status), STREAM_CAPTURE_IMPLICIT);
  OK(d.cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status));
  ck_assert_uint_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
  OK(d.cuStreamIsCapturing(blocking, &status));
  ck_assert_uint_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(d.cuStreamEndCapture(blocking, &graph));
}
END_TEST

/* ---- Objects ------------------------------------------------------------------------------------------------------ */

static int destroyed;

static void destroy(void *data) {
  destroyed += *(int *)data;
}

/* The last reference decides, whoever has it. */
START_TEST(objects) {
  int one = 1, ten = 10;
  CUuserObject a, b;
  CUgraph graph, clone, parent;
  CUgraphNode node;
  destroyed = 0;
  OK(d.cuUserObjectCreate(&a, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(d.cuUserObjectCreate(&b, &ten, destroy, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(d.cuGraphCreate(&graph, 0));
  OK(d.cuGraphRetainUserObject(graph, a, 1, CU_GRAPH_USER_OBJECT_MOVE));
  OK(d.cuGraphRetainUserObject(graph, b, 3, 0));
  OK(d.cuUserObjectRelease(b, 2));
  OK(d.cuGraphReleaseUserObject(graph, b, 2));
  IS(d.cuGraphReleaseUserObject(graph, b, 2), INVALID_VALUE);
  ck_assert_int_eq(destroyed, 0);
  OK(d.cuGraphAddEmptyNode(&node, graph, NULL, 0));
  CUgraphExec exec = instantiated(graph, 0);
  OK(d.cuGraphClone(&clone, graph));
  OK(d.cuGraphReleaseUserObject(clone, a, 1));
  OK(d.cuGraphCreate(&parent, 0));
  OK(d.cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
  OK(d.cuGraphDestroy(graph));
  OK(d.cuGraphExecDestroy(exec));
  ck_assert_int_eq(destroyed, 0);
  OK(d.cuGraphDestroy(parent));
  ck_assert_int_eq(destroyed, 1); /* the clone gave it up */
  OK(d.cuUserObjectRetain(b, 1));
  OK(d.cuGraphDestroy(clone));
  ck_assert_int_eq(destroyed, 1);
  OK(d.cuUserObjectRelease(b, 1));
  ck_assert_int_eq(destroyed, 11);
  IS(d.cuUserObjectRelease(b, 1), INVALID_VALUE);
}
END_TEST

/* An update brings the new graph's objects and gives the old one's up. */
START_TEST(updated_objects) {
  int one = 1, ten = 10;
  CUuserObject a, b;
  CUgraph graphs[2];
  CUgraphNode node;
  CUgraphExecUpdateResultInfo info;
  destroyed = 0;
  OK(d.cuUserObjectCreate(&a, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(d.cuUserObjectCreate(&b, &ten, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  for (int i = 0; i < 2; i++) {
    OK(d.cuGraphCreate(&graphs[i], 0));
    OK(d.cuGraphAddEmptyNode(&node, graphs[i], NULL, 0));
    OK(d.cuGraphRetainUserObject(graphs[i], i ? b : a, 1, CU_GRAPH_USER_OBJECT_MOVE));
  }
  CUgraphExec exec = instantiated(graphs[0], 0);
  OK(d.cuGraphDestroy(graphs[0]));
  OK(d.cuGraphExecUpdate(exec, graphs[1], &info));
  ck_assert_int_eq(destroyed, 1);
  OK(d.cuGraphDestroy(graphs[1]));
  ck_assert_int_eq(destroyed, 1);
  OK(d.cuGraphExecDestroy(exec));
  ck_assert_int_eq(destroyed, 11);
}
END_TEST

/* Retained while it is being captured, by the graph that the stream tells. */
START_TEST(captured_objects) {
  int one = 1;
  CUuserObject a;
  CUgraph graph = NULL, same;
  CUstreamCaptureStatus status;
  destroyed = 0;
  OK(d.cuStreamBeginCapture(s, 0));
  OK(d.cuStreamGetCaptureInfo(s, &status, NULL, &graph, NULL, NULL));
  OK(d.cuUserObjectCreate(&a, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(d.cuGraphRetainUserObject(graph, a, 1, CU_GRAPH_USER_OBJECT_MOVE));
  IS(d.cuStreamSynchronize(s), STREAM_CAPTURE_UNSUPPORTED);
  IS(d.cuStreamEndCapture(s, &same), STREAM_CAPTURE_INVALIDATED);
  ck_assert_int_eq(destroyed, 1);
  IS(d.cuUserObjectCreate(&a, &one, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), INVALID_VALUE);
  IS(d.cuUserObjectCreate(&a, &one, destroy, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), INVALID_VALUE);
  IS(d.cuUserObjectCreate(&a, &one, destroy, 1, 0), INVALID_VALUE);
  /* One that is still there when the device goes is left alone. */
  OK(d.cuUserObjectCreate(&a, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
}
END_TEST

int main(void) {
  TCase *c = tcase_create("graph memory");
  tcase_add_checked_fixture(c, open_stream, close_device);
  tcase_add_test(c, lifetimes);
  tcase_add_test(c, left_behind);
  tcase_add_test(c, added_nodes);
  tcase_add_test(c, restrictions);
  tcase_add_test(c, used_after_release);
  tcase_add_test(c, legacy_stream);
  tcase_add_test(c, objects);
  tcase_add_test(c, updated_objects);
  tcase_add_test(c, captured_objects);
  return run_case("Sim graph memory", c);
}
