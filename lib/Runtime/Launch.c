/* From checked values to a launch: geometry against the kernel's formulas and the device's limits, dynamic shared memory,
 * co-residency of cooperative grids, hidden parameters, and the driver call that fits.
 *
 *   tf_launch_kernel   dims, sizes, hidden parameters        (kernels of a manifest)
 *     └─ tf_launch_checked   limits, opt-in, the launch      (any kernel)
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

#define MAX_PORTABLE_CLUSTER 8  /* CTAs, on every device that has clusters */
#define MAX_CLUSTER          16 /* on some, and for functions that say that they may */

tf_status tf_launch_refuse(const tf_kernel *kernel, const tf_geometry *geometry, const char *format, ...) {
  char text[512];
  const tf_mloc *at = geometry->place;
  tf_runtime *rt = kernel->program->runtime;
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (!at || !at->file) return tf_runtime_fail(rt, TF_LAUNCH, "kernel '%s': %s", kernel->name, text);
  return tf_runtime_fail(rt, TF_LAUNCH, "%s:%" PRId64 ":%" PRId64 ": kernel '%s': %s", at->file, at->line, at->column,
                         kernel->name, text);
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

bool tf_geometry_is_empty(const tf_geometry *g) {
  for (int i = 0; i < 3; i++)
    if (g->grid[i] == 0 || g->block[i] == 0) return true;
  return false;
}

static tf_status check_extents(tf_kernel *k, const tf_geometry *g) {
  const tf_device_info *info = &k->program->runtime->info;
  static const char axes[] = "xyz";
  for (int i = 0; i < 3; i++) {
    if (g->grid[i] < 0 || g->block[i] < 0 || g->cluster[i] < 0)
      return tf_launch_refuse(k, g, "%s.%c is %" PRId64,
                              g->grid[i] < 0    ? "grid"
                              : g->block[i] < 0 ? "block"
                                                : "cluster",
                              axes[i],
                              g->grid[i] < 0    ? g->grid[i]
                              : g->block[i] < 0 ? g->block[i]
                                                : g->cluster[i]);
    if (g->grid[i] > info->max_grid[i])
      return tf_launch_refuse(k, g, "grid.%c is %" PRId64 ", the device's limit is %u", axes[i], g->grid[i],
                              info->max_grid[i]);
    if (g->block[i] > info->max_block[i])
      return tf_launch_refuse(k, g, "block.%c is %" PRId64 ", the device's limit is %u", axes[i], g->block[i],
                              info->max_block[i]);
  }
  return TF_OK;
}

static int64_t product(const int64_t v[3]) {
  return v[0] * v[1] * v[2];
}

static tf_status check_grid(tf_kernel *k, const tf_geometry *g) {
  if (!k->manifest || !k->manifest->linear_grid || (g->grid[1] == 1 && g->grid[2] == 1)) return TF_OK;
  return tf_launch_refuse(
      k, g, "the grid is (%" PRId64 ", %" PRId64 ", %" PRId64 "), the kernel was compiled for grids of one axis",
      g->grid[0], g->grid[1], g->grid[2]);
}

static tf_status check_block(tf_kernel *k, const tf_geometry *g) {
  const tf_device_info *info = &k->program->runtime->info;
  int64_t threads = product(g->block);
  if (threads > info->max_threads_per_block)
    return tf_launch_refuse(k, g, "a block of %" PRId64 " threads, the device's limit is %u", threads,
                            info->max_threads_per_block);
  if (threads > k->max_threads)
    return tf_launch_refuse(k, g, "a block of %" PRId64 " threads, the kernel was compiled for at most %d", threads,
                            k->max_threads);
  const tf_mkernel *m = k->manifest;
  for (int i = 0; m && m->has_required_block && i < 3; i++)
    if (m->required_block[i] != g->block[i])
      return tf_launch_refuse(k, g,
                              "the block is (%" PRId64 ", %" PRId64 ", %" PRId64 "), the kernel requires (%" PRId64
                              ", %" PRId64 ", %" PRId64 ")",
                              g->block[0], g->block[1], g->block[2], m->required_block[0], m->required_block[1],
                              m->required_block[2]);
  return TF_OK;
}

static bool has_cluster(const tf_geometry *g) {
  return g->cluster[0] || g->cluster[1] || g->cluster[2];
}

/* An attribute that a function keeps, once: no later launch, of whatever thread, has to. The call waits for nothing, so the
 * lock is held over it. */
static tf_status set_once(tf_kernel *k, bool *done, CUfunction_attribute attribute, int value) {
  tf_runtime *rt = k->program->runtime;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&rt->lock);
  if (!*done) result = rt->driver.cuFuncSetAttribute(k->function, attribute, value);
  *done = result == CUDA_SUCCESS;
  pthread_mutex_unlock(&rt->lock);
  return tf_runtime_check(rt, result, "cuFuncSetAttribute");
}

static tf_status check_cluster(tf_kernel *k, const tf_geometry *g) {
  const tf_mkernel *m = k->manifest;
  const int64_t *c = has_cluster(g) ? g->cluster : m && m->has_cluster ? m->cluster : NULL;
  if (!c) return TF_OK;
  if (!k->program->runtime->info.cluster_launch)
    return tf_launch_refuse(k, g, "the device has no thread block clusters");
  if (c == g->cluster && m && m->has_cluster && memcmp(c, m->cluster, sizeof m->cluster) != 0)
    return tf_launch_refuse(k, g, "another cluster than the one that the kernel requires");
  if (c[0] <= 0 || c[1] <= 0 || c[2] <= 0) return tf_launch_refuse(k, g, "a cluster with an extent of 0");
  if (c[0] > MAX_CLUSTER || c[1] > MAX_CLUSTER || c[2] > MAX_CLUSTER || product(c) > MAX_CLUSTER)
    return tf_launch_refuse(k, g, "a cluster of (%" PRId64 ", %" PRId64 ", %" PRId64 ") CTAs, the limit is %d", c[0],
                            c[1], c[2], MAX_CLUSTER);
  for (int i = 0; i < 3; i++)
    if (g->grid[i] % c[i] != 0)
      return tf_launch_refuse(k, g, "grid.%c is %" PRId64 ", no multiple of the cluster's %" PRId64, "xyz"[i],
                              g -> grid[i], c[i]);
  if (product(c) <= MAX_PORTABLE_CLUSTER) return TF_OK;
  return set_once(k, &k->large_clusters, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}

/* Older devices do not know it, and their drivers disagree on what to say. */
static tf_status check_serialization(tf_kernel *k, const tf_geometry *g) {
  unsigned compute = k->program->runtime->info.compute;
  if (!g->programmatic_stream_serialization || compute >= 90) return TF_OK;
  return tf_launch_refuse(
      k, g, "programmatic stream serialization takes a device of compute capability 9.0, this one has %u.%u",
      compute / 10, compute % 10);
}

/* ---- Shared memory ----------------------------------------------------------------------------------------------- */

static tf_status refuse_shared(tf_kernel *k, const tf_geometry *g, int64_t bytes, size_t limit) {
  char list[320] = "";
  const tf_mkernel *m = k->manifest;
  size_t used = 0;
  for (unsigned i = 0; m && i < m->buffer_count && used < sizeof list; i++) {
    const tf_mbuffer *b = &m->buffers[i];
    int n = snprintf(list + used, sizeof list - used, "%s%s %" PRId64, i ? ", " : "; buffers: ", b->name, b->bytes);
    used += n > 0 ? (size_t)n : 0;
  }
  return tf_launch_refuse(
      k, g, "%" PRId64 " bytes of shared memory (%d static and %" PRId64 " dynamic), the device's limit is %zu%s",
      bytes, k->static_shared, bytes - k->static_shared, limit, list);
}

/* Raises the function's limit to all that the device has. */
static tf_status opt_in(tf_kernel *k) {
  int most = (int)k->program->runtime->info.shared_per_block_optin - k->static_shared;
  return set_once(k, &k->opted_in, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most);
}

static tf_status prepare_shared(tf_kernel *k, const tf_geometry *g) {
  const tf_device_info *info = &k->program->runtime->info;
  int64_t bytes;
  if (g->dynamic_smem < 0) return tf_launch_refuse(k, g, "%" PRId64 " bytes of dynamic shared memory", g->dynamic_smem);
  if (__builtin_add_overflow(g->dynamic_smem, k->static_shared, &bytes)) bytes = INT64_MAX;
  if ((uint64_t)bytes > info->shared_per_block_optin) return refuse_shared(k, g, bytes, info->shared_per_block_optin);
  return (uint64_t)bytes > info->shared_per_block ? opt_in(k) : TF_OK;
}

/* ---- The driver call --------------------------------------------------------------------------------------------- */

static unsigned add_cluster(const tf_geometry *g, CUlaunchAttribute attrs[1]) {
  memset(attrs, 0, sizeof *attrs);
  if (!has_cluster(g)) return 0;
  attrs->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attrs->value.clusterDim.x = (unsigned)g->cluster[0];
  attrs->value.clusterDim.y = (unsigned)g->cluster[1];
  attrs->value.clusterDim.z = (unsigned)g->cluster[2];
  return 1;
}

static unsigned add_attributes(const tf_geometry *g, CUlaunchAttribute attrs[3]) {
  memset(attrs, 0, 3 * sizeof *attrs);
  unsigned count = add_cluster(g, attrs);
  if (g->cooperative) {
    attrs[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attrs[count++].value.cooperative = 1;
  }
  if (g->programmatic_stream_serialization) {
    attrs[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attrs[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  return count;
}

static CUlaunchConfig make_config(const tf_geometry *g, CUstream stream, CUlaunchAttribute *attrs, unsigned count) {
  return (CUlaunchConfig){
      .gridDimX = (unsigned)g->grid[0],
      .gridDimY = (unsigned)g->grid[1],
      .gridDimZ = (unsigned)g->grid[2],
      .blockDimX = (unsigned)g->block[0],
      .blockDimY = (unsigned)g->block[1],
      .blockDimZ = (unsigned)g->block[2],
      .sharedMemBytes = (unsigned)g->dynamic_smem,
      .hStream = stream,
      .attrs = attrs,
      .numAttrs = count,
  };
}

/* Old drivers lack cuLaunchKernelEx, so it is used only where nothing else can say what is wanted. */
static tf_status launch(tf_kernel *k, const tf_geometry *g, CUstream stream, void **params) {
  tf_runtime *rt = k->program->runtime;
  CUlaunchAttribute attrs[3];
  CUlaunchConfig c = make_config(g, stream, attrs, 0);
  if (has_cluster(g) || g->programmatic_stream_serialization) {
    c.numAttrs = add_attributes(g, attrs);
    return TF_CALL(rt, cuLaunchKernelEx, &c, k->function, params, NULL);
  }
  if (g->cooperative)
    return TF_CALL(rt, cuLaunchCooperativeKernel, k->function, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX,
                   c.blockDimY, c.blockDimZ, c.sharedMemBytes, stream, params);
  return TF_CALL(rt, cuLaunchKernel, k->function, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY,
                 c.blockDimZ, c.sharedMemBytes, stream, params, NULL);
}

/* ---- Co-residency ------------------------------------------------------------------------------------------------ */

static tf_status resident_ctas(tf_kernel *k, const tf_geometry *g, CUstream stream, int64_t *out) {
  tf_runtime *rt = k->program->runtime;
  const int64_t *cluster = has_cluster(g)                            ? g->cluster
                           : k->manifest && k->manifest->has_cluster ? k->manifest->cluster
                                                                     : NULL;
  int found = 0;
  if (cluster) {
    CUlaunchAttribute attrs[1]; /* how it is launched is no question of room */
    CUlaunchConfig config = make_config(g, stream, attrs, 0);
    config.numAttrs = add_cluster(g, attrs);
    tf_status status = TF_CALL(rt, cuOccupancyMaxActiveClusters, &found, k->function, &config);
    *out = (int64_t)found * product(cluster);
    return status;
  }
  tf_status status = TF_CALL(rt, cuOccupancyMaxActiveBlocksPerMultiprocessor, &found, k->function,
                             (int)product(g->block), (size_t)g->dynamic_smem);
  *out = (int64_t)found * rt->info.sm_count;
  return status;
}

static tf_status check_cooperative(tf_kernel *k, const tf_geometry *g, CUstream stream) {
  if (!g->cooperative) return TF_OK;
  const tf_device_info *info = &k->program->runtime->info;
  if (!info->cooperative_launch) return tf_launch_refuse(k, g, "the device has no cooperative launches");
  int64_t resident = 0, ctas = 0;
  tf_status status = resident_ctas(k, g, stream, &resident);
  if (status != TF_OK) return status;
  if (!__builtin_mul_overflow(g->grid[0] * g->grid[1], g->grid[2], &ctas) && ctas <= resident) return TF_OK;
  return tf_launch_refuse(k, g,
                          "a cooperative grid of (%" PRId64 ", %" PRId64 ", %" PRId64 ") CTAs, but only %" PRId64
                          " of them (blocks of %" PRId64 " threads, %d static and %" PRId64
                          " dynamic bytes of shared memory) fit on the device's %u multiprocessors at once",
                          g->grid[0], g->grid[1], g->grid[2], resident, product(g->block), k->static_shared,
                          g->dynamic_smem, info->sm_count);
}

tf_status tf_launch_checked(tf_kernel *kernel, const tf_geometry *geometry, CUstream stream, void **params) {
  tf_status status = check_extents(kernel, geometry);
  if (status != TF_OK || tf_geometry_is_empty(geometry)) return status;
  status = check_grid(kernel, geometry);
  if (status == TF_OK) status = check_block(kernel, geometry);
  if (status == TF_OK) status = check_cluster(kernel, geometry);
  if (status == TF_OK) status = check_serialization(kernel, geometry);
  if (status == TF_OK) status = prepare_shared(kernel, geometry);
  if (status == TF_OK) status = check_cooperative(kernel, geometry, stream);
  if (status != TF_OK) return status;
  unsigned number = tf_recent_add(kernel->program->runtime, kernel, stream);
  status = launch(kernel, geometry, stream, params);
  if (status != TF_OK) tf_recent_remove(kernel->program->runtime, number);
  return status;
}
