/* The CUDA Driver API's types, declared by ourselves: no part of the project needs NVIDIA's headers to build.
 *
 * Names, values and layouts are facts of the published interface. They are compared one by one with cuda.h in a
 * translation unit of its own wherever the toolkit is installed (test/unit/Runtime/CudaHeaderTest.c); this header and
 * cuda.h can therefore never be included together. Enumerators come from CudaConstants.def, function prototypes from
 * DriverAPI.def, the numbers that the layout check uses from CudaLayouts.def.
 */
#ifndef TF_RUNTIME_CUDATYPES_H
#define TF_RUNTIME_CUDATYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CUresult {
#define TF_CUDA_RESULT(name, value, text) name = (value),
#include "Runtime/CudaConstants.def"
} CUresult;

/* A result that is the fault of a kernel that ran, or of the device, not of the call that returns it: the context is lost. */
static inline bool tf_cuda_is_device_fault(CUresult result) {
  switch ((int)result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    return true;
  default:
    return false;
  }
}

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
typedef unsigned CUdevice_P2PAttribute;
typedef unsigned CUsharedconfig;
typedef unsigned CUjitInputType;
typedef unsigned CUlibraryOption;
typedef unsigned CUmem_advise;
typedef unsigned CUmem_range_attribute;
typedef unsigned CUmemPool_attribute;
typedef unsigned CUmemAccess_flags;
typedef unsigned CUmemLocationType;
typedef unsigned CUmemAllocationType;
typedef unsigned CUmemAllocationHandleType;
typedef unsigned CUgraphNodeType;
typedef unsigned CUgraphExecUpdateResult;
typedef unsigned CUgraphInstantiateResult;
typedef unsigned CUmoduleLoadingMode;
typedef unsigned CUfunctionLoadingState;
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
typedef struct CUuserObject_st *CUuserObject;
typedef struct CUarray_st *CUarray;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
/* Only ever passed as null here. */
typedef struct CUctxCreateParams CUctxCreateParams;
typedef struct CUexecAffinityParam CUexecAffinityParam;

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

typedef CUlaunchAttributeID CUstreamAttrID;
typedef CUlaunchAttributeValue CUstreamAttrValue;

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

typedef struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

/* Parameters of graph nodes. A kernel's without and with the two members of CUDA 12. */
typedef struct CUDA_KERNEL_NODE_PARAMS_v1 {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
  CUkernel kern; /* instead of func where that is null */
  CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height; /* elements, rows */
} CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS {
  CUhostFn fn;
  void *userData;
} CUDA_HOST_NODE_PARAMS;

typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS {
  cuuint64_t flags;
  CUstream hUploadStream;
  CUgraphNode hErrNode_out;
  CUgraphInstantiateResult result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

typedef struct CUgraphExecUpdateResultInfo {
  CUgraphExecUpdateResult result;
  CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;

typedef struct CUgraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;

typedef struct CUmemLocation {
  CUmemLocationType type;
  int id;
} CUmemLocation;

typedef struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef struct CUmemPoolProps {
  CUmemAllocationType allocType;
  CUmemAllocationHandleType handleTypes;
  CUmemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} CUmemPoolProps;

typedef struct CUDA_MEM_ALLOC_NODE_PARAMS {
  CUmemPoolProps poolProps;
  const CUmemAccessDesc *accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  CUdeviceptr dptr; /* out */
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct CUdevprop {
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int sharedMemPerBlock, totalConstantMemory, SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
} CUdevprop;

#endif
