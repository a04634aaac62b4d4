/* Opening a device of a driver table: context, limits, and the guard that makes the context current during a call. */
#include <stdio.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

/* ---- Context ----------------------------------------------------------------------------------------------------- */

tf_status tf_context_enter(tf_runtime *rt, bool *pushed) {
  *pushed = false;
  if (!rt->open) return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "no device is open");
  CUcontext current = NULL;
  tf_status status = TF_CALL(rt, cuCtxGetCurrent, &current);
  if (status != TF_OK || current == rt->context) return status;
  status = TF_CALL(rt, cuCtxPushCurrent, rt->context);
  *pushed = status == TF_OK;
  return status;
}

tf_status tf_context_leave(tf_runtime *rt, bool pushed, tf_status status) {
  CUcontext popped;
  tf_status left = pushed ? TF_CALL(rt, cuCtxPopCurrent, &popped) : TF_OK;
  return status != TF_OK ? status : left;
}

/* The caller's current context if it is on the wanted device, else the primary one. */
static tf_status choose_context(tf_runtime *rt, int ordinal) {
  CUcontext current = NULL;
  CUdevice device = 0;
  tf_status status = TF_CALL(rt, cuCtxGetCurrent, &current);
  if (status == TF_OK && current) status = TF_CALL(rt, cuCtxGetDevice, &device);
  if (status == TF_OK && ordinal >= 0) {
    CUdevice wanted;
    status = TF_CALL(rt, cuDeviceGet, &wanted, ordinal);
    if (status == TF_OK && device != wanted) current = NULL;
    device = wanted;
  } else if (status == TF_OK && !current) {
    status = TF_CALL(rt, cuDeviceGet, &device, 0);
  }
  if (status != TF_OK) return status;
  rt->device = device;
  rt->context = current;
  if (current) return TF_OK;
  status = TF_CALL(rt, cuDevicePrimaryCtxRetain, &rt->context, device);
  rt->owns_primary = status == TF_OK;
  return status;
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

#define MEMORY_IN_GRAPHS 11040 /* version of the driver */

enum {
  LIMIT_MAJOR,
  LIMIT_MINOR,
  LIMIT_SMS,
  LIMIT_THREADS,
  LIMIT_BLOCK_X,
  LIMIT_BLOCK_Y,
  LIMIT_BLOCK_Z,
  LIMIT_GRID_X,
  LIMIT_GRID_Y,
  LIMIT_GRID_Z,
  LIMIT_SHARED,
  LIMIT_OPTIN,
  LIMIT_COOPERATIVE,
  LIMIT_CLUSTER,
  LIMIT_POOLS,
  LIMIT_COUNT
};

static const CUdevice_attribute limit_attributes[LIMIT_COUNT] = {
    [LIMIT_MAJOR] = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    [LIMIT_MINOR] = CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    [LIMIT_SMS] = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    [LIMIT_THREADS] = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    [LIMIT_BLOCK_X] = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    [LIMIT_BLOCK_Y] = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    [LIMIT_BLOCK_Z] = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    [LIMIT_GRID_X] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    [LIMIT_GRID_Y] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
    [LIMIT_GRID_Z] = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    [LIMIT_SHARED] = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
    [LIMIT_OPTIN] = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    [LIMIT_COOPERATIVE] = CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
    [LIMIT_CLUSTER] = CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
    [LIMIT_POOLS] = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
};

/* An attribute that an old driver does not know is a feature that it does not have. */
static tf_status read_limits(tf_runtime *rt, unsigned value[LIMIT_COUNT]) {
  for (unsigned i = 0; i < LIMIT_COUNT; i++) {
    int v = 0;
    CUresult result = rt->driver.cuDeviceGetAttribute(&v, limit_attributes[i], rt->device);
    if (result != CUDA_SUCCESS && !(result == CUDA_ERROR_INVALID_VALUE && i >= LIMIT_OPTIN))
      return tf_runtime_check(rt, result, "cuDeviceGetAttribute");
    value[i] = (unsigned)(v > 0 ? v : 0);
  }
  return TF_OK;
}

static tf_status fill_info(tf_runtime *rt) {
  unsigned v[LIMIT_COUNT];
  tf_status status = read_limits(rt, v);
  if (status == TF_OK) status = TF_CALL(rt, cuDeviceGetName, rt->name, (int)sizeof rt->name - 1, rt->device);
  if (status == TF_OK) status = TF_CALL(rt, cuDriverGetVersion, &rt->driver_version);
  if (status != TF_OK) return status;
  rt->graph_memory = v[LIMIT_POOLS] != 0 && rt->driver_version >= MEMORY_IN_GRAPHS;
  rt->info = (tf_device_info){
      .name = rt->name,
      .device = {.device_type = kDLCUDA, .device_id = rt->driver.is_sim ? 0 : rt->device},
      .compute = v[LIMIT_MAJOR] * 10 + v[LIMIT_MINOR],
      .simulated = rt->driver.is_sim != 0,
      .sm_count = v[LIMIT_SMS],
      .max_threads_per_block = v[LIMIT_THREADS],
      .max_block = {v[LIMIT_BLOCK_X], v[LIMIT_BLOCK_Y], v[LIMIT_BLOCK_Z]},
      .max_grid = {v[LIMIT_GRID_X], v[LIMIT_GRID_Y], v[LIMIT_GRID_Z]},
      .shared_per_block = v[LIMIT_SHARED],
      .shared_per_block_optin = v[LIMIT_OPTIN] ? v[LIMIT_OPTIN] : v[LIMIT_SHARED],
      .cooperative_launch = v[LIMIT_COOPERATIVE] != 0,
      .cluster_launch = v[LIMIT_CLUSTER] != 0,
  };
  return TF_OK;
}

/* ---- Open and close ---------------------------------------------------------------------------------------------- */

static tf_status open_device(tf_runtime *rt, int ordinal) {
  int count = 0;
  tf_status status = TF_CALL(rt, cuInit, 0);
  if (status == TF_OK) status = TF_CALL(rt, cuDeviceGetCount, &count);
  if (status == TF_OK && count == 0) status = tf_runtime_fail(rt, TF_DRIVER, "the CUDA driver has no device");
  if (status == TF_OK && ordinal >= count)
    status = tf_runtime_fail(rt, TF_DRIVER, "there is no CUDA device %d; the driver has %d", ordinal, count);
  if (status == TF_OK) status = choose_context(rt, ordinal);
  return status == TF_OK ? fill_info(rt) : status;
}

tf_status tf_device_attach(tf_runtime *rt, const tf_driver *driver, int ordinal) {
  rt->driver = *driver;
  tf_status status = open_device(rt, ordinal);
  rt->open = status == TF_OK;
  if (status != TF_OK) tf_device_detach(rt);
  return status;
}

void tf_device_detach(tf_runtime *rt) {
  if (rt->open) tf_barrier_release(rt);
  if (rt->owns_primary) (void)rt->driver.cuDevicePrimaryCtxRelease(rt->device);
  tf_driver_close(&rt->driver);
  rt->open = rt->owns_primary = false;
  rt->context = NULL;
}

tf_status tf_device_get_info(tf_runtime *runtime, tf_device_info *out) {
  if (!runtime || !out) return TF_INVALID_ARGUMENT;
  if (!runtime->open) return tf_runtime_fail(runtime, TF_INVALID_ARGUMENT, "no device is open");
  *out = runtime->info;
  return TF_OK;
}
