/* What the host programs share: errors are told by the call's text and the driver's name for them, and end in `done:`,
 * where everything is released. A program succeeds with status 0. */
#ifndef TF_TEST_DRIVER_HOST_H
#define TF_TEST_DRIVER_HOST_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int status; /* of the program */

static inline void report(const char *call, CUresult result, const char *file, int line) {
  const char *name = NULL, *text = NULL;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS) name = "unknown error";
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS) text = "?";
  fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, name, text);
  status = 1;
}

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    CUresult result_ = (call);                                                                                         \
    if (result_ != CUDA_SUCCESS) {                                                                                     \
      report(#call, result_, __FILE__, __LINE__);                                                                      \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

/* The call must fail with this error. */
#define EXPECT(call, wanted)                                                                                           \
  do {                                                                                                                 \
    CUresult result_ = (call);                                                                                         \
    if (result_ != (wanted)) {                                                                                         \
      report(#call " instead of " #wanted, result_, __FILE__, __LINE__);                                               \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

/* The call must fail with one of two errors: drivers differ. */
#define EXPECT_EITHER(call, wanted, other)                                                                             \
  do {                                                                                                                 \
    CUresult result_ = (call);                                                                                         \
    if (result_ != (wanted) && result_ != (other)) {                                                                   \
      report(#call " instead of " #wanted " or " #other, result_, __FILE__, __LINE__);                                 \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

/* In the part that releases: told, but the rest goes on. */
#define RELEASE(call)                                                                                                  \
  do {                                                                                                                 \
    CUresult result_ = (call);                                                                                         \
    if (result_ != CUDA_SUCCESS) report(#call, result_, __FILE__, __LINE__);                                           \
  } while (0)

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                          \
      status = 1;                                                                                                      \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

/* CUDA 13 gave cuCtxCreate a parameter. */
#if CUDA_VERSION >= 13000
#define CREATE_CONTEXT(ctx, flags, dev) cuCtxCreate((ctx), NULL, (flags), (dev))
#else
#define CREATE_CONTEXT(ctx, flags, dev) cuCtxCreate((ctx), (flags), (dev))
#endif

#define PTX_HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

/* %r1: the thread's index in the grid; leaves if it is not below the parameter n. */
#define PTX_INDEX                                                                                                      \
  ".reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<8>;\n"                                          \
  "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"                 \
  "ld.param.u32 %r4, [n]; setp.ge.u32 %p1, %r1, %r4; @%p1 ret;\n"

#endif
