/* A simulated sm_80 behind a driver table with a context and a small module, for tests of the Driver API. */
#ifndef TF_TEST_DRIVERFIXTURE_H
#define TF_TEST_DRIVERFIXTURE_H

#include "Runtime/SimDriver.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
/* add: x[tid] += v; fault: writes to address 16. */
__attribute__((unused)) static const char ptx[] = HEAD
    ".visible .entry add(.param .u64 x, .param .u32 v) { .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; "
    "ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2; "
    "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret; }\n"
    ".visible .entry fault() { .reg .b64 %rd; mov.u64 %rd, 16; st.global.u32 [%rd], 1; ret; }\n";

static tf_driver d;
static CUcontext context;
static CUmodule module;
static CUfunction add, fault;

#define OK(call)       ck_assert_int_eq(call, CUDA_SUCCESS)
#define IS(call, what) ck_assert_int_eq(call, CUDA_ERROR_##what)

__attribute__((unused)) static void open_device(void) {
  ck_assert_int_eq(tf_sim_driver_open("sm_80", NULL, &d), TF_OK);
  OK(d.cuInit(0));
  OK(d.cuCtxCreate(&context, 0, 0));
  OK(d.cuModuleLoadData(&module, ptx));
  OK(d.cuModuleGetFunction(&add, module, "add"));
  OK(d.cuModuleGetFunction(&fault, module, "fault"));
}

__attribute__((unused)) static void close_device(void) {
  d.close(&d);
}

__attribute__((unused)) static CUdeviceptr words(unsigned count, unsigned value) {
  CUdeviceptr x;
  OK(d.cuMemAlloc(&x, 4 * count));
  OK(d.cuMemsetD32(x, value, count));
  return x;
}

__attribute__((unused)) static void expect(CUdeviceptr x, unsigned count, unsigned value) {
  for (unsigned i = 0; i < count; i++) {
    unsigned got = ~value;
    OK(d.cuMemcpyDtoH(&got, x + 4 * i, 4));
    ck_assert_uint_eq(got, value);
  }
}

#endif
