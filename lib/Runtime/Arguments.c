/* The checks between a caller's DLPack tensors and a signature. Order: count, then each argument by itself, then the dims
 * (Dims.c), then what needs the dims: strides, overlaps. Every message names the parameter, what was expected and what
 * came. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "Runtime/RuntimeImpl.h"

bool tf_mparam_is_tensor(const tf_mparam *param) {
  return param->kind == TF_MPARAM_TENSOR || param->kind == TF_MPARAM_CONST_TENSOR;
}

/* ---- One tensor by itself ---------------------------------------------------------------------------------------- */

static tf_status check_dtype(const tf_mparam *p, DLDataType have, const tf_why *why) {
  DLDataType want = p->dlpack;
  if (have.code == want.code && have.bits == want.bits && have.lanes == want.lanes) return TF_OK;
  char text[64];
  tf_dlpack_describe(have, text, sizeof text);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor's dtype is %s, expected %s", p->name, text,
                    tf_element_name(p->element));
}

static void describe_device(DLDevice device, char *text, size_t size) {
  static const char *const names[] = {[kDLCPU] = "cpu",
                                      [kDLCUDA] = "cuda",
                                      [kDLCUDAHost] = "pinned host memory",
                                      [kDLCUDAManaged] = "cuda managed memory"};
  unsigned type = (unsigned)device.device_type;
  if (type < sizeof names / sizeof *names && names[type])
    snprintf(text, size, "%s:%d", names[type], device.device_id);
  else
    snprintf(text, size, "DLPack device type %u:%d", type, device.device_id);
}

static tf_status check_device(const tf_runtime *rt, const tf_mparam *p, DLDevice have, const tf_why *why) {
  int type = (int)have.device_type;
  bool on_host = type == kDLCPU || type == kDLCUDAHost;
  bool on_device = type == kDLCUDAManaged || (type == kDLCUDA && have.device_id == rt->info.device.device_id);
  if (p->host ? on_host : on_device) return TF_OK;
  char want[32] = "host memory", got[64];
  describe_device(have, got, sizeof got);
  if (!p->host) snprintf(want, sizeof want, "cuda:%d", rt->info.device.device_id);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor is on %s, expected %s", p->name, got, want);
}

static bool is_empty(const DLTensor *t) {
  for (int i = 0; i < t->ndim; i++)
    if (t->shape[i] == 0) return true;
  return false;
}

static tf_status check_alignment(const tf_mparam *p, uint64_t address, const tf_why *why) {
  if ((address & (p->alignment - 1)) == 0) return TF_OK; /* a power of two */
  return tf_why_set(why, TF_LAUNCH,
                    "argument '%s': the first element is at address 0x%" PRIx64 ", expected a multiple of %" PRIu64,
                    p->name, address, p->alignment);
}

static tf_status check_address(const tf_mparam *p, const DLTensor *t, const tf_why *why) {
  if (is_empty(t)) return TF_OK;
  if (!t->data) return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor's data is null", p->name);
  uint64_t address;
  if (__builtin_add_overflow((uint64_t)(uintptr_t)t->data, t->byte_offset, &address))
    return tf_why_set(why, TF_LAUNCH, "argument '%s': a byte offset of %" PRIu64 " leaves the address space", p->name,
                      t->byte_offset);
  return check_alignment(p, address, why);
}

static tf_status check_tensor(const tf_runtime *rt, const tf_mparam *p, const tf_argument *a, tf_value *out,
                              const tf_why *why) {
  const DLTensor *t = a->value.tensor;
  if (a->kind == TF_ARGUMENT_OUTPUT)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': only entries make their outputs, a kernel needs a tensor",
                      p->name);
  if (a->kind != TF_ARGUMENT_TENSOR)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': expected a tensor, got a scalar", p->name);
  if (!t) return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor is null", p->name);
  if (t->ndim < 0 || (unsigned)t->ndim != p->rank)
    return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor has %d axes, expected %u", p->name, t->ndim, p->rank);
  if (!t->shape) return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor's shape is null", p->name);
  tf_status status = check_dtype(p, t->dtype, why);
  if (status == TF_OK) status = check_device(rt, p, t->device, why);
  if (status == TF_OK) status = check_address(p, t, why);
  if (status == TF_OK)
    out->tensor = (tf_tensor){.data = (uint64_t)(uintptr_t)t->data + t->byte_offset, .shape = t->shape};
  return status;
}

/* ---- One scalar -------------------------------------------------------------------------------------------------- */

static const char *convert_scalar(const tf_mparam *p, const tf_argument *a, uint64_t *bits) {
  int64_t i = a->value.i;
  switch (a->kind) {
  case TF_ARGUMENT_INT:
    return tf_element_from_int(p->element, i < 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, bits);
  case TF_ARGUMENT_UINT:
    return tf_element_from_int(p->element, false, a->value.u, bits);
  case TF_ARGUMENT_FLOAT:
    return tf_element_from_float(p->element, a->value.f, bits);
  case TF_ARGUMENT_BITS:
    return tf_element_from_bits(p->element, a->value.u, bits);
  case TF_ARGUMENT_TENSOR:
  case TF_ARGUMENT_OUTPUT:
    return "expected a scalar";
  }
  return "unknown kind of argument";
}

/* What came, in words. */
static void describe_scalar(const tf_argument *a, char *text, size_t size) {
  switch (a->kind) {
  case TF_ARGUMENT_INT:
    snprintf(text, size, "%" PRId64, a->value.i);
    break;
  case TF_ARGUMENT_UINT:
    snprintf(text, size, "%" PRIu64, a->value.u);
    break;
  case TF_ARGUMENT_FLOAT:
    snprintf(text, size, "%.17g", a->value.f);
    break;
  case TF_ARGUMENT_BITS:
    snprintf(text, size, "the bits 0x%" PRIx64, a->value.u);
    break;
  case TF_ARGUMENT_TENSOR:
  case TF_ARGUMENT_OUTPUT:
    snprintf(text, size, "a tensor");
    break;
  default:
    snprintf(text, size, "%d", (int)a->kind);
  }
}

static tf_status check_scalar(const tf_mparam *p, const tf_argument *a, tf_value *out, const tf_why *why) {
  const char *error = convert_scalar(p, a, &out->bits);
  if (!error) return TF_OK;
  char got[64];
  describe_scalar(a, got, sizeof got);
  return tf_why_set(why, TF_LAUNCH, "argument '%s': %s (%s): got %s", p->name, error, tf_element_name(p->element), got);
}

tf_status tf_arguments_check(tf_runtime *rt, const tf_msignature *signature, const tf_argument *arguments,
                             unsigned count, tf_value *values, const tf_why *why) {
  if (count != signature->declared_count)
    return tf_why_set(why, TF_LAUNCH, "got %u arguments, expected %u", count, signature->declared_count);
  for (unsigned i = 0; i < count; i++) {
    const tf_mparam *p = &signature->params[i];
    tf_status status = tf_mparam_is_tensor(p) ? check_tensor(rt, p, &arguments[i], &values[i], why)
                                              : check_scalar(p, &arguments[i], &values[i], why);
    if (status != TF_OK) return status;
  }
  return TF_OK;
}

/* ---- Strides ----------------------------------------------------------------------------------------------------- */

static tf_status check_stride(const tf_mparam *p, unsigned axis, int64_t have, int64_t want, const tf_why *why) {
  if (have == want) return TF_OK;
  return tf_why_set(why, TF_LAUNCH, "argument '%s': axis %u has stride %" PRId64 ", expected %" PRId64 "%s", p->name,
                    axis, have, want, p->strides ? "" : " (C order)");
}

/* strides null is C order. */
static tf_status check_strides(const tf_mparam *p, const int64_t *shape, const int64_t *strides, const tf_menv *env,
                               const tf_why *why) {
  if (!p->strides && !strides) return TF_OK;
  int64_t dense = 1; /* C-order stride of the axis */
  for (unsigned axis = p->rank; axis-- > 0; dense *= shape[axis]) {
    int64_t want = dense, have = strides ? strides[axis] : dense;
    const char *error = p->strides ? tf_mexpr_eval(&p->strides[axis], env, &want) : NULL;
    if (error) return tf_why_set(why, TF_LAUNCH, "argument '%s': the stride of axis %u: %s", p->name, axis, error);
    tf_status status = shape[axis] == 1 ? TF_OK : check_stride(p, axis, have, want, why);
    if (status != TF_OK) return status;
  }
  return TF_OK;
}

/* Bytes of the largest C-order tensor that can be addressed; beyond it the arithmetic of strides would wrap. */
static tf_status check_size(const tf_mparam *p, const DLTensor *t, const tf_why *why) {
  int64_t elements = 1;
  for (int i = 0; i < t->ndim; i++)
    if (__builtin_mul_overflow(elements, t->shape[i], &elements) || elements > INT64_MAX / 8)
      return tf_why_set(why, TF_LAUNCH, "argument '%s': the tensor has more elements than memory can hold", p->name);
  return TF_OK;
}

tf_status tf_arguments_check_strides(const tf_msignature *signature, const tf_argument *arguments, const tf_menv *env,
                                     const tf_why *why) {
  for (unsigned i = 0; i < signature->declared_count; i++) {
    const tf_mparam *p = &signature->params[i];
    if (!tf_mparam_is_tensor(p) || is_empty(arguments[i].value.tensor)) continue;
    tf_status status = check_size(p, arguments[i].value.tensor, why);
    const DLTensor *t = arguments[i].value.tensor;
    if (status == TF_OK) status = check_strides(p, t->shape, t->strides, env, why);
    if (status != TF_OK) return status;
  }
  return TF_OK;
}

/* ---- Overlaps ---------------------------------------------------------------------------------------------------- */

typedef struct range {
  uint64_t begin, end; /* bytes, half-open */
} range;

/* First to last byte of a tensor that has elements, with strides of the parameter's own. Strides that leave 64 bits give
 * everything. */
static range strided_range(const tf_mparam *p, const tf_tensor *t, const tf_menv *env) {
  static const range everything = {0, UINT64_MAX};
  int64_t last = 0, first = 0, stride, reach;
  for (unsigned axis = 0; axis < p->rank; axis++) {
    if (tf_mexpr_eval(&p->strides[axis], env, &stride)) return everything;
    if (__builtin_mul_overflow(t->shape[axis] - 1, stride, &reach)) return everything;
    if (__builtin_add_overflow(reach < 0 ? first : last, reach, reach < 0 ? &first : &last)) return everything;
  }
  if (first < -INT64_MAX / 8 || last > INT64_MAX / 8) return everything;
  uint64_t before = tf_element_bytes(p->element, (uint64_t)-first);
  return (range){t->data - before, t->data + tf_element_bytes(p->element, (uint64_t)last + 1)};
}

static range byte_range(const tf_mparam *p, const tf_tensor *t, const tf_menv *env) {
  uint64_t count = 1;
  for (unsigned axis = 0; axis < p->rank; axis++)
    count *= (uint64_t)t->shape[axis];
  if (count == 0) return (range){t->data, t->data};
  if (p->strides) return strided_range(p, t, env);
  return (range){t->data, t->data + tf_element_bytes(p->element, count)};
}

/* The const_tensor that shares bytes with a written tensor; -1 if none does. */
static int overlapped(const tf_msignature *signature, unsigned written, range bytes, const tf_value *values,
                      const tf_menv *env, range *out) {
  for (unsigned c = 0; c < signature->declared_count; c++) {
    const tf_mparam *p = &signature->params[c];
    if (p->kind != TF_MPARAM_CONST_TENSOR || p->host != signature->params[written].host) continue;
    *out = byte_range(p, &values[c].tensor, env);
    if (out->begin < bytes.end && bytes.begin < out->end) return (int)c;
  }
  return -1;
}

tf_status tf_arguments_check_overlap(const tf_msignature *signature, const tf_value *values, const tf_menv *env,
                                     const tf_why *why) {
  for (unsigned w = 0; signature->has_const && w < signature->declared_count; w++) {
    const tf_mparam *p = &signature->params[w];
    if (p->kind != TF_MPARAM_TENSOR) continue;
    range b = byte_range(p, &values[w].tensor, env), a;
    int c = overlapped(signature, w, b, values, env, &a);
    if (c >= 0)
      return tf_why_set(why, TF_LAUNCH,
                        "argument '%s': [0x%" PRIx64 ", 0x%" PRIx64 ") overlaps '%s' [0x%" PRIx64 ", 0x%" PRIx64
                        "), which is a ConstTensor",
                        p->name, b.begin, b.end, signature->params[c].name, a.begin, a.end);
  }
  return TF_OK;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static tf_status bind(tf_runtime *rt, const tf_manifest *manifest, const tf_msignature *signature,
                      const tf_argument *arguments, unsigned count, tf_value *values, const int64_t **shapes,
                      int64_t *dims, const tf_why *why) {
  tf_status status = tf_arguments_check(rt, signature, arguments, count, values, why);
  if (status != TF_OK) return status;
  for (unsigned i = 0; i < count; i++)
    shapes[i] = tf_mparam_is_tensor(&signature->params[i]) ? values[i].tensor.shape : NULL;
  status = tf_dims_solve(manifest, signature, shapes, dims, why);
  if (status != TF_OK) return status;
  const tf_menv env = {.dims = dims, .shapes = shapes};
  status = tf_arguments_check_strides(signature, arguments, &env, why);
  return status == TF_OK ? tf_arguments_check_overlap(signature, values, &env, why) : status;
}

tf_status tf_arguments_bind(tf_runtime *rt, const tf_manifest *manifest, const tf_msignature *signature,
                            const tf_argument *arguments, unsigned count, tf_value *values, const int64_t **shapes,
                            int64_t *dims) {
  char text[512];
  tf_status status =
      bind(rt, manifest, signature, arguments, count, values, shapes, dims, &(tf_why){text, sizeof text});
  return status == TF_OK ? TF_OK : tf_runtime_fail(rt, status, "%s: %s", signature->name, text);
}

static bool has_elements(const tf_mparam *p, const tf_tensor *t) {
  for (unsigned axis = 0; axis < p->rank; axis++)
    if (t->shape[axis] == 0) return false;
  return true;
}

/* Of the values whose strides are not known to be right. */
static tf_status check_value_strides(const tf_msignature *s, const tf_value *values, const int64_t *const *strides,
                                     const tf_menv *env, const tf_why *why) {
  tf_status status = TF_OK;
  for (unsigned i = 0; strides && i < s->declared_count && status == TF_OK; i++)
    if (strides[i] && has_elements(&s->params[i], &values[i].tensor))
      status = check_strides(&s->params[i], values[i].tensor.shape, strides[i], env, why);
  return status;
}

tf_status tf_values_bind(const tf_manifest *manifest, const tf_msignature *signature, const tf_value *values,
                         const int64_t *const *strides, const int64_t **shapes, int64_t *dims, const tf_why *why) {
  tf_status status = TF_OK;
  for (unsigned i = 0; i < signature->declared_count && status == TF_OK; i++) {
    const tf_mparam *p = &signature->params[i];
    bool tensor = tf_mparam_is_tensor(p);
    shapes[i] = tensor ? values[i].tensor.shape : NULL;
    if (tensor && has_elements(p, &values[i].tensor)) status = check_alignment(p, values[i].tensor.data, why);
  }
  if (status == TF_OK) status = tf_dims_solve(manifest, signature, shapes, dims, why);
  const tf_menv env = {.dims = dims, .shapes = shapes};
  if (status == TF_OK) status = check_value_strides(signature, values, strides, &env, why);
  return status == TF_OK ? tf_arguments_check_overlap(signature, values, &env, why) : status;
}
