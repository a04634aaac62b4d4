/* Launches and occupancy. A kernel runs to its end in the call that launches it; a fault of it becomes the context's
 * error, which the following calls return, as with a real device. */
#include "Sim/Driver/State.h"

#include <stdlib.h>
#include <string.h>

/* Which of the driver's errors a refused configuration is. */
static CUresult refusal(const tf_sim_work *w, const char *message) {
  const tf_sim_profile *p = tf_sim_now()->profile;
  if (strstr(message, "cooperative")) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  if (strstr(message, "cluster")) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  uint64_t threads = (uint64_t)w->config.blockDimX * w->config.blockDimY * w->config.blockDimZ;
  bool kernel_limit = threads <= 1024 && threads > w->function->info.max_threads;
  if (kernel_limit || w->config.sharedMemBytes + w->function->info.static_shared > p->shared_optin)
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_run_kernel(const tf_sim_work *w) {
  tf_sim_state *s = tf_sim_now();
  const CUlaunchConfig *c = &w->config;
  tf_sim_launch_config config = {.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                 .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                 .cluster = {w->cluster[0], w->cluster[1], w->cluster[2]},
                                 .dynamic_shared = c->sharedMemBytes,
                                 .cooperative = w->cooperative,
                                 .params = w->params,
                                 .param_bytes = w->function->info.param_bytes};
  char message[512];
  tf_sim_report report;
  tf_status status = tf_sim_launch(w->function->function, &config, message, sizeof message, &report);
  if (status == TF_LAUNCH) return refusal(w, message);
  tf_sim_keep_counters(s, w, &report);
  if (status != TF_OK && status != TF_OUT_OF_MEMORY) {
    tf_sim_keep_fault(s, w->function->info.name, &report, status);
    tf_sim_context()->sticky = tf_sim_fault_result(&report);
  }
  tf_sim_report_free(&report);
  return status == TF_OUT_OF_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* Packs the caller's parameters: an array of pointers, or one buffer named in `extra`. */
static CUresult pack(CUfunction f, void **params, void **extra, unsigned char *to) {
  uint64_t bytes = f->info.param_bytes;
  if (extra) {
    const void *buffer = NULL;
    size_t size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END && i < 16; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *(const size_t *)extra[i + 1];
    }
    if (params || !buffer || size < bytes) return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, buffer, bytes);
    return CUDA_SUCCESS;
  }
  uint64_t offset, size;
  for (uint32_t i = 0; tf_sim_function_param(f->function, i, &offset, &size); i++) {
    if (!params || !params[i]) return CUDA_ERROR_INVALID_VALUE;
    memcpy(to + offset, params[i], size);
  }
  return CUDA_SUCCESS;
}

CUresult tf_sim_pack(tf_sim_work *w, void **params, void **extra) {
  CUresult r = tf_sim_check_function(w->function);
  if (r != CUDA_SUCCESS) return r;
  if (w->config.sharedMemBytes > INT32_MAX || (int)w->config.sharedMemBytes > w->function->max_dynamic)
    return CUDA_ERROR_INVALID_VALUE;
  w->params = calloc(1, w->function->info.param_bytes + 1);
  if (!w->params) return CUDA_ERROR_OUT_OF_MEMORY;
  r = pack(w->function, params, extra, w->params);
  if (r != CUDA_SUCCESS) free(w->params);
  return r;
}

static CUresult launch(tf_sim_work *w, void **params, void **extra) {
  CUresult r = tf_sim_pack(w, params, extra);
  if (r != CUDA_SUCCESS) return r;
  r = tf_sim_submit(w->config.hStream, w);
  free(w->params);
  return r;
}

static CUlaunchConfig config_of(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                unsigned shared, CUstream stream) {
  return (CUlaunchConfig){.gridDimX = gx,
                          .gridDimY = gy,
                          .gridDimZ = gz,
                          .blockDimX = bx,
                          .blockDimY = by,
                          .blockDimZ = bz,
                          .sharedMemBytes = shared,
                          .hStream = stream};
}

CUresult tf_sim_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void **params, void **extra) {
  tf_sim_work w = {.kind = TF_WORK_KERNEL, .function = function};
  w.config = config_of(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream);
  return launch(&w, params, extra);
}

CUresult tf_sim_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                          CUstream stream, void **params) {
  tf_sim_work w = {.kind = TF_WORK_KERNEL, .function = function, .cooperative = true};
  w.config = config_of(grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream);
  return launch(&w, params, NULL);
}

/* Attributes that change what runs; the others are hints: of a programmatic dependency nothing is left to do, since the
 * kernel before has ended. The event of one is recorded with the launch. */
static CUresult read_attributes(const CUlaunchConfig *config, tf_sim_work *w, CUevent *event) {
  *event = NULL;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *a = &config->attrs[i];
    if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) w->cooperative = a->value.cooperative;
    if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      w->cluster[0] = a->value.clusterDim.x;
      w->cluster[1] = a->value.clusterDim.y;
      w->cluster[2] = a->value.clusterDim.z;
      if (!w->cluster[0] || !w->cluster[1] || !w->cluster[2]) return CUDA_ERROR_INVALID_VALUE;
    }
    if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || a->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      *event = a->value.programmaticEvent.event;
    if (a->id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return *event ? tf_sim_check_event(*event) : CUDA_SUCCESS;
}

CUresult tf_sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
  tf_sim_work w = {.kind = TF_WORK_KERNEL, .function = function};
  if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  CUevent event;
  w.config = *config;
  CUresult r = read_attributes(config, &w, &event);
  w.config.attrs = NULL;
  w.config.numAttrs = 0;
  if (r == CUDA_SUCCESS) r = launch(&w, params, extra);
  return r == CUDA_SUCCESS && event ? tf_sim_cuEventRecord(event, config->hStream) : r;
}

/* ---- Occupancy -------------------------------------------------------------------------------------------------- */

CUresult tf_sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_size,
                                                                     size_t shared_bytes, unsigned flags) {
  CUresult r = tf_sim_check_function(function);
  if (r != CUDA_SUCCESS) return r;
  if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return CUDA_ERROR_INVALID_VALUE;
  if (!blocks || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  *blocks = (int)tf_sim_occupancy(function->function, (uint64_t)block_size, shared_bytes);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                            size_t shared_bytes) {
  return tf_sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, 0);
}

CUresult tf_sim_cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction function,
                                                 CUoccupancyB2DSize shared_of_block, size_t shared_bytes,
                                                 int block_limit) {
  CUresult r = tf_sim_check_function(function);
  if (r != CUDA_SUCCESS) return r;
  if (!min_grid || !block) return CUDA_ERROR_INVALID_VALUE;
  int most = (int)function->info.max_threads;
  if (block_limit > 0 && block_limit < most) most = block_limit;
  unsigned best = 0;
  for (int size = most; size > 0; size = (size - 1) & ~31) { /* the largest block of the highest occupancy */
    size_t shared = shared_of_block ? shared_of_block(size) : shared_bytes;
    unsigned resident = tf_sim_occupancy(function->function, (uint64_t)size, shared);
    if (resident * (unsigned)size <= best) continue;
    best = resident * (unsigned)size;
    *block = size;
    *min_grid = (int)(resident * tf_sim_now()->profile->multiprocessors);
  }
  return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tf_sim_cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block, CUfunction function,
                                                          CUoccupancyB2DSize shared_of_block, size_t shared_bytes,
                                                          int block_limit, unsigned flags) {
  if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return CUDA_ERROR_INVALID_VALUE;
  return tf_sim_cuOccupancyMaxPotentialBlockSize(min_grid, block, function, shared_of_block, shared_bytes, block_limit);
}

CUresult tf_sim_cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                        int block_size) {
  CUresult r = tf_sim_check_function(function);
  if (r != CUDA_SUCCESS) return r;
  if (!bytes || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  size_t room = tf_sim_now()->profile->shared_optin;
  while (room && tf_sim_occupancy(function->function, (uint64_t)block_size, room) < (unsigned)blocks)
    room = room > 128 ? (room - 1) & ~(size_t)127 : 0;
  *bytes = room;
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  CUresult r = tf_sim_check_function(function);
  if (r != CUDA_SUCCESS) return r;
  if (!clusters || !config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  tf_sim_work w = {.cluster = {1, 1, 1}};
  CUevent event;
  r = read_attributes(config, &w, &event);
  if (r != CUDA_SUCCESS) return r;
  uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
  unsigned size = w.cluster[0] * w.cluster[1] * w.cluster[2];
  unsigned resident = tf_sim_occupancy(function->function, threads, config->sharedMemBytes);
  if (!size || size > tf_sim_now()->profile->max_cluster) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  *clusters = (int)(resident * tf_sim_now()->profile->multiprocessors / size);
  return CUDA_SUCCESS;
}

CUresult tf_sim_cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) {
  CUresult r = tf_sim_check_function(function);
  if (r != CUDA_SUCCESS) return r;
  if (!size || !config) return CUDA_ERROR_INVALID_VALUE;
  *size = (int)tf_sim_now()->profile->max_cluster;
  return CUDA_SUCCESS;
}
