/* The CUDA Driver API's types, declared by ourselves: no part of the project needs NVIDIA's headers to build.
 *
 * Names, values and layouts are facts of the published interface. They are compared one by one with cuda.h in a
 * translation unit of its own wherever the toolkit is installed (test/unit/Runtime/CudaHeaderTest.c); this header and
 * cuda.h can therefore never be included together. Enumerators come from CudaConstants.def, function prototypes from
 * DriverAPI.def, the numbers that the layout check uses from CudaLayouts.def.
 */
#ifndef TF_RUNTIME_CUDATYPES_H
#define TF_RUNTIME_CUDATYPES_H

#include <stddef.h>
#include <stdint.h>

typedef enum CUresult {
#define TF_CUDA_RESULT(name, value, text) name = (value),
#include "Runtime/CudaConstants.def"
} CUresult;

typedef enum CUdevice_attribute {
#define TF_CUDA_DEVICE_ATTRIBUTE(name, value) name = (value),
#include "Runtime/CudaConstants.def"
} CUdevice_attribute;

typedef enum CUfunction_attribute {
#define TF_CUDA_FUNC_ATTRIBUTE(name, value) name = (value),
#include "Runtime/CudaConstants.def"
} CUfunction_attribute;

typedef enum CUjit_option {
#define TF_CUDA_JIT_OPTION(name, value) name = (value),
#include "Runtime/CudaConstants.def"
} CUjit_option;

typedef enum CUlaunchAttributeID {
#define TF_CUDA_LAUNCH_ATTRIBUTE(name, value) name = (value),
#include "Runtime/CudaConstants.def"
} CUlaunchAttributeID;

typedef enum CUpointer_attribute {
#define TF_CUDA_POINTER_ATTRIBUTE(name, value) name = (value),
#include "Runtime/CudaConstants.def"
} CUpointer_attribute;

/* Flags and the small enums; the types below them have an enum's size and signedness. */
enum tf_cuda_flag {
#define TF_CUDA_FLAG(type, name, value) name = (value),
#include "Runtime/CudaConstants.def"
};
typedef unsigned CUstreamCaptureMode;
typedef unsigned CUstreamCaptureStatus;
typedef unsigned CUlimit;
typedef unsigned CUfunc_cache;
typedef unsigned CUmemorytype;
typedef unsigned CUdriverProcAddressQueryResult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef uint64_t cuuint64_t;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUarray_st *CUarray;
typedef struct CUctxCreateParams CUctxCreateParams; /* only ever passed as null here */

typedef void (*CUhostFn)(void *userData);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *userData);
typedef size_t (*CUoccupancyB2DSize)(int blockSize);

/* The two stream handles that name default streams, and the keys of cuLaunchKernel's `extra` list. */
#define CU_STREAM_LEGACY               ((CUstream)0x1)
#define CU_STREAM_PER_THREAD           ((CUstream)0x2)
#define CU_LAUNCH_PARAM_END            ((void *)0x0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)0x2)

typedef struct CUuuid {
  char bytes[16];
} CUuuid;

/* The value of a launch attribute: 64 bytes whatever the attribute; the members are those that we set or read. */
typedef union CUlaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  unsigned clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct {
    CUevent event;
    int flags;
    int triggerAtBlockStart;
  } programmaticEvent;
  int priority;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;    /* CTAs */
  unsigned blockDimX, blockDimY, blockDimZ; /* threads */
  unsigned sharedMemBytes;                  /* dynamic shared memory of a CTA */
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
} CUlaunchConfig;

typedef struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

#endif
