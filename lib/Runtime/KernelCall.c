/* Launching a kernel of a manifest on values: its dims are solved from the tensors, the geometry is held against the
 * kernel's own sizes, hidden parameters are filled in, and the launch follows (Launch.c).
 *
 *   parameters of the .entry:  | declared …            | shapes (i32) …      | grid barrier |
 *   lie in:                    | the values            | hidden, 8 bytes each               |
 */
#include <inttypes.h>
#include <stdlib.h>

#include "Runtime/RuntimeImpl.h"
#include "Support/Options.h"

#define INLINE_PARAMS 64
#define INLINE_DIMS   32

/* Everything that a kernel call needs beyond its arguments, in the caller's frame when it fits. */
typedef struct frame {
  tf_kernel *kernel;
  const tf_geometry *geometry; /* as the caller gave it */
  tf_menv env;                 /* what the kernel's formulas refer to */
  int64_t *dims;               /* room for it, where the caller brings none */
  const int64_t **strides;     /* room for binding arguments */
  uint64_t *hidden;            /* by parameter: what hidden ones are */
  void **params;               /* where the parameters lie */
  void *heap;                  /* null: everything is inline */
  int64_t inline_dims[INLINE_DIMS];
  const int64_t *inline_strides[INLINE_PARAMS];
  uint64_t inline_hidden[INLINE_PARAMS];
  void *inline_params[INLINE_PARAMS];
} frame;

static bool open_frame(frame *f, tf_kernel *kernel, const tf_geometry *geometry) {
  size_t params = kernel->manifest->signature.param_count, dims = kernel->program->manifest->dim_count;
  f->kernel = kernel;
  f->geometry = geometry;
  f->heap = NULL;
  f->dims = f->inline_dims;
  f->strides = f->inline_strides;
  f->hidden = f->inline_hidden;
  f->params = f->inline_params;
  if (params <= INLINE_PARAMS && dims <= INLINE_DIMS) return true;
  uint64_t *block = malloc((params * 3 + dims) * sizeof *block);
  if (!block) return false;
  f->heap = f->hidden = block;
  f->params = (void **)(block + params);
  f->strides = (const int64_t **)(block + 2 * params);
  f->dims = (int64_t *)(block + 3 * params);
  return true;
}

static tf_status refuse(const frame *f, const char *what, const char *why) {
  return tf_launch_refuse(f->kernel, f->geometry, "%s: %s", what, why);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* Three extents must have exactly the product that the kernel's formula gives. */
static tf_status check_product(const frame *f, const tf_mexpr *size, const int64_t have[3], const char *what,
                               const char *unit) {
  if (!size) return TF_OK;
  const tf_msignature *s = &f->kernel->manifest->signature;
  int64_t want, got;
  const char *error = tf_mexpr_eval(size, &f->env, &want);
  if (error) return refuse(f, what, error);
  bool wraps = __builtin_mul_overflow(have[0], have[1], &got) || __builtin_mul_overflow(got, have[2], &got);
  if (!wraps && got == want) return TF_OK;
  char text[96];
  tf_mexpr_format(f->kernel->program->manifest, s, size, text, sizeof text);
  return tf_launch_refuse(f->kernel, f->geometry,
                          "the %s is (%" PRId64 ", %" PRId64 ", %" PRId64 "), the kernel needs %" PRId64
                          " %s (%s) in it",
                          what, have[0], have[1], have[2], want, unit, text);
}

/* The extents that the launch gave, or the kernel's default if it gave none. */
static tf_status complete(const frame *f, const tf_mexpr *defaults, int64_t extents[3], const char *what) {
  if (extents[0] >= 0) return TF_OK;
  if (!defaults) return refuse(f, what, "the kernel has no default, the launch must name it");
  for (int i = 0; i < 3; i++) {
    const char *error = tf_mexpr_eval(&defaults[i], &f->env, &extents[i]);
    if (error) return refuse(f, what, error);
    if (extents[i] < 0) return refuse(f, what, "the formula gives a negative extent");
  }
  return TF_OK;
}

static tf_status add_own_smem(const frame *f, tf_geometry *g) {
  int64_t own = 0;
  const char *error = tf_mexpr_eval(&f->kernel->manifest->dynamic_bytes, &f->env, &own);
  if (!error && __builtin_add_overflow(own, g->dynamic_smem, &g->dynamic_smem)) error = "more than 64 bits of bytes";
  return error ? refuse(f, "dynamic shared memory", error) : TF_OK;
}

static tf_status check_sizes(const frame *f, tf_geometry *g) {
  const tf_mkernel *m = f->kernel->manifest;
  tf_status status = complete(f, m->default_grid, g->grid, "grid");
  if (status == TF_OK) status = complete(f, m->default_block, g->block, "block");
  if (status == TF_OK && tf_geometry_is_empty(g)) return TF_OK; /* no threads, so nothing that they could lack */
  if (status == TF_OK) status = check_product(f, m->grid_size, g->grid, "grid", "CTAs");
  if (status == TF_OK) status = check_product(f, m->block_size, g->block, "block", "threads");
  if (status == TF_OK) status = add_own_smem(f, g);
  g->cooperative = g->cooperative || m->cooperative;
  return status;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static tf_status bind(frame *f, const tf_value *values, const int64_t *const *strides) {
  char text[512];
  tf_why why = {text, sizeof text};
  tf_status status =
      tf_values_bind(f->kernel->program->manifest, &f->kernel->manifest->signature, values, strides, f->dims, &why);
  return status == TF_OK ? TF_OK : refuse(f, "refused", text);
}

/* The driver copies them during the launch. */
static void place_params(frame *f) {
  const tf_msignature *s = &f->kernel->manifest->signature;
  const tf_value *values = f->env.values;
  for (unsigned i = 0; i < s->declared_count; i++)
    f->params[i] = (void *)(uintptr_t)&values[i];
  for (unsigned i = s->declared_count; i < s->param_count; i++) {
    const tf_mparam *p = &s->params[i];
    f->params[i] = &f->hidden[i];
    if (p->kind == TF_MPARAM_HIDDEN_SHAPE) f->hidden[i] = (uint64_t)values[p->of].tensor.shape[p->axis];
  }
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

typedef struct barrier_launch {
  frame *frame;
  const tf_geometry *geometry;
  CUstream stream;
} barrier_launch;

static tf_status launch_with_counters(void *user, CUdeviceptr counters) {
  const barrier_launch *b = user;
  b->frame->hidden[b->frame->kernel->manifest->signature.param_count - 1] = counters;
  return tf_launch_checked(b->frame->kernel, b->geometry, b->stream, b->frame->params);
}

static tf_status call(frame *f, tf_geometry g, CUstream stream, const tf_value *values, const int64_t *dims) {
  f->env = (tf_menv){.dims = dims, .values = values};
  tf_status status = check_sizes(f, &g);
  if (status != TF_OK) return status;
  place_params(f);
  size_t barrier = (size_t)f->kernel->manifest->grid_barrier_bytes;
  if (!barrier) return tf_launch_checked(f->kernel, &g, stream, f->params);
  return tf_barrier_run(f->kernel->program->runtime, stream, barrier, launch_with_counters,
                        &(barrier_launch){f, &g, stream});
}

tf_status tf_launch_kernel(tf_kernel *kernel, const tf_geometry *geometry, CUstream stream, const tf_value *values,
                           const int64_t *const *strides, const int64_t *dims) {
  frame f;
  if (!open_frame(&f, kernel, geometry))
    return tf_runtime_fail(kernel->program->runtime, TF_OUT_OF_MEMORY, "out of memory");
  tf_status status = dims ? TF_OK : bind(&f, values, strides);
  if (status == TF_OK) status = call(&f, *geometry, stream, values, dims ? dims : f.dims);
  free(f.heap);
  return status;
}

/* ---- From outside ------------------------------------------------------------------------------------------------ */

static void read_extents(const unsigned from[3], int64_t to[3], bool absent_is_default) {
  bool absent = !from[0] && !from[1] && !from[2];
  for (int i = 0; i < 3; i++)
    to[i] = absent && absent_is_default ? -1 : (int64_t)from[i];
}

/* Null is the manifest's geometry on the default stream. */
static tf_status read_config(tf_kernel *kernel, const tf_launch_config *given, tf_geometry *out, CUstream *stream) {
  tf_runtime *rt = kernel->program->runtime;
  tf_launch_config known = TF_LAUNCH_CONFIG_INIT, *config = &known;
  if (!tf_options_read(config, sizeof *config, given))
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT,
                           "a launch configuration that was not made with TF_LAUNCH_CONFIG_INIT");
  if (config->dynamic_smem > INT64_MAX / 2)
    return tf_runtime_fail(rt, TF_LAUNCH, "kernel '%s': %zu bytes of dynamic shared memory", kernel->name,
                           config->dynamic_smem);
  read_extents(config->grid, out->grid, true);
  read_extents(config->block, out->block, true);
  read_extents(config->cluster, out->cluster, false);
  out->dynamic_smem = (int64_t)config->dynamic_smem;
  out->cooperative = config->cooperative;
  out->programmatic_stream_serialization = config->programmatic_stream_serialization;
  *stream = (CUstream)config->stream;
  return TF_OK;
}

static tf_status launch_arguments(tf_kernel *kernel, const tf_geometry *g, CUstream stream,
                                  const tf_argument *arguments, unsigned count) {
  frame f;
  tf_runtime *rt = kernel->program->runtime;
  if (!open_frame(&f, kernel, g)) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  tf_value *values = calloc((size_t)kernel->manifest->signature.declared_count + 1, sizeof *values);
  tf_status status = values ? tf_arguments_bind(rt, kernel->program->manifest, &kernel->manifest->signature, arguments,
                                                count, values, f.strides, f.dims)
                            : tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  if (status == TF_OK) status = call(&f, *g, stream, values, f.dims);
  free(values);
  free(f.heap);
  return status;
}

tf_status tf_kernel_launch(tf_kernel *kernel, const tf_launch_config *config, const tf_argument *arguments,
                           unsigned count) {
  if (!kernel || (count && !arguments)) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = kernel->program->runtime;
  if (!kernel->manifest)
    return tf_runtime_fail(rt, TF_INVALID_ARGUMENT, "kernel '%s': no manifest describes its parameters", kernel->name);
  tf_geometry g = {.place = NULL};
  CUstream stream;
  bool pushed;
  tf_status status = read_config(kernel, config, &g, &stream);
  if (status != TF_OK) return status;
  status = tf_context_enter(rt, &pushed);
  if (status == TF_OK) status = launch_arguments(kernel, &g, stream, arguments, count);
  return tf_context_leave(rt, pushed, status);
}

tf_status tf_kernel_launch_raw(tf_kernel *kernel, const tf_launch_config *config, void *const *parameters) {
  if (!kernel) return TF_INVALID_ARGUMENT;
  tf_runtime *rt = kernel->program->runtime;
  tf_geometry g = {.place = NULL};
  CUstream stream;
  bool pushed;
  tf_status status = read_config(kernel, config, &g, &stream);
  if (status != TF_OK) return status;
  if (g.grid[0] < 0 || g.block[0] < 0)
    return tf_runtime_fail(rt, TF_LAUNCH, "kernel '%s': a raw launch must name its grid and block", kernel->name);
  status = tf_context_enter(rt, &pushed);
  if (status == TF_OK) status = tf_launch_checked(kernel, &g, stream, (void **)(uintptr_t)parameters);
  return tf_context_leave(rt, pushed, status);
}
