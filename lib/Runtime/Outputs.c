/* Making output tensors: extents from the other arguments, memory, and giving both away or back. See Outputs.h. */
#include "Runtime/Outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HOST_ALIGNMENT 64

bool tf_outputs_are_wanted(const tf_argument *arguments, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (arguments[i].kind == TF_ARGUMENT_OUTPUT) return true;
  return false;
}

/* ---- Extents ----------------------------------------------------------------------------------------------------- */

/* A tensor whose extents can be read; everything else about it is checked with the other arguments, when the call is made. */
static const DLTensor *readable(const tf_mparam *p, const tf_argument *a) {
  if (!tf_mparam_is_tensor(p) || a->kind != TF_ARGUMENT_TENSOR || !a->value.tensor) return NULL;
  const DLTensor *t = a->value.tensor;
  return t->shape && t->ndim >= 0 && (unsigned)t->ndim == p->rank ? t : NULL;
}

/* The dim from the first axis V or c*V of a tensor that the caller passes. */
static bool find_dim(const tf_manifest *m, const tf_msignature *s, const tf_argument *arguments, unsigned dim,
                     int64_t *out) {
  for (unsigned i = 0; i < s->declared_count; i++) {
    const tf_mparam *p = &s->params[i];
    const DLTensor *t = readable(p, &arguments[i]);
    for (unsigned axis = 0; t && axis < p->rank; axis++) {
      unsigned found;
      int64_t factor;
      if (!tf_mexpr_is_multiple(&p->shape[axis], &found, &factor) || found != dim) continue;
      *out = t->shape[axis] / factor;
      return *out >= m->dims[dim].lo && *out < m->dims[dim].hi;
    }
  }
  return false;
}

/* Values of the signature's DimVars; the message names one without a value. */
static tf_status find_dims(const tf_program *program, const tf_msignature *s, const tf_argument *arguments,
                           int64_t *dims) {
  const tf_manifest *m = program->manifest;
  for (unsigned i = 0; i < s->solve_count; i++) {
    const tf_msolve *plan = &s->solves[i];
    if (find_dim(m, s, arguments, plan->dim, &dims[plan->dim])) continue;
    return tf_runtime_fail(program->runtime, TF_LAUNCH,
                           "%s: the outputs cannot be made: no argument gives %s a value in [%" PRId64 ", %" PRId64 ")",
                           s->name, m->dims[plan->dim].name, m->dims[plan->dim].lo, m->dims[plan->dim].hi);
  }
  return TF_OK;
}

/* ---- One tensor -------------------------------------------------------------------------------------------------- */

static const char *evaluate(const tf_mparam *p, const tf_menv *env, DLTensor *t, int64_t *elements) {
  const char *error = NULL;
  int64_t last = 0, reach;
  *elements = 1;
  for (unsigned axis = p->rank; axis-- > 0 && !error;) {
    error = tf_mexpr_eval(&p->shape[axis], env, &t->shape[axis]);
    if (!error && t->strides) error = tf_mexpr_eval(&p->strides[axis], env, &t->strides[axis]);
    if (!error && t->shape[axis] < 0) error = "an extent is negative";
    if (!error && t->strides && t->strides[axis] < 0) error = "a stride is negative";
    if (!error && __builtin_mul_overflow(*elements, t->shape[axis], elements)) error = "more than 64 bits of elements";
  }
  if (error || !t->strides || *elements == 0) return error;
  for (unsigned axis = 0; axis < p->rank; axis++)
    if (__builtin_mul_overflow(t->shape[axis] - 1, t->strides[axis], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return "more than 64 bits of elements";
  *elements = last + 1;
  return NULL;
}

static tf_status allocate(tf_runtime *rt, const tf_mparam *p, int64_t elements, DLTensor *t) {
  if (elements > INT64_MAX / 8) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "output '%s': out of memory", p->name);
  size_t bytes = (size_t)tf_element_bytes(p->element, (uint64_t)elements);
  if (p->host) {
    void *memory = NULL;
    if (posix_memalign(&memory, HOST_ALIGNMENT, bytes ? bytes : 1) != 0)
      return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "output '%s': out of memory", p->name);
    t->data = memory;
    return TF_OK;
  }
  CUdeviceptr address = 0;
  tf_status status = tf_device_take(rt, bytes ? bytes : 1, &address);
  if (status == TF_OK) t->data = (void *)(uintptr_t)address;
  return status;
}

static tf_status make(const tf_program *program, const tf_msignature *s, const tf_mparam *p, const tf_menv *env,
                      DLTensor *t) {
  tf_runtime *rt = program->runtime;
  int64_t elements;
  t->device = p->host ? (DLDevice){kDLCPU, 0} : rt->info.device;
  t->dtype = p->dlpack;
  t->ndim = (int32_t)p->rank;
  t->shape = calloc(2 * (size_t)p->rank + 1, sizeof *t->shape);
  if (!t->shape) return tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "output '%s': out of memory", p->name);
  if (p->strides) t->strides = t->shape + p->rank;
  const char *error = evaluate(p, env, t, &elements);
  if (error) return tf_runtime_fail(rt, TF_LAUNCH, "%s: output '%s': %s", s->name, p->name, error);
  return allocate(rt, p, elements, t);
}

static void free_tensor(tf_runtime *rt, DLTensor *t) {
  if (t->device.device_type == kDLCPU)
    free(t->data);
  else if (t->data)
    (void)tf_device_give(rt, (CUdeviceptr)(uintptr_t)t->data);
  free(t->shape);
  *t = (DLTensor){0};
}

tf_status tf_tensor_free(tf_runtime *runtime, DLTensor *tensor) {
  if (!runtime) return TF_INVALID_ARGUMENT;
  if (!tensor || !tensor->shape) return TF_OK;
  tf_status status = TF_OK;
  if (tensor->device.device_type == kDLCPU)
    free(tensor->data);
  else
    status = tf_device_free(runtime, tensor->data);
  free(tensor->shape);
  *tensor = (DLTensor){0};
  return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static tf_status check_output(const tf_program *program, const tf_msignature *s, const tf_argument *a, unsigned i) {
  const tf_mparam *p = &s->params[i];
  const char *error = NULL;
  if (!tf_mparam_is_tensor(p))
    error = "is a scalar";
  else if (i + s->output_count < s->declared_count)
    error = "is no output of the function: pass a tensor";
  else if (!a->value.output)
    error = "has no place for its tensor: value.output is null";
  if (!error) return TF_OK;
  return tf_runtime_fail(program->runtime, TF_LAUNCH, "%s: argument '%s' %s", s->name, p->name, error);
}

static tf_status check_all(const tf_program *program, const tf_msignature *s, const tf_argument *arguments) {
  tf_status status = TF_OK;
  for (unsigned i = 0; i < s->declared_count && status == TF_OK; i++)
    if (arguments[i].kind == TF_ARGUMENT_OUTPUT) status = check_output(program, s, &arguments[i], i);
  return status;
}

/* `values` is room for what the outputs' formulas refer to: dims, and extents of the other tensors. */
static tf_status make_all(const tf_program *program, const tf_msignature *s, const tf_argument *arguments,
                          int64_t *dims, tf_value *values, tf_outputs *out) {
  tf_status status = find_dims(program, s, arguments, dims);
  for (unsigned i = 0; i < s->declared_count; i++) {
    const DLTensor *t = readable(&s->params[i], &arguments[i]);
    values[i].tensor.shape = t ? t->shape : NULL;
  }
  const tf_menv env = {.dims = dims, .values = values};
  for (unsigned i = 0; i < s->declared_count && status == TF_OK; i++) {
    if (arguments[i].kind != TF_ARGUMENT_OUTPUT) continue;
    status = make(program, s, &s->params[i], &env, &out->made[i]);
    out->arguments[i] = (tf_argument){.kind = TF_ARGUMENT_TENSOR, .value.tensor = &out->made[i]};
    values[i].tensor.shape = out->made[i].shape;
  }
  return status;
}

static tf_status check_and_make(const tf_program *program, const tf_msignature *s, const tf_argument *arguments,
                                tf_outputs *out) {
  tf_status status = check_all(program, s, arguments);
  if (status != TF_OK) return status;
  int64_t *dims = calloc((size_t)program->manifest->dim_count + 1, sizeof *dims);
  tf_value *values = calloc((size_t)s->declared_count + 1, sizeof *values);
  status = dims && values ? make_all(program, s, arguments, dims, values, out)
                          : tf_runtime_fail(program->runtime, TF_OUT_OF_MEMORY, "out of memory");
  free(dims);
  free(values);
  return status;
}

static void discard(tf_runtime *rt, tf_outputs *outputs, unsigned count) {
  for (unsigned i = 0; outputs->made && i < count; i++)
    if (outputs->made[i].shape) free_tensor(rt, &outputs->made[i]);
  free(outputs->made);
  free(outputs->arguments);
  *outputs = (tf_outputs){0};
}

tf_status tf_outputs_make(tf_program *program, const tf_msignature *signature, const tf_argument *arguments,
                          unsigned count, tf_outputs *out) {
  tf_runtime *rt = program->runtime;
  if (count != signature->declared_count)
    return tf_runtime_fail(rt, TF_LAUNCH, "%s: got %u arguments, expected %u", signature->name, count,
                           signature->declared_count);
  *out = (tf_outputs){calloc(count, sizeof *out->arguments), calloc(count, sizeof *out->made)};
  bool made = out->arguments && out->made;
  if (made) memcpy(out->arguments, arguments, count * sizeof *arguments);
  tf_status status = made ? check_and_make(program, signature, arguments, out)
                          : tf_runtime_fail(rt, TF_OUT_OF_MEMORY, "out of memory");
  if (status != TF_OK) discard(rt, out, count);
  return status;
}

tf_status tf_outputs_finish(tf_runtime *rt, tf_outputs *outputs, const tf_argument *arguments, unsigned count,
                            tf_status status) {
  for (unsigned i = 0; i < count && status == TF_OK; i++) {
    if (arguments[i].kind != TF_ARGUMENT_OUTPUT) continue;
    *arguments[i].value.output = outputs->made[i];
    outputs->made[i].shape = NULL;
  }
  discard(rt, outputs, count);
  return status;
}
