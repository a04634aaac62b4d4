/* Errors, initialisation, the device and its attributes. There is one device, ordinal 0. */
#include "Sim/Driver/State.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult tf_sim_cuGetErrorString(CUresult error, const char **text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = tf_sim_result_text(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuGetErrorName(CUresult error, const char **name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = tf_sim_result_name(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_now()->initialized = true;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDriverGetVersion(int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = TF_SIM_VERSION;
  return CUDA_SUCCESS;
}

CUresult tf_sim_from_status(tf_status status) {
  switch (status) {
  case TF_OK:
    return CUDA_SUCCESS;
  case TF_OUT_OF_MEMORY:
    return CUDA_ERROR_OUT_OF_MEMORY;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult tf_sim_check_device(CUdevice dev) {
  if (!tf_sim_now()->initialized) return CUDA_ERROR_NOT_INITIALIZED;
  return dev == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult tf_sim_cuDeviceGet(CUdevice *dev, int ordinal) {
  TF_SIM_DEVICE_CALL(ordinal, dev);
  *dev = 0;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetCount(int *count) {
  TF_SIM_DEVICE_CALL(0, count);
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetName(char *name, int len, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, name);
  if (len <= 0) return CUDA_ERROR_INVALID_VALUE;
  (void)snprintf(name, (size_t)len, "simulated %s", tf_sim_now()->profile->name);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, uuid);
  memset(uuid, 0, sizeof *uuid);
  (void)snprintf(uuid->bytes, sizeof uuid->bytes, "tfsim %s", tf_sim_now()->profile->name);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
  return tf_sim_cuDeviceGetUuid(uuid, dev);
}

CUresult tf_sim_cuDeviceTotalMem(size_t *bytes, CUdevice dev) {
  uint64_t available, total;
  TF_SIM_DEVICE_CALL(dev, bytes);
  tf_sim_memory_info(tf_sim_now()->device, &available, &total);
  *bytes = total;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, major, minor);
  *major = (int)tf_sim_now()->profile->sm / 10;
  *minor = (int)tf_sim_now()->profile->sm % 10;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetPCIBusId(char *id, int len, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, id);
  if (len < 13) return CUDA_ERROR_INVALID_VALUE;
  (void)snprintf(id, (size_t)len, "0000:00:00.0");
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer) {
  TF_SIM_DEVICE_CALL(dev, can);
  TF_SIM_DEVICE_CALL(peer, can);
  *can = 0;
  return CUDA_SUCCESS;
}

/* Attributes with a value of their own; all others that the API knows are 0: the device lacks the ability. */
static int attribute_value(const tf_sim_profile *p, CUdevice_attribute a) {
  static const int ones[] = {
      CU_DEVICE_ATTRIBUTE_GPU_OVERLAP,
      CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
      CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
      CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
      CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
      CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
      CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT,
      CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
      CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED,
      CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS,
  };
  const struct {
    int attribute;
    unsigned value;
  } values[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, p->shared_per_block},
      {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT32_MAX},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, p->clock_khz},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, p->multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, p->memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, p->bus_bits},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, p->l2_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, p->max_threads_per_sm},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, p->sm / 10},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, p->sm % 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, p->shared_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, p->registers_per_sm},
      {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, p->f32_lanes / p->f64_lanes},
      {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, (unsigned)-1},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, p->shared_optin},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, p->max_blocks_per_sm},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, p->reserved_shared},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, p->max_cluster > 0},
  };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i].attribute == (int)a) return (int)values[i].value;
  for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
    if (ones[i] == (int)a) return 1;
  return 0;
}

static bool is_attribute(CUdevice_attribute attribute) {
  static const int known[] = {
#define TF_CUDA_DEVICE_ATTRIBUTE(name, value) value,
#include "Runtime/CudaConstants.def"
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i] == (int)attribute) return true;
  return false;
}

CUresult tf_sim_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, value);
  if (!is_attribute(attribute)) return CUDA_ERROR_INVALID_VALUE;
  *value = attribute_value(tf_sim_now()->profile, attribute);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetProperties(CUdevprop *properties, CUdevice dev) {
  TF_SIM_DEVICE_CALL(dev, properties);
  const tf_sim_profile *p = tf_sim_now()->profile;
  *properties = (CUdevprop){.maxThreadsPerBlock = 1024,
                            .maxThreadsDim = {1024, 1024, 64},
                            .maxGridSize = {INT32_MAX, 65535, 65535},
                            .sharedMemPerBlock = (int)p->shared_per_block,
                            .totalConstantMemory = 65536,
                            .SIMDWidth = 32,
                            .memPitch = INT32_MAX,
                            .regsPerBlock = 65536,
                            .clockRate = (int)p->clock_khz,
                            .textureAlign = 512};
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetByPCIBusId(CUdevice *dev, const char *id) {
  TF_SIM_DEVICE_CALL(0, dev, id);
  const char *device = strchr(id, ':') == strrchr(id, ':') ? id : strchr(id, ':') + 1; /* the domain may be left out */
  if (strcmp(device, "00:00.0") != 0 && strcmp(device, "00:00") != 0) return CUDA_ERROR_INVALID_DEVICE;
  *dev = 0;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice src, CUdevice dst) {
  TF_SIM_DEVICE_CALL(src, value);
  if (attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
      attribute > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
    return CUDA_ERROR_INVALID_VALUE;
  return dst == 0 ? CUDA_ERROR_INVALID_DEVICE : tf_sim_check_device(dst); /* a device is not its own peer */
}
