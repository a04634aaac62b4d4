/* The CUDA Driver API over the simulated device, used as a driver-API program would. */
#include "Harness.h"
#include "Runtime/SimDriver.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* scale: y[i] = a * x[i]; poke: writes 64 KiB past the end; dyn: needs dynamic shared memory. */
static const char ptx[] =
    HEAD ".global .u32 g = 7;\n.visible .entry scale(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n{ "
         ".reg .pred %p; .reg .b32 "
         "%r<5>; .reg .f32 %f<4>; .reg .b64 %rd<6>;\nld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, "
         "[y]; ld.param.u32 %r1, [n];\n"
         "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r2, %r3, %r4, %r2; setp.ge.u32 "
         "%p, %r2, %r1; @%p ret;\n"
         "mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; ld.global.f32 %f2, [%rd4]; "
         "mul.f32 %f3, %f2, %f1; st.global.f32 "
         "[%rd5], %f3; ret; }\n"
         ".visible .entry poke(.param .u64 x) { .reg .b64 %rd; ld.param.u64 %rd, [x];\nst.global.u32 [%rd+65536], 1; "
         "ret; }\n"
         ".extern .shared .align 4 .b8 s[];\n.visible .entry dyn(.param .u64 x) { .reg .b32 %r<3>; .reg .b64 %rd; "
         "ld.param.u64 %rd, [x]; mov.u32 %r1, 5; "
         "st.shared.u32 [s+60000], %r1; ld.shared.u32 %r2, [s+60000]; st.global.u32 [%rd], %r2; ret; }\n"
         ".visible .entry stop() { trap; }\n";

static tf_driver d;
static CUcontext context;
static CUmodule module;

#define OK(call) ck_assert_int_eq(call, CUDA_SUCCESS)

static void set_up(void) {
  CUdevice device;
  ck_assert_int_eq(tf_sim_driver_open("sm_80", &(tf_sim_options){.counters = true}, &d), TF_OK);
  OK(d.cuInit(0));
  OK(d.cuDeviceGet(&device, 0));
  OK(d.cuDevicePrimaryCtxRetain(&context, device));
  OK(d.cuCtxSetCurrent(context));
  OK(d.cuModuleLoadData(&module, ptx));
}

static void tear_down(void) {
  d.close(&d);
}

START_TEST(copies_and_launches) {
  float x[100], y[100], a = 2.5f;
  CUdeviceptr dx, dy;
  CUfunction f;
  unsigned n = 100;
  for (int i = 0; i < 100; i++)
    x[i] = (float)(i * i) - 50.25f;
  OK(d.cuMemAlloc(&dx, sizeof x));
  OK(d.cuMemAlloc(&dy, sizeof y));
  OK(d.cuMemcpyHtoD(dx, x, sizeof x));
  OK(d.cuMemsetD32(dy, 0xFFFFFFFF, 100));
  OK(d.cuModuleGetFunction(&f, module, "scale"));
  void *params[] = {&a, &dx, &dy, &n};
  OK(d.cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
  OK(d.cuMemcpyDtoH(y, dy, sizeof y));
  for (int i = 0; i < 100; i++)
    ck_assert(y[i] == x[i] * 2.5f);
  struct {
    float a;
    CUdeviceptr x, y;
    unsigned n;
  } packed = {-1.0f, dy, dx, 100};
  size_t size = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(d.cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
  OK(d.cuMemcpyDtoH(x, dx, sizeof x));
  for (int i = 0; i < 100; i++)
    ck_assert(x[i] == -y[i]);
  OK(d.cuMemFree(dx));
  ck_assert_int_eq(d.cuMemFree(dx), CUDA_ERROR_INVALID_VALUE);
  ck_assert_int_eq(d.cuMemcpyDtoH(x, dx, 4), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(modules_and_attributes) {
  CUdeviceptr g;
  CUfunction f;
  CUmodule other;
  size_t bytes;
  int value;
  unsigned count;
  OK(d.cuModuleGetGlobal(&g, &bytes, module, "g"));
  ck_assert_uint_eq(bytes, 4);
  OK(d.cuMemcpyDtoH(&value, g, 4));
  ck_assert_int_eq(value, 7);
  ck_assert_int_eq(d.cuModuleGetFunction(&f, module, "nope"), CUDA_ERROR_NOT_FOUND);
  ck_assert_int_eq(d.cuModuleGetGlobal(&g, &bytes, module, "nope"), CUDA_ERROR_NOT_FOUND);
  OK(d.cuModuleGetFunctionCount(&count, module));
  ck_assert_uint_eq(count, 4);
  char log[200];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  ck_assert_int_eq(d.cuModuleLoadDataEx(&other, HEAD ".entry k() { bad; }", 2, options, values),
                   CUDA_ERROR_INVALID_PTX);
  ck_assert_msg(strncmp(log, "line 4: 'bad'", 13) == 0, "%s", log);
  ck_assert_uint_eq((size_t)values[1], strlen(log));
  ck_assert_int_eq(d.cuModuleLoadData(&other, ".version 99.0\n.target sm_80\n"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  ck_assert_int_eq(d.cuModuleLoadData(&other, ".version 8.0\n.target sm_90\n"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  ck_assert_int_eq(d.cuModuleLoadData(&other, "\177ELF"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  OK(d.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  ck_assert_int_eq(value, 108);
  OK(d.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  ck_assert_int_eq(value, 8);
  ck_assert_int_eq(d.cuDeviceGet(&value, 1), CUDA_ERROR_INVALID_DEVICE);
}
END_TEST

START_TEST(dynamic_shared_needs_opting_in) {
  CUdeviceptr x;
  CUfunction f;
  int value, blocks;
  OK(d.cuMemAlloc(&x, 4));
  OK(d.cuModuleGetFunction(&f, module, "dyn"));
  void *params[] = {&x};
  ck_assert_int_eq(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 61440, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  ck_assert_int_eq(d.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 166913),
                   CUDA_ERROR_INVALID_VALUE);
  OK(d.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 61440));
  OK(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 61440, NULL, params, NULL));
  OK(d.cuMemcpyDtoH(&value, x, 4));
  ck_assert_int_eq(value, 5);
  OK(d.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 61440));
  ck_assert_int_eq(blocks, 2); /* 164 KiB hold two CTAs of 61 KiB */
}
END_TEST

/* A fault is seen by the next synchronisation, is told once with its place, and sticks: even what releases something
 * returns it, until the context is reset. */
START_TEST(faults_stick) {
  CUdeviceptr x, y;
  CUfunction f;
  char account[1024];
  OK(d.cuMemAlloc(&x, 256));
  OK(d.cuModuleGetFunction(&f, module, "poke"));
  void *params[] = {&x};
  OK(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  ck_assert_int_eq(d.cuStreamSynchronize(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
  ck_assert_int_eq(d.cuMemAlloc(&y, 256), CUDA_ERROR_ILLEGAL_ADDRESS);
  ck_assert_int_eq(d.take_fault(&d, account, sizeof account), TF_CHECKER);
  ck_assert_ptr_nonnull(strstr(account, "kernel 'poke'"));
  ck_assert_ptr_nonnull(strstr(account, "PTX line 11"));
  ck_assert_int_eq(d.take_fault(&d, account, sizeof account), TF_OK);
  ck_assert_int_eq(d.cuMemFree(x), CUDA_ERROR_ILLEGAL_ADDRESS);
  ck_assert_int_eq(d.cuModuleUnload(module), CUDA_ERROR_ILLEGAL_ADDRESS);
  OK(d.cuDevicePrimaryCtxReset(0));
  OK(d.cuCtxSynchronize());
  OK(d.cuModuleLoadData(&module, ptx));
  OK(d.cuModuleGetFunction(&f, module, "stop"));
  OK(d.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  ck_assert_int_eq(d.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  ck_assert_int_eq(d.take_fault(&d, account, sizeof account), TF_TRAP);
}
END_TEST

static void note(void *data) {
  ++*(int *)data;
}

START_TEST(streams_events_graphs) {
  CUstream s;
  CUevent a, b;
  CUgraph graph;
  CUgraphExec exec;
  CUdeviceptr x;
  float ms, scale = 3.0f;
  unsigned n = 8;
  int calls = 0;
  float host[8];
  CUfunction f;
  OK(d.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(d.cuEventCreate(&a, 0));
  OK(d.cuEventCreate(&b, 0));
  OK(d.cuMemAlloc(&x, 32));
  OK(d.cuModuleGetFunction(&f, module, "scale"));
  OK(d.cuMemsetD32Async(x, 0x3F800000, 8, s));
  void *params[] = {&scale, &x, &x, &n};
  OK(d.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(d.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, params, NULL));
  OK(d.cuLaunchHostFunc(s, note, &calls));
  OK(d.cuStreamEndCapture(s, &graph));
  scale = 100.0f; /* captured by value */
  OK(d.cuMemcpyDtoH(host, x, 32));
  ck_assert(host[7] == 1.0f && calls == 0);
  OK(d.cuGraphInstantiate(&exec, graph, 0));
  OK(d.cuGraphDestroy(graph));
  OK(d.cuEventRecord(a, s));
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuGraphLaunch(exec, s));
  OK(d.cuEventRecord(b, s));
  OK(d.cuEventSynchronize(b));
  OK(d.cuEventElapsedTime(&ms, a, b));
  ck_assert(ms >= 0);
  OK(d.cuMemcpyDtoH(host, x, 32));
  ck_assert(host[0] == 9.0f && host[7] == 9.0f && calls == 2);
  OK(d.cuGraphExecDestroy(exec));
  OK(d.cuStreamDestroy(s));
  ck_assert_int_eq(d.cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(host_memory) {
  float *x;
  CUdeviceptr m;
  CUfunction f;
  unsigned n = 4, type;
  float a = 2.0f;
  OK(d.cuMemAllocHost((void **)&x, 16));
  OK(d.cuMemAllocManaged(&m, 16, CU_MEM_ATTACH_GLOBAL));
  for (int i = 0; i < 4; i++)
    x[i] = (float)i + 0.5f;
  OK(d.cuModuleGetFunction(&f, module, "scale"));
  void *params[] = {&a, &x, &m, &n};
  OK(d.cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, NULL, params, NULL));
  for (int i = 0; i < 4; i++)
    ck_assert(((float *)(uintptr_t)m)[i] == 2 * x[i]);
  OK(d.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)x));
  ck_assert_uint_eq(type, CU_MEMORYTYPE_HOST);
  OK(d.cuMemFreeHost(x));
  OK(d.cuMemFree(m));
  float pitched[3][8] = {{0}}, dense[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  CUdeviceptr p;
  OK(d.cuMemAlloc(&p, sizeof pitched));
  OK(d.cuMemsetD8(p, 0, sizeof pitched));
  CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                     .srcHost = dense,
                     .srcPitch = 16,
                     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                     .dstDevice = p,
                     .dstPitch = 32,
                     .dstXInBytes = 8,
                     .WidthInBytes = 16,
                     .Height = 3};
  OK(d.cuMemcpy2D(&c));
  OK(d.cuMemcpyDtoH(pitched, p, sizeof pitched));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 8; j++)
      ck_assert(pitched[i][j] == (j >= 2 && j < 6 ? dense[i][j - 2] : 0));
}
END_TEST

/* Two tables are two devices; a table's counters are its own. */
START_TEST(tables_are_separate) {
  tf_driver e;
  CUcontext c, now;
  CUdeviceptr x;
  char *text;
  int major;
  ck_assert_int_eq(tf_sim_driver_open("sm_90", NULL, &e), TF_OK);
  ck_assert_int_eq(e.cuDeviceGetCount(&major), CUDA_ERROR_NOT_INITIALIZED);
  OK(e.cuInit(0));
  OK(e.cuCtxGetCurrent(&now));
  ck_assert_ptr_null(now);
  ck_assert_int_eq(e.cuMemAlloc(&x, 4), CUDA_ERROR_INVALID_CONTEXT);
  OK(e.cuCtxCreate(&c, 0, 0));
  OK(e.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  ck_assert_int_eq(major, 9);
  OK(e.cuMemAlloc(&x, 4));
  OK(d.cuCtxGetCurrent(&now));
  ck_assert_ptr_eq(now, context);
  ck_assert_int_eq(tf_sim_driver_counters(&e, true, &text), TF_UNSUPPORTED);
  e.close(&e);
  copies_and_launches_fn(0);
  ck_assert_int_eq(tf_sim_driver_counters(&d, true, &text), TF_OK);
  ck_assert_ptr_nonnull(strstr(text, "\"name\": \"scale\", \"launches\": 2, \"counters\": {\"warp_instructions\": "));
  free(text);
  ck_assert_int_eq(tf_sim_driver_open("sm_1", NULL, &e), TF_UNSUPPORTED);
}
END_TEST

int main(void) {
  TCase *c = tcase_create("driver");
  tcase_add_checked_fixture(c, set_up, tear_down);
  tcase_add_test(c, copies_and_launches);
  tcase_add_test(c, modules_and_attributes);
  tcase_add_test(c, dynamic_shared_needs_opting_in);
  tcase_add_test(c, faults_stick);
  tcase_add_test(c, streams_events_graphs);
  tcase_add_test(c, host_memory);
  tcase_add_test(c, tables_are_separate);
  return run_case("Sim driver", c);
}
